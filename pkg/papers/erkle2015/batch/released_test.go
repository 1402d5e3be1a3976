package batch

import (
	"math"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// The excess is the distance of two objectives: of a program's kernel in our units, and of ours.
func TestReleasedExcess(t *testing.T) {
	s := experimenttest.Must(protocol.DrawSynthetic(&experiment.Env{Scale: experiment.Full}, random.Seed{Base: 5, Experiment: "test"}, protocol.Counts{Objects: 15, Train: 100, Validation: 20, Test: 20}))
	taus := map[string]protocol.List[float64]{protocol.GNMDSBatch: {0.5}, protocol.STEBatch: {2}}
	run := &experiment.Run{Seed: random.Seed{Base: 5}, Rows: releasedColumns.Table()}
	r := releasedRun{protocol.SplitRun{Run: run, Split: s}, releasedSettings{Sizes: protocol.List[int]{100}, Iterations: 30, CertifiedIter: 1000, CertifiedTol: 1e-4, Taus: taus, CertifiedTaus: taus}}
	if err := r.single(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, b := range protocol.Batches[:2] {
		tau := taus[b.Name][0]
		f := experimenttest.Must(triplets.FitReleased(t.Context(), 15, s.Train, triplets.ReleasedParams{Loss: b.Loss, Weight: tau / (1 + tau), Iterations: 30}))
		sum := 0.0
		for _, x := range s.Train {
			d := 2*(f.Kernel.At(x.A, x.Far)-f.Kernel.At(x.A, x.Near)) + f.Kernel.At(x.Near, x.Near) - f.Kernel.At(x.Far, x.Far)
			if b.Loss == triplets.GNMDS {
				sum += max(0, d+1)
			} else {
				sum += math.Log1p(math.Exp(d))
			}
		}
		for i := range 15 {
			sum += tau * f.Kernel.At(i, i)
		}
		g := experimenttest.Must(triplets.FitBatch(t.Context(), 15, s.Train, triplets.BatchParams{Loss: b.Loss, Tau: tau, Iterations: 1000, Tol: 1e-4}))
		zero := map[triplets.Loss]float64{triplets.GNMDS: 100, triplets.STE: 100 * math.Ln2}[b.Loss]
		got := r.Rows.Where("method", b.Name, "how", singleHow).Values("excess")
		if want := (sum - g.Objective) / zero; len(got) != 1 || math.Abs(got[0]-want) > 1e-9 || want < 0 {
			t.Errorf("%s: %v, want %v", b.Name, got, want)
		}
	}
}

// A τ at an end of its grid has a star.
func TestReleasedStar(t *testing.T) {
	among := []string{"0.1", "1", "10"}
	for tau, want := range map[string]string{"0.1": "0.1*", "1": "1", "10": "10*", "": ""} {
		if got := starred(tau, among); got != want {
			t.Errorf("%s: %s, want %s", tau, got, want)
		}
	}
	if got := starred("1", among[1:2]); got != "1" {
		t.Errorf("alone: %s", got)
	}
}

// Where a table has the paper's own answers, views and claims are of these, and have verdicts.
func TestReleasedOnSuppliedAnswers(t *testing.T) {
	own := map[string]string{protocol.Music: protocol.FullSurvey, protocol.Material: protocol.OutdoorScenes}
	public, supplied := experimenttest.Table(ReleasedAnswers), experimenttest.Table(ReleasedAnswers)
	for _, cell := range ReleasedAnswers.Cells(experiment.Smoke) {
		tb := experimenttest.Must(ReleasedAnswers.Run(t.Context(), experimenttest.Env(), cell, experimenttest.Seed(cell.Dataset)))
		for i := range tb.Len() {
			key, v := tb.Row(i)
			key["cell"], key["trial"] = cell.Name, "0"
			public.Add(key, v)
			if key["cell"] = own[cell.Name]; key["cell"] != "" {
				v["test wrong"] += float64(i % 7)
				supplied.Add(key, v)
			}
		}
	}
	both := table.Concat(public, supplied)
	for _, c := range ReleasedAnswers.Claims {
		before, alone, beside := experimenttest.Must(c.Judge(public, nil)), experimenttest.Must(c.Judge(supplied, nil)), experimenttest.Must(c.Judge(both, nil))
		if standIn := strings.HasPrefix(c.ID, "released-fig4"); (before.Verdict == judge.Untestable) != standIn || beside.Verdict == judge.Untestable || beside.Ours != alone.Ours {
			t.Errorf("%s: %s; on the paper's answers %s, %s; beside the others %s, %s", c.ID, before.Verdict, alone.Verdict, alone.Ours, beside.Verdict, beside.Ours)
		}
	}
	for _, v := range ReleasedAnswers.Views[1:] {
		for tb, want := range map[*table.Table]bool{public: false, both: true} {
			if d := experimenttest.Must(v.DrawWith(tb, nil)); strings.Contains(d.Caption.String(), "as supplied") != want {
				t.Errorf("%s: caption %q", v.Name, d.Caption)
			}
		}
	}
}
