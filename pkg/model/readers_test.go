package model

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/needs"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/similarity"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/tables"
)

// node is a value of JSON. Its text is that of a scalar; the kids are those of an object or a list.
type node struct {
	name, text string
	open       byte // { or [, 0 of a scalar
	kids       []*node
	again      bool // stands there twice
	kept       bool // a checksum that is not made right
}

func parsed(raw []byte) *node {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return parse(d)
}

func parse(d *json.Decoder) *node {
	token, err := d.Token()
	if err != nil {
		panic(err)
	}
	switch v := token.(type) {
	case json.Delim:
		n := &node{open: byte(v)}
		for d.More() {
			name := ""
			if v == '{' {
				key, _ := d.Token()
				name = key.(string)
			}
			kid := parse(d)
			kid.name = name
			n.kids = append(n.kids, kid)
		}
		_, _ = d.Token()
		return n
	case string:
		return &node{text: strconv.Quote(v)}
	case nil:
		return &node{text: "null"}
	default:
		return &node{text: fmt.Sprint(v)}
	}
}

// String returns the JSON of n, in which each file and each file in a file has the right checksum.
func (n *node) String() string {
	if n.open == 0 {
		return n.text
	}
	var parts []string
	values := map[string]string{}
	texts := make([]string, len(n.kids))
	for i, k := range n.kids {
		texts[i] = k.String()
		values[k.name] = texts[i]
	}
	for i, k := range n.kids {
		text := texts[i]
		if k.name == "sha256" && !k.kept {
			kind, _ := strconv.Unquote(values["kind"])
			text = strconv.Quote(checksum(kind, values["params"], values["state"]))
		}
		if n.open == '{' {
			text = strconv.Quote(k.name) + ":" + text
		}
		parts = append(parts, text)
		if k.again {
			parts = append(parts, text)
		}
	}
	return string(n.open) + strings.Join(parts, ",") + string(n.open+2)
}

// checksum is that of a file, as docs/format.md has it.
func checksum(kind, params, state string) string {
	h := sha256.New()
	for _, part := range []string{kind, params, state} {
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(part)) == nil {
			part = compact.String()
		}
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// wrong are put in the place of every value.
var wrong = []string{
	"null", "true", "false", "0", "-0", "1", "-1", "1.5", "1.0", "1e0", "1e999", "1e-999", "-1e200", "2147483648", "9223372036854775808", "18446744073709551616", strings.Repeat("9", 400),
	`""`, `"x"`, `"step"`, `"pa1"`, `"AAAAAAAA8D8="`, `"AAAAAAAA8H8="`, `"\ud800"`, `[]`, `{}`, `[1]`, `["x"]`, `[null]`, `{"a":"b"}`, `{"a":null}`, strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
}

// mutate calls yield for every structural change below n, with what it is and where. What is yielded is changed back afterwards.
func mutate(n *node, path string, yield func(attack, where string)) {
	if n.open == '{' {
		n.kids = append(n.kids, &node{name: "other", text: "1"})
		yield("unknown field", path)
		n.kids = n.kids[:len(n.kids)-1]
	}
	whole := n.kids
	for i, k := range whole {
		if n.open == '[' && i > 1 {
			break
		}
		path := path + "/" + k.name
		n.kids = append(append([]*node{}, whole[:i]...), whole[i+1:]...)
		yield("missing", path)
		n.kids = whole
		k.again = true
		yield("twice", path)
		k.again = false
		if n.open == '{' {
			name := k.name
			for _, other := range []string{strings.ToUpper(name), name + "_", ""} {
				k.name = other
				yield("other name", path+" renamed to "+other)
			}
			k.name = name
		}
		old := *k
		k.kept = true
		for _, text := range wrong {
			if text != old.text {
				k.open, k.text, k.kids = 0, text, nil
				yield("other value", path+" set to "+text[:min(len(text), 30)])
			}
		}
		if old.open == 0 && strings.HasPrefix(old.text, `"`) && len(old.text) > 5 {
			inside := strings.Trim(old.text, `"`)
			for _, text := range []string{
				inside[:4] + `\n` + inside[4:], inside + `\r\n`, strings.TrimRight(inside, "="), inside + "=", inside + "====", inside[:len(inside)-4], strings.ToUpper(inside),
				" " + inside, inside[:len(inside)-2] + "B=", inside[:len(inside)-2] + "//", inside + inside, `\u0041` + inside[1:], strings.NewReplacer("+", "-", "/", "_").Replace(inside),
			} {
				k.text = `"` + text + `"`
				yield("other base64", path)
			}
		}
		*k = old
		if i > 0 {
			other := whole[i-1]
			k.name, other.name = other.name, k.name
			yield("swapped", path+" with what is before it")
			k.name, other.name = other.name, k.name
		}
		mutate(k, path, yield)
	}
}

// python returns a Python 3 that has NumPy.
func python(t *testing.T) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	needs.Missing(t, "needs python3 with NumPy; on Debian: apt-get install --no-install-recommends python3-numpy")
	return ""
}

