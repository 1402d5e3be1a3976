package vectors

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
)

// made makes the table of errors of 1,000 rows per data set that errs gives as shares, by
// method and reading, with a small spread over trials that differs between methods.
func made(errs func(database, method string, rd reading) float64) *table.Table {
	t := experimenttest.Table(Fig1a)
	for _, d := range protocol.Databases {
		for trial := range experimenttest.Trials {
			for _, rd := range allReadings {
				for i, m := range drawnMethods {
					if m == protocol.LogDetWider && (rd.bounds == bins || !slices.ContainsFunc(widened, func(w widening) bool { return w.Database == d && w.by.String() == rd.features })) {
						continue
					}
					bounds := rd.bounds
					if !bounded(m) {
						if rd == byBins {
							continue // the rows of asPublished
						}
						bounds = ""
					}
					for fold := range protocol.Folds {
						t.Add(table.Key{
							"cell": d.Name + rd.features, "trial": strconv.Itoa(trial), "database": d.Name, "features": rd.features,
							"kind": "wrong", "method": m, "bounds": bounds, "fold": strconv.Itoa(fold),
						}, table.Values{"value": 500*errs(d.Name, strings.TrimSuffix(m, ", wider grid"), rd) + 0.1*float64((trial+i)%3), "of": 500})
					}
				}
			}
		}
	}
	return t
}

// lead is a world in which LogDet is better by so much on the data sets named; elsewhere it is worse
// by as much. One rival is much better than the others.
func lead(by float64, sets ...string) func(database, method string, _ reading) float64 {
	return func(database, method string, _ reading) float64 {
		best := 0.10
		switch {
		case method == protocol.Lmnn:
			return best
		case !bounded(method):
			return 0.2
		}
		for _, s := range sets {
			if s == database {
				return best - by
			}
		}
		return best + by
	}
}

// "Most" is three of five, against the best rival, or against all of them on the average.
func TestClaimsPointTheRightWay(t *testing.T) {
	names := []string{"wine", "ionosphere", "balance-scale", "iris", "soybean"}
	for _, id := range []string{"fig1a-linear", "fig1a-gaussian"} {
		for n, want := range []judge.Verdict{
			judge.Partly, judge.Partly, judge.Partly, judge.Reproduced, judge.Reproduced, judge.Reproduced,
		} {
			if f := experimenttest.Judge(t, fig1aClaims, id, made(lead(0.02, names[:n]...)), nil); f.Verdict != want {
				t.Errorf("%s, better on %d of 5: %s, want %s: %s", id, n, f.Verdict, want, f.Reason)
			}
		}
		if f := experimenttest.Judge(t, fig1aClaims, id, made(lead(0.3)), nil); f.Verdict != judge.NotReproduced {
			t.Errorf("%s, worse than all rivals: %s: %s", id, f.Verdict, f.Reason)
		}
	}
}

// The two claims are each about one method.
func TestClaimsAreAboutTheirMethod(t *testing.T) {
	tb := made(func(database, method string, rd reading) float64 {
		if method == protocol.LogDetGaussian {
			return 0.5
		}
		return lead(0.02, "wine", "ionosphere", "balance-scale", "iris", "soybean")(database, method, rd)
	})
	if f := experimenttest.Judge(t, fig1aClaims, "fig1a-linear", tb, nil); f.Verdict != judge.Reproduced {
		t.Errorf("linear: %s: %s", f.Verdict, f.Reason)
	}
	if f := experimenttest.Judge(t, fig1aClaims, "fig1a-gaussian", tb, nil); f.Verdict != judge.NotReproduced {
		t.Errorf("gaussian: %s: %s", f.Verdict, f.Reason)
	}
}

// A statement that holds under one reading only is partly reproduced, and the finding names
// all readings.
func TestReadings(t *testing.T) {
	for _, holds := range allReadings {
		tb := made(func(database, method string, rd reading) float64 {
			if bounded(method) && rd != holds {
				return 0.5
			}
			return lead(0.02, "wine", "iris", "soybean")(database, method, rd)
		})
		f := experimenttest.Judge(t, fig1aClaims, "fig1a-linear", tb, nil)
		if f.Verdict != judge.Partly {
			t.Errorf("holds with %s only: %s: %s", holds, f.Verdict, f.Reason)
		}
		for _, rd := range allReadings {
			if !strings.Contains(f.Reason, rd.String()+", best rival") {
				t.Errorf("the reason does not name %s: %s", rd, f.Reason)
			}
		}
	}
	if _, err := fig1aClaims[0].Judge(made(lead(0.02)).Where("features", "zscore"), nil); err == nil {
		t.Error("without features as they are there is no error")
	}
}

