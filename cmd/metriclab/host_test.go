package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"metriclab/internal/needs"
	"metriclab/pkg/experiment/host"
)

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
	if r, _ := gitRevision(); r != host.Unknown {
		t.Errorf("outside a repository: %s", r)
	}
	git("init", "-q")
	write("go.mod", "module other\n")
	git("add", ".")
	git("commit", "-qm", "one")
	if r, _ := gitRevision(); r != host.Unknown {
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
