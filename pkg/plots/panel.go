package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// kind tells panels that are laid out differently.
type kind int

const (
	axesPanel kind = iota
	heatPanel
	imagesPanel
	intervalsPanel
)

// prepared is a panel with clean marks and known axes.
type prepared struct {
	Panel
	kind   kind
	marks  []Mark
	x, y   axis
	rows   []string // of an intervals panel
	noData bool
	moves  bool // it is one of several frames
	data   struct{ x, y span }
	whole  struct{ x, y bool } // the data are whole numbers
	// ends are the names that lines carry, and legend those of the other marks: see setNames.
	ends   []end
	legend []entry
	shared bool // the legend is drawn once for the whole figure
}

// prepare checks a panel, drops what cannot be drawn and finds the axes.
func (p Panel) prepare(n *notes) (*prepared, error) {
	out := &prepared{Panel: p}
	for _, c := range []struct {
		lo, hi         float64
		log            bool
		min, max, logs string
	}{{p.XMin, p.XMax, p.XLog, "XMin", "XMax", "XLog"}, {p.YMin, p.YMax, p.YLog, "YMin", "YMax", "YLog"}} {
		switch {
		case !isFinite(c.lo, c.hi):
			return nil, fmt.Errorf("%s is %v, %s is %v, want finite numbers", c.min, c.lo, c.max, c.hi)
		case c.lo > c.hi:
			return nil, fmt.Errorf("%s is %v, %s is %v, want %s < %s, or both 0 for the data's range", c.min, c.lo, c.max, c.hi, c.min, c.max)
		case c.log && c.lo < c.hi && !isPositive(c.lo):
			return nil, fmt.Errorf("%s is %v, want more than 0 since %s is true", c.min, c.lo, c.logs)
		}
	}
	if p.Equal && p.XLog != p.YLog {
		return nil, fmt.Errorf("equal axes must both be linear or both logarithmic: XLog is %t, YLog is %t", p.XLog, p.YLog)
	}
	if p.Equal && p.XMin < p.XMax && p.YMin < p.YMax && (p.XMin != p.YMin || p.XMax != p.YMax) {
		return nil, fmt.Errorf("equal axes must have one range: x is %v to %v, y is %v to %v", p.XMin, p.XMax, p.YMin, p.YMax)
	}
	for _, t := range p.XTicks {
		if !isFinite(t.At) || p.XLog && !isPositive(t.At) {
			return nil, fmt.Errorf("XTicks has %q at %v, want a finite number, more than 0 if XLog is true", t.Label, t.At)
		}
	}
	for i, m := range p.Marks {
		clean, err := checked(i, m, &p, n)
		if err != nil {
			return nil, err
		}
		switch m := clean.(type) {
		case nil:
			continue
		case Heat:
			out.kind = heatPanel
		case Images:
			out.kind = imagesPanel
		case Intervals:
			out.kind = intervalsPanel
			for _, l := range m.Labels {
				if !slices.Contains(out.rows, l) {
					out.rows = append(out.rows, l)
				}
			}
		}
		out.marks = append(out.marks, clean)
	}
	if err := out.checkCompany(); err != nil {
		return nil, err
	}
	out.findAxes(n)
	return out, nil
}

// checked cleans mark i and names it in errors.
func checked(i int, m Mark, p *Panel, n *notes) (Mark, error) {
	var name string
	switch m.(type) {
	case Points, Line, Diagonal, Reference, Heat, Images, Pictures, Arrow, Intervals:
		name = fmt.Sprintf("%T", m)[len("plots."):]
	default:
		return nil, fmt.Errorf("mark %d is a %T, want one of the marks of this package, not a pointer", i, m)
	}
	clean, err := m.clean(p, n)
	if err != nil {
		return nil, fmt.Errorf("mark %d (%s): %w", i, name, err)
	}
	return clean, nil
}

