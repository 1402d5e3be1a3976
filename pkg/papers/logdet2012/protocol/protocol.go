package protocol

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
)

const PaperKey = "logdet2012"

// Candidate is one setting of what a method leaves open; its label says which.
type Candidate struct {
	Label                 string
	Gamma, Width, Eta, Mu float64
	Weight                float64 // of HMRF-KMeans
	Targets               int
	Start                 labels.NCAStart
}

// Learnt is a metric with the rows that it compares.
type Learnt struct {
	Metric      metric.SqDister
	Train, Test *mat.Dense
	stopped     bool // by a cap, or because nothing improved: not converged
}

// Method learns from the training rows and pairs of a session.
type Method struct {
	Name       string
	Bounded    bool        // it uses u and ℓ
	Candidates []Candidate // of equally good ones the first is chosen
	Fit        func(ctx context.Context, s *Session, rule itml.BoundRule, c Candidate, b Budget) (Learnt, error)
}

// Choice is the outcome of an inner cross-validation.
type Choice struct {
	Wrong []int // of rows, by candidate; all rows for one that failed
	Order []int // of candidates, best first
	Rows  int   // that were scored
	Fits  Tally
}

// NewChoice is one among n candidates of which none was scored.
func NewChoice(n int) Choice { return Choice{Wrong: make([]int, n), Order: Numbers(n)} }

// Tally counts fits.
type Tally struct{ Made, stopped, Failed int }

func (t *Tally) Add(stopped bool, err error) {
	t.Made++
	switch {
	case err != nil:
		t.Failed++
	case stopped:
		t.stopped++
	}
}

// Task is a fold of an inner cross-validation: Score fits a candidate and counts how many
// of its rows are wrong.
type Task struct {
	Rows  int
	Score func(candidate int) (wrong int, stopped bool, err error)
}

// Choose scores n candidates on all tasks. A candidate that cannot be fitted, for a step
// that float64 does not hold or a singular matrix, counts all rows as wrong. With one
// candidate nothing is fitted.
func Choose(ctx context.Context, n int, tasks []Task) (Choice, error) {
	c := NewChoice(n)
	if n == 1 {
		return c, nil
	}
	for _, t := range tasks {
		c.Rows += t.Rows
		for i := range n {
			if err := ctx.Err(); err != nil {
				return c, err
			}
			wrong, stopped, err := t.Score(i)
			if err := ctx.Err(); err != nil { // a fit that was stopped has not failed
				return c, err
			}
			c.Fits.Add(stopped, err)
			if err != nil {
				wrong = t.Rows
			}
			c.Wrong[i] += wrong
		}
	}
	slices.SortStableFunc(c.Order, func(i, j int) int { return c.Wrong[i] - c.Wrong[j] })
	return c, nil
}

// Choose scores the candidates of a method in the inner cross-validation.
func (p *Problem) Choose(ctx context.Context, m Method, rule itml.BoundRule, b Budget) (Choice, error) {
	var tasks []Task
	for _, s := range p.Inner {
		tasks = append(tasks, Task{len(s.Test.Y), func(i int) (int, bool, error) {
			l, err := m.Fit(ctx, s, rule, m.Candidates[i], b)
			if err != nil {
				return 0, false, err
			}
			wrong, err := s.Wrong(ctx, l)
			return wrong, l.stopped, err
		}})
	}
	return Choose(ctx, len(m.Candidates), tasks)
}

