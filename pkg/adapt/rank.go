package adapt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/internal/vector"
	"metriclab/pkg/feedback"
	"metriclab/pkg/model"
	"metriclab/pkg/ranking"
)

// The measures of a query, in the order of Values.
const (
	// NDCG is the normalised discounted cumulative gain of the first k documents; documents that nobody judged count as not relevant.
	NDCG = iota
	// LogRank is the mean of ln rank over the relevant documents, the less the better: where a query has one click, most first pages have none, and how far down a click lies
	// still tells.
	LogRank
	// MRR is the mean reciprocal rank of the first relevant document, if that is among the first k.
	MRR
	// Recall is the share of the relevant documents that are among the first k.
	Recall
	// Condensed is NDCG with all documents left out that nobody judged for the query (Sakai, Alternatives to Bpref, SIGIR 2007).
	Condensed
	measures
)

// Values are the measures of a query. Condensed is NaN of a query whose judged documents have one grade.
type Values [measures]float64

// mapping is what becomes of a vector x: Ax, with x divided by its length first if unit, and the result if after.
type mapping struct {
	unit, after bool
	a           *mat.Dense // nil for the identity
}

// of maps the rows of x, which it may change. A row that has no direction where one is needed becomes zeros. It returns an error if the squared length of an image overflows.
func (m mapping) of(x *mat.Dense) (*mat.Dense, error) {
	if m.unit {
		matrix.ToUnit(x)
	}
	if m.a != nil {
		x = matrix.Mul(x, m.a.T())
	}
	if n, _ := x.Dims(); m.a != nil || !m.unit {
		for i := range n {
			if row := x.RawRowView(i); !(floats.Dot(row, row) <= math.MaxFloat64/4) { // then no score overflows
				return nil, errOverflow
			}
		}
	}
	if m.after {
		matrix.ToUnit(x)
	}
	return x, nil
}

var errOverflow = errors.New("adapt: squared lengths overflow: scale the vectors down")

// method ranks documents: by inner products of what the mappings make, or by Euclidean distances of it.
type method struct {
	Way
	query, document mapping
	euclid          bool
}

// scores returns that of each document for each query, the higher the nearer: ⟨q, d⟩, of Euclidean distances less ‖d‖²/2. A document without direction where one is needed
// comes behind all others.
func (m method) scores(q, d *mat.Dense) *mat.Dense {
	s := matrix.Mul(q, d.T())
	n, _ := d.Dims()
	for j := range n {
		row := d.RawRowView(j)
		off := 0.0
		if m.euclid {
			off = floats.Dot(row, row) / 2
		} else if (m.document.unit || m.document.after) && vector.IsZero(row) {
			off = math.Inf(1)
		}
		if off != 0 {
			for i := range q.RawMatrix().Rows {
				s.Set(i, j, s.At(i, j)-off)
			}
		}
	}
	return s
}

// asked is a query with what is judged of it. Documents of one query are distinct.
type asked struct {
	query  int
	judged []feedback.Judgement
}

// target counts the documents before and at a score.
type target struct {
	score, slack float64
	gains        []float64
	ahead, at    int // documents that are better than this and worse than the next better target; and that tie with this
}

