package papers_test

import (
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/papers"
	"metriclab/pkg/plots"
)

// Every view of every published table can be drawn by the rules of package plots and has none of its faults but one: where
// a legend has more lines than lines can carry names, two of them may be alike in grey, and their captions or tables tell them apart.
func TestStyles(t *testing.T) {
	for _, p := range papers.All {
		t.Run(p.Key, func(t *testing.T) {
			for _, s := range p.Experiments {
				for view, d := range published(t, s) {
					faults, err := d.Faults()
					if err != nil {
						t.Errorf("%s: %v", view, err)
					}
					for _, f := range faults {
						if !strings.Contains(f, "alike in grey") {
							t.Errorf("%s: %s", view, f)
						}
					}
				}
			}
		})
	}
}

// published yields the views of an experiment's published table, by name; none if there is no table.
func published(t *testing.T, s experiment.Spec) iter.Seq2[string, plots.Drawing] {
	return func(yield func(string, plots.Drawing) bool) {
		dir := filepath.Join("..", "..", "results", filepath.FromSlash(s.ID))
		tab, err := harness.ReadTable(s, dir)
		if errors.Is(err, fs.ErrNotExist) && s.Pending {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		times, err := harness.ReadTimes(s, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range s.Views {
			d, err := v.DrawWith(tab, times)
			if err != nil {
				t.Fatalf("%s, view %s: %v", s.ID, v.Name, err)
			}
			if !yield(s.ID+"/"+v.Name, d) {
				return
			}
		}
	}
}
