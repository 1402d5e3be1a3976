package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// feedbackFiles are the files of the tests on feedback that is no class.
var feedbackFiles = map[string]string{
	"faces.csv":  "id,x,y,person\n1,0,5,ann\n2,0.5,1,ann\n3,1,3,ann\n4,4,-4,bob\n5,4.5,0,bob\n6,4,5,\n7,9,2,eve\n8,2,2,?\n",
	"alone.csv":  "x,y,person\n1,2,ann\n2,1,bob\n3,0,\n",
	"one.csv":    "x,y,person\n1,2,ann\n2,1,ann\n3,0,\n",
	"bare.csv":   "0,5\n0.5,1\n1,3\n4,-4\n4.5,0\n",
	"pairs.csv":  "i,j,label\n0,1,1\n0,2,1\n3,4,1\n0,3,-1\n2,4,-1\n1,3,-1\n",
	"p.jsonl":    `{"i":0,"j":1,"label":1}` + "\n" + `{"i":0,"j":3,"label":-1}` + "\n",
	"far.csv":    "0,1,1\n\n0,8,-1\n",
	"zero.csv":   "0,1,0\n",
	"cells.csv":  "0,1\n",
	"cut.jsonl":  `{"i":0,"j":1,"label":1}` + "\n" + `{"i":0,"j"` + "\n",
	"empty.csv":  "",
	"unlike.csv": "0,1,-1\n",
	"words.svm":  "1 1:2 2:1 5:1\n1 1:1\n2 3:1 5:2\n2 3:1 4:2\n",
}

// judgedFiles are a table and pairs of its rows, of which those with equal cells in the last column are alike.
func judgedFiles() map[string]string {
	table, pairs := "x,y,class\n", "i,j,label\n"
	for i := range 30 {
		table += fmt.Sprintf("%d,%d,%d\n", i%3, i*7%11, i%3)
	}
	for k := range 300 {
		i, j := k*7%30, (k*11+k/7)%30
		switch {
		case i == j:
		case i%3 == j%3:
			pairs += fmt.Sprintf("%d,%d,1\n", i, j)
		default:
			pairs += fmt.Sprintf("%d,%d,-1\n", i, j)
		}
	}
	return map[string]string{"judged.csv": table, "j.csv": pairs}
}

// inFeedback makes the files in an empty working folder.
func inFeedback(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range judgedFiles() {
		writeTest(t, name, text)
	}
	for name, text := range feedbackFiles {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGoldenPairs(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "pairs.golden"))
	if err != nil {
		t.Fatal(err)
	}
	inFeedback(t)
	const faces = "fit faces.csv --drop id --drop person --out m.json "
	c := newCommand(toys(nil))
	compare(t, golden, c.session([]string{
		faces + "--pairs pairs.csv --learner pola",
		"transform faces.csv --model m.json",
		"plot faces.csv --model m.json --out p.svg",
		"evaluate faces.csv --model m.json",
		faces + "--pairs pairs.csv --learner pa --param rule=pa1 --param c=1 --passes 3",
		faces + "--pairs p.jsonl --learner itml --param rule=given --param upper=1 --param lower=4",
		"fit bare.csv --pairs pairs.csv --learner rca --no-standardise --out bare.json",
		"transform bare.csv --model bare.json",
		"fit faces.csv --drop person --label id --pairs pairs.csv --learner lego --out m.json",
		"fit words.svm --pairs p.jsonl --learner kernel-rca --param ridge=0.1 --out m.json",
		"fit faces.csv --drop id --chunklets person --learner rca --param ridge=0.1 --out m.json",
		"transform faces.csv --model m.json",
		"evaluate faces.csv --model m.json", "predict faces.csv --train faces.csv --model m.json --k 1",
		"fit faces.csv --drop id --chunklets person --learner pola --seed 2 --out m.json",
		"fit faces.csv --drop id --chunklets person --dissimilar none --learner itml --param rule=given --param upper=1 --param lower=2 --out m.json",
		// errors
		faces + "--pairs far.csv --learner pola", faces + "--pairs zero.csv --learner pola", faces + "--pairs cells.csv --learner pola",
		faces + "--pairs cut.jsonl --learner pola", faces + "--pairs empty.csv --learner pola", faces + "--pairs nowhere.csv --learner pola", faces + "--pairs= --learner pola",
		faces + "--pairs unlike.csv --learner rca", faces + "--pairs pairs.csv --learner fda", faces + "--pairs pairs.csv --learner pola --seed 2", faces + "--pairs 30 --learner pola",
		faces + "--pairs 99999999999999999999 --learner pola", faces + "--pairs pairs.csv --chunklets id --learner pola", faces + "--pairs pairs.csv --dissimilar none --learner pola",
		"fit faces.csv --pairs pairs.csv --learner pola --out pairs.csv", "evaluate faces.csv --label person --pairs pairs.csv --learner pola",
		"evaluate judged.csv --pairs j.csv --learner itml", "evaluate judged.csv --label class --pairs j.csv --learner kernel-pola --repeats 2 --k 3 --test-share 0.4 --seed 2 --json",
		"evaluate judged.csv --pairs j.csv --learner lmnn", "evaluate judged.csv --pairs j.csv --learner itml --folds 3", "evaluate judged.csv --pairs j.csv --learner itml --k 1,3", "evaluate judged.csv --pairs j.csv --learner itml --test-share 0",
		"evaluate judged.csv --pairs unlike.csv --learner itml", "evaluate judged.csv --pairs j.csv --model m.json", "evaluate judged.csv --label class --learner itml --test-share 0.2", "evaluate judged.csv --pairs cells.csv --learner itml",
		"fit faces.csv --drop id --chunklets man --learner rca --out m.json", "fit faces.csv --chunklets id --learner rca --out m.json", "fit alone.csv --chunklets person --learner rca --out m.json",
		"fit one.csv --chunklets person --learner pola --out m.json", "fit one.csv --chunklets person --learner fda --out m.json", "fit one.csv --chunklets person --learner rca --dissimilar none --out m.json",
		"fit one.csv --chunklets person --learner pola --dissimilar all --out m.json", "fit one.csv --chunklets person --learner pola --pairs 9 --out m.json",
		"fit one.csv --chunklets person --drop person --learner rca --out m.json", "fit one.csv --chunklets= --learner rca --out m.json",
		"fit words.svm --chunklets 1 --learner rca --out m.json", "fit --gram k.csv --constraints c.jsonl --chunklets 1 --learner spectral --out m.json",
		"fit --gram k.csv --labels l.csv --pairs pairs.csv --learner kernel-rca --out m.json",
	}))
}

