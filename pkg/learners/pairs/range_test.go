package pairs

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/vector"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// A form follows the unit of its vectors and that of its matrix: with v·2^j and
// c·2^(k−2j) in place of v and c, A becomes A·2^k. Powers of two round nothing, so that a
// small form has the same bits; a large one, which iterates from other shifts, is equal
// within the tolerance of its solver.
func TestFormFollowsUnits(t *testing.T) {
	for _, c := range []struct {
		dim, rounds int
		tol         float64
	}{{1, 60, 0}, {3, 200, 0}, {12, 200, 0}, {20, 60, 1e-9}} {
		for _, k := range []int{-960, -700, -402, -398, -100, 0, 100, 398, 402, 700, 900} {
			for _, j := range []int{-400, 0, 400} {
				if k-2*j > 1000 || k-2*j < -1000 {
					continue
				}
				rng := rand.New(rand.NewPCG(uint64(c.dim), 11))
				f, g := newForm(c.dim), newForm(c.dim)
				removed := 0
				for round := range c.rounds {
					v := randn(rng, c.dim)
					if round%7 == 3 { // mostly along one axis
						v[0] *= 100
					}
					size := rng.NormFloat64() / vector.Dot(v, v)
					u := times2(v, j)
					q, r := f.look(v), g.look(u)
					if want := math.Ldexp(q, k+2*j); c.tol == 0 && want > leastNormal && r != want {
						t.Fatalf("dim %d, A·2^%d, v·2^%d, round %d: vᵀAv = %v, want %v", c.dim, k, j, round, r, want)
					}
					m, n := f.add(v, vector.Dot(v, v), size), g.add(u, vector.Dot(u, u), math.Ldexp(size, k-2*j))
					removed += m
					a, b := f.matrix(), mat.NewSymDense(c.dim, times2(g.matrix().RawSymmetric().Data, -k))
					var off mat.Dense
					off.Sub(a, b)
					if d := mat.Norm(&off, 2); m != n || !(d <= c.tol*mat.Norm(a, 2)) {
						t.Fatalf("dim %d, A·2^%d, v·2^%d, round %d: %d and %d eigenvalues removed, A off by %v", c.dim, k, j, round, m, n, d)
					}
				}
				if removed < 3 {
					t.Errorf("dim %d: %d projections only", c.dim, removed)
				}
			}
		}
	}
}

// A start threshold of any finite size gives steps or errors, and a matrix of numbers: a
// snapshot never factorises a core without a positive entry on its diagonal.
func TestHugeThresholds(t *testing.T) {
	for _, b := range []float64{1e60, 1e170, 1e289, 1e300, math.MaxFloat64} {
		for _, dim := range []int{1, 3, 20} {
			refused := 0
			for _, sign := range []float64{1, -1} {
				pola := mustPOLA(t, dim, POLAParams{})
				pa, err := NewPA(dim, PAParams{Rule: PALS})
				if err != nil {
					t.Fatal(err)
				}
				pola.e.b, pa.e.b = sign*b, sign*b // whatever range the parameters have
				for _, p := range randomLabels(rand.New(rand.NewPCG(7, 1)), dim, 60) {
					for _, l := range []learners.PairMetric{pola, pa} {
						if _, err := l.Step(p); err != nil {
							refused++
							if !strings.Contains(err.Error(), "want at most 1e+290") && !strings.Contains(err.Error(), "want a finite number") {
								t.Errorf("threshold %v: error %v", sign*b, err)
							}
						}
						for _, a := range l.Metric().M().RawSymmetric().Data {
							if math.IsNaN(a) || math.IsInf(a, 0) {
								t.Fatalf("threshold %v, dim %d: entry %v", sign*b, dim, a)
							}
						}
					}
				}
			}
			if (refused > 0) != (b > mostGrowth) {
				t.Errorf("threshold ±%v, dim %d: %d steps refused", b, dim, refused)
			}
		}
	}
}

