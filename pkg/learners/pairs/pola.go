package pairs

import (
	"fmt"
	"io"

	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// POLAVersion counts the changes of the values that POLA computes.
const POLAVersion = 2

// POLAKind is the kind under which package persist stores a POLA.
const POLAKind = "pairs/pola"

// MaxThreshold bounds the magnitude of a start threshold, so that no entry of a
// matrix overflows when it is squared.
const MaxThreshold = 1e100

// POLAParams are the parameters of POLA.
type POLAParams struct {
	// B1 is the start threshold b₁, from −MaxThreshold to MaxThreshold; nil means 1. A value is
	// given as new(0.5). From the first update on, 1 ≤ b whatever b₁ is.
	B1 *float64 `json:"b1" range:">= -1e100 and <= 1e100" doc:"start threshold; from the first update on it is at least 1"`
	// Gamma is the relaxation γ ≥ 0 of Eq. 12 for inseparable data; 0 is the
	// algorithm of Fig. 1.
	Gamma float64 `json:"gamma" range:">= 0" doc:"relaxation for inseparable data (Eq. 12); 0 is the algorithm of Fig. 1"`
}

// Resolved returns p with its defaults filled in: B1 = 1.
func (p POLAParams) Resolved() POLAParams {
	if p.B1 == nil {
		p.B1 = new(1.0)
	} else {
		p.B1 = new(*p.B1) // a copy, so that the caller's variable is not kept
	}
	return p
}

// check returns an error, with the learner's name, if a parameter is out of
// range.
func (p POLAParams) check(name string) error {
	return ranges.Check(name, p)
}

// POLA is the pseudo-metric online learning algorithm
//
//	v = x − y,  d² = vᵀAv,  predict similar iff d² ≤ b
//	ℓ = max(0, y(d² − b) + 1),  α = ℓ/(‖v‖⁴ + 1 + γ)
//	Â = A − y·α·vvᵀ,  b̂ = b + y·α
//	A ← Â with its negative eigenvalue set to zero,  b ← max(b̂, 1)
//
// starting from A = 0 and b = b₁, where y = ±1 is the label. Source:
// Shalev-Shwartz, Singer, Ng, Online and Batch Learning of Pseudo-Metrics,
// ICML 2004, Fig. 1 (γ = 0) and Eq. 12 (γ > 0). Fig. 1 omits the maximum after
// similar pairs; it is applied here after every update, as Section 3.2 defines
// the projection. Â has at most one negative eigenvalue, so that Projections
// of an outcome is 0 or 1.
//
// A pair with x = y updates b only; ‖x−y‖² below 2.3e-308, where numbers lose their
// digits, counts as 0. A step which the projection undoes as a
// whole (x = y dissimilar at b = 1) reports its StepSize and Updated = false.
//
// A is kept as UCUᵀ with U orthonormal and a core C that is, on generic data,
// of order r, the number of dissimilar updates so far, at most d: memory is
// O(dr) and bounded by O(d²). For d ≤ 12, and once r nears d, U = I.
//
// All methods but Step may be called concurrently.
//
// The same in 30 lines: [metriclab/pkg/learners/plain.POLA].
type POLA struct {
	e engine
	p POLAParams
}

var _ learners.PairMetric = (*POLA)(nil)

// NewPOLA returns a POLA for vectors of length dim. It returns an error unless
// dim ≥ 1 and vectors of that length fit limits.Memory, B1 is of magnitude at most
// MaxThreshold, and Gamma is finite and not negative.
func NewPOLA(dim int, p POLAParams) (*POLA, error) {
	if err := checkDim("pola", dim); err != nil {
		return nil, err
	}
	p = p.Resolved()
	if err := p.check("pola"); err != nil {
		return nil, err
	}
	return &POLA{e: newEngine("pola", dim, polaRate(p.Gamma), *p.B1), p: p}, nil
}

// checkDim returns an error, with the learner's name, unless a learner that grows
// with its stream can begin with vectors of length dim.
func checkDim(name string, dim int) error {
	if dim < 1 {
		return fmt.Errorf("%s: dim: %d is not allowed, want at least 1", name, dim)
	}
	const vectors = 4 // x − y, its remainder, a column of U and one of the projection
	if err := limits.Check(fmt.Sprintf("%s with %d features", name, dim), limits.Floats(vectors, dim)); err != nil {
		return fmt.Errorf("%s: dim: %w", name, err)
	}
	return nil
}

// polaRate is the rate of Eq. 12, and of Eq. 4 for gamma = 0.
func polaRate(gamma float64) rate {
	return func(slack, norm4 float64) float64 {
		if slack <= 0 {
			return 0
		}
		return slack / (norm4 + 1 + gamma)
	}
}

// made returns l, and panics unless a constructor made it.
func (l *POLA) made() *POLA {
	if l == nil || l.e.a == nil {
		panic("pairs: POLA: zero value, use NewPOLA")
	}
	return l
}

// Dim returns the dimension of the vectors.
func (l *POLA) Dim() int { return l.made().e.a.dim }

// Threshold returns b.
func (l *POLA) Threshold() float64 { return l.made().e.b }

// Params returns the resolved parameters.
func (l *POLA) Params() POLAParams { return l.made().p.Resolved() }

// Predict returns d² and whether d² ≤ b; d² is math.MaxFloat64 where it overflows. It
// ignores the label. It panics unless both vectors have length Dim and finite entries.
func (l *POLA) Predict(f metric.Pair) learners.PairPrediction { return l.made().e.predict(f) }

// Loss returns the hinge loss max(0, y(d² − b) + 1), at most math.MaxFloat64. It panics
// as Predict does, and if the label is neither 1 nor -1.
func (l *POLA) Loss(f metric.Pair) float64 { return l.made().e.loss(f) }

// Step predicts, suffers the hinge loss and updates. StepSize is y·α. It
// returns an error, and changes nothing, if the label is not ±1, a vector is not
// of length Dim, or an entry is NaN or infinite. So it does if ‖x−y‖⁴, d² or the
// loss overflows, or the step would change A or b by more than 1e290. Nor does
// it take a step after which the learner would not fit limits.Memory.
func (l *POLA) Step(f metric.Pair) (learners.PairOutcome, error) {
	l.made()
	return l.e.step(f)
}

// Metric returns a snapshot of A, by a pivoted Cholesky decomposition of its
// core: O(r²d).
func (l *POLA) Metric() *metric.Mahalanobis { return l.made().e.a.metric() }

// LastChange returns the terms of A after the last Step minus A before it:
//
//	−y·α·vvᵀ + s·ppᵀ,
//
// the second one only if an eigenvalue −s was removed; it is empty if A did not
// change, if that Step returned an error, and for a learner that has just been
// made or loaded. Caches of distances or embeddings follow A by it at O(d) per
// entry. The sum is exact to 1e-11 of the length of the terms. Step does no work
// for it: a call costs O(rd), and nothing if no eigenvalue was removed. The
// vectors are valid until the next Step.
func (l *POLA) LastChange() []metric.RankOne { return l.made().e.lastChange() }

// MulVec sets dst to Ax and returns it; dst is allocated if it is nil. It costs
// O(rd). It panics unless both vectors have length Dim. They may not overlap.
func (l *POLA) MulVec(dst, x []float64) []float64 { return l.made().e.a.mulVec(dst, x) }

// polaState is what Save writes beside the parameters.
type polaState struct {
	Threshold float64   `json:"threshold"`
	Form      formState `json:"form"`
}

// Save writes the learner in the format of package persist, kind "pairs/pola".
// A learner loaded from it continues bit for bit.
func (l *POLA) Save(w io.Writer) error {
	l.made()
	return persist.Write(w, POLAKind, l.p, polaState{l.e.b, l.e.a.state()})
}

// LoadPOLA reads a learner that Save wrote. Its errors wrap those of package
// persist if the file is foreign, newer, damaged or of another kind.
func LoadPOLA(r io.Reader) (*POLA, error) {
	var p POLAParams
	var s polaState
	if err := persist.Load(r, POLAKind, &p, &s); err != nil {
		return nil, err
	}
	a, err := s.Form.form(false)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, POLAKind, err)
	}
	if err := checkSavedThreshold(s.Threshold); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, POLAKind, err)
	}
	l, err := NewPOLA(a.dim, p)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, POLAKind, err)
	}
	l.e.a, l.e.b = a, s.Threshold
	return l, nil
}
