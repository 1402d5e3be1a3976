package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/mapping"

	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// families are the folders whose learners the catalog lists.
var families = []string{"pairs", "itml", "ltkernel", "iplr", "labels", "triplets", "mapping", "kernelized", "ssikdr"}

// wrappers are the constructors behind several entries: they run the learners that they are given.
var wrappers = []string{"kernelized.Fit", "triplets.FitTuned"}

// notLearners are exported functions NewX or FitX that make no learner of their own,
// and what they make.
var notLearners = map[string]string{
	"iplr.Fit":                     "iplr, on links and a basis of the caller's",
	"iplr.FitKernel":               "iplr.Fit, of a Gram matrix in place of rows",
	"iplr.NewBasis":                "a basis for iplr.Fit",
	"iplr.NewKernelProblem":        "iplr.FitKernel, prepared for several parameters",
	"iplr.NewProblem":              "iplr.Fit, prepared for several parameters",
	"itml.FitKernel":               "kernel-itml, of a Gram matrix in place of rows",
	"itml.FitNearer":               "itml, on relative comparisons of rows",
	"itml.FitSingular":             "itml, from a W₀ of the caller's that may be singular",
	"kernelized.FitFDAGram":        "kernel-fda, of a Gram matrix in place of rows",
	"kernelized.FitGram":           "the learners of kernelized.Fit, of a Gram matrix in place of rows",
	"kernelized.FitPCAGram":        "kernel-pca, of a Gram matrix in place of rows",
	"ssikdr.FitGram":               "trace-ssikdr, of a Gram matrix in place of rows",
	"ssikdr.FitRank":               "trace-ssikdr with method=direct, of a Gram matrix in place of rows",
	"ssikdr.FitRankRows":           "trace-ssikdr with method=direct",
	"ltkernel.Fit":                 "a metric of rows, for which itml is faster with the bounds that a table gives",
	"ltkernel.FitReduced":          "spectral with fewer parameters",
	"pairs.NewRecurring":           "the pairs of NewRecurringPA",
	"pairs.NewRecurringPA":         "pa, in another representation for a fixed list of pairs",
	"triplets.FitBatch":            "gnmds, ste and ckl, with a weight of the trace that is given",
	"triplets.FitCoordinates":      "an embedding in few dimensions by random starts, not convex: to find coordinates, and as a rival",
	"triplets.FitReleased":         "no method to learn by: programs of others, to repeat what was run with them",
	"triplets.NewKernelRespondent": "answers",
	"triplets.NewPointRespondent":  "answers",
	"triplets.NewSelector":         "queries",
}

// Every exported function NewX or FitX of a family is the constructor of one
// entry, and every entry has one.
func TestEveryLearnerIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, e := range catalog.All() {
		if listed[e.Constructor] && !slices.Contains(wrappers, e.Constructor) {
			t.Errorf("%s: %s is listed twice", e.Name, e.Constructor)
		}
		listed[e.Constructor] = true
	}
	found := map[string]bool{}
	for _, family := range families {
		files, err := filepath.Glob(filepath.Join("..", family, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, error %v", family, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "New") && !strings.HasPrefix(fn.Name.Name, "Fit") {
					continue
				}
				name := family + "." + fn.Name.Name
				found[name] = true
				if !listed[name] && notLearners[name] == "" {
					t.Errorf("%s is exported but not in the catalog", name)
				}
			}
		}
	}
	for name := range listed {
		if !found[name] || notLearners[name] != "" {
			t.Errorf("the catalog lists %s, which does not exist or is no learner", name)
		}
	}
	for name := range notLearners {
		if !found[name] {
			t.Errorf("%s does not exist", name)
		}
	}
}

// Entries are complete: texts, and the constructors of their feedback only.
func TestEntriesAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, e := range catalog.All() {
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			if names[name] {
				t.Errorf("two learners are called %q", name)
			}
			names[name] = true
		}
		if e.Name == "" || e.Doc == "" || e.Source == "" || e.Version < 1 || strings.Contains(e.Doc, "\n") {
			t.Errorf("%q: incomplete: %+v", e.Name, e)
		}
		for _, alias := range e.Aliases {
			if !strings.Contains(e.Doc, "also called "+alias) {
				t.Errorf("%s: its line does not tell that it is also called %s: %s", e.Name, alias, e.Doc)
			}
		}
		want := map[catalog.Feedback][]bool{
			catalog.Pairs:       {true, true, false, false, false, false, false, false, false, false},
			catalog.Triplets:    {false, false, true, true, false, false, false, false, false, false},
			catalog.Costs:       {false, false, false, false, true, true, false, false, false, false},
			catalog.Links:       {false, false, false, false, false, false, true, false, false, false},
			catalog.Classes:     {false, false, false, false, false, false, false, true, false, false},
			catalog.Data:        {false, false, false, false, false, false, false, true, false, false},
			catalog.Constraints: {false, false, false, false, false, false, false, false, true, false},
			catalog.Comparisons: {false, false, false, false, false, false, false, false, false, true},
		}
		got := []bool{
			e.NewPair != nil, e.LoadPair != nil, e.NewTriplet != nil, e.LoadTriplet != nil,
			e.NewMap != nil, e.LoadMap != nil, (e.FitLinks != nil) != (e.FitKernel != nil), count(e.FitData != nil, e.FitKernelData != nil, e.FitLowRank != nil) == 1, e.FitGram != nil && e.GramParams == nil, e.FitTriplets != nil,
		}
		if !slices.Equal(got, want[e.Feedback]) {
			t.Errorf("%s: feedback %q, constructors %v", e.Name, e.Feedback, got)
		}
		if e.Embeds && e.FitKernel == nil && e.FitKernelData == nil {
			t.Errorf("%s: a metric of a kernel without a kernel", e.Name)
		}
		if online := e.Feedback.Online(); online != (e.Kind != "") {
			t.Errorf("%s: online %t, but it is saved under kind %q", e.Name, online, e.Kind)
		}
		v, err := e.Parse(nil)
		if err != nil {
			t.Errorf("%s: the defaults are not allowed: %v", e.Name, err)
		}
		for _, p := range e.Params {
			if p.Name == "" || p.Doc == "" || p.Allowed == "" {
				t.Errorf("%s: parameter %+v is incomplete", e.Name, p)
			}
			var got string
			switch p.Type {
			case catalog.Number:
				got = fmt.Sprint(v.Float(p.Name))
			case catalog.Count:
				got = fmt.Sprint(v.Int(p.Name))
			default:
				got = v.Text(p.Name)
			}
			if got != p.Default && !(p.Default == "1/dim" && got == "0") {
				t.Errorf("%s: %s: default %q parsed as %s", e.Name, p.Name, p.Default, got)
			}
		}
	}
}

