package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

//go:generate go test -run "TestGolden|TestCLIDocs" -update .

var update = flag.Bool("update", false, "rewrite golden files and docs/cli.md")

// asChild makes a re-executed test binary be the command, on slow toys.
const asChild = "METRICLAB_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		ctx, stop := interruptible()
		a := newApp([]experiment.Paper{toys(func(ctx context.Context, _ string) error {
			select {
			case <-time.After(20 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})})
		if text := os.Getenv(holdAt); text != "" {
			a.every = 0
			a.streams(os.Stdout, &holder{ctx: ctx, text: text, out: os.Stderr})
		}
		code := execute(ctx, a, os.Args[1:])
		stop()
		os.Exit(code)
	}
	// The tests may themselves run in one of several tasks of an engine.
	for _, name := range append([]string{envIndex, envCount}, engineNames()...) {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	atomicfile.WithoutSync() // these tests write many files and pull no plug
	os.Exit(m.Run())
}

func engineNames() []string {
	var out []string
	for _, e := range engines {
		out = append(out, e.name)
	}
	return out
}

// toys is a paper with two experiments; hook runs inside each trial.
func toys(hook func(ctx context.Context, cell string) error) experiment.Paper {
	spec := func(id string, cells ...string) experiment.Spec {
		return experiment.Spec{
			ID: "toy/" + id, Title: "The " + id, Source: "Section 1", Version: 1,
			Cells: func(scale experiment.Scale) []experiment.Cell {
				var out []experiment.Cell
				for _, name := range cells {
					c := experiment.Cell{Name: name, Dataset: "toy", Methods: map[string]int{"m": 1}}
					if scale == experiment.Full && id == "digits" {
						c.Dataset = "mnist"
					}
					out = append(out, c)
				}
				return out
			},
			Trials: func(s experiment.Scale) int {
				if s == experiment.Full {
					return 6
				}
				return 2
			},
			Columns: experiment.Columns{experiment.Number("y", "", "a draw")},
			Trial: func(ctx context.Context, run *experiment.Run) error {
				if hook != nil {
					if err := hook(ctx, run.Cell.Name); err != nil {
						return err
					}
				}
				run.Rows.Add(nil, table.Values{"y": run.Seed.Stream(run.Cell.Name).Float64()})
				return nil
			},
			Views: []experiment.View{{Name: id + "-view", Title: "A view", Draw: func(*table.Table) (plots.Drawing, error) {
				return plots.Drawing{Caption: plots.Caption{Shows: "Nothing."}, Text: &plots.TextTable{Head: []string{"h"}, Rows: [][]string{{"r"}}}}, nil
			}}},
			Claims: experiment.Claims([]experiment.Claim{{ID: id, Statement: "s", Where: "w", Theirs: "t", Predicate: "p", Test: func(t *table.Table) judge.Test {
				return judge.Readings{
					{Name: "as drawn", Test: judge.Shown{Test: judge.Holds{true, true, true, true, true, true}, Ours: "1", Note: "So it is."}},
					{Name: "against one half", Test: judge.Positive{Units: toyUnits(t), Rule: judge.Rule{Scale: 100, Unit: "points"}}},
				}
			}}}),
			Cost: time.Minute,
		}
	}
	return experiment.Paper{Key: "toy", Citation: "A. Toy. 1900.", Experiments: []experiment.Spec{spec("lines", "a", "b c"), spec("digits", "0-8")}}
}

// toyUnits has the draws of each cell less one half.
func toyUnits(t *table.Table) (out []judge.Unit) {
	for cell, g := range t.Group("cell") {
		u := judge.Unit{Name: cell}
		for _, y := range g.Values("y") {
			u.Diffs = append(u.Diffs, y-0.5)
		}
		out = append(out, u)
	}
	return out
}

// command runs a command line on toys in an empty folder and returns what it
// printed, with the folder as DIR.
type command struct {
	app      *app
	out, err bytes.Buffer
}

func newCommand(p experiment.Paper) *command {
	c := &command{}
	c.app = &app{
		papers: []experiment.Paper{p}, every: time.Hour, env: func(string) string { return "" },
		world: harness.World{
			Build: harness.Build{Revision: "0123456789abcdef", Version: "(devel)", Go: "go1.26.8", GOOS: "linux", GOARCH: "amd64", GOAMD64: "v1", CPU: "a CPU", Cores: 2, GOMAXPROCS: 2, Product: "pure Go with FMA"},
			Host:  "host", PID: 1,
		},
	}
	c.app.streams(&c.out, &c.err)
	return c
}

func (c *command) run(args ...string) int {
	c.out.Reset()
	c.err.Reset()
	return execute(context.Background(), c.app, args)
}

func TestGolden(t *testing.T) {
	broken := errors.New("no convergence")
	tests := []struct {
		name   string
		broken bool // cell "b c" fails
		lines  []string
	}{
		{name: "overview", lines: []string{""}},
		{name: "help", lines: []string{"--help", "run --help", "merge --help", "completion --help", "data get --help"}},
		{name: "version", lines: []string{"version", "version --json"}},
		{name: "list", lines: []string{"list", "list --scale full", "list --json", "list --scale big"}},
		{name: "usage", lines: []string{
			"frobnicate", "statsu", "run toy/lnies", "run toy/nothing-like-it-at-all", "run --frobnicate", "run --trials 0", "run --jobs -1", "run --seed 0",
			"run --cell nowhere", "run --scale medium", "run --shard 3/3", "status --shard 1", "merge nowhere", "merge --experiment toy/lnies", "merge --seed 0",
			"completion", "completion tcsh", "list toy", "data verify mnits", "data get mnits",
		}},
		{name: "run", lines: []string{
			"run --dry-run --jobs 1", "status", "run --jobs 1", "run --jobs 1", "run --dry-run", "run --dry-run --force lines", "status", "status --json lines", "report",
			"run --jobs 1 --trials 3 lines",
		}},
		{name: "failure", broken: true, lines: []string{"run --jobs 1", "status"}},
		{name: "shard", lines: []string{
			"run --jobs 1 --shard 0/2 --results a", "status --shard 0/2 --results a", "run --dry-run --shard 1/2 --results b",
			"merge a", "run --jobs 1 --shard 1/2 --results b", "merge a b a", "status", "merge",
			"run --jobs 1 --shard 0/1 --results c --trials 3 lines --cell a", "merge c --trials 3 --experiment lines --cell a", "merge --scale full --experiment lines c",
		}},
		{name: "shard-failure", broken: true, lines: []string{"run --jobs 1 --shard 0/1 --results a", "merge a"}},
		{name: "full", lines: []string{
			"run --scale full", "run --scale full lines --trials 2 --jobs 1", "run --scale full lines --jobs 1", "status --scale full", "run --scale full --dry-run",
			"run --results results", "plan lines", "plan --workers 3 --scale smoke", "plan --workers 0", "plan lnies",
			"reseed lines --jobs 1 --max-cpu 10ns", "reseed", "reseed lines --jobs 1 --publish", "explain lines lines", "reseed --seed 1", "reseed --max-cpu 0s", "reseed lnies",
			"explain", "explain toy", "explain lines lines", "explain toy/digits digits", "explain --json lines lines", "explain toy/lines/lines", "explain toy --verdict reproduced", "claims toy --verdict partly", "explain --verdict Partly", "explain toy/lines/lnies", "explain toy/lins/lines", "explain lines lnies", "explain toy/lnies", "explain digitss", "explain toy lines", "explain toy lnies", "explain toy/lines lines lines", "explain --results elsewhere lines lines",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			golden, err := filepath.Abs(filepath.Join("testdata", tt.name+".golden"))
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			c := newCommand(toys(func(_ context.Context, cell string) error {
				if tt.broken && cell == "b c" {
					return broken
				}
				return nil
			}))
			compare(t, golden, c.session(tt.lines))
		})
	}
}

// sourceLine finds the line of a claim's test, which changes with this file.
var sourceLine = regexp.MustCompile(`(main_test\.go:|"line": )\d+`)

// session runs lines and returns what a terminal would show.
func (c *command) session(lines []string) string {
	var got strings.Builder
	for _, line := range lines {
		code := c.run(strings.Fields(line)...)
		got.WriteString(strings.TrimSpace("$ metriclab "+line) + "\n" + sourceLine.ReplaceAllString(c.out.String(), "${1}LINE"))
		if c.err.Len() > 0 {
			got.WriteString("--- stderr\n" + c.err.String())
		}
		if code != 0 {
			got.WriteString("--- exit code " + string(rune('0'+code)) + "\n")
		}
		got.WriteString("\n")
	}
	return got.String()
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if portable(got) != portable(string(want)) {
		t.Errorf("differs from %s (go test -update rewrites it); got\n%s", filepath.Base(golden), got)
	}
}

// Experiments and views name files, which must exist under one name on every
// system: no case that Windows and macOS do not tell apart, no name of a device.
func TestFileNames(t *testing.T) {
	device := regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
	check := func(what, name string) {
		t.Helper()
		if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(name) || device.MatchString(name) || len(name) > 60 {
			t.Errorf("%s %q: want lower-case letters, digits and single hyphens, at most 60, and no device of Windows", what, name)
		}
	}
	for _, p := range papers.All {
		for _, s := range p.Experiments {
			for part := range strings.SplitSeq(s.ID, "/") {
				check("experiment", part)
			}
			for _, v := range s.Views {
				check(s.ID+": view", v.Name)
			}
		}
	}
}

// TestCLIDocs keeps docs/cli.md equal to what the commands say of themselves.
func TestCLIDocs(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# The metriclab command\n\nGenerated from the command itself by `go generate ./cmd/metriclab`; do not edit.\n\n" +
		"Exit codes: 0 all is well; 1 something failed (jobs, figures, data, files); 2 the command line or the environment is wrong, so that the same command never succeeds; 3 merge: jobs are missing; 130 interrupted.\n\n" +
		"Environment: `METRICLAB_MIRROR` is the default of `data get --mirror`. `SHARD_INDEX` and `SHARD_COUNT` are the default of `run --shard`; " +
		"in place of `SHARD_INDEX` the index of an engine is read, see [run](#metriclab-run).\n\n")
	var write func(c *cobra.Command)
	write = func(c *cobra.Command) {
		if c.IsAdditionalHelpTopicCommand() && !c.HasAvailableSubCommands() {
			b.WriteString("## metriclab help " + c.Name() + "\n\n" + c.Short + "\n\n```\n" + c.Long + "\n```\n\n")
			return
		}
		if !c.IsAvailableCommand() {
			return
		}
		link := func(name string) string {
			return "#" + strings.ReplaceAll(strings.TrimSuffix(name, ".md"), "_", "-")
		}
		if err := doc.GenMarkdownCustom(c, &b, link); err != nil {
			t.Fatal(err)
		}
		for _, sub := range c.Commands() {
			write(sub)
		}
	}
	write(newCommand(toys(nil)).app.root())
	compare(t, filepath.Join("..", "..", "docs", "cli.md"), b.String())
}

