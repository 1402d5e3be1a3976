package model

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/closest"
	"metriclab/internal/matrix"
	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
)

// FitGramLabels learns a kernel from the Gram matrix k0 of objects, n×n, and a class per object. k0 is copied. It is Fit for objects without
// vectors: a learner of pairs sees those of Fit for the same labels and seed.
//
// It returns an *OptionError if the recipe is not allowed (see GramRecipe.Resolved); its Labels need not be set. It returns an error if there are fewer or more labels
// than objects, one class only, or a label that no file could have. An error that wraps ErrZero says that the learned metric is 0. Besides, there are the errors of
// kernels.CheckGram for k0, and those of the learner. It panics if k0 is nil or empty.
func FitGramLabels(ctx context.Context, k0 mat.Symmetric, labels []string, r GramRecipe, p Progress) (*Gram, error) {
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 {
		panic("model: FitGramLabels: k0 is nil or empty")
	}
	r.Labels = true
	r, e, values, err := r.resolve()
	if err != nil {
		return nil, err
	}
	if err := checkObjectLabels(labels, k0.SymmetricDim()); err != nil {
		return nil, err
	}
	g, err := newGram(k0, r, e)
	if err != nil {
		return nil, err
	}
	classes, y := datasets.Classes(labels)
	g.classes, g.counts = classes, make([]int, len(classes))
	for _, c := range y {
		g.counts[c]++
	}
	return g.run(ctx, p, func(ctx context.Context, told catalog.Progress) (*Gram, error) {
		if err := g.fitLabels(ctx, e, y, values, told); err != nil {
			return nil, err
		}
		return g, nil
	})
}

// checkObjectLabels returns an error unless labels tell classes of n objects.
func checkObjectLabels(labels []string, n int) error {
	if len(labels) != n {
		return fmt.Errorf("model: %s for %s", plural.Of(len(labels), "label"), plural.Of(n, "object"))
	}
	if err := checkLabels(labels, n); err != nil {
		return err
	}
	if classes, _ := datasets.Classes(labels); len(classes) < 2 {
		return fmt.Errorf("model: all objects have the label %q, want at least 2 classes", classes[0])
	}
	return nil
}

// fitLabels learns the kernel of g.k0.
func (g *Gram) fitLabels(ctx context.Context, e catalog.Entry, y []int, v catalog.Values, told catalog.Progress) error {
	if err := kernels.CheckGram(g.k0); err != nil {
		return fmt.Errorf("model: k0: %w", err)
	}
	var links []metric.Link
	if Draws(e.Feedback) {
		var err error
		rng := random.Seed{Base: g.recipe.Seed, Experiment: "model/fit"}.Stream("pairs")
		if links, err = sample.BalancedLinks(rng, y, g.recipe.Pairs); err != nil {
			return fmt.Errorf("model: %w", err)
		}
	}
	objects := kernels.NewObjects(g.k0)
	res, err := e.Fit(ctx, catalog.Input{X: objects.Points(), Y: y, Links: links, Kernel: objects}, v, told)
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	g.report = GramReport{Result: res.Result, Landmarks: res.Landmarks, Left: res.Left}
	switch d := res.Distance.(type) {
	case *kernels.Metric:
		c := d.OfObjects()
		if c.G == nil {
			return fmt.Errorf("model: %s: %w", e.Name, ErrZero)
		}
		g.coordinates = &c
	case *kernels.Transformed:
		g.learned = d.OfObjects()
	}
	if err := g.finish(); err != nil {
		return fmt.Errorf("model: %s: %w", e.Name, err)
	}
	return ctx.Err()
}

