package triplets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/lbfgs"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// CoordinatesVersion changes whenever FitCoordinates gives other numbers for the same input.
const CoordinatesVersion = 1

const (
	// settling is to what share the residual is to fall from one move of the multipliers to the next.
	settling = 0.7
	// leastSmoothing bounds ε of the hinge's envelope from below, in units of the margin.
	leastSmoothing = 1e-4
	// stalled is what F of SOE is to fall in legLeast iterations, in units of Tol·F(0).
	stalled = 1e-3
)

// CoordinatesParams are the parameters of FitCoordinates.
type CoordinatesParams struct {
	// Loss is the loss of a triplet; the zero value is GNMDS.
	Loss Loss
	// Tau is τ, the weight of the sum of squares of X, which is trace XXᵀ, from 0 to MaxStep.
	Tau float64 `range:">= 0 and <= 1e100"`
	// Margin is the margin of GNMDS and SOE, greater than 0 and at most MaxStep; 0 means 1.
	Margin float64 `range:"> 0 and <= 1e100"`
	// Mu is μ of CKL, greater than 0 and at most MaxStep; 0 means 0.05.
	Mu float64 `range:"> 0 and <= 1e100"`
	// Alpha is α of TSTE, the degrees of freedom, greater than 0 and at most MaxStep; 0 means max(1, Dim − 1).
	Alpha float64 `range:"> 0 and <= 1e100" default:"0" doc:"degrees of freedom of Student's t, whose tail is heavy where they are few; 0 is dim - 1, at least 1"`
	// Dim ≥ 1 is d, the number of coordinates; 0 means 2.
	Dim int `range:">= 1" words:"auto" default:"2" doc:"number of coordinates; auto tries 1 to 6 on held-out questions and takes the smallest within a standard error of the best"`
	// Starts ≥ 1 is the number of starts, of which the best is kept; 0 means 10.
	Starts int `range:">= 1" doc:"starts from random coordinates, of which the best is kept"`
	// Iterations ≥ 1 is the cap on iterations of a start; 0 means 5000.
	Iterations int `range:">= 1"`
	// Tol is the Residual at which a start ends, greater than 0 and at most MaxStep; 0 means 1e-3.
	Tol float64 `range:"> 0 and <= 1e100"`
	// Initial is the X of the first start, n×Dim, its entries at most MaxStep in magnitude; it is copied. nil means a random one.
	Initial mat.Matrix
	// Progress, if not nil, is told of each iteration, with the Objective of the best X of all starts so far and the Residual of the last.
	Progress func(learners.Progress)
}

// Resolved returns p with its defaults filled in: Margin = 1, Mu = 0.05, Dim = 2, Alpha = max(1, Dim − 1), Starts = 10, Iterations = 5000, Tol = 1e-3.
func (p CoordinatesParams) Resolved() CoordinatesParams {
	p.Margin = cmp.Or(p.Margin, 1)
	p.Mu = cmp.Or(p.Mu, 0.05)
	p.Dim = cmp.Or(p.Dim, 2)
	p.Alpha = cmp.Or(p.Alpha, max(1, float64(p.Dim)-1))
	p.Starts = cmp.Or(p.Starts, 10)
	p.Iterations = cmp.Or(p.Iterations, 5000)
	p.Tol = cmp.Or(p.Tol, 1e-3)
	return p
}

// check is for resolved parameters.
func (p CoordinatesParams) check() error {
	if p.Loss < GNMDS || p.Loss > SOE {
		return fmt.Errorf("loss: %d is not allowed, want GNMDS, STE, CKL, TSTE or SOE", int(p.Loss))
	}
	return ranges.Check("", p)
}

// CoordinatesStart is where a start of FitCoordinates ended.
type CoordinatesStart struct {
	// X is n×d: a row of coordinates per object.
	X *mat.Dense
	// Result has learners.Converged if Residual ≤ Tol, learners.NoProgress if no step lowered the objective, or 20 of SOE hardly, else
	// learners.IterationCap. Residual is that of a stationary point, which says nothing of other minima; see FitCoordinates.
	learners.Result
	// Objective is Σ l(XXᵀ, t) + τ‖X‖²_F.
	Objective float64
}

