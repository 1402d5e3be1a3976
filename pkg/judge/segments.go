package judge

// PseudoValues returns the jackknife's pseudo-values of a statistic of a
// sequence that is cut into n segments,
//
//	Jᵢ = n·θ − (n−1)·θ₍₋ᵢ₎,
//
// where θ is the statistic of all segments and θ₍₋ᵢ₎ that without segment i. They
// take the place of one value per trial where an experiment has one sequence
// only, such as a news stream in order of time: Summarize of them is the
// statistic without its bias of order 1/n, with a 95 % t interval of n−1 degrees of
// freedom (Quenouille 1956; Tukey 1958). Segments of consecutive rounds keep
// together what depends on each other over a short time (Künsch 1989, for
// stationary sequences). Where the sequence has a trend, such as the errors of an
// algorithm that learns, the trend counts as variation between segments: the
// interval is too wide, and wider the fewer segments there are.
//
// of computes the statistic of the segments for which keep is true. PseudoValues
// refuses n < 2; see Refuse.
func PseudoValues(n int, of func(keep func(segment int) bool) float64) []float64 {
	if n < 2 {
		Refuse("judge: jackknife of %d segments, want at least 2", n)
	}
	all := of(func(int) bool { return true })
	out := make([]float64, n)
	for i := range out {
		without := of(func(s int) bool { return s != i })
		out[i] = float64(n)*all - float64(n-1)*without
	}
	return out
}
