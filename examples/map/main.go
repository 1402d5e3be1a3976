// Map makes a map of cities from nothing but answers to questions such as "is
// Paris nearer to London or to Rome?". It asks what it is least sure about.
//
//	go run ./examples/map -o out/map.png
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
)

var cities = []string{"Athens", "Berlin", "Dublin", "Lisbon", "London", "Madrid", "Oslo", "Paris", "Rome", "Sofia", "Vienna", "Warsaw"}

// Kilometres east of Greenwich and north of the equator, about.
var places = mat.NewDense(12, 2, []float64{
	1690, 4220, 950, 5840, -480, 5930, -790, 4300, -10, 5730, -310, 4490,
	760, 6660, 170, 5440, 1050, 4660, 1900, 4750, 1210, 5360, 1480, 5810,
})

// must is for programs of one page; elsewhere, return the error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	out := flag.String("o", filepath.Join("out", "map.png"), "the `file` to write, a PNG image")
	flag.Parse()

	n := len(cities)
	truth := must(synthetic.NewComparisons(places))
	person := must(triplets.NewPointRespondent(rand.NewPCG(1, 1), places, 0.05)) // one answer in twenty is wrong
	selector := must(triplets.NewSelector(rand.NewPCG(1, 2), n, triplets.SelectorParams{Rule: triplets.SelectUncertainty}))
	learner := must(triplets.NewERKLE(n, triplets.ERKLEParams{Loss: triplets.STE}))

	var answers []metric.Triplet
	for len(answers) < 240 {
		answer := person.Answer(selector.Next(learner.Kernel()))
		if err := selector.Learn(answer); err != nil {
			log.Fatal(err)
		}
		must(learner.Step(answer))
		answers = append(answers, answer)
		if len(answers)%60 == 0 {
			_, wrong := truth.Errors(learner.Kernel(), triplets.TieTolerance)
			fmt.Printf("%3d answers: %2.0f %% of all %d comparisons wrong\n", len(answers), 100*wrong, truth.Len())
		}
	}

	// The answers again, all at once, give the map.
	fit := must(triplets.FitBatch(context.Background(), n, answers, triplets.BatchParams{Loss: triplets.STE, Tau: 0.1}))
	_, wrong := truth.Errors(fit.Kernel, triplets.TieTolerance)
	xy := triplets.Embed(fit.Kernel, 2)
	fmt.Printf("in batch: %2.0f %%; Procrustes distance of the map to Europe: %.2f\n", 100*wrong, triplets.Procrustes(xy, places))

	png := must(plots.Drawing{Panels: []plots.Panel{{
		Title: "Cities by 240 answers", Equal: true, HideAxes: true,
		Marks: []plots.Mark{plots.Points{X: mat.Col(nil, 0, xy), Y: mat.Col(nil, 1, xy), Labels: cities}},
	}}}.PNG(plots.Options{}))
	if err := errors.Join(os.MkdirAll(filepath.Dir(*out), 0o777), os.WriteFile(*out, png, 0o666)); err != nil {
		log.Fatal(err)
	}
}
