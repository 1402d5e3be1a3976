package harness_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/experiment/host"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// walk is the setting of a cell: the steps of a random walk.
type walk struct {
	Steps int `key:"steps"`
}

// walkColumns is a variable of its own: a Trial cannot name the Spec that it is part of.
var walkColumns = experiment.Columns{experiment.Number("distance", "steps", "from the origin to the end of the walk")}

// walks is an experiment of one's own: how far random walks get.
var walks = experiment.Spec{
	ID: "mine/walks", Title: "How far random walks get", Source: "nowhere", Version: 1, Ours: true,
	Cells: func(experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, n := range []int{100, 400} {
			cells = append(cells, experiment.Cell{Name: fmt.Sprint(n), Settings: walk{n}, Methods: map[string]int{"walk": 1}})
		}
		return cells
	},
	Trials:  experiment.Trials(20),
	Columns: walkColumns,
	Trial: func(_ context.Context, run *experiment.Run) error {
		rng, at := run.Seed.Stream("steps"), 0
		for range run.Cell.Settings.(walk).Steps {
			at += 2*rng.IntN(2) - 1
		}
		run.Rows.Add(nil, table.Values{"distance": math.Abs(float64(at))})
		return nil
	},
	Views: []experiment.View{{Name: "walks", Title: "Distances", Draw: frame.View{
		Text:    &frame.Text{By: []string{"cell", "steps"}, Cells: []frame.Cell{frame.Of("distance", frame.Column("distance"), frame.Band{}, "%.1f")}},
		Caption: frame.Says("Mean distances.", "Random walks.", "", ""),
	}.Draw}},
	Claims: experiment.Claims([]experiment.Claim{{
		ID: "slow", Statement: "A walk gets less far than a third of its steps.", Where: "folklore", Theirs: experiment.FigureOnly, Predicate: "distance < 100/3 in each trial of the cell 100",
		Test: func(t *table.Table) judge.Test {
			var holds []bool
			for i, cell := range t.Index("cell") {
				if cell == "100" {
					holds = append(holds, t.Values("distance")[i] < 100.0/3)
				}
			}
			return judge.Holds(holds)
		},
	}}),
}

// A Spec of one's own is run, stored and graded by a program of one's own. The
// program says on which machine it runs, and it could say by which command: without
// Config.Origin no file says so.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "walks") // or a folder that stays: the next run goes on there
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	mine := experiment.Paper{Key: "mine", Citation: "Experiments of my own.", Experiments: []experiment.Spec{walks}}
	result, err := harness.Run(context.Background(), []harness.Selected{{Paper: mine, Spec: walks}}, harness.Config{
		Scale:   experiment.Full,
		Workers: 2,
		Folders: harness.FoldersFor(experiment.Full, dir),
		World:   host.World(time.Now),
		Papers:  []experiment.Paper{mine},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range result.Failed {
		fmt.Println(f.Cell, f.Trial, f.Err)
	}
	o := result.Outcomes[0]
	fmt.Println(o.Done, "of", o.Jobs, "jobs; published:", o.Published)
	for _, c := range o.Claims {
		fmt.Println(c.ID, "is", c.Finding.Verdict)
	}
	for _, name := range []string{"README.md", "mine/walks/table.csv", "mine/walks/meta.json"} {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		fmt.Println(name, err == nil)
	}
	// Output:
	// 40 of 40 jobs; published: true
	// slow is reproduced
	// README.md true
	// mine/walks/table.csv true
	// mine/walks/meta.json true
}
