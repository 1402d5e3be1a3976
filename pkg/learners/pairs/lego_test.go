package pairs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/internal/vector"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// allLEGO are parameters of both update rules, from small to large steps.
func allLEGO() []LEGOParams {
	return []LEGOParams{
		{},
		{Update: UpdateViolated},
		{Eta: 0.01, Upper: 0.5, Lower: 1.5},
		{Eta: 20, Upper: 0.3, Lower: 2},
		{Eta: 20, Upper: 0.3, Lower: 2, Update: UpdateViolated},
	}
}

func (p LEGOParams) String() string {
	return fmt.Sprintf("eta=%g/u=%g/l=%g/update=%v", p.Eta, p.Upper, p.Lower, p.Update)
}

func TestLEGOConformance(t *testing.T) {
	for _, p := range allLEGO() {
		t.Run(p.String(), func(t *testing.T) {
			learnertest.Pairs[*LEGO]{
				New:          func(dim int) (*LEGO, error) { return NewLEGO(dim, p) },
				Load:         LoadLEGO,
				MinThreshold: (p.Resolved().Upper + p.Resolved().Lower) / 2,
			}.Run(t)
		})
	}
}

// plainLEGO is plain.LEGO with the parameters.
func plainLEGO(dim int, p LEGOParams) *plain.LEGO {
	r := p.Resolved()
	l := plain.NewLEGO(dim, r.Eta, r.Upper, r.Lower)
	l.Violated = p.Update == UpdateViolated
	if p.W0 != nil {
		l.A.CopySym(p.W0)
	}
	return l
}

// legoTol bounds the difference between LEGO and plain.LEGO, relative to the
// largest A so far: of a few hundred steps with some κ(A)·ε each.
const legoTol = 1e-9

// LEGO gives the outcomes and the matrix of plain.LEGO, with one block of S
// and with several, from I and from another matrix.
func TestLEGOIsPlain(t *testing.T) {
	for _, p := range allLEGO() {
		t.Run(p.String(), func(t *testing.T) {
			for _, dim := range []int{1, 5, stairEdge, stairEdge + 1, 40, 3 * stairEdge} {
				for _, start := range []string{"I", "other"} {
					p := p
					if start == "other" {
						p.W0 = matrixtest.Definite(rand.New(rand.NewPCG(71, uint64(dim))), dim)
					}
					l, ref := must(NewLEGO(dim, p)), plainLEGO(dim, p)
					top := mat.Norm(ref.A, 2)
					updates, toward := 0, 0
					rounds := append(randomLabels(rand.New(rand.NewPCG(72, uint64(dim))), dim, 150),
						gaussianPairs(rand.New(rand.NewPCG(73, uint64(dim))), dim, 150, 3)...)
					for i, f := range rounds {
						o := mustOutcome(t, l, f)
						loss, size := ref.Step(f)
						top = max(top, mat.Norm(ref.A, 2))
						if math.Abs(o.Loss-loss) > legoTol*(1+loss) || math.Abs(o.StepSize-size) > legoTol*(1+math.Abs(size)) || o.Updated != (size != 0) {
							t.Fatalf("d = %d from %s, round %d: %+v; reference: loss %v, step %v", dim, start, i, o, loss, size)
						}
						if o.Mistake != (o.Prediction.Similar != (f.Label == metric.Similar)) || o.Projections != 0 {
							t.Fatalf("d = %d, round %d: %+v", dim, i, o)
						}
						if o.Updated {
							updates++
						}
						if (o.StepSize > 0) == (f.Label == metric.Similar) && o.Updated {
							toward++
						}
					}
					if d := matrixtest.Distance(l.Metric().M(), ref.A); d > legoTol*top {
						t.Errorf("d = %d from %s: ‖A − reference‖ = %v, ‖A‖ up to %v", dim, start, d, top)
					}
					if p.Update == UpdateViolated && (toward != updates || updates > 290) || p.Update == UpdateAlways && (updates < 299 || toward > 290) || updates < 20 {
						t.Errorf("d = %d from %s: %d updates, %d of them toward the label", dim, start, updates, toward)
					}
				}
			}
		})
	}
}

