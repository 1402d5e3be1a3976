package itml

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// gammas are weights of the slack, none of which is the default.
var gammas = []float64{0.01, 2, 1000, math.Inf(1)}

// withKernel returns p as the parameters of a kernel fit.
func withKernel(p Params) KernelParams {
	return KernelParams{Gamma: p.Gamma, Upper: p.Upper, Lower: p.Lower, Bounds: p.Bounds, Tol: p.Tol, MaxCycles: p.MaxCycles}
}

// normal returns an n×d matrix of standard normal numbers.
func normal(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	return x
}

// weighted returns the linear kernel xᵀW₀y.
func weighted(w0 mat.Symmetric) kernels.Func {
	return func(x, y []float64) float64 {
		return mat.Inner(mat.NewVecDense(len(x), x), w0, mat.NewVecDense(len(y), y))
	}
}

// sqDistOf returns p = K_ii − 2K_ij + K_jj.
func sqDistOf(k mat.Symmetric, l metric.Link) float64 {
	return k.At(l.I, l.I) - 2*k.At(l.I, l.J) + k.At(l.J, l.J)
}

// Theorem 1 and Corollary 2: with the linear kernel xᵀW₀y, the fit in the space of
// the kernel is that in input space, also where K₀ is singular, between the objects and at
// points that no fit has seen.
func TestKernelIsInputSpace(t *testing.T) {
	const tol = 1e-9
	for _, gamma := range gammas {
		for _, c := range []struct {
			n, d, m int
			w0      bool
		}{{8, 1, 6, false}, {12, 30, 40, false}, {40, 5, 80, false}, {40, 5, 80, true}, {30, 12, 60, true}} {
			x, links, upper, lower := linkedData(uint64(300+c.d), c.n, c.d, c.m, 0)
			p := Params{Gamma: gamma, Upper: upper, Lower: lower, Tol: tightTol, MaxCycles: 500}
			w0, kernel := matrixtest.Identity(c.d), kernels.Kernel(kernels.Linear{})
			if c.w0 {
				w0 = matrixtest.Definite(rand.New(rand.NewPCG(68, 1)), c.d)
				p.W0, kernel = w0, weighted(w0)
			}
			what := fmt.Sprintf("γ = %v, %+v", gamma, c)
			want, err := Fit(context.Background(), x, links, p)
			if err != nil {
				t.Fatal(err)
			}
			k0 := kernels.Gram(kernel, x)
			got, err := FitKernel(context.Background(), k0, links, withKernel(p))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if got.Projections == 0 || got.Status != want.Status || got.Skipped != 0 {
				t.Errorf("%s: %v after %d projections, want %v", what, got.Status, got.Projections, want.Status)
			}
			for k, a := range want.Duals {
				if math.Abs(got.Duals[k]-a)*want.Slacks[k] > tol*(1+a*want.Slacks[k]) || math.Abs(got.Slacks[k]-want.Slacks[k]) > tol*want.Slacks[k] {
					t.Errorf("%s, link %d: λ = %v, ξ = %v, want %v, %v", what, k, got.Duals[k], got.Slacks[k], a, want.Slacks[k])
				}
			}
			if math.Abs(got.Gap-want.Gap) > tol*(1+want.Gap) || math.Abs(got.KKT-want.KKT) > tol*(1+want.KKT) {
				t.Errorf("%s: gap %v, KKT %v, want %v, %v", what, got.Gap, got.KKT, want.Gap, want.KKT)
			}
			// W → K
			w := want.Metric.M()
			k := got.All(k0)
			fromW := kernels.Gram(weighted(w), x)
			if e := matrixtest.Distance(k, fromW); e > tol*mat.Norm(fromW, 2) {
				t.Errorf("%s: K off ΦᵀWΦ by %v of %v", what, e, mat.Norm(fromW, 2))
			}
			// K → W
			support := mat.NewDense(len(got.Support), c.d, nil)
			for a, i := range got.Support {
				support.SetRow(a, x.RawRowView(i))
			}
			var phi, ws, fromS mat.Dense
			phi.Mul(support, w0) // rows are W₀φ
			ws.Mul(phi.T(), got.S)
			fromS.Mul(&ws, &phi)
			fromS.Add(&fromS, w0)
			if e := matrixtest.Distance(&fromS, w); e > tol*mat.Norm(w, 2) {
				t.Errorf("%s: W₀ + W₀ΦSΦᵀW₀ off W by %v of %v", what, e, mat.Norm(w, 2))
			}
			// unseen points
			learned, err := got.Kernel(kernel, x)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			z := normal(rand.New(rand.NewPCG(68, 2)), 10, c.d)
			for i := range 9 {
				a, b := z.RawRowView(i), z.RawRowView(i+1)
				if d := want.Metric.SqDist(a, b); math.Abs(learned.SqDist(a, b)-d) > tol*d {
					t.Errorf("%s: d² = %v at unseen points, in input space %v", what, learned.SqDist(a, b), d)
				}
			}
		}
	}
}

