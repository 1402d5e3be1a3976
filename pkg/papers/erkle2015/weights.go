package erkle2015

import (
	"context"
	"fmt"
	"slices"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// The weights of the trace as tables name them.
const (
	weightNone   = "no trace"
	weightBudget = "budget"
	weightShare  = "share"
	weightTuned  = "fixed, τ by validation"
)

// weightRules are the rules without a parameter.
var weightRules = []string{weightBudget, weightShare}

func weightFixed(tau float64) string { return "fixed, τ = " + table.Format(tau) }

// weightsSettings are those of a cell.
type weightsSettings struct {
	splitSettings
	Fixed []float64 `key:"fixed,list"`
}

// params returns the parameters of each weight, and their names in order.
func (s weightsSettings) params() (names []string, p map[string]triplets.ERKLEParams) {
	names = slices.Concat([]string{weightNone}, weightRules)
	p = map[string]triplets.ERKLEParams{
		weightNone: {}, weightBudget: {TraceRule: triplets.TraceBudget}, weightShare: {TraceRule: triplets.TraceShare},
	}
	for _, tau := range s.Fixed {
		names = append(names, weightFixed(tau))
		p[weightFixed(tau)] = triplets.ERKLEParams{Trace: tau}
	}
	return names, p
}

// weightTaus are the fixed weights among which validation chooses, ascending.
var weightTaus = []float64{.001, .01, .1}

// weightSets are the data sets, and weightTrain their largest numbers of training triplets: a step with a trace costs far more than
// one without.
var (
	weightSets  = []string{syntheticPoints, synthetic500}
	weightTrain = map[string]int{syntheticPoints: 2000, synthetic500: 500}
)

// Weights weighs the trace online.
var Weights = experiment.Spec{
	ID:      "erkle2015/weights",
	Title:   "PA-ERKLE with a weight of the trace that has no parameter",
	Source:  "Section 6, future work: \"novel methods for appropriately weighting the trace in an online manner, so that we are consistent with the parameter-free property of PA-ERKLE\"",
	Ours:    true,
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, d := range dataSets[:len(weightSets)] {
			s := d.settings(scale)
			s.Train = min(s.Train, weightTrain[d.name])
			cells = append(cells, experiment.Cell{
				Name: d.name, Dataset: d.datasetAt(scale), Methods: map[string]int{"ERKLE": triplets.ERKLEVersion}, Settings: weightsSettings{s, weightTaus},
			})
		}
		return cells
	},
	Trials:  experiment.Trials(7),
	Columns: weightsColumns,
	Trial:   weightsTrial,
	Views:   []experiment.View{{Name: "weights", Title: "Error and rank by the weight of the trace", Draw: drawWeights}},
	Claims:  weightsClaims,
	Cost:    time.Minute,
}

var weightsColumns = slices.Concat(experiment.Columns{
	experiment.Text("weight", "how the trace is weighed"),
}, errorColumns("validation"), errorColumns("test"), experiment.Columns{
	experiment.Number("rank", "", "rank of the kernel"),
	experiment.Number("trace", "", "trace of the kernel; that of the first one is the number of objects"),
})

func weightsTrial(ctx context.Context, run *experiment.Run) error {
	settings := run.Cell.Settings.(weightsSettings)
	s, err := splitOf(run.Env, settings.splitSettings, run.Seed)
	if err != nil {
		return err
	}
	names, params := settings.params()
	for _, name := range names {
		if err := runERKLE(ctx, s, params[name], run.Seed, []int{len(s.train)}, func(_ int, l *triplets.ERKLE) {
			k := l.Kernel()
			v := table.Values{"rank": float64(triplets.Rank(k, triplets.RankTolerance))}
			for i := range s.objects {
				v["trace"] += k.At(i, i)
			}
			errorsOf(k, s.validation).put(v, "validation")
			s.testErrors(k).put(v, "test")
			run.Rows.Add(table.Key{"weight": name}, v)
		}); err != nil {
			return err
		}
	}
	return nil
}

