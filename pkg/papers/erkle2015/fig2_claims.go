package erkle2015

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

const fiveTwo = "Section 5.2, Fig. 2"

// What the paper prints on eigenpairs at n = 5000 with 10,000 triplets, and the tolerances, fixed before the first full run.
const (
	printedComputations = 724.2
	printedTriplets     = 10000
	// 5 % of it.
	computationsTolerance = 36
	// "roughly 93% of the time".
	printedSkipped   = 0.93
	skippedTolerance = 0.02
)

// Ways to count the eigenpairs of a run, by the column that does.
var skipsReadings = []struct{ name, column string }{
	{"the printed rule", "printed"}, {"negative eigenvalues only", "projected"},
}

const skipsAsRead = " Read as: the printed rule, λ̂ ← λ̂ − 3γ and an eigenpair where that is negative; and the negative eigenvalues, without which no rule does."

var fig2Claims = []experiment.Claim{
	{
		ID: "fig2-faster", View: "fig2a",
		Statement: "A single pass of PA-ERKLE is often significantly faster than a single gradient step of batch GNMDS.",
		Where:     fiveTwo + "a", Theirs: experiment.FigureOnly,
		Predicate: "CPU times, base-2 logarithm of the quotient step/pass > 0, paired, by a step of the full eigendecomposition, which is the paper's. Read as: " + fasterReadings,
		GradeTimed: func(t, times *table.Table) (experiment.Finding, error) {
			f, err := gradeFaster(t, times, stepPhase, true)
			if err != nil {
				return f, err
			}
			trials, err := fig2TimesOf(t, times)
			f.Reason += " " + measuredStep(trials)
			return f, err
		},
	},
	{
		ID: "fig2-faster-ours", View: "fig2-steps",
		Statement: "Ours: a single pass of PA-ERKLE is faster than a single step of our own batch GNMDS, whose projection is cheaper.",
		Where:     "not in the paper", Theirs: "not in the paper",
		Predicate: "As before, by a step of FitBatch, at n = 1600 only: its projection changes its method with n, so that nothing is extrapolated.",
		GradeTimed: func(t, times *table.Table) (experiment.Finding, error) {
			return gradeFaster(t, times, fitPhase, false)
		},
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
		Predicate: "Eigenpairs in one pass of PA-ERKLE over 10,000 triplets of 5,000 objects are 724.2 within 36 (5 %)." + skipsAsRead +
			" The finding also says how many updates the printed rule skips.",
		Grade: gradeComputations,
	},
	{
		ID: "fig2-skipped", View: "fig2-skips",
		Statement: "Hence PA-ERKLE was able to skip the projection step roughly 93% of the time.",
		Where:     "Section 5.2", Theirs: "roughly 93 %",
		Predicate: "1 − eigenpairs/triplets in the same pass is 0.93 within 0.02." + skipsAsRead,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			readings, err := fig2Number(t, printedSkipped, skippedTolerance, func(last *table.Table, column string) float64 {
				return 1 - experiment.First(last, column)/tripletsOf(last)
			})
			if err != nil {
				return experiment.Finding{}, err
			}
			return experiment.AllReadings(readings), nil
		},
	},
}

const fasterReadings = "a whole pass over 2n triplets against one step, at n = 1600 and at n = 5000, where the step was measured once; " +
	"and the curves of the figure, PA-ERKLE against one step per mini-batch of n/10 triplets over the same triplets, at half of the checkpoints or more (\"often\"), at both n."

