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
// All fits solve one dual (type dual), from rows, from a Gram matrix, and reduced. A Divergence is its scalar
// function, the conjugate and two derivatives. The projected Newton method does the rest for all divergences.
//
// Conjugate gradients solve the Newton steps, so that no matrix of the constraints is formed. They are scaled by
// the diagonal of the Hessian: without that, fits with quadratic slack end at the cap where some pairs are near
// and others far.
//
// Contradictory constraints end with a certificate, not with the cap. Where the steps show none, a fit seeks the
// least violation, whose multipliers are the certificate. Conflict makes it irreducible, so that people are told
// few constraints.
package ltkernel
