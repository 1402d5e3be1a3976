package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"golang.org/x/image/font/sfnt"
	_ "gonum.org/v1/plot" // its init function fills the font cache
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	stdfont "golang.org/x/image/font"

	"metriclab/internal/printable"
)

// The colours, and Grey. Others are numbers too: the palette repeats.
const (
	Grey = iota - 1
	Blue
	Vermillion
	Green
	Purple
	Orange
	Sky
	Black
	Olive
	Indigo
	Brown
)

// palette is the colour set of Okabe and Ito (2008, "Color Universal Design"),
// ordered so that neighbours differ most. Their yellow is nearly white: olive takes its
// place. Two dark colours follow, so that ten classes have one each.
var palette = []struct {
	name string
	color.NRGBA
}{
	{"blue", color.NRGBA{0x00, 0x72, 0xb2, 0xff}},
	{"vermillion", color.NRGBA{0xd5, 0x5e, 0x00, 0xff}},
	{"green", color.NRGBA{0x00, 0x9e, 0x73, 0xff}},
	{"purple", color.NRGBA{0xcc, 0x79, 0xa7, 0xff}},
	{"orange", color.NRGBA{0xe6, 0x9f, 0x00, 0xff}},
	{"sky blue", color.NRGBA{0x56, 0xb4, 0xe9, 0xff}},
	{"black", color.NRGBA{0x00, 0x00, 0x00, 0xff}},
	{"olive", color.NRGBA{0xb4, 0xb4, 0x32, 0xff}},
	{"indigo", color.NRGBA{0x33, 0x22, 0x88, 0xff}},
	{"brown", color.NRGBA{0x66, 0x33, 0x00, 0xff}},
}

var (
	ink       = color.NRGBA{0x22, 0x22, 0x22, 0xff}
	greyLine  = color.NRGBA{0x80, 0x80, 0x80, 0xff}
	gridLine  = color.NRGBA{0xe8, 0xe8, 0xe8, 0xff}
	faintText = color.NRGBA{0xe2, 0xe2, 0xe2, 0xff} // watermark behind data
	footText  = color.NRGBA{0x90, 0x90, 0x90, 0xff} // watermark beside images
	badCell   = color.NRGBA{0xd9, 0xd9, 0xd9, 0xff} // heat cell that is not finite
	badPixel  = color.NRGBA{0xf4, 0xb6, 0xc2, 0xff} // image pixel that is not finite
)

// paint returns the colour of an index: the palette repeats, Grey is grey.
func paint(index int) color.NRGBA {
	if index == Grey {
		return greyLine
	}
	return palette[index%len(palette)].NRGBA
}

// greyStep is the least difference in lightness that a grey print shows in thin lines.
const greyStep = 15

// lightness is the L* of CIELAB, from 0 for black to 100 for white: what a grey print keeps of a colour.
func lightness(c color.NRGBA) float64 {
	y := luminance(c)
	if y <= 216.0/24389 {
		return y * 24389 / 27
	}
	return 116*math.Cbrt(y) - 16
}

