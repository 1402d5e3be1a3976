package logdet2012

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"

	"metriclab/pkg/learners/itml"
	"metriclab/pkg/table"
)

// Fig1a is the comparison on five small data sets: nearest neighbours under seven metrics,
// learned on the same folds and pairs.
var Fig1a = experiment.Spec{
	ID:      paperKey + "/fig1a",
	Title:   "LogDet and its rivals on five UCI data sets: error of nearest neighbours",
	Source:  "Sections 6 and 6.1, Fig. 1(a)",
	Version: 2,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		all := databases
		if scale == experiment.Smoke {
			all = generated
		}
		var cells []experiment.Cell
		for _, d := range all {
			for _, by := range readings {
				cells = append(cells, experiment.Cell{Name: d.name + " features " + describe[by.String()], Dataset: d.dataset, Methods: versions, Settings: fig1aSettings{Database: d.name, settings: settingsOf(by, scale)}})
			}
		}
		return append(cells, widerCells(scale)...)
	},
	Trials:  experiment.Trials(10),
	Kinds:   fig1aKinds,
	Columns: fig1aColumns,
	Trial:   fig1aTrial,
	Views:   fig1aViews,
	Claims:  fig1aClaims,
	Choices: fig1aChoices,
	Cost:    12 * time.Second,
}

// fig1aSettings are those of one data set.
type fig1aSettings struct {
	// Database is the name by which the paper calls the data set.
	Database string `key:"database"`
	// Only, if not "", is the one method of the cell.
	Only string `key:"only,omitzero"`
	settings
}

// names are the methods of the cell.
func (s fig1aSettings) names() []string {
	if s.Only != "" {
		return []string{s.Only}
	}
	return methodNames
}

// describe says how features are brought to scale.
var describe = map[string]string{datasets.AsIs.String(): "as they are", datasets.ZScore.String(): "standardised"}

// perMethod are the kinds of rows that are of one method.
var perMethod = []string{"wrong", "inner", "chosen", "stopped", "failed"}

// The table is committed, with many candidates, data sets and trials. So that it stays small,
// inner errors are summed over folds, and counts of nothing have no row.
var (
	fig1aKinds = []experiment.Kind{
		{Name: "size", Meaning: "a size of the data set, of a training fold, of its pairs or of the protocol"},
		{Name: "bound", Meaning: "u or ℓ among the squared Euclidean distances of a training fold"},
		{Name: "wrong", Meaning: "test rows classified wrongly, per fold"},
		{Name: "inner", Meaning: "rows classified wrongly in the inner cross-validations of all folds, per candidate"},
		{Name: "chosen", Meaning: "candidates with as few inner errors as the one that was chosen"},
		{Name: "stopped", Meaning: "fits that did not converge; no row if no fit was made"},
		{Name: "failed", Meaning: "fits that are impossible in float64; no row if there were none"},
	}
	fig1aColumns = experiment.Columns{
		experiment.Text("database", "data set, by the paper's name"),
		experiment.Text("features", "scaling of the features: raw, or zscore by the training rows"),
		experiment.Text("kind", "kind of the row"),
		experiment.Text("method", "method, by the name in the figure's legend").In(perMethod...),
		experiment.Text("bounds", "rule that gave u and ℓ: percentiles or bins; empty for a method that has none").In(append([]string{"bound"}, perMethod...)...),
		experiment.Text("fold", "number of the test fold, 0 or 1").In("size", "bound", "wrong", "chosen", "stopped", "failed"),
		experiment.Text("at", "size: which one; bound: u or l; inner and chosen: the candidate; stopped and failed: choice for fits in choosing, final for those on the training fold").
			In("size", "bound", "inner", "chosen", "stopped", "failed"),
		experiment.Number("value", "", "size: the size; bound: the squared distance; otherwise how many rows, candidates or fits the kind counts"),
		experiment.Number("of", "", "size: the rows, pairs or cap that it is a part of, or the size itself; bound: the median squared distance; wrong and inner: rows judged; chosen: candidates; stopped and failed: fits made"),
	}
)

