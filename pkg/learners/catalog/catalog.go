// Package catalog is the one explicit list of learners: what a program needs to
// offer them by name, with parameters as text. The conformance test iterates it;
// a new learner joins by a line here.
//
// # How it is built
//
// A learner under a kernel takes any kernel (catalog.Entry.FitUnder). On a table it is the one that the parameters
// name. With fit --gram --labels it is kernels.Objects, under which object i is the point {i} and kernel values come
// from K₀. So the learners, their checks and the splits of evaluate are those of tables, and a learner joins both by
// one function.
package catalog

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/closest"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// Feedback says what a learner learns from.
type Feedback string

// The kinds of feedback.
const (
	// Pairs: one labelled pair of vectors at a time, online.
	Pairs Feedback = "labelled pairs, online"
	// Triplets: one relative comparison of three objects at a time, online.
	Triplets Feedback = "relative comparisons, online"
	// Costs: one matrix of assignment costs at a time, online.
	Costs Feedback = "assignment costs, online"
	// Links: a data set and labelled pairs of its rows, in one batch.
	Links Feedback = "data set and labelled pairs of rows"
	// Classes: a data set with a class per row, in one batch.
	Classes Feedback = "data set and class labels"
	// Data: a data set alone, in one batch.
	Data Feedback = "data set"
	// Comparisons: relative comparisons of objects, in one batch.
	Comparisons Feedback = "relative comparisons"
	// Constraints: a Gram matrix of objects and linear constraints on their learned kernel, in one batch.
	Constraints Feedback = "Gram matrix and constraints"
)

// Online reports whether learners of f take one round at a time.
func (f Feedback) Online() bool { return f == Pairs || f == Triplets || f == Costs }

// KernelResult is what a batch learner of a kernel returns, whose squared distance has no matrix.
type KernelResult struct {
	learners.Result
	// Kernel is the kernel W = αI + ΦSΦᵀ that was learned; nil of a learner that Embeds, which has Metric.
	Kernel *kernels.Transformed
	Metric *kernels.Metric
	// Landmarks is the number of landmarks of an approximate fit, and Left the share of the trace of the kernel
	// matrix that they leave out; 0 of an exact one.
	Landmarks int
	Left      float64
}

// Distance returns what was learned, Metric or Kernel; nil for the zero value.
func (r KernelResult) Distance() LearnedDistance {
	switch {
	case r.Metric != nil:
		return r.Metric
	case r.Kernel != nil:
		return r.Kernel
	}
	return nil
}

// LearnedDistance is a squared distance of vectors of length Dim that can be saved.
type LearnedDistance interface {
	metric.SqDister
	Dim() int
	Save(w io.Writer) error
}

// LowRankResult is what a batch learner returns whose metric is the identity plus a matrix of low rank.
type LowRankResult struct {
	learners.Result
	Metric *metric.LowRank
	// Asked is the number of vectors that the basis was made of: the rank, and those in the span of others.
	Asked int
	// Links counts the links drawn, and Infeasible the similar ones of these that no metric of the basis satisfies.
	Links, Infeasible int
}

// GramResult is what a batch learner of a kernel returns that was given a Gram matrix.
type GramResult struct {
	ltkernel.KernelResult
	// Conflict holds the indices of constraints that contradict each other, and Weights their certificate (see
	// ltkernel.Conflict), if the status is learners.Infeasible.
	Conflict []int
	Weights  []float64
	// Coordinates are those of a learner that Embeds; nil of others, and if W = 0.
	Coordinates *kernels.Coordinates
}

// TripletResult is what a batch learner of relative comparisons returns: FitBatch's result, with the weight of the trace that was
// given or chosen.
type TripletResult struct {
	triplets.BatchResult
	Tau float64
	// Chosen says that the learner chose Tau on a part of the comparisons.
	Chosen bool
}

// Progress is told of each iteration of a batch fit; nil for none.
type Progress = func(learners.Progress)

