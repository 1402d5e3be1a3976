// Package planes has the experiments on digits in the plane: Fig. 2(c, d), and the sweep of what it leaves open.
package planes

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/experiment"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/kernelized"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/ssikdr"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/logdet2012/bags"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// fig2cdChoices reads the rows of the kind inner, which have the chosen candidate alone: the
// grids are those of full scale.
func fig2cdChoices(t *table.Table) []experiment.Choice {
	return protocol.GatherChoices(t, []string{"kernel", "method"}, "inner", func(what, _ string) map[string][]float64 {
		s, _ := planeSettingsOf(knownGraph, experiment.Full)
		cs, taus := s.Cs, s.Taus
		if strings.HasSuffix(what, ssikdrRank) {
			cs, taus = s.RankCs, s.RankTaus
		}
		return map[string][]float64{"σ² (medians)": s.Widths, "graph": s.Weights, "C": cs, "τ (of the largest)": taus, "ridge": s.Ridges}
	})
}

// The methods of Fig. 2(c, d), as they stand in the table.
const (
	// Trace-SSIKDR, by what makes its rank 2.
	ssikdrTop  = "Trace-SSIKDR, top two directions"
	ssikdrTau  = "Trace-SSIKDR, τ of rank 2"
	ssikdrRank = "Trace-SSIKDR, W of rank 2"

	// Kernel PCA, by the digits that it is fitted to: those with labels, or all that are known, these and the unlabelled ones.
	pcaLabelled      = "kernel PCA of labelled digits"
	pcaLabelledPlain = "kernel PCA of labelled digits, not centred"
	pcaKnown         = "kernel PCA of known digits"
	pcaKnownPlain    = "kernel PCA of known digits, not centred"

	// A control.
	kernelFDA = "kernel FDA"
)

var (
	ssikdrMethods = []string{ssikdrTop, ssikdrTau, ssikdrRank}
	pcaMethods    = []string{pcaLabelled, pcaLabelledPlain, pcaKnown, pcaKnownPlain}
)

// The kernels: data-dependent ones, whose graph has all known digits or those with labels alone, and the Gaussian kernel of which they are made.
const (
	knownGraph    = "graph of known digits"
	labelledGraph = "graph of labelled digits"
	noGraph       = "no graph"
)

var (
	planeKernels = []string{knownGraph, labelledGraph, noGraph}
	graphKernels = planeKernels[:2]
)

// The parts of the data from which queries come.
const (
	testQueries  = "zip.test"
	trainQueries = "zip.train"
)

var queryParts = []string{testQueries, trainQueries}

// The rules by which a plane is scored.
const (
	voteRule = "5-NN"
	meanRule = "class mean"
)

// digitCount is the number of classes.
const digitCount = 10

// digitColumn is the column of F1 of a digit.
func digitColumn(d int) string { return "F1 of " + strconv.Itoa(d) }

// mapPoints is the number of queries in a row of the kind map, at most.
const mapPoints = 20

// planeSettings are what the paper fixes or leaves open.
type planeSettings struct {
	Kernel string `key:"kernel"`
	// Each is the number of labelled digits of a class, Known that of all known digits with the unlabelled ones, Queries that of each part.
	Each    int `key:"labelled per digit"`
	Known   int `key:"known"`
	Queries int `key:"queries"`
	// Far is the number of dissimilar pairs between two classes; all pairs within a class are similar.
	Far int `key:"dissimilar pairs"`
	// Widths is the grid of σ² of the Gaussian kernel, in medians of the squared distances of the labelled digits.
	Widths []float64 `key:"widths"`
	// Weights is the grid of the graph's weight; of no graph it is {0}. The graph has Neighbours, and a normalised Laplacian.
	Weights    []float64 `key:"graph weights"`
	Neighbours int       `key:"graph neighbours"`
	// Power is that of the Laplacian, 0 for 1. Heat makes weights of edges those of the Gaussian kernel; without it they are 1.
	Power int  `key:"graph power,omitzero"`
	Heat  bool `key:"heat kernel,omitzero"`
	// Cs is the grid of C, the weight of quadratic slack, where the median squared distance of labelled digits is 1.
	Cs []float64 `key:"c"`
	// Taus is the grid of τ in shares of that at which W vanishes, descending.
	Taus []float64 `key:"tau"`
	// RankCs and RankTaus are those of a W whose rank is fixed.
	RankCs   []float64 `key:"c of fixed rank"`
	RankTaus []float64 `key:"tau of fixed rank"`
	// Ridges is the grid of kernel FDA.
	Ridges []float64 `key:"ridges"`
	// Starts is the number of starts of a W of fixed rank, in the choice and at last.
	Starts [2]int `key:"starts"`
	// Vote is the number of labelled neighbours by which candidates are chosen.
	Vote int `key:"vote"`
	// Tol is the tolerance of the fits.
	Tol float64 `key:"tolerance"`
}

