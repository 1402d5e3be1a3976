package iplr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/logdet"
	"metriclab/internal/matrixtest"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
	"metriclab/pkg/metric/metrictest"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// problem returns n rows in d dimensions of three classes and m links between them, of both kinds.
func problem(seed uint64, n, d, m int) (x *mat.Dense, y []int, links []metric.Link) {
	rng := rand.New(rand.NewPCG(19, seed))
	x, y = mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		y[i] = i % 3
		for j := range d {
			x.Set(i, j, rng.NormFloat64()+float64((y[i]+j)%3))
		}
	}
	for len(links) < m {
		if i, j := rng.IntN(n), rng.IntN(n); i != j {
			links = append(links, metric.Link{I: i, J: j, Label: metric.SameClass(y[i] == y[j])})
		}
	}
	return x, y, links
}

func randomBasis(seed uint64, k, d int) *Basis {
	rng := rand.New(rand.NewPCG(20, seed))
	r := mat.NewDense(k, d, nil)
	for i := range k {
		for j := range d {
			r.Set(i, j, rng.NormFloat64())
		}
	}
	return must(NewBasis(context.Background(), r))
}

// TestStep compares a step with bisection in 300 bits, also where r, ξ, p and γ differ by many orders.
func TestStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	for trial := range 700 {
		spread := 1.0
		if trial%3 == 0 {
			spread = 12
		}
		p, xi := math.Exp(spread*rng.NormFloat64()), math.Exp(rng.NormFloat64())
		r := math.Exp(spread * rng.NormFloat64())
		gamma := math.Exp(4 * rng.NormFloat64())
		switch trial % 7 {
		case 0:
			r = 0
		case 1:
			r = xi * (1 + 1e-9*rng.NormFloat64())
		case 2:
			p = math.Abs(xi-r) * (1 + 1e-9*rng.NormFloat64())
		case 3:
			gamma = math.Inf(1)
			r = xi * rng.Float64()
		}
		ap, q := step(p, r, xi, gamma)
		// p' + r − ξ' grows with p', in terms of which 1/ξ' = 1/ξ + (1/p − 1/p')/γ; below the least p', ξ' is infinite.
		over := func(after *big.Float) int {
			left := new(big.Float).Add(after, number(r))
			if math.IsInf(gamma, 1) {
				return left.Cmp(number(xi))
			}
			inv := func(v *big.Float) *big.Float { return new(big.Float).Quo(number(1), v) }
			a := new(big.Float).Sub(inv(number(p)), inv(after))
			den := new(big.Float).Add(inv(number(xi)), a.Quo(a, number(gamma)))
			if den.Sign() <= 0 {
				return -1
			}
			return left.Cmp(inv(den))
		}
		lo, hi := number(0), number(2*(p+xi)*(1+gamma))
		if math.IsInf(gamma, 1) {
			hi = number(xi)
		}
		for range 240 {
			mid := new(big.Float).Add(lo, hi)
			mid.Quo(mid, number(2))
			if over(mid) > 0 {
				hi = mid
			} else {
				lo = mid
			}
		}
		want, _ := hi.Float64()
		// q depends on r and ξ, whose difference has the round-off of neither: relative to q it is their condition number.
		tol := 1e-12 * (1 + math.Sqrt(r/p) + math.Sqrt(min(gamma, 1e6)))
		if !(math.Abs(q-want) <= tol*want) {
			t.Fatalf("p = %v, r = %v, ξ = %v, γ = %v: p' = %v, want %v (off by %.3g)", p, r, xi, gamma, q, want, q/want-1)
		}
		exact := new(big.Float).Quo(number(p), hi)
		wantAP, _ := new(big.Float).Sub(number(1), exact).Float64()
		if !(math.Abs(ap-wantAP) <= 1e-9*math.Abs(wantAP)+1e-14*(1+r/p)) {
			t.Fatalf("p = %v, r = %v, ξ = %v, γ = %v: a·p = %v, want %v", p, r, xi, gamma, ap, wantAP)
		}
	}
}

