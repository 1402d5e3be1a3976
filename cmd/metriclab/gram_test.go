package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
)

// gramFiles are the files of the tests on Gram matrices. Objects 0, 1 and 2 are orthonormal, so that squared distances are 2.
var gramFiles = map[string]string{
	"k0.csv":         "1,0,0\n0,1,0\n0,0,1\n",
	"one.csv":        "4\n",
	"singular.csv":   "1,1\n1,1\n",
	"skew.csv":       "1,0.5,0\n0,1,0\n0,0,1\n",
	"huge.csv":       "1,0,0\n0,1e308,0\n0,0,1e308\n",
	"indef.csv":      "1,2\n2,1\n",
	"wide.csv":       "1,0,0\n\n0,1,0\n",
	"ragged.csv":     "1,0\n0,1,2\n",
	"words.csv":      "a,b\n1,0\n0,1\n",
	"nan.csv":        "1,NaN\nNaN,1\n",
	"empty.csv":      "",
	"text.npy":       "1,0\n0,1\n",
	"c.jsonl":        `{"i":0,"j":1,"at_most":0.5}` + "\n" + `{"i":0,"j":1,"at_least":0.25}` + "\n",
	"trace.jsonl":    `{"trace_at_most":2}` + "\n",
	"bad.jsonl":      `{"i":0,"j":1,"at_most":1}` + "\n\n" + `{"i":0,"j":3,"at_most":1}` + "\n",
	"neg.jsonl":      `{"i":0,"j":1,"exactly":-1}` + "\n",
	"none.jsonl":     "\n",
	"direct.jsonl":   `{"i":0,"j":1,"at_most":1}` + "\n" + `{"i":1,"j":0,"at_least":2}` + "\n",
	"zero.jsonl":     `{"i":0,"j":1,"exactly":0}` + "\n",
	"triangle.jsonl": `{"i":0,"j":1,"at_most":1}` + "\n" + `{"trace_at_most":50}` + "\n" + `{"i":1,"j":2,"at_most":1}` + "\n\n" + `{"i":0,"j":2,"at_least":5}` + "\n",
	"sum.jsonl":      "\n" + `{"i":0,"j":1,"at_most":1}` + "\n\n" + `{"i":1,"j":2,"at_most":1}` + "\n",
	"apart.jsonl":    "\n" + `{"i":0,"j":1,"at_least":1}` + "\n",
	"far.jsonl":      `{"i":0,"j":1,"at_least":1e300}` + "\n",
	"k1.csv":         "1,0,0\n0.5,0.5,0\n",
	"k1wide.csv":     "1,0\n",
	"k1far.csv":      "9,-9,0\n9,9,9\n",
	"k2.csv":         "1,0.5\n0.5,2\n",
	"k2large.csv":    "1,0,0\n0,1,0\n0,0,1\n",
	"table.csv":      "x,class\n1,a\n2,b\n3,a\n4,b\n",
}

