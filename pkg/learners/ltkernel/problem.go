package ltkernel

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// Support returns the objects, of n, that constraints are about, ascending: all if one has a trace. It returns an error if there is no
// constraint, or if one is malformed: an object that is not there or at a distance from itself, a number that is NaN or infinite.
func Support(n int, constraints []Constraint) ([]int, error) {
	if len(constraints) == 0 {
		return nil, errors.New("no constraints given, want at least one")
	}
	var support []int
	for i, c := range constraints {
		if err := c.check(n); err != nil {
			return nil, &ConstraintError{i, err}
		}
		for _, d := range c.Dists {
			support = append(support, d.I, d.J)
		}
		if c.Trace != 0 {
			for j := range n {
				support = append(support, j)
			}
		}
	}
	slices.Sort(support)
	return slices.Compact(support), nil
}

func refused(constraint int, err error) error {
	return fmt.Errorf("ltkernel: %w", &ConstraintError{constraint, err})
}

// factor returns F with K₀ = FFᵀ, without the directions of round-off.
func factor(k *mat.SymDense) (*mat.Dense, error) {
	var eig spectral.EigenSym
	if !eig.Factorize(k, true) {
		return nil, errors.New("ltkernel: k0: its eigenvalues overflow float64: scale the data down")
	}
	return eig.Factor(), nil
}

// newDual returns the dual over the rows of f, each constraint divided by sigma: its size under ffᵀ, or its bound if that is larger. If k0 is not nil, it is the Gram
// matrix of objects of which f has only some coordinates; in the others W is αI.
func newDual(f *mat.Dense, support []int, constraints []Constraint, p Params, k0 mat.Symmetric) (*dual, error) {
	m := len(constraints)
	_, r := f.Dims()
	d := &dual{
		soft: p.Slack != SlackHard,
		phi:  p.Divergence, terms: make([][]term, m), trace: make([]float64, m), b: make([]float64, m),
		lo: make([]float64, m), hi: make([]float64, m), rho: make([]float64, m), shift: make([]float64, m), grows: make([]bool, m), asked: 1,
		mostOrder: mostOrder, fewest: fewest,
	}
	index := map[pair]int{}
	var z []float64
	sigma := make([]float64, m)
	d.sigma = sigma
	for k, c := range constraints {
		sign := 1.0
		if c.Sense == SenseAtLeast {
			sign = -1
		}
		d.sign, d.grows[k] = append(d.sign, sign), c.Sense != SenseExactly
		for _, t := range c.Dists {
			i, _ := slices.BinarySearch(support, min(t.I, t.J))
			j, _ := slices.BinarySearch(support, max(t.I, t.J))
			at, ok := index[pair{i, j}]
			if !ok {
				at = len(index)
				index[pair{i, j}] = at
				d.pairs = append(d.pairs, pair{i, j})
				diff := make([]float64, r)
				floats.SubTo(diff, f.RawRowView(i), f.RawRowView(j))
				z = append(z, diff...)
			}
			d.terms[k] = append(d.terms[k], term{at, sign * t.Weight})
			d.grows[k] = d.grows[k] && sign*t.Weight > 0
			row := z[at*r : (at+1)*r]
			sigma[k] += math.Abs(t.Weight) * floats.Dot(row, row)
		}
		d.trace[k] = sign * c.Trace
		d.grows[k] = d.grows[k] && d.trace[k] >= 0
		d.b[k] = sign * c.Bound
		if c.Trace != 0 && d.gram == nil {
			d.gram = matrix.Outer(1, f.T())
		}
		if c.Trace != 0 {
			sigma[k] += math.Abs(c.Trace) * mat.Trace(d.gram)
		}
	}
	d.z = mat.NewDense(max(len(index), 1), r, nil)
	copy(d.z.RawMatrix().Data, z)
	for k, c := range constraints {
		if k0 != nil {
			d.shift[k] = d.outside(f, c, k0)
			d.b[k] -= d.sign[k] * d.shift[k]
		}
		if math.IsInf(sigma[k], 0) || math.IsInf(d.b[k], 0) {
			return nil, refused(k, errors.New("its size under K₀ overflows float64: scale the data down"))
		}
		if bound := math.Abs(d.b[k]); bound > sigma[k] && sigma[k] >= 0x1p-1000 {
			d.asked = max(d.asked, bound/sigma[k])
			sigma[k] = bound
		}
		if sigma[k] < 0x1p-1000 { // all its distances are 0: so is the left side, whatever W
			sigma[k] = 1
		}
		for i := range d.terms[k] {
			d.terms[k][i].weight /= sigma[k]
		}
		d.trace[k] /= sigma[k]
		d.b[k] /= sigma[k]
		d.hi[k] = math.Inf(1)
		switch p.Slack {
		case SlackL1:
			d.hi[k] = p.C * sigma[k]
			if math.IsInf(d.hi[k], 1) || d.hi[k] == 0 {
				return nil, refused(k, errors.New("the price C times its size under K₀ overflows float64, or is 0: scale the data"))
			}
		case SlackL2:
			d.rho[k] = 1 / (p.C * sigma[k] * sigma[k])
			if math.IsInf(d.rho[k], 1) || d.rho[k] == 0 {
				return nil, refused(k, errors.New("the price C times its squared size under K₀ overflows float64, or is 0: scale the data"))
			}
		}
		if c.Sense == SenseExactly {
			d.lo[k] = -d.hi[k]
		}
	}
	return d, nil
}

// outside is what the coordinates that f lacks add to tr(CK), for the constraint c.
func (d *dual) outside(f *mat.Dense, c Constraint, k0 mat.Symmetric) float64 {
	alpha := d.phi.alpha
	v := 0.0
	for _, t := range c.Dists {
		inside := metric.Euclidean{}.SqDist(f.RawRowView(t.I), f.RawRowView(t.J))
		v += alpha * t.Weight * max(0, k0.At(t.I, t.I)-2*k0.At(t.I, t.J)+k0.At(t.J, t.J)-inside)
	}
	if c.Trace != 0 {
		for i := range k0.SymmetricDim() {
			row := f.RawRowView(i)
			v += alpha * c.Trace * max(0, k0.At(i, i)-floats.Dot(row, row))
		}
	}
	return v
}
