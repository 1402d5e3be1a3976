package ltkernel_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/ltkernel"
)

// Of three points on a line the middle one is to be nearer to the last than to the first, with the least change in the
// von Neumann divergence.
func ExampleFitKernel() {
	x := mat.NewDense(3, 2, []float64{0, 1, 1, 0, 3, 1})
	k0 := mat.NewSymDense(3, nil)
	k0.SymOuterK(1, x)
	r, err := ltkernel.FitKernel(context.Background(), k0,
		[]ltkernel.Constraint{ltkernel.Nearer(1, 2, 0, 1), ltkernel.AtLeast(0, 2, 9)},
		ltkernel.Params{Divergence: ltkernel.VonNeumann()})
	if err != nil {
		panic(err)
	}
	sq := func(k mat.Matrix, i, j int) float64 { return k.At(i, i) + k.At(j, j) - 2*k.At(i, j) }
	k := r.All(k0)
	fmt.Println(r.Status)
	fmt.Printf("before: %.2f to the first, %.2f to the last\n", sq(k0, 1, 0), sq(k0, 1, 2))
	fmt.Printf("after:  %.2f to the first, %.2f to the last\n", sq(k, 1, 0), sq(k, 1, 2))
	// Output:
	// converged
	// before: 2.00 to the first, 5.00 to the last
	// after:  3.56 to the first, 2.56 to the last
}
