package pkg_test

import (
	"flag"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/api.txt")

// api returns a line for each exported name of packages, given by folder: what a program that uses it relies on. Values of
// constants, names of arguments and unexported fields are no part of that.
func api(dirs map[string][]*ast.File) (lines []string) {
	for dir, files := range dirs {
		say := func(words ...string) { lines = append(lines, filepath.ToSlash(dir)+": "+strings.Join(words, "")) }
		for _, f := range files {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if !d.Name.IsExported() {
						continue
					}
					if d.Recv == nil {
						say("func ", d.Name.Name, signature(d.Type))
					} else if of := types.ExprString(d.Recv.List[0].Type); ast.IsExported(strings.TrimPrefix(of, "*")) {
						say("func (", of, ") ", d.Name.Name, signature(d.Type))
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.ValueSpec:
							typ := ""
							if s.Type != nil {
								typ = " " + types.ExprString(s.Type)
							}
							for _, name := range s.Names {
								if name.IsExported() {
									say(d.Tok.String(), " ", name.Name, typ)
								}
							}
						case *ast.TypeSpec:
							if s.Name.IsExported() {
								typeOf(s, say)
							}
						}
					}
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines) // a file of each system may have a name
}

// typeOf says what a type is, and of a struct or interface a line for each of its exported members.
func typeOf(s *ast.TypeSpec, say func(...string)) {
	head := "type " + s.Name.Name
	if s.TypeParams != nil {
		head += "[" + strings.Join(list(s.TypeParams, true), ", ") + "]"
	}
	if s.Assign.IsValid() {
		head += " ="
	}
	members := func(kind string, fields *ast.FieldList) {
		say(head, " ", kind)
		for _, f := range fields.List {
			typ := types.ExprString(f.Type)
			if fun, ok := f.Type.(*ast.FuncType); ok && kind == "interface" {
				typ = signature(fun)
			}
			if len(f.Names) == 0 {
				say(head, " ", kind, ", ", typ)
			}
			for _, name := range f.Names {
				if name.IsExported() || kind == "interface" {
					say(head, " ", kind, ", ", name.Name, " ", typ)
				}
			}
		}
	}
	switch t := s.Type.(type) {
	case *ast.StructType:
		members("struct", t.Fields)
	case *ast.InterfaceType:
		members("interface", t.Methods)
	default:
		say(head, " ", types.ExprString(t))
	}
}

// signature is that of a function without the names of what it takes and returns.
func signature(f *ast.FuncType) string {
	out := "(" + strings.Join(list(f.Params, false), ", ") + ")"
	if f.TypeParams != nil {
		out = "[" + strings.Join(list(f.TypeParams, true), ", ") + "]" + out
	}
	switch results := list(f.Results, false); len(results) {
	case 0:
		return out
	case 1:
		return out + " " + results[0]
	default:
		return out + " (" + strings.Join(results, ", ") + ")"
	}
}

func list(fields *ast.FieldList, names bool) (out []string) {
	if fields == nil {
		return nil
	}
	for _, f := range fields.List {
		typ := types.ExprString(f.Type)
		for _, name := range f.Names {
			if names {
				out = append(out, name.Name+" "+typ)
			} else {
				out = append(out, typ)
			}
		}
		if len(f.Names) == 0 {
			out = append(out, typ)
		}
	}
	return out
}

// TestAPI holds the exported names of the packages to testdata/api.txt, which says what a version promises: who removes or
// changes one changes that file with it, by -update. The papers' packages promise nothing.
func TestAPI(t *testing.T) {
	dirs := sources(t, token.NewFileSet())
	for dir := range dirs {
		if strings.HasPrefix(filepath.ToSlash(dir), "papers") {
			delete(dirs, dir)
		}
	}
	lines := api(dirs)
	if len(lines) < 1500 {
		t.Fatalf("%d exported names only", len(lines))
	}
	path, text := filepath.Join("testdata", "api.txt"), strings.Join(lines, "\n")+"\n"
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	for _, line := range before {
		if !slices.Contains(lines, line) {
			t.Errorf("gone or changed: %s", line)
		}
	}
	for _, line := range lines {
		if !slices.Contains(before, line) {
			t.Errorf("new: %s", line)
		}
	}
	if t.Failed() {
		t.Log("go test ./pkg -run TestAPI -update rewrites pkg/testdata/api.txt; a line that goes is a line of CHANGELOG.md, under what breaks")
	}
}
