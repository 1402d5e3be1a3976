package kernels

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
)

// Learned is the kernel of a linear transformation that was learned on the objects of a Gram matrix K₀ = ΦᵀΦ, n×n:
//
//	K = ΦᵀWΦ = αK₀ + K₀SK₀,  W = αI + ΦSΦᵀ,
//
// where S is 0 outside the objects of Support. It tells K of the objects of K₀ and of others, by kernel values
// alone (Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012,
// Eqs. 6 and 18). Where vectors are known, Kernel makes a Transformed of it.
type Learned struct {
	// Alpha is α ≥ 0.
	Alpha float64
	// Support holds objects, ascending, none twice.
	Support []int
	// S is S between the objects of Support, in their order, symmetric; nil if there are none, so that W = αI.
	S *mat.SymDense
}

// allRows is how many rows of K All makes at a time.
const allRows = 256

// All returns the learned kernel matrix
//
//	K = αK₀ + K₀SK₀
//
// of all n objects of k0, which is the K₀ of the fit, or a larger one that begins with
// it: further objects need not have been known then. K of the support is that of the
// fit, up to round-off. For m objects in the support it costs O(mn²). It panics if k0 is
// nil or has too few rows for the support.
func (l Learned) All(k0 mat.Symmetric) *mat.SymDense {
	demandGiven("k0", k0)
	n, m := k0.SymmetricDim(), len(l.Support)
	k := mat.NewSymDense(n, nil)
	k.CopySym(k0)
	l.scaleSym(k)
	if m == 0 {
		return k
	}
	if l.Support[m-1] >= n {
		panic(fmt.Sprintf("kernels: k0 has %d rows, want at least %d", n, l.Support[m-1]+1))
	}
	p := mat.NewDense(n, m, nil) // K₀ between all objects and the support
	for i := range n {
		row := p.RawRowView(i)
		for a, j := range l.Support {
			row[a] = k0.At(i, j)
		}
	}
	ps := matrix.Mul(p, l.S)
	raw := k.RawSymmetric()
	for top := 0; top < n; top += allRows {
		end := min(top+allRows, n)
		add := matrix.Mul(ps.Slice(top, end, 0, m), p.Slice(top, n, 0, m).T())
		for i := top; i < end; i++ {
			floats.Add(raw.Data[i*raw.Stride+i:i*raw.Stride+n], add.RawRowView(i - top)[i-top:])
		}
	}
	return k
}

// Kernel returns the learned kernel, of any two points, known at the fit or not (Eq. 6):
//
//	K(x, y) = α·κ(x, y) + k(x)ᵀSk(y),  k(x) = κ of x and each support point,
//
// for the kernel k = κ and the rows of x, n×d, whose Gram matrix K₀ is. It returns an error,
// by NewTransformed, if the kernel is not positive semi-definite. That is so if k or x are
// others than those of the fit. It may also be round-off: where K₀ is singular, and bounds
// ask for distances some 10⁷ times smaller than they were. It panics if k or x is nil, or x
// has too few rows for the support.
func (l Learned) Kernel(k Kernel, x mat.Matrix) (*Transformed, error) {
	xd := matrix.Given("kernels: Kernel: x", x)
	n, d := xd.Dims()
	m := len(l.Support)
	if m == 0 {
		return NewTransformed(k, l.Alpha, d, nil, nil)
	}
	if l.Support[m-1] >= n {
		panic(fmt.Sprintf("kernels: x has %d rows, want at least %d", n, l.Support[m-1]+1))
	}
	support := mat.NewDense(m, d, nil)
	for a, i := range l.Support {
		support.SetRow(a, xd.RawRowView(i))
	}
	return NewTransformed(k, l.Alpha, d, support, l.S)
}

