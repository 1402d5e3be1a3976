package erkle2015

import (
	"fmt"
	"math"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

const fiveTwo = "Section 5.2, Fig. 2"

var fig2Claims = []experiment.Claim{
	{
		ID: "fig2-faster", View: "fig2a",
		Statement: "A single pass of PA-ERKLE is often significantly faster than a single gradient step of batch GNMDS.",
		Where:     fiveTwo + "a", Theirs: experiment.FigureOnly,
		Predicate: "CPU times, base-2 logarithm of the quotient step/pass > 0, paired, n = 5000. The time of a step is the power law through those at n = 250, 400, 630, 1000 and 1600 of the same trial. " +
			"Read as: the whole pass over 10,000 triplets against one step; and the curves of the figure, one step per mini-batch of 500 against PA-ERKLE over the same triplets, at half of the 20 checkpoints or more (\"often\"). " +
			"For a step by the full eigendecomposition, which is the paper's, and for that of our FitBatch.",
		GradeTimed: gradeFaster,
	},
	{
		ID: "fig2-two-steps", View: "fig2-steps",
		Statement: "Two steps of GNMDS take even longer.",
		Where:     fiveTwo + "a", Theirs: experiment.FigureOnly,
		Predicate: "CPU time at n = 630, base-2 logarithm of the quotient two steps/one step > 0, paired; by the full eigendecomposition.",
		GradeTimed: func(t, times *table.Table) (experiment.Finding, error) {
			trials, err := fig2TimesOf(t, times)
			if err != nil {
				return experiment.Finding{}, err
			}
			var d []float64
			for _, r := range trials {
				for _, n := range r.steps {
					if two, ok := r.spent[twicePhase(n)]; ok {
						d = append(d, math.Log2(two/r.spent[stepPhase(n)]))
					}
				}
			}
			return experiment.GradeUnits([]experiment.Unit{{Name: "two steps", Diffs: d}}, experiment.UnitRule{Unit: "doublings"})
		},
	},
}

// fig2Steps are the two kinds of batch steps.
var fig2Steps = []struct {
	name  string
	phase func(n int) string
}{{"full eigendecomposition", stepPhase}, {"FitBatch", fitPhase}}

func gradeFaster(t, times *table.Table) (experiment.Finding, error) {
	trials, err := fig2TimesOf(t, times)
	if err != nil {
		return experiment.Finding{}, err
	}
	var readings []experiment.Reading
	for _, step := range fig2Steps {
		var whole []float64
		curve := map[int][]float64{}
		var order []int
		for _, r := range trials {
			n := r.large()
			one, _ := r.law(step.phase, n)
			pass := r.pass(n)
			whole = append(whole, math.Log2(one/pass[len(pass)-1]))
			for i, to := range r.passes[n] {
				if curve[to] == nil {
					order = append(order, to)
				}
				curve[to] = append(curve[to], math.Log2(float64(i+1)*one/pass[i]))
			}
		}
		f, err := experiment.GradeUnits([]experiment.Unit{{Name: "whole pass", Diffs: whole}}, experiment.UnitRule{Unit: "doublings"})
		if err != nil {
			return f, err
		}
		readings = append(readings, experiment.Reading{Name: "whole pass against one step, " + step.name, Finding: f})
		var units []experiment.Unit
		for _, to := range order {
			units = append(units, experiment.Unit{Name: fmt.Sprintf("to %d", to), Diffs: curve[to]})
		}
		f, err = experiment.GradeUnits(units, experiment.UnitRule{Unit: "doublings", Exceptions: len(units) / 2})
		if err != nil {
			return f, err
		}
		readings = append(readings, experiment.Reading{Name: "curves, " + step.name, Finding: f})
	}
	f := experiment.AllReadings(readings)
	f.Reason += " " + measuredStep(trials)
	return f, nil
}

// measuredStep says how long one step at the largest size took where it was measured.
func measuredStep(trials []fig2Times) string {
	var out []string
	for _, r := range trials {
		n := r.large()
		measured, ok := r.spent[stepPhase(n)]
		if !ok {
			continue
		}
		law, p := r.law(stepPhase, n)
		pass := r.pass(n)
		out = append(out, fmt.Sprintf("trial %s: one step at n = %d by the full eigendecomposition was measured at %.3g s, the power law n^%.2f gives %.3g s, the pass took %.3g s", r.trial, n, measured, p, law, pass[len(pass)-1]))
	}
	if len(out) == 0 {
		return "No step was measured at that size."
	}
	return strings.Join(out, "; ") + "."
}
