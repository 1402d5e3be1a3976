package pa2013

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"

	"metriclab/pkg/learners/nearest"

	"metriclab/pkg/learners/itml"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// variants change one open choice of the protocol each.
var variants = []struct {
	name   string
	change func(*settings)
}{
	{"features as they are", func(s *settings) { s.Scaling = datasets.AsIs }},
	{"features standardised", func(s *settings) { s.Scaling = datasets.ZScore }},
	{"features scaled to 0–1", func(s *settings) { s.Scaling = datasets.MinMax }},
	{"70 % of the objects train", func(s *settings) { s.Share = 0.7 }},
	{"C chosen by pairs", func(s *settings) { s.ByPairs = true }},
	{"C chosen after T steps", func(s *settings) { s.SelectionPart = s.Part }},
	{"ITML's bounds by percentiles", func(s *settings) { s.Bounds = itml.BoundPercentiles }},
}

// sensitivitySettings are those of a variant on a database.
type sensitivitySettings struct {
	settings
	Variant  string `key:"variant"`
	Database string `key:"database"`
}

var sensitivityColumns = experiment.Columns{
	experiment.Text("database", "name of the database"),
	experiment.Text("setting", "the one choice that may differ from the main setting"),
	experiment.Text("method", "name of the method"),
	experiment.Number("validation", "share", "validation rows classified wrongly with the chosen C, of ITML γ, and the best number of neighbours"),
	experiment.Number("error", "share", "test rows classified wrongly, with the number of neighbours that is best on validation rows"),
	experiment.Number("best", "share", "test rows classified wrongly, the least over the number of neighbours"),
	experiment.Number("lowest", "share", "the same as best, with tied votes to the first class name"),
	experiment.Number("loss", "share", "pairs predicted wrongly among the T steps of an online method"),
}

// Sensitivity sweeps the choices that the paper leaves open. Of the three scalings, the
// one of the main setting is that setting.
var Sensitivity = experiment.Spec{
	ID:      "pa2013/sensitivity",
	Title:   "How the open choices of the protocol move its errors, on four databases",
	Source:  "Section 3; choices that the paper does not state",
	Ours:    true,
	Version: 2,
	Cells: func(scale experiment.Scale) (cells []experiment.Cell) {
		for _, d := range smallAt(scale, 1) {
			for _, v := range variants {
				s := sensitivitySettings{mainSettings, v.name, d.cell}
				v.change(&s.settings)
				cells = append(cells, experiment.Cell{Name: d.cell + ", " + v.name, Dataset: d.dataset, Methods: methods, Settings: s})
			}
		}
		return cells
	},
	Trials: func(scale experiment.Scale) int {
		if scale == experiment.Smoke {
			return 1
		}
		return 3
	},
	Columns: sensitivityColumns,
	Trial:   sensitivityTrial,
	Views: []experiment.View{
		{Name: "sensitivity", Title: "Open choices: mean error over the databases", Draw: drawSensitivity},
	},
	Cost: 5 * time.Second,
}

