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

// Every view of every published table can be drawn by the rules of package plots and has none of its faults. In a paper a
// name has one colour.
func TestStyles(t *testing.T) {
	for _, p := range papers.All {
		t.Run(p.Key, func(t *testing.T) {
			type first struct {
				color int
				view  string
			}
			seen := map[string]first{}
			for _, s := range p.Experiments {
				for view, d := range published(t, s) {
					faults, err := d.Faults()
					if err != nil {
						t.Errorf("%s: %v", view, err)
						continue
					}
					for _, f := range faults {
						t.Errorf("%s: %s", view, f)
					}
					styles, err := d.Styles()
					if err != nil {
						t.Errorf("%s: %v", view, err)
					}
					for name, style := range styles {
						if o, there := seen[name]; there && o.color != style.Color {
							t.Errorf("%s: %q has the colour %d, and in %s %d", view, name, style.Color, o.view, o.color)
						} else if !there {
							seen[name] = first{style.Color, view}
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
