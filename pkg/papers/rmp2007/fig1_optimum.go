package rmp2007

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/cluster"
)

// searchStarts is the number of random sets from which the best map is searched.
const searchStarts = 50

// findOptimum looks for the map with at most m prototypes of least total cost, by FasterPAM from many starts, and for
// a proof.
func findOptimum(ctx context.Context, cost *mat.Dense, m, starts int, rng *rand.Rand) (*cluster.MedoidsCertificate, error) {
	best, err := cluster.FitFasterPAM(ctx, rng, cost, cluster.MedoidsParams{M: m, Starts: starts})
	if err != nil {
		return nil, err
	}
	return cluster.CertifyMedoids(ctx, cost, best.Set)
}
