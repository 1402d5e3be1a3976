package triplets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// coordinateLosses are those of coordinates.
var coordinateLosses = append(slices.Clone(batchLosses), TSTE, SOE)

// slowCoordinates is F, term by term, as it is printed.
func slowCoordinates(x *mat.Dense, ts []metric.Triplet, p CoordinatesParams) float64 {
	if p = p.Resolved(); p.Loss <= CKL {
		return slowObjective(CoordinatesStart{X: x}.Kernel(), ts, BatchParams{Loss: p.Loss, Tau: p.Tau, Margin: p.Margin, Mu: p.Mu})
	}
	norm := mat.Norm(x, 2)
	sum := p.Tau * norm * norm
	for _, t := range ts {
		near := metric.Euclidean{}.SqDist(x.RawRowView(t.A), x.RawRowView(t.Near))
		far := metric.Euclidean{}.SqDist(x.RawRowView(t.A), x.RawRowView(t.Far))
		if p.Loss == SOE {
			sum += math.Pow(math.Max(0, math.Sqrt(near)+p.Margin-math.Sqrt(far)), 2)
			continue
		}
		kernel := func(sq float64) float64 { return math.Pow(1+sq/p.Alpha, -(p.Alpha+1)/2) }
		sum -= math.Log(kernel(near) / (kernel(near) + kernel(far)))
	}
	return sum
}

// The gradient is that of central differences: of the smooth losses, and of the hinge's envelope around any multipliers.
func TestCoordinatesGradient(t *testing.T) {
	const n, d = 7, 3
	rng := rand.New(rand.NewPCG(31, 1))
	ts := answers(rng, n, 3, 40, 0.2)
	for _, loss := range coordinateLosses {
		for _, tau := range []float64{0, 0.7} {
			p := CoordinatesParams{Loss: loss, Tau: tau, Margin: 1.3, Alpha: 2.5, Dim: d}.Resolved()
			f := newCoordinatesFit(t.Context(), n, ts, p)
			for i := range f.loss.c {
				f.loss.c[i] = rng.Float64()
			}
			for i := range f.X {
				f.X[i] = rng.NormFloat64()
			}
			f.enter()
			// The envelope has a second derivative that jumps, at which a central difference is off by h; the others are off by h².
			h, tol := 1e-5, 1e-6
			for i := range f.X {
				x := append([]float64(nil), f.X...)
				x[i] += h
				up, _ := f.evaluate(x)
				x[i] -= 2 * h
				down, _ := f.evaluate(x)
				if want := (up - down) / (2 * h); math.Abs(f.G[i]-want) > tol*(1+math.Abs(want))*10 {
					t.Errorf("%v, τ = %v: ∂F/∂x_%d = %v, by differences %v", loss, tau, i, f.G[i], want)
				}
			}
			if want := slowCoordinates(mat.NewDense(n, d, f.X), ts, p); math.Abs(f.objective-want) > 1e-12*want {
				t.Errorf("%v, τ = %v: F = %v, term by term %v", loss, tau, f.objective, want)
			}
			if loss != STE && loss != CKL {
				continue
			}
			k := CoordinatesStart{X: mat.NewDense(n, d, f.X)}.Kernel()
			var slow mat.Dense
			slow.Mul(slowGradient(k, ts, BatchParams{Loss: loss, Tau: tau}.Resolved()), mat.NewDense(n, d, f.X))
			for i, v := range slow.RawMatrix().Data {
				if math.Abs(2*v-f.G[i]) > 1e-11*(1+math.Abs(f.G[i])) {
					t.Errorf("%v: entry %d of the gradient is %v, by the kernel's 2GX %v", loss, i, f.G[i], 2*v)
				}
			}
		}
	}
}

