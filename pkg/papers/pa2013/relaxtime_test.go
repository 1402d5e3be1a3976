package pa2013

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/table"
)

// madeRelaxTime has a time for each q, in seconds, of the repeats together.
func madeRelaxTime(seconds func(cell string, q int) float64) (rows, times *table.Table) {
	rows = experimenttest.Table(RelaxTime)
	times = table.New([]string{"job", "cell", "trial", "phase"}, []string{"wall_s", "cpu_s"})
	for _, d := range databases {
		if !d.small() {
			continue
		}
		for trial := range madeTrials {
			for _, v := range rules {
				for _, q := range everyUpdates {
					of := strconv.Itoa(trial)
					rows.Add(table.Key{"cell": d.cell, "trial": of, "method": v.name, "at": everyName(q)},
						table.Values{"c": .1, "k": 3, "error": .1, "ratio": 1, "steps": 100, "updates": 50, "repeats": 20})
					times.Add(table.Key{"cell": d.cell, "trial": of, "phase": relaxPhase(v.name, everyName(q))},
						table.Values{"cpu_s": seconds(d.cell, q) * (1 + .001*float64(trial%3))})
				}
			}
		}
	}
	return rows, times
}

// A time is that of one repeat.
func TestRelaxSeconds(t *testing.T) {
	rows, times := madeRelaxTime(func(_ string, q int) float64 { return float64(20 * (q + 1)) })
	got := relaxSeconds(times, rules[0].name, 3)(rows.Where("cell", "wine"))
	if len(got) != madeTrials || math.Abs(got[0]-4) > 1e-12 || math.Abs(got[1]-4.004) > 1e-12 { // round-off of a quotient
		t.Errorf("times %v, want 4, 4.004, ...", got)
	}
}

// An end of the grid that most splits take is named in the caption.
func TestRelaxTimeChoices(t *testing.T) {
	rows := experimenttest.Table(RelaxTime)
	for trial := range 3 {
		rows.Add(table.Key{"cell": "wine", "trial": strconv.Itoa(trial), "method": rules[0].name, "at": everyName(1)}, table.Values{"c": 100})
	}
	choices := relaxTimeChoices(rows)
	if len(choices) != 1 {
		t.Fatalf("%d choices, want 1", len(choices))
	}
	if end, n, ok := choices[0].AtEnd(); !ok || end != 100 || n != 3 {
		t.Errorf("end %v of %d choices, %t; want 100 of 3", end, n, ok)
	}
}

func TestEveryParams(t *testing.T) {
	v := rules[1]
	for q, want := range map[int]pairs.PAParams{
		0: {Rule: v.rule, PSD: pairs.PSDAtEnd},
		1: {Rule: v.rule, PSD: pairs.PSDEachStep},
		7: {Rule: v.rule, PSD: pairs.PSDAtEnd, Every: 7},
	} {
		if got := everyParams(v, q); got != want {
			t.Errorf("q = %d: %+v, want %+v", q, got, want)
		}
	}
	at, ticks := everyTicks()
	if !slices.IsSorted(at) || len(ticks) != len(everyUpdates) || ticks[len(ticks)-1].Label != atEnd {
		t.Errorf("axis %v, ticks %v", at, ticks)
	}
}
