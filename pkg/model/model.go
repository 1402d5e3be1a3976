// Package model fits a metric to a user's own labelled table and keeps all that
// is needed to use it on new rows: which columns are features, what stands for a
// missing cell, how features are standardised, and the metric. Everything that
// is learned from data is learned from the training rows only; Evaluate learns
// all of it again in every training fold.
//
// # How it is built
//
// A Problem is items and what is known of them; each kind of problem is a task. Fit, Evaluate, Compare and Sample
// take any. The course of a task says how data are divided and what a learner does in a division, and one loop
// runs it.
//
//   - Everything is learned from training rows: what fills missing cells, scales, pairs, metric. Evaluate learns
//     it anew in each split. Pairs and comparisons hold out items, so that no item is on both sides.
//   - One check of the layout serves Fit and Load: whatever is fitted can be loaded.
//   - Without columns nothing is standardised. Vectors have one scale, which suits thresholds and steps of online
//     learners; Gram keeps K₀ and S.
package model

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
	"metriclab/pkg/tables"
)

// Version changes whenever Fit gives another model for the same data and recipe,
// apart from changes of the learners, which have versions of their own. A Journal of other fits is refused.
const Version = 2 // 1 scaled columns that differ by round-off alone

// Model is a fitted pipeline. It is immutable and safe for concurrent use.
type Model struct {
	recipe  Recipe
	learner int // version of the learner
	layout  tables.Layout
	classes []string
	counts  []int // of training rows, per class
	n       int   // training rows
	scaler  *datasets.Scaler
	metric  catalog.Distance
	report  Report
	within  bool // Embed as Within says
	cells   tables.Cells
}

// Report is what there is to say of one fit; what does not apply is zero.
type Report struct {
	// Result says why and when a batch learner stopped; its Status is NotRun for an online learner.
	learners.Result
	// Mistakes is the number of pairs or comparisons that an online learner predicted wrongly in
	// its last pass, each before the update on it.
	Mistakes int
	// Notes are warnings: what a look at the data found, and what was left out.
	Notes []string

	// Constant lists the features of a table that are constant on the training rows; none of rows that stay sparse.
	Constant []string
	// Imputed is the number of missing cells that were filled in.
	Imputed int
	// Empty is the number of sparse rows without an entry, which all coincide.
	Empty int

	// Items is the number of vectors or objects that the feedback names, Missing that of objects which it does not name, and that a kernel does not have.
	Items, Missing int
	// Similar and Dissimilar are the numbers of known pairs, and Wrong is that of the pairs on the wrong side of Threshold.
	Similar, Dissimilar, Wrong int
	// Comparisons is the number of relative comparisons, and Contradicted that of those which a metric contradicts; ties count.
	Comparisons, Contradicted int
	// Error is the share of the comparisons that a kernel does not satisfy, a tie as half of one.
	Error float64
	// Lost is the share of the trace of M that Recipe.Rank cuts off.
	Lost float64
	// Tau is the weight of the trace, and TauChosen says that the learner chose it.
	Tau       float64
	TauChosen bool
	// Dim is the number of coordinates that objects were fitted in, 0 of a kernel. Dims are those among which the learner chose, nil if it was given one, and
	// DimErrors the share of the held-out comparisons that each contradicts, nil if there were too few to choose by.
	Dim       int
	Dims      []int
	DimErrors []float64

	// Landmarks is the number of rows in whose span a kernel learner approximated, and Left the share of the
	// trace of the kernel matrix of the joined rows that is outside; 0 of an exact fit.
	Landmarks int
	Left      float64
	// Span is of a metric that differs from the Euclidean one in the span of a few vectors only; nil of others.
	Span *Span
	// Solution is that of a kernel under constraints; nil of others.
	Solution *ltkernel.Solution
}

// Span is what there is to say of a fit in the span of a few vectors.
type Span struct {
	// Rank is the number of vectors that span it, Asked that of those it was made of: the others lie in their span.
	Rank, Asked int
	// Links is the number of pairs drawn, and Infeasible that of the similar ones of these that no metric of the span brings near enough.
	Links, Infeasible int
}

