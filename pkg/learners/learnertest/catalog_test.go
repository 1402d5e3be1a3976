package learnertest_test

import (
	"testing"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/learnertest"
)

// Every online learner of pairs in the catalog conforms, with its defaults.
func TestCatalog(t *testing.T) {
	n := 0
	for _, e := range catalog.All() {
		if e.NewPair == nil {
			continue
		}
		n++
		t.Run(e.Name, func(t *testing.T) {
			v, err := e.Parse(nil)
			if err != nil {
				t.Fatal(err)
			}
			l, err := e.NewPair(1, v)
			if err != nil {
				t.Fatal(err)
			}
			_, kernel := l.(learners.PairKernel) // Gaussian by default
			learnertest.Pairs{
				New:          func(dim int) (learners.Pair, error) { return e.NewPair(dim, v) },
				Load:         e.LoadPair,
				MinThreshold: 1,
				Saturates:    kernel,
			}.Run(t)
		})
	}
	if n == 0 {
		t.Error("the catalog has no online learner of pairs")
	}
}
