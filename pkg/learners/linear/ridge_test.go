package linear

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/classify"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// ridgeTol is about ε times the condition numbers of the test's normal equations,
// up to 1e5.
const ridgeTol = 1e-10

// regression returns n rows of d features with an offset and n noisy targets.
func regression(rng *rand.Rand, n, d int) (*mat.Dense, []float64) {
	x := mat.NewDense(n, d, nil)
	x.Apply(func(_, j int, _ float64) float64 { return 3 + float64(j%3+1)*rng.NormFloat64() }, x)
	y := make([]float64, n)
	for i := range y {
		y[i] = x.At(i, 0) - x.At(i, d-1) + 5 + rng.NormFloat64()
	}
	return x, y
}

// slowRidge solves the normal equations of all d+1 unknowns, b without penalty.
func slowRidge(t testing.TB, x *mat.Dense, y []float64, lambda float64) (w []float64, b float64) {
	t.Helper()
	_, d := x.Dims()
	a, inverse := slowHat(t, x, lambda)
	var right, solution mat.VecDense
	right.MulVec(a.T(), mat.NewVecDense(len(y), y))
	solution.MulVec(inverse, &right)
	all := solution.RawVector().Data
	return all[:d], all[d]
}

// slowHat returns (X 1) and the inverse of the matrix of the normal equations.
func slowHat(t testing.TB, x *mat.Dense, lambda float64) (a, inverse *mat.Dense) {
	t.Helper()
	n, d := x.Dims()
	a = mat.NewDense(n, d+1, nil)
	a.Augment(x, mat.NewVecDense(n, slices.Repeat([]float64{1}, n)))
	var normal mat.Dense
	normal.Mul(a.T(), a)
	for j := range d {
		normal.Set(j, j, normal.At(j, j)+lambda)
	}
	inverse = new(mat.Dense)
	if err := inverse.Inverse(&normal); err != nil {
		t.Fatal(err)
	}
	return a, inverse
}

var ridgeShapes = []struct{ n, d int }{{30, 4}, {5, 4}, {6, 5}, {5, 5}, {8, 20}, {2, 3}, {2, 1}, {40, 1}}

func TestRidgeAgainstNormalEquations(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 1))
	for _, s := range ridgeShapes {
		for _, lambda := range []float64{0.01, 1, 50} {
			x, y := regression(rng, s.n, s.d)
			before := mat.DenseCopyOf(x)
			r, err := FitRidge(t.Context(), x, y, RidgeParams{Strength: lambda})
			if err != nil {
				t.Fatal(err)
			}
			w, b := slowRidge(t, x, y, lambda)
			if !floats.EqualApprox(r.Weights(), w, ridgeTol) || math.Abs(r.Bias()-b) > ridgeTol*10 || r.Strength() != lambda || r.Dim() != s.d {
				t.Errorf("%+v, λ = %v: %v and %v, want %v and %v", s, lambda, r.Weights(), r.Bias(), w, b)
			}
			if !mat.Equal(x, before) {
				t.Errorf("%+v: the rows have changed", s)
			}
		}
	}
}

