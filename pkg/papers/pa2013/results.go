package pa2013

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// inTable2 are the methods of Table 2, in its order; allMethods are those with ours.
var (
	inTable2   = slices.Concat([]string{itmlTuned}, onlineNames)
	allMethods = slices.Concat(inTable2, []string{itmlPlain, euclidean})
)

// onlineNames are the names of the online methods.
var onlineNames = func() (names []string) {
	for _, o := range onlines {
		names = append(names, o.name)
	}
	return names
}()

// couple is a pair of methods that are compared.
type couple struct{ a, b string }

func (c couple) String() string { return c.a + " and " + c.b }

// couples are every two methods of Table 2.
func couples() (all []couple) {
	for i, a := range inTable2 {
		for _, b := range inTable2[i+1:] {
			all = append(all, couple{a, b})
		}
	}
	return all
}

// versions are the two methods of a rule; their name has no sign.
type versions struct {
	rule pairs.PARule
	name string
}

var rules = []versions{{pairs.PAI, "PA-I"}, {pairs.PAII, "PA-II"}, {pairs.PALS, "PA-LS"}}

func (v versions) String() string { return v.rule.String() }
func (v versions) plus() string   { return v.name + "+" }
func (v versions) minus() string  { return v.name + "-" }

// results reads the rows of one database of a comparison.
type results struct {
	cell string
	t    *table.Table
}

// resultsOf returns the databases that a table has.
func resultsOf(t *table.Table) []results {
	var out []results
	for cell, g := range t.Group("cell") {
		out = append(out, results{cell, g})
	}
	return out
}

// public are the rows of databases whose data the paper used: what claims are graded on.
var public = cellsThat(func(cell string) bool { return !results{cell: cell}.database().standIn })

// named are the rows of the named databases; all rows, where none is of a database of the paper.
func named(cells ...string) frame.Rows {
	return func(t *table.Table) *table.Table {
		if !slices.ContainsFunc(resultsOf(t), func(r results) bool { return r.database().cell != "" }) {
			return t
		}
		return cellsThat(func(cell string) bool { return slices.Contains(cells, cell) })(t)
	}
}

// cellsThat are the rows of some databases, in their order.
func cellsThat(keep func(cell string) bool) frame.Rows {
	return func(t *table.Table) *table.Table {
		return frame.Only("cell", slices.DeleteFunc(t.Unique("cell"), func(cell string) bool { return !keep(cell) })...)(t)
	}
}

// resultsIn are those of the one database that some rows are of.
func resultsIn(rows *table.Table) results {
	return results{experiment.FirstName(rows, "cell"), rows}
}

// database returns what the paper says of it; the zero value for generated data.
func (r results) database() database {
	for _, d := range append(slices.Clone(databases), bdg10) {
		if d.cell == r.cell {
			return d
		}
	}
	return database{}
}

// title names the database for a reader.
func (r results) title() string {
	if d := r.database(); d.standIn {
		return r.cell + " (stand-in for " + d.paper + ")"
	}
	return r.cell
}

// size returns a size; all trials have the same.
func (r results) size(what string) float64 { return r.sizeIn("", what) }

// sizeIn returns a size of the part of the rows on which C is chosen, for "selection".
func (r results) sizeIn(of, what string) float64 {
	return experiment.First(r.t.Where("kind", "size", "method", of, "at", what), "count")
}

// testRatio is n_test/n_train of the splits.
func (r results) testRatio() float64 {
	return experiment.SizeRatio(r.cell+": test to training rows", r.size(testRows), r.size(trainRows))
}

// summary is the mean over the splits with the corrected resampled interval.
func (r results) summary(values []float64) judge.Summary {
	return judge.SummarizeResampled(values, r.testRatio())
}

// column is a value of each trial.
func column(kind, method, at, value string) frame.Measure {
	return frame.Column(value).Where("kind", kind, "method", method, "at", at)
}

// ofSize is a measure of one database over a size; see results.sizeIn.
func ofSize(m frame.Measure, of, what string) frame.Measure {
	return func(t *table.Table) []float64 { return m.Times(1 / resultsIn(t).sizeIn(of, what))(t) }
}

// The columns of errors by the rule for tied votes.
const (
	nearestOfTied = "count"
	firstName     = "second"
)

// bestK is the number of neighbours, the same in all trials, of the least mean test error: the
// paper's rule for Table 2, which looks at the test rows. Of those with equally many errors it is
// the first.
func (r results) bestK(method, value string) (k string) {
	least := math.Inf(1)
	for at, g := range r.t.Where("kind", "error", "method", method).Group("at") {
		if n := floats.Sum(g.Values(value)); n < least { // exact: counts are whole numbers
			k, least = at, n
		}
	}
	return k
}

