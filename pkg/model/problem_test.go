package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/feedback"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/random"
	"metriclab/pkg/tables"
)

// input is what problems of all kinds are made of: rows of three classes, pairs and comparisons.
type input struct {
	x     *mat.Dense
	y     []string
	links []metric.Link
	ts    []metric.Triplet
}

// drawn has n rows, of whole numbers with many equal distances if they are tied, and m pairs and comparisons.
func drawn(n, m int, tied bool) input {
	rng := rand.New(rand.NewPCG(8, 1))
	in := input{x: mat.NewDense(n, 3, nil)}
	for i := range n {
		class := rng.IntN(3)
		if in.y = append(in.y, string(rune('a'+class))); tied {
			in.x.SetRow(i, []float64{float64(rng.IntN(3)), float64(rng.IntN(2)), float64(rng.IntN(3))})
		} else {
			in.x.SetRow(i, []float64{2*float64(class) + rng.NormFloat64(), 3 * rng.NormFloat64(), rng.NormFloat64()})
		}
	}
	for range m {
		p := rng.Perm(n)
		v := metric.Triplet{A: p[0], Near: p[1], Far: p[2]}
		if near, far := sqDistsIn(metric.Euclidean{}, in.x, v); near > far {
			v.Near, v.Far = v.Far, v.Near
		}
		in.links = append(in.links, metric.Link{I: p[0], J: p[1], Label: metric.SameClass(in.y[p[0]] == in.y[p[1]])})
		in.ts = append(in.ts, v)
	}
	return in
}

// permuted has rows and lines of in elsewhere, but for names, which go with their objects.
func (in input) permuted(rng *rand.Rand) (out input, place []int) {
	n := len(in.y)
	perm := rng.Perm(n)
	out = input{mat.NewDense(n, 3, nil), make([]string, n), slices.Clone(in.links), slices.Clone(in.ts)}
	for i, p := range perm {
		out.x.SetRow(p, in.x.RawRowView(i))
		out.y[p] = in.y[i]
	}
	for k, l := range in.links {
		out.links[k] = metric.Link{I: perm[l.J], J: perm[l.I], Label: l.Label}
		out.ts[k] = metric.Triplet{A: perm[in.ts[k].A], Near: perm[in.ts[k].Near], Far: perm[in.ts[k].Far]}
	}
	rng.Shuffle(len(in.links), func(a, b int) {
		out.links[a], out.links[b] = out.links[b], out.links[a]
		out.ts[a], out.ts[b] = out.ts[b], out.ts[a]
	})
	return out, perm
}

// posed is a problem of some kind, with learners of it, the first of which draws or iterates, and a plan of six splits.
type posed struct {
	Problem
	base     Recipe
	learners []string
	plan     Plan
}

func (p posed) recipes(t testing.TB) map[string]Recipe {
	t.Helper()
	all, others, err := Comparable(p.Problem, p.base, p.learners, nil)
	if err != nil || len(others) > 0 {
		t.Fatal(others, err)
	}
	out := map[string]Recipe{}
	for _, r := range all {
		out[r.Learner] = r
	}
	return out
}

// posed are the kinds that are evaluated. place tells where objects of comparisons stand; nil for where they are named.
func (in input) posed(t testing.TB, place []int) map[string]posed {
	table := func() *tables.Data { return Must(tables.NewData(in.x, in.y, nil)) }
	linked, grouped, file := table(), table(), vectorFile(t, in.x, false)
	linked.Links, grouped.Chunklets = in.links, in.y
	set := &feedback.Triplets{Name: "t", Objects: 9}
	for _, v := range in.ts { // of few objects, which stay where they are
		if place != nil {
			v = metric.Triplet{A: slices.Index(place, v.A), Near: slices.Index(place, v.Near), Far: slices.Index(place, v.Far)}
		}
		if v = (metric.Triplet{A: v.A % 9, Near: v.Near % 9, Far: v.Far % 9}); !v.Degenerate() {
			set.List = append(set.List, v)
		}
	}
	folds, held := Plan{Folds: 3, Repeats: 2, Ks: []int{1, 2, 3}, Seed: 3}, Plan{Repeats: 6, Ks: []int{3}, Seed: 3}
	return map[string]posed{
		"classes":     {ByClasses(table()), Recipe{Pairs: 70}, []string{"pola", "itml", "lmnn", "fda", "kernel-pca", Euclidean, EuclideanRaw}, folds},
		"gram":        {ByGram(kernels.Gram(kernels.Linear{}, in.x), in.y), Recipe{Pairs: 40}, []string{"kernel-itml", "kernel-pca", Euclidean}, folds},
		"pairs":       {PairsOfRows(linked), Recipe{}, []string{"itml", "pola", "kernel-pola", Euclidean, EuclideanRaw, Cosine}, held},
		"chunklets":   {ByChunklets(grouped, true), Recipe{}, []string{"pola", "rca", Euclidean, Cosine}, held},
		"vectors":     {PairsOfVectors(file, in.links), Recipe{Unit: true}, []string{"itml", "pola", Euclidean, Cosine}, held},
		"compared":    {ComparisonsOfVectors(file, in.ts), Recipe{}, []string{"itml", Euclidean, Cosine}, Plan{Repeats: 6, Seed: 3}},
		"comparisons": {ByComparisons(set), Recipe{}, []string{"erkle", "gnmds"}, Plan{Folds: 3, Repeats: 2, Seed: 3, Dim: 2}},
	}
}

