package triplets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

var (
	batchLosses  = []Loss{GNMDS, STE, CKL}
	batchMethods = []BatchMethod{BatchFactored, BatchAccelerated, BatchLineSearch, BatchFixed}
)

// answers returns m answers to random questions about n random points in R^d, a share of them
// flipped.
func answers(rng *rand.Rand, n, d, m int, flipped float64) []metric.Triplet {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	ts := make([]metric.Triplet, m)
	for i := range ts {
		p := rng.Perm(n)
		t := metric.Triplet{A: p[0], Near: p[1], Far: p[2]}
		e := metric.Euclidean{}
		a := x.RawRowView(t.A)
		if (e.SqDist(a, x.RawRowView(t.Near)) > e.SqDist(a, x.RawRowView(t.Far))) != (rng.Float64() < flipped) {
			t.Near, t.Far = t.Far, t.Near
		}
		ts[i] = t
	}
	return ts
}

// slowObjective is F, term by term.
func slowObjective(k mat.Symmetric, ts []metric.Triplet, p BatchParams) float64 {
	sum := p.Tau * mat.Trace(k)
	for _, t := range ts {
		near, far := sqDist(k, t.A, t.Near), sqDist(k, t.A, t.Far)
		switch p.Loss {
		case GNMDS:
			sum += math.Max(0, near-far+p.Margin)
		case STE:
			sum -= math.Log(math.Exp(-near) / (math.Exp(-near) + math.Exp(-far)))
		case CKL:
			sum -= math.Log((p.Mu + far) / (2*p.Mu + near + far))
		}
	}
	return sum
}

// slowGradient is that of F, for GNMDS a subgradient, from the derivatives of the losses by the two
// squared distances.
func slowGradient(k mat.Symmetric, ts []metric.Triplet, p BatchParams) *mat.SymDense {
	n := k.SymmetricDim()
	g := mat.NewSymDense(n, nil)
	for i := range n {
		g.SetSym(i, i, p.Tau)
	}
	add := func(i, j int, w float64) {
		v := mat.NewVecDense(n, nil) // d²(i, j) = ⟨vvᵀ, K⟩
		v.SetVec(i, 1)
		v.SetVec(j, -1)
		g.SymRankOne(g, w, v)
	}
	for _, t := range ts {
		near, far := sqDist(k, t.A, t.Near), sqDist(k, t.A, t.Far)
		switch p.Loss {
		case GNMDS:
			if near-far+p.Margin > 0 {
				add(t.A, t.Near, 1)
				add(t.A, t.Far, -1)
			}
		case STE:
			w := math.Exp(-far) / (math.Exp(-near) + math.Exp(-far)) // 1 − p
			add(t.A, t.Near, w)
			add(t.A, t.Far, -w)
		case CKL:
			both := 1 / (2*p.Mu + near + far)
			add(t.A, t.Near, both)
			add(t.A, t.Far, both-1/(p.Mu+far))
		}
	}
	return g
}

// randomKernel returns XXᵀ/d for a random n×d matrix X.
func randomKernel(rng *rand.Rand, n, d int) *mat.SymDense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	k := mat.NewSymDense(n, nil)
	k.SymOuterK(1/float64(d), x)
	return k
}

// TestBatchGradient compares the gradients of the losses, and of the hinge's envelope, with finite
// differences along every entry of a symmetric matrix.
func TestBatchGradient(t *testing.T) {
	const n = 7
	rng := rand.New(rand.NewPCG(11, 1))
	ts := answers(rng, n, 3, 30, 0.2)
	for _, loss := range batchLosses {
		for _, epsilon := range []float64{0, 0.4} {
			k := randomKernel(rng, n, n)
			l := newLayout(n, k, ts)
			b := batchLoss{loss: loss, margin: 1.3, mu: 0.2, epsilon: epsilon}
			for range ts {
				b.c = append(b.c, rng.Float64())
			}
			const tau = 0.7
			m := len(ts)
			near, far, wn, wf, scratch := make([]float64, m), make([]float64, m), make([]float64, m), make([]float64, m), make([]float64, n)
			value := func(x []float64) float64 {
				l.sqDists(near, far, x, scratch)
				return b.smooth(near, far, nil, nil) + tau*l.trace(x)
			}
			x := make([]float64, l.size)
			l.fill(x, k)
			l.sqDists(near, far, x, scratch)
			b.smooth(near, far, wn, wf)
			got := make([]float64, l.size)
			l.gradient(got, wn, wf, scratch, tau)
			want := fd.Gradient(nil, value, x, &fd.Settings{Formula: fd.Central})
			const tol = 1e-7 // the truncation of central differences
			for i := range n {
				for j := range i + 1 {
					half := want[i*n+j] // entry (i, j) stands for (j, i) too
					if i != j {
						half /= 2
					}
					if d := math.Abs(got[i*n+j] - half); d > tol {
						t.Errorf("%v, ε = %v: gradient (%d, %d) is %v, want %v", loss, epsilon, i, j, got[i*n+j], half)
					}
				}
			}
		}
	}
}