// With a basis of the whole space there is no residual, and the fit is that of package itml: the same steps in other coordinates.
func TestWholeSpaceIsITML(t *testing.T) {
	for _, gamma := range []float64{0.5, 1, 30, math.Inf(1)} {
		for _, rule := range []InfeasibleRule{InfeasibleSlack, InfeasibleDrop} {
			x, _, links := problem(1, 30, 6, 60)
			upper, lower := 6.0, 9.0
			want, err := itml.Fit(t.Context(), x, links, itml.Params{Gamma: gamma, Upper: upper, Lower: lower, MaxCycles: 40, Tol: 1e-9})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Fit(t.Context(), x, randomBasis(1, 6, 6), links, Params{Gamma: gamma, Upper: upper, Lower: lower, MaxCycles: 40, Tol: 1e-9, Infeasible: rule})
			if err != nil {
				t.Fatal(err)
			}
			if d := matrixtest.Distance(got.Metric.M(), want.Metric.M()); d > 1e-9 {
				t.Errorf("γ = %v, %v: W differs by %g", gamma, rule, d)
			}
			for i, v := range want.Duals {
				if math.Abs(got.Duals[i]-v) > 1e-9*(1+v) || math.Abs(got.Slacks[i]-want.Slacks[i]) > 1e-9*want.Slacks[i] {
					t.Fatalf("γ = %v, %v: link %d: λ, ξ = %v, %v, want %v, %v", gamma, rule, i, got.Duals[i], got.Slacks[i], v, want.Slacks[i])
				}
			}
			if math.Abs(got.Gap-want.Gap) > 1e-8*(1+math.Abs(want.Gap)) || math.Abs(got.KKT-want.KKT) > 1e-8*(1+want.KKT) || got.Iterations != want.Iterations {
				t.Errorf("γ = %v, %v: gap %v, KKT %v, %d cycles, want %v, %v, %d", gamma, rule, got.Gap, got.KKT, got.Iterations, want.Gap, want.KKT, want.Iterations)
			}
		}
	}
}

// The fit is plain.IPLR, cycle by cycle.
func TestIsPlain(t *testing.T) {
	const tol = 1e-10     // some 10⁵ ε: 400 updates, which the condition of F amplifies
	const tolDuals = 1e-9 // the reference has 1/p − 1/p', which cancels where p is small beside the bound
	x, _, links := problem(5, 40, 9, 80)
	for _, k := range []int{1, 4, 9} {
		for _, gamma := range []float64{0.1, 1, 30, math.Inf(1)} {
			b := randomBasis(5, k, 9)
			upper, lower := 4.0, 15.0 // most similar links are infeasible
			if math.IsInf(gamma, 1) {
				upper, lower = 60, 80 // none is
			}
			got, err := Fit(t.Context(), x, b, links, Params{Gamma: gamma, Upper: upper, Lower: lower, MaxCycles: 5, Tol: 1e-300})
			if err != nil {
				t.Fatal(err)
			}
			want := plain.IPLR(x, b.Vectors(), links, plain.Bounds{Upper: upper, Lower: lower}, gamma, got.Iterations)
			if d := matrixtest.Distance(got.F, want.K); d > tol*mat.Norm(want.K, 2) || d > tol*matrixtest.Distance(want.K, matrixtest.Identity(k)) {
				t.Errorf("k = %d, γ = %v: F differs by %g", k, gamma, d)
			}
			for i := range links {
				if math.Abs(got.Duals[i]-want.Lambda[i]) > tolDuals*(1+want.Lambda[i]) || math.Abs(got.Slacks[i]-want.Xi[i]) > tolDuals*want.Xi[i] {
					t.Fatalf("k = %d, γ = %v, link %d: λ, ξ = %v, %v, want %v, %v", k, gamma, i, got.Duals[i], got.Slacks[i], want.Lambda[i], want.Xi[i])
				}
			}
		}
	}
}

