package nb

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// toy is an experiment of one job that counts how often it runs.
func toy(runs *int) experiment.Spec {
	return experiment.Spec{
		ID: "toy/count", Title: "t", Source: "s", Version: 1,
		Cells:   func(experiment.Scale) []experiment.Cell { return []experiment.Cell{{Name: "c", Dataset: "built-in"}} },
		Trials:  func(experiment.Scale) int { return 1 },
		Columns: experiment.Columns{experiment.Text("what", "what is counted"), experiment.Number("value", "", "the count")},
		Trial: func(_ context.Context, run *experiment.Run) error {
			*runs++
			if *runs < 0 {
				return errors.New("trial failed")
			}
			run.Rows.Add(table.Key{"what": "x"}, table.Values{"value": 5})
			return nil
		},
		Views: []experiment.View{{Name: "v", Title: "V", Draw: func(*table.Table) (plots.Drawing, error) {
			return plots.Drawing{Text: &plots.TextTable{Head: []string{"a"}}}, nil
		}}},
		Claims: []experiment.Claim{{
			ID: "c", Statement: "it is five", Where: "Section 1", Theirs: "5", Predicate: "equal to 5",
			Test: func(t *table.Table) judge.Test {
				if t.Values("value")[0] != 5 {
					judge.Refuse("not five")
				}
				return judge.Shown{Test: judge.Holds{true, true, true, true, true, true}, Ours: "5", Note: "It is."}
			},
		}},
	}
}

// publish writes the table of a full-scale run.
func publish(t *testing.T, root string, spec experiment.Spec, value float64) {
	t.Helper()
	tab := table.New([]string{"job", "cell", "trial", "what"}, []string{"value"})
	tab.Add(table.Key{"job": "j", "cell": "c", "trial": "0", "what": "x"}, table.Values{"value": value})
	var b bytes.Buffer
	if err := tab.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "results", "toy", "count")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	describe(t, dir, b.String(), "")
}

