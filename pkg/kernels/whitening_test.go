package kernels_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
)

// Rk has the inner products of k, RkRᵀ = I, and as many rows as the rank.
func TestWhitening(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, shape := range [][2]int{{1, 1}, {2, 1}, {5, 3}, {5, 5}, {6, 9}} {
		n, d := shape[0], shape[1]
		x := mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		k := kernels.Gram(kernels.Linear{}, x)
		r, err := kernels.Whitening(k)
		if err != nil {
			t.Fatal(err)
		}
		if rows, _ := r.Dims(); rows != min(n, d) {
			t.Errorf("%d×%d: %d rows", n, d, rows)
		}
		var z, product, eye mat.Dense
		z.Mul(r, k)
		product.Mul(z.T(), &z)
		eye.Mul(&z, r.T())
		rows, _ := r.Dims()
		if !mat.EqualApprox(&product, k, 1e-10) || !mat.EqualApprox(&eye, identity(rows), 1e-10) {
			t.Errorf("%d×%d: inner products are not k", n, d)
		}
	}
	if r, err := kernels.Whitening(mat.NewSymDense(2, nil)); r != nil || err != nil {
		t.Errorf("of 0: %v, error %v", r, err)
	}
	if _, err := kernels.Whitening(mat.NewSymDense(2, []float64{1, 2, 2, 1})); !errors.Is(err, metric.ErrNotPSD) {
		t.Errorf("error %v", err)
	}
	if _, err := kernels.Whitening(mat.NewSymDense(2, []float64{math.Inf(1), 0, 0, 1})); err == nil {
		t.Error("infinite entries are accepted")
	}
}

func identity(n int) *mat.Dense {
	x := mat.NewDense(n, n, nil)
	for i := range n {
		x.Set(i, i, 1)
	}
	return x
}
