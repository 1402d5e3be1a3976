package planes

import (
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/papers/logdet2012/protocol"
)

// Sweep embeds digits as Fig2cd does, with one choice that the paper leaves open changed at a time, and with settings drawn from all of them.
// Its digits are other ones than those of Fig2cd.
var Sweep = experiment.Spec{
	ID:      protocol.PaperKey + "/fig2cd-sweep",
	Title:   "How the open choices of Fig. 2(c, d) move the number of digits that a plane separates",
	Source:  "Sections 5.4 and 6.4, Fig. 2(c, d); choices that the paper does not state",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		_, dataset := planeSettingsOf(knownGraph, scale)
		var cells []experiment.Cell
		for _, s := range sweepSettingsOf(scale) {
			cells = append(cells, experiment.Cell{Name: s.Setting, Dataset: dataset, Methods: planeVersions, Settings: s})
		}
		return cells
	},
	Trials:  experiment.Trials(6),
	Columns: sweepColumns,
	Trial:   sweepTrial,
	Views:   sweepViews,
	Claims:  sweepClaims,
	Choices: sweepChoices,
	Cost:    3 * time.Second,
}
