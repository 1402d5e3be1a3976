package model

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/tables"
	"metriclab/pkg/vectors"
)

// MaxClasses is the number of classes that colours and shapes can tell apart in a
// plot.
const MaxClasses = 64

// MaxPoints is the number of items beyond which a plot shows a sample.
const MaxPoints = 5000

// Picture is a drawing of items, or of a metric, in two dimensions.
type Picture struct {
	plots.Drawing
	// Points is the number of items that are shown, and Of the number that there are.
	Points, Of int
	// Shares holds the part of the variance that each axis shows.
	Shares []float64
}

// scene says what render shows.
type scene struct {
	name    string // of the data
	learner string
	rows    string   // what an item is: "row"
	of      int      // how many items there are, of which those shown may be a sample
	labels  []string // the class of each item that is shown; nil if there are none
	classes []string // that come first; others follow
	column  string   // what the legend says before a class
	origin  string   // of the metric: "learned from 3 pairs"
}

// Plot shows the rows of d, which m has read, in two dimensions of the embedding
// x ↦ Lx: the two principal directions of the embedded rows of d, those along
// which they vary most, about their mean. Both axes have the same scale, so that
// distances in the drawing are what two dimensions can show of the learned metric.
// Each class has its colour and shape: classes of the training rows keep theirs,
// new ones come after them; rows without labels are grey. If the embedding has
// one dimension, its coordinate is shown against the row of the file. Of more than
// MaxPoints rows it shows a sample, which is the same each time.
//
// It returns the errors of Embed, and an error if there are fewer than 2 rows or
// more than MaxClasses classes. It panics if d is nil.
func (m *Model) Plot(d *tables.Data) (Picture, error) {
	z, err := m.Embed(d.Matrix())
	if err != nil {
		return Picture{}, err
	}
	n, _ := z.Dims()
	column := "class"
	if d.Labels != nil && m.layout.Header {
		column = m.layout.Label
	}
	return render(context.Background(), z, scene{
		name: d.Name, learner: m.recipe.Learner, rows: "row", of: n, labels: d.Labels, classes: m.classes, column: column,
		origin: fmt.Sprintf("the metric that %s learned from %s with %s", m.recipe.Learner, plural.Of(m.n, "row"), plural.Of(len(m.layout.Features), "feature")),
	})
}

// Plot shows the vectors of a file as Model.Plot shows rows. labels holds the class of each vector, or is nil. Of more than MaxPoints vectors only those of
// the sample are read, so that memory does not grow with the file; the directions are those of the sample.
//
// It returns the errors of the file and of Embed, one if there are fewer than 2 vectors or more than MaxClasses classes, and the one of ctx. It panics if the
// file does not have the dimension of the model, or labels another length.
func (m *Vectors) Plot(ctx context.Context, f *vectors.File, labels []string) (Picture, error) {
	if f.Dim() != m.Dim() || labels != nil && len(labels) != f.Rows() {
		panic(fmt.Sprintf("model: Vectors: Plot: %d vectors of %d numbers with %d labels, want a dimension of %d", f.Rows(), f.Dim(), len(labels), m.Dim()))
	}
	idx := plotted(f.Rows())
	x, err := f.Select(idx)
	if err != nil {
		return Picture{}, err
	}
	if _, zeros := zeroRows(x, func(i int) int { return idx[i] }); m.recipe.Unit && zeros.Count > 0 {
		return Picture{}, undirected(zeros)
	}
	z, err := m.Embed(x)
	if err != nil {
		return Picture{}, err
	}
	if labels != nil {
		labels = texts(labels, idx)
	}
	learner := cmp.Or(m.recipe.Learner, "a saved file") // which no Fit made
	return render(ctx, z, scene{
		name: filepath.Base(f.Name()), learner: learner, rows: "vector", of: f.Rows(), labels: labels, column: "class",
		origin: fmt.Sprintf("the metric of %s for vectors of %s", learner, plural.Of(f.Dim(), "number")),
	})
}

// Plot shows objects, new ones or those of the fit, by their kernel values with those of the fit, as Embed takes them. labels holds the class of each, or is
// nil. What their coordinates lack is told at Embed.
//
// It returns the errors of Embed, one if there are fewer than 2 objects, more than MaxClasses classes, or another number of labels, and the one of ctx.
func (g *Gram) Plot(ctx context.Context, name string, cross mat.Matrix, labels []string) (Picture, error) {
	z, err := g.Embed(cross)
	if err != nil {
		return Picture{}, err
	}
	n, _ := z.Dims()
	if labels != nil && len(labels) != n {
		return Picture{}, fmt.Errorf("model: %s for %s", plural.Of(len(labels), "label"), plural.Of(n, "object"))
	}
	return render(ctx, z, scene{
		name: name, learner: g.recipe.Learner, rows: "object", of: n, labels: labels, classes: g.classes, column: "class",
		origin: fmt.Sprintf("the kernel that %s learned from %s", g.recipe.Learner, plural.Of(g.Objects(), "object")),
	})
}

