package harness

import (
	"context"
	"errors"
	"time"

	"metriclab/pkg/experiment"
)

// Status is where one experiment stands.
type Status struct {
	Experiment string           `json:"experiment"`
	Scale      experiment.Scale `json:"scale"`
	// Shard is "i/n" if the counts of jobs are those of one shard; else "".
	Shard   string `json:"shard,omitempty"`
	Cells   int    `json:"cells"`
	Jobs    int    `json:"jobs"`
	Done    int    `json:"done"`
	Missing int    `json:"missing"` // neither done nor failed
	Failed  int    `json:"failed"`
	// OtherCommit counts done jobs that another commit than the current one ran.
	OtherCommit int `json:"other_commit"`
	// Stray counts stored jobs, of whatever shard, that are not jobs of this
	// experiment any more.
	Stray int `json:"stray"`
	// Damaged counts the stored jobs that cannot be used; they count as missing,
	// and run again.
	Damaged int `json:"damaged"`
	// NoChecksum counts the stored jobs that an earlier version wrote without a
	// checksum. They count as missing, too.
	NoChecksum int `json:"no_checksum"`
	// Published says whether the published table is complete and current.
	Published bool `json:"published"`
	// Stale says that a table is published, but of an earlier version of the code.
	Stale bool `json:"stale"`
	// Obstacle says why this run would not publish; "" if it would.
	Obstacle string `json:"obstacle,omitempty"`
	// ToRun is what Run would run now, and why.
	ToRun int `json:"to_run"`
	// Expected is the expected time of what would run, on Workers workers; 0 if unknown.
	Expected time.Duration `json:"expected_ns"`
	// FromTable counts the done jobs that only the published table holds.
	FromTable int `json:"from_table"`
	// Problem says what is wrong with the published files; "" if nothing is.
	Problem string `json:"problem,omitempty"`
}

// Stand says where the selected experiments stand and what Run would do. It
// writes nothing.
func Stand(ctx context.Context, sel []Selected, cfg Config) ([]Status, error) {
	if err := cfg.check(sel); err != nil {
		return nil, err
	}
	plans, err := cfg.plans(ctx, sel)
	if err != nil {
		return nil, err
	}
	workers := max(cfg.Workers, 1)
	var out []Status
	for _, p := range plans {
		st := Status{
			Experiment: p.Spec.ID, Scale: cfg.Scale, Shard: cfg.Shard.String(), Cells: len(p.Spec.Cells(cfg.Scale)),
			ToRun: len(p.pending), Obstacle: p.obstacle(),
		}
		if p.Spec.Timing {
			st.Expected = p.expected * time.Duration(len(p.pending))
		} else {
			st.Expected = p.expected * time.Duration(len(p.pending)) / time.Duration(workers)
		}
		st.Problem = p.published.problem()
		st.Published = p.published.lostTimes == nil && p.published.has(p.published.meta)
		st.Stale = p.stale()
		counted := p.jobs
		if cfg.Shard.some() {
			counted = nil
			for _, i := range p.own {
				counted = append(counted, p.jobs[i])
			}
		}
		st.Jobs = len(counted)
		for _, job := range counted {
			rec := p.records[job.ID]
			switch {
			case p.rows[job.ID] == nil:
				if _, failed := p.store.failed(job.ID); failed {
					st.Failed++
				} else {
					st.Missing++
				}
			case rec == nil:
				st.FromTable++
			case rec.Run.Revision != cfg.World.Build.Revision:
				st.OtherCommit++
			}
		}
		st.Done = st.Jobs - st.Missing - st.Failed
		known := map[string]bool{}
		for _, job := range p.jobs {
			known[job.ID] = true
			if job.Key.Trial < p.standard && p.published.rows[job.short()] == nil {
				st.Published = false
			}
		}
		cells, err := p.store.cells(p.Spec)
		if err != nil {
			return nil, err
		}
		for _, c := range cells {
			switch {
			case !known[c.id]:
				st.Stray++
			case errors.Is(c.err, errNoChecksum):
				st.NoChecksum++
			case c.err != nil || checkNames(c.rec.Rows, p.Spec.Columns) != nil:
				st.Damaged++
			}
		}
		out = append(out, st)
	}
	return out, nil
}
