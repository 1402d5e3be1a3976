package experimenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// The files of a paper's tests, seen from its folder.
const (
	pinsFile   = "testdata/smoke.pins"
	jobsFile   = "testdata/jobs.golden"
	resultsDir = "../../../results"
)

// Paper tests a paper from its folder:
//
//   - jobs: the ids of its jobs are those of testdata/jobs.golden, so that no finished job
//     runs again unnoticed;
//   - smoke: its declarations are well-formed, and every field of every cell's settings is in
//     the key. Every experiment runs at smoke scale, one trial per cell, as the command does:
//     with the declared columns, rendered and graded without error, on damaged tables too, and
//     with the values of testdata/smoke.pins;
//   - results: what is committed below results/ is what the code makes of its tables, and
//     a caption says where most choices took an end of their grid.
//
// With -update the two files in testdata are rewritten.
func Paper(t *testing.T, p experiment.Paper) {
	t.Run("jobs", func(t *testing.T) { pinJobs(t, p, jobsFile) })
	t.Run("smoke", func(t *testing.T) { pinSmoke(t, p, pinsFile, *update, runtime.GOARCH) })
	t.Run("results", func(t *testing.T) { committed(t, p, resultsDir) })
}

// pinJobs fails unless the ids of the jobs are those of the file. It has a line per
// experiment, scale and cell: the first 16 digits of the id of the first trial, base seed
// 1, as if all data were generated. Another id means that finished jobs run again. With
// -update the file is rewritten.
func pinJobs(t tb, p experiment.Paper, file string) {
	t.Helper()
	var b strings.Builder
	for _, s := range p.Experiments {
		for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
			for _, j := range harness.Jobs(s, scale, 1, 1, nil) {
				fmt.Fprintf(&b, "%s\t%s\t%s\t%.16s\n", s.ID, scale, j.Cell.Name, j.ID)
			}
		}
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatalf("%v", err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatalf("%v", err)
		}
		t.Logf("wrote %s", file)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; make the file with: go test -update", err)
	}
	got, pinned := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for _, line := range got {
		if !slices.Contains(pinned, line) {
			t.Errorf("%s lacks the job %q: its settings, versions or data set have changed, and finished jobs run again; if so it must be: go test -update", file, line)
		}
	}
	for _, line := range pinned {
		if !slices.Contains(got, line) {
			t.Errorf("%s has the job %q, which is no more; if so it must be: go test -update", file, line)
		}
	}
}

// committed fails unless the published results of a paper are what the code makes of their
// tables, byte for byte: every figure and text of every view, and claims.json. There is no
// other file, and the tables are filled as declared. Under -short nothing is rendered.
// Drawings and findings are compared on amd64 only: other machines round differently. Only
// an experiment marked Pending has no published results.
func committed(t tb, p experiment.Paper, results string) {
	t.Helper()
	for _, s := range p.Experiments {
		dir := filepath.Join(results, filepath.FromSlash(s.ID))
		_, err := os.Stat(dir)
		switch there := err == nil; {
		case there == s.Pending:
			t.Errorf("%s: there are published results: %v; it is marked Pending: %v; run it at full scale, or mark it", s.ID, there, s.Pending)
		case there:
			if err := committedOf(s, dir); err != nil {
				t.Errorf("%s: %v", s.ID, err)
			}
		}
	}
}

func committedOf(s experiment.Spec, dir string) error {
	tab, err := harness.ReadTable(s, dir)
	if err != nil {
		return err
	}
	times, err := harness.ReadTimes(s, dir)
	if err != nil {
		return err
	}
	if err := checkMeta(s, dir, tab); err != nil {
		return err
	}
	if err := checkRows(s, tab); err != nil {
		return err
	}
	if err := checkFilled(s, tab); err != nil {
		return err
	}
	if err := checkChoices(s, tab, times); err != nil {
		return err
	}
	if testing.Short() || runtime.GOARCH != "amd64" {
		return nil
	}
	var csv bytes.Buffer
	if err := tab.WriteCSV(&csv); err != nil {
		return err
	}
	want := []plots.File{{Name: "table.csv", Data: csv.Bytes()}}
	for _, v := range s.Views {
		d, err := v.DrawWith(tab, times)
		if err != nil {
			return fmt.Errorf("view %s: %w", v.Name, err)
		}
		files, err := d.Render(v.Name, plots.Options{})
		if err != nil {
			return fmt.Errorf("view %s: %w", v.Name, err)
		}
		want = append(want, files...)
	}
	if len(s.Claims) > 0 {
		claims, err := harness.ClaimsJSON(s, tab, times)
		if err != nil {
			return err
		}
		want = append(want, plots.File{Name: "claims.json", Data: claims})
	}
	known := []string{"meta.json", "timing.csv", "README.md", "claims.md", ".drawn"} // internal/docs tests the two pages; git ignores the last
	for _, f := range want {
		known = append(known, f.Name)
		got, err := os.ReadFile(filepath.Join(dir, f.Name))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, f.Data) {
			return fmt.Errorf("%s is not what the code draws from table.csv; if it should change: metriclab report %s --scale full", f.Name, s.ID)
		}
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (filepath.Dir(path) != filepath.Clean(dir) || !slices.Contains(known, d.Name())) {
			return fmt.Errorf("%s is no file of this experiment", path)
		}
		return err
	})
}

// checkMeta returns an error unless meta.json describes the columns of the table, in their
// order, as they are declared.
func checkMeta(s experiment.Spec, dir string, tab *table.Table) error {
	if err := harness.CheckMeta(s, dir); err != nil {
		return fmt.Errorf("%w; if so it must be: metriclab report %s --scale full", err, s.ID)
	}
	data, err := os.ReadFile(filepath.Join(dir, "meta.json"))
	if err != nil {
		return err
	}
	var m struct {
		Columns []struct {
			Name   string
			Length int
		}
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("meta.json: %w", err)
	}
	var names []string
	for _, c := range m.Columns {
		names = append(names, experiment.Column{Name: c.Name, Len: c.Length}.Names()...)
	}
	if want := slices.Concat(tab.IndexNames(), tab.ValueNames()); !slices.Equal(names, want) {
		return fmt.Errorf("meta.json describes the columns %q, table.csv has %q", names, want)
	}
	return nil
}
