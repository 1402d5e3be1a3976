package mapping

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

func mustRMP(t testing.TB, a, b int, p RMPParams) *RMP {
	t.Helper()
	l, err := NewRMP(rand.NewPCG(5, 6), a, b, p)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// configurations are parameters of every rule and sampler, for 4×5 costs.
var configurations = map[string]RMPParams{
	"default":            {},
	"metropolis":         {M: 3, Sampler: SampleMetropolis, ChainSteps: 20},
	"heat-bath":          {M: 2, Sampler: SampleHeatBath, ChainSteps: 20, Eta: EtaAnytime},
	"corrected, horizon": {M: 3, Eta: EtaCorrected, Rounds: 7},
	"printed, horizon":   {M: 3, Eta: EtaPrinted, Rounds: 7},
	"corrected":          {M: 2, Eta: EtaCorrected},
	"default, horizon":   {M: 3, Rounds: 7},
	"printed":            {M: 2, Eta: EtaPrinted},
	"fixed":              {M: 4, Eta: EtaFixed, Rate: 2.5},
	"one prototype":      {M: 1, Sampler: SampleMetropolis, ChainSteps: 3},
	"all prototypes":     {M: 5, Sampler: SampleHeatBath, ChainSteps: 3},
}

// mapSuite is the conformance suite with rounds of a×b costs.
func mapSuite[L learners.Online[metric.CostRound, []int]](a, b int) learnertest.Suite[metric.CostRound, []int, L] {
	rng := rand.New(rand.NewPCG(1, 9))
	with := func(v float64) metric.CostRound {
		f := round(rng, a, b)
		f.Cost.(*mat.Dense).Set(a-1, b-1, v)
		return f
	}
	s := learnertest.Suite[metric.CostRound, []int, L]{
		Bad: map[string]metric.CostRound{
			"nil": {}, "transposed": round(rng, b, a), "no rows": {Cost: &mat.Dense{}},
			"NaN": with(math.NaN()), "infinite": with(math.Inf(1)), "negative": with(-1e-9), "above 1": with(1 + 1e-9),
		},
		Clone: func(f metric.CostRound) metric.CostRound {
			if f.Cost == nil || f.Cost.(*mat.Dense).IsEmpty() {
				return f
			}
			return metric.CostRound{Cost: mat.DenseCopyOf(f.Cost)}
		},
		Scramble: func(f metric.CostRound) { f.Cost.(*mat.Dense).Scale(77, f.Cost) },
		Relabel: func(f metric.CostRound) metric.CostRound {
			var c mat.Dense
			c.Apply(func(_, _ int, v float64) float64 { return 1 - v }, f.Cost)
			return metric.CostRound{Cost: &c}
		},
	}
	for range 20 {
		s.Rounds = append(s.Rounds, round(rng, a, b))
	}
	return s
}

func TestRMPConformance(t *testing.T) {
	for name, p := range configurations {
		t.Run(name, func(t *testing.T) {
			s := mapSuite[*RMP](4, 5)
			s.New = func() *RMP { return mustRMP(t, 4, 5, p) }
			s.Save = (*RMP).Save
			s.Load = LoadRMP
			s.Snapshot = func(l *RMP) func() []float64 {
				w := l.LogWeights().(*mat.Dense)
				return func() []float64 { return w.RawMatrix().Data }
			}
			s.Run(t)
		})
	}
}

// Where rounds are alike, the default rate loses less than the printed one, with or without its horizon. Against costs that turn on the
// leader it has the regret of a leader, linear in the number of rounds, and the printed rate has not: EtaHundredfold says so.
func TestDefaultRate(t *testing.T) {
	const n, m, rounds = 6, 2, 100
	rng := rand.New(rand.NewPCG(17, 7))
	alike := func(int) metric.CostRound { // two groups of three points, a noisy coordinate at a time
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i/3) + rng.NormFloat64()/2
		}
		c := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				c.Set(i, j, min(1, (x[i]-x[j])*(x[i]-x[j])/4))
			}
		}
		return metric.CostRound{Cost: c}
	}
	turning := func(t int) metric.CostRound { // one object, two prototypes, of which each is right every other time
		first := float64(t % 2)
		if t == 0 {
			first = 0.5
		}
		return metric.CostRound{Cost: mat.NewDense(1, 2, []float64{first, float64(1 - t%2)})}
	}
	var played []metric.CostRound
	for i := range rounds {
		played = append(played, alike(i))
	}
	loss := func(l *RMP, of func(int) metric.CostRound) (sum float64) {
		for i := range rounds {
			f := of(i)
			e, exact := l.ExpectedLoss(f)
			if !exact {
				t.Fatal("the sets were not enumerated")
			}
			sum += e
			if _, err := l.Step(f); err != nil {
				t.Fatal(err)
			}
		}
		return sum
	}
	again := func(i int) metric.CostRound { return played[i] }
	byDefault := loss(mustRMP(t, n, n, RMPParams{M: m}), again)
	for _, p := range []RMPParams{{M: m, Eta: EtaPrinted}, {M: m, Eta: EtaPrinted, Rounds: rounds}, {M: m, Eta: EtaAnytime}} {
		if printed := loss(mustRMP(t, n, n, p), again); !(byDefault < printed) {
			t.Errorf("rounds alike: the default loses %v, %v with %d rounds %v", byDefault, p.Eta, p.Rounds, printed)
		}
	}
	leader, printed := loss(mustRMP(t, 1, 2, RMPParams{M: 2}), turning), loss(mustRMP(t, 1, 2, RMPParams{M: 2, Eta: EtaPrinted, Rounds: rounds}), turning)
	if leader < 0.9*rounds || printed > 0.65*rounds {
		t.Errorf("turning costs: the default loses %v of %d, the printed rate %v, the better prototype about half", leader, rounds, printed)
	}
}

