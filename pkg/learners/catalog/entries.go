package catalog

import (
	"cmp"
	"context"
	"encoding"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/kernelized"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/ssikdr"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// entries is the list. Defaults come from the Resolved method of the parameters
// where there is one.
var entries = []Entry{
	{
		Name:        "pola",
		Doc:         "POLA: online projections onto the last pair's constraint and the positive semi-definite cone",
		Source:      "Shalev-Shwartz, Singer, Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004, Fig. 1 and Eq. 12",
		Feedback:    Pairs,
		Version:     pairs.POLAVersion,
		Constructor: "pairs.NewPOLA",
		Cost:        polaCost,
		Params:      polaParams,
		Bounded:     true,
		Kind:        pairs.POLAKind,
		NewPair: func(dim int, v Values) (learners.Pair, error) {
			return pairs.NewPOLA(dim, pola(v))
		},
		LoadPair: func(r io.Reader) (learners.Pair, error) { return pairs.LoadPOLA(r) },
	},
	{
		Name:        "kernel-pola",
		Doc:         "POLA between images under a kernel's feature map; it stores points, without a bound in general; features should be centred",
		Source:      "Shalev-Shwartz, Singer, Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004, Section 3.3",
		Feedback:    Pairs,
		Version:     pairs.KernelPOLAVersion,
		Constructor: "pairs.NewKernelPOLA",
		Cost:        kernelPOLACost,
		Params:      slices.Concat(polaParams, kernelParams),
		Kind:        pairs.KernelPOLAKind,
		NewPair: func(dim int, v Values) (learners.Pair, error) {
			k, err := kernel(dim, v)
			if err != nil {
				return nil, err
			}
			return pairs.NewKernelPOLA(dim, k, pola(v))
		},
		LoadPair: func(r io.Reader) (learners.Pair, error) { return pairs.LoadKernelPOLA(r) },
	},
	{
		Name:        "pa",
		Doc:         "passive-aggressive steps onto or toward the last pair's constraint, and least squares",
		Source:      "Perez-Suay, Ferri. Online Metric Learning Methods Using Soft Margins and Least Squares Formulations. 2013, Section 2",
		Feedback:    Pairs,
		Version:     pairs.PAVersion,
		Constructor: "pairs.NewPA",
		Cost:        polaCost,
		Params: []Param{
			choice("rule", "hard margin, slack in the loss (PA-I), its square (PA-II), or least squares (PA-LS)",
				pairs.PlainPA.String(), pairs.PAI.String(), pairs.PAII.String(), pairs.PALS.String()),
			of(pairs.PAParams{}.Resolved(), "C", Param{
				Name: "c", Doc: "weight of the loss against the length of the step",
				Needs: fmt.Sprintf("rule=%v|%v|%v", pairs.PAI, pairs.PAII, pairs.PALS),
			}),
			choice("psd", "when the matrix is made positive semi-definite and the threshold at least 1: each step, or only what is returned at the end",
				pairs.PSDEachStep.String(), pairs.PSDAtEnd.String()),
			of(pairs.PAParams{}.Resolved(), "B0", Param{
				Name: "b0", Doc: "start threshold",
			}),
			of(pairs.PAParams{}.Resolved(), "Tol", Param{
				Name: "tol", Doc: "largest loss of a pair on which no update is made",
				Needs: fmt.Sprintf("rule=%v", pairs.PALS),
			}),
			of(pairs.PAParams{}.Resolved(), "M0", Param{
				Name: "m0", Doc: "start matrix, as a multiple of the identity",
			}),
			of(pairs.PAParams{}.Resolved(), "Every", Param{
				Name: "every", Doc: "make the matrix feasible after every so many updates, too; 0 means never",
				Needs: fmt.Sprintf("psd=%v", pairs.PSDAtEnd),
			}),
		},
		Bounded: true,
		Kind:    pairs.PAKind,
		NewPair: func(dim int, v Values) (learners.Pair, error) {
			p := pairs.PAParams{C: v.Float("c"), B0: v.Float("b0"), Tol: v.Float("tol"), M0: v.Float("m0"), Every: v.Int("every")}
			if err := p.Rule.UnmarshalText([]byte(v.Text("rule"))); err != nil {
				return nil, err
			}
			if err := p.PSD.UnmarshalText([]byte(v.Text("psd"))); err != nil {
				return nil, err
			}
			return pairs.NewPA(dim, p)
		},
		LoadPair: func(r io.Reader) (learners.Pair, error) { return pairs.LoadPA(r) },
	},
	{
		Name:        "lego",
		Doc:         "LEGO, LogDet Online: implicit steps in the LogDet divergence toward a squared distance for similar pairs and one for dissimilar pairs",
		Source:      "Jain, Kulis, Dhillon, Grauman. Online Metric Learning and Fast Similarity Search. NIPS 2008; Jain et al. JMLR 13, 2012, Section 6",
		Feedback:    Pairs,
		Version:     pairs.LEGOVersion,
		Constructor: "pairs.NewLEGO",
		Cost:        legoCost,
		Params: []Param{
			of(pairs.LEGOParams{}.Resolved(), "Eta", Param{
				Name: "eta", Doc: "weight of the loss against the divergence from the last matrix",
			}),
			of(pairs.LEGOParams{}.Resolved(), "Upper", Param{
				Name: "u", Doc: "squared distance wanted of similar pairs",
			}),
			of(pairs.LEGOParams{}.Resolved(), "Lower", Param{
				Name: "l", Doc: "squared distance wanted of dissimilar pairs",
			}),
			choice("update", "on every pair, or on similar pairs farther than u and dissimilar ones nearer than l",
				pairs.UpdateAlways.String(), pairs.UpdateViolated.String()),
		},
		Bounded: true,
		Kind:    pairs.LEGOKind,
		NewPair: func(dim int, v Values) (learners.Pair, error) {
			p := pairs.LEGOParams{Eta: v.Float("eta"), Upper: v.Float("u"), Lower: v.Float("l")}
			if err := p.Update.UnmarshalText([]byte(v.Text("update"))); err != nil {
				return nil, err
			}
			return pairs.NewLEGO(dim, p)
		},
		LoadPair: func(r io.Reader) (learners.Pair, error) { return pairs.LoadLEGO(r) },
	},
	{
		Name:        "erkle",
		Doc:         "ERKLE: a gradient step on the last comparison, and the projection onto the positive semi-definite cone; it keeps all comparisons if beta > 1",
		Source:      "Heim, Berger, Seversky, Hauskrecht. Efficient Online Relative Comparison Kernel Learning. SDM 2015, Algorithms 1 and 2",
		Feedback:    Triplets,
		Version:     triplets.ERKLEVersion,
		Constructor: "triplets.NewERKLE",
		Params: []Param{
			choice("loss", "hinge or logistic loss of the difference of squared distances",
				triplets.GNMDS.String(), triplets.STE.String()),
			choice("step", "length of the step: passive-aggressive, delta, delta/j, or delta/sqrt(j) in round j",
				triplets.StepPassiveAggressive.String(), triplets.StepConstant.String(), triplets.StepInverse.String(), triplets.StepInverseSqrt.String()),
			of(triplets.ERKLEParams{}.Resolved(), "Delta", Param{
				Name: "delta", Doc: "factor of the step",
				Needs: fmt.Sprintf("step=%v|%v|%v", triplets.StepConstant, triplets.StepInverse, triplets.StepInverseSqrt),
			}),
			of(triplets.ERKLEParams{}.Resolved(), "Margin", Param{
				Name: "margin", Doc: "margin of the hinge loss", Needs: "loss=" + triplets.GNMDS.String(),
			}),
			of(triplets.ERKLEParams{}.Resolved(), "P", Param{
				Name: "p", Doc: "probability of the last comparison after a passive-aggressive step",
				Needs: fmt.Sprintf("loss=%v and step=%v", triplets.STE, triplets.StepPassiveAggressive),
			}),
			of(triplets.ERKLEParams{}.Resolved(), "Beta", Param{
				Name: "beta", Doc: "steps per round, all but one of them on earlier comparisons, drawn at random",
			}),
			choice("gradient", "gradient matrix as printed, or that in the Frobenius inner product",
				triplets.GradientPrinted.String(), triplets.GradientFrobenius.String()),
			of(triplets.ERKLEParams{}.Resolved(), "Trace", Param{
				Name: "trace", Doc: "weight of the trace of the kernel beside the loss",
			}),
			of(triplets.ERKLEParams{}.Resolved(), "Reject", Param{
				Name: "reject", Doc: "largest step that is made; 0 means any", Default: "0",
			}),
			seed,
		},
		Kind: triplets.ERKLEKind,
		NewTriplet: func(objects int, v Values) (learners.TripletLearner, error) {
			p := triplets.ERKLEParams{
				Delta: v.Float("delta"), Margin: v.Float("margin"), P: v.Float("p"), Beta: v.Int("beta"),
				Trace: v.Float("trace"), Reject: v.Float("reject"), Seed: uint64(v.Int("seed")),
			}
			for name, into := range map[string]encoding.TextUnmarshaler{"loss": &p.Loss, "step": &p.Step, "gradient": &p.Gradient} {
				if err := into.UnmarshalText([]byte(v.Text(name))); err != nil {
					return nil, err
				}
			}
			return triplets.NewERKLE(objects, p)
		},
		LoadTriplet: func(r io.Reader) (learners.TripletLearner, error) { return triplets.LoadERKLE(r) },
	},
	comparisons(triplets.GNMDS, "hinge loss of the difference of squared distances, in batch, with a weight of the trace",
		"Agarwal, Wills, Cayton, Lanckriet, Kriegman, Belongie. Generalized Non-metric Multidimensional Scaling. AISTATS 2007",
		of(triplets.BatchParams{}.Resolved(), "Margin", Param{Name: "margin", Doc: "margin of the hinge loss"})),
	comparisons(triplets.STE, "stochastic triplet embedding: logistic loss of the difference of squared distances, in batch, with a weight of the trace",
		"van der Maaten, Weinberger. Stochastic Triplet Embedding. MLSP 2012"),
	comparisons(triplets.CKL, "crowd kernel: odds of the two squared distances, in batch, with a weight of the trace; not convex",
		"Tamuz, Liu, Belongie, Shamir, Kalai. Adaptively Learning the Crowd Kernel. ICML 2011",
		of(triplets.BatchParams{}.Resolved(), "Mu", Param{Name: "mu", Doc: "added to both squared distances"})),
	{
		Name:        "rmp",
		Doc:         "randomized map prediction: maps to few prototypes, drawn by exponential weights",
		Source:      "Rakhlin, Abernethy, Bartlett. Online Discovery of Similarity Mappings. ICML 2007, Algorithms 1 and 2",
		Feedback:    Costs,
		Version:     mapping.RMPVersion,
		Constructor: "mapping.NewRMP",
		Params: []Param{
			prototypes,
			of(mapping.RMPParams{}, "Rate", Param{
				Name: "eta", Doc: "learning rate: 100 times the printed one, as printed in Theorem 2.1, divided by the number of objects as its proof needs, the latter for a horizon that grows, or fixed", Type: NumberOrWord,
				Default: mapping.EtaHundredfold.String(), words: []string{mapping.EtaHundredfold.String(), mapping.EtaPrinted.String(), mapping.EtaCorrected.String(), mapping.EtaAnytime.String()},
			}),
			of(mapping.RMPParams{}, "Rounds", Param{
				Name: "rounds", Doc: "rounds to come; 0 means the doubling trick, or with hundredfold the rounds so far",
				Needs: fmt.Sprintf("eta=%v|%v|%v", mapping.EtaHundredfold, mapping.EtaPrinted, mapping.EtaCorrected), Default: "0",
			}),
			choice("sampler", fmt.Sprintf("all sets, a random walk of uniform swaps, or one with weighed swaps; auto means all sets up to %d of them, else metropolis", mapping.MaxSets),
				mapping.SampleAuto.String(), mapping.SampleEnumerate.String(), mapping.SampleMetropolis.String(), mapping.SampleHeatBath.String()),
			of(mapping.RMPParams{}.Resolved(), "ChainSteps", Param{
				Name: "chain-steps", Doc: "steps of the random walk per round",
				Needs: fmt.Sprintf("sampler=%v|%v|%v", mapping.SampleAuto, mapping.SampleMetropolis, mapping.SampleHeatBath),
			}),
			seed,
		},
		Bounded: true,
		Kind:    mapping.RMPKind,
		NewMap: func(a, b int, v Values) (learners.MapLearner, error) {
			p, err := rmp(v)
			if err != nil {
				return nil, err
			}
			return mapping.NewRMP(rand.NewPCG(uint64(v.Int("seed")), 0), a, b, p)
		},
		LoadMap: func(r io.Reader) (learners.MapLearner, error) { return mapping.LoadRMP(r) },
	},
	{
		Name:        "ftl",
		Doc:         "follow the leader: the map to few prototypes that would have cost least so far",
		Source:      "Rakhlin, Abernethy, Bartlett. Online Discovery of Similarity Mappings. ICML 2007, Section 5.1",
		Feedback:    Costs,
		Version:     mapping.FTLVersion,
		Constructor: "mapping.NewFTL",
		Params:      []Param{prototypes},
		Bounded:     true,
		Kind:        mapping.FTLKind,
		NewMap: func(a, b int, v Values) (learners.MapLearner, error) {
			return mapping.NewFTL(a, b, mapping.FTLParams{M: v.Int("m")})
		},
		LoadMap: func(r io.Reader) (learners.MapLearner, error) { return mapping.LoadFTL(r) },
	},
	{
		Name:        "pola-batch",
		Doc:         "batch POLA: POLA repeated until no pair has a hinge loss above beta",
		Source:      "Shalev-Shwartz, Singer, Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004, Section 6",
		Feedback:    Links,
		Version:     pairs.BatchPOLAVersion,
		Constructor: "pairs.FitBatchPOLA",
		Cost:        batchPOLACost,
		Params: append(slices.Clone(polaParams),
			of(pairs.BatchPOLAParams{}.Resolved(), "Beta", Param{
				Name: "beta", Doc: "largest hinge loss of a pair that is accepted",
			}),
			choice("reading", "an iteration is a pass over the pairs, or a step on the pair of the largest loss",
				pairs.BatchPasses.String(), pairs.BatchViolations.String()),
			of(pairs.BatchPOLAParams{}, "MaxIterations", Param{
				Name: "iterations", Doc: "cap on iterations; 0 means 1000 passes, or 1000 steps per pair", Default: "0",
			})),
		FitLinks: func(ctx context.Context, x mat.Matrix, links []metric.Link, v Values, progress Progress) (learners.MetricResult, error) {
			p := pairs.BatchPOLAParams{POLAParams: pola(v), Beta: v.Float("beta"), MaxIterations: v.Int("iterations"), Progress: progress}
			if v.Text("reading") == pairs.BatchViolations.String() {
				p.Reading = pairs.BatchViolations
			}
			b, err := pairs.FitBatchPOLA(ctx, x, links, p)
			return b.MetricResult, err
		},
	},
	{
		Name:        "rca",
		Doc:         "relevant component analysis: the inverse covariance within chunklets of similar rows",
		Source:      "Shental, Hertz, Weinshall, Pavel. Adjustment Learning and Relevant Component Analysis. ECCV 2002",
		Feedback:    Links,
		Version:     pairs.RCAVersion,
		Constructor: "pairs.FitRCA",
		Chunklets:   true,
		Cost:        rcaCost,
		Params:      []Param{ridge(pairs.RCAParams{}.Resolved(), "chunklets")},
		FitLinks: func(ctx context.Context, x mat.Matrix, links []metric.Link, v Values, _ Progress) (learners.MetricResult, error) {
			return pairs.FitRCA(ctx, x, links, pairs.RCAParams{Ridge: v.Float("ridge")})
		},
	},
	underKernel(Entry{
		Name:        "kernel-rca",
		Doc:         "rca between images under a kernel's feature map, and so for new points, which it embeds; it stores the rows that span the images",
		Source:      "Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Section 5.3; Shental et al. ECCV 2002",
		Feedback:    Links,
		Version:     kernelized.Version + pairs.RCAVersion,
		Constructor: "kernelized.Fit",
		Cost:        closedInKernelSpace,
		Embeds:      true,
		Chunklets:   true,
		Params:      slices.Concat([]Param{ridge(pairs.RCAParams{}.Resolved(), "chunklets, over the dimensions that the rows span")}, kernelParams, kernelLandmarks),
		FitUnder: func(ctx context.Context, k kernels.Kernel, x mat.Matrix, _ []int, links []metric.Link, v Values, _ Progress) (KernelResult, error) {
			return kernelize(ctx, k, x, v, func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
				return pairs.FitRCA(ctx, z, links, pairs.RCAParams{Ridge: v.Float("ridge")})
			})
		},
	}),
	{
		Name:        "itml",
		Aliases:     []string{"logdet"},
		Doc:         "information-theoretic metric learning, also called logdet: the metric closest to a start in LogDet divergence, with bounds on squared distances",
		Source:      "Davis, Kulis, Jain, Sra, Dhillon. Information-Theoretic Metric Learning. ICML 2007; Jain et al. JMLR 13, 2012, Algorithm 1",
		Feedback:    Links,
		Version:     itml.Version,
		Constructor: "itml.Fit",
		Cost:        itmlCost,
		Params:      slices.Concat(itmlSlack, itmlStart, itmlParams),
		FitLinks: func(ctx context.Context, x mat.Matrix, links []metric.Link, v Values, progress Progress) (learners.MetricResult, error) {
			p, err := itmlOf("itml", v)
			if err != nil {
				return learners.MetricResult{}, err
			}
			if p, err = withStart(ctx, withSlack(p, v), x, v); err != nil {
				return learners.MetricResult{}, err
			}
			p.Progress = progress
			l, err := itml.Fit(ctx, x, links, p)
			return l.MetricResult, err
		},
		RowTripletParams: []Param{
			of(itml.NearerParams{}.Resolved(), "Margin", Param{Name: "margin", Doc: "by how much the farther squared distance is to exceed the nearer one"}),
			of(itml.NearerParams{}.Resolved(), "C", Param{Name: "c", Doc: "weight of the slacks: half of it for each squared violation"}),
			of(itml.NearerParams{}.Resolved(), "Tol", Param{Name: "tol", Doc: "stop when no comparison is violated by more than this share of the margin"}),
			of(itml.NearerParams{}.Resolved(), "MaxCycles", Param{Name: "max-cycles", Doc: "cap on cycles over the comparisons"}),
		},
		FitRowTriplets: func(ctx context.Context, x mat.Matrix, ts []metric.Triplet, v Values, progress Progress) (learners.Result, LearnedDistance, error) {
			r, err := itml.FitNearer(ctx, x, ts, itml.NearerParams{
				Margin: v.Float("margin"), C: v.Float("c"), Tol: v.Float("tol"), MaxCycles: v.Int("max-cycles"), Progress: progress,
			})
			if err != nil {
				return learners.Result{}, nil, err
			}
			if r.Metric != nil {
				return r.Result, r.Metric, nil
			}
			return r.Result, r.Full, nil
		},
	},
	underKernel(Entry{
		Name:        "kernel-itml",
		Aliases:     []string{"kernel-logdet"},
		Doc:         "itml, also called kernel-logdet, between images under a kernel's feature map, and so for new points; it stores the rows that pairs join; features should be centred",
		Source:      "Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Algorithm 1 and Eq. 6",
		Feedback:    Links,
		Version:     itml.KernelVersion,
		Constructor: "itml.FitKernelRows",
		Cost:        kernelITMLCost,
		Params: slices.Concat(itmlSlack, itmlParams, kernelParams, []Param{
			of(itml.KernelParams{}, "Landmarks", Param{
				Name: "landmarks", Doc: "approximation: the metric is learned in the span of so many rows, which represent the others, and only they are stored; 0 means exact", Default: "0",
			}),
		}),
		FitUnder: func(ctx context.Context, k kernels.Kernel, x mat.Matrix, _ []int, links []metric.Link, v Values, progress Progress) (KernelResult, error) {
			xd := matrix.Given("catalog: FitKernel: x", x)
			p, err := itmlOf("itml", v)
			if err != nil {
				return KernelResult{}, err
			}
			p = withSlack(p, v)
			l, err := itml.FitKernelRows(ctx, k, xd, links, itml.KernelParams{
				Gamma: p.Gamma, Upper: p.Upper, Lower: p.Lower, Bounds: p.Bounds, Tol: p.Tol, MaxCycles: p.MaxCycles, Progress: progress,
				Landmarks: v.Int("landmarks"),
			})
			if err != nil {
				return KernelResult{}, err
			}
			t, err := learnedKernel(ctx, l, k, xd)
			if errors.Is(err, metric.ErrNotPSD) {
				return KernelResult{}, fmt.Errorf("kernel-itml: kernel: %w: round-off hides what distinguishes rows, want a kernel under which they differ more", err)
			}
			if err != nil {
				return KernelResult{}, fmt.Errorf("kernel-itml: %w", err)
			}
			return KernelResult{Result: l.Result, Kernel: t, Landmarks: l.Landmarks, Left: l.Left}, nil
		},
	}),
	{
		Name:        "itml-labels",
		Doc:         "itml on pairs of rows drawn from the classes, with bounds from another draw",
		Source:      "Davis, Kulis, Jain, Sra, Dhillon. Information-Theoretic Metric Learning. ICML 2007; Perez-Suay, Ferri 2013, Section 3",
		Feedback:    Classes,
		Version:     itml.Version,
		Constructor: "itml.FitLabels",
		Cost:        itmlLabelsCost,
		Params:      slices.Concat(itmlSlack, itmlStart, itmlParams, itmlDraws),
		FitData: func(ctx context.Context, x mat.Matrix, y []int, v Values, progress Progress) (learners.MetricResult, error) {
			p, err := itmlLabels(v)
			if err != nil {
				return learners.MetricResult{}, err
			}
			if p.Params, err = withStart(ctx, withSlack(p.Params, v), x, v); err != nil {
				return learners.MetricResult{}, err
			}
			p.Progress = progress
			l, err := itml.FitLabels(ctx, source(v), x, y, p)
			return l.MetricResult, err
		},
	},
	{
		Name:        "itml-tuned",
		Doc:         "itml-labels with gamma of 0.0001, 0.001, ..., 10000 chosen by cross-validated nearest neighbours",
		Source:      "Davis, Kulis, Jain, Sra, Dhillon. Information-Theoretic Metric Learning. ICML 2007; Perez-Suay, Ferri 2013, Section 3",
		Feedback:    Classes,
		Version:     itml.Version,
		Constructor: "itml.FitTuned",
		Cost:        itmlTunedCost,
		Params: slices.Concat(itmlParams, itmlDraws, []Param{
			of(itml.TunedParams{}.Resolved(), "Folds", Param{
				Name: "folds", Doc: "parts of the cross-validation",
			}),
			of(itml.TunedParams{}.Resolved(), "K", Param{
				Name: "k", Doc: "neighbours that vote in the cross-validation",
			}),
		}),
		FitData: func(ctx context.Context, x mat.Matrix, y []int, v Values, progress Progress) (learners.MetricResult, error) {
			p, err := itmlLabels(v)
			if err != nil {
				return learners.MetricResult{}, err
			}
			p.Progress = progress
			l, err := itml.FitTuned(ctx, source(v), x, y, itml.TunedParams{LabelParams: p, Folds: v.Int("folds"), K: v.Int("k")})
			return l.MetricResult, err
		},
	},
	{
		Name:        "iplr",
		Doc:         "identity plus low rank: itml in the span of k vectors made of the rows and their classes; for many features, and for sparse rows",
		Source:      "Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Section 3.6",
		Feedback:    Classes,
		Version:     iplr.Version,
		Constructor: "iplr.FitLabels",
		Cost:        iplrCost,
		Params: slices.Concat([]Param{
			choice("basis", "means of classes or, if k is more, centres of each class, if less, of the means; the means of k classes drawn; the top singular vectors; centres of clusters; rows drawn; combinations of rows drawn",
				iplr.BasisClasses.String(), iplr.BasisRandomClasses.String(), iplr.BasisSingular.String(), iplr.BasisKMeans.String(), iplr.BasisRows.String(), iplr.BasisCoefficients.String()),
			of(iplr.LabelParams{}, "K", Param{
				Name: "k", Doc: "vectors of the basis; 0 means as many as classes", Default: "0",
			}),
		}, itmlSlack, iplrInfeasible, itmlBounds, iplrCycles, []Param{
			of(iplr.LabelParams{}.Resolved(), "Links", Param{
				Name: "links", Doc: "similar pairs to draw for each class, and as many dissimilar ones",
			}),
			of(iplr.LabelParams{}.Resolved(), "BoundPairs", Param{
				Name: "bound-pairs", Doc: "pairs to draw for the bounds", Needs: byRule,
			}),
			seed,
		}),
		FitLowRank: func(ctx context.Context, x mat.Matrix, y []int, v Values, progress Progress) (LowRankResult, error) {
			p, err := iplrOf(v)
			if err != nil {
				return LowRankResult{}, err
			}
			p.Progress = progress
			r, err := iplr.FitLabels(ctx, source(v), x, y, p)
			if err != nil {
				return LowRankResult{}, err
			}
			return LowRankResult{Result: r.Result.Result, Metric: r.Metric, Asked: r.Basis.Asked(), Links: r.Links, Infeasible: len(r.Infeasible)}, nil
		},
		LinkParams: slices.Concat([]Param{
			choice("basis", "the top singular vectors of the rows; centres of clusters; rows drawn",
				iplr.BasisSingular.String(), iplr.BasisKMeans.String(), iplr.BasisRows.String()),
			count(">= 0", Param{Name: "k", Doc: "vectors of the basis; 0 means 50, or all there can be if they are fewer", Default: "0"}),
		}, itmlSlack, iplrInfeasible, itmlBounds, iplrCycles, []Param{seed}),
		FitLowRankLinks: fitIPLRLinks,
	},
	{
		Name:        "pca",
		Doc:         "principal component analysis: the directions of largest variance",
		Source:      "Hotelling. Analysis of a complex of statistical variables into principal components. J. Educ. Psychol. 24, 1933",
		Feedback:    Data,
		Version:     labels.PCAVersion,
		Constructor: "labels.FitPCA",
		Cost:        projectionCost,
		Params: []Param{count(">= 0 and <= the smaller of the numbers of rows and columns", Param{
			Name: "dim", Doc: "number of components; 0 means all", Default: "0",
		})},
		FitData: func(ctx context.Context, x mat.Matrix, _ []int, v Values, _ Progress) (learners.MetricResult, error) {
			k := v.Int("dim")
			if dense := matrix.Dense(x); k == 0 && dense != nil { // of none, FitPCA panics
				n, d := dense.Dims()
				k = min(n, d)
			}
			p, err := labels.FitPCA(ctx, x, k)
			if err != nil {
				return learners.MetricResult{}, err
			}
			return learners.MetricResult{Metric: p.Metric(), Result: learners.Result{Status: learners.Closed}}, nil
		},
	},
	underKernel(Entry{
		Name:        "kernel-pca",
		Doc:         "pca between images under a kernel's feature map, and so for new points, which it embeds; it stores the rows that span the images",
		Source:      "Schölkopf, Smola, Müller. Nonlinear Component Analysis as a Kernel Eigenvalue Problem. Neural Computation 10, 1998",
		Feedback:    Data,
		Version:     kernelized.Version + labels.PCAVersion,
		Constructor: "kernelized.FitPCA",
		Cost:        closedInKernelSpace,
		Embeds:      true,
		Params: slices.Concat([]Param{
			of(kernelized.PCAParams{}, "Dim", Param{Name: "dim", Doc: "number of components", Default: "2"}),
			choice("centring", "where components begin: at the mean of the images of the rows, or at the origin of the kernel's space", "mean", "none"),
		}, kernelParams, kernelLandmarks),
		FitUnder: func(ctx context.Context, k kernels.Kernel, x mat.Matrix, _ []int, _ []metric.Link, v Values, _ Progress) (KernelResult, error) {
			r, err := kernelized.FitPCA(ctx, k, x, kernelized.PCAParams{Dim: v.Int("dim"), Uncentred: v.Text("centring") == "none", Landmarks: v.Int("landmarks")})
			return ofKernelized(r.Result, err)
		},
	}),
	{
		Name:        "lsa",
		Doc:         "latent semantic analysis: the right singular vectors of the rows, which are not centred",
		Source:      "Deerwester, Dumais, Furnas, Landauer, Harshman. Indexing by Latent Semantic Analysis. J. Am. Soc. Inf. Sci. 41, 1990",
		Feedback:    Data,
		Version:     labels.LSAVersion,
		Constructor: "labels.FitLSA",
		Cost:        projectionCost,
		Params: []Param{
			of(labels.LSAParams{}, "K", Param{Name: "dim", Doc: "number of components", Default: "2"}),
			choice("centring", "what is subtracted first: nothing, or the mean row, which makes it pca", "none", "mean"),
		},
		FitData: func(ctx context.Context, x mat.Matrix, _ []int, v Values, _ Progress) (learners.MetricResult, error) {
			l, err := labels.FitLSA(ctx, x, labels.LSAParams{K: v.Int("dim"), Centred: v.Text("centring") == "mean"})
			if err != nil {
				return learners.MetricResult{}, err
			}
			return learners.MetricResult{Metric: l.Metric(), Result: learners.Result{Status: learners.Closed}}, nil
		},
	},
	{
		Name:        "invcov",
		Doc:         "inverse covariance of all rows, without regard to classes",
		Source:      "Mahalanobis. On the generalised distance in statistics. Proc. Natl. Inst. Sci. India 2, 1936",
		Feedback:    Data,
		Version:     labels.InvCovVersion,
		Constructor: "labels.FitInvCov",
		Cost:        covarianceCost,
		Params:      []Param{invCovRidge},
		FitData: func(ctx context.Context, x mat.Matrix, _ []int, v Values, _ Progress) (learners.MetricResult, error) {
			return labels.FitInvCov(ctx, x, labels.InvCovParams{Ridge: v.Float("ridge")})
		},
	},
	{
		Name:        "fda",
		Doc:         "Fisher's discriminant analysis: the directions that separate class means best",
		Source:      "Fisher. The use of multiple measurements in taxonomic problems. Ann. Eugen. 7, 1936; Rao, J. R. Stat. Soc. B 10, 1948",
		Feedback:    Classes,
		Version:     labels.FDAVersion,
		Constructor: "labels.FitFDA",
		Cost:        covarianceCost,
		Params: []Param{
			of(labels.FDAParams{}.Resolved(), "K", Param{
				Name: "dim", Doc: "number of directions; 0 means all that separate class means",
			}),
			ridge(labels.FDAParams{}.Resolved(), "classes"),
		},
		FitData: func(ctx context.Context, x mat.Matrix, y []int, v Values, _ Progress) (learners.MetricResult, error) {
			p, err := labels.FitFDA(ctx, x, y, labels.FDAParams{K: v.Int("dim"), Ridge: v.Float("ridge")})
			if err != nil {
				return learners.MetricResult{}, err
			}
			return learners.MetricResult{Metric: p.Metric(), Result: learners.Result{Status: learners.Closed}}, nil
		},
	},
	underKernel(Entry{
		Name:        "kernel-fda",
		Doc:         "fda between images under a kernel's feature map, and so for new points, which it embeds; it stores the rows that span the images",
		Source:      "Mika, Rätsch, Weston, Schölkopf, Müller. Fisher Discriminant Analysis with Kernels. NNSP IX, 1999; Baudat, Anouar. Neural Computation 12, 2000",
		Feedback:    Classes,
		Version:     kernelized.Version + labels.FDAVersion,
		Constructor: "kernelized.FitFDA",
		Cost:        closedInKernelSpace,
		Embeds:      true,
		Params: slices.Concat([]Param{
			of(kernelized.FDAParams{}.Resolved(), "K", Param{
				Name: "dim", Doc: "number of directions; 0 means all that separate class means",
			}),
			ridge(kernelized.FDAParams{}.Resolved(), "classes, over the dimensions that the rows span"),
		}, kernelParams, kernelLandmarks),
		FitUnder: func(ctx context.Context, k kernels.Kernel, x mat.Matrix, y []int, _ []metric.Link, v Values, _ Progress) (KernelResult, error) {
			return ofKernelized(kernelized.FitFDA(ctx, k, x, y, kernelized.FDAParams{K: v.Int("dim"), Ridge: v.Float("ridge"), Landmarks: v.Int("landmarks")}))
		},
	}),
	{
		Name:        "lmnn",
		Doc:         "large margin nearest neighbours: target neighbours near, rows of other classes a margin farther away",
		Source:      "Weinberger, Saul. Distance Metric Learning for Large Margin Nearest Neighbor Classification. JMLR 10, 2009",
		Feedback:    Classes,
		Version:     labels.LMNNVersion,
		Constructor: "labels.FitLMNN",
		Cost:        lmnnCost,
		Params:      lmnnParams,
		FitData:     fitLMNN,
	},
	underKernel(Entry{
		Name:        "kernel-lmnn",
		Doc:         "lmnn between images under a kernel's feature map, and so for new points, which it embeds; it stores the rows that span the images",
		Source:      "Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Theorem 9; Weinberger, Saul 2009",
		Feedback:    Classes,
		Version:     kernelized.Version + labels.LMNNVersion,
		Constructor: "kernelized.Fit",
		Cost:        imagesOf(lmnnCost),
		Embeds:      true,
		Params:      slices.Concat(lmnnParams, kernelParams, kernelLandmarks),
		FitUnder: func(ctx context.Context, k kernels.Kernel, x mat.Matrix, y []int, _ []metric.Link, v Values, progress Progress) (KernelResult, error) {
			return kernelize(ctx, k, x, v, func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
				return fitLMNN(ctx, z, y, v, progress)
			})
		},
	}),
	{
		Name:        "mcml",
		Doc:         "maximally collapsing metric learning: the rows of a class as likely neighbours of each other as can be",
		Source:      "Globerson, Roweis. Metric Learning by Collapsing Classes. NIPS 18, 2005",
		Feedback:    Classes,
		Version:     labels.MCMLVersion,
		Constructor: "labels.FitMCML",
		Cost:        mcmlCost,
		Params:      mcmlParams,
		FitData:     fitMCML,
	},
	underKernel(Entry{
		Name:        "kernel-mcml",
		Doc:         "mcml between images under a kernel's feature map, and so for new points, which it embeds; it stores the rows that span the images",
		Source:      "Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Theorem 9; Globerson, Roweis 2005",
		Feedback:    Classes,
		Version:     kernelized.Version + labels.MCMLVersion,
		Constructor: "kernelized.Fit",
		Cost:        imagesOf(mcmlCost),
		Embeds:      true,
		Params:      slices.Concat(mcmlParams, kernelParams, kernelLandmarks),
		FitUnder: func(ctx context.Context, k kernels.Kernel, x mat.Matrix, y []int, _ []metric.Link, v Values, progress Progress) (KernelResult, error) {
			return kernelize(ctx, k, x, v, func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
				return fitMCML(ctx, z, y, v, progress)
			})
		},
	}),
	underKernel(Entry{
		Name:        "trace-ssikdr",
		Doc:         "Trace-SSIKDR: pairs near or far in few dimensions of a kernel's space, and so for new points, which it embeds; it stores the rows that pairs join",
		Source:      "Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Section 5.4 and Algorithm 2",
		Feedback:    Links,
		Version:     ssikdr.Version,
		Constructor: "ssikdr.Fit",
		Cost:        traceSSIKDRCost,
		Embeds:      true,
		Params:      slices.Concat(ssikdrParams, itmlBounds[:len(itmlBounds)-1], kernelParams), // all but tol, which ssikdr has, too
		GramParams:  ssikdrParams,
		FitUnder: func(ctx context.Context, k kernels.Kernel, x mat.Matrix, _ []int, links []metric.Link, v Values, progress Progress) (KernelResult, error) {
			constraints, err := ssikdrConstraints(ctx, k, x, links, v)
			if err != nil {
				return KernelResult{}, err
			}
			p, rank, err := ssikdrOf(v)
			if err != nil {
				return KernelResult{}, err
			}
			p.Progress = progress
			if v.Text("method") == ssikdrDirect {
				r, err := ssikdr.FitRankRows(ctx, source(v), k, x, constraints, rank, ssikdrRank(p, v))
				if err != nil {
					return KernelResult{}, err
				}
				return KernelResult{Result: r.Result.Result, Metric: r.Metric(k, x, 0)}, nil
			}
			r, err := ssikdr.Fit(ctx, k, x, constraints, p)
			switch {
			case err != nil:
				return KernelResult{}, err
			case r.Status == learners.Infeasible:
				return KernelResult{}, errors.New("trace-ssikdr: the pairs contradict each other under this kernel: want slack=l1 or l2, or other bounds")
			}
			return KernelResult{Result: r.Result, Metric: r.Metric(k, x, rank)}, nil
		},
		FitGram: func(ctx context.Context, k0 mat.Symmetric, constraints []ltkernel.Constraint, v Values, progress Progress) (GramResult, error) {
			p, rank, err := ssikdrOf(v)
			if err != nil {
				return GramResult{}, err
			}
			p.Progress = progress
			var r ssikdr.Result
			if v.Text("method") == ssikdrDirect {
				direct, err := ssikdr.FitRank(ctx, source(v), k0, constraints, rank, ssikdrRank(p, v))
				if err != nil {
					return GramResult{}, err
				}
				r = direct.Result
			} else if r, err = ssikdr.FitGram(ctx, k0, constraints, p); err != nil {
				return GramResult{}, err
			}
			if rank > 0 && r.Status != learners.Infeasible {
				if r, err = r.Leading(k0, constraints, rank, p); err != nil {
					return GramResult{}, err
				}
			}
			out := GramResult{KernelResult: ltkernel.KernelResult{Result: r.Result, Solution: r.Solution, Learned: r.Learned()}}
			if r.Status == learners.Infeasible {
				q := ltkernel.Params{}
				if q.Divergence, err = ltkernel.Trace(p.Tau); err != nil {
					return GramResult{}, err
				}
				out.Conflict, out.Weights, err = ltkernel.Conflict(ctx, k0, constraints, out.KernelResult, q)
			} else if r.Rank > 0 {
				out.Coordinates = new(r.Coordinates(0))
			}
			if err != nil {
				return GramResult{}, err
			}
			return out, nil
		},
	}),
	{
		Name:        "spectral",
		Doc:         "a kernel close to a given one under constraints on squared distances and the trace; for fit --gram",
		Source:      "Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Sections 4 and 5",
		Feedback:    Constraints,
		Version:     ltkernel.Version,
		Constructor: "ltkernel.FitKernel",
		Params: []Param{
			choice("divergence", "function of the eigenvalues x of W that is least: x - log x - 1 (logdet), x log x - x + 1 (von-neumann), (x - alpha)²/2 (frobenius), tau x + x²/2 (trace)",
				"logdet", "von-neumann", "frobenius", "trace"),
			positive(Param{Name: "alpha", Doc: "value that the eigenvalues are near to", Needs: "divergence=frobenius", Default: "1"}),
			positive(Param{Name: "tau", Doc: "weight of the trace, which makes the rank low", Needs: "divergence=trace", Default: "1"}),
			choice("slack", "cost of violating a constraint by s: not allowed (hard), c s (l1), c s²/2 (l2)",
				ltkernel.SlackHard.String(), ltkernel.SlackL1.String(), ltkernel.SlackL2.String()),
			of(ltkernel.Params{}.Resolved(), "C", Param{Name: "c", Doc: "weight of slack", Needs: "slack=" + ltkernel.SlackL1.String() + "|" + ltkernel.SlackL2.String()}),
			of(ltkernel.Params{}.Resolved(), "Tol", Param{Name: "tol", Doc: "KKT residual at which to stop, relative to the size of a constraint"}),
			of(ltkernel.Params{}.Resolved(), "MaxIterations", Param{Name: "iterations", Doc: "cap on Newton steps"}),
		},
		FitGram: func(ctx context.Context, k0 mat.Symmetric, constraints []ltkernel.Constraint, v Values, progress Progress) (GramResult, error) {
			p, err := ltkernelOf(v)
			if err != nil {
				return GramResult{}, err
			}
			p.Progress = progress
			r, err := ltkernel.FitKernel(ctx, k0, constraints, p)
			if err != nil {
				return GramResult{}, err
			}
			out := GramResult{KernelResult: r}
			if r.Status == learners.Infeasible {
				if out.Conflict, out.Weights, err = ltkernel.Conflict(ctx, k0, constraints, r, p); err != nil {
					return GramResult{}, err
				}
			}
			return out, nil
		},
	},
}

