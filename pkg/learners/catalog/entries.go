package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/kernelized"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/similarity"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// entries is the list. Parameters are declared by the tags of the learners' own (see declaration).
var entries = []Entry{
	onPairs(Entry{
		Name:        "pola",
		Doc:         "POLA: online projections onto the last pair's constraint and the positive semi-definite cone",
		When:        "a stream of pairs alike or not, when a threshold beside the distance is wanted, too; each step is quadratic in the features",
		Source:      "Shalev-Shwartz, Singer, Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004, Fig. 1 and Eq. 12",
		Version:     pairs.POLAVersion,
		Constructor: "pairs.NewPOLA",
		Cost:        polaCost,
		Bounded:     true,
		Kind:        pairs.POLAKind,
	}, pairs.NewPOLA, pairs.LoadPOLA),
	onPairs(Entry{
		Name:        "kernel-pola",
		Doc:         "POLA between images under a kernel's feature map; it stores points, without a bound in general; features should be centred",
		When:        "a stream of pairs, short enough to store, when no linear map separates alike from different",
		Source:      "Shalev-Shwartz, Singer, Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004, Section 3.3",
		Version:     pairs.KernelPOLAVersion,
		Constructor: "pairs.NewKernelPOLA",
		Cost:        kernelPOLACost,
		Kind:        pairs.KernelPOLAKind,
		Form:        Embedded,
	}, newKernelPOLA, pairs.LoadKernelPOLA),
	onPairs(Entry{
		Name:        "pa",
		Doc:         "passive-aggressive steps onto or toward the last pair's constraint, and least squares",
		When:        "a stream of pairs with wrong labels in it: rule=pa1 or pa2 bounds what one pair can do",
		Source:      "Perez-Suay, Ferri. Online Metric Learning Methods Using Soft Margins and Least Squares Formulations. 2013, Section 2",
		Version:     pairs.PAVersion,
		Constructor: "pairs.NewPA",
		Cost:        polaCost,
		Bounded:     true,
		Kind:        pairs.PAKind,
	}, pairs.NewPA, pairs.LoadPA),
	onPairs(Entry{
		Name:        "lego",
		Doc:         "LEGO, LogDet Online: implicit steps in the LogDet divergence toward a squared distance for similar pairs and one for dissimilar pairs",
		When:        "a stream of pairs, when similar ones should come nearer than one distance and others be farther than another; it never projects, so steps are cheap",
		Source:      "Jain, Kulis, Dhillon, Grauman. Online Metric Learning and Fast Similarity Search. NIPS 2008; Jain et al. JMLR 13, 2012, Section 6",
		Version:     pairs.LEGOVersion,
		Constructor: "pairs.NewLEGO",
		Cost:        legoCost,
		Bounded:     true,
		Kind:        pairs.LEGOKind,
	}, pairs.NewLEGO, pairs.LoadLEGO),
	onTriplets(Entry{
		Name:        "erkle",
		Doc:         "ERKLE: a gradient step on the last comparison, and the projection onto the positive semi-definite cone; it keeps all comparisons if beta > 1",
		When:        "answers to \"is A nearer to B or to C?\" that arrive one by one, about objects without features",
		Source:      "Heim, Berger, Seversky, Hauskrecht. Efficient Online Relative Comparison Kernel Learning. SDM 2015, Algorithms 1 and 2",
		Version:     triplets.ERKLELargeVersion,
		Constructor: "triplets.NewERKLE",
		Kind:        triplets.ERKLEKind,
	}, triplets.NewERKLE, triplets.LoadERKLE),
	onSimilarities(Entry{
		Name:        "oasis",
		Doc:         "OASIS: a step along the last comparison of a query with two vectors, to a similarity xᵀWy that need be no metric",
		When:        "clicks or judgements on search results: a similarity of query and document that ranks, with no need of a distance",
		Source:      "Chechik, Sharma, Shalit, Bengio. Large Scale Online Learning of Image Similarity Through Ranking. JMLR 11, 2010, Section 3",
		Version:     similarity.OASISVersion,
		Constructor: "similarity.NewOASIS",
		Bounded:     true,
		Kind:        similarity.OASISKind,
	}, similarity.NewOASIS, similarity.LoadOASIS),
	comparisons(triplets.GNMDS, "hinge loss of the difference of squared distances, in batch, with a weight of the trace; a kernel, or few coordinates",
		"answers at hand all at once and mostly right: it asks for a margin, and wrong ones weigh as much as they are off",
		"Agarwal, Wills, Cayton, Lanckriet, Kriegman, Belongie. Generalized Non-metric Multidimensional Scaling. AISTATS 2007", declared[triplets.BatchParams]("margin")...),
	comparisons(triplets.STE, "stochastic triplet embedding: logistic loss of the difference of squared distances, in batch, with a weight of the trace; a kernel, or few coordinates",
		"answers at hand all at once, with errors where the two distances are alike; the first to try, since it is convex and gives probabilities",
		"van der Maaten, Weinberger. Stochastic Triplet Embedding. MLSP 2012"),
	comparisons(triplets.CKL, "crowd kernel: odds of the two squared distances, in batch, with a weight of the trace; not convex; a kernel, or few coordinates",
		"answers at hand all at once, of people who err by the ratio of the two distances; choosing the next question is built on it",
		"Tamuz, Liu, Belongie, Shamir, Kalai. Adaptively Learning the Crowd Kernel. ICML 2011", declared[triplets.BatchParams]("mu")...),
	comparisons(triplets.TSTE, "t-STE: odds under Student's t, by which a wrong answer pulls little; few coordinates, from several starts",
		"a map of objects in clusters, or of some that lie far out, with wrong answers: one that is far off pulls little",
		"van der Maaten, Weinberger. Stochastic Triplet Embedding. MLSP 2012", declared[triplets.CoordinatesParams]("alpha")...),
	comparisons(triplets.SOE, "soft ordinal embedding: squared hinge loss of the difference of distances; few coordinates, from several starts",
		"a map, as the first to try: on points made up in the plane it was the best or near it, whether answers were right or not",
		"Terada, von Luxburg. Local Ordinal Embedding. ICML 2014", declared[triplets.BatchParams]("margin")...),
	{
		Name:        "rmp",
		Doc:         "randomized map prediction: maps to few prototypes, drawn by exponential weights",
		When:        "costs of assignments that arrive round by round and may be hostile: its regret is bounded whatever comes",
		Source:      "Rakhlin, Abernethy, Bartlett. Online Discovery of Similarity Mappings. ICML 2007, Algorithms 1 and 2",
		Version:     mapping.RMPVersion,
		Constructor: "mapping.NewRMP",
		Bounded:     true,
		Kind:        mapping.RMPKind,
		Use:         Use{Feedback: Costs, Params: declared[rmpParams]()},
		New: func(s Shape, v Values) (Learner, error) {
			p := read[rmpParams](v, nil)
			if p.Rate > 0 {
				p.Eta = mapping.EtaFixed
			} else if err := p.Eta.UnmarshalText([]byte(v.Text("eta"))); err != nil {
				return nil, err
			}
			return mapping.NewRMP(rand.NewPCG(p.Seed, 0), s.Objects, s.Prototypes, p.RMPParams)
		},
		Load: func(r io.Reader) (Learner, error) { return mapping.LoadRMP(r) },
	},
	onMaps(Entry{
		Name:        "ftl",
		Doc:         "follow the leader: the map to few prototypes that would have cost least so far",
		When:        "costs of assignments that come from one unchanging source; where they may be chosen against it, take rmp",
		Source:      "Rakhlin, Abernethy, Bartlett. Online Discovery of Similarity Mappings. ICML 2007, Section 5.1",
		Version:     mapping.FTLVersion,
		Constructor: "mapping.NewFTL",
		Bounded:     true,
		Kind:        mapping.FTLKind,
	}, mapping.NewFTL, mapping.LoadFTL),
	onLinks(Entry{
		Name:        "pola-batch",
		Doc:         "batch POLA: POLA repeated until no pair has a hinge loss above beta",
		When:        "pairs at hand all at once, when one pass of pola leaves too many of them wrong",
		Source:      "Shalev-Shwartz, Singer, Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004, Section 6",
		Version:     pairs.BatchPOLAVersion,
		Constructor: "pairs.FitBatchPOLA",
		Cost:        batchPOLACost,
	}, func(ctx context.Context, x mat.Matrix, links []metric.Link, p pairs.BatchPOLAParams) (learners.MetricResult, error) {
		b, err := pairs.FitBatchPOLA(ctx, x, links, p)
		return b.MetricResult, err
	}),
	onLinks(Entry{
		Name:        "mmc",
		Doc:         "metric learning for clustering: dissimilar pairs as far apart in sum as similar pairs, which stay near, allow; of low rank, or a weight for each feature",
		When:        "pairs at hand all at once, when dissimilar ones differ in few directions: it keeps one to five of them as a rule, or weighs features; itml keeps more of the distances",
		Source:      "Xing, Ng, Jordan, Russell. Distance Metric Learning, with Application to Clustering with Side-Information. NIPS 15, 2002, Section 2",
		Version:     pairs.MMCVersion,
		Constructor: "pairs.FitMMC",
		Cost:        mmcCost,
	}, func(ctx context.Context, x mat.Matrix, links []metric.Link, p pairs.MMCParams) (learners.MetricResult, error) {
		r, err := pairs.FitMMC(ctx, x, links, p)
		return r.MetricResult, err
	}),
	rca,
	kernelOf[kernelRCAParams](rca, closedInKernelSpace,
		"Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Section 5.3; Shental et al. ECCV 2002"),
	{
		Name:        "itml",
		Aliases:     []string{"logdet"},
		Doc:         "information-theoretic metric learning, also called logdet: the metric closest to a start in LogDet divergence, with bounds on squared distances",
		When:        "pairs at hand all at once, few beside the features: it changes the start matrix as little as they allow",
		Source:      "Davis, Kulis, Jain, Sra, Dhillon. Information-Theoretic Metric Learning. ICML 2007; Jain et al. JMLR 13, 2012, Algorithm 1",
		Version:     itml.Version,
		Constructor: "itml.Fit",
		Cost:        itmlCost,
		Form:        Linear,
		byRows:      func(f Feedback, v Values) bool { return f == Links && v.Text("start") != "invcov" },
		Use: Use{Links, slices.Concat(itmlSlack, itmlStart, itmlBounds, itmlCycles), func(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
			p := read[itml.Params](v, progress)
			if err := cmp.Or(bound("itml", &p, v), start(ctx, &p, in.X, v)); err != nil {
				return Learned{}, err
			}
			l, err := itml.Fit(ctx, in.X, in.Links, p)
			return linear(l.MetricResult, err)
		}},
		Others: []Use{{RowTriplets, declared[itml.NearerParams](), func(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
			r, err := itml.FitNearer(ctx, in.X, in.Triplets, read[itml.NearerParams](v, progress))
			if err != nil {
				return Learned{}, err
			}
			if r.Metric != nil {
				return Learned{Result: r.Result, Distance: r.Metric}, nil
			}
			return Learned{Result: r.Result, Distance: r.Full}, nil
		}}},
	},
	underKernel(Entry{
		Name:        "kernel-itml",
		Aliases:     []string{"kernel-logdet"},
		Doc:         "itml, also called kernel-logdet, between images under a kernel's feature map, and so for new points; it stores the rows that pairs join; features should be centred",
		When:        "pairs at hand all at once, when no linear map separates alike from different; up to a few thousand pairs",
		Source:      "Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Algorithm 1 and Eq. 6",
		Version:     itml.KernelVersion,
		Constructor: "itml.FitKernelRows",
		Cost:        kernelITMLCost,
		Form:        Transformed,
		Use: Use{Links, slices.Concat(itmlSlack, itmlBounds, itmlCycles, kernelParams, declared[itml.KernelParams]("landmarks")), func(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
			x := matrix.Given("catalog: x", in.X)
			p := read[itml.Params](v, progress)
			if err := bound("itml", &p, v); err != nil {
				return Learned{}, err
			}
			l, err := itml.FitKernelRows(ctx, in.Kernel, x, in.Links, itml.KernelParams{
				Gamma: p.Gamma, Upper: p.Upper, Lower: p.Lower, Bounds: p.Bounds, Tol: p.Tol, MaxCycles: p.MaxCycles, Progress: progress,
				Landmarks: v.Int("landmarks"),
			})
			if err != nil {
				return Learned{}, err
			}
			t, err := learnedKernel(ctx, l, in.Kernel, x)
			if errors.Is(err, metric.ErrNotPSD) {
				return Learned{}, fmt.Errorf("kernel-itml: kernel: %w: round-off hides what distinguishes rows, want a kernel under which they differ more", err)
			}
			if err != nil {
				return Learned{}, fmt.Errorf("kernel-itml: %w", err)
			}
			return Learned{Result: l.Result, Distance: t, Landmarks: l.Landmarks, Left: l.Left}, nil
		}},
	}),
	{
		Name:        "itml-labels",
		Doc:         "itml on pairs of rows drawn from the classes, with bounds from another draw",
		When:        "classes, when itml is to be used as papers use it; with time to choose gamma, take itml-tuned",
		Source:      "Davis, Kulis, Jain, Sra, Dhillon. Information-Theoretic Metric Learning. ICML 2007; Perez-Suay, Ferri 2013, Section 3",
		Version:     itml.Version,
		Constructor: "itml.FitLabels",
		Cost:        itmlLabelsCost,
		Form:        Linear,
		Use: Use{Classes, slices.Concat(itmlSlack, itmlStart, itmlBounds, itmlCycles, itmlDraws), func(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
			p := read[itml.LabelParams](v, progress)
			if err := cmp.Or(bound("itml", &p.Params, v), start(ctx, &p.Params, in.X, v)); err != nil {
				return Learned{}, err
			}
			l, err := itml.FitLabels(ctx, source(v), in.X, in.Y, p)
			return linear(l.MetricResult, err)
		}},
	},
	{
		Name:        "itml-tuned",
		Doc:         "itml-labels with gamma of 0.0001, 0.001, ..., 10000 chosen by cross-validated nearest neighbours",
		When:        "classes, when there is time to choose gamma by cross-validation: nine values, each fitted in every fold",
		Source:      "Davis, Kulis, Jain, Sra, Dhillon. Information-Theoretic Metric Learning. ICML 2007; Perez-Suay, Ferri 2013, Section 3",
		Version:     itml.Version,
		Constructor: "itml.FitTuned",
		Cost:        itmlTunedCost,
		Form:        Linear,
		Use: Use{Classes, slices.Concat(itmlBounds, itmlCycles, itmlDraws, declared[itml.TunedParams]("folds", "k")), func(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
			p := read[itml.TunedParams](v, progress)
			if err := bound("itml", &p.Params, v); err != nil {
				return Learned{}, err
			}
			l, err := itml.FitTuned(ctx, source(v), in.X, in.Y, p)
			return linear(l.MetricResult, err)
		}},
	},
	{
		Name:        "iplr",
		Doc:         "identity plus low rank: itml in the span of k vectors made of the rows and their classes; for many features, and for sparse rows",
		When:        "thousands of features or sparse rows, such as texts, where a full matrix does not fit",
		Source:      "Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Section 3.6",
		Version:     iplr.Version,
		Constructor: "iplr.FitLabels",
		Cost:        iplrCost,
		Form:        LowRank,
		Use: Use{Classes, slices.Concat(declared[iplr.LabelParams]("basis", "k"), itmlSlack, declared[iplr.Params]("infeasible"), itmlBounds, declared[iplr.LabelParams]("cycles", "links", "bound-pairs"), seed), func(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
			p := read[iplr.LabelParams](v, progress)
			if err := boundIPLR(&p.Params, v); err != nil {
				return Learned{}, err
			}
			return inSpan(iplr.FitLabels(ctx, source(v), in.X, in.Y, p))
		}},
		Others: []Use{{Links, slices.Concat(declared[iplrLinks](), itmlSlack, declared[iplr.Params]("infeasible"), itmlBounds, declared[iplr.Params]("cycles"), seed), fitIPLRLinks}},
	},
	onData(Entry{
		Name:        "pca",
		Doc:         "principal component analysis: the directions of largest variance",
		When:        "fewer dimensions without classes; it keeps variance, which need not be what separates classes",
		Source:      "Hotelling. Analysis of a complex of statistical variables into principal components. J. Educ. Psychol. 24, 1933",
		Version:     labels.PCAVersion,
		Constructor: "labels.FitPCA",
		Cost:        projectionCost,
	}, func(ctx context.Context, x mat.Matrix, p pcaParams) (learners.MetricResult, error) {
		if dense := matrix.Dense(x); p.Dim == 0 && dense != nil { // of none, FitPCA panics
			p.Dim = min(dense.Dims())
		}
		return projected(labels.FitPCA(ctx, x, p.Dim))
	}),
	inKernel("pca", Entry{
		Source:      "Schölkopf, Smola, Müller. Nonlinear Component Analysis as a Kernel Eigenvalue Problem. Neural Computation 10, 1998",
		Version:     labels.PCAVersion,
		Constructor: "kernelized.FitPCA",
		Cost:        closedInKernelSpace,
	}, Data, declared[kernelized.PCAParams](), func(ctx context.Context, in Input, v Values, _ Progress) (kernelized.Result, error) {
		p := read[kernelized.PCAParams](v, nil)
		p.Landmarks = v.Int("landmarks")
		return kernelized.FitPCA(ctx, in.Kernel, in.X, p)
	}),
	onData(Entry{
		Name:        "lsa",
		Doc:         "latent semantic analysis: the right singular vectors of the rows, which are not centred",
		When:        "texts and other sparse counts in fewer dimensions, without classes",
		Source:      "Deerwester, Dumais, Furnas, Landauer, Harshman. Indexing by Latent Semantic Analysis. J. Am. Soc. Inf. Sci. 41, 1990",
		Version:     labels.LSAVersion,
		Constructor: "labels.FitLSA",
		Cost:        projectionCost,
	}, func(ctx context.Context, x mat.Matrix, p labels.LSAParams) (learners.MetricResult, error) {
		return projected(labels.FitLSA(ctx, x, p))
	}),
	onData(Entry{
		Name:        "invcov",
		Doc:         "inverse covariance of all rows, without regard to classes",
		When:        "features that vary together, without classes and with many more rows than features",
		Source:      "Mahalanobis. On the generalised distance in statistics. Proc. Natl. Inst. Sci. India 2, 1936",
		Version:     labels.InvCovVersion,
		Constructor: "labels.FitInvCov",
		Cost:        covarianceCost,
	}, labels.FitInvCov),
	onClasses(Entry{
		Name:        "fda",
		Doc:         "Fisher's discriminant analysis: the directions that separate class means best",
		When:        "classes, as the first to try: it is fast, and the best linear map where classes are normal with one covariance",
		Source:      "Fisher. The use of multiple measurements in taxonomic problems. Ann. Eugen. 7, 1936; Rao, J. R. Stat. Soc. B 10, 1948",
		Version:     labels.FDAVersion,
		Constructor: "labels.FitFDA",
		Cost:        covarianceCost,
	}, func(ctx context.Context, x mat.Matrix, y []int, p labels.FDAParams) (learners.MetricResult, error) {
		return projected(labels.FitFDA(ctx, x, y, p))
	}),
	inKernel("fda", Entry{
		Source:      "Mika, Rätsch, Weston, Schölkopf, Müller. Fisher Discriminant Analysis with Kernels. NNSP IX, 1999; Baudat, Anouar. Neural Computation 12, 2000",
		Version:     labels.FDAVersion,
		Constructor: "kernelized.FitFDA",
		Cost:        closedInKernelSpace,
	}, Classes, declared[kernelized.FDAParams](), func(ctx context.Context, in Input, v Values, _ Progress) (kernelized.Result, error) {
		p := read[kernelized.FDAParams](v, nil)
		p.Landmarks = v.Int("landmarks")
		return kernelized.FitFDA(ctx, in.Kernel, in.X, in.Y, p)
	}),
	lmnn,
	kernelOf[labels.LMNNParams](lmnn, imagesOf(lmnnCost),
		"Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Theorem 9; Weinberger, Saul 2009"),
	mcml,
	kernelOf[labels.MCMLParams](mcml, imagesOf(mcmlCost),
		"Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Theorem 9; Globerson, Roweis 2005"),
	onRows(Entry{
		Name:        "nca",
		Doc:         "neighbourhood components analysis: a stochastic neighbour of a row as likely of its class as can be, in few dimensions or all; not convex",
		When:        "few dimensions that serve nearest neighbours, to search or to draw in (dim=2); with about as many dimensions as rows it learns these by heart",
		Source:      "Goldberger, Roweis, Hinton, Salakhutdinov. Neighbourhood Components Analysis. NIPS 17, 2004",
		Version:     labels.NCAVersion,
		Constructor: "labels.FitNCA",
		Cost:        ncaCost,
	}, Classes, func(ctx context.Context, in Input, p ncaParams) (learners.MetricResult, error) {
		r, err := labels.FitNCA(ctx, rand.New(rand.NewPCG(p.Seed, 0)), in.X, in.Y, p.NCAParams)
		return r.MetricResult, err
	}),
	traceSSIKDR,
	{
		Name:        "spectral",
		Doc:         "a kernel close to a given one under constraints on squared distances and the trace; for fit --gram",
		When:        "a kernel of objects at hand and constraints on distances in it, when the divergence is to be chosen",
		Source:      "Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Sections 4 and 5",
		Version:     ltkernel.Version,
		Constructor: "ltkernel.FitKernel",
		Use: Use{Constraints, declared[spectralParams](), func(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
			q := read[spectralParams](v, progress)
			d, err := ltkernel.ParseDivergence(q.Divergence, q.Alpha, q.Tau)
			if err != nil {
				return Learned{}, err
			}
			p := q.Params
			p.Divergence = d
			r, err := ltkernel.FitKernel(ctx, in.K0, in.Constraints, p)
			if err != nil {
				return Learned{}, err
			}
			out := Learned{Result: r.Result, Solution: r.Solution, Kernel: r.Learned}
			if r.Status == learners.Infeasible {
				if out.Conflict, out.Weights, err = ltkernel.Conflict(ctx, in.K0, in.Constraints, r.Certificate, p); err != nil {
					return Learned{}, err
				}
			}
			return out, nil
		}},
	},
}

