package pola2004

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// sensitivityProblems are nine digit pairs declared in advance, easy and hard.
var sensitivityProblems = []string{"0-1", "0-8", "1-7", "2-7", "3-5", "3-8", "4-9", "5-8", "7-9"}

// variants change one open choice of the protocol each. The main setting also
// sweeps what needs no new pass of POLA: k, the neighbours kept and the ridges.
var variants = []struct {
	name   string
	change func(*settings)
}{
	{mainVariant, func(*settings) {}},
	{"pixels raw (0-255)", func(s *settings) { s.Scaling = datasets.Raw }},
	{"pixels in 0-1", func(s *settings) { s.Scaling = datasets.Unit01 }},
	{"unit norm", func(s *settings) { s.Scaling = datasets.UnitNorm }},
	{"b1 = 0", func(s *settings) { s.B1 = 0 }},
	{"b1 = 10", func(s *settings) { s.B1 = 10 }},
	{"gamma = 1", func(s *settings) { s.Gamma = 1 }},
	{"half of the pairs similar", func(s *settings) { s.Balanced = true }},
	{"5 passes", func(s *settings) { s.Passes = 5 }},
	{"25 passes", func(s *settings) { s.Passes = 25 }},
}

const mainVariant = "main setting"

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
			problems = []string{"0-8"}
		}
		var cells []experiment.Cell
		for _, digits := range problems {
			for _, v := range variants {
				s := mainSettings.at(scale)
				v.change(&s)
				if v.name != mainVariant && fmt.Sprint(s.params()) == fmt.Sprint(mainSettings.at(scale).params()) {
					continue // the main setting already is this variant
				}
				params := s.params()
				params["variant"], params["digits"] = v.name, digits
				cells = append(cells, experiment.Cell{
					Name: digits + " " + v.name, Dataset: digitDataset(scale), Methods: digitMethods, Params: params,
				})
			}
		}
		return cells
	},
	Trials: func(experiment.Scale) int { return 1 },
	Index:  sensitivityIndex,
	Values: sensitivityValues,
	Trial:  sensitivityTrial,
	Views: []experiment.View{
		{Name: "sensitivity", Title: "Open choices: mean error over some digit pairs", Draw: drawSensitivity},
	},
	Cost: 12 * time.Second,
}

var (
	sensitivityIndex  = []string{"digits", "setting", "method"}
	sensitivityValues = []string{"error", "validation", "k"}
)

