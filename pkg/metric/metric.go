// Package metric holds the vocabulary that every learner shares: the kinds of
// feedback (labelled pairs, relative comparisons of objects and of vectors, assignment costs),
// squared distances, and the Mahalanobis metric.
//
// Distances are squared distances everywhere, and say so in their name. A
// Mahalanobis matrix is a precision (units 1/feature²), never a covariance.
// A row is an object.
//
// A function panics when the call itself is wrong (vectors of different
// length, a nil matrix); it returns an error when the data are (a matrix that
// is not positive semi-definite).
package metric

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
)

// Label says whether a pair is similar. Its zero value is invalid, so that a
// forgotten label is an error and not a class.
type Label int8

const (
	Dissimilar Label = -1
	Similar    Label = +1
)

// Valid reports whether l is Similar or Dissimilar.
func (l Label) Valid() bool { return l == Similar || l == Dissimilar }

// String returns "similar", "dissimilar" or "invalid label n".
func (l Label) String() string {
	switch l {
	case Similar:
		return "similar"
	case Dissimilar:
		return "dissimilar"
	}
	return fmt.Sprintf("invalid label %d", int8(l))
}

// ParseLabel returns the label that v stands for, 1 or -1, or an error that says so. A
// conversion Label(v) would keep the last eight bits of v: that of 257 is Similar.
func ParseLabel(v int) (Label, error) {
	if v != int(Similar) && v != int(Dissimilar) {
		return 0, fmt.Errorf("label: %d is not allowed, want 1 (similar) or -1 (dissimilar)", v)
	}
	return Label(v), nil
}

// SameClass returns Similar if same is true, and Dissimilar otherwise.
func SameClass(same bool) Label {
	if same {
		return Similar
	}
	return Dissimilar
}

// Link is a labelled pair by reference: rows I and J of a data set. It is
// what samplers yield.
type Link struct {
	I, J  int
	Label Label
}

// Pair is a labelled pair by value: two vectors of equal length. As JSON it is a line
// that `metriclab learn` reads: without a label, one that only asks for a prediction.
type Pair struct {
	X     []float64 `json:"x"`
	Y     []float64 `json:"y"`
	Label Label     `json:"label,omitzero"`
}

// Check returns an error unless p is a valid round for a learner of
// dim-dimensional vectors: both vectors of length dim, every entry finite, so that
// ‖x−y‖⁴ is finite too, and the label Similar or Dissimilar. The error names field,
// index and value. A learner that takes vectors farther apart, as one with a bounded
// kernel does, calls CheckLabel and CheckVectors.
func (p Pair) Check(dim int) error {
	if err := p.CheckLabel(); err != nil {
		return err
	}
	if err := p.CheckVectors(dim); err != nil {
		return err
	}
	norm2 := Euclidean{}.SqDist(p.X, p.Y)
	if norm4 := norm2 * norm2; norm4 > math.MaxFloat64 {
		return fmt.Errorf("x and y: ‖x−y‖⁴ = %v, want a finite number: scale the features down", norm4)
	}
	return nil
}

// CheckLabel returns an error unless the label is Similar or Dissimilar.
func (p Pair) CheckLabel() error {
	_, err := ParseLabel(int(p.Label))
	return err
}

// CheckVectors returns an error unless both vectors have length dim and every entry is
// finite: what a pair that only asks for a prediction must satisfy.
func (p Pair) CheckVectors(dim int) error {
	if err := checkVector("x", p.X, dim); err != nil {
		return err
	}
	return checkVector("y", p.Y, dim)
}

func checkVector(name string, v []float64, dim int) error {
	if len(v) != dim {
		return fmt.Errorf("%s: has %d numbers, want %d", name, len(v), dim)
	}
	for i, a := range v {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return fmt.Errorf("%s[%d]: %v is not allowed, want a finite number", name, i, a)
		}
	}
	return nil
}

// RankOne is the term C·VVᵀ of a sum of symmetric matrices; C may be negative.
type RankOne struct {
	C float64
	V []float64
}

// Triplet is a relative comparison: object A is closer to Near than to Far. As JSON it
// is a line that `metriclab learn` reads.
type Triplet struct {
	A    int `json:"a"`
	Near int `json:"near"`
	Far  int `json:"far"`
}

