package people

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// supplyAnswers writes files of the form that the registry asks for: answers about 12 points on a line, one of which is no comparison.
func supplyAnswers(t *testing.T) *datasets.Store {
	t.Helper()
	store := datasets.Open(t.TempDir())
	rng := rand.New(rand.NewPCG(5, 6))
	for _, d := range protocol.Supplied {
		var b strings.Builder
		b.WriteString("3,3,1\n")
		for range 150 {
			p := rng.Perm(12)[:3]
			if math.Abs(float64(p[0]-p[1])) > math.Abs(float64(p[0]-p[2])) {
				p[1], p[2] = p[2], p[1]
			}
			fmt.Fprintf(&b, "%d,%d,%d\n", p[0], p[1], p[2])
		}
		entry, err := datasets.Lookup(d.Dataset)
		if err != nil || len(entry.Files) != 1 {
			t.Fatalf("registry: %+v, %v", entry, err)
		}
		path := store.Path(entry.Files[0].Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// small is an experiment with its supplied cell alone, of the sizes of a test.
func small(s experiment.Spec) experiment.Spec {
	kept := slices.DeleteFunc(s.Cells(experiment.Full), func(c experiment.Cell) bool { return !c.Supplied })
	s.Cells = func(experiment.Scale) []experiment.Cell {
		return protocol.Mapped(kept, func(c experiment.Cell) experiment.Cell {
			survey, whole := c.Settings.(surveySettings)
			x := survey.fig4Settings
			if !whole {
				x = c.Settings.(fig4Settings)
			}
			x.Train, x.Validation, x.Sizes, x.Every = 40, 20, []int{20, 40}, 20
			if x.Test > 0 {
				x.Test = 60
			}
			for _, b := range protocol.Batches {
				x.Tau[b.Name], x.Iterations[b.Name] = protocol.List[float64]{0.1, 1}, caps{1, 2}
			}
			if c.Settings = x; whole {
				c.Settings = surveySettings{x}
			}
			return c
		})
	}
	return s
}

// What a user supplies is run in a cell of its own, of which claims and views then are.
func TestSuppliedAnswers(t *testing.T) {
	store := supplyAnswers(t)
	for _, c := range []struct {
		spec            experiment.Spec
		data            string
		test            int
		about, standIns string // in captions
	}{
		{Fig3, protocol.FullSurvey, 90, "as supplied: 412 artists", "9,090 answers"},
		{Fig4, protocol.OutdoorScenes, 60, "The paper's answers about 200 outdoor scenes, as supplied", "Stand-ins"},
	} {
		s := small(c.spec)
		env := experimenttest.Env()
		env.Scale, env.Data = experiment.Full, store
		tb, err := harness.Collect(t.Context(), s, env, 1, 1)
		if err != nil {
			t.Fatalf("%s: %v", c.spec.ID, err)
		}
		if got := tb.Unique("cell"); !slices.Equal(got, []string{c.data}) {
			t.Fatalf("%s: cells %q", c.spec.ID, got)
		}
		if got := tb.Where("method", protocol.PAERKLE, "triplets", "40").Values("test triplets"); len(got) != 1 || got[0] != float64(c.test) {
			t.Errorf("%s: %v triplets test, want %d", c.data, got, c.test)
		}
		for _, b := range protocol.Batches {
			best := table.Format(batch.TauOf(tb, c.data, b.Name).Validated)
			if got := tb.Where("method", batch.RunOn(b.Name)).Unique("setting"); !slices.Equal(got, []string{best}) {
				t.Errorf("%s: %s runs on with τ %q, want %s", c.data, b.Name, got, best)
			}
		}
		for _, v := range c.spec.Views {
			d, err := v.DrawWith(tb, nil)
			caption := d.Caption.String()
			if err != nil {
				t.Errorf("%s: %v", v.Name, err)
			}
			if own := slices.Contains([]string{"fig3a", "fig3b", "fig3c", "fig3-conflicts", "fig3-settings", "fig4a", "fig4b"}, v.Name); own && (!strings.Contains(caption, c.about) || strings.Contains(caption, c.standIns)) {
				t.Errorf("%s: caption %q", v.Name, caption)
			}
		}
		for _, claim := range c.spec.Claims {
			if c.data == protocol.OutdoorScenes && claim.Ours {
				continue // of the stand-ins alone
			}
			f, err := claim.Judge(tb, nil)
			if err != nil || f.Verdict == judge.Untestable {
				t.Errorf("%s: %s, %v", claim.ID, f.Verdict, err)
			}
		}
	}
}

// The supplied cells are those of the paper's sizes, and too few answers are an error that names the data.
func TestSuppliedCells(t *testing.T) {
	for _, s := range []experiment.Spec{Fig3, Fig4, batch.ReleasedAnswers} {
		for _, c := range s.Cells(experiment.Full) {
			if c.Supplied != protocol.IsSupplied(c.Name) {
				t.Errorf("%s: cell %s: supplied is %v", s.ID, c.Name, c.Supplied)
			}
		}
		if slices.ContainsFunc(s.Cells(experiment.Smoke), func(c experiment.Cell) bool { return c.Supplied }) {
			t.Errorf("%s has supplied cells at smoke scale", s.ID)
		}
	}
	env := &experiment.Env{Scale: experiment.Full, Data: supplyAnswers(t)}
	for _, d := range protocol.Supplied {
		if _, err := protocol.SplitOf(env, d.Settings(env.Scale), random.Seed{Base: 1, Dataset: d.Dataset}); err == nil || !strings.Contains(err.Error(), "answers of "+d.Dataset) {
			t.Errorf("%s: 150 answers: error %v", d.Name, err)
		}
		left := protocol.SplitSettings{Data: d.Name, Counts: protocol.Counts{Objects: d.Full.Objects, Train: 100, Validation: 50}}
		if _, err := protocol.SplitOf(env, left, random.Seed{Base: 1, Dataset: d.Dataset}); err == nil || !strings.Contains(err.Error(), "no answer is left to test") {
			t.Errorf("%s: none to test: error %v", d.Name, err)
		}
	}
}
