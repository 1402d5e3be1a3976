package main

import (
	"fmt"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/table"
)

// setting is what decides the numbers of a cell; a change makes new jobs.
type setting struct {
	Features int `key:"noise features"`
}

var columns = experiment.Columns{
	experiment.Number("euclidean", "share", "test rows classified wrongly under the Euclidean distance"),
	experiment.Number("lmnn", "share", "the same under the metric of LMNN"),
}

// noise asks whether a learned metric gets over features that tell nothing.
var noise = experiment.Spec{
	ID: "mine/noise", Title: "1-NN error with features of noise", Source: "this file", Version: 1, Ours: true,
	Cells: func(experiment.Scale) (cells []experiment.Cell) {
		for _, n := range []int{8, 32} {
			cells = append(cells, experiment.Cell{Name: fmt.Sprintf("%d noisy", n), Settings: setting{n}, Methods: map[string]int{"lmnn": labels.LMNNVersion, "knn": nearest.KNNVersion}})
		}
		return cells
	},
	Trials:  experiment.Trials(10),
	Columns: columns,
	Trial:   trial,
	Claims: []experiment.Claim{{
		ID: "learned", Statement: "LMNN errs less than the Euclidean distance.", Where: "this file", Theirs: experiment.FigureOnly,
		Predicate: "euclidean − lmnn is positive in every cell",
		Test: func(t *table.Table) judge.Test {
			var test judge.Positive
			for name, cell := range t.Group("cell") {
				test.Units = append(test.Units, judge.Paired(name, cell.Values("euclidean"), cell.Values("lmnn")))
			}
			return test
		},
	}},
}
