package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/learners/labels"
	"metriclab/pkg/persist"
	"metriclab/pkg/vectors"
)

// thisVersion names the folder of files that TestSavedVersions -update writes: those that differ from the files of earlier versions. A release that is out
// keeps its folder: the next one has another name.
const thisVersion = "0.2.0"

// saved are files of each kind that the command writes: how one is made, and a use of it whose answer is kept.
var saved = []struct{ name, stdin, make, in, use string }{
	{"model-pola", "", "fit train.csv --label class --learner pola --out m.json", "", "transform new.csv --model m.json"},
	{"model-iplr", "", "fit train.csv --label class --learner iplr --out m.json", "", "transform new.csv --model m.json"},
	{"model-kernel-lmnn", "", "fit train.csv --label class --learner kernel-lmnn --out m.json", "", "transform new.csv --model m.json"},
	{"model-kernel-itml", "", "fit train.csv --label class --learner kernel-itml --out m.json", "", "neighbours new.csv --model m.json --train train.csv"},
	{"vectors-pairs", "", "fit --vectors X.npy --pairs pairs.csv --learner lego --out m.json", "", "transform --vectors X.npy --npy Y.npy --model m.json"},
	{"vectors-triplets", "", "fit --vectors X.npy --triplets t.csv --learner itml --out m.json", "", "transform --vectors X.npy --npy Y.npy --model m.json"},
	{"vectors-unit", "", "fit --vectors Z.npy --pairs pairs.csv --learner lego --unit --out m.json", "", "transform --vectors X.npy --npy Y.npy --model m.json"},
	{"model-constant", "", "fit constant.csv --label class --learner pola --out m.json", "", "transform constant.csv --model m.json"},
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
	constant := strings.Split(strings.TrimSpace(readTest(t, "train.csv")), "\n")
	for i, line := range constant { // a column that differs by round-off alone
		constant[i] = [...]string{"0.3", "0.30000000000000004"}[i%2] + "," + line
	}
	constant[0] = "c," + strings.SplitN(constant[0], ",", 2)[1]
	writeTest(t, "constant.csv", strings.Join(constant, "\n")+"\n")
	w, err := vectors.Create("Z.npy", 48, 3, false)
	for i := 0; i < 48 && err == nil; i++ { // every eighth has no direction
		err = w.WriteRows([]float64{float64(i % 8), float64(i % 8 * i % 5), float64(i % 8 * i % 7)}, i)
	}
	if err = cmp.Or(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
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
			earlier, err := filepath.Glob(filepath.Join(root, "*", s.name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(earlier, func(path string) bool {
				return filepath.Dir(path) != filepath.Dir(file) && readTest(t, path) == raw
			}) {
				continue
			}
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
	read := map[string]int{}
	for _, dir := range versions {
		for _, s := range saved {
			raw, err := os.ReadFile(filepath.Join(dir, s.name+".json"))
			if os.IsNotExist(err) {
				continue // this version wrote no such file, or the one before it
			}
			read[filepath.Base(dir)]++
			read[s.name]++
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
	}
	for _, s := range saved {
		if read[s.name] == 0 {
			t.Errorf("no version has the file %s", s.name)
		}
	}
	for _, dir := range versions {
		if read[filepath.Base(dir)] == 0 {
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

// look --model knows every kind: those that the command writes, of each version, and those that only Go does.
func TestLookSaved(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "saved", "*", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files, error %v", len(paths), err)
	}
	inputs, lines := map[string]string{}, []said{}
	for i, path := range paths {
		name, raw := fmt.Sprintf("m%d.json", i), readTest(t, path)
		env, err := persist.Read(strings.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		inputs[name] = raw
		lines = append(lines,
			said{line: "look --model " + name, want: []string{name + ": " + env.Kind + ", ", ", whole\nparameters: {", "To paste:\nmetriclab ", name}},
			said{line: "look --model " + name + " --json", want: []string{`"kind": "` + env.Kind + `"`, `"params": {`, `"command": "metriclab `}})
	}
	projection := map[string]persist.Floats{"mean": {0, 0}, "rows": {1, 2}, "values": {3}}
	var pca, mine strings.Builder
	if err := cmp.Or(persist.Write(&pca, labels.PCAKind, struct{}{}, projection), persist.Write(&mine, "mine/pca", struct{}{}, projection)); err != nil {
		t.Fatal(err)
	}
	inputs["pca.json"], inputs["mine.json"], inputs["cut.json"], inputs["t.csv"] = pca.String(), mine.String(), pca.String()[:99], "a,b\n1,2\n"
	files(t, inputs)
	say(t, append(lines,
		said{line: "look --model pca.json", want: []string{"pca.json: labels/pca, 2 features, whole\nparameters: {}\n\nNo command uses this kind; model.Open reads it in Go.\n"}},
		said{line: "look --model mine.json", code: exitFailed, want: []string{`mine.json: file is of another kind: it holds "mine/pca", which no type of metriclab saves`}},
		said{line: "look --model cut.json", code: exitFailed, want: []string{"cut.json: persist: "}},
		said{line: "look --model t.csv", code: exitFailed, want: []string{"t.csv: persist: "}},
		said{line: "look --model none.json", code: exitFailed, want: []string{"none.json"}},
		said{line: "look --model=", code: exitUsage, want: []string{"flag --model: no file given"}},
		said{line: "look t.csv --model pca.json", code: exitUsage, want: []string{"takes no table with --model"}},
		said{line: "look --vectors X.npy --model pca.json", code: exitUsage, want: []string{"flag --vectors: not together with --model"}},
		said{line: "look --model pca.json --labels t.csv", code: exitUsage, want: []string{"flag --labels: not together with --model"}},
	))
}
