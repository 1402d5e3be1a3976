package nearest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// Voters is the k-nearest-neighbour classifier that does not depend on the order of its training rows: the one to score and to predict by. KNN, with which
// the numbers of the papers were computed, follows that order where distances are equal.
//
// Each row nearer than the k-th one has a vote. The t rows as near as the k-th share the k − m votes that the m nearer ones leave, (k − m)/t each: what each
// has on average over all orders of equal distances. Distances are equal as those of KNN are. The class with most votes is elected. Of several, those with a row nearest
// to the query are; if these are still several, it is a tie, which Errors counts by its chance.
//
// Equal rows are searched once, so that many of them cost no more than one. A Voters never changes; it is safe for concurrent use if its metric is.
type Voters struct {
	knn  *KNN      // of distinct rows, whose labels are not used
	of   [][]votes // of each distinct row
	rows int
	// Told is told of every thousand queries whose neighbours were found, and of all; nil for nobody. It is called from several goroutines.
	Told func(done, total int)
}

// votes are a number of rows with a label.
type votes struct{ label, n int }

// Election is what the neighbours of a query elect.
type Election struct {
	// Labels are those elected, ascending: one, or several in a tie.
	Labels []int
	// Share is the share of all votes that each of Labels has, more than 0 and at most 1.
	Share float64
	// SqDist is the squared distance of the nearest training row.
	SqDist float64
	// Votes are the shares of all labels that have votes, by ascending label. Their sum is 1 but for round-off.
	Votes []Vote
}

// Vote is the share of the votes that a label has.
type Vote struct {
	Label int
	Share float64 // more than 0 and at most 1
}

// NewVoters returns a classifier with the rows of the n×d matrix x, which is copied, as training set, and y as their labels. Its errors and panics are those of NewKNN.
func NewVoters(m metric.SqDister, x mat.Matrix, y []int) (*Voters, error) {
	if matrix.IsNil(x) {
		panic("nearest: NewVoters: x is nil")
	}
	n, _ := x.Dims()
	if len(y) != n {
		return nil, fmt.Errorf("knn: %d labels for %d rows", len(y), n)
	}
	if n == 0 {
		return nil, errors.New("knn: training set is empty")
	}
	if _, ok := x.(*sparse.Matrix); !ok {
		x = matrix.Dense(x)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	compare := RowOrder(x)
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(compare(i, j), cmp.Compare(y[i], y[j])) })
	v := &Voters{rows: n}
	var first []int // of the rows that are equal to it
	for k, i := range order {
		if k == 0 || compare(order[k-1], i) != 0 {
			first, v.of = append(first, i), append(v.of, nil)
		}
		of := &v.of[len(v.of)-1]
		if last := len(*of) - 1; last >= 0 && (*of)[last].label == y[i] {
			(*of)[last].n++
		} else {
			*of = append(*of, votes{y[i], 1})
		}
	}
	distinct, err := selected(x, first)
	if err != nil {
		return nil, err
	}
	v.knn, err = NewKNN(m, distinct, make([]int, len(first)), KNNOptions{})
	return v, err
}

// RowOrder returns a comparison of two rows of a dense or sparse matrix by their numbers, the first that differs deciding.
func RowOrder(x mat.Matrix) func(i, j int) int {
	if s, ok := x.(*sparse.Matrix); ok {
		return func(i, j int) int {
			a, b := s.Row(i), s.Row(j)
			k := 0
			for k < min(len(a.Index), len(b.Index)) && a.Index[k] == b.Index[k] && a.Value[k] == b.Value[k] {
				k++
			}
			at := func(v sparse.Vector, other []int) float64 { // of the first column where either has a number
				if k == len(v.Index) || k < len(other) && other[k] < v.Index[k] {
					return 0
				}
				return v.Value[k]
			}
			return cmp.Compare(at(a, b.Index), at(b, a.Index))
		}
	}
	d := matrix.Dense(x)
	return func(i, j int) int { return slices.Compare(d.RawRowView(i), d.RawRowView(j)) }
}

// selected returns rows of a dense or sparse matrix.
func selected(x mat.Matrix, rows []int) (mat.Matrix, error) {
	if s, ok := x.(*sparse.Matrix); ok {
		part, err := s.Rows(rows)
		if err != nil {
			return nil, fmt.Errorf("knn: %w", err)
		}
		return part, nil
	}
	d := x.(*mat.Dense)
	_, width := d.Dims()
	out := mat.NewDense(len(rows), width, nil)
	for k, i := range rows {
		out.SetRow(k, d.RawRowView(i))
	}
	return out, nil
}