func TestRMPParams(t *testing.T) {
	for want, p := range map[string]RMPParams{
		"m: -1":               {M: -1},
		"m: 6 is not":         {M: 6},
		"eta: 9":              {Eta: 9},
		"rate: 0":             {Eta: EtaFixed},
		"rate: -1":            {Eta: EtaFixed, Rate: -1},
		"rate: NaN":           {Eta: EtaFixed, Rate: math.NaN()},
		"rate: +Inf":          {Eta: EtaFixed, Rate: math.Inf(1)},
		"rate: 1.1e+100 is":   {Eta: EtaFixed, Rate: 1.1e100},
		"rate: 2 is not":      {Rate: 2},
		"rounds: -1":          {Rounds: -1},
		"rounds: 3 is not":    {Eta: EtaAnytime, Rounds: 3},
		"rounds: 4 is not":    {Eta: EtaFixed, Rate: 1, Rounds: 4},
		"chain_steps: -1":     {ChainSteps: -1},
		"sampler: 7":          {Sampler: 7},
		"sampler: -1 is not ": {Sampler: -1},
	} {
		if l, err := NewRMP(rand.NewPCG(1, 1), 4, 5, p); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "rmp: ") {
			t.Errorf("%+v: got %v and error %v, want %q", p, l, err, want)
		}
	}
	for _, c := range []struct {
		a, b int
		want string
	}{{0, 5, "a: 0"}, {-1, 5, "a: -1"}, {4, 0, "b: 0"}} {
		if _, err := NewRMP(rand.NewPCG(1, 1), c.a, c.b, RMPParams{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d×%d: error %v, want %q", c.a, c.b, err, c.want)
		}
	}
	if _, err := NewRMP(rand.NewPCG(1, 1), 1, 448, RMPParams{Sampler: SampleEnumerate}); err == nil || !strings.Contains(err.Error(), "more than 100000") {
		t.Errorf("100128 sets: error %v", err)
	}
	for _, c := range []struct {
		b, m int
		want Sampler
	}{{447, 2, SampleEnumerate}, {448, 2, SampleMetropolis}} {
		if got := mustRMP(t, 1, c.b, RMPParams{M: c.m, ChainSteps: 1}).Params().Sampler; got != c.want {
			t.Errorf("B = %d, m = %d: sampler %v, want %v", c.b, c.m, got, c.want)
		}
	}
	if got := mustRMP(t, 1, 1, RMPParams{}).Params().M; got != 1 {
		t.Errorf("B = 1: m = %d, want 1", got)
	}
	if p := mustRMP(t, 3, 3, RMPParams{}).Params(); p.M != 2 || p.ChainSteps != 5000 {
		t.Errorf("defaults: %+v", p)
	}
}

