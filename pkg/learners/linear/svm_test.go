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

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// twoClasses returns n rows of d features whose first and last tell the class,
// with some labels wrong.
func twoClasses(rng *rand.Rand, n, d int) (*mat.Dense, []classify.Label) {
	x := mat.NewDense(n, d, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return 0.3 + rng.NormFloat64() }, x)
	y := make([]classify.Label, n)
	for i := range y {
		y[i] = classify.LabelOf(x.At(i, 0)+x.At(i, d-1)+0.5*rng.NormFloat64() > 0.5)
	}
	return x, y
}

// objective is the primal one from its definition.
func objective(x *mat.Dense, y []classify.Label, p SVMParams, w []float64, b float64) float64 {
	sum := floats.Dot(w, w)/2 + b*b/p.BiasScale/p.BiasScale/2
	for i, l := range y {
		xi := math.Max(0, 1-float64(l)*(floats.Dot(w, x.RawRowView(i))+b))
		if p.Loss == SquaredHinge {
			xi *= xi
		}
		sum += p.C * xi
	}
	return sum
}

// slowSVM tries every way in which multipliers can be 0, C or between, solves for
// those between, and returns the solution that satisfies the conditions of
// Karush, Kuhn and Tucker.
func slowSVM(t *testing.T, x *mat.Dense, y []classify.Label, p SVMParams) (w []float64, b float64) {
	t.Helper()
	n, d := x.Dims()
	rows := mat.NewDense(n, d+1, nil) // yᵢx̃ᵢ
	for i := range n {
		for j := range d {
			rows.Set(i, j, float64(y[i])*x.At(i, j))
		}
		rows.Set(i, d, float64(y[i])*p.BiasScale)
	}
	var q mat.Dense
	q.Mul(rows, rows.T())
	states := 3
	if p.Loss == SquaredHinge {
		states = 2
		for i := range n {
			q.Set(i, i, q.At(i, i)+1/(2*p.C))
		}
	}
	const slack = 1e-9 // of the conditions: round-off of systems of up to 6 unknowns
	for code := range int(math.Pow(float64(states), float64(n))) {
		alpha := make([]float64, n)
		state := make([]int, n)
		var free []int
		for i := range n {
			state[i] = code % states
			code /= states
			switch state[i] {
			case 1:
				free = append(free, i)
			case 2:
				alpha[i] = p.C
			}
		}
		gradient := func(i int) float64 {
			return floats.Dot(q.RawRowView(i), alpha) - 1
		}
		if len(free) > 0 {
			a := mat.NewDense(len(free), len(free), nil)
			right := mat.NewVecDense(len(free), nil)
			for r, i := range free {
				right.SetVec(r, -gradient(i))
				for c, j := range free {
					a.Set(r, c, q.At(i, j))
				}
			}
			var solution mat.VecDense
			if err := solution.SolveVec(a, right); err != nil {
				continue
			}
			for r, i := range free {
				alpha[i] = solution.AtVec(r)
			}
		}
		ok := true
		for i := range n {
			g := gradient(i)
			switch state[i] {
			case 0:
				ok = ok && g >= -slack
			case 1:
				ok = ok && alpha[i] >= -slack && (p.Loss == SquaredHinge || alpha[i] <= p.C+slack)
			case 2:
				ok = ok && g <= slack
			}
		}
		if ok {
			var sum mat.VecDense
			sum.MulVec(rows.T(), mat.NewVecDense(n, alpha))
			all := sum.RawVector().Data
			return all[:d], all[d] * p.BiasScale
		}
	}
	t.Fatal("reference: no solution")
	return nil, 0
}

var svmCases = []SVMParams{{}, {Loss: SquaredHinge}, {C: 0.05, BiasScale: 3}, {C: 20}, {C: 20, Loss: SquaredHinge, BiasScale: 0.5}}

