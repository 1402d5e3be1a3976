package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"metriclab/internal/atomicfile"
	"metriclab/internal/cores"
	"metriclab/internal/cpushare"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// childDir tells a re-executed test binary to run the toy at full scale into
// that folder instead of the tests; childLimit also limits the size of files,
// and childShard is the shard to run.
const (
	childDir   = "METRICLAB_TEST_RUN_INTO"
	childLimit = "METRICLAB_TEST_FILE_LIMIT"
	childShard = "METRICLAB_TEST_SHARD"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir))
	}
	atomicfile.WithoutSync() // these tests write thousands of files and pull no plug
	os.Exit(m.Run())
}

func child(dir string) int {
	slow := toySpec(func(context.Context, string, int) error {
		time.Sleep(2 * time.Millisecond) // so that a kill hits jobs at work
		return nil
	})
	if os.Getenv(childLimit) != "" {
		if err := limitFiles(300); err != nil {
			return 3
		}
	}
	p := toyPaper(withPlot(slow))
	cfg := toyConfig(dir, experiment.Full, p)
	if s := os.Getenv(childShard); s != "" {
		var err error
		if cfg.Shard, err = ParseShard(s); err != nil {
			return 3
		}
	}
	res, err := Run(context.Background(), selected(p), cfg)
	switch {
	case err != nil:
		fmt.Println(err)
		return 4
	case res.StoreErr != nil:
		fmt.Println(res.StoreErr)
		return 5
	case !res.OK():
		return 6
	}
	return 0
}

func childCommand(t *testing.T, dir string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), append(env, childDir+"="+dir)...)
	return c
}

func TestRunSmoke(t *testing.T) {
	dir := t.TempDir()
	p := toyPaper(withPlot(toySpec(nil)))
	res := mustRun(t, toyConfig(dir, experiment.Smoke, p))
	o := res.Outcomes[0]
	if o.Published || o.Jobs != 8 || o.Done != 8 || o.Ran != 8 || o.Watermark != "smoke scale, not a result" {
		t.Errorf("outcome %+v", o)
	}
	if v := o.Claims[0].Finding.Verdict; v != judge.NotGraded {
		t.Errorf("a smoke claim is %s", v)
	}
	files := slices.Sorted(maps.Keys(snapshot(t, dir)))
	want := []string{"report.html", "toy/lines/claims.json", "toy/lines/meta.json", "toy/lines/plot.md", "toy/lines/plot.png", "toy/lines/plot.svg", "toy/lines/table.csv", "toy/lines/text.md", "toy/lines/timing.csv"}
	if !slices.Equal(files, want) {
		t.Errorf("files %q, want %q", files, want)
	}
	tab, err := ReadTable(p.Experiments[0], filepath.Join(dir, "toy", "lines"))
	if err != nil {
		t.Fatal(err)
	}
	if tab.Len() != 8*3 || tab.Index("cell")[0] != "a" || tab.Index("trial")[3] != "1" || tab.Index("job")[0] != Jobs(p.Experiments[0], experiment.Smoke, 1, 1, nil)[0].ID[:16] {
		t.Errorf("table of %d rows", tab.Len())
	}

	// The second run has nothing to do and changes no file.
	before := modTimes(t, dir)
	if res = mustRun(t, toyConfig(dir, experiment.Smoke, p)); res.Outcomes[0].Ran != 0 {
		t.Errorf("second run: %d jobs ran", res.Outcomes[0].Ran)
	}
	if after := modTimes(t, dir); !maps.Equal(before, after) {
		t.Errorf("files were written again: %v, %v", before, after)
	}
}

func modTimes(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	out := map[string]time.Time{}
	for name := range snapshot(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = info.ModTime()
	}
	return out
}

