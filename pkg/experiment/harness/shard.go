package harness

import (
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