// chosenTau is the word of a weight of the trace that a learner of comparisons chooses.
const chosenTau = "auto"

// comparisons returns the entry of triplets.FitBatch with a loss, whose own parameters stand first.
func comparisons(loss triplets.Loss, doc, from string, own ...Param) Entry {
	return Entry{
		Name:        loss.String(),
		Doc:         doc,
		Source:      from,
		Feedback:    Comparisons,
		Version:     triplets.BatchFactoredVersion + triplets.TunedVersion - 1,
		Constructor: "triplets.FitTuned",
		Params: append(own,
			of(triplets.BatchParams{}, "Tau", Param{
				Name: "tau", Doc: "weight of the trace, which makes the rank low; auto tries 100, 10, 1, 0.1 and 0.01 on a fifth of the questions", Type: NumberOrWord,
				Default: chosenTau, words: []string{chosenTau},
			}),
			of(triplets.BatchParams{}.Resolved(), "Tol", Param{Name: "tol", Doc: "residual at which to stop, relative to the objective at 0"}),
			of(triplets.BatchParams{}.Resolved(), "Iterations", Param{Name: "iterations", Doc: "cap on steps, of each fit"}),
			seed.only("tau="+chosenTau)),
		FitTriplets: func(ctx context.Context, objects int, ts []metric.Triplet, v Values, progress Progress) (TripletResult, error) {
			p := triplets.BatchParams{Loss: loss, Tol: v.Float("tol"), Iterations: v.Int("iterations"), Progress: progress}
			switch loss {
			case triplets.GNMDS:
				p.Margin = v.Float("margin")
			case triplets.CKL:
				p.Mu = v.Float("mu")
			}
			if v.Text("tau") != chosenTau {
				tau, err := strconv.ParseFloat(v.Text("tau"), 64)
				if err != nil {
					return TripletResult{}, err
				}
				p.Tau = tau
				r, err := triplets.FitBatch(ctx, objects, ts, p)
				if err != nil {
					return TripletResult{}, err
				}
				return TripletResult{BatchResult: r, Tau: tau}, nil
			}
			r, err := triplets.FitTuned(ctx, source(v), objects, ts, triplets.TunedParams{BatchParams: p})
			if err != nil {
				return TripletResult{}, err
			}
			return TripletResult{BatchResult: r.BatchResult, Tau: r.Tau, Chosen: r.Errors != nil}, nil
		},
	}
}