func TestRunOrderAndWorkersDoNotMatter(t *testing.T) {
	var want map[string]string
	for _, workers := range []int{1, 4} {
		for _, reverse := range []bool{false, true} {
			dir := t.TempDir()
			var mu sync.Mutex
			delay := 8 * time.Millisecond
			s := toySpec(func(context.Context, string, int) error {
				if reverse { // later jobs end earlier
					mu.Lock()
					d := delay
					delay -= time.Millisecond
					mu.Unlock()
					time.Sleep(max(d, 0))
				}
				return nil
			})
			p := toyPaper(s)
			cfg := toyConfig(dir, experiment.Smoke, p)
			cfg.Workers = workers
			mustRun(t, cfg)
			got := snapshot(t, dir)
			if want == nil {
				want = got
			}
			sameFiles(t, got, want)
		}
	}
}

func TestCollectEqualsRun(t *testing.T) {
	dir := t.TempDir()
	s := toySpec(nil)
	mustRun(t, toyConfig(dir, experiment.Smoke, toyPaper(s)))
	got, err := Collect(t.Context(), s, &experiment.Env{Scale: experiment.Smoke}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := got.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	if b.String() != mustRead(t, dir, "toy", "lines", "table.csv") {
		t.Error("Collect and Run differ")
	}
}

func TestRunFailures(t *testing.T) {
	dir := t.TempDir()
	broken := true
	s := toySpec(func(_ context.Context, cell string, trial int) error {
		switch {
		case broken && cell == "b" && trial == 0:
			panic("the trial's own fault")
		case broken && cell == "c, quoted":
			return errors.New("no convergence")
		}
		return nil
	})
	noRows := toySpec(nil)
	noRows.ID, noRows.Cells = "toy/norows", func(experiment.Scale) []experiment.Cell { return []experiment.Cell{{Name: "x"}} }
	noRows.Trial = func(ctx context.Context, run *experiment.Run) error {
		return nil
	}
	columns := noRows
	columns.ID = "toy/columns"
	columns.Trial = func(ctx context.Context, run *experiment.Run) error {
		run.Rows.Add(nil, table.Values{"z": 1})
		return nil
	}
	p := toyPaper(s, noRows, columns)
	cfg := toyConfig(dir, experiment.Smoke, p)
	res, err := Run(t.Context(), selected(p), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if res.OK() || len(res.Failed) != 3+2+2 || res.NotRun != 0 {
		t.Fatalf("%d failed, %d not run", len(res.Failed), res.NotRun)
	}
	byExperiment := map[string]string{}
	for _, f := range res.Failed {
		byExperiment[f.Experiment] += f.Err.Error() + "\n"
		if strings.HasPrefix(f.Err.Error(), "panic") && !strings.Contains(f.Stack, "run_test.go") {
			t.Errorf("stack of the panic:\n%s", f.Stack)
		}
		stored, ok := openStore(cfg.Folders.Store).failed(f.ID)
		if !ok || stored.Error != f.Err.Error() || stored.Attempt != 1 {
			t.Errorf("stored failure %+v", stored)
		}
	}
	if s := byExperiment["toy/lines"]; !strings.Contains(s, "panic: the trial's own fault") || strings.Count(s, "no convergence") != 2 {
		t.Errorf("toy/lines: %s", s)
	}
	if s := byExperiment["toy/norows"]; !strings.Contains(s, "no rows") {
		t.Errorf("toy/norows: %s", s)
	}
	if s := byExperiment["toy/columns"]; !strings.Contains(s, `no value column "z"`) {
		t.Errorf("toy/columns: %s", s)
	}
	o := res.Outcomes[0]
	if o.Done != 5 || o.Watermark != "smoke scale, not a result, incomplete: 5 of 8 jobs" {
		t.Errorf("outcome %d done, %q", o.Done, o.Watermark)
	}
	// Cells in any order, since jobs end in any order.
	again := res.RerunCommands(cfg)[0]
	if !strings.HasPrefix(again, "metriclab run toy/lines --cell ") || !strings.Contains(again, " --cell b") || !strings.Contains(again, " --cell 'c, quoted'") {
		t.Errorf("command %q", again)
	}

	broken = false
	cfg.Cells = []string{"b", "c, quoted"}
	one := toyPaper(s)
	cfg.Papers = []experiment.Paper{one}
	if res = mustRun(t, cfg); res.Outcomes[0].Ran != 3 || res.Outcomes[0].Done != 8 {
		t.Errorf("after the repair: %+v", res.Outcomes[0])
	}
	for _, job := range Jobs(s, experiment.Smoke, 2, 1, nil) {
		if _, ok := openStore(cfg.Folders.Store).failed(job.ID); ok {
			t.Error("a failure is left of a job that has succeeded")
		}
	}
}

func TestRunInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var ran atomic.Int32
	s := toySpec(func(ctx context.Context, _ string, _ int) error {
		if ran.Add(1) == 3 {
			cancel()
		}
		return ctx.Err() // the third is told in the middle
	})
	p := toyPaper(s)
	cfg := toyConfig(dir, experiment.Smoke, p)
	cfg.Workers = 1
	res, err := Run(ctx, selected(p), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Interrupted || len(res.Failed) != 0 || res.NotRun != 6 || res.Report != "" {
		t.Errorf("interrupted %v, %d failed, %d not run", res.Interrupted, len(res.Failed), res.NotRun)
	}
	res = mustRun(t, cfg)
	if o := res.Outcomes[0]; o.Ran != 6 || o.Done != 8 {
		t.Errorf("resumed: %d ran, %d done", o.Ran, o.Done)
	}
}

func TestRunKilled(t *testing.T) {
	whole := t.TempDir()
	mustRun(t, toyConfig(whole, experiment.Full, toyPaper(withPlot(toySpec(nil)))))
	want := snapshot(t, whole)

	// The moments to kill at: as soon as so many cells are stored, or as soon as
	// a file of the publication is there.
	stored := func(n int) func(dir string) bool {
		return func(dir string) bool {
			cells, _ := filepath.Glob(filepath.Join(dir, ".cells", "*", "*", "*", "*.json"))
			return len(cells) >= n
		}
	}
	written := func(name string) func(dir string) bool {
		return func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, "toy", "lines", name))
			return err == nil
		}
	}
	for name, when := range map[string]func(dir string) bool{
		"at once": stored(0), "first cell": stored(1), "half": stored(12), "one left": stored(23), "all cells": stored(24),
		"table": written(tableFile), "timing": written(timingFile), "figure": written("plot.svg"), "meta": written(metaFile),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := childCommand(t, dir)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); !when(dir); time.Sleep(100 * time.Microsecond) {
				if time.Now().After(deadline) {
					t.Fatal("the moment did not come")
				}
			}
			if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			_ = c.Wait() // killed, or done already

			// Whatever is there is complete.
			s := withPlot(toySpec(nil))
			st := openStore(dir)
			cells, err := filepath.Glob(filepath.Join(dir, ".cells", "*", "*", "*", "*.json"))
			if err != nil || valid(t, st, s) != len(cells) {
				t.Errorf("%d cell files, of which %d are valid, %v", len(cells), valid(t, st, s), err)
			}
			for name, content := range snapshot(t, dir) {
				if content != want[name] {
					t.Errorf("%s is half-written", name)
				}
			}
			res := mustRun(t, toyConfig(dir, experiment.Full, toyPaper(s)))
			if o := res.Outcomes[0]; !o.Published || o.Ran != 24-len(cells) {
				t.Errorf("resumed with %d cells: %d ran, published %v", len(cells), o.Ran, o.Published)
			}
			sameFiles(t, snapshot(t, dir), want)
		})
	}
}

