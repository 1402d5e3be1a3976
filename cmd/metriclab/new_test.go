package main

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/examples"
)

// source is the folder of the source, seen from that of the tests.
func source(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// newRings writes an experiment into the folder rings of a new working folder.
func newRings(t *testing.T) {
	t.Helper()
	root := source(t)
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	if code := c.run("new", "experiment", "rings", "--module", root); code != exitOK || !strings.Contains(c.out.String(), "run it: cd rings && go run .\n") {
		t.Fatalf("exit code %d: %s%s", code, c.out.String(), c.err.String())
	}
}

// What is written is the program examples/spec under its own name, in a module that requires what metriclab requires.
func TestNewExperiment(t *testing.T) {
	root := source(t)
	newRings(t)
	got := readTest(t, filepath.Join("rings", "main.go"))
	want := examples.Spec
	for _, change := range [][2]string{{"go run ./examples/spec", "go run ."}, {`"mine/clouds"`, `"mine/rings"`}, {`"out/clouds"`, `"out"`}} {
		if strings.Count(want, change[0]) != 1 {
			t.Errorf("examples/spec has %q %d times", change[0], strings.Count(want, change[0]))
		}
		want = strings.ReplaceAll(want, change[0], change[1])
	}
	if got != want {
		t.Errorf("main.go is\n%s", got)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "main.go", got, 0); err != nil {
		t.Error(err)
	}
	mod, ours := readTest(t, filepath.Join("rings", "go.mod")), readTest(t, filepath.Join(root, "go.mod"))
	_, required, _ := strings.Cut(ours, "\nrequire (\n")
	for _, want := range []string{"module mine/rings\n\ngo 1.", "\nrequire " + modulePath() + " v0.0.0\n", "\nreplace " + modulePath() + " => \"" + filepath.ToSlash(root) + "\"\n", strings.Split(required, "\n")[0]} {
		if !strings.Contains(mod, want) {
			t.Errorf("go.mod lacks %q:\n%s", want, mod)
		}
	}
	if readTest(t, filepath.Join("rings", "go.sum")) != readTest(t, filepath.Join(root, "go.sum")) {
		t.Error("go.sum is another one")
	}
	// What cannot be is refused, and leaves nothing.
	writeTest(t, "file", "mine")
	for _, tt := range []struct{ args, want string }{
		{"rings", "rings is there already, and is left as it is"},
		{"file", "file is there already"},
		{"Rings", `name "Rings" is not allowed, want at most 50 lower-case letters`},
		{"../rings", `name "../rings" is not allowed`},
		{"two--rings", "is not allowed"},
		{strings.Repeat("a", 51), "is not allowed"},
		{"com1", "Windows has a device of that name"},
		{"a b", `new experiment takes a name, got ["a" "b"]`},
		{"", "new experiment takes a name, got []"},
		{"other --module " + os.TempDir(), "has no go.mod that begins with \"module " + modulePath()},
	} {
		c := newCommand(toys(nil))
		if code := c.run(append([]string{"new", "experiment"}, strings.Fields(tt.args)...)...); code != exitUsage || !strings.Contains(c.err.String(), tt.want) {
			t.Errorf("%s: exit code %d: %s, want %q", tt.args, code, c.err.String(), tt.want)
		}
	}
	if err := writeFolder("half", map[string]string{"a": "", "a/b": ""}); err == nil {
		t.Error("a file in a file is written")
	}
	if left, err := filepath.Glob("*"); err != nil || len(left) != 2 {
		t.Errorf("there are %q, error %v; want rings and file", left, err)
	}
	if hidden, err := filepath.Glob(".*"); err != nil || len(hidden) != 0 {
		t.Errorf("left behind: %q, error %v", hidden, err)
	}
}

// Without --module the source is that in or above the working folder, or where this was built; else it is asked for.
func TestSourceRoot(t *testing.T) {
	want := source(t)
	if got, err := sourceRoot(""); err != nil || got != want {
		t.Errorf("found %s, error %v, want %s", got, err, want)
	}
	t.Chdir(t.TempDir())
	if got, err := sourceRoot(""); got != want && (err == nil || !strings.Contains(err.Error(), "write --module and its folder")) {
		t.Errorf("elsewhere: %s, error %v", got, err)
	}
	if got, err := sourceRoot(want); err != nil || got != want {
		t.Errorf("given: %s, error %v", got, err)
	}
}

// go run there runs, draws and grades it without a network; of a part that is missing it says what to write.
func TestNewExperimentRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs: not run under -short")
	}
	newRings(t)
	run := func() (string, error) {
		cmd := exec.CommandContext(t.Context(), "go", "run", ".")
		cmd.Dir = "rings"
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run()
	if err != nil || !strings.Contains(out, ": Similar pairs are nearer.\n") || !strings.HasSuffix(out, "report: out/report.html\n") {
		t.Fatalf("error %v: %s", err, out)
	}
	for _, name := range []string{"report.html", "README.md", "mine/rings/table.csv", "mine/rings/gap.png", "mine/rings/claims.json"} {
		if _, err := os.Stat(filepath.Join("rings", "out", filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	path := filepath.Join("rings", "main.go")
	writeTest(t, path, strings.Replace(readTest(t, path), "\tTrial:   trial,\n", "", 1))
	if out, err := run(); err == nil || !strings.Contains(out, "mine/rings: it lacks Trial: write func(ctx context.Context, run *experiment.Run) error") {
		t.Errorf("without a trial: error %v: %s", err, out)
	}
}
