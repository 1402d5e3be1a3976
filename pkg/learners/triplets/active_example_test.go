package triplets_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/triplets"
)

// Five points on a line answer questions chosen by the default rule, and a kernel learns from each answer before the
// next question.
func ExampleSelector() {
	x := mat.NewDense(5, 1, []float64{0, 1, 3, 7, 20})
	r, err := triplets.NewPointRespondent(rand.NewPCG(1, 2), x, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := triplets.NewSelector(rand.NewPCG(3, 4), 5, triplets.SelectorParams{})
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

// Objects at 0, 1 and 3 on a line: the first is nearer to the second. A person who errs in a tenth of the answers
// says the opposite now and then.
func ExampleNewPointRespondent() {
	x := mat.NewDense(3, 1, []float64{0, 1, 3})
	r, err := triplets.NewPointRespondent(rand.NewPCG(1, 2), x, 0.1)
	if err != nil {
		fmt.Println(err)
		return
	}
	wrong := 0
	for range 1000 {
		if r.Answer(triplets.Query{Head: 0, B: 1, C: 2}).Near != 1 {
			wrong++
		}
	}
	fmt.Println(wrong > 60 && wrong < 140)
	// Output: true
}

// A kernel answers, too: here object 0 is as good as object 2, and far from object 1.
func ExampleNewKernelRespondent() {
	k := mat.NewSymDense(3, []float64{
		1, 0, .9,
		0, 1, 0,
		.9, 0, 1,
	})
	r, err := triplets.NewKernelRespondent(rand.NewPCG(1, 2), k, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Answer(triplets.Query{Head: 0, B: 1, C: 2}))
	// Output: {0 2 1}
}
