package kernels

import (
	"math"
	"testing"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/logdet2012/protocol"
)

// All φ get the same constraints, those of fig1a's pairs and bounds, in a unit that does not change the problem.
func TestConstrained(t *testing.T) {
	set := experimenttest.Must(protocol.Load(experimenttest.Env(), experimenttest.Seed(protocol.GeneratedLinear), protocol.GeneratedLinear))
	s := divergenceSettingsOf("made up", datasets.ZScore, experiment.Smoke)
	p := experimenttest.Must(protocol.NewProblems(set, protocol.Settings{Scaling: s.Scaling, K: s.K, Links: s.Links}, experimenttest.Seed(set.Name)))[0]
	c, err := newConstrained(p.Session)
	if err != nil {
		t.Fatal(err)
	}
	median, err := p.Median()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.constraints) != len(p.Links) {
		t.Fatalf("%d constraints of %d pairs", len(c.constraints), len(p.Links))
	}
	for i, l := range p.Links {
		want := ltkernel.SenseAtMost
		if l.Label == metric.Dissimilar {
			want = ltkernel.SenseAtLeast
		}
		d := metric.Euclidean{}.SqDist(c.x.RawRowView(l.I), c.x.RawRowView(l.J))
		old := metric.Euclidean{}.SqDist(p.Train.X.RawRowView(l.I), p.Train.X.RawRowView(l.J)) / median
		if c.constraints[i].Sense != want || math.Abs(d-old) > 1e-12*(1+old) { // round-off
			t.Errorf("pair %d: %s at %v, want %s at %v", i, c.constraints[i].Sense, d, want, old)
		}
	}
	phis, err := phisOf(s)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range phis {
		if f.name != phiNames[i] || len(f.labels) != len(f.params) {
			t.Fatalf("φ %d is %s with %d labels for %d candidates", i, f.name, len(f.labels), len(f.params))
		}
		r, err := c.fit(t.Context(), f.fixed, s.Final)
		if err != nil || r.Status != learners.Converged {
			t.Fatalf("%s: %v, %v", f.name, r.Status, err)
		}
		values, rank, err := spectrumOf(r.Metric)
		if err != nil || rank != r.Rank || len(values) != 4 {
			t.Errorf("%s: rank %d of %v, want %d; %v", f.name, rank, values, r.Rank, err)
		}
	}
	if n := len(phis[3].params); n != len(s.Cs)*len(s.Taus) {
		t.Errorf("%d candidates of the trace", n)
	}
}