// Elect returns what the k nearest training rows of each row of queries elect. Its errors and panics are those of KNN.Neighbours.
func (v *Voters) Elect(ctx context.Context, queries mat.Matrix, k int) ([]Election, error) {
	m, err := v.queries("Elect", &queries, k)
	if err != nil {
		return nil, err
	}
	out := make([]Election, m)
	err = v.poll(ctx, queries, k, func(i int, found []Neighbour) {
		out[i] = v.elect(found, k, -1, 0)
		out[i].SqDist = found[0].SqDist
	})
	return out, err
}

// Errors returns for each k of ks the number of rows of queries of which another label is elected than want has, a tie by its chance. Its errors and panics are
// those of KNN.Errors.
func (v *Voters) Errors(ctx context.Context, queries mat.Matrix, want []int, ks []int) ([]float64, error) {
	m, err := v.queries("Errors", &queries, ks...)
	if err != nil {
		return nil, err
	}
	if len(want) != m {
		return nil, fmt.Errorf("knn: %d labels for %d queries", len(want), m)
	}
	wrong := make([][]float64, m)
	if err := v.poll(ctx, queries, slices.Max(ks), func(i int, found []Neighbour) {
		wrong[i] = make([]float64, len(ks))
		for j, k := range ks {
			wrong[i][j] = v.elect(found, k, -1, 0).wrong(want[i])
		}
	}); err != nil {
		return nil, err
	}
	return sums(wrong, len(ks)), nil
}

// LeaveOneOut returns for each k of ks the number of training rows of which the other ones elect another label, a tie by its chance. Its errors are those of KNN.LeaveOneOut.
func (v *Voters) LeaveOneOut(ctx context.Context, ks []int) ([]float64, error) {
	if _, err := v.knn.made().checkKs(ks, v.rows-1, "the number of other training rows"); err != nil {
		return nil, err
	}
	wrong := make([][]float64, len(v.of))
	if err := v.poll(ctx, nil, slices.Max(ks), func(i int, found []Neighbour) {
		wrong[i] = make([]float64, len(ks))
		for _, own := range v.of[i] {
			for j, k := range ks {
				wrong[i][j] += float64(own.n) * v.elect(found, k, i, own.label).wrong(own.label)
			}
		}
	}); err != nil {
		return nil, err
	}
	return sums(wrong, len(ks)), nil
}

// wrong is the chance that another label is taken than want.
func (e Election) wrong(want int) float64 {
	if !slices.Contains(e.Labels, want) {
		return 1
	}
	return 1 - 1/float64(len(e.Labels))
}

func sums(rows [][]float64, n int) []float64 {
	out := make([]float64, n)
	for _, r := range rows {
		for j, v := range r {
			out[j] += v
		}
	}
	return out
}

// queries checks what is asked, makes queries what the search takes, and returns their number.
func (v *Voters) queries(method string, queries *mat.Matrix, ks ...int) (int, error) {
	given, err := v.knn.made().given(method, *queries)
	if err != nil {
		return 0, err
	}
	if _, err := v.knn.checkKs(ks, v.rows, "the number of training rows"); err != nil {
		return 0, err
	}
	*queries = given
	return v.knn.checkQueries(given)
}