// At the largest rate, after as many rounds as there can be, nothing overflows: probabilities are numbers, with m = 1
// too, where no other member keeps ω(S) from underflowing.
func TestRMPLargestRate(t *testing.T) {
	const a, b = 3, 4
	rng := rand.New(rand.NewPCG(1, 27))
	for _, m := range []int{1, 2} {
		for _, sampler := range []Sampler{SampleEnumerate, SampleMetropolis, SampleHeatBath} {
			l := mustRMP(t, a, b, RMPParams{M: m, Eta: EtaFixed, Rate: MaxRate, Sampler: sampler, ChainSteps: 50})
			for k := range l.t.sum {
				l.t.sum[k] = MaxRounds * rng.Float64()
			}
			l.round = MaxRounds - 2
			f := round(rng, a, b)
			if _, err := l.Step(f); err != nil {
				t.Fatal(err)
			}
			for _, v := range l.Diagnostics().LogOmega {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("m = %d, %v: ln ω = %v", m, sampler, v)
				}
			}
			if sampler != SampleEnumerate {
				continue
			}
			var sum float64
			for set, p := range l.Sets() {
				if sum += p; math.IsNaN(p) {
					t.Errorf("m = %d: P(%v) = %v", m, set, p)
				}
			}
			near(t, fmt.Sprintf("m = %d: ΣP", m), sum, 1, 1e-12)
			if e, _ := l.ExpectedLoss(f); !(e >= 0 && e <= a) {
				t.Errorf("m = %d: expected loss %v", m, e)
			}
		}
	}
}

func TestRMPText(t *testing.T) {
	for _, e := range []Eta{EtaHundredfold, EtaPrinted, EtaCorrected, EtaAnytime, EtaFixed} {
		var got Eta
		text, _ := e.MarshalText()
		if err := got.UnmarshalText(text); err != nil || got != e {
			t.Errorf("%v: read as %v, error %v", e, got, err)
		}
	}
	for _, s := range []Sampler{SampleAuto, SampleEnumerate, SampleMetropolis, SampleHeatBath} {
		var got Sampler
		text, _ := s.MarshalText()
		if err := got.UnmarshalText(text); err != nil || got != s {
			t.Errorf("%v: read as %v, error %v", s, got, err)
		}
	}
	var e Eta
	var s Sampler
	if err := e.UnmarshalText([]byte("unknown eta 5")); err == nil {
		t.Error("an unknown eta was read")
	}
	if err := s.UnmarshalText([]byte("gibbs")); err == nil || !strings.Contains(err.Error(), "heat-bath") {
		t.Errorf("unknown sampler: error %v", err)
	}
	if Eta(5).String() != "unknown eta 5" || Sampler(-1).String() != "unknown sampler -1" {
		t.Error("unknown values have no name")
	}
}

// The learning rate of each rule in each round, and with the doubling trick the rounds after which costs
// are forgotten.
func TestRMPRates(t *testing.T) {
	const a, b, m, n = 3, 4, 2, 16
	rng := rand.New(rand.NewPCG(1, 10))
	for _, c := range []struct {
		name string
		p    RMPParams
		eta  func(round int) float64 // of the map for this round, from 1
		age  func(round int) int     // rounds that it remembers
	}{
		{"printed", RMPParams{Eta: EtaPrinted, Rounds: 9}, func(int) float64 { return math.Sqrt(8 * (2*math.Log(2) + 3*math.Log(2)) / 9) }, func(r int) int { return r - 1 }},
		{"corrected", RMPParams{Eta: EtaCorrected, Rounds: 9}, func(int) float64 { return math.Sqrt(8*math.Log(6*8)/9) / 3 }, func(r int) int { return r - 1 }},
		{"hundredfold", RMPParams{}, func(r int) float64 { return 100 * math.Sqrt(8*(2*math.Log(2)+3*math.Log(2))/float64(r)) }, func(r int) int { return r - 1 }},
		{"hundredfold, horizon", RMPParams{Rounds: 9}, func(int) float64 { return 100 * math.Sqrt(8*(2*math.Log(2)+3*math.Log(2))/9) }, func(r int) int { return r - 1 }},
		{"anytime", RMPParams{Eta: EtaAnytime}, func(r int) float64 { return math.Sqrt(8*math.Log(6*8)/float64(r)) / 3 }, func(r int) int { return r - 1 }},
		{"fixed", RMPParams{Eta: EtaFixed, Rate: 0.7}, func(int) float64 { return 0.7 }, func(r int) int { return r - 1 }},
		{"doubling", RMPParams{Eta: EtaCorrected},
			func(r int) float64 {
				return math.Sqrt(8*math.Log(6*8)/float64([]int{1, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 16, 16}[r-1])) / 3
			},
			func(r int) int { return []int{0, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1}[r-1] }},
	} {
		c.p.M = m
		l := mustRMP(t, a, b, c.p)
		var past []metric.CostRound
		for r := 1; r <= n+1; r++ {
			near(t, fmt.Sprintf("%s: η of round %d", c.name, r), l.Eta(), c.eta(r), 1e-14)
			want := mat.NewDense(a, b, nil)
			for _, f := range past[len(past)-c.age(r):] {
				want.Add(want, f.Cost)
			}
			want.Scale(-l.Eta(), want)
			if !mat.EqualApprox(l.LogWeights(), want, 1e-12) {
				t.Errorf("%s, round %d: log weights %v, want %v", c.name, r, l.LogWeights(), want)
			}
			f := round(rng, a, b)
			past = append(past, f)
			eta := l.Eta()
			o, err := l.Step(f)
			if err != nil {
				t.Fatal(err)
			}
			if !o.Updated || o.Mistake || o.StepSize != l.Eta() || eta == 0 {
				t.Errorf("%s, round %d: outcome %+v with η = %v", c.name, r, o, l.Eta())
			}
		}
	}
}