// checkCompany refuses marks that cannot share axes, and numbers intervals and bands.
func (p *prepared) checkCompany() error {
	among, which, bands, band := 0, 0, 0, 0
	for _, m := range p.marks {
		if l, ok := m.(Line); ok && l.Lo != nil {
			bands++
		}
		switch m.(type) {
		case Intervals:
			among++
		case Reference:
		default:
			if p.kind == intervalsPanel {
				return fmt.Errorf("a panel with Intervals may else have only Reference, has %T", m)
			}
		}
	}
	if p.kind != axesPanel && len(p.XTicks) > 0 {
		return fmt.Errorf("XTicks has %d ticks, want none beside Intervals, Heat or Images", len(p.XTicks))
	}
	if (p.kind == heatPanel || p.kind == imagesPanel) && len(p.marks) > 1 {
		return fmt.Errorf("a Heat or Images must be the only mark of its panel, it is one of %d", len(p.marks))
	}
	crowd := 0
	for _, m := range p.marks {
		if m, ok := m.(Points); ok {
			crowd = max(crowd, len(m.X))
		}
	}
	for i, m := range p.marks {
		switch m := m.(type) {
		case Intervals:
			m.which, m.among = which, among
			p.marks[i] = m
			which++
		case Line:
			m.which, m.among = band, max(bands, 1)
			p.marks[i] = m
			if m.Lo != nil {
				band++
			}
		case Points:
			m.crowd = crowd
			p.marks[i] = m
		}
	}
	return nil
}

func (p *prepared) findAxes(n *notes) {
	x, y := emptySpan, emptySpan
	p.noData = true
	for _, m := range p.marks {
		switch m := m.(type) {
		case Points:
			p.noData = p.noData && len(m.X) == 0
		case Line:
			p.noData = p.noData && !slices.ContainsFunc(m.X, func(v float64) bool { return isFinite(v) })
		case Intervals:
			p.noData = p.noData && !slices.ContainsFunc(m.X, func(v float64) bool { return isFinite(v) })
		case Heat, Images, Pictures, Arrow:
			p.noData = false
		}
		mx, my := m.extent(&p.Panel)
		x, y = x.union(mx), y.union(my)
	}
	if p.Equal && !p.fixedX() && !p.fixedY() {
		x = x.union(y)
		y = x
	}
	p.data.x, p.data.y = x, y
	p.whole.x, p.whole.y = p.counts()
	p.x, p.y = newAxis(x, p.XLog, p.whole.x), newAxis(y, p.YLog, p.whole.y)
	switch p.kind {
	case heatPanel, imagesPanel:
		p.x, p.y = axis{lo: x.lo, hi: x.hi}, axis{lo: y.lo, hi: y.hi}
	default:
		if p.fixedX() {
			p.x = axis{p.XMin, p.XMax, p.XLog}
		}
		if p.fixedY() {
			p.y = axis{p.YMin, p.YMax, p.YLog}
		}
		if p.Equal && p.fixedX() && !p.fixedY() {
			p.y = p.x
		}
		if p.Equal && p.fixedY() && !p.fixedX() {
			p.x = p.y
		}
	}
	p.whole.x, p.whole.y = p.whole.x && p.x.counts(), p.whole.y && p.y.counts()
	if p.noData {
		n.add("There are no data to draw.")
	}
	for _, m := range p.marks {
		switch m := m.(type) {
		case Points:
			k := m.outside(p.x, p.y)
			n.count(k, "point", "points", of(m.Name)+outside(k))
		case Intervals:
			k := m.outside(p.x)
			n.count(k, "value", "values", of(m.Name)+outside(k))
		}
	}
}

// counts reports whether all x and all y are whole numbers, which are counts or names of things. 0 and 1 alone may be the ends
// of a share.
func (p *prepared) counts() (x, y bool) {
	whole := func(all [][]float64) bool {
		seen := emptySpan
		for _, vs := range all {
			for _, v := range vs {
				if isFinite(v) && v != math.Trunc(v) {
					return false
				}
				if isFinite(v) {
					seen = seen.with(v)
				}
			}
		}
		return !seen.empty() && (seen.lo < 0 || seen.hi > 1)
	}
	var xs, ys [][]float64
	for _, m := range p.marks {
		switch m := m.(type) {
		case Points:
			xs, ys = append(xs, m.X), append(ys, m.Y)
		case Line:
			xs, ys = append(xs, m.X), append(ys, m.Y)
		case Intervals:
			xs = append(xs, m.X)
		case Arrow:
			xs, ys = append(xs, []float64{m.X0, m.X1}), append(ys, []float64{m.Y0, m.Y1})
		}
	}
	return whole(xs), whole(ys)
}

