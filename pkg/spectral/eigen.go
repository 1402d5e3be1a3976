package spectral

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"
)

// crossover is the order from which on byDivision runs. It is faster from some 60 on, but then costs a few milliseconds either
// way: matrices of such orders keep the bits of gonum, on which results of published experiments rest.
const crossover = 150

var impl lapackgonum.Implementation

// Dsterf of gonum v0.17 does not scale as its original in LAPACK does. Where the tridiagonal matrix falls apart, it scales a block
// whose largest entry is under 1.3e-122 or over 2.2e153, and panics. No block of a matrix with its largest entry from least to
// most, and with those under negligible times that set to 0, is scaled. ql does not scale.
const (
	least, most = 1e-20, 1e20
	negligible  = 1e-100
)

// EigenSym is the eigendecomposition A = V·diag(λ)·Vᵀ of a symmetric n×n matrix, up to round-off of the
// order of n·ε·‖A‖. It takes the place of mat.EigenSym, and is right, too, where that panics or is
// wrong by a factor of up to 1e122. That is where all entries, or those of a block that does not touch the others,
// are under some 1e-122. Entries less than 1e-100 times the largest may be taken for 0.
//
// Below n = 150 it otherwise agrees with mat.EigenSym, on amd64 to the bit. From there on signs of
// eigenvectors, and bases of the eigenspaces of multiple eigenvalues, may differ. It is faster by blocks (Dongarra, Hammarling
// and Sorensen 1989) and by divide and conquer (Cuppen 1981; Gu and Eisenstat 1995), with memory for 3n² + O(n) numbers,
// or n² + O(n) if only eigenvalues are wanted. Equal matrices have equal results on one machine.
type EigenSym struct {
	values  []float64
	vectors eigenvectors
}

// eigenvectors of a matrix of order n: number j is row order[j] of data.
type eigenvectors struct {
	data  []float64 // n×n, nil if they were not computed
	order []int
}

// number returns eigenvector j.
func (v eigenvectors) number(j int) []float64 {
	n := len(v.order)
	return v.data[v.order[j]*n:][:n]
}

// Factorize computes the eigenvalues of a and, if vectors is true, the eigenvectors. It returns
// false if an entry is not finite, if an eigenvalue overflows, or if the iterations fail, which no finite matrix
// is known to make happen. It panics if a is nil or 0×0.
func (e *EigenSym) Factorize(a mat.Symmetric, vectors bool) bool {
	e.values, e.vectors = nil, eigenvectors{}
	values, v, ok := eigen(a, vectors)
	if !ok {
		return false
	}
	e.values, e.vectors = values, v
	return true
}

// Values returns the eigenvalues in ascending order, in dst if it is not nil. It panics unless Factorize
// has succeeded, or if dst is neither nil nor of length n.
func (e *EigenSym) Values(dst []float64) []float64 {
	if e.values == nil {
		panic("spectral: EigenSym without a successful Factorize")
	}
	if dst == nil {
		dst = make([]float64, len(e.values))
	}
	if len(dst) != len(e.values) {
		panic(mat.ErrSliceLengthMismatch)
	}
	copy(dst, e.values)
	return dst
}

// VectorsTo sets dst to V: column j is the unit eigenvector of eigenvalue j. It panics unless Factorize has
// computed them, or if dst is neither empty nor n×n.
func (e *EigenSym) VectorsTo(dst *mat.Dense) {
	n := e.computed()
	if dst.IsEmpty() {
		dst.ReuseAs(n, n)
	}
	if r, c := dst.Dims(); r != n || c != n {
		panic(mat.ErrShape)
	}
	toColumns(dst.RawMatrix(), e.vectors.data, e.vectors.order)
}

// Vector sets dst to the unit eigenvector of eigenvalue j, column j of V. It panics unless Factorize has computed it, or if dst is not of
// length n.
func (e *EigenSym) Vector(dst []float64, j int) {
	n := e.computed()
	if len(dst) != n {
		panic(mat.ErrSliceLengthMismatch)
	}
	copy(dst, e.vectors.number(j))
}

