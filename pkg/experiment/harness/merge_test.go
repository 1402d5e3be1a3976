package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"metriclab/internal/atomicfile"
	"metriclab/internal/needs"
	"metriclab/pkg/experiment"
)

func mustMerge(t *testing.T, cfg Config, sources ...string) *Merged {
	t.Helper()
	m, err := Merge(t.Context(), selected(cfg.Papers[0]), sources, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if m.Err != nil || !m.Result.OK() {
		t.Fatalf("merge failed: %v", m.Err)
	}
	return m
}

// shards runs a paper's jobs in n shards, each into a folder of its own.
func shards(t *testing.T, scale experiment.Scale, p experiment.Paper, n int) []string {
	t.Helper()
	var dirs []string
	for i := range n {
		cfg := toyConfig(t.TempDir(), scale, p)
		cfg.Shard = Shard{i, n}
		mustRun(t, cfg)
		dirs = append(dirs, cfg.Folders.Store)
	}
	return dirs
}

// stamps returns the times of all files below a folder, hidden ones too.
func stamps(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	out := map[string]time.Time{}
	for _, path := range snapshotAll(t, dir) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = info.ModTime()
	}
	return out
}

// TestMergeEqualsRun: n shards merged in any order, at once or one after the
// other, give the files of one process.
func TestMergeEqualsRun(t *testing.T) {
	for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
		p := toyPaper(toySpec(nil))
		if scale == experiment.Full { // drawing takes long
			p = toyPaper(withPlot(toySpec(nil)))
		}
		whole := t.TempDir()
		mustRun(t, toyConfig(whole, scale, p))
		want := snapshot(t, whole)
		for _, n := range []int{1, 3} {
			dirs := shards(t, scale, p, n)
			rng := rand.New(rand.NewPCG(uint64(n), 0))
			for range 2 {
				rng.Shuffle(n, func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
				target := t.TempDir()
				mustMerge(t, toyConfig(target, scale, p), dirs...)
				sameFiles(t, snapshot(t, target), want)
			}
			target := t.TempDir()
			for i, dir := range dirs {
				m := mustMerge(t, toyConfig(target, scale, p), dir)
				if last := i == n-1; (len(m.Missing) == 0) != last {
					t.Errorf("%d of %d shards: missing %+v", i+1, n, m.Missing)
				}
			}
			got := snapshot(t, target)
			for name := range got {
				if strings.HasPrefix(name, "draft") { // of the incomplete merges
					delete(got, name)
				}
			}
			sameFiles(t, got, want)
		}
	}
}

// TestMergeTwice changes nothing the second time, nor with itself, nor the same
// folder under several names.
func TestMergeTwice(t *testing.T) {
	p := toyPaper(toySpec(nil))
	dirs := shards(t, experiment.Full, p, 2)
	target := t.TempDir()
	cfg := toyConfig(target, experiment.Full, p)
	link := filepath.Join(t.TempDir(), "link")
	needs.Symlink(t, dirs[0], link)
	m := mustMerge(t, cfg, dirs[0], dirs[1], link, dirs[1], dirs[0]+"/.", target)
	want := []MergedSource{
		{Dir: dirs[0], New: 12}, {Dir: dirs[1], New: 12}, {Dir: link, Same: dirs[0]}, {Dir: dirs[1], Same: dirs[1]},
		{Dir: dirs[0] + "/.", Same: dirs[0]}, {Dir: target, Same: target},
	}
	if len(m.Missing) != 0 || !slices.Equal(m.Sources, want) {
		t.Errorf("first: missing %+v, sources %+v", m.Missing, m.Sources)
	}
	before := stamps(t, target)
	for _, sources := range [][]string{{dirs[0], dirs[1]}, {target}, nil, {link}} {
		m := mustMerge(t, cfg, sources...)
		for _, src := range m.Sources {
			if src.New != 0 {
				t.Errorf("%q again: %+v", sources, src)
			}
		}
		untouched(t, fmt.Sprintf("%q again", sources), target, before)
	}
}

