// Package ssikdr reduces the dimension of data in the space of a kernel by constraints on distances: trace-norm based inductive
// semi-supervised kernel dimensionality reduction, Trace-SSIKDR.
//
//	min over W ⪰ 0 of τ·tr W + ½‖W‖² + slack  subject to tr(CᵢK) ≤, ≥ or = bᵢ,  K = ΦᵀWΦ.
//
// Source: Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012, Section 5.4,
// Eqs. 26 to 28, Lemma 10 and Algorithm 2. W has low rank k, and √W·φ(z) is an embedding of any object z in k dimensions.
//
//   - Fit takes rows and a kernel, FitGram a Gram matrix. Both solve the convex problem by accelerated dual ascent.
//   - Path solves it for several τ and tells the rank of each. MaxTau is where W becomes 0.
//   - FitRank learns a W of given rank directly, which is not convex.
//
// The paper's (26) has ‖W‖² where its update, and this package, have ½‖W‖². Algorithm 2 as printed does not solve the
// problem: its multipliers never come back, so that it ends at a feasible W that is not the best, and it takes Σ_k where (27) has Σ_k − τI.
//
// Package ltkernel solves the same problem as its divergence Trace, by a Newton method in all dimensions. It is better
// for answers of many digits and few constraints; this package for many objects and low rank.
//
// # When to use it
//
// To show objects of a kernel in two or three dimensions with regard to which pairs belong together, and new objects
// with them. For distances in all dimensions take package itml, for no feedback kernelized.FitPCA.
//
// # How it is built
//
// The problem is the divergence Trace of package ltkernel, for many objects. The Newton method there needs all
// eigenpairs. Here a first-order method needs only those above τ. They follow from those of the last step by a
// Chebyshev filter, one product with K₀ per degree. Neither a root nor an inverse of K₀ is needed (Lemma 10). A
// full decomposition confirms the answer.
//
// A multiplier is scaled by the curvature of its constraint. A step allows for twice the curvature seen along the
// last step, which is far less than that of all directions.
//
// A W of given rank is BBᵀ, for the B that L-BFGS of gonum/optimize finds. The method of multipliers adds hard
// bounds and ℓ₁ slack.
package ssikdr
