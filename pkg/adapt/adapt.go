// Package adapt makes the search in an index of vectors better by what people judged or clicked. It compares ways to search: the index as it is; a linear map of the query alone,
// which needs no new index; and a new index of mapped vectors. Each is scored as it will be used: queries are held out, and the whole corpus is ranked for them.
//
// # How it is built
//
// A way to search is a mapping of queries, a mapping of documents, and how their images are compared. One pass over the documents ranks them for all ways and all held-out
// queries (rank). What is learned comes from package model, and from similarity.OASIS.
package adapt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/internal/closest"
	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/internal/plural"
	"metriclab/internal/vector"
	"metriclab/pkg/feedback"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/similarity"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/random"
)

// Corpus is what is searched, and what is known of it.
type Corpus struct {
	Documents model.Source
	// Queries are what is searched for; nil means that documents are, each among the others.
	Queries model.Source
	// Judged says which documents are relevant to queries, by their rows: a grade of 0 is not. A pair is judged once.
	Judged []feedback.Judgement
}

// searched are the vectors of queries.
func (c *Corpus) searched() model.Source {
	if c.Queries == nil {
		return c.Documents
	}
	return c.Queries
}

// Operator is by what the index of today ranks.
type Operator string

// The operators.
const (
	Cosine       Operator = "cosine"
	InnerProduct Operator = "ip"
	Euclidean    Operator = "l2"
)

// Operators lists them.
func Operators() []Operator { return []Operator{Cosine, InnerProduct, Euclidean} }

// Search is how documents are ranked.
type Search string

// The ways to search. x is what the operator ranks by today: of the cosine, a vector divided by its length.
const (
	AsItIs   Search = "as it is"
	ByAngle  Search = "cosine of x"  // nothing learned, by another operator: an index anew
	ByLength Search = "Euclid of x"  // nothing learned, by another operator: an index anew
	QueryMap Search = "query map"    // Mq in place of q, in the index as it is
	Angle    Search = "cosine of Lx" // both mapped: a new index
	Distance Search = "Euclid of Lx" // both mapped: a new index
)

// Way is a way to search.
type Way struct {
	Learner string // "" where nothing is learned
	Search  Search
}

// NewIndex tells whether documents must be mapped and indexed anew.
func (w Way) NewIndex() bool { return w.Search != AsItIs && w.Search != QueryMap }

// String says what it is: "oasis, query map".
func (w Way) String() string { return strings.TrimPrefix(w.Learner+", "+string(w.Search), ", ") }

// The words for ways in ParseWay.
var searchWords = map[string]Search{"query": QueryMap, "cosine": Angle, "euclid": Distance}

// Flag returns the way as ParseWay reads it.
func (w Way) Flag() string {
	for word, search := range searchWords {
		if search == w.Search {
			return w.Learner + ":" + word
		}
	}
	return ""
}

// ParseWay reads a way to search that learns, such as oasis:query, itml:cosine or itml:euclid.
func ParseWay(text string) (Way, error) {
	learner, search, _ := strings.Cut(strings.ToLower(text), ":")
	way := Way{learner, searchWords[search]}
	if way.Learner == "" || !slices.Contains((Options{Learners: Learners()}).ways(), way) {
		return Way{}, fmt.Errorf("%q is not allowed, want LEARNER:query, LEARNER:cosine or LEARNER:euclid, with one of %s; oasis has a query map alone", text, strings.Join(Learners(), ", "))
	}
	return way, nil
}

// Options say what is compared, and how.
type Options struct {
	Operator Operator // "" means Cosine
	Learners []string // of Learners; nil means Defaults
	K        int      // documents that a search shows; 0 means 10
	Folds    int      // parts of the queries, each held out once; 0 means 5, otherwise at least 2
	Seed     uint64   // 0 means 1
	// Progress is told of fits and rankings.
	Progress model.Progress
}

// Defaults are the learners that are compared if none are named.
var Defaults = []string{oasis, "lego", "pa", "itml"}

const oasis = "oasis"

