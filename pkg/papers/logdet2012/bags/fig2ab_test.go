package bags

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// smokeTexts returns a session of smoke scale: fold 0 of a trial.
func smokeTexts(t *testing.T, r textReading) (textSettings, *textSession) {
	t.Helper()
	s, dataset := collections[1].settings(r, experiment.Smoke)
	bags, y, err := loadTexts(experimenttest.Env(), experimenttest.Seed("texts"), dataset, s)
	if err != nil {
		t.Fatal(err)
	}
	var train, test []int
	for i := range bags {
		if i%2 == 0 {
			train = append(train, i)
		} else {
			test = append(test, i)
		}
	}
	docs := make([]text.Bag, len(train))
	for i, d := range train {
		docs[i] = bags[d]
	}
	v, err := text.FitVectorizer(docs, text.VectorizerParams{Size: s.Terms, Norm: r.norm})
	if err != nil {
		t.Fatal(err)
	}
	session, err := newTextSession(t.Context(), v, bags, y, train, test, s, experimenttest.Seed("texts"), "test")
	if err != nil {
		t.Fatal(err)
	}
	return s, session
}

// wrongByKNN counts errors by package nearest, from dense rows.
func wrongByKNN(t *testing.T, s *textSession, m metric.SqDister, train, test mat.Matrix) int {
	t.Helper()
	knn, err := nearest.NewKNN(m, train, s.trainY, nearest.KNNOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := knn.Errors(t.Context(), test, s.testY, []int{s.k})
	if err != nil {
		t.Fatal(err)
	}
	return n[0]
}

// TestTextNeighbours: the errors from sparse inner products and corrections of low rank are those of package nearest under the metric
// itself, on dense rows. W = I + U(F − I)Uᵀ is the one that the fit returns.
func TestTextNeighbours(t *testing.T) {
	for _, reading := range textReadings {
		settings, s := smokeTexts(t, reading)
		var arms []arm
		var want []int
		add := func(a arm, w int) { arms, want = append(arms, a), append(want, w) }
		add(s.euclideanArm(), wrongByKNN(t, s, metric.Euclidean{}, s.train, s.test))
		for _, size := range settings.Sizes {
			for _, gamma := range settings.Gammas {
				for _, rule := range []iplr.InfeasibleRule{iplr.InfeasibleSlack, iplr.InfeasibleDrop} {
					p := iplr.Params{Gamma: gamma, Upper: s.bounds.Upper, Lower: s.bounds.Lower, Infeasible: rule, MaxCycles: settings.Final.Cycles(len(s.links))}
					r, err := s.basis(size).problem.Fit(t.Context(), p)
					if err != nil {
						t.Fatal(err)
					}
					told := map[string]int{}
					a, _, err := fitIPLR(rule, 1)(t.Context(), s, size, protocol.Candidate{Gamma: gamma}, settings.Final, func(at string, value, _ int) { told[at] = value })
					if err != nil {
						t.Fatal(err)
					}
					if told[infeasiblePairs] != len(r.Infeasible) || told[vacuousPairs] != r.Vacuous || told[skippedPairs] != r.Skipped {
						t.Errorf("pairs %v, want %d infeasible, %d vacuous, %d skipped", told, len(r.Infeasible), r.Vacuous, r.Skipped)
					}
					add(a, wrongByKNN(t, s, r.Metric, s.train, s.test))
				}
			}
			a, _, err := fitScalar(t.Context(), s, size, protocol.Candidate{Weight: 3}, protocol.Budget{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			u := s.basis(size).basis.Vectors()
			var w mat.Dense
			w.Mul(u.T(), u)
			w.Scale(3, &w)
			_, d := u.Dims()
			sym := mat.NewSymDense(d, nil)
			for i := range d {
				for j := range i + 1 {
					sym.SetSym(i, j, (w.At(i, j)+w.At(j, i))/2)
				}
				sym.SetSym(i, i, sym.At(i, i)+1)
			}
			m, err := metric.NewMahalanobis(sym)
			if err != nil {
				t.Fatal(err)
			}
			add(a, wrongByKNN(t, s, m, s.train, s.test))
			for _, c := range []coordinates{s.lsa[centred].first(size), s.lsa[notCentred].first(size), s.basis(size).coordinates} {
				add(coordinateArm(c), wrongByKNN(t, s, metric.Euclidean{}, c.train, c.test))
			}
		}
		got, err := s.Wrong(t.Context(), arms)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %v wrong, by package nearest %v", reading.name, got, want)
		}
		if slices.Max(got) == slices.Min(got) {
			t.Errorf("%v: all metrics have %d wrong: the test shows nothing", reading.name, got[0])
		}
	}
}

// TestNearestRows compares with a sort, with many ties, and the vote with its rule.
func TestNearestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 1))
	for range 300 {
		n, k := 1+rng.IntN(30), 1+rng.IntN(12)
		values, rows := make([]float64, n), make([]int, n)
		y := make([]int, n)
		b := NewNearestRows(k)
		b.Offer(0, -1) // of an earlier query
		b.Reset()
		for i := range values {
			values[i], rows[i], y[i] = float64(rng.IntN(6)), i, rng.IntN(3)
			b.Offer(i, values[i])
		}
		slices.SortStableFunc(rows, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
		rows = rows[:min(k, n)]
		if !slices.Equal(b.row, rows) {
			t.Fatalf("rows %v of %v, want %v", b.row, values, rows)
		}
		votes := map[int]int{}
		for _, r := range rows {
			votes[y[r]]++
		}
		for _, r := range rows { // nearest first
			most := true
			for _, v := range votes {
				most = most && v <= votes[y[r]]
			}
			if most {
				if got := b.Vote(y); got != y[r] {
					t.Fatalf("vote %d, want %d", got, y[r])
				}
				break
			}
		}
	}
}

