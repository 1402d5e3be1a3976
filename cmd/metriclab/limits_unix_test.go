//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fit and evaluate read a pipe that never ends up to the limit, and say so.
func TestEndlessInput(t *testing.T) {
	restoreLimit(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"fit", pipe, "--label", "3", "--learner", "euclidean", "--out", filepath.Join(t.TempDir(), "m.json")},
		{"evaluate", pipe, "--label", "3", "--learner", "euclidean"},
	} {
		// Opened for both ways, it waits for nobody: of two ends that wait for
		// each other, one may be interrupted by a signal and lose the other.
		end, err := os.OpenFile(pipe, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			rows := []byte(strings.Repeat("1,2,a\n", 1000))
			for {
				if _, err := end.Write(rows); err != nil { // closed below
					return
				}
			}
		}()
		c := newCommand(toys(nil))
		if code := c.run(append(command, "--max-memory", "4MB")...); code != exitFailed || !strings.Contains(c.err.String(), "the table takes more than the limit of 3.81 MiB (flag --max-memory") {
			t.Errorf("%s: exit code %d, %s", command[0], code, c.err.String())
		}
		if err := end.Close(); err != nil {
			t.Error(err)
		}
		<-done
	}
}
