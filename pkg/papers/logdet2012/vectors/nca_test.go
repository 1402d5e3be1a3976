package vectors

import (
	"fmt"
	"slices"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
)

// The claims of NCA on made-up errors: two data sets may be exceptions.
func TestNCAClaims(t *testing.T) {
	wrong := func(worse int) *table.Table { // data sets on which NCA is worst of the three; on the others it is best
		tb := experimenttest.Table(Nca)
		for i, d := range protocol.Databases {
			for _, by := range protocol.Readings {
				for trial := range 10 {
					for fold := range 2 {
						for k, m := range ncaMethods {
							value := float64(100 + 10*k + (trial+fold)%3)
							if m == protocol.Nca {
								value = 50
								if i < worse {
									value = 150 + float64((trial+k)%2)
								}
							}
							tb.Add(table.Key{"job": d.Name + by.String(), "cell": cellName(d.Name, by), "trial": fmt.Sprint(trial), "database": d.Name, "features": by.String(), "kind": "wrong", "method": m, "fold": fmt.Sprint(fold)},
								table.Values{"value": value, "of": 1000})
						}
					}
				}
			}
		}
		return tb
	}
	for worse, want := range map[int][2]judge.Verdict{
		0: {judge.Reproduced, judge.NotReproduced},
		2: {judge.Reproduced, judge.Undecided},
		3: {judge.Undecided, judge.Reproduced},
		5: {judge.NotReproduced, judge.Reproduced},
	} {
		for i, id := range []string{"nca-gain", "nca-logdet"} {
			if got := experimenttest.Judge(t, ncaClaims, id, wrong(worse), nil); got.Verdict != want[i] {
				t.Errorf("worst on %d data sets: %s is %v, want %v: %s", worse, id, got.Verdict, want[i], got.Reason)
			}
		}
	}
}

// A trial has the three methods on each fold, and NCA chooses between two starts.
func TestNCATrial(t *testing.T) {
	cell := Nca.Cells(experiment.Smoke)[0]
	tb, err := Nca.Run(t.Context(), experimenttest.Env(), cell, experimenttest.Seed(cell.Dataset))
	if err != nil {
		t.Fatal(err)
	}
	wrong := tb.Where("kind", "wrong")
	if got := wrong.Unique("method"); wrong.Len() != 2*len(ncaMethods) || !slices.Equal(got, ncaMethods) {
		t.Errorf("%d errors, of %v", wrong.Len(), got)
	}
	if got := tb.Where("kind", "inner", "method", protocol.Nca).Index("at"); !slices.Equal(got, []string{"from FDA", "from PCA"}) {
		t.Errorf("candidates %v", got)
	}
}
