package erkle2015

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// skipsLines are the curves of the figure: shares of the active updates for which no eigenpair is computed.
var skipsLines = []struct {
	style   plots.Line
	skipped []string // columns to add up
	instead string   // or the column of what is not skipped
}{
	{style: plots.Line{Name: "the paper's rule", Color: 3}, instead: "printed"},
	{style: plots.Line{Name: slackCurve, Color: 1}, skipped: []string{"weyl", "slack"}},
	{style: plots.Line{Name: "slack and block", Color: 2}, skipped: []string{"weyl", "slack", "block"}},
	{style: plots.Line{Name: "slack, block and bound", Color: 0}, instead: "computed"},
	{style: plots.Line{Name: "no negative eigenvalue: the most that a rule may skip", Color: plots.Grey, Dashed: true}, instead: "projected"},
}

const slackCurve = "slack"

// slackless tells that no update was decided by a slack: ERKLE has none from version 3 on.
func slackless(t *table.Table) bool {
	return !slices.ContainsFunc(t.Values("slack"), func(v float64) bool { return v != 0 })
}

const (
	skipsSetup = "ERKLE from K = I on random comparisons of n points drawn from N(0, I) in R⁵⁰, answered without error; one pass over 10,000 of them (200 at smoke scale), passive-aggressive steps unless said otherwise. " + skipsRule
	skipsRule  = "The paper's rule subtracts 3γ from a bound λ̂ on the smallest eigenvalue at each update and computes the eigenpair where λ̂ is negative; it is followed beside the learner, whose kernels are the same. "
)

func drawSkips(t *table.Table) (plots.Drawing, error) {
	d := plots.Drawing{Columns: 3}
	for _, cell := range paCells(t) {
		d.Panels = append(d.Panels, skipsPanel(t.Where("cell", cell), cell))
	}
	d.Caption = plots.Caption{Shows: skipsShare + skipsSetup + skipsOurs(t) + trialsNote(t)}
	return orMissing(d, "any trial")
}

const (
	skipsShare = "Share of the active updates so far for which no eigenpair is computed, by what shows that there is no negative eigenvalue. "
)

// skipsOurs is what the caption says of our certificates.
func skipsOurs(t *table.Table) string {
	slack := "a slack per object that is updated in constant time; "
	if slackless(t) {
		slack = ""
	}
	return "Ours, each tried where the one before fails: " + slack + "the exact smallest eigenvalue of the block of objects that triplets connect; a bound from a Krylov space. An update without a certificate costs an eigenpair. "
}

// skipsPanel draws the shares of one stream.
func skipsPanel(g *table.Table, title string) plots.Panel {
	p := plots.Panel{Title: title, XLabel: "triplets seen", YLabel: "updates without an eigenpair (%)", XLog: true, YMin: -2, YMax: 102}
	without := slackless(g)
	for _, l := range skipsLines {
		if without {
			if l.style.Name == slackCurve {
				continue
			}
			l.style.Name = strings.NewReplacer("slack and ", "", "slack, ", "").Replace(l.style.Name)
		}
		p.Marks = append(p.Marks, curveOf(g, "triplets", l.style, func(g *table.Table) []float64 {
			out := make([]float64, g.Len())
			for i, active := range g.Values("active") {
				if l.instead != "" {
					out[i] = 1 - g.Values(l.instead)[i]/active
				}
				for _, column := range l.skipped {
					out[i] += g.Values(column)[i] / active
				}
			}
			return out
		}))
	}
	return p
}

func drawSkipsCounts(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"stream", "triplets", "active updates", "slack", "block", "bound", "eigenpairs computed", "negative ones removed", "mean change of the margin", "the paper's rule computes", "share of triplets it skips (%)"}}
	for cell, c := range t.Group("cell") {
		last := experiment.Last("checkpoints", c.Index("triplets"))
		for at, g := range c.Group("triplets") {
			if at != last && !strings.HasSuffix(at, "000") {
				continue
			}
			row := []string{cell, at}
			for _, column := range []string{"active", "slack", "block", "bound", "computed", "projected"} {
				row = append(row, fmt.Sprintf("%.1f", judge.Summarize(g.Values(column)).Mean))
			}
			moved := floats.Sum(g.Values("moved")) / max(1, floats.Sum(g.Values("projected")))
			skipped := 100 * (1 - judge.Summarize(g.Values("printed")).Mean/tripletsOf(g))
			text.Rows = append(text.Rows, append(row, fmt.Sprintf("%.3f", moved), plusMinus(g.Values("printed"), 5), fmt.Sprintf("%.1f", skipped)))
		}
	}
	return orMissing(plots.Drawing{Text: text, Caption: plots.Caption{Shows: "Counts so far, means over trials. The mean change of the margin is by how much removing a negative eigenvalue moves d²(a, c) − d²(a, b) of its triplet, which a passive-aggressive step has just set to 1. " + skipsSetup + "Constant step: γ = 1 wherever the hinge loss is positive. " + trialsNote(t)}}, "any trial")
}