func planeSettingsOf(kernel string, scale experiment.Scale) (s planeSettings, dataset string) {
	s = planeSettings{
		Kernel: kernel, Each: 10, Known: 1000, Queries: 2000, Far: 20,
		Widths: []float64{1, 4}, Weights: []float64{0.01, 1, 100}, Neighbours: 6,
		Cs: []float64{0.1, 1, 10}, Taus: []float64{0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1, 0.03, 0.01, 0.003}, RankCs: []float64{1, 10, 100}, RankTaus: []float64{0.003, 0.03},
		Ridges: []float64{0.01, 0.1, 1}, Starts: [2]int{2, 10}, Vote: 3, Tol: 1e-3,
	}
	dataset = "usps"
	if scale == experiment.Smoke {
		s.Each, s.Known, s.Queries, s.Far = 4, 80, 100, 4
		s.Widths, s.Weights, s.Ridges, s.Starts = []float64{1}, []float64{1}, []float64{0.1}, [2]int{1, 2}
		s.Cs, s.Taus, s.RankCs, s.RankTaus = []float64{0.1, 1}, []float64{0.8, 0.4, 0.1}, []float64{1}, []float64{0.03}
		dataset = bags.MadeUpDigits
	}
	if kernel == noGraph {
		s.Weights = []float64{0}
	}
	return s, dataset
}

// drawnDigits are those of a trial.
type drawnDigits struct {
	labelled, unlabelled protocol.Part
	queries              map[string]protocol.Part // by part
}

// Sizes of logdet2012/fig2cd.
const (
	labelledDigits   = "labelled digits"
	unlabelledDigits = "unlabelled digits"
	queryDigits      = "queries"
)

// mapMethods are those whose planes are shown.
var mapMethods = []string{ssikdrTop, ssikdrRank, pcaLabelled}

// Predicates and margins of Fig. 2(c, d), fixed before the first run.
const (
	// "separate out reasonably well": a digit is separated in a plane if the leave-one-out vote of its nearest queries there
	// finds it with at least this F1. The view shows strictF1, and nearest class means, too.
	separatedF1 = 0.7
	strictF1    = 0.8
	// planeNeighbours is the number of neighbours in a plane.
	planeNeighbours = 5
	// "seven" and "three" digits: counts are whole, so that the mean over seeds is compared with the middle of two.
	atLeastSeven = 6.5
	atMostThree  = 3.5
)

// planeKernel is a candidate of the kernel: σ² in medians, and the weight of the graph, 0 for none.
type planeKernel struct {
	label         string
	width, weight float64
}

// kernels returns the candidates of the kernel.
func (s planeSettings) kernels() []planeKernel {
	var out []planeKernel
	for _, width := range s.Widths {
		for _, weight := range s.Weights {
			k := planeKernel{"σ² = " + table.Format(width) + " medians", width, weight}
			if weight > 0 {
				k.label += ", graph " + table.Format(weight)
			}
			out = append(out, k)
		}
	}
	return out
}

// planeProblem is what a method learns from: digits with labels and without under one kernel, in units in which the median squared
// distance of labelled digits is 1.
type planeProblem struct {
	settings planeSettings
	labelled protocol.Part
	known    protocol.Part // with the unlabelled ones
	gaussian kernels.Gaussian
	graph    *mat.Dense    // points of the graph, nil without one
	s        *mat.SymDense // of the data-dependent kernel
	unit     float64       // what kernel values are divided by

	gram        *mat.SymDense // of the labelled digits
	constraints []ltkernel.Constraint
	ofKnown     *mat.SymDense // Gram matrix of the known digits, once it is asked for
	paths       map[float64][]ssikdr.Result
}

