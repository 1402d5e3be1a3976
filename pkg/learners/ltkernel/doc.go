// Package ltkernel learns linear-transformation kernels k(x, z) = φ(x)ᵀWφ(z), and metrics, by any spectral function
// of W under linear constraints on distances.
//
//	min over W ⪰ 0 of Φ(W) = Σφ(λᵢ(W))  subject to tr(CᵢK) ≤, ≥ or = bᵢ,  K = ΦᵀWΦ.
//
// Source: Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012,
// Sections 4 and 5.
//
//   - A Divergence is Φ: LogDet, VonNeumann, Frobenius, Trace.
//   - A Constraint is about distances, differences of distances or the trace: AtMost, AtLeast, Exactly, Nearer, TraceAtMost.
//   - Fit takes rows, FitKernel a Gram matrix. Both are one problem, with one answer (Theorem 4).
//   - FitReduced learns fewer parameters (Theorems 7 and 8).
//
// Where the paper errs, the functions say what is right: α is the least point of φ on x ≥ 0; a singular K₀ confines K
// to its range; the reduced L may have negative eigenvalues.
//
// Constraints need not be feasible: slack may be allowed at a cost, and without it a fit that finds no
// answer ends with a certificate that there is none.
//
// Package itml has a faster method for LogDet with one upper and one lower bound.
//
// # When to use it
//
// With constraints that are not bounds on single distances, with another divergence than LogDet, or where an answer of
// many digits with a certificate is wanted. A step takes a full eigendecomposition of the constrained objects: some
// hundreds of them are comfortable. For LogDet alone package itml is faster, for low rank package ssikdr.
//
// # How it is built
//
// Spectral kernel learning solves one dual (learners/ltkernel). A divergence is φ, its conjugate and two derivatives;
// the projected Newton method does the rest for all of them, in input space, from a Gram matrix and reduced.
// Conjugate gradients solve its steps, so that no matrix of the constraints is formed. S follows from the multipliers
// without an inverse of K₀. Contradictory constraints end with a certificate, not with a cap. On 100 objects and
// 1,356 pairs it takes 10 to 20 steps to a residual of 1e-8. The conjugate gradients are scaled by the Hessian's
// diagonal: quadratic slack adds numbers to it that differ by many orders where some pairs are near and others far,
// and without the scaling such fits end at the cap. FitKernel always leaves out objects without pairs (Theorem 7 with
// indicators as J), which is exact and never costs more; logdet2012/reduction measures it. Bregman projections for
// von Neumann are in the tests only: at order 20 with 30 constraints they take 2,300 eigendecompositions, accelerated
// gradients of the dual 480, the Newton method 8 steps. So is POLA's batch problem: its threshold is the squared
// distance of two extra objects. Kernel POLA finds a point with losses below .1 sooner than FitKernel the optimum, so
// that the spectral form replaces no learner. A fit whose steps do not show a contradiction seeks the least
// violation, whose multipliers are the certificate. Conflict makes it irreducible, so that a user is told few lines.
package ltkernel
