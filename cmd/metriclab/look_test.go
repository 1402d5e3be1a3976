package main

import (
	"fmt"
	"strings"
	"testing"
)

// labelled has n rows of two features, of which the first tells even rows from odd ones, and a class by row.
func labelled(n int, class func(i int) string) string {
	return "a,b,y\n" + each(n, func(i int) string { return fmt.Sprintf("%d,%d,%s", 4*(i%2)+i*7%3, i*5%11, class(i)) })
}

func word(of ...string) func(int) string { return func(i int) string { return of[i%len(of)] } }

// Labels 0 and 1 were learned, 0.0 and 1.0 predicted: "an error of 100.00 %".
func TestCase09LabelSpelling(t *testing.T) {
	files(t, map[string]string{
		"train.csv": labelled(40, word("0", "1")), "words.csv": labelled(40, word("yes", "no")), "floats.csv": labelled(20, word("0.0", "1.0")),
		"third.csv": labelled(20, word("0", "1", "2", "1")), "case.csv": labelled(20, word("Yes", "no")), "upper.csv": labelled(20, word("YES", "No.")),
		"renamed.csv": strings.Replace(labelled(20, word("yes", "no")), "y", "Y", 1), "Features.csv": strings.Replace(labelled(20, word("yes", "no")), "a,b", "A,b", 1),
	})
	say(t, []said{
		{line: "fit train.csv --label y --learner euclidean --out m.json"},
		{line: "fit words.csv --label y --learner euclidean --out w.json"},
		{line: "predict floats.csv --model m.json --train train.csv", want: []string{"floats.csv: 0 of 20 rows wrong: an error of 0.00 %"}},
		{line: "predict third.csv --model m.json --train train.csv", want: []string{"5 rows of a class that no training row has, counted in no error: 2; training rows have 0, 1\n", "third.csv: 0 of 15 rows wrong"}},
		{line: "predict case.csv --model w.json --train words.csv", want: []string{"10 rows of a class", `"yes" and "Yes"`, "0 of 10 rows wrong"}},
		{line: "predict upper.csv --model w.json --train words.csv", want: []string{"there is no error to tell", `"no" and "No."; "yes" and "YES"`}, not: []string{"%"}},
		{line: "neighbours case.csv --model w.json --train upper.csv", want: []string{`classes, of the fit and of the training rows, count as different, though they are written alike: "no" and "No."`}},
		{line: "predict renamed.csv --model w.json --train words.csv", want: []string{`the model has it in column "y". If that is "Y" here`}, not: []string{"%"}},
		{line: "predict Features.csv --model w.json --train words.csv", code: exitUsage, want: []string{`no column "a"; did you mean "A"?`}},
	})
}
