package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// TestWhatOneReadsAllRead: whatever form of a table fit takes, every command takes.
func TestWhatOneReadsAllRead(t *testing.T) {
	const n = 24
	rng := rand.New(rand.NewPCG(7, 7))
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		x.SetRow(i, []float64{float64(i%2)*3 + rng.NormFloat64(), rng.NormFloat64()})
	}
	class := func(i int) string { return []string{"A", "B"}[i%2] }
	table := func(head, format string, comma bool) string {
		return head + each(n, func(i int) string {
			line := fmt.Sprintf(format, x.At(i, 0), x.At(i, 1), class(i))
			if comma {
				line = strings.ReplaceAll(line, ".", ",")
			}
			return line
		})
	}
	var array, one bytes.Buffer
	if err := metric.WriteNPY(&array, x); err != nil {
		t.Fatal(err)
	}
	if err := metric.WriteNPY(&one, x.Slice(0, n, 0, 1)); err != nil {
		t.Fatal(err)
	}
	plain := table("a,b,y\n", "%.4f,%.4f,%s", false)
	files(t, map[string]string{
		"plain.csv": plain, "one.csv": "a,y\n" + each(n, func(i int) string { return fmt.Sprintf("%.4f,%s", x.At(i, 0), class(i)) }),
		"bare.csv": table("", "%.4f,%.4f,%s", false), "tab.tsv": table("a\tb\ty\n", "%.4f\t%.4f\t%s", false), "european.csv": table("a;b;y\n", "%.4f;%.4f;%s", true),
		"plain.csv.gz": string(gzipped(t, plain)), "words.csv": "a,w,y\n" + each(n, func(i int) string {
			return fmt.Sprintf("%.4f,%s,%s", x.At(i, 0), []string{"u", "v", "w"}[i%3], class(i))
		}),
		"holes.csv": "a,b,y\n" + each(n, func(i int) string {
			if i == 3 {
				return fmt.Sprintf(",%.4f,%s", x.At(i, 1), class(i))
			}
			return fmt.Sprintf("%.4f,%.4f,%s", x.At(i, 0), x.At(i, 1), class(i))
		}),
		"x.npy": array.String(), "one.npy": one.String(), "labels.csv": each(n, class),
		"x.svm": each(n, func(i int) string { return fmt.Sprintf("%d 1:%.4f 2:%.4f", i%2, x.At(i, 0), x.At(i, 1)) }),
		"1.svm": each(n, func(i int) string { return fmt.Sprintf("%d 1:%.4f", i%2, x.At(i, 0)) }),
	})
	for _, kind := range []struct{ file, fit, train string }{
		{"plain.csv", "--label y", ""}, {"one.csv", "--label y", ""}, {"bare.csv", "--label 3 --no-header", ""}, {"tab.tsv", "--label y", ""}, {"european.csv", "--label y", ""},
		{"plain.csv.gz", "--label y", ""}, {"words.csv", "--label y --one-hot w", ""}, {"holes.csv", "--label y --impute mean", ""},
		{"x.npy", "--labels labels.csv", "--labels labels.csv"}, {"one.npy", "--labels labels.csv", "--labels labels.csv"}, {"x.svm", "", ""}, {"1.svm", "", ""},
	} {
		for _, line := range []string{
			"fit FILE FIT --learner fda --param ridge=0.1 --out m.json", "evaluate FILE FIT --learner fda --param ridge=0.1 --repeats 1", "compare FILE FIT --learners euclidean --repeats 1 --validation 0",
			"transform FILE --model m.json", "predict FILE --train FILE TRAIN --model m.json", "neighbours FILE --train FILE TRAIN --model m.json", "plot FILE --model m.json --out p.svg", "evaluate FILE --model m.json LABELS --repeats 1",
		} {
			labels := ""
			if strings.HasSuffix(kind.file, ".npy") {
				labels = kind.train
			}
			line = strings.NewReplacer("FILE", kind.file, "FIT", kind.fit, "TRAIN", kind.train, "LABELS", labels).Replace(line)
			c := newCommand(toys(nil))
			if code := c.run(strings.Fields(line)...); code != 0 {
				t.Errorf("metriclab %s: %s", line, c.err.String())
			}
		}
		if strings.HasSuffix(kind.file, ".csv") { // from standard input, too
			for _, line := range []string{"fit - FIT --learner fda --param ridge=0.1 --out s.json", "transform - --model s.json", "predict - --train FILE --model s.json", "plot - --model s.json --out s.svg", "evaluate - FIT --learner fda --param ridge=0.1 --repeats 1"} {
				line = strings.NewReplacer("FILE", kind.file, "FIT", kind.fit).Replace(line)
				c := newCommand(toys(nil))
				c.app.in = strings.NewReader(readTest(t, kind.file))
				if code := c.run(strings.Fields(line)...); code != 0 {
					t.Errorf("metriclab %s < %s: %s", line, kind.file, c.err.String())
				}
			}
		}
	}
}
