package harness

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// A derived column is declared, changed and dropped without a job: the table is made anew
// from what is published, and then from the cell files.
func TestDerivedColumnNeedsNoRun(t *testing.T) {
	dir := t.TempDir()
	spec := toySpec(nil)
	plain := spec.Columns
	derived := func(factor float64) experiment.Columns {
		double := experiment.Number("scaled", "m", "x scaled")
		double.Derive = func(rows *table.Table) []float64 {
			out := slices.Clone(rows.Values("x"))
			for i := range out {
				out[i] *= factor
			}
			return out
		}
		return append(slices.Clone(plain), double)
	}
	mustRun(t, toyConfig(dir, experiment.Full, toyPaper(spec)))
	first := mustRead(t, dir, "toy", "lines", tableFile)
	for _, cells := range []string{"", ".cells"} { // without the cell files at last
		if cells != "" {
			removeAll(t, filepath.Join(dir, cells))
		}
		for _, step := range []struct {
			columns experiment.Columns
			head    string
			third   string // end of the third row, whose x is 2
		}{
			{derived(2), "job,cell,trial,point,x,y,odd,scaled\n", ",-Inf,4"},
			{derived(3), "job,cell,trial,point,x,y,odd,scaled\n", ",-Inf,6"},
			{plain, "job,cell,trial,point,x,y,odd\n", ",-Inf"},
		} {
			spec.Columns = step.columns
			res := mustRun(t, toyConfig(dir, experiment.Full, toyPaper(spec)))
			if o := res.Outcomes[0]; o.Ran != 0 || !o.Published || len(res.Damaged) > 0 {
				t.Fatalf("ran %d jobs; %+v; damaged %v", o.Ran, o, res.Damaged)
			}
			text := mustRead(t, dir, "toy", "lines", tableFile)
			if row := strings.Split(text, "\n")[3]; !strings.HasPrefix(text, step.head) || !strings.HasSuffix(row, step.third) {
				t.Errorf("the table begins with %.120q and has the row %q, want %q and the end %q", text, row, step.head, step.third)
			}
			if tab, err := ReadTable(spec, filepath.Join(dir, "toy", "lines")); err != nil || len(tab.ValueNames()) != len(step.columns)-1 {
				t.Errorf("read: %v, error %v", tab, err)
			}
		}
	}
	if last := mustRead(t, dir, "toy", "lines", tableFile); last != first {
		t.Error("the table without derived columns is not what it was")
	}
}

