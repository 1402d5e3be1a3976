package plots

import (
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Lines that lie on each other over most of their length are moved side by side, within the frame.
func TestCoincide(t *testing.T) {
	const side = 100 // points, one for each unit of data
	f := &frame{
		Canvas: draw.Canvas{Canvas: vgimg.New(side, side), Rectangle: vg.Rectangle{Max: vg.Point{X: side, Y: side}}},
		x:      axis{lo: 0, hi: side}, y: axis{lo: 0, hi: side},
	}
	line := func(xy ...float64) Line {
		var l Line
		for i := 0; i < len(xy); i += 2 {
			l.X, l.Y = append(l.X, xy[i]), append(l.Y, xy[i+1])
		}
		return l
	}
	for _, c := range []struct {
		name  string
		marks []Mark
		want  []float64 // in widths of a line
	}{
		{"equal", []Mark{line(0, 10, 90, 50), line(0, 10, 90, 50)}, []float64{0.5, -0.5}},
		{"equal at other points", []Mark{line(0, 10, 90, 10), line(0, 10, 20, 10, 90, 10)}, []float64{0.5, -0.5}},
		{"less than half a width", []Mark{line(0, 10, 90, 50), line(0, 10.6, 90, 50.6)}, []float64{0.5, -0.5}},
		{"more", []Mark{line(0, 10, 90, 50), line(0, 11, 90, 51)}, []float64{0, 0}},
		{"over most", []Mark{line(0, 10, 60, 10, 90, 80), line(0, 10, 60, 10, 90, 20)}, []float64{0.5, -0.5}},
		{"over less than half", []Mark{line(0, 10, 40, 10, 90, 80), line(0, 10, 40, 10, 90, 20)}, []float64{0, 0}},
		{"a short one on a long one", []Mark{line(0, 10, 90, 10), line(70, 10, 80, 10)}, []float64{0.5, -0.5}},
		{"side by side", []Mark{line(0, 10, 40, 10), line(50, 10, 90, 10)}, []float64{0, 0}},
		{"crossing", []Mark{line(0, 10, 90, 50), line(0, 50, 90, 10)}, []float64{0, 0}},
		{"three", []Mark{line(0, 10, 90, 10), line(0, 10, 90, 10), line(0, 10, 90, 10), line(0, 30, 90, 30)}, []float64{1, 0, -1, 0}},
		{"in a chain", []Mark{line(0, 10, 90, 10), line(0, 11.2, 90, 11.2), line(0, 10.6, 90, 10.6)}, []float64{1, 0, -1}},
		{"at the lower edge", []Mark{line(0, 0, 90, 0), line(0, 0, 90, 0)}, []float64{1, 0}},
		{"at the upper edge", []Mark{line(0, 100, 90, 100), line(0, 100, 90, 100)}, []float64{0, -1}},
		{"seven", []Mark{line(0, 50, 90, 50), line(0, 50, 90, 50), line(0, 50, 90, 50), line(0, 50, 90, 50), line(0, 50, 90, 50), line(0, 50, 90, 50), line(0, 50, 90, 50)}, []float64{1.5, 1, 0.5, 0, -0.5, -1, -1.5}},
		{"a curve that turns back", []Mark{line(0, 10, 90, 10, 80, 20), line(0, 10, 90, 10)}, []float64{0, 0}},
		{"from right to left", []Mark{line(90, 50, 0, 10), line(0, 10, 90, 50)}, []float64{0.5, -0.5}},
		{"one point", []Mark{line(10, 10), line(0, 10, 90, 10)}, []float64{0, 0}},
		{"broken", []Mark{line(0, 10, nan, nan, 90, 10), line(0, 10, 90, 10)}, []float64{0.5, -0.5}},
		{"other marks", []Mark{Reference{At: 10}, line(0, 10, 90, 10)}, []float64{0, 0}},
	} {
		for i, m := range shifted(f, c.marks) {
			var got vg.Length
			if l, ok := m.(Line); ok {
				got = l.shift
			}
			const tol = 1e-9
			if d := float64(got)/lineWidth - c.want[i]; d > tol || d < -tol {
				t.Errorf("%s: line %d is moved by %.3f widths, want %v", c.name, i, got/lineWidth, c.want[i])
			}
		}
	}
}
