package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
)

func (a *app) reseedCommand() *cobra.Command {
	f := flags{scale: string(experiment.Full)}
	var seed uint64
	var jobs int
	var against string
	var atMost time.Duration
	var publish bool
	c := &cobra.Command{
		Use:   "reseed [paper|experiment ...]",
		Short: "Run experiments with another base seed, and list the verdicts that change",
		Long: `Run the named experiments (all, if none is named) at full scale with another base
seed, which draws other data, folds and starts, and grade their claims. Then list each
claim whose verdict is not that of the published results: which verdicts depend on
the draw?

Jobs, tables and figures go to a folder of their own, out/seed2 for the seed 2; there the
figures are drafts. A run that was interrupted goes on where it was. Experiments whose
published run took longer than --max-cpu are named and left out.

--publish adds the list to seeds.json beside the published results; metriclab report
--scale full puts it on the scorecard.

Exit codes: 0 all is well, whatever the verdicts; 1 some job, figure or claim failed;
2 the command line is wrong; 130 interrupted.`,
		ValidArgsFunction: a.completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			if seed < 2 {
				return usageError{fmt.Errorf("flag --seed: %d is not allowed, want at least 2: the published results have 1", seed)}
			}
			if atMost <= 0 {
				return usageError{errors.New("flag --max-cpu: want a positive time, such as 1h")}
			}
			if err := atLeastOne(c, "jobs", jobs); err != nil {
				return err
			}
			if f.results == "" {
				f.results = fmt.Sprintf("out/seed%d", seed)
			}
			sel, cfg, err := a.selected(&f, args)
			if err != nil {
				return err
			}
			cfg.Seed = seed
			if jobs > 0 {
				cfg.Workers = jobs
			}
			base := cfg
			base.Seed, base.Folders = 1, harness.FoldersFor(experiment.Full, against)
			kept, left, err := harness.Affordable(c.Context(), sel, base, atMost)
			if err != nil {
				return err
			}
			for _, l := range left {
				fmt.Fprintf(a.err, "left out: %s, since %s\n", l.Experiment, l.Reason)
			}
			if len(kept) == 0 {
				return errors.New("no experiment is left to run with another seed")
			}
			return a.reseed(c.Context(), kept, cfg, base, publish)
		},
	}
	c.Flags().Uint64Var(&seed, "seed", 2, "the other base seed")
	c.Flags().IntVar(&jobs, "jobs", 0, "jobs that run at the same time (default: all cores)")
	c.Flags().DurationVar(&atMost, "max-cpu", time.Hour, "leave out experiments whose published run took longer on the CPU")
	c.Flags().StringVar(&f.results, "results", "", "folder of the other seed's jobs and drafts instead of out/seed<seed>")
	c.Flags().StringVar(&against, "against", "", "folder of the published results instead of results/")
	completeFolder(c, "results")
	completeFolder(c, "against")
	addData(c, &f.data)
	c.Flags().BoolVar(&publish, "publish", false, "add the list to seeds.json of the published results")
	return c
}

// reseed runs the experiments and prints which verdicts differ from those of base.
func (a *app) reseed(ctx context.Context, sel []harness.Selected, cfg, base harness.Config, publish bool) error {
	// What cannot be compared with is told before hours of jobs.
	now, err := harness.Explain(ctx, sel, base)
	if err != nil {
		return err
	}
	p := a.progress(cfg)
	cfg.Progress = p.event
	silent := context.AfterFunc(ctx, p.interrupted)
	res, seeds, err := harness.Reseed(ctx, sel, cfg)
	silent()
	p.close()
	if err != nil {
		return err
	}
	ran := a.printRun(sel, res, cfg)
	if res.Interrupted {
		return ran
	}
	if err := a.printSeeds(seeds, now); err != nil {
		return err
	}
	if publish {
		path, err := harness.PublishSeeds(seeds, base)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "written: %s; metriclab report --scale full puts it on the scorecard\n", path)
	}
	return ran
}

// printSeeds lists the claims whose verdict with another seed is another one.
func (a *app) printSeeds(seeds []harness.Reseeded, published []harness.Explained) error {
	verdicts := map[string]judge.Verdict{}
	for _, e := range published {
		for _, c := range e.Claims {
			verdicts[e.Experiment+" "+c.ID] = c.Finding.Verdict
		}
	}
	claims, differ := 0, 0
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, s := range seeds {
		for _, c := range s.Claims {
			name := s.Experiment + " " + c.ID
			claims++
			if verdicts[name] == c.Verdict {
				continue
			}
			if differ++; differ == 1 {
				fmt.Fprintf(w, "claim\tseed 1\tseed %d\n", s.Seed)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", name, verdicts[name], c.Verdict)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "%s graded again, %d with another verdict\n", plural.Of(claims, "claim"), differ)
	return err
}
