package triplets

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// slowReleased is FitReleased without its bookkeeping of derivatives and failures: costs and gradients term by term, all
// kernels and costs kept. It makes exactly the given number of costs, or ends after five failures.
func slowReleased(t *testing.T, n int, ts []metric.Triplet, p ReleasedParams) (best *mat.SymDense, costs []float64) {
	t.Helper()
	p = p.Resolved()
	k := mat.NewSymDense(n, nil)
	for i := range n {
		k.SetSym(i, i, 1)
	}
	least, eta, failures := math.Inf(1), p.Eta, 0
	for len(costs) < p.Iterations && failures < 5 {
		cost := (1-p.Weight)*slowObjective(k, ts, BatchParams{Loss: p.Loss, Margin: 1, Mu: p.Mu}) + p.Weight*mat.Trace(k)
		costs = append(costs, cost)
		if cost < least {
			least, best = cost, mat.NewSymDense(n, nil)
			best.CopySym(k)
		}
		next := mat.NewDense(n, n, nil)
		next.Copy(k)
		s := eta * float64(n) / float64(len(ts))
		for _, x := range ts {
			near, far := sqDist(k, x.A, x.Near), sqDist(k, x.A, x.Far)
			var dn, df float64
			switch p.Loss {
			case GNMDS:
				if near-far+1 > 0 {
					dn, df = 1, -1
				}
			case STE:
				dn = 1 / (1 + math.Exp(far-near))
				df = -dn
			case CKL:
				dn = 1 / (2*p.Mu + near + far)
				df = dn - 1/(p.Mu+far)
			}
			g := mat.NewDense(n, n, nil)
			g.Set(x.A, x.Near, -2*dn)
			g.Set(x.A, x.Far, -2*df)
			g.Set(x.A, x.A, dn+df)
			g.Set(x.Near, x.Near, dn)
			g.Set(x.Far, x.Far, df)
			g.Scale(s*(1-p.Weight), g)
			next.Sub(next, g)
		}
		for i := range n {
			next.Set(i, i, next.At(i, i)-s*p.Weight)
		}
		var e mat.Eigen
		if !e.Factorize(next, mat.EigenRight) {
			t.Fatal("no eigenvalues")
		}
		var v mat.CDense
		e.VectorsTo(&v)
		k.Zero()
		for c, lambda := range e.Values(nil) {
			if real(lambda) <= 0 {
				continue
			}
			for i := range n {
				for j := i; j < n; j++ {
					k.SetSym(i, j, k.At(i, j)+real(lambda)*real(v.At(i, c))*real(v.At(j, c)))
				}
			}
		}
		if len(costs) == 1 || costs[len(costs)-2]-cost > 1e-7 {
			failures = 0
			eta *= 1.01
		} else {
			failures++
			eta *= 0.5
		}
	}
	return best, costs
}

// Costs, kernels and the number of iterations are those of the slow form. A cost is a sum of rounded terms, and a few
// iterations do not blow round-off up; more of them may, where a failure is decided by less than it.
func TestReleasedIsTheSlowForm(t *testing.T) {
	const n = 12
	rng := rand.New(rand.NewPCG(1, 2))
	ts := answers(rng, n, 3, 60, 0.1)
	for _, p := range []ReleasedParams{
		{Weight: 0.1}, {Loss: STE, Weight: 0.3}, {Loss: CKL}, {Eta: 3}, {Loss: CKL, Eta: 0.1, Mu: 0.2}, {Loss: STE, Eta: 30},
	} {
		for _, iterations := range []int{1, 2, 7, 15} {
			p.Iterations = iterations
			best, costs := slowReleased(t, n, ts, p)
			got, err := FitReleased(t.Context(), n, ts, p)
			if err != nil {
				t.Fatal(err)
			}
			if got.Iterations != len(costs) {
				t.Errorf("%+v: %d iterations, want %d", p, got.Iterations, len(costs))
			}
			least := costs[0]
			for _, c := range costs {
				least = math.Min(least, c)
			}
			if math.Abs(got.Cost-least) > 1e-8*(1+math.Abs(least)) || !mat.EqualApprox(got.Kernel, best, 1e-6) {
				t.Errorf("%+v: cost %v, want %v", p, got.Cost, least)
			}
			if iterations == 1 && got.Kernel.At(0, 0) != 1 {
				t.Errorf("%+v: after one cost: not the first kernel", p)
			}
		}
	}
}