// chosenTau is the word of a weight of the trace that a learner of comparisons chooses.
const chosenTau = "auto"

// wholeKernel is the word of the parameter dim for a kernel, whose rank nothing bounds.
const wholeKernel = "all"

// comparisons returns the entry of a loss of triplets, whose own parameters stand first: of kernels, or of coordinates where the loss has no kernel.
func comparisons(loss triplets.Loss, doc, when, from string, own ...Param) Entry {
	e := Entry{
		Name: loss.String(), Doc: doc, When: when, Source: from, Constructor: "triplets.FitTuned",
		Version: triplets.BatchFactoredVersion + triplets.BatchLargeVersion + triplets.TunedVersion + triplets.CoordinatesVersion + triplets.TunedCoordinatesVersion - 4,
	}
	dim, starts, origin := declared[triplets.CoordinatesParams]("dim")[0], declared[triplets.CoordinatesParams]("starts")[0], seed[0]
	if loss <= triplets.CKL {
		dim.words, dim.Default, dim.Doc = append([]string{wholeKernel}, dim.words...), wholeKernel, dim.Doc+"; all is a kernel"
		dim = dim.allow(dim.within)
		starts.Needs, origin.Needs = "dim!="+wholeKernel, "tau="+chosenTau+" or dim!="+wholeKernel
	} else {
		e.Constructor = "triplets.FitTunedCoordinates"
	}
	params := slices.Concat(own, []Param{dim}, declared[triplets.BatchParams]("tau", "tol", "iterations"), []Param{starts, origin})
	e.Use = Use{Comparisons, params, func(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
		p := read[triplets.BatchParams](v, progress)
		p.Loss = loss
		chosen := v.Text("tau") == chosenTau
		if v.Text("dim") != wholeKernel {
			q := triplets.TunedCoordinatesParams{CoordinatesParams: read[triplets.CoordinatesParams](v, progress), Threes: in.Threes}
			q.Loss, q.Margin, q.Mu, q.Tol, q.Iterations = loss, p.Margin, p.Mu, p.Tol, p.Iterations
			if !chosen {
				q.Taus = []float64{p.Tau}
			}
			if q.Dim > 0 {
				q.Dims = []int{q.Dim}
			}
			r, err := triplets.FitTunedCoordinates(ctx, source(v), in.Objects, in.Triplets, q)
			if err != nil {
				return Learned{}, err
			}
			out := Learned{Result: r.Result, K: r.Kernel(), Tau: r.Tau, Chosen: chosen && r.Errors != nil, Dim: r.Dim}
			if len(r.Dims) > 1 {
				out.Dims, out.DimErrors = r.Dims, r.Errors
			}
			return out, nil
		}
		var r triplets.BatchResult
		var err error
		if chosen {
			r, err = triplets.FitTuned(ctx, source(v), in.Objects, in.Triplets, triplets.TunedParams{BatchParams: p, Threes: in.Threes})
		} else {
			r, err = triplets.FitBatch(ctx, in.Objects, in.Triplets, p)
		}
		if err != nil {
			return Learned{}, err
		}
		return Learned{Result: r.Result, K: r.Kernel, Tau: r.Tau, Chosen: r.Errors != nil}, nil
	}}
	return e
}

