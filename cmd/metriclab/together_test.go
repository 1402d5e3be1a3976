package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
)

// TestFlagErrors: all that is wrong with the flags is told at once, in our words, with what may have been meant.
func TestFlagErrors(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"fit x.csv --lerner itml --dim x --passes=1.5 --no-standardise=maybe --out", []string{
			"5 things are wrong:",
			"\n  unknown flag --lerner; did you mean --learner?",
			"\n  flag --dim: \"x\" is not allowed, want a whole number",
			"\n  flag --passes: \"1.5\" is not allowed, want a whole number",
			"\n  flag --no-standardise: \"maybe\" is not allowed, want true or false",
			"\n  flag --out: no value given",
			"\n  see: metriclab fit --help",
		}},
		{"list --scle full", []string{"unknown flag --scle; did you mean --scale?; see: metriclab list --help"}},
		{"compare x.csv --time-limit 5", []string{"flag --time-limit: \"5\" is not allowed, want a time such as 30s, 5m or 2h; see: metriclab compare --help"}},
		{"fit x.csv --learner pola --learner pa", []string{"flag --learner: \"pa\" is not allowed: given twice (pola, pa)"}},
		{"fit x.csv --label c --learner itml --param gama=1 --param slack=sof --impute x --seed 0", []string{
			"4 things are wrong:",
			"\n  flag --impute: \"x\" is not allowed, want none or mean",
			"\n  flag --seed: 0 is not allowed, want at least 1",
			"unknown parameter \"gama\"", "did you mean gamma?",
			"parameter slack: \"sof\" is not allowed, want one of soft, hard; did you mean soft?",
			"\n  flag --out: no file given",
		}},
		{"fit x.csv --label c --learner pola --pairs=-5 --out m.json", []string{"flag --pairs: -5 is not allowed, want at least 1"}},
		{"lern", []string{"unknown command \"lern\" for \"metriclab\"; did you mean learn?"}},
		{"list toys", []string{"did you mean toy"}},
		{"learn --learner poal", []string{"unknown learner \"poal\"", "did you mean pola or pa?"}},
		{"completion bsh", []string{"did you mean bash or zsh or fish?"}},
	} {
		cmd := newCommand(toys(nil))
		if code := cmd.run(strings.Fields(c.line)...); code != exitUsage {
			t.Errorf("%s: exit code %d, want %d", c.line, code, exitUsage)
		}
		for _, want := range c.want {
			if !strings.Contains(cmd.err.String(), want) {
				t.Errorf("%s: %q is not told in\n%s", c.line, want, cmd.err.String())
			}
		}
	}
}

// TestTogether: one error stays as it is, several keep what they wrap, and a usage error makes all of them one.
func TestTogether(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	if err := together(nil, nil); err != nil {
		t.Errorf("nothing is wrong, got %v", err)
	}
	if err := together(nil, a); err != a {
		t.Errorf("got %v, want the one error", err)
	}
	both := together(a, nil, together(usageError{b}, fmt.Errorf("c")))
	if !errors.Is(both, a) || !errors.As(both, new(usageError)) || both.Error() != "3 things are wrong:\n  a\n  b\n  c" {
		t.Errorf("got %v", both)
	}
	if err := together(a, b); errors.As(err, new(usageError)) {
		t.Error("two errors of data make a usage error")
	}
}

// TestVersionFlag: --version tells the version in a line.
func TestVersionFlag(t *testing.T) {
	c := newCommand(toys(nil))
	if code := c.run("--version"); code != exitOK || c.out.String() != "metriclab "+c.app.world.Build.Version+"\n" {
		t.Errorf("exit code %d: %q", code, c.out.String())
	}
}

