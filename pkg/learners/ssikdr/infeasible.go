package ssikdr

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/spectral"
)

// hopeless is how many times larger than what the constraints ask for the trace of any feasible W must be
// proved to be before they count as infeasible, as in package ltkernel.
const hopeless = 1e6

// rays looks for proofs that hard constraints contradict each other. The dual is unbounded then, and the steps of its
// ascent tend to a direction along which it grows without end (Pazy 1971; Banjac, Goulart, Stellato and Boyd, Infeasibility
// detection in the alternating direction method of multipliers, JOTA 183, 2019).
type rays struct {
	q    *problem
	next int       // iteration of the next look
	last []float64 // λ some steps before it
	// steady asks for steps of one length, which tend to the ray sooner. After patience iterations it holds between every other pair of looks.
	steady bool
	// least seeks the least violation.
	least func(ctx context.Context) ([]float64, error)
}

// Where the ray has not shown by iteration lastLook, the least violation of the constraints is sought, which takes longer: for objects whose
// images span at most mostOrder dimensions.
const (
	lastLook  = 1000
	mostOrder = 300
)

// patience is the number of iterations after which hard constraints are suspected.
const patience = 500

// proof returns a certificate from the multipliers of iteration k and their change over the last steps, or nil. It is weights v of the
// constraints, those of ≥ negated, with Σvᵢaᵢ(W) ≥ 0 for all W ⪰ 0 up to round-off, and bᵀv < 0. It looks at iterations that grow by half.
func (r *rays) proof(ctx context.Context, p *point, k int) ([]float64, error) {
	if k == r.next-r.next/5 {
		r.last = p.lambda
	}
	if k == lastLook && r.order() <= mostOrder {
		return r.least(ctx)
	}
	if k != r.next {
		return nil, nil
	}
	r.next += r.next / 2
	r.steady = k >= patience && !r.steady
	step := make([]float64, len(p.lambda))
	floats.SubTo(step, p.lambda, r.last)
	candidates := [][]float64{step, p.lambda}
	asked := r.q.asked
	for _, s := range p.sigma {
		asked += s - r.q.tau
	}
	for _, ray := range candidates {
		if v := r.q.proof(ray, float64(r.order())*asked); v != nil {
			return v, nil
		}
	}
	return nil, nil
}

func (r *rays) order() int {
	_, n := r.q.f.Dims()
	return n
}

// proof returns the certificate that ray is, or nil: no W whose trace is at most hopeless times asked is feasible, since each feasible W has
//
//	bᵀv ≥ Σvᵢaᵢ(W) ≥ −top·tr W,  top the largest eigenvalue of −K₀^½(ΣvᵢCᵢ)K₀^½.
func (q *problem) proof(ray []float64, asked float64) []float64 {
	for _, heavier := range []float64{0, 1e-9, 1e-6, 1e-3} {
		v := slices.Clone(ray)
		size := 0.0
		for i := range v {
			v[i] = max(v[i], q.lo[i])
			if q.grows(i) { // a little more weight of upper bounds moves the sum into the cone
				v[i] *= 1 + heavier
			}
			size = max(size, math.Abs(v[i])*q.size[i])
		}
		if size == 0 {
			return nil
		}
		floats.Scale(1/size, v)
		needs := -floats.Dot(q.b, v)
		if !(needs > 0) {
			return nil
		}
		var eig spectral.EigenSym
		if !eig.Factorize(q.operator(q.laplacian(v)), false) {
			return nil
		}
		values := eig.Values(nil)
		if needs > hopeless*asked*max(0, values[len(values)-1]) {
			return v
		}
	}
	return nil
}

// grows reports whether constraint i bounds a sum of distances from above.
func (q *problem) grows(i int) bool {
	if q.lo[i] < 0 || q.trace[i] < 0 {
		return false
	}
	for _, t := range q.terms[i] {
		if t.weight < 0 {
			return false
		}
	}
	return true
}
