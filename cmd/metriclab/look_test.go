package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
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
		"K.csv": each(12, func(i int) string {
			var cells []string
			for j := range 12 {
				cells = append(cells, fmt.Sprintf("%.17g", math.Exp(-math.Pow(float64(i%2-j%2)+.1*float64(i-j), 2))))
			}
			return strings.Join(cells, ",")
		}), "L.csv": each(12, word("yes", "no", "Yes", "no")), "mixed.csv": labelled(40, word("0", "1", "0.0", "1.0")),
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
		{line: "fit mixed.csv --label y --learner fda --out x.json", want: []string{`classes count as different, though they are written alike: "0" and "0.0"; "1" and "1.0"`}},
		{line: "evaluate mixed.csv --label y --learner fda --repeats 2 --json", want: []string{`\"0\" and \"0.0\"`}},
		{line: "compare mixed.csv --label y --learners fda --repeats 2 --validation 0", want: []string{`"1" and "1.0"`}},
		{line: "fit --gram K.csv --labels L.csv --learner kernel-pca --param dim=2 --out g.json", want: []string{`Note: these classes count as different, though they are written alike: "Yes" and "yes"`}},
		{line: "evaluate --gram K.csv --labels L.csv --learner kernel-pca --param dim=2 --k 1 --folds 2 --repeats 2", want: []string{`"Yes" and "yes"`}},
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

// The index that pandas writes before the rows of a sorted file was a feature: an error of 6.50 % where noise has 70 %.
func TestCase37IndexColumn(t *testing.T) {
	noise := func(i int) string { return fmt.Sprintf("%d,%d,%c", i*i*37%101, i*i*i%89, 'A'+i/40) }
	table := func(head string, first int) string {
		return head + "\n" + each(120, func(i int) string { return fmt.Sprintf("%d,%s", i+first, noise(i)) })
	}
	files(t, map[string]string{
		"index.csv": table(",a,b,y", 0), "again.csv": table("Unnamed: 0,a,b,y", 0), "id.csv": table("Id,a,b,y", 1), "none.csv": "a,b,y\n" + each(120, noise),
		"nohead.csv": each(120, func(i int) string { return fmt.Sprintf("%d,%s", i, noise(i)) }),
	})
	refused := []string{`has no name and a different whole number in each row`, "--drop ", "--keep "}
	counts := `column "Id" counts the rows: --drop Id leaves it out`
	say(t, []said{
		{line: "evaluate index.csv --label y --learner fda", code: exitUsage, want: refused},
		{line: "fit index.csv --label y --learner fda --out m.json", code: exitUsage, want: refused},
		{line: "compare again.csv --label y --learners fda", code: exitUsage, want: refused},
		{line: "fit index.csv --label y --learner fda --drop 1 --out m.json", not: []string{"Note"}},
		{line: "fit index.csv --label y --learner fda --keep 1 --out k.json", want: []string{"3 features"}, not: []string{"Note"}},
		{line: "predict index.csv --model m.json --train index.csv", want: []string{"left out, since the model does not know them: column 1"}},
		{line: "evaluate id.csv --label y --learner euclidean --repeats 2", want: []string{"Note: " + counts}},
		{line: "evaluate id.csv --label y --learner euclidean --repeats 2 --json", want: []string{`"column \"Id\" counts the rows`}},
		{line: "evaluate id.csv --label y --learner euclidean --repeats 2 --keep Id", not: []string{"counts the rows"}},
		{line: "compare id.csv --label y --learners euclidean --repeats 2 --validation 0", want: []string{"Note: " + counts}},
		{line: "evaluate index.csv --label y --learner fda --keep 1 --sample 60 --repeats 1", not: []string{"has no name"}},
		{line: "evaluate none.csv --label y --learner fda --sample 60 --repeats 1 --json", want: []string{`"a sample of 60 of 120 rows`}},
		{line: "compare none.csv --label y --learners euclidean --no-standardise --repeats 2 --validation 0", not: []string{"euclidean-raw"}},
		{line: "fit id.csv --label y --learner pca --out i.json", want: []string{"Note: " + counts}},
		{line: "evaluate nohead.csv --label 4 --learner euclidean --repeats 2", want: []string{`column "1" counts the rows`}},
		{line: "evaluate none.csv --label y --learner euclidean --repeats 2", not: []string{"counts"}},
	})
}

