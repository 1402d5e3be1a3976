package plots

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var nan, inf = math.NaN(), math.Inf(1)

// panelOf draws marks in one panel, as SVG since PNG is slow, and returns the
// notes.
func panelOf(t *testing.T, p Panel) ([]string, error) {
	t.Helper()
	d := Drawing{Panels: []Panel{p}}
	panels, _, list, err := d.prepare()
	if err != nil {
		return nil, err
	}
	svg, err := d.layout(panels, Options{}).svg()
	if err != nil {
		t.Fatal(err)
	}
	if s := string(svg); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
		t.Errorf("the SVG has coordinates that are not finite")
	}
	text := string(d.markdown("x", list, Options{}))
	for _, n := range list {
		if !strings.Contains(text, escapeText(n)) {
			t.Errorf("the Markdown lacks the note %q", n)
		}
	}
	return list, nil
}

// What cannot be drawn is left out and counted.
func TestNotes(t *testing.T) {
	logs := Panel{XLog: true, YLog: true}
	for _, c := range []struct {
		name string
		p    Panel
		mark Mark
		want []string
	}{
		{"all drawn", Panel{}, Points{X: []float64{1, 2}, Y: []float64{1, 2}}, nil},
		{
			"points not finite", Panel{}, Points{Name: "POLA", X: []float64{1, nan, 3}, Y: []float64{1, 2, inf}},
			[]string{`2 points of "POLA" are not finite and are not drawn.`},
		},
		{
			"one point", Panel{}, Points{X: []float64{1, nan}, Y: []float64{1, 2}},
			[]string{"1 point is not finite and is not drawn."},
		},
		{
			"points near the largest number", Panel{}, Points{X: []float64{1, math.MaxFloat64}, Y: []float64{1, 2}},
			[]string{"1 point is not finite and is not drawn."},
		},
		{
			"points on log axes", logs, Points{X: []float64{1, 0, 3}, Y: []float64{1, 2, -1}},
			[]string{"2 points are not positive and are not drawn on the log axis."},
		},
		{
			"bars", Panel{}, Points{X: []float64{1, 2}, Y: []float64{1, 2}, XErr: []float64{nan, 1}, YErr: []float64{1, 1}},
			[]string{"1 point has no finite error bar."},
		},
		{"bar below zero on a log axis", logs, Points{X: []float64{1, 2}, Y: []float64{1, 2}, YErr: []float64{3, 1}}, nil},
		{
			"points outside", Panel{XMax: 2, YMax: 2}, Points{X: []float64{1, 3}, Y: []float64{1, 1}},
			[]string{"1 point lies outside the axes and is not drawn."},
		},
		{"no points", Panel{}, Points{}, []string{"There are no data to draw."}},
		{
			"line", Panel{}, Line{Name: "loss", X: []float64{1, 2, 3}, Y: []float64{1, nan, 2}},
			[]string{`1 point of "loss" is not finite and is not drawn.`},
		},
		{
			"line on a log axis", logs, Line{X: []float64{1, 2, 3}, Y: []float64{1, 0, 2}},
			[]string{"1 point is not positive and is not drawn on the log axis."},
		},
		{
			"band", Panel{}, Line{X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}, Lo: []float64{0, 1, nan}, Hi: []float64{2, 3, 4}},
			[]string{"1 point has no band that can be drawn."},
		},
		{
			"band reaching zero on a log axis", logs,
			Line{X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}, Lo: []float64{0, 1, 2}, Hi: []float64{2, 3, 4}}, nil,
		},
		{
			"reference", Panel{XMax: 1, YMax: 1}, Reference{Name: "paper", At: nan},
			[]string{`The reference line of "paper" is not finite and is not drawn.`, "There are no data to draw."},
		},
		{
			"reference on a log axis", logs, Reference{At: -1},
			[]string{"The reference line is at -1, not positive, and is not drawn on the log axis.", "There are no data to draw."},
		},
		{"heat", Panel{}, Heat{Z: [][]float64{{1, nan}, {2, 3}}}, []string{"1 cell is not finite and drawn grey."}},
		{"heat of NaN only", Panel{}, Heat{Z: [][]float64{{nan}}}, []string{"1 cell is not finite and drawn grey."}},
		{
			"heat range", Panel{}, Heat{Z: [][]float64{{1, 5}, {2, -3}}, Min: 0, Max: 2},
			[]string{"2 cells outside the colour range take the colour of its end."},
		},
		{"constant heat", Panel{}, Heat{Z: [][]float64{{1, 1}}}, nil},
		{"images", Panel{}, Images{H: 1, W: 2, Pix: [][]float64{{nan, inf}}}, []string{"2 pixels are not finite and drawn pink."}},
		{"pictures", Panel{}, Pictures{H: 1, W: 1, X: []float64{0, nan, 1}, Y: []float64{0, 0, 0}, Pix: [][]float64{{0}, {0}, {1}}}, []string{"1 picture is at no finite point and is not drawn."}},
		{"constant images", Panel{}, Images{H: 1, W: 1, Pix: [][]float64{{3}, {3}}}, nil},
		{"arrow", Panel{}, Arrow{X1: inf}, []string{"The arrow is not finite and is not drawn.", "There are no data to draw."}},
		{
			"arrow on log axes", logs, Arrow{X0: 1, Y0: 1, X1: 0, Y1: 1},
			[]string{"The arrow is not positive and is not drawn on the log axis.", "There are no data to draw."},
		},
		{"arrow of length zero", Panel{}, Arrow{X0: 1, X1: 1}, nil},
		{
			"intervals", Panel{}, Intervals{Labels: []string{"a", "b", "c"}, X: []float64{1, nan, 2}, Err: []float64{nan, nan, 1}},
			[]string{"1 value is not finite and is not drawn.", "1 value has no finite interval."},
		},
		{
			"intervals on a log axis", Panel{XLog: true}, Intervals{Labels: []string{"a", "b"}, X: []float64{1, 0}},
			[]string{"1 value is not positive and is not drawn on the log axis."},
		},
		{
			"intervals outside", Panel{XMin: 0, XMax: 1}, Intervals{Labels: []string{"a", "b"}, X: []float64{1, 2}},
			[]string{"1 value lies outside the axes and is not drawn."},
		},
		{"font", Panel{Title: "漢"}, Points{X: []float64{1}, Y: []float64{1}}, []string{"The figure's font lacks 漢."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.p.Marks = []Mark{c.mark}
			got, err := panelOf(t, c.p)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got notes %q, want %q", got, c.want)
			}
		})
	}
}

