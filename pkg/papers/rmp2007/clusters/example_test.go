package clusters

import (
	"math"
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/table"
)

// exampleTable makes up the rows of a run: the regrets of RMP and FTL's loss at horizon T, and the
// best map's.
func exampleTable(named, rmp, ftl, best func(t float64) float64) *table.Table {
	tb := experimenttest.Table(Example)
	horizons := exampleHorizons(experiment.Full)
	for _, d := range protocol.Distortions {
		for trial := range experimenttest.Trials {
			add := func(kind, method string, horizon int, v table.Values) {
				tb.Add(table.Key{"cell": string(d), "trial": strconv.Itoa(trial), "kind": kind, "method": method, "horizon": strconv.Itoa(horizon), "t": strconv.Itoa(horizon)}, v)
			}
			for _, h := range horizons {
				x := float64(h)
				add("regret", protocol.FTL, h, table.Values{"loss": ftl(x), "expected": ftl(x), "best": best(x)})
				for _, rule := range exampleRules {
					add("regret", rule, h, table.Values{"loss": best(x) + rmp(x), "expected": best(x) + rmp(x), "best": best(x)})
				}
			}
			last := horizons[len(horizons)-1]
			add("named", "", last, table.Values{"loss": named(float64(last))})
		}
	}
	return tb
}

func TestExampleClaimsPointTheRightWay(t *testing.T) {
	yes := exampleTable(func(x float64) float64 { return x + 1 }, math.Sqrt, func(x float64) float64 { return x }, func(x float64) float64 { return x / 2 })
	no := exampleTable(func(x float64) float64 { return x }, func(x float64) float64 { return 9 * x }, func(x float64) float64 { return x - 1 }, func(x float64) float64 { return x/2 + 1 })
	for _, c := range exampleClaims {
		if v := experimenttest.Verdict(t, exampleClaims, c.ID, yes); v != judge.ByConstruction {
			t.Errorf("%s on a supporting table: %s", c.ID, v)
		}
		if v := experimenttest.Verdict(t, exampleClaims, c.ID, no); v != judge.NotReproduced {
			t.Errorf("%s on an opposing table: %s", c.ID, v)
		}
	}
	// A regret of order T^0.6 is not O(√T): T sixteenfold makes it 16^0.1 = 1.32 times too large.
	steep := exampleTable(nil0, func(x float64) float64 { return math.Pow(x, 0.6) }, nil0, nil0)
	if v := experimenttest.Verdict(t, exampleClaims, "example-rmp-root", steep); v != judge.NotReproduced {
		t.Errorf("a regret of T^0.6 as O(√T): %s", v)
	}
}

func nil0(float64) float64 { return 0 }

// The costs of the three vectors by hand.
func TestExampleRound(t *testing.T) {
	for _, c := range []struct {
		t          int
		d          protocol.Distortion
		ab, bc, ac float64
	}{{1, "L1", 0.5, 0, 0.5}, {1, "squared", 0.25, 0, 0.25}, {2, "L1", 0, 1, 1}, {3, "squared", 1, 0, 1}} {
		f := exampleRound(c.t, protocol.Compare[c.d]).Cost
		if f.At(0, 1) != c.ab || f.At(1, 2) != c.bc || f.At(0, 2) != c.ac || f.At(1, 0) != c.ab || f.At(2, 2) != 0 {
			t.Errorf("round %d, %s: %v", c.t, c.d, f)
		}
	}
}