// shareZero lets linear axes with one label begin at zero if one of them does: neighbours are compared.
func shareZero(panels []*prepared) {
	for _, side := range []func(p *prepared) (label string, a *axis, free bool){
		func(p *prepared) (string, *axis, bool) { return p.XLabel, &p.x, !p.fixedX() && p.data.x.lo >= 0 },
		func(p *prepared) (string, *axis, bool) { return p.YLabel, &p.y, !p.fixedY() && p.data.y.lo >= 0 },
	} {
		zero := map[string]bool{}
		for _, p := range panels {
			if label, a, _ := side(p); p.hasScales() && a.lo == 0 {
				zero[label] = label != ""
			}
		}
		for _, p := range panels {
			label, a, free := side(p)
			switch {
			case !p.hasScales() || !zero[label] || !free || a.log:
			case !p.Equal:
				a.lo = 0
			case !p.fixedX() && !p.fixedY():
				p.x.lo, p.y.lo = 0, 0
			}
		}
	}
}

// hasScales reports whether data are on the axes of a panel, which are not those of pixels and cells.
func (p *prepared) hasScales() bool {
	return !p.noData && p.kind != heatPanel && p.kind != imagesPanel
}

func outside(k int) string {
	if k == 1 {
		return "lies outside the axes and is not drawn"
	}
	return "lie outside the axes and are not drawn"
}

func (p *prepared) fixedX() bool { return p.XMin < p.XMax }
func (p *prepared) fixedY() bool { return p.YMin < p.YMax }

// aspect returns height over width of the data area.
func (p *prepared) aspect() float64 {
	switch {
	case p.kind == heatPanel:
		z := p.marks[0].(Heat).Z
		return float64(len(z)) / float64(len(z[0]))
	case p.kind == imagesPanel:
		w, h := p.marks[0].(Images).size()
		return float64(h) / float64(w)
	case p.Equal:
		return 1
	}
	return 0.8
}

// Lengths of the layout.
const (
	tickLength  = 3.5
	labelGap    = 4 // between ticks, labels and frame
	iconWidth   = 28
	iconHeight  = 8
	entryGap    = 16
	barWidth    = 9
	barGap      = 8
	minDataSize = 2.5 * vg.Centimeter
)

// dataSize returns the size of the data area in a column that has the given
// room for it.
func (p *prepared) dataSize(room vg.Length) (w, h vg.Length) {
	w = max(room, minDataSize)
	switch p.kind {
	case intervalsPanel:
		series := 0
		for _, m := range p.marks {
			if _, ok := m.(Intervals); ok {
				series++
			}
		}
		row := max(16, vg.Length(9*series))
		for _, l := range p.rows {
			row = max(row, 4+tickText.height(1+strings.Count(wrapRow(l), "\n")))
		}
		return w, min(max(row*vg.Length(max(len(p.rows), 3)), minDataSize), 20*vg.Centimeter)
	case imagesPanel:
		// Small sets are not blown up: at most 1.6 cm per image.
		w = min(w, max(vg.Length(p.marks[0].(Images).Columns)*1.6*vg.Centimeter, minDataSize))
	}
	h = w * vg.Length(p.aspect())
	if most := 1.4 * w; h > most && p.kind != imagesPanel {
		return w * most / h, most
	}
	if most := 22 * vg.Centimeter; h > most {
		return w * most / h, most
	}
	return w, h
}

// wrapRow breaks the label of a row of intervals.
func wrapRow(label string) string {
	return strings.Join(tickText.wrap(label, 4.5*vg.Centimeter), "\n")
}

// sides holds the room around the data area.
type sides struct{ left, right, top, bottom vg.Length }

// measured is a panel with all sizes and broken lines.
type measured struct {
	*prepared
	w, h           vg.Length // data area
	room           sides
	title          []string
	xTicks, yTicks []tick
	turned         bool // the x tick labels stand upright
	xLabel, yLabel label
	barTicks       []tick
	barLabel       label
	legendRows     [][]legendCell
	footer         []string // watermark of an image
}

