package papers_test

import (
	"path/filepath"
	"slices"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/papers"
)

// Every folder is a paper of the list, under its key, and there once.
func TestAll(t *testing.T) {
	tests, err := filepath.Glob(filepath.Join("*", "*_test.go"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("%d tests in folders of papers (error %v)", len(tests), err)
	}
	var folders []string
	for _, f := range tests {
		folders = append(folders, filepath.Dir(f))
	}
	folders = slices.Compact(folders) // Glob sorts
	for _, key := range folders {
		if !slices.ContainsFunc(papers.All, func(p experiment.Paper) bool { return p.Key == key }) {
			t.Errorf("the folder %s is not in the list of papers.go", key)
		}
	}
	if len(papers.All) != len(folders) {
		t.Errorf("%d papers are listed, there are %d folders", len(papers.All), len(folders))
	}
}