// newPlaneProblem returns the problem of some digits under a kernel. purpose names them.
func newPlaneProblem(ctx context.Context, labelled, unlabelled protocol.Part, s planeSettings, k planeKernel, seed random.Seed, purpose string) (*planeProblem, error) {
	median, err := kernels.MedianSqDist(nil, labelled.X)
	if err != nil {
		return nil, err
	}
	p := &planeProblem{settings: s, labelled: labelled, known: labelled.With(unlabelled), unit: 1, paths: map[float64][]ssikdr.Result{}}
	if p.gaussian, err = kernels.NewGaussian(0.5 / (k.width * median)); err != nil {
		return nil, err
	}
	if k.weight > 0 {
		if p.graph = p.known.X; s.Kernel == labelledGraph {
			p.graph = labelled.X
		}
		if p.s, err = p.deformation(ctx, k.weight, k.width*median); err != nil {
			return nil, err
		}
	}
	n := len(labelled.Y)
	p.gram = matrix.Symmetric(p.between(labelled.X, labelled.X))
	all := protocol.AllPairs(n)
	if p.unit, err = medianOf(p.gram, all); err != nil {
		return nil, err
	}
	p.gram.ScaleSym(1/p.unit, p.gram)
	u, l, err := protocol.BoundsBy(itml.BoundPercentiles).OfGram(p.gram, all)
	if err != nil {
		return nil, err
	}
	rng := seed.Stream("pairs, " + purpose)
	for _, pair := range digitPairs(rng, labelled.Y, s.Far) {
		p.constraints = append(p.constraints, protocol.Within(labelled.Y[pair[0]] == labelled.Y[pair[1]], pair[0], pair[1], u, l))
	}
	return p, nil
}

// deformation returns S of the data-dependent kernel κ(x, z) + k(x)ᵀSk(z), k(x) = κ of x and the points of the graph. variance is σ² of κ.
func (p *planeProblem) deformation(ctx context.Context, weight, variance float64) (*mat.SymDense, error) {
	inner := matrix.Outer(1, p.graph)
	n := inner.SymmetricDim()
	sq := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			sq.SetSym(i, j, max(inner.At(i, i)-2*inner.At(i, j)+inner.At(j, j), 0))
		}
	}
	graph := kernels.GraphParams{Neighbours: p.settings.Neighbours, Normalised: true}
	if p.settings.Heat {
		graph.Width = math.Sqrt(variance)
	}
	l, err := kernels.GraphLaplacian(ctx, sq, graph)
	if err != nil {
		return nil, err
	}
	k0, err := kernels.GramContext(ctx, p.gaussian, p.graph)
	if err != nil {
		return nil, err
	}
	learned, err := kernels.DataDependent(ctx, k0, l, kernels.DataDependentParams{Weight: weight, Power: p.settings.Power})
	if err != nil {
		return nil, err
	}
	return learned.S, nil
}

// between returns kernel values between the rows of a and those of b.
func (p *planeProblem) between(a, b *mat.Dense) *mat.Dense {
	k := kernels.GramRect(p.gaussian, a, b)
	if p.s != nil {
		left := matrix.Mul(kernels.GramRect(p.gaussian, a, p.graph), p.s)
		k.Add(k, matrix.Mul(left, kernels.GramRect(p.gaussian, b, p.graph).T()))
	}
	k.Scale(1/p.unit, k)
	return k
}

// near returns kernel values between digits and those with labels, or all known ones.
func (p *planeProblem) near(known bool, m protocol.Part) *mat.Dense {
	if known {
		return p.between(m.X, p.known.X)
	}
	return p.between(m.X, p.labelled.X)
}

// knownGram returns the Gram matrix of the known digits.
func (p *planeProblem) knownGram() *mat.SymDense {
	if p.ofKnown == nil {
		p.ofKnown = matrix.Symmetric(p.between(p.known.X, p.known.X))
	}
	return p.ofKnown
}

// digitPairs returns all pairs within a class, and as many as far between any two classes, drawn; all if there are fewer.
func digitPairs(rng *rand.Rand, y []int, far int) [][2]int {
	of := make([][]int, digitCount)
	for i, c := range y {
		of[c] = append(of[c], i)
	}
	var out [][2]int
	for c, rows := range of {
		for a, i := range rows {
			for _, j := range rows[:a] {
				out = append(out, [2]int{i, j})
			}
		}
		for _, others := range of[:c] {
			n := len(rows) * len(others)
			for _, k := range sample.Choose(rng, n, min(far, n)) {
				out = append(out, [2]int{rows[k/len(others)], others[k%len(others)]})
			}
		}
	}
	return out
}

// path returns the fits of (26) for each τ, with quadratic slack of weight c. τ are shares of that at which W vanishes.
func (p *planeProblem) path(ctx context.Context, c float64) ([]ssikdr.Result, error) {
	return protocol.Once(p.paths, c, func() ([]ssikdr.Result, error) { return p.newPath(ctx, c) })
}

