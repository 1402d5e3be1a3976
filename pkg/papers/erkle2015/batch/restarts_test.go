package batch

import (
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
)

// No start is below the minimum over kernels, and a row about starts holds what its columns say.
func TestRestartRows(t *testing.T) {
	for _, cell := range Restarts.Cells(experiment.Smoke) {
		rows, err := Restarts.Run(t.Context(), &experiment.Env{Scale: experiment.Smoke}, cell, random.Seed{Base: 3, Experiment: Restarts.ID, Dataset: cell.Dataset})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows.Len() {
			key, v := rows.Row(i)
			switch {
			case key["coordinates"] == "":
			case v["objective"] > v["largest objective"] || v["least wrong"] > v["mean wrong"] || v["mean wrong"] > v["largest wrong"] || v["test wrong"] < v["least wrong"] || v["test wrong"] > v["largest wrong"]:
				t.Errorf("%v: %v", key, v)
			case v["former"] < v["objective"]: // false where there is none
				t.Errorf("%v: the former best is at %v, below the best at %v", key, v["former"], v["objective"])
			}
		}
		for key, g := range rows.Groups("method", "triplets") {
			convex := g.Where("from", fromKernel)
			if convex.Len() != 1 || key[0] == protocol.CKLBatch { // which is not convex
				continue
			}
			least := convex.Values("objective")[0] - convex.Values("largest residual")[0]*convex.Values("objective at 0")[0]
			below := slices.DeleteFunc(slices.Clone(g.Values("objective")), func(v float64) bool { return !(v < least) })
			if len(below) > 0 {
				t.Errorf("%s, %s: objectives %v are below the minimum, which is at least %v", cell.Name, strings.Join(key, ", "), below, least)
			}
		}
	}
}
