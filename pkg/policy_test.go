// Package pkg_test holds the rules that all packages below pkg/ obey.
package pkg_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forbiddenImports: the first generation of math/rand, and logging.
var forbiddenImports = []string{"math/rand", "log", "log/slog"}

// forbidden lists, per package, the names that a library must not use: the clock,
// the environment, the standard streams, and the end of the process. A trailing *
// stands for any ending.
var forbidden = map[string][]string{
	"time": {"Now", "Since", "Until"},
	"os":   {"Exit", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Stdout", "Stderr", "Stdin"},
	"fmt":  {"Print*", "Scan", "Scanf", "Scanln"},
}

// allowedRand lists what of math/rand/v2 draws nothing from the global source.
var allowedRand = []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "PCG", "ChaCha8", "Zipf", "Source"}

// violations returns the rules that one package's files break, with positions.
func violations(fset *token.FileSet, files []*ast.File) []string {
	var out []string
	say := func(pos token.Pos, format string, args ...any) {
		out = append(out, fmt.Sprintf("%v: %s", fset.Position(pos), fmt.Sprintf(format, args...)))
	}
	// Type-checking tells an import from a variable of the same name. Imports
	// themselves can stay empty, so errors about their content are ignored.
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: emptyImporter{}, Error: func(error) {}}
	conf.Check("p", fset, files, info)
	for _, f := range files {
		for _, im := range f.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			if slices.Contains(forbiddenImports, p) {
				say(im.Pos(), "imports %s", p)
			}
			if im.Name != nil && im.Name.Name == "." {
				say(im.Pos(), "dot-imports %s, which hides where names come from", p)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				id, ok := n.X.(*ast.Ident)
				if !ok {
					return true
				}
				pkg, ok := info.Uses[id].(*types.PkgName)
				if !ok {
					return true
				}
				p, name := pkg.Imported().Path(), n.Sel.Name
				for _, bad := range forbidden[p] {
					if ok, _ := path.Match(bad, name); ok {
						say(n.Pos(), "uses %s.%s", p, name)
					}
				}
				if p == "math/rand/v2" && !slices.Contains(allowedRand, name) {
					say(n.Pos(), "uses %s.%s, the global source of randomness", p, name)
				}
			case *ast.Ident:
				if b, ok := info.Uses[n].(*types.Builtin); ok && strings.HasPrefix(b.Name(), "print") {
					say(n.Pos(), "uses the built-in %s", b.Name())
				}
			}
			return true
		})
	}
	return out
}

// emptyImporter imports every package as an empty one.
type emptyImporter struct{}

func (emptyImporter) Import(p string) (*types.Package, error) {
	name := path.Base(p)
	if dir := path.Dir(p); len(name) > 1 && name[0] == 'v' && name[1] >= '0' && name[1] <= '9' {
		name = path.Base(dir)
	}
	pkg := types.NewPackage(p, name)
	pkg.MarkComplete()
	return pkg, nil
}

func TestPolicy(t *testing.T) {
	fset := token.NewFileSet()
	for _, files := range sources(t, fset) {
		for _, v := range violations(fset, files) {
			t.Error("pkg/" + v)
		}
	}
}

// mayImport lists, for packages whose place in the house is easily lost, which packages of
// this module they may import: those below one of the paths.
var mayImport = map[string][]string{
	"judge":      {}, // a library for anyone who compares methods
	"experiment": {"datasets", "judge", "plots", "random", "table"},
	"model":      {"datasets", "feedback", "judge", "kernels", "learners", "limits", "metric", "persist", "plots", "random", "ranking", "sparse", "tables", "vectors"},
	"tables":     {"datasets", "kernels", "limits", "metric", "sparse"},
	"ranking":    {},
	"vectors":    {"limits"},
}

// notHarness are packages that declare and do not run.
var notHarness = []string{"experiment", "judge", "model", "learners", "papers"}

// TestLayers holds the imports to mayImport, and to notHarness.
func TestLayers(t *testing.T) {
	fset := token.NewFileSet()
	for dir, files := range sources(t, fset) {
		dir = filepath.ToSlash(dir)
		for _, f := range files {
			for _, im := range f.Imports {
				name, _ := strconv.Unquote(im.Path.Value)
				if !inLayer(dir, name) {
					t.Errorf("pkg/%v: %s must not import %s", fset.Position(im.Pos()), dir, name)
				}
			}
		}
	}
}