// exactImplicit is implicit in 400 bits, by the printed form of the root.
func exactImplicit(eta, q, y float64) (ratio, beta float64) {
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }
	op := func() *big.Float { return new(big.Float).SetPrec(400) }
	a := op().Mul(num(eta), num(q))
	b := op().Sub(num(1), op().Mul(a, num(y)))
	d := op().Add(op().Mul(b, b), op().Mul(num(4), op().Mul(a, num(q))))
	bar := op().Quo(op().Sub(op().Sqrt(d), b), op().Mul(num(2), a))
	ratio, _ = op().Quo(bar, num(q)).Float64()
	beta, _ = op().Quo(op().Sub(bar, num(q)), op().Mul(num(q), num(q))).Float64()
	return ratio, beta
}

// implicitTol is relative, for a b = 1 − ηŷt without cancellation; with it, the round-off
// of ηŷt, which the root magnifies as much as it would an error of η, is added.
const implicitTol = 1e-14

// ȳ/ŷ and β keep their digits for all η, where the printed forms lose all of them.
func TestLEGORoot(t *testing.T) {
	lost := 0
	for _, eta := range []float64{1e-12, 1e-6, 1e-3, 0.5, 7, 1e3, 1e6, 1e12} {
		for _, q := range []float64{1e-9, 1e-3, 0.4, 1.9999, 2, 2.00001, 5, 8, 300, 1e4, 1e8} {
			for _, y := range []float64{1e-3, 2, 8, 1e5} {
				ratio, beta := implicit(eta, q, y)
				wantRatio, wantBeta := exactImplicit(eta, q, y)
				a := eta * q
				b := 1 - a*y
				root := math.Sqrt(b*b + 4*a*q)
				tol := implicitTol * (1 + a*y/root)
				if math.Abs(ratio-wantRatio) > tol*wantRatio || math.Abs(beta-wantBeta) > tol*math.Abs(wantBeta) {
					t.Errorf("η = %g, ŷ = %g, t = %g: ȳ/ŷ = %v, want %v; β = %v, want %v", eta, q, y, ratio, wantRatio, beta, wantBeta)
				}
				if bar := ratio * q; bar < min(q, y)*(1-tol) || bar > max(q, y)*(1+tol) {
					t.Errorf("η = %g, ŷ = %g, t = %g: ȳ = %v is not between", eta, q, y, bar)
				}
				if printed := (root - b) / (2 * a) / q; math.Abs(printed-wantRatio) > 0.1*wantRatio {
					lost++
				}
			}
		}
	}
	if lost == 0 {
		t.Error("the printed form is as good: the test is empty")
	}
}

// After a step A'⁻¹ = A⁻¹ + η(ȳ − t)zzᵀ with ȳ = zᵀA'z: the gradient of the objective,
// which is convex, is zero.
func TestLEGOStepIsOptimal(t *testing.T) {
	const (
		tol = 1e-9 // relative; κ(A) stays below 10⁴
		// cancelled is what is left of round-off in ȳ − t, as a share of t.
		cancelled = 1e-13
	)
	for _, eta := range []float64{1e-6, 1e-3, 0.5, 10, 1e3, 1e6} {
		for _, dim := range []int{2, 6, 2*stairEdge + 3} {
			rng := rand.New(rand.NewPCG(74, uint64(dim)))
			l := must(NewLEGO(dim, LEGOParams{Eta: eta, W0: matrixtest.Definite(rng, dim)}))
			for i, f := range randomLabels(rng, dim, 12) {
				before := matrixtest.Inverse(t, l.Metric().M())
				mustOutcome(t, l, f)
				m := l.Metric()
				z := mat.NewVecDense(dim, metric.Sub(nil, f.X, f.Y))
				y := l.target(f.Label)
				want := mat.NewSymDense(dim, nil)
				want.SymRankOne(before, eta*(m.SqDist(f.X, f.Y)-y), z)
				after := matrixtest.Inverse(t, m.M())
				bound := tol*(mat.Norm(after, 2)+mat.Norm(before, 2)) + cancelled*eta*y*mat.Dot(z, z)
				if d := matrixtest.Distance(after, want); d > bound {
					t.Errorf("η = %g, d = %d, round %d: A⁻¹ is off by %v, at most %v is allowed", eta, dim, i, d, bound)
				}
			}
		}
	}
}

