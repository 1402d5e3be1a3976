package itml

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/internal/vector"
)

// tiles is a symmetric matrix W of order n, of which square tiles on and below
// the diagonal are stored, each contiguous. An update and the next product with a
// tile are done while it is in the fastest cache, so that main memory is read and
// written once, by half. Tiles on the diagonal are full squares.
type tiles struct {
	n, edge int
	tile    []blas64.General // row by row: (0,0), (1,0), (1,1), (2,0), ...
	signed  []float64        // s of an update, with its sign
}

const (
	// tileEdge: a tile of 56 rows has 25 KB, which a cache of 32 KB holds.
	tileEdge = 56
	// oneTile is the order up to which a single tile is as fast.
	oneTile = 72
	// oneRow is the order below which gonum's kernels are as fast.
	oneRow = 16
)

func newTiles(n int) *tiles {
	t := &tiles{n: n, edge: n, signed: make([]float64, n)}
	if n > oneTile { // tiles of the same size, but for the last row
		parts := (n + tileEdge - 1) / tileEdge
		t.edge = (n + parts - 1) / parts
	}
	for i := 0; i < n; i += t.edge {
		for j := 0; j <= i; j += t.edge {
			r, c := min(t.edge, n-i), min(t.edge, n-j)
			t.tile = append(t.tile, blas64.General{Rows: r, Cols: c, Stride: c, Data: make([]float64, r*c)})
		}
	}
	return t
}

// each calls f with the tiles and the row and column at which they start.
func (t *tiles) each(f func(i, j int, g blas64.General)) {
	k := 0
	for i := 0; i < t.n; i += t.edge {
		for j := 0; j <= i; j += t.edge {
			f(i, j, t.tile[k])
			k++
		}
	}
}

// set sets W to a.
func (t *tiles) set(a mat.Symmetric) {
	t.each(func(i, j int, g blas64.General) {
		for r := range g.Rows {
			for c := range g.Cols {
				g.Data[r*g.Stride+c] = a.At(i+r, j+c)
			}
		}
	})
}

// addMul sets W to W + sign·ssᵀ, unless sign is 0, and then dst to Wx. The sign
// is −1, 0 or 1: another factor would be rounded differently above and below the
// diagonal.
func (t *tiles) addMul(dst []float64, sign float64, s, x []float64) {
	clear(dst)
	if len(x) < oneRow { // a call of the assembly costs more than it saves
		g := t.tile[0]
		if sign != 0 {
			blas64.Ger(sign, vector.Of(s), vector.Of(s), g)
		}
		blas64.Gemv(blas.NoTrans, 1, g, vector.Of(x), 1, vector.Of(dst))
		return
	}
	for i, v := range s {
		t.signed[i] = sign * v
	}
	t.each(func(i, j int, g blas64.General) {
		rows, cols := i+g.Rows, j+g.Cols
		var by product.Ends
		if sign != 0 {
			by = product.Ends{Row: s[j:cols], Col: t.signed[i:rows]}
		}
		y := product.Ends{Col: dst[i:rows]}
		if i != j {
			y.Row = dst[j:cols]
		}
		product.GerGemv(g, by, product.Ends{Row: x[j:cols], Col: x[i:rows]}, y)
	})
}
