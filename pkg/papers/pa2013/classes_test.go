package pa2013

import (
	"math"
	"path/filepath"
	"testing"

	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
)

// Errors over objects are those that the comparison counts, and those over classes weigh each class alike.
func TestClassErrors(t *testing.T) {
	p := testProblem(t, generatedBalance, mainSettings)
	ks := []int{1, 2, 5}
	for _, ties := range []nearest.VoteTie{nearest.TieNearest, nearest.TieLowestLabel} {
		want, err := p.wrong(t.Context(), metric.Euclidean{}, ties, ks)
		if err != nil {
			t.Fatal(err)
		}
		objects, classes, err := p.classErrors(t.Context(), metric.Euclidean{}, ties, ks)
		if err != nil {
			t.Fatal(err)
		}
		knn, err := nearest.NewKNN(metric.Euclidean{}, p.train.x, p.ranked(p.train.y), nearest.KNNOptions{VoteTie: ties})
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range ks {
			if got := objects[i] * float64(len(p.test.y)); math.Abs(got-float64(want[i])) > 1e-9 {
				t.Errorf("k = %d: %g objects wrong, want %d", k, got, want[i])
			}
			said, err := knn.Classify(t.Context(), p.test.x, k)
			if err != nil {
				t.Fatal(err)
			}
			wrong, size := map[int]float64{}, map[int]float64{}
			for j, y := range p.ranked(p.test.y) {
				size[y]++
				if said[j] != y {
					wrong[y]++
				}
			}
			mean := 0.0
			for y, n := range size {
				mean += wrong[y] / n / float64(len(size))
			}
			if math.Abs(classes[i]-mean) > 1e-12 || math.Abs(mean-objects[i]) < .01 {
				t.Errorf("k = %d: %g over classes, want %g; %g over objects", k, classes[i], mean, objects[i])
			}
		}
	}
}

// The committed errors over objects are those of the comparison, trial by trial: splits, pairs and choices are the same.
func TestClassesAreThoseOfTheComparison(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "results")
	a, err := harness.ReadTable(Classes, filepath.Join(dir, filepath.FromSlash(Classes.ID)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := harness.ReadTable(Comparison, filepath.Join(dir, filepath.FromSlash(Comparison.ID)))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range resultsOf(a) {
		want := results{r.cell, b.Where("cell", r.cell)}
		for _, method := range append([]string{euclidean}, inTable2...) {
			for column, objects := range map[string]string{nearestOfTied: "objects", firstName: "objects-name"} {
				byK := want.byNeighbours(method, column)
				for k, got := range r.classErrors(method, objects) {
					for trial := range got {
						if math.Abs(got[trial]-byK[k][trial]) > 1e-9 {
							t.Fatalf("%s, %s, k = %s, trial %d: %g, the comparison has %g", r.cell, method, k, trial, got[trial], byK[k][trial])
						}
					}
				}
			}
		}
	}
}
