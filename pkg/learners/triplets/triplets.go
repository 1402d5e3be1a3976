// Package triplets learns kernel matrices from relative comparisons: "object A is
// more like Near than like Far".
//
// ERKLE learns online, one triplet at a time; FitBatch minimises the sum of losses
// over all triplets. Both keep the kernel positive semi-definite. A Selector chooses the
// next question to ask; its documentation has a table of which rule suits which learner. Embed, Procrustes and Errors read a kernel.
//
// # Which learner
//
//	ERKLE       triplets that come one at a time; a step costs O(n²) for n objects
//	FitBatch    all triplets at once, as a rule more accurate; FitTuned chooses the weight of the trace
//	  GNMDS     its loss if margins matter: convex; few triplets count
//	  STE       its loss if answers are noisy: convex, probabilities of answers
//	  CKL       its loss if ratios of distances matter; not convex
//	FitCoordinates  coordinates in few dimensions, to draw or to read: from several starts; it chooses how many dimensions
//	  TSTE      its loss if some answers are far off
//	  SOE       its loss if answers have few errors
//	Selector    which question to ask next
//
// If the objects have features, package itml learns a metric from triplets (itml.FitNearer), which serves new objects, too.
//
// # Notation
//
// Throughout, K is an n×n positive semi-definite kernel,
//
//	d²(i, j) = K_ii + K_jj − 2K_ij,
//	D(t)     = d²(A, Near) − d²(A, Far),
//
// and a triplet t is satisfied when D(t) < 0 (Heim, Berger, Seversky, Hauskrecht 2015, Eq. 3.2).
//
// # How it is built
//
// ERKLE keeps its kernel in the cheapest form: sparse at first, then dense with two resolvents, in which it finds the
// eigenvalue that an update makes negative. From 2,048 objects on it first looks in a space that updates
// share. With a trace penalty it is QCQᵀ of low rank.
//
// FitBatch stops on a duality gap. By default it runs L-BFGS on X, K = XXᵀ, where a step is two products of
// matrices. That problem is not convex, so a projected gradient step comes now and then: it adds directions that X
// lacks, drops idle ones and yields the gap.
//
// FitCoordinates works on the pairs that occur, never on an n×n matrix. It keeps the best of several starts.
package triplets

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/pkg/metric"
)

// Loss is a loss of one triplet, as a function of D.
type Loss int

// The losses.
const (
	// GNMDS is the hinge loss max(0, D + margin) of Generalised Non-metric
	// Multidimensional Scaling (Agarwal et al. 2007).
	GNMDS Loss = iota
	// STE is the logistic loss log(1 + exp D) of Stochastic Triplet Embedding
	// (van der Maaten, Weinberger 2012).
	STE
	// CKL is −log p with p = (μ + d²(A, Far)) / (2μ + d²(A, Near) + d²(A, Far)) of
	// the Crowd Kernel (Tamuz et al. 2011). It does not depend on D alone and is
	// not convex; only FitBatch and FitCoordinates have it.
	CKL
	// TSTE is −log p with p = k(Near) / (k(Near) + k(Far)) and k(j) = (1 + d²(A, j)/α)^(−(α+1)/2), the kernel of Student's t with α degrees
	// of freedom (van der Maaten, Weinberger 2012, Section 3). Its tail is heavy: an answer that is far from satisfied pulls little. It is not
	// convex; only FitCoordinates has it.
	TSTE
	// SOE is max(0, d(A, Near) + margin − d(A, Far))² of Soft Ordinal Embedding, in distances that are not squared (Terada, von Luxburg
	// 2014, Eq. 1). The margin alone sets the scale. It is not convex; only FitCoordinates has it.
	SOE
)

var lossNames = enum.Of[Loss]("Loss(%d)", "gnmds", "ste", "ckl", "tste", "soe")

// String returns "gnmds", "ste", "ckl", "tste" or "soe".
func (l Loss) String() string { return lossNames.Text(l) }

// MarshalText returns String.
func (l Loss) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what String returns of the five losses.
func (l *Loss) UnmarshalText(text []byte) error { return lossNames.Unmarshal(l, text) }

// Check returns an error unless t compares three objects of 0 to n−1 in which
// Near and Far differ from each other and from A.
func Check(n int, t metric.Triplet) error {
	if err := checkObjects(n, t); err != nil {
		return err
	}
	switch {
	case t.Near == t.Far:
		return fmt.Errorf("triplets: near and far are both %d, want two different objects", t.Near)
	case t.A == t.Near:
		return fmt.Errorf("triplets: a and near are both %d, want two different objects", t.A)
	case t.A == t.Far:
		return fmt.Errorf("triplets: a and far are both %d, want two different objects", t.A)
	}
	return nil
}