// For every η A is positive definite after each step, d² of the pair is the ȳ asked
// for, and a squared distance is never negative.
func TestLEGOStaysDefinite(t *testing.T) {
	const tol = 1e-9 // relative, of d² after the step
	for _, eta := range []float64{1e-6, 1e-3, 1, 1e3, 1e6} {
		for _, scale := range []float64{1e-3, 1, 1e4} {
			for _, dim := range []int{1, 4, 2 * stairEdge} {
				rng := rand.New(rand.NewPCG(75, uint64(dim)))
				l := must(NewLEGO(dim, LEGOParams{Eta: eta}))
				for i, f := range gaussianPairs(rng, dim, 100, scale) {
					if rng.IntN(4) == 0 {
						f.Label = -f.Label
					}
					q := l.Predict(f).SqDist
					ratio, _ := implicit(eta, q, l.target(f.Label))
					mustOutcome(t, l, f)
					if after := l.Predict(f).SqDist; !(after > 0) || math.Abs(after-ratio*q) > tol*ratio*q {
						t.Fatalf("η = %g, scale %g, d = %d, round %d: d² went from %v to %v, want %v", eta, scale, dim, i, q, after, ratio*q)
					}
				}
				if log, sign := mat.LogDet(l.s.dense()); math.IsInf(log, 0) || math.IsNaN(log) || sign == 0 {
					t.Errorf("η = %g, scale %g, d = %d: S is singular", eta, scale, dim)
				}
			}
		}
	}
}

// Over 10⁶ updates S drifts from the sum that A⁻¹ is by round-off only.
func TestLEGODrift(t *testing.T) {
	if testing.Short() {
		t.Skip("10⁶ updates: not run under -short")
	}
	const (
		dim, n = 6, 1_000_000
		// driftTol is what n random round-offs of size ε add up to, with κ(A) and some
		// room: each sum has 10⁶ terms.
		driftTol = 1e-8
	)
	for _, eta := range []float64{0.5, 50} {
		rng := rand.New(rand.NewPCG(76, 1))
		l := must(NewLEGO(dim, LEGOParams{Eta: eta}))
		rounds := randomLabels(rng, dim, 5000)
		precise := matrixtest.Identity(dim) // A⁻¹
		least, widest := math.Inf(1), 0.0
		for k := range n {
			f := rounds[rng.IntN(len(rounds))]
			o := mustOutcome(t, l, f)
			ratio, _ := implicit(eta, o.Prediction.SqDist, l.target(f.Label))
			z := mat.NewVecDense(dim, metric.Sub(nil, f.X, f.Y))
			precise.SymRankOne(precise, eta*(ratio*o.Prediction.SqDist-l.target(f.Label)), z)
			if k%10000 == 0 {
				var eig mat.EigenSym
				eig.Factorize(l.Metric().M(), false)
				v := eig.Values(nil)
				least, widest = min(least, v[0]), max(widest, v[dim-1]/v[0])
			}
		}
		var product mat.Dense
		product.Mul(l.Metric().M(), precise)
		if d := matrixtest.Distance(&product, matrixtest.Identity(dim)); !(d <= driftTol*widest) || !(least > 0) {
			t.Errorf("η = %g: A·A⁻¹ is off I by %v, κ(A) up to %v, smallest eigenvalue %v", eta, d, widest, least)
		} else {
			t.Logf("η = %g: A·A⁻¹ is off I by %v, κ(A) up to %v, smallest eigenvalue %v", eta, d, widest, least)
		}
	}
}

