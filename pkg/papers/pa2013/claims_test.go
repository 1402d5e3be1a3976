package pa2013

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// world makes up what a run may have measured.
type world struct {
	sizes   func(d database) [3]float64                         // objects, features, classes
	errs    func(d database, method string) float64             // of 1,000 test rows; a share
	loss    func(d database, o online) float64                  // share of 1,000 steps
	updates func(d database, o online) float64                  // of 1,000 steps
	seconds func(d database, method string, tuned bool) float64 // of a phase
	after40 func(d database, o online, at20 float64) float64    // error after 40 %
	byC     func(d database, method string) map[string]float64  // validation errors
	tol     func(d database, o online) (error, seconds float64) // at each tolerance
}

const madeTrials = 10

// tables makes the table and the times of a world. A small spread over trials, the same
// for all methods but for its sign, makes intervals positive.
func (w world) tables() (t, times *table.Table) {
	t = table.New(slices.Concat([]string{"job", "cell", "trial"}, comparisonColumns.Texts()), comparisonColumns.Numbers())
	times = table.New(harness.TimesColumns())
	for _, d := range databases {
		for trial := range madeTrials {
			add := func(kind, method, at string, v table.Values) {
				t.Add(table.Key{"cell": d.cell, "trial": strconv.Itoa(trial), "kind": kind, "method": method, "at": at}, v)
			}
			spent := func(phase string, s float64) {
				times.Add(table.Key{"cell": d.cell, "trial": strconv.Itoa(trial), "phase": phase}, table.Values{"cpu_s": s * (1 + 1e-3*float64(trial%3))})
			}
			sizes := w.sizes(d)
			for what, n := range map[string]float64{objects: sizes[0], features: sizes[1], classesOf: sizes[2], trainRows: 1000, testRows: 1000, links: 100, similarLinks: 40, stepsTaken: 1000, repeated: 1} {
				add("size", "", what, table.Values{"count": n})
			}
			add("size", "selection", validRows, table.Values{"count": 100})
			for i, m := range allMethods {
				add("chosen", m, "", table.Values{"c": 1, "k": 1})
				for c, e := range w.byC(d, m) {
					add("selection", m, c, table.Values{"count": 100*e + 0.01*float64((trial+i)%3)})
				}
				e := 1000*w.errs(d, m) + 0.01*float64((trial+i)%3)
				for k := 1; k <= 9; k++ {
					worse := map[bool]float64{true: 0, false: 100}[k == 1]
					add("error", m, strconv.Itoa(k), table.Values{"count": e + worse, "second": e + worse})
				}
				spent(learnPhase(m), w.seconds(d, m, false))
				spent(tunePhase(m), w.seconds(d, m, true))
			}
			for i, o := range onlines {
				noise := 0.01 * float64((trial+i)%3)
				add("loss", o.name, "1000", table.Values{"count": 1000*w.loss(d, o) + noise})
				add("work", o.name, updates, table.Values{"count": w.updates(d, o) + noise})
				e := w.errs(d, o.name)
				add("snapshot", o.name, "0.05", table.Values{"count": 1000*w.after40(d, o, e) + 20 + noise})
				add("snapshot", o.name, "0.2", table.Values{"count": 1000*e + noise})
				add("snapshot", o.name, "0.4", table.Values{"count": 1000*w.after40(d, o, e) + noise})
				if o.name[3] == 'L' {
					for _, tol := range tolerances {
						e, s := w.tol(d, o)
						add("tolerance", o.name, table.Format(tol), table.Values{"count": 1000*e + noise, "second": 100})
						spent(tolerancePhase(o.name, tol), s)
					}
				}
			}
		}
	}
	return t, times
}

// supporting is a world in which most claims hold.
func supporting() world {
	return world{
		sizes: func(d database) [3]float64 {
			return [3]float64{float64(d.objects), float64(d.features), float64(d.classes)}
		},
		errs: func(d database, method string) float64 {
			return map[string]float64{"PA-LS-": .100, "PA-LS+": .101}[method] + map[bool]float64{true: .102}[method == itmlTuned || method == itmlPlain || method == euclidean] +
				map[string]float64{"PA-I+": .105, "PA-I-": .103, "PA-II+": .105, "PA-II-": .103}[method]
		},
		loss: func(d database, o online) float64 {
			l := map[string]float64{"PA-I+": .10, "PA-I-": .08, "PA-II+": .10, "PA-II-": .08, "PA-LS+": .16, "PA-LS-": .12}[o.name]
			if d.cell == "nist16" && o.name[len(o.name)-1] == '-' {
				l = .01
			}
			return l
		},
		updates: func(d database, o online) float64 {
			if o.name[3] == 'L' {
				return 1000
			}
			return 500
		},
		seconds: func(d database, method string, tuned bool) float64 {
			switch {
			case method == itmlTuned:
				return 1
			case method[len(method)-1] == '-':
				return .1
			case d.cell == "ionosphere" || d.cell == "nist16":
				return 2
			}
			return .5
		},
		after40: func(_ database, _ online, at20 float64) float64 { return at20 - .001 },
		byC:     func(database, string) map[string]float64 { return map[string]float64{"0.1": .2, "1": .1, "10": .3} },
		tol:     func(d database, o online) (float64, float64) { return .101, .02 },
	}
}

