// Package similarity learns a similarity of vectors from comparisons "a is more like near than like far": of a query,
// a document that serves it, and one that does not.
//
// The similarity is S(x, y) = xᵀWy. Where vectors lie in an index that ranks by inner products, nothing is indexed anew:
// xᵀWy is the inner product of Wᵀx, which is computed once for a query, with y.
//
// # Which learner
//
//	OASIS   comparisons that come one at a time; a step costs O(d²), and with sparse vectors the product of the numbers of entries
//
// Package itml learns a metric from comparisons of rows of a data set (itml.FitNearer), triplets a kernel of objects without vectors.
//
// # How it is built
//
// W is kept by rows, and a row takes memory once a vector with that entry has moved it. So texts of some hundred words
// stay cheap. Where few entries are 0, rows are added as a whole. Both ways add the same products in the same order.
package similarity

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/sparse"
)

// OASISVersion counts the changes of the values that OASIS computes.
const OASISVersion = 1

// OASISKind is the kind under which package persist stores an OASIS.
const OASISKind = "similarity/oasis"

// Form says which matrices OASIS learns.
type Form int

const (
	// FormFree: any square matrix.
	FormFree Form = iota
	// FormSymmetric: after each step, the nearest symmetric matrix.
	FormSymmetric
	// FormPSD: a symmetric matrix, of which Matrix returns the nearest positive semi-definite one.
	FormPSD
)

var formNames = enum.Of[Form]("unknown form %d", "free", "symmetric", "psd")

// String returns "free", "symmetric" or "psd".
func (f Form) String() string { return formNames.Text(f) }

// MarshalText returns String.
func (f Form) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads what String returns of the three forms.
func (f *Form) UnmarshalText(text []byte) error { return formNames.Unmarshal(f, text) }

// OASISParams are the parameters of OASIS.
type OASISParams struct {
	// C > 0 is the longest step τ; 0 means 0.1.
	C float64 `json:"c" range:"> 0" doc:"longest step"`
	// Form says which matrices there are. The default is FormFree.
	Form Form `json:"form" words:"free|symmetric|psd" doc:"any matrix, a symmetric one, or a positive semi-definite one, which is also a metric"`
	// Every ≥ 0, of FormPSD only, makes the matrix positive semi-definite after every so many updates, too. The default is 0,
	// never: only Matrix and Metric are.
	Every int `json:"every,omitempty" range:">= 0" needs:"form=psd" doc:"make the matrix positive semi-definite after every so many updates, too; 0 means never"`
}

// defaultC is the longest step that OASIS takes unless another is given.
const defaultC = 0.1

// Resolved returns p with its defaults filled in: C = 0.1.
func (p OASISParams) Resolved() OASISParams {
	p.C = cmp.Or(p.C, defaultC)
	return p
}

// check returns an error if a parameter is out of range.
func (p OASISParams) check() error {
	if p.Form < FormFree || p.Form > FormPSD {
		return fmt.Errorf("oasis: form: %d is not allowed, want FormFree, FormSymmetric or FormPSD", int(p.Form))
	}
	if err := ranges.Check("oasis", p); err != nil {
		return err
	}
	if p.Every != 0 && p.Form != FormPSD {
		return fmt.Errorf("oasis: every: %d is not allowed with form %v, want 0: it is for FormPSD only", p.Every, p.Form)
	}
	return nil
}

