package itml

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/logdet"
	"metriclab/internal/matrixtest"
	"metriclab/internal/ranges"
	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
)

// linkedData returns n points, links between them and bounds that a metric
// satisfies with room to spare, so that there is a solution without slack. Pairs
// of kind 1 are similar, of kind −1 dissimilar, of kind 0 either.
func linkedData(seed uint64, n, d, m int, kind metric.Label) (x *mat.Dense, links []metric.Link, upper, lower float64) {
	rng := rand.New(rand.NewPCG(60, seed))
	x = mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64()*(1+float64(j%3)))
		}
	}
	planted := matrixtest.Definite(rng, d)
	var sq []float64
	for i := range n {
		for j := range i {
			sq = append(sq, quad(planted, x, metric.Link{I: i, J: j}))
		}
	}
	slices.Sort(sq)
	near, far := sq[2*len(sq)/5], sq[3*len(sq)/5]
	for len(links) < m {
		l := metric.Link{I: rng.IntN(n), J: rng.IntN(n)}
		q := quad(planted, x, l)
		if l.Label = metric.SameClass(q <= near); l.I != l.J && (q <= near || q >= far) && (kind == 0 || kind == l.Label) {
			links = append(links, l)
		}
	}
	upper, lower = 1.02*near, 0.98*far
	return x, links, upper, lower
}

// quad returns vᵀWv of a link.
func quad(w mat.Symmetric, x *mat.Dense, l metric.Link) float64 {
	v := mat.NewVecDense(w.SymmetricDim(), metric.Sub(nil, x.RawRowView(l.I), x.RawRowView(l.J)))
	return mat.Inner(v, w, v)
}

func bound(l metric.Link, upper, lower float64) float64 {
	if l.Label == metric.Similar {
		return upper
	}
	return lower
}

// kktTol is the largest residual of a condition of optimality after a fit with
// tightTol.
const (
	kktTol   = 1e-9
	tightTol = 1e-12
)

// At convergence the conditions of optimality hold, as the definitions say them
// and from W, λ and ξ alone.
func TestKKT(t *testing.T) {
	for _, kind := range []metric.Label{metric.Similar, metric.Dissimilar, 0} {
		for _, gamma := range []float64{0.01, 0.1, 1, 10, 1000, math.Inf(1)} {
			for _, c := range []struct{ n, d, m int }{{8, 1, 5}, {20, 3, 30}, {40, 12, 50}, {60, 90, 40}} {
				x, links, upper, lower := linkedData(uint64(c.d), c.n, c.d, c.m, kind)
				p := Params{Gamma: gamma, Upper: upper, Lower: lower, Tol: tightTol, MaxCycles: 200000}
				w0 := matrixtest.Identity(c.d)
				if c.d == 12 {
					w0 = matrixtest.Definite(rand.New(rand.NewPCG(61, 1)), c.d)
					w0.ScaleSym(0.7, w0)
					p.W0 = w0
				}
				what := fmt.Sprintf("kind %d, γ = %v, d = %d", kind, gamma, c.d)
				l, err := Fit(context.Background(), x, links, p)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if l.Status != learners.Converged || l.Residual >= tightTol || l.KKT > kktTol {
					t.Errorf("%s: %v after %d cycles, residual %v, KKT %v", what, l.Status, l.Iterations, l.Residual, l.KKT)
				}
				if l.Projections == 0 && c.d > 1 {
					t.Errorf("%s: nothing to do: the test is empty", what)
				}
				w := l.Metric.M()
				precision := mat.NewSymDense(c.d, nil)
				precision.CopySym(matrixtest.Inverse(t, w0))
				for k, link := range links {
					delta, xi0, xi, lambda := float64(link.Label), bound(link, upper, lower), l.Slacks[k], l.Duals[k]
					v := mat.NewVecDense(c.d, metric.Sub(nil, x.RawRowView(link.I), x.RawRowView(link.J)))
					precision.SymRankOne(precision, delta*lambda, v)
					q := quad(w, x, link)
					if lambda < 0 || !(xi > 0) {
						t.Fatalf("%s: link %d: λ = %v, ξ = %v", what, k, lambda, xi)
					}
					if e := math.Abs(xi0*(1/xi0-delta*lambda/gamma) - xi0/xi); e > kktTol {
						t.Errorf("%s: link %d: 1/ξ off by %v", what, k, e)
					}
					if e := delta * (q - xi) / xi; e > kktTol {
						t.Errorf("%s: link %d: constraint violated by %v", what, k, e)
					}
					if e := lambda * math.Abs(q-xi); e > kktTol {
						t.Errorf("%s: link %d: complementarity violated by %v", what, k, e)
					}
				}
				var product mat.Dense // W·W⁻¹, by the condition, is I
				product.Mul(w, precision)
				if e := matrixtest.Distance(&product, matrixtest.Identity(c.d)); e > kktTol {
					t.Errorf("%s: W(W₀⁻¹ + Σ λδvvᵀ) off I by %v", what, e)
				}
			}
		}
	}
}

