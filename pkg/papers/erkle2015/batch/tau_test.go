package batch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
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
				protocol.ErrorCount{Wrong: wrong - shift, Of: 100}.Put(v, "validation")
				protocol.ErrorCount{Wrong: test[tau] + shift, Of: 100}.Put(v, "test")
				tb.Add(table.Key{"trial": strconv.Itoa(trial), "data": protocol.SyntheticPoints, "method": protocol.GNMDSBatch, "tau": table.Format(tau), "triplets": size, "stopped": "converged"}, v)
			}
		}
	}
	return tb
}

func TestBestTau(t *testing.T) {
	tb := madeTau(map[float64]int{0.1: 40, 1: 30, 10: 30, 100: 50}, map[float64]int{0.1: 40, 1: 40, 10: 35, 100: 50})
	c := variants.ChoiceOf(tb, "tau")
	if c != (protocol.TauChoice{Validated: 1, BestOnTest: 10, AtEnd: 1}) {
		t.Errorf("choice %+v, want the smaller of the equal ones by validation, 1, and 10 by test", c)
	}
	if c.Of(protocol.ByTest) != 10 || c.Of(protocol.ByValidation) != 1 || c.Of(learning.ToConvergence) != 1 {
		t.Errorf("%+v by reading: %v, %v, %v", c, c.Of(protocol.ByTest), c.Of(protocol.ByValidation), c.Of(learning.ToConvergence))
	}
	if experimenttest.Refused(func() { protocol.TauOf("no such data", protocol.GNMDSBatch) }) == nil {
		t.Error("there is a choice for unknown data")
	}
}

// Every batch method has a choice on every data set where it runs, and it is from the grid.
func TestTauIsChosenEverywhere(t *testing.T) {
	for _, d := range protocol.DataSets {
		for _, b := range d.Batches {
			c := protocol.TauOf(d.Name, b.Name)
			if !slices.Contains(d.Grid(b.Name), c.Validated) || !slices.Contains(d.Grid(b.Name), c.BestOnTest) || !slices.Contains(d.Grid(b.Name), c.AtEnd) {
				t.Errorf("%s, %s: %+v", d.Name, b.Name, c)
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
	dir := filepath.Join("..", "..", "..", "..", "results", filepath.FromSlash(Tau.ID))
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	tb, err := harness.ReadTable(Tau, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range protocol.DataSets {
		for _, b := range d.Batches {
			g := tb.Where("data", d.Name, "method", b.Name)
			if g.Len() == 0 {
				t.Errorf("%s, %s: no rows", d.Name, b.Name)
				continue
			}
			c := variants.ChoiceOf(g, "tau")
			if frozen := protocol.TauChosen[d.Name][b.Name]; c != frozen {
				t.Errorf("%s, %s: the table chooses %+v, the figures have %+v", d.Name, b.Name, c, frozen)
			}
			for _, tau := range []float64{c.Validated, c.BestOnTest} { // the paper never had either at an end
				if grid := d.Grid(b.Name); tau == grid[0] || tau == grid[len(grid)-1] {
					t.Errorf("%s, %s: τ = %g is at an end of the grid", d.Name, b.Name, tau)
				}
			}
		}
	}
}
