package digits

import (
	"math"
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/papers/rmp2007/clusters"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/table"
)

// objectiveTable makes up regrets by number of images.
func objectiveTable(pixels float64, regret func(n float64) float64) *table.Table {
	tb := experimenttest.Table(Objective)
	for trial := range experimenttest.Trials {
		for _, task := range protocol.DigitTasks {
			for _, m := range protocol.FeatureCounts {
				key := func(kind, method, round string) table.Key {
					return table.Key{"cell": task.String(), "trial": strconv.Itoa(trial), "kind": kind, "m": strconv.Itoa(m), "method": method, "round": round}
				}
				for _, d := range protocol.Distortions {
					tb.Add(key("best", string(d), ""), table.Values{"loss": 100, "lower": 99, "pixels": pixels})
				}
				for _, v := range protocol.MapVariants[:3] {
					for _, n := range clusters.EveryTenth(objectiveImages) {
						tb.Add(key("loss", v.Name, strconv.Itoa(n)), table.Values{"loss": 100 + regret(float64(n))*(1+1e-3*float64(trial%3)), "against": 100})
					}
				}
			}
		}
	}
	return tb
}

func TestObjectiveClaimsPointTheRightWay(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pixels float64
		regret func(n float64) float64
		id     string
		want   judge.Verdict
	}{
		{"a root", 784, func(n float64) float64 { return 100 * math.Sqrt(n) }, "objective-sublinear", judge.Reproduced},
		{"more than linear", 784, func(n float64) float64 { return 10 * math.Pow(n, 1.2) }, "objective-sublinear", judge.NotReproduced},
		{"a bound above all regrets", 784, math.Sqrt, "objective-bound", judge.ByConstruction},
		{"a regret above A·T", 784, func(n float64) float64 { return 1e4 * n }, "objective-bound", judge.NotReproduced},
	} {
		if v := experimenttest.Verdict(t, objectiveClaims, tt.id, objectiveTable(tt.pixels, tt.regret)); v != tt.want {
			t.Errorf("%s: %s is %q, want %q", tt.name, tt.id, v, tt.want)
		}
	}
	if b := mapping.PrintedRegretBound(784, 784, 10, objectiveImages, clusters.Confidence); b < 784*objectiveImages {
		t.Errorf("the bound is %v, less than A·T", b)
	}
}