// logDetObjective is D(W, W₀) + γ·D(diag ξ, diag ξ₀) for the best ξ that W allows.
func logDetObjective(t testing.TB, w, w0 *mat.SymDense, x *mat.Dense, links []metric.Link, p Params) float64 {
	t.Helper()
	var ratio mat.Dense
	ratio.Mul(w, matrixtest.Inverse(t, w0))
	det, _ := mat.LogDet(&ratio)
	f := mat.Trace(&ratio) - det - float64(w.SymmetricDim())
	for _, l := range links {
		xi0 := bound(l, p.Upper, p.Lower)
		r := quad(w, x, l) / xi0
		if float64(l.Label)*(r-1) > 0 {
			f += p.Gamma * (r - math.Log(r) - 1)
		}
	}
	return f
}

// No matrix near the answer has a smaller objective: the slack form is that of the
// problem, not only of the algorithm.
func TestMinimises(t *testing.T) {
	for _, gamma := range []float64{0.01, 1, 50} {
		x, links, upper, lower := linkedData(7, 30, 4, 40, 0)
		links[0].Label, links[1].Label = -links[0].Label, -links[1].Label
		rng := rand.New(rand.NewPCG(62, 1))
		w0 := matrixtest.Definite(rng, 4)
		p := Params{Gamma: gamma, Upper: upper, Lower: lower, W0: w0, Tol: tightTol, MaxCycles: 100000}
		l, err := Fit(context.Background(), x, links, p)
		if err != nil {
			t.Fatal(err)
		}
		w := l.Metric.M()
		least := logDetObjective(t, w, w0, x, links, p)
		for _, size := range []float64{1e-1, 1e-2, 1e-3, 1e-4} {
			for range 50 {
				g := matrixtest.Definite(rng, 4) // W^{1/2}-like moves keep W' positive definite
				var other mat.SymDense
				other.ScaleSym(1-size, w)
				g.ScaleSym(size, g)
				other.AddSym(&other, g)
				const tol = 1e-12 // round-off of the objective
				if f := logDetObjective(t, &other, w0, x, links, p); f < least-tol*(1+least) {
					t.Errorf("γ = %v: objective %v at the answer, %v nearby", gamma, least, f)
				}
			}
		}
	}
}

// plainITML is plain.ITML with the parameters.
func plainITML(x *mat.Dense, links []metric.Link, p Params, cycles int) (w *mat.SymDense, lambda, xi []float64) {
	_, d := x.Dims()
	var w0 mat.Symmetric = matrixtest.Identity(d)
	if p.W0 != nil {
		w0 = p.W0
	}
	r := plain.ITML(w0, x, links, plain.Bounds{Upper: p.Upper, Lower: p.Lower}, p.Gamma, cycles)
	return r.K, r.Lambda, r.Xi
}