// With as many coordinates as objects the bound on the rank is none, and the least objective of the convex losses is that of the kernel, which FitBatch
// certifies; with fewer it is never below.
func TestCoordinatesAgainstTheConvexFit(t *testing.T) {
	const n = 9
	rng := rand.New(rand.NewPCG(32, 1))
	ts := answers(rng, n, 3, 80, 0.2)
	for _, loss := range []Loss{GNMDS, STE} {
		const tol = 1e-6
		convex, err := FitBatch(t.Context(), n, ts, BatchParams{Loss: loss, Tau: 0.5, Tol: tol})
		if err != nil {
			t.Fatal(err)
		}
		slack := tol * float64(len(ts)) * 1.01 // Residual is in units of F(0) ≤ 1.01·m
		for _, d := range []int{1, 2, n} {
			r, err := FitCoordinates(t.Context(), rng, n, ts, CoordinatesParams{Loss: loss, Tau: 0.5, Dim: d, Starts: 3, Tol: 1e-6, Iterations: 20000})
			if err != nil {
				t.Fatal(err)
			}
			if r.Objective < convex.Objective-slack {
				t.Errorf("%v, d = %d: F = %v is below the minimum %v", loss, d, r.Objective, convex.Objective)
			}
			if d == n && (r.Objective > convex.Objective*(1+1e-4) || r.Status != learners.Converged) {
				t.Errorf("%v, d = n: %v with F = %v, want the minimum %v", loss, r.Status, r.Objective, convex.Objective)
			}
		}
	}
}

// Where a start ends F does not fall nearby: it is a local minimum, up to the tolerance, of GNMDS too, whose F has kinks.
func TestCoordinatesAreALocalMinimum(t *testing.T) {
	const n, d = 10, 2
	rng := rand.New(rand.NewPCG(33, 1))
	ts := answers(rng, n, 4, 120, 0.1)
	for _, loss := range coordinateLosses {
		p := CoordinatesParams{Loss: loss, Tau: 0.2, Dim: d, Starts: 4, Tol: 1e-7, Iterations: 50000}
		r, err := FitCoordinates(t.Context(), rng, n, ts, p)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range r.Starts {
			if s.Status != learners.Converged && !(loss == SOE && s.Status == learners.NoProgress) { // at a kink
				t.Errorf("%v, start %d: %v, residual %g", loss, i, s.Status, s.Residual)
			}
			if want := slowCoordinates(s.X, ts, p); math.Abs(s.Objective-want) > 1e-12*want {
				t.Errorf("%v: objective %v, of its X %v", loss, s.Objective, want)
			}
			for range 300 {
				near := mat.DenseCopyOf(s.X)
				size := math.Pow(10, -2-3*rng.Float64())
				near.Apply(func(_, _ int, v float64) float64 { return v + size*rng.NormFloat64() }, near)
				// A gradient of the residual 1e-7 lowers F by at most 1e-7·F(0) over the size of X.
				if f := slowCoordinates(near, ts, p); f < s.Objective-1e-5 {
					t.Errorf("%v, start %d: F = %v, at a distance of about %.1g %v", loss, i, s.Objective, size, f)
				}
			}
		}
	}
}

// On a line an object between two others cannot pass them: some starts end in local minima that are not the least, and the best of all is kept.
func TestCoordinatesKeepsTheBest(t *testing.T) {
	const n = 12
	ts := answers(rand.New(rand.NewPCG(36, 1)), n, 3, 150, 0)
	p := CoordinatesParams{Loss: CKL, Dim: 1, Tau: 0.05, Starts: 30, Tol: 1e-6}
	r, err := FitCoordinates(t.Context(), rand.New(rand.NewPCG(34, 1)), n, ts, p)
	if err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for i, s := range r.Starts {
		worst = max(worst, s.Objective)
		if s.Objective < r.Objective || s.Objective == r.Objective && i < r.Best {
			t.Errorf("start %d has F = %v, kept was start %d with %v", i, s.Objective, r.Best, r.Objective)
		}
	}
	if worst < 1.2*r.Objective {
		t.Errorf("all starts end between %v and %v: no local minimum", r.Objective, worst)
	}
	if len(r.Starts) != p.Starts || r.X != r.Starts[r.Best].X {
		t.Errorf("%d starts, want %d with the one kept", len(r.Starts), p.Starts)
	}
	again, err := FitCoordinates(t.Context(), rand.New(rand.NewPCG(34, 1)), n, ts, p)
	if err != nil || !mat.Equal(again.X, r.X) || again.Best != r.Best {
		t.Errorf("the same draws give another X (%v)", err)
	}
	p.Initial, p.Starts = r.X, 1
	from, err := FitCoordinates(t.Context(), rand.New(rand.NewPCG(1, 1)), n, ts, p)
	if err != nil || from.Objective > r.Objective || from.Iterations > 1 {
		t.Errorf("from the result: F = %v after %d iterations, want %v at once (%v)", from.Objective, from.Iterations, r.Objective, err)
	}
}

