package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/feedback"
)

// judgedSet are queries and documents of two topics that the first of four features tells, and a grade for some pairs: 2 of one topic and near, 1 of one topic, 0 otherwise.
func judgedSet(t *testing.T) (queries, documents *mat.Dense, judged []feedback.Judgement) {
	t.Helper()
	const nq, nd = 24, 40
	rng := rand.New(rand.NewPCG(6, 1))
	make := func(n int) *mat.Dense {
		x := mat.NewDense(n, 4, nil)
		for i := range n {
			x.SetRow(i, []float64{float64(i%2) + .1*rng.NormFloat64(), rng.NormFloat64(), 2 * rng.NormFloat64(), 2 * rng.NormFloat64()})
		}
		return x
	}
	queries, documents = make(nq), make(nd)
	for q := range nq {
		for _, d := range rng.Perm(nd)[:12] {
			grade := 0.0
			if q%2 == d%2 {
				if grade = 1; math.Abs(queries.At(q, 0)-documents.At(d, 0)) < .1 {
					grade = 2
				}
			}
			judged = append(judged, feedback.Judgement{Query: q, Document: d, Grade: grade})
		}
	}
	return queries, documents, judged
}

// A metric of judged queries is better on others than the Euclidean distance, in any order of the judgements; the numbers are those of a slow reference.
func TestQueries(t *testing.T) {
	q, d, judged := judgedSet(t)
	pr := QueriesOfVectors(vectorFile(t, q, false), vectorFile(t, d, true), judged)
	plan := Plan{Repeats: 6, Ks: []int{5}}
	e := MustEvaluate(t, pr, Recipe{Learner: "itml"}, plan)
	if e.Items != 24 || e.Known != len(judged) || e.Minus(Euclidean, MeasureNDCG).Summary.Mean < .1 || e.Minus(Cosine, MeasureTriplets).Summary.Mean > -.05 {
		t.Errorf("%d queries, %d judgements, %s", e.Items, e.Known, e.Verdict())
	}
	for s, n := range e.Test {
		if n+e.Train[s] != len(judged) || n < 12*8 { // 0.3 of 24 queries, all of their judgements
			t.Errorf("split %d: %d judgements to learn from, %d held out", s, e.Train[s], n)
		}
	}
	rng := rand.New(rand.NewPCG(6, 2))
	mixed := slices.Clone(judged)
	rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	other := MustEvaluate(t, QueriesOfVectors(vectorFile(t, q, false), vectorFile(t, d, true), mixed), Recipe{Learner: "itml"}, plan)
	if !slices.Equal(other.Of("itml", MeasureNDCG).Values, e.Of("itml", MeasureNDCG).Values) {
		t.Errorf("another order of judgements: %v, want %v", other.Of("itml", MeasureNDCG).Values, e.Of("itml", MeasureNDCG).Values)
	}
	r := MustCompare(t, pr, Recipe{}, nil, Comparing{Plan: plan, Validation: 2})
	if r.Measure != "1 − nDCG" || len(r.Ranked) != 10 || !isBaseline(r.Ranked[8].Recipe.Learner) || !isBaseline(r.Ranked[9].Recipe.Learner) || r.ByValidation == nil {
		t.Errorf("%s: %d ranked", r.Measure, len(r.Ranked))
	}
	if m := MustFit[*Vectors](t, pr, Recipe{Learner: "itml"}); m.Report().Comparisons != len(comparisonsOf(judged)) {
		t.Errorf("%d comparisons, want %d", m.Report().Comparisons, len(comparisonsOf(judged)))
	}
}

// Folds hold out queries with all that is judged of them. Queries that a sample leaves with one grade do not count.
func TestFoldsOfQueries(t *testing.T) {
	q, d, judged := judgedSet(t)
	fq, fd := vectorFile(t, q, false), vectorFile(t, d, true)
	pr := QueriesOfVectors(fq, fd, judged)
	e := MustEvaluate(t, pr, Recipe{Learner: "itml"}, Plan{Folds: 6, Repeats: 1})
	for s, n := range e.Test {
		if n != 4*12 || e.Dropped[s] != 0 {
			t.Errorf("split %d: %d judgements held out, %d dropped, want 48 and 0", s, n, e.Dropped[s])
		}
	}
	if gain := e.Minus(Cosine, MeasureNDCG).Summary.Mean; !(gain > .1) {
		t.Errorf("gain %v", gain)
	}
	Refused(t, "more folds than queries", ErrorOf(Evaluate(t.Context(), pr, Recipe{Learner: "itml"}, Plan{Folds: 25})), "folds: 25 is not allowed, want 2 to the number of questions, 24")
	few, _, err := pr.Sample(rand.New(rand.NewPCG(6, 4)), 80)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range MustEvaluate(t, few, Recipe{Learner: "itml"}, Plan{}).Of("itml", MeasureNDCG).Values {
		if !(v >= 0 && v <= 1) {
			t.Errorf("nDCG %v of a sample", v)
		}
	}
}

