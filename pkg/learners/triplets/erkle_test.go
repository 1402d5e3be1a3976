package triplets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// randomTriplet draws a triplet of three of n ≥ 3 objects.
func randomTriplet(r *rand.Rand, n int) metric.Triplet {
	p := r.Perm(n)
	return metric.Triplet{A: p[0], Near: p[1], Far: p[2]}
}

// gradientMatrix is G, entry by entry as in Eq. 4.10, or the Frobenius one.
func gradientMatrix(n int, t metric.Triplet, g Gradient) *mat.SymDense {
	m := mat.NewSymDense(n, nil)
	off := 2.0
	if g == GradientFrobenius {
		off = 1
	}
	m.SetSym(t.A, t.Near, -off)
	m.SetSym(t.A, t.Far, off)
	m.SetSym(t.Near, t.Near, 1)
	m.SetSym(t.Far, t.Far, -1)
	return m
}

// differenceOf is D under k, by Eq. 3.2.
func differenceOf(k mat.Symmetric, t metric.Triplet) float64 {
	sq := func(i, j int) float64 { return k.At(i, i) + k.At(j, j) - 2*k.At(i, j) }
	return sq(t.A, t.Near) - sq(t.A, t.Far)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// wishart returns a kernel of the given rank.
func wishart(r *rand.Rand, n, rank int) *mat.SymDense {
	x := mat.NewDense(n, rank, nil)
	for i := range n {
		for j := range rank {
			x.Set(i, j, r.NormFloat64()/math.Sqrt(float64(rank)))
		}
	}
	k := mat.NewSymDense(n, nil)
	k.SymOuterK(1, x)
	return k
}

// allForms are parameters that use every loss, step rule, gradient and form of the kernel.
func allForms(n int) []ERKLEParams {
	out := []ERKLEParams{
		{},
		{Gradient: GradientFrobenius, Beta: 2},
		{Projection: ProjectPrintedRule, Beta: 3, Seed: 7},
		{Projection: ProjectDense},
		{Loss: STE, P: 0.9, Projection: ProjectDense, Gradient: GradientFrobenius},
		{Loss: STE, Step: StepConstant, Delta: 0.4},
		{Step: StepConstant, Delta: 0.2, Margin: 0.5},
		{Loss: STE, Step: StepInverseSqrt, Beta: 2},
		{Step: StepInverse, Beta: 4, Seed: 1},
		{Reject: 0.12, Margin: 1.1, Beta: 2},
		{Initial: wishart(rand.New(rand.NewPCG(1, 3)), n, 2)},
		{Initial: mat.NewSymDense(n, nil), Projection: ProjectPrintedRule},
		{Trace: 0.1},
		{TraceRule: TraceBudget, Beta: 2},
		{Beta: 3, Draws: DrawSeldom},
		{Trace: 0.02, Beta: 3, Loss: STE, Step: StepConstant, Delta: 0.5},
		{Trace: 0.1, Projection: ProjectDense},
	}
	return out
}

// −G = radius·(wwᵀ − uuᵀ) with orthonormal u and w, and D falls by drop·γ (Eqs. 4.10, 4.15).
func TestDirections(t *testing.T) {
	const tol = 1e-15
	f := metric.Triplet{A: 0, Near: 1, Far: 2}
	for _, g := range []Gradient{GradientPrinted, GradientFrobenius} {
		u, w := g.directions()
		want := gradientMatrix(3, f, g)
		for i := range 3 {
			for j := range 3 {
				if got := g.radius() * (u[i]*u[j] - w[i]*w[j]); !scalar.EqualWithinAbs(got, want.At(i, j), 2*tol) {
					t.Errorf("%v: entry %d, %d is %v, want %v", g, i, j, got, want.At(i, j))
				}
			}
		}
		var uu, ww, uw float64
		for i := range 3 {
			uu, ww, uw = uu+u[i]*u[i], ww+w[i]*w[i], uw+u[i]*w[i]
		}
		if !scalar.EqualWithinAbs(uu, 1, tol) || !scalar.EqualWithinAbs(ww, 1, tol) || !scalar.EqualWithinAbs(uw, 0, tol) {
			t.Errorf("%v: uᵀu = %v, wᵀw = %v, uᵀw = %v", g, uu, ww, uw)
		}
		if got := differenceOf(want, f); got != g.drop() {
			t.Errorf("%v: D of G is %v, want %v", g, got, g.drop())
		}
	}
	if u, w := GradientPrinted.directions(); u != [3]float64{2. / 3, -2. / 3, 1. / 3} || w != [3]float64{2. / 3, 1. / 3, -2. / 3} {
		t.Errorf("u = %v, w = %v", u, w)
	}
}

// Theorem 4.1: a step is the projection of K − γG by a full eigendecomposition, of
// which at most one eigenvalue is negative.
func TestStepIsTheFullProjection(t *testing.T) {
	const tol = 1e-10 // entries are of the order of 1
	const n = 8
	for _, p := range allForms(n) {
		if p.Beta > 1 || p.traced() {
			continue
		}
		r := rand.New(rand.NewPCG(1, 2))
		l := must(NewERKLE(n, p))
		for i := range 400 {
			f := randomTriplet(r, n)
			before := l.Kernel()
			o, err := l.Step(f)
			if err != nil {
				t.Fatal(err)
			}
			var step, want mat.SymDense
			step.ScaleSym(-o.StepSize, gradientMatrix(n, f, p.Gradient))
			want.AddSym(before, &step)
			var e mat.EigenSym
			if !e.Factorize(&want, false) || e.Values(nil)[1] < -tol {
				t.Fatalf("%+v: step %d: eigenvalues %v, want at most one negative", p, i, e.Values(nil))
			}
			projected, _, err := metric.ProjectPSD(&want)
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Kernel(); !mat.EqualApprox(got, projected, tol) {
				t.Fatalf("%+v: step %d: kernel is not the projection", p, i)
			}
			if negative := e.Values(nil)[0] < -tol; negative && o.Projections != 1 || o.Projections > 1 {
				t.Fatalf("%+v: step %d: %d projections, smallest eigenvalue %v", p, i, o.Projections, e.Values(nil)[0])
			}
		}
		if s := l.Stats(); s.Projected == 0 || s.Active == s.Projected && p.Initial == nil {
			t.Errorf("%+v: %+v, want steps with and without a projection", p, s)
		}
	}
}

// plainERKLE is plain.ERKLE with the parameters.
func plainERKLE(n int, p ERKLEParams) *plain.ERKLE {
	p = p.Resolved()
	l := plain.NewERKLE(n)
	if p.Initial != nil {
		l.K.CopySym(p.Initial)
	}
	l.Off = map[Gradient]float64{GradientPrinted: 2, GradientFrobenius: 1}[p.Gradient]
	l.Trace, l.Beta, l.Rand = p.Trace, p.Beta, rand.New(rand.NewPCG(p.Seed, 0))
	kappa := p.Margin
	if p.Loss == STE {
		kappa = math.Log(p.P) - math.Log(1-p.P)
	}
	passive := plain.PassiveAggressive(kappa, map[Gradient]float64{GradientPrinted: 10, GradientFrobenius: 6}[p.Gradient])
	l.Rule = func(j int, d float64) (delta, f float64) {
		switch {
		case p.Step == StepPassiveAggressive:
			delta, f = passive(j, d)
		case p.Loss == STE: // Eq. 4.12
			f = 1 - math.Exp(-d)/(1+math.Exp(-d))
		case d+p.Margin > 0: // Eq. 4.13
			f = 1
		}
		if p.Step != StepPassiveAggressive {
			delta = p.Delta * map[StepRule]float64{StepConstant: 1, StepInverseSqrt: 1 / math.Sqrt(float64(j)), StepInverse: 1 / float64(j)}[p.Step]
		}
		if p.Reject > 0 && delta*f > p.Reject {
			return 0, 0
		}
		return delta, f
	}
	return l
}

// slow is Algorithms 1 and 2 with full eigendecompositions and what is ours beside them: rules for the trace, and draws.
type slow struct {
	p     ERKLEParams
	k     *mat.SymDense
	j     int
	seen  []metric.Triplet
	draws *rand.Rand
	first float64 // the trace of K₀
	times []int   // how often each triplet was drawn
}

func newSlow(n int, p ERKLEParams) *slow {
	p = p.Resolved()
	k := scaledIdentity(n, 1)
	if p.Initial != nil {
		k.CopySym(p.Initial)
	}
	return &slow{p: p, k: k, draws: rand.New(rand.NewPCG(p.Seed, 0)), first: mat.Trace(k)}
}

func (s *slow) step(t metric.Triplet) {
	s.j++
	s.seen, s.times = append(s.seen, t), append(s.times, 0)
	s.update(s.j, t)
	if s.j > 2*s.p.Beta {
		for k := 1; k <= s.p.Beta-1; k++ {
			s.update(s.j+k, s.seen[s.draw()])
		}
	}
}

// draw accepts a number drawn uniformly with a probability in proportion to its weight.
func (s *slow) draw() int {
	for {
		i := s.draws.IntN(s.j)
		if s.p.Draws == DrawUniform || s.draws.Float64()*float64(1+s.times[i]) < float64(1+slices.Min(s.times)) {
			s.times[i]++
			return i
		}
	}
}

// shrinkage is by how much the eigenvalues fall.
func (s *slow) shrinkage(j int, delta float64) float64 {
	switch s.p.TraceRule {
	case TraceBudget:
		return max(0, mat.Trace(s.k)-s.first) / float64(s.k.SymmetricDim())
	case TraceShare:
		return delta / float64(j)
	}
	return delta * s.p.Trace
}

func (s *slow) update(j int, t metric.Triplet) {
	d := differenceOf(s.k, t)
	p := math.Exp(-d) / (1 + math.Exp(-d)) // Eq. 3.5
	var f float64                          // Eqs. 4.12, 4.13
	if s.p.Loss == STE {
		f = 1 - p
	} else if d+s.p.Margin > 0 {
		f = 1
	}
	delta := s.p.Delta * map[StepRule]float64{StepConstant: 1, StepInverseSqrt: 1 / math.Sqrt(float64(j)), StepInverse: 1 / float64(j)}[s.p.Step]
	gamma := delta * f
	if s.p.Step == StepPassiveAggressive { // Eqs. 4.18, 4.20
		kappa := s.p.Margin
		if s.p.Loss == STE {
			kappa = math.Log(s.p.P) - math.Log(1-s.p.P)
		}
		denominator := map[Gradient]float64{GradientPrinted: 10, GradientFrobenius: 6}[s.p.Gradient]
		gamma = max(0, (d+kappa)/denominator)
		delta = gamma
	}
	if gamma == 0 || s.p.Reject > 0 && gamma > s.p.Reject {
		return
	}
	n, x := s.k.SymmetricDim(), s.shrinkage(j, delta)
	step := mat.NewSymDense(n, nil)
	step.ScaleSym(-gamma, gradientMatrix(n, t, s.p.Gradient))
	s.k.AddSym(s.k, step)
	s.k.AddSym(s.k, scaledIdentity(n, -x))
	s.k, _, _ = metric.ProjectPSD(s.k)
}

// ERKLE is Algorithm 1, and with Beta > 1 Algorithm 2, for all losses, step rules, gradients and forms of
// the kernel.
func TestERKLEIsPlain(t *testing.T) {
	const tol = 1e-9 // of 300 rounds of steps equal to 1e-14, which the conflicts of random triplets amplify
	const n = 7
	for _, p := range allForms(n) {
		if ours(p) {
			continue
		}
		r := rand.New(rand.NewPCG(8, 9))
		l, want := must(NewERKLE(n, p)), plainERKLE(n, p)
		for i := range 300 {
			f := randomTriplet(r, n)
			if _, err := l.Step(f); err != nil {
				t.Fatal(err)
			}
			want.Step(f)
			if got := l.Kernel(); !mat.EqualApprox(got, want.K, tol) {
				t.Fatalf("%+v: round %d: kernel\n%v\nwant\n%v", p, i, mat.Formatted(got), mat.Formatted(want.K))
			}
		}
	}
}

// ours tells parameters that the paper does not have: plain.ERKLE does not have them, either.
func ours(p ERKLEParams) bool { return p.TraceRule != TraceFixed || p.Draws != DrawUniform }

// What is ours beside Algorithms 1 and 2 is compared with full eigendecompositions, too.
func TestERKLEIsSlow(t *testing.T) {
	const tol = 1e-9 // as in TestERKLEIsPlain
	const n = 7
	tried := 0
	for _, p := range allForms(n) {
		if !ours(p) {
			continue
		}
		tried++
		r := rand.New(rand.NewPCG(8, 9))
		l, want := must(NewERKLE(n, p)), newSlow(n, p)
		for i := range 300 {
			f := randomTriplet(r, n)
			if _, err := l.Step(f); err != nil {
				t.Fatal(err)
			}
			want.step(f)
			if got := l.Kernel(); !mat.EqualApprox(got, want.k, tol) {
				t.Fatalf("%+v: round %d: kernel\n%v\nwant\n%v", p, i, mat.Formatted(got), mat.Formatted(want.k))
			}
		}
	}
	if tried == 0 {
		t.Error("no form is ours")
	}
}

// Algorithm 2 with β = 1 is Algorithm 1, and whatever β, the first 2β rounds are.
func TestBeta(t *testing.T) {
	const n, beta = 6, 5
	one, many := must(NewERKLE(n, ERKLEParams{Beta: 1, Seed: 3})), must(NewERKLE(n, ERKLEParams{Beta: beta}))
	zero := must(NewERKLE(n, ERKLEParams{}))
	r := rand.New(rand.NewPCG(1, 4))
	for i := range 40 {
		f := randomTriplet(r, n)
		a, _ := one.Step(f)
		b, _ := zero.Step(f)
		c, _ := many.Step(f)
		if a != b {
			t.Fatalf("round %d: β = 1 gives %+v, the default %+v", i+1, a, b)
		}
		if i+1 <= 2*beta && a != c {
			t.Fatalf("round %d: β = %d gives %+v, β = 1 %+v", i+1, beta, c, a)
		}
	}
	if got := zero.Stats().Steps; got != 40 {
		t.Errorf("β = 1: %d updates, want 40", got)
	}
	if got, want := many.Stats().Steps, 40+(beta-1)*(40-2*beta); got != want {
		t.Errorf("β = %d: %d updates, want %d", beta, got, want)
	}
}

// Eqs. 4.14, 4.19: after a passive-aggressive step that needs no projection D is −κ, so that for STE p is P, and a
// triplet that is satisfied by that much changes nothing.
func TestPassiveAggressive(t *testing.T) {
	const n = 40
	for _, c := range []struct {
		p     ERKLEParams
		kappa float64
	}{
		{ERKLEParams{}, 1},
		{ERKLEParams{Margin: 0.3, Gradient: GradientFrobenius}, 0.3},
		{ERKLEParams{Loss: STE}, 1},
		{ERKLEParams{Loss: STE, P: 0.9}, math.Log(9)},
	} {
		r := rand.New(rand.NewPCG(5, 1))
		l := must(NewERKLE(n, c.p))
		free := 0
		for range 60 {
			f := randomTriplet(r, n)
			o, err := l.Step(f)
			if err != nil {
				t.Fatal(err)
			}
			got := difference(l.Predict(f))
			if o.Projections == 0 {
				free++
				if !scalar.EqualWithinAbs(got, -c.kappa, 1e-14) { // a few roundings of entries of the order of 1
					t.Errorf("%+v: D = %v after a step, want %v", c.p, got, -c.kappa)
				}
				if p := 1 / (1 + math.Exp(got)); c.p.P != 0 && !scalar.EqualWithinAbs(p, c.p.P, 1e-14) {
					t.Errorf("%+v: p = %v, want %v", c.p, p, c.p.P)
				}
			}
			if got > -c.kappa-1e-9 {
				continue
			}
			before := l.Kernel()
			if o, _ := l.Step(f); o.Updated || o.StepSize != 0 || !mat.Equal(before, l.Kernel()) {
				t.Errorf("%+v: D = %v, and an update %+v", c.p, got, o)
			}
		}
		if free < 5 {
			t.Errorf("%+v: %d steps without a projection", c.p, free)
		}
	}
}

// Losses are those of Eqs. 3.5 and 3.6, also where exp would overflow.
func TestLoss(t *testing.T) {
	f := metric.Triplet{A: 0, Near: 1, Far: 2}
	for _, x := range []float64{0, 0.5, 3, 900} {
		k := mat.NewSymDense(3, []float64{0, 0, 0, 0, x, 0, 0, 0, 1})
		d := x - 1 // of d²(0, 1) − d²(0, 2)
		g := must(NewERKLE(3, ERKLEParams{Initial: k, Margin: 0.25}))
		if got, want := g.Loss(f), max(0, d+0.25); got != want {
			t.Errorf("D = %v: hinge loss %v, want %v", d, got, want)
		}
		s := must(NewERKLE(3, ERKLEParams{Initial: k, Loss: STE}))
		want := math.Log(1 + math.Exp(d))
		if d > 100 {
			want = d
		}
		if got := s.Loss(f); !scalar.EqualWithinAbsOrRel(got, want, 1e-15, 1e-15) {
			t.Errorf("D = %v: logistic loss %v, want %v", d, got, want)
		}
		if got := s.Loss(metric.Triplet{A: 0, Near: 2, Far: 1}); !scalar.EqualWithinAbsOrRel(got, want-d, 1e-15, 1e-13) {
			t.Errorf("D = %v: logistic loss %v, want %v", -d, got, want-d)
		}
	}
}

// Round-off does not make a squared distance negative.
func TestPredictIsNotNegative(t *testing.T) {
	k := scaledIdentity(3, 1)
	k.SetSym(0, 1, 1+1e-11) // an eigenvalue of −1e-11, which is taken for round-off
	l := must(NewERKLE(3, ERKLEParams{Initial: k}))
	if got := l.Predict(metric.Triplet{A: 0, Near: 1, Far: 2}); got.SqNear != 0 || got.SqFar != 2 {
		t.Errorf("%+v, want 0 and 2", got)
	}
}

// A step longer than Reject is counted, and changes nothing.
func TestReject(t *testing.T) {
	f, g := metric.Triplet{A: 0, Near: 1, Far: 2}, metric.Triplet{A: 0, Near: 2, Far: 1}
	l := must(NewERKLE(3, ERKLEParams{Reject: 0.15}))
	if o, err := l.Step(f); err != nil || !scalar.EqualWithinAbs(o.StepSize, 0.1, 1e-15) {
		t.Fatalf("%+v, error %v", o, err)
	}
	before := l.Kernel()
	o, err := l.Step(g) // D = 1, γ = 0.2
	if err != nil || o.Updated || o.StepSize != 0 || !o.Mistake || o.Loss == 0 || !mat.Equal(before, l.Kernel()) {
		t.Errorf("%+v, error %v", o, err)
	}
	if got, want := l.Stats(), (ERKLEStats{Steps: 2, Active: 1, Rejected: 1}); got.Steps != want.Steps || got.Active != want.Active || got.Rejected != want.Rejected {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Contradictory triplets are learned in turn, whatever the rule and however large the step, and the kernel
// stays finite and positive semi-definite.
func TestContradictions(t *testing.T) {
	f, g := metric.Triplet{A: 0, Near: 1, Far: 2}, metric.Triplet{A: 0, Near: 2, Far: 1}
	for _, p := range []ERKLEParams{{}, {Loss: STE, P: 1 - 1e-9}, {Trace: 0.1}, {Step: StepConstant, Delta: MaxStep}, {Margin: MaxStep}, {Step: StepConstant, Trace: MaxStep, Delta: MaxStep}} {
		l := must(NewERKLE(4, p))
		for i := range 500 {
			o1, err1 := l.Step(f)
			o2, err2 := l.Step(g)
			if err1 != nil || err2 != nil || p.Step == StepPassiveAggressive && (!o1.Updated || !o2.Updated) {
				t.Fatalf("%+v: turn %d: %+v, %+v, errors %v, %v", p, i, o1, o2, err1, err2)
			}
			if d := difference(l.Predict(g)); !p.traced() && p.Step == StepPassiveAggressive && !(d < 0) {
				t.Fatalf("%+v: turn %d: D of the last triplet is %v", p, i, d)
			}
		}
		k := l.Kernel()
		var e mat.EigenSym
		if !e.Factorize(k, false) {
			t.Fatalf("%+v: no eigenvalues of %v", p, k)
		}
		if v := e.Values(nil); math.IsNaN(v[3]) || math.IsInf(v[3], 0) || v[0] < -1e-12*v[3] {
			t.Errorf("%+v: eigenvalues %v", p, v)
		}
	}
}

// The paper's rule: λ̂ never exceeds the smallest eigenvalue, falls by 3γ, and no eigenpair is computed while it is
// not negative.
func TestPrintedRule(t *testing.T) {
	const n = 12
	for _, g := range []Gradient{GradientPrinted, GradientFrobenius} {
		r := rand.New(rand.NewPCG(2, 2))
		l := must(NewERKLE(n, ERKLEParams{Projection: ProjectPrintedRule, Gradient: g}))
		bound, skipped, computed := 1.0, 0, 0
		for i := range 300 {
			o, err := l.Step(randomTriplet(r, n))
			if err != nil {
				t.Fatal(err)
			}
			var e mat.EigenSym
			e.Factorize(l.Kernel(), false)
			if o.Updated {
				if bound -= g.radius() * o.StepSize; bound >= 0 {
					skipped++
				} else {
					computed++
					bound = max(0, e.Values(nil)[0])
					if o.Projections == 1 {
						bound = 0
					}
				}
			}
			if got := l.Stats().By; got[CertificateWeyl] != skipped || got[CertificateComputed] != computed {
				t.Fatalf("%v: step %d: %v, want %d skipped and %d computed", g, i, got, skipped, computed)
			}
			if got := l.k.(*dense).least; !scalar.EqualWithinAbs(got, bound, 1e-9) || got > e.Values(nil)[0]+1e-9 { // of Lanczos
				t.Fatalf("%v: step %d: λ̂ = %v, want %v, at most %v", g, i, got, bound, e.Values(nil)[0])
			}
		}
		if skipped < 3 || computed < 3 {
			t.Errorf("%v: %d skipped, %d computed", g, skipped, computed)
		}
	}
}

func TestERKLEParamsErrors(t *testing.T) {
	nan := math.NaN()
	for want, p := range map[string]ERKLEParams{
		"loss: ckl is not allowed, want GNMDS or STE":                                          {Loss: CKL},
		"loss: Loss(-1) is not allowed":                                                        {Loss: -1},
		"step: StepRule(4) is not allowed, want StepPassiveAggressive":                         {Step: 4},
		"delta: -1 is not allowed, want a number > 0 and at most 1e+100":                       {Delta: -1},
		"delta: +Inf is not allowed":                                                           {Delta: math.Inf(1)},
		"margin: NaN is not allowed, want a number > 0":                                        {Margin: nan},
		"margin: 1e+101 is not allowed":                                                        {Margin: 1e101},
		"p: 0.5 is not allowed, want a number > 0.5 and < 1":                                   {P: 0.5},
		"p: 1 is not allowed":                                                                  {P: 1},
		"p: NaN is not allowed":                                                                {P: nan},
		"beta: -1 is not allowed, want an integer from 1 to 1000000":                           {Beta: -1},
		"gradient: Gradient(2) is not allowed, want GradientPrinted or GradientFrobenius":      {Gradient: 2},
		"trace: -0.1 is not allowed, want a number from 0 to 1e+100":                           {Trace: -0.1},
		"trace: NaN is not allowed":                                                            {Trace: nan},
		"reject: -1 is not allowed, want a number > 0":                                         {Reject: -1},
		"projection: Projection(3) is not allowed, want ProjectStructured":                     {Projection: 3},
		"projection: printed-rule is not allowed with a trace penalty, want ProjectStructured": {Projection: ProjectPrintedRule, Trace: 1},
		"initial: is 2×2, want 3×3":                                                            {Initial: scaledIdentity(2, 1)},
		"initial: row 1, column 2: NaN is not allowed":                                         {Initial: mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, nan, 0, nan, 1})},
		"initial: row 2, column 2: 1e+101 is not allowed":                                      {Initial: mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1e101})},
		"initial: is not positive semi-definite, its smallest eigenvalue is -0.5":              {Initial: mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, -0.5})},
		"initial: is not positive semi-definite, its smallest eigenvalue is -1":                {Initial: scaledIdentity(3, -1)},
		"initial: is not positive semi-definite, its smallest eigenvalue is -0.0000001":        {Initial: mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, -1e-7})},
	} {
		want = strings.Replace(want, "-0.0000001", "-1e-07", 1)
		l, err := NewERKLE(3, p)
		if l != nil || err == nil || !strings.HasPrefix(err.Error(), "erkle: "+want) {
			t.Errorf("%+v: error %v, want %q", p, err, want)
		}
		if indefinite := strings.Contains(want, "semi-definite"); indefinite != errors.Is(err, metric.ErrNotPSD) {
			t.Errorf("%+v: error %v wraps ErrNotPSD: %t", p, err, !indefinite)
		}
	}
	for _, n := range []int{0, -3} {
		if _, err := NewERKLE(n, ERKLEParams{}); err == nil || err.Error() != fmt.Sprintf("erkle: n: %d is not allowed, want at least 1 object", n) {
			t.Errorf("n = %d: error %v", n, err)
		}
	}
}