// Learners returns the names of those that can be compared: OASIS, whose similarity is a query map, and the learners of a metric from pairs of vectors.
func Learners() []string {
	out := []string{oasis}
	for _, e := range model.VectorLearners() {
		out = append(out, e.Name)
	}
	return out
}

// Row is what a way to search gets.
type Row struct {
	Way
	// Values are those of each held-out query, in the order of Result.Queries.
	Values []Values
	// Mean is of the measures, Over that of their differences from the index as it is, paired by query. Of Condensed only those queries count that have it. The intervals are at
	// 95 %, but those of the differences in the two measures that decide, NDCG and LogRank, which are at 97.5 %.
	Mean, Over [measures]judge.Summary
}

// Result is what Compare finds.
type Result struct {
	Options
	// Queries are the rows of those that were held out once each, of equal vectors the first one; Judged how much is judged of them; Drawn the documents that were drawn at random since
	// nothing was judged less relevant.
	Queries       []int
	Judged, Drawn int
	// Rows are the ways to search, the index as it is first.
	Rows []Row
	// Nested is the procedure that takes the best way within the queries that it learns from, in each fold, and is scored on those held out: what choosing is worth.
	Nested Row
	// Chosen is the index in Rows of the way to take: the best; or one that needs no new index, if it is better than the index as it is, and not worse than the best.
	Chosen int
	// Take says that Nested is better than the index as it is, and so is what was chosen.
	Take  bool
	Notes []string
}

// Resolved returns o with its defaults filled in. It returns an error that names each field with a value that is not allowed, and what is.
func (o Options) Resolved() (Options, error) {
	o.Operator, o.K, o.Folds, o.Seed = cmp.Or(o.Operator, Cosine), cmp.Or(o.K, 10), cmp.Or(o.Folds, 5), cmp.Or(o.Seed, 1)
	if o.Learners == nil {
		o.Learners = Defaults
	}
	o.Learners = slices.Clone(o.Learners)
	var errs []error
	if !slices.Contains(Operators(), o.Operator) {
		errs = append(errs, fmt.Errorf("operator: %q is not allowed, want cosine, ip or l2", o.Operator))
	}
	for i, name := range o.Learners {
		o.Learners[i] = strings.ToLower(name)
		switch {
		case !slices.Contains(Learners(), o.Learners[i]):
			errs = append(errs, fmt.Errorf("learners: %q is not known, want some of %s%s", name, strings.Join(Learners(), ", "), closest.Hint(name, Learners())))
		case slices.Contains(o.Learners[:i], o.Learners[i]):
			errs = append(errs, fmt.Errorf("learners: %s is named twice", name))
		}
	}
	if len(o.Learners) == 0 {
		errs = append(errs, errors.New("learners: none is named, want at least one"))
	}
	if o.K < 1 {
		errs = append(errs, fmt.Errorf("k: %d is not allowed, want at least 1", o.K))
	}
	if o.Folds < 2 {
		errs = append(errs, fmt.Errorf("folds: %d is not allowed, want at least 2", o.Folds))
	}
	return o, errors.Join(errs...)
}

// comparing is a comparison that runs.
type comparing struct {
	Options
	*Corpus
	asked []asked
	notes []string
	print [2]map[int]uint64 // of the rows of queries and of documents that are judged
}

