package linear

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

func mustPAUM(t testing.TB, dim int, p PAUMParams) *PAUM {
	t.Helper()
	l, err := NewPAUM(dim, p)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestPAUMReference runs the rule as it is printed.
func TestPAUMReference(t *testing.T) {
	const dim = 5
	for _, params := range []PAUMParams{
		{}, {TauPositive: 2}, {TauPositive: -0.5, TauNegative: 1, Eta: 0.5}, {TauPositive: 50, TauNegative: 1, R: 3},
	} {
		l := mustPAUM(t, dim, params)
		eta, r := params.Eta, params.R
		if eta == 0 {
			eta = 1
		}
		if r == 0 {
			r = 1
		}
		w := make([]float64, dim)
		var b float64
		quiet := 0
		for i, f := range learnertest.ExampleStream(rand.New(rand.NewPCG(43, 1)), dim, 400) {
			y, tau := float64(f.Label), params.TauNegative
			if f.Label == classify.Positive {
				tau = params.TauPositive
			}
			score := b
			for j := range w {
				score += w[j] * f.X[j]
			}
			o, err := l.Step(f)
			if err != nil {
				t.Fatal(err)
			}
			// Round-off of sums of six products of size up to 1e3.
			const tol = 1e-10
			if math.Abs(o.Prediction.Score-score) > tol || math.Abs(o.Loss-math.Max(0, tau-y*score)) > tol {
				t.Fatalf("%+v: round %d: %+v, want score %v", params, i, o, score)
			}
			if o.Updated != (y*score <= tau) || o.Updated && o.StepSize != eta*y || o.Mistake != ((score > 0) != (f.Label == classify.Positive)) {
				t.Fatalf("%+v: round %d: %+v with score %v, label %v", params, i, o, score, y)
			}
			if y*score > tau {
				quiet++
				continue
			}
			for j := range w {
				w[j] += eta * y * f.X[j]
			}
			b += eta * y * r * r
		}
		if !floats.EqualApprox(l.Weights(), w, 1e-10) || math.Abs(l.Bias()-b) > 1e-10 {
			t.Errorf("%+v: w = %v, b = %v, want %v and %v", params, l.Weights(), l.Bias(), w, b)
		}
		if quiet == 0 || quiet == 400 {
			t.Errorf("%+v: %d of 400 rounds without update", params, quiet)
		}
	}
}

// TestPAUMIsThePerceptron: with no margins, R = 1 and any η it predicts as the
// Perceptron does; with R = 4 on 4x too. Powers of two scale without round-off.
func TestPAUMIsThePerceptron(t *testing.T) {
	const dim = 7
	p, err := NewPerceptron(dim)
	if err != nil {
		t.Fatal(err)
	}
	plain, slow, wide := mustPAUM(t, dim, PAUMParams{}), mustPAUM(t, dim, PAUMParams{Eta: 0.25}), mustPAUM(t, dim, PAUMParams{R: 4})
	for i, f := range learnertest.ExampleStream(rand.New(rand.NewPCG(43, 2)), dim, 300) {
		want, err := p.Step(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := plain.Step(f)
		if err != nil || got != want {
			t.Fatalf("round %d: %+v (error %v), want %+v", i, got, err, want)
		}
		if got, err = slow.Step(f); err != nil || got.Prediction.Score != want.Prediction.Score/4 || got.Updated != want.Updated {
			t.Fatalf("η = 1/4: round %d: %+v (error %v), want the score of %+v over 4", i, got, err, want)
		}
		big := learnertest.CloneExample(f)
		floats.Scale(4, big.X)
		if got, err = wide.Step(big); err != nil || got.Prediction.Score != want.Prediction.Score*16 || got.Updated != want.Updated {
			t.Fatalf("R = 4: round %d: %+v (error %v), want the score of %+v times 16", i, got, err, want)
		}
	}
}

// TestPAUMScale: only τ/η matters to the sign of the score.
func TestPAUMScale(t *testing.T) {
	const dim = 4
	a := mustPAUM(t, dim, PAUMParams{TauPositive: 3, TauNegative: -0.5})
	b := mustPAUM(t, dim, PAUMParams{TauPositive: 3. / 8, TauNegative: -0.5 / 8, Eta: 1. / 8})
	for i, f := range learnertest.ExampleStream(rand.New(rand.NewPCG(43, 3)), dim, 300) {
		x, err := a.Step(f)
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.Step(f)
		if err != nil || x.Prediction.Score != 8*y.Prediction.Score || x.Updated != y.Updated {
			t.Fatalf("round %d: %+v and %+v, error %v", i, x, y, err)
		}
	}
}

// TestPAUMBound checks the theorem of PAUM's comment, in however many passes, with
// uneven margins of algorithm and data.
func TestPAUMBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 4))
	tight := 0.0
	for range 60 {
		dim, r := 1+rng.IntN(8), 0.5+2*rng.Float64()
		least := map[classify.Label]float64{classify.Positive: (0.05 + 0.1*rng.Float64()) * r, classify.Negative: (0.05 + 0.1*rng.Float64()) * r}
		examples, margins := separable(rng, 50, dim, r, r, least)
		p := PAUMParams{TauPositive: 4*rng.Float64() - 1, TauNegative: 2 * rng.Float64(), Eta: 0.1 + rng.Float64(), R: r}
		if rng.IntN(2) == 0 {
			p.TauPositive, p.TauNegative = p.TauNegative, p.TauPositive
		}
		updates, _ := untilQuiet(t, mustPAUM(t, dim, p), examples)
		plus, minus := float64(updates[classify.Positive]), float64(updates[classify.Negative])
		drift := 0.0 // a class without examples has no margin, and no updates
		if plus > 0 {
			drift += plus * margins[classify.Positive]
		}
		if minus > 0 {
			drift += minus * margins[classify.Negative]
		}
		size := 2*(plus+minus)*r*r + 2*(plus*p.TauPositive+minus*p.TauNegative)/p.Eta
		if drift*drift > size*(1+1e-9) { // round-off of some thousand sums
			t.Errorf("%+v: %v and %v updates: drift² %v, size %v", p, plus, minus, drift*drift, size)
		}
		gamma := min(margins[classify.Positive], margins[classify.Negative])
		if bound := 2 * (r*r + max(p.TauPositive, p.TauNegative)/p.Eta) / (gamma * gamma); plus+minus > bound {
			t.Errorf("%+v: %v updates, bound %v", p, plus+minus, bound)
		}
		tight = max(tight, drift*drift/size)
	}
	if tight < 0.1 {
		t.Errorf("at most %v of the bound: the streams are too easy to test it", tight)
	}
}

