package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
)

// A cell on data that only a user can supply is left out without them, and runs with them. The rest is published either way.
func TestSuppliedCells(t *testing.T) {
	var ran []string
	s := toySpec(func(_ context.Context, cell string, trial int) error {
		if trial == 0 {
			ran = append(ran, cell)
		}
		return nil
	})
	plain := s.Cells
	s.Cells = func(scale experiment.Scale) []experiment.Cell {
		cells := plain(scale)
		if scale == experiment.Full {
			cells = append(cells, experiment.Cell{Name: "traces", Dataset: "clarify", Methods: map[string]int{"line": 1}, Settings: toySettings{Slope: 1, Noise: "small"}, Supplied: true})
		}
		return cells
	}
	p, dir, data := toyPaper(s), t.TempDir(), t.TempDir()
	config := func() Config {
		cfg := toyConfig(dir, experiment.Full, p)
		cfg.Data, cfg.Workers = datasets.Open(data), 1
		return cfg
	}
	run := func(want ...string) {
		t.Helper()
		ran = nil
		mustRun(t, config())
		if !slices.Equal(ran, want) {
			t.Errorf("ran %q, want %q", ran, want)
		}
	}
	published := func(cells int) {
		t.Helper()
		m, _, err := readMeta(filepath.Join(dir, "toy", "lines"))
		if err != nil || m.State != statePublished || len(m.Cells) != cells || m.Jobs != 6*cells {
			t.Errorf("published: %+v, %v, want %d cells", m, err, cells)
		}
	}
	run("a", "b", "c, quoted", "d")
	published(4)

	// The cell by name, and some of its files, need all of them.
	var missing *datasets.MissingError
	named := config()
	named.Cells = []string{"traces"}
	if _, err := Run(t.Context(), selected(p), named); !errors.As(err, &missing) || missing.Dataset != "clarify" {
		t.Errorf("named: %v", err)
	}
	files := []string{"latex", "mpg321", "foxpro", "iptables"}
	if err := os.MkdirAll(filepath.Join(data, "clarify"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		if i == 1 {
			if _, err := Run(t.Context(), selected(p), config()); !errors.As(err, &missing) || !strings.Contains(missing.Path, "mpg321") {
				t.Errorf("one file of four: %v", err)
			}
		}
		if err := os.WriteFile(filepath.Join(data, "clarify", f+".csv"), []byte("f,class\n1,a\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run("traces")
	published(5)
	run()
	published(5)

	// Other data are another cell's job: it runs anew.
	if err := os.WriteFile(filepath.Join(data, "clarify", "latex.csv"), []byte("f,class\n2,a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run("traces")
	published(5)

	// Without the data the published rows would be lost.
	if err := os.RemoveAll(filepath.Join(data, "clarify")); err != nil {
		t.Fatal(err)
	}
	var refused *ConfigError
	if _, err := Run(t.Context(), selected(p), config()); !errors.As(err, &refused) || !strings.Contains(err.Error(), `have the cell "traces", but its data set clarify is missing`) {
		t.Errorf("published and missing: %v", err)
	}
	published(5)

	// In memory, and without a store, too.
	ran = nil
	if _, err := Collect(t.Context(), s, &experiment.Env{Scale: experiment.Full}, 1, 1); err != nil || slices.Contains(ran, "traces") || len(ran) != 4 {
		t.Errorf("Collect ran %q: %v", ran, err)
	}
}
