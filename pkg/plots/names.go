package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// look is how a mark shows its name. Style holds what the kind shows.
type look struct {
	kind  lookKind
	style Style
	glyph string // of Points, in place of the shape
}

// lookOf is the look of a style, whose numbers repeat.
func lookOf(kind lookKind, s Style) look {
	if s.Color != Grey {
		s.Color %= len(palette)
	}
	return look{kind: kind, style: Style{s.Color, s.Dash % len(dashes), s.Shape % shapeCount}}
}

// lookKind tells marks apart that no one takes for each other, whatever their style.
type lookKind int

const (
	lineLook lookKind = iota
	levelLook
	arrowLook
	glyphLook
)

// entry is a mark in the legend. Entries of one name are drawn over each other.
type entry struct {
	name   string
	look   look
	detail string               // what the icon shows beside the look, such as a band
	icon   func(c *draw.Canvas) // fills a canvas of the icon's size
}

// merged puts the entries of one name together, the first of which has its place. Glyphs are drawn over lines, and
// equal icons once.
func merged(all []entry) (names []string, icons [][]entry) {
	for _, e := range all {
		i := slices.Index(names, e.name)
		if i < 0 {
			names, icons = append(names, e.name), append(icons, nil)
			i = len(names) - 1
		}
		if !slices.ContainsFunc(icons[i], func(o entry) bool { return o.look == e.look && o.detail == e.detail }) {
			icons[i] = append(icons[i], e)
		}
	}
	for _, of := range icons {
		slices.SortStableFunc(of, func(a, b entry) int { return cmp.Compare(a.look.kind, b.look.kind) })
	}
	return names, icons
}

// Styles returns how the drawing draws its names. Its errors are those of Render.
func (d Drawing) Styles() (Styles, error) {
	panels, frames, _, err := d.prepare()
	if err != nil {
		return nil, err
	}
	return stylesOf(slices.Concat(panels, frames))
}

// stylesOf returns the styles of the names in panels. It refuses a name with two styles and two names with one.
func stylesOf(panels []*prepared) (Styles, error) {
	var seen []entry
	for _, p := range panels {
		for _, m := range p.marks {
			if e, ok := m.legend(); ok && !slices.ContainsFunc(seen, func(o entry) bool { return o.name == e.name && o.look == e.look }) {
				seen = append(seen, e)
			}
		}
	}
	out := Styles{}
	for i, e := range seen {
		for _, o := range seen[:i] {
			switch {
			case o.name == e.name && (o.look.kind == e.look.kind || o.look.style.Color != e.look.style.Color):
				return nil, fmt.Errorf("plots: the name %q has two styles, %v and %v, want one in all panels", e.name, o.look, e.look)
			case o.name != e.name && o.look == e.look:
				return nil, fmt.Errorf("plots: the names %q and %q have one style, %v, want two", o.name, e.name, e.look)
			}
		}
		s := out[e.name]
		s.Color = e.look.style.Color
		switch e.look.kind {
		case lineLook, arrowLook:
			s.Dash = e.look.style.Dash
		case glyphLook:
			s.Shape = e.look.style.Shape
		}
		out[e.name] = s
	}
	return out, nil
}

// String names a look in an error.
func (l look) String() string {
	color := "grey"
	if l.style.Color != Grey {
		color = palette[l.style.Color].name
	}
	switch l.kind {
	case levelLook:
		return "a " + color + " reference"
	case arrowLook:
		return "a " + dashes[l.style.Dash].name + " " + color + " arrow"
	case glyphLook:
		if l.glyph != "" {
			return fmt.Sprintf("a %s %q", color, l.glyph)
		}
		return color + " " + shapeNames[l.style.Shape]
	}
	return "a " + dashes[l.style.Dash].name + " " + color + " line"
}

// alikeInGrey lists the pairs of names in legends that a grey print does not tell apart: neighbours in lightness with one
// dash or one shape. Lines that carry their names are told apart by them.
func alikeInGrey(panels []*measured) [][2]string {
	var all []entry
	for _, p := range panels {
		all = append(all, p.legend...)
	}
	names, icons := merged(all)
	var out [][2]string
	for i, a := range icons {
		for k, b := range icons[:i] {
			if slices.EqualFunc(looks(a), looks(b), look.alikeInGrey) {
				out = append(out, [2]string{names[k], names[i]})
			}
		}
	}
	return out
}

// looks returns the looks of entries, each once.
func looks(of []entry) []look {
	var out []look
	for _, e := range of {
		if !slices.Contains(out, e.look) {
			out = append(out, e.look)
		}
	}
	return out
}

func (l look) alikeInGrey(o look) bool {
	near := math.Abs(lightness(paint(l.style.Color))-lightness(paint(o.style.Color))) < greyStep
	return near && l.kind == o.kind && l.style.Dash == o.style.Dash && l.style.Shape == o.style.Shape && l.glyph == o.glyph
}

// maxEnds is the number of lines in a panel up to which they carry their names: more would be looked for as long as in a
// legend.
const maxEnds = 8

// Lengths of names at the ends of lines.
const (
	endGap      = 16                  // between the frame and a name
	endWidth    = 4.8 * vg.Centimeter // of a name in a figure of one column: longer ones are broken
	endsWidth   = 2.6 * vg.Centimeter // of a name in more columns
	minEndsData = 4.7 * vg.Centimeter // of the data beside names: panels of less have legends
)