var (
	rca = onLinks(Entry{
		Name:        "rca",
		Doc:         "relevant component analysis: the inverse covariance within chunklets of similar rows",
		When:        "rows known to be alike and none known to differ; closed form",
		Source:      "Shental, Hertz, Weinshall, Pavel. Adjustment Learning and Relevant Component Analysis. ECCV 2002",
		Version:     pairs.RCAVersion,
		Constructor: "pairs.FitRCA",
		Chunklets:   true,
		Cost:        rcaCost,
	}, pairs.FitRCA)
	lmnn = onClasses(Entry{
		Name:        "lmnn",
		Doc:         "large margin nearest neighbours: target neighbours near, rows of other classes a margin farther away",
		When:        "classes and nearest neighbours, when fda is not enough: classes may be several clusters, since only near rows of a class count",
		Source:      "Weinberger, Saul. Distance Metric Learning for Large Margin Nearest Neighbor Classification. JMLR 10, 2009",
		Version:     labels.LMNNVersion,
		Constructor: "labels.FitLMNN",
		Cost:        lmnnCost,
	}, func(ctx context.Context, x mat.Matrix, y []int, p labels.LMNNParams) (learners.MetricResult, error) {
		l, err := labels.FitLMNN(ctx, x, y, p)
		return l.MetricResult, err
	})
	mcml = onClasses(Entry{
		Name:        "mcml",
		Doc:         "maximally collapsing metric learning: the rows of a class as likely neighbours of each other as can be",
		When:        "classes that are single clouds, of up to a few thousand rows; it is convex and says how near its optimum is",
		Source:      "Globerson, Roweis. Metric Learning by Collapsing Classes. NIPS 18, 2005",
		Version:     labels.MCMLVersion,
		Constructor: "labels.FitMCML",
		Cost:        mcmlCost,
	}, func(ctx context.Context, x mat.Matrix, y []int, p labels.MCMLParams) (learners.MetricResult, error) {
		l, err := labels.FitMCML(ctx, x, y, p)
		return l.MetricResult, err
	})
)

