package pola2004

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// sensitivityProblems are nine digit pairs declared in advance, easy and hard.
var sensitivityProblems = []digits{{0, 1}, {0, 8}, {1, 7}, {2, 7}, {3, 5}, {3, 8}, {4, 9}, {5, 8}, {7, 9}}

// variants change one open choice of the protocol each. The main setting also
// sweeps what needs no new pass of POLA: k, the neighbours kept and the ridges.
var variants = []struct {
	name   string
	change func(*settings)
}{
	{mainVariant, func(*settings) {}},
	{"pixels raw (0-255)", func(s *settings) { s.Scaling = datasets.ScaleRaw }},
	{"pixels in 0-1", func(s *settings) { s.Scaling = datasets.Scale01 }},
	{"unit norm", func(s *settings) { s.Scaling = datasets.ScaleUnitNorm }},
	{"b1 = 0", func(s *settings) { s.B1 = 0 }},
	{"b1 = 10", func(s *settings) { s.B1 = 10 }},
	{"gamma = 1", func(s *settings) { s.Gamma = 1 }},
	{"half of the pairs similar", func(s *settings) { s.Balanced = true }},
	{"5 passes", func(s *settings) { s.Passes = 5 }},
	{"25 passes", func(s *settings) { s.Passes = 25 }},
	{projectionVariant, func(*settings) {}},
}

const (
	mainVariant = "main setting"
	// projectionVariant runs metrics of one dimension with all k and neighbours, in the main setting.
	projectionVariant = "one dimension"
)

var sweptRidges = []float64{0, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000}

// Sensitivity sweeps the choices that the paper leaves open.
var Sensitivity = experiment.Spec{
	ID:      "pola2004/sensitivity",
	Title:   "How the open choices of Fig. 3's protocol move its errors, on some digit pairs",
	Source:  "Section 7, Fig. 3; choices that the paper does not state",
	Ours:    true,
	Version: 2,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		problems := sensitivityProblems
		if scale == experiment.Smoke {
			problems = []digits{{0, 8}}
		}
		var cells []experiment.Cell
		main := mainSettings.at(scale)
		for _, d := range problems {
			for _, v := range variants {
				s := main
				v.change(&s)
				if v.name != mainVariant && v.name != projectionVariant && reflect.DeepEqual(s, main) {
					continue // the main setting already is this variant
				}
				cells = append(cells, experiment.Cell{
					Name: d.String() + " " + v.name, Dataset: digitDataset(scale), Methods: digitMethods,
					Settings: sensitivitySettings{s, d, v.name},
				})
			}
		}
		return cells
	},
	Trials:  func(experiment.Scale) int { return 1 },
	Columns: sensitivityColumns,
	Trial:   sensitivityTrial,
	Views: []experiment.View{
		{Name: "sensitivity", Title: "Open choices: mean error over some digit pairs", Draw: sensitivityView.Draw},
	},
	Cost: 12 * time.Second,
}

type sensitivitySettings struct {
	settings
	Digits  digits `key:"digits"`
	Variant string `key:"variant"`
}

var sensitivityColumns = experiment.Columns{
	experiment.Text("digits", "digits of the problem"),
	experiment.Text("setting", "choice that is changed, or the main setting"),
	experiment.Text("method", "metric"),
	experiment.Number("error", "share", "test images of the two digits that kNN classifies wrongly"),
	experiment.Number("validation", "share", "images of the training set that the run does not train on and kNN classifies wrongly"),
	experiment.Number("k", "", "neighbours of kNN"),
}

func sensitivityTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(sensitivitySettings)
	p, err := load(run.Env, run.Seed, s.Digits, s.settings)
	if err != nil {
		return err
	}
	k, err := p.chooseK(ctx, s.Candidates)
	if err != nil {
		return err
	}
	learned, err := p.learnPOLA(s.settings)
	if err != nil {
		return err
	}
	m := learned.learner.Metric()
	add := func(setting string, train part, k int, methods ...named) error {
		for _, c := range methods {
			if err := ctx.Err(); err != nil {
				return err
			}
			test, err := errorOn(ctx, c.metric, train, p.test, k)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", setting, c.name, err)
			}
			valid, err := errorOn(ctx, c.metric, train, p.valid, k)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", setting, c.name, err)
			}
			run.Rows.Add(table.Key{"digits": s.Digits.String(), "setting": setting, "method": c.name},
				table.Values{"error": test, "validation": valid, "k": float64(k)})
		}
		return nil
	}

	both := []named{{euclidean, metric.Euclidean{}}, {pola, m}}
	swept := both
	if s.Variant == projectionVariant {
		f, err := p.fda(ctx, s.FDARidge)
		if err != nil {
			return err
		}
		swept = []named{{polaTop, topDirections(m, 1)}, {fda, f}}
	} else if err := add(s.Variant, p.train, k, append(both, named{polaTop, topDirections(m, 1)})...); err != nil || s.Variant != mainVariant {
		return err
	}
	for _, fixed := range s.Candidates {
		if err := add("k = "+strconv.Itoa(fixed), p.train, fixed, swept...); err != nil {
			return err
		}
	}
	for _, share := range []int{2, 4} {
		kept := p.train.rows(run.Seed.Stream("neighbours " + s.Digits.String()).Perm(len(p.train.y))[:len(p.train.y)/share])
		if err := add(fmt.Sprintf("1/%d of the neighbours", share), kept, k, swept...); err != nil {
			return err
		}
	}
	if s.Variant == projectionVariant {
		return nil
	}
	for _, ridge := range sweptRidges {
		f, err := p.fda(ctx, ridge)
		if err != nil {
			return err
		}
		r, err := p.rca(ctx, ridge)
		if err != nil {
			return err
		}
		if err := add("ridge "+table.Format(ridge), p.train, k, named{fda, f}, named{rca, r}); err != nil {
			return err
		}
	}
	return nil
}

// named is a metric with its name in the table.
type named struct {
	name   string
	metric metric.SqDister
}

// The settings of the panels, by how their names begin.
var (
	neighbourSettings = []string{mainVariant, "k = ", "1/"}
	ridgeSettings     = []string{"ridge "}
)

// sensitivityPanel has the mean test errors of metrics by setting: of those that some prefixes begin; without prefixes, of those in no other panel.
func sensitivityPanel(title string, prefixes []string, methods ...string) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: title, XLabel: "test error (%)"}}
	begins := prefixes != nil
	if !begins {
		prefixes = slices.Concat(neighbourSettings, ridgeSettings)
	}
	some := func(t *table.Table) *table.Table {
		return frame.Only("setting", slices.DeleteFunc(t.Unique("setting"), func(setting string) bool {
			return begins != slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(setting, prefix) })
		})...)(t)
	}
	for _, m := range methods {
		p.Of = append(p.Of, frame.Dots(styles.Intervals(m), "shown", frame.Column("error"), frame.Percent.Without()).Where("method", m).On(some))
	}
	return p
}

var sensitivityView = frame.View{
	From:    frame.Only("method", euclidean, pola, polaTop, rca, fda).Then(frame.Called("shown", "setting", symbols.Replace)),
	Columns: 3,
	Panels: frame.Each(
		sensitivityPanel("neighbours", neighbourSettings, euclidean, pola, polaTop, fda),
		sensitivityPanel("what POLA learns from", nil, euclidean, pola, polaTop),
		sensitivityPanel("ridge", ridgeSettings, rca, fda),
	).WithRoom(),
	Text: &frame.Text{By: []string{"method", "", "shown", "setting"}, Cells: []frame.Cell{
		frame.Name("method", "method"),
		frame.Of("test error (%)", frame.Column("error"), frame.Percent, "%.2f"),
		frame.Of("validation error (%)", frame.Column("validation"), frame.Percent, "%.2f"),
		{Head: "problems", Of: func(g *table.Table) string { return strconv.Itoa(len(g.Unique("digits"))) }},
	}},
	Missing: "errors of any problem",
	Caption: func(t *table.Table) plots.Caption {
		return plots.Caption{
			Shows: "Mean kNN error over some digit pairs, one choice changed at a time. Left: k, and the share of neighbours kept. Middle: pixel scaling, start threshold b₁, " +
				"relaxation γ (Eq. 12), pair balance, passes over the pairs. Right: the ridge of RCA (without PCA) and of FDA, relative to the mean eigenvalue.",
			Data: fmt.Sprintf("%s: the digit pairs %s.", digitSource(len(t.Unique("digits")) < len(sensitivityProblems)), strings.Join(t.Unique("digits"), ", ")),
			Protocol: fmt.Sprintf("All else is as in Fig. 3. FDA stands on the left with its validated ridge. The table adds the error on "+
				"as many other images of the training set, which this run does not train on (validation). On MNIST at full scale, that column chose the main setting (%s, b₁ = %s) and the validated ridges (RCA %s, FDA %s).",
				describeScaling[mainSettings.Scaling], table.Format(mainSettings.B1), table.Format(mainSettings.RCARidge), table.Format(mainSettings.FDARidge)),
			Intervals: "One seed: no intervals.",
		}
	},
}
