package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/persist"
)

// saved is what the packages that save say of their files: kinds, and names of fields by kind's package.
type saved struct {
	kinds  []string
	fields map[string][]string // by folder below pkg
}

// savedState reads the constants that name kinds, and the tags of fields, in all packages that write files.
func savedState(t *testing.T) saved {
	t.Helper()
	out := saved{fields: map[string][]string{}}
	packages := map[string][]*ast.File{}
	root := filepath.Join("..", "..", "pkg")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, files := range packages {
		var kinds, fields []string
		for _, f := range files {
			before := len(kinds)
			ast.Inspect(f, func(n ast.Node) bool {
				if v, ok := n.(*ast.ValueSpec); ok {
					for i, name := range v.Names {
						if i < len(v.Values) && strings.HasSuffix(name.Name, "Kind") && ast.IsExported(name.Name) {
							if lit, ok := v.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
								kind, _ := strconv.Unquote(lit.Value)
								kinds = append(kinds, kind)
							}
						}
					}
				}
				return true
			})
			// Parameters are beside their kind, states may be in another file.
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.TypeSpec); ok && (len(kinds) > before || savedType.MatchString(s.Name.Name)) {
					fields = append(fields, tags(s)...)
				}
				return true
			})
		}
		// Others have kinds of other things.
		if slices.ContainsFunc(files, func(f *ast.File) bool {
			return slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"metriclab/pkg/persist"` })
		}) && len(kinds) > 0 {
			out.kinds = append(out.kinds, kinds...)
			out.fields[filepath.ToSlash(dir)] = fields
		}
	}
	slices.Sort(out.kinds)
	return out
}

// savedType matches the names of types that files hold, wherever they stand.
var savedType = regexp.MustCompile(`(S|^s)tate$|^(Layout|Recipe|Spec|projection)$`)

// notSaved are fields of parameters of fits that stand beside a kind, and that no file has.
var notSaved = []string{"k"}

// tags returns the names as JSON of the fields of a type.
func tags(s *ast.TypeSpec) (names []string) {
	ast.Inspect(s, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && f.Tag != nil {
			tag, _ := strconv.Unquote(f.Tag.Value)
			if name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name != "" && name != "-" {
				names = append(names, name)
			}
		}
		return true
	})
	return names
}

// TestFormat holds docs/format.md to the code: the version, the kinds, and the names of all fields.
func TestFormat(t *testing.T) {
	text := read(t, "docs", "format.md")
	if want := fmt.Sprintf("Format version: %d.", persist.Version); !strings.Contains(text, want) {
		t.Errorf("docs/format.md does not say %q", want)
	}
	state := savedState(t)
	_, table, _ := strings.Cut(text, "\n## Kinds\n")
	table, _, _ = strings.Cut(table, "\n### ")
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z/-]+)` \\| (\\d+)[,| ]").FindAllStringSubmatch(table, -1) {
		listed = append(listed, m[1])
		if m[2] != strconv.Itoa(persist.Version) {
			t.Errorf("docs/format.md: %s has version %s, the code %d", m[1], m[2], persist.Version)
		}
	}
	slices.Sort(listed)
	if !slices.Equal(listed, state.kinds) {
		t.Errorf("docs/format.md lists the kinds\n%q\nthe code has\n%q", listed, state.kinds)
	}
	headings := strings.Join(regexp.MustCompile(`(?m)^### .*$`).FindAllString(text, -1), "\n") + "\n"
	for _, kind := range state.kinds {
		if !regexp.MustCompile(`[ ,]` + regexp.QuoteMeta(kind) + `[,\n]`).MatchString(headings) {
			t.Errorf("docs/format.md has no section on %s", kind)
		}
	}
	for _, e := range catalog.All() {
		if e.Kind != "" && !slices.Contains(listed, e.Kind) {
			t.Errorf("docs/format.md: %s of learner %s is missing", e.Kind, e.Name)
		}
	}
	fields := 0
	for _, dir := range slices.Sorted(maps.Keys(state.fields)) {
		fields += len(state.fields[dir])
		for _, name := range state.fields[dir] {
			if !strings.Contains(text, "`"+name+"`") && !slices.Contains(notSaved, name) {
				t.Errorf("docs/format.md does not have the field %s of a struct in %s", name, dir)
			}
		}
	}
	if fields < 150 { // of 188 when this was written
		t.Errorf("found %d fields only", fields)
	}
	python := read(t, "python", "pymetriclab", "_files.py") + read(t, "python", "pymetriclab", "_models.py")
	for _, want := range []string{fmt.Sprintf("FORMAT_VERSION = %d ", persist.Version), "TIE = 1e-12 "} {
		if !strings.Contains(python, want) {
			t.Errorf("python/pymetriclab does not have %q", want)
		}
	}
}
