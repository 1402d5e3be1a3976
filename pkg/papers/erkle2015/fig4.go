package erkle2015

import (
	"context"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
)

// Fig4 compares the methods on few answers, of stand-ins for those about outdoor scenes.
var Fig4 = experiment.Spec{
	ID:      "erkle2015/fig4",
	Title:   "Few answers: materials and shoes in place of outdoor scenes",
	Source:  "Section 5.4, Fig. 4",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, d := range judgements[1:] {
			s := fig4Settings{d.judged(scale), map[string]list[float64]{}, map[string]caps{}, map[string]float64{}}
			s.Every, s.Families = evaluateEvery, valuesOf(traceFamily)
			for _, b := range d.batches {
				x := batchSettingsOf(d.name, b.name)
				s.Tau[b.name], s.Iterations[b.name], s.Tolerance[b.name] = x.Tau, x.Iterations, x.Tolerance
			}
			cells = append(cells, experiment.Cell{Name: d.name, Dataset: d.datasetAt(scale), Settings: s, Methods: methodVersions})
		}
		return cells
	},
	Trials:  experiment.Trials(10),
	Kinds:   judgedKinds,
	Columns: judgedColumns(judgedKinds),
	Trial:   measured,
	Views:   fig4Views,
	Claims:  fig4Claims,
	Choices: familyChoices,
	Cost:    time.Minute,
}

// fig4Settings are those of a cell, with the batchSettings of each batch method.
type fig4Settings struct {
	judgedSettings
	Tau        map[string]list[float64] `key:"%v tau"`
	Iterations map[string]caps          `key:"%v iterations"`
	Tolerance  map[string]float64       `key:"%v tolerance"`
}

// The methods that know the features of the shoes.
const (
	featuresAlone = "features, no learning"
	paFeatures    = "PA-ERKLE from features"
	paFeaturesTen = "PA-ERKLE from features, 10 passes"
)

func (s fig4Settings) measure(ctx context.Context, r splitRun) error {
	j := &judged{r, s.judgedSettings}
	every := s.Every
	if s.Data == materialOwn {
		every = 0
	}
	if err := j.online(ctx, every); err != nil {
		return err
	}
	for _, b := range batches {
		if err := j.batch(ctx, b, batchSettings{s.Tau[b.name], s.Iterations[b.name], s.Tolerance[b.name]}); err != nil {
			return err
		}
	}
	if s.Data == materialOwn {
		return nil
	}
	if _, err := j.choose(ctx, traceFamily); err != nil {
		return err
	}
	if s.Data != zappos {
		return nil
	}
	k, err := featureKernel(r.Env, r.Seed, s.counts)
	if err != nil {
		return err
	}
	for _, size := range j.Sizes {
		j.judge(featuresAlone, "", "", size, k, nil)
	}
	if err := j.learn(ctx, paFeatures, "", triplets.ERKLEParams{Initial: k, Beta: 1}); err != nil {
		return err
	}
	return j.learn(ctx, paFeaturesTen, "", triplets.ERKLEParams{Initial: k, Beta: tenPasses})
}