// kernelData returns n points, their Gram matrix under a Gaussian kernel, and links and bounds
// of linkedData for it.
func kernelData(seed uint64, n, d, m int) (kernel kernels.Kernel, x *mat.Dense, k0 *mat.SymDense, links []metric.Link, upper, lower float64) {
	x, links, _, _ = linkedData(seed, n, d, m, 0)
	kernel = gaussian(0.1)
	k0 = kernels.Gram(kernel, x)
	upper, lower, err := BoundParams{Low: 30, High: 70}.OfGram(k0, links)
	if err != nil {
		panic(err)
	}
	return kernel, x, k0, links, upper, lower
}

// The fit is the algorithm as printed, cycle by cycle, and S by formula is S tracked
// with K: it is 0 outside the support, and its rows sum to 0.
func TestKernelIsAlgorithm1(t *testing.T) {
	const tol = 1e-12 // 240 updates; eigenvalues of K₀ down to 10⁻⁵ of the largest make S less sure than K
	for _, gamma := range gammas {
		for _, c := range []struct{ n, d, m int }{{6, 2, 4}, {40, 3, 60}, {100, 5, 30}} {
			_, _, k0, links, upper, lower := kernelData(uint64(400+c.n), c.n, c.d, c.m)
			what := fmt.Sprintf("γ = %v, %+v", gamma, c)
			p := KernelParams{Gamma: gamma, Upper: upper, Lower: lower, Tol: 1e-300, MaxCycles: 4}
			l, err := FitKernel(context.Background(), k0, links, p)
			if err != nil {
				t.Fatal(err)
			}
			want := plain.LogDet(k0, links, plain.Bounds{Upper: upper, Lower: lower}, gamma, l.Iterations)
			k, s, lambda, xi := want.K, want.S, want.Lambda, want.Xi
			if e := matrixtest.Distance(l.All(k0), k); e > tol*mat.Norm(k, 2) {
				t.Errorf("%s: K off by %v of %v", what, e, mat.Norm(k, 2))
			}
			whole := mat.NewSymDense(c.n, nil)
			for a, i := range l.Support {
				var sum float64
				for b, j := range l.Support {
					whole.SetSym(i, j, l.S.At(a, b))
					sum += l.S.At(a, b)
				}
				if math.Abs(sum) > tol*mat.Norm(s, 2) {
					t.Errorf("%s: row %d of S sums to %v of %v", what, a, sum, mat.Norm(s, 2))
				}
			}
			if e := matrixtest.Distance(whole, s); e > tol*mat.Norm(s, 2) || mat.Norm(s, 2) == 0 {
				t.Errorf("%s: S off by %v of %v", what, e, mat.Norm(s, 2))
			}
			joined := map[int]bool{}
			for i, link := range links {
				if math.Abs(l.Duals[i]-lambda[i])*xi[i] > tol*(1+lambda[i]*xi[i]) || math.Abs(l.Slacks[i]-xi[i]) > tol*xi[i] {
					t.Errorf("%s, link %d: λ = %v, ξ = %v, want %v, %v", what, i, l.Duals[i], l.Slacks[i], lambda[i], xi[i])
				}
				if l.Duals[i] > 0 {
					joined[link.I], joined[link.J] = true, true
				}
			}
			if len(joined) != len(l.Support) {
				t.Errorf("%s: support of %d objects, λ > 0 joins %d", what, len(l.Support), len(joined))
			}
		}
	}
}

// watched calls after with each update.
type watched struct {
	form
	after func()
}

func (w watched) update(beta float64) {
	w.form.update(beta)
	w.after()
}

// current returns W, or Q, with the updates that wait.
func current(f form) *mat.SymDense {
	if f, ok := f.(*inputForm); ok {
		w := f.w.symmetric()
		if f.sign != 0 {
			w.SymRankOne(w, f.sign, mat.NewVecDense(len(f.s), f.s))
		}
		return w
	}
	w := f.(*forestForm)
	s := len(w.child)
	q := mat.NewSymDense(s, nil)
	for i := range s {
		for j := range i + 1 {
			q.SetSym(i, j, w.q.At(i, j))
		}
	}
	for k, beta := range w.beta {
		var u mat.VecDense
		u.MulVec(w.y.Slice(0, len(w.links), 0, s).T(), w.g.RowView(k).(*mat.VecDense).SliceVec(0, len(w.links)))
		q.SymRankOne(q, beta, &u)
	}
	return q
}

