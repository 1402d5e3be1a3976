package plots

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// File is a rendered file in memory.
type File struct {
	Name string // no folder
	Data []byte
}

// Options say how a Drawing is rendered. The zero value is the default.
type Options struct {
	// Watermark is written faintly into every panel and above the caption,
	// such as "smoke scale: not a result".
	Watermark string
	// DPI is the resolution of PNG in dots per inch, 36 to 600; 0 is 150.
	DPI int
}

// dpi returns the resolution, or an error.
func (o Options) dpi() (int, error) {
	switch {
	case o.DPI == 0:
		return defaultDPI, nil
	case o.DPI < 36 || o.DPI > 600:
		return 0, fmt.Errorf("plots: field DPI: %d is not allowed, want 36 to 600, or 0 for %d", o.DPI, defaultDPI)
	}
	return o.DPI, nil
}

// figureWidth is the widest figure that keeps text readable on a page; gaps
// and margin are those between and around panels. defaultDPI is the resolution of
// PNG.
const (
	figureWidth = 20 * vg.Centimeter
	oneColumn   = 9.5 * vg.Centimeter // data width of a figure with one column
	manyColumns = 7.5 * vg.Centimeter // at most, with more columns
	columnGap   = 16
	rowGap      = 16
	margin      = 6
	defaultDPI  = 150
)

// Render returns name.svg and name.png (of the DPI of o) if the drawing has panels,
// name.gif (90 dpi) if it has frames, and name.md always: image links, caption,
// notes and text table, without a title. Equal drawings give equal bytes.
//
// Data that cannot be drawn are left out and counted in the notes of name.md: NaN and
// infinities, values that are not positive on a log axis, points outside a fixed axis.
// Render returns an error, which names panel (or frame), mark and field. Errors are
// slices of different lengths, empty images and matrices, marks that cannot share a
// panel, and frames of different sizes or without panels. So are an empty drawing, a
// DPI that is not allowed, and images of more than 120 million pixels.
func (d Drawing) Render(name string, o Options) ([]File, error) {
	if name == "" || strings.ContainsAny(name, "/\\ ") {
		return nil, fmt.Errorf("plots: name %q, want a file name without folder, blank and extension", name)
	}
	panels, frames, warnings, err := d.prepare()
	if err != nil {
		return nil, err
	}
	var files []File
	dpi, err := o.dpi()
	if err != nil {
		return nil, err
	}
	if len(panels) > 0 {
		fig, err := d.fitting(panels, o, float64(dpi), 1)
		if err != nil {
			return nil, err
		}
		svg, err := fig.svg()
		if err != nil {
			return nil, err
		}
		img, err := fig.png(dpi)
		if err != nil {
			return nil, err
		}
		files = append(files, File{name + ".svg", svg}, File{name + ".png", img})
	}
	if len(frames) > 0 {
		data, err := animate(frames, o)
		if err != nil {
			return nil, err
		}
		files = append(files, File{name + ".gif", data})
	}
	d.Caption = d.Caption.withCuts(slices.Concat(panels, frames)...)
	return append(files, File{name + ".md", d.markdown(name, warnings, o)}), nil
}

// PNG returns the panels as a PNG image, for notebooks. It returns
// an error if the drawing has no panels, and the errors of Render.
func (d Drawing) PNG(o Options) ([]byte, error) {
	panels, _, _, err := d.prepare()
	if err != nil {
		return nil, err
	}
	if len(panels) == 0 {
		return nil, fmt.Errorf("plots: the drawing has no panels")
	}
	dpi, err := o.dpi()
	if err != nil {
		return nil, err
	}
	fig, err := d.fitting(panels, o, float64(dpi), 1)
	if err != nil {
		return nil, err
	}
	return fig.png(dpi)
}

// Warnings returns Notes and what Render adds to them: what the panels leave
// out and why. Its errors are those of Render.
func (d Drawing) Warnings() ([]string, error) {
	_, _, warnings, err := d.prepare()
	return warnings, err
}