// ErrKernel is returned, wrapped, where a model needs the matrix of its metric
// and the metric has none.
var ErrKernel = errors.New("a kernel metric is no linear map of the features, so there is no matrix L with coordinates Lx")

// ErrNoEmbedding is returned, wrapped, where a model has to embed and its metric is that of a *kernels.Transformed.
var ErrNoEmbedding = errors.New("its kernel metric, of W = αI + ΦSΦᵀ, sees what lies outside the span of the stored rows too, so it has no coordinates")

// ErrZero is returned, wrapped, where a model has to embed and its metric is 0.
var ErrZero = errors.New("the learned metric is 0: all points coincide")

// made returns m, and panics if no constructor made it.
func (m *Model) made() *Model {
	if m == nil || m.scaler == nil {
		panic("model: Model: zero value, use Fit or Load")
	}
	return m
}

// Recipe returns what the model was fitted by, all defaults filled in.
func (m *Model) Recipe() Recipe { return m.made().recipe.clone() }

// LearnerVersion returns the version of the learner that fitted the model.
func (m *Model) LearnerVersion() int { return m.made().learner }

// Layout returns which columns of a file are what.
func (m *Model) Layout() tables.Layout { return m.made().layout.Clone() }

// Classes returns the names of the classes of the training rows and how many rows
// each has; none if they had no labels.
func (m *Model) Classes() (names []string, rows []int) {
	return slices.Clone(m.made().classes), slices.Clone(m.counts)
}

// Report returns what there is to say of the fit. A loaded model has none: the
// zero value.
func (m *Model) Report() Report { return m.made().report }

// Metric returns the learned metric, which compares prepared rows: a
// *metric.Mahalanobis, a *metric.LowRank, or the metric of a kernel learner, a *kernels.Metric or a
// *kernels.Transformed.
func (m *Model) Metric() catalog.Distance { return m.made().metric }

// Factor returns L, r×d, such that a prepared row x is embedded as Lx. It returns an error that wraps ErrKernel if the metric is that of a kernel learner, and one
// if L does not fit limits.Memory.
func (m *Model) Factor() (*metric.Mahalanobis, error) {
	linear, err := linearOf(m.made().metric)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.recipe.Learner, err)
	}
	return linear, nil
}

// Prepare returns the rows of the n×d matrix x, NaN where a cell is missing, as
// the metric takes them: missing cells filled with the training means and
// features standardised, as far as the recipe asks for it. It returns an error
// if a cell is missing and the recipe does not impute, if an entry is infinite,
// or if a standardised value overflows. It panics if x is nil or does not have d
// columns.
func (m *Model) Prepare(x mat.Matrix) (*mat.Dense, error) {
	out, err := m.made().scaler.Apply(x)
	if err != nil {
		return nil, named(err, m.layout.Features, 0)
	}
	return out, nil
}

// Within returns m as a model that embeds in the subspace of a metric of identity plus low rank, such as that of iplr. A row has k coordinates z and,
// behind them, the length ρ of its part outside the subspace (see metric.LowRank.Within). Where d is large these k + 1 numbers take the place of the
// d coordinates of m. It returns an error if the metric is another one.
func (m *Model) Within() (*Model, error) {
	if _, ok := m.made().metric.(*metric.LowRank); !ok {
		return nil, fmt.Errorf("model: %s: its metric does not differ from the Euclidean one in a subspace alone, as that of iplr does", m.recipe.Learner)
	}
	inside := *m
	inside.within = true
	return &inside, nil
}

// Read reads a CSV file like the one that the model was fitted on. With a header,
// columns are found by name and others left out; without one, the file has all
// columns of the training file, or the features alone. Labels are read if they
// are there: a column of missing cells only, as new rows have it, counts as none.
// Errors are those of tables.Read.
func (m *Model) Read(r io.Reader, name string) (*tables.Data, error) { return m.reader().CSV(r, name) }