func TestSVMAgainstKKT(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 1))
	for _, p := range svmCases {
		p.Tol, p.MaxEpochs = 1e-12, 100000
		p = p.Resolved()
		for trial := range 8 {
			d := 1 + trial%3
			x, y := twoClasses(rng, 6, d)
			r, err := FitSVM(t.Context(), rng, x, y, p)
			if err != nil {
				t.Fatal(err)
			}
			w, b := slowSVM(t, x, y, p)
			// By strong convexity the distance to the solution is at most √(2·gap).
			tol := math.Sqrt(2*p.Tol*objective(x, y, p, w, b)) + 1e-9
			if !floats.EqualApprox(r.Weights(), w, tol) || math.Abs(r.Bias()-b) > tol*p.BiasScale {
				t.Errorf("%+v: w = %v and b = %v, want %v and %v", p, r.Weights(), r.Bias(), w, b)
			}
			if r.Status != learners.Converged {
				t.Errorf("%+v: %v after %d epochs, gap %g", p, r.Status, r.Iterations, r.Residual)
			}
		}
	}
}

// TestSVMGap: w is that of the multipliers, which are feasible, and the gap is
// primal minus dual, small enough; the solutions of two orders are as near to
// each other as their gaps promise.
func TestSVMGap(t *testing.T) {
	rng := rand.New(rand.NewPCG(92, 1))
	for _, p := range svmCases {
		p = p.Resolved()
		for _, s := range []struct{ n, d int }{{200, 5}, {30, 60}} {
			x, y := twoClasses(rng, s.n, s.d)
			before := mat.DenseCopyOf(x)
			var last []float64
			for seed := range uint64(2) {
				r, err := FitSVM(t.Context(), rand.New(rand.NewPCG(92, seed)), x, y, p)
				if err != nil {
					t.Fatal(err)
				}
				w := make([]float64, s.d)
				var b, dual float64
				for i, a := range r.Multipliers() {
					if !(a >= 0) || p.Loss == Hinge && a > p.C {
						t.Fatalf("%+v: multiplier %v", p, a)
					}
					floats.AddScaled(w, a*float64(y[i]), x.RawRowView(i))
					b += a * float64(y[i]) * p.BiasScale * p.BiasScale
					dual += a
					if p.Loss == SquaredHinge {
						dual -= a * a / (4 * p.C)
					}
				}
				dual -= floats.Dot(w, w)/2 + b*b/p.BiasScale/p.BiasScale/2
				primal := objective(x, y, p, r.Weights(), r.Bias())
				const roundOff = 1e-10
				if !floats.EqualApprox(w, r.Weights(), roundOff) || math.Abs(b-r.Bias()) > roundOff {
					t.Errorf("%+v: w is not the sum over the multipliers", p)
				}
				if want := (primal - dual) / primal; math.Abs(r.Residual-want) > roundOff || r.Residual > p.Tol || r.Status != learners.Converged {
					t.Errorf("%+v: gap %g, want %g, at most %g; %v", p, r.Residual, want, p.Tol, r.Status)
				}
				if seed == 1 {
					if apart := floats.Distance(last, r.Weights(), 2); apart > 2*math.Sqrt(2*p.Tol*primal) {
						t.Errorf("%+v: two orders give weights %g apart", p, apart)
					}
				}
				last = r.Weights()
			}
			if !mat.Equal(x, before) {
				t.Errorf("%+v: the rows have changed", p)
			}
		}
	}
}