// prepare checks the whole drawing and returns its panels, its frames and its
// notes with what is left out.
func (d Drawing) prepare() (panels, frames []*prepared, warnings []string, err error) {
	if len(d.Panels) == 0 && len(d.Frames) > 0 {
		return nil, nil, nil, fmt.Errorf("plots: the drawing has %d Frames and no Panels, want Panels too, for viewers that show stills", len(d.Frames))
	}
	if len(d.Panels) == 0 && d.Text == nil {
		return nil, nil, nil, fmt.Errorf("plots: the drawing has neither Panels nor Text")
	}
	if d.Columns < 0 {
		return nil, nil, nil, fmt.Errorf("plots: Columns is %d, want at least 0", d.Columns)
	}
	if d.Text != nil {
		if err := d.Text.check(); err != nil {
			return nil, nil, nil, fmt.Errorf("plots: Text: %w", err)
		}
	}
	if err := d.Caption.check(); err != nil {
		return nil, nil, nil, fmt.Errorf("plots: Caption: %w", err)
	}
	panels, left, err := prepareAll(d.Panels, "panel")
	if err != nil {
		return nil, nil, nil, err
	}
	frames, more, err := prepareAll(d.Frames, "frame")
	if err != nil {
		return nil, nil, nil, err
	}
	if _, err := stylesOf(slices.Concat(panels, frames)); err != nil {
		return nil, nil, nil, err
	}
	return panels, frames, slices.Concat(d.Notes, left, more), nil
}

// prepareAll prepares panels, or frames, which kind says, and returns notes of
// what is left out.
func prepareAll(all []Panel, kind string) (out []*prepared, left []string, err error) {
	for i, p := range all {
		n := notes{}
		if len(all) > 1 || kind == "frame" {
			capital := strings.ToUpper(kind[:1]) + kind[1:]
			n.where = fmt.Sprintf("%s %d: ", capital, i+1)
			if p.Title != "" {
				n.where = fmt.Sprintf("%s %q: ", capital, oneLine(p.Title))
			}
		}
		q, err := p.prepare(&n)
		if err != nil {
			return nil, nil, fmt.Errorf("plots: %s %d (%q): %w", kind, i, p.Title, err)
		}
		q.moves = kind == "frame"
		if miss := lacking(q.allText()); miss != "" {
			n.add("The figure's font lacks %s.", strings.Join(strings.Split(miss, ""), " "))
		}
		out = append(out, q)
		left = append(left, n.list...)
	}
	shareZero(out)
	return out, left, nil
}

// allText returns all text that is drawn in the panel.
func (p *prepared) allText() string {
	parts := []string{p.Title, p.XLabel, p.YLabel}
	parts = append(parts, p.rows...)
	for _, t := range p.XTicks {
		parts = append(parts, t.Label)
	}
	for _, m := range p.marks {
		if e, ok := m.legend(); ok {
			parts = append(parts, e.name)
		}
		switch m := m.(type) {
		case Points:
			parts = append(append(parts, m.Glyph), m.Labels...)
		case Heat:
			parts = append(parts, m.BarLabel)
			for _, t := range slices.Concat(m.XTicks, m.YTicks) {
				parts = append(parts, t.Label)
			}
		}
	}
	return strings.Join(parts, "")
}

// shareLegend marks the panels whose legends are drawn once for the whole figure: those that share a name with another
// panel.
func shareLegend(panels []*prepared) {
	count := map[string]int{}
	for _, p := range panels {
		names, _ := merged(p.legend)
		for _, name := range names {
			count[name]++
		}
	}
	for _, p := range panels {
		p.shared = slices.ContainsFunc(p.legend, func(e entry) bool { return count[e.name] > 1 })
	}
}

// sharedLegend returns the entries that are drawn once for all panels.
func sharedLegend(panels []*prepared) []entry {
	var all []entry
	for _, p := range panels {
		if p.shared {
			all = append(all, p.legend...)
		}
	}
	return all
}

// figure is a laid out drawing.
type figure struct {
	w, h   vg.Length
	panels []*measured
	at     []vg.Point // lower left corner of each data area
	legend [][]legendCell
	o      Options
}

// maxPixels bounds an image, or all frames of an animation together: 60 pages.
const maxPixels = 120_000_000