// W is positive definite after every projection, hence K on the range of K₀, and what the
// projections make of it agrees with what is made of λ.
func TestKernelStaysPositiveDefinite(t *testing.T) {
	for _, gamma := range gammas {
		for _, kernel := range []kernels.Kernel{kernels.Linear{}, gaussian(0.1), polynomial(2, 1)} {
			x, links, _, _ := linkedData(500, 24, 3, 40, 0)
			for k := range links {
				if k%4 == 0 { // labels that fit no metric
					links[k].Label = -links[k].Label
				}
			}
			k0 := kernels.Gram(kernel, x)
			upper, lower, err := BoundParams{Low: 10, High: 90}.OfGram(k0, links)
			if err != nil {
				t.Fatal(err)
			}
			tree := newForest(24, links, gramSqDists(k0, links))
			v := tree.vectors(k0)
			single, err := newInputForm(context.Background(), tree.points(v), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []form{single, newForestForm(context.Background(), tree, v)} {
				var chol mat.Cholesky
				updates, bad := 0, 0
				loop := newLoop(context.Background(), watched{f, func() {
					updates++
					w := current(f)
					if _, ok := f.(*forestForm); ok { // Q has the rank of K₀ only: up to round-off it is semi-definite
						const tol = 1e-12
						largest := mat.Max(w)
						for i := range w.SymmetricDim() {
							w.SetSym(i, i, w.At(i, i)+tol*largest)
						}
					}
					if !chol.Factorize(w) {
						bad++
					}
				}}, links, Params{Gamma: gamma, Upper: upper, Lower: lower})
				for range 5 {
					if err := loop.cycle(); err != nil {
						t.Fatal(err)
					}
				}
				if bad > 0 || updates == 0 {
					t.Errorf("γ = %v, %T, %T: K is not positive definite after %d of %d projections", gamma, kernel, f, bad, updates)
				}
				before := current(f)
				if err := loop.finish(); err != nil {
					t.Fatal(err)
				}
				const tol = 1e-9
				if e := matrixtest.Distance(current(f), before); e > tol*mat.Norm(before, 2) {
					t.Errorf("γ = %v, %T, %T: W of the projections is off W of λ by %v of %v", gamma, kernel, f, e, mat.Norm(before, 2))
				}
			}
		}
	}
}

// objectives returns the primal objective at K, by the eigenvalues of W = I + F'SF with
// K₀ = FFᵀ and the slacks that are best for K, and the dual one at λ.
func objectives(t testing.TB, k0 *mat.SymDense, links []metric.Link, l KernelResult, gamma float64) (primal, dual float64) {
	t.Helper()
	n := k0.SymmetricDim()
	var eig spectral.EigenSym
	if !eig.Factorize(k0, true) {
		t.Fatal("no eigenvalues")
	}
	var f mat.Dense
	eig.VectorsTo(&f)
	for j, v := range eig.Values(nil) {
		for i := range n {
			f.Set(i, j, f.At(i, j)*math.Sqrt(max(v, 0)))
		}
	}
	precision := matrixtest.Identity(n)
	for k, link := range links {
		v := mat.NewVecDense(n, metric.Sub(nil, f.RawRowView(link.I), f.RawRowView(link.J)))
		precision.SymRankOne(precision, float64(link.Label)*l.Duals[k], v)
	}
	var chol mat.Cholesky
	if !chol.Factorize(precision) {
		t.Fatal("W⁻¹ is not positive definite")
	}
	var w mat.SymDense
	if err := chol.InverseTo(&w); err != nil {
		t.Fatal(err)
	}
	dual = chol.LogDet()
	primal = mat.Trace(&w) + chol.LogDet() - float64(n)
	k := l.All(k0)
	for i, link := range links {
		xi0, delta := bound(link, l.Upper, l.Lower), float64(link.Label)
		if math.IsInf(gamma, 1) {
			dual -= l.Duals[i] * delta * xi0
			continue
		}
		dual += gamma * math.Log(1-delta*l.Duals[i]*xi0/gamma)
		if r := sqDistOf(k, link) / xi0; delta*(r-1) > 0 {
			primal += gamma * (r - 1 - math.Log(r))
		}
	}
	return primal, dual
}

// The gap is that of the objectives, at each number of cycles; it bounds how much is to
// be gained; and at convergence it is 0, as is the KKT residual.
func TestKernelGap(t *testing.T) {
	for _, gamma := range []float64{0.01, 1, 100, math.Inf(1)} {
		_, _, k0, links, _, _ := kernelData(600, 20, 4, 25)
		if math.IsInf(gamma, 1) {
			links = links[:8]
		}
		upper, lower, err := BoundParams{Low: 30, High: 70}.OfGram(k0, links)
		if err != nil {
			t.Fatal(err)
		}
		p := KernelParams{Gamma: gamma, Upper: upper, Lower: lower, Tol: 1e-12, MaxCycles: 200000}
		best, err := FitKernel(context.Background(), k0, links, p)
		if err != nil {
			t.Fatal(err)
		}
		least, _ := objectives(t, k0, links, best, gamma)
		if best.Status != learners.Converged || best.KKT > kktTol || math.Abs(best.Gap) > 1e-9*(1+least) {
			t.Errorf("γ = %v: %v after %d cycles, KKT %v, gap %v of %v", gamma, best.Status, best.Iterations, best.KKT, best.Gap, least)
		}
		p.Tol = 1e-300
		for _, p.MaxCycles = range []int{1, 2, 5, 20} {
			l, err := FitKernel(context.Background(), k0, links, p)
			if err != nil {
				t.Fatal(err)
			}
			primal, dual := objectives(t, k0, links, l, gamma)
			const tol = 1e-9 // round-off of sums of 25 terms and of determinants
			if math.Abs(primal-dual-l.Gap) > tol*(1+math.Abs(primal)) {
				t.Errorf("γ = %v, %d cycles: gap %v, objectives %v and %v", gamma, p.MaxCycles, l.Gap, primal, dual)
			}
			if dual > least*(1+tol) {
				t.Errorf("γ = %v, %d cycles: dual objective %v above the minimum %v", gamma, p.MaxCycles, dual, least)
			}
			if !math.IsInf(gamma, 1) && (l.Gap < 0 || primal-least > l.Gap+tol*(1+least)) {
				t.Errorf("γ = %v, %d cycles: objective %v, minimum %v, but gap %v", gamma, p.MaxCycles, primal, least, l.Gap)
			}
		}
	}
}

// The gap in input space is that of the objectives, with any W₀.
func TestGap(t *testing.T) {
	for _, gamma := range []float64{0.01, 1, 100} {
		x, links, upper, lower := linkedData(8, 30, 4, 40, 0)
		w0 := matrixtest.Definite(rand.New(rand.NewPCG(69, 1)), 4)
		for _, cycles := range []int{1, 3, 10, 100000} {
			p := Params{Gamma: gamma, Upper: upper, Lower: lower, W0: w0, Tol: tightTol, MaxCycles: cycles}
			l, err := Fit(context.Background(), x, links, p)
			if err != nil {
				t.Fatal(err)
			}
			w := l.Metric.M()
			primal := logDetObjective(t, w, w0, x, links, p)
			var ratio mat.Dense
			ratio.Mul(w, matrixtest.Inverse(t, w0))
			det, _ := mat.LogDet(&ratio)
			dual := -det
			for k, link := range links {
				dual += gamma * math.Log(1-float64(link.Label)*l.Duals[k]*bound(link, upper, lower)/gamma)
			}
			const tol = 1e-11 // round-off of sums of 40 terms
			if math.Abs(primal-dual-l.Gap) > tol*(1+primal) || l.Gap < 0 {
				t.Errorf("γ = %v, %d cycles: gap %v, objectives %v and %v", gamma, cycles, l.Gap, primal, dual)
			}
			if l.Status == learners.Converged && l.Gap > kktTol*(1+primal) {
				t.Errorf("γ = %v: converged with a gap of %v", gamma, l.Gap)
			}
		}
	}
}

// Objects that no link joins change nothing, whatever they are, and a matrix that begins
// with K₀ gives the learned kernel of further objects: that of Kernel, which the fit on rows
// gives too.
func TestKernelOfNewObjects(t *testing.T) {
	kernel, x, k0, links, upper, lower := kernelData(700, 50, 3, 40)
	p := KernelParams{Gamma: 3, Upper: upper, Lower: lower}
	const old = 40
	few := among(links, old)
	part := mat.NewSymDense(old, nil)
	part.CopySym(k0.SliceSym(0, old))
	l, err := FitKernel(context.Background(), part, few, p)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := FitKernel(context.Background(), k0, few, p)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Support) == 0 || !mat.Equal(l.S, whole.S) {
		t.Errorf("S of %d objects changed with objects that no link joins", len(l.Support))
	}
	rows, err := FitKernelRows(context.Background(), kernel, x, few, p)
	if err != nil {
		t.Fatal(err)
	}
	learned, err := rows.Kernel(kernel, x)
	if err != nil {
		t.Fatal(err)
	}
	k := l.All(k0)
	const tol = 1e-10 // round-off of Gram matrices made by product and by difference, through S
	for i := range 50 {
		for j := range i + 1 {
			if a := learned.Eval(x.RawRowView(i), x.RawRowView(j)); math.Abs(a-k.At(i, j)) > tol {
				t.Fatalf("objects %d and %d: K = %v, at the points %v", i, j, k.At(i, j), a)
			}
			link := metric.Link{I: i, J: j}
			if a := learned.SqDist(x.RawRowView(i), x.RawRowView(j)); math.Abs(a-sqDistOf(k, link)) > tol {
				t.Fatalf("objects %d and %d: d² = %v, at the points %v", i, j, sqDistOf(k, link), a)
			}
		}
	}
	for i, link := range few { // the answer is that of which the KKT residual speaks
		if l.Duals[i] > 0 && math.Abs(sqDistOf(k, link)/l.Slacks[i]-1) > 0.2 {
			t.Errorf("link %d: d² = %v, ξ = %v", i, sqDistOf(k, link), l.Slacks[i])
		}
	}
}