// What is new is looked at, too, whoever reads it.
func TestLookAtNewRows(t *testing.T) {
	row := func(i int) string {
		return fmt.Sprintf("%d,%d,%s,%c", i*i%17, i*i*i%89, []string{"red", "blue"}[i*i%7%2], 'u'+i%2)
	}
	odd := func(i int) string { // -999 in the second half, and a colour written in another way
		if i < 30 {
			return row(i)
		}
		return fmt.Sprintf("-999,%d,Red,u", i)
	}
	files(t, map[string]string{"old.csv": "a,b,colour,y\n" + each(40, row), "new.csv": "a,b,colour,y\n" + each(40, odd), "a.svm": each(40, func(i int) string { return fmt.Sprintf("%d 1:%d 2:%d", i%2, i%7+1, i) }),
		"b.svm": each(40, func(i int) string { return fmt.Sprintf("%d 1:%d 2:%d", i%2, []int{9999, i%7 + 1}[min(i/3, 1)], i) })})
	sentinel, word := `column "a" is -999 at 10 rows, and 0 to 16 at others: if that means missing, --missing -999 with a model of fit --impute mean`, `values of column colour count as different, though they are written alike: "red" and "Red"`
	want := []string{sentinel, word}
	say(t, []said{
		{line: "fit old.csv --label y --one-hot colour --impute mean --learner fda --out m.json", not: []string{"999"}},
		{line: "transform old.csv --model m.json", not: []string{"old.csv:"}},
		{line: "transform new.csv --model m.json", want: want},
		{line: "transform new.csv --model m.json --out z.csv", want: want},
		{line: "transform new.csv --model m.json --missing -999 --out z.csv", want: []string{word}, not: []string{"999"}},
		{line: "predict new.csv --model m.json --train old.csv", want: want},
		{line: "neighbours old.csv --model m.json --train new.csv", want: want},
		{line: "plot new.csv --model m.json --out z.svg", want: want},
		{line: "evaluate new.csv --model m.json --repeats 2", want: want, not: []string{"--missing -999 --impute"}},
		{line: "fit a.svm --learner fda --out s.json"},
		{line: "transform b.svm --model s.json", want: []string{`column "1" is 9999 at 3 rows`}},
		{line: "predict b.svm --model s.json --train a.svm", want: []string{`column "1" is 9999 at 3 rows`}},
	})
}

// look tells what is odd, and the line that it gives runs.
func TestLookCommand(t *testing.T) {
	files(t, map[string]string{
		"odd.csv": "id,a,b,colour,y\n" + each(40, func(i int) string {
			return fmt.Sprintf("%d,%s,%d,%s,%c", i+1, []string{"1.5", "-999", "2.5", "n/a", "3"}[i%5], i*i%17, []string{"red", "blue"}[i*i%7%2], 'u'+i%2)
		}),
		"good.csv": "a,b,y\n" + each(40, func(i int) string { return fmt.Sprintf("%d.5,%d,%c", i*i%97, i*i*i%89, 'u'+i%2) }), "r.svm": "1 1:2 2:1\n2 1:1\n1 1:2 2:1\n",
		"ragged.csv": "a,b\n1,2\n3\n", "only.csv": "a,b\nx1,y1\nx2,y2\nx3,y3\n",
		"forty.csv": strings.TrimSpace(strings.ReplaceAll(each(39, func(i int) string { return fmt.Sprint(i, ",") }), "\n", "")) + "y\n" + each(9, func(i int) string {
			return strings.Repeat(fmt.Sprint(i*i%7, ".5,"), 39) + string(rune('u'+i%2))
		}),
	})
	vectorFile(t, "X.npy", 4, func(i int) [3]float64 { return [3]float64{float64(i % 3 % 2), 0, 0} })
	say(t, []said{
		{line: "look odd.csv", want: []string{"40 rows, 5 columns", `column "id" counts the rows`, `column "a" is -999 at 8 rows`, "the class, 2 different", "To paste:\nmetriclab fit odd.csv --label y --impute mean"}},
		{line: "look good.csv", want: []string{"To paste:\nmetriclab fit good.csv --label y --learner fda --out model.json"}, not: []string{"Note"}},
		{line: "look good.csv --label b --drop a", want: []string{"--label b --drop a"}},
		{line: "look good.csv --label z", code: exitUsage, want: []string{`no column "z"`}},
		{line: "look r.svm", want: []string{"1 row equals an earlier one", "metriclab fit r.svm --learner fda"}},
		{line: "look X.npy --labels none.csv", code: exitFailed},
		{line: "look X.npy", want: []string{"4 rows, 3 columns", "2 rows equal"}},
		{line: "look --vectors X.npy", want: []string{"3 vectors of zeros, the first in row 0", "metriclab fit --vectors X.npy"}},
		{line: "look --vectors X.npy --json", want: []string{`"zeros": 3`}},
		{line: "look ragged.csv", code: exitFailed, want: []string{"ragged.csv:3"}},
		{line: "look only.csv", want: []string{"No flag makes this a table to learn from."}},
		{line: "look none.csv", code: exitFailed},
		{line: "look forty.csv", want: []string{"40 columns", "\n38 "}, not: []string{"more, which --json lists"}},
	})
	c := newCommand(toys(nil))
	if code := c.run("look", "odd.csv", "--json"); code != exitOK {
		t.Fatal(c.err.String())
	}
	var got looked
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil || len(got.Columns) != 5 || got.Rows != 40 {
		t.Fatalf("%v\n%s", err, c.out.String())
	}
	line := strings.ReplaceAll(strings.TrimPrefix(got.Command, "metriclab "), "'", "")
	if code := c.run(strings.Fields(line)...); code != exitOK || strings.Contains(c.out.String(), "Note") {
		t.Errorf("%s: exit code %d\n%s%s", line, code, c.out.String(), c.err.String())
	}
}

