// Package spectral finds extreme eigenpairs of a symmetric operator by the
// Lanczos method with full reorthogonalisation, restarts by deflation, and a
// stop that rests on residuals. It is for operators of which few eigenpairs are
// wanted; when all are of a matrix, EigenSym finds them.
//
// # How it is built
//
// All eigendecompositions go through EigenSym, since those of gonum fail, or scale wrongly without an error, where
// a block of the matrix is tiny. From order 150 on the method is our own, seven times as fast at 784: a blocked
// reduction, Cuppen's divide and conquer and a blocked back-transformation, most of them products of package
// product. Smaller matrices keep the bits of gonum.
//
// The secular equation of divide and conquer has all n roots, each relative to its nearest pole. That of package
// secular has one root, in a Krylov space. They share no code.
package spectral

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"metriclab/internal/product"
	"metriclab/internal/vector"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
)

// Operator is a symmetric linear operator on R^n.
type Operator interface {
	// Dim returns n.
	Dim() int
	// MulVecTo sets dst to Ax. Both have length n and do not overlap. It
	// keeps neither.
	MulVecTo(dst, x []float64)
}

// Func is an Operator made of a function.
type Func struct {
	N   int
	Mul func(dst, x []float64) // sets dst to Ax
}

// Dim returns N.
func (f Func) Dim() int { return f.N }

// MulVecTo calls Mul.
func (f Func) MulVecTo(dst, x []float64) { f.Mul(dst, x) }

// Matrix returns the operator of a copy of m. It panics if m is nil.
func Matrix(m mat.Symmetric) Operator {
	d := mat.DenseCopyOf(m).RawMatrix()
	return Func{N: d.Rows, Mul: func(dst, x []float64) {
		product.Gemv(dst, d, x)
	}}
}

// Options are the knobs of a search. The zero value is usable.
type Options struct {
	// Start is the first direction of the first Krylov space, of length n; it
	// is not kept. nil, or a zero vector, means one drawn from Rand.
	Start []float64
	// StartOnly restricts the search to the Krylov space of Start. It finds
	// one eigenvector of each eigenvalue, and none that is orthogonal to Start:
	// right when theory says that the wanted ones are not. For P ⪰ 0 and
	// τ > 0 a negative eigenpair (λ, u) of P − τvvᵀ has vᵀu ≠ 0 (otherwise
	// λ = uᵀPu ≥ 0) and is unique, so that Start = v may stand alone.
	StartOnly bool
	// Rand draws the directions of restarts. nil means a fixed stream: the
	// same call gives the same bits.
	Rand *rand.Rand
	// Tol > 0 is the largest residual of an accepted eigenpair, ‖Au − θu‖ ≤
	// Tol·‖A‖ with ‖u‖ = 1, where ‖A‖ is estimated from below by the largest
	// |Ritz value|. An eigenvalue of A then lies within that residual of θ.
	// 0 means 1e-10.
	Tol float64
	// MaxProducts ≥ 1 caps the products with A. 0 means 100(n + 1).
	MaxProducts int
}

// Resolved returns o with its defaults filled in for an operator on R^n.
func (o Options) Resolved(n int) Options {
	if o.Rand == nil {
		o.Rand = rand.New(rand.NewPCG(1, 1))
	}
	o.Tol = cmp.Or(o.Tol, 1e-10)
	o.MaxProducts = cmp.Or(o.MaxProducts, 100*(n+1))
	return o
}

// Status says why a search ended.
type Status int

const (
	// Converged: all wanted pairs meet the tolerance and, unless StartOnly is
	// set, a Krylov space from a fresh random direction orthogonal to them
	// holds no further one. A random direction has a component along every
	// eigenvector with probability 1; that its extreme Ritz value has
	// converged to the extreme eigenvalue and not to an inner one is, as
	// always with Krylov methods, not proved.
	Converged Status = iota + 1
	// WholeSpace: the pairs found, wanted or not, span R^n. The answer is
	// complete.
	WholeSpace
	// StartSpace: with StartOnly, the Krylov space of Start is invariant and
	// holds fewer pairs than were wanted.
	StartSpace
	// ProductCap: MaxProducts was reached. The pairs returned meet the
	// tolerance, but more extreme ones may be missing.
	ProductCap
)