// The columns of meta.json are those of table.csv, in their order, and say what they are.
func TestMetaColumns(t *testing.T) {
	dir := t.TempDir()
	spec := toySpec(nil)
	spec.Kinds = []experiment.Kind{{Name: "line", Meaning: "a point of a line"}}
	spec.Columns = experiment.Columns{experiment.Text("kind", "kind of the row"), experiment.Number("x", "m", "where it is").In("line"), experiment.Vector("p", 2, "s", "two times")}
	spec.Trial = func(ctx context.Context, run *experiment.Run) error {
		run.Rows.Add(table.Key{"kind": "line"}, table.Values{"x": 1, "p0": 2, "p1": 3})
		return nil
	}
	spec.Views = spec.Views[:1]
	spec.Claims = nil
	mustRun(t, toyConfig(dir, experiment.Full, toyPaper(spec)))
	m, _, err := readMeta(filepath.Join(dir, "toy", "lines"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range m.Columns {
		names = append(names, experiment.Column{Name: c.Name, Len: c.Length}.Names()...)
		if c.Meaning == "" {
			t.Errorf("%s has no meaning", c.Name)
		}
	}
	head, _, _ := strings.Cut(mustRead(t, dir, "toy", "lines", tableFile), "\n")
	if strings.Join(names, ",") != head {
		t.Errorf("the columns are %q, the head of the table is %q", names, head)
	}
	if got, want := m.Columns[4], (metaColumn{Name: "x", Type: "number", Unit: "m", Meaning: "where it is", Kinds: []string{"line"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if len(m.Kinds) != 1 || m.Kinds[0] != (metaKind{"line", "a point of a line"}) {
		t.Errorf("kinds %+v", m.Kinds)
	}
}

// claims.json has the findings as data, under a checksum.
func TestClaimsFile(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, toyConfig(dir, experiment.Full, toyPaper(toySpec(nil))))
	text := mustRead(t, dir, "toy", "lines", claimsFile)
	var c claims
	if err := unseal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	f := c.Claims[0].Finding
	if c.Schema != claimsSchema || c.Experiment != "toy/lines" || c.Claims[0].ID != "positive" || f.Verdict != judge.Reproduced || f.Test != judge.KindHolds || f.Trials != 6 {
		t.Errorf("got %+v", c)
	}
	if got := c.Claims[0].Source; got != "pkg/experiment/harness/toy_test.go" {
		t.Errorf("the source is %q", got)
	}
}

func removeAll(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

// A derived column that cannot be made ends the drawing of its experiment, and nothing else:
// what is published stays, and its rows count.
func TestDerivedColumnFails(t *testing.T) {
	for name, derive := range map[string]func(*table.Table) []float64{
		"panic":      func(*table.Table) []float64 { panic("no mean") },
		"refusal":    func(*table.Table) []float64 { judge.Refuse("no mean"); return nil },
		"too few":    func(*table.Table) []float64 { return nil },
		"no reading": func(rows *table.Table) []float64 { return rows.Values("nowhere") },
	} {
		dir := t.TempDir()
		sound := toySpec(nil)
		mustRun(t, toyConfig(dir, experiment.Full, toyPaper(sound)))
		before := snapshot(t, dir)
		broken, other := toySpec(nil), toySpec(nil)
		column := experiment.Number("derived", "", "cannot be made")
		column.Derive = derive
		broken.Columns = append(slices.Clone(broken.Columns), column)
		other.ID = "toy/other"
		p := toyPaper(broken, other)
		for _, cells := range []string{"", ".cells"} { // at last with the published rows only
			if cells != "" {
				removeAll(t, filepath.Join(dir, cells, "toy", "lines"))
			}
			res, err := Run(t.Context(), selected(p), toyConfig(dir, experiment.Full, p))
			if err != nil || res.OK() || res.Outcomes[0].Err == nil || !strings.Contains(res.Outcomes[0].Err.Error(), "derived column derived") {
				t.Fatalf("%s: error %v, result %+v", name, err, res)
			}
			if o := res.Outcomes; o[0].Ran != 0 || len(res.Damaged) > 0 || !o[1].Published {
				t.Errorf("%s: ran %d jobs, damaged %v, the other one is published: %v", name, o[0].Ran, res.Damaged, o[1].Published)
			}
			for _, file := range []string{"toy/lines/" + tableFile, "toy/lines/" + metaFile} {
				if got := mustRead(t, dir, file); got != before[file] {
					t.Errorf("%s: %s has changed", name, file)
				}
			}
		}
	}
	bad := toySpec(nil)
	bad.Columns = append(experiment.Columns{experiment.Text("cell", "taken")}, bad.Columns...)
	if _, err := Run(t.Context(), selected(toyPaper(bad)), toyConfig(t.TempDir(), experiment.Smoke, toyPaper(bad))); err == nil || !strings.Contains(err.Error(), `column name "cell"`) {
		t.Errorf("a column of the job's: error is %v", err)
	}
}

// A table with the columns of an earlier version is sound, though its rows cannot be used:
// it is no damage, and the scorecard stays as it is until the run is done.
func TestColumnsOfAnEarlierVersion(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, toyConfig(dir, experiment.Full, toyPaper(toySpec(nil))))
	card := mustRead(t, dir, scorecardFile)
	spec := toySpec(nil)
	spec.Version++
	spec.Columns = append(slices.Clone(spec.Columns), experiment.Number("z", "", "measured anew"))
	trial := spec.Trial
	spec.Trial = func(ctx context.Context, run *experiment.Run) error {
		run.Rows.Add(table.Key{"point": "p"}, table.Values{"z": 1})
		return trial(ctx, run)
	}
	cfg := toyConfig(dir, experiment.Full, toyPaper(spec))
	const why = "of an earlier version of the code: its columns are job,cell,trial,point,x,y,odd, now they are job,cell,trial,point,x,y,odd,z; run: metriclab run toy/lines --scale full"
	stand, err := Stand(t.Context(), selected(toyPaper(spec)), cfg)
	if err != nil || stand[0].ToRun != 24 || !strings.Contains(stand[0].Problem, why) {
		t.Errorf("status %+v (error %v)", stand, err)
	}
	res, err := Report(t.Context(), selected(toyPaper(spec)), cfg)
	if err != nil || !res.OK() || len(res.Damaged) > 0 {
		t.Errorf("report %+v (error %v)", res, err)
	}
	if got := mustRead(t, dir, scorecardFile); got != card {
		t.Errorf("the scorecard has changed:\n%s", got)
	}
	if _, err := ReadTable(spec, filepath.Join(dir, "toy", "lines")); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("read: error is %v", err)
	}
	if o := mustRun(t, cfg).Outcomes[0]; o.Ran != 24 || !o.Published || o.Problem != "" {
		t.Errorf("run %+v", o)
	}
}
