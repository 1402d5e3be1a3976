package judge

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// friedmanDraws is the number of random permutations behind a p-value of
// FriedmanTest: near 0.05 its standard error is 0.0007.
const friedmanDraws = 99_999

// Friedman is the outcome of FriedmanTest.
type Friedman struct {
	// MeanRanks has the mean over units of each method's rank; 1 is best.
	MeanRanks []float64
	// Statistic is Friedman's, corrected for ties.
	Statistic float64
	// P is the p-value from Draws random permutations.
	P     float64
	Draws int
}

// FriedmanTest tests whether k methods perform alike on n units, such as data sets, of
// which each ranks them. The hypothesis is that in each unit all orders of its scores are
// equally likely. scores[unit][method] is better the lower it is; equal scores share the
// mean of their ranks. The statistic is
//
//	(k−1)·Σⱼ(Rⱼ − n(k+1)/2)² / (Σᵢⱼ rᵢⱼ² − n·k(k+1)²/4)
//
// with the ranks rᵢⱼ of unit i and their sums Rⱼ over units: without ties that of
// Friedman (The Use of Ranks to Avoid the Assumption of Normality Implicit in the
// Analysis of Variance. JASA 32, 1937), recommended for learners over data sets by
// Demšar (Statistical Comparisons of Classifiers over Multiple Data Sets. JMLR 7,
// 2006, Section 3.2.2). If every unit has equal scores only, it is 0.
//
// Units are few, too few for the χ² distribution with k−1 degrees of freedom that
// the statistic has in the limit. Its p-value is (1+b)/(1+Draws), where b of Draws
// = 99999 random permutations of the ranks within units give at least the
// statistic. FriedmanPower says what a test that does not reject is worth.
//
// Errors: fewer than 2 units or methods, units with different numbers of methods, a
// score that is not finite.
func FriedmanTest(rng *rand.Rand, scores [][]float64) (Friedman, error) {
	if len(scores) < 2 || len(scores[0]) < 2 {
		return Friedman{}, errors.New("judge: Friedman's test needs at least 2 units and 2 methods")
	}
	n, k := len(scores), len(scores[0])
	ranks := make([][]int, n)
	squares := 0
	for i, row := range scores {
		if len(row) != k {
			return Friedman{}, fmt.Errorf("judge: unit %d has %d methods, unit 0 has %d", i, len(row), k)
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Friedman{}, fmt.Errorf("judge: unit %d, method %d: score %g is not finite", i, j, v)
			}
		}
		ranks[i] = doubledRanks(row)
		for _, r := range ranks[i] {
			squares += r * r
		}
	}
	f := Friedman{Draws: friedmanDraws, MeanRanks: make([]float64, k)}
	sums := make([]int, k)
	ours := rankSpread(ranks, sums)
	for j, r := range sums {
		f.MeanRanks[j] = float64(r) / 2 / float64(n)
	}
	// In doubled ranks all is in whole numbers, so that no comparison depends on
	// round-off, and the denominator is the same for all permutations.
	if within := squares - n*k*(k+1)*(k+1); within > 0 {
		f.Statistic = float64(k-1) * float64(ours) / float64(within)
	}
	atLeast := 0
	for range f.Draws {
		for _, row := range ranks {
			shuffle(rng, row)
		}
		if rankSpread(ranks, sums) >= ours {
			atLeast++
		}
	}
	f.P = float64(1+atLeast) / float64(1+f.Draws)
	return f, nil
}

