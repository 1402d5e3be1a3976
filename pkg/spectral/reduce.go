package spectral

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"metriclab/internal/cores"
	"metriclab/internal/product"
)

// The widths of blocks: of reflections made before the rest of the matrix is updated, of reflections
// applied together, of the rows of one update, and of the rows to which they are applied. Between half and double of each, the
// time of orders 200 and 784 is the same within 7 %.
const (
	reduceBlock = 32
	applyBlock  = 64
	updateRows  = 144
	applyRows   = 204
)

// reflections are those of a reduction A = QTQᵀ to tridiagonal form, Q = H₀H₁⋯H₍ₙ₋₃₎: H = I − τvvᵀ, and
// v of Hₖ is 0 up to k, 1 at k+1, and in row k of the matrix from there on.
type reflections struct {
	n    int
	rows []float64 // v in the upper triangle
	tau  []float64
}

// reduce sets d and e to the diagonals of T = QᵀAQ, where A is the symmetric n×n matrix whose upper triangle is in
// a, n ≥ 2, and keeps Q in a. It is the blocked reduction of Dongarra, Hammarling and Sorensen (1989), on rows:
// with v of Hₖ, the rest of the matrix becomes A + vuᵀ + uvᵀ, u = −w, for the w of
//
//	p = τAv,  w = p − ½τ(pᵀv)v.
//
// Half of its 4n³/3 operations are the products Av. The other half, updates by all vuᵀ + uvᵀ of a block, are products
// of matrices.
func reduce(n int, a, d, e []float64) reflections {
	tau := make([]float64, n-1)
	// Rows 2p and 2p+1 are v and u of the p-th reflection of a block, or u and v in swapped. With that, the
	// sum of all vuᵀ + uvᵀ is pairsᵀ·swapped.
	pairs, swapped := make([]float64, 2*reduceBlock*n), make([]float64, 2*reduceBlock*n)
	coef, turned := make([]float64, 2*reduceBlock), make([]float64, 2*reduceBlock)
	// turn sets turned to coef with v and u swapped.
	turn := func(p int) {
		for i := 0; i < 2*p; i += 2 {
			turned[i], turned[i+1] = coef[i+1], coef[i]
		}
	}
	for k0 := 0; k0 < n-1; k0 += reduceBlock {
		k1 := min(k0+reduceBlock, n-1)
		for k := k0; k < k1; k++ {
			p := k - k0
			row := a[k*n : (k+1)*n]
			block := func(from int) blas64.General { // pairs so far, their columns from from on
				return blas64.General{Rows: 2 * p, Cols: n - from, Stride: n, Data: pairs[from:]}
			}
			if p > 0 {
				// The row has not seen the block so far.
				for i := range 2 * p {
					coef[i] = pairs[i*n+k]
				}
				turn(p)
				product.GemvT(row[k:], 1, block(k), turned[:2*p])
			}
			d[k] = row[k]
			v, u := pairs[2*p*n:][:n], pairs[(2*p+1)*n:][:n]
			e[k], tau[k] = impl.Dlarfg(n-k-1, row[k+1], row[k+2:], 1)
			row[k+1] = 1
			v, u = v[k+1:], u[k+1:]
			copy(v, row[k+1:])
			if tau[k] == 0 {
				clear(u)
				continue
			}
			product.Symv(blas64.Symmetric{Uplo: blas.Upper, N: n - k - 1, Stride: n, Data: a[(k+1)*n+k+1:]}, v, u)
			if p > 0 {
				product.Gemv(coef[:2*p], block(k+1), v)
				turn(p)
				product.GemvT(u, 1, block(k+1), turned[:2*p])
			}
			floats.Scale(-tau[k], u)
			floats.AddScaled(u, -tau[k]/2*floats.Dot(u, v), v)
		}
		depth := 2 * (k1 - k0)
		for i := 0; i < depth; i += 2 {
			copy(swapped[i*n+k1:(i+1)*n], pairs[(i+1)*n+k1:])
			copy(swapped[(i+1)*n+k1:(i+2)*n], pairs[i*n+k1:])
		}
		cores.Do((n-k1+updateRows-1)/updateRows, func(b int) { // the upper triangle, and what is below it in rows of one update
			i := k1 + b*updateRows
			left := blas64.General{Rows: depth, Cols: min(updateRows, n-i), Stride: n, Data: pairs[i:]}
			right := blas64.General{Rows: depth, Cols: n - i, Stride: n, Data: swapped[i:]}
			product.GemmAdd(blas.Trans, blas.NoTrans, left, right, blas64.General{Rows: left.Cols, Cols: n - i, Stride: n, Data: a[i*n+i:]})
		})
	}
	d[n-1] = a[n*n-1]
	return reflections{n, a, tau}
}

// applyTo replaces the n×n matrix with the rows x by XQᵀ: rows that are eigenvectors of T by those of A.
func (r reflections) applyTo(x []float64) {
	n := r.n
	xy := make([]float64, n*applyBlock)
	var now, next together
	for k0 := (n - 2) / applyBlock * applyBlock; k0 >= 0; k0 -= applyBlock {
		if now.y.Data == nil {
			now = r.together(k0, now)
		}
		b, from := now.y.Rows, k0+1
		cores.Do(1+(n+applyRows-1)/applyRows, func(i int) {
			if i == 0 {
				if k0 > 0 {
					next = r.together(k0-applyBlock, next)
				}
				return
			}
			lo := (i - 1) * applyRows
			rows := min(applyRows, n-lo)
			part := blas64.General{Rows: rows, Cols: now.y.Cols, Stride: n, Data: x[lo*n+from:]}
			own := contiguous(rows, b, xy[lo*b:])
			product.Gemm(blas.NoTrans, blas.Trans, part, now.y, own)
			product.GemmAdd(blas.NoTrans, blas.NoTrans, own, now.sy, part) // of what the cache still holds
		})
		now, next = next, now
	}
}

// together are up to applyBlock reflections, I − YᵀSY with S upper triangular (Schreiber and Van Loan 1989): XQᵀ = X − (XYᵀ)(SᵀY).
type together struct{ y, sy blas64.General } // sy is −SᵀY

// together returns those from number k0 on, in the memory of before.
func (r reflections) together(k0 int, before together) together {
	n := r.n
	from := k0 + 1 // where the reflections begin
	b, m := min(applyBlock, n-from), n-from
	y, sy := before.y.Data, before.sy.Data
	if y == nil {
		y, sy = make([]float64, applyBlock*n), make([]float64, applyBlock*n)
	}
	t := together{contiguous(b, m, y), contiguous(b, m, sy)}
	for p := range b {
		row := y[p*m : (p+1)*m]
		clear(row[:p])
		copy(row[p:], r.rows[(k0+p)*n+from+p:(k0+p+1)*n])
	}
	s, gram := make([]float64, b*b), make([]float64, b*b)
	product.Gemm(blas.NoTrans, blas.Trans, t.y, t.y, contiguous(b, b, gram))
	// S grows by a column: H₀⋯Hⱼ = (I − YᵀSY)(I − τvvᵀ) adds −τS(Yv) above τ.
	for j := range b {
		tau := r.tau[k0+j]
		for i := range j {
			s[i*b+j] = -tau * floats.Dot(s[i*b+i:i*b+j], gram[j*b+i:j*b+j])
		}
		s[j*b+j] = tau
	}
	floats.Scale(-1, s)
	product.Gemm(blas.Trans, blas.NoTrans, contiguous(b, b, s), t.y, t.sy)
	return t
}

// contiguous is the matrix of contiguous rows.
func contiguous(rows, cols int, data []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
}