// ready checks what is judged and leaves out what cannot be used.
func ready(c *Corpus, o Options) (*comparing, error) {
	w := &comparing{Options: o, Corpus: c}
	queries, documents := c.searched().Rows(), c.Documents.Rows()
	if a, b := c.searched().Dim(), c.Documents.Dim(); a != b {
		return nil, fmt.Errorf("adapt: queries have %d numbers and documents %d, want the same", a, b)
	}
	of := map[int][]feedback.Judgement{}
	type pair struct{ query, document int }
	seen := map[pair]bool{}
	for i, j := range c.Judged {
		p := pair{j.Query, j.Document}
		switch {
		case j.Query < 0 || j.Query >= queries || j.Document < 0 || j.Document >= documents:
			return nil, fmt.Errorf("adapt: judgement %d names a query or document that is not there", i)
		case !(j.Grade >= 0 && j.Grade <= feedback.MaxGrade):
			return nil, fmt.Errorf("adapt: judgement %d: grade: %v is not allowed, want 0 to %d", i, j.Grade, feedback.MaxGrade)
		case seen[p]:
			return nil, fmt.Errorf("adapt: judgement %d judges a document of a query twice", i)
		case c.Queries == nil && j.Query == j.Document:
			return nil, fmt.Errorf("adapt: judgement %d judges document %d for itself", i, j.Query)
		}
		seen[p] = true
		of[j.Query] = append(of[j.Query], j)
	}
	if err := w.look(of); err != nil {
		return nil, err
	}
	// Queries with equal vectors are one: else what is learned from the one would be scored by the other. Of two grades of a document the higher one counts.
	first := map[uint64]int{} // the row of each
	grades := map[int]map[int]float64{}
	without, zeros, copies := 0, 0, 0
	for _, q := range slices.Sorted(maps.Keys(of)) {
		at, copied := first[w.print[0][q]]
		if !copied {
			at = q
			first[w.print[0][q]], grades[at] = at, map[int]float64{}
		}
		found := false
		for _, j := range of[q] {
			switch {
			case w.print[0][q] == 0 || w.print[1][j.Document] == 0:
				zeros++
			case c.Queries == nil && j.Document == at: // of a copy
			default:
				grades[at][j.Document] = max(grades[at][j.Document], j.Grade)
				found = true
			}
		}
		if copied && found {
			copies++
		}
	}
	for _, q := range slices.Sorted(maps.Keys(grades)) {
		a, relevant := asked{query: q}, false
		for d, grade := range grades[q] {
			a.judged = append(a.judged, feedback.Judgement{Query: q, Document: d, Grade: grade})
			relevant = relevant || grade > 0
		}
		if relevant {
			w.asked = append(w.asked, a)
		} else {
			without++
		}
	}
	for _, q := range w.asked {
		slices.SortFunc(q.judged, func(a, b feedback.Judgement) int {
			return cmp.Or(cmp.Compare(w.print[1][a.Document], w.print[1][b.Document]), cmp.Compare(a.Document, b.Document))
		})
	}
	slices.SortFunc(w.asked, func(a, b asked) int { return cmp.Compare(w.print[0][a.query], w.print[0][b.query]) }) // whatever their rows
	if copies > 0 {
		w.notes = append(w.notes, fmt.Sprintf("queries whose vector is that of an earlier one, and which count as one with it: %d", copies))
	}
	if zeros > 0 {
		w.notes = append(w.notes, fmt.Sprintf("left out, since a vector of zeros has no direction: %s", plural.Of(zeros, "judgement")))
	}
	if without > 0 {
		w.notes = append(w.notes, fmt.Sprintf("left out, since no document is relevant to them: %d of %d queries", without, without+len(w.asked)))
	}
	switch n := len(w.asked); {
	case n < judge.MinTrials:
		return nil, fmt.Errorf("adapt: %d queries with a relevant document, want at least %d", n, judge.MinTrials)
	case o.Folds > n/2:
		return nil, fmt.Errorf("adapt: folds: %d is not allowed, want 2 to %d, half of the queries with a relevant document", o.Folds, n/2)
	}
	return w, nil
}

// look reads the queries and documents that are judged, and keeps their fingerprints.
func (w *comparing) look(of map[int][]feedback.Judgement) error {
	var rows [2][]int
	for q, judged := range of {
		rows[0] = append(rows[0], q)
		for _, j := range judged {
			rows[1] = append(rows[1], j.Document)
		}
	}
	sum := make([]float64, w.Documents.Dim())
	for side, from := range []model.Source{w.searched(), w.Documents} {
		w.print[side] = map[int]uint64{}
		slices.Sort(rows[side])
		x := make([]float64, from.Dim())
		for _, row := range slices.Compact(rows[side]) {
			if err := from.ReadRows(x, row); err != nil {
				return err
			}
			w.print[side][row] = w.fingerprint(x)
			if side == 1 {
				floats.Add(sum, x)
			}
		}
	}
	if n := float64(len(w.print[1])); w.Operator == Cosine && n > 1 {
		if shared := (floats.Dot(sum, sum) - n) / (n * (n - 1)); shared > muchShared {
			w.notes = append(w.notes, fmt.Sprintf("the mean cosine of two judged documents is %.2f: what all share tells nothing, and is turned by what is learned; subtract the mean of the documents from all vectors, and index these", shared))
		}
	}
	return nil
}

