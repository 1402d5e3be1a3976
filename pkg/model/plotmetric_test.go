package model_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"metriclab/pkg/model"
	"metriclab/pkg/plots"
)

// The diagonal is that of M, in per cent of its trace; what is not named is summed.
func TestPlotMetric(t *testing.T) {
	for _, d := range []int{1, 2, 40} {
		m := fit(t, blobs(9, 60, 2, d), model.Recipe{Learner: "rca", Raw: d == 2})
		drawing, err := m.PlotMetric()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := drawing.Render("plot", plots.Options{}); err != nil {
			t.Fatal(err)
		}
		matrix := m.Metric().(interface{ SqDist(x, y []float64) float64 })
		trace := 0.0
		weight := map[string]float64{}
		for j := range d {
			e := make([]float64, d)
			e[j] = 1
			weight[m.Layout().Features[j]] = matrix.SqDist(e, make([]float64, d))
			trace += matrix.SqDist(e, make([]float64, d))
		}
		diagonal := drawing.Panels[0].Marks[0].(plots.Intervals)
		sum := 0.0
		for i, name := range diagonal.Labels {
			sum += diagonal.X[i]
			if w, ok := weight[name]; ok && math.Abs(diagonal.X[i]-100*w/trace) > 1e-9 {
				t.Errorf("%d features, %s: %v, want %v", d, name, diagonal.X[i], 100*w/trace)
			} else if !ok && name != "10 other features, summed" {
				t.Errorf("%d features: label %q", d, name)
			}
			if i > 0 && i < model.MaxPlotted && diagonal.X[i] > diagonal.X[i-1] {
				t.Errorf("%d features: %v comes after %v", d, diagonal.X[i], diagonal.X[i-1])
			}
		}
		if math.Abs(sum-100) > 1e-9 {
			t.Errorf("%d features: the sum is %v", d, sum)
		}
	}
}

// A metric without a matrix, and a metric of 0, are refused.
func TestPlotMetricErrors(t *testing.T) {
	if _, err := fit(t, blobs(9, 60, 2, 2), model.Recipe{Learner: "kernel-pca"}).PlotMetric(); !errors.Is(err, model.ErrKernel) || !strings.Contains(err.Error(), "kernel-pca") {
		t.Errorf("a kernel: %v", err)
	}
}
