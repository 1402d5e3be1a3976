package iplr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/logdet"
	"metriclab/internal/product"
	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

const (
	// round is the share of a bound below which what the residual leaves of it is round-off.
	round = 1e-12
	// still is the share of its bound, and noise that of its squared distance, below which ‖z‖² is taken for zero: to stretch
	// it further would leave less than 4 digits of F.
	still, noise = 1e-12, 1e-24
)

var errSingular = errors.New("iplr: links: they ask for a metric that is singular to working precision, want a smaller gamma or bounds closer to the distances")

// loop is Algorithm 1 with residuals.
type loop struct {
	ctx   context.Context
	pairs *pairs
	gamma float64

	active     []int     // links that are neither left out nor skipped
	bound, r   []float64 // ξ₀ and the fixed part, of each link
	lambda, xi []float64
	infeasible []int
	vacuous    int
	skipped    int

	f      []float64  // F, k×k and symmetric; an update of sign·ssᵀ is left for the next product
	sign   float64    // 0 if none is left
	s, fz  []float64  // fz = Fz of the last product
	factor *mat.Dense // G, F = GᵀG, since the start or the last remake

	cycles, projections int
	change              float64
	logdet.Certificate
}

// solve is fit for parameters that are resolved and checked, bounds included.
func (p *pairs) solve(ctx context.Context, q Params) (answer, error) {
	l, err := newLoop(ctx, p, q)
	if err != nil {
		return answer{}, err
	}
	status, err := l.run(q)
	if err != nil {
		return answer{}, err
	}
	var f mat.SymDense
	f.SymOuterK(1, l.factor.T())
	return answer{
		Result: learners.Result{Status: status, Iterations: l.cycles, Residual: l.change},
		Solution: Solution{
			Solution: itml.Solution{
				Upper: q.Upper, Lower: q.Lower, Duals: l.lambda, Slacks: l.xi,
				KKT: l.KKT, Gap: l.Gap, Projections: l.projections, Skipped: l.skipped,
			},
			F: &f, Infeasible: l.infeasible, Vacuous: l.vacuous,
		},
		factor: l.factor,
	}, nil
}

