package people

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/variants"
	"metriclab/pkg/table"
)

// What is counted of the training answers, that a claim speaks of.
const (
	trainCyclic    = "training answers that take part in a contradiction"
	atMostViolated = "training answers that the best kernel violates, at most"
)

// A moderate share of conflicts: as many as show in an error of a percentage point, and at most a fourth.
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
		Where:      batch.Section53, Theirs: "no number; aset400 as it was then, with 16,385 answers",
		Predicate: "In each split the share of training answers that conflict is from 1 % to 25 %. Readings: those that take part in a contradiction, or those that the best kernel violates, at most (left out if each that conflicts with those kept before it is)." + batch.CleanedNote,
		Test: frame.Test(func(t *table.Table) judge.Test {
			train := experiment.Last("numbers of triplets", frame.Numbers(t.Where("kind", variants.CurveKind), "triplets"))
			return frame.UnderNames([]string{trainCyclic, atMostViolated}, func(what string) frame.Test {
				return frame.Always(func(trial *table.Table) bool {
					n := experiment.First(trial.Where("kind", variants.CountKind, "setting", what), "count")
					return moderateLeast <= n/train && n/train <= moderateMost
				})
			})(t)
		}).On(batch.SurveyRows),
	},
})