// Names of losses, rules, gradients and projections are read as they are written.
func TestNames(t *testing.T) {
	type named interface {
		fmt.Stringer
		MarshalText() ([]byte, error)
	}
	for want, v := range map[string]named{
		"gnmds": GNMDS, "ste": STE, "ckl": CKL, "tste": TSTE, "soe": SOE, "pa": StepPassiveAggressive, "constant": StepConstant, "inverse-sqrt": StepInverseSqrt, "inverse": StepInverse,
		"printed": GradientPrinted, "frobenius": GradientFrobenius, "structured": ProjectStructured, "printed-rule": ProjectPrintedRule, "dense": ProjectDense,
	} {
		if text, err := v.MarshalText(); err != nil || string(text) != want || v.String() != want {
			t.Errorf("%v is written %q (error %v), want %q", v, text, err, want)
		}
		var err error
		var got named
		switch v.(type) {
		case Loss:
			var l Loss
			err, got = l.UnmarshalText([]byte(want)), l
		case StepRule:
			var r StepRule
			err, got = r.UnmarshalText([]byte(want)), r
		case Gradient:
			var g Gradient
			err, got = g.UnmarshalText([]byte(want)), g
		case Projection:
			var p Projection
			err, got = p.UnmarshalText([]byte(want)), p
		}
		if err != nil || got != v {
			t.Errorf("%q is read as %v, error %v", want, got, err)
		}
	}
	var l Loss
	if err := l.UnmarshalText([]byte("hinge")); err == nil || err.Error() != `"hinge" is not allowed, want one of gnmds, ste, ckl, tste, soe` {
		t.Errorf("hinge: %v", err)
	}
	if Certificate(9).String() != "Certificate(9)" || CertificateBound.String() != "bound" || Projection(-1).String() != "Projection(-1)" {
		t.Error("names of certificates")
	}
}

