package plain

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// POLA is the pseudo-metric online learning algorithm: of the metrics A ⪰ 0 and thresholds b ≥ 1 it takes, pair by
// pair, the nearest without hinge loss. A pair is similar if d² ≤ b.
//
// Source: Shalev-Shwartz, Singer, Ng, Online and Batch Learning of Pseudo-Metrics, ICML 2004, Fig. 1.
type POLA struct {
	A     *mat.SymDense
	B     float64
	Gamma float64 // γ of Eq. 12, for pairs that no metric separates; 0 is Fig. 1
}

// NewPOLA returns POLA with A = 0 and b = 1 for vectors of length dim.
func NewPOLA(dim int) *POLA { return &POLA{A: mat.NewSymDense(dim, nil), B: 1} }

// Loss returns the hinge loss max(0, y(d² − b) + 1).
func (l *POLA) Loss(p metric.Pair) float64 {
	v := difference(p.X, p.Y)
	return math.Max(0, float64(p.Label)*(mat.Inner(v, l.A, v)-l.B)+1)
}

// Step learns from a pair and returns its loss before, and y·α.
func (l *POLA) Step(p metric.Pair) (loss, step float64) {
	v, y := difference(p.X, p.Y), float64(p.Label)
	loss = l.Loss(p)
	if loss == 0 {
		return 0, 0
	}
	alpha := loss / (math.Pow(mat.Norm(v, 2), 4) + 1 + l.Gamma) // Eqs. 4 and 12
	l.A.SymRankOne(l.A, -y*alpha, v)                            // Eq. 4
	l.B = math.Max(1, l.B+y*alpha)                              // printed: the maximum for y = −1 only
	if y > 0 {
		project(l.A) // A ← Â − λuuᵀ, λ < 0: of at most one eigenvalue
	}
	return loss, y * alpha
}
