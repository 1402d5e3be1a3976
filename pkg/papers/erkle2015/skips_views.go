package erkle2015

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// skipsMarks are the curves of the figure: shares of the active updates for which no eigenpair is computed.
var skipsMarks = []frame.Mark{
	skipsMark(plots.Line{Name: "the paper's rule", Color: 3}, skippedBut("printed", "active")),
	skipsMark(plots.Line{Name: slackCurve, Color: 1}, skippedBy("weyl", "slack")),
	skipsMark(plots.Line{Name: "slack and block", Color: 2}, skippedBy("weyl", "slack", "block")),
	skipsMark(plots.Line{Name: "slack, block and bound", Color: 0}, skippedBut("computed", "active")),
	skipsMark(plots.Line{Name: "no negative eigenvalue: the most that a rule may skip", Color: plots.Grey, Dashed: true}, skippedBut("projected", "active")),
}

// skippedBy is the share of the active updates that some columns count.
func skippedBy(columns ...string) frame.Measure {
	sum := frame.Share(columns[0], "active")
	for _, column := range columns[1:] {
		sum = sum.Minus(frame.Share(column, "active").Times(-1))
	}
	return sum
}

// skipsMark is a curve, without the slack where there is none.
func skipsMark(style plots.Line, share frame.Measure) frame.Mark {
	return func(rows *table.Table) plots.Mark {
		style := style
		if slackless(rows) {
			if style.Name == slackCurve {
				return nil
			}
			style.Name = strings.NewReplacer("slack and ", "", "slack, ", "").Replace(style.Name)
		}
		return frame.Line(style, "triplets", share, frame.Percent)(rows)
	}
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

var skipsView = frame.View{
	From: paRows, Columns: 3, Missing: "any trial",
	Panels:  frame.PerGroup(func(cells []string) frame.Panel { return skipsPanel(cells[0], true) }, "cell"),
	Caption: saysOf(func(t *table.Table) string { return skipsShare + skipsSetup + skipsOurs(t) }, "", ""),
}

const skipsShare = "Share of the active updates so far for which no eigenpair is computed, by what shows that there is no negative eigenvalue. "

// skipsOurs is what the caption says of our certificates.
func skipsOurs(t *table.Table) string {
	slack := "a slack per object that is updated in constant time; "
	if slackless(t) {
		slack = ""
	}
	return "Ours, each tried where the one before fails: " + slack + "the exact smallest eigenvalue of the block of objects that triplets connect; a bound from a Krylov space. An update without a certificate costs an eigenpair."
}

// skipsPanel has the shares of one stream.
func skipsPanel(title string, log bool) frame.Panel {
	return frame.Panel{Panel: plots.Panel{Title: title, XLabel: "triplets seen", YLabel: "updates without an eigenpair (%)", XLog: log, Direct: !log, YMin: -2, YMax: 102}, Of: skipsMarks}
}

var skipsCountsView = frame.View{
	From: func(t *table.Table) *table.Table {
		var at []string
		for _, cell := range t.Unique("triplets") {
			if strings.HasSuffix(cell, "000") || cell == strconv.Itoa(lastSize(t)) {
				at = append(at, cell)
			}
		}
		return frame.Only("triplets", at...)(t)
	},
	Text: &frame.Text{
		By: []string{"cell", "stream", "triplets", "triplets"},
		Cells: append(mapped([][2]string{
			{"active updates", "active"}, {"slack", "slack"}, {"block", "block"}, {"bound", "bound"}, {"eigenpairs computed", "computed"}, {"negative ones removed", "projected"},
		}, func(c [2]string) frame.Cell { return frame.Of(c[0], frame.Column(c[1]), frame.Band{}, "%.1f") }),
			frame.Cell{Head: "mean change of the margin", Of: func(g *table.Table) string {
				return fmt.Sprintf("%.3f", floats.Sum(g.Values("moved"))/max(1, floats.Sum(g.Values("projected"))))
			}},
			frame.Cell{Head: "the paper's rule computes", Of: func(g *table.Table) string { return plusMinus(g.Values("printed"), 5) }},
			frame.Cell{Head: "share of triplets it skips (%)", Of: func(g *table.Table) string {
				return fmt.Sprintf("%.1f", 100*(1-judge.Summarize(g.Values("printed")).Mean/frame.Cells("triplets")(g)[0]))
			}}),
	},
	Caption: frame.Says("Counts so far, means over trials. The mean change of the margin is by how much removing a negative eigenvalue moves d²(a, c) − d²(a, b) of its triplet, which a passive-aggressive step has just set to 1. "+skipsSetup+"Constant step: γ = 1 wherever the hinge loss is positive.", "", "", ""),
	Missing: "any trial",
}
