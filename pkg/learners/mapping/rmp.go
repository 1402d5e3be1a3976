package mapping

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// RMPVersion counts the changes of the values that RMP computes.
const RMPVersion = 1

// MaxRate is the largest learning rate of EtaFixed. Times the costs of as many rounds as there can be it does not
// overflow, and it is far beyond the rate at which only the best map remains.
const MaxRate = 1e100

// MaxChainSteps is the largest number of steps of the random walk per round. Eight bytes are kept of each.
const MaxChainSteps = 10_000_000

// MaxRounds is the largest horizon, and bounds the rounds that a file can hold: beyond it costs would not count them.
const MaxRounds = 1 << 53

// RMPKind is the kind under which package persist stores an RMP.
const RMPKind = "mapping/rmp"

// Eta says what learning rate η RMP has. T is the horizon, the number of rounds to come.
type Eta int

const (
	// EtaHundredfold, the default: 100 times EtaPrinted, the best of five rates in the view fig1-eta of rmp2007/fig1, where rounds are
	// drawn from one distribution. It needs no horizon: without Rounds it is in round t what it is for the horizon t. So large
	// a rate nearly follows the leader. Against costs that an adversary chooses, who turns on the leader, it becomes follow-the-leader, whose
	// regret grows with every round, and there is no bound on it: then take EtaPrinted or EtaCorrected.
	EtaHundredfold Eta = iota
	// EtaPrinted: √(8(m·ln(B/m) + A·ln m)/T), as Rakhlin et al. print it (PrintedEta). It
	// takes losses to be at most 1, where they are at most A.
	EtaPrinted
	// EtaCorrected: √(8·ln(C(B, m)·m^A)/T)/A, for which RegretBound holds (CorrectedEta).
	EtaCorrected
	// EtaAnytime: in round t what EtaCorrected is for the horizon t. It needs no horizon, and AnytimeRegretBound holds.
	EtaAnytime
	// EtaFixed: the number RMPParams.Rate.
	EtaFixed
)

var etaNames = enum.Of[Eta]("unknown eta %d", "hundredfold", "printed", "corrected", "anytime", "fixed")

// String returns "hundredfold", "printed", "corrected", "anytime" or "fixed".
func (e Eta) String() string { return etaNames.Text(e) }

// MarshalText returns String.
func (e Eta) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads what String returns of the five rules.
func (e *Eta) UnmarshalText(text []byte) error { return etaNames.Unmarshal(e, text) }

// Sampler says how RMP draws the set S of m prototypes with probability P(S) = ω(S)/Σω.
type Sampler int

const (
	// SampleAuto: SampleEnumerate if there are at most MaxSets sets, else SampleMetropolis.
	SampleAuto Sampler = iota
	// SampleEnumerate: exactly, by all C(B, m) sets (Algorithm 1). It takes O(C(B, m)·A).
	SampleEnumerate
	// SampleMetropolis: by a random walk of uniform swaps, each made or not (Algorithm 2).
	SampleMetropolis
	// SampleHeatBath: by a random walk with the same law, every second step of which removes a member with
	// a probability about proportional to the weight of the remaining set. All m members are weighed in the time of one. It was measured with the printed η on the
	// made-up clusters of BenchmarkStep. Late in a run it moves 5 to 7 times as often per step as Metropolis with A = B =
	// 100 and m = 20, and 4 to 8 times with 784 and m = 50, at up to about twice the time. It does not pay with 400, m = 4,
	// where either moves in fewer than 1 of 10,000 steps, nor early in a run, where it moves less often.
	SampleHeatBath
)

var samplerNames = enum.Of[Sampler]("unknown sampler %d", "auto", "enumerate", "metropolis", "heat-bath")

// String returns "auto", "enumerate", "metropolis" or "heat-bath".
func (s Sampler) String() string { return samplerNames.Text(s) }

// MarshalText returns String.
func (s Sampler) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what String returns of the four samplers.
func (s *Sampler) UnmarshalText(text []byte) error { return samplerNames.Unmarshal(s, text) }

