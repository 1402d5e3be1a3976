package classify

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/persist/persisttest"
)

// onlineClassifier is what all online classifiers of this package are.
type onlineClassifier interface {
	learners.Online[Example, Prediction]
	Dim() int
	Save(io.Writer) error
}

// loader makes the loader of one type that of the interface.
func loader[T onlineClassifier](load func(io.Reader) (T, error)) func(io.Reader) (onlineClassifier, error) {
	return func(r io.Reader) (onlineClassifier, error) {
		l, err := load(r)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
}

var classifiers = []struct {
	name string
	make func(dim int) (onlineClassifier, error)
	load func(io.Reader) (onlineClassifier, error)
}{
	{"Perceptron", func(d int) (onlineClassifier, error) { return NewPerceptron(d) }, loader(LoadPerceptron)},
	{"PAUM", func(d int) (onlineClassifier, error) {
		return NewPAUM(d, PAUMParams{TauPositive: 0.7, TauNegative: -0.1, Eta: 0.3, R: 1.7})
	}, loader(LoadPAUM)},
	{"OnlineNN", func(d int) (onlineClassifier, error) { return NewOnlineNN(d) }, loader(LoadOnlineNN)},
}

// stream returns n examples, about half of whose entries are 0, with labels from
// a noisy hyperplane.
func stream(rng *rand.Rand, n, dim int) []Example {
	out := make([]Example, n)
	for i := range out {
		x := make([]float64, dim)
		for j := range x {
			if rng.IntN(2) == 0 {
				x[j] = rng.NormFloat64()
			}
		}
		out[i] = Example{x, LabelOf(floats.Sum(x)+0.3*rng.NormFloat64() > 0)}
	}
	return out
}

func cloneExample(f Example) Example { return Example{slices.Clone(f.X), f.Label} }

func TestOnlineClassifiersConform(t *testing.T) {
	for _, c := range classifiers {
		for _, dim := range []int{1, 2, 30} {
			rounds := stream(rand.New(rand.NewPCG(40, uint64(dim))), 60, dim)
			set := func(change func(f *Example)) Example {
				f := cloneExample(rounds[0])
				change(&f)
				return f
			}
			learnertest.Suite[Example, Prediction, onlineClassifier]{
				New: func() onlineClassifier {
					l, err := c.make(dim)
					if err != nil {
						t.Fatal(err)
					}
					return l
				},
				Rounds: rounds,
				Bad: map[string]Example{
					"label 0":  set(func(f *Example) { f.Label = 0 }),
					"label 2":  set(func(f *Example) { f.Label = 2 }),
					"short":    set(func(f *Example) { f.X = f.X[1:] }),
					"long":     set(func(f *Example) { f.X = append(f.X, 1) }),
					"no x":     set(func(f *Example) { f.X = nil }),
					"NaN":      set(func(f *Example) { f.X[dim-1] = math.NaN() }),
					"+Inf":     set(func(f *Example) { f.X[0] = math.Inf(1) }),
					"-Inf":     set(func(f *Example) { f.X[0] = math.Inf(-1) }),
					"overflow": set(func(f *Example) { f.X[0] = math.MaxFloat64 }),
				},
				Clone: cloneExample,
				Scramble: func(f Example) {
					for i := range f.X {
						f.X[i] = math.NaN()
					}
				},
				Relabel: func(f Example) Example { f.Label = -f.Label; return f },
				Save:    func(l onlineClassifier, w io.Writer) error { return l.Save(w) },
				Load:    c.load,
			}.Run(t)
		}
		if _, err := c.make(0); err == nil || !strings.Contains(err.Error(), "dim: 0 is not allowed, want at least 1") {
			t.Errorf("%s: dim 0: %v", c.name, err)
		}
	}
}

func TestExampleErrors(t *testing.T) {
	for _, c := range []struct {
		f    Example
		want string
	}{
		{Example{[]float64{1, 2}, Positive}, ""},
		{Example{[]float64{1, 2}, 0}, "label: 0 is not allowed, want 1 (positive) or -1 (negative)"},
		{Example{[]float64{1}, Negative}, "x: has 1 numbers, want 2"},
		{Example{[]float64{1, math.Inf(-1)}, Negative}, "x[1]: -Inf is not allowed"},
	} {
		if err := c.f.Check(2); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.f, err, c.want)
		}
	}
	if Positive.String() != "positive" || Negative.String() != "negative" || Label(0).String() != "invalid label 0" {
		t.Errorf("labels are called %v, %v and %v", Positive, Negative, Label(0))
	}
	if LabelOf(true) != Positive || LabelOf(false) != Negative {
		t.Error("LabelOf")
	}
}

