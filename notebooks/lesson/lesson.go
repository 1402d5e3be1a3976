// Package lesson is what the notebooks draw and tabulate beside what they teach: data of the lessons, panels, checks by brute
// force. A cell calls it by name, and nb.Source shows it. What an algorithm does stands in the cells themselves and in package
// plain.
package lesson

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/notebooks/nb"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
)

// within panics with what is allowed, unless least ≤ n ≤ most.
func within(what string, n, least, most int) {
	if n < least || n > most {
		panic(fmt.Sprintf("lesson: %s is %d, want %d to %d", what, n, least, most))
	}
}

// Hypothesis is what a learner of pairs holds: a pair of difference v is similar if vᵀMv ≤ B.
type Hypothesis struct {
	M *mat.SymDense
	B float64
}

// PairPanel draws a pair in the plane as an arrow, blue if similar and else vermillion, the boundary between the predictions,
// black, and where it was, dashed.
func PairPanel(title string, half float64, p metric.Pair, now, was Hypothesis) plots.Panel {
	arrow := plots.Arrow{X1: p.X[0], Y1: p.X[1]}
	if p.Label == metric.Dissimilar {
		arrow.Color = 1
	}
	marks := nb.Level(plots.Line{Color: plots.Grey, Dashed: true}, was.M, was.B, half)
	marks = append(marks, nb.Level(plots.Line{Color: 6}, now.M, now.B, half)...)
	return nb.Square(title, half, append(marks, arrow)...)
}

// Eigenvalues are those of m, the smallest first, without round-off around 0.
func Eigenvalues(m mat.Symmetric) []float64 {
	var eig mat.EigenSym
	eig.Factorize(m, false)
	values := eig.Values(nil)
	for i, v := range values {
		values[i] = math.Round(v*1e12)/1e12 + 0 // +0 makes −0 a 0
	}
	return values
}

// OverRounds is a line of values after rounds 1, 2, ...
func OverRounds(style plots.Line, values []float64) plots.Line {
	style.Y = values
	for t := range values {
		style.X = append(style.X, float64(t+1))
	}
	return style
}

// LineOrPoint is a line, or a mark where it has one point only.
func LineOrPoint(l plots.Line) plots.Mark {
	if len(l.X) != 1 {
		return l
	}
	return plots.Points{Name: l.Name, X: l.X, Y: l.Y, Color: l.Color, Shape: 3}
}
