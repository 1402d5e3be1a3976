package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/experiment"
	"metriclab/pkg/limits"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// largeSpec is a toy whose files have more than 20,000 bytes.
func largeSpec(hook func(context.Context, string, int) error) experiment.Spec {
	s := toySpec(hook)
	s.ID = "toy/large"
	sound := s.Trial
	s.Trial = func(ctx context.Context, run *experiment.Run) error {
		if err := sound(ctx, run); err != nil {
			return err
		}
		for i := range 1000 {
			run.Rows.Add(table.Key{"point": fmt.Sprint("more ", i)}, table.Values{"x": 1, "y": 1})
		}
		return nil
	}
	return s
}

// What cannot be read now may be sound: a run ends before any job and replaces
// nothing. The limit on memory stands for a lost permission, which does not stop root.
func TestRunUnreadable(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	ran := 0
	p := toyPaper(largeSpec(func(context.Context, string, int) error { ran++; return nil }))
	cfg := toyConfig(t.TempDir(), experiment.Full, p)
	cfg.Workers = 1
	mustRun(t, cfg)
	for name, prepare := range map[string]func(){
		"a finished job": func() {},
		"published":      func() { _ = os.RemoveAll(filepath.Join(cfg.Folders.Store, ".cells")) },
	} {
		ran = 0
		prepare()
		before := snapshot(t, cfg.Folders.Published)
		limits.SetMemory(20_000)
		_, err := Run(t.Context(), selected(p), cfg)
		limits.SetMemory(0)
		var large *limits.MemoryError
		if !errors.As(err, &large) || !strings.Contains(err.Error(), "cannot be read") || ran > 0 {
			t.Errorf("%s: %d jobs ran, error %v", name, ran, err)
		}
		if after := snapshot(t, cfg.Folders.Published); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%s: files have changed", name)
		}
	}
}

// An experiment that was not selected and whose results cannot be read is named; the
// others are drawn, and the scorecard stays as it is.
func TestReportUnreadable(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	small, large := toySpec(nil), largeSpec(nil)
	p := toyPaper(small, large)
	cfg := toyConfig(t.TempDir(), experiment.Full, p)
	mustRun(t, cfg)
	card := mustRead(t, cfg.Folders.Published, scorecardFile)
	limits.SetMemory(20_000)
	res, err := Report(t.Context(), selected(p)[:1], cfg)
	limits.SetMemory(0)
	if err != nil || res.StoreErr != nil || len(res.Damaged) != 1 || res.Damaged[0].Path != "toy/large" {
		t.Fatalf("%+v, %v", res, err)
	}
	if html := mustRead(t, res.Report); !strings.Contains(html, "toy/lines") || !strings.Contains(html, "would take") {
		t.Error("the report lacks the sound experiment or the reason")
	}
	if mustRead(t, cfg.Folders.Published, scorecardFile) != card {
		t.Error("the scorecard has changed")
	}
}

// Two processes publish at once: the one that ends last sees that files do not agree,
// and writes them again.
func TestPublishBesideAnother(t *testing.T) {
	dir, p := publishTimed(t)
	cfg := timedConfig(dir, experiment.Full, p, 1)
	cfg.Force = true
	r := &runner{cfg: &cfg, store: openStore(dir)}
	folder := filepath.Join(dir, "toy", "lines")
	others := mustRead(t, folder, timingFile)
	mine := strings.Replace(others, "60", "61", 1)
	rows := mustRead(t, folder, tableFile)
	m, _, err := readMeta(folder)
	if err != nil {
		t.Fatal(err)
	}
	m.TimingSHA256 = sum([]byte(mine))
	meta, err := seal(m)
	if err != nil || mine == others {
		t.Fatal(err)
	}
	struck := 0
	r.store.write = func(path string, data []byte) error {
		if filepath.Base(path) == metaFile && struck < 2 { // the other one comes in between
			struck++
			if err := atomicfile.Write(filepath.Join(folder, timingFile), []byte(others)); err != nil {
				return err
			}
		}
		return atomicfile.Write(path, data)
	}
	files := []plots.File{{Name: tableFile, Data: []byte(rows)}, {Name: timingFile, Data: []byte(mine)}, {Name: metaFile, Data: meta}}
	if err := r.publish(folder, files); err != nil || !agree(folder) || mustRead(t, folder, timingFile) != mine {
		t.Errorf("error %v, the files agree: %v", err, agree(folder))
	}
	// A journal that is none is a user's.
	if err := os.WriteFile(filepath.Join(folder, publishingFile), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.publish(folder, files); err == nil || mustRead(t, folder, publishingFile) != "mine" {
		t.Errorf("a foreign %s: error %v", publishingFile, err)
	}
}

// A text that CSV would change is refused as the value of a trial and in a file.
func TestCarriageReturns(t *testing.T) {
	s := toySpec(nil)
	sound := s.Trial
	s.Trial = func(ctx context.Context, run *experiment.Run) error {
		run.Rows.Add(table.Key{"point": "a\r\nb"}, table.Values{})
		return sound(ctx, run)
	}
	cfg := toyConfig(t.TempDir(), experiment.Full, toyPaper(s))
	res, err := Run(t.Context(), selected(cfg.Papers[0]), cfg)
	if err != nil || len(res.Failed) == 0 || !strings.Contains(res.Failed[0].Err.Error(), "carriage return") {
		t.Errorf("%+v, %v", res, err)
	}
	rows := table.New([]string{"i"}, []string{"v"})
	rows.Add(table.Key{"i": "a\r\nb"}, table.Values{"v": 1})
	data, err := encodeCell(&record{Key: Key{Cell: "c"}, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeCell(data); err == nil || !strings.Contains(err.Error(), "carriage return") {
		t.Errorf("a file: %v", err)
	}
}