func sensitivityTrial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	s := mainSettings.at(env.Scale)
	variant, digits := cell.Params["variant"], cell.Params["digits"]
	for _, v := range variants {
		if v.name == variant {
			v.change(&s)
		}
	}
	p, err := load(env, seed, digits, s)
	if err != nil {
		return nil, err
	}
	rows := table.New(sensitivityIndex, sensitivityValues)
	judge := func(setting, method string, m metric.SqDister, train part, k int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		test, err := errorsOn(m, train, p.test, []int{k})
		if err != nil {
			return fmt.Errorf("%s, %s: %w", setting, method, err)
		}
		valid, err := errorsOn(m, train, p.valid, []int{k})
		if err != nil {
			return fmt.Errorf("%s, %s: %w", setting, method, err)
		}
		rows.Add(table.Key{"digits": digits, "setting": setting, "method": method},
			table.Values{"error": test[0], "validation": valid[0], "k": float64(k)})
		return nil
	}

	k, err := p.chooseK(s.Candidates)
	if err != nil {
		return nil, err
	}
	learned, err := p.learnPOLA(s)
	if err != nil {
		return nil, err
	}
	m := learned.learner.Metric()
	both := []struct {
		name string
		m    metric.SqDister
	}{{euclidean, metric.Euclidean{}}, {pola, m}}
	for _, c := range both {
		if err := judge(variant, c.name, c.m, p.train, k); err != nil {
			return nil, err
		}
	}
	if err := judge(variant, polaTop, topDirections(m, 1), p.train, k); err != nil {
		return nil, err
	}
	if variant != mainVariant {
		return rows, nil
	}
	for _, fixed := range s.Candidates {
		for _, c := range both {
			if err := judge("k = "+strconv.Itoa(fixed), c.name, c.m, p.train, fixed); err != nil {
				return nil, err
			}
		}
	}
	for _, share := range []int{2, 4} {
		kept := p.train.rows(seed.Stream("neighbours " + digits).Perm(len(p.train.y))[:len(p.train.y)/share])
		for _, c := range both {
			if err := judge(fmt.Sprintf("1/%d of the neighbours", share), c.name, c.m, kept, k); err != nil {
				return nil, err
			}
		}
	}
	for _, ridge := range sweptRidges {
		setting := "ridge " + table.Format(ridge)
		f, err := p.fda(ridge)
		if err != nil {
			return nil, err
		}
		if err := judge(setting, "FDA", f, p.train, k); err != nil {
			return nil, err
		}
		r, err := p.rca(ridge)
		if err != nil {
			return nil, err
		}
		if err := judge(setting, "RCA", r, p.train, k); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func drawSensitivity(t *table.Table) (plots.Drawing, error) {
	if t.Len() == 0 {
		return plots.Missing("errors of any problem"), nil
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"setting", "method", "test error (%)", "validation error (%)", "problems"}}}
	panels := []struct {
		title   string
		keep    func(setting string) bool
		methods []string
	}{
		{"POLA and Euclidean", func(s string) bool { return !strings.HasPrefix(s, "ridge ") }, []string{euclidean, pola}},
		{"POLA's first eigenvector", func(s string) bool { return !strings.HasPrefix(s, "ridge ") }, []string{polaTop}},
		{"RCA and FDA: ridge", func(s string) bool { return strings.HasPrefix(s, "ridge ") }, []string{"RCA", "FDA"}},
	}
	for _, pn := range panels {
		p := plots.Panel{Title: pn.title, XLabel: "mean test error (%)"}
		for i, method := range pn.methods {
			mark := plots.Intervals{Name: method, Color: i}
			g := t.Where("method", method)
			for _, setting := range g.Unique("setting") {
				if !pn.keep(setting) {
					continue
				}
				c := g.Where("setting", setting)
				e := 100 * stat.Mean(c.Values("error"), nil)
				p.XMax = max(p.XMax, e)
				mark.Labels, mark.X = append(mark.Labels, symbols.Replace(setting)), append(mark.X, e)
				d.Text.Rows = append(d.Text.Rows, []string{symbols.Replace(setting), method, fmt.Sprintf("%.2f", e),
					fmt.Sprintf("%.2f", 100*stat.Mean(c.Values("validation"), nil)), strconv.Itoa(len(c.Unique("digits")))})
			}
			p.Marks = append(p.Marks, mark)
		}
		p.XMax *= 1.05
		d.Panels = append(d.Panels, p)
	}
	d.Caption = fmt.Sprintf("Mean kNN error over the digit pairs %s, one seed, one choice changed at a time; the rest as in Fig. 3. Top left: pixel scaling, start threshold b₁, "+
		"relaxation γ (Eq. 12), pair balance, passes over the pairs, k, share of neighbours kept. Top right: POLA's first eigenvector alone. Bottom: the ridge of RCA (without PCA) and of FDA, relative to the mean eigenvalue. The table adds the error on "+
		"as many other images of the training set, which this run does not train on (validation). On MNIST at full scale, that column chose the main setting (%s, b₁ = %s) and the validated ridges (RCA %s, FDA %s). "+
		"One seed: no intervals.",
		strings.Join(t.Unique("digits"), ", "), describeScaling[mainSettings.Scaling], table.Format(mainSettings.B1),
		table.Format(mainSettings.RCARidge), table.Format(mainSettings.FDARidge))
	return d, nil
}
