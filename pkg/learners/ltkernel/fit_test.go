package ltkernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// divergences are all φ, with a parameter that is not at the end of its range and one that is.
func divergences(t *testing.T) []Divergence {
	t.Helper()
	all := []Divergence{LogDet(), VonNeumann()}
	for _, v := range []float64{0, 1, 0.3} {
		f, err := Frobenius(v)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := Trace(v)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f, tr)
	}
	return all
}

var slacks = []SlackRule{SlackHard, SlackL1, SlackL2}

// normal returns n×d standard normal numbers.
func normal(n, d int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := mat.NewDense(n, d, nil)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = rng.NormFloat64()
	}
	return x
}

func gramOf(x *mat.Dense) *mat.SymDense {
	n, _ := x.Dims()
	k := mat.NewSymDense(n, nil)
	k.SymOuterK(1, x)
	return k
}

// mixed returns constraints of all kinds that some W satisfies: they are about the distances under a W of the test.
func mixed(x *mat.Dense, count int, seed uint64) []Constraint {
	rng := rand.New(rand.NewPCG(seed, 2))
	n, d := x.Dims()
	l := normal(d, d, seed+1)
	var y mat.Dense
	y.Mul(x, l)
	sq := func(i, j int) float64 { return metric.Euclidean{}.SqDist(y.RawRowView(i), y.RawRowView(j)) }
	var all []Constraint
	for len(all) < count {
		p := rng.Perm(n)
		a, b, c := p[0], p[1], p[2]
		switch len(all) % 4 {
		case 0:
			all = append(all, AtMost(a, b, 0.8*sq(a, b)+0.3))
		case 1:
			all = append(all, AtLeast(a, b, 0.9*sq(a, b)))
		case 2:
			if sq(a, b) > sq(a, c) {
				b, c = c, b
			}
			all = append(all, Nearer(a, b, c, 0.5*(sq(a, c)-sq(a, b))))
		case 3:
			if len(all) < 12 {
				all = append(all, Exactly(a, b, sq(a, b)))
			} else {
				all = append(all, TraceAtMost(2*mat.Trace(gramOf(&y))))
			}
		}
	}
	// The first kind asks for less than the test's W gives: relax it.
	for i, c := range all {
		if c.Sense == SenseAtMost && len(c.Dists) == 1 {
			all[i].Bound = 1.01 * sq(c.Dists[0].I, c.Dists[0].J)
		}
	}
	return all
}

// side returns tr(CK).
func side(c Constraint, k mat.Matrix) float64 {
	v := 0.0
	for _, d := range c.Dists {
		v += d.Weight * (k.At(d.I, d.I) - 2*k.At(d.I, d.J) + k.At(d.J, d.J))
	}
	if c.Trace != 0 {
		v += c.Trace * mat.Trace(k)
	}
	return v
}