// bestFixed returns the matrix A ⪰ 0 with the least Σ ½(zᵀAz − t)² over rounds, by
// projected gradients with momentum.
func bestFixed(t *testing.T, dim int, rounds []metric.Pair, p LEGOParams) *mat.SymDense {
	t.Helper()
	target := func(f metric.Pair) float64 {
		if f.Label == metric.Similar {
			return p.Upper
		}
		return p.Lower
	}
	z := make([]*mat.VecDense, len(rounds))
	var lipschitz float64 // of the gradient: at most the mean of ‖z‖⁴
	for i, f := range rounds {
		z[i] = mat.NewVecDense(dim, metric.Sub(nil, f.X, f.Y))
		lipschitz += math.Pow(mat.Dot(z[i], z[i]), 2) / float64(len(rounds))
	}
	gradient := func(a *mat.SymDense) *mat.SymDense {
		g := mat.NewSymDense(dim, nil)
		for i, f := range rounds {
			g.SymRankOne(g, (mat.Inner(z[i], a, z[i])-target(f))/float64(len(rounds)), z[i])
		}
		return g
	}
	a, ahead := matrixtest.Identity(dim), matrixtest.Identity(dim)
	momentum := 1.0
	for range 200 {
		step := gradient(ahead)
		step.ScaleSym(-1/lipschitz, step)
		step.AddSym(step, ahead)
		next, _, err := metric.ProjectPSD(step)
		if err != nil {
			t.Fatal(err)
		}
		m := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		c := (momentum - 1) / m
		a.ScaleSym(-c, a)
		ahead.ScaleSym(1+c, next)
		ahead.AddSym(ahead, a)
		a, momentum = next, m
	}
	// KKT: the gradient G ⪰ 0 and ⟨G, A⟩ = 0.
	g := gradient(a)
	var eig mat.EigenSym
	eig.Factorize(g, false)
	var product mat.Dense
	product.Mul(g, a)
	const kkt = 1e-6
	if eig.Values(nil)[0] < -kkt || math.Abs(mat.Trace(&product)) > kkt {
		t.Fatalf("the best fixed matrix is not found: eigenvalues of its gradient %v, ⟨G, A⟩ = %v", eig.Values(nil), mat.Trace(&product))
	}
	return a
}

// divergence returns D(a, b) = tr(ab⁻¹) − log det(ab⁻¹) − d.
func divergence(t *testing.T, a, b mat.Symmetric) float64 {
	t.Helper()
	var r mat.Dense
	r.Mul(a, matrixtest.Inverse(t, b))
	log, sign := mat.LogDet(&r)
	if sign <= 0 {
		t.Fatal("not definite")
	}
	return mat.Trace(&r) - log - float64(a.SymmetricDim())
}

// Against the best fixed matrix U on pairs that no matrix explains: as each step
// minimises a sum of two convex functions of A, the losses after the steps satisfy
//
//	Σ f_t(A_{t+1}) − f_t(U) ≤ D(U, A₁)/η,
//
// and with η of the order of 1/√T the regret Σ f_t(A_t) − f_t(U), which the step adds
// to, grows like √T: with T times 16 its average falls to about a quarter, and is
// tested to fall by half.
func TestLEGORegret(t *testing.T) {
	const dim = 3
	planted := matrixtest.Definite(rand.New(rand.NewPCG(77, 1)), dim)
	planted.ScaleSym(3, planted)
	var average []float64
	for _, n := range []int{250, 4000} {
		rng := rand.New(rand.NewPCG(77, 2))
		p := LEGOParams{Eta: 0.5 / math.Sqrt(float64(n)), Upper: 2, Lower: 8}
		rounds := make([]metric.Pair, n)
		for i := range rounds {
			f := metric.Pair{X: randn(rng, dim), Y: randn(rng, dim)}
			z := mat.NewVecDense(dim, metric.Sub(nil, f.X, f.Y))
			f.Label = metric.SameClass(mat.Inner(z, planted, z) < 12)
			if rng.IntN(5) == 0 {
				f.Label = -f.Label
			}
			rounds[i] = f
		}
		u := bestFixed(t, dim, rounds, p)
		l := must(NewLEGO(dim, p))
		var before, after, fixed float64
		for _, f := range rounds {
			before += mustOutcome(t, l, f).Loss
			after += l.Loss(f)
			z := mat.NewVecDense(dim, metric.Sub(nil, f.X, f.Y))
			fixed += math.Pow(mat.Inner(z, u, z)-l.target(f.Label), 2) / 2
		}
		if d := divergence(t, u, matrixtest.Identity(dim)); after-fixed > d/p.Eta {
			t.Errorf("T = %d: the losses after the steps exceed those of U by %v, the bound is %v", n, after-fixed, d/p.Eta)
		}
		average = append(average, (before-fixed)/float64(n))
	}
	t.Logf("average regret %v", average)
	if !(average[0] > 0) || average[1] > average[0]/2 {
		t.Errorf("average regret %v for T = 250, 4000", average)
	}
}

