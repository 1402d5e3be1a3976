package realdata

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFindRoot(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "internal", "realdata", "realdata.go")); err != nil {
		t.Errorf("root is %s, which does not hold this package: %v", root, err)
	}
	t.Chdir(t.TempDir())
	if root, err := findRoot(); err == nil {
		t.Errorf("outside a module: root is %s, want an error", root)
	}
}

// recorder is a TB that notes how a test ended.
type recorder struct {
	testing.TB
	verdict string
}

func (r *recorder) Helper() {}

func (r *recorder) Skip(...any) { r.verdict = "skip"; panic(r) }

func (r *recorder) Fatal(...any) { r.verdict = "fatal"; panic(r) }

func TestMissingDataIsNeverSilent(t *testing.T) {
	if testing.Short() {
		t.Skip("Store skips before it looks under -short")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for ci, want := range map[string]string{"": "skip", "true": "fatal"} {
		t.Setenv("CI", ci)
		r := &recorder{TB: t}
		func() {
			defer func() {
				if p := recover(); p != nil && p != r {
					panic(p)
				}
			}()
			Store(r, "mnist")
		}()
		if r.verdict != want {
			t.Errorf("CI=%q: %q, want %q", ci, r.verdict, want)
		}
	}
}
