// Pairs learns a metric from pairs of rows of a table that are known to be similar or
// not, and tells what it is worth on rows of which it has seen no pair.
//
//	go run ./examples/pairs
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
)

// must is for programs of one page; elsewhere, return the error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	// Rows are similar if their first features are near; the other five are noise.
	ctx, rng, n := context.Background(), rand.New(rand.NewPCG(1, 2)), 100
	x := mat.NewDense(n, 6, nil)
	x.Apply(func(i, j int, _ float64) float64 { return rng.NormFloat64() }, x)
	data, recipe := must(tables.NewData(x, nil, nil)), model.Recipe{Learner: "itml"}
	for range 1000 {
		i, j := rng.IntN(n), rng.IntN(n-1)
		if j >= i {
			j++
		}
		d := x.At(i, 0) - x.At(j, 0)
		data.Links = append(data.Links, metric.Link{I: i, J: j, Label: metric.SameClass(-1 < d && d < 1)})
	}

	problem := model.PairsOfRows(data)
	e := must(model.Evaluate(ctx, problem, recipe, model.Plan{Repeats: 6}))
	fmt.Printf("a similar pair is nearer than a dissimilar one, in %%: Euclidean %s, %s %s\n", e.Of(model.Euclidean, model.MeasureAUC).Summary.Percent(), recipe.Learner, e.Of(recipe.Learner, model.MeasureAUC).Summary.Percent())

	m := must(model.Fit(ctx, problem, recipe, nil)).(*model.Model)
	z := must(m.Prepare(mat.NewDense(3, 6, []float64{0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0})))
	for i := 1; i <= 2; i++ {
		fmt.Printf("squared distance of rows that differ in feature %d: %.2f\n", i, m.Metric().SqDist(z.RawRowView(0), z.RawRowView(i)))
	}
}