// Bad triplets name the field.
func TestCheck(t *testing.T) {
	for want, f := range map[string]metric.Triplet{
		"a is -1, want an object from 0 to 2":                   {A: -1, Near: 1, Far: 2},
		"near is 3, want an object from 0 to 2":                 {A: 0, Near: 3, Far: 2},
		"far is 7, want an object from 0 to 2":                  {A: 0, Near: 1, Far: 7},
		"near and far are both 1, want two different objects":   {A: 0, Near: 1, Far: 1},
		"a and near are both 2, want two different objects":     {A: 2, Near: 2, Far: 1},
		"a and far are both 0, want two different objects":      {A: 0, Near: 1, Far: 0},
		"near and far are both 2, want two different objects":   {A: 2, Near: 2, Far: 2},
		"a is 5, want an object from 0 to 2":                    {A: 5, Near: 5, Far: 5},
		"near is -2, want an object from 0 to 2":                {A: 1, Near: -2, Far: -2},
		"far is 3, want an object from 0 to 2":                  {A: 1, Near: 0, Far: 3},
		"a is 3, want an object from 0 to 2":                    {A: 3, Near: 0, Far: 1},
		"near is 1000000000000, want an object from 0 to 2":     {A: 1, Near: 1e12, Far: 0},
		"far is -9223372036854775808, want an object from 0 to": {A: 1, Near: 0, Far: math.MinInt},
	} {
		if err := Check(3, f); err == nil || !strings.HasPrefix(err.Error(), "triplets: "+want) {
			t.Errorf("%+v: error %v, want %q", f, err, want)
		}
	}
	if err := Check(3, metric.Triplet{A: 2, Near: 0, Far: 1}); err != nil {
		t.Error(err)
	}
	if err := Check(2, metric.Triplet{A: 0, Near: 1, Far: 2}); err == nil {
		t.Error("two objects have a triplet")
	}
}

