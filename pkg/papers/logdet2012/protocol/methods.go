package protocol

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// What sizes and bounds are of, and when fits were made.
const (
	Objects         = "objects"
	Features        = "features"
	Classes         = "classes"
	TrainRows       = "training rows"
	SimilarPairs    = "similar pairs"
	DissimilarPairs = "dissimilar pairs"
	Neighbours      = "neighbours"
	PairsPerClass   = "pairs per class" // of each label, at most

	UpperBound = "u"
	LowerBound = "l"

	ChoiceFits = "choice"
	FinalFits  = "final"
)

// Names of the sizes that cap the fits made in choosing or at the end.
func ProjectionCap(fits string) string { return "projections at most, " + fits }

func IterationCap(fits string) string { return "iterations at most, " + fits }

// LogDetWider is LogDet Gaussian whose widths reach beyond those of the figure.
const LogDetWider = LogDetGaussian + ", wider grid"

func CountOf(y []int) int {
	return len(slices.Compact(slices.Sorted(slices.Values(y))))
}

// The methods by the names of Fig. 1(a), in the order of its legend.
const (
	LogDetGaussian = "LogDet Gaussian"
	LogDetLinear   = "LogDet Linear"
	logDetOnline   = "LogDet Online"
	Euclidean      = "Euclidean"
	InvCovariance  = "Inv. Covariance"
	Mcml           = "MCML"
	Lmnn           = "LMNN"
)

// Nca is named in Section 2, and in no figure.
const Nca = "NCA"

// LogDetInvCov is LogDet Linear with the inverse covariance as W₀, of Fig. 1(b) only.
const LogDetInvCov = "LogDet-InvCov"

var MethodNames = []string{LogDetGaussian, LogDetLinear, logDetOnline, Euclidean, InvCovariance, Mcml, Lmnn}

// Styles are those of the methods in all figures of the paper; where nothing is learned, grey.
var Styles = joined(plots.Ordered(LogDetLinear, LogDetGaussian, Lmnn, Mcml, logDetOnline, InvCovariance, LogDetWider, Nca),
	plots.Styles{Euclidean: {Color: plots.Grey, Dash: plots.DashDotDot, Shape: plots.Ring}})

// StylesWith are Styles with those of names that stand in one room alone.
func StylesWith(own ...plots.Styles) plots.Styles {
	return joined(append([]plots.Styles{Styles}, own...)...)
}

func joined(all ...plots.Styles) plots.Styles {
	out := plots.Styles{}
	for _, s := range all {
		maps.Copy(out, s)
	}
	return out
}

// Rivals are the methods that the paper compares its own with.
var Rivals = []string{Euclidean, InvCovariance, Mcml, Lmnn}

var Versions = map[string]int{
	"LogDet": itml.Version, "KernelLogDet": itml.KernelVersion, "LEGO": pairs.LEGOVersion,
	"InvCov": labels.InvCovVersion, "MCML": labels.MCMLVersion, "LMNN": labels.LMNNVersion, "kNN": nearest.KNNVersion,
}

// candidatesOf are those of a grid.
func candidatesOf(name string, grid []float64, set func(c *Candidate, v float64)) []Candidate {
	out := make([]Candidate, len(grid))
	for i, v := range grid {
		out[i].Label = name + " = " + table.Format(v)
		set(&out[i], v)
	}
	return out
}

func GammasOf(grid []float64) []Candidate {
	return candidatesOf("γ", grid, func(c *Candidate, v float64) { c.Gamma = v })
}

func WeightsOf(name string, grid []float64) []Candidate {
	return candidatesOf(name, grid, func(c *Candidate, v float64) { c.Weight = v })
}

// MarginsOf are those of LMNN.
func MarginsOf(targets []int, mus []float64) (out []Candidate) {
	for _, k := range targets {
		for _, mu := range mus {
			out = append(out, Candidate{Label: fmt.Sprintf("%d targets, μ = %s", k, table.Format(mu)), Targets: k, Mu: mu})
		}
	}
	return out
}

// Fixed is the one candidate of a method that leaves nothing open.
var Fixed = []Candidate{{Label: "nothing to choose"}}

// MethodsNamed returns the methods of these names, in their order.
func MethodsNamed(s Settings, names []string) []Method {
	gammas, etas, margins := GammasOf(s.Gammas), candidatesOf("ηℓ²", s.Etas, func(c *Candidate, v float64) { c.Eta = v }), MarginsOf(s.Targets, s.Mus)
	var both []Candidate
	for _, w := range s.Widths {
		for _, c := range gammas {
			c.Width, c.Label = w, c.Label+", σ² = "+table.Format(w)+" medians"
			both = append(both, c)
		}
	}
	all := []Method{
		{LogDetGaussian, true, both, FitGaussian},
		{LogDetWider, true, both, FitGaussian},
		{LogDetLinear, true, gammas, FitLinear},
		{LogDetInvCov, true, gammas, FitFromInvCov},
		{logDetOnline, true, etas, fitOnline},
		{Euclidean, false, Fixed, FitEuclidean},
		{InvCovariance, false, Fixed, FitInvCovariance},
		{Mcml, false, Fixed, fitMCML},
		{Lmnn, false, margins, fitLMNN},
		{Nca, false, ncaStarts, fitNCA},
	}
	out := make([]Method, len(names))
	for i, name := range names {
		out[i] = all[slices.IndexFunc(all, func(m Method) bool { return m.Name == name })]
	}
	return out
}