// TestSVMSubspaceStep: from any feasible multipliers the step lowers the dual,
// stays feasible and keeps w current; inside the bounds it solves for them.
func TestSVMSubspaceStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(97, 1))
	for _, p := range svmCases {
		p = p.Resolved()
		for trial := range 20 {
			x, y := twoClasses(rng, 30, 1+trial)
			s, err := newSVMSolver(t.Context(), x, y, p)
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.alpha {
				s.alpha[i] = p.C * max(0, min(1.5*rng.Float64()-0.25, 1))
				if p.Loss == SquaredHinge && trial%2 == 0 {
					s.alpha[i] *= 10 // beyond the solution: the step goes down
				}
			}
			s.refresh()
			dual := func() float64 {
				return floats.Dot(s.w, s.w)/2 + s.ridge/2*floats.Dot(s.alpha, s.alpha) - floats.Sum(s.alpha)
			}
			before, free := dual(), s.free()
			kept := slices.Clone(s.alpha)
			s.subspace(free)
			if after := dual(); !(after < before) {
				t.Fatalf("%+v: the dual goes from %v to %v", p, before, after)
			}
			for i, a := range s.alpha {
				if !(a >= 0 && a <= s.upper) || a != kept[i] && !slices.Contains(free, i) {
					t.Fatalf("%+v: multiplier %d goes from %v to %v", p, i, kept[i], a)
				}
			}
			w := slices.Clone(s.w)
			s.refresh()
			if !floats.EqualApprox(w, s.w, 1e-9) {
				t.Fatalf("%+v: w is not current", p)
			}
		}
	}
	// One row with room: the step ends where its gradient is 0.
	s, err := newSVMSolver(t.Context(), mat.NewDense(1, 1, []float64{2}), []classify.Label{classify.Positive}, SVMParams{}.Resolved())
	if err != nil {
		t.Fatal(err)
	}
	s.alpha[0] = 0.5
	s.refresh()
	s.subspace(s.free())
	if want := 1.0 / 5; math.Abs(s.alpha[0]-want) > 1e-9 {
		t.Errorf("multiplier %v, want %v", s.alpha[0], want)
	}
}

func TestShiftedSolve(t *testing.T) {
	rng := rand.New(rand.NewPCG(98, 1))
	for _, s := range []struct{ n, d int }{{3, 8}, {5, 5}, {12, 4}, {1, 1}} {
		for _, shift := range []float64{1e-3, 1, 50} {
			rows, _ := twoClasses(rng, s.n, s.d)
			v := mat.NewVecDense(s.n, nil)
			for i := range s.n {
				v.SetVec(i, rng.NormFloat64())
			}
			got, ok := shiftedSolve(rows, shift, v)
			if !ok {
				t.Fatalf("%+v: no solution", s)
			}
			var back, inner mat.VecDense
			inner.MulVec(rows.T(), got)
			back.MulVec(rows, &inner)
			back.AddScaledVec(&back, shift, got)
			if !mat.EqualApprox(&back, v, 1e-9) { // ε times the condition, up to 1e5
				t.Errorf("%+v, shift %v: residual beyond round-off", s, shift)
			}
		}
	}
}

// TestSVMSubspaceRidge: for equal rows of both classes w stays 0, and only D
// holds the multipliers, at 1/D = 2C.
func TestSVMSubspaceRidge(t *testing.T) {
	s, err := newSVMSolver(t.Context(), mat.NewDense(2, 1, []float64{1, 1}), []classify.Label{classify.Positive, classify.Negative}, SVMParams{Loss: SquaredHinge, C: 3}.Resolved())
	if err != nil {
		t.Fatal(err)
	}
	s.alpha[0], s.alpha[1] = 100, 100
	s.refresh()
	s.subspace(s.free())
	if !floats.EqualApprox(s.alpha, []float64{6, 6}, 1e-6) { // the shift is 1e-10 of the largest entry, twelve times D
		t.Errorf("multipliers %v, want 6 and 6", s.alpha)
	}
}

