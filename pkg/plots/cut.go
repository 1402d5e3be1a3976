package plots

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// cutNote explains the arrowheads of a drawing in its caption.
const cutNote = "Intervals are cut at what is possible and at the end of the axis; an arrowhead marks a cut."

// within cuts an interval about v at what is possible; both bounds zero means all is. A value beyond is kept.
func within(v, lo, hi float64, possible [2]float64) (float64, float64) {
	if possible == [2]float64{} {
		return lo, hi
	}
	return max(lo, min(possible[0], v)), min(hi, max(possible[1], v))
}

func checkPossible(possible [2]float64) error {
	if possible != [2]float64{} && !(possible[0] < possible[1]) {
		return fmt.Errorf("field Possible is %v, want the lower bound first, or both zero for none", possible)
	}
	return nil
}

// bar is the part of an interval that is drawn; lowCut and highCut say where the interval goes on.
type bar struct {
	lo, hi          float64
	lowCut, highCut bool
}

func (b bar) cut() bool { return b.lowCut || b.highCut }

// cut returns the part of an interval about v that is possible and on the axis. Where v is not on the axis, it is empty.
func (a axis) cut(v, lo, hi float64, possible [2]float64) bar {
	if !isFinite(v) || !a.contains(v) {
		return bar{lo: v, hi: v}
	}
	least, most := within(v, lo, hi, possible)
	least, most = max(least, min(a.lo, v)), min(most, max(a.hi, v))
	return bar{least, most, a.below(lo, least), a.below(most, hi)}
}

// below reports whether v lies below w by more than round-off.
func (a axis) below(v, w float64) bool {
	const slack = 1e-9
	return a.log && v <= 0 || a.norm(w)-a.norm(v) > slack
}

// drawBar draws a bar from one end to the other, with a cap or an arrowhead at each.
func (f *frame) drawBar(s draw.LineStyle, head color.Color, b bar, from, to vg.Point) {
	const cap = 2.5
	f.StrokeLine2(s, from.X, from.Y, to.X, to.Y)
	along := vg.Point{X: 1}
	if from.X == to.X {
		along = vg.Point{Y: 1}
	}
	for _, end := range []struct {
		at  vg.Point
		cut bool
		out vg.Point
	}{{from, b.lowCut, along.Scale(-1)}, {to, b.highCut, along}} {
		if end.cut {
			arrowHead(&f.Canvas, head, end.at, end.at.Add(end.out.Scale(cutLength)), cutHalf)
			continue
		}
		side := vg.Point{X: end.out.Y, Y: end.out.X}.Scale(cap)
		f.StrokeLine2(s, end.at.X-side.X, end.at.Y-side.Y, end.at.X+side.X, end.at.Y+side.Y)
	}
}

// cutLength and cutHalf are the length and half the width of an arrowhead that marks a cut: it stands beyond the cut,
// so that a glyph there does not hide it.
const (
	cutLength = 4.5
	cutHalf   = 2.4
)

// arrowHead fills a triangle from its neck to its tip.
func arrowHead(c *draw.Canvas, col color.Color, neck, tip vg.Point, half vg.Length) {
	d := tip.Sub(neck)
	n := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
	side := vg.Point{X: -d.Y, Y: d.X}.Scale(half / n)
	c.FillPolygon(col, []vg.Point{tip, neck.Add(side), neck.Sub(side)})
}
