package spectral

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/internal/vector"
)

const (
	leafSize   = 32  // a matrix of at most this order is left to QL iterations
	panelRows  = 256 // new eigenvectors that are computed together
	epsilon    = 0x1p-53
	deflatable = 8 * epsilon // entries of this size, relative to the largest, are round-off
)

// divider computes the eigenvectors of symmetric tridiagonal matrices T by divide and conquer. T with its middle entry
// e torn out is two matrices of half the order and a term of rank one,
//
//	T = diag(T₁, T₂) + |e|·bbᵀ,
//
// and given Tᵢ = QᵢDᵢQᵢᵀ, those of D + |e|·zzᵀ, z = diag(Q₁, Q₂)ᵀb, are known from its secular equation: Cuppen (1981), made
// stable by Gu and Eisenstat (1995). Equal entries of D, and zeros of z, deflate: their vectors stay. The rest
// are two products of matrices.
type divider struct {
	n     int
	d, e  []float64 // diagonals of T; in the end d has the eigenvalues
	order []int     // order[lo+i] is the row of the i-th smallest eigenvalue of a block, relative to lo
	// Scratch of mergers, of n numbers each and n panels. That of rows lo to hi begins at lo, so that two halves share nothing.
	z, poles, weights, next []float64
	types                   []kind
	index, kept, gone       []int
	roots                   []root
	column                  []int
	panel                   []float64
}

// kind says where a row is not zero.
type kind uint8

const (
	upper kind = iota // in the columns of the first half only
	mixed
	lower // in those of the second half only
	kinds
)

// divide replaces d, the diagonal of a symmetric tridiagonal matrix, by its eigenvalues in ascending order, and returns
// their eigenvectors. e is overwritten. The numbers are in the range of tridiagonal.
func divide(d, e []float64) (_ eigenvectors, ok bool) {
	n := len(d)
	v := &divider{
		n: n, d: d, e: e, order: make([]int, n),
		z: make([]float64, n), poles: make([]float64, n), weights: make([]float64, n), next: make([]float64, n),
		types: make([]kind, n), index: make([]int, n), kept: make([]int, n), gone: make([]int, n),
		roots: make([]root, n), column: make([]int, n), panel: make([]float64, panelRows*n),
	}
	var room [2][]float64
	cores.Do(len(room), func(i int) { room[i] = make([]float64, n*n) }) // to clear memory takes time, too
	here, there := room[0], room[1]
	// Where an entry beside the diagonal is round-off of its neighbours, T falls apart. Each block has its own scale.
	for lo := 0; lo < n; {
		hi := lo + 1
		for ; hi < n; hi++ {
			if x := math.Abs(e[hi-1]); x <= epsilon*math.Sqrt(math.Abs(d[hi-1]))*math.Sqrt(math.Abs(d[hi])) {
				break
			}
		}
		if !v.block(here, there, lo, hi) {
			return eigenvectors{}, false
		}
		lo = hi
	}
	// The eigenvalues of all blocks together.
	all := identity(n)
	slices.SortStableFunc(all, ascending(d))
	copy(v.next, d)
	for i, from := range all {
		d[i] = v.next[from]
	}
	return eigenvectors{here, all}, true
}

// block solves the block of rows lo to hi, with the vectors in here.
func (v *divider) block(here, there []float64, lo, hi int) bool {
	largest := 0.0
	for i := lo; i < hi; i++ {
		largest = max(largest, math.Abs(v.d[i]))
		if i+1 < hi {
			largest = max(largest, math.Abs(v.e[i]))
		}
	}
	if largest == 0 || hi-lo == 1 {
		for i := lo; i < hi; i++ {
			here[i*v.n+i] = 1
		}
		return true
	}
	// To about 1, exactly.
	_, exponent := math.Frexp(largest)
	times2(v.d[lo:hi], -exponent)
	times2(v.e[lo:hi-1], -exponent)
	depth := 0
	for (hi-lo)>>depth > leafSize {
		depth++
	}
	if !v.solve(here, there, lo, hi, depth) {
		return false
	}
	times2(v.d[lo:hi], exponent)
	return true
}