// The ways of trace-ssikdr to a low rank.
const (
	ssikdrConvex = "convex"
	ssikdrDirect = "direct"
)

// ssikdrParams are the parameters of trace-ssikdr beside the bounds of pairs and the kernel.
var ssikdrParams = []Param{
	of(ssikdr.Params{}, "Tau", Param{Name: "tau", Doc: "weight of the trace: the larger, the lower the rank", Default: "1"}),
	choice("slack", "cost of violating a constraint by s: c s²/2 (l2), c s (l1), not allowed (hard)",
		ltkernel.SlackL2.String(), ltkernel.SlackL1.String(), ltkernel.SlackHard.String()),
	of(ssikdr.Params{}.Resolved(), "C", Param{Name: "c", Doc: "weight of slack", Needs: "slack=" + ltkernel.SlackL2.String() + "|" + ltkernel.SlackL1.String()}),
	choice("method", "the convex problem, whose leading directions are kept, or W = BB' of that rank itself, which is not convex: the best of several starts",
		ssikdrConvex, ssikdrDirect),
	count(fmt.Sprintf(">= 0 and <= %d", maxCount), Param{Name: "rank", Doc: "largest number of dimensions; 0 means all of the convex problem", Default: "0"}),
	of(ssikdr.RankParams{}.Resolved(), "Starts", Param{Name: "starts", Doc: "random starts, of which the one of least objective counts", Needs: "method=" + ssikdrDirect}),
	seed.only("method=" + ssikdrDirect),
	of(ssikdr.Params{}.Resolved(), "Tol", Param{Name: "tol", Doc: "KKT residual at which to stop, relative to the size of a constraint"}),
	of(ssikdr.Params{}.Resolved(), "MaxIterations", Param{Name: "iterations", Doc: "cap on steps, of each start"}),
}