// targetsOf returns the scores of the relevant documents of a query, the highest first. length is that of the mapped query.
func targetsOf(scores, gains []float64, lengths []float64, length float64) (out []*target) {
	order := make([]int, 0, len(scores))
	for i, g := range gains {
		if g > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, i := range order {
		slack := 0.0
		if !math.IsInf(scores[i], -1) {
			slack = tie * (math.Abs(scores[i]) + length*lengths[i])
		}
		if last := len(out) - 1; last >= 0 && (out[last].score == scores[i] || out[last].score-scores[i] <= slack) {
			out[last].gains = append(out[last].gains, gains[i])
			continue
		}
		out = append(out, &target{score: scores[i], slack: slack, gains: []float64{gains[i]}})
	}
	return out
}

// tie is how far scores may differ that are equal but for round-off, in parts of the sizes that they are made of.
const tie = 1e-12

// blocks are what the counts of targets say.
func blocks(of []*target) (out []ranking.Block) {
	ahead := 0
	for _, t := range of {
		ahead += t.ahead
		out = append(out, ranking.Block{Ahead: ahead, Size: max(t.at, len(t.gains)), Gains: t.gains})
		ahead += t.at
	}
	return out
}

// How many documents and queries are scored at a time, at most: so memory does not grow with either.
const blockRows, blockQueries = 512, 2048

// rank scores the order in which each method ranks documents for queries: those of among, ascending, or all if it is nil; what is judged must be among them. Where documents are queries, none is ranked for
// itself. It reads the documents once for each blockQueries queries, in blocks. The answer has the values of each query for each method.
func rank(ctx context.Context, c *Corpus, methods []method, queries []asked, among []int, k int) ([][]Values, error) {
	if len(queries) > blockQueries {
		first, err := rank(ctx, c, methods, queries[:blockQueries], among, k)
		if err != nil {
			return nil, err
		}
		rest, err := rank(ctx, c, methods, queries[blockQueries:], among, k)
		for m := range rest {
			rest[m] = append(first[m], rest[m]...)
		}
		return rest, err
	}
	rows := make([]int, len(queries))
	var judged []int
	for i, q := range queries {
		rows[i] = q.query
		for _, j := range q.judged {
			judged = append(judged, j.Document)
		}
	}
	slices.Sort(judged)
	judged = slices.Compact(judged)
	x, err := selected(c.searched(), rows)
	if err != nil {
		return nil, err
	}
	y, err := selected(c.Documents, judged)
	if err != nil {
		return nil, err
	}
	total := c.Documents.Rows()
	if among != nil {
		total = len(among)
	}
	out := make([][]Values, len(methods))
	images := make([]*mat.Dense, len(methods))
	targets := make([][][]*target, len(methods))
	for m, by := range methods {
		var z *mat.Dense
		if images[m], err = by.query.of(mat.DenseCopyOf(x)); err == nil {
			z, err = by.document.of(mat.DenseCopyOf(y))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", by.Way, err)
		}
		s := by.scores(images[m], z)
		out[m], targets[m] = make([]Values, len(queries)), make([][]*target, len(queries))
		for i, q := range queries {
			var scores, gains, lengths []float64
			grades := map[float64]bool{}
			for _, j := range q.judged {
				at, _ := slices.BinarySearch(judged, j.Document)
				scores, gains = append(scores, s.At(i, at)), append(gains, ranking.Gain(j.Grade))
				lengths = append(lengths, floats.Norm(z.RawRowView(at), 2))
				grades[j.Grade] = true
			}
			length := floats.Norm(images[m].RawRowView(i), 2)
			out[m][i][Condensed] = math.NaN()
			if len(grades) > 1 {
				slack := tie * length * slices.Max(lengths)
				out[m][i][Condensed] = ranking.NDCG(ranking.Blocks(scores, gains, func(a, b float64) bool { return a == b || math.Abs(a-b) <= slack }), k)
			}
			targets[m][i] = targetsOf(scores, gains, lengths, length)
		}
	}
	var mu sync.Mutex
	var failed error
	cores.Do((total+blockRows-1)/blockRows, func(b int) {
		from, to := b*blockRows, min((b+1)*blockRows, total)
		mu.Lock()
		stop := failed != nil
		mu.Unlock()
		if stop {
			return
		}
		err := ctx.Err()
		var block *mat.Dense
		var which []int
		if err == nil {
			if among != nil {
				which = among[from:to]
				block, err = c.Documents.Select(which)
			} else {
				block = mat.NewDense(to-from, c.Documents.Dim(), nil)
				err = c.Documents.ReadRows(block.RawMatrix().Data, from)
			}
		}
		fail := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			failed = cmp.Or(failed, err)
		}
		if err != nil {
			fail(err)
			return
		}
		var linear *mat.Dense // of the mapping before, without after
		var made mapping
		for m, by := range methods {
			before := mapping{unit: by.document.unit, a: by.document.a}
			if m == 0 || before != made {
				if linear, err = before.of(mat.DenseCopyOf(block)); err != nil {
					fail(fmt.Errorf("%s: %w", by.Way, err))
					return
				}
				made = before
			}
			z := linear
			if by.document.after {
				z = mat.DenseCopyOf(linear)
				matrix.ToUnit(z)
			}
			s := by.scores(images[m], z)
			counts := make([][]int, len(queries))
			for i, q := range queries {
				counts[i] = counted(targets[m][i], s.RawRowView(i), func(j int) bool {
					if c.Queries != nil {
						return false
					}
					row := from + j
					if which != nil {
						row = which[j]
					}
					return row == q.query
				})
			}
			mu.Lock()
			for i, t := range targets[m] {
				for j, one := range t {
					one.ahead += counts[i][2*j]
					one.at += counts[i][2*j+1]
				}
			}
			mu.Unlock()
		}
	})
	if failed != nil {
		return nil, failed
	}
	for m := range methods {
		for i := range queries {
			b := blocks(targets[m][i])
			v := &out[m][i]
			v[NDCG], v[LogRank], v[MRR], v[Recall] = ranking.NDCG(b, k), ranking.LogRank(b), ranking.ReciprocalRank(b, k), ranking.Recall(b, k)
		}
	}
	return out, nil
}

// counted returns how many scores lie between the targets, and at each, in turn: before the first, at it, before the second, … Those behind the last count nowhere.
func counted(targets []*target, scores []float64, skip func(j int) bool) []int {
	out := make([]int, 2*len(targets))
	if len(targets) == 0 {
		return out
	}
	last := targets[len(targets)-1]
	least := last.score - last.slack
	for j, s := range scores {
		if s < least || s != s || skip(j) {
			continue
		}
		i, _ := slices.BinarySearchFunc(targets, s, func(t *target, s float64) int { // the first that s reaches
			if s >= t.score-t.slack {
				return 1
			}
			return -1
		})
		if s <= targets[i].score+targets[i].slack {
			out[2*i+1]++
		} else {
			out[2*i]++
		}
	}
	return out
}

// selected are rows in any order.
func selected(from model.Source, rows []int) (*mat.Dense, error) {
	sorted := slices.Clone(rows)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	x, err := from.Select(sorted)
	if err != nil || slices.Equal(sorted, rows) {
		return x, err
	}
	out := mat.NewDense(len(rows), from.Dim(), nil)
	for i, r := range rows {
		at, _ := slices.BinarySearch(sorted, r)
		out.SetRow(i, x.RawRowView(at))
	}
	return out, nil
}
