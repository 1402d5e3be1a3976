package itml

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
)

// worst returns the largest error of the squared distances of links that approximate gives, as a share of the largest of exact.
func worst(t testing.TB, kernel kernels.Kernel, x *mat.Dense, links []metric.Link, exact, approximate KernelResult) float64 {
	t.Helper()
	want, err := exact.Kernel(kernel, x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := approximate.Kernel(kernel, x)
	if err != nil {
		t.Fatal(err)
	}
	var largest, off float64
	for _, l := range links {
		q := want.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
		largest, off = max(largest, q), max(off, math.Abs(got.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))-q))
	}
	return off / largest
}

// With as many landmarks as the kernel has dimensions the fit is the exact one, and fewer leave out what the inverse of
// the landmarks' Gram matrix says; the error falls with their number.
func TestLandmarks(t *testing.T) {
	x, links, _, _ := linkedData(830, 60, 4, 90, 0)
	upper, lower, err := BoundParams{Low: 30, High: 70}.Of(x, links, metric.Euclidean{})
	if err != nil {
		t.Fatal(err)
	}
	for _, gamma := range gammas {
		p := KernelParams{Gamma: gamma, Upper: upper, Lower: lower, Tol: 1e-300, MaxCycles: 20}
		exact, err := FitKernelRows(context.Background(), kernels.Linear{}, x, links, p)
		if err != nil {
			t.Fatal(err)
		}
		p.Landmarks = 50
		got, err := FitKernelRows(context.Background(), kernels.Linear{}, x, links, p)
		if err != nil {
			t.Fatal(err)
		}
		const tol = 1e-9 // ε times the condition number of 4 rows
		if e := worst(t, kernels.Linear{}, x, links, exact, got); e > tol || got.Landmarks != 4 || len(got.Support) != 4 || got.Left > tol {
			t.Errorf("γ = %v: %d landmarks leave %v, distances off by %v", gamma, got.Landmarks, got.Left, e)
		}
		if math.Abs(got.Gap-exact.Gap) > tol*(1+math.Abs(exact.Gap)) || exact.Landmarks != 0 || exact.Left != 0 {
			t.Errorf("γ = %v: gap %v, exact %v", gamma, got.Gap, exact.Gap)
		}
	}
	kernel := gaussian(0.02)
	k0 := kernels.Gram(kernel, x)
	exact, err := FitKernel(context.Background(), k0, links, KernelParams{})
	if err != nil {
		t.Fatal(err)
	}
	objects, _, err := KernelParams{}.prepare(60, links)
	if err != nil {
		t.Fatal(err)
	}
	errorsOf := map[int]float64{}
	for _, m := range []int{5, 40, 1000} {
		rows, err := FitKernelRows(context.Background(), kernel, x, links, KernelParams{Landmarks: m})
		if err != nil {
			t.Fatal(err)
		}
		got, err := FitKernel(context.Background(), k0, links, KernelParams{Landmarks: m})
		if err != nil {
			t.Fatal(err)
		}
		const tol = 1e-6 // the Gram matrix of the landmarks has a condition number of up to 10⁹
		if e := worst(t, kernel, x, links, got, rows); e > tol || rows.Landmarks != got.Landmarks {
			t.Errorf("%d landmarks of rows, %d of their Gram matrix: distances differ by %v", rows.Landmarks, got.Landmarks, e)
		}
		errorsOf[m] = worst(t, kernel, x, links, exact, got)
		// tr(K − K_L K_LL⁻¹ K_Lᵀ)
		own, cross := mat.NewSymDense(len(got.Support), nil), mat.NewDense(len(got.Support), len(objects), nil)
		var trace, left float64
		for a, i := range got.Support {
			for b, j := range got.Support[:a+1] {
				own.SetSym(a, b, k0.At(i, j))
			}
			for b, j := range objects {
				cross.Set(a, b, k0.At(i, j))
			}
		}
		var part mat.Dense
		part.Mul(matrixtest.Inverse(t, own), cross)
		for b, j := range objects {
			trace += k0.At(j, j)
			left += k0.At(j, j) - mat.Dot(cross.ColView(b), part.ColView(b))
		}
		if math.Abs(got.Left-left/trace) > tol {
			t.Errorf("%d landmarks: %v of the trace is left, want %v", m, got.Left, left/trace)
		}
	}
	// Of the largest distance. By how much is a matter of the data; that more landmarks are better is not.
	if !(errorsOf[5] > 0.05 && errorsOf[40] < errorsOf[5]/2 && errorsOf[1000] < 1e-3) {
		t.Errorf("errors of distances %v", errorsOf)
	}
}

func TestLandmarksErrors(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{0, 1, 3, 4})
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 1, J: 2, Label: metric.Dissimilar}, {I: 2, J: 3, Label: metric.Similar}}
	fit := func(f kernels.Func, landmarks int) error {
		l, err := FitKernelRows(context.Background(), f, x, links, KernelParams{Upper: 0.5, Lower: 2, Landmarks: landmarks})
		if err == nil {
			_, err = l.Kernel(f, x)
		}
		return err
	}
	linear := kernels.Linear{}.Eval
	for want, err := range map[string]error{
		"itml: landmarks: -1 is not allowed":                        fit(linear, -1),
		"itml: kernel matrix: all kernel values are 0":              fit(func(_, _ []float64) float64 { return 0 }, 2),
		"itml: kernel matrix: entry (0, 0) is NaN":                  fit(func(_, _ []float64) float64 { return math.NaN() }, 2),
		"itml: kernel matrix: it is not positive semi-definite: be": fit(func(a, b []float64) float64 { return -linear(a, b) }, 2),
		"itml: kernel matrix: entry (0, 3) is +Inf": fit(func(a, b []float64) float64 {
			if a[0] != b[0] {
				return math.Inf(1)
			}
			return a[0]
		}, 2),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	swap := func(a, b []float64) float64 { // (0, 1; 1, 0) and more like it
		if a[0] == b[0] {
			return 1
		}
		return 2
	}
	if err := fit(swap, 2); !errors.Is(err, metric.ErrNotPSD) {
		t.Errorf("error %v does not wrap ErrNotPSD", err)
	}
	if err := fit(linear, 1_000_000_000); err != nil {
		t.Errorf("more landmarks than rows: error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := FitKernelRows(ctx, kernels.Linear{}, x, links, KernelParams{Upper: 0.5, Lower: 2, Landmarks: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want one of the context", err)
	}
	l, err := FitKernelRows(context.Background(), gaussian(1), x, links[:1], KernelParams{Upper: 5, Lower: 9, Landmarks: 2})
	if err != nil || l.S != nil || l.Support != nil || l.Landmarks != 2 {
		t.Errorf("nothing learned: support %v, %d landmarks, error %v", l.Support, l.Landmarks, err)
	}
}
