package kernels

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// TransformedKind is the kind under which package persist stores a Transformed.
const TransformedKind = "kernels/transformed"

// Transformed is the kernel
//
//	K(x, z) = α·κ(x, z) + k(x)ᵀSk(z),  k(x) = (κ(s₁, x), …, κ(s_m, x)),
//
// of α ≥ 0, m support points s_i in R^d and a symmetric m×m matrix S. Let φ be the feature map of
// κ and Φ = (φ(s₁), …, φ(s_m)). Then it is the kernel φ(x)ᵀWφ(z) of the linear transformation W =
// αI + ΦSΦᵀ (Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear
// Transformation, JMLR 13, 2012, Eqs. 6 and 18). S need not be positive semi-definite; W is.
// Unlike the distance of a Metric, that of W with α > 0 sees what is orthogonal to all φ(s_i),
// as κ does; it has no embedding in finitely many dimensions unless κ has. A Transformed is
// immutable and safe for concurrent use if κ is.
type Transformed struct {
	kernel  Kernel
	alpha   float64
	dim     int
	support *mat.Dense    // m×d; nil if m = 0
	s       *mat.SymDense // m×m; nil if m = 0
}

var (
	_ Kernel          = (*Transformed)(nil)
	_ metric.SqDister = (*Transformed)(nil)
)

// NewTransformed returns the kernel of κ = k, α = alpha, the m×d matrix of support points, one per
// row, and the m×m matrix S = s; both are copied. Both nil, nil pointers too, stand for m = 0: K = ακ, in
// R^dim, with α times the squared distance of κ. It returns an error if alpha is negative, an entry of support or s or
// alpha is NaN or infinite, and if K is not positive semi-definite on the support points, by
// CheckGram; this costs O(m²d + m³). It panics if dim < 1, k is nil, support does not have
// dim columns, s not one row per support point, or only one of the two is nil.
func NewTransformed(k Kernel, alpha float64, dim int, support mat.Matrix, s mat.Symmetric) (*Transformed, error) {
	supportd := matrix.Dense(support)
	if k == nil {
		panic("kernels: NewTransformed: the kernel is nil")
	}
	if dim < 1 {
		panic(mat.ErrZeroLength)
	}
	if err := checkAlpha(alpha); err != nil {
		return nil, fmt.Errorf("kernels: transformed: %w", err)
	}
	if supportd == nil && matrix.IsNil(s) {
		return &Transformed{kernel: k, alpha: alpha, dim: dim}, nil
	}
	if supportd == nil || matrix.IsNil(s) {
		panic(mat.ErrShape)
	}
	if m, d := supportd.Dims(); d != dim || m == 0 || s.SymmetricDim() != m {
		panic(mat.ErrShape)
	}
	t := &Transformed{k, alpha, dim, mat.DenseCopyOf(supportd), mat.NewSymDense(s.SymmetricDim(), nil)}
	t.s.CopySym(s)
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("kernels: transformed: %w", err)
	}
	return t, nil
}

func checkAlpha(alpha float64) error {
	if !(alpha >= 0) || math.IsInf(alpha, 1) {
		return fmt.Errorf("alpha is %v, want a finite number >= 0", alpha)
	}
	return nil
}

func (t *Transformed) check() error {
	if err := metric.CheckFinite(t.support); err != nil {
		return fmt.Errorf("support: %w", err)
	}
	m := t.s.SymmetricDim()
	for i := range m {
		for j, v := range t.row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("s: entry (%d, %d) is %v, want a finite number", i, i+j, v)
			}
		}
	}
	k := Gram(t.kernel, t.support)
	ksk := matrix.Mul(matrix.Mul(k, t.s), k)
	for i := range m {
		for j := range i + 1 {
			k.SetSym(i, j, t.alpha*k.At(i, j)+ksk.At(i, j)/2+ksk.At(j, i)/2)
		}
	}
	if err := CheckGram(k); err != nil {
		return fmt.Errorf("kernel matrix of the support points: %w", err)
	}
	return nil
}

// row returns row i of S from the diagonal on.
func (t *Transformed) row(i int) []float64 {
	raw := t.s.RawSymmetric()
	return raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N]
}

// Alpha returns α.
func (t *Transformed) Alpha() float64 { return t.alpha }

// Kernel returns κ.
func (t *Transformed) Kernel() Kernel { return t.kernel }

// Dim returns d, the dimension of the vectors.
func (t *Transformed) Dim() int { return t.dim }

// Support returns m, the number of support points.
func (t *Transformed) Support() int {
	if t.support == nil {
		return 0
	}
	m, _ := t.support.Dims()
	return m
}

