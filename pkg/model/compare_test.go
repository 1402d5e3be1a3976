package model_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/judge"
	"metriclab/pkg/limits"
	"metriclab/pkg/model"
	"metriclab/pkg/random"
)

var quick = model.Comparing{Plan: model.Plan{Ks: []int{1, 3}, Folds: 3, Repeats: 3}, Validation: 2}

// runComparison returns what was found, and the trials.
func runComparison(t *testing.T, d *model.Data, names []string, p model.Comparing) (*model.Comparison, []model.Trial) {
	t.Helper()
	var trials []model.Trial
	p.Record = func(r model.Trial) error { trials = append(trials, r); return nil }
	c, err := model.Compare(context.Background(), model.ByClasses(d), model.Recipe{}, names, p)
	if err != nil {
		t.Fatal(err)
	}
	return c, trials
}

// The errors are those of Evaluate, split by split, for learners of all kinds.
func TestCompareIsEvaluate(t *testing.T) {
	d := blobs(1, 60, 3, 4)
	names := []string{"fda", "euclidean", "pola", "itml", "kernel-pca", "iplr"}
	for _, seed := range []uint64{0, 7} {
		p := quick
		p.Seed = seed
		c, _ := runComparison(t, d, names, p)
		if len(c.Ranked) != len(names) {
			t.Fatalf("%d learners have finished: %+v", len(c.Ranked), c.Others)
		}
		for i, r := range c.Ranked {
			e := evaluate(t, d, model.Recipe{Learner: r.Recipe.Learner}, p.Plan)
			if !reflect.DeepEqual(e.Learner, r.Score) {
				t.Errorf("seed %d, %s: %v, evaluate says %v", seed, r.Recipe.Learner, r.Score, e.Learner)
			}
			if i > 0 && r.Score.Summary.Mean < c.Ranked[i-1].Score.Summary.Mean {
				t.Errorf("%s is behind one that is worse", r.Recipe.Learner)
			}
		}
	}
}

// What a split tests has no part in its choice: the inner trials of a split stay the same whatever its test rows are.
func TestValidationIsBlind(t *testing.T) {
	names := []string{"fda", "pola", "lmnn", "euclidean"}
	d := sorted(blobs(2, 45, 3, 3))
	c, trials := runComparison(t, d, names, quick)
	if c.ByValidation == nil || len(c.Chosen) != 9 {
		t.Fatalf("no choice: %+v", c.Notes)
	}
	classes := map[string]int{}
	y := make([]int, len(d.Labels))
	for i, l := range d.Labels {
		if _, ok := classes[l]; !ok {
			classes[l] = len(classes)
		}
		y[i] = classes[l]
	}
	for split := range 9 {
		folds := sample.StratifiedFolds(random.Seed{Base: 1, Experiment: "model/evaluate", Trial: split / 3}.Stream("folds"), y, 3)
		changed := d.Rows(indices(d))
		n, width := changed.Dims()
		for i := range n {
			if folds[i] == split%3 {
				for j := 1; j < width; j++ { // the first gives the order
					changed.X.Set(i, j, 1000+float64(i*j))
				}
			}
		}
		b, after := runComparison(t, changed, names, quick)
		inner := func(all []model.Trial) map[string]int {
			out := map[string]int{}
			for _, r := range all {
				if r.Split == split && r.Inner > 0 {
					out[fmt.Sprint(r.Learner, r.Inner)] = int(r.Wrong)*100 + r.K
				}
			}
			return out
		}
		if was, is := inner(trials), inner(after); len(was) != 8 || !reflect.DeepEqual(was, is) {
			t.Errorf("split %d: the inner trials are %v, with other test rows %v", split, was, is)
		}
		if b.Chosen[split] != c.Chosen[split] {
			t.Errorf("split %d: %s is chosen, with other test rows %s", split, c.Chosen[split], b.Chosen[split])
		}
	}
}

