package ssikdr

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/spectral"
)

// pair is two objects of the support, I < J.
type pair struct{ i, j int }

// term is weight·d²(pair), a part of the left side of a constraint.
type term struct {
	pair   int
	weight float64
}

// problem is the dual of
//
//	min τ·tr W + ½‖W‖² + slack  over W ⪰ 0  subject to aᵢ(W) ≤ bᵢ + sᵢ,  aᵢ(W) = tr(CᵢK),
//
// where a constraint of ≥ has been negated: to minimise over the box lo ≤ λ ≤ hi
//
//	h(λ) = ½‖max(Y − τI, 0)‖² + bᵀλ + ½Σρᵢλᵢ²,  Y = −K₀^(1/2)·M·K₀^(1/2),  M = ΣλᵢCᵢ.
//
// K₀ is that of the support divided by unit, as bounds are.
type problem struct {
	tau   float64
	soft  bool
	unit  float64
	k0    *mat.Dense // t×t
	f     *mat.Dense // t×r, K₀ = FFᵀ, without the directions of round-off
	pairs []pair
	terms [][]term
	trace []float64
	sign  []float64 // −1 of a constraint of ≥
	b     []float64
	lo    []float64
	hi    []float64
	rho   []float64
	size  []float64 // Σ|weight|·d² + |trace|·tr K₀ under K₀, or |b| if that is larger: the unit of a violation
	curve []float64 // tr(CᵢK₀CᵢK₀) + ρᵢ, the largest curvature of h along λᵢ
	asked float64   // the largest factor by which a constraint asks W to change, at least 1
}

// newProblem returns the dual for K₀ of the support, block, which it overwrites.
func newProblem(block *mat.SymDense, support []int, constraints []ltkernel.Constraint, slack ltkernel.SlackRule, weight float64) (*problem, error) {
	t, m := len(support), len(constraints)
	largest := 0.0
	for i := range t {
		largest = max(largest, block.At(i, i))
	}
	q := &problem{
		soft: slack != ltkernel.SlackHard, unit: 1,
		terms: make([][]term, m), trace: make([]float64, m), sign: make([]float64, m), b: make([]float64, m),
		lo: make([]float64, m), hi: make([]float64, m), rho: make([]float64, m), size: make([]float64, m), curve: make([]float64, m), asked: 1,
	}
	if largest > 0 {
		_, e := math.Frexp(largest)
		q.unit = math.Ldexp(1, 2*(e/2)) // so that its root is exact
	}
	q.k0 = mat.NewDense(t, t, nil)
	for i := range t {
		for j := range t {
			q.k0.Set(i, j, block.At(i, j)/q.unit)
		}
	}
	for i := range t {
		for j := i; j < t; j++ {
			block.SetSym(i, j, q.k0.At(i, j))
		}
	}
	var err error
	if q.f, err = factor(block); err != nil {
		return nil, err
	}
	index := map[pair]int{}
	for k, c := range constraints {
		q.sign[k] = 1
		if c.Sense == ltkernel.SenseAtLeast {
			q.sign[k] = -1
		}
		for _, d := range c.Dists {
			i, _ := slices.BinarySearch(support, min(d.I, d.J))
			j, _ := slices.BinarySearch(support, max(d.I, d.J))
			at, ok := index[pair{i, j}]
			if !ok {
				at = len(q.pairs)
				index[pair{i, j}] = at
				q.pairs = append(q.pairs, pair{i, j})
			}
			q.terms[k] = append(q.terms[k], term{at, q.sign[k] * d.Weight})
		}
		q.trace[k] = q.sign[k] * c.Trace
		q.b[k] = q.sign[k] * (c.Bound / q.unit)
	}
	return q, q.scale(constraints, slack, weight)
}

// scale sets what follows from the sizes of the constraints.
func (q *problem) scale(constraints []ltkernel.Constraint, slack ltkernel.SlackRule, weight float64) error {
	trace, square := 0.0, 0.0 // of K₀ and of its square
	t, _ := q.k0.Dims()
	for i := range t {
		row := q.k0.RawRowView(i)
		trace += row[i]
		square += floats.Dot(row, row)
	}
	for k, ts := range q.terms {
		size, curve := math.Abs(q.trace[k])*trace, q.trace[k]*q.trace[k]*square
		for a, x := range ts {
			size += math.Abs(x.weight) * q.inner(x.pair, x.pair)
			for _, y := range ts[:a] {
				d := q.inner(x.pair, y.pair)
				curve += 2 * x.weight * y.weight * d * d
			}
			d := q.inner(x.pair, x.pair)
			curve += x.weight * x.weight * d * d
			if q.trace[k] != 0 {
				curve += 2 * q.trace[k] * x.weight * q.through(x.pair)
			}
		}
		if math.IsInf(size, 0) || math.IsInf(q.b[k], 0) || math.IsInf(curve, 0) || math.IsNaN(curve) {
			return &ltkernel.ConstraintError{Index: k, Err: errors.New("its size under K₀ overflows float64: scale the data down")}
		}
		if bound := math.Abs(q.b[k]); bound > size && size >= 0x1p-1000 {
			q.asked = max(q.asked, bound/size)
			size = bound
		}
		if size < 0x1p-1000 { // all its distances are 0: so is the left side, whatever W
			size = 1
		}
		q.size[k] = size
		q.hi[k] = math.Inf(1)
		switch c := weight * q.unit; slack {
		case ltkernel.SlackL1:
			q.hi[k] = c
			if v := c * size; math.IsInf(v, 1) || v == 0 {
				return &ltkernel.ConstraintError{Index: k, Err: errors.New("the price C times its size under K₀ overflows float64, or is 0: scale the data")}
			}
		case ltkernel.SlackL2:
			q.rho[k] = 1 / (c * q.unit)
			if v := q.rho[k] / (size * size); math.IsInf(v, 1) || v == 0 || q.rho[k] == 0 || math.IsInf(q.rho[k], 1) {
				return &ltkernel.ConstraintError{Index: k, Err: errors.New("the price C times its squared size under K₀ overflows float64, or is 0: scale the data")}
			}
		}
		if constraints[k].Sense == ltkernel.SenseExactly {
			q.lo[k] = -q.hi[k]
		}
		q.curve[k] = max(curve, 0) + q.rho[k]
		if q.curve[k] < 0x1p-1000 {
			q.curve[k] = 1
		}
	}
	return nil
}

