package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/pkg/limits"
)

// restoreLimit undoes what --max-memory sets for the whole process.
func restoreLimit(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { limits.SetMemory(0) })
}

func TestMaxMemoryFlag(t *testing.T) {
	restoreLimit(t)
	inTables(t)
	for _, text := range []string{"", "0", "-1GiB", "4 GiB", "4gib", "1.5GiB", "lots", "99999999TiB"} {
		c := newCommand(toys(nil))
		if code := c.run("list", "--max-memory", text); code != exitUsage || !strings.Contains(c.err.String(), "flag --max-memory: ") {
			t.Errorf("%q: exit code %d, %s", text, code, c.err.String())
		}
	}
	if limits.Memory() != limits.DefaultMemory {
		t.Errorf("the limit is %d after refused flags", limits.Memory())
	}
	c := newCommand(toys(nil))
	if code := c.run("fit", "good.csv", "--label", "class", "--learner", "fda", "--out", "m.json", "--max-memory", "300"); code != exitFailed || !strings.Contains(c.err.String(), "model: good.csv: 10 rows of 3 features would take 400 bytes of memory, the limit is 300 bytes (flag --max-memory") {
		t.Errorf("a table beyond the limit: exit code %d, %s", code, c.err.String())
	}
	if code := c.run("fit", "good.csv", "--label", "class", "--learner", "fda", "--out", "m.json", "--max-memory", "1MiB"); code != exitOK || limits.Memory() != 1<<20 {
		t.Errorf("a table within the limit: exit code %d, %s", code, c.err.String())
	}
	if code := c.run("transform", "good.csv", "--model", "m.json", "--max-memory", "100"); code != exitFailed || !strings.Contains(c.err.String(), "the saved file") {
		t.Errorf("a model beyond the limit: exit code %d, %s", code, c.err.String())
	}
}

// Sizes that nothing can hold are errors of the command line, or of the line.
func TestLearnLimits(t *testing.T) {
	restoreLimit(t)
	t.Chdir(t.TempDir())
	wide := `{"x":[1` + strings.Repeat(",0", 99999) + `],"y":[0` + strings.Repeat(",0", 99999) + `],"label":1}` + "\n"
	const most = "9223372036854775807"
	for _, tt := range []struct {
		name, in string
		args     []string
		code     int
		want     string
	}{
		{"objects", "", []string{"--learner", "erkle", "--objects", most}, exitUsage, "ERKLE with 9223372036854775807 objects would take more than 8 EiB of memory, the limit is 4 GiB (flag --max-memory"},
		{"objects, raised", "", []string{"--learner", "erkle", "--objects", most, "--max-memory", "8TiB"}, exitUsage, "the limit is 8 TiB"},
		{"dim", "", []string{"--learner", "pola", "--dim", most}, exitUsage, "pola with 9223372036854775807 features"},
		{"dim of LEGO", "", []string{"--learner", "lego", "--dim", "100000"}, exitUsage, "LEGO with 100000 features would take 37.3 GiB"},
		{"a wide line", wide, []string{"--learner", "lego"}, exitFailed, "line 1: lego: dim: LEGO with 100000 features"},
		{"a wide state", wide, []string{"--learner", "pola", "--state-every", "1"}, exitFailed, "line 1: the state of a learner with 100000 features"},
		{"a wide line, no state", wide, []string{"--learner", "pola"}, exitOK, ""},
		{"max-line", "", []string{"--learner", "pola", "--max-line", most}, exitUsage, "flag --max-line: 9223372036854775807 is not allowed, want at most 4294967296"},
		{"wide costs", `{"cost":[[0` + strings.Repeat(",0", 99999) + "]]}\n", []string{"--learner", "rmp", "--max-memory", "1MiB"}, exitFailed, "rmp with 1 objects and 100000 prototypes"},
		{"b1", "", []string{"--learner", "pola", "--param", "b1=1e170"}, exitUsage, `parameter b1: "1e170" is not allowed, want a number from -1e+100 to 1e+100`},
		{"chain steps", "", []string{"--learner", "rmp", "--param", "chain-steps=1000000000"}, exitUsage, "want an integer from 1 to 10000000"},
	} {
		limits.SetMemory(0)
		c := newCommand(toys(nil))
		if code := c.learn(tt.in, tt.args...); code != tt.code || !strings.Contains(c.err.String(), tt.want) {
			t.Errorf("%s: exit code %d, %.300s", tt.name, code, c.err.String())
		}
	}
	if err := os.WriteFile("big.json", []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate("big.json", 1<<33); err == nil { // sparse
		c := newCommand(toys(nil))
		if code := c.learn("", "--load", "big.json"); code != exitFailed || !strings.Contains(c.err.String(), "the saved file would take 8 GiB") {
			t.Errorf("a sparse file: exit code %d, %s", code, c.err.String())
		}
	}
}

// A class that a spreadsheet would run as a formula is written as text if asked for.
func TestGuardFormulas(t *testing.T) {
	for cell, want := range map[string]string{
		"": "", "a": "a", "=1+1": "'=1+1", "@SUM(A1)": "'@SUM(A1)", "+1": "+1", "-1": "-1", "-2.5e-3": "-2.5e-3", "-1+1": "'-1+1", "+a": "'+a",
		"-inf": "'-inf", "+0x1p3": "'+0x1p3", "\t=1": "'\t=1", "\r=1": "'\r=1", "'=1": "'=1", "a=1": "a=1", "\uff1d1": "'\uff1d1", "-": "'-", "=": "'=",
	} {
		if got := guarded(cell); got != want {
			t.Errorf("%q became %q, want %q", cell, got, want)
		}
	}
	t.Chdir(t.TempDir())
	writeTest(t, "t.csv", "x,y,=class\n0,5,\"=HYPERLINK(\"\"http://x\"\")\"\n0.5,1,\"=HYPERLINK(\"\"http://x\"\")\"\n4,5,-1\n4.5,2,-1\n5,1,@b\n5.1,2,@b\n")
	c := newCommand(toys(nil))
	if code := c.run("fit", "t.csv", "--label", "=class", "--learner", "euclidean", "--no-standardise", "--out", "m.json"); code != exitOK {
		t.Fatal(c.err.String())
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "=class,z1,z2\n\"=HYPERLINK(\"\"http://x\"\")\",0,5\n"},
		{[]string{"--guard-formulas"}, "'=class,z1,z2\n\"'=HYPERLINK(\"\"http://x\"\")\",0,5\n\"'=HYPERLINK(\"\"http://x\"\")\",0.5,1\n-1,4,5\n-1,4.5,2\n'@b,5,1\n'@b,5.1,2\n"},
	} {
		if code := c.run(append([]string{"transform", "t.csv", "--model", "m.json", "--out", filepath.Join(".", "z.csv")}, tt.args...)...); code != exitOK {
			t.Fatal(c.err.String())
		}
		if got := readTest(t, "z.csv"); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q wrote\n%s, want\n%s", tt.args, got, tt.want)
		}
	}
}

