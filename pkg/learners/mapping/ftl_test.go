package mapping

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

func mustFTL(t testing.TB, a, b, m int) *FTL {
	t.Helper()
	l, err := NewFTL(a, b, FTLParams{M: m})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFTLConformance(t *testing.T) {
	for name, c := range map[string]struct{ a, b, m int }{
		"enumerated": {4, 5, 2}, "one prototype": {4, 5, 1}, "all prototypes": {4, 5, 5}, "searched": {6, 60, 5},
	} {
		t.Run(name, func(t *testing.T) {
			s := mapSuite[*FTL](c.a, c.b)
			s.New = func() *FTL { return mustFTL(t, c.a, c.b, c.m) }
			s.Save = (*FTL).Save
			s.Load = LoadFTL
			s.Snapshot = func(l *FTL) func() []float64 {
				w := l.LogWeights().(*mat.Dense)
				return func() []float64 { return w.RawMatrix().Data }
			}
			s.Run(t)
		})
	}
}

func TestFTLErrors(t *testing.T) {
	for _, c := range []struct {
		a, b, m int
		want    string
	}{{0, 3, 2, "a: 0"}, {3, 0, 2, "b: 0"}, {3, 3, 4, "m: 4 is not allowed, want an integer from 1 to 3"}, {3, 3, -1, "m: -1"}} {
		if _, err := NewFTL(c.a, c.b, FTLParams{M: c.m}); err == nil || !strings.HasPrefix(err.Error(), "ftl: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
	if got := mustFTL(t, 3, 1, 0).Params().M; got != 1 {
		t.Errorf("B = 1: m = %d", got)
	}
}

// FTL plays the best map of the past, which brute force finds too; where there are too many sets, one that no
// swap improves.
func TestFTLLeads(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 21))
	for _, c := range []struct {
		a, b, m int
		exact   bool
	}{{5, 6, 3, true}, {1, 4, 2, true}, {4, 4, 4, true}, {8, 70, 4, false}} {
		l := mustFTL(t, c.a, c.b, c.m)
		if l.Exact() != c.exact {
			t.Fatalf("%+v: exact = %v", c, l.Exact())
		}
		sum := newCosts(c.a, c.b)
		for range 12 {
			f := round(rng, c.a, c.b)
			if _, err := l.Step(f); err != nil {
				t.Fatal(err)
			}
			sum.add(f)
			var cost float64
			for i, j := range l.Predict(f) {
				if !slices.Contains(l.Set(), j) {
					t.Errorf("object %d goes to %d, set %v", i, j, l.Set())
				}
				cost += sum.sum[j*c.a+i]
			}
			if c.exact {
				near(t, "cost of the leader", cost, offline(sum, c.m), 1e-12)
				continue
			}
			swaps, err := cluster.SwapCosts(mat.NewDense(c.b, c.a, sum.sum).T(), l.Set())
			if err != nil {
				t.Fatal(err)
			}
			if best := mat.Min(swaps); best < -1e-9 {
				t.Errorf("a swap saves %v", -best)
			}
		}
	}
}

// After every round the leader is the first set of least cost, which trying all sets finds, too, and no set but the known ones costs less
// than the floor. Costs have few values, so that there are many ties, or any; they grow by much or little, everywhere or in one place.
func TestFTLEnumerate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 22))
	searched, known := 0, 0
	for range 400 {
		a, b := 1+rng.IntN(6), 1+rng.IntN(8)
		m := 1 + rng.IntN(b)
		l := mustFTL(t, a, b, m)
		coarse, size := rng.IntN(2) == 0, []float64{1, 0.01}[rng.IntN(2)]
		sets := combin.Combinations(b, m)
		for range 6 {
			somewhere := rng.IntN(len(l.c.sum))
			for k := range l.c.sum {
				switch {
				case rng.IntN(3) == 0 && k != somewhere:
				case coarse:
					l.c.sum[k] += float64(rng.IntN(3))
				default:
					l.c.sum[k] += size * rng.Float64()
				}
			}
			floor := l.floor
			l.enumerate()
			if l.floor == floor {
				known++
			} else {
				searched++
			}
			all := make([]ftlSet, len(sets))
			for k, set := range sets {
				for i := range a {
					c := math.Inf(1)
					for _, j := range set {
						c = min(c, l.c.sum[j*a+i])
					}
					all[k].cost += c
				}
				all[k].set = set
				if all[k].cost < l.floor && !slices.ContainsFunc(l.leaders, func(x ftlSet) bool { return slices.Equal(x.set, set) }) {
					t.Errorf("%d of %d prototypes for %d objects: set %v costs %v, below the floor %v", m, b, a, set, all[k].cost, l.floor)
				}
			}
			want := slices.MinFunc(all, ftlSet.cheaper)
			if got := l.leaders[0]; got.cost != want.cost || !slices.Equal(got.set, want.set) {
				t.Errorf("%d of %d prototypes for %d objects: %v, want %v", m, b, a, got, want)
			}
		}
	}
	if searched < 100 || known < 100 {
		t.Errorf("%d rounds with a search, %d without", searched, known)
	}
}