func inGram(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range gramFiles {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// roundOff finds what differs between builds in the report of fit --gram.
var roundOff = regexp.MustCompile(`(KKT residual|duality gap): .*`)

func TestGoldenGram(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "gram.golden"))
	if err != nil {
		t.Fatal(err)
	}
	inGram(t)
	const fit, ssikdr = "fit --learner spectral --out m.json --gram ", "fit --learner trace-ssikdr --out m.json --gram k0.csv --constraints "
	c := newCommand(toys(nil))
	compare(t, golden, roundOff.ReplaceAllString(c.session([]string{
		fit + "k0.csv --constraints c.jsonl --kernel-out k.csv",
		fit + "k0.csv --constraints direct.jsonl --param divergence=frobenius --param alpha=0 --param slack=l2 --param c=4",
		fit + "k0.csv --constraints trace.jsonl --param divergence=von-neumann --param tol=1e-10",
		fit + "one.csv --constraints trace.jsonl --param divergence=trace --param tau=0.5",
		fit + "k0.csv --constraints triangle.jsonl", fit + "huge.csv --constraints sum.jsonl", fit + "singular.csv --constraints apart.jsonl",
		fit + "k0.csv --constraints far.jsonl --param iterations=20", fit + "k0.csv --constraints direct.jsonl --param slack=l2 --param c=100 --param iterations=2",
		"fit --gram k0.csv --learner spectral --out m.json", "fit --gram k0.csv --constraints c.jsonl --out m.json",
		"fit --gram k0.csv --constraints c.jsonl --learner pola --out m.json", "fit --gram k0.csv --constraints c.jsonl --learner spectre --out m.json",
		"fit --gram k0.csv --constraints c.jsonl --learner spectral", "fit --gram= --constraints c.jsonl --learner spectral --out m.json",
		fit + "k0.csv --constraints c.jsonl table.csv", fit + "k0.csv --constraints c.jsonl --label 1", fit + "k0.csv --constraints c.jsonl --kernel-out m.json",
		fit + "k0.csv --constraints c.jsonl --kernel-out k0.csv", "fit --learner spectral --gram k0.csv --constraints c.jsonl --out c.jsonl",
		fit + "k0.csv --constraints c.jsonl --param alpha=1", fit + "k0.csv --constraints c.jsonl --param divergence=frobenius --param alpha=-1",
		fit + "k0.csv --constraints c.jsonl --param c=2", fit + "k0.csv --constraints c.jsonl --param slack=soft", fit + "k0.csv --constraints c.jsonl --param tol=0",
		"fit table.csv --label class --learner spectral --out m.json", "fit table.csv --label class --learner fda --constraints c.jsonl --out m.json",
		"fit table.csv --label class --learner fda --kernel-out k.csv --out m.json",
		fit + "nowhere.csv --constraints c.jsonl", fit + "k0.csv --constraints nowhere.jsonl",
		fit + "skew.csv --constraints c.jsonl", fit + "indef.csv --constraints c.jsonl", fit + "wide.csv --constraints c.jsonl", fit + "ragged.csv --constraints c.jsonl",
		fit + "words.csv --constraints c.jsonl", fit + "nan.csv --constraints c.jsonl", fit + "empty.csv --constraints c.jsonl", fit + "text.npy --constraints c.jsonl",
		fit + "k0.csv --constraints bad.jsonl", fit + "k0.csv --constraints neg.jsonl", fit + "k0.csv --constraints none.jsonl", fit + "k0.csv --constraints direct.jsonl",
		fit + "k0.csv --constraints zero.jsonl", fit + "k0.csv --constraints zero.jsonl --param divergence=frobenius",
		fit + "singular.csv --constraints zero.jsonl",
		fit + "k0.csv --constraints c.jsonl",
		"transform --cross-gram k1.csv", "transform --model m.json --cross-gram k1.csv table.csv", "transform --model m.json --cross-gram k1wide.csv",
		"transform --model m.json --cross-gram nowhere.csv", "transform --model m.json --cross-gram=", "transform --model m.json --self-gram k2.csv table.csv",
		"transform --model m.json --cross-gram k1.csv --kernel-out k.csv", "transform --model m.json --cross-gram k1.csv --self-gram k2large.csv",
		"transform --model m.json --cross-gram k1.csv --self-gram skew.csv", "transform --model m.json --cross-gram k1.csv --self-gram k2.csv --kernel-out k2.csv",
		"transform --model m.json --cross-gram k1.csv --guard-formulas", "transform --model m.json --cross-gram k1.csv --subspace", "transform --model m.json --cross-gram k1.csv --self-gram k2.csv --out z.csv --kernel-out z.csv",
		"transform table.csv --model m.json", "plot table.csv --model m.json --out p.png", "evaluate table.csv --model m.json",
		"fit table.csv --label class --learner fda --out table.json", "transform --model table.json --cross-gram k1.csv", "transform --model k0.csv --cross-gram k1.csv",
		ssikdr + "c.jsonl --param slack=hard --param tau=2", ssikdr + "triangle.jsonl --param slack=hard", ssikdr + "triangle.jsonl --param slack=l1 --param c=4",
		ssikdr + "c.jsonl --param slack=hard --param rank=1", "transform --model m.json --cross-gram k1.csv --out z.csv",
		ssikdr + "c.jsonl --param method=direct --param rank=1 --param slack=l2 --param c=10", ssikdr + "c.jsonl --param tau=1e6",
		"transform --model m.json --cross-gram k1.csv",
		ssikdr + "c.jsonl --param kernel=linear", ssikdr + "c.jsonl --param method=direct", ssikdr + "c.jsonl --param starts=2", ssikdr + "c.jsonl --param tau=-1",
	}), "$1: ROUND-OFF"))
}

