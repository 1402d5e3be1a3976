package logdet2012

import (
	"testing"

	"metriclab/pkg/experiment/experimenttest"
)

func TestSmoke(t *testing.T) { experimenttest.PinSmoke(t, Paper, "testdata/smoke.pins") }
