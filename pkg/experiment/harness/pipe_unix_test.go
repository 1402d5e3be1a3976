//go:build unix

package harness

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"metriclab/pkg/experiment"
)

// TestPipes has pipes and devices in the places of files: nothing waits for who
// writes to them, nothing reads without an end.
func TestPipes(t *testing.T) {
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o644) }
	device := func(path string) error { return os.Symlink("/dev/zero", path) }
	for _, put := range []func(string) error{pipe, device} {
		in := func(path string) {
			t.Helper()
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := put(path); err != nil {
				t.Fatal(err)
			}
		}
		dir, cfg := publishTwo(t)
		for _, name := range []string{tableFile, timingFile, metaFile} {
			path := filepath.Join(dir, "toy", "timed", name)
			good := mustRead(t, path)
			in(path)
			res, err := Report(t.Context(), selected(cfg.Papers[0]), cfg)
			if err != nil || len(res.Damaged) != 1 || res.Damaged[0].Path != path || res.Damaged[0].Err.Error() != "not a regular file" {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(good), 0o644); err != nil {
				t.Fatal(err)
			}
		}

		p := toyPaper(toySpec(nil))
		cfg = toyConfig(t.TempDir(), experiment.Smoke, p)
		mustRun(t, cfg)
		job := Jobs(p.Experiments[0], experiment.Smoke, 1, 1, nil)[0]
		path := openStore(cfg.Folders.Store).cellPath(job.Key.Experiment, job.ID)
		good := mustRead(t, path)
		in(path)
		if st, err := Stand(t.Context(), selected(p), cfg); err != nil || st[0].Damaged != 1 {
			t.Errorf("%+v, %v", st, err)
		}
		if res, _ := events(t, cfg); !res.OK() || res.Outcomes[0].Ran != 1 || len(res.Damaged) != 1 || !strings.Contains(res.Damaged[0].Err.Error(), "not a regular file") {
			t.Errorf("%+v", res)
		}
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || mustRead(t, path) != good {
			t.Errorf("the file is not back: %v, %v", info, err)
		}
	}
}
