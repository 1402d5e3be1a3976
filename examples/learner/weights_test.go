package main

import (
	"io"
	"testing"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
)

func TestConformance(t *testing.T) {
	learnertest.Pairs{
		New:          func(dim int) (learners.Pair, error) { return NewWeights(dim) },
		Load:         func(r io.Reader) (learners.Pair, error) { return LoadWeights(r) },
		MinThreshold: 1,
	}.Run(t)
}
