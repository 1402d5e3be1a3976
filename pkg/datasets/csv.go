package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/closest"
	"metriclab/internal/enum"
	"metriclab/internal/numeral"
	"metriclab/internal/plural"
	"metriclab/pkg/limits"
)

// Header says whether the first row of a CSV file names the columns.
type Header int

const (
	// HeaderAuto decides by the rule of ReadCSV. The default.
	HeaderAuto Header = iota
	// HeaderYes: the first row is a header.
	HeaderYes
	// HeaderNo: the first row is data.
	HeaderNo
)

var headerNames = enum.Of[Header]("Header(%d)", "auto", "yes", "no")

// String returns "auto", "yes" or "no", which ParseHeader reads.
func (h Header) String() string { return headerNames.Text(h) }

// ParseHeader returns the Header of that name, or an error that lists the names.
func ParseHeader(name string) (Header, error) {
	return headerNames.Parse("datasets: header", name)
}

// MissingCells lists what a missing cell of a CSV file holds, blanks around it apart, unless
// CSVOptions.Missing says otherwise. Nothing else is taken for missing: NaN, in particular, is an error.
var MissingCells = []string{"", "?", "NA"}

// ErrMissingCell is returned, wrapped, for a missing cell where one is wanted.
var ErrMissingCell = errors.New("the cell is missing")

// CellError is about a cell of a CSV file.
type CellError struct {
	File string
	Line int
	// Column is its name in the header, or its number from 1.
	Column string
	Named  bool // the file has a header
	// Cell is its text, and Kind what it is in place of a number.
	Cell string
	Kind CellKind
	Err  error
}

func (e *CellError) Error() string {
	column := e.Column
	if e.Named {
		column = strconv.Quote(column)
	}
	return fmt.Sprintf("datasets: %s:%d: column %s: %v", e.File, e.Line, column, e.Err)
}

func (e *CellError) Unwrap() error { return e.Err }

// CSVOptions say how a CSV file is read. The zero value is the default.
type CSVOptions struct {
	Header Header
	// Text lists columns, by name or by number from 1, that need not hold
	// numbers: class labels and whatever is not used.
	Text []string
	// OneColumn allows a single column.
	OneColumn bool
	// Dialect says how cells are written. With Detect it is found in the head of the file, by DetectDialect: a Separator of 0 and DecimalAuto are then what to find.
	Dialect Dialect
	Detect  bool
	Decimal Decimal // only with Detect
	// Missing lists what a missing cell holds, beside the empty one; nil means MissingCells.
	Missing []string
}

// CSVColumns are the columns of a CSV file. They are counted from 0 here, and from 1 by
// whoever types a number and in messages.
type CSVColumns struct {
	// Name is that of the file, for messages.
	Name string
	// Header holds one distinct name per column; nil if the file names none.
	Header []string
	// Dialect says how cells are written.
	Dialect Dialect

	width   int
	missing []string         // cells that count as missing, the empty one among them
	absent  map[float64]bool // those that are numbers: -999 is -999.0, too
}

// Missing tells whether a cell counts as missing.
func (t *CSVColumns) Missing(cell string) bool { return cell == "" || slices.Contains(t.missing, cell) }

// CSV is a table of cells as text, from a CSV file.
type CSV struct {
	CSVColumns

	cells [][]string // of equal length, blanks around them removed
	lines []int      // of each row
}

// UnknownColumnError is returned for a column that a file does not have.
type UnknownColumnError struct {
	File       string
	Column     string
	Suggestion string   // the closest name, or "" if none is close
	Numeric    bool     // most names are numbers, so that the first row may be data
	Columns    []string // the names; nil if the file names none
	Width      int      // number of columns
}

// ErrNumericHeader is returned, wrapped, where a header of numbers does not fit what is asked of it.
var ErrNumericHeader = errors.New("names are numbers, so the first row may be data, and the file may have no header")

// Unwrap returns ErrNumericHeader or nil.
func (e *UnknownColumnError) Unwrap() error {
	if e.Numeric {
		return ErrNumericHeader
	}
	return nil
}

func (e *UnknownColumnError) Error() string {
	if e.Numeric {
		return e.text() + "; " + ErrNumericHeader.Error()
	}
	return e.text()
}

