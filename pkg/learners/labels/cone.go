package labels

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// coordinates are those in which LMNN and MCML descend: z = B(x − μ). A metric N of z
// is the metric M = BᵀNB of x.
type coordinates struct {
	z *mat.Dense // n×r, the rows
	b *mat.Dense // r×d
}

// whitened returns coordinates in which the rows of x have mean 0 and covariance I,
// whatever the units and correlations of features. Features are standardised before
// directions without variance (see metric.RankTolerance) are left out.
func whitened(x *mat.Dense) (*coordinates, error) {
	n, d := x.Dims()
	dev := mat.DenseCopyOf(x)
	centre(dev)
	inverse := make([]float64, d) // of the standard deviations; 0 of a constant feature
	column := make([]float64, n)
	for j := range d {
		mat.Col(column, j, dev)
		largest := floats.Norm(column, math.Inf(1))
		if !(largest <= math.MaxFloat64) {
			return nil, errors.New("deviations from the mean overflow float64: rescale the features")
		}
		if largest == 0 {
			continue
		}
		for i := range column { // squares of what is left neither overflow nor vanish
			column[i] /= largest
		}
		deviation := floats.Norm(column, 2) / math.Sqrt(float64(n))
		floats.Scale(1/deviation, column)
		dev.SetCol(j, column)
		inverse[j] = 1 / (largest * deviation)
	}
	w, err := metric.InverseScatter(dev, float64(n), 0)
	if errors.Is(err, metric.ErrNoScatter) {
		return nil, errors.New("all rows coincide, so no scale can be learned")
	}
	if err != nil {
		return nil, err
	}
	b := w.Factor()
	c := &coordinates{z: matrix.Mul(dev, b.T()), b: b}
	for k := range w.Rows() {
		floats.Mul(c.b.RawRowView(k), inverse)
	}
	if metric.CheckFinite(c.b) != nil {
		return nil, metric.ErrWeights
	}
	return c, nil
}

// turn changes to the coordinates Az for the matrix a.
func (c *coordinates) turn(a *mat.Dense) {
	c.z, c.b = matrix.Mul(c.z, a.T()), matrix.Mul(a, c.b)
}

// balance changes to coordinates of the eigenvectors of the r×r scatter matrix s, in which s is I
// but for directions in which it is less than floor: these are scaled as if it were floor. It
// returns the eigenvalues and the factors of the scales.
func (c *coordinates) balance(s *mat.SymDense, floor float64) (values, scales []float64, err error) {
	var eig spectral.EigenSym
	if !eig.Factorize(s, true) {
		return nil, nil, errors.New("eigendecomposition did not converge")
	}
	var u mat.Dense
	eig.VectorsTo(&u)
	a := mat.DenseCopyOf(u.T())
	values = eig.Values(nil)
	scales = make([]float64, len(values))
	for k, v := range values {
		values[k] = max(v, 0)
		scales[k] = 1 / math.Sqrt(max(v, floor))
		floats.Scale(scales[k], a.RawRowView(k))
	}
	c.turn(a)
	return values, scales, nil
}

// withinFloor is the scatter within classes below which balance does not scale a direction further, relative to
// the covariance of the rows.
const withinFloor = 1e-3

// within returns the mean of (z_i−z_j)(z_i−z_j)ᵀ over the rows i of z that have another in their class and the other rows j of it, and the number of these rows.
func within(ctx context.Context, z *mat.Dense, y []int) (*mat.SymDense, int, error) {
	_, r := z.Dims()
	scatter, count := mat.NewSymDense(r, nil), 0
	means := meansOf(z, classOf(y))
	for c, rows := range members(y) {
		if len(rows) == 1 {
			continue
		}
		count += len(rows)
		v := mat.NewVecDense(r, nil)
		for _, i := range rows {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
			floats.SubTo(v.RawVector().Data, z.RawRowView(i), means[c])
			scatter.SymRankOne(scatter, 2*float64(len(rows))/float64(len(rows)-1), v)
		}
	}
	if count == 0 {
		return nil, 0, errors.New("labels: each class has one row, want a class with at least 2")
	}
	scatter.ScaleSym(1/float64(count), scatter)
	return scatter, count, nil
}

// confine confines metrics BᵀNB to the span of the deviations of x, which leaves z as it is, and of all metrics with these squared distances between rows that of the least
// trace. The coordinates must be whitened: there the deviations are zG with G = zᵀ(deviations)/n, and B is the pseudo-inverse of G, transposed.
func (c *coordinates) confine(x *mat.Dense) error {
	n, r := c.z.Dims()
	if _, d := x.Dims(); r == d {
		return nil
	}
	dev := mat.DenseCopyOf(x)
	centre(dev)
	g := matrix.Mul(c.z.T(), dev)
	g.Scale(1/float64(n), g)
	var lq mat.LQ
	lq.Factorize(g)
	var b mat.Dense
	if err := lq.SolveTo(&b, false, mat.NewDiagDense(r, slices.Repeat([]float64{1}, r))); err != nil {
		if cond, ok := errors.AsType[mat.Condition](err); !ok || math.IsInf(float64(cond), 1) {
			return errors.New("ridge: features are of too different sizes: rescale them")
		}
	}
	c.b = mat.DenseCopyOf(b.T())
	if metric.CheckFinite(c.b) != nil {
		return metric.ErrWeights
	}
	return nil
}

