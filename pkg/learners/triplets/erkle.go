package triplets

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/spectral"
)

// ERKLEVersion counts the changes of the values that ERKLE computes, and ERKLELargeVersion those with 2,048 objects or more.
const (
	ERKLEVersion      = 3
	ERKLELargeVersion = 5
)

// MaxBeta bounds the updates per round.
const MaxBeta = 1_000_000

// ERKLEKind is the kind under which package persist stores an ERKLE.
const ERKLEKind = "triplets/erkle"

// MaxStep bounds Delta, Margin, Trace, the entries of Initial and the magnitude of every
// step: a longer one is rejected. So many rounds as there can be do not overflow.
const MaxStep = 1e100

// StepRule says how long the step of ERKLE's update j is (Heim et al. 2015, Section 4.3). With f the
// derivative of the loss with respect to D, the kernel changes by −γG, γ = δ_j·f.
type StepRule int

// The step rules.
const (
	// StepPassiveAggressive: the least γ ≥ 0 after which, before the projection, the triplet
	// is satisfied by the margin, D = −κ (Eq. 4.18), or with the probability P (Eq. 4.20).
	StepPassiveAggressive StepRule = iota
	// StepConstant: δ_j = Delta.
	StepConstant
	// StepInverseSqrt: δ_j = Delta/√j.
	StepInverseSqrt
	// StepInverse: δ_j = Delta/j.
	StepInverse
)

var stepRuleNames = enum.Of[StepRule]("StepRule(%d)", "pa", "constant", "inverse-sqrt", "inverse")

// String returns "pa", "constant", "inverse-sqrt" or "inverse".
func (r StepRule) String() string { return stepRuleNames.Text(r) }