// found is all that an evaluation says of scores.
func found(e *Evaluation) string {
	return fmt.Sprintf("%+v %+v %v %v %v", e.Methods, e.Over, e.Train, e.Test, e.Counts)
}

// Every kind: a fit is saved and opened again. An evaluation tells how far it is and is the same on one processor. What is cancelled or out of time ends with an error.
// Fewer splits are the first ones of all.
func TestProblems(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, p := range drawn(40, 300, false).posed(t, nil) {
		r := p.recipes(t)[p.learners[0]]
		m := MustFit[Fitted](t, p.Problem, r)
		_, again, err := Open(bytes.NewReader(persisttest.Saved(m)))
		if err != nil || !bytes.Equal(persisttest.Saved(again), persisttest.Saved(m)) || again.(Fitted).LearnerVersion() != m.LearnerVersion() {
			t.Errorf("%s: opened %T, error %v", name, again, err)
		}
		if other := fmt.Sprint(again.(Fitted).Recipe()); m.Recipe().Learner != r.Learner || other != fmt.Sprint(m.Recipe()) {
			t.Errorf("%s: recipe %+v, opened %s", name, m.Recipe(), other)
		}
		told, inside, seconds := -1, map[int]bool{}, -1.0
		plan := p.plan
		plan.Progress = func(done, total int) {
			if told++; done != told || total != 6 {
				t.Errorf("%s: %d of %d, told %d times", name, done, total, told)
			}
		}
		plan.Estimated = func(s float64) error { seconds = s; return nil }
		procs := runtime.GOMAXPROCS(1) // Inside is called from one goroutine
		plan.Inside = func(split, done, total int) { inside[split] = done >= 1 && done <= total }
		whole := MustEvaluate(t, p.Problem, r, plan)
		runtime.GOMAXPROCS(max(procs, 3))
		if told != 6 || len(inside) != 6 || slices.Contains(slices.Collect(maps.Values(inside)), false) || seconds < 0 || whole.Planned != 6 || whole.Made != 6 {
			t.Errorf("%s: %d of %d splits, told of %d and of the inside of %v, %v s", name, whole.Made, whole.Planned, told, inside, seconds)
		}
		if l := Must(p.Look()); l.Items != whole.Items || l.Known != whole.Known || l.Similar != whole.Similar || !slices.Equal(l.Counts, whole.Counts) || !slices.Equal(l.Measures, whole.Measures) {
			t.Errorf("%s: a look finds %+v, an evaluation %+v", name, l, whole.Facts)
		}
		if many := MustEvaluate(t, p.Problem, r, p.plan); found(many) != found(whole) {
			t.Errorf("%s: on several processors\n%s\non one\n%s", name, found(many), found(whole))
		}
		runtime.GOMAXPROCS(procs)
		for splits := 1; splits <= 7; splits++ {
			plan := p.plan
			plan.Splits, plan.Limit = splits, time.Hour
			e, made := MustEvaluate(t, p.Problem, r, plan), min(splits, 6)
			if e.Made != made || e.Planned != 6 || (made < 6) != strings.Contains(strings.Join(e.Notes, "\n"), fmt.Sprintf("%d of the 6 splits", made)) {
				t.Errorf("%s: %d of %d splits, notes %q", name, e.Made, e.Planned, e.Notes)
			}
			if p.plan.Folds == 0 || made%p.plan.Folds == 0 { // a plan of its own: the same summaries
				few := p.plan
				few.Repeats = made / max(1, p.plan.Folds)
				if got, want := found(e), found(MustEvaluate(t, p.Problem, r, few)); got != want {
					t.Errorf("%s: %d splits give %s, a plan of so many %s", name, made, got, want)
				}
			}
			for i, m := range e.Methods {
				for k, s := range m.Scores {
					if all := whole.Methods[i].Scores[k]; !slices.Equal(s.Values, all.Values[:min(made, len(all.Values))]) || len(s.Chosen) > 0 && !slices.Equal(s.Chosen, all.Chosen[:made]) {
						t.Errorf("%s, %s: %d splits give %v, all %v", name, m.Name, made, s, all)
					}
				}
			}
		}
		plan = p.plan
		plan.Limit, plan.Estimated = 1, func(s float64) error { seconds = s; return nil }
		Refused(t, name, ErrorOf(Evaluate(t.Context(), p.Problem, r, plan)), "the time limit of 1ns was over before the first split had ended")
		if seconds > 1e-9 {
			t.Errorf("%s: within 1ns %v s are told", name, seconds)
		}
		enough := errors.New("too long")
		plan.Estimated = func(float64) error { return enough }
		Refused(t, name, ErrorOf(Evaluate(t.Context(), p.Problem, r, plan)), enough)
		Refused(t, name, ErrorOf(Evaluate(ended, p.Problem, r, p.plan)), context.Canceled)
		Refused(t, name, ErrorOf(Fit(ended, p.Problem, r, nil)), context.Canceled)
		c, err := Compare(ended, p.Problem, p.base, p.learners, Comparing{Plan: p.plan})
		if err != nil || len(c.Ranked) > 0 || !errors.Is(c.Err, context.Canceled) {
			t.Errorf("%s: compare: %+v, error %v", name, c, err)
		}
	}
}

