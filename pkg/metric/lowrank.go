package metric

import (
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/internal/subspace"
	"metriclab/pkg/limits"
	"metriclab/pkg/persist"
	"metriclab/pkg/sparse"
)

// LowRank is the squared distance
//
//	d(x, y)² = (x−y)ᵀ W (x−y),  W = I + U(F − I)Uᵀ,  UᵀU = I,  F ⪰ 0,
//
// with U d×k and F k×k: the Euclidean one but for a subspace of k dimensions, in which it is that of F.
// It takes O(dk) memory and O(dk + k²) time per distance, where W itself would take O(d²). A LowRank is
// immutable and safe for concurrent use. Source: Jain, Kulis, Davis, Dhillon, JMLR 13, 2012, Section 3.6.
type LowRank struct {
	u    *mat.Dense // k×d: Uᵀ
	root *mat.Dense // G, k×k, F = GᵀG
}

// orthonormal is how far products of the rows of a basis may be from those of orthonormal ones: round-off, also of
// a file that another program wrote.
const orthonormal = 1e-8

// NewLowRank returns the metric of F = GᵀG in the span of the rows of basis, k×d and orthonormal: Uᵀ of the formula. G is factor, k×k.
// Of all G with the same F it keeps the symmetric positive semi-definite one, F^(1/2). It returns an error if an entry is NaN or
// infinite, if rows of basis are not orthonormal to 1e-8, or if the shapes do not fit. It panics if a matrix is nil or empty.
func NewLowRank(basis, factor mat.Matrix) (*LowRank, error) {
	u, g := matrix.Given("metric: NewLowRank: basis", basis), matrix.Given("metric: NewLowRank: factor", factor)
	if u.IsEmpty() || g.IsEmpty() {
		panic(mat.ErrZeroLength)
	}
	m := &LowRank{u: mat.DenseCopyOf(u), root: mat.DenseCopyOf(g)}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("metric: %w", err)
	}
	// The singular values of G are right to ε·‖G‖. The eigenvalues of F would be so to ε·‖G‖² only.
	var svd mat.SVD
	if !svd.Factorize(m.root, mat.SVDFull) {
		return nil, errors.New("metric: factor: singular value decomposition did not converge")
	}
	var v mat.Dense
	svd.VTo(&v)
	scaled := mat.DenseCopyOf(&v)
	values := svd.Values(nil)
	k := len(values)
	for i := range k {
		floats.Mul(scaled.RawRowView(i), values)
	}
	m.root.Copy(matrix.Symmetric(matrix.Mul(scaled, v.T())))
	if err := CheckFinite(m.root); err != nil {
		return nil, fmt.Errorf("metric: factor: its root: %w", err)
	}
	return m, nil
}

// check returns an error unless U and G fit, are finite, and U has orthonormal rows.
func (m *LowRank) check() error {
	k, d := m.u.Dims()
	if r, c := m.root.Dims(); r != k || c != k || k > d {
		return fmt.Errorf("factor: %d×%d does not fit a basis of %d vectors in %d dimensions", r, c, k, d)
	}
	if err := CheckFinite(m.u); err != nil {
		return fmt.Errorf("basis: %w", err)
	}
	if err := CheckFinite(m.root); err != nil {
		return fmt.Errorf("factor: %w", err)
	}
	gram := matrix.Outer(1, m.u)
	for i := range k {
		for j := range i + 1 {
			want := 0.0
			if i == j {
				want = 1
			}
			if v := gram.At(i, j); !(math.Abs(v-want) <= orthonormal) {
				return fmt.Errorf("basis: the product of vectors %d and %d is %v, want %v: they must be orthonormal", j, i, v, want)
			}
		}
	}
	return nil
}

// made returns m, and panics if no constructor made it.
func (m *LowRank) made() *LowRank {
	if m == nil || m.u == nil {
		panic("metric: LowRank: nil or the zero value, use NewLowRank")
	}
	return m
}