// The draws of a learner have the law that it states: in the first round uniform, later that of the costs.
// A correct learner fails with probability 1e-6 per sampler and round.
func TestRMPDrawsItsLaw(t *testing.T) {
	const a, b, m, n = 2, 4, 2, 4000
	rng := rand.New(rand.NewPCG(1, 11))
	f, g := round(rng, a, b), round(rng, a, b)
	for _, s := range []Sampler{SampleEnumerate, SampleMetropolis, SampleHeatBath} {
		exact := mustRMP(t, a, b, RMPParams{M: m, Eta: EtaFixed, Rate: 1.5, Sampler: SampleEnumerate})
		got := [3]map[string]float64{{}, {}, {}}
		src := rand.New(rand.NewPCG(1, 12))
		for range n {
			l, err := NewRMP(rand.NewPCG(src.Uint64(), src.Uint64()), a, b, RMPParams{M: m, Eta: EtaFixed, Rate: 1.5, Sampler: s, ChainSteps: 40})
			if err != nil {
				t.Fatal(err)
			}
			for k, f := range []metric.CostRound{f, g, f} {
				got[k][fmt.Sprint(l.Predict(f))]++
				l.Step(f)
			}
		}
		for k, f := range []metric.CostRound{f, g, f} {
			want := map[string]float64{}
			var loss float64
			for _, pi := range allMaps(a, b) {
				p, ok := exact.MapProbability(pi)
				if !ok {
					t.Fatal("the law is not exact")
				}
				want[fmt.Sprint(pi)] = n * p
				loss += p * exact.t.loss(f, pi)
			}
			chiSquare(t, fmt.Sprintf("%v, round %d", s, k+1), got[k], want)
			expected, ok := exact.ExpectedLoss(f)
			if near(t, "expected loss", expected, loss, 1e-12); !ok {
				t.Error("the expected loss is not exact")
			}
			exact.Step(f)
		}
	}
}

