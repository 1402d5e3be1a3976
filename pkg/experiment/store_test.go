package experiment

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"metriclab/pkg/table"
)

func toyRecord(t *testing.T, s Spec, job Job) *Record {
	t.Helper()
	rows, _, err := trial(t.Context(), s, &Env{Scale: job.Key.Scale, Lap: func(string) func() { return func() {} }}, job)
	if err != nil {
		t.Fatal(err)
	}
	return &Record{Key: job.Key, Rows: rows, Run: RunInfo{Host: "h", WallS: 1.5, Phases: []Phase{{"p", 1, 2}}}}
}

// valid counts the stored jobs that can be used.
func valid(t *testing.T, st *Store, s Spec) int {
	t.Helper()
	cells, err := st.cells(s)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range cells {
		if c.err == nil {
			n++
		}
	}
	return n
}

func TestStoreRoundTrip(t *testing.T) {
	s := toySpec(nil)
	st := OpenStore(t.TempDir())
	job := s.Jobs(Smoke, 1, 1, nil)[2]
	if _, ok := st.Get(job, s.Index, s.Values); ok {
		t.Fatal("an empty store has a record")
	}
	want := toyRecord(t, s, job)
	if err := st.Put(want); err != nil {
		t.Fatal(err)
	}
	got, ok := st.Get(job, s.Index, s.Values)
	if !ok {
		t.Fatal("the record is not there")
	}
	for i := range want.Rows.Len() {
		for _, name := range s.Values {
			g, w := got.Rows.Values(name)[i], want.Rows.Values(name)[i]
			if math.Float64bits(g) != math.Float64bits(w) && !(math.IsNaN(g) && math.IsNaN(w)) {
				t.Errorf("row %d, %s: %v, want %v", i, name, g, w)
			}
		}
		if g, w := got.Rows.Index("point")[i], want.Rows.Index("point")[i]; g != w {
			t.Errorf("row %d: %q, want %q", i, g, w)
		}
	}
	if got.Run.WallS != 1.5 || got.Run.Phases[0] != (Phase{"p", 1, 2}) {
		t.Errorf("run %+v", got.Run)
	}
	info, err := os.Stat(st.cellPath(s.ID, job.ID))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if cells, err := st.cells(s); err != nil || len(cells) != 1 || cells[0].id != job.ID || cells[0].err != nil {
		t.Errorf("cells %+v, %v", cells, err)
	}
}

func TestStoreTreatsDamageAsMissing(t *testing.T) {
	s := toySpec(nil)
	job := s.Jobs(Smoke, 1, 1, nil)[0]
	good, err := encodeCell(toyRecord(t, s, job))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"empty":            "",
		"cut":              string(good[:len(good)/2]),
		"not JSON":         "hello",
		"other key":        strings.Replace(string(good), `"trial": 0`, `"trial": 1`, 1),
		"other columns":    strings.Replace(string(good), `"odd"`, `"even"`, 1),
		"column twice":     strings.Replace(string(good), `"odd"`, `"x"`, 1),
		"short row":        strings.Replace(string(good), `"0",`, ``, 1),
		"not a number":     strings.Replace(string(good), `"+Inf"`, `"much"`, 1),
		"rows of nothing":  string(good[:strings.Index(string(good), `"rows"`)]) + `"rows": []}, "run": {}}`,
		"value not a text": strings.Replace(string(good), `"+Inf"`, `7`, 1),
	} {
		if data == string(good) {
			t.Fatalf("%s: the damage did not take", name)
		}
		st := OpenStore(t.TempDir())
		if err := WriteFile(st.cellPath(s.ID, job.ID), []byte(data)); err != nil {
			t.Fatal(err)
		}
		if _, ok := st.Get(job, s.Index, s.Values); ok {
			t.Errorf("%s: taken for a record", name)
		}
		if name != "other columns" && valid(t, st, s) != 0 {
			t.Errorf("%s: counted as valid", name)
		}
	}
}

func TestStoreFailures(t *testing.T) {
	st := OpenStore(t.TempDir())
	f := Failure{ID: "0123", Error: "boom", Stack: "line", Time: time.Unix(1, 0).UTC()}
	for attempt := 1; attempt <= 2; attempt++ {
		if err := st.PutFailure(f); err != nil {
			t.Fatal(err)
		}
		got, ok := st.Failure("0123")
		if !ok || got.Attempt != attempt || got.Error != "boom" || got.Stack != "line" || !got.Time.Equal(f.Time) {
			t.Errorf("attempt %d: %+v, %v", attempt, got, ok)
		}
	}
	st.ClearFailure("0123")
	if _, ok := st.Failure("0123"); ok {
		t.Error("the failure is still there")
	}
}

func TestWriteFileReplacesOrLeaves(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "f")
	for _, text := range []string{"one", "two"} {
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := mustRead(t, path); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	// What its owner has closed to others stays closed.
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("three")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (error %v), want 0600", info.Mode().Perm(), err)
	}
	// A folder cannot be replaced by a file: the write fails and leaves nothing.
	if err := WriteFile(filepath.Join(dir, "a"), nil); err == nil {
		t.Error("no error for a folder in the way")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left over: %v, %v", entries, err)
	}
}

func TestWriteChanged(t *testing.T) {
	st := OpenStore(t.TempDir())
	path := filepath.Join(st.dir, "f")
	writes := 0
	st.write = func(path string, data []byte) error {
		writes++
		return WriteFile(path, data)
	}
	for _, text := range []string{"a", "a", "b"} {
		if err := st.writeChanged(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if writes != 2 {
		t.Errorf("%d writes, want 2", writes)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	var made []string
	for _, name := range []string{".table.csv123", "x/.f.json99", ".probe7", ".keep", "table.csv1"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := WriteFile(path, []byte("x")); err != nil {
			t.Fatal(err)
		}
		made = append(made, path)
	}
	now := time.Now()
	sweep(dir, now)
	for _, path := range made {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("a young file was swept: %v", err)
		}
	}
	sweep(dir, now.Add(strayAge+time.Minute))
	for i, path := range made {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) != (i < 3) {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

func FuzzDecodeCell(f *testing.F) {
	rows := table.New([]string{"i"}, []string{"v"})
	rows.Add(table.Key{"i": "a"}, table.Values{"v": math.Inf(1)})
	good, err := encodeCell(&Record{Key: Key{Cell: "c"}, Rows: rows})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"values":{"index":["a","a"],"values":[],"rows":[["x","y"]]}}`))
	f.Add([]byte(`{"values":{"index":[],"values":[],"rows":[[]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := decodeCell(data) // must not panic
		if err != nil {
			return
		}
		again, err := encodeCell(rec)
		if err != nil {
			return // years beyond 9999 decode but do not encode
		}
		rec2, err := decodeCell(again)
		if err != nil {
			t.Fatalf("does not read its own output: %v\n%s", err, again)
		}
		if rec.Key.ID() != rec2.Key.ID() || rec.Rows.Len() != rec2.Rows.Len() {
			t.Errorf("round trip changed the record")
		}
	})
}