// TestSlow compares with the slowest method there is: one multiplier after another is set to the
// best value by bisection of its derivative, until none moves.
func TestSlow(t *testing.T) {
	for _, dims := range [][2]int{{6, 3}, {5, 8}} {
		x := normal(dims[0], dims[1], 7)
		k0 := gramOf(x)
		cs := mixed(x, 6, 3)
		for _, phi := range divergences(t) {
			for _, slack := range slacks {
				p := Params{Divergence: phi, Slack: slack, C: 0.05, Tol: 1e-11}
				got, err := FitKernel(t.Context(), k0, cs, p)
				if err != nil {
					t.Fatal(err)
				}
				support, err := Support(dims[0], cs)
				if err != nil {
					t.Fatal(err)
				}
				block := mat.NewSymDense(len(support), nil)
				for a, i := range support {
					for b, j := range support {
						block.SetSym(a, b, k0.At(i, j))
					}
				}
				f, err := factor(block)
				if err != nil {
					t.Fatal(err)
				}
				d, err := newDual(f, support, cs, p, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := coordinates(d)
				if got.Status != learners.Converged || math.Abs(got.Objective-want.objective) > 1e-6*(1+want.objective) {
					t.Errorf("%v %s %s: %v, objective %v, want %v", dims, phi.Name(), slack, got.Status, got.Objective, want.objective)
				}
			}
		}
	}
}

type slow struct{ objective float64 }

func coordinates(d *dual) slow {
	lambda := make([]float64, len(d.b))
	var p *point
	for range 3000 {
		moved := 0.0
		for i := range lambda {
			old := lambda[i]
			slope := func(v float64) float64 {
				lambda[i] = v
				q := d.at(append([]float64(nil), lambda...))
				if q.overrun {
					return math.Copysign(math.Inf(1), v-old)
				}
				return q.grad[i]
			}
			low, high := old-1, old+1
			for low > d.lo[i] && slope(low) > 0 {
				low = old - 2*(old-low)
			}
			for high < d.hi[i] && slope(high) < 0 {
				high = old + 2*(high-old)
			}
			low, high = max(low, d.lo[i]), min(high, d.hi[i])
			for range 60 {
				mid := low/2 + high/2
				if slope(mid) < 0 {
					low = mid
				} else {
					high = mid
				}
			}
			lambda[i] = low/2 + high/2
			moved = max(moved, math.Abs(lambda[i]-old))
		}
		if moved < 1e-10 {
			break
		}
	}
	p = d.at(lambda)
	return slow{-p.h}
}

// TestOptimal: no feasible W near the answer is better. It knows nothing of the dual.
func TestOptimal(t *testing.T) {
	x := normal(7, 4, 5)
	k0 := gramOf(x)
	cs := mixed(x, 9, 4)
	for _, phi := range divergences(t) {
		got, err := Fit(t.Context(), x, cs, Params{Divergence: phi, Tol: 1e-11})
		if err != nil || got.Status != learners.Converged {
			t.Fatal(got.Status, err)
		}
		w := got.Metric.M()
		cost := phiOf(phi, w)
		if math.Abs(cost-got.Objective) > 1e-8*(1+cost) {
			t.Errorf("%s: objective %v, Φ(W) is %v", phi.Name(), got.Objective, cost)
		}
		_ = k0
		rng := rand.New(rand.NewPCG(9, 9))
		tried := 0
		for range 20000 {
			v := mat.NewSymDense(4, nil)
			v.CopySym(w)
			size := math.Pow(10, -1-3*rng.Float64())
			for i := range 4 {
				for j := i; j < 4; j++ {
					v.SetSym(i, j, v.At(i, j)+size*rng.NormFloat64())
				}
			}
			var xv, k mat.Dense
			xv.Mul(x, v)
			k.Mul(&xv, x.T())
			ok := true
			for _, c := range cs {
				s := side(c, &k)
				switch c.Sense {
				case SenseAtMost:
					ok = ok && s <= c.Bound
				case SenseAtLeast:
					ok = ok && s >= c.Bound
				case SenseExactly:
					ok = ok && math.Abs(s-c.Bound) < 1e-4
				}
			}
			if other := phiOf(phi, v); ok && !math.IsNaN(other) {
				tried++
				if other < cost-1e-3 {
					t.Errorf("%s: a feasible W costs %v, the answer %v", phi.Name(), other, cost)
				}
			}
		}
	}
}

// phiOf is Φ(W), NaN if W is not positive semi-definite.
func phiOf(phi Divergence, w mat.Symmetric) float64 {
	var eig spectral.EigenSym
	if !eig.Factorize(w, false) {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range eig.Values(nil) {
		if v < -1e-12 {
			return math.NaN()
		}
		sum += phi.Value(max(v, 0))
	}
	return sum
}

// TestInputIsKernel: Theorem 4, in both directions, for more and for fewer dimensions than objects, singular K₀,
// and points never seen (Eq. 18).
func TestInputIsKernel(t *testing.T) {
	for _, dims := range [][2]int{{9, 3}, {6, 10}} {
		x := normal(dims[0], dims[1], 11)
		k0 := gramOf(x)
		cs := mixed(x, 8, 6)
		fresh := normal(4, dims[1], 12)
		for _, phi := range divergences(t) {
			for _, slack := range slacks {
				p := Params{Divergence: phi, Slack: slack, C: 0.05, Tol: 1e-11}
				in, err := Fit(t.Context(), x, cs, p)
				if err != nil {
					t.Fatal(err)
				}
				ker, err := FitKernel(t.Context(), k0, cs, p)
				if err != nil {
					t.Fatal(err)
				}
				if in.Status != learners.Converged || ker.Status != learners.Converged {
					t.Errorf("%v %s %s: %v and %v", dims, phi.Name(), slack, in.Status, ker.Status)
				}
				if math.Abs(in.Objective-ker.Objective) > 1e-8*(1+in.Objective) {
					t.Errorf("%v %s %s: objectives %v and %v", dims, phi.Name(), slack, in.Objective, ker.Objective)
				}
				k := ker.All(k0)
				var xw, want mat.Dense
				w := in.Metric.M()
				xw.Mul(x, w)
				want.Mul(&xw, x.T())
				if !mat.EqualApprox(k, &want, 1e-6) {
					t.Errorf("%v %s %s: K differs", dims, phi.Name(), slack)
				}
				for i, c := range cs {
					if math.Abs(side(c, k)-ker.Sides[i]) > 1e-8*(1+math.Abs(ker.Sides[i])) {
						t.Errorf("%v %s %s: side %d is %v, want %v", dims, phi.Name(), slack, i, ker.Sides[i], side(c, k))
					}
				}
				// Eq. 18 is xᵀWz.
				var cross, own, fw, among mat.Dense
				cross.Mul(fresh, x.T())
				own.Mul(fresh, fresh.T())
				fw.Mul(fresh, w)
				among.Mul(&fw, fresh.T())
				got, err := ker.Among(&cross, &own)
				if err != nil || !mat.EqualApprox(got, &among, 1e-6) {
					t.Errorf("%v %s %s: kernel among new points: error %v, or it differs", dims, phi.Name(), slack, err)
				}
				whole, err := ker.Kernel(kernels.Linear{}, x)
				if err != nil || math.Abs(whole.Eval(fresh.RawRowView(0), fresh.RawRowView(1))-among.At(0, 1)) > 1e-6 {
					t.Errorf("%v %s %s: kernel of new points: error %v, or it differs", dims, phi.Name(), slack, err)
				}
			}
		}
	}
}

// TestLogDetIsITML: with hard bounds, LogDet is the problem of package itml.
func TestLogDetIsITML(t *testing.T) {
	x := normal(20, 30, 1)
	k0 := gramOf(x)
	rng := rand.New(rand.NewPCG(3, 1))
	var cs []Constraint
	var links []metric.Link
	for len(cs) < 60 {
		i, j := rng.IntN(20), rng.IntN(20)
		switch {
		case i == j:
		case i%3 == j%3:
			cs, links = append(cs, AtMost(i, j, 45)), append(links, metric.Link{I: i, J: j, Label: metric.Similar})
		default:
			cs, links = append(cs, AtLeast(i, j, 66)), append(links, metric.Link{I: i, J: j, Label: metric.Dissimilar})
		}
	}
	got, err := FitKernel(t.Context(), k0, cs, Params{Tol: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	want, err := itml.FitKernel(t.Context(), k0, links, itml.KernelParams{Gamma: math.Inf(1), Upper: 45, Lower: 66, Tol: 1e-11, MaxCycles: 10000})
	if err != nil {
		t.Fatal(err)
	}
	if k := got.All(k0); got.Status != learners.Converged || !mat.EqualApprox(k, want.All(k0), 1e-6) {
		t.Errorf("%v: K differs", got.Status)
	}
}

// TestConfined: where K₀ is singular, K stays in its range, which the paper's remark on the pseudo-inverse forgets. The
// points 0 and 1 shall be 4 apart: K = K₀ + 3e₁e₁ᵀ would cost nothing, but is no XWXᵀ.
func TestConfined(t *testing.T) {
	k0 := mat.NewSymDense(2, []float64{0, 0, 0, 1})
	got, err := FitKernel(t.Context(), k0, []Constraint{AtLeast(0, 1, 4)}, Params{Tol: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	if want := 4 - 1 - math.Log(4); math.Abs(got.Objective-want) > 1e-10 {
		t.Errorf("objective %v, want %v", got.Objective, want)
	}
	if k := got.All(k0); math.Abs(k.At(1, 1)-4) > 1e-9 || k.At(0, 0) != 0 || k.At(0, 1) != 0 {
		t.Errorf("K = %v", mat.Formatted(k))
	}
}

// TestPinching: Lemma 6 for convex φ, as Φ(W) ≥ Φ(PWP + QWQ) for a projection P and Q = I − P; and its counterexample
// without convexity, φ = |x − 1|·e^(1−x).
func TestPinching(t *testing.T) {
	for seed := range uint64(50) {
		a := normal(5, 5, seed)
		w := gramOf(a)
		pinched := mat.NewSymDense(5, nil)
		for i := range 5 {
			for j := i; j < 5; j++ {
				if (i < 2) == (j < 2) {
					pinched.SetSym(i, j, w.At(i, j))
				}
			}
		}
		for _, phi := range divergences(t) {
			if whole, less := phiOf(phi, w), phiOf(phi, pinched); less > whole+1e-9*(1+whole) {
				t.Errorf("%s: Φ(W) = %v, pinched %v", phi.Name(), whole, less)
			}
		}
	}
	bump := func(x float64) float64 { return math.Abs(x-1) * math.Exp(1-x) }
	// W₁₁ = 2 is asked for. Of the form I + s·e₁e₁ᵀ it costs φ(2) = 1/e; W = [2 c; c v] with eigenvalues 1 and λ costs
	// φ(λ), which falls to 0 as λ grows.
	if lambda := 20.0; bump(lambda) >= bump(2) {
		t.Errorf("φ(%v) = %v is not less than φ(2) = %v", lambda, bump(lambda), bump(2))
	}
}

// TestObjectivesDiffer: for LogDet, D(K, K₀) is Φ(K₀^(−1/2)·K·K₀^(−1/2)); for von Neumann it is not
// (errata on Section 5.1), nor is ‖KK₀⁻¹‖ the Frobenius one (5.2).
func TestObjectivesDiffer(t *testing.T) {
	k0 := mat.NewSymDense(2, []float64{2, 0, 0, 1})
	k := mat.NewSymDense(2, []float64{2, 1, 1, 2})
	var eig spectral.EigenSym
	inner := mat.NewSymDense(2, []float64{1, 1 / math.Sqrt2, 1 / math.Sqrt2, 2})
	if !eig.Factorize(k, true) {
		t.Fatal("no eigenvalues")
	}
	var v mat.Dense
	eig.VectorsTo(&v)
	entropy := 0.0 // tr(K log K − K log K₀ − K + K₀)
	for _, x := range eig.Values(nil) {
		entropy += x * math.Log(x)
	}
	entropy += -k.At(0, 0)*math.Log(2) - mat.Trace(k) + mat.Trace(k0)
	if spectralForm := phiOf(VonNeumann(), inner); math.Abs(entropy-spectralForm) < 0.05 {
		t.Errorf("von Neumann: %v and %v", entropy, spectralForm)
	}
	var right mat.Dense
	right.Mul(k, mat.NewDense(2, 2, []float64{0.5, 0, 0, 1}))
	if a, b := mat.Norm(&right, 2), mat.Norm(inner, 2); math.Abs(a-b) < 0.05 {
		t.Errorf("Frobenius: %v and %v", a, b)
	}
}

// TestInfeasible: contradictions end with a certificate, their nearest neighbours with an answer.
func TestInfeasible(t *testing.T) {
	k0 := gramOf(normal(8, 12, 1))
	for name, tt := range map[string]struct {
		cs       []Constraint
		feasible bool
	}{
		"same pair":        {[]Constraint{AtMost(0, 1, 1), AtLeast(0, 1, 1.1), AtMost(2, 3, 4)}, false},
		"triangle":         {[]Constraint{AtMost(0, 1, 1), AtMost(1, 2, 1), AtLeast(0, 2, 4.01), AtLeast(2, 3, 4)}, false},
		"trace":            {[]Constraint{TraceAtMost(1), AtLeast(0, 2, 4)}, false},
		"trace enough":     {[]Constraint{TraceAtMost(3), AtLeast(0, 2, 4)}, true},
		"negative":         {[]Constraint{AtMost(0, 1, -1)}, false},
		"equations":        {[]Constraint{Exactly(0, 1, 3), Exactly(1, 2, 3), Exactly(0, 2, 20)}, false},
		"equations enough": {[]Constraint{Exactly(0, 1, 3), Exactly(1, 2, 3), Exactly(0, 2, 5)}, true},
		"order":            {[]Constraint{Nearer(0, 1, 2, 1), Nearer(0, 2, 3, 1), Nearer(0, 3, 1, 1)}, false},
		"far apart":        {[]Constraint{AtLeast(0, 2, 1e9)}, true}, // but not contradictory
		"order enough":     {[]Constraint{Nearer(0, 1, 2, 1), Nearer(0, 2, 3, 1)}, true},
	} {
		for _, phi := range divergences(t) {
			got, err := FitKernel(t.Context(), k0, tt.cs, Params{Divergence: phi})
			if err != nil {
				t.Fatal(err)
			}
			want := learners.Converged
			if !tt.feasible {
				want = learners.Infeasible
			}
			if got.Status != want || (got.Certificate != nil) == tt.feasible {
				t.Errorf("%s %s(%v): %v after %d, residual %v, want %v", name, phi.Name(), phi.Alpha(), got.Status, got.Iterations, got.Residual, want)
			}
			if got.Certificate == nil {
				continue
			}
			// Any W ⪰ 0 proves that it is one: Σvᵢaᵢ(W) ≥ 0 > bᵀv.
			sum := 0.0
			for i, c := range tt.cs {
				if c.Sense == SenseAtLeast {
					c.Bound = -c.Bound
				}
				sum += got.Certificate[i] * c.Bound
				if c.Sense != SenseExactly && got.Certificate[i] < 0 {
					t.Errorf("%s: weight %d is %v", name, i, got.Certificate[i])
				}
			}
			if !(sum < 0) {
				t.Errorf("%s: bᵀv = %v", name, sum)
			}
			for seed := range uint64(20) {
				k := gramOf(normal(8, 3, seed))
				a := 0.0
				for i, c := range tt.cs {
					v := side(c, k)
					if c.Sense == SenseAtLeast {
						v = -v
					}
					a += got.Certificate[i] * v
				}
				if a < -1e-6*mat.Trace(k) {
					t.Errorf("%s %s: Σv·tr(CK) = %v", name, phi.Name(), a)
				}
			}
		}
	}
}

// TestReducedShrinks: where a distance has to shrink, L of Eqs. 19 and 20 has a negative eigenvalue, which L ⪰ 0 as printed in 19 forbids.
func TestReducedShrinks(t *testing.T) {
	k0 := mat.NewSymDense(2, []float64{0, 0, 0, 1}) // the points 0 and 1
	j := mat.NewDense(2, 1, []float64{0, 1})
	r, err := FitReduced(t.Context(), k0, j, []Constraint{AtMost(0, 1, 0.25)}, Params{Tol: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.L.At(0, 0); math.Abs(got+0.75) > 1e-9 { // W = 1 + L = 1/4
		t.Errorf("L is %v, want -0.75", got)
	}
}

// TestConjugates compares φ* and x(y) with a search, x′ with a difference quotient, and the
// form without an inverse with x itself.
func TestConjugates(t *testing.T) {
	for _, phi := range divergences(t) {
		_, _, c := phi.conjugate(0)
		for _, y := range []float64{-3, -1.2, -0.2, -1e-3, 1e-3, 0.2, 0.7, 0.9} {
			v, x, slope := phi.conjugate(y)
			best, at := math.Inf(-1), 0.0
			for s := range 200001 {
				u := 20 * float64(s) / 200000
				if w := u*y - phi.Value(u); w > best {
					best, at = w, u
				}
			}
			if math.Abs(v-best) > 1e-6 || math.Abs(x-at) > 2e-2 {
				t.Errorf("%s at %v: φ* = %v at %v, want %v at %v", phi.Name(), y, v, x, best, at)
			}
			_, up, _ := phi.conjugate(y + 1e-6)
			_, down, _ := phi.conjugate(y - 1e-6)
			if q := (up - down) / 2e-6; math.Abs(q-slope) > 1e-3*(1+slope) {
				t.Errorf("%s at %v: x′ = %v, want %v", phi.Name(), y, slope, q)
			}
			if w := phi.Alpha() + y*(c+y*phi.second(y)); math.Abs(w-x) > 1e-12*(1+x) {
				t.Errorf("%s at %v: α + cy + gy² = %v, want %v", phi.Name(), y, w, x)
			}
		}
	}
}

// TestReduced: Theorems 7 and 8. With J whose span holds all constrained objects the reduction is exact, dependent columns or
// not; with a smaller one its W is the best of the form, which a larger J never makes worse.
func TestReduced(t *testing.T) {
	x := normal(10, 6, 21)
	k0 := gramOf(x)
	cs := mixed(x, 3, 22) // no trace
	for _, phi := range divergences(t) {
		for _, slack := range slacks {
			p := Params{Divergence: phi, Slack: slack, C: 0.05, Tol: 1e-11}
			want, err := FitKernel(t.Context(), k0, cs, p)
			if err != nil {
				t.Fatal(err)
			}
			j := mat.NewDense(10, len(want.Support)+2, nil)
			for a, i := range want.Support {
				j.Set(i, a, 1)
			}
			j.Set(want.Support[0], len(want.Support), 3)
			j.Set(want.Support[1], len(want.Support)+1, -2)
			got, err := FitReduced(t.Context(), k0, j, cs, p)
			if err != nil {
				t.Fatal(err)
			}
			if got.Dropped < 2 || math.Abs(got.Objective-want.Objective) > 1e-8*(1+want.Objective) {
				t.Errorf("%s %s: %d dropped, objective %v, want %v", phi.Name(), slack, got.Dropped, got.Objective, want.Objective)
			}
			if !mat.EqualApprox(reducedK(k0, j, got), want.All(k0), 1e-6) {
				t.Errorf("%s %s: K differs", phi.Name(), slack)
			}
			last := math.Inf(1)
			for k := 2; k <= 6 && slack != SlackHard; k++ { // hard constraints may be infeasible for few parameters
				r, err := FitReduced(t.Context(), k0, normal(10, 8, 23).Slice(0, 10, 0, k), cs, p)
				if err != nil {
					t.Fatal(err)
				}
				for i, c := range cs {
					if v := side(c, reducedK(k0, mat.DenseCopyOf(normal(10, 8, 23).Slice(0, 10, 0, k)), r)); math.Abs(v-r.Sides[i]) > 1e-8*(1+math.Abs(v)) {
						t.Errorf("%s %s: side %d is %v, want %v", phi.Name(), slack, i, r.Sides[i], v)
					}
				}
				if r.Status != learners.Converged || r.Objective > last+1e-8 || r.Objective < want.Objective-1e-8 {
					t.Errorf("%s %s: %v with %d columns, objective %v after %v, best %v", phi.Name(), slack, r.Status, k, r.Objective, last, want.Objective)
				}
				last = r.Objective
			}
		}
	}
}

func reducedK(k0 *mat.SymDense, j *mat.Dense, r ReducedResult) *mat.Dense {
	var kj, kjl, k mat.Dense
	kj.Mul(k0, j)
	kjl.Mul(&kj, r.L)
	k.Mul(&kjl, kj.T())
	k.Apply(func(a, b int, v float64) float64 { return v + r.Alpha*k0.At(a, b) }, &k)
	return &k
}
