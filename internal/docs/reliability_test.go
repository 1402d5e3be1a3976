package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	namedTest  = regexp.MustCompile("`([\\w./-]+) ((?:Test|Fuzz)\\w+|test_\\w+)`")
	namedStep  = regexp.MustCompile("`(\\.ci/(?:run|extended)) (\\w+)`")
	namedFile  = regexp.MustCompile("`((?:\\.ci|cmd|docs|examples|internal|notebooks|pkg|python|scripts)/[\\w./-]+)`")
	stepOf     = regexp.MustCompile(`(?m)^step (\w+) `)
	testOf     = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	pythonTest = regexp.MustCompile(`(?m)^    def (test_\w+)\(`)
	fuzzTarget = regexp.MustCompile(`(?m)^func Fuzz\w*\(\w+ \*testing\.F\)`)
	targetsIn  = regexp.MustCompile(`(\d+) fuzz targets|T × targets \((\d+)\)`)
)

// finders are who finds faults, as docs/reliability.md calls them.
var finders = []string{"attack", "review", "users' cases", "fuzzing", "our tests", "own runs", "not noted"}

// names returns what the first group of a pattern finds, sorted.
func names(pattern *regexp.Regexp, text string) (out []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return out
}

// project is what docs/reliability.md may name.
type project struct {
	steps   map[string][]string // of .ci/run and .ci/extended
	tests   map[string][]string // of each folder
	targets int                 // of fuzzing
}

func readProject(t *testing.T) project {
	p := project{map[string][]string{}, map[string][]string{}, 0}
	for _, script := range []string{".ci/run", ".ci/extended"} {
		p.steps[script] = names(stepOf, read(t, filepath.FromSlash(script)))
	}
	p.tests["python"] = names(pythonTest, read(t, "python", "test_pymetriclab.py"))
	root := filepath.Join("..", "..")
	for _, top := range []string{"cmd", "examples", "internal", "notebooks", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			folder, err := filepath.Rel(root, filepath.Dir(path))
			folder = filepath.ToSlash(folder)
			p.tests[folder] = append(p.tests[folder], names(testOf, string(raw))...)
			p.targets += len(fuzzTarget.FindAll(raw, -1))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// cells are those of the rows of all tables whose header begins so.
func cells(text, header string) (rows [][]string) {
	inside := false
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, header):
			inside = true
		case !strings.HasPrefix(line, "|"):
			inside = false
		case inside && !strings.HasPrefix(line, "|-"):
			row := strings.Split(strings.Trim(line, "|"), "|")
			for i := range row {
				row[i] = strings.TrimSpace(row[i])
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// untrue returns what is wrong with the text of docs/reliability.md.
func (p project) untrue(text string) (wrong []string) {
	say := func(format string, a ...any) { wrong = append(wrong, fmt.Sprintf(format, a...)) }
	for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(p.tests[m[1]], m[2]) {
			say("%s has no test %s", m[1], m[2])
		}
	}
	for _, m := range namedStep.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(p.steps[m[1]], m[2]) {
			say("%s has no step %s", m[1], m[2])
		}
	}
	for _, name := range names(namedFile, text) {
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(name))); err != nil {
			say("%v", err)
		}
	}
	seen := map[string][]string{}
	promises, faults := cells(text, "| promise | what attacks it |"), cells(text, "| fault |")
	for _, row := range promises {
		if len(row) != 5 {
			say("promise %q: %d cells, want 5", row[0], len(row))
			continue
		}
		for i, script := range []string{".ci/run", ".ci/extended"} {
			for _, key := range strings.Fields(strings.ReplaceAll(row[2+i], "`", " ")) {
				if seen[script] = append(seen[script], key); !slices.Contains(p.steps[script], key) {
					say("promise %q: %s has no step %s", row[0], script, key)
				}
			}
		}
	}
	for script, keys := range p.steps {
		for _, key := range keys {
			if !slices.Contains(seen[script], key) {
				say("step %s of %s holds no promise", key, script)
			}
		}
	}
	for _, row := range faults {
		switch held := len(row) == 3 && (namedTest.MatchString(row[2]) || namedStep.MatchString(row[2]) || namedFile.MatchString(row[2])); {
		case len(row) != 3:
			say("fault %q: %d cells, want 3", row[0], len(row))
		case !slices.Contains(finders, row[1]):
			say("fault %q: found by %q", row[0], row[1])
		case held == (row[2] == "none"):
			say("fault %q: %q names no test", row[0], row[2])
		case len(strings.Fields(row[0])) > 15:
			say("fault %q has more than 15 words", row[0])
		}
	}
	if len(promises) < 12 || len(faults) < 50 {
		say("%d promises, %d faults", len(promises), len(faults))
	}
	return append(wrong, p.miscounted(text)...)
}

// miscounted tells where a text has another number of fuzz targets.
func (p project) miscounted(text string) (wrong []string) {
	counts := targetsIn.FindAllStringSubmatch(text, -1)
	if len(counts) == 0 {
		return []string{"no number of fuzz targets is told"}
	}
	for _, m := range counts {
		if got := m[1] + m[2]; got != fmt.Sprint(p.targets) {
			wrong = append(wrong, fmt.Sprintf("%s fuzz targets are told of, there are %d", got, p.targets))
		}
	}
	return wrong
}

// TestReliability: the tests, steps and files that docs/reliability.md names are there, and each step of CI stands beside a promise.
func TestReliability(t *testing.T) {
	p := readProject(t)
	for _, wrong := range p.untrue(read(t, "docs", "reliability.md")) {
		t.Errorf("docs/reliability.md: %s", wrong)
	}
	for _, wrong := range p.miscounted(read(t, "CONTRIBUTING.md")) {
		t.Errorf("CONTRIBUTING.md: %s", wrong)
	}
}

// TestReliabilitySees: each untruth is found.
func TestReliabilitySees(t *testing.T) {
	p, page := readProject(t), read(t, "docs", "reliability.md")
	for _, c := range []struct{ old, new, want string }{
		{"TestCase02NearConstant", "TestCase02", "cmd/metriclab has no test TestCase02"},
		{"`cmd/metriclab TestCase02", "`cmd/metric TestCase02", "cmd/metric has no test TestCase02NearConstant"},
		{"FuzzText", "FuzzTexts", "internal/printable has no test FuzzTexts"},
		{"python test_forked", "python test_forks", "python has no test test_forks"},
		{"`.ci/run torture`", "`.ci/run tortures`", ".ci/run has no step tortures"},
		{"| `race` `test` | `race` |", "| `races` `test` | `race` |", ".ci/run has no step races"},
		{"| `race` `test` | `race` |", "| `test` | |", "step race of .ci/extended holds no promise"},
		{"`internal/tools/recompute`", "`internal/tools/compute`", "internal/tools/compute: no such file"},
		{"| users' cases | `cmd/metriclab TestCase02NearConstant` |", "| luck | `cmd/metriclab TestCase02NearConstant` |", `found by "luck"`},
		{"| users' cases | `cmd/metriclab TestCase02NearConstant` |", "| users' cases | |", "names no test"},
		{"63 fuzz targets", "62 fuzz targets", "62 fuzz targets are told of, there are"},
	} {
		changed := strings.Replace(page, c.old, c.new, 1)
		if changed == page {
			t.Errorf("docs/reliability.md lacks %q", c.old)
		}
		if wrong := strings.Join(p.untrue(changed), "\n"); !strings.Contains(wrong, c.want) {
			t.Errorf("%q in the place of %q: found %q, want %q", c.new, c.old, wrong, c.want)
		}
	}
}