// Sizes in the flags of fit, evaluate and run.
func TestFlagLimits(t *testing.T) {
	restoreLimit(t)
	inTables(t)
	const most = "9223372036854775807"
	fit := func(args ...string) []string {
		return append([]string{"fit", "good.csv", "--label", "class", "--learner", "pola", "--out", "m.json"}, args...)
	}
	evaluate := func(args ...string) []string {
		return append([]string{"evaluate", "good.csv", "--label", "class", "--learner", "euclidean"}, args...)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{fit("--pairs", most), exitUsage, "pairs: 9223372036854775807 is not allowed, want 1 to 1000000000"},
		{fit("--passes", most), exitUsage, "passes: 9223372036854775807 is not allowed, want 1 to 1000000000"},
		{fit("--pairs", "1000000000"), exitFailed, "pola: a fit to 10 rows of 3 features and 1000000000 pairs, by a rough estimate, would take 22.4 GiB"},
		{evaluate("--folds", most), exitUsage, "folds: 9223372036854775807 is not allowed, want 2 to the number of rows, 10"},
		{evaluate("--repeats", most), exitUsage, "repeats: 9223372036854775807 is not allowed, want 1 to 1000000"},
		{evaluate("--repeats", "1000000", "--max-memory", "1MiB"), exitUsage, "1000000 x 5 splits of 10 rows would take"},
		{evaluate("--k", most), exitUsage, "k: 9223372036854775807 is not allowed, want 1 to 8"},
		{[]string{"run", "--trials", most, "--results", "out"}, exitUsage, "with 9223372036854775807 trials would take"},
		{[]string{"status", "--shard", "0/" + most}, exitUsage, "flag --shard: "},
	} {
		limits.SetMemory(0)
		c := newCommand(toys(nil))
		if code := c.run(tt.args...); code != tt.code || !strings.Contains(c.err.String(), tt.want) {
			t.Errorf("%q: exit code %d, %s", tt.args, code, c.err.String())
		}
	}
}