// penalty returns s = tr(Σ)/d, the mean variance of a feature of x, n×d, and the matrix R with ⟨R, N⟩ = s·tr(M), M = BᵀNB.
// Of the M that agree on the rows this M has the least trace, as its range lies in their span. So fits in input space and under the linear kernel agree.
func (c *coordinates) penalty(x *mat.Dense) (s float64, r *mat.SymDense, err error) {
	n, d := x.Dims()
	dev := mat.DenseCopyOf(x)
	centre(dev)
	for i := range n {
		row := dev.RawRowView(i)
		s += floats.Dot(row, row) / float64(n)
	}
	s /= float64(d)
	if !(s >= metric.LeastNormal && s <= math.MaxFloat64) {
		return 0, nil, errors.New("ridge: the mean variance is out of float64's range: rescale the features")
	}
	b := mat.DenseCopyOf(c.b)
	b.Scale(math.Sqrt(s), b)
	r = matrix.Outer(1, b)
	if metric.CheckFinite(r) != nil {
		return 0, nil, errors.New("ridge: features are of too different sizes: rescale them")
	}
	return s, r, nil
}

// metric returns the metric of x that is n in these coordinates, without what is
// round-off (metric.PSDTolerance), and what of n is left.
func (c *coordinates) metric(n *mat.SymDense) (*metric.Mahalanobis, *mat.SymDense, error) {
	in, err := metric.NewMahalanobis(n)
	if err != nil {
		return nil, nil, err
	}
	if in.Rows() == 0 {
		_, d := c.b.Dims()
		return metric.Zero(d), in.M(), nil
	}
	l := matrix.Mul(in.Factor(), c.b)
	if err := metric.CheckWeights(l); err != nil {
		return nil, nil, err
	}
	return metric.FromFactor(l), in.M(), nil
}

// convex is a convex function of a symmetric matrix with a continuous gradient.
type convex interface {
	// value moves to m and returns the value there.
	value(m *mat.SymDense) float64
	// gradient sets g to the gradient at the last m of value.
	gradient(g *mat.SymDense)
}

// descent minimises a convex function over the matrices M ⪰ 0 by spectral projected
// gradients (Birgin, Martínez, Raydan, SIAM J. Optim. 10, 2000): steps along Π(M − λG) − M
// with the λ of Barzilai and Borwein (1988), and a line search that compares with the
// worst of the last values. A step costs one projection, however often the line search
// shortens it, and mostly one gradient.
type descent struct {
	f    convex
	m, g *mat.SymDense
	now  float64   // f(m)
	past []float64 // the last values
	step float64   // λ

	shifted, direction, before *mat.SymDense
}

const (
	// memory is how many values the line search compares with, and sufficient the share
	// of the slope that it asks for.
	memory, sufficient = 10, 1e-4
	// leastStep and mostStep bound λ.
	leastStep, mostStep = 1e-30, 1e30
	// roundOff is the relative change of f that the line search does not see, and leastMove
	// the step that is none, relative to M.
	roundOff, leastMove = 1e-13, 1e-14
	// shortest is the shortest share of a step that is tried.
	shortest = 1e-12
)

func newDescent(f convex, m *mat.SymDense) *descent {
	r := m.SymmetricDim()
	d := &descent{
		f: f, m: m, g: mat.NewSymDense(r, nil),
		shifted: mat.NewSymDense(r, nil), direction: mat.NewSymDense(r, nil), before: mat.NewSymDense(r, nil),
	}
	d.renew()
	// A first step of the length of M; the line search does the rest.
	d.step = 1
	if a, b := mat.Norm(m, 2), mat.Norm(d.g, 2); a > 0 && b > 0 {
		d.step = a / b
	}
	return d
}

// renew looks at f anew, which has changed.
func (d *descent) renew() {
	d.now = d.f.value(d.m)
	d.f.gradient(d.g)
	d.past = append(d.past[:0], d.now)
}

