package vectors

import (
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/papers/logdet2012/protocol"
)

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