// An entry is found by its name and by every alias.
func TestFind(t *testing.T) {
	_, unknown := catalog.Find("polo")
	for _, e := range catalog.All() {
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			if got, err := catalog.Find(name); err != nil || got.Name != e.Name {
				t.Errorf("Find(%s) = %q, %v", name, got.Name, err)
			}
			if unknown == nil || !strings.Contains(unknown.Error(), name) {
				t.Errorf("error %v does not list %s", unknown, name)
			}
		}
	}
	if e, err := catalog.Find("logdet"); err != nil || e.Name != "itml" {
		t.Errorf("Find(logdet) = %q, %v", e.Name, err)
	}
	_, err := catalog.FindIn([]catalog.Entry{{Name: "a", Aliases: []string{"b", "c"}}, {Name: "d"}}, "")
	if err == nil || err.Error() != `unknown learner "", want one of a = b = c, d` {
		t.Errorf("error %v", err)
	}
}

// All returns a copy of the list.
func TestAllIsACopy(t *testing.T) {
	all := catalog.All()
	all[0].Name = "changed"
	if catalog.All()[0].Name == "changed" {
		t.Error("a caller can change the catalog")
	}
}

// Every online learner of pairs is saved and found again by its kind.
func TestOfKind(t *testing.T) {
	for _, e := range catalog.All() {
		if e.NewPair == nil {
			continue
		}
		v, _ := e.Parse(nil)
		l, err := e.NewPair(3, v)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		f := metric.Pair{X: []float64{1, 2, 3}, Y: []float64{0, 1, 5}, Label: metric.Dissimilar}
		if _, err := l.Step(f); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		var file bytes.Buffer
		if err := l.Save(&file); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		env, err := persist.Read(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		entry, err := catalog.OfKind(catalog.All(), env.Kind)
		if err != nil || entry.Name != e.Name {
			t.Fatalf("%s: kind %q is that of %q, error %v", e.Name, env.Kind, entry.Name, err)
		}
		got, err := entry.LoadPair(&file)
		if err != nil || got.Predict(f) != l.Predict(f) || got.Predict(f).SqDist == 0 {
			t.Errorf("%s: loaded with error %v", e.Name, err)
		}
	}
}

// Every online learner of maps is saved and found again by its kind.
func TestOfKindMaps(t *testing.T) {
	n := 0
	for _, e := range catalog.All() {
		if e.NewMap == nil {
			continue
		}
		n++
		l, err := e.NewMap(2, 3, mustParse(t, e, nil))
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		f := metric.CostRound{Cost: mat.NewDense(2, 3, []float64{1, 0.5, 0, 1, 1, 0.25})}
		if _, err := l.Step(f); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		var file bytes.Buffer
		if err := l.Save(&file); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		env, err := persist.Read(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		entry, err := catalog.OfKind(catalog.All(), env.Kind)
		if err != nil || entry.Name != e.Name {
			t.Fatalf("%s: kind %q is that of %q, error %v", e.Name, env.Kind, entry.Name, err)
		}
		got, err := entry.LoadMap(&file)
		if err != nil || !slices.Equal(got.Predict(f), l.Predict(f)) || !mat.Equal(got.LogWeights(), l.LogWeights()) {
			t.Errorf("%s: loaded with error %v", e.Name, err)
		}
		if l, err := e.NewMap(2, 1, mustParse(t, e, nil)); err != nil || !slices.Equal(l.Predict(metric.CostRound{}), []int{0, 0}) {
			t.Errorf("%s: one prototype: error %v", e.Name, err)
		}
		if _, err := e.NewMap(2, 1, mustParse(t, e, map[string]string{"m": "2"})); err == nil || !strings.Contains(err.Error(), "m: 2 is not allowed, want an integer from 1 to 1") {
			t.Errorf("%s: 2 of one prototype: error %v", e.Name, err)
		}
	}
	if n == 0 {
		t.Error("the catalog has no learner of maps")
	}
}

// Every online learner of triplets is saved and found again by its kind.
func TestOfKindTriplets(t *testing.T) {
	n := 0
	for _, e := range catalog.All() {
		if e.NewTriplet == nil {
			continue
		}
		n++
		l, err := e.NewTriplet(4, mustParse(t, e, nil))
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		f := metric.Triplet{A: 3, Near: 0, Far: 2}
		if _, err := l.Step(f); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		var file bytes.Buffer
		if err := l.Save(&file); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		env, err := persist.Read(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		entry, err := catalog.OfKind(catalog.All(), env.Kind)
		if err != nil || entry.Name != e.Name {
			t.Fatalf("%s: kind %q is that of %q, error %v", e.Name, env.Kind, entry.Name, err)
		}
		got, err := entry.LoadTriplet(&file)
		if err != nil || got.Objects() != 4 || got.Predict(f) != l.Predict(f) || !mat.Equal(got.Kernel(), l.Kernel()) {
			t.Errorf("%s: loaded with error %v", e.Name, err)
		}
		if _, err := e.NewTriplet(0, mustParse(t, e, nil)); err == nil || !strings.Contains(err.Error(), "n: 0 is not allowed, want at least 1 object") {
			t.Errorf("%s: no objects: error %v", e.Name, err)
		}
	}
	if n == 0 {
		t.Error("the catalog has no learner of triplets")
	}
}

// ERKLE's parameters reach the learner.
func TestERKLEParams(t *testing.T) {
	e, err := catalog.Find("erkle")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given map[string]string
		want  triplets.ERKLEParams
	}{
		{nil, triplets.ERKLEParams{}},
		{map[string]string{"loss": "ste", "p": "0.9", "beta": "10", "seed": "4"}, triplets.ERKLEParams{Loss: triplets.STE, P: 0.9, Beta: 10, Seed: 4}},
		{map[string]string{"margin": "2", "gradient": "frobenius", "reject": "0.3"}, triplets.ERKLEParams{Margin: 2, Gradient: triplets.GradientFrobenius, Reject: 0.3}},
		{map[string]string{"step": "constant", "delta": "0.5", "trace": "0.01"}, triplets.ERKLEParams{Step: triplets.StepConstant, Delta: 0.5, Trace: 0.01}},
		{map[string]string{"step": "inverse"}, triplets.ERKLEParams{Step: triplets.StepInverse}},
		{map[string]string{"step": "inverse-sqrt"}, triplets.ERKLEParams{Step: triplets.StepInverseSqrt}},
	} {
		l, err := e.NewTriplet(3, mustParse(t, e, c.given))
		if err != nil {
			t.Errorf("%v: %v", c.given, err)
			continue
		}
		want := c.want.Resolved()
		if c.given["seed"] == "" {
			want.Seed = 1
		}
		if got := l.(*triplets.ERKLE).Params(); got != want {
			t.Errorf("%v: got %+v, want %+v", c.given, got, want)
		}
	}
	for want, given := range map[string]map[string]string{
		`parameter loss: "ckl" is not allowed, want one of gnmds, ste`:                        {"loss": "ckl"},
		`parameter step: "2" is not allowed, want one of pa, constant, inverse, inverse-sqrt`: {"step": "2"},
		`parameter p is only for loss=ste and step=pa, but loss is gnmds`:                     {"p": "0.9"},
		`parameter p is only for loss=ste and step=pa, but step is constant`:                  {"loss": "ste", "step": "constant", "p": "0.9"},
		`parameter p: "0.5" is not allowed, want a number > 0.5 and < 1`:                      {"loss": "ste", "p": "0.5"},
		`parameter p: "1" is not allowed, want a number > 0.5 and < 1`:                        {"loss": "ste", "p": "1"},
		`parameter margin is only for loss=gnmds, but loss is ste`:                            {"loss": "ste", "margin": "1"},
		`parameter margin: "0" is not allowed, want a number > 0 and at most 1e+100`:          {"margin": "0"},
		`parameter delta is only for step=constant|inverse|inverse-sqrt, but step is pa`:      {"delta": "1"},
		`parameter delta: "NaN" is not allowed, want a number > 0 and at most 1e+100`:         {"step": "inverse", "delta": "NaN"},
		`parameter beta: "0" is not allowed, want an integer from 1 to 1000000`:               {"beta": "0"},
		`parameter gradient: "true" is not allowed, want one of printed, frobenius`:           {"gradient": "true"},
		`parameter trace: "-1" is not allowed, want a number from 0 to 1e+100`:                {"trace": "-1"},
		`parameter reject: "1e200" is not allowed, want a number from 0 to 1e+100`:            {"reject": "1e200"},
	} {
		if _, err := e.Parse(given); err == nil || err.Error() != "erkle: "+want {
			t.Errorf("%v: error %v, want %q", given, err, want)
		}
	}
}

// RMP's parameters reach the learner.
func TestRMPParams(t *testing.T) {
	e, err := catalog.Find("rmp")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given map[string]string
		want  mapping.RMPParams
	}{
		{nil, mapping.RMPParams{M: 2, Sampler: mapping.SampleEnumerate, ChainSteps: 5000}},
		{map[string]string{"m": "3", "rounds": "7"}, mapping.RMPParams{M: 3, Rounds: 7, Sampler: mapping.SampleEnumerate, ChainSteps: 5000}},
		{map[string]string{"eta": "printed"}, mapping.RMPParams{M: 2, Eta: mapping.EtaPrinted, Sampler: mapping.SampleEnumerate, ChainSteps: 5000}},
		{map[string]string{"eta": "corrected", "rounds": "7"}, mapping.RMPParams{M: 2, Eta: mapping.EtaCorrected, Rounds: 7, Sampler: mapping.SampleEnumerate, ChainSteps: 5000}},
		{map[string]string{"eta": "anytime", "sampler": "heat-bath", "chain-steps": "9"}, mapping.RMPParams{M: 2, Eta: mapping.EtaAnytime, Sampler: mapping.SampleHeatBath, ChainSteps: 9}},
		{map[string]string{"eta": "0.5", "sampler": "metropolis"}, mapping.RMPParams{M: 2, Eta: mapping.EtaFixed, Rate: 0.5, Sampler: mapping.SampleMetropolis, ChainSteps: 5000}},
	} {
		l, err := e.NewMap(3, 4, mustParse(t, e, c.given))
		if err != nil {
			t.Errorf("%v: %v", c.given, err)
			continue
		}
		if got := l.(*mapping.RMP).Params(); got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.given, got, c.want)
		}
	}
	// The seed is the origin of all draws.
	draws := map[string]string{}
	for _, seed := range []string{"1", "2", "1"} {
		l, err := e.NewMap(40, 4, mustParse(t, e, map[string]string{"seed": seed}))
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(l.Predict(metric.CostRound{}))
		if was, ok := draws[seed]; ok && was != got {
			t.Errorf("seed %s: drew %s, and then %s", seed, was, got)
		}
		draws[seed] = got
	}
	if draws["1"] == draws["2"] {
		t.Error("seeds 1 and 2 draw the same map")
	}
}

