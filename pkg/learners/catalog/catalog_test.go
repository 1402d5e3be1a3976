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
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
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
var families = []string{"pairs", "itml", "ltkernel", "iplr", "labels", "triplets", "similarity", "mapping", "kernelized", "ssikdr"}

// wrappers are the constructors behind several entries: they run the learners that they are given.
var wrappers = []string{"kernelized.Fit", "triplets.FitTuned", "triplets.FitTunedCoordinates"}

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
	"triplets.FitCoordinates":      "all learners of comparisons, with a number of coordinates and a weight that are given",
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
		if e.Name == "" || e.Doc == "" || e.When == "" || e.Source == "" || e.Version < 1 || strings.Contains(e.Doc, "\n") {
			t.Errorf("%q: incomplete: %+v", e.Name, e)
		}
		for _, alias := range e.Aliases {
			if !strings.Contains(e.Doc, "also called "+alias) {
				t.Errorf("%s: its line does not tell that it is also called %s: %s", e.Name, alias, e.Doc)
			}
		}
		online := e.Feedback.Online()
		if online != (e.Kind != "") || online != (e.New != nil) || online != (e.Load != nil) {
			t.Errorf("%s: online %t, but saved under kind %q, New %t, Load %t", e.Name, online, e.Kind, e.New != nil, e.Load != nil)
		}
		taken := map[catalog.Feedback]bool{}
		for _, u := range append([]catalog.Use{e.Use}, e.Others...) {
			if taken[u.Feedback] || (u.Fit == nil) != u.Feedback.Online() {
				t.Errorf("%s: feedback %q: twice %t, Fit %t", e.Name, u.Feedback, taken[u.Feedback], u.Fit != nil)
			}
			taken[u.Feedback] = true
		}
		if vectors := slices.Contains([]catalog.Feedback{catalog.Pairs, catalog.Links, catalog.Classes, catalog.Data}, e.Feedback); vectors != (e.Form != "") {
			t.Errorf("%s: learns from %s a distance of form %q", e.Name, e.Feedback, e.Form)
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

// Every online learner is saved and found again by its kind.
func TestOfKind(t *testing.T) {
	n := map[catalog.Feedback]int{}
	for _, e := range catalog.All() {
		if !e.Feedback.Online() {
			continue
		}
		n[e.Feedback]++
		l, err := e.New(catalog.Shape{Dim: 3, Objects: 4, Prototypes: 3}, mustParse(t, e, nil))
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		var said any
		asked := func(l catalog.Learner) any {
			switch l := l.(type) {
			case learners.Pair:
				return step(l, metric.Pair{X: []float64{1, 2, 3}, Y: []float64{0, 1, 5}, Label: metric.Dissimilar}, l.Dim(), l.Threshold())
			case learners.TripletLearner:
				return step(l, metric.Triplet{A: 3, Near: 0, Far: 2}, l.Objects(), mat.DenseCopyOf(l.Kernel()))
			case learners.SimilarityLearner:
				return step(l, metric.Comparison{A: []float64{1, 2, 3}, Near: []float64{0, 1, 5}, Far: []float64{4, 0, 0}}, l.Dim(), l.Matrix())
			case learners.MapLearner:
				return step(l, metric.CostRound{Cost: mat.NewDense(4, 3, []float64{1, 0.5, 0, 1, 1, 0.25, 0, 0, 1, 1, 0, 1})}, mat.DenseCopyOf(l.LogWeights()))
			}
			return nil
		}
		asked(l) // a round
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
		got, err := entry.Load(&file)
		if err != nil {
			t.Fatalf("%s: loaded with error %v", e.Name, err)
		}
		if said = asked(l); said == nil || !reflect.DeepEqual(asked(got), said) {
			t.Errorf("%s: the loaded learner says %v, want %v", e.Name, asked(got), said)
		}
	}
	if n[catalog.Pairs] == 0 || n[catalog.Triplets] == 0 || n[catalog.VectorTriplets] == 0 || n[catalog.Costs] == 0 {
		t.Errorf("online learners by feedback: %v", n)
	}
}

// step returns the outcome of a round, and what else is known of the learner before.
func step[F, P any](l learners.Online[F, P], f F, known ...any) any {
	o, err := l.Step(f)
	return append(known, o, err)
}

// What no online learner can have is an error.
func TestNewRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		learner string
		shape   catalog.Shape
		given   map[string]string
	}{
		"kernel-pola: dim: 0 is not allowed, want at least 1":   {"kernel-pola", catalog.Shape{}, nil},
		"n: 0 is not allowed, want at least 1 object":           {"erkle", catalog.Shape{}, nil},
		"m: 2 is not allowed, want an integer from 1 to 1":      {"rmp", catalog.Shape{Objects: 2, Prototypes: 1}, map[string]string{"m": "2"}},
		"ftl: m: 2 is not allowed, want an integer from 1 to 1": {"ftl", catalog.Shape{Objects: 2, Prototypes: 1}, map[string]string{"m": "2"}},
	} {
		e := find(t, c.learner)
		if l, err := catalog.As[catalog.Learner](e.New(c.shape, mustParse(t, e, c.given))); err == nil || !strings.Contains(err.Error(), want) || l != nil {
			t.Errorf("%s %v: learner %v, error %v", c.learner, c.shape, l, err)
		}
		if c.shape.Prototypes == 0 {
			continue
		}
		l, err := catalog.As[learners.MapLearner](e.New(c.shape, mustParse(t, e, nil)))
		if err != nil || !slices.Equal(l.Predict(metric.CostRound{}), []int{0, 0}) {
			t.Errorf("%s: one prototype: error %v", c.learner, err)
		}
	}
}

