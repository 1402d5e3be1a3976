package harness

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
)

func TestFoldersFor(t *testing.T) {
	tests := []struct {
		scale experiment.Scale
		dir   string
		want  Folders
	}{
		{experiment.Smoke, "", Folders{"out/smoke", "", "out/smoke", "out/smoke/report.html"}},
		{experiment.Full, "", Folders{"results", "results", "out/full", "out/full/report.html"}},
		{experiment.Smoke, "d", Folders{"d", "", "d", "d/report.html"}},
		{experiment.Full, "d", Folders{"d", "d", "d/draft", "d/report.html"}},
	}
	for _, tt := range tests {
		want := Folders{filepath.FromSlash(tt.want.Store), filepath.FromSlash(tt.want.Published), filepath.FromSlash(tt.want.Drafts), filepath.FromSlash(tt.want.Report)}
		if got := FoldersFor(tt.scale, tt.dir); got != want {
			t.Errorf("%s %q: got %+v, want %+v", tt.scale, tt.dir, got, want)
		}
	}
}

func TestFullPublishes(t *testing.T) {
	dir := t.TempDir()
	p := toyPaper(toySpec(nil))
	res := mustRun(t, toyConfig(dir, experiment.Full, p))
	o := res.Outcomes[0]
	if !o.Published || o.Watermark != "" || o.Dir != filepath.Join(dir, "toy", "lines") || o.Done != 24 {
		t.Errorf("outcome %+v", o)
	}
	if v := o.Claims[0].Finding.Verdict; v != judge.Reproduced {
		t.Errorf("claim is %s", v)
	}
	m, _, err := readMeta(o.Dir)
	if err != nil || m.State != statePublished || m.TableSHA256 != sum([]byte(mustRead(t, o.Dir, tableFile))) ||
		m.Trials != 6 || m.Command != "metriclab run toy/lines --scale full" {
		t.Errorf("meta %+v, %v", m, err)
	}
	if card := mustRead(t, dir, "README.md"); !strings.Contains(card, "**reproduced**") {
		t.Errorf("scorecard:\n%s", card)
	}
}

// TestDraftsOfFull runs what must never be published.
func TestDraftsOfFull(t *testing.T) {
	for name, tt := range map[string]struct {
		change    func(*Config)
		watermark string
	}{
		"fewer trials": {func(c *Config) { c.Trials = 5 }, "5 of 6 trials, incomplete: 20 of 24 jobs"},
		"some cells":   {func(c *Config) { c.Cells = []string{"a", "b"} }, "cells a, b only, incomplete: 12 of 24 jobs"},
		"other seed":   {func(c *Config) { c.Seed = 2 }, "base seed 2"},
	} {
		dir := t.TempDir()
		p := toyPaper(toySpec(nil))
		cfg := toyConfig(dir, experiment.Full, p)
		tt.change(&cfg)
		o := mustRun(t, cfg).Outcomes[0]
		if o.Published || o.Watermark != tt.watermark || o.Dir != filepath.Join(dir, "draft", "toy", "lines") {
			t.Errorf("%s: published %v in %s, %q", name, o.Published, o.Dir, o.Watermark)
		}
		if f := o.Claims[0].Finding; f.Verdict != judge.NotGraded || !strings.Contains(f.Reason, tt.watermark) {
			t.Errorf("%s: claim %+v", name, f)
		}
		for file := range snapshot(t, dir) {
			if strings.HasPrefix(file, "toy") || file == "README.md" {
				t.Errorf("%s: wrote %s", name, file)
			}
		}
		if md := mustRead(t, o.Dir, "text.md"); !strings.Contains(md, tt.watermark) {
			t.Errorf("%s: no watermark in\n%s", name, md)
		}
		// The plain run goes on from there and publishes.
		if o := mustRun(t, toyConfig(dir, experiment.Full, p)).Outcomes[0]; !o.Published || name != "other seed" && o.Ran >= 24 {
			t.Errorf("%s: then published %v with %d jobs run", name, o.Published, o.Ran)
		}
	}
}