// RMPParams are the parameters of RMP.
type RMPParams struct {
	// M is the largest number of prototypes that a map uses, 1 to B; 0 means 2, or 1 if B is 1.
	M int `json:"m" range:">= 1 and <= the number of prototypes" default:"0" doc:"largest number of prototypes that a map uses; 0 means 2, or 1 if there is only one"`
	// Eta is the rule of the learning rate. The default is EtaHundredfold.
	Eta Eta `json:"eta"`
	// Rate is the learning rate of EtaFixed, greater than 0 and at most MaxRate, and must be 0 for the others.
	Rate float64 `json:"rate,omitempty" range:"0, or > 0 and <= 1e100" name:"eta" words:"hundredfold|printed|corrected|anytime" doc:"learning rate: 100 times the printed one, as printed in Theorem 2.1, divided by the number of objects as its proof needs, the latter for a horizon that grows, or fixed"`
	// Rounds is the horizon T of EtaHundredfold, EtaPrinted and EtaCorrected, at most MaxRounds, and must be 0 for the others. Rounds beyond it are learned from
	// with the same η. 0 means the rounds so far for EtaHundredfold, and for the others the doubling trick: epochs of 1, 2, 4, ... rounds, each with the η of its
	// length, at whose start all costs are forgotten (DoublingRegretBound).
	Rounds int `json:"rounds" range:"0, or >= 1 and <= 9007199254740992" needs:"eta=hundredfold|printed|corrected" doc:"rounds to come; 0 means the doubling trick, or with hundredfold the rounds so far"`
	// Sampler is how the set is drawn. The default is SampleAuto.
	Sampler Sampler `json:"sampler" words:"auto|enumerate|metropolis|heat-bath" doc:"all sets, a random walk of uniform swaps, or one with weighed swaps; auto means all sets up to 100000 of them, else metropolis"`
	// ChainSteps is R, the steps of the random walk per round, at most MaxChainSteps; 0 means 5000. It is of no account where sets are
	// enumerated.
	ChainSteps int `json:"chain_steps" range:">= 1 and <= 10000000" needs:"sampler=auto|metropolis|heat-bath" doc:"steps of the random walk per round"`
}

// Resolved returns p with the defaults that do not depend on B filled in: ChainSteps =
// 5000.
func (p RMPParams) Resolved() RMPParams {
	p.ChainSteps = cmp.Or(p.ChainSteps, 5000)
	return p
}

// resolved fills in all defaults, or returns an error if a parameter is not allowed.
func (p RMPParams) resolved(a, b int) (RMPParams, error) {
	p = p.Resolved()
	if p.M == 0 {
		p.M = min(2, b)
	}
	if err := checkShape("rmp", a, b, p); err != nil {
		return p, err
	}
	switch {
	case p.Eta < EtaHundredfold || p.Eta > EtaFixed:
		return p, fmt.Errorf("rmp: eta: %d is not allowed, want EtaHundredfold, EtaPrinted, EtaCorrected, EtaAnytime or EtaFixed", int(p.Eta))
	case p.Eta == EtaFixed && p.Rate == 0:
		return p, fmt.Errorf("rmp: rate: 0 is not allowed with eta %v, want %s", p.Eta, ranges.Of(p, "Rate").WithoutZero().Text())
	case p.Eta != EtaFixed && p.Rate != 0:
		return p, fmt.Errorf("rmp: rate: %v is not allowed with eta %v, want 0: it is for Fixed only", p.Rate, p.Eta)
	case p.Rounds > 0 && (p.Eta == EtaAnytime || p.Eta == EtaFixed):
		return p, fmt.Errorf("rmp: rounds: %d is not allowed with eta %v, want 0: it has no horizon", p.Rounds, p.Eta)
	}
	n := sets(b, p.M)
	switch p.Sampler {
	case SampleAuto:
		p.Sampler = SampleMetropolis
		if n <= MaxSets {
			p.Sampler = SampleEnumerate
		}
	case SampleEnumerate:
		if n > MaxSets {
			return p, fmt.Errorf("rmp: sampler: enumerate is not allowed for sets of %d of %d prototypes, of which there are more than %d", p.M, b, MaxSets)
		}
	case SampleMetropolis, SampleHeatBath:
	default:
		return p, fmt.Errorf("rmp: sampler: %d is not allowed, want SampleAuto, SampleEnumerate, SampleMetropolis or SampleHeatBath", int(p.Sampler))
	}
	return p, nil
}