func TestAsPanics(t *testing.T) {
	defer func() {
		if said := fmt.Sprint(recover()); said != "catalog: As: a *pairs.POLA is no learners.MapLearner" {
			t.Errorf("panic: %s", said)
		}
	}()
	e := find(t, "pola")
	_, _ = catalog.As[learners.MapLearner](e.New(catalog.Shape{Dim: 1}, mustParse(t, e, nil)))
}

// For returns the entry with the parameters and the fit of a use, and Of the learners that have it.
func TestFor(t *testing.T) {
	for _, c := range []struct {
		learner string
		kinds   []catalog.Feedback
		want    catalog.Feedback // "" for none
		param   string           // the first
	}{
		{"iplr", []catalog.Feedback{catalog.Links, catalog.Classes}, catalog.Classes, "basis"}, // the first of its uses
		{"iplr", []catalog.Feedback{catalog.Pairs, catalog.Links}, catalog.Links, "basis"},
		{"itml", []catalog.Feedback{catalog.RowTriplets}, catalog.RowTriplets, "margin"},
		{"trace-ssikdr", []catalog.Feedback{catalog.Constraints}, catalog.Constraints, "tau"},
		{"itml", []catalog.Feedback{catalog.Classes}, "", ""},
		{"itml", nil, "", ""},
	} {
		e := find(t, c.learner)
		got, ok := e.For(c.kinds...)
		if ok != (c.want != "") || got.Feedback != c.want || ok && got.Params[0].Name != c.param || got.Cost != nil && c.want != e.Feedback {
			t.Errorf("%s for %q: %+v, %t", c.learner, c.kinds, got, ok)
		}
		if listed := slices.ContainsFunc(catalog.Of(c.kinds...), func(o catalog.Entry) bool { return o.Name == c.learner && o.Feedback == c.want }); listed != ok {
			t.Errorf("%s for %q: listed %t", c.learner, c.kinds, listed)
		}
	}
}

