package pairs

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// dense is POLA as printed, with b ← max(b, 1) after every update: a dense A
// and a full eigendecomposition after every update.
type dense struct {
	a        *mat.SymDense
	b, gamma float64
	negative int // eigenvalues below −1e-12·‖A‖ that the last update removed
}

func newDense(dim int, b1, gamma float64) *dense {
	return &dense{a: mat.NewSymDense(dim, nil), b: b1, gamma: gamma}
}

// step returns loss and y·α.
func (l *dense) step(t testing.TB, f metric.Pair) (loss, size float64) {
	t.Helper()
	v := mat.NewVecDense(len(f.X), metric.Sub(nil, f.X, f.Y))
	y := float64(f.Label)
	l.negative = 0
	loss = math.Max(0, y*(mat.Inner(v, l.a, v)-l.b)+1)
	if loss == 0 {
		return 0, 0
	}
	alpha := loss / (1 + math.Pow(mat.Dot(v, v), 2) + l.gamma)
	l.a.SymRankOne(l.a, -y*alpha, v)
	l.b = math.Max(1, l.b+y*alpha)
	if y > 0 {
		var eig mat.EigenSym
		if !eig.Factorize(l.a, true) {
			t.Fatal("reference: no eigendecomposition")
		}
		values := eig.Values(nil)
		for _, s := range values {
			if s < -1e-12*(mat.Norm(l.a, 2)+alpha*mat.Dot(v, v)) {
				l.negative++
			}
		}
		p, _, err := metric.ProjectPSD(l.a)
		if err != nil {
			t.Fatal(err)
		}
		l.a = p
	}
	return loss, y * alpha
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

// matrix returns A of the learner.
func matrix(l *POLA) *mat.SymDense { return l.Metric().M() }

// diff returns ‖a − b‖_F.
func diff(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return mat.Norm(&d, 2)
}

func TestQuick(t *testing.T) {
	for _, d := range []int{1, 2, 5, 10, 33, 40, 60, 100} {
		rng := rand.New(rand.NewPCG(1, uint64(d)))
		l, _ := NewPOLA(d, POLAParams{})
		ref := newDense(d, 1, 0)
		neg := 0
		for i, f := range gaussianPairs(rng, d, 400, 1) {
			o, err := l.Step(f)
			if err != nil {
				t.Fatal(err)
			}
			loss, size := ref.step(t, f)
			neg += o.Projections
			if math.Abs(loss-o.Loss) > 1e-9 || math.Abs(size-o.StepSize) > 1e-9 || o.Projections != ref.negative {
				t.Fatalf("dim %d step %d: loss %g %g size %g %g neg %d %d n=%d", d, i, loss, o.Loss, size, o.StepSize, o.Projections, ref.negative, l.e.a.n)
			}
		}
		t.Logf("dim %d: n %d neg %d diff %g of %g, b %g; res seen %d age %d shift %g", d, l.e.a.n, neg, diff(matrix(l), ref.a), mat.Norm(ref.a, 2), l.Threshold()-ref.b, l.e.a.res.seen, l.e.a.res.age, l.e.a.res.shift)
	}
}