// muchShared is the mean cosine from which on vectors are noted to have much in common.
const muchShared = 0.5

// fingerprint returns a number that vectors have in common which the operator takes for equal but for rounding, and 0 of one that has no place in the index. It changes x.
func (w *comparing) fingerprint(x []float64) uint64 {
	if w.Operator == Cosine {
		if vector.IsZero(x) {
			return 0
		}
		matrix.ToUnit(mat.NewDense(1, len(x), x))
	}
	const kept = 1 << 29 // below it lie the bits that a float32 does not have
	for i, v := range x {
		x[i] = math.Float64frombits((math.Float64bits(v) + kept/2) &^ (kept - 1))
	}
	return max(vector.Hash(x), 1)
}

// Compare learns from a part of the queries at a time, and ranks all documents for the others, in each way to search. It returns an error that names the field if an option is
// not allowed, an error if too little is judged, those of the learners and of the files, and that of ctx once it is done.
func Compare(ctx context.Context, c *Corpus, o Options) (*Result, error) {
	o, err := o.Resolved()
	if err != nil {
		return nil, err
	}
	w, err := ready(c, o)
	if err != nil {
		return nil, err
	}
	fold := make([]int, len(w.asked))
	for i, at := range w.stream("folds", 0).Perm(len(fold)) {
		fold[at] = i % o.Folds
	}
	ways := w.ways()
	r := &Result{Options: o, Rows: make([]Row, len(ways)), Nested: Row{Values: make([]Values, len(w.asked))}}
	for _, q := range w.asked {
		r.Queries = append(r.Queries, q.query)
		r.Judged += len(q.judged)
	}
	for k, way := range ways {
		r.Rows[k] = Row{Way: way, Values: make([]Values, len(w.asked))}
	}
	steps := &steps{told: o.Progress, total: o.Folds * 2 * (len(o.Learners) + 1)}
	drawn := make([]int, o.Folds)
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cores.Do(o.Folds, func(f int) {
		if within.Err() != nil { // another part has failed
			return
		}
		var train, test []asked
		var places []int
		for i, q := range w.asked {
			if fold[i] == f {
				test, places = append(test, q), append(places, i)
			} else {
				train = append(train, q)
			}
		}
		err := func() error {
			chosen, err := w.choice(within, f, train, test, steps)
			if err != nil {
				return err
			}
			methods, n, err := w.learn(within, f, train, test, steps)
			if err != nil {
				return err
			}
			drawn[f] = n
			values, err := rank(within, c, methods, test, nil, o.K)
			steps.add()
			for k := range values {
				for i, v := range values[k] {
					r.Rows[k].Values[places[i]] = v
					if k == chosen {
						r.Nested.Values[places[i]] = v
					}
				}
			}
			return err
		}()
		if err != nil {
			stop(fmt.Errorf("part %d of %d: %w", f+1, o.Folds, err)) // the first counts: the others stop by it
		}
	})
	if err := cmp.Or(ctx.Err(), context.Cause(within)); err != nil {
		return nil, err
	}
	r.Drawn, r.Notes = slices.Max(drawn), w.notes
	for k := range r.Rows {
		r.Rows[k].sum(r.Rows[0].Values)
	}
	r.Nested.sum(r.Rows[0].Values)
	r.Chosen = r.choose()
	r.Nested.Way = Way{Search: "as chosen within"}
	chosen, _ := better(r.Rows[r.Chosen].Values, r.Rows[0].Values)
	nested, _ := better(r.Nested.Values, r.Rows[0].Values)
	r.Take = nested && chosen
	return r, nil
}

// Verdict is one word: take or leave.
func (r *Result) Verdict() string {
	if r.Take {
		return "take"
	}
	return "leave"
}