// Between returns the learned kernel between objects that the fit need not have known and those of k0, the K₀ of
// the fit, n×n:
//
//	K(x, z) = α·κ(x, z) + k(x)ᵀSk(z),  k(x) = κ of x and each support object,
//
// from κ between them, cross, one row per new object and one column per object of k0. Its values are those of All
// for the enlarged Gram matrix, which need not be made, and it needs no kernel values among the new objects. For r new
// objects and m in the support it costs O(mnr).
//
// It returns an error if cross does not have n columns, if an entry of cross or k0 is NaN or infinite, or if a
// result overflows. It panics if cross or k0 is nil or empty, or k0 has too few rows for the support.
func (l Learned) Between(k0 mat.Symmetric, cross mat.Matrix) (*mat.Dense, error) {
	if err := l.checkCross(k0, cross); err != nil {
		return nil, err
	}
	k := mat.DenseCopyOf(cross)
	if l.Alpha != 1 {
		k.Scale(l.Alpha, k)
	}
	if len(l.Support) > 0 {
		k.Add(k, matrix.Mul(matrix.Mul(l.toSupport(cross), l.S), l.toSupport(k0).T()))
	}
	if err := finiteResult(k); err != nil {
		return nil, err
	}
	return k, nil
}

// Among returns the learned kernel matrix of new objects, r×r,
//
//	K(x, y) = α·κ(x, y) + k(x)ᵀSk(y),
//
// from cross as for Between, of which it reads the columns of the support, and from κ among the new objects, own. It
// costs O(mr(m + r) + r³), the last for the check of own.
//
// It returns an error if cross has too few columns for the support or another number of rows than own, or an
// entry that is NaN or infinite. So it does if own is no Gram matrix (see NewGram), and if a result overflows. An
// error that wraps metric.ErrNotPSD says that cross and own contradict each other: they give an object a
// negative K(x, x), beyond round-off. It panics if cross or own is nil or empty.
func (l Learned) Among(cross, own mat.Matrix) (*mat.SymDense, error) {
	k, err := l.checkOwn(cross, own)
	if err != nil {
		return nil, err
	}
	r := k.SymmetricDim()
	diag := make([]float64, r)
	for i := range diag {
		diag[i] = k.At(i, i)
	}
	if diag, err = l.Diagonal(cross, diag); err != nil {
		return nil, err
	}
	l.scaleSym(k)
	if len(l.Support) > 0 {
		p := l.toSupport(cross)
		add := matrix.Mul(matrix.Mul(p, l.S), p.T())
		for i := range r {
			for j := range i {
				k.SetSym(i, j, k.At(i, j)+add.At(i, j)/2+add.At(j, i)/2)
			}
			k.SetSym(i, i, diag[i])
		}
	}
	if err := finiteResult(k); err != nil {
		return nil, err
	}
	return k, nil
}

// Diagonal returns the diagonal of Among, K(x, x) of each new object, from the diagonal of own alone. It costs O(m²r).
// Its errors and panics are those of Among; instead of own, diag is refused if a number is negative, NaN or
// infinite, or if there is not one per row of cross.
func (l Learned) Diagonal(cross mat.Matrix, diag []float64) ([]float64, error) {
	if err := l.checkDiagonal(cross, diag); err != nil {
		return nil, err
	}
	rows := l.rows(cross, nil)
	out := make([]float64, len(diag))
	for i, v := range diag {
		add, size := rows.quadratic(i)
		var err error
		if out[i], err = notNegative(l.Alpha*v+add, l.Alpha*v+size); err != nil {
			return nil, fmt.Errorf("kernels: new object %d: K(x, x): %w", i, err)
		}
	}
	return out, nil
}

// SqDistBetween returns the learned squared distances between new objects and those of k0,
//
//	d²(x, z) = α(κ(x, x) − 2κ(x, z) + κ(z, z)) + uᵀSu,  u = k(x) − k(z),
//
// from cross as for Between and κ(x, x) of each new object, diag. The second term is
// not a difference of two values of K, which loses the digits of small distances. Round-off below 0 gives 0. It costs
// O(mn(m + r)).
//
// It returns the errors of Between and of Diagonal, with a negative squared distance in place of a negative K(x, x),
// and panics as they do.
func (l Learned) SqDistBetween(k0 mat.Symmetric, cross mat.Matrix, diag []float64) (*mat.Dense, error) {
	if err := l.checkCross(k0, cross); err != nil {
		return nil, err
	}
	if err := l.checkDiagonal(cross, diag); err != nil {
		return nil, err
	}
	r, n := cross.Dims()
	var base []float64
	if len(l.Support) > 0 {
		base = l.toSupport(k0).RawRowView(l.Support[0])
	}
	x, z := l.rows(cross, base), l.rows(k0, base)
	out := mat.NewDense(r, n, nil)
	for i := range r {
		row := out.RawRowView(i)
		for j := range row {
			v, size := l.distance(diag[i], cross.At(i, j), k0.At(j, j), x, z, i, j)
			var err error
			if row[j], err = notNegative(v, size); err != nil {
				return nil, fmt.Errorf("kernels: new object %d and object %d: squared distance: %w", i, j, err)
			}
		}
	}
	return out, nil
}

