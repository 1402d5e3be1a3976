package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/vectors"
)

// inLine makes old.csv, new.csv and m.json in an empty working folder.
func inLine(t *testing.T) *command {
	t.Helper()
	t.Chdir(t.TempDir())
	writeTest(t, "old.csv", "name,x,z,class\np,0,0,a\nq,1,0,a\nr,2,0,b\ns,4,0,=b\n")
	writeTest(t, "new.csv", "x,z,class\n0.25,0,a\n3.5,0,b\n")
	writeTest(t, "bare.csv", "x,z\n1.75,0\n")
	c := newCommand(toys(nil))
	if code := c.run(strings.Fields("fit old.csv --label class --drop name --learner euclidean --no-standardise --out m.json")...); code != exitOK {
		t.Fatal(c.err.String())
	}
	return c
}

func TestPredict(t *testing.T) {
	c := inLine(t)
	for _, test := range []struct{ line, out, err string }{
		{"predict new.csv --model m.json --train old.csv --k 1", "row,class,share,distance\n0,a,1,0.25\n1,=b,1,0.5\n",
			"old.csv: left out, since the model does not know them: name\nnew.csv: 1 of 2 rows wrong: an error of 50.00 % with k = 1\n"},
		{"predict new.csv --model m.json --train old.csv --k 1 --guard-formulas", "row,class,share,distance\n0,a,1,0.25\n1,'=b,1,0.5\n", ""},
		{"predict bare.csv --model m.json --train old.csv --k 3", "row,class,share,distance\n0,a,0.6666666666666666,0.25\n",
			"old.csv: left out, since the model does not know them: name\n"},
		{"predict new.csv --model m.json --train new.csv --k 1", "row,class,share,distance\n0,a,1,0\n1,b,1,0\n",
			"Note: the training rows are not those of the fit; classes: 2 with 2 rows here, 3 with 4 rows there.\nnew.csv: 0 of 2 rows wrong: an error of 0.00 % with k = 1\n"},
		{"predict new.csv --model m.json --train old.csv --k 1 --json",
			"{\n\"schema\": 1,\n\"columns\": [\"row\",\"class\",\"share\",\"distance\"],\n\"rows\": [\n[0,\"a\",1,0.25],\n[1,\"=b\",1,0.5]\n],\n\"k\": 1,\n\"notes\": [\"left out, since the model does not know them: name\"],\n\"judged\": 2,\n\"wrong\": 1,\n\"apart\": 0\n}\n", ""},
		{"neighbours bare.csv --model m.json --train old.csv --k 2 --id name", "row,rank,training_row,name,distance,class\n0,1,2,r,0.25,b\n0,2,1,q,0.75,a\n", ""},
		{"neighbours new.csv --model m.json --train bare.csv --k 1", "row,rank,training_row,distance\n0,1,0,1.5\n1,1,0,1.75\n", ""},
	} {
		if code := c.run(strings.Fields(test.line)...); code != exitOK || c.out.String() != test.out || test.err != "" && c.err.String() != test.err {
			t.Errorf("%s: exit code %d\n%s\n%s", test.line, code, c.out.String(), c.err.String())
		}
	}
	if code := c.run(strings.Fields("predict new.csv --model m.json --train old.csv --k 1 --out p.csv")...); code != exitOK || c.out.Len() > 0 || !strings.HasPrefix(readTest(t, "p.csv"), "row,class") {
		t.Errorf("--out: exit code %d, %s", code, c.err.String())
	}
}