// RMP is Randomized Map Prediction. With the costs C[i, j] of all rounds so far, it draws
//
//	w[i, j] = exp(−η·C[i, j]),  ω(S) = Πᵢ Σ_{j in S} w[i, j]
//	S of m prototypes with probability P(S) = ω(S)/Σ_{|S'| = m} ω(S')
//	π(i) = j in S with probability w[i, j]/Σ_{k in S} w[i, k],  independently for each i
//
// and predicts π. Source: Rakhlin, Abernethy, Bartlett, Online Discovery of Similarity Mappings, ICML 2007,
// Algorithms 1 and 2. A map with k < m prototypes is C(B−k, m−k) times as likely, beside one with m, as under the paper's Eq. 1: the law is
// exponential weights over pairs of a set and an assignment, not over maps. The bounds on the
// regret hold all the same, if P(S) is exact (SampleEnumerate), but none is for the default rate (see EtaHundredfold). A random walk starts from the set of the round before
// and draws from P(S) as nearly as its number of steps allows; Diagnostics help to see how nearly.
//
// The first map is uniform over these pairs. Maps are drawn at construction and at the end of Step, never in
// Predict. StepSize of an outcome is the η with which the next map was drawn, Updated is true unless there is one map
// only, and Mistake is always false. Weights are kept as costs: nothing underflows, however many rounds there are.
//
// Memory is O(AB), or O(AB + C(B, m)) with Enumerate. All methods but Step may be
// called concurrently.
//
// The same on a page, without speed: [metriclab/pkg/learners/plain.RMP].
type RMP struct {
	p   RMPParams
	pcg *rand.PCG
	rng *rand.Rand

	t     weights
	round int // rounds learned from
	set   []int
	pi    []int

	law  *law // of the next map; nil unless sets are enumerated
	walk Diagnostics
}

var _ learners.Online[metric.CostRound, []int] = (*RMP)(nil)

// NewRMP returns an RMP for costs of a objects and b prototypes, which draws from src and owns it
// from then on. It returns an error unless a ≥ 1, 1 ≤ b < 2³¹, a·b costs and weights fit limits.Memory
// and the parameters are allowed, and panics if src is nil.
func NewRMP(src *rand.PCG, a, b int, p RMPParams) (*RMP, error) {
	if src == nil {
		panic("mapping: NewRMP: the source is nil")
	}
	p, err := p.resolved(a, b)
	if err != nil {
		return nil, err
	}
	l := &RMP{p: p, pcg: src, rng: rand.New(src), t: newWeights(newCosts(a, b))}
	l.weigh()
	// All weights are 1, and with them all sets and maps equally likely.
	l.set = l.rng.Perm(b)[:p.M]
	slices.Sort(l.set)
	l.pi = make([]int, a)
	l.t.drawMap(l.pi, l.set, l.rng)
	return l, nil
}

// eta returns the learning rate with which the next map is drawn.
func (l *RMP) eta() float64 {
	if l.p.Eta == EtaFixed {
		return l.p.Rate
	}
	t := l.p.Rounds
	switch {
	case l.p.Eta == EtaAnytime, l.p.Eta == EtaHundredfold && t == 0:
		t = l.round + 1
	case t == 0:
		t = epochLength(l.round)
	}
	switch l.p.Eta {
	case EtaHundredfold:
		return 100 * PrintedEta(l.t.a, l.t.b, l.p.M, t)
	case EtaPrinted:
		return PrintedEta(l.t.a, l.t.b, l.p.M, t)
	}
	return CorrectedEta(l.t.a, l.t.b, l.p.M, t)
}