// Eval returns K(x, z), the same to the bit as K(z, x) if κ(x, z) is. It costs 2m + 1
// evaluations of κ and O(m²). It panics if x or z does not have length Dim.
func (t *Transformed) Eval(x, z []float64) float64 {
	t.want(x, z)
	m := t.Support()
	kx, kz := make([]float64, m), make([]float64, m)
	for i := range m {
		s := t.support.RawRowView(i)
		kx[i], kz[i] = t.kernel.Eval(s, x), t.kernel.Eval(s, z)
	}
	var sum float64
	for i := range m {
		row := t.row(i)
		// Each product is rounded, so that fused arithmetic cannot tell x from z.
		a := kx[i] * (row[0]*kz[i]/2 + floats.Dot(row[1:], kz[i+1:]))
		b := kz[i] * (row[0]*kx[i]/2 + floats.Dot(row[1:], kx[i+1:]))
		sum += float64(a) + float64(b)
	}
	return t.alpha*t.kernel.Eval(x, z) + sum
}

// SqDist returns the squared distance K(x, x) − 2K(x, z) + K(z, z), as
//
//	α(κ(x, x) − 2κ(x, z) + κ(z, z)) + uᵀSu,  u = k(x) − k(z),
//
// or 0 where round-off makes that negative, or +Inf where it or a value of a kernel
// overflows. Its accuracy is relative to κ(x, x) + κ(z, z):
// where that is much more than squared distances, as for the linear kernel far from the
// origin, subtract the mean of the points first. It costs 2m + 3
// evaluations of κ and O(m²), and panics if x or z does not have length Dim.
func (t *Transformed) SqDist(x, z []float64) float64 {
	t.want(x, z)
	m := t.Support()
	u := make([]float64, m)
	for i := range m {
		s := t.support.RawRowView(i)
		u[i] = t.kernel.Eval(s, x) - t.kernel.Eval(s, z)
	}
	q := t.alpha * (t.kernel.Eval(x, x) - 2*t.kernel.Eval(x, z) + t.kernel.Eval(z, z))
	for i, a := range u {
		row := t.row(i)
		q += a * (row[0]*a + 2*floats.Dot(row[1:], u[i+1:]))
	}
	return max(overflowed(q, x, z), 0)
}

func (t *Transformed) want(x, z []float64) {
	if len(x) != t.dim || len(z) != t.dim {
		panic(mat.ErrShape)
	}
}

// transformedState is what Save writes beside savedParams.
type transformedState struct {
	Alpha   *float64       `json:"alpha,omitempty"` // nil for 1, as in files before there was an α
	Dim     int            `json:"dim"`
	Support persist.Floats `json:"support"` // row by row
	S       persist.Floats `json:"s"`       // row by row, each from the diagonal on
}

// Save writes the kernel in the format of package persist, kind
// "kernels/transformed". A kernel loaded from it gives every value to the same bit. It
// returns an error, and writes nothing, if κ has no Spec.
func (t *Transformed) Save(w io.Writer) error {
	spec, err := SpecOf(t.kernel)
	if err != nil {
		return err
	}
	s := transformedState{Dim: t.dim}
	if t.alpha != 1 {
		s.Alpha = &t.alpha
	}
	if t.s != nil {
		s.Support = t.support.RawMatrix().Data
		for i := range t.Support() {
			s.S = append(s.S, t.row(i)...)
		}
	}
	return persist.Write(w, TransformedKind, savedParams{spec}, s)
}

// LoadTransformed reads a kernel that Save wrote. Its errors wrap those of package
// persist if the file is foreign, newer, damaged or of another kind.
func LoadTransformed(r io.Reader) (*Transformed, error) {
	var s transformedState
	k, err := load(r, TransformedKind, &s)
	if err != nil {
		return nil, err
	}
	t, err := s.transformed(k)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, TransformedKind, err)
	}
	return t, nil
}

// transformed returns the saved kernel, or an error if the parts do not fit.
func (s transformedState) transformed(k Kernel) (*Transformed, error) {
	// Without support points only this limit bounds the dimension.
	if s.Dim < 1 || s.Dim > math.MaxInt32 {
		return nil, fmt.Errorf("%d dimensions", s.Dim)
	}
	alpha := 1.0
	if s.Alpha != nil {
		alpha = *s.Alpha
	}
	if err := checkAlpha(alpha); err != nil {
		return nil, err
	}
	if len(s.Support) == 0 && len(s.S) == 0 {
		return &Transformed{kernel: k, alpha: alpha, dim: s.Dim}, nil
	}
	m := len(s.Support) / s.Dim
	if m == 0 || len(s.Support)%s.Dim != 0 || len(s.S) != m*(m+1)/2 {
		return nil, fmt.Errorf("arrays of %d and %d numbers do not fit %d dimensions", len(s.Support), len(s.S), s.Dim)
	}
	t := &Transformed{k, alpha, s.Dim, mat.NewDense(m, s.Dim, s.Support), mat.NewSymDense(m, nil)}
	for i, at := 0, 0; i < m; i++ {
		at += copy(t.row(i), s.S[at:])
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	return t, nil
}
