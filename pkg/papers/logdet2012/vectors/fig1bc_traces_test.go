package vectors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// supplyTraces writes files of the right format: runs of programs with 9, 4, 4 and 5 classes, of which some functions tell.
func supplyTraces(t *testing.T) *datasets.Store {
	t.Helper()
	store := datasets.Open(t.TempDir())
	rng := rand.New(rand.NewPCG(11, 12))
	for k, p := range programs {
		classes := []int{9, 4, 4, 5}[k]
		var b strings.Builder
		for j := range 24 {
			fmt.Fprintf(&b, "f%d,", j)
		}
		b.WriteString("class\n")
		for i := range 8 * classes {
			c := i % classes
			for j := range 24 {
				n := 20 + rng.IntN(20)
				if j >= 12 && j%classes == c { // called by every run, and more often by those of one class
					n += 25
				}
				fmt.Fprintf(&b, "%d,", n)
			}
			fmt.Fprintf(&b, "error %c\n", 'a'+c)
		}
		path := store.Path(p.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// Functions are those of greatest gain over all thresholds, by the definition, on the runs given alone.
func TestTraces(t *testing.T) {
	store := supplyTraces(t)
	tr, err := loadTraces(store, latex)
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.functions) != 24 || tr.functions[23] != "f23" || len(tr.names) != 9 || tr.names[0] != "error a" || len(tr.y) != 72 {
		t.Fatalf("%d functions, classes %v, %d runs", len(tr.functions), tr.names, len(tr.y))
	}
	for _, c := range tr.classes() {
		if c.drawn != 8 || c.of != 8 {
			t.Errorf("%+v", c)
		}
	}
	train, test := protocol.Parted(sample.StratifiedFolds(experimenttest.Seed("traces").Stream("folds"), tr.y, protocol.Folds), 0)
	words, err := tr.words(train, 20)
	if err != nil {
		t.Fatal(err)
	}
	gain := func(name string) float64 { // by every threshold
		j := slices.Index(tr.functions, name)
		best := 0.0
		for _, at := range train {
			all, above := make([]int, 9), make([]int, 9)
			for _, i := range train {
				all[tr.y[i]]++
				if tr.x.At(i, j) > tr.x.At(at, j) {
					above[tr.y[i]]++
				}
			}
			best = max(best, text.ClassGain(all, above))
		}
		return best
	}
	for k := range words[1:] {
		if a, b := gain(words[k]), gain(words[k+1]); a < b {
			t.Errorf("%s, place %d, has the gain %v, the next %v", words[k], k, a, b)
		}
	}
	if slices.Contains(words[:5], "f0") || !slices.ContainsFunc(words[:5], func(w string) bool { return w > "f11" }) {
		t.Errorf("the first functions %v are not among those that tell", words[:5])
	}
	for _, i := range test { // test runs choose nothing
		for j := range 24 {
			tr.x.Set(i, j, float64(tr.y[i]*(j%2)))
		}
	}
	if again, err := tr.words(train, 20); err != nil || !slices.Equal(again, words) {
		t.Errorf("functions %v and, with other test runs, %v, error %v", words, again, err)
	}
	set := tr.counts(words[:2])
	for i := range tr.y {
		if j := slices.Index(tr.functions, words[1]); set.X.At(i, 1) != tr.x.At(i, j) {
			t.Fatalf("run %d has %v calls of %s", i, set.X.At(i, 1), words[1])
		}
	}
	zero := 0
	for i := range tr.y {
		if set.X.At(i, 0) == 0 && set.X.At(i, 1) == 0 {
			zero++
		}
	}
	if got := tr.without(words[:2]); got != zero {
		t.Errorf("%d runs without a function, want %d", got, zero)
	}
	if _, err := tr.words(train, 25); err == nil || !strings.Contains(err.Error(), "the traces have 24 functions, want 25") {
		t.Errorf("error %v", err)
	}
	for text, want := range map[string]string{
		"f,class\n1,a\nx,b\n": `latex.csv:3: column "f": "x" is not a number`,
		"f,class\n1,a\n,b\n":  `latex.csv:3: column "f": the cell is missing`,
		"":                    "the file is empty",
	} {
		if err := os.WriteFile(store.Path("clarify/latex.csv"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := loadTraces(store, latex); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// One command runs the protocol on supplied files, and without them the stand-in alone: the experiment with the
// sizes of smoke scale. Views tell what they show.
func TestSuppliedTraces(t *testing.T) {
	small := Fig1bc
	small.Cells = func(experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, c := range Fig1bc.Cells(experiment.Full) {
			full := c.Settings.(WordSettings)
			s := wordSettingsOf(full.Scaling, experiment.Smoke)
			s.Gammas, s.Targets, s.Mus = s.Gammas[:2], s.Targets[:1], s.Mus[:1]
			if full.Program != "" {
				s.Topics, s.PerTopic, s.Program, s.Links = 0, 0, full.Program, 10
			} else {
				c.Dataset = MadeUpNews
			}
			c.Settings = s
			cells = append(cells, c)
		}
		return cells
	}
	env := experimenttest.Env()
	env.Scale, env.Data = experiment.Full, datasets.Open(t.TempDir())
	without, err := harness.Collect(t.Context(), small, env, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := without.Unique("cell"); len(got) != 2 {
		t.Errorf("without traces: cells %q", got)
	}
	env.Data = supplyTraces(t)
	with, err := harness.Collect(t.Context(), small, env, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := with.Unique("cell"); len(got) != 10 {
		t.Errorf("with traces: cells %q", got)
	}
	for _, p := range programs {
		for _, by := range protocol.Readings {
			g := with.Where("cell", traceName(p, by))
			for _, m := range clarifyMethods {
				if n := g.Where("kind", "wrong", "method", m, "dims", strconv.Itoa(printedDims)).Len(); n != protocol.Folds {
					t.Errorf("%s: %s has %d folds", traceName(p, by), m, n)
				}
			}
		}
	}
	for _, v := range Fig1bc.Views {
		for tb, want := range map[*table.Table]string{without: "Stand-in: nine Reuters topics", with: "Traces of the Clarify system as supplied"} {
			d, err := v.Draw(tb)
			if err != nil || !strings.Contains(d.Caption.String(), want) || strings.Contains(d.Caption.String(), "Stand-in") != (tb == without) {
				t.Errorf("%s: caption %q, want %q, error %v", v.Name, d.Caption.String(), want, err)
			}
		}
	}
	// Some of the files are an error, and no run on the others.
	if err := os.Remove(env.Data.Path(programs[2].file)); err != nil {
		t.Fatal(err)
	}
	if _, err := harness.Collect(t.Context(), small, env, 1, 1); err == nil || !strings.Contains(err.Error(), "foxpro.csv") {
		t.Errorf("error %v", err)
	}
}

// asPrinted is a world like the paper's: LogDet Linear is best with 20 words and nearly constant,
// its rivals are best with 5, and the inverse covariance is worse than Euclidean.
func asPrinted(method string, dims int, _ datasets.Preprocessing) float64 {
	x := float64(dims)
	switch method {
	case protocol.LogDetLinear:
		return 0.15 + 0.001*math.Abs(x-20)
	case protocol.LogDetInvCov:
		return 0.30
	case protocol.InvCovariance:
		return 0.45
	}
	return 0.25 + 0.01*x
}

// madeTraces is madeWords for the programs, with the errors of a program changed by more.
func madeTraces(errs func(method string, dims int, by datasets.Preprocessing) float64, more func(program, method string) float64) *table.Table {
	t := experimenttest.Table(Fig1bc)
	for _, p := range programs {
		for _, by := range protocol.Readings {
			for trial := range 10 { // whose intervals are narrow enough
				for i, m := range clarifyMethods {
					for j, d := range []int{5, 10, 15, 20, 25} {
						for fold := range protocol.Folds {
							t.Add(table.Key{
								"cell": traceName(p, by), "trial": strconv.Itoa(trial), "features": by.String(),
								"kind": "wrong", "method": m, "dims": strconv.Itoa(d), "fold": strconv.Itoa(fold),
							}, table.Values{"value": 500*(errs(m, d, by)+more(p.name, m)) + 0.1*float64((trial+i*(j+1))%3), "of": 500})
						}
					}
				}
			}
		}
	}
	return t
}

// On supplied traces every claim has a verdict: those on Latex look at Latex alone, the others at all programs.
func TestTraceClaims(t *testing.T) {
	none := func(string, string) float64 { return 0 }
	for _, c := range []struct {
		id   string
		more func(program, method string) float64
		want judge.Verdict
	}{
		{"fig1b-optimal", none, judge.Reproduced},
		{"fig1b-optimal", func(p, m string) float64 { // worse on one program
			return map[bool]float64{true: 0.5}[p == "Foxpro" && m == protocol.LogDetLinear]
		}, judge.Partly},
		{"fig1b-gains", none, judge.Reproduced},
		{"fig1b-gains", func(p, m string) float64 {
			return map[bool]float64{true: 0.5}[p != latex && m == protocol.LogDetLinear]
		}, judge.Reproduced},
		{"fig1b-gains", func(p, m string) float64 {
			return map[bool]float64{true: 0.5}[p == latex && m == protocol.LogDetLinear]
		}, judge.NotReproduced},
		{"fig1b-start", none, judge.Reproduced},
		{"fig1b-start", func(p, m string) float64 { return map[bool]float64{true: -0.14}[m == protocol.LogDetInvCov] - 0.01 }, judge.NotReproduced},
		{"fig1b-marginal", none, judge.NotReproduced},
		{"fig1b-marginal", func(p, m string) float64 { // gains on Latex alone
			return map[bool]float64{true: asPrinted(protocol.Euclidean, 20, 0) - asPrinted(m, 20, 0)}[p != latex]
		}, judge.Reproduced},
		{"fig1b-few", none, judge.Reproduced},
		{"fig1c-constant", none, judge.Reproduced},
		{"fig1c-five", none, judge.Reproduced},
		{"fig1c-twenty", none, judge.Reproduced},
	} {
		tb := madeTraces(func(m string, d int, by datasets.Preprocessing) float64 {
			return asPrinted(m, d, by) + map[bool]float64{true: -0.02}[c.id == "fig1b-start" && m == protocol.LogDetInvCov]
		}, c.more)
		f := experimenttest.Judge(t, Fig1bc.Claims, c.id, tb, nil)
		if f.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.id, f.Verdict, c.want, f.Reason)
		}
	}
	// A program is missing.
	tb := madeTraces(asPrinted, none)
	if _, err := fig1bcClaims[0].Judge(tb.Where("cell", traceName(programs[0], protocol.Readings[0])), nil); err == nil {
		t.Error("one program in one reading: no error")
	}
}
