package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// timedSpec is the toy with two laps of one name in each job, a view of the
// sum of each phase over the jobs, and a claim about it.
func timedSpec() experiment.Spec {
	s := toySpec(nil)
	s.Timing = true
	trial := s.Trial
	s.Trial = func(ctx context.Context, run *experiment.Run) error {
		for range 2 {
			run.Lap("twice")()
		}
		return trial(ctx, run)
	}
	s.Views = []experiment.View{{Name: "text", Title: "The times", DrawTimed: func(t, times *table.Table) (plots.Drawing, error) {
		text := &plots.TextTable{Head: []string{"sums"}}
		for phase, rows := range times.Group("phase") {
			if rows.Len() != len(t.Unique("job")) {
				return plots.Drawing{}, fmt.Errorf("%d times of %s", rows.Len(), phase)
			}
			text.Rows = append(text.Rows, []string{fmt.Sprintf("%s %v %v", phase, total(rows, "wall_s"), total(rows, "cpu_s"))})
		}
		return plots.Drawing{Caption: plots.Caption{Shows: "Times."}, Text: text}, nil
	}}}
	s.Claims = []experiment.Claim{{
		ID: "time", Statement: "It takes time.", Where: "Section 0", Theirs: experiment.FigureOnly, Predicate: "time > 0",
		TestTimed: func(_, times *table.Table) judge.Test {
			wall := total(times.Where("phase", experiment.TotalPhase), "wall_s")
			return judge.Shown{Test: judge.Holds(slices.Repeat([]bool{wall > 0}, 6)), Ours: fmt.Sprintf("%v s", wall)}
		},
	}}
	return s
}

func total(rows *table.Table, column string) float64 {
	s := 0.0
	for _, v := range rows.Values(column) {
		s += v
	}
	return s
}

// ticking is a World whose clock goes on by step, and whose CPU clock by half
// of it, whenever they are read. One job of timedSpec reads them eight times
// between its start and its end: it takes seven steps, "twice" two, "whole" one.
func ticking(step time.Duration) World {
	clock, cpu := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Duration(0)
	return World{
		Now:        func() time.Time { clock = clock.Add(step); return clock },
		ProcessCPU: func() time.Duration { cpu += step / 2; return cpu },
	}
}

func timedConfig(dir string, scale experiment.Scale, p experiment.Paper, step time.Duration) Config {
	cfg := toyConfig(dir, scale, p)
	cfg.World = ticking(step)
	return cfg
}

// publishTimed runs the timed toy at full scale, a second per step, and returns
// its folder.
func publishTimed(t *testing.T) (dir string, p experiment.Paper) {
	t.Helper()
	dir, p = t.TempDir(), toyPaper(timedSpec())
	if o := mustRun(t, timedConfig(dir, experiment.Full, p, time.Second)).Outcomes[0]; !o.Published || o.Ran != 24 {
		t.Fatalf("published %v, %d ran", o.Published, o.Ran)
	}
	return dir, p
}

func clone(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, ".cells")); err != nil {
		t.Fatal(err)
	}
}