// Initial is copied.
func TestInitialIsCopied(t *testing.T) {
	for _, p := range []ERKLEParams{{}, {Trace: 0.1}, {Projection: ProjectDense}} {
		k := scaledIdentity(3, 2)
		p.Initial = k
		l := must(NewERKLE(3, p))
		k.SetSym(0, 0, 77)
		if got := l.Kernel(); !mat.EqualApprox(got, scaledIdentity(3, 2), 1e-15) || l.Params().Initial != nil {
			t.Errorf("%+v: kernel %v", p, got)
		}
	}
}

func TestPredictPanics(t *testing.T) {
	for _, p := range []ERKLEParams{{}, {Trace: 1}, {Projection: ProjectDense}} {
		l := must(NewERKLE(3, p))
		for _, f := range []metric.Triplet{{A: 3}, {Near: -1}, {Far: 5}} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%+v: no panic", f)
					}
				}()
				l.Predict(f)
			}()
		}
	}
}

func TestERKLEConforms(t *testing.T) {
	const n = 6
	for i, p := range allForms(n) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := rand.New(rand.NewPCG(4, 4))
			s := learnertest.Suite[metric.Triplet, learners.TripletPrediction, *ERKLE]{
				New: func() *ERKLE { return must(NewERKLE(n, p)) },
				Bad: map[string]metric.Triplet{
					"a out of range": {A: n, Near: 0, Far: 1}, "near out of range": {A: 0, Near: -1, Far: 1}, "far out of range": {A: 0, Near: 2, Far: n},
					"a = near": {A: 1, Near: 1, Far: 2}, "near = far": {A: 1, Near: 2, Far: 2}, "a = far": {A: 1, Near: 2, Far: 1},
				},
				Save: func(l *ERKLE, w io.Writer) error { return l.Save(w) },
				Load: LoadERKLE,
				Snapshot: func(l *ERKLE) func() []float64 {
					k := l.Kernel()
					return func() []float64 { return mat.DenseCopyOf(k).RawMatrix().Data }
				},
			}
			for range 60 {
				s.Rounds = append(s.Rounds, randomTriplet(r, n))
			}
			s.Run(t)
		})
	}
}

