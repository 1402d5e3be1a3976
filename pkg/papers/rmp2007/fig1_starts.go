package rmp2007

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// The cells of Fig. 1 that were added afterwards: EM from random rows on the points of the first four, Gaussians of
// the other width that fits the paper's words, and restarts on the same points.
const (
	cellSquared    = "squared"
	cellL1         = "L1"
	cellWords      = "sparse words"
	cellMasked     = "sparse Gaussians"
	cellSquaredRow = "squared; EM from rows"
	cellL1Row      = "L1; EM from rows"
	cellWordsRow   = "sparse words; EM from rows"
	cellMaskedRow  = "sparse Gaussians; EM from rows"
	cellSquaredOne = "squared; width 1"
	cellL1One      = "L1; width 1"
	cellRestarts   = "squared; restarts"
)

// samePoints are the cells whose points and best map are those of another.
var samePoints = []string{cellSquaredRow, cellL1Row, cellWordsRow, cellMaskedRow, cellRestarts}

const (
	// otherWidth is the other standard deviation of which the Gaussians are "easily separable" by all coordinates
	// and "non-separable" by fewer than "roughly" 15: who knew the centres would mistake about 3 % by 15.
	otherWidth = 1
	// kMeansStarts are the runs of k-means of a round, of which it takes the best.
	kMeansStarts = 10
	// fig1Restarts are the runs of a method on the same points.
	fig1Restarts = 4
)

// fig1StartCells returns these cells.
func fig1StartCells(scale experiment.Scale) []experiment.Cell {
	both := slices.Concat(fig1EM, fig1EMRows)
	cell := func(name, set string, s fig1Settings) experiment.Cell { return fig1Cell(scale, name, set, s) }
	return []experiment.Cell{
		cell(cellSquaredRow, "gaussians", fig1Settings{Distortion: squared, Rounds: 50, EM: fig1EMRows, KMeansStarts: kMeansStarts}),
		cell(cellL1Row, "gaussians", fig1Settings{Distortion: absolute, Rounds: 50, EM: fig1EMRows, KMeansStarts: kMeansStarts}),
		cell(cellSquaredOne, "gaussians", fig1Settings{Distortion: squared, Rounds: 50, RMP: etaReadings, EM: both, KMeansStarts: kMeansStarts, Width: otherWidth}),
		cell(cellL1One, "gaussians", fig1Settings{Distortion: absolute, Rounds: 50, RMP: etaReadings, EM: both, KMeansStarts: kMeansStarts, Width: otherWidth}),
		cell(cellRestarts, "gaussians", fig1Settings{Distortion: squared, Rounds: 50, RMP: []string{rmpPrinted}, EM: []string{emSpherical, emSphereRow}, Restarts: fig1Restarts}),
		cell(cellWordsRow, "words", fig1Settings{Distortion: squared, Rounds: 100, EM: sparseEMRows}),
		cell(cellMaskedRow, "masked gaussians", fig1Settings{Distortion: squared, Rounds: 100, EM: sparseEMRows}),
	}
}

// kMeansPlayer finds the best: from the second round on it maps each point to the point nearest to the centre of its
// cluster, by the best of several runs of k-means on the coordinates revealed so far.
func (s fig1Settings) kMeansPlayer(ctx context.Context, x *mat.Dense, rng *rand.Rand) player {
	params := cluster.KMeansParams{K: s.M, Starts: s.KMeansStarts}
	return s.batchPlayer(kMeansName, x, rng, func(revealed *mat.Dense) (clustering, error) { return cluster.FitKMeans(ctx, rng, revealed, params) })
}

// restarted names a run of a method on points that other runs have, too; runs count from 1.
func restarted(method string, run int) string { return method + "; run " + strconv.Itoa(run) }

// restartedPlayers are RMP and EM, several runs of each, which differ by their own draws only.
func (s fig1Settings) restartedPlayers(ctx context.Context, x *mat.Dense, seed random.Seed) ([]player, error) {
	var out []player
	for run := 1; run <= s.Restarts; run++ {
		for _, method := range s.RMP {
			name := restarted(method, run)
			l, err := s.learner(seed.PCG(name), method)
			if err != nil {
				return nil, err
			}
			out = append(out, onlinePlayer(name, l))
		}
		for _, method := range s.EM {
			p := s.emPlayer(ctx, method, x, seed.Own("EM", restarted(method, run)))
			p.method = restarted(method, run)
			out = append(out, p)
		}
	}
	return out, nil
}

