package triplets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// twoComponents are answers about objects 0 to 6 and 8 to 11; no triplet has object 7.
func twoComponents(rng *rand.Rand) []metric.Triplet {
	ts := answers(rng, 7, 3, 30, 0.2)
	for _, a := range answers(rng, 4, 2, 9, 0) {
		ts = append(ts, metric.Triplet{A: a.A + 8, Near: a.Near + 8, Far: a.Far + 8})
	}
	return ts
}

// TestFactors: X gives back K, singular or not, and the gradient by X is that of finite differences.
func TestFactors(t *testing.T) {
	const n = 12
	rng := rand.New(rand.NewPCG(21, 1))
	ts := twoComponents(rng)
	for _, loss := range batchLosses {
		for _, rank := range []int{0, 1, 3, n} {
			k := mat.NewSymDense(n, nil)
			if rank > 0 {
				k = randomKernel(rng, n, rank)
			}
			for i := range n {
				for j := range i { // no entries between components
					if i >= 7 && j < 7 || i >= 8 && j == 7 {
						k.SetSym(i, j, 0)
					}
				}
			}
			f := newBatchFit(t.Context(), n, ts, BatchParams{Loss: loss, Tau: 0.7, Initial: k}.Resolved())
			if len(f.blocks) != 3 {
				t.Fatalf("%d components", len(f.blocks))
			}
			c := f.factors
			f.factorise()
			if size := 11 * rank; rank == 1 && len(c.X) != 12 || rank == 0 && len(c.X) != size {
				t.Errorf("rank %d: X has %d entries", rank, len(c.X))
			}
			f.product(f.next, c.X)
			const tol = 1e-13 // n·ε times the norm
			if got := f.kernel(f.next.k); !mat.EqualApprox(got, k, tol*(1+mat.Norm(k, 2))) {
				t.Errorf("rank %d: XXᵀ differs from K", rank)
			}
			if len(c.X) == 0 {
				continue
			}
			q := f.newPoint()
			value := func(x []float64) float64 {
				f.product(q, x)
				f.sqDists(q.near, q.far, q.k, f.diag)
				return f.loss.smooth(q.near, q.far, nil, nil) + f.p.Tau*f.trace(q.k)
			}
			want := fd.Gradient(nil, value, c.X, &fd.Settings{Formula: fd.Central})
			f.loss.smooth(f.now.near, f.now.far, f.wn, f.wf)
			f.factorGradient(c.G, c.X)
			const fdTol = 1e-6 // the truncation of central differences
			for i, v := range c.G {
				if math.Abs(v-want[i]) > fdTol {
					t.Errorf("%v, rank %d: gradient %d is %v, want %v", loss, rank, i, v, want[i])
				}
			}
		}
	}
}

// TestTranspose on matrices larger and smaller than a tile.
func TestTranspose(t *testing.T) {
	for _, m := range []int{1, 2, 31, 32, 33, 70} {
		src := make([]float64, m*m)
		for i := range src {
			src[i] = float64(i + 1)
		}
		lower, both := make([]float64, m*m), make([]float64, m*m)
		transpose(lower, src, m, false)
		transpose(both, src, m, true)
		for i := range m {
			for j := range m {
				want := src[j*m+i]
				if j > i {
					want = 0
				}
				if lower[i*m+j] != want {
					t.Fatalf("m = %d: lower (%d, %d) is %v, want %v", m, i, j, lower[i*m+j], want)
				}
				if want := src[max(i, j)*m+min(i, j)]; both[i*m+j] != want {
					t.Fatalf("m = %d: both (%d, %d) is %v, want %v", m, i, j, both[i*m+j], want)
				}
			}
		}
	}
}

// TestBatchFactoredMinimum: BatchFactored and BatchAccelerated find the same minimum of a convex loss, from
// kernels of any rank: where X has too few columns, the projected steps add some.
func TestBatchFactoredMinimum(t *testing.T) {
	const n, tol = 12, 1e-7
	rng := rand.New(rand.NewPCG(22, 1))
	ts := twoComponents(rng)
	rankOne := mat.NewSymDense(n, nil)
	rankOne.SymOuterK(1, mat.NewDense(n, 1, []float64{1, -2, 3, 1, 0, 1, 2, 0, 1, 1, 2, -1}))
	for _, loss := range []Loss{GNMDS, STE} {
		for _, tau := range []float64{0.1, 1} {
			p := BatchParams{Loss: loss, Tau: tau, Tol: tol, Iterations: 30000, Method: BatchAccelerated}
			want, err := FitBatch(t.Context(), n, ts, p)
			if err != nil {
				t.Fatal(err)
			}
			p.Method = BatchFactored
			for name, initial := range map[string]mat.Symmetric{"I": nil, "0": mat.NewSymDense(n, nil), "rank 1": rankOne, "minimum": want.Kernel} {
				p.Initial = initial
				got, err := FitBatch(t.Context(), n, ts, p)
				if err != nil {
					t.Fatal(err)
				}
				zero := float64(len(ts)) * (&batchLoss{loss: loss, margin: 1}).zero()
				if got.Status != learners.Converged || math.Abs(got.Objective-want.Objective) > tol*zero {
					t.Errorf("%v, τ = %v, from %s: objective %v (%v, residual %g), want %v", loss, tau, name, got.Objective, got.Status, got.Residual, want.Objective)
				}
			}
		}
	}
}

