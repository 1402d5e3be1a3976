package kernels

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
)

// Objects is the kernel of n objects of which kernel values are known and no vectors: object i is the point {i}, in one dimension. So whatever
// learns from points under any kernel learns from a Gram matrix, too. There are no other points.
type Objects struct{ k0 mat.Symmetric }

var _ Kernel = Objects{}

// NewObjects returns the kernel of the objects of the Gram matrix k0, n×n, which it keeps: k0 must not change. It panics if k0 is nil or empty.
func NewObjects(k0 mat.Symmetric) Objects {
	demandGiven("k0", k0)
	if k0.SymmetricDim() == 0 {
		panic(mat.ErrZeroLength)
	}
	return Objects{k0}
}

// Points returns the n objects as rows, n×1.
func (o Objects) Points() *mat.Dense {
	x := mat.NewDense(o.k0.SymmetricDim(), 1, nil)
	for i := range o.k0.SymmetricDim() {
		x.Set(i, 0, float64(i))
	}
	return x
}

// Eval returns the kernel value of the objects {i} and {j}. It panics if x or y is no object.
func (o Objects) Eval(x, y []float64) float64 { return o.k0.At(objectOf(x), objectOf(y)) }

// objectOf returns the number of an object.
func objectOf(x []float64) int {
	if len(x) != 1 || x[0] != float64(int(x[0])) {
		panic(fmt.Sprintf("kernels: Objects: %v is no object, want the number of one", x))
	}
	return int(x[0])
}

// ascending returns the objects of support points, ascending, and the row of each.
func ascending(support *mat.Dense) (objects, rows []int) {
	n, _ := support.Dims()
	for i := range n {
		rows = append(rows, i)
	}
	slices.SortFunc(rows, func(a, b int) int { return objectOf(support.RawRowView(a)) - objectOf(support.RawRowView(b)) })
	for _, i := range rows {
		objects = append(objects, objectOf(support.RawRowView(i)))
	}
	return objects, rows
}

// OfObjects returns t, whose kernel is an Objects, as a kernel of kernel values. It panics if another kernel is inside, or two support points are one object.
func (t *Transformed) OfObjects() Learned {
	demandObjects(t.kernel)
	out := Learned{Alpha: t.alpha}
	if t.support == nil {
		return out
	}
	var rows []int
	out.Support, rows = ascending(t.support)
	demandDistinct(out.Support)
	out.S = mat.NewSymDense(len(rows), nil)
	for a, i := range rows {
		for b, j := range rows[:a+1] {
			out.S.SetSym(a, b, t.s.At(i, j))
		}
	}
	return out
}

// OfObjects returns m, whose kernel is an Objects, as coordinates by kernel values. It panics if another kernel is inside, or two support points are one object.
func (m *Metric) OfObjects() Coordinates {
	demandObjects(m.kernel)
	if m.g == nil {
		return Coordinates{}
	}
	objects, rows := ascending(m.support)
	demandDistinct(objects)
	r, _ := m.g.Dims()
	out := Coordinates{Support: objects, G: mat.NewDense(r, len(rows), nil), Shift: slices.Clone(m.shift)}
	for a, i := range rows {
		for c := range r {
			out.G.Set(c, a, m.g.At(c, i))
		}
	}
	return out
}

func demandObjects(k Kernel) {
	if _, ok := k.(Objects); !ok {
		panic(fmt.Sprintf("kernels: OfObjects: the kernel is a %T, want Objects", k))
	}
}

func demandDistinct(objects []int) {
	for a := 1; a < len(objects); a++ {
		if objects[a] == objects[a-1] {
			panic(fmt.Sprintf("kernels: OfObjects: two support points are object %d", objects[a]))
		}
	}
}

// Coordinates are coordinates of objects, known at the fit or not, by their kernel values with the n objects of the fit:
//
//	e(x) = Gk(x) + c,  k(x) = κ of x and each support object,
//
// between which Euclidean distances are learned ones. Metric is the like of points.
type Coordinates struct {
	// Support holds objects, ascending, none twice.
	Support []int
	// G is r×m for m objects in the support; nil if r = 0, so that all objects coincide.
	G *mat.Dense
	// Shift is c, of length r; nil for zeros.
	Shift []float64
}

// Learned returns the kernel k(x)ᵀGᵀG·k(z) of the learned distances, whose origin is that of the kernel's space: inner products of coordinates less c. It returns an error if
// a number overflows.
func (c Coordinates) Learned() (Learned, error) {
	if c.G == nil {
		return Learned{}, nil
	}
	s := matrix.Outer(1, c.G.T())
	if metric.CheckFinite(s) != nil {
		return Learned{}, fmt.Errorf("kernels: coordinates: %w", metric.ErrWeights)
	}
	return Learned{Support: slices.Clone(c.Support), S: s}, nil
}

// Embed returns coordinates of s objects, s×r, from kernel values with the n objects of the fit, cross, s×n; s×1 zeros if r = 0. It costs O(smr) for m objects in the support.
//
// It returns an error if cross does not have n columns, or an entry of it is NaN or infinite. It panics if cross is nil or empty, or n is too small for the support.
func (c Coordinates) Embed(n int, cross mat.Matrix) (*mat.Dense, error) {
	x := matrix.Given("kernels: Coordinates: cross", cross)
	s, columns := x.Dims()
	if s == 0 || columns == 0 {
		panic(mat.ErrZeroLength)
	}
	if m := len(c.Support); m > 0 && c.Support[m-1] >= n {
		panic(mat.ErrShape)
	}
	if columns != n {
		return nil, fmt.Errorf("kernels: cross: %d columns are not allowed, want %d, one per object of the fit", columns, n)
	}
	if err := checkEntries("cross", x); err != nil {
		return nil, err
	}
	if c.G == nil {
		return mat.NewDense(s, 1, nil), nil
	}
	out := matrix.Mul(Learned{Support: c.Support}.toSupport(x), c.G.T())
	if c.Shift != nil {
		for i := range s {
			floats.Add(out.RawRowView(i), c.Shift)
		}
	}
	return out, nil
}