// MarshalText returns String.
func (r StepRule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what String returns of the four rules.
func (r *StepRule) UnmarshalText(text []byte) error { return stepRuleNames.Unmarshal(r, text) }

// Projection says how the negative eigenpair of K − γG is found. The kernels are the same
// up to round-off.
type Projection int

// The ways to project.
const (
	// ProjectStructured: certificates that there is none, and else the pair alone.
	ProjectStructured Projection = iota
	// ProjectPrintedRule: none is sought while the paper's bound λ̂ on the smallest eigenvalue
	// (Section 4.2) is not negative, and else the smallest pair of the dense matrix.
	ProjectPrintedRule
	// ProjectDense: by a full eigendecomposition of the dense matrix at each update. It is
	// the reference for the others.
	ProjectDense
)

var projectionNames = enum.Of[Projection]("Projection(%d)", "structured", "printed-rule", "dense")

// String returns "structured", "printed-rule" or "dense".
func (p Projection) String() string { return projectionNames.Text(p) }

// MarshalText returns String.
func (p Projection) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what String returns of the three.
func (p *Projection) UnmarshalText(text []byte) error { return projectionNames.Unmarshal(p, text) }

// ERKLEParams are the parameters of ERKLE. The zero value is the paper's PA-ERKLE.
type ERKLEParams struct {
	// Loss is GNMDS, the default, or STE.
	Loss Loss `json:"loss" words:"gnmds|ste" doc:"hinge or logistic loss of the difference of squared distances"`
	// Own, if not nil, is a loss of the user's own in place of Loss, which is then GNMDS, its zero value. A
	// passive-aggressive step aims at D = −Margin where its slope is not 0. Save refuses a learner with it.
	Own OwnLoss `json:"-"`
	// Step is the step rule. The default is StepPassiveAggressive.
	Step StepRule `json:"step" words:"pa|constant|inverse|inverse-sqrt" doc:"length of the step: passive-aggressive, delta, delta/j, or delta/sqrt(j) in round j"`
	// Delta is the factor of the step, greater than 0 and at most MaxStep; 0 means 1. It
	// is of no account for StepPassiveAggressive.
	Delta float64 `json:"delta" range:"> 0 and <= 1e100" needs:"step=constant|inverse|inverse-sqrt" doc:"factor of the step"`
	// Margin is the margin κ of GNMDS, greater than 0 and at most MaxStep; 0 means 1.
	Margin float64 `json:"margin" range:"> 0 and <= 1e100" needs:"loss=gnmds" doc:"margin of the hinge loss"`
	// P is the probability that StepPassiveAggressive steps of STE aim at, greater than ½
	// and less than 1; 0 means e/(1+e), with which κ = log(P/(1−P)) is 1.
	P float64 `json:"p" range:"> 0.5 and < 1" needs:"loss=ste and step=pa" doc:"probability of the last comparison after a passive-aggressive step"`
	// Beta is the number of updates per round (Algorithm 2), at most MaxBeta; 0 means 1. With more than
	// one, all triplets are kept.
	Beta int `json:"beta" range:">= 1 and <= 1000000" doc:"steps per round, all but one of them on earlier comparisons, drawn at random"`
	// Gradient is the form of G. The default is GradientPrinted.
	Gradient Gradient `json:"gradient" words:"printed|frobenius" doc:"gradient matrix as printed, or that in the Frobenius inner product"`
	// Initial is K₀, n×n and positive semi-definite, which is copied; nil means I. It is
	// not among the parameters that are saved: the kernel is.
	Initial mat.Symmetric `json:"-"`
	// Trace is τ of the trace penalty, from 0 to MaxStep. Every update with a positive γ is followed by the
	// proximal step of δτ·trace, with δ = γ for StepPassiveAggressive: all eigenvalues
	// fall by δτ (at most MaxStep), and those below it to 0. ProjectPrintedRule is not for it.
	Trace float64 `json:"trace" range:">= 0 and <= 1e100" doc:"weight of the trace of the kernel beside the loss"`
	// TraceRule is how far the eigenvalues fall. The default is TraceFixed; the others are for Trace 0.
	TraceRule TraceRule `json:"trace_rule,omitempty"`
	// Draws is which earlier triplets the updates after the first draw, if Beta > 1. The default is DrawUniform.
	Draws Draws `json:"draws,omitempty"`
	// Reject is the largest magnitude γ of an update: a triplet that conflicts more is left out.
	// It is greater than 0 and at most MaxStep; 0 means that. A passive-aggressive update from a tie has γ = κ/10 (κ/6 for
	// Frobenius): with no more than that, all triplets are left out from K = I on.
	Reject float64 `json:"reject" range:"> 0 and <= 1e100" default:"0" doc:"largest step that is made; 0 means any"`
	// Projection is how the kernel is kept positive semi-definite. The default is ProjectStructured.
	Projection Projection `json:"projection"`
	// Seed is the origin of the draws of Algorithm 2.
	Seed uint64 `json:"seed" default:"1" doc:"origin of the draws"`
}

// Resolved returns p with its defaults filled in: Delta = 1, Margin = 1, P = e/(1+e), Beta
// = 1, Reject = MaxStep.
func (p ERKLEParams) Resolved() ERKLEParams {
	p.Delta = cmp.Or(p.Delta, 1)
	p.Margin = cmp.Or(p.Margin, 1)
	p.P = cmp.Or(p.P, math.E/(1+math.E))
	p.Beta = cmp.Or(p.Beta, 1)
	p.Reject = cmp.Or(p.Reject, MaxStep)
	return p
}

// check returns an error unless the resolved parameters are allowed, Initial apart.
func (p ERKLEParams) check() error {
	if err := ranges.Check("erkle", p); err != nil {
		return err
	}
	switch {
	case p.Loss != GNMDS && p.Loss != STE:
		return fmt.Errorf("erkle: loss: %v is not allowed, want GNMDS or STE", p.Loss)
	case p.Own != nil && p.Loss != GNMDS:
		return fmt.Errorf("erkle: loss: %v is not allowed with a loss of your own, want none, the zero value", p.Loss)
	case p.Step < StepPassiveAggressive || p.Step > StepInverse:
		return fmt.Errorf("erkle: step: %v is not allowed, want StepPassiveAggressive, StepConstant, StepInverseSqrt or StepInverse", p.Step)
	case p.Gradient != GradientPrinted && p.Gradient != GradientFrobenius:
		return fmt.Errorf("erkle: gradient: %v is not allowed, want GradientPrinted or GradientFrobenius", p.Gradient)
	case p.Projection < ProjectStructured || p.Projection > ProjectDense:
		return fmt.Errorf("erkle: projection: %v is not allowed, want ProjectStructured, ProjectPrintedRule or ProjectDense", p.Projection)
	case p.TraceRule < TraceFixed || p.TraceRule > TraceShare:
		return fmt.Errorf("erkle: trace rule: %v is not allowed, want TraceFixed, TraceBudget or TraceShare", p.TraceRule)
	case p.TraceRule != TraceFixed && p.Trace > 0:
		return fmt.Errorf("erkle: trace: %v is not allowed with the rule %v, want 0", p.Trace, p.TraceRule)
	case p.Draws != DrawUniform && p.Draws != DrawSeldom:
		return fmt.Errorf("erkle: draws: %v is not allowed, want DrawUniform or DrawSeldom", p.Draws)
	case p.traced() && p.Projection == ProjectPrintedRule:
		return fmt.Errorf("erkle: projection: %v is not allowed with a trace penalty, want ProjectStructured or ProjectDense", p.Projection)
	}
	return nil
}

// target is κ: D is to be at most −κ.
func (p ERKLEParams) target() float64 {
	if p.Loss == STE {
		return math.Log(p.P) - math.Log1p(-p.P)
	}
	return p.Margin
}

// ERKLEStats count what an ERKLE did. Their unit is the update: one per round, and β once
// there are more than 2β rounds.
type ERKLEStats struct {
	Steps     int `json:"steps"`     // updates tried
	Active    int `json:"active"`    // of them, those with γ > 0, not rejected
	Rejected  int `json:"rejected"`  // of them, those longer than Reject
	Projected int `json:"projected"` // negative eigenpairs removed
	// By counts the active updates by what showed that there is no negative
	// eigenpair, or that one was computed.
	By [certificates]int `json:"by"`
}

// ERKLE learns a kernel K from relative comparisons, one at a time. The round with triplet t does
//
//	K' = K − γG(t),  K ← K' − min(0, λ)·vvᵀ
//
// with G of Eq. 4.10 (or the Frobenius gradient of D), γ = δ_j·f(K, t) by the step rule, and (λ, v) the smallest eigenpair
// of K'. By Theorem 4.1 K' has at most one negative eigenvalue, and K is the positive semi-definite matrix
// nearest to K'. f is 1 if D + margin > 0 and else 0 for GNMDS, and 1 − p = 1/(1 + exp(−D)) for STE. The
// passive-aggressive steps are
//
//	γ = max(0, D + κ)/10   (/6 with the Frobenius gradient)
//
// with κ the margin or log(P/(1−P)). Source: Heim, Berger, Seversky, Hauskrecht, Efficient Online Relative Comparison Kernel
// Learning, SDM 2015, Algorithms 1 and 2, Eqs. 4.9–4.20. The inequality of Eq. 4.13 is inverted there, and here it is
// not. With β > 1, every round j > 2β is followed by β−1 updates on triplets drawn from all so far (Algorithm
// 2) with δ_{j+1}, δ_{j+2}, ..., each with the gradient at the current kernel, where line 8 prints a stale one.
//
// A trace penalty, not in the paper, is an exact forward-backward step on the loss of t plus τ·trace(K): see Trace. A step longer
// than Reject is not made.
//
// With Own, f is the slope of that loss. Step, Loss and Predict are as described, and panic if the loss breaks its promise.
//
// In an Outcome StepSize is the sum of the magnitudes γ of the round's updates, Projections counts
// the eigenpairs they removed, and Mistake is D ≥ 0, so that a tie is one. Loss is that of the parameter Loss.
//
// All methods but Step may be called concurrently.
//
// The same on a page, without speed: [metriclab/pkg/learners/plain.ERKLE].
type ERKLE struct {
	p     ERKLEParams
	kappa float64
	n     int
	k     cone

	budget  float64 // the trace of K₀, if TraceRule is TraceBudget
	round   int
	history []metric.Triplet // all triplets, if Beta > 1
	seldom  *seldom          // how often each was drawn, if also Draws is DrawSeldom
	pcg     *rand.PCG
	rng     *rand.Rand
	stats   ERKLEStats
}

var _ learners.Online[metric.Triplet, learners.TripletPrediction] = (*ERKLE)(nil)

// NewERKLE returns an ERKLE for n objects. It returns an error unless n ≥ 1, the n×n matrices to which it may
// grow, three for ProjectStructured and five for the others, fit limits.Memory, and the parameters are allowed. The error about an Initial that is not positive semi-definite wraps
// metric.ErrNotPSD and names its smallest eigenvalue.
func NewERKLE(n int, p ERKLEParams) (*ERKLE, error) {
	if n < 1 {
		return nil, fmt.Errorf("erkle: n: %d is not allowed, want at least 1 object", n)
	}
	p = p.Resolved()
	if err := p.check(); err != nil {
		return nil, err
	}
	matrices := 3
	if p.Projection != ProjectStructured {
		matrices = 5 // K, a copy, and an eigendecomposition
	}
	if err := limits.Check(fmt.Sprintf("ERKLE with %d objects", n), limits.Floats(matrices, n, n)); err != nil {
		return nil, fmt.Errorf("erkle: n: %w", err)
	}
	if matrix.IsNil(p.Initial) {
		p.Initial = nil // not a nil pointer
	}
	least := 1.0
	if p.Initial != nil {
		var err error
		if least, err = checkInitial(n, p.Initial); err != nil {
			return nil, err
		}
	}
	l := newERKLE(n, p)
	l.pcg = rand.NewPCG(p.Seed, 0)
	l.rng = rand.New(l.pcg)
	switch {
	case p.Projection == ProjectStructured && p.traced():
		l.k = newFactored(n, p.Initial)
	case p.Projection == ProjectStructured:
		l.k = newStructured(n, p.Initial)
	default:
		l.k = newDense(n, p.Initial, p.Projection == ProjectPrintedRule, least)
	}
	if p.TraceRule == TraceBudget {
		l.budget = l.k.(shrinker).trace()
	}
	l.p.Initial = nil
	return l, nil
}

func newERKLE(n int, p ERKLEParams) *ERKLE {
	l := &ERKLE{p: p, kappa: p.target(), n: n}
	if p.Beta > 1 && p.Draws == DrawSeldom {
		l.seldom = newSeldom(nil)
	}
	return l
}

// checkInitial returns the smallest eigenvalue of k, or an error unless k is n×n and positive
// semi-definite up to round-off (metric.PSDTolerance), with entries of magnitude at most MaxStep.
func checkInitial(n int, k mat.Symmetric) (float64, error) {
	if got := k.SymmetricDim(); got != n {
		return 0, fmt.Errorf("erkle: initial: is %d×%d, want %d×%d", got, got, n, n)
	}
	for i := range n {
		for j := i; j < n; j++ {
			if v := k.At(i, j); !(math.Abs(v) <= MaxStep) {
				return 0, fmt.Errorf("erkle: initial: row %d, column %d: %v is not allowed, want a number of magnitude at most %v", i, j, v, MaxStep)
			}
		}
	}
	var e spectral.EigenSym
	if !e.Factorize(k, false) {
		return 0, fmt.Errorf("erkle: initial: its eigenvalues were not found")
	}
	v := e.Values(nil)
	if v[0] < -metric.PSDTolerance*v[n-1] || v[n-1] < 0 {
		return 0, fmt.Errorf("erkle: initial: is %w, its smallest eigenvalue is %v", metric.ErrNotPSD, v[0])
	}
	return v[0], nil
}

// made returns l, and panics unless a constructor made it.
func (l *ERKLE) made() *ERKLE {
	if l == nil || l.k == nil {
		panic("triplets: ERKLE: zero value, use NewERKLE")
	}
	return l
}

// Objects returns n: objects are numbered from 0 to n−1.
func (l *ERKLE) Objects() int { return l.made().n }

// Params returns the parameters with all defaults filled in, without Initial.
func (l *ERKLE) Params() ERKLEParams { return l.made().p }

// Stats returns the counts so far.
func (l *ERKLE) Stats() ERKLEStats { return l.made().stats }

// Kernel returns a snapshot of K, a *mat.SymDense, which later steps do not change.
func (l *ERKLE) Kernel() mat.Symmetric { return l.made().k.kernel() }

// Predict returns d²(A, Near) and d²(A, Far), which are 0 where round-off makes them negative. It
// panics unless A, Near and Far are objects. They may coincide, which Step refuses.
func (l *ERKLE) Predict(t metric.Triplet) learners.TripletPrediction {
	if err := checkObjects(l.made().n, t); err != nil {
		panic(err.Error())
	}
	return learners.TripletPrediction{SqNear: l.sqDist(t.A, t.Near), SqFar: l.sqDist(t.A, t.Far)}
}

func (l *ERKLE) sqDist(i, j int) float64 {
	return max(0, l.k.at(i, i)+l.k.at(j, j)-2*l.k.at(i, j))
}

// Loss returns max(0, D + margin) or log(1 + exp D). It panics like Predict.
//
// With Own it is that loss.
func (l *ERKLE) Loss(t metric.Triplet) float64 { return l.made().loss(t, difference(l.Predict(t))) }

// difference returns D.
func difference(p learners.TripletPrediction) float64 { return p.SqNear - p.SqFar }

func (l *ERKLE) loss(t metric.Triplet, d float64) float64 {
	if l.p.Own != nil {
		return ownLoss(l.p.Own, t, d)
	}
	if l.p.Loss == STE {
		return max(0, d) + math.Log1p(math.Exp(-math.Abs(d)))
	}
	return max(0, d+l.p.Margin)
}

// magnitude returns γ of update j, and the factor δ_j of it, for a triplet with difference d.
func (l *ERKLE) magnitude(j int, t metric.Triplet, d float64) (gamma, delta float64) {
	delta = l.p.Delta
	var slope float64
	if l.p.Own != nil {
		slope = ownSlope(l.p.Own, t, d)
	}
	switch l.p.Step {
	case StepPassiveAggressive:
		if l.p.Own != nil && slope == 0 {
			return 0, 0
		}
		gamma = max(0, d+l.kappa) / l.p.Gradient.drop()
		return gamma, gamma
	case StepInverseSqrt:
		delta /= math.Sqrt(float64(j))
	case StepInverse:
		delta /= float64(j)
	}
	if l.p.Own != nil {
		return delta * slope, delta
	}
	if l.p.Loss == STE {
		return delta / (1 + math.Exp(-d)), delta
	}
	if d+l.p.Margin > 0 {
		return delta, delta
	}
	return 0, delta
}

// Step predicts, suffers the loss and updates the kernel. It returns an error, and changes
// nothing, unless t compares three objects, Near and Far different from each other and from A,
// or if the history that Beta > 1 needs no longer fits limits.Memory.
func (l *ERKLE) Step(t metric.Triplet) (learners.TripletOutcome, error) {
	l.made()
	if err := Check(l.n, t); err != nil {
		return learners.TripletOutcome{}, err
	}
	size := 24 // bytes per triplet
	if l.seldom != nil {
		size += 8
	}
	if bytes := limits.Product(size, len(l.history)); bytes > limits.Memory() {
		return learners.TripletOutcome{}, limits.Check(fmt.Sprintf("erkle: a history of %d triplets", len(l.history)), bytes)
	}
	o := learners.TripletOutcome{Prediction: l.Predict(t)}
	d := difference(o.Prediction)
	o.Loss, o.Mistake = l.loss(t, d), d >= 0
	removed := l.stats.Projected
	l.round++
	o.StepSize = l.update(l.round, t)
	if l.p.Beta > 1 {
		l.history = append(l.history, t)
		if l.seldom != nil {
			l.seldom.add()
		}
		if l.round-l.p.Beta > l.p.Beta {
			for k := 1; k < l.p.Beta; k++ {
				o.StepSize += l.update(l.round+k, l.history[l.drawn()])
			}
		}
	}
	o.Updated = o.StepSize > 0
	o.Projections = l.stats.Projected - removed
	return o, nil
}

// drawn returns the number of an earlier triplet.
func (l *ERKLE) drawn() int {
	if l.seldom != nil {
		return l.seldom.draw(l.rng)
	}
	return l.rng.IntN(len(l.history))
}

// update makes the update j on t and returns its magnitude, 0 if there was none.
func (l *ERKLE) update(j int, t metric.Triplet) float64 {
	l.stats.Steps++
	gamma, delta := l.magnitude(j, t, difference(l.Predict(t)))
	switch {
	case gamma == 0:
		return 0
	case gamma > l.p.Reject:
		l.stats.Rejected++
		return 0
	}
	var a addition
	if l.p.traced() {
		a = l.k.(shrinker).addShrink(t, gamma, l.p.Gradient, l.shrinkage(j, delta))
	} else {
		a = l.k.add(t, gamma, l.p.Gradient)
	}
	l.stats.Active++
	l.stats.Projected += a.removed
	l.stats.By[a.certificate]++
	return gamma
}

// stateVersion counts the changes of erkleState. Files of an earlier one are refused: their kernels had slacks and
// components, and their counts a certificate more.
const stateVersion = 2

// erkleState is what Save writes beside the parameters.
type erkleState struct {
	Version int        `json:"version"`
	Objects int        `json:"objects"`
	Round   int        `json:"round"`
	History []int      `json:"history,omitempty"` // a, near, far of each triplet
	Times   []int      `json:"times,omitempty"`   // how often each was drawn, if Draws is DrawSeldom
	Budget  float64    `json:"budget,omitempty"`  // the trace of K₀, if TraceRule is TraceBudget
	PCG     []byte     `json:"pcg"`
	Stats   ERKLEStats `json:"stats"`

	// The kernel, in the one form that goes with the parameters.
	Dense      *denseState      `json:"dense,omitempty"`
	Factored   *factoredState   `json:"factored,omitempty"`
	Structured *structuredState `json:"structured,omitempty"`
}

// Save writes the learner in the format of package persist, kind "triplets/erkle". A learner loaded from it
// continues bit for bit. One with a loss of the user's own, which is code, is not saved: the error says so.
func (l *ERKLE) Save(w io.Writer) error {
	if l.made().p.Own != nil {
		return fmt.Errorf("erkle: own: a learner with a loss of your own (%T) is not saved, since a file holds no code: save its Kernel, and give that to a new learner as Initial", l.p.Own)
	}
	pcg, err := l.pcg.MarshalBinary()
	if err != nil {
		return fmt.Errorf("erkle: %w", err)
	}
	s := erkleState{Version: stateVersion, Objects: l.n, Round: l.round, Budget: l.budget, PCG: pcg, Stats: l.stats}
	if l.seldom != nil {
		s.Times = l.seldom.times
	}
	for _, t := range l.history {
		s.History = append(s.History, t.A, t.Near, t.Far)
	}
	switch k := l.k.(type) {
	case *dense:
		s.Dense = k.state()
	case *factored:
		s.Factored = k.state()
	case *structured:
		s.Structured = k.state()
	}
	return persist.Write(w, ERKLEKind, l.p, s)
}

// LoadERKLE reads a learner that Save wrote. Its errors wrap those of package persist if the file is
// foreign, newer, damaged or of another kind. A file of an earlier version of the learner is refused.
func LoadERKLE(r io.Reader) (*ERKLE, error) {
	e, err := persist.Read(r)
	if err != nil {
		return nil, err
	}
	if err := e.Expect(ERKLEKind); err != nil {
		return nil, err
	}
	var found struct{ Version int }
	switch err := json.Unmarshal(e.State, &found); {
	case err == nil && found.Version > stateVersion:
		return nil, fmt.Errorf("%s: %w: version %d of its state, this program reads %d", ERKLEKind, persist.ErrNewer, found.Version, stateVersion)
	case err == nil && found.Version < stateVersion:
		return nil, fmt.Errorf("%s: written by an earlier metriclab, which kept its kernel in another form: give the triplets to a new learner", ERKLEKind)
	}
	var p ERKLEParams
	var s erkleState
	if err := e.Decode(&p, &s); err != nil {
		return nil, fmt.Errorf("%w: %w", persist.ErrDamaged, err)
	}
	l, err := s.learner(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, ERKLEKind, err)
	}
	return l, nil
}