// Entry describes one learner. Of the constructors, those of its Feedback are
// set and the others are nil:
//
//	Pairs        NewPair, LoadPair, Kind
//	Triplets     NewTriplet, LoadTriplet, Kind
//	Costs        NewMap, LoadMap, Kind
//	Links        FitLinks, or FitKernel where the distance learned has no matrix
//	Classes      FitData, which needs labels; FitKernelData where the distance learned has no matrix; or FitLowRank where the metric
//	             differs from the identity in a subspace only
//	Data         FitData, or FitKernelData where the distance learned has no matrix; both ignore labels
//	Comparisons  FitTriplets
//	Constraints  FitGram, which a learner of Links may have, too
type Entry struct {
	Name        string   // as typed by a user
	Aliases     []string // other names that Find knows; Doc tells them
	Doc         string   // one line
	Source      string   // authors, title, where, year
	Feedback    Feedback
	Params      []Param
	Version     int    // of the values it computes
	Constructor string // the exported Go function behind it, package.Name
	// Cost estimates a fit, see Estimate; nil of learners that take neither pairs of vectors nor a data set.
	Cost func(s Size, v Values) Cost

	// Bounded says that memory stays bounded over an endless stream. A batch
	// learner holds what its data set needs and is not marked.
	Bounded bool

	// Chunklets says that a learner of Links learns from the similar ones alone, and from no more of them than which rows they connect.
	Chunklets bool

	// Kind is the kind under which package persist stores the learner.
	Kind string
	// NewPair returns a learner for vectors of length dim.
	NewPair func(dim int, v Values) (learners.Pair, error)
	// LoadPair reads a learner of this Kind.
	LoadPair func(r io.Reader) (learners.Pair, error)
	// NewTriplet returns a learner for objects numbered from 0 to objects−1.
	NewTriplet func(objects int, v Values) (learners.TripletLearner, error)
	// LoadTriplet reads a learner of this Kind.
	LoadTriplet func(r io.Reader) (learners.TripletLearner, error)
	// NewMap returns a learner for cost matrices of a rows and b columns.
	NewMap func(a, b int, v Values) (learners.MapLearner, error)
	// LoadMap reads a learner of this Kind.
	LoadMap func(r io.Reader) (learners.MapLearner, error)
	// FitLinks learns from the rows of x and links between them. It returns an error
	// that wraps ctx's once ctx is done (see learners.Progress); a closed form
	// does not look at p.
	FitLinks func(ctx context.Context, x mat.Matrix, links []metric.Link, v Values, p Progress) (learners.MetricResult, error)
	// FitKernel learns from the rows of x and links between them, as FitLinks does.
	FitKernel func(ctx context.Context, x mat.Matrix, links []metric.Link, v Values, p Progress) (KernelResult, error)
	// FitKernelData learns from the rows of x and, if Feedback is Classes, one class per row, as FitData does.
	FitKernelData func(ctx context.Context, x mat.Matrix, y []int, v Values, p Progress) (KernelResult, error)
	// FitUnder is FitKernel or FitKernelData under the kernel k in place of the one that its parameters name, such as a
	// kernels.Objects. Of y and links those of the Feedback are read. It is nil where the learner cannot take any kernel.
	FitUnder func(ctx context.Context, k kernels.Kernel, x mat.Matrix, y []int, links []metric.Link, v Values, p Progress) (KernelResult, error)
	// Embeds says that the distance that FitKernel or FitKernelData learns is the Euclidean one between coordinates: a
	// *kernels.Metric.
	Embeds bool
	// FitData learns from the rows of x and, if Feedback is Classes, one class
	// per row, as FitLinks does.
	FitData func(ctx context.Context, x mat.Matrix, y []int, v Values, p Progress) (learners.MetricResult, error)
	// FitLowRank learns from the rows of x and one class per row, as FitLinks does. It does not make the rows of a
	// *sparse.Matrix dense.
	FitLowRank func(ctx context.Context, x mat.Matrix, y []int, v Values, p Progress) (LowRankResult, error)
	// LinkParams are the parameters of FitLowRankLinks.
	LinkParams []Param
	// FitLowRankLinks learns from the rows of x and links between them, as FitLinks does, where FitLowRank takes classes. See OfLinks.
	FitLowRankLinks func(ctx context.Context, x mat.Matrix, links []metric.Link, v Values, p Progress) (LowRankResult, error)
	// RowTripletParams are the parameters of FitRowTriplets.
	RowTripletParams []Param
	// FitRowTriplets learns from the rows of x and relative comparisons of them, as FitLinks does. The distance is a
	// *metric.Mahalanobis or a *metric.LowRank. See OfRowTriplets.
	FitRowTriplets func(ctx context.Context, x mat.Matrix, ts []metric.Triplet, v Values, p Progress) (learners.Result, LearnedDistance, error)
	// FitTriplets learns the kernel of objects, numbered from 0 to objects−1, from relative comparisons, as FitLinks does.
	FitTriplets func(ctx context.Context, objects int, ts []metric.Triplet, v Values, p Progress) (TripletResult, error)
	// GramParams are the parameters of FitGram if it is not the only constructor, some of Params; else nil. See OfGram.
	GramParams []Param
	// FitGram learns from the Gram matrix k0 and constraints on its objects, as FitLinks does.
	FitGram func(ctx context.Context, k0 mat.Symmetric, constraints []ltkernel.Constraint, v Values, p Progress) (GramResult, error)
}

