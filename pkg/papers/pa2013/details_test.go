package pa2013

import (
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// madeStarts has the errors of each method from each start, on the four databases.
func madeStarts(value func(at, column string) float64) *table.Table {
	out := experimenttest.Table(Details)
	for _, d := range smallAt(experiment.Full, 0) {
		for trial := range madeTrials {
			for _, m := range onlineNames {
				for _, s := range starts {
					v := table.Values{"ratio": 1}
					for _, c := range []string{"error", "validation"} {
						v[c] = value(s.String(), c) + 1e-5*float64(trial%3)
					}
					out.Add(table.Key{"cell": d.cell, "trial": strconv.Itoa(trial), "kind": kindStart, "method": m, "at": s.String()}, v)
				}
			}
		}
	}
	return out
}

// A start that looks bad on validation rows, but is the best on test rows, counts as such.
func TestWorstStartIsThatOfValidation(t *testing.T) {
	for want, of := range map[judge.Verdict]map[string]float64{
		judge.NotReproduced: {"validation": .3, "error": .05}, judge.Reproduced: {"validation": .3, "error": .3},
	} {
		tb := madeStarts(func(at, column string) float64 {
			if at == starts[4].String() {
				return of[column]
			}
			return .1
		})
		if f := experimenttest.Judge(t, detailsClaims, "start-matters", tb, nil); f.Verdict != want {
			t.Errorf("%v of one start, .1 of the others: %s, want %s: %s", of, f.Verdict, want, f.Reason)
		}
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
