package metric_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// TestOrthonormalise: the rows come out orthonormal, and the span of the first i
// grows only, also with rows that are zero, equal or dependent up to round-off.
func TestOrthonormalise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	unit := func(n, d int) *mat.Dense {
		w := normal(rng, n, d)
		for i := range n {
			r := mat.NewVecDense(d, w.RawRowView(i))
			r.ScaleVec(1/mat.Norm(r, 2), r)
		}
		return w
	}
	equal := unit(3, 5)
	equal.SetRow(2, equal.RawRowView(0))
	nearly := unit(3, 5)
	nearly.SetRow(1, nearly.RawRowView(0))
	nearly.Set(1, 3, nearly.At(1, 3)+1e-15)
	units := mat.NewDense(4, 4, []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	for name, w := range map[string]*mat.Dense{
		"random": unit(4, 7), "square": unit(6, 6), "equal rows": equal, "nearly equal rows": nearly,
		"zero": mat.NewDense(5, 5, nil), "units and zeros": units, "one": unit(1, 1),
	} {
		first := mat.VecDenseCopyOf(w.RowView(0))
		metric.Orthonormalise(w)
		checkOrthonormal(t, name, w)
		if n := mat.Norm(first, 2); n > 0 && !mat.EqualApprox(first, w.RowView(0), matTol) {
			t.Errorf("%s: the first row changed direction", name)
		}
	}
	mustPanic(t, "more rows than columns", func() { metric.Orthonormalise(mat.NewDense(3, 2, nil)) })
}
