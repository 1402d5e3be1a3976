package pa2013

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"

	"strconv"
)

// comparisonChoices are C of the online methods and γ of ITML, per database and method.
func comparisonChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	for _, r := range resultsOf(t) {
		for _, m := range judged {
			parameter := "C"
			if m == itmlTuned {
				parameter = "γ"
			}
			c := experiment.Choice{What: r.title() + ", " + shown.Replace(m) + ": " + parameter, Chosen: r.column("chosen", m, "", "c")}
			for _, at := range r.t.Where("kind", "selection", "method", m).Unique("at") {
				v, err := strconv.ParseFloat(at, 64)
				if err != nil {
					judge.Refuse("pa2013: a candidate for C: %w", err)
				}
				c.Grid = append(c.Grid, v)
			}
			if len(c.Chosen) > 0 && len(c.Grid) > 0 {
				out = append(out, c)
			}
		}
	}
	return out
}
