package pairs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// allPA are the eight learners of the paper and of plain PA, with parameters that
// differ from the defaults.
func allPA() []PAParams {
	var out []PAParams
	for _, r := range []PARule{PlainPA, PAI, PAII, PALS} {
		for _, psd := range []PSD{PSDEachStep, PSDAtEnd} {
			out = append(out, PAParams{Rule: r, C: 0.3, PSD: psd, B0: 0.5})
		}
	}
	return out
}

// tolerant are PA-LS that leave out updates, and learners that start at a matrix.
func tolerant() []PAParams {
	return []PAParams{
		{Rule: PAI, C: 0.3, PSD: PSDEachStep, B0: 2, M0: 0.7},
		{Rule: PALS, C: 0.3, PSD: PSDAtEnd, B0: 2, M0: 0.7},
		{Rule: PALS, C: 0.3, PSD: PSDEachStep, B0: 0.5, Tol: 0.4},
		{Rule: PALS, C: 0.3, PSD: PSDAtEnd, B0: 0.5, Tol: 0.4},
	}
}

// between are learners that project after some updates: each, a few, many.
func between() []PAParams {
	return []PAParams{
		{Rule: PAI, C: 0.3, PSD: PSDAtEnd, B0: 0.5, Every: 7},
		{Rule: PAII, C: 0.3, PSD: PSDAtEnd, B0: -3, Every: 1},
		{Rule: PALS, C: 0.3, PSD: PSDAtEnd, B0: 0.5, Every: 20, M0: 0.7},
	}
}

func (p PAParams) String() string {
	return fmt.Sprintf("rule=%v/psd=%v/c=%g/tol=%g/m0=%g/every=%d", p.Rule, p.PSD, p.C, p.Tol, p.M0, p.Every)
}

// everySecond chooses what -short tries of rules that each have two policies: each rule once,
// with one policy and the other in turn.
func everySecond(i int) bool { return (i+i/2)%2 == 0 }

// stepper is a learner of pairs in any representation.
type stepper interface {
	Step(f metric.Pair) (learners.PairOutcome, error)
}

func mustOutcome(t testing.TB, l stepper, f metric.Pair) learners.PairOutcome {
	t.Helper()
	o, err := l.Step(f)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestPAConformance(t *testing.T) {
	for i, p := range slices.Concat(allPA(), tolerant(), between(), []PAParams{{}, {Rule: PALS, PSD: PSDAtEnd, B0: -3}}) {
		if testing.Short() && !everySecond(i) {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			least := 1.0
			if p.PSD == PSDAtEnd {
				least = math.Inf(-1)
			}
			learnertest.Pairs[*PA]{
				New:          func(dim int) (*PA, error) { return NewPA(dim, p) },
				Load:         LoadPA,
				MinThreshold: least,
				Deferred:     p.PSD == PSDAtEnd,
			}.Run(t)
		})
	}
}

// plainPA is plain.PA with the parameters.
func plainPA(dim int, p PAParams) *plain.PA {
	l := plain.NewPA(dim, plainRate(p))
	for i := range dim {
		l.M.SetSym(i, i, p.M0)
	}
	l.B = p.B0
	if p.PSD == PSDAtEnd {
		l.Every = p.Every
	}
	return l
}

func plainRate(p PAParams) plain.Rate {
	switch p.Rule {
	case PAI:
		return plain.LinearRate(p.C)
	case PAII:
		return plain.SquaredRate(p.C)
	case PALS:
		full := plain.LeastSquaresRate(p.C)
		return func(s, n float64) float64 {
			if math.Abs(s) <= p.Tol {
				return 0
			}
			return full(s, n)
		}
	}
	return plain.HardRate
}

