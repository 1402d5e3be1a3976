package model_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/plots"
	"metriclab/pkg/tables"
)

// points returns where each row is drawn, by the name of its series.
func points(t *testing.T, d plots.Drawing) map[string]plots.Points {
	t.Helper()
	if len(d.Panels) != 1 {
		t.Fatalf("%d panels", len(d.Panels))
	}
	out := map[string]plots.Points{}
	for _, m := range d.Panels[0].Marks {
		p := m.(plots.Points)
		out[p.Name] = p
	}
	must(d.Render("plot", plots.Options{}))
	return out
}

// In two dimensions the drawing keeps all distances, shows all variance and has
// equal axes.
func TestPlot(t *testing.T) {
	d := blobs(12, 30, 3, 2)
	m := fit(t, d, model.Recipe{Learner: "pola", Pairs: 50})
	drawing := must(m.Plot(d))
	series := points(t, drawing.Drawing)
	x := must(m.Prepare(d.X))
	at := map[string]int{}
	place := func(i int) []float64 {
		p := series["class "+d.Labels[i]]
		k := at[d.Labels[i]]
		at[d.Labels[i]]++
		return []float64{p.X[k], p.Y[k]}
	}
	var last []float64
	const tol = 1e-9 // a rotation of coordinates of order 1
	for i := range d.Labels {
		p := place(i)
		if i > 0 {
			want := m.Metric().SqDist(x.RawRowView(i-1), x.RawRowView(i))
			if got := (metric.Euclidean{}).SqDist(last, p); math.Abs(got-want) > tol {
				t.Errorf("rows %d and %d: squared distance %v, want %v", i-1, i, got, want)
			}
		}
		last = p
	}
	panel := drawing.Panels[0]
	var first, second float64
	must(fmt.Sscanf(panel.XLabel, "principal direction 1 (%f %% of the variance)", &first))
	must(fmt.Sscanf(panel.YLabel, "principal direction 2 (%f %% of the variance)", &second))
	if math.Abs(first+second-100) > 0.11 || first < second || !panel.Equal { // each is rounded to three digits
		t.Errorf("shares %v and %v, equal axes %v", first, second, panel.Equal)
	}
	looks := map[[2]int]bool{}
	for _, p := range series {
		looks[[2]int{p.Color, p.Shape}] = true
	}
	if len(looks) != 3 {
		t.Errorf("%d looks for 3 classes", len(looks))
	}
}

// Classes of the training rows keep their look in other data; new ones get theirs;
// rows without labels are grey.
func TestPlotOtherData(t *testing.T) {
	d := blobs(13, 30, 3, 2)
	m := fit(t, d, model.Recipe{Learner: "fda"})
	look := func(d *tables.Data) map[string]plots.Points {
		drawing := must(m.Plot(d))
		return points(t, drawing.Drawing)
	}
	before := look(d)
	other := blobs(14, 10, 2, 2)
	for i := range other.Labels {
		other.Labels[i] = []string{"c", "new"}[i%2]
	}
	after := look(other)
	if len(after) != 2 || after["class c"].Color != before["class c"].Color || after["class c"].Shape != before["class c"].Shape || after["class new"].Color != 3 {
		t.Errorf("before %v, after %v", before, after)
	}
	other.Labels = nil
	if grey := look(other); len(grey) != 1 || grey["no labels"].Color != plots.Grey || len(grey["no labels"].X) != 10 {
		t.Errorf("without labels: %v", grey)
	}
}

// All of up to 64 classes look different; more are refused.
func TestPlotManyClasses(t *testing.T) {
	d := blobs(15, 130, 2, 2)
	for i := range d.Labels {
		d.Labels[i] = fmt.Sprint(i % model.MaxClasses)
	}
	m := fit(t, d, model.Recipe{Learner: model.Euclidean})
	drawing := must(m.Plot(d))
	looks := map[[2]int]bool{}
	for _, p := range points(t, drawing.Drawing) {
		looks[[2]int{p.Color % 8, p.Shape % 8}] = true
	}
	if len(looks) != model.MaxClasses {
		t.Errorf("%d looks for %d classes", len(looks), model.MaxClasses)
	}
	d.Labels[0] = "one more"
	model.Refused(t, "", model.ErrorOf(m.Plot(d)), "65 classes, want at most 64")
}

// One dimension is drawn against the row of the file; what cannot be drawn is an
// error.
func TestPlotDegenerate(t *testing.T) {
	d := blobs(16, 20, 2, 2)
	m := fit(t, d, model.Recipe{Learner: "fda"})
	drawing := must(m.Plot(d))
	p := points(t, drawing.Drawing)["class b"]
	if p.Y[0] != 2 || p.Y[9] != 20 || drawing.Panels[0].Equal || !strings.Contains(drawing.Panels[0].YLabel, "row of the file") {
		t.Errorf("rows %v, panel %+v", p.Y, drawing.Panels[0])
	}
	narrow := blobs(16, 20, 2, 1)
	if drawing, err := fit(t, narrow, model.Recipe{Learner: model.Euclidean}).Plot(narrow); err != nil || !strings.Contains(drawing.Caption.String(), "20 rows of blobs, ") || !strings.Contains(drawing.Caption.String(), "learned from 20 rows with 1 feature.") {
		t.Errorf("caption %q, error %v", drawing.Caption.String(), err)
	}
	one := blobs(16, 2, 2, 2)
	one.X, one.Labels = mat.NewDense(1, 2, nil), one.Labels[:1]
	model.Refused(t, "one row", model.ErrorOf(m.Plot(one)), "1 row")
	same := blobs(16, 4, 2, 2)
	same.X.Zero()
	if drawing, err := fit(t, d, model.Recipe{Learner: model.Euclidean}).Plot(same); err != nil || !strings.Contains(drawing.Panels[0].XLabel, "(0 %") {
		t.Errorf("rows that coincide: %+v, error %v", drawing.Panels, err)
	}
}

// The diagonal is that of M, in per cent of its trace; what is not named is summed.
func TestPlotMetric(t *testing.T) {
	for _, d := range []int{1, 2, 40} {
		m := fit(t, blobs(9, 60, 2, d), model.Recipe{Learner: "rca", Raw: d == 2})
		drawing := must(m.PlotMetric())
		must(drawing.Render("plot", plots.Options{}))
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