// Wrong marks are errors that name panel, mark and field, never panics.
func TestErrors(t *testing.T) {
	one, two := []float64{1}, []float64{1, 2}
	for _, c := range []struct {
		p     Panel
		marks []Mark
		want  string
	}{
		{Panel{}, []Mark{Points{X: one, Y: two}}, "mark 0 (Points): Y has 2 elements, X has 1"},
		{Panel{}, []Mark{Points{X: two, Y: two, XErr: one}}, "XErr has 1 elements, X has 2"},
		{Panel{}, []Mark{Points{X: two, Y: two, YErr: []float64{}}}, "YErr has 0 elements, X has 2"},
		{Panel{}, []Mark{Points{X: two, Y: two, Labels: []string{"a"}}}, "Labels has 1 elements, X has 2"},
		{Panel{}, []Mark{Points{X: one, Y: one, YErr: []float64{-1}}}, "YErr[0] is -1, want a half-width of at least 0"},
		{Panel{}, []Mark{Points{Color: -2}}, "Color is -2"},
		{Panel{}, []Mark{Points{Shape: -1}}, "Shape is -1"},
		{Panel{}, []Mark{Diagonal{}, Line{X: one, Y: two}}, "mark 1 (Line): Y has 2 elements, X has 1"},
		{Panel{}, []Mark{Line{X: one, Y: one, Lo: one}}, "a band needs both Lo and Hi"},
		{Panel{}, []Mark{Line{X: one, Y: one, Lo: one, Hi: two}}, "Hi has 2 elements, X has 1"},
		{Panel{}, []Mark{Line{X: one, Y: one, Lo: []float64{2}, Hi: one}}, "Lo[0] = 2 is above Hi[0] = 1"},
		{Panel{}, []Mark{Line{Color: -5}}, "Color is -5"},
		{Panel{}, []Mark{Line{Dash: -1}}, "Dash is -1"},
		{Panel{}, []Mark{Arrow{Dash: -1}}, "mark 0 (Arrow): field Dash is -1"},
		{Panel{XLog: true}, []Mark{Diagonal{}}, "mark 0 (Diagonal): XLog is true, YLog is false"},
		{Panel{}, []Mark{Reference{Color: -2}}, "mark 0 (Reference)"},
		{Panel{}, []Mark{Heat{}}, "mark 0 (Heat): field Z is empty"},
		{Panel{}, []Mark{Heat{Z: [][]float64{{}}}}, "Z is empty"},
		{Panel{}, []Mark{Heat{Z: [][]float64{{1, 2}, {1}}}}, "Z[1] has 1 elements, Z[0] has 2"},
		{Panel{}, []Mark{Heat{Z: [][]float64{{1}}, Min: 2, Max: 1}}, "Min is 2, field Max is 1"},
		{Panel{}, []Mark{Heat{Z: [][]float64{{1}}, Max: nan}}, "Max is NaN"},
		{Panel{}, []Mark{Heat{Z: [][]float64{{1}}, Separators: []int{2}}}, "Separators has 2, want 0 to 1"},
		{Panel{}, []Mark{Heat{Z: [][]float64{{1}}, YTicks: []Tick{{1, "a"}}}}, `YTicks has "a" at 1, want -0.5 to 0.5`},
		{Panel{}, []Mark{Heat{Z: [][]float64{{1}}, XTicks: []Tick{{nan, "a"}}}}, `XTicks has "a" at NaN`},
		{Panel{XTicks: []Tick{{1, "a"}}}, []Mark{Heat{Z: [][]float64{{1}}}}, "XTicks has 1 ticks, want none beside Intervals, Heat or Images"},
		{Panel{XTicks: []Tick{{nan, "a"}}}, nil, `XTicks has "a" at NaN`},
		{Panel{XLog: true, XTicks: []Tick{{0, "a"}}}, nil, `XTicks has "a" at 0, want a finite number, more than 0`},
		{Panel{}, []Mark{Heat{Z: [][]float64{{1}}}, Diagonal{}}, "must be the only mark of its panel"},
		{Panel{}, []Mark{Images{H: 1, W: 1}}, "mark 0 (Images): field Pix is empty"},
		{Panel{}, []Mark{Pictures{H: 1, W: 1, X: []float64{0}, Y: []float64{0}}}, "Pix has 0 elements, X has 1"},
		{Panel{XLog: true}, []Mark{Pictures{H: 1, W: 1, X: []float64{1}, Y: []float64{0}, Pix: [][]float64{{0}}}}, "not for a log axis"},
		{Panel{}, []Mark{Images{W: 1, Pix: [][]float64{{}}}}, "H is 0, field W is 1"},
		{Panel{}, []Mark{Images{H: 1, W: 2, Pix: [][]float64{{1, 2}, {1}}}}, "Pix[1] has 1 elements, want H·W = 2"},
		{Panel{}, []Mark{Images{H: 1, W: 1, Columns: -1, Pix: [][]float64{{1}}}}, "Columns is -1"},
		{Panel{}, []Mark{Images{H: 1, W: 1, Min: 1, Pix: [][]float64{{1}}}}, "Min is 1, field Max is 0"},
		{Panel{}, []Mark{Arrow{Color: -2}}, "mark 0 (Arrow)"},
		{Panel{}, []Mark{Intervals{Labels: []string{"a"}, X: two}}, "mark 0 (Intervals): X has 2 elements, Labels has 1"},
		{Panel{}, []Mark{Intervals{Labels: []string{"a"}, X: one, Err: two}}, "Err has 2 elements, Labels has 1"},
		{Panel{}, []Mark{Intervals{Labels: []string{"a", "a"}, X: two}}, `Labels[1] is "a" for the second time`},
		{Panel{YLog: true}, []Mark{Intervals{}}, "YLog is true, want false"},
		{Panel{}, []Mark{Intervals{Labels: []string{"a"}, X: one, Possible: [2]float64{1, 0}}}, "field Possible is [1 0]"},
		{Panel{}, []Mark{Intervals{Labels: []string{"a"}, X: one, Lo: one}}, "an interval needs Err, or both Lo and Hi"},
		{Panel{}, []Mark{Intervals{Labels: []string{"a"}, X: one, Err: one, Lo: one, Hi: one}}, "an interval needs Err, or both Lo and Hi"},
		{Panel{}, []Mark{Intervals{Labels: []string{"a"}, X: one, Lo: one, Hi: two}}, "Hi has 2 elements, Labels has 1"},
		{Panel{}, []Mark{Intervals{Labels: []string{"a"}, X: one, Lo: []float64{2}, Hi: []float64{3}}}, "X[0] is 1, want 2 to 3"},
		{Panel{}, []Mark{Heat{Nominal: true, Z: [][]float64{{-1}}}}, "Z[0][0] is -1, want a whole number from 0"},
		{Panel{}, []Mark{Heat{Nominal: true, Z: [][]float64{{0.5}}}}, "Z[0][0] is 0.5"},
		{Panel{}, []Mark{Intervals{}, Points{}}, "may else have only Reference, has plots.Points"},
		{Panel{}, []Mark{&Points{}}, "mark 0 is a *plots.Points"},
		{Panel{}, []Mark{nil}, "mark 0 is a <nil>"},
		{Panel{XMin: 2, XMax: 1}, nil, "XMin is 2, XMax is 1"},
		{Panel{YMax: nan}, nil, "YMax is NaN"},
		{Panel{YMin: -1, YMax: 1, YLog: true}, nil, "YMin is -1, want more than 0 since YLog is true"},
		{Panel{Equal: true, XLog: true}, nil, "XLog is true, YLog is false"},
		{Panel{Equal: true, XMax: 1, YMax: 2}, nil, "equal axes must have one range"},
	} {
		c.p.Title, c.p.Marks = "left", c.marks
		_, err := panelOf(t, c.p)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), `plots: panel 0 ("left"): `) {
			t.Errorf("marks %+v:\n got error %v\nwant %q", c.marks, err, c.want)
		}
	}
}