type kernelRCAParams struct {
	pairs.RCAParams `doc:"regularisation, relative to the mean variance within chunklets, over the dimensions that the rows span"`
}

// kernelOf returns the entry of the learner e in the space of a kernel, where its parameters are declared by P.
func kernelOf[P any](e Entry, cost func(Size, Values) Cost, source string) Entry {
	under := Entry{Source: source, Version: e.Version, Constructor: "kernelized.Fit", Cost: cost, Chunklets: e.Chunklets}
	return inKernel(e.Name, under, e.Feedback, declared[P](), func(ctx context.Context, in Input, v Values, progress Progress) (kernelized.Result, error) {
		return kernelized.Fit(ctx, in.Kernel, in.X, func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
			r, err := e.Fit(ctx, Input{X: z, Y: in.Y, Links: in.Links}, v, progress)
			m, _ := r.Distance.(*metric.Mahalanobis) // nil after an error
			return learners.MetricResult{Result: r.Result, Metric: m}, err
		}, read[kernelized.Params](v, nil))
	})
}

// inKernel completes the entry e of the learner of that name in the space of a kernel.
func inKernel(name string, e Entry, f Feedback, own []Param, fit func(context.Context, Input, Values, Progress) (kernelized.Result, error)) Entry {
	e.Name = "kernel-" + name
	e.Doc = name + " between images under a kernel's feature map, and so for new points, which it embeds; it stores the rows that span the images"
	e.When = "what " + name + " is for, where no linear map of the features is enough; time is cubic in the rows, unless landmarks bounds it"
	e.Version += kernelized.Version
	e.Form = Embedded
	e.Use = Use{f, slices.Concat(own, kernelParams, kernelLandmarks), func(ctx context.Context, in Input, v Values, p Progress) (Learned, error) {
		r, err := fit(ctx, in, v, p)
		if err != nil {
			return Learned{}, err
		}
		return Learned{Result: r.Result, Distance: r.Metric, Landmarks: r.Landmarks, Left: r.Left}, nil
	}}
	return underKernel(e)
}

