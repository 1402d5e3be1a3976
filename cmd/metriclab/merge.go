package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/experiment/harness"
)

func (a *app) mergeCommand() *cobra.Command {
	var f flags
	var few filters
	var names []string
	c := &cobra.Command{
		Use:   "merge [DIR ...]",
		Short: "Bring the jobs of several machines or shards together, then render, grade and report",
		Long: `Copy the finished jobs of the results folders DIR ... to the own results folder
(--results), then render, grade, publish and report as run does when no job is
missing. Without DIR it does so with the jobs that are here, such as those of
shards that wrote to one shared folder.

A job that is here already stays as it is, so that merging again is harmless, a
folder with itself too. Two files with different values of the same job are an
error that names both, and nothing is changed. A damaged file is named and
counts as missing; files of an earlier version that have no checksum are counted
and are missing too. Jobs of another scale, seed or version, or that the flags do
not ask for, are counted (stray) and left where they are. Give the flags --scale, --trials, --seed and --cell that the
runs had, and --experiment if they ran some experiments only.

Exit codes: 0 all jobs are here; 1 something failed; 2 the command line is wrong;
3 jobs are missing: the figures are drafts; 130 interrupted.`,
		ValidArgsFunction: completeFolders,
		RunE: func(c *cobra.Command, dirs []string) error {
			sel, cfg, err := a.selected(&f, names)
			if err != nil {
				return err
			}
			if err := few.apply(c, &cfg); err != nil {
				return err
			}
			m, err := harness.Merge(c.Context(), sel, dirs, cfg)
			if err != nil {
				return err
			}
			return a.printMerge(sel, m, cfg)
		},
	}
	f.add(c)
	few.add(a, c, &f)
	c.Flags().StringArrayVar(&names, "experiment", nil, "merge only this experiment or paper; may be repeated")
	completeFlag(c, "experiment", a.completeExperiments)
	return c
}

// printMerge prints what came from where and what is missing, then what
// printRun prints.
func (a *app) printMerge(sel []harness.Selected, m *harness.Merged, cfg harness.Config) error {
	a.printDamaged(m.Damaged, m.NoChecksum, cfg)
	if len(m.Sources) > 0 {
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "source\tnew\there already\tdamaged\tno checksum\tstray\tother scale")
		for _, s := range m.Sources {
			if s.Same != "" {
				fmt.Fprintf(w, "%s\tthe same folder as %s\n", s.Dir, s.Same)
				continue
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", s.Dir, s.New, s.Known, s.Damaged, s.NoChecksum, s.Stray, s.OtherScale)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if m.Err != nil {
		return m.Err
	}
	others := 0
	for _, s := range m.Sources {
		others += s.OtherScale
	}
	missing := 0
	for _, e := range m.Missing {
		failed := ""
		if e.Failed > 0 {
			failed = fmt.Sprintf(", of which %d failed", e.Failed)
		}
		fmt.Fprintf(a.err, "missing: %s: %d of %s%s\n", e.Experiment, e.Missing, plural.Of(e.Jobs, "job"), failed)
		missing += e.Missing
	}
	if missing > 0 && others > 0 {
		fmt.Fprintf(a.err, "%s of another scale are in the sources: is --scale %s right?\n", plural.Of(others, "job"), cfg.Scale)
	}
	err := a.printRun(sel, m.Result, cfg)
	if missing > 0 && m.Result.StoreErr == nil && !m.Result.Interrupted {
		return exitError(exitMissing)
	}
	return err
}
