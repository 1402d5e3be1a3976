package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"metriclab/internal/needs"
	"metriclab/internal/realdata"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/model"
)

// tables are the files that the commands below read. Class a and b differ in x
// only; y is noise.
var tableFiles = map[string]string{
	"good.csv":     "id,x,y,class\n1,0,5,a\n2,0.5,1,a\n3,1,3,a\n4,0.2,-4,a\n5,0.4,0,a\n6,4,5,b\n7,4.5,2,b\n8,5,-3,b\n9,4.1,0,b\n10,4.4,-4,b\n",
	"plain.csv":    "a,0,5\na,0.5,1\na,1,3\na,0.2,-4\nb,4,5\nb,4.5,2\nb,5,-3\nb,4.1,0\n",
	"holes.csv":    "x,y,c,class\n0,5,7,a\n?,1,7,a\n1,,7,a\n4,NA,7,b\n5,-3,7,b\n4.1,0,7,b\n",
	"bad.csv":      "x,y,class\n0,5,a\n1,abc,b\n",
	"nan.csv":      "x,y,class\n0,5,a\n1,NaN,b\n",
	"ragged.csv":   "x,y,class\n0,5,a\n1,b\n",
	"twice.csv":    "x,x,class\n0,5,a\n1,2,b\n",
	"ties.csv":     "x,y,class\n0,5,a\n0,5,a\n1,2,b\n",
	"same.csv":     "x,y,class\n0,5,a\n0,5,a\n0,5,b\n",
	"one.csv":      "x,y,class\n0,5,a\n1,2,a\n",
	"empty.csv":    "",
	"nolabel.csv":  "0,5\n4.2,1\n",
	"narrow.csv":   "0,5,1,1\n4.2,1,1,1\n",
	"renamed.csv":  "X1,y,class\n0,5,a\n1,2,b\n",
	"model.txt":    "hello\n",
	"letters.csv":  "class,x\na,1\na,2\nb,5\nb,6\n",
	"unknown.csv":  "y,x,class\n5,0,a\n1,4,zebra\n2,2,b\n",
	"semicola.csv": "x;y;class\n0;5;a\n",
	"words.svm":    "# class word:count ...\n1 1:2 2:1 5:1\n1 1:1\n1 2:2 5:3\n2 3:1 5:2\n2 3:1 4:2\n2 4:2\n2\n",
	"zero.txt":     "1 0:2 1:1 4:1\n1 0:1\n1 1:2 4:3\n2 2:1 4:2\n2 2:1 3:2\n2 3:2\n2\n",
	"letter.svm":   "1 1:2\n2 1:x\n",
	"order.svm":    "1 1:2\n2 3:1 2:1\n",
	"far.svm":      "1 1:2\n2 6:1\n",
	"alone.svm":    "1 1:2\n1 2:1\n",
	"nothing.svm":  "# no row\n",
	"zeros.svm":    "1\n2\n",
	"comma.csv":    "x;y;class\n0;5,5;a\n0,5;1;a\n4;5;b\n4,5;2,25;b\n",
	"either.csv":   "x;y;class\n1,234;5;a\n2,345;1;b\n",
	"colours.csv":  "x,colour,class\n0,red,a\n1,blue,a\n4,red,b\n5,blue,b\n",
	"pink.csv":     "x,colour,class\n0,pink,a\n1,blue,b\n",
	"gap.csv":      "x,class\n0,a\n1,\n2,b\n",
	"dash.csv":     "x,class\n0,a\n-,a\n2,b\n",
}

