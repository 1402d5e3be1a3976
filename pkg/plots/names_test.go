package plots

import (
	"slices"
	"strings"
	"testing"
)

// A name has one style in a drawing, and two names have two, in all panels, frames and the legend.
func TestOneStylePerName(t *testing.T) {
	x := []float64{1, 2}
	panel := func(marks ...Mark) Panel { return Panel{Marks: marks} }
	blue := Line{Name: "POLA", X: x, Y: x}
	for name, c := range map[string]struct {
		d    Drawing
		want string
	}{
		"one style, two kinds": {Drawing{Panels: []Panel{panel(blue), panel(Points{Name: "POLA", X: x, Y: x, Shape: Ring})}}, ""},
		"a level of the name":  {Drawing{Panels: []Panel{panel(blue), panel(Reference{Name: "POLA", At: 1})}}, ""},
		"with a band and without": {
			Drawing{Panels: []Panel{panel(blue), panel(Line{Name: "POLA", X: x, Y: x, Lo: x, Hi: x})}}, "",
		},
		"no name":             {Drawing{Panels: []Panel{panel(blue, Line{X: x, Y: x})}}, ""},
		"line and glyph":      {Drawing{Panels: []Panel{panel(blue, Points{Name: "measured", X: x, Y: x})}}, ""},
		"two names":           {Drawing{Panels: []Panel{panel(blue, Line{Name: "RCA", X: x, Y: x})}}, `the names "POLA" and "RCA" have one style, a solid blue line, want two`},
		"in two panels":       {Drawing{Panels: []Panel{panel(blue), panel(Line{Name: "RCA", X: x, Y: x})}}, `the names "POLA" and "RCA" have one style`},
		"palette repeats":     {Drawing{Panels: []Panel{panel(blue, Line{Name: "RCA", X: x, Y: x, Color: len(palette)})}}, `the names "POLA" and "RCA" have one style`},
		"glyphs of two kinds": {Drawing{Panels: []Panel{panel(Points{Name: "POLA", X: x, Y: x}), panel(Intervals{Name: "RCA", Labels: []string{"a"}, X: []float64{1}})}}, `"POLA" and "RCA" have one style, blue circles`},
		"two levels":          {Drawing{Panels: []Panel{panel(Reference{Name: "a", At: 1, Color: Grey}, Reference{Name: "b", At: 2, Color: Grey})}}, `"a" and "b" have one style, a grey reference`},
		"a diagonal":          {Drawing{Panels: []Panel{panel(Diagonal{Name: "equal"}, Line{Name: "√t", Color: Grey, Dash: Dashed, X: x, Y: x})}}, `"equal" and "√t" have one style`},
		"two colours":         {Drawing{Panels: []Panel{panel(blue), panel(Points{Name: "POLA", X: x, Y: x, Color: Green})}}, `the name "POLA" has two styles, a solid blue line and green circles`},
		"two dashes":          {Drawing{Panels: []Panel{panel(blue, Line{Name: "POLA", X: x, Y: x, Dash: Dashed})}}, `the name "POLA" has two styles`},
		"frames":              {Drawing{Panels: []Panel{panel(blue)}, Frames: []Panel{panel(Line{Name: "RCA", X: x, Y: x})}}, `"POLA" and "RCA" have one style`},
	} {
		_, err := c.d.Warnings()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	d := Drawing{Panels: []Panel{panel(Line{Name: "POLA", X: x, Y: x, Color: Green, Dash: Dotted}), panel(Points{Name: "POLA", X: x, Y: x, Color: Green, Shape: Ring})}}
	if got, err := d.Styles(); err != nil || len(got) != 1 || got["POLA"] != (Style{Green, Dotted, Ring}) {
		t.Errorf("styles %v, error %v", got, err)
	}
}

// Up to eight lines that all end at the right carry their names, if these leave room; else all stand in the legend.
func TestNamesAtEnds(t *testing.T) {
	styles := Ordered(strings.Split("abcdefghi", "")...)
	lines := func(n int, last float64) (out []Mark) {
		for i := range n {
			l := styles.Line(string(rune('a' + i)))
			l.X, l.Y = []float64{0, last}, []float64{float64(i), float64(i)}
			out = append(out, l)
		}
		return out
	}
	long := Line{Name: strings.Repeat("word ", 20), Color: Indigo, X: []float64{0, 10}, Y: []float64{1, 2}}
	longer := long
	longer.Name = strings.Repeat("word ", 60)
	for _, c := range []struct {
		name            string
		d               Drawing
		ends, inLegends string
	}{
		{"eight", Drawing{Panels: []Panel{{Marks: lines(8, 10)}}}, "abcdefgh", ""},
		{"nine", Drawing{Panels: []Panel{{Marks: lines(9, 10)}}}, "", "abcdefghi"},
		{"two panels", Drawing{Columns: 2, Panels: []Panel{{Marks: lines(2, 10)}, {Marks: lines(3, 10)}}}, "ababc", ""},
		{"one panel of nine", Drawing{Columns: 2, Panels: []Panel{{Marks: lines(2, 10)}, {Marks: lines(9, 10)}}}, "", "ababcdefghi"},
		{"three columns", Drawing{Columns: 3, Panels: []Panel{{Marks: lines(2, 10)}, {Marks: lines(2, 10)}, {Marks: lines(2, 10)}}}, "ababab", ""},
		{"four columns", Drawing{Columns: 4, Panels: []Panel{{Marks: lines(2, 10)}, {Marks: lines(2, 10)}, {Marks: lines(2, 10)}, {}}}, "", "ababab"},
		{"a line ends early", Drawing{Panels: []Panel{{XMin: 0, XMax: 20, Marks: lines(2, 10)}}}, "", "ab"},
		{"a line turns back", Drawing{Panels: []Panel{{Marks: append(lines(1, 10), Line{Name: "loop", Color: Brown, X: []float64{0, 10, 9}, Y: []float64{0, 1, 2}})}}}, "", "aloop"},
		{"a line from right to left", Drawing{Panels: []Panel{{Marks: []Mark{Line{Name: "a", X: []float64{10, 0}, Y: []float64{0, 1}}}}}}, "a", ""},
		{"equal axes", Drawing{Panels: []Panel{{Equal: true, Marks: lines(2, 10)}}}, "", "ab"},
		{
			"a level, and others", Drawing{Panels: []Panel{{Marks: append(lines(1, 10),
				Reference{Name: "b", At: 0.5, Color: Vermillion}, Reference{Name: "upright", At: 5, Vertical: true, Color: Grey}, Points{Name: "points", X: []float64{1}, Y: []float64{1}, Color: Green})}}},
			"ab", "uprightpoints",
		},
		{"points of the line's name", Drawing{Panels: []Panel{{Marks: append(lines(1, 10), Points{Name: "a", X: []float64{1}, Y: []float64{1}})}}}, "a", ""},
		{"a long name is broken", Drawing{Panels: []Panel{{Marks: append(lines(1, 10), long)}}}, "a" + long.Name, ""},
		{"names that need more height than the data", Drawing{Columns: 2, Panels: []Panel{{Marks: []Mark{longer}}, {Marks: lines(1, 10)}}}, "", longer.Name + "a"},
	} {
		panels, _, _, err := c.d.prepare()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		c.d.layout(panels, Options{})
		var ends, legend string
		for _, p := range panels {
			for _, e := range p.ends {
				ends += e.name
			}
			for _, e := range p.legend {
				legend += e.name
			}
		}
		if ends != c.ends || legend != c.inLegends {
			t.Errorf("%s: at lines %q, in legends %q, want %q, %q", c.name, ends, legend, c.ends, c.inLegends)
		}
	}
}

// A name that stands for a line and for glyphs has one entry with both.
func TestLegendMerges(t *testing.T) {
	x := []float64{1, 2}
	names, icons := merged([]entry{entryOf(Points{Name: "a", X: x, Y: x}), entryOf(Line{Name: "b", Color: 1, X: x, Y: x}), entryOf(Line{Name: "a", X: x, Y: x}), entryOf(Line{Name: "a", X: x, Y: x})})
	if !slices.Equal(names, []string{"a", "b"}) || len(icons[0]) != 2 || icons[0][0].look.kind != lineLook || icons[0][1].look.kind != glyphLook {
		t.Errorf("names %q, icons %v", names, icons)
	}
}

func entryOf(m Mark) entry { e, _ := m.legend(); return e }

// Names that a grey print shows alike are found, unless the lines carry them.
func TestAlikeInGrey(t *testing.T) {
	x := []float64{0, 1}
	line := func(name string, color, dash int) Line { return Line{Name: name, Color: color, Dash: dash, X: x, Y: x} }
	points := func(name string, color, shape int) Points {
		return Points{Name: name, Color: color, Shape: shape, X: x, Y: x}
	}
	legends := func(marks ...Mark) Drawing { // in panels too narrow for names
		return Drawing{Columns: 4, Panels: []Panel{{Marks: marks}, {Marks: marks}, {Marks: marks}, {Marks: marks}}}
	}
	for _, c := range []struct {
		name  string
		d     Drawing
		alike int
	}{
		{"green and vermillion", legends(line("a", Green, Solid), line("b", Vermillion, Solid)), 1},
		{"at the lines", Drawing{Panels: []Panel{{Marks: []Mark{line("a", Green, Solid), line("b", Vermillion, Solid)}}}}, 0},
		{"a dash", legends(line("a", Green, Solid), line("b", Vermillion, Dotted)), 0},
		{"black and sky", legends(line("a", Black, Solid), line("b", Sky, Solid)), 0},
		{"glyphs", legends(points("a", Green, Circle), points("b", Vermillion, Circle)), 1},
		{"shapes", legends(points("a", Green, Circle), points("b", Vermillion, Cross)), 0},
		{"lines told apart by glyphs", legends(line("a", Green, Solid), line("b", Vermillion, Solid), points("a", Green, Circle), points("b", Vermillion, Cross)), 0},
		{"a line and glyphs", legends(line("a", Green, Solid), points("b", Vermillion, Circle)), 0},
		{"levels", legends(line("a", Black, Solid), Reference{Name: "b", At: 0, Color: Green}, Reference{Name: "c", At: 1, Color: Vermillion}), 1},
	} {
		got, err := c.d.Faults()
		if err != nil || len(got) != c.alike {
			t.Errorf("%s: %q, error %v, want %d pairs", c.name, got, err, c.alike)
		}
	}
}

// Names at the ends of lines do not touch, stay in their order and inside the panel, and move no further than they
// must: a search on a grid finds no smaller sum of squares.
func TestApart(t *testing.T) {
	ones := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
	for _, tt := range []struct{ at, want []float64 }{
		{nil, nil},
		{[]float64{5}, []float64{5}},
		{[]float64{1, 9}, []float64{1, 9}},
		{[]float64{5, 5}, []float64{4.5, 5.5}},
		{[]float64{0, 0, 0}, []float64{0.5, 1.5, 2.5}},
		{[]float64{10, 10, 10}, []float64{7.5, 8.5, 9.5}},
		{[]float64{2, 2.5, 8, 8, 8}, []float64{1.75, 2.75, 7, 8, 9}},
	} {
		if got := apart(tt.at, ones(len(tt.at)), 0, 10); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.at, got, tt.want)
		}
	}
	if got := apart([]float64{0, 0, 0}, ones(3), 0, 1); !slices.Equal(got, []float64{0.5, 1.5, 2.5}) {
		t.Errorf("without room: %v, want them from the low end", got)
	}
	if got := apart([]float64{5, 5}, []float64{1, 3}, 0, 10); !slices.Equal(got, []float64{4, 6}) {
		t.Errorf("names of one line and of three: %v, want 2 apart", got)
	}
	at := []float64{1, 1.5, 1.5, 4}
	cost := func(y []float64) (sum float64) {
		for i, v := range y {
			sum += (v - at[i]) * (v - at[i])
		}
		return sum
	}
	best := cost(apart(at, ones(4), 0, 6))
	const step = 0.25
	for a := 0.5; a <= 5.5; a += step {
		for b := a + 1; b <= 5.5; b += step {
			for c := b + 1; c <= 5.5; c += step {
				for d := c + 1; d <= 5.5; d += step {
					if got := cost([]float64{a, b, c, d}); got < best-1e-12 {
						t.Fatalf("%v, %v, %v, %v costs %v, less than %v", a, b, c, d, got, best)
					}
				}
			}
		}
	}
}
