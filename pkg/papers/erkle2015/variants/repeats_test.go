package variants

import (
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/protocol"
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
						protocol.ErrorCount{Wrong: wrong + (trial+m)%3, Ties: 0, Of: 1000}.Put(v, "test")
						protocol.ErrorCount{Wrong: 100, Ties: 0, Of: 1000}.Put(v, "train")
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
		if f := experimenttest.Judge(t, repeatsClaims, "repeats-seldom", repeatsTable(map[string]int{protocol.PAERKLETen: c.pa, protocol.STEERKLETen: c.ste}), nil); f.Verdict != c.want {
			t.Errorf("%d and %d of 1000: %s, want %s: %s", c.pa, c.ste, f.Verdict, c.want, f.Reason)
		}
	}
}
