package erkle2015

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// judgedWorld makes up what a run of Fig. 3 or 4 may have measured: of 1,000 triplets of each part.
type judgedWorld struct {
	wrong    func(part, method, setting string, size int) float64 // a share
	rank     func(method string, size int) float64
	step     func(method string, r relation) float64 // mean length
	chosen   map[string]float64                      // by family
	features bool
}

// fill adds a cell. A small spread over trials makes intervals positive, and differs between
// methods so that those of differences are.
func (w judgedWorld) fill(t *table.Table, cell, data string, sizes []int) {
	for trial := range experimenttest.Trials {
		add := func(kind, method, setting, size string, v table.Values) {
			t.Add(table.Key{"cell": cell, "trial": strconv.Itoa(trial), "kind": kind, "method": method, "setting": setting, "triplets": size}, v)
		}
		curve := func(method, setting string) {
			for _, size := range sizes {
				v := table.Values{looseRank: w.rank(method, size), fineRank: w.rank(method, size) + 1, "iterations": 10, "residual": .001}
				for _, part := range []string{"test", "train", "validation"} {
					v[part+" wrong"], v[part+" ties"], v[part+" triplets"] = 1000*w.wrong(part, method, setting, size)+.01*float64((trial+len(method)+len(setting))%3), 0, 1000
				}
				add("curve", method, setting, strconv.Itoa(size), v)
			}
		}
		for _, m := range erkles {
			curve(m, "")
		}
		for _, b := range batches {
			c := tauOf(data, b.name)
			for _, tau := range c.distinct() {
				curve(b.name, table.Format(tau))
			}
			curve(runOn(b.name), table.Format(c.validated))
		}
		if w.features {
			for _, m := range []string{featuresAlone, paFeatures, paFeaturesTen} {
				curve(m, "")
			}
		}
		for name, x := range w.chosen {
			all := append(slices.Clone(families), traceFamily)
			f := all[slices.IndexFunc(all, func(f family) bool { return f.name == name })]
			for _, v := range f.values {
				curve(name, table.Format(v))
			}
			curve(f.ten(), table.Format(x))
			add("chosen", name, "", "", table.Values{"count": x})
		}
		if w.step != nil {
			for _, m := range []string{paERKLE, steERKLE} {
				for r, name := range relationNames {
					add("step", m, name, "", table.Values{"count": 100, "sum": 100*w.step(m, relation(r)) + .001*float64((trial+len(m))%3)})
				}
			}
		}
	}
}

// supportingMusic is a world in which the claims of Fig. 3 hold.
func supportingMusic() judgedWorld {
	return judgedWorld{
		wrong: func(part, method, setting string, size int) float64 {
			method = strings.TrimSuffix(method, runOn(""))
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
			return map[string]float64{paERKLE: .20, paERKLETen: .18, steERKLE: .30, steERKLETen: .28, gnmdsBatch: .22, steBatch: .22, cklBatch: .23}[method]
		},
		rank: func(_ string, size int) float64 { return float64(50 + size/100) },
		step: func(method string, r relation) float64 {
			return map[string][]float64{paERKLE: {.2, .1, .3}, steERKLE: {.5, .1, .9}}[method][r]
		},
		chosen: map[string]float64{families[0].name: .1, families[2].name: .3},
	}
}

// opposingMusic is a world in which they do not.
func opposingMusic() judgedWorld {
	w := supportingMusic()
	w.wrong = func(part, method, setting string, size int) float64 {
		method = strings.TrimSuffix(method, runOn(""))
		switch {
		case strings.HasPrefix(method, "STE-ERKLE, step"), strings.HasPrefix(method, "PA-ERKLE, largest step"):
			if setting == "0.1" || setting == "0.3" {
				return .5
			}
			return .1
		}
		return map[string]float64{paERKLE: .30, paERKLETen: .28, steERKLE: .20, steERKLETen: .18, gnmdsBatch: .22, steBatch: .22, cklBatch: .23}[method]
	}
	w.rank = func(_ string, size int) float64 { return float64(400 - size/100) }
	w.step = func(method string, r relation) float64 {
		return map[string][]float64{paERKLE: {.2, .1, .9}, steERKLE: {.5, .1, .3}}[method][r]
	}
	return w
}

func fig3Table(w judgedWorld) *table.Table {
	t := experimenttest.Table(Fig3)
	w.fill(t, "all", music, []int{100, 1000, 5500})
	return t
}

// Each claim is reproduced in a world made to support it and not in its opposite.
func TestFig3ClaimsPointTheRightWay(t *testing.T) {
	yes, no := fig3Table(supportingMusic()), fig3Table(opposingMusic())
	for _, c := range fig3Claims {
		if f := experimenttest.Judge(t, fig3Claims, c.ID, yes, nil); f.Verdict != judge.Reproduced {
			t.Errorf("%s in a supporting world: %s: %s %s", c.ID, f.Verdict, f.Ours, f.Reason)
		}
		if f := experimenttest.Judge(t, fig3Claims, c.ID, no, nil); f.Verdict != judge.NotReproduced {
			t.Errorf("%s in an opposing world: %s: %s %s", c.ID, f.Verdict, f.Ours, f.Reason)
		}
	}
}

// "Considerably worse" is not "worse".
func TestConsiderablyWorseNeedsTheMargin(t *testing.T) {
	w := supportingMusic()
	inner := w.wrong
	w.wrong = func(part, method, setting string, size int) float64 {
		if method == steERKLE || method == steERKLETen {
			return .235
		}
		return inner(part, method, setting, size)
	}
	for _, id := range []string{"fig3-ste-worse", "fig3-train-ste"} {
		if f := experimenttest.Judge(t, fig3Claims, id, fig3Table(w), nil); f.Verdict == judge.Reproduced {
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
		for _, m := range []string{paERKLE, steERKLE} {
			for r, name := range relationNames {
				v := table.Values{"count": 10, "sum": 1}
				if relation(r) == conflicting {
					v = table.Values{"count": 0, "sum": 0}
				}
				tb.Add(table.Key{"cell": "all", "trial": strconv.Itoa(trial), "kind": "step", "method": m, "setting": name}, v)
			}
		}
	}
	if f := experimenttest.Judge(t, fig3Claims, "fig3-drastic", tb, nil); f.Verdict != judge.Undecided {
		t.Errorf("%s, want undecided", f.Verdict)
	}
}

// Views say what is missing when a cell is.
func TestMusicViewsWithMissingCells(t *testing.T) {
	empty, only := experimenttest.Table(Fig3), experimenttest.Table(Fig3)
	w := supportingMusic()
	w.fill(only, "all", music, []int{100, 5500})
	for _, v := range fig3Views {
		if d, err := v.DrawWith(empty, nil); err != nil || len(d.Panels) > 0 {
			t.Errorf("%s of an empty table: %d panels, %v", v.Name, len(d.Panels), err)
		}
		// Without the batch methods, and without ERKLE.
		for _, method := range []string{gnmdsBatch, paERKLE} {
			part := only.Where("method", method)
			if _, err := v.DrawWith(part, nil); err != nil {
				t.Errorf("%s with %s alone: %v", v.Name, method, err)
			}
		}
	}
}
