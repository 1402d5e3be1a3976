package adapt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/feedback"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/ranking"
)

// rows are vectors in memory.
type rows struct{ *mat.Dense }

func (r rows) Rows() int { n, _ := r.Dims(); return n }
func (r rows) Dim() int  { _, d := r.Dims(); return d }

func (r rows) ReadRows(dst []float64, first int) error {
	d := r.Dim()
	for i := range len(dst) / d {
		copy(dst[i*d:], r.RawRowView(first+i))
	}
	return nil
}

func (r rows) Select(of []int) (*mat.Dense, error) {
	out := mat.NewDense(len(of), r.Dim(), nil)
	for i, row := range of {
		out.SetRow(i, r.RawRowView(row))
	}
	return out, nil
}

func normal(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = rng.NormFloat64()
	}
	return x
}

// topics are queries and documents of 8 topics, which some of the features tell, and features of more variance that say nothing. A query has one relevant document and one
// that is not; shuffled, which is which is drawn.
func topics(seed uint64, queries int, shuffled bool) *Corpus {
	const documents, d, told, kinds = 600, 12, 4, 8
	rng := rand.New(rand.NewPCG(seed, 7))
	centres := normal(rng, kinds, told)
	make := func(n int) (*mat.Dense, []int) {
		x, kind := normal(rng, n, d), []int{}
		for i := range n {
			kind = append(kind, rng.IntN(kinds))
			for j := range d {
				if j < told {
					x.Set(i, j, centres.At(kind[i], j)+.3*x.At(i, j))
				} else {
					x.Set(i, j, 1.5*x.At(i, j))
				}
			}
		}
		return x, kind
	}
	x, of := make(documents)
	q, asks := make(queries)
	c := &Corpus{Documents: rows{x}, Queries: rows{q}}
	for i, kind := range asks {
		var near, far int
		for near = rng.IntN(documents); of[near] != kind; near = rng.IntN(documents) {
		}
		for far = rng.IntN(documents); of[far] == kind; far = rng.IntN(documents) {
		}
		if shuffled && rng.IntN(2) == 0 {
			near, far = far, near
		}
		c.Judged = append(c.Judged, feedback.Judgement{Query: i, Document: near, Grade: 1}, feedback.Judgement{Query: i, Document: far})
	}
	return c
}

// obvious ranks by sorting: the measures of one query by their definitions, where no scores tie.
func obvious(c *Corpus, m method, q asked, k int) (v Values) {
	of := func(from model.Source, row int, by mapping) []float64 {
		x := slices.Clone(from.(rows).RawRowView(row))
		scale := func() { floats.Scale(1/floats.Norm(x, 2), x) }
		if by.unit {
			scale()
		}
		if by.a != nil {
			var y mat.VecDense
			y.MulVec(by.a, mat.NewVecDense(len(x), x))
			x = y.RawVector().Data
		}
		if by.after {
			scale()
		}
		return x
	}
	grade := map[int]float64{}
	for _, j := range q.judged {
		grade[j.Document] = j.Grade
	}
	x := of(c.searched(), q.query, m.query)
	type scored struct{ score, grade float64 }
	var all, judged []scored
	for d := range c.Documents.Rows() {
		if c.Queries == nil && d == q.query {
			continue
		}
		y := of(c.Documents, d, m.document)
		s := scored{floats.Dot(x, y), grade[d]}
		if m.euclid {
			s.score = -floats.Distance(x, y, 2)
		}
		all = append(all, s)
		if _, ok := grade[d]; ok {
			judged = append(judged, s)
		}
	}
	ndcg := func(list []scored) float64 {
		slices.SortFunc(list, func(a, b scored) int { return int(math.Copysign(1, b.score-a.score)) })
		var got, best float64
		grades := []float64{}
		for r, s := range list {
			if r < k {
				got += (math.Exp2(s.grade) - 1) / math.Log2(float64(r+2))
			}
			grades = append(grades, s.grade)
		}
		slices.Sort(grades)
		slices.Reverse(grades)
		for r := range min(k, len(grades)) {
			best += (math.Exp2(grades[r]) - 1) / math.Log2(float64(r+2))
		}
		return got / best
	}
	v[NDCG], v[Condensed] = ndcg(all), ndcg(judged)
	relevant := 0.0
	for r, s := range all {
		if s.grade > 0 {
			relevant++
			v[LogRank] += math.Log(float64(r + 1))
			if r < k {
				if v[Recall]++; v[MRR] == 0 {
					v[MRR] = 1 / float64(r+1)
				}
			}
		}
	}
	v[Recall] /= relevant
	v[LogRank] /= relevant
	return v
}

func TestRankAgreesWithSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n, d, k = 1100, 5, 40 // three blocks
	for _, apart := range []bool{true, false} {
		c := &Corpus{Documents: rows{normal(rng, n, d)}}
		queries := n
		if apart {
			queries = 30
			c.Queries = rows{normal(rng, queries, d)}
		}
		var list []asked
		for i := range 25 {
			a := asked{query: i}
			for _, doc := range rng.Perm(n)[:6] {
				if doc != i {
					a.judged = append(a.judged, feedback.Judgement{Query: i, Document: doc, Grade: float64(rng.IntN(3))})
				}
			}
			a.judged[0].Grade, a.judged[1].Grade = 1, 0
			list = append(list, a)
		}
		l := normal(rng, 4, d)
		m := normal(rng, d, d)
		var methods []method
		for _, op := range Operators() {
			w := &comparing{Options: Options{Operator: op}}
			for _, s := range []Search{AsItIs, ByAngle, ByLength, QueryMap, Angle, Distance} {
				methods = append(methods, w.method(Way{"x", s}, m, l))
			}
		}
		got, err := rank(t.Context(), c, methods, list, nil, k)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range methods {
			for j, q := range list {
				want := obvious(c, m, q, k)
				for v := range want {
					if math.Abs(got[i][j][v]-want[v]) > 1e-9 { // sums in another order
						t.Fatalf("method %d (%v), query %d, measure %d: %v, want %v", i, m.Way, j, v, got[i][j][v], want[v])
					}
				}
			}
		}
		among := slices.Sorted(slices.Values(rng.Perm(n)[:700]))
		for _, q := range list {
			for _, j := range q.judged {
				among = append(among, j.Document)
			}
		}
		slices.Sort(among)
		among = slices.Compact(among)
		some, err := rank(t.Context(), c, methods[:1], list, among, k)
		if err != nil {
			t.Fatal(err)
		}
		small := &Corpus{Documents: c.Documents, Queries: c.Queries}
		x, _ := c.Documents.Select(among)
		small.Documents = rows{x}
		if small.Queries == nil {
			small.Queries = c.Documents
		}
		for j, q := range list {
			place := asked{query: q.query}
			for _, v := range q.judged {
				v.Document, _ = slices.BinarySearch(among, v.Document)
				place.judged = append(place.judged, v)
			}
			if at, is := slices.BinarySearch(among, q.query); is && c.Queries == nil {
				_ = at
				continue // it would find itself
			}
			if want := obvious(small, methods[0], place, k); math.Abs(some[0][j][NDCG]-want[NDCG]) > 1e-9 {
				t.Errorf("among some documents, query %d: %v, want %v", j, some[0][j][NDCG], want[NDCG])
			}
		}
		_ = queries
	}
}

// Copies of a document share their places.
func TestRankTies(t *testing.T) {
	x := mat.NewDense(700, 2, nil)
	for i := range 700 {
		x.SetRow(i, []float64{1, 0})
	}
	x.SetRow(5, []float64{2, .1}) // better for the query, by its inner product
	c := &Corpus{Documents: rows{x}, Queries: rows{mat.NewDense(1, 2, []float64{1, 0})}}
	w := &comparing{Options: Options{Operator: InnerProduct}}
	got, err := rank(t.Context(), c, []method{w.method(Way{"", AsItIs}, nil, nil)}, []asked{{0, []feedback.Judgement{{Query: 0, Document: 600, Grade: 1}}}}, nil, 10)
	if err != nil {
		t.Fatal(err)
	}
	blocks := []ranking.Block{{Ahead: 1, Size: 699, Gains: []float64{1}}}
	if v, want := got[0][0], ranking.NDCG(blocks, 10); v[NDCG] != want || v[LogRank] != ranking.LogRank(blocks) || v[Recall] != 9./699 || v[Condensed] == v[Condensed] {
		t.Errorf("%v, want nDCG %v", v, want)
	}
}

