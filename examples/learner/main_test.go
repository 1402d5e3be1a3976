package main

import (
	"slices"
	"testing"

	"metriclab/pkg/learners/learnertest"
)

func TestConformance(t *testing.T) {
	learnertest.Pairs[Weights]{
		New:          func(dim int) (Weights, error) { return slices.Repeat(Weights{1}, dim), nil },
		Load:         Load,
		MinThreshold: 1,
	}.Run(t)
}
