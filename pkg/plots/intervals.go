package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (m Intervals) clean(p *Panel, n *notes) (Mark, error) {
	for _, err := range []error{
		sameLength("Labels", len(m.Labels), "X", len(m.X), false),
		sameLength("Labels", len(m.Labels), "Err", len(m.Err), m.Err == nil),
		sameLength("Labels", len(m.Labels), "Lo", len(m.Lo), m.Lo == nil),
		sameLength("Labels", len(m.Labels), "Hi", len(m.Hi), m.Hi == nil),
		checkHalfWidths("Err", m.Err), checkColor(m.Color), checkShape(m.Shape), checkPossible(m.Possible),
	} {
		if err != nil {
			return nil, err
		}
	}
	if (m.Lo == nil) != (m.Hi == nil) || m.Lo != nil && m.Err != nil {
		return nil, fmt.Errorf("an interval needs Err, or both Lo and Hi")
	}
	seen := map[string]bool{}
	for i, l := range m.Labels {
		if seen[l] {
			return nil, fmt.Errorf("field Labels[%d] is %q for the second time, want distinct labels", i, l)
		}
		seen[l] = true
	}
	if p.YLog {
		return nil, fmt.Errorf("YLog is true, want false: the y axis holds the labels")
	}
	// Rows stay even if their value cannot be drawn: an empty row shows that it
	// is missing.
	out := m
	out.X, out.Err = slices.Clone(m.X), slices.Clone(m.Err)
	out.Lo, out.Hi = slices.Clone(m.Lo), slices.Clone(m.Hi)
	var bad, neg, badBars int
	for i, x := range m.X {
		switch {
		case !isFinite(x):
			bad++
			out.X[i] = math.NaN()
		case p.XLog && !isPositive(x):
			neg++
			out.X[i] = math.NaN()
		case m.Err != nil && !isFinite(m.Err[i]):
			badBars++
		case m.Lo != nil && !isFinite(m.Lo[i], m.Hi[i]):
			badBars++
			out.Lo[i], out.Hi[i] = x, x
		case m.Lo != nil && !(m.Lo[i] <= x && x <= m.Hi[i]):
			return nil, fmt.Errorf("intervals: X[%d] is %v, want %v to %v, between Lo and Hi", i, x, m.Lo[i], m.Hi[i])
		}
		if m.Err != nil && !isFinite(m.Err[i]) {
			out.Err[i] = 0
		}
	}
	n.count(bad, "value", "values", of(m.Name)+areNot(bad)+" finite and "+areNot(bad)+" drawn")
	n.count(neg, "value", "values", of(m.Name)+areNot(neg)+" positive and "+areNot(neg)+" drawn on the log axis")
	n.count(badBars, "value", "values", of(m.Name)+haveNo(badBars)+" finite interval")
	return out, nil
}

// ends returns the ends of a bar, which are equal if there is none.
func (m Intervals) ends(i int) (lo, hi float64) {
	switch {
	case m.Lo != nil:
		return m.Lo[i], m.Hi[i]
	case m.Err != nil:
		return m.X[i] - m.Err[i], m.X[i] + m.Err[i]
	}
	return m.X[i], m.X[i]
}

func (m Intervals) extent(p *Panel) (x, y span) {
	x = emptySpan
	for i, v := range m.X {
		if !isFinite(v) {
			continue
		}
		lo, hi := m.ends(i)
		lo, hi = within(v, lo, hi, m.Possible)
		x = x.with(v, hi)
		if !p.XLog || isPositive(lo) { // else the bar is cut at the axis
			x = x.with(lo)
		}
	}
	return x, emptySpan
}

func (m Intervals) outside(x axis) int {
	k := 0
	for _, v := range m.X {
		if isFinite(v) && !x.contains(v) {
			k++
		}
	}
	return k
}

// draw puts row r of n at the height (r+1/2)/n from the top; several marks
// share a row side by side.
func (m Intervals) draw(f *frame) {
	col := paint(m.Color)
	s := lineStyle(col, 1.2, Solid)
	n := float64(len(f.rows))
	for i, v := range m.X {
		if !isFinite(v) || !f.x.contains(v) {
			continue
		}
		row := float64(slices.Index(f.rows, m.Labels[i])) + 0.5
		if m.among > 1 {
			row += 0.6 * ((float64(m.which)+0.5)/float64(m.among) - 0.5)
		}
		p := vg.Point{X: f.X(f.x.norm(v)), Y: f.Y(1 - row/n)}
		if b := m.bar(i, f.x); b.lo < b.hi {
			f.drawBar(s, col, b, vg.Point{X: f.X(f.x.norm(b.lo)), Y: p.Y}, vg.Point{X: f.X(f.x.norm(b.hi)), Y: p.Y})
		}
		glyph(&f.Canvas, m.Shape, col, 2.8, p, true)
	}
}

// bar returns the interval of a row on an axis, empty where there is none.
func (m Intervals) bar(i int, x axis) bar {
	lo, hi := m.ends(i)
	return x.cut(m.X[i], lo, hi, m.Possible)
}

func (m Intervals) cut(x, _ axis) bool {
	for i := range m.X {
		if m.bar(i, x).cut() {
			return true
		}
	}
	return false
}

// wideIcon is the detail of an icon with a bar from left to right.
const wideIcon = "bar"

func (m Intervals) legend() (entry, bool) {
	detail := ""
	for i := range m.X {
		if lo, hi := m.ends(i); lo < hi {
			detail = wideIcon
		}
	}
	return entry{m.Name, lookOf(glyphLook, Style{Color: m.Color, Shape: m.Shape}), detail, func(c *draw.Canvas) {
		if detail != "" {
			lineIcon(c, lineStyle(paint(m.Color), 1.2, Solid))
		}
		glyph(c, m.Shape, paint(m.Color), 2.8, c.Center(), true)
	}}, m.Name != ""
}
