package kernels

import (
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// madeLarge makes times of 1 s with 10,000 objects, and by(part) times that with 60,000.
func madeLarge(by func(part string) float64) (t, times *table.Table) {
	t = experimenttest.Table(Large)
	times = table.New([]string{"job", "cell", "trial", "phase"}, []string{"wall_s", "cpu_s"})
	for trial := range experimenttest.Trials {
		for i, n := range []int{10_000, 60_000} {
			for at, part := range partOf {
				spent := 1 + 1e-3*float64((trial+i)%3)
				if n == 60_000 {
					spent *= by(part)
				}
				times.Add(table.Key{"cell": "a", "trial": strconv.Itoa(trial), "phase": largePhase(part, strconv.Itoa(n))}, table.Values{"cpu_s": spent})
				t.Add(table.Key{"cell": "a", "trial": strconv.Itoa(trial), "kind": "numbers", "objects": strconv.Itoa(n), "at": at}, table.Values{"value": 1})
			}
		}
	}
	return t, times
}

func TestLargeClaimPointsTheRightWay(t *testing.T) {
	for _, c := range []struct {
		name       string
		fit, embed float64
		want       judge.Verdict
	}{
		{"independent and linear", 1.1, 6, judge.Reproduced},
		{"linear fits", 6, 6, judge.NotReproduced},
		{"quadratic in all", 36, 36, judge.NotReproduced},
		{"a quadratic embedding", 1, 36, judge.NotReproduced},
	} {
		tb, times := madeLarge(func(part string) float64 {
			if part == embedAll {
				return c.embed
			}
			return c.fit
		})
		if f := experimenttest.Judge(t, largeClaims, "large-scalable", tb, times); f.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, f.Verdict, c.want, f.Reason)
		}
	}
}

// What is kept follows from the pairs and the features, not from the objects.
func TestLargeKeepsWhatPairsJoin(t *testing.T) {
	cell := Large.Cells(experiment.Smoke)[0]
	s := cell.Settings.(largeSettings)
	tb, err := Large.Run(t.Context(), experimenttest.Env(), cell, experimenttest.Seed(cell.Dataset))
	if err != nil {
		t.Fatal(err)
	}
	const d = 4 // features of the built-in data
	for _, n := range s.Objects {
		of := func(what string) float64 {
			return tb.Where("objects", strconv.Itoa(n), "at", what).Values("value")[0]
		}
		most := float64(2 * s.Pairs)
		if of(metricKept) != d*d || of(allObjects) != float64(n*n) || of(kernelKept) <= 0 || of(kernelKept) > most*(most+d) {
			t.Errorf("%d objects: %g, %g and %g numbers", n, of(metricKept), of(kernelKept), of(allObjects))
		}
	}
}
