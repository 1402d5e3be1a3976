package plain

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// MMC is metric learning for clustering: the A ⪰ 0 of the largest g(A) = Σ_D ‖x_i−x_j‖_A, D the dissimilar links, with
// f(A) = Σ_S ‖x_i−x_j‖²_A ≤ 1, S the similar ones. It also returns the number of updates, and of projections in all.
//
// Source: Xing, Ng, Jordan, Russell, Distance Metric Learning, with Application to Clustering with Side-Information, NIPS 15, 2002, Fig. 1. The paper
// leaves start, step and end open. They are those of its authors' program: A is I times what makes f(A) a hundred times too large. A step is as long at
// first as one diagonal entry, then 5 % longer after an update that raised g, and half as long after one that did not. Projections end at f(A) ≤ 1.01, or,
// in vain, after most of them; all ends at a step of ‖A‖/100, after 100 updates or, which is ours, at ten times most projections.
func MMC(x mat.Matrix, links []metric.Link, most int) (a *mat.SymDense, updates, projections int) {
	_, d := x.Dims()
	s := scatter(x, links, metric.Similar, func(*mat.VecDense) float64 { return 1 }) // ∇f: f(A) = ⟨S, A⟩
	length2 := product(s, s)
	alpha, best := 100/mat.Trace(s), math.Inf(-1)
	a = scaledIdentity(d, alpha)
	last, step := scaledIdentity(d, alpha), mat.NewSymDense(d, nil)
	for updates < 100 && projections < 10*most && (updates == 0 || alpha > 0.01*mat.Norm(last, 2)) {
		within := false
		for i := 0; i < most && !within; i++ {
			if over := product(s, a) - 1; over > 0 { // onto C₁: f(A) ≤ 1
				add(a, -over/length2, s)
			}
			project(a) // onto C₂: A ⪰ 0
			within = product(s, a) <= 1.01
			projections++
		}
		if g := separation(x, links, a); within && g > best {
			alpha, best = 1.05*alpha, g
			last.CopySym(a)
			step = scatter(x, links, metric.Dissimilar, func(v *mat.VecDense) float64 { return 0.5 / (math.Sqrt(max(mat.Inner(v, a, v), 0)) + 1e-6) }) // ∇g
			add(step, -product(step, s)/length2, s)                                                                                                    // its part orthogonal to ∇f
			step.ScaleSym(1/mat.Norm(step, 2), step)
		} else {
			alpha /= 2
		}
		a.CopySym(last)
		add(a, alpha, step)
		updates++
	}
	return last, updates, projections
}

// separation is g(A): the sum of the distances of the dissimilar pairs.
func separation(x mat.Matrix, links []metric.Link, a mat.Symmetric) (g float64) {
	scatter(x, links, metric.Dissimilar, func(v *mat.VecDense) float64 {
		g += math.Sqrt(max(mat.Inner(v, a, v), 0))
		return 0
	})
	return g
}

// scatter is Σ w(v)·vvᵀ over the differences v of the links with a label.
func scatter(x mat.Matrix, links []metric.Link, label metric.Label, w func(v *mat.VecDense) float64) *mat.SymDense {
	_, d := x.Dims()
	s := mat.NewSymDense(d, nil)
	for _, l := range links {
		if l.Label == label {
			v := difference(mat.Row(nil, l.I, x), mat.Row(nil, l.J, x))
			s.SymRankOne(s, w(v), v)
		}
	}
	return s
}

// product is ⟨A, B⟩ = tr(AB).
func product(a, b *mat.SymDense) float64 {
	var ab mat.Dense
	ab.MulElem(a, b)
	return mat.Sum(&ab)
}

// add makes A A + cB.
func add(a *mat.SymDense, c float64, b *mat.SymDense) {
	var cb mat.SymDense
	cb.ScaleSym(c, b)
	a.AddSym(a, &cb)
}
