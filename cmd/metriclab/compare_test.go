package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"metriclab/pkg/model"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// writeBlobs writes a table of three classes that overlap.
func writeBlobs(t *testing.T, name string, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("u,v,w,class\n")
	for i := range n {
		fmt.Fprintf(&b, "%.3f,%.3f,%.3f,%c\n", rng.NormFloat64()+2*float64(i%3), rng.NormFloat64(), 9*rng.NormFloat64(), 'a'+rune(i%3))
	}
	writeTest(t, name, b.String())
}

// endAt ends a context once a text is written.
type endAt struct {
	bytes.Buffer
	text string
	end  func()
}

func (w *endAt) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.String(), w.text) {
		w.end()
	}
	return n, err
}

// What is damaged in a journal runs again: it changes no number, and no note on it stands in the comparison itself.
func TestCompareDamagedJournal(t *testing.T) {
	t.Chdir(t.TempDir())
	writeBlobs(t, "t.csv", 30)
	c := newCommand(toys(nil))
	compare := func() string {
		t.Helper()
		if code := c.run(strings.Fields("compare t.csv --label class --learners fda,euclidean --repeats 1 --json --resume j.jsonl")...); code != exitOK {
			t.Fatal(c.err.String())
		}
		return measuredTime.ReplaceAllString(c.out.String(), "MEASURED")
	}
	want, whole := compare(), readTest(t, "j.jsonl")
	head, trials, _ := strings.Cut(whole, "\n")
	for what, damaged := range map[string]string{
		"a bit of a trial":  head + "\n" + strings.Replace(trials, "1", "0", 1),
		"a byte of a trial": head + "\n\xff" + trials[1:],
		"a line cut off":    head + "\n" + trials[:len(trials)/2] + "\n",
	} {
		writeTest(t, "j.jsonl", damaged)
		if got := compare(); got != want || !strings.Contains(c.err.String(), "j.jsonl") {
			t.Errorf("%s: it says %s, and gives\n%s\nwant\n%s", what, c.err.String(), got, want)
		}
	}
}

// An interrupt ranks what is done, with exit code 130, and the same command goes on to the same ranking.
func TestCompareInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	writeBlobs(t, "t.csv", 60)
	args := []string{"compare", "t.csv", "--label", "class", "--learners", "mcml,fda,pola,euclidean", "--repeats", "2", "--resume", "j.jsonl"}
	whole := newCommand(toys(nil))
	if code := whole.run(args[:len(args)-2]...); code != exitOK {
		t.Fatal(whole.err.String())
	}
	for _, end := range []string{"euclidean: error", "fda: error", "pola: error"} {
		ctx, cancel := context.WithCancel(context.Background())
		c := newCommand(toys(nil))
		told := &endAt{text: end, end: cancel}
		c.app.streams(&c.out, told)
		if code := execute(ctx, c.app, args); code != exitInterrupted {
			t.Fatalf("%s: exit code %d: %s", end, code, told.String())
		}
		for _, want := range []string{"Interrupted. The same command goes on from j.jsonl.", "\neuclidean ", "6 of the 10 splits"} {
			if want == "6 of the 10 splits" { // or those of most learners
				want = map[string]string{"euclidean: error": want, "fda: error": "Unfinished: ", "pola: error": "the time was over before the choice by validation"}[end]
			}
			if !strings.Contains(c.out.String(), want) {
				t.Errorf("%s: no %q in\n%s", end, want, c.out.String())
			}
		}
	}
	f, err := os.OpenFile("j.jsonl", os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"learner":"po`) // of a killed run
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	c := newCommand(toys(nil))
	if code := c.run(args...); code != exitOK || c.out.String() != whole.out.String() {
		t.Errorf("exit code %d, after interrupts\n%s%s\nwithout\n%s", code, c.err.String(), c.out.String(), whole.out.String())
	}
	if code := c.run(args...); code != exitOK || c.out.String() != whole.out.String() {
		t.Errorf("exit code %d, from a whole journal\n%s%s", code, c.err.String(), c.out.String())
	}
	// Of the time limit, too.
	if code := c.run("compare", "t.csv", "--label", "class", "--learners", "pola-batch,euclidean", "--repeats", "1", "--time-limit", "1ns"); code != exitFailed || !strings.Contains(c.out.String(), "Left out: euclidean: ") {
		t.Errorf("exit code %d, %s", code, c.out.String())
	}
}

// What goes on inside a split is told beside the splits: the iterations of the learner at work, also while a learner is chosen by validation.
func TestCompareTellsInside(t *testing.T) {
	t.Chdir(t.TempDir())
	writeBlobs(t, "t.csv", 60)
	c := newCommand(toys(nil))
	c.app.every = 0
	if code := c.run("compare", "t.csv", "--label", "class", "--learners", "lmnn,euclidean", "--repeats", "1", "--validation", "2"); code != exitOK {
		t.Fatal(c.err.String())
	}
	for _, want := range []string{`\d of 2 splits.*; in split \d: 1 of at most \d+`, `\d of 5 splits.*; in split \d: 1 of at most \d+`, `\d+ of 30 splits.*; in split \d: 1 of at most \d+`} {
		if !regexp.MustCompile(want).MatchString(c.err.String()) {
			t.Errorf("want %s in\n%.800s", want, c.err.String())
		}
	}
}