// fitting is layout; it returns an error if so many images of the figure would have
// too many pixels, as thousands of panels do.
func (d Drawing) fitting(panels []*prepared, o Options, dpi float64, images int) (*figure, error) {
	f := d.layout(panels, o)
	w, h := f.w.Dots(dpi), f.h.Dots(dpi)
	if n := w * h * float64(images); !(n <= maxPixels) {
		return nil, fmt.Errorf("plots: the figure would have %.3g×%.3g pixels in %d image(s), %.3g in all, want at most %.3g: fewer panels or shorter text", w, h, images, n, float64(maxPixels))
	}
	return f, nil
}

// layout finds sizes and places. The data areas of a row share their top,
// those of a column their left.
func (d Drawing) layout(panels []*prepared, o Options) *figure {
	cols := min(max(d.Columns, 1), len(panels))
	room := manyColumns
	if cols == 1 {
		room = oneColumn
		if panels[0].kind == imagesPanel {
			room = figureWidth - 2*margin
		}
	}
	g := d.grid(panels, cols, room, o)
	f := &figure{panels: g.panels, at: make([]vg.Point, len(g.panels)), o: o}
	x := g.lefts(f)
	y := g.place(f, x)
	if all := sharedLegend(panels); len(all) > 0 {
		f.legend = flowLegend(all, f.w-2*margin)
		y += rowGap + legendHeight(f.legend)
	}
	f.h = y + margin
	for i := range f.at {
		f.at[i].Y = f.h - f.at[i].Y
	}
	return f
}

// grid measures the panels, with names at the ends of lines if that leaves the data enough room.
func (d Drawing) grid(panels []*prepared, cols int, room vg.Length, o Options) *grid {
	width := vg.Length(endWidth)
	if cols > 1 {
		width = endsWidth
	}
	if slices.ContainsFunc(panels, func(p *prepared) bool { _, ok := p.ending(width); return !ok }) {
		width = 0
	}
	for ; ; width = 0 {
		setNames(panels, width)
		// Room around the data depends on tick labels, these on the size of the
		// data area: two passes are enough since labels change little.
		var g *grid
		left := room
		for range 3 {
			g = newGrid(panels, cols, left, o)
			total := g.total()
			if total <= figureWidth {
				break
			}
			left -= (total - figureWidth) / vg.Length(cols)
		}
		if width == 0 || g.hasRoomForEnds() {
			return g
		}
	}
}

// hasRoomForEnds reports whether the names at the ends of lines leave the data enough room, and find room beside them.
func (g *grid) hasRoomForEnds() bool {
	for _, m := range g.panels {
		var pile vg.Length
		for _, e := range m.ends {
			pile += e.height()
		}
		if len(m.ends) > 0 && (m.w < minEndsData || pile > m.h+legendText.lineHeight()) {
			return false
		}
	}
	return true
}

// grid has the panels of a figure in columns, measured.
type grid struct {
	panels []*measured
	column []sides     // the room of each column beside its data areas
	width  []vg.Length // the widest data area of each column
}

// newGrid measures the panels where a data area may be as wide as room.
func newGrid(panels []*prepared, cols int, room vg.Length, o Options) *grid {
	g := &grid{column: make([]sides, cols), width: make([]vg.Length, cols)}
	for i, p := range panels {
		w, h := p.dataSize(room)
		m := p.measure(w, h, o)
		g.panels = append(g.panels, m)
		c := &g.column[i%cols]
		c.left, c.right = max(c.left, m.room.left), max(c.right, m.room.right)
		g.width[i%cols] = max(g.width[i%cols], w)
	}
	// Images have no axes and fill the room of those above or below, all
	// alike.
	least := figureWidth
	for c := range cols {
		least = min(least, g.column[c].left+g.width[c]+g.column[c].right)
	}
	for i, p := range panels {
		if p.kind == imagesPanel && p.YLabel == "" {
			w, h := p.dataSize(least - 2*labelGap)
			g.panels[i] = p.measure(w, h, o)
		}
	}
	return g
}

// total is the width of a figure of the grid.
func (g *grid) total() vg.Length {
	total := vg.Length(2*margin) + columnGap*vg.Length(len(g.column)-1)
	for c := range g.column {
		total += g.column[c].left + g.width[c] + g.column[c].right
	}
	return total
}