func TestOfKindErrors(t *testing.T) {
	for _, kind := range []string{"pairs/nobody", ""} {
		_, err := catalog.OfKind(catalog.All(), kind)
		if !errors.Is(err, persist.ErrKind) || !strings.Contains(err.Error(), "pairs/pola") {
			t.Errorf("kind %q: %v", kind, err)
		}
	}
}

// constraints are some on six objects.
var constraints = []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5), ltkernel.AtLeast(0, 3, 30), ltkernel.Nearer(4, 3, 1, 1)}

// The batch learners fit a small data set through the catalog.
func TestFit(t *testing.T) {
	x := mat.NewDense(6, 2, []float64{0, 0, 1, 0, 0.5, 0.1, 0, 5, 1, 5, 0.4, 5.1})
	y := []int{0, 0, 0, 1, 1, 1}
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 3, J: 5, Label: metric.Similar}, {I: 0, J: 3, Label: metric.Dissimilar}}
	for _, e := range catalog.All() {
		given := map[string]string{}
		if slices.ContainsFunc(e.Params, func(p catalog.Param) bool { return p.Name == "k" }) {
			given["k"] = "1" // neighbours among 3 rows
		}
		v := mustParse(t, e, given)
		var r learners.MetricResult
		var err error
		switch {
		case e.FitLinks != nil:
			r, err = e.FitLinks(context.Background(), x, links, v, nil)
		case e.FitData != nil:
			r, err = e.FitData(context.Background(), x, y, v, nil)
		case e.FitKernel != nil || e.FitKernelData != nil:
			k, err := fitKernel(t.Context(), e, x, y, links, v)
			if err != nil || (k.Metric != nil) != e.Embeds || (k.Kernel != nil) == e.Embeds || k.Distance().Dim() != 2 || k.Status == learners.NotRun {
				t.Errorf("%s: result %+v, error %v", e.Name, k, err)
			}
			if _, err := fitKernel(t.Context(), e, x, nil, nil, v); err == nil && e.Feedback != catalog.Data {
				t.Errorf("%s: no links, or no classes, were accepted", e.Name)
			}
			continue
		case e.FitLowRank != nil:
			l, err := e.FitLowRank(context.Background(), x, y, v, nil)
			if err != nil || l.Metric == nil || l.Metric.Dim() != 2 || l.Status == learners.NotRun || l.Iterations == 0 || l.Links == 0 || l.Asked < l.Metric.Rank() {
				t.Errorf("%s: result %+v, error %v", e.Name, l, err)
			}
			if _, err := e.FitLowRank(context.Background(), x, y[:1], v, nil); err == nil {
				t.Errorf("%s: 1 label for 6 rows was accepted", e.Name)
			}
			continue
		case e.FitTriplets != nil:
			k, err := e.FitTriplets(context.Background(), 6, comparisons, v, nil)
			if err != nil || k.Kernel.SymmetricDim() != 6 || k.Status != learners.Converged || k.Iterations == 0 || !k.Chosen || k.Tau == 0 {
				t.Errorf("%s: result %+v, error %v", e.Name, k, err)
			}
			if k, err := e.FitTriplets(context.Background(), 6, comparisons, mustParse(t, e, map[string]string{"tau": "0.5"}), nil); err != nil || k.Chosen || k.Tau != 0.5 {
				t.Errorf("%s: result %+v, error %v", e.Name, k, err)
			}
			if _, err := e.FitTriplets(context.Background(), 5, comparisons, v, nil); err == nil {
				t.Errorf("%s: an object out of range was accepted", e.Name)
			}
			continue
		case e.FitGram != nil:
			k, err := e.FitGram(context.Background(), kernels.Gram(kernels.Linear{}, x), constraints, v, nil)
			if err != nil || k.S == nil || k.Status != learners.Converged || k.Iterations == 0 || len(k.Violated) != 0 {
				t.Errorf("%s: result %+v, error %v", e.Name, k, err)
			}
			continue
		default:
			continue
		}
		if err != nil || r.Metric == nil || r.Metric.Dim() != 2 || r.Status == learners.NotRun {
			t.Errorf("%s: result %+v, error %v", e.Name, r, err)
		}
		if e.FitData != nil { // errors of the learner come through: a dimension or labels that do not fit
			given := map[string]string{}
			if slices.ContainsFunc(e.Params, func(p catalog.Param) bool { return p.Name == "dim" }) {
				given["dim"] = "7"
			}
			if _, err := e.FitData(context.Background(), mat.NewDense(2, 2, nil), []int{0}, mustParse(t, e, given), nil); err == nil {
				t.Errorf("%s: 1 label for 2 equal rows and %v were accepted", e.Name, given)
			}
		}
	}
}

