package erkle2015

import (
	"fmt"
	"slices"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig4Views = []experiment.View{
	{Name: "fig4a", Title: "Fig. 4a, stand-ins: test error on few answers", Draw: fewAnswers("test", standIns...)},
	{Name: "fig4b", Title: "Fig. 4b, stand-ins: error on the few triplets seen so far", Draw: fewAnswers("train", standIns...)},
	{Name: "fig4-own", Title: "Ours: materials, from their training file to their test file", Draw: fewAnswers("test", materialOwn)},
	{Name: "fig4-stopping", Title: "How the batch fits to few answers ended", Draw: fitEndings("")},
}

// ours are the methods that the paper does not have, and their lines.
var (
	ours       = []string{traceFamily.name, featuresAlone, paFeatures, paFeaturesTen}
	oursStyles = map[string]plots.Line{
		traceFamily.name: {Name: "PA-ERKLE, trace, 10 passes", Color: 6},
		featuresAlone:    {Name: featuresAlone, Color: plots.Grey},
		paFeatures:       {Name: paFeatures, Color: 5, Dashed: true},
		paFeaturesTen:    {Name: paFeaturesTen, Color: 5},
	}
)

func fewAnswers(part string, data ...string) func(t *table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: append([]string{"data"}, errorHead...)}}
		var taus []string
		for _, name := range data {
			g, r := t.Where("cell", name), judgedBy(byValidation).on(name)
			if len(r.sizes(g)) == 0 {
				continue
			}
			panels := errorPanels(name, part, name, plain)
			for i := range panels {
				for _, m := range ours {
					panels[i].Of = append(panels[i].Of, r.line(oursStyles[m], m, strictIn(part), plain))
				}
				panels[i].XLog = name == materialOwn
			}
			d.Panels = append(d.Panels, frame.Each(panels...)(g)...)
			for _, row := range errorRows(g, name, part, slices.Concat(allMethods, ours), plain) {
				d.Text.Rows = append(d.Text.Rows, append([]string{name}, row...))
			}
			taus = append(taus, "On "+name+" "+describeTau(name))
		}
		own := slices.Contains(data, materialOwn)
		about := "Stand-ins for the paper's answers about 200 outdoor scenes, which are not public: 100 rendered materials (the majority of the votes of each question without a tie; the questions were chosen actively, as the paper's were) and 85 shoes. As in the paper 1,000 triplets train, 600 validate τ and 1,000 test. " +
			"Shoes: \"features\" are distances of 4,096 AlexNet features, alone or as the start K₀ in place of I, scaled to the mean squared distance of K = I. \"trace\": PA-ERKLE with a penalty on the trace (the paper's future work), its weight of {0.01, 0.03, 0.05} by each trial's validation error at the end."
		if own {
			about = fmt.Sprintf("100 rendered materials. The majority of the votes of each question of the training file without a tie: %d train and 600 validate, in an order of each trial's; all 2,738 of the test file test. This is no experiment of the paper: it has twenty times the answers.", judgements[3].full.Train)
		}
		return frame.Given("errors of any batch method", d, func() plots.Caption {
			return plots.Caption{
				Shows: errorsShown[part] + ", a tie counting as not satisfied, against the number of triplets seen; the table has it after all of them, and with a tie as half an error.", Data: about,
				Protocol: "PA-ERKLE: margin 1; STE-ERKLE: δ = 1; with 10 passes, each new triplet is followed by 9 updates on earlier ones. Batch methods: each fit starts from the kernel of the size before and stops at a residual of " + table.Format(batchTol) +
					fmt.Sprintf(" or after %d iterations; \"run on\" is that at the end after up to %d more. ", batchIterations, convergedIterations) + tauRule + strings.Join(taus, " "),
				Intervals: drawsNote(t, own),
			}
		}), nil
	}
}

// drawsNote describes intervals over random parts of the answers, which are small but in ownFiles.
func drawsNote(t *table.Table, ownFiles bool) string {
	n := len(t.Unique("trial"))
	if n < judge.MinTrials {
		return fmt.Sprintf("Means over %d random draw(s) of triplets; fewer than %d, so no intervals are given.", n, judge.MinTrials)
	}
	note := fmt.Sprintf("Means over %d random draws of triplets with plain 95 %% t intervals, which cover the draw of triplets, given the objects and the people asked", n)
	if ownFiles {
		return note + "; every draw has nearly all triplets of both files, so that they cover little more than the order."
	}
	return note + "; two draws share few triplets."
}