// x = y, and d² = t, change nothing.
func TestLEGODegenerate(t *testing.T) {
	for _, p := range []LEGOParams{{}, {Update: UpdateViolated}} {
		l := must(NewLEGO(2, p))
		before := persisttest.Saved(l)
		for _, label := range []metric.Label{metric.Similar, metric.Dissimilar} {
			o := mustOutcome(t, l, metric.Pair{X: []float64{1, 2}, Y: []float64{1, 2}, Label: label})
			if o.Updated || o.StepSize != 0 || len(l.LastChange()) != 0 || o.Prediction.SqDist != 0 || !o.Prediction.Similar {
				t.Errorf("x = y, %v: %+v", label, o)
			}
		}
		o := mustOutcome(t, l, metric.Pair{X: []float64{1, 1}, Y: []float64{0, 0}, Label: metric.Similar})
		if o.Updated || o.Loss != 0 || o.Prediction.SqDist != 2 {
			t.Errorf("d² = u: %+v", o)
		}
		if string(persisttest.Saved(l)) != string(before) {
			t.Errorf("%v: the learner has changed", p)
		}
	}
}

// Pairs on which float64 cannot make the step are refused and change nothing: d² too
// far from its target, or a matrix that grows without bound, as it does where
// dissimilar points come ever closer.
func TestLEGOLimits(t *testing.T) {
	for what, c := range map[string]struct {
		p    LEGOParams
		far  float64
		want string
	}{
		"huge":            {LEGOParams{}, 1e60, "cannot move"},
		"overflow of d²":  {LEGOParams{}, 1e160, "d² overflows float64"},
		"overflow of η":   {LEGOParams{Eta: 1e300}, 1e5, "cannot move"},
		"huge, violated":  {LEGOParams{Update: UpdateViolated}, 1e60, "cannot move"},
		"tiny, a large η": {LEGOParams{Eta: 1e60}, 1e-20, "cannot move"},
	} {
		l := must(NewLEGO(2, c.p))
		mustOutcome(t, l, metric.Pair{X: []float64{1, 2}, Y: []float64{0, 0}, Label: metric.Dissimilar})
		before := persisttest.Saved(l)
		label := metric.Similar
		if c.far < 1 {
			label = metric.Dissimilar
		}
		_, err := l.Step(metric.Pair{X: []float64{c.far, 0}, Y: []float64{0, 0}, Label: label})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(l.LastChange()) != 0 {
			t.Errorf("%s: error %v", what, err)
		}
		if string(persisttest.Saved(l)) != string(before) {
			t.Errorf("%s: the learner has changed", what)
		}
	}
	l := must(NewLEGO(2, LEGOParams{}))
	for x := 1.0; ; x /= 2 {
		f := metric.Pair{X: []float64{x, x / 3}, Y: []float64{0, 0}, Label: metric.Dissimilar}
		_, err := l.Step(f)
		if err := metric.CheckFinite(mat.DenseCopyOf(l.Metric().M())); err != nil {
			t.Fatalf("x = %g: %v", x, err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "beyond 1e+290") {
				t.Errorf("x = %g: %v", x, err)
			}
			break
		}
		if x == 0 {
			t.Fatal("the matrix did not grow")
		}
	}
}

