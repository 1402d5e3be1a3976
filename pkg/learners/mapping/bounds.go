package mapping

import "math"

// LogMaps returns ln(C(b, m)·m^a), where C(b, m)·m^a is the number of pairs of a set of m
// of b prototypes and an assignment of a objects to it. It bounds the logarithm of the number of
// maps with at most m images from above, and Algorithm 1 of Rakhlin et al. is exponential weights over
// exactly these pairs. It panics unless 1 ≤ m ≤ b and a ≥ 1.
func LogMaps(a, b, m int) float64 {
	mustShape(a, b, m)
	return logChoose(b, m) + float64(a)*math.Log(float64(m))
}

// PrintedLogMaps returns m·ln(b/m) + a·ln m, which Rakhlin et al., Theorem 2.1, use for
// LogMaps. It is less than LogMaps unless m is 1 or b, and can be less than the logarithm of the number of
// maps. It panics like LogMaps.
func PrintedLogMaps(a, b, m int) float64 {
	mustShape(a, b, m)
	return float64(m)*math.Log(float64(b)/float64(m)) + float64(a)*math.Log(float64(m))
}

func mustShape(a, b, m int) {
	if err := checkShape("mapping", a, b, FTLParams{M: m}); err != nil {
		panic(err.Error())
	}
}

// logChoose returns ln C(n, k).
func logChoose(n, k int) float64 {
	if k == 0 || k == n {
		return 0
	}
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// PrintedEta returns √(8(m·ln(b/m) + a·ln m)/rounds), the learning rate of Rakhlin et al.,
// Theorem 2.1. It is the right one for losses in [0, 1], but those of a map are in [0, a]. It
// panics like LogMaps, and unless rounds ≥ 1.
func PrintedEta(a, b, m, rounds int) float64 {
	mustRounds(rounds)
	return math.Sqrt(8 * PrintedLogMaps(a, b, m) / float64(rounds))
}

// CorrectedEta returns √(8·LogMaps/rounds)/a, which makes ExpectedRegretBound least. It
// panics like PrintedEta.
func CorrectedEta(a, b, m, rounds int) float64 {
	mustRounds(rounds)
	return math.Sqrt(8*LogMaps(a, b, m)/float64(rounds)) / float64(a)
}

func mustRounds(rounds int) {
	if rounds < 1 {
		panic("mapping: the number of rounds must be at least 1")
	}
}

// PrintedRegretBound returns the bound of Rakhlin et al., Theorem 2.1, on the regret after the given
// number of rounds, said to hold with probability 1−delta,
//
//	a·√(T/2·(m·ln(b/m) + a·ln m)) + a·√(T/2·ln(1/delta)).
//
// It does not follow, neither for PrintedEta nor for CorrectedEta; RegretBound does. It panics
// like PrintedEta, and unless 0 < delta ≤ 1.
func PrintedRegretBound(a, b, m, rounds int, delta float64) float64 {
	mustRounds(rounds)
	return regret(a, rounds, PrintedLogMaps(a, b, m)) + deviation(a, rounds, delta)
}

// RegretBound returns a·√(T/2·LogMaps) + a·√(T/2·ln(1/delta)). After T rounds the regret of Algorithm
// 1 with CorrectedEta for T is larger with probability at most delta, whatever the costs. Source:
// Cesa-Bianchi and Lugosi, Prediction, Learning, and Games, 2006, Corollary 4.2, for losses in [0,
// a]. With delta = 1 it bounds the expected regret. A regret is at most aT: where the bound is
// larger, it says nothing. It panics like PrintedRegretBound.
func RegretBound(a, b, m, rounds int, delta float64) float64 {
	mustRounds(rounds)
	return regret(a, rounds, LogMaps(a, b, m)) + deviation(a, rounds, delta)
}

// ExpectedRegretBound returns LogMaps/eta + eta·T·a²/8, a bound on the expected regret of
// Algorithm 1 after T rounds with any constant learning rate eta, PrintedEta for one (Cesa-Bianchi and
// Lugosi 2006, Theorem 2.2, for losses in [0, a]). It panics like PrintedEta, and unless eta > 0.
func ExpectedRegretBound(a, b, m, rounds int, eta float64) float64 {
	mustRounds(rounds)
	if !(eta > 0) {
		panic("mapping: the learning rate must be positive")
	}
	return LogMaps(a, b, m)/eta + eta*float64(rounds)*float64(a)*float64(a)/8
}

// AnytimeRegretBound returns a·(2√(T/2·LogMaps) + √(LogMaps/8)), a bound on the expected regret of
// Algorithm 1 with the rates of EtaAnytime after any number T of rounds (Cesa-Bianchi and Lugosi 2006, Theorem 2.3, for losses
// in [0, a]). It panics like PrintedEta.
func AnytimeRegretBound(a, b, m, rounds int) float64 {
	mustRounds(rounds)
	n := LogMaps(a, b, m)
	return 2*regret(a, rounds, n) + float64(a)*math.Sqrt(n/8)
}

// DoublingRegretBound returns √2/(√2−1)·a·√(T/2·LogMaps), a bound on the expected regret of
// Algorithm 1 with the doubling trick and the rates of EtaCorrected after any number T of rounds: the sum of the
// bounds of its epochs. It panics like PrintedEta.
func DoublingRegretBound(a, b, m, rounds int) float64 {
	mustRounds(rounds)
	return math.Sqrt2 / (math.Sqrt2 - 1) * regret(a, rounds, LogMaps(a, b, m))
}

func regret(a, rounds int, logMaps float64) float64 {
	return float64(a) * math.Sqrt(float64(rounds)/2*logMaps)
}

func deviation(a, rounds int, delta float64) float64 {
	if !(delta > 0 && delta <= 1) {
		panic("mapping: delta must be in ]0, 1]")
	}
	return float64(a) * math.Sqrt(float64(rounds)/2*math.Log(1/delta))
}