// Render must not change the caller's slices.
func TestRenderKeepsData(t *testing.T) {
	x, y := []float64{1, nan, 3}, []float64{1, 2, 0}
	lo, hi := []float64{0, 1, nan}, []float64{2, 3, 4}
	p := Panel{YLog: true, Marks: []Mark{Line{X: x, Y: y, Lo: lo, Hi: hi}, Points{X: x, Y: y, YErr: lo}}}
	if _, err := panelOf(t, p); err != nil {
		t.Fatal(err)
	}
	if x[0] != 1 || !math.IsNaN(x[1]) || y[2] != 0 || lo[1] != 1 || hi[2] != 4 {
		t.Errorf("data changed: %v %v %v %v", x, y, lo, hi)
	}
}

// No numbers make Render panic or write coordinates that are not finite.
func FuzzPoints(f *testing.F) {
	f.Add(1.0, 2.0, 0.5, 3.0, 4.0, false)
	f.Add(1e-310, 5e-324, 0.0, 1e308, -1e308, false)
	f.Add(1e300, -1e300, 1e300, 1.0, 1.0000000000000002, false)
	f.Add(1e-300, 1e300, 1e-320, 1e-320, 2e-320, true)
	f.Add(nan, inf, nan, -inf, 0.0, true)
	f.Fuzz(func(t *testing.T, x0, x1, e, y0, y1 float64, log bool) {
		if e < 0 {
			e = -e
		}
		p := Panel{XLog: log, YLog: log, Equal: y0 > y1, Title: "t"}
		p.Marks = []Mark{
			Diagonal{},
			Points{X: []float64{x0, x1}, Y: []float64{y0, y1}, XErr: []float64{e, e}, YErr: []float64{e, 1}, Labels: []string{"a", "b"}},
			Line{X: []float64{x0, x1}, Y: []float64{y1, y0}},
			Arrow{X0: x0, Y0: y0, X1: x1, Y1: y1},
		}
		if _, err := panelOf(t, p); err != nil {
			t.Fatal(err)
		}
	})
}

