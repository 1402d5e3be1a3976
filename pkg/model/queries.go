package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/feedback"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
	"metriclab/pkg/ranking"
)

// MeasureNDCG is the normalised discounted cumulative gain of the judged documents of a query, the nearest first. It is Σ (2^grade − 1)/log₂(1 + rank) over the k
// nearest, divided by that of the best order (Järvelin, Kekäläinen, ACM TOIS 20, 2002; with the gain of Burges et al., ICML 2005). Documents without a judgement have no
// rank. Documents at equal distances count by their mean over all orders.
const MeasureNDCG = "nDCG"

// QueriesOfVectors is the problem of query vectors and document vectors with judgements of how relevant documents are to queries. What is learned from is that a document is nearer to a query than each that is less relevant to it. Learners of pairs learn that documents of a grade above 0 are
// similar to it, and those of grade 0 are not. An evaluation holds out queries, with all that is judged of them, and knows the documents. Plan.Ks has one k for nDCG, 10 by default. Queries with one grade alone
// say nothing and are left out.
//
// Problems with it return an error if a judgement names a row that is not there, has a grade that is not from 0 to feedback.MaxGrade, or judges a pair twice, or if the two files differ in dimension.
func QueriesOfVectors(queries, documents Source, judged []feedback.Judgement) Problem {
	t := ofVectors[feedback.Judgement]{
		form: ofJudgements, of: "queries with judgements", takes: judgementLearners,
		learn: learnJudgements, score: scoreQueries, measures: byQueries, kind: func(feedback.Judgement) int { return 0 },
	}
	if queries != nil && documents != nil {
		t.file, t.list = Behind(queries, documents), behind(judged, queries.Rows())
	}
	return Problem{t}
}

var byQueries = []Measure{{MeasureNDCG, false}, {MeasureTriplets, true}}

// behind returns judgements with documents numbered behind the queries, without queries of one grade alone.
func behind(judged []feedback.Judgement, queries int) []feedback.Judgement {
	grades := map[int]map[float64]bool{}
	for _, j := range judged {
		if grades[j.Query] == nil {
			grades[j.Query] = map[float64]bool{}
		}
		grades[j.Query][j.Grade] = true
	}
	var out []feedback.Judgement
	for _, j := range judged {
		away := j.Query < 0 || j.Query >= queries || j.Document < 0
		if away || !(j.Grade >= 0) || len(grades[j.Query]) > 1 {
			if j.Document += queries; away {
				j.Query = -1 // which is refused
			}
			out = append(out, j)
		}
	}
	return out
}

// Behind returns the vectors of both, those of documents behind those of queries. Its methods return an error if the former are not as long as the latter.
func Behind(queries, documents Source) Source { return twoFiles{queries, documents} }

type twoFiles struct{ queries, documents Source }

func (f twoFiles) Dim() int  { return f.queries.Dim() }
func (f twoFiles) Rows() int { return f.queries.Rows() + f.documents.Rows() }

// fit returns an error if vectors of one file are longer.
func (f twoFiles) fit() error {
	if q, d := f.queries.Dim(), f.documents.Dim(); q != d {
		return fmt.Errorf("model: queries have vectors of %d numbers and documents of %d, want the same", q, d)
	}
	return nil
}

// ReadRows reads successive vectors of both files.
func (f twoFiles) ReadRows(dst []float64, first int) error {
	if err := f.fit(); err != nil {
		return err
	}
	queries := f.queries.Rows()
	at := max(0, min(len(dst), (queries-first)*f.Dim())) // numbers of dst that are of queries
	if at > 0 {
		if err := f.queries.ReadRows(dst[:at], first); err != nil {
			return err
		}
	}
	if at == len(dst) {
		return nil
	}
	return f.documents.ReadRows(dst[at:], max(0, first-queries))
}

// Select returns vectors of both files by ascending numbers.
func (f twoFiles) Select(rows []int) (*mat.Dense, error) {
	if err := f.fit(); err != nil {
		return nil, err
	}
	at, _ := slices.BinarySearch(rows, f.queries.Rows())
	out := mat.NewDense(len(rows), f.Dim(), nil)
	for _, part := range []struct {
		file Source
		rows []int
		to   int
	}{{f.queries, rows[:at], 0}, {f.documents, rows[at:], at}} {
		if len(part.rows) == 0 {
			continue
		}
		own := slices.Clone(part.rows)
		for k := range own {
			if part.to > 0 {
				own[k] -= f.queries.Rows()
			}
		}
		x, err := part.file.Select(own)
		if err != nil {
			return nil, err
		}
		out.Slice(part.to, part.to+len(own), 0, f.Dim()).(*mat.Dense).Copy(x)
	}
	return out, nil
}