// TestListNamed: list takes papers and experiments.
func TestListNamed(t *testing.T) {
	c := newCommand(toys(nil))
	if code := c.run("list", "toy/lines"); code != exitOK || !strings.Contains(c.out.String(), "toy/lines:") || strings.Contains(c.out.String(), "toy/digits:") {
		t.Errorf("exit code %d: %s", code, c.out.String())
	}
	all, paper := newCommand(toys(nil)), newCommand(toys(nil))
	if all.run("list") != exitOK || paper.run("list", "toy") != exitOK || all.out.String() != paper.out.String() {
		t.Errorf("the list of the one paper is not the list:\n%s", paper.out.String())
	}
	supplied := toys(nil)
	supplied.Experiments[0].Cells = func(experiment.Scale) []experiment.Cell {
		return []experiment.Cell{{Name: "a"}, {Name: "b", Supplied: true}}
	}
	if c := newCommand(supplied); c.run("list", "toy/lines") != exitOK || !strings.Contains(c.out.String(), "2 cells x 2 trials = 2 jobs") {
		t.Errorf("cells that are supplied are jobs:\n%s", c.out.String())
	}
}

// TestOursApart: list and explain show what is ours below what is the paper's.
func TestOursApart(t *testing.T) {
	p := toys(nil)
	ours := p.Experiments[1]
	ours.ID, ours.Ours, ours.Claims = "toy/ours", true, slices.Clone(ours.Claims)
	ours.Claims[0].ID, ours.Claims[0].Ours = "asked", true
	theirs := &p.Experiments[0]
	theirs.Claims = append(slices.Clone(ours.Claims), theirs.Claims...)
	theirs.Claims[0].ID = "own"
	p.Experiments = append(p.Experiments, ours)
	t.Chdir(t.TempDir()) // without results
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"list", []string{"toy/lines:", "2 claims (1 of ours)", "toy/digits:", "  questions of ours:\n  toy/ours:"}},
		{"list --json", []string{`"ours": false`, `"claims_of_ours": 1`, `"toy/ours"`, `"ours": true`}},
		{"explain toy", []string{"toy/lines: The lines\n", "  lines ", "\n  questions of ours:\n  own ", "toy/ours: ", " (a question of ours)\n", "\n  asked "}},
		{"explain own", []string{"whose ", "a question of ours\n"}},
		{"explain", []string{"paper  claims  not graded\ntoy    2 ", "\n\nQuestions of ours, which the papers do not answer:\npaper ", "toy    2 "}},
	} {
		c := newCommand(p)
		c.run(strings.Fields(tt.args)...)
		rest := c.out.String()
		for _, want := range tt.want {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%s lacks %q, or has it elsewhere:\n%s%s", tt.args, want, c.out.String(), c.err.String())
			}
			rest = after
		}
	}
}

// TestTopics: what several commands have in common is one help away.
func TestTopics(t *testing.T) {
	for _, topic := range topics() {
		c := newCommand(toys(nil))
		if code := c.run("help", topic.Name()); code != exitOK || !strings.HasPrefix(c.out.String(), topic.Long) {
			t.Errorf("help %s: exit code %d:\n%s%s", topic.Name(), code, c.out.String(), c.err.String())
		}
		c = newCommand(toys(nil))
		if c.run("--help"); !strings.Contains(c.out.String(), "help "+topic.Name()) || !strings.Contains(c.out.String(), topic.Short) {
			t.Errorf("help %s is not listed", topic.Name())
		}
	}
}

// Results that another seed cannot be compared with are told before any of its jobs runs.
func TestReseedLooksFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	if code := c.run("run", "lines", "--scale", "full"); code != exitOK {
		t.Fatalf("run: exit code %d\n%s", code, c.err.String())
	}
	if err := os.WriteFile(filepath.Join("results", "seeds.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	c = newCommand(toys(nil))
	if code := c.run("reseed", "lines"); code != exitFailed || !strings.Contains(c.err.String(), "seeds.json cannot be used") {
		t.Errorf("exit code %d\n%s", code, c.err.String())
	}
	if _, err := os.Stat(filepath.Join("out", "seed2")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("jobs of another seed ran: %v", err)
	}
}
