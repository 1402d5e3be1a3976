// Package feedback reads what people say about objects from files: labelled pairs and relative comparisons. What the
// objects are, the rows of a table or things without vectors, is the caller's business.
//
// A file is a table of three columns, in one of these forms, told apart by how it begins:
//
//   - CSV: cells separated by commas, semicolons, tabs or single blanks, whichever the first line has.
//     A first row that names the columns is a header, and may put them in any order.
//   - JSON lines: an object or an array per line, such as {"i":0,"j":5,"label":1} or [0,5,1].
//   - NumPy (.npy): an n×3 array of whole numbers, such as the arrays of triplets of cblearn.
//
// ReadTriplets reads two more, of published sets.
//
// The columns of pairs are i (or a), j (or b) and label; those of triplets are a (or anchor), near (or positive) and far (or negative).
// Objects are counted from 0, or have names. Empty lines do not count. Errors name the file and the line, of .npy files the
// row from 0. A file that takes more than limits.Memory is an error.
//
// # How it is built
//
// Feedback from files is one reader (pkg/feedback): rows of three cells, whatever the form of the file, with objects
// by number from 0 or by name. model.Data.Links holds pairs that are known, and a model that learned from them may
// have no classes. Which pairs chunklets stand for is decided in Data.GiveChunklets: similar ones within, and as many
// dissimilar ones between, unless the learner sees only connected rows, as RCA does.
package feedback

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// Objects are those that a file speaks of.
type Objects struct {
	// Count is the number of objects: their numbers are 0 to Count−1. It is ignored if there are names.
	Count int
	// Names, if not nil, are distinct texts that stand for the objects in a file; object i is Names[i].
	Names []string
}

// Pairs are the labelled pairs of a file, in its order.
type Pairs struct {
	// Name is that of the file, for messages.
	Name  string
	Links []metric.Link
}

// Similar counts the similar pairs.
func (p *Pairs) Similar() int {
	n := 0
	for _, l := range p.Links {
		if l.Label == metric.Similar {
			n++
		}
	}
	return n
}

