package learnertest

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// Pairs checks an online learner of pairs on streams that it draws itself, in
// several dimensions. L is the learner's type, so that its own constructor and loader
// fit. Checked are the laws of Suite, and
//
//   - d(x, y) = d(y, x) ≥ 0, d(x, x) = 0, and similar means d² ≤ Threshold.
//   - Metric of a learners.PairMetric is positive semi-definite, has dimension
//     Dim, and measures the distances that Predict reports, after every step; so
//     does KernelMetric of a learners.PairKernel.
//   - Matrix() *mat.SymDense, of a learner that has it, is the matrix that Predict
//     measures with, and Metric its nearest positive semi-definite one.
//   - Threshold is at least MinThreshold after every update.
//   - A pair with x = y is accepted and leaves all distances as they are.
//   - Label 0 and 2, vectors of wrong length, NaN, Inf and features whose
//     squared distance overflows are errors of Step.
//   - Predict panics on vectors of wrong length, NaN and Inf, and Loss on these and on label 0
//     and 2, with a text that begins with the name of the package ("pairs: ..."). Neither panics on finite features: where d² overflows, PairPrediction.Check says
//     so, and Step refuses the pair.
type Pairs[L learners.Pair] struct {
	// New returns a learner at its start.
	New func(dim int) (L, error)
	// Load reads what the learner's Save wrote. nil: saving is not checked.
	Load func(r io.Reader) (L, error)
	// MinThreshold is what the learner promises after every update; −Inf if
	// nothing.
	MinThreshold float64
	// Deferred says that the learner projects only what Metric returns, so
	// that Predict may differ from it and report negative squared distances.
	Deferred bool
	// Saturates says that distances are bounded whatever the features, as those of
	// a Gaussian kernel are, so that no features are too large.
	Saturates bool
}

// running is what a learner implements whose matrix need not be positive
// semi-definite between steps.
type running interface{ Matrix() *mat.SymDense }

// multiplier is what a learner implements that multiplies by its matrix.
type multiplier interface {
	MulVec(dst, x []float64) []float64
}

// metricTol bounds the difference between Predict and Metric relative to
// tr(M)·‖x−y‖², an upper bound of the squared distance, with the largest M so
// far. The metric is a new factorisation of the matrix, exact to some d·ε of its
// norm, and what cancels in an update leaves round-off of the size before.
const metricTol = 1e-10

// kernelTol bounds the difference between Predict and KernelMetric relative to
// the larger of 1, of which thresholds are, and the largest squared distance so
// far. The metric's G inverts the factor of a Gram matrix, whose pivots may be as
// small as 1e-5 of its entries.
const kernelTol = 1e-9

// Run runs all checks.
func (s Pairs[L]) Run(t TB) {
	t.Helper()
	for _, c := range []struct {
		dim, rounds int
		scale       float64
	}{{1, 30, 1}, {2, 60, 1}, {5, 80, 3}, {40, 80, 1}, {40, 80, 0.05}} {
		t := within{t, fmt.Sprintf("dim %d, scale %g: ", c.dim, c.scale)}
		rounds := PairStream(rand.New(rand.NewPCG(uint64(c.dim), uint64(c.rounds))), c.dim, c.rounds, c.scale)
		if _, err := s.New(c.dim); err != nil {
			t.Errorf("New: %v", err)
			return
		}
		u := s.suite(t, c.dim, rounds)
		u.Run(t)
		s.laws(t, c.dim, rounds)
		s.malformed(t, c.dim, rounds, u.Bad)
	}
}

// within prefixes messages with the case.
type within struct {
	TB
	prefix string
}

func (w within) Errorf(format string, args ...any) {
	w.Helper()
	w.TB.Errorf("%s%s", w.prefix, fmt.Sprintf(format, args...))
}

func (s Pairs[L]) start(t TB, dim int) L {
	t.Helper()
	l, err := s.New(dim)
	if err != nil {
		t.Errorf("New: %v", err)
	}
	return l
}

