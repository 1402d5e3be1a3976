package pola2004

import (
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// fig4GridChoices are the settings of Fig. 4, each with the least mean error over the rarer topics.
// A margin, a length and γ = 0 (no slack) are numbers with ends; below γ = 0 there is nothing.
func fig4GridChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	if t.Where("setting", variantGrid).Len() > 0 {
		gamma, length := experiment.Choice{What: "POLA: γ", NoLower: true}, experiment.Choice{What: "POLA: length of documents"}
		for _, r := range relaxations {
			gamma.Grid, length.Grid = append(gamma.Grid, r.Gamma), append(length.Grid, r.Length)
		}
		r := bestRelaxation(t)
		gamma.Chosen, length.Chosen = []float64{r.Gamma}, []float64{r.Length}
		out = append(out, gamma, length)
	}
	if slices.Contains(t.Unique("setting"), mainVariant) {
		relevant, irrelevant := experiment.Choice{What: "PAUM: margin of relevant documents"}, experiment.Choice{What: "PAUM: margin of irrelevant documents"}
		for _, m := range paumGrid {
			relevant.Grid, irrelevant.Grid = append(relevant.Grid, m.Positive), append(irrelevant.Grid, m.Negative)
		}
		m := bestOf(t, mainVariant)
		relevant.Chosen, irrelevant.Chosen = []float64{m.Positive}, []float64{m.Negative}
		out = append(out, relevant, irrelevant)
	}
	return out
}