// kernelLandmarks is the parameter of an approximate fit in the space of a kernel.
var kernelLandmarks = declared[kernelized.Params]()

// underKernel returns e with a fit that sets Input.Kernel to the kernel that kernelParams name, unless one is given.
func underKernel(e Entry) Entry {
	fit := e.Fit
	e.Fit = func(ctx context.Context, in Input, v Values, p Progress) (Learned, error) {
		if in.Kernel == nil {
			_, d := matrix.Given("catalog: x", in.X).Dims()
			var err error
			if in.Kernel, err = kernel(d, read[kernels.Spec](v, nil)); err != nil {
				return Learned{}, err
			}
		}
		return fit(ctx, in, v, p)
	}
	return e
}

// kernelParams are the parameters that kernel reads.
var kernelParams = declared[kernels.Spec]()

// kernel returns the kernel of s for vectors of length dim. A width of 0 stands for one over the dimension, at which
// squared distances between standardised features are of the order of 1.
func kernel(dim int, s kernels.Spec) (kernels.Kernel, error) {
	if s.Gamma != nil {
		*s.Gamma = cmp.Or(*s.Gamma, 1/float64(dim))
	}
	return s.Kernel()
}

type kernelPOLAParams struct {
	pairs.POLAParams
	Kernel kernels.Spec
}