// All give the outcomes, M and b of plain.PA, in every
// representation: few dimensions, a core that grows and becomes dense, and data of
// low rank. What PSDAtEnd returns is the projection.
func TestPAIsPlain(t *testing.T) {
	for i, p := range slices.Concat(allPA(), tolerant(), between()) {
		if testing.Short() && p.Every == 0 && !everySecond(i) {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			most := 0
			for i, c := range []struct {
				dim    int
				rounds []metric.Pair
			}{
				{1, randomLabels(rand.New(rand.NewPCG(50, 1)), 1, 200)},
				{5, randomLabels(rand.New(rand.NewPCG(50, 2)), 5, 300)},
				{13, gaussianPairs(rand.New(rand.NewPCG(50, 3)), 13, 300, 1)},
				{60, randomLabels(rand.New(rand.NewPCG(50, 4)), 60, 12)},
				{60, gaussianPairs(rand.New(rand.NewPCG(50, 5)), 60, 150, 2)},
				{60, fewPoints(rand.New(rand.NewPCG(50, 6)), 60, 9, 400)},
			} {
				if i == 5 && p.Every > 1 && p.Rule != PALS {
					continue // pairs recur: whether a loss is 0 or round-off decides which updates count
				}
				l, ref := must(NewPA(c.dim, p)), plainPA(c.dim, p)
				for i, f := range c.rounds {
					o := mustOutcome(t, l, f)
					slack, size := ref.Step(f)
					loss := math.Max(0, slack)
					if p.Rule == PALS {
						loss = math.Abs(slack)
					}
					if math.Abs(o.Loss-loss) > agreeTol*(1+loss) || math.Abs(o.StepSize-size) > agreeTol*(1+math.Abs(size)) {
						t.Fatalf("d = %d, round %d: loss %v, step %v; reference %v, %v", c.dim, i, o.Loss, o.StepSize, loss, size)
					}
				}
				tol := agreeTol * (1 + mat.Norm(ref.M, 2))
				if d := matrixtest.Distance(l.Matrix(), ref.M); d > tol || math.Abs(l.Threshold()-ref.B) > agreeTol*(1+math.Abs(ref.B)) {
					t.Errorf("d = %d: ‖M − reference‖ = %v, ‖M‖ = %v, b = %v, reference %v", c.dim, d, mat.Norm(ref.M, 2), l.Threshold(), ref.B)
				}
				want, negative, err := metric.ProjectPSD(ref.M)
				if err != nil {
					t.Fatal(err)
				}
				most = max(most, negative)
				m, b := l.Final()
				if d := matrixtest.Distance(m.M(), want); d > tol || b != math.Max(l.Threshold(), 1) {
					t.Errorf("d = %d: the last M is off by %v, b = %v", c.dim, d, b)
				}
			}
			if p.PSD == PSDAtEnd && p.Every == 0 && most < 5 {
				t.Errorf("at most %d negative eigenvalues at the end, so that little was projected", most)
			}
		})
	}
}

// objective returns what a step of the rule minimises, at (m, b), for a step from
// (m0, b0) on f; of PlainPA it is the length alone, over hypotheses without loss.
func objective(p PAParams, m0, m *mat.SymDense, b0, b float64, f metric.Pair) (value, slack float64) {
	v := mat.NewVecDense(len(f.X), metric.Sub(nil, f.X, f.Y))
	slack = 1 - float64(f.Label)*(b-mat.Inner(v, m, v))
	hinge := math.Max(0, slack)
	value = (math.Pow(matrixtest.Distance(m, m0), 2) + (b-b0)*(b-b0)) / 2
	switch p.Rule {
	case PAI:
		value += p.C * hinge
	case PAII:
		value += p.C * hinge * hinge
	case PALS:
		value += p.C * slack * slack
	}
	return value, slack
}

// golden returns the minimiser of a convex f in [lo, hi] by golden sections.
func golden(f func(x float64) float64, lo, hi float64) float64 {
	r := (math.Sqrt(5) - 1) / 2
	for hi-lo > 1e-9*(1+math.Abs(lo)+math.Abs(hi)) {
		a, b := hi-r*(hi-lo), lo+r*(hi-lo)
		if f(a) < f(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return (lo + hi) / 2
}

// Each rate is the exact minimiser: no hypothesis near the one after a step has a
// lower value of the paper's objective, in any direction, and the best step along
// the step's direction is the one made.
func TestPARatesAreMinimisers(t *testing.T) {
	const dim = 4
	for _, p := range allPA() {
		if p.PSD == PSDEachStep {
			continue // Eqs. 4 to 15 have no constraint on M
		}
		for _, c := range []float64{0.01, 0.3, 100} {
			p.C = c
			t.Run(p.String(), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(51, 1))
				l := must(NewPA(dim, p))
				updates, clipped, backward := 0, 0, 0
				// Labels that no metric explains, then distances far from the ideal ones.
				rounds := append(randomLabels(rng, dim, 80), gaussianPairs(rng, dim, 80, 3)...)
				for i, f := range rounds {
					m0, b0 := l.Matrix(), l.Threshold()
					o := mustOutcome(t, l, f)
					m, b := l.Matrix(), l.Threshold()
					value, slack := objective(p, m0, m, b0, b, f)
					// In all directions, at several distances. The increase of the
					// objective is at least half the squared distance (PlainPA: over
					// the hypotheses without loss), less round-off.
					for k := range 60 {
						far := math.Pow(10, -float64(k%4)) * (1 + o.Loss)
						m2, b2 := mat.NewSymDense(dim, nil), b+far*rng.NormFloat64()
						for i := range dim {
							for j := i; j < dim; j++ {
								m2.SetSym(i, j, m.At(i, j)+far*rng.NormFloat64())
							}
						}
						v2, s2 := objective(p, m0, m2, b0, b2, f)
						if p.Rule == PlainPA && s2 > 0 {
							continue
						}
						rise := (math.Pow(matrixtest.Distance(m2, m), 2) + (b2-b)*(b2-b)) / 2
						if v2 < value+rise-1e-12*(1+v2) {
							t.Fatalf("round %d: objective %v after the step, %v at distance² %v from it", i, value, v2, 2*rise)
						}
					}
					v4 := math.Pow(metric.Euclidean{}.SqDist(f.X, f.Y), 2)
					y := float64(f.Label)
					s0 := 1 + y*(o.Prediction.SqDist-b0)
					along := func(tau float64) float64 {
						s := s0 - tau*(v4+1)
						value := tau * tau * (v4 + 1) / 2
						switch p.Rule {
						case PlainPA:
							if s > 1e-9 { // a wall in place of the constraint
								value += 1e12 * s
							}
						case PAI:
							value += p.C * math.Max(0, s)
						case PAII:
							value += p.C * math.Pow(math.Max(0, s), 2)
						case PALS:
							value += p.C * s * s
						}
						return value
					}
					// The search ends where values differ by round-off, √ε from the minimum.
					tau := golden(along, -2*math.Abs(s0), 2*math.Abs(s0))
					if math.Abs(tau-y*o.StepSize) > 1e-6*(1+math.Abs(s0)) {
						t.Fatalf("round %d: τ = %v, numeric minimiser %v", i, y*o.StepSize, tau)
					}
					// Zero loss after an unclipped hard step.
					unclipped := p.Rule == PlainPA || p.Rule == PAI && math.Abs(o.StepSize) < p.C
					if unclipped && slack > 1e-12*(1+o.Loss) {
						t.Fatalf("round %d: slack %v after an unclipped step", i, slack)
					}
					if o.StepSize != 0 {
						updates++
					}
					if p.Rule == PAI && math.Abs(o.StepSize) == p.C {
						clipped++
					}
					if y*o.StepSize < 0 {
						backward++
					}
				}
				if updates < 20 || p.Rule == PAI && c == 0.01 && clipped < 20 || p.Rule == PALS && backward < 10 {
					t.Errorf("%d updates, %d of them clipped, %d with τ < 0", updates, clipped, backward)
				}
			})
		}
	}
}

