package experiment

import (
	"fmt"
	"slices"
	"strings"

	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Choice is a number that trials choose from a grid, such as a width by cross-validation.
// An end of the grid that most of them choose says that the best value may lie beyond it:
// the grid is then widened, or a caption says so (EndsNote). A test of the published
// tables holds an experiment to that.
type Choice struct {
	// What names the number and what it is chosen for, as in "wine, LMNN: μ".
	What string
	// Grid holds the values to choose from, in any order. A grid of one value is no choice.
	Grid []float64
	// Chosen holds the value of each choice that was made.
	Chosen []float64
	// NoLower and NoHigher say that no value beyond that end is possible, or has a meaning,
	// as below one neighbour.
	NoLower, NoHigher bool
}

// AtEnd returns the end of the grid that more than half of the choices took, and their
// number; ok is false if there is none, or if nothing lies beyond it.
func (c Choice) AtEnd() (end float64, n int, ok bool) {
	grid := slices.Compact(slices.Sorted(slices.Values(c.Grid)))
	if len(grid) < 2 {
		return 0, 0, false
	}
	for i, end := range []float64{grid[0], grid[len(grid)-1]} {
		n := 0
		for _, v := range c.Chosen {
			if v == end {
				n++
			}
		}
		if beyond := !c.NoLower && i == 0 || !c.NoHigher && i == 1; beyond && 2*n > len(c.Chosen) {
			return end, n, true
		}
	}
	return 0, 0, false
}

// EndsNote says in a caption which choices took an end of their grid; it is "" if none did.
func EndsNote(choices []Choice) string {
	var at []string
	for _, c := range choices {
		if end, n, ok := c.AtEnd(); ok {
			at = append(at, fmt.Sprintf("%s (%s, %d of %d)", c.What, table.Format(end), n, len(c.Chosen)))
		}
	}
	if at == nil {
		return ""
	}
	return "Most choices took an end of the grid, beyond which nothing was tried, of: " + strings.Join(at, "; ") + "."
}

// WithEnds returns the Draw of a view whose caption ends with the EndsNote of the choices
// in its table.
func WithEnds(draw func(*table.Table) (plots.Drawing, error), choices func(*table.Table) []Choice) func(*table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (d plots.Drawing, err error) {
		defer judge.Refused(&err)
		if d, err = draw(t); err == nil {
			d.Caption.Ends = EndsNote(choices(t))
		}
		return d, err
	}
}
