package logdet2012

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/pairs"
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
			all = []database{{generatedLinear, generatedLinear}, {generatedXOR, generatedXOR}}
		}
		var cells []experiment.Cell
		for _, d := range all {
			for _, by := range readings {
				params := settingsOf(by, scale).params()
				params["database"] = d.name
				cells = append(cells, experiment.Cell{Name: d.name + " features " + describe[by.String()], Dataset: d.dataset, Methods: versions, Params: params})
			}
		}
		return cells
	},
	Trials: experiment.Trials(10),
	Index:  fig1aIndex,
	Values: fig1aValues,
	Trial:  fig1aTrial,
	Views:  fig1aViews,
	Claims: fig1aClaims,
	Cost:   12 * time.Second,
}

// describe says how features are brought to scale.
var describe = map[string]string{datasets.AsIs.String(): "as they are", datasets.ZScore.String(): "standardised"}

// The table of Fig. 1(a), by kind, of which the value counts something of so many:
//
//	size     at what                      of the data set, the training fold or its pairs
//	wrong    method, bounds, fold         test rows that are classified wrongly, of the test fold
//	inner    method, bounds, at           the same of the inner cross-validations of all folds, at each candidate
//	chosen   method, bounds, fold, at     candidates that are as good as the one chosen, of all
//	stopped  method, bounds, fold, at     fits that did not converge, of those made, if any: at "choice" or "final"
//	failed   method, bounds, fold, at     fits that are impossible in float64, if any, of those made
//	bound    bounds, fold, at u or l      u or ℓ among squared distances of features, of their median
//
// bounds is the rule that gave u and ℓ, "" where a method has none. There are many candidates, data sets and
// trials, and a table is committed: hence no inner errors by fold, and no counts of nothing.
var (
	fig1aIndex  = []string{"database", "features", "kind", "method", "bounds", "fold", "at"}
	fig1aValues = []string{"value", "of"}
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

func fig1aTrial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	by, err := datasets.ParsePreprocessing(cell.Params["features"])
	if err != nil {
		return nil, err
	}
	s := settingsOf(by, env.Scale)
	set, err := load(env, seed, cell.Dataset)
	if err != nil {
		return nil, err
	}
	problems, err := newProblems(set, s, seed)
	if err != nil {
		return nil, err
	}
	t := &fig1a{cell: cell, set: s, rows: table.New(fig1aIndex, fig1aValues), inner: map[innerKey]*innerSum{}}
	for f, p := range problems {
		t.fold = strconv.Itoa(f)
		if err := t.sizes(set, p); err != nil {
			return nil, err
		}
		for _, m := range methodsOf(s) {
			rules := s.Rules
			if !m.bounded {
				rules = rules[:1]
			}
			for _, rule := range rules {
				end := env.Lap(m.name)
				err := t.judge(ctx, p, m, rule)
				end()
				if err != nil {
					return nil, fmt.Errorf("%s, fold %d: %w", m.name, f, err)
				}
			}
		}
	}
	t.fold = ""
	for _, k := range t.order {
		t.add("inner", k.method, k.bounds, k.at, float64(t.inner[k].wrong), float64(t.inner[k].of))
	}
	return t.rows, nil
}

// fig1a is a trial that fills its table.
type fig1a struct {
	cell  experiment.Cell
	set   settings
	fold  string
	rows  *table.Table
	inner map[innerKey]*innerSum
	order []innerKey
}

// innerSum counts wrong rows of the inner cross-validations of all folds.
type (
	innerKey struct{ method, bounds, at string }
	innerSum struct{ wrong, of int }
)

// addInner adds the count of a fold.
func (t *fig1a) addInner(k innerKey, wrong, of int) {
	sum, ok := t.inner[k]
	if !ok {
		sum = &innerSum{}
		t.inner[k], t.order = sum, append(t.order, k)
	}
	sum.wrong += wrong
	sum.of += of
}

func (t *fig1a) add(kind, method, bounds, at string, value, of float64) {
	t.rows.Add(table.Key{
		"database": t.cell.Params["database"], "features": t.set.Scaling.String(),
		"kind": kind, "method": method, "bounds": bounds, "fold": t.fold, "at": at,
	}, table.Values{"value": value, "of": of})
}

func (t *fig1a) sizes(set *datasets.Set, p *problem) error {
	p.sizes(t.set, func(what string, value, of int) { t.add("size", "", "", what, float64(value), float64(of)) })
	for _, rule := range t.set.Rules {
		b, err := p.bounds(rule)
		if err != nil {
			return err
		}
		median, err := p.median()
		if err != nil {
			return err
		}
		t.add("bound", "", rule.String(), upperBound, b.upper, median)
		t.add("bound", "", rule.String(), lowerBound, b.lower, median)
	}
	return nil
}

// judge adds what a method chooses and how many errors it makes.
func (t *fig1a) judge(ctx context.Context, p *problem, m method, rule pairs.BoundRule) error {
	bounds := ""
	if m.bounded {
		bounds = rule.String()
	}
	return p.judge(ctx, m, rule, t.set, func(kind, at string, value, of int) {
		switch {
		case kind == "inner":
			t.addInner(innerKey{m.name, bounds, at}, value, of)
		case kind == "failed" && value == 0, kind == "stopped" && of == 0:
		default:
			t.add(kind, m.name, bounds, at, float64(value), float64(of))
		}
	})
}
