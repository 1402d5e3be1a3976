package people

import (
	"context"
	"slices"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
)

// Fig4 compares the methods on few answers, of stand-ins for those about outdoor scenes.
var Fig4 = experiment.Spec{
	ID:      "erkle2015/fig4",
	Title:   "Few answers: materials and shoes in place of outdoor scenes",
	Source:  "Section 5.4, Fig. 4",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		sets := slices.Clone(protocol.Answered[1:])
		if scale == experiment.Full {
			sets = append(sets, protocol.DataSetOf(protocol.OutdoorScenes))
		}
		return protocol.Mapped(sets, func(d protocol.DataSet) experiment.Cell {
			return d.Cell(scale, d.Name, fig4SettingsOf(d, scale, variants.TraceFamily), protocol.MethodVersions)
		})
	},
	Trials:  experiment.Trials(10),
	Kinds:   answeredKinds,
	Columns: answeredColumns(answeredKinds),
	Trial:   protocol.Measured,
	Views:   fig4Views,
	Claims:  batch.Fig4Claims,
	Choices: answeredChoices,
	Cost:    time.Minute,
}

// fig4Settings are those of a cell, with the batchSettings of each batch method.
type fig4Settings struct {
	protocol.AnsweredSettings
	Tau        map[string]protocol.List[float64] `key:"%v tau"`
	Iterations map[string]caps                   `key:"%v iterations"`
	Tolerance  map[string]float64                `key:"%v tolerance"`
}

func fig4SettingsOf(d protocol.DataSet, scale experiment.Scale, families ...variants.Family) fig4Settings {
	s := fig4Settings{d.Scored(scale), map[string]protocol.List[float64]{}, map[string]caps{}, map[string]float64{}}
	s.Every, s.Families = evaluateEvery, valuesOf(families...)
	for _, b := range d.Batches {
		x := batchSettingsOf(d.Name, b.Name)
		s.Tau[b.Name], s.Iterations[b.Name], s.Tolerance[b.Name] = x.Tau, x.Iterations, x.Tolerance
	}
	return s
}

// batches fits all batch methods.
func (j *answered) batches(ctx context.Context, s fig4Settings) error {
	for _, b := range protocol.Batches {
		if err := j.batch(ctx, b, batchSettings{s.Tau[b.Name], s.Iterations[b.Name], s.Tolerance[b.Name]}); err != nil {
			return err
		}
	}
	return nil
}

func (s fig4Settings) Measure(ctx context.Context, r protocol.SplitRun) error {
	j := &answered{r, s.AnsweredSettings}
	every := s.Every
	if s.Data == protocol.MaterialOwn {
		every = 0
	}
	if err := j.Online(ctx, every); err != nil {
		return err
	}
	if err := j.batches(ctx, s); err != nil {
		return err
	}
	if s.Data == protocol.MaterialOwn {
		return nil
	}
	if _, err := j.choose(ctx, variants.TraceFamily); err != nil {
		return err
	}
	if s.Data != protocol.Zappos {
		return nil
	}
	k, err := protocol.FeatureKernel(r.Env, r.Seed, s.Counts)
	if err != nil {
		return err
	}
	for _, size := range j.Sizes {
		j.score(protocol.FeaturesAlone, "", "", size, k, nil)
	}
	if err := j.learn(ctx, protocol.PAFeatures, "", triplets.ERKLEParams{Initial: k, Beta: 1}); err != nil {
		return err
	}
	return j.learn(ctx, protocol.PAFeaturesTen, "", triplets.ERKLEParams{Initial: k, Beta: protocol.TenPasses})
}