// Sentence says what was found, and what follows.
func (r *Result) Sentence() string {
	over, way := r.Nested.Over, r.Rows[r.Chosen].Way
	found := fmt.Sprintf("on %d queries held out, what was chosen within the others changes nDCG@%d by %s percentage points and the rank of what is relevant by %s", len(r.Queries), r.K, over[NDCG].Percent(), Change(over[LogRank]))
	if !r.Take {
		return "leave: " + found + "."
	}
	index := "the index stays as it is"
	if way.NewIndex() {
		index = "documents are mapped and indexed anew"
	}
	page := ""
	if over[NDCG].Side() != judge.For {
		page = fmt.Sprintf(" That is said of ranks; whether the first %d documents are better, these judgements do not tell.", r.K)
	}
	return fmt.Sprintf("take %s (%s): %s.%s", way, index, found, page)
}

// SentenceOf says what was found of a way that was compared: Sentence of the one to take, of another what it gets, and the verdict.
func (r *Result) SentenceOf(way Way) string {
	at := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Way == way })
	if at < 0 || r.Take && at == r.Chosen {
		return r.Sentence()
	}
	over := r.Rows[at].Over
	return fmt.Sprintf("%s was asked for: on %d queries held out it changes nDCG@%d by %s percentage points and the rank of what is relevant by %s. The verdict was: %s", way, len(r.Queries), r.K, over[NDCG].Percent(), Change(over[LogRank]), r.Sentence())
}

// Change says a difference of LogRank as a change in per cent, with its interval if it has one: "-17.1 % (-20.3 to -13.7)".
func Change(s judge.Summary) string {
	percent := func(log float64) float64 { return 100 * math.Expm1(log) }
	if !s.HasInterval {
		return fmt.Sprintf("%+.1f %%", percent(s.Mean))
	}
	return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", percent(s.Mean), percent(s.Mean-s.Half), percent(s.Mean+s.Half))
}

// sum fills in means, and differences from the values of the index as it is.
func (r *Row) sum(base []Values) {
	for m := range measures {
		var values, over []float64
		for i, v := range r.Values {
			if v[m] == v[m] {
				values, over = append(values, v[m]), append(over, v[m]-base[i][m])
			}
		}
		r.Mean[m], r.Over[m] = judge.Summarize(values), judge.Summarize(over)
		if m == NDCG || m == LogRank {
			r.Over[m] = judge.SummarizeAt(over, level)
		}
	}
}

// The two measures that decide, each at the level of a half, since there are two: NDCG of what is seen, and LogRank of what was clicked wherever it lies.
const level = 0.05 / 2

// better tells whether values are better than those of another way: by the paired interval over queries in one of the measures that decide, and worse in neither. The score is the
// sum of the mean differences, each in standard deviations of the measure over the queries. Of two ways that are both better, the one that gains more has the higher score, not the
// one that is surer.
func better(values, than []Values) (better bool, score float64) {
	worse := false
	for _, m := range []int{NDCG, LogRank} {
		diff, base := make([]float64, len(values)), make([]float64, len(values))
		for i, v := range values {
			base[i] = than[i][m]
			if diff[i] = v[m] - base[i]; m == LogRank {
				diff[i] = -diff[i]
			}
		}
		s := judge.SummarizeAt(diff, level)
		better, worse = better || s.Side() == judge.For, worse || s.Side() == judge.Against
		if scale := stat.StdDev(base, nil); scale > 0 {
			score += s.Mean / scale
		}
	}
	return better && !worse, score
}

// best returns the way of the largest score against the index as it is, which comes first, among those that may be taken; 0 if there is none.
func best(values [][]Values, may func(k int) bool) (take int) {
	most := math.Inf(-1)
	for k := 1; k < len(values); k++ {
		if _, score := better(values[k], values[0]); may(k) && score > most {
			take, most = k, score
		}
	}
	return take
}

// choose is the choice of Result.Chosen.
func (r *Result) choose() int {
	dear := best(r.values(), func(k int) bool {
		gain, _ := better(r.Rows[k].Values, r.Rows[0].Values)
		return gain && r.learns(k)
	})
	if dear == 0 { // nothing is to be taken, and this is shown
		dear = best(r.values(), r.learns)
	}
	cheap := r.WithoutIndex()
	if cheap == 0 {
		return dear
	}
	if gain, _ := better(r.Rows[dear].Values, r.Rows[cheap].Values); gain {
		return dear
	}
	return cheap
}

