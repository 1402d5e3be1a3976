package pkg_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docLink is a link of a doc comment to a name of a package of this module, given by its path.
var docLink = regexp.MustCompile(`\[(metriclab/pkg/[a-z0-9/]+)(?:\.([A-Za-z0-9_.]+))?\]`)

// TestDocLinks: links to names of this module name something that there is, and every algorithm of package plain has a fast
// learner that links to it.
func TestDocLinks(t *testing.T) {
	fset := token.NewFileSet()
	all := sources(t, fset)
	declared := map[string]bool{}
	for dir, files := range all {
		path := "metriclab/pkg/" + filepath.ToSlash(dir)
		declared[path] = true
		for _, f := range files {
			for _, name := range declarations(f) {
				declared[path+"."+name] = true
			}
		}
	}
	linked := map[string]bool{}
	for dir, files := range all {
		for _, f := range files {
			for _, group := range f.Comments {
				for _, m := range docLink.FindAllStringSubmatch(strings.Join(strings.Fields(group.Text()), " "), -1) {
					name := strings.Trim(m[0], "[]")
					if !declared[name] {
						t.Errorf("pkg/%v: [%s] names nothing", fset.Position(group.Pos()), name)
					}
					if filepath.ToSlash(dir) != "learners/plain" {
						linked[name] = true
					}
				}
			}
		}
	}
	const plain = "metriclab/pkg/learners/plain."
	algorithms := []string{"BatchPOLA", "BatchPOLAPasses", "ERKLE", "IPLR", "ITML", "KernelPOLA", "LEGO", "LeastSquaresRate", "LogDet", "MMC", "NCA", "OASIS", "PA", "POLA", "RCA", "RMP", "SSIKDR"}
	for _, name := range algorithms {
		if !linked[plain+name] {
			t.Errorf("no learner's documentation links to plain.%s", name)
		}
	}
	// What else package plain declares are parts of these.
	parts := []string{"Bounds", "ChunkletCovariance", "Constraint", "HardRate", "LinearRate", "LogDetResult", "NCAObjective", "NewERKLE", "NewKernelPOLA", "NewLEGO", "NewLogDet", "NewOASIS", "NewPA", "NewPOLA", "NewRMP", "PassiveAggressive", "Rate", "SquaredRate"}
	for name := range declared {
		if own, ok := strings.CutPrefix(name, plain); ok && !strings.Contains(own, ".") && !slices.Contains(algorithms, own) && !slices.Contains(parts, own) {
			t.Errorf("plain.%s is neither an algorithm with a link nor a part of one", own)
		}
	}
}

// declarations returns the exported names of a file, of methods with their type's name and a dot before them.
func declarations(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				of := d.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if g, ok := of.(*ast.IndexExpr); ok {
					of = g.X
				}
				if id, ok := of.(*ast.Ident); ok {
					name = id.Name + "." + name
				}
			}
			names = append(names, name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(n string) bool { return !ast.IsExported(n) })
}