// Kernel returns XXᵀ.
func (s CoordinatesStart) Kernel() *mat.SymDense {
	n, _ := s.X.Dims()
	k := mat.NewSymDense(n, nil)
	k.SymOuterK(1, s.X)
	return k
}

// CoordinatesResult is what FitCoordinates returns: the start of the least objective, the first of equals.
type CoordinatesResult struct {
	CoordinatesStart
	// Starts are all starts in their order, and Best which of them was kept.
	Starts []CoordinatesStart
	Best   int
}

// FitCoordinates looks for coordinates of n objects that minimise
//
//	F(X) = Σ_t l(XXᵀ, t) + τ‖X‖²_F  over the n×d matrices X,
//
// with the losses of FitBatch, TSTE and SOE as functions of the squared distances ‖x_i − x_j‖² of the rows. These are the embeddings in d
// dimensions of GNMDS (Agarwal et al. 2007), CKL (Tamuz et al. 2011), STE and t-STE (van der Maaten and Weinberger 2012) and SOE (Terada and
// von Luxburg 2014). With the bound d on
// the rank the problem is not convex, "which only guarantee convergence to a local minimum. In the typical non-convex batch setting,
// multiple solutions are found with different initializations and the best is chosen among them" (Heim, Berger, Seversky,
// Hauskrecht, SDM 2015, Section 2): FitCoordinates does that. Without a reason to want few dimensions, FitBatch has no such minima, and proves
// how near it is to the least.
//
// A start draws the entries of X from N(0, u²/d), by which the mean squared distance is 2u²; u is the margin of SOE, whose solutions scale with
// it, and 1 of the others, as under K = I. L-BFGS then descends by the gradient
//
//	∂F/∂x_i = 2τx_i + 2Σ_j w_ij(x_i − x_j),
//
// w_ij the sum of the derivatives of the losses by ‖x_i − x_j‖². In place of the hinge of GNMDS it sees the Moreau envelope around
// multipliers, which move every 20 iterations, as in FitBatch. The envelope is wide at first, which smooths away local minima, and sharpens while
// the residual does not settle. The X that is kept is that of the least F on the way.
//
// Residual is ‖∇F‖·max(‖X‖, u√n)/F(0), 0 at a stationary point, of GNMDS with the gradient right after the multipliers have moved.
// SOE has a kink where two objects that an answer calls near coincide, as they do at many minima. There the residual does not vanish: a start ends with
// learners.NoProgress once 20 iterations lower F by less than Tol·F(0)/1000.
// A start ends at Tol, or at the cap. With few triplets and τ = 0 the infimum may lie at infinity; the starts then end at the cap, or where F is nearly 0.
//
// An iteration takes time proportional to d times the number of different pairs in ts, plus the number of triplets. Memory is that of Starts + 12
// matrices of the size nd.
//
// FitCoordinates returns an error if there is no object or triplet, a triplet fails Check, a parameter is out of range, Initial is not as
// described, the memory does not fit limits.Memory, or F overflows. Once ctx is done, it returns that of ctx. It panics if rng is nil, from
// which the starts are drawn in their order.
func FitCoordinates(ctx context.Context, rng *rand.Rand, n int, ts []metric.Triplet, p CoordinatesParams) (CoordinatesResult, error) {
	if rng == nil {
		panic("triplets: FitCoordinates: rng is nil")
	}
	r, err := fitCoordinates(ctx, rng, n, ts, p.Resolved())
	if err != nil {
		return CoordinatesResult{}, fmt.Errorf("coordinates: %w", err)
	}
	return r, nil
}

