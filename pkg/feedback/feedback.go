// Package feedback reads what people say about objects from files: labelled pairs, relative comparisons, and judgements of
// documents for queries. What the objects are, the rows of a table or things without vectors, is the caller's business.
//
// A file is a table in one of these forms, told apart by how it begins:
//
//   - CSV: cells separated by commas, semicolons, tabs, bars or single blanks, whichever the first line has.
//   - JSON lines: an object or an array per line, such as {"i":0,"j":5,"label":1} or [0,5,1].
//   - NumPy (.npy): an n×3 array of whole numbers, such as the arrays of triplets of cblearn, or n×4 with responses.
//
// ReadTriplets reads two more, of published sets.
//
// Columns are found by their names in a header, or fields of JSON, in any order and among any others, which are ignored and named in Notes:
//
//   - pairs: i, j and label; or a and b, left and right, item1 and item2, ...; or similar, same, match, ... for the label;
//   - triplets: a, near and far; anchor, positive and negative; head, winner and loser (as Salmon writes); and response, as cblearn has it:
//     where it is −1, 0 or false, near and far are exchanged;
//   - the odd one out of three, which is two triplets, "a,b,odd" and "b,a,odd": odd, a and b; or odd_one_out, and first and second, i and j, ...;
//   - the most central of three, which is two triplets, "a,central,b" and "b,central,a": central, a and b; or most_central, and first and second, ...;
//   - judgements: query, document and grade; query-id, corpus-id and score (as BEIR writes); qid, docid and rel, ...
//
// Case, blanks and marks of a name do not count. Of several sets of names the first that is there in full is used. A CSV file of three columns
// may have no header: comparisons are then triplets. Its first row is then data: numbers, objects that are known, or names that all occur in later rows, too. Any other first row
// is an error, unless Form says what it is.
//
// Objects are counted from 0, or have names. Whole numbers count by their value: 1 and 1.0 are one object. Empty lines do not count.
// Errors name the file and the line, of .npy files the row from 0. A file that takes more than limits.Memory is an error.
//
// # How it is built
//
// One reader serves all files: rows of three cells, whatever the form of the file, with objects by number from 0
// or by name.
//
// What pairs and chunklets mean for a fit is decided in package model. tables.Data.Links holds known pairs, and a
// model that learned from them may have no classes. model.ByChunklets makes similar pairs within chunklets, and as
// many dissimilar ones between them, unless the learner sees only connected rows, as RCA does.
package feedback

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"metriclab/internal/closest"
	"metriclab/internal/printable"
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

// Judgement says how relevant a document is to a query, both by number from 0: the higher the grade the more, 0 not at all.
type Judgement struct {
	Query, Document int
	Grade           float64
}

// MaxGrade is the largest grade: gains are 2^grade.
const MaxGrade = 64