// computed returns n, and panics unless there are eigenvectors.
func (e *EigenSym) computed() int {
	if e.vectors.data == nil {
		panic("spectral: EigenSym without eigenvectors")
	}
	return len(e.values)
}

// Factor returns F, n×r, with A = FFᵀ for a positive semi-definite A: the unit eigenvectors times the roots of their eigenvalues, in
// ascending order. Eigenvalues of at most n·2⁻⁵² times the largest are round-off and left out; one column remains at least. It panics
// unless Factorize has computed eigenvectors.
func (e *EigenSym) Factor() *mat.Dense {
	n := e.computed()
	low := 0
	for low < n-1 && e.values[low] <= float64(n)*0x1p-52*e.values[n-1] {
		low++
	}
	var v mat.Dense
	e.VectorsTo(&v)
	f := mat.DenseCopyOf(v.Slice(0, n, low, n))
	for i := range n {
		for j, w := range e.values[low:] {
			f.RawRowView(i)[j] *= math.Sqrt(max(w, 0))
		}
	}
	return f
}

// eigen returns the eigenvalues of a, ascending, and the eigenvectors if they are wanted.
func eigen(a mat.Symmetric, vectors bool) (values []float64, v eigenvectors, ok bool) {
	n := a.SymmetricDim()
	c := mat.NewSymDense(n, nil)
	c.CopySym(a)
	data := c.RawSymmetric().Data
	largest := 0.0
	for i := range n {
		for _, x := range data[i*n+i : (i+1)*n] { // of the upper triangle, which is the one used
			largest = max(largest, math.Abs(x)) // NaN if x is
		}
	}
	if !(largest <= math.MaxFloat64) {
		return nil, v, false
	}
	exponent := toRange(largest, data)
	if n >= crossover {
		values, v, ok = byDivision(n, data, vectors)
	} else {
		values, v, ok = byQL(n, data, vectors)
	}
	if !ok {
		return nil, v, false
	}
	times2(values, exponent)
	if math.IsInf(values[0], 0) || math.IsInf(values[n-1], 0) {
		return nil, v, false
	}
	return values, v, true
}

// byQL is eigen without its scaling, by the steps of mat.EigenSym. It overwrites data, the symmetric matrix with its
// upper triangle.
func byQL(n int, data []float64, vectors bool) (values []float64, v eigenvectors, ok bool) {
	values = make([]float64, n)
	e, tau := make([]float64, n-1), make([]float64, n-1)
	query := []float64{0}
	impl.Dsytrd(blas.Upper, n, data, n, values, e, tau, query, -1)
	work := make([]float64, int(query[0]))
	impl.Dsytrd(blas.Upper, n, data, n, values, e, tau, work, len(work))
	if vectors {
		impl.Dorgtr(blas.Upper, n, data, n, tau, work, len(work))
		v = eigenvectors{mat.DenseCopyOf(mat.NewDense(n, n, data).T()).RawMatrix().Data, identity(n)}
		ok = TridiagonalVectors(values, e, v.data)
	} else {
		ok = TridiagonalValues(values, e)
	}
	return values, v, ok
}

// byDivision is byQL for n ≥ 2 by blocks, most of whose work is products of matrices, and by divide and conquer where
// vectors are wanted. They take 3n² + O(n) numbers, with data.
func byDivision(n int, data []float64, vectors bool) (values []float64, v eigenvectors, ok bool) {
	values = make([]float64, n)
	e := make([]float64, n-1)
	q := reduce(n, data, values, e)
	if !vectors {
		return values, v, TridiagonalValues(values, e)
	}
	v, ok = tridiagonalByDivision(values, e)
	if ok {
		q.applyTo(v.data)
	}
	return values, v, ok
}