// Plain PA from b⁰ is POLA from b₁ = b⁰, and PA-II is POLA with γ = 1/(2C): the
// same bits.
func TestPAIsPOLA(t *testing.T) {
	for _, c := range []struct {
		pa   PAParams
		pola POLAParams
	}{
		{PAParams{B0: 1}, POLAParams{}},
		{PAParams{C: 7, B0: -2.5}, POLAParams{B1: new(-2.5)}},
		{PAParams{Rule: PAII, C: 0.3, B0: 1}, POLAParams{Gamma: 1 / (2 * 0.3)}},
		{PAParams{Rule: PAII, C: 25}, POLAParams{Gamma: 0.02, B1: new(0.0)}},
	} {
		for _, dim := range []int{3, 45} {
			a, b := must(NewPA(dim, c.pa)), mustPOLA(t, dim, c.pola)
			projections := 0
			for i, f := range randomLabels(rand.New(rand.NewPCG(52, uint64(dim))), dim, 150) {
				o, want := mustOutcome(t, a, f), mustStep(t, b, f)
				if o != want || a.Threshold() != b.Threshold() {
					t.Fatalf("%v, d = %d, round %d: %+v, POLA %+v", c.pa, dim, i, o, want)
				}
				projections += o.Projections
			}
			if !mat.Equal(a.Metric().M(), b.Metric().M()) {
				t.Errorf("%v, d = %d: M differs", c.pa, dim)
			}
			if projections == 0 {
				t.Errorf("%v, d = %d: nothing was projected", c.pa, dim)
			}
		}
	}
}

// τ₂ = max(0, τ₃), of the same bits; PA-I with a large C is plain PA; so is PA-II
// in the limit.
func TestPARatesAmongEachOther(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 1))
	for range 1000 {
		slack, norm4 := 3*rng.NormFloat64(), math.Exp(4*rng.NormFloat64())
		c := math.Exp(3 * rng.NormFloat64())
		two, ls := PAParams{Rule: PAII, C: c}.rate()(slack, norm4), PAParams{Rule: PALS, C: c}.rate()(slack, norm4)
		if two != math.Max(0, ls) {
			t.Fatalf("slack %v, ‖v‖⁴ = %v, C = %v: τ₂ = %v, τ₃ = %v", slack, norm4, c, two, ls)
		}
		hard := PAParams{C: c}.rate()(slack, norm4)
		if one := (PAParams{Rule: PAI, C: 1e3}).rate()(slack, norm4); one != hard {
			t.Fatalf("slack %v, ‖v‖⁴ = %v: τ₁ = %v, τ = %v", slack, norm4, one, hard)
		}
		if one := (PAParams{Rule: PAI, C: c}).rate()(slack, norm4); one != math.Min(c, hard) {
			t.Fatalf("slack %v, ‖v‖⁴ = %v, C = %v: τ₁ = %v, τ = %v", slack, norm4, c, one, hard)
		}
		if soft := (PAParams{Rule: PAII, C: 1e15}).rate()(slack, norm4); math.Abs(soft-hard) > 1e-15*hard {
			t.Fatalf("slack %v, ‖v‖⁴ = %v: τ₂ = %v, τ = %v", slack, norm4, soft, hard)
		}
	}
	// A C whose reciprocal overflows weighs nothing.
	for _, r := range []PARule{PAII, PALS} {
		if tau := (PAParams{Rule: r, C: math.SmallestNonzeroFloat64}).rate()(2, 1); tau != 0 {
			t.Errorf("%v: τ = %v", r, tau)
		}
	}
}