// snapshotAll lists all files below a folder, hidden ones too.
func snapshotAll(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRunStoreFails stops at the first write error, and says that the others
// did not run.
func TestRunStoreFails(t *testing.T) {
	p := toyPaper(toySpec(nil))
	cfg := toyConfig(t.TempDir(), experiment.Smoke, p)
	cfg.Workers = 1
	full := errors.New("no space left on device")
	puts := 0
	r := &runner{cfg: &cfg, store: openStore(cfg.Folders.Store), result: &Result{}, meter: cpushare.New(cfg.World.processCPU), left: map[*plan]int{}, wall: map[*plan]time.Duration{}, count: map[*plan]int{}}
	r.store.write = func(path string, data []byte) error {
		if puts++; puts == 3 {
			return full
		}
		return atomicfile.Write(path, data)
	}
	pl, err := cfg.plan(t.Context(), selected(p)[0])
	if err != nil {
		t.Fatal(err)
	}
	var tasks []task
	for _, i := range pl.pending {
		tasks = append(tasks, task{pl, pl.jobs[i]})
	}
	o := &Outcome{Spec: pl.Spec}
	r.left[pl] = len(tasks)
	r.pool(t.Context(), tasks, 1, map[*plan]*Outcome{pl: o})
	if !errors.Is(r.result.StoreErr, full) || len(r.result.Failed) != 1 || o.Ran < 2 || o.Ran+1+r.result.NotRun != len(tasks) {
		t.Errorf("store error %v, %d failed, %d ran, %d not run", r.result.StoreErr, len(r.result.Failed), o.Ran, r.result.NotRun)
	}
}

func TestRunUnwritable(t *testing.T) {
	ran := false
	p := toyPaper(toySpec(func(context.Context, string, int) error { ran = true; return nil }))
	// A file in the way stands for a folder without permission, which does not
	// stop root.
	dir := filepath.Join(t.TempDir(), "file")
	if err := atomicfile.Write(dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), selected(p), toyConfig(dir, experiment.Smoke, p)); err == nil || !strings.Contains(err.Error(), "results folder") {
		t.Errorf("got %v", err)
	}
	if runtime.GOOS != "windows" && os.Getuid() != 0 { // Windows has no such permissions
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), selected(p), toyConfig(dir, experiment.Smoke, p)); err == nil {
			t.Error("no error for a folder without permission")
		}
	}
	if ran {
		t.Error("a job ran before the folder was checked")
	}
}

