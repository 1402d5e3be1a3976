// Package plots draws the figures and tables of the experiments: marks on
// gonum/plot, arranged in grids. It sees tables and numbers, never learners.
//
// # Rules
//
// What a reader needs is decided here, once for all drawings:
//
//	names      one style for each, in all panels; Styles is a table of them
//	lines      up to eight carry their names at their ends; those that coincide are drawn side by side
//	intervals  are cut at what is possible and at the end of the axis; an arrowhead marks a cut
//	axes       panels with one title begin at zero together; logarithmic ones have two labels at least; counts have whole ticks
//	titles     do not break before their last word
//	captions   have fields, which end with a full stop and are set apart with their names
//
// Render refuses what breaks the rules of names and captions. Faults lists what else is hard to read, such as names that
// look alike in grey.
package plots

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Drawing is a figure (a grid of panels) or a text table, with a caption that
// stands alone.
type Drawing struct {
	// Caption, like all other text, is plain, not Markdown; figures set
	// superscripts and subscripts such as 10⁻³, λ₁ and Aᵀ.
	Caption Caption
	// Notes are warnings and what is missing, printed below the caption.
	Notes []string

	// Panels are laid out row by row in Columns columns (0 means 1). Up to eight
	// lines in a panel carry their names at their right ends, if all end there and
	// the data keep room. Other names stand in legends below the panels, once for
	// those that share one.
	Panels  []Panel
	Columns int
	// Frames are an animation beside the panels, nil if there is none: one
	// frame per panel, half a second each, played in a loop. Their images must
	// have equal sizes, as those of equal axes, labels and legends have. What
	// cannot be drawn is left out and noted as for Panels, which must be there
	// too, for paper and viewers that show stills.
	Frames []Panel
	// Text is a table instead of, or below, the panels; nil if there is none.
	Text *TextTable
}

// Caption says what a drawing shows, in sentences. Each field ends with a full stop: Render refuses others.
type Caption struct {
	// Shows is what is drawn, and how to read it.
	Shows string
	// Data is what was measured on, Protocol by which settings and choices.
	Data, Protocol string
	// Intervals is over what means are, and what error bars and bands cover.
	Intervals string
	// Ends says which choices took an end of what was tried.
	Ends string
}

// parts are the fields that say something, in order.
func (c Caption) parts() []captionPart {
	all := []captionPart{{"Shows", c.Shows}, {"Data", c.Data}, {"Protocol", c.Protocol}, {"Intervals", c.Intervals}, {"Ends", c.Ends}}
	return slices.DeleteFunc(all, func(p captionPart) bool { return strings.TrimSpace(p.text) == "" })
}

type captionPart struct{ field, text string }

// label is the name of the field in a format, which stands before its text; Shows needs none.
func (p captionPart) label(format string) string {
	if p.field == "Shows" {
		return ""
	}
	return fmt.Sprintf(format, p.field)
}

// check refuses a field that does not end as a sentence does, or that says its own name again.
func (c Caption) check() error {
	for _, p := range c.parts() {
		s := strings.TrimSpace(p.text)
		if !strings.ContainsAny(s[len(s)-1:], ".!?") {
			words := strings.Fields(s)
			return fmt.Errorf("field %s ends with %q, want a full stop", p.field, strings.Join(words[max(0, len(words)-5):], " "))
		}
		if strings.HasPrefix(s, p.field+":") {
			return fmt.Errorf("field %s begins with %q, which is set before it", p.field, p.field+":")
		}
	}
	return nil
}

// withCuts is the caption with an explanation of arrowheads, if there are any.
func (c Caption) withCuts(panels ...*prepared) Caption {
	for _, p := range panels {
		for _, m := range p.marks {
			if m.cut(p.x, p.y) {
				c.Intervals = strings.TrimSpace(c.Intervals + " " + cutNote)
				return c
			}
		}
	}
	return c
}

// String is the caption as one paragraph.
func (c Caption) String() string {
	var out []string
	for _, p := range c.parts() {
		out = append(out, p.label("%s: ")+p.text)
	}
	return strings.Join(out, " ")
}

// TextTable is a table of formatted cells. The first row of Rows is data;
// Head names the columns.
type TextTable struct {
	Head []string
	Rows [][]string
}

// Panel is one set of axes with its marks.
type Panel struct {
	Title, XLabel, YLabel string
	XLog, YLog            bool
	// Equal makes both axes share range and length, for scatters against a
	// diagonal.
	Equal bool
	// XMin..YMax fix the range of an axis if XMin < XMax (YMin < YMax); both
	// zero means the data's range.
	XMin, XMax, YMin, YMax float64
	// XTicks are the ticks of the x axis, with their labels, such as the values that were tried,
	// in place of those chosen by the axis' range. nil means the latter. Those beyond the axis are
	// left out, and labels that would touch are turned. At is finite, and positive if XLog. A
	// panel of Intervals, Heat or Images must not have them.
	XTicks []Tick
	// HideAxes draws no frame and ticks; the labels stay. Images have none
	// anyway.
	HideAxes bool
	// Marks are drawn in this order. A Heat or Images must be alone;
	// Intervals may have only Intervals and Reference beside them.
	Marks []Mark
}

