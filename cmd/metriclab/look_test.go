package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"testing"

	"metriclab/pkg/vectors"
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

// vectorFile writes vectors, n rows of three numbers.
func vectorFile(t *testing.T, name string, n int, row func(i int) [3]float64) {
	t.Helper()
	w, err := vectors.Create(name, n, 3, false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		x := row(i)
		err = cmp.Or(err, w.WriteRows(x[:], i))
	}
	if err = cmp.Or(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
}

// Vectors of zeros under --unit were at squared distance 1 from all others, and the nearest neighbours of most.
func TestCase06ZeroVectorUnit(t *testing.T) {
	pair := func(i, j int) string { return fmt.Sprintf("%d,%d,%d", i, j, 1-2*((i+j)%2)) }
	files(t, map[string]string{
		"f.csv": each(300, func(i int) string { return pair(i%30, (i+1+i/30)%30) }), "good.csv": each(200, func(i int) string { return pair(i%20, (i+1+i/20)%20) }),
		"none.csv": "25,1,1\n2,25,-1\n", "t.csv": each(300, func(i int) string { return fmt.Sprintf("%d,%d,%d", i%30, (i+2*(1+i/30))%30, (i+2*(i/30)+3)%30) }),
		"tn.csv": "25,1,2\n",
	})
	turn := func(i int) [3]float64 { // even and odd rows lie in two directions, at all lengths
		a := float64(i%2) + 0.3*math.Sin(float64(i*i))
		return [3]float64{float64(i+1) * math.Cos(a), float64(i+1) * math.Sin(a), 0.1}
	}
	vectorFile(t, "X.npy", 30, turn)
	vectorFile(t, "Z.npy", 30, func(i int) [3]float64 {
		if i == 25 || i == 27 {
			return [3]float64{}
		}
		return turn(i)
	})
	vectorFile(t, "few.npy", 4, func(i int) [3]float64 { return [3]float64{float64((i + 1) % 3 % 2)} })
	left := "of 2 vectors of zeros, the first in row 25, without direction: left out"
	say(t, []said{
		{line: "fit --vectors Z.npy --pairs f.csv --learner itml --unit --out m.json", want: []string{"Note: 39 pairs " + left}},
		{line: "fit --vectors Z.npy --triplets t.csv --learner itml --unit --out t.json", want: []string{"comparisons " + left}},
		{line: "fit --vectors Z.npy --pairs f.csv --learner itml --out raw.json", not: []string{"zeros"}},
		{line: "fit --vectors Z.npy --pairs good.csv --learner itml --unit --out g.json", not: []string{"zeros"}},
		{line: "fit --vectors Z.npy --pairs none.csv --learner itml --unit --out n.json", code: exitFailed, want: []string{"2 pairs of 1 vector of zeros, row 25, without direction, and no other"}},
		{line: "fit --vectors Z.npy --triplets tn.csv --learner itml --unit --out n.json", code: exitFailed, want: []string{"1 comparison of 1 vector of zeros, row 25"}},
		{line: "transform --model m.json --vectors Z.npy --npy Y.npy", code: exitFailed, want: []string{"2 vectors of zeros, the first in row 25: without direction"}},
		{line: "transform --model m.json --vectors X.npy --npy Y.npy"},
		{line: "transform --model raw.json --vectors Z.npy --npy R.npy"},
		{line: "neighbours --vectors Z.npy --model m.json --rows 1,2,25 --k 27", want: []string{
			"2 vectors of zeros, the first in row 25, without direction: not among the neighbours", "queries: 1 vector of zeros, without direction and neighbours: 25", "\n1,27,", "\n2,27,"},
			not: []string{",25,0.", ",27,0.", "\n25,", "NaN"}},
		{line: "neighbours --vectors Z.npy --model m.json --rows 1 --k 28", code: exitUsage, want: []string{"flag --k: 28 is not allowed, want 1 to 27"}},
		{line: "neighbours --vectors few.npy --model m.json --rows 0", want: []string{"--k: 1 in place of 3: there are no more other vectors that have a direction", "\n0,1,3,"}},
		{line: "neighbours --vectors X.npy --model m.json --queries Z.npy --k 2", want: []string{"queries: 2 vectors of zeros, without direction and neighbours: 25, 27"}, not: []string{"\n25,"}},
		{line: "neighbours --vectors Z.npy --model m.json --rows 25 --k 1", code: exitFailed, want: []string{"the queries are zeros, without direction"}},
		{line: "evaluate --vectors Z.npy --pairs f.csv --learner itml --unit", want: []string{"Note: 39 pairs " + left}},
		{line: "evaluate --vectors Z.npy --pairs f.csv --learner itml --json", want: []string{`"39 pairs ` + left}}, // the row "cosine"
		{line: "evaluate --vectors Z.npy --triplets t.csv --learner itml", want: []string{"comparisons " + left}},
		{line: "evaluate --vectors Z.npy --pairs good.csv --learner itml --unit", not: []string{"zeros"}},
	})
}