// InInputSpace is what was learnt as a metric of the features.
func (s *Session) InInputSpace(m metric.SqDister, status learners.Status) Learnt {
	return Learnt{m, s.Train.X, s.Test.X, status == learners.IterationCap || status == learners.NoProgress}
}

func FitLinear(ctx context.Context, s *Session, rule itml.BoundRule, c Candidate, b Budget) (Learnt, error) {
	want, err := s.Bounds(rule)
	if err != nil {
		return Learnt{}, err
	}
	return s.fitLogDet(ctx, nil, want, c, b)
}

func FitFromInvCov(ctx context.Context, s *Session, rule itml.BoundRule, c Candidate, b Budget) (Learnt, error) {
	w, err := s.Whitened(ctx, rule)
	if err != nil {
		return Learnt{}, err
	}
	return s.fitLogDet(ctx, w.W0, w.Bounds, c, b)
}

// fitLogDet fits LogDet in input space; w0 is nil for I.
func (s *Session) fitLogDet(ctx context.Context, w0 mat.Symmetric, want Bounds, c Candidate, b Budget) (Learnt, error) {
	l, err := itml.Fit(ctx, s.Train.X, s.Links, itml.Params{Gamma: c.Gamma, Upper: want.Upper, Lower: want.Lower, W0: w0, MaxCycles: b.Cycles(len(s.Links))})
	return s.InInputSpace(l.Metric, l.Status), err
}

// FitGaussian learns on the kernel matrix of the training rows and carries the answer to the
// test rows by Eq. 6.
func FitGaussian(ctx context.Context, s *Session, rule itml.BoundRule, c Candidate, b Budget) (Learnt, error) {
	k, err := s.Kernel(c.Width)
	if err != nil {
		return Learnt{}, err
	}
	n := len(s.Train.Y)
	p := itml.KernelParams{Gamma: c.Gamma, MaxCycles: b.Cycles(len(s.Links))}
	if p.Upper, p.Lower, err = BoundsBy(rule).OfGram(k.Train, AllPairs(n)); err != nil {
		return Learnt{}, err
	}
	l, err := itml.FitKernel(ctx, k.Train, s.Links, p)
	if err != nil {
		return Learnt{}, err
	}
	return Learnt{GramMetric{l.All(k.All)}, Numbered(0, n), Numbered(n, n+len(s.Test.Y)), l.Status != learners.Converged}, nil
}

// fitOnline passes once over the pairs.
func fitOnline(_ context.Context, s *Session, rule itml.BoundRule, c Candidate, _ Budget) (Learnt, error) {
	b, err := s.Bounds(rule)
	if err != nil {
		return Learnt{}, err
	}
	_, d := s.Train.X.Dims()
	l, err := pairs.NewLEGO(d, pairs.LEGOParams{Eta: c.Eta / (b.Lower * b.Lower), Upper: b.Upper, Lower: b.Lower})
	if err != nil {
		return Learnt{}, err
	}
	for f := range sample.Pairs(s.Train.X, s.Links) {
		if _, err := l.Step(f); err != nil {
			return Learnt{}, err
		}
	}
	return s.InInputSpace(l.Metric(), learners.Closed), nil
}

func FitEuclidean(_ context.Context, s *Session, _ itml.BoundRule, _ Candidate, _ Budget) (Learnt, error) {
	return s.InInputSpace(metric.Euclidean{}, learners.Closed), nil
}

func FitInvCovariance(ctx context.Context, s *Session, _ itml.BoundRule, _ Candidate, _ Budget) (Learnt, error) {
	l, err := labels.FitInvCov(ctx, s.Train.X, labels.InvCovParams{})
	return s.InInputSpace(l.Metric, l.Status), err
}

func fitMCML(ctx context.Context, s *Session, _ itml.BoundRule, _ Candidate, b Budget) (Learnt, error) {
	l, err := labels.FitMCML(ctx, s.Train.X, s.Train.Y, labels.MCMLParams{MaxIterations: b.Iterations})
	return s.InInputSpace(l.Metric, l.Status), err
}

func fitLMNN(ctx context.Context, s *Session, _ itml.BoundRule, c Candidate, b Budget) (Learnt, error) {
	l, err := labels.FitLMNN(ctx, s.Train.X, s.Train.Y, labels.LMNNParams{K: c.Targets, Mu: c.Mu, MaxIterations: b.Iterations})
	return s.InInputSpace(l.Metric, l.Status), err
}