// Learners are compared on every kind of problem, and what does not go together is refused by name.
func TestCompareKinds(t *testing.T) {
	everyFile(t)
	c := newCommand(toys(nil))
	for _, tt := range []struct{ line, measure string }{
		{"compare --vectors X.npy --pairs pairs.csv --repeats 6 --validation 2 --figure f.svg", "1 − AUC"},
		{"compare --vectors X.npy --triplets t.csv --learners itml,cosine --repeats 6 --validation 0", "triplet error"},
		{"compare train.csv --pairs pairs.csv --drop class --learners itml,kernel-pola,cosine --repeats 6 --validation 2", "1 − AUC"},
		{"compare --triplets t.csv --learners erkle,gnmds --repeats 2 --dim 2", "triplet error"},
		{"compare --gram k0.csv --labels l.csv --learners kernel-pca,euclidean --repeats 2 --folds 3", "kNN error"},
	} {
		if code := c.run(strings.Fields(tt.line + " --json")...); code != exitOK {
			t.Errorf("%s: %s", tt.line, c.err.String())
			continue
		}
		var r compared
		if err := json.Unmarshal(c.out.Bytes(), &r); err != nil || r.Measure != tt.measure || len(r.Ranked) < 2 || !r.Complete {
			t.Errorf("%s: %+v, %v", tt.line, r, err)
		}
		if code := c.run(strings.Fields(tt.line)...); code != exitOK || !strings.Contains(c.out.String(), tt.measure+" in %") {
			t.Errorf("%s: %s%s", tt.line, c.out.String(), c.err.String())
		}
	}
	if svg := readTest(t, "f.svg"); !strings.Contains(svg, ">itml<") || !strings.Contains(svg, ">best by validation<") {
		t.Error("the figure lacks itml, or the choice")
	}
	for line, want := range map[string]string{
		"compare --vectors X.npy":                                              "flags --pairs and --triplets",
		"compare --vectors X.npy --pairs pairs.csv --triplets t.csv":           "flag --triplets: not together with --vectors X.npy --pairs PAIRS.csv",
		"compare --vectors X.npy --pairs pairs.csv --folds 3 --test-share 0.5": "folds and test-share",
		"compare --vectors X.npy --pairs pairs.csv --learners fda":             "fda",
		"compare --triplets t.csv --k 3":                                       "flag --k",
		"compare --triplets t.csv --test-share 0.5":                            "flag --test-share",
		"compare train.csv --drop class --pairs pairs.csv --folds 9999":        "folds: 9999",
		"compare train.csv --drop class --pairs pairs.csv --learners fda":      "fda",
		"compare --gram k0.csv":                                                "flag --labels: no file given",
		"compare --gram k0.csv --labels l.csv --pairs pairs.csv":               "flag --pairs: \"pairs.csv\" is not allowed",
		"compare --gram k0.csv --labels l.csv --label a":                       "flag --label",
	} {
		if code := c.run(strings.Fields(line)...); code == exitOK || !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: exit code %d: %s, want %q", line, code, c.err.String(), want)
		}
	}
}

// The numbers are those of evaluate, and the figure has all of them.
func TestCompareIsEvaluate(t *testing.T) {
	t.Chdir(t.TempDir())
	writeBlobs(t, "t.csv", 60)
	c := newCommand(toys(nil))
	names := []string{"fda", "pola", "euclidean", "logdet", "euclidean-raw"}
	if code := c.run("compare", "t.csv", "--label", "class", "--learners", strings.Join(names, ","), "--repeats", "2", "--seed", "5", "--json", "--figure", "c.svg"); code != exitOK {
		t.Fatal(c.err.String())
	}
	var all compared
	if err := json.Unmarshal(c.out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Ranked) != len(names) || len(all.Chosen) != 10 || !all.Complete {
		t.Fatalf("%+v", all)
	}
	for _, r := range all.Ranked {
		if code := c.run("evaluate", "t.csv", "--label", "class", "--learner", r.Recipe.Learner, "--repeats", "2", "--seed", "5", "--json"); code != exitOK {
			t.Fatal(c.err.String())
		}
		var one evaluated
		if err := json.Unmarshal(c.out.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(one.Methods, func(m methodJSON) bool { return m.Name == r.Recipe.Learner })
		if s := one.Methods[i].Scores[model.MeasureKNN]; !slices.Equal(s.Splits, r.Splits) || !slices.Equal(s.Chosen, r.Chosen) || *s.Half != *r.Half {
			t.Errorf("%s: %v, evaluate says %v", r.Recipe.Learner, r.Splits, s.Splits)
		}
		if svg := readTest(t, "c.svg"); !strings.Contains(svg, ">"+r.Recipe.Learner+"<") || !strings.Contains(svg, ">best by validation<") {
			t.Errorf("the figure lacks %s, or the choice", r.Recipe.Learner)
		}
	}
}

// So it is where pairs or comparisons judge.
func TestEvaluateTellsInside(t *testing.T) {
	inFeedback(t)
	for name, text := range judgedFiles() {
		writeTest(t, name, text)
	}
	pairs := readTest(t, "j.csv")
	inVectors(t)
	writeTest(t, "j.csv", pairs)
	writeTest(t, "judged.csv", judgedFiles()["judged.csv"])
	c := newCommand(toys(nil))
	c.app.every = 0
	first := regexp.MustCompile(`[01] of 2 splits.*; in split [12]: 1 of at most `) // splits run at once, in whatever order
	for _, line := range []string{
		"evaluate judged.csv --pairs j.csv --learner pola-batch --param iterations=5 --repeats 2",
		"evaluate --vectors X.npy --pairs f.csv --learner itml --repeats 2",
		"evaluate --vectors X.npy --triplets t3.csv --learner itml --repeats 2",
	} {
		if code := c.run(strings.Fields(line)...); code != exitOK || !first.MatchString(c.err.String()) {
			t.Errorf("%s: exit code %d: %.300s", line, code, c.err.String())
		}
	}
}