func drawWeights(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"data", "weight", "test error (%)", "±", "rank", "trace"}}
	for data, cell := range t.Group("cell") {
		for name, g := range cell.Group("weight") {
			s := judge.Summarize(testErrors(g))
			mean, half := s.Interval()
			text.Rows = append(text.Rows, []string{data, name, fmt.Sprintf("%.2f", 100*mean), fmt.Sprintf("%.2f", 100*half),
				fmt.Sprintf("%.0f", judge.Summarize(g.Values("rank")).Mean), fmt.Sprintf("%.0f", judge.Summarize(g.Values("trace")).Mean)})
		}
	}
	return orMissing(plots.Drawing{Text: text, Caption: plots.Caption{Shows: "PA-ERKLE, one pass, with a weight of the trace (ours). Share of the test triplets that the kernel does not satisfy, a tie counting as not satisfied, its rank, and its trace. Points from N(0, I) in R⁵⁰, answers without error: 100 of them with 2,000 training triplets, 500 with 500 (20 and 25 in R⁵ with 300 and 50 at smoke scale). " +
		"After each update that changes the kernel all eigenvalues fall, those below 0 to 0: with budget, by what the trace exceeds that of K = I by, over the number of objects; with share, by γ/j at update j; fixed, by γτ. No trace is the paper's learner. " + trialsNote(t)}}, "errors on any data")
}

var weightsClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "weights-helps", View: "weights",
		Statement: "Ours, after Section 6: PA-ERKLE generalises better with a weight of the trace that has no parameter than without one.",
		Where:     "Section 6, suggested as future work; Section 4.1: \"our online formulation does not include trace regularization. Although this may impact our method in generalizing to unseen triplets\"", Theirs: "not in the paper",
		Predicate: "The test error of PA-ERKLE minus that with the rule, paired by trial, is positive on 100 points and on 500. Readings: budget and share.",
		Test: func(t *table.Table) judge.Test {
			return weightReadings(t, 0, func(cell *table.Table) []float64 { return perTrial(cell, "weight", weightNone) })
		},
	},
	{
		ID: "weights-tuned", View: "weights",
		Title:     "Ours: a weight of the trace without a parameter does as well as the fixed one that validation chooses.",
		Statement: "Ours, after Section 6: a weight of the trace that has no parameter does as well as the fixed one that validation chooses.",
		Where:     "Section 6, suggested as future work", Theirs: "not in the paper",
		Predicate: "The test error of PA-ERKLE with the fixed τ minus that with the rule, paired by trial, is above −1 point on 100 points and on 500; τ is, per trial, that of 0.001, 0.01 and 0.1 with the least validation error, the smallest of equals. Readings: budget and share.",
		Test: func(t *table.Table) judge.Test {
			return weightReadings(t, .01, tunedWeight)
		},
	},
})

// tunedWeight are the test errors by trial of the fixed weight with the least validation error.
func tunedWeight(cell *table.Table) []float64 {
	var least, out []float64
	for _, tau := range weightTaus {
		test := perTrial(cell, "weight", weightFixed(tau))
		validation := strictErrors(cell.Where("weight", weightFixed(tau)), "validation")
		if out == nil {
			out, least = slices.Clone(test), validation
			continue
		}
		judge.SameLength("trials of "+weightFixed(tau), out, test)
		for i, v := range validation {
			if v < least[i] {
				least[i], out[i] = v, test[i]
			}
		}
	}
	return out
}

// weightReadings tests, for each rule, that its errors are less than those of by plus a margin.
func weightReadings(t *table.Table, margin float64, by func(cell *table.Table) []float64) judge.Readings {
	return judge.Each(weightRules, func(rule string) (string, judge.Test) {
		var units []judge.Unit
		for _, data := range weightSets {
			cell := t.Where("cell", data)
			left := slices.Clone(by(cell))
			for i := range left {
				left[i] += margin
			}
			units = append(units, judge.Paired(data, left, perTrial(cell, "weight", rule)))
		}
		return rule, judge.Positive{Units: units, Rule: points}
	})
}
