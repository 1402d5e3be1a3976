package harness

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/experiment"
	"metriclab/pkg/limits"
	"metriclab/pkg/table"
)

// flips calls f with copies of data in which one bit differs: all of them, or n
// random ones if n is not 0.
func flips(data []byte, n int, f func(bit int, changed []byte)) {
	flip := func(bit int) {
		changed := bytes.Clone(data)
		changed[bit/8] ^= 1 << (bit % 8)
		f(bit, changed)
	}
	if n == 0 {
		for bit := range 8 * len(data) {
			flip(bit)
		}
		return
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		flip(rng.IntN(8 * len(data)))
	}
}

// TestCellFlips: a file of a job in which a bit differs is refused, or the bit is
// of white space and the record is the same.
func TestCellFlips(t *testing.T) {
	small := table.New([]string{"i"}, []string{"v"})
	small.Add(table.Key{"i": "ä"}, table.Values{"v": 0.1})
	large := table.New([]string{"i"}, []string{"v", "w"})
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		large.Add(table.Key{"i": "a"}, table.Values{"v": rng.Float64(), "w": rng.NormFloat64()})
	}
	key := Key{Cell: "c", Dataset: "d", Experiment: "e/f", Methods: map[string]int{"m": 1}, Params: map[string]string{"p": "1"}, Scale: experiment.Smoke, Schema: 1, Seed: 1 << 60}
	run := runInfo{Host: "h", Start: time.Unix(1, 0).UTC(), End: time.Unix(2, 5).UTC(), WallS: 1.25, CPUS: 1, Phases: []phaseTime{{"p", 1, 2}}, Args: []string{"run"}}
	for _, tt := range []struct {
		rows *table.Table
		n    int
	}{{small, 0}, {large, 300}} {
		data, err := encodeCell(&record{Key: key, Rows: tt.rows, Run: run})
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		flips(data, tt.n, func(bit int, changed []byte) {
			rec, err := decodeCell(changed)
			if errors.Is(err, errNoChecksum) {
				t.Errorf("bit %d of byte %d: taken for a file of an earlier version", bit%8, bit/8)
			}
			if err != nil {
				return
			}
			if again, err := encodeCell(rec); err != nil || !bytes.Equal(again, data) {
				t.Errorf("bit %d of byte %d: accepted as another record, %v", bit%8, bit/8, err)
			}
			same++
		})
		if tt.n == 0 && same > 200 { // line ends and indents that became other white space
			t.Errorf("%d flips accepted", same)
		}
	}
}

// TestMetaFlips is TestCellFlips for meta.json.
func TestMetaFlips(t *testing.T) {
	m := &metaJSON{Schema: 1, Title: "ü", State: statePublished, TableSHA256: "ab", Seed: 1 << 60, Cells: []metaCell{{Name: "c"}}, Runs: []metaRun{{Build: Build{Revision: "r"}, Jobs: 3}}}
	data, err := seal(m)
	if err != nil {
		t.Fatal(err)
	}
	flips(data, 0, func(bit int, changed []byte) {
		got := new(metaJSON)
		err := unseal(changed, got)
		if errors.Is(err, errNoChecksum) {
			t.Errorf("bit %d of byte %d: taken for a file of an earlier version", bit%8, bit/8)
		}
		if err != nil {
			return
		}
		if again, err := seal(got); err != nil || !bytes.Equal(again, data) {
			t.Errorf("bit %d of byte %d: accepted as another, %v", bit%8, bit/8, err)
		}
	})
}

