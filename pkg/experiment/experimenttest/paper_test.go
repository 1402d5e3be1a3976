package experimenttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// publish runs the toys at full scale and returns the folder of the first one.
func publish(t *testing.T, p experiment.Paper) string {
	t.Helper()
	atomicfile.WithoutSync()
	dir := t.TempDir()
	res, err := harness.Run(t.Context(), []harness.Selected{{Paper: p, Spec: p.Experiments[0]}}, harness.Config{
		Scale: experiment.Full, Workers: 1, Data: datasets.Open(t.TempDir()), Folders: harness.FoldersFor(experiment.Full, dir), World: clocks(),
	})
	if err != nil || !res.OK() {
		t.Fatalf("run: %v %+v", err, res)
	}
	return filepath.Join(dir, "toy", "one")
}

// What is published and is not what the code makes of the table is found.
func TestCommittedFails(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing is drawn under -short")
	}
	write := func(name, text string) func(*testing.T, string, *experiment.Spec) {
		return func(t *testing.T, dir string, _ *experiment.Spec) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	spec := func(f func(*experiment.Spec)) func(*testing.T, string, *experiment.Spec) {
		return func(_ *testing.T, _ string, s *experiment.Spec) { f(s) }
	}
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir string, s *experiment.Spec)
		want   string
	}{
		"sound":          {func(*testing.T, string, *experiment.Spec) {}, ""},
		"other table":    {write("table.csv", "job,cell,trial,y\nj,a,0,1\n"), "not the table that meta.json describes"},
		"other view":     {write("v.md", "| h |"), "v.md is not what the code draws"},
		"other findings": {write("claims.json", "{}"), "claims.json is not what the code draws"},
		"stray file":     {write("notes.txt", "mine"), "notes.txt is no file of this experiment"},
		"new caption": {spec(func(s *experiment.Spec) {
			s.Views[0].Draw = func(*table.Table) (plots.Drawing, error) {
				return plots.Drawing{Caption: plots.Caption{Shows: "Another."}, Text: &plots.TextTable{Head: []string{"h"}, Rows: [][]string{{"r"}}}}, nil
			}
		}), "v.md is not what the code draws"},
		"new predicate": {spec(func(s *experiment.Spec) { s.Claims[0].Predicate = "q" }), "claims.json is not what the code draws"},
		"new meaning":   {spec(func(s *experiment.Spec) { s.Columns[0].Meaning = "another" }), "does not describe the column y as it is declared"},
		"never filled": {spec(func(s *experiment.Spec) {
			s.Columns = append(s.Columns, experiment.Number("z", "", "nothing"))
		}), "its columns are job,cell,trial,y, now they are job,cell,trial,y,z; run: metriclab run toy/one --scale full"},
	} {
		s := toy().Experiments[0]
		dir := publish(t, toy())
		tt.change(t, dir, &s)
		err := committedOf(s, dir)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error is %v, want %q", name, err, tt.want)
		}
	}
}

// Without results an experiment is at fault, unless it says that its run is to come.
func TestCommittedNeedsResults(t *testing.T) {
	look := func(p experiment.Paper, dir string) string {
		r := &recorder{T: t}
		committed(r, p, dir)
		return strings.Join(r.errs, "\n")
	}
	p := toy()
	if got := look(p, t.TempDir()); !strings.Contains(got, "toy/one: there are published results: false") {
		t.Errorf("no results: %q", got)
	}
	p.Experiments[0].Pending = true
	if got := look(p, t.TempDir()); got != "" {
		t.Errorf("no results, but pending: %q", got)
	}
	if got := look(p, filepath.Dir(filepath.Dir(publish(t, toy())))); !strings.Contains(got, "there are published results: true") {
		t.Errorf("results, but pending: %q", got)
	}
}

// Another id, a job more and one less are found.
func TestPinJobs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "testdata", "jobs.golden")
	look := func(p experiment.Paper) string {
		r := &recorder{T: t}
		pinJobs(r, p, file)
		return strings.Join(r.errs, "\n")
	}
	*update = true
	look(toy())
	*update = false
	if got := look(toy()); got != "" {
		t.Errorf("the same again: %q", got)
	}
	p := toy()
	p.Experiments[0].Version++
	if got := look(p); strings.Count(got, "lacks the job") != 4 || strings.Count(got, "which is no more") != 4 {
		t.Errorf("another version: %q", got)
	}
}

// A declaration that no row fills is found in a complete table.
func TestCheckFilled(t *testing.T) {
	s := mapped().Experiments[0]
	tab := s.Columns.Table()
	tab.Add(table.Key{"kind": "size"}, table.Values{"count": 3})
	if err := checkFilled(s, tab); err == nil || !strings.Contains(err.Error(), `no row is of the kind "error"`) {
		t.Errorf("a kind without rows: error is %v", err)
	}
	for i := range s.Kinds {
		s.Kinds[i].Rare = s.Kinds[i].Name == "error"
	}
	if err := checkFilled(s, tab); err != nil {
		t.Errorf("a rare kind without rows: %v", err)
	}
	tab.Add(table.Key{"kind": "error"}, nil)
	if err := checkFilled(s, tab); err == nil || !strings.Contains(err.Error(), `column y is not filled in any row of kind "error"`) {
		t.Errorf("an empty column: error is %v", err)
	}
	tab.Add(table.Key{"kind": "error"}, table.Values{"y": 1})
	if err := checkFilled(s, tab); err != nil {
		t.Errorf("a sound table: %v", err)
	}
	s.Columns[1] = s.Columns[1].In("size", "error")
	if err := checkFilled(s, tab); err == nil || !strings.Contains(err.Error(), `column count is not filled in any row of kind "error"`) {
		t.Errorf("a kind too many: error is %v", err)
	}
	s.Columns[1] = s.Columns[1].In()
	if err := checkRows(s, tab); err == nil {
		t.Error("a column of no kind that is filled: no error")
	}
}
