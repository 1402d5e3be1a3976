package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (m Arrow) clean(p *Panel, n *notes) (Mark, error) {
	for _, err := range []error{checkColor(m.Color), checkDash(m.Dash)} {
		if err != nil {
			return nil, err
		}
	}
	if m.Dashed {
		m.Dash = Dashed
	}
	switch {
	case !isFinite(m.X0, m.Y0, m.X1, m.Y1):
		n.add("The arrow %sis not finite and is not drawn.", of(m.Name))
		return nil, nil
	case p.XLog && !isPositive(min(m.X0, m.X1)) || p.YLog && !isPositive(min(m.Y0, m.Y1)):
		n.add("The arrow %sis not positive and is not drawn on the log axis.", of(m.Name))
		return nil, nil
	}
	return m, nil
}

func (m Arrow) extent(*Panel) (x, y span) {
	return emptySpan.with(m.X0, m.X1), emptySpan.with(m.Y0, m.Y1)
}

func (m Arrow) draw(f *frame) {
	drawArrow(&f.Canvas, m, f.at(m.X0, m.Y0), f.at(m.X1, m.Y1))
}

func drawArrow(c *draw.Canvas, m Arrow, from, to vg.Point) {
	const head, half = 6.5, 2.6
	s := lineStyle(paint(m.Color), 1.4, m.Dash)
	d := to.Sub(from)
	n := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
	if n == 0 {
		if c.Contains(to) {
			glyph(c, 0, s.Color, 1.8, to, false)
		}
		return
	}
	neck := to.Sub(d.Scale(min(head, n) / n))
	c.StrokeLines(s, c.ClipLinesXY([]vg.Point{from, neck})...)
	if c.Contains(to) {
		arrowHead(c, s.Color, neck, to, half)
	}
}

func (m Arrow) legend() (entry, bool) {
	return entry{m.Name, lookOf(arrowLook, Style{Color: m.Color, Dash: m.Dash}), "", func(c *draw.Canvas) {
		y := c.Center().Y
		drawArrow(c, m, vg.Point{X: c.Min.X, Y: y}, vg.Point{X: c.Max.X, Y: y})
	}}, m.Name != ""
}

func (m Arrow) cut(x, y axis) bool { return false }