// TestOverflowIsRefused: weights and losses that leave float64 are errors, after
// which nothing has changed.
func TestOverflowIsRefused(t *testing.T) {
	l, err := NewPAUM(1, PAUMParams{Eta: 1e300, R: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	before := persisttest.Saved(l)
	if _, err := l.Step(Example{[]float64{1e100}, Positive}); err == nil || !strings.Contains(err.Error(), "weights overflow") {
		t.Errorf("w = 1e400: %v", err)
	}
	if !bytes.Equal(before, persisttest.Saved(l)) {
		t.Error("a refused step changed the learner")
	}
	if l, err = NewPAUM(1, PAUMParams{Eta: 1e300, R: 1e150}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Step(Example{[]float64{0}, Positive}); err == nil || !strings.Contains(err.Error(), "weights overflow") {
		t.Errorf("b = 1e600: %v", err)
	}
	if l, err = NewPAUM(1, PAUMParams{TauPositive: math.MaxFloat64, Eta: 1e300}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Step(Example{[]float64{1}, Positive}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Step(Example{[]float64{-math.MaxFloat64 / 1e301}, Positive}); err == nil {
		t.Error("an infinite score was accepted")
	}
}

func TestLengthsPanic(t *testing.T) {
	for _, c := range classifiers {
		l, err := c.make(2)
		if err != nil {
			t.Fatal(err)
		}
		for name, f := range map[string]func(Example){
			"Predict": func(f Example) { l.Predict(f) },
			"Loss":    func(f Example) { l.Loss(f) },
		} {
			for _, x := range [][]float64{nil, {1}, {1, 2, 3}} {
				func() {
					defer func() {
						if recover() == nil {
							t.Errorf("%s: %s of %d numbers: no panic", c.name, name, len(x))
						}
					}()
					f(Example{X: x, Label: Positive})
				}()
			}
		}
	}
}

// separable returns n examples with ‖x‖ ≤ radius and margins y(u·x + c) ≥ γ_y for
// a random ‖u‖² + (c/r)² = 1, and the smallest margin of each class.
func separable(rng *rand.Rand, n, dim int, radius, r float64, least map[Label]float64) (out []Example, margins map[Label]float64) {
	u := make([]float64, dim+1)
	for j := range u {
		u[j] = rng.NormFloat64()
	}
	u[dim] *= 0.3
	floats.Scale(1/floats.Norm(u, 2), u)
	margins = map[Label]float64{Positive: math.Inf(1), Negative: math.Inf(1)}
	for len(out) < n {
		x := make([]float64, dim)
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		floats.Scale(radius*math.Pow(rng.Float64(), 0.2)/floats.Norm(x, 2), x)
		s := floats.Dot(u[:dim], x) + u[dim]*r
		y := LabelOf(s > 0)
		if m := math.Abs(s); m >= least[y] {
			margins[y] = min(margins[y], m)
			out = append(out, Example{x, y})
		}
	}
	return out, margins
}

// untilQuiet passes over the examples until a pass makes no update, and returns
// the number of updates on each class, and of mistakes.
func untilQuiet(t *testing.T, l onlineClassifier, examples []Example) (updates map[Label]int, mistakes int) {
	t.Helper()
	updates = map[Label]int{}
	for {
		before := updates[Positive] + updates[Negative]
		for _, f := range examples {
			o, err := l.Step(f)
			if err != nil {
				t.Fatal(err)
			}
			if o.Updated {
				updates[f.Label]++
			}
			if o.Mistake {
				mistakes++
			}
		}
		if updates[Positive]+updates[Negative] == before {
			return updates, mistakes
		}
	}
}

func TestLoadClassifierErrors(t *testing.T) {
	for _, c := range classifiers {
		l, err := c.make(2)
		if err != nil {
			t.Fatal(err)
		}
		persisttest.Check(t, persisttest.Saved(l), c.load)
		for _, f := range stream(rand.New(rand.NewPCG(41, 1)), 4, 2) {
			if _, err := l.Step(f); err != nil {
				t.Fatal(err)
			}
		}
		persisttest.Check(t, persisttest.Saved(l), c.load)
	}
}
