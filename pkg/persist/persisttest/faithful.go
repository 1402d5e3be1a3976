package persisttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Faithful returns what is wrong with how load reads a file, and whether it loaded:
//
//   - load panics;
//   - what was loaded cannot be saved, or not loaded and saved again as the same bytes;
//   - what was loaded is saved with other values than the file has. A field that is not
//     saved must be false, 0, or empty in the file, and one that is saved must be in the file.
//
// A file that load refuses is right.
func Faithful[T Saver](file []byte, load func(io.Reader) (T, error)) (loaded bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	v, err := load(bytes.NewReader(file))
	if err != nil {
		return false, nil
	}
	return true, faithful(file, v, load)
}

func faithful[T Saver](file []byte, v T, load func(io.Reader) (T, error)) error {
	first := Saved(v)
	again, err := load(bytes.NewReader(first))
	if err != nil {
		return fmt.Errorf("cannot load what was loaded and saved: %w", err)
	}
	if !bytes.Equal(Saved(again), first) {
		return errors.New("saved, loaded and saved again as other bytes")
	}
	if !jsontext.Value(file).IsValid() {
		return errors.New("loaded what is no JSON, or has a field twice")
	}
	var was, is any
	for raw, into := range map[*[]byte]*any{&file: &was, &first: &is} {
		d := json.NewDecoder(bytes.NewReader(*raw))
		d.UseNumber()
		if err := d.Decode(into); err != nil {
			return fmt.Errorf("loaded what is no JSON: %w", err)
		}
	}
	return changed("the file", was, is)
}

// changed returns an error that names a value that differs.
func changed(path string, was, is any) error {
	switch a := was.(type) {
	case map[string]any:
		b, ok := is.(map[string]any)
		if !ok {
			break
		}
		for _, key := range sortedKeys(a) {
			at := path + "." + key
			if v, ok := b[key]; !ok && !empty(a[key]) {
				return fmt.Errorf("%s: %v is loaded, and not saved again", at, cut(a[key]))
			} else if ok && key != "sha256" { // which is that of the bytes
				if err := changed(at, a[key], v); err != nil {
					return err
				}
			}
		}
		for _, key := range sortedKeys(b) {
			if _, ok := a[key]; !ok {
				return fmt.Errorf("%s.%s: is not in the file, and loaded as %v", path, key, brief(b[key]))
			}
		}
		return nil
	case []any:
		b, ok := is.([]any)
		if !ok && is == nil && len(a) == 0 {
			return nil
		}
		if !ok || len(a) != len(b) {
			break
		}
		for i := range a {
			if err := changed(fmt.Sprintf("%s[%d]", path, i), a[i], b[i]); err != nil {
				return err
			}
		}
		return nil
	case json.Number:
		b, ok := is.(json.Number)
		if !ok {
			break
		}
		x, errX := strconv.ParseFloat(string(a), 64)
		y, errY := strconv.ParseFloat(string(b), 64)
		if errX == nil && errY == nil && x == y && (x != 0 || !bytes.ContainsAny(mantissa(a), "123456789")) {
			return nil
		}
	case nil:
		if list, ok := is.([]any); ok && len(list) == 0 || is == nil {
			return nil
		}
	default:
		if was == is {
			return nil
		}
	}
	return fmt.Errorf("%s: %v is loaded as %v", path, cut(was), cut(is))
}

// cut returns the beginning of a value.
func cut(v any) string { return fmt.Sprintf("%.60s", fmt.Sprint(v)) }

// mantissa returns the digits of a number before its exponent.
func mantissa(n json.Number) []byte {
	head, _, _ := bytes.Cut(bytes.ToLower([]byte(n)), []byte("e"))
	return head
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case json.Number:
		x, err := strconv.ParseFloat(string(v), 64)
		return err == nil && x == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
