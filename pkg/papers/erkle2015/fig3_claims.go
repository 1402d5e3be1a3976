package erkle2015

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// Margins of the qualitative claims, fixed before the first full run. Errors are shares.
const (
	// "considerably worse", "does not fit a large number": by 2 points.
	considerable = 0.02
	// "as well as", "comparable": 1 point.
	asWell = 0.01
	// "often": in more than half of the sizes.
	often = 0.5
	// "low-rank": less than half of the objects.
	lowRank = 0.5
)

// section53 is where the claims of Fig. 3 stand.
const section53 = "Section 5.3"

// cleanedNote says what the data are.
const cleanedNote = " The data are the public release of the survey: 9,090 answers, none of which contradicts another directly, of the paper's 16,385."

// readingsNote lists judgedReadings.
const readingsNote = " Readings: at the end of the training triplets or the mean over the 12 sizes, τ by validation over all sizes, by validation at the end or best on test, a tie an error or half of one, the batch methods stopped after 100 iterations or run on to 1,000 at the end."

// fig3Results are the results of Fig. 3; its data set has that name also at smoke scale.
func fig3Results(t *table.Table) judgedResults { return judgedResults{music, t} }

// byReading grades a claim under each of judgedReadings.
func byReading(t *table.Table, units func(judgedResults, judgedReading) ([]experiment.Unit, error)) (experiment.Finding, error) {
	r := fig3Results(t)
	ratio, err := r.testRatio()
	if err != nil {
		return experiment.Finding{}, err
	}
	var out []experiment.Reading
	for _, rd := range judgedReadings {
		us, err := units(r, rd)
		if err != nil {
			return experiment.Finding{}, err
		}
		f, err := experiment.GradeUnits(us, experiment.UnitRule{Scale: 100, Unit: "points", TestRatio: ratio})
		if err != nil {
			return f, err
		}
		out = append(out, experiment.Reading{Name: rd.name, Finding: f})
	}
	return experiment.AllReadings(out), nil
}

// others are the methods with which an online method of as many passes is compared: the batch methods and
// the other online one.
func others(online string) []string {
	out := []string{map[string]string{steERKLE: paERKLE, steERKLETen: paERKLETen, paERKLE: steERKLE, paERKLETen: steERKLETen}[online]}
	for _, b := range batches {
		out = append(out, b.name)
	}
	return out
}

