// Package plain has the algorithms of the papers as one would write them on a board: dense matrices, full
// eigendecompositions, a file each, of 30 lines as a rule and never more than a page or two. Read it to see what a
// method does. The other packages of learners compute the same faster, with checks of their input, files and limits of
// memory.
//
//	labelled pairs, one at a time     POLA, KernelPOLA, PA (PA, PA-I, PA-II, PA-LS), LEGO
//	a data set and labelled pairs     BatchPOLA, MMC, LogDet, ITML, IPLR, RCA
//	a data set and classes            NCA
//	a Gram matrix and constraints     SSIKDR
//	relative comparisons              ERKLE
//	the same of vectors               OASIS
//	assignment costs                  RMP
//
// Equation numbers stand at the lines. Where a paper errs, the line has what is right and "printed:" tells what the
// paper has; docs/errata.md gives the proofs.
//
// # Use
//
// Everything here is slow: a step on d features costs O(d³) where package pairs needs O(d) or O(d²). Sizes up to
// about 100 are comfortable. Input is not checked; matrices whose sizes do not fit panic with mat.ErrShape, and a
// decomposition that fails panics, too. Fields may be read and set at any time. A learner is not safe for concurrent
// use.
//
// Tests of the fast packages compare each learner with the one here.
package plain

import (
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// difference returns v = x − y.
func difference(x, y []float64) *mat.VecDense {
	return mat.NewVecDense(len(x), metric.Sub(nil, x, y))
}

// scaledIdentity returns c·I of order n.
func scaledIdentity(n int, c float64) *mat.SymDense {
	m := mat.NewSymDense(n, nil)
	for i := range n {
		m.SetSym(i, i, c)
	}
	return m
}

// eigen returns the eigenvalues of a, ascending, and the eigenvectors as columns.
func eigen(a mat.Symmetric) (values []float64, vectors *mat.Dense) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		panic("plain: no eigendecomposition")
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	return e.Values(nil), vectors
}

// project makes a the nearest positive semi-definite matrix: Σ max(λ, 0)·uuᵀ over its eigenpairs.
func project(a *mat.SymDense) {
	values, u := eigen(a)
	if values[0] >= 0 {
		return
	}
	a.Zero()
	for i, lambda := range values {
		if lambda > 0 {
			a.SymRankOne(a, lambda, u.ColView(i))
		}
	}
}
