//go:build unix

package harness

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
)

// TestRunFolderRemoved takes folders away while a run writes to them: it stops,
// names the folder, and does not bring it back with a part of its files.
func TestRunFolderRemoved(t *testing.T) {
	for name, tt := range map[string]struct {
		remove func(dir string) error
		want   string
		gone   bool
	}{
		"removed":  {os.RemoveAll, "was removed or replaced", true},
		"renamed":  {func(dir string) error { return os.Rename(dir, dir+"-old") }, "was removed or replaced", true},
		"replaced": {func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)) }, "was removed or replaced", false},
		".cells":   {func(dir string) error { return os.RemoveAll(filepath.Join(dir, ".cells")) }, ".cells was removed or replaced", false},
		".cells, replaced": {func(dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, ".cells")), os.Mkdir(filepath.Join(dir, ".cells"), 0o755))
		}, ".cells was removed or replaced", false},
		"what is in .cells": {func(dir string) error { return os.RemoveAll(filepath.Join(dir, ".cells", "toy")) }, "results were removed while the run went on: 4 files, the first is ", false},
	} {
		for _, shard := range []Shard{{}, {0, 1}} {
			dir := filepath.Join(t.TempDir(), "results")
			n := 0
			s := toySpec(func(context.Context, string, int) error {
				if n++; n == 5 {
					return tt.remove(dir)
				}
				return nil
			})
			cfg := toyConfig(dir, experiment.Full, toyPaper(s))
			cfg.Workers, cfg.Shard = 1, shard
			res, err := Run(t.Context(), selected(cfg.Papers[0]), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if res.OK() || res.StoreErr == nil || !strings.Contains(res.StoreErr.Error(), tt.want) || !strings.Contains(res.StoreErr.Error(), dir) || res.Report != "" {
				t.Errorf("%s: %v, report %q", name, res.StoreErr, res.Report)
			}
			if left := snapshotIfAny(t, dir); len(left) != 0 && tt.gone {
				t.Errorf("%s: left %q", name, left)
			}
			if tt.want == "was removed or replaced" && (n != 5 || res.NotRun != 24-5) {
				t.Errorf("%s: %d jobs ran, %d not", name, n, res.NotRun)
			}
		}
	}
}

func snapshotIfAny(t *testing.T, dir string) []string {
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	return snapshotAll(t, dir)
}

// TestMergeFolderRemoved is TestRunFolderRemoved for a merge.
func TestMergeFolderRemoved(t *testing.T) {
	dir := t.TempDir()
	st := openStore(dir)
	h, err := st.hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.release()
	path := filepath.Join(dir, "sub", "f")
	if err := st.write(path, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := st.write(path, nil); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is back: %v", err)
	}
	if _, err := st.hold(dir); err == nil {
		t.Error("a folder that does not exist is held")
	}
}
