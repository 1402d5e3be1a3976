package triplets_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"metriclab/pkg/learners/triplets"
)

// On a line the two pairs of alike objects stand apart.
func ExampleFitCoordinates() {
	rng := rand.New(rand.NewPCG(1, 2))
	r, err := triplets.FitCoordinates(context.Background(), rng, 4, twoPairs, triplets.CoordinatesParams{Dim: 1, Tau: 0.1, Starts: 5, Tol: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	strict, _ := triplets.Errors(r.Kernel(), twoPairs)
	near, far := r.X.At(0, 0)-r.X.At(1, 0), r.X.At(0, 0)-r.X.At(2, 0)
	fmt.Printf("%v, objective %.4f, error %v\n", r.Status, r.Objective, strict)
	fmt.Printf("squared distances %.2f and %.2f\n", near*near, far*far)
	// Output:
	// converged, objective 0.1000, error 0
	// squared distances 0.00 and 1.00
}
