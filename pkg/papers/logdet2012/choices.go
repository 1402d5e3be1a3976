package logdet2012

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

// parametersOf reads the label of a candidate: the value of each of its parameters. What it
// does not choose is "", as in "nothing to choose".
func parametersOf(label string) map[string]float64 {
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

// choicesBy returns a Spec.Choices that reads the rows of the kinds inner, which have all
// candidates, and chosen. A choice is of one parameter, for all rows that agree in the
// columns named.
func choicesBy(columns ...string) func(*table.Table) []experiment.Choice {
	return func(t *table.Table) (out []experiment.Choice) {
		return gatherChoices(t, columns, "chosen", func(string, string) map[string][]float64 { return nil })
	}
}

// gatherChoices collects the values of the labels of a kind of rows. The grids are those of
// the kind inner, or what grid gives for what is chosen.
func gatherChoices(t *table.Table, columns []string, kind string, grid func(what, name string) map[string][]float64) []experiment.Choice {
	var out []experiment.Choice
	find := func(what, name string) *experiment.Choice {
		full := what + ": " + name
		i := slices.IndexFunc(out, func(c experiment.Choice) bool { return c.What == full })
		if i < 0 {
			// Below one neighbour there is nothing.
			i, out = len(out), append(out, experiment.Choice{What: full, NoLower: name == "targets"})
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
		what, values := strings.Join(names, ", "), parametersOf(label)
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
	fig1aChoices      = choicesBy("database", "features", "method", "bounds")
	fig1bcChoices     = choicesBy("cell", "method")
	clusterChoices    = choicesBy("cell", "method")
	fig2abChoices     = choicesBy("cell", "method")
	fig3Choices       = choicesBy("cell", "method")
	divergenceChoices = choicesBy("database", "features", "method")
)

// fig2cdChoices reads the rows of the kind inner, which have the chosen candidate alone: the
// grids are those of full scale.
func fig2cdChoices(t *table.Table) []experiment.Choice {
	return gatherChoices(t, []string{"kernel", "method"}, "inner", func(what, _ string) map[string][]float64 {
		s, _ := planeSettingsOf(knownGraph, experiment.Full)
		cs, taus := s.Cs, s.Taus
		if strings.HasSuffix(what, ssikdrRank) {
			cs, taus = s.RankCs, s.RankTaus
		}
		return map[string][]float64{"σ² (medians)": s.Widths, "graph": s.Weights, "C": cs, "τ (of the largest)": taus, "ridge": s.Ridges}
	})
}