const readAll = `
import base64, io, sys
sys.path.insert(0, "../../python")
sys.dont_write_bytecode = True
import pymetriclab
for line in sys.stdin:
    try:
        pymetriclab.load(io.BytesIO(base64.b64decode(line)))
        print("")
    except pymetriclab.FormatError as e:
        print(repr(e)[:300])
    except BaseException as e:
        print("OTHER " + repr(e)[:300])
`

// savedFiles returns files of every kind: those that earlier versions wrote and the files inside them, and small ones that are made here.
func savedFiles(t *testing.T) map[string][]byte {
	files := map[string][]byte{}
	paths, err := filepath.Glob("../../cmd/metriclab/testdata/saved/*/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d saved files, error %v", len(paths), err)
	}
	for _, path := range append(paths, "../../python/testdata/metric.json") {
		raw := Must(os.ReadFile(path))
		name := strings.TrimPrefix(path, "../../")
		files[name] = raw
		env := Must(persist.Read(bytes.NewReader(raw)))
		var inside struct{ Metric json.RawMessage }
		if err := json.Unmarshal(env.State, &inside); err != nil {
			t.Fatal(err)
		}
		if inside.Metric != nil {
			files[name+", its metric"] = inside.Metric
		}
	}
	projection := map[string]persist.Floats{"mean": {0, 0}, "rows": {1, 2}, "values": {3}}
	for kind, params := range map[string]any{labels.PCAKind: struct{}{}, labels.FDAKind: struct{}{}, labels.LSAKind: map[string]bool{"centred": false}} {
		var b bytes.Buffer
		if err := persist.Write(&b, kind, params, projection); err != nil {
			t.Fatal(err)
		}
		files[kind] = b.Bytes()
	}
	rng := rand.New(rand.NewPCG(37, 11))
	x := mat.NewDense(6, 2, []float64{0, 1, 1, 0, 2, 2, 5, 6, 6, 5, 7, 7})
	y := []classify.Label{-1, -1, -1, 1, 1, 1}
	k0 := kernels.Gram(kernels.Linear{}, x)
	var examples []classify.Example
	for i, l := range y {
		examples = append(examples, classify.Example{X: x.RawRowView(i), Label: l})
	}
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 3, Label: metric.Dissimilar}, {I: 2, J: 4, Label: metric.Dissimilar}}
	var pairsOf []metric.Pair
	for _, l := range links {
		pairsOf = append(pairsOf, metric.Pair{X: x.RawRowView(l.I), Y: x.RawRowView(l.J), Label: l.Label})
	}
	answers := []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 1, Near: 2, Far: 0}, {A: 2, Near: 0, Far: 1}}
	compared := []metric.Comparison{{A: x.RawRowView(1), Near: x.RawRowView(0), Far: x.RawRowView(3)}, {A: x.RawRowView(4), Near: x.RawRowView(1), Far: x.RawRowView(5)}}
	costs := []metric.CostRound{{Cost: mat.NewDense(2, 3, []float64{1, .5, 0, 1, 1, .25})}}
	for name, fit := range map[string]func() (persisttest.Saver, error){
		iplr.KernelKind: func() (persisttest.Saver, error) {
			r, err := iplr.FitKernel(t.Context(), k0, x, links, iplr.Params{})
			return r.Metric, err
		},
		linear.RidgeKind: func() (persisttest.Saver, error) {
			return linear.FitRidge(t.Context(), x, []float64{-1, -1, -1, 1, 1, 1}, linear.RidgeParams{Grid: []float64{1, 2}})
		},
		linear.SVMKind: func() (persisttest.Saver, error) { return linear.FitSVM(t.Context(), rng, x, y, linear.SVMParams{}) },
		linear.KernelSVMKind: func() (persisttest.Saver, error) {
			return linear.FitKernelSVM(t.Context(), rng, k0, y, linear.SVMParams{})
		},
		linear.PerceptronKind: func() (persisttest.Saver, error) {
			l, err := linear.NewPerceptron(2)
			return after(l, err, examples)
		},
		linear.PAUMKind: func() (persisttest.Saver, error) {
			l, err := linear.NewPAUM(2, linear.PAUMParams{TauPositive: 1})
			return after(l, err, examples)
		},
		nearest.OnlineNNKind: func() (persisttest.Saver, error) {
			l, err := nearest.NewOnlineNN(2)
			return after(l, err, examples)
		},
		pairs.KernelPOLAKind: func() (persisttest.Saver, error) {
			l, err := pairs.NewKernelPOLA(2, kernels.Linear{}, pairs.POLAParams{})
			return after(l, err, pairsOf)
		},
		pairs.PAKind + " at the end": func() (persisttest.Saver, error) {
			l, err := pairs.NewPA(2, pairs.PAParams{Rule: pairs.PALS, PSD: pairs.PSDAtEnd, Every: 2, Tol: .1})
			return after(l, err, pairsOf)
		},
		similarity.OASISKind: func() (persisttest.Saver, error) {
			l, err := similarity.NewOASIS(2, similarity.OASISParams{})
			return after(l, err, compared)
		},
		similarity.OASISKind + " psd": func() (persisttest.Saver, error) {
			l, err := similarity.NewOASIS(2, similarity.OASISParams{Form: similarity.FormPSD, Every: 4})
			return after(l, err, compared)
		},
		triplets.ERKLEKind + " dense": func() (persisttest.Saver, error) {
			l, err := triplets.NewERKLE(3, triplets.ERKLEParams{Projection: triplets.ProjectPrintedRule, Beta: 2})
			return after(l, err, answers)
		},
		triplets.ERKLEKind + " factored": func() (persisttest.Saver, error) {
			l, err := triplets.NewERKLE(3, triplets.ERKLEParams{Trace: .8})
			return after(l, err, answers)
		},
		triplets.ERKLEKind + " seldom": func() (persisttest.Saver, error) {
			l, err := triplets.NewERKLE(3, triplets.ERKLEParams{Beta: 2, Draws: triplets.DrawSeldom, TraceRule: triplets.TraceBudget})
			return after(l, err, answers)
		},
		mapping.RMPKind + " fixed": func() (persisttest.Saver, error) {
			l, err := mapping.NewRMP(rand.NewPCG(1, 2), 2, 3, mapping.RMPParams{Sampler: mapping.SampleMetropolis, ChainSteps: 2, Eta: mapping.EtaFixed, Rate: 3})
			return after(l, err, costs)
		},
	} {
		s := Must(fit())
		files[name] = persisttest.Saved(s)
	}
	return files
}

