package triplets

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// randomTriplet draws a triplet of three of n ≥ 3 objects.
func randomTriplet(r *rand.Rand, n int) metric.Triplet {
	p := r.Perm(n)
	return metric.Triplet{A: p[0], Near: p[1], Far: p[2]}
}

// gradientMatrix is G, entry by entry as in Eq. 4.10, or the Frobenius one.
func gradientMatrix(n int, t metric.Triplet, g Gradient) *mat.SymDense {
	m := mat.NewSymDense(n, nil)
	off := 2.0
	if g == Frobenius {
		off = 1
	}
	m.SetSym(t.A, t.Near, -off)
	m.SetSym(t.A, t.Far, off)
	m.SetSym(t.Near, t.Near, 1)
	m.SetSym(t.Far, t.Far, -1)
	return m
}

// Theorem 4.1: a step is the projection of K − γG by a full eigendecomposition, of
// which at most one eigenvalue is negative.
func TestStepIsTheFullProjection(t *testing.T) {
	const tol = 1e-10 // entries are of the order of 1
	for _, p := range []ERKLEParams{{}, {Gradient: Frobenius}, {Projection: PrintedRule}, {Projection: Dense}, {Loss: STE, Step: Constant, Delta: 0.4}} {
		const n = 8
		r := rand.New(rand.NewPCG(1, 2))
		l, err := NewERKLE(n, p)
		if err != nil {
			t.Fatal(err)
		}
		projections := 0
		for i := range 400 {
			f := randomTriplet(r, n)
			before := l.Kernel()
			o, err := l.Step(f)
			if err != nil {
				t.Fatal(err)
			}
			var step, want mat.SymDense
			step.ScaleSym(-o.StepSize, gradientMatrix(n, f, p.Gradient))
			want.AddSym(before, &step)
			var e mat.EigenSym
			if !e.Factorize(&want, false) || e.Values(nil)[1] < -tol {
				t.Fatalf("%+v: step %d: eigenvalues %v, want at most one negative", p, i, e.Values(nil))
			}
			projected, _, err := metric.ProjectPSD(&want)
			if err != nil {
				t.Fatal(err)
			}
			projections += o.Projections
			if got := l.Kernel(); !mat.EqualApprox(got, projected, tol) {
				t.Fatalf("%+v: step %d: kernel is not the projection", p, i)
			}
		}
		if projections == 0 || math.IsNaN(l.Loss(metric.Triplet{A: 0, Near: 1, Far: 2})) {
			t.Errorf("%+v: no projection", p)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
