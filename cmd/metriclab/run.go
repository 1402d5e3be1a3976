package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
)

func (a *app) runCommand() *cobra.Command {
	var f flags
	var few filters
	var jobs int
	var shard string
	var force, dry bool
	c := &cobra.Command{
		Use:   "run [paper|experiment ...]",
		Short: "Run experiments, draw their figures, grade their claims, write the report",
		Long: `Run the jobs of the named experiments (all, if none is named) that are not done,
in parallel, then draw the figures and write the report, whose path is printed
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

// atLeastOne checks flags, given as name and value, that were set.
func atLeastOne(c *cobra.Command, nameValue ...any) error {
	var errs []error
	for i := 0; i < len(nameValue); i += 2 {
		name, value := nameValue[i].(string), nameValue[i+1].(int)
		if c.Flags().Changed(name) && value < 1 {
			errs = append(errs, usageError{fmt.Errorf("flag --%s: %d is not allowed, want at least 1", name, value)})
		}
	}
	return together(errs...)
}

// atLeastOneEach is atLeastOne for the values of --k.
func atLeastOneEach(ks []int) error {
	var errs []error
	for _, k := range ks {
		if k < 1 {
			errs = append(errs, usageError{fmt.Errorf("flag --k: %d is not allowed, want at least 1", k)})
		}
	}
	return together(errs...)
}

func (a *app) reportCommand() *cobra.Command {
	var f flags
	var open bool
	c := &cobra.Command{
		Use:   "report [paper|experiment ...]",
		Short: "Draw and report what is done, without running anything",
		Long: `Draw the figures of what is done, grade the claims of what is complete and write
the report, without running jobs. At full scale also write the scorecard,
results/README.md, and the pages that it leads to. The path of the report is
printed at the end; --open shows it in the browser.

Every file that is read is checked: those of jobs by their checksums, table.csv
and timing.csv by meta.json, and meta.json by its own. What is damaged is named;
the rest is drawn all the same. The scorecard stays as it is while published
results are damaged.

Exit codes: 0 all is well; 1 a file is damaged, or a figure or claim failed;
2 the command line or the environment is wrong; 130 interrupted.`,
		ValidArgsFunction: a.completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			sel, cfg, err := a.selected(&f, args)
			if err != nil {
				return err
			}
			p := a.progress(cfg)
			p.report = true
			cfg.Progress = func(e harness.Event) {
				if e.NoChecksum = 0; e.Kind != harness.EventDamaged { // both are told at the end
					p.event(e)
				}
			}
			res, err := harness.Report(c.Context(), sel, cfg)
			p.close()
			if err != nil {
				return err
			}
			a.printDamaged(res.Damaged, res.NoChecksum, cfg)
			for _, path := range res.Unvouched {
				fmt.Fprintf(a.err, "%s had no checksum, as an earlier version wrote it: nothing vouches for what it said\n", path)
			}
			err = a.printRun(sel, res, cfg)
			if open && res.Report != "" {
				if openErr := a.open(c.Context(), res.Report); openErr != nil {
					fmt.Fprintf(a.err, "metriclab: the report is not opened: %v\n", openErr)
				}
			}
			if err != nil {
				return err
			}
			if len(res.Damaged) > 0 {
				return exitError(exitFailed)
			}
			return nil
		},
	}
	f.add(c)
	c.Flags().BoolVar(&open, "open", false, "open the report in the browser")
	return c
}

// damaged says which file cannot be used, why, and what to do.
func (a *app) damaged(d harness.DamagedFile, cfg harness.Config) string {
	s := fmt.Sprintf("%s: %v", d.Path, d.Err)
	switch {
	case d.Published && d.Replaced:
		return "damaged, made anew: " + s
	case d.Published:
		return "damaged: " + s + "; restore its folder from a copy, or make it anew: " + d.Command + a.folderFlags(cfg)
	case d.Replaced:
		return "damaged, its job runs again: " + s
	}
	return "damaged, counts as missing: " + s
}

// noChecksum counts stored jobs that cannot be checked.
func noChecksum(n int) string {
	return plural.Of(n, "stored job") + " of an earlier version without a checksum"
}

// printDamaged prints the files that cannot be used.
func (a *app) printDamaged(files []harness.DamagedFile, unsummed int, cfg harness.Config) {
	const shown = 20
	for i, d := range files {
		if i == shown {
			fmt.Fprintf(a.err, "and %d more\n", len(files)-shown)
			break
		}
		fmt.Fprintln(a.err, a.damaged(d, cfg))
	}
	if unsummed > 0 {
		fmt.Fprintln(a.err, noChecksum(unsummed)+": counted as missing")
	}
}

// printRun prints the results to stdout and what went wrong to stderr.
func (a *app) printRun(sel []harness.Selected, res *harness.Result, cfg harness.Config) error {
	for _, o := range res.Outcomes {
		if o.Err != nil {
			fmt.Fprintf(a.err, "%s: %v\n", o.Spec.ID, o.Err)
		}
	}
	const shown = 20
	failed, lost := res.Failed, 0
	if res.StoreErr != nil { // nothing is wrong with the jobs: their results could not be kept
		failed, lost = nil, len(res.Failed)
		fmt.Fprintf(a.err, "metriclab: stopped, because results cannot be written: %v\n", res.StoreErr)
	}
	for i, f := range failed {
		if i == shown {
			fmt.Fprintf(a.err, "and %d more\n", len(failed)-shown)
			break
		}
		fmt.Fprintf(a.err, "failed: %s, cell %s, trial %d: %v\n", f.Experiment, f.Cell, f.Trial, f.Err)
	}
	if n := len(failed); n > 0 {
		fmt.Fprintf(a.err, "%s failed; errors and stacks are in %s/.failures. ", plural.Of(n, "job"), cfg.Folders.Store)
		if cfg.Shard.Count > 0 { // the failed cells alone would be shared out in another way
			fmt.Fprintln(a.err, "The same command runs them again.")
		} else {
			fmt.Fprintln(a.err, "To run them again:")
			for _, line := range res.RerunCommands(cfg) {
				fmt.Fprintln(a.err, "  "+line+a.folderFlags(cfg))
			}
		}
	}
	if n := res.NotRun + lost; n > 0 {
		fmt.Fprintf(a.err, "%s did not run or could not be kept; the same command goes on with them.\n", plural.Of(n, "job"))
	}
	if res.Interrupted {
		return exitError(exitInterrupted)
	}
	switch {
	case res.Report != "":
		if err := a.printOutcomes(res, cfg); err != nil {
			return err
		}
	case cfg.Shard.Count > 0 && res.StoreErr == nil:
		if err := a.printShard(sel, res, cfg); err != nil {
			return err
		}
	}
	if !res.OK() {
		return exitError(exitFailed)
	}
	return nil
}

// folderFlags repeats the folders that are not the default.
func (a *app) folderFlags(cfg harness.Config) string {
	s := ""
	if def := harness.FoldersFor(cfg.Scale, ""); def.Store != cfg.Folders.Store {
		s += " --results " + cfg.Folders.Store
	}
	if cfg.Data != nil && cfg.Data.Dir() != "data" {
		s += " --data " + cfg.Data.Dir()
	}
	return s
}

func (a *app) printOutcomes(res *harness.Result, cfg harness.Config) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	count := map[judge.Verdict]int{}
	drawn, views := 0, 0
	for _, o := range res.Outcomes {
		state := "draft: " + o.Watermark
		if o.Published {
			state = "published"
		}
		dir := o.Dir
		if dir == "" {
			dir = "-"
		}
		fmt.Fprintf(w, "%s\t%d of %d jobs\t%s\t%s\n", o.Spec.ID, o.Done, o.Jobs, state, dir)
		if len(o.Views) > 0 {
			drawn, views = drawn+1, views+len(o.Views)
		}
		for _, c := range o.Claims {
			count[c.Finding.Verdict]++
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var parts []string
	for _, v := range judge.Verdicts {
		if count[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[v], v))
		}
	}
	smoke := cfg.Scale == experiment.Smoke
	if len(parts) > 0 && !smoke {
		fmt.Fprintln(a.out, "claims: "+strings.Join(parts, ", "))
	}
	_, err := fmt.Fprintln(a.out, "report: "+res.Report)
	if smoke && err == nil {
		_, err = fmt.Fprintf(a.out, "smoke scale: %s with %s drawn on built-in data, no claim is graded; the graded results: metriclab report --scale full\n",
			plural.Of(drawn, "experiment"), plural.Of(views, "figure"))
	}
	return err
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

func (a *app) statusCommand() *cobra.Command {
	var f flags
	var shard string
	var asJSON bool
	c := &cobra.Command{
		Use:   "status [paper|experiment ...]",
		Short: "Say what is done, missing and failed",
		Long: `Count the jobs of each experiment: done, missing, failed; done by another commit
than this program's; and stored jobs that belong to other settings or versions
(stray). Published says whether the published table is complete and current
(yes), of an earlier version of the code (stale) or neither (no).
With --shard i/n jobs are counted of that shard only, as run shares them out.

If metriclab submit slurm wrote the results folder, each shard that is not finished is
shown too, with the state that Slurm tells and the reason why one failed.`,
		ValidArgsFunction: a.completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			sel, cfg, err := a.selected(&f, args)
			if err != nil {
				return err
			}
			if cfg.Shard, err = a.shard(c, shard, false); err != nil {
				return err
			}
			all, err := harness.Stand(c.Context(), sel, cfg)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(all)
			}
			w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "experiment\tjobs\tdone\tmissing\tfailed\tother commit\tstray\tpublished")
			for _, s := range all {
				published := "no"
				switch {
				case s.Stale:
					published = "stale"
				case s.Published:
					published = "yes"
				}
				fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", s.Experiment, s.Jobs, s.Done, s.Missing, s.Failed, s.OtherCommit, s.Stray, published)
			}
			for _, s := range all {
				if s.Damaged > 0 {
					fmt.Fprintf(w, "%s: %s cannot be used: counted as missing; metriclab report names the files\n", s.Experiment, plural.Of(s.Damaged, "stored job"))
				}
				if s.NoChecksum > 0 {
					fmt.Fprintf(w, "%s: %s: counted as missing\n", s.Experiment, noChecksum(s.NoChecksum))
				}
				if s.Problem != "" {
					fmt.Fprintf(w, "%s: the published results are damaged: %s; metriclab report says what to do\n", s.Experiment, s.Problem)
				}
			}
			if err := w.Flush(); err != nil {
				return err
			}
			if cfg.Shard.Count > 0 {
				return nil
			}
			return a.printShards(c.Context(), cfg.Folders.Store)
		},
	}
	f.add(c)
	c.Flags().StringVar(&shard, "shard", "", "count only part i of n of the jobs: i/n, from 0/n to n-1/n")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
