// Metrics compares distances by the errors of 3 nearest neighbours on rows that
// no metric has seen.
//
//	go run ./examples/metrics
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
)

// must is for programs of one page; elsewhere, return the error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 2))

	// Three classes that differ in two features; the other six are noise, and louder.
	loud := mat.NewDiagDense(8, []float64{1, 1, 16, 16, 16, 16, 16, 16})
	set := must(synthetic.GaussianMixture(rng, []synthetic.Component{
		{Class: 0, N: 100, Mean: []float64{0, 0, 0, 0, 0, 0, 0, 0}, Cov: loud},
		{Class: 1, N: 100, Mean: []float64{5, 0, 0, 0, 0, 0, 0, 0}, Cov: loud},
		{Class: 2, N: 100, Mean: []float64{0, 5, 0, 0, 0, 0, 0, 0}, Cov: loud},
	}))
	train, test, err := sample.StratifiedSplit(rng, set.Y, 0.7)
	if err != nil {
		log.Fatal(err)
	}
	x, y := set.Rows(train), set.Labels(train)

	for _, c := range []struct {
		name string
		m    metric.SqDister
	}{
		{"Euclidean", metric.Euclidean{}},
		{"ITML", must(itml.FitLabels(ctx, rng, x, y, itml.LabelParams{})).Metric},
		{"LMNN", must(labels.FitLMNN(ctx, x, y, labels.LMNNParams{})).Metric},
		{"POLA", online(rng, x, y)},
	} {
		knn := must(nearest.NewKNN(c.m, x, y, nearest.KNNOptions{}))
		wrong := must(knn.Errors(ctx, set.Rows(test), set.Labels(test), []int{3}))
		fmt.Printf("%-9s  %2d of %d rows wrong\n", c.name, wrong[0], len(test))
	}
}

// online shows POLA 2000 pairs of rows, one at a time, and returns its metric.
func online(rng *rand.Rand, x *mat.Dense, y []int) *metric.Mahalanobis {
	_, dim := x.Dims()
	learner := must(pairs.NewPOLA(dim, pairs.POLAParams{Gamma: 1}))
	for p := range sample.Pairs(x, must(sample.BalancedLinks(rng, y, 2000))) {
		must(learner.Step(p))
	}
	return learner.Metric()
}