// tripletFiles are comparisons of points on a line, by number, by name and in other forms.
func tripletFiles() map[string]string {
	names := []string{"ant", "bee", "cat", "dog", "eel", "=fox"}
	files := map[string]string{
		"more.csv": "", "bad.csv": "0,1,2\n0,1\n", "far.csv": "0,1,2\n0,1,9\n", "same.csv": "1,1,0\n0,2,2\n", "empty.csv": "", "gap.csv": "0,2,9\n2,0,9\n9,2,0\n",
		"votes.json": `{"answers":[[0,1,2],[2,1,0],[1,2,0]],"agreement":[[4,1],[3,0],[2,2]]}`, "table.csv": "x,y,class\n1,2,a\n2,1,b\n3,0,a\n4,4,b\n",
	}
	for a := range 6 {
		for near := range 6 {
			for far := range 6 {
				if a != near && (near-a)*(near-a) < (far-a)*(far-a) {
					files["t.csv"] += fmt.Sprintf("%d,%d,%d\n", a, near, far)
					files["names.jsonl"] += fmt.Sprintf("{\"anchor\":%q,\"positive\":%q,\"negative\":%q}\n", names[a], names[near], names[far])
				}
			}
		}
	}
	files["odd.csv"], files["threes.csv"] = "odd,a,b\n", ""
	for _, o := range [][3]int{{0, 4, 5}, {5, 0, 1}, {3, 0, 1}, {2, 4, 5}, {5, 2, 3}, {0, 2, 3}, {0, 3, 4}, {5, 1, 2}} {
		files["odd.csv"] += fmt.Sprintf("%d,%d,%d\n", o[0], o[1], o[2])
		files["threes.csv"] += fmt.Sprintf("%d,%d,%d\n", min(o[0], o[1]), (o[0] + o[1] + o[2] - min(o[0], o[1]) - max(o[0], o[2])), max(o[0], o[2]))
	}
	files["t.csv"] = "a,near,far\n" + files["t.csv"] + "0,2,1\n3,3,1\n"
	return files
}

// numbersOf finds the numbers that differ between processors.
var numbersOf = regexp.MustCompile(`-?\d\.\d{6,}(e-?\d+)?|-?\de-\d+`)