// Mark is something drawn in a panel. The marks of this package are the only
// ones; they are used as values, not pointers. NaN, infinities (any number
// beyond 1e150) and values that are not positive on a log axis are left out,
// and Render counts them in the notes. A name has one style in a drawing, and
// two names have two: Render refuses others.
//
// Error bars and bands end at what is possible and at the end of the axis. Where
// they would go on, an arrowhead says so in place of a cap, and Render explains it in
// the caption.
type Mark interface {
	// clean checks the mark and returns a copy without what cannot be drawn,
	// noted in n; nil if nothing is left.
	clean(p *Panel, n *notes) (Mark, error)
	// extent returns the range of a clean mark's data; empty if it has none.
	extent(p *Panel) (x, y span)
	draw(f *frame)
	// legend returns how the mark looks and its icon, false if it has no name.
	legend() (entry, bool)
	// cut reports whether an interval is cut on axes.
	cut(x, y axis) bool
}

// Points is a scatter with optional error bars. XErr and YErr hold half-widths
// of intervals, one per point, or nil.
type Points struct {
	Name       string // legend; "" for none
	X, Y       []float64
	XErr, YErr []float64
	Labels     []string // drawn beside the points if not nil and where there is room, grey beside grey points; "" for none
	Color      int      // Blue, ...: index into the palette that colour-blind readers can tell apart, or Grey
	Shape      int      // Circle, ...: index into the glyph shapes
	Glyph      string   // drawn in place of the shape, such as a numeral; "" for the shape
	// Possible is the range of what X and Y measure, such as {0, 100} of per cent.
	// Error bars are cut there. Both zero means no bounds.
	Possible [2]float64

	crowd int // points of the largest Points of the panel
}

// Line is a polyline, with an optional band Lo..Hi. It is broken where a point
// is left out.
type Line struct {
	Name   string
	X, Y   []float64
	Lo, Hi []float64 // nil for no band
	Color  int
	Dash   int  // Solid, ...: index into the dashes
	Dashed bool // short for Dash: Dashed
	// Possible is the range of what Y measures. The band is cut there. Both zero
	// means no bounds.
	Possible [2]float64

	which, among int // place among the panel's lines with a band
	shift        vg.Length
}

// Diagonal is the line y = x, where two methods are equal.
type Diagonal struct{ Name string }

// Reference is a horizontal (or vertical) line at a value, such as a paper's
// printed value or a bound.
type Reference struct {
	Name     string
	At       float64
	Vertical bool
	Color    int
}

// Heat is a matrix in colours with a colour bar. Z[i][j] is row i from the
// top; the panel has the matrix' shape. Cells that are not finite are grey.
type Heat struct {
	Z        [][]float64
	Min, Max float64 // the colour range; equal means from the data
	BarLabel string
	// Nominal says that values are names, whole numbers from 0. The first ten have the colours of
	// the palette, all others are white. Lines part neighbours of different names, unless cells
	// are smaller than two points. There is no colour bar.
	Nominal    bool
	XTicks     []Tick // At j is the middle of column j
	YTicks     []Tick // At i is the middle of row i, from the top
	Separators []int  // rows and columns before which a thin line is drawn
}

// Tick is a labelled position on an axis.
type Tick struct {
	At    float64
	Label string
}

// Images is a grid of small grey images, each H×W, row-major. Values are
// mapped from Min (white) to Max (black); equal means from the data, all
// images alike. Pixels that are not finite are pink.
type Images struct {
	H, W     int
	Pix      [][]float64
	Columns  int // 0 means as square as possible
	Min, Max float64
}

// Pictures are small grey images about points, such as the objects of a map, each H×W, row-major, from 0 (white) to 1 (black).
type Pictures struct {
	X, Y []float64
	H, W int
	Pix  [][]float64
}

// Arrow is a segment with a head, such as an eigenvector or a pair's difference.
type Arrow struct {
	Name           string
	X0, Y0, X1, Y1 float64
	Color, Dash    int
	Dashed         bool // short for Dash: Dashed
}

// Intervals is a dot plot: one row per label from the top, a dot with an
// interval X ± Err on the x axis. Several in one panel share the rows of equal
// labels.
type Intervals struct {
	Name   string
	Labels []string // distinct
	X, Err []float64
	// Lo and Hi are the ends of intervals that are not symmetric, in place of Err; nil for
	// none.
	Lo, Hi       []float64
	Color, Shape int
	// Possible is the range of what X measures, such as {0, 100} of per cent.
	// Intervals are cut there. Both zero means no bounds.
	Possible [2]float64

	which, among int // place among the panel's Intervals
}

// Missing is the drawing of a view that has no data yet: it says what is missing.
func Missing(what string) Drawing {
	return Drawing{
		Caption: Caption{Shows: "There is nothing to draw yet."},
		Notes:   []string{"Missing: " + what + "."},
		Text:    &TextTable{Head: []string{"missing"}, Rows: [][]string{{what}}},
	}
}
