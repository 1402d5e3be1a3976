package similarity_test

import (
	"fmt"

	"metriclab/pkg/learners/similarity"
	"metriclab/pkg/metric"
)

// Only the second feature says what a query wants. A query is searched for with Wᵀq, in the index of the vectors as they are.
func ExampleOASIS() {
	l, err := similarity.NewOASIS(2, similarity.OASISParams{C: 1})
	if err != nil {
		panic(err)
	}
	query, served, not := []float64{1, 1}, []float64{0, 1}, []float64{1, 0}
	f := metric.Comparison{A: query, Near: served, Far: not}
	fmt.Println("before:", l.Predict(f))
	o, err := l.Step(f)
	if err != nil {
		panic(err)
	}
	fmt.Println("loss:", o.Loss, "step:", o.StepSize)
	fmt.Println("after:", l.Predict(f))
	// Output:
	// before: {1 1}
	// loss: 1 step: 0.25
	// after: {1.5 0.5}
}