// A document of zeros comes last under the cosine, and is left out with a note where it is judged.
func TestZeros(t *testing.T) {
	c := topics(1, 60, false)
	c.Documents.(rows).SetRow(c.Judged[0].Document, make([]float64, 12))
	r, err := Compare(t.Context(), c, Options{Learners: []string{"oasis"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Queries) != 59 || len(r.Notes) != 2 {
		t.Errorf("%d queries, notes %q", len(r.Queries), r.Notes)
	}
}

// Numbers whose squares overflow are refused; those whose inverse does have a direction.
func TestSizes(t *testing.T) {
	base := topics(1, 60, false)
	scaled := func(by float64) *Corpus {
		var x, q mat.Dense
		x.Scale(by, base.Documents.(rows).Dense)
		q.Scale(by, base.Queries.(rows).Dense)
		return &Corpus{rows{&x}, rows{&q}, base.Judged}
	}
	for _, op := range Operators() {
		for _, by := range []float64{1e160, 1e307} {
			if _, err := Compare(t.Context(), scaled(by), Options{Operator: op, Learners: []string{"oasis"}}); err == nil || !strings.Contains(err.Error(), "squared lengths overflow") {
				t.Errorf("%s, times %v: %v", op, by, err)
			}
		}
	}
	w := &comparing{Options: Options{Operator: Cosine}}
	ways := []method{w.method(Way{"", AsItIs}, nil, nil)}
	ready, err := ready(base, Options{Folds: 2, Operator: Cosine})
	if err != nil {
		t.Fatal(err)
	}
	of := func(by float64) Values {
		values, err := rank(t.Context(), scaled(by), ways, ready.asked, nil, 10)
		if err != nil {
			t.Fatal(err)
		}
		return values[0][0]
	}
	if got, want := of(1e-309), of(1); !slices.Equal(got[:], want[:]) {
		t.Errorf("%v of tiny numbers, want %v", got, want)
	}
	x := mat.NewDense(1, 2, []float64{5e-324, 0})
	if matrix.ToUnit(x); x.At(0, 0) != 1 || x.At(0, 1) != 0 {
		t.Errorf("direction %v", x.RawRowView(0))
	}
}

// broken are rows that cannot be read from some moment on.
type broken struct {
	rows
	left *atomic.Int64
}

func (b broken) ReadRows(dst []float64, first int) error {
	if b.left.Add(-1) < 0 {
		return errors.New("the disk is gone")
	}
	return b.rows.ReadRows(dst, first)
}

// A failure is told once, with the part of the queries, and others stop.
func TestFailure(t *testing.T) {
	c := topics(1, 60, false)
	left := &atomic.Int64{}
	left.Store(123) // the judged documents are read first
	c.Documents = broken{c.Documents.(rows), left}
	_, err := Compare(t.Context(), c, Options{Learners: []string{"itml"}})
	if err == nil || !strings.HasPrefix(err.Error(), "part ") || !strings.HasSuffix(err.Error(), ": the disk is gone") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	for _, folds := range []int{31, math.MaxInt/2 + 1, math.MaxInt} {
		if _, err := Compare(t.Context(), topics(1, 60, false), Options{Folds: folds}); err == nil || !strings.Contains(err.Error(), "is not allowed, want 2 to 30") {
			t.Errorf("%d folds: %v", folds, err)
		}
	}
}

// What helps is found, and where it is not there, nothing is: of 20 seeds each. At the level of .05 two-sided, "take" has one chance in 40 on shuffled judgements; more than
// 3 of 20 have a chance below 2 in 1,000.
func TestVerdicts(t *testing.T) {
	if testing.Short() {
		t.Skip("forty comparisons")
	}
	take := map[bool]int{}
	for seed := range uint64(20) {
		for _, shuffled := range []bool{false, true} {
			r, err := Compare(t.Context(), topics(seed, 150, shuffled), Options{Learners: []string{"oasis", "itml"}, Seed: seed + 1})
			if err != nil {
				t.Fatal(err)
			}
			if r.Take {
				take[shuffled]++
			}
		}
	}
	t.Logf("take: %d of 20 true, %d of 20 shuffled", take[false], take[true])
	if take[false] < 19 || take[true] > 3 {
		t.Errorf("take: %d of 20 true, %d of 20 shuffled", take[false], take[true])
	}
}

// The answer has the same bits for every number of cores, and does not depend on the order of judgements.
func TestSameAnswer(t *testing.T) {
	c := topics(4, 60, false)
	o := Options{Learners: []string{"oasis", "lego"}}
	want, err := Compare(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	slices.Reverse(c.Judged)
	got, err := Compare(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Rows, want.Rows) || !reflect.DeepEqual(got.Nested, want.Nested) {
		t.Error("the answers differ")
	}
}

// Documents that are queries for each other are never learned from while held out.
func TestItemsAreHeldOut(t *testing.T) {
	w := &comparing{Options: Options{Seed: 1, Folds: 2}, Corpus: &Corpus{Documents: rows{normal(rand.New(rand.NewPCG(1, 1)), 9, 2)}}}
	judged, notes := OfPairs([]metric.Link{{I: 0, J: 1, Label: 1}, {I: 1, J: 2, Label: 1}, {I: 2, J: 3, Label: -1}, {I: 3, J: 4, Label: 1}, {I: 3, J: 4, Label: -1}, {I: 5, J: 6, Label: 1}})
	if len(judged) != 4 || len(notes) != 1 {
		t.Fatalf("%v, %q", judged, notes)
	}
	of := map[int][]feedback.Judgement{}
	for _, j := range judged {
		of[j.Query] = append(of[j.Query], j)
	}
	if err := w.look(of); err != nil {
		t.Fatal(err)
	}
	var train, held []asked
	for q := range 7 {
		a := asked{query: q}
		for _, j := range judged {
			if j.Query == q {
				a.judged = append(a.judged, j)
			}
		}
		if q == 2 || q == 5 {
			held = append(held, a)
		} else {
			train = append(train, a)
		}
	}
	learned, err := w.training(0, train, held)
	if err != nil {
		t.Fatal(err)
	}
	var used []int
	for _, l := range learned.links {
		used = append(used, l.I, l.J)
	}
	for _, c := range learned.list {
		used = append(used, c.A, c.Near, c.Far)
	}
	if slices.Contains(used, 2) || slices.Contains(used, 5) {
		t.Errorf("held-out items are learned from: %v, %v", learned.links, learned.list)
	}
}

func TestComparisonsAsJudgements(t *testing.T) {
	judged, notes := OfComparisons([]metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 0, Near: 2, Far: 3}, {A: 0, Near: 1, Far: 3}})
	want := []feedback.Judgement{{Query: 0, Document: 1, Grade: 1}, {Query: 0, Document: 3}}
	if !slices.Equal(judged, want) || len(notes) != 1 {
		t.Errorf("%v, %q", judged, notes)
	}
}

// A README says of the way that is written what it gets, also where that is not the one to take; and an index of pgvector holds its vectors.
func TestReadme(t *testing.T) {
	c := topics(2, 150, false)
	r, err := Compare(t.Context(), c, Options{Learners: []string{"oasis", "itml"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.SentenceOf(r.Rows[r.Chosen].Way); got != r.Sentence() {
		t.Errorf("of the way to take: %s", got)
	}
	other := r.SentenceOf(Way{"oasis", QueryMap})
	if !strings.HasPrefix(other, "oasis, query map was asked for: on 150 queries") || !strings.HasSuffix(other, "The verdict was: "+r.Sentence()) {
		t.Errorf("of another way: %s", other)
	}
	for d, want := range map[int]string{2000: "vector(2000)", 2001: "halfvec(2001)"} {
		dir := t.TempDir()
		if err := (&Adapter{Way{"itml", Distance}, Euclidean, mat.NewDense(d, 1, nil)}).Write(dir, other); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, ReadmeFile))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "add column learned "+want+";") || !strings.Contains(string(text), "\n"+other+"\n") {
			t.Errorf("README of %d numbers:\n%s", d, text)
		}
	}
}

func ExampleCompare() {
	c := topics(2, 150, false)
	r, err := Compare(context.Background(), c, Options{Learners: []string{"oasis", "itml"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Verdict(), r.Rows[r.Chosen].Way)
	// Output: take itml, Euclid of Lx
}

// Copies of a query are one, whatever their lengths under the cosine: on judgements that say nothing they would otherwise be learned from and scored by.
func TestCopiesOfQueries(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const queries, documents, copies = 40, 300, 3
	take := 0
	for seed := range uint64(8) {
		x := normal(rng, queries*copies, 16)
		c := &Corpus{Documents: rows{normal(rng, documents, 16)}, Queries: rows{x}}
		for q := range queries {
			d := rng.IntN(documents)
			for k := range copies {
				row := x.RawRowView(q*copies + k)
				copy(row, x.RawRowView(q*copies))
				floats.Scale(float64(1+k), row)
				c.Judged = append(c.Judged, feedback.Judgement{Query: q*copies + k, Document: d, Grade: 1})
			}
		}
		r, err := Compare(t.Context(), c, Options{Learners: []string{"oasis"}, Seed: seed + 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Queries) != queries || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasSuffix(n, "count as one with it: 80") }) {
			t.Fatalf("%d queries, notes %q", len(r.Queries), r.Notes)
		}
		if r.Take {
			take++
		}
	}
	if take > 1 { // by chance one in forty; it was eight of eight
		t.Errorf("take: %d of 8", take)
	}
}

// The answer does not depend on the order of documents and queries, as long as none is drawn.
func TestOrderOfRows(t *testing.T) {
	c := topics(6, 60, false)
	o := Options{Learners: []string{"oasis", "pa"}}
	want, err := Compare(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 2))
	turned := &Corpus{}
	var to [2][]int
	for side, from := range []model.Source{c.Queries, c.Documents} {
		perm := rng.Perm(from.Rows())
		to[side] = make([]int, len(perm))
		for at, row := range perm {
			to[side][row] = at
		}
		x, _ := from.Select(perm)
		if side == 0 {
			turned.Queries = rows{x}
		} else {
			turned.Documents = rows{x}
		}
	}
	for _, j := range c.Judged {
		turned.Judged = append(turned.Judged, feedback.Judgement{Query: to[0][j.Query], Document: to[1][j.Document], Grade: j.Grade})
	}
	got, err := Compare(t.Context(), turned, o)
	if err != nil {
		t.Fatal(err)
	}
	for k := range want.Rows {
		for m := range measures {
			if a, b := got.Rows[k].Mean[m].Mean, want.Rows[k].Mean[m].Mean; math.Abs(a-b) > 1e-9 { // products of other blocks
				t.Errorf("%v, measure %d: %v, want %v", want.Rows[k].Way, m, a, b)
			}
		}
	}
}

// Documents that all have a large part in common are noted.
func TestMuchShared(t *testing.T) {
	for _, by := range []float64{0, 30} {
		c := topics(3, 40, false)
		for _, of := range []model.Source{c.Documents, c.Queries} {
			for i := range of.Rows() {
				of.(rows).Set(i, 5, by+of.(rows).At(i, 5))
			}
		}
		w, err := ready(c, Options{Operator: Cosine, Folds: 2})
		if err != nil {
			t.Fatal(err)
		}
		if noted := strings.Contains(strings.Join(w.notes, "\n"), "the mean cosine of two judged documents is 0.9"); noted != (by > 0) {
			t.Errorf("common part %v: notes %q", by, w.notes)
		}
	}
}
