package product

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"metriclab/internal/cores"
)

// Symv sets y to Ax. Of A it reads the upper triangle once. It does not keep the chains of Gemm: its bits are those of
//
//	y_i += a_ii·x_i + Dot(a_i, x);  AddScaled(y, x_i, a_i)
//
// for the rows i in ascending order, a_i being row i right of the diagonal, with gonum's floats.Dot and
// floats.AddScaled, which round products and have bits of their own on each architecture. It panics if a.Uplo is not
// blas.Upper, if the lengths of x and y are not the order of A, or if A is malformed. x and y must not overlap.
func Symv(a blas64.Symmetric, x, y []float64) { symv(current, a, x, y) }

func symv(p path, a blas64.Symmetric, x, y []float64) {
	n := a.N
	if a.Uplo != blas.Upper {
		panic("product: a.Uplo is not blas.Upper")
	}
	check("a", blas64.General{Rows: n, Cols: n, Stride: a.Stride, Data: a.Data})
	if len(x) != n || len(y) != n {
		panic(fmt.Sprintf("product: a of order %d, x of length %d and y of length %d", n, len(x), len(y)))
	}
	clear(y)
	if p < viaAVX2 {
		eachRow(a, x, y)
		return
	}
	const shared = 320 // an order that is worth two cores
	if n < shared || cores.Idle() == 0 {
		triangle(a, fetchAhead(n), x, y)
		return
	}
	h, ahead := n/2&^(rows-1), fetchAhead(n)
	right := a.Data[h:] // of the first h rows
	rest := blas64.Symmetric{Uplo: a.Uplo, N: n - h, Stride: a.Stride, Data: right[h*a.Stride:]}
	cores.Do(2, func(part int) {
		if part == 0 {
			for i := 0; i < h; i += rows {
				fourRows(a.Data[i*a.Stride+i:], a.Stride, ahead, x[i:], y[i:], h-i)
			}
			return
		}
		for i := 0; i < h; i += rows {
			sumFour(right[i*a.Stride:], a.Stride, ahead, x[i:], y[h:])
		}
		triangle(rest, ahead, x[h:], y[h:])
	})
}

// eachRow adds Ax to y row by row.
func eachRow(a blas64.Symmetric, x, y []float64) {
	for i := range x {
		row := a.Data[i*a.Stride+i:][:len(x)-i]
		y[i] += float64(row[0]*x[i]) + floats.Dot(row[1:], x[i+1:])
		floats.AddScaled(y[i+1:], x[i], row[1:])
	}
}

// rows are those that the assembly reads together.
const rows = 4

// fetchAhead returns how many numbers ahead of their use the rows of a matrix of order n are fetched: 8 cache lines from memory, none
// from a cache, where fetching costs a seventh of the time.
func fetchAhead(n int) int {
	if n < 2048 {
		return 0
	}
	return 64
}

// triangle is eachRow by four rows at a time.
func triangle(a blas64.Symmetric, ahead int, x, y []float64) {
	const least = 12 // columns that are worth a call
	i := 0
	for ; a.N-i >= least; i += rows {
		fourRows(a.Data[i*a.Stride+i:], a.Stride, ahead, x[i:], y[i:], a.N-i)
	}
	eachRow(blas64.Symmetric{N: a.N - i, Stride: a.Stride, Data: a.Data[i*a.Stride+i:]}, x[i:], y[i:])
}

