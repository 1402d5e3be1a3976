package pa2013

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// small are the databases of the sensitivity study.
var small = []string{"wine", "ionosphere", "balance", "soybean"}

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
	{"ITML's bounds by percentiles", func(s *settings) { s.Bounds = pairs.Percentiles }},
}

// Sensitivity sweeps the choices that the paper leaves open. Of the three scalings, the
// one of the main setting is that setting.
var Sensitivity = experiment.Spec{
	ID:      "pa2013/sensitivity",
	Title:   "How the open choices of the protocol move its errors, on four databases",
	Source:  "Section 3; choices that the paper does not state",
	Ours:    true,
	Version: 2,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		type data struct{ cell, dataset string }
		var all []data
		for _, d := range databases {
			for _, name := range small {
				if d.cell == name {
					all = append(all, data{d.cell, d.dataset})
				}
			}
		}
		if scale == experiment.Smoke {
			all = []data{{generatedMixture, generatedMixture}}
		}
		var cells []experiment.Cell
		for _, d := range all {
			for _, v := range variants {
				s := mainSettings
				v.change(&s)
				params := s.params()
				params["variant"], params["database"] = v.name, d.cell
				cells = append(cells, experiment.Cell{Name: d.cell + ", " + v.name, Dataset: d.dataset, Methods: methods, Params: params})
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
	Index:  []string{"database", "setting", "method"},
	Values: []string{"validation", "error", "best", "lowest", "loss"},
	Trial:  sensitivityTrial,
	Views: []experiment.View{
		{Name: "sensitivity", Title: "Open choices: mean error over the databases", Draw: drawSensitivity},
	},
	Cost: 5 * time.Second,
}

// sensitivityTrial learns as a comparison does, untimed. Validation is the error on
// validation rows that chose C (or, of ITML and Euclidean, the least over k), error that
// on test rows with the k that validation chose, best and lowest the least over k on
// test rows under two rules for tied votes.
func sensitivityTrial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	s := mainSettings
	for _, v := range variants {
		if v.name == cell.Params["variant"] {
			v.change(&s)
		}
	}
	p, err := newProblem(env, seed, cell.Dataset, s)
	if err != nil {
		return nil, err
	}
	rows := table.New([]string{"database", "setting", "method"}, []string{"validation", "error", "best", "lowest", "loss"})
	ks := neighbours(s.MaxK, len(p.selection.train.y))
	add := func(method string, chosen candidate, m metric.SqDister, loss table.Values) error {
		k, wrong := chosen.best()
		values := table.Values{"validation": float64(wrong) / float64(len(p.selection.test.y))}
		for name, v := range loss {
			values[name] = v
		}
		for _, ties := range []classify.VoteTie{classify.NearestOfTied, classify.LowestLabel} {
			test, err := p.wrong(m, ties, ks)
			if err != nil {
				return err
			}
			n := float64(len(p.test.y))
			_, least := candidate{wrong: test}.best()
			if ties == classify.LowestLabel {
				values["lowest"] = float64(least) / n
				continue
			}
			values["error"], values["best"] = float64(test[k-1])/n, float64(least)/n
		}
		rows.Add(table.Key{"database": cell.Params["database"], "setting": cell.Params["variant"], "method": method}, values)
		return nil
	}
	for _, o := range onlines {
		all, best, err := p.choose(ctx, o, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		shared, err := p.prepare(o)
		if err != nil {
			return nil, err
		}
		l, err := p.learner(o, shared, all[best].c, 0)
		if err != nil {
			return nil, err
		}
		var w work
		if err := p.run(ctx, l, &w, 0, p.steps); err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		m, _ := l.Final()
		if err := add(o.name, all[best], m, table.Values{"loss": float64(w.mistakes) / float64(w.steps)}); err != nil {
			return nil, err
		}
	}
	tuned, err := pairs.TuneLogDet(seed.Stream("tune"), p.train.x, p.train.y, pairs.LogDetTunedParams{LogDetLabelParams: s.itmlParams()})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", itml, err)
	}
	l, err := p.fitITML(seed.Stream("bounds"), s, tuned.Gamma)
	if err != nil {
		return nil, err
	}
	v, err := p.selection.fitITML(seed.Stream("validation bounds"), s, tuned.Gamma)
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name        string
		valid, test metric.SqDister
	}{{itml, v.Metric, l.Metric}, {euclidean, metric.Euclidean{}, metric.Euclidean{}}} {
		wrong, err := p.selection.wrong(c.valid, classify.NearestOfTied, ks)
		if err != nil {
			return nil, err
		}
		if err := add(c.name, candidate{wrong: wrong}, c.test, nil); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func drawSensitivity(t *table.Table) (plots.Drawing, error) {
	if t.Len() == 0 {
		return plots.Missing("errors on any database"), nil
	}
	names := append(onlineNames(), itml, euclidean)
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: append([]string{"setting", "quantity", "database"}, shownNames(names)...)}}
	panels := []struct {
		title   string
		methods []string
	}{
		{"constraints at each step", []string{"PA-I+", "PA-II+", "PA-LS+"}},
		{"constraints at the end", []string{"PA-I-", "PA-II-", "PA-LS-"}},
		{"ITML and Euclidean", []string{itml, euclidean}},
	}
	for _, pn := range panels {
		p := plots.Panel{Title: pn.title, XLabel: "mean test error (%), k by validation"}
		for i, m := range pn.methods {
			mark := plots.Intervals{Name: shown.Replace(m), Color: i}
			for setting, g := range t.Where("method", m).Group("setting") {
				e := 100 * stat.Mean(g.Values("error"), nil)
				p.XMax = max(p.XMax, e)
				mark.Labels, mark.X = append(mark.Labels, setting), append(mark.X, e)
			}
			p.Marks = append(p.Marks, mark)
		}
		p.XMax *= 1.05
		d.Panels = append(d.Panels, p)
	}
	for setting, g := range t.Group("setting") {
		for _, what := range []struct{ column, name string }{
			{"validation", "validation error (%)"}, {"error", "test error, k by validation (%)"}, {"best", "test error, best k (%)"}, {"lowest", "the same, tied votes to the first class name (%)"}, {"loss", "predictive loss (%)"},
		} {
			databases := append(g.Unique("database"), "")
			for _, db := range databases {
				rows, name := g, "mean"
				if db != "" {
					rows, name = g.Where("database", db), db
				}
				row := []string{setting, what.name, name}
				for _, m := range names {
					v := stat.Mean(rows.Where("method", m).Values(what.column), nil)
					cell := fmt.Sprintf("%.2f", 100*v)
					if v != v {
						cell = "–"
					}
					row = append(row, cell)
				}
				d.Text.Rows = append(d.Text.Rows, row)
			}
		}
	}
	splits := "one random split"
	if n := len(t.Unique("trial")); n > 1 {
		splits = fmt.Sprintf("%d random splits", n)
	}
	d.Caption = fmt.Sprintf("Mean test error over %s and %s, k by validation, one choice changed at a time; the main setting is \"features %s\". The table adds the error on validation rows, which chose the scaling (the least mean over the six online methods and the "+
		"databases), the error with the best k on the test rows under two rules for tied votes, and the predictive loss. Fewer than %d splits: no intervals.",
		strings.Join(t.Unique("database"), ", "), splits, describeScaling[mainSettings.Scaling.String()], experiment.MinTrials)
	return d, nil
}

// validationByScaling returns, per variant of scaling, the mean validation error over
// methods, databases and trials: the rule by which the scaling of the main setting is chosen.
func validationByScaling(t *table.Table) map[string]float64 {
	out := map[string]float64{}
	for setting, g := range t.Group("setting") {
		if strings.HasPrefix(setting, "features ") {
			var all []float64
			for _, o := range onlines {
				all = append(all, g.Where("method", o.name).Values("validation")...)
			}
			out[setting] = stat.Mean(all, nil)
		}
	}
	return out
}
