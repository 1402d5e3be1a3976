package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The best of all sets is found where so few are left, the bounds enclose its cost, and the dual
// alone is one.
func TestCertifyAgainstAllSets(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(71, seed))
		a, b, m := 3+rng.IntN(12), 4+rng.IntN(8), 1+rng.IntN(4)
		c := mat.NewDense(a, b, nil)
		c.Apply(func(_, _ int, _ float64) float64 { return float64(rng.IntN(20)) / 4 }, c) // ties are likely
		all := make([]int, b)
		for j := range all {
			all[j] = j
		}
		least := math.Inf(1)
		for choice := range 1 << b {
			var set []int
			for j := range b {
				if choice>>j&1 == 1 {
					set = append(set, j)
				}
			}
			if len(set) != m {
				continue
			}
			_, cost, err := Assign(c, set)
			if err != nil {
				t.Fatal(err)
			}
			least = min(least, cost)
		}
		cols, err := columns(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, err := tryAll(t.Context(), cols, all, m); err != nil || math.Abs(got-least) > 1e-12 { // sums of at most 14 quarters are exact
			t.Errorf("seed %d: tryAll found %v, %v, the best is %v", seed, got, err, least)
		}
		given := rng.Perm(b)[:m] // seldom the best set
		before := slices.Clone(given)
		o, err := CertifyMedoids(t.Context(), c, given)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(given, before) {
			t.Errorf("seed %d: the given set was changed", seed)
		}
		const tol = 1e-9 // the dual's sums of up to 4,000 steps
		if o.Dual > least+tol {
			t.Errorf("seed %d: the dual bound %v is above the optimum %v", seed, o.Dual, least)
		}
		if math.Abs(o.Cost-least) > tol || math.Abs(o.Lower-least) > tol {
			t.Errorf("seed %d: optimum in [%v, %v], want %v: so few sets are all tried", seed, o.Lower, o.Cost, least)
		}
		pi, cost, err := Assign(c, o.Set)
		if err != nil || cost != o.Cost || !slices.Equal(pi, o.Prototype) || len(o.Set) != m || !slices.IsSorted(o.Set) {
			t.Errorf("seed %d: the set %v costs %v, %v, want %v with %d candidates", seed, o.Set, cost, err, o.Cost, m)
		}
		if o.Left < m || o.Left > b {
			t.Errorf("seed %d: %d candidates are left, want %d to %d", seed, o.Left, m, b)
		}
	}
}

// Too many sets: the bounds enclose what the search found, and the set is the given one.
func TestCertifyLeavesAGap(t *testing.T) {
	rng := rand.New(rand.NewPCG(72, 3))
	c := mat.NewDense(40, 60, nil)
	c.Apply(func(_, _ int, _ float64) float64 { return 1 + rng.Float64() }, c)
	given := rng.Perm(60)[:12]
	o, err := CertifyMedoids(t.Context(), c, given)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(given); !slices.Equal(o.Set, given) || !(o.Lower < o.Cost) || o.Lower != o.Dual || o.Left <= len(given) {
		t.Errorf("set %v in [%v, %v], dual %v, %d left", o.Set, o.Lower, o.Cost, o.Dual, o.Left)
	}
	best, err := FitFasterPAM(t.Context(), rng, c, MedoidsParams{M: 12, Starts: 10})
	if err != nil || best.Cost < o.Lower {
		t.Errorf("a set costs %v, below the bound %v; error %v", best.Cost, o.Lower, err)
	}
}

// No cost, one candidate, all candidates and equal ones: the answer is proved.
func TestCertifyDegenerate(t *testing.T) {
	for name, tc := range map[string]struct {
		cost *mat.Dense
		set  []int
		want float64
	}{
		"one entry":       {mat.NewDense(1, 1, []float64{3}), []int{0}, 3},
		"no cost":         {mat.NewDense(3, 3, nil), []int{2}, 0},
		"all candidates":  {mat.NewDense(2, 2, []float64{0, 1, 1, 0}), []int{1, 0}, 0},
		"equal":           {mat.NewDense(2, 3, []float64{1, 1, 1, 1, 1, 1}), []int{0, 2}, 2},
		"the worst given": {mat.NewDense(2, 3, []float64{5, 1, 9, 5, 1, 9}), []int{2}, 2},
		"large":           {mat.NewDense(2, 2, []float64{1e300, 2e300, 2e300, 1e300}), []int{0}, 3e300},
		"tiny":            {mat.NewDense(2, 2, []float64{0, 5e-324, 5e-324, 0}), []int{0}, 5e-324},
	} {
		o, err := CertifyMedoids(t.Context(), tc.cost, tc.set)
		if err != nil || o.Cost != tc.want || o.Lower != tc.want {
			t.Errorf("%s: %+v, error %v, want %v", name, o, err, tc.want)
		}
	}
}

func TestCertifyErrors(t *testing.T) {
	c := mat.NewDense(2, 3, []float64{0, 1, 2, 3, 4, 5})
	for name, tc := range map[string]struct {
		cost mat.Matrix
		set  []int
		want string
	}{
		"no set":    {c, nil, "certify: set: no candidates"},
		"twice":     {c, []int{1, 1}, "certify: set[1]: 1 is not allowed twice"},
		"beyond":    {c, []int{3}, "certify: set[0]: 3 is not allowed, want 0 to 2"},
		"NaN":       {mat.NewDense(1, 1, []float64{math.NaN()}), []int{0}, "certify: cost: row 0, column 0: NaN"},
		"negative":  {mat.NewDense(1, 2, []float64{0, -1}), []int{0}, "certify: cost: row 0, column 1: -1 is not allowed, want at least 0"},
		"no points": {&mat.Dense{}, []int{0}, "certify: cost: no entries"},
	} {
		if o, err := CertifyMedoids(t.Context(), tc.cost, tc.set); o != nil || err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, error %v, want %s", name, o, err, tc.want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if o, err := CertifyMedoids(ctx, c, []int{0}); o != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, error %v", o, err)
	}
	cols, err := columns(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := tryAll(ctx, cols, []int{0, 1, 2}, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while sets are tried: error %v", err)
	}
}
