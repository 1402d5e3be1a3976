package pairs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/internal/product"
	"metriclab/internal/ranges"
	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// LEGOVersion counts the changes of the values that LEGO computes.
const LEGOVersion = 1

// LEGOKind is the kind under which package persist stores a LEGO.
const LEGOKind = "pairs/lego"

// UpdateRule says on which pairs LEGO updates.
type UpdateRule int

const (
	// UpdateAlways: on every pair, also one that is better than its target.
	UpdateAlways UpdateRule = iota
	// UpdateViolated: on a similar pair farther than u, or a dissimilar one nearer than ℓ.
	UpdateViolated
)

var updateRuleNames = enum.Of[UpdateRule]("unknown update %d", "always", "violated")

// String returns "always" or "violated".
func (r UpdateRule) String() string { return updateRuleNames.Text(r) }

// MarshalText returns String.
func (r UpdateRule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads "always" or "violated".
func (r *UpdateRule) UnmarshalText(text []byte) error { return updateRuleNames.Unmarshal(r, text) }

// MaxTarget bounds the squared distances that LEGO may be asked for, so that their
// squares are finite.
const MaxTarget = 1e100

// LEGOParams are the parameters of LEGO.
type LEGOParams struct {
	// Eta is η > 0, the weight of the loss against the divergence from the last
	// matrix; 0 means 0.5.
	Eta float64 `json:"eta" range:"> 0" doc:"weight of the loss against the divergence from the last matrix"`
	// Upper is u > 0, the squared distance wanted of a similar pair; 0 means 2.
	Upper float64 `json:"u" range:"> 0 and < l" doc:"squared distance wanted of similar pairs"`
	// Lower is ℓ > u, at most MaxTarget, that of a dissimilar pair; 0 means 8.
	Lower float64 `json:"l" range:"> u and <= 1e100" doc:"squared distance wanted of dissimilar pairs"`
	// Update says on which pairs to update. The default is UpdateAlways.
	Update UpdateRule `json:"update" words:"always|violated" doc:"on every pair, or on similar pairs farther than u and dissimilar ones nearer than l"`
	// W0 is the start matrix, d×d and positive definite, a precision; nil means I.
	W0 mat.Symmetric `json:"-"`
}

// Resolved returns p with its defaults filled in, but for W0, whose default depends
// on the dimension: Eta = 0.5, Upper = 2, Lower = 8.
func (p LEGOParams) Resolved() LEGOParams {
	p.Eta = cmp.Or(p.Eta, 0.5)
	p.Upper = cmp.Or(p.Upper, 2)
	p.Lower = cmp.Or(p.Lower, 8)
	return p
}

func (p LEGOParams) check() error {
	if err := ranges.Check("lego", p); err != nil {
		return err
	}
	switch {
	case !(p.Upper < p.Lower):
		return fmt.Errorf("lego: u: %v and l: %v are not allowed, want u < l", p.Upper, p.Lower)
	case p.Update != UpdateAlways && p.Update != UpdateViolated:
		return fmt.Errorf("lego: update: %d is not allowed, want UpdateAlways or UpdateViolated", int(p.Update))
	}
	return nil
}

// LEGO learns a metric from pairs: similar ones should have the squared distance u,
// dissimilar ones ℓ. Its steps are implicit ones in the LogDet divergence
// D(A, B) = tr(AB⁻¹) − log det(AB⁻¹) − d:
//
//	z = x − y,  ŷ = d² = zᵀAz,  predict similar iff d² ≤ (u + ℓ)/2
//	t = u if similar, else ℓ,  loss ½(ŷ − t)²
//	A ← argmin over A' ≻ 0 of D(A', A) + η·½(zᵀA'z − t)²
//
// starting from A = W₀. Source: LogDet exact gradient online (LEGO), Jain, Kulis,
// Dhillon, Grauman, Online Metric Learning and Fast Similarity Search, NIPS 2008;
// "LogDet Online" in Jain, Kulis, Davis, Dhillon, JMLR 13, 2012, Section 6. The
// minimiser has A'⁻¹ = A⁻¹ + η(ȳ − t)zzᵀ with ȳ = zᵀA'z, so that ȳ is the positive
// root of
//
//	ηŷȳ² + (1 − ηŷt)ȳ − ŷ = 0,  A' = A − (ŷ − ȳ)/ŷ²·(Az)(Az)ᵀ.
//
// ȳ lies between ŷ and t. A stays positive definite for every η without a
// projection. With Update = UpdateViolated the loss is counted only if ŷ is on the wrong
// side of t; where it is not, the minimiser is A itself.
//
// A is kept as a factor of half a square, A = SᵀS, and a step updates S: it costs
// O(d²), d² is never negative, and A stays positive semi-definite whatever round-off
// does. A pair with d² = 0 changes nothing.
//
// All methods but Step may be called concurrently.
//
// The same in 30 lines: [metriclab/pkg/learners/plain.LEGO].
type LEGO struct {
	p LEGOParams // W0 is nil: it is where S started
	s stairs

	z, w, norm2 []float64 // x − y, Sz and its blocks' squared lengths in the last step
	az          []float64 // Az of the last update
	beta        float64   // the last step added β·(Az)(Az)ᵀ; 0 if A did not change
}

var _ learners.PairMetric = (*LEGO)(nil)

// NewLEGO returns a LEGO for vectors of length dim. It returns an error unless dim ≥ 1 and S, of dim·(dim + 16)/2 numbers, fits
// limits.Memory. Eta, Upper and Lower must be positive, or 0 for their defaults, Eta finite, Upper < Lower ≤ MaxTarget, and Update one
// there is. W0 must be nil, or dim×dim and positive definite with finite entries and trace.
func NewLEGO(dim int, p LEGOParams) (*LEGO, error) {
	if dim < 1 {
		return nil, fmt.Errorf("lego: dim: %d is not allowed, want at least 1", dim)
	}
	p = p.Resolved()
	if err := p.check(); err != nil {
		return nil, err
	}
	size := limits.Floats(dim, dim/2+stairEdge) // no less than 8·stairsLen(dim)
	if p.W0 != nil {
		size = limits.Floats(3, dim, dim) // and its copy, and its factor
	}
	if err := limits.Check(fmt.Sprintf("LEGO with %d features", dim), size); err != nil {
		return nil, fmt.Errorf("lego: dim: %w", err)
	}
	s := newStairs(dim)
	if p.W0 == nil {
		s.set(mat.NewDiagDense(dim, slices.Repeat([]float64{1}, dim)))
	} else {
		root, err := lowerRoot(dim, p.W0)
		if err != nil {
			return nil, err
		}
		s.set(root)
		if math.IsInf(vector.Dot(s.data, s.data), 0) {
			return nil, errors.New("lego: w0: its trace overflows")
		}
		p.W0 = nil
	}
	return makeLEGO(p, s), nil
}

func makeLEGO(p LEGOParams, s stairs) *LEGO {
	d := s.n
	return &LEGO{
		p: p, s: s,
		z: make([]float64, d), w: make([]float64, d), norm2: make([]float64, len(s.block)), az: make([]float64, d),
	}
}

// lowerRoot returns the lower triangular R with a = RᵀR: the Cholesky factor of a
// with its rows and columns in reverse order, in reverse order.
func lowerRoot(dim int, a mat.Symmetric) (*mat.Dense, error) {
	if n := a.SymmetricDim(); n != dim {
		return nil, fmt.Errorf("lego: w0: %d×%d is not allowed, want %d×%d", n, n, dim, dim)
	}
	back := mat.NewSymDense(dim, nil)
	for i := range dim {
		for j := range i + 1 {
			t := a.At(i, j)
			if math.IsNaN(t) || math.IsInf(t, 0) {
				return nil, fmt.Errorf("lego: w0: entry (%d, %d) is %v, want a finite number", i, j, t)
			}
			back.SetSym(dim-1-i, dim-1-j, t)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(back) {
		return nil, errors.New("lego: w0: it is not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	root := mat.NewDense(dim, dim, nil)
	for i := range dim {
		for j := range i + 1 {
			root.Set(i, j, l.At(dim-1-j, dim-1-i))
		}
	}
	return root, nil
}

// made returns l, and panics unless a constructor made it.
func (l *LEGO) made() *LEGO {
	if l == nil || l.s.n == 0 {
		panic("pairs: LEGO: zero value, use NewLEGO")
	}
	return l
}

// Dim returns the dimension of the vectors.
func (l *LEGO) Dim() int { return l.made().s.n }

// Threshold returns (u + ℓ)/2.
func (l *LEGO) Threshold() float64 { return (l.made().p.Upper + l.p.Lower) / 2 }

// Params returns the resolved parameters, without W0.
func (l *LEGO) Params() LEGOParams { return l.made().p }

// Predict returns d² and whether d² ≤ (u + ℓ)/2; d² is math.MaxFloat64 where it
// overflows. It ignores the label. It panics unless both vectors have length Dim and
// finite entries.
func (l *LEGO) Predict(f metric.Pair) learners.PairPrediction {
	return l.made().prediction(l.sqDist(f))
}

// Loss returns ½(d² − t)², t = u of a similar and ℓ of a dissimilar pair, at most
// math.MaxFloat64; with UpdateViolated 0 if d² is on the right side of t. It panics as Predict
// does, and if the label is neither 1 nor -1.
func (l *LEGO) Loss(f metric.Pair) float64 {
	l.made()
	demand("lego", f.CheckLabel())
	return learners.Saturate(l.lossAt(l.sqDist(f), f.Label))
}

func (l *LEGO) sqDist(f metric.Pair) float64 {
	d := l.s.n
	demand("lego", f.CheckVectors(d))
	buf := make([]float64, 2*d+len(l.s.block))
	z := metric.Sub(buf[:d:d], f.X, f.Y)
	return learners.Saturate(l.s.mulTo(buf[d:2*d], buf[2*d:], z))
}

func (l *LEGO) prediction(q float64) learners.PairPrediction {
	return learners.PairPrediction{SqDist: q, Similar: q <= l.Threshold()}
}

func (l *LEGO) target(label metric.Label) float64 {
	if label == metric.Dissimilar {
		return l.p.Lower
	}
	return l.p.Upper
}

func (l *LEGO) lossAt(q float64, label metric.Label) float64 {
	off := q - l.target(label)
	if l.p.Update == UpdateViolated && float64(label)*off <= 0 {
		return 0
	}
	return off * off / 2
}

// mostChange bounds the factor by which one pair may shrink or stretch its own d². S
// loses half as many digits as the factor has, so at most 10 of 16.
const mostChange = 1e20

// Step predicts, suffers the loss and updates. StepSize is (ŷ − ȳ)/ŷ², positive if x
// and y come nearer. It returns an error, and changes nothing, if the label is not
// ±1, a vector is not of length Dim, or an entry is NaN or infinite. So it does if
// the loss or ηd² overflows, or the step would change d² by a factor of more than
// 1e20 or A by more than 1e290.
func (l *LEGO) Step(f metric.Pair) (learners.PairOutcome, error) {
	l.made()
	var o learners.PairOutcome
	l.beta = 0
	// Not Check: d² and the loss must be finite, ‖x−y‖⁴ need not be.
	if err := f.CheckLabel(); err != nil {
		return o, fmt.Errorf("lego: %w", err)
	}
	d := l.s.n
	if len(f.X) != d || len(f.Y) != d {
		return o, fmt.Errorf("lego: %w", f.CheckVectors(d))
	}
	floats.AddScaledTo(l.z, f.X, -1, f.Y) // x − y, by a faster kernel
	always := l.p.Update == UpdateAlways  // so that Az is wanted of almost every pair
	var q float64
	if always {
		q = l.s.mulBoth(l.az, l.w, l.norm2, l.z)
	} else {
		q = l.s.mulTo(l.w, l.norm2, l.z)
	}
	loss := l.lossAt(q, f.Label)
	if math.IsNaN(q) || math.IsInf(q, 0) || math.IsInf(loss, 0) {
		// d² is not finite if an entry is not: all entries enter it.
		if err := f.CheckVectors(d); err != nil {
			return o, fmt.Errorf("lego: %w", err)
		}
		if err := l.prediction(q).Check(); err != nil {
			return o, fmt.Errorf("lego: %w", err)
		}
		return o, fmt.Errorf("lego: x and y: d² = %v, want a number whose square is finite: scale the features down", q)
	}
	now := learners.PairOutcome{Prediction: l.prediction(q), Loss: loss}
	now.Mistake = now.Prediction.Similar != (f.Label == metric.Similar)
	if q == 0 || loss == 0 {
		return now, nil
	}
	ratio, beta := implicit(l.p.Eta, q, l.target(f.Label))
	if !(ratio >= 1/mostChange && ratio <= mostChange) || math.IsInf(beta, 0) {
		return o, fmt.Errorf("lego: x and y: d² = %v, which one step with eta = %v cannot move toward %v in float64: scale the features", q, l.p.Eta, l.target(f.Label))
	}
	if beta == 0 {
		return now, nil
	}
	if !always {
		l.s.transMul(l.az, l.w)
	}
	if !(math.Abs(beta)*vector.Dot(l.az, l.az) <= mostGrowth) {
		return o, fmt.Errorf("lego: x and y: the step would take the matrix beyond %g: scale the features up", float64(mostGrowth))
	}
	l.s.update(ratio, beta, l.w, l.norm2)
	l.beta = beta
	now.StepSize, now.Updated = -beta, true
	return now, nil
}

// implicit returns ȳ/ŷ and β = (ȳ − ŷ)/ŷ² for ŷ = q and the target t. With a = ηŷ, b
// = 1 − at and D = b² + 4aŷ, ȳ is a root of aȳ² + bȳ − ŷ = 0, and its distance from
// ŷ a root of another equation with the same discriminant. Of the two forms of each
// root the one is taken that adds two numbers of the same sign.
func implicit(eta, q, t float64) (ratio, beta float64) {
	a := eta * q
	b := 1 - a*t
	root := math.Hypot(b, 2*math.Sqrt(a)*math.Sqrt(q)) // √D
	if b >= 0 {
		ratio = 2 / (b + root)
	} else {
		ratio = (root - b) / (2 * a) / q
	}
	if c := b + 2*a*q; c >= 0 {
		beta = 2 * eta * (t - q) / (c + root)
	} else {
		beta = (root - c) / (2 * a) / q / q
	}
	return ratio, beta
}

// Metric returns a snapshot of A, of which S is the factor: O(d²).
func (l *LEGO) Metric() *metric.Mahalanobis { return metric.FromFactor(l.made().s.dense()) }

// LastChange returns the term −(ŷ − ȳ)/ŷ²·(Az)(Az)ᵀ that the last Step added to A;
// nothing if A did not change, if that Step returned an error, and for a learner that
// has just been made or loaded. The vector is valid until the next Step.
func (l *LEGO) LastChange() []metric.RankOne {
	l.made()
	if l.beta == 0 {
		return nil
	}
	return []metric.RankOne{{C: l.beta, V: l.az}}
}

// MulVec sets dst to Ax and returns it; dst is allocated if it is nil. It costs
// O(d²). It panics unless both vectors have length Dim.
func (l *LEGO) MulVec(dst, x []float64) []float64 {
	l.made()
	d := l.s.n
	if dst == nil {
		dst = make([]float64, d)
	}
	if len(dst) != d || len(x) != d {
		panic(mulVecLengths(dst, x, d))
	}
	buf := make([]float64, d+len(l.s.block))
	w := buf[:d]
	l.s.mulTo(w, buf[d:], x)
	clear(dst)
	l.s.addTransMul(dst, w)
	return dst
}

// legoState is what Save writes beside the parameters: the rows of S, each up to the
// end of its step.
type legoState struct {
	Dim    int            `json:"dim"`
	Factor persist.Floats `json:"factor"`
}

// Save writes the learner in the format of package persist, kind "pairs/lego". A
// learner loaded from it continues bit for bit.
func (l *LEGO) Save(w io.Writer) error {
	l.made()
	return persist.Write(w, LEGOKind, l.p, legoState{l.s.n, l.s.data})
}

// LoadLEGO reads a learner that Save wrote. Its errors wrap those of package persist
// if the file is foreign, newer, damaged or of another kind.
func LoadLEGO(r io.Reader) (*LEGO, error) {
	var p LEGOParams
	var state legoState
	if err := persist.Load(r, LEGOKind, &p, &state); err != nil {
		return nil, err
	}
	l, err := state.learner(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, LEGOKind, err)
	}
	return l, nil
}

func (s legoState) learner(p LEGOParams) (*LEGO, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if s.Dim < 1 || s.Dim > len(s.Factor) || s.Dim > math.MaxInt32 || len(s.Factor) != stairsLen(s.Dim) {
		return nil, fmt.Errorf("factor: %d numbers for dim %d", len(s.Factor), s.Dim)
	}
	for i, a := range s.Factor {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return nil, fmt.Errorf("factor[%d]: %v, want a finite number", i, a)
		}
	}
	if math.IsInf(vector.Dot(s.Factor, s.Factor), 0) {
		return nil, errors.New("factor: its square overflows")
	}
	f := newStairs(s.Dim)
	copy(f.data, s.Factor) // it may be singular, by round-off of steps
	return makeLEGO(p, f), nil
}

// stairs is a matrix S of order n that is zero above a staircase: it has blocks of
// stairEdge rows, which end where the block on the diagonal does. With blocks of one
// row it would be triangular; these are as many as gonum's products are fast for, and
// for n = 64 they hold 5/8 of a square.
type stairs struct {
	n     int
	data  []float64        // block after block, each by rows
	block []blas64.General // views of data
	sum   [][]float64      // Σ S_Kᵀw_K over K ≤ J of each block J: as long as J has columns
	rho   []float64        // scratch of update
}

const stairEdge = 16

// stairsLen returns how many numbers stairs of order n has.
func stairsLen(n int) int {
	whole, rest := n/stairEdge, n%stairEdge
	return stairEdge*stairEdge*whole*(whole+1)/2 + rest*n
}

func newStairs(n int) stairs {
	s := stairs{n: n, data: make([]float64, stairsLen(n))}
	at := 0
	for from := 0; from < n; from += stairEdge {
		to := min(from+stairEdge, n)
		size := (to - from) * to
		s.block = append(s.block, blas64.General{Rows: to - from, Cols: to, Stride: to, Data: s.data[at : at+size]})
		s.sum = append(s.sum, make([]float64, to))
		at += size
	}
	s.rho = make([]float64, len(s.block)+1)
	return s
}

// set sets S to a, which must be zero above the staircase.
func (s *stairs) set(a mat.Matrix) {
	for _, g := range s.block {
		for r := range g.Rows {
			for c := range g.Cols {
				g.Data[r*g.Stride+c] = a.At(g.Cols-g.Rows+r, c)
			}
		}
	}
}

// dense returns S as a full square.
func (s *stairs) dense() *mat.Dense {
	out := mat.NewDense(s.n, s.n, nil)
	for _, g := range s.block {
		for r := range g.Rows {
			copy(out.RawRowView(g.Cols-g.Rows+r), g.Data[r*g.Stride:(r+1)*g.Stride])
		}
	}
	return out
}

// part returns the part of w that belongs to the rows of g.
func part(w []float64, g blas64.General) []float64 { return w[g.Cols-g.Rows : g.Cols] }

// mulTo sets w to Sz, norm2 to the squared lengths of its parts in each block, and
// returns that of w.
func (s *stairs) mulTo(w, norm2, z []float64) float64 {
	var sum float64
	for k := range s.block {
		sum += s.mulBlock(k, w, norm2, z)
	}
	return sum
}

// mulBlock is mulTo of block k.
func (s *stairs) mulBlock(k int, w, norm2, z []float64) float64 {
	g := s.block[k]
	v := part(w, g)
	product.Gemv(v, g, z[:g.Cols])
	norm2[k] = vector.Dot(v, v)
	return norm2[k]
}

// mulBoth is mulTo and then transMul, with one way through memory.
func (s *stairs) mulBoth(dst, w, norm2, z []float64) float64 {
	var sum float64
	for k := range s.block {
		sum += s.mulBlock(k, w, norm2, z)
		s.sumBlock(k, w)
	}
	copy(dst, s.sum[len(s.sum)-1])
	return sum
}

// addTransMul adds Sᵀw to dst.
func (s *stairs) addTransMul(dst, w []float64) {
	for _, g := range s.block {
		product.GemvT(dst[:g.Cols], 1, g, part(w, g))
	}
}

// transMul sets dst to Sᵀw and keeps the sums on the way for update.
func (s *stairs) transMul(dst, w []float64) {
	for k := range s.block {
		s.sumBlock(k, w)
	}
	copy(dst, s.sum[len(s.sum)-1])
}

// sumBlock adds the part of Sᵀw that block k has to the sum of those before.
func (s *stairs) sumBlock(k int, w []float64) {
	sum, before := s.sum[k], []float64(nil)
	if k > 0 {
		before = s.sum[k-1]
	}
	clear(sum[copy(sum, before):])
	product.GemvT(sum, 1, s.block[k], part(w, s.block[k]))
}

// update sets S to CS with CᵀC = I + βwwᵀ, so that SᵀS becomes SᵀS + β(Sᵀw)(Sᵀw)ᵀ,
// after transMul of w; ratio is 1 + β‖w‖² > 0, given apart since it may cancel. With
// w_J the part of w in block J, n_J = ‖w_J‖², which norm2 has, and
//
//	ρ_J = 1 + β·Σ n_K over K > J,  θ_J = β/ρ_J,  g_J² = ρ_{J−1}/ρ_J = 1 + θ_Jn_J,
//
// C has the blocks I + w_Jw_Jᵀ·θ_J/(g_J + 1) on the diagonal, w_Jw_Iᵀ·θ_J/g_J left of
// it, and zero right of it: a method of Gill, Golub, Murray, Saunders, Methods for
// Modifying Matrix Factorizations, Math. Comp. 28, 1974, with symmetric roots of
// blocks in place of numbers. With t_J = Σ S_Kᵀw_K over K ≤ J,
//
//	S_J ← S_J + θ_J/(g_J + 1)·w_J(t_J + t_{J−1}/g_J)ᵀ.
//
// All ρ are sums of positive numbers.
func (s *stairs) update(ratio, beta float64, w, norm2 []float64) {
	last := len(s.block) - 1
	if beta < 0 {
		s.rho[0] = ratio // s.rho[J] is ρ_{J−1}
		for k, n := range norm2 {
			s.rho[k+1] = s.rho[k] - beta*n
		}
	} else {
		s.rho[last+1] = 1
		for k := last; k >= 0; k-- {
			s.rho[k] = s.rho[k+1] + beta*norm2[k]
		}
	}
	for k := last; k >= 0; k-- { // backward, as t_J is overwritten
		root := math.Sqrt(s.rho[k] / s.rho[k+1])
		t := s.sum[k]
		if k > 0 {
			before := s.sum[k-1]
			product.AddScaled(t[:len(before)], 1/root, before)
		}
		blas64.Ger(beta/s.rho[k+1]/(root+1), vector.Of(part(w, s.block[k])), vector.Of(t), s.block[k])
	}
}