// Dim returns d, the dimension of the vectors it compares.
func (m *LowRank) Dim() int {
	_, d := m.made().u.Dims()
	return d
}

// Rank returns k, the dimension of the subspace in which the metric is not Euclidean.
func (m *LowRank) Rank() int {
	k, _ := m.made().u.Dims()
	return k
}

// Rows returns d, the dimension of what Embed returns.
func (m *LowRank) Rows() int { return m.Dim() }

// Basis returns a copy of Uᵀ, k×d with orthonormal rows.
func (m *LowRank) Basis() *mat.Dense { return mat.DenseCopyOf(m.made().u) }

// F returns a copy of the k×k matrix F.
func (m *LowRank) F() *mat.SymDense { return matrix.Outer(1, m.made().root.T()) }

// M returns the d×d matrix W. It takes O(d²) memory, which nothing else here does.
func (m *LowRank) M() *mat.SymDense {
	f := mat.DenseCopyOf(m.F())
	k, d := m.u.Dims()
	for i := range k {
		f.Set(i, i, f.At(i, i)-1)
	}
	change := matrix.Mul(m.u.T(), matrix.Mul(f, m.u))
	w := matrix.Symmetric(change)
	for i := range d {
		w.SetSym(i, i, w.At(i, i)+1)
	}
	return w
}

// Mahalanobis returns the same metric with its d×d factor L = W^(1/2), or an error if three matrices of that size exceed limits.Memory.
func (m *LowRank) Mahalanobis() (*Mahalanobis, error) {
	d := m.Dim()
	if err := limits.Check(fmt.Sprintf("the matrix of a metric of %d features", d), limits.Floats(3, d, d)); err != nil {
		return nil, fmt.Errorf("metric: %w", err)
	}
	return FromFactor(m.EmbedRows(Identity(d).Factor())), nil
}

// SqDist returns d(x, y)² = ‖v − UUᵀv‖² + ‖F^(1/2)Uᵀv‖² for v = x − y, which is never negative; +Inf if it or an entry of v
// overflows. It panics if x or y does not have length Dim.
func (m *LowRank) SqDist(x, y []float64) float64 {
	if d := m.Dim(); len(x) != d || len(y) != d {
		panic(mat.ErrShape)
	}
	v := Sub(nil, x, y)
	outside, inside := m.parts(v, m.root)
	if s := outside + inside; s <= math.MaxFloat64 {
		return s
	}
	// Sums overflowed, perhaps on the way only: v and G are divided by powers of two of the order of their largest entries.
	Sub(v, x, y)
	largest := floats.Norm(v, math.Inf(1))
	switch {
	case floats.HasNaN(v):
		return math.NaN()
	case math.IsInf(largest, 1):
		return largest
	}
	_, vk := math.Frexp(largest)
	for i, a := range v {
		v[i] = math.Ldexp(a, -vk)
	}
	_, gk := math.Frexp(max(mat.Max(m.root), -mat.Min(m.root)))
	g := mat.DenseCopyOf(m.root)
	g.Apply(func(_, _ int, a float64) float64 { return math.Ldexp(a, -gk) }, g)
	outside, inside = m.parts(v, g)
	return math.Ldexp(outside, 2*vk) + math.Ldexp(inside, 2*(vk+gk))
}

// parts returns ‖v − UUᵀv‖² and ‖gUᵀv‖². It overwrites v.
func (m *LowRank) parts(v []float64, g *mat.Dense) (outside, inside float64) {
	k, _ := m.u.Dims()
	w := make([]float64, k)
	product.DotRows(w, m.u.RawMatrix(), v)
	for i, a := range w {
		floats.AddScaled(v, -a, m.u.RawRowView(i))
		p := floats.Dot(g.RawRowView(i), w)
		inside += p * p
	}
	return floats.Dot(v, v), inside
}

