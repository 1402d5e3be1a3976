package triplets_test

import (
	"fmt"

	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// Five objects on a line, at 0, 1, 2, 3 and 4. All that is told is which of two objects is nearer to a third; the
// kernel comes to order the objects as the line does.
func ExampleNewERKLE() {
	l, err := triplets.NewERKLE(5, triplets.ERKLEParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for pass := range 2 {
		mistakes := 0
		for i := range 125 {
			t := metric.Triplet{A: i / 25, Near: i / 5 % 5, Far: i % 5}
			if t.A == t.Near || abs(t.A-t.Near) >= abs(t.A-t.Far) {
				continue
			}
			o, err := l.Step(t)
			if err != nil {
				fmt.Println(err)
				return
			}
			if o.Mistake {
				mistakes++
			}
		}
		s := l.Stats()
		fmt.Printf("pass %d: %d mistakes; so far %d of %d rounds changed the kernel\n", pass+1, mistakes, s.Active, s.Steps)
	}
	for j := range 5 {
		fmt.Printf("d²(0, %d) = %.1f\n", j, l.Predict(metric.Triplet{A: 0, Near: j, Far: j}).SqNear)
	}
	_, err = l.Step(metric.Triplet{A: 0, Near: 3, Far: 3})
	fmt.Println(err)
	// Output:
	// pass 1: 6 mistakes; so far 20 of 26 rounds changed the kernel
	// pass 2: 0 mistakes; so far 29 of 52 rounds changed the kernel
	// d²(0, 0) = 0.0
	// d²(0, 1) = 1.4
	// d²(0, 2) = 2.1
	// d²(0, 3) = 2.9
	// d²(0, 4) = 4.0
	// triplets: near and far are both 3, want two different objects
}

func abs(i int) int { return max(i, -i) }

func ExampleERKLEParams_Resolved() {
	p := triplets.ERKLEParams{}.Resolved()
	fmt.Printf("%v, %v steps, margin %v, P = %.3f, β = %d\n", p.Loss, p.Step, p.Margin, p.P, p.Beta)
	// Output: gnmds, pa steps, margin 1, P = 0.731, β = 1
}
