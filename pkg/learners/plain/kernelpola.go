package plain

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// KernelPOLA is POLA between images φ(x) of which only the inner products K(x, x') = φ(x)·φ(x') are known. The metric is
//
//	A = Σᵢ βᵢrᵢrᵢᵀ,  rᵢ = Σⱼ ρᵢⱼvⱼ,  vⱼ = φ(xⱼ) − φ(yⱼ)                              (5)
//
// over the pairs j that made a step. After t steps the sum has up to 2t terms, and the matrix whose negative eigenvalue is
// sought is of order t, so that a step on a similar pair costs O(t³).
//
// Source: Shalev-Shwartz, Singer, Ng, Online and Batch Learning of Pseudo-Metrics, ICML 2004, Section 3.3.
type KernelPOLA struct {
	K     func(x, y []float64) float64
	B     float64
	Beta  []float64
	Rho   [][]float64   // ρᵢ, which may be shorter than there are pairs
	Pairs []metric.Pair // those of the vⱼ
	gram  [][]float64   // vⱼ·vₖ, k ≤ j
	q     [][]float64   // an orthonormal basis of the span of the vⱼ, by its coordinates in them, as Rho
}

// NewKernelPOLA returns KernelPOLA with A = 0 and b = 1.
func NewKernelPOLA(k func(x, y []float64) float64) *KernelPOLA { return &KernelPOLA{K: k, B: 1} }

// Copy returns a learner in the same state; neither learns from what the other is shown.
func (l *KernelPOLA) Copy() *KernelPOLA {
	c := *l
	c.Beta, c.Rho, c.Pairs, c.gram, c.q = slices.Clip(l.Beta), slices.Clip(l.Rho), slices.Clip(l.Pairs), slices.Clip(l.gram), slices.Clip(l.q)
	return &c
}

// products returns vⱼ·v of all pairs j, and v·v.
func (l *KernelPOLA) products(p metric.Pair) (c []float64, norm2 float64) {
	inner := func(o metric.Pair) float64 { return l.K(o.X, p.X) - l.K(o.X, p.Y) - l.K(o.Y, p.X) + l.K(o.Y, p.Y) }
	for _, o := range l.Pairs {
		c = append(c, inner(o))
	}
	return c, inner(p)
}

// sqDist returns d² from vⱼ·v of all pairs j.
func (l *KernelPOLA) sqDist(c []float64) (sq float64) {
	for i, r := range l.Rho {
		sq += l.Beta[i] * math.Pow(along(r, c), 2)
	}
	return sq
}

// Loss returns the hinge loss max(0, y(d² − b) + 1).
func (l *KernelPOLA) Loss(p metric.Pair) float64 {
	c, _ := l.products(p)
	return math.Max(0, float64(p.Label)*(l.sqDist(c)-l.B)+1)
}

// Step learns from a pair and returns d² and the loss before, and y·α.
func (l *KernelPOLA) Step(p metric.Pair) (sq, loss, step float64) {
	c, norm2 := l.products(p)
	sq = l.sqDist(c)
	y := float64(p.Label)
	loss = math.Max(0, y*(sq-l.B)+1)
	if loss == 0 {
		return sq, 0, 0
	}
	step = y * loss / (norm2*norm2 + 1)
	l.Pairs, l.gram = append(l.Pairs, p), append(l.gram, append(c, norm2))
	unit := make([]float64, len(l.Pairs))
	unit[len(c)] = 1
	l.orthonormal(unit)
	l.Beta, l.Rho = append(l.Beta, -step), append(l.Rho, unit) // Eq. 4
	l.B = math.Max(1, l.B+step)                                // printed: the maximum for y = −1 only
	if y > 0 && len(l.q) > 0 {
		if lambda, u := l.least(); lambda < 0 {
			l.Beta, l.Rho = append(l.Beta, -lambda), append(l.Rho, u) // A ← Â − λuuᵀ
		}
	}
	return sq, loss, step
}

// orthonormal adds to the basis what is new in v, by the kernel Gram–Schmidt procedure.
func (l *KernelPOLA) orthonormal(v []float64) {
	const negligible = 1e-7 // of ‖v‖
	rest := slices.Clone(v)
	norm := func() float64 { return math.Sqrt(math.Max(0, along(rest, l.times(rest)))) }
	before := norm()
	for range 2 { // once more, for the digits that the first time loses
		image := l.times(rest)
		for _, q := range l.q {
			w := along(q, image)
			for j := range q {
				rest[j] -= w * q[j]
			}
		}
	}
	if after := norm(); after > negligible*before {
		for j := range rest {
			rest[j] /= after
		}
		l.q = append(l.q, rest)
	}
}

// times returns the inner products of Σⱼ aⱼvⱼ with all vₖ.
func (l *KernelPOLA) times(a []float64) []float64 {
	out := make([]float64, len(l.gram))
	for j, row := range l.gram {
		for k, g := range row {
			out[j] += g * a[k]
			if k < j {
				out[k] += g * a[j]
			}
		}
	}
	return out
}

// least returns the least eigenvalue of A and its unit eigenvector u = Qκ, from the eigenvector κ of
//
//	(QᵀAQ)ₖⱼ = Σᵢ βᵢ(qₖ·rᵢ)(qⱼ·rᵢ)
func (l *KernelPOLA) least() (lambda float64, u []float64) {
	n := len(l.Pairs)
	gram := mat.NewSymDense(n, nil)
	for j, row := range l.gram {
		for k, g := range row {
			gram.SetSym(j, k, g)
		}
	}
	q, rho := rows(l.q, n), rows(l.Rho, n)
	var inner, a mat.Dense
	inner.Product(q, gram, rho.T()) // qₖ·rᵢ
	weighted := mat.DenseCopyOf(&inner)
	weighted.Apply(func(_, i int, v float64) float64 { return l.Beta[i] * v }, weighted)
	a.Mul(weighted, inner.T())
	r := spectral.Smallest(spectral.Matrix(symmetric(&a)), 1, spectral.Options{}) // by the Lanczos method, as Section 3.2 has it
	var image mat.VecDense
	image.MulVec(q.T(), r.Vectors.RowView(0))
	return r.Values[0], image.RawVector().Data
}

// rows is a matrix of rows, with zeros where they are shorter than n.
func rows(r [][]float64, n int) *mat.Dense {
	out := mat.NewDense(len(r), n, nil)
	for i, row := range r {
		copy(out.RawRowView(i), row)
	}
	return out
}

// along returns Σⱼ aⱼcⱼ over the entries of a.
func along(a, c []float64) float64 {
	s := 0.0
	for j, x := range a {
		s += x * c[j]
	}
	return s
}
