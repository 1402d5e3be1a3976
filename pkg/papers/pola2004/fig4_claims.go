package pola2004

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Margins of the qualitative claims, fixed before the first full run.
const (
	// "often comparable": the error differs by less than 5 points on at least
	// half of the topics.
	comparableMargin = 0.05
	comparableShare  = 0.5
	// "drastically effect its performance": the worst margins of the grid cost at
	// least 10 points more than the best.
	drastic = 0.10
)

const sevenFig4 = "Section 7, Fig. 4"

// fig4Claims grades each statement about POLA twice: with the words of the whole
// stream, the literal reading, which looks into the future, and with those of its
// first documents.
var fig4Claims = experiment.Claims(append(append(claimsOnPOLA(wholeStream, ""), claimsOnPOLA(firstWords, "-first")...), experiment.Claim{
	ID:        "fig4-paum-parameters",
	View:      "fig4-paum",
	Statement: "The PAUM algorithm depends on parameters that drastically effect its performance.",
	Where:     sevenFig4, Theirs: experiment.FigureOnly,
	Predicate: "Over the declared grid, the margins with the largest mean error cost at least 10 points more than those with the least, on the mean over the topics; jackknifed, for two vocabularies; which margins are best and worst is read from the same table.",
	Test: frame.Under(vocabularies, func(v vocabularyReading) (string, frame.Test) {
		return v.name, frame.Test(paumSpread).Where("setting", v.key)
	}),
}, experiment.Claim{
	ID:        "fig4-paum-tuning",
	View:      "fig4-paum",
	Statement: "It is possible that finer tuning of these parameters will improve its (PAUM's) performance.",
	Where:     sevenFig4, Theirs: "no number", Afterwards: knownFromFig4,
	Predicate: "Error of PAUM with margins that nobody tuned (0/0, 1/0 or 1/1) − error with the margins chosen on other topics > 0 on the mean over the topics, jackknifed, for two vocabularies.",
	Test: frame.Readings(func() (out []frame.Reading) {
		for _, v := range vocabularies {
			for _, m := range untuned {
				out = append(out, frame.Reading{Name: m.method() + ", " + v.name, Test: positiveOverTopics(lower(m.method(), paumChosen.method(), 0)).Where("setting", v.key)})
			}
		}
		return out
	}()...),
}, experiment.Claim{
	ID:        "fig4-topics",
	View:      "fig4-errors",
	Statement: "We chose 13 topics; the ratio between the number of relevant and irrelevant documents was in the range [0.1, 0.01].",
	Where:     sevenFig4, Theirs: "13", Afterwards: knownFromFig4,
	Predicate: "At least 13 topics of the stream have a ratio of relevant to irrelevant documents from 0.01 to 0.1, counted on the documents that are judged.",
	Test: func(t *table.Table) judge.Test {
		const wanted = 13
		holds := make(judge.Holds, wanted)
		found := 0
		for _, g := range t.Where("setting", wholeStream, "method", oneNN).Group("topic") {
			if r := floats.Sum(g.Values("relevant")) / floats.Sum(g.Values("irrelevant")); r >= topicRatioLow && r <= topicRatioHigh && found < wanted {
				holds[found] = true
				found++
			}
		}
		return judge.Check{Test: holds, Why: "The topics of the stream are chosen by this very ratio, and a trial refuses others; that 14 of them exist is checked with it."}
	},
}))

// untuned are margins that nobody chose on data.
var untuned = []margins{{0, 0}, {1, 0}, {1, 1}}

// knownFromFig4 is what was known when these claims were added.
const knownFromFig4 = "the errors of fig4 for all margins, and its topics"

// claimsOnPOLA are the statements about POLA with one vocabulary.
func claimsOnPOLA(setting, suffix string) []experiment.Claim {
	words := " (" + vocabulary(setting) + ")"
	again := func(first string) string { // the first vocabulary has the claims, the other reads them again
		if suffix == "" {
			return ""
		}
		return first
	}
	const readings = "for POLA as in Fig. 1 and relaxed (Eq. 12; γ and length chosen for the nearest pair), and three rules which pairs update it."
	within := "On at least half of the topics the 95 % interval of the difference of errors lies within ±5 points"
	return []experiment.Claim{
		{
			ID:        "fig4-1nn" + suffix,
			Sentence:  again("fig4-1nn"),
			View:      "fig4-rules",
			Statement: "POLA clearly outperforms the simple 1NN algorithm" + words + ".",
			Where:     sevenFig4, Theirs: experiment.FigureOnly,
			Predicate: "Per topic, error of 1-NN − error of POLA > 0, jackknifed over segments of the stream; " + readings,
			Test:      fig4Test(setting, oneNN, func(units frame.Units) frame.Test { return frame.Positive(perSegment, units) }),
		},
		{
			ID:        "fig4-perceptron" + suffix,
			Sentence:  again("fig4-perceptron"),
			View:      "fig4",
			Statement: "The performance of the standard Perceptron algorithm is often comparable to POLA" + words + ".",
			Where:     sevenFig4, Theirs: experiment.FigureOnly,
			Predicate: within + "; " + readings,
			Test:      fig4Test(setting, perceptron, comparable),
		},
		{
			ID:        "fig4-paum" + suffix,
			Sentence:  again("fig4-paum"),
			View:      "fig4",
			Statement: "The performance of PAUM is often comparable to POLA" + words + ".",
			Where:     sevenFig4, Theirs: experiment.FigureOnly,
			Predicate: within + ", PAUM with the margins chosen on other topics; " + readings,
			Test:      fig4Test(setting, paumChosen.method(), comparable),
		},
	}
}

// perSegment is the rule of differences of errors, one per segment of the stream.
var perSegment = judge.Rule{Scale: 100, Unit: "points", Sample: "segment"}

// lower gives the pseudo-values of error(x) − error(y) − margin, one per segment.
func lower(x, y string, margin float64) frame.Measure {
	m := balanced(x).Minus(balanced(y)).Plus(-margin)
	return func(t *table.Table) []float64 { return experiment.NotEmpty("topics", m(t))[1:] }
}

// positiveOverTopics tests that the mean of what lower gives over the topics is positive.
func positiveOverTopics(m frame.Measure) frame.Test {
	return frame.Positive(perSegment, frame.Unit("mean over the topics", m))
}

// fig4Test tests a rival against each form of POLA and each rule. A positive difference
// means that POLA is better.
func fig4Test(setting, rival string, test func(frame.Units) frame.Test) frame.Test {
	return frame.Under(polaReadings, func(r polaReading) (string, frame.Test) {
		return r.name, test(frame.OverGroups(lower(rival, r.method, 0), "topic")).Where("setting", setting)
	})
}

// comparable tests that a rival is often comparable to POLA.
func comparable(units frame.Units) frame.Test {
	return frame.Equivalent(comparableMargin, comparableShare, perSegment, units)
}

// paumSpread tests that the worst margins cost much more than the best, on the
// mean over the topics of a setting.
func paumSpread(t *table.Table) judge.Test {
	best, worst := least(t, paumGrid, margins.method, 1).method(), least(t, paumGrid, margins.method, -1).method()
	test := positiveOverTopics(lower(worst, best, drastic))(t)
	s := judge.Summarize(test.(judge.Positive).Units[0].Diffs)
	return judge.Shown{
		Test: test,
		Ours: fmt.Sprintf("%s is worse than %s by %.1f ± %.1f points, claimed at least %.0f", worst, best, 100*(s.Mean+drastic), 100*s.Half, 100*drastic),
	}
}