func find(t *testing.T, name string) catalog.Entry {
	t.Helper()
	e, err := catalog.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// matrixOf returns the matrix of the metric that was learned.
func matrixOf(l catalog.Learned) *mat.SymDense {
	return l.Distance.(interface{ M() *mat.SymDense }).M()
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
		l, err := e.New(catalog.Shape{Objects: 3}, mustParse(t, e, c.given))
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
		l, err := e.New(catalog.Shape{Objects: 3, Prototypes: 4}, mustParse(t, e, c.given))
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
		l, err := catalog.As[learners.MapLearner](e.New(catalog.Shape{Objects: 40, Prototypes: 4}, mustParse(t, e, map[string]string{"seed": seed})))
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

// small is a small input of every batch learner: rows, or the Gram matrix of six objects.
func small(f catalog.Feedback) catalog.Input {
	x := mat.NewDense(6, 2, []float64{0, 0, 1, 0, 0.5, 0.1, 0, 5, 1, 5, 0.4, 5.1})
	switch f {
	case catalog.Comparisons:
		return catalog.Input{Triplets: comparisons, Objects: 6}
	case catalog.RowTriplets:
		return catalog.Input{X: x, Triplets: comparisons}
	case catalog.Constraints:
		return catalog.Input{K0: kernels.Gram(kernels.Linear{}, x), Constraints: constraints}
	}
	return catalog.Input{X: x, Y: []int{0, 0, 0, 1, 1, 1}, Links: []metric.Link{
		{I: 0, J: 1, Label: metric.Similar}, {I: 3, J: 5, Label: metric.Similar}, {I: 0, J: 3, Label: metric.Dissimilar},
	}}
}

// batchUses returns the batch learners, each for all of its uses, with values for a small input.
func batchUses(t *testing.T, each func(e catalog.Entry, v catalog.Values)) {
	for _, e := range catalog.All() {
		for _, u := range append([]catalog.Use{e.Use}, e.Others...) {
			if u.Feedback.Online() {
				continue
			}
			e, _ := e.For(u.Feedback)
			given := map[string]string{}
			if k := slices.IndexFunc(e.Params, func(p catalog.Param) bool { return p.Name == "k" }); k >= 0 && e.Form != catalog.LowRank {
				given["k"] = "1" // neighbours among 3 rows
			}
			each(e, mustParse(t, e, given))
		}
	}
}

// Every batch learner fits a small input through the catalog, by each use, and learns a distance of its form or a kernel of objects.
func TestFit(t *testing.T) {
	batchUses(t, func(e catalog.Entry, v catalog.Values) {
		in := small(e.Feedback)
		r, err := e.Fit(t.Context(), in, v, nil)
		if err != nil || r.Status == learners.NotRun {
			t.Errorf("%s from %s: result %+v, error %v", e.Name, e.Feedback, r, err)
			return
		}
		bad := catalog.Input{X: mat.NewDense(2, 2, nil), Y: []int{0}}
		switch e.Feedback {
		case catalog.Comparisons:
			if r.K.SymmetricDim() != 6 || r.Status != learners.Converged || r.Iterations == 0 || !r.Chosen || r.Tau == 0 || r.Distance != nil {
				t.Errorf("%s: result %+v", e.Name, r)
			}
			if r, err := e.Fit(t.Context(), in, mustParse(t, e, map[string]string{"tau": "0.5"}), nil); err != nil || r.Chosen || r.Tau != 0.5 {
				t.Errorf("%s: result %+v, error %v", e.Name, r, err)
			}
			bad = catalog.Input{Triplets: comparisons, Objects: 5}
		case catalog.Constraints:
			if r.Kernel.S == nil || r.Status != learners.Converged || r.Iterations == 0 || e.Name == "spectral" && len(r.Solution.Violated) != 0 || r.Distance != nil || (r.Coordinates != nil) != (e.Form == catalog.Embedded) {
				t.Errorf("%s: result %+v", e.Name, r)
			}
			bad = catalog.Input{K0: in.K0, Constraints: []ltkernel.Constraint{ltkernel.AtMost(0, 6, 1)}}
		default:
			if form := catalog.FormOf(r.Distance); form != e.Form && e.Feedback != catalog.RowTriplets || r.Distance.Dim() != 2 {
				t.Errorf("%s: learned from %s: a %T of dimension %d", e.Name, e.Feedback, r.Distance, r.Distance.Dim())
			}
			if low, ok := r.Distance.(*metric.LowRank); ok && e.Feedback != catalog.RowTriplets && (r.Links == 0 || r.Iterations == 0 || r.Asked < low.Rank()) {
				t.Errorf("%s from %s: result %+v", e.Name, e.Feedback, r)
			}
		}
		given := map[string]string{} // errors of the learner come through: a dimension, labels or objects that do not fit
		if slices.ContainsFunc(e.Params, func(p catalog.Param) bool { return p.Name == "dim" }) {
			given["dim"] = "7"
		}
		if r, err := e.Fit(t.Context(), bad, mustParse(t, e, given), nil); err == nil || !reflect.ValueOf(r).IsZero() {
			t.Errorf("%s from %s: %+v and %v were accepted", e.Name, e.Feedback, bad, given)
		}
	})
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
	done, cancel := context.WithCancel(t.Context())
	cancel()
	batchUses(t, func(e catalog.Entry, v catalog.Values) {
		fit := func(ctx context.Context) (catalog.Learned, error) { return e.Fit(ctx, small(e.Feedback), v, nil) }
		t.Run(e.Name+" from "+string(e.Feedback), func(t *testing.T) {
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
	})
}

// A fit without its matrix panics with the name of a package, as the learners do.
func TestFitWithoutInput(t *testing.T) {
	batchUses(t, func(e catalog.Entry, v catalog.Values) {
		if e.Feedback == catalog.Comparisons { // no objects are an error
			return
		}
		for _, in := range []catalog.Input{{}, {X: (*mat.Dense)(nil), K0: (*mat.SymDense)(nil)}, {Kernel: kernels.Linear{}}} {
			func() {
				defer func() {
					if said := fmt.Sprint(recover()); !regexp.MustCompile("^[a-z]+: .* is nil").MatchString(said) {
						t.Errorf("%s from %s: panic: %s", e.Name, e.Feedback, said)
					}
				}()
				_, _ = e.Fit(t.Context(), in, v, nil)
			}()
		}
	})
}

// looked is a context that is done after so many looks at it.
type looked struct {
	context.Context
	left atomic.Int64 // several goroutines may look
}

func (c *looked) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A fit whose context is done at any look, also while it finds what contradicts itself, gives an error and no answer.
func TestFitCancelledAnywhere(t *testing.T) {
	batchUses(t, func(e catalog.Entry, v catalog.Values) {
		in := small(e.Feedback)
		if e.Feedback == catalog.Constraints {
			v = mustParse(t, e, map[string]string{"slack": "hard"})
			in.Constraints = append(slices.Clone(in.Constraints), ltkernel.AtMost(4, 5, 1), ltkernel.AtLeast(0, 1, 2))
		}
		for looks := 0; ; looks += 1 + looks/8 {
			ctx := &looked{Context: t.Context()}
			ctx.left.Store(int64(looks))
			r, err := e.Fit(ctx, in, v, nil)
			if err == nil {
				if looks == 0 || e.Feedback == catalog.Constraints && len(r.Conflict) != 2 {
					t.Errorf("%s from %s: %d looks, conflict %v", e.Name, e.Feedback, looks, r.Conflict)
				}
				return
			}
			if !errors.Is(err, context.Canceled) || !reflect.ValueOf(r).IsZero() {
				t.Errorf("%s from %s: done at look %d: %+v, error %v, want context.Canceled and no answer", e.Name, e.Feedback, looks, r, err)
				return
			}
		}
	})
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
			if c.name == "itml-tuned" {
				given["k"] = "1"
			}
			r, err := e.Fit(t.Context(), catalog.Input{X: x, Y: y, Links: links}, mustParse(t, e, given), nil)
			if err != nil {
				t.Fatalf("%s %v: %v", c.name, given, err)
			}
			if k, ok := r.Distance.(*kernels.Transformed); ok {
				m[i] = kernels.Gram(k, x)
			} else {
				m[i] = matrixOf(r)
			}
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
		var m [2]*mat.SymDense
		for i, g := range given {
			if g["cycles"] == "" {
				g["cycles"] = "30"
			}
			r, err := e.Fit(t.Context(), catalog.Input{X: x, Y: y}, mustParse(t, e, g), nil)
			if err != nil {
				t.Fatalf("%v: %v", g, err)
			}
			m[i] = matrixOf(r)
		}
		if mat.Equal(m[0], m[1]) {
			t.Errorf("%v and %v give the same metric", given[0], given[1])
		}
	}
	if _, err := e.Fit(t.Context(), catalog.Input{X: x, Y: y}, mustParse(t, e, map[string]string{"rule": "given"}), nil); err == nil || !strings.Contains(err.Error(), "iplr: upper: 0 and lower: 0 are not allowed with rule=given") {
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
		learn := func(x *mat.Dense, start string) metric.SqDister {
			t.Helper()
			r, err := e.Fit(t.Context(), catalog.Input{X: x, Y: y, Links: links}, mustParse(t, e, map[string]string{"start": start, "cycles": "20"}), nil)
			if err != nil {
				t.Fatalf("%s from %s: %v", name, start, err)
			}
			return r.Distance
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
		_, err = e.Fit(t.Context(), catalog.Input{X: mat.NewDense(10, 2, nil), Y: y, Links: links}, mustParse(t, e, map[string]string{"start": "invcov"}), nil)
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
	if got, err := e.Fit(t.Context(), catalog.Input{X: x, Links: links}, mustParse(t, e, map[string]string{"start": "invcov", "ridge": "0.2"}), nil); err != nil || !mat.Equal(matrixOf(got), want.Metric.M()) {
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
			if e.Form.Kernel() {
				given["kernel"] = "linear"
			}
			if name == "itml-tuned" {
				given["k"] = "1"
			}
			r, err := e.Fit(t.Context(), catalog.Input{X: x, Y: y, Links: links}, mustParse(t, e, given), nil)
			return r.Distance, err
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
		if e.Feedback == catalog.Classes { // pairs are drawn: similar rows come nearer
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
	_, err = e.Fit(t.Context(), catalog.Input{X: x, Links: links}, mustParse(t, e, map[string]string{"kernel-gamma": "1e-12", "cycles": "20"}), nil)
	if err == nil || !strings.Contains(err.Error(), "kernel-itml: kernel: ") || !strings.Contains(err.Error(), "want a kernel under which they differ more") {
		t.Errorf("error %v", err)
	}
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
			r, err := e.Fit(t.Context(), catalog.Input{K0: k0, Constraints: []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5), ltkernel.AtLeast(0, 4, 40)}}, mustParse(t, e, given), nil)
			if err != nil {
				t.Fatalf("%v: %v", given, err)
			}
			k[i] = r.Kernel.All(k0)
		}
		if mat.EqualApprox(k[0], k[1], 1e-9) {
			t.Errorf("%v and %v: the same kernel", pair[0], pair[1])
		}
	}
	wrong := append(slices.Clone(constraints), ltkernel.AtMost(4, 5, 1), ltkernel.AtLeast(0, 1, 2))
	r, err := e.Fit(t.Context(), catalog.Input{K0: k0, Constraints: wrong}, mustParse(t, e, nil), nil)
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
	ofGram, _ := e.For(catalog.Constraints)
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
			v := mustParse(t, ofGram, given)
			if given["kernel"] == "" {
				given = maps.Clone(given)
				if given == nil {
					given = map[string]string{}
				}
				given["kernel"] = "linear"
			}
			l, err := e.Fit(t.Context(), catalog.Input{X: x, Links: links}, mustParse(t, e, given), nil)
			if err != nil {
				t.Fatalf("%v: %v", given, err)
			}
			rows[i] = l.Distance.(*kernels.Metric).EmbedRows(x)
			cs := []ltkernel.Constraint{ltkernel.AtMost(0, 1, 0.5), ltkernel.AtLeast(0, 4, 40), ltkernel.AtLeast(0, 2, 2)}
			r, err := ofGram.Fit(t.Context(), catalog.Input{K0: k0, Constraints: cs}, v, nil)
			if err != nil {
				t.Fatalf("%v: %v", given, err)
			}
			gram[i] = mat.DenseCopyOf(r.Kernel.All(k0))
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
		if _, err := e.Fit(t.Context(), catalog.Input{X: x, Links: links}, mustParse(t, e, given), nil); err == nil || !strings.Contains(err.Error(), "is not allowed") && !strings.Contains(err.Error(), "are not allowed") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	twice := append(slices.Clone(links), metric.Link{I: 0, J: 1, Label: metric.Dissimilar})
	if _, err := e.Fit(t.Context(), catalog.Input{X: x, Links: twice}, mustParse(t, e, map[string]string{"slack": "hard", "rule": "given", "upper": "1", "lower": "2"}), nil); err == nil || !strings.Contains(err.Error(), "contradict") {
		t.Errorf("a pair that is near and far: error %v", err)
	}
	wrong := []ltkernel.Constraint{ltkernel.AtMost(2, 3, 50), ltkernel.AtMost(4, 5, 1), ltkernel.AtLeast(4, 5, 2)}
	r, err := ofGram.Fit(t.Context(), catalog.Input{K0: k0, Constraints: wrong}, mustParse(t, ofGram, map[string]string{"slack": "hard"}), nil)
	if err != nil || r.Status != learners.Infeasible || !slices.Equal(r.Conflict, []int{1, 2}) || len(r.Weights) != 2 || r.Coordinates != nil {
		t.Errorf("result %+v, error %v", r, err)
	}
}
