// Package rmp2007 declares the experiments of
//
//	Rakhlin, Abernethy, Bartlett. Online Discovery of Similarity Mappings.
//	ICML 2007.
//
// Each file is one experiment: its cells, its trial, its views and its claims.
package rmp2007

import (
	"fmt"
	"math"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/table"
)

// Paper lists the experiments in the order of the paper.
var Paper = experiment.Paper{
	Key:         "rmp2007",
	Citation:    "A. Rakhlin, J. Abernethy, P. L. Bartlett. Online Discovery of Similarity Mappings. ICML 2007.",
	Experiments: []experiment.Spec{SetCover, Fig1, Fig1Width, Example, Fig2, Fig3, Multitask, Sensors},
}

// The learners as tables name them: RMP by the rule of its learning rate.
const (
	rmpPrinted   = "RMP printed"
	rmpCorrected = "RMP corrected"
	rmpAnytime   = "RMP anytime"
	rmpDoubling  = "RMP doubling"
	rmpTen       = "RMP printed x10"
	rmpHundred   = "RMP printed x100"
	ftlName      = "FTL"
)

// rmpParams returns the parameters of RMP by the rule of its learning rate, for maps of a objects to
// at most m of b prototypes.
func rmpParams(rule string, a, b, m, rounds int) (mapping.RMPParams, error) {
	p := mapping.RMPParams{M: m}
	switch rule {
	case rmpPrinted:
		p.Eta, p.Rounds = mapping.Printed, rounds
	case rmpCorrected:
		p.Eta, p.Rounds = mapping.Corrected, rounds
	case rmpAnytime:
		p.Eta = mapping.Anytime
	case rmpDoubling:
		p.Eta = mapping.Printed
	case rmpTen:
		p.Eta, p.Rate = mapping.Fixed, 10*mapping.PrintedEta(a, b, m, rounds)
	case rmpHundred:
		p.Eta, p.Rate = mapping.Fixed, 100*mapping.PrintedEta(a, b, m, rounds)
	default:
		return p, fmt.Errorf("rmp2007: rule of the learning rate: %q is not known", rule)
	}
	return p, nil
}

// distortion compares two coordinates; the sum over coordinates compares vectors (Section 5).
type distortion struct {
	name string
	of   func(a, b float64) float64
}

// distortions are those that the paper names as examples.
var distortions = []distortion{
	{"squared", func(a, b float64) float64 { return (a - b) * (a - b) }},
	{"L1", func(a, b float64) float64 { return math.Abs(a - b) }},
}

func distortionOf(name string) (distortion, error) {
	for _, d := range distortions {
		if d.name == name {
			return d, nil
		}
	}
	return distortion{}, fmt.Errorf("rmp2007: distortion: %q is not known", name)
}

// rulesReadings grades a claim for each rule of the learning rate.
func rulesReadings(rules []string, grade func(rule string) (experiment.Finding, error)) (experiment.Finding, error) {
	var out []experiment.Reading
	for _, rule := range rules {
		f, err := grade(rule)
		if err != nil {
			return f, err
		}
		out = append(out, experiment.Reading{Name: rule, Finding: f})
	}
	return experiment.AllReadings(out), nil
}

// trialsNote describes the intervals of a figure.
func trialsNote(t *table.Table) string {
	n := len(t.Unique("trial"))
	if n < experiment.MinTrials {
		return fmt.Sprintf("Means over %d trial(s); fewer than %d, so no intervals are given.", n, experiment.MinTrials)
	}
	return fmt.Sprintf("Means over %d trials with 95 %% t intervals, which cover the random draws of a trial and nothing else.", n)
}
