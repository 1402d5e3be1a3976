package kernelized

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
)

// The semidefinite programs (23) to (25) of Jain et al. 2012, solved or certified in terms of K alone, K = VQVᵀ with Q ⪰ 0
// and an orthonormal basis V of the range of K₀: no factor of K₀, and none of the learners' code.

// tiny is a set of few objects of two classes that no map of its range collapses: points on a line, under 1, x, x² and x³.
func tiny(t *testing.T) (*mat.SymDense, []int) {
	t.Helper()
	k, err := kernels.NewPolynomial(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(9, 1, []float64{-1.9, -1.1, -0.6, -0.2, 0.3, 0.7, 1.2, 1.5, 2.1})
	return kernels.Gram(k, x), []int{0, 0, 1, 0, 1, 1, 0, 0, 1}
}

// rangeOf returns an orthonormal basis of the range of k, as columns.
func rangeOf(t *testing.T, k *mat.SymDense) *mat.Dense {
	t.Helper()
	var eig mat.EigenSym
	if !eig.Factorize(k, true) {
		t.Fatal("no eigenvalues")
	}
	values := eig.Values(nil)
	n := len(values)
	first := 0
	for values[first] <= 1e-10*values[n-1] {
		first++
	}
	var v mat.Dense
	eig.VectorsTo(&v)
	return mat.DenseCopyOf(v.Slice(0, n, first, n))
}

// between returns V_i − V_j.
func between(v *mat.Dense, i, j int) []float64 {
	return metric.Sub(nil, v.RawRowView(i), v.RawRowView(j))
}

// sqDist is K_ii − 2K_ij + K_jj.
func sqDist(k mat.Symmetric, i, j int) float64 { return k.At(i, i) - 2*k.At(i, j) + k.At(j, j) }

// targetsOf returns the nearest others of the class of each object under k0.
func targetsOf(k0 *mat.SymDense, y []int, k int) [][]int {
	out := make([][]int, len(y))
	for i := range y {
		for j := range y {
			if j != i && y[j] == y[i] {
				out[i] = append(out[i], j)
			}
		}
		slices.SortStableFunc(out[i], func(a, b int) int { return cmp.Compare(sqDist(k0, i, a), sqDist(k0, i, b)) })
		out[i] = out[i][:min(k, len(out[i]))]
	}
	return out
}

// program is LMNN as (23): to minimise ⟨C, Q⟩ + μΣ[1 + ⟨A_t, Q⟩]₊ over Q ⪰ 0, r×r, with Q and A_t row by row.
type program struct {
	r  int
	c  []float64
	a  *mat.Dense // a row per hinge
	mu float64
}

func lmnnProgram(k0 *mat.SymDense, v *mat.Dense, y []int, k int, mu float64) program {
	_, r := v.Dims()
	p := program{r: r, c: make([]float64, r*r), mu: mu}
	var rows []float64
	for i, targets := range targetsOf(k0, y, k) {
		for _, j := range targets {
			near := between(v, i, j)
			for a := range r {
				for b := range r {
					p.c[a*r+b] += (1 - mu) * near[a] * near[b]
				}
			}
			for l := range y {
				if y[l] == y[i] {
					continue
				}
				far := between(v, i, l)
				for a := range r {
					for b := range r {
						rows = append(rows, near[a]*near[b]-far[a]*far[b])
					}
				}
			}
		}
	}
	p.a = mat.NewDense(len(rows)/(r*r), r*r, rows)
	return p
}

// value is the objective of Q.
func (p program) value(q []float64) float64 {
	sum := mat.Dot(mat.NewVecDense(len(p.c), p.c), mat.NewVecDense(len(q), q))
	m, _ := p.a.Dims()
	for t := range m {
		sum += p.mu * max(0, 1+mat.Dot(p.a.RowView(t), mat.NewVecDense(len(q), q)))
	}
	return sum
}

// symmetric is the r×r matrix q, and least its smallest eigenvalue.
func (p program) symmetric(q []float64) *mat.SymDense {
	s := mat.NewSymDense(p.r, nil)
	for i := range p.r {
		for j := range i + 1 {
			s.SetSym(i, j, q[i*p.r+j]/2+q[j*p.r+i]/2)
		}
	}
	return s
}

func least(s *mat.SymDense) float64 {
	var eig mat.EigenSym
	eig.Factorize(s, false)
	return eig.Values(nil)[0]
}

// solve returns an upper and a lower bound on the least value: by the alternating direction method of multipliers, and by its
// multipliers, scaled down until they are dual feasible, C + Σα_tA_t ⪰ 0 with 0 ≤ α_t ≤ μ.
func (p program) solve(t *testing.T) (upper, lower float64) {
	t.Helper()
	const rho, steps = 0.5, 5000
	m, size := p.a.Dims()
	normal := mat.NewSymDense(size, nil)
	normal.SymOuterK(1, p.a.T())
	for i := range size {
		normal.SetSym(i, i, normal.At(i, i)+1)
	}
	var chol mat.Cholesky
	if !chol.Factorize(normal) {
		t.Fatal("the normal equations are singular")
	}
	q, z, w := mat.NewVecDense(size, nil), mat.NewVecDense(size, nil), mat.NewVecDense(size, nil)
	u, dual, aq := mat.NewVecDense(m, nil), mat.NewVecDense(m, nil), mat.NewVecDense(m, nil)
	for range steps {
		var right, part mat.VecDense
		part.SubVec(u, dual)
		right.MulVec(p.a.T(), &part)
		for i := range size {
			right.SetVec(i, right.AtVec(i)+z.AtVec(i)-w.AtVec(i)-p.c[i]/rho)
		}
		if err := chol.SolveVecTo(q, &right); err != nil {
			t.Fatal(err)
		}
		aq.MulVec(p.a, q)
		for i := range m {
			switch a := aq.AtVec(i) + dual.AtVec(i); {
			case a > p.mu/rho-1:
				u.SetVec(i, a-p.mu/rho)
			case a < -1:
				u.SetVec(i, a)
			default:
				u.SetVec(i, -1)
			}
			dual.SetVec(i, dual.AtVec(i)+aq.AtVec(i)-u.AtVec(i))
		}
		var moved mat.VecDense
		moved.AddVec(q, w)
		projected, _, err := metric.ProjectPSD(p.symmetric(moved.RawVector().Data))
		if err != nil {
			t.Fatal(err)
		}
		for i := range size {
			z.SetVec(i, projected.At(i/p.r, i%p.r))
			w.SetVec(i, moved.AtVec(i)-z.AtVec(i))
		}
	}
	alpha := make([]float64, m)
	for i := range alpha {
		alpha[i] = min(max(rho*dual.AtVec(i), 0), p.mu)
		lower += alpha[i]
	}
	feasible := func(scale float64) bool {
		b := slices.Clone(p.c)
		for i, v := range alpha {
			for j, a := range p.a.RawRowView(i) {
				b[j] += scale * v * a
			}
		}
		return least(p.symmetric(b)) >= 0
	}
	scale, beyond := 0.0, 1.0
	for range 60 {
		if middle := (scale + beyond) / 2; feasible(middle) {
			scale = middle
		} else {
			beyond = middle
		}
	}
	return p.value(z.RawVector().Data), scale * lower
}

// Kernel LMNN solves the semidefinite program (23) in terms of K.
func TestLMNNIsTheSDP(t *testing.T) {
	k0, y := tiny(t)
	v := rangeOf(t, k0)
	_, r := v.Dims()
	for _, k := range []int{1, 2} {
		for _, mu := range []float64{0.5, 0.2} {
			// The reference converges faster in the basis in which C = I.
			var eig mat.EigenSym
			if p := lmnnProgram(k0, v, y, k, mu); !eig.Factorize(p.symmetric(p.c), true) {
				t.Fatal("no eigenvalues")
			}
			var turn, basis mat.Dense
			eig.VectorsTo(&turn)
			values := eig.Values(nil)
			if values[0] > 1e-9*values[r-1] || values[1] < 1e-6*values[r-1] {
				t.Fatalf("eigenvalues %v of C: the constant function alone has no differences", values)
			}
			turn.Apply(func(_, j int, a float64) float64 { return a / math.Sqrt(values[j]) }, &turn)
			basis.Mul(v, turn.Slice(0, r, 1, r))
			p := lmnnProgram(k0, &basis, y, k, mu)
			upper, lower := p.solve(t)
			const gap = 1e-6 // of the reference, relative; that of the fit is as large
			if !(upper-lower <= gap*upper) || !(lower > 0) {
				t.Fatalf("the reference is between %v and %v", lower, upper)
			}
			fit, err := FitGram(t.Context(), k0, lmnn(y, labels.LMNNParams{K: k, Mu: mu, Tol: gap, MaxIterations: 20000}), Params{})
			if err != nil || fit.Status != learners.Converged {
				t.Fatalf("status %v, error %v", fit.Status, err)
			}
			turn.Apply(func(_, j int, a float64) float64 { return a * values[j] }, &turn) // the inverse, transposed
			basis.Mul(v, turn.Slice(0, r, 1, r))
			var q mat.Dense
			q.Product(basis.T(), fit.All(k0), &basis)
			if got := p.value(q.RawMatrix().Data); !(got >= lower*(1-gap)) || !(got <= upper*(1+2*gap)) {
				t.Errorf("k = %d, μ = %v: objective %v, want %v to %v", k, mu, got, lower, upper)
			}
		}
	}
}

// collapse is the objective of MCML in terms of K.
func collapse(k mat.Symmetric, y []int) float64 {
	var sum float64
	for i := range y {
		var within, all, others float64
		for j := range y {
			if j == i {
				continue
			}
			d := sqDist(k, i, j)
			all += math.Exp(-d)
			if y[j] == y[i] {
				within += d
				others++
			}
		}
		sum += within/others + math.Log(all) - math.Log(others)
	}
	return sum
}

// Kernel MCML, which is a log-sum-exp and no semidefinite program, is optimal in terms of K: at its gradient G, no Q' ⪰ 0 of
// at most twice the trace has f(Q') < f(Q) − ⟨G, Q⟩ + 2·tr(Q)·min(λ_min(G), 0), since f is convex.
func TestMCMLIsOptimal(t *testing.T) {
	k0, y := tiny(t)
	v := rangeOf(t, k0)
	_, r := v.Dims()
	fit, err := FitGram(t.Context(), k0, mcml(y, labels.MCMLParams{Tol: 1e-9}), Params{})
	if err != nil || fit.Status != learners.Converged {
		t.Fatalf("status %v, error %v", fit.Status, err)
	}
	var q mat.Dense
	q.Product(v.T(), fit.All(k0), v)
	at := func(i, j int, h float64) float64 {
		moved := mat.DenseCopyOf(&q)
		moved.Set(i, j, moved.At(i, j)+h)
		moved.Set(j, i, moved.At(i, j))
		var k mat.Dense
		k.Product(v, moved, v.T())
		return collapse(program{r: len(y)}.symmetric(k.RawMatrix().Data), y)
	}
	const h = 1e-5
	g := mat.NewSymDense(r, nil)
	var inner float64
	for i := range r {
		for j := range i + 1 {
			d := (at(i, j, h) - at(i, j, -h)) / (2 * h)
			inner += d * q.At(i, j)
			if i != j {
				d /= 2
			}
			g.SetSym(i, j, d)
		}
	}
	const tol = 1e-5 // of the differences, times the entries of Q, up to some 10²
	if bound := inner - 2*mat.Trace(&q)*min(least(g), 0); math.Abs(bound) > tol {
		t.Errorf("the objective %v may be %v above its minimum", at(0, 0, 0), bound)
	}
}

// Kernel RCA solves (24) in terms of K with a term for the trace,
//
//	min over W of tr(WΦC₀Φᵀ) + ρs·tr(W) − log det W,
//
// where C₀ centres chunklets: C₀ + ρsK₀⁺ = K⁺ on the range of K₀. For ρ = 0 it is RCA of the range of C₀. There the problem
// has no minimum outside of it: a trace term is needed.
func TestRCAIsTheSDP(t *testing.T) {
	x, _, links := blobs(21, 14, 3)
	x.SetRow(13, x.RawRowView(12)) // K₀ is singular
	k0 := kernels.Gram(gaussian(t, 0.05), x)
	v := rangeOf(t, k0)
	_, r := v.Dims()
	chunk := make([]int, 14) // links join i and i−3
	for i := range chunk {
		chunk[i] = i
		if i >= 3 && i%7 != 0 {
			chunk[i] = chunk[i-3]
		}
	}
	size, points := map[int]int{}, 0
	for _, c := range chunk {
		size[c]++
	}
	for _, n := range size {
		if n > 1 {
			points += n
		}
	}
	c0 := mat.NewSymDense(14, nil)
	for i, c := range chunk {
		for j := range i + 1 {
			if chunk[j] != c || size[c] == 1 {
				continue
			}
			d := -1 / float64(size[c])
			if i == j {
				d++
			}
			c0.SetSym(i, j, d/float64(points))
		}
	}
	product := func(a, b mat.Matrix) *mat.Dense {
		var m mat.Dense
		m.Mul(a, b)
		return &m
	}
	s := mat.Trace(product(c0, k0)) / float64(r)
	var block, inverse, plus mat.Dense // K₀⁺
	block.Product(v.T(), k0, v)
	if err := inverse.Inverse(&block); err != nil {
		t.Fatal(err)
	}
	plus.Product(v, &inverse, v.T())
	// objective is −log det W + ⟨cost, K⟩ for K = VQVᵀ: log det W is log det Q, but for a constant.
	objective := func(cost, k mat.Matrix) float64 {
		var q mat.Dense
		q.Product(v.T(), k, v)
		det, _ := mat.LogDet(&q)
		return mat.Trace(product(cost, k)) - det
	}
	for _, ridge := range []float64{0.1, 1} {
		fit, err := FitGram(t.Context(), k0, rca(links, pairs.RCAParams{Ridge: ridge}), Params{})
		if err != nil {
			t.Fatal(err)
		}
		k := fit.All(k0)
		var cost mat.Dense
		cost.Scale(ridge*s, &plus)
		cost.Add(&cost, c0)
		const tol = 1e-6 // ε times the condition number of K₀, of order 10⁹
		if !mat.EqualApprox(product(k, product(&cost, k)), k, tol*mat.Norm(k, 2)) {
			t.Errorf("ridge %v: K is not stationary", ridge)
		}
		// (25): the best W of tr(·) ≤ t is W·t/r, so that −log det W alone grows without limit; t must be paid for.
		if spent := mat.Trace(product(&cost, k)); math.Abs(spent-float64(r)) > tol*float64(r) {
			t.Errorf("ridge %v: t is %v at the optimum, want the rank %d", ridge, spent, r)
		}
		best := objective(&cost, k)
		for _, factor := range []float64{0.5, 0.9, 1.1, 2} {
			var other mat.Dense
			other.Scale(factor, k)
			if v := objective(&cost, &other); !(v > best) {
				t.Errorf("ridge %v: objective %v at %v times K, %v at K", ridge, v, factor, best)
			}
		}
	}
	// Without the ridge C₀ has no cost for some K, of differences of chunklets' means.
	q, free := v, mat.NewDense(14, 14, nil)
	var kernelOfC mat.Dense
	kernelOfC.Product(q.T(), c0, q)
	var eig mat.EigenSym
	if !eig.Factorize(program{r: r}.symmetric(kernelOfC.RawMatrix().Data), true) {
		t.Fatal("no eigenvalues")
	}
	if eig.Values(nil)[0] > 1e-10 {
		t.Fatal("C₀ is regular, so that the test shows nothing")
	}
	var vectors, direction mat.Dense
	eig.VectorsTo(&vectors)
	direction.Mul(v, vectors.ColView(0))
	free.Mul(&direction, direction.T())
	last := math.Inf(1)
	for _, weight := range []float64{1, 1e2, 1e4, 1e6} {
		var k mat.Dense
		k.Scale(weight, free)
		k.Add(&k, k0)
		now := objective(c0, &k)
		if !(now < last-1) {
			t.Errorf("weight %v: objective %v, before it was %v", weight, now, last)
		}
		last = now
	}
}

// A regularised program, min tr(W) + γf(W) under linear constraints, may solve the program without f exactly. Let p be the optimal value of that, and t a
// Lagrange multiplier of tr(W) ≤ p in the problem that chooses the least f among its optima. All γ ≤ 1/t will do, and no γ > 0 if there is no t (Kulis, Sra, Dhillon, Convex Perturbations for Scalable Semidefinite
// Programming, AISTATS 2009, after Mangasarian and Meyer 1979; Friedlander and Tseng, SIAM J. Optim. 18, 2007). The programs here are in the
// plane: objects at 0, e₁ and another point, of which the fit sees the Gram matrix, which is singular.
func TestRegularisedSDP(t *testing.T) {
	gram := func(a, b float64) *mat.SymDense { // of 0, e₁ and (a, b)
		return mat.NewSymDense(3, []float64{0, 0, 0, 0, 1, a, 0, a, a*a + b*b})
	}
	// trace is tr W: K of the objects is that of the points e₁ and (a, b).
	solve := func(phi ltkernel.Divergence, a, b float64, cs []ltkernel.Constraint) (trace float64, w *mat.SymDense) {
		t.Helper()
		k0 := gram(a, b)
		fit, err := ltkernel.FitKernel(t.Context(), k0, cs, ltkernel.Params{Divergence: phi, Tol: 1e-12})
		if err != nil || fit.Status != learners.Converged {
			t.Fatalf("status %v, error %v", fit.Status, err)
		}
		k := fit.All(k0)
		x := mat.NewDense(2, 2, []float64{1, 0, a, b})
		var inverse, full mat.Dense
		if err := inverse.Inverse(x); err != nil {
			t.Fatal(err)
		}
		full.Product(&inverse, k.SliceSym(1, 3), inverse.T())
		w = program{r: 2}.symmetric(full.RawMatrix().Data)
		return mat.Trace(w), w
	}
	const tol = 1e-8
	same := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > tol*(1+math.Abs(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	frobenius := func(tau float64) ltkernel.Divergence { // τ·tr + ½‖·‖²: γ = 1/τ
		phi, err := ltkernel.Trace(tau)
		if err != nil {
			t.Fatal(err)
		}
		return phi
	}
	// A linear program: W₁₁ + W₂₂/2 ≥ 1. The optimum is e₁e₁ᵀ; t = 1.
	for _, tau := range []float64{0.25, 0.5, 0.99, 1, 2, 100} {
		cs := []ltkernel.Constraint{{Dists: []ltkernel.Dist{{I: 0, J: 1, Weight: 1}, {I: 0, J: 2, Weight: 0.5}}, Sense: ltkernel.SenseAtLeast, Bound: 1}}
		_, w := solve(frobenius(tau), 0, 1, cs)
		lambda := (1 + 1.5*tau) / 1.25 // of the constraint where W₂₂ > 0
		want1, want2 := lambda-tau, lambda/2-tau
		if tau >= 1 {
			want1, want2 = 1, 0
		}
		same("linear program, W₁₁", w.At(0, 0), want1)
		same("linear program, W₂₂", w.At(1, 1), want2)
	}
	// Constraints that do not commute: W₁₁ ≥ 1 and W₁₁ + 2W₁₂ + W₂₂ ≥ 3. The optimum is uuᵀ, u = (1, √3 − 1), with I − Σz_iA_i = svvᵀ,
	// v ⊥ u, s = 1/√3. For the least ‖W‖²/2 it wants (‖u‖² + t)s ≥ 1.
	cs := []ltkernel.Constraint{ltkernel.AtLeast(0, 1, 1), ltkernel.AtLeast(0, 2, 3)}
	u := []float64{1, math.Sqrt(3) - 1}
	optimum := u[0]*u[0] + u[1]*u[1]
	threshold := math.Sqrt(3) - optimum
	for _, tau := range []float64{0, 0.5 * threshold, 0.9 * threshold, 1.01 * threshold, 1, 100} {
		trace, w := solve(frobenius(tau), 1, 1, cs)
		if tau < threshold {
			if !(trace > optimum+1e-4) {
				t.Errorf("τ = %v, below the threshold %v: trace %v, the least is %v", tau, threshold, trace, optimum)
			}
			continue
		}
		for i := range 2 {
			for j := range 2 {
				same("uuᵀ", w.At(i, j), u[i]*u[j])
			}
		}
	}
	// −log det: W = γW' turns the bounds b into b/γ.
	logdet := func(gamma, a, b float64, bounds [2]float64) float64 {
		trace, _ := solve(ltkernel.LogDet(), a, b, []ltkernel.Constraint{ltkernel.AtLeast(0, 1, bounds[0]/gamma), ltkernel.AtLeast(0, 2, bounds[1]/gamma)})
		return gamma * trace
	}
	// W₁₁ ≥ 4 and W₂₂ ≥ 1: among the optima diag(4, 1) has the largest determinant, and t = 1.
	for _, gamma := range []float64{0.01, 0.5, 1, 2, 5} {
		same("log det", logdet(gamma, 0, 1, [2]float64{4, 1}), max(4, gamma)+max(1, gamma))
	}
	// The optimum uuᵀ is singular: no optimum has a finite log det, so that there is no t. The error is at most γ·rank, and never 0.
	for _, gamma := range []float64{1, 0.1, 0.01, 1e-3} {
		if off := logdet(gamma, 1, 1, [2]float64{1, 3}) - optimum; !(off > 0.1*gamma) || !(off <= 2*gamma*(1+tol)) {
			t.Errorf("γ = %v: the trace is %v above its least value", gamma, off)
		}
	}
}
