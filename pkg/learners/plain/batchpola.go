package plain

import "metriclab/pkg/metric"

// BatchPOLA steps on the pair of the largest hinge loss until no loss is above beta, or for most steps. It returns the
// number of steps.
//
// Source: Shalev-Shwartz, Singer, Ng, Online and Batch Learning of Pseudo-Metrics, ICML 2004, Section 6. If some
// (A*, b*) has no loss on the pairs, there are at most R(‖A*‖² + (b* − b₁)²)/β² steps, with R the largest ‖v‖⁴ + 1.
func BatchPOLA(l *POLA, pairs []metric.Pair, beta float64, most int) (steps int) {
	for steps < most {
		worst := pairs[0]
		for _, p := range pairs {
			if l.Loss(p) > l.Loss(worst) {
				worst = p
			}
		}
		if l.Loss(worst) <= beta {
			break
		}
		l.Step(worst)
		steps++
	}
	return steps
}

// BatchPOLAPasses is the other reading of the same section: it passes over all pairs until no loss is above beta, or
// most times. It returns the number of passes. The bound on these has a factor of twice the number of pairs more.
func BatchPOLAPasses(l *POLA, pairs []metric.Pair, beta float64, most int) (passes int) {
	for passes < most {
		largest := 0.0
		for _, p := range pairs {
			largest = max(largest, l.Loss(p))
		}
		if largest <= beta {
			break
		}
		for _, p := range pairs {
			l.Step(p)
		}
		passes++
	}
	return passes
}
