package host

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestWorld(t *testing.T) {
	w := World(time.Now)
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