// comparisons are those of six points on a line.
var comparisons = func() []metric.Triplet {
	var ts []metric.Triplet
	for a := range 6 {
		for near := range 6 {
			for far := range 6 {
				if a != near && (near-a)*(near-a) < (far-a)*(far-a) {
					ts = append(ts, metric.Triplet{A: a, Near: near, Far: far})
				}
			}
		}
	}
	return ts
}()

// Every batch learner ends with its context, and answers the same where a decomposition may be left.
func TestFitCancelled(t *testing.T) {
	x := mat.NewDense(6, 2, []float64{0, 0, 1, 0, 0.5, 0.1, 0, 5, 1, 5, 0.4, 5.1})
	y := []int{0, 0, 0, 1, 1, 1}
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 3, J: 5, Label: metric.Similar}, {I: 0, J: 3, Label: metric.Dissimilar}}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range catalog.All() {
		if e.Feedback.Online() {
			continue
		}
		given := map[string]string{}
		if slices.ContainsFunc(e.Params, func(p catalog.Param) bool { return p.Name == "k" }) {
			given["k"] = "1" // neighbours among 3 rows
		}
		v := mustParse(t, e, given)
		fit := func(ctx context.Context) (any, error) {
			switch {
			case e.FitLinks != nil:
				return e.FitLinks(ctx, x, links, v, nil)
			case e.FitData != nil:
				return e.FitData(ctx, x, y, v, nil)
			case e.FitLowRank != nil:
				return e.FitLowRank(ctx, x, y, v, nil)
			case e.FitTriplets != nil:
				return e.FitTriplets(ctx, 6, comparisons, v, nil)
			case e.FitGram != nil:
				return e.FitGram(ctx, kernels.Gram(kernels.Linear{}, x), constraints, v, nil)
			}
			return fitKernel(ctx, e, x, y, links, v)
		}
		t.Run(e.Name, func(t *testing.T) {
			want, err := fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, large := range []bool{false, true} {
				if large {
					abandon.Always(t)
				}
				if got, err := fit(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("large %v: another answer, error %v", large, err)
				}
				if got, err := fit(done); !errors.Is(err, context.Canceled) || !reflect.ValueOf(got).IsZero() {
					t.Errorf("large %v: %v, error %v, want context.Canceled and no answer", large, got, err)
				}
			}
		})
	}
}

