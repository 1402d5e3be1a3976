package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/numeral"
)

// decoder reads one line of JSON at a time without allocating. Its syntax is
// that of package jsontext: RFC 8259, valid UTF-8, no duplicate names. A value
// that is no JSON has kind KindInvalid, and reading it gives the error.
type decoder struct {
	jsontext.Decoder
	line bytes.Buffer
}

// object reads a line that is one object with the fields of p.
func (d *decoder) object(line []byte, p fielder) error {
	d.line = *bytes.NewBuffer(line)
	d.Reset(&d.line)
	p.reset()
	start, err := d.ReadToken()
	if err != nil {
		return syntax(err)
	}
	if k := start.Kind(); k != jsontext.KindBeginObject {
		return fmt.Errorf("%s is not allowed, want an object with %s", spell(k), list(p.fields()))
	}
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return syntax(err)
		}
		i := 0
		for i < len(p.fields()) && name.String() != p.fields()[i] {
			i++
		}
		if i == len(p.fields()) {
			return fmt.Errorf("unknown field %s, want %s", clip(strconv.Quote(name.String())), list(p.fields()))
		}
		if err := p.field(i, d); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return syntax(err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		if err == nil {
			err = errors.New("more follows the object")
			if bytes.IndexByte(bytes.TrimRight(line, "\r"), '\r') >= 0 {
				err = errors.New(`more follows the object; a line ends with \n or \r\n, not with \r alone`)
			}
		}
		return syntax(err)
	}
	return nil
}

// numbers appends the numbers of a list, a field or a row of one (else -1), to
// dst.
func (d *decoder) numbers(dst []float64, field string, row int) ([]float64, error) {
	if k := d.PeekKind(); k != jsontext.KindBeginArray && k != jsontext.KindInvalid {
		return dst, fmt.Errorf("%s: %s is not allowed, want a list of numbers", place(field, row), spell(k))
	}
	before := len(dst)
	raw, err := d.ReadValue()
	if err != nil {
		return dst, syntax(err)
	}
	// raw is valid JSON. So what lies between two commas is a number, or does
	// not parse as one.
	rest := bytes.TrimSpace(raw[1 : len(raw)-1])
	for more := len(rest) > 0; more; {
		for len(rest) > 0 && rest[0] == ' ' {
			rest = rest[1:]
		}
		if v, n := numeral.Short(rest); n > 0 && (n == len(rest) || rest[n] == ',') {
			dst = append(dst, v)
			more = n < len(rest)
			rest = rest[min(n+1, len(rest)):]
			continue
		}
		var text []byte
		text, rest, more = bytes.Cut(rest, []byte{','})
		text = bytes.TrimSpace(text)
		v, err := strconv.ParseFloat(string(text), 64)
		if err != nil || numeral.Vanishes(string(text), v) {
			what := clip(string(text))
			if k := jsontext.Value(text).Kind(); k != jsontext.KindNumber {
				what = spell(k)
			}
			want := "a finite number"
			if err == nil {
				want = numeral.Held
			}
			return dst, fmt.Errorf("%s[%d]: %s is not allowed, want %s", place(field, row), len(dst)-before, what, want)
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// matrix appends the rows of a list of lists of numbers to dst, and returns the
// number of columns of all rows.
func (d *decoder) matrix(dst []float64, field string) (data []float64, columns int, err error) {
	if k := d.PeekKind(); k != jsontext.KindBeginArray && k != jsontext.KindInvalid {
		return dst, 0, fmt.Errorf("%s: %s is not allowed, want a list of rows", field, spell(k))
	}
	if _, err := d.ReadToken(); err != nil {
		return dst, 0, syntax(err)
	}
	for i := 0; d.PeekKind() != jsontext.KindEndArray; i++ {
		before := len(dst)
		if dst, err = d.numbers(dst, field, i); err != nil {
			return dst, 0, err
		}
		n := len(dst) - before
		if i == 0 {
			columns = n
		}
		if n == 0 || n != columns {
			return dst, 0, fmt.Errorf("%s: has %d numbers, want %d", place(field, i), n, max(columns, 1))
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return dst, 0, syntax(err)
	}
	if columns == 0 {
		return dst, 0, fmt.Errorf("%s: has no rows, want at least 1", field)
	}
	return dst, columns, nil
}

// whole reads a whole number from lo to hi.
func (d *decoder) whole(field string, lo, hi int, want string) (int, error) {
	if k := d.PeekKind(); k != jsontext.KindNumber && k != jsontext.KindInvalid {
		return 0, fmt.Errorf("%s: %s is not allowed, want %s", field, spell(k), want)
	}
	raw, err := d.ReadValue()
	if err != nil {
		return 0, syntax(err)
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || v != math.Trunc(v) || v < float64(lo) || v > float64(hi) {
		return 0, fmt.Errorf("%s: %s is not allowed, want %s", field, clip(string(raw)), want)
	}
	return int(v), nil
}

// place names a field, or a row of it if row ≥ 0.
func place(field string, row int) string {
	if row < 0 {
		return field
	}
	return fmt.Sprintf("%s[%d]", field, row)
}

// spell names a kind of JSON value for a user.
func spell(k jsontext.Kind) string {
	switch k {
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "a list"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	}
	return k.String() // null, true, false
}

// syntax turns an error of package jsontext into ours.
func syntax(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("not valid JSON: %s", clip(strings.TrimPrefix(err.Error(), "jsontext: ")))
}

// clip shortens a text that a line made long.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// list spells field names.
func list(fields []string) string { return `"` + strings.Join(fields, `", "`) + `"` }

// appendNumber appends a field with a number, which must be finite.
func appendNumber(dst []byte, name string, v float64) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return appendFloat(dst, v)
}

// appendBool appends a field with true or false.
func appendBool(dst []byte, name string, v bool) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return strconv.AppendBool(dst, v)
}

// appendFloat appends the shortest decimal that reads back as v.
func appendFloat(dst []byte, v float64) []byte {
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, v, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

// appendMatrix appends a list of rows.
func appendMatrix(dst []byte, m mat.Matrix) ([]byte, error) {
	r, c := m.Dims()
	dst = append(dst, '[')
	for i := range r {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		for j := range c {
			if j > 0 {
				dst = append(dst, ',')
			}
			v := m.At(i, j)
			if !finite(v) {
				return dst, fmt.Errorf("%w: state[%d][%d] is %v", ErrBroken, i, j, v)
			}
			dst = appendFloat(dst, v)
		}
		dst = append(dst, ']')
	}
	return append(dst, ']'), nil
}

func finite(vs ...float64) bool {
	for _, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