// SqDistSparse is SqDist of sparse vectors. It takes O(ek + k²) steps for e entries that differ, and O(dk) more where less
// than 1e-4 of ‖x − y‖² lies outside the basis. It panics if an index is not below Dim.
func (m *LowRank) SqDistSparse(x, y sparse.Vector) float64 {
	u, root := m.made().u, m.root
	v := sparse.Difference(sparse.Vector{}, x, y)
	if n := len(v.Index); n > 0 && v.Index[n-1] >= m.Dim() {
		panic(mat.ErrShape)
	}
	z := make([]float64, m.Rank())
	_, s := subspace.Split(z, u, v)
	for i := range z {
		p := floats.Dot(root.RawRowView(i), z)
		s += p * p
	}
	if s <= math.MaxFloat64 {
		return s
	}
	a, b := make([]float64, m.Dim()), make([]float64, m.Dim())
	x.Dense(a)
	y.Dense(b)
	return m.SqDist(a, b) // which looks whether sums overflowed on the way only
}

// Coordinates returns Uᵀx of each row of x, n×k, in O(k) steps for each entry of a *sparse.Matrix. Squared distances are those of the rows, less those of the
// coordinates, and (z − z')ᵀF(z − z'). It panics if x is nil or empty or does not have Dim columns.
func (m *LowRank) Coordinates(x mat.Matrix) *mat.Dense {
	if s, ok := x.(*sparse.Matrix); ok && s != nil {
		n, d := s.Dims()
		if d != m.Dim() {
			panic(mat.ErrShape)
		}
		out := mat.NewDense(n, m.Rank(), nil)
		for i := range n {
			m.CoordinatesOf(out.RawRowView(i), s.Row(i))
		}
		return out
	}
	xd := matrix.Given("metric: Coordinates: x", x)
	if _, d := xd.Dims(); d != m.Dim() {
		panic(mat.ErrShape)
	}
	return matrix.Mul(xd, m.u.T())
}

// CoordinatesOf sets z to Uᵀx. It panics if z does not have length Rank, or an index of x is not below Dim.
func (m *LowRank) CoordinatesOf(z []float64, x sparse.Vector) {
	if len(z) != m.Rank() {
		panic(mat.ErrShape)
	}
	for c := range z {
		z[c] = x.DotDense(m.u.RawRowView(c))
	}
}

// Within returns n×(k+1) numbers for the rows of x: F^(1/2)Uᵀx, and in the last column the length ρ = ‖x − UUᵀx‖ of the part outside the
// subspace. With z for the first k numbers of a row,
//
//	‖z − z′‖² + (ρ − ρ′)² ≤ d(x, x′)² ≤ ‖z − z′‖² + (ρ + ρ′)²,
//
// so that distances are exact between rows in the subspace. A row of a *sparse.Matrix takes O(k) steps per entry, and O(dk) more where less than 1e-4 of
// its squared length is outside. It panics if x is nil or empty or does not have Dim columns.
func (m *LowRank) Within(x mat.Matrix) *mat.Dense {
	k, d := m.made().u.Dims()
	s, _ := x.(*sparse.Matrix)
	var xd *mat.Dense
	if s == nil {
		xd = matrix.Given("metric: Within: x", x)
		x = xd
	}
	n, c := x.Dims()
	if c != d {
		panic(mat.ErrShape)
	}
	z, out := mat.NewDense(n, k, nil), mat.NewDense(n, k+1, nil)
	if s != nil {
		for i := range n {
			_, outside := subspace.Split(z.RawRowView(i), m.u, s.Row(i))
			out.Set(i, k, math.Sqrt(outside))
		}
	} else {
		matrix.MulTo(z, xd, m.u.T())
		rest := matrix.Mul(z, m.u)
		rest.Sub(xd, rest)
		for i := range n {
			out.Set(i, k, floats.Norm(rest.RawRowView(i), 2))
		}
	}
	out.Slice(0, n, 0, k).(*mat.Dense).Copy(matrix.Mul(z, m.root.T()))
	return out
}

