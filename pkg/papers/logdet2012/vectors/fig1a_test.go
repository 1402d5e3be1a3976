package vectors

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/logdet2012/protocol"
)

// Views of a table without rows say what is missing, and those of half a table draw it.
func TestViewsOfPartialTables(t *testing.T) {
	empty := experimenttest.Table(Fig1a)
	all := experimenttest.Published(t, Fig1a)
	half := all.Where("features", "zscore")
	for _, v := range Fig1a.Views {
		d, err := v.Draw(empty)
		if err != nil || len(d.Notes) == 0 {
			t.Errorf("%s of nothing: notes %v, error %v", v.Name, d.Notes, err)
		}
	}
	d, err := Fig1a.Views[0].Draw(half)
	if err != nil || len(d.Panels) != 1 || len(d.Text.Rows) != len(protocol.Databases) {
		t.Errorf("standardised only: %d panels, error %v", len(d.Panels), err)
	}
}

// A table without a reading, or without the wider grid, gives no verdict.
func TestAllReadingsAreNeeded(t *testing.T) {
	all := experimenttest.Published(t, Fig1a)
	if _, err := fig1aClaims[0].Judge(all.Where("features", "zscore"), nil); err == nil {
		t.Error("without features as they are there is no error")
	}
	narrow := frame.Only("method", append([]string{""}, protocol.MethodNames...)...)(all)
	if _, err := fig1aClaims[0].Judge(narrow, nil); err == nil || !strings.Contains(err.Error(), "no results of "+protocol.LogDetWider) {
		t.Errorf("without the wider grid the error is %v", err)
	}
}

// A cell of the wider grid has the folds and pairs of the cell whose widths it extends.
func TestWiderCellsAreThoseOfTheFigure(t *testing.T) {
	cells := Fig1a.Cells(experiment.Full)
	for _, c := range cells {
		wide := c.Settings.(fig1aSettings)
		if wide.Only == "" {
			continue
		}
		plain := cells[slices.IndexFunc(cells, func(o experiment.Cell) bool { return o.Name+", wider grid" == c.Name })]
		s := plain.Settings.(fig1aSettings)
		wide.Only, wide.Rules, wide.Widths = "", s.Rules, s.Widths
		if plain.Dataset != c.Dataset || !reflect.DeepEqual(wide, s) {
			t.Errorf("%s differs from %s in more than the grid", c.Name, plain.Name)
		}
	}
}

