// Package protocol has what the rooms of logdet2012 share.
package protocol

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// ofCandidate is a parameter in the label of a candidate, as in "σ² = 0.5 medians" or
// "3 targets".
var ofCandidate = regexp.MustCompile(`^(?:(.+?)(?: =)? ([-+0-9.e]+)(.*)|([0-9.]+) (.+))$`)

// ParametersOf reads the label of a candidate: the value of each of its parameters. What it
// does not choose is "", as in "nothing to choose".
func ParametersOf(label string) map[string]float64 {
	out := map[string]float64{}
	for _, part := range strings.Split(label, ", ") {
		m := ofCandidate.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		name, number := m[1], m[2]
		if unit := strings.TrimSpace(m[3]); unit != "" {
			name += " (" + unit + ")"
		}
		if number == "" {
			name, number = m[5], m[4]
		}
		if v, err := strconv.ParseFloat(number, 64); err == nil {
			out[name] = v
		}
	}
	return out
}

// ChoicesBy returns a Spec.Choices that reads the rows of the kinds inner, which have all
// candidates, and chosen. A choice is of one parameter, for all rows that agree in the
// columns named.
func ChoicesBy(columns ...string) func(*table.Table) []experiment.Choice {
	return func(t *table.Table) (out []experiment.Choice) {
		return GatherChoices(t, columns, "chosen", func(string, string) map[string][]float64 { return nil })
	}
}

// GatherChoices collects the values of the labels of a kind of rows. The grids are those of
// the kind inner, or what grid gives for what is chosen.
func GatherChoices(t *table.Table, columns []string, kind string, grid func(what, name string) map[string][]float64) []experiment.Choice {
	var out []experiment.Choice
	find := func(what, name string) *experiment.Choice {
		full := what + ": " + name
		i := slices.IndexFunc(out, func(c experiment.Choice) bool { return c.What == full })
		if i < 0 {
			// Below one neighbour there is nothing, and below α = 0 no divergence (Theorem 4).
			i, out = len(out), append(out, experiment.Choice{What: full, NoLower: name == "targets" || name == "α"})
			out[i].Grid = grid(what, name)[name]
		}
		return &out[i]
	}
	index := make([][]string, len(columns))
	for k, c := range columns {
		index[k] = t.Index(c)
	}
	kinds, at := t.Index("kind"), t.Index("at")
	for row, label := range at {
		if kinds[row] != kind && kinds[row] != "inner" {
			continue
		}
		var names []string
		for _, column := range index {
			if column[row] != "" {
				names = append(names, column[row])
			}
		}
		what, values := strings.Join(names, ", "), ParametersOf(label)
		for _, name := range slices.Sorted(maps.Keys(values)) {
			c := find(what, name)
			if kinds[row] == kind {
				c.Chosen = append(c.Chosen, values[name])
			}
			if kinds[row] == "inner" && kind != "inner" {
				c.Grid = append(c.Grid, values[name])
			}
		}
	}
	// A method that chooses nothing names its setting, too, and has no inner rows.
	out = slices.DeleteFunc(out, func(c experiment.Choice) bool { return len(c.Grid) == 0 })
	for i := range out {
		if len(out[i].Chosen) == 0 {
			judge.Refuse("logdet2012: %s has candidates and no choice", out[i].What)
		}
		slices.Sort(out[i].Grid)
		out[i].Grid = slices.Compact(out[i].Grid)
	}
	return out
}

// The choices of each experiment.
var (
	Fig1aChoices      = ChoicesBy("database", "features", "method", "bounds")
	Fig1bcChoices     = ChoicesBy("cell", "method")
	ClusterChoices    = ChoicesBy("cell", "method")
	Fig2abChoices     = ChoicesBy("cell", "method")
	Fig3Choices       = ChoicesBy("cell", "method")
	DivergenceChoices = ChoicesBy("database", "features", "method")
)
