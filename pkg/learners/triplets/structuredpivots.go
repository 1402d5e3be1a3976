package triplets

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// elimination tests blocks of a sparse matrix for definiteness by symmetric elimination. Objects of least
// degree go first: while the graph is nearly a tree, few entries fill in.
type elimination struct {
	diag    []float64
	rows    [][]entry // of the objects not eliminated, by column
	queue   [][]int   // objects by their degree at some time
	gone    []bool
	scratch []entry
	index   []int
	dense   []float64
}

// definite reports whether K − xI ≻ 0 on the objects of a component that no term touches: whether all pivots are positive.
func (k *sparse) definite(objects []int, x float64) bool {
	e := &k.pivots
	n := len(objects)
	for i, p := range objects {
		k.place[p] = i
	}
	e.index = grown(e.index, n)
	e.diag, e.rows, e.queue, e.gone = fit(e.diag, n), grown(e.rows, n), grown(e.queue, n), grown(e.gone, n)
	for i, p := range objects {
		e.diag[i] = k.diag[p] - x
		row := e.rows[i][:0]
		for _, a := range k.rows[p] {
			row = append(row, entry{k.place[a.j], a.x})
		}
		slices.SortFunc(row, func(a, b entry) int { return a.j - b.j })
		e.rows[i], e.queue[i], e.gone[i] = row, e.queue[i][:0], false
	}
	for _, p := range objects {
		k.place[p] = -1
	}
	return e.run()
}

func (e *elimination) run() bool {
	for i, row := range e.rows {
		e.queue[len(row)] = append(e.queue[len(row)], i)
	}
	least := 0
	for left := len(e.rows); left > 0; {
		q := e.queue[least]
		if len(q) == 0 {
			least++
			continue
		}
		i := q[len(q)-1]
		e.queue[least] = q[:len(q)-1]
		if least > maxDegree {
			return e.core()
		}
		if e.gone[i] || len(e.rows[i]) != least {
			continue // its degree has changed since
		}
		d := e.diag[i]
		if !(d > 0) {
			return false
		}
		left--
		e.gone[i] = true
		row := e.rows[i]
		for _, a := range row {
			e.diag[a.j] -= a.x * a.x / d
			e.update(a.j, i, row, a.x/d)
			degree := len(e.rows[a.j])
			e.queue[degree] = append(e.queue[degree], a.j)
			least = min(least, degree)
		}
	}
	return true
}

// core tests what is left, as a dense matrix.
func (e *elimination) core() bool {
	n := 0
	for i, gone := range e.gone {
		if !gone {
			e.index[i] = n
			n++
		}
	}
	e.dense = fit(e.dense, n*n)
	clear(e.dense)
	for i, gone := range e.gone {
		if !gone {
			row := e.dense[e.index[i]*n:]
			row[e.index[i]] = e.diag[i]
			for _, a := range e.rows[i] {
				row[e.index[a.j]] = a.x
			}
		}
	}
	_, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: e.dense})
	return ok
}

// update subtracts f·row from row j, without column i, which is eliminated, and without the diagonal.
func (e *elimination) update(j, i int, row []entry, f float64) {
	out := e.scratch[:0]
	old := e.rows[j]
	p, q := 0, 0
	for p < len(old) || q < len(row) {
		switch {
		case q == len(row) || p < len(old) && old[p].j < row[q].j:
			if old[p].j != i {
				out = append(out, old[p])
			}
			p++
		case p == len(old) || row[q].j < old[p].j:
			if row[q].j != j {
				out = append(out, entry{row[q].j, -f * row[q].x})
			}
			q++
		default:
			out = append(out, entry{old[p].j, old[p].x - f*row[q].x})
			p, q = p+1, q+1
		}
	}
	e.scratch = out
	e.rows[j] = append(old[:0], out...)
}

// maxDegree: what is left is treated as dense once all its objects have more neighbours.
const maxDegree = 24

// grown returns a slice of length n with the elements of x as far as there are any.
func grown[T any](x []T, n int) []T {
	if n > cap(x) {
		x = append(x[:cap(x)], make([]T, n-cap(x))...)
	}
	return x[:n]
}
