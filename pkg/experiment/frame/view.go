package frame

import (
	"fmt"
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Band says how the numbers of trials are shown: as their mean with its 95 % interval.
type Band struct {
	// Scale multiplies the numbers, 100 for per cent; 0 means 1.
	Scale float64
	// Summarize gives mean and interval; nil means judge.Summarize.
	Summarize func([]float64) judge.Summary
	// Possible are the bounds of the numbers, before Scale; both zero means none. A mean's t
	// interval does not know that a share is at most 1: what is drawn of it ends at the
	// bounds, and an arrowhead says so. Numbers after ± are those of the whole interval.
	Possible [2]float64
	// None leaves the interval out.
	None bool
}

// Percent are shares, shown in per cent, with intervals that are cut at 0 and 100.
var Percent = Band{Scale: 100, Possible: [2]float64{0, 1}}

// Without is the band without intervals.
func (b Band) Without() Band { b.None = true; return b }

// By is the band with intervals of another kind.
func (b Band) By(summarize func([]float64) judge.Summary) Band { b.Summarize = summarize; return b }

func (b Band) summary(values []float64) (s judge.Summary, scale float64) {
	if scale = b.Scale; scale == 0 {
		scale = 1
	}
	if b.Summarize == nil {
		return judge.Summarize(values), scale
	}
	return b.Summarize(values), scale
}

// Mean is the mean of numbers, scaled.
func (b Band) Mean(values []float64) float64 {
	s, scale := b.summary(values)
	return scale * s.Mean
}

// AddTo adds the mean of numbers to a line at x, and its interval to the line's band.
func (b Band) AddTo(l *plots.Line, x float64, values []float64) {
	s, scale := b.summary(values)
	mean, half := s.Interval()
	l.X, l.Y = append(l.X, x), append(l.Y, scale*mean)
	if b.None || !s.HasInterval {
		return
	}
	l.Lo, l.Hi = append(l.Lo, scale*(mean-half)), append(l.Hi, scale*(mean+half))
	l.Possible = b.possible(scale)
}

func (b Band) possible(scale float64) [2]float64 {
	return [2]float64{scale * b.Possible[0], scale * b.Possible[1]}
}

// AddRow adds the mean of numbers with its interval to a mark under a label.
func (b Band) AddRow(m *plots.Intervals, label string, values []float64) {
	s, scale := b.summary(values)
	mean, half := s.Interval()
	m.Labels, m.X = append(m.Labels, label), append(m.X, scale*mean)
	if !b.None {
		m.Err = append(m.Err, scale*half)
	}
	m.Possible = b.possible(scale)
}

// A Mark shows rows, or nothing where they lack what it shows: nil.
type Mark func(rows *table.Table) plots.Mark

// Line is the mean of a measure against a column of numbers, or of names that are numbers. It has
// a band where each of its points has an interval.
func Line(style plots.Line, x string, y Measure, b Band) Mark {
	return func(rows *table.Table) plots.Mark {
		l := style
		if slices.Contains(rows.ValueNames(), x) {
			for at, g := range ByNumber(rows, x) {
				b.AddTo(&l, at, y(g))
			}
		} else {
			for at, g := range rows.Group(x) {
				b.AddTo(&l, Parse(x, at), y(g))
			}
		}
		if len(l.X) == 0 {
			return nil
		}
		if len(l.Lo) != len(l.X) {
			l.Lo, l.Hi = nil, nil
		}
		return l
	}
}

// Lines are a Line for each style, of the rows whose cell in a column is its name.
func Lines(column string, styles []plots.Line, x string, y Measure, b Band) (out []Mark) {
	for _, style := range styles {
		out = append(out, Line(style, x, y, b).Where(column, style.Name))
	}
	return out
}

// Dots are the means of a measure by the cells of a column, which label them.
func Dots(style plots.Intervals, labels string, x Measure, b Band) Mark {
	return func(rows *table.Table) plots.Mark {
		m := style
		for label, g := range rows.Group(labels) {
			b.AddRow(&m, label, x(g))
		}
		if len(m.X) == 0 {
			return nil
		}
		return m
	}
}

// Where shows the rows with some cells only.
func (m Mark) Where(nameValue ...string) Mark {
	return func(rows *table.Table) plots.Mark { return m(rows.Where(nameValue...)) }
}

// On draws the rows made of a table.
func (m Mark) On(rows Rows) Mark {
	return func(t *table.Table) plots.Mark { return m(rows(t)) }
}

// Scatter has a point per row.
func Scatter(style plots.Points, x, y Measure) Mark {
	return func(rows *table.Table) plots.Mark {
		if rows.Len() == 0 {
			return nil
		}
		m := style
		m.X, m.Y = x(rows), y(rows)
		return m
	}
}

// Fixed is the mark itself, whatever the rows are.
func Fixed(m plots.Mark) Mark { return func(*table.Table) plots.Mark { return m } }

// Panel is a panel with the marks that rows give it. One without marks is left out.
type Panel struct {
	plots.Panel
	Of []Mark
}

// Panels makes the panels of a view.
type Panels func(rows *table.Table) []plots.Panel

// Each are panels of the whole table.
func Each(panels ...Panel) Panels {
	return func(rows *table.Table) (out []plots.Panel) {
		for _, p := range panels {
			for _, of := range p.Of {
				if m := of(rows); m != nil {
					p.Marks = append(p.Marks, m)
				}
			}
			if len(p.Marks) > 0 {
				out = append(out, p.Panel)
			}
		}
		return out
	}
}

// WithRoom ends the horizontal axes of dots 5 % beyond the largest.
func (p Panels) WithRoom() Panels {
	return func(rows *table.Table) []plots.Panel {
		out := p(rows)
		for i := range out {
			for _, m := range out[i].Marks {
				if m, ok := m.(plots.Intervals); ok {
					out[i].XMax = max(out[i].XMax, 1.05*slices.Max(m.X))
				}
			}
		}
		return out
	}
}

// PerMark is one panel with a mark for each cell of a column, of the rows with that cell. i counts the cells.
func PerMark(panel plots.Panel, column string, mark func(i int, cell string) Mark) Panels {
	return func(rows *table.Table) []plots.Panel {
		p := Panel{Panel: panel}
		for i, cell := range rows.Unique(column) {
			p.Of = append(p.Of, mark(i, cell).Where(column, cell))
		}
		return Each(p)(rows)
	}
}

// Where are the panels of the rows with some cells.
func (p Panels) Where(nameValue ...string) Panels {
	return func(rows *table.Table) []plots.Panel { return p(rows.Where(nameValue...)) }
}

// PerGroup are the panels of each combination of cells of some columns.
func PerGroup(panel func(cells []string) Panel, columns ...string) Panels {
	return func(rows *table.Table) (out []plots.Panel) {
		for cells, g := range rows.Groups(columns...) {
			out = append(out, Each(panel(cells))(g)...)
		}
		return out
	}
}

// Cell is a column of a Text: its head, and what it says of the rows of a group.
type Cell struct {
	Head string
	Of   func(rows *table.Table) string
}

// Of is a column with the mean of a measure by a format, "%.2f"; a dash without numbers.
func Of(head string, m Measure, b Band, format string) Cell {
	return Cell{head, func(rows *table.Table) string {
		values := m(rows)
		if len(values) == 0 {
			return "–"
		}
		return fmt.Sprintf(format, b.Mean(values))
	}}
}

// Half is a column with half the width of the interval of a mean.
func Half(head string, m Measure, b Band, format string) Cell {
	return Cell{head, func(rows *table.Table) string {
		s, scale := b.summary(m(rows))
		_, half := s.Interval()
		return fmt.Sprintf(format, scale*half)
	}}
}

// Name is a column with the cell of a column of names, which is the same in all rows of a group.
func Name(head, column string) Cell {
	return Cell{head, func(rows *table.Table) string { return experiment.FirstName(rows, column) }}
}

// WithInterval is a column with the mean of a share and its interval, in per cent.
func WithInterval(head string, m Measure, b Band) Cell {
	return Cell{head, func(rows *table.Table) string {
		s, _ := b.summary(m(rows))
		return s.Percent()
	}}
}

// PlusMinus is a column with the mean of a measure ± half its interval, both by a format; the
// mean alone where it has no interval, and a dash without numbers.
func PlusMinus(head string, m Measure, b Band, format string) Cell {
	return Cell{head, func(rows *table.Table) string {
		s, scale := b.summary(m(rows))
		switch {
		case s.N == 0:
			return "–"
		case !s.HasInterval:
			return fmt.Sprintf(format, scale*s.Mean)
		}
		return fmt.Sprintf(format+" ± "+format, scale*s.Mean, scale*s.Half)
	}}
}

// Text is a table with a row for each combination of cells of some columns, or with the rows
// of a list.
type Text struct {
	// By are pairs of a column and its head; one without a head is not shown.
	By []string
	// Head are the heads of the names of Rows, which take the place of By.
	Head []string
	Rows []Row
	// Cells are the columns after these.
	Cells []Cell
}

// Row is a row of a Text by its names. Of are the cells of the rows that it is of, as
// Table.Where takes them; without such rows it is left out. Cells take the place of Text's.
type Row struct {
	Names, Of []string
	Cells     []Cell
}

func (x Text) of(rows *table.Table) *plots.TextTable {
	out := &plots.TextTable{Head: slices.Clone(x.Head)}
	var by []string
	var shown []int
	for i := 0; i < len(x.By); i += 2 {
		if x.By[i+1] != "" {
			shown, out.Head = append(shown, len(by)), append(out.Head, x.By[i+1])
		}
		by = append(by, x.By[i])
	}
	for _, c := range x.Cells {
		out.Head = append(out.Head, c.Head)
	}
	add := func(row []string, g *table.Table, cells []Cell) {
		for _, c := range cells {
			row = append(row, c.Of(g))
		}
		out.Rows = append(out.Rows, row)
	}
	for _, r := range x.Rows {
		if g := rows.Where(r.Of...); g.Len() > 0 {
			cells := r.Cells
			if cells == nil {
				cells = x.Cells
			}
			add(slices.Clone(r.Names), g, cells)
		}
	}
	if x.Rows == nil {
		for cells, g := range rows.Groups(by...) {
			var row []string
			for _, i := range shown {
				row = append(row, cells[i])
			}
			add(row, g, x.Cells)
		}
	}
	return out
}

// View is a figure, a table of text, or both.
type View struct {
	// Of are the cells of the rows that it shows, as Table.Where takes them; nil means all.
	Of []string
	// Needs are the cells of rows without which there is nothing to draw, as Table.Where takes them.
	Needs []string
	// From makes the rows that it shows of these, if it is not nil.
	From    Rows
	Panels  Panels
	Columns int
	Text    *Text
	// Caption is said of the table; Missing, "errors on any data", of one without a panel or row.
	Caption func(rows *table.Table) plots.Caption
	Missing string
}

// Draw renders the view.
func (v View) Draw(t *table.Table) (plots.Drawing, error) {
	if v.Of != nil {
		t = t.Where(v.Of...)
	}
	if v.Needs != nil && t.Where(v.Needs...).Len() == 0 {
		return plots.Missing(v.Missing), nil
	}
	rows := t
	if v.From != nil {
		rows = v.From(t)
	}
	d := plots.Drawing{Columns: v.Columns}
	if v.Panels != nil {
		d.Panels = v.Panels(rows)
	}
	if v.Text != nil {
		d.Text = v.Text.of(rows)
	}
	return Given(v.Missing, d, func() plots.Caption { return v.Caption(t) }), nil
}

// Given is a drawing with its caption, or one that says what is missing where there is
// neither a panel nor a row.
func Given(missing string, d plots.Drawing, caption func() plots.Caption) plots.Drawing {
	if len(d.Panels) == 0 && (d.Text == nil || len(d.Text.Rows) == 0) {
		return plots.Missing(missing)
	}
	d.Caption = caption()
	return d
}

// Says is a caption that shows something, of data and by a protocol as said, with the means
// over trials of experiment.TrialsNote; cover is its second argument.
func Says(shows, data, protocol, cover string) func(*table.Table) plots.Caption {
	return func(t *table.Table) plots.Caption {
		return plots.Caption{Shows: shows, Data: data, Protocol: protocol, Intervals: experiment.TrialsNote(t, cover)}
	}
}