// The fit is the algorithm as printed, cycle by cycle.
func TestIsAlgorithm1(t *testing.T) {
	for _, gamma := range []float64{0.01, 1, 100, math.Inf(1)} {
		for _, d := range []int{1, 2, 9, 72, 73, 120} {
			x, links, upper, lower := linkedData(uint64(100+d), 40, d, 60, 0)
			p := Params{Gamma: gamma, Upper: upper, Lower: lower, Tol: 1e-300, MaxCycles: 4}
			if d == 9 {
				p.W0 = matrixtest.Definite(rand.New(rand.NewPCG(63, 1)), d)
			}
			l, err := Fit(context.Background(), x, links, p)
			if err != nil {
				t.Fatal(err)
			}
			w, lambda, xi := plainITML(x, links, p, l.Iterations)
			const tol = 1e-10 // some 10⁵ ε: 240 updates, and the inverse of a matrix of condition 10⁴
			if e := matrixtest.Distance(l.Metric.M(), w); e > tol*mat.Norm(w, 2) {
				t.Errorf("γ = %v, d = %d: W off by %v of %v", gamma, d, e, mat.Norm(w, 2))
			}
			var kkt float64
			for k, link := range links {
				if math.Abs(l.Duals[k]-lambda[k])*xi[k] > tol || math.Abs(l.Slacks[k]-xi[k]) > tol*xi[k] {
					t.Errorf("γ = %v, d = %d, link %d: λ = %v, ξ = %v, want %v, %v", gamma, d, k, l.Duals[k], l.Slacks[k], lambda[k], xi[k])
				}
				gap := quad(w, x, link) - xi[k]
				kkt = max(kkt, float64(link.Label)*gap/xi[k], lambda[k]*math.Abs(gap))
			}
			if l.Status != learners.IterationCap || math.Abs(l.KKT-kkt) > 1e-8*(1+kkt) || d > 2 && kkt == 0 {
				t.Errorf("γ = %v, d = %d: %v, KKT %v, want %v", gamma, d, l.Status, l.KKT, kkt)
			}
		}
	}
}

// One link has a closed form: p = ξ is the harmonic mean of p₀ and ξ₀ with weights
// 1 and γ.
func TestOfOneLink(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{0, 0, 3, 4}) // p₀ = 25
	for _, gamma := range []float64{0.01, 1, 100, math.Inf(1)} {
		for _, c := range []struct {
			label        metric.Label
			upper, lower float64
			moves        bool
		}{
			{metric.Similar, 5, 100, true}, {metric.Similar, 25, 100, false}, {metric.Similar, 30, 100, false},
			{metric.Dissimilar, 5, 100, true}, {metric.Dissimilar, 5, 25, false}, {metric.Dissimilar, 5, 20, false},
		} {
			link := metric.Link{I: 1, J: 0, Label: c.label}
			l, err := Fit(context.Background(), x, []metric.Link{link}, Params{Gamma: gamma, Upper: c.upper, Lower: c.lower})
			if err != nil {
				t.Fatal(err)
			}
			xi0 := bound(link, c.upper, c.lower)
			want, slack := 25.0, xi0
			if c.moves {
				share := gamma / (gamma + 1)
				if math.IsInf(gamma, 1) {
					share = 1
				}
				want = 1 / (share/xi0 + (1-share)/25)
				slack = want
			}
			q := l.Metric.SqDist(x.RawRowView(0), x.RawRowView(1))
			across := l.Metric.SqDist([]float64{0, 0}, []float64{-4, 3})
			if math.Abs(q-want) > 1e-12*want || math.Abs(l.Slacks[0]-slack) > 1e-12*slack || math.Abs(across-25) > 1e-12*25 {
				t.Errorf("γ = %v, %+v: d² = %v, ξ = %v, across %v, want %v, %v, 25", gamma, c, q, l.Slacks[0], across, want, slack)
			}
			if e := math.Abs(l.Duals[0] - math.Abs(1/want-1.0/25)); e > 1e-14 || l.Status != learners.Converged || (l.Projections > 0) != c.moves {
				t.Errorf("γ = %v, %+v: λ = %v, %v, %d projections", gamma, c, l.Duals[0], l.Status, l.Projections)
			}
		}
	}
}

