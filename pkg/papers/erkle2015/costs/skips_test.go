package costs

import (
	"slices"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
)

// The rule that is followed computes as often as the learner that uses it.
func TestPrintedRuleIsThatOfTheLearner(t *testing.T) {
	for _, n := range []int{12, 30, 60} {
		c := protocol.Counts{Objects: n, Train: 3 * n}
		s := experimenttest.Must(protocol.DrawSynthetic(&experiment.Env{Scale: experiment.Full}, random.Seed{Base: 1, Experiment: "test"}, c))
		l := experimenttest.Must(triplets.NewERKLE(n, triplets.ERKLEParams{Projection: triplets.ProjectPrintedRule}))
		r := newPrintedRule(n)
		skipped := 0
		for i, tr := range s.Train {
			before := l.Stats()
			out := experimenttest.Must(l.Step(tr))
			after := l.Stats()
			if after.Active > before.Active {
				r.update(tr, out.StepSize, after.Projected > before.Projected)
			}
			skipped += after.By[triplets.CertificateWeyl] - before.By[triplets.CertificateWeyl]
			if got := after.By[triplets.CertificateComputed]; !r.singular && r.computed != got {
				t.Fatalf("n = %d, triplet %d: %d computations, the learner has %d", n, i, r.computed, got)
			}
		}
		// What is not followed: tiny steps that the rule skips after the first negative eigenvalue.
		if got := l.Stats().By[triplets.CertificateComputed]; r.computed < got || r.computed > got+max(1, got/50) {
			t.Errorf("n = %d: %d computations, the learner has %d", n, r.computed, got)
		}
		if skipped == 0 || !r.singular {
			t.Errorf("n = %d: %d updates skipped, a negative eigenvalue: %v; want some, and one", n, skipped, r.singular)
		}
	}
}

func TestSkipsCheckpoints(t *testing.T) {
	if got, want := skipsCheckpoints(200), []int{10, 20, 50, 100, 200}; !slices.Equal(got, want) {
		t.Errorf("checkpoints of 200: %v, want %v", got, want)
	}
	if got := skipsCheckpoints(10000); got[len(got)-1] != 10000 || len(got) != 10 {
		t.Errorf("checkpoints of 10000: %v", got)
	}
}