// TestBatchFixed compares three steps with the definition: the gradient of each triplet, and the
// projection of the whole matrix. Two components and an object that no triplet has are projected on
// their own.
func TestBatchFixed(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	ts := answers(rng, 9, 3, 40, 0.2)
	for _, a := range answers(rng, 6, 3, 20, 0) {
		ts = append(ts, metric.Triplet{A: a.A + 10, Near: a.Near + 10, Far: a.Far + 10})
	}
	const n = 16
	for _, loss := range batchLosses {
		for _, initial := range []mat.Symmetric{nil, randomKernel(rng, n, 5)} {
			p := BatchParams{Loss: loss, Tau: 0.3, Method: BatchFixed, Delta: 0.15, Iterations: 3, Initial: initial}.Resolved()
			want := mat.NewSymDense(n, nil)
			if initial == nil {
				for i := range n {
					want.SetSym(i, i, 1)
				}
			} else {
				want.CopySym(initial)
			}
			removed := 0
			for range p.Iterations {
				g := slowGradient(want, ts, p)
				g.ScaleSym(-p.Delta, g)
				want.AddSym(want, g)
				next, negative, err := metric.ProjectPSD(want)
				if err != nil {
					t.Fatal(err)
				}
				want = next
				removed += negative
			}
			if removed == 0 {
				t.Errorf("%v: nothing to project", loss)
			}
			got, err := FitBatch(t.Context(), n, ts, p)
			if err != nil {
				t.Fatal(err)
			}
			const tol = 1e-12 // n·ε times the norm
			if !mat.EqualApprox(got.Kernel, want, tol) {
				t.Errorf("%v, initial %v: kernel differs from the definition", loss, initial != nil)
			}
			if got.Status != learners.IterationCap || got.Iterations != 3 {
				t.Errorf("%v: %v after %d iterations", loss, got.Status, got.Iterations)
			}
			if want := slowObjective(want, ts, p); math.Abs(got.Objective-want) > tol*want {
				t.Errorf("%v: objective %v, want %v", loss, got.Objective, want)
			}
		}
	}
}

// TestBatchOneTriplet: D = ⟨G, K⟩ with eigenvalues √3, 0 and −√3 of G. K = xww', w the last
// eigenvector, has D = −√3x and trace x, and no K of that trace has a smaller D.
func TestBatchOneTriplet(t *testing.T) {
	ts := []metric.Triplet{{A: 2, Near: 0, Far: 1}}
	r3 := math.Sqrt(3)
	ste := math.Log(r3/0.5-1) / r3
	for _, c := range []struct {
		loss     Loss
		tau, min float64
		rank     int
	}{
		{GNMDS, 0, 0, -1},
		{GNMDS, 0.5, 0.5 / r3, 1},
		{GNMDS, 2, 1, 0},
		{STE, 0.5, math.Log1p(math.Exp(-r3*ste)) + 0.5*ste, 1},
		{STE, 1, math.Ln2, 0}, // the slope at x = 0 is τ − √3/2 > 0
	} {
		for _, method := range []BatchMethod{BatchFactored, BatchAccelerated, BatchLineSearch} {
			r, err := FitBatch(t.Context(), 3, ts, BatchParams{Loss: c.loss, Tau: c.tau, Method: method, Tol: 1e-7})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != learners.Converged || math.Abs(r.Objective-c.min) > 1e-7 {
				t.Errorf("%v, τ = %v, %v: objective %v (%v, residual %g), want %v", c.loss, c.tau, method, r.Objective, r.Status, r.Residual, c.min)
			}
			if c.rank >= 0 && r.Rank != c.rank {
				t.Errorf("%v, τ = %v, %v: rank %d, want %d", c.loss, c.tau, method, r.Rank, c.rank)
			}
		}
	}
}

