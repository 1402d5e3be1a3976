package triplets_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/triplets"
)

// Five points on a line answer the questions that tell most, and a kernel learns from each answer before the
// next question.
func ExampleSelector() {
	x := mat.NewDense(5, 1, []float64{0, 1, 3, 7, 20})
	r, err := triplets.NewPointRespondent(rand.NewPCG(1, 2), x, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := triplets.NewSelector(rand.NewPCG(3, 4), 5, triplets.SelectorParams{Rule: triplets.InformationGain})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := triplets.NewERKLE(5, triplets.ERKLEParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 30 {
		t := r.Answer(s.Next(l.Kernel()))
		if _, err := l.Step(t); err != nil {
			fmt.Println(err)
			return
		}
		if err := s.Learn(t); err != nil {
			fmt.Println(err)
			return
		}
	}
	q := triplets.Query{Head: 2, B: 0, C: 3}
	p := l.Predict(r.Answer(q))
	fmt.Println(r.Answer(q), p.SqNear < p.SqFar)
	// Output: {2 0 3} true
}
