package learnertest

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// Comparisons checks an online learner of comparisons of vectors on streams that it draws itself: the laws of Suite, and those that
// Classifiers lists.
type Comparisons[L learners.SimilarityLearner] struct {
	// New returns a learner at its start.
	New func(dim int) (L, error)
	// Load reads what the learner's Save wrote.
	Load func(r io.Reader) (L, error)
}

// Run runs all checks.
func (c Comparisons[L]) Run(t TB) {
	t.Helper()
	l, ok := ofVectors(t, c.New, c.Load, ComparisonStream, c.suite)
	if !ok {
		return
	}
	good := []float64{1, 2}
	for _, x := range [][]float64{nil, {1}, {1, 2, 3}, {1, math.NaN()}} {
		for _, f := range []metric.Comparison{{A: x, Near: good, Far: good}, {A: good, Near: x, Far: good}, {A: good, Near: good, Far: x}} {
			if _, panicked := try(func() any { return l.Predict(f) }); panicked == nil {
				t.Errorf("Predict of %v, want 2 finite numbers each: no panic", f)
			}
			if _, panicked := try(func() any { return l.Loss(f) }); panicked == nil {
				t.Errorf("Loss of %v, want 2 finite numbers each: no panic", f)
			}
		}
	}
}

func (c Comparisons[L]) suite(dim int) Suite[metric.Comparison, learners.SimilarityPrediction, L] {
	rounds := ComparisonStream(rand.New(rand.NewPCG(42, uint64(dim))), dim, 60)
	set := func(change func(f *metric.Comparison)) metric.Comparison {
		f := CloneComparison(rounds[0])
		change(&f)
		return f
	}
	return Suite[metric.Comparison, learners.SimilarityPrediction, L]{
		New: func() L {
			l, _ := c.New(dim) // Run has seen it work
			return l
		},
		Rounds: rounds,
		Bad: map[string]metric.Comparison{
			"short":    set(func(f *metric.Comparison) { f.A = f.A[1:] }),
			"long":     set(func(f *metric.Comparison) { f.Near = append(f.Near, 1) }),
			"no far":   set(func(f *metric.Comparison) { f.Far = nil }),
			"NaN":      set(func(f *metric.Comparison) { f.Near[dim-1] = math.NaN() }),
			"+Inf":     set(func(f *metric.Comparison) { f.A[0] = math.Inf(1) }),
			"-Inf":     set(func(f *metric.Comparison) { f.Far[0] = math.Inf(-1) }),
			"overflow": set(func(f *metric.Comparison) { f.A[0], f.Far[0] = math.MaxFloat64, math.MaxFloat64 }),
		},
		Clone: CloneComparison,
		Scramble: func(f metric.Comparison) {
			for _, v := range [][]float64{f.A, f.Near, f.Far} {
				for i := range v {
					v[i] = math.NaN()
				}
			}
		},
		Save:     func(l L, w io.Writer) error { return l.Save(w) },
		Load:     c.Load,
		Snapshot: func(l L) func() []float64 { m := l.Matrix(); return func() []float64 { return m.RawMatrix().Data } },
	}
}

// ComparisonStream returns n comparisons of vectors, about half of whose entries are 0. Near agrees with A in the first half of the
// entries more often than far does.
func ComparisonStream(rng *rand.Rand, dim, n int) []metric.Comparison {
	draw := func() []float64 {
		x := make([]float64, dim)
		for j := range x {
			if rng.IntN(2) == 0 {
				x[j] = rng.NormFloat64()
			}
		}
		return x
	}
	agree := func(a, x []float64) (s float64) {
		for j := range (dim + 1) / 2 {
			s += a[j] * x[j]
		}
		return s
	}
	out := make([]metric.Comparison, n)
	for i := range out {
		f := metric.Comparison{A: draw(), Near: draw(), Far: draw()}
		if agree(f.A, f.Near) < agree(f.A, f.Far) {
			f.Near, f.Far = f.Far, f.Near
		}
		out[i] = f
	}
	return out
}

// CloneComparison returns a copy of f with vectors of its own.
func CloneComparison(f metric.Comparison) metric.Comparison {
	return metric.Comparison{A: slices.Clone(f.A), Near: slices.Clone(f.Near), Far: slices.Clone(f.Far)}
}
