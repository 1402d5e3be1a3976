// Package pola2004 declares the experiments of
//
//	Shalev-Shwartz, Singer, Ng. Online and Batch Learning of Pseudo-Metrics.
//	ICML 2004.
//
// Each file is one experiment: its cells, its trial, its views and its claims.
package pola2004

import (
	"fmt"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Paper lists the experiments in the order of the paper.
var Paper = experiment.Paper{
	Key:         "pola2004",
	Citation:    "S. Shalev-Shwartz, Y. Singer, A. Y. Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004.",
	Experiments: []experiment.Spec{Theorem1, Fig2, Fig3, Sensitivity, Fig4, Fig4Sensitivity, Rings},
}

// trials are two at smoke scale.
func trials(full int) func(experiment.Scale) int {
	return func(scale experiment.Scale) int {
		if scale == experiment.Smoke {
			return 2
		}
		return full
	}
}

// difference returns a − b, entry by entry, of two columns that hold the same
// trials in the same order.
func difference(a, b []float64) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("pola2004: %d trials against %d", len(a), len(b))
	}
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out, nil
}

// mean returns the mean of values and the half-width of its 95 % interval,
// 0 where there is no interval.
func mean(values []float64) (center, half float64) {
	s := experiment.Summarize(values)
	if !s.HasInterval {
		return s.Mean, 0
	}
	return s.Mean, s.Half
}

// symbols turns the names of cells and settings, which are keys, into what a
// reader sees.
var symbols = strings.NewReplacer("b1 =", "b₁ =", "gamma =", "γ =")

// trialsNote describes the error bars of a table.
func trialsNote(t *table.Table) string {
	n := len(t.Unique("trial"))
	if n < experiment.MinTrials {
		return fmt.Sprintf("Means over %d trial(s); fewer than %d, so no intervals are given.", n, experiment.MinTrials)
	}
	return fmt.Sprintf("Means over %d trials with 95 %% t intervals, which cover the random draws of a trial and nothing else.", n)
}

// percent formats the mean of shares over trials, with its interval if there is
// one.
func percent(values []float64) string {
	s := experiment.Summarize(values)
	if !s.HasInterval {
		return fmt.Sprintf("%.2f", 100*s.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", 100*s.Mean, 100*s.Half)
}

func missing(what string) plots.Drawing {
	return plots.Drawing{
		Caption: "There is nothing to draw yet.",
		Notes:   []string{"Missing: " + what + "."},
		Text:    &plots.TextTable{Head: []string{"missing"}, Rows: [][]string{{what}}},
	}
}