// reference is the optimum by coordinate ascent on the dual: for each λ in turn by bisection on p + r − ξ, where p comes of an inverse
// made anew. It uses no formula of the step.
func reference(x *mat.Dense, u *mat.Dense, links []metric.Link, upper, lower, gamma float64, drop bool) (*mat.SymDense, float64) {
	k, _ := u.Dims()
	m := len(links)
	lambda := make([]float64, m)
	z, r := make([]*mat.VecDense, m), make([]float64, m)
	for i, l := range links {
		v := mat.NewVecDense(len(x.RawRowView(0)), metric.Sub(nil, x.RawRowView(l.I), x.RawRowView(l.J)))
		z[i] = mat.NewVecDense(k, nil)
		z[i].MulVec(u, v)
		r[i] = mat.Dot(v, v) - mat.Dot(z[i], z[i])
	}
	bound := func(i int) (b, fixed float64, ok bool) {
		b = lower
		if links[i].Label == metric.Similar {
			b = upper
		}
		if drop {
			return b - r[i], 0, b > r[i]
		}
		return b, r[i], links[i].Label == metric.Similar || b > r[i]
	}
	inverse := func() *mat.SymDense {
		a := mat.NewSymDense(k, nil)
		for i := range k {
			a.SetSym(i, i, 1)
		}
		for i := range links {
			a.SymRankOne(a, float64(links[i].Label)*lambda[i], z[i])
		}
		var chol mat.Cholesky
		if !chol.Factorize(a) {
			return nil
		}
		f := mat.NewSymDense(k, nil)
		if err := chol.InverseTo(f); err != nil {
			return nil
		}
		return f
	}
	for range 4000 {
		var change float64
		for i := range links {
			b, fixed, ok := bound(i)
			if !ok {
				continue
			}
			delta, before := float64(links[i].Label), lambda[i]
			violated := func(v float64) bool { // more λ is wanted
				lambda[i] = v
				f := inverse()
				if f == nil {
					return false
				}
				t := 1 / b
				if !math.IsInf(gamma, 1) {
					t -= delta * v / gamma
				}
				if t <= 0 {
					return false
				}
				return delta*(mat.Inner(z[i], f, z[i])+fixed-1/t) > 0
			}
			lo, hi := 0.0, 1.0
			if violated(0) {
				for violated(hi) {
					hi *= 2
				}
				for range 60 {
					if mid := (lo + hi) / 2; violated(mid) {
						lo = mid
					} else {
						hi = mid
					}
				}
			} else {
				hi = 0
			}
			lambda[i] = hi
			change = max(change, math.Abs(hi-before))
		}
		if change < 1e-11 {
			break
		}
	}
	f := inverse()
	var chol mat.Cholesky
	chol.Factorize(f)
	objective := mat.Trace(f) - chol.LogDet() - float64(k)
	for i := range links {
		b, fixed, ok := bound(i)
		if !ok || math.IsInf(gamma, 1) {
			continue
		}
		xi, p := b, mat.Inner(z[i], f, z[i])+fixed
		if float64(links[i].Label)*(p-b) > 0 {
			xi = p
		}
		objective += gamma * (xi/b - math.Log(xi/b) - 1)
	}
	return f, objective
}

