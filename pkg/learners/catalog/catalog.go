// Package catalog is the one explicit list of learners: what a program needs to
// offer them by name, with parameters as text. The conformance test iterates it;
// a new learner joins by a line here.
//
// # How it is built
//
// An entry says which problems its learner takes: each kind of feedback is a Use, with the parameters and the fit
// there. For picks the use of a problem.
//
// A learner under a kernel takes any kernel (Input.Kernel). On a table it is the kernel that the parameters name.
// Of a Gram matrix with classes it is kernels.Objects, under which object i is the point {i} and kernel values
// come from K₀. So learners, their checks and the splits of an evaluation are those of tables, and a learner joins
// both by one function.
package catalog

import (
	"context"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/closest"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
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
	// VectorTriplets: one relative comparison of three vectors at a time, online.
	VectorTriplets Feedback = "relative comparisons of vectors, online"
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
	// RowTriplets: a data set and relative comparisons of its rows, in one batch.
	RowTriplets Feedback = "data set and relative comparisons of rows"
	// Constraints: a Gram matrix of objects and linear constraints on their learned kernel, in one batch.
	Constraints Feedback = "Gram matrix and constraints"
)

// Online reports whether learners of f take one round at a time.
func (f Feedback) Online() bool {
	return slices.Contains([]Feedback{Pairs, Triplets, VectorTriplets, Costs}, f)
}

// Form is the form of the squared distance of vectors that a learner learns; "" if it learns none.
type Form string

// The forms.
const (
	// Linear: a *metric.Mahalanobis.
	Linear Form = "linear map"
	// LowRank: a *metric.LowRank, learned without making the rows of a *sparse.Matrix dense.
	LowRank Form = "identity plus a matrix of low rank"
	// Embedded: a *kernels.Metric, the Euclidean distance between coordinates.
	Embedded Form = "coordinates under a kernel"
	// Transformed: a *kernels.Transformed, which has no coordinates.
	Transformed Form = "learned kernel"
)

// Kernel reports whether distances of f are between images under a kernel: they hold rows, and have no matrix.
func (f Form) Kernel() bool { return f == Embedded || f == Transformed }

// FormOf returns the form of d.
func FormOf(d metric.SqDister) Form {
	switch d.(type) {
	case *metric.Mahalanobis:
		return Linear
	case *metric.LowRank:
		return LowRank
	case *kernels.Metric:
		return Embedded
	case *kernels.Transformed:
		return Transformed
	}
	return ""
}

// Distance is a squared distance of vectors of length Dim that can be saved.
type Distance interface {
	metric.SqDister
	Dim() int
	Save(w io.Writer) error
}

// Input is what a batch learner learns from. The fields that the Feedback names are set.
type Input struct {
	X     mat.Matrix    // a row per object; a copy is made of what is not a *mat.Dense, unless the learner asks for rows alone (see Entry.ByRows)
	Y     []int         // a class per row
	Links []metric.Link // labelled pairs of rows
	// Triplets are relative comparisons of rows or, without X, of objects numbered from 0 to Objects−1.
	Triplets []metric.Triplet
	Objects  int
	// Threes says that the comparisons come from answers about three objects, two each, such as the odd one out.
	Threes bool
	// Kernel stands in place of the one that the parameters name, nil for that one. A learner takes it whose Form is under a kernel.
	Kernel kernels.Kernel
	// K0 is a Gram matrix, and Constraints are those on its objects.
	K0          mat.Symmetric
	Constraints []ltkernel.Constraint
}

// Learned is what a batch learner returns. Beside Result, those fields are set that go with the input and the learner.
type Learned struct {
	learners.Result
	// Distance is that of vectors; nil of objects.
	Distance Distance
	// Landmarks is the number of landmarks of an approximate fit under a kernel, and Left the share of the trace of the kernel
	// matrix that they leave out; 0 of an exact one.
	Landmarks int
	Left      float64
	// Asked is the number of vectors that the basis of a LowRank distance was made of: the rank, and those in the span of others.
	Asked int
	// Links counts the links that it was learned from, and Infeasible the similar ones of these that no metric of the basis satisfies.
	Links, Infeasible int

	// K is the kernel of objects that Comparisons are of, Tau the weight of its trace, and Chosen says that the learner chose
	// that on a part of the comparisons.
	K      *mat.SymDense
	Tau    float64
	Chosen bool
	// Dim is the number of coordinates that Comparisons were fitted in, 0 of a kernel. Dims are those among which the learner chose, nil if it was
	// given one, and DimErrors the share of the held-out comparisons that each contradicts, nil if there were too few to choose by.
	Dim       int
	Dims      []int
	DimErrors []float64

	// Solution and Kernel are of Constraints.
	Solution ltkernel.Solution
	Kernel   kernels.Learned
	// Coordinates are those of a learner that is Embedded; nil of others, and if W = 0.
	Coordinates *kernels.Coordinates
	// Conflict holds the indices of constraints that contradict each other, and Weights their certificate (see
	// ltkernel.Conflict), if the status is learners.Infeasible.
	Conflict []int
	Weights  []float64
}