func (s erkleState) learner(p ERKLEParams) (*ERKLE, error) {
	if p != p.Resolved() {
		return nil, fmt.Errorf("params: %+v are not those of a learner", p)
	}
	if s.Round < 0 || s.Round > maxRounds {
		return nil, fmt.Errorf("round: %d is not allowed, want 0 to %d", s.Round, maxRounds)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if s.Objects < 1 {
		return nil, fmt.Errorf("objects: %d is not allowed, want at least 1", s.Objects)
	}
	l := newERKLE(s.Objects, p)
	l.round, l.stats, l.pcg = s.Round, s.Stats, new(rand.PCG)
	if err := l.pcg.UnmarshalBinary(s.PCG); err != nil {
		return nil, fmt.Errorf("pcg: %w", err)
	}
	l.rng = rand.New(l.pcg)
	if err := s.checkCounts(p); err != nil {
		return nil, err
	}
	for i := 0; i < len(s.History); i += 3 {
		t := metric.Triplet{A: s.History[i], Near: s.History[i+1], Far: s.History[i+2]}
		if err := Check(s.Objects, t); err != nil {
			return nil, fmt.Errorf("history: triplet %d: %w", i/3, err)
		}
		l.history = append(l.history, t)
	}
	if err := s.checkRules(p); err != nil {
		return nil, err
	}
	if l.budget = s.Budget; l.seldom != nil {
		l.seldom = newSeldom(slices.Clone(s.Times))
	}
	var err error
	if l.k, err = s.cone(p); err != nil {
		return nil, err
	}
	return l, nil
}

// cone returns the kernel that was saved.
func (s erkleState) cone(p ERKLEParams) (cone, error) {
	traced, structured := p.Projection == ProjectStructured && p.traced(), p.Projection == ProjectStructured && !p.traced()
	if traced != (s.Factored != nil) || structured != (s.Structured != nil) || (traced || structured) == (s.Dense != nil) {
		return nil, errors.New("the kernel is not in the form of the parameters")
	}
	switch {
	case traced:
		return s.Factored.cone(s.Objects)
	case structured:
		return s.Structured.cone(s.Objects, ablation{})
	}
	return s.Dense.cone(s.Objects, p.Projection == ProjectPrintedRule)
}

// checkRules returns an error unless what the rules of traces and draws keep fits them. Counts have been checked.
func (s erkleState) checkRules(p ERKLEParams) error {
	if p.TraceRule == TraceBudget {
		if most := float64(s.Objects) * MaxStep; !(s.Budget >= 0 && s.Budget <= most) {
			return fmt.Errorf("budget: %v is not allowed, want 0 to %v", s.Budget, most)
		}
	} else if s.Budget != 0 {
		return fmt.Errorf("budget: %v is not allowed, want none", s.Budget)
	}
	if p.Beta > 1 && p.Draws == DrawSeldom {
		return checkTimes(s.Times, s.Round, s.Stats.Steps-s.Round)
	}
	return checkTimes(s.Times, 0, 0)
}

// maxRounds bounds the rounds that a file can hold, so that counts do not overflow.
const maxRounds = 1 << 53

// checkCounts returns an error unless rounds, history and stats agree.
func (s erkleState) checkCounts(p ERKLEParams) error {
	history := 0
	if p.Beta > 1 {
		history = 3 * s.Round
	}
	if len(s.History) != history {
		return fmt.Errorf("history: %d numbers, want %d for %d rounds", len(s.History), history, s.Round)
	}
	steps := s.Round
	if p.Beta > 1 && s.Round/2 >= p.Beta {
		steps += (p.Beta - 1) * (s.Round - 2*p.Beta)
	}
	if s.Stats.Steps != steps {
		return fmt.Errorf("stats: steps: %d, want %d for %d rounds", s.Stats.Steps, steps, s.Round)
	}
	by := 0
	for _, c := range append(s.Stats.By[:], s.Stats.Rejected, s.Stats.Projected) {
		if c < 0 || c > steps {
			return fmt.Errorf("stats: %+v: want counts from 0 to %d", s.Stats, steps)
		}
	}
	for _, c := range s.Stats.By {
		by += c
	}
	if s.Stats.Active != by || by+s.Stats.Rejected > steps || s.Stats.Projected > by {
		return fmt.Errorf("stats: %+v do not add up", s.Stats)
	}
	return nil
}
