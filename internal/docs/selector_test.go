package docs

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The table in the documentation of triplets.Selector has the numbers of the committed results, which also say that
// uncertainty has the least error everywhere.
func TestSelectorTable(t *testing.T) {
	rules := []string{"random", "uncertainty", "gain (crowd)", "gain (logistic)"}
	measured := map[string]string{} // by points, learner and rule
	cases := map[string][]float64{} // by points and learner, in the order of rules
	for line := range strings.Lines(read(t, "results", "erkle2015", "active", "active-answers.md")) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.Contains(cells[4], "±") {
			continue
		}
		for i, c := range cells {
			cells[i] = strings.TrimSpace(c)
		}
		learner := cells[1] + "|" + cells[2]
		value, _, _ := strings.Cut(cells[4], " ±")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		if k := len(cases[learner]); k >= len(rules) || rules[k] != cells[3] {
			t.Fatalf("%s: rule %q is not the one expected", learner, cells[3])
		}
		measured[learner+"|"+cells[3]], cases[learner] = value, append(cases[learner], v)
	}
	if len(cases) != 16 {
		t.Fatalf("%d learners and sets of points, want 16", len(cases))
	}
	for learner, errors := range cases {
		if slices.Min(errors) != errors[1] {
			t.Errorf("%s: uncertainty has %v %%, another rule %v %%", learner, errors[1], slices.Min(errors))
		}
	}

	doc := read(t, "pkg", "learners", "triplets", "active.go")
	rows := regexp.MustCompile(`(?m)^//\t(\S.*?)\s+(R²|R⁵⁰)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)$`).FindAllStringSubmatch(doc, -1)
	if len(rows) != 8 {
		t.Fatalf("%d rows in the documentation, want 8", len(rows))
	}
	for _, row := range rows {
		for i, rule := range rules {
			if want := measured["60 points in "+row[2]+"|"+row[1]+"|"+rule]; row[3+i] != want {
				t.Errorf("%s, %s, %s: the documentation says %s, the results %s", row[1], row[2], rule, row[3+i], want)
			}
		}
	}
}
