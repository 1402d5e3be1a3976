package classify_test

import (
	"fmt"

	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/linear"
)

// The examples of a stream, and what a learner of package linear predicts.
func Example() {
	l, err := linear.NewPerceptron(2)
	if err != nil {
		panic(err)
	}
	for _, e := range []classify.Example{
		{X: []float64{0, 1}, Label: classify.Positive},
		{X: []float64{1, 0}, Label: classify.Negative},
	} {
		o, err := l.Step(e)
		if err != nil {
			panic(err)
		}
		fmt.Println("mistake:", o.Mistake)
	}
	fmt.Println("positive:", l.Predict(classify.Example{X: []float64{0, 2}}).Positive)
	// Output:
	// mistake: true
	// mistake: true
	// positive: true
}