// doubling reports whether costs are forgotten at the start of epochs.
func (p RMPParams) doubling() bool {
	return (p.Eta == EtaPrinted || p.Eta == EtaCorrected) && p.Rounds == 0
}

// epochLength returns the length of the epoch of the round that comes after the given number of
// rounds: epochs of 1, 2, 4, ... rounds start after 0, 1, 3, ... of them.
func epochLength(rounds int) int { return 1 << (bits.Len(uint(rounds)+1) - 1) }

// age returns for how many of the given number of rounds costs have not been forgotten.
func age(p RMPParams, rounds int) int {
	if p.doubling() {
		return rounds + 1 - epochLength(rounds)
	}
	return rounds
}

// weigh computes the weights of the next map, and their law if sets are enumerated.
func (l *RMP) weigh() {
	l.t.set(l.eta())
	if l.p.Sampler == SampleEnumerate {
		l.law = newLaw(&l.t, l.p.M)
	}
}

// draw draws the next map.
func (l *RMP) draw() {
	switch {
	case l.law != nil:
		l.set = l.law.draw(l.rng)
	case l.p.M == l.t.b: // one set only
	default:
		c := newChain(&l.t, l.set)
		c.trace = l.walk.LogOmega[:0]
		var walk interface{ step(*rand.Rand) } = newMetropolis(c)
		if l.p.Sampler == SampleHeatBath {
			walk = newHeatBath(c)
		}
		for range l.p.ChainSteps {
			walk.step(l.rng)
		}
		l.walk = Diagnostics{Steps: l.p.ChainSteps, Moves: c.moves, LogOmega: c.trace}
		slices.Sort(c.set)
		l.set = c.set
	}
	l.t.drawMap(l.pi, l.set, l.rng)
}

// made returns l, and panics unless a constructor made it.
func (l *RMP) made() *RMP {
	if l == nil || l.rng == nil {
		panic("mapping: RMP: zero value, use NewRMP")
	}
	return l
}

// Dims returns A and B.
func (l *RMP) Dims() (a, b int) { return l.made().t.a, l.t.b }

// Params returns the parameters with all defaults filled in, Auto replaced by the sampler it chose.
func (l *RMP) Params() RMPParams { return l.made().p }

// Eta returns the learning rate with which the current map was drawn. It is 0 only where
// there is one map.
func (l *RMP) Eta() float64 { return l.made().t.eta }

// Set returns the m prototypes among which the current map chooses, in ascending order.
func (l *RMP) Set() []int { return slices.Clone(l.made().set) }

// Predict returns the current map, the prototype of each object. It takes no account of f.
func (l *RMP) Predict(metric.CostRound) []int { return slices.Clone(l.made().pi) }

// Loss returns the sum of the costs that the current map assigns. It panics unless the
// costs are A×B and those it adds are numbers from 0 to 1.
func (l *RMP) Loss(f metric.CostRound) float64 { return l.made().t.loss(f, l.pi) }

// ExpectedLoss returns the expectation of Loss over the draw of the current map, and true. Where
// sets are not enumerated (see Sampler) it returns 0 and false. It takes O(C(B, m)·A), and panics unless the costs are
// A×B with entries from 0 to 1.
func (l *RMP) ExpectedLoss(f metric.CostRound) (float64, bool) {
	l.made()
	demand(l.t.check(f))
	if l.law == nil {
		return 0, false
	}
	return l.law.expectedLoss(f), true
}

// Sets returns all sets of m prototypes in lexicographic order with their probabilities P(S) in
// the draw of the current map, or nil where sets are not enumerated. It is valid until the next Step.
func (l *RMP) Sets() iter.Seq2[[]int, float64] {
	l.made()
	if l.law == nil {
		return nil
	}
	return func(yield func([]int, float64) bool) {
		for k, p := range l.law.p {
			if !yield(l.law.unrank(k), p) {
				return
			}
		}
	}
}