// The paper has M ⪰ 0 "straightforwardly taken into account if y = −1". With τ₃ <
// 0 it is not: here a dissimilar pair beyond b + 1 takes vvᵀ from a matrix of rank
// one that does not span v. The sign of y·τ is what counts.
func TestDissimilarStepOfLeastSquaresProjects(t *testing.T) {
	p := PAParams{Rule: PALS, C: 1, B0: 1}
	l := must(NewPA(2, p))
	free := must(NewPA(2, PAParams{Rule: PALS, C: 1, B0: 1, PSD: PSDAtEnd}))
	first := metric.Pair{X: []float64{1, 0}, Y: []float64{0, 0}, Label: metric.Dissimilar}
	far := metric.Pair{X: []float64{3, 1}, Y: []float64{0, 0}, Label: metric.Dissimilar}
	for range 20 { // toward M = e₁e₁ᵀ·m with m near b + 1
		mustOutcome(t, l, first)
		mustOutcome(t, free, first)
	}
	for _, m := range []*PA{l, free} {
		if o := mustOutcome(t, m, far); !(o.StepSize > 0) || o.Loss < 1 || o.Mistake {
			t.Fatalf("outcome %+v, want a step against the label on a pair that was right", o)
		} else if want := 1 - int(m.p.PSD); o.Projections != want {
			t.Errorf("psd = %v: %d projections, want %d", m.p.PSD, o.Projections, want)
		}
	}
	var eig mat.EigenSym
	eig.Factorize(free.Matrix(), false)
	if least := eig.Values(nil)[0]; !(least < -1e-3) {
		t.Errorf("smallest eigenvalue of the printed step %v, want a negative one", least)
	}
	eig.Factorize(l.Matrix(), false)
	if least := eig.Values(nil)[0]; least < -1e-12 {
		t.Errorf("smallest eigenvalue %v after the projection", least)
	}
}

// PA-LS makes no update where |s| ≤ Tol, and elsewhere the step of Tol = 0, of the same
// bits; in both representations, whatever the scale of the features.
func TestPATolerance(t *testing.T) {
	const rounds = 600
	for _, scale := range []float64{0.1, 1, 10} {
		for _, tol := range []float64{0, 0.05, 0.5, 3} {
			for _, psd := range []PSD{PSDEachStep, PSDAtEnd} {
				p := PAParams{Rule: PALS, C: 2, PSD: psd, Tol: tol}
				passive, err := tolerantRun(p, scale, rounds)
				if err != nil {
					t.Fatalf("scale %v, %v: %v", scale, p, err)
				}
				// Of a stream that starts with |s| = 1 on every pair.
				if tol == 3 && passive != rounds || tol == 0.5 && (passive < 10 || passive > rounds-10) {
					t.Errorf("scale %v, %v: %d passive steps of %d", scale, p, passive, rounds)
				}
			}
		}
	}
}

// tolerantRun learns from a random stream of pairs whose features have a scale, in both
// representations where there are two. It checks each step and counts those without update.
func tolerantRun(p PAParams, scale float64, rounds int) (passive int, err error) {
	const dim = 5
	rng := rand.New(rand.NewPCG(59, 1))
	x, links := table(rng, 40, dim, 2, 60)
	x.Scale(scale, x)
	r := must(NewRecurring(x, links))
	l, again := must(NewPA(dim, p)), (*RecurringPA)(nil)
	if p.PSD == PSDAtEnd {
		again = must(NewRecurringPA(r, p))
	}
	for k := range rounds {
		i := rng.IntN(len(links))
		f := metric.Pair{X: x.RawRowView(links[i].I), Y: x.RawRowView(links[i].J), Label: links[i].Label}
		still, err := tolerantStep(p, l, f)
		if err == nil && again != nil {
			err = tolerantRecurringStep(p, again, i, f)
		}
		if err != nil {
			return passive, fmt.Errorf("round %d: %w", k, err)
		}
		if still {
			passive++
		}
	}
	return passive, nil
}

