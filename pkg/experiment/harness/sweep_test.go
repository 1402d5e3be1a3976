package harness

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/experiment"
)

// A user keeps other files in the folder of results. Of all that lies there Run,
// Report and Merge remove only what they themselves have left behind.
func TestRunRemovesOnlyItsOwn(t *testing.T) {
	p := toyPaper(withPlot(toySpec(nil)))
	dir := t.TempDir()
	old := time.Now().Add(-48 * time.Hour)
	put := func(name string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := atomicfile.Write(path, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	own := []string{
		".metriclab-1.tmp", ".cells/.metriclab-2.tmp", ".cells/toy/lines/ab/.metriclab-3.tmp", ".failures/.metriclab-4.tmp", ".runs/.metriclab-5.tmp", "toy/lines/.metriclab-6.tmp",
		"draft/.metriclab-7.tmp", "draft/toy/lines/.metriclab-8.tmp",
	}
	users := []string{
		".env2", ".secret-2025", ".probe1234", ".table.csv99", ".ssh/.id_backup1", "notes/.metriclab-9.tmp", "toy/.draft3", "toy/lines/.draft3", "toy/lines/below/.metriclab-10.tmp",
		".cells/.x1", ".cells/toy/lines/ab/.x1", ".cells/toy/lines/abc/.metriclab-11.tmp",
	}
	check := func(step string) {
		for _, name := range users {
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				t.Errorf("%s removed %s: %v", step, name, err)
			}
		}
		for _, name := range own {
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s left %s (%v)", step, name, err)
			}
		}
	}
	cfg := toyConfig(dir, experiment.Full, p)
	cfg.World.Now = time.Now
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"Run", func() error { _, err := Run(t.Context(), selected(p), cfg); return err }},
		{"Report", func() error { _, err := Report(t.Context(), selected(p), cfg); return err }},
		{"Merge", func() error { _, err := Merge(t.Context(), selected(p), nil, cfg); return err }},
	} {
		for _, name := range append(own, users...) {
			put(name)
		}
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		check(step.name)
		if step.name == "Run" { // from now on nothing is left to publish
			users = append(users, "toy/lines/.publishing")
		}
	}
}

// A README.md or report.html of a user is not replaced: Run and Merge say so
// before anything else is done.
func TestRunKeepsForeignFiles(t *testing.T) {
	var ran atomic.Bool // trials run in parallel
	p := toyPaper(toySpec(func(context.Context, string, int) error { ran.Store(true); return nil }))
	for name, scale := range map[string]experiment.Scale{"README.md": experiment.Full, "report.html": experiment.Smoke, "toy/README.md": experiment.Full, "toy/lines/claims.md": experiment.Full} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(name))
		cfg := toyConfig(dir, scale, p)
		cfg.Papers = []experiment.Paper{p}
		if err := atomicfile.Write(path, []byte("# My project\n")); err != nil {
			t.Fatal(err)
		}
		_, run := Run(t.Context(), selected(p), cfg)
		_, merge := Merge(t.Context(), selected(p), nil, cfg)
		for _, err := range []error{run, merge} {
			var e *ConfigError
			if !errors.As(err, &e) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: error is %v, want a *ConfigError with the path", name, err)
			}
		}
		if ran.Load() || mustRead(t, path) != "# My project\n" {
			t.Errorf("%s: a job ran, or the file was replaced", name)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second run finds the files of the first
			if _, err := Run(t.Context(), selected(p), cfg); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		ran.Store(false)
	}
}