// UnmarshalJSON reads an object with the members a, near and far, no less and no others: a
// member left out would be object 0.
func (t *Triplet) UnmarshalJSON(raw []byte) error {
	var f struct {
		A    *int `json:"a"`
		Near *int `json:"near"`
		Far  *int `json:"far"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return err
	}
	if f.A == nil || f.Near == nil || f.Far == nil {
		return fmt.Errorf("%.100s: want a, near and far", raw)
	}
	*t = Triplet{*f.A, *f.Near, *f.Far}
	return nil
}

// Degenerate reports whether the objects of t are not distinct.
func (t Triplet) Degenerate() bool { return t.A == t.Near || t.A == t.Far || t.Near == t.Far }

// Comparison is a relative comparison by value: the vector A is more like Near than like Far. In search A is a
// query, Near a document that serves it, and Far one that does not. As JSON it is a line that `metriclab learn` reads.
type Comparison struct {
	A    []float64 `json:"a"`
	Near []float64 `json:"near"`
	Far  []float64 `json:"far"`
}

// CheckVectors returns an error unless the three vectors have length dim and finite entries. It names field, index and value.
func (c Comparison) CheckVectors(dim int) error {
	if err := checkVector("a", c.A, dim); err != nil {
		return err
	}
	if err := checkVector("near", c.Near, dim); err != nil {
		return err
	}
	return checkVector("far", c.Far, dim)
}

// CostRound is one round of map learning: Cost is A×B with entries in [0, 1],
// the cost of assigning object i to prototype j in this round. As JSON it is a line that
// `metriclab learn` reads.
type CostRound struct{ Cost mat.Matrix }

type costFields struct {
	Cost [][]float64 `json:"cost"`
}

// MarshalJSON writes {"cost":[[0,1],[0.5,0.2]]}, a list per object. It returns an error
// if Cost is nil or not finite.
func (c CostRound) MarshalJSON() ([]byte, error) {
	if matrix.IsNil(c.Cost) {
		return nil, errors.New("cost: nil, want a matrix")
	}
	a, b := c.Cost.Dims()
	rows := make([][]float64, a)
	for i := range rows {
		rows[i] = make([]float64, b)
		for j := range rows[i] {
			rows[i][j] = c.Cost.At(i, j)
		}
	}
	return json.Marshal(costFields{rows})
}

// UnmarshalJSON reads what MarshalJSON writes. It returns an error if there is no row,
// or rows are empty or differ in length; the numbers may be any.
func (c *CostRound) UnmarshalJSON(raw []byte) error {
	var fields costFields
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	if len(fields.Cost) == 0 {
		return errors.New("cost: has no rows, want at least 1")
	}
	b := len(fields.Cost[0])
	for i, row := range fields.Cost {
		if len(row) == 0 || len(row) != b {
			return fmt.Errorf("cost[%d]: has %d numbers, want %d", i, len(row), max(b, 1))
		}
	}
	cost := mat.NewDense(len(fields.Cost), b, nil)
	for i, row := range fields.Cost {
		cost.SetRow(i, row)
	}
	c.Cost = cost
	return nil
}

// SqDister is anything that measures a squared distance between two vectors.
// Kernel metrics have no matrix, so this is what nearest neighbours ask for.
type SqDister interface {
	// SqDist returns d(x, y)² ≥ 0; +Inf, never NaN, for finite vectors between which
	// it overflows. It panics if x and y differ in length, or
	// from the dimension of the metric.
	SqDist(x, y []float64) float64
}

// Euclidean is the squared Euclidean distance ‖x−y‖² in any dimension.
type Euclidean struct{}

// SqDist returns ‖x−y‖², +Inf if it overflows. It panics if x and y differ in length.
func (Euclidean) SqDist(x, y []float64) float64 {
	if len(x) != len(y) {
		panic(mat.ErrShape)
	}
	var s float64
	for i, a := range x {
		d := a - y[i]
		s += d * d
	}
	return s
}

// Sub sets dst to x − y and returns it; dst is allocated if it is nil.
// It panics if the lengths differ.
func Sub(dst, x, y []float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(x))
	}
	if len(x) != len(y) || len(dst) != len(x) {
		panic(mat.ErrShape)
	}
	for i, a := range x {
		dst[i] = a - y[i]
	}
	return dst
}

// CheckLinks returns an error that names the first link that is not between two of n rows, or has no
// valid label.
func CheckLinks(n int, links []Link) error {
	for k, l := range links {
		if !l.Label.Valid() {
			return fmt.Errorf("link %d: label %d is not allowed, want 1 (similar) or -1 (dissimilar)", k, int8(l.Label))
		}
		for _, i := range []int{l.I, l.J} {
			if i < 0 || i >= n {
				return fmt.Errorf("link %d: row %d is not allowed, want 0 to %d", k, i, n-1)
			}
		}
	}
	return nil
}
