package rmp2007

import (
	"time"

	"metriclab/pkg/experiment"
)

// fig1Widths are the standard deviations of the Gaussians to compare, where that of the coordinates of
// their centres is 1.
var fig1Widths = []float64{0.5, 1, gaussianWidth, 2.5}

// widthNames are the cells.
var widthNames = []string{"width 0.5", "width 1", "width 1.5", "width 2.5"}

// Fig1Width shows how Fig. 1 depends on the width of the Gaussians, which the paper does not print.
var Fig1Width = experiment.Spec{
	ID:      "rmp2007/fig1-width",
	Title:   "Fig. 1 for Gaussians of other widths: is the regret sublinear, and is EM poor?",
	Source:  "Section 5.1, Fig. 1, whose width is not printed",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for i, w := range fig1Widths {
			cells = append(cells, fig1Cell(scale, widthNames[i], "gaussians",
				fig1Settings{Distortion: squared, Rounds: 50, RMP: []string{rmpPrinted, rmpTen}, EM: []string{emSpherical}, Width: w}))
		}
		return cells
	},
	Trials:  experiment.Trials(10),
	Kinds:   fig1Kinds,
	Columns: fig1Columns,
	Trial:   fig1Trial,
	Views: []experiment.View{
		{Name: "fig1-width", Title: "Fig. 1 for Gaussians of four widths", Draw: regretView(widthNames, []string{rmpPrinted, rmpTen, ftlName, emSpherical, groupsKnown},
			"Squared differences, for four standard deviations of the Gaussians where that of the coordinates of their centres is 1; 1.5 is that of Fig. 1 here. RMP printed x10 has ten times the printed η. "+fig1Known+" The dashed grey line is √t through RMP's final regret (η printed).").Draw},
		{Name: "fig1-width-final", Title: "Final regrets for Gaussians of four widths", Draw: finalsView.Draw},
		{Name: "fig1-width-optimum", Title: "Separability and the best map for Gaussians of four widths", Draw: optimumView.Draw},
	},
	Cost: 2 * time.Second,
}