// The walk of a round starts at the set of the round before: where every swap is hopeless, the set stays.
func TestRMPStartsWarm(t *testing.T) {
	for _, s := range []Sampler{SampleMetropolis, SampleHeatBath} {
		const a, b, m = 6, 8, 3
		l := mustRMP(t, a, b, RMPParams{M: m, Eta: EtaFixed, Rate: 1e4, Sampler: s, ChainSteps: 1})
		set := l.Set()
		cost := mat.NewDense(a, b, nil)
		cost.Apply(func(i, j int, _ float64) float64 {
			if j == set[i%m] {
				return 0
			}
			return 1
		}, cost)
		for range 5 {
			if _, err := l.Step(metric.CostRound{Cost: cost}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(l.Set(), set) {
				t.Fatalf("%v: set %v, want %v", s, l.Set(), set)
			}
			for i, j := range l.Predict(metric.CostRound{}) {
				if j != set[i%m] {
					t.Errorf("%v: object %d goes to %d, want %d", s, i, j, set[i%m])
				}
			}
		}
	}
}

func TestRMPDiagnostics(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 13))
	l := mustRMP(t, 5, 9, RMPParams{M: 3, Sampler: SampleMetropolis, ChainSteps: 300, Eta: EtaFixed, Rate: 0.5})
	if d := l.Diagnostics(); d.Steps != 0 || !math.IsNaN(d.Acceptance()) || d.EffectiveSize() != 0 {
		t.Errorf("before the first step: %+v", d)
	}
	for range 3 {
		l.Step(round(rng, 5, 9))
	}
	d := l.Diagnostics()
	changes := 0
	for k := 1; k < len(d.LogOmega); k++ {
		if d.LogOmega[k] != d.LogOmega[k-1] {
			changes++
		}
	}
	if d.Steps != 300 || len(d.LogOmega) != 300 || d.Moves < changes || d.Moves > changes+1 || d.Acceptance() != float64(d.Moves)/300 {
		t.Errorf("%d steps, %d moves, acceptance %v, trace of %d with %d changes", d.Steps, d.Moves, d.Acceptance(), len(d.LogOmega), changes)
	}
	near(t, "the last ln ω", d.LogOmega[299], logOmega(l.t.costs, 0.5, l.set), 1e-9)
	if e := d.EffectiveSize(); e < 5 || e > 300 {
		t.Errorf("effective size %v of 300", e)
	}
	exact := mustRMP(t, 5, 9, RMPParams{M: 3})
	exact.Step(round(rng, 5, 9))
	if d := exact.Diagnostics(); d.Steps != 0 || d.LogOmega != nil {
		t.Errorf("sets are enumerated, but %+v", d)
	}
}

// What is known exactly is known only where sets are enumerated.
func TestRMPLawOnlyWhereEnumerated(t *testing.T) {
	f := round(rand.New(rand.NewPCG(1, 14)), 4, 5)
	l := mustRMP(t, 4, 5, RMPParams{Sampler: SampleHeatBath})
	if _, ok := l.ExpectedLoss(f); ok {
		t.Error("a walk has an expected loss")
	}
	if _, ok := l.MapProbability([]int{0, 0, 0, 0}); ok || l.Sets() != nil {
		t.Error("a walk has probabilities")
	}
	var sum float64
	n := 0
	for set, p := range mustRMP(t, 4, 5, RMPParams{M: 3}).Sets() {
		if len(set) != 3 {
			t.Errorf("set %v", set)
		}
		sum += p
		if n++; n == 9 {
			break
		}
	}
	near(t, "9 of 10 equally likely sets", sum, 0.9, 1e-12)
}

func TestRMPPanics(t *testing.T) {
	f := round(rand.New(rand.NewPCG(1, 15)), 5, 4)
	l := mustRMP(t, 4, 5, RMPParams{})
	for name, call := range map[string]func(){
		"nil source":          func() { NewRMP(nil, 4, 5, RMPParams{}) },
		"loss of 5×4":         func() { l.Loss(f) },
		"expected loss":       func() { l.ExpectedLoss(f) },
		"map of 3 objects":    func() { l.MapProbability([]int{0, 1, 2}) },
		"prototype 5":         func() { l.MapProbability([]int{0, 1, 2, 5}) },
		"bound, a = 0":        func() { LogMaps(0, 5, 2) },
		"bound, m = 6":        func() { PrintedLogMaps(4, 5, 6) },
		"bound, no rounds":    func() { RegretBound(4, 5, 2, 0, 1) },
		"bound, delta = 0":    func() { PrintedRegretBound(4, 5, 2, 9, 0) },
		"bound, η = 0":        func() { ExpectedRegretBound(4, 5, 2, 9, 0) },
		"bound, delta is NaN": func() { RegretBound(4, 5, 2, 9, math.NaN()) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}

// A matrix that is no *mat.Dense gives the same bits.
func TestRMPAnyMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 16))
	l, k := mustRMP(t, 4, 5, RMPParams{}), mustRMP(t, 4, 5, RMPParams{})
	for range 5 {
		f := round(rng, 4, 5)
		g := metric.CostRound{Cost: mat.DenseCopyOf(f.Cost.T()).T()}
		wide := mat.NewDense(6, 9, nil)
		wide.Slice(1, 5, 2, 7).(*mat.Dense).Copy(f.Cost)
		e, _ := l.ExpectedLoss(f)
		if e2, _ := l.ExpectedLoss(g); e2 != e {
			t.Errorf("expected loss %v of a transpose, want %v", e2, e)
		}
		o, err := l.Step(g)
		p, err2 := k.Step(metric.CostRound{Cost: wide.Slice(1, 5, 2, 7)})
		if err != nil || err2 != nil || o.Loss != p.Loss || !mat.Equal(l.LogWeights(), k.LogWeights()) {
			t.Fatalf("outcomes %+v (%v) and %+v (%v)", o, err, p, err2)
		}
	}
}