func TestAgainstReference(t *testing.T) {
	for _, c := range []struct {
		gamma        float64
		upper, lower float64
		rule         InfeasibleRule
	}{
		{1, 6, 12, InfeasibleSlack},
		{10, 3, 14, InfeasibleSlack}, // most similar links are infeasible
		{0.1, 6, 12, InfeasibleSlack},
		{1, 8, 10, InfeasibleDrop},
		{5, 5, 12, InfeasibleDrop},
	} {
		x, _, links := problem(2, 12, 8, 14)
		b := randomBasis(2, 3, 8)
		got, err := Fit(t.Context(), x, b, links, Params{Gamma: c.gamma, Upper: c.upper, Lower: c.lower, Infeasible: c.rule, Tol: 1e-12, MaxCycles: 20000})
		if err != nil {
			t.Fatal(err)
		}
		f, objective := reference(x, b.Vectors(), links, c.upper, c.lower, c.gamma, c.rule == InfeasibleDrop)
		if d := matrixtest.Distance(got.F, f); d > 1e-7 {
			t.Errorf("%+v: F differs by %g from the reference, objective %v", c, d, objective)
		}
		if got.Status != learners.Converged || got.KKT > 1e-7 || got.Gap < 0 || got.Gap > 1e-6 {
			t.Errorf("%+v: %v, KKT %g, gap %g", c, got.Status, got.KKT, got.Gap)
		}
		// The objective of a fit cut short exceeds the least by at most its gap, and not less than by 0.
		short, err := Fit(t.Context(), x, b, links, Params{Gamma: c.gamma, Upper: c.upper, Lower: c.lower, Infeasible: c.rule, Tol: 1e-300, MaxCycles: 2})
		if err != nil {
			t.Fatal(err)
		}
		if above := primal(x, b, links, c.upper, c.lower, c.gamma, c.rule, short.F) - objective; above < -1e-9 || above > short.Gap+1e-9 {
			t.Errorf("%+v: after 2 cycles the objective is %g above the least, the gap is %g", c, above, short.Gap)
		}
	}
}

// primal is the objective at f with the best slacks.
func primal(x *mat.Dense, b *Basis, links []metric.Link, upper, lower, gamma float64, rule InfeasibleRule, f *mat.SymDense) float64 {
	var chol mat.Cholesky
	chol.Factorize(f)
	k := f.SymmetricDim()
	objective := mat.Trace(f) - chol.LogDet() - float64(k)
	for _, l := range links {
		v := mat.NewVecDense(b.u.RawMatrix().Cols, metric.Sub(nil, x.RawRowView(l.I), x.RawRowView(l.J)))
		z := mat.NewVecDense(k, nil)
		z.MulVec(b.u, v)
		r, bound := mat.Dot(v, v)-mat.Dot(z, z), lower
		if l.Label == metric.Similar {
			bound = upper
		}
		p := mat.Inner(z, f, z)
		if rule == InfeasibleDrop {
			if bound -= r; bound <= 0 {
				continue
			}
		} else {
			p += r
		}
		if xi := p; float64(l.Label)*(p-bound) > 0 {
			objective += gamma * (xi/bound - math.Log(xi/bound) - 1)
		}
	}
	return objective
}

// Without slack the fit satisfies what can be satisfied.
func TestHardConstraints(t *testing.T) {
	x, _, links := problem(3, 20, 9, 6)
	b := randomBasis(3, 5, 9)
	p := must(NewProblem(t.Context(), x, b, links))
	upper := 2 * slices.Max(p.Residuals())
	got, err := p.Fit(t.Context(), Params{Gamma: math.Inf(1), Upper: upper, Lower: 1.5 * upper, Tol: 1e-10, MaxCycles: 100000})
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range links {
		q := got.Metric.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
		if l.Label == metric.Similar && q > upper*(1+1e-6) || l.Label == metric.Dissimilar && q < 1.5*upper*(1-1e-6) {
			t.Errorf("link %d, %v: squared distance %v, bounds %v and %v", i, l.Label, q, upper, 1.5*upper)
		}
	}
	if got.Status != learners.Converged || got.Projections == 0 {
		t.Errorf("%v after %d projections", got.Status, got.Projections)
	}
}

// Eq. 8 asks for L ⪰ 0 in W = I + ULUᵀ, under which no distance shrinks. Eq. 11, for F = I + L, is what is learned.
func TestDistancesShrink(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{0, 1})
	b := must(NewBasis(t.Context(), mat.NewDense(1, 1, []float64{1})))
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}}
	got := must(Fit(t.Context(), x, b, links, Params{Gamma: math.Inf(1), Upper: 0.25, Lower: 1, Tol: 1e-12}))
	if f := got.Metric.F().At(0, 0); math.Abs(f-0.25) > 1e-9 {
		t.Errorf("F is %v, want 0.25", f)
	}
}