// Probabilities have a column for each class, whatever its name, and are the same in CSV and JSON, from a file and from standard input.
func TestPredictProbabilities(t *testing.T) {
	t.Chdir(t.TempDir())
	table := "x,class\n"
	for i := range 24 {
		table += fmt.Sprintf("%d,%s\n", i+i/12, []string{`"a,b"`, "\"say \"\"no\"\"\nor\""}[i/12])
	}
	writeTest(t, "old.csv", table+"40,=1+1\n41,=1+1\n")
	writeTest(t, "new.csv", "x\n3\n12\n40\n")
	c := newCommand(toys(nil))
	for _, line := range []string{"fit old.csv --label class --learner fda --out m.json", "fit old.csv --label class --learner euclidean --out e.json"} {
		if code := c.run(strings.Fields(line)...); code != exitOK {
			t.Fatal(c.err.String())
		}
	}
	for model, folds := range map[string]float64{"m.json": 5, "e.json": 0} {
		const line = " --train old.csv --k 3 --probabilities --model "
		if code := c.run(strings.Fields("predict new.csv" + line + model)...); code != exitOK {
			t.Fatal(c.err.String())
		}
		text := c.out.String()
		records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if want := []string{"row", "class", "share", "distance", "p:=1+1", "p:a,b", "p:say \"no\"\nor"}; err != nil || len(records) != 4 || !slices.Equal(records[0], want) {
			t.Fatalf("%q, error %v, want %q", records, err, want)
		}
		if code := c.run(strings.Fields("predict new.csv --json" + line + model)...); code != exitOK {
			t.Fatal(c.err.String())
		}
		var got struct {
			Columns     []string
			Rows        [][]any
			Calibration struct{ Shift, Power, Rows, Folds float64 }
		}
		if err := json.Unmarshal(c.out.Bytes(), &got); err != nil || !slices.Equal(got.Columns, records[0]) {
			t.Fatalf("%v\n%s", err, c.out.String())
		}
		if k := got.Calibration; k.Rows != 26 || k.Folds != folds || k.Shift <= 0 || k.Power <= 0 {
			t.Errorf("%s: calibration %+v", model, k)
		}
		for i, r := range records[1:] {
			var sum float64
			top := ""
			most := 0.0
			for j, cell := range r[4:] {
				p, _ := strconv.ParseFloat(cell, 64)
				if sum += p; p > most {
					most, top = p, records[0][4+j]
				}
				if got.Rows[i][4+j] != p || p <= 0 {
					t.Errorf("%s, row %d: %v in JSON, %s in CSV", model, i, got.Rows[i], cell)
				}
			}
			if math.Abs(sum-1) > 1e-14 || top != "p:"+r[1] {
				t.Errorf("%s, row %d: %q, the sum is %v", model, i, r, sum)
			}
		}
		c.app.in = strings.NewReader("x\n3\n12\n40\n")
		if code := c.run(strings.Fields("predict -" + line + model)...); code != exitOK || c.out.String() != text {
			t.Errorf("%s: from standard input\n%s, want\n%s%s", model, c.out.String(), text, c.err.String())
		}
	}
	writeTest(t, "few.csv", "x,class\n1,u\n2,u\n3,v\n")
	for line, want := range map[string]string{
		"predict new.csv --model m.json --train few.csv --k 1 --probabilities":                 "without the 1 row of fold",
		"predict new.csv --model m.json --train new.csv --k 1 --probabilities":                 "the training rows have no classes to predict",
		"neighbours new.csv --model m.json --train old.csv --k 1 --probabilities":              "unknown flag --probabilities",
		"predict new.csv --model m.json --train old.csv --k 27 --probabilities --out none.csv": "want 1 to 26",
	} {
		if code := c.run(strings.Fields(line)...); code == exitOK || !strings.Contains(c.err.String(), want) || c.out.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s", line, code, c.err.String())
		}
	}
}

func TestPredictErrors(t *testing.T) {
	c := inLine(t)
	writeTest(t, "bad.csv", "x,z\n1,0\nhello,0\n")
	writeTest(t, "far.csv", "x,z\n1e300,0\n")
	writeTest(t, "empty.csv", "")
	writeTest(t, "y.csv", "x,y\n1,2\n")
	writeTest(t, "p.csv", "old")
	writeTest(t, "new.npy", "")
	for _, test := range []struct {
		line, want string
		code       int
	}{
		{"predict new.csv --model m.json", "flag --train: no file given", exitUsage},
		{"predict new.csv --train old.csv", "flag --model: no file given", exitUsage},
		{"predict --model m.json --train old.csv", "table", exitUsage},
		{"predict new.csv --model m.json --train old.csv --k 0", "flag --k: 0 is not allowed", exitUsage},
		{"predict new.csv --model m.json --train old.csv --k 5", "k: 5 is not allowed, want 1 to 4, the number of training rows", exitUsage},
		{"predict new.csv --model m.json --train bare.csv --k 1", "bare.csv: the training rows have no classes to predict: column class is not there or empty", exitFailed},
		{"predict bad.csv --model m.json --train old.csv --k 1 --out p.csv", "bad.csv:3", exitFailed},
		{"predict bad.csv --model m.json --train old.csv --k 1", "bad.csv:3", exitFailed},
		{"predict empty.csv --model m.json --train old.csv --k 1", "empty.csv", exitFailed},
		{"predict y.csv --model m.json --train old.csv --k 1", "y.csv", exitUsage},
		{"predict far.csv --model m.json --train old.csv --k 1", "squared distances overflow float64", exitFailed},
		{"neighbours far.csv --model m.json --train old.csv --k 1", "squared distances overflow float64", exitFailed},
		{"predict new.csv --model old.csv --train old.csv", "old.csv", exitFailed},
		{"predict none.csv --model m.json --train old.csv --k 1", "none.csv", exitFailed},
		{"predict new.csv --model m.json --train old.csv --out old.csv", "flag --out: old.csv is the file to read", exitUsage},
		{"predict new.csv --model m.json --train old.csv --labels l.csv", "flag --labels: only together with --cross-gram or a .npy table", exitUsage},
		{"predict new.npy --model m.json --train old.csv --k 1", "the model knows features by their names", exitFailed},
		{"neighbours --cross-gram k.csv --model m.json --train old.csv", "flag --train: not together with --cross-gram", exitUsage},
		{"neighbours new.csv --model m.json --train old.csv --k 1 --id none", "none", exitUsage},
		{"plot --metric m.json bare.csv --out m.svg", "flag --metric: not together with a table", exitUsage},
		{"plot --metric m.json --model m.json --out m.svg", "flag --model: not together with --metric", exitUsage},
		{"learn --learner pola --save-every 2", "flag --save-every: only together with --save", exitUsage},
		{"learn --learner pola --save-every 0 --save l.json", "save-every", exitUsage},
	} {
		if code := c.run(strings.Fields(test.line)...); code != test.code || !strings.Contains(c.err.String(), test.want) || c.out.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s\n%s", test.line, code, c.out.String(), c.err.String())
		}
	}
	if readTest(t, "p.csv") != "old" {
		t.Error("p.csv has changed after an error")
	}
	nothingLeft(t)
}

