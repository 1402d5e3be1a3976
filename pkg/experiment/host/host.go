// Package host tells the harness the facts of the machine and of the program that
// runs an experiment: who runs a Spec of one's own puts them in harness.Config.World,
// and they become the provenance of the results.
package host

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"metriclab/internal/product"
	"metriclab/pkg/experiment/harness"
)

// Unknown stands for a text of the Build that neither program nor machine tells.
const Unknown = "unknown"

// World returns this machine and this program with the given clock, usually
// time.Now: no package here reads one on its own. The version and the revision are
// those of the program's main module, as the Go command stamped them; they are
// Unknown if it did not, as with go run and go test. CPU time is known on Unix and
// Windows, peak memory on Linux and macOS, the CPU's name on Linux.
func World(now func() time.Time) harness.World {
	name, err := os.Hostname()
	if err != nil {
		name = Unknown
	}
	return harness.World{
		Now: now, ProcessCPU: processCPU, PeakRSSKiB: peakRSSKiB,
		Build: build(), Host: name, PID: os.Getpid(), Args: os.Args,
	}
}

func build() harness.Build {
	b := harness.Build{
		Revision: Unknown, Version: Unknown, Go: runtime.Version(), GOOS: runtime.GOOS, GOARCH: runtime.GOARCH,
		CPU: cpuModel(), Cores: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0), Product: product.Path(),
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
	return b
}

// cpuModel reads the model's name where the system has /proc.
func cpuModel() string {
	if s := procField("/proc/cpuinfo", "model name"); s != "" {
		return s
	}
	return Unknown
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
