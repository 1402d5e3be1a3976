package experimenttest

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// mapped is a toy whose trials return two rows with a name, a count and a share.
func mapped() experiment.Paper {
	p := toy()
	s := &p.Experiments[0]
	s.Kinds = []experiment.Kind{{Name: "size", Meaning: "a count"}, {Name: "error", Meaning: "a share"}}
	s.Columns = experiment.Columns{experiment.Text("kind", "of the row"), experiment.Number("count", "", "how many").In("size"), experiment.Number("y", "share", "of them").In("error")}
	s.Trial = func(ctx context.Context, run *experiment.Run) error {
		run.Rows.Add(table.Key{"kind": "size"}, table.Values{"count": 3})
		run.Rows.Add(table.Key{"kind": "error"}, table.Values{"y": 0.5})
		return nil
	}
	return p
}

// A view or a claim that trusts its table is found, by name, with its mutant.
func TestMutantsFindFaults(t *testing.T) {
	plain := plots.Drawing{Caption: plots.Caption{Shows: "C."}, Text: &plots.TextTable{Head: []string{"h"}, Rows: [][]string{{"r"}}}}
	size := func(t *table.Table) []float64 { return t.Where("kind", "size").Values("count") }
	for name, tt := range map[string]struct {
		draw func(*table.Table) (plots.Drawing, error)
		want string
	}{
		"sound": {func(t *table.Table) (plots.Drawing, error) {
			_ = make([]float64, experiment.Whole("count", experiment.First(t.Where("kind", "size"), "count"), 0, 100))
			return plain, nil
		}, ""},
		"first row":       {func(t *table.Table) (plots.Drawing, error) { _ = size(t)[0]; return plain, nil }, "view v: panic: runtime error: index out of range"},
		"value is a size": {func(t *table.Table) (plots.Drawing, error) { return plain, allocate(size(t)) }, "view v: "},
		"value is a count": {func(t *table.Table) (plots.Drawing, error) {
			for _, v := range size(t) {
				if v > 1e6 && v < 1e12 {
					sink = make([]float64, 2*mutantBytes/8)
				}
			}
			return plain, nil
		}, "view v: allocates"},
	} {
		p := mapped()
		p.Experiments[0].Views[0].Draw = tt.draw
		r := record(t, p, filepath.Join(t.TempDir(), "pins"), true, "amd64")
		all := strings.Join(r.errs, "\n")
		if tt.want == "" && len(r.errs) > 0 || !strings.Contains(all, tt.want) {
			t.Errorf("%s: got %q, want %q", name, all, tt.want)
		}
		if tt.want != "" && !strings.Contains(all, "mutant: ") {
			t.Errorf("%s: got %q, want the mutant named", name, all)
		}
	}
	p := mapped()
	p.Experiments[0].Claims[0].Test = func(t *table.Table) judge.Test {
		return judge.Unsettled{Reason: t.Index("kind")[0]}
	}
	r := record(t, p, filepath.Join(t.TempDir(), "pins"), true, "amd64")
	if all := strings.Join(r.errs, "\n"); !strings.Contains(all, "claim c: panic: runtime error: index out of range") || !strings.Contains(all, "mutants_test.go") {
		t.Errorf("a claim that panics: got %q", all)
	}
}

// sink keeps what the test allocates.
var sink []float64

// allocate makes what a value says; of a NaN or a negative number Go panics.
func allocate(counts []float64) error {
	for _, v := range counts {
		sink = make([]float64, int(min(v, 1e3)))
	}
	return nil
}

// Mutants are the same in every run, and leave the table as it is.
func TestMutantsRepeat(t *testing.T) {
	p := mapped()
	tab, _ := run(&recorder{T: t}, p, p.Experiments[0])
	before := csvOf(t, tab)
	a, b := mutate(tab, 50), mutate(tab, 50)
	kinds := map[string]bool{}
	for i := range a {
		if a[i].what != b[i].what || csvOf(t, a[i].tab) != csvOf(t, b[i].tab) {
			t.Errorf("mutant %d is %q, then %q", i, a[i].what, b[i].what)
		}
		kinds[strings.Fields(a[i].what)[0]] = true
	}
	if csvOf(t, tab) != before {
		t.Error("mutating changed the table")
	}
	for _, k := range []string{"no", "shuffled", "without", "nothing", "twice", "half", "count"} {
		if !kinds[k] {
			t.Errorf("no mutant %q among %d", k, len(a))
		}
	}
}

func csvOf(t *testing.T, tab *table.Table) string {
	t.Helper()
	var b bytes.Buffer
	if err := tab.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