// after is a learner after rounds of feedback.
func after[F, P any](l interface {
	persisttest.Saver
	Step(F) (learners.Outcome[P], error)
}, err error, rounds []F) (persisttest.Saver, error) {
	for _, f := range rounds {
		if err == nil {
			_, err = l.Step(f)
		}
	}
	return l, err
}

func kindOf(t *testing.T, raw []byte) string {
	env := Must(persist.Read(bytes.NewReader(raw)))
	return env.Kind
}

// TestReadersAgree: of all structural changes to files of every kind that both read, and many of bytes, with checksums made right, the loaders here and
// python/pymetriclab refuse the same.
func TestReadersAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 15,000 files in two languages: not run under -short")
	}
	exe := python(t)
	var whats, refused []string
	var input strings.Builder
	try := func(what, text string) {
		whats = append(whats, what)
		env, err := persist.Read(strings.NewReader(text))
		if err == nil {
			err = persist.ErrKind
			if slices.Contains(inPython, env.Kind) {
				_, _, err = Open(strings.NewReader(text))
			}
		}
		refused = append(refused, "")
		if err != nil {
			refused[len(refused)-1] = err.Error()
		}
		input.WriteString(base64.StdEncoding.EncodeToString([]byte(text)) + "\n")
	}
	files, read, rng := savedFiles(t), 0, rand.New(rand.NewPCG(37, 13))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		raw := files[name]
		if !slices.Contains(inPython, kindOf(t, raw)) {
			continue
		}
		read++
		root := parsed(raw)
		if try(name+" as it is", root.String()); refused[len(refused)-1] != "" {
			t.Fatalf("%s: %s", name, refused[len(refused)-1])
		}
		mutate(root, name+": ", func(attack, where string) { try(where+": "+attack, root.String()) })
		try(name+": more follows", root.String()+"{}")
		try(name+": byte order mark", "\ufeff"+root.String())
		for range tries(raw) {
			_, text := damaged(rng, raw)
			try(name+": bytes", text)
		}
	}
	cmd := exec.Command(exe, "-c", readAll)
	cmd.Stdin, cmd.Stderr = strings.NewReader(input.String()), os.Stderr
	out := Must(cmd.Output())
	lines := bufio.NewScanner(bytes.NewReader(out))
	accepted, differ := 0, 0
	for i := range whats {
		if !lines.Scan() {
			t.Fatalf("Python has answered %d of %d files", i, len(whats))
		}
		said := lines.Text()
		if refused[i] == "" {
			accepted++
		}
		if (said == "") != (refused[i] == "") || strings.HasPrefix(said, "OTHER ") {
			if differ++; differ <= 40 {
				t.Errorf("%s: Go says %q, Python %q", whats[i], refused[i], said)
			}
		}
	}
	t.Logf("%d files, %d changes: both read %d, and differ in %d", read, len(whats), accepted, differ)
	if read < 23 || accepted > len(whats)/4 {
		t.Errorf("%d files, and %d of %d changes read", read, accepted, len(whats))
	}
}

