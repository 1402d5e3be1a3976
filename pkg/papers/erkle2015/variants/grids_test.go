package variants

import (
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// The threshold of a trial is the one with the least validation error, the smallest of equals.
func TestDenoiseChoices(t *testing.T) {
	tb := experimenttest.Table(Denoise)
	wrong := map[string][]float64{"0": {.3, .2, .1}, "1": {.1, .1, .2}} // by trial and threshold
	for trial, errors := range wrong {
		for k, name := range handleRejects {
			tb.Add(table.Key{"cell": flipName(.1), "trial": trial, "handling": name, "passes": "10", "share": "0.1"}, table.Values{
				"validation wrong": 1000 * errors[k], "validation ties": 0, "validation triplets": 1000, "test wrong": float64(k), "test ties": 0, "test triplets": 10,
			})
		}
	}
	choices := denoiseChoices(tb)
	if len(choices) != 1 {
		t.Fatalf("%d choices, want 1", len(choices))
	}
	chosen := slices.Sorted(slices.Values(choices[0].Chosen))
	if want := "10 % flipped, 10 passes: threshold on γ"; choices[0].What != want || !slices.Equal(chosen, []float64{.15, .3}) {
		t.Errorf("%s: %v, want %s: 0.15 and 0.3", choices[0].What, chosen, want)
	}
}

// ERKLE has no τ, and is no choice.
func TestFlipChoices(t *testing.T) {
	tb := experimenttest.Table(Flips)
	for trial := range 3 {
		key := func(method string) table.Key {
			return table.Key{"cell": flipName(0), "trial": strconv.Itoa(trial), "method": method}
		}
		tb.Add(key(protocol.GNMDSBatch), table.Values{"tau": 300})
		tb.Add(key(protocol.PAERKLE), table.Values{"active": 1})
	}
	choices := flipChoices(tb)
	if len(choices) != 1 {
		t.Fatalf("%d choices, want 1", len(choices))
	}
	if end, n, ok := choices[0].AtEnd(); !ok || end != 300 || n != 3 {
		t.Errorf("end %v of %d, %t; want 300 of 3", end, n, ok)
	}
}