// OASIS is the online algorithm for scalable image similarity learning. It learns W of S(x, y) = xᵀWy, from W = I on. On a
// comparison of a query a with near and far it takes
//
//	ℓ = max(0, 1 − S(a, near) + S(a, far))
//	V = a(near − far)ᵀ,  ‖V‖² = ‖a‖²‖near − far‖²  (Frobenius)
//	τ = min(C, ℓ/‖V‖²)
//	W ← W + τV
//
// the minimiser of ½‖W' − W‖² + C·ξ under a loss of at most ξ ≥ 0 at W', as that of PA-I. Source: Chechik, Sharma, Shalit,
// Bengio, Large Scale Online Learning of Image Similarity Through Ranking, JMLR 11 (2010), Section 3.
//
// W is any matrix (FormFree). With FormSymmetric, V counts as (V + Vᵀ)/2 in the last line, which gives the symmetric matrix nearest to
// W + τV. With FormPSD, W is that too, and Matrix returns the positive semi-definite matrix nearest to it; Every has the
// running W be that after so many updates.
//
// A comparison with a = 0 or near = far moves nothing; so does one with ‖V‖² below 2.3e-308.
//
// Vectors of unit length are recommended: the loss has the margin 1, and C is a length in their scale.
//
// Of W only those rows take memory that an update has moved: d numbers for each entry of a query (and, but for FormFree, of a document)
// that was not 0 once. All methods but Step and StepSparse may be called concurrently.
//
// The same in 36 lines: [metriclab/pkg/learners/plain.OASIS].
type OASIS struct {
	dim   int
	p     OASISParams
	rows  [][]float64 // of W; nil for those of the identity
	moved int         // the rows that are not nil
	since int         // updates since the last projection, with Every
}

var _ learners.SimilarityLearner = (*OASIS)(nil)

// NewOASIS returns an OASIS with W = I for vectors of length dim. It returns an error unless dim ≥ 1, the parameters are in
// their ranges, Every is 0 unless Form is FormPSD, and a row, or with FormPSD matrices of that order, fit limits.Memory.
func NewOASIS(dim int, p OASISParams) (*OASIS, error) {
	if dim < 1 {
		return nil, fmt.Errorf("oasis: dim: %d is not allowed, want at least 1", dim)
	}
	p = p.Resolved()
	if err := p.check(); err != nil {
		return nil, err
	}
	need := limits.Floats(3, dim) // the list of rows
	if p.Form == FormPSD {
		const matrices = 6 // W, its symmetric copy, and an eigendecomposition
		need = limits.Floats(matrices, dim, dim)
	}
	if err := limits.Check(fmt.Sprintf("oasis with %d features", dim), need); err != nil {
		return nil, fmt.Errorf("oasis: dim: %w", err)
	}
	return &OASIS{dim: dim, p: p, rows: make([][]float64, dim)}, nil
}

// made returns l, and panics unless a constructor made it.
func (l *OASIS) made() *OASIS {
	if l == nil || l.dim == 0 {
		panic("similarity: OASIS: zero value, use NewOASIS")
	}
	return l
}

// Dim returns the dimension of the vectors.
func (l *OASIS) Dim() int { return l.made().dim }

// Params returns the resolved parameters.
func (l *OASIS) Params() OASISParams { return l.made().p }

// Predict returns S(a, near) and S(a, far) under the running W, ±math.MaxFloat64 where they overflow. It panics unless all three
// vectors have length Dim and finite entries.
func (l *OASIS) Predict(c metric.Comparison) learners.SimilarityPrediction {
	if err := c.CheckVectors(l.made().dim); err != nil {
		panic("similarity: OASIS: " + err.Error())
	}
	s := l.scores(compress(c.A), compress(c.Near), compress(c.Far))
	return learners.SimilarityPrediction{SimNear: learners.Saturate(s.SimNear), SimFar: learners.Saturate(s.SimFar)}
}

// Loss returns max(0, 1 − S(a, near) + S(a, far)), at most math.MaxFloat64. It panics as Predict does.
func (l *OASIS) Loss(c metric.Comparison) float64 {
	return learners.Saturate(hinge(l.Predict(c)))
}

func hinge(s learners.SimilarityPrediction) float64 { return math.Max(0, 1-s.SimNear+s.SimFar) }

// Step predicts, suffers the loss and updates. StepSize is τ; a mistake is S(a, near) ≤ S(a, far). It returns an error, and
// changes nothing, if a vector is not of length Dim, an entry is NaN or infinite, a similarity, the loss or ‖V‖² overflows, or the step
// would change W by more than 1e290. Nor does it take a step after which the learner would not fit limits.Memory.
func (l *OASIS) Step(c metric.Comparison) (learners.SimilarityOutcome, error) {
	if err := c.CheckVectors(l.made().dim); err != nil {
		return learners.SimilarityOutcome{}, fmt.Errorf("oasis: %w", err)
	}
	return l.step(compress(c.A), compress(c.Near), compress(c.Far))
}

