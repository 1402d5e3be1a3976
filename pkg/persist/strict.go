package persist

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Unmarshal decodes one value of JSON into the value at the pointer into. At any depth it refuses
// what Write would not have written for its type. Of fields it refuses those that are unknown, there
// twice, missing, null or in other letters of case. It refuses a list of another length than its array,
// and base64 that is not the one text of its bytes. So it does text that is not UTF-8, a number that is
// too small for a float64, and anything behind the value.
//
// A type declares its fields once, by tags. A field may be missing if it has omitempty or omitzero, and
// null, which stands for an empty list, if it has the tag `persist:"null"`.
func Unmarshal(raw []byte, into any) error {
	if err := conform(raw, reflect.TypeOf(into)); err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// conform returns an error unless raw is one value of JSON with exactly the fields that t declares.
func conform(raw []byte, t reflect.Type) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw)) // of a Buffer no copy is made
	if err := walk(d, t, false); err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errors.New("more follows the value")
	}
	return nil
}

var (
	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonType = reflect.TypeFor[json.Unmarshaler]()
)

// walk reads the next value of d, which is to be of type t. It looks at what json.Unmarshal forgives.
func walk(d *jsontext.Decoder, t reflect.Type, null bool) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.PkgPath() == "" && t.Kind() <= reflect.Float64 && d.PeekKind() != 'n' { // no look at methods for each number of a list
		raw, err := d.ReadValue()
		if err == nil && t.Kind() == reflect.Float64 && vanishes(raw) {
			err = fmt.Errorf("%s is %.40s, which is too small for a float64", place(d), raw)
		}
		return err
	}
	kind, own := d.PeekKind(), reflect.PointerTo(t).Implements(jsonType) || reflect.PointerTo(t).Implements(textType)
	switch {
	case kind == 'n' && !null:
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		return fmt.Errorf("%s is null", place(d))
	case own || t.Kind() == reflect.Interface:
		return d.SkipValue()
	case kind == '"' && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		if _, err := decode64([]byte(token.String())); err != nil {
			return fmt.Errorf("%s: %w", place(d), err)
		}
		return nil
	case kind == '{' && t.Kind() == reflect.Struct:
		return walkStruct(d, FieldsOf(t))
	case kind == '{' && t.Kind() == reflect.Map:
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		for d.PeekKind() == '"' {
			if _, err := d.ReadToken(); err != nil {
				return err
			}
			if err := walk(d, t.Elem(), false); err != nil {
				return err
			}
		}
		_, err := d.ReadToken()
		return err
	case kind == '[' && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		n := 0
		for kind := d.PeekKind(); kind != ']' && kind != jsontext.KindInvalid; kind = d.PeekKind() {
			if err := walk(d, t.Elem(), false); err != nil {
				return err
			}
			n++
		}
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		if t.Kind() == reflect.Array && n != t.Len() {
			return fmt.Errorf("%s has %d values, want %d", place(d), n, t.Len())
		}
		return nil
	}
	return d.SkipValue() // json.Unmarshal decides
}

// vanishes reports whether raw is a number that is not 0 and becomes 0.
func vanishes(raw []byte) bool {
	digits, _, scaled := bytes.Cut(raw, []byte("e"))
	if !scaled {
		digits, _, scaled = bytes.Cut(raw, []byte("E"))
	}
	if !scaled && len(raw) < 300 || !bytes.ContainsAny(digits, "123456789") {
		return false
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && v == 0
}

func walkStruct(d *jsontext.Decoder, fields []Field) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	found := make([]bool, len(fields))
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		i := 0
		for name := token.String(); i < len(fields) && fields[i].Name != name; {
			i++
		}
		if i == len(fields) {
			return fmt.Errorf("unknown field %s", place(d))
		}
		found[i] = true
		if err := walk(d, fields[i].Type, fields[i].Null); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for i, f := range fields {
		if !found[i] && !f.Optional {
			return fmt.Errorf("the field %s is missing", strings.TrimPrefix(string(d.StackPointer())+"/"+f.Name, "/"))
		}
	}
	return nil
}

// place names what d has read last, such as "form/dim".
func place(d *jsontext.Decoder) string {
	if p := strings.TrimPrefix(string(d.StackPointer()), "/"); p != "" {
		return p
	}
	return "the value"
}

// Field is a field of an object of JSON, as a type declares it.
type Field struct {
	Name     string
	Type     reflect.Type
	Optional bool   // may be missing
	Null     bool   // null stands for an empty list
	Range    string // the tag range: what a parameter may be
}

// FieldsOf returns the fields that a struct declares, those of embedded structs in their place.
func FieldsOf(t reflect.Type) []Field {
	var out []Field
	for f := range t.Fields() {
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" {
			out = append(out, FieldsOf(f.Type)...)
			continue
		}
		if tag == "-" || !f.IsExported() {
			continue
		}
		if !tagged || name == "" {
			name = f.Name
		}
		out = append(out, Field{name, f.Type, strings.Contains(options, "omit"), f.Tag.Get("persist") == "null", f.Tag.Get("range")})
	}
	return out
}

// decode64 returns the bytes of which text is the one base64: without line ends, with padding and with no
// bit set behind the last byte.
func decode64(text []byte) ([]byte, error) {
	if i := bytes.IndexAny(text, "\r\n"); i >= 0 { // which package base64 skips
		return nil, base64.CorruptInputError(i)
	}
	return base64.StdEncoding.Strict().AppendDecode(nil, text)
}

// Declaration tells what a kind of file holds. Load, with one as its reader, reads nothing: it writes there
// with which types it was called, and returns an error. So every loader tells what it declares.
type Declaration struct {
	Kind          string
	Params, State reflect.Type
}

// Read is at the end.
func (*Declaration) Read([]byte) (int, error) { return 0, io.EOF }
