package pairs_test

import (
	"io"
	"testing"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/learners/pairs"
)

func TestPOLAConformance(t *testing.T) {
	for _, p := range []pairs.POLAParams{{}, {Gamma: 0.5}, {B1: new(0.0)}, {B1: new(-3.0)}, {B1: new(5.0)}} {
		learnertest.Pairs{
			New:          func(dim int) (learners.Pair, error) { return pairs.NewPOLA(dim, p) },
			Load:         func(r io.Reader) (learners.Pair, error) { return pairs.LoadPOLA(r) },
			MinThreshold: 1,
		}.Run(t)
	}
}