// StepSparse is Step for sparse vectors: the same numbers, at a cost of the product of the numbers of entries.
func (l *OASIS) StepSparse(a, near, far sparse.Vector) (learners.SimilarityOutcome, error) {
	for _, v := range []struct {
		name string
		sparse.Vector
	}{{"a", a}, {"near", near}, {"far", far}} {
		if err := v.Check(l.made().dim); err != nil {
			return learners.SimilarityOutcome{}, fmt.Errorf("oasis: %s: %w", v.name, err)
		}
	}
	return l.step(a, near, far)
}

// mostGrowth is how far a step may change W: below the largest number by enough that W stays finite.
const mostGrowth = 1e290

// step is Step for vectors that have been checked.
func (l *OASIS) step(a, near, far sparse.Vector) (learners.SimilarityOutcome, error) {
	o := learners.SimilarityOutcome{Prediction: l.scores(a, near, far)}
	o.Loss = hinge(o.Prediction)
	o.Mistake = !(o.Prediction.SimNear > o.Prediction.SimFar)
	v := sparse.Difference(sparse.Vector{}, near, far)
	norm2 := a.SqNorm() * v.SqNorm()
	switch {
	case o.Prediction.Check() != nil:
		return learners.SimilarityOutcome{}, fmt.Errorf("oasis: %w", o.Prediction.Check())
	case !finite(o.Loss) || !finite(norm2):
		return learners.SimilarityOutcome{}, errors.New("oasis: the loss or ‖a‖²‖near − far‖² overflows float64: scale the features down")
	case o.Loss == 0 || norm2 < metric.LeastNormal:
		return o, nil
	}
	tau := math.Min(l.p.C, o.Loss/norm2)
	if tau*math.Sqrt(norm2) > mostGrowth {
		return learners.SimilarityOutcome{}, fmt.Errorf("oasis: the step would change W by %v, want at most %v: scale the features down", tau*math.Sqrt(norm2), mostGrowth)
	}
	touched := [][]int{a.Index}
	if l.p.Form != FormFree {
		touched = append(touched, v.Index)
	}
	if err := l.room(touched...); err != nil {
		return learners.SimilarityOutcome{}, err
	}
	if l.p.Form == FormFree {
		l.add(tau, a, v)
	} else {
		l.addBoth(tau/2, a, v)
	}
	o.StepSize, o.Updated = tau, true
	if l.p.Every == 0 {
		return o, nil
	}
	if l.since++; l.since == l.p.Every {
		l.since = 0
		var m *mat.SymDense
		if m, o.Projections = l.projected(); o.Projections > 0 {
			l.set(m)
		}
	}
	return o, nil
}

func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

// compress returns the entries of x that are not 0.
func compress(x []float64) sparse.Vector {
	v := sparse.Vector{Index: make([]int, 0, len(x)), Value: make([]float64, 0, len(x))}
	for i, a := range x {
		if a != 0 {
			v.Index, v.Value = append(v.Index, i), append(v.Value, a)
		}
	}
	return v
}

// fewest is the share of the entries from which on whole rows are added: they are contiguous.
const fewest = 8

func (l *OASIS) dense(entries int) bool { return fewest*entries >= l.dim }

// scores returns S(a, near) and S(a, far).
func (l *OASIS) scores(a, near, far sparse.Vector) learners.SimilarityPrediction {
	if l.dense(len(near.Index) + len(far.Index)) {
		u := l.image(a)
		return learners.SimilarityPrediction{SimNear: near.DotDense(u), SimFar: far.DotDense(u)}
	}
	return learners.SimilarityPrediction{SimNear: l.similarity(a, near), SimFar: l.similarity(a, far)}
}

// image returns Wᵀa.
func (l *OASIS) image(a sparse.Vector) []float64 {
	u := make([]float64, l.dim)
	for k, i := range a.Index {
		if row := l.rows[i]; row != nil {
			floats.AddScaled(u, a.Value[k], row)
		} else {
			u[i] += a.Value[k]
		}
	}
	return u
}