// Every kind: what does not apply is refused, by fit and by evaluation, with a name and what is allowed; and so are learners that need other input, with those that do.
func TestRefused(t *testing.T) {
	all := drawn(40, 300, false).posed(t, nil)
	all["constraints"] = posed{Problem: ByConstraints(mat.NewSymDense(2, []float64{1, 0, 0, 1}), []ltkernel.Constraint{ltkernel.AtMost(0, 1, .5)}), learners: []string{"spectral"}}
	for name, p := range all {
		learner := p.learners[0]
		entry := Must(catalog.Find(learner))
		cases := map[string]Recipe{
			`unknown learner "none", want one of `:             {Learner: "none"},
			`unknown parameter "nothing"`:                      {Learner: learner, Params: map[string]string{"nothing": "1"}},
			"passes: -1 ":                                      {Learner: learner, Passes: -1},
			"pairs: -1 ":                                       {Learner: learner, Pairs: -1},
			`given: "words" is not allowed with ` + p.String(): {Learner: learner, Given: "words"},
		}
		for want, refused := range map[string]struct {
			r       Recipe
			applies []string
		}{
			"rank: it does not apply to " + p.String():   {Recipe{Rank: 2}, []string{"vectors", "compared"}},
			"unit: it does not apply to " + p.String():   {Recipe{Unit: true}, []string{"vectors", "compared"}},
			"impute: it does not apply to " + p.String(): {Recipe{ImputeMean: true}, []string{"classes", "pairs", "chunklets"}},
			"raw: it does not apply to " + p.String():    {Recipe{Raw: true}, []string{"classes", "pairs", "chunklets", "vectors", "compared"}},
			"pairs: 5 does not apply to " + learner:      {Recipe{Pairs: 5}, []string{"classes", "gram", "pairs", "chunklets"}},
		} {
			if refused.r.Learner = learner; !slices.Contains(refused.applies, name) {
				cases[want] = refused.r
			} else if _, err := p.Resolved(refused.r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if p.scope().rank {
			cases["rank: -1 is not allowed"] = Recipe{Learner: learner, Rank: -1}
		}
		if !entry.Feedback.Online() {
			cases["passes: 2 does not apply to "+learner] = Recipe{Learner: learner, Passes: 2}
		}
		for _, e := range catalog.All() {
			if !slices.ContainsFunc(p.Learners(), func(l catalog.Entry) bool { return l.Name == e.Name }) {
				want := fmt.Sprintf("not from %s; want one of %s", p, namesOf(p.Learners()))
				Refused(t, name, ErrorOf(p.Resolved(Recipe{Learner: e.Name})), want)
				cases[want] = Recipe{Learner: e.Name}
			}
		}
		for want, r := range cases {
			for what, err := range map[string]error{"fit": ErrorOf(Fit(t.Context(), p.Problem, r, nil)), "evaluate": ErrorOf(Evaluate(t.Context(), p.Problem, r, p.plan))} {
				if _, ok := errors.AsType[*tables.OptionError](err); !ok || !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s: error %v, want %q", name, what, err, want)
				}
			}
		}
		if name == "constraints" {
			Refused(t, name, ErrorOf(Evaluate(t.Context(), p.Problem, Recipe{Learner: learner}, Plan{})), "nothing is held out")
			Refused(t, name, ErrorOf(Compare(t.Context(), p.Problem, Recipe{}, nil, Comparing{})), "nothing is held out")
			continue
		}
		plans := map[string]Plan{
			"splits and time-limit: -1 and 0s":  {Splits: -1},
			"splits and time-limit: 0 and -1ns": {Limit: -1},
			"repeats: -1 is not allowed":        {Repeats: -1},
			"repeats: 1000001 is not allowed":   {Repeats: MaxRepeats + 1},
		}
		if p.plan.Folds > 0 {
			plans["folds: 1 is not allowed, want 2 to"], plans["folds: 999 is not allowed"], plans["do not apply: folds of"] = Plan{Folds: 1}, Plan{Folds: 999}, Plan{Share: .5}
		} else {
			if plans["k: it does not apply"] = (Plan{Ks: []int{3}}); name != "compared" {
				delete(plans, "k: it does not apply")
				plans["k: 2 numbers are given, want one"], plans["k: -1 is not allowed"] = Plan{Ks: []int{1, 2}}, Plan{Ks: []int{-1}}
			}
			plans["test-share: 1 is not allowed"], plans["test-share: 0.01 of "], plans["test-share: 0.97 of "], plans["dim: it does not apply"] = Plan{Share: 1}, Plan{Share: .01}, Plan{Share: .97}, Plan{Dim: 2}
			if plans["folds and test-share"] = (Plan{Folds: 5, Share: .5}); name == "chunklets" {
				delete(plans, "folds and test-share")
				plans["folds: they do not apply to chunklets"] = Plan{Folds: 5}
			}
		}
		switch name {
		case "classes", "gram":
			plans["k: 33 is not allowed, want 1 to 32"], plans["k: 32 is not allowed, want 1 to 31"] = Plan{Ks: []int{33}}, Plan{Ks: []int{1, 32}}
			plans["k: 0 is not allowed"], plans["k: none given"], plans["test-share and dim"] = Plan{Ks: []int{0}}, Plan{Ks: []int{}}, Plan{Dim: 2}
		case "comparisons":
			plans["dim: 10 is not allowed, want 1 to the number of objects, 9"], plans["test-share and k"] = Plan{Dim: 10}, Plan{Ks: []int{3}}
		}
		for want, plan := range plans {
			for what, err := range map[string]error{
				"evaluate": ErrorOf(Evaluate(t.Context(), p.Problem, p.recipes(t)[learner], plan)),
				"compare":  ErrorOf(Compare(t.Context(), p.Problem, p.base, p.learners, Comparing{Plan: plan})),
			} {
				if _, ok := errors.AsType[*tables.OptionError](err); !ok || !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s: error %v, want %q", name, what, err, want)
				}
			}
		}
		for _, v := range []int{-2, 1} {
			Refused(t, name, ErrorOf(Compare(t.Context(), p.Problem, p.base, p.learners, Comparing{Plan: p.plan, Validation: v})), fmt.Sprintf("validation: %d folds are not allowed, want 0 for none, or at least 2", v))
		}
	}
}

