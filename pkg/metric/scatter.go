package metric

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/limits"
)

// RankTolerance is the relative size below which InverseScatter, without a
// ridge, takes an eigenvalue of the scatter matrix for zero: λ ≤
// RankTolerance·λ_max.
const RankTolerance = 1e-10

// LeastNormal is the smallest number with all its digits: smaller ones lose some.
const LeastNormal = 0x1p-1022

// ErrWeights says that rows are so close together that their weights are beyond float64.
var ErrWeights = errors.New("weights overflow float64: rescale the features")

// CheckWeights returns ErrWeights unless M = LᵀL is finite, which it is if its diagonal is.
// It panics if l is nil.
func CheckWeights(l mat.Matrix) error {
	ld := matrix.Given("metric: CheckWeights: l", l)
	r, d := ld.Dims()
	diagonal := make([]float64, d)
	for k := range r {
		for j, v := range ld.RawRowView(k) {
			diagonal[j] += v * v
		}
	}
	for _, v := range diagonal {
		if !(v <= math.MaxFloat64) {
			return ErrWeights
		}
	}
	return nil
}

// ErrNoScatter is returned, wrapped, when all deviations are zero.
var ErrNoScatter = errors.New("all deviations are zero, so no scale can be learned")

// CheckFinite returns an error that names row, column and value of the first
// entry of x that is NaN or infinite. It panics if x is nil.
func CheckFinite(x mat.Matrix) error {
	xd := matrix.RowsFrom(x)
	if xd == nil {
		panic("metric: CheckFinite: x is nil")
	}
	n, d := xd.Dims()
	var some atomic.Bool // a row has such an entry
	matrix.Rows(n, d, func(lo, hi int) {
		for i := lo; i < hi && !some.Load(); i++ {
			r := xd.RawRowView(i)
			// Where their sum is finite, all are. Looking at each takes ten times as long.
			if notFinite(floats.Sum(r)) && slices.ContainsFunc(r, notFinite) {
				some.Store(true)
			}
		}
	})
	for i := 0; i < n && some.Load(); i++ {
		if j := slices.IndexFunc(xd.RawRowView(i), notFinite); j >= 0 {
			return fmt.Errorf("row %d, column %d: %v is not allowed, want a finite number", i, j, xd.At(i, j))
		}
	}
	return nil
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// InverseScatter returns the metric of
//
//	M = (S + ridge·s·I)⁻¹,  S = DᵀD/n,  s = tr(S)/d,
//
// for the q×d matrix D whose rows are deviations (rows minus the mean of
// their group, or contrasts with the same scatter) and a weight n > 0. The
// ridge is relative to the mean variance s, so that the result scales with the
// data. It is the common last step of RCA, of FDA and of an inverse covariance.
//
// With ridge > 0 every direction without scatter, such as a constant feature,
// has weight 1/(ridge·s), and the cost is one Cholesky factorisation, d³/3.
// With ridge = 0 the inverse is the pseudo-inverse: a direction without scatter
// (see RankTolerance) has weight 0 up to round-off, and the cost is an eigendecomposition of
// the smaller of DᵀD and DDᵀ. Neither gives NaN.
//
// It returns an error if ridge is negative or not finite, if a deviation is not
// finite, if the scatter or M overflows, or if D = 0 (ErrNoScatter). M is taken to
// overflow where s is below 2.3e-308. A positive ridge so small that S + ridge·s·I is
// singular to working precision is an error too. So are matrices that do not fit
// limits.Memory: they have order d with a ridge, and min(q, d) without.
// It panics if dev is nil or empty or n ≤ 0.
func InverseScatter(dev mat.Matrix, n, ridge float64) (*Mahalanobis, error) {
	devd := matrix.Given("metric: InverseScatter: dev", dev)
	q, d := devd.Dims()
	if q == 0 || d == 0 || !(n > 0) {
		panic(mat.ErrZeroLength)
	}
	sq := make([]float64, q)
	matrix.Rows(q, d, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := devd.RawRowView(i)
			sq[i] = floats.Dot(row, row)
		}
	})
	var squares float64
	for _, s := range sq {
		squares += s
	}
	if notFinite(squares / n) { // it is if an entry is not
		if err := CheckFinite(devd); err != nil {
			return nil, fmt.Errorf("deviations: %w", err)
		}
	} else if squares == 0 && mat.Norm(devd, 1) == 0 {
		return nil, ErrNoScatter
	}
	if q < d && ridge == 0 {
		return inverse(devd, q, d, squares, n, ridge, func(alpha float64) *mat.SymDense { return matrix.Outer(alpha, devd) })
	}
	return inverse(nil, d, d, squares, n, ridge, func(alpha float64) *mat.SymDense { return matrix.Outer(alpha, devd.T()) })
}

