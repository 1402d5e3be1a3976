package pairs

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/internal/product"
	"metriclab/internal/vector"
	"metriclab/pkg/metric"
)

// whole returns UCUᵀ.
func whole(f *form) mat.Matrix {
	c := unpack(f.c, f.n)
	if f.full() {
		return c
	}
	ut := mat.NewDense(f.n, f.dim, f.u)
	var a mat.Dense
	a.Product(ut.T(), c, ut)
	return &a
}

// orthogonality returns ‖UᵀU − I‖.
func orthogonality(f *form) float64 {
	if f.n == 0 {
		return 0
	}
	ut := mat.NewDense(f.n, f.dim, f.u)
	var g mat.Dense
	g.Mul(ut, ut.T())
	for i := range f.n {
		g.Set(i, i, g.At(i, i)-1)
	}
	return mat.Norm(&g, 2)
}

// On generic data the order of the core is the number of dissimilar updates:
// similar ones never raise it. U stays orthonormal; sqNorm, look and the
// snapshot agree.
func TestOrderCountsDissimilarUpdates(t *testing.T) {
	const dim = 120
	l := mustPOLA(t, dim, POLAParams{})
	f := l.e.a
	dissimilar, similar := 0, 0
	for i, p := range randomLabels(rand.New(rand.NewPCG(25, 1)), dim, 180) {
		switch o := mustStep(t, l, p); {
		case o.StepSize < 0:
			dissimilar++
		case o.StepSize > 0:
			similar++
		}
		if f.n != dissimilar {
			t.Fatalf("round %d: order %d after %d dissimilar updates", i, f.n, dissimilar)
		}
		if d := orthogonality(f); d > 1e-12 {
			t.Fatalf("round %d: ‖UᵀU − I‖ = %v", i, d)
		}
		v := metric.Sub(nil, p.X, p.Y)
		if a, b := f.sqNorm(v), f.look(v); math.Float64bits(a) != math.Float64bits(b) {
			t.Fatalf("round %d: sqNorm %v, look %v", i, a, b)
		}
	}
	if similar < 20 {
		t.Errorf("only %d similar updates", similar)
	}
	if d := matrixtest.Distance(whole(f), f.metric().M()); d > 1e-13*mat.Norm(whole(f), 2) {
		t.Errorf("the snapshot is off by %v", d)
	}
}

func TestDensifyKeepsA(t *testing.T) {
	f := newForm(50)
	rng := rand.New(rand.NewPCG(26, 1))
	for range 20 {
		v := randn(rng, 50)
		f.look(v)
		f.add(v, vector.Dot(v, v), 0.1)
	}
	before := mat.DenseCopyOf(whole(f))
	f.densify()
	if !f.full() || f.u != nil {
		t.Errorf("order %d, basis of %d numbers", f.n, len(f.u))
	}
	if d := matrixtest.Distance(before, whole(f)); d > 1e-13*mat.Norm(before, 2) {
		t.Errorf("A changed by %v", d)
	}
}

// A basis that has drifted is made orthonormal, and A changes no more than the
// basis did.
func TestOrthonormalise(t *testing.T) {
	const drift = 1e-9
	f := newForm(50)
	rng := rand.New(rand.NewPCG(27, 1))
	for range 20 {
		v := randn(rng, 50)
		f.look(v)
		f.add(v, vector.Dot(v, v), 0.1)
	}
	before := mat.DenseCopyOf(whole(f))
	for i := range f.u {
		f.u[i] += drift * rng.NormFloat64()
	}
	f.turns = 99
	f.orthonormalise()
	if d := orthogonality(f); d > 1e-13 || f.turns != 0 {
		t.Errorf("‖UᵀU − I‖ = %v, turns = %d", d, f.turns)
	}
	// ‖ΔU‖ ≤ drift·√(50·20) or so, and A takes it twice.
	if d := matrixtest.Distance(before, whole(f)); d > 10*drift*math.Sqrt(1000)*mat.Norm(before, 2) {
		t.Errorf("A changed by %v", d)
	}
}

// Thousands of reflections at a constant order leave U orthonormal: A ← A + vvᵀ
// inside the range, then − vvᵀ + noise outside it.
func TestManyReflections(t *testing.T) {
	n := 3 * turnsPerQR / 2
	f := newForm(60)
	rng := rand.New(rand.NewPCG(28, 1))
	for range 5 {
		v := randn(rng, 60)
		f.look(v)
		f.add(v, vector.Dot(v, v), 0.1)
	}
	reflections := 0
	for range n {
		inside := make([]float64, 60)
		for i := range 5 {
			product.AddScaled(inside, rng.NormFloat64(), f.col(i))
		}
		f.look(inside)
		f.add(inside, vector.Dot(inside, inside), 0.1)
		v := randn(rng, 60)
		f.look(v)
		reflections += f.add(v, vector.Dot(v, v), -0.01)
	}
	if f.n != 5 || reflections != n {
		t.Errorf("order %d after %d reflections, want 5 after %d", f.n, reflections, n)
	}
	if f.turns >= turnsPerQR || f.turns == n {
		t.Errorf("turns = %d: never orthonormalised", f.turns)
	}
	if d := orthogonality(f); d > 1e-11 {
		t.Errorf("‖UᵀU − I‖ = %v", d)
	}
}