// inLayer reports whether the package of a folder may import another.
func inLayer(dir, name string) bool {
	top, _, _ := strings.Cut(dir, "/")
	own, ours := strings.CutPrefix(name, "metriclab/pkg/")
	if other, ok := strings.CutPrefix(own, "papers/"); ok && top == "papers" && dir != "papers" { // a paper knows no other
		paper, _, _ := strings.Cut(strings.TrimPrefix(dir, "papers/"), "/")
		return other == paper || strings.HasPrefix(other, paper+"/")
	}
	if own == "experiment/harness" {
		return !slices.Contains(notHarness, top) || strings.HasPrefix(dir, "experiment/")
	}
	allowed, limited := mayImport[dir]
	switch {
	case !limited:
		return true
	case ours:
		return slices.ContainsFunc(allowed, func(path string) bool { return own == path || strings.HasPrefix(own, path+"/") })
	case dir == "judge": // of all else only the standard library, and gonum
		return !strings.HasPrefix(name, "metriclab/") && (!strings.Contains(name, ".") || strings.HasPrefix(name, "gonum.org/"))
	}
	return true
}

// TestLayersSees feeds TestLayers' own rules.
func TestLayersSees(t *testing.T) {
	for _, c := range []struct {
		dir, name string
		want      bool
	}{
		{"judge", "math", true}, {"judge", "gonum.org/v1/gonum/stat", true}, {"judge", "metriclab/pkg/table", false}, {"judge", "metriclab/internal/plural", false}, {"judge", "github.com/a/b", false},
		{"experiment", "metriclab/pkg/judge", true}, {"experiment", "metriclab/pkg/learners/pairs", false}, {"experiment", "metriclab/pkg/experiment/harness", false},
		{"model", "metriclab/pkg/learners/pairs", true}, {"model", "metriclab/pkg/experiment", false}, {"tables", "metriclab/pkg/model", false}, {"papers/pola2004", "metriclab/pkg/experiment/harness", false},
		{"experiment/experimenttest", "metriclab/pkg/experiment/harness", true}, {"plots", "metriclab/pkg/table", true},
		{"papers/pola2004", "metriclab/pkg/papers/pa2013", false}, {"papers/pola2004/news", "metriclab/pkg/papers/pola2004/protocol", true}, {"papers", "metriclab/pkg/papers/pa2013", true},
	} {
		if got := inLayer(c.dir, c.name); got != c.want {
			t.Errorf("%s imports %s: allowed is %v, want %v", c.dir, c.name, got, c.want)
		}
	}
}

// TestReaderFirst: a function that reads from an io.Reader takes it before the name that its
// errors call it by, and before any other text.
func TestReaderFirst(t *testing.T) {
	fset := token.NewFileSet()
	for _, files := range sources(t, fset) {
		for _, f := range files {
			for _, pos := range readersLast(f) {
				t.Errorf("pkg/%v: a reader after a string, want the reader first", fset.Position(pos))
			}
		}
	}
}

// readersLast returns where a function, a method or a type of functions takes a string before
// an io.Reader.
func readersLast(f *ast.File) []token.Pos {
	var out []token.Pos
	ast.Inspect(f, func(n ast.Node) bool {
		fn, ok := n.(*ast.FuncType)
		if !ok {
			return true
		}
		text := false
		for _, p := range fn.Params.List {
			switch name := types.ExprString(p.Type); {
			case name == "string":
				text = true
			case text && (name == "io.Reader" || name == "io.ReaderAt" || name == "*io.SectionReader"):
				out = append(out, p.Pos())
			}
		}
		return true
	})
	return out
}

// TestReaderFirstSees feeds TestReaderFirst's own rule.
func TestReaderFirstSees(t *testing.T) {
	for src, want := range map[string]int{
		"func f(name string, r io.Reader) {}":                      1,
		"func f(a, b string, n int, r io.ReaderAt) {}":             1,
		"type t struct{ read func(string, *io.SectionReader) }":    1,
		"func f(read func(name string, r io.Reader), r io.Reader)": 1,
		"func f(r io.Reader, name string) {}":                      0,
		"func f(name string, w io.Writer) {}":                      0,
		"func f(name string, read func(r io.Reader)) {}":           0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\n"+src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if got := len(readersLast(f)); got != want {
			t.Errorf("%s: %d found, want %d", src, got, want)
		}
	}
}

