package harness

import (
	"context"
	"errors"
	"testing"
	"time"

	"metriclab/pkg/experiment"
)

func TestStand(t *testing.T) {
	dir := t.TempDir()
	s := toySpec(func(_ context.Context, cell string, _ int) error {
		if cell == "a" {
			return errors.New("no")
		}
		return nil
	})
	p := toyPaper(s)
	cfg := toyConfig(dir, experiment.Full, p)
	cfg.World.Build.Revision = "old"
	stand := func() Status {
		t.Helper()
		before := snapshotAll(t, dir)
		st, err := Stand(t.Context(), selected(p), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if after := snapshotAll(t, dir); len(after) != len(before) {
			t.Error("Stand wrote files")
		}
		return st[0]
	}

	want := Status{Experiment: "toy/lines", Scale: experiment.Full, Cells: 4, Jobs: 24, Missing: 24, ToRun: 24, Expected: 12 * time.Second}
	if got := stand(); got != want {
		t.Errorf("before: %+v, want %+v", got, want)
	}
	if _, err := Run(t.Context(), selected(p), cfg); err != nil {
		t.Fatal(err)
	}
	cfg.World.Build.Revision = "new"
	// The clock stands still, so that the expected time of a job is now 0.
	want = Status{Experiment: "toy/lines", Scale: experiment.Full, Cells: 4, Jobs: 24, Done: 18, Failed: 6, OtherCommit: 18, ToRun: 6}
	if got := stand(); got != want {
		t.Errorf("after failures: %+v, want %+v", got, want)
	}

	p.Experiments[0].Trial = toySpec(nil).Trial
	cfg.Papers = []experiment.Paper{p}
	mustRun(t, cfg)
	want = Status{Experiment: "toy/lines", Scale: experiment.Full, Cells: 4, Jobs: 24, Done: 24, OtherCommit: 18, Published: true}
	if got := stand(); got != want {
		t.Errorf("complete: %+v, want %+v", got, want)
	}

	p.Experiments[0].Version = 2
	want = Status{Experiment: "toy/lines", Scale: experiment.Full, Cells: 4, Jobs: 24, Missing: 24, ToRun: 24, Stray: 24, Stale: true, Expected: 12 * time.Second}
	if got := stand(); got != want {
		t.Errorf("new version: %+v, want %+v", got, want)
	}
	cfg.Seed = 3
	if got := stand(); got.Obstacle != "base seed 3" {
		t.Errorf("obstacle %q", got.Obstacle)
	}
}