// The row of the choice is what its definition says, from the trials.
func TestChoiceByValidation(t *testing.T) {
	d := blobs(3, 50, 2, 5)
	c, trials := runComparison(t, d, []string{"lego", "fda", "pca", "euclidean", "invcov"}, quick)
	seconds := map[string]float64{}
	for _, r := range c.Ranked {
		seconds[r.Recipe.Learner] = r.Seconds
	}
	for split := range 9 {
		wrong, tested := map[string]float64{}, map[string]float64{}
		for _, r := range trials {
			switch {
			case r.Split == split && r.Inner > 0:
				wrong[r.Learner] += r.Wrong
			case r.Split == split:
				tested[r.Learner] = r.Wrong / float64(r.Rows)
			}
		}
		best := ""
		for name, w := range wrong {
			if best == "" || w < wrong[best] || w == wrong[best] && seconds[name] < seconds[best] {
				best = name
			}
		}
		if c.Chosen[split] != best || c.ByValidation.Errors[split] != tested[best] {
			t.Errorf("split %d: %s with %v, want %s with %v", split, c.Chosen[split], c.ByValidation.Errors[split], best, tested[best])
		}
	}
	if got := judge.SummarizeResampled(c.ByValidation.Errors, 0.5); !reflect.DeepEqual(got, c.ByValidation.Summary) {
		t.Errorf("%+v, want %+v", c.ByValidation.Summary, got)
	}
}

// P-values against the best, by the definitions, and who is taken.
func TestCompareSignificance(t *testing.T) {
	d := blobs(4, 80, 3, 6)
	p := quick
	p.Repeats, p.Validation = 4, 0
	c, _ := runComparison(t, d, []string{"euclidean", "fda", "invcov", "pca", "lsa", "rca"}, p)
	ps := make([]float64, len(c.Ranked))
	for i, r := range c.Ranked {
		diffs := make([]float64, 12)
		for s := range diffs {
			diffs[s] = r.Score.Errors[s] - c.Ranked[0].Score.Errors[s]
		}
		ps[i] = math.NaN()
		if i > 0 {
			ps[i] = judge.ResampledP(diffs, 0.5)
		}
	}
	holm := judge.Holm(ps)
	take, least := "", math.Inf(1)
	for i, r := range c.Ranked {
		if i > 0 && (r.P != ps[i] || r.Holm != holm[i]) || i == 0 && !(math.IsNaN(r.P) && math.IsNaN(r.Holm)) {
			t.Errorf("%s: p %v and %v, want %v and %v", r.Recipe.Learner, r.P, r.Holm, ps[i], holm[i])
		}
		tied := i == 0 || holm[i] >= 0.05
		if got := slices.ContainsFunc(c.Tied(), func(e model.Contender) bool { return e.Recipe.Learner == r.Recipe.Learner }); got != tied {
			t.Errorf("%s is tied with the best: %v, want %v", r.Recipe.Learner, got, tied)
		}
		if tied && r.Seconds < least {
			take, least = r.Recipe.Learner, r.Seconds
		}
	}
	if got, ok := c.Take(); !ok || got.Recipe.Learner != take {
		t.Errorf("take %s, want %s", got.Recipe.Learner, take)
	}
}

// Equal learners: the cheaper one is first, and taken.
func TestCompareTies(t *testing.T) {
	d := blobs(5, 40, 2, 1)
	x := d.X
	n, _ := x.Dims()
	for i := range n { // classes far apart: nobody errs
		if d.Labels[i] == d.Labels[0] {
			x.Set(i, 0, x.At(i, 0)+1000)
		} else {
			x.Set(i, 0, x.At(i, 0)-1000)
		}
	}
	c, _ := runComparison(t, d, []string{"mcml", "fda", "euclidean", "lmnn"}, quick)
	for i, r := range c.Ranked {
		if r.Score.Summary.Mean != 0 || i > 0 && (r.P != 1 || r.Holm != 1 || r.Seconds < c.Ranked[i-1].Seconds) {
			t.Errorf("%s: error %v, p %v, %v after %v seconds", r.Recipe.Learner, r.Score.Summary.Mean, r.P, r.Seconds, c.Ranked[max(i-1, 0)].Seconds)
		}
	}
	if take, _ := c.Take(); take.Recipe.Learner != model.Euclidean || len(c.Tied()) != 4 {
		t.Errorf("take %s of %d", take.Recipe.Learner, len(c.Tied()))
	}
	for _, name := range c.Chosen {
		if name != model.Euclidean {
			t.Errorf("%s is chosen", name)
		}
	}
}

