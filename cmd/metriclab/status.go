package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/experiment/harness"
)

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