func (e *UnknownColumnError) text() string {
	msg := fmt.Sprintf("datasets: %s: no column %q", e.File, e.Column)
	switch {
	case e.Columns == nil:
		return msg + fmt.Sprintf(", want a number from 1 to %d, since the file has no header", e.Width)
	case e.Suggestion != "":
		return msg + fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	const shown = 12
	names := e.Columns
	if len(names) > shown {
		names = append(slices.Clone(names[:shown]), fmt.Sprintf("... (%d in all)", e.Width))
	}
	return msg + "; its columns are " + strings.Join(names, ", ")
}

// ReadCSV reads a CSV file (RFC 4180): cells separated by commas, in quotes where
// they hold a comma, a quote or a line break; name is that of the file, for
// messages. Blanks around cells, empty lines, a UTF-8 byte order mark and
// carriage returns before line feeds do not count. Cells stay text until Numbers
// is asked.
//
// With HeaderAuto the first row is a header in two cases. A column of o.Text has a name that is no number;
// or, outside the columns of o.Text, no cell of the row is a number and at least one is not missing. NaN
// and infinities count as numbers here. A header cell that is empty gets the name "column n".
//
// The text ends with an error where the cells take more than limits.Memory, or a row
// more than a sixteenth of that, so that r need not have an end.
//
// Errors name the file and the line. They are lines that end with \r alone, no row of data, a single column unless o allows
// it, and rows of different lengths. So are a name twice in the header, a stray quote, text that is not UTF-8, and a column of
// o.Text that is not there (an *UnknownColumnError). Of several errors it is the first in the file; columns that are not there
// come with the header.
func ReadCSV(r io.Reader, name string, o CSVOptions) (*CSV, error) {
	rows, err := NewCSVRows(r, name, o)
	if err != nil {
		return nil, err
	}
	t := &CSV{CSVColumns: rows.CSVColumns}
	var size int64
	for {
		row, err := rows.Next()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		size += rowBytes + cellBytes*int64(len(row))
		for _, cell := range row {
			size += int64(len(cell))
		}
		if limit := limits.Memory(); size > limit {
			return nil, fmt.Errorf("datasets: %s:%d: %w", name, rows.line, &limits.MemoryError{What: "the table", Limit: limit})
		}
		t.cells, t.lines = append(t.cells, slices.Clone(row)), append(t.lines, rows.line)
	}
}

// CSVRows reads a CSV file row by row, as ReadCSV reads all of it. Its memory is that of a row.
type CSVRows struct {
	CSVColumns

	text  *rowReader
	mixed mixed
	loose bool // nothing but the cells tells whether marks group thousands
	skip  int  // lines before the first row
	in    *csv.Reader
	row   []string // the last one read
	line  int      // where it begins
	wait  bool     // it is yet to be returned
	head  int      // the line of the first row
}

// NewCSVRows reads as far as the first row of data. Its errors are those of ReadCSV; o has the same meaning.
func NewCSVRows(r io.Reader, name string, o CSVOptions) (*CSVRows, error) {
	if o.Header < HeaderAuto || o.Header > HeaderNo {
		return nil, fmt.Errorf("datasets: header: %d is not allowed, want %d to %d", o.Header, HeaderAuto, HeaderNo)
	}
	dialect := o.Dialect.Resolved()
	if err := dialect.check(); err != nil {
		return nil, err
	}
	text := &rowReader{r: r, separator: []byte(string(dialect.Separator))}
	text.next()
	size := 4096
	if o.Detect {
		size = headBytes
		text.left = math.MaxInt64 // as far as the head goes
	}
	buffered := bufio.NewReaderSize(text, size)
	mark, err := buffered.Peek(3)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if bytes.HasPrefix(mark, []byte("\xff\xfe")) || bytes.HasPrefix(mark, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("datasets: %s: the text is UTF-16, want UTF-8", name)
	}
	if bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = buffered.Discard(len(mark))
	}
	if err := otherForm(buffered, name); err != nil {
		return nil, err
	}
	skip := 0
	if s, length := separatorLine(buffered); length > 0 { // as Excel writes and reads it
		if o.Detect && o.Dialect.Separator == 0 {
			o.Dialect.Separator, dialect.Separator = s, s
		}
		_, _ = buffered.Discard(length)
		skip = 1
	}
	if o.Detect {
		head, err := buffered.Peek(headBytes)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("datasets: %s: %w", name, err)
		}
		if dialect, err = DetectDialect(head, err == io.EOF, name, o.Dialect.Separator, o.Decimal); err != nil {
			return nil, err
		}
		text.separator = []byte(string(dialect.Separator))
		text.next()
	}
	t := &CSVRows{CSVColumns: CSVColumns{Name: name, Dialect: dialect, missing: MissingCells}, text: text, in: csv.NewReader(buffered), skip: skip}
	t.loose = o.Detect && o.Decimal == DecimalAuto && !dialect.Thousands && dialect.Separator != ','
	if o.Missing != nil {
		t.missing = slices.Clone(o.Missing)
	}
	for _, cell := range t.missing {
		if v, err := parseNumber(cell); err == nil {
			if t.absent == nil {
				t.absent = map[float64]bool{}
			}
			t.absent[v] = true
		}
	}
	t.in.Comma, t.in.FieldsPerRecord, t.in.ReuseRecord = dialect.Separator, -1, true
	t.in.TrimLeadingSpace = dialect.Separator != '\t' // which it would take for a blank
	switch err := t.read(); {
	case err == io.EOF:
		return nil, fmt.Errorf("datasets: %s: the file is empty", name)
	case err != nil:
		return nil, err
	case t.width == 1 && !o.OneColumn:
		return nil, fmt.Errorf("datasets: %s:%d: one cell, %s, want at least two, separated by %ss", name, t.line, quote(t.row[0]), separatorNames[dialect.Separator])
	}
	t.wait = true
	if o.Header == HeaderYes || o.Header == HeaderAuto && t.looksLikeHeader(o.Text) {
		if err := t.takeHeader(); err != nil {
			return nil, err
		}
	}
	for _, column := range o.Text {
		if _, err := t.Column(column); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Next returns the cells of the next row of data, blanks around them removed, and io.EOF after
// the last. The slice is overwritten by the next call, the cells are not. After an error there is no further row.
func (t *CSVRows) Next() ([]string, error) {
	if t.wait {
		t.wait = false
		return t.row, nil
	}
	if err := t.read(); err != nil {
		return nil, err
	}
	return t.row, nil
}

// Line returns the line of the file in which the row of the last Next begins.
func (t *CSVRows) Line() int { return t.line }

// read reads a row.
func (t *CSVRows) read() error {
	row, err := t.in.Read()
	if err == io.EOF {
		return cmp.Or(t.mixed.ambiguous(&t.CSVColumns), err)
	}
	if t.text.returned && !t.text.fed {
		return fmt.Errorf(`datasets: %s: lines end with \r alone, want \n or \r\n`, t.Name)
	}
	t.text.next()
	if err != nil {
		if e, ok := errors.AsType[*csv.ParseError](err); ok {
			return fmt.Errorf("datasets: %s:%d: %w", t.Name, e.Line+t.skip, e.Err)
		}
		return fmt.Errorf("datasets: %s: %w", t.Name, err)
	}
	t.line, _ = t.in.FieldPos(0)
	t.line += t.skip
	for j, cell := range row {
		if !utf8.ValidString(cell) {
			return fmt.Errorf("datasets: %s:%d: column %d: %s is not UTF-8; iconv -f WINDOWS-1252 -t UTF-8 makes that of Latin-1", t.Name, t.line, j+1, quote(cell))
		}
		row[j] = strings.TrimSpace(cell)
	}
	if t.width == 0 {
		t.width, t.head = len(row), t.line
	}
	if len(row) != t.width {
		return fmt.Errorf("datasets: %s:%d: %s, want %d as in line %d", t.Name, t.line, plural.Of(len(row), "cell"), t.width, t.head)
	}
	t.row = row
	return nil
}

// Word returns the cell of column j as text. A missing cell is an error, ErrMissingCell.
func (t *CSVRows) Word(j int) (string, error) {
	return t.word(t.row[j], t.line, j)
}

// Numbers sets dst to the cells of the given columns, of the length of dst, as CSV.Numbers does.
func (t *CSVRows) Numbers(dst []float64, columns []int, missing bool) error {
	if t.loose {
		mark := byte('.')
		if t.Dialect.DecimalComma {
			mark = ','
		}
		for _, j := range columns {
			if cell := t.row[j]; !t.Missing(cell) {
				t.mixed.see(j, cell, mark)
			}
		}
	}
	return t.numbers(dst, t.row, t.line, columns, missing)
}

// What a row takes beside its text, and each cell of it: slice and line; string.
const (
	rowBytes  = 40
	cellBytes = 16
)

// longestRow is the share of limits.Memory that a row may take: reading it takes some
// copies.
const longestRow = 16

// perCell is what an empty cell takes while its row is read, in shares of longestRow.
const perCell = 6

// rowReader gives an error where a row is too long, so that a text without an end has
// one, be it of one line.
type rowReader struct {
	r         io.Reader
	left      int64 // bytes that the row may still take
	separator []byte

	last     byte
	returned bool // a \r was followed by something else than another
	fed      bool // there was a \n
}

// next says that a row was read. What was read ahead counts as of that row.
func (r *rowReader) next() { r.left = longest() }

func longest() int64 { return max(limits.Memory()/longestRow, 1<<16) }

func (r *rowReader) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, &limits.MemoryError{What: fmt.Sprintf("a row of more than %d bytes, with its copies,", longest()), Limit: limits.Memory()}
	}
	n, err := r.r.Read(b)
	r.left -= int64(n) + perCell*int64(bytes.Count(b[:n], r.separator))
	for _, c := range b[:n] {
		r.returned = r.returned || r.last == '\r' && c != '\r'
		r.fed = r.fed || c == '\n'
		r.last = c
		if r.fed {
			break // nothing more to learn
		}
	}
	return n, err
}

