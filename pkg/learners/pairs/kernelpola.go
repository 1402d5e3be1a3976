package pairs

import (
	"fmt"
	"io"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// KernelPOLAVersion counts the changes of the values that KernelPOLA computes.
const KernelPOLAVersion = 1

// KernelPOLAKind is the kind under which package persist stores a KernelPOLA.
const KernelPOLAKind = "pairs/kernel-pola"

// KernelPOLA is POLA between images under the feature map φ of a kernel K, K(x,
// x') = φ(x)·φ(x'):
//
//	v = φ(x) − φ(y),  d² = vᵀAv,  predict similar iff d² ≤ b
//	ℓ = max(0, y(d² − b) + 1),  α = ℓ/(‖v‖⁴ + 1 + γ)
//
// with the updates of POLA, from A = 0 and b = b₁; only K is evaluated. Source:
// Shalev-Shwartz, Singer, Ng, Online and Batch Learning of Pseudo-Metrics, ICML
// 2004, Section 3.3. With the linear kernel it is POLA.
//
// The paper's Eq. 5 writes A = Σ β_i r_i r_iᵀ with r_i in the span of the v's. Here
// A = QÃQᵀ with Q an orthonormal basis of the span of the points' images, by
// kernel Gram–Schmidt, and Ã the matrix of POLA in these coordinates. Points of
// pairs that update are stored, each once, and only if its image is further than
// 6e-6·√K(x, x) from the span of those before: with the linear kernel at most dim
// points. When a point lies far along an axis that came of a short rest, the
// basis is made anew, with pivoting. What is left out of a point that is not
// stored, like round-off, is small relative to K(x, x), not to ‖v‖²: far from the
// origin, where the kernel is not invariant to translation, subtract the mean
// first.
//
// With m points stored, a prediction costs O(md) for 2m kernel evaluations and
// O(m²); memory is O(m² + md). With the Gaussian kernel m grows with the number
// of updates, without a bound.
//
// All methods but Step may be called concurrently, if K may.
//
// The same as printed, at O(m³) a step: [metriclab/pkg/learners/plain.KernelPOLA].
type KernelPOLA struct {
	e       engine
	c       *chart
	arrival arrival // scratch of Step
	v       []float64
	p       POLAParams
}

var _ learners.PairKernel = (*KernelPOLA)(nil)

// NewKernelPOLA returns a KernelPOLA for vectors of length dim. It returns an
// error unless dim ≥ 1 and vectors of that length fit limits.Memory,
// B1 is of magnitude at most MaxThreshold, and Gamma, the γ of Eq. 12 and
// not of a kernel, is finite and not negative. It panics if k is nil. Any symmetric positive
// semi-definite function may be the kernel; only those with a kernels.Spec can be
// saved.
func NewKernelPOLA(dim int, k kernels.Kernel, p POLAParams) (*KernelPOLA, error) {
	const name = "kernel-pola"
	if k == nil {
		panic("pairs: NewKernelPOLA: the kernel is nil")
	}
	if err := checkDim(name, dim); err != nil {
		return nil, err
	}
	p = p.Resolved()
	if err := p.check(name); err != nil {
		return nil, err
	}
	e := engine{name: name, length: "‖φ(x)−φ(y)‖", rate: polaRate(p.Gamma), b: *p.B1, a: newGrowingForm(), features: dim}
	return &KernelPOLA{e: e, c: newChart(k, dim), p: p}, nil
}

// made returns l, and panics unless a constructor made it.
func (l *KernelPOLA) made() *KernelPOLA {
	if l == nil || l.c == nil {
		panic("pairs: KernelPOLA: zero value, use NewKernelPOLA")
	}
	return l
}

// Dim returns the dimension of the vectors.
func (l *KernelPOLA) Dim() int { return l.made().c.dim }

// Threshold returns b.
func (l *KernelPOLA) Threshold() float64 { return l.made().e.b }

// Params returns the resolved parameters.
func (l *KernelPOLA) Params() POLAParams { return l.made().p.Resolved() }

// Kernel returns K.
func (l *KernelPOLA) Kernel() kernels.Kernel { return l.made().c.kernel }

// Support returns m, the number of stored points.
func (l *KernelPOLA) Support() int { return l.made().c.size() }

func (l *KernelPOLA) sqDist(f metric.Pair) float64 {
	demand(l.e.name, f.CheckVectors(l.c.dim))
	return learners.Saturate(l.e.a.sqNorm(l.c.difference(f.X, f.Y)))
}

// Predict returns d² and whether d² ≤ b; d² is math.MaxFloat64 if it or a value of the
// kernel overflows. It ignores the label. It panics unless both vectors have length Dim
// and finite entries.
func (l *KernelPOLA) Predict(f metric.Pair) learners.PairPrediction {
	l.made()
	return l.e.prediction(l.sqDist(f))
}

// Loss returns the hinge loss max(0, y(d² − b) + 1), at most math.MaxFloat64. It
// panics as Predict does, and if the label is neither 1 nor -1.
func (l *KernelPOLA) Loss(f metric.Pair) float64 {
	l.made()
	demand(l.e.name, f.CheckLabel())
	return learners.Saturate(l.e.hinge(l.sqDist(f), f.Label))
}

// Step predicts, suffers the hinge loss and updates. StepSize is y·α. It
// returns an error, and changes nothing, if the label is not ±1, a vector is not of length Dim,
// or an entry is NaN or infinite. So it does if a value of the kernel, ‖v‖⁴, d² or the loss
// overflows, or the step would change A or b by more than 1e290. Nor does it take a step after
// which the learner would not fit limits.Memory.
func (l *KernelPOLA) Step(f metric.Pair) (learners.PairOutcome, error) {
	l.made()
	var none learners.PairOutcome
	// Not Check: what must be finite is ‖φ(x)−φ(y)‖⁴, which plan looks at.
	if err := f.CheckLabel(); err != nil {
		return none, fmt.Errorf("%s: %w", l.e.name, err)
	}
	if err := f.CheckVectors(l.c.dim); err != nil {
		return none, fmt.Errorf("%s: %w", l.e.name, err)
	}
	v, err := l.c.arrive(&l.arrival, l.v, f.X, f.Y)
	if err != nil {
		return none, fmt.Errorf("%s: %w", l.e.name, err)
	}
	l.v = v
	q := l.e.a.look(v[:l.e.a.dim])
	if _, _, size, err := l.e.plan(q, v, f.Label); err == nil && size != 0 && l.c.renew(&l.arrival) {
		// The update is made in better coordinates; the prediction stands.
		next, t := l.c.pivoted(f.X, f.Y)
		if v, err = next.arrive(&l.arrival, v, f.X, f.Y); err != nil {
			return none, fmt.Errorf("%s: %w", l.e.name, err)
		}
		if _, _, _, err := l.e.plan(q, v, f.Label); err != nil {
			return none, err
		}
		l.v, l.c = v, next
		l.e.a.turn(t)
		l.e.a.look(v[:l.e.a.dim])
	}
	o, err := l.e.update(q, v, f.Label)
	if o.Updated {
		l.c.age++
	}
	if err == nil && l.e.a.dim > l.c.size() {
		l.c.store(&l.arrival)
	}
	return o, err
}

// KernelMetric returns a snapshot of the squared distance, by a pivoted Cholesky
// decomposition of the core of A: O(m²r) with r the rank of A.
func (l *KernelPOLA) KernelMetric() *kernels.Metric { return l.made().c.metric(l.e.a.factor()) }

// kernelPOLAParams and kernelPOLAState are what Save writes.
type kernelPOLAParams struct {
	POLAParams
	Kernel kernels.Spec `json:"kernel"`
}

type kernelPOLAState struct {
	Threshold float64        `json:"threshold"`
	Dim       int            `json:"dim"`
	Points    persist.Floats `json:"points"`
	Factor    persist.Floats `json:"factor"`
	Age       int            `json:"age"`
	Form      formState      `json:"form"`
}

// Save writes the learner in the format of package persist, kind
// "pairs/kernel-pola". A learner loaded from it continues bit for bit. It returns
// an error, and writes nothing, if the kernel has no kernels.Spec.
func (l *KernelPOLA) Save(w io.Writer) error {
	l.made()
	spec, err := kernels.SpecOf(l.c.kernel)
	if err != nil {
		return fmt.Errorf("%s: %w", l.e.name, err)
	}
	return persist.Write(w, KernelPOLAKind, kernelPOLAParams{l.p, spec},
		kernelPOLAState{l.e.b, l.c.dim, l.c.points, persist.Floats(l.c.l), l.c.age, l.e.a.state()})
}

// LoadKernelPOLA reads a learner that Save wrote. Its errors wrap those of
// package persist if the file is foreign, newer, damaged or of another kind.
func LoadKernelPOLA(r io.Reader) (*KernelPOLA, error) {
	var p kernelPOLAParams
	var s kernelPOLAState
	if err := persist.Load(r, KernelPOLAKind, &p, &s); err != nil {
		return nil, err
	}
	l, err := s.learner(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, KernelPOLAKind, err)
	}
	return l, nil
}

// learner returns the saved learner, or an error if the parts do not fit.
func (s kernelPOLAState) learner(p kernelPOLAParams) (*KernelPOLA, error) {
	k, err := p.Kernel.Kernel()
	if err != nil {
		return nil, err
	}
	l, err := NewKernelPOLA(s.Dim, k, p.POLAParams)
	if err != nil {
		return nil, err
	}
	l.e.b = s.Threshold
	if err := checkSavedThreshold(l.e.b); err != nil {
		return nil, err
	}
	if l.c, err = loadChart(k, s.Dim, s.Points, s.Factor, s.Age); err != nil {
		return nil, err
	}
	if l.e.a, err = s.Form.form(true); err != nil {
		return nil, err
	}
	if l.e.a.dim != l.c.size() {
		return nil, fmt.Errorf("a form in %d dimensions, %d points", l.e.a.dim, l.c.size())
	}
	return l, nil
}
