package erkle2015

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/table"
)

// Fig3 compares the methods on the survey about music artists.
var Fig3 = experiment.Spec{
	ID:      "erkle2015/fig3",
	Title:   "Similarity of music artists: test error, training error and rank against triplets",
	Source:  "Section 5.3, Fig. 3",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d := judgements[0]
		cell := func(name string, version map[string]int, more map[string]string) experiment.Cell {
			params := d.params(scale)
			params["part"], params["sizes"] = name, formatInts(d.sizes(scale))
			for k, v := range more {
				params[k] = v
			}
			return experiment.Cell{Name: name, Dataset: d.datasetAt(scale), Params: params, Methods: version}
		}
		erkle := map[string]int{"ERKLE": triplets.ERKLEVersion}
		cells := []experiment.Cell{cell(onlinePart, erkle, map[string]string{"every": strconv.Itoa(evaluateEvery)})}
		for _, b := range d.batches {
			cells = append(cells, cell(b.name, map[string]int{"batch": triplets.BatchVersion}, batchParams(d.name, b.name)))
		}
		values := map[string]string{}
		for _, f := range families {
			values[f.name] = formatAll(f.values)
		}
		return append(cells, cell(readingsPart, erkle, values))
	},
	Trials: experiment.Trials(6),
	Index:  judgedIndex,
	Values: judgedValues,
	Trial:  fig3Trial,
	Views:  fig3Views,
	Claims: fig3Claims,
	Cost:   2 * time.Minute,
}

// Cells of Fig. 3 beside those of the batch methods.
const (
	onlinePart   = "ERKLE"
	readingsPart = "ERKLE, other settings"
)

// batchParams are the settings of a batch method in the parameters of a cell.
func batchParams(data, method string) map[string]string {
	c, err := tauOf(data, method)
	if err != nil {
		panic(err) // the choice is frozen in this package
	}
	return map[string]string{"tau": formatAll(c.distinct()), "iterations": formatInts([]int{batchIterations, convergedIterations}), "tolerance": table.Format(batchTol)}
}

func fig3Trial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	j, err := newJudged(env, cell, seed)
	if err != nil {
		return nil, err
	}
	switch part := cell.Params["part"]; part {
	case onlinePart:
		if err := j.count(env); err != nil {
			return nil, err
		}
		if err := j.steps(ctx); err != nil {
			return nil, err
		}
		return j.rows, j.online(ctx, evaluateEvery)
	case readingsPart:
		return j.rows, j.readings(ctx)
	default:
		b, err := batchOf(part)
		if err != nil {
			return nil, err
		}
		return j.rows, j.batch(ctx, b)
	}
}

// What is counted of the answers.
const (
	readAnswers       = "answers read"
	degenerateAnswers = "answers that do not compare three artists"
	allAnswers        = "answers kept"
	allDistinct       = "different answers kept"
	allConflicts      = "questions answered both ways"
	allCyclic         = "answers that take part in a contradiction"
	allOccurring      = "artists that occur"
	trainCyclic       = "training answers that take part in a contradiction"
	trainOccurring    = "artists that occur in training answers"
	atMostViolated    = "training answers that the best kernel violates, at most"
	againstTraining   = "test answers that contradict training answers"
)

// count counts conflicts in the source and in the split.
func (j *judged) count(env *experiment.Env) error {
	add := func(what string, n int) {
		j.rows.Add(table.Key{"kind": "count", "setting": what}, table.Values{"count": float64(n)})
	}
	if env.Scale == experiment.Full {
		set, err := env.Data.Triplets(j.seed.Dataset)
		if err != nil {
			return err
		}
		r := set.Report
		for _, c := range []struct {
			what string
			n    int
		}{
			{readAnswers, r.Read}, {degenerateAnswers, r.Degenerate}, {allAnswers, r.Triplets}, {allDistinct, r.Distinct},
			{allConflicts, r.Conflicts}, {allCyclic, r.Cyclic}, {allOccurring, r.Occurring},
		} {
			add(c.what, c.n)
		}
	}
	c, err := datasets.CountTriplets(j.objects, j.train)
	if err != nil {
		return fmt.Errorf("training answers: %w", err)
	}
	add(trainOccurring, c.Occurring)
	add(trainCyclic, c.Cyclic)
	add(atMostViolated, unsatisfiable(j.train))
	add(againstTraining, contradicted(j.train, j.test))
	return nil
}
