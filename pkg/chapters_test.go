package pkg_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// chapter matches the heading under which a package says when to use what.
var chapter = regexp.MustCompile(`(?m)^# (Which|When|Use)`)

// infrastructure are packages below learners that have no algorithm to choose.
var infrastructure = []string{"catalog", "classify", "learnertest", "lines", "triplets/losstest"}

// TestChapters: the documentation of each family of learners tells which of them to use when, and its tests have an example.
func TestChapters(t *testing.T) {
	fset := token.NewFileSet()
	for dir, files := range sources(t, fset) {
		name, ok := strings.CutPrefix(filepath.ToSlash(dir), "learners/")
		if !ok || slices.Contains(infrastructure, name) {
			continue
		}
		said := false
		for _, f := range files {
			said = said || f.Doc != nil && chapter.MatchString(f.Doc.Text())
		}
		if !said {
			t.Errorf("package %s does not say which learner to use when: no heading # Which or # When", name)
		}
		tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		examples := 0
		for _, test := range tests {
			f, err := parser.ParseFile(fset, test, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Example") {
					examples++
				}
			}
		}
		if examples == 0 {
			t.Errorf("package %s has no example", name)
		}
	}
}

// The chapter "How it is built" of a package, for a reader who has many to read.
const (
	builtWords    = 120
	builtSentence = 40 // words of a sentence
)

var (
	built       = regexp.MustCompile(`(?ms)^# How it is built\n(.*?)(?:^# |\z)`)
	listItem    = regexp.MustCompile(`(?m)^ *- `)
	sentenceEnd = regexp.MustCompile(`[.?!](?:\s+|$)`)
)

// builtFaults says what is wrong with the chapter of a package's documentation; found is false if there is none.
func builtFaults(doc string) (faults []string, found bool) {
	m := built.FindStringSubmatch(doc)
	if m == nil {
		return nil, false
	}
	text := strings.TrimSpace(m[1])
	total := 0
	for _, part := range strings.Split(listItem.ReplaceAllString(text, "\n\n"), "\n\n") {
		part = strings.Join(strings.Fields(part), " ")
		if part == "" {
			continue
		}
		total += len(strings.Fields(part))
		if !strings.ContainsAny(part[len(part)-1:], ".?!:") {
			faults = append(faults, fmt.Sprintf("%q does not end as a sentence does", part))
		}
		for _, sentence := range sentenceEnd.Split(part, -1) {
			if n := len(strings.Fields(sentence)); n > builtSentence {
				faults = append(faults, fmt.Sprintf("a sentence of %d words, want at most %d: %s", n, builtSentence, sentence))
			}
		}
	}
	if total > builtWords {
		faults = append(faults, fmt.Sprintf("%d words, want at most %d", total, builtWords))
	}
	return faults, true
}

// TestHowItIsBuilt: the chapter of that name is short, in short sentences, in all packages of the module that have one.
func TestHowItIsBuilt(t *testing.T) {
	n := 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == ".." || slices.Contains([]string{"cmd", "examples", "internal", "pkg"}, strings.Split(filepath.ToSlash(name), "/")[1]) && d.Name() != "testdata" {
				return nil
			}
			return fs.SkipDir
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(data), "# How it is built") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		faults, found := builtFaults(f.Doc.Text())
		if found {
			n++
		}
		for _, fault := range faults {
			t.Errorf("%s: How it is built: %s", name, fault)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 20 {
		t.Errorf("found %d chapters: the test does not see the module", n)
	}
}

// TestHowItIsBuiltSees feeds the test's own rules, so that it cannot pass by blindness.
func TestHowItIsBuiltSees(t *testing.T) {
	long := strings.Repeat("word ", builtSentence)
	for chapter, want := range map[string]int{
		"It is small. It is fast.":                      0,
		"It is small:\n\n  - It is fast.\n  - It is.":   0,
		"It is " + long + ".":                           1,
		"It is small. It is " + long + ".":              1,
		long + ".\n\n  - " + long + ".":                 0,
		long + ". " + long + ". " + long + ". At last.": 1,
		"It is small. No end":                           1,
	} {
		faults, found := builtFaults("Package p is it.\n\n# How it is built\n\n" + chapter + "\n\n# Other\n\n" + strings.Repeat(long, 5))
		if !found || len(faults) != want {
			t.Errorf("%q: found %v, %q, want %d faults", chapter, found, faults, want)
		}
	}
	if _, found := builtFaults("Package p is it.\n"); found {
		t.Error("a chapter where there is none")
	}
}
