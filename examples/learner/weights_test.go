package main

import (
	"testing"

	"metriclab/pkg/learners/learnertest"
)

func TestConformance(t *testing.T) {
	learnertest.Pairs[*Weights]{New: NewWeights, Load: LoadWeights, MinThreshold: 1}.Run(t)
}
