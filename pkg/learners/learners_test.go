package learners_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"metriclab/pkg/learners"
)

// counter predicts the number of rounds it has seen and refuses negative ones.
type counter struct{ seen int }

var errNegative = errors.New("negative")

func (c *counter) Predict(int) int  { return c.seen }
func (c *counter) Loss(int) float64 { return float64(c.seen) }
func (c *counter) Step(f int) (learners.Outcome[int], error) {
	if f < 0 {
		return learners.Outcome[int]{}, errNegative
	}
	o := learners.Outcome[int]{Prediction: c.seen, Loss: float64(c.seen), Updated: true}
	c.seen++
	return o, nil
}

func TestRunStopsAtTheFirstError(t *testing.T) {
	c := &counter{}
	var predictions []int
	var last error
	for o, err := range learners.Run(c, slices.Values([]int{1, 2, -1, 3})) {
		if last != nil {
			t.Fatal("an outcome came after the error")
		}
		if last = err; err == nil {
			predictions = append(predictions, o.Prediction)
		}
	}
	if !errors.Is(last, errNegative) || !slices.Equal(predictions, []int{0, 1}) || c.seen != 2 {
		t.Errorf("predictions %v, error %v, %d rounds learned; want [0 1], %v, 2", predictions, last, c.seen, errNegative)
	}
}

func TestRunCanBeLeft(t *testing.T) {
	c := &counter{}
	for range learners.Run(c, slices.Values([]int{1, 2, 3})) {
		break
	}
	if c.seen != 1 {
		t.Errorf("%d rounds learned after leaving at the first, want 1", c.seen)
	}
}

func TestSaturate(t *testing.T) {
	for _, c := range []struct {
		x, want  float64
		overflow bool
	}{
		{0, 0, false},
		{-1e308, -1e308, false},
		{math.MaxFloat64, math.MaxFloat64, true},
		{math.Inf(1), math.MaxFloat64, true},
		{math.Inf(-1), -math.MaxFloat64, true},
		{math.NaN(), math.MaxFloat64, true},
	} {
		got := learners.Saturate(c.x)
		if got != c.want {
			t.Errorf("%v: %v, want %v", c.x, got, c.want)
		}
		for _, x := range []float64{c.x, got} {
			if err := (learners.PairPrediction{SqDist: x}).Check(); (err != nil) != c.overflow {
				t.Errorf("d² = %v: error %v", x, err)
			}
		}
	}
}

func TestStatusNames(t *testing.T) {
	seen := map[string]bool{}
	for s := learners.NotRun; s <= learners.NoProgress; s++ {
		if n := s.String(); seen[n] || n == learners.Status(-1).String() {
			t.Errorf("status %d has no name of its own: %q", int(s), n)
		} else {
			seen[n] = true
		}
	}
}

func ExampleRun() {
	for o, err := range learners.Run(&counter{}, slices.Values([]int{5, 5})) {
		fmt.Println(o.Prediction, err)
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
}