// TestFreshClone has the published files, but no cells and no data: all jobs
// count as done, and a run changes no file.
func TestFreshClone(t *testing.T) {
	dir := t.TempDir()
	p := toyPaper(toySpec(nil))
	mustRun(t, toyConfig(dir, experiment.Full, p))
	clone := t.TempDir()
	want := snapshot(t, dir)
	for name, content := range want {
		if err := atomicfile.Write(filepath.Join(clone, name), []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	before := modTimes(t, clone)
	o := mustRun(t, toyConfig(clone, experiment.Full, p)).Outcomes[0]
	if o.Ran != 0 || !o.Published || o.Done != 24 {
		t.Errorf("%d ran, %d done, published %v", o.Ran, o.Done, o.Published)
	}
	sameFiles(t, snapshot(t, clone), want)
	for name, at := range modTimes(t, clone) {
		if !at.Equal(before[name]) {
			t.Errorf("%s was written again", name)
		}
	}

	// More trials than the default are published; a later plain run keeps them.
	cfg := toyConfig(clone, experiment.Full, p)
	cfg.Trials = 8
	if o = mustRun(t, cfg).Outcomes[0]; o.Ran != 8 || !o.Published || o.meta.Trials != 8 || o.meta.Runs[0].Jobs != 32 {
		t.Errorf("8 trials: %d ran, published %v, meta %+v", o.Ran, o.Published, o.meta)
	}
	want = snapshot(t, clone)
	if o = mustRun(t, toyConfig(clone, experiment.Full, p)).Outcomes[0]; o.Ran != 0 || o.Jobs != 32 || o.meta.Command != "metriclab run toy/lines --scale full --trials 8" {
		t.Errorf("then: %d ran of %d, %s", o.Ran, o.Jobs, o.meta.Command)
	}
	sameFiles(t, snapshot(t, clone), want)
}

// TestHolesNeverReplace bumps the version of a published experiment: until all
// jobs of the new version are done, the old table stays.
func TestHolesNeverReplace(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, toyConfig(dir, experiment.Full, toyPaper(toySpec(nil))))
	old := mustRead(t, dir, "toy", "lines", tableFile)

	s := toySpec(func(_ context.Context, cell string, trial int) error {
		if cell == "d" && trial == 5 {
			return errors.New("no")
		}
		return nil
	})
	s.Version = 2
	p := toyPaper(s)
	res, err := Run(t.Context(), selected(p), toyConfig(dir, experiment.Full, p))
	if err != nil {
		t.Fatal(err)
	}
	if o := res.Outcomes[0]; o.Published || o.Watermark != "incomplete: 23 of 24 jobs" {
		t.Errorf("published %v, %q", o.Published, o.Watermark)
	}
	if mustRead(t, dir, "toy", "lines", tableFile) != old {
		t.Error("the table was replaced")
	}
	if card := mustRead(t, dir, "README.md"); !strings.Contains(card, "**reproduced** (stale)") || !strings.Contains(mustRead(t, dir, "toy", "lines", "README.md"), "**Stale:**") {
		t.Errorf("scorecard:\n%s", card)
	}
	s.Trial = toySpec(nil).Trial
	p = toyPaper(s)
	if o := mustRun(t, toyConfig(dir, experiment.Full, p)).Outcomes[0]; !o.Published || o.Ran != 1 {
		t.Errorf("after the repair: published %v, %d ran", o.Published, o.Ran)
	}
	if mustRead(t, dir, "toy", "lines", tableFile) == old {
		t.Error("the complete new table was not published")
	}
}

// TestDamagedPublishedTable runs the jobs again.
func TestDamagedPublishedTable(t *testing.T) {
	dir, clone := t.TempDir(), t.TempDir()
	p := toyPaper(toySpec(nil))
	mustRun(t, toyConfig(dir, experiment.Full, p))
	table, meta := mustRead(t, dir, "toy", "lines", tableFile), mustRead(t, dir, "toy", "lines", metaFile)
	lines := strings.SplitAfter(table, "\n")
	for name, damaged := range map[string]string{
		"no number": strings.Replace(table, "+Inf", "much", 1), "columns": strings.Replace(table, "odd", "even", 1),
		"cut": table[:len(table)/2], "cut at a line": strings.Join(lines[:len(lines)/2], ""), "no meta": table,
		"not parsed, but vouched for": "nonsense",
	} {
		vouched := strings.Replace(meta, sum([]byte(table)), sum([]byte(damaged)), 1)
		for file, data := range map[string]string{tableFile: damaged, metaFile: meta} {
			switch {
			case file == metaFile && name == "no meta":
				data = "{}"
			case file == metaFile && strings.HasPrefix(name, "not parsed"):
				data = resealed(func(string) string { return vouched })("")
			}
			if err := atomicfile.Write(filepath.Join(clone, "toy", "lines", file), []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		st, err := Stand(t.Context(), selected(p), toyConfig(clone, experiment.Full, p))
		if err != nil {
			t.Fatal(err)
		}
		if st[0].Problem == "" || st[0].ToRun != 24 || st[0].Published {
			t.Errorf("%s: %+v", name, st[0])
		}
	}
	if o := mustRun(t, toyConfig(clone, experiment.Full, p)).Outcomes[0]; !o.Published {
		t.Error("not published")
	}
	if mustRead(t, clone, "toy", "lines", tableFile) != table {
		t.Error("the repaired table differs")
	}
}

func TestForce(t *testing.T) {
	dir := t.TempDir()
	p := toyPaper(toySpec(nil))
	mustRun(t, toyConfig(dir, experiment.Full, p))
	want := snapshot(t, dir)
	cfg := toyConfig(dir, experiment.Full, p)
	cfg.Force = true
	if o := mustRun(t, cfg).Outcomes[0]; o.Ran != 24 || !o.Published {
		t.Errorf("%d ran, published %v", o.Ran, o.Published)
	}
	sameFiles(t, snapshot(t, dir), want)
}

func TestConfigErrors(t *testing.T) {
	published := t.TempDir()
	p := toyPaper(toySpec(nil))
	mustRun(t, toyConfig(published, experiment.Full, p))
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"smoke over published": {func(c *Config) { c.Folders = FoldersFor(experiment.Smoke, published) }, "holds published full-scale results"},
		"unknown cell":         {func(c *Config) { c.Cells = []string{"c, quotet"} }, `unknown cell "c, quotet": did you mean c, quoted?`},
		"negative trials":      {func(c *Config) { c.Trials = -1 }, "trials -1, want at least 1"},
	} {
		cfg := toyConfig(t.TempDir(), experiment.Smoke, p)
		tt.change(&cfg)
		if _, err := Run(t.Context(), selected(p), cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// TestMissingData fails before any job runs, also those that need no data.
func TestMissingData(t *testing.T) {
	ran := false
	s := toySpec(func(context.Context, string, int) error { ran = true; return nil })
	changeCell(func(c *experiment.Cell) { c.Dataset = "mnist" })(&s)
	p := toyPaper(s)
	cfg := toyConfig(t.TempDir(), experiment.Full, p)
	cfg.Data = datasets.Open(t.TempDir())
	_, err := Run(t.Context(), selected(p), cfg)
	var missing *datasets.MissingError
	if !errors.As(err, &missing) || missing.Dataset != "mnist" || ran {
		t.Errorf("got %v, ran %v", err, ran)
	}
	cfg.Data = nil
	if _, err := Run(t.Context(), selected(p), cfg); err == nil {
		t.Error("no data store: no error")
	}
}
