package variants

import (
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// weightsTable makes up errors per thousand by weight; on validation triplets the fixed τ named valid is the best.
func weightsTable(valid string, wrong map[string]int) *table.Table {
	tb := experimenttest.Table(Weights)
	for _, data := range weightSets {
		for trial := range experimenttest.Trials {
			for m, x := range (weightsSettings{Fixed: weightTaus}).learners() {
				v := table.Values{"rank": 1, "trace": 1}
				protocol.ErrorCount{Wrong: wrong[x.name] + (trial+m)%3, Ties: 0, Of: 1000}.Put(v, "test")
				onValidation := 500
				if x.name == valid {
					onValidation = 100
				}
				protocol.ErrorCount{Wrong: onValidation, Ties: 0, Of: 1000}.Put(v, "validation")
				tb.Add(table.Key{"cell": data, "trial": strconv.Itoa(trial), "weight": x.name}, v)
			}
		}
	}
	return tb
}

func TestWeightsClaims(t *testing.T) {
	low, high := weightFixed(weightTaus[0]), weightFixed(weightTaus[1])
	for _, c := range []struct {
		claim, valid  string
		budget, share int
		want          judge.Verdict
		agree         int // of two readings
	}{
		{"weights-helps", low, 250, 250, judge.Reproduced, 2},
		{"weights-helps", low, 350, 350, judge.NotReproduced, 2},
		{"weights-helps", low, 250, 350, judge.Reproduced, 1},
		// The fixed weight is chosen on validation, not on test triplets; 1 point is 10 of 1000.
		{"weights-tuned", high, 405, 380, judge.Reproduced, 2},
		{"weights-tuned", low, 205, 206, judge.Reproduced, 2},
		{"weights-tuned", low, 220, 220, judge.NotReproduced, 2},
		{"weights-tuned", low, 205, 220, judge.Reproduced, 1},
	} {
		tb := weightsTable(c.valid, map[string]int{weightNone: 300, weightBudget: c.budget, weightShare: c.share, low: 200, high: 400, weightFixed(weightTaus[2]): 450})
		if f := experimenttest.Judge(t, weightsClaims, c.claim, tb, nil); f.Verdict != c.want || (judge.ReadingFinding{Finding: f}).Robustness().Agree != c.agree {
			t.Errorf("%s, %d and %d of 1000: %s, want %s: %s", c.claim, c.budget, c.share, f.Verdict, c.want, f.Reason)
		}
	}
}

// The cells have the data sets that the claims name.
func TestWeightSets(t *testing.T) {
	for i, name := range weightSets {
		if protocol.DataSets[i].Name != name {
			t.Errorf("data set %d is %s, want %s", i, protocol.DataSets[i].Name, name)
		}
	}
	if !slices.IsSorted(weightTaus) {
		t.Errorf("τ %v do not ascend", weightTaus)
	}
}