func TestPAUMErrors(t *testing.T) {
	for want, p := range map[string]PAUMParams{
		"paum: tau_positive: NaN is not allowed, want a finite number": {TauPositive: math.NaN()},
		"paum: tau_negative: -Inf is not allowed":                      {TauNegative: math.Inf(-1)},
		"paum: tau_positive, tau_negative: -1 and -2 are not allowed":  {TauPositive: -1, TauNegative: -2},
		"paum: eta: -1 is not allowed, want a finite number > 0":       {Eta: -1},
		"paum: eta: +Inf is not allowed":                               {Eta: math.Inf(1)},
		"paum: eta: NaN is not allowed":                                {Eta: math.NaN()},
		"paum: r: -1 is not allowed, want a finite number > 0":         {R: -1},
		"paum: r: 1e+200 is not allowed":                               {R: 1e200},
		"paum: r: 1e-200 is not allowed":                               {R: 1e-200},
		"paum: r: NaN is not allowed":                                  {R: math.NaN()},
	} {
		if _, err := NewPAUM(2, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", p, err, want)
		}
	}
	if got := mustPAUM(t, 1, PAUMParams{TauPositive: 2}).Params(); got != (PAUMParams{TauPositive: 2, Eta: 1, R: 1}) {
		t.Errorf("resolved %+v", got)
	}
}

func TestTamperedPAUM(t *testing.T) {
	persisttest.Tampered(t, persisttest.Saved(mustPAUM(t, 2, PAUMParams{})), LoadPAUM, map[string]persisttest.Edit{
		"eta":         func(p, _ map[string]any) { p["eta"] = -1 },
		"taus":        func(p, _ map[string]any) { p["tau_positive"], p["tau_negative"] = -1, -1 },
		"no weights":  func(_, s map[string]any) { s["weights"] = persist.Floats{} },
		"NaN":         func(_, s map[string]any) { s["weights"] = persist.Floats{1, math.NaN()} },
		"other field": func(p, _ map[string]any) { p["colour"] = 1 },
	})
}

func FuzzLoadPAUM(f *testing.F) {
	persisttest.Fuzz(f, LoadPAUM, func(p *PAUM) { p.Step(classify.Example{X: make([]float64, p.Dim()), Label: classify.Positive}) },
		persisttest.Saved(mustPAUM(f, 2, PAUMParams{TauPositive: 1})))
}

func ExamplePAUMParams_Resolved() {
	fmt.Printf("%+v\n", PAUMParams{TauPositive: 50}.Resolved())
	// Output: {TauPositive:50 TauNegative:0 Eta:1 R:1}
}

func ExampleNewPAUM() {
	// One example in four is positive; they get the larger margin.
	l, err := NewPAUM(1, PAUMParams{TauPositive: 2, TauNegative: 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	updates := map[classify.Label]int{}
	for i := range 400 {
		f := classify.Example{X: []float64{-0.5}, Label: classify.Negative}
		if i%4 == 0 {
			f = classify.Example{X: []float64{1}, Label: classify.Positive}
		}
		o, err := l.Step(f)
		if err != nil {
			fmt.Println(err)
			return
		}
		if o.Updated {
			updates[f.Label]++
		}
	}
	fmt.Println("updates:", updates[classify.Positive], "on positive examples,", updates[classify.Negative], "on negative ones")
	fmt.Printf("scores: %.2f and %.2f\n", l.Predict(classify.Example{X: []float64{1}}).Score, l.Predict(classify.Example{X: []float64{-0.5}}).Score)
	// Output:
	// updates: 2 on positive examples, 2 on negative ones
	// scores: 3.00 and -1.50
}