func newKernelPOLA(dim int, p kernelPOLAParams) (*pairs.KernelPOLA, error) {
	k, err := kernel(max(dim, 1), p.Kernel) // NewKernelPOLA refuses less
	if err != nil {
		return nil, err
	}
	return pairs.NewKernelPOLA(dim, k, p.POLAParams)
}

// The parameters of itml. itml-tuned has no start: the matrix would have to follow from the training rows of each fold.
var (
	itmlSlack = slices.Concat(declared[struct {
		Slack string `words:"soft|hard" doc:"bounds may be exceeded at a price, or not at all"`
	}](), declared[itml.Params]("gamma"))
	itmlStart = declared[struct {
		Start               string `words:"identity|invcov" doc:"matrix to stay close to, under which the rule of the bounds measures too: that of the Euclidean distance, or the inverse covariance of all rows (LogDet-InvCov)"`
		labels.InvCovParams `needs:"start=invcov"`
	}]()
	itmlRule = slices.Concat(declared[struct {
		Rule string `words:"percentiles|bins|given" doc:"bounds are percentiles of squared distances, centres of 100 equal bins between the least and the largest, or given as upper and lower"`
	}](), declared[itml.Params]("low", "high", "upper", "lower"))
	itmlBounds = slices.Concat(itmlRule, declared[itml.Params]("tol"))
	itmlCycles = declared[itml.Params]("cycles")
	itmlDraws  = slices.Concat(declared[itml.LabelParams]("links", "bound-pairs"), seed)
)

