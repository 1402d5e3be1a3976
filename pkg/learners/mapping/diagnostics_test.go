package mapping

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The effective size of n draws of an autoregressive chain is n(1−ρ)/(1+ρ). The estimate is
// within 10 % at n = 200000: its standard error is some √(2·(2·lags+1)/n) ≈ 3 % with 100 lags.
func TestEffectiveSize(t *testing.T) {
	const n = 200_000
	for _, rho := range []float64{0, 0.5, 0.9, 0.95} {
		rng := rand.New(rand.NewPCG(1, 19))
		x := make([]float64, n)
		v := 0.0
		for i := range x {
			v = rho*v + rng.NormFloat64()
			x[i] = v - 3500
		}
		want := n * (1 - rho) / (1 + rho)
		if got := EffectiveSize(x); math.Abs(got/want-1) > 0.1 {
			t.Errorf("ρ = %v: got %v, want %v", rho, got, want)
		}
	}
}

func TestEffectiveSizeOfSpecialTraces(t *testing.T) {
	alternating := make([]float64, 1000)
	for i := range alternating {
		alternating[i] = float64(i % 2)
	}
	step := append(make([]float64, 500), slices.Repeat([]float64{1}, 500)...)
	for _, c := range []struct {
		name     string
		x        []float64
		low, top float64
	}{
		{"empty", nil, 0, 0},
		{"one", []float64{-7}, 0, 0},
		{"constant, with round-off", slices.Repeat([]float64{-3500.1}, 1000), 0, 0},
		{"alternating", alternating, 1000, 1e6}, // better than independent
		{"one step", step, 1, 10},
	} {
		if got := EffectiveSize(c.x); !(got >= c.low && got <= c.top) {
			t.Errorf("%s: got %v, want %v to %v", c.name, got, c.low, c.top)
		}
	}
}

// The pairs of autocorrelations are cut to what is monotone: where a period makes them rise again, that
// does not count.
func TestEffectiveSizeIsMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 29))
	const n = 4000
	x := make([]float64, n)
	v := 0.0
	for i := range x {
		v = 0.99*v + 0.14*rng.NormFloat64()
		x[i] = v + 0.8*math.Sin(2*math.Pi*float64(i)/20)
	}
	var mean float64
	for _, v := range x {
		mean += v / n
	}
	rho := make([]float64, n)
	for k := range rho {
		for i := range n - k {
			rho[k] += (x[i] - mean) * (x[i+k] - mean)
		}
	}
	sum, last, cut := 0.0, math.Inf(1), false
	for k := 0; k+1 < n; k += 2 {
		pair := (rho[k] + rho[k+1]) / rho[0]
		if pair <= 0 {
			break
		}
		cut = cut || pair > last
		last = min(last, pair)
		sum += 2 * last
	}
	if got, want := EffectiveSize(x), n/(sum-1); !cut || math.Abs(got/want-1) > 1e-9 {
		t.Errorf("got %v, want %v (a pair was cut: %t)", got, want, cut)
	}
}
