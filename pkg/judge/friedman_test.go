package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
)

// orders lists all permutations of x.
func orders(x []float64) [][]float64 {
	if len(x) == 0 {
		return [][]float64{nil}
	}
	var out [][]float64
	for i := range x {
		rest := slices.Delete(slices.Clone(x), i, i+1)
		for _, o := range orders(rest) {
			out = append(out, append([]float64{x[i]}, o...))
		}
	}
	return out
}

// tables lists all tables whose units are orders of the units of scores.
func tables(scores [][]float64) [][][]float64 {
	out := [][][]float64{nil}
	for _, row := range scores {
		var next [][][]float64
		for _, t := range out {
			for _, o := range orders(row) {
				next = append(next, append(slices.Clip(t), o))
			}
		}
		out = next
	}
	return out
}

// slowFriedman is the statistic from ranks by counting, in the form with a
// correction for ties that textbooks have: 12/(nk(k+1))·ΣR² − 3n(k+1), divided by
// 1 − Σ(t³−t)/(nk(k²−1)) over groups of t equal scores.
func slowFriedman(scores [][]float64) (statistic float64, meanRanks []float64) {
	n, k := float64(len(scores)), float64(len(scores[0]))
	meanRanks = make([]float64, len(scores[0]))
	ties := 0.0
	for _, row := range scores {
		for j, v := range row {
			less, equal := 0.0, 0.0
			for _, w := range row {
				if w < v {
					less++
				} else if w == v {
					equal++
				}
			}
			meanRanks[j] += (less + (equal+1)/2) / n
			ties += equal*equal - 1 // each of t members of a group adds a t-th of t³−t
		}
	}
	for _, r := range meanRanks {
		statistic += 12 / (n * k * (k + 1)) * n * n * r * r
	}
	return (statistic - 3*n*(k+1)) / (1 - ties/(n*k*(k*k-1))), meanRanks
}

// tolF is for sums of a few dozen terms of the order of 100.
const tolF = 1e-10

// TestFriedmanExact compares with all permutations of small tables.
func TestFriedmanExact(t *testing.T) {
	for _, scores := range [][][]float64{
		{{1, 2, 3}, {1, 2, 3}, {2, 1, 3}},
		{{1, 2, 3}, {1, 3, 2}, {1, 2, 3}, {1, 2, 3}},
		{{0.1, 0.1, 0.3}, {0.5, 0.2, 0.2}, {1, 2, 3}, {7, 7, 7}},
		{{4, 3, 2, 1}, {4, 2, 3, 1}, {1, 2, 2, 1}},
		{{2, 1}, {2, 1}, {2, 1}, {2, 1}, {2, 1}},
	} {
		ours, ranks := slowFriedman(scores)
		all := tables(scores)
		atLeast := 0
		for _, s := range all {
			if x, _ := slowFriedman(s); x >= ours-tolF {
				atLeast++
			}
		}
		want := float64(atLeast) / float64(len(all))
		f, err := FriedmanTest(rand.New(rand.NewPCG(1, 2)), scores)
		if err != nil {
			t.Fatal(err)
		}
		if !scalar.EqualWithinAbs(f.Statistic, ours, tolF) || f.Draws != friedmanDraws {
			t.Errorf("%v: statistic %v from %d draws, want %v", scores, f.Statistic, f.Draws, ours)
		}
		for j, r := range f.MeanRanks {
			if !scalar.EqualWithinAbs(r, ranks[j], tolF) {
				t.Errorf("%v: mean ranks %v, want %v", scores, f.MeanRanks, ranks)
			}
		}
		if tol := 4*math.Sqrt(want*(1-want)/friedmanDraws) + 1.0/friedmanDraws; math.Abs(f.P-want) > tol {
			t.Errorf("%v: p = %v, exactly %v", scores, f.P, want)
		}
	}
}

// TestFriedmanBases is the example of Hollander and Wolfe (Nonparametric
// Statistical Methods, 1973, p. 140), that the documentation of R's friedman.test
// has: three ways for 22 players to round first base; χ² = 11.143, p = 0.003805 in
// the limit of many units.
func TestFriedmanBases(t *testing.T) {
	scores := [][]float64{
		{5.40, 5.50, 5.55}, {5.85, 5.70, 5.75}, {5.20, 5.60, 5.50}, {5.55, 5.50, 5.40}, {5.90, 5.85, 5.70}, {5.45, 5.55, 5.60},
		{5.40, 5.40, 5.35}, {5.45, 5.50, 5.35}, {5.25, 5.15, 5.00}, {5.85, 5.80, 5.70}, {5.25, 5.20, 5.10}, {5.65, 5.55, 5.45},
		{5.60, 5.35, 5.45}, {5.05, 5.00, 4.95}, {5.50, 5.50, 5.40}, {5.45, 5.55, 5.50}, {5.55, 5.55, 5.35}, {5.45, 5.50, 5.55},
		{5.50, 5.45, 5.25}, {5.65, 5.60, 5.40}, {5.70, 5.65, 5.55}, {6.30, 6.30, 6.25},
	}
	f, err := FriedmanTest(rand.New(rand.NewPCG(1, 2)), scores)
	if err != nil || math.Abs(f.Statistic-11.143) > 5e-4 { // as printed
		t.Errorf("statistic %v, %v", f.Statistic, err)
	}
	if math.Abs(f.P-0.003805) > 0.001 { // what 22 units are from the limit
		t.Errorf("p = %v", f.P)
	}
}

