package rmp2007

import (
	"fmt"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
	"slices"
	"strconv"
)

// whole reads a cell of a column of names that holds a whole number, such as a round.
func whole(column, cell string) int {
	n, err := strconv.Atoi(cell)
	if err != nil {
		judge.Refuse("rmp2007: %s %q, want a whole number", column, cell)
	}
	return n
}

// shown lists the numbers in a column of names, in ascending order.
func shown(t *table.Table, column string) []int {
	var out []int
	for _, cell := range t.Unique(column) {
		out = append(out, whole(column, cell))
	}
	slices.Sort(out)
	return out
}

// addMean adds the mean over trials to a line, and its interval to the band.
func addMean(line *plots.Line, x, scale float64, trials []float64) {
	mean, half := judge.Summarize(trials).Interval()
	line.X, line.Y = append(line.X, x), append(line.Y, scale*mean)
	line.Lo, line.Hi = append(line.Lo, scale*(mean-half)), append(line.Hi, scale*(mean+half))
}

// trialsNote describes the intervals of a figure.
func trialsNote(t *table.Table) string {
	return experiment.TrialsNote(t, ", which cover the random draws of a trial and nothing else")
}

func plusMinus(v []float64) string {
	if len(v) == 0 {
		return "–"
	}
	s := judge.Summarize(v)
	if !s.HasInterval {
		return fmt.Sprintf("%.4f", s.Mean)
	}
	return fmt.Sprintf("%.4f ± %.4f", s.Mean, s.Half)
}
