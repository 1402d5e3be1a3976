package plain

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Constraint is tr(CK) ≤ Bound. With C = (eᵢ − eⱼ)(eᵢ − eⱼ)ᵀ it is a squared distance that is at most Bound; −C and −Bound
// make it one that is at least Bound.
type Constraint struct {
	C     mat.Symmetric
	Bound float64
}

// SSIKDR is Trace-SSIKDR, kernel dimensionality reduction:
//
//	min over W ⪰ 0 of τ·tr W + ½‖W‖² + slack  subject to tr(CᵢK) ≤ bᵢ,  K = K₀^½WK₀^½
//
// by gradient ascent on the dual. The trace makes the rank of W low.
//
// Source: Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012,
// Section 5.4 and Algorithm 2.
type SSIKDR struct {
	Tau float64
	// Linear and Squared are weights c of slack: a violation s costs c·s or (c/2)·s². 0 means that there is none, as in
	// the paper. At most one may be set.
	Linear, Squared float64
}

// Fit takes steps steps from z = 0 and returns the learned K and the multipliers z ≤ 0.
func (l SSIKDR) Fit(k0 mat.Symmetric, cs []Constraint, steps int) (k *mat.SymDense, z []float64) {
	n := k0.SymmetricDim()
	values, u := eigen(k0)
	root := mat.NewDense(n, n, nil) // K₀^½
	for i, v := range values {
		root.RankOne(root, math.Sqrt(max(v, 0)), u.ColView(i), u.ColView(i))
	}
	a := make([]*mat.Dense, len(cs)) // K₀^½CᵢK₀^½, so that tr(CᵢK) = tr(AᵢW)
	curvature, low := 0.0, math.Inf(-1)
	for i, c := range cs {
		a[i] = new(mat.Dense)
		a[i].Product(root, c.C, root)
		curvature += math.Pow(mat.Norm(a[i], 2), 2) // in all at least the dual's
	}
	if l.Linear > 0 {
		low = -l.Linear
	}
	soft := 0.0
	if l.Squared > 0 {
		soft = 1 / l.Squared
	}
	delta := 1 / (curvature + soft) // the paper does not say; it must be below twice this
	w := mat.NewSymDense(n, nil)
	z = make([]float64, len(cs))
	for range steps {
		y := mat.NewDense(n, n, nil) // printed: eigenpairs of ΣzᵢCᵢK₀; by Lemma 10 they are those of y
		for i := range cs {
			var term mat.Dense
			term.Scale(z[i], a[i])
			y.Add(y, &term)
		}
		values, u := eigen(symmetric(y))
		w.Zero()
		for i, v := range values {
			if v > l.Tau {
				w.SymRankOne(w, v-l.Tau, u.ColView(i)) // Eq. 27, of ½‖W‖². printed in step 6: Σ, not Σ − τI; in Eq. 26: ‖W‖²
			}
		}
		for i, c := range cs {
			// printed: z ← z − δ·max(tr(CK) − b, 0), which never comes back and stops at a point that is not the best
			z[i] = min(max(z[i]-delta*(inner(a[i], w)-c.Bound+soft*z[i]), low), 0)
		}
	}
	var product mat.Dense
	product.Product(root, w, root)
	return symmetric(&product), z
}

// inner returns tr(AW).
func inner(a *mat.Dense, w *mat.SymDense) float64 {
	var product mat.Dense
	product.MulElem(a, w)
	return mat.Sum(&product)
}

// symmetric returns a matrix that is symmetric but for round-off.
func symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return s
}