// Every kind: a comparison has the errors of the evaluation of each learner, split by split. The learners ranked by fewer splits are told on the way to the same end. With a
// journal a second run makes no trial and finds the same.
func TestCompareProblems(t *testing.T) {
	for name, p := range drawn(50, 400, false).posed(t, nil) {
		var trials, again []Trial
		var rounds []int
		var journal Journal
		var mu sync.Mutex
		begun, inside := 0, map[int]bool{}
		p.plan.Repeats *= 2 // 12 splits: rounds end at 2, 6 and 12
		plan := Comparing{Plan: p.plan, Validation: 2}
		plan.Journal = func(j Journal) ([]Trial, func(Trial) error, error) {
			journal = j
			return nil, func(r Trial) error { trials = append(trials, r); return nil }, nil
		}
		plan.Ranking = func(made int, ranked []Contender, of int) {
			if len(ranked) == of {
				rounds = append(rounds, made)
			}
			for i, e := range ranked {
				if len(e.Score.Values) != made || i > 0 && e.Score.Summary.Mean < ranked[i-1].Score.Summary.Mean {
					t.Errorf("%s: %d splits, %s: %v", name, made, e.Recipe.Learner, e.Score)
				}
			}
		}
		plan.Progress = func(done, _ int) {
			if mu.Lock(); done == 0 {
				begun++
			}
			mu.Unlock()
		}
		plan.Inside = func(split, done, total int) {
			mu.Lock()
			if inside[split] = true; begun == 0 || done < 1 || total < done {
				t.Errorf("%s: split %d: %d of %d, after %d stages", name, split, done, total, begun)
			}
			mu.Unlock()
		}
		c := MustCompare(t, p.Problem, p.base, p.learners, plan)
		if begun != len(p.learners)+1 || len(inside) != 12 { // the first round of each, and the choice by validation
			t.Errorf("%s: %d stages, and inside of the splits %v", name, begun, inside)
		}
		if len(c.Ranked) != len(p.learners) || len(c.Others) > 0 || !slices.Equal(rounds, []int{2, 6}) || c.Planned != 12 || c.Made != 12 {
			t.Errorf("%s: %d ranked, others %v, told of %d splits, %d of %d made", name, len(c.Ranked), c.Others, rounds, c.Made, c.Planned)
		}
		for _, e := range c.Ranked {
			one := MustEvaluate(t, p.Problem, p.recipes(t)[e.Recipe.Learner], p.plan)
			want := *one.Of(e.Recipe.Learner, one.Measures[0].Name)
			if less := one.Measures[0].Less; less && c.Choice != "tau" && !reflect.DeepEqual(e.Score, want) {
				t.Errorf("%s, %s: %+v, want %+v", name, e.Recipe.Learner, e.Score, want)
			} else if !less {
				want.Values = slices.Clone(want.Values)
				floats.Scale(-1, want.Values)
				floats.AddConst(1, want.Values)
			}
			if !floats.EqualApprox(e.Score.Values, want.Values, 1e-12) { // shares, one less the other
				t.Errorf("%s, %s: %v, want %v", name, e.Recipe.Learner, e.Score.Values, want.Values)
			}
		}
		// The choice by validation takes some learner in each split, with the error that this one has there.
		if c.ByValidation == nil || len(c.Chosen) != 12 {
			t.Errorf("%s: no choice by validation: %q", name, c.Notes)
		}
		for s, chosen := range c.Chosen {
			i := slices.IndexFunc(c.Ranked, func(e Contender) bool { return e.Recipe.Learner == chosen })
			if i < 0 || c.ByValidation.Values[s] != c.Ranked[i].Score.Values[s] {
				t.Errorf("%s: split %d: %s is chosen with %v", name, s, chosen, c.ByValidation.Values[s])
			}
		}
		text := string(journal.Head())
		for _, r := range trials {
			text += string(journal.Line(r))
		}
		plan.Journal = func(j Journal) ([]Trial, func(Trial) error, error) {
			done, notes, whole, err := j.Read(strings.NewReader(text), "j.jsonl")
			if len(notes) > 0 || !whole || !slices.Equal(done, trials) {
				t.Errorf("%s: %d trials, notes %q", name, len(done), notes)
			}
			return done, func(r Trial) error { again = append(again, r); return nil }, err
		}
		plan.Ranking, plan.Progress, plan.Inside = nil, nil, nil
		if o := MustCompare(t, p.Problem, p.base, p.learners, plan); len(again) > 0 || fmt.Sprintf("%+v %+v %q %q %v %v", o.Ranked, o.ByValidation, o.Chosen, o.Notes, o.Train, o.Dropped) != fmt.Sprintf("%+v %+v %q %q %v %v", c.Ranked, c.ByValidation, c.Chosen, c.Notes, c.Train, c.Dropped) {
			t.Errorf("%s: %d trials again, and\n%+v\nwant\n%+v", name, len(again), o.Ranked, c.Ranked)
		}
		estimated := func(validation int) (seconds float64) {
			stop := Comparing{Plan: p.plan, Validation: validation}
			stop.Estimated = func(s float64) error { seconds = s; return io.EOF }
			Refused(t, name, ErrorOf(Compare(t.Context(), p.Problem, p.base, p.learners, stop)), io.EOF)
			return seconds
		}
		if one, all := estimated(0), estimated(9); all < 4*one {
			t.Errorf("%s: %v s, with 9 folds of validation %v s", name, one, all)
		}
		Refused(t, name, ErrorOf(Compare(t.Context(), p.Problem, p.base, []string{"nothing"}, Comparing{})), "unknown learner")
		if _, others, err := Comparable(p.Problem, p.base, nil, nil); err != nil || len(others) == 0 {
			t.Errorf("%s: of all learners, %d need other input, %v", name, len(others), err)
		}
	}
}