// WithoutKernel returns e without the parameters that name a kernel, for FitUnder.
func (e Entry) WithoutKernel() Entry {
	e.Params = slices.DeleteFunc(slices.Clone(e.Params), func(p Param) bool {
		return slices.ContainsFunc(kernelParams, func(k Param) bool { return k.Name == p.Name })
	})
	if cost := e.Cost; cost != nil {
		e.Cost = func(s Size, v Values) Cost { // of a kernel under which images may span as many dimensions as there are
			any := Values{maps.Clone(v.values)}
			any.values["kernel"] = kernels.GaussianName
			return cost(s, any)
		}
	}
	return e
}

// OfGram returns e with the parameters of FitGram.
func (e Entry) OfGram() Entry {
	if e.GramParams != nil {
		e.Params = e.GramParams
	}
	return e
}

// OfLinks returns e with the parameters of FitLowRankLinks.
func (e Entry) OfLinks() Entry {
	if e.LinkParams != nil {
		e.Params = e.LinkParams
	}
	return e
}

// OfRowTriplets returns e with the parameters of FitRowTriplets.
func (e Entry) OfRowTriplets() Entry {
	if e.RowTripletParams != nil {
		e.Params = e.RowTripletParams
	}
	return e
}

// All returns the catalog, in the order in which to show it.
func All() []Entry { return slices.Clone(entries) }

// Find returns the entry of the catalog that has the given name or alias. The error
// for an unknown name lists the names there are, and those nearest to it.
func Find(name string) (Entry, error) { return FindIn(entries, name) }

// FindIn is Find in a list of entries other than the catalog.
func FindIn(entries []Entry, name string) (Entry, error) {
	names := make([]string, len(entries))
	var all []string
	for i, e := range entries {
		if e.Name == name || slices.Contains(e.Aliases, name) {
			return e, nil
		}
		own := append([]string{e.Name}, e.Aliases...)
		names[i] = strings.Join(own, " = ")
		all = append(all, own...)
	}
	return Entry{}, fmt.Errorf("unknown learner %q, want one of %s%s", name, strings.Join(names, ", "), closest.Hint(name, all))
}

// OfKind returns the one of entries whose learners package persist stores under
// kind. The error for an unknown kind wraps persist.ErrKind and lists the kinds
// there are.
func OfKind(entries []Entry, kind string) (Entry, error) {
	var kinds []string
	for _, e := range entries {
		if e.Kind == "" {
			continue
		}
		if e.Kind == kind {
			return e, nil
		}
		kinds = append(kinds, e.Kind)
	}
	return Entry{}, fmt.Errorf("file is %w: it holds %q, want one of %s", persist.ErrKind, kind, strings.Join(kinds, ", "))
}
