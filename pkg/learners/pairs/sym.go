package pairs

import (
	"math"

	"metriclab/internal/product"
	"metriclab/internal/vector"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// sym is the lower triangle of a symmetric matrix, packed by rows: row i has
// i+1 entries and starts at i(i+1)/2. A row is added by append.
type sym []float64

func (s sym) row(i int) []float64 { k := i * (i + 1) / 2; return s[k : k+i+1] }

// mulTo sets dst to Sx; both have n entries.
func (s sym) mulTo(dst, x []float64) {
	for i, k := 0, 0; i < len(x); i, k = i+1, k+i+1 {
		row := s[k : k+i]
		dst[i] = vector.Dot(row, x[:i]) + s[k+i]*x[i]
		product.AddScaled(dst[:i], x[i], row)
	}
}

// quad returns xᵀSx.
func (s sym) quad(x []float64) float64 {
	const long = 96 // a length, a multiple of 4, from which four rows at a time are faster
	var q float64
	for i, k := 0, 0; i < len(x); i, k = i+1, k+i+1 {
		if i >= long && len(x)-i >= 4 {
			rows := [4][]float64{s.row(i), s.row(i + 1), s.row(i + 2), s.row(i + 3)}
			for r, dot := range product.Stairs(x, rows[0][:i], rows[1][:i+1], rows[2][:i+2], rows[3][:i+3]) {
				q += x[i+r] * (2*dot + rows[r][i+r]*x[i+r])
			}
			i += 3
			k = i * (i + 1) / 2
			continue
		}
		q += x[i] * (2*vector.Dot(s[k:k+i], x[:i]) + s[k+i]*x[i])
	}
	return q
}

// rankOne adds c·xxᵀ.
func (s sym) rankOne(c float64, x []float64) {
	for i := range x {
		product.AddScaled(s.row(i), c*x[i], x[:i+1])
	}
}

// rankTwo adds cxx·xxᵀ + cxy·(xyᵀ + yxᵀ) + cyy·yyᵀ.
func (s sym) rankTwo(cxx, cxy, cyy float64, x, y []float64) {
	for i := range x {
		row := s.row(i)
		product.AddScaled(row, cxx*x[i]+cxy*y[i], x[:i+1])
		product.AddScaled(row, cxy*x[i]+cyy*y[i], y[:i+1])
	}
}

// trace returns the sum of the n diagonal entries.
func (s sym) trace(n int) float64 {
	var t float64
	for i := range n {
		t += s[i*(i+1)/2+i]
	}
	return t
}

// cholesky sets dst to the packed lower factor of S + shift·I, and reports
// whether all pivots were positive. dst and s may not overlap.
func (s sym) cholesky(dst sym, shift float64, n int) bool {
	for i, at := 0, 0; i < n; i, at = i+1, at+i+1 {
		si, li := s[at:at+i+1], dst[at:at+i+1]
		for j, from := 0, 0; j < i; j, from = j+1, from+j+1 {
			lj := dst[from : from+j+1]
			var d float64 // dot(li[:j], lj[:j]), without a call where it is short
			if j < vector.Short {
				row := li[:j]
				for k, a := range row {
					d += a * lj[k]
				}
			} else {
				d = vector.Dot(li[:j], lj[:j])
			}
			li[j] = (si[j] - d) / lj[j]
		}
		p := si[i] + shift - vector.Dot(li[:i], li[:i])
		if !(p > 0) {
			return false
		}
		li[i] = math.Sqrt(p)
	}
	return true
}

// solve overwrites x by (LLᵀ)⁻¹x, where s is the packed lower factor L.
func (s sym) solve(x []float64) {
	s.solveLower(x)
	s.solveUpper(x)
}

// solveLower overwrites x by L⁻¹x.
func (s sym) solveLower(x []float64) {
	for i := range x {
		row := s.row(i)
		x[i] = (x[i] - vector.Dot(row[:i], x[:i])) / row[i]
	}
}

// solveUpper overwrites x by L⁻ᵀx.
func (s sym) solveUpper(x []float64) {
	for i := len(x) - 1; i >= 0; i-- {
		row := s.row(i)
		x[i] /= row[i]
		product.AddScaled(x[:i], -x[i], row[:i])
	}
}

// dense returns the lower triangle as a blas64.Symmetric, with shift added to
// the diagonal.
func (s sym) dense(shift float64, n int) blas64.Symmetric {
	a := blas64.Symmetric{N: n, Stride: n, Data: make([]float64, n*n), Uplo: blas.Lower}
	for i := range n {
		copy(a.Data[i*n:], s.row(i))
		a.Data[i*n+i] += shift
	}
	return a
}

// symmetric returns a copy as a mat.SymDense; n > 0.
func (s sym) symmetric(n int) *mat.SymDense {
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j, a := range s.row(i) {
			out.SetSym(i, j, a)
		}
	}
	return out
}