// The gradient stands above or below the diagonal as its triplet is written, and its symmetric part is the gradient of the cost:
// along a symmetric direction both have the same slope, to the error of a central difference.
func TestReleasedGradientIsOneSided(t *testing.T) {
	const n, h = 6, 1e-5
	rng := rand.New(rand.NewPCG(3, 4))
	ts := answers(rng, n, 2, 20, 0)
	for _, loss := range batchLosses {
		p := ReleasedParams{Loss: loss}.Resolved()
		if loss != CKL {
			p.Weight = 0.25
		}
		cost := func(k *mat.SymDense) float64 {
			return (1-p.Weight)*slowObjective(k, ts, BatchParams{Loss: loss, Margin: 1, Mu: p.Mu}) + p.Weight*mat.Trace(k)
		}
		x := mat.NewDense(n, n, nil)
		e := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range n {
				x.Set(i, j, rng.NormFloat64())
				e.SetSym(i, j, rng.NormFloat64())
			}
		}
		k := mat.NewSymDense(n, nil)
		k.SymOuterK(1, x)
		f := &releasedFit{n: n, ts: ts, p: p, loss: batchLoss{loss: loss, margin: 1, mu: p.Mu}, k: k,
			near: make([]float64, len(ts)), far: make([]float64, len(ts)), wn: make([]float64, len(ts)), wf: make([]float64, len(ts))}
		f.cost()
		next := mat.NewDense(n, n, nil)
		releasedDescend(next, k, ts, f.wn, f.wf, 1-p.Weight, p.Weight)
		slope := 0.0
		for i := range n {
			for j := range n {
				slope += (k.At(i, j) - next.At(i, j)) * e.At(i, j)
			}
		}
		var up, down mat.SymDense
		up.ScaleSym(h, e)
		down.ScaleSym(-h, e)
		up.AddSym(k, &up)
		down.AddSym(k, &down)
		if want := (cost(&up) - cost(&down)) / (2 * h); math.Abs(slope-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("%v: slope %v, want %v", loss, slope, want)
		}
		if mat.EqualApprox(next, next.T(), 1e-6) {
			t.Errorf("%v: K' is symmetric", loss)
		}
	}
}

// On a symmetric matrix the step projects. On one that is not, it does what its formula says, which is no projection: for
// (1 2; 0 −1), with eigenvalues 1 and −1 and the eigenvector (1, 0) of the first, it is (1 0; 0 0), while the positive
// part of the symmetric part (1 1; 1 −1), with eigenvalues ±√2, has the trace √2. A rotation by 90° has the eigenvalues ±i: nothing is left.
func TestReleasedProjection(t *testing.T) {
	k, e := mat.NewSymDense(2, nil), newReleasedEigen(2)
	for _, c := range []struct{ a, want []float64 }{
		{[]float64{1, 2, 0, -1}, []float64{1, 0, 0, 0}},
		{[]float64{0, -1, 1, 0}, []float64{0, 0, 0, 0}},
		{[]float64{0, 2, 2, 0}, []float64{1, 1, 1, 1}}, // ±2, (1, 1)/√2
		{[]float64{-1, 0, 0, -2}, []float64{0, 0, 0, 0}},
	} {
		if err := e.project(k, mat.NewDense(2, 2, c.a)); err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(k, mat.NewDense(2, 2, c.want), 1e-12) {
			t.Errorf("%v: %v, want %v", c.a, mat.Formatted(k), c.want)
		}
	}
	if err := e.project(k, mat.NewDense(2, 2, []float64{math.NaN(), 0, 0, 1})); err == nil {
		t.Error("NaN: no error")
	}
}

// What Each is told is what fits with lower caps return, to the bit, up to the end and at it.
func TestReleasedEach(t *testing.T) {
	const n = 12
	ts := answers(rand.New(rand.NewPCG(7, 8)), n, 2, 150, 0.2)
	var ended []learners.Status
	for i, p := range []ReleasedParams{{Loss: GNMDS, Weight: 0.3, Iterations: 40}, {Loss: STE, Eta: 500}, {Loss: CKL, Iterations: 6}, {Loss: GNMDS, Iterations: 9}} {
		if i == 3 { // one that may be abandoned tells the same
			abandon.Always(t)
		}
		p.Each = func(got ReleasedResult) {
			q := p
			q.Each, q.Iterations = nil, got.Iterations
			want, err := FitReleased(t.Context(), n, ts, q)
			if err != nil || got.Result != want.Result || got.Cost != want.Cost || !mat.Equal(got.Kernel, want.Kernel) {
				t.Errorf("%v, %d iterations: %+v of cost %v, want %+v, %v; error %v", p.Loss, q.Iterations, got.Result, got.Cost, want.Result, want.Cost, err)
			}
		}
		r, err := FitReleased(t.Context(), n, ts, p)
		if err != nil {
			t.Error(err)
		}
		ended = append(ended, r.Status)
	}
	if !slices.Contains(ended, learners.NoProgress) || !slices.Contains(ended, learners.IterationCap) {
		t.Errorf("fits ended with %v, want both ends", ended)
	}
}

// Once a fit is abandoned it tells nothing.
func TestReleasedEachAbandoned(t *testing.T) {
	abandon.Always(t)
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	p := ReleasedParams{Loss: GNMDS, Each: func(r ReleasedResult) {
		if told++; told == 3 {
			cancel()
		}
	}}
	if _, err := FitReleased(ctx, 12, answers(rand.New(rand.NewPCG(7, 8)), 12, 2, 150, 0.2), p); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if told != 3 {
		t.Errorf("told %d times, want 3", told)
	}
}

