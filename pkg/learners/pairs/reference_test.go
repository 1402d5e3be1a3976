package pairs

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/vector"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// newPlain is plain.POLA with the parameters.
func newPlain(dim int, p POLAParams) *plain.POLA {
	l := plain.NewPOLA(dim)
	l.B, l.Gamma = *p.Resolved().B1, p.Gamma
	return l
}

// gaussianPairs returns n pairs around two centres in dim dimensions, similar
// iff of the same centre, with about half of each label.
func gaussianPairs(rng *rand.Rand, dim, n int, scale float64) []metric.Pair {
	centre := [2][]float64{randn(rng, dim), randn(rng, dim)}
	point := func(k int) []float64 {
		x := randn(rng, dim)
		for i := range x {
			x[i] = scale * (x[i] + centre[k][i]) / math.Sqrt(float64(dim))
		}
		return x
	}
	out := make([]metric.Pair, n)
	for i := range out {
		j, k := rng.IntN(2), rng.IntN(2)
		out[i] = metric.Pair{X: point(j), Y: point(k), Label: metric.SameClass(j == k)}
	}
	return out
}

func randn(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// matrixOf returns A of the learner.
func matrixOf(l *POLA) *mat.SymDense { return l.Metric().M() }

// krylov is POLA with a dense A whose negative eigenpair comes from Lanczos
// started at v: the reference of the benchmarks, and of large dimensions. A is a
// full square, on which products are fastest.
type krylov struct {
	a blas64.General
	b float64
}

func newKrylov(dim int) *krylov {
	return &krylov{a: blas64.General{Rows: dim, Cols: dim, Stride: dim, Data: make([]float64, dim*dim)}, b: 1}
}

func (l *krylov) mul(dst, x []float64) {
	blas64.Gemv(blas.NoTrans, 1, l.a, vector.Of(x), 0, vector.Of(dst))
}

func (l *krylov) step(t testing.TB, f metric.Pair) {
	t.Helper()
	d := len(f.X)
	v := metric.Sub(nil, f.X, f.Y)
	av := make([]float64, d)
	l.mul(av, v)
	y := float64(f.Label)
	loss := y*(vector.Dot(v, av)-l.b) + 1
	if loss <= 0 {
		return
	}
	alpha := loss / (1 + math.Pow(vector.Dot(v, v), 2))
	blas64.Ger(-y*alpha, vector.Of(v), vector.Of(v), l.a)
	l.b = math.Max(1, l.b+y*alpha)
	if y < 0 {
		return
	}
	op := spectral.Func{N: d, Mul: l.mul}
	r := spectral.Smallest(op, 1, spectral.Options{Start: v, StartOnly: true})
	if r.Status == spectral.ProductCap {
		t.Fatalf("reference: %v", r.Status)
	}
	if r.Values[0] < 0 {
		u := vector.Of(r.Vectors.RawRowView(0))
		blas64.Ger(-r.Values[0], u, u, l.a)
	}
}