// solve puts the eigenvalues of rows lo to hi into d, the eigenvectors into rows of here, and their order into order. The vectors of both
// halves are in there. All leaves are depth levels below. Off the blocks on the diagonal both matrices are 0.
func (v *divider) solve(here, there []float64, lo, hi, depth int) bool {
	if depth == 0 {
		return v.leaf(here, lo, hi)
	}
	mid := lo + (hi-lo)/2
	beta := v.e[mid-1]
	v.d[mid-1] -= math.Abs(beta)
	v.d[mid] -= math.Abs(beta)
	var ok [2]bool
	half := func(i int) {
		ok[i] = v.solve(there, here, []int{lo, mid}[i], []int{mid, hi}[i], depth-1)
	}
	const apart = 128 // an order that is worth two cores
	if hi-lo >= apart {
		cores.Do(2, half)
	} else {
		half(0)
		half(1)
	}
	if ok != [2]bool{true, true} {
		return false
	}
	v.merge(here, there, lo, mid, hi, beta)
	return true
}

// leaf solves by QL iterations.
func (v *divider) leaf(here []float64, lo, hi int) bool {
	m := hi - lo
	q := v.panel[lo*panelRows:][:m*m]
	clear(q)
	for i := range m {
		q[i*m+i] = 1
	}
	if !TridiagonalVectors(v.d[lo:hi], v.e[lo:hi-1], q) {
		return false
	}
	for i := range m {
		copy(here[(lo+i)*v.n+lo:], q[i*m:(i+1)*m])
		v.order[lo+i] = i
	}
	return true
}

// merge makes the eigenpairs of rows lo to hi of those of two halves, which meet at mid, and of beta, the entry between.
func (v *divider) merge(here, there []float64, lo, mid, hi int, beta float64) {
	n, m, half := v.n, hi-lo, mid-lo
	d := v.d[lo:hi]
	from := func(i int) []float64 { return there[(lo+i)*n+lo:][:m] } // a row of the halves
	// b has ±1 where the halves meet; z = diag(Q₁, Q₂)ᵀb/√2 has length 1.
	z, types := v.z[lo:hi], v.types[lo:hi]
	largest := 0.0
	for i := range m {
		if i < half {
			z[i], types[i] = from(i)[half-1]/math.Sqrt2, upper
		} else {
			z[i], types[i] = math.Copysign(1, beta)*from(i)[half]/math.Sqrt2, lower
		}
		largest = max(largest, math.Abs(z[i]), math.Abs(d[i]))
	}
	rho := 2 * math.Abs(beta)
	index := v.index[lo:hi]
	for i := half; i < m; i++ {
		v.order[lo+i] += half
	}
	mergeSorted(index, v.order[lo:mid], v.order[mid:hi], d)

	kept, gone := deflate(v.kept[lo:lo:hi], v.gone[lo:lo:hi], index, d, z, types, rho, deflatable*largest, from)
	k := len(kept)
	poles, weights, column := v.poles[lo:][:k], v.weights[lo:][:k], v.column[lo:][:k]
	equation := secularEquation{poles, weights, rho}
	// Rows in the order of their kinds, those that stay at the end.
	var first [kinds + 1]int
	for _, i := range kept {
		first[types[i]+1]++
	}
	for t := range kinds {
		first[t+1] += first[t]
	}
	place := index // of row i
	at := first
	for j, i := range kept {
		poles[j], weights[j] = d[i], z[i]
		column[j] = at[types[i]]
		place[i] = at[types[i]]
		at[types[i]]++
	}
	slices.SortStableFunc(gone, ascending(d))
	next := v.next[lo:hi]
	for j, i := range gone {
		place[i] = k + j
		next[k+j] = d[i]
	}
	permute(place, from)

	roots := v.roots[lo:][:k]
	shared(k, k, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			roots[i] = equation.root(i)
			next[i] = poles[roots[i].origin] + roots[i].offset
		}
	})
	equation.reweigh(roots, z[:k])
	v.products(here, there, lo, half, m, first, equation, roots, column)
	copy(d, next)
	mergeSorted(v.order[lo:hi], place[:k], place[k:], d) // place is the identity since permute
}