// tridiagonalByDivision is divide for numbers of any range.
func tridiagonalByDivision(d, e []float64) (v eigenvectors, ok bool) {
	ok = tridiagonal(d, e, func() (solved bool) {
		v, solved = divide(d, e)
		return solved
	})
	return v, ok
}

// identity returns 0 to n−1.
func identity(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// toColumns sets column j of the n×n matrix out to row order[j] of x.
func toColumns(out blas64.General, x []float64, order []int) {
	n := len(order)
	const tile = 16
	for i0 := 0; i0 < n; i0 += tile {
		for j0 := 0; j0 < n; j0 += tile {
			for j := j0; j < min(j0+tile, n); j++ {
				row := x[order[j]*n:][:n]
				for i := i0; i < min(i0+tile, n); i++ {
					out.Data[i*out.Stride+j] = row[i]
				}
			}
		}
	}
}

// TridiagonalValues replaces d, the diagonal of a symmetric tridiagonal matrix T, by the eigenvalues
// of T in ascending order. e, the entries beside the diagonal, is overwritten. It reports success; like
// EigenSym, it fails on no finite matrix that is known. It panics unless len(e) is len(d) − 1 and d is not empty.
func TridiagonalValues(d, e []float64) bool {
	return tridiagonal(d, e, func() bool { return impl.Dsterf(len(d), d, e) })
}

// TridiagonalVectors is TridiagonalValues and replaces Z, a matrix of n rows that lie in z one after the other, by VᵀZ, where the columns
// of V are orthonormal eigenvectors of T, n = len(d). Of Z = I the rows become those eigenvectors, of Z = Qᵀ those of QTQᵀ if Q
// is orthogonal, and of Z = e_j, a column, the j-th entries of all. A column takes O(n²). It panics, too, unless len(z) is a multiple of n.
func TridiagonalVectors(d, e, z []float64) bool {
	if n := len(d); n > 0 && len(z)%n != 0 {
		panic(mat.ErrShape)
	}
	return tridiagonal(d, e, func() bool { return ql(d, e, z) })
}

// tridiagonal calls solve on d and e when they are scaled.
func tridiagonal(d, e []float64, solve func() bool) bool {
	if len(d) == 0 || len(e) != len(d)-1 {
		panic(mat.ErrShape)
	}
	largest := 0.0
	for _, s := range [][]float64{d, e} {
		for _, x := range s {
			largest = max(largest, math.Abs(x)) // NaN if x is
		}
	}
	if !(largest <= math.MaxFloat64) {
		return false
	}
	exponent := toRange(largest, d, e)
	floor := negligible * math.Ldexp(largest, -exponent)
	for _, s := range [][]float64{d, e} {
		for i, x := range s {
			if math.Abs(x) < floor {
				s[i] = 0
			}
		}
	}
	trace := floats.Sum(d)
	norm := math.Hypot(floats.Norm(d, 2), math.Sqrt2*floats.Norm(e, 2))
	if !solve() || !plausible(d, trace, norm) {
		return false
	}
	times2(d, exponent)
	return true
}

// plausible reports whether values may be the eigenvalues of a matrix with this trace and
// Frobenius norm. Blocks that are wrongly scaled are far from it.
func plausible(values []float64, trace, norm float64) bool {
	const tol = 1e-8 // round-off is some n·ε
	return math.Abs(floats.Sum(values)-trace) <= tol*norm && math.Abs(floats.Norm(values, 2)-norm) <= tol*norm
}

// toRange divides the numbers by a power of two, 2^exponent, if the largest magnitude among
// them is not from least to most.
func toRange(largest float64, numbers ...[]float64) (exponent int) {
	if largest == 0 || largest >= least && largest <= most {
		return 0
	}
	_, exponent = math.Frexp(largest)
	for _, s := range numbers {
		times2(s, -exponent)
	}
	return exponent
}

// times2 multiplies the numbers by 2^exponent.
func times2(numbers []float64, exponent int) {
	if exponent == 0 {
		return
	}
	for i, x := range numbers {
		numbers[i] = math.Ldexp(x, exponent)
	}
}