func fitCoordinates(ctx context.Context, rng *rand.Rand, n int, ts []metric.Triplet, p CoordinatesParams) (r CoordinatesResult, err error) {
	if err := p.check(); err != nil {
		return r, err
	}
	if n < 1 {
		return r, fmt.Errorf("n: %d is not allowed, want at least 1 object", n)
	}
	// The vectors of L-BFGS and the best X, and what is returned.
	if err := limits.Check(fmt.Sprintf("a fit of %d coordinates of %d objects", p.Dim, n), limits.Floats(12, n, p.Dim)); err != nil {
		return r, fmt.Errorf("dim: %w", err)
	}
	if err := limits.Check(fmt.Sprintf("%d starts of %d coordinates of %d objects", p.Starts, p.Dim, n), limits.Floats(p.Starts, n, p.Dim)); err != nil {
		return r, fmt.Errorf("starts: %w", err)
	}
	if len(ts) == 0 {
		return r, errors.New("triplets: none given, want at least one")
	}
	for i, t := range ts {
		if err := Check(n, t); err != nil {
			return r, fmt.Errorf("triplet %d: %w", i, err)
		}
	}
	first, err := p.first(n)
	if err != nil {
		return r, fmt.Errorf("initial: %w", err)
	}
	f := newCoordinatesFit(ctx, n, ts, p)
	if err := ctx.Err(); err != nil {
		return r, err
	}
	r.Best = -1
	for i := range p.Starts {
		x := first
		if x == nil || i > 0 {
			x = make([]float64, n*p.Dim)
			for j := range x {
				x[j] = f.unit * rng.NormFloat64() / math.Sqrt(float64(p.Dim))
			}
		}
		s, err := f.descend(x)
		if err != nil {
			return r, fmt.Errorf("start %d: %w", i, err)
		}
		f.done += p.Iterations
		r.Starts = append(r.Starts, s)
		if r.Best < 0 || s.Objective < r.Objective {
			r.Best, r.CoordinatesStart = i, s
		}
	}
	return r, nil
}

// first returns the entries of Initial row by row, nil if there is none.
func (p CoordinatesParams) first(n int) ([]float64, error) {
	if matrix.IsNil(p.Initial) {
		return nil, nil
	}
	if r, c := p.Initial.Dims(); r != n || c != p.Dim {
		return nil, fmt.Errorf("is %d×%d, want %d×%d", r, c, n, p.Dim)
	}
	x := make([]float64, 0, n*p.Dim)
	for i := range n {
		for j := range p.Dim {
			v := p.Initial.At(i, j)
			if !(math.Abs(v) <= MaxStep) {
				return nil, fmt.Errorf("entry (%d, %d): %v is not allowed, want a number of magnitude at most %v", i, j, v, MaxStep)
			}
			x = append(x, v)
		}
	}
	return x, nil
}

// coordinatesFit is the state of a fit; its L-BFGS is over X, row by row.
type coordinatesFit struct {
	lbfgs.State
	ctx        context.Context
	p          CoordinatesParams
	n          int
	unit       float64 // u
	loss       batchLoss
	pair       [][2]int // the different pairs of objects in the triplets
	nearPair   []int    // of each triplet: which pair A and Near are
	farPair    []int
	sq, w      []float64 // of each pair: the squared distance, and the derivative by it
	near, far  []float64 // of each triplet
	wn, wf     []float64
	value      float64 // at x: what descends, with the envelope in place of the hinge
	objective  float64 // at x
	best       []float64
	least      float64 // F at best, of this start
	leastOfAll float64
	// done is the sum of the caps of the starts before, iteration and reported count in this one.
	done, iteration, reported int
}

