package logdet2012

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/kernels"

	"metriclab/pkg/learners/itml"
	"metriclab/pkg/metric"
	"metriclab/pkg/table"
)

// methodsOf returns the methods in the order of methodNames.
func methodsOf(s settings) []method { return methodsNamed(s, methodNames) }

// position finds rows of a set by their features, which are all different here.
func position(t *testing.T, set *datasets.Set, p part) []int {
	t.Helper()
	var out []int
	for i := range p.y {
		at := -1
		for j := range set.N() {
			if slices.Equal(p.x.RawRowView(i), set.X.RawRowView(j)) {
				at = j
			}
		}
		if at < 0 || p.y[i] != set.Y[at] {
			t.Fatalf("row %d is not one of the set with its label", i)
		}
		out = append(out, at)
	}
	return out
}

// Each row is tested once; the inner folds divide the training fold; pairs are of training
// rows, so many per class.
func TestProblemsAreTheProtocol(t *testing.T) {
	s := settingsOf(datasets.AsIs, experiment.Smoke)
	set := experimenttest.Must(load(experimenttest.Env(), experimenttest.Seed(generatedLinear), generatedLinear))
	tested := map[int]int{}
	for f, p := range experimenttest.Must(newProblems(set, s, experimenttest.Seed(set.Name))) {
		train, test := position(t, set, p.train), position(t, set, p.test)
		for _, i := range test {
			tested[i]++
		}
		if both := slices.Sorted(slices.Values(slices.Concat(train, test))); len(slices.Compact(both)) != set.N() || len(train)+len(test) != set.N() {
			t.Errorf("fold %d: %d and %d rows do not divide %d", f, len(train), len(test), set.N())
		}
		judged := map[int]int{}
		for _, in := range p.inner {
			learn, judge := position(t, set, in.train), position(t, set, in.test)
			for _, i := range slices.Concat(learn, judge) {
				if !slices.Contains(train, i) {
					t.Errorf("fold %d: row %d of the inner cross-validation does not train", f, i)
				}
			}
			for _, i := range judge {
				judged[i]++
				if slices.Contains(learn, i) {
					t.Errorf("fold %d: row %d trains and judges", f, i)
				}
			}
		}
		if len(judged) != len(train) {
			t.Errorf("fold %d: %d of %d training rows are judged by the inner cross-validation", f, len(judged), len(train))
		}
		for _, s := range append([]*session{p.session}, p.inner...) {
			checkPairs(t, s, 30)
		}
	}
	for i := range set.N() {
		if tested[i] != 1 {
			t.Errorf("row %d is tested %d times", i, tested[i])
		}
	}
}

// checkPairs wants per class n similar pairs and n dissimilar ones that begin in it, or all.
func checkPairs(t *testing.T, s *session, n int) {
	t.Helper()
	size, similar, dissimilar := map[int]int{}, map[int]int{}, map[int]int{}
	for _, c := range s.train.y {
		size[c]++
	}
	for _, l := range s.links {
		same := s.train.y[l.I] == s.train.y[l.J]
		if same != (l.Label == metric.Similar) || l.I == l.J {
			t.Fatalf("link %+v has the wrong label", l)
		}
		if same {
			similar[s.train.y[l.I]]++
		} else {
			dissimilar[s.train.y[l.I]]++
		}
	}
	for c, m := range size {
		if want := min(n, m*(m-1)/2); similar[c] != want {
			t.Errorf("class %d of %d rows: %d similar pairs, want %d", c, m, similar[c], want)
		}
		if want := min(n, m*(len(s.train.y)-m)); dissimilar[c] != want {
			t.Errorf("class %d of %d rows: %d dissimilar pairs, want %d", c, m, dissimilar[c], want)
		}
	}
}