// ITML's parameters reach the fit, that of the kernel too: without slack bounds hold, with it they give way,
// and a rule and a seed make a difference.
func TestITMLParams(t *testing.T) {
	x := mat.NewDense(8, 2, []float64{0, 0, 1, 3, 0.5, 1, 0.2, 2, 4, 0, 5, 3, 4.4, 1, 5.1, 2})
	y := []int{0, 0, 0, 0, 1, 1, 1, 1}
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 4, Label: metric.Dissimilar}, {I: 2, J: 3, Label: metric.Similar}}
	for _, c := range []struct {
		name  string
		given [2]map[string]string
	}{
		{"itml", [2]map[string]string{{"slack": "soft"}, {"slack": "hard"}}},
		{"itml", [2]map[string]string{{"gamma": "1"}, {"gamma": "2"}}},
		{"itml", [2]map[string]string{{"rule": "percentiles"}, {"rule": "bins"}}},
		{"itml", [2]map[string]string{{"low": "0"}, {"low": "40"}}},
		{"itml", [2]map[string]string{{"high": "0"}, {"high": "60"}}},
		{"itml", [2]map[string]string{{"cycles": "1"}, {"cycles": "2"}}},
		{"itml", [2]map[string]string{{"tol": "0.9"}, {"tol": "0.0001"}}},
		{"itml", [2]map[string]string{{"start": "identity"}, {"start": "invcov"}}},
		{"itml", [2]map[string]string{{"start": "invcov"}, {"start": "invcov", "ridge": "0.5"}}},
		{"itml-labels", [2]map[string]string{{"start": "identity"}, {"start": "invcov"}}},
		{"itml-labels", [2]map[string]string{{"start": "invcov"}, {"start": "invcov", "ridge": "0.5"}}},
		{"kernel-itml", [2]map[string]string{{"slack": "soft"}, {"slack": "hard", "cycles": "3"}}},
		{"kernel-itml", [2]map[string]string{{"gamma": "1"}, {"gamma": "2"}}},
		{"kernel-itml", [2]map[string]string{{"rule": "percentiles"}, {"rule": "bins"}}},
		{"kernel-itml", [2]map[string]string{{"low": "0"}, {"low": "40"}}},
		{"kernel-itml", [2]map[string]string{{"high": "0"}, {"high": "60"}}},
		{"kernel-itml", [2]map[string]string{{"cycles": "1"}, {"cycles": "2"}}},
		{"kernel-itml", [2]map[string]string{{"tol": "0.9"}, {"tol": "0.0001"}}},
		{"itml-labels", [2]map[string]string{{"seed": "1"}, {"seed": "2"}}},
		{"itml-labels", [2]map[string]string{{"links": "4"}, {"links": "5"}}},
		{"itml-labels", [2]map[string]string{{"bound-pairs": "2"}, {"bound-pairs": "1000"}}},
		{"itml-labels", [2]map[string]string{{"gamma": "0.5"}, {"slack": "hard", "cycles": "2"}}},
		{"itml-tuned", [2]map[string]string{{"seed": "1"}, {"seed": "2"}}},
	} {
		e, err := catalog.Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		var m [2]*mat.SymDense // of what was learned, or its Gram matrix
		for i, given := range c.given {
			var r learners.MetricResult
			v := mustParse(t, e, given)
			if e.FitKernel != nil {
				k, err := e.FitKernel(context.Background(), x, links, v, nil)
				if err != nil {
					t.Fatalf("%s %v: %v", c.name, given, err)
				}
				m[i] = kernels.Gram(k.Kernel, x)
				continue
			}
			if e.FitLinks != nil {
				r, err = e.FitLinks(context.Background(), x, links, v, nil)
			} else {
				if c.name == "itml-tuned" {
					v = mustParse(t, e, map[string]string{"seed": given["seed"], "k": "1"})
				}
				r, err = e.FitData(context.Background(), x, y, v, nil)
			}
			if err != nil {
				t.Fatalf("%s %v: %v", c.name, given, err)
			}
			m[i] = r.Metric.M()
		}
		if mat.Equal(m[0], m[1]) {
			t.Errorf("%s: %v and %v give the same metric", c.name, c.given[0], c.given[1])
		}
	}
}