// measure finds the room around a data area of the given size.
func (p *prepared) measure(w, h vg.Length, o Options) *measured {
	m := &measured{prepared: p, w: w, h: h}
	m.room.right = labelGap
	m.room.top = labelGap

	m.setTicks()
	m.makeRoomForTicks()
	if p.YLabel != "" {
		m.yLabel = axisLabel(p.YLabel, max(h, 4*vg.Centimeter))
		m.room.left += labelGap + m.yLabel.height()
	}
	if p.XLabel != "" {
		m.xLabel = axisLabel(p.XLabel, w+m.room.right)
		m.room.bottom += labelGap + m.xLabel.height()
		m.room.right = max(m.room.right, (m.xLabel.width()-w)/2)
	}
	if p.kind == heatPanel && !m.marks[0].(Heat).Nominal {
		m.measureBar()
	}
	for _, e := range p.ends {
		m.room.right = max(m.room.right, endGap+legendText.maxWidth(e.lines))
	}
	if o.Watermark != "" && (p.kind == heatPanel || p.kind == imagesPanel) {
		m.footer = footStyle.wrap(o.Watermark, m.room.left+w+m.room.right)
		m.room.bottom += labelGap + footStyle.height(len(m.footer))
	}
	if len(p.legend) > 0 && !p.shared {
		m.legendRows = flowLegend(p.legend, m.room.left+w+m.room.right)
		m.room.bottom += 2*labelGap + legendHeight(m.legendRows)
	}
	if p.Title != "" {
		m.title = titleText.wrap(p.Title, m.room.left+w+m.room.right)
		m.room.top += 2 + titleText.height(len(m.title))
	}
	return m
}

// setTicks chooses the ticks of both axes for the size of the data area.
func (m *measured) setTicks() {
	p, w, h := m.prepared, m.w, m.h
	switch {
	case p.HideAxes || p.kind == imagesPanel:
	case p.kind == heatPanel:
		heat := p.marks[0].(Heat)
		for _, t := range heat.XTicks {
			m.xTicks = append(m.xTicks, tick{t.At, t.Label})
		}
		rows := float64(len(heat.Z))
		for _, t := range heat.YTicks {
			m.yTicks = append(m.yTicks, tick{rows - 1 - t.At, t.Label}) // row 0 is at the top
		}
		m.turned = touching(m.xTicks, p.x, w)
	case p.kind == intervalsPanel:
		m.xTicks = p.x.ticks(w, false, p.whole.x)
		n := float64(len(p.rows))
		p.y = axis{lo: 0, hi: max(n, 1)}
		for i, l := range p.rows {
			m.yTicks = append(m.yTicks, tick{n - 0.5 - float64(i), wrapRow(l)})
		}
	default:
		m.xTicks = p.x.ticks(w, false, p.whole.x)
		if p.XTicks != nil {
			m.xTicks = nil
			for _, t := range p.XTicks {
				if t.At >= p.x.lo && t.At <= p.x.hi {
					m.xTicks = append(m.xTicks, tick{t.At, t.Label})
				}
			}
			m.turned = touching(m.xTicks, p.x, w)
		}
		m.yTicks = p.y.ticks(h, true, p.whole.y)
		if p.Equal {
			m.yTicks = m.xTicks
		}
	}
}

// makeRoomForTicks adds the room that ticks and their labels take.
func (m *measured) makeRoomForTicks() {
	var widest, highest vg.Length
	for _, t := range m.yTicks {
		widest = max(widest, tickText.maxWidth(strings.Split(t.label, "\n")))
	}
	for _, t := range m.xTicks {
		half := tickText.width(t.label) / 2
		high := tickText.height(1)
		if m.turned {
			half, high = tickText.height(1)/2, tickText.width(t.label)
		}
		highest = max(highest, high)
		at := vg.Length(m.x.norm(t.at)) * m.w
		m.room.right = max(m.room.right, at+half-m.w+2)
		m.room.left = max(m.room.left, half-at)
	}
	if len(m.yTicks) > 0 {
		m.room.left = max(m.room.left, tickLength+labelGap/2+widest)
	}
	if len(m.xTicks) > 0 {
		m.room.bottom = tickLength + labelGap/2 + highest
	}
}

