package triplets

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// TestErrorsTies: K = I satisfies nothing and contradicts nothing, whatever the order of the
// answers, and K = I known up to round-off neither.
func TestErrorsTies(t *testing.T) {
	const n = 6
	exact := mat.NewSymDense(n, nil)
	for i := range n {
		exact.SetSym(i, i, 1)
	}
	rng := rand.New(rand.NewPCG(21, 1))
	perturbed := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			perturbed.SetSym(i, j, exact.At(i, j)+1e-15*rng.NormFloat64())
		}
	}
	// Majority first: Near before Far, as a set sorted by votes may be.
	var sorted []metric.Triplet
	for a := range n {
		for b := range n {
			for c := b + 1; c < n; c++ {
				if a != b && a != c {
					sorted = append(sorted, metric.Triplet{A: a, Near: b, Far: c})
				}
			}
		}
	}
	for name, k := range map[string]mat.Symmetric{"I": exact, "I up to round-off": perturbed} {
		if strict, half := Errors(k, sorted); strict != 1 || half != 0.5 {
			t.Errorf("%s: %v, %v, want 1, 0.5", name, strict, half)
		}
	}
}

func TestErrors(t *testing.T) {
	// Points 0, 1 and 3 on a line, and 1 again.
	x := mat.NewDense(4, 1, []float64{0, 1, 3, 1})
	k := mat.NewSymDense(4, nil)
	k.SymOuterK(1, x)
	for _, c := range []struct {
		ts           []metric.Triplet
		strict, half float64
	}{
		{[]metric.Triplet{{A: 0, Near: 1, Far: 2}}, 0, 0},
		{[]metric.Triplet{{A: 0, Near: 2, Far: 1}}, 1, 1},
		{[]metric.Triplet{{A: 0, Near: 1, Far: 3}}, 1, 0.5},
		{[]metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 0, Near: 2, Far: 1}, {A: 0, Near: 1, Far: 3}, {A: 1, Near: 3, Far: 2}}, 0.5, 0.375},
	} {
		if strict, half := Errors(k, c.ts); strict != c.strict || half != c.half {
			t.Errorf("%v: %v, %v, want %v, %v", c.ts, strict, half, c.strict, c.half)
		}
	}
	for _, c := range []struct {
		near, far float64
		want      bool
	}{{0, 0, true}, {1, 1 + 1e-13, true}, {1e-20, 2e-20, false}, {1e9, 1e9 + 1e-4, true}, {1, 1 + 1e-11, false}, {1 + 1e-11, 1, false},
		{-1e-17, -1e-17, true}, {-1e-17, -2e-17, false}, {-1e-17, 1e-17, false}} {
		if got := Tied(c.near, c.far); got != c.want {
			t.Errorf("Tied(%v, %v) = %v", c.near, c.far, got)
		}
	}
}

// TestErrorsNegative: a tie is a tie also where round-off has made both squared distances negative.
func TestErrorsNegative(t *testing.T) {
	k := mat.NewSymDense(3, []float64{1, 1 + 1e-15, 1 + 1e-15, 1 + 1e-15, 1, 1, 1 + 1e-15, 1, 1})
	ts := []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 0, Near: 2, Far: 1}}
	if near := sqDist(k, 0, 1); near >= 0 {
		t.Fatalf("squared distance %v, want it negative", near)
	}
	if strict, half := Errors(k, ts); strict != 1 || half != 0.5 {
		t.Errorf("%v, %v, want 1, 0.5", strict, half)
	}
}

func TestRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	k := withSpectrum(rng, []float64{4, 1, 1e-3, 1e-8, 0, -1e-9, 0}, true)
	for tol, want := range map[float64]int{0: 3, 0.1: 2, 0.5: 1, 1e-10: 4} {
		if got := Rank(k, tol); got != want {
			t.Errorf("Rank at %v is %d, want %d", tol, got, want)
		}
	}
	if got := Rank(mat.NewSymDense(3, nil), 0); got != 0 {
		t.Errorf("rank of 0 is %d", got)
	}
}

func TestReadoutPanics(t *testing.T) {
	nan := mat.NewSymDense(2, []float64{math.NaN(), 0, 0, 1})
	two := mat.NewSymDense(2, nil)
	for name, f := range map[string]func(){
		"no triplet": func() { Errors(two, nil) },
		"index":      func() { Errors(two, []metric.Triplet{{A: 0, Near: 1, Far: 2}}) },
		"tolerance":  func() { Rank(two, -1) },
		"NaN":        func() { Errors(scaled(math.NaN(), make([]float64, 16)), []metric.Triplet{{A: 0, Near: 1, Far: 2}}) },
		"Inf near": func() {
			Errors(mat.NewSymDense(3, []float64{0, 0, 0, 0, math.Inf(1), 0, 0, 0, 0}), []metric.Triplet{{A: 0, Near: 1, Far: 2}})
		},
		"Inf both": func() {
			Errors(mat.NewSymDense(3, []float64{math.Inf(1), 0, 0, 0, 0, 0, 0, 0, 0}), []metric.Triplet{{A: 0, Near: 1, Far: 2}})
		},
		"NaN rank":         func() { Rank(nan, 0) },
		"NaN embedding":    func() { Embed(nan, 1) },
		"no dimension":     func() { Embed(two, 0) },
		"three dimensions": func() { Embed(two, 3) },
		"rows":             func() { Procrustes(mat.NewDense(2, 1, nil), mat.NewDense(3, 1, nil)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
