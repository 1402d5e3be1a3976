package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

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

// entry is a line of the legend. key tells equal entries of two panels.
type entry struct {
	name, key string
	glyph     bool                 // the icon is a glyph, which needs less room
	icon      func(c *draw.Canvas) // fills a canvas of the icon's size
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

func isFinite(vs ...float64) bool {
	for _, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

func sameLength(want string, n int, field string, got int, isNil bool) error {
	if isNil || got == n {
		return nil
	}
	return fmt.Errorf("%s has %d elements, %s has %d", field, got, want, n)
}

// Points

func (m Points) clean(p *Panel, n *notes) (Mark, error) {
	for _, err := range []error{
		sameLength("X", len(m.X), "Y", len(m.Y), false),
		sameLength("X", len(m.X), "XErr", len(m.XErr), m.XErr == nil),
		sameLength("X", len(m.X), "YErr", len(m.YErr), m.YErr == nil),
		sameLength("X", len(m.X), "Labels", len(m.Labels), m.Labels == nil),
		checkHalfWidths("XErr", m.XErr), checkHalfWidths("YErr", m.YErr), checkColor(m.Color),
	} {
		if err != nil {
			return nil, err
		}
	}
	if m.Shape < 0 {
		return nil, fmt.Errorf("Shape is %d, want an index from 0", m.Shape)
	}
	out := Points{Name: m.Name, Color: m.Color, Shape: m.Shape}
	var bad, neg, badBars int
	for i, x := range m.X {
		y := m.Y[i]
		switch {
		case !isFinite(x, y):
			bad++
			continue
		case p.XLog && x <= 0 || p.YLog && y <= 0:
			neg++
			continue
		}
		out.X, out.Y = append(out.X, x), append(out.Y, y)
		if m.Labels != nil {
			out.Labels = append(out.Labels, m.Labels[i])
		}
		finite := true
		bar := func(errs []float64) float64 {
			if isFinite(errs[i]) {
				return errs[i]
			}
			finite = false
			return 0
		}
		if m.XErr != nil {
			out.XErr = append(out.XErr, bar(m.XErr))
		}
		if m.YErr != nil {
			out.YErr = append(out.YErr, bar(m.YErr))
		}
		if !finite {
			badBars++
		}
	}
	n.count(bad, "point", "points", of(m.Name)+areNot(bad)+" finite and "+areNot(bad)+" drawn")
	n.count(neg, "point", "points", of(m.Name)+areNot(neg)+" positive and "+areNot(neg)+" drawn on the log axis")
	n.count(badBars, "point", "points", of(m.Name)+haveNo(badBars)+" finite error bar")
	return out, nil
}

func areNot(k int) string {
	if k == 1 {
		return "is not"
	}
	return "are not"
}

func haveNo(k int) string {
	if k == 1 {
		return "has no"
	}
	return "have no"
}

func checkHalfWidths(field string, errs []float64) error {
	for i, e := range errs {
		if e < 0 {
			return fmt.Errorf("%s[%d] is %v, want a half-width of at least 0", field, i, e)
		}
	}
	return nil
}

func (m Points) extent(p *Panel) (x, y span) {
	return barSpan(m.X, m.XErr, p.XLog), barSpan(m.Y, m.YErr, p.YLog)
}

// barSpan covers values and their error bars; on a log axis a bar that reaches
// zero is cut at the axis.
func barSpan(vs, errs []float64, log bool) span {
	s := emptySpan
	for i, v := range vs {
		s = s.with(v)
		if errs != nil {
			s = s.with(v + errs[i])
			if lo := v - errs[i]; !log || lo > 0 {
				s = s.with(lo)
			}
		}
	}
	return s
}

func (m Points) outside(x, y axis) int {
	k := 0
	for i := range m.X {
		if !x.contains(m.X[i]) || !y.contains(m.Y[i]) {
			k++
		}
	}
	return k
}

// style returns radius and outline of the glyphs; crowds get smaller ones.
func (m Points) style() (r vg.Length, outline bool) {
	switch n := len(m.X); {
	case n > 1000:
		return 1.2, false
	case n > 200:
		return 1.6, false
	}
	return 2.8, true
}

func (m Points) draw(f *frame) {
	col := paint(m.Color)
	bar := lineStyle(fade(col, 0.6), 0.8, false)
	const cap = 2
	end := func(v float64, a axis) float64 {
		if a.log && v <= 0 {
			return a.lo
		}
		return v
	}
	for i := range m.X {
		p := f.at(m.X[i], m.Y[i])
		if !f.Contains(p) {
			continue
		}
		if m.XErr != nil && m.XErr[i] > 0 {
			lo, hi := f.at(end(m.X[i]-m.XErr[i], f.x), m.Y[i]), f.at(m.X[i]+m.XErr[i], m.Y[i])
			f.stroke(bar, lo, hi)
			for _, q := range []vg.Point{lo, hi} {
				if f.Contains(q) {
					f.StrokeLine2(bar, q.X, q.Y-cap, q.X, q.Y+cap)
				}
			}
		}
		if m.YErr != nil && m.YErr[i] > 0 {
			lo, hi := f.at(m.X[i], end(m.Y[i]-m.YErr[i], f.y)), f.at(m.X[i], m.Y[i]+m.YErr[i])
			f.stroke(bar, lo, hi)
			for _, q := range []vg.Point{lo, hi} {
				if f.Contains(q) {
					f.StrokeLine2(bar, q.X-cap, q.Y, q.X+cap, q.Y)
				}
			}
		}
	}
	r, outline := m.style()
	if s := m.Shape % shapeCount; s == 0 && !outline {
		// One path for a crowd of dots keeps the SVG small.
		var all vg.Path
		for i := range m.X {
			if p := f.at(m.X[i], m.Y[i]); f.Contains(p) {
				all = append(all, circle(p, r)...)
			}
		}
		f.SetColor(col)
		f.Fill(all)
	} else {
		for i := range m.X {
			if p := f.at(m.X[i], m.Y[i]); f.Contains(p) {
				glyph(&f.Canvas, m.Shape, col, r, p, outline)
			}
		}
	}
}

// drawLabels puts each label beside its point where it covers least of points
// and error bars. A label that would run into another one, or hide mostly
// other things, is left out: in a crowd none could be read.
func (m Points) drawLabels(f *frame) {
	if m.Labels == nil {
		return
	}
	r, _ := m.style()
	var taken, labels []vg.Rectangle
	for i := range m.X {
		p := f.at(m.X[i], m.Y[i])
		taken = append(taken, around(p, r))
		const thick = 1.5 // of a bar and its surroundings
		if m.XErr != nil {
			half := f.at(m.X[i]+m.XErr[i], m.Y[i]).X - p.X
			taken = append(taken, vg.Rectangle{Min: vg.Point{X: p.X - half, Y: p.Y - thick}, Max: vg.Point{X: p.X + half, Y: p.Y + thick}})
		}
		if m.YErr != nil {
			half := f.at(m.X[i], m.Y[i]+m.YErr[i]).Y - p.Y
			taken = append(taken, vg.Rectangle{Min: vg.Point{X: p.X - thick, Y: p.Y - half}, Max: vg.Point{X: p.X + thick, Y: p.Y + half}})
		}
	}
	s := pointText
	for i, label := range m.Labels {
		p := f.at(m.X[i], m.Y[i])
		if label == "" || !f.Contains(p) {
			continue
		}
		w, h := s.width(label), s.size*capHeight
		gap := r + 2.5
		var best vg.Rectangle
		cost := math.Inf(1)
		for k, q := range []vg.Point{
			{X: p.X + gap, Y: p.Y + 1}, {X: p.X - gap - w, Y: p.Y + 1}, {X: p.X + gap, Y: p.Y - 1 - h}, {X: p.X - gap - w, Y: p.Y - 1 - h},
			{X: p.X - w/2, Y: p.Y + gap}, {X: p.X - w/2, Y: p.Y - gap - h},
		} {
			box := vg.Rectangle{Min: q, Max: vg.Point{X: q.X + w, Y: q.Y + h}}
			c := float64(k) * 1e-3                               // the first places look best
			c += 10 * (float64(w*h) - overlap(box, f.Rectangle)) // off the frame
			for _, o := range taken {
				c += overlap(box, o)
			}
			for _, o := range labels {
				if overlap(box, o) > 0 {
					c = math.Inf(1)
				}
			}
			if c < cost {
				best, cost = box, c
			}
		}
		if cost > 0.6*float64(w*h) {
			continue
		}
		labels = append(labels, best)
		s.draw(f, best.Min, label, 0, 0)
	}
}

func around(p vg.Point, r vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: p.X - r, Y: p.Y - r}, Max: vg.Point{X: p.X + r, Y: p.Y + r}}
}