// Tables of .npy are those of CSV with the same numbers, the model's own table too.
func TestPredictArrays(t *testing.T) {
	c := inLine(t)
	array := func(name string, x []float64, n, d int) {
		w, err := vectors.Create(name, n, d, false)
		if err == nil {
			err = cmp.Or(w.WriteRows(x, 0), w.Commit())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	array("old.npy", []float64{0, 0, 1, 0, 2, 0, 4, 0}, 4, 2)
	array("new.npy", []float64{.25, 0, 3.5, 0}, 2, 2)
	array("wide.npy", []float64{1, 2, 3}, 1, 3)
	writeTest(t, "l.csv", "a\na\nb\nb\n")
	writeTest(t, "plain.csv", "0.25,0\n3.5,0\n")
	if code := c.run(strings.Fields("fit old.npy --labels l.csv --learner euclidean --no-standardise --out n.json")...); code != exitOK {
		t.Fatal(c.err.String())
	}
	const predicted, near = "row,class,share,distance\n0,a,1,0.25\n1,b,1,0.5\n", "row,rank,training_row,distance\n0,1,0,0.25\n1,1,3,0.5\n"
	for _, test := range []struct {
		line, want string
		code       int
	}{
		{"predict new.npy --model n.json --train old.npy --labels l.csv --k 1", predicted, exitOK},
		{"predict plain.csv --model n.json --train old.npy --labels l.csv --k 1", predicted, exitOK},
		{"neighbours new.npy --model n.json --train old.npy --k 1", near, exitOK},
		{"neighbours new.npy --model n.json --train old.npy --labels l.csv --k 1", "row,rank,training_row,distance,class\n0,1,0,0.25,a\n1,1,3,0.5,b\n", exitOK},
		{"predict new.npy --model n.json --train old.npy --k 1", "flag --labels: no file given, want the class of each row of the array of --train", exitUsage},
		{"neighbours new.npy --model n.json --train old.npy --id 1 --k 1", "flag --id: an array has no columns", exitUsage},
		{"neighbours wide.npy --model n.json --train old.npy --k 1", "wide.npy has 3 columns, want 2", exitFailed},
		{"neighbours old.csv --format npy --model n.json --train old.npy --k 1", "old.csv", exitFailed},
	} {
		code := c.run(strings.Fields(test.line)...)
		if got := c.out.String() + c.err.String(); code != test.code || !strings.Contains(got, test.want) || code == exitOK && c.out.String() != test.want {
			t.Errorf("%s: exit code %d\n%s", test.line, code, got)
		}
	}
}

// What kills the command at once leaves what --save-every has saved, and no other file but that.
func TestLearnSaveEvery(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l.json")
	c := startLearn(t, dir, func(*exec.Cmd) {}, "--learner", "pola", "--save", "l.json", "--save-every", "2")
	for range 5 {
		c.ask(t, firstPair)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if want := learned(t, strings.Join([]string{firstPair, firstPair, firstPair, firstPair}, "\n")); readTest(t, path) != want {
		t.Errorf("the file is not the learner after 4 lines:\n%s\nwant\n%s", readTest(t, path), want)
	}
}

// A table without classes: pca fits it, and others say what they need.
func TestUnlabelled(t *testing.T) {
	t.Chdir(t.TempDir())
	writeTest(t, "bare.csv", "x,y\n0,1\n1,3\n2,2\n5,1\n")
	c := newCommand(toys(nil))
	for _, line := range []string{
		"fit bare.csv --learner pca --out m.json",
		"transform bare.csv --model m.json --out z.csv",
		"plot bare.csv --model m.json --out p.svg",
		"plot --metric m.json --out q.svg",
		"neighbours bare.csv --model m.json --train bare.csv --k 1 --out n.csv",
	} {
		if code := c.run(strings.Fields(line)...); code != exitOK {
			t.Errorf("%s: exit code %d, %s", line, code, c.err.String())
		}
	}
	if z := readTest(t, "z.csv"); !strings.HasPrefix(z, "z1,") {
		t.Errorf("coordinates %s", z)
	}
	for line, want := range map[string]string{
		"fit bare.csv --learner lmnn --out l.json":                  "flag --label: no column given",
		"evaluate bare.csv --learner pca":                           "flag --label: no column given",
		"evaluate bare.csv --model m.json":                          "has no labels",
		"predict bare.csv --model m.json --train bare.csv --k 1":    "the training rows have no classes to predict",
		"fit bare.csv --learner pca --drop x --drop y --out l.json": "no column is left as a feature",
	} {
		if code := c.run(strings.Fields(line)...); code == exitOK || !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: exit code %d, %s", line, code, c.err.String())
		}
	}
}