// tolerantStep checks a step: none at all if |s| ≤ Tol, and otherwise that of Tol = 0.
func tolerantStep(p PAParams, l *PA, f metric.Pair) (passive bool, err error) {
	m, b := l.Matrix(), l.Threshold()
	o, err := l.Step(f)
	if err != nil {
		return false, err
	}
	slack := 1 + float64(f.Label)*(o.Prediction.SqDist-b)
	v := metric.Sub(nil, f.X, f.Y)
	want := float64(f.Label) * PAParams{Rule: PALS, C: p.C}.rate()(slack, vector.Dot(v, v)*vector.Dot(v, v))
	if passive = math.Abs(slack) <= p.Tol; passive {
		want = 0
		if o.Updated || o.Projections != 0 || len(l.LastChange()) != 0 || l.Threshold() != b || !mat.Equal(l.Matrix(), m) {
			return passive, fmt.Errorf("an update on s = %v: %+v", slack, o)
		}
	}
	if o.StepSize != want || o.Loss != math.Abs(slack) {
		return passive, fmt.Errorf("s = %v, %+v, want the step %v", slack, o, want)
	}
	return passive, nil
}

// tolerantRecurringStep checks a step on link i, which is f: it has size 0 exactly if
// |s| ≤ Tol, and then changes nothing.
func tolerantRecurringStep(p PAParams, l *RecurringPA, i int, f metric.Pair) error {
	q, b := l.Predict(i).SqDist, l.Threshold()
	o, err := l.Step(i)
	if err != nil {
		return err
	}
	still := math.Abs(1+float64(f.Label)*(q-b)) <= p.Tol
	if still != (o.StepSize == 0) || still && (o.Updated || l.Predict(i).SqDist != q || l.Threshold() != b) {
		return fmt.Errorf("recurring: %+v", o)
	}
	return nil
}

// |s| = Tol is passive.
func TestPAToleranceIsInclusive(t *testing.T) {
	f := metric.Pair{X: []float64{1}, Y: []float64{0}, Label: metric.Similar}
	for tol, want := range map[float64]bool{1: false, math.Nextafter(1, 0): true} {
		if o := mustOutcome(t, must(NewPA(1, PAParams{Rule: PALS, Tol: tol})), f); o.Updated != want || o.Loss != 1 {
			t.Errorf("s = 1, tol = %v: %+v", tol, o)
		}
	}
}

// At Tol = 0 the rate is Eq. 16.
func TestPAToleranceOfZeroIsThePaper(t *testing.T) {
	rng := rand.New(rand.NewPCG(59, 2))
	for range 1000 {
		slack, norm4, c := math.Exp(20*rng.NormFloat64()), math.Exp(4*rng.NormFloat64()), math.Exp(3*rng.NormFloat64())
		if tau := (PAParams{Rule: PALS, C: c}).rate()(-slack, norm4); tau != -slack/(norm4+1+1/(2*c)) {
			t.Fatalf("s = %v, ‖v‖⁴ = %v, C = %v: τ₃ = %v", -slack, norm4, c, tau)
		}
	}
}

// Saved parameters name a tolerance only if it is not 0: older builds have none.
func TestPAToleranceIsSaved(t *testing.T) {
	for want, p := range map[string]PAParams{
		`{"rule":"pals","c":1,"psd":"end","b0":0}`:             {Rule: PALS, PSD: PSDAtEnd},
		`{"rule":"pals","c":1,"psd":"end","b0":0,"tol":0.125}`: {Rule: PALS, PSD: PSDAtEnd, Tol: 0.125},
	} {
		var file bytes.Buffer
		if err := must(NewPA(1, p)).Save(&file); err != nil {
			t.Fatal(err)
		}
		env, err := persist.Read(&file)
		var got bytes.Buffer
		if err != nil || json.Compact(&got, env.Params) != nil || got.String() != want {
			t.Errorf("saved parameters %s, want %s, error %v", env.Params, want, err)
		}
	}
}

// (M, b) = (0, 0) violates b ≥ 1, and the "+" versions leave it with their first
// update; the "−" versions need not.
func TestPAStart(t *testing.T) {
	f := metric.Pair{X: []float64{1, 0}, Y: []float64{0, 0}, Label: metric.Dissimilar}
	l := must(NewPA(2, PAParams{}))
	if l.Threshold() != 0 {
		t.Errorf("b⁰ = %v", l.Threshold())
	}
	if _, b := l.Final(); b != 1 {
		t.Errorf("before the first step Final gives b = %v", b)
	}
	if o := mustOutcome(t, l, f); o.Loss != 1 || o.StepSize != -0.5 || l.Threshold() != 1 {
		t.Errorf("outcome %+v, b = %v", o, l.Threshold())
	}
	l = must(NewPA(2, PAParams{PSD: PSDAtEnd}))
	if o := mustOutcome(t, l, f); o.Loss != 1 || o.StepSize != -0.5 || l.Threshold() != -0.5 {
		t.Errorf("at the end: outcome %+v, b = %v", o, l.Threshold())
	}
}