// Rows times c with W₀/c² is the same problem: W is divided by c², λ stays. Bounds
// are on squared distances, so they stay too.
func TestScale(t *testing.T) {
	x, links, _, _ := linkedData(3, 30, 5, 40, 0)
	want, err := Fit(context.Background(), x, links, Params{Gamma: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []float64{1e-4, 0.125, 300} {
		var xc mat.Dense
		xc.Scale(scale, x)
		w0 := matrixtest.Identity(5)
		w0.ScaleSym(1/(scale*scale), w0)
		got, err := Fit(context.Background(), &xc, links, Params{Gamma: 2, W0: w0})
		if err != nil {
			t.Fatal(err)
		}
		w := got.Metric.M()
		w.ScaleSym(scale*scale, w)
		if e := matrixtest.Distance(w, want.Metric.M()); e > 1e-10*mat.Norm(w, 2) || math.Abs(got.Upper-want.Upper) > 1e-10*want.Upper || want.Projections == 0 {
			t.Errorf("scale %v: W off by %v, u = %v, want %v", scale, e, got.Upper, want.Upper)
		}
	}
}

// Bounds and distances are both squared. A program that compares a bound on
// distances with a squared distance (metric-learn does) would take the pair at
// distance 2 for too far, as 4 > 2, and pull it together.
func TestBoundsAreSquared(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{0, 2, 10, 15})
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 2, J: 3, Label: metric.Similar}}
	upper, lower, err := BoundParams{Low: 50, High: 100}.Of(x, links, metric.Euclidean{})
	if err != nil || upper != 4 || lower != 25 {
		t.Fatalf("bounds %v and %v, want 4 and 25, error %v", upper, lower, err)
	}
	l, err := Fit(context.Background(), x, links[:1], Params{Upper: upper, Lower: lower, Gamma: math.Inf(1)})
	if err != nil || l.Projections != 0 || l.Metric.M().At(0, 0) != 1 {
		t.Errorf("a pair at its bound was moved: W = %v, error %v", l.Metric.M().At(0, 0), err)
	}
	l, err = Fit(context.Background(), x, links[1:], Params{Upper: upper, Lower: lower, Gamma: math.Inf(1)})
	if err != nil || math.Abs(l.Metric.SqDist([]float64{10}, []float64{15})-4) > 1e-12 {
		t.Errorf("the squared distance of a pair further off is not brought to u = 4, error %v", err)
	}
}

// Duplicates are skipped, whatever their label, up to round-off.
func TestSkipsDuplicates(t *testing.T) {
	x := mat.NewDense(5, 2, []float64{1, 2, 1, 2, 0.30000000000000004, 0, 0.3, 0, 4, 4})
	links := []metric.Link{
		{I: 0, J: 1, Label: metric.Dissimilar}, {I: 0, J: 1, Label: metric.Similar}, {I: 2, J: 3, Label: metric.Dissimilar},
		{I: 4, J: 4, Label: metric.Dissimilar}, {I: 0, J: 4, Label: metric.Similar},
	}
	for _, gamma := range []float64{0.01, 1, math.Inf(1)} {
		p := Params{Gamma: gamma, Upper: 1, Lower: 2}
		got, err := Fit(context.Background(), x, links, p)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Fit(context.Background(), x, links[4:], p)
		if err != nil {
			t.Fatal(err)
		}
		if got.Skipped != 4 || !mat.Equal(got.Metric.M(), want.Metric.M()) || got.Duals[0] != 0 || got.Slacks[0] != 2 || got.Duals[4] != want.Duals[0] {
			t.Errorf("γ = %v: %d skipped, duals %v", gamma, got.Skipped, got.Duals)
		}
	}
}