func (t *CSVRows) looksLikeHeader(text []string) bool {
	skip := make([]bool, t.Width())
	for _, column := range text {
		n, err := strconv.Atoi(column)
		if err != nil {
			return true // only a header can have such a name
		}
		if n >= 1 && n <= len(skip) {
			skip[n-1] = true
		}
	}
	words := 0
	for j, cell := range t.row {
		if skip[j] {
			continue
		}
		if _, err := strconv.ParseFloat(t.decimal(cell), 64); err == nil || errors.Is(err, strconv.ErrRange) {
			return false // NaN too: an error in Numbers, never a name by accident
		}
		if !t.Missing(cell) {
			words++
		}
	}
	return words > 0
}

func (t *CSVRows) takeHeader() error {
	header, line := slices.Clone(t.row), t.line
	first := map[string]int{}
	for j, name := range header {
		if name == "" {
			name = fmt.Sprintf("column %d", j+1)
			header[j] = name
		}
		if i, ok := first[name]; ok {
			err := fmt.Errorf("datasets: %s:%d: columns %d and %d are both called %q, want distinct names", t.Name, line, i+1, j+1, name)
			if _, number := strconv.ParseFloat(t.decimal(name), 64); number == nil {
				err = fmt.Errorf("%w; %w", err, ErrNumericHeader)
			}
			return err
		}
		first[name] = j
	}
	t.Header = header
	err := t.read()
	if err == io.EOF {
		return fmt.Errorf("datasets: %s:%d: no row of data follows the header", t.Name, line)
	}
	return err
}

