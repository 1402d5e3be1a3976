package people

import (
	"fmt"
	"slices"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig4Views = []experiment.View{
	{Name: "fig4a", Title: "Fig. 4a, stand-ins unless the answers are supplied: test error on few answers", Draw: fewAnswers("test", batch.StandIns...)},
	{Name: "fig4b", Title: "Fig. 4b, stand-ins unless the answers are supplied: error on the few triplets seen so far", Draw: fewAnswers("train", batch.StandIns...)},
	{Name: "fig4-ours", Title: "Ours: a weight of the trace, and features, on the stand-ins of Fig. 4a", Draw: experiment.WithEnds(oursView.Draw, answeredChoices)},
	{Name: "fig4-own", Title: "Ours: materials, from their training file to their test file", Draw: fewAnswers("test", protocol.MaterialOwn)},
	{Name: "fig4-stopping", Title: "How the batch fits to few answers ended", Draw: fitEndings("")},
}

// ours are the methods that the paper does not have.
var ours = []string{protocol.PATrace, protocol.FeaturesAlone, protocol.PAFeatures, protocol.PAFeaturesTen}

var oursView = frame.View{
	From: frame.Only("cell", batch.StandIns...), Columns: 2, Missing: "errors of any method",
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		p := frame.Panel{Panel: plots.Panel{Title: cells[0], XLabel: "triplets seen", YLabel: batch.ErrorLabels["test"]}}
		for _, m := range append([]string{protocol.PAERKLETen}, ours...) {
			p.Of = append(p.Of, batch.ByRule(protocol.ByValidation).On(cells[0]).Line(m, protocol.TestErrors, batch.Plain))
		}
		return p
	}, "cell"),
	Caption: func(t *table.Table) plots.Caption {
		return plots.Caption{Shows: batch.ErrorsShown["test"] + ", a tie counting as not satisfied, against the number of triplets seen, beside ten passes of PA-ERKLE.", Data: standInData, Protocol: oursAbout, Intervals: batch.DrawsNote(t, false)}
	},
}

// What the captions say of the stand-ins, and of ours.
const (
	standInData    = "Stand-ins for the paper's answers about 200 outdoor scenes, which are not public: 100 rendered materials (the majority of the votes of each question without a tie; the questions were chosen actively, as the paper's were) and 85 shoes. As in the paper 1,000 triplets train, 600 validate τ and 1,000 test."
	scenesSupplied = "The paper's answers about 200 outdoor scenes, as supplied. As in the paper each split has 1,000 training triplets, 600 validation triplets for τ and 1,000 for the test."
	oursAbout      = "\"trace\": ten passes of PA-ERKLE with a penalty on the trace (the paper's future work), its weight of {0.01, 0.03, 0.05} by each trial's validation error at the end. \"features\": distances of the shoes' 4,096 AlexNet features, alone or as the start K₀ in place of I, scaled to the mean squared distance of K = I."
)

func fewAnswers(part string, data ...string) func(t *table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: append([]string{"data"}, errorHead...)}}
		own := slices.Contains(data, protocol.MaterialOwn)
		data, band := data, batch.Plain
		if !own {
			data, band = batch.ScenesOf(t), batch.ScenesBand(t)
		}
		var taus []string
		for _, name := range data {
			g, r := t.Where("cell", name), batch.ByRule(protocol.ByValidation).On(name)
			if len(r.Sizes(g)) == 0 {
				continue
			}
			d.Panels = append(d.Panels, errorPanels(name, part, name, band)(g)...)
			for _, row := range errorRows(g, name, part, slices.Concat(learning.AllMethods, ours), band) {
				d.Text.Rows = append(d.Text.Rows, append([]string{name}, row...))
			}
			taus = append(taus, "On "+name+" "+describeTau(g, name))
		}
		about, more, rule, intervals := standInData, " "+oursAbout, tauRule, batch.ScenesNote(t)
		switch {
		case protocol.IsSupplied(data[0]):
			about, more, rule = scenesSupplied, " "+strings.SplitAfter(oursAbout, ". ")[0], suppliedRule
		case own:
			intervals = batch.DrawsNote(t, own)
			about, more = fmt.Sprintf("100 rendered materials. The majority of the votes of each question of the training file without a tie: %d train and 600 validate, in an order of each trial's; all 2,738 of the test file test. This is no experiment of the paper: it has twenty times the answers.", protocol.Answered[3].Full.Train), ""
		}
		return frame.Given("errors of any batch method", d, func() plots.Caption {
			return plots.Caption{
				Shows: batch.ErrorsShown[part] + ", a tie counting as not satisfied, against the number of triplets seen. The table has it after all of them, and with a tie as half an error.", Data: about,
				Protocol: onlineAbout + "Batch methods: each fit starts from the kernel of the size before and stops at a residual of " + table.Format(protocol.BatchTol) +
					fmt.Sprintf(" or after %d iterations; \"run on\" is that at the end after up to %d more. ", protocol.BatchIterations, protocol.ConvergedIterations) + rule + strings.Join(taus, " ") + more,
				Intervals: intervals,
			}
		}), nil
	}
}
