// Package cluster groups objects without labels: k-means, k-medoids on a matrix
// of costs, and mixtures of Gaussians; and with must-links and cannot-links between
// some of them: HMRF-KMeans. Rows are samples.
//
// Every function that draws takes its generator as an argument: the same data,
// the same parameters and the same state of the generator give the same bits.
package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// checkRows returns an error unless x has rows, all finite, and at least k of them.
func checkRows(x *mat.Dense, k int) error {
	if x == nil {
		panic("cluster: x is nil")
	}
	n, _ := x.Dims()
	if n == 0 {
		return errors.New("x: no rows, want at least one")
	}
	if k < 1 || k > n {
		return fmt.Errorf("k: %d is not allowed, want 1 to %d, the number of rows", k, n)
	}
	if err := metric.CheckFinite(x); err != nil {
		return fmt.Errorf("x: %w", err)
	}
	return nil
}

// count checks a parameter that counts something and for which 0 is the default.
func count(name string, v int) error {
	if v < 0 {
		return fmt.Errorf("%s: %d is not allowed, want ≥ 1, or 0 for the default", name, v)
	}
	return nil
}

// demandSource panics if rng is nil.
func demandSource(rng *rand.Rand) {
	if rng == nil {
		panic("cluster: the source of random numbers is nil")
	}
}
