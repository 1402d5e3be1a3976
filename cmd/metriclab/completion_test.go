package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// completed asks the command what may follow, as the shells' scripts do. The
// last line, which the scripts read, is the directive.
func completed(t *testing.T, root *cobra.Command, out *bytes.Buffer, args ...string) (words []string, directive string) {
	t.Helper()
	out.Reset()
	root.SetArgs(append([]string{cobra.ShellCompNoDescRequestCmd}, args...))
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

func TestCompletion(t *testing.T) {
	const none, folders, noSpace = ":4", ":16", ":6" // no files; folders only; no files, and the word goes on
	all := []string{"toy", "toy/lines", "toy/digits"}
	tests := []struct {
		line string // the last word is the one to complete
		want []string
		end  string
	}{
		{"run ", all, none},
		{"run toy/l", []string{"toy/lines"}, none},
		{"run toy/lines ", []string{"toy", "toy/digits"}, none},
		{"status toy/d", []string{"toy/digits"}, none},
		{"report x", nil, none},
		{"run --cell ", []string{"a", "b c", "0-8"}, none},
		{"run lines --cell ", []string{"a", "b c"}, none},
		{"run toy/digits --scale full --cell ", []string{"0-8"}, none},
		{"run --cell a --cell b", []string{"b c"}, none},
		{"run --scale medium --cell ", nil, none},
		{"merge --experiment digits --cell ", []string{"0-8"}, none},
		{"merge DIR --cell ", []string{"a", "b c", "0-8"}, none},
		{"merge --experiment toy/l", []string{"toy/lines"}, none},
		{"merge ", nil, folders},
		{"run --results ", nil, folders},
		{"data get --data ", nil, folders},
		{"run --scale ", []string{"smoke", "full"}, none},
		{"list --scale f", []string{"full"}, none},
		{"list ", []string{"toy", "toy/lines", "toy/digits"}, none},
		{"learners kernel-p", []string{"kernel-pola", "kernel-pca"}, none},
		{"fit x.csv --learner itml --param sl", []string{"slack="}, noSpace},
		{"fit x.csv --learner itml --param slack=", []string{"slack=soft", "slack=hard"}, none},
		{"fit x.csv --learner itml --param=slack=h", []string{"slack=hard"}, none},
		{"fit --vectors x.npy --triplets t.csv --learner itml --param m", []string{"margin=", "max-cycles="}, noSpace},
		{"fit x.csv --param ", nil, none},
		{"compare x.csv --param lm", []string{"lmnn:"}, noSpace},
		{"compare x.csv --param itml:sl", []string{"itml:slack="}, noSpace},
		{"compare x.csv --param itml:slack=s", []string{"itml:slack=soft"}, none},
		{"learn --learner pa --param rule=pa", []string{"rule=pa", "rule=pa1", "rule=pa2", "rule=pals"}, none},
		{"data get mn", []string{"mnist"}, none},
		{"data verify wi", []string{"wine"}, none},
		{"completion ", []string{"bash", "zsh", "fish", "powershell"}, none},
		{"version ", nil, none},
		{"data list ", nil, none},
	}
	for _, tt := range tests {
		c := newCommand(toys(nil))
		args := strings.Split(tt.line, " ")
		words, end := completed(t, c.app.root(), &c.out, args...)
		if !slices.Equal(words, tt.want) && len(words)+len(tt.want) > 0 || end != tt.end {
			t.Errorf("%q: got %q %s, want %q %s", tt.line, words, end, tt.want, tt.end)
		}
	}
}

// TestCompletionScripts prints a script per shell; those of shells that are here
// parse.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		c := newCommand(toys(nil))
		if code := c.run("completion", shell); code != exitOK || !strings.Contains(c.out.String(), "metriclab") || c.err.Len() > 0 {
			t.Errorf("%s: exit code %d, %s", shell, code, c.err.String())
		}
		path, err := exec.LookPath(shell)
		if err != nil || shell == "powershell" {
			continue
		}
		check := exec.Command(path, "-n")
		check.Stdin = &c.out
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s -n: %v\n%s", shell, err, out)
		}
	}
}
