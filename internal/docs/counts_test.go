package docs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
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

// tally is the Markdown table of verdicts by paper, on the committed results.
func tally(t *testing.T) string {
	t.Helper()
	sel, cfg := committed(t)
	all, err := harness.Explain(t.Context(), sel, cfg)
	if err != nil {
		t.Fatal(err)
	}
	tally := harness.TallyOf(all)
	var b strings.Builder
	fmt.Fprintf(&b, "| paper | claims |")
	for _, v := range tally.Verdicts {
		fmt.Fprintf(&b, " %s |", v)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(tally.Verdicts)+1) + "\n")
	for _, p := range tally.Papers {
		cells := ""
		for _, v := range tally.Verdicts {
			cells += fmt.Sprintf(" %d |", tally.Count[p][v])
		}
		fmt.Fprintf(&b, "| %s | %d |%s\n", p, tally.Claims(p), cells)
	}
	return b.String()
}

// The README's table of verdicts is what the committed results say.
func TestREADMETally(t *testing.T) {
	if testing.Short() {
		t.Skip("judges all claims: not run under -short")
	}
	want := tally(t)
	if !strings.Contains(read(t, "README.md"), want) {
		t.Errorf("README.md lacks this table of verdicts:\n%s", want)
	}
}

// The scorecard is what the committed results say.
func TestScorecard(t *testing.T) {
	if testing.Short() {
		t.Skip("judges all claims: not run under -short")
	}
	sel, cfg := committed(t)
	want, err := harness.Scorecard(t.Context(), sel, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, "results", "README.md"); got != string(want) {
		t.Error("results/README.md is not the scorecard of the committed results; make it with: metriclab report --scale full")
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