// With losses ℓ* of a feasible (M*, b*) on the same pairs,
//
//	PA     ‖w' − w*‖² ≤ ‖w − w*‖² − ℓ²/N                  where ℓ* = 0
//	PA-II  Σℓ² ≤ (R + 1/(2C))(‖w⁰ − w*‖² + 2CΣℓ*²),        R ≥ N = ‖v‖⁴ + 1
//
// of Crammer et al., Online Passive-Aggressive Algorithms, JMLR 7, 2006, Lemma 1
// and Theorem 5, where w = (M, b); projections onto a convex set that contains w*
// come only nearer to it.
func TestPABounds(t *testing.T) {
	const tol = 1e-9 // sums of a hundred terms of order one
	for _, psd := range []PSD{PSDEachStep, PSDAtEnd} {
		for _, dim := range []int{2, 6, 36} {
			rounds, m, b := separable(rand.New(rand.NewPCG(54, uint64(dim))), dim, 150)
			l := must(NewPA(dim, PAParams{PSD: psd}))
			start := math.Pow(mat.Norm(m, 2), 2) + b*b
			distance, sum := start, 0.0
			for i, f := range rounds {
				n := math.Pow(metric.Euclidean{}.SqDist(f.X, f.Y), 2) + 1
				o := mustOutcome(t, l, f)
				next := math.Pow(matrixtest.Distance(l.Matrix(), m), 2) + math.Pow(l.Threshold()-b, 2)
				if next > distance-o.Loss*o.Loss/n+tol*start {
					t.Fatalf("psd = %v, d = %d, round %d: ‖w − w*‖² went from %v to %v, loss %v", psd, dim, i, distance, next, o.Loss)
				}
				distance = next
				sum += o.Loss
			}
			if sum == 0 {
				t.Errorf("psd = %v, d = %d: no loss", psd, dim)
			}
			for _, c := range []float64{0.01, 1, 10} {
				l := must(NewPA(dim, PAParams{Rule: PAII, C: c, PSD: psd}))
				rng := rand.New(rand.NewPCG(54, 1))
				var ours, best, radius float64
				for i, f := range rounds {
					if rng.IntN(10) == 0 {
						f.Label = -f.Label // noise
					}
					v := mat.NewVecDense(dim, metric.Sub(nil, f.X, f.Y))
					radius = max(radius, math.Pow(mat.Dot(v, v), 2)+1)
					best += math.Pow(math.Max(0, 1-float64(f.Label)*(b-mat.Inner(v, m, v))), 2)
					o := mustOutcome(t, l, f)
					ours += o.Loss * o.Loss
					if bound := (radius + 1/(2*c)) * (start + 2*c*best); ours > bound*(1+tol) {
						t.Fatalf("psd = %v, d = %d, C = %v, round %d: Σℓ² = %v above the bound %v", psd, dim, c, i, ours, bound)
					}
				}
			}
		}
	}
}

// Saved after any round and resumed, the end is the same file. The stream in 40
// dimensions passes from a growing core to a dense matrix.
func TestPAResumeAnywhere(t *testing.T) {
	for _, p := range slices.Concat(allPA(), tolerant()) {
		for _, c := range []struct{ dim, n int }{{3, 25}, {40, 60}} {
			rounds := randomLabels(rand.New(rand.NewPCG(55, uint64(c.dim))), c.dim, c.n)
			save := func(l *PA) []byte {
				var b bytes.Buffer
				if err := l.Save(&b); err != nil {
					t.Fatal(err)
				}
				return b.Bytes()
			}
			l := must(NewPA(c.dim, p))
			files := [][]byte{save(l)}
			var orders []int
			for _, f := range rounds {
				mustOutcome(t, l, f)
				files = append(files, save(l))
				orders = append(orders, l.e.a.n)
			}
			if c.dim == 40 && p.M0 == 0 && !(slices.Contains(orders, 9) && (p.PSD == PSDEachStep || slices.Max(orders) == 40 && !slices.Contains(orders, 10))) {
				t.Errorf("%v: orders %v: a representation was not met", p, orders)
			}
			for i, file := range files {
				l, err := LoadPA(bytes.NewReader(file))
				if err != nil {
					t.Fatalf("%v, round %d: %v", p, i, err)
				}
				if l.Params() != p {
					t.Fatalf("%v, round %d: parameters %v", p, i, l.Params())
				}
				for _, f := range rounds[i:] {
					mustOutcome(t, l, f)
				}
				if !bytes.Equal(save(l), files[len(files)-1]) {
					t.Errorf("%v, d = %d: resumed after round %d, the end differs", p, c.dim, i)
				}
			}
		}
	}
}

