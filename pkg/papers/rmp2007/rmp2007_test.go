package rmp2007

import (
	"slices"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/table"
)

func TestSmoke(t *testing.T) {
	experimenttest.PinSmoke(t, Paper, "testdata/smoke.pins")
}

const madeTrials = 8

// grade returns the verdict of a claim on a made-up table.
func grade(t *testing.T, claims []experiment.Claim, id string, tb *table.Table) experiment.Verdict {
	t.Helper()
	for _, c := range claims {
		if c.ID == id {
			f, err := c.Grade(tb)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			return f.Verdict
		}
	}
	t.Fatalf("no claim %s", id)
	return ""
}

// Each claim links to a figure or table of its own experiment that shows it.
func TestClaimsNameTheirViews(t *testing.T) {
	for _, spec := range Paper.Experiments {
		for _, c := range spec.Claims {
			if !slices.ContainsFunc(spec.Views, func(v experiment.View) bool { return v.Name == c.View }) {
				t.Errorf("%s: claim %s names view %q, which the experiment does not have", spec.ID, c.ID, c.View)
			}
		}
	}
}