// A fig1Case is one way to read Fig. 1: a game, and the forms of EM that play it.
type fig1Case struct {
	name string
	// cells have the same points; the first has RMP.
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
		{cellSquared, []string{cellSquared}, alone, ""},
		{cellL1, []string{cellL1}, alone, ""},
		{cellSquaredOne, []string{cellSquaredOne}, alone, knownWidth},
		{cellL1One, []string{cellL1One}, alone, knownWidth},
	}
	// fig1Against are those of RMP against EM.
	fig1Against = []fig1Case{
		{cellSquared, []string{cellSquared}, fig1EM, ""},
		{cellL1, []string{cellL1}, fig1EM, ""},
		{cellSquared, []string{cellSquared, cellSquaredRow}, fig1EMRows, knownStarts},
		{cellL1, []string{cellL1, cellL1Row}, fig1EMRows, knownStarts},
		{cellSquaredOne, []string{cellSquaredOne}, slices.Concat(fig1EM, fig1EMRows), knownWidth},
		{cellL1One, []string{cellL1One}, slices.Concat(fig1EM, fig1EMRows), knownWidth},
	}
	// fig1Best are those of RMP against k-means.
	fig1Best = []fig1Case{
		{cellSquared, []string{cellSquared, cellSquaredRow}, []string{kMeansName}, ""},
		{cellL1, []string{cellL1, cellL1Row}, []string{kMeansName}, ""},
		{cellSquaredOne, []string{cellSquaredOne}, []string{kMeansName}, ""},
		{cellL1One, []string{cellL1One}, []string{kMeansName}, ""},
	}
	fig1Sparse4 = []fig1Case{
		{cellWords, []string{cellWords}, sparseEM, ""},
		{cellMasked, []string{cellMasked}, sparseEM, ""},
		{cellWords, []string{cellWords, cellWordsRow}, sparseEMRows, knownStarts},
		{cellMasked, []string{cellMasked, cellMaskedRow}, sparseEMRows, knownStarts},
	}
)

// finals returns the regrets of all methods of the cells of a case, trial by trial. It refuses cells of different points.
func (c fig1Case) finals(t *table.Table) []finals {
	all := finalsOf(t.Where("cell", c.cells[0]))
	for _, cell := range c.cells[1:] {
		more := finalsOf(t.Where("cell", cell))
		if len(more) != len(all) {
			judge.Refuse("rmp2007: %d trials of %s against %d of %s", len(more), cell, len(all), c.cells[0])
		}
		for i, m := range more {
			if m.best != all[i].best || m.rounds != all[i].rounds {
				judge.Refuse("rmp2007: %s and %s differ in their points: the best map costs %v and %v", cell, c.cells[0], m.best, all[i].best)
			}
			for method := range m.end {
				if _, there := all[i].end[method]; !there {
					all[i].end[method], all[i].half[method] = m.end[method], m.half[method]
				}
			}
		}
	}
	return all
}

// fig1Readings tests a claim for each case, reading of η and form of EM.
func fig1Readings(t *table.Table, cases []fig1Case, test func(c []finals, rule, em string) judge.Test) judge.Readings {
	var out judge.Readings
	for _, at := range cases {
		c := at.finals(t)
		for _, rule := range etaReadings {
			for _, em := range at.forms {
				name := rule
				if em != "" {
					name += " against " + em
				}
				out = append(out, judge.Reading{Name: name + ", " + at.name, Test: test(c, rule, em), Afterwards: at.known})
			}
		}
	}
	return out
}

// restartSpread returns the standard deviation of a method's final regret over the runs on the points of a trial, as a
// share of the best map's loss.
func restartSpread(r finals, method string) float64 {
	var v []float64
	for run := 1; run <= fig1Restarts; run++ {
		end, there := r.end[restarted(method, run)]
		if !there {
			judge.Refuse("rmp2007: run %d of %s is missing", run, method)
		}
		v = append(v, end/r.best)
	}
	return deviation(v, everyTrial)
}

// restartReadings test whether EM varies more than RMP on the same points.
func restartReadings(t *table.Table) judge.Readings {
	c := finalsOf(t.Where("cell", cellRestarts))
	return judge.Under([]string{emSpherical, emSphereRow}, func(em string) judge.Test {
		of := func(method string) []float64 {
			return each(c, func(r finals) float64 { return restartSpread(r, method) })
		}
		x, y := of(em), of(rmpPrinted)
		d := each(c, func(r finals) float64 { return restartSpread(r, em) - variableTimes*restartSpread(r, rmpPrinted) })
		return judge.Shown{
			Test: judge.Positive{Units: []judge.Unit{{Name: em, Diffs: d}}},
			Ours: fmt.Sprintf("standard deviation over runs %.3g against %.3g of the best map's loss", judge.Summarize(x).Mean, judge.Summarize(y).Mean),
		}
	})
}

// drawRestarts shows how much the final regret of a method varies on the same points.
func drawRestarts(t *table.Table) (plots.Drawing, error) {
	c := t.Where("cell", cellRestarts)
	if c.Len() == 0 {
		return plots.Missing("any trial"), nil
	}
	trials := finalsOf(c)
	if len(trials) == 0 {
		return plots.Missing("any trial's end"), nil
	}
	text := &plots.TextTable{Head: []string{"method", "mean final regret (% of the best map's loss)", "standard deviation over runs (%)", "largest of a trial (%)"}}
	for _, method := range []string{rmpPrinted, emSpherical, emSphereRow} {
		var spreads, means []float64
		for _, r := range trials {
			sum := 0.0
			for run := 1; run <= fig1Restarts; run++ {
				sum += r.end[restarted(method, run)] / r.best
			}
			means = append(means, 100*sum/fig1Restarts)
			spreads = append(spreads, 100*restartSpread(r, method))
		}
		mean, half := judge.Summarize(spreads).Interval()
		text.Rows = append(text.Rows, []string{method, fmt.Sprintf("%.1f", judge.Summarize(means).Mean), fmt.Sprintf("%.2f ± %.2f", mean, half), fmt.Sprintf("%.2f", slices.Max(spreads))})
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: fmt.Sprintf("Runs that differ by the method's own draws only: %d of each method on the points of each trial (squared differences, width 1.5). EM spherical starts from k-means++, EM spherical; rows from four random points. %s", fig1Restarts, trialsNote(t))}}, nil
}