// LastChange is the change of A, and MulVec a product with it.
func TestLEGOChangeAndProduct(t *testing.T) {
	for _, p := range allLEGO() {
		for _, dim := range []int{4, 2*stairEdge + 5} {
			l := must(NewLEGO(dim, p))
			before := l.Metric().M()
			for i, f := range randomLabels(rand.New(rand.NewPCG(78, uint64(dim))), dim, 60) {
				o := mustOutcome(t, l, f)
				terms := l.LastChange()
				if (len(terms) == 1) != o.Updated || len(terms) > 1 {
					t.Fatalf("%v, d = %d, round %d: %d terms, %+v", p, dim, i, len(terms), o)
				}
				size := mat.Norm(before, 2)
				for _, r := range terms {
					v := mat.NewVecDense(dim, r.V)
					before.SymRankOne(before, r.C, v)
					size += math.Abs(r.C) * mat.Dot(v, v)
				}
				after := l.Metric().M()
				if d := matrixtest.Distance(after, before); d > changeTol*size {
					t.Fatalf("%v, d = %d, round %d: A is off by %v", p, dim, i, d)
				}
				before = after
				var want mat.VecDense
				want.MulVec(after, mat.NewVecDense(dim, f.X))
				if d := matrixtest.Distance(mat.NewVecDense(dim, l.MulVec(nil, f.X)), &want); d > mulTol*size*math.Sqrt(vector.Dot(f.X, f.X)) {
					t.Fatalf("%v, d = %d, round %d: Ax is off by %v", p, dim, i, d)
				}
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a product with a vector of another length does not panic")
		}
	}()
	must(NewLEGO(2, LEGOParams{})).MulVec(nil, make([]float64, 3))
}

func TestLEGOErrors(t *testing.T) {
	asSym := func(v ...float64) mat.Symmetric { return mat.NewSymDense(2, v) }
	for _, c := range []struct {
		dim  int
		p    LEGOParams
		want string
	}{
		{0, LEGOParams{}, "lego: dim: 0"},
		{2, LEGOParams{Eta: -1}, "lego: eta: -1"},
		{2, LEGOParams{Eta: math.NaN()}, "lego: eta: NaN"},
		{2, LEGOParams{Eta: math.Inf(1)}, "lego: eta: +Inf"},
		{2, LEGOParams{Upper: -2}, "lego: u: -2"},
		{2, LEGOParams{Upper: math.NaN()}, "lego: u: NaN"},
		{2, LEGOParams{Lower: math.NaN()}, "lego: l: NaN"},
		{2, LEGOParams{Lower: math.Inf(1)}, "lego: l: +Inf"},
		{2, LEGOParams{Upper: 8}, "lego: u: 8 and l: 8 are not allowed, want u < l"},
		{2, LEGOParams{Upper: 3, Lower: 1}, "lego: u: 3 and l: 1 are not allowed"},
		{2, LEGOParams{Lower: -1}, "lego: u: 2 and l: -1 are not allowed"},
		{2, LEGOParams{Update: 2}, "lego: update: 2"},
		{3, LEGOParams{W0: asSym(1, 0, 0, 1)}, "lego: w0: 2×2 is not allowed, want 3×3"},
		{2, LEGOParams{W0: asSym(1, 2, 2, 1)}, "lego: w0: it is not positive definite"},
		{2, LEGOParams{W0: asSym(0, 0, 0, 1)}, "lego: w0: it is not positive definite"},
		{2, LEGOParams{W0: asSym(1, math.NaN(), 0, 1)}, "lego: w0: entry (1, 0) is NaN"},
		{2, LEGOParams{W0: asSym(1e308, 0, 0, 1e308)}, "lego: w0: its trace overflows"},
	} {
		if _, err := NewLEGO(c.dim, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("dim %d, %+v: error %v, want one with %q", c.dim, c.p, err, c.want)
		}
	}
	for what, f := range map[string]metric.Pair{
		"lego: label: 0":              {X: []float64{1}, Y: []float64{1}},
		"lego: x: has 2 numbers":      {X: []float64{1, 2}, Y: []float64{1}, Label: 1},
		"lego: y[0]: NaN":             {X: []float64{1}, Y: []float64{math.NaN()}, Label: 1},
		"lego: x[0]: +Inf":            {X: []float64{math.Inf(1)}, Y: []float64{math.Inf(1)}, Label: -1},
		"lego: x and y: d² overflows": {X: []float64{1e300}, Y: []float64{-1e300}, Label: -1},
		"scale the features down":     {X: []float64{math.MaxFloat64}, Y: []float64{-math.MaxFloat64}, Label: 1},
		"lego: x and y: d² = 1e+200,": {X: []float64{1e100}, Y: []float64{0}, Label: 1},
	} {
		if _, err := must(NewLEGO(1, LEGOParams{})).Step(f); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("error %v, want one with %q", err, what)
		}
	}
	for _, text := range []string{"always", "violated"} {
		var r UpdateRule
		if err := r.UnmarshalText([]byte(text)); err != nil || r.String() != text {
			t.Errorf("%s: %v, error %v", text, r, err)
		}
	}
	if err := new(UpdateRule).UnmarshalText([]byte("never")); err == nil || UpdateRule(7).String() != "unknown update 7" {
		t.Errorf("error %v, %v", err, UpdateRule(7))
	}
}