// inTables makes the tables in an empty working folder.
func inTables(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range tableFiles {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTablesGolden(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
	}{
		{"fit", []string{
			"fit good.csv --label class --drop id --learner fda --out m.json",
			"transform good.csv --model m.json",
			"transform unknown.csv --model m.json",
			"fit plain.csv --label 1 --learner rca --pairs 50 --seed 3 --no-standardise --out plain.json",
			"transform nolabel.csv --model plain.json",
			"fit holes.csv --label class --learner euclidean --impute mean --out holes.json",
			"transform holes.csv --model holes.json",
			"fit good.csv --label 4 --drop 1 --learner pola --pairs 20 --passes 2 --param gamma=1 --out m.json",
			"fit letters.csv --label class --learner euclidean --out m.json",
			"fit good.csv --label class --drop id --learner pa --param rule=pals --param c=1 --param psd=end --param b0=0 --pairs 20 --out pa.json",
			"transform good.csv --model pa.json",
			"fit good.csv --label class --drop id --learner logdet --param gamma=10 --pairs 20 --out itml.json",
			"fit good.csv --label class --drop id --learner kernel-itml --param gamma=10 --param kernel-gamma=0.2 --pairs 20 --out kernel.json",
			"fit good.csv --label class --drop id --learner kernel-itml --param kernel-gamma=0.2 --param landmarks=3 --pairs 20 --out landmarks.json",
			"transform good.csv --model kernel.json",
			"plot good.csv --model kernel.json --out p.png",
			"evaluate good.csv --model kernel.json --repeats 2 --k 1",
			"fit good.csv --label class --drop id --learner logdet --param start=invcov --param ridge=0.1 --pairs 20 --out start.json",
			"transform good.csv --model start.json",
			"evaluate good.csv --model start.json --repeats 2 --k 1",
			"fit good.csv --label class --drop id --learner logdet --param rule=given --param upper=1 --param lower=4 --pairs 20 --out given.json",
			"fit good.csv --label class --drop id --learner kernel-pola --pairs 20 --out kernel.json",
			"plot good.csv --model kernel.json --out p.png",
			"evaluate good.csv --model kernel.json --repeats 2 --k 1",
			"fit good.csv --label class --drop id --learner kernel-mcml --param landmarks=2 --out lifted.json",
			"plot good.csv --model lifted.json --out p.png",
		}},
		{"input", []string{
			"fit comma.csv --label class --learner euclidean --out m.json", "transform comma.csv --model m.json",
			"fit comma.csv --label class --learner euclidean --separator comma --out m.json",
			"fit comma.csv --label class --learner euclidean --decimal-comma=false --out m.json",
			"fit comma.csv --label class --learner euclidean --separator colon --out m.json",
			"fit comma.csv --label class --learner euclidean --separator comma --decimal-comma --out m.json",
			"fit either.csv --label class --learner euclidean --out m.json", "fit either.csv --label class --learner euclidean --decimal-comma --out m.json",
			"fit colours.csv --label class --learner euclidean --out m.json",
			"fit colours.csv --label class --learner euclidean --one-hot colour --no-standardise --out m.json", "transform pink.csv --model m.json",
			"evaluate colours.csv --label class --learner euclidean --one-hot colour --folds 2 --repeats 1 --k 1",
			"fit colours.csv --label class --learner euclidean --one-hot colour --drop colour --out m.json",
			"fit gap.csv --label class --learner euclidean --impute mean --out m.json",
			"fit dash.csv --label class --learner euclidean --out m.json", "fit dash.csv --label class --learner euclidean --missing=nan,- --impute mean --out m.json",
			"fit plain.csv --label class --learner euclidean --out m.json", "fit plain.csv --no-header --label c1 --learner euclidean --out m.json",
			"fit plain.csv --no-header --header yes --label 1 --learner euclidean --out m.json",
			"fit good.csv --labels plain.csv --label class --learner euclidean --out m.json", "fit x.npy --learner euclidean --out m.json",
			"fit x.npy --labels plain.csv --label 1 --learner euclidean --out m.json", "fit words.svm --missing=- --learner euclidean --out m.json",
		}},
		{"fit-errors", []string{
			"fit", "fit good.csv bad.csv", "fit good.csv", "fit good.csv --label class", "fit good.csv --label class --learner fda",
			"fit good.csv --label clas --learner fda --out m.json", "fit good.csv --label 5 --learner fda --out m.json",
			"fit good.csv --label class --drop ident --learner fda --out m.json", "fit good.csv --label class --drop class --learner fda --out m.json",
			"fit good.csv --label class --learner fda --param dims=1 --out m.json",
			"fit good.csv --label class --learner fda --param dim=x --out m.json", "fit good.csv --label class --learner fda --param dim --out m.json",
			"fit good.csv --label class --learner fda --param dim=1 --param dim=2 --out m.json", "fit good.csv --label class --learner fda --param dim=9 --out m.json",
			"fit good.csv --label class --learner fda --pairs 10 --out m.json", "fit good.csv --label class --learner rca --passes 2 --out m.json",
			"fit good.csv --label class --learner fda --seed 2 --out m.json", "fit good.csv --label class --learner pola --seed 0 --out m.json",
			"fit good.csv --label class --learner pola --pairs 0 --out m.json", "fit good.csv --label class --learner pola --header maybe --out m.json",
			"fit good.csv --label class --learner pola --impute median --out m.json",
			"fit good.csv --label class --learner kernel-itml --param kernel=cosine --out m.json", "fit good.csv --label class --learner kernel-itml --param gamma=0 --out m.json",
			"fit good.csv --label class --learner kernel-itml --param kernel=linear --param kernel-gamma=1 --out m.json",
			"fit good.csv --label class --learner kernel-itml --param low=70 --param high=60 --out m.json",
			"fit good.csv --label class --learner kernel-itml --passes 2 --out m.json",
			"fit good.csv --label class --learner logdet --param start=covariance --out m.json", "fit good.csv --label class --learner logdet --param ridge=0.1 --out m.json",
			"fit good.csv --label class --learner logdet --param w0=invcov --out m.json", "fit same.csv --label class --learner logdet --param start=invcov --out m.json",
			"fit good.csv --label class --learner logdet --param rule=given --out m.json",
			"fit good.csv --label class --learner logdet --param rule=given --param upper=3 --param lower=3 --out m.json",
			"fit good.csv --label class --learner kernel-itml --param rule=given --param lower=3 --param low=1 --out m.json",
			"fit ties.csv --label class --learner logdet --out m.json",
			"fit good.csv --label class --learner lego --param u=9 --out m.json",
			"fit missing.csv --label class --learner fda --out m.json", "fit holes.csv --label class --learner fda --out m.json",
			"fit bad.csv --label class --learner fda --out m.json", "fit nan.csv --label class --learner fda --impute mean --out m.json",
			"fit ragged.csv --label class --learner fda --out m.json", "fit twice.csv --label class --learner fda --out m.json",
			"fit one.csv --label class --learner fda --out m.json", "fit empty.csv --label class --learner fda --out m.json",
			"fit semicola.csv --label class --learner fda --out m.json",
			"fit good.csv --label class --learner fda --header no --out m.json", "fit letters.csv --label class --drop x --learner fda --out m.json", "fit good.csv --label class --drop id --learner fda --out .",
		}},
		{"transform-errors", []string{
			"fit good.csv --label class --drop id --learner fda --out m.json", "fit plain.csv --label 1 --learner fda --out plain.json",
			"transform good.csv", "transform good.csv --model m.json --subspace", "transform --model m.json", "transform good.csv --model nowhere.json", "transform good.csv --model model.txt",
			"transform good.csv --model pola.state", "transform good.csv --model cut.json", "transform renamed.csv --model m.json",
			"transform narrow.csv --model plain.json", "transform holes.csv --model m.json", "transform bad.csv --model m.json", "transform good.csv --model m.json --out x --npy x", "transform good.csv --model m.json --out x --npy ./x",
			"transform good.csv --model m.json --out .", "transform good.csv --model m.json --npy nowhere/z.npy", "plot good.csv --model m.json", "plot good.csv --model m.json --out p.pdf",
			"plot good.csv --model model.txt --out p.png",
		}},
		{"sparse", []string{
			"fit words.svm --learner iplr --no-standardise --param gamma=10 --out m.json",
			"transform words.svm --model m.json",
			"evaluate words.svm --learner iplr --no-standardise --folds 2 --repeats 2 --k 1",
			"evaluate words.svm --model m.json --folds 2 --repeats 1 --k 1",
			"transform zero.txt --format svmlight-0 --model m.json",
			"plot words.svm --model m.json --out p.svg",
			"fit words.svm --learner rca --pairs 20 --param ridge=0.1 --out rca.json",
			"fit good.csv --label class --drop id --learner iplr --param k=3 --out iplr.json",
			"fit words.svm --label 1 --learner iplr --out m.json", "fit words.svm --learner iplr --impute mean --out m.json",
			"fit words.svm --format csv --label 1 --learner iplr --out m.json", "fit words.svm --format txt --learner iplr --out m.json",
			"fit zero.txt --format svmlight --learner iplr --out m.json", "fit letter.svm --learner iplr --out m.json", "fit order.svm --learner iplr --out m.json",
			"fit alone.svm --learner iplr --out m.json", "fit nothing.svm --learner iplr --out m.json", "fit zeros.svm --learner iplr --out m.json",
			"fit words.svm --learner iplr --param k=9 --out m.json", "fit words.svm --learner iplr --param basis=singular --param k=6 --out m.json",
			"fit words.svm --learner iplr --param rule=given --param upper=3 --param lower=2 --out m.json",
			"fit words.svm --learner iplr --no-standardise --param slack=hard --param rule=given --param upper=0.1 --param lower=2 --out m.json",
			"transform words.svm --model m.json --subspace --out z.csv --npy z.npy",
			"transform far.svm --model m.json", "transform words.svm --model iplr.json",
		}},
		{"evaluate", []string{
			"evaluate good.csv --label class --drop id --learner fda --repeats 2 --k 1,3",
			"evaluate good.csv --label class --drop id --learner euclidean --repeats 2 --k 1",
			"evaluate good.csv --label class --drop id --learner fda --repeats 1 --k 1",
			"fit holes.csv --label class --learner pola --pairs 30 --impute mean --out m.json",
			"evaluate holes.csv --model m.json --folds 2 --repeats 3 --k 1 --seed 7",
			"evaluate holes.csv --model m.json --folds 2 --repeats 3 --k 1 --json",
			"evaluate letters.csv --label class --learner euclidean --folds 2 --k 1",
			"evaluate letters.csv --label class --learner euclidean --folds 3 --k 1",
			"evaluate good.csv --label class --learner fda --k 9", "evaluate good.csv --label class --learner fda --k 8", "evaluate good.csv --label class --learner fda --k 1,8",
			"evaluate good.csv --label class --learner fda --k 0", "evaluate good.csv --label class --learner fda --folds 1", "evaluate good.csv --label class --learner fda --folds 11",
			"evaluate good.csv --label class --learner fda --repeats 0", "evaluate good.csv --model m.json --label class", "evaluate nolabel.csv --model m.json",
			"evaluate good.csv --label class --learner fda --learner pca", "evaluate good.csv --label class --learner fda,pca",
		}},
		{"compare", []string{
			"compare good.csv --label class --drop id --learners lmnn,fda,euclidean,logdet,pola --repeats 2 --k 1,3 --validation 2 --figure c.svg",
			"compare good.csv --label class --drop id --learners fda,euclidean --repeats 2 --k 1 --validation 0",
			"compare good.csv --label class --drop id --learners fda --repeats 1 --k 1",
			"compare good.csv --label class --pairs pairs.csv",
			"compare good.csv --label class --drop id --learners lmnn,euclidean,logdet --param lmnn:k=1 --param logdet:gamma=0.1 --repeats 2 --k 1 --validation 0",
			"compare good.csv --label class --param k=1", "compare good.csv --label class --param lmnn:k=0", "compare good.csv --label class --learners fda --param lmnn:k=1", "compare good.csv --label class --param lmnn:k=1 --param lmnn:k=2",
			"compare good.csv --label class --drop id --folds 2 --repeats 1 --k 1 --learners pola-batch,trace-ssikdr,euclidean --pairs 20 --json --validation 2",
			"compare letters.csv --label class --folds 2 --repeats 3 --k 1 --learners pca,euclidean,rca --validation 2",
			"compare words.svm --learners iplr,euclidean --no-standardise --folds 2 --repeats 3 --k 1 --validation 0",
			"compare good.csv --label class --drop id --learners fda,euclidean --repeats 2 --k 1 --validation 0 --resume j.jsonl",
			"compare good.csv --label class --drop id --learners fda,euclidean,pca --repeats 2 --k 1 --validation 0 --resume j.jsonl",
			"compare good.csv --label class --drop id --learners fda --repeats 3 --k 1 --validation 0 --resume j.jsonl", "compare letters.csv --label class --learners fda --resume j.jsonl",
			"compare good.csv --label class --learners fda --resume model.txt", "compare good.csv --label class --learners fda --resume good.csv", "compare good.csv --label class --resume .",
			"compare", "compare good.csv bad.csv", "compare good.csv", "compare good.csv --label clas", "compare good.csv --label class --learners none", "compare good.csv --label class --learners all,fda",
			"compare good.csv --label class --learners fda,fda", "compare good.csv --label class --learners erkle", "compare good.csv --label class --learners=", "compare good.csv --label class --figure c.pdf",
			"compare good.csv --label class --figure good.svg/c.svg", "compare good.csv --label class --figure c.svg --resume c.svg", "compare good.csv --label class --time-limit -1s", "compare good.csv --label class --time-limit 5",
			"compare good.csv --label class --k 0", "compare good.csv --label class --k 9", "compare good.csv --label class --folds 1", "compare good.csv --label class --repeats 0", "compare good.csv --label class --validation 1",
			"compare good.csv --label class --seed 0", "compare good.csv --label class --pairs 0", "compare holes.csv --label class --learners fda", "compare one.csv --label class", "compare empty.csv --label class", "compare missing.csv --label class",
			"compare good.csv --label class --learners fda --learner pca",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			golden, err := filepath.Abs(filepath.Join("testdata", tt.name+".golden"))
			if err != nil {
				t.Fatal(err)
			}
			inTables(t)
			c := newCommand(toys(nil))
			if tt.name == "transform-errors" {
				damagedModels(t, c)
			}
			compare(t, golden, c.session(tt.lines))
		})
	}
}

// damagedModels makes a model that is cut off and the state of a learner.
func damagedModels(t *testing.T, c *command) {
	t.Helper()
	if code := c.run("fit", "good.csv", "--label", "class", "--learner", "euclidean", "--out", "cut.json"); code != 0 {
		t.Fatal(c.err.String())
	}
	raw, err := os.ReadFile("cut.json")
	if err != nil {
		t.Fatal(err)
	}
	l, err := pairs.NewPOLA(2, pairs.POLAParams{})
	if err != nil {
		t.Fatal(err)
	}
	var state bytes.Buffer
	if err := l.Save(&state); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"cut.json": raw[:len(raw)/2], "pola.state": state.Bytes()} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The error for an unknown learner lists all there are; so does the help, which is short.
func TestFitHelp(t *testing.T) {
	inTables(t)
	c := newCommand(toys(nil))
	if code := c.run(strings.Fields("fit good.csv --label class --learner polo --out m.json")...); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	message := c.err.String()
	if !strings.Contains(message, "did you mean pola?") {
		t.Errorf("the nearest learner is not named: %s", message)
	}
	if code := c.run("fit", "--help"); code != 0 {
		t.Errorf("exit code %d", code)
	}
	help := c.out.String()
	if n := strings.Count(help, "\n"); n > 63 {
		t.Errorf("the help has %d lines, want at most 63", n)
	}
	if n := strings.Count(help, "\n  metriclab fit "); n != 3 {
		t.Errorf("the help has %d examples, want 3", n)
	}
	for _, k := range kinds {
		if !strings.Contains(help, "\n  "+k.usage+" ") {
			t.Errorf("%s has no line in the help", k.usage)
		}
	}
	for _, e := range model.Learners() {
		if !strings.Contains(message, e.Name) {
			t.Errorf("%s is not listed in the error: %s", e.Name, message)
		}
	}
}

// onWrite calls a function at every write.
type onWrite func(p []byte)

func (f onWrite) Write(p []byte) (int, error) { f(p); return len(p), nil }

// An interrupt in mid-work, here at the first line of progress, ends fit and
// evaluate at once, and nothing is written.
func TestFitInterrupted(t *testing.T) {
	inTables(t)
	for _, line := range []string{
		"fit good.csv --label class --learner pola --passes 1000 --out m.json",
		"fit good.csv --label class --learner lmnn --param tol=1e-12 --param iterations=1000000 --out m.json",
		"evaluate good.csv --label class --learner pola --repeats 1000 --k 1",
	} {
		ctx, cancel := context.WithCancel(context.Background())
		c := newCommand(toys(nil))
		said := false
		c.app.every = 0
		c.app.streams(&c.out, onWrite(func(p []byte) {
			said = said || strings.Contains(string(p), "metriclab: interrupted")
			cancel()
		}))
		if code := execute(ctx, c.app, strings.Fields(line)); code != exitInterrupted || c.out.Len() > 0 || !said {
			t.Errorf("%s: exit code %d, announced: %v\n%s", line, code, said, c.out.String())
		}
		cancel()
	}
	if _, err := os.Stat("m.json"); err == nil {
		t.Error("an interrupted fit has written a model")
	}
}

// A file that cannot be written is refused before the work; a link is followed.
func TestFitOut(t *testing.T) {
	inTables(t)
	c := newCommand(toys(nil))
	fit := strings.Fields("fit good.csv --label class --learner fda --out")
	if code := c.run(append(fit, "nowhere/m.json")...); code != exitFailed || !strings.Contains(c.err.String(), "flag --out: the folder of nowhere/m.json is not writable") {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
	if err := os.WriteFile("real.json", []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	needs.Symlink(t, "real.json", "link.json")
	if code := c.run(append(fit, "link.json")...); code != 0 {
		t.Fatal(c.err.String())
	}
	if info, err := os.Lstat("link.json"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if _, err := loadModel("real.json"); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(".*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, error %v", left, err)
	}
}

// No command writes over a file that it reads, under whatever name.
func TestOutIsNoInput(t *testing.T) {
	inTables(t)
	c := newCommand(toys(nil))
	if code := c.run(strings.Fields("fit good.csv --label class --learner fda --out m.json")...); code != 0 {
		t.Fatal(c.err.String())
	}
	if err := os.Link("good.csv", "also.csv"); err != nil {
		t.Fatal(err)
	}
	if err := os.Link("m.json", "m.png"); err != nil {
		t.Fatal(err)
	}
	const own = "is the file to read, want another one"
	for _, tt := range []struct {
		line, want string
		code       int
	}{
		{"fit good.csv --label class --learner fda --out good.csv", "flag --out: good.csv " + own, exitUsage},
		{"fit ./good.csv --label class --learner fda --out also.csv", "flag --out: also.csv " + own, exitUsage},
		{"transform good.csv --model m.json --out good.csv", "flag --out: good.csv " + own, exitUsage},
		{"transform good.csv --model m.json --npy m.json", "flag --npy: m.json " + own, exitUsage},
		{"plot good.csv --model m.json --out m.png", "flag --out: m.png " + own, exitUsage},
	} {
		if code := c.run(strings.Fields(tt.line)...); code != tt.code || !strings.Contains(c.err.String(), tt.want) {
			t.Errorf("%s: exit code %d, %s", tt.line, code, c.err.String())
		}
	}
	if text, err := os.ReadFile("good.csv"); err != nil || string(text) != tableFiles["good.csv"] {
		t.Errorf("the table holds %q, error %v", text, err)
	}
	if _, err := loadModel("m.json"); err != nil {
		t.Error(err)
	}
}

func TestOutIsNoDeadLink(t *testing.T) {
	inTables(t)
	needs.Symlink(t, "gone.json", "dead.json")
	c := newCommand(toys(nil))
	if code := c.run(strings.Fields("fit good.csv --label class --learner fda --out dead.json")...); code != exitFailed || !strings.Contains(c.err.String(), "flag --out: dead.json is a link to no file") {
		t.Errorf("exit code %d, %s", code, c.err.String())
	}
	if _, err := os.Readlink("dead.json"); err != nil {
		t.Error(err)
	}
}

// The name of a class stays on its line, and is not longer than can be read.
func TestClassNames(t *testing.T) {
	long := strings.Repeat("ä", 41)
	for _, tt := range []struct{ name, want string }{
		{"zürich, \"1\"", "zürich, \"1\" (2)"}, {"a\nb\tc", `a\nb\tc (2)`},
		{long[2:], long[2:] + " (2)"}, {long, long[2:] + "... (2)"},
	} {
		if got := classCounts([]string{tt.name}, []int{2}); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.name, got, tt.want)
		}
	}
	names := strings.Split("a b c d e f g h i j k l", " ")
	if got := few(names[:11]); got != "a, b, c, d, e, f, g, h, i, j, k" || few(names) != "a, b, c, d, e, f, g, h, i, j, 2 more" {
		t.Errorf("of 11 names %s, of 12 %s", got, few(names))
	}
}

// Progress: lines when piped, a bar on a terminal.
func TestMeter(t *testing.T) {
	c := newCommand(toys(nil))
	c.app.every = 0
	p, done := c.app.meter(context.Background(), work{noun: "split"})
	p(1, 3)
	p(3, 3)
	done()
	if s := c.err.String(); !regexp.MustCompile(`^1 of 3 splits, (about|less than) .* left\n$`).MatchString(s) {
		t.Errorf("piped: %q", s)
	}
	c.err.Reset()
	p, done = c.app.meter(context.Background(), work{noun: "iteration", capped: true})
	p(1, 300)
	done()
	if s := c.err.String(); !regexp.MustCompile(`^1 of at most 300 iterations, the last in (about|less than) .*\n$`).MatchString(s) {
		t.Errorf("piped, with a cap: %q", s)
	}
	c.err.Reset()
	c.app.terminal = true
	p, done = c.app.meter(context.Background(), work{noun: "split"})
	p(1, 3)
	p(2, 3)
	done()
	if s := c.err.String(); strings.Contains(s, "\n1 of") {
		t.Errorf("on a terminal: %q", s)
	}
	_, done = c.app.meter(context.Background(), work{noun: "split"}) // work that ends before its first report
	done()
}

// What fit cannot do leaves the old file as it was, and no file where there was
// none.
func TestFitLeavesNothingHalf(t *testing.T) {
	inTables(t)
	c := newCommand(toys(nil))
	if err := os.WriteFile("old.json", []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"old.json", "new.json"} {
		if code := c.run("fit", "bad.csv", "--label", "class", "--learner", "fda", "--out", out); code != exitFailed {
			t.Errorf("exit code %d", code)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		code := execute(ctx, c.app, []string{"fit", "good.csv", "--label", "class", "--learner", "pola", "--out", out})
		if code != exitInterrupted {
			t.Errorf("interrupted: exit code %d", code)
		}
	}
	if raw, err := os.ReadFile("old.json"); err != nil || string(raw) != "old" {
		t.Errorf("the old file holds %q, error %v", raw, err)
	}
	if _, err := os.Stat("new.json"); err == nil {
		t.Error("there is a new file")
	}
}

// The commands of the README on a real table.
func TestWine(t *testing.T) {
	wine := realdata.Store(t, "wine").Path("uci/wine.data")
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	for _, learner := range []string{"pola", "fda", "rca", "iplr", "euclidean"} {
		for _, args := range [][]string{
			{"fit", wine, "--label", "1", "--learner", learner, "--out", "wine.json"},
			{"transform", wine, "--model", "wine.json", "--out", "z.csv"},
			{"plot", wine, "--model", "wine.json", "--out", "wine.png"},
			{"evaluate", wine, "--model", "wine.json", "--repeats", "2"},
		} {
			if code := c.run(args...); code != 0 {
				t.Errorf("%v: exit code %d: %s", args, code, c.err.String())
			}
		}
		if s := c.out.String(); !strings.Contains(s, "178 rows, 13 features, 3 classes: 1 (59), 2 (71), 3 (48)") {
			t.Errorf("%s:\n%s", learner, s)
		}
	}
}
