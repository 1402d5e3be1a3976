package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"metriclab/pkg/experiment/harness"
)

// world is this machine and this program, as the harness may see them.
func world() harness.World {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return harness.World{
		Now: time.Now, ProcessCPU: processCPU, PeakRSSKiB: peakRSSKiB,
		Build: build(), Host: host, PID: os.Getpid(), Args: os.Args,
	}
}

func build() harness.Build {
	b := harness.Build{
		Revision: unknown, Version: unknown, Go: runtime.Version(), GOOS: runtime.GOOS, GOARCH: runtime.GOARCH,
		CPU: cpuModel(), Cores: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version = info.Main.Version
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.modified":
				b.Dirty = s.Value == "true"
			case "GOAMD64":
				b.GOAMD64 = s.Value
			}
		}
	}
	if b.Revision == unknown {
		b.Revision, b.Dirty = gitRevision()
	}
	return b
}

const unknown = "unknown"

// gitRevision asks git for the commit of the working folder, for builds that
// do not carry it (go run). It answers "unknown" outside this module's own
// repository.
func gitRevision() (revision string, dirty bool) {
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return unknown, false
	}
	mod, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(top)), "go.mod"))
	if err != nil || !bytes.HasPrefix(bytes.ReplaceAll(mod, []byte("\r\n"), []byte("\n")), []byte("module metriclab\n")) {
		return unknown, false
	}
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return unknown, false
	}
	changes, err := exec.Command("git", "status", "--porcelain").Output()
	if err != nil {
		return unknown, false
	}
	return strings.TrimSpace(string(head)), len(changes) > 0
}

// cpuModel reads the model's name where the system has /proc.
func cpuModel() string {
	if s := procField("/proc/cpuinfo", "model name"); s != "" {
		return s
	}
	return unknown
}

// peakRSSKiB is VmHWM, which unlike ru_maxrss is not inherited, or what a system
// without /proc says; 0 where nothing does.
func peakRSSKiB() int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(procField("/proc/self/status", "VmHWM"), " kB"), 10, 64)
	if err != nil {
		return maxRSSKiB()
	}
	return n
}

// procField returns the first value of "field : value" in a file.
func procField(path, field string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == field {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