// The line that look ends with learns from what look was given, for every problem.
func TestLookPastes(t *testing.T) {
	t.Chdir(t.TempDir())
	numberFiles(t)
	c := newCommand(toys(nil))
	for _, line := range []string{
		"look train.csv", "look train.csv --pairs pairs.csv --drop class,group", "look train.csv --chunklets group --one-hot class",
		"look --vectors x.npy --pairs named.csv --ids ids.txt", "look --vectors x.npy --triplets t.csv", "look --gram k.csv --labels classes.csv", "look --triplets named.jsonl",
	} {
		if code := c.run(strings.Fields(line)...); code != exitOK {
			t.Fatalf("%s: %s", line, c.err.String())
		}
		said := strings.Split(strings.TrimSpace(c.out.String()), "\n")
		paste := strings.Fields(said[len(said)-1])
		if code := c.run(paste[1:]...); code != exitOK || !strings.Contains(c.out.String(), "written to model.json") {
			t.Errorf("%s: %s: %s", line, paste, c.err.String())
		}
		os.Remove("model.json")
	}
}

// Columns whose values differ by round-off had full weight: an error of 29.67 % where it is 4.33 % without them.
func TestCase02NearConstant(t *testing.T) {
	row := func(columns bool) func(i int) string {
		return func(i int) string {
			line := fmt.Sprintf("%.3f", float64(i%3)*2+math.Sin(float64(i*i))*.7)
			for j := range 12 {
				if columns {
					line += []string{",0.3", ",0.30000000000000004"}[(i*i+i*j*7+j)%11%2]
				}
			}
			return fmt.Sprintf("%s,1,%c", line, 'A'+i%3)
		}
	}
	var names []string
	for j := range 12 {
		names = append(names, fmt.Sprintf("c%d", j))
	}
	files(t, map[string]string{"x.csv": "a," + strings.Join(names, ",") + ",one,y\n" + each(150, row(true)), "bare.csv": "a,one,y\n" + each(150, row(false))})
	c := newCommand(toys(nil))
	for _, learner := range []string{"euclidean", "fda", "rca", "lmnn"} {
		var scores []string
		for _, file := range []string{"x.csv", "bare.csv"} {
			if code := c.run("evaluate", file, "--label", "y", "--learner", learner, "--repeats", "2", "--k", "5"); code != exitOK {
				t.Fatalf("%s %s: %s", learner, file, c.err.String())
			}
			for line := range strings.Lines(c.out.String()) {
				if strings.HasPrefix(line, "Euclidean  ") || strings.HasPrefix(line, learner+"  ") {
					scores = append(scores, strings.Join(strings.Fields(line), " "))
				}
			}
			if file == "x.csv" && !strings.Contains(c.out.String(), "Note: constant, so without weight in any distance: c0, c1, c2") {
				t.Errorf("%s: no note in\n%s", learner, c.out.String())
			}
		}
		if half := len(scores) / 2; half == 0 || strings.Join(scores[:half], ";") != strings.Join(scores[half:], ";") {
			t.Errorf("%s: %q", learner, scores)
		}
	}
	say(t, []said{{line: "fit x.csv --label y --learner fda --out m.json", want: []string{"constant, so without weight in any distance between these rows: c0"}}})
}
