package vectors

import (
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
)

// madeNeighbours makes the table of errors of LogDet Linear on 500 rows per fold, where k = 3
// is chosen and has errors that are by less than those of k = 10.
func madeNeighbours(by func(features string) float64) *table.Table {
	t := experimenttest.Table(Neighbours)
	for _, d := range protocol.Databases {
		for _, features := range []string{"raw", "zscore"} {
			for trial := range experimenttest.Trials {
				for fold := range protocol.Folds {
					add := func(kind, method, at string, value float64) {
						t.Add(table.Key{"cell": d.Name + features, "trial": strconv.Itoa(trial), "database": d.Name, "features": features, "kind": kind, "method": method, "fold": strconv.Itoa(fold), "at": at},
							table.Values{"value": value, "of": 500})
					}
					spread := 0.1 * float64(trial%3)
					add("size", "", protocol.Neighbours, 10)
					add("wrong", protocol.LogDetLinear, protocol.LabelOf(3), 100-500*by(features)+spread)
					add("wrong", protocol.LogDetLinear, protocol.LabelOf(10), 100-spread)
					add("inner", protocol.LogDetLinear, protocol.LabelOf(3), 1)
					add("inner", protocol.LogDetLinear, protocol.LabelOf(10), 2)
					add("chosen", protocol.LogDetLinear, protocol.LabelOf(3), 1)
				}
			}
		}
	}
	return t
}

// A small gain is what the sentence says; none, a loss and a large one are not.
func TestNeighbourClaimPointsTheRightWay(t *testing.T) {
	for _, c := range []struct {
		raw, zscore float64
		want        judge.Verdict
	}{
		{0.01, 0.01, judge.Reproduced}, {-0.01, -0.01, judge.NotReproduced}, {0.05, 0.05, judge.NotReproduced}, {0.01, -0.01, judge.Partly}, {0, 0, judge.Undecided},
	} {
		f := experimenttest.Judge(t, neighbourClaims, "neighbours-slightly", madeNeighbours(func(features string) float64 {
			if features == "raw" {
				return c.raw
			}
			return c.zscore
		}), nil)
		if f.Verdict != c.want {
			t.Errorf("gains of %v and %v: %s, want %s: %s", c.raw, c.zscore, f.Verdict, c.want, f.Reason)
		}
	}
}

// With the paper's k the errors are those of the method, and k is the first with the fewest
// inner errors.
func TestNeighboursAreChosenInside(t *testing.T) {
	cell := Neighbours.Cells(experiment.Smoke)[0]
	s := cell.Settings.(protocol.NeighbourSettings)
	seed := experimenttest.Seed(cell.Dataset)
	tb, err := Neighbours.Run(t.Context(), experimenttest.Env(), cell, seed)
	if err != nil {
		t.Fatal(err)
	}
	set := experimenttest.Must(protocol.Load(experimenttest.Env(), experimenttest.Seed(cell.Dataset), cell.Dataset))
	problems, err := protocol.NewProblems(set, s.Settings, seed)
	if err != nil {
		t.Fatal(err)
	}
	for f, p := range problems {
		for _, m := range protocol.MethodsNamed(s.Settings, neighbourMethods) {
			g := tb.Where("method", m.Name, "fold", strconv.Itoa(f))
			var want float64
			if err := p.Score(t.Context(), m, s.Rules[0], s.Settings, func(kind, _ string, value, _ int) {
				if kind == "wrong" {
					want = float64(value)
				}
			}); err != nil {
				t.Fatal(err)
			}
			if got := g.Where("kind", "wrong", "at", protocol.LabelOf(s.K)).Values("value"); len(got) != 1 || got[0] != want {
				t.Errorf("%s, fold %d: %v wrong with k = %d, want %g", m.Name, f, got, s.K, want)
			}
			inner := g.Where("kind", "inner")
			first := slices.Index(inner.Values("value"), slices.Min(inner.Values("value")))
			if got := g.Where("kind", "chosen").Index("at"); len(got) != 1 || got[0] != inner.Index("at")[first] {
				t.Errorf("%s, fold %d: %v is chosen, of inner errors %v", m.Name, f, got, inner.Values("value"))
			}
			if inner.Len() != len(s.Ks) || inner.Values("of")[0] != float64(len(p.Train.Y)) {
				t.Errorf("%s, fold %d: %d inner rows of %v", m.Name, f, inner.Len(), inner.Values("of"))
			}
		}
	}
}
