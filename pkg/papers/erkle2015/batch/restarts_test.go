package batch

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// restartWorld says what a made-up table holds: objectives and errors in thousandths.
type restartWorld struct {
	spread, former                      int
	best, mean, first, convex, paERKLEs int
}

func (w restartWorld) table() *table.Table {
	tb := experimenttest.Table(Restarts)
	for _, data := range restartData {
		for trial := range experimenttest.Trials {
			add := func(method, d, from, size string, wrong int, v table.Values) {
				protocol.ErrorCount{Wrong: wrong + trial%3, Ties: 0, Of: 1000}.Put(v, "test")
				tb.Add(table.Key{"cell": data, "trial": strconv.Itoa(trial), "method": method, "coordinates": d, "from": from, "triplets": size}, v)
			}
			for _, size := range []string{"100", "1000"} {
				for _, method := range protocol.ERKLEs {
					add(method, "", fromOnline, size, w.paERKLEs, table.Values{})
				}
				for _, method := range learning.BatchNames {
					add(method, "", fromKernel, size, w.convex, table.Values{"objective": 100, "objective at 0": 1000})
					for _, d := range restartDims {
						v := func() table.Values {
							return table.Values{
								"objective": 100, "largest objective": 100 + float64(w.spread+trial%3), "objective at 0": 1000,
								"mean wrong": float64(w.mean + 2*(trial%3)), "first wrong": float64(w.first + 2*(trial%3)), "starts": 10, "converged": 10,
							}
						}
						followed := v()
						if size == "1000" {
							followed["former"] = 100 + float64(w.former)
							add(method, strconv.Itoa(d), fromAnew, size, w.best, v())
						}
						add(method, strconv.Itoa(d), fromFollowed, size, w.best, followed)
					}
				}
			}
		}
	}
	return tb
}

func TestRestartClaimsPointTheRightWay(t *testing.T) {
	yes := restartWorld{spread: 20, former: 5, best: 200, mean: 250, first: 230, convex: 150, paERKLEs: 100}.table()
	no := restartWorld{spread: 5, former: 0, best: 200, mean: 150, first: 150, convex: 250, paERKLEs: 300}.table()
	for _, c := range restartClaims {
		for tb, want := range map[*table.Table]judge.Verdict{yes: judge.Reproduced, no: judge.NotReproduced} {
			if f := experimenttest.Judge(t, restartClaims, c.ID, tb, nil); f.Verdict != want {
				t.Errorf("%s: %s, want %s: %s", c.ID, f.Verdict, want, f.Reason)
			}
		}
	}
	// As well as is within a point.
	near := restartWorld{best: 200, convex: 205}.table()
	if f := experimenttest.Judge(t, restartClaims, "restarts-kernel", near, nil); f.Verdict != judge.Reproduced {
		t.Errorf("half a point: %s: %s", f.Verdict, f.Reason)
	}
	each := byCoordinates(func(string) frame.Test { return func(*table.Table) judge.Test { return judge.Holds{true} } })
	if f, err := judge.Judge(each(yes)); err != nil || len(f.Readings) != len(restartDims) {
		t.Error("the readings are not the numbers of coordinates")
	}
}

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
		for key, g := range frame.Groups(rows, "method", "triplets") {
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