// ssikdrOf reads them. The rank is that of the parameters, 0 for all directions.
func ssikdrOf(v Values) (ssikdr.Params, int, error) {
	p := ssikdr.Params{Tau: v.Float("tau"), Slack: slackOf(v), C: v.Float("c"), Tol: v.Float("tol"), MaxIterations: v.Int("iterations")}
	rank := v.Int("rank")
	if rank == 0 && v.Text("method") == ssikdrDirect {
		return p, 0, fmt.Errorf("trace-ssikdr: rank: 0 is not allowed with method=%s, want at least 1", ssikdrDirect)
	}
	return p, rank, nil
}

// ssikdrRank returns the parameters of FitRank.
func ssikdrRank(p ssikdr.Params, v Values) ssikdr.RankParams {
	return ssikdr.RankParams{Tau: p.Tau, Slack: p.Slack, C: p.C, Tol: p.Tol, MaxIterations: p.MaxIterations, Starts: v.Int("starts"), Progress: p.Progress}
}

// ssikdrConstraints returns the constraints of links between the rows of x, by the rule of the bounds for squared distances under the kernel.
func ssikdrConstraints(ctx context.Context, k kernels.Kernel, x mat.Matrix, links []metric.Link, v Values) ([]ltkernel.Constraint, error) {
	xd := matrix.Given("catalog: x", x)
	n, _ := xd.Dims()
	if err := cmp.Or(metric.CheckLinks(n, links), metric.CheckFinite(xd)); err != nil {
		return nil, fmt.Errorf("trace-ssikdr: %w", err)
	}
	p := itml.Params{Upper: v.Float("upper"), Lower: v.Float("lower")}
	switch v.Text("rule") {
	case givenBounds:
		if !(p.Upper > 0 && p.Upper < p.Lower) {
			return nil, fmt.Errorf("trace-ssikdr: upper: %v and lower: %v are not allowed with rule=%s, want 0 < upper < lower", p.Upper, p.Lower, givenBounds)
		}
		return ssikdr.Constraints(links, p.Upper, p.Lower), nil
	case itml.BoundBins.String():
		p.Bounds.Rule = itml.BoundBins
	}
	p.Bounds.Low, p.Bounds.High = v.Float("low"), v.Float("high")
	sq := make([]float64, len(links))
	for i, l := range links {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("trace-ssikdr: %w", err)
		}
		a, b := xd.RawRowView(l.I), xd.RawRowView(l.J)
		size := k.Eval(a, a) + k.Eval(b, b)
		if sq[i] = size - 2*k.Eval(a, b); sq[i] <= 1e-12*size { // which kernel values do not tell from 0
			sq[i] = 0
		}
	}
	upper, lower, err := p.Bounds.OfSqDists(sq)
	if err != nil {
		return nil, fmt.Errorf("trace-ssikdr: %w", err)
	}
	return ssikdr.Constraints(links, upper, lower), nil
}

