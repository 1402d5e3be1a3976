package experimenttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// recorder is a tb that records what a test reports.
type recorder struct {
	*testing.T
	errs, logs []string
}

type stopped struct{}

// blind is a setting that is always written alike.
type blind int

func (blind) String() string { return "blind" }

func (r *recorder) Logf(format string, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(stopped{})
}

func record(t *testing.T, p experiment.Paper, file string, rewrite bool, arch string) (r *recorder) {
	t.Helper()
	r = &recorder{T: t}
	defer func() {
		if e := recover(); e != nil {
			if _, ok := e.(stopped); !ok {
				panic(e)
			}
		}
	}()
	pinSmoke(r, p, file, rewrite, arch)
	return r
}

func toy() experiment.Paper {
	return experiment.Paper{Key: "toy", Citation: "A. Toy.", Experiments: []experiment.Spec{{
		ID: "toy/one", Title: "One", Source: "nowhere", Version: 1,
		Cells: func(experiment.Scale) []experiment.Cell {
			return []experiment.Cell{{Name: "a", Dataset: "toy", Methods: map[string]int{"m": 1}}, {Name: "b", Dataset: "toy", Methods: map[string]int{"n": 3}}}
		},
		Trials:  func(experiment.Scale) int { return 2 },
		Columns: experiment.Columns{experiment.Number("y", "", "a draw")},
		Trial: func(_ context.Context, run *experiment.Run) error {
			run.Rows.Add(nil, table.Values{"y": run.Seed.Stream(run.Cell.Name).Float64()})
			return nil
		},
		Views: []experiment.View{{Name: "v", Title: "V", Draw: func(*table.Table) (plots.Drawing, error) {
			return plots.Drawing{Caption: plots.Caption{Shows: "C."}, Text: &plots.TextTable{Head: []string{"h"}, Rows: [][]string{{"r"}}}}, nil
		}}},
		Claims: experiment.Claims([]experiment.Claim{{ID: "c", Statement: "s", Where: "w", Theirs: "t", Predicate: "p", Test: func(*table.Table) judge.Test { return judge.Unsettled{Reason: "r"} }}}),
	}}}
}

// drawTimed and testTimed refuse unless each job took time.
func drawTimed(t, times *table.Table) (plots.Drawing, error) {
	testTimed(t, times)
	return toy().Experiments[0].Views[0].Draw(t)
}

func testTimed(t, times *table.Table) judge.Test {
	for id := range t.Group("job") {
		all := times.Where("job", id, "phase", experiment.TotalPhase)
		if all.Len() != 1 || !(all.Values("wall_s")[0] > 0) || !(all.Values("cpu_s")[0] > 0) {
			judge.Refuse("job %s has no times", id)
		}
	}
	return judge.Unsettled{Reason: "r"}
}

func TestPinSmokeTimed(t *testing.T) {
	p := toy()
	s := &p.Experiments[0]
	s.Timing = true
	s.Views[0].Draw, s.Views[0].DrawTimed = nil, drawTimed
	s.Claims[0].Test, s.Claims[0].TestTimed = nil, testTimed
	if r := record(t, p, filepath.Join(t.TempDir(), "pins"), true, "amd64"); len(r.errs) != 0 {
		t.Errorf("a sound paper with times: %q", r.errs)
	}
}

func TestPinSmoke(t *testing.T) {
	file := filepath.Join(t.TempDir(), "testdata", "pins")
	if r := record(t, toy(), file, true, "amd64"); len(r.errs) != 0 {
		t.Fatalf("a sound paper: %q", r.errs)
	}
	if r := record(t, toy(), file, false, "amd64"); len(r.errs) != 0 || len(r.logs) != 0 {
		t.Errorf("the same again: %q %q", r.errs, r.logs)
	}
}