// Pairs that the basis cannot bring together are told, dropped by one rule, and kept by the other.
func TestInfeasible(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 0, 1, 3, 2, 0.5, 4, 0})
	b := must(NewBasis(t.Context(), mat.NewDense(1, 2, []float64{2, 0})))
	links := []metric.Link{
		{I: 0, J: 1, Label: metric.Similar},    // z = 1, r = 9
		{I: 0, J: 2, Label: metric.Similar},    // z = 2, r = 0.25
		{I: 1, J: 2, Label: metric.Dissimilar}, // z = 1, r = 6.25
		{I: 0, J: 3, Label: metric.Dissimilar}, // z = 4, r = 0
		{I: 1, J: 1, Label: metric.Similar},
	}
	base := Params{Upper: 1, Lower: 5, Tol: 1e-9, MaxCycles: 1000}
	for _, c := range []struct {
		rule   InfeasibleRule
		slacks []float64
	}{
		{InfeasibleSlack, []float64{0, 0, 5, 0, 1}},
		{InfeasibleDrop, []float64{1, 0, 5, 0, 1}},
	} {
		p := base
		p.Infeasible = c.rule
		r, err := Fit(t.Context(), x, b, links, p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Infeasible, []int{0}) || r.Vacuous != 1 || r.Skipped != 1 {
			t.Errorf("%v: infeasible %v, vacuous %d, skipped %d", c.rule, r.Infeasible, r.Vacuous, r.Skipped)
		}
		for i, want := range c.slacks {
			if want > 0 && (r.Slacks[i] != want || r.Duals[i] != 0) {
				t.Errorf("%v: link %d: ξ, λ = %v, %v, want %v, 0", c.rule, i, r.Slacks[i], r.Duals[i], want)
			}
		}
		if kept := r.Duals[0] > 0; kept != (c.rule == InfeasibleSlack) {
			t.Errorf("%v: λ of the infeasible link is %v", c.rule, r.Duals[0])
		}
	}
	base.Gamma = math.Inf(1)
	if _, err := Fit(t.Context(), x, b, links, base); err == nil || !strings.Contains(err.Error(), "link 0, of 0 and 1 counted from 0: the part outside the basis has the squared length 9") {
		t.Errorf("no slack: error %v", err)
	}
	base.Infeasible = InfeasibleDrop
	if r, err := Fit(t.Context(), x, b, links[:3], base); err != nil || r.Status != learners.Converged {
		t.Errorf("no slack, dropped: %v, %v", r.Status, err)
	}
	if r, err := Fit(t.Context(), x, b, links[:1], base); err != nil || r.Status != learners.Converged || r.Projections != 0 || r.F.At(0, 0) != 1 {
		t.Errorf("all dropped: %+v, %v", r.Result, err)
	}
}

// Contradictory links without slack have no optimum: λ grows until the cap, and the KKT residual tells.
func TestContradiction(t *testing.T) {
	x, _, _ := problem(8, 9, 4, 1)
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 1, Label: metric.Dissimilar}}
	r, err := Fit(t.Context(), x, randomBasis(8, 4, 4), links, Params{Gamma: math.Inf(1), Upper: 1, Lower: 2, MaxCycles: 3000})
	if err != nil || r.Status == learners.Converged && r.KKT > logdet.Sound || r.KKT < 0.5 {
		t.Errorf("%v, KKT %v, error %v", r.Status, r.KKT, err)
	}
	if r, err := Fit(t.Context(), x, randomBasis(8, 4, 4), links, Params{Upper: 1, Lower: 2, Tol: 1e-9}); err != nil || r.Status != learners.Converged || r.Gap > 1e-6 {
		t.Errorf("with slack: %v, gap %v, error %v", r.Status, r.Gap, err)
	}
}