// ReadSVMLight reads rows of svmlight or LIBSVM for a model that was fitted on a table without header: feature i is the i-th feature of that table. Rows may lack features that the
// training rows had; an index behind the last of these is an error.
func (m *Model) ReadSVMLight(r io.Reader, name string, base datasets.IndexBase) (*tables.Data, error) {
	return m.reader().SVMLight(r, name, base)
}

// ReadNPY reads features for a model that was fitted on rows without names of columns: column i of the array is the i-th feature.
func (m *Model) ReadNPY(r io.Reader, name string, labels func(n int) ([]string, error)) (*tables.Data, error) {
	return m.reader().NPY(r, name, labels)
}

// Reading returns m as a model whose Read and EmbedCSV read cells as c says, in place of those of the zero Cells.
func (m *Model) Reading(c tables.Cells) *Model {
	other := *m.made()
	other.cells = c
	return &other
}

// reader reads tables like the one of the fit.
func (m *Model) reader() tables.Reader {
	return tables.Reader{Layout: m.made().layout, Cells: m.cells, Missing: m.recipe.ImputeMean}
}

// Embed returns the n×r matrix of the coordinates of the prepared rows of x,
// between which Euclidean distances are those of the metric: Lx, or Gk(x) of a *kernels.Metric. Its errors are those
// of Prepare, ErrNoEmbedding for a *kernels.Transformed, ErrZero for a metric of rank 0,
// a coordinate that overflows, and kernel values that do not fit limits.Memory. The rows of a *sparse.Matrix are embedded as they are if the metric is a *metric.LowRank and the
// recipe leaves features as they are, and made dense otherwise; what is returned is dense. What does not fit limits.Memory is an error.
func (m *Model) Embed(x mat.Matrix) (*mat.Dense, error) { return m.embed(x, 0) }

// embed is Embed of rows of which the first is row first of a table.
func (m *Model) embed(x mat.Matrix, first int) (*mat.Dense, error) {
	l, err := m.embedder()
	if err != nil {
		return nil, err
	}
	s, isSparse := x.(*sparse.Matrix)
	if isSparse = isSparse && s != nil; isSparse {
		n, _ := s.Dims()
		if err := limits.Check(fmt.Sprintf("coordinates of %d rows in %d dimensions", n, l.Rows()), limits.Floats(n, l.Rows())); err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
	}
	p, err := m.prepareRows(x, first)
	if err != nil {
		return nil, err
	}
	if p != mat.Matrix(s) {
		n, _ := p.Dims()
		if err := limits.Check(fmt.Sprintf("an embedding of %d rows", n), limits.Floats(n, between(l)+l.Rows())); err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
	}
	out := l.EmbedRows(p)
	if err := checkCoordinates(out, first); err != nil {
		return nil, err
	}
	return out, nil
}

// fitScaler is datasets.FitScaler with names of features.
func fitScaler(x *mat.Dense, features []string, r Recipe) (*datasets.Scaler, []string, error) {
	p := datasets.ZScore
	if r.Raw {
		p = datasets.AsIs
	}
	s, columns, err := datasets.FitScaler(x, p, r.ImputeMean)
	if err != nil {
		return nil, nil, named(err, features, 0)
	}
	var constant []string
	for _, j := range columns {
		constant = append(constant, features[j])
	}
	return s, constant, nil
}

// named gives the error of a Scaler with the name of the feature; its row 0 is row first of a table.
func named(err error, features []string, first int) error {
	e, ok := errors.AsType[*datasets.FeatureError](err)
	switch {
	case !ok:
		return fmt.Errorf("model: %w", err)
	case e.Row < 0:
		return fmt.Errorf("model: column %s: %w", features[e.Column], e.Err)
	}
	return fmt.Errorf("model: row %d, column %s: %w", first+e.Row, features[e.Column], e.Err)
}
