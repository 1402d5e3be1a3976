package docs

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/learners/mapping"
)

// The table in the documentation of triplets.Selector has the numbers of the committed results, which also say that
// uncertainty has the least error everywhere but in one case, which it names.
func TestSelectorTable(t *testing.T) {
	rules := []string{"random", "uncertainty", "gain (crowd)", "gain (logistic)"}
	measured := map[string]string{} // by points, learner and rule
	cases := map[string][]float64{} // by points and learner, in the order of rules
	answers := read(t, "results", "erkle2015", "active", "active-answers.md") + read(t, "results", "erkle2015", "active-learners", "active-learners-answers.md")
	for line := range strings.Lines(answers) {
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
	if len(cases) != 22 {
		t.Fatalf("%d learners and sets of points, want 22", len(cases))
	}
	for learner, errors := range cases {
		if except := learner == "60 points in R²|STE-ERKLE, 10 passes"; (slices.Min(errors) != errors[1]) != except {
			t.Errorf("%s: uncertainty has %v %%, the best rule %v %%", learner, errors[1], slices.Min(errors))
		}
	}

	doc := read(t, "pkg", "learners", "triplets", "active.go")
	rows := regexp.MustCompile(`(?m)^//\t(\S.*?)\s+(R²|R⁵⁰)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)$`).FindAllStringSubmatch(doc, -1)
	if len(rows) != 14 {
		t.Fatalf("%d rows in the documentation, want 14", len(rows))
	}
	for _, row := range rows {
		for i, rule := range rules {
			if want := measured["60 points in "+row[2]+"|"+row[1]+"|"+rule]; row[3+i] != want {
				t.Errorf("%s, %s, %s: the documentation says %s, the results %s", row[1], row[2], rule, row[3+i], want)
			}
		}
	}
}

// The default learning rate of RMP is the best of those of the view fig1-eta in the committed results.
func TestRMPDefaultRate(t *testing.T) {
	rates := map[string]map[string]float64{}
	for line := range strings.Lines(read(t, "results", "rmp2007", "fig1", "fig1-final.md")) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[3], "±") {
			continue
		}
		data, method := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		if !strings.HasPrefix(method, "RMP ") || strings.Contains(method, "walk") || strings.HasPrefix(data, "sparse") || strings.HasSuffix(data, "width 1") {
			continue
		}
		value, _, _ := strings.Cut(strings.TrimSpace(cells[3]), " ±")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		if rates[data] == nil {
			rates[data] = map[string]float64{}
		}
		rates[data][method] = v
	}
	if len(rates) != 2 {
		t.Fatalf("rates of %d data sets, want 2", len(rates))
	}
	for data, regret := range rates {
		if len(regret) != 5 {
			t.Errorf("%s: %d rates, want 5", data, len(regret))
		}
		for method, v := range regret {
			if method != "RMP printed x100" && v <= regret["RMP printed x100"] {
				t.Errorf("%s: %s has the regret %v, the default %v", data, method, v, regret["RMP printed x100"])
			}
		}
	}
	var p mapping.RMPParams
	if got := p.Eta.String(); got != "hundredfold" {
		t.Errorf("the default is %s", got)
	}
}