// MapProbability returns the probability with which the current map was pi, and true, or 0 and
// false where sets are not enumerated. It panics unless pi has A entries from 0 to B−1.
func (l *RMP) MapProbability(pi []int) (float64, bool) {
	l.made()
	if len(pi) != l.t.a || slices.ContainsFunc(pi, func(j int) bool { return j < 0 || j >= l.t.b }) {
		panic(fmt.Sprintf("mapping: map %v, want %d prototypes from 0 to %d", pi, l.t.a, l.t.b-1))
	}
	if l.law == nil {
		return 0, false
	}
	return l.law.mapProbability(pi), true
}

// Diagnostics describe the random walk of the last Step: they are empty before the first one, where sets
// are enumerated, and after loading. LogOmega is valid until the next Step.
func (l *RMP) Diagnostics() Diagnostics { return l.made().walk }

// LogWeights returns a snapshot of −η·C, A×B: the logarithms of the weights with which the
// current map was drawn.
func (l *RMP) LogWeights() mat.Matrix { return l.made().t.scaled(-l.t.eta) }

// Step predicts, suffers the loss, adds the costs and draws the next map. It returns an error,
// and changes nothing, unless f is A×B with entries from 0 to 1.
func (l *RMP) Step(f metric.CostRound) (learners.MapOutcome, error) {
	l.made()
	if err := l.t.check(f); err != nil {
		return learners.MapOutcome{}, fmt.Errorf("rmp: %w", err)
	}
	o := learners.MapOutcome{Prediction: l.Predict(f), Loss: l.Loss(f)}
	l.t.add(f)
	l.round++
	if l.p.doubling() && age(l.p, l.round) == 0 {
		clear(l.t.sum)
	}
	l.weigh()
	l.draw()
	o.StepSize, o.Updated = l.t.eta, l.t.eta > 0
	return o, nil
}

// rmpState is what Save writes beside the parameters.
type rmpState struct {
	Objects int            `json:"objects"`
	Round   int            `json:"round"`
	Costs   persist.Floats `json:"costs"` // by prototypes
	Set     []int          `json:"set"`
	Map     []int          `json:"map"`
	PCG     []byte         `json:"pcg"`
}

// Save writes the learner in the format of package persist, kind "mapping/rmp". A learner loaded
// from it continues bit for bit.
func (l *RMP) Save(w io.Writer) error {
	l.made()
	pcg, err := l.pcg.MarshalBinary()
	if err != nil {
		return fmt.Errorf("rmp: %w", err)
	}
	return persist.Write(w, RMPKind, l.p, rmpState{l.t.a, l.round, l.t.sum, l.set, l.pi, pcg})
}

// LoadRMP reads a learner that Save wrote. Its errors wrap those of package
// persist if the file is foreign, newer, damaged or of another kind.
func LoadRMP(r io.Reader) (*RMP, error) {
	var p RMPParams
	var s rmpState
	if err := persist.Load(r, RMPKind, &p, &s); err != nil {
		return nil, err
	}
	l, err := s.learner(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, RMPKind, err)
	}
	return l, nil
}

func (s rmpState) learner(p RMPParams) (*RMP, error) {
	c, err := shapeOf(s.Objects, s.Costs)
	if err != nil {
		return nil, err
	}
	if q, err := p.resolved(c.a, c.b); err != nil || p != q {
		return nil, fmt.Errorf("params: %+v are not those of a learner (error %v)", p, err)
	}
	if s.Round < 0 || s.Round >= MaxRounds {
		return nil, fmt.Errorf("round: %d is not allowed, want 0 to %d", s.Round, int64(MaxRounds-1))
	}
	if err := errors.Join(c.checkState(age(p, s.Round)), checkSet(s.Set, p.M, c.b), checkMap(s.Map, c.a, s.Set)); err != nil {
		return nil, err
	}
	l := &RMP{p: p, pcg: new(rand.PCG), t: newWeights(c), round: s.Round, set: s.Set, pi: s.Map}
	if err := l.pcg.UnmarshalBinary(s.PCG); err != nil {
		return nil, fmt.Errorf("pcg: %w", err)
	}
	l.rng = rand.New(l.pcg)
	l.weigh()
	return l, nil
}
