package spectral

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"metriclab/internal/product"
	"metriclab/internal/vector"
)

// ql replaces d, the diagonal of a symmetric tridiagonal matrix T, by its eigenvalues in ascending order, and Z, the n×r matrix with
// the rows z, by VᵀZ, where the columns of V are the eigenvectors: by implicit QL or QR iterations (Martin and Wilkinson
// 1968), whichever begins at the smaller end. e, the entries beside the diagonal, is overwritten. The numbers are in the range of
// tridiagonal.
//
// It differs from Dsteqr of gonum in that r is not n, so that the last entry of each vector takes O(n²) in all, and in that rows are
// contiguous. The bits are the same on amd64; elsewhere Go fuses products and sums, not the same ones in both.
func ql(d, e, z []float64) bool {
	const sweeps = 30 // for each eigenvalue
	n, r := len(d), len(z)/len(d)
	row := func(i int) []float64 { return z[i*r : (i+1)*r] }
	rotate := func(i, j int, c, s float64) {
		if c != 1 || s != 0 {
			product.Rotate(row(i), row(j), c, s)
		}
	}
	left := sweeps * n
	for lo := 0; lo < n; {
		hi := lo
		for ; hi < n-1; hi++ {
			if math.Abs(e[hi]) <= math.Sqrt(math.Abs(d[hi]))*math.Sqrt(math.Abs(d[hi+1]))*epsilon {
				e[hi] = 0
				break
			}
		}
		// From l to end, by steps of s.
		l, end, step := lo, hi, 1
		if math.Abs(d[hi]) < math.Abs(d[lo]) {
			l, end, step = hi, lo, -1
		}
		beside := func(i int) *float64 { return &e[min(i, i+step)] } // the entry between i and the next
		for l != end+step {
			m := l
			for ; m != end; m += step {
				x := math.Abs(*beside(m))
				if x*x <= epsilon*epsilon*math.Abs(d[m])*math.Abs(d[m+step])+0x1p-1022 {
					*beside(m) = 0
					break
				}
			}
			switch m {
			case l:
				l += step
				continue
			case l + step:
				i := min(l, m)
				var c, s float64
				d[i], d[i+1], c, s = impl.Dlaev2(d[i], e[i], d[i+1])
				rotate(i, i+1, c, s)
				e[i] = 0
				l += 2 * step
				continue
			}
			if left == 0 {
				return false
			}
			left--
			// Wilkinson's shift.
			p := d[l]
			el := *beside(l)
			g := (d[l+step] - p) / (2 * el)
			g = d[m] - p + el/(g+math.Copysign(impl.Dlapy2(g, 1), g))
			p = 0
			c, s := 1.0, 1.0
			for i := m; i != l; i -= step {
				next := i - step
				between := *beside(next)
				f, b := s*between, c*between
				var h float64
				c, s, h = impl.Dlartg(g, f)
				if i != m {
					*beside(i) = h
				}
				g = d[i] - p
				h = (d[next]-g)*s + 2*c*b
				p = s * h
				d[i] = g + p
				g = c*h - b
				rotate(i, next, c, s)
			}
			d[l] -= p
			*beside(l) = g
		}
		lo = hi + 1
	}
	for i := range d {
		least := i
		for j := i + 1; j < n; j++ {
			if d[j] < d[least] {
				least = j
			}
		}
		if least != i {
			d[i], d[least] = d[least], d[i]
			blas64.Swap(vector.Of(row(i)), vector.Of(row(least)))
		}
	}
	return true
}
