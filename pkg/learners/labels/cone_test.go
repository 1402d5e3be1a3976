package labels

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
)

// psd is a random positive definite matrix.
func psd(rng *rand.Rand, r int, scale float64) *mat.SymDense {
	m := mat.NewSymDense(r, nil)
	m.SymOuterK(scale/float64(r), normal(rng, r, r+2))
	return m
}

// checkGradient compares the gradient at m with central differences along random
// symmetric directions.
func checkGradient(t *testing.T, what string, rng *rand.Rand, f convex, m *mat.SymDense) {
	t.Helper()
	// step² is the relative error of a central difference, and ε/step that of round-off.
	const step, tol = 1e-5, 1e-6
	r := m.SymmetricDim()
	g := mat.NewSymDense(r, nil)
	f.value(m)
	f.gradient(g)
	for range 10 {
		e := mat.NewSymDense(r, nil)
		symmetric(e, normal(rng, r, r))
		e.ScaleSym(mat.Norm(m, 2)/mat.Norm(e, 2), e)
		var m1, m2 = mat.NewSymDense(r, nil), mat.NewSymDense(r, nil)
		addScaled(m1, m, step, e)
		addScaled(m2, m, -step, e)
		want := (f.value(m1) - f.value(m2)) / (2 * step)
		if got := inner(g, e); math.Abs(got-want) > tol*mat.Norm(g, 2)*mat.Norm(e, 2) {
			t.Errorf("%s: slope %v, central difference %v", what, got, want)
		}
	}
}

// TestWhitened: coordinates have mean 0 and covariance I, and a metric of theirs is the
// same metric of x.
func TestWhitened(t *testing.T) {
	const tol = 1e-9 // d·ε·κ for κ up to 1e5
	rng := rand.New(rand.NewPCG(52, 1))
	scaled := withConstant(rng, 40) // units that differ by 1e160
	for i := range 40 {
		scaled.Set(i, 0, scaled.At(i, 0)*1e80)
		scaled.Set(i, 2, scaled.At(i, 2)*1e-80)
		scaled.Set(i, 4, scaled.At(i, 3)-2*scaled.At(i, 0)*1e-80)
	}
	for name, c := range map[string]struct {
		x    *mat.Dense
		rank int
	}{"full rank": {stretched(rng, 40, 4), 4}, "singular": {scaled, 3}, "fewer rows": {stretched(rng, 4, 6), 3}} {
		n, d := c.x.Dims()
		w, err := whitened(c.x)
		if err != nil {
			t.Fatal(err)
		}
		cov, mean := covariance(w.z, upTo(n))
		if _, r := w.z.Dims(); r != c.rank || !mat.EqualApprox(cov, identity(r), tol) || mat.Norm(mean, 2) > tol {
			t.Fatalf("%s: rank %d, want %d; covariance %v", name, r, c.rank, mat.Formatted(cov))
		}
		w.turn(normal(rng, c.rank, c.rank))
		in := psd(rng, c.rank, 1)
		m, kept, err := w.metric(in)
		if err != nil {
			t.Fatal(err)
		}
		if m.Dim() != d || !mat.EqualApprox(in, kept, 1e-12*mat.Norm(in, 2)) {
			t.Errorf("%s: dimension %d, or another metric", name, m.Dim())
		}
		for i := range n {
			var v mat.VecDense
			v.SubVec(w.z.RowView(i), w.z.RowView(0))
			got, want := m.SqDist(c.x.RawRowView(i), c.x.RawRowView(0)), mat.Inner(&v, in, &v)
			if math.Abs(got-want) > tol*max(want, 1) {
				t.Errorf("%s: row %d: %v, want %v", name, i, got, want)
			}
		}
		if zero, _, err := w.metric(mat.NewSymDense(c.rank, nil)); err != nil || zero.Rows() != 0 || zero.Dim() != d {
			t.Errorf("%s: the zero matrix has %v, error %v", name, zero, err)
		}
	}
}

// quadratic is ½‖M − A‖², whose minimum is the projection of A on the cone.
type quadratic struct{ a, at *mat.SymDense }

func (q *quadratic) value(m *mat.SymDense) float64 {
	q.at = mat.NewSymDense(m.SymmetricDim(), nil)
	addScaled(q.at, m, -1, q.a)
	return inner(q.at, q.at) / 2
}
func (q *quadratic) gradient(g *mat.SymDense) { g.CopySym(q.at) }

// TestDescent finds the projection of an indefinite matrix, and then another one.
func TestDescent(t *testing.T) {
	const tol = 1e-7 // the root of the round-off of the value
	rng := rand.New(rand.NewPCG(52, 2))
	for _, start := range []float64{0, 1, 1e6} {
		a := mat.NewSymDense(6, nil)
		symmetric(a, normal(rng, 6, 6))
		q := &quadratic{a: a}
		d := newDescent(q, scaledIdentity(6, start))
		for range 2 {
			for range 200 {
				if moved, err := d.iterate(); err != nil {
					t.Fatal(err)
				} else if !moved {
					break
				}
			}
			want, _, err := metric.ProjectPSD(q.a)
			if err != nil {
				t.Fatal(err)
			}
			if !mat.EqualApprox(d.m, want, tol) {
				t.Errorf("start %g: got %v, want %v", start, mat.Formatted(d.m), mat.Formatted(want))
			}
			q.a.ScaleSym(-1, q.a)
			d.renew()
		}
	}
}

// TestWeightsOverflow: of rows so close together that entries of M are beyond float64, by any learner here.
func TestWeightsOverflow(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 3))
	x, y := overlapping(rng, 30, 4, 3, 1)
	for _, scale := range []float64{1e-157, 1e-170, 1e-300} {
		var near mat.Dense
		near.Scale(scale, x)
		_, lmnn := FitLMNN(context.Background(), &near, y, LMNNParams{})
		_, mcml := FitMCML(context.Background(), &near, y, MCMLParams{})
		_, invcov := FitInvCov(t.Context(), &near, InvCovParams{})
		_, ridge := FitInvCov(t.Context(), &near, InvCovParams{Ridge: 0.1})
		_, start := ITMLStart(t.Context(), &near, InvCovParams{})
		for name, err := range map[string]error{"lmnn": lmnn, "mcml": mcml, "invcov": invcov, "invcov with a ridge": ridge, "start": start} {
			if err == nil || !strings.Contains(err.Error(), "weights overflow float64: rescale the features") {
				t.Errorf("scale %g: %s: error %v", scale, name, err)
			}
		}
	}
	var near mat.Dense
	near.Scale(1e-150, x) // M is some 1e300
	if _, err := FitInvCov(t.Context(), &near, InvCovParams{}); err != nil {
		t.Error(err)
	}
}

// Products in parts have the bits of whole ones, with fewer rows than a part and with more, and with
// columns for gonum and for package product.
func TestProductsInParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 3))
	for _, n := range []int{1, 63, 200, productRows, productRows + 1, 2*productRows + 100} {
		for _, d := range []int{1, 5, 64, 70, 130} {
			dense := func(n, d int) *mat.Dense {
				x := mat.NewDense(n, d, nil)
				for i := range n {
					for j := range d {
						x.Set(i, j, rng.NormFloat64())
					}
				}
				return x
			}
			a, b := dense(n, d), dense(n, d)
			if !mat.Equal(mulTrans(t.Context(), a, b), matrix.Mul(a.T(), b)) {
				t.Errorf("n = %d, d = %d: another product of a transpose", n, d)
			}
		}
	}
}