// A trial has the errors of every method on every row of the set, choices of least inner
// error, and bounds in order.
func TestTrialIsComplete(t *testing.T) {
	cell := Fig1a.Cells(experiment.Smoke)[0]
	tb, err := Fig1a.Run(t.Context(), experimenttest.Env(), cell, experimenttest.Seed(cell.Dataset))
	if err != nil {
		t.Fatal(err)
	}
	set := experimenttest.Must(protocol.Load(experimenttest.Env(), experimenttest.Seed(cell.Dataset), cell.Dataset))
	s := protocol.SettingsOf(datasets.AsIs, experiment.Smoke)
	for i, m := range protocol.MethodsNamed(s, protocol.MethodNames) {
		if m.Name != protocol.MethodNames[i] || m.Bounded != bounded(m.Name) {
			t.Errorf("method %d is %s, the legend has %s", i, m.Name, protocol.MethodNames[i])
		}
		rules := []string{""}
		if m.Bounded {
			rules = []string{percentiles, bins}
		}
		for _, rule := range rules {
			g := tb.Where("method", m.Name, "bounds", rule)
			rows, wrong := 0.0, g.Where("kind", "wrong")
			for _, n := range wrong.Values("of") {
				rows += n
			}
			if wrong.Len() != protocol.Folds || rows != float64(set.N()) {
				t.Errorf("%s %s: %d folds with %g test rows, want %d with %d", m.Name, rule, wrong.Len(), rows, protocol.Folds, set.N())
			}
			inner := g.Where("kind", "inner")
			if len(m.Candidates) == 1 {
				if inner.Len() != 0 {
					t.Errorf("%s: %d inner errors without a choice", m.Name, inner.Len())
				}
				continue
			}
			if inner.Len() != len(m.Candidates) {
				t.Errorf("%s %s: %d inner errors, want %d", m.Name, rule, inner.Len(), len(m.Candidates))
			}
			for i, n := range inner.Values("of") { // each row is scored in the training part of one fold
				if n != float64(set.N()) || inner.Index("at")[i] != m.Candidates[i].Label {
					t.Errorf("%s %s, %s: %g inner rows, want %d at %s", m.Name, rule, inner.Index("at")[i], n, set.N(), m.Candidates[i].Label)
				}
			}
			if made := g.Where("kind", "stopped", "at", protocol.ChoiceFits).Values("of"); !slices.Equal(made, []float64{float64(protocol.Folds * len(m.Candidates)), float64(protocol.Folds * len(m.Candidates))}) {
				t.Errorf("%s %s: %v fits made in choosing, want %d per fold", m.Name, rule, made, protocol.Folds*len(m.Candidates))
			}
		}
	}
	for _, rule := range []string{percentiles, bins} {
		b := tb.Where("kind", "bound", "bounds", rule, "fold", "1").Values("value")
		if len(b) != 2 || !(0 < b[0] && b[0] < b[1]) {
			t.Errorf("%s: bounds %v", rule, b)
		}
	}
	if got := tb.Where("kind", "size", "fold", "0", "at", protocol.Features).Values("value"); !slices.Equal(got, []float64{4}) {
		t.Errorf("features %v", got)
	}
	if bad := slices.IndexFunc(tb.Values("value"), math.IsNaN); bad >= 0 {
		t.Errorf("row %d has no value", bad)
	}
}

// The first of the best candidates is chosen in each fold, of the inner errors of that fold; the table has
// their sums over folds.
func TestBestCandidateIsChosen(t *testing.T) {
	set := experimenttest.Must(protocol.Load(experimenttest.Env(), experimenttest.Seed(protocol.GeneratedLinear), protocol.GeneratedLinear))
	s := protocol.SettingsOf(datasets.AsIs, experiment.Smoke)
	problems, err := protocol.NewProblems(set, s, experimenttest.Seed(protocol.GeneratedLinear))
	if err != nil {
		t.Fatal(err)
	}
	type key struct{ method, bounds, at string }
	sums := map[key]int{}
	for fold, p := range problems {
		for _, m := range protocol.MethodsNamed(s, protocol.MethodNames) {
			if len(m.Candidates) == 1 {
				continue
			}
			rules := s.Rules
			if !m.Bounded {
				rules = rules[:1]
			}
			for _, rule := range rules {
				bounds := ""
				if m.Bounded {
					bounds = rule.String()
				}
				var inner []int
				var at []string
				chosen := ""
				err := p.Score(t.Context(), m, rule, s, func(kind, label string, value, _ int) {
					switch kind {
					case "inner":
						inner, at = append(inner, value), append(at, label)
						sums[key{m.Name, bounds, label}] += value
					case "chosen":
						chosen = label
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if len(inner) != len(m.Candidates) || chosen != at[slices.Index(inner, slices.Min(inner))] {
					t.Errorf("%s, %v, fold %d: %q is chosen, of inner errors %v", m.Name, rule, fold, chosen, inner)
				}
			}
		}
	}
	tb, err := Fig1a.Run(t.Context(), experimenttest.Env(), Fig1a.Cells(experiment.Smoke)[0], experimenttest.Seed(protocol.GeneratedLinear))
	if err != nil {
		t.Fatal(err)
	}
	inner := tb.Where("kind", "inner")
	if inner.Len() != len(sums) {
		t.Errorf("%d rows of inner errors, want %d", inner.Len(), len(sums))
	}
	for i, got := range inner.Values("value") {
		k := key{inner.Index("method")[i], inner.Index("bounds")[i], inner.Index("at")[i]}
		if want, ok := sums[k]; !ok || got != float64(want) {
			t.Errorf("%v: %g inner errors, want %d", k, got, want)
		}
	}
}
