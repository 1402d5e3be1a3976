package triplets

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// The proximal step in the factored form is the one by full eigendecompositions, with the rank falling to
// that of a few directions and rising again, with full bases and cores above and below lanczosOrder.
func TestTraceIsTheFullProximalStep(t *testing.T) {
	const tol = 1e-9 // entries are of the order of 1; 600 steps of round-off, or of Lanczos with residuals of 1e-13
	for _, c := range []struct {
		n, rounds int
		p         ERKLEParams
	}{
		{9, 600, ERKLEParams{Trace: 0.05}},
		{9, 600, ERKLEParams{Trace: 0.5, Gradient: GradientFrobenius}},
		{9, 600, ERKLEParams{Trace: 0.1, Step: StepInverseSqrt, Loss: STE}},
		{9, 300, ERKLEParams{Trace: 0.9, Step: StepConstant}}, // the kernel is 0 at first
		{9, 300, ERKLEParams{Trace: 0.2, Initial: mat.NewSymDense(9, nil)}},
		{lanczosOrder + 10, 40, ERKLEParams{Trace: 0.5, Step: StepConstant, Delta: 0.5}},
	} {
		r := rand.New(rand.NewPCG(3, 4))
		l := must(NewERKLE(c.n, c.p))
		c.p.Projection = ProjectDense
		want := must(NewERKLE(c.n, c.p))
		ranks := map[int]bool{}
		for i := range c.rounds {
			f := randomTriplet(r, c.n)
			o, err := l.Step(f)
			if err != nil {
				t.Fatal(err)
			}
			if c.n < 10 { // what falls below 0 by the penalty alone is not projected
				var k mat.SymDense
				k.ScaleSym(-o.StepSize, gradientMatrix(c.n, f, c.p.Gradient))
				k.AddSym(&k, want.Kernel())
				least := decompose(c.n, mat.DenseCopyOf(&k).RawMatrix().Data).Values(nil)[0]
				if math.Abs(least) > tol && o.Projections != map[bool]int{true: 1}[least < 0] {
					t.Fatalf("%+v: round %d: %d projections, smallest eigenvalue %v", c.p, i, o.Projections, least)
				}
			}
			if _, err := want.Step(f); err != nil {
				t.Fatal(err)
			}
			ranks[l.k.(*factored).r] = true
			if i%37 != 0 && i != c.rounds-1 {
				continue
			}
			if got, want := l.Kernel(), want.Kernel(); !mat.EqualApprox(got, want, tol) {
				t.Fatalf("%+v: round %d: kernel %v, want %v", c.p, i, mat.Formatted(got), mat.Formatted(want))
			}
		}
		if len(ranks) < 3 {
			t.Errorf("%+v: ranks %v, want more than two", c.p, ranks)
		}
		if got := orthonormality(l.k.(*factored)); got > 1e-12 {
			t.Errorf("%+v: QᵀQ differs from I by %v", c.p, got)
		}
	}
}

// orthonormality returns the largest entry of |QᵀQ − I|.
func orthonormality(k *factored) float64 {
	var worst float64
	for i, x := range k.q {
		for j, y := range k.q {
			var sum float64
			for o := range x {
				sum += x[o] * y[o]
			}
			if i == j {
				sum--
			}
			worst = max(worst, math.Abs(sum))
		}
	}
	return worst
}

// Lowering the eigenvalues before the projection is the same as after it.
func TestShrinkAndProjectionCommute(t *testing.T) {
	const n, x = 6, 0.3
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		f := randomTriplet(r, n)
		k := newDense(n, nil, false, 1)
		gamma := r.Float64()
		k.addShrink(f, gamma, GradientPrinted, x)
		var step, want mat.SymDense
		step.ScaleSym(-gamma, gradientMatrix(n, f, GradientPrinted))
		want.AddSym(&step, scaledIdentity(n, 1-x))
		projected, _, err := metric.ProjectPSD(&want)
		if err != nil || !mat.EqualApprox(k.kernel(), projected, 1e-13) {
			t.Fatalf("%v with γ = %v: got %v, want %v (error %v)", f, gamma, k.kernel(), projected, err)
		}
	}
}

func scaledIdentity(n int, x float64) *mat.SymDense {
	m := mat.NewSymDense(n, nil)
	for i := range n {
		m.SetSym(i, i, x)
	}
	return m
}