// TestSVMStatus: the cap, one class, repeated rows, and a tolerance beyond
// round-off.
func TestSVMStatus(t *testing.T) {
	rng := rand.New(rand.NewPCG(93, 1))
	x, y := twoClasses(rng, 60, 4)
	short, err := FitSVM(t.Context(), rng, x, y, SVMParams{C: 1000, MaxEpochs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if short.Status != learners.IterationCap || short.Iterations != 2 || !(short.Residual > 1e-4) {
		t.Errorf("two epochs: %v, %d, gap %g", short.Status, short.Iterations, short.Residual)
	}
	one, err := FitSVM(t.Context(), rng, x, slices.Repeat([]classify.Label{classify.Negative}, 60), SVMParams{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(one.Classify(x), classify.Positive) || one.Status != learners.Converged {
		t.Errorf("one class: %v, %v", one.Classify(x), one.Status)
	}
	same, err := FitSVM(t.Context(), rng, mat.NewDense(4, 2, slices.Repeat([]float64{1, 2}, 4)), []classify.Label{1, -1, 1, -1}, SVMParams{})
	if err != nil {
		t.Fatal(err)
	}
	// Rows that cannot be told apart: w = 0 is optimal, with all the loss there is.
	if got, want := objective(mat.NewDense(4, 2, slices.Repeat([]float64{1, 2}, 4)), []classify.Label{1, -1, 1, -1}, SVMParams{}.Resolved(), same.Weights(), same.Bias()), 4.0; math.Abs(got-want) > 4e-4 {
		t.Errorf("equal rows of two classes: objective %v, want %v", got, want)
	}
	tight, err := FitSVM(t.Context(), rng, x, y, SVMParams{Tol: 1e-300, MaxEpochs: 20000, Loss: SquaredHinge})
	if err != nil {
		t.Fatal(err)
	}
	if tight.Status == learners.Converged || tight.Residual > 1e-13 {
		t.Errorf("tolerance 1e-300: %v, gap %g", tight.Status, tight.Residual)
	}
}

func TestSVMIsReproducible(t *testing.T) {
	x, y := twoClasses(rand.New(rand.NewPCG(94, 1)), 80, 6)
	fit := func() *SVM {
		r, err := FitSVM(t.Context(), rand.New(rand.NewPCG(94, 2)), x, y, SVMParams{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := fit(), fit()
	if !slices.Equal(a.Weights(), b.Weights()) || a.Bias() != b.Bias() || !slices.Equal(a.Multipliers(), b.Multipliers()) || a.Iterations != b.Iterations {
		t.Error("two runs differ")
	}
}

func TestSVMErrors(t *testing.T) {
	x, y := twoClasses(rand.New(rand.NewPCG(95, 1)), 4, 2)
	with := func(v float64) *mat.Dense {
		z := mat.DenseCopyOf(x)
		z.Set(1, 1, v)
		return z
	}
	for _, c := range []struct {
		x    *mat.Dense
		y    []classify.Label
		p    SVMParams
		want string
	}{
		{x, y, SVMParams{Loss: 2}, "loss: 2 is not allowed, want 0 to 1"},
		{x, y, SVMParams{C: -1}, "c: -1 is not allowed"},
		{x, y, SVMParams{C: math.Inf(1)}, "c: +Inf is not allowed"},
		{x, y, SVMParams{C: 1e-310}, "c: 1e-310 is not allowed"},
		{x, y, SVMParams{BiasScale: -2}, "bias_scale: -2 is not allowed"},
		{x, y, SVMParams{BiasScale: 1e200}, "bias_scale: 1e+200 is not allowed"},
		{x, y, SVMParams{Tol: 1}, "tol: 1 is not allowed"},
		{x, y, SVMParams{Tol: math.NaN()}, "tol: NaN is not allowed"},
		{x, y, SVMParams{MaxEpochs: -1}, "max_epochs: -1 is not allowed"},
		{x, y[:2], SVMParams{}, "y: 2 numbers for 4 rows"},
		{x, []classify.Label{1, 1, 0, 1}, SVMParams{}, "label 2: 0 is not allowed"},
		{with(math.NaN()), y, SVMParams{}, "x: row 1, column 1: NaN is not allowed"},
		{with(1e160), y, SVMParams{}, "sums of squares overflow"},
		{new(mat.Dense), nil, SVMParams{}, "x: no rows"},
	} {
		rng := rand.New(rand.NewPCG(1, 1))
		if _, err := FitSVM(t.Context(), rng, c.x, c.y, c.p); err == nil || !strings.HasPrefix(err.Error(), "svm: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.p, err, c.want)
		}
		if _, err := FitRFE(t.Context(), rng, c.x, c.y, RFEParams{SVM: c.p}); err == nil || !strings.HasPrefix(err.Error(), "rfe: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.p, err, c.want)
		}
	}
	for want, got := range map[string]fmt.Stringer{"hinge": Hinge, "squared hinge": SquaredHinge, "unknown loss 7": SVMLoss(7)} {
		if got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func mustSVM(t testing.TB, p SVMParams) *SVM {
	t.Helper()
	x, y := twoClasses(rand.New(rand.NewPCG(96, 1)), 7, 2)
	r, err := FitSVM(t.Context(), rand.New(rand.NewPCG(96, 2)), x, y, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSVMFiles(t *testing.T) {
	for _, p := range []SVMParams{{}, {Loss: SquaredHinge, C: 3, MaxEpochs: 1}} {
		r := mustSVM(t, p)
		file := persisttest.Saved(r)
		q, err := LoadSVM(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(q.Weights(), r.Weights()) || q.Bias() != r.Bias() || !slices.Equal(q.Multipliers(), r.Multipliers()) ||
			q.Params() != r.Params() || q.Status != r.Status || q.Iterations != r.Iterations || q.Residual != r.Residual {
			t.Errorf("%+v: the loaded classifier differs", p)
		}
		persisttest.Check(t, file, LoadSVM)
	}
}

func TestTamperedSVM(t *testing.T) {
	persisttest.Tampered(t, persisttest.Saved(mustSVM(t, SVMParams{})), LoadSVM, map[string]persisttest.Edit{
		"c":              func(params, _ map[string]any) { params["c"] = -1 },
		"no weights":     func(_, state map[string]any) { state["weights"] = persist.Floats{} },
		"NaN":            func(_, state map[string]any) { state["weights"] = persist.Floats{1, math.NaN()} },
		"no multipliers": func(_, state map[string]any) { state["alpha"] = persist.Floats{} },
		"multiplier":     func(_, state map[string]any) { state["alpha"] = persist.Floats{2} },
		"status":         func(_, state map[string]any) { state["status"] = "iteration cap" },
		"no status":      func(_, state map[string]any) { state["status"], state["gap"] = "not run", 0.5 },
		"gap":            func(_, state map[string]any) { state["gap"] = -1 },
		"epochs":         func(_, state map[string]any) { state["epochs"] = 1001 },
	})
}

func FuzzLoadSVM(f *testing.F) {
	persisttest.Fuzz(f, LoadSVM, func(s *SVM) { s.Predict(make([]float64, s.Dim())) }, persisttest.Saved(mustSVM(f, SVMParams{})))
}

func ExampleFitSVM() {
	x := mat.NewDense(4, 2, []float64{1, 1, 2, 3, -1, -1, -3, -2})
	y := []classify.Label{classify.Positive, classify.Positive, classify.Negative, classify.Negative}
	s, err := FitSVM(context.Background(), rand.New(rand.NewPCG(1, 2)), x, y, SVMParams{C: 10, Tol: 1e-6})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Classify(x), s.Status)
	for i, a := range s.Multipliers() {
		if a > 0 {
			fmt.Printf("row %d is a support vector, with y·score = %.2f\n", i, float64(y[i])*s.Predict(x.RawRowView(i)).Score)
		}
	}
	// Output:
	// [positive positive negative negative] converged
	// row 0 is a support vector, with y·score = 1.00
	// row 2 is a support vector, with y·score = 1.00
}

func ExampleSVMParams_Resolved() {
	fmt.Printf("%+v\n", SVMParams{C: 10}.Resolved())
	// Output: {Loss:hinge C:10 BiasScale:1 Tol:0.0001 MaxEpochs:1000}
}