// describe writes the two tables of a published folder, the second unless it is
// empty, and the meta.json that vouches for them.
func describe(t *testing.T, dir, rows, times string) {
	t.Helper()
	files := map[string]string{"table.csv": rows}
	meta := fmt.Sprintf(`"experiment": "toy/count", "table_sha256": "%x"`, sha256.Sum256([]byte(rows)))
	if times != "" {
		files["timing.csv"] = times
		meta += fmt.Sprintf(`, "timing_sha256": "%x"`, sha256.Sum256([]byte(times)))
	}
	files["meta.json"] = "{" + meta + "}"
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRowsAtSmokeScaleRunOnce(t *testing.T) {
	root, runs := t.TempDir(), 0
	for range 2 {
		got, _, err := rows(root, toy(&runs), "smoke", false)
		if err != nil {
			t.Fatal(err)
		}
		if got.Len() != 1 || got.Values("value")[0] != 5 {
			t.Errorf("table has %d rows", got.Len())
		}
	}
	if runs != 1 {
		t.Errorf("the job ran %d times, want once", runs)
	}
	if _, err := os.Stat(filepath.Join(root, "results")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a smoke run wrote to results (%v)", err)
	}
}

func TestRowsReportFailures(t *testing.T) {
	runs := -5
	if _, _, err := rows(t.TempDir(), toy(&runs), "smoke", false); err == nil || !strings.Contains(err.Error(), "trial failed") {
		t.Errorf("error %v, want the trial's", err)
	}
	if _, _, err := rows(t.TempDir(), toy(&runs), "huge", false); err == nil {
		t.Error("an unknown scale gives no error")
	}
}

func TestRowsAtFullScale(t *testing.T) {
	root, runs := t.TempDir(), 0
	spec := toy(&runs)
	_, _, err := rows(root, spec, "full", false)
	if err == nil || !strings.Contains(err.Error(), "go run ./cmd/metriclab run toy/count --scale full") {
		t.Errorf("error %v, want the command that makes the results", err)
	}
	publish(t, root, spec, 5)
	got, _, err := rows(root, spec, "full", false)
	if err != nil || got.Len() != 1 || runs != 0 {
		t.Errorf("table %v, error %v, %d runs", got, err, runs)
	}
	if err := os.WriteFile(filepath.Join(root, "results", "toy", "count", "table.csv"), []byte("damaged\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var missing *missingError
	if _, _, err = rows(root, spec, "full", false); err == nil || errors.As(err, &missing) {
		t.Errorf("a damaged table: error %v", err)
	}
}

// timedToy is toy with a view and a claim about the time of its one job, which
// is at least a millisecond.
func timedToy(runs *int) experiment.Spec {
	s := toy(runs)
	trial := s.Trial
	s.Trial = func(ctx context.Context, run *experiment.Run) error {
		time.Sleep(time.Millisecond)
		return trial(ctx, run)
	}
	s.Timing = true
	s.Views = append(s.Views, experiment.View{Name: "w", Title: "W", DrawTimed: func(t, times *table.Table) (plots.Drawing, error) {
		all := times.Where("phase", experiment.TotalPhase)
		if t.Len() != 1 || all.Len() != 1 {
			return plots.Drawing{}, errors.New("no times")
		}
		return plots.Drawing{Caption: plots.Caption{Shows: fmt.Sprint(all.Values("wall_s")[0]) + " s."}, Text: &plots.TextTable{Head: []string{"a"}}}, nil
	}})
	s.Claims = []experiment.Claim{{
		ID: "t", Statement: "it is slow", Where: "Section 1", Theirs: "5 s", Predicate: "at least 5 s",
		TestTimed: func(_, times *table.Table) judge.Test {
			return judge.Shown{Test: judge.Holds{true, true, true, true, true, true}, Ours: fmt.Sprint(times.Values("wall_s")[0])}
		},
	}}
	return s
}

func TestTimesAtSmokeScale(t *testing.T) {
	root, runs := t.TempDir(), 0
	spec := timedToy(&runs)
	_, first, err := rows(root, spec, "smoke", true)
	if err != nil || first.Len() != 1 || first.Values("wall_s")[0] < 0.001 || processCPU() <= 0 {
		t.Fatalf("times %v, %v", first, err)
	}
	// Drawn again, the times are those of the one run.
	d, err := draw(root, spec, spec.Views[1], "smoke")
	if err != nil || d.Caption.String() != fmt.Sprint(first.Values("wall_s")[0])+" s." || runs != 1 {
		t.Errorf("drawn: %q, %v, %d runs", d.Caption, err, runs)
	}
}

func TestTimesAtFullScale(t *testing.T) {
	root, runs := t.TempDir(), 0
	spec := timedToy(&runs)
	never := func(error) bool { return false }
	publish(t, root, spec, 5)
	// A view without times needs none; the others say what is missing.
	if _, err := draw(root, spec, spec.Views[0], "full"); err != nil {
		t.Errorf("a view without times: %v", err)
	}
	var missing *missingError
	if _, err := draw(root, spec, spec.Views[1], "full"); err == nil || errors.As(err, &missing) || !strings.Contains(err.Error(), "has no times") {
		t.Errorf("no timing.csv: %v", err)
	}
	dir := filepath.Join(root, "results", "toy", "count")
	csv := "job,cell,trial,phase,wall_s,cpu_s\nj,c,0,total,7.5,7\n"
	rows, err := os.ReadFile(filepath.Join(dir, "table.csv"))
	if err != nil {
		t.Fatal(err)
	}
	describe(t, dir, string(rows), csv)
	if d, err := draw(root, spec, spec.Views[1], "full"); err != nil || d.Caption.String() != "7.5 s." {
		t.Errorf("drawn: %q, %v", d.Caption, err)
	}
	if got, err := claims(root, []experiment.Spec{spec}, "full", never); err != nil || !strings.Contains(got[harness.TableSentences], "](../results/toy/count/claims.md#") {
		t.Errorf("claims: %v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "timing.csv"), []byte(strings.Replace(csv, "7.5", "7.4", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := draw(root, spec, spec.Views[1], "full"); err == nil || !strings.Contains(err.Error(), "is not the timing table") {
		t.Errorf("a changed timing.csv: %v", err)
	}
	if _, err := claims(root, []experiment.Spec{spec}, "full", never); err == nil {
		t.Error("claims on a changed timing.csv give no error")
	}
	if runs != 0 {
		t.Errorf("%d jobs ran", runs)
	}
}

func TestClaims(t *testing.T) {
	root, runs := t.TempDir(), 0
	specs := []experiment.Spec{toy(&runs)}
	never := func(error) bool { return false }

	got, err := claims(root, specs, "smoke", never)
	if err != nil || !strings.Contains(got[harness.TableSentences], "\n| not graded | ") {
		t.Errorf("smoke: %v, error %v", got, err)
	}
	if _, err := claims(root, specs, "full", never); err == nil {
		t.Error("missing results give no error")
	}
	skipped := 0
	got, err = claims(root, specs, "full", func(error) bool { skipped++; return true })
	if err != nil || strings.Join(got, "") != "" || skipped != 1 {
		t.Errorf("skipped: %v, error %v", got, err)
	}
	publish(t, root, specs[0], 5)
	first := specs[0].Claims[0]
	got, err = claims(root, specs, "full", never)
	want := "| verdict | claim | readings | more |\n|---|---|---|---|\n| reproduced | " + first.Statement + " |  | [count](../results/toy/count/claims.md#" + first.ID + ") |\n"
	if err != nil || !slices.Equal(got, []string{want, "", ""}) {
		t.Errorf("full: %q, error %v, want %q", got, err, want)
	}
	long := first
	long.Title = strings.Repeat("é_é ", 60)
	specs[0].Claims = []experiment.Claim{long}
	got, err = claims(root, specs, "full", never)
	_, row, _ := strings.Cut(strings.TrimSuffix(got[harness.TableSentences], "\n"), "|---|---|---|---|\n")
	if n := utf8.RuneCountInString(row); err != nil || n > maxRow || n < maxRow-10 || !strings.Contains(row, "é …") || !strings.HasSuffix(row, "#"+first.ID+") |") {
		t.Errorf("a long sentence: %d characters, error %v: %s", n, err, row)
	}
	again := first
	again.ID, again.Sentence, again.Afterwards = "again", first.ID, "all rows"
	specs[0].Claims = []experiment.Claim{first, again}
	if got, err := claims(root, specs, "full", never); err != nil || !strings.Contains(got[harness.TableSentences], " | 2 of 2 | ") || strings.Contains(got[harness.TableSentences], "#again") {
		t.Errorf("with a further reading: %q, error %v", got, err)
	}
	specs[0].Claims = []experiment.Claim{first}
	specs[0].Claims[0].Ours = true
	if got, err := claims(root, specs, "full", never); err != nil || got[harness.TableSentences] != "" || got[harness.TableOurs] == "" {
		t.Errorf("a claim of ours: %q, error %v", got, err)
	}
	publish(t, root, specs[0], 6)
	if _, err = claims(root, specs, "full", never); err == nil {
		t.Error("a grade that fails gives no error")
	}
}

func TestShowViewOfUnknownName(t *testing.T) {
	defer func() {
		if got, _ := recover().(error); got == nil || !strings.Contains(got.Error(), "it has v") {
			t.Errorf("panic %v, want the names there are", got)
		}
	}()
	runs := 0
	ShowView(toy(&runs), "w", "smoke")
}

func TestCut(t *testing.T) {
	for _, test := range []struct{ rows, kept, rest int }{{0, 0, 0}, {mostRows, mostRows, 0}, {mostRows + 1, fewRows, mostRows + 1 - fewRows}} {
		table := &plots.TextTable{Head: []string{"a"}, Rows: make([][]string, test.rows)}
		if rest := cut(table); rest != test.rest || len(table.Rows) != test.kept {
			t.Errorf("of %d rows %d are shown, %d not; want %d, %d", test.rows, len(table.Rows), rest, test.kept, test.rest)
		}
	}
	if cut(nil) != 0 {
		t.Error("no table has rows that are not shown")
	}
}

func TestWatermark(t *testing.T) {
	if watermark("full") != "" || watermark("smoke") == "" {
		t.Errorf("full %q, smoke %q", watermark("full"), watermark("smoke"))
	}
}

func TestProjectRoot(t *testing.T) {
	root, err := projectRoot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "notebooks", "nb")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if _, err := projectRoot(); err == nil {
		t.Error("outside the project there is no error")
	}
}

func TestVerdictsAndNamed(t *testing.T) {
	root, runs := t.TempDir(), 0
	spec := toy(&runs)
	publish(t, root, spec, 5)
	if got, err := verdicts(root, spec); err != nil || got != ". Claims: reproduced 1" {
		t.Errorf("verdicts = %q, %v", got, err)
	}
	spec.Claims = nil
	if got, err := verdicts(root, spec); err != nil || got != "" {
		t.Errorf("without claims: %q, %v", got, err)
	}
	paper := experiment.Paper{Key: "toy", Experiments: []experiment.Spec{spec}}
	if got, err := named(paper, "count"); err != nil || got.ID != "toy/count" {
		t.Errorf("named = %q, %v", got.ID, err)
	}
	if _, err := named(paper, "toy/count"); err == nil || !strings.Contains(err.Error(), "it has count") {
		t.Errorf("a name that the paper does not have gives the error %v, want the names there are", err)
	}
}
