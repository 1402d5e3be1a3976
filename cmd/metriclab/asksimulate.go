package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/ask"
	"metriclab/pkg/feedback"
	"metriclab/pkg/judge"
	"metriclab/pkg/vectors"
)

// simulateFlags are those of ask --simulate.
type simulateFlags struct {
	simulate        string
	answers, trials int
	flip            float64
	seed            uint64
}

// simulateOnly are the flags that go with --simulate alone.
var simulateOnly = []string{"answers", "trials", "flip", "seed"}

func (f *simulateFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.simulate, "simulate", "", "answer by itself: by a file of vectors, or with people's own answers in a file of comparisons")
	flags.IntVar(&f.answers, "answers", 0, "answers of a trial, with --simulate (default: 20 for each item, of people's own at most half of their questions)")
	flags.IntVar(&f.trials, "trials", 10, "pairs of trials, with --simulate")
	flags.Float64Var(&f.flip, "flip", 0, "probability that an answer by vectors is the opposite, with --simulate")
	flags.Uint64Var(&f.seed, "seed", 1, "origin of all that is drawn, with --simulate")
}

func (a *app) simulate(c *cobra.Command, f *askFlags, args []string) error {
	p, err := f.params()
	var wrong []error
	if len(args) > 0 {
		wrong = append(wrong, usageError{fmt.Errorf("metriclab ask --simulate takes no folder or file to ask about, got %q", args)})
	}
	for _, name := range []string{"question", "repeat", "out", "listen", "code", "host", "vectors", "ids"} {
		if c.Flags().Changed(name) {
			wrong = append(wrong, usageError{fmt.Errorf("flag --%s: not together with --simulate", name)})
		}
	}
	if !c.Flags().Changed("choose") {
		p.Choose = ask.ChoiceCKL
	}
	if err := together(append(wrong, err, atLeastOne(c, "answers", f.answers, "trials", f.trials))...); err != nil {
		return err
	}
	ctx := c.Context()
	progress, end := a.meter(ctx, work{noun: "trial"})
	plan := ask.Plan{Choose: p.Choose, Random: f.random, Answers: f.answers, Trials: f.trials, Flip: f.flip, Seed: f.seed, Progress: progress}
	curve, err := atOnce(ctx, func() (ask.Curve, error) { return f.curve(ctx, a, plan) })
	end()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "answers\terror in %% after random questions\tafter %v, %.0f %% of them random\n", p.Choose, 100*f.random)
	for i, n := range curve.Answers {
		fmt.Fprintf(w, "%d\t%s\t%s\n", n, interval(ask.At(curve.Random, i)), interval(ask.At(curve.Chosen, i)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "\n%s\n", choosingPays(curve, p.Choose))
	return err
}

// curve simulates with vectors or with people's answers.
func (f *simulateFlags) curve(ctx context.Context, a *app, plan ask.Plan) (ask.Curve, error) {
	if strings.HasSuffix(strings.ToLower(f.simulate), ".npy") {
		x, err := wholeVectors(f.simulate)
		if err != nil {
			return ask.Curve{}, err
		}
		return ask.SimulateVectors(ctx, x, plan)
	}
	set, err := readTold(ctx, a, f.simulate, func(r io.Reader) (*feedback.Triplets, error) {
		return feedback.ReadTriplets(r, tableName(f.simulate), 0, feedback.Form{})
	})
	if err != nil {
		return ask.Curve{}, err
	}
	a.note(tableName(f.simulate), set.Notes)
	return ask.SimulateAnswers(ctx, set.Objects, set.List, plan)
}

// wholeVectors reads all vectors of a file.
func wholeVectors(path string) (*mat.Dense, error) {
	v, err := vectors.Open(path)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	all := make([]int, v.Rows())
	for i := range all {
		all[i] = i
	}
	return v.Select(all)
}

// choosingPays says what the pairs of trials found.
func choosingPays(c ask.Curve, choose ask.Choice) string {
	less := c.Less()
	mean, half := less.Interval()
	over := func(sign float64) string {
		return fmt.Sprintf("by %.2f percentage points over the curve (95 %%: %.2f to %.2f, %d pairs of trials)", 100*sign*mean, 100*(sign*mean-half), 100*(sign*mean+half), less.N)
	}
	switch less.Side() {
	case judge.For:
		return fmt.Sprintf("Choosing pays: after %v maps have a smaller error than after random questions, %s.", choose, over(1))
	case judge.Against:
		return fmt.Sprintf("Choosing does not pay: after random questions maps have a smaller error than after %v, %s.", choose, over(-1))
	}
	return fmt.Sprintf("Random is as good: after %v no smaller error is seen than after random questions; they differ %s.", choose, over(1))
}
