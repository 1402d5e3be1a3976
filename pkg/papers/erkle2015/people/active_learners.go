package people

import (
	"context"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/erkle2015/protocol"
)

// ActiveLearners is Active with the learners of the paper that it does not have, on two of its sets of points.
var ActiveLearners = experiment.Spec{
	ID:      "erkle2015/active-learners",
	Title:   "Questions chosen by what is known, against random ones: STE-ERKLE and GNMDS",
	Source:  "Section 6, which names active selection as future work",
	Ours:    true,
	Version: 1,
	Cells:   func(scale experiment.Scale) []experiment.Cell { return activeCells(scale, otherSets) },
	Trials:  experiment.Trials(7),
	Columns: activeColumns,
	Trial: func(ctx context.Context, run *experiment.Run) error {
		run.Seed.Experiment = activeID // the points, first questions and test comparisons of Active
		return askedBy(ctx, run, otherLearners)
	},
	Views: []experiment.View{
		{Name: "active-learners", Title: "Error against the number of answers: STE-ERKLE and GNMDS", Draw: activeOthers.Draw},
		{Name: "active-learners-answers", Title: "Answers that each rule needs: STE-ERKLE and GNMDS", Draw: drawActiveAnswers},
	},
	Claims: activeLearnersClaims,
	Cost:   14 * time.Second,
}

// otherLearners are those that activeLearners lack.
var otherLearners = []string{protocol.STEERKLE, protocol.STEERKLETen, protocol.GNMDSBatch}

// otherSets are points in few and in many dimensions.
var otherSets = []activeSet{activeSets[0], activeSets[3]}

var otherSetups = "STE-ERKLE: δ = 1, one update per answer or, with 10 passes, 9 more with random earlier ones; the next question is chosen by its kernel. GNMDS-Batch: " + activeRefit

var activeOthers = frame.View{
	Columns: len(otherSets), Missing: "any trial",
	Panels: frame.PerGroup(func(cells []string) frame.Panel { return activePanel(cells[0] + ": " + cells[1]) }, "method", "cell"),
	Caption: frame.Says("As in erkle2015/active, on the same points and questions, with other learners. Share of the questions held out whose answers the kernel does not satisfy, a tie counting as not satisfied.",
		activeData, activeAbout+otherSetups+activeSmoke, ""),
}

const (
	otherKnown     = "the errors of PA-ERKLE, STE-Batch and CKL-Batch in erkle2015/active on the same points"
	otherPredicate = "Error on the comparisons held out with random questions minus that with the rule's, paired by trial, is positive after 10, 20 and 40 answers per object on both sets of points. Readings: "
)

var activeLearnersClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "active-gain-others",
		Ours:      true,
		View:      "active-learners",
		Title:     "Ours: with STE-ERKLE and GNMDS, too, questions of the greatest information gain leave a smaller error than random ones.",
		Statement: "Ours: with STE-ERKLE and GNMDS, too, after equally many answers the error on comparisons never asked is smaller with questions of the greatest information gain than with random ones.",
		Where:     activeWhere, Theirs: "not in the paper", Afterwards: otherKnown,
		Predicate: otherPredicate + "each learner with each model of an answer.",
		Test:      testActive(otherSets, protocol.Pairs(otherLearners, []string{askCrowd, askLogistic})),
	},
	{
		ID:        "active-uncertainty-others",
		Ours:      true,
		View:      "active-learners",
		Title:     "Ours: with STE-ERKLE and GNMDS, too, questions whose answer is least certain leave a smaller error than random ones.",
		Statement: "Ours: with STE-ERKLE and GNMDS, too, after equally many answers the error on comparisons never asked is smaller with questions whose answer is least certain than with random ones.",
		Where:     activeWhere, Theirs: "not in the paper", Afterwards: otherKnown,
		Predicate: otherPredicate + "each learner.",
		Test:      testActive(otherSets, protocol.Pairs(otherLearners, []string{askUncertain})),
	},
})
