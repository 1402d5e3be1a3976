package triplets

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/internal/vector"
	"metriclab/pkg/spectral"
)

// projector projects symmetric matrices of order up to n on the positive semi-definite cone.
//
// Below the order BatchLarge it computes the eigenvectors of one sign only, of the sign that has fewer. Those of A = QTQᵀ, T
// tridiagonal, are Q times those of T. Of these inverse iteration finds any one in O(n), once all
// eigenvalues are known. All of them by QR iterations take three quarters of a full
// eigendecomposition.
//
// From that order on spectral.EigenSym computes all of them, most of it by products of matrices.
type projector struct {
	a         []float64 // a copy of the matrix, then the reflectors of Q; from the order BatchLarge on the upper triangle
	d, e, tau []float64 // T, and the scalars of the reflectors
	values    []float64
	w         []float64 // eigenvectors as rows

	off, lower, middle, upper, work []float64
	failed                          int // matrices for which inverse iteration failed
}

func newProjector(n int) *projector {
	vec := func() []float64 { return make([]float64, n) }
	return &projector{
		a: make([]float64, n*n), work: make([]float64, 64*n),
		d: vec(), e: vec(), tau: vec(), values: vec(), off: vec(), lower: vec(), middle: vec(), upper: vec(),
	}
}

// project replaces the symmetric n×n matrix in the lower triangle of x, row by row, by the nearest
// positive semi-definite one, up to round-off of the order of n·ε·‖x‖. It returns how many
// negative eigenvalues it removed, and the eigenvalues that remain, without negligible ones. They are
// nil if they were not computed, and valid until the next call. definite says that there is probably
// nothing to remove, which a Cholesky decomposition then finds out.
func (p *projector) project(x []float64, n int, definite bool) (values []float64, removed int) {
	if n == 1 {
		if x[0] < 0 {
			x[0], removed = 0, 1
		}
		return x, removed
	}
	largest := math.Abs(x[blas64.Iamax(blas64.Vector{N: n * n, Inc: 1, Data: x})])
	if largest == 0 {
		return []float64{}, 0
	}
	// The routines below do not scale as their originals do.
	if largest < 1e-100 || largest > 1e100 {
		_, exponent := math.Frexp(largest)
		for i, v := range x {
			x[i] = math.Ldexp(v, -exponent)
		}
		values, removed = p.project(x, n, definite)
		for _, s := range [][]float64{x, values} {
			for i, v := range s {
				s[i] = math.Ldexp(v, exponent)
			}
		}
		return values, removed
	}
	a := p.a[:n*n]
	if definite {
		copy(a, x)
		if impl.Dpotrf(blas.Lower, n, a, n) {
			return nil, 0
		}
	}
	var upper *mat.SymDense
	var all *spectral.EigenSym
	if n < BatchLarge {
		values = p.eigenvalues(x, n)
	} else {
		upper = p.turned(x, n)
		all = decomposed(upper, true)
		values = all.Values(p.values[:n])
	}
	size := max(math.Abs(values[0]), math.Abs(values[n-1]))
	negligible := 4 * eps * size
	negative, _ := slices.BinarySearch(values, -negligible)
	positive := n
	for positive > 0 && values[positive-1] > negligible {
		positive--
	}
	kept := values[positive:]
	if negative == 0 {
		return kept, 0
	}
	removal := negative <= len(kept)
	theta, first := kept, positive
	if removal {
		theta, first = values[:negative], 0
	}
	w := p.rows(len(theta), n)
	if all == nil {
		p.vectors(x, n, theta, w, !removal, size)
	} else {
		for i := range theta {
			all.Vector(w.Data[i*n:(i+1)*n], first+i)
		}
	}
	for i, v := range theta {
		blas64.Scal(math.Sqrt(math.Abs(v)), vector.Of(w.Data[i*n:(i+1)*n]))
	}
	beta := 0.0 // x becomes the sum of what is kept, or loses what is not
	if removal {
		beta = 1
	}
	switch {
	case len(theta) == 0:
		clear(x)
	case all != nil:
		if removal {
			product.SyrkAdd(blas.Trans, w, upper.RawSymmetric())
		} else {
			product.Syrk(blas.Trans, w, upper.RawSymmetric())
		}
		for i := range n {
			for j := range i + 1 {
				x[i*n+j] = upper.At(j, i)
			}
		}
	default:
		blas64.Syrk(blas.Trans, 1, w, beta, blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: x})
	}
	return kept, negative
}

// turned returns the matrix in the lower triangle of x, in a.
func (p *projector) turned(x []float64, n int) *mat.SymDense {
	upper := mat.NewSymDense(n, p.a[:n*n])
	for i := range n {
		for j := range i + 1 {
			upper.SetSym(j, i, x[i*n+j])
		}
	}
	return upper
}

// decomposed returns the eigenvalues of a, and the eigenvectors if they are wanted.
func decomposed(a *mat.SymDense, vectors bool) *spectral.EigenSym {
	var e spectral.EigenSym
	if !e.Factorize(a, vectors) {
		panic("triplets: the eigendecomposition of a finite matrix did not converge")
	}
	return &e
}

var impl lapackgonum.Implementation

