package triplets

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

const embedTol = 1e-12 // n·ε times the norm

// TestEmbed: XXᵀ is K without its eigenvalues from d on, and those below 0.
func TestEmbed(t *testing.T) {
	const n = 9
	rng := rand.New(rand.NewPCG(23, 1))
	values := []float64{-0.5, 0, 0, 0.5, 1, 2, 3, 4, 5}
	k := withSpectrum(rng, values, true)
	for d := 1; d <= n; d++ {
		x := Embed(k, d)
		var outer mat.SymDense
		outer.SymOuterK(1, x)
		var rest mat.SymDense
		rest.ScaleSym(-1, &outer)
		rest.AddSym(&rest, k)
		want := 0.0 // ‖K − XXᵀ‖² of the best X
		for i, v := range values {
			if i < n-d || v < 0 {
				want += v * v
			}
		}
		if got := mat.Norm(&rest, 2); math.Abs(got-math.Sqrt(want)) > embedTol {
			t.Errorf("d = %d: distance %v, want %v", d, got, math.Sqrt(want))
		}
		for j := range d {
			col := mat.Col(nil, j, x)
			top := 0.0
			for _, v := range col {
				if math.Abs(v) > math.Abs(top) {
					top = v
				}
			}
			if size := mat.Norm(x.ColView(j), 2); top < 0 || math.Abs(size*size-max(0, values[n-1-j])) > embedTol {
				t.Errorf("d = %d: column %d has squared length %v and the largest entry %v", d, j, size*size, top)
			}
		}
	}
}

// TestBatchIsCentred: the rows of a kernel fitted with a price on the trace sum to 0, as the
// documentation of Embed says; those of ERKLE need not.
func TestBatchIsCentred(t *testing.T) {
	const n = 8
	rng := rand.New(rand.NewPCG(23, 2))
	l, err := NewERKLE(n, ERKLEParams{})
	if err != nil {
		t.Fatal(err)
	}
	var answers []metric.Triplet
	for range 100 {
		o := rng.Perm(n)
		answers = append(answers, metric.Triplet{A: o[0], Near: min(o[1], o[2]), Far: max(o[1], o[2])})
		if _, err := l.Step(answers[len(answers)-1]); err != nil {
			t.Fatal(err)
		}
	}
	fit, err := FitBatch(t.Context(), n, answers, BatchParams{Tau: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	largest := func(k mat.Symmetric) float64 {
		var sums mat.VecDense
		sums.MulVec(k, mat.NewVecDense(n, slices.Repeat([]float64{1}, n)))
		return mat.Norm(&sums, math.Inf(1)) / mat.Trace(k)
	}
	if got := largest(fit.Kernel); got > 1e-9 {
		t.Errorf("batch: a row sums to %v of the trace, want 0", got)
	}
	if got := largest(l.Kernel()); got < 0.01 {
		t.Errorf("ERKLE: rows sum to at most %v of the trace: say so in the documentation of Embed", got)
	}
}

// TestProcrustes: invariant to what it fits away, symmetric, and in the plane the least over a fine
// grid of rotations and reflections.
func TestProcrustes(t *testing.T) {
	const n = 12
	rng := rand.New(rand.NewPCG(24, 1))
	draw := func(n, d int) *mat.Dense {
		x := mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		return x
	}
	x, y := draw(n, 2), draw(n, 2)
	got := Procrustes(x, y)
	if back := Procrustes(y, x); math.Abs(got-back) > embedTol {
		t.Errorf("%v one way and %v the other", got, back)
	}
	if self := Procrustes(x, x); self > embedTol {
		t.Errorf("distance to itself %v", self)
	}

	var qr mat.QR
	qr.Factorize(draw(2, 2))
	var q, moved mat.Dense
	qr.QTo(&q)
	moved.Mul(y, &q)
	moved.Scale(-7, &moved)
	for i := range n {
		moved.Set(i, 0, moved.At(i, 0)+3)
	}
	if same := Procrustes(x, &moved); math.Abs(same-got) > embedTol {
		t.Errorf("%v, and %v after moving, turning and scaling", got, same)
	}
	wide := mat.NewDense(n, 3, nil)
	wide.Slice(0, n, 0, 2).(*mat.Dense).Copy(y)
	if same := Procrustes(x, wide); math.Abs(same-got) > embedTol {
		t.Errorf("%v, and %v with a column of zeros", got, same)
	}

	a, _ := centred(x)
	b, _ := centred(y)
	least := math.Inf(1)
	for _, mirror := range []float64{1, -1} {
		for step := range 20000 {
			c, s := math.Cos(2*math.Pi*float64(step)/20000), math.Sin(2*math.Pi*float64(step)/20000)
			var turned mat.Dense
			turned.Mul(b, mat.NewDense(2, 2, []float64{c, s, -s * mirror, c * mirror}))
			// ‖a − s·turned‖² is least at s = ⟨a, turned⟩: both have norm 1.
			var inner float64
			for i := range n {
				for j := range 2 {
					inner += a.At(i, j) * turned.At(i, j)
				}
			}
			least = min(least, 1-inner*inner)
		}
	}
	if math.Abs(got-least) > 1e-6 { // of the grid
		t.Errorf("%v, by trying %v", got, least)
	}

	point := mat.NewDense(n, 2, nil)
	if d := Procrustes(point, point); d != 0 {
		t.Errorf("distance of two points %v", d)
	}
	if d := Procrustes(x, point); d != 1 {
		t.Errorf("distance from a point %v", d)
	}
	// Centring leaves round-off of a point that is not the origin.
	for i := range n {
		point.SetRow(i, []float64{0.1, -1e9 / 3})
	}
	if _, norm := centred(point); norm != 0 {
		t.Errorf("norm %v of a point", norm)
	}
	if d := Procrustes(point, mat.NewDense(n, 2, nil)); d != 0 {
		t.Errorf("distance of two points %v", d)
	}
	if d := Procrustes(x, point); d != 1 {
		t.Errorf("distance from a point %v", d)
	}
}
