package protocol_test

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
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
)

// methodsOf returns the methods in the order of protocol.MethodNames.
func methodsOf(s protocol.Settings) []protocol.Method {
	return protocol.MethodsNamed(s, protocol.MethodNames)
}

// load returns built-in data, and problems the folds of a trial on data.
func load(name string) *datasets.Set {
	return experimenttest.Must(protocol.Load(experimenttest.Env(), experimenttest.Seed(name), name))
}

func problems(set *datasets.Set, s protocol.Settings) []*protocol.Problem {
	return experimenttest.Must(protocol.NewProblems(set, s, experimenttest.Seed(set.Name)))
}

// position finds rows of a set by their features, which are all different here.
func position(t *testing.T, set *datasets.Set, p protocol.Part) []int {
	t.Helper()
	var out []int
	for i := range p.Y {
		at := -1
		for j := range set.N() {
			if slices.Equal(p.X.RawRowView(i), set.X.RawRowView(j)) {
				at = j
			}
		}
		if at < 0 || p.Y[i] != set.Y[at] {
			t.Fatalf("row %d is not one of the set with its label", i)
		}
		out = append(out, at)
	}
	return out
}

// Each row is tested once; the inner folds divide the training fold; pairs are of training
// rows, so many per class.
func TestProblemsAreTheProtocol(t *testing.T) {
	s := protocol.SettingsOf(datasets.AsIs, experiment.Smoke)
	set := load(protocol.GeneratedLinear)
	tested := map[int]int{}
	for f, p := range problems(set, s) {
		train, test := position(t, set, p.Train), position(t, set, p.Test)
		for _, i := range test {
			tested[i]++
		}
		if both := slices.Sorted(slices.Values(slices.Concat(train, test))); len(slices.Compact(both)) != set.N() || len(train)+len(test) != set.N() {
			t.Errorf("fold %d: %d and %d rows do not divide %d", f, len(train), len(test), set.N())
		}
		scored := map[int]int{}
		for _, in := range p.Inner {
			learn, held := position(t, set, in.Train), position(t, set, in.Test)
			for _, i := range slices.Concat(learn, held) {
				if !slices.Contains(train, i) {
					t.Errorf("fold %d: row %d of the inner cross-validation does not train", f, i)
				}
			}
			for _, i := range held {
				scored[i]++
				if slices.Contains(learn, i) {
					t.Errorf("fold %d: row %d trains and is held out", f, i)
				}
			}
		}
		if len(scored) != len(train) {
			t.Errorf("fold %d: %d of %d training rows are scored by the inner cross-validation", f, len(scored), len(train))
		}
		for _, s := range append([]*protocol.Session{p.Session}, p.Inner...) {
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
func checkPairs(t *testing.T, s *protocol.Session, n int) {
	t.Helper()
	size, similar, dissimilar := map[int]int{}, map[int]int{}, map[int]int{}
	for _, c := range s.Train.Y {
		size[c]++
	}
	for _, l := range s.Links {
		same := s.Train.Y[l.I] == s.Train.Y[l.J]
		if same != (l.Label == metric.Similar) || l.I == l.J {
			t.Fatalf("link %+v has the wrong label", l)
		}
		if same {
			similar[s.Train.Y[l.I]]++
		} else {
			dissimilar[s.Train.Y[l.I]]++
		}
	}
	for c, m := range size {
		if want := min(n, m*(m-1)/2); similar[c] != want {
			t.Errorf("class %d of %d rows: %d similar pairs, want %d", c, m, similar[c], want)
		}
		if want := min(n, m*(len(s.Train.Y)-m)); dissimilar[c] != want {
			t.Errorf("class %d of %d rows: %d dissimilar pairs, want %d", c, m, dissimilar[c], want)
		}
	}
}

// Scaled features have mean 0 and deviation 1 on the rows that train, in both cross-validations;
// one that is constant there is 0. 1e-12 is far above the round-off of 24 rows.
func TestScalingIsLearnedFromTrainingRows(t *testing.T) {
	set := load(protocol.GeneratedLinear)
	wider := mat.NewDense(set.N(), set.Dim()+1, nil)
	for i := range set.N() {
		copy(wider.RawRowView(i), set.X.RawRowView(i))
		wider.Set(i, set.Dim(), 7)
	}
	set.X = wider
	for _, p := range problems(set, protocol.SettingsOf(datasets.ZScore, experiment.Smoke)) {
		for _, s := range append([]*protocol.Session{p.Session}, p.Inner...) {
			n, d := s.Train.X.Dims()
			for j := range d {
				var sum, sq float64
				for i := range n {
					v := s.Train.X.At(i, j)
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
	for _, by := range protocol.Readings {
		s := protocol.SettingsOf(by, experiment.Smoke)
		set, other := load(protocol.GeneratedXOR), load(protocol.GeneratedXOR)
		plain := problems(set, s)[0]
		for _, i := range position(t, set, problems(set, protocol.SettingsOf(datasets.AsIs, experiment.Smoke))[0].Test) {
			row := other.X.RawRowView(i)
			row[0], row[1] = 3-5*row[0], 1+row[1]*row[1]
		}
		spoilt := problems(other, s)[0]
		for i := range spoilt.Test.Y {
			spoilt.Test.Y[i] = 1 - spoilt.Test.Y[i]
		}
		if mat.Equal(plain.Test.X, spoilt.Test.X) {
			t.Fatal("the test rows are as before")
		}
		for _, m := range methodsOf(s) {
			a, err := plain.Choose(t.Context(), m, itml.BoundPercentiles, s.Choice)
			if err != nil {
				t.Fatal(err)
			}
			b, err := spoilt.Choose(t.Context(), m, itml.BoundPercentiles, s.Choice)
			if err != nil || !slices.Equal(a.Wrong, b.Wrong) || !slices.Equal(a.Order, b.Order) {
				t.Errorf("%v, %s: choices %v and, with other test rows, %v (error %v)", by, m.Name, a, b, err)
			}
			_, l, _, err := plain.Learn(t.Context(), m, itml.BoundPercentiles, a.Order, s.Final)
			if err != nil {
				t.Fatal(err)
			}
			_, k, _, err := spoilt.Learn(t.Context(), m, itml.BoundPercentiles, b.Order, s.Final)
			if err != nil {
				t.Fatal(err)
			}
			for i := range plain.Train.Y {
				if p, q := l.Metric.SqDist(l.Train.RawRowView(0), l.Train.RawRowView(i)), k.Metric.SqDist(k.Train.RawRowView(0), k.Train.RawRowView(i)); p != q {
					t.Fatalf("%v, %s: distance %g between training rows and, with other test rows, %g", by, m.Name, p, q)
				}
			}
		}
	}
}

// Distances of the Gaussian method are those of Eq. 6, the kernel of any two points. Both
// are differences of numbers of the size of the learned kernel, below 100 here, with
// round-off of 2⁻⁵² each over some 24 terms: 1e-10 is seen.
func TestGaussianDistancesAreThoseOfNewPoints(t *testing.T) {
	s := protocol.SettingsOf(datasets.AsIs, experiment.Smoke)
	p := problems(load(protocol.GeneratedXOR), s)[0]
	c := protocol.Candidate{Gamma: 1, Width: 0.5}
	got, err := protocol.FitGaussian(t.Context(), p.Session, itml.BoundPercentiles, c, s.Final)
	if err != nil {
		t.Fatal(err)
	}
	median, err := kernels.MedianSqDist(nil, p.Train.X)
	if err != nil {
		t.Fatal(err)
	}
	g, err := kernels.NewGaussian(1 / median) // 1/(2σ²), σ² half the median
	if err != nil {
		t.Fatal(err)
	}
	gram := kernels.Gram(g, p.Train.X)
	u, l, err := protocol.BoundsBy(itml.BoundPercentiles).OfGram(gram, protocol.AllPairs(len(p.Train.Y)))
	if err != nil {
		t.Fatal(err)
	}
	fit, err := itml.FitKernel(context.Background(), gram, p.Links, itml.KernelParams{Gamma: 1, Upper: u, Lower: l, MaxCycles: s.Final.Cycles(len(p.Links))})
	if err != nil {
		t.Fatal(err)
	}
	k, err := fit.Kernel(g, p.Train.X)
	if err != nil {
		t.Fatal(err)
	}
	moved := 0.0
	for i := range p.Test.Y {
		for j := range p.Train.Y {
			x, z := p.Test.X.RawRowView(i), p.Train.X.RawRowView(j)
			a, b := got.Metric.SqDist(got.Test.RawRowView(i), got.Train.RawRowView(j)), k.SqDist(x, z)
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
	s := protocol.SettingsOf(datasets.AsIs, experiment.Smoke)
	for _, p := range problems(load(protocol.GeneratedLinear), s) {
		l, err := protocol.FitEuclidean(t.Context(), p.Session, itml.BoundPercentiles, protocol.Candidate{}, protocol.Budget{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Wrong(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for i, label := range p.Test.Y {
			order := make([]int, len(p.Train.Y))
			sq := make([]float64, len(order))
			for j := range order {
				order[j] = j
				for f, v := range p.Test.X.RawRowView(i) {
					sq[j] += (v - p.Train.X.At(j, f)) * (v - p.Train.X.At(j, f))
				}
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sq[a], sq[b]) })
			votes := map[int]int{}
			for _, j := range order[:5] {
				votes[p.Train.Y[j]]++
			}
			winner := p.Train.Y[order[0]]
			for _, j := range order[:5] {
				if votes[p.Train.Y[j]] > votes[winner] {
					winner = p.Train.Y[j]
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
	s := protocol.SettingsOf(datasets.AsIs, experiment.Smoke)
	p := problems(load(protocol.GeneratedLinear), s)[0]
	impossible := errors.New("impossible")
	m := protocol.Method{
		Name: "made up", Candidates: []protocol.Candidate{{Label: "fails"}, {Label: "fails at the end", Eta: 1}, {Label: "works", Eta: 2}},
		Fit: func(ctx context.Context, s *protocol.Session, rule itml.BoundRule, c protocol.Candidate, b protocol.Budget) (protocol.Learnt, error) {
			if c.Eta == 0 || c.Eta == 1 && s == p.Session {
				return protocol.Learnt{}, impossible
			}
			return protocol.FitEuclidean(ctx, s, rule, c, b)
		},
	}
	c, err := p.Choose(t.Context(), m, itml.BoundPercentiles, s.Choice)
	if err != nil || !slices.Equal(c.Order, []int{1, 2, 0}) || c.Wrong[0] != c.Rows || c.Rows != len(p.Train.Y) || c.Fits != (protocol.Tally{Made: 6, Failed: 2}) {
		t.Errorf("choice %+v, error %v", c, err)
	}
	which, _, fits, err := p.Learn(t.Context(), m, itml.BoundPercentiles, c.Order, s.Final)
	if err != nil || which != 2 || fits != (protocol.Tally{Made: 2, Failed: 1}) {
		t.Errorf("candidate %d with %+v, error %v", which, fits, err)
	}
	m.Candidates = m.Candidates[:2]
	if _, _, _, err := p.Learn(t.Context(), m, itml.BoundPercentiles, []int{0, 1}, s.Final); !errors.Is(err, impossible) {
		t.Errorf("no candidate fits: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Choose(ctx, m, itml.BoundPercentiles, s.Choice); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// Settings enter the keys of jobs: another setting is another cell.
func TestSettingsEnterKeys(t *testing.T) {
	base := experiment.Cell{Settings: protocol.MainSettings}.Params()
	for name, change := range map[string]func(*protocol.Settings){
		"features": func(s *protocol.Settings) { s.Scaling = datasets.ZScore },
		"bounds":   func(s *protocol.Settings) { s.Rules = []itml.BoundRule{itml.BoundBins} },
		"k":        func(s *protocol.Settings) { s.K++ },
		"links":    func(s *protocol.Settings) { s.Links++ },
		"gammas":   func(s *protocol.Settings) { s.Gammas = s.Gammas[1:] },
		"widths":   func(s *protocol.Settings) { s.Widths = s.Widths[1:] },
		"etas":     func(s *protocol.Settings) { s.Etas = s.Etas[1:] },
		"targets":  func(s *protocol.Settings) { s.Targets = s.Targets[1:] },
		"mus":      func(s *protocol.Settings) { s.Mus = s.Mus[1:] },
		"final":    func(s *protocol.Settings) { s.Final.Iterations++ },
		"choice":   func(s *protocol.Settings) { s.Choice.Projections++ },
	} {
		s := protocol.MainSettings
		change(&s)
		if got := (experiment.Cell{Settings: s}).Params(); got[name] == base[name] || len(got) != 11 {
			t.Errorf("%s is %q with either setting", name, got[name])
		}
	}
	if got := table.Format(protocol.MainSettings.Gammas[0]); got != "0.01" {
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
		d := protocol.Databases[slices.IndexFunc(protocol.Databases, func(d protocol.Database) bool { return d.Name == name })]
		env := experimenttest.Env()
		env.Data = realdata.Store(t, d.Dataset)
		set, err := protocol.Load(env, experimenttest.Seed(d.Dataset), d.Dataset)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(slices.Compact(slices.Sorted(slices.Values(set.Y)))); set.N() != want.n || set.Dim() != want.d || got != want.classes {
			t.Errorf("%s: %d×%d, %d classes", name, set.N(), set.Dim(), got)
		}
		for _, by := range protocol.Readings {
			for _, p := range problems(set, protocol.SettingsOf(by, experiment.Full)) {
				if want.pairs > 0 && len(p.Links) != want.pairs {
					t.Errorf("%s: %d pairs, want %d", name, len(p.Links), want.pairs)
				}
				for _, s := range append([]*protocol.Session{p.Session}, p.Inner...) {
					checkPairs(t, s, protocol.MainSettings.Links)
					for _, rule := range []itml.BoundRule{itml.BoundPercentiles, itml.BoundBins} {
						if b, err := s.Bounds(rule); err != nil || !(0 < b.Upper && b.Upper < b.Lower) {
							t.Errorf("%s, %s: bounds %v, error %v", name, rule, b, err)
						}
					}
				}
			}
		}
	}
}