// EvaluateGram is Evaluate for objects of which only the Gram matrix k0 is known, n×n, with a class each. Each split learns from the rows and columns of its training
// objects, and classifies the others by their kernel values with these and with themselves. The baseline is the distance under k0, the Euclidean one between images.
//
// It returns the errors of FitGramLabels, naming the split, and an *OptionError if the plan does not suit the number of objects. Features of the Evaluation is 0. It panics if k0 is
// nil or empty.
func EvaluateGram(ctx context.Context, k0 mat.Symmetric, labels []string, r GramRecipe, p Plan) (*Evaluation, error) {
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 {
		panic("model: EvaluateGram: k0 is nil or empty")
	}
	r.Labels = true
	r, entry, values, err := r.resolve()
	if err != nil {
		return nil, err
	}
	u, err := under(k0, labels)
	if err != nil {
		return nil, err
	}
	baseline, err := kernels.NewTransformed(u.objects, 1, 1, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	e, err := evaluate(ctx, u.d, gramOrder(k0, labels), fitting{Recipe{Learner: r.Learner, Params: r.Params, Pairs: r.Pairs, Seed: r.Seed, Raw: true}, u.entry(entry), values}, baseline, p)
	if err != nil {
		return nil, err
	}
	e.Features = 0
	if note := closest.AlikeNote("classes", e.Classes); note != "" {
		e.Notes = append(e.Notes, note)
	}
	return e, nil
}

// ReadLabels reads the classes of n objects in the order of the rows of their Gram matrix, from CSV: a row per object of one cell, the label, or of two, an
// id and the label. With n + 1 rows the first is a header. Ids tell rows apart for people: no two are equal and, if all are whole numbers, they
// ascend, since the order of rows counts and not that of ids.
//
// Errors name the file and the line: those of datasets.NewCSVRows, a label that is missing (datasets.MissingCells), more than two cells, rows that are more or fewer than
// objects, ids that are equal or do not ascend, and one class only.
func ReadLabels(r io.Reader, name string, n int) ([]string, error) {
	return readLabels(r, name, n, "object", "the Gram matrix")
}

// readLabels is ReadLabels for n things of a kind, which whole has.
func readLabels(r io.Reader, name string, n int, kind, whole string) ([]string, error) {
	t, err := datasets.NewCSVRows(r, name, datasets.CSVOptions{Header: datasets.HeaderNo, OneColumn: true})
	if err != nil {
		return nil, err
	}
	width := t.Width()
	if width > 2 {
		return nil, fmt.Errorf("model: %s: %s in a row, want 1, the label, or 2, an id and the label", name, plural.Of(width, "cell"))
	}
	var rows [][]string
	var lines []int
	for {
		row, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(rows) > n {
			return nil, fmt.Errorf("model: %s:%d: more rows than the %s of %s and a header", name, t.Line(), plural.Of(n, kind), whole)
		}
		rows, lines = append(rows, slices.Clone(row)), append(lines, t.Line())
	}
	if len(rows) < n {
		return nil, fmt.Errorf("model: %s: %s, want %d, one per %s of %s", name, plural.Of(len(rows), "label"), n, kind, whole)
	}
	if len(rows) == n+1 {
		rows, lines = rows[1:], lines[1:]
	}
	labels := make([]string, n)
	for i, row := range rows {
		labels[i] = row[width-1]
		if slices.Contains(datasets.MissingCells, labels[i]) {
			return nil, fmt.Errorf("model: %s:%d: the label is missing (%q)", name, lines[i], labels[i])
		}
	}
	if classes, _ := datasets.Classes(labels); len(classes) < 2 {
		return nil, fmt.Errorf("model: %s: all labels are %q, want at least two classes", name, strings.Join(classes, ""))
	}
	if width == 1 {
		return labels, nil
	}
	seen := map[string]int{}
	numbers := make([]int, n)
	integers := true
	for i, row := range rows {
		if other, twice := seen[row[0]]; twice {
			return nil, fmt.Errorf("model: %s:%d: the id %q is that of line %d, too", name, lines[i], row[0], other)
		}
		seen[row[0]] = lines[i]
		var err error
		numbers[i], err = strconv.Atoi(row[0])
		integers = integers && err == nil
	}
	for i := 1; integers && i < n; i++ {
		if numbers[i] < numbers[i-1] {
			return nil, fmt.Errorf("model: %s:%d: the id %s comes after %s: want rows in the order of %s, with ids that ascend", name, lines[i], rows[i][0], rows[i-1][0], whole)
		}
	}
	return labels, nil
}
