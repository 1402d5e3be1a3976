package pola2004

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metriclab/internal/realdata"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/sparse"
	"metriclab/pkg/table"
)

// The lists of topics are those of the rule on the real collection, and disjoint.
func TestTopicsAreThoseOfTheRule(t *testing.T) {
	for _, topic := range settingsTopics {
		if slices.Contains(fig4Topics, topic) {
			t.Errorf("settings are chosen on %s, a topic of the figure", topic)
		}
	}
	news, err := realdata.Store(t, "reuters21578").Reuters21578()
	if err != nil {
		t.Fatal(err)
	}
	train, test := news.ModApte()
	idx := append(train, test...)
	slices.Sort(idx)
	if err := checkTopics(news, idx); err != nil {
		t.Error(err)
	}
}

func smokeStream(t *testing.T, s filterSettings) *newsStream {
	t.Helper()
	env := &experiment.Env{Scale: experiment.Smoke, Lap: func(string) func() { return func() {} }}
	n, err := loadNews(env, random.Seed{Base: 1, Experiment: "test"}, s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The filter is the algorithm of Section 7 done slowly: measure every relevant
// document, predict by the nearest, learn from the pair of the rule.
func TestPOLAFilterIsTheDirectAlgorithm(t *testing.T) {
	s := mainFilter.at(experiment.Smoke, synthetic.NewsTopics[0].Name)
	n := smokeStream(t, s)
	for _, relax := range []relaxation{plainPOLA, {Gamma: 10, Length: 0.5}} {
		for _, rule := range pairRules {
			fast, err := newPOLAFilter(n.dim, s.B1, relax, rule, rand.New(rand.NewPCG(1, 1)))
			if err != nil {
				t.Fatal(err)
			}
			l, err := pairs.NewPOLA(n.dim, pairs.POLAParams{B1: &s.B1, Gamma: relax.Gamma})
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 1))
			var seen [][]float64
			positive := 0
			for i, doc := range n.x {
				x := make([]float64, n.dim)
				doc.Dense(x)
				got, err := fast(x, n.relevant[i])
				if err != nil {
					t.Fatal(err)
				}
				floats.Scale(relax.Length, x)
				want := false
				if len(seen) > 0 {
					sq := make([]float64, len(seen))
					for k, r := range seen {
						sq[k] = l.Predict(metric.Pair{X: x, Y: r}).SqDist
					}
					k := floats.MinIdx(sq)
					want = sq[k] <= l.Threshold()
					switch {
					case rule == randomPair:
						k = rng.IntN(len(seen))
					case rule == worstPair && n.relevant[i]:
						k = floats.MaxIdx(sq)
					}
					if _, err := l.Step(metric.Pair{X: x, Y: seen[k], Label: metric.SameClass(n.relevant[i])}); err != nil {
						t.Fatal(err)
					}
				}
				if got != want {
					t.Fatalf("%s, document %d: predicted relevant %t, direct algorithm %t", rule.method(relax), i, got, want)
				}
				if got {
					positive++
				}
				if n.relevant[i] {
					seen = append(seen, x)
				}
			}
			if positive == 0 || positive == len(n.x) {
				t.Errorf("%s: %d of %d predicted relevant: the test shows nothing", rule.method(relax), positive, len(n.x))
			}
		}
	}
}

// Errors are counted by class and segment, from the first document that counts.
func TestStreamCountsErrors(t *testing.T) {
	n := &newsStream{dim: 1, first: 2, documents: 10, x: make([]sparse.Vector, 10),
		relevant: []bool{true, true, true, false, false, true, false, false, true, false}}
	i := -1
	got, err := n.run(context.Background(), filterSettings{Segments: 2}, func([]float64, bool) (bool, error) {
		i++
		return i%2 == 0, nil // right about documents 2, 3, 7, 8, 9; alarms 4, 6; missed 5
	})
	want := []tally{{relevant: 2, irrelevant: 2, missed: 1, alarms: 1}, {relevant: 1, irrelevant: 3, alarms: 1}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("tallies %+v (error %v), want %+v", got, err, want)
	}
}

// Words of the first documents do not depend on later ones; those of the whole
// stream do.
func TestFirstWordsDoNotLookAhead(t *testing.T) {
	frozen := mainFilter
	frozen.Warm = warmDocuments
	frozen = frozen.at(experiment.Smoke, synthetic.NewsTopics[0].Name)
	n := smokeStream(t, frozen)
	if n.first != frozen.Warm || n.first == 0 {
		t.Errorf("errors count from document %d, want %d", n.first, frozen.Warm)
	}
	if whole := smokeStream(t, mainFilter.at(experiment.Smoke, synthetic.NewsTopics[0].Name)); whole.first != 0 || slices.EqualFunc(whole.x, n.x, func(a, b sparse.Vector) bool { return slices.Equal(a.Value, b.Value) }) {
		t.Error("the whole stream gives the same vectors as its beginning")
	}
}

