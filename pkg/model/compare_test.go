package model_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"metriclab/internal/heappeak"
	"metriclab/pkg/judge"
	"metriclab/pkg/limits"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
)

var quick = model.Comparing{Plan: model.Plan{Ks: []int{1, 3}, Folds: 3, Repeats: 3}, Validation: 2}

// recorded is a Journal of trials that are done, and appends others.
func recorded(done []model.Trial, to *[]model.Trial) func(model.Journal) ([]model.Trial, func(model.Trial) error, error) {
	return func(model.Journal) ([]model.Trial, func(model.Trial) error, error) {
		return done, func(r model.Trial) error { *to = append(*to, r); return nil }, nil
	}
}

// runComparison returns what was found, and the trials.
func runComparison(t *testing.T, d *tables.Data, names []string, p model.Comparing) (*model.Comparison, []model.Trial) {
	t.Helper()
	var trials []model.Trial
	p.Journal = recorded(nil, &trials)
	return model.MustCompare(t, model.ByClasses(d), model.Recipe{}, names, p), trials
}

// The row of the choice is what its definition says, from the trials.
func TestChoiceByValidation(t *testing.T) {
	d := blobs(3, 50, 2, 5)
	c, trials := runComparison(t, d, []string{"lego", "fda", "pca", "euclidean", "invcov"}, quick)
	seconds := map[string]float64{}
	for _, r := range c.Ranked {
		seconds[r.Recipe.Learner] = r.Seconds
	}
	differ := false
	for split := range 9 {
		wrong, tested, rows, sides := map[string]float64{}, map[string]float64{}, 0, [3]float64{}
		for _, r := range trials {
			if r.Split == split && r.Learner == "fda" { // the inner folds are what the split does not test
				rows += r.Rows
				sides[r.Inner] = r.Wrong
			}
			switch {
			case r.Split == split && r.Inner > 0:
				wrong[r.Learner] += r.Wrong
			case r.Split == split:
				tested[r.Learner] = r.Wrong / float64(r.Rows)
			}
		}
		if differ = differ || sides[1] != sides[2]; rows != 50 {
			t.Errorf("split %d: %d rows in its folds, want 50", split, rows)
		}
		best := ""
		for name, w := range wrong {
			if best == "" || w < wrong[best] || w == wrong[best] && seconds[name] < seconds[best] {
				best = name
			}
		}
		if c.Chosen[split] != best || c.ByValidation.Values[split] != tested[best] {
			t.Errorf("split %d: %s with %v, want %s with %v", split, c.Chosen[split], c.ByValidation.Values[split], best, tested[best])
		}
	}
	if !differ {
		t.Error("both inner folds are one")
	}
	if got := judge.SummarizeResampled(c.ByValidation.Values, 0.5); !reflect.DeepEqual(got, c.ByValidation.Summary) {
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
			diffs[s] = r.Score.Values[s] - c.Ranked[0].Score.Values[s]
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
	for i := range d.Labels { // classes far apart: nobody errs
		d.X.Set(i, 0, d.X.At(i, 0)+1000*float64(i%2))
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
	if slices.ContainsFunc(c.Chosen, func(name string) bool { return name != model.Euclidean }) {
		t.Errorf("chosen are %q", c.Chosen)
	}
}

// A comparison that was ended goes on from its trials to the same result, and says what is missing until then.
func TestCompareGoesOn(t *testing.T) {
	d := blobs(6, 36, 3, 3)
	names := []string{"euclidean", "fda", "pola", "mcml"}
	whole, _ := runComparison(t, d, names, quick)
	for _, after := range []int{0, 1, 5, 9, 13, 25, 36, 40, 71} {
		ctx, cancel := context.WithCancel(t.Context())
		var trials, again []model.Trial
		p := quick
		p.Journal = func(model.Journal) ([]model.Trial, func(model.Trial) error, error) {
			return nil, func(r model.Trial) error {
				if len(trials) < after {
					trials = append(trials, r)
				}
				if len(trials) == after {
					cancel()
				}
				return nil
			}, nil
		}
		if after == 0 {
			cancel()
		}
		c := must(model.Compare(ctx, model.ByClasses(d), model.Recipe{}, names, p))
		cancel()
		if len(c.Ranked)+len(c.Others) != 4 || !errors.Is(c.Err, context.Canceled) {
			t.Errorf("after %d trials: %d finished, %d others, %v", after, len(c.Ranked), len(c.Others), c.Err)
		}
		// Learners take turns: two splits of each, then four, then three. One trial more may have been under way.
		made := map[bool]int{true: 2}[after > 1]
		for _, round := range []int{6, 9} {
			if after >= 4*round {
				made = round
			}
		}
		if len(c.Ranked) < min(4, after/2) || after == 0 && len(c.Ranked) > 0 || after > 1 && c.Made < made {
			t.Errorf("after %d trials: %d are ranked by %d splits, want %d", after, len(c.Ranked), c.Made, made)
		}
		for _, e := range c.Ranked {
			i := slices.IndexFunc(whole.Ranked, func(w model.Contender) bool { return w.Recipe.Learner == e.Recipe.Learner })
			if !slices.Equal(e.Score.Values, whole.Ranked[i].Score.Values[:c.Made]) {
				t.Errorf("after %d trials: %s: %v, want the first of %v", after, e.Recipe.Learner, e.Score.Values, whole.Ranked[i].Score.Values)
			}
		}
		for _, e := range c.Others {
			if e.State != model.Unfinished || !strings.Contains(e.Reason, " of 9 splits done") {
				t.Errorf("after %d trials: %s: %s, %s", after, e.Recipe.Learner, e.State, e.Reason)
			}
		}
		p.Journal = recorded(trials, &again)
		c = model.MustCompare(t, model.ByClasses(d), model.Recipe{}, names, p)
		if len(again)+len(trials) != 4*9*3 {
			t.Errorf("%d trials were made again after %d", len(again), len(trials))
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
	p.Limit = 10 * time.Millisecond                                                           // which may end the first learner, too
	p.Journal = recorded([]model.Trial{{Learner: "pola-batch", Rows: 1}}, new([]model.Trial)) // one of its splits is known
	c = model.MustCompare(t, model.ByClasses(d), model.Recipe{}, []string{"euclidean", "pola-batch"}, p)
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
	c, _ = runComparison(t, d, []string{"fda", "pca"}, model.Comparing{Plan: model.Plan{Ks: []int{1}, Folds: 2, Repeats: 1}})
	if len(c.Tied()) > 0 || !strings.Contains(strings.Join(c.Notes, ";"), "fewer than 6 splits") {
		t.Errorf("2 splits: tied %v, %q", c.Tied(), c.Notes)
	}
	_, c.Others, _ = model.Comparable(model.ByClasses(nil), model.Recipe{}, nil, nil)
	if s, why := state(c, "erkle"); s != model.OtherInput || !strings.Contains(why, "relative comparisons") {
		t.Errorf("%s: %s", s, why)
	}
	broken := errors.New("disk full")
	for _, begun := range []error{nil, broken} {
		p := quick
		p.Journal = func(model.Journal) ([]model.Trial, func(model.Trial) error, error) {
			return nil, func(model.Trial) error { return broken }, begun
		}
		model.Refused(t, "an of the journal", model.ErrorOf(model.Compare(t.Context(), model.ByClasses(d), model.Recipe{}, []string{"fda", "pca"}, p)), broken)
	}
}

func TestCompareErrors(t *testing.T) {
	d := blobs(9, 20, 2, 3)
	for _, tt := range []struct {
		base  model.Recipe
		names []string
		want  string
	}{
		{model.Recipe{Learner: "fda"}, nil, "neither in the recipe"},
		{model.Recipe{}, []string{}, "none given"},
		{model.Recipe{}, []string{"fda", "nothing"}, "unknown learner"},
		{model.Recipe{}, []string{"itml", "logdet"}, "learner itml is given twice"},
		{model.Recipe{}, []string{"erkle"}, "learns from relative comparisons"},
		{model.Recipe{Pairs: -1}, []string{"fda", "pola"}, "pairs: -1"},
	} {
		err := model.ErrorOf(model.Compare(t.Context(), model.ByClasses(d), tt.base, tt.names, quick))
		if _, ok := errors.AsType[*tables.OptionError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.names, err, tt.want)
		}
	}
	// Rows that do not suffice for a validation: a note.
	p := quick
	p.Ks = []int{1, 11}
	c, _ := runComparison(t, d, []string{"fda", "euclidean"}, p)
	if c.ByValidation != nil || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "no error of the choice by validation") {
		t.Errorf("%q", c.Notes)
	}
}

// journalOf is the journal of a comparison, which stops before its first trial.
func journalOf(t testing.TB, d *tables.Data, base model.Recipe, p model.Comparing) (j model.Journal) {
	t.Helper()
	stop := errors.New("stop")
	p.Journal = func(of model.Journal) ([]model.Trial, func(model.Trial) error, error) { j = of; return nil, nil, stop }
	names := []string{"fda", "euclidean", "pola", "pca", "itml"}
	if _, err := model.Compare(t.Context(), model.ByClasses(d), base, names, p); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	return j
}

// readJournal is Journal.Read of text.
func readJournal(j model.Journal, text string) ([]model.Trial, []string, bool, error) {
	return j.Read(strings.NewReader(text), "j.jsonl")
}

// journalText is a file of trials.
func journalText(j model.Journal, trials []model.Trial) string {
	text := string(j.Head())
	for _, r := range trials {
		text += string(j.Line(r))
	}
	return text
}

func TestJournal(t *testing.T) {
	d := blobs(10, 30, 3, 3)
	_, trials := runComparison(t, d, []string{"fda", "euclidean"}, quick)
	j := journalOf(t, d, model.Recipe{}, quick)
	text := journalText(j, trials)
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
	few := journalText(j, trials[:3])
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
		{journalOf(t, other, model.Recipe{}, quick), "another table"},
		{journalOf(t, renamed, model.Recipe{}, quick), "another table"},
		{journalOf(t, d, model.Recipe{}, plan), "with folds 3, this one has 4"},
		{journalOf(t, d, model.Recipe{}, seeded), "with seed 1, this one has 3"},
		{journalOf(t, d, model.Recipe{Pairs: 50}, quick), "with pairs 0, this one has 50"},
		{journalOf(t, d, model.Recipe{Raw: true}, quick), "features as they are false"},
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
		change(func(r *model.Trial) { r.Version = 0 }):                           "version 0 of",
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
	model.Limit(t, 100)
	_, _, _, err = readJournal(j, text)
	model.Refused(t, "a journal beyond the limit", err, "journal j.jsonl")
}

// What is read can be gone on from, and written again as it was.
func FuzzReadJournal(f *testing.F) {
	d := blobs(10, 30, 3, 3)
	j := journalOf(f, d, model.Recipe{}, quick)
	f.Add(string(j.Head()) + string(j.Line(model.Trial{Learner: "fda", Version: 1, Rows: 10, Wrong: 1, K: 1})))
	f.Add(string(j.Head()[:20]))
	f.Fuzz(func(t *testing.T, text string) {
		trials, _, _, err := readJournal(j, text)
		if err != nil {
			return
		}
		again, _, _, err := readJournal(j, journalText(j, trials))
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

// Parameters of a learner, by its name or an alias, count in the comparison as they do in evaluate, and in its journal.
func TestCompareParams(t *testing.T) {
	d := blobs(6, 36, 3, 3)
	names := []string{"pca", "logdet"}
	p := quick
	p.Params = map[string]map[string]string{"pca": {"dim": "1"}, "logdet": {"gamma": "0.5"}}
	var trials []model.Trial
	p.Journal = recorded(nil, &trials)
	for _, e := range model.MustCompare(t, model.ByClasses(d), model.Recipe{}, names, p).Ranked {
		params := p.Params[map[string]string{"pca": "pca", "itml": "logdet"}[e.Recipe.Learner]]
		if one, _ := scores(evaluate(t, d, model.Recipe{Learner: e.Recipe.Learner, Params: params}, p.Plan)); !slices.Equal(e.Score.Values, one.Values) {
			t.Errorf("%s %v: %v, evaluate says %v", e.Recipe.Learner, e.Recipe.Params, e.Score.Values, one.Values)
		}
	}
	whole := journalText(journalOf(t, d, model.Recipe{}, p), trials)
	byName := p
	byName.Params = map[string]map[string]string{"pca": {"dim": "1"}, "itml": {"gamma": "0.5"}}
	if again, _, _, err := readJournal(journalOf(t, d, model.Recipe{}, byName), whole); err != nil || !slices.Equal(again, trials) {
		t.Errorf("an alias is another learner: %v", err)
	}
	for _, params := range []map[string]map[string]string{nil, {"pca": {"dim": "2"}, "itml": {"gamma": "0.5"}}} {
		other := p
		other.Params = params
		_, _, _, err := readJournal(journalOf(t, d, model.Recipe{}, other), whole)
		model.Refused(t, params, err, "with parameters map[")
	}
	for want, params := range map[string]map[string]map[string]string{
		"none of the learners that are compared": {"fda": {"ridge": "1"}},
		"unknown learner":                        {"nothing": {"k": "1"}},
		"learner itml is given twice":            {"itml": {"gamma": "1"}, "logdet": {"gamma": "2"}},
		"dims":                                   {"pca": {"dims": "1"}},
	} {
		other := quick
		other.Params = params
		model.Refused(t, params, model.ErrorOf(model.Compare(t.Context(), model.ByClasses(d), model.Recipe{}, names, other)), want)
	}
}

// The peak of a learner that holds a matrix of rows × rows is more than that of one that holds features × features, and at least the matrix.
func TestComparePeak(t *testing.T) {
	const n = 500
	d := blobs(6, n, 3, 3)
	p := model.Comparing{Plan: model.Plan{Ks: []int{1}, Folds: 2, Repeats: 1}, Heap: heappeak.Bytes}
	names := []string{"euclidean", "kernel-pca"}
	c, trials := runComparison(t, d, names, p)
	peaks := map[string]int64{}
	for _, e := range c.Ranked {
		peaks[e.Recipe.Learner] = e.Peak
	}
	// The Gram matrix of half of the rows, which a fit holds while it goes on.
	if least := int64(8 * n / 2 * n / 2); peaks["kernel-pca"] < least || peaks["kernel-pca"] < peaks["euclidean"] || peaks["euclidean"] <= 0 {
		t.Errorf("%v, want at least %d of kernel-pca", peaks, least)
	}
	for i := range trials { // the most of all splits is told
		trials[i].Peak = int64(9 - trials[i].Split)
	}
	p.Heap, p.Journal = nil, recorded(trials, new([]model.Trial))
	for _, e := range model.MustCompare(t, model.ByClasses(d), model.Recipe{}, names, p).Ranked {
		if e.Peak != 9 {
			t.Errorf("%s: %d from trials that were done, want 9", e.Recipe.Learner, e.Peak)
		}
	}
}
