package learnertest

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/persist/persisttest"
)

// Classifier is an online classifier of two classes.
type Classifier interface {
	learners.Online[classify.Example, classify.Prediction]
	// Dim returns the dimension of the vectors.
	Dim() int
	Save(io.Writer) error
}

// Classifiers checks an online classifier on streams that it draws itself, in
// several dimensions: the laws of Suite, and
//
//   - A dimension of 0 is an error.
//   - Damaged files are errors, and no number of a file makes Load or what it loaded
//     panic, or take more memory than the file warrants.
//   - Predict and Loss panic on a vector of another length, NaN and Inf.
//   - Label 0 and 2, vectors of wrong length, NaN, Inf and features whose squared
//     norm overflows are errors.
type Classifiers[L Classifier] struct {
	// New returns a learner at its start.
	New func(dim int) (L, error)
	// Load reads what the learner's Save wrote.
	Load func(r io.Reader) (L, error)
}

// Run runs all checks.
func (c Classifiers[L]) Run(t TB) {
	t.Helper()
	l, ok := ofVectors(t, c.New, c.Load, ExampleStream, c.suite)
	if !ok {
		return
	}
	for _, x := range [][]float64{nil, {1}, {1, 2, 3}, {1, math.NaN()}} {
		f := classify.Example{X: x, Label: classify.Positive}
		if _, panicked := try(func() any { return l.Predict(f) }); panicked == nil {
			t.Errorf("Predict of %v, want 2 finite numbers: no panic", x)
		}
		if _, panicked := try(func() any { return l.Loss(f) }); panicked == nil {
			t.Errorf("Loss of %v, want 2 finite numbers: no panic", x)
		}
	}
}

// ofVectors runs the suite in several dimensions, checks files and a dimension of 0, and returns a learner of vectors of length 2 at
// its start. It returns false where none can be made.
func ofVectors[F, P any, L interface {
	learners.Online[F, P]
	Dim() int
	Save(io.Writer) error
}](t TB, fresh func(dim int) (L, error), load func(io.Reader) (L, error), stream func(rng *rand.Rand, dim, n int) []F, suite func(dim int) Suite[F, P, L]) (l L, ok bool) {
	t.Helper()
	for _, dim := range []int{1, 2, 30} {
		if l, err := fresh(dim); err != nil || l.Dim() != dim {
			t.Errorf("New(%d): %v", dim, err)
			return l, false
		}
		suite(dim).Run(t)
	}
	files(t, fresh, load, stream)
	if _, err := fresh(0); err == nil || !strings.Contains(err.Error(), "dim: 0 is not allowed, want at least 1") {
		t.Errorf("dim 0: %v", err)
	}
	l, _ = fresh(2) // worked above
	return l, true
}

// files checks what learners of vectors of length 3 save, at their start and after some rounds.
func files[F, P any, L interface {
	learners.Online[F, P]
	Dim() int
	Save(io.Writer) error
}](t TB, fresh func(dim int) (L, error), load func(io.Reader) (L, error), stream func(rng *rand.Rand, dim, n int) []F) {
	t.Helper()
	l, _ := fresh(3) // Run has seen it work
	persisttest.Check(t, persisttest.Saved(l), load)
	for _, f := range stream(rand.New(rand.NewPCG(41, 2)), 3, 6) {
		if _, err := l.Step(f); err != nil {
			t.Errorf("step: %v", err)
		}
	}
	persisttest.Check(t, persisttest.Saved(l), load)
	persisttest.Numbers(t, persisttest.Saved(l), load, func(l L) {
		if l.Dim() > 100 {
			return
		}
		for _, f := range stream(rand.New(rand.NewPCG(41, 3)), l.Dim(), 3) {
			_, _ = l.Step(f)
		}
	})
}

func (c Classifiers[L]) suite(dim int) Suite[classify.Example, classify.Prediction, L] {
	rounds := ExampleStream(rand.New(rand.NewPCG(40, uint64(dim))), dim, 60)
	set := func(change func(f *classify.Example)) classify.Example {
		f := CloneExample(rounds[0])
		change(&f)
		return f
	}
	return Suite[classify.Example, classify.Prediction, L]{
		New: func() L {
			l, _ := c.New(dim) // Run has seen it work
			return l
		},
		Rounds: rounds,
		Bad: map[string]classify.Example{
			"label 0":  set(func(f *classify.Example) { f.Label = 0 }),
			"label 2":  set(func(f *classify.Example) { f.Label = 2 }),
			"short":    set(func(f *classify.Example) { f.X = f.X[1:] }),
			"long":     set(func(f *classify.Example) { f.X = append(f.X, 1) }),
			"no x":     set(func(f *classify.Example) { f.X = nil }),
			"NaN":      set(func(f *classify.Example) { f.X[dim-1] = math.NaN() }),
			"+Inf":     set(func(f *classify.Example) { f.X[0] = math.Inf(1) }),
			"-Inf":     set(func(f *classify.Example) { f.X[0] = math.Inf(-1) }),
			"overflow": set(func(f *classify.Example) { f.X[0] = math.MaxFloat64 }),
		},
		Clone: CloneExample,
		Scramble: func(f classify.Example) {
			for i := range f.X {
				f.X[i] = math.NaN()
			}
		},
		Relabel: func(f classify.Example) classify.Example { f.Label = -f.Label; return f },
		Save:    func(l L, w io.Writer) error { return l.Save(w) },
		Load:    c.Load,
	}
}

// ExampleStream returns n examples, about half of whose entries are 0, with labels
// from a noisy hyperplane.
func ExampleStream(rng *rand.Rand, dim, n int) []classify.Example {
	out := make([]classify.Example, n)
	for i := range out {
		x := make([]float64, dim)
		for j := range x {
			if rng.IntN(2) == 0 {
				x[j] = rng.NormFloat64()
			}
		}
		out[i] = classify.Example{X: x, Label: classify.LabelOf(floats.Sum(x)+0.3*rng.NormFloat64() > 0)}
	}
	return out
}

// CloneExample returns a copy of f with a vector of its own.
func CloneExample(f classify.Example) classify.Example {
	return classify.Example{X: slices.Clone(f.X), Label: f.Label}
}