// IPLR's parameters reach the fit: each makes a difference.
func TestIPLRParams(t *testing.T) {
	e, err := catalog.Find("iplr")
	if err != nil {
		t.Fatal(err)
	}
	x, y, _ := batchData(30, 6)
	for _, given := range [][2]map[string]string{
		{{"basis": "classes"}, {"basis": "singular"}},
		{{"basis": "kmeans"}, {"basis": "rows"}},
		{{"basis": "rows"}, {"basis": "coefficients"}},
		{{"basis": "classes", "k": "2"}, {"basis": "random-classes", "k": "2"}},
		{{"k": "0"}, {"k": "4"}},
		{{"gamma": "1"}, {"gamma": "2"}},
		{{"slack": "soft", "basis": "coefficients", "k": "6"}, {"slack": "hard", "basis": "coefficients", "k": "6"}},
		{{"infeasible": "slack"}, {"infeasible": "drop"}},
		{{"rule": "percentiles"}, {"rule": "bins"}},
		{{"low": "0"}, {"low": "40"}},
		{{"high": "0"}, {"high": "60"}},
		{{"cycles": "1"}, {"cycles": "2"}},
		{{"tol": "0.9"}, {"tol": "0.0001"}},
		{{"links": "4"}, {"links": "5"}},
		{{"bound-pairs": "5"}, {"bound-pairs": "50"}},
		{{"seed": "1"}, {"seed": "2"}},
	} {
		var m [2]*metric.LowRank
		for i, g := range given {
			if g["cycles"] == "" {
				g["cycles"] = "30"
			}
			r, err := e.FitLowRank(t.Context(), x, y, mustParse(t, e, g), nil)
			if err != nil {
				t.Fatalf("%v: %v", g, err)
			}
			m[i] = r.Metric
		}
		if mat.Equal(m[0].M(), m[1].M()) {
			t.Errorf("%v and %v give the same metric", given[0], given[1])
		}
	}
	if _, err := e.FitLowRank(t.Context(), x, y, mustParse(t, e, map[string]string{"rule": "given"}), nil); err == nil || !strings.Contains(err.Error(), "iplr: upper: 0 and lower: 0 are not allowed with rule=given") {
		t.Errorf("no bounds: error %v", err)
	}
	if _, err := e.Parse(map[string]string{"basis": "spectral"}); err == nil || !strings.Contains(err.Error(), `"spectral" is not allowed, want one of classes, `) {
		t.Errorf("basis: error %v", err)
	}
}