// Embed returns x + U(F^(1/2) − I)Uᵀx, the image of x in R^d under a map in which the metric is Euclidean. It panics if x
// does not have length Dim.
func (m *LowRank) Embed(x []float64) []float64 {
	if len(x) != m.Dim() {
		panic(mat.ErrShape)
	}
	k, _ := m.u.Dims()
	out, w := make([]float64, len(x)), make([]float64, k)
	product.DotRows(w, m.u.RawMatrix(), x)
	copy(out, x)
	for i, a := range w {
		floats.AddScaled(out, floats.Dot(m.root.RawRowView(i), w)-a, m.u.RawRowView(i))
	}
	return out
}

// EmbedRows returns the n×d matrix whose rows are the images of the rows of the n×d matrix x, dense also if x is a
// *sparse.Matrix: see Coordinates for less. It panics if x is nil or empty or does not have Dim columns.
func (m *LowRank) EmbedRows(x mat.Matrix) *mat.Dense {
	s, ok := x.(*sparse.Matrix)
	if !ok {
		x = matrix.Given("metric: EmbedRows: x", x)
	}
	w := m.Coordinates(x)
	change := matrix.Mul(w, m.root.T())
	change.Sub(change, w)
	out := matrix.Mul(change, m.u)
	if !ok {
		out.Add(out, x)
		return out
	}
	n, _ := s.Dims()
	for i := range n {
		s.Row(i).AddTo(out.RawRowView(i), 1)
	}
	return out
}

// LowRankKind is the kind under which package persist stores a LowRank.
const LowRankKind = "metric/low-rank"

// lowRankState is what Save of a LowRank writes; there are no parameters.
type lowRankState struct {
	Dim   int            `json:"dim"`
	Rank  int            `json:"rank"`
	Basis persist.Floats `json:"basis"` // Uᵀ, row by row
	Root  persist.Floats `json:"root"`  // G, row by row
}

// Save writes the metric in the format of package persist, kind "metric/low-rank", with O(dk) numbers; one loaded from it measures every
// distance to the same bit. It panics on nil and on the zero value.
func (m *LowRank) Save(w io.Writer) error {
	return persist.Write(w, LowRankKind, struct{}{}, lowRankState{
		Dim: m.Dim(), Rank: m.Rank(), Basis: m.u.RawMatrix().Data, Root: m.root.RawMatrix().Data,
	})
}

// LoadLowRank reads a metric that Save of a LowRank wrote. Its errors wrap those of package persist
// if the file is foreign, newer, damaged or of another kind.
func LoadLowRank(r io.Reader) (*LowRank, error) {
	var s lowRankState
	if err := persist.Load(r, LowRankKind, &struct{}{}, &s); err != nil {
		return nil, err
	}
	m, err := s.metric()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, LowRankKind, err)
	}
	return m, nil
}

// metric returns the saved metric, or an error if the parts do not fit.
func (s lowRankState) metric() (*LowRank, error) {
	if s.Rank < 1 || s.Dim < s.Rank || len(s.Basis)%s.Rank != 0 || len(s.Basis)/s.Rank != s.Dim || len(s.Root)%s.Rank != 0 || len(s.Root)/s.Rank != s.Rank {
		return nil, fmt.Errorf("%d and %d numbers do not fit rank %d in %d dimensions", len(s.Basis), len(s.Root), s.Rank, s.Dim)
	}
	m := &LowRank{u: mat.NewDense(s.Rank, s.Dim, s.Basis), root: mat.NewDense(s.Rank, s.Rank, s.Root)}
	for i := range s.Rank {
		for j := range i {
			if a, b := m.root.At(i, j), m.root.At(j, i); a != b {
				return nil, fmt.Errorf("root: entries (%d, %d) and (%d, %d) are %v and %v, want a symmetric matrix", i, j, j, i, a, b)
			}
		}
	}
	return m, m.check()
}