// slackOf reads the choice of slack.
func slackOf(v Values) ltkernel.SlackRule {
	for _, rule := range []ltkernel.SlackRule{ltkernel.SlackL1, ltkernel.SlackL2} {
		if v.Text("slack") == rule.String() {
			return rule
		}
	}
	return ltkernel.SlackHard
}

// traceRidge is the Ridge of params.
func traceRidge(params any) Param {
	return of(params, "Ridge", Param{Name: "ridge", Doc: "weight of the trace of the matrix, relative to the mean variance of a feature; of a kernel, of a dimension that the rows span"})
}

// lmnnParams are the parameters that fitLMNN reads.
var lmnnParams = []Param{
	of(labels.LMNNParams{}.Resolved(), "K", Param{
		Name: "k", Doc: "target neighbours of a row, or all others of its class if these are fewer",
	}),
	of(labels.LMNNParams{}.Resolved(), "Mu", Param{
		Name: "mu", Doc: "weight of rows of other classes; target neighbours have 1 - mu",
	}),
	traceRidge(labels.LMNNParams{}.Resolved()),
	of(labels.LMNNParams{}.Resolved(), "Tol", Param{
		Name: "tol", Doc: "duality gap at which to stop, relative to the objective",
	}),
	of(labels.LMNNParams{}.Resolved(), "MaxIterations", Param{
		Name: "iterations", Doc: "cap on iterations",
	}),
}

