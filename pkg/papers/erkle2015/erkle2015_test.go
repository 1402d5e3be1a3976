package erkle2015

import (
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

func TestPaper(t *testing.T) { experimenttest.Paper(t, Paper) }

const madeTrials = 8

func grade(t *testing.T, claims []experiment.Claim, id string, tb *table.Table) judge.Finding {
	t.Helper()
	return experimenttest.Judge(t, claims, id, tb, nil)
}

// refused returns the error with which a reader of a table ends.
func refused(read func()) (err error) {
	defer judge.Refused(&err)
	read()
	return nil
}