// FirstFit fits the candidates in an order until one can be fitted.
func FirstFit(ctx context.Context, order []int, candidates []Candidate, fit func(i int) (stopped bool, err error)) (which int, fits Tally, err error) {
	var errs []error
	for _, i := range order {
		if err := ctx.Err(); err != nil {
			return 0, fits, err
		}
		stopped, err := fit(i)
		if err := ctx.Err(); err != nil { // a fit that was stopped has not failed
			return 0, fits, err
		}
		fits.Add(stopped, err)
		if err == nil {
			return i, fits, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", candidates[i].Label, err))
	}
	return 0, fits, errors.Join(errs...)
}

// Learn fits the best candidate to all training rows, or the next one if it fails there.
func (p *Problem) Learn(ctx context.Context, m Method, rule itml.BoundRule, order []int, b Budget) (which int, l Learnt, fits Tally, err error) {
	which, fits, err = FirstFit(ctx, order, m.Candidates, func(i int) (bool, error) {
		var err error
		l, err = m.Fit(ctx, p.Session, rule, m.Candidates[i], b)
		return l.stopped, err
	})
	return which, l, fits, err
}

// NeighbourSettings are those of Fig. 1(a) for one data set, with the grid of k. γ is chosen
// with K neighbours, as in the figure, and then k under the metrics of that γ.
type NeighbourSettings struct {
	Database string `key:"database"`
	Ks       []int  `key:"ks"`
	Settings
}

// LabelOf is k in a row.
func LabelOf(k int) string { return "k = " + strconv.Itoa(k) }

// wrongAt counts the test rows that are wrong for each number of neighbours.
func (s *Session) wrongAt(ctx context.Context, l Learnt, ks []int) ([]int, error) {
	knn, err := nearest.NewKNN(l.Metric, l.Train, s.Train.Y, nearest.KNNOptions{})
	if err != nil {
		return nil, err
	}
	return knn.Errors(ctx, l.Test, s.Test.Y, ks)
}

// ScoreNeighbours chooses a metric and then k, and counts the errors of the metric at each k.
func (p *Problem) ScoreNeighbours(ctx context.Context, m Method, s NeighbourSettings, add func(kind, at string, value, of int)) error {
	c, err := p.Choose(ctx, m, itml.BoundPercentiles, s.Choice)
	if err != nil {
		return err
	}
	which, l, _, err := p.Learn(ctx, m, itml.BoundPercentiles, c.Order, s.Final)
	if err != nil {
		return err
	}
	inner, scored := make([]int, len(s.Ks)), 0
	for _, in := range p.Inner {
		fit, err := m.Fit(ctx, in, itml.BoundPercentiles, m.Candidates[which], s.Choice)
		if err != nil {
			return err
		}
		wrong, err := in.wrongAt(ctx, fit, s.Ks)
		if err != nil {
			return err
		}
		for i, w := range wrong {
			inner[i] += w
		}
		scored += len(in.Test.Y)
	}
	tested, err := p.wrongAt(ctx, l, s.Ks)
	if err != nil {
		return err
	}
	for i, k := range s.Ks {
		add("inner", LabelOf(k), inner[i], scored)
		add("wrong", LabelOf(k), tested[i], len(p.Test.Y))
	}
	best := slices.Min(inner)
	add("chosen", LabelOf(s.Ks[slices.Index(inner, best)]), equal(inner, best), len(s.Ks))
	return nil
}

// Database is a data set of Fig. 1(a).
type Database struct{ Name, Dataset string }

// Databases are those of Fig. 1(a), in its order. Which soybean it is, the paper does not
// say; of soybean-large the complete rows are taken.
var Databases = []Database{
	{"wine", "wine"}, {"ionosphere", "ionosphere"}, {"balance-scale", "balance-scale"}, {"iris", "iris"}, {"soybean", "soybean-large"},
}

// The built-in data of smoke scale.
const (
	GeneratedLinear = "Gaussian mixture"
	GeneratedXOR    = "two classes of two Gaussians"
)

var Generated = []Database{{GeneratedLinear, GeneratedLinear}, {GeneratedXOR, GeneratedXOR}}

// Settings are what the paper fixes or leaves open.
type Settings struct {
	// Scaling of features, learned from training rows.
	Scaling datasets.Preprocessing `key:"features"`
	// Rules are those by which u and ℓ are taken from squared distances, the first and
	// the last of 100 parts.
	Rules []itml.BoundRule `key:"bounds"`
	// K is the number of neighbours.
	K int `key:"k"`
	// Links is the number of similar and of dissimilar pairs per class.
	Links int `key:"links"`
	// Gammas is the grid of γ.
	Gammas []float64 `key:"gammas"`
	// Widths is the grid of σ² of the Gaussian kernel, in medians of the squared distances
	// of training rows. It is nil where the method is not compared, as is Etas.
	Widths []float64 `key:"widths,omitzero"`
	// Etas is the grid of LogDet Online's η, in 1/ℓ².
	Etas []float64 `key:"etas,omitzero"`
	// Targets and Mus are the grids of LMNN.
	Targets []int     `key:"targets"`
	Mus     []float64 `key:"mus"`
	// Final caps a fit to the training fold.
	Final Budget `key:"final"`
	// Choice caps a fit of the inner cross-validation.
	Choice Budget `key:"choice"`
}

// Budget caps a fit: Bregman projections of LogDet, iterations of MCML, LMNN and NCA.
type Budget struct{ Projections, Iterations int }

// Cycles is the cap on cycles over n links.
func (b Budget) Cycles(n int) int { return max(b.Projections/max(n, 1), 1) }

// Folds is the number of parts of both cross-validations.
const Folds = 2

// TestRatio is n_test/n_train of a cross-validation, 1/(folds − 1).
const TestRatio = 1

// MainSettings are those of the figure. The grid of η reaches 10⁶ because, with one that ended
// at 10, the inner cross-validation of three other seeds had its least error there, on raw wine
// and iris. No test error on the paper's data had been seen.
var MainSettings = Settings{
	Rules: []itml.BoundRule{itml.BoundPercentiles},
	K:     10, Links: 100,
	Gammas: []float64{0.01, 0.1, 1, 10, 100, 1000}, Widths: []float64{0.5, 1, 2},
	Etas:    []float64{1e-2, 1e-1, 1, 10, 100, 1e3, 1e4, 1e5, 1e6},
	Targets: []int{1, 3, 5}, Mus: []float64{0.25, 0.5, 0.75},
	Final: Budget{100_000, 2_000}, Choice: Budget{50_000, 500},
}

// Readings are the scalings of the features: as in the paper, and of comparable size. The
// program's rule for bounds is tried on the paper's.
var Readings = []datasets.Preprocessing{datasets.AsIs, datasets.ZScore}

// SettingsOf returns those of a reading at a scale.
func SettingsOf(by datasets.Preprocessing, scale experiment.Scale) Settings {
	s := MainSettings
	s.Scaling = by
	if by == datasets.AsIs {
		s.Rules = []itml.BoundRule{itml.BoundPercentiles, itml.BoundBins}
	}
	if scale == experiment.Smoke {
		s.K, s.Links, s.Final, s.Choice = 5, 30, Budget{2_000, 1_000}, Budget{1_000, 500}
	}
	return s
}

// BoundsBy returns a rule with the paper's percentiles.
func BoundsBy(rule itml.BoundRule) itml.BoundParams {
	return itml.BoundParams{Rule: rule, Low: 1, High: 99}
}

// Load opens the data of a cell.
func Load(env *experiment.Env, seed random.Seed, dataset string) (*datasets.Set, error) {
	var c []synthetic.Component
	switch dataset {
	case GeneratedLinear: // overlapping classes; the last feature tells nothing and is wide
		for class, mean := range [][]float64{{0, 0, 0, 0}, {2, 0, 1, 0}, {0, 2, 0, 0}} {
			c = append(c, synthetic.Component{Class: class, N: 16, Mean: mean, Cov: mat.NewDiagDense(4, []float64{1, 1, 1, 25})})
		}
	case GeneratedXOR: // no linear map separates the classes
		for i, mean := range [][]float64{{2, 2}, {2, -2}, {-2, -2}, {-2, 2}} {
			c = append(c, synthetic.Component{Class: i % 2, N: 12, Mean: mean})
		}
	default:
		return env.Data.Set(dataset)
	}
	return synthetic.GaussianMixture(seed.Stream("data"), c)
}

// Part is a training or a test set.
type Part struct {
	X *mat.Dense
	Y []int
}

func RowsOf(s *datasets.Set, idx []int) Part { return Part{s.Rows(idx), s.Labels(idx)} }

// Of are some of the rows, in that order.
func (p Part) Of(rows []int) Part { return RowsOf(&datasets.Set{X: p.X, Y: p.Y}, rows) }

// With are these rows and then others.
func (p Part) With(other Part) Part {
	var x mat.Dense
	x.Stack(p.X, other.X)
	return Part{&x, slices.Concat(p.Y, other.Y)}
}

// Session is what a method learns from, and what it is scored on.
type Session struct {
	Train, Test Part
	Links       []metric.Link // of rows of train, in random order
	k           int
	sq          float64 // the median squared distance of training rows; 0 if not yet known
	inInput     map[itml.BoundRule]Bounds
	inInvCov    map[itml.BoundRule]*whitened
	inKernel    map[float64]*Kernelised // by width, in medians
}

// Bounds are u and ℓ.
type Bounds struct{ Upper, Lower float64 }

// NewSession scales by the training rows alone and draws the pairs.
func NewSession(set *datasets.Set, train, test []int, s Settings, seed random.Seed, purpose string) (*Session, error) {
	out := &Session{Train: RowsOf(set, train), Test: RowsOf(set, test), k: s.K, inInput: map[itml.BoundRule]Bounds{}, inInvCov: map[itml.BoundRule]*whitened{}, inKernel: map[float64]*Kernelised{}}
	scaler, _, err := datasets.FitScaler(out.Train.X, s.Scaling, false)
	if err != nil {
		return nil, err
	}
	for _, p := range []*Part{&out.Train, &out.Test} {
		if p.X, err = scaler.Apply(p.X); err != nil {
			return nil, err
		}
	}
	if len(train) < s.K {
		return nil, fmt.Errorf("logdet2012: %s: %d training rows for %d neighbours", purpose, len(train), s.K)
	}
	out.Links, err = sample.EachClassLinks(seed.Stream("pairs, "+purpose), out.Train.Y, s.Links)
	return out, err
}

// Bounds returns u and ℓ by a rule, of the squared Euclidean distances of all pairs of
// training rows.
func (s *Session) Bounds(rule itml.BoundRule) (Bounds, error) {
	return Once(s.inInput, rule, func() (Bounds, error) {
		u, l, err := BoundsBy(rule).Of(s.Train.X, AllPairs(len(s.Train.Y)), metric.Euclidean{})
		return Bounds{u, l}, err
	})
}

// Once returns what a map has under a key, which is made if it is not there.
func Once[K comparable, V any](made map[K]V, key K, make func() (V, error)) (V, error) {
	v, ok := made[key]
	if ok {
		return v, nil
	}
	v, err := make()
	if err == nil {
		made[key] = v
	}
	return v, err
}

// whitened is the inverse covariance of training rows as W₀, with the u and ℓ of its metric.
type whitened struct {
	W0 *mat.SymDense
	Bounds
}

// Whitened returns W₀ and, by a rule, u and ℓ of the squared distances under it of all pairs of
// training rows. The paper takes them from "a baseline Mahalanobis distance parameterized by W₀";
// those of another metric would have no meaning in its units.
func (s *Session) Whitened(ctx context.Context, rule itml.BoundRule) (*whitened, error) {
	return Once(s.inInvCov, rule, func() (*whitened, error) {
		w0, err := labels.ITMLStart(ctx, s.Train.X, labels.InvCovParams{})
		if err != nil {
			return nil, err
		}
		m, err := metric.NewMahalanobis(w0)
		if err != nil {
			return nil, err
		}
		u, l, err := BoundsBy(rule).Of(s.Train.X, AllPairs(len(s.Train.Y)), m)
		return &whitened{w0, Bounds{u, l}}, err
	})
}

// Median returns the median of the squared Euclidean distances of all pairs of training
// rows, of which there are fewer than kernels.MedianPoints.
func (s *Session) Median() (float64, error) {
	var err error
	if s.sq == 0 {
		s.sq, err = kernels.MedianSqDist(nil, s.Train.X)
	}
	return s.sq, err
}

// AllPairs names every pair of n rows once; labels do not matter to bounds.
func AllPairs(n int) []metric.Link {
	out := make([]metric.Link, 0, n*(n-1)/2)
	for i := range n {
		for j := range i {
			out = append(out, metric.Link{I: i, J: j, Label: metric.Similar})
		}
	}
	return out
}

// Kernelised is a session under a Gaussian kernel.
type Kernelised struct {
	All   *mat.SymDense // K₀ of the training rows, then the test rows
	Train mat.Symmetric // its block of the training rows
}

// Kernel returns the session under the Gaussian kernel exp(−‖x−y‖²/(2σ²)), σ² the median of
// the squared distances of training rows times width.
func (s *Session) Kernel(width float64) (*Kernelised, error) {
	return Once(s.inKernel, width, func() (*Kernelised, error) {
		median, err := s.Median()
		if err != nil {
			return nil, err
		}
		g, err := kernels.NewGaussian(0.5 / (width * median))
		if err != nil {
			return nil, err
		}
		var rows mat.Dense
		rows.Stack(s.Train.X, s.Test.X)
		// Entry by entry: with products, pairs of equal distance would get different kernels.
		k := kernels.Gram(kernels.Func(g.Eval), &rows)
		return &Kernelised{k, k.SliceSym(0, len(s.Train.Y))}, nil
	})
}

// GramMetric is the squared distance between objects whose Gram matrix is known; an
// object is a vector of one entry, its row.
type GramMetric struct{ K *mat.SymDense }

// SqDist returns k_aa − 2k_ab + k_bb, or 0 where that is round-off.
func (g GramMetric) SqDist(x, y []float64) float64 {
	a, b := int(x[0]), int(y[0])
	return max(g.K.At(a, a)-2*g.K.At(a, b)+g.K.At(b, b), 0)
}

// Numbered returns from, from+1, …, to−1 as objects of a GramMetric.
func Numbered(from, to int) *mat.Dense {
	out := mat.NewDense(to-from, 1, nil)
	for i := range to - from {
		out.Set(i, 0, float64(from+i))
	}
	return out
}

// Wrong counts the test rows that their k nearest training rows classify wrongly.
func (s *Session) Wrong(ctx context.Context, l Learnt) (int, error) {
	n, err := s.wrongAt(ctx, l, []int{s.k})
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

// Problem is one fold of a trial as all methods see it.
type Problem struct {
	*Session            // training fold and test fold
	Inner    []*Session // the cross-validation of the training fold, in which choices are made
}

// NewProblems returns the problems of a trial on the rows of a set.
func NewProblems(set *datasets.Set, s Settings, seed random.Seed) ([]*Problem, error) {
	return NewProblemsOf(set.Y, func([]int) (*datasets.Set, error) { return set, nil }, s, seed)
}

// LoadProblems returns those of a job.
func LoadProblems(run *experiment.Run, s Settings) ([]*Problem, error) {
	set, err := Load(run.Env, run.Seed, run.Cell.Dataset)
	if err != nil {
		return nil, err
	}
	return NewProblems(set, s, run.Seed)
}

// NewProblemsOf returns the problems of a trial on objects of classes y, one per fold. rowsBy
// returns the rows of all objects with the features that a training fold chooses. Of the test
// rows of a fold nothing enters inner.
func NewProblemsOf(y []int, rowsBy func(train []int) (*datasets.Set, error), s Settings, seed random.Seed) ([]*Problem, error) {
	fold := sample.StratifiedFolds(seed.Stream("folds"), y, Folds)
	out := make([]*Problem, Folds)
	for f := range out {
		train, test := Parted(fold, f)
		name := fmt.Sprintf("fold %d", f)
		set, err := rowsBy(train)
		if err != nil {
			return nil, err
		}
		outer, err := NewSession(set, train, test, s, seed, name)
		if err != nil {
			return nil, err
		}
		p := &Problem{Session: outer}
		within := sample.StratifiedFolds(seed.Stream("inner folds, "+name), outer.Train.Y, Folds)
		for g := range Folds {
			learn, held := PartedOf(within, g, train)
			inner, err := NewSession(set, learn, held, s, seed, fmt.Sprintf("%s, inner fold %d", name, g))
			if err != nil {
				return nil, err
			}
			p.Inner = append(p.Inner, inner)
		}
		out[f] = p
	}
	return out, nil
}

// Parted returns the rows outside fold f, which train, and those in it.
func Parted(fold []int, f int) (train, test []int) { return PartedOf(fold, f, Numbers(len(fold))) }

// PartedOf is parted of some rows, of which fold has the folds.
func PartedOf(fold []int, f int, rows []int) (train, test []int) {
	for i, g := range fold {
		if g == f {
			test = append(test, rows[i])
		} else {
			train = append(train, rows[i])
		}
	}
	return train, test
}

// Numbers are 0, 1, …, n−1.
func Numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// equal counts the numbers that are v.
func equal(of []int, v int) (n int) {
	for _, w := range of {
		if w == v {
			n++
		}
	}
	return n
}

// Within is a similar pair at a squared distance of at most u, or a dissimilar one at one of at least l.
func Within(similar bool, i, j int, u, l float64) ltkernel.Constraint {
	if similar {
		return ltkernel.AtMost(i, j, u)
	}
	return ltkernel.AtLeast(i, j, l)
}
