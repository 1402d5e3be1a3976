package people

import (
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
	"metriclab/pkg/table"
)

// musicTable makes up a run of Fig. 3 in which all methods have the same errors and ranks; each relation has so many steps, of length 1.
func musicTable(steps map[triplets.Relation]float64) *table.Table {
	t := experimenttest.Table(Fig3)
	for trial := range experimenttest.Trials {
		add := func(kind, method, setting, size string, v table.Values) {
			t.Add(table.Key{"cell": "all", "trial": strconv.Itoa(trial), "kind": kind, "method": method, "setting": setting, "triplets": size}, v)
		}
		curve := func(method, setting string) {
			for _, size := range []string{"100", "5500"} {
				v := table.Values{batch.LooseRank: 50, batch.FineRank: 60, "iterations": 10, "residual": .001}
				for _, part := range []string{"test", "train", "validation"} {
					protocol.ErrorCount{Wrong: 200 + trial%3, Of: 1000}.Put(v, part)
				}
				add(variants.CurveKind, method, setting, size, v)
			}
		}
		for _, m := range protocol.ERKLEs {
			curve(m, "")
			for r, count := range steps {
				add(variants.StepKind, m, protocol.RelationNames[r], "", table.Values{"count": count, "sum": count})
			}
		}
		for _, b := range protocol.Batches {
			tau := table.Format(protocol.TauOf(protocol.Music, b.Name).Validated)
			curve(b.Name, tau)
			curve(batch.RunOn(b.Name), tau)
		}
		for _, f := range variants.Families {
			for _, v := range f.Values {
				curve(f.Name, table.Format(v))
			}
			curve(f.Ten(), table.Format(f.Values[0]))
			add(variants.ChosenKind, f.Name, "", "", table.Values{"count": f.Values[0]})
		}
	}
	return t
}

// A split without a conflicting triplet has no mean step on one: no verdict, no error.
func TestDrasticWithoutConflicts(t *testing.T) {
	tb := musicTable(map[triplets.Relation]float64{triplets.RelationUnordered: 10, triplets.RelationImplied: 10, triplets.RelationConflicting: 0})
	if f := experimenttest.Judge(t, batch.Fig3Claims, "fig3-drastic", tb, nil); f.Verdict != judge.Undecided {
		t.Errorf("%s, want undecided", f.Verdict)
	}
}

// At most sizes ERKLE has errors and no rank; the caption of the ranks has those that there are.
func TestMusicRanksOfERKLE(t *testing.T) {
	tb := musicTable(nil)
	for trial := range experimenttest.Trials {
		for _, m := range protocol.ERKLEs {
			tb.Add(table.Key{"cell": "all", "trial": strconv.Itoa(trial), "kind": variants.CurveKind, "method": m, "triplets": "900"}, table.Values{})
		}
	}
	d, err := drawMusicRanks(tb)
	if err != nil || !strings.Contains(d.Caption.Shows, "a mean rank of 50 to 50:") {
		t.Errorf("%s (error %v)", d.Caption.Shows, err)
	}
}

// Views say what is missing when a cell is.
func TestMusicViewsWithMissingCells(t *testing.T) {
	empty := experimenttest.Table(Fig3)
	only := musicTable(map[triplets.Relation]float64{triplets.RelationUnordered: 10, triplets.RelationImplied: 10, triplets.RelationConflicting: 10})
	for _, v := range fig3Views {
		if d, err := v.DrawWith(empty, nil); err != nil || len(d.Panels) > 0 {
			t.Errorf("%s of an empty table: %d panels, %v", v.Name, len(d.Panels), err)
		}
		// Without the batch methods, and without ERKLE.
		for _, method := range []string{protocol.GNMDSBatch, protocol.PAERKLE} {
			part := only.Where("method", method)
			if _, err := v.DrawWith(part, nil); err != nil {
				t.Errorf("%s with %s alone: %v", v.Name, method, err)
			}
		}
	}
}