// The numbering of objects and the order of triplets change F by round-off only.
func TestCoordinatesOfRenamedObjects(t *testing.T) {
	const n, d = 9, 2
	rng := rand.New(rand.NewPCG(35, 1))
	ts := answers(rng, n, 3, 60, 0.1)
	to := rng.Perm(n)
	x, y := mat.NewDense(n, d, nil), mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			v := rng.NormFloat64()
			x.Set(i, j, v)
			y.Set(to[i], j, v)
		}
	}
	renamed := make([]metric.Triplet, len(ts))
	for i, j := range rng.Perm(len(ts)) {
		renamed[j] = metric.Triplet{A: to[ts[i].A], Near: to[ts[i].Near], Far: to[ts[i].Far]}
	}
	for _, loss := range coordinateLosses {
		p := CoordinatesParams{Loss: loss, Tau: 0.1, Dim: d}.Resolved()
		f, g := newCoordinatesFit(t.Context(), n, ts, p), newCoordinatesFit(t.Context(), n, renamed, p)
		copy(f.X, x.RawMatrix().Data)
		copy(g.X, y.RawMatrix().Data)
		f.enter()
		g.enter()
		if math.Abs(f.objective-g.objective) > 1e-12*f.objective || math.Abs(vector.Dot(f.G, f.G)-vector.Dot(g.G, g.G)) > 1e-11*vector.Dot(f.G, f.G) {
			t.Errorf("%v: F = %v and %v, after other names", loss, f.objective, g.objective)
		}
	}
}

// The solutions of SOE scale with the margin, to the bit where that is a power of two; so do its starts and its steps.
func TestCoordinatesOfSOEScale(t *testing.T) {
	const n = 10
	ts := answers(rand.New(rand.NewPCG(38, 1)), n, 3, 90, 0.2)
	var unit CoordinatesResult
	for _, margin := range []float64{1, 1 << 20, 1. / (1 << 30)} {
		r, err := FitCoordinates(t.Context(), rand.New(rand.NewPCG(39, 1)), n, ts, CoordinatesParams{Loss: SOE, Margin: margin, Tau: 0.1, Starts: 3})
		if err != nil {
			t.Fatal(err)
		}
		if margin == 1 {
			unit = r
		}
		var want mat.Dense
		want.Scale(margin, unit.X)
		if !mat.Equal(r.X, &want) || r.Objective != margin*margin*unit.Objective || r.Result != unit.Result {
			t.Errorf("margin %v: F = %v and %+v, want %v times %v and %+v", margin, r.Objective, r.Result, margin*margin, unit.Objective, unit.Result)
		}
	}
}

// With more and more degrees of freedom Student's t is the kernel exp(−d²/2), whatever else is finite; with few of them what pulls at an answer
// that is far off is little, where STE pulls by 1.
func TestCoordinatesOfTSTE(t *testing.T) {
	for _, c := range []struct{ near, far float64 }{{1, 2}, {3, 1}, {0, 0}, {1e-9, 2e-9}, {40, 1}, {0, 700}} {
		l := batchLoss{loss: TSTE, alpha: 1e100}
		var wn, wf [1]float64
		got := l.smooth([]float64{c.near}, []float64{c.far}, wn[:], wf[:])
		want, slope := logistic((c.near - c.far) / 2)
		const tol = 1e-14 // a few roundings
		if math.Abs(got-want) > tol*want || math.Abs(2*wn[0]-slope) > tol*slope || wn[0] != -wf[0] {
			t.Errorf("%+v, α = 1e100: %v with the derivatives %v and %v, want %v and ±%v/2", c, got, wn[0], wf[0], want, slope)
		}
	}
	sizes := []float64{0, 1e-200, 1e-9, 1, 1e9, 1e200}
	for _, alpha := range []float64{1e-300, 1, 1e100} {
		l := batchLoss{loss: TSTE, alpha: alpha}
		for _, near := range sizes {
			for _, far := range sizes {
				var wn, wf [1]float64
				v := l.smooth([]float64{near}, []float64{far}, wn[:], wf[:])
				if !(v >= 0) || math.IsInf(v, 0) || !(wn[0] >= 0) || !(wf[0] <= 0) || math.IsInf(wn[0]-wf[0], 0) {
					t.Errorf("α = %v, squared distances %v and %v: %v with the derivatives %v and %v", alpha, near, far, v, wn[0], wf[0])
				}
			}
		}
	}
	var pull [1]float64
	(&batchLoss{loss: TSTE, alpha: 1}).smooth([]float64{1e4}, []float64{1}, pull[:], make([]float64, 1))
	if pull[0] > 1e-4 {
		t.Errorf("an answer at the squared distances 1e4 and 1 pulls by %v", pull[0])
	}
}

