package lines

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

	"github.com/go-json-experiment/json/jsontext"

	"metriclab/internal/plural"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/vectors"
)

var itemFields = []string{"a", "b", "label"}

// linkBytes is about what a link takes: itself and its growth.
const linkBytes = 64

// ReadLinks reads labelled pairs of items, two per line and whether they are similar (1) or dissimilar (-1), as CSV or as JSON
// lines, which begin with a brace:
//
//	a,b,label                        the header may be left out
//	0,17,1
//	0,4,-1
//
//	{"a":0,"b":17,"label":1}         an id may be a string or a number
//
// Items are named as vectors.Items says. In a header a, b and label may come in any order. Blank lines do not count, pairs may
// recur. name is that of the file, for errors, which name the line: an item that is not there or is paired with itself, another
// label, a field too few or too many. So are a file without pairs and one that takes more than limits.Memory errors. It panics if
// items is nil.
func ReadLinks(r io.Reader, name string, items *vectors.Items) ([]metric.Link, error) {
	if items == nil {
		panic("lines: ReadLinks: items is nil")
	}
	raw, err := limits.ReadAll(r, name)
	if err != nil {
		return nil, fmt.Errorf("lines: %s: %w", name, err)
	}
	raw = bytes.TrimPrefix(raw, byteOrderMark)
	l := &linkReader{name: name, items: items}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte{'{'}) {
		err = l.json(raw)
	} else {
		err = l.csv(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("lines: %s:%w", name, err)
	}
	if len(l.links) == 0 {
		return nil, fmt.Errorf("lines: %s: no line has a pair, want at least one", name)
	}
	return l.links, nil
}

// linkReader gathers links; its errors begin with the line.
type linkReader struct {
	name  string
	items *vectors.Items
	links []metric.Link
}

func (l *linkReader) add(line int, link metric.Link) error {
	if link.I == link.J {
		return fmt.Errorf("%d: a and b are the same item, want two", line)
	}
	l.links = append(l.links, link)
	if err := limits.Check(plural.Of(len(l.links), "pair"), limits.Product(linkBytes, len(l.links))); err != nil {
		return fmt.Errorf("%d: %w", line, err)
	}
	return nil
}

func (l *linkReader) json(raw []byte) error {
	p := &itemLine{items: l.items}
	var d decoder
	line := 0
	for text := range bytes.Lines(raw) {
		line++
		if text = bytes.TrimSuffix(text, []byte{'\n'}); len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		err := d.object(text, p)
		if err == nil {
			err = p.complete()
		}
		if err == nil && !p.has[2] {
			err = errors.New("label: missing, want 1 (similar) or -1 (dissimilar)")
		}
		if err != nil {
			return fmt.Errorf("%d: %w", line, err)
		}
		if err := l.add(line, metric.Link{I: p.row[0], J: p.row[1], Label: p.label}); err != nil {
			return err
		}
	}
	return nil
}

func (l *linkReader) csv(raw []byte) error {
	r := csv.NewReader(bytes.NewReader(raw))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	place := [3]int{0, 1, 2} // of itemFields
	for first := true; ; first = false {
		cells, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if e, ok := errors.AsType[*csv.ParseError](err); ok {
			return fmt.Errorf("%d: %w", e.Line, e.Err)
		}
		if err != nil {
			return fmt.Errorf(" %w", err)
		}
		line, _ := r.FieldPos(0)
		if len(cells) != len(itemFields) {
			return fmt.Errorf("%d: %s, want 3: a, b and label, with commas between", line, plural.Of(len(cells), "cell"))
		}
		if first && l.header(cells, &place) {
			continue
		}
		var rows [2]int
		for i := range rows {
			if rows[i], err = l.items.Row(cells[place[i]]); err != nil {
				return fmt.Errorf("%d: %s: %w", line, itemFields[i], err)
			}
		}
		label, err := labelOf(cells[place[2]])
		if err != nil {
			return fmt.Errorf("%d: %w", line, err)
		}
		if err := l.add(line, metric.Link{I: rows[0], J: rows[1], Label: label}); err != nil {
			return err
		}
	}
}

// header tells whether cells are the names of the fields, and notes their places.
func (l *linkReader) header(cells []string, place *[3]int) bool {
	var at [3]int
	for i, name := range itemFields {
		at[i] = slices.IndexFunc(cells, func(c string) bool { return strings.EqualFold(strings.TrimSpace(c), name) })
		if at[i] < 0 {
			return false
		}
	}
	*place = at
	return true
}

func labelOf(cell string) (metric.Label, error) {
	if v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64); err == nil && (v == 1 || v == -1) {
		return metric.Label(v), nil
	}
	return 0, fmt.Errorf("label: %s is not allowed, want 1 (similar) or -1 (dissimilar); a header, if there is one, is a,b,label", strconv.Quote(clip(cell)))
}

// itemLine reads a line of two items and, mostly, a label.
type itemLine struct {
	items *vectors.Items
	row   [2]int
	label metric.Label
	has   [3]bool // by index in itemFields
}

func (p *itemLine) fields() []string { return itemFields }

func (p *itemLine) reset() { p.has = [3]bool{} }

func (p *itemLine) field(i int, d *decoder) error {
	p.has[i] = true
	if i == 2 {
		var err error
		p.label, err = d.label()
		return err
	}
	text, err := d.item(itemFields[i], p.items.Want())
	if err != nil {
		return err
	}
	if !p.items.Named() { // 17.0 is a whole number
		if v, err := strconv.ParseFloat(text, 64); err == nil && v >= 0 && v < 1<<53 && v == math.Trunc(v) {
			text = strconv.Itoa(int(v))
		}
	}
	if p.row[i], err = p.items.Row(text); err != nil {
		return fmt.Errorf("%s: %w", itemFields[i], err)
	}
	return nil
}

// complete returns an error if an item is missing.
func (p *itemLine) complete() error {
	for i, name := range itemFields[:2] {
		if !p.has[i] {
			return fmt.Errorf("%s: missing, want %s", name, p.items.Want())
		}
	}
	return nil
}

// label reads the label of a pair.
func (d *decoder) label() (metric.Label, error) {
	label, err := d.whole("label", -1, 1, "1 (similar) or -1 (dissimilar)")
	if err != nil {
		return 0, err
	}
	return metric.ParseLabel(label)
}

// item reads a string, or a number as its text.
func (d *decoder) item(field, want string) (string, error) {
	switch k := d.PeekKind(); k {
	case jsontext.KindString:
		t, err := d.ReadToken()
		if err != nil {
			return "", syntax(err)
		}
		return t.String(), nil
	case jsontext.KindNumber, jsontext.KindInvalid:
		raw, err := d.ReadValue()
		if err != nil {
			return "", syntax(err)
		}
		return string(raw), nil
	default:
		return "", fmt.Errorf("%s: %s is not allowed, want %s", field, spell(k), want)
	}
}