var statusNames = enum.Of[Status]("unknown status %d", "", "converged", "whole space searched", "space of the start vector exhausted", "cap on products")

// String returns the status in words.
func (s Status) String() string { return statusNames.Text(s) }

// Result holds the eigenpairs found, the most extreme one first.
type Result struct {
	Values    []float64
	Vectors   *mat.Dense // row i is the unit eigenvector of Values[i]; nil if there is none
	Residuals []float64  // ‖Au − θu‖, measured
	Status    Status
	Products  int // products with A
}

// Smallest returns the k smallest eigenvalues of a, ascending and counted with
// multiplicity, with orthonormal eigenvectors. It panics unless 1 ≤ k ≤ n, if a
// is nil, or if an option is out of range.
func Smallest(a Operator, k int, o Options) Result {
	checkCount(a, k)
	return search(a, 1, k, math.Inf(-1), o)
}

// Largest returns the k largest eigenvalues of a, descending and counted with
// multiplicity, with orthonormal eigenvectors. It panics like Smallest.
func Largest(a Operator, k int, o Options) Result {
	checkCount(a, k)
	return search(a, -1, k, math.Inf(-1), o)
}

// Below returns all eigenvalues of a less than bound, ascending and counted
// with multiplicity, with orthonormal eigenvectors: Below(a, 0, o) are the
// negative ones. Eigenvalues within the tolerance of the bound may be counted
// on either side. It panics if a is nil or returns NaN or Inf, if bound is NaN, or
// if an option is out of range.
func Below(a Operator, bound float64, o Options) Result {
	if math.IsNaN(bound) {
		panic("spectral: bound is NaN")
	}
	return search(a, 1, 0, bound, o)
}

func checkCount(a Operator, k int) {
	if n := a.Dim(); k < 1 || k > n {
		panic(fmt.Sprintf("spectral: %d eigenpairs of an operator of order %d", k, n))
	}
}

// searcher holds one search for the smallest eigenpairs of sign·A.
type searcher struct {
	a     Operator
	sign  float64
	n     int
	k     int     // pairs wanted; 0: all below bound
	bound float64 // −Inf if k > 0
	o     Options

	locked   []pair
	scale    float64 // largest |Ritz value| seen
	products int
	scratch  []float64
}

type pair struct {
	value, residual float64
	vector          []float64
}

func search(a Operator, sign float64, k int, bound float64, o Options) Result {
	n := a.Dim()
	if n < 1 {
		panic(fmt.Sprintf("spectral: operator of order %d", n))
	}
	if o.Start != nil && len(o.Start) != n {
		panic(fmt.Sprintf("spectral: start vector of length %d, operator of order %d", len(o.Start), n))
	}
	if o.Tol < 0 || math.IsNaN(o.Tol) || o.MaxProducts < 0 {
		panic(fmt.Sprintf("spectral: Tol %v, MaxProducts %d: want no negative number", o.Tol, o.MaxProducts))
	}
	s := &searcher{a: a, sign: sign, n: n, k: k, bound: bound, o: o.Resolved(n), scratch: make([]float64, n)}
	return s.result(s.run())
}

// run searches Krylov spaces, each orthogonal to the pairs locked before, until
// one of them holds no further wanted pair.
func (s *searcher) run() Status {
	for first := true; ; first = false {
		q, ok := s.direction(first)
		if !ok {
			return WholeSpace
		}
		k := krylov{s: s}
		state := k.grow(q)
		more := s.lock(&k)
		switch {
		case state == capped:
			return ProductCap
		case state == whole:
			return WholeSpace
		case first && s.o.StartOnly:
			if state == invariant && s.k > len(s.locked) {
				return StartSpace
			}
			return Converged
		case more == 0:
			return Converged
		}
	}
}

