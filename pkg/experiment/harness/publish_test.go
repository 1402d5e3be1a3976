package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// TestBrokenViewOrClaim publishes nothing, says what is wrong, and still
// delivers the rest as a draft.
func TestBrokenViewOrClaim(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*experiment.Spec)
		want   string
	}{
		"view returns an error": {func(s *experiment.Spec) {
			s.Views[0].Draw = func(*table.Table) (plots.Drawing, error) { return plots.Drawing{}, errors.New("no ink") }
		}, "view plot: no ink"},
		"view panics": {func(s *experiment.Spec) {
			s.Views[0].Draw = func(*table.Table) (plots.Drawing, error) { panic("no paper") }
		}, "view plot: panic: no paper"},
		"view is empty": {func(s *experiment.Spec) {
			s.Views[0].Draw = func(*table.Table) (plots.Drawing, error) { return plots.Drawing{}, nil }
		}, "view plot: plots: the drawing has neither"},
		"claim returns an error": {func(s *experiment.Spec) {
			s.Claims[0].Test = func(*table.Table) judge.Test { judge.Refuse("no unit"); return nil }
		}, "claim positive: no unit"},
		"claim panics": {func(s *experiment.Spec) {
			s.Claims[0].Test = func(*table.Table) judge.Test { panic("no mean") }
		}, "claim positive: panic: no mean"},
	} {
		dir := t.TempDir()
		s := withPlot(toySpec(nil))
		tt.change(&s)
		p := toyPaper(s)
		res, err := Run(t.Context(), selected(p), toyConfig(dir, experiment.Full, p))
		if err != nil {
			t.Fatal(err)
		}
		o := res.Outcomes[0]
		if res.OK() || o.Published || o.Err == nil || !strings.Contains(o.Err.Error(), tt.want) {
			t.Errorf("%s: published %v, %v", name, o.Published, o.Err)
		}
		if got := mustRead(t, dir, "draft", "toy", "lines", "text.md"); !strings.Contains(got, "Rows.") {
			t.Errorf("%s: the other view:\n%s", name, got)
		}
		if html := mustRead(t, res.Report); !strings.Contains(html, strings.Split(tt.want, ": ")[1]) {
			t.Errorf("%s: the report does not say it", name)
		}
		if _, ok := snapshot(t, dir)["toy/lines/"+metaFile]; ok {
			t.Errorf("%s: published", name)
		}
	}
}

// TestPublishInterrupted leaves a table beside the meta.json of an older one,
// as a kill between the two does; the next run heals it and counts all jobs.
func TestPublishInterrupted(t *testing.T) {
	dir := t.TempDir()
	p := toyPaper(toySpec(nil))
	mustRun(t, toyConfig(dir, experiment.Full, p))
	oldMeta := mustRead(t, dir, "toy", "lines", metaFile)
	cfg := toyConfig(dir, experiment.Full, p)
	cfg.Trials = 7
	mustRun(t, cfg)
	want := snapshot(t, dir)
	journal := filepath.Join(dir, "toy", "lines", publishingFile)
	if _, err := os.Stat(journal); err == nil {
		t.Error("the journal is left over")
	}
	for path, data := range map[string]string{
		filepath.Join(dir, "toy", "lines", metaFile): oldMeta, journal: sum([]byte(mustRead(t, dir, "toy", "lines", tableFile))),
	} {
		if err := atomicfile.Write(path, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := Stand(t.Context(), selected(p), toyConfig(dir, experiment.Full, p)); err != nil || st[0].Published {
		t.Errorf("a table without its meta.json counts as published: %v", err)
	}
	mustRun(t, toyConfig(dir, experiment.Full, p))
	sameFiles(t, snapshot(t, dir), want)
	if _, err := os.Stat(journal); err == nil {
		t.Error("the journal is left over")
	}
}
