package main

import (
	"context"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
	"metriclab/pkg/table"
)

// trial is one job. All that it draws is of its seed: both metrics see the same points.
func trial(ctx context.Context, _ *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	near := make([]float64, 1+cell.Settings.(setting).Features)
	far := append([]float64{3}, near[1:]...)
	set, err := synthetic.GaussianMixture(seed.Stream("points"), []synthetic.Component{{Class: 0, N: 100, Mean: near}, {Class: 1, N: 100, Mean: far}})
	if err != nil {
		return nil, err
	}
	train, test, err := sample.StratifiedSplit(seed.Stream("split"), set.Y, 0.5)
	if err != nil {
		return nil, err
	}
	x, y := set.Rows(train), set.Labels(train)
	lmnn, err := labels.FitLMNN(ctx, x, y, labels.LMNNParams{})
	if err != nil {
		return nil, err
	}
	values := table.Values{}
	for name, m := range map[string]metric.SqDister{"euclidean": metric.Euclidean{}, "lmnn": lmnn.Metric} {
		knn, err := nearest.NewKNN(m, x, y, nearest.KNNOptions{})
		if err != nil {
			return nil, err
		}
		wrong, err := knn.Errors(ctx, set.Rows(test), set.Labels(test), []int{1})
		if err != nil {
			return nil, err
		}
		values[name] = float64(wrong[0]) / float64(len(test))
	}
	rows := columns.Table()
	rows.Add(nil, values)
	return rows, nil
}
