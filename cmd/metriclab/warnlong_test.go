package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

// Whatever the way to a fit, a long one by estimate is told of before it starts, and an interrupt at that moment ends it.
func TestWarnLong(t *testing.T) {
	inFeedback(t)
	for name, text := range judgedFiles() {
		writeTest(t, name, text)
	}
	c := newCommand(toys(nil))
	const learner = " --learner pola-batch --param iterations=1000000000 "
	if code := c.run(strings.Fields("fit judged.csv --label class --learner pola-batch --param iterations=10 --out quick.json")...); code != exitOK || strings.Contains(c.err.String(), "estimate") {
		t.Fatalf("exit code %d, %s", code, c.err.String())
	}
	pairs := readTest(t, "j.csv")
	lines := []string{
		"fit judged.csv --label class --out m.json" + learner,
		"fit judged.csv --drop class --pairs j.csv --out m.json" + learner,
		"fit faces.csv --drop id --chunklets person --out m.json" + learner,
		"fit words.svm --pairs 20 --out m.json" + learner,
		"fit - --label class --out m.json" + learner,
		"evaluate judged.csv --label class" + learner,
		"evaluate judged.csv --pairs j.csv" + learner,
		"evaluate judged.csv --model quick.json --repeats 900000 --k 1",
	}
	vectorLines := []string{
		"fit --vectors X.npy --pairs v.csv --out m.json" + learner,
		"evaluate --vectors X.npy --pairs v.csv" + learner,
	}
	try := func(line string) {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		told := &endAt{text: "of pola-batch: about ", end: cancel}
		c.app.in = strings.NewReader(readTest(t, "judged.csv"))
		c.app.streams(&c.out, told)
		if code := execute(ctx, c.app, strings.Fields(line)); code != exitInterrupted || !strings.Contains(told.String(), " of one processor, by a rough estimate\n") {
			t.Errorf("%s: exit code %d: %s", line, code, told.String())
		}
		if _, err := os.Stat("m.json"); err == nil {
			t.Errorf("%s: a file is written", line)
		}
	}
	for _, line := range lines {
		try(line)
	}
	inVectors(t)
	writeTest(t, "v.csv", pairs)
	writeTest(t, "judged.csv", "")
	for _, line := range vectorLines {
		try(line)
	}
	// What would take longer than the time limit does not start at all.
	for name, text := range judgedFiles() {
		writeTest(t, name, text)
	}
	c = newCommand(toys(nil))
	if code := c.run(strings.Fields("compare judged.csv --label class --learners pola-batch,euclidean --param pola-batch:iterations=1000000000 --repeats 2 --k 1 --validation 0")...); code != exitOK ||
		!strings.Contains(c.out.String(), "Left out: pola-batch: all its splits would take") {
		t.Errorf("compare: exit code %d\n%s%s", code, c.out.String(), c.err.String())
	}
}
