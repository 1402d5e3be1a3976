package triplets

import (
	"fmt"
	"math"

	"metriclab/pkg/metric"
)

// OwnLoss is a loss of the user's own, ℓ(t, D) for a triplet t with D = d²(A, Near) − d²(A, Far). It has the
// gradient f·G with f = ∂ℓ/∂D, so that Theorem 4.1 and all of ERKLE hold for it: "a simple way to
// create new online RCKL methods by designing a function f that weighs the contribution of individual triplets"
// (Heim, Berger, Seversky, Hauskrecht, SDM 2015, Section 4.2, after Eq. 4.13). It need not be convex.
//
// Both methods are pure: the same arguments give the same bits. They may be called concurrently and for every finite
// D, and keep nothing. What they promise is checked by triplets/losstest.
type OwnLoss interface {
	// Loss returns ℓ(t, D), finite and ≥ 0. It does not fall as D rises.
	Loss(t metric.Triplet, d float64) float64
	// Slope returns f(t, D), finite and ≥ 0: the derivative of Loss by D, from either side where they
	// differ. Where it is 0, ERKLE leaves the kernel as it is.
	Slope(t metric.Triplet, d float64) float64
}

// ownLoss returns ℓ(t, D), and panics if it breaks its promise.
func ownLoss(o OwnLoss, t metric.Triplet, d float64) float64 {
	v := o.Loss(t, d)
	if !(v >= 0 && v <= math.MaxFloat64) {
		panic(fmt.Sprintf("triplets: ERKLEParams.Own: Loss(%v, %v) = %v is not allowed, want a finite number ≥ 0", t, d, v))
	}
	return v
}

// ownSlope returns f(t, D), and panics if it breaks its promise.
func ownSlope(o OwnLoss, t metric.Triplet, d float64) float64 {
	v := o.Slope(t, d)
	if !(v >= 0 && v <= math.MaxFloat64) {
		panic(fmt.Sprintf("triplets: ERKLEParams.Own: Slope(%v, %v) = %v is not allowed, want a finite number ≥ 0", t, d, v))
	}
	return v
}
