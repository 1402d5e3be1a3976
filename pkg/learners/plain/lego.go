package plain

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// LEGO is LogDet exact gradient online: after each pair the minimiser of D(A', A) + (η/2)(ȳ − t)², where D is the
// LogDet divergence, ȳ the squared distance under A', and t the target, Upper of similar pairs and Lower of others.
//
// Source: Jain, Kulis, Dhillon, Grauman, Online Metric Learning and Fast Similarity Search, NIPS 2008.
type LEGO struct {
	A                 *mat.SymDense
	Eta, Upper, Lower float64
	Violated          bool // learn only from pairs on the wrong side of their target
}

// NewLEGO returns LEGO with A = I for vectors of length dim.
func NewLEGO(dim int, eta, upper, lower float64) *LEGO {
	return &LEGO{A: scaledIdentity(dim, 1), Eta: eta, Upper: upper, Lower: lower}
}

// Step learns from a pair and returns its loss (ŷ − t)²/2 before, and (ŷ − ȳ)/ŷ².
func (l *LEGO) Step(p metric.Pair) (loss, step float64) {
	z, t := difference(p.X, p.Y), l.Upper
	if p.Label == metric.Dissimilar {
		t = l.Lower
	}
	y := mat.Inner(z, l.A, z) // ŷ
	if y == 0 || l.Violated && float64(p.Label)*(y-t) <= 0 {
		return 0, 0
	}
	// The root of 1/ȳ − 1/ŷ = η(ȳ − t), which lies between ŷ and t.
	b := 1 - l.Eta*y*t
	root := math.Sqrt(b*b + 4*l.Eta*y*y)
	bar := 2 * y / (b + root) // printed: (ηtŷ − 1 + root)/(2ηŷ), the same number, which loses its digits for small η
	if b < 0 {
		bar = (root - b) / (2 * l.Eta * y)
	}
	step = (y - bar) / (y * y) // printed: η(ȳ − t)/(1 + η(ȳ − t)ŷ), the same number, which loses them for large η
	var az mat.VecDense
	az.MulVec(l.A, z)
	l.A.SymRankOne(l.A, -step, &az)
	return (y - t) * (y - t) / 2, step
}