// FriedmanPower returns the chance that FriedmanTest rejects at 5 % if one of the methods
// is best in each unit with probability p, independently. All else is exchangeable: the
// other methods among themselves and, where it is not best, its own place among them.
// There are no ties. p = 1/methods is the hypothesis itself. The chance is estimated from
// 99999 draws, after as many for the distribution under the hypothesis; its standard
// error is at most 0.002 from the former.
//
// It refuses fewer than 2 units or methods, and p outside [0, 1]; see Refuse.
func FriedmanPower(rng *rand.Rand, units, methods int, p float64) float64 {
	if units < 2 || methods < 2 || !(p >= 0 && p <= 1) {
		Refuse("judge: power with %d units, %d methods and probability %v, want at least 2, 2, and 0 to 1", units, methods, p)
	}
	ranks := make([][]int, units)
	for i := range ranks {
		for r := range methods {
			ranks[i] = append(ranks[i], 2*(r+1))
		}
	}
	sums := make([]int, methods)
	null := make([]int, friedmanDraws)
	for d := range null {
		for _, row := range ranks {
			shuffle(rng, row)
		}
		null[d] = rankSpread(ranks, sums)
	}
	slices.Sort(null)
	// The test rejects if (1+b)/(1+draws) ≤ level, with b of the draws at or
	// above the statistic.
	mayReach := int(math.Floor(level*float64(1+friedmanDraws))) - 1
	rejects := 0
	for range friedmanDraws {
		for _, row := range ranks {
			shuffle(rng, row)
			best := slices.Index(row, 2)
			if rng.Float64() < p {
				row[0], row[best] = row[best], row[0]
			} else if best == 0 {
				other := 1 + rng.IntN(methods-1)
				row[0], row[other] = row[other], row[0]
			}
		}
		first, _ := slices.BinarySearch(null, rankSpread(ranks, sums))
		if len(null)-first <= mayReach {
			rejects++
		}
	}
	return float64(rejects) / friedmanDraws
}

// NemenyiDifference returns the critical difference of two methods' mean ranks
// over n units at 5 %,
//
//	q·√(k(k+1)/(6n)),
//
// where q·√2 is the 95 % quantile of the range of k independent standard normal
// variables (Nemenyi 1963; Demšar 2006, Section 3.2.2). To tell apart all pairs of
// methods that differ by at least as much has a chance of about 5 % to be wrong
// anywhere if all k perform alike. It rests on the limit of many units and is too
// large where scores are tied. It refuses fewer than 2 units or methods; see Refuse.
func NemenyiDifference(units, methods int) float64 {
	if units < 2 || methods < 2 {
		Refuse("judge: critical difference for %d units and %d methods, want at least 2 and 2", units, methods)
	}
	k := float64(methods)
	return rangeQuantile(methods) / math.Sqrt2 * math.Sqrt(k*(k+1)/(6*float64(units)))
}

// rangeQuantile returns the w at which the range of k standard normal variables
// has the distribution function k·∫φ(z)·(Φ(z)−Φ(z−w))^(k−1) dz = 1 − level.
func rangeQuantile(k int) float64 {
	const (
		tail   = 9.0 // φ(9) is below 1e-18
		points = 200 // of the quadrature; further ones change less than 1e-12
		steps  = 60  // of the bisection, down to the last bit
	)
	normal := distuv.UnitNormal
	below := func(w float64) float64 {
		return float64(k) * quad.Fixed(func(z float64) float64 {
			return normal.Prob(z) * math.Pow(normal.CDF(z)-normal.CDF(z-w), float64(k-1))
		}, -tail, tail, points, quad.Legendre{}, 0)
	}
	lo, hi := 0.0, 2*tail
	for range steps {
		if mid := (lo + hi) / 2; below(mid) < 1-level {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// doubledRanks returns twice the ranks of scores, which are whole numbers: the
// lowest has rank 1, and equal ones share the mean of their ranks.
func doubledRanks(scores []float64) []int {
	out := make([]int, len(scores))
	for i, v := range scores {
		for _, w := range scores {
			switch {
			case w < v:
				out[i] += 2
			case w == v:
				out[i]++
			}
		}
		out[i]++ // twice (lower ones + (equal ones + 1)/2), v being one of the equal
	}
	return out
}

// rankSpread returns Σⱼ(Rⱼ − mean)² of the methods' sums Rⱼ of doubled ranks, which
// it leaves in sums.
func rankSpread(ranks [][]int, sums []int) int {
	clear(sums)
	for _, row := range ranks {
		for j, r := range row {
			sums[j] += r
		}
	}
	mean := len(ranks) * (len(sums) + 1) // of doubled ranks: n·(k+1)
	spread := 0
	for _, r := range sums {
		spread += (r - mean) * (r - mean)
	}
	return spread
}

// shuffle is Fisher and Yates', without a call per exchange.
func shuffle(rng *rand.Rand, x []int) {
	for i := len(x) - 1; i > 0; i-- {
		j := rng.IntN(i + 1)
		x[i], x[j] = x[j], x[i]
	}
}