// direction returns a unit vector orthogonal to the locked pairs, if they do
// not span R^n: Start, normalised, if it is the first; else a random one.
func (s *searcher) direction(first bool) ([]float64, bool) {
	q := make([]float64, s.n)
	if first && s.o.Start != nil {
		if size := norm(s.o.Start); size > 0 {
			for i, a := range s.o.Start {
				q[i] = a / size
			}
			return q, true
		}
	}
	// The complement of the locked pairs has dimension at least 1. A draw that
	// lies in their span up to round-off is as good as impossible.
	for range 10 {
		for i := range q {
			q[i] = s.o.Rand.NormFloat64()
		}
		before := norm(q)
		s.deflate(q)
		s.deflate(q)
		if size := norm(q); size > 1e-8*before {
			scale(q, 1/size)
			s.deflate(q)
			scale(q, 1/norm(q))
			return q, true
		}
	}
	return nil, false
}

// deflate removes from q its components along locked eigenvectors.
func (s *searcher) deflate(q []float64) {
	for _, p := range s.locked {
		blas64.Axpy(-blas64.Dot(vector.Of(p.vector), vector.Of(q)), vector.Of(p.vector), vector.Of(q))
	}
}

// mul sets dst to sign·Ax.
func (s *searcher) mul(dst, x []float64) {
	s.a.MulVecTo(dst, x)
	s.products++
	if s.sign < 0 {
		scale(dst, -1)
	}
}

// missing returns how many pairs are still to be found, and the value that a
// further one has to be below to be wanted.
func (s *searcher) missing() (count int, below float64) {
	if s.k == 0 {
		return 0, s.bound
	}
	if len(s.locked) < s.k {
		return s.k - len(s.locked), math.Inf(1)
	}
	values := make([]float64, len(s.locked))
	for i, p := range s.locked {
		values[i] = p.value
	}
	slices.Sort(values)
	return 0, values[s.k-1] - s.o.Tol*s.scale
}

// lock keeps the leading converged pairs of k that are wanted, and returns
// their number.
func (s *searcher) lock(k *krylov) int {
	_, below := s.missing()
	kept := 0
	for i := range k.converged {
		if k.theta[i] >= below {
			break
		}
		if s.k > 0 && kept >= s.k {
			break
		}
		u := k.vector(i)
		s.deflate(u)
		scale(u, 1/norm(u))
		s.mul(s.scratch, u)
		theta := blas64.Dot(vector.Of(u), vector.Of(s.scratch))
		blas64.Axpy(-theta, vector.Of(u), vector.Of(s.scratch))
		s.locked = append(s.locked, pair{theta, norm(s.scratch), u})
		kept++
	}
	return kept
}

func (s *searcher) result(status Status) Result {
	slices.SortStableFunc(s.locked, func(a, b pair) int { return cmp.Compare(a.value, b.value) })
	keep := s.locked
	if s.k > 0 && len(keep) > s.k {
		keep = keep[:s.k]
	}
	r := Result{Status: status, Products: s.products}
	if len(keep) > 0 {
		r.Vectors = mat.NewDense(len(keep), s.n, nil)
	}
	for i, p := range keep {
		r.Values = append(r.Values, s.sign*p.value)
		r.Residuals = append(r.Residuals, p.residual)
		r.Vectors.SetRow(i, p.vector)
	}
	return r
}

// krylov is one Krylov space: the rows of basis are orthonormal, and A is
// tridiagonal (diag, off) on them.
type krylov struct {
	s         *searcher
	basis     []float64
	diag, off []float64
	theta     []float64    // Ritz values, ascending
	ritz      eigenvectors // Ritz vectors in the basis; below manySteps only once one is wanted
	converged int          // leading Ritz pairs that meet the tolerance
}

type growth int

const (
	settled   growth = iota // the leading wanted pairs have converged
	invariant               // the space is invariant: all its pairs have
	whole                   // so have they, and with those locked before they span R^n
	capped                  // no product is left
)