// Points far from the origin have the Gram matrix of a large constant and small
// differences: the fit keeps what digits the entries have.
func TestKernelFarFromOrigin(t *testing.T) {
	x, links, upper, lower := linkedData(710, 30, 4, 50, 0)
	for i := range 30 { // one feature is so narrow that its eigenvalue is below 30·ε·‖K₀‖
		x.Set(i, 3, 0.01*x.At(i, 3))
	}
	p := KernelParams{Gamma: 2, Upper: upper, Lower: lower, Tol: 1e-300, MaxCycles: 3}
	want, err := FitKernel(context.Background(), kernels.Gram(kernels.Linear{}, x), links, p)
	if err != nil {
		t.Fatal(err)
	}
	const far = 1e5
	for i := range 30 {
		for j := range 4 {
			x.Set(i, j, x.At(i, j)+far)
		}
	}
	got, err := FitKernel(context.Background(), kernels.Gram(kernels.Linear{}, x), links, p)
	if err != nil {
		t.Fatal(err)
	}
	const tol = 5e-6 // what entries of 4·10¹⁰ are rounded by; distances are some 10
	for k, a := range want.Duals {
		if math.Abs(got.Duals[k]-a)*want.Slacks[k] > tol {
			t.Errorf("link %d: λ = %v, want %v", k, got.Duals[k], a)
		}
	}
}

