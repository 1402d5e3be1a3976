package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
)

func (a *app) reportCommand() *cobra.Command {
	var f flags
	var open bool
	c := &cobra.Command{
		Use:   "report [paper|experiment ...]",
		Short: "Render and report what is done, without running anything",
		Long: `Render the figures of what is done, grade the claims of what is complete and write
the report, without running jobs. At full scale also write the scorecard,
results/README.md, and the pages that it leads to. The path of the report is
printed at the end; --open shows it in the browser.

Of experiments that are not named, figures and findings stay as they are, unless
their tables or declarations have changed since they were rendered: to have
figures of code that several experiments share rendered anew, name them all, or none.

Every file that is read is checked: those of jobs by their checksums, table.csv
and timing.csv by meta.json, and meta.json by its own. What is damaged is named;
the rest is rendered all the same. The scorecard stays as it is while published
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
	rendered, views := 0, 0
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
			rendered, views = rendered+1, views+len(o.Views)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	smoke := cfg.Scale == experiment.Smoke
	for table, name := range []string{harness.TableSentences: "sentences", harness.TableChecks: "checks", harness.TableOurs: "questions of ours"} {
		if words := res.Tally(harness.Table(table)).String(); words != "" && !smoke {
			fmt.Fprintln(a.out, name+": "+words)
		}
	}
	_, err := fmt.Fprintln(a.out, "report: "+res.Report)
	if smoke && err == nil {
		_, err = fmt.Fprintf(a.out, "smoke scale: %s with %s rendered on built-in data, no claim is graded; the graded results: metriclab report --scale full\n",
			plural.Of(rendered, "experiment"), plural.Of(views, "figure"))
	}
	return err
}
