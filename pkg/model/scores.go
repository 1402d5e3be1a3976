package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

func sqDistsOf(under metric.SqDister, z *mat.Dense, links []metric.Link) []float64 {
	sq := make([]float64, len(links))
	for i, l := range links {
		sq[i] = under.SqDist(z.RawRowView(l.I), z.RawRowView(l.J))
	}
	return sq
}

// bestThreshold returns the squared distance b for which fewest links are wrong if those with sq ≤ b are taken for similar, the smallest of
// equals, and their number. It lies halfway between two neighbouring values of sq, or below or at the last of them; −1 takes none for similar where some are at 0.
func bestThreshold(sq []float64, links []metric.Link) (b float64, wrong int) {
	order := make([]int, len(sq))
	for i := range order {
		order[i] = i
		if links[i].Label == metric.Similar {
			wrong++ // all are far, if b < 0
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(sq[i], sq[j]) })
	now, best := wrong, wrong
	b = -1
	if len(sq) == 0 || sq[order[0]] > 0 {
		b = 0
		if len(sq) > 0 {
			b = sq[order[0]] / 2
		}
	}
	for k := 0; k < len(order); {
		at := sq[order[k]]
		for ; k < len(order) && sq[order[k]] == at; k++ {
			now -= int(links[order[k]].Label)
		}
		if now < best {
			best, b = now, at
			if k < len(order) {
				b = at + (sq[order[k]]-at)/2
			}
		}
	}
	return b, best
}

// wrongAt counts the links on the wrong side of b.
func wrongAt(sq []float64, links []metric.Link, b float64) (wrong int) {
	for i, l := range links {
		if (sq[i] <= b) != (l.Label == metric.Similar) {
			wrong++
		}
	}
	return wrong
}

// auc returns the share of pairs of a similar and a dissimilar link of which the similar one has the smaller sq; a tie counts half. Both kinds are there.
func auc(sq []float64, links []metric.Link) float64 {
	order := make([]int, len(sq))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(sq[i], sq[j]) })
	var similar, other, won float64
	for k := 0; k < len(order); {
		at := sq[order[k]]
		var same, different float64
		for ; k < len(order) && sq[order[k]] == at; k++ {
			if links[order[k]].Label == metric.Similar {
				same++
			} else {
				different++
			}
		}
		won += different * (similar + same/2)
		similar += same
		other += different
	}
	return won / (similar * other)
}

// recall returns the mean share of the similar items of an item that is among its k nearest rows of z, or all others if these are fewer. Of rows at equal
// distances, of which only some are among the k, each counts by its chance in a random order.
func recall(ctx context.Context, under metric.SqDister, z *mat.Dense, links []metric.Link, k int) (float64, error) {
	n, r := z.Dims()
	alike := make([]map[int]bool, n)
	for _, l := range links {
		if l.Label != metric.Similar {
			continue
		}
		for _, p := range [][2]int{{l.I, l.J}, {l.J, l.I}} {
			if alike[p[0]] == nil {
				alike[p[0]] = map[int]bool{}
			}
			alike[p[0]][p[1]] = true
		}
	}
	var asked []int
	for i, a := range alike {
		if a != nil {
			asked = append(asked, i)
		}
	}
	knn, err := nearest.NewKNN(under, z, make([]int, n), nearest.KNNOptions{})
	if err != nil {
		return 0, err
	}
	k = min(k, n-1)
	queries := mat.NewDense(len(asked), r, nil)
	for q, i := range asked {
		queries.SetRow(q, z.RawRowView(i))
	}
	found, err := knn.Neighbours(ctx, queries, min(k+2, n)) // one of them is the item itself, or as near, and one tells whether the last is tied
	if err != nil {
		return 0, err
	}
	var sum float64
	for q, i := range asked {
		others := slices.DeleteFunc(found[q], func(nb nearest.Neighbour) bool { return nb.Index == i })
		if k < n-1 && tied(others[k-1].SqDist, others[k].SqDist) {
			sum += expectedHits(under, z, i, k, alike[i]) / float64(len(alike[i]))
			continue
		}
		hits := 0
		for _, nb := range others[:k] {
			if alike[i][nb.Index] {
				hits++
			}
		}
		sum += float64(hits) / float64(len(alike[i]))
	}
	return sum / float64(len(asked)), nil
}

// tied tells whether squared distances a ≤ b are equal but for round-off.
func tied(a, b float64) bool { return b <= a*(1+nearest.TieTolerance) }

// expectedHits returns how many of the alike rows are among the k nearest to row i, on average over the orders of rows at equal distances.
func expectedHits(under metric.SqDister, z *mat.Dense, i, k int, alike map[int]bool) float64 {
	n, _ := z.Dims()
	sq := make([]float64, 0, n-1)
	var hits []float64 // of the alike rows
	for j := range n {
		if j == i {
			continue
		}
		d := under.SqDist(z.RawRowView(i), z.RawRowView(j))
		sq = append(sq, d)
		if alike[j] {
			hits = append(hits, d)
		}
	}
	slices.Sort(sq)
	last := sq[k-1]
	nearer, upTo := 0, 0 // rows
	for _, d := range sq {
		if !tied(d, last) {
			nearer++
		}
		if tied(last, d) {
			upTo++
		}
	}
	share := float64(k-nearer) / float64(upTo-nearer)
	sum := 0.0
	for _, d := range hits {
		switch {
		case !tied(d, last):
			sum++
		case tied(last, d):
			sum += share
		}
	}
	return sum
}

// coordinates returns a metric of coordinates that is m of prepared rows, and what makes coordinates of the rows of two matrices.
func coordinates(m catalog.Distance) (metric.SqDister, func(a, b *mat.Dense) (*mat.Dense, *mat.Dense, error)) {
	l, ok := m.(embedder)
	if !ok { // of a kernel metric that has none
		under, rows := searched(m)
		return under, func(a, b *mat.Dense) (*mat.Dense, *mat.Dense, error) {
			return mat.DenseCopyOf(rows(a)), mat.DenseCopyOf(rows(b)), nil
		}
	}
	width := max(l.Rows(), 1)
	return metric.Euclidean{}, func(a, b *mat.Dense) (*mat.Dense, *mat.Dense, error) {
		n, _ := a.Dims()
		k, _ := b.Dims()
		if err := limits.Check(fmt.Sprintf("coordinates of %s", plural.Of(n+k, "row")), limits.Floats(n+k, between(l)+width)); err != nil {
			return nil, nil, fmt.Errorf("model: %w", err)
		}
		if l.Rows() == 0 { // all points coincide
			return mat.NewDense(n, 1, nil), mat.NewDense(k, 1, nil), nil
		}
		za, zb := l.EmbedRows(a), l.EmbedRows(b)
		return za, zb, cmp.Or(checkCoordinates(za, 0), checkCoordinates(zb, 0))
	}
}