func newCoordinatesFit(ctx context.Context, n int, ts []metric.Triplet, p CoordinatesParams) *coordinatesFit {
	f := &coordinatesFit{
		State: lbfgs.New(n*p.Dim, memory), ctx: ctx, p: p, n: n, unit: 1, loss: batchLoss{loss: p.Loss, margin: p.Margin, mu: p.Mu, alpha: p.Alpha},
		nearPair: make([]int, len(ts)), farPair: make([]int, len(ts)),
		near: make([]float64, len(ts)), far: make([]float64, len(ts)), wn: make([]float64, len(ts)), wf: make([]float64, len(ts)),
		best: make([]float64, n*p.Dim), leastOfAll: math.Inf(1),
	}
	if p.Loss == GNMDS {
		f.loss.epsilon, f.loss.c = smoothingFactored*p.Margin, make([]float64, len(ts)) // of the first start
	}
	if p.Loss == SOE {
		f.unit = p.Margin
	}
	known := make(map[uint64]int, min(2*len(ts), n*n/2))
	number := func(i, j int) int {
		i, j = min(i, j), max(i, j)
		key := uint64(i)*uint64(n) + uint64(j)
		k, ok := known[key]
		if !ok {
			k = len(f.pair)
			known[key] = k
			f.pair = append(f.pair, [2]int{i, j})
		}
		return k
	}
	for i, t := range ts {
		if i%4096 == 0 && ctx.Err() != nil {
			break // the caller tells
		}
		f.nearPair[i], f.farPair[i] = number(t.A, t.Near), number(t.A, t.Far)
	}
	f.sq, f.w = make([]float64, len(f.pair)), make([]float64, len(f.pair))
	return f
}

// evaluate returns F at x, with envelopes in place of hinges and as it is, and leaves the derivatives by the squared distances in wn and wf.
func (f *coordinatesFit) evaluate(x []float64) (smooth, objective float64) {
	d := f.p.Dim
	for k, p := range f.pair {
		a, b := x[p[0]*d:p[0]*d+d], x[p[1]*d:p[1]*d+d]
		var sum float64
		for c, v := range a {
			e := v - b[c]
			sum += e * e
		}
		f.sq[k] = sum
	}
	for t, k := range f.nearPair {
		f.near[t], f.far[t] = f.sq[k], f.sq[f.farPair[t]]
	}
	norm := f.p.Tau * vector.Dot(x, x)
	smooth = f.loss.smooth(f.near, f.far, f.wn, f.wf) + norm
	objective = smooth
	if f.loss.epsilon > 0 {
		objective = f.loss.hinges(f.near, f.far) + norm
	}
	return smooth, objective
}

// gradient sets g to that of F at x, with the derivatives that evaluate left.
func (f *coordinatesFit) gradient(g, x []float64) {
	clear(f.w)
	for t, k := range f.nearPair {
		f.w[k] += f.wn[t]
		f.w[f.farPair[t]] += f.wf[t]
	}
	for i, v := range x {
		g[i] = 2 * f.p.Tau * v
	}
	d := f.p.Dim
	for k, p := range f.pair {
		w := 2 * f.w[k]
		a, b := x[p[0]*d:p[0]*d+d], x[p[1]*d:p[1]*d+d]
		ga, gb := g[p[0]*d:p[0]*d+d], g[p[1]*d:p[1]*d+d]
		for c, v := range a {
			e := w * (v - b[c])
			ga[c] += e
			gb[c] -= e
		}
	}
}

// enter takes F and its gradient at x, after multipliers have moved.
func (f *coordinatesFit) enter() {
	f.value, f.objective = f.evaluate(f.X)
	f.gradient(f.G, f.X)
	f.keep()
}

// keep copies x if it is the best of its start.
func (f *coordinatesFit) keep() {
	if f.objective < f.least {
		f.least = f.objective
		copy(f.best, f.X)
	}
	f.leastOfAll = min(f.leastOfAll, f.least)
}

// forget makes the next step one along the gradient, of a tenth of the size of x.
func (f *coordinatesFit) forget() {
	f.Pairs = 0
	f.Scale = 0.1 * f.size() / math.Sqrt(vector.Dot(f.G, f.G))
}

// size is that of X, at least that of uI.
func (f *coordinatesFit) size() float64 {
	return max(math.Sqrt(vector.Dot(f.X, f.X)), f.unit*math.Sqrt(float64(f.n)))
}