// The answer depends on the span of the basis alone, and a prepared problem gives that of Fit to the bit.
func TestSpanOnly(t *testing.T) {
	x, y, links := problem(4, 24, 7, 40)
	means := must(meansOf(rows{dense: x}, groupsOf(y)))
	turned := mat.NewDense(5, 7, nil) // with a duplicate and a zero row
	turned.SetRow(0, means.RawRowView(1))
	for j := range 7 {
		turned.Set(1, j, 1e6*(means.At(0, j)-means.At(1, j)))
		turned.Set(2, j, means.At(2, j)+means.At(1, j))
		turned.Set(4, j, 3*means.At(1, j))
	}
	a, b := must(NewBasis(t.Context(), means)), must(NewBasis(t.Context(), turned))
	if a.Rank() != 3 || b.Rank() != 3 || b.Asked() != 5 {
		t.Fatalf("ranks %d and %d of %d", a.Rank(), b.Rank(), b.Asked())
	}
	p := Params{Gamma: 3, Tol: 1e-6, MaxCycles: 500, Bounds: itml.BoundParams{Low: 20, High: 80}}
	one, two := must(Fit(t.Context(), x, a, links, p)), must(Fit(t.Context(), x, b, links, p))
	if d := matrixtest.Distance(one.Metric.M(), two.Metric.M()); d > 1e-7 {
		t.Errorf("W differs by %g", d)
	}
	prepared := must(NewProblem(t.Context(), x, a, links))
	if _, err := prepared.Fit(t.Context(), Params{Gamma: 0.01}); err != nil {
		t.Fatal(err)
	}
	if again := must(prepared.Fit(t.Context(), p)); !mat.Equal(again.F, one.F) {
		t.Error("a prepared problem gives another answer")
	}
	var rows [][]float64
	for i := range 10 {
		rows = append(rows, x.RawRowView(i))
	}
	metrictest.Check(t, one.Metric, rows, 1e-12)
	dense, low := must(metric.NewMahalanobis(one.Metric.M())), one.Metric
	a1 := must(must(nearest.NewKNN(dense, x, y, nearest.KNNOptions{})).Classify(t.Context(), x, 3))
	if a2 := must(must(nearest.NewKNN(low, x, y, nearest.KNNOptions{})).Classify(t.Context(), x, 3)); !slices.Equal(a1, a2) {
		t.Errorf("nearest neighbours vote %v, of the dense metric %v", a2, a1)
	}
	w := one.Metric.M()
	for i := range 10 {
		v := mat.NewVecDense(7, metric.Sub(nil, rows[i], rows[(i+3)%10]))
		want := mat.Inner(v, w, v)
		e := metric.Euclidean{}.SqDist(one.Metric.Embed(rows[i]), one.Metric.Embed(rows[(i+3)%10]))
		if got := one.Metric.SqDist(rows[i], rows[(i+3)%10]); math.Abs(got-want) > 1e-10*want || math.Abs(e-want) > 1e-10*want {
			t.Errorf("squared distance %v, embedded %v, want %v", got, e, want)
		}
	}
}

// After remakes, and from the loop for long rows, the answer is the same as that of short ones.
func TestLongFit(t *testing.T) {
	x, _, links := problem(5, 60, 20, 300)
	for _, k := range []int{5, 15} {
		b := randomBasis(5, k, 20)
		r, err := Fit(t.Context(), x, b, links, Params{Gamma: 100, Upper: 20, Lower: 50, Tol: 1e-300, MaxCycles: 3000})
		if err != nil {
			t.Fatal(err)
		}
		if r.Projections < logdet.RemakeAfter {
			t.Fatalf("k = %d: only %d projections", k, r.Projections)
		}
		// F and ξ are those of λ.
		inverse := matrixtest.Inverse(t, r.F)
		want := mat.NewSymDense(k, nil)
		for i := range k {
			want.SetSym(i, i, 1)
		}
		for i, l := range links {
			z := mat.NewVecDense(k, nil)
			z.MulVec(b.u, mat.NewVecDense(20, metric.Sub(nil, x.RawRowView(l.I), x.RawRowView(l.J))))
			want.SymRankOne(want, float64(l.Label)*r.Duals[i], z)
		}
		if d := matrixtest.Distance(inverse, want); d > 1e-8 {
			t.Errorf("k = %d: F⁻¹ is off by %g", k, d)
		}
	}
}

