package harness

import (
	"testing"
	"time"

	"metriclab/pkg/experiment"
)

func prediction(walls ...time.Duration) (p Prediction) {
	for _, w := range walls {
		p.Jobs = append(p.Jobs, JobTime{Wall: w, CPU: w / 2})
	}
	return p
}

// By hand: 5, 4, 3, 3, 3 on two workers, the longest first, end at 5+3+… = 10 and 8; in the order 3, 3, 3, 4, 5 at
// 3+3+5 = 11 and 7.
func TestMakespan(t *testing.T) {
	p := prediction(3, 3, 3, 4, 5)
	if got := p.Spread(2); got != 10 {
		t.Errorf("longest first on 2: %d, want 10", got)
	}
	if got := p.OneProcess(2); got != 11 {
		t.Errorf("in order on 2: %d, want 11", got)
	}
	for n, want := range map[int]time.Duration{1: 18, 5: 5, 100: 5} {
		if got := p.Spread(n); got != want {
			t.Errorf("on %d: %d, want %d", n, got, want)
		}
	}
	p.Jobs[0].Alone, p.Jobs[4].Alone = true, true
	if got := p.OneProcess(2); got != 7+8 {
		t.Errorf("two alone: %d, want 15", got)
	}
	if p.Longest(1)[0].Wall != 5 || len(p.Longest(9)) != 5 || p.CPU() != 1+1+1+2+2 {
		t.Error("the longest, or the sum")
	}
	if got := (Prediction{}).Spread(3); got != 0 {
		t.Errorf("no job takes %d", got)
	}
}

// Before a run the time is the declared one, after it the measured one of each job.
func TestPredict(t *testing.T) {
	p := toyPaper(toySpec(nil))
	cfg := toyConfig(t.TempDir(), experiment.Full, p)
	var now time.Time
	cfg.World.Now = func() time.Time { now = now.Add(time.Second); return now }
	cfg.World.ProcessCPU = func() time.Duration { return now.Sub(time.Time{}) / 4 }
	cfg.World.PeakRSSKiB = func() int64 { return 77 }
	before, err := Predict(t.Context(), selected(p), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Jobs) != 24 || before.Jobs[0].Measured || before.Jobs[0].Wall != time.Second {
		t.Errorf("before: %d jobs, the first %+v", len(before.Jobs), before.Jobs[0])
	}
	cfg.Workers = 1
	mustRun(t, cfg)
	after, err := Predict(t.Context(), selected(p), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range after.Jobs {
		if !j.Measured || j.Wall <= 0 {
			t.Errorf("after: %+v", j)
		}
	}
	if after.PeakRSSKiB != 77 {
		t.Errorf("memory %d", after.PeakRSSKiB)
	}
	// Half of the trials are published; of the others the mean is told.
	cfg.Trials = 12
	more, err := Predict(t.Context(), selected(p), cfg)
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for _, j := range more.Jobs {
		if j.Measured {
			measured++
		} else if j.Wall <= 0 {
			t.Errorf("mean %+v", j)
		}
	}
	if len(more.Jobs) != 48 || measured != 24 {
		t.Errorf("%d of %d measured, want 24 of 48", measured, len(more.Jobs))
	}
}

func TestStandByShard(t *testing.T) {
	p := toyPaper(toySpec(nil))
	cfg := toyConfig(t.TempDir(), experiment.Smoke, p)
	cfg.Shard = Shard{1, 3}
	mustRun(t, cfg)
	cfg.Shard = Shard{}
	counts, err := StandByShard(t.Context(), selected(p), cfg, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range counts {
		cfg.Shard = Shard{i, 3}
		all, err := Stand(t.Context(), selected(p), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if want := (ShardCount{all[0].Jobs, all[0].Done, all[0].Missing, all[0].Failed}); c != want || (i == 1) != (c.Missing == 0) {
			t.Errorf("shard %d: %+v, want %+v", i, c, want)
		}
	}
	if n, err := CountJobs(selected(p), cfg); err != nil || n != 8 {
		t.Errorf("%d jobs, %v, want 8", n, err)
	}
}