// SqDistAmong returns the learned squared distances among new objects, computed like those of SqDistBetween, from cross and
// own as for Among. It costs O(mr(m + r) + r³). Its errors and panics are those of Among, with a
// negative squared distance in place of a negative K(x, x).
func (l Learned) SqDistAmong(cross, own mat.Matrix) (*mat.SymDense, error) {
	k, err := l.checkOwn(cross, own)
	if err != nil {
		return nil, err
	}
	r := k.SymmetricDim()
	var base []float64
	if len(l.Support) > 0 {
		base = l.toSupport(cross).RawRowView(0)
	}
	x := l.rows(cross, base)
	out := mat.NewSymDense(r, nil)
	for i := range r {
		for j := range i {
			v, err := notNegative(l.distance(k.At(i, i), k.At(i, j), k.At(j, j), x, x, i, j))
			if err != nil {
				return nil, fmt.Errorf("kernels: new objects %d and %d: squared distance: %w", i, j, err)
			}
			out.SetSym(i, j, v)
		}
	}
	return out, nil
}

// checkCross returns an error unless cross has a column per object of k0, and all entries of both are finite.
func (l Learned) checkCross(k0 mat.Symmetric, cross mat.Matrix) error {
	demandGiven("k0", k0)
	demandGiven("cross", cross)
	n := k0.SymmetricDim()
	r, c := cross.Dims()
	if n == 0 || r == 0 || c == 0 {
		panic(mat.ErrZeroLength)
	}
	if m := len(l.Support); m > 0 && l.Support[m-1] >= n {
		panic(mat.ErrShape)
	}
	if c != n {
		return fmt.Errorf("kernels: cross: %d columns are not allowed, want %d, one per object of k0", c, n)
	}
	if err := checkEntries("k0", k0); err != nil {
		return err
	}
	return checkEntries("cross", cross)
}

// checkOwn returns own as a Gram matrix, or an error unless it is one, with a row per row of cross.
func (l Learned) checkOwn(cross, own mat.Matrix) (*mat.SymDense, error) {
	demandGiven("own", own)
	k, err := NewGram(own)
	if err != nil {
		return nil, fmt.Errorf("kernels: own: %w", err)
	}
	return k, l.checkColumns(cross, k.SymmetricDim(), "own")
}

// checkDiagonal returns an error unless diag has a number ≥ 0 per row of cross.
func (l Learned) checkDiagonal(cross mat.Matrix, diag []float64) error {
	if err := l.checkColumns(cross, len(diag), "diag"); err != nil {
		return err
	}
	for i, v := range diag {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("kernels: diag: entry %d: %v is not allowed, want a finite number ≥ 0", i, v)
		}
	}
	return nil
}

// checkColumns returns an error unless cross has a column per support object and r rows, and its entries are finite.
func (l Learned) checkColumns(cross mat.Matrix, r int, what string) error {
	demandGiven("cross", cross)
	rows, c := cross.Dims()
	if rows == 0 || c == 0 {
		panic(mat.ErrZeroLength)
	}
	if m := len(l.Support); m > 0 && l.Support[m-1] >= c {
		return fmt.Errorf("kernels: cross: %d columns are not allowed, want more than %d, the last object of the support", c, l.Support[m-1])
	}
	if rows != r {
		return fmt.Errorf("kernels: %s: %d objects are not allowed, want %d, one per row of cross", what, r, rows)
	}
	return checkEntries("cross", cross)
}