// TestOwnPanics: a panic text "x: ..." begins with the name of its own package.
func TestOwnPanics(t *testing.T) {
	fset := token.NewFileSet()
	seen := 0
	for _, files := range sources(t, fset) {
		for _, f := range files {
			own, foreign := panicTexts(f)
			seen += own
			for _, l := range foreign {
				t.Errorf("pkg/%v: panics with %s, want %q first", fset.Position(l.Pos()), l.Value, f.Name.Name+": ")
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d panic texts with a package's name: the test does not see them", seen)
	}
}

// panicTexts returns how many texts "x: ..." of panics begin with the name of f's package, and
// those that begin with another. The text is the first literal of panic's argument, or of
// matrix.Given's, which panics with it.
func panicTexts(f *ast.File) (own int, foreign []*ast.BasicLit) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		if name := types.ExprString(call.Fun); name != "panic" && name != "matrix.Given" {
			return true
		}
		lit := firstText(call.Args[0])
		if lit == nil {
			return true
		}
		text, _ := strconv.Unquote(lit.Value)
		switch name, _, ok := strings.Cut(text, ": "); {
		case ok && name == f.Name.Name:
			own++
		case ok && token.IsIdentifier(name):
			foreign = append(foreign, lit)
		}
		return true
	})
	return own, foreign
}

// firstText returns the string literal that the text e begins with, or nil.
func firstText(e ast.Expr) *ast.BasicLit {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return e
		}
	case *ast.BinaryExpr:
		return firstText(e.X)
	case *ast.CallExpr: // fmt.Sprintf, fmt.Errorf, errors.New
		if len(e.Args) > 0 {
			return firstText(e.Args[0])
		}
	}
	return nil
}

// TestOwnPanicsSees feeds TestOwnPanics's own rule.
func TestOwnPanicsSees(t *testing.T) {
	for src, want := range map[string][2]int{
		`panic("p: x is nil")`:                     {1, 0},
		`panic("q: x is nil")`:                     {0, 1},
		`panic("q: x is " + s)`:                    {0, 1},
		`panic(fmt.Sprintf("q: %d rows", n))`:      {0, 1},
		`matrix.Given("q: x", x)`:                  {0, 1},
		`panic("unreachable"); panic(err)`:         {0, 0},
		`panic("no rows, of three: x"); f("q: x")`: {0, 0},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\nfunc f() {"+src+"}", parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if own, foreign := panicTexts(f); own != want[0] || len(foreign) != want[1] {
			t.Errorf("%s: %d own and %d foreign, want %v", src, own, len(foreign), want)
		}
	}
}

