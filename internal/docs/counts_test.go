package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers"
)

// committed selects all experiments, on the committed results.
func committed(t *testing.T) ([]harness.Selected, harness.Config) {
	t.Helper()
	sel, err := harness.Select(papers.All, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sel, harness.Config{
		Scale: experiment.Full, Folders: harness.FoldersFor(experiment.Full, filepath.Join("..", "..", "results")), Data: datasets.Open(t.TempDir()),
		Origin: harness.Origin{Program: "metriclab", Verdicts: `docs/design.md, "Claims and verdicts"`},
	}
}

// The README's counts are those of the committed results: sentences by verdict; checks, which all hold; questions of ours. None of it is of an earlier version of the code, unless the README says "stale".
func TestREADMETally(t *testing.T) {
	if testing.Short() {
		t.Skip("judges all claims: not run under -short")
	}
	sel, cfg := committed(t)
	all, err := harness.Explain(t.Context(), sel, cfg)
	if err != nil {
		t.Fatal(err)
	}
	readme := read(t, "README.md")
	sentences, checks, ours := harness.TallyOf(all, harness.TableSentences), harness.TallyOf(all, harness.TableChecks), harness.TallyOf(all, harness.TableOurs)
	for _, p := range papers.All {
		var want string
		for _, v := range []judge.Verdict{judge.Reproduced, judge.Partly, judge.NotReproduced, judge.Undecided, judge.Untestable} {
			want += fmt.Sprintf(" %d |", sentences.Count[p.Key][v])
		}
		want += fmt.Sprintf(" %d | %d |", checks.Count[p.Key][judge.ByConstruction], ours.Claims(p.Key))
		row := regexp.MustCompile(`(?m)^\| \[` + p.Key + `\]\(docs/papers/` + p.Key + `\.md\)[^|]*\|(( \d+ \|){7})[^|]*\|$`).FindStringSubmatch(readme)
		if row == nil || row[1] != want {
			t.Errorf("README.md's row of %s has the counts %v, want%s", p.Key, row, want)
		}
		if hold := checks.Count[p.Key][judge.ByConstruction]; hold != checks.Claims(p.Key) {
			t.Errorf("README.md says that all checks hold: of %s %d of %d do", p.Key, hold, checks.Claims(p.Key))
		}
	}
	for _, e := range all {
		if e.Stale() && !strings.Contains(readme, "`"+e.Experiment+"` is stale") {
			t.Errorf("README.md counts %s, whose results are of an earlier version of the code, and does not say so", e.Experiment)
		}
	}
}

// The scorecard and the pages that it leads to are what the committed results say.
func TestScorecard(t *testing.T) {
	if testing.Short() {
		t.Skip("judges all claims: not run under -short")
	}
	sel, cfg := committed(t)
	pages, err := harness.Pages(t.Context(), sel, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if got := read(t, "results", filepath.FromSlash(p.Path)); got != string(p.Data) {
			t.Errorf("results/%s is not what the committed results say; make it with: metriclab report --scale full", p.Path)
		}
	}
}

// A row of the scorecard can be read: it has at most 400 characters, and so has one of a paper's page.
func TestScorecardRows(t *testing.T) {
	docs, err := filepath.Glob(filepath.Join("..", "..", "results", "*", "README.md"))
	if err != nil || len(docs) == 0 {
		t.Fatalf("%d pages of papers, error %v", len(docs), err)
	}
	for _, doc := range append(docs, filepath.Join("..", "..", "results", "README.md")) {
		raw, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for row := range strings.SplitSeq(string(raw), "\n") {
			if n := utf8.RuneCountInString(row); strings.HasPrefix(row, "|") && n > 400 {
				t.Errorf("%s: a row has %d characters, at most 400 are allowed: %s", doc, n, row)
			}
		}
	}
}

// A paper has a notebook, or several, and the notebooks' README names each.
func TestPapersHaveNotebooks(t *testing.T) {
	for _, p := range papers.All {
		found, err := filepath.Glob(filepath.Join("..", "..", "notebooks", "[0-9][0-9]*_"+p.Key+".ipynb"))
		if err != nil || len(found) == 0 {
			t.Errorf("no notebook NN_%s.ipynb (error %v)", p.Key, err)
		}
		for _, path := range found {
			if name := filepath.Base(path); !strings.Contains(read(t, "notebooks", "README.md"), "("+name+")") {
				t.Errorf("notebooks/README.md has no link to %s", name)
			}
		}
	}
}

// Each experiment with claims has a row that names the commit before its first run.
func TestHeadlineCommits(t *testing.T) {
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (\w+/[\w-]+) \| [0-9a-f]{8} \|[^|]*\|$`).FindAllStringSubmatch(read(t, "docs", "protocol", "headlines.md"), -1) {
		rows[m[1]] = true
	}
	for _, p := range papers.All {
		for _, s := range p.Experiments {
			if len(s.Claims) > 0 != rows[s.ID] {
				t.Errorf("docs/protocol/headlines.md: a row of %s: %v, but it has %d claims", s.ID, rows[s.ID], len(s.Claims))
			}
		}
	}
}

// The guide says how long everything takes, by the committed timing tables, as plan does.
func TestFullScaleTime(t *testing.T) {
	hours := map[string]float64{}
	var all float64
	for _, p := range papers.All {
		for _, s := range p.Experiments {
			times, err := harness.ReadTimes(s, filepath.Join("..", "..", "results", filepath.FromSlash(s.ID)))
			if s.Pending && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range times.Where("phase", experiment.TotalPhase).Values("cpu_s") {
				hours[p.Key] += v / 3600
				all += v / 3600
			}
		}
	}
	want := fmt.Sprintf("%.0f hours of processor time, %.0f of them for erkle2015", all, hours["erkle2015"])
	if !strings.Contains(read(t, "docs", "guides", "full-scale.md"), want) {
		t.Errorf("docs/guides/full-scale.md does not say %q", want)
	}
}
