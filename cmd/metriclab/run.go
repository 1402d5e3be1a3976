package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/experiment/harness"
)

func (a *app) runCommand() *cobra.Command {
	var f flags
	var few filters
	var jobs int
	var shard string
	var force, dry bool
	c := &cobra.Command{
		Use:   "run [paper|experiment ...]",
		Short: "Run experiments, render their figures, grade their claims, write the report",
		Long: `Run the jobs of the named experiments (all, if none is named) that are not done,
in parallel, then render the figures and write the report, whose path is printed
at the end. A job is one trial of one cell. A finished job is stored at once: a run
that was interrupted or killed goes on where it was. The file of a job has a
checksum: one that is damaged is named, and its job runs again.

At smoke scale everything goes to out/smoke. At full scale the complete table of
an experiment, with its figures and graded claims, goes to results/<experiment>;
everything else is a draft, watermarked, in out/full/<experiment>: an incomplete
table, fewer trials than the default, some cells only, another base seed.

Several machines share the work by --shard i/n: each runs its part of the jobs,
i from 0 to n-1, and only stores them; metriclab merge does the rest. All must be
given the same experiments and flags. Without --shard the environment says it:
SHARD_INDEX and SHARD_COUNT, or SHARD_COUNT and the index of an engine,
SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, NOMAD_ALLOC_INDEX,
AWS_BATCH_JOB_ARRAY_INDEX, PBS_ARRAY_INDEX, or from 1 on CI_NODE_INDEX or
PARALLEL_SEQ. An index without a count is refused, since each machine would run
everything.

Exit codes: 0 all is well; 1 some job, figure or claim failed, published results
are damaged, or results were removed while it ran; 2 the command line or the
environment is wrong; 130 interrupted.`,
		ValidArgsFunction: a.completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			sel, cfg, err := a.selected(&f, args)
			if err != nil {
				return err
			}
			if err := few.apply(c, &cfg); err != nil {
				return err
			}
			if err := atLeastOne(c, "jobs", jobs); err != nil {
				return err
			}
			if cfg.Shard, err = a.shard(c, shard, true); err != nil {
				return err
			}
			cfg.Force = force
			if jobs > 0 {
				cfg.Workers = jobs
			}
			if dry {
				return a.dryRun(c, sel, cfg)
			}
			p := a.progress(cfg)
			cfg.Progress = p.event
			silent := context.AfterFunc(c.Context(), p.interrupted)
			res, err := harness.Run(c.Context(), sel, cfg)
			silent()
			p.close()
			if err != nil {
				return err
			}
			return a.printRun(sel, res, cfg)
		},
	}
	f.add(c)
	few.add(a, c, &f)
	c.Flags().StringVar(&shard, "shard", "", "run only part i of n of the jobs, and only store them: i/n, from 0/n to n-1/n")
	c.Flags().IntVar(&jobs, "jobs", 0, "jobs that run at the same time (default: all cores)")
	c.Flags().BoolVar(&force, "force", false, "run jobs that are done, too")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would run and why, and run nothing")
	return c
}

// filters are the flags that, with the experiments, choose jobs.
type filters struct {
	trials int
	seed   uint64
	cells  []string
}

func (f *filters) add(a *app, c *cobra.Command, where *flags) {
	c.Flags().IntVar(&f.trials, "trials", 0, "trials per cell (default: each experiment's own number)")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "base seed of all random streams")
	c.Flags().StringArrayVar(&f.cells, "cell", nil, c.Name()+" only this cell; may be repeated (list --json names the cells)")
	completeFlag(c, "cell", a.completeCells(where))
}

func (f *filters) apply(c *cobra.Command, cfg *harness.Config) error {
	if err := atLeastOne(c, "trials", f.trials); err != nil {
		return err
	}
	if f.seed == 0 {
		return usageError{errors.New("flag --seed: 0 is not allowed, want at least 1")}
	}
	cfg.Trials, cfg.Seed, cfg.Cells = f.trials, f.seed, f.cells
	return nil
}

// dryRun says per experiment what would run, what is done and why.
func (a *app) dryRun(c *cobra.Command, sel []harness.Selected, cfg harness.Config) error {
	all, err := harness.Stand(c.Context(), sel, cfg)
	if err != nil {
		return err
	}
	for _, s := range all {
		expected := ""
		if s.ToRun > 0 && s.Expected > 0 {
			expected = ", " + about(s.Expected)
		}
		fmt.Fprintf(a.out, "%s: would run %s%s: %s\n", s.Experiment, plural.Of(s.ToRun, "job"), expected, why(s, cfg))
	}
	return nil
}

// why explains the number of jobs to run.
func why(s harness.Status, cfg harness.Config) string {
	parts := []string{fmt.Sprintf("%d of %d are done", s.Done, s.Jobs)}
	if s.FromTable > 0 {
		parts = append(parts, fmt.Sprintf("%d of them in the published table only", s.FromTable))
	}
	if s.Failed > 0 {
		parts = append(parts, plural.Of(s.Failed, "job")+" failed before")
	}
	if s.Damaged > 0 {
		parts = append(parts, plural.Of(s.Damaged, "stored job")+" cannot be used")
	}
	if s.NoChecksum > 0 {
		parts = append(parts, noChecksum(s.NoChecksum)+" not used")
	}
	if cfg.Force {
		parts = append(parts, "--force runs done ones too")
	}
	if s.Stray > 0 {
		parts = append(parts, plural.Of(s.Stray, "stored job")+" of other settings or versions not used")
	}
	if s.Obstacle != "" {
		parts = append(parts, "would stay a draft: "+s.Obstacle)
	}
	if s.Problem != "" {
		parts = append(parts, "damaged: "+s.Problem)
	}
	return strings.Join(parts, "; ")
}
