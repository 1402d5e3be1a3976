// Package secular finds the one eigenvalue that a rank-one term subtracted from a positive semi-definite matrix
// makes negative. B = P − c·wwᵀ with P ⪰ 0 and c > 0 has at most one (interlacing), −s, and it is the root s > 0 of the
// secular equation
//
//	f(s) = c·wᵀ(P + sI)⁻¹w = 1,  with eigenvector  (P + sI)⁻¹w,
//
// f being convex and decreasing, so that there is a root iff f(0+) > 1. In a Krylov space of w, f is the form of a small
// tridiagonal matrix T. That is a Gauss quadrature, which bounds f from below. With a node beside the spectrum it is a
// Gauss–Radau quadrature, which bounds f from above (Golub, Meurant 1994). Both together decide whether there is a
// root long before T has the order of P.
//
// Form has the Krylov space of P itself, for a P with cheap products; Equation has that of a resolvent (P + s₀I)⁻¹, which
// needs few steps where s₀ is near the root. The caller makes the products and keeps the Lanczos vectors; what is
// here works on numbers and on T alone.
//
// # How it is built
//
// Newton steps find the root. Gauss and Gauss–Radau quadratures bound f from both sides, and so decide early
// whether there is one. POLA, the passive-aggressive rules and ERKLE bring their own products; tolerances, root
// and verdict are shared.
package secular

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"metriclab/internal/product"
)

const (
	eps = 0x1p-52
	// negligible: eigenvalues in [−negligible·c, 0) are left alone.
	negligible = 1e-13
	// roundOff·tr(P) is the round-off of P itself.
	roundOff = 4 * eps
	// invariant: what is left of a product, relative to its length, that is round-off.
	invariant = 8 * eps
)

// MaxNewton is a cap on Newton steps far above those taken (3 to 8); bisection alone halves the logarithm of the
// bracket, 10⁻¹⁶..1, to round-off in 60.
const MaxNewton = 100

// Verdict is what is known about the root of f = 1.
type Verdict int

const (
	// Undecided: more Lanczos steps are needed.
	Undecided Verdict = iota
	// Semidefinite: there is no root, or none above the floor; B has no eigenvalue below −floor.
	Semidefinite
	// Negative: there is a root, and its eigenpair is known.
	Negative
	// Failed: round-off was too much, or the whole space was not enough.
	Failed
)

// Tolerances returns the size of a negative eigenvalue of P − c·wwᵀ, ‖w‖ = 1, that is left alone, and the residual of an
// eigenpair that is accepted. The latter is residual relative to c and the mean eigenvalue of P, which has the trace
// given and the order n ≥ 1.
// A residual ε shifts the eigenvector p by ε/s and s·ppᵀ by 2ε at most.
func Tolerances(c, trace float64, n int, residual float64) (floor, tol float64) {
	return negligible*c + roundOff*trace, residual*(c+trace/float64(n)) + roundOff*trace
}

// Newton returns the trial shift after s, in the bracket lo < hi of the root, from f(s) and f′(s). It is a Newton step
// on 1/f − 1, or the geometric mean of the bracket if the step leaves it. As 1/f − 1 is concave and increasing in s,
// steps from below are monotone.
func Newton(s, fs, slope, lo, hi float64) float64 {
	next := s + fs*(1-fs)/slope
	if next > lo && next < hi {
		return next
	}
	return math.Sqrt(lo) * math.Sqrt(hi)
}

// Narrow reports whether the bracket lo < hi of the root is as narrow as round-off allows.
func Narrow(lo, hi float64) bool { return hi-lo <= 2*eps*hi }

// Invariant reports whether a remainder of length beta of a product of length size is round-off, so that the
// Krylov space is invariant.
func Invariant(beta, size float64) bool { return beta <= invariant*size }

// Orthogonalise makes one Lanczos step from the product z with the last vector of an orthonormal basis, which is not empty:
// it subtracts the components of z along the basis, the last vector first. It returns α, the component along that
// one, and β, the length of what is left; β is 0 if the space is invariant: if the basis spans everything, or what is left
// is round-off. It panics unless all vectors have the length of z.
func Orthogonalise(z []float64, basis [][]float64) (alpha, beta float64) {
	size := math.Sqrt(floats.Dot(z, z))
	last := len(basis) - 1
	for j := last; j >= 0; j-- {
		d := floats.Dot(basis[j], z)
		product.AddScaled(z, -d, basis[j])
		if j == last {
			alpha = d
		}
	}
	beta = math.Sqrt(floats.Dot(z, z))
	if len(basis) == len(z) || Invariant(beta, size) {
		beta = 0
	}
	return alpha, beta
}

// tridiagonal is the matrix T of k Lanczos steps, AQ = QT + βqeᵀ.
type tridiagonal struct {
	a, b []float64 // diagonal; b[i] couples i and i+1, the last one is β
}

func (t *tridiagonal) clear() { t.a, t.b = t.a[:0], t.b[:0] }

func (t *tridiagonal) append(a, b float64) { t.a, t.b = append(t.a, a), append(t.b, b) }

// full reports whether the Krylov space is invariant.
func (t *tridiagonal) full() bool { return t.b[len(t.b)-1] == 0 }

// withNode appends the row that gives T the eigenvalue node, where all those of T lie on one side. They lie above it
// with side = 1, below it with side = −1. Where round-off makes them do otherwise, ok is false and nothing has
// changed. cut takes the row away.
func (t *tridiagonal) withNode(node, side float64) (ok bool) {
	n := len(t.a)
	d := t.a[0] - node
	for i := 1; i < n; i++ {
		if !(side*d > 0) {
			return false
		}
		d = t.a[i] - node - t.b[i-1]*t.b[i-1]/d
	}
	if !(side*d > 0) {
		return false
	}
	t.append(node+t.b[n-1]*t.b[n-1]/d, 0)
	return true
}

func (t *tridiagonal) cut() {
	n := len(t.a) - 1
	t.a, t.b = t.a[:n], t.b[:n]
}

// room returns a slice of length n that reuses the memory of x if it can.
func room(x []float64, n int) []float64 { return slices.Grow(x[:0], n)[:n] }