// Errors are by trial and fold; the best rival is that of the least mean.
func TestResults(t *testing.T) {
	r := made(lead(0.02, "wine")).Where("features", asPublished.features, "database", "wine")
	e := ErrorOf(protocol.Lmnn)(r)
	// Trial 0 of method 6: 50 of 500 in each fold, without spread; trial 1 has 50.1.
	if len(e) != protocol.Folds*experimenttest.Trials || e[0] != 0.1 || e[1] != 0.1 || e[2] == 0.1 || e[2] != e[3] {
		t.Errorf("errors %v", e)
	}
	if got := bestRival(r); got != protocol.Lmnn {
		t.Errorf("the best rival is %s", got)
	}
}

// Views of a table without rows say what is missing, and those of half a table draw it.
func TestViewsOfPartialTables(t *testing.T) {
	empty := experimenttest.Table(Fig1a)
	half := made(lead(0.02)).Where("features", "zscore")
	for _, v := range Fig1a.Views {
		d, err := v.Draw(empty)
		if err != nil || len(d.Notes) == 0 {
			t.Errorf("%s of nothing: notes %v, error %v", v.Name, d.Notes, err)
		}
	}
	d, err := Fig1a.Views[0].Draw(half)
	if err != nil || len(d.Panels) != 1 || len(d.Text.Rows) != len(protocol.Databases) {
		t.Errorf("standardised only: %d panels, error %v", len(d.Panels), err)
	}
}

// The wider grid enters where it was run, and nowhere else; without it there is no verdict.
func TestWiderGrid(t *testing.T) {
	tb := made(lead(0.02, "wine", "ionosphere", "balance-scale"))
	for _, rd := range allReadings {
		for database, g := range tb.Where("features", rd.features).Group("database") {
			want := protocol.LogDetGaussian
			if database == "wine" || database == Ionosphere || database == "soybean" && rd.features == "zscore" {
				want = protocol.LogDetWider
			}
			if !slices.Equal(widest(g), ErrorOf(want, "bounds", percentiles)(g)) {
				t.Errorf("%s, %s: not the errors of %s", rd, database, want)
			}
		}
	}
	f := experimenttest.Judge(t, fig1aClaims, "fig1a-gaussian", tb, nil)
	known := 0
	for _, r := range f.Readings {
		if r.Afterwards == widerKnown {
			known++
		}
	}
	if known != 4 || len(f.Readings) != 10 {
		t.Errorf("%d of %d readings were added afterwards, want 4 of 10", known, len(f.Readings))
	}
	var published []int
	for i, m := range tb.Index("method") {
		if m != protocol.LogDetWider {
			published = append(published, i)
		}
	}
	if _, err := fig1aClaims[1].Judge(tb.Rows(published...), nil); err == nil || !strings.Contains(err.Error(), "no results of "+protocol.LogDetWider) {
		t.Errorf("without the wider grid the error is %v", err)
	}
}

// A cell of the wider grid has the folds and pairs of the cell whose widths it extends.
func TestWiderCellsAreThoseOfTheFigure(t *testing.T) {
	cells := Fig1a.Cells(experiment.Full)
	for _, c := range cells {
		wide := c.Settings.(fig1aSettings)
		if wide.Only == "" {
			continue
		}
		plain := cells[slices.IndexFunc(cells, func(o experiment.Cell) bool { return o.Name+", wider grid" == c.Name })]
		s := plain.Settings.(fig1aSettings)
		wide.Only, wide.Rules, wide.Widths = "", s.Rules, s.Widths
		if plain.Dataset != c.Dataset || !reflect.DeepEqual(wide, s) {
			t.Errorf("%s differs from %s in more than the grid", c.Name, plain.Name)
		}
	}
}
