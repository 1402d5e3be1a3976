package erkle2015

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/table"
)

// madeTau has test and validation errors, out of 100, by τ.
func madeTau(validation, test map[float64]int) *table.Table {
	tb := experimenttest.Table(Tau)
	for _, tau := range slices.Sorted(maps.Keys(validation)) {
		wrong := validation[tau]
		for trial := range 2 {
			for _, size := range []string{"10", "20"} {
				v := table.Values{"iterations": 3, "residual": 1, "rank": 2}
				shift := 10 * trial // the mean decides
				errorCount{wrong: wrong - shift, of: 100}.put(v, "validation")
				errorCount{wrong: test[tau] + shift, of: 100}.put(v, "test")
				tb.Add(table.Key{"trial": strconv.Itoa(trial), "data": syntheticPoints, "method": gnmdsBatch, "tau": table.Format(tau), "triplets": size, "stopped": "converged"}, v)
			}
		}
	}
	return tb
}

func TestBestTau(t *testing.T) {
	tb := madeTau(map[float64]int{0.1: 40, 1: 30, 10: 30, 100: 50}, map[float64]int{0.1: 40, 1: 40, 10: 35, 100: 50})
	c := choiceOf(tb)
	if c != (tauChoice{1, 10, 1}) {
		t.Errorf("choice %+v, want the smaller of the equal ones by validation, 1, and 10 by test", c)
	}
	if c.of(byTest) != 10 || c.of(byValidation) != 1 || c.of(toConvergence) != 1 {
		t.Errorf("%+v by reading: %v, %v, %v", c, c.of(byTest), c.of(byValidation), c.of(toConvergence))
	}
	if experimenttest.Refused(func() { tauOf("no such data", gnmdsBatch) }) == nil {
		t.Error("there is a choice for unknown data")
	}
}

// Every batch method has a choice on every data set where it runs, and it is from the grid.
func TestTauIsChosenEverywhere(t *testing.T) {
	for _, d := range dataSets {
		for _, b := range d.batches {
			c := tauOf(d.name, b.name)
			if !slices.Contains(d.grid(b.name), c.validated) || !slices.Contains(d.grid(b.name), c.bestOnTest) || !slices.Contains(d.grid(b.name), c.atEnd) {
				t.Errorf("%s, %s: %+v", d.name, b.name, c)
			}
		}
	}
}

func TestTauSizes(t *testing.T) {
	if got := tauSizes([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}); !slices.Equal(got, []int{3, 6, 9, 12}) {
		t.Errorf("sizes %v, want every third, the last among them", got)
	}
}

// The choices are those of the committed table.
func TestTauIsThatOfTheTable(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "results", filepath.FromSlash(Tau.ID))
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	tb, err := harness.ReadTable(Tau, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dataSets {
		for _, b := range d.batches {
			g := tb.Where("data", d.name, "method", b.name)
			if g.Len() == 0 {
				t.Errorf("%s, %s: no rows", d.name, b.name)
				continue
			}
			c := choiceOf(g)
			if frozen := tauChosen[d.name][b.name]; c != frozen {
				t.Errorf("%s, %s: the table chooses %+v, the figures have %+v", d.name, b.name, c, frozen)
			}
			for _, tau := range []float64{c.validated, c.bestOnTest} { // the paper never had either at an end
				if grid := d.grid(b.name); tau == grid[0] || tau == grid[len(grid)-1] {
					t.Errorf("%s, %s: τ = %g is at an end of the grid", d.name, b.name, tau)
				}
			}
		}
	}
}
