package pola2004

import (
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

func grade(t *testing.T, claims []experiment.Claim, id string, tb *table.Table) judge.Verdict {
	t.Helper()
	return experimenttest.Judge(t, claims, id, tb, nil).Verdict
}

const madeTrials = 8

// madeTable returns an empty table of an experiment.
func madeTable(s experiment.Spec) *table.Table {
	return table.New(append([]string{"job", "cell", "trial"}, s.Columns.Texts()...), s.Columns.Numbers())
}

// fig3Table has the given error of each method in every problem; odd makes
// POLA's error in that many problems larger than all others'. A small spread
// over trials makes intervals positive.
func fig3Table(errs map[string]float64, odd int, separated map[string]float64) *table.Table {
	tb := madeTable(Fig3)
	for p, d := range allDigitPairs() {
		cell := d.String()
		for trial := range madeTrials {
			for _, m := range []string{euclidean, pola, polaTop, fdaPlain, fdaRidge, rcaPlain, rcaRidge, rcaPCA} {
				e := errs[m]
				if p < odd && (m == pola || m == polaTop) {
					e = 0.9
				}
				tb.Add(table.Key{"cell": cell, "trial": strconv.Itoa(trial), "kind": "error", "method": m},
					table.Values{"error": e + 1e-4*float64(trial%3)*e})
			}
			if d == plottedDigits {
				for m, v := range separated {
					for _, split := range []string{onTraining, onHeldOut} {
						tb.Add(table.Key{"cell": cell, "trial": strconv.Itoa(trial), "kind": "separable", "method": m, "split": split}, table.Values{"value": v})
					}
				}
			}
		}
	}
	return tb
}

// Each claim is reproduced on a table made to support it and not on its
// opposite: a sign turned round would be the worst error of all.
func TestFig3ClaimsPointTheRightWay(t *testing.T) {
	supports := map[string]float64{euclidean: .04, pola: .01, polaTop: .02, fdaPlain: .05, fdaRidge: .04, rcaPlain: .2, rcaRidge: .1, rcaPCA: .03}
	opposes := map[string]float64{euclidean: .01, pola: .05, polaTop: .06, fdaPlain: .02, fdaRidge: .02, rcaPlain: .02, rcaRidge: .02, rcaPCA: .03}
	yes := fig3Table(supports, 0, map[string]float64{pola: 1, embedPCA: 0})
	no := fig3Table(opposes, 0, map[string]float64{pola: 0, embedPCA: 1})
	for _, c := range fig3Claims {
		if v := grade(t, fig3Claims, c.ID, yes); v != judge.Reproduced {
			t.Errorf("%s on a supporting table: %s", c.ID, v)
		}
		if v := grade(t, fig3Claims, c.ID, no); v != judge.NotReproduced {
			t.Errorf("%s on an opposing table: %s", c.ID, v)
		}
	}
	oneOdd, twoOdd := fig3Table(supports, 1, nil), fig3Table(supports, 2, nil)
	for _, c := range []struct {
		id       string
		one, two judge.Verdict
	}{
		{"fig3-euclidean", judge.Partly, judge.Partly},
		{"fig3-rca-pca", judge.Reproduced, judge.Partly}, // "all but one"
	} {
		// The odd problems lose by far more than the others win, so bring the
		// mean over problems back to the claimed side with the others' margin.
		if v := grade(t, fig3Claims, c.id, rebalanced(oneOdd)); v != c.one {
			t.Errorf("%s with one problem against: %s, want %s", c.id, v, c.one)
		}
		if v := grade(t, fig3Claims, c.id, rebalanced(twoOdd)); v != c.two {
			t.Errorf("%s with two problems against: %s, want %s", c.id, v, c.two)
		}
	}
}

// rebalanced returns the table with POLA's error of 0.9 replaced by 0.05: worse
// than the other methods', but not enough to turn the mean over problems.
func rebalanced(t *table.Table) *table.Table {
	out := table.New(t.IndexNames(), t.ValueNames())
	for i := range t.Len() {
		key, values := table.Key{}, table.Values{}
		for _, n := range t.IndexNames() {
			key[n] = t.Index(n)[i]
		}
		for _, n := range t.ValueNames() {
			values[n] = t.Values(n)[i]
		}
		if values["error"] >= 0.9 {
			values["error"] = 0.05 + 1e-5*float64(i%3)
		}
		out.Add(key, values)
	}
	return out
}

func TestFig2ClaimsPointTheRightWay(t *testing.T) {
	made := func(noisyOrder, pcaAccuracy, pcaOrder, polaAccuracy, polaOrder float64) *table.Table {
		tb := madeTable(Fig2)
		for _, r := range noiseReadings {
			for trial := range madeTrials {
				for _, row := range []struct {
					kind, method string
					v            float64
				}{{"order", fig2Noisy, noisyOrder}, {"accuracy", fig2Noisy, pcaAccuracy}, {"accuracy", "PCA", pcaAccuracy}, {"order", "PCA", pcaOrder},
					{"accuracy", pola, polaAccuracy}, {"order", pola, polaOrder}} {
					tb.Add(table.Key{"cell": r.String(), "trial": strconv.Itoa(trial), "kind": row.kind, "method": row.method},
						table.Values{"value": row.v + 1e-4*float64(trial%3)})
				}
			}
		}
		return tb
	}
	yes, no := made(.55, .6, .5, .99, .98), made(.9, .95, .9, .6, .6)
	for _, c := range fig2Claims {
		if v := grade(t, fig2Claims, c.ID, yes); v != judge.Reproduced {
			t.Errorf("%s on a supporting table: %s", c.ID, v)
		}
		if v := grade(t, fig2Claims, c.ID, no); v != judge.NotReproduced {
			t.Errorf("%s on an opposing table: %s", c.ID, v)
		}
	}
}

func TestTheorem1ClaimsPointTheRightWay(t *testing.T) {
	made := func(loss, mistakes, lemma, printed, padded float64) *table.Table {
		tb := madeTable(Theorem1)
		for i, s := range theorem1Streams {
			for trial := range madeTrials {
				l := loss
				if i == 1 {
					l *= padded
				}
				tb.Add(table.Key{"cell": s.name(), "trial": strconv.Itoa(trial), "kind": "round"}, table.Values{"round": 1,
					"squared_loss": l, "mistakes": mistakes, "bound": 1, "lemma_left": lemma, "lemma_right": 1, "printed_left": printed, "printed_right": 1})
			}
		}
		return tb
	}
	yes, no := made(.5, .5, .5, .5, 1), made(2, 2, 2, 2, 1.1)
	for _, c := range theorem1Claims {
		want := judge.Reproduced
		if c.ID == "theorem1-dimension" { // both sides are one stream
			want = judge.ByConstruction
		}
		if v := grade(t, theorem1Claims, c.ID, yes); v != want {
			t.Errorf("%s on a supporting table: %s", c.ID, v)
		}
		if v := grade(t, theorem1Claims, c.ID, no); v != judge.NotReproduced {
			t.Errorf("%s on an opposing table: %s", c.ID, v)
		}
	}
}

func TestFig4ClaimsPointTheRightWay(t *testing.T) {
	const segments = 20
	made := func(nn, pola, perceptronError, chosen, otherMargins, irrelevant float64) *table.Table {
		tb := madeTable(Fig4)
		add := func(setting, topic, method string, e float64) {
			for s := range segments {
				noise := 1e-3 * float64(s%3)
				tb.Add(table.Key{"cell": topic + " " + setting, "trial": "0", "kind": "errors", "topic": topic, "setting": setting, "method": method, "segment": strconv.Itoa(s)},
					table.Values{"relevant": 10, "irrelevant": irrelevant, "missed": 10*e + noise, "alarms": irrelevant * e})
			}
		}
		for _, v := range vocabularies {
			for _, topic := range fig4Topics {
				for _, form := range polaForms {
					for _, rule := range pairRules {
						add(v.key, topic, rule.method(form.relax), pola)
					}
				}
				add(v.key, topic, oneNN, nn)
				add(v.key, topic, perceptron, perceptronError)
				for _, m := range paumGrid {
					if m == paumChosen {
						add(v.key, topic, m.method(), chosen)
					} else {
						add(v.key, topic, m.method(), otherMargins)
					}
				}
			}
		}
		return tb
	}
	yes, no := made(.3, .1, .12, .09, .4, 190), made(.05, .3, .05, .07, .06, 90)
	for _, c := range fig4Claims {
		if c.ID == "fig4-topics" { // a check of the program
			if v := grade(t, fig4Claims, c.ID, yes); v != judge.ByConstruction {
				t.Errorf("%s: %s", c.ID, v)
			}
			continue
		}
		if v := grade(t, fig4Claims, c.ID, yes); v != judge.Reproduced {
			t.Errorf("%s on a supporting table: %s", c.ID, v)
		}
		if v := grade(t, fig4Claims, c.ID, no); v != judge.NotReproduced {
			t.Errorf("%s on an opposing table: %s", c.ID, v)
		}
	}
}

func TestRingsClaimPointsTheRightWay(t *testing.T) {
	made := func(plain, kernel float64) *table.Table {
		tb := madeTable(Rings)
		for trial := range madeTrials {
			for method, e := range map[string]float64{euclidean: .27, pola: plain, kernelGaussian: kernel, kernelQuadratic: kernel} {
				for i, v := range []float64{1 - e, e} { // the last checkpoint counts
					tb.Add(table.Key{"cell": "rings", "trial": strconv.Itoa(trial), "kind": "error", "method": method, "pairs": strconv.Itoa(500 * (i + 1))},
						table.Values{"error": v + 1e-4*float64(trial%3)})
				}
			}
		}
		return tb
	}
	for _, c := range []struct {
		name          string
		plain, kernel float64
		want          judge.Verdict
	}{
		{"supporting", .3, .01, judge.Reproduced},
		{"opposing", .01, .4, judge.NotReproduced},
		{"better than the rivals, but above 5 %", .3, .1, judge.Partly},
	} {
		if v := grade(t, Rings.Claims, "rings-kernel", made(c.plain, c.kernel)); v != c.want {
			t.Errorf("%s table: %s, want %s", c.name, v, c.want)
		}
	}
}

// Each claim of the other readings is reproduced on a table made to support it and not on its opposite.
func TestReadingsClaimsPointTheRightWay(t *testing.T) {
	made := func(errs map[string]float64, separated float64) *table.Table {
		tb := madeTable(Readings)
		for _, d := range allDigitPairs() {
			for trial := range madeTrials {
				for m, e := range errs {
					tb.Add(table.Key{"cell": d.String(), "trial": strconv.Itoa(trial), "kind": "error", "method": m}, table.Values{"error": e + 1e-4*float64(trial%3)*e, "k": 1})
				}
				if d == plottedDigits {
					tb.Add(table.Key{"cell": d.String(), "trial": strconv.Itoa(trial), "kind": "separable", "method": pola}, table.Values{"value": separated})
				}
			}
		}
		return tb
	}
	yes := map[string]float64{euclidean: .04, pola: .02, polaHalf: .02, polaPCA: .02, polaTopOwnK: .02, fdaPlainOwn: .05, fdaRidgeOwn: .04}
	no := map[string]float64{euclidean: .01, pola: .05, polaHalf: .05, polaPCA: .03, polaTopOwnK: .06, fdaPlainOwn: .02, fdaRidgeOwn: .02}
	for _, x := range rcaRivals() {
		yes[x], no[x] = .06, .01
	}
	for _, c := range readingsClaims {
		if v := grade(t, readingsClaims, c.ID, made(yes, 1)); v != judge.Reproduced {
			t.Errorf("%s on a supporting table: %s", c.ID, v)
		}
		if v := grade(t, readingsClaims, c.ID, made(no, 0)); v != judge.NotReproduced {
			t.Errorf("%s on an opposing table: %s", c.ID, v)
		}
	}
}

// Chunklets of a size hold images of one digit; one per digit holds all.
func TestChunklets(t *testing.T) {
	y := []int{0, 8, 0, 8, 0, 8, 0}
	if got, want := chunklets(y, 2), []int{0, 1, 0, 1, 2, -1, 2}; !slices.Equal(got, want) {
		t.Errorf("chunklets of 2: %v, want %v", got, want)
	}
	if got := chunklets(y, 0); !slices.Equal(got, y) {
		t.Errorf("one per digit: %v", got)
	}
}

// Each claim on batch POLA and on the bounds is reproduced on a table made to support it and not on its opposite.
func TestBatchAndBoundsClaimsPointTheRightWay(t *testing.T) {
	batch := func(held, last, iterations float64) *table.Table {
		tb := madeTable(Batch)
		for _, cell := range []string{"separable", "digits"} {
			for trial := range madeTrials {
				key := func(kind, method string) table.Key {
					return table.Key{"cell": cell, "trial": strconv.Itoa(trial), "kind": kind, "method": method}
				}
				for _, m := range hypotheses {
					e := held
					if m == hypothesisLast {
						e = last
					}
					tb.Add(key("hypothesis", m), table.Values{"held_out": e * (1 + 1e-4*float64(trial%3)), "training": 0, "largest": 0, "wrong": 0})
				}
				for _, m := range []string{hypothesisPasses, hypothesisSteps} {
					bound := 100.0
					if cell == "digits" {
						bound = 0
					}
					tb.Add(key("run", m), table.Values{"iterations": iterations, "bound": bound, "converged": 1})
				}
			}
		}
		return tb
	}
	bounds := func(left float64) *table.Table {
		tb := madeTable(Bounds)
		for _, b := range []string{boundSum, boundKernel, boundRelative} {
			for trial := range madeTrials {
				tb.Add(table.Key{"cell": b, "trial": strconv.Itoa(trial), "kind": "round", "bound": b}, table.Values{"round": 1, "left": left, "right": 10})
			}
		}
		return tb
	}
	for _, c := range []struct {
		claims  []experiment.Claim
		yes, no *table.Table
	}{{batchClaims, batch(.05, .2, 50), batch(.5, .1, 200)}, {Bounds.Claims, bounds(5), bounds(20)}} {
		for _, claim := range c.claims {
			if v := grade(t, c.claims, claim.ID, c.yes); v != judge.Reproduced {
				t.Errorf("%s on a supporting table: %s", claim.ID, v)
			}
			if v := grade(t, c.claims, claim.ID, c.no); v != judge.NotReproduced {
				t.Errorf("%s on an opposing table: %s", claim.ID, v)
			}
		}
	}
}
