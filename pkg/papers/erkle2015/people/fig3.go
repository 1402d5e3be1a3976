package people

import (
	"context"
	"fmt"
	"slices"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
	"metriclab/pkg/table"
)

// Fig3 compares the methods on the survey about music artists.
var Fig3 = experiment.Spec{
	ID:      "erkle2015/fig3",
	Title:   "Similarity of music artists: test error, training error and rank against triplets",
	Source:  "Section 5.3, Fig. 3",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d := protocol.Answered[0]
		cell := func(name, method string, version int, set func(*fig3Settings)) experiment.Cell {
			s := fig3Settings{Part: name, AnsweredSettings: d.Scored(scale)}
			set(&s)
			return d.Cell(scale, name, s, map[string]int{method: version})
		}
		cells := []experiment.Cell{cell(onlinePart, "ERKLE", triplets.ERKLEVersion, func(s *fig3Settings) { s.Every = evaluateEvery })}
		for _, b := range d.Batches {
			cells = append(cells, cell(b.Name, "batch", triplets.BatchVersion, func(s *fig3Settings) { s.batchSettings = batchSettingsOf(d.Name, b.Name) }))
		}
		cells = append(cells, cell(readingsPart, "ERKLE", triplets.ERKLEVersion, func(s *fig3Settings) { s.Families = valuesOf(variants.Families...) }))
		if scale == experiment.Full {
			all := protocol.DataSetOf(protocol.FullSurvey)
			cells = append(cells, all.Cell(scale, all.Name, surveySettings{fig4SettingsOf(all, scale, variants.Families...)}, protocol.MethodVersions))
		}
		return cells
	},
	Trials:  experiment.Trials(6),
	Kinds:   fig3Kinds,
	Columns: fig3Columns,
	Trial:   protocol.Measured,
	Views:   fig3Views,
	Claims:  slices.Concat(batch.Fig3Claims, fig3Afterwards),
	Choices: answeredChoices,
	Cost:    2 * time.Minute,
}

// fig3Settings are those of a cell. What its part does not use is zero.
type fig3Settings struct {
	Part string `key:"part"`
	protocol.AnsweredSettings
	batchSettings
}

var (
	fig3Kinds = slices.Concat(answeredKinds, []experiment.Kind{
		{Name: variants.StepKind, Meaning: "steps of a method in one pass over the training triplets, by how a triplet stands to those before it"},
		{Name: variants.CountKind, Meaning: "a number of answers, questions or artists of the survey or the split"},
	})
	fig3Columns = answeredColumns(fig3Kinds)
)

// Cells of Fig. 3 beside those of the batch methods.
const (
	onlinePart   = "ERKLE"
	readingsPart = "ERKLE, other settings"
)

func (s fig3Settings) Measure(ctx context.Context, r protocol.SplitRun) error {
	j := &answered{r, s.AnsweredSettings}
	switch s.Part {
	case onlinePart:
		return j.countedOnline(ctx, s.Every)
	case readingsPart:
		return j.readings(ctx)
	default:
		b := protocol.BatchOf(s.Part)
		return j.batch(ctx, b, s.batchSettings)
	}
}

// surveySettings are those of the cell of the full survey, which has all parts.
type surveySettings struct{ fig4Settings }

func (s surveySettings) Measure(ctx context.Context, r protocol.SplitRun) error {
	j := &answered{r, s.AnsweredSettings}
	if err := j.countedOnline(ctx, s.Every); err != nil {
		return err
	}
	if err := j.batches(ctx, s.fig4Settings); err != nil {
		return err
	}
	return j.readings(ctx)
}

// countedOnline counts conflicts, and follows the paper's ERKLE methods.
func (j *answered) countedOnline(ctx context.Context, every int) error {
	if err := j.count(); err != nil {
		return err
	}
	if err := j.steps(ctx); err != nil {
		return err
	}
	return j.Online(ctx, every)
}

// count counts conflicts in the source and in the split.
func (j *answered) count() error {
	add := func(what string, n int) {
		j.Rows.Add(table.Key{"kind": variants.CountKind, "setting": what}, table.Values{"count": float64(n)})
	}
	if j.Scale == experiment.Full {
		set, err := j.Env.Data.Triplets(j.Seed.Dataset)
		if err != nil {
			return err
		}
		r := set.Report
		add("answers read", r.Read)
		add("answers that do not compare three artists", r.Degenerate)
		add("answers kept", r.Triplets)
		add("different answers kept", r.Distinct)
		add("questions answered both ways", r.Conflicts)
		add("answers that take part in a contradiction", r.Cyclic)
		add("artists that occur", r.Occurring)
	}
	c, err := datasets.CountTriplets(j.Split.Objects, j.Split.Train)
	if err != nil {
		return fmt.Errorf("training answers: %w", err)
	}
	add("artists that occur in training answers", c.Occurring)
	add(trainCyclic, c.Cyclic)
	_, left, err := triplets.Denoise(j.Split.Objects, j.Split.Train)
	if err != nil {
		return err
	}
	add(atMostViolated, left)
	add("test answers that contradict training answers", protocol.Contradicted(j.Split.Train, j.Split.Test))
	return nil
}