func (f *coordinatesFit) residual() float64 {
	return math.Sqrt(vector.Dot(f.G, f.G)) * f.size() / (f.loss.zero() * float64(len(f.near)))
}

// descend starts at x.
func (f *coordinatesFit) descend(x []float64) (CoordinatesStart, error) {
	copy(f.X, x)
	clear(f.loss.c)
	if f.p.Loss == GNMDS {
		f.loss.epsilon = smoothingFactored * f.p.Margin
	}
	f.least, f.iteration, f.reported = math.Inf(1), 0, 0
	f.enter()
	if math.IsNaN(f.objective) || math.IsInf(f.objective, 0) {
		return CoordinatesStart{}, errors.New("the objective overflows: rescale the parameters and the initial coordinates")
	}
	f.forget()
	status, residual := f.iterate()
	if err := f.ctx.Err(); err != nil {
		return CoordinatesStart{}, err
	}
	return CoordinatesStart{
		X: mat.NewDense(f.n, f.p.Dim, slices.Clone(f.best)), Objective: f.least,
		Result: learners.Result{Status: status, Iterations: f.iteration, Residual: residual},
	}, nil
}

// iterate makes steps until x is stationary or the iterations are spent.
func (f *coordinatesFit) iterate() (status learners.Status, residual float64) {
	moved := true // the multipliers are those of x; without them always
	last := math.Inf(1)
	before := math.Inf(1) // F, legLeast iterations ago
	for {
		if f.loss.epsilon > 0 && f.iteration%legLeast == 0 && !moved {
			f.loss.move(f.near, f.far)
			f.enter()
			moved = true
			if now := f.residual(); now > settling*last {
				f.sharpen()
			} else {
				last = now
			}
		}
		residual = f.residual()
		if f.p.Progress != nil && f.iteration > f.reported {
			f.reported = f.iteration
			f.p.Progress(learners.Progress{Iteration: f.done + f.iteration, Cap: f.p.Starts * f.p.Iterations, Objective: f.leastOfAll, Residual: residual})
		}
		switch {
		case moved && residual <= f.p.Tol:
			return learners.Converged, residual
		case f.iteration == f.p.Iterations:
			return learners.IterationCap, residual
		case f.ctx.Err() != nil:
			return learners.NotRun, residual
		}
		if !f.step() {
			if f.Pairs > 0 { // perhaps they mislead
				f.forget()
			} else if f.loss.epsilon > 0 && !moved {
				f.loss.move(f.near, f.far)
				f.enter()
				f.forget()
				moved = true
			} else {
				return learners.NoProgress, residual
			}
			continue
		}
		f.iteration++
		moved = f.loss.epsilon == 0
		if f.p.Loss == SOE && f.iteration%legLeast == 0 {
			if r := f.residual(); r > f.p.Tol && before-f.objective < stalled*f.p.Tol*f.loss.zero()*float64(len(f.near)) {
				return learners.NoProgress, r
			}
			before = f.objective
		}
	}
}

// sharpen halves ε, but for round-off. The objective is not convex, where the method of multipliers converges only with an ε that is small enough.
func (f *coordinatesFit) sharpen() {
	if f.loss.epsilon > leastSmoothing*f.p.Margin {
		f.loss.epsilon /= 2
		f.enter()
		f.Pairs = 0
	}
}

// step makes one step of L-BFGS, and reports whether it lowered the objective. Without it near, far and the gradient are again those of x.
func (f *coordinatesFit) step() bool {
	f.Aim()
	var value, objective float64
	if !f.Search(f.ctx, f.value, func() float64 {
		value, objective = f.evaluate(f.Next)
		return value
	}) {
		f.evaluate(f.X)
		return false
	}
	f.gradient(f.GNext, f.Next)
	f.Remember()
	f.value, f.objective = value, objective
	f.keep()
	return true
}