// optimistic are the test errors with bestK neighbours.
func optimistic(method, value string) frame.Measure {
	return ofSize(func(t *table.Table) []float64 {
		return column("error", method, resultsIn(t).bestK(method, value), value)(t)
	}, "", testRows)
}

// validated are the test errors with each trial's k by validation.
func validated(method string) frame.Measure {
	return ofSize(func(t *table.Table) (out []float64) {
		for trial, g := range t.Group("trial") {
			k := g.Where("kind", "chosen", "method", method).Values("k")
			if len(k) != 1 {
				judge.Refuse("pa2013: trial %s: %d rows with the k of %s, want 1", trial, len(k), method)
			}
			out = append(out, column("error", method, table.Format(k[0]), "count")(g)...)
		}
		return out
	}, "", testRows)
}

// losses are the predictive 0–1 losses at the end, by trial.
func losses(method string) frame.Measure {
	return ofSize(func(t *table.Table) []float64 {
		return column("loss", method, experiment.Last("losses of "+method, t.Where("kind", "loss", "method", method).Unique("at")), "count")(t)
	}, "", stepsTaken)
}

// spent are CPU times of a phase in seconds, by trial; timed work is repeated, and
// this is one of the repeats. Tuning is not repeated.
func spent(times *table.Table, phase string) frame.Measure {
	m := frame.Measure(func(t *table.Table) []float64 {
		return times.Where("cell", experiment.FirstName(t, "cell"), "phase", phase).Values("cpu_s")
	})
	if strings.HasPrefix(phase, learnPhase("")) {
		return ofSize(m, "", repeated)
	}
	return m
}

// total is the time to learn with what it takes to choose C, or γ.
func total(times *table.Table, method string) frame.Measure {
	return spent(times, learnPhase(method)).Minus(spent(times, tunePhase(method)).Times(-1))
}

// relative returns the quotient of the means of a and b over the trials that are kept.
func relative(a, b []float64) func(keep func(int) bool) float64 {
	judge.SameLength("times of two methods", a, b)
	return func(keep func(int) bool) float64 {
		var sa, sb float64
		for i := range a {
			if keep(i) {
				sa, sb = sa+a[i], sb+b[i]
			}
		}
		return sa / sb
	}
}

// jackknifed returns the pseudo-values of the quotient of the means of a and b, the paper's
// "relative averaged running time"; the quotient itself for one trial. The mean of quotients
// would follow the trials in which b happens to be small.
func jackknifed(a, b []float64) []float64 {
	of := relative(a, b)
	if len(a) < 2 {
		return []float64{of(func(int) bool { return true })}
	}
	return judge.PseudoValues(len(a), of)
}

// over is jackknifed of two measures.
func over(a, b frame.Measure) frame.Measure {
	return func(t *table.Table) []float64 { return jackknifed(a(t), b(t)) }
}

// shownNames are the paper's names of methods.
func shownNames(names []string) []string {
	return strings.Split(shown.Replace(strings.Join(names, "\n")), "\n")
}

// styles are how all figures draw methods, by the paper's names: with constraints at the end lighter and dashed. A rule
// without sign is drawn as with them at each step.
var styles = plots.Styles{
	"PA-I":    {Color: plots.Blue, Shape: plots.Circle},
	"PA-I⁺":   {Color: plots.Blue, Shape: plots.Circle},
	"PA-I⁻":   {Color: plots.Sky, Dash: plots.Dashed, Shape: plots.Triangle},
	"PA-II":   {Color: plots.Vermillion, Dash: plots.LongDashed, Shape: plots.Square},
	"PA-II⁺":  {Color: plots.Vermillion, Dash: plots.LongDashed, Shape: plots.Square},
	"PA-II⁻":  {Color: plots.Orange, Dash: plots.Dotted, Shape: plots.Diamond},
	"PA-LS":   {Color: plots.Green, Dash: plots.DashDotDot, Shape: plots.Downward},
	"PA-LS⁺":  {Color: plots.Green, Dash: plots.DashDotDot, Shape: plots.Downward},
	"PA-LS⁻":  {Color: plots.Olive, Dash: plots.TwoDashes, Shape: plots.Plus},
	itmlTuned: {Color: plots.Black, Shape: plots.Cross},
	euclidean: {Color: plots.Indigo, Dash: plots.Dashed, Shape: plots.Ring},
}

// shown turns the names of methods, which are keys, into the paper's.
var shown = strings.NewReplacer("I+", "I⁺", "I-", "I⁻", "LS+", "LS⁺", "LS-", "LS⁻")
