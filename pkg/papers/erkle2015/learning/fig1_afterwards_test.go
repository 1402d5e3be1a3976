package learning

import (
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
)

func TestFig1AfterwardsPointTheRightWay(t *testing.T) {
	yes, no := supporting(), supporting()
	// The same order at the end, but the batch methods catch up; ten passes are worse than one.
	no.batch, no.converged = law{0.3, 0.6}, law{0.3, 0.6}
	no.pass, no.ten = law{0.15, 0.1}, law{0.2, 0.1}
	for _, c := range fig1Afterwards {
		if f := experimenttest.Judge(t, fig1Afterwards, c.ID, yes.table(), nil); f.Verdict != judge.Reproduced {
			t.Errorf("%s on a supporting table: %s: %s %s", c.ID, f.Verdict, f.Ours, f.Reason)
		}
		if f := experimenttest.Judge(t, fig1Afterwards, c.ID, no.table(), nil); f.Verdict != judge.NotReproduced {
			t.Errorf("%s on an opposing table: %s: %s %s", c.ID, f.Verdict, f.Ours, f.Reason)
		}
	}
}
