package pola2004

import (
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

func TestTheorem1ClaimsPointTheRightWay(t *testing.T) {
	made := func(loss, mistakes, lemma, printed, padded float64) *table.Table {
		tb := experimenttest.Table(Theorem1)
		for i, s := range theorem1Streams {
			for trial := range experimenttest.Trials {
				l := loss
				if i == 1 {
					l *= padded
				}
				tb.Add(table.Key{"cell": s.name(), "trial": strconv.Itoa(trial), "kind": "round"}, table.Values{"round": 1,
					"squared_loss": l, "mistakes": mistakes, "bound": 1, "lemma_left": lemma, "lemma_right": 1, "printed_left": printed, "printed_right": 1})
			}
		}
		return tb
	}
	yes, no := made(.5, .5, .5, .5, 1), made(2, 2, 2, 2, 1.1)
	for _, c := range theorem1Claims {
		want := judge.ByConstruction
		if c.ID == "lemma3-printed" { // is not proved
			want = judge.Reproduced
		}
		if v := experimenttest.Verdict(t, theorem1Claims, c.ID, yes); v != want {
			t.Errorf("%s on a supporting table: %s", c.ID, v)
		}
		if v := experimenttest.Verdict(t, theorem1Claims, c.ID, no); v != judge.NotReproduced {
			t.Errorf("%s on an opposing table: %s", c.ID, v)
		}
	}
}

// Chunklets of a size hold images of one digit; one per digit holds all.
func TestChunklets(t *testing.T) {
	y := []int{0, 8, 0, 8, 0, 8, 0}
	if got, want := chunklets(y, 2), []int{0, 1, 0, 1, 2, -1, 2}; !slices.Equal(got, want) {
		t.Errorf("chunklets of 2: %v, want %v", got, want)
	}
	if got := chunklets(y, 0); !slices.Equal(got, y) {
		t.Errorf("one per digit: %v", got)
	}
}

// A run of batch POLA that ends beyond its bound, or does not converge, is none within it; pairs without a bound do not count.
func TestBatchBound(t *testing.T) {
	made := func(iterations, converged float64) *table.Table {
		tb := experimenttest.Table(Batch)
		for cell, bound := range map[string]float64{"separable": 100, "digits": 0} {
			for trial := range experimenttest.Trials {
				for _, m := range batchFits {
					v := table.Values{"iterations": iterations, "bound": bound, "converged": converged}
					if bound == 0 {
						v["iterations"], v["converged"] = 1e6, 0
					}
					tb.Add(table.Key{"cell": cell, "trial": strconv.Itoa(trial), "kind": "run", "method": m}, v)
				}
			}
		}
		return tb
	}
	for _, c := range []struct {
		iterations, converged float64
		want                  judge.Verdict
	}{{100, 1, judge.ByConstruction}, {101, 1, judge.NotReproduced}, {100, 0, judge.NotReproduced}} {
		if v := experimenttest.Verdict(t, batchClaims, "batch-bound", made(c.iterations, c.converged)); v != c.want {
			t.Errorf("%v iterations, converged %v: %s, want %s", c.iterations, c.converged, v, c.want)
		}
	}
}

// Each bound is that of its own streams.
func TestBounds(t *testing.T) {
	tb := experimenttest.Table(Bounds)
	for b, left := range map[string]float64{boundSum: 10, boundKernel: 10.001, boundRelative: 5} {
		for trial := range experimenttest.Trials {
			tb.Add(table.Key{"cell": b, "trial": strconv.Itoa(trial), "kind": "round", "bound": b}, table.Values{"round": 1, "left": left, "right": 10})
		}
	}
	for id, want := range map[string]judge.Verdict{"bounds-sum": judge.ByConstruction, "bounds-kernel": judge.NotReproduced, "bounds-relative": judge.ByConstruction} {
		if v := experimenttest.Verdict(t, Bounds.Claims, id, tb); v != want {
			t.Errorf("%s: %s, want %s", id, v, want)
		}
	}
}
