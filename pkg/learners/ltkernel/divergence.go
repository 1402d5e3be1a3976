package ltkernel

import (
	"fmt"
	"math"
)

// Divergence is a spectral function Φ(W) = Σφ(λᵢ(W)) of positive semi-definite matrices, given
// by the scalar function φ, strictly convex on x ≥ 0, with its least value at α.
// Source: Jain, Kulis, Davis, Dhillon, JMLR 13, 2012, Definition 3 and Theorem 4, where α is the minimiser
// over x ≥ 0, not over all numbers.
//
// A fit needs φ itself and its conjugate φ*(y) = sup over x ≥ 0 of xy − φ(x). By duality the eigenvalues of
// the best W are x(y) = φ*′(y) for the eigenvalues y of minus the weighted sum of the constraints.
type Divergence struct {
	name  string
	alpha float64
	value func(x float64) float64
	// conjugate returns φ*(y) + φ(α), x(y) and x′(y); φ* is +Inf where the supremum is.
	conjugate func(y float64) (v, x, slope float64)
	// second returns (x(y) − α − x′(0)·y)/y²; its limit at 0, or 0 if there is none.
	second func(y float64) float64
}

// Name returns the name by which ParseDivergence knows the divergence; "" of the zero value.
func (d Divergence) Name() string { return d.name }

// Alpha returns α, the eigenvalue of W in all directions that no constraint reaches.
func (d Divergence) Alpha() float64 { return d.alpha }

// Value returns φ(x) − φ(α) for x ≥ 0, which is at least 0; +Inf if φ is infinite there.
func (d Divergence) Value(x float64) float64 { return d.value(x) }

// ParseDivergence returns the divergence of a name, logdet, von-neumann, frobenius or trace, with α of frobenius and τ
// of trace. The other divergences ignore the parameters. It returns an error if the name is unknown or its
// parameter is negative or no finite number.
func ParseDivergence(name string, alpha, tau float64) (Divergence, error) {
	switch name {
	case "logdet":
		return LogDet(), nil
	case "von-neumann":
		return VonNeumann(), nil
	case "frobenius":
		return Frobenius(alpha)
	case "trace":
		return Trace(tau)
	}
	return Divergence{}, fmt.Errorf("ltkernel: divergence: %q is not allowed, want logdet, von-neumann, frobenius or trace", name)
}

// LogDet is φ(x) = x − log x − 1, the LogDet divergence from I: α = 1, and W is positive definite.
func LogDet() Divergence {
	return Divergence{
		name: "logdet", alpha: 1,
		value: func(x float64) float64 { return x - 1 - math.Log(x) },
		conjugate: func(y float64) (v, x, slope float64) {
			if y >= 1 {
				return math.Inf(1), math.Inf(1), math.Inf(1)
			}
			x = 1 / (1 - y)
			return -math.Log1p(-y), x, x * x
		},
		second: func(y float64) float64 { return 1 / (1 - y) },
	}
}

// VonNeumann is φ(x) = x·log x − x + 1, the von Neumann divergence from I (Section 5.1): α = 1.
func VonNeumann() Divergence {
	return Divergence{
		name: "von-neumann", alpha: 1,
		value: func(x float64) float64 {
			if x == 0 {
				return 1
			}
			return x*math.Log(x) - x + 1
		},
		conjugate: func(y float64) (v, x, slope float64) {
			x = math.Exp(y)
			return math.Expm1(y), x, x
		},
		second: func(y float64) float64 {
			if math.Abs(y) < 0.01 {
				return 1./2 + y*(1./6+y*(1./24+y*(1./120+y/720)))
			}
			return (math.Expm1(y) - y) / (y * y)
		},
	}
}

// Frobenius is φ(x) = ½(x − α)², half the squared Frobenius distance from αI, for a finite α ≥ 0 (Section 5.2
// has α = 0, which Theorem 4 must allow).
func Frobenius(alpha float64) (Divergence, error) {
	if !(alpha >= 0) || math.IsInf(alpha, 0) {
		return Divergence{}, fmt.Errorf("ltkernel: frobenius: alpha is %v, want a finite number >= 0", alpha)
	}
	return Divergence{
		name: "frobenius", alpha: alpha,
		value: func(x float64) float64 { return (x - alpha) * (x - alpha) / 2 },
		conjugate: func(y float64) (v, x, slope float64) {
			if y <= -alpha {
				return -alpha * alpha / 2, 0, 0
			}
			return y * (y/2 + alpha), y + alpha, 1
		},
		second: func(y float64) float64 {
			switch {
			case alpha == 0 && y > 0: // x′(0) counts as 0
				return 1 / y
			case alpha > 0 && y < -alpha:
				return (-alpha - y) / (y * y)
			}
			return 0
		},
	}, nil
}

// Trace is φ(x) = τx + ½x² for a finite τ ≥ 0, of which τx makes W of low rank (Section 5.4): α = 0.
func Trace(tau float64) (Divergence, error) {
	if !(tau >= 0) || math.IsInf(tau, 0) {
		return Divergence{}, fmt.Errorf("ltkernel: trace: tau is %v, want a finite number >= 0", tau)
	}
	return Divergence{
		name:  "trace",
		value: func(x float64) float64 { return x * (tau + x/2) },
		conjugate: func(y float64) (v, x, slope float64) {
			if y <= tau {
				return 0, 0, 0
			}
			return (y - tau) * (y - tau) / 2, y - tau, 1
		},
		second: func(y float64) float64 {
			if y <= tau {
				return 0
			}
			return (y - tau) / (y * y)
		},
	}, nil
}