// ncaStarts are the candidates of NCA, which is not convex.
var ncaStarts = []Candidate{{Label: "from FDA", Start: labels.NCAStartFDA}, {Label: "from PCA", Start: labels.NCAStartPCA}}

func fitNCA(ctx context.Context, s *Session, _ itml.BoundRule, c Candidate, b Budget) (Learnt, error) {
	nothing := rand.New(rand.NewPCG(0, 0)) // is drawn from it
	l, err := labels.FitNCA(ctx, nothing, s.Train.X, s.Train.Y, labels.NCAParams{Start: c.Start, MaxIterations: b.Iterations})
	return s.InInputSpace(l.Metric, l.Status), err
}

// asGoodAs counts the candidates with as few rows wrong as one of them, itself among them.
func (c Choice) asGoodAs(which int) int { return equal(c.Wrong, c.Wrong[which]) }

// Decide chooses among candidates by tasks, and fits the chosen one, or the next one if it fails. It returns what
// adds the rows of the table, of so many wrong of so many test rows.
func Decide(ctx context.Context, candidates []Candidate, tasks []Task, fit func(i int) (stopped bool, err error)) (add func(wrong, rows int, add func(kind, at string, value, of int)), err error) {
	c, err := Choose(ctx, len(candidates), tasks)
	if err != nil {
		return nil, err
	}
	which, fits, err := FirstFit(ctx, c.Order, candidates, fit)
	return func(wrong, rows int, add func(kind, at string, value, of int)) {
		c.AddRows(candidates, which, fits, wrong, rows, add)
	}, err
}

// AddRows adds the rows of a table that say what was chosen, of which fits, and how many
// test rows are wrong: value counts something of so many.
func (c Choice) AddRows(candidates []Candidate, which int, final Tally, wrong, rows int, add func(kind, at string, value, of int)) {
	add("wrong", "", wrong, rows)
	if c.Rows > 0 {
		for i, candidate := range candidates {
			add("inner", candidate.Label, c.Wrong[i], c.Rows)
		}
	}
	add("chosen", candidates[which].Label, c.asGoodAs(which), len(candidates))
	for _, f := range []struct {
		at string
		Tally
	}{{ChoiceFits, c.Fits}, {FinalFits, final}} {
		add("stopped", f.at, f.stopped, f.Made)
		add("failed", f.at, f.Failed, f.Made)
	}
}

// Score chooses, learns, counts the errors of a method and adds the rows of a table.
func (p *Problem) Score(ctx context.Context, m Method, rule itml.BoundRule, s Settings, add func(kind, at string, value, of int)) error {
	c, err := p.Choose(ctx, m, rule, s.Choice)
	if err != nil {
		return err
	}
	which, l, fits, err := p.Learn(ctx, m, rule, c.Order, s.Final)
	if err != nil {
		return err
	}
	wrong, err := p.Wrong(ctx, l)
	if err != nil {
		return err
	}
	c.AddRows(m.Candidates, which, fits, wrong, len(p.Test.Y), add)
	return nil
}

// Sizes adds those of the data and the protocol: value of so many.
func (p *Problem) Sizes(s Settings, add func(what string, value, of int)) {
	p.DataSizes(s.Links, add)
	CapSizes(s.Choice, s.Final, add)
}

// CapSizes adds the caps of fits.
func CapSizes(choice, final Budget, add func(what string, value, of int)) {
	for _, f := range []struct {
		fits string
		Budget
	}{{ChoiceFits, choice}, {FinalFits, final}} {
		add(ProjectionCap(f.fits), f.Projections, final.Projections)
		add(IterationCap(f.fits), f.Iterations, final.Iterations)
	}
}

// SimilarIn counts the similar pairs.
func SimilarIn(links []metric.Link) int {
	n := 0
	for _, l := range links {
		if l.Label == metric.Similar {
			n++
		}
	}
	return n
}

// DataSizes adds those of the data, of so many pairs per class.
func (p *Problem) DataSizes(perClass int, add func(what string, value, of int)) {
	similar, count := SimilarIn(p.Links), CountOf(slices.Concat(p.Train.Y, p.Test.Y))
	n := len(p.Train.Y) + len(p.Test.Y)
	_, d := p.Train.X.Dims()
	for _, c := range []struct {
		what      string
		value, of int
	}{
		{Objects, n, n}, {Features, d, d}, {Classes, count, count}, {TrainRows, len(p.Train.Y), n},
		{SimilarPairs, similar, len(p.Links)}, {DissimilarPairs, len(p.Links) - similar, len(p.Links)},
		{Neighbours, p.k, len(p.Train.Y)}, {PairsPerClass, perClass, perClass},
	} {
		add(c.what, c.value, c.of)
	}
}