// A journal is of a problem as a whole: another number, class, pair or comparison is another problem.
func TestProblemSums(t *testing.T) {
	in := drawn(40, 300, false)
	was := in.posed(t, nil)
	for what, c := range map[string]struct {
		change func(in *input)
		kinds  []string
	}{
		"number": {func(in *input) { in.x = mat.DenseCopyOf(in.x); in.x.Set(in.links[0].I, 2, 9) }, []string{"classes", "gram", "pairs", "chunklets", "vectors"}},
		"class":  {func(in *input) { in.y = slices.Clone(in.y); in.y[3] = "z" }, []string{"classes", "gram", "chunklets"}},
		"pair":   {func(in *input) { in.links = slices.Clone(in.links); in.links[5].Label *= -1 }, []string{"pairs", "vectors"}},
		"comparison": {func(in *input) {
			in.ts = slices.Clone(in.ts)
			in.ts[5].Near, in.ts[5].Far = in.ts[5].Far, in.ts[5].Near
		}, []string{"compared", "comparisons"}},
	} {
		other := in
		c.change(&other)
		for name, p := range other.posed(t, nil) {
			if same := p.sum() == was[name].sum(); same && slices.Contains(c.kinds, name) {
				t.Errorf("%s: another %s has no part in the sum", name, what)
			}
		}
	}
	d := Must(tables.NewData(in.x, nil, nil))
	if d.Chunklets = in.y; ByChunklets(d, true).sum() == ByChunklets(d, false).sum() {
		t.Error("dissimilar pairs have no part in the sum")
	}
}

