package triplets

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// projectedTol is the part of κ + max(0, D(K)) by which D after a ProjectedStep may miss −κ.
const projectedTol = 1e-9

// ProjectedStep makes the passive-aggressive step that Heim et al. (2015, Section 4.3) leave out as too slow: with respect to the kernel
// after the projection Π on the cone, where Eq. 4.18 looks at the matrix before it. It returns the least γ ≥ 0 with
//
//	D(Π(K − γG)) ≤ −κ,  G the gradient of D in the Frobenius inner product,
//
// and that projection, which is the kernel nearest to K that satisfies t by the margin κ. D falls with γ there, since
// Π(K − γG) minimises ½‖X − K‖² + γ·D(X) over the kernels X, so that bisection finds γ. It is never below max(0, D + κ)/6. The
// printed G is not a gradient of D, and has no such nearest kernel.
//
// It is a slow reference: each of some 60 tries decomposes an n×n matrix. k is n×n and positive semi-definite,
// and is not changed. It returns an error unless k is so, t compares three objects, 0 < κ ≤ MaxStep, and the
// matrices fit limits.Memory.
func ProjectedStep(k mat.Symmetric, t metric.Triplet, kappa float64) (gamma float64, next *mat.SymDense, err error) {
	if err := checkFinite(k); err != nil {
		return 0, nil, fmt.Errorf("projected step: kernel: %w", err)
	}
	n := k.SymmetricDim()
	if err := Check(n, t); err != nil {
		return 0, nil, err
	}
	if !(kappa > 0 && kappa <= MaxStep) {
		return 0, nil, fmt.Errorf("projected step: kappa: %v is not allowed, want a number above 0 and at most %v", kappa, MaxStep)
	}
	if err := limits.Check(fmt.Sprintf("a projected step of %d objects", n), limits.Floats(5, n, n)); err != nil {
		return 0, nil, err
	}
	if _, err := checkInitial(n, k); err != nil {
		return 0, nil, err
	}
	missing := func(x mat.Symmetric) float64 {
		return sqDist(x, t.A, t.Near) - sqDist(x, t.A, t.Far) + kappa
	}
	try := func(gamma float64) *mat.SymDense {
		x := newDense(n, k, false, 0)
		x.add(t, gamma, GradientFrobenius)
		return x.kernel()
	}
	start := missing(k)
	if start <= 0 {
		return 0, newDense(n, k, false, 0).kernel(), nil
	}
	tol := projectedTol * max(kappa, start)
	low := 0.0
	high := start / GradientFrobenius.drop()
	next = try(high)
	for missing(next) > tol {
		if low, high = high, 2*high; high > MaxStep {
			return 0, nil, fmt.Errorf("projected step: no step up to %v satisfies the triplet", MaxStep)
		}
		next = try(high)
	}
	for low > 0 && missing(next) < -tol {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			break
		}
		if x := try(mid); missing(x) > tol {
			low = mid
		} else {
			high, next = mid, x
		}
	}
	if math.IsNaN(missing(next)) {
		return 0, nil, fmt.Errorf("projected step: a squared distance is not a number")
	}
	return high, next, nil
}
