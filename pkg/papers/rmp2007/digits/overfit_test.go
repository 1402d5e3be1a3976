package digits

import (
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/classify"
	"metriclab/pkg/table"
)

// Of two pixels one copies the label on the images seen and its negation on those that test: the gap is 1 with it and
// not with the other.
func TestOverfitJudge(t *testing.T) {
	seen := mat.NewDense(4, 2, []float64{1, 1, 1, 0, 0, 1, 0, 0})
	y := []classify.Label{1, 1, -1, -1}
	tested := mat.NewDense(2, 2, []float64{0, 1, 1, 0})
	s := digitStream{x: seen, tested: tested, y: y, truth: []classify.Label{1, -1}, ridge: 1e-6, rows: overfitColumns.Table()}
	for _, pixel := range []int{0, 1} {
		if err := s.scoreGaps(t.Context(), table.Key{"method": "made", "m": strconv.Itoa(pixel)}, 4, []int{pixel}, nil); err != nil {
			t.Fatal(err)
		}
	}
	g := s.rows.Where("m", "0", "ridge", ridgeFixed)
	if a, b := g.Values("seen_error")[0], g.Values("error")[0]; a != 0 || b != 1 {
		t.Errorf("the copy of the label: errors %v seen and %v tested, want 0 and 1", a, b)
	}
	// With almost no ridge the residual is 0 on the images seen, and 2 on the others.
	if a, b := g.Values("seen_loss")[0], g.Values("loss")[0]; a > 1e-6 || b < 4-1e-5 {
		t.Errorf("the copy of the label: squared residuals %v seen and %v tested, want 0 and 4", a, b)
	}
	g = s.rows.Where("m", "1", "ridge", ridgeFixed)
	if a, b := g.Values("seen_loss")[0], g.Values("loss")[0]; math.Abs(a-1) > 1e-12 || math.Abs(b-1) > 1e-12 { // round-off
		t.Errorf("the other pixel: squared residuals %v seen and %v tested, want 1 and 1", a, b)
	}
}