// TestGCVAgainstDefinition compares V with the hat matrix written out, and the
// choice with its least.
func TestGCVAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(82, 1))
	inside := 0
	for _, s := range ridgeShapes {
		x, y := regression(rng, s.n, s.d)
		r, err := FitRidge(t.Context(), x, y, RidgeParams{Grid: []float64{1, 0.01, 10, 0.1, 1000, 1}})
		if err != nil {
			t.Fatal(err)
		}
		strengths, gcv := r.Path()
		if !slices.Equal(strengths, []float64{1000, 10, 1, 0.1, 0.01}) {
			t.Fatalf("strengths %v", strengths)
		}
		n := float64(s.n)
		best := 0
		for k, lambda := range strengths {
			a, inverse := slowHat(t, x, lambda)
			var hat mat.Dense
			hat.Product(a, inverse, a.T())
			w, b := slowRidge(t, x, y, lambda)
			var rss float64
			for i := range y {
				e := y[i] - floats.Dot(w, x.RawRowView(i)) - b
				rss += e * e
			}
			free := n - mat.Trace(&hat)
			// The reference subtracts numbers near n: it has about n·κ·ε/free of relative error.
			if want := n * rss / (free * free); math.Abs(gcv[k]-want) > 1e-6*want {
				t.Errorf("%+v, λ = %v: V = %v, want %v", s, lambda, gcv[k], want)
			}
			if gcv[k] < gcv[best] {
				best = k
			}
		}
		if r.Strength() != strengths[best] {
			t.Errorf("%+v: strength %v, want %v", s, r.Strength(), strengths[best])
		}
		if best > 0 && best < len(strengths)-1 {
			inside++
		}
		w, b := slowRidge(t, x, y, r.Strength())
		if !floats.EqualApprox(r.Weights(), w, ridgeTol) || math.Abs(r.Bias()-b) > 10*ridgeTol {
			t.Errorf("%+v: the weights are not those of the chosen strength", s)
		}
	}
	if inside == 0 {
		t.Error("every choice is an end of the grid")
	}
}

// TestGCVIsLeaveOneOut: on the corners of a cube all leverages are equal, and V
// is the mean squared error of predicting each row from the others, fitted anew.
func TestGCVIsLeaveOneOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(83, 1))
	const d, n = 3, 8
	x := mat.NewDense(n, d, nil)
	x.Apply(func(i, j int, _ float64) float64 { return float64(2*(i>>j&1) - 1) }, x)
	y := make([]float64, n)
	for i := range y {
		y[i] = x.At(i, 0) + rng.NormFloat64()
	}
	for _, lambda := range []float64{0.1, 1, 10} {
		r, err := FitRidge(t.Context(), x, y, RidgeParams{Strength: lambda})
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for out := range n {
			rest := mat.NewDense(n-1, d, nil)
			var targets []float64
			for i := range n {
				if i != out {
					rest.SetRow(len(targets), x.RawRowView(i))
					targets = append(targets, y[i])
				}
			}
			one, err := FitRidge(t.Context(), rest, targets, RidgeParams{Strength: lambda})
			if err != nil {
				t.Fatal(err)
			}
			e := y[out] - one.Predict(x.RawRowView(out)).Score
			sum += e * e / n
		}
		if _, gcv := r.Path(); math.Abs(gcv[0]-sum) > ridgeTol*sum {
			t.Errorf("λ = %v: V = %v, leaving one out gives %v", lambda, gcv[0], sum)
		}
	}
}