// inner returns (φᵢ − φⱼ)ᵀ(φₖ − φₗ) of two pairs; 0 for a squared distance that is round-off.
func (q *problem) inner(a, b int) float64 {
	x, y := q.pairs[a], q.pairs[b]
	if a == b {
		ii, jj := q.k0.At(x.i, x.i), q.k0.At(x.j, x.j)
		if d := ii - 2*q.k0.At(x.i, x.j) + jj; d > 4*0x1p-52*(ii+jj) {
			return d
		}
		return 0
	}
	return q.k0.At(x.i, y.i) - q.k0.At(x.i, y.j) - q.k0.At(x.j, y.i) + q.k0.At(x.j, y.j)
}

// through returns eᵀK₀K₀e, e the difference of the indicators of a pair.
func (q *problem) through(a int) float64 {
	s := 0.0
	x, y := q.k0.RawRowView(q.pairs[a].i), q.k0.RawRowView(q.pairs[a].j)
	for l, v := range x {
		s += (v - y[l]) * (v - y[l])
	}
	return s
}

var errOverflow = errors.New("k0: its eigenvalues overflow float64: scale the data down")

// factor returns F with K₀ = FFᵀ, without the directions of round-off.
func factor(k *mat.SymDense) (*mat.Dense, error) {
	var eig spectral.EigenSym
	if !eig.Factorize(k, true) {
		return nil, errOverflow
	}
	return eig.Factor(), nil
}

// weights returns the weights of the pairs in M, and that of the identity.
func (q *problem) weights(lambda []float64) (pairs []float64, trace float64) {
	pairs = make([]float64, len(q.pairs))
	for i, l := range lambda {
		if l == 0 {
			continue
		}
		for _, t := range q.terms[i] {
			pairs[t.pair] += l * t.weight
		}
		trace += l * q.trace[i]
	}
	return pairs, trace
}

// laplacian is M = Σ weight·(eᵢ − eⱼ)(eᵢ − eⱼ)ᵀ + trace·I, sparse: the pairs without a weight are left out.
type laplacian struct {
	pairs   []pair
	weights []float64
	trace   float64
}

func (q *problem) laplacian(lambda []float64) laplacian {
	all, trace := q.weights(lambda)
	m := laplacian{trace: trace}
	for k, w := range all {
		if w != 0 {
			m.pairs, m.weights = append(m.pairs, q.pairs[k]), append(m.weights, w)
		}
	}
	return m
}

// rows returns a·M for a, k×t, of which each row is a vector over the objects.
func (m laplacian) rows(a *mat.Dense) *mat.Dense {
	k, t := a.Dims()
	out := mat.NewDense(k, t, nil)
	for r := range k {
		x, y := a.RawRowView(r), out.RawRowView(r)
		if m.trace != 0 {
			floats.AddScaled(y, m.trace, x)
		}
		for p, at := range m.pairs {
			d := m.weights[p] * (x[at.i] - x[at.j])
			y[at.i] += d
			y[at.j] -= d
		}
	}
	return out
}

// columns returns M·a for a, t×k.
func (m laplacian) columns(a *mat.Dense) *mat.Dense {
	t, k := a.Dims()
	out := mat.NewDense(t, k, nil)
	diff := make([]float64, k)
	if m.trace != 0 {
		out.Scale(m.trace, a)
	}
	for p, at := range m.pairs {
		floats.SubTo(diff, a.RawRowView(at.i), a.RawRowView(at.j))
		floats.AddScaled(out.RawRowView(at.i), m.weights[p], diff)
		floats.AddScaled(out.RawRowView(at.j), -m.weights[p], diff)
	}
	return out
}

// operator returns Y in the coordinates of F, r×r: −Fᵀ·M·F.
func (q *problem) operator(m laplacian) *mat.SymDense {
	y := matrix.Mul(q.f.T(), m.columns(q.f))
	r, _ := y.Dims()
	out := mat.NewSymDense(r, nil)
	for i := range r {
		for j := i; j < r; j++ {
			out.SetSym(i, j, -(y.At(i, j)+y.At(j, i))/2)
		}
	}
	return out
}

// sides returns aᵢ of the kernel matrix EEᵀ of the objects, for E transposed, k×t, in O(mk).
func (q *problem) sides(e *mat.Dense) []float64 {
	dist := make([]float64, len(q.pairs))
	trace := 0.0
	if e != nil {
		k, _ := e.Dims()
		for r := range k {
			row := e.RawRowView(r)
			for p, at := range q.pairs {
				d := row[at.i] - row[at.j]
				dist[p] += d * d
			}
			trace += floats.Dot(row, row)
		}
	}
	left := make([]float64, len(q.terms))
	for i, ts := range q.terms {
		for _, t := range ts {
			left[i] += t.weight * dist[t.pair]
		}
		left[i] += q.trace[i] * trace
	}
	return left
}

// clip sets λ to the nearest point of the box.
func (q *problem) clip(lambda []float64) {
	for i, v := range lambda {
		lambda[i] = min(max(v, q.lo[i]), q.hi[i])
	}
}