// At the points of links the kernel gives the squared distances of the fit to round-off of
// those under κ, however much smaller they have become.
func TestKernelKeepsDigits(t *testing.T) {
	const tol = 1e-13 // some 500 ε; from −C + CKC it would be some 10⁻⁸ at the least bound
	for _, share := range []float64{1, 1e-3, 1e-7} {
		for _, gamma := range gammas {
			x, links, _, _ := linkedData(730, 60, 5, 60, metric.Similar)
			kernel := gaussian(0.1)
			k0 := kernels.Gram(kernel, x)
			l, err := FitKernel(context.Background(), k0, links, KernelParams{Gamma: gamma, Upper: 0.3 * share, Lower: 1, MaxCycles: 100})
			if err != nil {
				t.Fatal(err)
			}
			learned, err := l.Kernel(kernel, x)
			if err != nil {
				t.Fatal(err)
			}
			f, err := newKernelForm(context.Background(), k0, links)
			if err != nil {
				t.Fatal(err)
			}
			if !f.remake(links, l.Duals) {
				t.Fatal("no K")
			}
			for _, link := range links {
				want, before := f.exact(link), sqDistOf(k0, link)
				if got := learned.SqDist(x.RawRowView(link.I), x.RawRowView(link.J)); math.Abs(got-want) > tol*before {
					t.Errorf("u = %v, γ = %v: d² = %v, want %v, was %v", 0.3*share, gamma, got, want, before)
				}
			}
		}
	}
}

// One link has a closed form, also where its objects are the only ones.
func TestKernelOfOneLink(t *testing.T) {
	k0 := mat.NewSymDense(2, []float64{9, 0, 0, 16}) // p₀ = 25
	for _, gamma := range gammas {
		l, err := FitKernel(context.Background(), k0, []metric.Link{{I: 1, J: 0, Label: metric.Similar}}, KernelParams{Gamma: gamma, Upper: 5, Lower: 100})
		if err != nil {
			t.Fatal(err)
		}
		share := 1 / (1 + 1/gamma)
		want := 1 / (share/5 + (1-share)/25)
		s := (want - 25) / (25 * 25) // S = svvᵀ, p = p₀ + sp₀²
		const tol = 1e-12
		if q := sqDistOf(l.All(k0), metric.Link{I: 0, J: 1}); math.Abs(q-want) > tol*want || math.Abs(l.S.At(0, 1)+s) > tol {
			t.Errorf("γ = %v: d² = %v, want %v; S = %v, want %v", gamma, q, want, mat.Formatted(l.S), s)
		}
	}
}

// Contradictory links have a solution with slack. Without, the multipliers grow without
// limit, and the fit does not call that convergence.
func TestKernelContradiction(t *testing.T) {
	k0 := mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 1, Label: metric.Dissimilar}}
	l, err := FitKernel(context.Background(), k0, links, KernelParams{Gamma: 1, Upper: 1, Lower: 1.5, Tol: tightTol, MaxCycles: 100000})
	if err != nil || l.Status != learners.Converged || l.KKT > kktTol || l.Gap > kktTol {
		t.Errorf("γ = 1: %v, KKT %v, gap %v, error %v", l.Status, l.KKT, l.Gap, err)
	}
	l, err = FitKernel(context.Background(), k0, links, KernelParams{Gamma: math.Inf(1), Upper: 1, Lower: 1.5, MaxCycles: 3000})
	if err != nil || l.Status != learners.IterationCap || l.KKT < 1 {
		t.Errorf("γ = ∞: %v after %d cycles, KKT %v, error %v", l.Status, l.Iterations, l.KKT, err)
	}
}

// Pairs so near that little of p is left in differences of entries of K, also along a feature
// of which the eigenvalue is 10⁻⁷ of the largest, are fitted as in input space, whatever
// their labels.
func TestKernelOfNearPairs(t *testing.T) {
	// tol is relative. ε·K/p is up to 10⁻⁷ where p is the round-off of K₀ alone, and W, whose
	// condition number is large, magnifies it.
	const tol = 1e-4
	rng := rand.New(rand.NewPCG(68, 3))
	x := normal(rng, 60, 3)
	var links []metric.Link
	for i := 0; i < 60; i += 2 {
		for j := range 2 {
			x.Set(i+1, j, x.At(i, j)+1e-3*rng.Float64())
			x.Set(i+j, 2, 5e-4*rng.NormFloat64())
		}
		links = append(links, metric.Link{I: i, J: i + 1, Label: metric.SameClass(rng.IntN(2) == 0)})
	}
	for range 200 {
		links = append(links, metric.Link{I: rng.IntN(30), J: 30 + rng.IntN(30), Label: metric.SameClass(rng.IntN(2) == 0)})
	}
	for _, gamma := range []float64{1, 10} {
		p := Params{Gamma: gamma, Upper: 1e-4, Lower: 10, Tol: 1e-300, MaxCycles: 20}
		want, err := Fit(context.Background(), x, links, p)
		if err != nil {
			t.Fatal(err)
		}
		l, err := FitKernelRows(context.Background(), kernels.Linear{}, x, links, withKernel(p))
		if err != nil {
			t.Fatalf("γ = %v: %v", gamma, err)
		}
		for k, a := range want.Slacks {
			if math.Abs(l.Slacks[k]-a) > tol*a {
				t.Errorf("γ = %v, link %d: ξ = %v, in input space %v", gamma, k, l.Slacks[k], a)
			}
		}
	}
}

