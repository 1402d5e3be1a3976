package docs

import (
	"fmt"
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

// The README's counts of experiments and of verdicts, "the paper's+ours", are those of the committed results.
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
	for _, p := range papers.All {
		experiments := map[bool]int{}
		for _, s := range p.Experiments {
			experiments[s.Ours]++
		}
		cells := fmt.Sprintf(" %d+%d |", experiments[false], experiments[true])
		theirs, ours := harness.TallyOf(all, false), harness.TallyOf(all, true)
		other, ownOther := theirs.Claims(p.Key), ours.Claims(p.Key)
		for _, v := range []judge.Verdict{judge.Reproduced, judge.Partly, judge.NotReproduced, judge.Undecided} {
			n, own := theirs.Count[p.Key][v], ours.Count[p.Key][v]
			cells += fmt.Sprintf(" %d+%d |", n, own)
			other, ownOther = other-n, ownOther-own
		}
		row := regexp.MustCompile(`(?m)^\| \[` + p.Key + `\]\(docs/papers/` + p.Key + `\.md\) \|[^|]*\|(( \d+\+\d+ \|){6})[^|]*\|$`).FindStringSubmatch(readme)
		if want := cells + fmt.Sprintf(" %d+%d |", other, ownOther); row == nil || row[1] != want {
			t.Errorf("README.md's row of %s has the counts %v, want%s", p.Key, row, want)
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

// A paper has a notebook, which the notebooks' README names.
func TestPapersHaveNotebooks(t *testing.T) {
	for _, p := range papers.All {
		found, err := filepath.Glob(filepath.Join("..", "..", "notebooks", "[0-9][0-9]_"+p.Key+".ipynb"))
		if err != nil || len(found) != 1 {
			t.Errorf("%d notebooks NN_%s.ipynb (error %v), want 1", len(found), p.Key, err)
		} else if name := filepath.Base(found[0]); !strings.Contains(read(t, "notebooks", "README.md"), "("+name+")") {
			t.Errorf("notebooks/README.md has no link to %s", name)
		}
	}
}
