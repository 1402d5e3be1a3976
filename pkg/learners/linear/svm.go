package linear

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/enum"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/limits"
	"metriclab/pkg/persist"
)

// SVMVersion changes whenever FitSVM gives other numbers for the same input.
const SVMVersion = 2

// SVMKind is the kind under which package persist stores an SVM.
const SVMKind = "classify/svm"

// SVMLoss is the loss of a support vector machine.
type SVMLoss int

const (
	// Hinge is ξ = max(0, 1 − y(w·x + b)). The default.
	Hinge SVMLoss = iota
	// SquaredHinge is ξ².
	SquaredHinge
)

var svmLossNames = enum.Of[SVMLoss]("unknown loss %d", "hinge", "squared hinge")

// String returns the loss in words.
func (l SVMLoss) String() string { return svmLossNames.Text(l) }

// SVMParams are the parameters of FitSVM.
type SVMParams struct {
	// Loss is the loss; the zero value is Hinge.
	Loss SVMLoss `json:"loss"`
	// C > 0 is the weight of the losses against ½‖w‖²; 0 means 1.
	C float64 `json:"c" range:"> 0"`
	// BiasScale B > 0 is the constant feature whose weight is b/B: the larger,
	// the less the bias is regularised. 0 means 1.
	BiasScale float64 `json:"bias_scale" range:"> 0"`
	// Tol in (0, 1) ends the fit when the duality gap is Tol of the objective or
	// less; 0 means 1e-4.
	Tol float64 `json:"tol" range:"> 0 and < 1"`
	// MaxEpochs is the cap on passes over the rows; 0 means 1000. Newton steps
	// are not counted.
	MaxEpochs int `json:"max_epochs" range:">= 1"`
}

// Resolved returns p with its defaults filled in: C = 1, BiasScale = 1, Tol =
// 1e-4, MaxEpochs = 1000.
func (p SVMParams) Resolved() SVMParams {
	p.C = cmp.Or(p.C, 1)
	p.BiasScale = cmp.Or(p.BiasScale, 1)
	p.Tol = cmp.Or(p.Tol, 1e-4)
	p.MaxEpochs = cmp.Or(p.MaxEpochs, 1000)
	return p
}

// check is for resolved parameters.
func (p SVMParams) check() error {
	if p.Loss < Hinge || p.Loss > SquaredHinge {
		return fmt.Errorf("loss: %d is not allowed, want %d to %d", p.Loss, Hinge, SquaredHinge)
	}
	if err := ranges.Check("", p); err != nil {
		return err
	}
	if !positive(1 / (2 * p.C)) {
		return fmt.Errorf("c: %v is not allowed, want a finite number > 0 with a finite inverse", p.C)
	}
	if !positive(p.BiasScale * p.BiasScale) {
		return fmt.Errorf("bias_scale: %v is not allowed, want a number > 0 with a finite square > 0", p.BiasScale)
	}
	return nil
}

// SVM is a linear support vector machine. It is immutable and safe for concurrent
// use.
type SVM struct {
	Hyperplane
	// Result has learners.Converged if Residual, the duality gap relative to the objective, is at most
	// Tol, learners.NoProgress if round-off stopped the descent before, else learners.IterationCap.
	// Iterations counts passes over the rows.
	learners.Result
	params SVMParams
	alpha  []float64
}

// FitSVM returns the w and b that minimise
//
//	½(‖w‖² + (b/B)²) + C Σᵢ loss(yᵢ(w·xᵢ + b))
//
// for the rows of the n×d matrix x and their labels y = ±1, by dual coordinate
// descent: with x̃ = (x, B), over 0 ≤ α ≤ U it lowers
//
//	½‖w̃‖² + (D/2)Σαᵢ² − Σαᵢ,  w̃ = Σ αᵢyᵢx̃ᵢ,
//
// U = C, D = 0 for the hinge, U = ∞, D = 1/(2C) for its square, one αᵢ at a time
// and exactly, in an order drawn anew in each pass. Source: Hsieh, Chang, Lin,
// Keerthi and Sundararajan, A Dual Coordinate Descent Method for Large-scale
// Linear SVM, ICML 2008, without shrinking. Where the passes converge slowly
// (large C, more rows than features), as much work as they take goes into steps
// of Newton's method in the αᵢ between their bounds. They are shortened and projected
// until they lower the dual, as in Moré and Toraldo's gradient projection for
// bound constraints (SIAM J. Optimization 1, 1991).
//
// It stops when the duality gap, computed from α alone, is at most Tol of the
// objective: the objective is then within that of its minimum, whatever the
// order. Rows of one class only are allowed.
//
// It returns an error if a parameter is not allowed, if x is empty, if y does not
// have a valid label for each row, or if an entry is NaN or infinite. So it does if sums of
// squares or the weights overflow, or if ctx is done. It panics if x or rng is nil. A pass costs
// O(nd).
func FitSVM(ctx context.Context, rng *rand.Rand, x mat.Matrix, y []classify.Label, p SVMParams) (*SVM, error) {
	xd := matrix.Dense(x)
	if rng == nil {
		panic("linear: FitSVM: the source of random numbers is nil")
	}
	p = p.Resolved()
	s, err := newSVMSolver(ctx, xd, y, p)
	if err != nil {
		return nil, fmt.Errorf("svm: %w", err)
	}
	r := &SVM{params: p}
	r.Status, r.Iterations = s.solve(rng)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("svm: %w", err)
	}
	r.Residual = s.gap
	r.alpha = s.alpha
	r.w, r.b = s.hyperplane()
	if err := r.valid(); err != nil {
		return nil, fmt.Errorf("svm: rescale the features: %w", err)
	}
	return r, nil
}