// Scaled features have mean 0 and deviation 1 on the rows that train, in both cross-validations;
// one that is constant there is 0. 1e-12 is far above the round-off of 24 rows.
func TestScalingIsLearnedFromTrainingRows(t *testing.T) {
	set := experimenttest.Must(load(experimenttest.Env(), experimenttest.Seed(generatedLinear), generatedLinear))
	wider := mat.NewDense(set.N(), set.Dim()+1, nil)
	for i := range set.N() {
		copy(wider.RawRowView(i), set.X.RawRowView(i))
		wider.Set(i, set.Dim(), 7)
	}
	set.X = wider
	for _, p := range experimenttest.Must(newProblems(set, settingsOf(datasets.ZScore, experiment.Smoke), experimenttest.Seed(set.Name))) {
		for _, s := range append([]*session{p.session}, p.inner...) {
			n, d := s.train.x.Dims()
			for j := range d {
				var sum, sq float64
				for i := range n {
					v := s.train.x.At(i, j)
					sum, sq = sum+v/float64(n), sq+v*v/float64(n)
				}
				want := 1.0
				if j == d-1 {
					want = 0
				}
				if math.Abs(sum) > 1e-12 || math.Abs(sq-want) > 1e-12 {
					t.Errorf("feature %d has mean %g and mean square %g, want 0 and %g", j, sum, sq, want)
				}
			}
		}
	}
}

// Neither the features nor the labels of test rows enter a choice or what is learned.
func TestTestRowsChooseNothing(t *testing.T) {
	for _, by := range readings {
		s := settingsOf(by, experiment.Smoke)
		set, other := experimenttest.Must(load(experimenttest.Env(), experimenttest.Seed(generatedXOR), generatedXOR)), experimenttest.Must(load(experimenttest.Env(), experimenttest.Seed(generatedXOR), generatedXOR))
		plain := experimenttest.Must(newProblems(set, s, experimenttest.Seed(set.Name)))[0]
		for _, i := range position(t, set, experimenttest.Must(newProblems(set, settingsOf(datasets.AsIs, experiment.Smoke), experimenttest.Seed(set.Name)))[0].test) {
			row := other.X.RawRowView(i)
			row[0], row[1] = 3-5*row[0], 1+row[1]*row[1]
		}
		spoilt := experimenttest.Must(newProblems(other, s, experimenttest.Seed(other.Name)))[0]
		for i := range spoilt.test.y {
			spoilt.test.y[i] = 1 - spoilt.test.y[i]
		}
		if mat.Equal(plain.test.x, spoilt.test.x) {
			t.Fatal("the test rows are as before")
		}
		for _, m := range methodsOf(s) {
			a, err := plain.choose(t.Context(), m, itml.BoundPercentiles, s.Choice)
			if err != nil {
				t.Fatal(err)
			}
			b, err := spoilt.choose(t.Context(), m, itml.BoundPercentiles, s.Choice)
			if err != nil || !slices.Equal(a.wrong, b.wrong) || !slices.Equal(a.order, b.order) {
				t.Errorf("%v, %s: choices %v and, with other test rows, %v (error %v)", by, m.name, a, b, err)
			}
			_, l, _, err := plain.learn(t.Context(), m, itml.BoundPercentiles, a.order, s.Final)
			if err != nil {
				t.Fatal(err)
			}
			_, k, _, err := spoilt.learn(t.Context(), m, itml.BoundPercentiles, b.order, s.Final)
			if err != nil {
				t.Fatal(err)
			}
			for i := range plain.train.y {
				if p, q := l.metric.SqDist(l.train.RawRowView(0), l.train.RawRowView(i)), k.metric.SqDist(k.train.RawRowView(0), k.train.RawRowView(i)); p != q {
					t.Fatalf("%v, %s: distance %g between training rows and, with other test rows, %g", by, m.name, p, q)
				}
			}
		}
	}
}

