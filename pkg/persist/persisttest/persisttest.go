// Package persisttest checks how what was saved in the format of package persist
// is read again: whole, damaged, foreign, newer, or altered with a checksum that
// is right. It is for tests of everything that has Save and a loader, here and in
// other modules.
//
//	persisttest.Check(t, file, Load)
//	persisttest.Tampered(t, file, Load, map[string]persisttest.Edit{...})
//	func FuzzLoad(f *testing.F) { persisttest.Fuzz(f, Load, nil, file) }
package persisttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"metriclab/pkg/persist"
)

// TB is the part of testing.TB that the checks need. Each violation is one call
// of Errorf, so that a recorder can stand in for a test.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Saver is what was loaded.
type Saver interface{ Save(w io.Writer) error }

// Saved returns what v saves. It panics on an error of Save.
func Saved(v Saver) []byte {
	var b bytes.Buffer
	if err := v.Save(&b); err != nil {
		panic(fmt.Sprintf("persisttest: save: %v", err))
	}
	return b.Bytes()
}

// Check reports through t every way in which load breaks the promises of saved
// files, given one that Save wrote:
//
//   - It loads, and saves to the same bytes.
//   - Cut anywhere (but for the final newline), it is an error that wraps
//     persist.ErrForeign or persist.ErrDamaged.
//   - With any one byte changed it is an error that wraps one of those of package
//     persist, or the same object, where JSON does not see the change.
//   - A file of a newer version wraps persist.ErrNewer, one of another kind
//     persist.ErrKind, and what is no such file persist.ErrForeign.
//   - An unknown field in params or state is an error.
//   - A failing reader's error comes through.
//
// The cost is quadratic in the length of the file: keep it to a few kilobytes.
func Check[T Saver](t TB, file []byte, load func(io.Reader) (T, error)) {
	t.Helper()
	same := func(raw []byte) (bool, error) {
		v, err := load(bytes.NewReader(raw))
		if err != nil {
			return false, err
		}
		var b bytes.Buffer
		if err := v.Save(&b); err != nil {
			return false, nil
		}
		return bytes.Equal(b.Bytes(), file), nil
	}
	if ok, err := same(file); err != nil || !ok {
		t.Errorf("the file itself: error %v, saved again as the same bytes: %v", err, ok)
		return
	}
	for n := range len(file) - 1 {
		if _, err := load(bytes.NewReader(file[:n])); !errors.Is(err, persist.ErrForeign) && !errors.Is(err, persist.ErrDamaged) {
			t.Errorf("first %d of %d bytes: got %v, want a foreign or damaged file", n, len(file), err)
			return
		}
	}
	for i := range file {
		for _, flip := range []byte{1, 32, 128} {
			changed := bytes.Clone(file)
			changed[i] ^= flip
			ok, err := same(changed)
			if err == nil && !ok {
				t.Errorf("byte %d changed from %q to %q: loaded as something else", i, file[i], changed[i])
				return
			}
			if err != nil && !known(err) {
				t.Errorf("byte %d changed from %q to %q: error %v wraps none of package persist", i, file[i], changed[i], err)
				return
			}
		}
	}
	newer := bytes.Replace(file, fmt.Appendf(nil, `"version":%d`, persist.Version), fmt.Appendf(nil, `"version":%d`, persist.Version+1), 1)
	for _, c := range []struct {
		name string
		raw  []byte
		want error
	}{
		{"newer", newer, persist.ErrNewer},
		{"empty", nil, persist.ErrForeign},
		{"a table", []byte("a,b\n1,2\n"), persist.ErrForeign},
		{"other JSON", []byte(`{"weights":[1,2]}`), persist.ErrForeign},
		{"another kind", edited(file, "persisttest/another", nil), persist.ErrKind},
	} {
		if _, err := load(bytes.NewReader(c.raw)); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	for part, e := range map[string]Edit{
		"params": func(params, _ map[string]any) { params["unknown field"] = 1 },
		"state":  func(_, state map[string]any) { state["unknown field"] = 1 },
	} {
		if _, err := load(bytes.NewReader(edited(file, "", e))); err == nil {
			t.Errorf("unknown field in %s: no error", part)
		}
	}
	if _, err := load(failing{}); !errors.Is(err, errRead) {
		t.Errorf("failing reader: got %v, want its error", err)
	}
}

func known(err error) bool {
	for _, k := range []error{persist.ErrForeign, persist.ErrNewer, persist.ErrDamaged, persist.ErrKind} {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}

var errRead = errors.New("persisttest: reader fails")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errRead }

// Edit changes decoded params and state; arrays of float64 are put there as
// persist.Floats.
type Edit func(params, state map[string]any)

// Tampered reports each edit after which load does not return an error that wraps
// persist.ErrDamaged, although the checksum is right. It panics if file is not
// one that package persist wrote.
func Tampered[T Saver](t TB, file []byte, load func(io.Reader) (T, error), edits map[string]Edit) {
	t.Helper()
	for name, e := range edits {
		if _, err := load(bytes.NewReader(edited(file, "", e))); !errors.Is(err, persist.ErrDamaged) {
			t.Errorf("%s: got %v, want %v", name, err, persist.ErrDamaged)
		}
	}
}

// edited returns file with another kind (unless empty) and edited content, and
// its checksum.
func edited(file []byte, kind string, e Edit) []byte {
	env, err := persist.Read(bytes.NewReader(file))
	if err != nil {
		panic(fmt.Sprintf("persisttest: %v", err))
	}
	var params, state map[string]any
	if err := errors.Join(json.Unmarshal(env.Params, &params), json.Unmarshal(env.State, &state)); err != nil {
		panic(fmt.Sprintf("persisttest: params or state is no JSON object: %v", err))
	}
	if kind == "" {
		kind = env.Kind
	}
	if e != nil {
		e(params, state)
	}
	var b bytes.Buffer
	if err := persist.Write(&b, kind, params, state); err != nil {
		panic(fmt.Sprintf("persisttest: %v", err))
	}
	return b.Bytes()
}

// Fuzz puts arbitrary params and state into files with a right checksum, from
// those of the given files on. Such a file is refused without a panic, or loaded as
// Faithful demands; then use, if it is not nil, is called with it.
func Fuzz[T Saver](f *testing.F, load func(io.Reader) (T, error), use func(T), files ...[]byte) {
	var kind string
	for _, file := range files {
		env, err := persist.Read(bytes.NewReader(file))
		if err != nil {
			f.Fatal(err)
		}
		kind = env.Kind
		f.Add([]byte(env.Params), []byte(env.State))
	}
	f.Fuzz(func(t *testing.T, params, state []byte) {
		var b bytes.Buffer
		if persist.Write(&b, kind, raw(params), raw(state)) != nil {
			return // not JSON
		}
		file := b.Bytes()
		v, err := load(bytes.NewReader(file))
		if err != nil {
			return
		}
		if err := faithful(file, v, load); err != nil {
			t.Error(err)
		}
		if use != nil {
			use(v)
		}
	})
}

// raw marshals as itself.
type raw []byte

func (r raw) MarshalJSON() ([]byte, error) { return r, nil }