// plotted returns the numbers of at most MaxPoints of n items, in their order.
func plotted(n int) []int {
	k := min(n, MaxPoints)
	taken := make(map[int]bool, k)
	rng := random.Seed{Base: 1, Experiment: "model/plot"}.Stream("sample")
	for last := n - k; last < n; last++ { // Floyd's way: each set of k is as likely
		i := rng.IntN(last + 1)
		if taken[i] {
			i = last
		}
		taken[i] = true
	}
	return slices.Sorted(maps.Keys(taken))
}

// texts returns the texts of some rows.
func texts(all []string, idx []int) []string {
	out := make([]string, len(idx))
	for i, k := range idx {
		out[i] = all[k]
	}
	return out
}

// render shows items by their coordinates, z.
func render(ctx context.Context, z *mat.Dense, s scene) (Picture, error) {
	n, r := z.Dims()
	if n < 2 {
		return Picture{}, fmt.Errorf("model: %s has 1 %s, want at least 2 to plot", s.name, s.rows)
	}
	width := min(r, n)
	pca, err := labels.FitPCA(ctx, z, width)
	if err != nil {
		return Picture{}, fmt.Errorf("model: %w", err)
	}
	var total float64
	for _, v := range pca.Variances() {
		total += v
	}
	p := Picture{Of: s.of}
	for _, v := range pca.Variances()[:min(2, width)] {
		share := 0.0
		if total > 0 {
			share = v / total
		}
		p.Shares = append(p.Shares, share)
	}
	axis := func(k int) string {
		return fmt.Sprintf("principal direction %d (%.3g %% of the variance)", k+1, 100*p.Shares[k])
	}
	scores := pca.Transform(z)
	panel := plots.Panel{
		Title:  fmt.Sprintf("%s embedded by %s", s.name, s.learner),
		XLabel: axis(0),
	}
	how := fmt.Sprintf("The axes are the principal directions of the embedded %ss, with the same scale on both.", s.rows)
	y := func(i int) float64 { return scores.At(i, 1) }
	if width == 1 {
		panel.XLabel = "the one coordinate of the embedding"
		how = "The embedding has one dimension."
		panel.YLabel = "row of the file (not a distance)"
		y = func(i int) float64 { return float64(i + 1) }
	} else {
		panel.YLabel = axis(1)
		panel.Equal = true
	}
	classes, of := classesToDraw(s.classes, s.labels, n)
	if len(classes) > MaxClasses {
		return Picture{}, fmt.Errorf("model: %s has %d classes, want at most %d to tell them apart in a plot", s.name, len(classes), MaxClasses)
	}
	marks := make([]plots.Points, len(classes))
	drawn := plotted(n)
	for _, i := range drawn {
		m := &marks[of[i]]
		m.X, m.Y = append(m.X, scores.At(i, 0)), append(m.Y, y(i))
	}
	for c, name := range classes {
		m := marks[c]
		m.Name, m.Color, m.Shape = s.column+" "+name, c%8, (c+c/8)%8
		if s.labels == nil {
			m.Name, m.Color = "no "+name, plots.Grey
		}
		if len(m.X) > 0 {
			panel.Marks = append(panel.Marks, m)
		}
	}
	p.Points = len(drawn)
	what := plural.Of(s.of, s.rows)
	if p.Points < s.of {
		what = fmt.Sprintf("A sample of %d of %s", p.Points, what)
	}
	p.Drawing = plots.Drawing{Caption: plots.Caption{Shows: fmt.Sprintf("%s of %s, embedded by %s. %s", what, s.name, s.origin, how)}, Panels: []plots.Panel{panel}}
	return p, nil
}

// classesToDraw returns the classes, known ones first, and that of each of n items.
func classesToDraw(known, labels []string, n int) (classes []string, of []int) {
	of = make([]int, n)
	if labels == nil {
		return []string{"labels"}, of
	}
	classes = slices.Clone(known)
	there, _ := datasets.Classes(labels)
	for _, c := range there {
		if !slices.Contains(classes, c) {
			classes = append(classes, c)
		}
	}
	place := make(map[string]int, len(classes))
	for c, name := range classes {
		place[name] = c
	}
	for i, l := range labels {
		of[i] = place[l]
	}
	return classes, of
}
