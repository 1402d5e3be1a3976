package model_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/plots"
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
	if _, err := d.Render("plot", plots.Options{}); err != nil {
		t.Fatal(err)
	}
	return out
}

// In two dimensions the drawing keeps all distances, shows all variance and has
// equal axes.
func TestPlot(t *testing.T) {
	d := blobs(12, 30, 3, 2)
	m := fit(t, d, model.Recipe{Learner: "pola", Pairs: 50})
	drawing, err := m.Plot(d)
	if err != nil {
		t.Fatal(err)
	}
	series := points(t, drawing.Drawing)
	x, err := m.Prepare(d.X)
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := fmt.Sscanf(panel.XLabel, "principal direction 1 (%f %% of the variance)", &first); err != nil {
		t.Error(err)
	}
	if _, err := fmt.Sscanf(panel.YLabel, "principal direction 2 (%f %% of the variance)", &second); err != nil {
		t.Error(err)
	}
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
	look := func(d *model.Data) map[string]plots.Points {
		drawing, err := m.Plot(d)
		if err != nil {
			t.Fatal(err)
		}
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
	drawing, err := m.Plot(d)
	if err != nil {
		t.Fatal(err)
	}
	looks := map[[2]int]bool{}
	for _, p := range points(t, drawing.Drawing) {
		looks[[2]int{p.Color % 8, p.Shape % 8}] = true
	}
	if len(looks) != model.MaxClasses {
		t.Errorf("%d looks for %d classes", len(looks), model.MaxClasses)
	}
	d.Labels[0] = "one more"
	if _, err := m.Plot(d); err == nil || !strings.Contains(err.Error(), "65 classes, want at most 64") {
		t.Errorf("error %v", err)
	}
}

// One dimension is drawn against the row of the file; what cannot be drawn is an
// error.
func TestPlotDegenerate(t *testing.T) {
	d := blobs(16, 20, 2, 2)
	m := fit(t, d, model.Recipe{Learner: "fda"})
	drawing, err := m.Plot(d)
	if err != nil {
		t.Fatal(err)
	}
	p := points(t, drawing.Drawing)["class b"]
	if p.Y[0] != 2 || p.Y[9] != 20 || drawing.Panels[0].Equal || !strings.Contains(drawing.Panels[0].YLabel, "row of the file") {
		t.Errorf("rows %v, panel %+v", p.Y, drawing.Panels[0])
	}
	narrow := blobs(16, 20, 2, 1)
	if drawing, err = fit(t, narrow, model.Recipe{Learner: model.Euclidean}).Plot(narrow); err != nil || !strings.Contains(drawing.Caption, "20 rows of blobs, ") || !strings.Contains(drawing.Caption, "learned from 20 rows with 1 feature.") {
		t.Errorf("caption %q, error %v", drawing.Caption, err)
	}
	one := blobs(16, 2, 2, 2)
	one.X, one.Labels = mat.NewDense(1, 2, nil), one.Labels[:1]
	if _, err := m.Plot(one); err == nil || !strings.Contains(err.Error(), "1 row") {
		t.Errorf("one row: error %v", err)
	}
	same := blobs(16, 4, 2, 2)
	same.X.Zero()
	if drawing, err := fit(t, d, model.Recipe{Learner: model.Euclidean}).Plot(same); err != nil || !strings.Contains(drawing.Panels[0].XLabel, "(0 %") {
		t.Errorf("rows that coincide: %+v, error %v", drawing.Panels, err)
	}
}