// What a split tests has no part in its choice: its inner trials stay the same whatever the test rows or items are.
func TestValidationIsBlind(t *testing.T) {
	in := drawn(40, 300, false)
	run := func(in input, name string) (trials []Trial, chosen []string) {
		p := in.posed(t, nil)[name]
		journal := func(Journal) ([]Trial, func(Trial) error, error) {
			return nil, func(r Trial) error { trials = append(trials, r); return nil }, nil
		}
		chosen = MustCompare(t, p.Problem, p.base, p.learners, Comparing{Plan: p.plan, Validation: 2, Journal: journal}).Chosen
		return trials, chosen
	}
	named := map[string]map[int]bool{"classes": {}, "pairs": {}, "chunklets": {}, "vectors": {}, "compared": {}}
	for i := range 40 {
		named["classes"][i], named["chunklets"][i] = true, true
	}
	for k, l := range in.links {
		v := in.ts[k]
		named["pairs"][l.I], named["pairs"][l.J], named["vectors"][l.I], named["vectors"][l.J] = true, true, true, true
		named["compared"][v.A], named["compared"][v.Near], named["compared"][v.Far] = true, true, true
	}
	for name, of := range named {
		items := slices.SortedFunc(maps.Keys(of), func(i, j int) int { return cmp.Compare(in.x.At(i, 0), in.x.At(j, 0)) }) // the first column gives the order
		var y []int
		for _, i := range items {
			y = append(y, int(in.y[i][0]))
		}
		was, chosen := run(in, name)
		for s := range 6 {
			out := make([]bool, len(items))
			if name == "classes" {
				for k, fold := range sample.StratifiedFolds(random.Seed{Base: 3, Experiment: "model/evaluate", Trial: s / 3}.Stream("folds"), y, 3) {
					out[k] = fold == s%3
				}
			} else {
				for _, k := range itemsOf(3, s).Perm(len(items))[:int(math.Ceil(.3*float64(len(items))))] {
					out[k] = true
				}
			}
			changed := in
			changed.x = mat.DenseCopyOf(in.x)
			for k, i := range items {
				if out[k] {
					changed.x.SetRow(i, []float64{in.x.At(i, 0), 100 + float64(i*i), 7 * float64(k)})
				}
			}
			is, other := run(changed, name)
			inner := func(all []Trial) map[trialKey]Trial {
				out := map[trialKey]Trial{}
				for _, r := range all {
					if r.Split == s && r.Inner > 0 {
						out[trialKey{r.Learner, s, r.Inner}] = r
					}
				}
				return out
			}
			if a, b := inner(was), inner(is); len(a) == 0 || !maps.Equal(a, b) || chosen[s] != other[s] {
				t.Errorf("%s, split %d: the inner trials are %v, with other test items %v; chosen %s and %s", name, s, a, b, chosen[s], other[s])
			}
		}
	}
}

