package judge

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// ResampledP returns the two-sided p-value of the hypothesis that the mean of J
// values is zero, by Student's t with J−1 degrees of freedom of
//
//	mean/(s·√(1/J + ratio)),  ratio = n_test/n_train,
//
// where s is their standard deviation with divisor J−1: the test to which the
// intervals of SummarizeResampled belong (Nadeau and Bengio, Inference for the
// Generalization Error. Machine Learning 52, 2003), and with ratio 0 the paired t
// test to which those of Summarize do. It is below 0.05 where their 95 % interval
// does not contain zero. Equal values have p = 1 if they are 0, else p = 0. Fewer
// than MinTrials values have no test: NaN, as with a value that is not finite.
//
// It refuses a ratio that is negative or not finite; see Refuse.
func ResampledP(values []float64, ratio float64) float64 {
	checkRatio(ratio)
	s := summarize(values, ratio)
	switch {
	case !s.HasInterval || math.IsNaN(s.Mean) || math.IsInf(s.Mean, 0):
		return math.NaN()
	case s.Mean == 0:
		return 1
	}
	// Without spread t is infinite. The lower tail keeps its digits where it is small.
	n := float64(s.N)
	t := math.Abs(s.Mean) / (sd(values) * math.Sqrt(1/n+ratio))
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.CDF(-t)
}

// Holm returns the p-values adjusted for their number m by the step-down method of
// Holm (A simple sequentially rejective multiple test procedure. Scandinavian
// Journal of Statistics 6, 1979): that of rank i from below is
//
//	max over j ≤ i of min(1, (m−j+1)·p₍ⱼ₎).
//
// To reject the hypotheses whose adjusted value is at most α keeps the chance of any
// false rejection at or below α, whatever the tests' dependence. NaN, for a test that
// there is not, stays NaN and is not counted in m. The order is that of p, which is
// left as it is. It refuses a p-value outside [0, 1]; see Refuse.
func Holm(p []float64) []float64 {
	out := make([]float64, len(p))
	var order []int
	for i, v := range p {
		out[i] = v
		if v < 0 || v > 1 {
			Refuse("judge: p-value %d is %v, want 0 to 1", i, v)
		}
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, float64(len(order)-rank)*p[i]))
		out[i] = least
	}
	return out
}