// sources parses the files below pkg/ that are no tests, by folder.
func sources(t *testing.T, fset *token.FileSet) map[string][]*ast.File {
	t.Helper()
	dirs := map[string][]*ast.File{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		dirs[filepath.Dir(name)] = append(dirs[filepath.Dir(name)], f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < 5 {
		t.Fatalf("found %d packages: the test does not see pkg/", len(dirs))
	}
	return dirs
}

// TestPolicySees feeds the test's own rules, so that it cannot pass by blindness.
func TestPolicySees(t *testing.T) {
	for _, c := range []struct{ imports, body, want string }{
		{`"math/rand"`, `rand.Int()`, "imports math/rand"},
		{`l "log"`, `l.Print()`, "imports log"},
		{`"log/slog"`, `slog.Info("")`, "imports log/slog"},
		{`"math/rand/v2"`, `rand.IntN(3)`, "uses math/rand/v2.IntN"},
		{`"math/rand/v2"`, `f := rand.Shuffle; _ = f`, "uses math/rand/v2.Shuffle"},
		{`r "math/rand/v2"`, `r.N(3)`, "uses math/rand/v2.N"},
		{`. "math/rand/v2"`, `IntN(3)`, "dot-imports math/rand/v2"},
		{`"time"`, `time.Now()`, "uses time.Now"},
		{`clock "time"`, `_ = clock.Since`, "uses time.Since"},
		{`"os"`, `os.Exit(1)`, "uses os.Exit"},
		{`"os"`, `os.Getenv("")`, "uses os.Getenv"},
		{`"os"; "fmt"`, `fmt.Fprintln(os.Stderr)`, "uses os.Stderr"},
		{`"fmt"`, `fmt.Println()`, "uses fmt.Println"},
		{`"fmt"`, `fmt.Print()`, "uses fmt.Print"},
		{`"fmt"`, `println()`, "uses the built-in println"},
		// Allowed.
		{`"math/rand/v2"`, `r := rand.New(rand.NewPCG(1, 2)); r.IntN(3)`, ""},
		{`"math/rand/v2"`, `f := func(rand *rand.Rand) int { return rand.IntN(3) }; _ = f`, ""},
		{`"fmt"`, `_ = fmt.Sprint(); _ = fmt.Errorf("")`, ""},
		{`"time"`, `var d time.Duration; _ = d`, ""},
		{`"os"`, `os.ReadFile("x")`, ""},
		{`"fmt"`, `println := func() {}; println()`, ""},
	} {
		fset := token.NewFileSet()
		src := fmt.Sprintf("package p\nimport (%s)\nfunc f() { %s }", c.imports, c.body)
		f, err := parser.ParseFile(fset, "p.go", src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		got := strings.Join(violations(fset, []*ast.File{f}), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("import %s; %s: found %q, want %q", c.imports, c.body, got, c.want)
		}
	}
}

// layers are the lines of the drawing in docs/design.md, top first: patterns of packages.
func layers(t *testing.T) [][]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(raw), "```layers\n")
	drawing, _, closed := strings.Cut(after, "```")
	if !ok || !closed {
		t.Fatal("docs/design.md has no block of layers")
	}
	var out [][]string
	for line := range strings.SplitSeq(drawing, "\n") {
		var patterns []string
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "pkg/") || strings.HasPrefix(word, "cmd/") {
				patterns = append(patterns, word)
			}
		}
		if len(patterns) > 0 {
			out = append(out, patterns)
		}
	}
	return out
}

// layerOf is the line in which a package is drawn: by name, else by a pattern. -1 is none.
func layerOf(drawn [][]string, name string) int {
	byPattern := -1
	for i, patterns := range drawn {
		if slices.Contains(patterns, name) {
			return i
		}
		for _, p := range patterns {
			if ok, _ := path.Match(p, name); ok {
				byPattern = i
			}
		}
	}
	return byPattern
}

// upward tells what is wrong with an import of one package by another.
func upward(drawn [][]string, from, to string) string {
	i, j := layerOf(drawn, from), layerOf(drawn, to)
	switch {
	case i < 0:
		return from + " is not drawn"
	case j < 0:
		return to + " is not drawn"
	case j < i:
		return fmt.Sprintf("%s imports %s, which is drawn above it", from, to)
	}
	return ""
}

// TestDrawnLayers holds all packages to the drawing of docs/design.md: no import points upward.
func TestDrawnLayers(t *testing.T) {
	drawn := layers(t)
	fset := token.NewFileSet()
	for dir, files := range sources(t, fset) {
		dir = filepath.ToSlash(dir)
		for _, f := range files {
			for _, im := range f.Imports {
				name, _ := strconv.Unquote(im.Path.Value)
				if own, ok := strings.CutPrefix(name, "metriclab/"); ok && strings.HasPrefix(own, "pkg/") {
					if wrong := upward(drawn, "pkg/"+dir, own); wrong != "" {
						t.Errorf("pkg/%v: %s", fset.Position(im.Pos()), wrong)
					}
				}
			}
		}
	}
}

func TestDrawnLayersSees(t *testing.T) {
	drawn := [][]string{{"pkg/top"}, {"pkg/mid", "pkg/mid/*"}, {"pkg/mid/low"}}
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"pkg/top", "pkg/mid/low", true}, {"pkg/mid/a", "pkg/mid/b", true}, {"pkg/mid/a", "pkg/mid/low", true},
		{"pkg/mid/low", "pkg/mid/a", false}, {"pkg/mid", "pkg/top", false}, {"pkg/mid", "pkg/other", false}, {"pkg/other", "pkg/mid", false},
	} {
		if got := upward(drawn, c.from, c.to); (got == "") != c.ok {
			t.Errorf("%s imports %s: %q", c.from, c.to, got)
		}
	}
}