func TestTimedPublished(t *testing.T) {
	dir, p := publishTimed(t)
	text := mustRead(t, dir, "toy", "lines", "text.md")
	for _, want := range []string{"twice 48 24", "whole 24 12", "total 168 84"} { // 24 jobs
		if !strings.Contains(text, want) {
			t.Errorf("the view lacks %q:\n%s", want, text)
		}
	}
	if card := mustRead(t, dir, scorecardFile); !strings.Contains(card, "| 168 s |") {
		t.Errorf("the scorecard:\n%s", card)
	}
	meta, _, err := readMeta(filepath.Join(dir, "toy", "lines"))
	if err != nil || meta.TimingSHA256 != sum([]byte(mustRead(t, dir, "toy", "lines", timingFile))) {
		t.Errorf("meta.json vouches for %s (%v)", meta.TimingSHA256, err)
	}
	times, err := ReadTimes(p.Experiments[0], filepath.Join(dir, "toy", "lines"))
	if err != nil || times.Len() != 24*3 || times.Where("phase", "twice").Len() != 24 {
		t.Errorf("times %v, %v", times, err)
	}

	// A clone has the published files only; another clock must not show.
	want := snapshot(t, dir)
	clone(t, dir)
	for name, again := range map[string]func() (*Result, error){
		"run": func() (*Result, error) { return mustRun(t, timedConfig(dir, experiment.Full, p, time.Minute)), nil },
		"report": func() (*Result, error) {
			return Report(t.Context(), selected(p), timedConfig(dir, experiment.Full, p, time.Minute))
		},
	} {
		res, err := again()
		if err != nil || !res.OK() || res.Outcomes[0].Ran != 0 || !res.Outcomes[0].Published {
			t.Errorf("%s of a clone: %+v, %v", name, res.Outcomes[0], err)
		}
		sameFiles(t, snapshot(t, dir), want)
	}
	if st, err := Stand(t.Context(), selected(p), toyConfig(dir, experiment.Full, p)); err != nil || !st[0].Published || st[0].FromTable != 24 || st[0].Problem != "" {
		t.Errorf("status %+v, %v", st, err)
	}

	// One more trial in the clone: old times from timing.csv, new ones measured.
	cfg := timedConfig(dir, experiment.Full, p, time.Minute)
	cfg.Trials = 7
	if o := mustRun(t, cfg).Outcomes[0]; o.Ran != 4 || total(o.Times.Where("phase", experiment.TotalPhase), "wall_s") != 168+4*7*60 {
		t.Errorf("%d ran, %v s", o.Ran, total(o.Times.Where("phase", experiment.TotalPhase), "wall_s"))
	}
}

func TestTimedDraft(t *testing.T) {
	dir, p := t.TempDir(), toyPaper(timedSpec())
	o := mustRun(t, timedConfig(dir, experiment.Smoke, p, time.Second)).Outcomes[0]
	if text := mustRead(t, dir, "toy", "lines", "text.md"); !strings.Contains(text, "total 56 28") { // 8 jobs
		t.Errorf("smoke:\n%s", text)
	}
	if o.Claims[0].Finding.Verdict != judge.NotGraded || o.Times.Len() != 8*3 {
		t.Errorf("smoke: %+v, %d times", o.Claims[0].Finding, o.Times.Len())
	}
	cfg := timedConfig(t.TempDir(), experiment.Full, p, time.Second)
	cfg.Cells = []string{"a"}
	mustRun(t, cfg)
	if text := mustRead(t, cfg.Folders.Drafts, "toy", "lines", "text.md"); !strings.Contains(text, "total 42 21") { // 6 jobs
		t.Errorf("draft:\n%s", text)
	}
}