// Contradictory links have a solution with slack. Without, the multipliers grow
// without limit, and the fit does not call that convergence.
func TestContradiction(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{0, 0, 1, 1})
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 1, Label: metric.Dissimilar}}
	for _, gamma := range []float64{0.01, 1, 100} {
		l, err := Fit(context.Background(), x, links, Params{Gamma: gamma, Upper: 1, Lower: 1.5, Tol: tightTol, MaxCycles: 100000})
		if err != nil || l.Status != learners.Converged || l.KKT > kktTol {
			t.Errorf("γ = %v: %v, KKT %v, error %v", gamma, l.Status, l.KKT, err)
		}
	}
	l, err := Fit(context.Background(), x, links, Params{Gamma: math.Inf(1), Upper: 1, Lower: 1.5, MaxCycles: 3000})
	if err != nil || l.Status != learners.IterationCap || l.Iterations != 3000 || l.Residual >= 1e-3 || l.KKT < 1 {
		t.Errorf("γ = ∞: %v after %d cycles, residual %v, KKT %v, error %v", l.Status, l.Iterations, l.Residual, l.KKT, err)
	}
}

// W is positive definite whatever the bounds and however alike the points, or the
// fit says that float64 cannot hold it.
func TestStaysPositiveDefinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 1))
	singular := 0
	for trial := range 60 {
		d := 1 + rng.IntN(8)
		x, links, _, _ := linkedData(uint64(200+trial), 12, d, 40, 0)
		for i := range 6 { // rows nearly alike, and features of any scale
			for j := range d {
				x.Set(i, j, x.At(6, j)+math.Pow10(-rng.IntN(6))*x.At(i, j))
			}
		}
		for j := range d {
			scale := math.Pow10(rng.IntN(9) - 4)
			for i := range 12 {
				x.Set(i, j, scale*x.At(i, j))
			}
		}
		for k := range links {
			if rng.IntN(2) == 0 {
				links[k].Label = -links[k].Label
			}
		}
		gamma := []float64{0.01, 1, 100, math.Inf(1)}[rng.IntN(4)]
		upper := math.Pow10(rng.IntN(7) - 3)
		l, err := Fit(context.Background(), x, links, Params{Gamma: gamma, Upper: upper, Lower: 10 * upper, MaxCycles: 50})
		if err != nil {
			if !strings.Contains(err.Error(), "singular to working precision") {
				t.Fatal(err)
			}
			singular++
			continue
		}
		f := l.Metric.Factor()
		for i := range d {
			if s := f.At(i, i); !(s > 0) || math.IsInf(s, 0) {
				t.Errorf("trial %d: diagonal entry %d of the triangular factor is %v", trial, i, s)
			}
		}
		for k, link := range links {
			if q := l.Metric.SqDist(x.RawRowView(link.I), x.RawRowView(link.J)); !(q > 0) || l.Duals[k] < 0 {
				t.Errorf("trial %d: d² = %v, λ = %v", trial, q, l.Duals[k])
			}
		}
	}
	t.Logf("%d of 60 fits are singular", singular)
	if singular > 20 {
		t.Errorf("%d of 60 fits are singular", singular)
	}
}

// A fit with so many projections that W is made anew on the way agrees with the
// algorithm without that.
func TestRemake(t *testing.T) {
	x, links, upper, lower := linkedData(9, 30, 4, 700, 0)
	for k := range links { // labels that fit no metric, to keep it moving
		if k%5 == 0 {
			links[k].Label = -links[k].Label
		}
	}
	p := Params{Gamma: 1, Upper: upper, Lower: lower, Tol: 1e-300, MaxCycles: 300}
	l, err := Fit(context.Background(), x, links, p)
	if err != nil {
		t.Fatal(err)
	}
	if l.Projections <= logdet.RemakeAfter {
		t.Fatalf("%d projections: the test is empty", l.Projections)
	}
	w, _, _ := plainITML(x, links, p, l.Iterations)
	if e := matrixtest.Distance(l.Metric.M(), w); e > 1e-9*mat.Norm(w, 2) {
		t.Errorf("W off by %v of %v", e, mat.Norm(w, 2))
	}
}