// overlap returns the common area of two rectangles.
func overlap(a, b vg.Rectangle) float64 {
	w := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	h := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	if w <= 0 || h <= 0 {
		return 0
	}
	return float64(w * h)
}

func (m Points) legend() []entry {
	if m.Name == "" {
		return nil
	}
	bars := m.XErr != nil || m.YErr != nil
	return []entry{{m.Name, fmt.Sprintf("points %d %d %t", m.Color, m.Shape%shapeCount, bars), true, func(c *draw.Canvas) {
		col, p := paint(m.Color), c.Center()
		if bars {
			s := lineStyle(fade(col, 0.6), 0.8, false)
			c.StrokeLine2(s, p.X, c.Min.Y, p.X, c.Max.Y)
		}
		glyph(c, m.Shape, col, 2.8, p, true)
	}}}
}

// Line

func (m Line) clean(p *Panel, n *notes) (Mark, error) {
	for _, err := range []error{
		sameLength("X", len(m.X), "Y", len(m.Y), false),
		sameLength("X", len(m.X), "Lo", len(m.Lo), m.Lo == nil),
		sameLength("X", len(m.X), "Hi", len(m.Hi), m.Hi == nil),
		checkColor(m.Color),
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
	out.X, out.Y = slices.Clone(m.X), slices.Clone(m.Y)
	out.Lo, out.Hi = slices.Clone(m.Lo), slices.Clone(m.Hi)
	var bad, neg, badBand int
	for i, x := range m.X {
		switch y := m.Y[i]; {
		case !isFinite(x, y):
			bad++
			out.X[i], out.Y[i] = math.NaN(), math.NaN()
		case p.XLog && x <= 0 || p.YLog && y <= 0:
			neg++
			out.X[i], out.Y[i] = math.NaN(), math.NaN()
		}
		if m.Lo == nil {
			continue
		}
		if m.Lo[i] > m.Hi[i] {
			return nil, fmt.Errorf("Lo[%d] = %v is above Hi[%d] = %v", i, m.Lo[i], i, m.Hi[i])
		}
		if !isFinite(out.X[i]) || !isFinite(m.Lo[i], m.Hi[i]) || p.YLog && m.Hi[i] <= 0 {
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
			y = y.with(m.Hi[i])
			if !p.YLog || m.Lo[i] > 0 {
				y = y.with(m.Lo[i])
			}
		}
	}
	return x, y
}

func (m Line) draw(f *frame) {
	if m.Lo != nil {
		for lo, hi := range segments(m.Lo) {
			var upper, lower []vg.Point
			for i := lo; i < hi; i++ {
				bottom := m.Lo[i]
				if f.y.log && bottom <= 0 {
					bottom = f.y.lo
				}
				upper = append(upper, f.at(m.X[i], m.Hi[i]))
				lower = append(lower, f.at(m.X[i], bottom))
			}
			slices.Reverse(lower)
			if pts := f.ClipPolygonXY(append(upper, lower...)); len(pts) > 2 {
				f.FillPolygon(fade(paint(m.Color), 0.2), pts)
			}
		}
	}
	s := lineStyle(paint(m.Color), 1.4, m.Dashed)
	for lo, hi := range segments(m.X) {
		var pts []vg.Point
		for i := lo; i < hi; i++ {
			pts = append(pts, f.at(m.X[i], m.Y[i]))
		}
		if len(pts) > 1 {
			f.stroke(s, pts...)
		} else if f.Contains(pts[0]) { // a lone point would be invisible
			glyph(&f.Canvas, 0, s.Color, 1.8, pts[0], false)
		}
	}
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

func (m Line) legend() []entry {
	if m.Name == "" {
		return nil
	}
	return []entry{{m.Name, fmt.Sprintf("line %d %t %t", m.Color, m.Dashed, m.Lo != nil), false, func(c *draw.Canvas) {
		if m.Lo != nil {
			c.FillPolygon(fade(paint(m.Color), 0.2), []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
		}
		lineIcon(c, lineStyle(paint(m.Color), 1.4, m.Dashed))
	}}}
}

func lineIcon(c *draw.Canvas, s draw.LineStyle) {
	y := c.Center().Y
	c.StrokeLine2(s, c.Min.X, y, c.Max.X, y)
}

// Diagonal

func (m Diagonal) clean(p *Panel, _ *notes) (Mark, error) {
	if p.XLog != p.YLog {
		return nil, fmt.Errorf("XLog is %t, YLog is %t, want both axes linear or both logarithmic", p.XLog, p.YLog)
	}
	return m, nil
}

func (m Diagonal) extent(*Panel) (x, y span) { return emptySpan, emptySpan }

var diagonalStyle = lineStyle(greyLine, 1, true)

func (m Diagonal) draw(f *frame) {
	lo, hi := max(f.x.lo, f.y.lo), min(f.x.hi, f.y.hi)
	if lo < hi {
		f.stroke(diagonalStyle, f.at(lo, lo), f.at(hi, hi))
	}
}

func (m Diagonal) legend() []entry {
	if m.Name == "" {
		return nil
	}
	return []entry{{m.Name, "diagonal", false, func(c *draw.Canvas) { c.StrokeLine2(diagonalStyle, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }}}
}

// Reference

func (m Reference) clean(p *Panel, n *notes) (Mark, error) {
	if err := checkColor(m.Color); err != nil {
		return nil, err
	}
	switch {
	case !isFinite(m.At):
		n.add("The reference line %sis not finite and is not drawn.", of(m.Name))
		return nil, nil
	case m.At <= 0 && (m.Vertical && p.XLog || !m.Vertical && p.YLog):
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
	s := lineStyle(paint(m.Color), 1.1, true)
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

func (m Reference) legend() []entry {
	if m.Name == "" {
		return nil
	}
	return []entry{{m.Name, fmt.Sprintf("reference %d", m.Color), false, func(c *draw.Canvas) { lineIcon(c, m.style()) }}}
}

// Heat

func (m Heat) clean(_ *Panel, n *notes) (Mark, error) {
	if len(m.Z) == 0 || len(m.Z[0]) == 0 {
		return nil, fmt.Errorf("Z is empty, want at least one row and one column")
	}
	rows, cols := len(m.Z), len(m.Z[0])
	data := emptySpan
	bad := 0
	for i, row := range m.Z {
		if len(row) != cols {
			return nil, fmt.Errorf("Z[%d] has %d elements, Z[0] has %d", i, len(row), cols)
		}
		for _, v := range row {
			if isFinite(v) {
				data = data.with(v)
			} else {
				bad++
			}
		}
	}
	n.count(bad, "cell", "cells", areNot(bad)+" finite and drawn grey")
	if !isFinite(m.Min, m.Max) || m.Min > m.Max {
		return nil, fmt.Errorf("Min is %v, Max is %v, want a finite range with Min < Max, or equal for the data's", m.Min, m.Max)
	}
	if m.Min == m.Max {
		if data.empty() {
			data = span{0, 1}
		}
		if m.Min, m.Max = data.lo, data.hi; m.Min == m.Max {
			m.Min, m.Max = m.Min-0.5, m.Max+0.5
		}
	} else {
		out := 0
		for _, row := range m.Z {
			for _, v := range row {
				if isFinite(v) && (v < m.Min || v > m.Max) {
					out++
				}
			}
		}
		n.count(out, "cell", "cells", "outside the colour range "+takeEnd(out)+" the colour of its end")
	}
	for _, s := range m.Separators {
		if s < 0 || s > max(rows, cols) {
			return nil, fmt.Errorf("Separators has %d, want 0 to %d", s, max(rows, cols))
		}
	}
	for _, c := range []struct {
		field string
		ticks []Tick
		n     int
	}{{"XTicks", m.XTicks, cols}, {"YTicks", m.YTicks, rows}} {
		for _, t := range c.ticks {
			if !(t.At >= -0.5 && t.At <= float64(c.n)-0.5) {
				return nil, fmt.Errorf("%s has %q at %v, want -0.5 to %v", c.field, t.Label, t.At, float64(c.n)-0.5)
			}
		}
	}
	return m, nil
}

func takeEnd(k int) string {
	if k == 1 {
		return "takes"
	}
	return "take"
}

func (m Heat) extent(*Panel) (x, y span) {
	return span{-0.5, float64(len(m.Z[0])) - 0.5}, span{-0.5, float64(len(m.Z)) - 0.5}
}

// heatLevels is the number of colours of a heat map; the last palette entry
// is kept for cells that are not finite.
const heatLevels = 255

func heatPalette() color.Palette {
	p := make(color.Palette, 0, heatLevels+1)
	for i := range heatLevels {
		p = append(p, heatColor(float64(i)/(heatLevels-1)))
	}
	return append(p, badCell)
}

// barImage is one column of all colours, the largest value at the top.
func barImage() image.Image {
	img := image.NewPaletted(image.Rect(0, 0, 1, heatLevels), heatPalette())
	for y := range heatLevels {
		img.SetColorIndex(0, y, uint8(heatLevels-1-y))
	}
	return enlarge(img)
}

func (m Heat) draw(f *frame) {
	rows, cols := len(m.Z), len(m.Z[0])
	img := image.NewPaletted(image.Rect(0, 0, cols, rows), heatPalette())
	for i, row := range m.Z {
		for j, v := range row {
			level := uint8(heatLevels)
			if isFinite(v) {
				u := min(max((v-m.Min)/(m.Max-m.Min), 0), 1)
				level = uint8(math.Round(u * (heatLevels - 1)))
			}
			img.SetColorIndex(j, i, level)
		}
	}
	f.DrawImage(f.Rectangle, enlarge(img))
	s := lineStyle(color.White, 0.8, false)
	for _, k := range m.Separators {
		if k <= cols {
			x := f.X(float64(k) / float64(cols))
			f.StrokeLine2(s, x, f.Min.Y, x, f.Max.Y)
		}
		if k <= rows {
			y := f.Y(1 - float64(k)/float64(rows))
			f.StrokeLine2(s, f.Min.X, y, f.Max.X, y)
		}
	}
}

// enlarge repeats pixels so that viewers that smooth images keep cells sharp.
func enlarge(img *image.Paletted) *image.Paletted {
	const want = 600 // pixels, about one panel in print
	b := img.Bounds()
	k := (want + max(b.Dx(), b.Dy()) - 1) / max(b.Dx(), b.Dy())
	if k <= 1 {
		return img
	}
	out := image.NewPaletted(image.Rect(0, 0, b.Dx()*k, b.Dy()*k), img.Palette)
	for y := range b.Dy() * k {
		for x := range b.Dx() * k {
			out.SetColorIndex(x, y, img.ColorIndexAt(x/k, y/k))
		}
	}
	return out
}

func (m Heat) legend() []entry { return nil }

// Images

func (m Images) clean(_ *Panel, n *notes) (Mark, error) {
	switch {
	case m.H < 1 || m.W < 1:
		return nil, fmt.Errorf("H is %d, W is %d, want at least 1", m.H, m.W)
	case len(m.Pix) == 0:
		return nil, fmt.Errorf("Pix is empty, want at least one image")
	case m.Columns < 0:
		return nil, fmt.Errorf("Columns is %d, want at least 0", m.Columns)
	case !isFinite(m.Min, m.Max) || m.Min > m.Max:
		return nil, fmt.Errorf("Min is %v, Max is %v, want a finite range with Min < Max, or equal for the data's", m.Min, m.Max)
	}
	data, bad := emptySpan, 0
	for i, pix := range m.Pix {
		if len(pix) != m.H*m.W {
			return nil, fmt.Errorf("Pix[%d] has %d elements, want H·W = %d", i, len(pix), m.H*m.W)
		}
		for _, v := range pix {
			if isFinite(v) {
				data = data.with(v)
			} else {
				bad++
			}
		}
	}
	n.count(bad, "pixel", "pixels", areNot(bad)+" finite and drawn pink")
	if m.Min == m.Max {
		if data.empty() {
			data = span{0, 1}
		}
		if m.Min, m.Max = data.lo, data.hi; m.Min == m.Max {
			m.Max = m.Min + 1
		}
	}
	if m.Columns == 0 {
		m.Columns = int(math.Ceil(math.Sqrt(float64(len(m.Pix)))))
	}
	m.Columns = min(m.Columns, len(m.Pix))
	return m, nil
}

func (m Images) rows() int { return (len(m.Pix) + m.Columns - 1) / m.Columns }

// gap is the number of pixels between two images.
func (m Images) gap() int { return max(1, m.W/12) }

// size returns the number of pixels of the whole grid.
func (m Images) size() (w, h int) {
	return m.Columns*(m.W+m.gap()) + m.gap(), m.rows()*(m.H+m.gap()) + m.gap()
}

func (m Images) extent(*Panel) (x, y span) { return span{0, 1}, span{0, 1} }

const (
	greyLevels = 255
	pinkLevel  = 255
)

// greyPalette runs from white to black and ends with the colour of pixels
// that are not finite.
func greyPalette() color.Palette {
	p := make(color.Palette, 0, greyLevels+1)
	for i := range greyLevels {
		p = append(p, color.Gray{Y: uint8(255 - math.Round(255*float64(i)/(greyLevels-1)))})
	}
	return append(p, badPixel)
}

func (m Images) draw(f *frame) {
	w, h := m.size()
	img := image.NewPaletted(image.Rect(0, 0, w, h), greyPalette())
	corner := func(k int) (x, y int) {
		return m.gap() + (k%m.Columns)*(m.W+m.gap()), m.gap() + (k/m.Columns)*(m.H+m.gap())
	}
	for k, pix := range m.Pix {
		x, y := corner(k)
		for i, v := range pix {
			level := uint8(pinkLevel)
			if isFinite(v) {
				u := min(max((v-m.Min)/(m.Max-m.Min), 0), 1)
				level = uint8(math.Round(u * (greyLevels - 1)))
			}
			img.SetColorIndex(x+i%m.W, y+i/m.W, level)
		}
	}
	f.DrawImage(f.Rectangle, enlarge(img))
	// Frames show where white images end.
	f.SetLineStyle(lineStyle(color.Gray{Y: 0xb0}, 0.4, false))
	for k := range m.Pix {
		x, y := corner(k)
		box := vg.Rectangle{
			Min: vg.Point{X: f.X(float64(x) / float64(w)), Y: f.Y(1 - float64(y+m.H)/float64(h))},
			Max: vg.Point{X: f.X(float64(x+m.W) / float64(w)), Y: f.Y(1 - float64(y)/float64(h))},
		}
		f.Stroke(box.Path())
	}
}

func (m Images) legend() []entry { return nil }

// Ellipse

func (m Ellipse) clean(p *Panel, n *notes) (Mark, error) {
	if err := checkColor(m.Color); err != nil {
		return nil, err
	}
	if p.XLog || p.YLog {
		return nil, fmt.Errorf("an ellipse needs linear axes, XLog is %t, YLog is %t", p.XLog, p.YLog)
	}
	a, b, c, d := m.M[0][0], m.M[0][1], m.M[1][0], m.M[1][1]
	if !isFinite(a, b, c, d, m.Center[0], m.Center[1]) {
		n.add("The ellipse %sis not finite and is not drawn.", of(m.Name))
		return nil, nil
	}
	// Round-off of a matrix that was computed, relative to its size.
	const tol = 1e-9
	scale := max(math.Abs(a), math.Abs(b), math.Abs(c), math.Abs(d))
	if math.Abs(b-c) > tol*scale {
		return nil, fmt.Errorf("M is not symmetric: %v and %v", b, c)
	}
	l, _ := m.eigen()
	if l[1] < -tol*scale {
		return nil, fmt.Errorf("M has the negative eigenvalue %v, want M ⪰ 0", l[1])
	}
	if l[0] <= 0 {
		n.add("The ellipse %sof a zero matrix is the whole plane and is not drawn.", of(m.Name))
		return nil, nil
	}
	return m, nil
}

// eigen returns the eigenvalues, larger first, and the eigenvector of the
// larger one.
func (m Ellipse) eigen() (l [2]float64, v [2]float64) {
	a, b, d := m.M[0][0], (m.M[0][1]+m.M[1][0])/2, m.M[1][1]
	mean, r := (a+d)/2, math.Hypot((a-d)/2, b)
	angle := math.Atan2(2*b, a-d) / 2
	v = [2]float64{math.Cos(angle), math.Sin(angle)}
	return [2]float64{mean + r, mean - r}, v
}

// axes returns the half axes as vectors, the shorter first; the longer one is
// zero if the ellipse has no end in that direction.
func (m Ellipse) axes() (short, long [2]float64) {
	const flat = 1e-12 // of the larger eigenvalue; less is a zero one
	l, v := m.eigen()
	s := 1 / math.Sqrt(l[0])
	short = [2]float64{s * v[0], s * v[1]}
	if l[1] > flat*l[0] {
		s = 1 / math.Sqrt(l[1])
		long = [2]float64{-s * v[1], s * v[0]}
	}
	return short, long
}

func (m Ellipse) extent(*Panel) (x, y span) {
	short, long := m.axes()
	half := func(i int) span {
		h := math.Hypot(short[i], long[i])
		return span{m.Center[i] - h, m.Center[i] + h}
	}
	return half(0), half(1)
}

func (m Ellipse) draw(f *frame) {
	s := lineStyle(paint(m.Color), 1.4, m.Dashed)
	short, long := m.axes()
	if long == [2]float64{} {
		// Two parallels, longer than the panel.
		far := 2 * (math.Hypot(f.x.hi-f.x.lo, f.y.hi-f.y.lo) + math.Abs(m.Center[0]-f.x.lo) + math.Abs(m.Center[1]-f.y.lo))
		n := math.Hypot(short[0], short[1])
		dx, dy := -short[1]/n*far, short[0]/n*far
		for _, side := range []float64{-1, 1} {
			x, y := m.Center[0]+side*short[0], m.Center[1]+side*short[1]
			f.stroke(s, f.at(x-dx, y-dy), f.at(x+dx, y+dy))
		}
		return
	}
	const steps = 240
	pts := make([]vg.Point, steps+1)
	for i := range pts {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / steps)
		pts[i] = f.at(m.Center[0]+cos*short[0]+sin*long[0], m.Center[1]+cos*short[1]+sin*long[1])
	}
	f.stroke(s, pts...)
}

func (m Ellipse) legend() []entry {
	if m.Name == "" {
		return nil
	}
	return []entry{{m.Name, fmt.Sprintf("ellipse %d %t", m.Color, m.Dashed), false, func(c *draw.Canvas) {
		p, w, h := c.Center(), c.Size().X/2, c.Size().Y/2
		pts := make([]vg.Point, 33)
		for i := range pts {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / 32)
			pts[i] = vg.Point{X: p.X + w*vg.Length(cos), Y: p.Y + h*vg.Length(sin)}
		}
		c.StrokeLines(lineStyle(paint(m.Color), 1.4, m.Dashed), pts)
	}}}
}

// Arrow

func (m Arrow) clean(p *Panel, n *notes) (Mark, error) {
	if err := checkColor(m.Color); err != nil {
		return nil, err
	}
	switch {
	case !isFinite(m.X0, m.Y0, m.X1, m.Y1):
		n.add("The arrow %sis not finite and is not drawn.", of(m.Name))
		return nil, nil
	case p.XLog && min(m.X0, m.X1) <= 0 || p.YLog && min(m.Y0, m.Y1) <= 0:
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
	s := lineStyle(paint(m.Color), 1.4, m.Dashed)
	d := to.Sub(from)
	n := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
	if n == 0 {
		if c.Contains(to) {
			glyph(c, 0, s.Color, 1.8, to, false)
		}
		return
	}
	u := d.Scale(1 / n)
	h := min(vg.Length(head), n)
	neck := to.Sub(u.Scale(h))
	c.StrokeLines(s, c.ClipLinesXY([]vg.Point{from, neck})...)
	side := vg.Point{X: -u.Y, Y: u.X}.Scale(half)
	if c.Contains(to) {
		c.FillPolygon(s.Color, []vg.Point{to, neck.Add(side), neck.Sub(side)})
	}
}

func (m Arrow) legend() []entry {
	if m.Name == "" {
		return nil
	}
	return []entry{{m.Name, fmt.Sprintf("arrow %d %t", m.Color, m.Dashed), false, func(c *draw.Canvas) {
		y := c.Center().Y
		drawArrow(c, m, vg.Point{X: c.Min.X, Y: y}, vg.Point{X: c.Max.X, Y: y})
	}}}
}

// Intervals

func (m Intervals) clean(p *Panel, n *notes) (Mark, error) {
	for _, err := range []error{
		sameLength("Labels", len(m.Labels), "X", len(m.X), false),
		sameLength("Labels", len(m.Labels), "Err", len(m.Err), m.Err == nil),
		checkHalfWidths("Err", m.Err), checkColor(m.Color),
	} {
		if err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{}
	for i, l := range m.Labels {
		if seen[l] {
			return nil, fmt.Errorf("Labels[%d] is %q for the second time, want distinct labels", i, l)
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
	var bad, neg, badBars int
	for i, x := range m.X {
		switch {
		case !isFinite(x):
			bad++
			out.X[i] = math.NaN()
		case p.XLog && x <= 0:
			neg++
			out.X[i] = math.NaN()
		case m.Err != nil && !isFinite(m.Err[i]):
			badBars++
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

func (m Intervals) extent(p *Panel) (x, y span) {
	var xs, errs []float64
	for i, v := range m.X {
		if isFinite(v) {
			xs = append(xs, v)
			if m.Err != nil {
				errs = append(errs, m.Err[i])
			}
		}
	}
	return barSpan(xs, errs, p.XLog), emptySpan
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
	s := lineStyle(col, 1.2, false)
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
		if m.Err != nil && m.Err[i] > 0 {
			lo := v - m.Err[i]
			if f.x.log && lo <= 0 {
				lo = f.x.lo
			}
			a, b := f.X(f.x.norm(lo)), f.X(f.x.norm(v+m.Err[i]))
			f.stroke(s, vg.Point{X: a, Y: p.Y}, vg.Point{X: b, Y: p.Y})
			for _, x := range []vg.Length{a, b} {
				if f.ContainsX(x) {
					f.StrokeLine2(s, x, p.Y-2.5, x, p.Y+2.5)
				}
			}
		}
		glyph(&f.Canvas, m.which, col, 2.8, p, true)
	}
}

func (m Intervals) legend() []entry {
	if m.Name == "" {
		return nil
	}
	return []entry{{m.Name, fmt.Sprintf("intervals %d %d", m.Color, m.which), false, func(c *draw.Canvas) {
		if m.Err != nil {
			lineIcon(c, lineStyle(paint(m.Color), 1.2, false))
		}
		glyph(c, m.which, paint(m.Color), 2.8, c.Center(), true)
	}}}
}