// TestTimedDamaged: jobs whose published times are not those that meta.json
// describes are not done, unless the store has them.
func TestTimedDamaged(t *testing.T) {
	path := func(dir, name string) string { return filepath.Join(dir, "toy", "lines", name) }
	edit := func(name, old, with string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			data := mustRead(t, path(dir, name))
			if !strings.Contains(data, old) {
				t.Fatalf("%s lacks %q", name, old)
			}
			if err := atomicfile.Write(path(dir, name), []byte(strings.ReplaceAll(data, old, with))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   string // in the error
	}{
		"changed": {edit(timingFile, "total,7,", "total,6,"), "it is not the timing table that meta.json describes"},
		"cut":     {edit(timingFile, "\n", ""), "it is not the timing table that meta.json describes"},
		"missing": {func(t *testing.T, dir string) {
			if err := os.Remove(path(dir, timingFile)); err != nil {
				t.Fatal(err)
			}
		}, "timing.csv: "},
		"published before it was marked Timing": {func(t *testing.T, dir string) {
			old := regexp.MustCompile(` "timing_sha256".*\n`).ReplaceAllString(unsealed(mustRead(t, path(dir, metaFile))), "")
			if err := atomicfile.Write(path(dir, metaFile), []byte(old)); err != nil {
				t.Fatal(err)
			}
		}, "it is not the timing table that meta.json describes"},
	} {
		for _, cells := range []bool{true, false} {
			dir, p := publishTimed(t)
			want := snapshot(t, dir)
			if !cells {
				clone(t, dir)
			}
			tt.damage(t, dir)
			if _, err := ReadTimes(p.Experiments[0], path(dir, "")); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: ReadTimes: %v", name, err)
			}
			done, rerun := 24, 0
			if !cells {
				done, rerun = 0, 24
			}
			st, err := Stand(t.Context(), selected(p), toyConfig(dir, experiment.Full, p))
			if err != nil || st[0].Published || st[0].Done != done || st[0].ToRun != rerun || !strings.Contains(st[0].Problem, tt.want) {
				t.Errorf("%s, cells %v: %+v, %v", name, cells, st, err)
			}
			// Report without the jobs shows nothing, and no wrong number.
			if !cells {
				res, err := Report(t.Context(), selected(p), timedConfig(dir, experiment.Full, p, time.Hour))
				if err != nil || res.Outcomes[0].Done != 0 || res.Outcomes[0].Published {
					t.Errorf("%s: report: %+v, %v", name, res.Outcomes[0], err)
				}
			}
			if o := mustRun(t, timedConfig(dir, experiment.Full, p, time.Second)).Outcomes[0]; o.Ran != rerun || !o.Published {
				t.Errorf("%s, cells %v: %d ran, published %v", name, cells, o.Ran, o.Published)
			}
			sameFiles(t, snapshot(t, dir), want)
		}
	}
}

