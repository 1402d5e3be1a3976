//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// piped returns the name of a pipe that a text is written to.
func piped(t *testing.T, text string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = w.WriteString(text) // fails if nobody reads to the end
		_ = w.Close()
	}()
	t.Cleanup(func() {
		_ = r.Close()
		<-done
	})
	return fmt.Sprintf("/dev/fd/%d", r.Fd())
}

// From a pipe comes the table of all rows at once. After a bad last row nothing was written of a short table, and the rows
// before it of a long one.
func TestTransformPipe(t *testing.T) {
	c := inLong(t)
	want, _ := wholeTransform(t, "long.csv")
	long := longTable(longRows)
	if code := c.run("transform", piped(t, long), "--model", "m.json"); code != exitOK || c.out.String() != want {
		t.Errorf("exit code %d, or another table; %s", code, c.err.String())
	}
	const bad = "1,abc,\"c,0\"\n"
	for _, rows := range []int{5, longRows / 3} { // one block, and several
		if code := c.run("transform", piped(t, longTable(rows)+bad), "--model", "m.json"); code != exitFailed || c.out.Len() > 0 {
			t.Errorf("a table of %d rows: exit code %d, %d bytes of output", rows, code, c.out.Len())
		}
	}
	code := c.run("transform", piped(t, long+bad), "--model", "m.json")
	if got := c.out.String(); code != exitFailed || len(got) <= held || !strings.HasPrefix(want, got) {
		t.Errorf("a long table: exit code %d, %d bytes of output", code, len(got))
	}
}

// An interrupt in the middle ends transform at once, and nothing is left.
func TestTransformInterrupted(t *testing.T) {
	c := inLong(t)
	long := longTable(longRows)
	for _, line := range []string{"--out z.csv --npy z.npy", ""} {
		ctx, cancel := context.WithCancel(context.Background())
		c.out.Reset()
		c.app.every = 0
		c.app.streams(&c.out, onWrite(func(p []byte) {
			if strings.HasSuffix(string(p), " rows\n") {
				cancel()
			}
		}))
		if code := execute(ctx, c.app, append([]string{"transform", piped(t, long), "--model", "m.json"}, strings.Fields(line)...)); code != exitInterrupted {
			t.Errorf("%q: exit code %d", line, code)
		}
		cancel()
		nothingLeft(t)
	}
	if files, err := filepath.Glob("z.*"); err != nil || len(files) > 0 {
		t.Errorf("written: %q, error %v", files, err)
	}
}

// An interrupt ends transform also while a named pipe waits for somebody to write to it.
func TestTransformInterruptedAtOpen(t *testing.T) {
	c := inLong(t)
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if code := execute(ctx, c.app, strings.Fields("transform pipe --model m.json")); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	end, err := os.OpenFile("pipe", os.O_RDWR, 0) // whoever waits goes on
	if err != nil {
		t.Fatal(err)
	}
	if err := end.Close(); err != nil {
		t.Error(err)
	}
}
