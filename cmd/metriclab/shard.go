package main

import (
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"metriclab/pkg/experiment/harness"
)

// The environment of a shard, where --shard is not given.
const (
	envIndex = "SHARD_INDEX"
	envCount = "SHARD_COUNT"
)

// engines are the variables in which engines tell each of their tasks its
// index; first is the index of the first task. The count is never an engine's:
// that of a job array changes when failed tasks are submitted again.
var engines = []struct {
	name  string
	first int
}{
	{"SLURM_ARRAY_TASK_ID", 0}, {"JOB_COMPLETION_INDEX", 0}, {"NOMAD_ALLOC_INDEX", 0}, {"AWS_BATCH_JOB_ARRAY_INDEX", 0}, {"PBS_ARRAY_INDEX", 0},
	{"CI_NODE_INDEX", 1}, {"PARALLEL_SEQ", 1},
}

// shard reads the flag or, if it is not set and env is true, the environment.
func (a *app) shard(c *cobra.Command, flag string, env bool) (harness.Shard, error) {
	if c.Flags().Changed("shard") {
		s, err := harness.ParseShard(flag)
		if err != nil {
			return s, usageError{fmt.Errorf("flag --shard: %w", err)}
		}
		return s, nil
	}
	if !env {
		return harness.Shard{}, nil
	}
	s, err := shardFromEnvironment(a.env)
	if err != nil {
		return s, usageError{err}
	}
	return s, nil
}

// shardFromEnvironment returns all jobs if no variable is set. An empty
// variable counts as one that is not set.
func shardFromEnvironment(env func(string) string) (harness.Shard, error) {
	none := harness.Shard{}
	name, first := envIndex, 0
	if env(envIndex) == "" {
		for _, e := range engines {
			switch {
			case env(e.name) == "":
			case name == envIndex:
				name, first = e.name, e.first
			default:
				return none, fmt.Errorf("%s and %s are both set: which is the shard's index? Set %s (from 0) or give --shard i/n", name, e.name, envIndex)
			}
		}
	}
	index, count := env(name), env(envCount)
	if index == "" && count == "" {
		return none, nil
	}
	if count == "" {
		return none, fmt.Errorf("%s is %q, but %s is not set, want the number of shards there; or give --shard i/n", name, index, envCount)
	}
	n, err := strconv.ParseUint(count, 10, 31)
	if err != nil || n == 0 {
		return none, fmt.Errorf("%s: %q is not allowed, want the number of shards, at least 1", envCount, count)
	}
	if index == "" {
		return none, fmt.Errorf("%s is %d, but neither %s nor the index of an engine is set, want 0 to %d in %s; or give --shard i/n", envCount, n, envIndex, n-1, envIndex)
	}
	i, err := strconv.ParseUint(index, 10, 31)
	if last := uint64(first) + n - 1; err != nil || i < uint64(first) || i > last {
		return none, fmt.Errorf("%s: %q is not allowed, want %d to %d, since %s is %d", name, index, first, last, envCount, n)
	}
	return harness.Shard{Index: int(i) - first, Count: int(n)}, nil
}

// printShard says what the shard has done, what is left and how to go on.
func (a *app) printShard(sel []harness.Selected, res *harness.Result, cfg harness.Config) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, o := range res.Outcomes {
		fmt.Fprintf(w, "%s\t%d of %d jobs of shard %v\n", o.Spec.ID, o.Done, o.Jobs, cfg.Shard)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "all shards: %d of %d jobs are in %s, %d are left\n", res.All-res.Left, res.All, cfg.Folders.Store, res.Left)
	_, err := fmt.Fprintf(a.out, "when none is left, here or in other folders: %s%s [DIR ...]\n", harness.MergeCommand(sel, cfg), a.folderFlags(cfg))
	return err
}