// Duplicates are skipped up to round-off, also where all points are, and with them the
// rest is as without.
func TestKernelSkipsDuplicates(t *testing.T) {
	x := mat.NewDense(5, 2, []float64{1, 2, 1, 2, 0.30000000000000004, 0, 0.3, 0, 4, 4})
	links := []metric.Link{
		{I: 0, J: 1, Label: metric.Dissimilar}, {I: 0, J: 1, Label: metric.Similar}, {I: 2, J: 3, Label: metric.Dissimilar},
		{I: 4, J: 4, Label: metric.Dissimilar}, {I: 0, J: 4, Label: metric.Similar},
	}
	for _, kernel := range []kernels.Kernel{kernels.Linear{}, gaussian(0.01), polynomial(3, 1)} {
		for _, gamma := range gammas {
			// So small bounds that round-off of p is more than 1e-12 of them.
			p := KernelParams{Gamma: gamma, Upper: 1e-5, Lower: 1e-4, Tol: 1e-300, MaxCycles: 10}
			got, err := FitKernelRows(context.Background(), kernel, x, links, p)
			if err != nil {
				t.Fatal(err)
			}
			want, err := FitKernelRows(context.Background(), kernel, x, links[4:], p)
			if err != nil {
				t.Fatal(err)
			}
			const tol = 1e-6 // ε·K/u
			if got.Skipped != 4 || want.Skipped != 0 || math.Abs(got.Duals[4]/want.Duals[0]-1) > tol || got.Duals[0] != 0 || fmt.Sprint(got.Support) != "[0 4]" {
				t.Errorf("%T, γ = %v: %d skipped, duals %v, want %v", kernel, gamma, got.Skipped, got.Duals, want.Duals)
			}
		}
	}
	// Points 10⁴, 10⁴ and 10⁴ + 1 under the linear kernel; of 10⁸, float64 keeps 1.5·10⁻⁸.
	const far, ulp = 1e8, 0x1p-26
	rounded := mat.NewSymDense(3, []float64{far, far - ulp, far + 1e4, 0, far, far + 1e4, 0, 0, far + 2e4 + 1})
	links = append(links[:2:2], metric.Link{I: 0, J: 2, Label: metric.Similar})
	l, err := FitKernel(context.Background(), rounded, links, KernelParams{Upper: 0.5, Lower: 2})
	if err != nil || l.Skipped != 2 {
		t.Errorf("rounded: %d skipped, error %v", l.Skipped, err)
	}
	// The rule takes them for 0 too, which leaves one distance for both bounds.
	_, err = FitKernel(context.Background(), rounded, links, KernelParams{Bounds: BoundParams{Low: 50, High: 60}})
	if err == nil || !strings.Contains(err.Error(), "itml: bounds: upper 1 and lower 1, by percentiles 50 and 60 of 3 squared distances from 0 to 1, want upper < lower") {
		t.Errorf("rounded, bounds by the rule: error %v", err)
	}
	constant := mat.NewSymDense(3, []float64{2, 2, 2, 2, 2, 2, 2, 2, 2})
	l, err = FitKernel(context.Background(), constant, links[:2], KernelParams{Upper: 1, Lower: 2})
	if err != nil || l.Skipped != 2 || l.S != nil || l.Status != learners.Converged || !mat.Equal(l.All(constant), constant) {
		t.Errorf("all points coincide: %d skipped, %v, error %v", l.Skipped, l.Status, err)
	}
}

// Bounds of a Gram matrix are those of the points.
func TestBoundsOfGram(t *testing.T) {
	x, links, _, _ := linkedData(720, 40, 3, 70, 0)
	x.SetRow(links[0].I, x.RawRowView(links[0].J)) // duplicates
	k0 := kernels.Gram(kernels.Linear{}, x)
	for _, b := range []BoundParams{{}, {Low: 20, High: 50}, {Rule: BoundBins}} {
		u, l, err := b.Of(x, links, metric.Euclidean{})
		if err != nil {
			t.Fatal(err)
		}
		gu, gl, err := b.OfGram(k0, links)
		const tol = 1e-12
		if err != nil || math.Abs(gu-u) > tol*u || math.Abs(gl-l) > tol*l {
			t.Errorf("%+v: bounds %v and %v, want %v and %v, error %v", b, gu, gl, u, l, err)
		}
		fit, err := FitKernel(context.Background(), k0, links, KernelParams{Bounds: b, MaxCycles: 1})
		if err != nil || fit.Upper != gu || fit.Lower != gl {
			t.Errorf("%+v: the fit has bounds %v and %v, want %v and %v, error %v", b, fit.Upper, fit.Lower, gu, gl, err)
		}
	}
	if _, _, err := (BoundParams{}).OfGram(k0, []metric.Link{{I: 0, J: 40}}); err == nil || !strings.Contains(err.Error(), "row 40 is not allowed, want 0 to 39") {
		t.Errorf("a row outside: error %v", err)
	}
}