// v just outside the range of U: the part that counts is kept, the rest is
// round-off, and U stays orthonormal.
func TestNearlyInside(t *testing.T) {
	for _, out := range []float64{1e-2, 1e-6, 1e-10, 1e-13, 1e-17, 0} {
		f := newForm(50)
		rng := rand.New(rand.NewPCG(29, 1))
		want := mat.NewSymDense(50, nil)
		for i := range 10 {
			v := randn(rng, 50)
			if i == 9 { // the sum of two earlier columns, and a little more
				v = append([]float64(nil), f.col(0)...)
				product.AddScaled(v, 1, f.col(3))
				product.AddScaled(v, out, randn(rng, 50))
			}
			f.look(v)
			f.add(v, vector.Dot(v, v), 1)
			want.SymRankOne(want, 1, mat.NewVecDense(50, v))
		}
		if order := 9; out >= 1e-10 && f.n != order+1 || out <= 1e-17 && f.n != order {
			t.Errorf("remainder %g: order %d", out, f.n)
		}
		if d := matrixtest.Distance(whole(f), want); d > 1e-13*mat.Norm(want, 2) {
			t.Errorf("remainder %g: A is off by %v", out, d)
		}
		if d := orthogonality(f); d > 1e-13 {
			t.Errorf("remainder %g: ‖UᵀU − I‖ = %v", out, d)
		}
	}
}

// fewPoints returns rounds over all pairs of n points in dim dimensions with
// random labels: differences of rank n − 1 < dim, so that once U spans them every
// further v lies in its range up to round-off.
func fewPoints(rng *rand.Rand, dim, n, rounds int) []metric.Pair {
	points := make([][]float64, n)
	class := make([]int, n)
	for i := range points {
		points[i], class[i] = randn(rng, dim), rng.IntN(2)
		for j := range points[i] {
			points[i][j] /= math.Sqrt(float64(dim))
		}
	}
	out := make([]metric.Pair, rounds)
	for k := range out {
		i := rng.IntN(n)
		j := (i + 1 + rng.IntN(n-1)) % n
		out[k] = metric.Pair{X: points[i], Y: points[j], Label: metric.SameClass(class[i] == class[j])}
	}
	return out
}

// Once U spans the data, remainders are round-off, whose direction need not be
// orthogonal to U: U must stay orthonormal and A that of the dense reference, over
// long streams. (The order may exceed the rank of the data by a few: a column from
// a short remainder carries its round-off, ε over that length.)
func TestRankDeficientStreams(t *testing.T) {
	for _, c := range []struct{ dim, points, rounds int }{{40, 12, 4000}, {48, 20, 4000}, {64, 40, 3000}} {
		if testing.Short() {
			c.rounds /= 4
		}
		rng := rand.New(rand.NewPCG(31, uint64(c.dim)))
		l, ref := mustPOLA(t, c.dim, POLAParams{}), newPlain(c.dim, POLAParams{})
		for i, f := range fewPoints(rng, c.dim, c.points, c.rounds) {
			mustStep(t, l, f)
			ref.Step(f)
			if d := orthogonality(l.e.a); d > 1e-12 { // some 1e-15 per reflection
				t.Fatalf("dim %d, %d points, round %d: ‖UᵀU − I‖ = %v", c.dim, c.points, i, d)
			}
		}
		if d := matrixtest.Distance(matrixOf(l), ref.A); d > agreeTol*mat.Norm(ref.A, 2) {
			t.Errorf("dim %d, %d points: ‖A − reference‖ = %v, ‖A‖ = %v", c.dim, c.points, d, mat.Norm(ref.A, 2))
		}
	}
}

// A basis that has lost orthonormality is noticed and mended by the next update.
func TestSpoiltBasisIsMended(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	f := newForm(60)
	step := func(c float64) {
		v := randn(rng, 60)
		f.look(v)
		f.add(v, vector.Dot(v, v), c)
	}
	for range 8 {
		step(1)
	}
	product.AddScaled(f.col(2), 1e-9, f.col(5))
	if d := orthogonality(f); d < 1e-10 {
		t.Fatalf("the basis is not spoilt: %v", d)
	}
	step(1)
	if d := orthogonality(f); d > 1e-13 {
		t.Errorf("‖UᵀU − I‖ = %v after an update", d)
	}
}
