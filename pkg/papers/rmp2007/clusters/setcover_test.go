package clusters

import (
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

func TestSetCoverClaimPointsTheRightWay(t *testing.T) {
	made := func(covers, noMap, noCover float64) *table.Table {
		tb := experimenttest.Table(SetCover)
		for trial := range experimenttest.Trials {
			tb.Add(table.Key{"cell": "random instances", "trial": strconv.Itoa(trial), "m": "2"},
				table.Values{"cases": 10, "covers": covers, "no_covers": 10 - covers, "cover_without_map": noMap, "map_without_cover": noCover})
		}
		return tb
	}
	for _, c := range []struct {
		name string
		tb   *table.Table
		want judge.Verdict
	}{
		{"agreement", made(6, 0, 0), judge.ByConstruction},
		{"a cover without a map", made(6, 1, 0), judge.NotReproduced},
		{"a map without a cover", made(6, 0, 1), judge.NotReproduced},
		{"covers only", made(10, 0, 0), judge.NotReproduced},
	} {
		if v := experimenttest.Verdict(t, SetCover.Claims, "setcover-reduction", c.tb); v != c.want {
			t.Errorf("%s: %s, want %s", c.name, v, c.want)
		}
	}
}

// The worked example by hand: D1 holds elements 1 to 3, D2 2 to 4, D3 4 and 5, D4 1 and 6, D5 5 and 6.
// Two subsets leave at least one element out; D2 is the only one beside D1 that holds 2 and 3.
func TestWorkedCover(t *testing.T) {
	for m, want := range []float64{1: 3, 2: 1, 3: 0, 4: 0, 5: 0} {
		if m == 0 {
			continue
		}
		phi, set, err := workedCover.phi(m)
		if err != nil {
			t.Fatal(err)
		}
		if phi != want || len(set) != m {
			t.Errorf("Φ_%d = %v with %v, want %v", m, phi, set, want)
		}
		if got := workedCover.cover(m); (got != nil) != (want == 0) {
			t.Errorf("cover of size %d: %v", m, got)
		}
	}
	if got := workedCover.cover(3); !slices.Equal(got, []int{0, 1, 4}) {
		t.Errorf("first cover of size 3: %v, want D1, D2, D5", got)
	}
}
