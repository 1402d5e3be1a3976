package ssikdr

import (
	"fmt"
	"testing"

	"metriclab/pkg/learners/ltkernel"
)

// BenchmarkFitGram fits 100 objects of ten classes to 1,356 pairs, until the KKT residual is 1e-3.
func BenchmarkFitGram(b *testing.B) {
	const n = 100
	k0, cs := digits(n, 1356, 1)
	for _, slack := range slacks {
		for name, how := range map[string]method{"accelerated": {}, "plain": {plain: true}, "accelerated-dense": {dense: true}} {
			b.Run(fmt.Sprintf("alg=%s/slack=%v/n=%d", name, slack, n), func(b *testing.B) {
				steps := 0
				for b.Loop() {
					steps += max(run(b, k0, cs, Params{Tau: 5, Slack: slack, Tol: 1e-3}, how).Iterations, 1)
				}
				b.ReportMetric(float64(steps)/float64(b.N), "steps")
				b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(steps), "ms/step")
			})
		}
	}
}

// BenchmarkLarge fits 2,000 objects to 5,000 pairs.
func BenchmarkLarge(b *testing.B) {
	const n = 2000
	k0, cs := digits(n, 5000, 1)
	for _, slack := range []ltkernel.SlackRule{ltkernel.SlackHard, ltkernel.SlackL1, ltkernel.SlackL2} {
		b.Run(fmt.Sprintf("slack=%v/n=%d", slack, n), func(b *testing.B) {
			for b.Loop() {
				exact, all := 0, 0
				r := run(b, k0, cs, Params{Tau: 5, Slack: slack, Tol: 1e-3}, method{seen: func(p *point) {
					if all++; p.exact {
						exact++
					}
				}})
				b.ReportMetric(float64(r.Iterations), "steps")
				b.ReportMetric(float64(exact), "decompositions")
				b.ReportMetric(float64(r.Rank), "rank")
			}
		})
	}
}
