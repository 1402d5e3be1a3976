package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/internal/product"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/model"
	"metriclab/pkg/vectors"
)

// numberLines are command lines over all kinds of input, verbs and learners. Each uses the files of numberFiles and those that the lines above it wrote.
// "<FILE" at the end is standard input.
var numberLines = []string{
	// a table with classes: CSV with and without a header, svmlight, .npy, missing cells, words
	"look train.csv --json", "look holes.csv --json", "look words.csv --label class", "look train.svm --json", "look train.npy --labels labels.csv",
	"fit train.csv --label class --learner pola --pairs 200 --passes 2 --seed 3 --out m.json",
	"transform new.csv --model m.json --npy z.npy", "predict new.csv --train train.csv --model m.json --k 3", "neighbours new.csv --train train.csv --model m.json --k 2",
	"plot new.csv --model m.json --out p.svg", "plot --metric m.json --out p.svg", "evaluate train.csv --model m.json --folds 3 --repeats 2 --json",
	"fit bare.csv --no-header --label 5 --learner lmnn --no-standardise --out m.json --factor-npy l.npy --matrix-npy m.npy", "predict bare.csv --train bare.csv --model m.json",
	"evaluate bare.csv --no-header --label 5 --learner mcml --no-standardise --k 3 --folds 3 --repeats 1 --json",
	"fit train.svm --no-standardise --learner iplr --out m.json", "transform new.svm --model m.json --subspace", "evaluate train.svm --no-standardise --learner iplr --folds 3 --repeats 2 --k 1,3 --json",
	"fit train.npy --labels labels.csv --learner itml-labels --param gamma=0.5 --out m.json", "predict new.npy --train train.npy --labels labels.csv --model m.json",
	"fit holes.csv --label class --impute mean --learner itml-tuned --out m.json", "transform holes.csv --model m.json", "evaluate holes.csv --label class --impute mean --learner fda --folds 3 --repeats 2 --json",
	"fit words.csv --label class --one-hot colour --learner pa --pairs 50 --seed 2 --out m.json", "transform words.csv --model m.json", "evaluate words.csv --label class --one-hot colour --learner itml --pairs 50 --folds 3 --repeats 2",
	"fit train.csv --drop class --learner pca --param dim=2 --out m.json", "transform new.csv --model m.json", "fit train.csv --label class --learner kernel-lmnn --param landmarks=10 --param iterations=10 --out m.json",
	"predict new.csv --train train.csv --model m.json", "fit train.csv --label class --learner kernel-itml --param landmarks=8 --pairs 60 --out m.json", "neighbours new.csv --train train.csv --model m.json --k 2",
	"compare train.csv --label class --learners all --pairs 100 --folds 3 --repeats 2 --k 1,3 --validation 0 --json",
	"compare train.csv --label class --learners fda,lmnn,pola,itml --param lmnn:k=2 --pairs 100 --folds 3 --repeats 2 --validation 2 --json --resume j.jsonl",
	"compare train.csv --label class --learners fda,lmnn,pola,itml --param lmnn:k=2 --pairs 100 --folds 3 --repeats 2 --validation 2 --resume j.jsonl",
	"compare holes.csv --label class --learners rca,lsa --impute mean --pairs 80 --folds 3 --repeats 2 --seed 2 --json", "compare train.svm --learners iplr,invcov --no-standardise --folds 3 --repeats 1 --k 3 --validation 0",
	// a table with pairs
	"fit train.csv --label class --pairs pairs.csv --learner itml --out m.json", "evaluate train.csv --label class --pairs pairs.csv --learner itml --repeats 6 --json", "evaluate train.csv --drop class --pairs pairs.csv --learner kernel-pola --repeats 3 --k 2",
	"fit train.csv --drop class --pairs pairs.csv --learner trace-ssikdr --param rank=2 --out m.json", "fit train.csv --drop class --pairs pairs.csv --learner lego --passes 3 --no-standardise --out m.json",
	// a table with chunklets
	"fit train.csv --drop class --chunklets group --learner rca --out m.json", "transform new.csv --model m.json", "fit train.csv --drop class --chunklets group --learner pola-batch --seed 2 --out m.json",
	"fit train.csv --drop class --chunklets group --learner kernel-rca --param landmarks=6 --out m.json",
	"fit train.csv --drop class --chunklets group --dissimilar none --learner itml --param rule=given --param upper=1 --param lower=4 --out m.json",
	// vectors with pairs
	"look --vectors x.npy --json", "fit --vectors x.npy --pairs pairs.csv --learner itml --unit --rank 2 --out m.json", "transform --vectors x.npy --model m.json --npy z.npy", "neighbours --vectors x.npy --rows 0,35 --model m.json --k 3",
	"predict --vectors q.npy --train x.npy --labels labels.csv --model m.json --k 3 --json", "plot --vectors x.npy --labels labels.csv --model m.json --out p.svg", "transform --vectors x.npy --model m.json --json",
	"evaluate --vectors x.npy --pairs pairs.csv --learner itml --unit --rank 2 --repeats 6 --k 3 --json", "fit --vectors x.npy --ids ids.txt --pairs named.csv --learner pa --passes 2 --no-standardise --out m.json",
	"evaluate --vectors x.npy --pairs pairs.csv --learner iplr --repeats 2 --test-share 0.4",
	// vectors with comparisons
	"fit --vectors x.npy --triplets t.csv --learner itml --out m.json", "neighbours --vectors x.npy --queries q.npy --model m.json --k 2", "evaluate --vectors x.npy --triplets t.csv --learner itml --unit --repeats 6 --json",
	// a Gram matrix with constraints
	"fit --gram k.csv --constraints c.jsonl --learner spectral --out m.json --kernel-out learned.csv", "transform --cross-gram cross.csv --self-gram self.csv --model m.json --kernel-out learned.npy",
	"neighbours --cross-gram cross.csv --model m.json --k 2", "fit --gram k.csv --constraints c.jsonl --learner trace-ssikdr --out m.json",
	// a Gram matrix with classes
	"fit --gram k.csv --labels classes.csv --learner kernel-fda --param landmarks=9 --out m.json", "transform --cross-gram cross.csv --model m.json", "plot --cross-gram cross.csv --model m.json --out p.svg --json", "predict --cross-gram cross.csv --labels classes.csv --model m.json --k 3",
	"fit --gram k.csv --labels classes.csv --learner kernel-rca --param ridge=0.1 --param landmarks=6 --pairs 40 --seed 2 --out m.json", "evaluate --gram k.csv --labels classes.csv --learner kernel-rca --param ridge=0.1 --param landmarks=6 --pairs 40 --folds 3 --repeats 2 --k 3",
	"evaluate --gram k.csv --labels classes.csv --learner kernel-mcml --folds 3 --repeats 2 --json", "evaluate --gram k.csv --labels classes.csv --learner kernel-pca --param dim=2 --folds 3 --repeats 2 --k 1", "compare --gram k.csv --labels classes.csv --learners kernel-pca,kernel-mcml,euclidean --param kernel-pca:dim=2 --folds 3 --repeats 2 --k 1 --validation 2 --json",
	// bare comparisons
	"fit --triplets t.csv --learner ste --out m.json --coordinates z.csv", "plot --model m.json --out p.svg", "neighbours --model m.json --k 2 --json", "transform --model m.json --dim 3", "evaluate --triplets t.csv --learner gnmds --folds 3 --repeats 2 --dim 2 --json",
	"fit --triplets named.jsonl --learner ckl --out m.json --dim 1 --coordinates z.npy", "evaluate --triplets t.csv --learner erkle --passes 2 --folds 3 --repeats 2",
	"compare --triplets t.csv --learners gnmds,ste --folds 3 --repeats 2 --validation 2 --json", "compare --vectors x.npy --pairs pairs.csv --learners itml,lego,cosine --unit --repeats 6 --validation 2 --json",
	"compare --vectors x.npy --triplets t.csv --learners itml,euclidean --repeats 6 --validation 0 --json",
	// streams
	"learn --learner pola --state-every 20 --save s.json <pairs.jsonl", "learn --load s.json <ask.jsonl", "learn --learner pa --param rule=pa1 --save s.json <pairs.jsonl", "learn --learner kernel-pola --state-every 20 --save s.json <pairs.jsonl",
	"learn --learner lego --vectors x.npy --ids ids.txt --save s.json <named-pairs.jsonl", "transform --vectors x.npy --model s.json --npy z.npy", "learn --learner erkle --objects 36 --save s.json <t.jsonl",
	"learn --learner rmp --state-every 3 --save s.json <costs.jsonl", "learn --learner ftl --save s.json <costs.jsonl",
}

