package costs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// constantSuffix ends the names of the cells of the constant step.
const constantSuffix = ", constant step"

// paRows are those of the passive-aggressive step, by increasing n.
func paRows(t *table.Table) *table.Table {
	cells := slices.DeleteFunc(slices.Clone(t.Unique("cell")), func(cell string) bool { return strings.HasSuffix(cell, constantSuffix) })
	return frame.Only("cell", cells...)(t)
}

var skipsView = frame.View{
	From: paRows, Columns: 3, Missing: "any trial",
	Panels:  frame.PerGroup(func(cells []string) frame.Panel { return skipsPanel(cells[0], true) }, "cell"),
	Caption: skipsCaption(skipsData, skipsSetup),
}

var skipsCountsView = frame.View{
	From: func(t *table.Table) *table.Table {
		var at []string
		for _, cell := range t.Unique("triplets") {
			if strings.HasSuffix(cell, "000") || cell == strconv.Itoa(learning.LastSize(t)) {
				at = append(at, cell)
			}
		}
		return frame.Only("triplets", at...)(t)
	},
	Text: &frame.Text{
		By: []string{"cell", "stream", "triplets", "triplets"},
		Cells: append(protocol.Mapped([][2]string{
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
	Caption: frame.Says("Counts so far. The mean change of the margin is by how much removing a negative eigenvalue moves d²(a, c) − d²(a, b) of its triplet, which a passive-aggressive step has just set to 1.", skipsData, skipsSetup+skipsRule+"Constant step: γ = 1 wherever the hinge loss is positive.", ""),
	Missing: "any trial",
}
