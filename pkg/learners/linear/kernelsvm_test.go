package linear

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/limits"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// svmObjective is the primal objective by its definition, at any coefficients of a Gram matrix.
func svmObjective(k *mat.SymDense, signed []float64, bias float64, y []classify.Label, p SVMParams) float64 {
	n := len(signed)
	var sq, losses float64
	for i := range n {
		var score float64
		for j := range n {
			score += signed[j] * k.At(i, j)
			sq += signed[i] * signed[j] * k.At(i, j)
		}
		xi := max(0, 1-float64(y[i])*(score+bias))
		if p.Loss == SquaredHinge {
			xi *= xi
		}
		losses += xi
	}
	return (sq+bias*bias/(p.BiasScale*p.BiasScale))/2 + p.C*losses
}

// svmDual is the dual objective to be maximised, by its definition.
func svmDual(k *mat.SymDense, signed []float64, p SVMParams) float64 {
	var sum, sq float64
	for i, a := range signed {
		sum += math.Abs(a)
		for j, b := range signed {
			sq += a * b * (k.At(i, j) + p.BiasScale*p.BiasScale)
		}
		if p.Loss == SquaredHinge {
			sq += a * a / (2 * p.C)
		}
	}
	return sum - sq/2
}

// With the linear kernel the classifier is that of FitSVM; with any kernel the gap is that of the two objectives.
func TestKernelSVM(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 7))
	x, y := twoClasses(rng, 60, 3)
	gaussian, err := kernels.NewGaussian(0.7)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []SVMParams{{Tol: 1e-9}, {C: 30, Tol: 1e-8}, {Loss: SquaredHinge, C: 0.1, Tol: 1e-9}, {BiasScale: 3, Tol: 1e-9}} {
		line, err := FitSVM(t.Context(), rand.New(rand.NewPCG(1, 1)), x, y, p)
		if err != nil {
			t.Fatal(err)
		}
		for name, kernel := range map[string]kernels.Kernel{"linear": kernels.Linear{}, "gaussian": gaussian} {
			k := kernels.Gram(kernel, x)
			s, err := FitKernelSVM(t.Context(), rand.New(rand.NewPCG(1, 1)), k, y, p)
			if err != nil {
				t.Fatal(err)
			}
			if s.Status != learners.Converged || s.Params() != p.Resolved() || s.Objects() != 60 {
				t.Errorf("%s, %+v: %v, gap %v", name, p, s.Status, s.Residual)
			}
			primal, dual := svmObjective(k, s.Coefficients(), s.Bias(), y, s.Params()), svmDual(k, s.Coefficients(), s.Params())
			if gap := (primal - dual) / primal; math.Abs(gap-s.Residual) > 1e-10 {
				t.Errorf("%s, %+v: gap %v, the objectives' is %v", name, p, s.Residual, gap)
			}
			if name == "gaussian" {
				continue
			}
			// The objective is strongly convex, with modulus 1: ½‖f − f*‖² ≤ gap.
			for i := range 60 {
				row := x.RawRowView(i)
				reach := 2 * math.Sqrt(2*p.Tol*primal*(mat.Dot(x.RowView(i), x.RowView(i))+s.params.BiasScale*s.params.BiasScale))
				if a, b := s.Predict(mat.Row(nil, i, k)).Score, line.Predict(row).Score; math.Abs(a-b) > reach {
					t.Errorf("%+v: row %d has score %v, in input space %v", p, i, a, b)
				}
			}
		}
	}
}

