package pkg_test

import (
	"go/ast"
	"go/parser"
	"go/token"
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