// unitsOf makes units of pairs of methods, better first.
func unitsOf(r judgedResults, part string, rd judgedReading, margin float64, pairs [][2]string) ([]experiment.Unit, error) {
	var out []experiment.Unit
	for _, p := range pairs {
		u, err := r.less(part, p[0], p[1], rd, margin)
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// steAgainstOthers pairs every other method with STE-ERKLE of as many passes.
func steAgainstOthers() (out [][2]string) {
	for _, ste := range []string{steERKLE, steERKLETen} {
		for _, o := range others(ste) {
			out = append(out, [2]string{o, ste})
		}
	}
	return out
}

// against pairs an online method with every batch method.
func against(online string) (out [][2]string) {
	for _, b := range batches {
		out = append(out, [2]string{online, b.name})
	}
	return out
}

var fig3Claims = []experiment.Claim{
	{
		ID: "fig3-ste-worse", View: "fig3a",
		Statement: "STE-ERKLE performs considerably worse than the other methods (on the test set).",
		Where:     section53 + ", Fig. 3a", Theirs: experiment.FigureOnly,
		Predicate: "The test error of STE-ERKLE (δ = 1) minus that of PA-ERKLE and of each batch method is more than 2 points, with one and with ten passes." + readingsNote + cleanedNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return byReading(t, func(r judgedResults, rd judgedReading) ([]experiment.Unit, error) {
				return unitsOf(r, "test", rd, -considerable, steAgainstOthers())
			})
		},
	},
	{
		ID: "fig3-as-well", View: "fig3a",
		Statement: "PA-ERKLE performs as well as the batch methods.",
		Where:     section53 + ", Fig. 3a", Theirs: experiment.FigureOnly,
		Predicate: "The test error of PA-ERKLE with one pass is less than that of each batch method plus 1 point." + readingsNote + cleanedNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return byReading(t, func(r judgedResults, rd judgedReading) ([]experiment.Unit, error) {
				return unitsOf(r, "test", rd, asWell, against(paERKLE))
			})
		},
	},
	{
		ID: "fig3-often-better", View: "fig3a",
		Statement: "PA-ERKLE performs often better (than the batch methods) when multiple passes are taken.",
		Where:     section53 + ", Fig. 3a", Theirs: experiment.FigureOnly,
		Predicate: "Per batch method, PA-ERKLE with ten passes has the smaller test error at more than half of the 12 sizes (the share of sizes minus ½ is > 0; equal errors count half). Readings: τ by validation over all sizes, by validation at the end or best on test, a tie an error or half of one." + cleanedNote,
		Grade:     gradeOften,
	},
	{
		ID: "fig3-no-trace", View: "fig3a",
		Statement: "Our method outperforms batch methods that use trace regularization.",
		Where:     section53 + ", Fig. 3c", Theirs: experiment.FigureOnly,
		Predicate: "The test error of PA-ERKLE, with one and with ten passes, is less than that of each batch method." + readingsNote + cleanedNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return byReading(t, func(r judgedResults, rd judgedReading) ([]experiment.Unit, error) {
				return unitsOf(r, "test", rd, 0, slices.Concat(against(paERKLE), against(paERKLETen)))
			})
		},
	},
	{
		ID: "fig3-train-ste", View: "fig3b",
		Statement: "The STE-ERKLE models are greatly affected by the presence of conflicts in that they do not learn a kernel that fits to a large number of the observed triplets.",
		Where:     section53 + ", Fig. 3b", Theirs: experiment.FigureOnly,
		Predicate: "The error of STE-ERKLE (δ = 1) on the triplets seen so far minus that of PA-ERKLE and of each batch method is more than 2 points, with one and with ten passes." + readingsNote + cleanedNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return byReading(t, func(r judgedResults, rd judgedReading) ([]experiment.Unit, error) {
				return unitsOf(r, "train", rd, -considerable, steAgainstOthers())
			})
		},
	},
	{
		ID: "fig3-train-pa", View: "fig3b",
		Statement: "PA-ERKLE, on the other hand, is able to fit better to the set of observed triplets, thus resulting in better test accuracy as well.",
		Where:     section53 + ", Fig. 3b", Theirs: experiment.FigureOnly,
		Predicate: "Both the error on the triplets seen so far and the test error of PA-ERKLE are less than those of STE-ERKLE (δ = 1), with one and with ten passes (four units)." + readingsNote + cleanedNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return byReading(t, func(r judgedResults, rd judgedReading) ([]experiment.Unit, error) {
				var out []experiment.Unit
				for _, part := range []string{"train", "test"} {
					us, err := unitsOf(r, part, rd, 0, [][2]string{{paERKLE, steERKLE}, {paERKLETen, steERKLETen}})
					if err != nil {
						return nil, err
					}
					for _, u := range us {
						u.Name += ", " + part
						out = append(out, u)
					}
				}
				return out, nil
			})
		},
	},
	{
		ID: "fig3-drastic", View: "fig3-conflicts",
		Statement: "Triplets that are in agreement with previously obtained triplets do not influence the learned kernel greatly (in STE-ERKLE). However, a conflicting triplet will make STE-ERKLE perform a relatively more drastic update; PA-ERKLE is much more robust to noise due to the minimal step size.",
		Where:     section53, Theirs: "no number",
		Predicate: "In one pass, the mean length of a step on a triplet that contradicts a chain of earlier ones, divided by that on one that such a chain implies, is larger for STE-ERKLE (δ = 1) than for PA-ERKLE (base-2 logarithm of the quotient of the quotients > 0; both quotients in the reason). Lengths are γ, so that a step lowers D by 10γ." + cleanedNote,
		Grade:     gradeDrastic,
	},
	{
		ID: "fig3-low-rank", View: "fig3c",
		Statement: "The batch methods generally produce low-rank kernels under a small number of triplets.",
		Where:     section53 + ", Fig. 3c", Theirs: experiment.FigureOnly,
		Predicate: "Per batch method, the rank at the smallest size (100 triplets) is less than half of the number of objects. Readings: eigenvalues above 10⁻³ or 10⁻⁶ of the largest, τ by validation, best on test, or by validation with the fits run on to 1,000 iterations." + cleanedNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return byRank(t, func(objects float64, first, last []float64) ([]float64, error) {
				out := slices.Clone(first)
				for i := range out {
					out[i] = lowRank - out[i]/objects
				}
				return out, nil
			})
		},
	},
	{
		ID: "fig3-rank", View: "fig3c",
		Statement: "As the number of triplets are observed, the rank (of the kernels of the batch methods) increases.",
		Where:     section53 + ", Fig. 3c", Theirs: experiment.FigureOnly,
		Predicate: "Per batch method, the rank at all training triplets minus that at the smallest size (100 triplets) is > 0, as a share of the number of objects. Readings: eigenvalues above 10⁻³ or 10⁻⁶ of the largest, τ by validation, best on test, or by validation with the fits run on to 1,000 iterations." + cleanedNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return byRank(t, func(objects float64, first, last []float64) ([]float64, error) {
				out, err := excess(last, first, 0)
				for i := range out {
					out[i] /= objects
				}
				return out, err
			})
		},
	},
	{
		ID: "fig3-step", View: "fig3-settings",
		Statement: "Ours: with δ chosen on validation triplets STE-ERKLE performs as well as PA-ERKLE.",
		Where:     section53 + ", Fig. 3a", Theirs: "no number",
		Predicate: "At the end, the test error of STE-ERKLE with the δ of {0.03, 0.1, 0.3, 1} that has the least validation error after one pass is less than that of PA-ERKLE plus 1 point, with one and with ten passes." + cleanedNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return gradeFamily(t, families[0], asWell)
		},
	},
	{
		ID: "fig3-reject", View: "fig3-settings",
		Statement: "Ours, after the paper's future work (\"a threshold on the passive-aggressive learning rate\"): leaving out triplets whose step would be too long, by a threshold chosen on validation triplets, lowers the test error of PA-ERKLE.",
		Where:     "Section 6", Theirs: "no number",
		Predicate: "At the end, the test error of PA-ERKLE minus that with the largest step of {0.15, 0.2, 0.3, 0.5, none} that has the least validation error after one pass is > 0, with one and with ten passes." + cleanedNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return gradeFamily(t, families[2], 0)
		},
	},
}