// The settings of Fig. 4 are the choice of the committed sensitivity table.
func TestChosenSettingsAreThoseOfTheTable(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "results", filepath.FromSlash(Fig4Sensitivity.ID))
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	tb, err := harness.ReadTable(Fig4Sensitivity, dir)
	if err != nil {
		t.Fatal(err)
	}
	if m := least(tb.Where("setting", mainVariant), paumGrid, margins.method, 1); m != paumChosen {
		t.Errorf("the table chooses PAUM margins %v, Fig. 4 has %v", m, paumChosen)
	}
	if r := least(tb.Where("setting", variantGrid), relaxations, nearestPair.method, 1); r != relaxedPOLA {
		t.Errorf("the table chooses the relaxation %+v, Fig. 4 has %+v", r, relaxedPOLA)
	}
}

// The error is the mean of two rates, each over all segments that are kept: not of
// the segments' own rates. A rate of no documents is 0.
func TestBalancedError(t *testing.T) {
	c := errorCounts{relevant: []float64{1, 3, 0}, irrelevant: []float64{99, 97, 100}, missed: []float64{1, 0, 0}, alarms: []float64{0, 8, 66}}
	for _, tc := range []struct {
		keep []int
		want float64
	}{
		{[]int{0, 1, 2}, (1.0/4 + 74.0/296) / 2},
		{[]int{0, 1}, (1.0/4 + 8.0/196) / 2},
		{[]int{2}, 0.66 / 2},
		{nil, 0},
	} {
		if got := c.balanced(func(s int) bool { return slices.Contains(tc.keep, s) }); got != tc.want {
			t.Errorf("segments %v: %v, want %v", tc.keep, got, tc.want)
		}
	}
}

// Before the first relevant document no algorithm takes one for relevant, that
// document included: all start with the same miss.
func TestNothingIsRelevantBeforeTheFirst(t *testing.T) {
	s := mainFilter.at(experiment.Smoke, "theatre") // a rare one, which comes late
	env := &experiment.Env{Scale: experiment.Smoke, Lap: func(string) func() { return func() {} }}
	seed := random.Seed{Base: 1, Experiment: "test"}
	n, err := loadNews(env, seed, s)
	if err != nil {
		t.Fatal(err)
	}
	first := slices.Index(n.relevant, true)
	if first < 10 {
		t.Fatalf("document %d is the first relevant one: the test shows nothing", first)
	}
	run := contenders(s.B1, paumGrid)
	if want := 2*len(pairRules) + 2 + len(paumGrid); len(run) != want {
		t.Fatalf("%d algorithms, want %d", len(run), want)
	}
	x := make([]float64, n.dim)
	for _, c := range run {
		filter, err := c.build(n.dim, seed.Stream("pairs"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range first + 1 {
			n.x[i].Dense(x)
			if got, err := filter(x, n.relevant[i]); err != nil || got {
				t.Errorf("%s, document %d of %d: relevant %t, error %v", c.method, i, first, got, err)
			}
		}
	}
}

// A caption speaks of the settings that are drawn, and of the topics' own ratio.
func TestPAUMCaptionIsOfWhatIsDrawn(t *testing.T) {
	tb := experimenttest.Table(Fig4Sensitivity)
	for setting, documents := range map[string]float64{mainVariant: 12902, "all 21,578 documents": 21578} {
		tb.Add(table.Key{"kind": "size", "topic": "gold", "setting": setting, "method": sizeDocuments}, table.Values{"value": documents})
		tb.Add(table.Key{"kind": "size", "topic": "gold", "setting": setting, "method": sizeWords}, table.Values{"value": 500})
		methods := []string{nearestPair.method(plainPOLA)}
		if setting == mainVariant {
			for _, m := range paumGrid {
				methods = append(methods, m.method())
			}
		}
		for _, m := range methods {
			for _, segment := range []string{"0", "1"} {
				tb.Add(table.Key{"kind": "errors", "topic": "gold", "setting": setting, "method": m, "segment": segment},
					table.Values{"relevant": 5, "irrelevant": 50, "missed": 1, "alarms": 2})
			}
		}
	}
	d, err := paumView(settingsRatioLow, topicRatioLow, "").Draw(tb)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Panels) != 1 || !strings.Contains(d.Caption.String(), "the 12902 documents") || !strings.Contains(d.Caption.String(), "in [0.005, 0.01]") {
		t.Errorf("%d panels, caption %q", len(d.Panels), d.Caption)
	}
}
