package vectors

import (
	"context"
	"fmt"
	"slices"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Nca is NCA in the protocol of Fig. 1(a), beside LogDet and no learning.
var Nca = experiment.Spec{
	ID:      protocol.PaperKey + "/nca",
	Title:   "Ours: NCA beside LogDet, on the data sets of Fig. 1(a)",
	Source:  "Ours; Section 2 names neighbourhood components analysis",
	Ours:    true,
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		return CellsOf(scale, func(database string, by datasets.Preprocessing) (map[string]int, any) {
			s := fig1aSettings{Database: database, Settings: protocol.SettingsOf(by, scale)}
			s.Rules, s.Widths, s.Etas, s.Targets, s.Mus = []itml.BoundRule{itml.BoundPercentiles}, nil, nil, nil, nil
			return map[string]int{"LogDet": itml.Version, "NCA": labels.NCAVersion, "kNN": nearest.KNNVersion}, s
		})
	},
	Trials:  experiment.Trials(10),
	Kinds:   fig1aKinds[:len(fig1aKinds)-1], // no fit fails
	Columns: ncaColumns(),
	Trial:   func(ctx context.Context, run *experiment.Run) error { return trialOf(ctx, run, ncaMethods) },
	Views:   ncaViews,
	Claims:  ncaClaims,
	Choices: protocol.Fig1aChoices,
	Cost:    time.Second,
}

// ncaColumns are those of Fig. 1(a), without fits that fail.
func ncaColumns() (out experiment.Columns) {
	for _, c := range fig1aColumns {
		if c.Kinds != nil {
			c.Kinds = slices.DeleteFunc(slices.Clone(c.Kinds), func(kind string) bool { return kind == "failed" })
		}
		out = append(out, c)
	}
	return out
}

var ncaMethods = []string{protocol.Euclidean, protocol.LogDetLinear, protocol.Nca}

var ncaClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "nca-gain", View: "nca", Ours: true,
		Title:     "Ours: NCA has a lower error of nearest neighbours than the Euclidean distance on most data sets.",
		Statement: "Ours: NCA has a lower error of nearest neighbours than the Euclidean distance on most of the data sets of Fig. 1(a).",
		Where:     "ours", Theirs: "no number",
		Predicate: "Per data set: the error of Euclidean minus that of NCA, start chosen on training rows, is > 0, with two exceptions among the five. Readings: features as they are, and standardised.",
		Test:      ncaReadings(ErrorOf(protocol.Euclidean).Minus(ErrorOf(protocol.Nca))),
	},
	{
		ID: "nca-logdet", View: "nca", Ours: true,
		Title:     "Ours: LogDet Linear has a lower error of nearest neighbours than NCA on most data sets.",
		Statement: "Ours: LogDet Linear has a lower error than NCA on most of the data sets of Fig. 1(a), as it has in the paper's words than its rivals there.",
		Where:     "ours", Theirs: "no number",
		Predicate: "Per data set: the error of NCA, start chosen on training rows, minus that of LogDet Linear is > 0, with two exceptions among the five. Readings: features as they are, and standardised.",
		Test:      ncaReadings(ErrorOf(protocol.Nca).Minus(ErrorOf(protocol.LogDetLinear))),
	},
})

// ncaReadings is the test that a difference is positive on most data sets.
func ncaReadings(difference frame.Measure) frame.Test {
	return frame.Under(protocol.Readings, func(by datasets.Preprocessing) (string, frame.Test) {
		return "features " + Describe[by.String()], onMost(frame.OverGroups(difference, "data set")).On(Titled).Where("features", by.String())
	})
}

var ncaViews = []experiment.View{{Name: "nca", Title: "Error of nearest neighbours under NCA and LogDet", Draw: experiment.WithEnds(frame.View{
	From: Titled.Then(frame.Called("scaling", "features", func(by string) string { return Describe[by] })), Columns: 2, Missing: "errors on any data set",
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		p := frame.Panel{Panel: plots.Panel{Title: "features " + cells[0], XLabel: "test error (%)"}}
		for _, m := range ncaMethods {
			p.Of = append(p.Of, frame.Dots(protocol.Styles.Intervals(m), "data set", ErrorOf(m), ErrorBand))
		}
		return p
	}, "scaling"),
	Text: &frame.Text{By: []string{"scaling", "", "data set", "data set"}, Cells: append(append([]frame.Cell{frame.Name("features", "scaling")}, errorCells(ncaMethods)...),
		ErrorCell("NCA minus LogDet Linear (percentage points)", ErrorOf(protocol.Nca).Minus(ErrorOf(protocol.LogDetLinear))),
		frame.Cell{Head: "start of NCA (folds)", Of: func(rows *table.Table) string {
			return Tallied(rows.Where("kind", "chosen", "method", protocol.Nca).Index("at"))
		}},
		StoppedCell("NCA not converged, at the end", "method", protocol.Nca, "at", protocol.FinalFits))},
	Caption: Shown("Test error of the k nearest training rows under each metric, learned from the training fold alone.", func(t *table.Table) plots.Caption {
		return plots.Caption{Data: UCI(t), Protocol: votesAndPairs(t, "class") + fmt.Sprintf(" u and ℓ of LogDet Linear: 1st and 99th percentile of the squared distances between all pairs of training rows. Chosen by a two-fold cross-validation inside the training fold, the first of equals: "+
			"γ of LogDet Linear from 0.01 to 1000, and whether NCA starts from FDA or from PCA with all directions, which is the Euclidean distance. NCA is of full rank, without regularisation. It ends where its gradient nearly vanishes, or after %.0f iterations.", SizesOf(t)(protocol.IterationCap(protocol.FinalFits))), Intervals: FoldsNote(t)}
	}),
}.Draw, protocol.Fig1aChoices)}}
