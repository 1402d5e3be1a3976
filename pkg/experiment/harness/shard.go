package harness

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shard is a part of the jobs of a selection, for machines that share the work:
// the jobs whose rank in the order of their ids is Index modulo Count. An id is
// a hash, so that slow cells spread evenly, which neighbours in the order of
// the cells do not. The zero value is all jobs.
//
// The ranks are those of all jobs that the selection, Config.Trials and
// Config.Cells ask for, done or not: every machine must be given the same.
type Shard struct {
	Index int // from 0
	Count int
}

// ParseShard reads "i/n" with 0 <= i < n.
func ParseShard(s string) (Shard, error) {
	index, count, _ := strings.Cut(s, "/")
	i, err1 := strconv.ParseUint(index, 10, 31)
	n, err2 := strconv.ParseUint(count, 10, 31)
	if err1 != nil || err2 != nil || i >= n {
		return Shard{}, fmt.Errorf("shard %q is not allowed, want i/n with 0 <= i < n, such as 0/8", s)
	}
	return Shard{int(i), int(n)}, nil
}

// String returns "i/n", "" for all jobs.
func (s Shard) String() string {
	if !s.some() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

// some reports whether s is a part, even if it is the only one.
func (s Shard) some() bool { return s != Shard{} }

func (s Shard) check() error {
	if s.some() && (s.Index < 0 || s.Index >= s.Count) {
		return &ConfigError{fmt.Sprintf("shard %d of %d, want 0 <= index < count", s.Index, s.Count)}
	}
	return nil
}

// keep takes the jobs of the other shards out of plans.
func (s Shard) keep(plans []*plan) {
	var ids []string
	for _, p := range plans {
		for _, i := range p.wanted {
			ids = append(ids, p.jobs[i].ID)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	own := make(map[string]bool, len(ids)/s.Count+1)
	for rank := s.Index; rank < len(ids); rank += s.Count {
		own[ids[rank]] = true
	}
	for _, p := range plans {
		other := func(i int) bool { return !own[p.jobs[i].ID] }
		p.own = slices.DeleteFunc(slices.Clone(p.wanted), other)
		p.pending = slices.DeleteFunc(p.pending, other)
	}
}

// ShardCount is how the jobs of one shard stand.
type ShardCount struct{ Jobs, Done, Missing, Failed int }

// StandByShard counts the jobs of each of count shards, as Stand does of one. It writes nothing.
func StandByShard(ctx context.Context, sel []Selected, cfg Config, count int) ([]ShardCount, error) {
	if err := cfg.check(sel); err != nil {
		return nil, err
	}
	if count < 1 {
		return nil, &ConfigError{fmt.Sprintf("%d shards, want at least 1", count)}
	}
	cfg.Shard = Shard{}
	plans, err := cfg.plans(ctx, sel)
	if err != nil {
		return nil, err
	}
	type wantedJob struct {
		id           string
		done, failed bool
	}
	var jobs []wantedJob
	for _, p := range plans {
		for _, i := range p.wanted {
			j := wantedJob{id: p.jobs[i].ID, done: p.rows[p.jobs[i].ID] != nil}
			if !j.done {
				_, j.failed = p.store.failed(j.id)
			}
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(x, y wantedJob) int { return strings.Compare(x.id, y.id) })
	jobs = slices.CompactFunc(jobs, func(x, y wantedJob) bool { return x.id == y.id })
	out := make([]ShardCount, count)
	for rank, j := range jobs {
		c := &out[rank%count]
		c.Jobs++
		switch {
		case j.done:
			c.Done++
		case j.failed:
			c.Failed++
		default:
			c.Missing++
		}
	}
	return out, nil
}

// CheckData verifies the data that the jobs of a run need, as Run does before the first job.
func CheckData(ctx context.Context, sel []Selected, cfg Config) error {
	plans, err := cfg.plans(ctx, sel)
	if err != nil {
		return err
	}
	return checkData(ctx, cfg.Data, cfg.needed(plans))
}

// CountJobs counts the jobs that a run asks for, done or not. It looks at no file, so that jobs of
// data sets that the user supplies count, too. It returns the *ConfigError of a bad Config.
func CountJobs(sel []Selected, cfg Config) (int, error) {
	cfg.Folders = Folders{Published: "not looked at"}
	if err := cfg.check(sel); err != nil {
		return 0, err
	}
	n := 0
	for _, s := range sel {
		trials, _ := cfg.trials(s.Spec)
		for _, cell := range s.Spec.Cells(cfg.Scale) {
			if len(cfg.Cells) == 0 || slices.Contains(cfg.Cells, cell.Name) {
				n += trials
			}
		}
	}
	return n, nil
}