// lefts returns where the data areas of each column begin, and sets the width of f.
func (g *grid) lefts(f *figure) []vg.Length {
	x := make([]vg.Length, len(g.column))
	f.w = margin
	for c := range g.column {
		if c > 0 {
			f.w += columnGap
		}
		x[c] = f.w + g.column[c].left
		f.w = x[c] + g.width[c] + g.column[c].right
	}
	f.w += margin
	return x
}

// place sets where the panels of f stand, with heights that are counted from the top and turned round at the end,
// and returns that of the last row's end; x is where the data areas of each column begin.
func (g *grid) place(f *figure, x []vg.Length) vg.Length {
	cols := len(g.column)
	y := vg.Length(margin)
	for lo := 0; lo < len(g.panels); lo += cols {
		row := g.panels[lo:min(lo+cols, len(g.panels))]
		var top, below vg.Length
		for _, m := range row {
			top = max(top, m.room.top)
			below = max(below, m.h+m.room.bottom)
		}
		if lo > 0 {
			y += rowGap
		}
		y += top
		for c, m := range row {
			left := x[c] + (g.width[c]-m.w)/2
			if m.w > g.width[c] {
				left = x[c] + (g.width[c]+g.column[c].right-g.column[c].left-m.w)/2
			}
			f.at[lo+c] = vg.Point{X: left, Y: y + m.h}
		}
		y += below
	}
	return y
}

func (f *figure) draw(c vg.CanvasSizer) {
	dc := draw.New(c)
	dc.SetColor(image.White.C)
	dc.Fill(dc.Path())
	for i, m := range f.panels {
		m.draw(dc, f.at[i], f.o)
	}
	if len(f.legend) > 0 {
		drawLegend(dc, vg.Point{X: f.w / 2, Y: margin + legendHeight(f.legend)}, f.legend)
	}
}

// raster draws the figure in pixels.
func (f *figure) raster(dpi int) image.Image {
	c := vgimg.NewWith(vgimg.UseWH(f.w, f.h), vgimg.UseDPI(dpi))
	f.draw(c)
	return c.Image()
}

func (f *figure) png(dpi int) ([]byte, error) {
	var buf bytes.Buffer
	if err := png.Encode(&buf, f.raster(dpi)); err != nil {
		return nil, fmt.Errorf("plots: %w", err)
	}
	return buf.Bytes(), nil
}

func (f *figure) svg() ([]byte, error) {
	c := &svgCanvas{Canvas: vgsvg.New(f.w, f.h)}
	f.draw(c)
	var buf bytes.Buffer
	if _, err := c.WriteTo(&buf); err != nil {
		return nil, fmt.Errorf("plots: %w", err)
	}
	// The embedded images are PNG, whatever the back-end says, and must fill their rectangle as
	// they do in PNG.
	return bytes.ReplaceAll(c.fitted(buf.Bytes()), []byte(`xlink:href="data:image/jpg;base64,`), []byte(`preserveAspectRatio="none" xlink:href="data:image/png;base64,`)), nil
}

// svgCanvas keeps the widths of the texts that are drawn on it.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length
}

func (c *svgCanvas) FillString(f font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, f.Width(text))
	c.Canvas.FillString(f, at, text)
}

// svgFonts are for the whole figure. Few readers have the Liberation fonts; Arial has the same widths.
const svgFonts = `<svg style="font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif" `

// plainStyle leaves of the style of a text what is not that of all.
var plainStyle = strings.NewReplacer("font-family:Liberation Sans;", "", "font-variant:normal;", "", "font-weight:normal;", "", "font-style:normal;", "")

// fitted is the SVG in which each text is as wide as it was measured, whatever font a reader has.
func (c *svgCanvas) fitted(data []byte) []byte {
	parts := strings.Split(strings.Replace(string(data), "<svg ", svgFonts, 1), "<text ")
	var out bytes.Buffer
	out.WriteString(parts[0])
	for i, part := range parts[1:] {
		tag, rest, _ := strings.Cut(part, ">")
		fmt.Fprintf(&out, `<text textLength="%.4g" lengthAdjust="spacingAndGlyphs" %s>%s`, c.widths[i].Points(), plainStyle.Replace(tag), rest)
	}
	return out.Bytes()
}