// TestBatchOptimal checks the conditions of Karush, Kuhn and Tucker: K ⪰ 0, ∇F(K) ⪰ 0 and ⟨∇F(K),
// K⟩ = 0, and for the hinge, whose subgradient they leave open, that none of many kernels is
// better.
func TestBatchOptimal(t *testing.T) {
	const n, residual = 8, 1e-8
	rng := rand.New(rand.NewPCG(13, 1))
	for _, loss := range batchLosses {
		for _, tau := range []float64{0.3, 3} {
			ts := answers(rng, n, 3, 60, 0.2)
			p := BatchParams{Loss: loss, Tau: tau, Tol: residual, Iterations: 20000}.Resolved()
			r, err := FitBatch(t.Context(), n, ts, p)
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != learners.Converged || r.Residual > residual {
				t.Errorf("%v, τ = %v: %v, residual %g after %d iterations", loss, tau, r.Status, r.Residual, r.Iterations)
			}
			if want := slowObjective(r.Kernel, ts, p); math.Abs(r.Objective-want) > 1e-12*want {
				t.Errorf("%v: objective %v, want %v", loss, r.Objective, want)
			}
			values, _ := eigen(r.Kernel, false)
			if values[0] < -1e-13*values[n-1] {
				t.Errorf("%v: smallest eigenvalue %g", loss, values[0])
			}
			if loss != GNMDS {
				g := slowGradient(r.Kernel, ts, p)
				least, _ := eigen(g, false)
				var inner float64
				for i := range n {
					for j := range n {
						inner += g.At(i, j) * r.Kernel.At(i, j)
					}
				}
				const tol = 1e-4 // the gradient is as the square root of the distance from the minimum
				if least[0] < -tol || math.Abs(inner) > tol {
					t.Errorf("%v, τ = %v: gradient has the eigenvalue %g, ⟨∇F, K⟩ = %g", loss, tau, least[0], inner)
				}
			}
			if loss == CKL { // not convex
				continue
			}
			for range 200 {
				other := randomKernel(rng, n, 1+rng.IntN(n))
				if rng.IntN(2) == 0 { // near K
					other.ScaleSym(math.Pow(10, -4*rng.Float64()), other)
					other.AddSym(other, r.Kernel)
				}
				if f := slowObjective(other, ts, p); f < r.Objective-1e-7 {
					t.Errorf("%v, τ = %v: F = %v, of another kernel %v", loss, tau, r.Objective, f)
				}
			}
		}
	}
}

// TestBatchResidual: at every stage the residual is at least the distance from the minimum, in
// units of F(0), and the objective never increases.
func TestBatchResidual(t *testing.T) {
	const n = 20
	ts := answers(rand.New(rand.NewPCG(14, 1)), n, 4, 200, 0.1)
	for _, loss := range batchLosses {
		for _, tau := range []float64{0, 1} {
			p := BatchParams{Loss: loss, Tau: tau, Iterations: 1500, Tol: 1e-6}.Resolved()
			best, err := FitBatch(t.Context(), n, ts, p)
			if err != nil {
				t.Fatal(err)
			}
			zero := float64(len(ts)) * (&batchLoss{loss: loss, margin: 1}).zero()
			for _, method := range batchMethods {
				last := math.Inf(1)
				for _, iterations := range []int{1, 2, 3, 4, 5, 7, 10, 15, 22, 33, 50} {
					q := p
					q.Method, q.Iterations, q.Delta = method, iterations, 0.002
					r, err := FitBatch(t.Context(), n, ts, q)
					if err != nil {
						t.Fatal(err)
					}
					limit := mat.Trace(best.Kernel) <= max(n, 2*mat.Trace(r.Kernel))
					if loss != CKL && limit && r.Residual < (r.Objective-best.Objective)/zero-1e-12 {
						t.Errorf("%v, τ = %v, %v: after %d iterations residual %g, but %g above another kernel", loss, tau, method, iterations, r.Residual, (r.Objective-best.Objective)/zero)
					}
					if method != BatchFixed && r.Objective > last*(1+1e-13) {
						t.Errorf("%v, τ = %v, %v: iterations up to %d raised the objective from %v to %v", loss, tau, method, iterations, last, r.Objective)
					}
					last = r.Objective
				}
			}
		}
	}
}