// No evaluation and no comparison changes, to the bit, when rows or lines are permuted, however many distances are equal.
func TestEvaluationsIgnoreOrder(t *testing.T) {
	in := drawn(36, 90, true)
	rng := rand.New(rand.NewPCG(9, 1))
	scores := func(in input, place []int) map[string]string {
		out := map[string]string{}
		for name, p := range in.posed(t, place) {
			for learner, r := range p.recipes(t) {
				out[name+" "+learner] = found(MustEvaluate(t, p.Problem, r, p.plan))
			}
			c := MustCompare(t, p.Problem, p.base, p.learners, Comparing{Plan: p.plan, Validation: 2})
			out[name] = fmt.Sprintf("%+v %q", c.ByValidation, c.Chosen)
			for _, e := range c.Ranked {
				out[name] += fmt.Sprintf("%+v", e)
			}
		}
		return out
	}
	want := scores(in, nil)
	for range 3 {
		for name, got := range scores(in.permuted(rng)) {
			if got != want[name] {
				t.Errorf("%s: %s\npermuted %s", name, want[name], got)
			}
		}
	}
}

// A sample has of each class or label its share, is the same of permuted rows, and is the whole where there are no more.
func TestSample(t *testing.T) {
	in := drawn(40, 300, false)
	other, place := in.permuted(rand.New(rand.NewPCG(10, 1)))
	permuted := other.posed(t, place)
	shares := func(pr Problem) map[string]int {
		out := map[string]int{}
		for _, k := range kinds(pr) {
			out[k]++
		}
		return out
	}
	for name, p := range in.posed(t, nil) {
		draw := func(pr Problem, n int) (Problem, string, error) { return pr.Sample(rand.New(rand.NewPCG(11, 1)), n) }
		for _, n := range []int{0, -1} {
			Refused(t, name, third(draw(p.Problem, n)), fmt.Sprintf("sample: %d is not allowed, want at least 1", n))
		}
		if name == "chunklets" {
			Refused(t, name, third(draw(p.Problem, 5)), "sample: it does not apply to chunklets")
			continue
		}
		whole, all := shares(p.Problem), len(kinds(p.Problem))
		if pr, said, err := draw(p.Problem, all); err != nil || said != "" || !reflect.DeepEqual(pr.task, p.task) && !strings.Contains(fmt.Sprintf("%T", p.task), "ofVectors") || !maps.Equal(shares(pr), whole) {
			t.Errorf("%s: a sample of all: %q, error %v", name, said, err)
		}
		for _, n := range []int{1, all / 3, all - 1} {
			pr, said, err := draw(p.Problem, n)
			for k, got := range shares(pr) {
				if share := float64(n) * float64(whole[k]) / float64(all); math.Abs(float64(got)-share) > .5 && got != 1 {
					t.Errorf("%s: %d of %v, want %v", name, got, k, share)
				}
			}
			if err != nil || !strings.HasPrefix(said, fmt.Sprintf("a sample of %d of %d ", len(kinds(pr)), all)) || len(shares(pr)) != len(whole) {
				t.Errorf("%s: %q of %v, error %v", name, said, shares(pr), err)
			}
			if n != all/3 {
				continue
			}
			if again, _, _ := draw(p.Problem, n); again.sum() != pr.sum() {
				t.Errorf("%s: another sample", name)
			}
			twin, _, err := draw(permuted[name].Problem, n)
			r := p.recipes(t)[p.learners[0]]
			if a, b := found(MustEvaluate(t, pr, r, p.plan)), found(MustEvaluate(t, twin, r, p.plan)); err != nil || a != b {
				t.Errorf("%s: %s\nof permuted rows %s", name, a, b)
			}
		}
	}
}

