package examples

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	// What the programs import, so that go test runs them again when it changes.
	_ "metriclab/pkg/datasets/sample"
	_ "metriclab/pkg/datasets/synthetic"
	_ "metriclab/pkg/experiment"
	_ "metriclab/pkg/experiment/frame"
	_ "metriclab/pkg/experiment/harness"
	_ "metriclab/pkg/experiment/host"
	_ "metriclab/pkg/feedback"
	_ "metriclab/pkg/judge"
	_ "metriclab/pkg/learners"
	_ "metriclab/pkg/learners/mapping"
	_ "metriclab/pkg/learners/pairs"
	_ "metriclab/pkg/learners/triplets"
	_ "metriclab/pkg/metric"
	_ "metriclab/pkg/model"
	_ "metriclab/pkg/persist"
	_ "metriclab/pkg/plots"
	_ "metriclab/pkg/random"
	_ "metriclab/pkg/samesite"
	_ "metriclab/pkg/table"
	_ "metriclab/pkg/tables"
	_ "metriclab/pkg/vectors"
)

var update = flag.Bool("update", false, "rewrite golden files")

// bin is the folder of the programs.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

// outside copies the programs to a module of its own in dir, which requires this one: that of a reader who begins with one.
func outside(dir string) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	module, rest, _ := strings.Cut(strings.TrimPrefix(string(mod), "module "), "\n") // rest begins with the version of Go
	files := map[string][]byte{
		"go.mod": fmt.Appendf(nil, "module outside\n%s\nrequire %s v0.0.0\n\nreplace %[2]s => %s\n", rest, module, strconv.Quote(root)),
		"go.sum": sums,
	}
	programs, err := filepath.Glob("*/main.go")
	if err != nil {
		return err
	}
	for _, path := range programs {
		if files[path], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	for path, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, path), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// run builds the programs once, for all tests: linking is most of the time. They are built from outside of the tree, and
// -mod=mod writes what else is required, of which nothing is fetched.
func run(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "examples"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	from, err := os.MkdirTemp("", "outside")
	if err == nil {
		defer os.RemoveAll(from)
		err = outside(from)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	build := exec.Command("go", "build", "-mod=mod", "-o", bin+string(filepath.Separator), "./...")
	build.Dir, build.Env = from, append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// program returns the path of a built program.
func program(name string) string {
	path, err := exec.LookPath(filepath.Join(bin, name)) // finds .exe, too
	if err != nil {
		return name
	}
	return path
}

// folders lists the programs.
func folders(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// imports returns the packages that a file imports.
func imports(f *ast.File) []string {
	var paths []string
	for _, im := range f.Imports {
		path, _ := strconv.Unquote(im.Path.Value)
		paths = append(paths, path)
	}
	return paths
}

// limit is the number of lines that a program stays below.
const limit = 100

// A program is one page of less than limit lines, its test aside, says how it is run, and imports nothing that a
// module of its own could not import.
func TestOnePage(t *testing.T) {
	fset := token.NewFileSet()
	own, err := parser.ParseFile(fset, "examples_test.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range folders(t) {
		files, err := filepath.Glob(filepath.Join(name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(files, filepath.Join(name, "main.go")) {
			t.Errorf("%s has no main.go", name)
		}
		lines := 0
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "_test.go") {
				lines += bytes.Count(raw, []byte("\n"))
			}
			f, err := parser.ParseFile(fset, file, raw, parser.ImportsOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range imports(f) {
				if strings.Contains("/"+path+"/", "/internal/") {
					t.Errorf("%s imports %s", file, path)
				}
				if ours := strings.HasPrefix(path, "metriclab/"); ours && !strings.HasSuffix(file, "_test.go") && !slices.Contains(imports(own), path) {
					t.Errorf("%s imports %s, examples_test.go does not", file, path)
				}
			}
			if filepath.Base(file) == "main.go" && !strings.Contains(f.Doc.Text(), "go run ./examples/"+name) {
				t.Errorf("%s does not begin with how it is run", file)
			}
		}
		if lines >= limit {
			t.Errorf("%s has %d lines, want fewer than %d", name, lines, limit)
		}
	}
}

// writes are the files that programs leave in their working folder.
var writes = map[string]string{"map": "out/map.png", "spec": "out/clouds/mine/clouds/claims.json"}

func TestOutput(t *testing.T) {
	for _, name := range folders(t) {
		if name == "service" { // ends by an interrupt only: see TestService
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), program(name))
			cmd.Dir = t.TempDir()
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			golden := filepath.Join(name, "output.txt")
			if *update {
				if err := os.WriteFile(golden, out, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(out); got != strings.ReplaceAll(string(want), "\r\n", "\n") {
				t.Errorf("it prints\n%s\n%s has\n%s", got, golden, want)
			}
			if file, ok := writes[name]; ok {
				if _, err := os.Stat(filepath.Join(cmd.Dir, filepath.FromSlash(file))); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