// W₀ is the answer where no link binds, and input stays as it was.
func TestStart(t *testing.T) {
	w0 := matrixtest.Definite(rand.New(rand.NewPCG(65, 1)), 3)
	x, links, _, _ := linkedData(2, 10, 3, 10, metric.Similar)
	before := mat.DenseCopyOf(x)
	kept := mat.NewSymDense(3, nil)
	kept.CopySym(w0)
	l, err := Fit(context.Background(), x, links, Params{W0: w0, Upper: 1e6, Lower: 2e6})
	if err != nil || matrixtest.Distance(l.Metric.M(), w0) > 1e-13 || l.Iterations != 1 || l.Residual != 0 || l.KKT != 0 {
		t.Errorf("W off W₀ by %v after %d cycles, error %v", matrixtest.Distance(l.Metric.M(), w0), l.Iterations, err)
	}
	if _, err := Fit(context.Background(), x, links, Params{W0: w0, Upper: 1, Lower: 2}); err != nil || !mat.Equal(x, before) || !mat.Equal(w0, kept) {
		t.Errorf("the fit changed its input, error %v", err)
	}
}

func TestErrors(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{0, 1, 3})
	one := []metric.Link{{I: 0, J: 1, Label: -1}}
	with := func(p Params) Params { p.Upper, p.Lower = 1, 2; return p }
	for _, c := range []struct {
		want  string
		x     *mat.Dense
		links []metric.Link
		p     Params
	}{
		{"itml: links: none given", x, nil, Params{}},
		{"itml: link 0: label 0", x, []metric.Link{{I: 0, J: 1}}, Params{}},
		{"itml: link 1: row 3 is not allowed, want 0 to 2", x, append(one, metric.Link{I: 3, J: 0, Label: 1}), Params{}},
		{"itml: gamma: -1 is not allowed", x, one, Params{Gamma: -1}},
		{"itml: gamma: NaN", x, one, Params{Gamma: math.NaN()}},
		{"itml: upper: -1", x, one, Params{Upper: -1}},
		{"itml: upper: +Inf", x, one, Params{Upper: math.Inf(1), Lower: 1}},
		{"itml: lower: NaN", x, one, Params{Upper: 1, Lower: math.NaN()}},
		{"want both or neither", x, one, Params{Upper: 1}},
		{"itml: upper: 2 and lower: 2 are not allowed, want upper < lower: swap them", x, one, Params{Upper: 2, Lower: 2}},
		{"itml: upper: 3 and lower: 2 are not allowed, want upper < lower: swap them", x, one, Params{Upper: 3, Lower: 2}},
		{"itml: lower: 1e+150 is not allowed, want 0, or a number > upper and at most 1e+140", x, one, Params{Upper: 1, Lower: 1e150}},
		{"itml: upper: 1e-150 is not allowed, want 0, or a number ≥ 1e-140 and < lower", x, one, Params{Upper: 1e-150, Lower: 1}},
		{"itml: bounds: upper 1 and lower 1, by percentiles 1 and 99 of 1 squared distances from 1 to 1, want upper < lower: take", x, one, Params{}},
		{"itml: tol: -1", x, one, Params{Tol: -1}},
		{"itml: max_cycles: -1", x, one, Params{MaxCycles: -1}},
		{"itml: rule: 9", x, one, Params{Bounds: BoundParams{Rule: 9}}},
		{"itml: low: 99", x, one, Params{Bounds: BoundParams{Low: 99, High: 50}}},
		{"high: 101 is not allowed, want a number > low and at most 100", x, one, Params{Bounds: BoundParams{High: 101}}},
		{"itml: low: 0.5 is not allowed, want at least 1 with bins", x, one, Params{Bounds: BoundParams{Rule: BoundBins, Low: 0.5}}},
		{"itml: bounds: all pairs coincide", mat.NewDense(3, 1, nil), one, Params{}},
		{"itml: row 1, column 0: NaN", mat.NewDense(2, 1, []float64{0, math.NaN()}), one, Params{}},
		{"itml: bounds: pair 0: squared distance +Inf", mat.NewDense(2, 1, []float64{0, 1e200}), one, Params{}},
		{"itml: link 0: squared distance +Inf", mat.NewDense(2, 1, []float64{0, 1e200}), one, with(Params{})},
		{"itml: w0: 2×2 is not allowed, want 1×1", x, one, Params{W0: matrixtest.Identity(2)}},
		{"itml: w0: entry (0, 0) is NaN", x, one, Params{W0: mat.NewSymDense(1, []float64{math.NaN()})}},
		{"itml: w0: it is not positive definite", x, one, Params{W0: mat.NewSymDense(1, nil)}},
		{"itml: w0: condition number", mat.NewDense(2, 2, []float64{0, 0, 1, 1}), one, Params{W0: mat.NewSymDense(2, []float64{1, 0, 0, 1e-20})}},
	} {
		if l, err := Fit(context.Background(), c.x, c.links, c.p); err == nil || !strings.Contains(err.Error(), c.want) || l.Metric != nil {
			t.Errorf("got error %v, want one with %q", err, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic without data")
		}
	}()
	Fit(context.Background(), &mat.Dense{}, one, Params{})
}