// TestGoldenGramLabels: objects on a line, of two classes that overlap, under a polynomial kernel.
func TestGoldenGramLabels(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "gramlabels.golden"))
	if err != nil {
		t.Fatal(err)
	}
	inGram(t)
	const n = 12
	var k0, k1, labels, ids strings.Builder
	for i := range n {
		for j := range n {
			x, z := float64(i)+4.5*float64(i%2), float64(j)+4.5*float64(j%2)
			fmt.Fprintf(&k0, "%g,", 100+x*z+x*x*z*z/16)
			if i < 2 {
				fmt.Fprintf(&k1, "%g,", 100+(x+0.5)*z+(x+0.5)*(x+0.5)*z*z/16)
			}
		}
		k0.WriteString("\n")
		k1.WriteString("\n")
		fmt.Fprintf(&labels, "%c\n", 'a'+i%2)
		fmt.Fprintf(&ids, "doc%d,%c\n", n-i, 'a'+i%2)
	}
	rows := func(b *strings.Builder) string { return strings.ReplaceAll(b.String(), ",\n", "\n") }
	for name, text := range map[string]string{
		"k12.csv": rows(&k0), "new.csv": strings.TrimSpace(rows(&k1)) + "\n", "l.csv": labels.String(), "ids.csv": "document,class\n" + ids.String(),
		"short.csv": "a\nb\n", "twice.csv": strings.Replace(ids.String(), "doc3,", "doc4,", 1), "order.csv": strings.ReplaceAll(ids.String(), "doc", ""),
		"hole.csv": strings.Replace(labels.String(), "b\n", "?\n", 1), "wide.csv": strings.ReplaceAll(labels.String(), "\n", ",1,2\n"), "one.txt": strings.ReplaceAll(labels.String(), "b", "a"),
	} {
		writeTest(t, name, text)
	}
	const fit, evaluate = "fit --gram k12.csv --out m.json --labels ", "evaluate --gram k12.csv --labels "
	c := newCommand(toys(nil))
	compare(t, golden, c.session([]string{
		fit + "l.csv --learner kernel-fda --kernel-out k.csv",
		"transform --model m.json --cross-gram k12.csv --out z.csv", "transform --model m.json --cross-gram new.csv --out z.csv", "transform --model m.json --cross-gram k1.csv",
		fit + "ids.csv --learner kernel-logdet --pairs 30 --seed 2 --param landmarks=2",
		fit + "l.csv --learner kernel-pca --param dim=1",
		evaluate + "ids.csv --learner kernel-lmnn --k 1 --folds 3 --repeats 2", evaluate + "l.csv --learner kernel-rca --pairs 20 --k 1 --folds 2 --repeats 1",
		fit + "short.csv --learner kernel-fda", fit + "twice.csv --learner kernel-fda", fit + "order.csv --learner kernel-fda", fit + "hole.csv --learner kernel-fda",
		fit + "wide.csv --learner kernel-fda", fit + "one.txt --learner kernel-fda", fit + "nowhere.csv --learner kernel-fda", "fit --gram indef.csv --labels l.csv --learner kernel-fda --out m.json",
		fit + "l.csv --learner spectral", fit + "l.csv --learner lmnn", fit + "l.csv", fit + "l.csv --learner kernel-fda --seed 3", fit + "l.csv --learner kernel-fda --pairs 3",
		fit + "l.csv --learner kernel-rca --pairs 0", fit + "l.csv --learner kernel-rca --seed 0", fit + "l.csv --learner kernel-fda --param kernel=linear", fit + "l.csv --learner kernel-fda --param ridge=0",
		fit + "l.csv --learner kernel-fda --constraints c.jsonl", fit + "l.csv --learner kernel-fda --header yes", "fit --gram k12.csv --labels= --learner kernel-fda --out m.json",
		"fit --gram k12.csv --labels l.csv --learner kernel-fda --out l.csv", "fit table.csv --label class --labels l.csv --learner fda --out m.json",
		"fit --gram k0.csv --constraints c.jsonl --learner kernel-fda --out m.json", "fit --gram k0.csv --constraints c.jsonl --learner spectral --pairs 3 --out m.json",
		"evaluate --gram k12.csv --learner kernel-fda", "evaluate --gram= --labels l.csv --learner kernel-fda", evaluate + "l.csv", evaluate + "l.csv --learner spectral", evaluate + "l.csv --learner kernel-fda table.csv",
		evaluate + "l.csv --learner kernel-fda --label class", evaluate + "l.csv --model m.json", evaluate + "l.csv --learner kernel-fda --k 12", evaluate + "short.csv --learner kernel-fda",
		"evaluate table.csv --labels l.csv --label class --learner fda",
	}))
	var e evaluated
	if code := c.run(strings.Fields(evaluate + "l.csv --learner kernel-fda --k 1 --folds 3 --repeats 2 --json")...); code != exitOK {
		t.Fatal(c.err.String())
	}
	if err := json.Unmarshal(c.out.Bytes(), &e); err != nil || e.Items != n || e.Features != 0 || len(e.Methods[1].Scores[model.MeasureKNN].Splits) != 6 || e.Data != "k12.csv" {
		t.Errorf("%+v, error %v", e, err)
	}
}

