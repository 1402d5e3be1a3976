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
	"slices"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Paper lists the experiments in the order of the paper.
var Paper = experiment.Paper{
	Key:         "rmp2007",
	Citation:    "A. Rakhlin, J. Abernethy, P. L. Bartlett. Online Discovery of Similarity Mappings. ICML 2007.",
	Experiments: []experiment.Spec{SetCover, Fig1, Fig1Width, Example, Fig2, Fig3, Objective, Multitask, Sensors, Moving, Subsets, Overfit, Adapt, MedoidCost},
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

// whole reads a cell of a column of names that holds a whole number, such as a round.
func whole(column, cell string) int {
	n, err := strconv.Atoi(cell)
	if err != nil {
		judge.Refuse("rmp2007: %s %q, want a whole number", column, cell)
	}
	return n
}

// shown lists the numbers in a column of names, in ascending order.
func shown(t *table.Table, column string) []int {
	var out []int
	for _, cell := range t.Unique(column) {
		out = append(out, whole(column, cell))
	}
	slices.Sort(out)
	return out
}

// addMean adds the mean over trials to a line, and its interval to the band.
func addMean(line *plots.Line, x, scale float64, trials []float64) {
	mean, half := judge.Summarize(trials).Interval()
	line.X, line.Y = append(line.X, x), append(line.Y, scale*mean)
	line.Lo, line.Hi = append(line.Lo, scale*(mean-half)), append(line.Hi, scale*(mean+half))
}

// trialsNote describes the intervals of a figure.
func trialsNote(t *table.Table) string {
	return experiment.TrialsNote(t, ", which cover the random draws of a trial and nothing else")
}