// untouched checks that no file of a folder was written, made or removed since
// before.
func untouched(t *testing.T, what, dir string, before map[string]time.Time) {
	t.Helper()
	after := stamps(t, dir)
	for path, at := range after {
		if !before[path].Equal(at) {
			t.Errorf("%s: %s was written", what, path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%s: %d files, before %d", what, len(after), len(before))
	}
}

// TestMergeSymlinkedCells copies what links point to, as files.
func TestMergeSymlinkedCells(t *testing.T) {
	p := toyPaper(toySpec(nil))
	dir := shards(t, experiment.Smoke, p, 1)[0]
	linked := t.TempDir()
	needs.Symlink(t, filepath.Join(dir, ".cells"), filepath.Join(linked, ".cells"))
	target := t.TempDir()
	if m := mustMerge(t, toyConfig(target, experiment.Smoke, p), linked); len(m.Missing) != 0 {
		t.Errorf("missing %+v", m.Missing)
	}
	for _, path := range snapshotAll(t, target) {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// TestMergeTakesTheFirstRecord: two machines ran the same jobs; whatever the
// order of the sources, the record that ended first is taken, and the one that
// is here stays.
func TestMergeTakesTheFirstRecord(t *testing.T) {
	p := toyPaper(toySpec(nil))
	var dirs []string
	for i, host := range []string{"1-late", "2-early"} {
		cfg := toyConfig(t.TempDir(), experiment.Smoke, p)
		at := time.Date(2026, 1, 2-i, 0, 0, 0, 0, time.UTC)
		cfg.World = World{Host: host, Now: func() time.Time { return at }}
		mustRun(t, cfg)
		dirs = append(dirs, cfg.Folders.Store)
	}
	job := Jobs(p.Experiments[0], experiment.Smoke, 1, 1, nil)[0]
	host := func(dir string) string {
		rec, err := openStore(dir).get(job, p.Experiments[0].Columns)
		if err != nil {
			t.Fatal(err)
		}
		return rec.Run.Host
	}
	for range 2 {
		slices.Reverse(dirs)
		target := t.TempDir()
		m := mustMerge(t, toyConfig(target, experiment.Smoke, p), dirs...)
		if m.Sources[0].New != 8 || m.Sources[1].Known != 8 || host(target) != "2-early" {
			t.Errorf("sources %+v, record of %s", m.Sources, host(target))
		}
	}
	slices.Reverse(dirs)
	late, early := dirs[0], dirs[1]
	if host(late) != "1-late" {
		late, early = early, late
	}
	if m := mustMerge(t, toyConfig(late, experiment.Smoke, p), early); m.Sources[0].Known != 8 || host(late) != "1-late" {
		t.Errorf("sources %+v, record of %s", m.Sources, host(late))
	}
}

// change rewrites the stored file of a job.
func change(t *testing.T, dir string, job Job, f func(string) string) string {
	t.Helper()
	path := openStore(dir).cellPath(job.Key.Experiment, job.ID)
	old := mustRead(t, path)
	if f(old) == old {
		t.Fatal("the change did not take")
	}
	if err := atomicfile.Write(path, []byte(f(old))); err != nil {
		t.Fatal(err)
	}
	return path
}

func replace(old, with string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, with, 1) }
}

// TestMergeConflict: the same job with other values, in two sources, here and
// in a source, or in the published table and a source, is an error that names
// both files, and nothing is written.
func TestMergeConflict(t *testing.T) {
	p := toyPaper(toySpec(nil))
	job := Jobs(p.Experiments[0], experiment.Full, 6, 1, nil)[7] // cell b, trial 1
	for name, withTarget := range map[string]func(target string){
		"two sources":     func(string) {},
		"here and source": func(target string) { mustRun(t, toyConfig(target, experiment.Full, p)) },
		"published and source": func(target string) { // a fresh clone has no cells
			mustRun(t, toyConfig(target, experiment.Full, p))
			if err := os.RemoveAll(filepath.Join(target, ".cells")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		good, bad, target := shards(t, experiment.Full, p, 1)[0], shards(t, experiment.Full, p, 1)[0], t.TempDir()
		withTarget(target)
		badPath := change(t, bad, job, resealed(replace(`"-Inf"`, `"-1"`)))
		other := map[string]string{
			"two sources":          openStore(good).cellPath(job.Key.Experiment, job.ID),
			"here and source":      openStore(target).cellPath(job.Key.Experiment, job.ID),
			"published and source": filepath.Join(target, "toy", "lines", tableFile),
		}[name]
		before := stamps(t, target)
		sources := []string{good, bad}
		if name != "two sources" {
			sources = []string{bad}
		}
		_, err := Merge(t.Context(), selected(p), sources, toyConfig(target, experiment.Full, p))
		var conflict *ConflictError
		if !errors.As(err, &conflict) || conflict.Files != [2]string{other, badPath} || conflict.Cell != "b" || conflict.Trial != 1 || conflict.More != 0 {
			t.Errorf("%s: got %v", name, err)
		}
		if msg := err.Error(); !strings.Contains(msg, other) || !strings.Contains(msg, badPath) || !strings.Contains(msg, "nothing was merged") {
			t.Errorf("%s: message %s", name, msg)
		}
		untouched(t, name, target, before)
	}
}

// TestMergeCountsConflicts names one and counts the others.
func TestMergeCountsConflicts(t *testing.T) {
	p := toyPaper(toySpec(nil))
	good, bad := shards(t, experiment.Smoke, p, 1)[0], shards(t, experiment.Smoke, p, 1)[0]
	for _, job := range Jobs(p.Experiments[0], experiment.Smoke, 2, 1, nil)[:3] {
		change(t, bad, job, resealed(replace(`"+Inf"`, `"1"`)))
	}
	_, err := Merge(t.Context(), selected(p), []string{good, bad}, toyConfig(t.TempDir(), experiment.Smoke, p))
	if err == nil || !strings.Contains(err.Error(), "(and 2 more)") {
		t.Errorf("got %v", err)
	}
}

// TestMergeDamaged reports damaged files, treats them as missing, and repairs
// what is damaged here from the sources.
func TestMergeDamaged(t *testing.T) {
	p := toyPaper(toySpec(nil))
	jobs := Jobs(p.Experiments[0], experiment.Smoke, 2, 1, nil)
	whole := t.TempDir()
	mustRun(t, toyConfig(whole, experiment.Smoke, p))
	source := shards(t, experiment.Smoke, p, 1)[0]
	damage := []struct {
		f    func(string) string
		want string
	}{
		{func(s string) string { return s[:len(s)/2] }, "unexpected EOF"},
		{replace(`"+Inf"`, `"7"`), "its checksum is"},
		{resealed(replace(`"trial": 0`, `"trial": 7`)), "which is not its name"},
		{resealed(replace(`"odd"`, `"even"`)), "columns are point,x,y,even, want point,x,y,odd"},
		{resealed(replace(`"experiment": "toy/lines"`, `"experiment": "toy/other"`)), "which is not its name"},
	}
	for i, d := range damage {
		change(t, source, jobs[i], d.f)
	}
	// A sound file in the wrong folder, and one that is not ours.
	st := openStore(source)
	sound := st.cellPath("toy/lines", jobs[6].ID)
	if err := os.Rename(sound, filepath.Join(filepath.Dir(st.cellPath("toy/lines", jobs[7].ID)), filepath.Base(sound))); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Join(source, ".cells", "toy", "lines", "README"), []byte("hello")); err != nil {
		t.Fatal(err)
	}

	target := t.TempDir()
	m := mustMerge(t, toyConfig(target, experiment.Smoke, p), source)
	if src := m.Sources[0]; src.New != 2 || src.Damaged != 6 || len(m.Damaged) != 6 {
		t.Errorf("source %+v, damaged %+v", src, m.Damaged)
	}
	if len(m.Missing) != 1 || m.Missing[0] != (MissingJobs{Experiment: "toy/lines", Jobs: 8, Missing: 6}) {
		t.Errorf("missing %+v", m.Missing)
	}
	for i, d := range damage {
		path := st.cellPath("toy/lines", jobs[i].ID)
		if !slices.ContainsFunc(m.Damaged, func(f DamagedFile) bool { return f.Path == path && strings.Contains(f.Err.Error(), d.want) }) {
			t.Errorf("%s is not reported with %q: %v", path, d.want, m.Damaged)
		}
	}

	// Merged into the damaged folder, a sound one repairs it.
	m = mustMerge(t, toyConfig(source, experiment.Smoke, p), whole)
	if len(m.Missing) != 0 || m.Sources[0].New != 6 || m.Sources[0].Known != 2 || len(m.Damaged) != 6 {
		t.Errorf("repair: %+v, missing %+v", m.Sources, m.Missing)
	}
	st2, err := Stand(t.Context(), selected(p), toyConfig(source, experiment.Smoke, p))
	if err != nil || st2[0].Done != 8 || st2[0].Damaged != 1 { // the one in the wrong folder stays
		t.Errorf("after the repair: %+v, %v", st2, err)
	}
	want := snapshot(t, whole)
	sameFiles(t, snapshot(t, source), want)
}

// TestMergeLeavesOthers: jobs of another scale, version, seed or trial are
// counted and not copied.
func TestMergeLeavesOthers(t *testing.T) {
	p := toyPaper(toySpec(nil))
	source := t.TempDir()
	mustRun(t, toyConfig(source, experiment.Full, p))
	full := stamps(t, filepath.Join(source, ".cells"))
	small := t.TempDir()
	cfg := toyConfig(small, experiment.Smoke, p)
	cfg.Trials = 3
	mustRun(t, cfg)
	old := toySpec(nil)
	old.Version = 2
	mustRun(t, toyConfig(small, experiment.Smoke, toyPaper(old)))

	target := t.TempDir()
	m := mustMerge(t, toyConfig(target, experiment.Smoke, p), source, small)
	if m.Sources[0] != (MergedSource{Dir: source, OtherScale: len(full)}) || m.Sources[1] != (MergedSource{Dir: small, New: 8, Stray: 4 + 8}) {
		t.Errorf("sources %+v", m.Sources)
	}
	if n := valid(t, openStore(target), p.Experiments[0]); n != 8 || len(m.Missing) != 0 {
		t.Errorf("%d jobs copied, missing %+v", n, m.Missing)
	}
	cfg = toyConfig(target, experiment.Smoke, p)
	cfg.Trials = 3
	if m := mustMerge(t, cfg, small); m.Sources[0] != (MergedSource{Dir: small, New: 4, Known: 8, Stray: 8}) {
		t.Errorf("three trials: %+v", m.Sources)
	}
}

// TestMergeWithHoles says what is missing, and of that what failed, and keeps a
// complete published table.
func TestMergeWithHoles(t *testing.T) {
	s := toySpec(func(_ context.Context, cell string, trial int) error {
		if cell == "b" && trial == 0 {
			return errors.New("no convergence")
		}
		return nil
	})
	p := toyPaper(s)
	source := t.TempDir()
	cfg := toyConfig(source, experiment.Full, p)
	cfg.Shard = Shard{0, 1}
	cfg.Cells = []string{"a", "b"}
	if _, err := Run(t.Context(), selected(p), cfg); err != nil {
		t.Fatal(err)
	}
	target := t.TempDir()
	m := mustMerge(t, toyConfig(target, experiment.Full, p), source)
	if len(m.Missing) != 1 || m.Missing[0] != (MissingJobs{Experiment: "toy/lines", Jobs: 24, Missing: 13, Failed: 1}) {
		t.Errorf("missing %+v", m.Missing)
	}
	if o := m.Result.Outcomes[0]; o.Published || o.Done != 11 || o.Watermark != "incomplete: 11 of 24 jobs" {
		t.Errorf("outcome %+v", o)
	}
	if _, err := os.Stat(filepath.Join(target, "toy")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a table with holes was published: %v", err)
	}
	// Of the cells that were asked for, less is missing.
	cfg = toyConfig(target, experiment.Full, p)
	cfg.Cells = []string{"a"}
	if m := mustMerge(t, cfg); len(m.Missing) != 0 {
		t.Errorf("cell a: missing %+v", m.Missing)
	}
	// A failure that is noted here is forgotten when the job arrives.
	if err := openStore(target).putFailure(failure{ID: Jobs(s, experiment.Full, 1, 1, nil)[1].ID}); err != nil {
		t.Fatal(err)
	}
	whole := toyPaper(toySpec(nil))
	if m := mustMerge(t, toyConfig(target, experiment.Full, whole), shards(t, experiment.Full, whole, 1)...); len(m.Missing) != 0 || !m.Result.Outcomes[0].Published {
		t.Errorf("completed: missing %+v", m.Missing)
	}
	if left, err := os.ReadDir(filepath.Join(target, ".failures")); err != nil || len(left) != 0 {
		t.Errorf("failures left: %v, %v", left, err)
	}
}

func TestMergeErrors(t *testing.T) {
	p := toyPaper(toySpec(nil))
	empty := t.TempDir()
	file := filepath.Join(t.TempDir(), "file")
	if err := atomicfile.Write(file, nil); err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		filepath.Join(empty, "nowhere"): filepath.Join(empty, "nowhere") + ": ", empty: "has no folder .cells", file: "has no folder .cells",
	} {
		target := filepath.Join(t.TempDir(), "target")
		_, err := Merge(t.Context(), selected(p), []string{source}, toyConfig(target, experiment.Smoke, p))
		var config *ConfigError
		if !errors.As(err, &config) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), source) {
			t.Errorf("%s: got %v, want %q", source, err, want)
		}
		if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the target was made: %v", source, err)
		}
	}
	cfg := toyConfig(t.TempDir(), experiment.Smoke, p)
	cfg.Shard = Shard{0, 2}
	if _, err := Merge(t.Context(), selected(p), nil, cfg); err == nil {
		t.Error("no error for a merge of one shard")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Merge(ctx, selected(p), shards(t, experiment.Smoke, p, 1), toyConfig(t.TempDir(), experiment.Smoke, p)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestMergeFullDisk keeps what was copied and says what could not be.
func TestMergeFullDisk(t *testing.T) {
	p := toyPaper(toySpec(nil))
	source := shards(t, experiment.Smoke, p, 1)[0]
	target := t.TempDir()
	cfg := toyConfig(target, experiment.Smoke, p)
	jobs := Jobs(p.Experiments[0], experiment.Smoke, 2, 1, nil)
	// A folder in the way of the last job's file stands for the full disk.
	if err := os.MkdirAll(openStore(target).cellPath("toy/lines", jobs[7].ID), 0o755); err != nil {
		t.Fatal(err)
	}
	m, err := Merge(t.Context(), selected(p), []string{source}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if m.Err == nil || !strings.Contains(m.Err.Error(), "could not be copied") || m.Result != nil {
		t.Errorf("got %v, result %v", m.Err, m.Result)
	}
	if n := valid(t, openStore(target), p.Experiments[0]); n != 7 {
		t.Errorf("%d jobs are complete, want 7", n)
	}
}