// TestPinSmokeFails changes the sound paper in every way that must be noticed.
func TestPinSmokeFails(t *testing.T) {
	spec := func(f func(*experiment.Spec)) func(*experiment.Paper) {
		return func(p *experiment.Paper) { f(&p.Experiments[0]) }
	}
	cells := func(cells ...experiment.Cell) func(*experiment.Paper) {
		return spec(func(s *experiment.Spec) { s.Cells = func(experiment.Scale) []experiment.Cell { return cells } })
	}
	var calls atomic.Int64 // jobs run in parallel
	offset := func(by func() float64) func(*experiment.Paper) {
		return spec(func(s *experiment.Spec) {
			s.Trial = func(ctx context.Context, run *experiment.Run) error {
				run.Rows.Add(nil, table.Values{"y": by()})
				return nil
			}
		})
	}
	timed := func(f func(*experiment.Spec)) func(*experiment.Paper) {
		return spec(func(s *experiment.Spec) {
			s.Timing = true
			s.Views[0].Draw, s.Views[0].DrawTimed = nil, drawTimed
			s.Claims[0].Test, s.Claims[0].TestTimed = nil, testTimed
			f(s)
		})
	}
	broken := errors.New("broken")
	// kinds declares kinds, of which y is filled in k, and returns rows of a kind.
	kinds := func(declared, kind string) func(*experiment.Paper) {
		return spec(func(s *experiment.Spec) {
			for _, k := range strings.Split(declared, ", ") {
				s.Kinds = append(s.Kinds, experiment.Kind{Name: k, Meaning: "a kind"})
			}
			s.Columns = experiment.Columns{experiment.Text("kind", "of the row"), experiment.Number("y", "", "a draw").In("k")}
			s.Trial = func(ctx context.Context, run *experiment.Run) error {
				run.Rows.Add(table.Key{"kind": kind}, table.Values{"y": 1})
				return nil
			}
		})
	}
	for name, tt := range map[string]struct {
		change func(*experiment.Paper)
		want   string
	}{
		"new values":         {offset(func() float64 { return 7 }), "bump the version of what has changed (experiment 1, m 1, n 3)"},
		"not deterministic":  {offset(func() float64 { return float64(calls.Add(1)) }), "or two runs of the same jobs differ"},
		"new version":        {spec(func(s *experiment.Spec) { s.Version = 2 }), `versions are "experiment 2, m 1, n 3"`},
		"new method version": {cells(experiment.Cell{Name: "a", Methods: map[string]int{"m": 2}}), "pinned are"},
		"new ID":             {spec(func(s *experiment.Spec) { s.ID = "toy/two" }), "toy/two is not pinned"},
		"removed":            {func(p *experiment.Paper) { p.Experiments = nil }, "which is no experiment"},
		"trial fails": {spec(func(s *experiment.Spec) {
			s.Trial = func(ctx context.Context, run *experiment.Run) error {
				return broken
			}
		}), "broken"},
		"undeclared column": {spec(func(s *experiment.Spec) {
			s.Trial = func(_ context.Context, run *experiment.Run) error {
				run.Rows.Add(nil, table.Values{"z": 1})
				return nil
			}
		}), `no value column "z"`},
		"view fails": {spec(func(s *experiment.Spec) {
			s.Views[0].Draw = func(*table.Table) (plots.Drawing, error) { return plots.Drawing{}, broken }
		}), "view v: broken"},
		"no caption": {spec(func(s *experiment.Spec) {
			s.Views[0].Draw = func(*table.Table) (plots.Drawing, error) {
				return plots.Drawing{Text: &plots.TextTable{Head: []string{"h"}, Rows: [][]string{{"r"}}}}, nil
			}
		}), "no caption"},
		"claim fails": {spec(func(s *experiment.Spec) {
			s.Claims[0].Test = func(*table.Table) judge.Test { judge.Refuse("%w", broken); return nil }
		}), "claim c: broken"},
		"timed view fails": {timed(func(s *experiment.Spec) {
			s.Views[0].DrawTimed = func(_, _ *table.Table) (plots.Drawing, error) { return plots.Drawing{}, broken }
		}), "view v: broken"},
		"timed claim fails": {timed(func(s *experiment.Spec) {
			s.Claims[0].TestTimed = func(_, _ *table.Table) judge.Test { judge.Refuse("%w", broken); return nil }
		}), "claim c: broken"},
		"other phases": {timed(func(s *experiment.Spec) {
			trial := s.Trial
			s.Trial = func(ctx context.Context, run *experiment.Run) error {
				defer run.Lap("another")()
				return trial(ctx, run)
			}
		}), "bump the version of what has changed"},
		"reserved phase": {spec(func(s *experiment.Spec) {
			s.Trial = func(_ context.Context, run *experiment.Run) error {
				defer run.Lap(experiment.TotalPhase)()
				return nil
			}
		}), `phase "total" is not allowed`},
		"no statement": {spec(func(s *experiment.Spec) { s.Claims[0].Statement = "" }), "want statement"},
		"claim twice":  {spec(func(s *experiment.Spec) { s.Claims = append(s.Claims, s.Claims[0]) }), `claim ID "c"`},
		"column twice": {spec(func(s *experiment.Spec) {
			s.Columns = append(experiment.Columns{experiment.Text("cell", "a cell")}, s.Columns...)
		}), `column name "cell"`},
		"no meaning":         {spec(func(s *experiment.Spec) { s.Columns[0].Meaning = "" }), "want a meaning"},
		"kinds, no column":   {spec(func(s *experiment.Spec) { s.Kinds = []experiment.Kind{{Name: "k", Meaning: "a kind"}} }), "go together"},
		"undeclared kind":    {kinds("k", "other"), `of kind "other", which is not declared`},
		"wrong kind":         {kinds("k, l", "l"), "column y is filled in row 0 of kind \"l\""},
		"setting not in key": {cells(experiment.Cell{Name: "a", Settings: struct{ N int }{1}}), "has no tag key"},
		"setting lost": {cells(experiment.Cell{Name: "a", Settings: struct {
			N blind `key:"n"`
		}{1}}), "the parameters change with it: false; it is outside the key: false"},
		"no reason": {cells(experiment.Cell{Name: "a", Settings: struct {
			N int `key:"-"`
		}{1}}), "does not say because of what"},
		"ours, not marked":  {spec(func(s *experiment.Spec) { s.Claims[0].Statement = "Ours: s" }), "claim c says that it is ours"},
		"ours by value":     {spec(func(s *experiment.Spec) { s.Claims[0].Theirs = "not in the paper" }), "claim c says that it is ours"},
		"ours, with theirs": {spec(func(s *experiment.Spec) { s.Ours = true }), "claim c is the paper's"},
		"theirs, with ours": {spec(func(s *experiment.Spec) { s.Claims[0].Ours = true }), "all its claims are ours"},
		"theirs after ours": {func(p *experiment.Paper) {
			second := toy().Experiments[0]
			second.ID, second.Claims = "toy/two", nil
			p.Experiments[0].Ours, p.Experiments[0].Claims = true, nil
			p.Experiments = append(p.Experiments, second)
		}, "toy/two: it is the paper's and follows one of ours"},
		"a missing part":     {spec(func(s *experiment.Spec) { s.Version = 0 }), "toy/one: it lacks Version"},
		"other paper's ID":   {spec(func(s *experiment.Spec) { s.ID = "tot/one" }), "does not begin with toy/"},
		"method version 0":   {cells(experiment.Cell{Name: "a", Methods: map[string]int{"m": 0}}), "version 0 of m"},
		"real data at smoke": {cells(experiment.Cell{Name: "a", Dataset: "mnist"}), "must run on built-in data"},
		"no citation":        {func(p *experiment.Paper) { p.Citation = "" }, "citation"},
	} {
		file := filepath.Join(t.TempDir(), "pins")
		if r := record(t, toy(), file, true, "amd64"); len(r.errs) != 0 {
			t.Fatalf("a sound paper: %q", r.errs)
		}
		p := toy()
		tt.change(&p)
		r := record(t, p, file, false, "amd64")
		if all := strings.Join(r.errs, "\n"); !strings.Contains(all, tt.want) {
			t.Errorf("%s: got %q, want %q", name, all, tt.want)
		}
	}
}

func TestPinSmokeElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pins")
	if r := record(t, toy(), file, false, "amd64"); len(r.errs) != 1 || !strings.Contains(r.errs[0], "go test -update") {
		t.Errorf("no file: %q", r.errs)
	}
	if r := record(t, toy(), file, true, "arm64"); len(r.errs) != 1 || !strings.Contains(r.errs[0], "made on amd64") {
		t.Errorf("update on arm64: %q", r.errs)
	}
	if err := os.WriteFile(file, []byte("toy/one\texperiment 1, m 1, n 3\tanother hash\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := record(t, toy(), file, false, "arm64"); len(r.errs) != 0 || len(r.logs) != 1 {
		t.Errorf("other values on arm64: %q %q", r.errs, r.logs)
	}
	if err := os.WriteFile(file, []byte("toy/one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := record(t, toy(), file, false, "amd64"); len(r.errs) != 1 || !strings.Contains(r.errs[0], "pins:1: 1 fields") {
		t.Errorf("damaged file: %q", r.errs)
	}
}

// An update does not pin new values under old versions.
func TestUpdateNeedsAVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pins")
	record(t, toy(), file, true, "amd64")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := toy()
	trial := p.Experiments[0].Trial
	p.Experiments[0].Trial = func(ctx context.Context, run *experiment.Run) error {
		run.Rows.Add(nil, nil)
		return trial(ctx, run)
	}
	r := record(t, p, file, true, "amd64")
	if all := strings.Join(r.errs, "\n"); !strings.Contains(all, "the pin is kept") {
		t.Errorf("got %q", all)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the pin changed: %v", err)
	}
}