// With start=invcov nothing depends on the coordinates of the rows: W₀, the bounds, which are percentiles
// under W₀, and so the distances learned are the same after an invertible linear map. With the identity they are not.
func TestITMLStart(t *testing.T) {
	x := mat.NewDense(10, 2, []float64{0, 0, 1, 3, 0.5, 1, 0.2, 2, 4, 0, 5, 3, 4.4, 1, 5.1, 2, 2, 2, 3, 1})
	y := []int{0, 0, 0, 0, 1, 1, 1, 1, 0, 1}
	var mapped mat.Dense
	mapped.Mul(x, mat.NewDense(2, 2, []float64{3, 1, -1, 0.5}))
	var links []metric.Link
	for i := range y {
		for j := range i {
			l := metric.Link{I: i, J: j, Label: metric.Similar}
			if y[i] != y[j] {
				l.Label = metric.Dissimilar
			}
			links = append(links, l)
		}
	}
	const tol = 1e-9 // relative: about 10⁴ projections, each with a round-off of ε, and maps of condition 10
	for _, name := range []string{"itml", "itml-labels"} {
		e, err := catalog.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		learn := func(x *mat.Dense, start string) *metric.Mahalanobis {
			t.Helper()
			v := mustParse(t, e, map[string]string{"start": start, "cycles": "20"})
			var r learners.MetricResult
			if e.FitLinks != nil {
				r, err = e.FitLinks(context.Background(), x, links, v, nil)
			} else {
				r, err = e.FitData(context.Background(), x, y, v, nil)
			}
			if err != nil {
				t.Fatalf("%s from %s: %v", name, start, err)
			}
			return r.Metric
		}
		for start, same := range map[string]bool{"invcov": true, "identity": false} {
			a, b := learn(x, start), learn(&mapped, start)
			worst := 0.0
			for _, l := range links {
				p, q := a.SqDist(x.RawRowView(l.I), x.RawRowView(l.J)), b.SqDist(mapped.RawRowView(l.I), mapped.RawRowView(l.J))
				worst = max(worst, math.Abs(p-q)/p)
			}
			if (worst < tol) != same {
				t.Errorf("%s from %s: squared distances differ by %v relative after a linear map", name, start, worst)
			}
		}
		v := mustParse(t, e, map[string]string{"start": "invcov"})
		constant := mat.NewDense(10, 2, nil)
		if e.FitLinks != nil {
			_, err = e.FitLinks(context.Background(), constant, links, v, nil)
		} else {
			_, err = e.FitData(context.Background(), constant, y, v, nil)
		}
		if err == nil || !strings.Contains(err.Error(), "itml: start: invcov: all deviations are zero") {
			t.Errorf("%s on equal rows: error %v", name, err)
		}
	}
	// It is what the packages below give.
	w, err := labels.ITMLStart(t.Context(), x, labels.InvCovParams{Ridge: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	want, err := itml.Fit(context.Background(), x, links, itml.Params{W0: w})
	if err != nil {
		t.Fatal(err)
	}
	e, err := catalog.Find("logdet")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.FitLinks(context.Background(), x, links, mustParse(t, e, map[string]string{"start": "invcov", "ridge": "0.2"}), nil); err != nil || !mat.Equal(got.Metric.M(), want.Metric.M()) {
		t.Errorf("not the fit with W0 of ITMLStart, error %v", err)
	}
}

// With rule=given the bounds are those given, for all that itml is made of; none, one only, or u ≥ ℓ is refused.
func TestITMLGivenBounds(t *testing.T) {
	x := mat.NewDense(8, 1, []float64{0, 1, 1.5, 2.5, 4, 5.5, 6, 7})
	y := []int{0, 0, 0, 0, 1, 1, 1, 1}
	links := []metric.Link{{I: 0, J: 3, Label: metric.Similar}}
	for _, name := range []string{"itml", "kernel-itml", "itml-labels", "itml-tuned"} {
		e, err := catalog.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		learn := func(given map[string]string) (metric.SqDister, error) {
			given["rule"] = "given"
			if e.FitKernel != nil {
				given["kernel"] = "linear"
			}
			if name == "itml-tuned" {
				given["k"] = "1"
			}
			v := mustParse(t, e, given)
			switch {
			case e.FitKernel != nil:
				r, err := e.FitKernel(context.Background(), x, links, v, nil)
				return r.Kernel, err
			case e.FitLinks != nil:
				r, err := e.FitLinks(context.Background(), x, links, v, nil)
				return r.Metric, err
			}
			r, err := e.FitData(context.Background(), x, y, v, nil)
			return r.Metric, err
		}
		for _, c := range []struct{ upper, lower, want string }{
			{"0", "0", "itml: upper: 0 and lower: 0 are not allowed with rule=given, want 0 < upper < lower"},
			{"3", "0", "itml: upper: 3 and lower: 0 are not allowed, want both or neither"},
			{"0", "3", "itml: upper: 0 and lower: 3 are not allowed, want both or neither"},
			{"3", "3", "itml: upper: 3 and lower: 3 are not allowed, want upper < lower"},
			{"4", "3", "itml: upper: 4 and lower: 3 are not allowed, want upper < lower"},
		} {
			if _, err := learn(map[string]string{"upper": c.upper, "lower": c.lower}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: upper %s, lower %s: error %v, want %q", name, c.upper, c.lower, err, c.want)
			}
		}
		from, to := []float64{0}, []float64{2.5}
		if e.FitData != nil { // pairs are drawn: similar rows come nearer
			if m, err := learn(map[string]string{"upper": "1e-9", "lower": "2e-9"}); err != nil || m.SqDist(from, to) >= 6.25 {
				t.Errorf("%s: %v, error %v", name, m, err)
			}
			continue
		}
		// The pair of links, at 6.25, is within the first bound and is brought to the second.
		for upper, want := range map[string]float64{"100": 6.25, "2": 2} {
			m, err := learn(map[string]string{"upper": upper, "lower": "101", "slack": "hard"})
			if err != nil || math.Abs(m.SqDist(from, to)-want) > 1e-9 {
				t.Errorf("%s: upper %s: squared distance %v, want %v, error %v", name, upper, m.SqDist(from, to), want, err)
			}
		}
	}
}

// A kernel under which rows cannot be told apart is refused with what to do about it.
func TestKernelITMLNarrowRange(t *testing.T) {
	e, err := catalog.Find("kernel-itml")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 1))
	x, links := mat.NewDense(60, 3, nil), []metric.Link(nil)
	for i := range 60 {
		for j := range 3 {
			x.Set(i, j, rng.NormFloat64())
		}
		links = append(links, metric.Link{I: i, J: (i + 1) % 60, Label: metric.Similar}, metric.Link{I: i, J: (i + 7) % 60, Label: metric.Dissimilar})
	}
	_, err = e.FitKernel(context.Background(), x, links, mustParse(t, e, map[string]string{"kernel-gamma": "1e-12", "cycles": "20"}), nil)
	if err == nil || !strings.Contains(err.Error(), "kernel-itml: kernel: ") || !strings.Contains(err.Error(), "want a kernel under which they differ more") {
		t.Errorf("error %v", err)
	}
}

// fitKernel fits a batch learner of a kernel.
func fitKernel(ctx context.Context, e catalog.Entry, x mat.Matrix, y []int, links []metric.Link, v catalog.Values) (catalog.KernelResult, error) {
	if e.FitKernelData != nil {
		return e.FitKernelData(ctx, x, y, v, nil)
	}
	return e.FitKernel(ctx, x, links, v, nil)
}

func mustParse(t *testing.T, e catalog.Entry, given map[string]string) catalog.Values {
	t.Helper()
	v, err := e.Parse(given)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func ExampleAll() {
	for _, e := range catalog.All()[:4] {
		fmt.Printf("%-12s%s:", e.Name, e.Feedback)
		for _, p := range e.Params {
			fmt.Printf(" %s=%s", p.Name, p.Default)
		}
		fmt.Println()
	}
	// Output:
	// pola        labelled pairs, online: b1=1 gamma=0
	// kernel-pola labelled pairs, online: b1=1 gamma=0 kernel=gaussian kernel-gamma=1/dim degree=2 offset=1
	// pa          labelled pairs, online: rule=pa c=1 psd=step b0=0 tol=0 m0=0 every=0
	// lego        labelled pairs, online: eta=0.5 u=2 l=8 update=always
}

// count counts the conditions that hold.
func count(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

// The parameters of spectral reach the fit, and a contradiction is named.
func TestSpectralParams(t *testing.T) {
	x := mat.NewDense(6, 2, []float64{0, 0, 1, 0, 0.5, 0.1, 0, 5, 1, 5, 0.4, 5.1})
	k0 := kernels.Gram(kernels.Linear{}, x)
	e, err := catalog.Find("spectral")
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]map[string]string{
		{{"divergence": "logdet"}, {"divergence": "von-neumann"}},
		{{"divergence": "frobenius"}, {"divergence": "frobenius", "alpha": "0"}},
		{{"divergence": "trace", "slack": "l2"}, {"divergence": "trace", "slack": "l2", "tau": "0"}},
		{{"slack": "l1"}, {"slack": "l2"}},
		{{"slack": "l1", "c": "0.01"}, {"slack": "l1", "c": "0.02"}},
		{{"slack": "l2"}, {"slack": "hard"}},
		{{"tol": "0.1"}, {"tol": "1e-10"}},
		{{"iterations": "1"}, {"iterations": "2"}},
	} {
		var k [2]*mat.SymDense
		for i, given := range pair {
			r, err := e.FitGram(t.Context(), k0, []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5), ltkernel.AtLeast(0, 4, 40)}, mustParse(t, e, given), nil)
			if err != nil {
				t.Fatalf("%v: %v", given, err)
			}
			k[i] = r.All(k0)
		}
		if mat.EqualApprox(k[0], k[1], 1e-9) {
			t.Errorf("%v and %v: the same kernel", pair[0], pair[1])
		}
	}
	wrong := append(slices.Clone(constraints), ltkernel.AtMost(4, 5, 1), ltkernel.AtLeast(0, 1, 2))
	r, err := e.FitGram(t.Context(), k0, wrong, mustParse(t, e, nil), nil)
	if err != nil || r.Status != learners.Infeasible || !slices.Equal(r.Conflict, []int{0, 4}) || len(r.Weights) != 2 {
		t.Errorf("result %+v, error %v", r, err)
	}
}

