//go:build unix

package harness

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"metriclab/pkg/experiment"
)

// limitFiles cuts every file of this process that grows larger as it is written,
// as on a disk that is full.
func limitFiles(bytes uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = bytes
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

func TestRunFullDisk(t *testing.T) {
	dir := t.TempDir()
	out, err := childCommand(t, dir, childLimit+"=1").Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 5 {
		t.Fatalf("child: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "finished, but could not be stored") || !strings.Contains(string(out), "file too large") {
		t.Errorf("message: %s", out)
	}
	if left := snapshotAll(t, dir); len(left) != 0 {
		t.Errorf("left over: %q", left)
	}
	if res := mustRun(t, toyConfig(dir, experiment.Full, toyPaper(withPlot(toySpec(nil))))); !res.Outcomes[0].Published {
		t.Error("not published after the limit was lifted")
	}
}
