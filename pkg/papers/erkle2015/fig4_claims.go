package erkle2015

import (
	"fmt"
	"slices"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// section54 is where the claims of Fig. 4 stand.
const section54 = "Section 5.4"

// standInNote says why the claims have no verdict.
const standInNote = " The answers about outdoor scenes are not public: the finding is that on materials and shoes."

const (
	// "a small number of triplets": a quarter of them.
	fewTriplets = 250
	// "given enough triplets (at least 500)".
	enoughTriplets = 500
)

// standIns are the data sets that stand in for the paper's.
var standIns = []string{material, zappos}

// onStandIns grades a claim on the stand-ins and shows the finding without its verdict.
func onStandIns(t *table.Table, units func(r judgedResults, rd judgedReading, sizes []int) ([]experiment.Unit, error)) (experiment.Finding, error) {
	var out []experiment.Reading
	for _, rd := range []judgedReading{{name: byValidation, tau: byValidation}, {name: byTest, tau: byTest}} {
		var all []experiment.Unit
		for _, data := range standIns {
			r := judgedResults{data, t.Where("cell", data)}
			sizes, err := r.sizes()
			if err != nil {
				return experiment.Finding{}, err
			}
			us, err := units(r, rd, sizes)
			if err != nil {
				return experiment.Finding{}, err
			}
			for _, u := range us {
				u.Name = data + ", " + u.Name
				all = append(all, u)
			}
		}
		f, err := experiment.GradeUnits(all, experiment.UnitRule{Scale: 100, Unit: "points"})
		if err != nil {
			return f, err
		}
		out = append(out, experiment.Reading{Name: rd.name, Finding: f})
	}
	f := experiment.AllReadings(out)
	f.Reason = fmt.Sprintf("On the stand-ins it would be %q. %s", f.Verdict, f.Reason)
	f.Verdict = experiment.Untestable
	return f, nil
}

// overSizes returns units of pairs of methods, better first: the mean over some sizes of the difference of
// errors plus a margin.
func overSizes(r judgedResults, part string, rd judgedReading, sizes []int, margin float64, pairs [][2]string) ([]experiment.Unit, error) {
	if len(sizes) == 0 {
		return nil, fmt.Errorf("erkle2015: %s has no sizes to compare at", r.data)
	}
	var out []experiment.Unit
	for _, p := range pairs {
		better, err := r.meanErrors(part, p[0], rd, sizes)
		if err != nil {
			return nil, err
		}
		worse, err := r.meanErrors(part, p[1], rd, sizes)
		if err != nil {
			return nil, err
		}
		u := experiment.Unit{Name: p[0] + " and " + p[1]}
		if u.Diffs, err = excess(worse, better, margin); err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// few and enough are the sizes of which the paper speaks; all, where it speaks of none of them (at smoke scale).
func few(sizes []int) []int {
	return sizesOr(sizes, func(n int) bool { return n > fewTriplets })
}
func enough(sizes []int) []int {
	return sizesOr(sizes, func(n int) bool { return n < enoughTriplets })
}

func sizesOr(sizes []int, leave func(int) bool) []int {
	kept := slices.DeleteFunc(slices.Clone(sizes), leave)
	if len(kept) == 0 {
		return sizes
	}
	return kept
}

// allBut are all methods of the figure but one.
func allBut(method string) (out [][2]string) {
	for _, m := range allMethods() {
		if m != method {
			out = append(out, [2]string{method, m})
		}
	}
	return out
}

var fig4Claims = []experiment.Claim{
	{
		ID: "fig4-ste", View: "fig4a",
		Statement: "STE-ERKLE consistently outperforms STE-Batch.",
		Where:     section54 + ", Fig. 4a", Theirs: experiment.FigureOnly,
		Predicate: "At each of the 12 sizes, the test error of STE-Batch minus that of STE-ERKLE (δ = 1) is > 0, with one and with ten passes, on both stand-ins. Readings: τ by validation or best on test." + standInNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return onStandIns(t, func(r judgedResults, rd judgedReading, sizes []int) ([]experiment.Unit, error) {
				var out []experiment.Unit
				for _, size := range sizes {
					us, err := overSizes(r, "test", rd, []int{size}, 0, [][2]string{{steERKLE, steBatch}, {steERKLETen, steBatch}})
					if err != nil {
						return nil, err
					}
					for _, u := range us {
						u.Name += " after " + strconv.Itoa(size)
						out = append(out, u)
					}
				}
				return out, nil
			})
		},
	},
	{
		ID: "fig4-ste-few", View: "fig4a",
		Statement: "STE-ERKLE performs well under a small number of triplets relative to all other methods.",
		Where:     section54 + ", Fig. 4a", Theirs: experiment.FigureOnly,
		Predicate: "Averaged over the sizes up to 250 triplets, the test error of STE-ERKLE (δ = 1, one pass) is less than that of each other method, on both stand-ins. Readings: τ by validation or best on test." + standInNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return onStandIns(t, func(r judgedResults, rd judgedReading, sizes []int) ([]experiment.Unit, error) {
				pairs := slices.DeleteFunc(allBut(steERKLE), func(p [2]string) bool { return p[1] == steERKLETen })
				return overSizes(r, "test", rd, few(sizes), 0, pairs)
			})
		},
	},
	{
		ID: "fig4-pa", View: "fig4a",
		Statement: "PA-ERKLE is comparable or outperforms its batch counterpart in GNMDS-Batch, given enough triplets (at least 500).",
		Where:     section54 + ", Fig. 4a", Theirs: "at least 500",
		Predicate: "Averaged over the sizes from 500 triplets on, the test error of PA-ERKLE is less than that of GNMDS-Batch plus 1 point, with one and with ten passes, on both stand-ins. Readings: τ by validation or best on test." + standInNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return onStandIns(t, func(r judgedResults, rd judgedReading, sizes []int) ([]experiment.Unit, error) {
				return overSizes(r, "test", rd, enough(sizes), asWell, [][2]string{{paERKLE, gnmdsBatch}, {paERKLETen, gnmdsBatch}})
			})
		},
	},
	{
		ID: "fig4-train", View: "fig4b",
		Statement: "PA-ERKLE performs quite well in training error compared to all other methods.",
		Where:     section54 + ", Fig. 4b", Theirs: experiment.FigureOnly,
		Predicate: "Averaged over the 12 sizes, the error of PA-ERKLE on the triplets seen so far is less than that of each other method plus 1 point, one pass against one pass and ten against ten and each against all batch methods, on both stand-ins. Readings: τ by validation or best on test." + standInNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return onStandIns(t, func(r judgedResults, rd judgedReading, sizes []int) ([]experiment.Unit, error) {
				var pairs [][2]string
				for _, pa := range []string{paERKLE, paERKLETen} {
					for _, o := range others(pa) {
						pairs = append(pairs, [2]string{pa, o})
					}
				}
				return overSizes(r, "train", rd, sizes, asWell, pairs)
			})
		},
	},
	{
		ID: "fig4-features", View: "fig4a",
		Statement: "Ours: starting PA-ERKLE from a kernel of image features instead of K = I lowers its test error on few answers.",
		Where:     section54, Theirs: "no number",
		Predicate: "On the shoes, averaged over the 12 sizes, the test error of PA-ERKLE from K = I minus that from the features is > 0, with one and with ten passes.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			r := judgedResults{zappos, t.Where("cell", zappos)}
			sizes, err := r.sizes()
			if err != nil {
				return experiment.Finding{}, err
			}
			units, err := overSizes(r, "test", judgedReadings[0], sizes, 0, [][2]string{{paFeatures, paERKLE}, {paFeaturesTen, paERKLETen}})
			if err != nil {
				return experiment.Finding{}, err
			}
			return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points"})
		},
	},
	{
		ID: "fig4-trace", View: "fig4a",
		Statement: "Ours, after the paper's future work (\"online trace regularization\"): a trace penalty with a weight chosen on validation triplets lowers the test error of PA-ERKLE on few answers.",
		Where:     "Section 6", Theirs: "no number",
		Predicate: "At the end (1,000 triplets), the test error of PA-ERKLE with ten passes minus that with the weight τ of {0.01, 0.03, 0.05} that has the least validation error there is > 0, on materials and on shoes.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			var units []experiment.Unit
			for _, data := range standIns {
				r := judgedResults{data, t.Where("cell", data)}
				sizes, err := r.sizes()
				if err != nil {
					return experiment.Finding{}, err
				}
				us, err := overSizes(r, "test", judgedReadings[0], sizes[len(sizes)-1:], 0, [][2]string{{traceFamily.name, paERKLETen}})
				if err != nil {
					return experiment.Finding{}, err
				}
				us[0].Name = data
				units = append(units, us...)
			}
			return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points"})
		},
	},
}
