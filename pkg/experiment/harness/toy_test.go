package harness

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// toySettings are those of a cell of toySpec.
type toySettings struct {
	Slope int    `key:"slope"`
	Noise string `key:"noise"`
}

// toySpec is an experiment of 4 cells with 2 trials at smoke and 6 at full
// scale, whose rows hold all that a table can: NaN, infinities, text to quote.
// hook, if not nil, runs inside each trial.
func toySpec(hook func(ctx context.Context, cell string, trial int) error) experiment.Spec {
	return experiment.Spec{
		ID: "toy/lines", Title: "Lines with noise", Source: "nowhere", Version: 1,
		Cells: func(experiment.Scale) []experiment.Cell {
			var cells []experiment.Cell
			for i, name := range []string{"a", "b", "c, quoted", "d"} {
				cells = append(cells, experiment.Cell{
					Name: name, Dataset: "toy", Methods: map[string]int{"line": 1},
					Settings: toySettings{Slope: i, Noise: "small"},
				})
			}
			return cells
		},
		Trials: func(s experiment.Scale) int {
			if s == experiment.Smoke {
				return 2
			}
			return 6
		},
		Columns: experiment.Columns{
			experiment.Text("point", "name of the point"), experiment.Number("x", "m", "where it is"), experiment.Number("y", "", "the line with noise"), experiment.Number("odd", "", "what no number is"),
		},
		Trial: func(ctx context.Context, run *experiment.Run) error {
			defer run.Lap("whole")()
			if hook != nil {
				if err := hook(ctx, run.Cell.Name, run.Seed.Trial); err != nil {
					return err
				}
			}
			rng := run.Seed.Stream("noise " + run.Cell.Name)
			odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
			for i := range 3 {
				run.Rows.Add(table.Key{"point": fmt.Sprintf("%q, %d", "p", i)}, table.Values{"x": float64(i), "y": 1 + rng.Float64(), "odd": odd[i]})
			}
			return nil
		},
		Views: []experiment.View{
			{Name: "text", Title: "The lines in numbers", Draw: func(t *table.Table) (plots.Drawing, error) {
				return plots.Drawing{
					Caption: plots.Caption{Shows: "Rows."}, Notes: []string{"a note"},
					Text: &plots.TextTable{Head: []string{"rows"}, Rows: [][]string{{fmt.Sprint(t.Len())}}},
				}, nil
			}},
		},
		Claims: experiment.Claims([]experiment.Claim{{
			ID: "positive", Statement: "y | is <positive>.", Where: "Section 0", Theirs: experiment.FigureOnly, Predicate: "y > 0", View: "text",
			Test: func(t *table.Table) judge.Test {
				var holds []bool
				for _, g := range t.Group("trial") {
					ok := true
					for _, y := range g.Values("y") {
						ok = ok && y > 0
					}
					holds = append(holds, ok)
				}
				return judge.Holds(holds)
			},
		}}),
		Cost: time.Second,
	}
}

// withPlot adds a figure as the first view; drawing is slow in race mode.
func withPlot(s experiment.Spec) experiment.Spec {
	s.Views = append([]experiment.View{
		{Name: "plot", Title: "The lines", Draw: func(t *table.Table) (plots.Drawing, error) {
			return plots.Drawing{
				Caption: plots.Caption{Shows: "Lines of the toy."},
				Panels:  []plots.Panel{{XLabel: "x", YLabel: "y", Marks: []plots.Mark{plots.Points{X: t.Values("x"), Y: t.Values("y")}}}},
			}, nil
		}},
	}, s.Views...)
	return s
}

func toyPaper(specs ...experiment.Spec) experiment.Paper {
	return experiment.Paper{Key: "toy", Citation: "A. Toy. Lines. 1900.", Experiments: specs}
}

func selected(p experiment.Paper) []Selected {
	var out []Selected
	for _, s := range p.Experiments {
		out = append(out, Selected{p, s})
	}
	return out
}

// toyConfig is a Config without clock, so that all files are deterministic.
func toyConfig(dir string, scale experiment.Scale, p experiment.Paper) Config {
	return Config{Scale: scale, Folders: FoldersFor(scale, dir), Workers: 2, Papers: []experiment.Paper{p}, World: World{Build: Build{Go: "go1"}}, Origin: Origin{Program: "metriclab", Verdicts: `docs/design.md, "Claims and verdicts"`}}
}

// mustRun runs the toys of a paper and fails the test on any trouble.
func mustRun(t *testing.T, cfg Config) *Result {
	t.Helper()
	res, err := Run(t.Context(), selected(cfg.Papers[0]), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !res.OK() {
		t.Fatalf("run failed: %+v %v", res.Failed, res.StoreErr)
	}
	return res
}

func mustRead(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// snapshot returns the content of all files below a folder that are not hidden,
// by path with slashes.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != dir:
			return filepath.SkipDir
		case d.Type().IsRegular() && !strings.HasPrefix(d.Name(), "."):
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			out[filepath.ToSlash(rel)] = mustRead(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs:\n%.300s\nwant\n%.300s", name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("unexpected file %s", name)
		}
	}
}
