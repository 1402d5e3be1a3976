package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"metriclab/pkg/vectors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// holdAt makes the command stop, as a child, at the first message that has this text: it says held on standard output and waits for an interrupt, or to be
// killed. So no test depends on when it comes.
const holdAt = "METRICLAB_TEST_HOLD_AT"

type holder struct {
	ctx  context.Context
	text string
	out  io.Writer
	once sync.Once
}

func (h *holder) Write(p []byte) (int, error) {
	if strings.Contains(string(p), h.text) {
		h.once.Do(func() {
			fmt.Println("held")
			<-h.ctx.Done()
		})
	}
	return h.out.Write(p)
}

// startHeld starts the command as a child and returns once it has stopped at a text.
func startHeld(t *testing.T, prepare func(*exec.Cmd), text string, args ...string) (c *exec.Cmd, out *bufio.Reader, stderr *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c = exec.Command(self, args...)
	stderr = &bytes.Buffer{}
	c.Stderr, c.Env = stderr, append(os.Environ(), asChild+"=1", holdAt+"="+text)
	if prepare != nil {
		prepare(c)
	}
	pipe, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	out = bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); line != "held\n" {
		_ = c.Process.Kill()
		_ = c.Wait()
		t.Fatalf("%q: %q, error %v: %s", args, line, err, stderr.String())
	}
	return c, out, stderr
}

// kill ends a child at once.
func kill(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("the child was not killed")
	}
}

var measuredTime = regexp.MustCompile(`"(fit_cpu_seconds|peak_bytes)": [0-9.e+-]+`)

// What a kill, an interrupt and the time limit leave of compare, in the middle of a learner and after one, is gone on from: the same ranking comes out, to the byte but
// for the times.
func TestCompareGoesOn(t *testing.T) {
	t.Chdir(t.TempDir())
	writeBlobs(t, "t.csv", 60)
	args := strings.Fields("compare t.csv --label class --learners pola,fda,euclidean,lmnn --repeats 2 --json --resume ")
	// The times are measured.
	timeless := func(text string) string { return measuredTime.ReplaceAllString(text, "MEASURED") }
	ranking := func(journal string) string {
		t.Helper()
		c := newCommand(toys(nil))
		if code := c.run(append(args, journal)...); code != exitOK {
			t.Fatal(c.err.String())
		}
		return timeless(c.out.String())
	}
	want := ranking("whole.jsonl")
	head, _, _ := strings.Cut(readTest(t, "whole.jsonl"), "\n")
	if writeTest(t, "cut.jsonl", head[:20]); ranking("cut.jsonl") != want || !strings.Contains(readTest(t, "cut.jsonl"), "\n"+head+"\n") {
		t.Error("a journal that was killed in its first line does not begin anew")
	}
	goesOn := func(journal string) {
		t.Helper()
		before := strings.Count(readTest(t, journal), "\n")
		if before < 2 { // a head and a trial
			t.Errorf("%s: %d lines are kept", journal, before)
		}
		c := newCommand(toys(nil))
		if code := c.run(append(args, journal)...); code != exitOK || timeless(c.out.String()) != want {
			t.Errorf("%s: exit code %d\n%s%s\nwant\n%s", journal, code, c.err.String(), c.out.String(), want)
		}
		if !strings.Contains(c.err.String(), fmt.Sprintf("%d finished trial", before-1)) {
			t.Errorf("%s: %d trials were kept, it says %s", journal, before-1, c.err.String())
		}
	}
	for k, at := range []string{"1 of 2 splits", "fda: error", "pola: error"} {
		journal := fmt.Sprintf("kill%d.jsonl", k)
		child, _, _ := startHeld(t, nil, at, append(args, journal)...)
		kill(t, child)
		goesOn(journal)
	}
	for k, sig := range interrupts {
		for _, at := range []string{"1 of 2 splits", "fda: error"} {
			journal := fmt.Sprintf("interrupt%d%d.jsonl", k, len(at))
			child, out, stderr := startHeld(t, sig.prepare, at, append(args, journal)...)
			if err := sig.send(t, child); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, out); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := child.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
				t.Errorf("%s at %s: %v: %s", sig.name, at, err, stderr.String())
			}
			goesOn(journal)
		}
	}
	// The limit passes while the line on the first learner is written. Should that take longer than the limit, then it passes before.
	c := newCommand(toys(nil))
	const limit = time.Second
	begin := time.Now()
	c.app.streams(&c.out, onWrite(func([]byte) { time.Sleep(time.Until(begin.Add(limit + 100*time.Millisecond))) }))
	c.run(append(args, "limit.jsonl", "--time-limit", limit.String())...)
	if !strings.Contains(c.out.String(), `"complete": false`) {
		t.Errorf("after %v: %s", time.Since(begin), c.out.String())
	}
	goesOn("limit.jsonl")
}

// What kills transform --vectors at once leaves the old file or none; the next one writes a whole file, and removes the temporary one when that is old.
func TestTransformVectorsKilled(t *testing.T) {
	inVectors(t)
	const rows, dim = 20_000, 64 // several blocks of work
	x := make([]float64, rows*dim)
	for i := range x {
		x[i] = float64(i%101) - 50
	}
	w, err := vectors.Create("large.npy", rows, dim, true)
	if err == nil {
		err = errors.Join(w.WriteRows(x, 0), w.Commit())
	}
	if err != nil {
		t.Fatal(err)
	}
	c := newCommand(toys(nil))
	for _, line := range []string{"fit --vectors large.npy --pairs f.csv --learner lego --out m.json", "transform --vectors large.npy --model m.json --npy whole.npy"} {
		if code := c.run(strings.Fields(line)...); code != exitOK {
			t.Fatal(c.err.String())
		}
	}
	whole := readTest(t, "whole.npy")
	for _, old := range []string{"", "what was there"} {
		if old != "" {
			writeTest(t, "Y.npy", old)
		}
		child, _, _ := startHeld(t, nil, " rows, ", strings.Fields("transform --vectors large.npy --model m.json --npy Y.npy")...)
		kill(t, child)
		if raw, err := os.ReadFile("Y.npy"); old == "" && !errors.Is(err, os.ErrNotExist) || old != "" && string(raw) != old {
			t.Errorf("old %q: after the kill %d bytes, error %v", old, len(raw), err)
		}
	}
	left, err := filepath.Glob(".metriclab-*.tmp")
	if err != nil || len(left) != 2 {
		t.Fatalf("%q, %v: want the files of two children that were killed in the middle", left, err)
	}
	for _, path := range left {
		long := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	if code := c.run(strings.Fields("transform --vectors large.npy --model m.json --npy Y.npy")...); code != exitOK || readTest(t, "Y.npy") != whole {
		t.Errorf("exit code %d, or another file; %s", code, c.err.String())
	}
	nothingLeft(t)
}
