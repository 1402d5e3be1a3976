package pa2013

import (
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// judged are the methods of Table 2, in its order.
func judged() []string {
	out := []string{itml}
	for _, o := range onlines {
		out = append(out, o.name)
	}
	return out
}

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

// public returns those whose data the paper used: what claims are graded on.
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
	for _, d := range databases {
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
	return experiment.Ratio(r.cell+": test to training rows", r.size(testRows), r.size(trainRows))
}

// summary is the mean over the splits with the corrected resampled interval.
func (r results) summary(values []float64) experiment.Summary {
	return experiment.SummarizeResampled(values, r.testRatio())
}

// column returns a value of each trial.
func (r results) column(kind, method, at, value string) []float64 {
	return r.t.Where("kind", kind, "method", method, "at", at).Values(value)
}

// shares are the counts of some rows divided by the number of test rows.
func (r results) shares(counts []float64) []float64 {
	out := slices.Clone(counts)
	floats.Scale(1/r.size(testRows), out)
	return out
}

// errorsAt are the test errors with k neighbours, by trial.
func (r results) errorsAt(method string, k int, column string) []float64 {
	return r.shares(r.column("error", method, strconv.Itoa(k), column))
}

// The columns of errors by the rule for tied votes.
const (
	nearestOfTied = "count"
	firstName     = "second"
)

// optimistic are the test errors with the k, the same in all trials, of the least mean
// test error: the paper's rule for Table 2, which looks at the test rows.
func (r results) optimistic(method, column string) (errors []float64, k int) {
	least := 0.0
	for _, at := range r.t.Where("kind", "error", "method", method).Unique("at") {
		kk, err := strconv.Atoi(at)
		if err != nil {
			experiment.Refuse("pa2013: %s: column at: k is %q, want a whole number", r.cell, at)
		}
		e := r.errorsAt(method, kk, column)
		if m := stat.Mean(e, nil); errors == nil || m < least {
			errors, k, least = e, kk, m
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
			experiment.Refuse("pa2013: %s, trial %s: %d rows with the k of %s, want 1", r.cell, trial, len(k), method)
		}
		out = append(out, r.shares(e.Where("at", table.Format(k[0])).Values("count"))...)
	}
	return out
}

// losses are the predictive 0–1 losses at the end, by trial.
func (r results) losses(method string) []float64 {
	last := r.t.Where("kind", "loss", "method", method).Unique("at")
	out := slices.Clone(r.column("loss", method, experiment.Last("losses of "+method+" on "+r.cell, last), "count"))
	floats.Scale(1/r.size(stepsTaken), out)
	return out
}

// times are CPU times of a phase in seconds, by trial; timed work is repeated, and
// this is one of the repeats. Tuning is not repeated.
func (r results) times(times *table.Table, phase string) []float64 {
	out := slices.Clone(times.Where("cell", r.cell, "phase", phase).Values("cpu_s"))
	if strings.HasPrefix(phase, learnPhase("")) {
		floats.Scale(1/r.size(repeated), out)
	}
	return out
}

// total is the time to learn with what it takes to choose C, or γ.
func (r results) total(times *table.Table, method string) []float64 {
	out := r.times(times, tunePhase(method))
	learn := r.times(times, learnPhase(method))
	experiment.SameLength(r.cell+": times of "+method, out, learn)
	floats.Add(out, learn)
	return out
}

// quotient divides entry by entry.
func quotient(a, b []float64) []float64 {
	experiment.SameLength("two methods", a, b)
	return floats.DivTo(make([]float64, len(a)), a, b)
}

// relative is the quotient of the means of a and b, by trial, jackknifed: the paper's
// "relative averaged running time". The mean of quotients would follow the trials in
// which b happens to be small.
func relative(a, b []float64) experiment.Summary {
	return experiment.Summarize(jackknifed(a, b))
}

// jackknifed returns the pseudo-values of that quotient; the quotient itself for one trial.
func jackknifed(a, b []float64) []float64 {
	experiment.SameLength("times of two methods", a, b)
	of := func(keep func(int) bool) float64 {
		var sa, sb float64
		for i := range a {
			if keep(i) {
				sa, sb = sa+a[i], sb+b[i]
			}
		}
		return sa / sb
	}
	if len(a) < 2 {
		return []float64{of(func(int) bool { return true })}
	}
	return experiment.PseudoValues(len(a), of)
}

// difference returns a − b plus a margin.
func difference(a, b []float64, margin float64) []float64 {
	experiment.SameLength("two methods", a, b)
	out := make([]float64, len(a))
	floats.SubTo(out, a, b)
	floats.AddConst(margin, out)
	return out
}

// shown turns the names of methods, which are keys, into the paper's.
var shown = strings.NewReplacer("I+", "I⁺", "I-", "I⁻", "LS+", "LS⁺", "LS-", "LS⁻")