// measureBar makes room for the bar of a heat panel, with its ticks and its label.
func (m *measured) measureBar() {
	heat := m.marks[0].(Heat)
	m.barTicks = linearTicks(heat.Min, heat.Max, max(3, int(m.h/(1.2*vg.Centimeter))), false)
	var widest vg.Length
	for _, t := range m.barTicks {
		widest = max(widest, tickText.width(t.label))
	}
	m.room.right = max(m.room.right, barGap+barWidth+tickLength+labelGap/2+widest)
	if heat.BarLabel != "" {
		m.barLabel = axisLabel(heat.BarLabel, max(m.h, 4*vg.Centimeter))
		m.room.right += labelGap + m.barLabel.height()
	}
}

var footStyle = textStyle{size: 9, color: footText}

// touching reports whether labels run into each other on a horizontal axis.
func touching(ticks []tick, a axis, length vg.Length) bool {
	sorted := slices.Clone(ticks)
	slices.SortStableFunc(sorted, func(s, t tick) int {
		switch {
		case s.at < t.at:
			return -1
		case s.at > t.at:
			return 1
		}
		return 0
	})
	end := vg.Length(math.Inf(-1))
	for _, t := range sorted {
		x, w := vg.Length(a.norm(t.at))*length, tickText.width(t.label)
		if x-w/2 < end+2 {
			return true
		}
		end = x + w/2
	}
	return false
}

// draw draws the panel; corner is the lower left of its data area, left and
// right are the room its column has.
func (m *measured) draw(c draw.Canvas, corner vg.Point, o Options) {
	data := vg.Rectangle{Min: corner, Max: vg.Point{X: corner.X + m.w, Y: corner.Y + m.h}}
	f := &frame{Canvas: draw.Canvas{Canvas: c.Canvas, Rectangle: data}, x: m.x, y: m.y, rows: m.rows}
	midX := f.Center().X
	// Text wider than the data area is centred in the whole panel.
	center := func(w vg.Length) vg.Length {
		if w <= m.w {
			return midX
		}
		return (data.Min.X - m.room.left + data.Max.X + m.room.right) / 2
	}

	titleText.drawLines(c, vg.Point{X: center(titleText.maxWidth(m.title)), Y: data.Max.Y + m.room.top}, m.title, 0.5)
	covered := m.kind == heatPanel || m.kind == imagesPanel
	if !covered {
		m.drawGrid(f)
		if o.Watermark != "" {
			drawWatermark(f, o.Watermark)
		}
	}
	box := data.Path()
	if !covered && !m.HideAxes {
		f.SetLineStyle(lineStyle(greyLine, 0.7, Solid))
		f.Stroke(box)
	}
	marks := shifted(f, m.marks)
	for _, mark := range marks {
		mark.draw(f)
	}
	if m.kind == heatPanel {
		f.SetLineStyle(lineStyle(greyLine, 0.7, Solid))
		f.Stroke(box)
		if !m.marks[0].(Heat).Nominal {
			m.drawBar(f)
		}
	}
	drawLabels(f, m.marks)
	m.drawEnds(f, marks)
	if m.noData {
		s := textStyle{size: 11, color: footText}
		p, half := f.Center(), s.width("no data")/2+3
		f.FillPolygon(color.White, []vg.Point{
			{X: p.X - half, Y: p.Y - 6}, {X: p.X + half, Y: p.Y - 6}, {X: p.X + half, Y: p.Y + 12}, {X: p.X - half, Y: p.Y + 12},
		})
		s.draw(c, p, "no data", 0.5, 0)
	}
	y := m.drawAxes(f)
	for _, block := range []label{m.xLabel, {m.footer, footStyle}} {
		if len(block.lines) > 0 {
			y -= labelGap
			block.style.drawLines(c, vg.Point{X: center(block.width()), Y: y}, block.lines, 0.5)
			y -= block.height()
		}
	}
	if len(m.legendRows) > 0 {
		var width vg.Length
		for _, row := range m.legendRows {
			width = max(width, row[len(row)-1].x+row[len(row)-1].w)
		}
		drawLegend(c, vg.Point{X: center(width), Y: y - 2*labelGap}, m.legendRows)
	}
}

