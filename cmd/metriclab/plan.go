package main

import (
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
)

// mostWorkers bounds the workers of plan.
const mostWorkers = 100_000

func (a *app) planCommand() *cobra.Command {
	f := flags{}
	var few filters
	var workers int
	c := &cobra.Command{
		Use:   "plan [paper|experiment ...]",
		Short: "Predict how long a run takes on so many workers, and where more do not help",
		Long: `Predict the time of a run from what its jobs took when they ran last: the timing tables
beside the published results. All jobs count, done or not. The column machines is
for one job at a time on each of so many workers, the longest jobs first, as shards on a
cluster come near to. The column one process is for metriclab run --jobs on one machine,
which runs the jobs of experiments that compare times alone, one by one.

No number of workers is faster than the longest job: the longest are named. Times are
of the machines that made the results; yours may be faster or slower as a whole.`,
		Example:           "  metriclab plan pola2004 --workers 16",
		ValidArgsFunction: a.completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			if err := atLeastOne(c, "workers", workers); err != nil {
				return err
			}
			if workers > mostWorkers {
				return usageError{fmt.Errorf("flag --workers: %d is not allowed, want at most %d", workers, mostWorkers)}
			}
			sel, cfg, err := a.selected(&f, args)
			if err != nil {
				return err
			}
			if err := few.apply(c, &cfg); err != nil {
				return err
			}
			p, err := harness.Predict(c.Context(), sel, cfg)
			if err != nil {
				return err
			}
			return a.printPlan(p, workers)
		},
	}
	c.Flags().StringVar(&f.scale, "scale", string(experiment.Full), "smoke (built-in data, seconds) or full (the papers' protocols)")
	completeFlag(c, "scale", completeScales)
	c.Flags().StringVar(&f.results, "results", "", "folder of results instead of results/ (full) or out/smoke/ (smoke)")
	completeFolder(c, "results")
	addData(c, &f.data)
	few.add(a, c, &f)
	c.Flags().IntVar(&workers, "workers", 0, "workers to plan for (default: 1, 2, 4, ... as long as more help)")
	return c
}

// helps is the share of the time that twice the workers must save to be worth a line.
const helps = 0.05

func (a *app) printPlan(p harness.Prediction, workers int) error {
	measured := 0
	var longest time.Duration
	for _, j := range p.Jobs {
		if j.Measured {
			measured++
		}
		longest = max(longest, j.Wall)
	}
	fmt.Fprintf(a.out, "%s, %s of processor time; %d measured, the others by the mean or the declared time of their experiment\n", plural.Of(len(p.Jobs), "job"), rough(p.CPU()), measured)
	if p.PeakRSSKiB > 0 {
		fmt.Fprintf(a.out, "memory: at most %.1f GiB in one process so far\n", float64(p.PeakRSSKiB)/(1<<20))
	}
	counts := []int{workers}
	stop := 0 // workers from which on more do not help
	if workers == 0 {
		counts = counts[:0]
		for n := 1; n <= mostWorkers; n *= 2 {
			counts = append(counts, n)
			if now, more := p.Spread(n), p.Spread(2*n); float64(now-more) <= helps*float64(now) {
				stop = n
				break
			}
		}
	}
	fmt.Fprintln(a.out)
	w := tabwriter.NewWriter(a.out, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "workers\tmachines\tone process\t")
	for _, n := range slices.Compact(counts) {
		fmt.Fprintf(w, "%d\t%s\t%s\t\n", n, rough(p.Spread(n)), rough(p.OneProcess(n)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	if stop > 0 {
		fmt.Fprintf(a.out, "More than %d do not help: twice as many save less than %.0f %%. ", stop, 100*helps)
	}
	fmt.Fprintf(a.out, "No number is faster than the longest job, %s:\n", rough(longest))
	const shown = 5
	w = tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, j := range p.Longest(shown) {
		fmt.Fprintf(w, "  %s\t%s, cell %s, trial %d\n", rough(j.Wall), j.Experiment, j.Cell, j.Trial)
	}
	return w.Flush()
}

// rough is a time as people plan with it.
func rough(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < 10*time.Minute:
		return d.Round(time.Second).String()
	}
	s := d.Round(time.Minute).String()
	return s[:len(s)-len("0s")]
}