// TestUnsealIsStrict has files whose checksum fits and whose content does not.
func TestUnsealIsStrict(t *testing.T) {
	type object struct {
		A string `json:"a"`
		B int    `json:"b"`
	}
	good, err := seal(object{"x", 1})
	if err != nil {
		t.Fatal(err)
	}
	got := object{}
	if err := unseal(good, &got); err != nil || got != (object{"x", 1}) {
		t.Errorf("got %+v, %v", got, err)
	}
	fit := resealed(func(s string) string { return s })
	for name, data := range map[string]string{
		"unknown member":  fit(`{"a": "x", "b": 1, "c": 2}`),
		"other case":      fit(`{"A": "x", "b": 1}`),
		"member twice":    fit(`{"a": "x", "a": "x", "b": 1}`),
		"not UTF-8":       fit("{\"a\": \"\xff\", \"b\": 1}"),
		"wrong type":      fit(`{"a": 1, "b": 1}`),
		"number too long": fit(`{"a": "x", "b": 99999999999999999999}`),
		"trailing":        string(good) + "{}",
		"checksum twice":  fit(string(good)),
		"checksum last":   strings.Replace(unsealed(string(good)), "\n}", ",\n \"sha256\": \""+strings.Repeat("0", 64)+"\"\n}", 1),
		"no object":       `"x"`,
		"empty":           "",
		"zeros":           "\x00\x00\x00",
	} {
		if name == "checksum twice" {
			data = strings.Replace(string(good), "{", `{"sha256":"`+sum([]byte("x"))+`",`, 1)
		}
		if err := unseal([]byte(data), &got); err == nil || errors.Is(err, errNoChecksum) {
			t.Errorf("%s: %v\n%s", name, err, data)
		}
	}
	if err := unseal([]byte(unsealed(string(good))), &got); !errors.Is(err, errNoChecksum) {
		t.Errorf("without a checksum: %v", err)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("0123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	if data, err := limits.ReadFile(path); err != nil || string(data) != "0123456789" {
		t.Errorf("got %q, %v", data, err)
	}
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(9)
	var large *limits.MemoryError
	if _, err := limits.ReadFile(path); !errors.As(err, &large) || !strings.Contains(err.Error(), path) {
		t.Errorf("a file above the limit: %v", err)
	}
	limits.SetMemory(0)
	if err := os.Truncate(path, 1<<40); err == nil { // sparse; some file systems have no such files
		if _, err := limits.ReadFile(path); !errors.As(err, &large) {
			t.Errorf("1 TiB: %v", err)
		}
	}
	if _, err := limits.ReadFile(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := limits.ReadFile(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// events runs and returns what became of it and the events.
func events(t *testing.T, cfg Config) (*Result, []Event) {
	t.Helper()
	var got []Event
	cfg.Progress = func(e Event) { got = append(got, e) }
	res, err := Run(t.Context(), selected(cfg.Papers[0]), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res, got
}

// TestRunDamagedCellOfAnyKind: whatever lies in the place of a job's file, the job runs again, also where memory would not hold it.
func TestRunDamagedCellOfAnyKind(t *testing.T) {
	p := toyPaper(toySpec(nil))
	dir := t.TempDir()
	cfg := toyConfig(dir, experiment.Smoke, p)
	mustRun(t, cfg)
	path := openStore(dir).cellPath("toy/lines", Jobs(p.Experiments[0], cfg.Scale, 2, 1, nil)[0].ID)
	good := mustRead(t, path)
	text := func(s string) func() error { return func() error { return os.WriteFile(path, []byte(s), 0o644) } }
	size := func(n int64) func() error {
		return func() error {
			if err := os.Truncate(path, n); err != nil {
				t.Log(err) // some file systems have no sparse files
				return os.Truncate(path, 1)
			}
			return nil
		}
	}
	for name, damage := range map[string]func() error{
		"1 TiB": size(1 << 40), "above the largest": size(maxCell + 1), "zeros": size(1 << 16), "empty": size(0), "null": text("null"), "a list": text("[]"),
		"brackets": text(strings.Repeat("[", 1<<20)), "no text": text("\xff\x00"), "twice": text(good + good), "a folder": func() error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if stand, err := Stand(t.Context(), selected(p), cfg); err != nil || stand[0].Damaged != 1 || stand[0].ToRun != 1 {
			t.Errorf("%s: %+v, %v", name, stand, err)
		}
		if res, _ := events(t, cfg); !res.OK() || res.Outcomes[0].Ran != 1 || mustRead(t, path) != good {
			t.Errorf("%s: %d ran; %v, %+v", name, res.Outcomes[0].Ran, res.StoreErr, res.Damaged)
		}
	}
}

// TestRunDamagedCells: files of jobs that cannot be used are named, their jobs
// run again, and then the files are what they were.
func TestRunDamagedCells(t *testing.T) {
	p := toyPaper(toySpec(nil))
	for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} { // at full scale the published table has all rows, too
		dir := t.TempDir()
		cfg := toyConfig(dir, scale, p)
		mustRun(t, cfg)
		jobs := Jobs(p.Experiments[0], scale, 2, 1, nil)
		st := openStore(dir)
		var want []string
		all := snapshotAll(t, dir)
		good := map[string]string{}
		for i, f := range []func(string) string{
			replace(`"+Inf"`, `"7"`),
			func(s string) string { return s[:len(s)-5] },
			func(string) string { return "" },
			replace("{", "{\xff"),
			resealed(replace(`"odd"`, `"even"`)),
		} {
			path := st.cellPath("toy/lines", jobs[i].ID)
			good[path] = mustRead(t, path)
			want = append(want, change(t, dir, jobs[i], f))
		}
		if err := os.Remove(st.cellPath("toy/lines", jobs[5].ID)); err != nil {
			t.Fatal(err)
		}
		path := st.cellPath("toy/lines", jobs[5].ID)
		if err := os.Mkdir(path, 0o755); err != nil { // cannot be replaced either
			t.Fatal(err)
		}
		stand, err := Stand(t.Context(), selected(p), cfg)
		if err != nil || stand[0].Damaged != 6 || stand[0].ToRun != 6 {
			t.Errorf("%s: %+v, %v", scale, stand, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		res, got := events(t, cfg)
		ran := 5
		if scale == experiment.Smoke {
			ran = 6 // the published table has the job whose file is missing
		}
		if o := res.Outcomes[0]; !res.OK() || o.Ran != ran || o.Done != o.Jobs || len(res.Damaged) != len(want) {
			t.Errorf("%s: %d ran, damaged %+v", scale, o.Ran, res.Damaged)
		}
		for i, e := range got[:len(want)] {
			if e.Kind != EventDamaged || e.File != res.Damaged[i] || !slices.Contains(want, e.File.Path) || e.File.Err == nil || !e.File.Replaced {
				t.Errorf("%s: event %+v", scale, e)
			}
		}
		if slices.ContainsFunc(got[len(want):], func(e Event) bool { return e.Kind == EventDamaged }) {
			t.Errorf("%s: a file is named twice", scale)
		}
		for path, data := range good {
			if mustRead(t, path) != data {
				t.Errorf("%s: %s is not what it was", scale, path)
			}
		}
		if scale == experiment.Smoke && len(snapshotAll(t, dir)) != len(all) {
			t.Errorf("files: %q, want %q", snapshotAll(t, dir), all)
		}
		if res, _ := events(t, cfg); !res.OK() || res.Outcomes[0].Ran != 0 || len(res.Damaged) != 0 {
			t.Errorf("%s: then %d ran, damaged %+v", scale, res.Outcomes[0].Ran, res.Damaged)
		}
	}
}

// TestRunOldCells: files without a checksum are counted and run again, unless a
// published table has their rows.
func TestRunOldCells(t *testing.T) {
	p := toyPaper(toySpec(nil))
	for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
		dir := t.TempDir()
		cfg := toyConfig(dir, scale, p)
		mustRun(t, cfg)
		want := snapshot(t, dir)
		jobs := Jobs(p.Experiments[0], scale, 2, 1, nil)
		for _, job := range jobs[:3] {
			change(t, dir, job, unsealed)
		}
		old := 3
		if scale == experiment.Full {
			old = 0
		}
		stand, err := Stand(t.Context(), selected(p), cfg)
		if err != nil || stand[0].NoChecksum != 3 || stand[0].Damaged != 0 || stand[0].ToRun != old {
			t.Errorf("%s: %+v, %v", scale, stand, err)
		}
		res, got := events(t, cfg)
		if !res.OK() || res.Outcomes[0].Ran != old || res.NoChecksum != old || len(res.Damaged) != 0 || got[0].Kind != EventPlanned || got[0].NoChecksum != old {
			t.Errorf("%s: %d ran, %d without a checksum, damaged %+v", scale, res.Outcomes[0].Ran, res.NoChecksum, res.Damaged)
		}
		sameFiles(t, snapshot(t, dir), want)

		// In a source they are missing.
		for _, job := range jobs[:3] {
			path := openStore(dir).cellPath("toy/lines", job.ID)
			if err := os.WriteFile(path, []byte(unsealed(mustRead(t, path))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		m := mustMerge(t, toyConfig(t.TempDir(), scale, p), dir)
		if src := m.Sources[0]; src.NoChecksum != 3 || src.Damaged != 0 || m.NoChecksum != 3 || len(m.Missing) != 1 || m.Missing[0].Missing != 3 {
			t.Errorf("%s: merge: %+v, missing %+v", scale, src, m.Missing)
		}
	}
}

// published returns a folder with two published experiments, one of them marked
// Timing, without the files of their jobs.
func publishTwo(t *testing.T) (string, Config) {
	t.Helper()
	timed := timedSpec()
	timed.ID = "toy/timed"
	p := toyPaper(toySpec(nil), timed)
	dir := t.TempDir()
	cfg := timedConfig(dir, experiment.Full, p, time.Second)
	cfg.Workers = 1 // so that jobs that run at the same time do not share the clock's ticks
	mustRun(t, cfg)
	clone(t, dir)
	return dir, cfg
}

// TestReportVerifies flips bits in all that a report reads: it is named, nothing
// that is published changes, and the rest is reported.
func TestReportVerifies(t *testing.T) {
	dir, cfg := publishTwo(t)
	want := snapshot(t, dir)
	n := 40
	if testing.Short() {
		n = 3
	}
	for _, id := range []string{"lines", "timed"} {
		for _, name := range []string{tableFile, timingFile, metaFile} {
			path := filepath.Join(dir, "toy", id, name)
			good := []byte(mustRead(t, path))
			flips(good, n, func(bit int, changed []byte) {
				if err := os.WriteFile(path, changed, 0o644); err != nil {
					t.Fatal(err)
				}
				res, err := Report(t.Context(), selected(cfg.Papers[0]), cfg)
				if err != nil {
					t.Fatal(err)
				}
				if name == metaFile && len(res.Damaged) == 0 && mustRead(t, path) == string(good) {
					return // white space, put right
				}
				if res.OK() || len(res.Damaged) != 1 || res.Damaged[0].Path != path || !res.Damaged[0].Published || res.Damaged[0].Replaced || !strings.Contains(res.Damaged[0].Command, "metriclab run toy/"+id+" --scale full") {
					t.Errorf("%s, bit %d: damaged %+v", path, bit, res.Damaged)
				}
				other := res.Outcomes[0]
				if id == "lines" {
					other = res.Outcomes[1]
				}
				if !other.Published {
					t.Errorf("%s, bit %d: the other experiment is not reported", path, bit)
				}
				if html := mustRead(t, res.Report); !strings.Contains(html, "Damaged: "+path) {
					t.Errorf("%s, bit %d: the report does not say it", path, bit)
				}
				if mustRead(t, path) != string(changed) {
					t.Errorf("%s, bit %d: written to", path, bit)
				}
				if err := os.WriteFile(path, good, 0o644); err != nil {
					t.Fatal(err)
				}
				for file, data := range want {
					if !strings.HasPrefix(file, "report") && mustRead(t, dir, file) != data {
						t.Errorf("%s, bit %d: %s has changed", path, bit, file)
					}
				}
			})
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "draft")); err != nil {
		t.Fatal(err)
	}
	if res, err := Report(t.Context(), selected(cfg.Papers[0]), cfg); err != nil || !res.OK() || len(res.Damaged) != 0 {
		t.Errorf("restored: %+v, %v", res, err)
	}
	sameFiles(t, snapshot(t, dir), want)
}

// TestDamagedPublishedIsRenewed: a run makes damaged rows anew, and with Force
// damaged times; that of another experiment says that they are damaged.
func TestDamagedPublishedIsRenewed(t *testing.T) {
	damage := func(dir, id, name string) {
		path := filepath.Join(dir, "toy", id, name)
		if err := os.WriteFile(path, []byte(mustRead(t, path)+" x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	type damaged struct {
		id, name string
		force    bool
	}
	all := []damaged{{"lines", tableFile, false}, {"lines", timingFile, true}, {"lines", metaFile, false}, {"timed", timingFile, false}, {"timed", metaFile, false}}
	if testing.Short() {
		all = all[:2]
	}
	for _, tt := range all {
		dir, cfg := publishTwo(t)
		want := snapshot(t, dir)
		damage(dir, tt.id, tt.name)
		card := filepath.Join(dir, scorecardFile)
		if err := os.WriteFile(card, []byte(scorecardSign), 0o644); err != nil {
			t.Fatal(err)
		}
		all := selected(cfg.Papers[0])
		other, own := all[:1], all[1:]
		if tt.id == "lines" {
			other, own = own, other
		}
		res, err := Run(t.Context(), other, cfg)
		if err != nil || res.OK() || len(res.Damaged) != 1 || res.Damaged[0].Replaced || !strings.HasSuffix(res.Damaged[0].Command, " --force") != !tt.force {
			t.Errorf("%s/%s: run of the other: %+v, %v", tt.id, tt.name, res.Damaged, err)
		}
		if kept := mustRead(t, card) == scorecardSign; kept != !tt.force { // with its rows the claims can be graded
			t.Errorf("%s/%s: scorecard kept: %v", tt.id, tt.name, kept)
		}
		cfg.Force = tt.force
		res, err = Run(t.Context(), own, cfg)
		if err != nil || !res.OK() || res.Outcomes[0].Ran != 24 || !res.Outcomes[0].Published || len(res.Damaged) != 1 || !res.Damaged[0].Replaced || res.Outcomes[0].Problem != "" {
			t.Errorf("%s/%s: own run: %+v, %v", tt.id, tt.name, res, err)
		}
		for file, data := range want {
			if filepath.Ext(file) != ".html" && filepath.Base(file) != metaFile && mustRead(t, dir, file) != data { // these hold the time of day
				t.Errorf("%s/%s: %s is not what it was", tt.id, tt.name, file)
			}
		}
		if res, err := Report(t.Context(), all, cfg); err != nil || !res.OK() || len(res.Damaged) != 0 {
			t.Errorf("%s/%s: then: %+v, %v", tt.id, tt.name, res, err)
		}
	}
}

// TestOldMeta: a meta.json without checksums is accepted and gets them; nothing
// else changes.
func TestOldMeta(t *testing.T) {
	dir, cfg := publishTwo(t)
	want := snapshot(t, dir)
	path := filepath.Join(dir, "toy", "lines", metaFile)
	lines := strings.SplitAfter(unsealed(mustRead(t, path)), "\n")
	lines = slices.DeleteFunc(lines, func(s string) bool { return strings.Contains(s, `"timing_sha256"`) })
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if st, err := Stand(t.Context(), selected(cfg.Papers[0]), cfg); err != nil || !st[0].Published || st[0].Done != 24 || st[0].Problem != "" {
		t.Errorf("%+v, %v", st, err)
	}
	res, err := Report(t.Context(), selected(cfg.Papers[0]), cfg)
	if err != nil || !res.OK() || !slices.Equal(res.Unvouched, []string{path}) || len(res.Damaged) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	sameFiles(t, snapshot(t, dir), want)
	if res, err = Report(t.Context(), selected(cfg.Papers[0]), cfg); err != nil || len(res.Unvouched) != 0 {
		t.Errorf("then: %+v, %v", res, err)
	}
}

// TestReadTableVerifies: what a notebook reads is checked, too.
func TestReadTableVerifies(t *testing.T) {
	dir, cfg := publishTwo(t)
	for i, id := range []string{"lines", "timed"} {
		s, folder := cfg.Papers[0].Experiments[i], filepath.Join(dir, "toy", id)
		_, err := ReadTable(s, folder)
		_, err2 := ReadTimes(s, folder)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for _, name := range []string{tableFile, timingFile, metaFile} {
			path := filepath.Join(folder, name)
			good := mustRead(t, path)
			if err := os.WriteFile(path, []byte(strings.Replace(good, "0", "1", 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := ReadTable(s, folder)
			_, err2 := ReadTimes(s, folder)
			if (err == nil) != (name == timingFile) || (err2 == nil) != (name == tableFile) {
				t.Errorf("%s: ReadTable: %v; ReadTimes: %v", path, err, err2)
			}
			if err := os.WriteFile(path, []byte(good), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestDamagedMetaIsNotReplaced: what may be published results is no place for
// drafts.
func TestDamagedMetaIsNotReplaced(t *testing.T) {
	dir, cfg := publishTwo(t)
	path := filepath.Join(dir, "toy", "lines", metaFile)
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	var wrong *ConfigError
	_, err := Run(t.Context(), selected(cfg.Papers[0]), timedConfig(dir, experiment.Smoke, cfg.Papers[0], time.Second))
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}

	// That of a draft is.
	p := toyPaper(toySpec(nil))
	cfg = toyConfig(t.TempDir(), experiment.Smoke, p)
	mustRun(t, cfg)
	want := snapshot(t, cfg.Folders.Store)
	path = filepath.Join(cfg.Folders.Store, "toy", "lines", metaFile)
	if err := os.WriteFile(path, []byte(replace("noise", "poise")(mustRead(t, path))), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, cfg)
	sameFiles(t, snapshot(t, cfg.Folders.Store), want)
}

// TestPublishedElsewhere: the published folder of another experiment is not taken
// for one's own, though all checksums fit.
func TestPublishedElsewhere(t *testing.T) {
	dir, cfg := publishTwo(t)
	from, to := filepath.Join(dir, "toy", "timed"), filepath.Join(dir, "toy", "lines")
	if err := errors.Join(os.RemoveAll(to), os.Rename(from, to)); err != nil {
		t.Fatal(err)
	}
	res, err := Report(t.Context(), selected(cfg.Papers[0]), cfg)
	if err != nil || len(res.Damaged) != 1 || res.Damaged[0].Err.Error() != `it is that of the experiment "toy/timed"` || res.Outcomes[0].Published {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestRunDrawnRemoved removes the folder of an experiment that is drawn already.
func TestRunDrawnRemoved(t *testing.T) {
	dir := t.TempDir()
	drawn := make(chan bool)
	first, second := toySpec(nil), toySpec(func(_ context.Context, cell string, trial int) error {
		if cell == "d" && trial == 1 {
			<-drawn
			return os.RemoveAll(filepath.Join(dir, "toy", "lines"))
		}
		return nil
	})
	second.ID = "toy/second"
	cfg := toyConfig(dir, experiment.Smoke, toyPaper(first, second))
	cfg.Progress = func(e Event) {
		if e.Kind == EventDrawn && e.Experiment == "toy/lines" {
			close(drawn)
		}
	}
	res, err := Run(t.Context(), selected(cfg.Papers[0]), cfg)
	if err != nil || res.OK() || res.StoreErr == nil || !strings.Contains(res.StoreErr.Error(), filepath.Join(dir, "toy", "lines", tableFile)) {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestTrialReturnsNoUTF8: JSON would hold another text than the trial returned.
func TestTrialReturnsNoUTF8(t *testing.T) {
	s := toySpec(nil)
	s.Trial = func(ctx context.Context, run *experiment.Run) error {
		run.Rows.Add(table.Key{"point": "a\xff"}, table.Values{"x": 1, "y": 1, "odd": 1})
		return nil
	}
	res, err := Run(t.Context(), []Selected{{Spec: s}}, toyConfig(t.TempDir(), experiment.Smoke, toyPaper(s)))
	if err != nil || len(res.Failed) != 8 || !strings.Contains(res.Failed[0].Err.Error(), `row 0 with the point "a\xff", which is no UTF-8`) {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestDamagedFailure: a note about a failed job is not taken from a damaged file.
func TestDamagedFailure(t *testing.T) {
	st := openStore(t.TempDir())
	if err := st.putFailure(failure{ID: "0123", Error: "boom"}); err != nil {
		t.Fatal(err)
	}
	text := mustRead(t, st.failurePath("0123"))
	for _, with := range []string{strings.Replace(text, "boom", "room", 1), text[:20], ""} {
		if err := atomicfile.Write(st.failurePath("0123"), []byte(with)); err != nil {
			t.Fatal(err)
		}
		if f, ok := st.failed("0123"); ok {
			t.Errorf("got %+v", f)
		}
	}
	if err := atomicfile.Write(st.failurePath("0123"), []byte(unsealed(text))); err != nil {
		t.Fatal(err)
	}
	if _, ok := st.failed("0123"); !ok {
		t.Error("the note of an earlier version is not read")
	}
}