// bound makes of p, which read has made of v, what the choices slack and rule say. learner is the one that errors name.
func bound(learner string, p *itml.Params, v Values) error {
	switch v.Text("rule") {
	case itml.BoundBins.String():
		p.Bounds.Rule = itml.BoundBins
	case "given":
		if p.Upper == 0 && p.Lower == 0 { // which itml.Fit takes for a rule
			return fmt.Errorf("%s: upper: 0 and lower: 0 are not allowed with rule=given, want 0 < upper < lower", learner)
		}
	}
	if v.values["slack"] == "hard" { // itml-tuned has none
		p.Gamma = math.Inf(1)
	}
	return nil
}

// start sets the matrix that p begins at.
func start(ctx context.Context, p *itml.Params, x mat.Matrix, v Values) (err error) {
	if v.Text("start") == "invcov" {
		if p.W0, err = labels.ITMLStart(ctx, x, read[labels.InvCovParams](v, nil)); err != nil {
			return fmt.Errorf("itml: start: %w", err)
		}
	}
	return nil
}

// learnedKernel is l.Kernel, whose check may take long, unless ctx is done.
func learnedKernel(ctx context.Context, l itml.KernelResult, k kernels.Kernel, x *mat.Dense) (*kernels.Transformed, error) {
	if m := len(l.Support); !abandon.Long(m, m, m) {
		return l.Kernel(k, x)
	}
	x = mat.DenseCopyOf(x)
	return abandon.Do(ctx, "kernel", func(context.Context) (*kernels.Transformed, error) { return l.Kernel(k, x) })
}

