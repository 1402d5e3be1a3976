package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/experiment/host"
)

// release is the version of a release, which scripts/release sets when it links the program.
var release string

// world is this machine and this program, as the harness may see them.
func world() harness.World {
	w := host.World(time.Now)
	if w.Build.Revision == host.Unknown {
		w.Build.Revision, w.Build.Dirty = gitRevision()
	}
	if release != "" {
		w.Build.Version = release
	}
	return w
}

// gitRevision asks git for the commit of the working folder, for builds that
// do not carry it (go run). It answers "unknown" outside this module's own
// repository.
func gitRevision() (revision string, dirty bool) {
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return host.Unknown, false
	}
	mod, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(top)), "go.mod"))
	if err != nil || !bytes.HasPrefix(bytes.ReplaceAll(mod, []byte("\r\n"), []byte("\n")), []byte("module metriclab\n")) {
		return host.Unknown, false
	}
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return host.Unknown, false
	}
	changes, err := exec.Command("git", "status", "--porcelain").Output()
	if err != nil {
		return host.Unknown, false
	}
	return strings.TrimSpace(string(head)), len(changes) > 0
}
