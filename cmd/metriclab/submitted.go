package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"

	"metriclab/internal/atomicfile"
	"metriclab/internal/plural"
	"metriclab/internal/slurm"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/limits"
)

// batchFile is the record of what was submitted, in batchDir of the results.
const batchDir, batchFile = "slurm", "submit.json"

// batchSchema is the version of the fields of batchFile.
const batchSchema = 1

// submitted is the JSON of batchFile.
type submitted struct {
	Schema      int              `json:"schema"`
	Experiments []string         `json:"experiments"` // as named; none means all
	Scale       experiment.Scale `json:"scale"`
	Data        string           `json:"data"`
	Trials      int              `json:"trials,omitempty"`
	Seed        uint64           `json:"seed"`
	Cells       []string         `json:"cells,omitempty"`
	Shards      int              `json:"shards"`
	MaxRunning  int              `json:"max_running,omitempty"`
	Arrays      []string         `json:"arrays"` // job ids, the last one last
	Merges      []string         `json:"merges"`
}

func (r submitted) write(home string) error {
	var b bytes.Buffer
	if err := json.MarshalWrite(&b, r, json.Deterministic(true)); err != nil {
		return err
	}
	b.WriteByte('\n')
	return atomicfile.Write(filepath.Join(home, batchFile), b.Bytes())
}

func readSubmitted(home string) (submitted, error) {
	path := filepath.Join(home, batchFile)
	data, err := limits.ReadFile(path)
	if err != nil {
		return submitted{}, err
	}
	var r submitted
	if err := json.Unmarshal(data, &r, json.RejectUnknownMembers(true)); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	if r.Schema != batchSchema || r.Shards < 1 || r.Shards > maxShards || r.Seed < 1 || r.Trials < 0 || r.MaxRunning < 0 || len(r.Arrays) == 0 {
		return r, fmt.Errorf("%s: it is of another version of metriclab, or damaged", path)
	}
	for _, id := range slices.Concat(r.Arrays, r.Merges) {
		if !slurm.IsJobID(id) {
			return r, fmt.Errorf("%s: job %q is not allowed, want the number that sbatch printed", path, id)
		}
	}
	return r, nil
}

// shardStand is how a shard of a submission stands.
type shardStand struct {
	index, jobs, done, missing, failed int
	task                               slurm.Task // the last one; State "" if Slurm does not know it
}

// shards says how the shards of a submission stand.
func (a *app) shards(ctx context.Context, results string, r submitted) ([]shardStand, error) {
	sel, cfg, err := a.selected(&flags{scale: string(r.Scale), results: results, data: r.Data}, r.Experiments)
	if err != nil {
		return nil, err
	}
	cfg.Trials, cfg.Seed, cfg.Cells = r.Trials, r.Seed, r.Cells
	out := make([]shardStand, r.Shards)
	counts, err := harness.StandByShard(ctx, sel, cfg, r.Shards)
	if err != nil {
		return nil, err
	}
	for i, n := range counts {
		out[i] = shardStand{index: i, jobs: n.Jobs, done: n.Done, missing: n.Missing, failed: n.Failed}
	}
	for _, job := range r.Arrays { // later ones overrule
		tasks, err := a.engine.States(ctx, job)
		if errors.Is(err, slurm.ErrAbsent) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for _, t := range tasks {
			if t.Index < len(out) {
				out[t.Index].task = t
			}
		}
	}
	return out, nil
}

// printShards shows the shards of what was submitted into a results folder, if something was.
func (a *app) printShards(ctx context.Context, results string) error {
	r, err := readSubmitted(filepath.Join(results, batchDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	shards, err := a.shards(ctx, results, r)
	if err != nil {
		return err
	}
	finished := slices.DeleteFunc(slices.Clone(shards), func(s shardStand) bool { return s.missing+s.failed > 0 || s.task.Alive() })
	fmt.Fprintf(a.out, "\nSlurm, job %s: %d of %s finished\n", strings.Join(r.Arrays, ", "), len(finished), plural.Of(len(shards), "shard"))
	if len(finished) == len(shards) {
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "shard\tjobs\tdone\tfailed\tmissing\ttask\tstate\treason")
	for _, s := range shards {
		if s.missing+s.failed == 0 && !s.task.Alive() {
			continue
		}
		state, task := s.task.State, fmt.Sprintf("%s_%d", s.task.Job, s.index)
		if state == "" {
			state, task = "unknown to Slurm", "-"
		}
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", s.index, s.jobs, s.done, s.failed, s.missing, task, state, cmp.Or(s.task.Reason, "-"))
	}
	return w.Flush()
}