func (p *planeProblem) newPath(ctx context.Context, c float64) ([]ssikdr.Result, error) {
	params := ssikdr.Params{Slack: ltkernel.SlackL2, C: c, Tol: p.settings.Tol}
	most, err := ssikdr.MaxTau(ctx, p.gram, p.constraints, params)
	if err != nil {
		return nil, err
	}
	taus := make([]float64, len(p.settings.Taus))
	for i, share := range p.settings.Taus {
		taus[i] = share * most
	}
	return ssikdr.Path(ctx, p.gram, p.constraints, taus, params)
}

// planeCandidate is what a method may choose beside the kernel.
type planeCandidate struct {
	c     float64
	tau   int // index of a share of τ
	ridge float64
}

// planeFit is a map of objects to the plane.
type planeFit struct {
	place func(cross *mat.Dense) (*mat.Dense, error)
	rank  int // of W; 0 where none is learned
}

// planeMethod makes a plane.
type planeMethod struct {
	name       string
	known      bool             // its map takes kernel values with all known digits, not with the labelled ones
	as         string           // the method whose kernel it takes; "" if it chooses its own
	candidates []planeCandidate // of equally good ones the first is chosen
	label      func(c planeCandidate) string
	fit        func(ctx context.Context, p *planeProblem, c planeCandidate, rng *rand.Rand, starts int) (planeFit, error)
}

// dims is the number of dimensions of a plane.
const dims = 2

// ofW is the map of a learned W along its leading directions. A coordinate beyond the rank is 0.
func ofW(r ssikdr.Result) planeFit {
	return planeFit{func(cross *mat.Dense) (*mat.Dense, error) {
		n, known := cross.Dims()
		out := mat.NewDense(n, dims, nil)
		if r.Rank == 0 {
			return out, nil
		}
		at, err := r.Coordinates(dims).Embed(known, cross)
		if err != nil {
			return nil, err
		}
		out.Slice(0, n, 0, min(r.Rank, dims)).(*mat.Dense).Copy(at)
		return out, nil
	}, r.Rank}
}

// planeMethodsOf returns the methods in the order of the figure.
func planeMethodsOf(s planeSettings) []planeMethod {
	ofC := func(c planeCandidate) string { return ", C = " + table.Format(c.c) }
	share := func(v float64) string { return ", τ = " + table.Format(v) + " of the largest" }
	onPath := func(which func(c planeCandidate, path []ssikdr.Result) int) func(context.Context, *planeProblem, planeCandidate, *rand.Rand, int) (planeFit, error) {
		return func(ctx context.Context, p *planeProblem, c planeCandidate, _ *rand.Rand, _ int) (planeFit, error) {
			path, err := p.path(ctx, c.c)
			if err != nil {
				return planeFit{}, err
			}
			return ofW(path[which(c, path)]), nil
		}
	}
	top := planeMethod{
		name: ssikdrTop, label: func(c planeCandidate) string { return ofC(c) + share(s.Taus[c.tau]) },
		fit: onPath(func(c planeCandidate, _ []ssikdr.Result) int { return c.tau }),
	}
	least := planeMethod{
		name: ssikdrTau, label: ofC,
		fit: onPath(func(_ planeCandidate, path []ssikdr.Result) int { return lastPlane(path) }),
	}
	fixed := planeMethod{
		name:  ssikdrRank,
		label: func(c planeCandidate) string { return ofC(c) + share(s.RankTaus[c.tau]) },
		fit: func(ctx context.Context, p *planeProblem, c planeCandidate, rng *rand.Rand, starts int) (planeFit, error) {
			most, err := ssikdr.MaxTau(ctx, p.gram, p.constraints, ssikdr.Params{Slack: ltkernel.SlackL2, C: c.c})
			if err != nil {
				return planeFit{}, err
			}
			r, err := ssikdr.FitRank(ctx, rng, p.gram, p.constraints, dims, ssikdr.RankParams{
				Tau: s.RankTaus[c.tau] * most, Slack: ltkernel.SlackL2, C: c.c, Starts: starts, Tol: s.Tol,
			})
			if err != nil {
				return planeFit{}, err
			}
			return ofW(r), nil
		},
	}
	for _, c := range s.Cs {
		for i := range s.Taus {
			top.candidates = append(top.candidates, planeCandidate{c: c, tau: i})
		}
		least.candidates = append(least.candidates, planeCandidate{c: c})
	}
	for _, c := range s.RankCs {
		for i := range s.RankTaus {
			fixed.candidates = append(fixed.candidates, planeCandidate{c: c, tau: i})
		}
	}
	out := []planeMethod{top, least, fixed}
	for i, name := range pcaMethods {
		known := i >= 2
		params := kernelized.PCAParams{Dim: dims, Uncentred: i%2 == 1}
		m := planeMethod{name: name, known: known, candidates: []planeCandidate{{}}, label: func(planeCandidate) string { return "" }}
		if known { // a fit to all known digits for each candidate would take most of the time
			m.as = pcaMethods[i-2]
		}
		m.fit = func(ctx context.Context, p *planeProblem, _ planeCandidate, _ *rand.Rand, _ int) (planeFit, error) {
			gram := p.gram
			if known {
				gram = p.knownGram()
			}
			r, err := kernelized.FitPCAGram(ctx, gram, params)
			return planeFit{place: func(cross *mat.Dense) (*mat.Dense, error) { return r.Embed(cross) }}, err
		}
		out = append(out, m)
	}
	fda := planeMethod{
		name:  kernelFDA,
		label: func(c planeCandidate) string { return ", ridge " + table.Format(c.ridge) },
		fit: func(ctx context.Context, p *planeProblem, c planeCandidate, _ *rand.Rand, _ int) (planeFit, error) {
			r, err := kernelized.FitFDAGram(ctx, p.gram, p.labelled.Y, kernelized.FDAParams{K: dims, Ridge: c.ridge})
			return planeFit{place: func(cross *mat.Dense) (*mat.Dense, error) { return r.Embed(cross) }}, err
		},
	}
	for _, ridge := range s.Ridges {
		fda.candidates = append(fda.candidates, planeCandidate{ridge: ridge})
	}
	return append(out, fda)
}