// svmSolver is the state of dual coordinate descent.
type svmSolver struct {
	ctx   context.Context // once it is done, all numbers are meaningless
	p     SVMParams
	rows  []float64 // n×width: x̃, the constant feature last
	width int
	y     []float64
	alpha []float64
	w     []float64 // w̃ = Σ αᵢyᵢx̃ᵢ
	sq    []float64 // ‖x̃ᵢ‖² + D
	upper float64   // U
	ridge float64   // D
	order []int
	gap   float64 // relative to the objective, of the last audit
}

func newSVMSolver(ctx context.Context, x *mat.Dense, y []classify.Label, p SVMParams) (*svmSolver, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := checkTable(x, len(y)); err != nil {
		return nil, err
	}
	targets, err := classify.Targets(y)
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	if err := limits.Check(fmt.Sprintf("an SVM on %d×%d numbers", n, d), limits.Floats(n, d+1)); err != nil {
		return nil, err
	}
	s := &svmSolver{
		ctx: ctx, p: p, width: d + 1, y: targets,
		rows: make([]float64, n*(d+1)), alpha: make([]float64, n), w: make([]float64, d+1),
		sq: make([]float64, n), order: make([]int, n), upper: p.C,
	}
	if p.Loss == SquaredHinge {
		s.upper, s.ridge = math.Inf(1), 1/(2*p.C)
	}
	for i := range n {
		row := s.row(i)
		copy(row, x.RawRowView(i))
		row[d] = p.BiasScale
		s.order[i] = i
	}
	s.refresh()
	return s, nil
}

func (s *svmSolver) row(i int) []float64 { return s.rows[i*s.width : (i+1)*s.width] }

// refresh makes sq and w anew from the rows and α.
func (s *svmSolver) refresh() {
	s.w = s.w[:s.width]
	clear(s.w)
	for i, a := range s.alpha {
		if s.stopped(i) {
			return
		}
		row := s.row(i)
		s.sq[i] = floats.Dot(row, row) + s.ridge
		if a != 0 {
			floats.AddScaled(s.w, a*s.y[i], row)
		}
	}
}

// hyperplane returns w and b.
func (s *svmSolver) hyperplane() ([]float64, float64) {
	d := s.width - 1
	return slices.Clone(s.w[:d]), s.w[d] * s.p.BiasScale
}

// terms returns what a row with margin m = y·score and multiplier α adds to the
// losses, without C, and to the duality gap. The gap's terms are all ≥ 0, since
// ‖w̃‖² = Σαᵢmᵢ.
func (s *svmSolver) terms(m, alpha float64) (loss, gap float64) {
	xi := max(0, 1-m)
	if s.p.Loss == Hinge {
		return xi, alpha*(m-1) + s.p.C*xi
	}
	if xi > 0 {
		e := s.p.C*xi - alpha/2
		return xi * xi, e * e / s.p.C
	}
	return 0, alpha*(m-1) + alpha*alpha/(4*s.p.C)
}

// audit computes w from α and then the duality gap.
func (s *svmSolver) audit() bool {
	s.refresh()
	var losses, gap float64
	for i, a := range s.alpha {
		if s.stopped(i) {
			break
		}
		l, g := s.terms(s.y[i]*floats.Dot(s.w, s.row(i)), a)
		losses += l
		gap += g
	}
	s.gap = max(gap, 0) / (floats.Dot(s.w, s.w)/2 + s.p.C*losses)
	return s.gap <= s.p.Tol
}