// TestBatchWarmStart: a fit from its own result is over at once, with the same result.
func TestBatchWarmStart(t *testing.T) {
	const n = 20
	ts := answers(rand.New(rand.NewPCG(15, 1)), n, 4, 200, 0.1)
	for _, loss := range []Loss{STE, CKL} {
		p := BatchParams{Loss: loss, Tau: 1}
		cold, err := FitBatch(t.Context(), n, ts, p)
		if err != nil {
			t.Fatal(err)
		}
		p.Initial = cold.Kernel
		warm, err := FitBatch(t.Context(), n, ts, p)
		if err != nil {
			t.Fatal(err)
		}
		if warm.Iterations > cold.Iterations/2 || warm.Objective > cold.Objective {
			t.Errorf("%v: %d iterations to %v, and %d more to %v", loss, cold.Iterations, cold.Objective, warm.Iterations, warm.Objective)
		}
	}
}

// TestBatchContradiction: of two opposite answers K = 0, or any K with D = 0, is the best.
func TestBatchContradiction(t *testing.T) {
	ts := []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 0, Near: 2, Far: 1}}
	for loss, want := range map[Loss]float64{GNMDS: 2, STE: 2 * math.Ln2, CKL: 2 * math.Ln2} {
		for _, tau := range []float64{0, 1} {
			r, err := FitBatch(t.Context(), 3, ts, BatchParams{Loss: loss, Tau: tau, Tol: 1e-9})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != learners.Converged || math.Abs(r.Objective-want) > 1e-6 {
				t.Errorf("%v, τ = %v: %v, objective %v, want %v", loss, tau, r.Status, r.Objective, want)
			}
		}
	}
}

// TestBatchDeterministic: the same bits again, with any number of threads.
func TestBatchDeterministic(t *testing.T) {
	const n = 90
	ts := answers(rand.New(rand.NewPCG(16, 1)), n, 10, 2000, 0.1)
	p := BatchParams{Tau: 1, Iterations: 60}
	a, err := FitBatch(t.Context(), n, ts, p)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	b, err := FitBatch(t.Context(), n, ts, p)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(a.Kernel, b.Kernel) || a.Objective != b.Objective || a.Residual != b.Residual {
		t.Error("two fits differ")
	}
}

// TestBatchExtremes: whatever the size of what is allowed, the result is finite or there is an
// error.
func TestBatchExtremes(t *testing.T) {
	const n = 6
	ts := answers(rand.New(rand.NewPCG(17, 1)), n, 3, 20, 0.2)
	sizes := []float64{1e-100, 1, MaxStep}
	for _, size := range sizes {
		initial := mat.NewSymDense(n, nil)
		for i := range n {
			initial.SetSym(i, i, size)
		}
		for _, scale := range sizes {
			for _, tau := range append(sizes, 0) {
				for _, loss := range batchLosses {
					for _, method := range batchMethods {
						p := BatchParams{Loss: loss, Tau: tau, Margin: scale, Mu: scale, Method: method, Delta: scale, Iterations: 30, Initial: initial}
						r, err := FitBatch(t.Context(), n, ts, p)
						if err != nil {
							continue
						}
						if err := checkFinite(r.Kernel); err != nil || math.IsNaN(r.Objective+r.Residual) || math.IsInf(r.Objective, 0) {
							t.Errorf("%+v: objective %v, residual %v, kernel: %v", p, r.Objective, r.Residual, err)
						}
					}
				}
			}
		}
	}
}

