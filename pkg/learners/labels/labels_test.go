package labels

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func normal(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	return x
}

// stretched has features of very different variance, mixed and shifted.
func stretched(rng *rand.Rand, n, d int) *mat.Dense {
	x, mix := normal(rng, n, d), normal(rng, d, d)
	for i := range n {
		for j := range d {
			x.Set(i, j, x.At(i, j)*math.Pow(0.8, float64(j)))
		}
	}
	var out mat.Dense
	out.Mul(x, mix)
	out.Apply(func(_, j int, v float64) float64 { return v + float64(j) }, &out)
	return &out
}

// covariance is (1/n) Σ (xᵢ−μ)(xᵢ−μ)ᵀ over the given rows, about their mean.
func covariance(x *mat.Dense, rows []int) (*mat.SymDense, *mat.VecDense) {
	_, d := x.Dims()
	mean := mat.NewVecDense(d, nil)
	for _, i := range rows {
		mean.AddScaledVec(mean, 1/float64(len(rows)), x.RowView(i))
	}
	c := mat.NewSymDense(d, nil)
	for _, i := range rows {
		var v mat.VecDense
		v.SubVec(x.RowView(i), mean)
		c.SymRankOne(c, 1/float64(len(rows)), &v)
	}
	return c, mean
}

func identity(n int) *mat.Dense {
	out := mat.NewDense(n, n, nil)
	for i := range n {
		out.Set(i, i, 1)
	}
	return out
}

func gramRows(w *mat.Dense) *mat.Dense {
	var g mat.Dense
	g.Mul(w, w.T())
	return &g
}

// TestMeanOfConstants: a constant feature must have deviations that are zero, not
// round-off, or learners would divide by it.
func TestMeanOfConstants(t *testing.T) {
	x := mat.NewDense(7, 1, nil)
	for i := range 7 {
		x.Set(i, 0, 0.1)
	}
	if got := meanOf(x)[0]; got != 0.1 {
		t.Errorf("mean of seven times 0.1 is %v", got)
	}
	if got := meansOf(mat.NewDense(4, 1, []float64{1, 2, 6, 7}), []int{0, 1, 0, 2}); got[0][0] != 3.5 || got[1][0] != 2 || got[2][0] != 7 {
		t.Errorf("means of 1 and 6, of 2, and of 7: %v", got)
	}
}

// On two cores wide rows have the means of one, bit for bit.
func TestMeansOnCores(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(8, 7)), 9, 2500)
	group := []int{0, 1, 0, 0, 2, 2, 1, 0, 2}
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	want := meansOf(x, group)
	runtime.GOMAXPROCS(2)
	if !slices.EqualFunc(meansOf(x, group), want, slices.Equal) {
		t.Error("other bits")
	}
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}