// Distances of the Gaussian method are those of Eq. 6, the kernel of any two points. Both
// are differences of numbers of the size of the learned kernel, below 100 here, with
// round-off of 2⁻⁵² each over some 24 terms: 1e-10 is seen.
func TestGaussianDistancesAreThoseOfNewPoints(t *testing.T) {
	s := settingsOf(datasets.AsIs, experiment.Smoke)
	p := experimenttest.Must(newProblems(experimenttest.Must(load(experimenttest.Env(), experimenttest.Seed(generatedXOR), generatedXOR)), s, experimenttest.Seed(generatedXOR)))[0]
	c := candidate{gamma: 1, width: 0.5}
	got, err := fitGaussian(t.Context(), p.session, itml.BoundPercentiles, c, s.Final)
	if err != nil {
		t.Fatal(err)
	}
	median, err := kernels.MedianSqDist(nil, p.train.x)
	if err != nil {
		t.Fatal(err)
	}
	g, err := kernels.NewGaussian(1 / median) // 1/(2σ²), σ² half the median
	if err != nil {
		t.Fatal(err)
	}
	gram := kernels.Gram(g, p.train.x)
	u, l, err := boundsBy(itml.BoundPercentiles).OfGram(gram, allPairs(len(p.train.y)))
	if err != nil {
		t.Fatal(err)
	}
	fit, err := itml.FitKernel(context.Background(), gram, p.links, itml.KernelParams{Gamma: 1, Upper: u, Lower: l, MaxCycles: s.Final.cycles(len(p.links))})
	if err != nil {
		t.Fatal(err)
	}
	k, err := fit.Kernel(g, p.train.x)
	if err != nil {
		t.Fatal(err)
	}
	moved := 0.0
	for i := range p.test.y {
		for j := range p.train.y {
			x, z := p.test.x.RawRowView(i), p.train.x.RawRowView(j)
			a, b := got.metric.SqDist(got.test.RawRowView(i), got.train.RawRowView(j)), k.SqDist(x, z)
			if math.Abs(a-b) > 1e-10 {
				t.Fatalf("test row %d, training row %d: squared distance %g, by Eq. 6 %g", i, j, a, b)
			}
			moved = max(moved, math.Abs(a-(2-2*g.Eval(x, z))))
		}
	}
	if moved < 0.1 {
		t.Errorf("the learned distances differ from those of the kernel by %g at most", moved)
	}
}