func TestRunEvents(t *testing.T) {
	s := toySpec(func(_ context.Context, cell string, trial int) error {
		if cell == "a" && trial == 1 {
			return errors.New("no")
		}
		return nil
	})
	p := toyPaper(s)
	cfg := toyConfig(t.TempDir(), experiment.Full, p)
	cfg.Trials, cfg.Workers = 2, 1
	var got []string
	var lefts []time.Duration
	var last Event
	cfg.Progress = func(e Event) {
		got = append(got, fmt.Sprintf("%s %s %d/%d", e.Kind, e.Cell, e.Ended, e.Total))
		lefts, last = append(lefts, e.Left), e
	}
	if _, err := Run(t.Context(), selected(p), cfg); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range got {
		kind, _, _ := strings.Cut(e, " ")
		count[kind]++
	}
	if want := map[string]int{"planned": 1, "started": 8, "finished": 7, "failed": 1, "drawn": 1}; !maps.Equal(count, want) {
		t.Errorf("events %v, want %v", count, want)
	}
	if got[0] != "planned  0/8" || got[len(got)-1] != "drawn  8/8" {
		t.Errorf("first %q, last %q", got[0], got[len(got)-1])
	}
	if last.Drawn != 1 || last.ToDraw != 1 {
		t.Errorf("%d of %d experiments drawn, want 1 of 1", last.Drawn, last.ToDraw)
	}
	if lefts[0] != 8*time.Second || lefts[len(lefts)-1] != 0 {
		t.Errorf("expected time: first %v, want 8 jobs of 1s; last %v, want 0", lefts[0], lefts[len(lefts)-1])
	}
}

