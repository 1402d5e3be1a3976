// Package cluster groups objects without labels: k-means, k-medoids on a matrix
// of costs, and mixtures of Gaussians; and with must-links and cannot-links between
// some of them: HMRF-KMeans. A row is an object.
//
// # Which function
//
//	FitKMeans         rows; round clusters
//	FitMixture        rows; clusters of other shapes and sizes, with probabilities
//	FitMetricKMeans   rows under a learned metric
//	FitFasterPAM      a matrix of costs or distances alone; FitPAM is the classic, far slower
//	FitHMRF           rows with must-links and cannot-links; learns a weight per feature as it goes
//
// Every function that draws takes its generator as an argument: the same data,
// the same parameters and the same state of the generator give the same bits.
//
// # How it is built
//
// EM has a floor under the eigenvalues of its covariances. Under the floor the M-step is exact and the likelihood
// never decreases. Eigenvectors are taken of the scatter minus the floor: those of the scatter itself can be wrong
// in gonum's solvers where its blocks are far apart.
package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/ranges"
	"metriclab/pkg/metric"
)

// checkRows returns an error unless x has rows, all finite, and params are in their ranges, of which one
// ends with the number of rows.
func checkRows(x *mat.Dense, params any) error {
	if x == nil {
		panic("cluster: x is nil")
	}
	n, _ := x.Dims()
	if n == 0 {
		return errNoRows
	}
	if err := ranges.Check("", params, ranges.Limit{Words: "the number of rows", Value: n}); err != nil {
		return err
	}
	if err := metric.CheckFinite(x); err != nil {
		return fmt.Errorf("x: %w", err)
	}
	return nil
}

var errNoRows = errors.New("x: no rows, want at least one")

// demandSource panics if rng is nil.
func demandSource(rng *rand.Rand) {
	if rng == nil {
		panic("cluster: the source of random numbers is nil")
	}
}