func fitLMNN(ctx context.Context, x mat.Matrix, y []int, v Values, progress Progress) (learners.MetricResult, error) {
	l, err := labels.FitLMNN(ctx, x, y, labels.LMNNParams{
		K: v.Int("k"), Mu: v.Float("mu"), Ridge: v.Float("ridge"), Tol: v.Float("tol"), MaxIterations: v.Int("iterations"), Progress: progress,
	})
	return l.MetricResult, err
}

// mcmlParams are the parameters that fitMCML reads.
var mcmlParams = []Param{
	traceRidge(labels.MCMLParams{}.Resolved()),
	of(labels.MCMLParams{}.Resolved(), "Tol", Param{
		Name: "tol", Doc: "distance from the minimum at which to stop, in nats per row",
	}),
	of(labels.MCMLParams{}.Resolved(), "MaxIterations", Param{
		Name: "iterations", Doc: "cap on iterations",
	}),
}

func fitMCML(ctx context.Context, x mat.Matrix, y []int, v Values, progress Progress) (learners.MetricResult, error) {
	l, err := labels.FitMCML(ctx, x, y, labels.MCMLParams{Ridge: v.Float("ridge"), Tol: v.Float("tol"), MaxIterations: v.Int("iterations"), Progress: progress})
	return l.MetricResult, err
}

