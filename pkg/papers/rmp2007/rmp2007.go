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
	"math/rand/v2"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Paper lists the experiments: those of the paper in its order, then ours.
var Paper = experiment.Paper{
	Key:         "rmp2007",
	Citation:    "A. Rakhlin, J. Abernethy, P. L. Bartlett. Online Discovery of Similarity Mappings. ICML 2007.",
	Experiments: []experiment.Spec{Sensors, Moving, SetCover, MedoidCost, Fig1, Example, Adapt, Objective, Overfit, Fig2, Fig3, Multitask, Subsets, Fig1Width},
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

// etaReadings are the two readings of the learning rate η: as printed, and as the proof of Theorem 2.1 needs it.
var etaReadings = []string{rmpPrinted, rmpCorrected}

// newRMP returns RMP for maps of a objects to at most p.M of b prototypes, with the learning rate of a rule.
func newRMP(src *rand.PCG, rule string, a, b, rounds int, p mapping.RMPParams) (*mapping.RMP, error) {
	switch rule {
	case rmpPrinted:
		p.Eta, p.Rounds = mapping.EtaPrinted, rounds
	case rmpCorrected:
		p.Eta, p.Rounds = mapping.EtaCorrected, rounds
	case rmpAnytime:
		p.Eta = mapping.EtaAnytime
	case rmpDoubling:
		p.Eta = mapping.EtaPrinted
	case rmpTen:
		p.Eta, p.Rate = mapping.EtaFixed, 10*mapping.PrintedEta(a, b, p.M, rounds)
	case rmpHundred:
		p.Eta, p.Rate = mapping.EtaFixed, 100*mapping.PrintedEta(a, b, p.M, rounds)
	default:
		return nil, fmt.Errorf("rmp2007: rule of the learning rate: %q is not known", rule)
	}
	return mapping.NewRMP(src, a, b, p)
}

// A learner learns maps from costs.
type learner = learners.Online[metric.CostRound, []int]

// newLearner returns follow-the-leader, or RMP as newRMP does.
func newLearner(src *rand.PCG, rule string, a, b, rounds int, p mapping.RMPParams) (learner, error) {
	if rule == ftlName {
		return mapping.NewFTL(a, b, mapping.FTLParams{M: p.M})
	}
	return newRMP(src, rule, a, b, rounds, p)
}

// distortion names a way to compare two coordinates; the sum over coordinates compares vectors (Section 5).
type distortion string

const (
	squared  distortion = "squared"
	absolute distortion = "L1"
)

// distortions are those that the paper names as examples.
var distortions = []distortion{squared, absolute}

// compare has the functions of the distortions.
var compare = map[distortion]func(a, b float64) float64{
	squared:  func(a, b float64) float64 { return (a - b) * (a - b) },
	absolute: func(a, b float64) float64 { return math.Abs(a - b) },
}

// Losses so far of a learner and of what it is compared with.
var (
	losses = frame.Column("loss")
	bests  = frame.Column("best")
)

// perRound is a sum over the rounds so far as a mean over them.
func perRound(m frame.Measure) frame.Measure { return m.Over(frame.Cells("round")) }

// after is a measure after some tenths of the rounds that its rows have.
func after(parts int, m frame.Measure) frame.Measure {
	return func(rows *table.Table) []float64 {
		return m(rows.Where("round", strconv.Itoa(lastRound(rows)*parts/10)))
	}
}

// lastRound is the number of rounds that a table has.
func lastRound(rows *table.Table) int {
	return experiment.Whole("rmp2007: last round", experiment.Last("rounds", frame.Numbers(rows, "round")), 1, maxRounds)
}

// sublinear is positive where a sum grows by less in the second half of the rounds than in the first.
func sublinear(m frame.Measure) frame.Measure { return after(5, m).Times(2).Minus(after(10, m)) }

// more is how much more a measure is of one method than of another.
func more(m frame.Measure, method, than string) frame.Measure {
	return m.Where("method", method).Minus(m.Where("method", than))
}

// vanishing tests for both readings of η that RMP's regret per round is smaller after all rounds than after a tenth of
// them, in each of some cells.
func vanishing(regret frame.Measure, rule judge.Rule, cells ...string) frame.Test {
	return frame.UnderNames(etaReadings, func(method string) frame.Test {
		m := regret.Where("kind", "loss", "method", method)
		return frame.Positive(rule, frame.OverCells("cell", cells, after(1, m).Minus(after(10, m))))
	})
}

// beside adds a column with a number of one method to the rows of all that agree with its rows in some columns.
func beside(column, method, number string, same ...string) frame.Rows {
	return func(t *table.Table) *table.Table {
		at := make([]string, t.Len())
		for _, name := range same {
			for i, cell := range t.Index(name) {
				at[i] += cell + "\x00"
			}
		}
		of := map[string]string{}
		for i, m := range t.Index("method") {
			if m == method {
				of[at[i]] = table.Format(t.Values(number)[i])
			}
		}
		cells := make([]string, t.Len())
		for i := range cells {
			cells[i] = of[at[i]]
		}
		return t.With(column, cells)
	}
}

// colored are lines by method, each in a colour of its own.
func colored(methods ...string) []plots.Line {
	var out []plots.Line
	for k, method := range methods {
		out = append(out, plots.Line{Name: method, Color: k})
	}
	return out
}

// noRegret is the line of no regret.
var noRegret = frame.Fixed(plots.Reference{Name: "no regret", At: 0, Color: plots.Grey})

// trialsCover says what the intervals of all figures cover.
const trialsCover = ", which cover the random draws of a trial and nothing else"