func TestFriedmanTies(t *testing.T) {
	f, err := FriedmanTest(rand.New(rand.NewPCG(1, 2)), [][]float64{{1, 1, 1}, {2, 2, 2}})
	if err != nil || f.Statistic != 0 || f.P != 1 || !slices.Equal(f.MeanRanks, []float64{2, 2, 2}) {
		t.Errorf("all tied: %+v, %v", f, err)
	}
}

func TestFriedmanErrors(t *testing.T) {
	for _, tt := range []struct {
		scores [][]float64
		want   string
	}{
		{nil, "at least 2 units"},
		{[][]float64{{1, 2}}, "at least 2 units"},
		{[][]float64{{1}, {2}}, "2 methods"},
		{[][]float64{{1, 2}, {2, 3, 4}}, "unit 1 has 3 methods, unit 0 has 2"},
		{[][]float64{{1, 2}, {2, math.NaN()}}, "unit 1, method 1: score NaN"},
		{[][]float64{{1, math.Inf(-1)}, {2, 3}}, "unit 0, method 1: score -Inf"},
	} {
		if _, err := FriedmanTest(rand.New(rand.NewPCG(1, 2)), tt.scores); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: got %v, want %q", tt.scores, err, tt.want)
		}
	}
	mustPanic(t, "one unit", func() { FriedmanPower(nil, 1, 3, 0.5) })
	mustPanic(t, "one method", func() { FriedmanPower(nil, 3, 1, 0.5) })
	mustPanic(t, "p", func() { FriedmanPower(nil, 3, 3, math.NaN()) })
	mustPanic(t, "one unit", func() { NemenyiDifference(1, 3) })
	mustPanic(t, "one method", func() { NemenyiDifference(3, 1) })
}

// TestFriedmanPower compares with the sum over all tables of 4 units and 3
// methods. Their exact p-values next to 0.05 are 0.042 and 0.069, far enough off
// for the random ones.
func TestFriedmanPower(t *testing.T) {
	const n, k = 4, 3
	all := tables([][]float64{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}})
	statistics := make([]float64, len(all))
	for i, s := range all {
		statistics[i], _ = slowFriedman(s)
	}
	for _, p := range []float64{0, 1.0 / 3, 0.6, 0.9, 1} {
		want := 0.0
		for i, s := range all {
			atLeast, chance := 0, 1.0
			for _, x := range statistics {
				if x >= statistics[i]-tolF {
					atLeast++
				}
			}
			for _, row := range s {
				if row[0] == 1 {
					chance *= p / 2 // two orders of the others
				} else {
					chance *= (1 - p) / 4
				}
			}
			if float64(atLeast)/float64(len(all)) <= 0.05 {
				want += chance
			}
		}
		got := FriedmanPower(rand.New(rand.NewPCG(3, 4)), n, k, p)
		if tol := 4 * math.Sqrt(want*(1-want)/friedmanDraws); math.Abs(got-want) > tol+1e-12 {
			t.Errorf("p = %v: power %v, exactly %v", p, got, want)
		}
	}
}

// TestNemenyiDifference has q of Demšar's Table 5 (a), and for two methods its
// closed form Φ⁻¹(0.975).
func TestNemenyiDifference(t *testing.T) {
	const z = 1.959963984540054
	for k, want := range map[int]float64{2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949} {
		cd := NemenyiDifference(10, k)
		q := cd / math.Sqrt(float64(k*(k+1))/60)
		if math.Abs(q-want) > 1e-3 { // the table's last digit
			t.Errorf("%d methods: q = %v, want %v", k, q, want)
		}
		if k == 2 && !scalar.EqualWithinAbs(q, z, 1e-12) {
			t.Errorf("two methods: q = %v, want %v", q, z)
		}
	}
}

func BenchmarkFriedmanTest(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	scores := make([][]float64, 6)
	for i := range scores {
		for range 7 {
			scores[i] = append(scores[i], rng.Float64())
		}
	}
	b.Run("units=6/methods=7", func(b *testing.B) {
		for b.Loop() {
			if _, err := FriedmanTest(rng, scores); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFriedmanPower(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	b.Run("units=6/methods=7", func(b *testing.B) {
		for b.Loop() {
			FriedmanPower(rng, 6, 7, 0.7)
		}
	})
}