// end is the name of a line at its right end.
type end struct {
	entry
	lines []string
	mark  int
	x, y  float64 // of the line's end
}

// ending returns the names that lines carry at their ends, false if a legend is to have them: there are too many, or a
// line does not end at the right. Those of an animation would move: it has a legend.
func (p *prepared) ending(width vg.Length) ([]end, bool) {
	var out []end
	if p.moves || p.Equal || p.HideAxes || p.kind != axesPanel {
		return nil, true
	}
	for i, m := range p.marks {
		e, named := m.legend()
		if !named {
			continue
		}
		at := end{mark: i, entry: e, lines: legendText.wrap(e.name, width)}
		switch m := m.(type) {
		case Line:
			first, last, ok := m.ends()
			if !ok {
				return nil, false
			}
			if first < 0 {
				continue
			}
			const right = 0.8 // of the axis
			if at.x, at.y = m.X[last], m.Y[last]; p.x.norm(at.x) < right {
				return nil, false
			}
		case Reference:
			if m.Vertical || !p.y.contains(m.At) {
				continue
			}
			at.x, at.y = p.x.hi, m.At
		default:
			continue
		}
		if !slices.ContainsFunc(out, func(o end) bool { return o.name == e.name }) {
			out = append(out, at)
		}
	}
	return out, len(out) <= maxEnds
}

// ends returns the indices of the points at the left and at the right end of a line, -1 if it has no point, and false if it
// turns back between them.
func (m Line) ends() (left, right int, ok bool) {
	left, right = -1, -1
	up, down := true, true
	before := math.NaN()
	for i, x := range m.X {
		if !isFinite(x) {
			continue
		}
		if left < 0 || x < m.X[left] {
			left = i
		}
		if right < 0 || x >= m.X[right] {
			right = i
		}
		up, down = up && !(x < before), down && !(x > before)
		before = x
	}
	return left, right, up || down
}

// setNames gives each panel its names: at the ends of lines in the given width, if that is not 0, and the others in a
// legend.
func setNames(panels []*prepared, width vg.Length) {
	for _, p := range panels {
		p.ends, p.legend = nil, nil
		if width > 0 {
			p.ends, _ = p.ending(width)
		}
		for _, m := range p.marks {
			e, ok := m.legend()
			if ok && !slices.ContainsFunc(p.ends, func(o end) bool { return o.name == e.name }) {
				p.legend = append(p.legend, e)
			}
		}
	}
	shareLegend(panels)
}

// height is that of the name.
func (e end) height() vg.Length { return legendText.lineHeight() * vg.Length(len(e.lines)) }

// drawEnds writes the names of lines right of the data, each as near to its line's end as the others allow.
func (m *measured) drawEnds(f *frame, marks []Mark) {
	ends := slices.Clone(m.ends)
	at := func(e end) vg.Point {
		p := f.at(e.x, e.y)
		if l, ok := marks[e.mark].(Line); ok {
			p.Y += l.shift
		}
		return vg.Point{X: min(p.X, f.Max.X), Y: min(max(p.Y, f.Min.Y), f.Max.Y)}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(at(a).Y, at(b).Y) })
	var heights, sizes []float64
	for _, e := range ends {
		heights, sizes = append(heights, float64(at(e).Y)), append(sizes, float64(e.height()))
	}
	for i, y := range apart(heights, sizes, float64(f.Min.Y), float64(f.Max.Y)) {
		e, s, p := ends[i], legendText, at(ends[i])
		s.color = darken(paint(e.look.style.Color))
		f.StrokeLine2(lineStyle(s.color, 0.9, e.look.style.Dash), p.X+1, p.Y, f.Max.X+endGap-2, vg.Length(y))
		top := vg.Length(y) + (vg.Length(len(e.lines)-1)*s.lineHeight()+s.size*capHeight)/2
		s.drawLines(f, vg.Point{X: f.Max.X + endGap, Y: top}, e.lines, 0)
	}
}

// apart moves ascending numbers, the middles of things of some sizes, so that no two overlap and all stand from lo to hi, if
// they have room there. The sum of the squares of the moves is least: runs that would touch share their mean move.
func apart(at, sizes []float64, lo, hi float64) []float64 {
	type run struct {
		sum float64 // of at less the place in the pile of all
		n   int
	}
	var runs []run
	place, pile := make([]float64, len(at)), 0.0
	for i, v := range at {
		place[i] = pile + sizes[i]/2
		pile += sizes[i]
		runs = append(runs, run{v - place[i], 1})
		for k := len(runs) - 1; k > 0 && runs[k-1].sum/float64(runs[k-1].n) > runs[k].sum/float64(runs[k].n); k-- {
			runs[k-1].sum += runs[k].sum
			runs[k-1].n += runs[k].n
			runs = runs[:k]
		}
	}
	var out []float64
	last := max(lo, hi-pile) // of the pile, if it stands highest
	for _, r := range runs {
		for range r.n {
			out = append(out, min(max(r.sum/float64(r.n), lo), last)+place[len(out)])
		}
	}
	return out
}
