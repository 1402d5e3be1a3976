package pa2013

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/table"
)

// judged are the methods of Table 2, in its order; allMethods are those with ours.
var (
	judged     = slices.Concat([]string{itmlTuned}, onlineNames)
	allMethods = slices.Concat(judged, []string{itmlPlain, euclidean})
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

// couples are all pairs of judged methods.
func couples() (all []couple) {
	for i, a := range judged {
		for _, b := range judged[i+1:] {
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

// public returns those whose data the paper used: what claims are judged on.
func public(all []results) []results {
	return slices.DeleteFunc(slices.Clone(all), func(r results) bool { return r.database().standIn })
}

// named returns those with the given names; all, where none is a database of the paper.
func named(all []results, cells ...string) []results {
	if !slices.ContainsFunc(all, func(r results) bool { return r.database().cell != "" }) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(r results) bool { return !slices.Contains(cells, r.cell) })
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

// column returns a value of each trial.
func (r results) column(kind, method, at, value string) []float64 {
	return r.t.Where("kind", kind, "method", method, "at", at).Values(value)
}

// shares are the counts of some rows divided by the number of test rows.
func (r results) shares(counts []float64) []float64 { return scaledBy(1/r.size(testRows), counts) }

func scaledBy(factor float64, values []float64) []float64 {
	return floats.ScaleTo(make([]float64, len(values)), factor, values)
}

// The columns of errors by the rule for tied votes.
const (
	nearestOfTied = "count"
	firstName     = "second"
)

// optimistic are the test errors with the k, the same in all trials, of the least mean
// test error: the paper's rule for Table 2, which looks at the test rows. Of k with
// equally many errors it is the first.
func (r results) optimistic(method, column string) (errors []float64, k string) {
	least := 0.0
	for _, at := range r.t.Where("kind", "error", "method", method).Unique("at") {
		counts := r.column("error", method, at, column)
		if n := floats.Sum(counts); errors == nil || n < least { // exact: counts are whole numbers
			errors, k, least = r.shares(counts), at, n
		}
	}
	return errors, k
}

// validated are the test errors with each trial's k by validation.
func (r results) validated(method string) []float64 {
	var out []float64
	for trial, g := range r.t.Group("trial") {
		k := g.Where("kind", "chosen", "method", method).Values("k")
		e := g.Where("kind", "error", "method", method)
		if len(k) != 1 {
			judge.Refuse("pa2013: %s, trial %s: %d rows with the k of %s, want 1", r.cell, trial, len(k), method)
		}
		out = append(out, r.shares(e.Where("at", table.Format(k[0])).Values("count"))...)
	}
	return out
}

// losses are the predictive 0–1 losses at the end, by trial.
func (r results) losses(method string) []float64 {
	last := r.t.Where("kind", "loss", "method", method).Unique("at")
	return scaledBy(1/r.size(stepsTaken), r.column("loss", method, experiment.Last("losses of "+method+" on "+r.cell, last), "count"))
}

// times are CPU times of a phase in seconds, by trial; timed work is repeated, and
// this is one of the repeats. Tuning is not repeated.
func (r results) times(times *table.Table, phase string) []float64 {
	values := times.Where("cell", r.cell, "phase", phase).Values("cpu_s")
	if strings.HasPrefix(phase, learnPhase("")) {
		return scaledBy(1/r.size(repeated), values)
	}
	return values
}

// total is the time to learn with what it takes to choose C, or γ.
func (r results) total(times *table.Table, method string) []float64 {
	tune, learn := r.times(times, tunePhase(method)), r.times(times, learnPhase(method))
	judge.SameLength(r.cell+": times of "+method, tune, learn)
	return floats.AddTo(make([]float64, len(tune)), tune, learn)
}

// quotient divides entry by entry.
func quotient(a, b []float64) []float64 {
	judge.SameLength("two methods", a, b)
	return floats.DivTo(make([]float64, len(a)), a, b)
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

// difference returns a − b plus a margin.
func difference(a, b []float64, margin float64) []float64 {
	out := judge.Minus(a, b)
	floats.AddConst(margin, out)
	return out
}

// shownNames are the paper's names of methods.
func shownNames(names []string) []string {
	return strings.Split(shown.Replace(strings.Join(names, "\n")), "\n")
}

// shown turns the names of methods, which are keys, into the paper's.
var shown = strings.NewReplacer("I+", "I⁺", "I-", "I⁻", "LS+", "LS⁺", "LS-", "LS⁻")
