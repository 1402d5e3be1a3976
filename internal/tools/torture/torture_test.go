//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program is a shell script in the place of metriclab: one job, stored in
// .cells/a/b.json, and one table drawn from it. %store%, %draw% and %merge% are
// what the tests spoil.
const program = `#!/bin/sh
command=$1 dir= sources= shards=
while [ $# -gt 1 ]; do
	shift
	case $1 in
	--results) dir=$2; shift ;;
	--shard) shards=${2#*/}; shift ;;
	--scale | --experiment) shift ;;
	*) sources="$sources $1" ;;
	esac
done
cell=$dir/.cells/a/b.json table=$dir/a/table.csv
fail() { echo "cannot write"; exit 1; }
write() { # atomically
	cat >"$dir/.$$" 2>/dev/null && mv "$dir/.$$" "$1" 2>/dev/null
}
mkdir -p "$dir/.cells/a" "$dir/a" || fail
[ -z "$shards" ] || echo "$shards" >"$dir/.shards"
good='{"key": "b", "values": [1, 2]}'
%merge%
%store%
%draw%
`

// good is a program without fault.
func good() map[string]string {
	return map[string]string{
		"%merge%": "set -- $sources; [ $command = run ] || [ $# = $(cat $1/.shards) ] || exit 3",
		"%store%": `[ "$(cat "$cell" 2>/dev/null)" = "$good" ] || echo "$good" | write "$cell" || fail`,
		"%draw%":  `echo 1,2 | write "$table" || fail`,
	}
}

// tortured makes some tries of the kinds whose name contains a word, on a program
// of parts, and returns what was printed and the number of losses.
func tortured(t *testing.T, parts map[string]string, word string) (string, int) {
	t.Helper()
	script := program
	for from, to := range parts {
		script = strings.ReplaceAll(script, from, to)
	}
	bin := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(bin, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var chosen []*kind
	for _, k := range kinds() {
		if strings.Contains(k.name, word) && !strings.Contains(k.name, ":") { // what follows a colon is of a command that the script has not
			k.tries = 3
			if k.name == "bits flipped in cells" {
				k.tries = 20 // some flips change nothing that is compared
			}
			chosen = append(chosen, k)
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("no kind is called %q", word)
	}
	var out bytes.Buffer
	// Longer than a table without losses takes: a cap is said in the table only.
	lost, err := torture(t.Context(), &out, chosen, bin, []string{"a"}, 7, time.Minute, false)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return out.String(), lost
}

func TestNoLosses(t *testing.T) {
	out, lost := tortured(t, good(), "")
	if lost != 0 {
		t.Errorf("%d losses of a program without fault:\n%s", lost, out)
	}
	for _, k := range kinds() {
		if !strings.Contains(k.name, ":") && !strings.Contains(out, k.name) {
			t.Errorf("%q is not in the table:\n%s", k.name, out)
		}
	}
}

// TestFaultsAreFound gives the torture a program with one fault each.
func TestFaultsAreFound(t *testing.T) {
	for name, c := range map[string]struct{ kind, part, with string }{
		"trusts what is stored":      {"bits", "%store%", `[ -e "$cell" ] || echo "$good" | write "$cell" || fail`},
		"forgives errors":            {"limits", "%draw%", `echo 1,2 | write "$table" || true`},
		"fails without a word":       {"limits", "%draw%", `echo 1,2 | write "$table" || exit 1`},
		"merge says nothing of gaps": {"merges", "%merge%", ""},
		"merge draws something else": {"merges", "%draw%", `{ echo 1,2; [ $command = run ] || echo 3; } | write "$table" || fail`},
	} {
		t.Run(name, func(t *testing.T) {
			parts := good()
			parts[c.part] = c.with
			if c.part == "%draw%" && c.kind == "limits" {
				// The job must get through, so that the drawing fails.
				parts["%store%"] = ":"
			}
			if out, lost := tortured(t, parts, c.kind); lost == 0 {
				t.Errorf("no loss:\n%s", out)
			}
		})
	}
}

func TestSnapshot(t *testing.T) {
	write := func(dir string, files map[string]string) {
		for name, content := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	base := map[string]string{"a/table.csv": "1", "a/timing.csv": "2", "a/meta.json": "3", "report.html": "4", ".runs/x.json": "5", ".cells/a/b.json": `{"key":1,"values":2,"run":3}`}
	want := t.TempDir()
	write(want, base)
	w, err := snap(want)
	if err != nil {
		t.Fatal(err)
	}
	c := &campaign{want: w}
	for name, tc := range map[string]struct{ file, content, whole string }{
		"the same":         {"a/table.csv", "1", ""},
		"other times":      {"a/timing.csv", "9", ""},
		"other account":    {".cells/a/b.json", `{"key":1,"values":2,"run":9}`, ""},
		"temporary file":   {"a/.metriclab-1.tmp", "9", ""},
		"other table":      {"a/table.csv", "9", "a/table.csv: differs"},
		"other value":      {".cells/a/b.json", `{"key":1,"values":9,"run":3}`, ".cells/a/b.json: differs"},
		"other key":        {".cells/a/b.json", `{"key":9,"values":2,"run":3}`, ".cells/a/b.json: differs"},
		"half a job":       {".cells/a/b.json", `{"key":1,"val`, ".cells/a/b.json: differs"},
		"a file more":      {"a/x.svg", "9", "no such file"},
		"a failure":        {".failures/x.json", "9", "no such file"},
		"a job more":       {".cells/a/c.json", "{}", "no such file"},
		"a folder instead": {"b/table.csv", "1", "no such file"},
	} {
		dir := t.TempDir()
		write(dir, base)
		write(dir, map[string]string{tc.file: tc.content})
		err := c.whole(dir)
		if tc.whole == "" && err != nil || tc.whole != "" && (err == nil || !strings.Contains(err.Error(), tc.whole)) {
			t.Errorf("%s: got %v, want %q", name, err, tc.whole)
		}
	}
	part := t.TempDir()
	write(part, map[string]string{"a/table.csv": "1"})
	if err := c.partial(part); err != nil {
		t.Errorf("a part: %v", err)
	}
	if err := c.whole(part); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a part taken for the whole: %v", err)
	}
}

// TestLeastTries: a kind that had no time for a tenth of its tries fails.
func TestLeastTries(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "program")
	script := program
	for from, to := range good() {
		script = strings.ReplaceAll(script, from, to)
	}
	if err := os.WriteFile(bin, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	k := kinds()[5] // merges
	k.tries = 100
	if lost, err := torture(t.Context(), io.Discard, []*kind{k}, bin, []string{"a"}, 7, 0, false); err == nil || lost != 0 || !strings.Contains(err.Error(), "want at least 10") {
		t.Errorf("%d losses, %v", lost, err)
	}
}
