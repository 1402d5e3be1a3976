package persist

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// saver saves its text, or a part of it and then an error.
type saver struct {
	text string
	err  error
}

func (s saver) Save(w io.Writer) error {
	if _, err := io.WriteString(w, s.text); err != nil {
		return err
	}
	return s.err
}

func TestWriteFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	path := filepath.Join(dir, "a.json")
	broken := errors.New("broken")
	for _, c := range []struct {
		s    saver
		want string
	}{
		{saver{"half", broken}, ""},
		{saver{"first, which is long", nil}, "first, which is long"},
		{saver{"half", broken}, "first, which is long"},
		{saver{"second", nil}, "second"},
	} {
		if err := WriteFile(path, c.s); !errors.Is(err, c.s.err) || err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%+v: error %v, want %v with the path", c.s, err, c.s.err)
		}
		got, err := os.ReadFile(path)
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: the file holds %q (%v), want %q", c.s, got, err, c.want)
		}
	}
	// A folder with a file in it cannot be replaced.
	if err := WriteFile(dir, saver{"x", nil}); err == nil || !strings.Contains(err.Error(), dir+" is not written: ") {
		t.Errorf("in the place of a folder: error %v, want one with its path", err)
	}
	for _, folder := range []string{dir, filepath.Dir(dir)} {
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
			t.Errorf("%s holds %v (%v), want one entry", folder, entries, err)
		}
	}
	defer func() {
		if p := recover(); p != "persist: WriteFile of nil" {
			t.Errorf("nil: panic %v", p)
		}
	}()
	_ = WriteFile(path, nil)
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	load := func(r io.Reader) (string, error) {
		text, err := io.ReadAll(r)
		if err == nil && string(text) == "bad" {
			err = ErrDamaged
		}
		return string(text), err
	}
	if got, err := ReadFile(path, load); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) || got != "" {
		t.Errorf("no file: %q, %v", got, err)
	}
	for text, want := range map[string]error{"good": nil, "bad": ErrDamaged} {
		if err := WriteFile(path, saver{text, nil}); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(path, load)
		if !errors.Is(err, want) || want == nil && got != text || want != nil && (got != "" || !strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %q, %v, want %v", text, got, err, want)
		}
	}
}

// State and parameters need not be objects.
func TestBareValues(t *testing.T) {
	var file strings.Builder
	if err := Write(&file, "test/bare", "fast", Floats{1, -2}); err != nil {
		t.Fatal(err)
	}
	var params string
	var state Floats
	if err := Load(strings.NewReader(file.String()), "test/bare", &params, &state); err != nil || params != "fast" || !reflect.DeepEqual(state, Floats{1, -2}) {
		t.Errorf("read %q and %v (%v)", params, state, err)
	}
}