// TestOverviewIsTrue runs the overview's commands through the parser: each
// exists, with its flags.
func TestOverviewIsTrue(t *testing.T) {
	root := newCommand(toys(nil)).app.root()
	found := regexp.MustCompile(`(?m)^  metriclab (.*?)  `).FindAllStringSubmatch(overview, -1)
	if want := strings.Count(overview, "\n") - 2; len(found) != want || want > 22 {
		t.Fatalf("%d commands on %d lines, want at most 22 and one per line between the first and the last", len(found), want)
	}
	for _, m := range found {
		c, rest, err := root.Find(strings.Fields(m[1]))
		if err != nil || c == root {
			t.Errorf("%s: %v", m[1], err)
			continue
		}
		if err := c.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
}

// TestUnwritable ends before a job runs.
func TestUnwritable(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("out", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ran := false
	c := newCommand(toys(func(context.Context, string) error { ran = true; return nil }))
	if code := c.run("run"); code != exitFailed || !strings.Contains(c.err.String(), "results folder") || ran {
		t.Errorf("exit code %d, %s", code, c.err.String())
	}
}

func TestInterrupt(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range interrupts {
		dir := t.TempDir()
		var stderr bytes.Buffer
		c := exec.Command(self, "run", "--scale", "full", "lines", "--jobs", "1")
		c.Dir, c.Stderr, c.Env = dir, &stderr, append(os.Environ(), asChild+"=1")
		sig.prepare(c)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		cells := func() int {
			paths, _ := filepath.Glob(filepath.Join(dir, "results", ".cells", "*", "*", "*", "*.json"))
			return len(paths)
		}
		for deadline := time.Now().Add(time.Minute); cells() < 2; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("no cell was stored")
			}
		}
		if err := sig.send(t, c); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
			t.Fatalf("%s: %v\n%s", sig.name, err, stderr.String())
		}
		if s := stderr.String(); !strings.Contains(s, "finished jobs are kept") || !strings.Contains(s, "the same command goes on") {
			t.Errorf("%s: %s", sig.name, s)
		}
		t.Chdir(dir)
		again := newCommand(toys(nil))
		kept := cells()
		if code := again.run("run", "--scale", "full", "lines"); code != 0 || kept < 2 || kept >= 12 {
			t.Errorf("resumed with %d cells: exit code %d, %s", kept, code, again.err.String())
		}
		if cells() != 12 {
			t.Errorf("%d cells at the end", cells())
		}
	}
}

func TestProgressOnTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(func(_ context.Context, cell string) error {
		if cell == "a" {
			return errors.New("no convergence")
		}
		return nil
	}))
	c.app.terminal = true
	if code := c.run("run"); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"6 jobs to run", "failed: toy/lines, cell a, trial 0: no convergence", "--cell a"} {
		if !strings.Contains(c.err.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, c.err.String())
		}
	}
	if !strings.Contains(portable(c.out.String()), "\nreport: out/smoke/report.html\nsmoke scale: 2 experiments with 2 figures rendered on built-in data, no claim is graded; the graded results: metriclab report --scale full\n") {
		t.Errorf("stdout:\n%s", c.out.String())
	}
}

func TestProgressWhenPiped(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(func(context.Context, string) error {
		time.Sleep(5 * time.Millisecond)
		return nil
	}))
	c.app.every = time.Millisecond
	if code := c.run("run", "--jobs", "1"); code != 0 {
		t.Fatal(c.err.String())
	}
	if s := c.err.String(); !regexp.MustCompile(`(?m)^[0-6] of 6 jobs`).MatchString(s) || strings.Contains(s, "\r") {
		t.Errorf("stderr:\n%s", s)
	}
}

func TestData(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	if got := c.app.needed(); !slices.Equal(got, []string{"mnist"}) {
		t.Errorf("needed %q", got)
	}
	if code := c.run("data", "list", "--json"); code != 0 {
		t.Fatal(c.err.String())
	}
	var list []listedData
	if err := json.Unmarshal(c.out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(l listedData) bool { return l.Name == "mnist" })
	if i < 0 || !list[i].Needed || list[i].Usable || len(list[i].Files) != 4 || list[i].Files[0].State != "missing" {
		t.Errorf("mnist: %+v", list)
	}
	if code := c.run("data", "list"); code != 0 || !regexp.MustCompile(`(?m)^mnist +missing +yes `).MatchString(c.out.String()) {
		t.Errorf("exit code %d\n%s", code, c.out.String())
	}
	if code := c.run("data", "verify"); code != exitFailed || !strings.Contains(c.out.String(), "mnist/train-images-idx3-ubyte.gz: missing\n") ||
		!strings.Contains(c.err.String(), "metriclab data get") {
		t.Errorf("exit code %d\n%s%s", code, c.out.String(), c.err.String())
	}
	if code := c.run("data", "verify", "--json", "mnist"); code != exitFailed || !json.Valid(c.out.Bytes()) {
		t.Errorf("exit code %d\n%s", code, c.out.String())
	}
}

// TestDataGetInterrupted ends before anything is fetched and leaves nothing.
func TestDataGetInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code := execute(ctx, c.app, []string{"data", "get", "--mirror", "mirror"})
	if code != exitInterrupted || !strings.Contains(c.err.String(), "getting mnist") {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
	if _, err := os.Stat(filepath.Join("data", "mnist", "train-labels-idx1-ubyte.gz")); err == nil {
		t.Error("a file is there")
	}
}
