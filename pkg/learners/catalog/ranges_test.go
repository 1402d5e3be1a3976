package catalog

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/internal/ranges"
)

// withoutRange are the numbers among the parameters of learners that have no range, and why.
var withoutRange = map[string]string{
	"triplets.ERKLEParams.Seed":   "every uint64 is a seed",
	"cluster.MedoidsParams.Start": "a set, of which more is asked than that its numbers are in a range",
}

// ownFields are the numbers that structs of this package declare, since a learner's have none, and why.
var ownFields = map[string]string{
	"catalog.draws.Seed":           "of rand.NewPCG, where the learner does not draw by itself",
	"catalog.pcaParams.Dim":        "an argument of FitPCA",
	"catalog.iplrLinks.K":          "an argument of the functions that make a basis",
	"catalog.spectralParams.Alpha": "an argument of ltkernel.Frobenius",
	"catalog.spectralParams.Tau":   "an argument of ltkernel.Trace",
	"catalog.lowRank.Rank":         "an argument of FitRank, and of Coordinates",
}

// parameter is a field of a struct of parameters.
type parameter struct {
	name, doc, tag string
	integer        bool
	constants      *types.Scope
}

// parameters returns the numeric fields of the exported structs whose names end in Params, and of
// kernels.Spec, in the files of a folder.
func parameters(t *testing.T, dir string) []parameter {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	// Constants do not depend on imports, which are not loaded.
	conf := types.Config{Error: func(error) {}}
	pkg, _ := conf.Check(filepath.Base(dir), fset, files, nil)
	var out []parameter
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			fields, ok := spec.Type.(*ast.StructType)
			if ok && spec.Name.IsExported() && (strings.HasSuffix(spec.Name.Name, "Params") || f.Name.Name+"."+spec.Name.Name == "kernels.Spec") {
				for _, field := range fields.Fields.List {
					integer, ok := isNumber(field.Type)
					if !ok {
						continue
					}
					tag := ""
					if field.Tag != nil {
						quoted, _ := strconv.Unquote(field.Tag.Value)
						tag = reflect.StructTag(quoted).Get("range")
					}
					for _, id := range field.Names {
						out = append(out, parameter{f.Name.Name + "." + spec.Name.Name + "." + id.Name, field.Doc.Text(), tag, integer, pkg.Scope()})
					}
				}
			}
			return true
		})
	}
	return out
}

// isNumber reports whether a field of that type holds numbers, and whether they are integers.
func isNumber(x ast.Expr) (integer, ok bool) {
	switch x := x.(type) {
	case *ast.StarExpr:
		return isNumber(x.X)
	case *ast.ArrayType:
		return isNumber(x.Elt)
	case *ast.Ident:
		integer = strings.HasPrefix(strings.TrimPrefix(x.Name, "u"), "int")
		return integer, integer || strings.HasPrefix(x.Name, "float")
	}
	return false, false
}

// TestParametersHaveRanges: the tag of a field is the one home of its range.
func TestParametersHaveRanges(t *testing.T) {
	var all []parameter
	folders := []string{"../../kernels"}
	if err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range folders {
		all = append(all, parameters(t, dir)...)
	}
	if len(all) < 60 {
		t.Fatalf("%d parameters are found", len(all))
	}
	for _, p := range all {
		if _, excused := withoutRange[p.name]; excused == (p.tag != "") {
			t.Errorf("%s: range %q, want one or a reason why there is none in withoutRange", p.name, p.tag)
		}
		if p.tag == "" {
			continue
		}
		for _, why := range p.faults() {
			t.Errorf("%s %s", p.name, why)
		}
	}
	for name := range withoutRange {
		if !slices.ContainsFunc(all, func(p parameter) bool { return p.name == name }) {
			t.Errorf("withoutRange has %s, which is no parameter", name)
		}
	}
}

// end is one end of a range as a documentation states it.
type end struct{ high, open bool }

const figure = `([-−]?(?:Max\w+|½|\d[\d,]*(?:\.\d+)?(?:e[-−]?\d+)?))`

// phrases are the ways of stating ends, in order.
var phrases = []struct {
	re   *regexp.Regexp
	ends []end
}{
	{regexp.MustCompile(`> ` + figure), []end{{open: true}}},
	{regexp.MustCompile(`≥ ` + figure), []end{{}}},
	{regexp.MustCompile(`< ` + figure), []end{{high: true, open: true}}},
	{regexp.MustCompile(`≤ ` + figure), []end{{high: true}}},
	{regexp.MustCompile(`greater than ` + figure), []end{{open: true}}},
	{regexp.MustCompile(`at least ` + figure), []end{{}}},
	{regexp.MustCompile(`less than ` + figure), []end{{high: true, open: true}}},
	{regexp.MustCompile(`at most ` + figure), []end{{high: true}}},
	{regexp.MustCompile(`from ` + figure + ` to ` + figure), []end{{}, {high: true}}},
	{regexp.MustCompile(`, ` + figure + ` to (?:B|the)\b`), []end{{}}},
	{regexp.MustCompile(`in \(` + figure + `, ` + figure + `\)`), []end{{open: true}, {high: true, open: true}}},
	{regexp.MustCompile(`in \[` + figure + `, ` + figure + `\)`), []end{{}, {high: true, open: true}}},
}