// savedERKLE returns the file of a learner after some rounds.
func savedERKLE(t testing.TB, p ERKLEParams) []byte {
	t.Helper()
	l := must(NewERKLE(3, p))
	for _, f := range []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 1, Near: 2, Far: 0}, {A: 0, Near: 2, Far: 1}, {A: 0, Near: 1, Far: 2}, {A: 2, Near: 0, Far: 1}} {
		if _, err := l.Step(f); err != nil {
			t.Fatal(err)
		}
	}
	return persisttest.Saved(l)
}

// sparseERKLE returns the file of a learner of 20 objects whose kernel is sparse.
func sparseERKLE(t testing.TB) []byte {
	t.Helper()
	l := must(NewERKLE(20, ERKLEParams{}))
	for _, f := range []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 3, Near: 4, Far: 5}, {A: 0, Near: 6, Far: 2}} {
		if _, err := l.Step(f); err != nil {
			t.Fatal(err)
		}
	}
	if l.k.(*structured).sparse == nil {
		t.Fatal("the kernel is not sparse")
	}
	return persisttest.Saved(l)
}

// Files of other versions are told, and not taken for damaged ones.
func TestERKLEOfOtherVersions(t *testing.T) {
	for version, want := range map[any]string{
		nil:              "triplets/erkle: written by an earlier metriclab, which kept its kernel in another form: give the triplets to a new learner",
		1:                "triplets/erkle: written by an earlier metriclab, which kept its kernel in another form: give the triplets to a new learner",
		stateVersion + 1: "triplets/erkle: written by a newer metriclab: version 3 of its state, this program reads 2",
	} {
		e := must(persist.Read(bytes.NewReader(sparseERKLE(t))))
		var state map[string]any
		if err := json.Unmarshal(e.State, &state); err != nil {
			t.Fatal(err)
		}
		if state["version"] = version; version == nil {
			delete(state, "version")
			state["structured"].(map[string]any)["sparse"].(map[string]any)["slack"] = persist.Floats{1}
		}
		var file bytes.Buffer
		if err := persist.Write(&file, e.Kind, e.Params, state); err != nil {
			t.Fatal(err)
		}
		l, err := LoadERKLE(&file)
		if l != nil || err == nil || err.Error() != want || errors.Is(err, persist.ErrDamaged) || errors.Is(err, persist.ErrNewer) != (version == stateVersion+1) {
			t.Errorf("version %v: error %v, want %q", version, err, want)
		}
	}
}

