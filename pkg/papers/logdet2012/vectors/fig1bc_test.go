package vectors

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// smokeWords returns settings of smoke scale and the documents of a trial.
func smokeWords(t *testing.T, by datasets.Preprocessing) (WordSettings, *corpus) {
	t.Helper()
	s := wordSettingsOf(by, experiment.Smoke)
	c, err := loadCorpus(experimenttest.Env(), experimenttest.Seed("news"), MadeUpNews, s)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// A trial draws documents of one topic, of the most frequent topics, in the order of their
// numbers, and no more of a topic than wanted; another trial draws others.
func TestCorpus(t *testing.T) {
	s := wordSettingsOf(datasets.AsIs, experiment.Smoke)
	news := synthetic.News(experimenttest.Seed("news").Stream("news"), NewsItems)
	news.Docs[3].TopicsAttr, news.Docs[3].Topics = "NO", []string{"harbour"} // not of the split
	c, err := DrawCorpus(news, experimenttest.Seed("news"), s)
	if err != nil {
		t.Fatal(err)
	}
	var a text.Analyzer
	var names []string
	for _, topic := range c.topics {
		names = append(names, topic.Topic)
	}
	if !slices.Equal(names, []string{"harbour", "metal", "theatre", "weather"}) {
		t.Errorf("topics %q", names)
	}
	counts := make([]int, s.Topics)
	next := 0
	for i, bag := range c.Bags {
		counts[c.Y[i]]++
		for ; ; next++ { // the document is one of those that follow the last one
			if next == len(news.Docs) {
				t.Fatalf("document %d is not there, or not in the order of numbers", i)
			}
			d := &news.Docs[next]
			if d.TopicsAttr == "YES" && slices.Equal(d.Topics, []string{names[c.Y[i]]}) && slices.Equal(a.Bag(d.Text()), bag) {
				next++
				break
			}
		}
	}
	if !slices.Equal(counts, c.drawn) || slices.Max(counts) != s.PerTopic {
		t.Errorf("%v documents by topic, said to be %v", counts, c.drawn)
	}
	other := experimenttest.Seed("news")
	other.Trial++
	again, err := DrawCorpus(news, other, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Bags) != len(c.Bags) || slices.EqualFunc(c.Bags, again.Bags, slices.Equal) {
		t.Error("another trial has the same documents, or not as many")
	}
	s.Topics = 6
	if _, err := DrawCorpus(news, experimenttest.Seed("news"), s); err == nil {
		t.Error("six topics of five: no error")
	}
}

// Counts are those of the words in the document; sets of words are nested and have the words of
// greatest gain first; and a document without them is the zero vector.
func TestWordCounts(t *testing.T) {
	_, c := smokeWords(t, datasets.AsIs)
	train, _ := protocol.Parted(sample.StratifiedFolds(experimenttest.Seed("news").Stream("folds"), c.Y, protocol.Folds), 0)
	words, err := c.words(train, 20)
	if err != nil {
		t.Fatal(err)
	}
	few, err := c.words(train, 5)
	if err != nil || !slices.Equal(few, words[:5]) {
		t.Errorf("5 words %q of 20 %q, error %v", few, words, err)
	}
	gain := func(w string) float64 { // from the definition, by presence
		n, with := make([]int, 4), make([]int, 4)
		for _, i := range train {
			n[c.Y[i]]++
			if slices.ContainsFunc(c.Bags[i], func(t text.Count) bool { return t.Term == w }) {
				with[c.Y[i]]++
			}
		}
		return text.ClassGain(n, with)
	}
	for k := range words[1:] {
		if gain(words[k]) < gain(words[k+1]) {
			t.Errorf("%q, place %d, has less gain than the next", words[k], k)
		}
	}
	x := c.counts(few)
	zero := 0
	for i, bag := range c.Bags {
		sum := 0.0
		for j, w := range few {
			want := 0
			for _, t := range bag {
				if t.Term == w {
					want = t.N
				}
			}
			if x.X.At(i, j) != float64(want) {
				t.Fatalf("document %d has %q %g times, want %d", i, w, x.X.At(i, j), want)
			}
			sum += float64(want)
		}
		if sum == 0 {
			zero++
		}
	}
	if got := c.without(few); got != zero || zero == 0 {
		t.Errorf("%d documents without a word, want %d and some", got, zero)
	}
	if _, err := c.words(train[:2], 1000); err == nil {
		t.Error("1000 words of two documents: no error")
	}
}

// Of the test documents neither words nor topics enter the selection of words, a choice or what
// is learned.
func TestTestDocumentsChooseNothing(t *testing.T) {
	for _, by := range protocol.Readings {
		s, c := smokeWords(t, by)
		plain, words, err := countedProblems(c, 10, s, experimenttest.Seed("news"))
		if err != nil {
			t.Fatal(err)
		}
		_, test := protocol.Parted(sample.StratifiedFolds(experimenttest.Seed("news").Stream("folds"), c.Y, protocol.Folds), 0)
		other := &corpus{Bags: slices.Clone(c.Bags), Y: c.Y}
		for _, i := range test { // one of the words selected, and words that none else has
			bag := text.Bag{{Term: words[0][c.Y[i]], N: 9}}
			for k := range 10 {
				bag = append(bag, text.Count{Term: fmt.Sprint("zz", c.Y[i], k), N: 2})
			}
			other.Bags[i] = bag
		}
		spoilt, others, err := countedProblems(other, 10, s, experimenttest.Seed("news"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range spoilt[0].Test.Y {
			spoilt[0].Test.Y[i] = 0
		}
		if !slices.Equal(words[0], others[0]) {
			t.Fatalf("words %q and, with other test documents, %q", words[0], others[0])
		}
		if slices.Equal(words[1], others[1]) {
			t.Fatal("the other fold, which trains on these documents, has the same words")
		}
		labels := &corpus{Bags: c.Bags, Y: slices.Clone(c.Y)}
		for _, i := range test {
			labels.Y[i] = 0
		}
		train, _ := protocol.Parted(sample.StratifiedFolds(experimenttest.Seed("news").Stream("folds"), c.Y, protocol.Folds), 0)
		if w, err := labels.words(train, 10); err != nil || !slices.Equal(w, words[0]) {
			t.Fatalf("words %q and, with other test topics, %q, error %v", words[0], w, err)
		}
		for _, m := range protocol.MethodsNamed(s.Settings, clarifyMethods) {
			a, err := plain[0].Choose(t.Context(), m, itml.BoundPercentiles, s.Choice)
			if err != nil {
				t.Fatal(err)
			}
			b, err := spoilt[0].Choose(t.Context(), m, itml.BoundPercentiles, s.Choice)
			if err != nil || !slices.Equal(a.Wrong, b.Wrong) || !slices.Equal(a.Order, b.Order) {
				t.Errorf("%v, %s: choices %v and, with other test documents, %v (error %v)", by, m.Name, a, b, err)
			}
			_, l, _, err := plain[0].Learn(t.Context(), m, itml.BoundPercentiles, a.Order, s.Final)
			if err != nil {
				t.Fatal(err)
			}
			_, k, _, err := spoilt[0].Learn(t.Context(), m, itml.BoundPercentiles, b.Order, s.Final)
			if err != nil {
				t.Fatal(err)
			}
			for i := range plain[0].Train.Y {
				if p, q := l.Metric.SqDist(l.Train.RawRowView(0), l.Train.RawRowView(i)), k.Metric.SqDist(k.Train.RawRowView(0), k.Train.RawRowView(i)); p != q {
					t.Fatalf("%v, %s: distance %g between training rows and, with other test documents, %g", by, m.Name, p, q)
				}
			}
		}
	}
}

// LogDet from the inverse covariance, with u and ℓ under it, does not depend on the scales of features:
// with X → XA, W₀ becomes A⁻¹W₀A⁻ᵀ, and all squared distances, bounds and divergences stay. LogDet from
// I does depend on them. Round-off grows by the condition of W₀, below 1e3 here, over 2,000 projections:
// 1e-8 is far above what is seen, and far below the difference from I.
func TestInvCovStartIsInvariant(t *testing.T) {
	const tol = 1e-8
	set := experimenttest.Must(protocol.Load(experimenttest.Env(), experimenttest.Seed(protocol.GeneratedLinear), protocol.GeneratedLinear))
	raw, scaled := experimenttest.Must(protocol.NewProblems(set, protocol.SettingsOf(datasets.AsIs, experiment.Smoke), experimenttest.Seed(set.Name)))[0], experimenttest.Must(protocol.NewProblems(set, protocol.SettingsOf(datasets.ZScore, experiment.Smoke), experimenttest.Seed(set.Name)))[0]
	c, b := protocol.Candidate{Gamma: 1}, protocol.SettingsOf(datasets.AsIs, experiment.Smoke).Final
	most := map[string]float64{}
	for name, fit := range map[string]func(context.Context, *protocol.Session, itml.BoundRule, protocol.Candidate, protocol.Budget) (protocol.Learnt, error){protocol.LogDetInvCov: protocol.FitFromInvCov, protocol.LogDetLinear: protocol.FitLinear} {
		p, err := fit(t.Context(), raw.Session, itml.BoundPercentiles, c, b)
		if err != nil {
			t.Fatal(err)
		}
		q, err := fit(t.Context(), scaled.Session, itml.BoundPercentiles, c, b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range raw.Train.Y {
			for j := range i {
				x, y := p.Metric.SqDist(p.Train.RawRowView(i), p.Train.RawRowView(j)), q.Metric.SqDist(q.Train.RawRowView(i), q.Train.RawRowView(j))
				most[name] = max(most[name], math.Abs(x-y)/(x+y))
			}
		}
	}
	if most[protocol.LogDetInvCov] > tol || most[protocol.LogDetLinear] < 0.01 {
		t.Errorf("relative differences between raw and standardised features: %g from the inverse covariance, %g from I", most[protocol.LogDetInvCov], most[protocol.LogDetLinear])
	}
	start, err := raw.Whitened(t.Context(), itml.BoundPercentiles)
	if err != nil || !(0 < start.Upper && start.Upper < start.Lower) {
		t.Errorf("bounds %v, error %v", start.Bounds, err)
	}
	// Between rows W₀ is the inverse covariance.
	inverse, err := protocol.FitInvCovariance(t.Context(), raw.Session, itml.BoundPercentiles, protocol.Candidate{}, protocol.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	u, l, err := protocol.BoundsBy(itml.BoundPercentiles).Of(raw.Train.X, protocol.AllPairs(len(raw.Train.Y)), inverse.Metric)
	if err != nil || math.Abs(u-start.Upper) > tol*u || math.Abs(l-start.Lower) > tol*l {
		t.Errorf("bounds %v, under the inverse covariance %g and %g (error %v)", start.Bounds, u, l, err)
	}
	got, err := protocol.FitFromInvCov(t.Context(), raw.Session, itml.BoundPercentiles, c, b)
	if err != nil {
		t.Fatal(err)
	}
	want, err := itml.Fit(context.Background(), raw.Train.X, raw.Links, itml.Params{Gamma: 1, Upper: u, Lower: l, W0: start.W0, MaxCycles: b.Cycles(len(raw.Links))})
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw.Test.Y {
		x, z := raw.Test.X.RawRowView(i), raw.Train.X.RawRowView(i)
		if p, q := got.Metric.SqDist(x, z), want.Metric.SqDist(x, z); math.Abs(p-q) > tol*q {
			t.Fatalf("squared distance %g, of LogDet with these bounds %g", p, q)
		}
	}
}

// A trial has the errors of every method on every document for each number of words.
func TestWordTrialIsComplete(t *testing.T) {
	cell := Fig1bc.Cells(experiment.Smoke)[0]
	tb, err := Fig1bc.Run(t.Context(), experimenttest.Env(), cell, experimenttest.Seed(cell.Dataset))
	if err != nil {
		t.Fatal(err)
	}
	s := wordSettingsOf(datasets.AsIs, experiment.Smoke)
	documents := 0.0
	for _, n := range tb.Where("kind", "class").Values("value") {
		documents += n
	}
	if documents != float64(s.Topics*s.PerTopic) {
		t.Errorf("%g documents", documents)
	}
	for _, d := range s.Dims {
		dims := strconv.Itoa(d)
		for _, m := range protocol.MethodsNamed(s.Settings, clarifyMethods) {
			g := tb.Where("method", m.Name, "dims", dims)
			rows, tested := 0.0, g.Where("kind", "wrong")
			for _, n := range tested.Values("of") {
				rows += n
			}
			if tested.Len() != protocol.Folds || rows != documents {
				t.Errorf("%s, %s words: %d folds with %g test rows, want 2 with %g", m.Name, dims, tested.Len(), rows, documents)
			}
			for fold, f := range g.Group("fold") {
				inner, chosen := f.Where("kind", "inner"), f.Where("kind", "chosen")
				if len(m.Candidates) == 1 {
					continue
				}
				first := slices.Index(inner.Values("value"), slices.Min(inner.Values("value")))
				if inner.Len() != len(m.Candidates) || chosen.Index("at")[0] != inner.Index("at")[first] {
					t.Errorf("%s, %s words, fold %s: %q is chosen, of inner errors %v", m.Name, dims, fold, chosen.Index("at")[0], inner.Values("value"))
				}
			}
		}
		if w := tb.Where("kind", "word", "dims", dims, "fold", "1"); w.Len() != d || w.Values("value")[d-1] != float64(d) {
			t.Errorf("%d words, want %s", w.Len(), dims)
		}
		if got := tb.Where("kind", "size", "dims", dims, "fold", "0", "at", protocol.Features).Values("value"); !slices.Equal(got, []float64{float64(d)}) {
			t.Errorf("features %v, want %s", got, dims)
		}
	}
}

// What the stand-in adds enters the keys of jobs; what belongs to other methods does not.
func TestWordSettingsEnterKeys(t *testing.T) {
	base := wordSettingsOf(datasets.AsIs, experiment.Full)
	for name, change := range map[string]func(*WordSettings){
		"topics":    func(s *WordSettings) { s.Topics++ },
		"per topic": func(s *WordSettings) { s.PerTopic++ },
		"dims":      func(s *WordSettings) { s.Dims = s.Dims[1:] },
		"gammas":    func(s *WordSettings) { s.Gammas = s.Gammas[1:] },
	} {
		s := base
		change(&s)
		if got := (experiment.Cell{Settings: s}).Params(); got[name] == (experiment.Cell{Settings: base}).Params()[name] || got["widths"]+got["etas"] != "" || len(got) != 12 {
			t.Errorf("%s is %q with either setting, of %d parameters", name, got[name], len(got))
		}
	}
}

// The nine topics of Reuters-21578 with the most documents of one topic, and how many there are.
func TestReutersTopics(t *testing.T) {
	env := experimenttest.Env()
	env.Scale, env.Data = experiment.Full, realdata.Store(t, reuters)
	s := wordSettingsOf(datasets.AsIs, experiment.Full)
	c, err := loadCorpus(env, experimenttest.Seed(reuters), reuters, s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, topic := range c.topics {
		got = append(got, fmt.Sprintf("%s %d", topic.Topic, topic.Relevant))
	}
	want := []string{"earn 3923", "acq 2292", "crude 374", "trade 327", "money-fx 293", "interest 271", "money-supply 151", "ship 144", "sugar 122"}
	if !slices.Equal(got, want) || len(c.Bags) != 9*60 {
		t.Errorf("%d documents of %q, want %d of %q", len(c.Bags), got, 9*60, want)
	}
}

// madeWords makes the table of errors of 500 rows per fold that errs gives as shares, by method,
// number of words and reading, with a small spread over trials.
func madeWords(errs func(method string, dims int, by datasets.Preprocessing) float64) *table.Table {
	t := experimenttest.Table(Fig1bc)
	for _, by := range protocol.Readings {
		for trial := range experimenttest.Trials {
			for i, m := range clarifyMethods {
				for j, d := range []int{5, 10, 15, 20, 25} {
					for fold := range protocol.Folds {
						t.Add(table.Key{
							"cell": by.String(), "trial": strconv.Itoa(trial), "features": by.String(),
							"kind": "wrong", "method": m, "dims": strconv.Itoa(d), "fold": strconv.Itoa(fold),
						}, table.Values{"value": 500*errs(m, d, by) + 0.1*float64((trial+i*(j+1))%3), "of": 500})
					}
				}
			}
		}
	}
	return t
}

// gradeWordClaim wants a finding without a verdict, and returns the one that it names.
func gradeWordClaim(t *testing.T, id string, tb *table.Table) (verdict, reason string) {
	t.Helper()
	f := experimenttest.Judge(t, Fig1bc.Claims, id, tb, nil)
	if f.Verdict != judge.Untestable {
		t.Errorf("%s: verdict %s on a stand-in", id, f.Verdict)
	}
	if _, rest, ok := strings.Cut(f.Reason, `On the stand-in it would be "`); ok {
		verdict, _, _ = strings.Cut(rest, `"`)
	}
	return verdict, f.Reason
}

// A table without standardised counts gives no verdict.
func TestAllCountsAreNeeded(t *testing.T) {
	all := experimenttest.Published(t, Fig1bc)
	for _, c := range Fig1bc.Claims {
		if _, err := c.Judge(all.Where("features", "raw"), nil); err == nil {
			t.Errorf("%s: no error", c.ID)
		}
	}
}

// Where Euclidean is no better than the inverse covariance, the claim about W₀ says nothing.
func TestStartClaimHasAPremise(t *testing.T) {
	premise := func(where ...datasets.Preprocessing) *table.Table {
		return madeWords(func(m string, d int, by datasets.Preprocessing) float64 {
			switch m {
			case protocol.InvCovariance:
				return 0.3
			case protocol.Euclidean:
				if slices.Contains(where, by) {
					return 0.2
				}
				return 0.4
			case protocol.LogDetInvCov:
				if slices.Contains(where, by) {
					return 0.3
				}
				return 0.1 // which would refute the claim
			}
			return 0.2
		})
	}
	if got, reason := gradeWordClaim(t, "fig1b-start", premise(datasets.AsIs)); got != string(judge.Reproduced) || !strings.Contains(reason, "says nothing") || !strings.Contains(reason, "counts standardised (") {
		t.Errorf("premise in one reading: %q: %s", got, reason)
	}
	if got, reason := gradeWordClaim(t, "fig1b-start", premise()); got != "" || !strings.Contains(reason, "says nothing") {
		t.Errorf("premise in no reading: %q: %s", got, reason)
	}
	if _, reason := gradeWordClaim(t, "fig1b-start", premise(protocol.Readings...)); strings.Contains(reason, "says nothing") {
		t.Errorf("premise in both readings: %s", reason)
	}
}

// Every view and claim says that the data stand in for others, and views of a table without rows
// say what is missing.
func TestStandInIsLabelled(t *testing.T) {
	tb, err := harness.Collect(t.Context(), Fig1bc, experimenttest.Env(), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(Fig1bc.Title, "Stand-in") {
		t.Errorf("title %q", Fig1bc.Title)
	}
	for _, v := range Fig1bc.Views {
		if !strings.Contains(strings.ToLower(v.Title), "stand-in") {
			t.Errorf("%s: title %q", v.Name, v.Title)
		}
		d, err := v.Draw(experimenttest.Table(Fig1bc))
		if err != nil || len(d.Notes) == 0 {
			t.Errorf("%s of nothing: notes %v, error %v", v.Name, d.Notes, err)
		}
		d, err = v.Draw(tb)
		if err != nil || !strings.Contains(d.Caption.String(), "Stand-in: nine Reuters topics; the Clarify traces are not public") {
			t.Errorf("%s: caption %q, error %v", v.Name, d.Caption.String(), err)
		}
	}
	for _, c := range Fig1bc.Claims {
		if !strings.Contains(c.Predicate, "not public") || !strings.Contains(c.Predicate, "clarify/latex.csv") || !strings.Contains(c.Predicate, "metriclab data get clarify") {
			t.Errorf("%s: predicate %q", c.ID, c.Predicate)
		}
	}
}