// Len returns the number of rows of data, at least 1.
func (t *CSV) Len() int { return len(t.cells) }

// Width returns the number of columns, at least 2 unless a single one is allowed.
func (t *CSVColumns) Width() int { return t.width }

// Line returns the line of the file in which row i begins.
func (t *CSV) Line(i int) int { return t.lines[i] }

// Column returns the index of a column by its name in the header, or else by its
// number from 1; c3 is column 3 of a file without a header, too. The error for a column that is not there is an
// *UnknownColumnError.
func (t *CSVColumns) Column(column string) (int, error) {
	if j := slices.Index(t.Header, column); j >= 0 {
		return j, nil
	}
	if n, err := strconv.Atoi(column); err == nil && n >= 1 && n <= t.Width() {
		return n - 1, nil
	}
	if number, ok := strings.CutPrefix(column, "c"); ok && t.Header == nil { // c3, as whoever has no header may call it
		if n, err := strconv.Atoi(number); err == nil && n >= 1 && n <= t.Width() {
			return n - 1, nil
		}
	}
	e := &UnknownColumnError{File: t.Name, Column: column, Columns: t.Header, Width: t.Width()}
	numbers := 0
	for _, name := range t.Header {
		if _, err := strconv.ParseFloat(t.decimal(name), 64); err == nil {
			numbers++
		}
	}
	e.Numeric = numbers > 0 && 2*numbers >= len(t.Header)
	best := 1 + max(2, len(column)/3) // 2 allows for two letters swapped
	for _, name := range t.Header {
		if closest.Fold(name) == closest.Fold(column) {
			e.Suggestion = name
			break
		}
		d := closest.Distance(strings.ToLower(column), strings.ToLower(name))
		if d < best && d < max(len(column), len(name)) {
			e.Suggestion, best = name, d
		}
	}
	return 0, e
}