// kernelLandmarks is the parameter of an approximate fit in the space of a kernel.
var kernelLandmarks = []Param{of(kernelized.Params{}, "Landmarks", Param{
	Name: "landmarks", Doc: "approximation: the metric is learned in the span of so many rows, on which the others are projected, and only they are stored; 0 means exact", Default: "0",
})}

// underKernel returns e with the constructor of its feedback, which is FitUnder for the kernel that kernelParams name.
func underKernel(e Entry) Entry {
	fit := func(ctx context.Context, x mat.Matrix, y []int, links []metric.Link, v Values, p Progress) (KernelResult, error) {
		_, d := matrix.Given("catalog: x", x).Dims()
		k, err := kernel(d, v)
		if err != nil {
			return KernelResult{}, err
		}
		return e.FitUnder(ctx, k, x, y, links, v, p)
	}
	if e.Feedback == Links {
		e.FitKernel = func(ctx context.Context, x mat.Matrix, links []metric.Link, v Values, p Progress) (KernelResult, error) {
			return fit(ctx, x, nil, links, v, p)
		}
	} else {
		e.FitKernelData = func(ctx context.Context, x mat.Matrix, y []int, v Values, p Progress) (KernelResult, error) {
			return fit(ctx, x, y, nil, v, p)
		}
	}
	return e
}

// kernelize fits a learner of vectors in the space of the kernel k.
func kernelize(ctx context.Context, k kernels.Kernel, x mat.Matrix, v Values, learn kernelized.Learner) (KernelResult, error) {
	return ofKernelized(kernelized.Fit(ctx, k, x, learn, kernelized.Params{Landmarks: v.Int("landmarks")}))
}

func ofKernelized(r kernelized.Result, err error) (KernelResult, error) {
	if err != nil {
		return KernelResult{}, err
	}
	return KernelResult{Result: r.Result, Metric: r.Metric, Landmarks: r.Landmarks, Left: r.Left}, nil
}

// polaParams are the parameters of POLA, which pola reads.
var polaParams = []Param{
	of(pairs.POLAParams{}.Resolved(), "B1", Param{
		Name: "b1", Doc: "start threshold; from the first update on it is at least 1",
	}),
	of(pairs.POLAParams{}.Resolved(), "Gamma", Param{
		Name: "gamma", Doc: "relaxation for inseparable data (Eq. 12); 0 is the algorithm of Fig. 1",
	}),
}

func pola(v Values) pairs.POLAParams {
	return pairs.POLAParams{B1: new(v.Float("b1")), Gamma: v.Float("gamma")}
}

// perDim is one over the dimension of the vectors: the width at which squared
// distances between standardised features are of the order of 1.
const perDim = "1/dim"

// kernelParams are the parameters that kernel reads.
var kernelParams = []Param{
	choice("kernel", "linear x·z, polynomial (x·z + offset)^degree, or gaussian exp(−kernel-gamma·‖x−z‖²)",
		kernels.GaussianName, kernels.LinearName, kernels.PolynomialName),
	of(kernels.Spec{}, "Gamma", Param{
		Name: "kernel-gamma", Doc: "width of the gaussian kernel, in 1/feature²",
		Needs: "kernel=" + kernels.GaussianName, Default: perDim, auto: perDim,
	}),
	of(kernels.Spec{}, "Degree", Param{
		Name: "degree", Doc: "degree of the polynomial kernel", Needs: "kernel=" + kernels.PolynomialName, Default: "2",
	}),
	of(kernels.Spec{}, "Offset", Param{
		Name: "offset", Doc: "offset of the polynomial kernel", Needs: "kernel=" + kernels.PolynomialName, Default: "1",
	}),
}

func kernel(dim int, v Values) (kernels.Kernel, error) {
	s := kernels.Spec{Name: v.Text("kernel")}
	switch s.Name {
	case kernels.PolynomialName:
		s.Degree, s.Offset = new(v.Int("degree")), new(v.Float("offset"))
	case kernels.GaussianName:
		s.Gamma = new(cmp.Or(v.Float("kernel-gamma"), 1/float64(dim)))
	}
	return s.Kernel()
}

// itmlSlack are the parameters that withSlack reads.
var itmlSlack = []Param{
	choice("slack", "bounds may be exceeded at a price, or not at all", "soft", "hard"),
	of(itml.Params{}.Resolved(), "Gamma", Param{
		Name: "gamma", Doc: "price of exceeding a bound", Needs: "slack=soft",
	}),
}

func withSlack(p itml.Params, v Values) itml.Params {
	p.Gamma = v.Float("gamma")
	if v.Text("slack") == "hard" {
		p.Gamma = math.Inf(1)
	}
	return p
}

// itmlStart are the parameters that withStart reads. itml-tuned has none: the matrix would have to
// follow from the training rows of each fold.
var itmlStart = []Param{
	choice("start", "matrix to stay close to, under which the rule of the bounds measures too: that of the Euclidean distance, or the inverse covariance of all rows (LogDet-InvCov)",
		"identity", "invcov"),
	invCovRidge.only("start=invcov"),
}

// learnedKernel is l.Kernel, whose check may take long, unless ctx is done.
func learnedKernel(ctx context.Context, l itml.KernelResult, k kernels.Kernel, x *mat.Dense) (*kernels.Transformed, error) {
	if m := len(l.Support); !abandon.Long(m, m, m) {
		return l.Kernel(k, x)
	}
	x = mat.DenseCopyOf(x)
	return abandon.Do(ctx, "kernel", func(context.Context) (*kernels.Transformed, error) { return l.Kernel(k, x) })
}

func withStart(ctx context.Context, p itml.Params, x mat.Matrix, v Values) (itml.Params, error) {
	if v.Text("start") != "invcov" {
		return p, nil
	}
	w, err := labels.ITMLStart(ctx, x, labels.InvCovParams{Ridge: v.Float("ridge")})
	if err != nil {
		return p, fmt.Errorf("itml: start: %w", err)
	}
	p.W0 = w
	return p, nil
}

// invCovRidge is the parameter of the inverse covariance.
var invCovRidge = of(labels.InvCovParams{}.Resolved(), "Ridge", Param{
	Name: "ridge", Doc: "regularisation of the covariance, relative to the mean variance of a feature; 0 means the pseudo-inverse",
})

// givenBounds is the rule of bounds that are given, byRule the condition of what belongs to others.
const givenBounds = "given"

var byRule = fmt.Sprintf("rule=%v|%v", itml.BoundPercentiles, itml.BoundBins)

// itmlParams are the parameters that itmlOf reads.
var itmlParams = append(slices.Clone(itmlBounds), of(itml.Params{}, "MaxCycles", Param{
	Name: "cycles", Doc: "cap on cycles over the pairs; 0 means those of 100000 steps", Default: "0",
}))