// Of equally good sets the first, of equally good prototypes the lowest.
func TestFTLTies(t *testing.T) {
	l := mustFTL(t, 2, 4, 2)
	if got := l.Predict(metric.CostRound{}); !slices.Equal(l.Set(), []int{0, 1}) || !slices.Equal(got, []int{0, 0}) {
		t.Errorf("at the start: set %v, map %v", l.Set(), got)
	}
	o, err := l.Step(metric.CostRound{Cost: mat.NewDense(2, 4, []float64{1, 0, 0, 1, 1, 1, 0, 0})})
	if err != nil || !o.Updated || o.StepSize != 1 || o.Loss != 2 {
		t.Errorf("outcome %+v, error %v", o, err)
	}
	if got := l.Predict(metric.CostRound{}); !slices.Equal(l.Set(), []int{0, 2}) || !slices.Equal(got, []int{2, 2}) {
		t.Errorf("set %v, map %v", l.Set(), got)
	}
	o, err = l.Step(metric.CostRound{Cost: mat.NewDense(2, 4, nil)})
	if err != nil || o.Updated || o.StepSize != 0 || o.Loss != 0 {
		t.Errorf("outcome %+v of a round without cost, error %v", o, err)
	}
}

// threeVectors are the costs of Section 5.1: the squared differences of the coordinates of three vectors, (.5, 1, 1,
// ...), (0, 1, 0, 1, ...) and 0.
func threeVectors(round int) metric.CostRound {
	v := [3]float64{1, float64(round % 2), 0}
	if round == 0 {
		v[0] = 0.5
	}
	c := mat.NewDense(3, 3, nil)
	c.Apply(func(i, j int, _ float64) float64 { return (v[i] - v[j]) * (v[i] - v[j]) }, c)
	return metric.CostRound{Cost: c}
}

// On the three vectors FTL loses T in T+1 rounds and the best map T/2, as the paper says, and the expected regret of RMP with a rate for which
// there is a bound stays below a multiple of √T.
func TestFTLFailsOnThreeVectors(t *testing.T) {
	const a, m, rounds = 3, 2, 1600
	ftl := mustFTL(t, a, a, m)
	rmp := mustRMP(t, a, a, RMPParams{M: m, Eta: EtaCorrected, Rounds: rounds})
	sum := newCosts(a, a)
	var leader, expected float64
	for r := range rounds {
		f := threeVectors(r)
		o, err := ftl.Step(f)
		if err != nil {
			t.Fatal(err)
		}
		leader += o.Loss
		e, _ := rmp.ExpectedLoss(f)
		expected += e
		if _, err := rmp.Step(f); err != nil {
			t.Fatal(err)
		}
		sum.add(f)
	}
	best := offline(sum, m)
	if best > rounds/2 || leader < rounds-1 {
		t.Errorf("the best map costs %v, FTL %v in %d rounds", best, leader, rounds)
	}
	if regret := expected - best; regret > RegretBound(a, a, m, rounds, 1) || regret > (leader-best)/4 {
		t.Errorf("the expected regret of RMP is %v, FTL's %v", regret, leader-best)
	}
}

