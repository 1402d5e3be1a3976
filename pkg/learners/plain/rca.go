package plain

import (
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// RCA is relevant component analysis: M = (C + ρsI)⁻¹, where C is the covariance of the rows of x around the means of their
// chunklets, and s its mean variance. Rows that similar links join, directly or by others, make a chunklet; dissimilar links
// are ignored.
//
// Source: Shental, Hertz, Weinshall, Pavel, Adjustment Learning and Relevant Component Analysis, ECCV 2002. The ridge ρ
// is not in that paper.
func RCA(x mat.Matrix, links []metric.Link, ridge float64) *mat.SymDense {
	_, d := x.Dims()
	c := ChunkletCovariance(x, links)
	shift := scaledIdentity(d, ridge*mat.Trace(c)/float64(d))
	c.AddSym(c, shift)
	var chol mat.Cholesky
	if !chol.Factorize(c) {
		panic("plain: RCA: the covariance within chunklets is singular: take a ridge")
	}
	m := mat.NewSymDense(d, nil)
	if err := chol.InverseTo(m); err != nil {
		panic(err)
	}
	return m
}

// ChunkletCovariance returns C of RCA.
func ChunkletCovariance(x mat.Matrix, links []metric.Link) *mat.SymDense {
	n, d := x.Dims()
	row := func(i int) mat.Vector { return mat.NewVecDense(d, mat.Row(nil, i, x)) }
	chunk := make([]int, n) // the chunklet of each row, by its first row
	for i := range chunk {
		chunk[i] = i
	}
	for range n { // enough for a chain of n rows
		for _, l := range links {
			if l.Label == metric.Similar {
				low := min(chunk[l.I], chunk[l.J])
				chunk[l.I], chunk[l.J] = low, low
			}
		}
	}
	c := mat.NewSymDense(d, nil)
	points := 0
	for id := range n {
		var rows []int
		mean := mat.NewVecDense(d, nil)
		for i, k := range chunk {
			if k == id {
				rows = append(rows, i)
				mean.AddVec(mean, row(i))
			}
		}
		if len(rows) < 2 {
			continue
		}
		mean.ScaleVec(1/float64(len(rows)), mean)
		for _, i := range rows {
			var v mat.VecDense
			v.SubVec(row(i), mean)
			c.SymRankOne(c, 1, &v)
			points++
		}
	}
	c.ScaleSym(1/float64(points), c)
	return c
}