func (m *measured) drawGrid(f *frame) {
	if m.HideAxes {
		return
	}
	s := lineStyle(gridLine, 0.6, Solid)
	for _, t := range m.xTicks {
		if x := f.X(m.x.norm(t.at)); t.label != "" {
			f.StrokeLine2(s, x, f.Min.Y, x, f.Max.Y)
		}
	}
	for _, t := range m.yTicks {
		if y := f.Y(m.y.norm(t.at)); t.label != "" {
			f.StrokeLine2(s, f.Min.X, y, f.Max.X, y)
		}
	}
}

// drawAxes draws ticks and labels and returns the height below the x axis'
// ticks.
func (m *measured) drawAxes(f *frame) vg.Length {
	s := lineStyle(greyLine, 0.7, Solid)
	low := vg.Length(0)
	for _, t := range m.xTicks {
		x, length := f.X(m.x.norm(t.at)), vg.Length(tickLength)
		if t.label == "" {
			length /= 2
		}
		f.StrokeLine2(s, x, f.Min.Y, x, f.Min.Y-length)
		top := vg.Point{X: x, Y: f.Min.Y - tickLength - labelGap/2}
		if m.turned {
			top.X += tickText.size * capHeight / 2
			tickText.draw(f, top, t.label, 1, math.Pi/2)
			low = max(low, tickText.width(t.label))
		} else {
			tickText.drawLines(f, top, []string{t.label}, 0.5)
			low = max(low, tickText.height(1))
		}
	}
	for _, t := range m.yTicks {
		y, length := f.Y(m.y.norm(t.at)), vg.Length(tickLength)
		if t.label == "" {
			length /= 2
		}
		f.StrokeLine2(s, f.Min.X, y, f.Min.X-length, y)
		lines := strings.Split(t.label, "\n")
		top := y + (vg.Length(len(lines)-1)*tickText.lineHeight()+tickText.size*capHeight)/2
		tickText.drawLines(f, vg.Point{X: f.Min.X - tickLength - labelGap/2, Y: top}, lines, 1)
	}
	m.yLabel.drawUpright(f, vg.Point{X: f.Min.X - m.room.left, Y: f.Center().Y})
	if len(m.xTicks) == 0 {
		return f.Min.Y
	}
	return f.Min.Y - tickLength - labelGap/2 - low
}

// drawBar draws the colour bar right of the data.
func (m *measured) drawBar(f *frame) {
	heat := m.marks[0].(Heat)
	bar := draw.Canvas{Canvas: f.Canvas.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: f.Max.X + barGap, Y: f.Min.Y}, Max: vg.Point{X: f.Max.X + barGap + barWidth, Y: f.Max.Y},
	}}
	bar.DrawImage(bar.Rectangle, barImage())
	s := lineStyle(greyLine, 0.7, Solid)
	bar.SetLineStyle(s)
	bar.Stroke(bar.Path())
	a := axis{lo: heat.Min, hi: heat.Max}
	widest := vg.Length(0)
	for _, t := range m.barTicks {
		y := bar.Y(a.norm(t.at))
		bar.StrokeLine2(s, bar.Max.X, y, bar.Max.X+tickLength, y)
		tickText.draw(bar, vg.Point{X: bar.Max.X + tickLength + labelGap/2, Y: y - tickText.size*capHeight/2}, t.label, 0, 0)
		widest = max(widest, tickText.width(t.label))
	}
	m.barLabel.drawUpright(bar, vg.Point{X: bar.Max.X + tickLength + labelGap/2 + widest + labelGap, Y: bar.Center().Y})
}

// drawWatermark writes text in faint letters along the falling diagonal, since
// many data rise; they are drawn over it.
func drawWatermark(f *frame, txt string) {
	size := f.Size()
	angle := -math.Atan2(float64(size.Y), float64(size.X))
	s := textStyle{size: 10, bold: true, color: faintText}
	room := 0.8 * vg.Length(math.Hypot(float64(size.X), float64(size.Y)))
	s.size = min(26, s.size*room/s.width(txt))
	sin, cos := math.Sincos(angle)
	p := f.Center()
	half := s.size * capHeight / 2
	s.draw(f, vg.Point{X: p.X + half*vg.Length(sin), Y: p.Y - half*vg.Length(cos)}, txt, 0.5, angle)
}