func TestFitErrors(t *testing.T) {
	x, _, links := problem(6, 9, 4, 10)
	b := randomBasis(6, 2, 4)
	bad := mat.DenseCopyOf(x)
	bad.Set(3, 2, math.NaN())
	huge := mat.DenseCopyOf(x)
	huge.Scale(1e160, huge)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		x     mat.Matrix
		links []metric.Link
		basis *Basis
		p     Params
		want  string
	}{
		"no links":     {x: x, want: "links: none given"},
		"label":        {x: x, links: []metric.Link{{I: 0, J: 1}}, want: "link 0: label 0"},
		"index":        {x: x, links: []metric.Link{{I: 0, J: 9, Label: 1}}, want: "link 0: row 9"},
		"NaN":          {x: bad, links: links, want: "row 3, column 2: NaN"},
		"huge":         {x: huge, links: links, want: "scale the data down"},
		"dimension":    {x: x, links: links, basis: randomBasis(1, 2, 5), want: "basis: its vectors have 5 numbers, want 4"},
		"gamma":        {x: x, links: links, p: Params{Gamma: -1}, want: "gamma: -1"},
		"one bound":    {x: x, links: links, p: Params{Upper: 1}, want: "both or neither"},
		"u = l":        {x: x, links: links, p: Params{Upper: 1, Lower: 1}, want: "want upper < lower"},
		"small bound":  {x: x, links: links, p: Params{Upper: 1e-150, Lower: 1}, want: "upper: 1e-150"},
		"large bound":  {x: x, links: links, p: Params{Upper: 1, Lower: 1e150}, want: "lower: 1e+150"},
		"NaN bound":    {x: x, links: links, p: Params{Upper: math.NaN(), Lower: 1}, want: "upper: NaN"},
		"rule":         {x: x, links: links, p: Params{Infeasible: 2}, want: "infeasible: 2"},
		"cycles":       {x: x, links: links, p: Params{MaxCycles: -1}, want: "max_cycles: -1"},
		"tolerance":    {x: x, links: links, p: Params{Tol: -1}, want: "tol: -1"},
		"bounds":       {x: x, links: links, p: Params{Bounds: itml.BoundParams{Low: 60, High: 40}}, want: "low < high"},
		"one distance": {x: x, links: links[:1], want: "want upper < lower"},
		"context":      {ctx: done, x: x, links: links, want: "context canceled"},
	} {
		if c.ctx == nil {
			c.ctx = t.Context()
		}
		if c.basis == nil {
			c.basis = b
		}
		r, err := Fit(c.ctx, c.x, c.basis, c.links, c.p)
		if err == nil || !strings.HasPrefix(err.Error(), "iplr: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
		if r.Metric != nil {
			t.Errorf("%s: an answer beside the error", name)
		}
	}
	for name, f := range map[string]func(){
		"x":       func() { Fit(t.Context(), nil, b, links, Params{}) },
		"empty":   func() { Fit(t.Context(), new(mat.Dense), b, links, Params{}) },
		"basis":   func() { Fit(t.Context(), x, nil, links, Params{}) },
		"zero":    func() { new(Problem).Fit(t.Context(), Params{}) },
		"r":       func() { NewBasis(t.Context(), nil) },
		"j":       func() { FitKernel(t.Context(), mat.NewSymDense(2, nil), nil, links, Params{}) },
		"rng":     func() { RandomColumns(nil, 3, 2) },
		"columns": func() { RandomColumns(rand.New(rand.NewPCG(1, 1)), 3, 4) },
		"kernel":  func() { new(KernelMetric).F() },
	} {
		func() {
			defer func() {
				if p, ok := recover().(string); !ok || !strings.HasPrefix(p, "iplr: ") {
					t.Errorf("%s: panic %v", name, p)
				}
			}()
			f()
		}()
	}
}

