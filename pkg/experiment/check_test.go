package experiment_test

import (
	"context"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// sound is an experiment with all parts.
func sound() experiment.Spec {
	return experiment.Spec{
		ID: "toy/a", Title: "A", Source: "nowhere", Version: 1,
		Cells:   func(experiment.Scale) []experiment.Cell { return []experiment.Cell{{Name: "all"}} },
		Trials:  experiment.Trials(10),
		Columns: experiment.Columns{experiment.Number("x", "m", "where")},
		Trial:   func(context.Context, *experiment.Run) error { return nil },
		Views:   []experiment.View{{Name: "v", Title: "V", Draw: func(*table.Table) (plots.Drawing, error) { return plots.Drawing{}, nil }}},
		Claims: []experiment.Claim{{
			ID: "c", Statement: "It is so.", Where: "here", Theirs: experiment.FigureOnly, Predicate: "so", View: "v",
			Test: func(*table.Table) judge.Test { return judge.Holds{true} },
		}},
	}
}

// Of a part that is missing the error names the experiment, the part, and what to write.
func TestCheck(t *testing.T) {
	drawTimed := func(_, _ *table.Table) (plots.Drawing, error) { return plots.Drawing{}, nil }
	testTimed := func(_, _ *table.Table) judge.Test { return judge.Holds{true} }
	cells := func(s *experiment.Spec, cells ...experiment.Cell) {
		s.Cells = func(experiment.Scale) []experiment.Cell { return cells }
	}
	for name, tt := range map[string]struct {
		change func(s *experiment.Spec)
		want   string // of the error, after "toy/a: "
	}{
		"nothing":         {func(*experiment.Spec) {}, ""},
		"no claims":       {func(s *experiment.Spec) { s.Claims = nil }, ""},
		"no Title":        {func(s *experiment.Spec) { s.Title = "" }, "it lacks Title: write in one line what is measured"},
		"no Source":       {func(s *experiment.Spec) { s.Source = "" }, "it lacks Source: write where the paper describes it"},
		"Version 0":       {func(s *experiment.Spec) { s.Version = 0 }, "it lacks Version: write 1, and one more whenever"},
		"no Columns":      {func(s *experiment.Spec) { s.Columns = nil }, "it lacks Columns: write what Trial fills: experiment.Columns{experiment.Number("},
		"no Trial":        {func(s *experiment.Spec) { s.Trial = nil }, "it lacks Trial: write func(ctx context.Context, run *experiment.Run) error"},
		"no Trials":       {func(s *experiment.Spec) { s.Trials = nil }, "it lacks Trials: write how many for each cell: experiment.Trials(10)"},
		"0 trials":        {func(s *experiment.Spec) { s.Trials = experiment.Trials(0) }, "it lacks Trials at scale full: write at least 1"},
		"no Cells":        {func(s *experiment.Spec) { s.Cells = nil }, "it lacks Cells: write func(experiment.Scale) []experiment.Cell"},
		"none of Cells":   {func(s *experiment.Spec) { cells(s) }, `it lacks Cells at scale full: write at least experiment.Cell{Name: "all"}`},
		"a cell's Name":   {func(s *experiment.Spec) { cells(s, experiment.Cell{}) }, "it lacks the Name of cell 0 at scale full"},
		"a cell twice":    {func(s *experiment.Spec) { cells(s, experiment.Cell{Name: "a"}, experiment.Cell{Name: "a"}) }, `its cell name "a" occurs twice`},
		"a cell's tag":    {func(s *experiment.Spec) { cells(s, experiment.Cell{Name: "a", Settings: struct{ N int }{1}}) }, `its cell "a": settings: struct { N int }.N has no tag key`},
		"settings":        {func(s *experiment.Spec) { cells(s, experiment.Cell{Name: "a", Settings: 7}) }, `its cell "a": settings are a int, want a struct`},
		"no Views":        {func(s *experiment.Spec) { s.Views, s.Claims = nil, nil }, "it lacks Views: write what is drawn of the table"},
		"a view's Name":   {func(s *experiment.Spec) { s.Views[0].Name, s.Claims = "", nil }, "it lacks the Name of view 0"},
		"a view's Title":  {func(s *experiment.Spec) { s.Views[0].Title = "" }, `it lacks the Title of view "v"`},
		"a view's Draw":   {func(s *experiment.Spec) { s.Views[0].Draw = nil }, `it lacks Draw of view "v": write func(t *table.Table) (plots.Drawing, error)`},
		"a view twice":    {func(s *experiment.Spec) { s.Views = append(s.Views, s.Views[0]) }, `its view name "v" occurs twice`},
		"two ways drawn":  {func(s *experiment.Spec) { s.Timing, s.Views[0].DrawTimed = true, drawTimed }, `its view "v" has both Draw and DrawTimed`},
		"a view of times": {func(s *experiment.Spec) { s.Views[0].Draw, s.Views[0].DrawTimed = nil, drawTimed }, `its view "v" shows times: write Timing: true`},
		"a claim's ID":    {func(s *experiment.Spec) { s.Claims[0].ID = "" }, "it lacks the ID of claim 0"},
		"a claim's words": {func(s *experiment.Spec) { s.Claims[0].Statement = "" }, `it lacks the Statement of claim "c"`},
		"a claim's Test":  {func(s *experiment.Spec) { s.Claims[0].Test = nil }, `it lacks Test of claim "c": write func(t *table.Table) judge.Test`},
		"a claim twice":   {func(s *experiment.Spec) { s.Claims = append(s.Claims, s.Claims[0]) }, `its claim ID "c" occurs twice`},
		"two tests":       {func(s *experiment.Spec) { s.Timing, s.Claims[0].TestTimed = true, testTimed }, `its claim "c" has both Test and TestTimed`},
		"a claim, times":  {func(s *experiment.Spec) { s.Claims[0].Test, s.Claims[0].TestTimed = nil, testTimed }, `its claim "c" is about times: write Timing: true`},
		"a claim's View":  {func(s *experiment.Spec) { s.Claims[0].View = "w" }, `its claim "c" is shown by the view "w", which is not among its Views`},
		"two parts":       {func(s *experiment.Spec) { s.Title, s.Trial = "", nil }, "it lacks Title: write in one line what is measured\n  it lacks Trial: write"},
	} {
		s := sound()
		tt.change(&s)
		err := s.Check(experiment.Full)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "toy/a: "+tt.want) || strings.Count(err.Error(), "\n") != strings.Count(tt.want, "\n")):
			t.Errorf("%s: error %v, want: toy/a: %s", name, err, tt.want)
		}
	}
	for _, id := range []string{"", "a", "toy/", "/a", "toy/a/b"} {
		s := sound()
		s.ID = id
		if err := s.Check(experiment.Smoke); err == nil || !strings.Contains(err.Error(), `it lacks ID: write "<paper>/<experiment>"`) {
			t.Errorf("ID %q: %v", id, err)
		}
	}
}
