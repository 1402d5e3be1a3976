package secular

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// randomPSD returns a positive semi-definite n×n matrix of the rank and unit trace.
func randomPSD(rng *rand.Rand, n, rank int) *mat.SymDense {
	g := mat.NewDense(n, rank, nil)
	for i := range n {
		for j := range rank {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	p := mat.NewSymDense(n, nil)
	p.SymOuterK(1, g)
	p.ScaleSym(1/mat.Trace(p), p)
	return p
}

func unit(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	floats.Scale(1/floats.Norm(x, 2), x)
	return x
}

// shifted returns P + sI.
func shifted(p *mat.SymDense, s float64) *mat.SymDense {
	n := p.SymmetricDim()
	out := mat.NewSymDense(n, nil)
	out.CopySym(p)
	for i := range n {
		out.SetSym(i, i, p.At(i, i)+s)
	}
	return out
}

// inverse returns (P + sI)⁻¹.
func inverse(t *testing.T, p *mat.SymDense, s float64) *mat.SymDense {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(shifted(p, s)) {
		t.Fatalf("P + %vI is not positive definite", s)
	}
	var r mat.SymDense
	if err := chol.InverseTo(&r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// lanczos makes steps of a from q and calls visit after each, until it returns false or the space is invariant.
func lanczos(a *mat.SymDense, q []float64, visit func(basis [][]float64, alpha, beta float64) bool) {
	n := len(q)
	basis := [][]float64{q}
	for range n {
		z := mat.NewVecDense(n, nil)
		z.MulVec(a, mat.NewVecDense(n, basis[len(basis)-1]))
		alpha, beta := Orthogonalise(z.RawVector().Data, basis)
		if beta != 0 {
			z.ScaleVec(1/beta, z)
			basis = append(basis, z.RawVector().Data)
		}
		if !visit(basis, alpha, beta) || beta == 0 {
			return
		}
	}
}

// TestOrthogonalise: the basis stays orthonormal, T is QᵀAQ, and the space ends at its dimension.
func TestOrthogonalise(t *testing.T) {
	const n = 12
	const tol = 1e-10 // round-off, enlarged where a remainder is small
	rng := rand.New(rand.NewPCG(1, 1))
	p := randomPSD(rng, n, n)
	k := 0
	lanczos(p, unit(rng, n), func(basis [][]float64, alpha, beta float64) bool {
		k++
		q := mat.NewVecDense(n, basis[k-1])
		if got := mat.Inner(q, p, q); math.Abs(got-alpha) > tol {
			t.Errorf("step %d: α = %v, qᵀPq = %v", k, alpha, got)
		}
		if beta == 0 {
			return false
		}
		last := basis[k]
		if got := mat.Inner(mat.NewVecDense(n, last), p, q); math.Abs(got-beta) > tol {
			t.Errorf("step %d: β = %v, want %v", k, beta, got)
		}
		for j, b := range basis[:k] {
			if d := math.Abs(floats.Dot(b, last)); d > tol {
				t.Errorf("step %d: vector %d has the component %v along vector %d", k, k, d, j)
			}
		}
		return true
	})
	if k != n {
		t.Errorf("the space ended after %d steps, want %d", k, n)
	}
	// What is left is round-off.
	if alpha, beta := Orthogonalise([]float64{3, 4, 1e-16}, [][]float64{{1, 0, 0}, {0, 1, 0}}); alpha != 4 || beta != 0 {
		t.Errorf("α, β = %v, %v, want 4, 0", alpha, beta)
	}
	// A basis of everything leaves round-off only, whatever its size.
	if _, beta := Orthogonalise([]float64{3, 4}, [][]float64{{1, 0}, {0.6, 0.8}}); beta != 0 {
		t.Errorf("β = %v for a basis of the whole space, want 0", beta)
	}
}

// TestEquation: the verdict, root and eigenvector are those of a full decomposition, for good and for poor shifts, with
// and without a row for ρ.
func TestEquation(t *testing.T) {
	found := map[Verdict]int{}
	var e Equation // one for all: what it keeps does not matter
	for _, n := range []int{1, 2, 7, 30} {
		for _, rank := range []int{1, n/2 + 1, n} {
			for _, rho := range []float64{0, 1e-6, 0.5} {
				for _, c := range []float64{1e-3, 0.1, 1, 30} {
					rng := rand.New(rand.NewPCG(uint64(n), uint64(rank)))
					p, w := randomPSD(rng, n, rank), unit(rng, n)
					norm := math.Sqrt(1 - rho*rho)
					for _, shift := range []float64{0.02, 0.5, 20} {
						name := fmt.Sprintf("n=%d/rank=%d/ρ=%v/c=%v/shift=%v", n, rank, rho, c, shift)
						found[checkEquation(t, name, &e, p, w, Problem{C: c, Norm: norm, Rho: rho, Shift: shift * min(c, 1)})]++
					}
				}
			}
		}
	}
	if found[Negative] < 100 || found[Semidefinite] < 20 {
		t.Errorf("verdicts %v, want many Negative and some Semidefinite", found)
	}
}

func checkEquation(t *testing.T, name string, e *Equation, p *mat.SymDense, w []float64, problem Problem) Verdict {
	n, c, rho := len(w), problem.C, problem.Rho
	problem.Floor, problem.Tol = Tolerances(c, mat.Trace(p), n, 1e-10)
	full := mat.NewVecDense(n+1, append(append([]float64(nil), w...), rho))
	for i := range n {
		full.SetVec(i, problem.Norm*w[i])
	}
	b := mat.NewSymDense(n+1, nil)
	for i := range n {
		for j := range i + 1 {
			b.SetSym(i, j, p.At(i, j))
		}
	}
	b.SymRankOne(b, -c, full)
	var eig mat.EigenSym
	if !eig.Factorize(b, false) {
		t.Fatal("no eigendecomposition")
	}
	least := eig.Values(nil)[0]

	e.Start(problem)
	verdict := Undecided
	x := mat.NewVecDense(n+1, nil)
	lanczos(inverse(t, p, problem.Shift), w, func(basis [][]float64, alpha, beta float64) bool {
		e.Extend(alpha, beta)
		if verdict = e.Decide(); verdict == Negative {
			e.Vector(x.RawVector().Data[:n], basis)
			x.SetVec(n, rho/e.Root())
		}
		return verdict == Undecided
	})
	size := c + mat.Trace(p)
	// Within a residual of the floor either answer is right.
	if unsure := math.Abs(least) <= 1e-8*size; !unsure && (verdict == Negative) != (least < 0) || verdict == Undecided || verdict == Failed {
		t.Errorf("%s: verdict %v, smallest eigenvalue %v", name, verdict, least)
	}
	if verdict != Negative {
		return verdict
	}
	s := e.Root()
	if math.Abs(s+least) > 4*problem.Tol {
		t.Errorf("%s: root %v, smallest eigenvalue %v", name, s, least)
	}
	x.ScaleVec(1/mat.Norm(x, 2), x)
	var r mat.VecDense
	r.MulVec(b, x)
	r.AddScaledVec(&r, s, x)
	// The residual in B is that in R, and the round-off of R.
	if res := mat.Norm(&r, 2); res > 2*problem.Tol {
		t.Errorf("%s: residual %v, tolerance %v", name, res, problem.Tol)
	}
	return verdict
}

// TestEquationBounds: f(s) of the quadrature and its Radau bound enclose the true value below the shift.
func TestEquationBounds(t *testing.T) {
	const n, steps = 40, 6
	const shift, s = 0.3, 0.05
	rng := rand.New(rand.NewPCG(21, 1))
	p, w := randomPSD(rng, n, n), unit(rng, n)
	v := mat.NewVecDense(n, w)
	want := mat.Inner(v, inverse(t, p, s), v)
	var e Equation
	e.Start(Problem{C: 1, Norm: 1, Shift: shift})
	k := 0
	lanczos(inverse(t, p, shift), w, func(_ [][]float64, alpha, beta float64) bool {
		k++
		e.Extend(alpha, beta)
		lower, _, ok := e.eval(s)
		upper, ok2 := e.above(s)
		if !ok || !ok2 || !(lower <= want*(1+1e-12) && want <= upper*(1+1e-12)) {
			t.Errorf("%d steps: %v ≤ %v ≤ %v does not hold (%v, %v)", k, lower, want, upper, ok, ok2)
		}
		return k < steps
	})
}

// TestEquationFails: a T that no positive definite resolvent has is told, not solved.
func TestEquationFails(t *testing.T) {
	var e Equation
	e.Start(Problem{C: 1, Norm: 1, Shift: 2, Floor: 1e-13, Tol: 1e-10})
	e.Extend(-1, 0.5) // with a node at 1/s₀ above it
	e.Extend(3, 0)    // I + δT is indefinite at δ = −2
	if v := e.Decide(); v != Failed {
		t.Errorf("verdict %v, want %v", v, Failed)
	}
}

// TestForm: Gauss from below, Gauss–Radau from above, at every step.
func TestForm(t *testing.T) {
	const (
		n   = 30
		tol = 1e-9 // relative; the smallest shift makes the form 1e3 long
	)
	rng := rand.New(rand.NewPCG(3, 4))
	p := shifted(randomPSD(rng, n, n), 1e-3)
	var eig mat.EigenSym
	if !eig.Factorize(p, false) {
		t.Fatal("no eigendecomposition")
	}
	low := eig.Values(nil)[0]
	q := unit(rng, n)
	for _, s := range []float64{1e-3, 0.1, 2} {
		v := mat.NewVecDense(n, q)
		want := mat.Inner(v, inverse(t, p, s), v)
		var f Form
		m := 0
		lanczos(p, q, func(_ [][]float64, alpha, beta float64) bool {
			m++
			f.Extend(alpha, beta)
			below, ok := f.Value(s)
			if !ok || below > want*(1+tol) {
				t.Fatalf("step %d: Gauss quadrature %v (%v) of %v", m, below, ok, want)
			}
			if above, ok := f.Above(s, low/2); !ok || above < want*(1-tol) {
				t.Fatalf("step %d: Gauss–Radau quadrature %v (%v) of %v", m, above, ok, want)
			}
			if f.Beta() != beta || f.Full() != (beta == 0) {
				t.Errorf("step %d: β = %v, full %v, want β = %v", m, f.Beta(), f.Full(), beta)
			}
			return true
		})
		below, _ := f.Value(s)
		if above, _ := f.Above(s, low/2); !f.Full() || math.Abs(below-want) > tol*want || above != below {
			t.Errorf("s = %v: quadratures of the whole space (%v) %v and %v, want %v", s, f.Full(), below, above, want)
		}
		if _, ok := f.Above(s, 2*low); !ok { // exact, and needs no bound
			t.Errorf("s = %v: the whole space has no value", s)
		}
		if _, ok := f.Value(-2 * low); ok {
			t.Errorf("T − %v is taken for positive definite", 2*low)
		}
		f.Reset()
		if f.Extend(1, 0.5); f.Beta() != 0.5 {
			t.Errorf("after Reset β = %v", f.Beta())
		}
		if _, ok := f.Above(s, 2); ok {
			t.Error("a bound is given for a spectrum from 2 on that T = 1 is not in")
		}
	}
}

func TestNewton(t *testing.T) {
	// f(s) = 1/s, whose 1/f − 1 is linear: one step is exact.
	if got := Newton(0.25, 4, -16, 0.1, 10); got != 1 {
		t.Errorf("Newton step to %v, want 1", got)
	}
	if got := Newton(0.25, 4, -16, 0.01, 0.64); math.Abs(got-0.08) > 1e-16 {
		t.Errorf("step beyond the bracket to %v, want its geometric mean 0.08", got)
	}
	if got := Newton(1, 2, math.NaN(), 1, 4); got != 2 {
		t.Errorf("step without a slope to %v, want the geometric mean 2", got)
	}
	if !Narrow(1, 1+eps) || Narrow(1, 1+4*eps) {
		t.Error("Narrow is not 2ε")
	}
}

func TestTolerances(t *testing.T) {
	floor, tol := Tolerances(2, 12, 3, 1e-11)
	if want := 2*1e-13 + 12*4*eps; floor != want {
		t.Errorf("floor %v, want %v", floor, want)
	}
	if want := 6*1e-11 + 12*4*eps; tol != want {
		t.Errorf("tolerance %v, want %v", tol, want)
	}
}
