package triplets

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

func squaredGap(a, b mat.Symmetric) (sum float64) {
	for i := range a.SymmetricDim() {
		for j := range a.SymmetricDim() {
			d := a.At(i, j) - b.At(i, j)
			sum += d * d
		}
	}
	return sum
}

// The projected step is the nearest kernel with D ≤ −κ: the angle at it between K and any other such kernel is not acute. PA's step is
// the same where nothing is projected, and else too short.
func TestProjectedStepIsTheNearestKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 6
	same, longer := 0, 0
	for try := range 60 {
		k := wishart(rng, n, 2+try%5) // singular ones, too
		x := randomTriplet(rng, n)
		kappa := .1 + rng.Float64()
		gamma, next, err := ProjectedStep(k, x, kappa)
		if err != nil {
			t.Fatal(err)
		}
		d := differenceOf(k, x)
		if d <= -kappa {
			if gamma != 0 || squaredGap(k, next) != 0 {
				t.Errorf("a satisfied triplet: a step of %v", gamma)
			}
			continue
		}
		// The tolerance of the bisection.
		if got := differenceOf(next, x); math.Abs(got+kappa) > 2e-9*max(kappa, d+kappa) {
			t.Errorf("D is %v after the step, want %v", got, -kappa)
		}
		plain := (d + kappa) / 6
		l := must(NewERKLE(n, ERKLEParams{Gradient: GradientFrobenius, Margin: kappa, Initial: k, Projection: ProjectDense}))
		must(l.Step(x))
		switch {
		case l.Stats().Projected == 0:
			same++
			if math.Abs(gamma-plain) > 1e-12*plain {
				t.Errorf("nothing projected: a step of %v, want PA's %v", gamma, plain)
			}
		default:
			longer++
			if gamma < plain {
				t.Errorf("a step of %v, want at least PA's %v", gamma, plain)
			}
			if after := differenceOf(l.Kernel(), x); after < -kappa-1e-9*max(1, d+kappa) {
				t.Errorf("PA's step leaves D = %v, which is below %v", after, -kappa)
			}
		}
		for range 20 {
			other := wishart(rng, n, n)
			if differenceOf(other, x) > -kappa {
				x0 := metric.Triplet{A: x.A, Near: x.Far, Far: x.Near}
				if differenceOf(other, x0) > -kappa {
					continue
				}
				other = swapped(other, x.Near, x.Far)
			}
			var inner, size float64
			for i := range n {
				for j := range n {
					inner += (k.At(i, j) - next.At(i, j)) * (other.At(i, j) - next.At(i, j))
					size += math.Abs(k.At(i, j)-next.At(i, j)) * math.Abs(other.At(i, j)-next.At(i, j))
				}
			}
			// Round-off, and the tolerance in D times γ.
			if inner > 1e-9*size+3e-9*gamma*max(kappa, d+kappa) {
				t.Errorf("a kernel that satisfies the triplet is on the side of K: %v of %v", inner, size)
			}
		}
	}
	if same == 0 || longer == 0 {
		t.Errorf("%d steps without and %d with a projection, want both", same, longer)
	}
}

// swapped returns k with two objects exchanged.
func swapped(k *mat.SymDense, p, q int) *mat.SymDense {
	id := func(i int) int {
		switch i {
		case p:
			return q
		case q:
			return p
		}
		return i
	}
	n := k.SymmetricDim()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, k.At(id(i), id(j)))
		}
	}
	return out
}

func TestProjectedStepRefuses(t *testing.T) {
	good := metric.Triplet{A: 0, Near: 1, Far: 2}
	eye := mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	for name, c := range map[string]struct {
		k     *mat.SymDense
		t     metric.Triplet
		kappa float64
	}{
		"kappa 0":      {eye, good, 0},
		"kappa NaN":    {eye, good, math.NaN()},
		"same objects": {eye, metric.Triplet{A: 0, Near: 1, Far: 1}, 1},
		"indefinite":   {mat.NewSymDense(3, []float64{-1, 0, 0, 0, 1, 0, 0, 0, 1}), good, 1},
		"NaN":          {mat.NewSymDense(3, []float64{math.NaN(), 0, 0, 0, 1, 0, 0, 0, 1}), good, 1},
	} {
		if _, _, err := ProjectedStep(c.k, c.t, c.kappa); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
