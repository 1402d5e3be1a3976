package labels

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// InvCovVersion changes whenever FitInvCov or ITMLStart gives other numbers for
// the same input, of a size that an experiment has.
const InvCovVersion = 1

// InvCovParams are the parameters of FitInvCov and ITMLStart.
type InvCovParams struct {
	// Ridge is the regularisation ρ ≥ 0, relative to the mean variance of a feature.
	// The default is 0, the pseudo-inverse: no regularisation unless it is asked
	// for.
	Ridge float64 `json:"ridge" range:">= 0" doc:"regularisation of the covariance, relative to the mean variance of a feature; 0 means the pseudo-inverse"`
}

// Resolved returns p with defaults filled in. Zero is a legal ridge and the
// default, so it returns p.
func (p InvCovParams) Resolved() InvCovParams { return p }

func (p InvCovParams) check() error {
	return ranges.Check("invcov", p)
}

// FitInvCov returns the metric of the inverse covariance
//
//	M = (Σ + ρ·s·I)⁻¹,  Σ = (1/n) Σᵢ (xᵢ−μ)(xᵢ−μ)ᵀ,  s = tr(Σ)/d,
//
// of all rows of the n×d matrix x, whatever their classes: the distance of
// Mahalanobis (1936), and the baseline "inverse covariance" of Jain, Kulis, Davis,
// Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012,
// Section 6. M is a precision, in 1/feature². With ρ = 0 the embedded rows have
// covariance I, on as many coordinates as Σ has rank.
//
// With ρ = 0 the inverse is the pseudo-inverse Σ⁺: eigenvalues of at most
// metric.RankTolerance (10⁻¹⁰) times the largest count as zero, and such directions,
// a constant feature among them, have weight 0. The tolerance is on variances, so that
// a feature whose standard deviation is 10⁻⁵ of the largest is lost: standardise
// first. With ρ > 0 such directions have weight 1/(ρ·s).
//
// The answer is in closed form: Status is learners.Closed. FitInvCov returns an error
// if all rows coincide, if an entry of x is NaN or infinite, if the scatter or M
// overflows, if Ridge is negative or not finite, or if ctx is done. It panics if x is nil or empty.
func FitInvCov(ctx context.Context, x mat.Matrix, p InvCovParams) (learners.MetricResult, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("labels: FitInvCov: x is nil or empty")
	}
	p = p.Resolved()
	if err := p.check(); err != nil {
		return learners.MetricResult{}, err
	}
	mean, err := finiteMean(xd)
	if err != nil {
		return learners.MetricResult{}, fmt.Errorf("invcov: %w", err)
	}
	n, _ := xd.Dims()
	return fromDeviations(ctx, "invcov", xd, always(mean), func(dev deviations) (learners.MetricResult, error) {
		m, err := dev.inverse(n, p.Ridge)
		if err != nil {
			return learners.MetricResult{}, err
		}
		return learners.MetricResult{Metric: m, Result: learners.Result{Status: learners.Closed}}, nil
	})
}

// inverse returns metric.InverseScatter of the deviations of n rows.
func (d deviations) inverse(n int, ridge float64) (*metric.Mahalanobis, error) {
	if d.moment != nil {
		return metric.InverseScatterOf(d.moment, d.squares, float64(n), ridge)
	}
	return metric.InverseScatter(d.rows, float64(n), ridge)
}

// ITMLStart returns the W₀ of LogDet-InvCov, the metric of least LogDet divergence
// from the inverse covariance (Jain et al. 2012, Section 6): itml.Fit with
// this matrix as W0. It is d×d, a precision.
//
// itml.Fit needs W₀ ≻ 0. With ρ > 0 it is the matrix of FitInvCov. With ρ = 0 it is
//
//	W₀ = Σ⁺ + (1/s)·P₀,
//
// P₀ the projection on the directions that count as zero in FitInvCov, and s the mean
// of the other eigenvalues of Σ: unseen directions weigh as much as one of mean
// variance. No two rows of x differ in these directions, links between rows do
// not move W there, and so 1/s acts on other rows only.
//
// Its errors are those of FitInvCov.
func ITMLStart(ctx context.Context, x mat.Matrix, p InvCovParams) (*mat.SymDense, error) {
	r, err := FitInvCov(ctx, x, p)
	if err != nil {
		return nil, err
	}
	return closed(ctx, "invcov", r.Metric.Rows(), r.Metric.Dim(), r.Metric.Factor, func(l *mat.Dense) (*mat.SymDense, error) { return startOf(l), nil })
}

// startOf is ITMLStart for the factor L of FitInvCov, which it overwrites.
func startOf(l *mat.Dense) *mat.SymDense {
	w := matrix.Outer(1, l.T())
	rank, d := l.Dims()
	if rank == d { // always with a ridge
		return w
	}
	// Row k is u_k/√λ_k.
	var s float64
	for k := range rank {
		row := l.RawRowView(k)
		lambda := 1 / floats.Dot(row, row)
		s += lambda / float64(rank)
		floats.Scale(math.Sqrt(lambda), row)
	}
	w.AddSym(w, matrix.Outer(-1/s, l.T()))
	for j := range d {
		w.SetSym(j, j, w.At(j, j)+1/s)
	}
	return w
}
