package pkg_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The grammar of exported signatures, which the documentation of package learners tells.

// writers are the functions that write to a matrix they are given.
var writers = []string{"datasets.Scaler.ApplyInPlace", "metric.Orthonormalise", "spectral.EigenSym.VectorsTo"}

// closedForms are the fits that return a model in closed form, or none, and so have no
// learners.Result to tell.
var closedForms = []string{"labels.FitFDA", "labels.FitLSA", "labels.FitPCA", "linear.FitRidge"}

// terms are the types whose constants are words of the field, or plain with the name of their
// package before them.
var terms = []string{
	"catalog.Feedback", "catalog.Form", "catalog.Type", "classify.Label", "datasets.Preprocessing", "experiment.Scale", "judge.Side", "judge.Verdict",
	"learners.Status", "linear.SVMLoss", "metric.Label", "pairs.PARule", "secular.Verdict", "spectral.Status", "synthetic.Pattern", "triplets.Loss",
}

// grammar returns what is wrong with the exported signatures of packages, given by folder.
func grammar(fset *token.FileSet, dirs map[string][]*ast.File) []string {
	var out []string
	for dir, files := range dirs {
		g := &speech{fset: fset, pkg: filepath.Base(dir), types: map[string]ast.Expr{}, fits: strings.HasPrefix(filepath.ToSlash(dir), "learners/")}
		for _, f := range files {
			for _, d := range f.Decls {
				if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.TYPE {
					for _, s := range gen.Specs {
						s := s.(*ast.TypeSpec)
						g.types[s.Name.Name] = s.Type
					}
				}
			}
		}
		for _, f := range files {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					g.function(d)
				case *ast.GenDecl:
					g.constants(d)
				}
			}
		}
		out = append(out, g.wrong...)
	}
	slices.Sort(out)
	return out
}

// speech is one package.
type speech struct {
	fset  *token.FileSet
	pkg   string
	types map[string]ast.Expr
	fits  bool // functions FitX of it are batch fits
	wrong []string
}

func (g *speech) say(pos token.Pos, name, format string, args ...any) {
	g.wrong = append(g.wrong, fmt.Sprintf("%v: %s.%s: %s", g.fset.Position(pos), g.pkg, name, fmt.Sprintf(format, args...)))
}

var (
	parameters = regexp.MustCompile(`(Params|Options)$`)
	matrices   = regexp.MustCompile(`^\*mat\.(Dense|SymDense|VecDense)$`)
	generators = []string{"*rand.Rand", "*rand.PCG"}
)

// function checks an exported function or method.
func (g *speech) function(d *ast.FuncDecl) {
	name := d.Name.Name
	if !d.Name.IsExported() {
		return
	}
	if d.Recv != nil {
		recv := strings.TrimLeft(types.ExprString(d.Recv.List[0].Type), "*")
		if !ast.IsExported(recv) {
			return
		}
		name = recv + "." + name
	}
	var params []string
	for _, p := range d.Type.Params.List {
		for range max(1, len(p.Names)) {
			params = append(params, types.ExprString(p.Type))
		}
	}
	begin := 0 // where data may begin
	for i, p := range params {
		switch {
		case p == "context.Context":
			if i != 0 {
				g.say(d.Pos(), name, "the context is parameter %d, want it first", i+1)
			}
			begin = 1
		case slices.Contains(generators, p):
			if i != begin {
				g.say(d.Pos(), name, "the source of random numbers is parameter %d, want it before the data, after the context", i+1)
			}
		case parameters.MatchString(p) && i != len(params)-1 && !strings.HasPrefix(params[len(params)-1], "..."):
			g.say(d.Pos(), name, "%s is parameter %d of %d, want it last", p, i+1, len(params))
		case matrices.MatchString(p) && !slices.Contains(writers, g.pkg+"."+name):
			g.say(d.Pos(), name, "takes a %s, want mat.Matrix, mat.Symmetric or mat.Vector for what is only read", p)
		}
	}
	switch {
	case d.Recv != nil:
	case g.fits && strings.HasPrefix(name, "Fit"):
		g.fit(d, params)
	case strings.HasPrefix(name, "Load") && len(params) == 1 && params[0] != "io.Reader":
		g.say(d.Pos(), name, "loads from a %s, want io.Reader", params[0])
	}
}

