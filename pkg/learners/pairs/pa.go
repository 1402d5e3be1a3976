package pairs

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// PAVersion counts the changes of the values that PA computes.
const PAVersion = 2

// PAKind is the kind under which package persist stores a PA.
const PAKind = "pairs/pa"

// PARule says how far a pair moves the hypothesis of PA.
type PARule int

const (
	// PlainPA: to the nearest hypothesis without loss on the pair (Eqs. 4–8).
	PlainPA PARule = iota
	// PAI: slack that costs C·ξ (Eqs. 9, 10).
	PAI
	// PAII: slack that costs C·ξ² (Eqs. 11, 12).
	PAII
	// PALS: least squares, a cost C·ξ² of missing the ideal distance on either
	// side (Eqs. 14, 15).
	PALS
)

var ruleNames = enum.Of[PARule]("unknown rule %d", "pa", "pa1", "pa2", "pals")

// String returns "pa", "pa1", "pa2" or "pals".
func (r PARule) String() string { return ruleNames.Text(r) }

// MarshalText returns String.
func (r PARule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what String returns of the four rules.
func (r *PARule) UnmarshalText(text []byte) error { return ruleNames.Unmarshal(r, text) }

// PSD says when PA makes its hypothesis feasible: M positive semi-definite and b ≥
// 1.
type PSD int

const (
	// PSDEachStep: after every update, the "+" versions of the paper.
	PSDEachStep PSD = iota
	// PSDAtEnd: only in what Metric and Final return, the "−" versions.
	PSDAtEnd
)

var psdNames = enum.Of[PSD]("unknown psd %d", "step", "end")

// String returns "step" or "end".
func (p PSD) String() string { return psdNames.Text(p) }

// MarshalText returns String.
func (p PSD) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads "step" or "end".
func (p *PSD) UnmarshalText(text []byte) error { return psdNames.Unmarshal(p, text) }

// PAParams are the parameters of PA.
type PAParams struct {
	// Rule is the rate rule. The default is PlainPA.
	Rule PARule `json:"rule" words:"pa|pa1|pa2|pals" doc:"hard margin, slack in the loss (PA-I), its square (PA-II), or least squares (PA-LS)"`
	// C > 0 weighs the loss against the length of the step; 0 means 1. PlainPA,
	// which is the limit of PAI and PAII for large C, takes no account of it.
	C float64 `json:"c" range:"> 0" needs:"rule=pa1|pa2|pals" doc:"weight of the loss against the length of the step"`
	// PSD says when the hypothesis is made feasible. The default is PSDEachStep.
	PSD PSD `json:"psd" words:"step|end" doc:"when the matrix is made positive semi-definite and the threshold at least 1: each step, or only what is returned at the end"`
	// B0 is the start threshold b⁰, from −MaxThreshold to MaxThreshold. The default is 0, as in the
	// paper; it is below 1, so that PSDEachStep satisfies 1 ≤ b from its first update
	// on only.
	B0 float64 `json:"b0" range:">= -1e100 and <= 1e100" doc:"start threshold"`
	// Tol ≥ 0, of PALS only, is the largest loss |s| of a pair on which no update is
	// made. The default is 0, as in the paper, which makes one on every pair.
	Tol float64 `json:"tol,omitempty" range:">= 0" needs:"rule=pals" doc:"largest loss of a pair on which no update is made"`
	// M0 is the start matrix M⁰ = M0·I, from 0 to MaxThreshold. The default is 0, as in the
	// paper. Any other is of full rank: memory is O(d²) and a step takes O(d²) from the
	// start on.
	M0 float64 `json:"m0,omitempty" range:">= 0 and <= 1e100" doc:"start matrix, as a multiple of the identity"`
	// Every ≥ 0, of PSDAtEnd only, makes the hypothesis feasible after every so many
	// updates of M, too. The default is 0, never. 1 has the hypotheses of PSDEachStep.
	Every int `json:"every,omitempty" range:">= 0" needs:"psd=end" doc:"make the matrix feasible after every so many updates, too; 0 means never"`
}

// Resolved returns p with its defaults filled in: C = 1.
func (p PAParams) Resolved() PAParams {
	p.C = cmp.Or(p.C, 1)
	return p
}

// check returns an error, with the learner's name, if a parameter is out of range.
func (p PAParams) check(name string) error {
	switch {
	case p.Rule < PlainPA || p.Rule > PALS:
		return fmt.Errorf("%s: rule: %d is not allowed, want PlainPA, PAI, PAII or PALS", name, int(p.Rule))
	case p.PSD != PSDEachStep && p.PSD != PSDAtEnd:
		return fmt.Errorf("%s: psd: %d is not allowed, want PSDEachStep or PSDAtEnd", name, int(p.PSD))
	}
	if err := ranges.Check(name, p); err != nil {
		return err
	}
	if p.Tol != 0 && p.Rule != PALS {
		return fmt.Errorf("%s: tol: %v is not allowed with rule %v, want 0: it is for PALS only", name, p.Tol, p.Rule)
	}
	if p.Every != 0 && p.PSD != PSDAtEnd {
		return fmt.Errorf("%s: every: %d is not allowed with psd %v, want 0: it is for PSDAtEnd only", name, p.Every, p.PSD)
	}
	return nil
}

// rate returns the rate rule. Along the direction (−y·vvᵀ, y), whose squared length
// is N = ‖v‖⁴ + 1, a step τ lowers the slack s by τN; τ minimises
//
//	PA     ½τ²N  subject to  s − τN ≤ 0       τ  = max(0, s)/N             (Eq. 8)
//	PA-I   ½τ²N + C·max(0, s − τN)            τ₁ = min(C, max(0, s)/N)     (Eq. 13)
//	PA-II  ½τ²N + C·max(0, s − τN)²           τ₂ = max(0, s)/(N + 1/(2C))  (Eq. 13)
//	PA-LS  ½τ²N + C·(s − τN)²                 τ₃ = s/(N + 1/(2C))          (Eq. 16)
//
// and 0 in place of τ₃ if |s| ≤ Tol. A component of the step at right angles to that direction would add to the length
// and leave the loss as it is, so that these are the minimisers over all M and b.
func (p PAParams) rate() rate {
	soft := 1 / (2 * p.C)
	switch p.Rule {
	case PAI:
		hard, c := polaRate(0), p.C
		return func(slack, norm4 float64) float64 { return math.Min(c, hard(slack, norm4)) }
	case PAII:
		return polaRate(soft)
	case PALS:
		tol := p.Tol
		return func(slack, norm4 float64) float64 {
			if math.Abs(slack) <= tol {
				return 0
			}
			return slack / (norm4 + 1 + soft)
		}
	}
	return polaRate(0)
}

// engine returns the engine at its start, for vectors of length dim.
func (p PAParams) engine(dim int) engine {
	e := newEngine("pa", dim, p.rate(), p.B0)
	e.twoSided = p.Rule == PALS
	e.a.deferred = p.PSD == PSDAtEnd
	if p.M0 > 0 {
		e.a.fillIdentity(p.M0)
	}
	return e
}

// PA is the family of passive-aggressive and least-squares metric learners
//
//	v = x − y,  d² = vᵀMv,  predict similar iff d² ≤ b
//	s = 1 + y(d² − b)
//	M ← M − y·τ·vvᵀ,  b ← b + y·τ
//
// starting from M = M0·I, 0 by default, and b = b⁰, where y = ±1 is the label and
//
//	PA     τ = max(0, s)/(1 + ‖v‖⁴)               of loss max(0, s)
//	PA-I   τ = min(C, max(0, s)/(1 + ‖v‖⁴))       of loss max(0, s)
//	PA-II  τ = max(0, s)/(1 + 1/(2C) + ‖v‖⁴)      of loss max(0, s)
//	PA-LS  τ = s/(1 + 1/(2C) + ‖v‖⁴)              of loss |s|
//
// each the minimiser of ½‖M' − M‖² + ½(b' − b)² and the weighted loss. Source:
// Perez-Suay and Ferri, Online Metric Learning Methods Using Soft Margins and Least
// Squares Formulations, 2013, Eqs. 6–8, 13 and 16.
//
// With PSD = EachStep (the paper's "+"), M is then projected onto the positive
// semi-definite cone, by removing the one negative eigenvalue there may be, and b
// onto [1, ∞). An eigenvalue is looked for if y·τ > 0, not if y = 1 as the paper
// has it: τ of PA-LS may be negative. Plain PA is POLA, from b₁ = b⁰; PA-II is POLA
// with γ = 1/(2C).
//
// With PSD = PSDAtEnd (the paper's "−"), M and b run free: M may have any number of
// negative eigenvalues, and predictions, which use the running hypothesis, report
// negative squared distances. Metric and Final project: they give the hypothesis
// of the end, Matrix and Threshold the running one.
//
// Between the two lies Every = q > 0: after every q updates of M it is projected and b is made at
// least 1. Steps that change nothing do not count. "It is possible to relax this by allowing negative models
// during a fixed amount of learning steps" (Section 2.4). All negative eigenvalues are removed,
// of which there may be up to q; it takes an eigendecomposition of order r.
//
// PA-LS with Tol > 0 makes no update if |s| ≤ Tol, and the full one if not. The
// paper names such a tolerance, on τ₃ near 0, as further work (Section 4) and does
// not define it. Here it is one on s, the error in b − d². τ₃ = s/(1 + 1/(2C) +
// ‖v‖⁴) depends on C and on the scale of v. A tolerance on it would pass over long
// pairs of a large loss, yet not over short ones of a small loss.
//
// A pair with x = y updates b only; ‖x−y‖² below 2.3e-308 counts as 0. A step which the projection undoes as a whole
// reports its StepSize and Updated = false. Of its Outcomes, those of PSDAtEnd have
// Projections only after the updates that Every names.
//
// M is kept as UCUᵀ with U orthonormal: memory is O(dr) with r the order of C, and
// bounded by O(d²). With PSDEachStep r is that of POLA; with PSDAtEnd it is, on generic
// data, the number of updates, until at d/4 a dense M takes over.
//
// All methods but Step may be called concurrently.
//
// The same in 30 lines: [metriclab/pkg/learners/plain.PA] and [metriclab/pkg/learners/plain.LeastSquaresRate].
type PA struct {
	e engine
	p PAParams
	// Of Every: updates of M since the last projection, and what the last step removed from M.
	since   int
	removed []metric.RankOne
}

var _ learners.PairMetric = (*PA)(nil)

// NewPA returns a PA for vectors of length dim. It returns an error unless dim ≥ 1
// and vectors of that length fit limits.Memory. Rule and PSD must be ones there are,
// C finite and positive (0 is the default), and B0 of magnitude at most MaxThreshold.
// Tol must be finite and not negative, and 0 unless Rule is PALS. M0 must be from 0 to
// MaxThreshold; Every must not be negative, and must be 0 unless PSD is PSDAtEnd.
func NewPA(dim int, p PAParams) (*PA, error) {
	if err := checkDim("pa", dim); err != nil {
		return nil, err
	}
	p = p.Resolved()
	if err := p.check("pa"); err != nil {
		return nil, err
	}
	if p.M0 > 0 {
		const matrices = 6 // the core, a copy, and an eigendecomposition or a resolvent
		if err := limits.Check(fmt.Sprintf("pa with a matrix of rank %d at the start", dim), limits.Floats(matrices, dim, dim)); err != nil {
			return nil, fmt.Errorf("pa: dim: %w", err)
		}
	}
	return &PA{e: p.engine(dim), p: p}, nil
}

// made returns l, and panics unless a constructor made it.
func (l *PA) made() *PA {
	if l == nil || l.e.a == nil {
		panic("pairs: PA: zero value, use NewPA")
	}
	return l
}

// Dim returns the dimension of the vectors.
func (l *PA) Dim() int { return l.made().e.a.dim }

// Threshold returns b of the running hypothesis, which predictions use.
func (l *PA) Threshold() float64 { return l.made().e.b }

// Params returns the resolved parameters.
func (l *PA) Params() PAParams { return l.made().p }

// Predict returns d² and whether d² ≤ b. With PSDAtEnd d² may be negative. It is
// ±math.MaxFloat64 where it overflows. It ignores the label. It panics unless both vectors
// have length Dim and finite entries.
func (l *PA) Predict(f metric.Pair) learners.PairPrediction { return l.made().e.predict(f) }

// Loss returns the loss of the rule: |1 + y(d² − b)| of PA-LS, else its positive
// part, at most math.MaxFloat64. It panics as Predict does, and if the label is neither 1
// nor -1.
func (l *PA) Loss(f metric.Pair) float64 { return l.made().e.loss(f) }

// Step predicts, suffers the loss and updates. StepSize is y·τ. It returns an
// error, and changes nothing, if the label is not ±1, a vector is not of length
// Dim, or an entry is NaN or infinite. So it does if ‖x−y‖⁴, d² or the loss
// overflows, or the step would change M or b by more than 1e290. Nor does it take a
// step after which the learner would not fit limits.Memory.
func (l *PA) Step(f metric.Pair) (learners.PairOutcome, error) {
	l.made()
	l.removed = nil
	o, err := l.e.step(f)
	if err != nil || l.p.Every == 0 || l.e.change == 0 {
		return o, err
	}
	if l.since++; l.since == l.p.Every {
		l.since = 0
		l.removed = l.e.a.project()
		l.e.b = math.Max(l.e.b, minThreshold)
		o.Projections = len(l.removed)
	}
	return o, nil
}

// Metric returns a snapshot of M, with PSDAtEnd of the positive semi-definite matrix
// nearest to it: O(r²d), and with PSDAtEnd an eigendecomposition of order r more.
func (l *PA) Metric() *metric.Mahalanobis { return l.made().e.a.metric() }

// Final returns the hypothesis that learning ends with: Metric, and b or, if that
// is less, 1.
func (l *PA) Final() (m *metric.Mahalanobis, b float64) {
	l.made()
	return l.Metric(), math.Max(l.e.b, minThreshold)
}

// Matrix returns a copy of M of the running hypothesis, which predictions use. With
// PSDAtEnd it may have negative eigenvalues.
func (l *PA) Matrix() *mat.SymDense { return l.made().e.a.matrix() }

// LastChange returns the terms of M after the last Step minus M before it, as
// POLA.LastChange does. With PSDAtEnd it is one term at most, and one more for each
// eigenvalue that Every removed.
func (l *PA) LastChange() []metric.RankOne {
	return append(l.made().e.lastChange(), l.removed...)
}

// MulVec sets dst to Mx, M of the running hypothesis, and returns it; dst is
// allocated if it is nil. It costs O(rd). It panics
// unless both vectors have length Dim. They may not overlap.
func (l *PA) MulVec(dst, x []float64) []float64 { return l.made().e.a.mulVec(dst, x) }

// Save writes the learner in the format of package persist, kind "pairs/pa". A
// learner loaded from it continues bit for bit.
func (l *PA) Save(w io.Writer) error {
	l.made()
	return persist.Write(w, PAKind, l.p, paState{polaState{l.e.b, l.e.a.state()}, l.since})
}

// paState is what is saved beside the parameters.
type paState struct {
	polaState
	Since int `json:"since,omitempty"`
}

// LoadPA reads a learner that Save wrote. Its errors wrap those of package persist
// if the file is foreign, newer, damaged or of another kind.
func LoadPA(r io.Reader) (*PA, error) {
	var p PAParams
	var s paState
	if err := persist.Load(r, PAKind, &p, &s); err != nil {
		return nil, err
	}
	empty := p
	if p.M0 > 0 {
		empty.M0 = 0 // a matrix of the file takes the start's place, which is not made
	}
	l, err := NewPA(s.Form.Dim, empty)
	if err == nil {
		err = p.check("pa")
	}
	if err == nil {
		err = checkSavedThreshold(s.Threshold)
	}
	if err == nil && (s.Since < 0 || s.Since >= max(p.Every, 1)) {
		err = fmt.Errorf("since: %d, want 0 to %d", s.Since, max(p.Every-1, 0))
	}
	if err == nil {
		l.e.b, l.since, l.p.M0 = s.Threshold, s.Since, p.M0
		if p.PSD == PSDAtEnd {
			l.e.a, err = s.Form.deferredForm()
		} else {
			l.e.a, err = s.Form.form(false)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, PAKind, err)
	}
	return l, nil
}
