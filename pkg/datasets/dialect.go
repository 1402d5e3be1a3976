package datasets

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"metriclab/internal/enum"
)

// Dialect says how the cells of a CSV file are written. The zero value is RFC 4180 with decimal points.
type Dialect struct {
	// Separator is what stands between cells: ',', ';', '\t' or '|'. 0 means ','.
	Separator rune
	// DecimalComma reads 1,5 as 1.5. It needs another separator than the comma.
	DecimalComma bool
	// Thousands reads over the other mark where it groups digits by three: 1.250,5 is 1250.5 then with DecimalComma, and 1,250.5 without.
	Thousands bool
}

// Resolved returns d with its defaults filled in.
func (d Dialect) Resolved() Dialect {
	if d.Separator == 0 {
		d.Separator = ','
	}
	return d
}

// Usual tells whether cells are separated by commas, with decimal points.
func (d Dialect) Usual() bool { return d.Resolved() == Dialect{Separator: ',', Thousands: d.Thousands} }

// String returns words such as "semicolons, decimal commas".
func (d Dialect) String() string {
	decimal := "decimal points"
	if d.DecimalComma {
		decimal = "decimal commas"
	}
	return separatorNames[d.Resolved().Separator] + "s, " + decimal
}

func (d Dialect) check() error {
	d = d.Resolved()
	if !slices.Contains(separators, d.Separator) {
		return fmt.Errorf("datasets: separator: %q is not allowed, want a comma, a semicolon, a tab or a bar", d.Separator)
	}
	if d.DecimalComma && d.Separator == ',' {
		return fmt.Errorf("datasets: decimal commas need another separator than the comma")
	}
	return nil
}

var (
	separators     = []rune{',', ';', '\t', '|'}
	separatorNames = map[rune]string{',': "comma", ';': "semicolon", '\t': "tab", '|': "bar"}
)

// ParseSeparator returns the separator of a name, "comma", "semicolon", "tab" or "bar", or of the character itself; \t stands for a tab, too.
func ParseSeparator(name string) (rune, error) {
	for _, s := range separators {
		if name == string(s) || name == separatorNames[s] {
			return s, nil
		}
	}
	if name == `\t` {
		return '\t', nil
	}
	return 0, fmt.Errorf("datasets: separator: %q is not allowed, want comma, semicolon, tab or bar", name)
}

// Decimal says which mark a file has within numbers.
type Decimal int

const (
	// DecimalAuto decides by the head of the file. The default.
	DecimalAuto Decimal = iota
	// DecimalPoint: 1.5.
	DecimalPoint
	// DecimalComma: 1,5.
	DecimalComma
)

var decimalNames = enum.Of[Decimal]("Decimal(%d)", "auto", "point", "comma")

// String returns "auto", "point" or "comma".
func (d Decimal) String() string { return decimalNames.Text(d) }

// AmbiguousError says that the head of a file can be read in two ways.
type AmbiguousError struct {
	File string
	Why  string
	// Separator tells what is open: the separator, or the decimal mark.
	Separator bool
}

func (e *AmbiguousError) Error() string { return fmt.Sprintf("datasets: %s: %s", e.File, e.Why) }

// headBytes is how much of a file detection looks at, and headRows how many rows of it.
const (
	headBytes = 1 << 16
	headRows  = 200
)

// reading is the head of a file under one separator.
type reading struct {
	separator rune
	width     int // of most rows
	agree     int // rows of that width
	rows      int
	numbers   int // cells that are numbers, with either decimal mark
	cells     int
	foreign   int // cells that hold another separator, and are no number with a decimal comma
	// Cells that may be decimal or have thousands marked, by mark, and others that tell which mark is decimal or that have thousands marked: point, comma.
	open, decimal, thousands [2]int
	shown                    [2]string // of open
}