// LastChange and MulVec follow M of the running hypothesis.
func TestPAChangeAndProduct(t *testing.T) {
	for _, p := range slices.Concat(allPA(), tolerant()) {
		for _, dim := range []int{4, 30} {
			l := must(NewPA(dim, p))
			before := l.Matrix()
			for i, f := range randomLabels(rand.New(rand.NewPCG(56, uint64(dim))), dim, 60) {
				o := mustOutcome(t, l, f)
				size := mat.Norm(before, 2)
				terms := l.LastChange()
				for _, r := range terms {
					v := mat.NewVecDense(dim, r.V)
					before.SymRankOne(before, r.C, v)
					size += math.Abs(r.C) * mat.Dot(v, v)
				}
				after := l.Matrix()
				if d := matrixtest.Distance(after, before); d > changeTol*size || len(terms) > 1+o.Projections {
					t.Fatalf("%v, d = %d, round %d: M is off by %v, %d terms, outcome %+v", p, dim, i, d, len(terms), o)
				}
				before = after
				var want mat.VecDense
				want.MulVec(after, mat.NewVecDense(dim, f.X))
				if d := matrixtest.Distance(mat.NewVecDense(dim, l.MulVec(nil, f.X)), &want); d > mulTol*size*math.Sqrt(vector.Dot(f.X, f.X)) {
					t.Fatalf("%v, d = %d, round %d: Mx is off by %v", p, dim, i, d)
				}
			}
		}
	}
}

func TestPAErrors(t *testing.T) {
	for _, c := range []struct {
		dim  int
		p    PAParams
		want string
	}{
		{0, PAParams{}, "pa: dim: 0"},
		{2, PAParams{Rule: 4}, "pa: rule: 4"},
		{2, PAParams{Rule: -1}, "pa: rule: -1"},
		{2, PAParams{PSD: 2}, "pa: psd: 2"},
		{2, PAParams{C: -1}, "pa: c: -1"},
		{2, PAParams{C: math.NaN()}, "pa: c: NaN"},
		{2, PAParams{C: math.Inf(1)}, "pa: c: +Inf"},
		{2, PAParams{B0: math.NaN()}, "pa: b0: NaN"},
		{2, PAParams{B0: math.Inf(-1)}, "pa: b0: -Inf"},
		{2, PAParams{Rule: PALS, Tol: -1}, "pa: tol: -1 is not allowed, want a finite number ≥ 0"},
		{2, PAParams{Rule: PALS, Tol: math.NaN()}, "pa: tol: NaN"},
		{2, PAParams{Rule: PALS, Tol: math.Inf(1)}, "pa: tol: +Inf"},
		{2, PAParams{Rule: PAII, Tol: 0.1}, "pa: tol: 0.1 is not allowed with rule pa2, want 0"},
	} {
		if _, err := NewPA(c.dim, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("dim %d, %+v: error %v, want one with %q", c.dim, c.p, err, c.want)
		}
	}
	if _, err := must(NewPA(1, PAParams{})).Step(metric.Pair{X: []float64{1}, Y: []float64{1}}); err == nil || !strings.Contains(err.Error(), "pa: label: 0") {
		t.Errorf("error %v", err)
	}
	if p := (PAParams{}).Resolved(); p.C != 1 || p.B0 != 0 || p.Tol != 0 || p.Rule.String() != "pa" || p.PSD.String() != "step" {
		t.Errorf("defaults %+v", p)
	}
	for _, s := range []fmt.Stringer{PARule(9), PSD(9)} {
		if !strings.HasPrefix(s.String(), "unknown") {
			t.Errorf("%v", s)
		}
	}
}

