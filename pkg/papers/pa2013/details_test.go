package pa2013

import (
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// made makes a table of the four databases from a value for each row's column.
func madeDetails(value func(kind, method, at, column string) float64) *table.Table {
	out := table.New([]string{"job", "cell", "trial", "kind", "method", "at"}, detailsColumns.Numbers())
	for _, d := range databases {
		if !d.small() {
			continue
		}
		for trial := range madeTrials {
			add := func(kind, method, at string, columns ...string) {
				v := table.Values{"ratio": 1}
				for _, c := range columns {
					v[c] = value(kind, method, at, c) + 1e-5*float64(trial%3)
				}
				out.Add(table.Key{"cell": d.cell, "trial": strconv.Itoa(trial), "kind": kind, "method": method, "at": at}, v)
			}
			for _, v := range rules {
				for _, q := range everyUpdates {
					add(kindProjection, v.name, everyName(q), "error")
				}
			}
			for _, m := range onlineNames {
				for _, s := range starts {
					add(kindStart, m, s.String(), "error", "validation")
				}
				add(kindOrder, m, orderTail, "error", "range")
				for _, at := range []string{"0.2", byLoss, byStep} {
					add(kindStop, m, at, "error", "steps")
				}
			}
		}
	}
	return out
}

func TestDetailsClaims(t *testing.T) {
	bad := starts[4].String()
	yes := madeDetails(func(kind, _, at, column string) float64 {
		switch {
		case kind == kindStart && at == bad:
			return .3
		case column == "steps" && at != "0.2":
			return .5
		case column == "range":
			return .05
		}
		return .1
	})
	no := madeDetails(func(kind, _, at, column string) float64 {
		switch {
		case kind == kindStop && at != "0.2":
			return 1.5
		case column == "range":
			return .001
		case kind == kindProjection && at != everyName(1):
			return .2
		}
		return .1
	})
	for _, c := range detailsClaims {
		if f := experimenttest.Judge(t, detailsClaims, c.ID, yes, nil); f.Verdict != judge.Reproduced {
			t.Errorf("%s in a supporting table: %s: %s %s", c.ID, f.Verdict, f.Ours, f.Reason)
		}
		if f := experimenttest.Judge(t, detailsClaims, c.ID, no, nil); f.Verdict != judge.NotReproduced {
			t.Errorf("%s in an opposing table: %s: %s %s", c.ID, f.Verdict, f.Ours, f.Reason)
		}
	}
	// A start that looks bad on validation rows, but is the best on test rows, counts as such.
	lucky := madeDetails(func(kind, _, at, column string) float64 {
		if kind == kindStart && at == bad {
			return map[string]float64{"validation": .3, "error": .05}[column]
		}
		return .1
	})
	if f := experimenttest.Judge(t, detailsClaims, "start-matters", lucky, nil); f.Verdict != judge.NotReproduced {
		t.Errorf("worst on validation rows, best on test rows: %s: %s", f.Verdict, f.Reason)
	}
}

// Orders keep the pairs and all but the last part of the steps.
func TestOrdersArePermutations(t *testing.T) {
	p := &details{problem: testProblem(t, generatedMixture, mainSettings)}
	seed := random.Seed{Base: 1, Experiment: "test", Dataset: generatedMixture}
	want := slices.Sorted(slices.Values(p.problem.order[:p.steps]))
	for _, part := range []float64{tailPart, 1} {
		all := p.shuffled(seed.Stream("orders"), part)
		if len(all) != orders {
			t.Fatalf("%d orders", len(all))
		}
		keep := int(float64(p.steps) * (1 - part))
		for _, o := range all {
			if !slices.Equal(slices.Sorted(slices.Values(o)), want) || !slices.Equal(o[:keep], p.problem.order[:keep]) {
				t.Errorf("part %g: an order has other pairs, or another head", part)
			}
			if slices.Equal(o, p.problem.order[:p.steps]) {
				t.Errorf("part %g: an order is the first", part)
			}
		}
	}
}

// The paper's start and both ends of the projections are the methods of the comparison: the same C, k and metric.
func TestDetailsStartWithTheComparison(t *testing.T) {
	p := testProblem(t, generatedMixture, mainSettings)
	d := &details{problem: p, set: mainSettings}
	for _, o := range onlines {
		all, best, err := p.choose(t.Context(), o, mainSettings)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.tune(t.Context(), pairs.PAParams{Rule: o.rule, PSD: o.psd})
		if err != nil || got.c != all[best].c || !slices.Equal(got.wrong, all[best].wrong) {
			t.Errorf("%s: C = %g, %v wrong, want %g, %v (error %v)", o.name, got.c, got.wrong, all[best].c, all[best].wrong, err)
		}
	}
}
