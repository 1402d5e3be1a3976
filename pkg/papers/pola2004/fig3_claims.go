package pola2004

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// Margins of the qualitative claims, fixed before the first full run.
const (
	// "greatly reduces the error rate": the mean error over the problems falls by at least a quarter.
	greatReduction = 0.25
	// "much worse": at least half as much error again.
	muchWorse = 1.5
)

var fig3Claims = []experiment.Claim{
	{
		ID:        "fig3-euclidean",
		View:      "fig3-euclidean",
		Statement: "The error when using POLA as a pre-processing step is lower than the vanilla kNN in all of the 45 binary problems.",
		Where:     "Section 7, Fig. 3 top left", Theirs: "all of the 45",
		Predicate: "Per problem, Euclidean error − POLA error > 0, paired over trials.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return wins(t, pola, euclidean, 0)
		},
	},
	{
		ID:        "fig3-euclidean-great",
		View:      "fig3-euclidean",
		Statement: "Using the learned pseudo-metric greatly reduces the error rate.",
		Where:     "Section 7, Fig. 3 top left", Theirs: experiment.FigureOnly,
		Predicate: "Mean over the problems of POLA's error ≤ (1 − 0.25) × mean of the Euclidean error.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return ratio(t, pola, euclidean, 1-greatReduction, "at most")
		},
	},
	{
		ID:        "fig3-fda",
		View:      "fig3-fda",
		Statement: "kNN with POLA (projected onto its largest eigenvector) clearly outperforms kNN with FDA on all of the problems.",
		Where:     "Section 7, Fig. 3 top right", Theirs: "all of the problems",
		Predicate: "Per problem, FDA error − POLA-first-eigenvector error > 0, paired over trials; FDA without a ridge (pseudo-inverse) and with a validated one.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return readings(t, []string{fdaPlain, fdaRidge}, func(x string) (experiment.Finding, error) { return wins(t, polaTop, x, 0) })
		},
	},
	{
		ID:        "fig3-rca",
		View:      "fig3-rca",
		Statement: "Without PCA, POLA outperforms RCA on all of the 45 binary problems.",
		Where:     "Section 7, Fig. 3 middle left", Theirs: "all of the 45",
		Predicate: "Per problem, RCA error − POLA error > 0, paired over trials; RCA without a ridge (pseudo-inverse) and with a validated one.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return readings(t, []string{rcaPlain, rcaRidge}, func(x string) (experiment.Finding, error) { return wins(t, pola, x, 0) })
		},
	},
	{
		ID:        "fig3-rca-worse",
		View:      "fig3-errors",
		Statement: "Without the dimensionality reduction step the results of RCA are much worse.",
		Where:     "Section 7, Fig. 3 middle left", Theirs: experiment.FigureOnly,
		Predicate: "Mean over the problems of RCA's error without PCA ≥ 1.5 × that after PCA; without a ridge (pseudo-inverse) and with a validated one.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return readings(t, []string{rcaPlain, rcaRidge}, func(x string) (experiment.Finding, error) { return ratio(t, x, rcaPCA, muchWorse, "at least") })
		},
	},
	{
		ID:        "fig3-rca-pca",
		View:      "fig3-rca-pca",
		Statement: "POLA outperforms RCA (after PCA to 40 dimensions) on all but one of the 45 binary problems.",
		Where:     "Section 7, Fig. 3 middle right", Theirs: "all but one of the 45",
		Predicate: "Per problem, RCA error − POLA error > 0, paired over trials, with one exception allowed.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return wins(t, pola, rcaPCA, 1)
		},
	},
	{
		ID:        "fig3-0-8-pola",
		View:      "fig3-0-8",
		Statement: "The points projected on POLA's two largest eigenvectors form two perfectly separable clusters, each of one digit.",
		Where:     "Section 7, Fig. 3 bottom right", Theirs: experiment.FigureOnly,
		Predicate: "A straight line separates the 100 projected images of 0 and 8 (a feasible linear program) in every trial; for training and for held-out images.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return separable(t, pola, true)
		},
	},
	{
		ID:        "fig3-0-8-pca",
		View:      "fig3-0-8",
		Statement: "The analogous clusters when using PCA are interleaved.",
		Where:     "Section 7, Fig. 3 bottom left", Theirs: experiment.FigureOnly,
		Predicate: "No straight line separates the 100 projected images in any trial; for training and for held-out images.",
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return separable(t, embedPCA, false)
		},
	},
}