func TestCoordinatesRefuses(t *testing.T) {
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	ts := []metric.Triplet{{A: 0, Near: 1, Far: 2}}
	for want, call := range map[string]func() error{
		"coordinates: n: 0 is not allowed": func() error { return coordinatesError(rng(), 0, ts, CoordinatesParams{}) },
		"triplets: none given":             func() error { return coordinatesError(rng(), 3, nil, CoordinatesParams{}) },
		"triplet 0: ":                      func() error { return coordinatesError(rng(), 2, ts, CoordinatesParams{}) },
		"loss: 7 is not allowed":           func() error { return coordinatesError(rng(), 3, ts, CoordinatesParams{Loss: 7}) },
		"dim: ":                            func() error { return coordinatesError(rng(), 3, ts, CoordinatesParams{Dim: -1}) },
		"starts: ":                         func() error { return coordinatesError(rng(), 3, ts, CoordinatesParams{Starts: -1}) },
		"tau: ":                            func() error { return coordinatesError(rng(), 3, ts, CoordinatesParams{Tau: math.NaN()}) },
		"initial: is 3×1, want 3×2": func() error {
			return coordinatesError(rng(), 3, ts, CoordinatesParams{Initial: mat.NewDense(3, 1, nil)})
		},
		"initial: entry (1, 0): NaN is not allowed": func() error {
			return coordinatesError(rng(), 3, ts, CoordinatesParams{Dim: 1, Initial: mat.NewDense(3, 1, []float64{0, math.NaN(), 0})})
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, p := range []CoordinatesParams{{Dim: math.MaxInt}, {Starts: math.MaxInt}} {
		var full *limits.MemoryError
		if err := coordinatesError(rng(), 3, ts, p); !errors.As(err, &full) {
			t.Errorf("%+v: %v, want an error of memory", p, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	p := CoordinatesParams{Loss: STE, Iterations: 1 << 40, Tol: 1e-300, Progress: func(learners.Progress) {
		if seen++; seen == 3 {
			cancel()
		}
	}}
	if _, err := FitCoordinates(ctx, rng(), 6, answers(rng(), 6, 2, 30, 0.3), p); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context is done: %v", err)
	}
	if seen != 3 {
		t.Errorf("%d iterations were told of, want 3", seen)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic without a generator")
		}
	}()
	_ = coordinatesError(nil, 3, ts, CoordinatesParams{})
}

func coordinatesError(rng *rand.Rand, n int, ts []metric.Triplet, p CoordinatesParams) error {
	_, err := FitCoordinates(context.Background(), rng, n, ts, p)
	return err
}

// BenchmarkFitCoordinates fits 100 objects to 10,000 triplets from one start.
func BenchmarkFitCoordinates(b *testing.B) {
	const n = 100
	ts := answers(rand.New(rand.NewPCG(37, 1)), n, 50, 10000, 0)
	for _, loss := range coordinateLosses {
		for _, d := range []int{2, 50} {
			b.Run(fmt.Sprintf("alg=Coordinates/loss=%v/dim=%d", loss, d), func(b *testing.B) {
				for b.Loop() {
					p := CoordinatesParams{Loss: loss, Tau: 1, Dim: d, Starts: 1, Iterations: 100}
					if _, err := FitCoordinates(b.Context(), rand.New(rand.NewPCG(1, 1)), n, ts, p); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
