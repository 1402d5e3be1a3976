package experiment_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// drawing returns the error of a view that draws with f.
func drawing(f func(*table.Table)) error {
	t := table.New([]string{"method"}, []string{"y"})
	t.Add(table.Key{"method": "POLA"}, table.Values{"y": 2})
	v := experiment.View{Draw: func(t *table.Table) (plots.Drawing, error) { f(t); return plots.Drawing{}, nil }}
	_, err := v.DrawWith(t, nil)
	return err
}

func TestRefuse(t *testing.T) {
	cause := errors.New("cause")
	for _, tt := range []struct {
		f    func(*table.Table)
		want string
	}{
		{func(t *table.Table) { experiment.First(t.Where("method", "POLA"), "y") }, ""},
		{func(t *table.Table) { experiment.First(t.Where("method", "1-NN"), "y") }, "no rows with method 1-NN, want at least 1 for its y"},
		{func(t *table.Table) { experiment.FirstName(t.Where("method", ""), "method") }, `no rows with method ""`},
		{func(*table.Table) { experiment.Last("sizes", []int{}) }, "no sizes, want at least 1"},
		{func(*table.Table) { judge.SameLength("pairs", []float64{1}, []float64{1, 2}) }, "pairs: 1 values against 2"},
		{func(*table.Table) { experiment.Whole("side", 28, 1, 28) }, ""},
		{func(*table.Table) { experiment.Whole("side", 0, 1, 28) }, "side: 0, want a whole number from 1 to 28"},
		{func(*table.Table) { experiment.Whole("side", 29, 1, 28) }, "side: 29"},
		{func(*table.Table) { experiment.Whole("side", 1.5, 1, 28) }, "side: 1.5"},
		{func(*table.Table) { experiment.Whole("side", math.NaN(), 1, 28) }, "side: NaN"},
		{func(*table.Table) { experiment.Whole("side", 1e308, 1, math.MaxInt) }, "side: 1e+308"},
		{func(*table.Table) { experiment.SizeRatio("test/train", 1, 0) }, "test/train: 1/0, want a positive number"},
		{func(*table.Table) { experiment.SizeRatio("test/train", 1, 2) }, ""},
		{func(*table.Table) { judge.SummarizeResampled([]float64{1}, math.NaN()) }, "ratio of test to training size is NaN"},
		{func(*table.Table) { judge.ResampledP([]float64{1}, -1) }, "TestRatio -1"},
		{func(*table.Table) { judge.PseudoValues(1, nil) }, "jackknife of 1 segments"},
		{func(*table.Table) { judge.Refuse("wrapped: %w", cause) }, "wrapped: cause"},
	} {
		err := drawing(tt.f)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("error is %v, want %q", err, tt.want)
		}
	}
	if err := drawing(func(*table.Table) { judge.Refuse("%w", cause) }); !errors.Is(err, cause) {
		t.Errorf("error is %v, want one that wraps the cause", err)
	}
}

// A bug is no refusal: it stays a panic, which the runner reports with its stack.
func TestRefuseHidesNoBug(t *testing.T) {
	defer func() {
		if p := recover(); p != "bug" {
			t.Errorf("recovered %v, want the bug", p)
		}
	}()
	c := experiment.Claim{Test: func(*table.Table) judge.Test { panic("bug") }}
	_, _ = c.Judge(nil, nil)
}