// symmetric returns a copy of W.
func (t *tiles) symmetric() *mat.SymDense {
	out := mat.NewSymDense(t.n, nil)
	t.each(func(i, j int, g blas64.General) {
		for r := range g.Rows {
			for c := range g.Cols {
				out.SetSym(i+r, j+c, g.Data[r*g.Stride+c])
			}
		}
	})
	return out
}

// Every product and update of the tiles is that of the matrix, and W is symmetric to
// the bit.
func TestTiles(t *testing.T) {
	for _, n := range []int{1, 2, 55, 56, 57, 72, 73, 100, 111, 112, 113, 170, 300} {
		rng := rand.New(rand.NewPCG(66, uint64(n)))
		w := matrixtest.Definite(rng, n)
		f := newTiles(n)
		f.set(w)
		if !mat.Equal(f.symmetric(), w) {
			t.Fatalf("n = %d: set and read differ", n)
		}
		x, s, got := make([]float64, n), make([]float64, n), make([]float64, n)
		for _, sign := range []float64{0, 1, -1, 1} {
			for i := range x {
				x[i], s[i], got[i] = rng.NormFloat64(), 0.1*rng.NormFloat64(), math.NaN()
			}
			f.addMul(got, sign, s, x)
			w.SymRankOne(w, sign, mat.NewVecDense(n, s))
			want := mat.NewVecDense(n, nil)
			want.MulVec(w, mat.NewVecDense(n, x))
			if e := matrixtest.Distance(mat.NewVecDense(n, got), want); !(e <= 1e-12*(1+mat.Norm(want, 2))) {
				t.Errorf("n = %d, sign %v: product off by %v", n, sign, e)
			}
			if e := matrixtest.Distance(f.symmetric(), w); e > 1e-13*mat.Norm(w, 2) {
				t.Errorf("n = %d, sign %v: W off by %v", n, sign, e)
			}
		}
		f.each(func(i, j int, g blas64.General) {
			for r := range g.Rows {
				for c := range r {
					if i == j && g.Data[r*g.Stride+c] != g.Data[c*g.Stride+r] {
						t.Fatalf("n = %d: tile (%d, %d) is not symmetric", n, i, j)
					}
				}
			}
		})
	}
}

