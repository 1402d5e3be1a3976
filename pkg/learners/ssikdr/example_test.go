package ssikdr_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/ssikdr"
)

// Six points in three dimensions are embedded in one, in which two classes lie apart; so is a new point.
func ExampleFit() {
	x := mat.NewDense(6, 3, []float64{
		0, 3, 1,
		1, 0, 4,
		0, 7, 2,
		5, 1, 1,
		6, 5, 3,
		5, 6, 0,
	})
	pairs := []ltkernel.Constraint{
		ltkernel.AtMost(0, 1, 0.5), ltkernel.AtMost(1, 2, 0.5), ltkernel.AtMost(3, 4, 0.5), ltkernel.AtMost(4, 5, 0.5),
		ltkernel.AtLeast(0, 3, 4), ltkernel.AtLeast(1, 4, 4), ltkernel.AtLeast(2, 5, 4),
	}
	r, err := ssikdr.Fit(context.Background(), kernels.Linear{}, x, pairs, ssikdr.Params{Tau: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Status, "rank", r.Rank)
	m := r.Metric(kernels.Linear{}, x, 0)
	z := m.EmbedRows(x)
	fmt.Printf("%.2f\n", mat.Col(nil, 0, z))
	fmt.Printf("new: %.2f\n", m.Embed([]float64{6, 2, 9}))
	// Output:
	// converged rank 1
	// [0.03 -0.31 0.07 -1.97 -2.31 -1.97]
	// new: [-2.19]
}
