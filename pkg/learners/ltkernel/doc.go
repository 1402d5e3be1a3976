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
// many digits with a certificate is wanted. A step takes a full eigendecomposition of W, of the dimension of the data or of
// the number of constrained objects if that is smaller: some hundreds are comfortable. For LogDet alone package itml is faster, for low rank package ssikdr.
//
// # How it is built
//
// All fits solve one dual (type dual), from rows, from a Gram matrix, and reduced, by a projected Newton method.
//
// Conjugate gradients solve the Newton steps. The diagonal of the Hessian scales them: without it, quadratic slack ends
// at the cap where some pairs are near and others far. Once their products cost as much as the inverse of the Hessian,
// that scales them (type system): a tenth of the time for 1,024 pairs in 20 dimensions.
//
// Fits of LogDet that take many steps follow a path from a larger Φ. Else they creep along the edge of the cone.
//
// Contradictory constraints end with a certificate, not with the cap. Conflict makes it irreducible, so that people see
// few constraints.
package ltkernel