// TestTestTextsChooseNothing: of the test documents neither words nor classes enter vocabulary, bounds, bases, choices or fits.
func TestTestTextsChooseNothing(t *testing.T) {
	s, dataset := collections[0].settings(textReadings[0], experiment.Smoke)
	bags, y, err := loadTexts(experimenttest.Env(), experimenttest.Seed("texts"), dataset, s)
	if err != nil {
		t.Fatal(err)
	}
	fold := make([]int, len(y))
	for i := range fold {
		fold[i] = i / 2 % protocol.Folds
	}
	rows := func(bags []text.Bag, y []int) *table.Table {
		trial := &textTrial{settings: s, env: experimenttest.Env(), fold: "0", rows: fig2abColumns.Table()}
		if err := trial.run(t.Context(), bags, y, fold, 0, experimenttest.Seed("texts")); err != nil {
			t.Fatal(err)
		}
		return trial.rows
	}
	plain := rows(bags, y)
	spoilt, classes := slices.Clone(bags), slices.Clone(y)
	for i := range spoilt {
		if fold[i] == 0 {
			spoilt[i] = text.Bag{{Term: bags[0][0].Term, N: 3}, {Term: fmt.Sprint("zz", i), N: 9}}
			classes[i] = (y[i] + 1) % 3
		}
	}
	other := rows(spoilt, classes)
	for _, kind := range fig2abKinds {
		a, b := plain.Where("kind", kind.Name), other.Where("kind", kind.Name)
		if kind.Name == "wrong" {
			if slices.Equal(a.Values("value"), b.Values("value")) {
				t.Error("other test documents have the same errors: the test shows nothing")
			}
			continue
		}
		for i, at := range a.Index("at") {
			if at == emptyTest {
				continue
			}
			if b.Len() != a.Len() || b.Index("at")[i] != at || b.Values("value")[i] != a.Values("value")[i] {
				t.Errorf("%s %q, row %d, differs with other test documents", kind.Name, at, i)
			}
		}
	}
}

// A pair of documents is not drawn twice, those that are drawn keep their order, and all are taken if there are no more.
func TestAtMost(t *testing.T) {
	rows := []int{3, 5, 8, 13, 21}
	if got := atMost(experimenttest.Seed("x"), "p", rows, 5); !slices.Equal(got, rows) {
		t.Errorf("all: %v", got)
	}
	if got := atMost(experimenttest.Seed("x"), "p", rows, 0); !slices.Equal(got, rows) {
		t.Errorf("no limit: %v", got)
	}
	got := atMost(experimenttest.Seed("x"), "p", rows, 3)
	if len(slices.Compact(slices.Clone(got))) != 3 || !slices.IsSorted(got) || !slices.Contains(rows, got[0]) {
		t.Errorf("three of %v: %v", rows, got)
	}
}

// A table without a reading gives no verdict.
func TestTextClaimsNeedAllReadings(t *testing.T) {
	all := experimenttest.Published(t, Fig2ab)
	for _, c := range fig2abClaims {
		if _, err := c.Judge(all.Where("length", textReadings[0].length), nil); err == nil {
			t.Errorf("%s: no error", c.ID)
		}
	}
}

// The claims that need as many vectors as classes find them in both panels, at both scales.
func TestTextSizes(t *testing.T) {
	for _, c := range collections {
		for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
			s, _ := c.settings(textReadings[0], scale)
			want := map[string]int{"a": 3, "b": 20}[c.panel]
			if scale == experiment.Smoke {
				want = c.topics
			}
			if !slices.Contains(s.Sizes, want) || !slices.IsSorted(s.Sizes) || s.Sizes[0] >= want || s.Sizes[len(s.Sizes)-1] <= want {
				t.Errorf("%s at %s: sizes %v, want fewer, as many and more than %d", c.name, scale, s.Sizes, want)
			}
		}
	}
}