// tokens are put into files.
var tokens = []string{"0", "-", "1", "9", ".5", "e9", "e-400", `"`, ",", ":", "null", "true", "{", "}", "[", "]", "{}", "[]", `\n`, `\u0000`, "\n", " ", "=", "A", "\x00", "\xff", "Infinity"}

// damage returns text with one or several changes of bytes, half of them outside of arrays of numbers.
func damage(rng *rand.Rand, text string) string {
	out := []byte(text)
	array := regexp.MustCompile(`[A-Za-z0-9+/=]{24,}`).FindAllIndex(out, -1)
	for n := 1 + rng.IntN(4)*rng.IntN(2); n > 0 && len(out) > 0; n-- {
		i := rng.IntN(len(out))
		for range 3 {
			if !slices.ContainsFunc(array, func(span []int) bool { return span[0] <= i && i < span[1] }) {
				break
			}
			i = rng.IntN(len(out))
		}
		j := min(len(out), i+1+rng.IntN(12))
		switch rng.IntN(7) {
		case 0:
			out[i] ^= 1 << rng.IntN(8)
		case 1:
			out[i] = text[rng.IntN(len(text))]
		case 2:
			out = slices.Delete(out, i, j)
		case 3:
			out = slices.Insert(out, i, out[i:j:j]...)
		case 4:
			out = slices.Insert(out, i, []byte(tokens[rng.IntN(len(tokens))])...)
		case 5:
			out = slices.Replace(out, i, i+1, []byte(tokens[rng.IntN(len(tokens))])...)
		case 6:
			if rng.IntN(4) == 0 {
				out = out[:i]
			}
		}
	}
	return string(out)
}

// damaged returns a file with changes of bytes of its params or state, and the right checksum.
func damaged(rng *rand.Rand, raw []byte) (part, text string) {
	env, err := persist.Read(bytes.NewReader(raw))
	if err != nil {
		panic(err)
	}
	params, state := string(env.Params), string(env.State)
	if part = "state"; rng.IntN(3) == 0 {
		part, params = "params", damage(rng, params)
	} else {
		state = damage(rng, state)
	}
	return part, fmt.Sprintf(`{"format":"metriclab","version":1,"kind":%q,"params":%s,"sha256":%q,"state":%s}`, env.Kind, params, checksum(env.Kind, params, state), state)
}

// tries is how often the bytes of a file are changed. Of a large file small ones of the kind are there.
func tries(raw []byte) int {
	if len(raw) > 9500 {
		return 0
	}
	return 250
}