// WithoutIndex returns the best row that needs no new index and is better than the index as it is; 0 if there is none.
func (r *Result) WithoutIndex() int {
	return best(r.values(), func(k int) bool {
		gain, _ := better(r.Rows[k].Values, r.Rows[0].Values)
		return gain && r.learns(k) && !r.Rows[k].NewIndex()
	})
}

// learns tells whether a row may be chosen.
func (r *Result) learns(k int) bool { return r.Rows[k].Learner != "" }

func (r *Result) values() (all [][]Values) {
	for _, row := range r.Rows {
		all = append(all, row.Values)
	}
	return all
}

// ways are those that are compared, the index as it is first.
func (o Options) ways() []Way {
	out := []Way{{"", AsItIs}}
	if o.Operator != Cosine {
		out = append(out, Way{"", ByAngle})
	}
	if o.Operator != Euclidean {
		out = append(out, Way{"", ByLength})
	}
	for _, l := range o.Learners {
		out = append(out, Way{l, QueryMap})
		if l != oasis {
			out = append(out, Way{l, Angle}, Way{l, Distance})
		}
	}
	return out
}

// choice learns from three quarters of the queries and chooses a way by the last one. Documents are ranked among mostInner of them, so that choosing does not cost as much as what it is for.
func (w *comparing) choice(ctx context.Context, f int, train, held []asked, steps *steps) (int, error) {
	ways := w.ways()
	learns := func(k int) bool { return ways[k].Learner != "" }
	if last := len(ways) - 1; !learns(last - 1) { // there is one to choose from
		steps.add()
		steps.add()
		return last, nil
	}
	const part, mostInner = 4, 10_000
	rng := w.stream("choice", f)
	order := rng.Perm(len(train))
	n := max(1, len(train)/part)
	slices.Sort(order[:n])
	var inner, outer []asked
	for i, q := range train {
		if _, held := slices.BinarySearch(order[:n], i); held {
			inner = append(inner, q)
		} else {
			outer = append(outer, q)
		}
	}
	methods, _, err := w.learn(ctx, f, outer, slices.Concat(inner, held), steps)
	if err != nil {
		return 0, err
	}
	var among []int
	if total := w.Documents.Rows(); total > mostInner {
		for _, q := range inner {
			for _, j := range q.judged {
				among = append(among, j.Document)
			}
		}
		for range mostInner {
			among = append(among, rng.IntN(total))
		}
		slices.Sort(among)
		among = slices.Compact(among)
	}
	values, err := rank(ctx, w.Corpus, methods, inner, among, w.K)
	steps.add()
	if err != nil {
		return 0, err
	}
	return best(values, learns), nil
}

// stream is a source of random numbers of its own for each purpose and fold.
func (w *comparing) stream(purpose string, f int) *rand.Rand {
	return random.Seed{Base: w.Seed, Experiment: "adapt", Trial: f}.Stream(purpose)
}

// steps tells of progress.
type steps struct {
	mu          sync.Mutex
	done, total int
	told        model.Progress
}

func (s *steps) add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done++; s.told != nil {
		s.told(s.done, s.total)
	}
}

// learn makes the methods of all ways from what is judged of queries; held are those of which nothing may be learned.
func (w *comparing) learn(ctx context.Context, f int, train, held []asked, steps *steps) (methods []method, drawn int, err error) {
	t, err := w.training(f, train, held)
	if err != nil {
		return nil, 0, err
	}
	var query, both *mat.Dense
	for _, way := range w.ways() {
		if way.Learner != "" && methods[len(methods)-1].Learner != way.Learner { // the first learns nothing
			if query, both, err = w.fit(ctx, t, way.Learner); err != nil {
				return nil, 0, err
			}
			steps.add()
		}
		methods = append(methods, w.method(way, query, both))
	}
	return methods, t.drawn, nil
}

