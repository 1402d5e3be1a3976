package kernels

import (
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/papers/logdet2012/protocol"
)

// Each method learns from the pairs of the training fold, and its errors are those of its metric on the test fold. As the rows say, MMC solved reaches the
// most.
func TestMMCIsScored(t *testing.T) {
	cell := MMC.Cells(experiment.Smoke)[0]
	s := cell.Settings.(mmcSettings)
	seed := experimenttest.Seed(cell.Dataset)
	tb, err := MMC.Run(t.Context(), experimenttest.Env(), cell, seed)
	if err != nil {
		t.Fatal(err)
	}
	set := experimenttest.Must(protocol.Load(experimenttest.Env(), experimenttest.Seed(cell.Dataset), cell.Dataset))
	p := experimenttest.Must(protocol.NewProblems(set, s.Settings, seed))[0]
	solved := experimenttest.Must(pairs.FitMMC(t.Context(), p.Train.X, p.Links, pairs.MMCParams{}))
	wrong := experimenttest.Must(p.Wrong(t.Context(), p.InInputSpace(solved.Metric, solved.Status)))
	_, updates, projections := plain.MMC(p.Train.X, p.Links, s.Projections)
	first := tb.Where("fold", "0")
	for _, c := range []struct {
		kind, method string
		want         float64
	}{{"wrong", mmcSolved, float64(wrong)}, {"iterations", mmcSolved, float64(solved.Iterations)}, {"iterations", mmcPublished, float64(updates)}, {"projections", mmcPublished, float64(projections)}} {
		if got := first.Where("kind", c.kind, "method", c.method).Values("value"); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s of %s: %v, want %v", c.kind, c.method, got, c.want)
		}
	}
	reached := tb.Where("kind", "reached")
	if reached.Len() != 3*len(tb.Unique("fold")) {
		t.Fatalf("%d sums", reached.Len())
	}
	for i, v := range reached.Values("value") {
		if of := reached.Values("of")[i]; !(v <= of*(1+1e-6)) || reached.Index("method")[i] == mmcSolved && v != of {
			t.Errorf("%s reaches %v of %v", reached.Index("method")[i], v, of)
		}
	}
}