func (s Pairs[L]) suite(t TB, dim int, rounds []metric.Pair) Suite[metric.Pair, learners.PairPrediction, L] {
	set := func(change func(p *metric.Pair)) metric.Pair {
		p := clonePair(rounds[0])
		change(&p)
		return p
	}
	u := Suite[metric.Pair, learners.PairPrediction, L]{
		New:    func() L { return s.start(t, dim) },
		Rounds: rounds,
		Bad: map[string]metric.Pair{
			"label 0": set(func(p *metric.Pair) { p.Label = 0 }),
			"label 2": set(func(p *metric.Pair) { p.Label = 2 }),
			"short x": set(func(p *metric.Pair) { p.X = p.X[1:] }),
			"long y":  set(func(p *metric.Pair) { p.Y = append(p.Y, 1) }),
			"no x":    set(func(p *metric.Pair) { p.X = nil }),
			"NaN":     set(func(p *metric.Pair) { p.X[dim-1] = math.NaN() }),
			"+Inf":    set(func(p *metric.Pair) { p.Y[0] = math.Inf(1) }),
			"-Inf":    set(func(p *metric.Pair) { p.X[0] = math.Inf(-1) }),
			"overflow": set(func(p *metric.Pair) {
				p.X[0], p.Y[0] = math.MaxFloat64, -math.MaxFloat64
			}),
		},
		Clone: clonePair,
		Scramble: func(p metric.Pair) {
			for i := range p.X {
				p.X[i], p.Y[i] = math.NaN(), 1e6
			}
		},
		Relabel: func(p metric.Pair) metric.Pair { p.Label = -p.Label; return p },
	}
	if s.Saturates {
		delete(u.Bad, "overflow")
	}
	switch any(s.start(t, dim)).(type) {
	case learners.PairKernel:
		u.Snapshot = func(l L) func() []float64 {
			m := any(l).(learners.PairKernel).KernelMetric()
			return func() []float64 {
				out := make([]float64, len(rounds))
				for i, f := range rounds {
					out[i] = m.SqDist(f.X, f.Y)
				}
				return out
			}
		}
	case learners.PairMetric:
		u.Snapshot = func(l L) func() []float64 {
			m := any(l).(learners.PairMetric).Metric()
			return func() []float64 { return m.M().RawSymmetric().Data }
		}
	}
	if _, ok := any(s.start(t, dim)).(multiplier); ok {
		u.Calls = map[string]func(l L){"MulVec": func(l L) { any(l).(multiplier).MulVec(nil, rounds[0].X) }}
	}
	if s.Load != nil {
		u.Load = s.Load
		u.Save = func(l L, w io.Writer) error { return l.Save(w) }
	}
	return u
}

func clonePair(p metric.Pair) metric.Pair {
	return metric.Pair{X: slices.Clone(p.X), Y: slices.Clone(p.Y), Label: p.Label}
}

// laws checks what holds for metrics and thresholds, after every step.
func (s Pairs[L]) laws(t TB, dim int, rounds []metric.Pair) {
	t.Helper()
	l := s.start(t, dim)
	var top float64 // largest trace so far, or norm of Matrix
	widest := 1.0   // largest squared distance so far, at least 1
	if l.Dim() != dim {
		t.Errorf("Dim = %d, want %d", l.Dim(), dim)
		return
	}
	for i, f := range rounds {
		o, err := l.Step(f)
		if err != nil {
			t.Errorf("round %d: %v", i, err)
			return
		}
		if b := l.Threshold(); o.Updated && !(b >= s.MinThreshold) {
			t.Errorf("round %d: threshold %v after an update, want at least %v", i, b, s.MinThreshold)
		}
		g := rounds[(i+1)%len(rounds)]
		p, q := l.Predict(g), l.Predict(metric.Pair{X: g.Y, Y: g.X})
		if p != q {
			t.Errorf("round %d: d(x, y) and d(y, x) give %v and %v", i, p, q)
			return
		}
		if p.Similar != (p.SqDist <= l.Threshold()) {
			t.Errorf("round %d: d² = %v, threshold %v, predicted similar %v", i, p.SqDist, l.Threshold(), p.Similar)
		}
		if z := l.Predict(metric.Pair{X: g.X, Y: g.X}); z.SqDist != 0 {
			t.Errorf("round %d: d²(x, x) = %v", i, z.SqDist)
		}
		if p.SqDist < 0 && !s.Deferred {
			t.Errorf("round %d: d² = %v", i, p.SqDist)
		}
		if pk, ok := any(l).(learners.PairKernel); ok {
			m := pk.KernelMetric()
			if m.Dim() != dim {
				t.Errorf("round %d: kernel metric of dimension %d, want %d", i, m.Dim(), dim)
				return
			}
			widest = max(widest, p.SqDist)
			if d := m.SqDist(g.X, g.Y); !(math.Abs(d-p.SqDist) <= kernelTol*widest) {
				t.Errorf("round %d: KernelMetric measures d² = %v, Predict %v; largest so far %v", i, d, p.SqDist, widest)
				return
			}
		}
		pm, ok := any(l).(learners.PairMetric)
		if !ok {
			continue
		}
		m := pm.Metric()
		if m.Dim() != dim {
			t.Errorf("round %d: metric of dimension %d, want %d", i, m.Dim(), dim)
			return
		}
		trace := mat.Trace(m.M())
		if math.IsNaN(trace) || math.IsInf(trace, 0) {
			t.Errorf("round %d: the metric is not finite", i)
			return
		}
		if r, ok := any(l).(running); ok {
			top = max(top, mat.Norm(r.Matrix(), 2))
			if !checkRunning(t, i, r.Matrix(), m, p.SqDist, g, top) {
				return
			}
		}
		if s.Deferred {
			continue
		}
		top = max(top, trace)
		size := top * metric.Euclidean{}.SqDist(g.X, g.Y)
		if d := m.SqDist(g.X, g.Y); math.Abs(d-p.SqDist) > metricTol*size {
			t.Errorf("round %d: Metric measures d² = %v, Predict %v; largest tr(M) so far, times ‖x−y‖², %v", i, d, p.SqDist, size)
			return
		}
	}
	s.coincident(t, l, rounds)
}

