package costs

import (
	"math"
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/table"
)

// speedTables make up runs in which each update takes so many seconds.
func speedTables(structured, dense func(n float64) float64) (t, times *table.Table) {
	t = experimenttest.Table(Speed)
	times = table.New([]string{"job", "cell", "trial", "phase"}, []string{"wall_s", "cpu_s"})
	for _, c := range speedCells(experiment.Full) {
		for trial := range experimenttest.Trials {
			noise := 1 + 1e-3*float64(trial%3)
			add := func(kind string, checkpoints []int, of func(n float64) float64) {
				from := 0
				for _, to := range checkpoints {
					key := table.Key{"cell": "n = " + strconv.Itoa(c.Objects), "trial": strconv.Itoa(trial), "kind": kind, "objects": strconv.Itoa(c.Objects), "triplets": strconv.Itoa(to)}
					t.Add(key, table.Values{"active": 0.5 * float64(to), "projected": 0, "bytes": 8})
					times.Add(table.Key{"cell": key["cell"], "trial": key["trial"], "phase": speedPhase(kind, strconv.Itoa(to))},
						table.Values{"cpu_s": 0.5 * float64(to-from) * of(float64(c.Objects)) * noise})
					from = to
				}
			}
			add(speedStructured, c.Checkpoints(), structured)
			if c.Dense > 0 {
				add(speedDense, []int{c.Dense}, dense)
			}
		}
	}
	return t, times
}

// Times per active triplet are those that were put in, over a part of the stream and between checkpoints.
func TestTimed(t *testing.T) {
	tb, times := speedTables(func(n float64) float64 { return 1e-3 * n }, func(n float64) float64 { return n })
	rows := timed(tb.Where("trial", "0", "kind", speedStructured), times)
	if got := len(rows.Unique("cell")); got != len(speedCells(experiment.Full)) || rows.Where("per object", "0.5").Len() != got {
		t.Fatalf("%d cells, %d rows after n/2 triplets", got, rows.Where("per object", "0.5").Len())
	}
	for i, n := range frame.Cells("objects")(rows) {
		for _, column := range []string{"between", "mean"} {
			if got, want := rows.Values(column)[i], 1e-3*n; math.Abs(got/want-1) > 1e-9 { // exact but for round-off
				t.Errorf("n = %v, %s of row %d: %v s, want %v", n, column, i, got, want)
			}
		}
	}
	idle := experimenttest.Table(Speed)
	idle.Add(table.Key{"cell": "n = 10", "trial": "0", "kind": speedStructured, "objects": "10", "triplets": "5"}, table.Values{"active": 0})
	if experimenttest.Refused(func() { timed(idle, times) }) == nil {
		t.Error("no error for a mean over no triplet")
	}
}
