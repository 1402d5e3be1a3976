package harness

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

func toyRecord(t *testing.T, s experiment.Spec, job Job) *record {
	t.Helper()
	rows, _, err := trial(t.Context(), s, &experiment.Env{Scale: job.Key.Scale, Lap: func(string) func() { return func() {} }}, job)
	if err != nil {
		t.Fatal(err)
	}
	return &record{Key: job.Key, Rows: rows, Run: runInfo{Host: "h", WallS: 1.5, Phases: []phaseTime{{"p", 1, 2}}}}
}

// valid counts the stored jobs that can be used.
func valid(t *testing.T, st *jobStore, s experiment.Spec) int {
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
	st := openStore(t.TempDir())
	job := Jobs(s, experiment.Smoke, 1, 1, nil)[2]
	if _, err := st.get(job, s.Columns); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("an empty store: error %v, want that there is none", err)
	}
	want := toyRecord(t, s, job)
	if err := st.put(want); err != nil {
		t.Fatal(err)
	}
	got, err := st.get(job, s.Columns)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Rows.Len() {
		for _, name := range s.Columns.Numbers() {
			g, w := got.Rows.Values(name)[i], want.Rows.Values(name)[i]
			if math.Float64bits(g) != math.Float64bits(w) && !(math.IsNaN(g) && math.IsNaN(w)) {
				t.Errorf("row %d, %s: %v, want %v", i, name, g, w)
			}
		}
		if g, w := got.Rows.Index("point")[i], want.Rows.Index("point")[i]; g != w {
			t.Errorf("row %d: %q, want %q", i, g, w)
		}
	}
	if got.Run.WallS != 1.5 || got.Run.Phases[0] != (phaseTime{"p", 1, 2}) {
		t.Errorf("run %+v", got.Run)
	}
	info, err := os.Stat(st.cellPath(s.ID, job.ID))
	if err != nil || info.Mode().Perm() != 0o644 && runtime.GOOS != "windows" { // which has no such modes
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if cells, err := st.cells(s); err != nil || len(cells) != 1 || cells[0].id != job.ID || cells[0].err != nil {
		t.Errorf("cells %+v, %v", cells, err)
	}
}

func TestStoreTreatsDamageAsMissing(t *testing.T) {
	s := toySpec(nil)
	job := Jobs(s, experiment.Smoke, 1, 1, nil)[0]
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
		// The checksum finds all of these; with one that fits, the content does.
		versions := []string{data}
		if strings.HasSuffix(data, "}\n") || strings.HasSuffix(data, "}}") {
			versions = append(versions, resealed(func(s string) string { return s })(data))
		}
		for i, data := range versions {
			st := openStore(t.TempDir())
			if err := atomicfile.Write(st.cellPath(s.ID, job.ID), []byte(data)); err != nil {
				t.Fatal(err)
			}
			if _, err := st.get(job, s.Columns); err == nil || errors.Is(err, errNoChecksum) || strings.Contains(err.Error(), "its checksum is") != (i == 0 && len(versions) == 2) {
				t.Errorf("%s: error %v", name, err)
			}
			if (name != "other columns" || i == 0) && valid(t, st, s) != 0 {
				t.Errorf("%s: counted as valid", name)
			}
		}
	}
}

func TestStoreFailures(t *testing.T) {
	st := openStore(t.TempDir())
	f := failure{ID: "0123", Error: "boom", Stack: "line", Time: time.Unix(1, 0).UTC()}
	for attempt := 1; attempt <= 2; attempt++ {
		if err := st.putFailure(f); err != nil {
			t.Fatal(err)
		}
		got, ok := st.failed("0123")
		if !ok || got.Attempt != attempt || got.Error != "boom" || got.Stack != "line" || !got.Time.Equal(f.Time) {
			t.Errorf("attempt %d: %+v, %v", attempt, got, ok)
		}
	}
	st.clearFailure("0123")
	if _, ok := st.failed("0123"); ok {
		t.Error("the failure is still there")
	}
}

func TestWriteChanged(t *testing.T) {
	st := openStore(t.TempDir())
	path := filepath.Join(st.dir, "f")
	writes := 0
	st.write = func(path string, data []byte) error {
		writes++
		return atomicfile.Write(path, data)
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

func FuzzDecodeCell(f *testing.F) {
	rows := table.New([]string{"i"}, []string{"v"})
	rows.Add(table.Key{"i": "a"}, table.Values{"v": math.Inf(1)})
	good, err := encodeCell(&record{Key: Key{Cell: "c"}, Rows: rows})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"values":{"index":["a","a"],"values":[],"rows":[["x","y"]]}}`))
	f.Add([]byte(`{"values":{"index":[],"values":[],"rows":[[]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		versions := [][]byte{data}
		// No change gets past the checksum, so that the text gets one that fits, too.
		if text, err := sealText([]byte(unsealed(string(data)))); err == nil {
			versions = append(versions, text)
		}
		for _, data := range versions {
			rec, err := decodeCell(data) // must not panic
			if err != nil {
				continue
			}
			again, err := encodeCell(rec)
			if err != nil {
				t.Fatalf("cannot be encoded again: %v", err)
			}
			rec2, err := decodeCell(again)
			if err != nil {
				t.Fatalf("does not read its own output: %v\n%s", err, again)
			}
			if rec.Key.ID() != rec2.Key.ID() || !reflect.DeepEqual(rowStrings(rec.Rows), rowStrings(rec2.Rows)) || !reflect.DeepEqual(rec.Run, rec2.Run) {
				t.Errorf("round trip changed the record")
			}
		}
	})
}