// checkRunning checks that the matrix a of a running hypothesis measures the
// squared distance sq between the points of g, and that m is its projection. top is
// the largest norm of a so far.
func checkRunning(t TB, round int, a *mat.SymDense, m *metric.Mahalanobis, sq float64, g metric.Pair, top float64) bool {
	t.Helper()
	v := mat.NewVecDense(len(g.X), metric.Sub(nil, g.X, g.Y))
	if q := mat.Inner(v, a, v); !(math.Abs(q-sq) <= metricTol*top*mat.Dot(v, v)) {
		t.Errorf("round %d: Matrix measures d² = %v, Predict %v", round, q, sq)
		return false
	}
	want, _, err := metric.ProjectPSD(a)
	if err != nil {
		t.Errorf("round %d: Matrix: %v", round, err)
		return false
	}
	var rest mat.Dense
	rest.Sub(want, m.M())
	if off := mat.Norm(&rest, 2); !(off <= metricTol*top) {
		t.Errorf("round %d: Metric is not the projection of Matrix: off by %v, norm so far %v", round, off, top)
		return false
	}
	return true
}

// coincident steps on x = y with both labels; distances between the points of
// other rounds must not change.
func (s Pairs[L]) coincident(t TB, l L, rounds []metric.Pair) {
	t.Helper()
	x := rounds[0].X
	for _, y := range []metric.Label{metric.Similar, metric.Dissimilar} {
		before := make([]float64, len(rounds))
		for i, f := range rounds {
			before[i] = l.Predict(f).SqDist
		}
		if _, err := l.Step(metric.Pair{X: x, Y: slices.Clone(x), Label: y}); err != nil {
			t.Errorf("x = y, %v: %v", y, err)
			return
		}
		for i, f := range rounds {
			if !same(before[i], l.Predict(f).SqDist) {
				t.Errorf("x = y, %v: a distance changed", y)
				return
			}
		}
	}
}

// PairStream draws n pairs of points around two centres in dim dimensions:
// similar iff of the same centre, both labels equally likely, the first pair
// dissimilar; coordinates are of the order of scale/√dim. The classes overlap,
// so that learners go on making updates. One pair in ten repeats the one before.
func PairStream(rng *rand.Rand, dim, n int, scale float64) []metric.Pair {
	size := scale / math.Sqrt(float64(dim))
	draw := func(k int) []float64 {
		x := make([]float64, dim)
		for i := range x {
			x[i] = size * rng.NormFloat64()
		}
		x[0] += 2 * size * float64(k)
		return x
	}
	out := make([]metric.Pair, n)
	for i := range out {
		j, k := rng.IntN(2), rng.IntN(2)
		if i == 0 {
			j, k = 0, 1
		}
		out[i] = metric.Pair{X: draw(j), Y: draw(k), Label: metric.SameClass(j == k)}
		if i%10 == 9 {
			out[i] = clonePair(out[i-1])
		}
	}
	return out
}