// itmlBounds are those of them that iplr has, too.
var itmlBounds = []Param{
	choice("rule", "bounds are percentiles of squared distances, centres of 100 equal bins between the least and the largest, or given as upper and lower",
		itml.BoundPercentiles.String(), itml.BoundBins.String(), givenBounds),
	of(itml.BoundParams{}, "Low", Param{
		Name: "low", Doc: "percentile or bin (at least 1) of the bound on similar pairs; 0 means percentile 1 or bin 5",
		Needs: byRule, Default: "0",
	}),
	of(itml.BoundParams{}, "High", Param{
		Name: "high", Doc: "percentile or bin of the bound on dissimilar pairs; 0 means percentile 99 or bin 95",
		Needs: byRule, Default: "0",
	}),
	of(itml.Params{}, "Upper", Param{
		Name: "upper", Doc: "largest squared distance wanted of similar pairs; 0 stands for none given",
		Needs: "rule=" + givenBounds, Default: "0",
	}),
	of(itml.Params{}, "Lower", Param{
		Name: "lower", Doc: "smallest squared distance wanted of dissimilar pairs; 0 stands for none given",
		Needs: "rule=" + givenBounds, Default: "0",
	}),
	of(itml.Params{}.Resolved(), "Tol", Param{
		Name: "tol", Doc: "relative change of the multipliers over a cycle at which to stop",
	}),
}

// itmlOf reads them for a learner of that name.
func itmlOf(learner string, v Values) (itml.Params, error) {
	p := itml.Params{Tol: v.Float("tol"), MaxCycles: v.Int("cycles")}
	switch v.Text("rule") {
	case givenBounds:
		p.Upper, p.Lower = v.Float("upper"), v.Float("lower")
		if p.Upper == 0 && p.Lower == 0 { // which itml.Fit takes for a rule
			return p, fmt.Errorf("%s: upper: 0 and lower: 0 are not allowed with rule=%s, want 0 < upper < lower", learner, givenBounds)
		}
		return p, nil
	case itml.BoundBins.String():
		p.Bounds.Rule = itml.BoundBins
	}
	p.Bounds.Low, p.Bounds.High = v.Float("low"), v.Float("high")
	return p, nil
}

// itmlDraws are the parameters that itmlLabels and source read beside itmlParams.
var itmlDraws = []Param{
	of(itml.LabelParams{}, "Links", Param{
		Name: "links", Doc: "pairs to draw; 0 means 40c(c-1) for c classes", Default: "0",
	}),
	of(itml.LabelParams{}.Resolved(), "BoundPairs", Param{
		Name: "bound-pairs", Doc: "pairs to draw for the bounds", Needs: byRule,
	}),
	seed,
}

func itmlLabels(v Values) (itml.LabelParams, error) {
	p, err := itmlOf("itml", v)
	return itml.LabelParams{Params: p, Links: v.Int("links"), BoundPairs: v.Int("bound-pairs")}, err
}

var (
	iplrInfeasible = []Param{choice("infeasible", "similar pairs that no metric of the basis brings near enough: bounds with slack on the whole distance, or dropped, and bounds on the part in the basis",
		iplr.InfeasibleSlack.String(), iplr.InfeasibleDrop.String())}
	iplrCycles = []Param{of(iplr.Params{}, "MaxCycles", Param{
		Name: "cycles", Doc: fmt.Sprintf("cap on cycles over the pairs; 0 means those of %d steps", iplr.DefaultSteps), Default: "0",
	})}
)

// iplrOf reads the parameters of iplr on classes.
func iplrOf(v Values) (iplr.LabelParams, error) {
	q, err := iplrLinksOf(v)
	if err != nil {
		return iplr.LabelParams{}, err
	}
	p := iplr.LabelParams{Params: q, K: v.Int("k"), Links: v.Int("links"), BoundPairs: v.Int("bound-pairs")}
	p.Basis, err = iplr.ParseBasisRule(v.Text("basis"))
	return p, err
}

// iplrLinksOf reads the parameters of iplr that do not make the basis or the links.
func iplrLinksOf(v Values) (iplr.Params, error) {
	q, err := itmlOf("iplr", v)
	if err != nil {
		return iplr.Params{}, err
	}
	q = withSlack(q, v)
	p := iplr.Params{Gamma: q.Gamma, Upper: q.Upper, Lower: q.Lower, Bounds: q.Bounds, Tol: q.Tol, MaxCycles: q.MaxCycles}
	p.Infeasible, err = iplr.ParseInfeasibleRule(v.Text("infeasible"))
	return p, err
}

// iplrBasis is how many vectors the basis of iplr on links has by default, if there can be as many.
const iplrBasis = 50

// fitIPLRLinks is iplr on links, with a basis made of the rows.
func fitIPLRLinks(ctx context.Context, x mat.Matrix, links []metric.Link, v Values, progress Progress) (LowRankResult, error) {
	p, err := iplrLinksOf(v)
	if err != nil {
		return LowRankResult{}, err
	}
	p.Progress = progress
	rule, err := iplr.ParseBasisRule(v.Text("basis"))
	if err != nil {
		return LowRankResult{}, err
	}
	n, d := x.Dims()
	k := v.Int("k")
	if k == 0 {
		k = min(iplrBasis, n, d)
	}
	var basis *iplr.Basis
	switch rule {
	case iplr.BasisKMeans:
		basis, err = iplr.KMeansBasis(ctx, source(v), x, k)
	case iplr.BasisRows:
		if k > n {
			return LowRankResult{}, fmt.Errorf("iplr: k: %d is not allowed, want 1 to the number of rows, %d", k, n)
		}
		if err := limits.Check(fmt.Sprintf("%d coefficients of %d rows", k, n), limits.Floats(n, k)); err != nil {
			return LowRankResult{}, fmt.Errorf("iplr: %w", err)
		}
		basis, err = iplr.CombinedBasis(ctx, x, iplr.RandomColumns(source(v), n, k))
	default:
		basis, err = iplr.SingularBasis(ctx, x, k)
	}
	if err != nil {
		return LowRankResult{}, err
	}
	r, err := iplr.Fit(ctx, x, basis, links, p)
	if err != nil {
		return LowRankResult{}, err
	}
	return LowRankResult{Result: r.Result, Metric: r.Metric, Asked: basis.Asked(), Links: len(links), Infeasible: len(r.Infeasible)}, nil
}

var seed = count(">= 0", Param{Name: "seed", Doc: "origin of the draws", Default: "1"})

// positive returns p as a Number of at least 0.
func positive(p Param) Param {
	r, err := ranges.Parse(">= 0", false)
	if err != nil {
		panic("catalog: " + err.Error())
	}
	p.Type = Number
	return p.allow(r.Finite())
}

func ltkernelOf(v Values) (ltkernel.Params, error) {
	p := ltkernel.Params{Slack: slackOf(v), C: v.Float("c"), Tol: v.Float("tol"), MaxIterations: v.Int("iterations")}
	var err error
	p.Divergence, err = ltkernel.ParseDivergence(v.Text("divergence"), v.Float("alpha"), v.Float("tau"))
	return p, err
}

// source returns the source of the draws of a batch learner.
func source(v Values) *rand.Rand { return rand.New(rand.NewPCG(uint64(v.Int("seed")), 0)) }

// prototypes is m of the learners of maps.
var prototypes = of(mapping.RMPParams{}, "M", Param{
	Name: "m", Doc: "largest number of prototypes that a map uses; 0 means 2, or 1 if there is only one",
	Default: "0",
})

// rmp reads the parameters of RMP.
func rmp(v Values) (mapping.RMPParams, error) {
	p := mapping.RMPParams{M: v.Int("m"), Rounds: v.Int("rounds"), ChainSteps: v.Int("chain-steps")}
	if err := p.Sampler.UnmarshalText([]byte(v.Text("sampler"))); err != nil {
		return p, err
	}
	if rate, err := strconv.ParseFloat(v.Text("eta"), 64); err == nil {
		p.Eta, p.Rate = mapping.EtaFixed, rate
		return p, nil
	}
	return p, p.Eta.UnmarshalText([]byte(v.Text("eta")))
}

// ridge is the Ridge of params.
func ridge(params any, within string) Param {
	return of(params, "Ridge", Param{Name: "ridge", Doc: "regularisation, relative to the mean variance within " + within})
}