// A glyph takes the place of the shape at each point and in the legend, and tells names apart as a shape does.
func TestGlyph(t *testing.T) {
	x := []float64{1, 2, 3}
	seven := Points{Name: "seven", X: x, Y: x, Glyph: "7"}
	one := Points{Name: "one", X: []float64{2}, Y: []float64{1}, Glyph: "1"}
	d := Drawing{Panels: []Panel{{HideAxes: true, Marks: []Mark{seven, one}}}}
	files, err := d.Render("digits", Options{})
	if err != nil {
		t.Fatal(err)
	}
	svg := string(files[slices.IndexFunc(files, func(f File) bool { return f.Name == "digits.svg" })].Data)
	for glyph, want := range map[string]int{"7": len(x) + 1, "1": 2} {
		if got := strings.Count(svg, ">"+glyph+"<"); got != want {
			t.Errorf("%q stands %d times in the figure, want %d", glyph, got, want)
		}
	}
	if faults, err := d.Faults(); err != nil || len(faults) > 0 {
		t.Errorf("faults %q, error %v", faults, err)
	}
	one.Glyph = "7"
	d.Panels[0].Marks[1] = one
	if _, err := d.Styles(); err == nil || !strings.Contains(err.Error(), `have one style, a blue "7"`) {
		t.Errorf("error %v, want that two names have one style", err)
	}
	seven.Glyph = "漢"
	d.Panels[0].Marks = []Mark{seven}
	if notes, err := d.Warnings(); err != nil || !slices.Contains(notes, "The figure's font lacks 漢.") {
		t.Errorf("notes %q, error %v", notes, err)
	}
}