// grow extends the space from the unit vector q until it settles.
func (k *krylov) grow(q []float64) growth {
	s := k.s
	next := 1
	z := make([]float64, s.n)
	for {
		k.basis = append(k.basis, q...)
		steps := len(k.diag) + 1
		s.mul(z, q)
		size := norm(z)
		if math.IsNaN(size) || math.IsInf(size, 0) {
			panic("spectral: the operator returned NaN or Inf")
		}
		k.diag = append(k.diag, blas64.Dot(vector.Of(q), vector.Of(z)))
		v := blas64.General{Rows: steps, Cols: s.n, Stride: s.n, Data: k.basis}
		h := make([]float64, steps)
		for range 2 { // twice is enough (Parlett 1980, Section 6-9)
			s.deflate(z)
			product.Gemv(h, v, z)
			product.GemvT(z, -1, v, h)
		}
		beta := norm(z)
		// Below this the remainder is the round-off of the product.
		full := steps+len(s.locked) >= s.n || beta <= 8*eps*math.Sqrt(float64(s.n))*math.Max(size, s.scale)
		if full {
			beta = 0
		}
		if full || steps >= next || s.products >= s.o.MaxProducts {
			k.project(beta)
			if steps+len(s.locked) >= s.n {
				return whole
			}
			if full {
				return invariant
			}
			if k.settled() {
				return settled
			}
			if s.products >= s.o.MaxProducts {
				return capped
			}
			next = steps + 1 + steps/8 // keeps the cost of projecting below that of the products
		}
		k.off = append(k.off, beta)
		q = make([]float64, s.n)
		for i, a := range z {
			q[i] = a / beta
		}
	}
}

// manySteps is the dimension of a Krylov space from which divide and conquer takes less than QL iterations by so much that it matters. Below,
// the bits of published results stay.
const manySteps = 400

// project computes the Ritz values, and which pairs have converged: the residual of pair i is β times the last entry of its vector.
func (k *krylov) project(beta float64) {
	n := len(k.diag)
	last := make([]float64, n) // the last entries of all vectors
	last[n-1] = 1
	k.solve(func(d, e []float64) (ok bool) {
		if n < manySteps {
			return TridiagonalVectors(d, e, last)
		}
		k.ritz, ok = tridiagonalByDivision(d, e)
		for i := range k.ritz.order {
			last[i] = k.ritz.number(i)[n-1]
		}
		return ok
	})
	k.s.scale = max(k.s.scale, math.Abs(k.theta[0]), math.Abs(k.theta[n-1]))
	k.converged = 0
	for k.converged < n && beta*math.Abs(last[k.converged]) <= k.s.o.Tol*k.s.scale {
		k.converged++
	}
}

// solve sets theta to the Ritz values by a function that replaces d by them, the diagonal of a tridiagonal matrix with e beside it.
func (k *krylov) solve(by func(d, e []float64) bool) {
	k.theta = slices.Clone(k.diag)
	if !by(k.theta, slices.Clone(k.off)) {
		panic("spectral: the eigenvalues of a finite tridiagonal matrix did not converge")
	}
}

// settled reports whether enough leading pairs have converged: those that are
// missing, and at least one; if a bound counts, all up to the first above it.
func (k *krylov) settled() bool {
	count, below := k.s.missing()
	if k.s.k > 0 {
		return k.converged >= max(count, 1)
	}
	return k.converged > 0 && k.theta[k.converged-1] >= below
}

// vector returns Ritz vector i in R^n.
func (k *krylov) vector(i int) []float64 {
	n := len(k.diag)
	if k.ritz.data == nil {
		k.ritz = eigenvectors{make([]float64, n*n), identity(n)}
		for j := range n {
			k.ritz.number(j)[j] = 1
		}
		k.solve(func(d, e []float64) bool { return TridiagonalVectors(d, e, k.ritz.data) })
	}
	u := make([]float64, k.s.n)
	v := blas64.General{Rows: n, Cols: k.s.n, Stride: k.s.n, Data: k.basis}
	product.GemvT(u, 1, v, k.ritz.number(i))
	return u
}

const eps = 0x1p-52

func norm(x []float64) float64 { return blas64.Nrm2(vector.Of(x)) }

func scale(x []float64, a float64) { blas64.Scal(a, vector.Of(x)) }
