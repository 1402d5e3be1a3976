package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (m Points) clean(p *Panel, n *notes) (Mark, error) {
	for _, err := range []error{
		sameLength("X", len(m.X), "Y", len(m.Y), false),
		sameLength("X", len(m.X), "XErr", len(m.XErr), m.XErr == nil),
		sameLength("X", len(m.X), "YErr", len(m.YErr), m.YErr == nil),
		sameLength("X", len(m.X), "Labels", len(m.Labels), m.Labels == nil),
		checkHalfWidths("XErr", m.XErr), checkHalfWidths("YErr", m.YErr), checkColor(m.Color), checkShape(m.Shape), checkPossible(m.Possible),
	} {
		if err != nil {
			return nil, err
		}
	}
	out := Points{Name: m.Name, Color: m.Color, Shape: m.Shape, Glyph: m.Glyph, Possible: m.Possible}
	var bad, neg, badBars int
	for i, x := range m.X {
		y := m.Y[i]
		switch {
		case !isFinite(x, y):
			bad++
			continue
		case p.XLog && !isPositive(x) || p.YLog && !isPositive(y):
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
	return barSpan(m.X, m.XErr, m.Possible, p.XLog), barSpan(m.Y, m.YErr, m.Possible, p.YLog)
}

// barSpan covers values and their error bars; on a log axis a bar that reaches
// zero is cut at the axis.
func barSpan(vs, errs []float64, possible [2]float64, log bool) span {
	s := emptySpan
	for i, v := range vs {
		s = s.with(v)
		if errs != nil {
			lo, hi := within(v, v-errs[i], v+errs[i], possible)
			s = s.with(hi)
			if !log || isPositive(lo) {
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

// style returns radius and outline of the glyphs; where one series is a crowd, all of the panel get smaller ones.
func (m Points) style() (r vg.Length, outline bool) {
	switch n := max(len(m.X), m.crowd); {
	case n > 1000:
		return 1.2, false
	case n > 200:
		return 1.6, false
	}
	return 2.8, true
}

func (m Points) draw(f *frame) {
	col := paint(m.Color)
	thin := lineStyle(fade(col, 0.6), 0.8, Solid)
	for i := range m.X {
		x, y := m.bars(i, f.x, f.y)
		if x.lo < x.hi {
			f.drawBar(thin, col, x, f.at(x.lo, m.Y[i]), f.at(x.hi, m.Y[i]))
		}
		if y.lo < y.hi {
			f.drawBar(thin, col, y, f.at(m.X[i], y.lo), f.at(m.X[i], y.hi))
		}
	}
	r, outline := m.style()
	if s := m.Shape % shapeCount; s == 0 && !outline && m.Glyph == "" {
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
				m.glyph(&f.Canvas, r, p, outline)
			}
		}
	}
}

// glyph draws the mark of a point: the shape, or the Glyph about the point in a size at which a numeral can be read.
func (m Points) glyph(c *draw.Canvas, r vg.Length, p vg.Point, outline bool) {
	if m.Glyph == "" {
		glyph(c, m.Shape, paint(m.Color), r, p, outline)
		return
	}
	s := textStyle{size: 7, bold: true, color: paint(m.Color)}
	s.draw(c, vg.Point{X: p.X, Y: p.Y - s.size*capHeight/2}, m.Glyph, 0.5, 0)
}

// bars returns the error bars of a point on axes, empty where there is none.
func (m Points) bars(i int, xAxis, yAxis axis) (x, y bar) {
	if !xAxis.contains(m.X[i]) || !yAxis.contains(m.Y[i]) {
		return x, y
	}
	if m.XErr != nil {
		x = xAxis.cut(m.X[i], m.X[i]-m.XErr[i], m.X[i]+m.XErr[i], m.Possible)
	}
	if m.YErr != nil {
		y = yAxis.cut(m.Y[i], m.Y[i]-m.YErr[i], m.Y[i]+m.YErr[i], m.Possible)
	}
	return x, y
}

func (m Points) cut(x, y axis) bool {
	for i := range m.X {
		if a, b := m.bars(i, x, y); a.cut() || b.cut() {
			return true
		}
	}
	return false
}

// drawLabels puts each label of Points beside its point where it covers least of the points that have labels,
// and of their error bars. A label that would run into another one, or hide mostly
// other things, is left out: in a crowd none could be read. Labels of grey points are grey.
func drawLabels(f *frame, marks []Mark) {
	var taken, labels []vg.Rectangle
	for _, mark := range marks {
		if m, ok := mark.(Points); ok && m.Labels != nil {
			taken = append(taken, m.covered(f)...)
		}
	}
	for _, mark := range marks {
		if m, ok := mark.(Points); ok && m.Labels != nil {
			labels = m.drawLabels(f, taken, labels)
		}
	}
}

// covered returns what points and their error bars cover.
func (m Points) covered(f *frame) (taken []vg.Rectangle) {
	r, _ := m.style()
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
	return taken
}

// drawLabels returns the labels that there are, with those of m.
func (m Points) drawLabels(f *frame, taken, labels []vg.Rectangle) []vg.Rectangle {
	r, _ := m.style()
	s := pointText
	if m.Color == Grey {
		s.color = darken(greyLine)
	}
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
	return labels
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

func (m Points) legend() (entry, bool) {
	positive := func(e float64) bool { return e > 0 }
	detail := ""
	if slices.ContainsFunc(m.XErr, positive) || slices.ContainsFunc(m.YErr, positive) {
		detail = "bars"
	}
	look := lookOf(glyphLook, Style{Color: m.Color, Shape: m.Shape})
	look.glyph = m.Glyph
	return entry{m.Name, look, detail, func(c *draw.Canvas) {
		col, p := paint(m.Color), c.Center()
		if detail != "" {
			s := lineStyle(fade(col, 0.6), 0.8, Solid)
			c.StrokeLine2(s, p.X, c.Min.Y, p.X, c.Max.Y)
		}
		m.glyph(c, 2.8, p, true)
	}}, m.Name != ""
}