// faults says what is wrong with the tag and the documentation beside it: an end that it states
// is another than that of the tag, or it is silent about where the range ends.
func (p parameter) faults() (out []string) {
	r, err := ranges.Parse(p.tag, p.integer)
	if err != nil {
		return []string{err.Error()}
	}
	doc := strings.ReplaceAll(strings.Join(strings.Fields(p.doc), " "), "not less than", "")
	low, high, lowOpen, highOpen := r.Ends()
	tell := map[bool]bool{} // by end
	for _, phrase := range phrases {
		for _, m := range phrase.re.FindAllStringSubmatch(doc, -1) {
			for i, e := range phrase.ends {
				v, err := p.value(m[1+i])
				want, open := low, lowOpen
				if e.high {
					want, open = high, highOpen
				}
				if err != nil || v != want || e.open != open {
					out = append(out, fmt.Sprintf("has the range %q, but is documented as %q", p.tag, m[0]))
				}
				tell[e.high] = true
			}
		}
	}
	if !tell[true] && high < 1e300 {
		out = append(out, fmt.Sprintf("has the range %q, of whose end the documentation says nothing", p.tag))
	}
	return out
}

// value returns a number, or a constant of the package, as a documentation writes it.
func (p parameter) value(text string) (float64, error) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "−", "-"), ",", "")
	name, negative := strings.CutPrefix(text, "-")
	if c, ok := p.constants.Lookup(name).(*types.Const); ok {
		v, _ := constant.Float64Val(constant.ToFloat(c.Val()))
		if negative {
			v = -v
		}
		return v, nil
	}
	return strconv.ParseFloat(strings.ReplaceAll(text, "½", "0.5"), 64)
}

func TestParametersHaveRangesSees(t *testing.T) {
	scope := types.NewScope(nil, 0, 0, "")
	scope.Insert(types.NewConst(0, nil, "MaxC", types.Typ[types.UntypedFloat], constant.MakeFloat64(1e100)))
	for _, c := range []struct {
		doc, tag string
		integer  bool
		want     int
	}{
		{"C > 0 is the weight; 0 means 1.", "> 0", false, 0},
		{"C is the weight.", "> 0", false, 0},
		{"C ≥ 0 is the weight.", "> 0", false, 1},
		{"C > 1 is the weight.", "> 0", false, 1},
		{"C > 0 is the weight,\nat most MaxC.", "> 0 and <= 1e100", false, 0},
		{"C > 0 is the weight, at most MaxC.", "> 0 and <= 1e99", false, 1},
		{"C > 0 is the weight, less than MaxC.", "> 0 and <= 1e100", false, 1},
		{"C > 0 is the weight, at most MaxD.", "> 0 and <= 1e100", false, 1},
		{"C > 0 is the weight.", "> 0 and <= 1e100", false, 1},
		{"C is from −MaxC to MaxC.", ">= -1e100 and <= 1e100", false, 0},
		{"C is from 0 to MaxC.", ">= -1e100 and <= 1e100", false, 1},
		{"C is at least 1, at most 1,000.", ">= 1 and <= 1000", true, 0},
		{"C in (0, 1) is the rate.", "> 0 and < 1", false, 0},
		{"C in [0, 1) is the rate.", "> 0 and < 1", false, 1},
		{"C is greater than ½ and less than 1.", "> 0.5 and < 1", false, 0},
		{"C is the number of clusters, 1 to the number of rows.", ">= 1 and <= the number of rows", true, 0},
		{"C is the number of clusters, 1 to B.", ">= 2 and <= the number of rows", true, 1},
		{"C is u, not less than 2 with bins.", "> 0", false, 0},
		{"C.", "positive", false, 1},
	} {
		if got := (parameter{doc: c.doc, tag: c.tag, integer: c.integer, constants: scope}).faults(); len(got) != c.want {
			t.Errorf("%q with %q: %q, want %d faults", c.doc, c.tag, got, c.want)
		}
	}
}

// allParams are the parameters of all uses of e.
func allParams(e Entry) []Param {
	out := slices.Clone(e.Params)
	for _, u := range e.Others {
		out = append(out, u.Params...)
	}
	return out
}

// TestCatalogTakesRanges: no number of the catalog has a range of its own.
func TestCatalogTakesRanges(t *testing.T) {
	used := map[string]bool{}
	for _, e := range entries {
		for _, p := range allParams(e) {
			if p.Type == Choice {
				continue
			}
			if own := strings.HasPrefix(p.field, "catalog.") || strings.HasPrefix(p.field, "struct"); own && ownFields[p.field] == "" {
				t.Errorf("%s: %s declares a number of its own, want the field of a learner's parameters", e.Name, p.field)
			}
			used[p.field] = true
			if !strings.Contains(p.Allowed, p.within.Text()) {
				t.Errorf("%s: parameter %s: allowed is %s, but the range %s", e.Name, p.Name, p.Allowed, p.within.Text())
			}
			if _, err := p.parse(p.Default); err != nil {
				t.Errorf("%s: default: %v", e.Name, err)
			}
			for _, v := range []string{"NaN", "Inf", "-Inf"} {
				if _, err := p.parse(v); err == nil {
					t.Errorf("%s: parameter %s may be %s", e.Name, p.Name, v)
				}
			}
		}
	}
	for name := range ownFields {
		if !used[name] {
			t.Errorf("ownFields has %s, which is no number of the catalog", name)
		}
	}
}
