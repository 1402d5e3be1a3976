package papers

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/catalog"
)

var update = flag.Bool("update", false, "write what the tests compare with")

// cell is one of a notebook.
type cell struct {
	notebook string
	heading  string // above it
	code     bool
	text     string
}

// cellsOf reads the notebooks of a paper, one after the other: NN_key.ipynb, and NNb_key.ipynb ... of a long one.
func cellsOf(t *testing.T, key string) (cells []cell) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", "notebooks", "[0-9][0-9]*_"+key+".ipynb"))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: no notebook (error %v)", key, err)
	}
	slices.Sort(found)
	for _, path := range found {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var n struct {
			Cells []struct {
				Type   string          `json:"cell_type"`
				Source json.RawMessage `json:"source"`
			} `json:"cells"`
		}
		if err := json.Unmarshal(raw, &n); err != nil {
			t.Fatal(err)
		}
		heading := ""
		for _, c := range n.Cells {
			var lines []string
			if json.Unmarshal(c.Source, &lines) != nil {
				var text string
				if err := json.Unmarshal(c.Source, &text); err != nil {
					t.Fatal(err)
				}
				lines = []string{text}
			}
			text := strings.Join(lines, "")
			if c.Type == "markdown" {
				for line := range strings.Lines(text) {
					if rest := strings.TrimLeft(line, "#"); rest != line && strings.HasPrefix(rest, " ") {
						heading = strings.TrimSpace(rest)
					}
				}
			}
			cells = append(cells, cell{filepath.Base(path), heading, c.Type == "code", text})
		}
	}
	return cells
}

// TestSections keeps sections.tsv equal to what the notebooks show: a view by nb.ShowView, an experiment by nb.ShowMore or by
// its ID in a text. Each experiment of a paper is in its notebook. A heading that a notebook no longer has, or a view that no
// experiment has, is a difference.
func TestSections(t *testing.T) {
	var b strings.Builder
	for _, p := range All {
		cells := cellsOf(t, p.Key)
		claims := slices.IndexFunc(cells, func(c cell) bool { return strings.HasSuffix(c.heading, "The claims") })
		if claims < 0 {
			t.Errorf("%s: no section on the claims", p.Key)
			continue
		}
		fmt.Fprintf(&b, "%s\t\t%s\t%s\n", p.Key, cells[claims].notebook, cells[claims].heading)
		for _, s := range p.Experiments {
			first := -1
			note := func(i int) {
				if first < 0 || i < first {
					first = i
				}
			}
			mention := regexp.MustCompile(regexp.QuoteMeta(s.ID) + `([^a-z0-9-]|$)`)
			if i := slices.IndexFunc(cells, func(c cell) bool { return !c.code && mention.MatchString(c.text) }); i >= 0 {
				note(i)
			}
			_, short, _ := strings.Cut(s.ID, "/")
			if i := slices.IndexFunc(cells, func(c cell) bool {
				return c.code && strings.Contains(c.text, "nb.ShowMore(") && strings.Contains(c.text, `"`+short+`"`)
			}); i >= 0 {
				note(i)
			}
			var views strings.Builder
			for _, v := range s.Views {
				shown := regexp.MustCompile(`ShowView\([\w.]+, "` + regexp.QuoteMeta(v.Name) + `"`)
				if i := slices.IndexFunc(cells, func(c cell) bool { return c.code && shown.MatchString(c.text) }); i >= 0 {
					note(i)
					fmt.Fprintf(&views, "%s\t%s\t%s\t%s\n", s.ID, v.Name, cells[i].notebook, cells[i].heading)
				}
			}
			if first < 0 {
				t.Errorf("no notebook of %s shows %s: nb.ShowView, nb.ShowMore or its ID in a text", p.Key, s.ID)
				continue
			}
			fmt.Fprintf(&b, "%s\t\t%s\t%s\n", s.ID, cells[first].notebook, cells[first].heading)
			b.WriteString(views.String())
		}
	}
	if *update {
		if err := os.WriteFile("sections.tsv", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if sectionsTable != b.String() {
		t.Errorf("sections.tsv is not what the notebooks have: go generate ./pkg/papers; got\n%s", b.String())
	}
}

// TestClaimsHaveSections: every claim has a section of its paper's notebook.
func TestClaimsHaveSections(t *testing.T) {
	for _, p := range All {
		for _, s := range p.Experiments {
			for _, c := range s.Claims {
				section, ok := SectionOf(s, c)
				if !ok || !strings.HasSuffix(section.Notebook, "_"+p.Key+".ipynb") || section.Heading == "" {
					t.Errorf("%s %s: section %+v", s.ID, c.ID, section)
				}
			}
		}
	}
	if _, ok := SectionOf(experiment.Spec{ID: "toy/lines"}, experiment.Claim{}); ok {
		t.Error("an experiment of no paper has a section")
	}
}

// TestMethodsAreLearners: each method of a cell is a learner of the catalog, or known to be none; what is known of methods
// is of methods that there are.
func TestMethodsAreLearners(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range All {
		for _, s := range p.Experiments {
			for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
				for _, c := range s.Cells(scale) {
					for method := range c.Methods {
						seen[method] = true
						if _, ok := learnersOfMethod(method); !ok {
							t.Errorf("%s: the method %q is no learner of the catalog; learnersOf tells which it is, or that it is none", s.ID, method)
						}
					}
				}
			}
			for _, name := range LearnersOf(s) {
				if !slices.Contains(UsedBy(name), s.ID) {
					t.Errorf("%s runs %s, which is not used by it", s.ID, name)
				}
			}
		}
	}
	for method, names := range learnersOf {
		if !seen[method] {
			t.Errorf("no cell has the method %q", method)
		}
		for _, name := range names {
			if _, err := catalog.Find(name); err != nil {
				t.Errorf("%q: %v", method, err)
			}
		}
	}
	if got := UsedBy("lego"); !slices.Contains(got, "logdet2012/fig1a") {
		t.Errorf("lego is used by %q", got)
	}
}
