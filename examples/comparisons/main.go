// Comparisons learns where objects lie from nothing but answers such as "0 is more like
// 1 than like 2", and tells what that is worth on answers that it has not seen.
//
//	go run ./examples/comparisons
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/feedback"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/model"
)

// must is for programs of one page; elsewhere, return the error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	// Points of the plane, which only who answers knows.
	ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 2))
	truth := must(synthetic.GaussianComparisons(rng, 20, 2))
	answers := must(truth.Sample(rng, 600))[0]
	problem := model.ByComparisons(&feedback.Triplets{Name: "answers", Objects: truth.Objects(), List: answers})
	recipe := model.Recipe{Learner: "ste"}

	e := must(model.Evaluate(ctx, problem, recipe, model.Plan{Repeats: 2}))
	fmt.Printf("answers predicted wrongly in %%: %s, by a coin 50\n", e.Of("ste", model.MeasureTriplets).Summary.Percent())

	m := must(model.Fit(ctx, problem, recipe, nil)).(*model.Compared)
	map2 := must(m.Coordinates(ctx, 2))
	_, wrong := truth.Errors(m.Kernel(), triplets.TieTolerance)
	fmt.Printf("of all %d: %.1f %%; a map shows %.0f %% of the spread, at a Procrustes distance of %.2f to the truth\n",
		truth.Len(), 100*wrong, 100*map2.Share, triplets.Procrustes(map2.Z, truth.Points()))
}
