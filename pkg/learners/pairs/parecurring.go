package pairs

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// Recurring is a fixed list of m labelled pairs from which a learner learns again
// and again, with the squares of the inner products (vᵢᵀvⱼ)² of their differences
// v = x − y. It takes 8(m² + md) bytes and O(m²d) time to make. It is immutable, so
// that any number of learners may share it concurrently.
type Recurring struct {
	labels []metric.Label
	v      blas64.General // m×d, the differences
	sq     []float64      // m×m, (vᵢᵀvⱼ)² by rows
	most   []float64      // the largest of each row
}

// NewRecurring returns the pairs of rows of x, n×d with a row per object, that links
// name, by their order. It returns an error if there is no link, a link has label 0
// or an index outside x, an entry of x is NaN or infinite, or the square of an inner
// product overflows. It panics if x is nil or empty.
func NewRecurring(x mat.Matrix, links []metric.Link) (*Recurring, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("pairs: NewRecurring: x is nil or empty")
	}
	n, d := xd.Dims()
	if err := metric.CheckFinite(xd); err != nil {
		return nil, fmt.Errorf("recurring: %w", err)
	}
	if len(links) == 0 {
		return nil, errors.New("recurring: links: none given, want at least one")
	}
	if err := metric.CheckLinks(n, links); err != nil {
		return nil, fmt.Errorf("recurring: %w", err)
	}
	m := len(links)
	if err := limits.Check(fmt.Sprintf("%d recurring pairs of %d features", m, d), limits.Floats(m, m+d)); err != nil {
		return nil, fmt.Errorf("recurring: links: %w", err)
	}
	r := &Recurring{
		labels: make([]metric.Label, m),
		v:      blas64.General{Rows: m, Cols: d, Stride: d, Data: make([]float64, m*d)},
		sq:     make([]float64, m*m),
		most:   make([]float64, m),
	}
	for k, link := range links {
		r.labels[k] = link.Label
		metric.Sub(r.diff(k), xd.RawRowView(link.I), xd.RawRowView(link.J))
	}
	gram := blas64.Symmetric{N: m, Stride: m, Data: r.sq, Uplo: blas.Lower}
	blas64.Syrk(blas.NoTrans, 1, r.v, 0, gram)
	for i := range m {
		row := r.sq[i*m : i*m+i+1]
		for j, g := range row {
			if row[j] = g * g; math.IsInf(row[j], 0) || math.IsNaN(row[j]) {
				return nil, fmt.Errorf("recurring: links %d and %d: (vᵢᵀvⱼ)² = %v, want a finite number: scale the features down", j, i, row[j])
			}
			r.sq[j*m+i] = row[j]
			r.most[i], r.most[j] = max(r.most[i], row[j]), max(r.most[j], row[j])
		}
	}
	return r, nil
}

// Len returns m, the number of pairs.
func (r *Recurring) Len() int { return r.v.Rows }

// Dim returns the dimension of the vectors.
func (r *Recurring) Dim() int { return r.v.Cols }

// Label returns the label of pair i. It panics unless 0 ≤ i < Len.
func (r *Recurring) Label(i int) metric.Label { return r.labels[i] }

func (r *Recurring) diff(i int) []float64 { return r.v.Data[i*r.v.Stride:][:r.v.Cols] }

// column returns (vᵢᵀvⱼ)² for all i.
func (r *Recurring) column(j int) []float64 { m := r.v.Rows; return r.sq[j*m : (j+1)*m] }

// RecurringPA is PA with PSD = PSDAtEnd on a fixed list of pairs. In place of M it
// keeps the coefficients of M = M0·I + Σ aⱼvⱼvⱼᵀ and the squared distance qᵢ = vᵢᵀMvᵢ of
// every pair, so that a prediction is a look-up, and a step on pair j, with its
// τ,
//
//	qᵢ ← qᵢ − y·τ·(vᵢᵀvⱼ)²  for all i,   aⱼ ← aⱼ − y·τ,   b ← b + y·τ
//
// costs O(m), whatever the dimension: less than PA where m < d². The rounds are the
// indices of pairs. Its hypotheses are those of PA up to round-off, which grows with
// the number of steps as that of PA does. The experiments of Perez-Suay and Ferri,
// 2013, Section 3, present at most 40c(c−1) pairs again and again.
//
// It is not saved; Learner returns the PA of the same hypothesis, which is.
//
// All methods but Step may be called concurrently.
type RecurringPA struct {
	r *Recurring
	e engine // without a form
	p PAParams
	q []float64 // vᵢᵀMvᵢ
	a []float64 // M = M0·I + Σ aⱼvⱼvⱼᵀ
}