// A comparison that was ended goes on from its trials to the same result, and says what is missing until then.
func TestCompareGoesOn(t *testing.T) {
	d := blobs(6, 36, 3, 3)
	names := []string{"euclidean", "fda", "pola", "mcml"}
	whole, _ := runComparison(t, d, names, quick)
	for _, after := range []int{0, 1, 9, 13, 36, 40, 71} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var trials []model.Trial
		p := quick
		p.Record = func(r model.Trial) error {
			if len(trials) < after {
				trials = append(trials, r)
			}
			if len(trials) == after {
				cancel()
			}
			return nil
		}
		if after == 0 {
			cancel()
		}
		c, err := model.Compare(ctx, model.ByClasses(d), model.Recipe{}, names, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Ranked)+len(c.Others) != 4 || !errors.Is(c.Err, context.Canceled) {
			t.Errorf("after %d trials: %d finished, %d others, %v", after, len(c.Ranked), len(c.Others), c.Err)
		}
		if len(c.Ranked) < after/9 && after <= 36 || after == 0 && len(c.Ranked) > 0 {
			t.Errorf("after %d trials: %d have finished", after, len(c.Ranked))
		}
		for _, e := range c.Others {
			if e.State != model.Unfinished || !strings.Contains(e.Reason, " of 9 splits done") {
				t.Errorf("after %d trials: %s: %s, %s", after, e.Recipe.Learner, e.State, e.Reason)
			}
		}
		p = quick
		p.Done = trials
		again := 0
		p.Record = func(model.Trial) error { again++; return nil }
		c, err = model.Compare(context.Background(), model.ByClasses(d), model.Recipe{}, names, p)
		if err != nil {
			t.Fatal(err)
		}
		if again+len(trials) != 4*9*3 {
			t.Errorf("%d trials were made again after %d", again, len(trials))
		}
		if fmt.Sprintf("%+v %+v", c.Ranked, c.ByValidation) != fmt.Sprintf("%+v %+v", whole.Ranked, whole.ByValidation) || !slices.Equal(c.Chosen, whole.Chosen) { // NaN differs from itself
			t.Errorf("after %d trials the result is another", after)
		}
	}
}

// What costs too much or fails is named, and the rest is ranked.
func TestCompareLeavesOut(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	d := blobs(7, 60, 3, 4)
	state := func(c *model.Comparison, name string) (model.State, string) {
		for _, e := range c.Others {
			if e.Recipe.Learner == name {
				return e.State, e.Reason
			}
		}
		return model.Finished, ""
	}
	limits.SetMemory(100_000)
	var told []string
	p := quick
	p.Ended = func(e model.Contender) { told = append(told, string(e.State)+" "+e.Recipe.Learner) }
	c, _ := runComparison(t, d, []string{"fda", "kernel-fda"}, p)
	if s, why := state(c, "kernel-fda"); s != model.LeftOut || !strings.Contains(why, "a fit to 40 rows of 4 features") || !strings.Contains(why, "250 KiB") || len(c.Ranked) != 1 {
		t.Errorf("%s: %s", s, why)
	}
	if want := []string{"left out kernel-fda", "finished fda"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	limits.SetMemory(0)
	p = quick
	p.MostSeconds = 1e-2
	c, _ = runComparison(t, d, []string{"euclidean", "pola-batch"}, p)
	if s, why := state(c, "pola-batch"); s != model.LeftOut || !strings.Contains(why, "by a rough estimate, the time limit is 10ms") {
		t.Errorf("%s: %s", s, why)
	}
	narrow := blobs(8, 60, 3, 1)
	p = quick
	p.Params = map[string]map[string]string{"pca": {"dim": "2"}}
	c, _ = runComparison(t, narrow, []string{"euclidean", "pca", "fda"}, p)
	if s, why := state(c, "pca"); s != model.Failed || !strings.Contains(why, "repeat 1, fold 1") || len(c.Ranked) != 2 || c.ByValidation == nil {
		t.Errorf("%s: %s", s, why)
	}
	c, _ = runComparison(t, d, nil, model.Comparing{Plan: model.Plan{Ks: []int{1}, Folds: 2, Repeats: 1}, MostSeconds: 1e-4})
	if s, why := state(c, "erkle"); s != model.OtherInput || !strings.Contains(why, "relative comparisons") {
		t.Errorf("%s: %s", s, why)
	}
	if len(c.Tied()) > 0 || !strings.Contains(strings.Join(c.Notes, ";"), "fewer than 6 splits") {
		t.Errorf("2 splits: tied %v, %q", c.Tied(), c.Notes)
	}
	broken := errors.New("disk full")
	p = quick
	p.Record = func(model.Trial) error { return broken }
	if _, err := model.Compare(context.Background(), model.ByClasses(d), model.Recipe{}, []string{"fda", "pca"}, p); !errors.Is(err, broken) {
		t.Errorf("an error of Record: %v", err)
	}
}

func TestCompareErrors(t *testing.T) {
	d := blobs(9, 20, 2, 3)
	plan := func(change func(p *model.Comparing)) model.Comparing {
		p := quick
		change(&p)
		return p
	}
	for _, tt := range []struct {
		base  model.Recipe
		names []string
		p     model.Comparing
		want  string
	}{
		{model.Recipe{Learner: "fda"}, nil, quick, "neither in the recipe"},
		{model.Recipe{}, []string{}, quick, "none given"},
		{model.Recipe{}, []string{"fda", "nothing"}, quick, "unknown learner"},
		{model.Recipe{}, []string{"itml", "logdet"}, quick, "learner itml is given twice"},
		{model.Recipe{}, []string{"erkle"}, quick, "learns from relative comparisons"},
		{model.Recipe{Pairs: -1}, []string{"fda", "pola"}, quick, "pairs: -1"},
		{model.Recipe{}, []string{"fda"}, plan(func(p *model.Comparing) { p.Folds = 1 }), "folds: 1"},
		{model.Recipe{}, []string{"fda"}, plan(func(p *model.Comparing) { p.Validation = 1 }), "validation: 1"},
		{model.Recipe{}, []string{"fda"}, plan(func(p *model.Comparing) { p.Validation = -2 }), "validation: -2"},
	} {
		_, err := model.Compare(context.Background(), model.ByClasses(d), tt.base, tt.names, tt.p)
		if _, ok := errors.AsType[*model.OptionError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.names, err, tt.want)
		}
	}
	// Rows that do not suffice for a validation: a note.
	c, _ := runComparison(t, d, []string{"fda", "euclidean"}, plan(func(p *model.Comparing) { p.Ks = []int{1, 11} }))
	if c.ByValidation != nil || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "no error of the choice by validation") {
		t.Errorf("%q", c.Notes)
	}
}