// opposing is a world with other errors, losses and times, in which they do not.
func opposing() world {
	w := supporting()
	w.errs = func(d database, method string) float64 {
		return map[string]float64{itmlTuned: .05, "PA-I+": .10, "PA-I-": .15, "PA-II+": .20, "PA-II-": .25, "PA-LS+": .30, "PA-LS-": .35}[method]
	}
	w.loss = func(d database, o online) float64 {
		l := map[string]float64{"PA-I+": .50, "PA-I-": .60, "PA-II+": .50, "PA-II-": .60, "PA-LS+": .41, "PA-LS-": .49}[o.name]
		if d.cell == "nist16" && o.name[len(o.name)-1] == '-' {
			l = .9
		}
		return l
	}
	w.seconds = func(d database, method string, tuned bool) float64 {
		switch method {
		case itmlTuned:
			return 1
		case "PA-LS-":
			return 20
		}
		return 5
	}
	return w
}

func grade(t *testing.T, id string, w world) judge.Finding {
	t.Helper()
	tb, times := w.tables()
	return experimenttest.Judge(t, comparisonClaims, id, tb, times)
}

// Where the mean of five is that of one, the finding tells the others': "about twice" holds without nist16.
func TestFindingsTellDatabases(t *testing.T) {
	w := supporting()
	w.updates = func(d database, o online) float64 {
		if o.name[3] == 'L' {
			return map[bool]float64{true: 5000, false: 1000}[d.cell == "nist16"]
		}
		return 500
	}
	f := grade(t, "fig2-updates", w)
	if f.Verdict != judge.NotReproduced || !strings.Contains(f.Reason, "nist16 10.00. Without nist16 the mean is 2.00.") {
		t.Errorf("updates: %s: %s", f.Verdict, f.Reason)
	}
	if f := grade(t, "fig2-positive", w); !strings.Contains(f.Reason, "By database: ionosphere 2.00, nist16 2.00.") {
		t.Errorf("times: %s", f.Reason)
	}
	// C matters much on one database, and nowhere else: on the whole, not everywhere.
	w.byC = func(d database, _ string) map[string]float64 {
		if d.cell == "soybean" {
			return map[string]float64{"0.1": .9, "1": .1}
		}
		return map[string]float64{"0.1": .1, "1": .1}
	}
	f = grade(t, "c-matters", w)
	if f.Verdict != judge.Partly || !strings.Contains(f.Reason, "soybean 80.") || f.Readings[1].Finding.Verdict != judge.Reproduced || f.Readings[1].Afterwards == "" {
		t.Errorf("C on soybean alone: %s: %s", f.Verdict, f.Reason)
	}
}

// The stand-in takes no part in a verdict on the paper's statements.
func TestStandInIsNotGraded(t *testing.T) {
	w, bad := supporting(), opposing()
	spoilt := w
	spoilt.errs = func(d database, m string) float64 {
		if d.standIn {
			return bad.errs(d, m)
		}
		return w.errs(d, m)
	}
	spoilt.loss = func(d database, o online) float64 {
		if d.standIn {
			return bad.loss(d, o)
		}
		return w.loss(d, o)
	}
	spoilt.seconds = func(d database, m string, tuned bool) float64 {
		if d.standIn {
			return bad.seconds(d, m, tuned)
		}
		return w.seconds(d, m, tuned)
	}
	for _, c := range comparisonClaims {
		if c.ID == "tolerance" {
			continue // ours, graded on all six
		}
		if a, b := grade(t, c.ID, w), grade(t, c.ID, spoilt); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %+v, with another stand-in %+v", c.ID, a, b)
		}
	}
}

// The printed table has a value for each database and method, and the statements that
// claims quote from it are true of it.
func TestPrintedTable(t *testing.T) {
	lower := 0
	for _, d := range databases {
		for _, m := range inTable2 {
			if v := printed[d.paper][m]; v.percent <= 0 || v.k < 1 || v.k > 25 {
				t.Errorf("%s, %s: %+v", d.paper, m, v)
			}
		}
		for i := 0; i < len(onlines); i += 2 {
			if printed[d.paper][onlines[i+1].name].percent < printed[d.paper][onlines[i].name].percent {
				lower++
			}
		}
		for _, m := range inTable2 {
			if last := slices.Contains([]string{"soybean", "BDG100", "nist16"}, d.paper); last && printed[d.paper][m].percent < printed[d.paper]["PA-LS-"].percent {
				t.Errorf("%s: %s is better than PA-LS−", d.paper, m)
			}
		}
	}
	if lower != 11 {
		t.Errorf("− is lower in %d of 18, the claim says 11", lower)
	}
}
