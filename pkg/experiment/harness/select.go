package harness

import (
	"fmt"
	"slices"
	"strings"

	"metriclab/internal/closest"
	"metriclab/pkg/experiment"
)

// Selected is one experiment of one paper.
type Selected struct {
	Paper experiment.Paper
	Spec  experiment.Spec
}

// UnknownError says that a name is not known and what may have been meant.
type UnknownError struct {
	Kind    string // "experiment", "cell"
	Name    string
	Nearest []string // at most three, the nearest first; may be empty
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.Kind, e.Name)
	if len(e.Nearest) > 0 {
		s += ": did you mean " + strings.Join(e.Nearest, " or ") + "?"
	}
	return s
}

// Select returns the experiments of the given names in the order of papers. A
// name is a paper's key, an experiment's ID, or the ID's part after the slash
// if only one experiment has it. No names select everything. An unknown name
// gives an *UnknownError.
func Select(papers []experiment.Paper, names []string) ([]Selected, error) {
	var all []Selected
	var known []string
	short := map[string]int{}
	for _, p := range papers {
		known = append(known, p.Key)
		for _, s := range p.Experiments {
			all = append(all, Selected{p, s})
			known = append(known, s.ID)
			short[shortName(s.ID)]++
		}
	}
	if len(names) == 0 {
		return all, nil
	}
	chosen := make([]bool, len(all))
	for _, name := range names {
		found := false
		for i, s := range all {
			if name == s.Paper.Key || name == s.Spec.ID || name == shortName(s.Spec.ID) && short[name] == 1 {
				chosen[i], found = true, true
			}
		}
		if !found {
			for s, n := range short {
				if n == 1 {
					known = append(known, s)
				}
			}
			var same []string // of several papers
			for _, s := range all {
				if shortName(s.Spec.ID) == name {
					same = append(same, s.Spec.ID)
				}
			}
			if same == nil {
				same = nearest(name, known)
			}
			return nil, &UnknownError{Kind: "experiment", Name: name, Nearest: same}
		}
	}
	var out []Selected
	for i, s := range all {
		if chosen[i] {
			out = append(out, s)
		}
	}
	return out, nil
}

func shortName(id string) string {
	_, name, _ := strings.Cut(id, "/")
	return name
}

// nearest returns at most three of the known names within an edit distance
// of a third of the longer name, at least 2, or of which name is a part;
// sorted by distance, then by name.
func nearest(name string, known []string) []string {
	type candidate struct {
		name string
		d    int
	}
	var c []candidate
	for _, k := range known {
		d := closest.Distance(strings.ToLower(name), strings.ToLower(k))
		if d <= max(2, max(len(name), len(k))/3) || len(name) > 2 && strings.Contains(k, name) {
			c = append(c, candidate{k, d})
		}
	}
	slices.SortFunc(c, func(a, b candidate) int {
		if a.d != b.d {
			return a.d - b.d
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, x := range c {
		if len(out) < 3 && !slices.Contains(out, x.name) {
			out = append(out, x.name)
		}
	}
	return out
}
