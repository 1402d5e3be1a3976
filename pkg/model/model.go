// Package model fits a metric to a user's own labelled table and keeps all that
// is needed to use it on new rows: which columns are features, what stands for a
// missing cell, how features are standardised, and the metric. Everything that
// is learned from data is learned from the training rows only; Evaluate learns
// all of it again in every training fold.
package model

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// Version changes whenever Fit gives another model for the same data and recipe,
// apart from changes of the learners, which have versions of their own.
const Version = 1

// Metric is what a model measures with.
type Metric interface {
	metric.SqDister
	// Dim returns the number of features.
	Dim() int
}

// Model is a fitted pipeline. It is immutable and safe for concurrent use.
type Model struct {
	recipe  Recipe
	learner int // version of the learner
	layout  Layout
	classes []string
	counts  []int // of training rows, per class
	prep    *prep
	metric  Metric
	report  Report
}

// Report is what there is to say of one fit.
type Report struct {
	// Status says why a batch learner stopped; NotRun for an online learner.
	Status learners.Status
	// Constant lists the features that are constant on the training rows.
	Constant []string
	// Imputed is the number of missing cells that were filled in.
	Imputed int
	// Mistakes is the number of pairs that an online learner predicted wrongly in
	// its last pass, each before the update on it.
	Mistakes int
}

// ErrKernel is returned, wrapped, where a model needs the matrix of its metric
// and the metric has none.
var ErrKernel = errors.New("a kernel metric is no linear map of the features, so there is no matrix L with coordinates Lx")

// ErrZero is returned, wrapped, where a model has to embed and its metric is 0.
var ErrZero = errors.New("the learned metric is 0: all points coincide; more pairs or passes may help")

// Recipe returns what the model was fitted by, all defaults filled in.
func (m *Model) Recipe() Recipe {
	r := m.recipe
	r.Params = maps.Clone(r.Params)
	return r
}

// LearnerVersion returns the version of the learner that fitted the model.
func (m *Model) LearnerVersion() int { return m.learner }

// Layout returns which columns of a file are what.
func (m *Model) Layout() Layout { return m.layout.clone() }

// Classes returns the names of the classes of the training rows and how many rows
// each has.
func (m *Model) Classes() (names []string, rows []int) {
	return slices.Clone(m.classes), slices.Clone(m.counts)
}

// Report returns what there is to say of the fit. A loaded model has none: the
// zero value.
func (m *Model) Report() Report { return m.report }

// Metric returns the learned metric, which compares prepared rows: a
// *metric.Mahalanobis, or the metric of a kernel learner.
func (m *Model) Metric() Metric { return m.metric }

// Prepare returns the rows of the n×d matrix x, NaN where a cell is missing, as
// the metric takes them: missing cells filled with the training means and
// features standardised, as far as the recipe asks for it. It returns an error
// if a cell is missing and the recipe does not impute, if an entry is infinite,
// or if a standardised value overflows. It panics if x is nil or does not have d
// columns.
func (m *Model) Prepare(x *mat.Dense) (*mat.Dense, error) { return m.prep.apply(x, m.layout.Features) }

// Embed returns the n×r matrix of the coordinates Lx of the prepared rows of x,
// between which Euclidean distances are those of the metric. Its errors are those
// of Prepare, ErrKernel for a kernel metric, ErrZero for a metric of rank 0, and
// a coordinate that overflows.
func (m *Model) Embed(x *mat.Dense) (*mat.Dense, error) {
	a, ok := m.metric.(*metric.Mahalanobis)
	if !ok {
		return nil, fmt.Errorf("model: %s: %w", m.recipe.Learner, ErrKernel)
	}
	if a.Rows() == 0 {
		return nil, fmt.Errorf("model: %s: %w", m.recipe.Learner, ErrZero)
	}
	p, err := m.Prepare(x)
	if err != nil {
		return nil, err
	}
	out := a.EmbedRows(p)
	if err := metric.CheckFinite(out); err != nil {
		return nil, fmt.Errorf("model: coordinates overflow: %w", err)
	}
	return out, nil
}

// prep fills missing cells and standardises.
type prep struct {
	means        []float64 // what stands for a missing cell; nil if none may be missing
	shift, scale []float64 // x ↦ (x−shift)/scale; nil if features stay as they are
}

// fitPrep learns from the rows of x. The scale is the standard deviation with
// divisor n, or 1 for a feature that is constant, all of whose values thus become
// 0. It also returns the constant features.
func fitPrep(x *mat.Dense, features []string, r Recipe) (*prep, []string, error) {
	n, d := x.Dims()
	p := &prep{}
	if r.ImputeMean {
		p.means = make([]float64, d)
	}
	if !r.Raw {
		p.shift, p.scale = make([]float64, d), make([]float64, d)
	}
	var constant []string
	for j := range d {
		// Sums are taken about the first value, so that a constant feature has
		// exactly its value as mean and a deviation of exactly 0.
		first := math.NaN()
		var sum, sq float64
		count := 0
		for i := range n {
			v := x.At(i, j)
			if math.IsNaN(v) {
				continue
			}
			if count == 0 {
				first = v
			}
			sum += v - first
			count++
		}
		switch {
		case count == 0:
			return nil, nil, fmt.Errorf("model: column %s: all %d cells are missing, so there is no mean to impute", features[j], n)
		case count < n && p.means == nil:
			return nil, nil, fmt.Errorf("model: column %s: %d of %d cells are missing, want none, or missing cells imputed", features[j], n-count, n)
		}
		mean := first + sum/float64(count)
		for i := range n {
			if v := x.At(i, j); !math.IsNaN(v) { // an imputed cell deviates by 0
				sq += (v - mean) * (v - mean)
			}
		}
		deviation := math.Sqrt(sq / float64(n))
		if math.IsNaN(deviation) || math.IsInf(deviation, 0) {
			return nil, nil, fmt.Errorf("model: column %s: the variance overflows float64: rescale the feature", features[j])
		}
		if deviation == 0 {
			constant = append(constant, features[j])
			deviation = 1
		}
		if p.means != nil {
			p.means[j] = mean
		}
		if p.shift != nil {
			p.shift[j], p.scale[j] = mean, deviation
		}
	}
	return p, constant, nil
}

// apply returns prepared rows; x is left as it is.
func (p *prep) apply(x *mat.Dense, features []string) (*mat.Dense, error) {
	n, d := x.Dims()
	if d != len(features) {
		panic(mat.ErrShape)
	}
	out := mat.NewDense(n, d, nil)
	for i := range n {
		row := out.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			if math.IsNaN(v) {
				if p.means == nil {
					return nil, fmt.Errorf("model: row %d, column %s: the cell is missing, and the model does not impute", i, features[j])
				}
				v = p.means[j]
			}
			u := v
			if p.shift != nil {
				u = (v - p.shift[j]) / p.scale[j]
			}
			if math.IsInf(u, 0) || math.IsNaN(u) {
				return nil, fmt.Errorf("model: row %d, column %s: %v is too large", i, features[j], v)
			}
			row[j] = u
		}
	}
	return out, nil
}
