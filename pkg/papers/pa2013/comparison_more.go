package pa2013

import (
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Readings of results that were published before, and what is told of a finding by
// database.

// asGood is the margin within which another number of neighbours is as good as the best: 1 point.
const asGood = 0.01

// reading is a column of errors, and its name in findings.
type reading struct{ column, name string }

// tieRules are those for tied votes.
var tieRules = []reading{{nearestOfTied, "ties to the nearest"}, {firstName, "ties to the first class name"}}

// byNeighbours are the test errors of a method, by trial, for each number of neighbours.
func (r results) byNeighbours(method, value string) map[string][]float64 {
	out := map[string][]float64{}
	for _, at := range r.t.Where("kind", "error", "method", method).Unique("at") {
		out[at] = ofSize(column("error", method, at, value), "", testRows)(r.t)
	}
	return out
}

// printedK tests that the errors with the printed number of neighbours are about as small as
// the least, given the errors by number of neighbours.
func printedK(r rule, errors func(r results, method string) map[string][]float64) frame.Test {
	return func(t *table.Table) judge.Test {
		equal := 0
		units := each(inTable2, func(method string) frame.Measure {
			return func(t *table.Table) []float64 {
				byK := errors(resultsIn(t), method)
				best := leastMean(byK)
				theirs := strconv.Itoa(max(1, printed[resultsIn(t).database().paper][method].k)) // of built-in data none is printed
				equal += one(best == theirs)
				return judge.Minus(byK[theirs], byK[best])
			}
		})(t)
		return judge.Shown{
			Test: judge.Equivalent{Units: units, Margin: asGood, Share: tableShare, Rule: r(t)},
			Note: fmt.Sprintf("Equal k in %d of %d cells.", equal, len(units)),
		}
	}
}

// lessPrinted are errors of a method less the printed one.
func lessPrinted(errors frame.Measure, method string) frame.Measure {
	return func(t *table.Table) []float64 {
		return errors.Plus(-printed[resultsIn(t).database().paper][method].percent / 100)(t)
	}
}

// leastMean returns the key of the least mean; of equal ones the smallest number.
func leastMean(byK map[string][]float64) string {
	best, least := 0, 0.0
	for k := 1; ; k++ {
		values, ok := byK[strconv.Itoa(k)]
		if !ok {
			break
		}
		// Rounded: sums of counts in another order differ in the last bit, ties must not.
		if e := stat.Mean(values, nil); best == 0 || e < least-1e-12 {
			best, least = k, e
		}
	}
	if best == 0 {
		judge.Refuse("pa2013: no errors by number of neighbours")
	}
	return strconv.Itoa(best)
}

// cMatters compares the worst C with the best.
var cMatters = frame.Readings(
	frame.Reading{Name: "everywhere", Test: positive(corrected, each(onlineNames, beyondC))},
	frame.Reading{Name: "on the whole", Test: positive(corrected, whole(onlineNames, beyondC)), Afterwards: "the validation errors by C"},
).Told(func(t *table.Table) judge.Shown {
	var gains []frame.Measure
	for _, method := range onlineNames {
		gains = append(gains, gainOfC(method).Times(100))
	}
	return judge.Shown{Note: "Worst minus best, mean over the methods, in points. " + byDatabase(t, frame.Mean("trials of two methods", gains...), "%.1f")}
}).On(public)

// gainOfC is the validation error with the worst C less that with the best.
func gainOfC(method string) frame.Measure {
	return func(t *table.Table) []float64 {
		var worst, best []float64
		for _, at := range t.Where("kind", "selection", "method", method).Unique("at") {
			e := ofSize(column("selection", method, at, "count"), "selection", validRows)(t)
			if worst == nil || stat.Mean(e, nil) > stat.Mean(worst, nil) {
				worst = e
			}
			if best == nil || stat.Mean(e, nil) < stat.Mean(best, nil) {
				best = e
			}
		}
		return judge.Minus(worst, best)
	}
}

func beyondC(method string) frame.Measure { return gainOfC(method).MeanOver("cell").Plus(-equivalent) }

// byDatabase tells the mean of a measure of each database.
func byDatabase(t *table.Table, m frame.Measure, format string) string {
	var each []string
	for cell, g := range t.Group("cell") {
		each = append(each, cell+" "+fmt.Sprintf(format, stat.Mean(m(g), nil)))
	}
	return "By database: " + strings.Join(each, ", ") + "."
}

// without tells the mean of the other databases, if the named one is there and not alone.
func without(t *table.Table, m frame.Measure, name string) string {
	rest := cellsThat(func(cell string) bool { return cell != name })(t)
	if rest.Len() == t.Len() || rest.Len() == 0 {
		return ""
	}
	return fmt.Sprintf(" Without %s the mean is %.2f.", name, stat.Mean(m.MeanOver("cell")(rest), nil))
}
