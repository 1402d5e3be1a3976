package erkle2015

import (
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/table"
)

func TestSmoke(t *testing.T) {
	experimenttest.PinSmoke(t, Paper, "testdata/smoke.pins")
}

const madeTrials = 8

func grade(t *testing.T, claims []experiment.Claim, id string, tb *table.Table) experiment.Finding {
	t.Helper()
	return experimenttest.Grade(t, claims, id, tb, nil)
}
