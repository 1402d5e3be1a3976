package iplr

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/limits"
	"metriclab/pkg/spectral"
)

// RandomColumns returns the n×k matrix J of "a random subset of Φ, that is, the columns of J are random indicator vectors": R is k of the n objects, each choice equally likely. It
// panics unless 1 ≤ k ≤ n, or if rng is nil.
func RandomColumns(rng *rand.Rand, n, k int) *mat.Dense {
	demandSource(rng)
	demandSize("RandomColumns", n, k)
	j := mat.NewDense(n, k, nil)
	for c, i := range sample.Choose(rng, n, k) {
		j.Set(i, c, 1)
	}
	return j
}

// RandomCoefficients returns "a randomly sampled coefficient matrix J", n×k. The paper does not say of which law: here entries are independent and standard normal, so that all k-dimensional subspaces of coefficients are
// equally likely. It panics unless 1 ≤ k ≤ n, or if rng is nil.
func RandomCoefficients(rng *rand.Rand, n, k int) *mat.Dense {
	demandSource(rng)
	demandSize("RandomCoefficients", n, k)
	j := mat.NewDense(n, k, nil)
	for i := range n {
		for c := range k {
			j.Set(i, c, rng.NormFloat64())
		}
	}
	return j
}

func demandSize(function string, n, k int) {
	if k < 1 || k > n {
		panic(fmt.Sprintf("iplr: %s: %d of %d objects, want 1 to %d", function, k, n, n))
	}
}

// MeanCoefficients returns the n×k matrix J of the means of the k groups in which the n objects are, by any numbers: J_ic is 1 over the size of group c if object i is in it, else 0. With class labels R = ΦJ is the class means, with
// the assignment of a clustering its centres. Columns are in ascending order of the groups. It panics if groups is empty.
func MeanCoefficients(groups []int) *mat.Dense {
	members := groupsOf(groups)
	j := mat.NewDense(len(groups), len(members), nil)
	for c, group := range members {
		for _, i := range group {
			j.Set(i, c, 1/float64(len(group)))
		}
	}
	return j
}

// KernelKMeans returns the n×k matrix J whose columns are the means of k clusters of the objects, of Gram matrix k0, n×n: "clustering Φ using kernel k-means". It is Lloyd's iteration of cluster.FitKMeans on
// the rows of a factor of K₀, which have the objects' distances. Clusters without objects, as there are with fewer than k different objects, have no column. It costs O(n²r) for rank r, and O(nrk) per iteration.
//
// It returns an error unless 1 ≤ k ≤ n, if k0 has an entry that is NaN or infinite, is not positive semi-definite or is zero, or if ctx is done. It panics if k0 is nil or empty or rng is nil.
func KernelKMeans(ctx context.Context, rng *rand.Rand, k0 mat.Symmetric, k int) (*mat.Dense, error) {
	a, err := gramOf("KernelKMeans", rng, k0, k)
	if err != nil {
		return nil, err
	}
	n := a.SymmetricDim()
	work := func(context.Context) (*mat.Dense, error) {
		if err := kernels.CheckGram(a); err != nil {
			return nil, fmt.Errorf("iplr: k0: %w", err)
		}
		var chol mat.PivotedCholesky
		chol.Factorize(a, -1)
		if chol.Rank() == 0 {
			return nil, errors.New("iplr: k0: it is zero, so that all objects coincide")
		}
		u, rows := chol.RawU(), mat.NewDense(n, chol.Rank(), nil)
		for at, i := range chol.ColumnPivots(nil) {
			for c := range min(at+1, chol.Rank()) {
				rows.Set(i, c, u.At(c, at))
			}
		}
		return rows, nil
	}
	rows, err := long(ctx, n, work)
	if err != nil {
		return nil, err
	}
	return clustered(ctx, rng, rows, k)
}

// long is work of cost n³ on data of its own.
func long(ctx context.Context, n int, work func(context.Context) (*mat.Dense, error)) (*mat.Dense, error) {
	if !abandon.Long(n, n, n) {
		return work(ctx)
	}
	return abandon.Do(ctx, "iplr", work)
}