// ColumnName returns the name of column j, or its number from 1 if the file has no
// header.
func (t *CSVColumns) ColumnName(j int) string {
	if t.Header != nil {
		return t.Header[j]
	}
	return strconv.Itoa(j + 1)
}

// Words returns the cells of column j as text. A missing cell is an error.
func (t *CSV) Words(j int) ([]string, error) {
	out := make([]string, t.Len())
	for i, row := range t.cells {
		var err error
		if out[i], err = t.word(row[j], t.lines[i], j); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (t *CSVColumns) word(cell string, line, j int) (string, error) {
	if t.Missing(cell) {
		return "", t.cellError(line, j, cell, fmt.Errorf("%w (%q)", ErrMissingCell, cell))
	}
	return cell, nil
}

// Numbers returns the given columns as a matrix with one row per row of data.
// Cells are finite decimal numbers. A missing cell becomes NaN if missing is true,
// and is an error otherwise, ErrMissingCell. Errors name file, line and column. It panics if
// columns is empty.
func (t *CSV) Numbers(columns []int, missing bool) (*mat.Dense, error) {
	out := mat.NewDense(t.Len(), len(columns), nil)
	for i, row := range t.cells {
		if err := t.numbers(out.RawRowView(i), row, t.lines[i], columns, missing); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (t *CSVColumns) numbers(dst []float64, row []string, line int, columns []int, missing bool) error {
	for k, j := range columns {
		cell := row[j]
		if t.Missing(cell) {
			if !missing {
				return t.cellError(line, j, cell, fmt.Errorf("%w (%q), want a number", ErrMissingCell, cell))
			}
			dst[k] = math.NaN()
			continue
		}
		v, err := parseNumber(t.decimal(cell))
		if err != nil {
			if t.Dialect.DecimalComma { // the text of the file, not what was made of it
				err = fmt.Errorf("%s is not a number with a decimal comma", quote(cell))
			}
			return t.cellError(line, j, cell, err)
		}
		if t.absent[v] {
			if !missing {
				return t.cellError(line, j, cell, fmt.Errorf("%w (%q), want a number", ErrMissingCell, cell))
			}
			v = math.NaN()
		} else if !lossless(cell, v) {
			return t.cellError(line, j, cell, fmt.Errorf("%s would become %s: want whole numbers up to ±9007199254740992 (2^53), or ids that are no features", quote(cell), strconv.FormatFloat(v, 'f', -1, 64)))
		}
		dst[k] = v
	}
	return nil
}

// decimal returns a cell with a point for its decimal comma, if the file has such.
// One that has a point is then no number: it returns what is none.
func (t *CSVColumns) decimal(cell string) string {
	if t.Dialect.Thousands {
		group, decimal := byte(','), byte('.')
		if t.Dialect.DecimalComma {
			group, decimal = decimal, group
		}
		if marks, _ := grouped(cell, group, decimal); marks > 0 {
			cell = strings.ReplaceAll(cell, string(group), "")
		}
	}
	if !t.Dialect.DecimalComma {
		return cell
	}
	if strings.Contains(cell, ".") {
		return "." + cell + "."
	}
	return strings.Replace(cell, ",", ".", 1)
}

func (t *CSVColumns) cellError(line, j int, cell string, err error) error {
	kind := CellOther
	if !t.Missing(cell) {
		kind = kindOf(cell)
	}
	return &CellError{File: t.Name, Line: line, Column: t.ColumnName(j), Named: t.Header != nil, Cell: cell, Kind: kind, Err: err}
}

// separatorLine returns the separator of a first line such as sep=; and the length of that line, 0 if there is none.
func separatorLine(in *bufio.Reader) (rune, int) {
	const longest = len("\"sep=;\"\r\n")
	head, _ := in.Peek(longest)
	line, _, ended := bytes.Cut(head, []byte{'\n'})
	text, ok := strings.CutPrefix(strings.ToLower(strings.Trim(strings.TrimSuffix(string(line), "\r"), `"`)), "sep=")
	if !ended || !ok || !slices.Contains(separators, []rune(text + " ")[0]) || len(text) != 1 {
		return 0, 0
	}
	return rune(text[0]), len(line) + 1
}

// otherForms are beginnings of files that are no CSV, and what to do with them.
var otherForms = []struct{ begin, is, advice string }{
	{"@relation", "ARFF", "delete the lines before @data and name the columns in a header in their place"},
	{"%%matrixmarket", "MatrixMarket", "scipy.io.mmread reads it; sklearn.datasets.dump_svmlight_file writes rows of svmlight"},
	{"{\"", "JSON", "duckdb -c \"COPY (FROM 'x.json') TO 'x.csv'\" writes CSV"},
	{"[{", "JSON", "duckdb -c \"COPY (FROM 'x.json') TO 'x.csv'\" writes CSV"},
	{"[[", "JSON", "python3 -c 'import json, csv, sys; csv.writer(sys.stdout).writerows(json.load(sys.stdin))' writes CSV"},
	{"<!doctype", "HTML", "save the table as CSV"}, {"<html", "HTML", "save the table as CSV"}, {"<?xml", "XML", "save the table as CSV"},
}

// otherForm returns an error for a text that begins as another form than CSV does.
func otherForm(in *bufio.Reader, name string) error {
	head, _ := in.Peek(2048)
	text := strings.ToLower(strings.TrimLeft(string(head), " \t\r\n"))
	for strings.HasPrefix(text, "%") && !strings.HasPrefix(text, "%%") && strings.Contains(strings.ToLower(string(head)), "@relation") { // comments of ARFF
		_, rest, _ := strings.Cut(text, "\n")
		text = strings.TrimLeft(rest, " \t\r\n")
	}
	for _, f := range otherForms {
		if strings.HasPrefix(text, f.begin) {
			return fmt.Errorf("datasets: %s: it is %s, want CSV: %s", name, f.is, f.advice)
		}
	}
	return nil
}

// quote quotes the beginning of a cell.
func quote(cell string) string {
	const shown = 40
	if len(cell) > shown {
		return strconv.Quote(cell[:shown]) + "..."
	}
	return strconv.Quote(cell)
}

// errVanishes is returned, wrapped, for a number that float64 rounds to 0.
var errVanishes = errors.New("want " + numeral.Held)

// parseNumber reads a finite decimal number.
func parseNumber(cell string) (float64, error) {
	v, err := strconv.ParseFloat(cell, 64)
	if err == nil && strings.ContainsAny(cell, "xX_") {
		err = strconv.ErrSyntax // hexadecimal
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is not allowed, want a number between ±%.2g", quote(cell), math.MaxFloat64)
	case err == nil && numeral.Vanishes(cell, v):
		return 0, fmt.Errorf("%s is not allowed, %w", quote(cell), errVanishes)
	case err != nil:
		return 0, fmt.Errorf("%s is not a number", quote(cell))
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%s is not allowed, want a finite number", cell)
	}
	return v, nil
}

// Classes returns the distinct words in the order in which to show them: by
// value if all are numbers, else by alphabet; and the index of each word among
// them.
func Classes(words []string) (classes []string, y []int) {
	classes = slices.Compact(slices.Sorted(slices.Values(words)))
	value := make(map[string]float64, len(classes))
	for _, c := range classes {
		v, err := parseNumber(c)
		if err != nil {
			value = nil
			break
		}
		value[c] = v
	}
	slices.SortStableFunc(classes, func(a, b string) int { return cmp.Compare(value[a], value[b]) })
	at := make(map[string]int, len(classes))
	for i, c := range classes {
		at[c] = i
	}
	y = make([]int, len(words))
	for i, w := range words {
		y[i] = at[w]
	}
	return classes, y
}