// boundIPLR is bound for the parameters of iplr, which are those of itml.
func boundIPLR(p *iplr.Params, v Values) error {
	q := read[itml.Params](v, nil)
	err := bound("iplr", &q, v)
	p.Gamma, p.Upper, p.Lower, p.Bounds, p.Tol = q.Gamma, q.Upper, q.Lower, q.Bounds, q.Tol
	return err
}

// iplrLinks is what iplr on links makes the basis by.
type iplrLinks struct {
	Basis iplr.BasisRule `words:"singular|kmeans|rows" doc:"the top singular vectors of the rows; centres of clusters; rows drawn"`
	K     uint64         `doc:"vectors of the basis; 0 means 50, or all there can be if they are fewer" default:"0"`
}

// iplrBasis is how many vectors the basis of iplr on links has by default, if there can be as many.
const iplrBasis = 50

// fitIPLRLinks is iplr on links, with a basis made of the rows.
func fitIPLRLinks(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
	p := read[iplr.LabelParams](v, progress)
	if err := boundIPLR(&p.Params, v); err != nil {
		return Learned{}, err
	}
	if p.K == 0 && !matrix.IsNil(in.X) { // of none, RowsBasis panics
		n, d := in.X.Dims()
		p.K = min(iplrBasis, n, d)
	}
	basis, err := p.RowsBasis(ctx, source(v), in.X)
	if err != nil {
		return Learned{}, err
	}
	return inSpan(iplr.Fit(ctx, in.X, basis, in.Links, p.Params))
}

// inSpan returns the metric of iplr as what was learned.
func inSpan(r iplr.Result, err error) (Learned, error) {
	if err != nil {
		return Learned{}, err
	}
	return Learned{Result: r.Result, Distance: r.Metric, Asked: r.Basis.Asked(), Links: r.Links, Infeasible: len(r.Infeasible)}, nil
}

// draws is the seed of a learner that does not draw by itself.
type draws struct {
	Seed uint64 `doc:"origin of the draws" default:"1"`
}

var seed = declared[draws]()

type pcaParams struct {
	Dim int `range:">= 0 and <= the smaller of the numbers of rows and columns" doc:"number of components; 0 means all"`
}

type ncaParams struct {
	labels.NCAParams
	draws
}

// projected returns the metric of a projection in closed form.
func projected[P interface{ Metric() *metric.Mahalanobis }](p P, err error) (learners.MetricResult, error) {
	if err != nil {
		return learners.MetricResult{}, err
	}
	return learners.MetricResult{Metric: p.Metric(), Result: learners.Result{Status: learners.Closed}}, nil
}

// spectralParams are the parameters of spectral.
type spectralParams struct {
	Divergence string  `words:"logdet|von-neumann|frobenius|trace" doc:"function of the eigenvalues x of W that is least: x - log x - 1 (logdet), x log x - x + 1 (von-neumann), (x - alpha)²/2 (frobenius), tau x + x²/2 (trace)"`
	Alpha      float64 `range:">= 0" default:"1" needs:"divergence=frobenius" doc:"value that the eigenvalues are near to"`
	Tau        float64 `range:">= 0" default:"1" needs:"divergence=trace" doc:"weight of the trace, which makes the rank low"`
	ltkernel.Params
}

// source returns the source of the draws of a batch learner.
func source(v Values) *rand.Rand { return rand.New(rand.NewPCG(uint64(v.Int("seed")), 0)) }

type rmpParams struct {
	mapping.RMPParams
	draws
}