func TestFitBatchErrors(t *testing.T) {
	indefinite := mat.NewSymDense(4, nil)
	indefinite.SetSym(0, 1, 1)
	nan := mat.NewSymDense(4, nil)
	nan.SetSym(1, 2, math.NaN())
	good := []metric.Triplet{{A: 0, Near: 1, Far: 2}}
	for _, c := range []struct {
		n    int
		ts   []metric.Triplet
		p    BatchParams
		want string
	}{
		{0, good, BatchParams{}, "n: 0"},
		{4, nil, BatchParams{}, "none given"},
		{2, good, BatchParams{}, "triplet 0: triplets: far is 2"},
		{4, append(good[:1:1], metric.Triplet{A: 1, Near: 1, Far: 2}), BatchParams{}, "triplet 1: triplets: a and near"},
		{4, []metric.Triplet{{A: 0, Near: 2, Far: 2}}, BatchParams{}, "near and far"},
		{4, good, BatchParams{Loss: TSTE}, "loss: tste is not allowed for a kernel"},
		{4, good, BatchParams{Loss: SOE}, "loss: soe is not allowed for a kernel"},
		{4, good, BatchParams{Loss: 7}, "loss: Loss(7)"},
		{4, good, BatchParams{Method: -1}, "method: -1"},
		{4, good, BatchParams{Tau: -1}, "tau: -1"},
		{4, good, BatchParams{Tau: math.NaN()}, "tau: NaN"},
		{4, good, BatchParams{Margin: math.Inf(1)}, "margin: +Inf"},
		{4, good, BatchParams{Mu: -2}, "mu: -2"},
		{4, good, BatchParams{Method: BatchFixed}, "delta: 0 is not allowed with the method fixed, want a number > 0 and at most 1e+100"},
		{4, good, BatchParams{Delta: -1}, "delta: -1"},
		{4, good, BatchParams{Iterations: -1}, "iterations: -1"},
		{4, good, BatchParams{Tol: -1}, "tol: -1"},
		{4, good, BatchParams{Initial: mat.NewSymDense(3, nil)}, "initial: is 3×3, want 4×4"},
		{4, good, BatchParams{Initial: indefinite}, "not positive semi-definite: its smallest eigenvalue is -1"},
		{4, good, BatchParams{Initial: nan}, "initial: entry (1, 2): NaN"},
	} {
		if _, err := FitBatch(t.Context(), c.n, c.ts, c.p); err == nil || !strings.HasPrefix(err.Error(), "batch: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.p, err, c.want)
		}
	}
	if _, err := FitBatch(t.Context(), 4, good, BatchParams{Initial: indefinite}); !errors.Is(err, metric.ErrNotPSD) {
		t.Errorf("error %v does not wrap ErrNotPSD", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FitBatch(ctx, 4, good, BatchParams{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func BenchmarkFitBatch(b *testing.B) {
	for _, n := range []int{100, 412, 1000} {
		ts := answers(rand.New(rand.NewPCG(1, 1)), n, 50, 10000, 0)
		for _, loss := range batchLosses {
			for _, method := range batchMethods {
				p := BatchParams{Loss: loss, Tau: 1, Method: method, Iterations: 20, Delta: 1e-3}
				b.Run(fmt.Sprintf("alg=%v/method=%v/dim=%d", loss, method, n), func(b *testing.B) {
					for b.Loop() {
						if _, err := FitBatch(b.Context(), n, ts, p); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*p.Iterations), "ns/iteration")
				})
			}
		}
	}
}

// TestBatchRank: Rank is that of Kernel where a projection has left some blocks with known eigenvalues and some without, and objects alone.
func TestBatchRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n = 60
	ts := append(answers(rng, 40, 2, 300, 0.1), metric.Triplet{A: 50, Near: 51, Far: 52}, metric.Triplet{A: 53, Near: 54, Far: 55})
	for method := range BatchFixed + 1 {
		for _, iterations := range []int{1, 2, 7} {
			r, err := FitBatch(t.Context(), n, ts, BatchParams{Method: method, Delta: 0.1, Tau: 0.01, Iterations: iterations})
			if err != nil {
				t.Fatal(err)
			}
			if want := Rank(r.Kernel, 0); r.Rank != want {
				t.Errorf("%v, %d iterations: rank %d, want %d", method, iterations, r.Rank, want)
			}
		}
	}
}
