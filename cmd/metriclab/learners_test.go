package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/pkg/learners/catalog"
)

// TestCLIDocsLearners keeps docs/learners.md equal to what metriclab learners says.
func TestCLIDocsLearners(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Learners\n\nGenerated from the catalog by `go generate ./cmd/metriclab`; do not edit. `metriclab learners NAME` says the same.\n")
	for _, f := range feedbacks(allEntries()) {
		fmt.Fprintf(&b, "\n- **%s**:", f)
		for i, e := range ofFeedback(allEntries(), f) {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, " [%s](#%[1]s)", e.Name)
		}
	}
	b.WriteString("\n")
	for _, e := range allEntries() {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s```\n", e.Name, aboutLearner(e))
	}
	compare(t, filepath.Join("..", "..", "docs", "learners.md"), b.String())
}

// TestLearners: the list has every learner on a line; about one stands all that the catalog knows.
func TestLearners(t *testing.T) {
	c := newCommand(toys(nil))
	if code := c.run("learners"); code != exitOK {
		t.Fatalf("exit code %d: %s", code, c.err.String())
	}
	list := c.out.String()
	for _, e := range allEntries() {
		if !strings.Contains(list, "\n  "+e.Name+" ") {
			t.Errorf("%s is not listed", e.Name)
		}
		c := newCommand(toys(nil))
		if code := c.run("learners", e.Name); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", e.Name, code, c.err.String())
		}
		about := c.out.String()
		words := strings.Join(strings.Fields(about), " ")
		for _, want := range append([]string{e.Doc, e.Source, string(e.Feedback), e.Constructor}, e.Aliases...) {
			if !strings.Contains(words, strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%s: %q is not told", e.Name, want)
			}
		}
		for _, u := range e.Others {
			if inputsOf[u.Feedback] == "" || !strings.Contains(about, "parameters with "+inputsOf[u.Feedback]) {
				t.Errorf("%s: the parameters for %s are not told", e.Name, u.Feedback)
			}
		}
		for _, p := range e.Params {
			if !strings.Contains(about, "\n    "+p.Name+"="+p.Default+"\n") || !strings.Contains(words, p.Allowed) {
				t.Errorf("%s: the parameter %s is not told", e.Name, p.Name)
			}
		}
		if !strings.Contains(about, "goes with") || !strings.Contains(about, "cost") || e.Cost == nil && orders[e.Feedback] == "" {
			t.Errorf("%s: no command or no cost is told:\n%s", e.Name, about)
		}
		for i, line := range strings.Split(about, "\n") {
			if n := len([]rune(line)); n > textWidth+10 {
				t.Errorf("%s: line %d has %d letters", e.Name, i+1, n)
			}
		}
	}
	c = newCommand(toys(nil))
	if code := c.run("learners", "itmll"); code != exitUsage || !strings.Contains(c.err.String(), "did you mean itml?") {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
	if n := len(catalog.All()); strings.Count(list, "\n  ") < n {
		t.Errorf("%d lines for %d learners", strings.Count(list, "\n  "), n)
	}
}