// ReadPairs reads labelled pairs of objects, "i,j,label": 1 says that i and j are similar, -1 that they are dissimilar. See
// the package documentation for the forms; name is that of the file, for messages. A CSV file has a header, too, if the label
// of its first row is no number. A pair of an object with itself, an object that is not among o, another label, and a file
// without pairs are errors. The same pair may stand more than once. It panics if o has no object.
func ReadPairs(r io.Reader, name string, o Objects) (*Pairs, error) {
	find, err := o.Finder()
	if err != nil {
		panic("feedback: ReadPairs: " + err.Error())
	}
	t := &table{name: name, columns: [3][]string{{"i", "a"}, {"j", "b"}, {"label"}}, number: 2}
	raw, err := t.load(r)
	if err != nil {
		return nil, err
	}
	out := &Pairs{Name: name}
	err = t.each(raw, func(row row) error {
		l := metric.Link{}
		for c, into := range []*int{&l.I, &l.J} {
			if *into, err = find(row.cells[c]); err != nil {
				return t.bad(row.line, t.columns[c][0], err)
			}
		}
		label, ok := whole(row.cells[2])
		switch {
		case ok && label == int(metric.Similar):
			l.Label = metric.Similar
		case ok && label == int(metric.Dissimilar):
			l.Label = metric.Dissimilar
		default:
			return t.bad(row.line, "label", fmt.Errorf("%s is not allowed, want 1 (similar) or -1 (dissimilar)", clip(row.cells[2])))
		}
		if l.I == l.J {
			return t.bad(row.line, "i and j", fmt.Errorf("both are %s, want two objects", clip(row.cells[0])))
		}
		out.Links = append(out.Links, l)
		return t.room(len(out.Links), linkBytes)
	})
	if err == nil && len(out.Links) == 0 {
		err = fmt.Errorf("feedback: %s: no pair, want at least one", name)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// linkBytes is about what a pair takes while the list of them grows.
const linkBytes = 3 * 24

// Finder returns a function that finds the object that a number or name stands for; its error says what is wanted. There is an
// error if there is no object, or two have one name.
func (o Objects) Finder() (func(cell string) (int, error), error) {
	if o.Names == nil {
		if o.Count < 1 {
			return nil, fmt.Errorf("%d objects, want at least 1", o.Count)
		}
		return func(cell string) (int, error) {
			v, ok := whole(cell)
			if !ok || v < 0 || v >= o.Count {
				return 0, fmt.Errorf("%s is not allowed, want a number from 0 to %d", clip(cell), o.Count-1)
			}
			return v, nil
		}, nil
	}
	at := make(map[string]int, len(o.Names))
	for i, name := range o.Names {
		if _, twice := at[name]; twice {
			return nil, fmt.Errorf("two objects are called %q", name)
		}
		at[name] = i
	}
	return func(cell string) (int, error) {
		i, ok := at[cell]
		if !ok {
			return 0, fmt.Errorf("%s is the name of no object", clip(cell))
		}
		return i, nil
	}, nil
}

// whole reads a whole number, also as 3.0 or 3e0, which numpy.savetxt writes.
func whole(cell string) (int, bool) {
	if v, err := strconv.Atoi(cell); err == nil {
		return v, true
	}
	const exact = 1 << 53
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > exact {
		return 0, false
	}
	return int(v), true
}

// table reads rows of three cells.
type table struct {
	name string
	// columns are the names of the columns, the first of each in messages.
	columns [3][]string
	// number is a column that holds a number: a first row in which it does not is a header. -1 for none.
	number int

	numpy bool // rows have numbers from 0 in place of lines
}

// row is one of them, in the order of table.columns.
type row struct {
	line  int
	cells [3]string
}

// bad gives an error the place of a row and the name of a cell.
func (t *table) bad(line int, field string, err error) error {
	return fmt.Errorf("feedback: %s: %s: %w", t.place(line), field, err)
}

func (t *table) place(line int) string {
	if t.numpy {
		return fmt.Sprintf("%s: row %d", t.name, line)
	}
	return fmt.Sprintf("%s:%d", t.name, line)
}

// room returns an error unless n things of so many bytes fit limits.Memory.
func (t *table) room(n int, each int) error {
	if n&(n-1) != 0 { // looked at whenever a list may grow
		return nil
	}
	if err := limits.Check(fmt.Sprintf("%s: more than %d rows", t.name, n), limits.Product(2, n, each)); err != nil {
		return fmt.Errorf("feedback: %w", err)
	}
	return nil
}

// load reads the file.
func (t *table) load(r io.Reader) ([]byte, error) {
	raw, err := limits.ReadAll(r, "file "+t.name)
	if err != nil {
		return nil, fmt.Errorf("feedback: %w", err)
	}
	return raw, nil
}

// The beginnings that tell what a file is.
const (
	npyMagic = "\x93NUMPY"
	matMagic = "MATLAB 5.0 MAT-file"
)

// each calls do with every row.
func (t *table) each(raw []byte, do func(row) error) error {
	if bytes.HasPrefix(raw, []byte(npyMagic)) {
		return t.npy(raw, do)
	}
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(raw, []byte(mark)) {
			return fmt.Errorf("feedback: %s: the text is UTF-16, want UTF-8", t.name)
		}
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if begin := bytes.TrimLeft(raw, " \t\r\n"); len(begin) > 0 && (begin[0] == '{' || begin[0] == '[') {
		return t.jsonLines(raw, do)
	}
	return t.csv(raw, do)
}

// npy reads an array of NumPy.
func (t *table) npy(raw []byte, do func(row) error) error {
	x, err := metric.ReadNPY(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("feedback: %s: %w", t.name, err)
	}
	t.numpy = true
	n, d := x.Dims()
	if d != len(t.columns) {
		return fmt.Errorf("feedback: %s: an array of %d×%d, want %d columns: %s", t.name, n, d, len(t.columns), t.names())
	}
	for i := range n {
		r := row{line: i}
		for j, v := range x.RawRowView(i) {
			r.cells[j] = strconv.FormatFloat(v, 'f', -1, 64)
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// names lists the columns.
func (t *table) names() string {
	words := make([]string, len(t.columns))
	for i, c := range t.columns {
		words[i] = c[0]
	}
	return strings.Join(words, ", ")
}

// column returns the place of the column of a name, or -1.
func (t *table) column(name string) int {
	return slices.IndexFunc(t.columns[:], func(c []string) bool { return slices.Contains(c, name) })
}

// jsonLines reads an object or an array per line.
func (t *table) jsonLines(raw []byte, do func(row) error) error {
	line := 0
	for text := range bytes.Lines(raw) {
		line++
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		r := row{line: line}
		var err error
		if text[0] == '[' {
			err = t.array(text, &r)
		} else {
			err = t.object(text, &r)
		}
		if err != nil {
			return fmt.Errorf("feedback: %s: %w", t.place(r.line), err)
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) array(text []byte, r *row) error {
	var values []jsontext.Value
	if err := json.Unmarshal(text, &values); err != nil {
		return syntax(err)
	}
	if len(values) != len(t.columns) {
		return fmt.Errorf("an array of %d, want %d: %s", len(values), len(t.columns), t.names())
	}
	for c, v := range values {
		var err error
		if r.cells[c], err = cellOf(v); err != nil {
			return fmt.Errorf("%s: %w", t.columns[c][0], err)
		}
	}
	return nil
}

func (t *table) object(text []byte, r *row) error {
	var values map[string]jsontext.Value
	if err := json.Unmarshal(text, &values); err != nil {
		return syntax(err)
	}
	var has [3]bool
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := t.column(name)
		if c < 0 {
			return fmt.Errorf("field %s is not known, want %s", clip(name), t.names())
		}
		if has[c] {
			return fmt.Errorf("%s: given twice, as %s too", t.columns[c][0], clip(name))
		}
		has[c] = true
		var err error
		if r.cells[c], err = cellOf(values[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for c, ok := range has {
		if !ok {
			return fmt.Errorf("field %s is missing, want %s", t.columns[c][0], t.names())
		}
	}
	return nil
}

// syntax drops what an error of the decoder says of Go's types.
func syntax(err error) error {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("no JSON: %w", e.Err)
	}
	return errors.New("no JSON object or array")
}

// cellOf returns a number or a string as text.
func cellOf(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case jsontext.KindNumber:
		return string(v), nil
	case jsontext.KindString:
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return "", syntax(err)
		}
		return s, checkName(s)
	}
	return "", fmt.Errorf("%s is not allowed, want a number or a text", clip(string(v)))
}

// longestName is the most bytes of a name.
const longestName = 1 << 10

// checkName returns an error unless a text can be the name of an object.
func checkName(name string) error {
	switch {
	case name == "" || name != strings.TrimSpace(name):
		return fmt.Errorf("%s is not allowed, want a text without blanks around it", clip(name))
	case !utf8.ValidString(name) || strings.ContainsAny(name, "\x00\r\n"):
		return fmt.Errorf("%s is not allowed, want UTF-8 in one line", clip(name))
	case len(name) > longestName:
		return fmt.Errorf("%s has %d bytes, want at most %d", clip(name), len(name), longestName)
	}
	return nil
}

// csv reads cells with a separator.
func (t *table) csv(raw []byte, do func(row) error) error {
	in := csv.NewReader(bytes.NewReader(raw))
	in.Comma = separator(raw)
	in.FieldsPerRecord, in.ReuseRecord, in.TrimLeadingSpace = -1, true, in.Comma != ' ' && in.Comma != '\t'
	order := [3]int{0, 1, 2}
	first := true
	for {
		record, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if e, ok := errors.AsType[*csv.ParseError](err); ok {
			return fmt.Errorf("feedback: %s:%d: %w", t.name, e.Line, e.Err)
		}
		if err != nil {
			return fmt.Errorf("feedback: %s: %w", t.name, err)
		}
		r := row{}
		r.line, _ = in.FieldPos(0)
		if len(record) == 1 && strings.TrimSpace(record[0]) == "" {
			continue
		}
		if len(record) != len(order) {
			return fmt.Errorf("feedback: %s: %d cells, want %d: %s", t.place(r.line), len(record), len(order), t.names())
		}
		for i, c := range record {
			record[i] = strings.TrimSpace(c)
		}
		if first {
			first = false
			if to, ok := t.header(record); ok {
				order = to
				continue
			}
		}
		for i, cell := range record {
			if err := checkName(cell); err != nil {
				return t.bad(r.line, t.columns[order[i]][0], err)
			}
			r.cells[order[i]] = strings.Clone(cell)
		}
		if err := do(r); err != nil {
			return err
		}
	}
}

// separator is the one of the first line that is not blank.
func separator(raw []byte) rune {
	for text := range bytes.Lines(raw) {
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		for _, c := range ",;\t " {
			if bytes.ContainsRune(text, c) {
				return c
			}
		}
		break
	}
	return ','
}

// header returns where the columns of a first row belong, if it is a header.
func (t *table) header(record []string) (order [3]int, ok bool) {
	named := true
	var has [3]bool
	for i, cell := range record {
		c := t.column(strings.ToLower(cell))
		if c < 0 || has[c] {
			named = false
			break
		}
		has[c], order[i] = true, c
	}
	if named {
		return order, true
	}
	if t.number >= 0 {
		_, err := strconv.ParseFloat(record[t.number], 64)
		return [3]int{0, 1, 2}, err != nil && record[t.number] != ""
	}
	return order, false
}

// clip quotes a text and shortens a long one.
func clip(text string) string {
	const longest = 40
	if r := []rune(text); len(r) > longest {
		text = string(r[:longest]) + "..."
	}
	return strconv.Quote(text)
}