// method is a way to search by a map of queries, M, or of both sides, L.
func (w *comparing) method(way Way, query, both *mat.Dense) method {
	x := mapping{unit: w.Operator == Cosine}
	m := method{Way: way, query: x, document: x, euclid: w.Operator == Euclidean}
	switch way.Search {
	case ByAngle:
		m.query, m.document, m.euclid = mapping{unit: true}, mapping{unit: true}, false
	case ByLength:
		m.query, m.document, m.euclid = mapping{}, mapping{}, true
	case QueryMap:
		m.query.a = query
	case Angle, Distance:
		x.a, x.after = both, way.Search == Angle
		m.query, m.document, m.euclid = x, x, way.Search == Distance
	}
	return m
}

// training is what is learned from: comparisons and pairs of the rows of x, queries before documents.
type training struct {
	x     model.Source
	list  []metric.Triplet
	links []metric.Link
	drawn int
}

// mostLower is of how many less relevant documents a relevant one is told apart, at most.
const mostLower = 8

// training compares each relevant document of a query with those that are less relevant, or with one that is drawn if there is none.
func (w *comparing) training(f int, train, held []asked) (*training, error) {
	t := &training{x: w.Documents}
	first := 0 // the row of document 0
	if w.Queries != nil {
		t.x, first = model.Behind(w.Queries, w.Documents), w.Queries.Rows()
	}
	out := map[uint64]bool{} // a document may be what is searched for, too
	for _, q := range held {
		out[w.print[0][q.query]] = true
	}
	rng := w.stream("training", f)
	for _, q := range train {
		judged := slices.DeleteFunc(slices.Clone(q.judged), func(j feedback.Judgement) bool { return out[w.print[1][j.Document]] })
		known := map[int]bool{}
		if w.Queries == nil {
			known[q.query] = true
		}
		for _, j := range judged {
			known[j.Document] = true
		}
		far := map[int]bool{}
		for _, near := range judged {
			if near.Grade == 0 {
				continue
			}
			var lower []int
			for _, j := range judged {
				if j.Grade < near.Grade {
					lower = append(lower, j.Document)
				}
			}
			rng.Shuffle(len(lower), func(a, b int) { lower[a], lower[b] = lower[b], lower[a] })
			if len(lower) == 0 {
				d, err := w.draw(rng, known, out)
				if err != nil {
					return nil, err
				}
				lower = []int{d}
				t.drawn++
			}
			t.links = append(t.links, metric.Link{I: q.query, J: first + near.Document, Label: metric.Similar})
			for _, d := range lower[:min(len(lower), mostLower)] {
				t.list = append(t.list, metric.Triplet{A: q.query, Near: first + near.Document, Far: first + d})
				if !far[d] {
					far[d] = true
					t.links = append(t.links, metric.Link{I: q.query, J: first + d, Label: metric.Dissimilar})
				}
			}
		}
	}
	if len(t.list) == 0 {
		return nil, errors.New("adapt: nothing is left to learn from once queries are held out: more judgements, or more folds, may help")
	}
	rng.Shuffle(len(t.list), func(a, b int) { t.list[a], t.list[b] = t.list[b], t.list[a] })
	rng.Shuffle(len(t.links), func(a, b int) { t.links[a], t.links[b] = t.links[b], t.links[a] })
	return t, nil
}

// draw returns a document that is not known, none of out, and not a vector of zeros where these have no place.
func (w *comparing) draw(rng *rand.Rand, known map[int]bool, out map[uint64]bool) (int, error) {
	const most = 1000
	x := make([]float64, w.Documents.Dim())
	for range most {
		d := rng.IntN(w.Documents.Rows())
		if known[d] {
			continue
		}
		if err := w.Documents.ReadRows(x, d); err != nil {
			return 0, err
		}
		if print := w.fingerprint(x); print != 0 && !out[print] {
			return d, nil
		}
	}
	return 0, errors.New("adapt: nearly all documents are judged for a query, and none of them less relevant than another: there is nothing to tell apart")
}