// A kernel times a power of 2 gives the same fit, to the bit, up to the largest and down
// to the least bounds that are allowed; those beyond are refused.
func TestKernelScale(t *testing.T) {
	_, _, k0, links, _, _ := kernelData(740, 20, 4, 25)
	for _, gamma := range gammas {
		want, err := FitKernel(context.Background(), k0, links, KernelParams{Gamma: gamma, MaxCycles: 50})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []int{-460, -30, 30, 460} {
			var k mat.SymDense
			k.ScaleSym(math.Ldexp(1, e), k0)
			got, err := FitKernel(context.Background(), &k, links, KernelParams{Gamma: gamma, MaxCycles: 50})
			if err != nil {
				t.Fatal(err)
			}
			back := got.All(&k)
			back.ScaleSym(math.Ldexp(1, -e), back)
			if !mat.Equal(back, want.All(k0)) || got.Iterations != want.Iterations || got.KKT != want.KKT || got.Gap != want.Gap || want.Projections == 0 {
				t.Errorf("γ = %v, times 2^%d: %d cycles, KKT %v, gap %v, want %d, %v, %v", gamma, e, got.Iterations, got.KKT, got.Gap, want.Iterations, want.KKT, want.Gap)
			}
		}
		for _, e := range []int{-600, 600} {
			var k mat.SymDense
			k.ScaleSym(math.Ldexp(1, e), k0)
			if _, err := FitKernel(context.Background(), &k, links, KernelParams{Gamma: gamma}); err == nil || !strings.Contains(err.Error(), "want 1e-140 to 1e+140: rescale the data") {
				t.Errorf("γ = %v, times 2^%d: error %v", gamma, e, err)
			}
		}
	}
}

