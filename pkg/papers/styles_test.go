package papers_test

import (
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/papers"
	"metriclab/pkg/plots"
)

// Every view of every published table can be drawn by the rules of package plots and has none of its faults. A name has
// one colour in all figures of a paper.
func TestStyles(t *testing.T) {
	for _, p := range papers.All {
		t.Run(p.Key, func(t *testing.T) {
			first := map[string]string{} // view by name
			color := map[string]int{}
			for _, s := range p.Experiments {
				for view, d := range published(t, s) {
					faults, err := d.Faults()
					if err != nil {
						t.Errorf("%s: %v", view, err)
					}
					for _, f := range faults {
						t.Errorf("%s: %s", view, f)
					}
					styles, err := d.Styles()
					if err != nil {
						t.Errorf("%s: %v", view, err)
					}
					for name, style := range styles {
						if first[name] == "" {
							first[name], color[name] = view, style.Color
						}
						if color[name] != style.Color {
							t.Errorf("%q has colour %d in %s and %d in %s", name, color[name], first[name], style.Color, view)
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