// What sizes and bounds are of, and when fits were made.
const (
	objects         = "objects"
	features        = "features"
	classes         = "classes"
	trainRows       = "training rows"
	similarPairs    = "similar pairs"
	dissimilarPairs = "dissimilar pairs"
	neighbours      = "neighbours"
	pairsPerClass   = "pairs per class" // of each label, at most

	upperBound = "u"
	lowerBound = "l"

	choiceFits = "choice"
	finalFits  = "final"
)

// Names of the sizes that cap the fits made in choosing or at the end.
func projectionCap(fits string) string { return "projections at most, " + fits }
func iterationCap(fits string) string  { return "iterations at most, " + fits }

func fig1aTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(fig1aSettings)
	set, err := load(run.Env, run.Seed, run.Cell.Dataset)
	if err != nil {
		return err
	}
	problems, err := newProblems(set, s.settings, run.Seed)
	if err != nil {
		return err
	}
	t := &fig1a{set: s, rows: run.Rows}
	for f, p := range problems {
		t.fold = strconv.Itoa(f)
		if s.Only == "" { // else another cell has them
			if err := t.sizes(p); err != nil {
				return err
			}
		}
		for _, m := range methodsNamed(s.settings, s.names()) {
			for i, rule := range s.Rules {
				if i > 0 && !m.bounded {
					break // it uses no rule
				}
				end := run.Lap(m.name)
				err := t.judge(ctx, p, m, rule)
				end()
				if err != nil {
					return fmt.Errorf("%s, fold %d: %w", m.name, f, err)
				}
			}
		}
	}
	t.fold = ""
	for _, c := range t.inner {
		t.add("inner", c.method, c.bounds, c.at, float64(c.wrong), float64(c.of))
	}
	return nil
}

// fig1a is a trial that fills its table.
type fig1a struct {
	set   fig1aSettings
	fold  string
	rows  *table.Table
	inner []innerSum // by first occurrence
}

// innerSum counts wrong rows of the inner cross-validations of all folds.
type (
	innerKey struct{ method, bounds, at string }
	innerSum struct {
		innerKey
		wrong, of int
	}
)

// addInner adds the count of a fold.
func (t *fig1a) addInner(k innerKey, wrong, of int) {
	i := slices.IndexFunc(t.inner, func(c innerSum) bool { return c.innerKey == k })
	if i < 0 {
		i, t.inner = len(t.inner), append(t.inner, innerSum{innerKey: k})
	}
	t.inner[i].wrong += wrong
	t.inner[i].of += of
}

func (t *fig1a) add(kind, method, bounds, at string, value, of float64) {
	t.rows.Add(table.Key{
		"database": t.set.Database, "features": t.set.Scaling.String(),
		"kind": kind, "method": method, "bounds": bounds, "fold": t.fold, "at": at,
	}, table.Values{"value": value, "of": of})
}

func (t *fig1a) sizes(p *problem) error {
	p.sizes(t.set.settings, func(what string, value, of int) { t.add("size", "", "", what, float64(value), float64(of)) })
	median, err := p.median()
	if err != nil {
		return err
	}
	for _, rule := range t.set.Rules {
		b, err := p.bounds(rule)
		if err != nil {
			return err
		}
		t.add("bound", "", rule.String(), upperBound, b.upper, median)
		t.add("bound", "", rule.String(), lowerBound, b.lower, median)
	}
	return nil
}

// judge adds what a method chooses and how many errors it makes.
func (t *fig1a) judge(ctx context.Context, p *problem, m method, rule itml.BoundRule) error {
	bounds := ""
	if m.bounded {
		bounds = rule.String()
	}
	return p.judge(ctx, m, rule, t.set.settings, func(kind, at string, value, of int) {
		switch {
		case kind == "inner":
			t.addInner(innerKey{m.name, bounds, at}, value, of)
		case kind == "failed" && value == 0, kind == "stopped" && of == 0:
		default:
			t.add(kind, m.name, bounds, at, float64(value), float64(of))
		}
	})
}