// fourRows does the first four rows of an upper triangle of order len(x), at least 8, with numbers stride apart. Of y it does the first
// numbers, a multiple of 4 or all.
//
// The dot product of gonum has four chains, one for each remainder of the index by 4. The last numbers, fewer than four, are
// added to the first chain. In the end it adds the third to the first, the fourth to the second, and both.
func fourRows(a []float64, stride, ahead int, x, y []float64, first int) {
	n := len(x)
	y = y[:n]
	end := rows + (n-rows-(rows-1))&^3 // columns up to there are no last numbers of any row
	var sums [rows * 4]float64         // those of row r at 4r; column j belongs to the chain at j%4
	for r := range rows {
		row, s := a[r*stride:][:rows], sums[4*r:][:4]
		for j := r + 1; j < rows; j++ {
			s[j] += float64(row[j] * x[j])
			y[j] += float64(row[j] * x[r])
		}
	}
	_ = a[(rows-1)*stride+end-1]
	both := min(first, end) - rows
	symvAVX2(both, &a[rows], stride, ahead, &x[rows], &x[0], &y[rows], &sums[0])
	if rows+both < end {
		symvDotsAVX2(end-rows-both, &a[rows+both], stride, ahead, &x[rows+both], &x[0], &y[0], &sums[0])
	}
	for r := range rows {
		row, s := a[r*stride:][:n], sums[4*r:][:4]
		last := r + 1 + (n-r-1)&^3 // numbers
		for j := end; j < last; j++ {
			s[j%4] += float64(row[j] * x[j])
		}
		at := (r + 1) % 4 // of the first chain
		for j := last; j < n; j++ {
			s[at] += float64(row[j] * x[j])
		}
		if first == n {
			for j := end; j < n; j++ {
				y[j] += float64(row[j] * x[r])
			}
		}
		y[r] += float64(row[r]*x[r]) + ((s[at] + s[(at+2)%4]) + (s[(at+1)%4] + s[(at+3)%4]))
	}
}

// sumFour adds four rows, stride apart, times the first numbers of c to y, which is not empty.
func sumFour(a []float64, stride, ahead int, c, y []float64) {
	whole := len(y) &^ 3
	_ = a[(rows-1)*stride+len(y)-1]
	symvSumAVX2(whole, &a[0], stride, ahead, &y[0], &c[0], &y[0], &y[0])
	for r := range rows {
		row := a[r*stride:]
		for j := whole; j < len(y); j++ {
			y[j] += float64(row[j] * c[r])
		}
	}
}

// Stairs returns the products of a, b, c and d with as many first numbers of x as they have, with the bits of gonum's floats.Dot. The
// length of a is a multiple of 4, and each of the others has one number more than the one before. It panics if x is shorter than d.
func Stairs(x, a, b, c, d []float64) [4]float64 { return stairs(current, x, a, b, c, d) }

func stairs(p path, x, a, b, c, d []float64) (out [4]float64) {
	n := len(a)
	if n%4 != 0 || len(b) != n+1 || len(c) != n+2 || len(d) != n+3 || len(x) < n+3 {
		panic(fmt.Sprintf("product: stairs of lengths %d, %d, %d and %d, x of length %d", n, len(b), len(c), len(d), len(x)))
	}
	stairs := [4][]float64{a, b, c, d}
	if p < viaAVX2 || n == 0 {
		for r, row := range stairs {
			out[r] = floats.Dot(row, x[:len(row)])
		}
		return out
	}
	var sums [4 * 4]float64
	chainsAVX2(n, &x[0], &a[0], &b[0], &c[0], &d[0], &sums[0])
	for r, row := range stairs {
		s := sums[4*r:][:4]
		for j := n; j < len(row); j++ { // what is left goes to the first chain
			s[0] += float64(row[j] * x[j])
		}
		out[r] = (s[0] + s[2]) + (s[1] + s[3])
	}
	return out
}

// Rotate sets x to cx + sy and y to cy − sx, with products that are rounded. It panics if lengths differ.
func Rotate(x, y []float64, c, s float64) { rotate(current, x, y, c, s) }

func rotate(p path, x, y []float64, c, s float64) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("product: vectors of lengths %d and %d", len(x), len(y)))
	}
	if whole := len(x) &^ 3; p >= viaAVX2 && whole > 0 {
		rotateAVX2(whole, &x[0], &y[0], c, s)
		x, y = x[whole:], y[whole:]
	}
	for i, a := range x {
		b := y[i]
		x[i] = float64(c*a) + float64(s*b)
		y[i] = float64(c*b) - float64(s*a)
	}
}