// iterate makes a step and reports whether it did: if not, m is a minimum but for
// round-off.
func (d *descent) iterate() (bool, error) {
	addScaled(d.shifted, d.m, -d.step, d.g)
	trial, _, err := metric.ProjectPSD(d.shifted)
	if err != nil {
		return false, err
	}
	addScaled(d.direction, trial, -1, d.m)
	length := mat.Norm(d.direction, 2)
	if !(length > leastMove*mat.Norm(d.m, 2)) {
		return false, nil
	}
	// A projection has ⟨G, direction⟩ ≤ −‖direction‖²/λ, which round-off of the product may hide.
	slope := min(inner(d.g, d.direction), -length*length/d.step)
	slack := roundOff * math.Abs(d.now)
	worst := slices.Max(d.past)
	t := 1.0
	v := d.f.value(trial)
	for !(v <= worst+sufficient*t*slope+slack) {
		q := -t * t * slope / (2 * (v - d.now - t*slope)) // minimum of the parabola
		if !(q >= 0.1*t && q <= 0.5*t) {
			q = t / 2
		}
		if t = q; t < shortest {
			d.f.value(d.m)
			return false, nil
		}
		addScaled(trial, d.m, t, d.direction)
		v = d.f.value(trial)
	}
	d.before.CopySym(d.g)
	d.f.gradient(d.g)
	addScaled(d.before, d.g, -1, d.before)
	// With s = t·direction and y the change of the gradient.
	ss, sy := t*t*length*length, t*inner(d.direction, d.before)
	if sy > 0 {
		d.step = ss / sy
		if short := sy / inner(d.before, d.before); short < 0.5*d.step {
			d.step = short
		}
	} else {
		d.step *= 10
	}
	d.step = min(max(d.step, leastStep), mostStep)
	d.m, d.now = trial, v
	if len(d.past) == memory {
		d.past = slices.Delete(d.past, 0, 1)
	}
	d.past = append(d.past, v)
	return true, nil
}

// addScaled sets dst to a + t·b. dst may be a or b.
func addScaled(dst, a *mat.SymDense, t float64, b *mat.SymDense) {
	n := a.SymmetricDim()
	to, from, by := dst.RawSymmetric(), a.RawSymmetric(), b.RawSymmetric()
	for i := range n {
		floats.AddScaledTo(to.Data[i*to.Stride+i:i*to.Stride+n], from.Data[i*from.Stride+i:i*from.Stride+n], t, by.Data[i*by.Stride+i:i*by.Stride+n])
	}
}

// inner returns tr(AB).
func inner(a, b *mat.SymDense) float64 {
	n := a.SymmetricDim()
	p, q := a.RawSymmetric(), b.RawSymmetric()
	var s float64
	for i := range n {
		r, t := p.Data[i*p.Stride+i:i*p.Stride+n], q.Data[i*q.Stride+i:i*q.Stride+n]
		s += 2*floats.Dot(r, t) - r[0]*t[0]
	}
	return s
}

// blockRows is for how many rows a core finds the distances to all others at a time: enough to pay for packing the other
// factor of a product, and few enough for a cache. Up to mostBlocks cores do so together. They then sum blockColumns columns each.
const blockRows, mostBlocks, blockColumns = 64, 4, 256

// productRows is how many rows of a product are computed between two looks at a context.
const productRows = 256

// mulTrans returns aᵀb, unless ctx ends before.
func mulTrans(ctx context.Context, a, b *mat.Dense) *mat.Dense {
	n, k := a.Dims()
	_, m := b.Dims()
	dst := mat.NewDense(k, m, nil)
	rows := min(productRows, max(24, (k+cores.Idle())/(1+cores.Idle()))) // of dst; less than two tiles of a product do not pay
	cores.Do((k+rows-1)/rows, func(block int) {
		if lo := block * rows; ctx.Err() == nil {
			hi := min(lo+rows, k)
			matrix.MulTo(dst.Slice(lo, hi, 0, m).(*mat.Dense), a.Slice(0, n, lo, hi).T(), b)
		}
	})
	return dst
}

// symmetric sets dst to the symmetric part of the r×r matrix a.
func symmetric(dst *mat.SymDense, a *mat.Dense) {
	r, _ := a.Dims()
	for i := range r {
		for j := i; j < r; j++ {
			dst.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
}

// scaledIdentity returns c·I.
func scaledIdentity(r int, c float64) *mat.SymDense {
	m := mat.NewSymDense(r, nil)
	for i := range r {
		m.SetSym(i, i, c)
	}
	return m
}

// members returns the rows of each class, in the order of the labels.
func members(y []int) (rows [][]int) {
	for i, c := range classOf(y) {
		for len(rows) <= c {
			rows = append(rows, nil)
		}
		rows[c] = append(rows[c], i)
	}
	return rows
}

// classOf returns the number of the class of each row, in the order of the labels.
func classOf(y []int) []int {
	labels := slices.Compact(slices.Sorted(slices.Values(y)))
	class := make([]int, len(y))
	for i, label := range y {
		class[i], _ = slices.BinarySearch(labels, label)
	}
	return class
}