// lastPlane returns the index of the least τ at which W has rank 2 or less, before any at which it has more; the first if there is none.
func lastPlane(path []ssikdr.Result) int {
	at := 0
	for i, r := range path {
		if r.Rank > dims {
			break
		}
		at = i
	}
	return at
}

// chosenPlane is the best candidate of a method.
type chosenPlane struct {
	candidate planeCandidate
	kernel    int
	wrong     int // labelled digits, of both folds
}

// choosePlanes chooses kernel and candidate of each method by a two-fold cross-validation on the labelled digits. Those of a fold are
// placed in the plane that the others and the unlabelled digits give, and classified by the nearest of the others. They are in no graph.
func choosePlanes(ctx context.Context, d *drawnDigits, s planeSettings, seed random.Seed, methods []planeMethod, candidates []planeKernel) ([]chosenPlane, error) {
	wrong := make([][][]int, len(methods)) // by method, kernel and candidate
	for m, method := range methods {
		wrong[m] = make([][]int, len(candidates))
		for k := range candidates {
			wrong[m][k] = make([]int, len(method.candidates))
		}
	}
	within := sample.StratifiedFolds(seed.Stream("folds"), d.labelled.Y, protocol.Folds)
	for f := range protocol.Folds {
		learn, held := protocol.Parted(within, f)
		a, b := d.labelled.Of(learn), d.labelled.Of(held)
		purpose := fmt.Sprintf("fold %d", f)
		for k, candidate := range candidates {
			p, err := newPlaneProblem(ctx, a, d.unlabelled, s, candidate, seed, purpose)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", candidate.label, err)
			}
			ofLearn, ofJudge := p.near(false, a), p.near(false, b)
			for m, method := range methods {
				if method.as != "" {
					continue
				}
				rng := seed.Own("starts, "+purpose, method.name)
				for c := range method.candidates {
					fit, err := method.fit(ctx, p, method.candidates[c], rng, s.Starts[0])
					if err != nil {
						return nil, fmt.Errorf("%s: %w", method.name, err)
					}
					near, err := fit.place(ofLearn)
					if err != nil {
						return nil, err
					}
					far, err := fit.place(ofJudge)
					if err != nil {
						return nil, err
					}
					wrong[m][k][c] += wrongVotes(near, a.Y, far, b.Y, s.Vote)
				}
			}
		}
	}
	out := make([]chosenPlane, len(methods))
	for m, method := range methods {
		if i := slices.IndexFunc(methods[:m], func(o planeMethod) bool { return o.name == method.as }); i >= 0 {
			out[m] = out[i]
			continue
		}
		out[m].wrong = math.MaxInt
		for k := range candidates {
			for c, n := range wrong[m][k] {
				if n < out[m].wrong {
					out[m] = chosenPlane{method.candidates[c], k, n}
				}
			}
		}
	}
	return out, nil
}

