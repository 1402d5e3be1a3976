package triplets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// projectTol bounds the distance to the full projection, relative to the spectral norm: n·ε is
// 3e-14 for the largest of the tests.
const projectTol = 1e-12

// TestProject compares with a full eigendecomposition, on spectra that are hard for inverse
// iteration too: multiple and clustered eigenvalues, T that falls apart.
func TestProject(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{1, 2, 3, 10, 60, 120, BatchLarge} {
		for name, f := range map[string]func(i int) float64{
			"normal":       func(int) float64 { return rng.NormFloat64() },
			"few negative": func(i int) float64 { return float64(i - min(n/5, 3)) },
			"few positive": func(i int) float64 { return float64(min(n/5, 3) - i) },
			"multiple":     func(i int) float64 { return float64(i%3 - 1) },
			"clustered":    func(i int) float64 { return float64(i%2*2-1) * (1 + 1e-13*float64(i)) },
			"close":        func(i int) float64 { return float64(i%2*2-1) * (1 + 1e-9*float64(i)) },
			"tiny":         func(i int) float64 { return 1e-300 * float64(i-n/2) },
			"graded":       func(i int) float64 { return float64(i%2*2-1) * math.Pow(10, -float64(i)/4) },
			"low rank":     func(i int) float64 { return float64(max(0, 4-i) * (i%2*2 - 1)) },
			"zero":         func(int) float64 { return 0 },
			"positive":     func(i int) float64 { return 1 + float64(i) },
			"negative":     func(i int) float64 { return -1 - float64(i) },
		} {
			for _, rotated := range []bool{true, false} {
				values := make([]float64, n)
				for i := range values {
					values[i] = f(i)
				}
				testProject(t, fmt.Sprintf("%s, n = %d, rotated %v", name, n, rotated), withSpectrum(rng, values, rotated))
			}
		}
	}
}

func testProject(t *testing.T, name string, a *mat.SymDense) {
	t.Helper()
	n := a.SymmetricDim()
	want, _, err := metric.ProjectPSD(a)
	if err != nil {
		t.Fatal(err)
	}
	size := mat.Norm(a, 2)
	for _, definite := range []bool{false, true} {
		x := make([]float64, n*n)
		for i := range n {
			for j := range i + 1 {
				x[i*n+j] = a.At(i, j)
			}
		}
		p := newProjector(n)
		p.project(x, n, definite)
		if p.failed > 0 {
			t.Errorf("%s: inverse iteration failed", name)
		}
		for i := range n {
			for j := range i + 1 {
				if d := math.Abs(x[i*n+j] - want.At(i, j)); !(d <= projectTol*size) {
					t.Errorf("%s: entry (%d, %d) is %v, want %v", name, i, j, x[i*n+j], want.At(i, j))
					return
				}
			}
		}
	}
}

// TestProjectFallback: inverse iteration refuses what is no eigenvalue, and the full decomposition
// that then takes its place gives eigenvectors of both ends.
func TestProjectFallback(t *testing.T) {
	const n = 20
	rng := rand.New(rand.NewPCG(4, 1))
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i) - 8.5
	}
	a := withSpectrum(rng, values, true)
	x := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			x[i*n+j] = a.At(i, j)
		}
	}
	p := newProjector(n)
	p.eigenvalues(x, n)
	if p.inverseIteration(p.d, p.e[:n-1], []float64{-8.4}, blas64.General{Rows: 1, Cols: n, Stride: n, Data: make([]float64, n)}, 11.5) {
		t.Error("inverse iteration accepted -8.4")
	}
	for _, largest := range []bool{false, true} {
		w := blas64.General{Rows: 3, Cols: n, Stride: n, Data: make([]float64, 3*n)}
		p.all(x, n, w, largest)
		for i := range w.Rows {
			want := values[i]
			if largest {
				want = values[n-w.Rows+i]
			}
			u := mat.NewVecDense(n, w.Data[i*n:(i+1)*n])
			var r mat.VecDense
			r.MulVec(a, u)
			r.AddScaledVec(&r, -want, u)
			if d := mat.Norm(&r, 2); d > projectTol*n || math.Abs(mat.Norm(u, 2)-1) > projectTol {
				t.Errorf("largest %v: vector %d has length %v and residual %g", largest, i, mat.Norm(u, 2), d)
			}
		}
	}
}

// withSpectrum returns a symmetric matrix with the given eigenvalues, diagonal or in random
// position.
func withSpectrum(rng *rand.Rand, values []float64, rotated bool) *mat.SymDense {
	n := len(values)
	out := mat.NewSymDense(n, nil)
	if !rotated {
		for i, v := range values {
			out.SetSym(i, i, v)
		}
		return out
	}
	g := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q mat.Dense
	qr.QTo(&q)
	for i, v := range values {
		out.SymRankOne(out, v, q.ColView(i))
	}
	return out
}

func BenchmarkProject(b *testing.B) {
	for _, n := range []int{100, 412, 1000} {
		rng := rand.New(rand.NewPCG(3, 1))
		for _, negative := range []float64{0.05, .3, 0.5} {
			values := make([]float64, n)
			for i := range values {
				values[i] = float64(i)/float64(n) - negative
			}
			a := withSpectrum(rng, values, true)
			lower := make([]float64, n*n)
			for i := range n {
				for j := range i + 1 {
					lower[i*n+j] = a.At(i, j)
				}
			}
			x := make([]float64, n*n)
			p := newProjector(n)
			b.Run(fmt.Sprintf("alg=one-sided/negative=%v/dim=%d", negative, n), func(b *testing.B) {
				for b.Loop() {
					copy(x, lower)
					p.project(x, n, false)
				}
			})
		}
	}
}