// Progress is told, changes nothing, and a fit may be cancelled at any cycle, also in a goroutine of its own.
func TestProgress(t *testing.T) {
	x, _, links := problem(7, 30, 6, 50)
	b := randomBasis(7, 3, 6)
	p := Params{Tol: 1e-9, MaxCycles: 50}
	want := must(Fit(t.Context(), x, b, links, p))
	for _, apart := range []bool{false, true} {
		if apart {
			abandon.Always(t)
		}
		told := 0
		p.Progress = func(g learners.Progress) { told++ }
		got := must(Fit(t.Context(), x, b, links, p))
		if told != got.Iterations || !mat.Equal(got.F, want.F) {
			t.Errorf("told %d times of %d cycles", told, got.Iterations)
		}
		ctx, cancel := context.WithCancel(t.Context())
		p.Progress = func(g learners.Progress) { cancel() }
		if _, err := Fit(ctx, x, b, links, p); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: error %v", err)
		}
	}
}

func ExampleFit() {
	// Two features tell the classes apart, the third is noise. The basis is that of the class means.
	x := mat.NewDense(6, 3, []float64{0, 0, 3, 2, 0, -3, 1, 0, 0, 4, 4, 3, 5, 4, 0, 4, 5, -3})
	y := []int{0, 0, 0, 1, 1, 1}
	basis, err := MeansBasis(context.Background(), x, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	var links []metric.Link
	for i := range 6 {
		for j := range i {
			links = append(links, metric.Link{I: i, J: j, Label: metric.SameClass(y[i] == y[j])})
		}
	}
	r, err := Fit(context.Background(), x, basis, links, Params{Upper: 20, Lower: 60})
	if err != nil {
		fmt.Println(err)
		return
	}
	before, after := metric.Euclidean{}.SqDist(x.RawRowView(0), x.RawRowView(3)), r.Metric.SqDist(x.RawRowView(0), x.RawRowView(3))
	fmt.Printf("%v; two rows of different classes: %.0f before, %.0f after\n", r.Status, before, after)
	var file bytes.Buffer
	if err := r.Metric.Save(&file); err != nil {
		fmt.Println(err)
	}
	again, err := metric.LoadLowRank(&file)
	fmt.Println(again.Rank(), again.SqDist(x.RawRowView(0), x.RawRowView(3)) == after, err)
	// Output:
	// converged; two rows of different classes: 32 before, 52 after
	// 2 true <nil>
}

func ExampleBasis() {
	// The third vector is the sum of the others: it adds no direction.
	basis, err := NewBasis(context.Background(), mat.NewDense(3, 4, []float64{1, 0, 0, 0, 0, 2, 0, 0, 1, 2, 0, 0}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(basis.Rank(), "of", basis.Asked())
	// Output:
	// 2 of 3
}

func ExampleProblem() {
	x := mat.NewDense(4, 3, []float64{0, 0, 3, 2, 0, -3, 4, 4, 3, 5, 4, -3})
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 2, J: 3, Label: metric.Similar}, {I: 0, J: 2, Label: metric.Dissimilar}}
	basis, err := MeansBasis(context.Background(), x, []int{0, 0, 1, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	// What depends on rows and basis is prepared once, for all γ.
	problem, err := NewProblem(context.Background(), x, basis, links)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, gamma := range []float64{0.1, 10} {
		r, err := problem.Fit(context.Background(), Params{Gamma: gamma, Upper: 20, Lower: 60})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("γ = %v: %.0f, was 32\n", gamma, r.Metric.SqDist(x.RawRowView(0), x.RawRowView(2)))
	}
	// Output:
	// γ = 0.1: 33, was 32
	// γ = 10: 52, was 32
}

func ExampleKernelProblem() {
	// Of four objects only the inner products are known. J picks two of them.
	x := mat.NewDense(4, 3, []float64{0, 0, 3, 2, 0, -3, 4, 4, 3, 5, 4, -3})
	var k0 mat.SymDense
	k0.SymOuterK(1, x)
	j := mat.NewDense(4, 2, []float64{1, 0, 0, 0, 0, 1, 0, 0})
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 2, Label: metric.Dissimilar}}
	problem, err := NewKernelProblem(context.Background(), &k0, j, links)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := problem.Fit(context.Background(), Params{Upper: 20, Lower: 60})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(problem.Rank(), r.Status)
	// Output:
	// 2 converged
}