// eigenvalues returns the eigenvalues of x in ascending order, valid until the next call. Below the order BatchLarge it leaves
// T in d and e, and Q in a and tau.
func (p *projector) eigenvalues(x []float64, n int) []float64 {
	values := p.values[:n]
	if n == 1 {
		copy(values, x)
		return values
	}
	if n >= BatchLarge {
		return decomposed(p.turned(x, n), false).Values(values)
	}
	p.reduce(x, n)
	copy(values, p.d)
	copy(p.off, p.e)
	if !spectral.TridiagonalValues(values, p.off[:n-1]) {
		panic("triplets: the eigenvalues of a finite matrix did not converge")
	}
	return values
}

// reduce sets d and e to T, and a and tau to Q, of x.
func (p *projector) reduce(x []float64, n int) {
	copy(p.a, x)
	impl.Dsytrd(blas.Lower, n, p.a[:n*n], n, p.d[:n], p.e[:n-1], p.tau[:n-1], p.work, len(p.work))
}

// rows returns space for k rows of n numbers.
func (p *projector) rows(k, n int) blas64.General {
	if len(p.w) < k*n {
		p.w = make([]float64, k*n)
	}
	return blas64.General{Rows: k, Cols: n, Stride: n, Data: p.w[:k*n]}
}

// vectors sets the rows of w to orthonormal eigenvectors of x to the eigenvalues theta, its largest or
// its smallest, after eigenvalues.
func (p *projector) vectors(x []float64, n int, theta []float64, w blas64.General, largest bool, size float64) {
	switch {
	case w.Rows == 0:
	case p.inverseIteration(p.d[:n], p.e[:n-1], theta, w, size):
		// Q = diag(1, Q').
		impl.Dormqr(blas.Right, blas.Trans, w.Rows, n-1, n-1, p.a[n:n*n], n, p.tau[:n-1], w.Data[1:], n, p.work, len(p.work))
	default:
		p.failed++
		p.all(x, n, w, largest)
	}
}

// inverseIteration sets the rows of w to orthonormal eigenvectors of the tridiagonal matrix (d, e)
// to the eigenvalues theta, which ascend. size is the spectral norm. It reports whether all
// residuals ‖Tw − θw‖ are of the order of round-off; with orthonormal rows and with all eigenvalues
// of T known, that proves that what w spans is invariant up to that order.
func (p *projector) inverseIteration(d, e, theta []float64, w blas64.General, size float64) bool {
	const most = 6
	n := len(d)
	tol := 8 * math.Sqrt(float64(n)) * eps * size
	rng := rand.New(rand.NewPCG(1, 1))
	shift := math.Inf(-1)
	for i, t := range theta {
		// Equal shifts would give equal vectors but for the orthogonalisation.
		shift = max(t, shift+10*eps*size)
		row := w.Data[i*n : (i+1)*n]
		for j := range row {
			row[j] = rng.Float64() - 0.5
		}
		done := false
		for it := 0; it < most && !done; it++ {
			move := shift
			for try := 0; ; try++ {
				for j, a := range d {
					p.middle[j] = a - move
				}
				copy(p.lower, e)
				copy(p.upper, e)
				if impl.Dgtsv(n, 1, p.lower[:n-1], p.middle[:n], p.upper[:n-1], row, 1) {
					break
				}
				if try == 3 {
					return false
				}
				move += eps * size // an exactly singular shift
			}
			for range 2 {
				norm := blas64.Nrm2(vector.Of(row))
				if !(norm > 0) || math.IsInf(norm, 0) {
					return false
				}
				blas64.Scal(1/norm, vector.Of(row))
				if i > 0 {
					before := blas64.General{Rows: i, Cols: n, Stride: n, Data: w.Data}
					h := p.lower[:i]
					product.Gemv(h, before, row)
					product.GemvT(row, -1, before, h)
				}
			}
			norm := blas64.Nrm2(vector.Of(row))
			if norm < 0.5 { // the rest is mostly round-off
				continue
			}
			blas64.Scal(1/norm, vector.Of(row))
			done = residual(d, e, t, row) <= tol
		}
		if !done {
			return false
		}
	}
	return true
}

// residual returns ‖Tv − θv‖.
func residual(d, e []float64, theta float64, v []float64) float64 {
	var sum float64
	n := len(d)
	for i := range n {
		r := (d[i] - theta) * v[i]
		if i > 0 {
			r += e[i-1] * v[i-1]
		}
		if i < n-1 {
			r += e[i] * v[i+1]
		}
		sum += r * r
	}
	return math.Sqrt(sum)
}

// all sets the rows of w to eigenvectors of x, to its largest or smallest eigenvalues, by a full
// eigendecomposition.
func (p *projector) all(x []float64, n int, w blas64.General, largest bool) {
	p.reduce(x, n)
	impl.Dorgtr(blas.Lower, n, p.a[:n*n], n, p.tau[:n-1], p.work, len(p.work))
	v := mat.DenseCopyOf(mat.NewDense(n, n, p.a[:n*n]).T())
	if !spectral.TridiagonalVectors(p.d[:n], p.e[:n-1], v.RawMatrix().Data) {
		panic("triplets: the eigendecomposition of a finite matrix did not converge")
	}
	first := 0
	if largest {
		first = n - w.Rows
	}
	copy(w.Data, v.RawMatrix().Data[first*n:][:w.Rows*n])
}