// kinds are the classes or labels of what a sample is drawn from.
func kinds(pr Problem) (out []string) {
	labels := func(links []metric.Link) (out []string) {
		for _, l := range links {
			out = append(out, fmt.Sprint(l.Label))
		}
		return out
	}
	switch v := pr.task.(type) {
	case rows:
		return v.d.Labels
	case objects:
		return v.labels
	case rowPairs:
		return labels(v.d.Links)
	case ofVectors[metric.Link]:
		return labels(v.list)
	case ofVectors[metric.Triplet]:
		return make([]string, len(v.list))
	}
	return make([]string, len(pr.task.(answers).set.List))
}

func third[A, B any](_ A, _ B, err error) error { return err }

// No data are a mistake of the program.
func TestNoDataPanics(t *testing.T) {
	const data = "tables: the data, or their X, are nil"
	for what, c := range map[string]struct {
		pr      Problem
		learner string
		want    any
	}{
		"classes":        {ByClasses(nil), Euclidean, data},
		"no rows":        {ByClasses(&tables.Data{}), Euclidean, data},
		"pairs":          {PairsOfRows(nil), "pola", data},
		"chunklets":      {ByChunklets(nil, true), "pola", data},
		"gram":           {ByGram(nil, []string{"a", "b"}), "kernel-pca", "model: ByGram: k0 is nil or empty"},
		"gram, empty":    {ByGram(&mat.SymDense{}, nil), "kernel-pca", "model: ByGram: k0 is nil or empty"},
		"constraints":    {ByConstraints(nil, nil), "spectral", "model: ByConstraints: k0 is nil or empty"},
		"comparisons":    {ByComparisons(nil), "erkle", "model: ByComparisons: no triplets"},
		"no comparisons": {ByComparisons(&feedback.Triplets{}), "erkle", "model: ByComparisons: no triplets"},
		"vectors":        {PairsOfVectors(nil, []metric.Link{{J: 1, Label: metric.Similar}}), "pola", nil},
		"of vectors":     {ComparisonsOfVectors(nil, []metric.Triplet{{Near: 1, Far: 2}}), "itml", nil},
	} {
		if _, err := c.pr.Resolved(Recipe{Learner: c.learner}); err != nil { // needs no data
			t.Errorf("%s: %v", what, err)
		}
		Panics(t, what+": Fit", c.want, func() { _, _ = Fit(t.Context(), c.pr, Recipe{Learner: c.learner}, nil) })
		if what != "constraints" {
			Panics(t, what+": Evaluate", c.want, func() { _, _ = Evaluate(t.Context(), c.pr, Recipe{Learner: c.learner}, Plan{}) })
		}
	}
}

// The order of items that only comparisons tell apart does not depend on their numbers.
func TestCanonical(t *testing.T) {
	var want []metric.Triplet
	perms(3, func(p []int) {
		ts := []metric.Triplet{{A: p[0], Near: p[1], Far: p[2]}}
		got := recompared(ts, placed(canonical(3, func(int, int) int { return 0 }, compared(3, ts))))
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("objects %v: %v, of others %v", p, got, want)
		}
	})
}

// Once a job has failed none begins, whatever others do that have begun.
func TestParallel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	second, failed := make(chan struct{}), make(chan struct{})
	var begun atomic.Int32
	broken := errors.New("broken")
	err := parallel(t.Context(), 9, func(done, _ int) {
		if done == 1 {
			close(failed)
		}
	}, func(_ context.Context, i int) error {
		switch begun.Add(1); i {
		case 0:
			<-second
			return broken
		case 1:
			close(second)
			<-failed
		}
		return nil
	})
	if err != broken || begun.Load() != 2 {
		t.Errorf("%d jobs, error %v", begun.Load(), err)
	}
}
