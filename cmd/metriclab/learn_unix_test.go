//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// maxFile limits, in a re-executed test binary, the bytes of each file written,
// so that a write fails in the middle as on a full disk.
const maxFile = "METRICLAB_TEST_MAX_FILE"

func init() {
	n, err := strconv.ParseUint(os.Getenv(maxFile), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
	limit.Cur = n
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
}

// A file that cannot be written to its end: the old one survives, nothing else
// is left, and the user is told.
func TestLearnDiskFull(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l.json")
	old := learned(t, firstPair)
	writeTest(t, path, old)
	c := startLearn(t, dir, func(c *exec.Cmd) { c.Env = append(c.Env, maxFile+"=100") }, "--load", "l.json", "--save", "l.json")
	c.ask(t, secondPair)
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	if code := c.end(t); code != exitFailed || !strings.Contains(c.stderr.String(), "l.json is not written") {
		t.Errorf("exit code %d, %s", code, c.stderr.String())
	}
	if readTest(t, path) != old {
		t.Error("the old file did not survive")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("files %v, %v", files, err)
	}
}

// noRegularFiles returns paths that must not be replaced.
func noRegularFiles(t *testing.T) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

// interrupts are the ways to end a command in good order.
var interrupts = []interruption{
	{"Ctrl-C", func(*exec.Cmd) {}, func(_ *testing.T, c *exec.Cmd) error { return c.Process.Signal(os.Interrupt) }},
	{"termination", func(*exec.Cmd) {}, func(_ *testing.T, c *exec.Cmd) error { return c.Process.Signal(syscall.SIGTERM) }},
}

// portable returns what the command printed as it is on Linux.
func portable(text string) string { return text }