// The rule of neighbours, plainly: by distance and then training index; most votes, and of
// those the class seen first.
func TestWrongCountsNeighbours(t *testing.T) {
	s := settingsOf(datasets.AsIs, experiment.Smoke)
	for _, p := range experimenttest.Must(newProblems(experimenttest.Must(load(experimenttest.Env(), experimenttest.Seed(generatedLinear), generatedLinear)), s, experimenttest.Seed(generatedLinear))) {
		l, err := fitEuclidean(t.Context(), p.session, itml.BoundPercentiles, candidate{}, budget{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.wrong(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for i, label := range p.test.y {
			order := make([]int, len(p.train.y))
			sq := make([]float64, len(order))
			for j := range order {
				order[j] = j
				for f, v := range p.test.x.RawRowView(i) {
					sq[j] += (v - p.train.x.At(j, f)) * (v - p.train.x.At(j, f))
				}
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sq[a], sq[b]) })
			votes := map[int]int{}
			for _, j := range order[:5] {
				votes[p.train.y[j]]++
			}
			winner := p.train.y[order[0]]
			for _, j := range order[:5] {
				if votes[p.train.y[j]] > votes[winner] {
					winner = p.train.y[j]
				}
			}
			if winner != label {
				want++
			}
		}
		if got != want || want == 0 {
			t.Errorf("%d test rows wrong, want %d and some", got, want)
		}
	}
}

// Candidates that cannot be fitted come last; a chosen one that fails at the end gives way to
// the next; if none is left, that is an error.
func TestImpossibleFits(t *testing.T) {
	s := settingsOf(datasets.AsIs, experiment.Smoke)
	p := experimenttest.Must(newProblems(experimenttest.Must(load(experimenttest.Env(), experimenttest.Seed(generatedLinear), generatedLinear)), s, experimenttest.Seed(generatedLinear)))[0]
	impossible := errors.New("impossible")
	m := method{
		name: "made up", candidates: []candidate{{label: "fails"}, {label: "fails at the end", eta: 1}, {label: "works", eta: 2}},
		fit: func(ctx context.Context, s *session, rule itml.BoundRule, c candidate, b budget) (learnt, error) {
			if c.eta == 0 || c.eta == 1 && s == p.session {
				return learnt{}, impossible
			}
			return fitEuclidean(ctx, s, rule, c, b)
		},
	}
	c, err := p.choose(t.Context(), m, itml.BoundPercentiles, s.Choice)
	if err != nil || !slices.Equal(c.order, []int{1, 2, 0}) || c.wrong[0] != c.rows || c.rows != len(p.train.y) || c.fits != (tally{made: 6, failed: 2}) {
		t.Errorf("choice %+v, error %v", c, err)
	}
	which, _, fits, err := p.learn(t.Context(), m, itml.BoundPercentiles, c.order, s.Final)
	if err != nil || which != 2 || fits != (tally{made: 2, failed: 1}) {
		t.Errorf("candidate %d with %+v, error %v", which, fits, err)
	}
	m.candidates = m.candidates[:2]
	if _, _, _, err := p.learn(t.Context(), m, itml.BoundPercentiles, []int{0, 1}, s.Final); !errors.Is(err, impossible) {
		t.Errorf("no candidate fits: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.choose(ctx, m, itml.BoundPercentiles, s.Choice); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// A trial has the errors of every method on every row of the set, choices of least inner
// error, and bounds in order.
func TestTrialIsComplete(t *testing.T) {
	cell := Fig1a.Cells(experiment.Smoke)[0]
	tb, err := Fig1a.Run(t.Context(), experimenttest.Env(), cell, experimenttest.Seed(cell.Dataset))
	if err != nil {
		t.Fatal(err)
	}
	set := experimenttest.Must(load(experimenttest.Env(), experimenttest.Seed(cell.Dataset), cell.Dataset))
	s := settingsOf(datasets.AsIs, experiment.Smoke)
	for i, m := range methodsOf(s) {
		if m.name != methodNames[i] || m.bounded != bounded(m.name) {
			t.Errorf("method %d is %s, the legend has %s", i, m.name, methodNames[i])
		}
		rules := []string{""}
		if m.bounded {
			rules = []string{percentiles, bins}
		}
		for _, rule := range rules {
			g := tb.Where("method", m.name, "bounds", rule)
			rows, wrong := 0.0, g.Where("kind", "wrong")
			for _, n := range wrong.Values("of") {
				rows += n
			}
			if wrong.Len() != folds || rows != float64(set.N()) {
				t.Errorf("%s %s: %d folds with %g test rows, want %d with %d", m.name, rule, wrong.Len(), rows, folds, set.N())
			}
			inner := g.Where("kind", "inner")
			if len(m.candidates) == 1 {
				if inner.Len() != 0 {
					t.Errorf("%s: %d inner errors without a choice", m.name, inner.Len())
				}
				continue
			}
			if inner.Len() != len(m.candidates) {
				t.Errorf("%s %s: %d inner errors, want %d", m.name, rule, inner.Len(), len(m.candidates))
			}
			for i, n := range inner.Values("of") { // each row is judged in the training part of one fold
				if n != float64(set.N()) || inner.Index("at")[i] != m.candidates[i].label {
					t.Errorf("%s %s, %s: %g inner rows, want %d at %s", m.name, rule, inner.Index("at")[i], n, set.N(), m.candidates[i].label)
				}
			}
			if made := g.Where("kind", "stopped", "at", choiceFits).Values("of"); !slices.Equal(made, []float64{float64(folds * len(m.candidates)), float64(folds * len(m.candidates))}) {
				t.Errorf("%s %s: %v fits made in choosing, want %d per fold", m.name, rule, made, folds*len(m.candidates))
			}
		}
	}
	for _, rule := range []string{percentiles, bins} {
		b := tb.Where("kind", "bound", "bounds", rule, "fold", "1").Values("value")
		if len(b) != 2 || !(0 < b[0] && b[0] < b[1]) {
			t.Errorf("%s: bounds %v", rule, b)
		}
	}
	if got := tb.Where("kind", "size", "fold", "0", "at", features).Values("value"); !slices.Equal(got, []float64{4}) {
		t.Errorf("features %v", got)
	}
	if bad := slices.IndexFunc(tb.Values("value"), math.IsNaN); bad >= 0 {
		t.Errorf("row %d has no value", bad)
	}
}

// The first of the best candidates is chosen in each fold, of the inner errors of that fold; the table has
// their sums over folds.
func TestBestCandidateIsChosen(t *testing.T) {
	set := experimenttest.Must(load(experimenttest.Env(), experimenttest.Seed(generatedLinear), generatedLinear))
	s := settingsOf(datasets.AsIs, experiment.Smoke)
	problems, err := newProblems(set, s, experimenttest.Seed(generatedLinear))
	if err != nil {
		t.Fatal(err)
	}
	type key struct{ method, bounds, at string }
	sums := map[key]int{}
	for fold, p := range problems {
		for _, m := range methodsOf(s) {
			if len(m.candidates) == 1 {
				continue
			}
			rules := s.Rules
			if !m.bounded {
				rules = rules[:1]
			}
			for _, rule := range rules {
				bounds := ""
				if m.bounded {
					bounds = rule.String()
				}
				var inner []int
				var at []string
				chosen := ""
				err := p.judge(t.Context(), m, rule, s, func(kind, label string, value, _ int) {
					switch kind {
					case "inner":
						inner, at = append(inner, value), append(at, label)
						sums[key{m.name, bounds, label}] += value
					case "chosen":
						chosen = label
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if len(inner) != len(m.candidates) || chosen != at[slices.Index(inner, slices.Min(inner))] {
					t.Errorf("%s, %v, fold %d: %q is chosen, of inner errors %v", m.name, rule, fold, chosen, inner)
				}
			}
		}
	}
	tb, err := Fig1a.Run(t.Context(), experimenttest.Env(), Fig1a.Cells(experiment.Smoke)[0], experimenttest.Seed(generatedLinear))
	if err != nil {
		t.Fatal(err)
	}
	inner := tb.Where("kind", "inner")
	if inner.Len() != len(sums) {
		t.Errorf("%d rows of inner errors, want %d", inner.Len(), len(sums))
	}
	for i, got := range inner.Values("value") {
		k := key{inner.Index("method")[i], inner.Index("bounds")[i], inner.Index("at")[i]}
		if want, ok := sums[k]; !ok || got != float64(want) {
			t.Errorf("%v: %g inner errors, want %d", k, got, want)
		}
	}
}

func paramsOf(settings any) map[string]string {
	return experiment.Cell{Settings: settings}.Params()
}

// Settings enter the keys of jobs: another setting is another cell.
func TestSettingsEnterKeys(t *testing.T) {
	base := paramsOf(mainSettings)
	for name, change := range map[string]func(*settings){
		"features": func(s *settings) { s.Scaling = datasets.ZScore },
		"bounds":   func(s *settings) { s.Rules = []itml.BoundRule{itml.BoundBins} },
		"k":        func(s *settings) { s.K++ },
		"links":    func(s *settings) { s.Links++ },
		"gammas":   func(s *settings) { s.Gammas = s.Gammas[1:] },
		"widths":   func(s *settings) { s.Widths = s.Widths[1:] },
		"etas":     func(s *settings) { s.Etas = s.Etas[1:] },
		"targets":  func(s *settings) { s.Targets = s.Targets[1:] },
		"mus":      func(s *settings) { s.Mus = s.Mus[1:] },
		"final":    func(s *settings) { s.Final.Iterations++ },
		"choice":   func(s *settings) { s.Choice.Projections++ },
	} {
		s := mainSettings
		change(&s)
		if got := paramsOf(s); got[name] == base[name] || len(got) != 11 {
			t.Errorf("%s is %q with either setting", name, got[name])
		}
	}
	if got := table.Format(mainSettings.Gammas[0]); got != "0.01" {
		t.Errorf("γ = %s", got)
	}
}

// The data sets have enough rows in the smallest training part, and the numbers of pairs that
// the paper states where classes are large enough: 100c of each label.
func TestDatabases(t *testing.T) {
	for name, want := range map[string]struct{ n, d, classes, pairs int }{
		"wine": {178, 13, 3, 600}, "ionosphere": {351, 34, 2, 400}, "balance-scale": {625, 4, 3, 600}, "iris": {150, 4, 3, 600},
		"soybean": {266, 35, 15, 0}, // half of its classes of 10 rows has 10 pairs only
	} {
		d := databases[slices.IndexFunc(databases, func(d database) bool { return d.name == name })]
		env := experimenttest.Env()
		env.Data = realdata.Store(t, d.dataset)
		set, err := load(env, experimenttest.Seed(d.dataset), d.dataset)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(slices.Compact(slices.Sorted(slices.Values(set.Y)))); set.N() != want.n || set.Dim() != want.d || got != want.classes {
			t.Errorf("%s: %d×%d, %d classes", name, set.N(), set.Dim(), got)
		}
		for _, by := range readings {
			for _, p := range experimenttest.Must(newProblems(set, settingsOf(by, experiment.Full), experimenttest.Seed(set.Name))) {
				if want.pairs > 0 && len(p.links) != want.pairs {
					t.Errorf("%s: %d pairs, want %d", name, len(p.links), want.pairs)
				}
				for _, s := range append([]*session{p.session}, p.inner...) {
					checkPairs(t, s, mainSettings.Links)
					for _, rule := range []itml.BoundRule{itml.BoundPercentiles, itml.BoundBins} {
						if b, err := s.bounds(rule); err != nil || !(0 < b.upper && b.upper < b.lower) {
							t.Errorf("%s, %s: bounds %v, error %v", name, rule, b, err)
						}
					}
				}
			}
		}
	}
}
