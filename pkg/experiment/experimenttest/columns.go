package experimenttest

import (
	"fmt"
	"math"
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// checkRows returns an error unless the rows of an experiment are of declared kinds, and
// the columns are filled only in rows of the kinds that their declarations name.
func checkRows(s experiment.Spec, tab *table.Table) error {
	kinds, err := kindsOf(s, tab)
	if err != nil {
		return err
	}
	for name, c := range columnsOf(s) {
		for i, kind := range kinds {
			if filled(tab, c, name, i) && c.Kinds != nil && !slices.Contains(c.Kinds, kind) {
				return fmt.Errorf("%s: column %s is filled in row %d of kind %q, declared is %q", s.ID, name, i, kind, c.Kinds)
			}
		}
	}
	return nil
}

// checkFilled returns an error unless each declared kind that is not rare occurs in the rows,
// and each column is filled in some row of every kind in which it may be and that occurs:
// what is declared is there. It is for complete tables.
func checkFilled(s experiment.Spec, tab *table.Table) error {
	kinds, err := kindsOf(s, tab)
	if err != nil {
		return err
	}
	absent := map[string]bool{}
	for _, k := range s.Kinds {
		absent[k.Name] = !slices.Contains(kinds, k.Name)
		if absent[k.Name] && !k.Rare {
			return fmt.Errorf("%s: no row is of the kind %q", s.ID, k.Name)
		}
	}
	for name, c := range columnsOf(s) {
		seen := map[string]bool{}
		for i, kind := range kinds {
			if filled(tab, c, name, i) {
				seen[kind] = true
			}
		}
		want := c.Kinds
		if want == nil {
			want = []string{""}
			if len(s.Kinds) > 0 {
				want = nil
			}
			for _, k := range s.Kinds {
				want = append(want, k.Name)
			}
		}
		for _, k := range want {
			if !seen[k] && !absent[k] {
				return fmt.Errorf("%s: column %s is not filled in any row of kind %q", s.ID, name, k)
			}
		}
	}
	return nil
}

// kindsOf are the kinds of the rows, "" where none are declared.
func kindsOf(s experiment.Spec, tab *table.Table) ([]string, error) {
	if len(s.Kinds) == 0 {
		return make([]string, tab.Len()), nil
	}
	kinds := tab.Index(experiment.KindColumn)
	for i, kind := range kinds {
		if !slices.ContainsFunc(s.Kinds, func(k experiment.Kind) bool { return k.Name == kind }) {
			return nil, fmt.Errorf("%s: row %d is of kind %q, which is not declared", s.ID, i, kind)
		}
	}
	return kinds, nil
}

// columnsOf are the declarations by the names in a table.
func columnsOf(s experiment.Spec) map[string]experiment.Column {
	out := map[string]experiment.Column{}
	for _, c := range s.Columns {
		for _, name := range c.Names() {
			out[name] = c
		}
	}
	return out
}

func filled(tab *table.Table, c experiment.Column, name string, row int) bool {
	if c.Text {
		return tab.Index(name)[row] != ""
	}
	return !math.IsNaN(tab.Values(name)[row])
}