// Each text of an SVG has the width that it was measured with, so that no reader's font makes it longer.
func TestTextsOfSVG(t *testing.T) {
	d := Drawing{Panels: []Panel{{Title: "a <text > b", XLabel: "10⁻³ of λ₁", YLabel: "error (%)", Marks: []Mark{Line{Name: "first", X: []float64{1, 2, 3}, Y: []float64{3, 1, 2}}, Line{Name: "second", Color: 1, Dash: 1, X: []float64{1, 2, 3}, Y: []float64{1, 2, 4}}}}}}
	panels, _, _, err := d.prepare()
	if err != nil {
		t.Fatal(err)
	}
	svg, err := d.layout(panels, Options{}).svg()
	if err != nil {
		t.Fatal(err)
	}
	texts := regexp.MustCompile(`<text ([^>]*)>`).FindAllStringSubmatch(string(svg), -1)
	length := regexp.MustCompile(`^textLength="(\d+(\.\d+)?)" lengthAdjust="spacingAndGlyphs" [^>]*style="[^"]*font-size:`)
	for _, text := range texts {
		if m := length.FindStringSubmatch(text[1]); m == nil || m[1] == "0" {
			t.Errorf("a text without its width: %s", text[0])
		}
	}
	if len(texts) < 10 {
		t.Errorf("%d texts only", len(texts))
	}
}

// Borders part the cells of a nominal heat map, but not those so small that borders would hide them: whatever a table
// holds, the figure stays small.
func TestBordersOfSmallCells(t *testing.T) {
	strokes := func(side int) int {
		z := make([][]float64, side)
		for i := range z {
			for j := range side {
				z[i] = append(z[i], float64((i+j)%2))
			}
		}
		panels, _, _, err := Drawing{Panels: []Panel{{Marks: []Mark{Heat{Z: z, Nominal: true}}}}}.prepare()
		if err != nil {
			t.Fatal(err)
		}
		svg, err := Drawing{}.layout(panels, Options{}).svg()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(svg), "stroke-width:0.5")
	}
	if few, none := strokes(10), strokes(1000); few != 2*9*10 || none != 0 {
		t.Errorf("%d borders of 10×10 cells and %d of 1000×1000, want 180 and 0", few, none)
	}
}
