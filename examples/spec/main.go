// This program has an experiment of one's own: what is measured, drawn and claimed.
// The harness runs its jobs, keeps them in a folder, draws the view and grades the claim.
//
//	go run ./examples/spec
package main

import (
	"context"
	"fmt"
	"log"
	"path/filepath"
	"time"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/experiment/host"
	"metriclab/pkg/judge"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// setting decides the numbers of a cell; a change makes new jobs.
type setting struct {
	Apart float64 `key:"apart"`
}

var spec = experiment.Spec{
	ID: "mine/clouds", Title: "Distances in two clouds", Source: "a question of mine",
	Version: 1, // one more whenever what trial computes changes, so that finished jobs run again
	Cells: func(experiment.Scale) []experiment.Cell {
		return []experiment.Cell{{Name: "apart", Settings: setting{1}}, {Name: "as one", Settings: setting{0}}}
	},
	Trials:  experiment.Trials(10),
	Columns: experiment.Columns{experiment.Number("similar", "", "mean squared distance of similar pairs"), experiment.Number("dissimilar", "", "the same of dissimilar pairs")},
	Trial:   trial,
	Views: []experiment.View{{Name: "gap", Title: "How much nearer similar pairs are", Draw: frame.View{
		Panels:  frame.Each(frame.Panel{Panel: plots.Panel{XLabel: "squared distance: dissimilar less similar pairs"}, Of: []frame.Mark{frame.Dots(plots.Intervals{}, "cell", gap, frame.Band{})}}),
		Caption: frame.Says("Mean squared distance of dissimilar pairs less that of similar pairs.", "Two Gaussian clouds of 50 points in the plane.", "1000 pairs, half of them similar.", ", which cover the draws of points and pairs"),
	}.Draw}},
	Claims: experiment.Claims([]experiment.Claim{{
		ID: "gap", Statement: "Similar pairs are nearer.", Predicate: "dissimilar less similar is positive in every cell", Where: "a question of mine",
		Test: frame.Positive(judge.Rule{}, frame.OverGroups(gap, "cell")),
	}}),
}

// gap is what is drawn and claimed: a number for each trial.
var gap = frame.Column("dissimilar").Minus(frame.Column("similar"))

// trial is one job: a cell once. All that it draws at random is of its seed.
func trial(_ context.Context, run *experiment.Run) error {
	apart := run.Cell.Settings.(setting).Apart
	set, err := synthetic.GaussianMixture(run.Seed.Stream("points"), []synthetic.Component{{Class: 0, N: 50, Mean: []float64{0, 0}}, {Class: 1, N: 50, Mean: []float64{apart, 0}}})
	if err != nil {
		return err
	}
	links, err := sample.BalancedLinks(run.Seed.Stream("pairs"), set.Y, 1000)
	mean := map[metric.Label]float64{}
	for p := range sample.Pairs(set.X, links) {
		mean[p.Label] += metric.Euclidean{}.SqDist(p.X, p.Y) / 500
	}
	run.Rows.Add(nil, table.Values{"similar": mean[metric.Similar], "dissimilar": mean[metric.Dissimilar]})
	return err
}

func main() {
	mine := experiment.Paper{Key: "mine", Citation: "Experiments of my own.", Experiments: []experiment.Spec{spec}}
	result, err := harness.Run(context.Background(), []harness.Selected{{Paper: mine, Spec: spec}}, harness.Config{
		Scale: experiment.Full, Folders: harness.FoldersFor(experiment.Full, "out/clouds"), World: host.World(time.Now), Papers: []experiment.Paper{mine},
	})
	if err != nil {
		log.Fatal(err)
	}
	o := result.Outcomes[0]
	if !result.OK() {
		log.Fatal(o.Err, result.Failed)
	}
	for _, c := range o.Claims {
		fmt.Printf("%s: %s\n", c.Finding.Verdict, c.Statement)
		for _, u := range c.Finding.Units {
			fmt.Printf("  %-6s %+.2f ± %.2f\n", u.Name, u.Mean, u.Half)
		}
	}
	fmt.Println("report:", filepath.ToSlash(result.Report))
}