// TestTimedInterrupted leaves what a kill in the middle of a publication
// leaves; in a clone the journal vouches for what is new.
func TestTimedInterrupted(t *testing.T) {
	dir, p := publishTimed(t)
	old := snapshot(t, dir)
	cfg := timedConfig(dir, experiment.Full, p, time.Minute)
	cfg.Force, cfg.Trials = true, 7 // other times, and more rows
	mustRun(t, cfg)
	next := snapshot(t, dir)
	in := func(name string) string { return "toy/lines/" + name }
	journal := sum([]byte(next[in(tableFile)])) + " " + sum([]byte(next[in(timingFile)]))
	for name, tt := range map[string]struct {
		table, timing map[string]string
		done          int
	}{
		"before the table":  {old, old, 24},
		"before the times":  {next, old, 24}, // the seventh trial has no times
		"before meta.json":  {next, next, 28},
		"times of a re-run": {old, next, 24},
	} {
		dir := t.TempDir()
		for file, data := range map[string]string{
			tableFile: tt.table[in(tableFile)], timingFile: tt.timing[in(timingFile)], metaFile: old[in(metaFile)], publishingFile: journal,
		} {
			if err := atomicfile.Write(filepath.Join(dir, in(file)), []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		st, err := Stand(t.Context(), selected(p), toyConfig(dir, experiment.Full, p))
		if err != nil || st[0].Done != tt.done || st[0].Problem != "" || st[0].Published != (name == "before the table") {
			t.Errorf("%s: %+v, %v", name, st, err)
		}
		o := mustRun(t, timedConfig(dir, experiment.Full, p, time.Minute)).Outcomes[0]
		wall := total(tableOf(t, tt.timing[in(timingFile)]).Where("phase", experiment.TotalPhase), "wall_s")
		if name == "times of a re-run" {
			wall = 24 * 7 * 60 // the table has no seventh trial
		}
		if got := total(o.Times.Where("phase", experiment.TotalPhase), "wall_s"); !o.Published || o.Ran != 0 || got != wall {
			t.Errorf("%s: published %v, %d ran, %v s, want %v", name, o.Published, o.Ran, got, wall)
		}
		if _, err := os.Stat(filepath.Join(dir, in(publishingFile))); err == nil {
			t.Errorf("%s: the journal is left over", name)
		}
	}
}

func tableOf(t *testing.T, csv string) *table.Table {
	t.Helper()
	times, err := parseTimes("", []byte(csv))
	if err != nil {
		t.Fatal(err)
	}
	return times
}

// TestTimedMerge: the times are those that the shards measured.
func TestTimedMerge(t *testing.T) {
	p := toyPaper(timedSpec())
	var sources []string
	for i := range 2 {
		cfg := timedConfig(t.TempDir(), experiment.Full, p, time.Second<<i) // the second machine is half as fast
		cfg.Shard = Shard{i, 2}
		mustRun(t, cfg)
		sources = append(sources, cfg.Folders.Store)
	}
	var want map[string]string
	for _, order := range [][]string{sources, {sources[1], sources[0]}} {
		dir := t.TempDir()
		o := mustMerge(t, timedConfig(dir, experiment.Full, p, time.Hour), order...).Result.Outcomes[0]
		if got := total(o.Times.Where("phase", experiment.TotalPhase), "wall_s"); !o.Published || got != 12*7+12*14 {
			t.Errorf("published %v, %v s", o.Published, got)
		}
		if !strings.Contains(mustRead(t, dir, "toy", "lines", "text.md"), "total 252 126") {
			t.Error("the view has other times")
		}
		if want == nil {
			want = snapshot(t, dir)
		}
		sameFiles(t, snapshot(t, dir), want)
		clone(t, dir)
		mustMerge(t, timedConfig(dir, experiment.Full, p, time.Hour))
		sameFiles(t, snapshot(t, dir), want)
	}
}

// TestTimedStale shows and grades published times of an earlier version.
func TestTimedStale(t *testing.T) {
	dir, _ := publishTimed(t)
	clone(t, dir)
	s := timedSpec()
	s.Version = 2
	p := toyPaper(s)
	res, err := Report(t.Context(), selected(p), timedConfig(dir, experiment.Full, p, time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	html := mustRead(t, res.Report)
	for _, want := range []string{"of an earlier version of the code", "<td>total 168 84</td>", "168 s"} {
		if !strings.Contains(html, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

// TestTimedJournal cuts a publication off before meta.json, and takes the store
// away: what the run itself has written vouches for both tables.
func TestTimedJournal(t *testing.T) {
	for _, trials := range []int{6, 7} { // other times only, and other rows, too
		dir, p := publishTimed(t)
		cfg := timedConfig(dir, experiment.Full, p, time.Minute)
		cfg.Trials, cfg.Force, cfg.Shard = trials, true, Shard{0, 1} // stores the jobs and publishes nothing
		mustRun(t, cfg)
		cfg.Force, cfg.Shard = false, Shard{}
		pl, err := cfg.plan(t.Context(), selected(p)[0])
		if err != nil {
			t.Fatal(err)
		}
		r := &runner{cfg: &cfg, store: openStore(dir), result: &Result{}}
		killed := errors.New("killed")
		r.store.write = func(path string, data []byte) error {
			if filepath.Base(path) == metaFile {
				return killed
			}
			return atomicfile.Write(path, data)
		}
		o := &Outcome{Spec: pl.Spec}
		if r.finish(pl, o); !errors.Is(o.Err, killed) {
			t.Fatalf("not cut off: %v", o.Err)
		}
		clone(t, dir)
		cfg = timedConfig(dir, experiment.Full, p, time.Hour)
		if st, err := Stand(t.Context(), selected(p), cfg); err != nil || st[0].Done != 4*trials || st[0].Published || st[0].Problem != "" {
			t.Errorf("%d trials: %+v, %v", trials, st, err)
		}
		o = mustRun(t, cfg).Outcomes[0]
		if got := total(o.Times.Where("phase", experiment.TotalPhase), "wall_s"); o.Ran != 0 || !o.Published || got != float64(4*trials*7*60) {
			t.Errorf("%d trials: %d ran, %v s", trials, o.Ran, got)
		}
	}
}