// gradeFaster compares a pass with a kind of batch steps, also at the largest n if asked for.
func gradeFaster(t, times *table.Table, phase func(n int) string, atLarge bool) (experiment.Finding, error) {
	trials, err := fig2TimesOf(t, times)
	if err != nil {
		return experiment.Finding{}, err
	}
	var readings []experiment.Reading
	for _, large := range []bool{false, true} {
		if large && !atLarge {
			break
		}
		{
			var whole []float64
			curve := map[int][]float64{}
			var order []int
			at := 0
			for _, r := range trials {
				n := r.middle()
				if large {
					n = r.large()
				}
				at = n
				one := r.one(phase, n)
				if large {
					one = measuredOnce(trials, one)
				}
				whole = append(whole, math.Log2(one/r.whole(n)))
				pass := r.pass(n)
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
			readings = append(readings, experiment.Reading{Name: fmt.Sprintf("whole pass, n = %d", at), Finding: f})
			var units []experiment.Unit
			for _, to := range order {
				units = append(units, experiment.Unit{Name: fmt.Sprintf("to %d", to), Diffs: curve[to]})
			}
			f, err = experiment.GradeUnits(units, experiment.UnitRule{Unit: "doublings", Exceptions: len(units) / 2})
			if err != nil {
				return f, err
			}
			readings = append(readings, experiment.Reading{Name: fmt.Sprintf("curves, n = %d", at), Finding: f})
		}
	}
	return experiment.AllReadings(readings), nil
}

// measuredOnce returns the time of the step at the largest size that one of the trials measured, or else that of the law.
func measuredOnce(trials []fig2Times, law float64) float64 {
	for _, r := range trials {
		if s, ok := r.spent[stepPhase(r.large())]; ok {
			return s
		}
	}
	return law
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
		law, p := r.stepLaw(stepPhase, n)
		out = append(out, fmt.Sprintf("trial %s: one step at n = %d by the full eigendecomposition was measured at %.3g s, where the power law n^%.2f gives %.3g s; the pass took %.3g s",
			r.trial, n, measured, p, law, r.whole(n)))
	}
	if len(out) == 0 {
		return "No step was measured at that size."
	}
	return strings.Join(out, "; ") + "."
}

// wholePass returns the rows of the whole pass at the largest n that has one, and its last row.
func wholePass(t *table.Table) (pass, last *table.Table) {
	for _, g := range t.Where("kind", "pass").Group("objects") {
		at := g.Index("triplets")
		end := g.Where("triplets", at[len(at)-1])
		if n := number(experiment.FirstName(g, "objects")); tripletsOf(end) == 2*n && (pass == nil || n > number(experiment.FirstName(pass, "objects"))) {
			pass, last = g, end
		}
	}
	return pass, last
}

func gradeComputations(t *table.Table) (experiment.Finding, error) {
	readings, err := fig2Number(t, printedComputations, computationsTolerance, func(last *table.Table, column string) float64 {
		return printedTriplets * experiment.First(last, column) / tripletsOf(last)
	})
	if err != nil {
		return experiment.Finding{}, err
	}
	f := experiment.AllReadings(readings)
	s := experiment.Summarize(printedSkips(t))
	f.Reason += fmt.Sprintf(" The printed rule skips %.1f updates (standard deviation %.1f).", s.Mean, stat.StdDev(printedSkips(t), nil))
	return f, nil
}

// printedSkips returns how many updates of the main pass the printed rule skips, by trial.
func printedSkips(t *table.Table) []float64 {
	var out []float64
	for _, g := range t.Where("kind", "pass").Group("trial") {
		_, last := wholePass(g)
		if last == nil {
			experiment.Refuse("erkle2015: a trial has no whole pass")
		}
		out = append(out, experiment.First(last, "active")-experiment.First(last, "printed"))
	}
	return out
}

// fig2Number grades a number of the whole pass at the largest n that has one against a printed one, for each way to count eigenpairs.
func fig2Number(t *table.Table, theirs, tolerance float64, of func(last *table.Table, column string) float64) ([]experiment.Reading, error) {
	var readings []experiment.Reading
	for _, r := range skipsReadings {
		var v []float64
		for trial, g := range t.Group("trial") {
			_, last := wholePass(g)
			if last == nil {
				return nil, fmt.Errorf("erkle2015: trial %s has no whole pass", trial)
			}
			v = append(v, of(last, r.column))
		}
		f, err := experiment.GradeNumber(theirs, v, tolerance)
		if err != nil {
			return nil, err
		}
		readings = append(readings, experiment.Reading{Name: r.name, Finding: f})
	}
	return readings, nil
}
