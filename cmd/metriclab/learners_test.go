package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
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
