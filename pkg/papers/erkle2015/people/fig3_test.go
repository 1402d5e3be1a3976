package people

import (
	"slices"
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

// answeredWorld makes up what a run of Fig. 3 or 4 may have measured: of 1,000 triplets of each part.
type answeredWorld struct {
	wrong    func(part, method, setting string, size int) float64 // a share
	rank     func(method string, size int) float64
	step     func(method string, r triplets.Relation) float64 // mean length
	chosen   map[string]float64                               // by family
	features bool
}

// fill adds a cell. A small spread over trials makes intervals positive, and differs between
// methods so that those of differences are.
func (w answeredWorld) fill(t *table.Table, cell, data string, sizes []int) {
	for trial := range experimenttest.Trials {
		add := func(kind, method, setting, size string, v table.Values) {
			t.Add(table.Key{"cell": cell, "trial": strconv.Itoa(trial), "kind": kind, "method": method, "setting": setting, "triplets": size}, v)
		}
		curve := func(method, setting string) {
			for _, size := range sizes {
				v := table.Values{batch.LooseRank: w.rank(method, size), batch.FineRank: w.rank(method, size) + 1, "iterations": 10, "residual": .001}
				for _, part := range []string{"test", "train", "validation"} {
					v[part+" wrong"], v[part+" ties"], v[part+" triplets"] = 1000*w.wrong(part, method, setting, size)+.01*float64((trial+len(method)+len(setting))%3), 0, 1000
				}
				add("curve", method, setting, strconv.Itoa(size), v)
			}
		}
		for _, m := range protocol.ERKLEs {
			curve(m, "")
		}
		for _, b := range protocol.Batches {
			c := protocol.TauOf(data, b.Name)
			for _, tau := range c.Distinct() {
				curve(b.Name, table.Format(tau))
			}
			curve(batch.RunOn(b.Name), table.Format(c.Validated))
		}
		if w.features {
			for _, m := range []string{protocol.FeaturesAlone, protocol.PAFeatures, protocol.PAFeaturesTen} {
				curve(m, "")
			}
		}
		for name, x := range w.chosen {
			all := append(slices.Clone(variants.Families), variants.TraceFamily)
			f := all[slices.IndexFunc(all, func(f variants.Family) bool { return f.Name == name })]
			for _, v := range f.Values {
				curve(name, table.Format(v))
			}
			curve(f.Ten(), table.Format(x))
			add("chosen", name, "", "", table.Values{"count": x})
		}
		if w.step != nil {
			for _, m := range []string{protocol.PAERKLE, protocol.STEERKLE} {
				for r, name := range protocol.RelationNames {
					add("step", m, name, "", table.Values{"count": 100, "sum": 100*w.step(m, triplets.Relation(r)) + .001*float64((trial+len(m))%3)})
				}
			}
		}
	}
}

// supportingMusic is a world in which the claims of Fig. 3 hold.
func supportingMusic() answeredWorld {
	return answeredWorld{
		wrong: func(part, method, setting string, size int) float64 {
			method = strings.TrimSuffix(method, batch.RunOn(""))
			switch {
			case strings.HasPrefix(method, "STE-ERKLE, step"):
				if setting == "0.1" {
					return .18
				}
				return .5
			case strings.HasPrefix(method, "PA-ERKLE, largest step"):
				if setting == "0.3" {
					return .15
				}
				return .5
			}
			return map[string]float64{protocol.PAERKLE: .20, protocol.PAERKLETen: .18, protocol.STEERKLE: .30, protocol.STEERKLETen: .28, protocol.GNMDSBatch: .22, protocol.STEBatch: .22, protocol.CKLBatch: .23}[method]
		},
		rank: func(_ string, size int) float64 { return float64(50 + size/100) },
		step: func(method string, r triplets.Relation) float64 {
			return map[string][]float64{protocol.PAERKLE: {.2, .1, .3}, protocol.STEERKLE: {.5, .1, .9}}[method][r]
		},
		chosen: map[string]float64{variants.Families[0].Name: .1, variants.Families[2].Name: .3},
	}
}

// opposingMusic is a world in which they do not.
func opposingMusic() answeredWorld {
	w := supportingMusic()
	w.wrong = func(part, method, setting string, size int) float64 {
		method = strings.TrimSuffix(method, batch.RunOn(""))
		switch {
		case strings.HasPrefix(method, "STE-ERKLE, step"), strings.HasPrefix(method, "PA-ERKLE, largest step"):
			if setting == "0.1" || setting == "0.3" {
				return .5
			}
			return .1
		}
		return map[string]float64{protocol.PAERKLE: .30, protocol.PAERKLETen: .28, protocol.STEERKLE: .20, protocol.STEERKLETen: .18, protocol.GNMDSBatch: .22, protocol.STEBatch: .22, protocol.CKLBatch: .23}[method]
	}
	w.rank = func(_ string, size int) float64 { return float64(400 - size/100) }
	w.step = func(method string, r triplets.Relation) float64 {
		return map[string][]float64{protocol.PAERKLE: {.2, .1, .9}, protocol.STEERKLE: {.5, .1, .3}}[method][r]
	}
	return w
}

func fig3Table(w answeredWorld) *table.Table {
	t := experimenttest.Table(Fig3)
	w.fill(t, "all", protocol.Music, []int{100, 1000, 5500})
	return t
}

// Each claim is reproduced in a world made to support it and not in its opposite.
func TestFig3ClaimsPointTheRightWay(t *testing.T) {
	yes, no := fig3Table(supportingMusic()), fig3Table(opposingMusic())
	for _, c := range batch.Fig3Claims {
		if f := experimenttest.Judge(t, batch.Fig3Claims, c.ID, yes, nil); f.Verdict != judge.Reproduced {
			t.Errorf("%s in a supporting world: %s: %s %s", c.ID, f.Verdict, f.Ours, f.Reason)
		}
		if f := experimenttest.Judge(t, batch.Fig3Claims, c.ID, no, nil); f.Verdict != judge.NotReproduced {
			t.Errorf("%s in an opposing world: %s: %s %s", c.ID, f.Verdict, f.Ours, f.Reason)
		}
	}
}

// "Considerably worse" is not "worse".
func TestConsiderablyWorseNeedsTheMargin(t *testing.T) {
	w := supportingMusic()
	inner := w.wrong
	w.wrong = func(part, method, setting string, size int) float64 {
		if method == protocol.STEERKLE || method == protocol.STEERKLETen {
			return .235
		}
		return inner(part, method, setting, size)
	}
	for _, id := range []string{"fig3-ste-worse", "fig3-train-ste"} {
		if f := experimenttest.Judge(t, batch.Fig3Claims, id, fig3Table(w), nil); f.Verdict == judge.Reproduced {
			t.Errorf("%s: %s although STE-ERKLE is worse by .5 to 5.5 points", id, f.Verdict)
		}
	}
}

// A split without a conflicting triplet has no mean step on one: no verdict, no error.
func TestDrasticWithoutConflicts(t *testing.T) {
	w := supportingMusic()
	w.step = nil
	tb := fig3Table(w)
	for trial := range experimenttest.Trials {
		for _, m := range []string{protocol.PAERKLE, protocol.STEERKLE} {
			for r, name := range protocol.RelationNames {
				v := table.Values{"count": 10, "sum": 1}
				if triplets.Relation(r) == triplets.RelationConflicting {
					v = table.Values{"count": 0, "sum": 0}
				}
				tb.Add(table.Key{"cell": "all", "trial": strconv.Itoa(trial), "kind": "step", "method": m, "setting": name}, v)
			}
		}
	}
	if f := experimenttest.Judge(t, batch.Fig3Claims, "fig3-drastic", tb, nil); f.Verdict != judge.Undecided {
		t.Errorf("%s, want undecided", f.Verdict)
	}
}

// Views say what is missing when a cell is.
func TestMusicViewsWithMissingCells(t *testing.T) {
	empty, only := experimenttest.Table(Fig3), experimenttest.Table(Fig3)
	w := supportingMusic()
	w.fill(only, "all", protocol.Music, []int{100, 5500})
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
