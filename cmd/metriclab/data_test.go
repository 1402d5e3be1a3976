package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"metriclab/pkg/datasets"
	"metriclab/pkg/papers"
)

// Data that are not public: get says what to supply where, and what has been supplied is
// usable, though nothing can check it.
func TestDataToBeSupplied(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	expect := func(code int, want string, args ...string) {
		t.Helper()
		if got := c.run(args...); got != code || !regexp.MustCompile(`(?m)^`+want).MatchString(c.out.String()+c.err.String()) {
			t.Errorf("%q: exit code %d, want %d, and %q in\n%s%s", args, got, code, want, c.out.String(), c.err.String())
		}
	}
	expect(0, `clarify +missing +\? +traces of four programs; not public, to be supplied: `, "data", "list")
	files := []string{"latex", "mpg321", "foxpro", "iptables"}
	for _, name := range files {
		file := "clarify/" + name + ".csv"
		expect(exitFailed, `(metriclab: )?datasets: `+file+`: no copy is known; supply `+regexp.QuoteMeta(filepath.Join("data", "clarify", name+".csv"))+`: a CSV table with a head of names and a row per run`, "data", "get", "clarify")
		expect(exitFailed, file+": missing\n", "data", "verify", "clarify")
	}
	expect(exitFailed, `.*get them with: metriclab data get clarify\n`, "data", "verify", "clarify")
	if err := os.WriteFile(filepath.Join("data", "clarify", files[3]+".csv"), []byte("f,class\n1,a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect(exitFailed, `clarify/latex.csv: missing\n`, "data", "verify", "clarify")
	for _, name := range files {
		if err := os.WriteFile(filepath.Join("data", "clarify", name+".csv"), []byte("f,class\n1,a\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect(0, `clarify is complete in data, not verified: no checksum is known\n`, "data", "get", "clarify")
	expect(0, `clarify/foxpro.csv: not verified: no checksum is known\n`, "data", "verify", "clarify")
	expect(0, `clarify +present `, "data", "list")

	if code := c.run("data", "verify", "clarify", "--json"); code != 0 {
		t.Fatal(c.err.String())
	}
	var list []listedData
	if err := json.Unmarshal(c.out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || !list[0].Usable || list[0].Needed || len(list[0].Files) != 4 || list[0].Files[0].SHA256 != "" {
		t.Errorf("JSON: %+v", list)
	}
}

// A file is compared with the registry's wherever it lies, and what a user supplied must be a table.
func TestDataVerifyAs(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	page := []byte("<html><body>Not found, sorry</body></html>\n")
	table := []byte("f,g,class\n1,2,a\n3,,b\n")
	for name, data := range map[string][]byte{"page": page, "table": table} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		code int
		out  string
		err  string
		args []string
	}{
		{exitFailed, "nist16/nist16.mat: wrong kind: begins with \"<html><body>Not found, s\" (43 bytes in all), want a MATLAB 5 MAT-file of PRTools, which begins with \"MATLAB 5.0 MAT-file\"\n", "page is not nist16/nist16.mat", []string{"nist16/nist16.mat", "page"}},
		{exitFailed, "uci/wine.data: wrong size\n", "page is not uci/wine.data", []string{"uci/wine.data", "page"}},
		{exitFailed, "clarify/latex.csv: wrong data: ", "page is not clarify/latex.csv", []string{"clarify/latex.csv", "page"}},
		{0, "clarify/latex.csv: not verified: no checksum is known\n", "", []string{"clarify/latex.csv", "table"}},
		{exitFailed, "", "not the path of a file in the registry", []string{"nist16.mat", "page"}},
		{exitFailed, "", " nowhere: ", []string{"uci/wine.data", "nowhere"}},
		{exitUsage, "", "--as: 0 files, want one", []string{"uci/wine.data"}},
		{exitUsage, "", "--as: 2 files, want one", []string{"uci/wine.data", "page", "table"}},
	} {
		if code := c.run(append([]string{"data", "verify", "--as"}, tc.args...)...); code != tc.code || !strings.HasPrefix(c.out.String(), tc.out) || !strings.Contains(c.err.String(), tc.err) {
			t.Errorf("%q: exit code %d, want %d\n%s%s", tc.args, code, tc.code, c.out.String(), c.err.String())
		}
	}

	// A user's own file that is no table is named, and never replaced.
	mirror := filepath.Join(t.TempDir(), "clarify")
	for _, dir := range []string{mirror, filepath.Join("data", "clarify")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"latex", "mpg321", "foxpro", "iptables"} {
			data := table
			if name == "latex" && dir != mirror {
				data = page
			}
			if err := os.WriteFile(filepath.Join(dir, name+".csv"), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if code := c.run("data", "get", "clarify", "--mirror", filepath.Dir(mirror)); code != exitFailed || !strings.Contains(filepath.ToSlash(c.err.String()), "clarify/latex.csv: wrong data: ") || strings.Contains(c.out.String(), "complete") {
		t.Errorf("exit code %d\n%s%s", code, c.out.String(), c.err.String())
	}
	if got, err := os.ReadFile(filepath.Join("data", "clarify", "latex.csv")); err != nil || string(got) != string(page) {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

// No experiment needs data that only their names fetch: get without names would fail.
func TestNoNamedDataAreNeeded(t *testing.T) {
	needed := newApp(papers.All).needed()
	if len(needed) == 0 {
		t.Error("nothing is needed")
	}
	for _, name := range needed {
		if e, err := datasets.Lookup(name); err != nil || e.Named {
			t.Errorf("%s is needed; named %v, %v", name, e.Named, err)
		}
	}
}

// The command that the registry gives for the Clarify data works with every learner that stands
// there, on made-up counts.
func TestClarifyCommands(t *testing.T) {
	registry, err := os.ReadFile(filepath.Join("..", "..", "pkg", "datasets", "registry.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var line string
	var comment strings.Builder
	for s := bufio.NewScanner(strings.NewReader(string(registry))); s.Scan(); {
		if text, ok := strings.CutPrefix(s.Text(), "#"); ok {
			fmt.Fprintln(&comment, text)
			if strings.Contains(text, "metriclab evaluate ") {
				line = strings.TrimSpace(text)
			}
		}
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("data", "clarify"), 0o755); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("open,read,close,class\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		fmt.Fprintf(&table, "%d,%d,%d,%c\n", rng.IntN(9)+i%3, rng.IntN(20), rng.IntN(5), 'a'+i%3)
	}
	if err := os.WriteFile(filepath.Join("data", "clarify", "latex.csv"), []byte(table.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	c := newCommand(toys(nil))
	for _, learner := range []string{"itml-tuned", "lmnn", "mcml", "invcov", "euclidean", "itml-labels"} {
		if !strings.Contains(comment.String(), learner) {
			t.Errorf("the registry does not name %s", learner)
		}
		words := strings.Fields(strings.Replace(line, "LEARNER", learner, 1))
		if learner == "itml-labels" {
			for _, param := range []string{"start=invcov", "gamma=NUMBER"} {
				if !strings.Contains(comment.String(), "--param "+param) {
					t.Errorf("the registry does not say --param %s", param)
				}
				words = append(words, "--param", strings.Replace(param, "NUMBER", "1", 1))
			}
		}
		if len(words) < 2 {
			t.Fatal("the registry has no line with metriclab evaluate")
		}
		if code := c.run(append(words[1:], "--repeats", "2")...); code != 0 || !strings.Contains(c.out.String(), "error") {
			t.Errorf("%q: exit code %d\n%s%s", words, code, c.out.String(), c.err.String())
		}
	}
}