func TestERKLESaved(t *testing.T) {
	param := func(name string, v any) persisttest.Edit {
		return func(params, _ map[string]any) { params[name] = v }
	}
	state := func(v any, path ...string) persisttest.Edit {
		return func(_, s map[string]any) {
			for _, name := range path[:len(path)-1] {
				s = s[name].(map[string]any)
			}
			s[path[len(path)-1]] = v
		}
	}
	floats := func(v ...float64) persist.Floats { return v }
	edits := func(more map[string]persisttest.Edit) map[string]persisttest.Edit {
		out := map[string]persisttest.Edit{
			"loss":                   param("loss", "ckl"),
			"delta = 0":              param("delta", 0),
			"p = 0":                  param("p", 0),
			"beta = 0":               param("beta", 0),
			"another beta":           param("beta", 4),
			"reject = 0":             param("reject", 0),
			"trace = −1":             param("trace", -1),
			"objects = 0":            state(0, "objects"),
			"objects = −1":           state(-1, "objects"),
			"objects = 4":            state(4, "objects"),
			"round = −1":             state(-1, "round"),
			"round = 4":              state(4, "round"),
			"round = 2⁶²":            state(1<<62, "round"),
			"history of 4 triplets":  state([]int{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}, "history"),
			"history beyond objects": state([]int{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 3}, "history"),
			"history of near = far":  state([]int{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 1}, "history"),
			"no source":              state([]byte{}, "pcg"),
			"steps":                  state(4, "stats", "steps"),
			"active":                 state(0, "stats", "active"),
			"rejected":               state(99, "stats", "rejected"),
			"projected":              state(-1, "stats", "projected"),
			"by":                     state([]int{-1, 0, 0, 6}, "stats", "by"),
		}
		for name, e := range more {
			out[name] = e
		}
		return out
	}
	file := savedERKLE(t, ERKLEParams{Beta: 2, Projection: ProjectPrintedRule})
	persisttest.Check(t, file, LoadERKLE)
	persisttest.Tampered(t, file, LoadERKLE, edits(map[string]persisttest.Edit{
		"short kernel":      state(floats(1, 0, 1, 0, 0), "dense", "kernel"),
		"NaN":               state(floats(1, 0, 1, 0, 0, math.NaN()), "dense", "kernel"),
		"huge":              state(floats(1, 0, 1, 0, 0, 1e130), "dense", "kernel"),
		"indefinite":        state(floats(1, 2, 1, 0, 0, 1), "dense", "kernel"),
		"negative":          state(floats(-1, 0, -1, 0, 0, -1), "dense", "kernel"),
		"zero diagonal":     state(floats(0, 1, 0, 0, 0, 0), "dense", "kernel"),
		"negative bound":    state(-0.1, "dense", "least"),
		"no kernel":         state(nil, "dense"),
		"another form":      param("trace", 0.1),
		"bound without it":  param("projection", "dense"),
		"a factored kernel": state(map[string]any{"rank": 0, "basis": floats(), "core": floats()}, "factored"),
	}))
	file = savedERKLE(t, ERKLEParams{Beta: 2, Trace: 0.8})
	persisttest.Check(t, file, LoadERKLE)
	persisttest.Tampered(t, file, LoadERKLE, edits(map[string]persisttest.Edit{
		"rank = 0":       state(0, "factored", "rank"),
		"rank = −1":      state(-1, "factored", "rank"),
		"rank = 4":       state(4, "factored", "rank"),
		"rank = 2⁶²":     state(1<<62, "factored", "rank"),
		"no basis":       state(floats(), "factored", "basis"),
		"NaN":            state(floats(math.NaN(), 0, 0, 0, 1, 0), "factored", "basis"),
		"a skewed basis": state(floats(1, 0, 0, 0.1, 1, 0), "factored", "basis"),
		"a long basis":   state(floats(2, 0, 0, 0, 1, 0), "factored", "basis"),
		"indefinite":     state(floats(1, 2, 1), "factored", "core"),
		"no core":        state(floats(), "factored", "core"),
		"huge":           state(floats(1, 0, 1e130), "factored", "core"),
		"no kernel":      state(nil, "factored"),
		"another form":   param("trace", 0),
	}))
	file = sparseERKLE(t)
	persisttest.Check(t, file, LoadERKLE)
	twenty := func(more ...float64) persist.Floats {
		return append(slices.Repeat([]float64{1}, 20-len(more)), more...)
	}
	persisttest.Tampered(t, file, LoadERKLE, map[string]persisttest.Edit{
		"NaN trace":         state(floats(math.NaN()), "structured", "sparse", "trace"),
		"short diagonal":    state(twenty()[1:], "structured", "sparse", "diag"),
		"NaN diagonal":      state(twenty(math.NaN()), "structured", "sparse", "diag"),
		"huge diagonal":     state(twenty(1e130), "structured", "sparse", "diag"),
		"half a place":      state([]int{0, 1, 0}, "structured", "sparse", "places"),
		"too few places":    state([]int{0, 1}, "structured", "sparse", "places"),
		"lower triangle":    state([]int{1, 0, 0, 2, 0, 6, 3, 4, 3, 5}, "structured", "sparse", "places"),
		"a place twice":     state([]int{0, 1, 0, 1, 0, 6, 3, 4, 3, 5}, "structured", "sparse", "places"),
		"places out of row": state([]int{0, 2, 0, 1, 0, 6, 3, 4, 3, 5}, "structured", "sparse", "places"),
		"place beyond":      state([]int{0, 1, 0, 2, 0, 6, 3, 4, 3, 20}, "structured", "sparse", "places"),
		"huge entry":        state(floats(1e130, 1, 1, 1, 1), "structured", "sparse", "entries"),
		"no form":           state(nil, "structured", "sparse"),
		"two forms":         state(map[string]any{}, "structured", "resolved"),
		"another form":      param("projection", "dense"),
	})
	for _, p := range allForms(3) {
		file := savedERKLE(t, p)
		l, err := LoadERKLE(bytes.NewReader(file))
		if err != nil || !bytes.Equal(persisttest.Saved(l), file) {
			t.Errorf("%+v: loaded with error %v", p, err)
		}
	}
}

func FuzzLoadERKLE(f *testing.F) {
	use := func(l *ERKLE) {
		if l.Objects() != 3 || l.Params().Beta > 1000 {
			return
		}
		for _, t := range []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 1, Near: 2, Far: 0}} {
			o, err := l.Step(t)
			if err != nil || math.IsNaN(o.StepSize) || math.IsNaN(difference(l.Predict(t))) {
				panic(fmt.Sprintf("a loaded learner takes a round with outcome %+v, error %v", o, err))
			}
		}
	}
	persisttest.Fuzz(f, LoadERKLE, use, savedERKLE(f, ERKLEParams{}), savedERKLE(f, ERKLEParams{Projection: ProjectPrintedRule, Beta: 2}), savedERKLE(f, ERKLEParams{Trace: 0.8}), sparseERKLE(f))
}