// gradeOften grades the share of sizes at which ten passes have the smaller error.
func gradeOften(t *table.Table) (experiment.Finding, error) {
	r := fig3Results(t)
	ratio, err := r.testRatio()
	if err != nil {
		return experiment.Finding{}, err
	}
	sizes, err := r.sizes()
	if err != nil {
		return experiment.Finding{}, err
	}
	var out []experiment.Reading
	for _, rd := range []judgedReading{{name: byValidation, tau: byValidation}, {name: byTest, tau: byTest}, {name: "ties half", tau: byValidation, tie: 0.5}} {
		var units []experiment.Unit
		for _, b := range batches {
			u := experiment.Unit{Name: b.name}
			for _, size := range sizes {
				ours, err := r.errorsAt("test", paERKLETen, rd, size)
				if err != nil {
					return experiment.Finding{}, err
				}
				theirs, err := r.errorsAt("test", b.name, rd, size)
				if err != nil {
					return experiment.Finding{}, err
				}
				diff, err := excess(theirs, ours, 0)
				if err != nil {
					return experiment.Finding{}, err
				}
				if u.Diffs == nil {
					u.Diffs = make([]float64, len(diff))
				}
				experiment.SameLength("trials at two sizes", u.Diffs, diff)
				for i, d := range diff {
					// 1 for a smaller error, ½ for an equal one.
					u.Diffs[i] += (1 + sign(d)) / 2 / float64(len(sizes))
				}
			}
			for i := range u.Diffs {
				u.Diffs[i] -= often
			}
			units = append(units, u)
		}
		f, err := experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "% of the sizes above one half", TestRatio: ratio})
		if err != nil {
			return f, err
		}
		out = append(out, experiment.Reading{Name: rd.name, Finding: f})
	}
	return experiment.AllReadings(out), nil
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// meanSteps returns the mean length of a step on triplets of a relation, by trial.
func meanSteps(t *table.Table, method string, r relation) []float64 {
	g := t.Where("kind", "step", "method", method, "setting", relationNames[r])
	count, out := g.Values("count"), slices.Clone(g.Values("sum"))
	for i := range out {
		out[i] /= count[i]
	}
	return out
}

