package ask

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/feedback"
	"metriclab/pkg/metric"
)

func session(t *testing.T, n int, p Params) *Session {
	t.Helper()
	s, err := New(rand.NewPCG(1, 2), n, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// onLine answers as points 0, 1, 2, ... on a line do.
func onLine(k Kind, q Question) int {
	at := func(i int) float64 { return math.Pow(float64(q.Items[i]), 1.001) } // no ties
	sq := func(i, j int) float64 { return math.Pow(at(i)-at(j), 2) }
	switch k {
	case KindAlike:
		if sq(0, 1) < 9 {
			return 1
		}
		return 0
	case KindOdd:
		apart := []float64{sq(1, 2), sq(0, 2), sq(0, 1)}
		return slices.Index(apart, slices.Min(apart))
	}
	if sq(0, 1) < sq(0, 2) {
		return 1
	}
	return 2
}

var kinds = []Kind{KindCompare, KindOdd, KindAlike}

// answer lets a person answer m questions.
func answer(t *testing.T, s *Session, person string, m int) {
	t.Helper()
	for range m {
		q := s.Next(person)
		if err := s.Learn(Answer{Question: q, Said: onLine(s.p.Kind, q), Person: person}); err != nil {
			t.Fatal(err)
		}
	}
}

// A crowd asks, answers and learns at once, by every choice; nothing is lost, and a report can be made.
func TestSession(t *testing.T) {
	for _, k := range kinds {
		for c := ChoiceRandom; c <= ChoiceERKLEGain; c++ {
			if k == KindAlike && c != ChoiceRandom {
				continue
			}
			t.Run(fmt.Sprint(k, " ", c), func(t *testing.T) {
				const n, people, each = 12, 4, 30
				s := session(t, n, Params{Kind: k, Choose: c, Random: .6, Repeat: .2})
				if s.Unasked() != n {
					t.Errorf("%d items are not asked about, want %d", s.Unasked(), n)
				}
				var wg sync.WaitGroup
				for p := range people {
					wg.Go(func() {
						for range each / 10 {
							answer(t, s, fmt.Sprint(p), 10)
							if err := s.Advance(t.Context()); err != nil {
								t.Error(err)
							}
						}
					})
				}
				wg.Wait()
				count := map[Reason]int{}
				for _, a := range s.Answers() {
					count[a.Why]++
				}
				if s.Count() != people*each || count[ReasonRandom] == 0 || count[ReasonRepeated] == 0 || (count[ReasonChosen] > 0) != (c != ChoiceRandom) {
					t.Errorf("%d answers, %v", s.Count(), count)
				}
				for _, p := range s.People() {
					if p.Answers != each || p.Again != p.Agreed { // who answers by places on a line agrees with themselves
						t.Errorf("%+v", p)
					}
				}
				if (s.Kernel() != nil) != (c != ChoiceRandom) {
					t.Errorf("kernel %v", s.Kernel())
				}
				r, err := s.Report(t.Context(), nil)
				if err != nil || r.Map == nil || r.Answers != people*each || len(r.Square()) != len(r.Items) {
					t.Fatalf("%+v, %v", r, err)
				}
				if r.Wrong.N == 0 || r.Wrong.Of > k.Chance()-.1 {
					t.Errorf("%+v is no better than chance", r.Wrong)
				}
			})
		}
	}
}

// A question comes again only after others, to the person who answered it, and then counts for or against agreement.
func TestRepeat(t *testing.T) {
	s := session(t, 30, Params{Kind: KindCompare, Repeat: 1})
	seen := map[key]int{}
	for i := range 40 {
		q := s.Next("a")
		of := KindCompare.key(q)
		if before, again := seen[of]; again != (q.Why == ReasonRepeated) || again && i-before <= apart {
			t.Errorf("question %d is %v, %v, before at %d", i, q, again, before)
		}
		seen[of] = i
		if err := s.Learn(Answer{Question: q, Said: 1 + i%2, Person: "a"}); err != nil {
			t.Fatal(err)
		}
		if q := s.Next("b"); q.Why != ReasonRandom {
			t.Errorf("%v to who has answered nothing", q)
		}
	}
	p := s.People()[0]
	if p.Again == 0 || p.Agreed == p.Again || s.Agreement().N != p.Again {
		t.Errorf("%+v", p)
	}
}

func TestUndo(t *testing.T) {
	s := session(t, 6, Params{Choose: ChoiceERKLE, Random: .5})
	if _, ok := s.Undo(); ok {
		t.Error("nothing is taken back")
	}
	answer(t, s, "a", 4)
	want := s.Answers()
	before := s.Unasked()
	answer(t, s, "a", 1)
	last, ok := s.Undo()
	if !ok || !slices.Equal(s.Answers(), want) || s.Unasked() != before || s.People()[0].Answers != 4 {
		t.Errorf("after undo: %v, want %v", s.Answers(), want)
	}
	if err := s.Learn(last); err != nil || !slices.Equal(s.Answers()[:4], want) {
		t.Errorf("the answer does not come back: %v", err)
	}
	if err := s.Advance(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		n    int
		p    Params
		want string
	}{
		{2, Params{}, "want at least 3"}, {1, Params{Kind: KindAlike}, "want at least 2"}, {1 << 21, Params{}, "want at most"}, {3, Params{Random: 2}, "share of 2"}, {3, Params{Repeat: math.NaN()}, "share of NaN"},
		{5, Params{Kind: KindAlike, Choose: ChoiceCKL}, "two items"}, {MostChosen + 1, Params{Choose: ChoiceCKL}, "want random"},
	} {
		if _, err := New(rand.NewPCG(1, 2), c.n, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c, err, c.want)
		}
	}
	s := session(t, 3, Params{})
	for _, a := range []Answer{{Question: Question{Items: [3]int{0, 1, 2}}}, {Question: Question{Items: [3]int{0, 1, 1}}, Said: 1}, {Question: Question{Items: [3]int{0, 1, 3}}, Said: 1}, {Question: Question{Items: [3]int{0, 1, 2}}, Said: 3}} {
		if err := s.Learn(a); !errors.Is(err, ErrAnswer) || s.Count() > 0 {
			t.Errorf("%+v: %v", a, err)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	s = session(t, 3, Params{Choose: ChoiceCKL})
	answer(t, s, "a", 5)
	if err := s.Advance(stopped); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.Report(stopped, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What is written is read again, in the form that metriclab fit reads, whatever the names are.
func TestWritten(t *testing.T) {
	names := []string{"a,b", `c"d`, "=1+1", "5", "é ü", "f"}
	for _, k := range kinds {
		s := session(t, len(names), Params{Kind: k, Repeat: .3})
		var want []Answer
		text := string(k.Header())
		for i := range 40 {
			q := s.Next("x")
			a := Answer{Question: q, Said: onLine(k, q), Person: []string{"Ann", "p-12ab"}[i%2], At: time.Date(2026, 1, 2, 3, 4, i, 5, time.UTC), Took: time.Duration(i) * time.Millisecond}
			if err := s.Learn(a); err != nil {
				t.Fatal(err)
			}
			want = append(want, a)
			text += string(k.Line(names, a))
		}
		got, err := k.ReadWritten(strings.NewReader(text+"torn,li"), "answers.csv", names)
		if err != nil || !slices.Equal(got.Answers, want) || got.Whole != int64(len(text)) || got.Strangers != 0 {
			t.Errorf("%v: %d answers, %v, want %d", k, len(got.Answers), err, len(want))
		}
		few, err := k.ReadWritten(strings.NewReader(text), "answers.csv", names[:3])
		if err != nil || few.Strangers == 0 || few.Strangers+len(few.Answers) != len(want) {
			t.Errorf("%v: with fewer items %d answers, %d strangers, %v", k, len(few.Answers), few.Strangers, err)
		}
		objects := feedback.Objects{Names: names}
		if k == KindAlike {
			p, err := feedback.ReadPairs(strings.NewReader(text), "answers.csv", objects, feedback.Form{})
			if err != nil || len(p.Links) != len(want) || int(p.Links[0].Label) != 2*want[0].Said-1 {
				t.Errorf("as pairs: %v", err)
			}
			continue
		}
		ts, err := feedback.ReadTripletsOf(strings.NewReader(text), "answers.csv", objects, feedback.Form{})
		if err != nil || !slices.Equal(ts.List, s.Comparisons()) {
			t.Errorf("%v as comparisons: %v", k, err)
		}
	}
}

// A question that was open for a month has an answer that can be read again.
func TestLongAgo(t *testing.T) {
	names := []string{"a", "b", "c"}
	a := Answer{Question: Question{Items: [3]int{0, 1, 2}}, Said: 1, Took: 30 * 24 * time.Hour}
	got, err := KindCompare.ReadWritten(strings.NewReader(string(KindCompare.Header())+string(KindCompare.Line(names, a))), "f.csv", names)
	if err != nil || got.Answers[0].Took != a.Took {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestUnreadable(t *testing.T) {
	names := []string{"a", "b", "c"}
	head := string(KindCompare.Header())
	for text, want := range map[string]string{
		"x,y\n":                  "another kind",
		string(KindOdd.Header()): "another kind",
		head + "a,b\n":           "f.csv:2: 2 cells",
		head + "a,b,c,c,a,random,x,2026-01-02T03:04:05Z,1\n": "no answer to what was shown",
		head + "a,b,b,b,b,random,x,2026-01-02T03:04:05Z,1\n": "3 different ones",
		head + "a,b,d,b,c,random,x,2026-01-02T03:04:05Z,1\n": "no answer to what was shown", // fit would learn another answer
		"\n\n":             "it has no answers, and is not empty", // without a header none of its answers could be read
		head + "\n\na,b\n": "f.csv:4: 2 cells",
		head + "\"a,b\n":   "f.csv:2: extraneous or missing",
		head + "a,b,c,b,c,luck,x,2026-01-02T03:04:05Z,1\n":     "luck",
		head + "a,b,c,b,c,random,x,yesterday,1\n":              "yesterday",
		head + "a,b,c,b,c,random,x,2026-01-02T03:04:05Z,-\n":   "ms: ",
		head + "a,\"b,c,b,c,random,x,2026-01-02T03:04:05Z,1\n": "f.csv:2",
	} {
		if _, err := KindCompare.ReadWritten(strings.NewReader(text), "f.csv", names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"", "a,ne", head, head + "a,b"} {
		if got, err := KindCompare.ReadWritten(strings.NewReader(text), "f.csv", names); err != nil || len(got.Answers) > 0 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func FuzzReadWritten(f *testing.F) {
	names := []string{"a", "b", "c"}
	f.Add(byte(0), string(KindCompare.Header())+"a,b,c,b,c,random,x,2026-01-02T03:04:05Z,1\n")
	f.Add(byte(1), string(KindOdd.Header())+"a,b,c,b,a,c,chosen,x,2026-01-02T03:04:05.5Z,1\n")
	f.Add(byte(2), string(KindAlike.Header())+"a,b,-1,repeated,x,2026-01-02T03:04:05Z,1\nto")
	f.Fuzz(func(t *testing.T, kind byte, text string) {
		k := kinds[kind%3]
		got, err := k.ReadWritten(strings.NewReader(text), "f.csv", names)
		if err != nil {
			return
		}
		for _, a := range got.Answers {
			if err := k.check(len(names), a); err != nil {
				t.Error(err)
			}
		}
	})
}

// The share of Wilson against values of the literature: Newcombe 1998, Table I.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		k, n        int
		least, most float64
	}{{81, 263, .2553, .3662}, {15, 148, .0624, .1605}, {0, 20, 0, .1611}, {1, 29, .0061, .1718}, {0, 0, 0, 1}} {
		s := ShareOf(c.k, c.n)
		const printed = 5e-5
		if math.Abs(s.Least-c.least) > printed || math.Abs(s.Most-c.most) > printed {
			t.Errorf("%d of %d: %+v, want %v to %v", c.k, c.n, s, c.least, c.most)
		}
	}
}

// The interval of a gain is that of Bonett and Price (2012), here by their formula and with Student's quantile; "enough" is never said of a few answers of which none changed.
func TestGained(t *testing.T) {
	differences := func(won, lost, n int) []float64 {
		d := make([]float64, n)
		for i := range won {
			d[i] = 1
		}
		for i := range lost {
			d[won+i] = -1
		}
		return d
	}
	for _, c := range []struct {
		won, lost, n int
		quantile     float64 // of n+1 degrees of freedom
		enough       bool
	}{
		{0, 0, 84, 1.98827, false}, {0, 0, 400, 1.96590, true}, {30, 4, 84, 1.98827, false}, {3, 9, 200, 1.97190, true},
	} {
		got := gained(differences(c.won, c.lost, c.n))
		m := float64(c.n + 2)
		p, q := float64(c.won+1)/m, float64(c.lost+1)/m
		half := c.quantile * math.Sqrt((p+q-(p-q)*(p-q))/(m-1))
		if math.Abs(got.Of-float64(c.won-c.lost)/float64(c.n)) > 1e-15 || math.Abs(got.Least-(p-q-half)) > 1e-5 || math.Abs(got.Most-(p-q+half)) > 1e-5 || (Report{Gain: got}).Enough() != c.enough {
			t.Errorf("%+v: %+v, want %v to %v", c, got, p-q-half, p-q+half)
		}
	}
	if (Report{}).Enough() {
		t.Error("enough of nothing")
	}
}

// Held-out answers are predicted at chance where people answer at random, and the last answers bring nothing; that is said.
func TestReportOfNoise(t *testing.T) {
	s := session(t, 8, Params{})
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1500 {
		if err := s.Learn(Answer{Question: s.Next("a"), Said: 1 + rng.IntN(2), Person: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.Report(t.Context(), nil)
	if err != nil || r.Wrong.Least > .5 || r.Wrong.Most < .4 {
		t.Errorf("%+v, %v", r.Wrong, err)
	}
}

// Eight answers an item are not enough for two hundred items, where twice as many halve the error: the last hundred of many tell nothing of it.
func TestEnoughOfMany(t *testing.T) {
	const n, m = 200, 1600
	s := session(t, n, Params{})
	rng := rand.New(rand.NewPCG(5, 6))
	x := make([][2]float64, n)
	for i := range x {
		x[i] = [2]float64{rng.Float64(), rng.Float64()}
	}
	apart := func(i, j int) float64 { return math.Hypot(x[i][0]-x[j][0], x[i][1]-x[j][1]) }
	for range m {
		q := s.Next("a")
		a := Answer{Question: q, Said: 1, Person: "a"}
		if apart(q.Items[0], q.Items[2]) < apart(q.Items[0], q.Items[1]) {
			a.Said = 2
		}
		if err := s.Learn(a); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.Report(t.Context(), nil)
	if err != nil || r.Last != m/4 || r.Enough() || r.Wrong.Of < .1 {
		t.Errorf("%+v after the last %d, %+v wrong, %v", r.Gain, r.Last, r.Wrong, err)
	}
}

// A map does not jump where nothing has changed but the answers.
func TestMapStays(t *testing.T) {
	s := session(t, 10, Params{})
	answer(t, s, "a", 400)
	before, err := s.Report(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer(t, s, "a", 5)
	after, err := s.Report(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range before.Items {
		x, y := before.Map.RawRowView(i), after.Map.RawRowView(i)
		if d := math.Hypot(x[0]-y[0], x[1]-y[1]); d > .2*mat.Norm(before.Map, 2) {
			t.Errorf("item %d moves by %v", i, d)
		}
	}
}

// Of pairs, those about one item compare.
func TestComparisonsOfPairs(t *testing.T) {
	pair := func(i, j, said int) Answer { return Answer{Question: Question{Items: [3]int{i, j, -1}}, Said: said} }
	got := comparisons(KindAlike, []Answer{pair(0, 1, 1), pair(0, 2, 0), pair(2, 0, 1), pair(3, 4, 1)})
	want := []metric.Triplet{{A: 0, Near: 1, Far: 2}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Choosing pays where points lie in a plane; the same worlds are met by both, and the same again by the same seed.
func TestSimulate(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := mat.NewDense(12, 2, nil)
	for i := range 12 {
		x.SetRow(i, []float64{rng.Float64(), rng.Float64()})
	}
	p := Plan{Choose: ChoiceCKL, Random: .2, Answers: 120, Trials: 6, Seed: 1}
	c, err := SimulateVectors(t.Context(), x, p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := SimulateVectors(t.Context(), x, p)
	if err != nil || !slices.EqualFunc(c.Chosen, again.Chosen, slices.Equal) || !slices.EqualFunc(c.Random, again.Random, slices.Equal) {
		t.Errorf("another curve by the same seed: %v", err)
	}
	if first, last := At(c.Random, 0).Mean, At(c.Random, len(c.Answers)-1).Mean; last > first || c.Answers[len(c.Answers)-1] != 120 || c.Less().N != 6 {
		t.Errorf("%+v", c)
	}
	who := func(a, b, c int) metric.Triplet { return metric.Triplet{A: a, Near: b, Far: c} }
	var ts []metric.Triplet
	for a := range 8 {
		for b := range 8 {
			for c := range 8 {
				if d := func(i int) int { return (a - i) * (a - i) }; a != b && a != c && d(b) < d(c) {
					ts = append(ts, who(a, b, c))
				}
			}
		}
	}
	p.Answers = 40
	if c, err = SimulateAnswers(t.Context(), 8, ts, p); err != nil || At(c.Chosen, 7).Mean > .3 {
		t.Errorf("%+v, %v", c, err)
	}
	p.Answers = len(ts)
	if _, err := SimulateAnswers(t.Context(), 8, ts, p); err == nil || !strings.Contains(err.Error(), "only") {
		t.Errorf("more answers than there are: %v", err)
	}
	for _, p := range []Plan{{}, {Choose: ChoiceCKL, Trials: 2}, {Choose: ChoiceCKL, Answers: 3}, {Choose: ChoiceCKL, Flip: 2}} {
		if _, err := SimulateVectors(t.Context(), x, p); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
	if _, err := SimulateAnswers(t.Context(), 3, []metric.Triplet{who(0, 1, 1)}, p); err == nil {
		t.Error("a comparison of one item is taken")
	}
}
