package frame

import (
	"slices"
	"strings"

	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// Test is that of a claim.
type Test func(t *table.Table) judge.Test

// Units are what a claim speaks of, each with its numbers.
type Units func(t *table.Table) []judge.Unit

// Unit is one unit: a measure of the table.
func Unit(name string, m Measure) Units {
	return func(t *table.Table) []judge.Unit { return []judge.Unit{{Name: name, Diffs: m(t)}} }
}

// Over is a unit for each of some values.
func Over[T any](values []T, unit func(T) (name string, m Measure)) Units {
	return func(t *table.Table) (out []judge.Unit) {
		for _, v := range values {
			name, m := unit(v)
			out = append(out, judge.Unit{Name: name, Diffs: m(t)})
		}
		return out
	}
}

// OverCells is a unit for each of some cells of a column, of the rows with that cell.
func OverCells(column string, cells []string, m Measure) Units {
	return Over(cells, func(cell string) (string, Measure) { return cell, m.Where(column, cell) })
}

// OverGroups is a unit for each combination of cells that a table has in some columns, of the rows with these.
func OverGroups(m Measure, columns ...string) Units {
	return func(t *table.Table) (out []judge.Unit) {
		for cells, g := range t.Groups(columns...) {
			out = append(out, judge.Unit{Name: strings.Join(cells, ", "), Diffs: m(g)})
		}
		return out
	}
}

// Together are the units of each.
func Together(all ...Units) Units {
	return func(t *table.Table) (out []judge.Unit) {
		for _, u := range all {
			out = append(out, u(t)...)
		}
		return out
	}
}

// Where are the units of the rows with some cells.
func (u Units) Where(nameValue ...string) Units {
	return func(t *table.Table) []judge.Unit { return u(t.Where(nameValue...)) }
}

// Named are the units with more words before and after their names.
func (u Units) Named(before, after string) Units {
	return func(t *table.Table) []judge.Unit {
		out := u(t)
		for i := range out {
			out[i].Name = before + out[i].Name + after
		}
		return out
	}
}

// Positive tests that the numbers are positive in every unit; see judge.Positive.
func Positive(rule judge.Rule, u Units) Test { return AllBut(0, rule, u) }

// AllBut is Positive in all units but some.
func AllBut(exceptions int, rule judge.Rule, u Units) Test {
	return func(t *table.Table) judge.Test {
		return judge.Positive{Units: u(t), Exceptions: exceptions, Rule: rule}
	}
}

// Equivalent tests that the numbers are within a margin of zero in a share of the units; see judge.Equivalent.
func Equivalent(margin, share float64, rule judge.Rule, u Units) Test {
	return func(t *table.Table) judge.Test {
		return judge.Equivalent{Units: u(t), Margin: margin, Share: share, Rule: rule}
	}
}

// Values is Equivalent of differences to printed numbers, of which it says how many lie in our intervals.
func Values(margin, share float64, rule judge.Rule, u Units) Test {
	return func(t *table.Table) judge.Test {
		return judge.Equivalent{Units: u(t), Margin: margin, Share: share, Printed: true, Rule: rule}
	}
}

// Printed tests a printed number against the mean of a measure; see judge.Number.
func Printed(theirs float64, ours Measure, tolerance float64) Test {
	return func(t *table.Table) judge.Test {
		return judge.Number{Theirs: theirs, Ours: ours(t), Tolerance: tolerance}
	}
}

// Ratio tests the quotient of the means of two measures; see judge.Ratio. asked is all but its numbers.
func Ratio(asked judge.Ratio, over, under Measure) Test {
	return func(t *table.Table) judge.Test {
		r := asked
		r.Over, r.Under = over(t), under(t)
		return r
	}
}

// Always tests a statement about the rows of a trial; see judge.Holds.
func Always(is func(trial *table.Table) bool) Test {
	return func(t *table.Table) judge.Test {
		var out judge.Holds
		for _, g := range t.Group("trial") {
			out = append(out, is(g))
		}
		return out
	}
}

// NeverNegative tests that no number of a measure is negative; see judge.Holds.
func NeverNegative(m Measure) Test {
	return Always(func(trial *table.Table) bool {
		return !slices.ContainsFunc(m(trial), func(v float64) bool { return !(v >= 0) })
	})
}

// Reading is the test of a claim under one way to read it; see judge.Reading.
type Reading struct {
	Name       string
	Test       Test
	Afterwards string
}

// Readings is a test under several readings; see judge.Readings.
func Readings(readings ...Reading) Test {
	return func(t *table.Table) judge.Test {
		var out judge.Readings
		for _, r := range readings {
			out = append(out, judge.Reading{Name: r.Name, Test: r.Test(t), Afterwards: r.Afterwards})
		}
		return out
	}
}

// Under is a test under the readings that a list gives.
func Under[T any](readings []T, reading func(T) (name string, test Test)) Test {
	var out []Reading
	for _, r := range readings {
		name, test := reading(r)
		out = append(out, Reading{Name: name, Test: test})
	}
	return Readings(out...)
}

// UnderNames is Under of readings that are their own names.
func UnderNames(names []string, test func(name string) Test) Test {
	return Under(names, func(name string) (string, Test) { return name, test(name) })
}

// Headline is the test whose verdict is that of the reading of a name, "" for the first, and says why; see judge.Reading.
func (x Test) Headline(name, why string) Test {
	return func(t *table.Table) judge.Test {
		readings, ok := x(t).(judge.Readings)
		i := slices.IndexFunc(readings, func(r judge.Reading) bool { return name == "" || r.Name == name })
		if !ok || i < 0 {
			judge.Refuse("no reading %q to give the verdict", name)
		}
		readings = slices.Clone(readings)
		readings[i].Headline = why
		return readings
	}
}

// AsParts is the test whose readings are parts of the statement, of which all must hold; see judge.Both.
func (x Test) AsParts() Test {
	return func(t *table.Table) judge.Test {
		readings, ok := x(t).(judge.Readings)
		if !ok {
			judge.Refuse("no readings to be parts")
		}
		return judge.Both(readings)
	}
}

// Why a reading is the headline: it is the paper's own setting, or runs the program that the paper names.
const (
	AsPrinted    = "as printed"
	NamedProgram = "the program that the paper names"
)

// Parts tests a statement of several parts that must all hold; see judge.Both. Parts are pairs of a name and a Test.
func Parts(names []string, tests ...Test) Test {
	return func(t *table.Table) judge.Test {
		var out judge.Both
		for i, name := range names {
			out = append(out, judge.Reading{Name: name, Test: tests[i](t)})
		}
		return out
	}
}

// Check is the test of what is proved, or cannot fail, and why; see judge.Check.
func (x Test) Check(why string, cases int) Test {
	return func(t *table.Table) judge.Test { return judge.Check{Test: x(t), Why: why, Cases: cases} }
}

// StandIn is the test on other data than the claim is about; see judge.StandIn.
func (x Test) StandIn(where string) Test {
	return func(t *table.Table) judge.Test { return judge.StandIn{Where: where, Test: x(t)} }
}

// Margin is a test with a margin of our own, and says where its verdict turns; see judge.Margin. asked is
// all but its Test.
func Margin(asked judge.Margin, test func(value float64) Test) Test {
	return func(t *table.Table) judge.Test {
		m := asked
		m.Test = func(value float64) judge.Test { return test(value)(t) }
		return m
	}
}

// Told is the test with its numbers in other words; words gives all but judge.Shown's Test.
func (x Test) Told(words func(t *table.Table) judge.Shown) Test {
	return func(t *table.Table) judge.Test {
		s := words(t)
		s.Test = x(t)
		return s
	}
}

// Where is the test of the rows with some cells.
func (x Test) Where(nameValue ...string) Test {
	return func(t *table.Table) judge.Test { return x(t.Where(nameValue...)) }
}

// On is the test of the rows made of a table.
func (x Test) On(rows Rows) Test {
	return func(t *table.Table) judge.Test { return x(rows(t)) }
}