// numberFiles makes the files of numberLines in an empty working folder: 36 points of three classes that overlap, and 6 new ones, with four decimals, as
// tables, vectors, a Gram matrix, pairs and comparisons.
func numberFiles(t *testing.T) {
	t.Helper()
	const old, all, dim = 36, 42, 4
	rng := rand.New(rand.NewPCG(38, 1))
	var x []float64
	for i := range all {
		for j := range dim {
			x = append(x, math.Round(1e4*(rng.NormFloat64()*[]float64{1, 2, 1, 5}[j]+1.5*float64([]int{i % 3, i % 2, (i + 1) % 3, 0}[j])))/1e4)
		}
	}
	row := func(i int) []float64 { return x[dim*i : dim*i+dim] }
	class := func(i int) int { return i % 3 }
	sqdist := func(i, j int) (sum float64) {
		for k, v := range row(i)[:3] {
			sum += (v - row(j)[k]) * (v - row(j)[k])
		}
		return sum
	}
	dot := func(i, j int) float64 {
		sum := 1.0
		for k, v := range row(i) {
			sum += v * row(j)[k]
		}
		return math.Round(1e6*sum*sum) / 1e6
	}
	w := map[string]*strings.Builder{}
	add := func(name, format string, args ...any) {
		if w[name] == nil {
			w[name] = &strings.Builder{}
		}
		fmt.Fprintf(w[name], format+"\n", args...)
	}
	words := []string{"red", "green", "blue"}
	for _, name := range []string{"train.csv", "new.csv"} {
		add(name, "x,y,z,w,group,class")
	}
	add("holes.csv", "x,y,z,w,class")
	add("words.csv", "x,colour,y,class")
	for i := range all {
		part := "train"
		if i >= old {
			part = "new"
		}
		r := row(i)
		add(part+".csv", "%g,%g,%g,%g,%d,%d", r[0], r[1], r[2], r[3], i/4, class(i))
		add(part+".svm", "%d 1:%g %d:%g 5:%g", class(i), r[0], 2+i%3, r[1], r[2])
		if i >= old {
			add("cross.csv", "%s", cells(old, func(j int) float64 { return dot(i, j) }))
			add("self.csv", "%s", cells(all-old, func(j int) float64 { return dot(i, old+j) }))
			continue
		}
		add("k.csv", "%s", cells(old, func(j int) float64 { return dot(i, j) }))
		add("bare.csv", "%g,%g,%g,%g,%d", r[0], r[1], r[2], r[3], class(i))
		add("labels.csv", "%d", class(i))
		add("classes.csv", "%d", class(i))
		add("ids.txt", "item-%s", words[i%3]+strings.Repeat("o", i/3))
		hole := fmt.Sprint(r[1])
		if i%7 == 2 {
			hole = "?"
		}
		add("holes.csv", "%g,%s,%g,%g,%d", r[0], hole, r[2], r[3], class(i))
		add("words.csv", "%g,%s,%g,%d", r[0], words[(i+i/5)%3], r[1], class(i))
	}
	id := func(i int) string { return strings.Split(w["ids.txt"].String(), "\n")[i] }
	vector := func(i int) string {
		r := row(i)
		return fmt.Sprintf("[%g,%g,%g]", r[0], r[1], r[2])
	}
	for k := range 240 {
		o := rng.Perm(old)[:3]
		label := -1
		if class(o[0]) == class(o[1]) {
			label = 1
		}
		add("pairs.csv", "%d,%d,%d", o[0], o[1], label)
		add("named.csv", "%s,%s,%d", id(o[0]), id(o[1]), label)
		if sqdist(o[0], o[1]) > sqdist(o[0], o[2]) {
			o[1], o[2] = o[2], o[1]
		}
		add("t.csv", "%d,%d,%d", o[0], o[1], o[2])
		if k < 60 {
			add("named.jsonl", `{"a":%q,"near":%q,"far":%q}`, id(o[0]%9), id(9+o[1]%9), id(18+o[2]%9))
			add("pairs.jsonl", `{"x":%s,"y":%s,"label":%d}`, vector(o[0]), vector(o[1]), label)
			add("named-pairs.jsonl", `{"a":%q,"b":%q,"label":%d}`, id(o[0]), id(o[1]), label)
			add("t.jsonl", `{"a":%d,"near":%d,"far":%d}`, o[0], o[1], o[2])
		}
		if k < 4 {
			add("ask.jsonl", `{"x":%s,"y":%s}`, vector(o[0]), vector(o[1]))
			add("costs.jsonl", `{"cost":[[0.%d,0.5],[0.3,0.%d],[0.%d,0.75]]}`, k+1, 2*k+2, 9-2*k)
			add("c.jsonl", `{"a":%d,"near":%d,"far":%d,"margin":0.5}`, o[0], o[1], o[2])
			add("c.jsonl", `{"i":%d,"j":%d,"at_least":%d}`, 3*k, 3*k+1, 4)
		}
	}
	for name, b := range w {
		writeTest(t, name, b.String())
	}
	array := func(name string, from, to int, float32 bool) {
		t.Helper()
		f, err := vectors.Create(name, to-from, dim, float32)
		if err == nil {
			if err = f.WriteRows(x[dim*from:dim*to], 0); err == nil {
				err = f.Commit()
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	array("train.npy", 0, old, false)
	array("new.npy", old, all, false)
	array("x.npy", 0, old, true)
	array("q.npy", old, all, true)
}

func cells(n int, cell func(j int) float64) string {
	out := make([]string, n)
	for j := range out {
		out[j] = number(cell(j))
	}
	return strings.Join(out, ",")
}

// series are numbers that belong together, in their order, and where they stand: a list of JSON, a row of CSV, a file of vectors. Numbers of text stand alone.
type series struct {
	where string
	words []string
}

// inFull is the number of words up to which a golden file lists a series; of a longer one it has a digest.
const inFull = 16

// add adds words to the series of a place.
func add(to *[]series, where string, words ...string) {
	if len(words) == 0 {
		return
	}
	if i := slices.IndexFunc(*to, func(s series) bool { return s.where == where }); i >= 0 {
		(*to)[i].words = append((*to)[i].words, words...)
		return
	}
	*to = append(*to, series{where, words})
}

// digest is a series in few words. A longer one becomes the number of its words, a hash of them all, and two sums of the magnitudes and of the positive
// numbers, weighted by place, which another order of sums changes little, a changed number much.
func (s series) digest() series {
	n := len(s.words)
	if n <= inFull {
		return s
	}
	var size, above float64
	for i, word := range s.words {
		if v, err := strconv.ParseFloat(word, 64); err == nil {
			weight := 1 + float64(i)/float64(n)
			size += weight * math.Abs(v)
			above += weight * max(v, 0)
		}
	}
	return series{s.where, []string{strconv.Itoa(n), number(size), number(above), fmt.Sprintf("hash-%x", sha256.Sum256([]byte(strings.Join(s.words, " "))))[:13]}}
}

// noMeasures are fields of JSON whose numbers are no measurement: formats, hashes, times and memory.
var noMeasures = []string{"schema", "version", "sha256", "fit_cpu_seconds", "fit_bytes_estimated", "peak_bytes"}

// numbersOfJSON adds the numbers of values of JSON, of each place one series: a list, or what the lines of a stream have there. A text counts if it is a
// number, the name of a learner, or floats in base64.
func numbersOfJSON(to *[]series, where, text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	scalar := func(token json.Token) []string {
		switch v := token.(type) {
		case json.Number:
			return []string{v.String()}
		case string:
			raw, err := base64.StdEncoding.DecodeString(v)
			if _, unknown := catalog.Find(v); unknown == nil || v == model.Euclidean || v == model.EuclideanRaw || isNumber(v) {
				return []string{v}
			}
			if err != nil || len(raw)%8 != 0 || strings.ToLower(v) == v {
				return nil
			}
			var out []string
			for ; len(raw) > 0; raw = raw[8:] {
				out = append(out, number(math.Float64frombits(binary.LittleEndian.Uint64(raw))))
			}
			return out
		}
		return nil
	}
	// list adds the numbers of a list up to its end to one series, and its objects to their own.
	var value func(where string, token json.Token) error
	var list func(where string, into *[]string) error
	list = func(where string, into *[]string) error {
		for i := 0; ; i++ {
			token, err := d.Token()
			switch {
			case err != nil:
				return err
			case token == json.Delim(']'):
				return nil
			case token == json.Delim('['):
				err = list(where, into)
			case token == json.Delim('{'):
				err = value(fmt.Sprintf("%s.%d", where, i), token)
			default:
				*into = append(*into, scalar(token)...)
			}
			if err != nil {
				return err
			}
		}
	}
	value = func(where string, token json.Token) error {
		switch token {
		case json.Delim('['):
			var words []string
			err := list(where, &words)
			add(to, where, words...)
			return err
		case json.Delim('{'):
			for {
				key, err := d.Token()
				if err != nil || key == json.Delim('}') {
					return err
				}
				token, err := d.Token()
				if err != nil {
					return err
				}
				if name := key.(string); slices.Contains(noMeasures, name) {
					if _, nested := token.(json.Delim); nested {
						return fmt.Errorf("%s.%s is no number", where, name)
					}
				} else if err := value(where+"."+name, token); err != nil {
					return err
				}
			}
		}
		add(to, where, scalar(token)...)
		return nil
	}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = value(where, token)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
}

func isNumber(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	return err == nil && strings.ContainsAny(word, "0123456789")
}

// noMeasure finds sizes, times and the level of intervals in text.
var noMeasure = regexp.MustCompile(`95 %|[0-9.]+ ([KMGT]i?B|bytes?|µs|ms|s|min|h)\b`)

// numbersOfText adds the numbers of text, each on its own.
func numbersOfText(to *[]series, where, text string) {
	for i, line := range strings.Split(text, "\n") {
		for _, word := range strings.FieldsFunc(noMeasure.ReplaceAllString(line, ""), func(r rune) bool { return strings.ContainsRune(" \t,;:()[]=%'\"", r) }) {
			if word = strings.TrimSuffix(word, "."); isNumber(word) {
				add(to, fmt.Sprintf("%s %d", where, i+1), word)
			}
		}
	}
}

// numbersOfFile adds the numbers of a file by its ending. CSV keeps words, such as classes, in rows that have a number.
func numbersOfFile(to *[]series, name, text string) error {
	switch filepath.Ext(name) {
	case ".json":
		return numbersOfJSON(to, name, text)
	case ".csv":
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		for i, row := range rows {
			if slices.ContainsFunc(row, isNumber) {
				place := name
				if len(rows) <= inFull {
					place += fmt.Sprintf(" %d", i+1)
				}
				add(to, place, strings.Fields(strings.Join(row, " "))...)
			}
		}
		return err
	case ".npy":
		f, err := vectors.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		x := make([]float64, f.Rows()*f.Dim())
		if err := f.ReadRows(x, 0); err != nil {
			return err
		}
		words := []string{strconv.Itoa(f.Rows()), strconv.Itoa(f.Dim())}
		for _, v := range x {
			words = append(words, number(v))
		}
		add(to, name, words...)
	}
	return nil
}

// measured runs a line and returns its numbers: those of standard output, of the files that it wrote, and of what predict says of its errors.
func measured(t *testing.T, c *command, line string) (out []series) {
	t.Helper()
	command, in, _ := strings.Cut(line, " <")
	if in != "" {
		c.app.in = strings.NewReader(readTest(t, in))
	}
	args := strings.Fields(command)
	if code := c.run(args...); code != exitOK {
		t.Errorf("metriclab %s: exit code %d: %s", line, code, c.err.String())
		return nil
	}
	var err error
	switch said := c.out.String(); {
	case args[0] == "learn" || slices.Contains(args, "--json"):
		err = numbersOfJSON(&out, "", said)
	case slices.Contains([]string{"transform", "predict", "neighbours"}, args[0]) && !slices.Contains(args, "--vectors") || args[0] == "neighbours":
		err = numbersOfFile(&out, ".csv", said)
	default:
		numbersOfText(&out, "text", said)
	}
	if args[0] == "predict" {
		numbersOfText(&out, "told", c.err.String())
	}
	for i, arg := range args[:len(args)-1] {
		if name := args[i+1]; err == nil && slices.Contains([]string{"--out", "--save", "--npy", "--factor-npy", "--matrix-npy", "--coordinates", "--kernel-out"}, arg) {
			err = numbersOfFile(&out, name, readTest(t, name))
		}
	}
	if err != nil {
		t.Errorf("metriclab %s: %v", line, err)
	} else if len(out) == 0 {
		t.Errorf("metriclab %s: no number", line)
	}
	for i := range out {
		out[i] = out[i].digest()
	}
	return out
}

// processor names what decides on the last bits: whether products of matrices are fused, and whether the compiler fuses a product and a sum.
func processor() string {
	level := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "GOAMD64" {
				level = " " + s.Value
			}
		}
	}
	if product.Path() == "gonum, without FMA" {
		level += ", without FMA"
	}
	return runtime.GOARCH + level
}

// sameWord compares two words: to the last digit on the processor that the golden numbers are of, else up to 1e-9 relative, by which sums in another
// order differ less.
func sameWord(was, is string, exactly bool) bool {
	if was == is || exactly {
		return was == is
	}
	a, errA := strconv.ParseFloat(was, 64)
	b, errB := strconv.ParseFloat(is, 64)
	if errA != nil || errB != nil {
		return strings.HasPrefix(was, "hash-") && strings.HasPrefix(is, "hash-")
	}
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}

// differences says how the numbers of a line are others than they were. Where a series stands, and in which order, is layout.
func differences(was, is []series, exactly bool) (out []string) {
	same := func(a, b series) bool {
		return slices.EqualFunc(a.words, b.words, func(x, y string) bool { return sameWord(x, y, exactly) })
	}
	alone := func(list []series) (out []series) {
		for _, s := range list {
			if strings.HasPrefix(s.where, "text ") || strings.HasPrefix(s.where, "told ") {
				for _, word := range s.words {
					out = append(out, series{s.where, []string{word}})
				}
			} else {
				out = append(out, s)
			}
		}
		return out
	}
	was, is = alone(was), alone(is)
	pair := func(match func(a, b series) bool, found func(a, b series)) {
		was = slices.DeleteFunc(was, func(a series) bool {
			i := slices.IndexFunc(is, func(b series) bool { return match(a, b) })
			if i < 0 {
				return false
			}
			found(a, is[i])
			is = slices.Delete(is, i, i+1)
			return true
		})
	}
	pair(func(a, b series) bool { return a.where == b.where && same(a, b) }, func(a, b series) {})
	pair(same, func(a, b series) {})
	pair(func(a, b series) bool { return a.where == b.where }, func(a, b series) {
		at := 0
		for at < min(len(a.words), len(b.words)) && sameWord(a.words[at], b.words[at], exactly) {
			at++
		}
		word := func(s series) string {
			if at < len(s.words) {
				return s.words[at]
			}
			return "nothing"
		}
		out = append(out, fmt.Sprintf("%s, number %d: was %s, is %s", a.where, at+1, word(a), word(b)))
	})
	for _, s := range was {
		out = append(out, fmt.Sprintf("%s: was %s, is gone", s.where, strings.Join(s.words, " ")))
	}
	for _, s := range is {
		out = append(out, fmt.Sprintf("%s: is %s, was not there", s.where, strings.Join(s.words, " ")))
	}
	return out
}

// What the commands measure, print and save is what it was: testdata/numbers.golden has the numbers of each line, and no layout. With -update the lines
// whose numbers changed are written anew, all others stay as they are.
func TestNumbers(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "numbers.golden"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(raw), "\r", "")
	head, blocks, _ := strings.Cut(text, "\n")
	if head == "" {
		head = processor()
	}
	was, place := map[string][]series{}, map[string]string{}
	for block := range strings.SplitSeq(blocks, "\n$ ") {
		line, rest, _ := strings.Cut(strings.TrimSpace(block), "\n")
		place[line] = rest
		for row := range strings.Lines(rest) {
			where, words, _ := strings.Cut(strings.TrimSuffix(row, "\n"), ": ")
			was[line] = append(was[line], series{where, strings.Fields(words)})
		}
	}
	t.Chdir(t.TempDir())
	numberFiles(t)
	c := newCommand(toys(nil))
	b := bytes.NewBufferString(head + "\n")
	seen := map[string]bool{}
	for _, line := range numberLines {
		key := line
		for n := 2; seen[key]; n++ {
			key = fmt.Sprintf("%s (%d)", line, n)
		}
		seen[key] = true
		is := measured(t, c, line)
		found := differences(was[key], is, head == processor())
		rest := place[key]
		if len(found) > 0 {
			rest = ""
			for _, s := range is {
				rest += s.where + ": " + strings.Join(s.words, " ") + "\n"
			}
			if !*update {
				t.Errorf("metriclab %s\n  %s", key, strings.Join(found, "\n  "))
			}
		}
		fmt.Fprintf(b, "\n$ %s\n%s\n", key, strings.TrimSpace(rest))
	}
	nothingLeft(t)
	for line := range was {
		if !seen[line] && !*update {
			t.Errorf("%s has the numbers of a line that does not run: %s", filepath.Base(golden), line)
		}
	}
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A number that changes, goes or comes is told, on another processor from 1e-9 on. Other places and another order of the series are none.
func TestNumbersDiffer(t *testing.T) {
	read := func(json, text string) (out []series) {
		if err := numbersOfJSON(&out, "", json); err != nil {
			t.Fatal(err)
		}
		numbersOfText(&out, "text", text)
		return out
	}
	was := read(`{"mean":0.5,"errors":[0,1],"learner":"fda","note":"none","peak_bytes":7,"shift":"AAAAAAAA8D8="}`, "error 33.33 ± 1.50, of 3 rows, in 2 s\nk 5")
	for _, tt := range []struct {
		json, text string
		exactly    bool
		want       string
	}{
		{`{"peak_bytes":9,"shift":"AAAAAAAA8D8=","learner":{"name":"fda","errors":[0,1]},"average":0.5}`, "k = 5\n3 rows: 33.33 (± 1.50) after 4 min", true, ""},
		{`{"mean":0.5000000001,"errors":[0,1],"learner":"fda","shift":"AAAAAAAA8D8="}`, "33.33 1.50 3 5", true, ".mean, number 1: was 0.5, is 0.5000000001"},
		{`{"mean":0.5000000001,"errors":[0,1],"learner":"fda","shift":"AAAAAAAA8D8="}`, "33.33 1.50 3 5", false, ""},
		{`{"mean":0.5,"errors":[1,0],"learner":"fda","shift":"AAAAAAAA8D8="}`, "33.33 1.50 3 5", false, ".errors, number 1: was 0, is 1"},
		{`{"mean":0.5,"errors":[0,1],"learner":"pca","shift":"AAAAAAAA8D8="}`, "33.33 1.50 3 5", false, ".learner, number 1: was fda, is pca"},
		{`{"mean":0.5,"errors":[0,1],"learner":"fda","shift":"AAAAAAAAAEA="}`, "33.33 1.50 3 5", false, ".shift, number 1: was 1, is 2"},
		{`{"mean":0.5,"errors":[0,1,1],"learner":"fda","shift":"AAAAAAAA8D8="}`, "33.33 1.50 3 5", true, ".errors, number 3: was nothing, is 1"},
		{`{"mean":0.5,"errors":[0,1],"learner":"fda","shift":"AAAAAAAA8D8="}`, "33.33 1.50 3", true, "text 2: was 5, is gone"},
		{`{"mean":0.5,"errors":[0,1],"learner":"fda","shift":"AAAAAAAA8D8="}`, "33.33 1.50 3 5 6", true, "text 1: is 6, was not there"},
	} {
		if got := strings.Join(differences(was, read(tt.json, tt.text), tt.exactly), "; "); got != tt.want {
			t.Errorf("%s, %q: %q, want %q", tt.json, tt.text, got, tt.want)
		}
	}
}
