package papers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostNames is how many names a room of a paper declares at most.
const mostNames = 250

// TestRooms: in a room of a paper no file uses names of one that uses its own, however
// indirectly, so that its files have an order; and a room has at most mostNames names.
func TestRooms(t *testing.T) {
	rooms, err := filepath.Glob("*/*")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, dir := range rooms {
		if i, err := os.Stat(dir); err != nil || !i.IsDir() || filepath.Base(dir) == "testdata" {
			continue
		}
		seen++
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		code := map[string]string{}
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") {
				data, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				code[filepath.Base(f)] = string(data)
			}
		}
		uses, names, err := usesOf(code)
		if err != nil {
			t.Fatal(err)
		}
		if names > mostNames {
			t.Errorf("%s declares %d names, want at most %d", dir, names, mostNames)
		}
		if circle := circleOf(uses); circle != nil {
			t.Errorf("%s: files use each other in a circle: %s", dir, strings.Join(circle, " -> "))
		}
	}
	if seen < 10 {
		t.Errorf("%d rooms, want at least 10", seen)
	}
}

// usesOf returns for each file of a package the files whose names it uses, and how many names there are.
func usesOf(code map[string]string) (uses map[string][]string, names int, err error) {
	home := map[string]string{}
	parsed := map[string]*ast.File{}
	fset := token.NewFileSet()
	for name, text := range code {
		f, err := parser.ParseFile(fset, name, text, 0)
		if err != nil {
			return nil, 0, err
		}
		parsed[name] = f
		for _, o := range f.Scope.Objects {
			home[o.Name] = name
			names++
		}
	}
	uses = map[string][]string{}
	for name, f := range parsed {
		of := map[string]bool{}
		for _, id := range f.Unresolved {
			if h := home[id.Name]; h != "" && h != name {
				of[h] = true
			}
		}
		uses[name] = slices.Sorted(maps.Keys(of))
	}
	return uses, names, nil
}

// circleOf returns files that use each other in a circle, nil if there are none.
func circleOf(uses map[string][]string) []string {
	const open, done = 1, 2
	state := map[string]int{}
	var path []string
	var visit func(name string) []string
	visit = func(name string) []string {
		switch state[name] {
		case open:
			return append(slices.Clone(path[slices.Index(path, name):]), name)
		case done:
			return nil
		}
		state[name] = open
		path = append(path, name)
		for _, other := range uses[name] {
			if c := visit(other); c != nil {
				return c
			}
		}
		state[name], path = done, path[:len(path)-1]
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if c := visit(name); c != nil {
			return c
		}
	}
	return nil
}

func TestRoomsSees(t *testing.T) {
	code := map[string]string{
		"a.go": "package a\nvar x = y + len(z)\n", "b.go": "package a\nvar y = 1\n", "c.go": "package a\nconst z = \"\"\nfunc f(x int) int { return x }\n",
	}
	if uses, names, err := usesOf(code); err != nil || names != 4 || circleOf(uses) != nil || !slices.Equal(uses["a.go"], []string{"b.go", "c.go"}) {
		t.Errorf("%v, %d names, %v", uses, names, err)
	}
	code["c.go"] += "var w = x\n"
	if uses, _, err := usesOf(code); err != nil || !slices.Equal(circleOf(uses), []string{"a.go", "c.go", "a.go"}) {
		t.Errorf("%v, %v", uses, err)
	}
}