// Whatever was projected before in the same memory, complex eigenvalues among others, it has the bits of the same by mat.Eigen.
func TestReleasedProjectionByEigen(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{1, 2, 7, 40, 100} {
		e, pairs := newReleasedEigen(n), 0
		for skew := range 4 {
			a := mat.NewDense(n, n, nil)
			for i := range n {
				for j := range i + 1 {
					v := rng.NormFloat64()
					a.Set(i, j, v)
					a.Set(j, i, v+float64(skew)*rng.NormFloat64())
				}
			}
			var eig mat.Eigen
			if !eig.Factorize(a, mat.EigenRight) {
				t.Fatal("mat.Eigen")
			}
			var v mat.CDense
			eig.VectorsTo(&v)
			var scaled []float64 // columns
			for j, lambda := range eig.Values(nil) {
				if imag(lambda) > 0 && real(lambda) > 0 {
					pairs++
				}
				for i := 0; real(lambda) > 0 && i < n; i++ {
					scaled = append(scaled, math.Sqrt(real(lambda))*real(v.At(i, j)))
				}
			}
			want := mat.NewSymDense(n, nil)
			if len(scaled) > 0 {
				want.SymOuterK(1, mat.DenseCopyOf(mat.NewDense(len(scaled)/n, n, scaled).T()))
			}
			got := mat.NewSymDense(n, nil)
			if err := e.project(got, a); err != nil {
				t.Fatal(err)
			}
			if !mat.Equal(got, want) {
				t.Errorf("n = %d, skew %d: other bits", n, skew)
			}
		}
		if n >= 40 && pairs == 0 {
			t.Errorf("n = %d: no complex pair, which this tests", n)
		}
	}
}

// It ends after five failures in a row with a cost that FitBatch, which solves the problem, goes below. That is the point of it.
func TestReleasedEndsAboveTheMinimum(t *testing.T) {
	const n = 15
	ts := answers(rand.New(rand.NewPCG(5, 6)), n, 3, 400, 0.1)
	for _, loss := range []Loss{GNMDS, STE} {
		const tau = 1.0
		r, err := FitReleased(t.Context(), n, ts, ReleasedParams{Loss: loss, Weight: tau / (1 + tau)})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != learners.NoProgress || r.Iterations >= 1000 {
			t.Errorf("%v: %v after %d iterations", loss, r.Status, r.Iterations)
		}
		b, err := FitBatch(t.Context(), n, ts, BatchParams{Loss: loss, Tau: tau})
		if err != nil {
			t.Fatal(err)
		}
		p := BatchParams{Loss: loss, Tau: tau}.Resolved()
		if f := slowObjective(r.Kernel, ts, p); math.Abs(f-r.Cost*(1+tau)) > 1e-9*f || f <= b.Objective {
			t.Errorf("%v: objective %v (cost %v), FitBatch %v", loss, f, r.Cost, b.Objective)
		}
	}
}

// A fit starts from Initial, which it copies.
func TestReleasedInitial(t *testing.T) {
	ts := answers(rand.New(rand.NewPCG(7, 8)), 5, 2, 10, 0)
	k := mat.NewSymDense(5, nil)
	for i := range 5 {
		k.SetSym(i, i, float64(i))
	}
	want := mat.NewSymDense(5, nil)
	want.CopySym(k)
	r, err := FitReleased(t.Context(), 5, ts, ReleasedParams{Initial: k, Iterations: 1})
	if err != nil || !mat.Equal(r.Kernel, want) {
		t.Errorf("the first kernel is not Initial: %v", err)
	}
	if _, err := FitReleased(t.Context(), 5, ts, ReleasedParams{Initial: k, Iterations: 5}); err != nil || !mat.Equal(k, want) {
		t.Errorf("Initial has changed: %v", err)
	}
}

func TestReleasedRefuses(t *testing.T) {
	ok := []metric.Triplet{{A: 0, Near: 1, Far: 2}}
	for _, c := range []struct {
		n    int
		ts   []metric.Triplet
		p    ReleasedParams
		want string
	}{
		{0, ok, ReleasedParams{}, "n: 0"},
		{3, nil, ReleasedParams{}, "triplets: none"},
		{2, ok, ReleasedParams{}, "triplet 0"},
		{3, ok, ReleasedParams{Loss: 7}, "loss"},
		{3, ok, ReleasedParams{Weight: 1}, "weight"},
		{3, ok, ReleasedParams{Weight: -1}, "weight"},
		{3, ok, ReleasedParams{Loss: CKL, Weight: 0.5}, "CKL"},
		{3, ok, ReleasedParams{Eta: math.NaN()}, "eta"},
		{3, ok, ReleasedParams{Iterations: -1}, "iterations"},
		{3, ok, ReleasedParams{Initial: mat.NewSymDense(2, nil)}, "initial"},
		{3, ok, ReleasedParams{Initial: mat.NewDiagDense(3, []float64{1, -1, 1})}, "initial"},
		{3, ok, ReleasedParams{Eta: MaxStep, Iterations: 9}, "overflows"},
	} {
		if _, err := FitReleased(t.Context(), c.n, c.ts, c.p); err == nil || !strings.HasPrefix(err.Error(), "released: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.p, err, c.want)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FitReleased(done, 3, ok, ReleasedParams{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