// SET COVER is the search for a map of cost 0 (Theorem 4.1): some m of the sets cover all elements iff FTL,
// which has seen the costs once, loses nothing on them.
func TestFTLSolvesSetCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 22))
	covers := 0
	for range 200 {
		const a, b, m = 6, 7, 2
		cost := mat.NewDense(a, b, nil)
		cost.Apply(func(_, _ int, _ float64) float64 { return math.Round(rng.Float64()) }, cost) // 0: the set holds the element
		want := false
		for _, set := range subsets(b, m) {
			all := true
			for i := range a {
				all = all && (cost.At(i, set[0]) == 0 || cost.At(i, set[1]) == 0)
			}
			want = want || all
		}
		l := mustFTL(t, a, b, m)
		f := metric.CostRound{Cost: cost}
		if _, err := l.Step(f); err != nil {
			t.Fatal(err)
		}
		if got := l.Loss(f) == 0; got != want {
			t.Fatalf("costs %v: cover %v, want %v", mat.Formatted(cost), got, want)
		}
		if want {
			covers++
		}
	}
	if covers < 20 || covers > 180 {
		t.Errorf("%d of 200 have a cover", covers)
	}
}

func savedFTL(t testing.TB, a, b, m int) []byte {
	rng := rand.New(rand.NewPCG(1, 23))
	l := mustFTL(t, a, b, m)
	for range 4 {
		if _, err := l.Step(round(rng, a, b)); err != nil {
			t.Fatal(err)
		}
	}
	return persisttest.Saved(l)
}

func TestFTLSaved(t *testing.T) {
	file := savedFTL(t, 2, 3, 2)
	persisttest.Check(t, file, LoadFTL)
	set := func(name string, v any) persisttest.Edit {
		return func(_, state map[string]any) { state[name] = v }
	}
	edits := map[string]persisttest.Edit{
		"m = 0":           func(params, _ map[string]any) { params["m"] = 0 },
		"m = 4":           func(params, _ map[string]any) { params["m"] = 4 },
		"another shape":   set("objects", 3),
		"objects = 4":     set("objects", 4),
		"round = −1":      set("round", -1),
		"round = 2":       set("round", 0),
		"NaN":             set("costs", persist.Floats{0, 0, 0, 0, 0, math.NaN()}),
		"negative":        set("costs", persist.Floats{0, 0, 0, 0, 0, -1}),
		"set of one":      set("set", []int{1}),
		"set descending":  set("set", []int{1, 0}),
		"another round's": set("round", 1<<53),
	}
	l, err := LoadFTL(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subsets(3, 2) {
		if !slices.Equal(s, l.Set()) {
			edits["not the leader "+string(rune('0'+s[0]))+string(rune('0'+s[1]))] = set("set", s)
		}
	}
	persisttest.Tampered(t, file, LoadFTL, edits)
	file = savedFTL(t, 3, 70, 4)
	if l, err = LoadFTL(bytes.NewReader(file)); err != nil || l.Exact() || !bytes.Equal(persisttest.Saved(l), file) {
		t.Errorf("many sets: loaded with error %v", err)
	}
}

func FuzzLoadFTL(f *testing.F) {
	costs := round(rand.New(rand.NewPCG(1, 24)), 2, 3)
	use := func(l *FTL) {
		if a, b := l.Dims(); a != 2 || b != 3 {
			return
		}
		if _, err := l.Step(costs); err != nil {
			panic("a loaded learner refuses a round: " + err.Error())
		}
	}
	persisttest.Fuzz(f, LoadFTL, use, savedFTL(f, 2, 3, 2))
}

// A nil pointer as the costs counts as none: Step returns an error, Loss panics with our message.
func TestNilCosts(t *testing.T) {
	l, err := NewFTL(2, 4, FTLParams{M: 2})
	if err != nil {
		t.Fatal(err)
	}
	f := metric.CostRound{Cost: (*mat.Dense)(nil)}
	if _, err := l.Step(f); err == nil || err.Error() != "ftl: cost: none given, want a matrix" {
		t.Errorf("Step: error %v", err)
	}
	if _, err := f.MarshalJSON(); err == nil {
		t.Error("MarshalJSON: no error")
	}
	defer func() {
		if p := recover(); p != "mapping: cost: none given, want a matrix" {
			t.Errorf("Loss: panic %v", p)
		}
	}()
	l.Loss(f)
}