// similarity returns aᵀWy.
func (l *OASIS) similarity(a, y sparse.Vector) float64 {
	u := make([]float64, len(y.Index)) // those entries of Wᵀa that count
	for k, i := range a.Index {
		row := l.rows[i]
		if row == nil {
			if at, found := slices.BinarySearch(y.Index, i); found {
				u[at] += a.Value[k]
			}
			continue
		}
		for at, j := range y.Index {
			u[at] += float64(a.Value[k] * row[j]) // the conversion forbids fusing
		}
	}
	var s float64
	for at, x := range y.Value {
		s += float64(x * u[at])
	}
	return s
}

// room makes the rows of these indices ones that can be written, or returns an error.
func (l *OASIS) room(indices ...[]int) error {
	fresh := 0
	for _, index := range indices {
		for _, i := range index {
			if l.rows[i] == nil {
				fresh++ // an index may count twice
			}
		}
	}
	if err := limits.Check(fmt.Sprintf("oasis with %d of %d rows moved", l.moved+fresh, l.dim), limits.Floats(l.moved+fresh, l.dim)); err != nil {
		return fmt.Errorf("oasis: %w", err)
	}
	for _, index := range indices {
		for _, i := range index {
			if l.rows[i] == nil {
				l.rows[i] = make([]float64, l.dim)
				l.rows[i][i] = 1
				l.moved++
			}
		}
	}
	return nil
}

// add adds c·avᵀ to W, whose rows are there.
func (l *OASIS) add(c float64, a, v sparse.Vector) {
	var full []float64
	if l.dense(len(v.Index)) {
		full = make([]float64, l.dim)
		v.Dense(full)
	}
	for k, i := range a.Index {
		x := c * a.Value[k]
		if full != nil {
			floats.AddScaled(l.rows[i], x, full)
		} else {
			v.AddTo(l.rows[i], x)
		}
	}
}

// addBoth adds c·(avᵀ + vaᵀ) to W, whose rows are there. An entry and its twin get one sum of the same two products.
func (l *OASIS) addBoth(c float64, a, v sparse.Vector) {
	x, y, row := make([]float64, l.dim), make([]float64, l.dim), make([]float64, l.dim)
	a.Dense(x)
	v.Dense(y)
	columns := union(a.Index, v.Index)
	for _, i := range columns {
		for _, j := range columns {
			row[j] = float64(x[i]*y[j]) + float64(y[i]*x[j])
		}
		if l.dense(len(columns)) {
			floats.AddScaled(l.rows[i], c, row)
			continue
		}
		for _, j := range columns {
			l.rows[i][j] += float64(c * row[j])
		}
	}
}