// readJournal is Journal.Read of text.
func readJournal(j model.Journal, text string) ([]model.Trial, []string, bool, error) {
	return j.Read(strings.NewReader(text), "j.jsonl")
}

func TestJournal(t *testing.T) {
	d := blobs(10, 30, 3, 3)
	_, trials := runComparison(t, d, []string{"fda", "euclidean"}, quick)
	j := model.NewJournal(d, model.Recipe{}, quick)
	text := string(j.Head())
	for _, r := range trials {
		text += string(j.Line(r))
	}
	got, notes, whole, err := readJournal(j, text)
	if err != nil || !whole || len(notes) > 0 || !slices.Equal(got, trials) {
		t.Fatalf("%v, %v, %v", whole, notes, err)
	}
	for cut := range len(text) { // as a killed run leaves it
		got, notes, whole, err := readJournal(j, text[:cut])
		want := strings.Count(text[:cut], "\n") - 1
		if text[cut] == '\n' { // the line lacks nothing else
			want++
		}
		if err != nil || len(notes) > 0 || whole != (cut == 0 || text[cut-1] == '\n') || len(got) != max(0, want) {
			t.Fatalf("cut at %d: %d trials, %v, %v, %v", cut, len(got), notes, whole, err)
		}
		if again, _, _, err := readJournal(j, text[:cut]+"\n"+text); err != nil || len(again) != len(trials) { // another run went on, or had found nothing
			t.Fatalf("cut at %d, then whole: %d trials, %v", cut, len(again), err)
		}
	}
	head := string(j.Head())
	few := head
	for _, r := range trials[:3] {
		few += string(j.Line(r))
	}
	for bit := 0; bit < 8*len(few); bit += 3 {
		flipped := []byte(few)
		flipped[bit/8] ^= 1 << (bit % 8)
		got, notes, _, err := readJournal(j, string(flipped))
		if lost := 3 - len(got); err != nil || lost > 2 || len(notes) == 0 && (lost > 1 || bit/8 < len(few)-1 && lost > 0) {
			t.Fatalf("bit %d: %d trials, %v, %v", bit, len(got), notes, err)
		}
		for _, r := range got {
			if !slices.Contains(trials, r) {
				t.Fatalf("bit %d: %+v is no trial", bit, r)
			}
		}
	}
	other := blobs(11, 30, 3, 3)
	renamed := blobs(10, 30, 3, 3)
	renamed.Labels[4] += "x"
	plan := quick
	plan.Folds = 4
	seeded := quick
	seeded.Seed = 3
	for _, tt := range []struct {
		j    model.Journal
		want string
	}{
		{model.NewJournal(other, model.Recipe{}, quick), "another table"},
		{model.NewJournal(renamed, model.Recipe{}, quick), "another table"},
		{model.NewJournal(d, model.Recipe{}, plan), "with folds 3, this one has 4"},
		{model.NewJournal(d, model.Recipe{}, seeded), "with seed 1, this one has 3"},
		{model.NewJournal(d, model.Recipe{Pairs: 50}, quick), "with pairs 0, this one has 50"},
		{model.NewJournal(d, model.Recipe{Raw: true}, quick), "features as they are false"},
	} {
		if _, _, _, err := readJournal(tt.j, text); !errors.Is(err, model.ErrJournal) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
	fits, _, _ := strings.Cut(strings.Replace(head, fmt.Sprintf(`"fit":%d`, model.Version), `"fit":1`, 1), `,"seal"`)
	fits = fmt.Sprintf(`%s,"seal":"%.8x"}`+"\n", fits, sha256.Sum256([]byte(fits+"}\n"+fits)))
	if _, _, _, err := readJournal(j, fits); !errors.Is(err, model.ErrJournal) || !strings.Contains(err.Error(), "with fits of version 1, this one has 2") {
		t.Errorf("a journal of other fits: %v", err)
	}
	good := trials[0]
	change := func(f func(r *model.Trial)) string {
		r := good
		f(&r)
		return head + string(j.Line(r))
	}
	for text, want := range map[string]string{
		"hello":      "j.jsonl:1: ",
		"hello\n":    "j.jsonl:1: ",
		"x,y\n1,2\n": "does not begin as a journal does",
		"{}\n":       "does not begin as a journal does",
		head + string(j.Line(good)) + change(func(r *model.Trial) { r.Wrong++ }): "j.jsonl:4: ",
		change(func(r *model.Trial) { r.Learner = "" }):                          `learner "" is unknown`,
		change(func(r *model.Trial) { r.Version = 99 }):                          "version 99 of",
		change(func(r *model.Trial) { r.Split = 9 }):                             "there is no such split",
		change(func(r *model.Trial) { r.Split = -1 }):                            "there is no such split",
		change(func(r *model.Trial) { r.Inner = 3 }):                             "there is no such split",
		change(func(r *model.Trial) { r.Wrong = float64(r.Rows) + 1 }):           "are wrong",
		change(func(r *model.Trial) { r.Rows = 0 }):                              "are wrong",
		change(func(r *model.Trial) { r.K = 5 }):                                 "k: 5",
		change(func(r *model.Trial) { r.Seconds = -1 }):                          "cpu_seconds",
		strings.Replace(head, `"version":3`, `"version":1`, 1):                   "format version 1",
		strings.Repeat("\x00", 100) + "\n":                                       "does not begin",
		strings.Replace(head, "metriclab comparison", "other thing", 1):          "does not begin",
	} {
		_, _, _, err := readJournal(j, text)
		if !errors.Is(err, model.ErrJournal) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(100)
	if _, _, _, err := readJournal(j, text); err == nil || !strings.Contains(err.Error(), "journal j.jsonl") {
		t.Errorf("a journal beyond the limit: %v", err)
	}
}

// What is read can be gone on from, and written again as it was.
func FuzzReadJournal(f *testing.F) {
	d := blobs(10, 30, 3, 3)
	j := model.NewJournal(d, model.Recipe{}, quick)
	f.Add(string(j.Head()) + string(j.Line(model.Trial{Learner: "fda", Version: 1, Rows: 10, Wrong: 1, K: 1})))
	f.Add(string(j.Head()[:20]))
	f.Fuzz(func(t *testing.T, text string) {
		trials, _, _, err := readJournal(j, text)
		if err != nil {
			return
		}
		var b bytes.Buffer
		b.Write(j.Head())
		for _, r := range trials {
			b.Write(j.Line(r))
		}
		again, _, _, err := j.Read(&b, "again")
		if err != nil || !slices.Equal(again, trials) {
			t.Fatalf("%v, want %v: %v", again, trials, err)
		}
	})
}

func TestRoughly(t *testing.T) {
	for s, want := range map[float64]string{0: "less than 1s", 1: "about 1s", 89: "about 89s", 100: "about 2m", 3600: "about 60m", 7200: "about 2h", 3e5: "about 3 days", 1e9: "about 31.7 years"} {
		if got := model.Roughly(s); got != want {
			t.Errorf("%v: %s, want %s", s, got, want)
		}
	}
}
