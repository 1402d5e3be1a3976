package pa2013

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// The file that the registry asks for is read as it says; without it the error names it.
func TestSuppliedBDG10(t *testing.T) {
	entry, err := datasets.Lookup(bdg10.dataset)
	if err != nil || len(entry.Files) != 1 || entry.Files[0].Path != bdg10File {
		t.Fatalf("registry: %+v, %v", entry, err)
	}
	env := testEnv()
	env.Data = datasets.Open(t.TempDir())
	if _, err := load(env, random.Seed{}, bdg10.dataset); err == nil || !strings.Contains(filepath.ToSlash(err.Error()), bdg10File) {
		t.Errorf("no file: %v", err)
	}
	var text strings.Builder
	text.WriteString("f1,f2,class\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%d,%d,%s\n", i%7, i/3, []string{"sea", "art", "sky"}[i%3])
	}
	path := env.Data.Path(bdg10File)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := load(env, random.Seed{}, bdg10.dataset)
	if err != nil {
		t.Fatal(err)
	}
	if set.N() != 60 || set.Dim() != 2 || len(set.Classes) != 3 || set.X.At(8, 0) != 1 || set.Classes[set.Y[1]] != "art" {
		t.Errorf("%d×%d, classes %v", set.N(), set.Dim(), set.Classes)
	}
	p, err := newProblem(env, random.Seed{Base: 1, Experiment: "test", Dataset: bdg10.dataset}, bdg10.dataset, mainSettings)
	if err != nil || len(p.train.y) != 30 || p.classes != 3 {
		t.Errorf("problem: %v", err)
	}
}

// The cell is run only where the file is, and takes part in claims under the paper's name.
func TestBDG10IsACell(t *testing.T) {
	cells := Comparison.Cells(experiment.Full)
	if last := cells[len(cells)-1]; !last.Supplied || last.Dataset != bdg10.dataset {
		t.Errorf("last cell: %+v", last)
	}
	if n := len(slices.DeleteFunc(slices.Clone(cells), func(c experiment.Cell) bool { return c.Supplied })); n != len(databases) {
		t.Errorf("%d cells without what is supplied, want %d", n, len(databases))
	}
	r := results{cell: bdg10.cell, t: comparisonColumns.Table().With("cell", nil)}
	r.t.Add(table.Key{"cell": r.cell}, nil)
	if d := r.database(); d.paper != "BDG100" || d.standIn || public(r.t).Len() != 1 {
		t.Errorf("database %+v", d)
	}
}