func newLoop(ctx context.Context, p *pairs, q Params) (*loop, error) {
	k, m := p.k, len(p.links)
	if err := limits.Check(fmt.Sprintf("IPLR with a basis of %d vectors", k), limits.Floats(4, k, k)); err != nil {
		return nil, fmt.Errorf("iplr: %w", err)
	}
	l := &loop{
		ctx: ctx, pairs: p, gamma: q.Gamma,
		bound: make([]float64, m), r: make([]float64, m), lambda: make([]float64, m),
		f: make([]float64, k*k), s: make([]float64, k), fz: make([]float64, k),
	}
	for i, link := range p.links {
		similar, sq := link.Label == metric.Similar, p.sq[i]
		l.bound[i], l.r[i] = q.Upper, p.r[i]
		if !similar {
			l.bound[i] = q.Lower
		}
		left := l.bound[i] - l.r[i]
		beyond := left <= round*l.bound[i]
		if beyond && similar {
			l.infeasible = append(l.infeasible, i)
		}
		if beyond && !similar {
			l.vacuous++
		}
		if q.Infeasible == InfeasibleDrop && !beyond {
			l.bound[i], l.r[i] = left, 0
		}
		if beyond && (!similar || q.Infeasible == InfeasibleDrop) {
			continue
		}
		if z := sumSquares(p.of(i)); z <= still*l.bound[i] || z <= noise*sq {
			l.skipped++
			continue
		}
		if beyond && math.IsInf(q.Gamma, 1) {
			return nil, p.refuse(i, "the part outside the basis has the squared length %v, but similar pairs must not exceed upper = %v: no metric of this basis allows it; want slack (a finite gamma), infeasible pairs dropped, or another basis", p.r[i], q.Upper)
		}
		l.active = append(l.active, i)
	}
	l.xi = append(l.xi, l.bound...)
	l.start(mat.NewDiagDense(k, ones(k)))
	l.factor = mat.DenseCopyOf(mat.NewDiagDense(k, ones(k)))
	return l, nil
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// start sets F to a.
func (l *loop) start(a mat.Symmetric) {
	k := l.pairs.k
	for i := range k {
		for j := range k {
			l.f[i*k+j] = a.At(i, j)
		}
	}
	l.sign = 0
}

func (l *loop) run(q Params) (learners.Status, error) {
	var err error
	var status learners.Status
	status, l.cycles, l.change, err = logdet.Rule{Tol: q.Tol, MaxCycles: q.MaxCycles, Steps: DefaultSteps, Progress: q.Progress}.Run(logdet.Loop{
		Lambda: l.lambda, Cycle: l.cycle, Remake: l.remake,
		Projections: func() int { return l.projections },
		Finish:      func() (float64, error) { err := l.finish(); return l.KKT, err },
		Stopped:     func() error { return l.stopped(0) },
	})
	return status, err
}

// looks is the number of links between two looks at the context.
const looks = 64

// stopped looks at the context once in looks links, and returns an error if it is done.
func (l *loop) stopped(step int) error {
	if step%looks != 0 || l.ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("iplr: %w", l.ctx.Err())
}

// singular is the error of a remake that failed.
func (l *loop) singular() error { return cmp.Or(l.stopped(0), errSingular) }

// step returns a·p and the p after it, q, for the a that makes p + r equal to ξ: see Fit. If γ = ∞, ξ must be above r: no p would do else.
func step(p, r, xi, gamma float64) (ap, q float64) {
	room := xi - r
	over := p - room // p + r − ξ
	if math.IsInf(gamma, 1) {
		return -over / room, room
	}
	rho, c := r/p, gamma*(over/xi)
	room = gamma * (room / xi)
	s := gamma/xi + 1/p
	b := 1 - rho + room
	root := math.Sqrt(b*b + 4*(rho+gamma*(r/xi))) // that of b² + 4rs
	if b >= 0 {
		q = (b + root) / (2 * s)
	} else {
		q = 2 * r / (root - b)
	}
	if b += 2 * rho; b >= 0 {
		return -2 * c / (b + root), q
	}
	return 1 - p/q, q
}

// cycle projects onto the constraint of each link in turn.
func (l *loop) cycle() error {
	for n, i := range l.active {
		if err := l.stopped(n); err != nil {
			return err
		}
		z := l.pairs.of(i)
		p := l.product(z)
		if !(p > 0) { // round-off of the updates
			if !l.remake() {
				return l.singular()
			}
			if p = l.product(z); !(p > 0) {
				return errSingular
			}
		}
		delta, lambda, xi := float64(l.pairs.links[i].Label), l.lambda[i], l.xi[i]
		ap, after := step(p, l.r[i], xi, l.gamma)
		switch {
		case math.IsNaN(ap) || math.IsNaN(after):
			return l.unmoved(i, p, after)
		case delta*ap < lambda*p: // p + r = ξ after the step
			l.lambda[i] = lambda - delta*ap/p
			if !math.IsInf(l.gamma, 1) {
				l.xi[i] = after + l.r[i]
			}
		case lambda > 0: // the constraint no longer binds: α = λ
			ap = delta * lambda * p
			after = p / (1 - ap)
			l.lambda[i], l.xi[i] = 0, l.bound[i]
		default:
			continue
		}
		beta := ap * (after / p) / p // (after/p − 1)/p
		if math.IsInf(beta, 0) || math.IsNaN(beta) || !(after > 0) {
			return l.unmoved(i, p, after)
		}
		if beta != 0 {
			l.update(beta)
			l.projections++
		}
	}
	return nil
}

func (l *loop) unmoved(link int, p, after float64) error {
	return l.pairs.refuse(link, "squared distance %v in the basis, which float64 cannot move to %v: rescale the data", p, after)
}

// update sets F to F + β·Fz(Fz)ᵀ for the z of the last product. The product after it makes the change, on one way through memory.
func (l *loop) update(beta float64) {
	root := math.Sqrt(math.Abs(beta))
	for i, a := range l.fz {
		l.s[i] = root * a
	}
	l.sign = math.Copysign(1, beta)
}

// product returns zᵀFz and keeps Fz.
func (l *loop) product(z []float64) float64 {
	k := len(z)
	var p float64
	s, fz := l.s[:k], l.fz[:k]
	if k >= vector.Short {
		for i := range fz {
			row := l.f[i*k : (i+1)*k]
			if l.sign != 0 {
				product.AddScaled(row, l.sign*s[i], s)
			}
			fz[i] = vector.Dot(row, z)
			p += fz[i] * z[i]
		}
		l.sign = 0
		return p
	}
	for i := range fz { // the calls would cost more than the work
		row := l.f[i*k : (i+1)*k]
		row = row[:len(z)]
		var sum float64
		if l.sign != 0 {
			t := l.sign * s[i]
			for j, a := range z {
				v := row[j] + t*s[j]
				row[j] = v
				sum += v * a
			}
		} else {
			for j, a := range z {
				sum += row[j] * a
			}
		}
		fz[i] = sum
		p += sum * z[i]
	}
	l.sign = 0
	return p
}

// remake makes F and ξ anew from λ, without the round-off of the updates: F⁻¹ = I + Σ λδzzᵀ = RᵀR, and G = R⁻ᵀ. It reports whether that
// matrix is positive definite and the context not done; if not, nothing has changed.
func (l *loop) remake() bool {
	k := l.pairs.k
	inverse := mat.NewSymDense(k, nil)
	for i := range k {
		inverse.SetSym(i, i, 1)
	}
	for _, sign := range []metric.Label{metric.Similar, metric.Dissimilar} { // what is added first
		for n, i := range l.active {
			if l.stopped(n) != nil {
				return false
			}
			if l.lambda[i] > 0 && l.pairs.links[i].Label == sign {
				blas64.Syr(float64(sign)*l.lambda[i], vector.Of(l.pairs.of(i)), inverse.RawSymmetric())
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(inverse) {
		return false
	}
	var r, inv mat.TriDense
	chol.UTo(&r)
	if err := inv.InverseTri(&r); err != nil {
		if c, ok := errors.AsType[mat.Condition](err); !ok || math.IsInf(float64(c), 1) {
			return false
		}
	}
	l.factor = mat.DenseCopyOf(inv.T())
	var f mat.SymDense
	f.SymOuterK(1, &inv)
	l.start(&f)
	if math.IsInf(l.gamma, 1) {
		return true
	}
	for _, i := range l.active {
		if t := 1/l.bound[i] - float64(l.pairs.links[i].Label)*l.lambda[i]/l.gamma; t > 0 {
			l.xi[i] = 1 / t
		}
	}
	return true
}

// finish is remake with the KKT residual and the duality gap of the answer, those of itml with p + r in place of p.
func (l *loop) finish() error {
	if !l.remake() {
		return l.singular()
	}
	l.Certificate = logdet.Certificate{}
	for n, i := range l.active {
		if err := l.stopped(n); err != nil {
			return err
		}
		product.Gemv(l.fz, l.factor.RawMatrix(), l.pairs.of(i))
		l.Add(float64(l.pairs.links[i].Label), vector.Dot(l.fz, l.fz)+l.r[i], l.xi[i], l.lambda[i], l.bound[i], l.gamma)
	}
	return nil
}