// TestRidgeDegenerate: a constant feature, constant targets, equal rows and a
// single row.
func TestRidgeDegenerate(t *testing.T) {
	rng := rand.New(rand.NewPCG(84, 1))
	x, y := regression(rng, 12, 4)
	without := mat.DenseCopyOf(x.Slice(0, 12, 1, 4))
	for i := range 12 {
		x.Set(i, 0, 0.1) // no binary fraction
	}
	full, err := FitRidge(t.Context(), x, y, RidgeParams{})
	if err != nil {
		t.Fatal(err)
	}
	less, err := FitRidge(t.Context(), without, y, RidgeParams{})
	if err != nil {
		t.Fatal(err)
	}
	if w := full.Weights(); w[0] != 0 || !slices.Equal(w[1:], less.Weights()) || full.Strength() != less.Strength() {
		t.Errorf("a constant feature changes the weights: %v and %v", w, less.Weights())
	}
	for name, c := range map[string]struct {
		x *mat.Dense
		y []float64
	}{
		"constant targets": {without, slices.Repeat([]float64{0.1}, 12)},
		"equal rows":       {mat.NewDense(3, 2, []float64{1, 0.1, 1, 0.1, 1, 0.1}), []float64{1, 2, -1}},
		"one row":          {mat.NewDense(1, 2, []float64{1, 2}), []float64{7}},
	} {
		r, err := FitRidge(t.Context(), c.x, c.y, RidgeParams{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if mean := floats.Sum(c.y) / float64(len(c.y)); floats.Norm(r.Weights(), math.Inf(1)) != 0 || math.Abs(r.Bias()-mean) > 1e-15 {
			t.Errorf("%s: weights %v and bias %v", name, r.Weights(), r.Bias())
		}
		if strengths, _ := r.Path(); len(strengths) != 25 {
			t.Errorf("%s: %d strengths", name, len(strengths))
		}
	}
}

// TestRidgeScales: features in other units, with the default grid, give the same
// predictions.
func TestRidgeScales(t *testing.T) {
	rng := rand.New(rand.NewPCG(85, 1))
	for _, s := range ridgeShapes {
		x, y := regression(rng, s.n, s.d)
		a, err := FitRidge(t.Context(), x, y, RidgeParams{})
		if err != nil {
			t.Fatal(err)
		}
		wide := mat.NewDense(s.n, s.d, nil)
		wide.Scale(1024, x)
		b, err := FitRidge(t.Context(), wide, y, RidgeParams{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range y {
			p, q := a.Predict(x.RawRowView(i)).Score, b.Predict(wide.RawRowView(i)).Score
			if math.Abs(p-q) > 1e-9*(1+math.Abs(p)) {
				t.Errorf("%+v: row %d is predicted %v and %v", s, i, p, q)
			}
		}
	}
}

func TestRidgeClassifies(t *testing.T) {
	rng := rand.New(rand.NewPCG(86, 1))
	const n = 200
	x, _ := regression(rng, n, 6)
	labels := make([]classify.Label, n)
	for i := range labels {
		labels[i] = classify.LabelOf(x.At(i, 2) > 3)
	}
	y, err := classify.Targets(labels)
	if err != nil {
		t.Fatal(err)
	}
	r, err := FitRidge(t.Context(), x, y, RidgeParams{})
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, l := range r.Classify(x) {
		if l != classify.LabelOf(r.Predict(x.RawRowView(i)).Score > 0) {
			t.Errorf("row %d: label %v against its score", i, l)
		}
		if l != labels[i] {
			wrong++
		}
	}
	if got := r.Errors(x, labels); got != wrong || got > n/10 {
		t.Errorf("%d errors, counted %d, of %d", got, wrong, n)
	}
	if _, err := classify.Targets([]classify.Label{1, 0}); err == nil || !strings.Contains(err.Error(), "label 1: 0 is not allowed") {
		t.Errorf("label 0: %v", err)
	}
}

func TestRidgeErrors(t *testing.T) {
	x, y := regression(rand.New(rand.NewPCG(87, 1)), 4, 2)
	with := func(v float64) *mat.Dense {
		z := mat.DenseCopyOf(x)
		z.Set(1, 1, v)
		return z
	}
	for _, c := range []struct {
		x    *mat.Dense
		y    []float64
		p    RidgeParams
		want string
	}{
		{x, y, RidgeParams{Strength: -1}, "ridge: strength: -1 is not allowed"},
		{x, y, RidgeParams{Strength: math.NaN()}, "strength: NaN is not allowed"},
		{x, y, RidgeParams{Strength: 1, Grid: []float64{1}}, "grid: is not allowed beside a strength"},
		{x, y, RidgeParams{Grid: []float64{1, 0}}, "grid[1]: 0 is not allowed"},
		{x, y[:3], RidgeParams{}, "y: 3 numbers for 4 rows"},
		{x, []float64{1, 2, math.Inf(1), 0}, RidgeParams{}, "y[2]: +Inf is not allowed"},
		{x, []float64{1, 2, 1e200, 0}, RidgeParams{}, "y: sums of squares overflow"},
		{with(math.NaN()), y, RidgeParams{}, "x: row 1, column 1: NaN is not allowed"},
		{with(1e160), y, RidgeParams{}, "x: row 1: sums of squares overflow"},
		{new(mat.Dense), nil, RidgeParams{}, "x: no rows"},
	} {
		if _, err := FitRidge(t.Context(), c.x, c.y, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.p, err, c.want)
		}
	}
	r := mustRidge(t, RidgeParams{})
	for name, f := range map[string]func(){
		"a vector of another length": func() { r.Predict([]float64{1}) },
		"other columns":              func() { r.Classify(mat.NewDense(2, 3, nil)) },
		"too few labels":             func() { r.Errors(x, make([]classify.Label, 3)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// mustRidge fits two features with the given parameters.
func mustRidge(t testing.TB, p RidgeParams) *Ridge {
	t.Helper()
	x, y := regression(rand.New(rand.NewPCG(88, 1)), 9, 2)
	r, err := FitRidge(t.Context(), x, y, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRidgeFiles(t *testing.T) {
	for _, p := range []RidgeParams{{}, {Strength: 2}, {Grid: []float64{0.5, 8, 2}}} {
		r := mustRidge(t, p)
		file := persisttest.Saved(r)
		q, err := LoadRidge(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		rs, rv := r.Path()
		qs, qv := q.Path()
		if !slices.Equal(q.Weights(), r.Weights()) || q.Bias() != r.Bias() || q.Strength() != r.Strength() || !slices.Equal(rs, qs) || !slices.Equal(rv, qv) || fmt.Sprint(q.Params()) != fmt.Sprint(r.Params()) {
			t.Errorf("%+v: the loaded classifier differs", p)
		}
		persisttest.Check(t, file, LoadRidge)
	}
}

func TestTamperedRidge(t *testing.T) {
	persisttest.Tampered(t, persisttest.Saved(mustRidge(t, RidgeParams{Grid: []float64{1, 2}})), LoadRidge, map[string]persisttest.Edit{
		"no weights":            func(_, state map[string]any) { state["weights"] = persist.Floats{} },
		"NaN":                   func(_, state map[string]any) { state["weights"] = persist.Floats{1, math.NaN()} },
		"strengths of another":  func(_, state map[string]any) { state["strengths"] = persist.Floats{3, 1} },
		"no strengths":          func(_, state map[string]any) { state["strengths"], state["gcv"] = persist.Floats{}, persist.Floats{} },
		"V without strengths":   func(_, state map[string]any) { state["gcv"] = persist.Floats{1} },
		"V negative":            func(_, state map[string]any) { state["gcv"] = persist.Floats{1, -1} },
		"another grid":          func(params, _ map[string]any) { params["grid"] = []float64{1, 3} },
		"a strength and a grid": func(params, _ map[string]any) { params["strength"] = 1.0 },
		"strength negative":     func(params, _ map[string]any) { params["strength"], params["grid"] = -1.0, nil },
	})
	persisttest.Tampered(t, persisttest.Saved(mustRidge(t, RidgeParams{})), LoadRidge, map[string]persisttest.Edit{
		"ascending": func(_, state map[string]any) {
			state["strengths"], state["gcv"] = persist.Floats{1, 2}, persist.Floats{1, 1}
		},
		"zero": func(_, state map[string]any) {
			state["strengths"], state["gcv"] = persist.Floats{1, 0}, persist.Floats{1, 1}
		},
		"none": func(_, state map[string]any) { state["strengths"], state["gcv"] = persist.Floats{}, persist.Floats{} },
	})
}

func FuzzLoadRidge(f *testing.F) {
	persisttest.Fuzz(f, LoadRidge, func(r *Ridge) { r.Predict(make([]float64, r.Dim())) },
		persisttest.Saved(mustRidge(f, RidgeParams{})), persisttest.Saved(mustRidge(f, RidgeParams{Strength: 1})))
}

func ExampleFitRidge() {
	x := mat.NewDense(4, 1, []float64{0, 1, 2, 3})
	y := []float64{1, 3, 5, 7} // 1 + 2x
	r, err := FitRidge(context.Background(), x, y, RidgeParams{Strength: 5})
	if err != nil {
		panic(err)
	}
	fmt.Printf("w = %.2f, b = %.2f\n", r.Weights()[0], r.Bias())
	// Output: w = 1.00, b = 2.50
}
