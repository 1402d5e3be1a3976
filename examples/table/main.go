// Table learns a metric from the classes of a table, tells what it is worth on rows
// that it has not seen, and predicts the classes of new rows.
//
//	go run ./examples/table
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

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
	// The classes differ in the first feature; the other five are noise.
	ctx, rng, n := context.Background(), rand.New(rand.NewPCG(1, 2)), 120
	x, classes := mat.NewDense(n, 6, nil), make([]string, n)
	x.Apply(func(i, j int, _ float64) float64 { return rng.NormFloat64() }, x)
	for i := range n {
		classes[i] = []string{"small", "large"}[i%2]
		x.Set(i, 0, x.At(i, 0)+float64(4*(i%2)))
	}
	data, recipe := must(tables.NewData(x, classes, nil)), model.Recipe{Learner: "lmnn"}

	e := must(model.Evaluate(ctx, model.ByClasses(data), recipe, model.Plan{Repeats: 4}))
	fmt.Printf("errors of nearest neighbours in %%: Euclidean %s, %s %s\n", e.Of(model.Euclidean, model.MeasureKNN).Summary.Percent(), recipe.Learner, e.Of(recipe.Learner, model.MeasureKNN).Summary.Percent())

	m := must(model.Fit(ctx, model.ByClasses(data), recipe, nil)).(*model.Model)
	for near, err := range must(m.Classifier(data, 5)).CSV(ctx, strings.NewReader("0,1,-1,1,-1,1\n4,1,-1,1,-1,1\n"), "new.csv") {
		for _, elected := range must(near, err).Elected {
			fmt.Printf("new row: %s, by %.0f %% of its neighbours\n", elected.Class, 100*elected.Share)
		}
	}
}