// The parameters of trace-ssikdr reach both of its fits, and a contradiction is named.
func TestSSIKDRParams(t *testing.T) {
	x := mat.NewDense(6, 2, []float64{0, 0, 1, 0, 0.5, 0.1, 0, 5, 1, 5, 0.4, 5.1})
	k0 := kernels.Gram(kernels.Linear{}, x)
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 3, J: 5, Label: metric.Similar}, {I: 0, J: 3, Label: metric.Dissimilar}, {I: 2, J: 4, Label: metric.Dissimilar}}
	e, err := catalog.Find("trace-ssikdr")
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]map[string]string{
		{nil, {"tau": "0.1"}},
		{nil, {"slack": "l1"}},
		{nil, {"slack": "hard"}},
		{nil, {"c": "20"}},
		{nil, {"tol": "0.5"}},
		{nil, {"iterations": "1"}},
		{{"tau": "0"}, {"rank": "1", "tau": "0"}},
		{{"method": "direct", "rank": "1"}, {"method": "direct", "rank": "2", "tau": "0"}},
		{{"method": "direct", "rank": "2", "starts": "1"}, {"method": "direct", "rank": "2", "starts": "1", "seed": "2"}},
	} {
		var rows, gram [2]*mat.Dense
		for i, given := range pair {
			v := mustParse(t, e, given)
			if given["kernel"] == "" {
				given = maps.Clone(given)
				if given == nil {
					given = map[string]string{}
				}
				given["kernel"] = "linear"
			}
			l, err := e.FitKernel(t.Context(), x, links, mustParse(t, e, given), nil)
			if err != nil {
				t.Fatalf("%v: %v", given, err)
			}
			rows[i] = l.Metric.EmbedRows(x)
			cs := []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5), ltkernel.AtLeast(0, 4, 40), ltkernel.AtLeast(0, 2, 2)}
			r, err := e.FitGram(t.Context(), k0, cs, v, nil)
			if err != nil {
				t.Fatalf("%v: %v", given, err)
			}
			gram[i] = mat.DenseCopyOf(r.All(k0))
			z, err := r.Coordinates.Embed(6, k0)
			if err != nil {
				t.Fatal(err)
			}
			var k mat.Dense
			if k.Mul(z, z.T()); !mat.EqualApprox(&k, gram[i], 1e-9) {
				t.Errorf("%v: coordinates and kernel differ", given)
			}
		}
		if mat.EqualApprox(gram[0], gram[1], 1e-12) {
			t.Errorf("%v and %v: the same kernel", pair[0], pair[1])
		}
		same := func(a, b *mat.Dense) bool {
			r, c := a.Dims()
			s, d := b.Dims()
			return r == s && c == d && mat.EqualApprox(a, b, 1e-12)
		}
		if same(rows[0], rows[1]) && pair[1]["rank"] == "" { // the rank of rows may be 1
			t.Errorf("%v and %v: the same coordinates of rows", pair[0], pair[1])
		}
	}
	for name, given := range map[string]map[string]string{
		"bounds": {"rule": "given", "upper": "2", "lower": "1"}, "rank": {"method": "direct"},
	} {
		if _, err := e.FitKernel(t.Context(), x, links, mustParse(t, e, given), nil); err == nil || !strings.Contains(err.Error(), "is not allowed") && !strings.Contains(err.Error(), "are not allowed") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	twice := append(slices.Clone(links), metric.Link{I: 0, J: 1, Label: metric.Dissimilar})
	if _, err := e.FitKernel(t.Context(), x, twice, mustParse(t, e, map[string]string{"slack": "hard", "rule": "given", "upper": "1", "lower": "2"}), nil); err == nil || !strings.Contains(err.Error(), "contradict") {
		t.Errorf("a pair that is near and far: error %v", err)
	}
	wrong := []ltkernel.Constraint{ltkernel.AtMost(2, 3, 50), ltkernel.AtMost(4, 5, 1), ltkernel.AtLeast(4, 5, 2)}
	r, err := e.FitGram(t.Context(), k0, wrong, mustParse(t, e, map[string]string{"slack": "hard"}), nil)
	if err != nil || r.Status != learners.Infeasible || !slices.Equal(r.Conflict, []int{1, 2}) || len(r.Weights) != 2 || r.Coordinates != nil {
		t.Errorf("result %+v, error %v", r, err)
	}
}
