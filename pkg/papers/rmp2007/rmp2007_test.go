package rmp2007

import (
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

func TestPaper(t *testing.T) { experimenttest.Paper(t, Paper) }

const madeTrials = 8

func grade(t *testing.T, claims []experiment.Claim, id string, tb *table.Table) judge.Verdict {
	t.Helper()
	return experimenttest.Judge(t, claims, id, tb, nil).Verdict
}
