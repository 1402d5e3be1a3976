package plain

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// PA is the family of passive-aggressive learners of a matrix M and a threshold b. A pair is similar if d² ≤ b.
//
// Source: Perez-Suay and Ferri, Online Metric Learning Methods Using Soft Margins and Least Squares Formulations,
// 2013, Eqs. 6 to 16.
type PA struct {
	M *mat.SymDense
	B float64
	// Rate is the rule: HardRate (PA), LinearRate (PA-I), SquaredRate (PA-II) or LeastSquaresRate (PA-LS).
	Rate Rate
	// Every says after how many updates (M, b) is made feasible. 1 is the paper's "+" version, after each; 0 the
	// "−" version, for which Final does it at the end.
	Every   int
	updates int
}

// Rate returns the step τ for the slack s = 1 − y(b − d²) and n = 1 + ‖v‖⁴.
type Rate func(s, n float64) float64

// NewPA returns the "+" version with M = 0 and b = 0, as in the paper, for vectors of length dim.
func NewPA(dim int, r Rate) *PA { return &PA{M: mat.NewSymDense(dim, nil), Rate: r, Every: 1} }

// Step learns from a pair and returns its slack s = 1 − y(b − d²) before, and y·τ.
func (l *PA) Step(p metric.Pair) (s, step float64) {
	v, y := difference(p.X, p.Y), float64(p.Label)
	s = 1 - y*(l.B-mat.Inner(v, l.M, v)) // Eq. 3
	tau := l.Rate(s, 1+math.Pow(mat.Norm(v, 2), 4))
	if tau == 0 {
		return s, 0
	}
	l.M.SymRankOne(l.M, -y*tau, v) // Eq. 6
	l.B += y * tau                 // Eq. 7
	l.updates++
	if l.Every > 0 && l.updates%l.Every == 0 {
		l.M, l.B = l.Final() // printed: for y = 1 only, but M can lose definiteness whenever y·τ > 0
	}
	return s, y * tau
}

// Final returns the feasible hypothesis nearest to (M, b): M ⪰ 0 and b ≥ 1.
func (l *PA) Final() (m *mat.SymDense, b float64) {
	m = mat.NewSymDense(l.M.SymmetricDim(), nil)
	m.CopySym(l.M)
	project(m) // printed: "the eigenvalue can be added"; it is M − λuuᵀ, λ < 0, and "−" can have several
	return m, math.Max(1, l.B)
}

// HardRate is plain PA, Eq. 8: the shortest step after which the pair has no loss.
func HardRate(s, n float64) float64 { return math.Max(0, s) / n }

// LinearRate is PA-I, Eq. 13: slack ξ costs C·ξ.
func LinearRate(c float64) Rate {
	return func(s, n float64) float64 { return math.Min(c, math.Max(0, s)/n) }
}

// SquaredRate is PA-II, Eq. 13: slack ξ costs C·ξ².
func SquaredRate(c float64) Rate {
	return func(s, n float64) float64 { return math.Max(0, s) / (n + 1/(2*c)) }
}