// demandGiven panics if k, the argument called what, is nil.
func demandGiven(what string, k mat.Matrix) {
	if matrix.IsNil(k) {
		panic("kernels: " + what + " is nil")
	}
}

// checkEntries returns an error that names the first entry of k that is NaN or infinite.
func checkEntries(what string, k mat.Matrix) error {
	r, c := k.Dims()
	for i := range r {
		for j := range c {
			if v := k.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("kernels: %s: entry (%d, %d) is %v, want a finite number", what, i, j, v)
			}
		}
	}
	return nil
}

var errLearnedOverflow = errors.New("it overflows float64: scale the kernel down")

// finiteResult returns an error unless all entries of k are finite.
func finiteResult(k mat.Matrix) error {
	if checkEntries("", k) != nil {
		return fmt.Errorf("kernels: learned kernel: %w", errLearnedOverflow)
	}
	return nil
}

// toSupport returns the columns of k of the support, of which there must be some.
func (l Learned) toSupport(k mat.Matrix) *mat.Dense {
	n, _ := k.Dims()
	p := mat.NewDense(n, len(l.Support), nil)
	for i := range n {
		row := p.RawRowView(i)
		for a, j := range l.Support {
			row[a] = k.At(i, j)
		}
	}
	return p
}

// supportRows are the rows k(x) − base of objects, with their products with S and, as the scale of round-off, those
// of the magnitudes. All are nil if there is no support.
type supportRows struct{ k, ks, size *mat.Dense }

func (l Learned) rows(cross mat.Matrix, base []float64) supportRows {
	if len(l.Support) == 0 {
		return supportRows{}
	}
	r := supportRows{k: l.toSupport(cross)}
	if base != nil {
		n, _ := r.k.Dims()
		for i := range n {
			floats.Sub(r.k.RawRowView(i), base)
		}
	}
	magnitude := func(_, _ int, v float64) float64 { return math.Abs(v) }
	var k, s mat.Dense
	k.Apply(magnitude, r.k)
	s.Apply(magnitude, l.S)
	r.ks, r.size = matrix.Mul(r.k, l.S), matrix.Mul(&k, &s)
	return r
}

// quadratic returns vᵀSv for row i, v, and the sum of the magnitudes of its terms.
func (r supportRows) quadratic(i int) (v, size float64) {
	if r.k == nil {
		return 0, 0
	}
	for a, u := range r.k.RawRowView(i) {
		v += u * r.ks.At(i, a)
		size += math.Abs(u) * r.size.At(i, a)
	}
	return v, size
}

// distance returns α(xx − 2xz + zz) + uᵀSu, u the difference of row i of x and row j of z, and the sum of the magnitudes of its terms.
func (l Learned) distance(xx, xz, zz float64, x, z supportRows, i, j int) (d, size float64) {
	d, size = l.Alpha*(xx-2*xz+zz), l.Alpha*(math.Abs(xx)+2*math.Abs(xz)+math.Abs(zz))
	if x.k == nil {
		return d, size
	}
	kz, sz, mz := z.k.RawRowView(j), z.ks.RawRowView(j), z.size.RawRowView(j)
	sx, mx := x.ks.RawRowView(i), x.size.RawRowView(i)
	for a, v := range x.k.RawRowView(i) {
		u := v - kz[a]
		d += u * (sx[a] - sz[a])
		size += math.Abs(u) * (mx[a] + mz[a])
	}
	return d, size
}

// notNegative returns v, or 0 where v is negative by round-off, which is relative to size. It returns an error if v is below
// that, or overflowed.
func notNegative(v, size float64) (float64, error) {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, errLearnedOverflow
	case v < -metric.PSDTolerance*size:
		return 0, fmt.Errorf("%v is not allowed: a kernel with these values is %w", v, metric.ErrNotPSD)
	}
	return max(v, 0), nil
}

// scaleSym multiplies k by α.
func (l Learned) scaleSym(k *mat.SymDense) {
	if l.Alpha != 1 {
		k.ScaleSym(l.Alpha, k)
	}
}
