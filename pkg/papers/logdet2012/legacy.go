package logdet2012

import (
	"cmp"
	"fmt"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// results are the rows of one data set, or of one scaling of the features.
type results struct {
	name   string // for a reader
	t      *table.Table
	varied string   // the column that is varied: bounds, dims or constraints
	fixed  []string // the methods that do not use what is varied

	// features and program are the scaling of counts and the program of Fig. 1(b, c); program is "" on the stand-in.
	features, program string
}

// of returns the rows of a kind and a method where the varied column has a value. It
// ignores the value for a fixed method.
func (r results) of(kind, method string, value any) *table.Table {
	g := r.t.Where("kind", kind, "method", method)
	if slices.Contains(r.fixed, method) {
		return g
	}
	return g.Where(r.varied, fmt.Sprint(value))
}

// errors are the shares of test rows that are wrong, by trial and fold.
func (r results) errors(method string, value any) []float64 {
	return shares(r.of("wrong", method, value))
}

// numbers lists the values of the varied column, which are numbers, ascending.
func (r results) numbers() []int { return r.numbersOf("wrong") }

// numbersOf is numbers in the rows of a kind.
func (r results) numbersOf(kind string) []int {
	var out []int
	for _, s := range r.t.Where("kind", kind).Unique(r.varied) {
		n, err := strconv.Atoi(s)
		if err != nil {
			judge.Refuse("%s: %w", r.varied, err)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// size is the mean of a size over the rows that have it.
func (r results) size(what string) float64 {
	return stat.Mean(r.t.Where("kind", "size", "at", what).Values("value"), nil)
}

// meanOf is the mean of columns, by trial and fold. what names them.
func meanOf(what string, columns [][]float64) []float64 {
	judge.SameLength(what, columns...)
	out := make([]float64, len(columns[0]))
	for _, c := range columns {
		floats.AddScaled(out, 1/float64(len(columns)), c)
	}
	return out
}

// relativeBound is the mean of a bound among squared distances of features, in their
// median.
func (r results) relativeBound(bounds, at string) float64 {
	return stat.Mean(shares(r.t.Where("kind", "bound", "bounds", bounds, "at", at)), nil)
}

// shares divides the values of a table by what they are of.
func shares(t *table.Table) []float64 {
	return floats.DivTo(make([]float64, t.Len()), t.Values("value"), t.Values("of"))
}

// drawn returns the Draw of a view. It reads results with of, and notes what is missing if
// there are none.
func drawn[T any](missing string, of func(*table.Table) []T, draw func(all []T) plots.Drawing) func(*table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		all := of(t)
		if len(all) == 0 {
			return plots.Missing(missing), nil
		}
		return draw(all), nil
	}
}

// addErrors adds a mean error in per cent with its interval, and returns it as text.
func addErrors(m *plots.Intervals, label string, errors []float64) string {
	s := summary(errors)
	mean, half := s.Interval()
	m.Labels, m.X, m.Err, m.Possible = append(m.Labels, label), append(m.X, 100*mean), append(m.Err, 100*half), [2]float64{0, 100}
	return s.Percent()
}

// addPoint adds a mean error in per cent with the band of its interval, and returns it as text.
func addPoint(l *plots.Line, x int, errors []float64) string {
	s := summary(errors)
	mean, half := s.Interval()
	l.X, l.Y = append(l.X, float64(x)), append(l.Y, 100*mean)
	l.Lo, l.Hi = append(l.Lo, 100*max(0, mean-half)), append(l.Hi, 100*(mean+half))
	return s.Percent()
}

// choiceHead names choiceCells.
var choiceHead = []string{"chosen (folds)", "as good as the chosen one, mean number", "of", "least and greatest error of the candidates (%)", "not converged: in choosing", "at the end", "impossible fits"}

// choiceCells says what a method has chosen where the varied column has a value.
func oldChoiceCells(r results, method string, value any) []string {
	of := func(kind string) *table.Table { return r.of(kind, method, value) }
	chosen := of("chosen")
	names := chosen.Unique("at") // the most frequent first
	times := func(at string) int { return chosen.Where("at", at).Len() }
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(times(b), times(a)) })
	for i, at := range names {
		names[i] = fmt.Sprintf("%s (%d)", at, times(at))
	}
	var means []float64 // errors of the candidates
	for _, g := range of("inner").Group("at") {
		means = append(means, floats.Sum(g.Values("value"))/floats.Sum(g.Values("of")))
	}
	spread := "–"
	if means != nil {
		spread = fmt.Sprintf("%.2f to %.2f", 100*slices.Min(means), 100*slices.Max(means))
	}
	cells := []string{strings.Join(names, "; "), fmt.Sprintf("%.1f", stat.Mean(chosen.Values("value"), nil)), fmt.Sprintf("%.0f", experiment.First(chosen, "of")), spread}
	failed := 0.0
	for _, at := range []string{choiceFits, finalFits} {
		stopped := of("stopped").Where("at", at)
		cells = append(cells, fmt.Sprintf("%.0f of %.0f", floats.Sum(stopped.Values("value")), floats.Sum(stopped.Values("of"))))
		failed += floats.Sum(of("failed").Where("at", at).Values("value"))
	}
	return append(cells, fmt.Sprintf("%.0f", failed))
}

// secondsText is a mean with its interval.
func secondsText(s judge.Summary) string {
	mean, half := s.Interval()
	if !s.HasInterval {
		return fmt.Sprintf("%.2g", mean)
	}
	return fmt.Sprintf("%.2g ± %.1g", mean, half)
}