// A problem that is fitted again, with other labels in between, gives the bits of a new one.
func TestKernelSVMProblem(t *testing.T) {
	x, y := twoClasses(rand.New(rand.NewPCG(20, 8)), 30, 2)
	k := kernels.Gram(kernels.Linear{}, x)
	p, err := NewKernelSVMProblem(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if p.Objects() != 30 {
		t.Errorf("%d objects", p.Objects())
	}
	fit := func(y []classify.Label) *KernelSVM {
		s, err := p.Fit(t.Context(), rand.New(rand.NewPCG(1, 2)), y, SVMParams{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := fit(y)
	one := slices.Repeat([]classify.Label{classify.Positive}, 30)
	if s := fit(one); !s.Predict(mat.Row(nil, 0, k)).Positive {
		t.Error("one class only: it is not predicted")
	}
	k.SetSym(0, 0, math.NaN()) // the problem has a copy
	if second := fit(y); !slices.Equal(first.signed, second.signed) || first.Residual != second.Residual {
		t.Error("a second fit differs")
	}
}

// Where labels contradict each other, as those of equal objects, and where the matrix is singular, the gap closes all the same.
func TestKernelSVMOfDuplicates(t *testing.T) {
	k := mat.NewSymDense(4, []float64{
		1, 1, 0.5, 0.5,
		1, 1, 0.5, 0.5,
		0.5, 0.5, 1, 1,
		0.5, 0.5, 1, 1,
	})
	y := []classify.Label{classify.Positive, classify.Negative, classify.Positive, classify.Positive}
	for _, c := range []float64{1e-3, 1, 1e6} {
		s, err := FitKernelSVM(t.Context(), rand.New(rand.NewPCG(1, 3)), k, y, SVMParams{C: c})
		if err != nil || s.Status != learners.Converged {
			t.Errorf("C = %v: %v, %v", c, s, err)
		}
	}
}

func TestKernelSVMRefuses(t *testing.T) {
	good := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	y := []classify.Label{classify.Positive, classify.Negative}
	for _, c := range []struct {
		k    *mat.SymDense
		y    []classify.Label
		p    SVMParams
		want string
	}{
		{mat.NewSymDense(2, []float64{0, 1, 1, 0}), y, SVMParams{}, "kernel svm: gram: it is not positive semi-definite"},
		{mat.NewSymDense(2, []float64{1, math.NaN(), math.NaN(), 1}), y, SVMParams{}, "entry (1, 0) is NaN"},
		{mat.NewSymDense(2, nil), y, SVMParams{}, "all kernel values are 0"},
		{good, y[:1], SVMParams{}, "kernel svm: y: 1 numbers for 2 rows"},
		{good, []classify.Label{1, 0}, SVMParams{}, "kernel svm: "},
		{good, y, SVMParams{C: -1}, "kernel svm: c: -1 is not allowed"},
		{mat.NewSymDense(2, []float64{1e308, 0, 0, 1e308}), y, SVMParams{}, "overflow"},
	} {
		if _, err := FitKernelSVM(t.Context(), rand.New(rand.NewPCG(1, 4)), c.k, c.y, c.p); err == nil || !strings.HasPrefix(err.Error(), "kernel svm: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FitKernelSVM(ctx, rand.New(rand.NewPCG(1, 4)), good, y, SVMParams{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	limits.SetMemory(50)
	_, err := NewKernelSVMProblem(t.Context(), good)
	limits.SetMemory(0)
	var over *limits.MemoryError
	if !errors.As(err, &over) {
		t.Errorf("memory: %v", err)
	}
	s, err := FitKernelSVM(t.Context(), rand.New(rand.NewPCG(1, 4)), good, y, SVMParams{})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"nil matrix": func() { _, _ = NewKernelSVMProblem(t.Context(), nil) },
		"zero":       func() { new(KernelSVM).Bias() },
		"problem":    func() { new(KernelSVMProblem).Objects() },
		"length":     func() { s.Predict([]float64{1}) },
		"nil rng":    func() { _, _ = FitKernelSVM(t.Context(), nil, good, y, SVMParams{}) },
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

func mustKernelSVM(t testing.TB, p SVMParams) *KernelSVM {
	t.Helper()
	x, y := twoClasses(rand.New(rand.NewPCG(20, 9)), 7, 2)
	s, err := FitKernelSVM(t.Context(), rand.New(rand.NewPCG(1, 5)), kernels.Gram(kernels.Linear{}, x), y, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestKernelSVMFiles(t *testing.T) {
	for _, p := range []SVMParams{{}, {Loss: SquaredHinge, C: 3, MaxEpochs: 1}} {
		s := mustKernelSVM(t, p)
		file := persisttest.Saved(s)
		q, err := LoadKernelSVM(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(q.signed, s.signed) || q.bias != s.bias || q.params != s.params || q.Result != s.Result {
			t.Errorf("%+v: the loaded classifier differs", p)
		}
		persisttest.Check(t, file, LoadKernelSVM)
	}
}

func TestTamperedKernelSVM(t *testing.T) {
	persisttest.Tampered(t, persisttest.Saved(mustKernelSVM(t, SVMParams{})), LoadKernelSVM, map[string]persisttest.Edit{
		"c":               func(params, _ map[string]any) { params["c"] = -1 },
		"no coefficients": func(_, state map[string]any) { state["coefficients"] = persist.Floats{} },
		"NaN":             func(_, state map[string]any) { state["coefficients"] = persist.Floats{math.NaN()} },
		"too large":       func(_, state map[string]any) { state["coefficients"] = persist.Floats{-2} },
		"status":          func(_, state map[string]any) { state["status"] = "iteration cap" },
		"gap":             func(_, state map[string]any) { state["gap"] = -1 },
		"epochs":          func(_, state map[string]any) { state["epochs"] = 1001 },
	})
}

func FuzzLoadKernelSVM(f *testing.F) {
	persisttest.Fuzz(f, LoadKernelSVM, func(s *KernelSVM) { s.Predict(make([]float64, s.Objects())) }, persisttest.Saved(mustKernelSVM(f, SVMParams{})))
}

// Four objects with a kernel that no line in the plane of (x, x') has: equal signs are positive.
func ExampleFitKernelSVM() {
	k := mat.NewSymDense(4, []float64{ // (x·z + 1)² of the corners (1, 1), (−1, −1), (1, −1), (−1, 1)
		9, 1, 1, 1,
		1, 9, 1, 1,
		1, 1, 9, 1,
		1, 1, 1, 9,
	})
	y := []classify.Label{classify.Positive, classify.Positive, classify.Negative, classify.Negative}
	s, err := FitKernelSVM(context.Background(), rand.New(rand.NewPCG(1, 2)), k, y, SVMParams{C: 10, Tol: 1e-9})
	if err != nil {
		panic(err)
	}
	half := []float64{4, 0, 1, 1} // kernel values of (½, ½) and the corners
	fmt.Printf("%v, coefficients %.3f\nscore %.3f\n", s.Status, s.Coefficients(), s.Predict(half).Score)
	// Output:
	// converged, coefficients [0.125 0.125 -0.125 -0.125]
	// score 0.250
}

func ExampleNewKernelSVMProblem() {
	k := mat.NewSymDense(4, []float64{ // (x·z + 1)² of the corners (1, 1), (−1, −1), (1, −1), (−1, 1)
		9, 1, 1, 1,
		1, 9, 1, 1,
		1, 1, 9, 1,
		1, 1, 1, 9,
	})
	p, err := NewKernelSVMProblem(context.Background(), k) // once for several targets or C
	if err != nil {
		panic(err)
	}
	y := []classify.Label{classify.Positive, classify.Positive, classify.Negative, classify.Negative}
	for _, c := range []float64{0.0625, 10} {
		s, err := p.Fit(context.Background(), rand.New(rand.NewPCG(1, 2)), y, SVMParams{C: c, Tol: 1e-9})
		if err != nil {
			panic(err)
		}
		fmt.Printf("C = %v: coefficients %.4f\n", c, s.Coefficients())
	}
	// Output:
	// C = 0.0625: coefficients [0.0625 0.0625 -0.0625 -0.0625]
	// C = 10: coefficients [0.1250 0.1250 -0.1250 -0.1250]
}
