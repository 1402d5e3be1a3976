package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/pkg/vectors"
)

// inVectors makes made-up vectors and feedback on them in an empty working folder.
func inVectors(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	const n, d = 60, 4
	x := make([]float64, 0, n*d)
	var ids strings.Builder
	for i := range n {
		x = append(x, float64(i%3), float64(i%7)-3, 3*math.Round(4*math.Sin(float64(i*i))), float64((i*5)%11))
		fmt.Fprintf(&ids, "item-%d\n", i)
	}
	for name, float32s := range map[string]bool{"X.npy": true, "x64.npy": false} {
		w, err := vectors.Create(name, n, d, float32s)
		if err == nil {
			err = cmp.Or(w.WriteRows(x, 0), w.Commit())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	csv, named, jsonl := "a,b,label\n", "", ""
	for k := range 400 {
		i, j := k*7%n, (k*11+k/7)%n
		if i == j {
			continue
		}
		label := -1
		if i%3 == j%3 {
			label = 1
		}
		csv += fmt.Sprintf("%d,%d,%d\n", i, j, label)
		named += fmt.Sprintf("item-%d,item-%d,%d\n", i, j, label)
		jsonl += fmt.Sprintf(`{"a":"item-%d","b":"item-%d","label":%d}`+"\n", i, j, label)
	}
	triplets, namedTriplets := "a,near,far\n", `{"a":"item-4","near":"item-4","far":"item-5"}`+"\n"
	for k := range 300 {
		i := k * 13 % n
		near, far := (i+3*(k%5+1))%n, (i+3*(k%7)+1+k%2)%n
		triplets += fmt.Sprintf("%d,%d,%d\n", i, near, far)
		namedTriplets += fmt.Sprintf(`{"a":"item-%d","near":"item-%d","far":"item-%d"}`+"\n", i, near, far)
	}
	for name, text := range map[string]string{
		"t3.csv": triplets, "t3.jsonl": namedTriplets, "t3far.csv": "0,1,60\n", "t3same.csv": "0,1,1\n", "t3few.csv": "0,1,2\n",
		"f.csv": csv, "named.csv": named, "f.jsonl": jsonl, "ids.txt": ids.String(), "short.txt": "item-0\nitem-1\n", "twice.txt": "a\na\n",
		"far.csv": "0,1,1\n0,60,-1\n", "self.csv": "0,1,1\n2,2,-1\n", "labels.csv": "0,1,1\n0,2,0\n", "empty.csv": "", "one.csv": "0,3,1\n", "bad.npy": "1,2\n",
	} {
		writeTest(t, name, text)
	}
	raw, err := os.ReadFile("X.npy")
	if err != nil {
		t.Fatal(err)
	}
	writeTest(t, "cut.npy", string(raw[:len(raw)-1]))
}

func TestGoldenVectors(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "vectors.golden"))
	if err != nil {
		t.Fatal(err)
	}
	inVectors(t)
	const fit, evaluate = "fit --vectors X.npy --out m.json ", "evaluate --vectors X.npy --pairs f.csv "
	c := newCommand(toys(nil))
	compare(t, golden, c.session([]string{
		fit + "--pairs f.csv --learner lego",
		"transform --model m.json --vectors X.npy --npy Y.npy",
		"transform --model m.json --vectors x64.npy --npy Y64.npy",
		evaluate + "--learner lego",
		fit + "--pairs named.csv --ids ids.txt --learner pa --param rule=pa1 --passes 2 --unit",
		fit + "--pairs f.jsonl --ids ids.txt --learner itml --rank 2 --factor-npy L.npy --matrix-npy M.npy",
		"transform --model m.json --vectors X.npy --npy Y2.npy",
		fit + "--pairs f.csv --learner iplr --param k=2 --no-standardise",
		fit + "--pairs f.csv --learner rca --param ridge=0.1",
		evaluate + "--learner itml --unit --repeats 3 --k 5 --test-share 0.5 --seed 2",
		"neighbours --vectors X.npy --ids ids.txt --model m.json --rows item-3,item-59 --k 2", "neighbours --vectors X.npy --model m.json --rows 3 --k 2 --out near.csv",
		fit + "--triplets t3.csv --learner itml", "transform --model m.json --vectors X.npy --npy Y3d.npy", "neighbours --vectors X.npy --model m.json --rows 3 --k 2",
		fit + "--triplets t3.jsonl --ids ids.txt --learner itml --param c=10 --rank 1 --unit", "evaluate --vectors X.npy --triplets t3.csv --learner itml",
		// errors
		fit + "--triplets t3.csv", fit + "--triplets t3.csv --learner lego", fit + "--triplets t3.csv --pairs f.csv --learner itml", fit + "--triplets t3.csv --learner itml --passes 2", fit + "--triplets t3far.csv --learner itml",
		fit + "--triplets t3same.csv --learner itml", fit + "--triplets t3.csv --ids ids.txt --learner itml", fit + "--triplets= --learner itml", fit + "--triplets t3.csv --learner itml --param margin=0", fit + "--triplets t3.csv --learner itml --dim 2",
		"evaluate --vectors X.npy --triplets t3few.csv --learner itml", "fit --vectors X.npy --triplets t3.csv --learner itml --out t3.csv",
		"neighbours --vectors X.npy --model m.json", "neighbours --vectors X.npy --model m.json --rows 3 --queries X.npy", "neighbours --vectors X.npy --model m.json --rows 60",
		"neighbours --vectors X.npy --model m.json --rows 0 --k 60", "neighbours --vectors X.npy --model m.json --queries M.npy --k 0", "neighbours --vectors X.npy --model m.json --rows 0 --out X.npy",
		"neighbours --vectors X.npy --model m.json --queries bad.npy", "neighbours --vectors X.npy --model m.json --rows 0 --train t.csv", "neighbours t.csv --train t.csv --model m.json --rows 0",
		fit + "--learner lego", fit + "--pairs 30 --learner lego", fit + "--pairs f.csv", fit + "--pairs f.csv --learner lmnn", fit + "--pairs f.csv --learner kernel-pola",
		fit + "--pairs far.csv --learner lego", fit + "--pairs self.csv --learner lego", fit + "--pairs labels.csv --learner lego", fit + "--pairs empty.csv --learner lego",
		fit + "--pairs named.csv --learner lego", fit + "--pairs f.csv --ids short.txt --learner lego", fit + "--pairs f.csv --ids twice.txt --learner lego", fit + "--pairs f.csv --ids ids.txt --learner lego",
		fit + "--pairs f.csv --learner lego --rank 5", fit + "--pairs f.csv --learner lego --rank 0", fit + "--pairs f.csv --learner lego --seed 2", fit + "--pairs f.csv --learner lego --label 1",
		fit + "--pairs f.csv --learner itml --passes 2", fit + "--pairs f.csv --learner lego --gram k.csv", "fit --vectors X.npy --pairs f.csv --learner lego", "fit --vectors X.npy --pairs f.csv --learner lego --out X.npy",
		"fit --vectors bad.npy --pairs f.csv --learner lego --out m.json", "fit --vectors cut.npy --pairs f.csv --learner lego --out m.json", "fit --vectors none.npy --pairs f.csv --learner lego --out m.json",
		"fit --vectors= --pairs f.csv --learner lego --out m.json", "fit t.csv --vectors X.npy --pairs f.csv --learner lego --out m.json", "fit t.csv --rank 2 --label y --learner lego --out m.json",
		"transform --model m.json --vectors X.npy --subspace", "transform --model m.json --vectors X.npy --npy X.npy", "transform --model m.json --vectors L.npy --npy Y3.npy --out z.csv", "transform --vectors X.npy --npy Y3.npy",
		"transform --model ids.txt --vectors X.npy --npy Y3.npy", "transform t.csv --model m.json", "transform --model m.json --vectors M.npy --npy X.json",
		evaluate + "--learner lego --test-share 1.5", evaluate + "--learner lego --k 3,5", evaluate + "--learner lego --folds 3", evaluate + "--learner lego --repeats 0", "evaluate --vectors X.npy --pairs one.csv --learner lego",
		"evaluate --vectors X.npy --pairs self.csv --learner lego", "evaluate t.csv --label y --learner pca --test-share 0.2",
	}))
}

