package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// What the command prints passes; each change of it that matters does not.
func TestCheck(t *testing.T) {
	c := exec.Command("go", "run", "./cmd/metriclab", "submit", "kubernetes", "pola2004", "--scale", "full", "--cell", "0-8", "--image", "example/metriclab:1",
		"--results-claim", "results", "--data-claim", "data", "--shards", "32", "--max-running", "8")
	c.Dir = "../../.."
	var said bytes.Buffer
	c.Stderr = &said
	text, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	jobs, err := check(text)
	if err != nil {
		t.Fatal(err)
	}
	if s := jobs[0].Spec; *s.Completions != 32 || *s.Parallelism != 8 {
		t.Errorf("completions %d, parallelism %d", *s.Completions, *s.Parallelism)
	}
	for _, change := range [][2]string{
		{"completionMode: Indexed", "completionMode: NonIndexed"}, {"parallelism: 8", "paralelism: 8"}, {"runAsNonRoot: true", "runAsNonRoot: false"},
		{"readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false"}, {"values: [2]", "values: [1]"}, {"suspend: true", "suspend: false"},
		{"restartPolicy: Never", "restartPolicy: OnFailure"}, {"backoffLimitPerIndex: 3", "backoffLimit: 3"}, {"memory: \"4Gi\"", "memory: lots"},
	} {
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if changed == string(text) {
			t.Errorf("%q does not occur", change[0])
		}
		if _, err := check([]byte(changed)); err == nil {
			t.Errorf("with %q it passes, too", change[1])
		}
	}
}
