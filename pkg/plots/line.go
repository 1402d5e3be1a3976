package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lineWidth is that of lines.
const lineWidth = 1.4

func (m Line) clean(p *Panel, n *notes) (Mark, error) {
	for _, err := range []error{
		sameLength("X", len(m.X), "Y", len(m.Y), false),
		sameLength("X", len(m.X), "Lo", len(m.Lo), m.Lo == nil),
		sameLength("X", len(m.X), "Hi", len(m.Hi), m.Hi == nil),
		checkColor(m.Color), checkDash(m.Dash), checkPossible(m.Possible),
	} {
		if err != nil {
			return nil, err
		}
	}
	if (m.Lo == nil) != (m.Hi == nil) {
		return nil, fmt.Errorf("a band needs both Lo and Hi")
	}
	// Points that cannot be drawn become NaN and break the line there.
	out := m
	if m.Dashed {
		out.Dash = Dashed
	}
	out.X, out.Y = slices.Clone(m.X), slices.Clone(m.Y)
	out.Lo, out.Hi = slices.Clone(m.Lo), slices.Clone(m.Hi)
	var bad, neg, badBand int
	for i, x := range m.X {
		switch y := m.Y[i]; {
		case !isFinite(x, y):
			bad++
			out.X[i], out.Y[i] = math.NaN(), math.NaN()
		case p.XLog && !isPositive(x) || p.YLog && !isPositive(y):
			neg++
			out.X[i], out.Y[i] = math.NaN(), math.NaN()
		}
		if m.Lo == nil {
			continue
		}
		if m.Lo[i] > m.Hi[i] {
			return nil, fmt.Errorf("field Lo[%d] = %v is above Hi[%d] = %v", i, m.Lo[i], i, m.Hi[i])
		}
		if !isFinite(out.X[i]) || !isFinite(m.Lo[i], m.Hi[i]) || p.YLog && !isPositive(m.Hi[i]) {
			if isFinite(out.X[i]) {
				badBand++
			}
			out.Lo[i], out.Hi[i] = math.NaN(), math.NaN()
		}
	}
	n.count(bad, "point", "points", of(m.Name)+areNot(bad)+" finite and "+areNot(bad)+" drawn")
	n.count(neg, "point", "points", of(m.Name)+areNot(neg)+" positive and "+areNot(neg)+" drawn on the log axis")
	n.count(badBand, "point", "points", of(m.Name)+haveNo(badBand)+" band that can be drawn")
	return out, nil
}

func (m Line) extent(p *Panel) (x, y span) {
	x, y = emptySpan, emptySpan
	for i := range m.X {
		if !isFinite(m.X[i]) {
			continue
		}
		x, y = x.with(m.X[i]), y.with(m.Y[i])
		if m.Lo != nil && isFinite(m.Lo[i]) {
			lo, hi := within(m.Y[i], m.Lo[i], m.Hi[i], m.Possible)
			y = y.with(hi)
			if !p.YLog || isPositive(lo) {
				y = y.with(lo)
			}
		}
	}
	return x, y
}

func (m Line) draw(f *frame) {
	m.drawBand(f)
	s := lineStyle(paint(m.Color), lineWidth, m.Dash)
	for lo, hi := range segments(m.X) {
		var pts []vg.Point
		for i := lo; i < hi; i++ {
			pts = append(pts, f.at(m.X[i], m.Y[i]).Add(vg.Point{Y: m.shift}))
		}
		if len(pts) > 1 {
			f.stroke(s, pts...)
		} else if f.Contains(pts[0]) { // a lone point would be invisible
			glyph(&f.Canvas, 0, s.Color, 1.8, pts[0], false)
		}
	}
}

// drawBand draws the band, with an arrowhead at each stretch where it is cut: the lines of a panel have theirs at
// different places of it.
func (m Line) drawBand(f *frame) {
	for lo, hi := range segments(m.Lo) {
		var upper, lower []vg.Point
		low, high := make([]float64, hi-lo), make([]float64, hi-lo) // NaN where the band is not cut
		for i := lo; i < hi; i++ {
			bottom, top := within(m.Y[i], m.Lo[i], m.Hi[i], m.Possible)
			if f.y.log && bottom <= 0 {
				bottom = f.y.lo
			}
			upper = append(upper, f.at(m.X[i], top))
			lower = append(lower, f.at(m.X[i], bottom))
			low[i-lo], high[i-lo] = math.NaN(), math.NaN()
			if b := f.y.cut(m.Y[i], m.Lo[i], m.Hi[i], m.Possible); f.x.contains(m.X[i]) {
				if b.lowCut {
					low[i-lo] = b.lo
				}
				if b.highCut {
					high[i-lo] = b.hi
				}
			}
		}
		slices.Reverse(lower)
		if pts := f.ClipPolygonXY(append(upper, lower...)); len(pts) > 2 {
			f.FillPolygon(fade(paint(m.Color), 0.2), pts)
		}
		for _, side := range []struct {
			at []float64
			up vg.Length
		}{{low, -cutLength}, {high, cutLength}} {
			for from, to := range segments(side.at) {
				i := from + (to-from)*(2*m.which+1)/(2*m.among)
				neck := f.at(m.X[lo+i], side.at[i])
				arrowHead(&f.Canvas, paint(m.Color), neck, neck.Add(vg.Point{Y: side.up}), cutHalf)
			}
		}
	}
}

