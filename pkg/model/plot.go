package model

import (
	"context"
	"fmt"
	"slices"

	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/plots"
)

// MaxClasses is the number of classes that colours and shapes can tell apart in a
// plot.
const MaxClasses = 64

// Plot draws the rows of d, which m has read, in two dimensions of the embedding
// x ↦ Lx: the two principal directions of the embedded rows of d, those along
// which they vary most, about their mean. Both axes have the same scale, so that
// distances in the drawing are what two dimensions can show of the learned metric.
// Each class has its colour and shape: classes of the training rows keep theirs,
// new ones come after them; rows without labels are grey. If the embedding has
// one dimension, its coordinate is drawn against the row of the file.
//
// It returns the errors of Embed, and an error if there are fewer than 2 rows or
// more than MaxClasses classes. It panics if d is nil.
func (m *Model) Plot(d *Data) (plots.Drawing, error) {
	d.given()
	z, err := m.Embed(d.matrix())
	if err != nil {
		return plots.Drawing{}, err
	}
	n, r := z.Dims()
	if n < 2 {
		return plots.Drawing{}, fmt.Errorf("model: %s has 1 row, want at least 2 to draw", d.Name)
	}
	pca, err := labels.FitPCA(context.Background(), z, min(r, n))
	if err != nil {
		return plots.Drawing{}, fmt.Errorf("model: %w", err)
	}
	scores := pca.Transform(z)
	var total float64
	for _, v := range pca.Variances() {
		total += v
	}
	axis := func(k int) string {
		share := 0.0
		if total > 0 {
			share = pca.Variances()[k] / total
		}
		return fmt.Sprintf("principal direction %d (%.3g %% of the variance)", k+1, 100*share)
	}
	panel := plots.Panel{
		Title:  fmt.Sprintf("%s embedded by %s", d.Name, m.recipe.Learner),
		XLabel: axis(0),
	}
	how := "The axes are the principal directions of the embedded rows, with the same scale on both."
	y := func(i int) float64 { return scores.At(i, 1) }
	if min(r, n) == 1 {
		panel.XLabel = "the one coordinate of the embedding"
		how = "The embedding has one dimension."
		panel.YLabel = "row of the file (not a distance)"
		y = func(i int) float64 { return float64(i + 1) }
	} else {
		panel.YLabel = axis(1)
		panel.Equal = true
	}
	classes, of := m.classesOf(d, n)
	if len(classes) > MaxClasses {
		return plots.Drawing{}, fmt.Errorf("model: %s has %d classes, want at most %d to tell them apart in a plot", d.Name, len(classes), MaxClasses)
	}
	column := "class" // what the legend says before a class
	switch {
	case d.Labels == nil:
		column = "no"
	case m.layout.Header:
		column = m.layout.Label
	}
	for c, name := range classes {
		p := plots.Points{Name: column + " " + name, Color: c % 8, Shape: (c + c/8) % 8}
		if d.Labels == nil {
			p.Color = plots.Grey
		}
		for i := range n {
			if of[i] == c {
				p.X, p.Y = append(p.X, scores.At(i, 0)), append(p.Y, y(i))
			}
		}
		if len(p.X) > 0 {
			panel.Marks = append(panel.Marks, p)
		}
	}
	return plots.Drawing{
		Caption: fmt.Sprintf("%s of %s, embedded by the metric that %s learned from %s with %s. %s", plural.Of(n, "row"), d.Name, m.recipe.Learner, plural.Of(m.n, "row"), plural.Of(len(m.layout.Features), "feature"), how),
		Panels:  []plots.Panel{panel},
	}, nil
}

// classesOf returns the classes to draw and that of each row.
func (m *Model) classesOf(d *Data, n int) (classes []string, of []int) {
	of = make([]int, n)
	if d.Labels == nil {
		return []string{"labels"}, of
	}
	classes = slices.Clone(m.classes)
	there, _ := datasets.Classes(d.Labels)
	for _, c := range there {
		if !slices.Contains(classes, c) {
			classes = append(classes, c)
		}
	}
	for i, l := range d.Labels {
		of[i] = slices.Index(classes, l)
	}
	return classes, of
}
