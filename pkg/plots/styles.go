package plots

import (
	"fmt"
	"math"
)

// Style is how the marks of a name are drawn, wherever the name stands: a line by colour and
// dash, a glyph by colour and shape. Zero is a solid blue line, or a blue circle.
type Style struct{ Color, Dash, Shape int }

// Styles are those of some names, such as the methods of a paper. Its marks have name and style of
// the table, so that a name looks alike in all drawings. Render refuses the marks of a name that is not there.
type Styles map[string]Style

// Ordered gives each name a style by its place: the first twelve are told apart in colour and in grey.
func Ordered(names ...string) Styles {
	s := Styles{}
	for i, name := range names {
		s[name] = nth(i)
	}
	return s
}

// Line is a line without points in the style of a name.
func (s Styles) Line(name string) Line {
	st := s.of(name)
	return Line{Name: name, Color: st.Color, Dash: st.Dash}
}

// Lines are a Line for each of some names.
func (s Styles) Lines(names ...string) (out []Line) {
	for _, name := range names {
		out = append(out, s.Line(name))
	}
	return out
}

// Points are none so far in the style of a name.
func (s Styles) Points(name string) Points {
	st := s.of(name)
	return Points{Name: name, Color: st.Color, Shape: st.Shape}
}

// Intervals are none so far in the style of a name.
func (s Styles) Intervals(name string) Intervals {
	st := s.of(name)
	return Intervals{Name: name, Color: st.Color, Shape: st.Shape}
}

// Reference is a line at a value in the colour of a name.
func (s Styles) Reference(name string, at float64) Reference {
	return Reference{Name: name, At: at, Color: s.of(name).Color}
}

// noStyle is the colour of a name without style.
const noStyle = math.MinInt

func (s Styles) of(name string) Style {
	if st, ok := s[name]; ok {
		return st
	}
	return Style{Color: noStyle}
}

// nth is the style of the i-th of some names: neighbours in lightness differ in dash and in shape.
func nth(i int) Style {
	k, round := i%len(palette), i/len(palette)
	dash := [...]int{Solid, Dashed, Dotted, LongDashed, Solid, Dashed, Solid, DashDotDot, Dashed, LongDashed}
	return Style{Color: k, Dash: (dash[k] + 3*round + round/2) % len(dashes), Shape: (k + 5*round) % shapeCount}
}

func checkColor(index int) error {
	switch {
	case index == noStyle:
		return fmt.Errorf("field Color is that of a name that Styles lack")
	case index < Grey:
		return fmt.Errorf("field Color is %d, want an index from 0 or Grey (%d)", index, Grey)
	}
	return nil
}