// fit checks a batch fit.
func (g *speech) fit(d *ast.FuncDecl, params []string) {
	name := d.Name.Name
	if len(params) == 0 || params[0] != "context.Context" {
		g.say(d.Pos(), name, "a fit takes a context")
	}
	if r := d.Type.Results; r == nil || len(r.List) != 2 || types.ExprString(r.List[1].Type) != "error" {
		g.say(d.Pos(), name, "a fit returns its answer and an error")
	} else if !slices.Contains(closedForms, g.pkg+"."+name) && !g.tells(r.List[0].Type) {
		g.say(d.Pos(), name, "returns %s, which has no learners.Result inside", types.ExprString(r.List[0].Type))
	}
}

// tells reports whether a type is a learners.Result, or a struct with one inside.
func (g *speech) tells(t ast.Expr) bool {
	switch name := strings.TrimLeft(types.ExprString(t), "*"); {
	case name == "learners.Result" || name == "learners.MetricResult":
		return true
	default:
		s, ok := g.types[name].(*ast.StructType)
		return ok && slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return len(f.Names) == 0 && g.tells(f.Type) })
	}
}

var words = regexp.MustCompile(`[A-Z]+[a-z]*`)

// constants checks that the constants of an exported type that count from iota say what they
// are of: they share a word with its name.
func (g *speech) constants(d *ast.GenDecl) {
	if d.Tok != token.CONST || len(d.Specs) == 0 {
		return
	}
	first := d.Specs[0].(*ast.ValueSpec)
	if first.Type == nil || len(first.Values) != 1 || !strings.Contains(types.ExprString(first.Values[0]), "iota") {
		return
	}
	t := types.ExprString(first.Type)
	if !ast.IsExported(t) || slices.Contains(terms, g.pkg+"."+t) {
		return
	}
	of := words.FindAllString(t, -1)
	for _, s := range d.Specs {
		for _, id := range s.(*ast.ValueSpec).Names {
			if id.IsExported() && !slices.ContainsFunc(of, func(w string) bool { return alike(w, id.Name) }) {
				g.say(id.Pos(), id.Name, "a bare name for a %s, want one that says so", t)
			}
		}
	}
}

// alike reports whether a name begins with a word, or one of its stem: Project is of Projection.
func alike(word, name string) bool {
	stem := word[:min(len(word), max(3, len(word)-3))]
	return strings.HasPrefix(name, stem)
}

func TestGrammar(t *testing.T) {
	fset := token.NewFileSet()
	dirs := sources(t, fset)
	for dir := range dirs {
		if slash := filepath.ToSlash(dir); strings.HasPrefix(slash, "papers") || strings.HasSuffix(slash, "test") {
			delete(dirs, dir)
		}
	}
	for _, w := range grammar(fset, dirs) {
		t.Error("pkg/" + w)
	}
}

// TestGrammarSees feeds TestGrammar's own rules.
func TestGrammarSees(t *testing.T) {
	const fit = "func FitX(ctx context.Context, x mat.Matrix, p XParams)"
	for src, want := range map[string]string{
		"func F(x mat.Matrix, ctx context.Context) {}":                      "context is parameter 2",
		"func F(n int, rng *rand.Rand) {}":                                  "source of random numbers is parameter 2",
		"func F(ctx context.Context, x mat.Matrix, src *rand.PCG) {}":       "source of random numbers is parameter 3",
		"func F(p XParams, n int) {}":                                       "XParams is parameter 1 of 2",
		"func F(a *mat.Dense) {}":                                           "takes a *mat.Dense",
		"type T int; func (t *T) F(a *mat.SymDense) {}":                     "x.T.F: takes a *mat.SymDense",
		"func FitX(x mat.Matrix, p XParams) (learners.MetricResult, error)": "a fit takes a context",
		fit + " *X": "its answer and an error",
		fit + " (*X, error); type X struct{ n int }":        "no learners.Result inside",
		"func LoadX(path string) (*X, error)":               "want io.Reader",
		"type Rate int; const (Fast Rate = iota; RateSlow)": "x.Fast: a bare name for a Rate",

		"func F(ctx context.Context, rng *rand.Rand, x mat.Matrix, p XParams) {}": "",
		fit + " (X, error); type Y struct{ learners.Result }; type X struct{ Y }": "",
		"func f(x *mat.Dense, ctx context.Context) {}":                            "",
		"type t int; func (t) F(x *mat.Dense) {}":                                 "",
		"type Rate int; const (RateFast Rate = iota; RateSlow)":                   "",
		"type Projection int; const (ProjectDense Projection = iota)":             "",
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "x.go", "package x\n"+strings.ReplaceAll(src, ";", "\n"), parser.SkipObjectResolution)
		if src == "" || err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		got := grammar(fset, map[string][]*ast.File{"learners/x": {f}})
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}