// sensitivityTrial learns as a comparison does, untimed.
func sensitivityTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(sensitivitySettings)
	p, err := newProblem(run.Env, run.Seed, run.Cell.Dataset, s.settings)
	if err != nil {
		return err
	}
	ks := neighbours(s.MaxK, len(p.selection.train.y))
	add := func(method string, chosen candidate, m metric.SqDister, loss float64) error {
		k, wrong := chosen.best()
		nearest, lowest, err := p.wrongs(ctx, m, ks)
		if err != nil {
			return err
		}
		n := float64(len(p.test.y))
		run.Rows.Add(table.Key{"database": s.Database, "setting": s.Variant, "method": method}, table.Values{
			"validation": float64(wrong) / float64(len(p.selection.test.y)), "error": float64(nearest[k-1]) / n,
			"best": float64(slices.Min(nearest)) / n, "lowest": float64(slices.Min(lowest)) / n, "loss": loss,
		})
		return nil
	}
	for _, o := range onlines {
		all, best, err := p.choose(ctx, o, s.settings)
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		m, w, err := p.learn(ctx, o, all[best].c, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		if err := add(o.name, all[best], m, float64(w.mistakes)/float64(w.steps)); err != nil {
			return err
		}
	}
	tuned, err := itml.Tune(ctx, run.Seed.Stream("tune"), p.train.x, p.train.y, itml.TunedParams{LabelParams: s.itmlParams()})
	if err != nil {
		return fmt.Errorf("%s: %w", itmlTuned, err)
	}
	l, err := p.fitITML(ctx, run.Seed.Stream("bounds"), s.settings, tuned.Gamma)
	if err != nil {
		return err
	}
	v, err := p.selection.fitITML(ctx, run.Seed.Stream("validation bounds"), s.settings, tuned.Gamma)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name        string
		valid, test metric.SqDister
	}{{itmlTuned, v.Metric, l.Metric}, {euclidean, metric.Euclidean{}, metric.Euclidean{}}} {
		wrong, err := p.selection.wrong(ctx, c.valid, nearest.TieNearest, ks)
		if err != nil {
			return err
		}
		if err := add(c.name, candidate{wrong: wrong}, c.test, math.NaN()); err != nil {
			return err
		}
	}
	return nil
}

func drawSensitivity(t *table.Table) (plots.Drawing, error) {
	if t.Len() == 0 {
		return plots.Missing("errors on any database"), nil
	}
	names := slices.Concat(onlineNames, []string{itmlTuned, euclidean})
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: append([]string{"setting", "quantity", "database"}, shownNames(names)...)}}
	panel := func(title string, methods ...string) frame.Panel {
		p := frame.Panel{Panel: plots.Panel{Title: title, XLabel: "mean test error (%)"}}
		for _, m := range append(methods, itmlTuned, euclidean) {
			p.Of = append(p.Of, frame.Dots(styles.Intervals(shown.Replace(m)), "setting", frame.Column("error"), frame.Band{Scale: 100, None: true}).Where("method", m))
		}
		return p
	}
	d.Panels = frame.Each(panel("constraints at each step", "PA-I+", "PA-II+", "PA-LS+"), panel("constraints at the end", "PA-I-", "PA-II-", "PA-LS-")).WithRoom()(t)
	for setting, g := range t.Group("setting") {
		for _, what := range []struct{ column, name string }{
			{"validation", "validation error (%)"}, {"error", "test error, k by validation (%)"}, {"best", "test error, best k (%)"}, {"lowest", "the same, tied votes to the first class name (%)"}, {"loss", "predictive loss (%)"},
		} {
			row := func(database string, rows *table.Table) {
				cells := []string{setting, what.name, database}
				for _, m := range names {
					cell := fmt.Sprintf("%.2f", 100*stat.Mean(rows.Where("method", m).Values(what.column), nil))
					cells = append(cells, strings.Replace(cell, "NaN", "–", 1))
				}
				d.Text.Rows = append(d.Text.Rows, cells)
			}
			for name, rows := range g.Group("database") {
				row(name, rows)
			}
			row("mean", g)
		}
	}
	splits := "one random split"
	if n := len(t.Unique("trial")); n > 1 {
		splits = fmt.Sprintf("%d random splits", n)
	}
	d.Caption = plots.Caption{
		Shows: fmt.Sprintf("Mean test error, k by validation, one choice changed at a time; the main setting is \"features %s\". The table adds the error on validation rows, the error with the best k on the test rows under two rules for tied votes, and the predictive loss.", describeScaling[mainSettings.Scaling.String()]),
		Data:  fmt.Sprintf("Databases: %s.", strings.Join(t.Unique("database"), ", ")),
		Protocol: "The error on validation rows chose the scaling (the least mean over the six online methods and the databases). " +
			"Which C and γ were chosen is not kept here; pa2013/comparison names the ends of grids that were taken under the main setting.",
		Intervals: fmt.Sprintf("Means over %s; fewer than %d: no intervals.", splits, judge.MinTrials),
	}
	return d, nil
}