func TestLEGOSave(t *testing.T) {
	for _, dim := range []int{1, 3, stairEdge + 2} {
		l := must(NewLEGO(dim, LEGOParams{Eta: 0.3, Lower: 5, W0: matrixtest.Definite(rand.New(rand.NewPCG(79, 1)), dim)}))
		for _, f := range randomLabels(rand.New(rand.NewPCG(79, 2)), dim, 5) {
			mustOutcome(t, l, f)
		}
		file := persisttest.Saved(l)
		if dim < 5 {
			persisttest.Check(t, file, LoadLEGO)
		}
		again, err := LoadLEGO(strings.NewReader(string(file)))
		if err != nil || again.Params() != l.Params() || again.Params() != (LEGOParams{Eta: 0.3, Upper: 2, Lower: 5}) || again.Threshold() != 3.5 {
			t.Errorf("dim %d: parameters %+v, want %+v, error %v", dim, again.Params(), l.Params(), err)
		}
	}
	persisttest.Tampered(t, persisttest.Saved(must(NewLEGO(2, LEGOParams{}))), LoadLEGO, map[string]persisttest.Edit{
		"eta":          func(p, _ map[string]any) { p["eta"] = 0 },
		"bounds":       func(p, _ map[string]any) { p["u"] = 9 },
		"update":       func(p, _ map[string]any) { p["update"] = "never" },
		"no dim":       func(_, s map[string]any) { s["dim"] = 0 },
		"other dim":    func(_, s map[string]any) { s["dim"] = 3 },
		"huge dim":     func(_, s map[string]any) { s["dim"] = math.MaxInt64 },
		"short factor": func(_, s map[string]any) { s["factor"] = persist.Floats{1, 0, 0} },
		"NaN":          func(_, s map[string]any) { s["factor"] = persist.Floats{1, 0, math.NaN(), 1} },
		"overflow":     func(_, s map[string]any) { s["factor"] = persist.Floats{1e200, 0, 0, 1} },
	})
	var other strings.Builder
	if err := mustPOLA(t, 2, POLAParams{}).Save(&other); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadLEGO(strings.NewReader(other.String())); !errors.Is(err, persist.ErrKind) {
		t.Errorf("other kind: %v", err)
	}
}

// What Save writes can be loaded, also where round-off has made S singular: dissimilar
// points a third as far apart each time stretch A ever more along one direction.
func TestLEGOSaveSingular(t *testing.T) {
	singular := false
	for direction := range 10 {
		l := must(NewLEGO(2, LEGOParams{}))
		far := 1.0
		for range 50 {
			x := []float64{far, far * float64(direction)}
			mustOutcome(t, l, metric.Pair{X: x, Y: []float64{0, 0}, Label: metric.Dissimilar})
			log, _ := mat.LogDet(l.s.dense())
			singular = singular || math.IsInf(log, -1)
			again, err := LoadLEGO(bytes.NewReader(persisttest.Saved(l)))
			if err != nil {
				t.Fatalf("direction %d, %g apart: %v", direction, far, err)
			}
			if got, want := again.Predict(metric.Pair{X: x, Y: []float64{0, 1}}), l.Predict(metric.Pair{X: x, Y: []float64{0, 1}}); got != want {
				t.Errorf("direction %d, %g apart: loaded %+v, want %+v", direction, far, got, want)
			}
			far /= 3
		}
	}
	if !singular {
		t.Error("S was never singular: the test is empty")
	}
}

func FuzzLoadLEGO(f *testing.F) {
	l := must(NewLEGO(3, LEGOParams{}))
	for _, r := range randomLabels(rand.New(rand.NewPCG(79, 3)), 3, 4) {
		mustOutcome(f, l, r)
	}
	persisttest.Fuzz(f, LoadLEGO, func(l *LEGO) {
		if l.Dim() > 50 {
			return
		}
		for _, r := range randomLabels(rand.New(rand.NewPCG(79, 4)), l.Dim(), 3) {
			if _, err := l.Step(r); err != nil {
				return // a matrix whose d² overflows
			}
		}
	}, persisttest.Saved(l), persisttest.Saved(must(NewLEGO(1, LEGOParams{Update: UpdateViolated}))))
}