// gradeDrastic compares the steps on conflicting and on agreeing triplets.
func gradeDrastic(t *table.Table) (experiment.Finding, error) {
	ratio, err := fig3Results(t).testRatio()
	if err != nil {
		return experiment.Finding{}, err
	}
	more := map[string][]float64{}
	for _, method := range []string{paERKLE, steERKLE} {
		bad, good := meanSteps(t, method, conflicting), meanSteps(t, method, agreeing)
		if len(bad) != len(good) {
			return experiment.Finding{}, fmt.Errorf("erkle2015: %s: %d trials against %d", method, len(bad), len(good))
		}
		for i := range bad {
			q := math.Log2(bad[i] / good[i])
			if math.IsNaN(q) || math.IsInf(q, 0) {
				return experiment.Finding{
					Verdict: experiment.Undecided, Ours: "no quotient",
					Reason: fmt.Sprintf("Trial %d has no step on conflicting or on agreeing triplets (%s).", i, method),
				}, nil
			}
			more[method] = append(more[method], q)
		}
	}
	diff, err := excess(more[steERKLE], more[paERKLE], 0)
	if err != nil {
		return experiment.Finding{}, err
	}
	f, err := experiment.GradeUnits([]experiment.Unit{{Name: "steps", Diffs: diff}}, experiment.UnitRule{Unit: "doublings", TestRatio: ratio})
	if err != nil {
		return f, err
	}
	f.Reason += fmt.Sprintf(" Steps on conflicting triplets are %.2g times as long as on agreeing ones in STE-ERKLE, %.2g times in PA-ERKLE (geometric means).",
		math.Exp2(experiment.Summarize(more[steERKLE]).Mean), math.Exp2(experiment.Summarize(more[paERKLE]).Mean))
	return f, nil
}

// byRank grades a claim about ranks for two tolerances, two rules for τ and fits that have run on; of gets the number of objects and the ranks at the smallest
// and the largest size, by trial.
func byRank(t *table.Table, of func(objects float64, first, last []float64) ([]float64, error)) (experiment.Finding, error) {
	r := fig3Results(t)
	ratio, err := r.testRatio()
	if err != nil {
		return experiment.Finding{}, err
	}
	sizes, err := r.sizes()
	if err != nil {
		return experiment.Finding{}, err
	}
	d, err := dataSetOf(music)
	if err != nil {
		return experiment.Finding{}, err
	}
	var out []experiment.Reading
	for _, column := range []string{looseRank, fineRank} {
		for _, rd := range []judgedReading{{name: byValidation, tau: byValidation}, {name: byTest, tau: byTest}, {name: "run on", tau: byValidation, on: true}} {
			var units []experiment.Unit
			for _, b := range batches {
				g, err := r.fits(b.name, rd)
				if err != nil {
					return experiment.Finding{}, err
				}
				at := func(size int) []float64 { return g.Where("triplets", strconv.Itoa(size)).Values(column) }
				u := experiment.Unit{Name: b.name}
				if u.Diffs, err = of(float64(d.full.objects), at(sizes[0]), at(sizes[len(sizes)-1])); err != nil {
					return experiment.Finding{}, err
				}
				units = append(units, u)
			}
			f, err := experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "% of the objects", TestRatio: ratio})
			if err != nil {
				return f, err
			}
			out = append(out, experiment.Reading{Name: column + ", " + rd.name, Finding: f})
		}
	}
	return experiment.AllReadings(out), nil
}

// chosenErrors are the test errors at the end of a family's method of one pass with each trial's chosen setting.
func (r judgedResults) chosenErrors(f family, rd judgedReading) ([]float64, error) {
	sizes, err := r.sizes()
	if err != nil {
		return nil, err
	}
	return errorShares(r.chosen(f).Where("triplets", strconv.Itoa(sizes[len(sizes)-1])), "test", rd.tie), nil
}

// tenErrors are those of ten passes, whose setting is each trial's.
func (r judgedResults) tenErrors(f family, rd judgedReading) ([]float64, error) {
	sizes, err := r.sizes()
	if err != nil {
		return nil, err
	}
	return errorShares(r.t.Where("kind", "curve", "method", f.ten(), "triplets", strconv.Itoa(sizes[len(sizes)-1])), "test", rd.tie), nil
}

// gradeFamily grades that a family with the chosen setting has less error than PA-ERKLE plus a margin.
func gradeFamily(t *table.Table, f family, margin float64) (experiment.Finding, error) {
	r := fig3Results(t)
	ratio, err := r.testRatio()
	if err != nil {
		return experiment.Finding{}, err
	}
	rd := judgedReadings[0]
	var units []experiment.Unit
	for _, c := range []struct {
		name string
		pa   string
		of   func(family, judgedReading) ([]float64, error)
	}{{"one pass", paERKLE, r.chosenErrors}, {"ten passes", paERKLETen, r.tenErrors}} {
		pa, err := r.errors("test", c.pa, rd)
		if err != nil {
			return experiment.Finding{}, err
		}
		ours, err := c.of(f, rd)
		if err != nil {
			return experiment.Finding{}, err
		}
		u := experiment.Unit{Name: c.name}
		if u.Diffs, err = excess(pa, ours, margin); err != nil {
			return experiment.Finding{}, err
		}
		units = append(units, u)
	}
	return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points", TestRatio: ratio})
}
