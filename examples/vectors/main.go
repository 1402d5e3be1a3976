// Vectors learns a metric of vectors in a .npy file, such as embeddings, from pairs of
// them, tells what it is worth on vectors of which it has seen no pair, and looks for neighbours.
//
//	go run ./examples/vectors
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/model"
	"metriclab/pkg/vectors"
)

// must is for programs of one page; elsewhere, return the error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	// Vectors of one topic are similar. Topics differ in the first two numbers; the other eight are noise, and louder.
	ctx, rng, n := context.Background(), rand.New(rand.NewPCG(1, 2)), 200
	dir := must(os.MkdirTemp("", "vectors"))
	defer os.RemoveAll(dir)
	path, topics := filepath.Join(dir, "x.npy"), make([]int, n)
	out := must(vectors.Create(path, n, 10, true))
	for i := range n {
		x := make([]float64, 10)
		for j := range x {
			x[j] = 3 * rng.NormFloat64()
		}
		topics[i] = i % 4
		x[0], x[1] = rng.NormFloat64()+float64(5*(topics[i]%2)), rng.NormFloat64()+float64(5*(topics[i]/2))
		must(0, out.WriteRows(x, i))
	}
	must(0, out.Commit())
	file, recipe := must(vectors.Open(path)), model.Recipe{Learner: "itml"}
	defer file.Close()
	links := must(sample.BalancedLinks(rng, topics, 2000))

	problem := model.PairsOfVectors(file, links)
	e := must(model.Evaluate(ctx, problem, recipe, model.Plan{Repeats: 6}))
	fmt.Printf("similar vectors among the 10 nearest, in %%: Euclidean %s, %s %s\n", e.Of(model.Euclidean, model.MeasureRecall).Summary.Percent(), recipe.Learner, e.Of(recipe.Learner, model.MeasureRecall).Summary.Percent())

	m := must(model.Fit(ctx, problem, recipe, nil)).(*model.Vectors)
	found, _, err := m.Neighbours(ctx, file, must(file.Select([]int{0})), 6, nil)
	for _, near := range must(found, err)[0][1:] {
		fmt.Printf("near vector 0, of topic %d: vector %d, of topic %d\n", topics[0], near.Index, topics[near.Index])
	}
}