func TestLoadPAErrors(t *testing.T) {
	var good bytes.Buffer
	if err := must(NewPA(2, PAParams{})).Save(&good); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPA(strings.NewReader("x")); !errors.Is(err, persist.ErrForeign) {
		t.Errorf("foreign: %v", err)
	}
	if _, err := LoadPA(strings.NewReader(strings.Replace(good.String(), `"step"`, `"end"`, 1))); !errors.Is(err, persist.ErrDamaged) {
		t.Errorf("edited: %v", err)
	}
	var other bytes.Buffer
	if err := mustPOLA(t, 2, POLAParams{}).Save(&other); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPA(&other); !errors.Is(err, persist.ErrKind) {
		t.Errorf("other kind: %v", err)
	}
	for name, text := range map[string][2]string{
		"rule":           {`{"rule":"pa3","c":1,"psd":"end","b0":0}`, `{"threshold":1,"form":{"dim":1,"order":1,"core":"AAAAAAAAAAA="}}`},
		"rule, a number": {`{"rule":1,"c":1,"psd":"end","b0":0}`, `{"threshold":1,"form":{"dim":1,"order":1,"core":"AAAAAAAAAAA="}}`},
		"c":              {`{"rule":"pa1","c":-1,"psd":"end","b0":0}`, `{"threshold":1,"form":{"dim":1,"order":1,"core":"AAAAAAAAAAA="}}`},
		"tol":            {`{"rule":"pa1","c":1,"psd":"end","b0":0,"tol":1}`, `{"threshold":1,"form":{"dim":1,"order":1,"core":"AAAAAAAAAAA="}}`},
		"no dimension":   {`{"rule":"pa1","c":1,"psd":"end","b0":0}`, `{"threshold":1,"form":{"dim":0,"order":0,"core":""}}`},
		"order":          {`{"rule":"pa1","c":1,"psd":"end","b0":0}`, `{"threshold":1,"form":{"dim":1,"order":0,"core":"AAAAAAAAAAA="}}`},
		"order at step":  {`{"rule":"pa1","c":1,"psd":"step","b0":0}`, `{"threshold":1,"form":{"dim":1,"order":0,"core":"AAAAAAAAAAA="}}`},
		"resolvent":      {`{"rule":"pa1","c":1,"psd":"end","b0":0}`, `{"threshold":1,"form":{"dim":1,"order":1,"core":"AAAAAAAAAAA=","resolvent":"AAAAAAAAAAA=","shift":1}}`},
	} {
		var file bytes.Buffer
		if err := persist.Write(&file, PAKind, raw(text[0]), raw(text[1])); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadPA(&file); !errors.Is(err, persist.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzLoadPA: any state in a valid envelope is loaded or refused, and what is
// loaded can step.
func FuzzLoadPA(f *testing.F) {
	for _, p := range slices.Concat(allPA(), tolerant()) {
		l := must(NewPA(20, p))
		for _, r := range randomLabels(rand.New(rand.NewPCG(57, 1)), 20, 3) {
			mustOutcome(f, l, r)
		}
		var file bytes.Buffer
		if err := l.Save(&file); err != nil {
			f.Fatal(err)
		}
		env, err := persist.Read(&file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(env.Params), []byte(env.State))
	}
	f.Add([]byte(`{"rule":"pals","c":0,"psd":"end","b0":0}`), []byte(`{"threshold":1,"form":{"dim":999999999999,"order":0,"core":""}}`))
	f.Fuzz(func(t *testing.T, params, state []byte) {
		var file bytes.Buffer
		if persist.Write(&file, PAKind, raw(params), raw(state)) != nil {
			return
		}
		l, err := LoadPA(&file)
		if err != nil || l.Dim() > 100 {
			return
		}
		for _, r := range randomLabels(rand.New(rand.NewPCG(57, 2)), l.Dim(), 3) {
			if _, err := l.Step(r); err != nil {
				return // a hypothesis whose d² overflows
			}
		}
	})
}

// Features just below overflow still give finite hypotheses.
func TestPANearOverflow(t *testing.T) {
	for _, p := range allPA() {
		for _, scale := range []float64{1e70, 1e-70, 1e-160} {
			l := must(NewPA(20, p))
			for i, f := range gaussianPairs(rand.New(rand.NewPCG(58, 1)), 20, 60, scale) {
				if o := mustOutcome(t, l, f); math.IsNaN(o.Loss) || math.IsNaN(l.Threshold()) {
					t.Fatalf("%v, scale %g, round %d: %+v", p, scale, i, o)
				}
			}
			if err := metric.CheckFinite(mat.DenseCopyOf(l.Metric().M())); err != nil {
				t.Fatalf("%v, scale %g: %v", p, scale, err)
			}
		}
	}
}

func ExampleNewPA() {
	// The first feature tells the classes apart, the second is noise; the last label
	// is wrong, and C bounds what it does.
	l, err := NewPA(2, PAParams{Rule: PAI, C: 0.2, PSD: PSDAtEnd})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range []metric.Pair{
		{X: []float64{1, 1}, Y: []float64{0, 0}, Label: metric.Dissimilar},
		{X: []float64{0, 1}, Y: []float64{0, 0}, Label: metric.Similar},
		{X: []float64{1, 0}, Y: []float64{0, 1}, Label: metric.Dissimilar},
		{X: []float64{0, 2}, Y: []float64{0, 0}, Label: metric.Similar},
		{X: []float64{1, 0}, Y: []float64{0, 0}, Label: metric.Similar},
	} {
		o, err := l.Step(f)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("d² = %+.2f, loss %.2f, step %+.2f\n", o.Prediction.SqDist, o.Loss, o.StepSize)
	}
	running := l.Matrix()
	last, b := l.Final()
	m := last.M()
	fmt.Printf("running M = [%.2f %.2f; %.2f %.2f], b = %.2f\n", running.At(0, 0), running.At(0, 1), running.At(1, 0), running.At(1, 1), l.Threshold())
	fmt.Printf("at the end M = [%.2f %.2f; %.2f %.2f], b = %.2f\n", m.At(0, 0), m.At(0, 1), m.At(1, 0), m.At(1, 1), b)
	// Output:
	// d² = +0.00, loss 1.00, step -0.20
	// d² = +0.20, loss 1.40, step +0.20
	// d² = -0.20, loss 1.20, step -0.20
	// d² = +0.80, loss 2.00, step +0.12
	// d² = +0.40, loss 1.48, step +0.20
	// running M = [0.20 0.00; 0.00 -0.27], b = 0.12
	// at the end M = [0.20 0.00; 0.00 0.00], b = 1.00
}