func ExampleNewLEGO() {
	// The first feature tells the classes apart, the second is noise.
	l, err := NewLEGO(2, LEGOParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range []metric.Pair{
		{X: []float64{1, 1}, Y: []float64{0, 0}, Label: metric.Dissimilar},
		{X: []float64{0, 2}, Y: []float64{0, 0}, Label: metric.Similar},
		{X: []float64{1, 0}, Y: []float64{0, 1}, Label: metric.Dissimilar},
		{X: []float64{0, 3}, Y: []float64{0, 0}, Label: metric.Similar},
	} {
		o, err := l.Step(f)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("d² = %.2f, similar %-5v loss %5.2f, step %+.2f, then d² = %.2f\n",
			o.Prediction.SqDist, o.Prediction.Similar, o.Loss, o.StepSize, l.Predict(f).SqDist)
	}
	m := l.Metric().M()
	fmt.Printf("A = [%.2f %.2f; %.2f %.2f], threshold %v\n", m.At(0, 0), m.At(0, 1), m.At(1, 0), m.At(1, 1), l.Threshold())
	// Output:
	// d² = 2.00, similar true  loss 18.00, step -1.32, then d² = 7.27
	// d² = 9.27, similar false loss 26.46, step +0.08, then d² = 2.56
	// d² = 1.69, similar true  loss 19.92, step -1.90, then d² = 7.10
	// d² = 7.08, similar false loss 12.88, step +0.09, then d² = 2.51
	// A = [5.44 -0.13; -0.13 0.28], threshold 5
}

// BenchmarkLEGO is one step with an update. The reference is gonum's product and
// update of a full square.
func BenchmarkLEGO(b *testing.B) {
	for _, d := range []int{13, 64, 256, 784} {
		rounds := randomLabels(rand.New(rand.NewPCG(70, uint64(d))), d, 1000)
		b.Run(fmt.Sprintf("alg=LEGO/dim=%d", d), func(b *testing.B) {
			l := must(NewLEGO(d, LEGOParams{}))
			k := 0
			for b.Loop() {
				if o, err := l.Step(rounds[k]); err != nil || !o.Updated {
					b.Fatalf("%+v, error %v", o, err)
				}
				k = (k + 1) % len(rounds)
			}
		})
		b.Run(fmt.Sprintf("alg=GemvGer/dim=%d", d), func(b *testing.B) {
			w := blas64.General{Rows: d, Cols: d, Stride: d, Data: mat.DenseCopyOf(matrixtest.Identity(d)).RawMatrix().Data}
			v, wv := make([]float64, d), make([]float64, d)
			k := 0
			for b.Loop() {
				f := rounds[k]
				metric.Sub(v, f.X, f.Y)
				blas64.Gemv(blas.NoTrans, 1, w, vector.Of(v), 0, vector.Of(wv))
				q := vector.Dot(v, wv)
				blas64.Ger(math.Copysign(1e-9, float64(k%2)-0.5)/q, vector.Of(wv), vector.Of(wv), w)
				k = (k + 1) % len(rounds)
			}
		})
	}
}

// One way through memory gives the bits of two.
func TestStairsMulBoth(t *testing.T) {
	for _, n := range []int{1, 15, 16, 17, 50} {
		rng := rand.New(rand.NewPCG(71, uint64(n)))
		one, two := newStairs(n), newStairs(n)
		for i := range one.data {
			one.data[i] = rng.NormFloat64()
		}
		copy(two.data, one.data)
		z := make([]float64, n)
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		var az, w, norm2 [2][]float64
		for k := range 2 {
			az[k], w[k], norm2[k] = make([]float64, n), make([]float64, n), make([]float64, len(one.block))
		}
		q := [2]float64{one.mulBoth(az[0], w[0], norm2[0], z), two.mulTo(w[1], norm2[1], z)}
		two.transMul(az[1], w[1])
		if q[0] != q[1] || !slices.Equal(az[0], az[1]) || !slices.Equal(w[0], w[1]) || !slices.Equal(norm2[0], norm2[1]) || !slices.EqualFunc(one.sum, two.sum, slices.Equal) {
			t.Errorf("n = %d: other bits", n)
		}
	}
}