// InverseScatterOf is InverseScatter for a D with at least as many rows as columns, of which only DᵀD is known, and the sum of the squares of its
// entries, which is the trace but for round-off.
//
// Its errors are those of InverseScatter; if squares is 0, ErrWeights. It panics if dtd is nil or empty, or n ≤ 0.
func InverseScatterOf(dtd mat.Symmetric, squares, n, ridge float64) (*Mahalanobis, error) {
	if matrix.IsNil(dtd) || dtd.SymmetricDim() == 0 || !(n > 0) {
		panic(mat.ErrZeroLength)
	}
	d := dtd.SymmetricDim()
	return inverse(nil, d, d, squares, n, ridge, func(alpha float64) *mat.SymDense {
		s := mat.NewSymDense(d, nil)
		s.ScaleSym(alpha, dtd)
		return s
	})
}

// inverse is InverseScatter for d columns and the sum of the squares of D. The function gram returns α·DᵀD, or α·DDᵀ if dual is D and not nil, of
// the given order.
func inverse(dual *mat.Dense, order, d int, squares, n, ridge float64, gram func(alpha float64) *mat.SymDense) (*Mahalanobis, error) {
	if !(ridge >= 0) || math.IsInf(ridge, 1) {
		return nil, fmt.Errorf("ridge: %v is not allowed, want a finite number ≥ 0", ridge)
	}
	trace := squares / n
	if notFinite(trace) {
		return nil, errors.New("the scatter of the data overflows float64: rescale the features")
	}
	if trace/float64(d) < LeastNormal {
		return nil, ErrWeights
	}
	copies := 3 // the Gram matrix, its eigenvectors, work
	if ridge > 0 {
		copies = 4 // the scatter, its factor, the inverse and M's
	}
	if err := limits.Check(fmt.Sprintf("the inverse of a scatter matrix of order %d", order), limits.Floats(copies, order, order)); err != nil {
		return nil, err
	}
	var m *Mahalanobis
	var err error
	if ridge > 0 {
		m, err = ridgeInverse(gram(1/n), ridge*trace/float64(d))
	} else {
		m, err = pseudoInverse(gram(1), n, d, dual)
	}
	if err != nil {
		return nil, err
	}
	if err := CheckWeights(m.l); err != nil {
		return nil, err
	}
	return m, nil
}

// ridgeInverse inverts s + shift·I, and overwrites s.
func ridgeInverse(s *mat.SymDense, shift float64) (*Mahalanobis, error) {
	for i := range s.SymmetricDim() {
		s.SetSym(i, i, s.At(i, i)+shift)
	}
	var chol mat.Cholesky
	if !chol.Factorize(s) {
		return nil, fmt.Errorf("ridge: %g on the diagonal is lost in round-off, want a larger one", shift)
	}
	// S + shift·I = RᵀR, so M = R⁻¹R⁻ᵀ = LᵀL with L = R⁻ᵀ.
	var r, inv mat.TriDense
	chol.UTo(&r)
	if err := inv.InverseTri(&r); err != nil {
		if c, ok := errors.AsType[mat.Condition](err); !ok || math.IsInf(float64(c), 1) {
			return nil, fmt.Errorf("ridge: %g on the diagonal is lost in round-off: %w", shift, err)
		}
	}
	return FromFactor(inv.T()), nil
}

// pseudoInverse inverts the d×d matrix DᵀD/n for the Gram matrix that inverse has.
func pseudoInverse(gram *mat.SymDense, n float64, d int, dual *mat.Dense) (*Mahalanobis, error) {
	values, eig, err := eigenSym(gram)
	if err != nil {
		return nil, err
	}
	m := len(values)
	first := 0
	for values[first] <= RankTolerance*values[m-1] {
		first++
	}
	l := mat.NewDense(m-first, d, nil)
	col := make([]float64, m)
	for i := range m - first { // smallest scatter, and so largest weight, first
		row := l.RawRowView(i)
		lambda := values[first+i]
		if dual == nil {
			eig.Vector(row, first+i)
			floats.Scale(math.Sqrt(n/lambda), row)
			continue
		}
		eig.Vector(col, first+i) // The eigenvector of DᵀD is u = Dᵀq/√λ.
		for j, a := range col {
			floats.AddScaled(row, a, dual.RawRowView(j))
		}
		floats.Scale(math.Sqrt(n)/lambda, row)
	}
	return &Mahalanobis{dim: d, l: l}, nil
}
