package experimenttest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// checkChoices returns an error unless a caption says which choices took an end of their
// grid, and unless an experiment with rows of the kind "chosen" declares its choices. Each
// must have been made, of values of its grid.
func checkChoices(s experiment.Spec, tab, times *table.Table) (err error) {
	defer judge.Refused(&err)
	if s.Choices == nil {
		if slices.ContainsFunc(s.Kinds, func(k experiment.Kind) bool { return k.Name == "chosen" }) {
			return fmt.Errorf("its table has rows of the kind \"chosen\", but Choices is nil")
		}
		return nil
	}
	choices := s.Choices(tab)
	if len(choices) == 0 {
		return errors.New("its Choices finds none in the table")
	}
	for _, c := range choices {
		if c.What == "" || len(c.Chosen) == 0 {
			return fmt.Errorf("the choice %q has no name, or was never made", c.What)
		}
		for _, v := range c.Chosen {
			if !slices.Contains(c.Grid, v) {
				return fmt.Errorf("the choice %q: %v was chosen, which is not of the grid %v", c.What, v, c.Grid)
			}
		}
	}
	note := experiment.EndsNote(choices)
	if note == "" {
		return nil
	}
	for _, v := range s.Views {
		d, err := v.DrawWith(tab, times)
		if err != nil {
			return fmt.Errorf("view %s: %w", v.Name, err)
		}
		if strings.Contains(d.Caption.String(), note) {
			return nil
		}
	}
	return fmt.Errorf("no caption says: %s Widen the grids, or append experiment.EndsNote to a caption", note)
}