// nearestInPlane offers all rows of near but one, −1 for none.
func nearestInPlane(b *bags.NearestRows, near *mat.Dense, x []float64, but int) {
	b.Reset()
	n, _ := near.Dims()
	for i := range n {
		if i != but {
			r := near.RawRowView(i)
			u, v := r[0]-x[0], r[1]-x[1]
			b.Offer(i, u*u+v*v)
		}
	}
}

// wrongVotes counts the rows of far that the vote of the k nearest rows of near classifies wrongly.
func wrongVotes(near *mat.Dense, y []int, far *mat.Dense, want []int, k int) int {
	b, wrong := bags.NewNearestRows(k), 0
	for i, c := range want {
		nearestInPlane(b, near, far.RawRowView(i), -1)
		if b.Vote(y) != c {
			wrong++
		}
	}
	return wrong
}

// planeF1 returns F1 of each digit where the points of a plane are classified by a rule, each left out in turn; 0 for a digit that is
// never found.
func planeF1(at *mat.Dense, y []int, rule string) [digitCount]float64 {
	var found, given, there [digitCount]float64
	classify := leaveOneOutVote
	if rule == meanRule {
		classify = leaveOneOutMean
	}
	for i, c := range classify(at, y) {
		given[c]++
		there[y[i]]++
		if c == y[i] {
			found[c]++
		}
	}
	var out [digitCount]float64
	for c := range out {
		if found[c] > 0 {
			out[c] = 2 * found[c] / (given[c] + there[c])
		}
	}
	return out
}

func leaveOneOutVote(at *mat.Dense, y []int) []int {
	b, out := bags.NewNearestRows(planeNeighbours), make([]int, len(y))
	for i := range out {
		nearestInPlane(b, at, at.RawRowView(i), i)
		out[i] = b.Vote(y)
	}
	return out
}

// leaveOneOutMean returns the class of the nearest mean, of equals the first; the mean of a point's own class is without it.
func leaveOneOutMean(at *mat.Dense, y []int) []int {
	var n, u, v [digitCount]float64
	for i, c := range y {
		r := at.RawRowView(i)
		n[c]++
		u[c] += r[0]
		v[c] += r[1]
	}
	out := make([]int, len(y))
	for i, own := range y {
		r := at.RawRowView(i)
		best := math.Inf(1)
		for c := range digitCount {
			m, a, b := n[c], u[c], v[c]
			if c == own {
				m, a, b = m-1, a-r[0], b-r[1]
			}
			if m == 0 {
				continue
			}
			if d := math.Hypot(a/m-r[0], b/m-r[1]); d < best {
				best, out[i] = d, c
			}
		}
	}
	return out
}

// medianOf returns the median squared distance of pairs in the space of a Gram matrix, the lower of two.
func medianOf(k *mat.SymDense, pairs []metric.Link) (float64, error) {
	all := make([]float64, len(pairs))
	for i, p := range pairs {
		all[i] = k.At(p.I, p.I) - 2*k.At(p.I, p.J) + k.At(p.J, p.J)
	}
	slices.Sort(all)
	m := all[(len(all)-1)/2]
	if !(m > 0) {
		return 0, fmt.Errorf("logdet2012: the median squared distance of labelled digits is %v", m)
	}
	return m, nil
}

// addMap adds the points of a plane about their mean, with the largest coordinate 1, to three decimals, digit by digit.
func addMap(at *mat.Dense, y []int, add func(digit int, values table.Values)) {
	n := len(y)
	var mean [dims]float64
	for i := range n {
		for j, v := range at.RawRowView(i) {
			mean[j] += v / float64(n)
		}
	}
	largest := 0.0
	for i := range n {
		for j, v := range at.RawRowView(i) {
			largest = max(largest, math.Abs(v-mean[j]))
		}
	}
	if largest == 0 {
		largest = 1
	}
	for digit := range digitCount {
		values, k := table.Values{}, 0
		flush := func() {
			if k > 0 {
				add(digit, values)
			}
			values, k = table.Values{}, 0
		}
		for i, c := range y {
			if c != digit {
				continue
			}
			for j, name := range []string{"x", "y"} {
				values[fmt.Sprint(name, k)] = math.Round(1000*(at.At(i, j)-mean[j])/largest) / 1000
			}
			if k++; k == mapPoints {
				flush()
			}
		}
		flush()
	}
}