// stopped reports whether the context is done, at every 64th row.
func (s *svmSolver) stopped(row int) bool { return row%64 == 0 && s.ctx.Err() != nil }

// solve passes over the rows until the gap is closed, or the context is done.
func (s *svmSolver) solve(rng *rand.Rand) (learners.Status, int) {
	if s.audit() {
		return learners.Converged, 0
	}
	work := 0 // of passes since the last step in the subspace, in multiplications
	for epoch := 1; epoch <= s.p.MaxEpochs; epoch++ {
		work += len(s.order) * s.width
		rng.Shuffle(len(s.order), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
		var losses, gap float64
		changed := false
		for k, i := range s.order {
			if s.stopped(k) {
				return learners.NotRun, epoch
			}
			row, a := s.row(i), s.alpha[i]
			m := s.y[i] * floats.Dot(s.w, row)
			l, g := s.terms(m, a)
			losses += l
			gap += g
			next := min(max(a-(m-1+s.ridge*a)/s.sq[i], 0), s.upper)
			if next == a {
				continue
			}
			changed = true
			s.alpha[i] = next
			floats.AddScaled(s.w, (next-a)*s.y[i], row)
		}
		// The terms seen on the way estimate the gap; the last word is the audit's.
		estimate := floats.Dot(s.w, s.w)/2 + s.p.C*losses
		if gap <= s.p.Tol*estimate || !changed {
			if s.audit() {
				return learners.Converged, epoch
			}
			if !changed {
				return learners.NoProgress, epoch
			}
		}
		free := s.free()
		order, other := min(len(free), s.width), max(len(free), s.width)
		if work >= order*order*(other+order/3) {
			s.subspace(free)
			work = 0
		}
	}
	if s.audit() {
		return learners.Converged, s.p.MaxEpochs
	}
	return learners.IterationCap, s.p.MaxEpochs
}

// free returns the rows whose multipliers are between their bounds.
func (s *svmSolver) free() []int {
	var out []int
	for i, a := range s.alpha {
		if a > 0 && a < s.upper {
			out = append(out, i)
		}
	}
	return out
}

// subspace takes a step of Newton's method in the multipliers of the given rows,
// shortened and projected on the bounds until it lowers the dual. Passes find out
// slowly what multipliers between the bounds are, and fast which ones these are;
// once they have, one such step is the solution.
func (s *svmSolver) subspace(free []int) {
	if len(free) == 0 {
		return
	}
	rows := mat.NewDense(len(free), s.width, nil)
	down := mat.NewVecDense(len(free), nil) // minus the gradient
	for k, i := range free {
		floats.AddScaled(rows.RawRowView(k), s.y[i], s.row(i))
		down.SetVec(k, 1-floats.Dot(rows.RawRowView(k), s.w)-s.ridge*s.alpha[i])
	}
	const shift = 1e-10 // of the largest entry: more rows than features give a singular matrix
	step, ok := s.newton(rows, s.ridge+shift*slices.Max(s.sq), down)
	if !ok {
		return
	}
	var dw mat.VecDense
	moved := mat.NewVecDense(len(free), nil)
	for t := 1.0; t > shift*shift; t /= 4 { // along a singular direction the step is about 1/shift too long
		var change float64 // of the dual
		for k, i := range free {
			a := s.alpha[i]
			d := min(max(a+t*step.AtVec(k), 0), s.upper) - a
			moved.SetVec(k, d)
			change += s.ridge*(a+d/2)*d - d
		}
		dw.MulVec(rows.T(), moved)
		v := dw.RawVector().Data
		change += floats.Dot(s.w, v) + floats.Dot(v, v)/2
		if change < 0 {
			for k, i := range free {
				s.alpha[i] = min(max(s.alpha[i]+moved.AtVec(k), 0), s.upper)
			}
			floats.Add(s.w, v)
			return
		}
	}
}

// newton is shiftedSolve for matrices that nobody else uses; it fails once the context is done.
func (s *svmSolver) newton(rows *mat.Dense, shift float64, v *mat.VecDense) (out *mat.VecDense, ok bool) {
	if n, d := rows.Dims(); !abandon.Long(n, d, min(n, d)) {
		return shiftedSolve(rows, shift, v)
	}
	out, err := abandon.Do(s.ctx, "svm", func(context.Context) (*mat.VecDense, error) {
		if out, ok := shiftedSolve(rows, shift, v); ok {
			return out, nil
		}
		return nil, errors.New("singular")
	})
	return out, err == nil
}

// shiftedSolve returns (RRᵀ + shift·I)⁻¹v for the matrix R of rows, by the
// Cholesky factor of that matrix or, if R has fewer columns than rows, of RᵀR +
// shift·I:
//
//	(RRᵀ + shift·I)⁻¹ = (I − R(RᵀR + shift·I)⁻¹Rᵀ)/shift.
func shiftedSolve(rows *mat.Dense, shift float64, v *mat.VecDense) (out *mat.VecDense, ok bool) {
	n, d := rows.Dims()
	factor := mat.Matrix(rows)
	if n > d {
		factor = rows.T()
	}
	gram := matrix.Outer(1, factor)
	for k := range min(n, d) {
		gram.SetSym(k, k, gram.At(k, k)+shift)
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		return nil, false
	}
	out = new(mat.VecDense)
	if n <= d {
		ok = chol.SolveVecTo(out, v) == nil
		return out, ok
	}
	var right, inner mat.VecDense
	right.MulVec(rows.T(), v)
	if chol.SolveVecTo(&inner, &right) != nil {
		return nil, false
	}
	out.MulVec(rows, &inner)
	out.SubVec(v, out)
	out.ScaleVec(1/shift, out)
	return out, true
}

// Params returns the resolved parameters.
func (s *SVM) Params() SVMParams { return s.made().params }

// Multipliers returns a copy of α, one per row; those > 0 are of support vectors.
func (s *SVM) Multipliers() []float64 { return slices.Clone(s.made().alpha) }

// made returns s, and panics if no constructor made it.
func (s *SVM) made() *SVM {
	if s == nil || s.w == nil {
		panic("linear: SVM: zero value, use FitSVM")
	}
	return s
}

// svmState is what an SVM saves beside its parameters.
type svmState struct {
	linearState
	Alpha  persist.Floats `json:"alpha"`
	Status string         `json:"status"`
	Epochs int            `json:"epochs"`
	Gap    float64        `json:"gap"`
}

// Save writes the classifier in the format of package persist, kind
// "classify/svm". What is loaded from it predicts the same bits. It panics if no fit made the classifier.
func (s *SVM) Save(w io.Writer) error {
	return persist.Write(w, SVMKind, s.made().params, svmState{linearState{s.w, s.b}, s.alpha, s.Status.String(), s.Iterations, s.Residual})
}

// LoadSVM reads what SVM.Save wrote. Its errors wrap those of package persist if
// the file is foreign, newer, damaged or of another kind.
func LoadSVM(in io.Reader) (*SVM, error) {
	var s SVM
	var state svmState
	if err := persist.Load(in, SVMKind, &s.params, &state); err != nil {
		return nil, err
	}
	s.w, s.b, s.alpha, s.Iterations, s.Residual = state.Weights, state.Bias, state.Alpha, state.Epochs, state.Gap
	s.Status = svmStatus(state.Status)
	if err := s.valid(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, SVMKind, err)
	}
	return &s, nil
}

