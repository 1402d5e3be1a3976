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
	"metriclab/pkg/table"
)

// Paper lists the experiments in the order of the paper.
var Paper = experiment.Paper{
	Key:         "pola2004",
	Citation:    "S. Shalev-Shwartz, Y. Singer, A. Y. Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004.",
	Experiments: []experiment.Spec{Theorem1, Fig2, Fig3, Sensitivity, Fig4, Fig4Sensitivity, Rings},
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