// savedRMP is a file of a learner after some rounds.
func savedRMP(t testing.TB, p RMPParams) []byte {
	rng := rand.New(rand.NewPCG(1, 17))
	l := mustRMP(t, 2, 3, p)
	for range 6 {
		if _, err := l.Step(round(rng, 2, 3)); err != nil {
			t.Fatal(err)
		}
	}
	return persisttest.Saved(l)
}

func TestRMPSaved(t *testing.T) {
	file := savedRMP(t, RMPParams{})
	persisttest.Check(t, file, LoadRMP)
	set := func(part, name string, v any) persisttest.Edit {
		return func(params, state map[string]any) {
			if part == "params" {
				params[name] = v
			} else {
				state[name] = v
			}
		}
	}
	floats := func(v ...float64) persist.Floats { return v }
	persisttest.Tampered(t, file, LoadRMP, map[string]persisttest.Edit{
		"m = 0":                  set("params", "m", 0),
		"m = 3":                  set("params", "m", 3),
		"m = 4":                  set("params", "m", 4),
		"sampler auto":           set("params", "sampler", "auto"),
		"rate":                   set("params", "rate", 2),
		"chain steps":            set("params", "chain_steps", 0),
		"rounds":                 set("params", "rounds", -1),
		"another shape":          set("state", "objects", 3),
		"objects = 0":            set("state", "objects", 0),
		"objects = −2":           set("state", "objects", -2),
		"objects = 4":            set("state", "objects", 4),
		"round = −1":             set("state", "round", -1),
		"round = 2⁵³":            set("state", "round", 1<<53),
		"costs of later rounds":  set("state", "round", 0),
		"no costs":               set("state", "costs", floats()),
		"NaN":                    set("state", "costs", floats(0, 0, 0, 0, 0, math.NaN())),
		"negative cost":          set("state", "costs", floats(0, 0, -1, 0, 0, 0)),
		"cost of 9 rounds":       set("state", "costs", floats(0, 0, 9, 0, 0, 0)),
		"set of one":             set("state", "set", []int{1}),
		"set twice the same":     set("state", "set", []int{1, 1}),
		"set out of order":       set("state", "set", []int{1, 0}),
		"prototype 3 in the set": set("state", "set", []int{1, 3}),
		"map of one object":      set("state", "map", []int{1}),
		"map to 7":               set("state", "map", []int{1, 7}),
		"no source":              set("state", "pcg", []byte{}),
	})
	for _, p := range []RMPParams{{Sampler: SampleHeatBath, ChainSteps: 2}, {Eta: EtaFixed, Rate: 0.1}, {M: 3, Eta: EtaAnytime}, {Eta: EtaCorrected, Rounds: 2}} {
		file := savedRMP(t, p)
		l, err := LoadRMP(bytes.NewReader(file))
		if err != nil || !bytes.Equal(persisttest.Saved(l), file) {
			t.Errorf("%+v: loaded with error %v", p, err)
		}
	}
}

func FuzzLoadRMP(f *testing.F) {
	costs := round(rand.New(rand.NewPCG(1, 18)), 2, 3)
	use := func(l *RMP) {
		if a, b := l.Dims(); a != 2 || b != 3 || l.Params().ChainSteps > 1000 {
			return
		}
		if _, err := l.Step(costs); err != nil {
			panic(fmt.Sprintf("a loaded learner refuses a round: %v", err))
		}
	}
	persisttest.Fuzz(f, LoadRMP, use, savedRMP(f, RMPParams{}), savedRMP(f, RMPParams{Sampler: SampleMetropolis, ChainSteps: 2, Eta: EtaFixed, Rate: 3}))
}
