package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"metriclab/internal/needs"
)

func TestWorld(t *testing.T) {
	w := world()
	if w.Build.Go != runtime.Version() || w.Build.Cores < 1 || w.Build.GOMAXPROCS < 1 || w.Build.Revision == "" || w.Build.CPU == "" || w.PID == 0 || w.Host == "" {
		t.Errorf("world %+v", w)
	}
	kib := w.PeakRSSKiB()
	if known := runtime.GOOS == "linux" || runtime.GOOS == "darwin"; known && kib < 1000 {
		t.Errorf("peak memory %d KiB", kib)
	}
	// The CPU time grows with work.
	start := w.ProcessCPU()
	x := 1.0
	for begin := time.Now(); w.ProcessCPU()-start < 20*time.Millisecond && time.Since(begin) < time.Minute; {
		for range 100000 {
			x = 1 + 1/x
		}
	}
	if used := w.ProcessCPU() - start; used < 20*time.Millisecond || x < 1 {
		t.Errorf("CPU time %v after work", used)
	}
}

func TestProcField(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status")
	if err := os.WriteFile(path, []byte("Name:\tx\nVmHWM:\t  123 kB\nmodel name\t: A: B\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{"VmHWM": "123 kB", "model name": "A: B", "absent": ""} {
		if got := procField(path, field); got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
	if got := procField(path+"x", "Name"); got != "" {
		t.Errorf("no file: got %q", got)
	}
}

func TestGitRevision(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		needs.Missing(t, err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r, _ := gitRevision(); r != unknown {
		t.Errorf("outside a repository: %s", r)
	}
	git("init", "-q")
	write("go.mod", "module other\n")
	git("add", ".")
	git("commit", "-qm", "one")
	if r, _ := gitRevision(); r != unknown {
		t.Errorf("in another module's repository: %s", r)
	}
	write("go.mod", "module metriclab\n")
	if r, dirty := gitRevision(); len(r) != 40 || !dirty {
		t.Errorf("with changes: %s, dirty %v", r, dirty)
	}
	git("commit", "-qam", "two")
	if r, dirty := gitRevision(); len(r) != 40 || dirty {
		t.Errorf("without changes: %s, dirty %v", r, dirty)
	}
}
