package main

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/vectors"
)

// thisVersion names the folder of files that TestSavedVersions -update writes. A release that is out keeps its folder: the next one has another name.
const thisVersion = "0.1.0"

// saved are files of each kind that the command writes: how one is made, and a use of it whose answer is kept.
var saved = []struct{ name, stdin, make, in, use string }{
	{"model-pola", "", "fit train.csv --label class --learner pola --out m.json", "", "transform new.csv --model m.json"},
	{"model-iplr", "", "fit train.csv --label class --learner iplr --out m.json", "", "transform new.csv --model m.json"},
	{"model-kernel-lmnn", "", "fit train.csv --label class --learner kernel-lmnn --out m.json", "", "transform new.csv --model m.json"},
	{"model-kernel-itml", "", "fit train.csv --label class --learner kernel-itml --out m.json", "", "neighbours new.csv --model m.json --train train.csv"},
	{"vectors-pairs", "", "fit --vectors X.npy --pairs pairs.csv --learner lego --out m.json", "", "transform --vectors X.npy --npy Y.npy --model m.json"},
	{"vectors-triplets", "", "fit --vectors X.npy --triplets t.csv --learner itml --out m.json", "", "transform --vectors X.npy --npy Y.npy --model m.json"},
	{"gram-spectral", "", "fit --gram k0.csv --constraints c.jsonl --learner spectral --out m.json", "", "transform --cross-gram k1.csv --model m.json"},
	{"gram-kernel-pca", "", "fit --gram k0.csv --labels l.csv --learner kernel-pca --out m.json", "", "transform --cross-gram k1.csv --model m.json"},
	{"triplets-ste", "", "fit --triplets t.csv --learner ste --out m.json", "", "plot --model m.json --out p.svg"},
	{"pola", "pairs.jsonl", "learn --learner pola --save m.json", "pairs.jsonl", "learn --load m.json"},
	{"pa", "pairs.jsonl", "learn --learner pa --save m.json", "pairs.jsonl", "learn --load m.json"},
	{"lego", "pairs.jsonl", "learn --learner lego --save m.json", "pairs.jsonl", "learn --load m.json"},
	{"kernel-pola", "pairs.jsonl", "learn --learner kernel-pola --save m.json", "pairs.jsonl", "learn --load m.json"},
	{"erkle", "t.jsonl", "learn --learner erkle --objects 36 --save m.json", "t.jsonl", "learn --load m.json"},
	{"rmp", "costs.jsonl", "learn --learner rmp --save m.json", "costs.jsonl", "learn --load m.json"},
	{"ftl", "costs.jsonl", "learn --learner ftl --save m.json", "costs.jsonl", "learn --load m.json"},
}

// Files that earlier versions saved are read, and give the answers that they gave then: the promise of docs/format.md. Numbers may differ by 1e-9
// relative, by which sums in another order on another processor differ less. With -update the files of this version are made.
func TestSavedVersions(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("testdata", "saved"))
	if err != nil {
		t.Fatal(err)
	}
	everyFile(t)
	c := newCommand(toys(nil))
	run := func(stdin, line string) string {
		t.Helper()
		if stdin != "" {
			c.app.in = strings.NewReader(readTest(t, stdin))
		}
		if code := c.run(strings.Fields(line)...); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", line, code, c.err.String())
		}
		return c.out.String()
	}
	answer := func(in, use string) string {
		out := run(in, use)
		if strings.Contains(use, "--npy") {
			out = ""
			f, err := vectors.Open("Y.npy")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			n, d := f.Rows(), f.Dim()
			x := make([]float64, n*d)
			if err := f.ReadRows(x, 0); err != nil {
				t.Fatal(err)
			}
			for _, v := range x {
				out += number(v) + "\n"
			}
		}
		return out
	}
	if *update {
		for _, s := range saved {
			run(s.stdin, s.make)
			file := filepath.Join(root, thisVersion, s.name)
			raw := readTest(t, "m.json")
			text := answer(s.in, s.use)
			for name, data := range map[string]string{file + ".json": raw, file + ".txt": text} {
				if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	versions, err := filepath.Glob(filepath.Join(root, "*"))
	if err != nil || len(versions) == 0 {
		t.Fatalf("%d versions in %s, error %v", len(versions), root, err)
	}
	for _, dir := range versions {
		read := 0
		for _, s := range saved {
			raw, err := os.ReadFile(filepath.Join(dir, s.name+".json"))
			if os.IsNotExist(err) && filepath.Base(dir) != thisVersion {
				continue // this version had no such file
			}
			read++
			t.Run(filepath.Base(dir)+"/"+s.name, func(t *testing.T) {
				if err != nil {
					t.Fatal(err)
				}
				want, err := os.ReadFile(filepath.Join(dir, s.name+".txt"))
				if err != nil {
					t.Fatal(err)
				}
				writeTest(t, "m.json", string(raw))
				sameNumbers(t, answer(s.in, s.use), string(want))
			})
		}
		if read == 0 {
			t.Errorf("%s holds no file of a version", dir)
		}
	}
}

// sameNumbers compares two texts word by word, numbers by value.
func sameNumbers(t *testing.T, got, want string) {
	t.Helper()
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\n,:{}[]\"", r) })
	}
	g, w := words(got), words(want)
	if len(g) != len(w) {
		t.Fatalf("%d words, then it was %d", len(g), len(w))
	}
	for i := range g {
		if g[i] == w[i] {
			continue
		}
		a, errA := strconv.ParseFloat(g[i], 64)
		b, errB := strconv.ParseFloat(w[i], 64)
		if errA != nil || errB != nil || math.Abs(a-b) > 1e-9*max(1, math.Abs(a), math.Abs(b)) {
			t.Fatalf("word %d is %s, then it was %s", i+1, g[i], w[i])
		}
	}
}