var ofJudgements = form[feedback.Judgement]{
	noun: "judgement", least: 1,
	items:   func(j *feedback.Judgement) []*int { return []*int{&j.Query, &j.Document} },
	divides: func(j *feedback.Judgement) []*int { return []*int{&j.Query} },
	check: func(rows int, all []feedback.Judgement) error {
		type pair struct{ query, document int }
		seen := map[pair]bool{}
		for i, j := range all {
			if j.Query < 0 || j.Document < 0 || j.Query >= rows || j.Document >= rows {
				return fmt.Errorf("model: judgement %d names a query or document that is not there", i)
			}
			if !(j.Grade >= 0 && j.Grade <= feedback.MaxGrade) {
				return fmt.Errorf("model: judgement %d: grade: %v is not allowed, want 0 to %d", i, j.Grade, feedback.MaxGrade)
			}
			if p := (pair{j.Query, j.Document}); seen[p] {
				return fmt.Errorf("model: judgement %d judges a document of a query twice", i)
			} else {
				seen[p] = true
			}
		}
		return nil
	},
	related: func(n int, all []feedback.Judgement) func(i int) []relation {
		of := make([][]relation, n)
		for _, j := range all {
			of[j.Query] = append(of[j.Query], relation{j.Grade, [2]int{j.Document, -1}})
			of[j.Document] = append(of[j.Document], relation{-1 - j.Grade, [2]int{j.Query, -1}})
		}
		return func(i int) []relation { return of[i] }
	},
	replaced: func(all []feedback.Judgement, place []int) []feedback.Judgement {
		out := make([]feedback.Judgement, len(all))
		for k, j := range all {
			out[k] = feedback.Judgement{Query: place[j.Query], Document: place[j.Document], Grade: j.Grade}
		}
		slices.SortFunc(out, func(a, b feedback.Judgement) int {
			return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Document, b.Document))
		})
		return out
	},
	lacks: func(train, test []feedback.Judgement) error {
		if len(train) == 0 || len(test) == 0 {
			return fmt.Errorf("%d judgements to learn from and %d held out: more queries, or another share of them to hold out, may help", len(train), len(test))
		}
		return nil
	},
	size: func(x mat.RawRowViewer, j feedback.Judgement) float64 {
		return metric.Euclidean{}.SqDist(x.RawRowView(j.Query), x.RawRowView(j.Document))
	},
}

// comparisonsOf returns, of each query, that a document is nearer than each that is less relevant.
func comparisonsOf(judged []feedback.Judgement) (out []metric.Triplet) {
	for _, of := range byQuery(judged) {
		for _, near := range of {
			for _, far := range of {
				if near.Grade > far.Grade {
					out = append(out, metric.Triplet{A: near.Query, Near: near.Document, Far: far.Document})
				}
			}
		}
	}
	return out
}

// byQuery returns the judgements of each query, in the order of the queries.
func byQuery(judged []feedback.Judgement) (out [][]feedback.Judgement) {
	sorted := slices.SortedStableFunc(slices.Values(judged), func(a, b feedback.Judgement) int { return cmp.Compare(a.Query, b.Query) })
	for from := 0; from < len(sorted); {
		to := from
		for to < len(sorted) && sorted[to].Query == sorted[from].Query {
			to++
		}
		out = append(out, sorted[from:to])
		from = to
	}
	return out
}

// judgementLearners are those that learn from comparisons, and of the others those that learn from pairs.
func judgementLearners() []catalog.Entry {
	out := catalog.Of(catalog.RowTriplets)
	for _, e := range VectorLearners() {
		if _, err := catalog.FindIn(out, e.Name); err != nil {
			out = append(out, e)
		}
	}
	return out
}

// linksOf takes a query and a document for similar if its grade is above 0, and for dissimilar if it is 0.
func linksOf(judged []feedback.Judgement) (out []metric.Link) {
	for _, j := range judged {
		out = append(out, metric.Link{I: j.Query, J: j.Document, Label: metric.SameClass(j.Grade > 0)})
	}
	return out
}

func learnJudgements(ctx context.Context, m *Vectors, f fitting, n *known[feedback.Judgement], x *fileRows, told Progress) (catalog.Distance, error) {
	if f.entry.Feedback != catalog.RowTriplets {
		return learnPairs(ctx, m, f, &known[metric.Link]{rows: n.rows, list: linksOf(n.list)}, x, told)
	}
	ts := comparisonsOf(n.list)
	if len(ts) == 0 {
		return nil, fmt.Errorf("model: no query has documents of two grades, want at least one")
	}
	return learnComparisons(ctx, m, f, &known[metric.Triplet]{rows: n.rows, list: ts}, x, told)
}

func scoreQueries(_ context.Context, _ metric.SqDister, z sides[feedback.Judgement], k int, _ bool) (outcome, error) {
	queries := slices.DeleteFunc(byQuery(z.tested.list), func(of []feedback.Judgement) bool { // a sample, or vectors of zeros, may leave one grade
		return !slices.ContainsFunc(of, func(j feedback.Judgement) bool { return j.Grade != of[0].Grade })
	})
	if len(queries) == 0 {
		return outcome{}, errors.New("model: no query that is held out has documents of two grades: more judgements may help")
	}
	gain := 0.0
	for _, of := range queries {
		gain += ndcg(z.b, of, k) / float64(len(queries))
	}
	wrong := contradicted(z.b, comparisonsOf(z.tested.list))
	return outcome{values: []float64{gain, wrong}, wrong: (1 - gain) * float64(len(queries)), rows: len(queries)}, nil
}

// ndcg is that of the judged documents of one query at k.
func ndcg(z *mat.Dense, of []feedback.Judgement, k int) float64 {
	near, gains := make([]float64, len(of)), make([]float64, len(of))
	for i, j := range of {
		near[i], gains[i] = -metric.Euclidean{}.SqDist(z.RawRowView(j.Query), z.RawRowView(j.Document)), ranking.Gain(j.Grade)
	}
	return ranking.NDCG(ranking.Blocks(near, gains, func(a, b float64) bool { return tied(-a, -b) }), k)
}