// luminance is that of sRGB (IEC 61966-2-1).
func luminance(c color.NRGBA) float64 {
	lin := func(v uint8) float64 {
		u := float64(v) / 255
		if u <= 0.04045 {
			return u / 12.92
		}
		return math.Pow((u+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(c.R) + 0.7152*lin(c.G) + 0.0722*lin(c.B)
}

func fade(c color.NRGBA, alpha float64) color.NRGBA {
	c.A = uint8(alpha*255 + 0.5)
	return c
}

// darken makes a colour of lines one that small letters can be read in.
func darken(c color.NRGBA) color.NRGBA {
	const share = 0.8
	return color.NRGBA{uint8(share * float64(c.R)), uint8(share * float64(c.G)), uint8(share * float64(c.B)), c.A}
}

// heatAnchors are colours of the viridis map (van der Walt and Smith, 2015,
// CC0) at equal steps; its lightness grows evenly, so that it also reads in
// grey.
var heatAnchors = []color.NRGBA{
	{0x44, 0x01, 0x54, 0xff}, {0x47, 0x2d, 0x7b, 0xff}, {0x3b, 0x52, 0x8b, 0xff},
	{0x2c, 0x72, 0x8e, 0xff}, {0x21, 0x91, 0x8c, 0xff}, {0x28, 0xae, 0x80, 0xff},
	{0x5e, 0xc9, 0x62, 0xff}, {0xad, 0xdc, 0x30, 0xff}, {0xfd, 0xe7, 0x25, 0xff},
}

// heatColor maps u in [0, 1] to a colour.
func heatColor(u float64) color.NRGBA {
	at := min(max(u, 0), 1) * float64(len(heatAnchors)-1)
	i := min(int(at), len(heatAnchors)-2)
	f := at - float64(i)
	a, b := heatAnchors[i], heatAnchors[i+1]
	mix := func(p, q uint8) uint8 { return uint8(math.Round((1-f)*float64(p) + f*float64(q))) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

// The dashes of lines. Others are numbers too: they repeat.
const (
	Solid = iota
	Dashed
	Dotted
	LongDashed
	DashDotDot
	TwoDashes
)

// dashes are the lengths of strokes and gaps of each dash.
var dashes = []struct {
	name    string
	lengths []vg.Length
}{
	{"solid", nil}, {"dashed", []vg.Length{4, 3}}, {"dotted", []vg.Length{1.4, 1.8}}, {"long-dashed", []vg.Length{10, 3}},
	{"dash-dot-dot", []vg.Length{7, 2, 1.4, 2, 1.4, 2}}, {"two-dashed", []vg.Length{8, 2, 3, 2}},
}

// lineStyle returns a stroke.
func lineStyle(c color.Color, width vg.Length, dash int) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width, Dashes: dashes[dash%len(dashes)].lengths}
}

func checkDash(index int) error { return checkIndex("Dash", index) }

func checkShape(index int) error { return checkIndex("Shape", index) }

func checkIndex(field string, index int) error {
	if index < 0 {
		return fmt.Errorf("field %s is %d, want an index from 0", field, index)
	}
	return nil
}

// The shapes of glyphs. Others are numbers too: they repeat.
const (
	Circle = iota
	Triangle
	Square
	Diamond
	Downward
	Plus
	Cross
	Ring
	shapeCount
)

var shapeNames = [shapeCount]string{"circles", "triangles", "squares", "diamonds", "downward triangles", "pluses", "crosses", "rings"}

// glyph draws the marker of a shape index at p. Shapes repeat after
// shapeCount.
func glyph(c *draw.Canvas, shape int, col color.Color, r vg.Length, p vg.Point, outline bool) {
	poly := func(xy ...vg.Length) vg.Path {
		var pa vg.Path
		pa.Move(vg.Point{X: p.X + r*xy[0], Y: p.Y + r*xy[1]})
		for i := 2; i < len(xy); i += 2 {
			pa.Line(vg.Point{X: p.X + r*xy[i], Y: p.Y + r*xy[i+1]})
		}
		return pa
	}
	var pa vg.Path
	switch shape %= shapeCount; shape {
	case Circle, Ring:
		pa = circle(p, r)
	case Triangle:
		pa = poly(0, 1.3, -1.15, -0.75, 1.15, -0.75)
		pa.Close()
	case Square:
		pa = poly(-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9)
		pa.Close()
	case Diamond:
		pa = poly(0, 1.35, -1.35, 0, 0, -1.35, 1.35, 0)
		pa.Close()
	case Downward:
		pa = poly(0, -1.3, -1.15, 0.75, 1.15, 0.75)
		pa.Close()
	case Plus, Cross:
		line := draw.LineStyle{Color: col, Width: r * 0.5}
		a, b := poly(-1.3, 0, 1.3, 0), poly(0, -1.3, 0, 1.3)
		if shape == Cross {
			a, b = poly(-1, -1, 1, 1), poly(-1, 1, 1, -1)
		}
		c.SetLineStyle(line)
		c.Stroke(a)
		c.Stroke(b)
		return
	}
	if shape == Ring {
		c.SetLineStyle(draw.LineStyle{Color: col, Width: r * 0.45})
		c.Stroke(pa)
		return
	}
	c.SetColor(col)
	c.Fill(pa)
	if outline {
		c.SetLineStyle(draw.LineStyle{Color: color.White, Width: 0.4})
		c.Stroke(pa)
	}
}

func circle(p vg.Point, r vg.Length) vg.Path {
	var pa vg.Path
	pa.Move(vg.Point{X: p.X + r, Y: p.Y})
	pa.Arc(p, r, 0, 2*math.Pi)
	pa.Close()
	return pa
}

// Text. The handlers of gonum/plot know neither superscripts nor missing
// glyphs, and the font lacks most superscripts, so they are set here from the
// plain letters.

type textStyle struct {
	size  vg.Length
	bold  bool
	color color.Color
}

var (
	titleText  = textStyle{size: 11, bold: true, color: ink}
	labelText  = textStyle{size: 10.5, color: ink}
	tickText   = textStyle{size: 9.5, color: ink}
	legendText = textStyle{size: 10, color: ink}
	pointText  = textStyle{size: 9, color: ink}
)

const (
	lineSpacing = 1.25 // baseline to baseline, of the size
	capHeight   = 0.73 // of the size
	descent     = 0.22 // of the size
)

func (s textStyle) lineHeight() vg.Length { return s.size * lineSpacing }

// height is that of n lines from the top of the capitals to the descenders.
func (s textStyle) height(n int) vg.Length {
	if n == 0 {
		return 0
	}
	return vg.Length(n-1)*s.lineHeight() + s.size*(capHeight+descent)
}

// raised and lowered map superscripts and subscripts to letters of the font.
var (
	raised = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7",
		"⁸", "8", "⁹", "9", "⁻", "−", "⁺", "+", "ᵀ", "T", "⊤", "T", "ⁿ", "n", "ᵏ", "k", "ᵗ", "t")
	lowered = strings.NewReplacer("₀", "0", "₁", "1", "₂", "2", "₃", "3", "₄", "4", "₅", "5", "₆", "6", "₇", "7",
		"₈", "8", "₉", "9", "₋", "−", "₊", "+", "ₖ", "k", "ₙ", "n", "ₜ", "t", "ᵢ", "i", "ⱼ", "j")
	// plainer replaces symbols that the font lacks by near ones it has.
	plainer = strings.NewReplacer("⪰", "≥", "≽", "≥", "∥", "‖", "⟨", "<", "⟩", ">")
)

// run is a piece of text at one level: 0 on the baseline, 1 raised, -1 lowered.
type run struct {
	text  string
	level int
}

func runs(s string) []run {
	var out []run
	var text strings.Builder // of the run at hand: long text must not be copied for each letter
	now := 0
	end := func() {
		if text.Len() > 0 {
			out = append(out, run{text.String(), now})
			text.Reset()
		}
	}
	for _, r := range plainer.Replace(s) {
		switch {
		case r == '\t' || r == '\n':
			r = ' '
		case printable.Special(r) || r == '\ufffe' || r == '\uffff': // XML has no control characters
			r = '\ufffd'
		}
		piece, level := string(r), 0
		if up := raised.Replace(piece); up != piece {
			piece, level = up, 1
		} else if low := lowered.Replace(piece); low != piece {
			piece, level = low, -1
		}
		if level != now {
			end()
			now = level
		}
		text.WriteString(piece)
	}
	end()
	return out
}

func (s textStyle) face(level int) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if s.bold {
		f.Weight = stdfont.WeightBold
	}
	size := s.size
	if level != 0 {
		size *= 0.72
	}
	return font.DefaultCache.Lookup(f, size)
}

func (s textStyle) width(txt string) vg.Length {
	var w vg.Length
	for _, r := range runs(txt) {
		face := s.face(r.level)
		w += face.Width(r.text)
	}
	return w
}

func (s textStyle) maxWidth(lines []string) vg.Length {
	var w vg.Length
	for _, l := range lines {
		w = max(w, s.width(l))
	}
	return w
}

// draw writes one line whose baseline passes through p, turned by angle
// (radians, counter-clockwise). align 0 starts the text at p, 0.5 centres it
// and 1 ends it there.
func (s textStyle) draw(c vg.Canvas, p vg.Point, txt string, align, angle float64) {
	x := -vg.Length(align) * s.width(txt)
	base := p
	if angle != 0 {
		c.Push()
		defer c.Pop()
		c.Translate(p)
		c.Rotate(angle)
		base = vg.Point{}
	}
	c.SetColor(s.color)
	for _, r := range runs(txt) {
		face := s.face(r.level)
		y := vg.Length(0)
		switch r.level {
		case 1:
			y = s.size * 0.36
		case -1:
			y = -s.size * 0.16
		}
		c.FillString(face, base.Add(vg.Point{X: x, Y: y}), r.text)
		x += face.Width(r.text)
	}
}

// drawLines writes lines downwards; top is the top of the first capitals.
func (s textStyle) drawLines(c vg.Canvas, top vg.Point, lines []string, align float64) {
	for i, l := range lines {
		y := top.Y - s.size*capHeight - vg.Length(i)*s.lineHeight()
		s.draw(c, vg.Point{X: top.X, Y: y}, l, align, 0)
	}
}

// wrap breaks text at spaces so that no line is wider than width, except for
// single words. Newlines break always.
func (s textStyle) wrap(txt string, width vg.Length) []string {
	if txt == "" {
		return nil
	}
	var out []string
	for _, para := range strings.Split(txt, "\n") {
		line := ""
		for _, word := range strings.Fields(para) {
			switch {
			case line == "":
				line = word
			case s.width(line+" "+word) <= width:
				line += " " + word
			default:
				out = append(out, line)
				line = word
			}
		}
		out = append(out, line)
	}
	return out
}

// label is the title of an axis, in lines.
type label struct {
	lines []string
	style textStyle
}

func (l label) height() vg.Length { return l.style.height(len(l.lines)) }

func (l label) width() vg.Length { return l.style.maxWidth(l.lines) }

// drawUpright writes the lines from the bottom to the top, the first one right of p and all about its height.
func (l label) drawUpright(c vg.Canvas, p vg.Point) {
	for i, line := range l.lines {
		x := p.X + l.style.size*capHeight + vg.Length(i)*l.style.lineHeight()
		l.style.draw(c, vg.Point{X: x, Y: p.Y}, line, 0.5, math.Pi/2)
	}
}

// axisLabel breaks the title of an axis into lines as equal as they can be, the last of which has two words at least: a
// unit alone reads as a title of its own. Where only that would fit, the title is set smaller.
func axisLabel(txt string, width vg.Length) label {
	lines, words := labelText.wrap(txt, width), strings.Fields(txt)
	const most, long = 4, 20 // lines, and words, that are broken with care
	if len(lines) < 2 || len(lines) > most || len(words) > long || strings.Contains(txt, "\n") {
		return label{lines, labelText}
	}
	const smallest = 7 // of letters that can be read
	for s := labelText; s.size >= smallest; s.size -= 0.5 {
		for n := 1; n <= len(lines); n++ {
			if fit := s.balanced(words, n, 2); fit != nil && s.maxWidth(fit) <= width {
				return label{fit, s}
			}
		}
	}
	return label{lines, labelText}
}

// balanced joins words to n lines of which the widest is as narrow as it can be, and the last has so many words at least; nil
// if there are too few.
func (s textStyle) balanced(words []string, n, inLast int) (best []string) {
	if n == 1 && len(words) >= inLast {
		return []string{strings.Join(words, " ")}
	}
	least := vg.Length(math.Inf(1))
	for k := n - 1; k <= len(words)-inLast && n > 1; k++ {
		rest, last := s.balanced(words[:k], n-1, 1), strings.Join(words[k:], " ")
		if w := max(s.maxWidth(rest), s.width(last)); w < least {
			best, least = append(rest, last), w
		}
	}
	return best
}

// lacking returns the characters of txt that the figures' font cannot draw.
func lacking(txt string) string {
	var buf sfnt.Buffer
	face := labelText.face(0)
	var out []rune
	for _, r := range runs(strings.ReplaceAll(txt, "\n", " ")) {
		for _, c := range r.text {
			if slices.Contains(out, c) {
				continue
			}
			if g, err := face.Face.GlyphIndex(&buf, c); err != nil || g == 0 {
				out = append(out, c)
			}
		}
	}
	return string(out)
}
