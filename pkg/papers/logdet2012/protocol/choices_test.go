package protocol_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
)

// Labels of candidates are read back: parameters by name and unit, and nothing else.
func TestParametersOf(t *testing.T) {
	for label, want := range map[string]map[string]float64{
		"γ = 0.01":                           {"γ": 0.01},
		"γ = 1000, σ² = 0.5 medians":         {"γ": 1000, "σ² (medians)": 0.5},
		"ηℓ² = 1e+06":                        {"ηℓ²": 1e6},
		"3 targets, μ = 0.75":                {"targets": 3, "μ": 0.75},
		"t = -0.5":                           {"t": -0.5},
		"c = 0.1, τ = 10":                    {"c": 0.1, "τ": 10},
		"σ² = 4 medians, graph 100, ridge 1": {"σ² (medians)": 4, "graph": 100, "ridge": 1},
		"C = 10, τ = 0.03 of the largest":    {"C": 10, "τ (of the largest)": 0.03},
		"nothing to choose":                  {},
		"":                                   {},
	} {
		if got := protocol.ParametersOf(label); !maps.Equal(got, want) {
			t.Errorf("%q: %v, want %v", label, got, want)
		}
	}
	for _, m := range methodsOf(protocol.MainSettings) {
		for _, c := range m.Candidates {
			if got := protocol.ParametersOf(c.Label); len(m.Candidates) > 1 && len(got) == 0 {
				t.Errorf("%s: %q gives no parameter", m.Name, c.Label)
			}
		}
	}
}

// Choices are gathered over folds and trials; the grid has candidates that were never chosen.
func TestChoicesAreGathered(t *testing.T) {
	tb := table.New([]string{"cell", "trial", "kind", "method", "constraints", "fold", "at"}, []string{"value", "of"})
	add := func(kind, trial, fold, at string) {
		tb.Add(table.Key{"cell": "ionosphere", "trial": trial, "kind": kind, "method": "HMRF-KMeans", "constraints": "50", "fold": fold, "at": at}, table.Values{"value": 1, "of": 1})
	}
	for trial := range 2 {
		for fold := range protocol.Folds {
			for _, at := range []string{"w = 0.1", "w = 1", "w = 10"} {
				add("inner", strconv.Itoa(trial), strconv.Itoa(fold), at)
			}
			add("chosen", strconv.Itoa(trial), strconv.Itoa(fold), []string{"w = 0.1", "w = 1"}[trial*fold])
		}
	}
	add("chosen", "0", "0", "nothing to choose")
	got := protocol.ClusterChoices(tb)
	if len(got) != 1 || got[0].What != "ionosphere, HMRF-KMeans: w" || !slices.Equal(got[0].Grid, []float64{0.1, 1, 10}) || !slices.Equal(got[0].Chosen, []float64{0.1, 0.1, 0.1, 1}) {
		t.Errorf("choices %+v", got)
	}
	if end, n, ok := got[0].AtEnd(); end != 0.1 || n != 3 || !ok {
		t.Errorf("the end is %v, %d times, %v", end, n, ok)
	}
}
