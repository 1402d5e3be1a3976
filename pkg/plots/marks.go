package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// frame is the data area of a panel with its axes.
type frame struct {
	draw.Canvas
	x, y axis
	rows []string // labels of an Intervals panel, from the top
}

func (f *frame) at(x, y float64) vg.Point {
	return vg.Point{X: f.X(f.x.norm(x)), Y: f.Y(f.y.norm(y))}
}

// stroke draws the part of a polyline inside the frame.
func (f *frame) stroke(s draw.LineStyle, pts ...vg.Point) {
	f.StrokeLines(s, f.ClipLinesXY(pts)...)
}

// notes collects what a drawing leaves out.
type notes struct {
	where string
	list  []string
}

func (n *notes) add(format string, args ...any) {
	n.list = append(n.list, n.where+fmt.Sprintf(format, args...))
}

// count adds a note about k things unless k is 0.
func (n *notes) count(k int, one, many, what string) {
	switch {
	case k == 1:
		n.add("1 %s %s.", one, what)
	case k > 1:
		n.add("%d %s %s.", k, many, what)
	}
}

// of names a mark's series in a note.
func of(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("of %q ", name)
}

// Numbers are drawn up to largest, and from 1/largest on a log axis, so that
// differences and ratios do not overflow.
const largest = 1e150

// isFinite reports whether all values can be drawn on a linear axis.
func isFinite(vs ...float64) bool {
	for _, v := range vs {
		if !(math.Abs(v) <= largest) {
			return false
		}
	}
	return true
}

// isPositive reports whether a finite value can be drawn on a log axis.
func isPositive(v float64) bool { return v >= 1/largest }

func sameLength(want string, n int, field string, got int, isNil bool) error {
	if isNil || got == n {
		return nil
	}
	return fmt.Errorf("%s has %d elements, %s has %d", field, got, want, n)
}