// Pairs are the labelled pairs of a file, in its order.
type Pairs struct {
	// Name is that of the file, for messages.
	Name  string
	Links []metric.Link
	// Notes say what a reader should know: how columns were read, labels that contradict each other, a label that never occurs.
	Notes []string
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

// Agreement counts the labels of each pair, in whichever order it stands.
func (p *Pairs) Agreement() Agreement {
	labels := ways[[2]int]{}
	for _, l := range p.Links {
		way := 0
		if l.Label == metric.Dissimilar {
			way = 1
		}
		labels.add([2]int{min(l.I, l.J), max(l.I, l.J)}, way)
	}
	return labels.agreement()
}

// ReadPairs reads labelled pairs of objects, "i,j,label": 1 or true says that i and j are similar, -1, or in its place 0 or false, that they are dissimilar. See
// the package documentation for the forms; name is that of the file, for messages. A pair of an object with itself, an object that is not among o, another label,
// 0 beside -1, and a file without pairs are errors. The same pair may stand more than once. It panics if o has no object.
func ReadPairs(r io.Reader, name string, o Objects, form Form) (*Pairs, error) {
	find, err := o.Finder()
	if err != nil {
		panic("feedback: ReadPairs: " + err.Error())
	}
	t := newTable(name, form, &pairKind)
	raw, err := t.load(r)
	if err != nil {
		return nil, err
	}
	out := &Pairs{Name: name}
	var labels signs
	var beyond beyond
	err = t.each(raw, func(row row) error {
		l := metric.Link{}
		if t.heads(row, find) {
			return t.skip(row)
		}
		for c, into := range []*int{&l.I, &l.J} {
			var err error
			if *into, err = beyond.find(t, o, find, row, c); err != nil {
				return err
			}
		}
		sign, err := labels.read(row.cells[2], "similar", "dissimilar")
		if err != nil {
			return t.bad(row.line, "label", err)
		}
		l.Label = metric.Label(sign)
		if l.I == l.J {
			return t.bad(row.line, "i and j", fmt.Errorf("both are %s, want two objects", clip(row.cells[0])))
		}
		out.Links = append(out.Links, l)
		return t.room(len(out.Links), linkBytes)
	})
	if err == nil {
		err = beyond.err("pair")
	}
	if err == nil && len(out.Links) == 0 {
		err = fmt.Errorf("feedback: %s: no pair, want at least one", name)
	}
	if err != nil {
		return nil, err
	}
	out.Notes = said(append([]string{t.reading, labels.note("label", "dissimilar")}, out.notesOf()...))
	return out, nil
}

// beyond remembers the first number that is one too large: in a file that never names 0, numbers seem to count from 1.
type beyond struct {
	first error
	zero  bool
}

// find is the object of a cell. One too large is n, and an error by err once all rows are read.
func (b *beyond) find(t *table, o Objects, find func(string) (int, error), r row, c int) (int, error) {
	i, err := find(r.cells[c])
	b.zero = b.zero || err == nil && i == 0
	if err == nil {
		return i, nil
	}
	err = t.bad(r.line, t.kind.roles[c], err)
	if v, ok := closest.Whole(r.cells[c]); o.Names != nil || !ok || v != o.Count {
		return 0, err
	}
	b.first = cmp.Or(b.first, err)
	return o.Count, nil
}

func (b *beyond) err(row string) error {
	if b.first != nil && !b.zero {
		return fmt.Errorf("%w; no %s names 0: these seem to count from 1", b.first, row)
	}
	return b.first
}

// said are the notes that say something.
func said(notes []string) []string {
	return slices.DeleteFunc(notes, func(n string) bool { return n == "" })
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
			v, ok := closest.Whole(cell)
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
	var numbers map[int][]int // the names that are one whole number, made when it is first needed
	return func(cell string) (int, error) {
		if i, ok := at[cell]; ok {
			return i, nil
		}
		if v, ok := closest.Whole(cell); ok {
			if numbers == nil {
				numbers = map[int][]int{}
				for i, name := range o.Names {
					if v, ok := closest.Whole(name); ok {
						numbers[v] = append(numbers[v], i)
					}
				}
			}
			if of := numbers[v]; len(of) == 1 {
				return of[0], nil
			}
		}
		hint, folded := "", closest.Fold(cell)
		for _, name := range o.Names {
			if closest.Fold(name) == folded {
				hint = "; " + clip(name) + " is one"
				break
			}
		}
		return 0, fmt.Errorf("%s is the name of no object%s", clip(cell), hint)
	}, nil
}

// table reads the rows of a file.
type table struct {
	name  string
	kinds []*kind // that it may be of
	kind  *kind   // that it is of, up to now
	form  Form

	numpy   bool   // rows have numbers from 0 in place of lines
	reading string // how the columns were read, if they are not the plain ones
}

// newTable returns a table of one of kinds, of which the first is the usual one.
func newTable(name string, form Form, kinds ...*kind) *table {
	return &table{name: name, kinds: kinds, kind: kinds[0], form: form}
}

// row is one of them, in the order of kind.roles; a cell that is missing is "".
type row struct {
	line  int
	cells [4]string
	// first marks the first row of CSV without names that are known: it may be a header.
	first bool
}

// heads tells whether a first row is a header rather than data: none of its cells is an object or a whole number.
func (t *table) heads(r row, find func(string) (int, error)) bool {
	return r.first && !slices.ContainsFunc(r.cells[:t.kind.needed], func(cell string) bool {
		_, err := find(cell)
		return err == nil || isWhole(cell)
	})
}

// skip leaves out a header whose names are not known, which is an error unless the columns are given by hand.
func (t *table) skip(r row) error {
	if t.form.Columns != nil {
		return nil
	}
	return t.unknownHeader(r.line, said(slices.Clone(r.cells[:])), "")
}

func isWhole(cell string) bool { _, ok := closest.Whole(cell); return ok }

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

// room returns an error unless n things of each bytes fit limits.Memory.
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
	at, _, err := t.positions(make([]string, d))
	if err != nil {
		return fmt.Errorf("feedback: %s: an array of %d×%d: %w", t.name, n, d, err)
	}
	for i := range n {
		r := row{line: i}
		values := x.RawRowView(i)
		for role, j := range at {
			if j >= 0 {
				r.cells[role] = strconv.FormatFloat(values[j], 'f', -1, 64)
			}
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// names lists the columns.
func (t *table) names() string {
	return strings.Join(t.kind.roles[:t.kind.needed], ", ")
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
	at, _, err := t.positions(make([]string, len(values)))
	if err != nil {
		return fmt.Errorf("an array of %d: %w", len(values), err)
	}
	for role, i := range at {
		if i < 0 {
			continue
		}
		if r.cells[role], err = cellOf(values[i]); err != nil {
			return fmt.Errorf("%s: %w", t.kind.roles[role], err)
		}
	}
	return nil
}

func (t *table) object(text []byte, r *row) error {
	var values map[string]jsontext.Value
	if err := json.Unmarshal(text, &values); err != nil {
		return syntax(err)
	}
	names := slices.Sorted(maps.Keys(values))
	at, err := t.resolve(names)
	if t.form.Columns != nil {
		at, _, err = t.given(names)
	}
	if err != nil {
		return fmt.Errorf("%w: the fields are %s; known are %s", err, list(names), t.known())
	}
	t.reading = cmp.Or(t.reading, t.kind.told(names, at))
	for role, i := range at {
		if i < 0 {
			continue
		}
		if r.cells[role], err = cellOf(values[names[i]]); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
	}
	return nil
}

// positions returns the column of each role in rows without names, of which there are as many as width, and whether Form names one all the same.
func (t *table) positions(width []string) (at []int, named bool, err error) {
	if t.form.Columns != nil {
		return t.given(width)
	}
	if len(width) < t.kind.needed || len(width) > len(t.kind.roles) {
		return nil, false, fmt.Errorf("%d cells, want %d: %s; or --columns %s", len(width), t.kind.needed, t.names(), t.kind.example())
	}
	at = make([]int, len(t.kind.roles))
	for role := range at {
		if at[role] = role; role >= len(width) {
			at[role] = -1
		}
	}
	if len(width) > t.kind.needed {
		t.reading = fmt.Sprintf("%s = column %d", t.kind.roles[len(width)-1], len(width))
	}
	return at, false, nil
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
	case jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse:
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
	var at []int // the column of each role
	width := 0
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
		for i, c := range record {
			record[i] = strings.TrimSpace(c)
		}
		if at == nil {
			var header bool
			if at, header, err = t.head(record, r.line); err != nil {
				return err
			}
			if width = len(record); header {
				continue
			}
			r.first = !t.form.NoHeader
		}
		if len(record) != width {
			return fmt.Errorf("feedback: %s: %d cells, want %d, as in the first row", t.place(r.line), len(record), width)
		}
		for role, i := range at {
			if i < 0 {
				continue
			}
			if err := checkName(record[i]); err != nil {
				return t.bad(r.line, t.kind.roles[role], err)
			}
			r.cells[role] = strings.Clone(record[i])
		}
		if err := do(r); err != nil {
			return err
		}
	}
}

// head returns the column of each role by the first row, and whether that is a header. A row without a name that is known may be either.
func (t *table) head(record []string, line int) (at []int, header bool, err error) {
	if t.form.Columns == nil && !t.form.NoHeader {
		if at, err = t.resolve(record); err == nil {
			t.reading = t.kind.told(record, at)
			return at, true, nil
		}
		words := !slices.ContainsFunc(record, isWhole)
		if words && len(record) >= t.kind.needed && (len(record) > len(t.kind.roles) || !errors.Is(err, errUnknown)) {
			return nil, false, t.unknownHeader(line, record, ": "+err.Error())
		}
	}
	at, header, err = t.positions(record)
	if err != nil {
		return nil, false, fmt.Errorf("feedback: %s: %w", t.place(line), err)
	}
	if header {
		t.reading = t.kind.told(record, at)
	}
	return at, header, nil
}

// separator is the one of the first line that is not blank.
func separator(raw []byte) rune {
	for text := range bytes.Lines(raw) {
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		for _, c := range ",;\t| " {
			if bytes.ContainsRune(text, c) {
				return c
			}
		}
		break
	}
	return ','
}

// clip quotes a text and shortens a long one.
func clip(text string) string { return strconv.Quote(printable.Short(text)) }