func TestRunTimingRunsOneByOne(t *testing.T) {
	var now, most atomic.Int32
	s := toySpec(func(context.Context, string, int) error {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(time.Millisecond)
		now.Add(-1)
		return nil
	})
	s.Timing = true
	cfg := toyConfig(t.TempDir(), experiment.Smoke, toyPaper(s))
	cfg.Workers = 4
	mustRun(t, cfg)
	if most.Load() != 1 {
		t.Errorf("%d timing jobs at once", most.Load())
	}
}

// A job leaves the cores that no other job uses to its learner; where the result is time it leaves none.
func TestRunCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, timing := range []bool{false, true} {
		var begun, read sync.WaitGroup // by the two jobs of the first cell
		begun.Add(2)
		read.Add(2)
		s := toySpec(func(_ context.Context, cell string, _ int) error {
			got, want := cores.Idle(), 0
			if !timing {
				if cell != "a" {
					return nil
				}
				begun.Done()
				begun.Wait()
				got, want = cores.Idle(), 1
				read.Done()
				read.Wait()
			}
			if got != want {
				t.Errorf("timing %v: %d cores idle for a learner, want %d", timing, got, want)
			}
			return nil
		})
		s.Timing = timing
		cfg := toyConfig(t.TempDir(), experiment.Smoke, toyPaper(s))
		cfg.Workers = 2
		mustRun(t, cfg)
	}
	if got := cores.Idle(); got != 2 {
		t.Errorf("%d cores idle after the runs, want 2", got)
	}
}

func TestRunTimesAndManifest(t *testing.T) {
	dir := t.TempDir()
	p := toyPaper(toySpec(nil))
	cfg := toyConfig(dir, experiment.Smoke, p)
	cfg.Workers = 1
	// A clock that goes on by a second, and a CPU clock by half a second, each
	// time they are read: start, lap, end of lap, end.
	clock, cpu := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Duration(0)
	var mu sync.Mutex
	cfg.World = World{
		Now:        func() time.Time { mu.Lock(); defer mu.Unlock(); clock = clock.Add(time.Second); return clock },
		ProcessCPU: func() time.Duration { mu.Lock(); defer mu.Unlock(); cpu += time.Second / 2; return cpu },
		Build:      Build{Revision: "abc", Cores: 2}, Host: "host", PID: 7, Args: []string{"metriclab", "run"},
		PeakRSSKiB: func() int64 { return 99 },
	}
	mustRun(t, cfg)
	if html := mustRead(t, dir, "report.html"); !strings.Contains(html, "<td>99 KiB</td>") {
		t.Error("the report lacks the peak of memory")
	}
	tab, err := table.ReadCSV(strings.NewReader(mustRead(t, dir, "toy", "lines", "timing.csv")), "timing", []string{"job", "cell", "trial", "phase"}, []string{"wall_s", "cpu_s"})
	if err != nil {
		t.Fatal(err)
	}
	if tab.Len() != 16 {
		t.Fatalf("%d rows, want 2 per job", tab.Len())
	}
	if tab.Index("phase")[0] != "whole" || tab.Values("wall_s")[0] != 1 || tab.Values("cpu_s")[0] != 0.5 {
		t.Errorf("first phase %s %v %v", tab.Index("phase")[0], tab.Values("wall_s")[0], tab.Values("cpu_s")[0])
	}
	if tab.Index("phase")[1] != "total" || tab.Values("wall_s")[1] != 3 || tab.Values("cpu_s")[1] != 1.5 {
		t.Errorf("total %s %v %v", tab.Index("phase")[1], tab.Values("wall_s")[1], tab.Values("cpu_s")[1])
	}
	m, _, err := readMeta(filepath.Join(dir, "toy", "lines"))
	if err != nil {
		t.Fatal(err)
	}
	if m.WallS != 8*3 || m.CPUS != 8*1.5 || len(m.Runs) != 1 || m.Runs[0].Jobs != 8 || m.Runs[0].Revision != "abc" || m.Runs[0].PeakRSSKiB != 99 {
		t.Errorf("meta %+v", m)
	}
	if m.Params["noise"] != "small" || m.Params["slope"] != "" || m.Cells[1].Params["slope"] != "1" || m.Methods["line"] != 1 {
		t.Errorf("parameters %v, cell %v", m.Params, m.Cells[1])
	}
	paths, err := filepath.Glob(filepath.Join(dir, ".runs", "20260102T0304*Z-host-7.json"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("manifests %q, %v", paths, err)
	}
	var man runManifest
	if err := json.Unmarshal([]byte(mustRead(t, paths[0])), &man); err != nil {
		t.Fatal(err)
	}
	if man.Ran != 8 || man.Workers != 1 || man.Args[1] != "run" || man.Experiments[0] != "toy/lines" || man.WallS <= 0 {
		t.Errorf("manifest %+v", man)
	}
}

// A system that does not tell the peak of memory has no peak of 0 KiB.
func TestPeakUnknown(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, toyConfig(dir, experiment.Smoke, toyPaper(toySpec(nil))))
	if html := mustRead(t, dir, "report.html"); strings.Contains(html, "<td>0 KiB</td>") || !strings.Contains(html, "<td>unknown</td>") {
		t.Error("the report does not say that the peak of memory is unknown")
	}
}