func ExampleFit() {
	// Rows are alike in the first feature, and differ by class in the second.
	x := mat.NewDense(4, 2, []float64{0, 0, 1, 0, 0, 2, 1, 2})
	links := []metric.Link{
		{I: 0, J: 1, Label: metric.Similar}, {I: 2, J: 3, Label: metric.Similar},
		{I: 0, J: 2, Label: metric.Dissimilar}, {I: 1, J: 2, Label: metric.Dissimilar},
	}
	l, err := Fit(context.Background(), x, links, Params{Upper: 0.5, Lower: 6, Gamma: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := l.Metric.M()
	fmt.Printf("%v after %d cycles\n", l.Status, l.Iterations)
	fmt.Printf("W = [%.2f %.2f; %.2f %.2f]\n", m.At(0, 0), m.At(0, 1), m.At(1, 0), m.At(1, 1))
	fmt.Printf("λ = %.2f, ξ = %.2f\n", l.Duals, l.Slacks)
	// Output:
	// converged after 27 cycles
	// W = [0.51 0.00; 0.00 1.43]
	// λ = [0.48 0.47 0.08 0.00], ξ = [0.51 0.51 5.74 6.00]
}

// BenchmarkProjection is one projection: a product, its square and an update. The
// reference is gonum's product and update of a full square.
func BenchmarkProjection(b *testing.B) {
	for _, d := range []int{13, 64, 104, 256, 784} {
		x, links, p := mat.NewDense(100, d, nil), make([]metric.Link, 400), Params{Gamma: 1, Upper: float64(d), Lower: float64(3 * d)}
		rng := rand.New(rand.NewPCG(67, uint64(d)))
		for i := range 100 * d {
			x.RawMatrix().Data[i] = rng.NormFloat64()
		}
		for k := range links {
			i := rng.IntN(99)
			links[k] = metric.Link{I: i, J: i + 1, Label: metric.SameClass(k%2 == 0)}
		}
		b.Run(fmt.Sprintf("alg=ITML/dim=%d", d), func(b *testing.B) {
			f, err := newInputForm(context.Background(), x, nil)
			if err != nil {
				b.Fatal(err)
			}
			l := newLoop(context.Background(), f, links, p)
			if err := l.cycle(); err != nil {
				b.Fatal(err)
			}
			k := 0
			for b.Loop() {
				q := f.sqDist(links[k])
				f.update(math.Copysign(1e-9, float64(k%2)-0.5) / q)
				k = (k + 1) % len(links)
			}
		})
		b.Run(fmt.Sprintf("alg=GemvGer/dim=%d", d), func(b *testing.B) {
			w := blas64.General{Rows: d, Cols: d, Stride: d, Data: mat.DenseCopyOf(matrixtest.Identity(d)).RawMatrix().Data}
			v, wv := make([]float64, d), make([]float64, d)
			k := 0
			for b.Loop() {
				metric.Sub(v, x.RawRowView(links[k].I), x.RawRowView(links[k].J))
				blas64.Gemv(blas.NoTrans, 1, w, vector.Of(v), 0, vector.Of(wv))
				q := vector.Dot(v, wv)
				blas64.Ger(math.Copysign(1e-9, float64(k%2)-0.5)/q, vector.Of(wv), vector.Of(wv), w)
				k = (k + 1) % len(links)
			}
		})
	}
}

// The bounds that are given have the range of those that follow from a rule, and KernelParams the ranges of Params.
func TestRanges(t *testing.T) {
	low, _, _, _ := ranges.Of(Params{}, "Upper").Ends()
	_, high, _, _ := ranges.Of(Params{}, "Lower").Ends()
	if low != logdet.LeastBound || high != logdet.LargestBound {
		t.Errorf("u from %v and ℓ to %v, want %v and %v", low, high, logdet.LeastBound, logdet.LargestBound)
	}
	for _, name := range []string{"Gamma", "Upper", "Lower", "Tol", "MaxCycles"} {
		if got, want := ranges.Of(KernelParams{}, name), ranges.Of(Params{}, name); got != want {
			t.Errorf("%s of a kernel fit is %s, want %s", name, got.Text(), want.Text())
		}
	}
}