// nDCG is that by the definition, averaged over all orders of documents at equal distances.
func TestNDCG(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	for range 200 {
		z, of := mat.NewDense(6, 1, nil), []feedback.Judgement{}
		for i := 1; i < 6; i++ {
			z.Set(i, 0, float64(rng.IntN(3)))
			of = append(of, feedback.Judgement{Document: i, Grade: float64(rng.IntN(3))})
		}
		of[0].Grade, of[1].Grade = 0, 2
		k := 1 + rng.IntN(6)
		dcg := func(order []int) (sum float64) {
			for r, i := range order {
				if r < k {
					sum += (math.Exp2(of[i].Grade) - 1) / math.Log2(2+float64(r))
				}
			}
			return sum
		}
		least, orders, best := math.Inf(1), map[float64][]float64{}, 0.0
		for order := range permutations(5) {
			inversions := 0.0 // of distances
			for r := 1; r < 5; r++ {
				for p := range r {
					if z.At(of[order[p]].Document, 0) > z.At(of[order[r]].Document, 0) {
						inversions++
					}
				}
			}
			least = min(least, inversions)
			orders[inversions] = append(orders[inversions], dcg(order))
			best = max(best, dcg(order))
		}
		want := 0.0
		for _, v := range orders[least] {
			want += v / best / float64(len(orders[least]))
		}
		if got := ndcg(z, of, k); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v at %d: %v, want %v", of, k, got, want)
		}
	}
}

// permutations yields all orders of n numbers.
func permutations(n int) func(func([]int) bool) {
	return func(yield func([]int) bool) {
		var rec func(order []int, left []int) bool
		rec = func(order, left []int) bool {
			if len(left) == 0 {
				return yield(order)
			}
			for i, v := range left {
				if !rec(append(slices.Clone(order), v), slices.Delete(slices.Clone(left), i, i+1)) {
					return false
				}
			}
			return true
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		rec(nil, all)
	}
}

func TestQueriesRefused(t *testing.T) {
	q, d, judged := judgedSet(t)
	fq, fd := vectorFile(t, q, false), vectorFile(t, d, false)
	with := func(j ...feedback.Judgement) []feedback.Judgement { return append(slices.Clone(judged), j...) }
	for want, pr := range map[string]Problem{
		"names a query or document that is not there": QueriesOfVectors(fq, fd, with(feedback.Judgement{Query: 24})),
		"not there":                    QueriesOfVectors(fq, fd, with(feedback.Judgement{Document: 40, Grade: 1})),
		"grade: -1 is not allowed":     QueriesOfVectors(fq, fd, with(feedback.Judgement{Document: 39, Grade: -1})),
		"grade: +Inf is not allowed":   QueriesOfVectors(fq, fd, with(feedback.Judgement{Document: 39, Grade: math.Inf(1)})),
		"grade: 65 is not allowed":     QueriesOfVectors(fq, fd, with(feedback.Judgement{Document: 39, Grade: 65})),
		"judges a document":            QueriesOfVectors(fq, fd, with(judged[0])),
		"no judgements":                QueriesOfVectors(fq, fd, []feedback.Judgement{{Query: 0, Document: 1}, {Query: 0, Document: 2}}),
		"vectors of 4 numbers and":     QueriesOfVectors(fq, vectorFile(t, mat.NewDense(40, 3, nil), false), judged),
		"not from queries with judgem": QueriesOfVectors(fq, fd, judged),
	} {
		r := Recipe{Learner: "itml"}
		if want == "not from queries with judgem" {
			r.Learner = "fda"
		}
		Refused(t, "fit", ErrorOf(Fit(t.Context(), pr, r, nil)), want)
		Refused(t, "evaluate", ErrorOf(Evaluate(t.Context(), pr, r, Plan{})), want)
	}
}