// DetectDialect says how the cells of a text are written that begins with head; whole tells that nothing follows. separator and decimal are what is known
// already, 0 and DecimalAuto if nothing. name is that of the file, for messages.
//
// A separator is taken that gives most rows the same number of cells, at least two; of several the one whose cells hold no other separator, unless within
// numbers with decimal commas; then the one that gives more numbers. Where no separator fits, it is the comma.
//
// One rule is for both marks. A mark is decimal if some cell shows it: 1,5 or 0,125 or 1.250,5. Then, and where decimal says it, the other mark groups
// thousands where three digits follow. Commas are not decimal where they separate. An *AmbiguousError is returned where two separators fit
// equally, and where the separator is not the comma and each mark stands before three digits, as in 1.250 and 1,250: it may be decimal or group thousands.
func DetectDialect(head []byte, whole bool, name string, separator rune, decimal Decimal) (Dialect, error) {
	if decimal < DecimalAuto || decimal > DecimalComma {
		return Dialect{}, fmt.Errorf("datasets: decimal: %d is not allowed, want %d to %d", decimal, DecimalAuto, DecimalComma)
	}
	var fits []reading
	for _, s := range separators {
		if separator != 0 && s != separator || s == ',' && separator == 0 && decimal == DecimalComma {
			continue
		}
		if r := read(head, whole, s, decimal); r.width >= 2 && r.agree*10 >= r.rows*9 {
			fits = append(fits, r)
		}
	}
	if len(fits) == 0 {
		d := Dialect{Separator: separator, DecimalComma: decimal == DecimalComma}
		if separator == 0 && d.DecimalComma {
			d.Separator = ';'
		}
		d = d.Resolved()
		return d, d.check()
	}
	best := slices.MaxFunc(fits, compareReadings)
	for _, r := range fits {
		if r.separator != best.separator && compareReadings(r, best) == 0 {
			return Dialect{}, &AmbiguousError{File: name, Separator: true, Why: fmt.Sprintf("cells may be separated by %ss (%d in a row) or by %ss (%d in a row)",
				separatorNames[best.separator], best.width, separatorNames[r.separator], r.width)}
		}
	}
	d := Dialect{Separator: best.separator, DecimalComma: decimal == DecimalComma}
	if decimal != DecimalAuto {
		d.Thousands = best.open != [2]int{} || best.thousands != [2]int{}
		return d, d.check()
	}
	const point, comma = 0, 1
	switch {
	case d.Separator != ',' && best.decimal[comma] > 0:
		d.DecimalComma = true
		d.Thousands = best.open[point]+best.thousands[point] > 0
	case best.decimal[point] > 0:
		d.Thousands = best.open[comma]+best.thousands[comma] > 0
	case best.open[comma] > 0:
		return Dialect{}, &AmbiguousError{File: name, Why: fmt.Sprintf("the comma of %s may be decimal or mark thousands", quote(best.shown[comma]))}
	case best.open[point] > 0 && d.Separator != ',':
		return Dialect{}, &AmbiguousError{File: name, Why: fmt.Sprintf("the point of %s may be decimal or mark thousands", quote(best.shown[point]))}
	}
	return d, d.check()
}

// compareReadings orders readings of one text by how well they fit.
func compareReadings(a, b reading) int {
	if aClean, bClean := a.foreign == 0, b.foreign == 0; aClean != bClean {
		if aClean {
			return 1
		}
		return -1
	}
	return a.numbers*b.cells - b.numbers*a.cells
}

// read reads the head of a text with one separator.
func read(head []byte, whole bool, separator rune, decimal Decimal) reading {
	out := reading{separator: separator}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	in := csv.NewReader(bytes.NewReader(head))
	in.Comma, in.FieldsPerRecord, in.TrimLeadingSpace, in.ReuseRecord = separator, -1, separator != '\t', true
	widths := map[int]int{}
	for out.rows < headRows {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			break // reading will name the line
		}
		if end := in.InputOffset(); !whole && end >= int64(len(head)) && out.rows > 0 {
			break // its rest may be missing
		}
		out.rows++
		widths[len(row)]++
		for _, cell := range row {
			out.count(strings.TrimSpace(cell), decimal)
		}
	}
	for w, n := range widths {
		if n > out.agree || n == out.agree && w > out.width {
			out.width, out.agree = w, n
		}
	}
	return out
}

func (r *reading) count(cell string, decimal Decimal) {
	r.cells++
	if cell == "" {
		return
	}
	marks := [2]byte{'.', ','}
	for m, mark := range marks {
		if n, decimals := grouped(cell, mark, marks[1-m]); n > 0 {
			r.numbers++
			switch {
			case n > 1 || decimals: // only thousands are marked twice, or before the decimal mark
				r.thousands[m]++
				r.decimal[1-m]++
			default:
				r.open[m]++
				if r.shown[m] == "" {
					r.shown[m] = cell
				}
			}
			return
		}
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil && decimal != DecimalComma {
		r.numbers++
		if strings.Contains(cell, ".") {
			r.decimal[0]++
		}
		return
	}
	if decimal != DecimalPoint && r.separator != ',' && !strings.Contains(cell, ".") {
		before, after, comma := strings.Cut(cell, ",")
		if _, err := parseNumber(before + "." + after); err == nil && (comma || decimal == DecimalComma) {
			r.numbers++
			if comma {
				r.decimal[1]++
			}
			return
		}
	}
	if strings.ContainsFunc(cell, func(c rune) bool { return c != r.separator && slices.Contains(separators, c) }) {
		r.foreign++
	}
}
