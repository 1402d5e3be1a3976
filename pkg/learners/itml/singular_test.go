package itml

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/pkg/metric"
)

// singularTol bounds relative differences of distances between two fits to tightTol.
const singularTol = 1e-6

// ofRank returns a random positive semi-definite matrix of a rank.
func ofRank(rng *rand.Rand, d, r int) *mat.SymDense {
	g := mat.NewDense(r, d, nil)
	for i := range r {
		for j := range d {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var w mat.SymDense
	w.SymOuterK(1, g.T())
	return &w
}

func singularProblem(rng *rand.Rand, n, d int) (*mat.Dense, []metric.Link) {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	var links []metric.Link
	for i := range n {
		j := (i + 1 + rng.IntN(n-1)) % n
		links = append(links, metric.Link{I: i, J: j, Label: metric.SameClass(i%2 == j%2)})
	}
	return x, links
}

// The kernel fit knows K₀ = XW₀Xᵀ alone, singular or not; both learn the same distances.
func TestSingularIsTheKernelFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(171, 1))
	for _, c := range []struct{ d, r int }{{4, 1}, {4, 2}, {6, 5}, {5, 5}} {
		x, links := singularProblem(rng, 14, c.d)
		w0 := ofRank(rng, c.d, c.r)
		var y mat.Dense
		y.Mul(x, w0)
		var k0 mat.Dense
		k0.Mul(&y, x.T())
		gram := mat.NewSymDense(14, nil)
		for i := range 14 {
			for j := range i + 1 {
				gram.SetSym(i, j, (k0.At(i, j)+k0.At(j, i))/2)
			}
		}
		p := Params{Gamma: 2, Upper: 1, Lower: 6, Tol: tightTol, MaxCycles: 100000}
		want := must(FitKernel(context.Background(), gram, links, KernelParams{Gamma: p.Gamma, Upper: p.Upper, Lower: p.Lower, Tol: p.Tol, MaxCycles: p.MaxCycles}))
		p.W0 = w0
		got := must(FitSingular(context.Background(), x, links, p))
		if got.Metric.Rows() != c.r || got.Metric.Dim() != c.d {
			t.Errorf("rank %d of %d: the metric has %d rows and dimension %d", c.r, c.d, got.Metric.Rows(), got.Metric.Dim())
		}
		k := want.All(gram)
		for i := range 14 {
			for j := range i {
				a, b := got.Metric.SqDist(x.RawRowView(i), x.RawRowView(j)), k.At(i, i)-2*k.At(i, j)+k.At(j, j)
				if math.Abs(a-b) > singularTol*(1+b) {
					t.Errorf("rank %d of %d: squared distance %d, %d is %g, of the kernel fit %g", c.r, c.d, i, j, a, b)
				}
			}
		}
	}
}

// With a definite W₀ it is Fit; a direction outside of the range stays without length, and a
// link along it is skipped.
func TestSingularRange(t *testing.T) {
	rng := rand.New(rand.NewPCG(172, 1))
	x, links := singularProblem(rng, 12, 3)
	p := Params{Gamma: 1, Upper: 1, Lower: 5, Tol: tightTol, MaxCycles: 100000, W0: matrixtest.Definite(rng, 3)}
	a, b := must(Fit(context.Background(), x, links, p)), must(FitSingular(context.Background(), x, links, p))
	if !mat.EqualApprox(a.Metric.M(), b.Metric.M(), singularTol) || math.Abs(a.Gap-b.Gap) > singularTol {
		t.Errorf("W is %v, of Fit %v", mat.Formatted(b.Metric.M()), mat.Formatted(a.Metric.M()))
	}

	p.W0 = mat.NewSymDense(3, []float64{1, 0, 0, 0, 2, 0, 0, 0, 0})
	x.SetRow(1, []float64{x.At(0, 0), x.At(0, 1), x.At(0, 2) + 7})
	links = append(links, metric.Link{I: 0, J: 1, Label: metric.Dissimilar})
	got := must(FitSingular(context.Background(), x, links, p))
	if d := got.Metric.SqDist([]float64{0, 0, 0}, []float64{0, 0, 1}); d > 1e-20 || got.Skipped < 1 {
		t.Errorf("outside of the range the squared distance is %g; %d links are skipped", d, got.Skipped)
	}
}

func TestSingularErrors(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{0, 0, 1, 1})
	one := []metric.Link{{I: 0, J: 1, Label: metric.Similar}}
	for _, c := range []struct {
		want string
		w0   mat.Symmetric
	}{
		{"itml: w0: it is nil", nil},
		{"itml: w0: 1×1 is not allowed, want 2×2", mat.NewSymDense(1, []float64{1})},
		{"itml: w0: it is 0", mat.NewSymDense(2, nil)},
		{"itml: w0: metric: matrix is not positive semi-definite", mat.NewSymDense(2, []float64{1, 2, 2, 1})},
		{"itml: w0: ", mat.NewSymDense(2, []float64{1, math.NaN(), math.NaN(), 1})},
	} {
		if _, err := FitSingular(context.Background(), x, one, Params{W0: c.w0}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error is %v, want %q", err, c.want)
		}
	}
	if _, err := FitSingular(context.Background(), x, one, Params{W0: mat.NewSymDense(2, []float64{1, 2, 2, 1})}); !errors.Is(err, metric.ErrNotPSD) {
		t.Errorf("error %v is not ErrNotPSD", err)
	}
	if _, err := FitSingular(context.Background(), mat.NewDense(2, 2, []float64{0, math.Inf(1), 1, 1}), one, Params{W0: matrixtest.Identity(2)}); err == nil {
		t.Error("an infinite row: no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := FitSingular(ctx, x, one, Params{W0: matrixtest.Identity(2)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("nil rows: no panic")
		}
	}()
	_, _ = FitSingular(context.Background(), nil, one, Params{W0: matrixtest.Identity(2)})
}
