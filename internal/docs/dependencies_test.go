package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"metriclab/internal/needs"
)

// oldYear is the last year whose dependencies docs/dependencies.md must name.
const oldYear = 2021

// indirect lists the indirect dependencies that the text of a go.mod names.
func indirect(gomod string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require)?\s+(\S+) v\S+ // indirect$`).FindAllStringSubmatch(gomod, -1) {
		out = append(out, m[1])
	}
	return out
}

// rows returns the first four columns of the rows of a table of dependencies,
// joined by blanks, and complains of empty columns.
func rows(text string) (map[string]bool, error) {
	out := map[string]bool{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| root |") && !strings.HasPrefix(line, "| notebooks |") {
			continue
		}
		var columns []string
		for c := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			columns = append(columns, strings.TrimSpace(c))
		}
		if len(columns) != 6 || slices.Contains(columns, "") {
			return nil, fmt.Errorf("%q has not 6 columns with text", line)
		}
		out[strings.Join(columns[:4], " ")] = true
	}
	return out, nil
}

// docs/dependencies.md names each old indirect dependency of both modules, and no
// other.
func TestDependencies(t *testing.T) {
	if testing.Short() {
		t.Skip("runs go list: not run under -short")
	}
	want := map[string]bool{}
	for name, dir := range map[string]string{"root": "", "notebooks": "notebooks"} {
		modules := indirect(read(t, dir, "go.mod"))
		if len(modules) == 0 {
			t.Fatalf("%s: go.mod has no indirect dependency", name)
		}
		cmd := exec.Command("go", append([]string{"list", "-m", "-json=Path,Version,Time"}, modules...)...)
		cmd.Dir = filepath.Join("..", "..", dir)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		raw, err := cmd.Output()
		if err != nil {
			needs.Missing(t, "needs the modules of "+name+"; fetch them with go mod download: ", err, stderr.String())
		}
		for d := json.NewDecoder(bytes.NewReader(raw)); ; {
			var m struct {
				Path, Version string
				Time          *time.Time
			}
			if err := d.Decode(&m); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if m.Time == nil {
				needs.Missing(t, "needs the time of "+m.Path+"; fetch it with go mod download")
			}
			if m.Time.Year() <= oldYear {
				want[fmt.Sprintf("%s %s %s %d", name, m.Path, m.Version, m.Time.Year())] = true
			}
		}
	}
	got, err := rows(read(t, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range slices.Sorted(maps.Keys(want)) {
		if !got[row] {
			t.Errorf("docs/dependencies.md has no row %q: say how it is reached, or drop it", row)
		}
	}
	for _, row := range slices.Sorted(maps.Keys(got)) {
		if !want[row] {
			t.Errorf("docs/dependencies.md has a row %q, which no go.mod has", row)
		}
	}
}
