package mapping

import "math"

// Diagnostics describe the random walk of one step of RMP.
type Diagnostics struct {
	// Steps counts the steps of the walk, Moves those that changed the set.
	Steps, Moves int
	// LogOmega holds ln ω(S) after each step.
	LogOmega []float64
}

// Acceptance returns the share of steps that changed the set: for Metropolis the acceptance
// rate. It is NaN without steps.
func (d Diagnostics) Acceptance() float64 { return float64(d.Moves) / float64(d.Steps) }

// EffectiveSize returns EffectiveSize(LogOmega).
func (d Diagnostics) EffectiveSize() float64 { return EffectiveSize(d.LogOmega) }

// EffectiveSize returns the number n/(1 + 2 Σ ρₖ) of independent draws whose mean would vary as much as
// that of the trace x of a reversible Markov chain, where ρₖ are its autocorrelations. The sum is that of Geyer's initial
// monotone sequence: pairs ρ₂ₖ + ρ₂ₖ₊₁, each not larger than the one before it, until one is not positive
// (Geyer, Practical Markov chain Monte Carlo, Statistical Science 7, 1992, Section 3.3). It
// is 0 if x is constant: such a trace shows nothing. It takes O(nk) time for k lags. It is an estimate: a
// chain that has not yet left one mode of its law looks better than it is.
func EffectiveSize(x []float64) float64 {
	n := len(x)
	var mean float64
	for i, v := range x {
		mean += (v - mean) / float64(i+1)
	}
	covariance := func(lag int) float64 {
		var sum float64
		for i, v := range x[:n-lag] {
			sum += (v - mean) * (x[i+lag] - mean)
		}
		return sum / float64(n)
	}
	variance := 0.0
	if n > 0 {
		variance = covariance(0)
	}
	// The mean of a constant trace has round-off, and so has its variance.
	if !(variance > 1e-28*mean*mean) {
		return 0
	}
	sum, last := 0.0, math.Inf(1)
	for lag := 0; lag+1 < n; lag += 2 {
		pair := (covariance(lag) + covariance(lag+1)) / variance
		if pair <= 0 {
			break
		}
		last = min(last, pair)
		sum += last
	}
	return float64(n) / max(2*sum-1, 1/float64(n))
}
