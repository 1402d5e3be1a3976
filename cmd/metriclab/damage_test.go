package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sha256Line matches the start of a file with a checksum.
var sha256Line = regexp.MustCompile(`^\{\s*"sha256": "[0-9a-f]*",`)

func edit(t *testing.T, path string, f func(string) string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(f(string(data))), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDamaged: each command names a damaged file once, says what to do or what it
// does, and goes on with the rest.
func TestDamaged(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	check := func(code int, stderr string, args ...string) {
		t.Helper()
		if got := c.run(args...); got != code || !strings.Contains(c.err.String(), stderr) || stderr != "" && strings.Count(c.err.String(), stderr) != 1 {
			t.Errorf("%s: exit code %d, want %d:\n%swant\n%s", strings.Join(args, " "), got, code, c.err.String(), stderr)
		}
	}
	check(exitOK, "4 jobs to run\n", "run", "lines")
	paths, err := filepath.Glob(filepath.Join("out", "smoke", ".cells", "*", "*", "*", "*.json"))
	if err != nil || len(paths) != 4 {
		t.Fatalf("%q, %v", paths, err)
	}
	flip := func(s string) string { return strings.Replace(s, `"0.`, `"1.`, 1) }
	edit(t, paths[0], flip)
	check(exitFailed, "damaged, counts as missing: "+paths[0]+": its content has the SHA-256 ", "report", "lines")
	if !strings.Contains(c.out.String(), "3 of 4 jobs") {
		t.Errorf("report:\n%s", c.out.String())
	}
	check(exitOK, "", "status", "lines")
	if !strings.Contains(c.out.String(), "toy/lines: 1 stored job cannot be used: counted as missing; metriclab report names the files\n") {
		t.Errorf("status:\n%s", c.out.String())
	}
	check(exitOK, "", "run", "lines", "--dry-run")
	if !strings.Contains(c.out.String(), "would run 1 job: 3 of 4 are done; 1 stored job cannot be used") {
		t.Errorf("dry run:\n%s", c.out.String())
	}
	check(exitOK, "damaged, its job runs again: "+paths[0]+": its content has the SHA-256 ", "run", "lines")
	check(exitOK, "", "report", "lines")
	if c.err.Len() > 0 {
		t.Errorf("after the run: %s", c.err.String())
	}

	old := func(s string) string { return sha256Line.ReplaceAllString(s, "{") }
	for _, path := range paths[:2] {
		edit(t, path, old)
	}
	check(exitOK, "2 stored jobs of an earlier version without a checksum: counted as missing\n", "report", "lines")
	check(exitOK, "2 stored jobs of an earlier version without a checksum: run again\n2 jobs to run\n", "run", "lines")

	check(exitOK, "", "run", "lines", "--scale", "full", "--results", "r")
	if err := os.RemoveAll(filepath.Join("r", ".cells")); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join("r", "toy", "lines", "table.csv")
	edit(t, table, func(s string) string { return strings.Replace(s, ",0.", ",1.", 1) })
	check(exitFailed, "damaged: "+table+": it is not the table that meta.json describes; restore its folder from a copy, or make it anew: metriclab run toy/lines --scale full --results r\n",
		"report", "--scale", "full", "--results", "r")
	check(exitOK, "", "status", "--scale", "full", "--results", "r", "lines")
	if want := "toy/lines: the published results are damaged: " + table + ": it is not the table that meta.json describes; metriclab report says what to do\n"; !strings.Contains(c.out.String(), want) {
		t.Errorf("status:\n%s", c.out.String())
	}
	check(exitOK, "damaged, made anew: "+table+": it is not the table that meta.json describes\n", "run", "lines", "--scale", "full", "--results", "r")

	meta := filepath.Join("r", "toy", "lines", "meta.json")
	edit(t, meta, old)
	check(exitOK, meta+" had no checksum, as an earlier version wrote it", "report", "--scale", "full", "--results", "r")
	check(exitOK, "", "report", "--scale", "full", "--results", "r")
	if c.err.Len() > 0 {
		t.Errorf("the checksum was not added: %s", c.err.String())
	}
}
