package metric

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestCostRoundJSON(t *testing.T) {
	cost := mat.NewDense(2, 3, []float64{0, 1, 0.5, 0.25, 0, 1})
	const want = `{"cost":[[0,0.25],[1,0],[0.5,1]]}`
	raw, err := json.Marshal(CostRound{cost.T()})
	if err != nil || string(raw) != want {
		t.Errorf("written as %s (%v), want %s", raw, err, want)
	}
	var got CostRound
	if err := json.Unmarshal([]byte(want), &got); err != nil || !mat.Equal(got.Cost, cost.T()) {
		t.Errorf("%s is read as %v (%v)", want, got.Cost, err)
	}
	for _, bad := range []CostRound{{}, {mat.NewDense(1, 1, []float64{math.NaN()})}} {
		if raw, err := json.Marshal(bad); err == nil {
			t.Errorf("%v is written as %s, want an error", bad, raw)
		}
	}
	for in, want := range map[string]string{
		`{}`:                     "cost: has no rows",
		`{"cost":[]}`:            "cost: has no rows",
		`{"cost":[[]]}`:          "cost[0]: has 0 numbers, want 1",
		`{"cost":[[0,1],[0]]}`:   "cost[1]: has 1 numbers, want 2",
		`{"cost":[[0,"1"],[0]]}`: "cannot unmarshal string",
	} {
		before := got.Cost
		if err := json.Unmarshal([]byte(in), &got); err == nil || !strings.Contains(err.Error(), want) || got.Cost != before {
			t.Errorf("%s: error %v, want one with %q, and nothing changed", in, err, want)
		}
	}
}