func (m Line) cut(x, y axis) bool {
	for i := range m.Lo {
		if isFinite(m.X[i], m.Lo[i]) && x.contains(m.X[i]) && y.cut(m.Y[i], m.Lo[i], m.Hi[i], m.Possible).cut() {
			return true
		}
	}
	return false
}

// segments yields the index ranges without NaN.
func segments(vs []float64) func(yield func(lo, hi int) bool) {
	return func(yield func(lo, hi int) bool) {
		for lo := 0; lo < len(vs); {
			hi := lo
			for hi < len(vs) && !math.IsNaN(vs[hi]) {
				hi++
			}
			if hi > lo && !yield(lo, hi) {
				return
			}
			lo = hi + 1
		}
	}
}

func (m Line) legend() (entry, bool) {
	detail := ""
	if m.Lo != nil {
		detail = "band"
	}
	return entry{m.Name, lookOf(lineLook, Style{Color: m.Color, Dash: m.Dash}), detail, func(c *draw.Canvas) {
		if m.Lo != nil {
			c.FillPolygon(fade(paint(m.Color), 0.2), []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
		}
		lineIcon(c, lineStyle(paint(m.Color), lineWidth, m.Dash))
	}}, m.Name != ""
}

func lineIcon(c *draw.Canvas, s draw.LineStyle) {
	y := c.Center().Y
	c.StrokeLine2(s, c.Min.X, y, c.Max.X, y)
}

func (m Diagonal) clean(p *Panel, _ *notes) (Mark, error) {
	if p.XLog != p.YLog {
		return nil, fmt.Errorf("XLog is %t, YLog is %t, want both axes linear or both logarithmic", p.XLog, p.YLog)
	}
	return m, nil
}

func (m Diagonal) extent(*Panel) (x, y span) { return emptySpan, emptySpan }

var diagonalStyle = lineStyle(greyLine, 1, Dashed)

func (m Diagonal) draw(f *frame) {
	lo, hi := max(f.x.lo, f.y.lo), min(f.x.hi, f.y.hi)
	if lo < hi {
		f.stroke(diagonalStyle, f.at(lo, lo), f.at(hi, hi))
	}
}

func (m Diagonal) legend() (entry, bool) {
	return entry{m.Name, lookOf(lineLook, Style{Color: Grey, Dash: Dashed}), "diagonal", func(c *draw.Canvas) { c.StrokeLine2(diagonalStyle, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }}, m.Name != ""
}

func (m Diagonal) cut(x, y axis) bool { return false }

func (m Reference) clean(p *Panel, n *notes) (Mark, error) {
	if err := checkColor(m.Color); err != nil {
		return nil, err
	}
	switch {
	case !isFinite(m.At):
		n.add("The reference line %sis not finite and is not drawn.", of(m.Name))
		return nil, nil
	case !isPositive(m.At) && (m.Vertical && p.XLog || !m.Vertical && p.YLog):
		n.add("The reference line %sis at %v, not positive, and is not drawn on the log axis.", of(m.Name), m.At)
		return nil, nil
	}
	return m, nil
}

func (m Reference) extent(*Panel) (x, y span) {
	x, y = emptySpan, emptySpan
	if m.Vertical {
		return x.with(m.At), y
	}
	return x, y.with(m.At)
}

func (m Reference) style() draw.LineStyle {
	s := lineStyle(paint(m.Color), 1.1, Solid)
	s.Dashes = []vg.Length{6, 2, 1.5, 2}
	return s
}

func (m Reference) draw(f *frame) {
	if m.Vertical {
		if f.x.contains(m.At) {
			x := f.X(f.x.norm(m.At))
			f.StrokeLine2(m.style(), x, f.Min.Y, x, f.Max.Y)
		}
	} else if f.y.contains(m.At) {
		y := f.Y(f.y.norm(m.At))
		f.StrokeLine2(m.style(), f.Min.X, y, f.Max.X, y)
	}
}

func (m Reference) legend() (entry, bool) {
	return entry{m.Name, lookOf(levelLook, Style{Color: m.Color}), "", func(c *draw.Canvas) { lineIcon(c, m.style()) }}, m.Name != ""
}

func (m Reference) cut(x, y axis) bool { return false }