// checkObjects returns an error unless the objects of t are from 0 to n−1.
func checkObjects(n int, t metric.Triplet) error {
	for _, o := range []struct {
		field string
		v     int
	}{{"a", t.A}, {"near", t.Near}, {"far", t.Far}} {
		if o.v < 0 || o.v >= n {
			return fmt.Errorf("triplets: %s is %d, want an object from 0 to %d", o.field, o.v, n-1)
		}
	}
	return nil
}

// cone is a kernel that is kept positive semi-definite: what ERKLE updates. The
// forms of it (dense.go, structured.go) represent the same matrix.
type cone interface {
	// at returns K_ij.
	at(i, j int) float64
	// kernel returns a copy of K.
	kernel() *mat.SymDense
	// add replaces K by the projection of K − γG(t) on the cone, γ > 0, where G
	// is the gradient matrix of t in the form g. t has passed Check.
	add(t metric.Triplet, gamma float64, g Gradient) addition
}

// shrinker is a cone for the trace penalty.
type shrinker interface {
	cone
	// addShrink replaces K by K − γG(t) − xI, γ > 0 and x ≥ 0, with its negative eigenvalues set to 0.
	addShrink(t metric.Triplet, gamma float64, g Gradient, x float64) addition
	// trace returns trace K.
	trace() float64
}

// addition reports what cone.add did.
type addition struct {
	certificate Certificate // why no eigenpair was computed, or Computed
	removed     int         // negative eigenpairs removed: 0 or 1
}

// Gradient is the form of the matrix G of Heim et al. (Eq. 4.10) whose multiple is
// subtracted from the kernel.
type Gradient int

// The forms of the gradient, by their entries on (A, Near, Far).
const (
	// GradientPrinted is the paper's matrix: −2 at (A, Near), +2 at (A, Far), +1 at
	// (Near, Near), −1 at (Far, Far). Its eigenvalues are 3, −3 and 0, and a step
	// of γ lowers D by 10γ. It is what every formula of the paper uses.
	GradientPrinted Gradient = iota
	// GradientFrobenius is the gradient of D in the Frobenius inner product: −1 and +1 in
	// place of ∓2. Its eigenvalues are √3, −√3 and 0, and a step lowers D by 6γ.
	GradientFrobenius
)

var gradientNames = enum.Of[Gradient]("Gradient(%d)", "printed", "frobenius")

// String returns "printed" or "frobenius".
func (g Gradient) String() string { return gradientNames.Text(g) }

// MarshalText returns String.
func (g Gradient) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads what String returns of the two forms.
func (g *Gradient) UnmarshalText(text []byte) error { return gradientNames.Unmarshal(g, text) }

// offDiagonal is the magnitude of G at (A, Near) and (A, Far).
func (g Gradient) offDiagonal() float64 {
	if g == GradientFrobenius {
		return 1
	}
	return 2
}

// drop is by how much D falls per unit of γ: 2 + 4·offDiagonal.
func (g Gradient) drop() float64 { return 2 + 4*g.offDiagonal() }

// radius is the spectral radius of G.
func (g Gradient) radius() float64 {
	if g == GradientFrobenius {
		return math.Sqrt(3)
	}
	return 3
}

// directions returns u and w, entries on (A, Near, Far), of −G = radius·(wwᵀ − uuᵀ). Both are unit
// vectors, orthogonal to each other.
func (g Gradient) directions() (u, w [3]float64) {
	if g == GradientFrobenius {
		s := math.Sqrt(3)
		x, y := -(1+s)/(2*s), (s-1)/(2*s)
		return [3]float64{1 / s, x, y}, [3]float64{1 / s, y, x}
	}
	return [3]float64{2. / 3, -2. / 3, 1. / 3}, [3]float64{2. / 3, 1. / 3, -2. / 3}
}

// Certificate says why K − γG is known to be positive semi-definite without an
// eigenpair, or that one was computed.
type Certificate int

// The certificates, cheapest first.
const (
	// CertificateComputed: no certificate held; the smallest eigenpair was computed.
	CertificateComputed Certificate = iota
	// CertificateWeyl: λ̂ − radius(G)·γ ≥ 0, the paper's rule, with λ̂ the bound that it
	// maintains (Section 4.2).
	CertificateWeyl
	// CertificateBlock: the exact form, from a Krylov space that was exhausted; all of it is within the block
	// of objects that triplets connect with those of t.
	CertificateBlock
	// CertificateBound: bounds on that form from a Krylov space.
	CertificateBound
	certificates
)

var certificateNames = enum.Of[Certificate]("Certificate(%d)", "computed", "weyl", "block", "bound")

// String returns the name of the certificate.
func (c Certificate) String() string { return certificateNames.Text(c) }
