//go:build unix

package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

// TestResultsRemoved takes the folder away while the jobs run.
func TestResultsRemoved(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(func(_ context.Context, cell string) error {
		if cell == "b c" {
			return os.RemoveAll("r")
		}
		return nil
	}))
	code := c.run("run", "lines", "--jobs", "1", "--results", "r")
	if want := "results cannot be written: finished, but could not be stored: experiment: the results folder r was removed or replaced while it was written to\n"; code != exitFailed || !strings.Contains(c.err.String(), want) {
		t.Errorf("exit code %d:\n%s", code, c.err.String())
	}
	if want := "2 jobs did not run or could not be kept"; !strings.Contains(c.err.String(), want) {
		t.Errorf("no %q in\n%s", want, c.err.String())
	}
	if _, err := os.Stat("r"); err == nil {
		t.Error("the folder is back")
	}
}