// TestBatchConverges: the defaults suffice for 10,000 answers about 100 points, a tenth of them wrong.
func TestBatchConverges(t *testing.T) {
	const n = 100
	ts := answers(rand.New(rand.NewPCG(23, 1)), n, 10, 10000, 0.1)
	for _, loss := range batchLosses {
		for _, tau := range []float64{1, 10} {
			r, err := FitBatch(t.Context(), n, ts, BatchParams{Loss: loss, Tau: tau})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != learners.Converged || r.Residual > 1e-3 {
				t.Errorf("%v, τ = %v: %v, residual %g after %d iterations", loss, tau, r.Status, r.Residual, r.Iterations)
			}
		}
	}
}

// TestConjugate: by Fenchel and Young l(x) ≥ αx − l*(α), with equality if α is the derivative at x.
func TestConjugate(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	for _, loss := range []Loss{GNMDS, STE} {
		l := batchLoss{loss: loss, margin: 1.3}
		for range 300 {
			near, far := []float64{4 * rng.Float64()}, []float64{4 * rng.Float64()}
			wn, wf := make([]float64, 1), make([]float64, 1)
			value := l.smooth(near, far, wn, wf)
			x := near[0] - far[0]
			const tol = 1e-14
			if got := l.conjugate(wn, 1) + wn[0]*x; math.Abs(got-value) > tol*10 {
				t.Errorf("%v at %v: %v, want %v", loss, x, got, value)
			}
			a := []float64{rng.Float64()}
			c := rng.Float64()
			if got := l.conjugate(a, c) + c*a[0]*x; got > value+tol {
				t.Errorf("%v at %v, α = %v: %v > %v", loss, x, c*a[0], got, value)
			}
		}
	}
}

// TestBatchCancelled: a fit ends with the iteration in which its context is cancelled, between two
// projections too.
func TestBatchCancelled(t *testing.T) {
	const n = 20
	ts := answers(rand.New(rand.NewPCG(25, 1)), n, 4, 200, 0.1)
	for _, at := range []int{1, 2, 12, 22} {
		ctx, cancel := context.WithCancel(t.Context())
		last := 0
		_, err := FitBatch(ctx, n, ts, BatchParams{Tau: 0.1, Tol: 1e-9, Progress: func(p learners.Progress) {
			if p.Iteration != last+1 {
				t.Errorf("iteration %d after %d", p.Iteration, last)
			}
			if last = p.Iteration; last == at {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) || last != at {
			t.Errorf("cancelled in iteration %d: %v after %d", at, err, last)
		}
	}
}

// TestBatchLimit: BatchFactored needs room for 20 matrices, the others for 9.
func TestBatchLimit(t *testing.T) {
	const n = 100
	limits.SetMemory(15 * 8 * n * n)
	defer limits.SetMemory(0)
	ts := []metric.Triplet{{A: 0, Near: 1, Far: 2}}
	var e *limits.MemoryError
	if _, err := FitBatch(t.Context(), n, ts, BatchParams{}); !errors.As(err, &e) {
		t.Errorf("error %v, want one of memory", err)
	}
	if _, err := FitBatch(t.Context(), n, ts, BatchParams{Method: BatchAccelerated}); err != nil {
		t.Error(err)
	}
}

// BenchmarkFitBatchTol fits 10,000 answers about 100 points in R¹⁰, a tenth of them wrong, to several tolerances. It
// reports the share of 20,000 right answers about other triplets that the kernel gets wrong, and how far the
// objective is above that of Tol = 1e-5, in units of F(0). The table in docs/speed/triplets.md is from here.
func BenchmarkFitBatchTol(b *testing.B) {
	const n, m, test = 100, 10000, 20000
	rng := rand.New(rand.NewPCG(26, 1))
	ts := answers(rng, n, 10, m+test, 0)
	for i := range ts[:m] {
		if rng.Float64() < 0.1 {
			ts[i].Near, ts[i].Far = ts[i].Far, ts[i].Near
		}
	}
	for _, loss := range batchLosses {
		for _, tau := range []float64{1, 10} {
			fit := func(tol float64) BatchResult {
				r, err := FitBatch(b.Context(), n, ts[:m], BatchParams{Loss: loss, Tau: tau, Tol: tol, Iterations: 20000})
				if err != nil {
					b.Fatal(err)
				}
				return r
			}
			least := fit(1e-5).Objective
			for _, tol := range []float64{0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4} {
				b.Run(fmt.Sprintf("alg=%v/tau=%v/tol=%v", loss, tau, tol), func(b *testing.B) {
					var r BatchResult
					for b.Loop() {
						r = fit(tol)
					}
					strict, _ := Errors(r.Kernel, ts[m:])
					zero := m * (&batchLoss{loss: loss, margin: 1}).zero()
					b.ReportMetric(100*strict, "%wrong")
					b.ReportMetric((r.Objective-least)/zero, "excess")
					b.ReportMetric(float64(r.Iterations), "iterations")
				})
			}
		}
	}
}
