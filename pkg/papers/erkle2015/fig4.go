package erkle2015

import (
	"context"
	"strconv"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/table"
)

// Fig4 compares the methods on few answers, of stand-ins for those about outdoor scenes.
var Fig4 = experiment.Spec{
	ID:      "erkle2015/fig4",
	Title:   "Few answers: materials and shoes in place of outdoor scenes",
	Source:  "Section 5.4, Fig. 4",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, d := range judgements[1:] {
			params := d.params(scale)
			params["sizes"], params["every"], params[traceFamily.name] = formatInts(d.sizes(scale)), strconv.Itoa(evaluateEvery), formatAll(traceFamily.values)
			for _, b := range d.batches {
				for k, v := range batchParams(d.name, b.name) {
					params[b.name+" "+k] = v
				}
			}
			cells = append(cells, experiment.Cell{Name: d.name, Dataset: d.datasetAt(scale), Params: params, Methods: methodVersions})
		}
		return cells
	},
	Trials: experiment.Trials(10),
	Index:  judgedIndex,
	Values: judgedValues,
	Trial:  fig4Trial,
	Views:  fig4Views,
	Claims: fig4Claims,
	Cost:   time.Minute,
}

// The methods that know the features of the shoes.
const (
	featuresAlone = "features, no learning"
	paFeatures    = "PA-ERKLE from features"
	paFeaturesTen = "PA-ERKLE from features, 10 passes"
)

func fig4Trial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	j, err := newJudged(env, cell, seed)
	if err != nil {
		return nil, err
	}
	every := evaluateEvery
	if j.data.name == materialOwn {
		every = 0
	}
	if err := j.online(ctx, every); err != nil {
		return nil, err
	}
	for _, b := range j.data.batches {
		if err := j.batch(ctx, b); err != nil {
			return nil, err
		}
	}
	if j.data.name == materialOwn {
		return j.rows, nil
	}
	if _, err := j.choose(ctx, traceFamily); err != nil {
		return nil, err
	}
	if j.data.name != zappos {
		return j.rows, nil
	}
	k, err := featureKernel(env, seed, j.data.at(env.Scale))
	if err != nil {
		return nil, err
	}
	for _, size := range j.sizes {
		j.judge(featuresAlone, "", "", size, k, nil)
	}
	for _, m := range []struct {
		name string
		beta int
	}{{paFeatures, 1}, {paFeaturesTen, tenPasses}} {
		if err := j.learn(ctx, m.name, "", triplets.ERKLEParams{Initial: k, Beta: m.beta}, j.sizes); err != nil {
			return nil, err
		}
	}
	return j.rows, nil
}