// Progress is told of each iteration of a batch fit; nil for none.
type Progress = func(learners.Progress)

// Use is a kind of feedback that a learner takes.
type Use struct {
	Feedback Feedback
	Params   []Param
	// Fit learns in batch; nil of online learners. It returns an error that wraps ctx's once ctx is done (see learners.Progress); a
	// closed form does not look at p.
	Fit func(ctx context.Context, in Input, v Values, p Progress) (Learned, error)
}

// Shape is that of the rounds of an online learner.
type Shape struct {
	Dim        int // of the vectors of Pairs and VectorTriplets
	Objects    int // that Triplets compare, numbered from 0 to Objects−1, or the rows of a matrix of Costs
	Prototypes int // the columns of a matrix of Costs
}

// Learner is an online learner: a learners.Pair, learners.TripletLearner, learners.SimilarityLearner or learners.MapLearner, by the feedback of its entry. See As.
type Learner interface{ Save(w io.Writer) error }

// As returns the learner l, which Entry.New or Load gave, as an L. It panics if l is none.
func As[L Learner](l Learner, err error) (L, error) {
	if err != nil {
		var none L
		return none, err
	}
	as, ok := l.(L)
	if !ok {
		panic(fmt.Sprintf("catalog: As: a %T is no %v", l, reflect.TypeFor[L]()))
	}
	return as, nil
}

// Entry describes one learner.
type Entry struct {
	Name        string   // as typed by a user
	Aliases     []string // other names that Find knows; Doc tells them
	Doc         string   // one line
	When        string   // what it is the one to use for, in a clause
	Source      string   // authors, title, where, year
	Version     int      // of the values it computes
	Constructor string   // the exported Go function behind it, package.Name
	Form        Form     // of the distance that it learns by its first use
	// Cost estimates a fit, see Estimate; nil of learners that take neither pairs of vectors nor a data set, and of a use that is not the first.
	Cost func(s Size, v Values) Cost

	// Bounded says that memory stays bounded over an endless stream. A batch
	// learner holds what its data set needs and is not marked.
	Bounded bool

	// Chunklets says that a learner of Links learns from the similar ones alone, and from no more of them than which rows they connect.
	Chunklets bool

	byRows func(f Feedback, v Values) bool // nil for never; see ByRows

	Use          // the first
	Others []Use // other kinds of feedback that it takes

	// Kind is the kind under which package persist stores an online learner, New makes one and Load reads one. A batch learner has none of these.
	Kind string
	New  func(s Shape, v Values) (Learner, error)
	Load func(r io.Reader) (Learner, error)
}

// For returns e for the first of its uses whose feedback is one of kinds, and false if there is none.
func (e Entry) For(kinds ...Feedback) (Entry, bool) {
	if slices.Contains(kinds, e.Feedback) {
		return e, true
	}
	i := slices.IndexFunc(e.Others, func(u Use) bool { return slices.Contains(kinds, u.Feedback) })
	if i < 0 {
		return Entry{}, false
	}
	e.Use, e.Others, e.Cost = e.Others[i], nil, nil
	return e, true
}

// ByRows reports whether a fit with the parameters v asks for rows of Input.X alone, by RawRowView, each time that it needs them. Then X need
// not lie in memory. So do online learners, and itml on links unless it starts at the inverse covariance. Others take X as a whole.
func (e Entry) ByRows(v Values) bool {
	return e.Feedback.Online() || e.byRows != nil && e.byRows(e.Feedback, v)
}

// WithoutKernel returns e without the parameters that name a kernel, for an Input with one.
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

// All returns the catalog, in the order in which to show it.
func All() []Entry { return slices.Clone(entries) }

// Of returns the entries of the catalog that take one of kinds, each For these.
func Of(kinds ...Feedback) (out []Entry) {
	for _, e := range entries {
		if e, ok := e.For(kinds...); ok {
			out = append(out, e)
		}
	}
	return out
}

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
