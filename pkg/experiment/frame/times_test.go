package frame

import (
	"testing"

	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Times that grow as the cube have the exponent 3, in each trial; a phase that was not timed, or was timed twice, is refused.
func TestExponentOfTimes(t *testing.T) {
	rows := table.New([]string{"cell", "trial", "size"}, nil)
	times := table.New([]string{"cell", "trial", "phase"}, []string{"cpu_s"})
	for k, trial := range []string{"0", "1"} {
		for _, n := range []float64{10, 20, 50} {
			key := table.Key{"cell": "a", "trial": trial, "size": table.Format(n)}
			rows.Add(key, nil)
			times.Add(table.Key{"cell": "a", "trial": trial, "phase": table.Format(n)}, table.Values{"cpu_s": float64(1+6*k) * n * n * n})
		}
	}
	phase := func(row table.Key) string { return row["size"] }
	cubic := Exponent(Cells("size"), Seconds)
	if got := cubic(WithSeconds(rows, times, phase)); !near(got, []float64{3, 3}) {
		t.Errorf("exponents %v, want 3 and 3", got)
	}
	refused := func(work func()) (err error) {
		defer judge.Refused(&err)
		work()
		return nil
	}
	if err := refused(func() { cubic(WithSeconds(rows, times, phase).Where("size", "10")) }); err == nil {
		t.Error("one point has an exponent")
	}
	for name, at := range map[string]*table.Table{"none": times.Where("phase", "10"), "two": table.Concat(times, times)} {
		if err := refused(func() { WithSeconds(rows, at, phase) }); err == nil {
			t.Errorf("%s: a row has a time", name)
		}
	}
	if got := WithSeconds(rows, times, func(table.Key) string { return "" }).Unique("seconds"); len(got) != 1 || got[0] != "" {
		t.Errorf("rows without a phase have the times %q", got)
	}
}
