package triplets_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// Objects 0 and 1 are alike, and so are 2 and 3.
var twoPairs = []metric.Triplet{
	{A: 0, Near: 1, Far: 2}, {A: 0, Near: 1, Far: 3}, {A: 1, Near: 0, Far: 2}, {A: 1, Near: 0, Far: 3},
	{A: 2, Near: 3, Far: 0}, {A: 2, Near: 3, Far: 1}, {A: 3, Near: 2, Far: 0}, {A: 3, Near: 2, Far: 1},
}

// The kernel of the least trace that answers with a margin of 1 puts the pairs at
// a distance of 1.
func ExampleFitBatch() {
	r, err := triplets.FitBatch(context.Background(), 4, twoPairs, triplets.BatchParams{Tau: 0.1, Tol: 1e-8})
	if err != nil {
		fmt.Println(err)
		return
	}
	strict, _ := triplets.Errors(r.Kernel, twoPairs)
	fmt.Printf("%v, rank %d, objective %.4f, error %v\n", r.Status, r.Rank, r.Objective, strict)
	fmt.Printf("%.2f\n", mat.Formatted(r.Kernel))
	// Output:
	// converged, rank 1, objective 0.1000, error 0
	// ⎡ 0.25   0.25  -0.25  -0.25⎤
	// ⎢ 0.25   0.25  -0.25  -0.25⎥
	// ⎢-0.25  -0.25   0.25   0.25⎥
	// ⎣-0.25  -0.25   0.25   0.25⎦
}

func ExampleBatchParams_Resolved() {
	p := triplets.BatchParams{}.Resolved()
	fmt.Println(p.Loss, p.Method, p.Tau, p.Margin, p.Mu, p.Iterations, p.Tol)
	// Output: gnmds factored 0 1 0.05 5000 0.001
}

// Under the identity all objects are equally far from each other: nothing is
// answered, and nothing wrongly.
func ExampleErrors() {
	identity := mat.NewDiagDense(4, []float64{1, 1, 1, 1})
	strict, half := triplets.Errors(identity, twoPairs)
	fmt.Println(strict, half)
	// Output: 1 0.5
}

func ExampleEmbed() {
	x := mat.NewDense(3, 2, []float64{1, 4, 2, -1, 1, -2})
	var k mat.SymDense
	k.SymOuterK(1, x)
	y := triplets.Embed(&k, 2) // x by principal axes, the longest first
	fmt.Printf("%.2f\n", mat.Formatted(y))
	fmt.Printf("%.2f\n", triplets.Procrustes(x, y))
	// Output:
	// ⎡ 4.00   1.00⎤
	// ⎢-1.00   2.00⎥
	// ⎣-2.00   1.00⎦
	// 0.00
}