func TestGoldenTriplets(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "triplets.golden"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range tripletFiles() {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const fit, evaluate = "fit --triplets t.csv --out m.json ", "evaluate --triplets t.csv "
	c := newCommand(toys(nil))
	compare(t, golden, numbersOf.ReplaceAllString(c.session([]string{
		fit + "--learner ste --coordinates z.csv", "plot --model m.json --out p.svg",
		fit + "--learner erkle --passes 5 --objects 8",
		"fit --triplets names.jsonl --learner gnmds --param tau=0.1 --dim 1 --coordinates z.npy",
		"fit --triplets gap.csv --learner ckl --out m.json", "fit --triplets gap.csv --learner ckl --coordinates z.npy", "fit --triplets votes.json --learner gnmds --out m.json",
		evaluate + "--learner gnmds", evaluate + "--learner erkle --passes 3 --dim 1 --folds 2 --repeats 1 --seed 3", evaluate + "--learner gnmds --param tau=1 --folds 2 --repeats 1 --json",
		"fit --triplets odd.csv --learner soe --out m.json", "plot --model m.json --out p.svg", "fit --triplets threes.csv --columns central=2,a=1,b=3 --learner tste --param dim=auto --param starts=2 --coordinates z.csv",
		"evaluate --triplets odd.csv --learner ste --dim 1 --folds 3 --repeats 1", evaluate + "--learner tste --param dim=auto --param starts=1 --folds 2 --repeats 1",
		// errors
		"transform table.csv --model m.json", "plot table.csv --model m.json --out p.png", "evaluate table.csv --model m.json",
		"fit table.csv --label class --learner fda --out fda.json", "plot --model fda.json --out p.png", "plot --model m.json --format csv --out p.png", "plot --out p.png", "plot --model nowhere.json --out p.png",
		fit + "--learner pola", fit, fit + "table.csv --learner ste", fit + "--learner ste --label 1", fit + "--learner ste --seed 3", fit + "--learner ste --passes 3", fit + "--learner erkle --passes 0",
		fit + "--learner ste --dim 2", fit + "--learner erkle --dim 2", fit + "--learner ste --dim 2 --param dim=3", fit + "--learner ste --param starts=2", fit + "--learner soe --param dim=all", "fit --triplets threes.csv --columns odd=1,a=2 --learner soe --out m.json", fit + "--learner ste --dim 7 --coordinates z.csv", fit + "--learner ste --dim 0 --coordinates z.csv", fit + "--learner ste --coordinates z.txt", fit + "--learner ste --coordinates t.csv",
		"fit --triplets t.csv --learner ste", "fit --triplets t.csv --learner ste --out z.csv", "fit --triplets= --learner ste --out m.json", fit + "--learner ste --param tau=-1", fit + "--learner ste --param tau=1 --param seed=2",
		fit + "--learner ste --objects 4", fit + "--learner ste --objects 2", fit + "--learner ste --objects 99999999999", "fit --triplets names.jsonl --objects 6 --learner ste --out m.json",
		"fit table.csv --label class --learner fda --objects 3 --out m.json", "fit table.csv --label class --learner ste --out m.json", "fit --triplets bad.csv --learner ste --out m.json", "fit --triplets far.csv --objects 5 --learner ste --out m.json",
		"fit --triplets same.csv --learner ste --out m.json", "fit --triplets empty.csv --learner ste --out m.json", "fit --triplets nowhere.csv --learner ste --out m.json",
		evaluate + "--learner ste --k 3", evaluate + "--learner ste --folds 1", evaluate + "--learner ste --seed 0", evaluate + "--learner ste --model m.json", evaluate, evaluate + "--learner ste --dim 9",
	}), "NUMBER"))
}

// With --guard-formulas no name in the file of coordinates is a formula; its numbers are the same.
func TestGuardedCoordinates(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range tripletFiles() {
		writeTest(t, name, text)
	}
	c := newCommand(toys(nil))
	const fit = "fit --triplets names.jsonl --learner gnmds --param tau=0.1 "
	for _, line := range []string{fit + "--coordinates plain.csv", fit + "--coordinates guarded.csv --guard-formulas"} {
		if code := c.run(strings.Fields(line)...); code != exitOK {
			t.Fatal(c.err.String())
		}
	}
	plain, guarded := readTest(t, "plain.csv"), readTest(t, "guarded.csv")
	if !strings.Contains(plain, "\n=fox,") || guarded != strings.Replace(plain, "\n=fox,", "\n'=fox,", 1) {
		t.Errorf("%q, guarded %q", plain, guarded)
	}
	for line, want := range map[string]string{
		fit + "--coordinates z.npy --guard-formulas":                              "only together with a .csv file of --coordinates",
		fit + "--out m.json --guard-formulas":                                     "only together with a .csv file of --coordinates",
		"fit table.csv --label class --learner fda --out m.json --guard-formulas": "it goes with --triplets T.csv",
	} {
		if code := c.run(strings.Fields(line)...); code != exitUsage || !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: exit code %d: %s, want %q", line, code, c.err.String(), want)
		}
	}
}