func TestLapsAddUp(t *testing.T) {
	clock := time.Unix(0, 0)
	l := &laps{now: func() time.Time { clock = clock.Add(time.Second); return clock }, cpu: func() time.Duration { return 0 }}
	l.start("a")()
	end := l.start("b")
	l.start("a")()
	end()
	want := []phaseTime{{"a", 2, 0}, {"b", 3, 0}}
	if !slices.Equal(l.phases, want) {
		t.Errorf("got %v, want %v", l.phases, want)
	}
}

// A part that is missing is named before anything runs or is written; experiment.TestCheck has all parts.
func TestRunNamesMissingParts(t *testing.T) {
	dir := t.TempDir()
	for name, change := range map[string]func(*experiment.Spec, *Config){
		"experiment: toy/lines: it lacks Cells: write func(experiment.Scale) []experiment.Cell":       func(s *experiment.Spec, _ *Config) { s.Cells = nil },
		"experiment: toy/lines: it lacks Trials: write how many":                                      func(s *experiment.Spec, _ *Config) { s.Trials = nil },
		"experiment: toy/lines: it lacks Trial: write func(ctx context.Context, run *experiment.Run)": func(s *experiment.Spec, _ *Config) { s.Trial = nil },
		`experiment: scale "" is not allowed, want smoke or full`:                                     func(_ *experiment.Spec, c *Config) { c.Scale = "" },
	} {
		s, cfg := toySpec(nil), toyConfig(dir, experiment.Full, experiment.Paper{})
		change(&s, &cfg)
		sel := selected(toyPaper(s))
		calls := map[string]func() error{
			"Run":    func() error { _, err := Run(t.Context(), sel, cfg); return err },
			"Report": func() error { _, err := Report(t.Context(), sel, cfg); return err },
		}
		if strings.Contains(name, "toy/lines") {
			calls["Stand"] = func() error { _, err := Stand(t.Context(), sel, cfg); return err }
			calls["Pages"] = func() error { _, err := Pages(t.Context(), sel, cfg); return err }
			calls["Collect"] = func() error {
				_, err := Collect(t.Context(), s, &experiment.Env{Scale: experiment.Full}, 0, 1)
				return err
			}
		}
		for call, f := range calls {
			_, ours := errors.AsType[*ConfigError](f())
			if err := f(); !ours || !strings.HasPrefix(err.Error(), name) {
				t.Errorf("%s: error %v, want %s", call, err, name)
			}
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%d files are written, error %v", len(files), err)
	}
}