var _ learners.Online[int, learners.PairPrediction] = (*RecurringPA)(nil)

// NewRecurringPA returns a learner from the pairs of r, at its start. It returns an
// error if PSD is PSDEachStep or Every is not 0, which need M itself, or a parameter is out of range. It panics if r is nil.
func NewRecurringPA(r *Recurring, p PAParams) (*RecurringPA, error) {
	if r == nil {
		panic("pairs: NewRecurringPA: the pairs are nil")
	}
	const name = "recurring-pa"
	p = p.Resolved()
	if err := p.check(name); err != nil {
		return nil, err
	}
	if p.PSD != PSDAtEnd {
		return nil, fmt.Errorf("%s: psd: PSDEachStep is not allowed, want PSDAtEnd", name)
	}
	if p.Every != 0 {
		return nil, fmt.Errorf("%s: every: %d is not allowed, want 0: a projection needs the matrix", name, p.Every)
	}
	e := engine{name: name, rate: p.rate(), twoSided: p.Rule == PALS, b: p.B0}
	l := &RecurringPA{r: r, e: e, p: p, q: make([]float64, r.Len()), a: make([]float64, r.Len())}
	if p.M0 > 0 {
		for i := range l.q {
			l.q[i] = p.M0 * vector.Dot(r.diff(i), r.diff(i))
		}
	}
	return l, nil
}

// made returns l, and panics unless a constructor made it.
func (l *RecurringPA) made() *RecurringPA {
	if l == nil || l.r == nil {
		panic("pairs: RecurringPA: zero value, use NewRecurringPA")
	}
	return l
}

// Threshold returns b of the running hypothesis.
func (l *RecurringPA) Threshold() float64 { return l.made().e.b }

// Params returns the resolved parameters.
func (l *RecurringPA) Params() PAParams { return l.made().p }

// Predict returns d² of pair i, which may be negative, and whether d² ≤ b. It panics
// unless 0 ≤ i < Len of the pairs.
func (l *RecurringPA) Predict(i int) learners.PairPrediction {
	l.made()
	demand(l.e.name, l.check(i))
	return l.e.prediction(learners.Saturate(l.q[i]))
}

// check returns an error unless there is a pair i.
func (l *RecurringPA) check(i int) error {
	if i < 0 || i >= l.r.Len() {
		return fmt.Errorf("pair: %d is not allowed, want 0 to %d", i, l.r.Len()-1)
	}
	return nil
}

// Loss returns the loss of the rule on pair i, as PA.Loss does. It panics like
// Predict.
func (l *RecurringPA) Loss(i int) float64 {
	return learners.Saturate(l.e.lossAt(l.Predict(i).SqDist, l.r.labels[i]))
}

// Step predicts, suffers the loss and updates on pair i. StepSize is y·τ. It returns
// an error, and changes nothing, if there is no pair i, or if the loss, or the change
// of a squared distance or of b, is not finite or more than 1e290.
func (l *RecurringPA) Step(i int) (learners.PairOutcome, error) {
	l.made()
	var none learners.PairOutcome
	if err := l.check(i); err != nil {
		return none, fmt.Errorf("%s: %w", l.e.name, err)
	}
	column := l.r.column(i)
	o := l.e.outcome(l.q[i], column[i], l.r.labels[i]) // column[i] = ‖v‖⁴
	if err := l.e.checkGrowth(o, l.q[i], math.Abs(o.StepSize)*max(1, l.r.most[i])); err != nil {
		return none, err
	}
	if o.StepSize == 0 {
		return o, nil
	}
	product.AddScaled(l.q, -o.StepSize, column)
	l.a[i] -= o.StepSize
	b := l.e.b + o.StepSize
	o.Updated = column[i] > 0 || b != l.e.b
	l.e.b = b
	return o, nil
}

// Learner returns a PA with the same hypothesis, which goes on with any pairs: O(md²).
func (l *RecurringPA) Learner() *PA {
	l.made()
	d := l.r.Dim()
	e := l.p.engine(d)
	e.b = l.e.b
	f := e.a
	f.fillIdentity(l.p.M0)
	for j, a := range l.a {
		if a != 0 {
			f.c.rankOne(a, l.r.diff(j))
		}
	}
	f.size()
	return &PA{e: e, p: l.p}
}

// Metric returns a snapshot of the positive semi-definite matrix nearest to M:
// O(md² + d³).
func (l *RecurringPA) Metric() *metric.Mahalanobis { return l.made().Learner().Metric() }

// Final returns Metric, and b or, if that is less, 1.
func (l *RecurringPA) Final() (m *metric.Mahalanobis, b float64) { return l.made().Learner().Final() }
