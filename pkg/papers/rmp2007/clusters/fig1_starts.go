package clusters

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/table"
)

// fig1StartCells returns these cells.
func fig1StartCells(scale experiment.Scale) []experiment.Cell {
	both := slices.Concat(fig1EM, fig1EMRows)
	return []experiment.Cell{
		fig1Cell(scale, cellSquaredRow, "gaussians", fig1Settings{Distortion: protocol.Squared, Rounds: 50, EM: fig1EMRows, KMeansStarts: kMeansStarts}),
		fig1Cell(scale, cellL1Row, "gaussians", fig1Settings{Distortion: protocol.Absolute, Rounds: 50, EM: fig1EMRows, KMeansStarts: kMeansStarts}),
		fig1Cell(scale, cellSquaredOne, "gaussians", fig1Settings{Distortion: protocol.Squared, Rounds: 50, RMP: protocol.EtaReadings, EM: both, KMeansStarts: kMeansStarts, Width: otherWidth}),
		fig1Cell(scale, cellL1One, "gaussians", fig1Settings{Distortion: protocol.Absolute, Rounds: 50, RMP: protocol.EtaReadings, EM: both, KMeansStarts: kMeansStarts, Width: otherWidth}),
		fig1Cell(scale, cellRestarts, "gaussians", fig1Settings{Distortion: protocol.Squared, Rounds: 50, RMP: []string{protocol.RMPPrinted}, EM: []string{emSpherical, emSphereRow}, Restarts: fig1Restarts}),
		fig1Cell(scale, cellWordsRow, "words", fig1Settings{Distortion: protocol.Squared, Rounds: 100, EM: sparseEMRows}),
		fig1Cell(scale, cellMaskedRow, "masked gaussians", fig1Settings{Distortion: protocol.Squared, Rounds: 100, EM: sparseEMRows}),
	}
}

// kMeansPlayer finds the best: from the second round on it maps each point to the point nearest to the centre of its
// cluster, by the best of several runs of k-means on the coordinates revealed so far.
func (s fig1Settings) kMeansPlayer(ctx context.Context, x *mat.Dense, rng *rand.Rand) protocol.Player {
	params := cluster.KMeansParams{K: s.M, Starts: s.KMeansStarts}
	return s.batchPlayer(kMeansName, x, rng, func(revealed *mat.Dense) (clustering, error) { return cluster.FitKMeans(ctx, rng, revealed, params) })
}

// A fig1Case is one way to read Fig. 1: a game, and the forms of EM that play it.
type fig1Case struct {
	// cells have the same points; the first has RMP, and names the case.
	cells []string
	forms []string
	// known is that of judge.Reading.Afterwards.
	known string
}

// What was published when the cases were added.
const (
	knownStarts = "the regrets of RMP, and of EM from k-means++"
	knownWidth  = "the regrets of RMP and of EM spherical at four widths (fig1-width)"
)

var (
	// fig1Alone are the games of claims on RMP alone.
	fig1Alone = []fig1Case{
		{[]string{cellSquared}, alone, ""},
		{[]string{cellL1}, alone, ""},
		{[]string{cellSquaredOne}, alone, knownWidth},
		{[]string{cellL1One}, alone, knownWidth},
	}
	// fig1Against are those of RMP against EM.
	fig1Against = []fig1Case{
		{[]string{cellSquared}, fig1EM, ""},
		{[]string{cellL1}, fig1EM, ""},
		{[]string{cellSquared, cellSquaredRow}, fig1EMRows, knownStarts},
		{[]string{cellL1, cellL1Row}, fig1EMRows, knownStarts},
		{[]string{cellSquaredOne}, slices.Concat(fig1EM, fig1EMRows), knownWidth},
		{[]string{cellL1One}, slices.Concat(fig1EM, fig1EMRows), knownWidth},
	}
	// fig1Best are those of RMP against k-means.
	fig1Best = []fig1Case{
		{[]string{cellSquared, cellSquaredRow}, []string{kMeansName}, ""},
		{[]string{cellL1, cellL1Row}, []string{kMeansName}, ""},
		{[]string{cellSquaredOne}, []string{kMeansName}, ""},
		{[]string{cellL1One}, []string{kMeansName}, ""},
	}
	fig1Sparse4 = []fig1Case{
		{[]string{cellWords}, sparseEM, ""},
		{[]string{cellMasked}, sparseEM, ""},
		{[]string{cellWords, cellWordsRow}, sparseEMRows, knownStarts},
		{[]string{cellMasked, cellMaskedRow}, sparseEMRows, knownStarts},
	}
)

// Of is a measure of the rows of a method in the first cell that has it. It refuses cells of different points.
func (c fig1Case) Of(method string, m frame.Measure) frame.Measure {
	return func(rows *table.Table) []float64 {
		for _, cell := range c.cells {
			g := rows.Where("cell", cell, "method", method)
			if g.Len() == 0 {
				continue
			}
			if a, b := protocol.After(10, bestLoss)(g), protocol.After(10, bestLoss)(rows.Where("cell", c.cells[0], "method", protocol.RMPPrinted)); !slices.Equal(a, b) {
				judge.Refuse("rmp2007: %s and %s differ in their points: the best map costs %v and %v", cell, c.cells[0], a, b)
			}
			return m(g)
		}
		judge.Refuse("rmp2007: no regrets of %s in %q", method, c.cells)
		return nil
	}
}

// fig1Readings tests a claim for each case, reading of η and form of EM.
func fig1Readings(cases []fig1Case, test func(c fig1Case, rule, em string) frame.Test) (out []frame.Reading) {
	for _, c := range cases {
		for _, rule := range protocol.EtaReadings {
			for _, em := range c.forms {
				name := rule
				if em != "" {
					name += " against " + em
				}
				out = append(out, frame.Reading{Name: name + ", " + c.cells[0], Test: test(c, rule, em), Afterwards: c.known})
			}
		}
	}
	return out
}

// fig1Test is the test under these readings, on regrets.
func fig1Test(cases []fig1Case, test func(c fig1Case, rule, em string) frame.Test) frame.Test {
	return frame.Readings(fig1Readings(cases, test)...).On(withBest)
}

// restartReadings test whether EM varies more than RMP on the same points.
func restartReadings() (out []frame.Reading) {
	rmp := overRuns(protocol.RMPPrinted, deviation)
	for _, method := range []string{emSpherical, emSphereRow} {
		em := overRuns(method, deviation)
		test := frame.Positive(judge.Rule{}, frame.Unit(method, em.Minus(rmp.Times(variableTimes)))).Told(func(t *table.Table) judge.Shown {
			return judge.Shown{Ours: fmt.Sprintf("standard deviation over runs %.3g against %.3g of the best map's loss", frame.Band{}.Mean(em(t)), frame.Band{}.Mean(rmp(t)))}
		})
		out = append(out, frame.Reading{Name: protocol.RMPPrinted + " against " + method + ", runs on the same points", Test: test, Afterwards: knownStarts})
	}
	return out
}
