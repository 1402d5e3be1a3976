package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
)

func TestResampledP(t *testing.T) {
	// 1..6 minus 3.5 plus m has s² = 3.5; with m = t·√(3.5·(1/6 + ratio)) for
	// t = t(0.975, 5) the p-value is 0.05.
	at := func(m float64) []float64 {
		return []float64{m - 2.5, m - 1.5, m - 0.5, m + 0.5, m + 1.5, m + 2.5}
	}
	for _, ratio := range []float64{0, 0.25, 3} {
		m := t5 * math.Sqrt(3.5*(1.0/6+ratio))
		for _, sign := range []float64{1, -1} {
			if p := ResampledP(at(sign*m), ratio); !scalar.EqualWithinAbs(p, 0.05, tolT) {
				t.Errorf("ratio %v: p = %v, want 0.05", ratio, p)
			}
		}
	}
	// With 5 degrees of freedom P(|T| > t) in closed form (Fisher 1926):
	// 1 − 2/π·(θ + sin θ·(cos θ + 2/3·cos³ θ)), θ = atan(t/√5).
	for _, m := range []float64{0.1, 1, 2, 5} {
		theta := math.Atan(m / math.Sqrt(3.5/6) / math.Sqrt(5))
		c := math.Cos(theta)
		want := 1 - 2/math.Pi*(theta+math.Sin(theta)*(c+2.0/3*c*c*c))
		if p := ResampledP(at(m), 0); !scalar.EqualWithinAbs(p, want, 1e-12) { // round-off of terms near 1
			t.Errorf("mean %v: p = %v, want %v", m, p, want)
		}
	}
	// Below 0.05 where the interval does not contain zero.
	rng := rand.New(rand.NewPCG(5, 6))
	count := 0
	for range 500 {
		x := make([]float64, 8)
		for i := range x {
			x[i] = 1 + rng.NormFloat64()
		}
		if (ResampledP(x, 0.2) < 0.05) != (SummarizeResampled(x, 0.2).Side() != Open) || (ResampledP(x, 0) < 0.05) != (Summarize(x).Side() != Open) {
			t.Errorf("%v: p = %v, %v", x, ResampledP(x, 0.2), ResampledP(x, 0))
		}
		if ResampledP(x, 0.2) < 0.05 {
			count++
		}
	}
	if count < 50 || count > 450 {
		t.Errorf("%d of 500 are significant: both sides should be tried", count)
	}
	for name, tt := range map[string]struct {
		values []float64
		want   float64
	}{
		"all zero": {zero, 1}, "all equal": {slightly, 0}, "five values": {[]float64{1, 2, 3, 4, 5}, math.NaN()},
		"none": {nil, math.NaN()}, "NaN": {[]float64{1, 2, 3, 4, 5, math.NaN()}, math.NaN()}, "infinite": {[]float64{1, 2, 3, 4, 5, math.Inf(1)}, math.NaN()},
	} {
		if p := ResampledP(tt.values, 0.5); p != tt.want && !(math.IsNaN(p) && math.IsNaN(tt.want)) {
			t.Errorf("%s: p = %v, want %v", name, p, tt.want)
		}
	}
	for _, ratio := range []float64{-1, math.NaN(), math.Inf(1)} {
		mustPanic(t, "ratio", func() { ResampledP(isFor, ratio) })
	}
}

func mustPanic(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", name)
		}
	}()
	f()
}

func TestHolm(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.02, 0.03}, []float64{0.03, 0.04, 0.04}}, // 3·0.01, 2·0.02, 1·0.03 raised to the one before
		{[]float64{0.03, 0.01, 0.02}, []float64{0.04, 0.03, 0.04}},
		{[]float64{0.5, 0.001, 0.6}, []float64{1, 0.003, 1}},
		{[]float64{0.02, 0.02}, []float64{0.04, 0.04}},
		{[]float64{0, 1}, []float64{0, 1}},
		{[]float64{nan, 0.02, 0.04}, []float64{nan, 0.04, 0.04}},
		{nil, nil},
	} {
		before := slices.Clone(tt.p)
		got := Holm(tt.p)
		if len(got) != len(tt.want) {
			t.Fatalf("%v: got %v", tt.p, got)
		}
		for i := range got {
			if math.IsNaN(got[i]) != math.IsNaN(tt.want[i]) || math.Abs(got[i]-tt.want[i]) > 1e-15 { // round-off of a product
				t.Errorf("%v: got %v, want %v", tt.p, got, tt.want)
			}
			if math.Float64bits(tt.p[i]) != math.Float64bits(before[i]) {
				t.Errorf("%v was changed to %v", before, tt.p)
			}
		}
	}
	for _, p := range []float64{-0.1, 1.1, math.Inf(1)} {
		mustPanic(t, "p", func() { Holm([]float64{0.5, p}) })
	}
}

// TestHolmRejects what the step-down procedure itself rejects: from the
// smallest p-value on, each that is at most α over the number of those left,
// up to the first that is not.
func TestHolmRejects(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		p := make([]float64, 1+rng.IntN(6))
		for i := range p {
			p[i] = 0.05 * rng.Float64()
		}
		sorted := slices.Sorted(slices.Values(p))
		n := 0
		for n < len(sorted) && sorted[n] <= 0.05/float64(len(sorted)-n) {
			n++
		}
		got := 0
		for _, v := range Holm(p) {
			if v <= 0.05 {
				got++
			}
		}
		if got != n {
			t.Errorf("%v: %d rejected, want %d", p, got, n)
		}
	}
}
