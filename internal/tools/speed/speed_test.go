package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/internal/needs"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
)

// power are points whose seconds are factor·size^slope, and whose bytes are unknown for even
// sizes.
func power(name string, factor, slope float64, sizes ...int) []point {
	var out []point
	for _, n := range sizes {
		p := point{name: name, size: n, seconds: factor * math.Pow(float64(n), slope)}
		if n%2 == 1 {
			p.bytes = 8 * float64(n)
		}
		out = append(out, p)
	}
	return out
}

func TestExponent(t *testing.T) {
	const tol = 1e-9 // of logarithms of numbers near 1
	ps := power("a", 1e-6, 2.5, 10, 20, 40, 80, 160)
	if got := exponent(ps, secondsOf); math.Abs(got-2.5) > tol {
		t.Errorf("exponent %v, want 2.5", got)
	}
	// Only the last four count.
	ps[0].seconds = 1e6
	if got := exponent(ps, secondsOf); math.Abs(got-2.5) > tol {
		t.Errorf("exponent %v with another first point, want 2.5", got)
	}
	ps[1].seconds *= 2
	if got := exponent(ps, secondsOf); math.Abs(got-2.5) < 0.1 {
		t.Errorf("exponent %v does not see the second point", got)
	}
	for _, ps := range [][]point{nil, ps[:1], power("a", 0, 1, 2, 4)} {
		if got := exponent(ps, secondsOf); !math.IsNaN(got) {
			t.Errorf("exponent %v of %v, want NaN", got, ps)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{timeText(0), "0.00 ns"}, {timeText(1.234e-9), "1.23 ns"}, {timeText(9.996e-4), "1.00 ms"}, {timeText(0.05), "50.0 ms"}, {timeText(123.4), "123 s"},
		{bytesText(0), ""}, {bytesText(999), "999 B"}, {bytesText(999.9), "1.00 kB"}, {bytesText(2.5e6), "2.50 MB"}, {bytesText(1.234e12), "1234 GB"},
		{slopeText(math.NaN()), ""}, {slopeText(1.96), "2.0"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

var someHead = head{Date: "2026-01-02", Machine: "a CPU, 2 cores, one used", Go: "go1.26 linux/amd64", Commit: "abc1234", Product: "AVX2 and FMA", Limit: "5s"}

// What a run writes is read again, up to a line that it did not finish; nothing else is taken for it.
func TestTable(t *testing.T) {
	want := append(power("one work", 1e-3, 1, 1, 2, 3), power("two (10 cycles)", 1, 2, 7)...)
	text := someHead.text() + tableHead
	for _, p := range want {
		text += p.line()
	}
	h, got, err := readTable(text + "one work,4,1e")
	if err != nil || h != someHead || len(got) != len(want) {
		t.Fatalf("head %+v, points %v, error %v", h, got, err)
	}
	for i, p := range got {
		if p.name != want[i].name || p.size != want[i].size || math.Abs(p.seconds-want[i].seconds) > 1e-3*want[i].seconds || p.bytes != want[i].bytes {
			t.Errorf("point %v, want %v", p, want[i])
		}
	}
	for _, bad := range []string{
		"", "\n", tableHead, someHead.text(), strings.Replace(text, "# go:", "# no:", 1), strings.Replace(text, "size,", "sizes,", 1),
		text + "a,1,2\n", text + "a,1,2,3,4\n", text + "a,x,2,3\n", text + "a,1,NaN,3\n", text + "a,1,-2,3\n", text + "a,0,2,3\n", text + "a,1,2,\n", text + "\n",
	} {
		if h, points, err := readTable(bad); err == nil {
			t.Errorf("%q: head %v and points %v, want an error", bad, h, points)
		}
	}
}

// fake are works that cost what their name says on the clock that fakeClock makes.
type fakeClock struct{ now time.Duration }

func (c *fakeClock) work(name string, from, most int, cost func(n int) time.Duration) work {
	return work{panel: "panel", name: name, by: "n", from: from, most: most, prepare: func(_ context.Context, n int) (func() error, error) {
		return func() error { c.now += cost(n); return nil }, nil
	}}
}

func TestMeasureAll(t *testing.T) {
	var c fakeClock
	works := []work{
		c.work("linear", 1, 0, func(n int) time.Duration { return time.Duration(n) * time.Millisecond }),
		c.work("cubic", 1, 0, func(n int) time.Duration { return time.Duration(n*n*n) * time.Millisecond }),
		c.work("constant", 4, 32, func(int) time.Duration { return 7 * time.Microsecond }),
	}
	works[0].parts = func(n int) int { return 2 * n }
	var reported []point
	points, err := measureAll(t.Context(), works, 100*time.Millisecond, func() time.Duration { return c.now }, nil, func(p point) error {
		reported = append(reported, p)
		return nil
	})
	if err != nil || !slices.Equal(points, reported) {
		t.Fatalf("%v, reported %v, error %v", points, reported, err)
	}
	// The next size of the first would take 128 ms, that of the second 512.
	want := map[string][]int{"linear": {1, 2, 4, 8, 16, 32, 64}, "cubic": {1, 2, 4}, "constant": {4, 8, 16, 32}}
	got := map[string][]int{}
	for _, p := range points {
		got[p.name] = append(got[p.name], p.size)
		seconds := map[string]float64{"linear": 0.5e-3, "cubic": 1e-3 * math.Pow(float64(p.size), 3), "constant": 7e-6}[p.name]
		if math.Abs(p.seconds-seconds) > 1e-9*seconds {
			t.Errorf("%v takes %v s, want %v", p.name, p.seconds, seconds)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("sizes %v, want %v", got, want)
	}
	// What is known is not measured.
	before := c.now
	again, err := measureAll(t.Context(), works, 100*time.Millisecond, func() time.Duration { return c.now }, points, func(point) error { return nil })
	if err != nil || !slices.Equal(again, points) || c.now != before {
		t.Errorf("%v, error %v, and measured for %v", again, err, c.now-before)
	}
	failed := errors.New("failed")
	works[1].prepare = func(context.Context, int) (func() error, error) { return nil, failed }
	if _, err := measureAll(t.Context(), works, time.Millisecond, func() time.Duration { return c.now }, nil, func(point) error { return nil }); !errors.Is(err, failed) || !strings.Contains(err.Error(), "cubic, n = 1") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := measureAll(ctx, works, time.Millisecond, func() time.Duration { return c.now }, nil, func(point) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// A run that was stopped goes on; one of another commit or with changes begins anew.
func TestGrow(t *testing.T) {
	var c fakeClock
	runs := 0
	works := []work{c.work("doubling", 8, 64, func(int) time.Duration { runs++; return time.Second })}
	dir := t.TempDir()
	path := filepath.Join(dir, tableName)
	kept := power("doubling", 0.25, 1, 8, 16)
	table := someHead.text() + tableHead + kept[0].line() + kept[1].line() + "doubling,3"
	now := someHead
	now.Date = "2026-03-04"
	other := now
	other.Commit = "def5678"
	for _, run := range []struct {
		name  string
		h     head
		clean bool
		date  string
		lines int // that are the old ones
	}{
		{"goes on", now, true, someHead.Date, 2}, {"with changes", now, false, now.Date, 0}, {"another commit", other, true, now.Date, 0},
	} {
		if err := os.WriteFile(path, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := grow(t.Context(), &out, dir, works, run.h, run.clean, time.Hour); err != nil {
			t.Fatal(run.name, ": ", err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h, points, err := readTable(string(raw))
		if err != nil || h.Date != run.date || h.Commit != run.h.Commit || len(points) != 4 {
			t.Fatalf("%s: head %+v, points %v, error %v", run.name, h, points, err)
		}
		old := 0
		for i, p := range points[:2] {
			if p == kept[i] {
				old++
			}
		}
		if old != run.lines {
			t.Errorf("%s: %d points kept, want %d", run.name, old, run.lines)
		}
		for _, name := range []string{"time.svg", "time.png", "memory.svg", "memory.png", "README.md"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %s: %v", run.name, name, err)
			}
		}
	}
	if runs == 0 {
		t.Error("nothing was measured")
	}
}

func TestPage(t *testing.T) {
	works := []work{{panel: "p", name: "one", by: "n", fixed: "d = 2"}, {panel: "p", name: "two", by: "d"}, {panel: programs, name: "three", by: "n"}}
	points := slices.Concat(power("one", 1e-6, 2, 11, 21, 41), power("two", 1e-3, 1, 4), power("three", 1e-6, 0.5, 3, 5))
	files, err := page(someHead, works, points)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range files {
		got[f.Name] = string(f.Data)
	}
	for file, texts := range map[string][]string{
		"README.md":  {someHead.Date, someHead.Machine, someHead.Commit, someHead.Product, "than 5s.", "| one | d = 2 | n | 11 | 41 | 1.68 ms | 2.0 | 328 B | 1.0 |", "| two | | d | 4 | 4 | 4.00 ms | | | |", "(time.svg)", "(memory.svg)"},
		"time.svg":   {">one: 2.0<", ">two<", ">three: 0.5<", ">CPU time in s<", ">n, d<", ">" + programs + "<"},
		"memory.svg": {">one: 1.0<", ">bytes allocated<", ">peak of memory in bytes<"},
	} {
		text := regexp.MustCompile(` +`).ReplaceAllString(got[file], " ") // the table is aligned
		for _, want := range texts {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", file, want)
			}
		}
	}
	if strings.Contains(got["memory.svg"], ">two<") {
		t.Error("memory.svg names a work whose memory is not known")
	}
	if t.Failed() {
		t.Log(got["README.md"])
	}
	again, err := page(someHead, works, points)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range again {
		if f.Name != files[i].Name || !bytes.Equal(f.Data, files[i].Data) {
			t.Errorf("%s has other bytes the second time", f.Name)
		}
	}
	if _, err := page(someHead, works, points[:3]); err == nil {
		t.Error("no error for a work without points")
	}
}

// Each work does its first size, and its name fits in the table.
func TestWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command: not run under -short")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "metriclab")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", bin, "metriclab/cmd/metriclab").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	works := allWorks(bin, dir)
	seen := map[string]bool{}
	for _, w := range works {
		if seen[w.name] || strings.ContainsAny(w.name, ",\"\n") {
			t.Errorf("name %q is taken or does not fit in the table", w.name)
		}
		seen[w.name] = true
		if w.command != nil { // the peak cannot be told beside the tests of this process
			args, err := w.command(t.Context(), w.from)
			if err != nil {
				t.Fatal(w.name, ": ", err)
			}
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", w.name, err, out)
			}
			continue
		}
		p, err := w.measure(t.Context(), w.from, time.Nanosecond, stopwatch())
		if err != nil || !(p.seconds >= 0) || math.IsInf(p.seconds, 0) {
			t.Errorf("%s: %v, error %v", w.name, p, err)
		}
	}
}

// ask writes the matrices and the parameters and returns our answer, and the matrices of its result.
func ask(t *testing.T, work string, in map[string]mat.Matrix, params string) (answer, map[string]*mat.Dense) {
	t.Helper()
	dir := t.TempDir()
	for name, m := range in {
		var b bytes.Buffer
		if err := metric.WriteNPY(&b, m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".npy"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "params.json"), []byte(params), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := ours(t.Context(), work, dir, stopwatch())
	if err != nil {
		t.Fatal(work, ": ", err)
	}
	out := map[string]*mat.Dense{}
	found, _ := filepath.Glob(filepath.Join(dir, "ours-*.npy"))
	for _, path := range found {
		m, err := readNPY(path)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "ours-"), ".npy")] = m
	}
	return a, out
}

// Every work that peers.py asks for does it on small matrices.
func TestOurs(t *testing.T) {
	const tol = 1e-12 // round-off of few terms near 1
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := normal(rng, 3, 4), normal(rng, 4, 2)
	_, out := ask(t, "product", map[string]mat.Matrix{"a": a, "b": b}, `{"runs": 2}`)
	var want mat.Dense
	want.Mul(a, b)
	if d := matrixtest.Distance(&want, out["product"]); d > tol {
		t.Errorf("product: off by %v", d)
	}

	s := matrixtest.Definite(rng, 4)
	_, out = ask(t, "eigen", map[string]mat.Matrix{"a": s}, `{}`)
	v := out["vectors"]
	var av, vd mat.Dense
	av.Mul(s, v)
	vd.Mul(v, mat.NewDiagDense(4, out["values"].RawRowView(0)))
	if d := matrixtest.Distance(&av, &vd); d > tol {
		t.Errorf("eigen: residual %v", d)
	}

	_, out = ask(t, "knn", map[string]mat.Matrix{"x": mat.NewDense(3, 1, []float64{0, 5, 1}), "q": mat.NewDense(1, 1, []float64{2})}, `{"k": 2}`)
	if got := fmt.Sprint(out["index"].RawRowView(0), out["sqdist"].RawRowView(0)); got != "[2 0] [1 4]" {
		t.Errorf("knn: %v", got)
	}

	x, y := grouped(rng, 60, 4)
	classes := strings.ReplaceAll(fmt.Sprint(y), " ", ",")
	_, out = ask(t, "pca", map[string]mat.Matrix{"x": x}, `{"k": 2}`)
	if r, c := out["components"].Dims(); r*c != 8 || out["variances"].RawRowView(0)[0] < out["variances"].RawRowView(0)[1] {
		t.Errorf("pca: %d×%d, variances %v", r, c, out["variances"])
	}
	_, out = ask(t, "fda", map[string]mat.Matrix{"x": x}, `{"classes": `+classes+`}`)
	if r, c := out["directions"].Dims(); r*c != 16 {
		t.Errorf("fda: %d×%d", r, c)
	}
	for name, params := range map[string]string{
		"itml": `{"upper": 1, "lower": 9, "cycles": 3, "tol": 1e-300}`,
		"lmnn": `{"k": 2, "classes": ` + classes + `}`,
		"nca":  `{"classes": ` + classes + `}`,
	} {
		got, out := ask(t, name, map[string]mat.Matrix{"x": x, "links": mat.NewDense(2, 3, []float64{0, 5, 1, 0, 6, -1})}, params)
		if r, c := out["m"].Dims(); r != 4 || c != 4 || got.Status == "" || (name == "itml") != (got.Objective == nil) || (name == "itml" && got.Iterations != 3) {
			t.Errorf("%s: %d×%d, %+v", name, r, c, got)
		}
	}

	got, _ := ask(t, "lmnn", map[string]mat.Matrix{"x": x}, `{"k": 2, "classes": `+classes+`}`)
	target := 1.2 * *got.Objective
	sooner, _ := ask(t, "lmnn", map[string]mat.Matrix{"x": x}, fmt.Sprintf(`{"k": 2, "classes": %s, "target": %v}`, classes, target))
	if sooner.Iterations >= got.Iterations || !(*sooner.Objective <= target) {
		t.Errorf("lmnn: objective %v in %d iterations; to %v: %v in %d", *got.Objective, got.Iterations, target, *sooner.Objective, sooner.Iterations)
	}

	got, _ = ask(t, "nca", map[string]mat.Matrix{"x": x}, `{"classes": `+classes+`}`)
	target = 0.9 * *got.Objective
	sooner, _ = ask(t, "nca", map[string]mat.Matrix{"x": x}, fmt.Sprintf(`{"classes": %s, "target": %v}`, classes, target))
	if sooner.Iterations >= got.Iterations || !(*sooner.Objective >= target) {
		t.Errorf("nca: objective %v in %d iterations; to %v: %v in %d", *got.Objective, got.Iterations, target, *sooner.Objective, sooner.Iterations)
	}

	ts := compared(rng, 6, 30)
	rows := mat.NewDense(len(ts), 3, nil)
	for i, c := range ts {
		rows.SetRow(i, []float64{float64(c.A), float64(c.Near), float64(c.Far)})
	}
	for _, loss := range []string{"gnmds", "ste", "ckl"} {
		got, out := ask(t, "batch", map[string]mat.Matrix{"triplets": rows}, `{"n": 6, "tau": 0.5, "loss": "`+loss+`"}`)
		if r, _ := out["kernel"].Dims(); r != 6 || got.Objective == nil || !(*got.Objective > 0) || got.Runs != 1 {
			t.Errorf("%s: order %d, %+v", loss, r, got)
		}
	}
}

// The works of online learners do what the algorithms on a page do.
func TestOursOnline(t *testing.T) {
	const tol = 1e-12 // round-off of few terms near 1
	rng := rand.New(rand.NewPCG(1, 2))
	left, right := normal(rng, 20, 3), normal(rng, 20, 3)
	var labels []int
	pola := plain.NewPOLA(3)
	for i := range 20 {
		labels = append(labels, 1-2*(i%2))
		pola.Step(metric.Pair{X: left.RawRowView(i), Y: right.RawRowView(i), Label: metric.Label(labels[i])})
	}
	_, out := ask(t, "pola", map[string]mat.Matrix{"x": left, "y": right}, `{"classes": `+strings.ReplaceAll(fmt.Sprint(labels), " ", ",")+`}`)
	if d := matrixtest.Distance(pola.A, out["m"]); d > tol || math.Abs(out["threshold"].At(0, 0)-pola.B) > tol {
		t.Errorf("pola: off by %v, threshold %v, want %v", d, out["threshold"].At(0, 0), pola.B)
	}

	ts := compared(rng, 6, 30)
	rows := mat.NewDense(len(ts), 3, nil)
	erkle := plain.NewERKLE(6)
	for i, c := range ts {
		rows.SetRow(i, []float64{float64(c.A), float64(c.Near), float64(c.Far)})
		erkle.Step(c)
	}
	const looser = 1e-9 // 30 projections, each with eigenvectors good to the gap of their eigenvalues
	_, out = ask(t, "erkle", map[string]mat.Matrix{"triplets": rows}, `{"n": 6}`)
	if d := matrixtest.Distance(erkle.K, out["kernel"]); d > looser {
		t.Errorf("erkle: off by %v", d)
	}

	// Two rounds of three objects and four prototypes.
	costs := mat.NewDense(6, 4, nil)
	for i := range costs.RawMatrix().Data {
		costs.RawMatrix().Data[i] = rng.Float64()
	}
	rmp := plain.NewRMP(3, 4, 2, 0.7)
	rmp.Step(costs.Slice(0, 3, 0, 4))
	rmp.Step(costs.Slice(3, 6, 0, 4))
	_, law := rmp.Law()
	_, out = ask(t, "rmp", map[string]mat.Matrix{"costs": costs}, `{"n": 3, "k": 2, "rate": 0.7}`)
	if d := matrixtest.Distance(mat.NewDense(1, len(law), law), out["law"]); d > tol {
		t.Errorf("rmp: off by %v", d)
	}
	_, out = ask(t, "rmp", map[string]mat.Matrix{"costs": costs}, `{"n": 3, "k": 2, "rate": 0.7, "steps": 9}`)
	if r, c := out["losses"].Dims(); r*c != 2 || out["law"] != nil || !(mat.Min(out["losses"]) > 0) {
		t.Errorf("rmp, a walk: losses %v, law %v", out["losses"], out["law"])
	}
}

func TestOursChoices(t *testing.T) {
	// The points 0, 1, 2 and 10, 11: their medoids are 1, and either of the others.
	places, distances := []float64{0, 1, 2, 10, 11}, mat.NewDense(5, 5, nil)
	for i, p := range places {
		for j, q := range places {
			distances.Set(i, j, math.Abs(p-q))
		}
	}
	if got, _ := ask(t, "medoids", map[string]mat.Matrix{"cost": distances}, `{"start": [0, 1]}`); *got.Objective != 3 {
		t.Errorf("medoids: objective %v, want 3", *got.Objective)
	}

	_, out := ask(t, "folds", map[string]mat.Matrix{"classes": mat.NewDense(1, 6, []float64{0, 1, 0, 1, 1, 0})}, `{"k": 3}`)
	count := map[[2]float64]int{}
	for i, f := range out["folds"].RawRowView(0) {
		count[[2]float64{f, float64([]int{0, 1, 0, 1, 1, 0}[i])}]++
	}
	for fold := range 3 {
		if f := float64(fold); count[[2]float64{f, 0}] != 1 || count[[2]float64{f, 1}] != 1 {
			t.Errorf("folds: %v, want a row of each class in each", out["folds"])
		}
	}
}

func TestOursRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := ours(t.Context(), "nothing", dir, stopwatch()); err == nil || !strings.Contains(err.Error(), `no work "nothing", only batch, coordinates, eigen, erkle, fda, folds, itml, knn, lmnn, medoids, nca, pca, pola, product, rmp`) {
		t.Errorf("error %v", err)
	}
	if _, err := ours(t.Context(), "eigen", dir, stopwatch()); err == nil {
		t.Error("no error without parameters")
	}
	if err := os.WriteFile(filepath.Join(dir, "params.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", "no matrix"} {
		if content != "" {
			if err := os.WriteFile(filepath.Join(dir, "a.npy"), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := ours(t.Context(), "eigen", dir, stopwatch()); err == nil || !strings.Contains(err.Error(), "a.npy") {
			t.Errorf("content %q: error %v", content, err)
		}
	}
	for _, args := range [][]string{{"ours"}, {"ours", "eigen"}, {"-limit", "0s"}, {"-only", "("}, {"more"}} {
		if err := command(t.Context(), &bytes.Buffer{}, args); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// unitTests are those of what peers.py refuses, and of how it writes a page.
const unitTests = `
import pathlib, tempfile
from peers_bench import cell, insert, refusal
for isa, kernel, fair in (("AVX2", "Zen", 1), ("AVX2", "Haswell", 1), ("AVX2", "Prescott", 0), ("AVX2", "Sandybridge", 0), ("AVX2", "", 0),
        ("AVX-512", "SkylakeX", 1), ("AVX-512", "Haswell", 0), ("AVX-512", "Prescott", 0), ("", "Nehalem", 1)):
    why = refusal(isa, [("openblas", "0.3.21", kernel)])
    assert (why is None) == bool(fair), (isa, kernel, why)
    assert fair or "OPENBLAS_CORETYPE=" in why and isa in why, why
assert refusal("AVX2", [("mkl", "1", "")]) is None and refusal("AVX2", [])
assert cell([]) == "not done" and cell([1.23456]) == "1.23 s once" and cell([2, 1, 1.5]) == "1–2 s"
with tempfile.TemporaryDirectory() as folder:
    page = pathlib.Path(folder) / "page.md"
    page.write_text("# P\n\n## A\n\nold\n\n## AB\n\nkept\n")
    insert(page, "A", "new\n")
    insert(page, "C", "third\n")
    insert(page, "C", "last\n")
    assert page.read_text() == "# P\n\n## A\n\nnew\n\n## AB\n\nkept\n\n## C\n\nlast\n", page.read_text()
`

// The script compiles, and its rows run where a Python with scikit-learn is found. .ci/extended installs
// that and runs them; here they are a bonus, and what is missing is told.
func TestPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds this program: not run under -short")
	}
	root := filepath.Join("..", "..", "..")
	script := filepath.Join("scripts", "peers.py")
	tried := ""
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if _, err := exec.LookPath(python); err != nil {
			continue
		}
		parse := exec.Command(python, "-c", "import ast, sys; ast.parse(open(sys.argv[1], encoding='utf-8').read())", script)
		parse.Dir = root
		if out, err := parse.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		unit := exec.Command(python, "-c", unitTests)
		unit.Dir = filepath.Join(root, "scripts")
		if out, err := unit.CombinedOutput(); err != nil && exec.Command(python, "-c", "import numpy").Run() == nil {
			t.Fatalf("peers_bench: %v\n%s", err, out)
		}
		tried = "no scikit-learn for python3"
		if exec.Command(python, "-c", "import sklearn").Run() != nil {
			continue
		}
		run := exec.Command(python, script, "--tiny")
		run.Dir = root
		out, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%s --tiny: %v\n%s", script, err, out)
		}
		for _, row := range []string{"product", "eigenvectors", "NearestNeighbors('ball_tree')", "PCA('randomized')", "LinearDiscriminantAnalysis('svd')", "gnmds", "ste", "ckl", "pola", "erkle", "all sets", "a walk"} {
			if !regexp.MustCompile(`(?m)^.*` + regexp.QuoteMeta(row) + `.* \([0-9]e[-+][0-9]+\)$`).Match(out) {
				t.Errorf("%s --tiny has no row with %s:\n%s", script, row, out)
			}
		}
		return
	}
	if tried == "" {
		needs.Missing(t, "no python3 to read ", script, " with")
	}
	t.Log("the rows of ", script, " were not run here: ", tried)
}