// valid returns an error unless s is what a fit can give.
func (s *SVM) valid() error {
	if err := s.params.check(); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	return s.params.checkFit(s.alpha, s.Result)
}

// checkFit returns an error unless a fit with resolved parameters can give these multipliers and this result.
func (p SVMParams) checkFit(alpha []float64, r learners.Result) error {
	upper := p.C
	if p.Loss == SquaredHinge {
		upper = math.MaxFloat64
	}
	for i, a := range alpha {
		if !(a >= 0 && a <= upper) {
			return fmt.Errorf("alpha[%d]: %v is not allowed, want 0 to %v", i, a, upper)
		}
	}
	if len(alpha) == 0 {
		return errors.New("no multipliers, want at least one")
	}
	if !(r.Residual >= 0) || (r.Residual <= p.Tol) != (r.Status == learners.Converged) || r.Status == learners.NotRun {
		return fmt.Errorf("a gap of %v does not go with status %q", r.Residual, r.Status)
	}
	if r.Iterations < 0 || r.Iterations > p.MaxEpochs {
		return fmt.Errorf("epochs: %d is not allowed, want 0 to %d", r.Iterations, p.MaxEpochs)
	}
	return nil
}

// svmStatus returns the status of a fit that has this text, learners.NotRun if there is none.
func svmStatus(text string) learners.Status {
	for _, status := range []learners.Status{learners.Converged, learners.NoProgress, learners.IterationCap} {
		if text == status.String() {
			return status
		}
	}
	return learners.NotRun
}