// poll calls f for each query with its k nearest distinct training rows, which stand for at least as many, and all that tie with the last of them. Queries nil are the
// distinct training rows, each without itself, of which found may be empty then. f is called from several goroutines, once per query, and must not keep found.
func (v *Voters) poll(ctx context.Context, queries mat.Matrix, k int, f func(i int, found []Neighbour)) error {
	most := len(v.of)
	if queries == nil {
		most--
	}
	if most == 0 {
		f(0, nil)
		return nil
	}
	k = min(k, most)
	var mu sync.Mutex
	var open []int // queries that more rows may tie with
	take := func(i, asked int, found []Neighbour) {
		end := 0
		for end < k {
			end = groupEnd(found, end)
		}
		if end < len(found) || asked == most {
			f(i, found[:end])
			return
		}
		mu.Lock()
		open = append(open, i)
		mu.Unlock()
	}
	if v.Told != nil {
		total, own := len(v.of), f
		if queries != nil {
			total, _ = queries.Dims()
		}
		var done atomic.Int64
		const between = 1 << 10
		f = func(i int, found []Neighbour) {
			own(i, found)
			if n := done.Add(1); n%between == 0 {
				v.Told(int(n), total)
			}
		}
	}
	asked := min(k+1, most)
	if err := v.knn.search(ctx, queries, asked, func(i int, found []Neighbour) { take(i, asked, found) }); err != nil {
		return err
	}
	const rows = 1 << 12 // at a time
	for len(open) > 0 {
		again := slices.Sorted(slices.Values(open))
		open = nil
		asked = min(4*asked, most)
		for part := range slices.Chunk(again, rows) {
			if err := v.searchAgain(ctx, queries, part, asked, func(q int, found []Neighbour) { take(part[q], asked, found) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// searchAgain is KNN.search for some of the queries.
func (v *Voters) searchAgain(ctx context.Context, queries mat.Matrix, some []int, k int, f func(q int, found []Neighbour)) error {
	c := v.knn
	if queries != nil {
		part, err := selected(queries, some)
		if err != nil {
			return err
		}
		if err := c.checkK(k, len(v.of), "the number of distinct training rows"); err != nil {
			return err
		}
		return c.search(ctx, part, k, f)
	}
	if err := c.checkK(k+1, len(v.of), "the number of distinct training rows"); err != nil {
		return err
	}
	others := func(q int, found []Neighbour) {
		f(q, slices.DeleteFunc(found, func(n Neighbour) bool { return n.Index == some[q] })[:k])
	}
	if c.sparse != nil {
		part, err := c.sparse.x.Rows(some)
		if err != nil {
			return fmt.Errorf("knn: %w", err)
		}
		return c.searchSparse(ctx, part, k+1, others)
	}
	part, err := selected(c.points, some)
	if err != nil {
		return err
	}
	if !c.fast {
		return c.searchAny(ctx, part.(*mat.Dense), len(some), k+1, others)
	}
	return c.searchPoints(ctx, part.(*mat.Dense), false, k+1, others)
}

// elect counts the votes of the k nearest rows: of found, and of those equal to the query, which is distinct row self of label own and not counted; −1 if it is none.
func (v *Voters) elect(found []Neighbour, k, self, own int) Election {
	type tally struct{ label, nearer, tied, group int } // group: of the nearest row
	var few [16]tally
	all := few[:0]
	group, nearer, tied := 0, 0, 0 // nearer and tied are numbers of rows
	add := func(of []votes, less bool) {
		for _, w := range of {
			n := w.n
			if less && w.label == own {
				n--
			}
			if n == 0 {
				continue
			}
			i := slices.IndexFunc(all, func(t tally) bool { return t.label == w.label })
			if i < 0 {
				i = len(all)
				all = append(all, tally{label: w.label, group: group})
			}
			all[i].tied += n
			tied += n
		}
	}
	next := func() { // group
		for i := range all {
			all[i].nearer, all[i].tied = all[i].nearer+all[i].tied, 0
		}
		nearer, tied, group = nearer+tied, 0, group+1
	}
	if self >= 0 {
		add(v.of[self], true)
		if tied > 0 && tied < k && found[0].SqDist > 0 {
			next()
		}
	}
	for lo := 0; nearer+tied < k; {
		if lo > 0 {
			next()
		}
		hi := groupEnd(found, lo)
		for _, n := range found[lo:hi] {
			add(v.of[n.Index], false)
		}
		lo = hi
	}
	e := Election{Votes: make([]Vote, 0, len(all))}
	best, first := -1, 0
	for _, t := range all {
		// Of all votes, times the number of tied rows: whole numbers are equal exactly.
		got := t.nearer*tied + (k-nearer)*t.tied
		e.Votes = append(e.Votes, Vote{t.label, float64(got) / float64(k*tied)})
		if got > best || got == best && t.group < first {
			best, first, e.Labels = got, t.group, e.Labels[:0]
		}
		if got == best && t.group == first {
			e.Labels = append(e.Labels, t.label)
		}
	}
	slices.Sort(e.Labels)
	slices.SortFunc(e.Votes, func(a, b Vote) int { return cmp.Compare(a.Label, b.Label) })
	e.Share = float64(best) / float64(k*tied)
	return e
}
