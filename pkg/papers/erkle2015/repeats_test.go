package erkle2015

import (
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// repeatsTable makes up errors per thousand after all triplets, of which uniform draws have 300. After a fourth of them the
// order is the other way round.
func repeatsTable(seldom map[string]int) *table.Table {
	tb := experimenttest.Table(Repeats)
	for _, data := range weightSets {
		for trial := range experimenttest.Trials {
			for _, method := range drawMethods {
				for m, d := range drawKinds {
					for _, size := range []int{25, 100} {
						wrong := 300
						if m == 1 {
							wrong = seldom[method]
						}
						if size == 25 {
							wrong = 600 - wrong
						}
						v := table.Values{}
						errorCount{wrong + (trial+m)%3, 0, 1000}.put(v, "test")
						errorCount{100, 0, 1000}.put(v, "train")
						tb.Add(table.Key{"cell": data, "trial": strconv.Itoa(trial), "method": method, "draws": d.String(), "triplets": strconv.Itoa(size)}, v)
					}
				}
			}
		}
	}
	return tb
}

func TestRepeatsClaims(t *testing.T) {
	for _, c := range []struct {
		pa, ste int
		want    judge.Verdict
	}{
		{280, 280, judge.Reproduced}, {320, 320, judge.NotReproduced}, {280, 320, judge.Partly},
	} {
		if f := experimenttest.Judge(t, repeatsClaims, "repeats-seldom", repeatsTable(map[string]int{paERKLETen: c.pa, steERKLETen: c.ste}), nil); f.Verdict != c.want {
			t.Errorf("%d and %d of 1000: %s, want %s: %s", c.pa, c.ste, f.Verdict, c.want, f.Reason)
		}
	}
}