// readNumbers reads a matrix that a command has written.
func readNumbers(t *testing.T, path, header string) *mat.Dense {
	t.Helper()
	text := readTest(t, path)
	if !strings.HasPrefix(text, header) {
		t.Fatalf("%s begins with %q, want %q", path, text[:min(len(text), 20)], header)
	}
	x, err := tables.ReadCross(strings.NewReader(strings.TrimPrefix(text, header)), path, strings.Count(strings.SplitN(text, "\n", 2)[0], ",")+1)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func scaled(n int, v float64) *mat.Dense {
	x := mat.NewDense(n, n, nil)
	for i := range n {
		x.Set(i, i, v)
	}
	return x
}

// TestGramFiles: .npy files are read and written, the learned kernel can be learned from again, and what fails leaves old files.
func TestGramFiles(t *testing.T) {
	inGram(t)
	c := newCommand(toys(nil))
	var array bytes.Buffer
	if err := metric.WriteNPY(&array, scaled(3, 1)); err != nil {
		t.Fatal(err)
	}
	writeTest(t, "k0.npy", array.String())
	for _, line := range []string{
		"fit --gram k0.npy --constraints c.jsonl --learner spectral --out npy.json --kernel-out k.npy",
		"fit --gram k0.csv --constraints c.jsonl --learner spectral --out csv.json --kernel-out k.csv",
		"fit --gram k.npy --constraints c.jsonl --learner spectral --out again.json",
		"transform --cross-gram k0.npy --model npy.json --out z.csv",
	} {
		if code := c.run(strings.Fields(line)...); code != exitOK {
			t.Fatalf("%s: %s", line, c.err.String())
		}
	}
	if readTest(t, "npy.json") != readTest(t, "csv.json") {
		t.Error("the model of k0.npy is not that of k0.csv")
	}
	k, err := metric.ReadNPY(strings.NewReader(readTest(t, "k.npy")))
	if err != nil || !mat.Equal(k, readNumbers(t, "k.csv", "")) {
		t.Errorf("k.npy is not k.csv, error %v", err)
	}
	for _, name := range []string{"old.json", "old.csv"} {
		writeTest(t, name, "old")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, constraints := range []string{"c.jsonl", "triangle.jsonl", "bad.jsonl"} {
		for _, name := range []string{"old", "new"} {
			line := strings.Fields("fit --gram k0.csv --learner spectral --constraints " + constraints + " --out " + name + ".json --kernel-out " + name + ".csv")
			want := exitInterrupted
			if constraints == "c.jsonl" {
				if code := execute(ctx, c.app, line); code != exitInterrupted {
					t.Errorf("interrupted: exit code %d", code)
				}
			} else if want = exitFailed; c.run(line...) != want {
				t.Errorf("%s: want exit code %d, %s", constraints, want, c.err.String())
			}
		}
	}
	for _, line := range []string{"transform --cross-gram k0.csv --model csv.json --self-gram k2.csv --out old.json --kernel-out old.csv", "transform --cross-gram k1.csv --model csv.json --self-gram indef.csv --out new.json --kernel-out new.csv"} {
		if code := c.run(strings.Fields(line)...); code != exitFailed {
			t.Errorf("%s: exit code %d", line, code)
		}
	}
	for _, name := range []string{"old.json", "old.csv"} {
		if readTest(t, name) != "old" {
			t.Errorf("%s has changed", name)
		}
	}
	for _, name := range []string{"new.json", "new.csv"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}
