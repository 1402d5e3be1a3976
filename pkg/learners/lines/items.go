package lines

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"metriclab/pkg/metric"
)

var itemFields = []string{"a", "b", "label"}

// itemLine reads a line of two items and, mostly, a label.
type itemLine struct {
	find  func(item string) (int, error)
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
	text, err := d.item(itemFields[i])
	if err != nil {
		return err
	}
	if p.row[i], err = p.find(text); err != nil {
		return fmt.Errorf("%s: %w", itemFields[i], err)
	}
	return nil
}

// complete returns an error if an item is missing.
func (p *itemLine) complete() error {
	for i, name := range itemFields[:2] {
		if !p.has[i] {
			return fmt.Errorf("%s: missing, want %s", name, wantItem)
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

// wantItem says how a vector of a file is named.
const wantItem = "the number of a row, or its id"

// item reads a string, or a number as its text.
func (d *decoder) item(field string) (string, error) {
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
		return "", fmt.Errorf("%s: %s is not allowed, want %s", field, spell(k), wantItem)
	}
}