// TestChangedFiles changes files of every kind, in structure and in bytes, with checksums made right and without. Each is refused, or loaded as what it says:
// see persisttest.Faithful. What nobody may read is refused.
func TestChangedFiles(t *testing.T) {
	page := Must(os.ReadFile("../../docs/format.md"))
	_, table, _ := strings.Cut(string(page), "\n## Kinds\n")
	table, _, _ = strings.Cut(table, "\n### ")
	kinds := map[string]int{}                                                                         // with the number of files
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z/-]+)` ").FindAllStringSubmatch(table, -1) { // which a test of internal/docs holds to the code
		if kinds[m[1]] = 0; loaders[m[1]] == nil {
			t.Errorf("Open does not read %s", m[1])
		}
	}
	share := 1 // one change of so many is tried, and of other values one of three
	if testing.Short() {
		share = 10
	}
	type count struct{ met, tried, loaded, failed int }
	counts := map[string]*count{}
	rng := rand.New(rand.NewPCG(37, 12))
	files := savedFiles(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		raw := files[name]
		kind := kindOf(t, raw)
		kinds[kind]++
		if loaders[kind] == nil {
			t.Errorf("%s: the kind %s is not in docs/format.md", name, kind)
			continue
		}
		load := func(r io.Reader) (persist.Saver, error) {
			_, v, err := Open(r)
			return v, err
		}
		var original []byte // saved again
		try := func(attack, where, text string) {
			c := counts[attack]
			if c == nil {
				c = &count{}
				counts[attack] = c
			}
			of := share
			if attack == "other value" {
				of *= 3
			}
			if c.met++; c.met%of != 0 {
				return
			}
			c.tried++
			loaded, err := persisttest.Faithful([]byte(text), load)
			if loaded {
				c.loaded++
			}
			if err == nil && loaded && slices.Contains([]string{"unknown field", "more follows"}, attack) {
				err = errors.New("loaded")
			}
			if err == nil && loaded && attack == "bytes" { // under the old checksum
				if v, err2 := load(strings.NewReader(text)); err2 != nil || !bytes.Equal(persisttest.Saved(v), original) {
					err = errors.New("another value has the same checksum")
				}
			}
			if err != nil {
				if c.failed++; c.failed <= 10 {
					t.Errorf("%s: %s: %v: %.300s", attack, where, err, text)
				}
			}
		}
		if loaded, err := persisttest.Faithful(raw, load); !loaded || err != nil {
			t.Errorf("%s: loaded %v, %v", name, loaded, err)
			continue
		}
		if v, err := load(bytes.NewReader(raw)); err == nil {
			original = persisttest.Saved(v)
		}
		if tries(raw) == 0 {
			continue
		}
		root := parsed(raw)
		mutate(root, name+": ", func(attack, where string) { try(attack, where, root.String()) })
		try("more follows", name, root.String()+"{}")
		for i := range tries(raw) {
			where := fmt.Sprint(name, " ", i)
			try("bytes", where, damage(rng, string(raw)))
			part, text := damaged(rng, raw)
			try("bytes of "+part, where, text)
		}
	}
	for kind, n := range kinds {
		if n == 0 {
			t.Errorf("no file of the kind %s is changed", kind)
		}
	}
	for _, attack := range slices.Sorted(maps.Keys(counts)) {
		c := counts[attack]
		t.Logf("%-22s %6d tried, %6d loaded as what they say, %d failed", attack, c.tried, c.loaded-c.failed, c.failed)
	}
	for _, attack := range []string{"bytes", "bytes of params", "bytes of state"} {
		if c := counts[attack]; c == nil || c.tried < 2000/share || c.loaded == 0 {
			t.Errorf("%s: tried and loaded %v", attack, c)
		}
	}
}

// A saved model whose distance has not the form that its learner learns is damaged.
func TestModelOfAnotherLearner(t *testing.T) {
	x, classes := mat.NewDense(12, 3, nil), make([]string, 12)
	for i := range 12 {
		classes[i] = string(rune('a' + i%2))
		x.SetRow(i, []float64{float64(i % 5), float64(i * i % 7), float64(i % 2)})
	}
	names := []string{"pca", "pola", "iplr", "kernel-pca", "kernel-pola", "kernel-itml"}
	for _, name := range names {
		d := Must(tables.NewData(x, classes, nil))
		m := Must(Fit(t.Context(), ByClasses(d), Recipe{Learner: name}, nil))
		env := Must(persist.Read(bytes.NewReader(persisttest.Saved(m))))
		for _, other := range names {
			e := Must(catalog.Find(other))
			params := strings.Replace(string(env.Params), strconv.Quote(name), strconv.Quote(other), 1)
			text := fmt.Sprintf(`{"format":"metriclab","version":1,"kind":%q,"params":%s,"sha256":%q,"state":%s}`, env.Kind, params, checksum(env.Kind, params, string(env.State)), env.State)
			got, err := Load(strings.NewReader(text))
			if same := catalog.FormOf(m.(*Model).metric) == e.Form; (err == nil) != same || err == nil && got.recipe.Learner != other || err != nil && !strings.Contains(err.Error(), "does not learn a") {
				t.Errorf("%s as %s: error %v", name, other, err)
			}
		}
	}
}