func TestKernelErrors(t *testing.T) {
	k0 := mat.NewSymDense(3, []float64{2, 1, 0, 1, 2, 0, 0, 0, 1})
	x := mat.NewDense(3, 1, []float64{0, 1, 3})
	one := []metric.Link{{I: 0, J: 1, Label: -1}}
	set := func(i, j int, v float64) *mat.SymDense {
		k := mat.NewSymDense(3, nil)
		k.CopySym(k0)
		k.SetSym(i, j, v)
		return k
	}
	for _, c := range []struct {
		want  string
		k0    *mat.SymDense
		links []metric.Link
		p     KernelParams
	}{
		{"itml: links: none given", k0, nil, KernelParams{}},
		{"itml: link 0: label 0", k0, []metric.Link{{I: 0, J: 1}}, KernelParams{}},
		{"itml: link 0: row 3 is not allowed, want 0 to 2", k0, []metric.Link{{I: 3, J: 1, Label: 1}}, KernelParams{}},
		{"itml: gamma: -1", k0, one, KernelParams{Gamma: -1}},
		{"want both or neither", k0, one, KernelParams{Lower: 1}},
		{"itml: upper: 2 and lower: 2 are not allowed, want upper < lower", k0, one, KernelParams{Upper: 2, Lower: 2}},
		{"itml: upper: 1e-150 is not allowed, want 0, or a number ≥ 1e-140", k0, one, KernelParams{Upper: 1e-150, Lower: 1}},
		{"itml: bounds: upper 2 and lower 2, by percentiles 1 and 99 of 1 squared distances", k0, one, KernelParams{}},
		{"itml: tol: NaN", k0, one, KernelParams{Tol: math.NaN()}},
		{"itml: max_cycles: -1", k0, one, KernelParams{MaxCycles: -1}},
		{"itml: rule: 9", k0, one, KernelParams{Bounds: BoundParams{Rule: 9}}},
		{"itml: k0: entry (2, 1) is NaN", set(2, 1, math.NaN()), one, KernelParams{}},
		{"itml: k0: entry (2, 2) is +Inf", set(2, 2, math.Inf(1)), one, KernelParams{}},
		{"itml: k0: it is not positive semi-definite: smallest eigenvalue -1, largest 3", set(2, 2, -1), one, KernelParams{}},
		{"itml: bounds: all pairs coincide", mat.NewSymDense(3, []float64{1, 1, 0, 1, 1, 0, 0, 0, 1}), one, KernelParams{}},
		{"itml: k0: its eigenvalues overflow", mat.NewSymDense(3, []float64{1.5e308, 1e308, 1e308, 1e308, 1.5e308, 1e308, 1e308, 1e308, 1.5e308}), one, KernelParams{}},
	} {
		if l, err := FitKernel(context.Background(), c.k0, c.links, c.p); err == nil || !strings.Contains(err.Error(), c.want) || l.Duals != nil {
			t.Errorf("got error %v, want one with %q", err, c.want)
		}
	}
	if _, err := FitKernel(context.Background(), set(2, 2, -1), one, KernelParams{}); !errors.Is(err, metric.ErrNotPSD) {
		t.Errorf("error %v does not wrap ErrNotPSD", err)
	}
	for want, f := range map[string]func() (KernelResult, error){
		"itml: row 1, column 0: NaN": func() (KernelResult, error) {
			return FitKernelRows(context.Background(), kernels.Linear{}, mat.NewDense(2, 1, []float64{0, math.NaN()}), one, KernelParams{})
		},
		"itml: kernel matrix: it is not positive semi-definite": func() (KernelResult, error) {
			return FitKernelRows(context.Background(), kernels.Func(func(x, y []float64) float64 { return -x[0] * y[0] }), x, one, KernelParams{})
		},
		"itml: gamma: -1": func() (KernelResult, error) {
			return FitKernelRows(context.Background(), kernels.Linear{}, x, one, KernelParams{Gamma: -1})
		},
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	l, err := FitKernel(context.Background(), k0, []metric.Link{{I: 0, J: 2, Label: 1}}, KernelParams{Upper: 1, Lower: 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"empty": func() { FitKernel(context.Background(), &mat.SymDense{}, one, KernelParams{}) },
		"no rows": func() {
			FitKernelRows(context.Background(), kernels.Linear{}, &mat.Dense{}, one, KernelParams{})
		},
		"no kernel":        func() { FitKernelRows(context.Background(), nil, x, one, KernelParams{}) },
		"All too small":    func() { l.All(mat.NewSymDense(2, nil)) },
		"Kernel too small": func() { l.Kernel(kernels.Linear{}, mat.NewDense(2, 1, nil)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// Where nothing is learned the kernel is κ.
func TestKernelWithoutSupport(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{0, 0, 1, 0, 0, 1})
	l, err := FitKernelRows(context.Background(), gaussian(1), x, []metric.Link{{I: 0, J: 1, Label: metric.Similar}}, KernelParams{Upper: 5, Lower: 9})
	if err != nil {
		t.Fatal(err)
	}
	k, err := l.Kernel(gaussian(1), x)
	if err != nil || k.Support() != 0 || k.Dim() != 2 || k.Eval(x.RawRowView(0), x.RawRowView(1)) != math.Exp(-1) {
		t.Errorf("support %d, error %v", k.Support(), err)
	}
}

// The kernel of other points than those of the fit is refused where it is none.
func TestKernelKernelOfOtherPoints(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{0, 1})
	l, err := FitKernelRows(context.Background(), kernels.Linear{}, x, []metric.Link{{I: 0, J: 1, Label: metric.Similar}}, KernelParams{Upper: 0.1, Lower: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Kernel(kernels.Linear{}, mat.NewDense(2, 1, []float64{0, 10})); !errors.Is(err, metric.ErrNotPSD) {
		t.Errorf("error %v", err)
	}
}

func ExampleFitKernelRows() {
	// Two rings. No matrix brings the points of each together and keeps the rings
	// apart; the kernel does, also for points that it has not seen.
	ring := func(radius, angle float64) []float64 {
		return []float64{radius * math.Cos(angle), radius * math.Sin(angle)}
	}
	x := mat.NewDense(16, 2, nil)
	var links []metric.Link
	for i := range 8 {
		x.SetRow(i, ring(1, float64(i)*math.Pi/4))
		x.SetRow(8+i, ring(2, float64(i)*math.Pi/4))
		next := (i + 3) % 8
		links = append(links,
			metric.Link{I: i, J: next, Label: metric.Similar}, metric.Link{I: 8 + i, J: 8 + next, Label: metric.Similar},
			metric.Link{I: i, J: 8 + i, Label: metric.Dissimilar})
	}
	gauss, err := kernels.NewGaussian(0.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := FitKernelRows(context.Background(), gauss, x, links, KernelParams{Gamma: 100, Upper: 0.1, Lower: 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	k, err := l.Kernel(gauss, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	a, b, c := ring(1, 0.4), ring(1, 3.5), ring(2, 0.4)
	fmt.Printf("%v, %d support points, duality gap below 0.1: %v\n", l.Status, len(l.Support), l.Gap < 0.1)
	fmt.Printf("on one ring %.2f, between rings %.2f; before %.2f and %.2f\n",
		k.SqDist(a, b), k.SqDist(a, c), 2-2*gauss.Eval(a, b), 2-2*gauss.Eval(a, c))
	// Output:
	// converged, 16 support points, duality gap below 0.1: true
	// on one ring 0.10, between rings 0.58; before 1.73 and 0.79
}

// classedData returns n points, two numbers each, and m links between random ones, similar
// if of one class, and the Gram matrix of a Gaussian kernel.
func classedData(n, m int) (kernels.Kernel, *mat.Dense, *mat.SymDense, []metric.Link) {
	rng := rand.New(rand.NewPCG(70, uint64(n)))
	x := normal(rng, n, 2)
	links := make([]metric.Link, m)
	class := func(i int) bool { return x.At(i, 0)*x.At(i, 1) > 0 }
	for k := range links {
		i, j := rng.IntN(n), rng.IntN(n)
		links[k] = metric.Link{I: i, J: j, Label: metric.SameClass(class(i) == class(j))}
	}
	kernel := gaussian(1)
	return kernel, x, kernels.Gram(kernel, x), links
}

// BenchmarkKernel is a whole fit of ten cycles over 400 links, with and without a
// Gram matrix of all n objects to check.
func BenchmarkKernel(b *testing.B) {
	for _, n := range []int{200, 1000, 5000} {
		kernel, x, k0, links := classedData(n, 400)
		p := KernelParams{Tol: 1e-300, MaxCycles: 10}
		b.Run(fmt.Sprintf("alg=FitKernel/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := FitKernel(context.Background(), k0, links, p); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("alg=FitKernelRows/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := FitKernelRows(context.Background(), kernel, x, links, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