// gramOf returns a copy of k0, and an error unless 1 ≤ k ≤ n and entries are finite.
func gramOf(function string, rng *rand.Rand, k0 mat.Symmetric, k int) (*mat.SymDense, error) {
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 {
		panic("iplr: " + function + ": k0 is nil or empty")
	}
	demandSource(rng)
	n := k0.SymmetricDim()
	if err := checkSize(k, n, "the number of objects"); err != nil {
		return nil, err
	}
	if err := limits.Check(fmt.Sprintf("clusters of %d objects by a kernel", n), limits.Floats(5, n, n)); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := k0.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("iplr: k0: entry (%d, %d) is %v, want a finite number", i, j, v)
			}
			a.SetSym(i, j, v)
		}
	}
	return a, nil
}

// clustered returns the coefficients of the means of k clusters of rows.
func clustered(ctx context.Context, rng *rand.Rand, rows *mat.Dense, k int) (*mat.Dense, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	km, err := cluster.FitKMeans(ctx, rng, rows, cluster.KMeansParams{K: k})
	if err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	return MeanCoefficients(km.Assignment), nil
}

// SpectralClusters returns the n×k matrix J whose columns are the means of k clusters of the objects, found by "a spectral clustering method": the one of Ng, Jordan and Weiss (NIPS 2001), as the paper names none. With the entries of k0, n×n, as
// affinities, A, without the diagonal, and D = diag(Σ_j A_ij), the k eigenvectors of D^(−1/2)AD^(−1/2) with the largest eigenvalues are columns of a matrix whose rows, scaled to length 1, cluster.FitKMeans clusters. An
// object without affinities has the row 0. Clusters without objects have no column. It costs O(n³).
//
// It returns an error unless 1 ≤ k ≤ n, if an affinity is negative, NaN or infinite, or if ctx is done: a Gaussian kernel is never negative, a linear one may be. It panics if k0 is nil or empty or rng is nil.
func SpectralClusters(ctx context.Context, rng *rand.Rand, k0 mat.Symmetric, k int) (*mat.Dense, error) {
	a, err := gramOf("SpectralClusters", rng, k0, k)
	if err != nil {
		return nil, err
	}
	n := a.SymmetricDim()
	var largest float64
	for i := range n {
		for j := range i {
			v := a.At(i, j)
			if v < 0 {
				return nil, fmt.Errorf("iplr: k0: the affinity (%d, %d) is %v, want at least 0, as a Gaussian kernel has", i, j, v)
			}
			largest = max(largest, v)
		}
	}
	_, e := math.Frexp(largest)
	degree := make([]float64, n)
	for i := range n {
		a.SetSym(i, i, 0)
		for j := range i {
			v := math.Ldexp(a.At(i, j), -e) // sums do not overflow
			a.SetSym(i, j, v)
			degree[i] += v
			degree[j] += v
		}
	}
	for i := range n {
		for j := range i {
			if v := a.At(i, j); v > 0 {
				a.SetSym(i, j, v/math.Sqrt(degree[i])/math.Sqrt(degree[j]))
			}
		}
	}
	rows, err := long(ctx, n, func(context.Context) (*mat.Dense, error) {
		var eig spectral.EigenSym
		if !eig.Factorize(a, true) {
			return nil, errors.New("iplr: eigendecomposition did not converge")
		}
		var q mat.Dense
		eig.VectorsTo(&q)
		rows := mat.DenseCopyOf(q.Slice(0, n, n-k, n))
		for i := range n {
			row := rows.RawRowView(i)
			if degree[i] == 0 {
				clear(row)
			} else if length := floats.Norm(row, 2); length > 0 {
				floats.Scale(1/length, row)
			}
		}
		return rows, nil
	})
	if err != nil {
		return nil, err
	}
	return clustered(ctx, rng, rows, k)
}
