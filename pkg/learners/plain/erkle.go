package plain

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// ERKLE learns the kernel K of objects from relative comparisons "a is nearer to b than to c", one at a time.
//
// Source: Heim, Berger, Seversky, Hauskrecht, Efficient Online Relative Comparison Kernel Learning, SDM 2015, Section 4
// and Algorithm 2.
type ERKLE struct {
	K *mat.SymDense
	// Rule returns δ and f of the j-th update for D = d²(a, b) − d²(a, c).
	Rule func(j int, d float64) (delta, f float64)
	// Off is the entry of G at (a, c): 2 as printed in Eq. 4.10, 1 for the gradient in the Frobenius inner product.
	Off float64
	// Trace is the weight τ of tr K; 0 in the online experiments of the paper.
	Trace float64
	// Beta is the number of updates per comparison from 2·Beta comparisons on, drawn from those seen by Rand.
	Beta int
	Rand *rand.Rand

	seen []metric.Triplet
}

// NewERKLE returns ERKLE with K = I and the passive-aggressive step of GNMDS, one update per comparison.
func NewERKLE(objects int) *ERKLE {
	return &ERKLE{K: scaledIdentity(objects, 1), Rule: PassiveAggressive(1, 10), Off: 2, Beta: 1}
}

// PassiveAggressive is the rule of Eqs. 4.18 and 4.20: the shortest step after which D = −margin. With G as printed D falls
// by fall = 10 times the step, with the gradient by 6.
func PassiveAggressive(margin, fall float64) func(j int, d float64) (delta, f float64) {
	return func(_ int, d float64) (delta, f float64) {
		if d+margin <= 0 { // printed in Eq. 4.13: the inequality the other way round
			return 0, 0
		}
		return (d + margin) / fall, 1
	}
}

// Step learns from a comparison: Algorithm 2.
func (l *ERKLE) Step(t metric.Triplet) {
	l.seen = append(l.seen, t)
	j := len(l.seen)
	l.update(j, t)
	for k := 1; j > 2*l.Beta && k <= l.Beta-1; k++ {
		l.update(j+k, l.seen[l.Rand.IntN(j)]) // line 8. printed: the gradient at K of the round before
	}
}

// update is K ← Π(K − δ(fG + τI)), Eqs. 4.9 to 4.11.
func (l *ERKLE) update(j int, t metric.Triplet) {
	sq := func(i, j int) float64 { return l.K.At(i, i) + l.K.At(j, j) - 2*l.K.At(i, j) }
	delta, f := l.Rule(j, sq(t.A, t.Near)-sq(t.A, t.Far))
	if delta*f == 0 {
		return
	}
	n := l.K.SymmetricDim()
	g := scaledIdentity(n, l.Trace/f) // G of Eq. 4.10, and the trace
	add := func(i, j int, v float64) { g.SetSym(i, j, g.At(i, j)+v) }
	add(t.A, t.Near, -l.Off)
	add(t.A, t.Far, l.Off)
	add(t.Near, t.Near, 1)
	add(t.Far, t.Far, -1)
	g.ScaleSym(-delta*f, g)
	l.K.AddSym(l.K, g)
	project(l.K) // Theorem 4.1: at most one eigenvalue is negative if τ = 0
}
