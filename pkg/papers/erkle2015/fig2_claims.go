package erkle2015

import (
	"fmt"
	"math"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

const fiveTwo = "Section 5.2, Fig. 2"

// What the paper prints on eigenpairs at n = 5000 with 10,000 triplets, and the tolerances, fixed before the first full run.
const (
	printedComputations = 724.2
	// About 5 %.
	computationsTolerance = 36
	// "roughly 93% of the time".
	printedSkipped   = 0.93
	skippedTolerance = 0.02
)

// Ways to count the eigenpairs of a run, by the column that does.
var skipsReadings = []struct{ name, column string }{
	{"the printed rule", "printed"}, {"our certificates", "computed"}, {"negative eigenvalues only", "projected"},
}

const skipsAsRead = " Read as: the printed rule, λ̂ ← λ̂ − 3γ and an eigenpair where that is negative; the eigenpairs that our certificates leave to compute; and the negative eigenvalues, without which no rule does."

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
	{
		ID: "fig2-computations", View: "fig2-skips",
		Statement: "The mean number of eigenvalue/eigenvector computations was 724.2 with a standard deviation of 3.7.",
		Where:     "Section 5.2", Theirs: "724.2, standard deviation 3.7",
		Predicate: "The number of eigenpairs in one pass of PA-ERKLE over 10,000 triplets, n = 5000, is 724.2 within 36 (5 %)." + skipsAsRead,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return fig2Number(t, printedComputations, computationsTolerance, func(last *table.Table, column string) float64 { return last.Values(column)[0] })
		},
	},
	{
		ID: "fig2-skipped", View: "fig2-skips",
		Statement: "Hence PA-ERKLE was able to skip the projection step roughly 93% of the time.",
		Where:     "Section 5.2", Theirs: "roughly 93 %",
		Predicate: "1 − eigenpairs/triplets in one pass over 10,000 triplets, n = 5000, is 0.93 within 0.02." + skipsAsRead,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return fig2Number(t, printedSkipped, skippedTolerance, func(last *table.Table, column string) float64 {
				return 1 - last.Values(column)[0]/tripletsOf(last)
			})
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

// fig2Number grades a number of the whole pass at the largest n against a printed one, for each way to count eigenpairs.
func fig2Number(t *table.Table, theirs, tolerance float64, of func(last *table.Table, column string) float64) (experiment.Finding, error) {
	passes := t.Where("kind", "pass")
	var readings []experiment.Reading
	for _, r := range skipsReadings {
		var v []float64
		for _, g := range passes.Group("trial") {
			large := g.Where("objects", g.Index("objects")[0]) // the main pass comes first
			at := large.Index("triplets")
			v = append(v, of(large.Where("triplets", at[len(at)-1]), r.column))
		}
		f, err := experiment.GradeNumber(theirs, v, tolerance)
		if err != nil {
			return f, err
		}
		readings = append(readings, experiment.Reading{Name: r.name, Finding: f})
	}
	return experiment.AllReadings(readings), nil
}