// deflate finds rows that are eigenvectors of the whole up to round-off, tol. It appends them to gone, and the
// others to kept, both in ascending order of d.
func deflate(kept, gone, index []int, d, z []float64, types []kind, rho, tol float64, row func(int) []float64) ([]int, []int) {
	last := -1 // the last row that is not gone
	for _, i := range index {
		if rho*math.Abs(z[i]) <= tol {
			gone = append(gone, i)
			continue
		}
		if last >= 0 {
			// A rotation makes z[last] zero. It leaves an entry beside the diagonal, which may be round-off.
			r := math.Hypot(z[i], z[last])
			c, s := z[i]/r, -z[last]/r
			if math.Abs((d[i]-d[last])*c*s) <= tol {
				z[i], z[last] = r, 0
				if types[i] != types[last] {
					types[i] = mixed
				}
				blas64.Rot(vector.Of(row(last)), vector.Of(row(i)), c, s)
				d[last], d[i] = d[last]*c*c+d[i]*s*s, d[last]*s*s+d[i]*c*c
				gone = append(gone, last)
			} else {
				kept = append(kept, last)
			}
		}
		last = i
	}
	if last >= 0 {
		kept = append(kept, last)
	}
	return kept, gone
}

// permute moves row i to place[i], and leaves the identity in place.
func permute(place []int, row func(int) []float64) {
	for i := range place {
		for j := place[i]; j != i; j = place[i] {
			blas64.Swap(vector.Of(row(i)), vector.Of(row(j)))
			place[i], place[j] = place[j], j
		}
	}
}

// products sets here to the vectors of the roots, which come first, and to those that are gone. first has
// the first row of each kind in there.
func (v *divider) products(here, there []float64, lo, half, m int, first [kinds + 1]int, equation secularEquation, roots []root, column []int) {
	k, n, panel := len(roots), v.n, v.panel[lo*panelRows:]
	part := func(x []float64, row, col, rows, cols int) blas64.General {
		if rows == 0 {
			return blas64.General{Cols: cols, Stride: n}
		}
		return blas64.General{Rows: rows, Cols: cols, Stride: n, Data: x[(lo+row)*n+lo+col:]}
	}
	for r := 0; r < k; r += panelRows {
		rows := min(panelRows, k-r)
		shared(rows, k, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				equation.vector(roots[r+i], panel[i*k:(i+1)*k], column)
			}
		})
		left := func(from, to int) blas64.General {
			if from == to {
				return blas64.General{Rows: rows, Stride: k}
			}
			return blas64.General{Rows: rows, Cols: to - from, Stride: k, Data: panel[from:]}
		}
		a, b := first[mixed+1], first[mixed] // rows before a have the first half, those from b on the second
		product.Gemm(blas.NoTrans, blas.NoTrans, left(0, a), part(there, 0, 0, a, half), part(here, r, 0, rows, half))
		product.Gemm(blas.NoTrans, blas.NoTrans, left(b, k), part(there, b, half, k-b, m-half), part(here, r, half, rows, m-half))
	}
	for i := k; i < m; i++ {
		at := (lo+i)*n + lo
		copy(here[at:at+m], there[at:at+m])
	}
}

// shared does n things that divide as many as m times each, on the cores that are idle.
func shared(n, m int, do func(lo, hi int)) {
	const division = 16 // takes as long as to copy so many numbers
	matrix.Rows(n, division*m, do)
}

// mergeSorted merges two lists of rows, each ascending by d, into dst.
func mergeSorted(dst, a, b []int, d []float64) {
	for i := range dst {
		if len(b) == 0 || len(a) > 0 && d[a[0]] <= d[b[0]] {
			dst[i], a = a[0], a[1:]
		} else {
			dst[i], b = b[0], b[1:]
		}
	}
}

// ascending compares rows by d.
func ascending(d []float64) func(i, j int) int {
	return func(i, j int) int { return cmp.Compare(d[i], d[j]) }
}
