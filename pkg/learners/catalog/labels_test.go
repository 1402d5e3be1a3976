package catalog_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/catalog"
)

// The parameters of the learners from rows and classes reach the fit: each makes a
// difference.
func TestLabelParams(t *testing.T) {
	x := mat.NewDense(10, 2, []float64{0, 0, 1, 3, 0.5, 1, 0.2, 2, 2.4, 1.5, 2, 0, 4, 3, 3.4, 1, 4.1, 2, 1.2, 2.2})
	y := []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}
	for _, c := range []struct {
		name  string
		given [2]map[string]string
	}{
		{"invcov", [2]map[string]string{{"ridge": "0"}, {"ridge": "0.1"}}},
		{"lsa", [2]map[string]string{{"dim": "1"}, {"dim": "2"}}},
		{"lsa", [2]map[string]string{{"dim": "1"}, {"dim": "1", "centring": "mean"}}},
		{"lmnn", [2]map[string]string{{"k": "1"}, {"k": "3"}}},
		{"lmnn", [2]map[string]string{{"mu": "0.2"}, {"mu": "0.8"}}},
		{"lmnn", [2]map[string]string{{"tol": "0.9"}, {"tol": "0.00001"}}},
		{"lmnn", [2]map[string]string{{"iterations": "1"}, {"iterations": "100"}}},
		{"mcml", [2]map[string]string{{"tol": "0.9"}, {"tol": "0.00001"}}},
		{"mcml", [2]map[string]string{{"iterations": "1"}, {"iterations": "100"}}},
		{"nca", [2]map[string]string{{"dim": "1"}, {"dim": "2"}}},
		{"nca", [2]map[string]string{{"start": "fda", "dim": "1", "iterations": "1"}, {"start": "pca", "dim": "1", "iterations": "1"}}},
		{"nca", [2]map[string]string{{"tol": "0.9"}, {"tol": "0.00001"}}},
		{"nca", [2]map[string]string{{"iterations": "1"}, {"iterations": "100"}}},
		{"nca", [2]map[string]string{{"batch": "0"}, {"batch": "5"}}},
		{"nca", [2]map[string]string{{"batch": "5", "passes": "1"}, {"batch": "5", "passes": "2"}}},
		{"nca", [2]map[string]string{{"batch": "5", "seed": "1"}, {"batch": "5", "seed": "2"}}},
	} {
		e, err := catalog.Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		var m [2]*mat.SymDense
		for i, given := range c.given {
			r, err := e.Fit(t.Context(), catalog.Input{X: x, Y: y}, mustParse(t, e, given), nil)
			if err != nil {
				t.Fatalf("%s %v: %v", c.name, given, err)
			}
			m[i] = matrixOf(r)
		}
		if mat.Equal(m[0], m[1]) {
			t.Errorf("%s: %v and %v give the same metric", c.name, c.given[0], c.given[1])
		}
	}
}
