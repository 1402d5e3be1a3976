package harness

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
)

func TestParseShard(t *testing.T) {
	for s, want := range map[string]Shard{"0/1": {0, 1}, "0/8": {0, 8}, "7/8": {7, 8}} {
		got, err := ParseShard(s)
		if err != nil || got != want || got.String() != s {
			t.Errorf("%q: got %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "3", "/", "3/", "/3", "8/8", "0/0", "-1/8", "0/-8", "+1/8", "1/8/2", " 1/8", "1 /8", "a/b", "0x1/8", "1/99999999999999999999"} {
		if got, err := ParseShard(s); err == nil || !strings.Contains(err.Error(), "want i/n") {
			t.Errorf("%q: got %v, %v", s, got, err)
		}
	}
}

// recorder is a hook that notes which jobs ran.
type recorder struct {
	mu   sync.Mutex
	jobs []string
}

func (r *recorder) hook(_ context.Context, cell string, trial int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs = append(r.jobs, fmt.Sprint(cell, " ", trial))
	return nil
}

// TestShardsPartition plans each shard of each number of shards, over two
// experiments: every job is in exactly one of them, the one that the rank of its
// id says, also if there are more shards than jobs.
func TestShardsPartition(t *testing.T) {
	other := toySpec(nil)
	other.ID = "toy/other"
	other.Cells = func(experiment.Scale) []experiment.Cell {
		return []experiment.Cell{{Name: "x"}, {Name: "y"}, {Name: "z"}}
	}
	p := toyPaper(toySpec(nil), other)
	var ids []string
	for _, s := range p.Experiments {
		for _, job := range Jobs(s, experiment.Smoke, 2, 1, nil) {
			ids = append(ids, job.ID)
		}
	}
	slices.Sort(ids)
	for n := 1; n <= 17; n++ {
		total := 0
		for i := range n {
			cfg := toyConfig(t.TempDir(), experiment.Smoke, p)
			cfg.Shard = Shard{i, n}
			plans, err := cfg.plans(t.Context(), selected(p))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range plans {
				for _, j := range p.pending {
					if rank := slices.Index(ids, p.jobs[j].ID); rank%n != i {
						t.Errorf("the job of rank %d is in shard %d/%d", rank, i, n)
					}
					total++
				}
			}
		}
		if total != len(ids) { // all are distinct, since each is in the shard of its rank
			t.Errorf("%d shards have %d jobs in all, want %d", n, total, len(ids))
		}
	}
}

// TestShardsRun runs more shards than there are jobs, and fewer: each job runs
// once.
func TestShardsRun(t *testing.T) {
	for _, n := range []int{3, 11} {
		total := map[string]int{}
		for i := range n {
			var r recorder
			cfg := toyConfig(t.TempDir(), experiment.Smoke, toyPaper(toySpec(r.hook)))
			cfg.Shard = Shard{i, n}
			res := mustRun(t, cfg)
			if len(r.jobs) > (8+n-1)/n || len(r.jobs) < 8/n {
				t.Errorf("shard %d/%d ran %d of 8 jobs", i, n, len(r.jobs))
			}
			for _, job := range r.jobs {
				total[job]++
			}
			if o := res.Outcomes[0]; o.Jobs != len(r.jobs) || o.Done != o.Jobs || o.Ran != o.Jobs || res.All != 8 || res.Left != 8-o.Jobs || res.Report != "" {
				t.Errorf("shard %d/%d: outcome %+v, %d of %d left, report %q", i, n, o, res.Left, res.All, res.Report)
			}
		}
		if len(total) != 8 || slices.Max(slices.Collect(maps.Values(total))) != 1 {
			t.Errorf("%d shards: runs per job %v", n, total)
		}
	}
}

// TestShardDoesNotDependOnWhatIsDone runs a shard where other jobs, or some of
// its own, are done already: it is still the same jobs.
func TestShardDoesNotDependOnWhatIsDone(t *testing.T) {
	var alone recorder
	cfg := toyConfig(t.TempDir(), experiment.Smoke, toyPaper(toySpec(alone.hook)))
	cfg.Shard = Shard{1, 3}
	mustRun(t, cfg)
	for _, cells := range [][]string{{"a"}, {"b", "d"}, {"a", "b", "c, quoted"}} {
		dir := t.TempDir()
		var r recorder
		p := toyPaper(toySpec(r.hook))
		before := toyConfig(dir, experiment.Smoke, p)
		before.Cells = cells
		mustRun(t, before)
		done := slices.Clone(r.jobs)
		cfg := toyConfig(dir, experiment.Smoke, p)
		cfg.Shard = Shard{1, 3}
		mustRun(t, cfg)
		want := slices.DeleteFunc(slices.Clone(alone.jobs), func(job string) bool { return slices.Contains(done, job) })
		got := r.jobs[len(done):]
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("after %q: ran %q, want %q", cells, got, want)
		}
	}
}

// TestShardWritesJobsOnly leaves nothing but finished jobs and the manifest,
// also at full scale when its jobs are all there are.
func TestShardWritesJobsOnly(t *testing.T) {
	dir := t.TempDir()
	p := toyPaper(withPlot(toySpec(nil)))
	cfg := toyConfig(dir, experiment.Full, p)
	cfg.Shard = Shard{0, 1}
	cfg.World.Host, cfg.World.PID = "host", 1
	mustRun(t, cfg)
	if files := snapshot(t, dir); len(files) != 0 {
		t.Errorf("drew %q", slices.Collect(maps.Keys(files)))
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != ".cells" || entries[1].Name() != ".runs" {
		t.Errorf("wrote %v, %v", entries, err)
	}
	if valid(t, openStore(dir), p.Experiments[0]) != 24 {
		t.Error("not all jobs are stored")
	}
	if man := mustRead(t, dir, ".runs", "00010101T000000Z-host-1-0-of-1.json"); !strings.Contains(man, `"shard": "0/1"`) {
		t.Errorf("manifest:\n%s", man)
	}
}

func TestShardErrors(t *testing.T) {
	p := toyPaper(toySpec(nil))
	for _, s := range []Shard{{1, 1}, {-1, 2}, {1, 0}, {0, -1}} {
		cfg := toyConfig(t.TempDir(), experiment.Smoke, p)
		cfg.Shard = s
		if _, err := Run(t.Context(), selected(p), cfg); err == nil || !strings.Contains(err.Error(), "want 0 <= index < count") {
			t.Errorf("%+v: got %v", s, err)
		}
	}
}

// TestShardNeedsTheDataOfItsIDs: where official files may differ from the known
// copy, ids depend on the files, and so does which jobs are whose.
func TestShardNeedsTheDataOfItsIDs(t *testing.T) {
	i := slices.IndexFunc(datasets.Registry(), func(e datasets.Entry) bool { return !bound(e.Name) })
	if i < 0 || !bound("toy") || !bound("mnist") {
		t.Fatalf("data set %d is not bound; generated data or MNIST are not", i)
	}
	for name, want := range map[string]bool{datasets.Registry()[i].Name: true, "mnist": false} {
		s := toySpec(nil)
		cells := s.Cells
		s.Cells = func(scale experiment.Scale) []experiment.Cell {
			c := cells(scale)
			c[0].Dataset = name
			return c
		}
		p := toyPaper(s)
		failed := 0
		const n = 8
		for i := range n {
			cfg := toyConfig(t.TempDir(), experiment.Smoke, p)
			cfg.Data, cfg.Shard = datasets.Open(t.TempDir()), Shard{i, n}
			if _, err := Run(t.Context(), selected(p), cfg); err != nil {
				failed++
			}
		}
		if all := failed == n; all != want || failed < 2 {
			t.Errorf("without %s %d of %d shards fail; all must: %v", name, failed, n, want)
		}
	}
}

func TestStandOfShard(t *testing.T) {
	dir := t.TempDir()
	p := toyPaper(toySpec(nil))
	cfg := toyConfig(dir, experiment.Full, p)
	stand := func(s Shard) Status {
		t.Helper()
		cfg := cfg
		cfg.Shard = s
		st, err := Stand(t.Context(), selected(p), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return st[0]
	}
	one := cfg
	one.Shard = Shard{1, 5}
	mustRun(t, one)
	want := Status{Experiment: "toy/lines", Scale: experiment.Full, Shard: "1/5", Cells: 4, Jobs: 5, Done: 5}
	if got := stand(Shard{1, 5}); got != want {
		t.Errorf("own shard: %+v, want %+v", got, want)
	}
	// The clock stands still, so that the expected time of a job is now 0.
	want = Status{Experiment: "toy/lines", Scale: experiment.Full, Shard: "4/5", Cells: 4, Jobs: 4, Missing: 4, ToRun: 4}
	if got := stand(Shard{4, 5}); got != want {
		t.Errorf("other shard: %+v, want %+v", got, want)
	}
	want = Status{Experiment: "toy/lines", Scale: experiment.Full, Cells: 4, Jobs: 24, Done: 5, Missing: 19, ToRun: 19}
	if got := stand(Shard{}); got != want {
		t.Errorf("all: %+v, want %+v", got, want)
	}
}

// TestShardKilled kills a shard in the middle, resumes it, runs the others and
// merges: the files are those of one process that ran everything.
func TestShardKilled(t *testing.T) {
	whole := t.TempDir()
	p := toyPaper(withPlot(toySpec(nil)))
	mustRun(t, toyConfig(whole, experiment.Full, p))
	want := snapshot(t, whole)

	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	c := childCommand(t, dirs[1], childShard+"=1/3")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stored := func() int {
		cells, _ := filepath.Glob(filepath.Join(dirs[1], ".cells", "*", "*", "*", "*.json"))
		return len(cells)
	}
	for deadline := time.Now().Add(time.Minute); stored() < 3; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatal("no cell was stored")
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed
	kept := valid(t, openStore(dirs[1]), p.Experiments[0])
	if kept < 3 || kept >= 8 || kept != stored() {
		t.Fatalf("%d valid of %d stored jobs of 8", kept, stored())
	}
	for i, dir := range dirs {
		cfg := toyConfig(dir, experiment.Full, p)
		cfg.Shard = Shard{i, 3}
		if o := mustRun(t, cfg).Outcomes[0]; i == 1 && o.Ran != 8-kept {
			t.Errorf("resumed with %d jobs: %d ran", kept, o.Ran)
		}
	}
	target := t.TempDir()
	m := mustMerge(t, toyConfig(target, experiment.Full, p), dirs...)
	if !m.Result.Outcomes[0].Published || len(m.Missing) != 0 {
		t.Errorf("missing %+v", m.Missing)
	}
	sameFiles(t, snapshot(t, target), want)
}