// RecurringPA has finite squared distances after any steps on features of any size, or
// refuses and changes nothing, on the pairs that PA refuses. From a threshold that
// overflows the two differ: only RecurringPA keeps the distances of all pairs finite.
func TestRecurringAtAllScales(t *testing.T) {
	for _, rule := range []PARule{PlainPA, PAI, PAII, PALS} {
		for _, b := range []float64{0, 1e170, math.MaxFloat64} {
			for _, s := range []float64{1e-150, 1e-76, 1e-50, 1, 1e50, 1e70, 1e76, 1e150} {
				rng := rand.New(rand.NewPCG(3, 5))
				x := mat.NewDense(12, 4, randn(rng, 48))
				x.Scale(s, x)
				var links []metric.Link
				for i := range 11 {
					links = append(links, metric.Link{I: i, J: i + 1, Label: metric.SameClass(i%3 != 0)})
				}
				r, err := NewRecurring(x, links)
				if err != nil {
					if s < 1e76 || !strings.Contains(err.Error(), "want a finite number") {
						t.Errorf("scale %g: %v", s, err)
					}
					continue
				}
				p := PAParams{Rule: rule, PSD: PSDAtEnd}
				l, err := NewRecurringPA(r, p)
				if err != nil {
					t.Fatal(err)
				}
				plain, err := NewPA(4, p)
				if err != nil {
					t.Fatal(err)
				}
				l.e.b, plain.e.b = b, b
				for round := range 200 {
					i := round % r.Len()
					before, at := append([]float64{l.e.b}, l.q...), append([]float64(nil), l.a...)
					_, err := l.Step(i)
					if err != nil && (!slices.Equal(before, append([]float64{l.e.b}, l.q...)) || !slices.Equal(at, l.a)) {
						t.Fatalf("%v, scale %g: the state changed, but Step returned %v", rule, s, err)
					}
					for j := range r.Len() {
						if q := l.Predict(j).SqDist; math.IsNaN(q) || math.IsInf(q, 0) {
							t.Fatalf("%v, scale %g, b %v: round %d: d² = %v", rule, s, b, round, q)
						}
					}
					_, other := plain.Step(metric.Pair{X: x.RawRowView(links[i].I), Y: x.RawRowView(links[i].J), Label: links[i].Label})
					if b <= mostGrowth && (err == nil) != (other == nil) {
						t.Fatalf("%v, scale %g, b %v: round %d: errors %v and, of PA, %v", rule, s, b, round, err, other)
					}
				}
				for _, a := range l.Metric().M().RawSymmetric().Data {
					if math.IsNaN(a) || math.IsInf(a, 0) {
						t.Errorf("%v, scale %g: entry %v", rule, s, a)
					}
				}
			}
		}
	}
}

// After points whose kernel values have lost digits to underflow a learner measures what
// one measures that has not seen them.
func TestVanishingKernelValues(t *testing.T) {
	quadratic, err := kernels.NewPolynomial(2, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []float64{1e-76, 1e-77, 2e-78, 1e-78, 1e-79, 1e-80, 1e-81, 1e-90} { // K is some s⁴
		l, err := NewKernelPOLA(3, quadratic, POLAParams{})
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := NewKernelPOLA(3, quadratic, POLAParams{})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(8, 1))
		for _, p := range randomLabels(rng, 3, 30) {
			for i := range p.X {
				p.X[i] *= s
				p.Y[i] *= s
			}
			if _, err := l.Step(p); err != nil {
				t.Fatalf("scale %g: %v", s, err)
			}
		}
		stream := randomLabels(rng, 3, 40)
		for round, p := range stream {
			if _, err := l.Step(p); err != nil {
				t.Fatalf("scale %g: %v", s, err)
			}
			if _, err := fresh.Step(p); err != nil {
				t.Fatal(err)
			}
			for _, f := range stream {
				want, got := fresh.Predict(f).SqDist, l.Predict(f).SqDist
				if d := l.KernelMetric().SqDist(f.X, f.Y); !(math.Abs(got-want) <= 1e-6*(1+want)) || !(math.Abs(d-want) <= 1e-6*(1+want)) {
					t.Fatalf("scale %g: round %d: d² = %v, and %v under the snapshot, want %v; %d points stored", s, round, got, d, want, l.Support())
				}
			}
		}
	}
}

// FitBatchPOLA refuses pairs whose difference overflows, also where their loss is never
// the largest.
func TestBatchPOLAOfHugeDifferences(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 0, 0, 1, 1e308, 0, -1e308, 0})
	links := []metric.Link{{I: 0, J: 1, Label: metric.Dissimilar}, {I: 2, J: 3, Label: metric.Similar}}
	for _, reading := range []BatchReading{BatchPasses, BatchViolations} {
		r, err := FitBatchPOLA(context.Background(), x, links, BatchPOLAParams{Reading: reading})
		if err == nil || !strings.Contains(err.Error(), "link 1: ") || !strings.Contains(err.Error(), "want a finite number") {
			t.Errorf("%v: %+v, error %v", reading, r.Result, err)
		}
	}
}

// A form without a core, or with a core of 0, has no factor, and one whose eigenvalues
// overflow has the one of its matrix.
func TestFactorOfExtremeCores(t *testing.T) {
	for name, f := range map[string]*form{
		"no axes": newGrowingForm(), "no core": newForm(20), "zero core": newForm(3),
		"deferred, no core": {dim: 20, deferred: true}, "deferred, zero core": {dim: 2, n: 2, c: make(sym, 3), deferred: true},
		"deferred, negative": {dim: 2, n: 2, c: sym{-1, 0, -2}, deferred: true},
	} {
		if l := f.factor(); l != nil {
			t.Errorf("%s: factor %v", name, mat.Formatted(l))
		}
	}
	const big = math.MaxFloat64 / 1.5
	for _, deferred := range []bool{false, true} {
		f := &form{dim: 2, n: 2, c: sym{big, big, big}, deferred: deferred} // eigenvalues 2·big and 0
		var c mat.Dense
		l := f.factor()
		l.Scale(0x1p-300, l)
		c.Mul(l.T(), l)
		for i := range 2 {
			for j := range 2 {
				if got := math.Ldexp(c.At(i, j), 600); !(math.Abs(got/big-1) <= 1e-14) {
					t.Errorf("deferred %t: entry (%d, %d) is %v, want %v", deferred, i, j, got, big)
				}
			}
		}
	}
}
