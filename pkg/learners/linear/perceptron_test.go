package linear

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// TestPerceptronReference runs the rule as it is printed, with the bias as weight
// of a feature that is always 1.
func TestPerceptronReference(t *testing.T) {
	const dim = 5
	p, err := NewPerceptron(dim)
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, dim+1)
	updates := 0
	for i, f := range learnertest.ExampleStream(rand.New(rand.NewPCG(42, 1)), dim, 300) {
		x := append(append([]float64{}, f.X...), 1)
		y := float64(f.Label)
		score := 0.0
		for j := range x {
			score += w[j] * x[j]
		}
		o, err := p.Step(f)
		if err != nil {
			t.Fatal(err)
		}
		// Six products of numbers of order 1 to 10 are added in another order.
		if math.Abs(o.Prediction.Score-score) > 1e-12 {
			t.Fatalf("round %d: score %v, want %v", i, o.Prediction.Score, score)
		}
		wrong := (score > 0) != (f.Label == classify.Positive)
		if o.Mistake != wrong || math.Abs(o.Loss-math.Max(0, -y*score)) > 1e-12 || o.Updated != (y*score <= 0) {
			t.Errorf("round %d: %+v with score %v and label %v", i, o, score, y)
		}
		if y*score <= 0 {
			updates++
			for j := range x {
				w[j] += y * x[j]
			}
		}
	}
	if !floats.Equal(p.Weights(), w[:dim]) || p.Bias() != w[dim] {
		t.Errorf("w = %v, b = %v, want %v", p.Weights(), p.Bias(), w)
	}
	if updates < 20 {
		t.Errorf("only %d updates: the stream tests little", updates)
	}
}

// TestNovikoff: on separable examples, in however many passes, there are at most
// (R² + 1)/γ² updates.
func TestNovikoff(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 2))
	tight := 0.0
	for range 40 {
		dim, radius := 1+rng.IntN(10), 0.5+2*rng.Float64()
		least := 0.02 + 0.1*rng.Float64()
		examples, margins := separable(rng, 60, dim, radius, 1, map[classify.Label]float64{classify.Positive: least, classify.Negative: least})
		p, err := NewPerceptron(dim)
		if err != nil {
			t.Fatal(err)
		}
		updates, mistakes := untilQuiet(t, p, examples)
		gamma := min(margins[classify.Positive], margins[classify.Negative])
		bound := (radius*radius + 1) / (gamma * gamma)
		n := float64(updates[classify.Positive] + updates[classify.Negative])
		if n > bound || float64(mistakes) > n {
			t.Errorf("dim %d: %v updates, %d mistakes, bound %v", dim, n, mistakes, bound)
		}
		tight = max(tight, n/bound)
	}
	if tight < 0.02 {
		t.Errorf("at most %v of the bound: the streams are too easy to test it", tight)
	}
}

func TestTamperedPerceptron(t *testing.T) {
	p, err := NewPerceptron(2)
	if err != nil {
		t.Fatal(err)
	}
	persisttest.Tampered(t, persisttest.Saved(p), LoadPerceptron, map[string]persisttest.Edit{
		"no weights":  func(_, s map[string]any) { s["weights"] = persist.Floats{} },
		"NaN":         func(_, s map[string]any) { s["weights"] = persist.Floats{math.NaN(), 1} },
		"NaN at end":  func(_, s map[string]any) { s["weights"] = persist.Floats{1, math.NaN()} },
		"Inf":         func(_, s map[string]any) { s["weights"] = persist.Floats{1, math.Inf(-1)} },
		"bias":        func(_, s map[string]any) { s["bias"] = "x" },
		"nothing":     func(_, s map[string]any) { clear(s) },
		"parameters":  func(p, _ map[string]any) { p["eta"] = 1 },
		"other field": func(_, s map[string]any) { s["colour"] = 1 },
	})
}

func FuzzLoadPerceptron(f *testing.F) {
	p, err := NewPerceptron(2)
	if err != nil {
		f.Fatal(err)
	}
	persisttest.Fuzz(f, LoadPerceptron, func(p *Perceptron) { p.Step(classify.Example{X: make([]float64, p.Dim()), Label: classify.Positive}) }, persisttest.Saved(p))
}

func ExampleNewPerceptron() {
	p, err := NewPerceptron(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range []classify.Example{
		{X: []float64{1, 2}, Label: classify.Positive},
		{X: []float64{2, 1}, Label: classify.Negative},
		{X: []float64{0, 1}, Label: classify.Positive},
	} {
		o, err := p.Step(f)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("score %+.0f, mistake %v, step %+.0f\n", o.Prediction.Score, o.Mistake, o.StepSize)
	}
	fmt.Println("w =", p.Weights(), "b =", p.Bias())
	// Output:
	// score +0, mistake true, step +1
	// score +5, mistake true, step -1
	// score +1, mistake false, step +0
	// w = [-1 1] b = 0
}
