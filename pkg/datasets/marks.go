package datasets

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"metriclab/internal/plural"
)

// grouped tells whether a cell is a number whose digits a mark groups by three, such as 1,250 or -12,345,678: how many marks there are, and whether
// the other mark and digits follow.
func grouped(cell string, mark, decimal byte) (marks int, decimals bool) {
	cell = strings.TrimLeft(cell, "+-")
	whole, rest, decimals := strings.Cut(cell, string(decimal))
	if decimals && strings.Trim(rest, "0123456789") != "" {
		return 0, false
	}
	for i, group := range strings.Split(whole, string(mark)) {
		if strings.Trim(group, "0123456789") != "" || i > 0 && len(group) != 3 || i == 0 && (len(group) < 1 || len(group) > 3 || group[0] == '0') {
			return 0, false
		}
		marks = i
	}
	return marks, decimals && marks > 0
}

// mayGroup tells whether the one mark of a number may be decimal or stand between groups of three digits.
func mayGroup(cell string, mark byte) bool {
	i := strings.IndexByte(cell, mark)
	if i < 1 || len(cell)-i != 4 {
		return false
	}
	marks, _ := grouped(cell, mark, 0)
	return marks == 1
}

// mixed watches columns of numbers for cells such as 1.250 beside whole ones below 1,000: if the mark stands between groups, these are the same kind of
// number, and to read it as decimal makes one of a thousandth.
type mixed struct{ columns map[int]*mixedColumn }

type mixedColumn struct {
	grouped, small string // cells
	decimal        bool   // a cell shows that the mark is decimal, or that none groups
}

func (m *mixed) see(j int, cell string, mark byte) {
	if m.columns == nil {
		m.columns = map[int]*mixedColumn{}
	}
	c := m.columns[j]
	if c == nil {
		c = &mixedColumn{}
		m.columns[j] = c
	}
	switch {
	case c.decimal:
	case strings.IndexByte(cell, mark) < 0:
		if digits := strings.TrimLeft(cell, "+-"); len(digits) > 3 || strings.Trim(digits, "0123456789") != "" {
			c.decimal = true
		} else if c.small == "" {
			c.small = strings.Clone(cell)
		}
	case !mayGroup(cell, mark):
		c.decimal = true
	case c.grouped == "":
		c.grouped = strings.Clone(cell)
	}
}

// ambiguous returns an *AmbiguousError for the first column in which the mark may group.
func (m *mixed) ambiguous(t *CSVColumns) error {
	for j := range t.width {
		if c := m.columns[j]; c != nil && !c.decimal && c.grouped != "" && c.small != "" {
			return &AmbiguousError{File: t.Name, Why: fmt.Sprintf("column %s: %s stands beside %s: its mark may be decimal or group thousands", t.named(j), quote(c.grouped), quote(c.small))}
		}
	}
	return nil
}

// named is how messages call column j.
func (t *CSVColumns) named(j int) string {
	if t.Header != nil {
		return strconv.Quote(t.Header[j])
	}
	return strconv.Itoa(j + 1)
}

// CellKind says what a cell is that is no number.
type CellKind int

// The kinds.
const (
	CellOther   CellKind = iota // a number that is not allowed
	CellWord                    // a word
	CellAbsent                  // a word that stands for a missing cell in other programs: NaN, N/A, null, ...
	CellPercent                 // 14.23 %
	CellDate
	CellMarks // a number with other marks than those of the file
)

var dates = regexp.MustCompile(`^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([ T]\d{1,2}:\d{2}.*)?$`)

// kindOf tells what a cell is that is no number.
func kindOf(cell string) CellKind {
	if slices.Contains([]string{"nan", "n/a", "na", "#n/a", "null", "none", "nil", "missing", "-", ".", "?"}, strings.ToLower(cell)) {
		return CellAbsent
	}
	if number, ok := strings.CutSuffix(cell, "%"); ok {
		if _, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(number), ",", "."), 64); err == nil {
			return CellPercent
		}
	}
	if dates.MatchString(cell) {
		return CellDate
	}
	for _, m := range [][2]byte{{',', '.'}, {'.', ','}} {
		if marks, _ := grouped(cell, m[0], m[1]); marks > 0 {
			return CellMarks
		}
	}
	if _, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", "."), 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return CellOther
	}
	return CellWord
}

// CellsError says that several columns of a file, or many cells of one, are no numbers. It wraps the *CellError of the first.
type CellsError struct {
	First *CellError
	Rest  []ColumnProblem // by column, that of First among them
}

// ColumnProblem are the cells of a column that are no numbers.
type ColumnProblem struct {
	Column string
	Kind   CellKind // of the first
	Cell   string   // the first
	Line   int      // of it
	Cells  int
	Absent []string // the different texts of kind CellAbsent, at most some
}

func (e *CellsError) Unwrap() error { return e.First }

func (e *CellsError) Error() string {
	const shown = 8
	var parts []string
	for _, p := range e.Rest[:min(len(e.Rest), shown)] {
		parts = append(parts, fmt.Sprintf("%s (%s, the first %s on line %d)", p.Column, plural.Of(p.Cells, "cell"), quote(p.Cell), p.Line))
	}
	if more := len(e.Rest) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%v; in all, no numbers are in column %s", e.First, strings.Join(parts, ", "))
}

// Problems reads on to the end, from the row of the last Next, for all cells of the columns that are no numbers, of which first is the first. It returns
// first if that is the only one, and a *CellsError else; a row that cannot be read ends the search.
func (t *CSVRows) Problems(first *CellError, columns []int, missing bool) error {
	at := map[int]*ColumnProblem{}
	var order []int
	total := 0
	dst := make([]float64, 1)
	for {
		for _, j := range columns {
			err := t.numbers(dst, t.row, t.line, []int{j}, missing)
			cell, bad := errors.AsType[*CellError](err)
			if !bad {
				continue
			}
			total++
			p := at[j]
			if p == nil {
				p = &ColumnProblem{Column: t.named(j), Kind: cell.Kind, Cell: strings.Clone(cell.Cell), Line: t.line}
				at[j], order = p, append(order, j)
			}
			p.Cells++
			if cell.Kind == CellAbsent && !slices.Contains(p.Absent, cell.Cell) && len(p.Absent) < 8 {
				p.Absent = append(p.Absent, strings.Clone(cell.Cell))
			}
		}
		if _, err := t.Next(); err != nil {
			break
		}
	}
	if total <= 1 {
		return first
	}
	e := &CellsError{First: first}
	for _, j := range order {
		e.Rest = append(e.Rest, *at[j])
	}
	return e
}

// lossless tells whether a whole number of many digits comes back from float64 as it was.
func lossless(cell string, v float64) bool {
	digits := strings.TrimLeft(cell, "+-")
	if len(digits) <= 15 || strings.Trim(digits, "0123456789") != "" {
		return true
	}
	return strconv.FormatFloat(math.Abs(v), 'f', -1, 64) == strings.TrimLeft(digits, "0")
}