// union returns what is in one of two ascending lists, ascending.
func union(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// projected returns the positive semi-definite matrix nearest to (W + Wᵀ)/2, and how many eigenvalues of that are negative.
func (l *OASIS) projected() (*mat.SymDense, int) {
	m, removed, err := metric.ProjectPSD(matrix.Symmetric(l.running()))
	if err != nil {
		panic("similarity: OASIS: " + err.Error()) // W is finite
	}
	return m, removed
}

// running returns W.
func (l *OASIS) running() *mat.Dense {
	w := mat.NewDense(l.dim, l.dim, nil)
	for i, row := range l.rows {
		if row == nil {
			w.Set(i, i, 1)
		} else {
			w.SetRow(i, row)
		}
	}
	return w
}

// set sets W to m. There is room.
func (l *OASIS) set(m *mat.SymDense) {
	for i := range l.rows {
		row := make([]float64, l.dim)
		for j := range row {
			row[j] = m.At(i, j)
		}
		l.rows[i] = row
	}
	l.moved = l.dim
}

// Similarity returns S(x, y) = xᵀWy under the running W, ±math.MaxFloat64 where it overflows. It panics unless both vectors have
// length Dim and finite entries.
func (l *OASIS) Similarity(x, y []float64) float64 {
	return l.Predict(metric.Comparison{A: x, Near: y, Far: y}).SimNear
}

// Matrix returns W, with FormPSD the positive semi-definite matrix nearest to it: d² numbers, and an eigendecomposition. A
// query q is searched for with Wᵀq, by inner products.
func (l *OASIS) Matrix() *mat.Dense {
	if l.made().p.Form == FormPSD {
		m, _ := l.projected()
		return mat.DenseCopyOf(m)
	}
	return l.running()
}

// Metric returns the metric of the positive semi-definite matrix nearest to (W + Wᵀ)/2. With its factor L, the S of FormPSD is the
// inner product (Lx)ᵀLy.
func (l *OASIS) Metric() *metric.Mahalanobis {
	l.made()
	p, _ := l.projected()
	m, err := metric.NewMahalanobis(p)
	if err != nil {
		panic("similarity: OASIS: " + err.Error()) // it is positive semi-definite
	}
	return m
}

// oasisState is what is saved beside the parameters.
type oasisState struct {
	Dim   int            `json:"dim"`
	Moved []int          `json:"moved"` // the rows that are not those of the identity, ascending
	Rows  persist.Floats `json:"rows"`
	Since int            `json:"since,omitempty"`
}

// Save writes the learner in the format of package persist, kind "similarity/oasis". A learner loaded from it continues
// bit for bit.
func (l *OASIS) Save(w io.Writer) error {
	s := oasisState{Dim: l.made().dim, Moved: make([]int, 0, l.moved), Rows: make(persist.Floats, 0, l.moved*l.dim), Since: l.since}
	for i, row := range l.rows {
		if row != nil {
			s.Moved, s.Rows = append(s.Moved, i), append(s.Rows, row...)
		}
	}
	return persist.Write(w, OASISKind, l.p, s)
}

// LoadOASIS reads a learner that Save wrote. Its errors wrap those of package persist if the file is foreign, newer, damaged
// or of another kind.
func LoadOASIS(r io.Reader) (*OASIS, error) {
	var p OASISParams
	var s oasisState
	if err := persist.Load(r, OASISKind, &p, &s); err != nil {
		return nil, err
	}
	l, err := s.learner(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, OASISKind, err)
	}
	return l, nil
}

// learner returns the saved learner, or an error if the parts do not fit.
func (s oasisState) learner(p OASISParams) (*OASIS, error) {
	if err := p.check(); err != nil { // a file has no defaults
		return nil, err
	}
	l, err := NewOASIS(s.Dim, p)
	switch {
	case err != nil:
		return nil, err
	case len(s.Moved) > s.Dim || len(s.Rows) != len(s.Moved)*s.Dim:
		return nil, fmt.Errorf("rows: %d numbers do not fit %d rows in %d dimensions", len(s.Rows), len(s.Moved), s.Dim)
	case s.Since < 0 || s.Since >= max(p.Every, 1):
		return nil, fmt.Errorf("since: %d, want 0 to %d", s.Since, max(p.Every-1, 0))
	}
	for k, i := range s.Moved {
		if i < 0 || i >= s.Dim || k > 0 && i <= s.Moved[k-1] {
			return nil, fmt.Errorf("moved: row %d, want ascending ones from 0 to %d", i, s.Dim-1)
		}
		row := s.Rows[k*s.Dim:][:s.Dim]
		if at := slices.IndexFunc(row, func(x float64) bool { return !finite(x) }); at >= 0 {
			return nil, fmt.Errorf("row %d, column %d: %v is not allowed, want a finite number", i, at, row[at])
		}
		l.rows[i] = slices.Clone(row)
	}
	l.moved, l.since = len(s.Moved), s.Since
	if p.Form == FormFree {
		return l, nil
	}
	for i, row := range l.rows {
		for j, x := range row {
			twin := 0.0 // of a row of the identity, where this one has no entry but 0
			if l.rows[j] != nil {
				twin = l.rows[j][i]
			}
			if x != twin {
				return nil, fmt.Errorf("entries (%d, %d) and (%d, %d) are %v and %v, want a symmetric matrix", i, j, j, i, x, twin)
			}
		}
	}
	return l, nil
}
