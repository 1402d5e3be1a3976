// Package protocol has what the rooms of rmp2007 share: the learners as tables name them, their games and regrets, and the digits.
package protocol

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
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

// MaxRounds is the largest number of rounds in a table.
const MaxRounds = 1_000_000_000

// A player pays for round t; of a walk it tells how many steps moved, otherwise NaN.
type Player struct {
	Method string
	Pay    func(t int, f metric.CostRound) (loss, acceptance float64, err error)
}

// OnlinePlayer learns from each round.
func OnlinePlayer(method string, l Learner) Player {
	return Player{method, func(_ int, f metric.CostRound) (float64, float64, error) {
		out, err := l.Step(f)
		acceptance := math.NaN()
		if rmp, walks := l.(*mapping.RMP); walks {
			acceptance = rmp.Diagnostics().Acceptance()
		}
		return out.Loss, acceptance, err
	}}
}

// LossOf returns what the map pi costs in round f.
func LossOf(pi []int, f metric.CostRound) float64 {
	sum := 0.0
	for i, j := range pi {
		sum += f.Cost.At(i, j)
	}
	return sum
}

// Image returns the prototypes that a map uses, in ascending order.
func Image(pi []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(pi)))
}

// Percent are shares in per cent, with intervals that may leave 0 to 100.
var Percent = frame.Band{Scale: 100}

func Square(v float64) float64 { return v * v }

// LargestSide bounds the side of the images that a map is drawn of; digits have 28 pixels.
const LargestSide = 1024

// The learners as tables name them: RMP by the rule of its learning rate.
const (
	RMPPrinted   = "RMP printed"
	RMPCorrected = "RMP corrected"
	RMPAnytime   = "RMP anytime"
	RMPDoubling  = "RMP doubling"
	RMPTen       = "RMP printed x10"
	RMPHundred   = "RMP printed x100"
	FTL          = "FTL"
)

// EtaReadings are the two readings of the learning rate η: as printed, and as the proof of Theorem 2.1 needs it.
var EtaReadings = []string{RMPPrinted, RMPCorrected}

// NewRMP returns RMP for maps of a objects to at most p.M of b prototypes, with the learning rate of a rule.
func NewRMP(src *rand.PCG, rule string, a, b, rounds int, p mapping.RMPParams) (*mapping.RMP, error) {
	switch rule {
	case RMPPrinted:
		p.Eta, p.Rounds = mapping.EtaPrinted, rounds
	case RMPCorrected:
		p.Eta, p.Rounds = mapping.EtaCorrected, rounds
	case RMPAnytime:
		p.Eta = mapping.EtaAnytime
	case RMPDoubling:
		p.Eta = mapping.EtaPrinted
	case RMPTen:
		p.Eta, p.Rate = mapping.EtaFixed, 10*mapping.PrintedEta(a, b, p.M, rounds)
	case RMPHundred:
		p.Eta, p.Rate = mapping.EtaFixed, 100*mapping.PrintedEta(a, b, p.M, rounds)
	default:
		return nil, fmt.Errorf("rmp2007: rule of the learning rate: %q is not known", rule)
	}
	return mapping.NewRMP(src, a, b, p)
}

// A learner learns maps from costs.
type Learner = learners.Online[metric.CostRound, []int]

// NewLearner returns follow-the-leader, or RMP as NewRMP does.
func NewLearner(src *rand.PCG, rule string, a, b, rounds int, p mapping.RMPParams) (Learner, error) {
	if rule == FTL {
		return mapping.NewFTL(a, b, mapping.FTLParams{M: p.M})
	}
	return NewRMP(src, rule, a, b, rounds, p)
}

// Distortion names a way to compare two coordinates; the sum over coordinates compares vectors (Section 5).
type Distortion string

const (
	Squared  Distortion = "squared"
	Absolute Distortion = "L1"
)

// Distortions are those that the paper names as examples.
var Distortions = []Distortion{Squared, Absolute}

// Compare has the functions of the distortions.
var Compare = map[Distortion]func(a, b float64) float64{
	Squared:  func(a, b float64) float64 { return (a - b) * (a - b) },
	Absolute: func(a, b float64) float64 { return math.Abs(a - b) },
}

// Losses so far of a learner and of what it is compared with.
var (
	Losses = frame.Column("loss")
	Bests  = frame.Column("best")
)

// PerRound is a sum over the rounds so far as a mean over them.
func PerRound(m frame.Measure) frame.Measure { return m.Over(frame.Cells("round")) }

// After is a measure after some tenths of the rounds that its rows have.
func After(parts int, m frame.Measure) frame.Measure {
	return func(rows *table.Table) []float64 {
		return m(rows.Where("round", strconv.Itoa(LastRound(rows)*parts/10)))
	}
}

// LastRound is the number of rounds that a table has.
func LastRound(rows *table.Table) int {
	return experiment.Whole("rmp2007: last round", experiment.Last("rounds", frame.Numbers(rows, "round")), 1, MaxRounds)
}

// Sublinear is positive where a sum grows by less in the second half of the rounds than in the first.
func Sublinear(m frame.Measure) frame.Measure { return After(5, m).Times(2).Minus(After(10, m)) }

// More is how much more a measure is of one method than of another.
func More(m frame.Measure, method, than string) frame.Measure {
	return m.Where("method", method).Minus(m.Where("method", than))
}

// OurWorlds are what stands in where a paper has no data.
const OurWorlds = "worlds of ours"

// Vanishing tests for both readings of η that RMP's regret per round is smaller after all rounds than after a tenth of
// them, in each of some cells.
func Vanishing(regret frame.Measure, rule judge.Rule, cells ...string) frame.Test {
	return frame.UnderNames(EtaReadings, func(method string) frame.Test {
		m := regret.Where("kind", "loss", "method", method)
		return frame.Positive(rule, frame.OverCells("cell", cells, After(1, m).Minus(After(10, m))))
	})
}

// Beside adds a column with a number of one method to the rows of all that agree with its rows in some columns.
func Beside(column, method, number string, same ...string) frame.Rows {
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

// Styles are how all figures draw the learners, and some a room's own methods.
func Styles(own plots.Styles) plots.Styles {
	out := plots.Styles{
		RMPPrinted:   {Color: plots.Blue},
		RMPCorrected: {Color: plots.Vermillion, Dash: plots.Dashed},
		RMPAnytime:   {Color: plots.Black, Dash: plots.DashDotDot},
		RMPDoubling:  {Color: plots.Green, Dash: plots.LongDashed},
		RMPTen:       {Color: plots.Indigo, Dash: plots.Dashed},
		RMPHundred:   {Color: plots.Brown, Dash: plots.TwoDashes},
		FTL:          {Color: plots.Orange, Dash: plots.Dotted},
	}
	maps.Copy(out, own)
	return out
}

// NoRegret is the line of no regret.
var NoRegret = frame.Fixed(plots.Reference{Name: "no regret", At: 0, Color: plots.Grey})

// TrialsCover says what the intervals of all figures cover.
const TrialsCover = ", which cover the random draws of a trial and nothing else"