// fit learns a map of queries and, but for OASIS, one of both sides, of which the former is LᵀL.
func (w *comparing) fit(ctx context.Context, t *training, learner string) (query, both *mat.Dense, err error) {
	if learner == oasis {
		query, err = w.oasis(ctx, t)
		return query, nil, err
	}
	fitted, err := model.Fit(ctx, model.PairsOfVectors(t.x, t.links), model.Recipe{Learner: learner, Params: params[learner], Unit: w.Operator == Cosine, Seed: w.Seed}, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", learner, err)
	}
	m, err := fitted.(*model.Vectors).Factor()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", learner, err)
	}
	if both = m.Factor(); both == nil {
		both = identity(m.Dim())
	}
	return matrix.Mul(both.T(), both), both, nil
}

// params are those that differ here from the defaults: ten cycles over some thousand pairs, as the paper of ITML has them, in place of as many as there is time for.
var params = map[string]map[string]string{"itml": {"cycles": "10"}}

func identity(d int) *mat.Dense {
	out := mat.NewDense(d, d, nil)
	for i := range d {
		out.Set(i, i, 1)
	}
	return out
}

// oasis returns Wᵀ of one pass over the comparisons. Vectors are divided by their lengths under the cosine, else by the root of the mean square of these.
func (w *comparing) oasis(ctx context.Context, t *training) (*mat.Dense, error) {
	d := t.x.Dim()
	l, err := similarity.NewOASIS(d, similarity.OASISParams{})
	if err != nil {
		return nil, err
	}
	var rows []int
	for _, c := range t.list {
		rows = append(rows, c.A, c.Near, c.Far)
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	x, err := t.x.Select(rows)
	if err != nil {
		return nil, err
	}
	if w.Operator == Cosine {
		matrix.ToUnit(x)
	} else if size := mat.Norm(x, 2); size > 0 {
		x.Scale(floats.Norm([]float64{float64(len(rows))}, 2)/size, x)
	}
	row := func(i int) []float64 {
		at, _ := slices.BinarySearch(rows, i)
		return x.RawRowView(at)
	}
	for i, c := range t.list {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if _, err := l.Step(metric.Comparison{A: row(c.A), Near: row(c.Near), Far: row(c.Far)}); err != nil {
			return nil, err
		}
	}
	return mat.DenseCopyOf(l.Matrix().T()), nil
}

// OfPairs takes labelled pairs of documents as judgements of the later row for the earlier one, 1 of a similar pair; each pair once, since two that say the same of each other are no
// two observations. A pair with both labels counts by most of them, and not at all if these are equal.
func OfPairs(links []metric.Link) (judged []feedback.Judgement, notes []string) {
	var v votes
	for _, l := range links {
		v.add(min(l.I, l.J), max(l.I, l.J), int(l.Label)) // in whichever order it stands
	}
	return v.judgements("pair")
}

// OfComparisons takes relative comparisons of documents as judgements: of the near one for A with 1, of the far one with 0. A document with both counts by most of them, and not at all if
// these are equal.
func OfComparisons(ts []metric.Triplet) (judged []feedback.Judgement, notes []string) {
	var v votes
	for _, t := range ts {
		v.add(t.A, t.Near, 1)
		v.add(t.A, t.Far, -1)
	}
	return v.judgements("comparison")
}

// votes count for and against each document of a query.
type votes struct {
	order [][2]int
	sum   map[[2]int]int
}

func (v *votes) add(query, document, vote int) {
	if v.sum == nil {
		v.sum = map[[2]int]int{}
	}
	key := [2]int{query, document}
	if _, seen := v.sum[key]; !seen {
		v.order = append(v.order, key)
	}
	v.sum[key] += vote
}

func (v *votes) judgements(noun string) (judged []feedback.Judgement, notes []string) {
	open := 0
	for _, key := range v.order {
		switch sum := v.sum[key]; {
		case sum > 0:
			judged = append(judged, feedback.Judgement{Query: key[0], Document: key[1], Grade: 1})
		case sum < 0:
			judged = append(judged, feedback.Judgement{Query: key[0], Document: key[1]})
		default:
			open++
		}
	}
	if open > 0 {
		notes = append(notes, fmt.Sprintf("documents of a query for which as many %ss speak as against: %d; these count as not judged", noun, open))
	}
	return judged, notes
}
