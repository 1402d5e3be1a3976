package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"metriclab/pkg/experiment/harness"
)

func TestShardFromEnvironment(t *testing.T) {
	type vars map[string]string
	tests := []struct {
		name string
		env  vars
		want string // i/n, "" for all, else a part of the error
	}{
		{"nothing", nil, ""},
		{"empty is not set", vars{"SHARD_INDEX": "", "SHARD_COUNT": "", "SLURM_ARRAY_TASK_ID": ""}, ""},
		{"ours", vars{"SHARD_INDEX": "3", "SHARD_COUNT": "8"}, "3/8"},
		{"one shard", vars{"SHARD_INDEX": "0", "SHARD_COUNT": "1"}, "0/1"},
		{"Slurm", vars{"SLURM_ARRAY_TASK_ID": "7", "SHARD_COUNT": "8"}, "7/8"},
		{"Kubernetes", vars{"JOB_COMPLETION_INDEX": "0", "SHARD_COUNT": "8"}, "0/8"},
		{"Nomad", vars{"NOMAD_ALLOC_INDEX": "1", "SHARD_COUNT": "8"}, "1/8"},
		{"AWS", vars{"AWS_BATCH_JOB_ARRAY_INDEX": "2", "SHARD_COUNT": "8"}, "2/8"},
		{"PBS", vars{"PBS_ARRAY_INDEX": "3", "SHARD_COUNT": "8"}, "3/8"},
		{"CI counts from 1", vars{"CI_NODE_INDEX": "1", "SHARD_COUNT": "8"}, "0/8"},
		{"parallel counts from 1", vars{"PARALLEL_SEQ": "8", "SHARD_COUNT": "8"}, "7/8"},
		{"ours before the engine's", vars{"SHARD_INDEX": "3", "SHARD_COUNT": "8", "SLURM_ARRAY_TASK_ID": "5"}, "3/8"},
		{"the engine's count is not read", vars{"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "8"}, "SHARD_COUNT is not set"},
		{"CI's total is not read", vars{"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "8"}, `CI_NODE_INDEX is "1", but SHARD_COUNT is not set`},
		{"index alone", vars{"SHARD_INDEX": "3"}, `SHARD_INDEX is "3", but SHARD_COUNT is not set`},
		{"count alone", vars{"SHARD_COUNT": "8"}, "SHARD_COUNT is 8, but neither SHARD_INDEX nor the index of an engine is set, want 0 to 7"},
		{"index too large", vars{"SHARD_INDEX": "8", "SHARD_COUNT": "8"}, `SHARD_INDEX: "8" is not allowed, want 0 to 7`},
		{"Slurm too large", vars{"SLURM_ARRAY_TASK_ID": "8", "SHARD_COUNT": "8"}, `SLURM_ARRAY_TASK_ID: "8" is not allowed, want 0 to 7`},
		{"CI from 0", vars{"CI_NODE_INDEX": "0", "SHARD_COUNT": "8"}, `CI_NODE_INDEX: "0" is not allowed, want 1 to 8`},
		{"parallel too large", vars{"PARALLEL_SEQ": "9", "SHARD_COUNT": "8"}, `PARALLEL_SEQ: "9" is not allowed, want 1 to 8`},
		{"negative", vars{"SHARD_INDEX": "-1", "SHARD_COUNT": "8"}, `SHARD_INDEX: "-1" is not allowed`},
		{"index no number", vars{"SHARD_INDEX": "one", "SHARD_COUNT": "8"}, `SHARD_INDEX: "one" is not allowed`},
		{"count no number", vars{"SHARD_INDEX": "1", "SHARD_COUNT": "eight"}, `SHARD_COUNT: "eight" is not allowed`},
		{"count zero", vars{"SHARD_INDEX": "0", "SHARD_COUNT": "0"}, `SHARD_COUNT: "0" is not allowed, want the number of shards, at least 1`},
		{"two engines", vars{"SLURM_ARRAY_TASK_ID": "1", "PARALLEL_SEQ": "1", "SHARD_COUNT": "8"}, "SLURM_ARRAY_TASK_ID and PARALLEL_SEQ are both set"},
		{"two engines, ours decides", vars{"SLURM_ARRAY_TASK_ID": "1", "PARALLEL_SEQ": "1", "SHARD_INDEX": "2", "SHARD_COUNT": "8"}, "2/8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := func(name string) string { return tt.env[name] }
			got, err := shardFromEnvironment(env)
			if err != nil {
				if tt.want == "" || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got error %v, want %q", err, tt.want)
				}
			} else if got.String() != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}

			// The command: a wrong environment is exit code 2, and no job runs; a
			// flag is stronger than any environment; status does not look at it.
			t.Chdir(t.TempDir())
			ran := 0
			c := newCommand(toys(func(context.Context, string) error { ran++; return nil }))
			c.app.env = env
			if err != nil {
				if code := c.run("run", "--jobs", "1"); code != exitUsage || !strings.Contains(c.err.String(), tt.want) || ran > 0 {
					t.Errorf("run: exit code %d after %d jobs, %s", code, ran, c.err.String())
				}
			}
			if code := c.run("run", "--dry-run", "--shard", "0/3"); code != exitOK || !strings.Contains(c.out.String(), "0 of 1 are done") && !strings.Contains(c.out.String(), "0 of 2 are done") {
				t.Errorf("run --shard: exit code %d, %s%s", code, c.out.String(), c.err.String())
			}
			if code := c.run("status"); code != exitOK || !strings.Contains(c.out.String(), "toy/lines   4 ") {
				t.Errorf("status: exit code %d, %s%s", code, c.out.String(), c.err.String())
			}
		})
	}
}

// Jobs that are missing after an interrupt are no news.
func TestMergeInterrupted(t *testing.T) {
	m := &harness.Merged{Missing: []harness.MissingJobs{{Experiment: "toy/lines", Jobs: 4, Missing: 1}}, Result: &harness.Result{Interrupted: true}}
	if err := newCommand(toys(nil)).app.printMerge(nil, m, harness.Config{}); err != exitError(exitInterrupted) {
		t.Errorf("error %v", err)
	}
}

// TestShardsOfProcesses runs shards as processes of their own, as engines do:
// by flag or by environment, into one shared folder at the same time. One is
// killed in the middle and started again. The merge gives what one process
// gives, byte for byte.
func TestShardsOfProcesses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	const n = 3
	start := func(i int) *exec.Cmd {
		c := exec.Command(self, "run", "lines", "--scale", "full", "--results", "shared", "--jobs", "1")
		c.Env = append(os.Environ(), asChild+"=1", envCount+"=3")
		switch i {
		case 0:
			c.Args = append(c.Args, "--shard", "0/3")
		case 1:
			c.Env = append(c.Env, envIndex+"=1")
		case 2:
			c.Env = append(c.Env, "PARALLEL_SEQ=3")
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	cells := func() int {
		paths, _ := filepath.Glob(filepath.Join("shared", ".cells", "*", "*", "*", "*.json"))
		return len(paths)
	}
	killed := start(1)
	for deadline := time.Now().Add(time.Minute); cells() < 1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no cell was stored")
		}
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // killed
	if got := cells(); got < 1 || got >= 4 {
		t.Fatalf("killed with %d of 4 jobs", got)
	}

	c := newCommand(toys(nil))
	merge := []string{"merge", "--experiment", "lines", "--scale", "full", "--results", "shared"}
	if code := c.run(merge...); code != exitMissing || !strings.Contains(c.err.String(), "missing: toy/lines: ") {
		t.Errorf("merge with holes: exit code %d, %s", code, c.err.String())
	}
	var all []*exec.Cmd
	for i := range n {
		all = append(all, start(i))
	}
	for i, p := range all {
		if err := p.Wait(); err != nil {
			t.Errorf("shard %d: %v", i, err)
		}
	}
	if got := cells(); got != 12 {
		t.Errorf("%d jobs are stored, want 12", got)
	}
	if _, err := os.Stat(filepath.Join("shared", "toy")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a shard published: %v", err)
	}
	if code := c.run(merge...); code != exitOK {
		t.Errorf("merge: exit code %d, %s", code, c.err.String())
	}
	if code := c.run("run", "lines", "--scale", "full", "--results", "single"); code != exitOK {
		t.Fatalf("one process: exit code %d, %s", code, c.err.String())
	}
	for _, name := range []string{"table.csv", "lines-view.md"} {
		got, err1 := os.ReadFile(filepath.Join("shared", "toy", "lines", name))
		want, err2 := os.ReadFile(filepath.Join("single", "toy", "lines", name))
		if err1 != nil || err2 != nil || string(got) != string(want) {
			t.Errorf("%s: %v, %v, got\n%s\nwant\n%s", name, err1, err2, got, want)
		}
	}
}
