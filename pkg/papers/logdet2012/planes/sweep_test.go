package planes

import (
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/table"
)

// Settings are different, have the values of their points, and differ from the main setting in the factor they name.
func TestSweepSettings(t *testing.T) {
	all := sweepSettingsOf(experiment.Full)
	main, drawn := all[0], 0
	for i, s := range all {
		if slices.ContainsFunc(all[:i], func(o sweepSettings) bool { return slices.Equal(o.Point, s.Point) }) {
			t.Errorf("%s stands twice: %v", s.Setting, s.Point)
		}
		if s.Widths[0] != s.Point[0] || s.Weights[0] != s.Point[1] || s.Heat != (s.Point[3] == 1) || s.Neighbours != int(s.Point[4]) || s.RankCs[0] != s.Point[5] || s.RankTaus[0] != s.Point[6] || s.Known != int(sweepKnownDigits*s.Point[7]) {
			t.Errorf("%s: the plane has other values than %v", s.Setting, s.Point)
		}
		var differ []string
		kernel := false
		for k, f := range sweepFactors {
			if !slices.Contains(f.values, s.Point[k]) {
				t.Errorf("%s: %s %v is not in the grid", s.Setting, f.column, s.Point[k])
			}
			if s.Point[k] != main.Point[k] {
				differ, kernel = append(differ, f.column), kernel || f.ofKernel()
			}
		}
		switch s.Changed {
		case noFactor:
			if len(differ) != 0 || i != 0 {
				t.Errorf("%s differs in %v", s.Setting, differ)
			}
		case allFactors:
			drawn++
		default:
			if !slices.Equal(differ, []string{s.Changed}) {
				t.Errorf("%s differs in %v, says %s", s.Setting, differ, s.Changed)
			}
		}
		if s.PCA != (kernel || s.Changed == noFactor) {
			t.Errorf("%s: kernel PCA %v, another kernel %v", s.Setting, s.PCA, kernel)
		}
	}
	want := 1 + drawnSettings
	for _, f := range sweepFactors {
		want += len(f.values) - 1
	}
	if drawn != drawnSettings || len(all) != want {
		t.Errorf("%d settings, %d of them drawn, want %d and %d", len(all), drawn, want, drawnSettings)
	}
}

// The rule of choice takes the least validation error of each trial, of equals the first, whatever is separated.
func TestValidated(t *testing.T) {
	tb := experimenttest.Table(Sweep)
	for _, r := range []struct {
		setting          string
		trial            int
		inner, separated float64
	}{{"a", 0, 0.5, 1}, {"a", 1, 0.3, 2}, {"b", 0, 0.4, 3}, {"b", 1, 0.3, 9}, {"c", 0, 0.4, 9}, {"c", 1, 0.6, 9}} {
		tb.Add(table.Key{"setting": r.setting, "trial": strconv.Itoa(r.trial), "method": ssikdrRank, "queries": testQueries}, table.Values{"inner": r.inner, "separated": r.separated})
	}
	if got := validated(separatedDigits)(tb); !slices.Equal(got, []float64{3, 2}) {
		t.Errorf("%v digits, want 3 and 2", got)
	}
}

// Kernel values by toLabelled are those by near.
func TestToLabelled(t *testing.T) {
	for _, kernel := range planeKernels {
		s, d := smokePlanes(t, kernel)
		p, err := newPlaneProblem(t.Context(), d.labelled, d.unlabelled, s, s.kernels()[0], experimenttest.Seed("planes"), "test")
		if err != nil {
			t.Fatal(err)
		}
		q := d.queries[testQueries]
		if !mat.EqualApprox(p.toLabelled()(q.X), p.near(false, q), 1e-10) {
			t.Errorf("%s: other kernel values", kernel)
		}
	}
}

// Power, and weights of edges, change the kernel.
func TestPlaneGraphs(t *testing.T) {
	s, d := smokePlanes(t, knownGraph)
	gram := func(change func(*planeSettings)) *mat.SymDense {
		s := s
		change(&s)
		p, err := newPlaneProblem(t.Context(), d.labelled, d.unlabelled, s, s.kernels()[0], experimenttest.Seed("planes"), "test")
		if err != nil {
			t.Fatal(err)
		}
		return p.gram
	}
	plain := gram(func(*planeSettings) {})
	if !mat.Equal(plain, gram(func(s *planeSettings) { s.Power = 1 })) {
		t.Error("power 1 is not that of no power")
	}
	for name, change := range map[string]func(*planeSettings){"power 2": func(s *planeSettings) { s.Power = 2 }, "heat": func(s *planeSettings) { s.Heat = true }} {
		if mat.EqualApprox(plain, gram(change), 1e-6) {
			t.Errorf("%s: the same kernel", name)
		}
	}
}
