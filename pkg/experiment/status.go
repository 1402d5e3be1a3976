package experiment

import (
	"context"
	"slices"
	"time"
)

// Status is where one experiment stands.
type Status struct {
	Experiment string `json:"experiment"`
	Scale      Scale  `json:"scale"`
	Cells      int    `json:"cells"`
	Jobs       int    `json:"jobs"`
	Done       int    `json:"done"`
	Missing    int    `json:"missing"` // neither done nor failed
	Failed     int    `json:"failed"`
	// OtherCommit counts done jobs that another commit than the current one ran.
	OtherCommit int `json:"other_commit"`
	// Stray counts stored jobs that are not jobs of this experiment any more.
	Stray int `json:"stray"`
	// Published says whether the published table is complete and current.
	Published bool `json:"published"`
	// Obstacle says why this run would not publish; "" if it would.
	Obstacle string `json:"obstacle,omitempty"`
	// ToRun is what Run would run now, and why.
	ToRun int `json:"to_run"`
	// Expected is the expected time of what would run, on Workers workers; 0 if unknown.
	Expected time.Duration `json:"expected_ns"`
	// FromTable counts the done jobs that only the published table holds.
	FromTable int `json:"from_table"`
	// Problem says what is wrong with the published table; "" if nothing is.
	Problem string `json:"problem,omitempty"`
}

// Stand says where the selected experiments stand and what Run would do. It
// writes nothing.
func Stand(ctx context.Context, sel []Selected, cfg Config) ([]Status, error) {
	if err := cfg.check(sel); err != nil {
		return nil, err
	}
	workers := max(cfg.Workers, 1)
	var out []Status
	for _, s := range sel {
		p, err := cfg.plan(ctx, s)
		if err != nil {
			return nil, err
		}
		st := Status{
			Experiment: s.Spec.ID, Scale: cfg.Scale, Cells: len(s.Spec.Cells(cfg.Scale)), Jobs: len(p.jobs), Done: p.done(),
			ToRun: len(p.pending), Obstacle: p.obstacle(), FromTable: len(p.rows) - len(p.records),
		}
		if p.Spec.Timing {
			st.Expected = p.expected * time.Duration(len(p.pending))
		} else {
			st.Expected = p.expected * time.Duration(len(p.pending)) / time.Duration(workers)
		}
		if p.published.err != nil {
			st.Problem = p.published.err.Error()
		}
		st.Published = p.published.meta != nil && p.published.meta.TableSHA256 == p.published.sha256
		for _, job := range p.jobs {
			if p.rows[job.ID] == nil {
				if _, failed := p.store.Failure(job.ID); failed {
					st.Failed++
				} else {
					st.Missing++
				}
			}
			if rec := p.records[job.ID]; rec != nil && rec.Run.Revision != cfg.World.Build.Revision {
				st.OtherCommit++
			}
			if job.Key.Trial < p.standard && p.published.rows[job.short()] == nil {
				st.Published = false
			}
		}
		for _, id := range p.store.IDs(s.Spec.ID) {
			if !slices.ContainsFunc(p.jobs, func(j Job) bool { return j.ID == id }) {
				st.Stray++
			}
		}
		out = append(out, st)
	}
	return out, nil
}
