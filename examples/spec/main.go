// Spec is an experiment of one's own: what is measured, and what is claimed of it.
// The harness runs its jobs, keeps them in out/spec, and grades the claim.
//
//	go run ./examples/spec
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/experiment/host"
	"metriclab/pkg/judge"
	"metriclab/pkg/metric"
	"metriclab/pkg/table"
)

// setting decides the numbers of a cell; a change makes new jobs.
type setting struct {
	Apart float64 `key:"apart"`
}

var clouds = experiment.Spec{
	ID: "mine/clouds", Title: "Distances in two clouds", Source: "this file", Version: 1, Ours: true,
	Cells: func(experiment.Scale) []experiment.Cell {
		return []experiment.Cell{{Name: "apart", Settings: setting{1}}, {Name: "as one", Settings: setting{0}}}
	},
	Columns: experiment.Columns{experiment.Number("gap", "", "mean squared distance of dissimilar pairs less that of similar ones")},
	Trials:  experiment.Trials(10), Trial: trial,
	Claims: experiment.Claims([]experiment.Claim{{
		ID: "gap", Statement: "Similar pairs are nearer.", Predicate: "gap is positive in every cell", Where: "this file", Theirs: experiment.FigureOnly,
		Test: func(t *table.Table) judge.Test {
			var test judge.Positive
			for name, cell := range t.Group("cell") {
				test.Units = append(test.Units, judge.Unit{Name: name, Diffs: cell.Values("gap")})
			}
			return test
		},
	}}),
}

// trial is one job. All that it draws is of its seed.
func trial(_ context.Context, run *experiment.Run) error {
	apart := run.Cell.Settings.(setting).Apart
	set, err := synthetic.GaussianMixture(run.Seed.Stream("points"), []synthetic.Component{{Class: 0, N: 50, Mean: []float64{0, 0}}, {Class: 1, N: 50, Mean: []float64{apart, 0}}})
	if err != nil {
		return err
	}
	links, err := sample.BalancedLinks(run.Seed.Stream("pairs"), set.Y, 1000)
	gap := 0.0
	for p := range sample.Pairs(set.X, links) {
		gap -= float64(p.Label) * metric.Euclidean{}.SqDist(p.X, p.Y) / 500
	}
	run.Rows.Add(nil, table.Values{"gap": gap})
	return err
}

func main() {
	mine := experiment.Paper{Key: "mine", Citation: "Experiments of my own.", Experiments: []experiment.Spec{clouds}}
	result, err := harness.Run(context.Background(), []harness.Selected{{Paper: mine, Spec: clouds}}, harness.Config{
		Scale: experiment.Full, Folders: harness.FoldersFor(experiment.Full, "out/spec"), World: host.World(time.Now), Papers: []experiment.Paper{mine},
	})
	if err != nil || !result.OK() {
		log.Fatal(err, result.Failed)
	}
	claim := result.Outcomes[0].Claims[0]
	fmt.Printf("%s: %s\n", claim.Finding.Verdict, claim.Claim.Statement)
	for _, u := range claim.Finding.Units {
		fmt.Printf("  %-6s %+.2f ± %.2f\n", u.Name, u.Mean, u.Half)
	}
}
