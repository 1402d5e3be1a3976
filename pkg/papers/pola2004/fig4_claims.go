package pola2004

import (
	"fmt"

	"metriclab/pkg/experiment"
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
var fig4Claims = append(append(claimsOnPOLA(wholeStream, ""), claimsOnPOLA(firstWords, "-first")...), experiment.Claim{
	ID:        "fig4-paum-parameters",
	View:      "fig4-paum",
	Statement: "The PAUM algorithm depends on parameters that drastically effect its performance.",
	Where:     sevenFig4, Theirs: experiment.FigureOnly,
	Predicate: "Over the declared grid, the margins with the largest mean error cost at least 10 points more than those with the least, on the mean over the topics; jackknifed, for two vocabularies; which margins are best and worst is read from the same table.",
	Grade: func(t *table.Table) (experiment.Finding, error) {
		var out []experiment.Reading
		for _, v := range vocabularies {
			f, err := paumSpread(t, v.key)
			if err != nil {
				return f, err
			}
			out = append(out, experiment.Reading{Name: v.name, Finding: f})
		}
		return experiment.AllReadings(out), nil
	},
})

// claimsOnPOLA are the statements about POLA with one vocabulary.
func claimsOnPOLA(setting, suffix string) []experiment.Claim {
	words := " (" + vocabulary(setting) + ")"
	const readings = "for POLA as in Fig. 1 and relaxed (Eq. 12; γ and length chosen for the nearest pair), and three rules which pairs update it."
	within := "On at least half of the topics the 95 % interval of the difference of errors lies within ±5 points"
	return []experiment.Claim{
		{
			ID:        "fig4-1nn" + suffix,
			View:      "fig4-rules",
			Statement: "POLA clearly outperforms the simple 1NN algorithm" + words + ".",
			Where:     sevenFig4, Theirs: experiment.FigureOnly,
			Predicate: "Per topic, error of 1-NN − error of POLA > 0, jackknifed over segments of the stream; " + readings,
			Grade: func(t *table.Table) (experiment.Finding, error) {
				return fig4Readings(func(method string) (experiment.Finding, error) {
					units, err := filterUnits(t, setting, oneNN, method, 0)
					if err != nil {
						return experiment.Finding{}, err
					}
					return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points", Sample: "segment"})
				})
			},
		},
		{
			ID:        "fig4-perceptron" + suffix,
			View:      "fig4",
			Statement: "The performance of the standard Perceptron algorithm is often comparable to POLA" + words + ".",
			Where:     sevenFig4, Theirs: experiment.FigureOnly,
			Predicate: within + "; " + readings,
			Grade:     func(t *table.Table) (experiment.Finding, error) { return comparable(t, setting, perceptron) },
		},
		{
			ID:        "fig4-paum" + suffix,
			View:      "fig4",
			Statement: "The performance of PAUM is often comparable to POLA" + words + ".",
			Where:     sevenFig4, Theirs: experiment.FigureOnly,
			Predicate: within + ", PAUM with the margins chosen on other topics; " + readings,
			Grade:     func(t *table.Table) (experiment.Finding, error) { return comparable(t, setting, paumChosen.method()) },
		},
	}
}

// filterUnits has a unit per topic: the pseudo-values of error(x) − error(y) − margin.
func filterUnits(t *table.Table, setting, x, y string, margin float64) ([]experiment.Unit, error) {
	var units []experiment.Unit
	for topic, g := range t.Where("setting", setting).Group("topic") {
		cx, err := counts(g, x)
		if err != nil {
			return nil, fmt.Errorf("topic %s: %w", topic, err)
		}
		cy, err := counts(g, y)
		if err != nil {
			return nil, fmt.Errorf("topic %s: %w", topic, err)
		}
		if len(cx.relevant) != len(cy.relevant) {
			return nil, fmt.Errorf("pola2004: topic %s: %d segments of %s against %d of %s", topic, len(cx.relevant), x, len(cy.relevant), y)
		}
		d := experiment.PseudoValues(len(cx.relevant), func(keep func(int) bool) float64 { return cx.balanced(keep) - cy.balanced(keep) - margin })
		units = append(units, experiment.Unit{Name: topic, Diffs: d})
	}
	return units, nil
}

// fig4Readings grades a claim for each form of POLA and each rule.
func fig4Readings(grade func(method string) (experiment.Finding, error)) (experiment.Finding, error) {
	var out []experiment.Reading
	for _, form := range polaForms {
		for _, rule := range pairRules {
			f, err := grade(rule.method(form.relax))
			if err != nil {
				return f, err
			}
			out = append(out, experiment.Reading{Name: form.name + ", " + rule.String(), Finding: f})
		}
	}
	return experiment.AllReadings(out), nil
}

// comparable grades that a rival is often comparable to POLA. A positive
// difference means that POLA is better.
func comparable(t *table.Table, setting, rival string) (experiment.Finding, error) {
	return fig4Readings(func(method string) (experiment.Finding, error) {
		units, err := filterUnits(t, setting, rival, method, 0)
		if err != nil {
			return experiment.Finding{}, err
		}
		return experiment.GradeEquivalent(units, experiment.EquivalenceRule{
			Margin: comparableMargin, Share: comparableShare, Scale: 100, Unit: "points", Sample: "segment",
		})
	})
}

// paumSpread grades that the worst margins cost much more than the best, on the
// mean over the topics.
func paumSpread(t *table.Table, setting string) (experiment.Finding, error) {
	best, err := bestOf(t, setting)
	if err != nil {
		return experiment.Finding{}, err
	}
	worst, most := best, -1.0
	for _, m := range paumGrid {
		e, err := meanError(t, setting, m.method())
		if err != nil {
			return experiment.Finding{}, err
		}
		if e > most {
			worst, most = m, e
		}
	}
	units, err := filterUnits(t, setting, worst.method(), best.method(), drastic)
	if err != nil {
		return experiment.Finding{}, err
	}
	var diffs [][]float64
	for _, u := range units {
		diffs = append(diffs, u.Diffs)
	}
	overall := overTopics(diffs)
	f, err := experiment.GradeUnits([]experiment.Unit{{Name: "mean over the topics", Diffs: overall}}, experiment.UnitRule{Scale: 100, Unit: "points", Sample: "segment"})
	if err != nil {
		return f, err
	}
	s := experiment.Summarize(overall)
	f.Ours = fmt.Sprintf("%s is worse than %s by %.1f ± %.1f points, claimed at least %.0f", worst.method(), best.method(), 100*(s.Mean+drastic), 100*s.Half, 100*drastic)
	return f, nil
}