// Lines name vectors by id or row; a bad one has its number, and learns nothing.
func TestLearnVectors(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "learnvectors.golden"))
	if err != nil {
		t.Fatal(err)
	}
	inVectors(t)
	c := newCommand(toys(nil))
	var b strings.Builder
	for _, r := range []struct{ args, in string }{
		{"learn --learner pola --vectors X.npy --save p.json", `{"a":0,"b":1,"label":-1}` + "\n" + `{"a":0,"b":3.0,"label":1}` + "\n" + `{"b":4,"a":1}`},
		{"learn --load p.json --vectors X.npy --ids ids.txt", `{"a":"item-0","b":"item-1"}` + "\n" + `{"a":"item-0","b":"none","label":1}`},
		{"learn --load p.json --vectors X.npy --skip-bad", strings.Join([]string{`{"a":60,"b":1}`, `{"a":-1,"b":1}`, `{"a":0.5,"b":1}`, `{"a":null,"b":1}`, `{"a":1}`, `{"x":[1,2,3,4],"y":[1,2,3,4]}`, `{"a":1,"b":2,"label":0}`, `{"a":1,"b":1,"label":1}`, `{"a":[1],"b":1}`}, "\n")},
		{"learn --load p.json --vectors M.npy", ""},
		{"learn --load p.json --ids ids.txt", ""},
		{"learn --learner pola --dim 3 --vectors X.npy", ""},
		{"learn --learner erkle --objects 3 --vectors X.npy", ""},
		{"learn --learner oasis --vectors X.npy --ids ids.txt --save o.json", `{"a":"item-0","near":"item-3","far":"item-1"}` + "\n" + `{"a":"item-0","b":"item-1","c":3}`},
		{"learn --load o.json --vectors X.npy --skip-bad", `{"a":0,"near":3,"far":1}` + "\n" + `{"a":0,"near":60,"far":1}` + "\n" + `{"a":0,"near":3}`},
		{"learn --load p.json --vectors short.npy", ""},
	} {
		if r.args == "learn --load p.json --vectors short.npy" {
			w, err := vectors.Create("short.npy", 1, 3, true)
			if err == nil {
				err = cmp.Or(w.WriteRows([]float64{1, 2, 3}, 0), w.Commit())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		c.app.in = strings.NewReader(r.in)
		b.WriteString(c.session([]string{r.args}))
	}
	compare(t, golden, b.String())
}