// wins grades "y has a lower error than x in every problem but exceptions".
func wins(t *table.Table, y, x string, exceptions int) (experiment.Finding, error) {
	var units []experiment.Unit
	errs := t.Where("kind", "error")
	for cell, g := range errs.Group("cell") {
		d, err := difference(g.Where("method", x).Values("error"), g.Where("method", y).Values("error"))
		if err != nil {
			return experiment.Finding{}, fmt.Errorf("problem %s: %w", cell, err)
		}
		units = append(units, experiment.Unit{Name: cell, Diffs: d})
	}
	return experiment.GradeUnits(units, experiment.UnitRule{Exceptions: exceptions, Scale: 100, Unit: "points"})
}

// meanByTrial returns, per trial, a method's mean error over the problems.
func meanByTrial(t *table.Table, method string) []float64 {
	var out []float64
	for _, g := range t.Where("kind", "error", "method", method).Group("trial") {
		out = append(out, stat.Mean(g.Values("error"), nil))
	}
	return out
}

// ratio grades "the mean error of y is at most (at least) bound × that of x",
// paired over trials.
func ratio(t *table.Table, y, x string, bound float64, side string) (experiment.Finding, error) {
	ey, ex := meanByTrial(t, y), meanByTrial(t, x)
	if len(ey) != len(ex) || len(ey) == 0 {
		return experiment.Finding{}, fmt.Errorf("pola2004: %d trials of %s against %d of %s", len(ey), y, len(ex), x)
	}
	d := make([]float64, len(ey))
	for i := range d {
		d[i] = bound*ex[i] - ey[i]
		if side == "at least" {
			d[i] = -d[i]
		}
	}
	f, err := experiment.GradeUnits([]experiment.Unit{{Name: "mean over the problems", Diffs: d}}, experiment.UnitRule{Scale: 100, Unit: "points"})
	if err != nil {
		return f, err
	}
	r := make([]float64, len(ey))
	for i := range r {
		r[i] = ey[i] / ex[i]
	}
	f.Ours = fmt.Sprintf("%s %% against %s %%: ratio %s, claimed %s %.2f", experiment.Summarize(ey).Percent(), experiment.Summarize(ex).Percent(), plusMinus(r), side, bound)
	return f, nil
}

// plusMinus formats a mean over trials with its interval, if there is one.
func plusMinus(values []float64) string {
	s := experiment.Summarize(values)
	if !s.HasInterval {
		return fmt.Sprintf("%.2f", s.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", s.Mean, s.Half)
}

// readings grades one claim under each of several others to compare with.
func readings(t *table.Table, names []string, grade func(name string) (experiment.Finding, error)) (experiment.Finding, error) {
	var all []experiment.Reading
	for _, name := range names {
		f, err := grade(name)
		if err != nil {
			return f, err
		}
		all = append(all, experiment.Reading{Name: name, Finding: f})
	}
	return experiment.AllReadings(all), nil
}

// separable grades whether a line separates (or, if want is false, never
// separates) the plotted images, on training and held-out images.
func separable(t *table.Table, method string, want bool) (experiment.Finding, error) {
	return readings(t, []string{onTraining, onHeldOut}, func(split string) (experiment.Finding, error) {
		var holds []bool
		for _, v := range t.Where("kind", "separable", "method", method, "split", split).Values("value") {
			holds = append(holds, (v == 1) == want)
		}
		return experiment.GradeAlways(holds)
	})
}
