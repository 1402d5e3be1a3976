package erkle2015

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// A moderate share of conflicts: as many as show in an error of a point, and at most a fourth.
const (
	moderateLeast = .01
	moderateMost  = .25
)

// fig3Afterwards are claims on the published counts of the answers.
var fig3Afterwards = experiment.Claims([]experiment.Claim{
	{
		ID:         "fig3-moderate-conflicts",
		View:       "fig3-conflicts",
		Afterwards: "the counts of conflicting answers, and so the share of each reading",
		Statement:  "aset400 has a moderate amount of conflicting triplets.",
		Where:      section53, Theirs: "no number; aset400 as it was then, with 16,385 answers",
		Predicate: "In each split the share of training answers that conflict is from 1 % to 25 %. Readings: those that take part in a contradiction, or those that the best kernel violates, at most (left out if each that conflicts with those kept before it is)." + cleanedNote,
		Test: func(t *table.Table) judge.Test {
			sizes := fig3Results(t).sizes()
			train := numberIn("triplets", sizes[len(sizes)-1])
			return judge.Each([]string{trainCyclic, atMostViolated}, func(what string) (string, judge.Test) {
				var holds judge.Holds
				for _, n := range t.Where("kind", countKind, "setting", what).Values("count") {
					holds = append(holds, moderateLeast <= n/train && n/train <= moderateMost)
				}
				return what, holds
			})
		},
	},
})
