package pairs

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/internal/vector"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/spectral"
)

// form is a quadratic form on R^dim that takes rank-one updates. It starts at zero
// and is projected back onto the positive semi-definite cone after each of them,
// unless it is deferred: then only its snapshots are, and it by project.
//
// It is kept as A = UCUᵀ, U dim×n with orthonormal columns, C of order n. An
// added term grows the core by at most one. A subtracted term −cvvᵀ whose v
// leaves the range of U always makes one eigenvalue negative. Setting it to
// zero makes its eigenvector an exact null vector of the extended core. A
// Householder reflection that maps this vector onto the last coordinate drops
// it, so that n does not grow ("trim").
//
// The core of a deferred form need not be positive semi-definite; it grows with
// each v outside the range of U, whatever the sign of its term.
//
// A form that grows is never dense: U stays n columns whatever n is, and grow
// adds rows of zeros to it.
type form struct {
	dim      int
	grows    bool
	deferred bool
	n        int       // order of the core
	u        []float64 // the columns of U, one after the other; nil if U = I, n = dim
	c        sym       // C
	res      resolvent
	// turns counts the reflections since U was last orthonormalised.
	turns int

	// What the last add did. changed: A was not left at zero. removed: s > 0 if
	// the eigenpair (−s, p) was removed, else 0. reflected: a reflection followed,
	// with its vector g in q.
	changed   bool
	removed   float64
	reflected bool

	// Scratch. w, which look fills for add, and the vectors of the solver have n
	// entries; q has dim, from its first use on.
	w, q []float64
	eig  eigenpair
	ws   workspace
}

// Choices of representation and thresholds.
const (
	// directOrder is the largest order at which an eigenpair comes from
	// Cholesky factors at each trial shift. Above it Lanczos on a maintained
	// resolvent is cheaper. A form of this dimension or less starts as dense.
	directOrder = 12
	// inside is the distance from the range of U, relative to ‖v‖, below which
	// v counts as inside. A shorter remainder is mostly round-off; leaving it
	// out changes A by less than this share of the update.
	inside = 1e-11
	// settled: a second projection that leaves less than this share of the
	// remainder of the first shows that the first left round-off only, so that v
	// is inside ("twice is enough": Kahan; Parlett 1980, Section 6-9).
	settled = 0.5
	// spoilt is the length of the remainder's projection on U, relative to ‖v‖,
	// which shows that U is orthonormal to fewer than some 12 digits.
	spoilt = 1e-12
	// turnsPerQR is the number of reflections after which U is
	// orthonormalised; each costs it about one ε.
	turnsPerQR = 4096
	eps        = 0x1p-52
)

// denseOrder returns the order of the core from which on a dense A is cheaper:
// the work on U, 8·dim·n per update, then exceeds what the smaller core saves. A
// dense update of a deferred form costs dim² only, as much as a dense look.
func (f *form) denseOrder() int {
	if f.deferred {
		return f.dim / 4
	}
	return f.dim - f.dim/8
}

func newForm(dim int) *form {
	f := &form{dim: dim}
	if dim <= directOrder {
		f.n = dim
		f.c = make(sym, dim*(dim+1)/2)
	}
	f.size()
	return f
}

// newGrowingForm returns the zero form on R^0.
func newGrowingForm() *form {
	f := &form{grows: true}
	f.size()
	return f
}

// grow adds k axes, on which the form is zero.
func (f *form) grow(k int) {
	d := f.dim
	f.dim += k
	f.u = append(f.u, make([]float64, f.n*k)...)
	for i := f.n - 1; i >= 0; i-- {
		copy(f.col(i), f.u[i*d:(i+1)*d])
		clear(f.col(i)[d:])
	}
}

// checkRoom returns an error if A with one more column, on dim axes, does not fit
// limits.Memory. An axis of a form that grows also takes a stored point of that number of
// features, and a row of the factor of the points' Gram matrix.
func (f *form) checkRoom(dim, features int) error {
	if f.full() && dim == f.dim {
		return nil // it has all its columns
	}
	n := f.n + 1
	bytes := limits.Floats(dim, n) + limits.Floats(5, n, n) // U; the core and a copy, and its eigendecomposition or resolvent
	if f.grows {
		bytes += limits.Floats(dim, features) + limits.Floats(dim, dim)
	}
	if 0 <= bytes && bytes <= limits.Memory() {
		return nil
	}
	return limits.Check(fmt.Sprintf("a matrix of rank %d on %d axes", n, dim), bytes)
}

// turn changes to other axes, in which old axis i is row i of the dim×k matrix t:
// A ← tᵀAt. The images of U's columns are made orthonormal again, without those
// that depend on others, and the core follows.
func (f *form) turn(t *mat.Dense) {
	_, f.dim = t.Dims()
	if f.n == 0 {
		return
	}
	var images mat.Dense // row j is the image of column j of U
	images.Mul(mat.NewDense(f.n, len(f.u)/f.n, f.u), t)
	f.u = f.u[:0]
	r := mat.NewDense(f.n, f.n, nil) // image j is Σ_i r_ji·(new column i)
	order := 0
	for j := range f.n {
		x := images.RawRowView(j)
		for range 2 { // the second time removes what round-off left of the first
			for i := range order {
				d := vector.Dot(f.col(i), x)
				product.AddScaled(x, -d, f.col(i))
				r.Set(j, i, r.At(j, i)+d)
			}
		}
		if rho := math.Sqrt(vector.Dot(x, x)); rho > inside {
			r.Set(j, order, rho)
			f.u = append(f.u, x...)
			for k := range f.col(order) {
				f.col(order)[k] /= rho
			}
			order++
		}
	}
	old := f.c.symmetric(f.n)
	f.n, f.c = order, make(sym, order*(order+1)/2)
	if order > 0 {
		keep := r.Slice(0, old.SymmetricDim(), 0, order)
		var c mat.Dense
		c.Product(keep.T(), old, keep)
		for i := range order {
			row := f.c.row(i)
			for j := range row {
				row[j] = (c.At(i, j) + c.At(j, i)) / 2
			}
		}
	}
	f.turns = 0
	f.res.drop()
	f.size()
}

// zero reports whether A = 0, for a form that is not deferred: a positive
// semi-definite core vanishes with its trace.
func (f *form) zero() bool { return f.c.trace(f.n) == 0 }

// size makes the scratch fit the order n.
func (f *form) size() {
	f.w = fit(f.w, f.n)
	f.eig.a = fit(f.eig.a, f.n)
	f.ws.size(f.n)
}

// col returns column i of U.
func (f *form) col(i int) []float64 { return f.u[i*f.dim : (i+1)*f.dim] }

// ut returns Uᵀ; n > 0 and U is not I.
func (f *form) ut() blas64.General {
	return blas64.General{Rows: f.n, Cols: f.dim, Stride: f.dim, Data: f.u}
}

// full reports whether U = I.
func (f *form) full() bool { return f.n == f.dim && !f.grows }

// coords returns Uᵀv, in w unless U = I.
func (f *form) coords(w, v []float64) []float64 {
	if f.full() {
		return v
	}
	if f.n > 0 {
		product.Gemv(w, f.ut(), v)
	}
	return w[:f.n]
}

// sqNorm returns vᵀAv, at least 0 unless f is deferred. It uses no scratch of f.
func (f *form) sqNorm(v []float64) float64 {
	var w []float64
	if !f.full() {
		w = make([]float64, f.n)
	}
	return f.value(f.coords(w, v))
}

// value returns xᵀCx for the coordinates x, at least 0 unless f is deferred. It is NaN
// only if an x is not finite: sums that overflow on the way are made again with C and x
// divided by their largest entries.
func (f *form) value(x []float64) float64 {
	if q := f.bound(f.c.quad(x)); math.Abs(q) <= math.MaxFloat64 {
		return q
	}
	cs, ck := scaled(f.c)
	xs, xk := scaled(x)
	return f.bound(math.Ldexp(cs.quad(xs), ck+2*xk))
}

// scaled returns x divided by 2^exponent, a power of two of the order of its largest
// entry; exponent is 0 if that is 0 or not finite.
func scaled(x []float64) (out sym, exponent int) {
	if most := floats.Norm(x, math.Inf(1)); most <= math.MaxFloat64 {
		_, exponent = math.Frexp(most)
	}
	return times2(x, -exponent), exponent
}

// times2 returns x times 2^exponent.
func times2(x []float64, exponent int) sym {
	out := make([]float64, len(x))
	for i, a := range x {
		out[i] = math.Ldexp(a, exponent)
	}
	return out
}

// bound returns q without the round-off that takes it below zero.
func (f *form) bound(q float64) float64 {
	if f.deferred {
		return q
	}
	return math.Max(0, q)
}

// look returns vᵀAv with the bits of sqNorm, and keeps Uᵀv for add.
func (f *form) look(v []float64) float64 {
	w := f.coords(f.w, v)
	if f.full() {
		copy(f.w, w)
	}
	return f.value(w)
}

// add sets A to A + c·vvᵀ, projected onto the cone unless f is deferred, and
// returns the number of eigenvalues removed, 0 or 1: it looks for one only if c <
// 0. norm2 is ‖v‖², and c·norm2 is not subnormal. It must follow look(v).
func (f *form) add(v []float64, norm2, c float64) int {
	f.changed, f.removed = true, 0
	c *= norm2
	w, rho := f.split(v, math.Sqrt(norm2))
	if c > 0 || f.deferred {
		f.plus(c, w, rho)
		return 0
	}
	c = -c
	trace := f.c.trace(f.n)
	if trace == 0 {
		f.changed = false
		return 1 // A = 0, and stays so
	}
	if !f.solve(c, w, rho, trace) {
		f.plus(-c, w, rho) // nothing to project
		return 0
	}
	f.minus(c, w, rho)
	return 1
}

// split writes v/‖v‖ = Uw + ρq, w in f.w, which holds Uᵀv, and the unit vector
// q in f.q. A remainder that is round-off gives ρ = 0. v is projected twice: a
// single projection would leave q with the defect of U divided by ρ, which grows
// from column to column.
func (f *form) split(v []float64, norm float64) (w []float64, rho float64) {
	w = f.w
	for i := range w {
		w[i] /= norm
	}
	if f.full() {
		return w, 0
	}
	f.q = fit(f.q, f.dim)
	q := f.q
	for i, a := range v {
		q[i] = a / norm
	}
	if f.n == 0 {
		return w, 1
	}
	first, d := f.remainder(q, w)
	if vector.Dot(d, d) > spoilt*spoilt {
		f.orthonormalise()
		for i, a := range v {
			q[i] = a / norm
		}
		f.coords(w, q)
		first, d = f.remainder(q, w)
	}
	product.GemvT(q, -1, f.ut(), d)
	product.AddScaled(w, 1, d)
	rho = math.Sqrt(vector.Dot(q, q))
	if rho < settled*first || rho <= inside {
		return w, 0
	}
	for i := range q {
		q[i] /= rho
	}
	return w, rho
}

// remainder subtracts Uw from q and returns ‖q‖ and Uᵀq, which is round-off if w
// was Uᵀq and U is orthonormal.
func (f *form) remainder(q, w []float64) (norm float64, uq []float64) {
	product.GemvT(q, -1, f.ut(), w)
	product.Gemv(f.ws.y, f.ut(), q)
	return math.Sqrt(vector.Dot(q, q)), f.ws.y
}

// plus adds c(w, ρ)(w, ρ)ᵀ to the core, extended by q if ρ > 0. The result needs
// no projection.
func (f *form) plus(c float64, w []float64, rho float64) {
	f.res.plus(&f.ws, c, w, rho)
	f.c.rankOne(c, w)
	if rho == 0 {
		return
	}
	for _, a := range w {
		f.c = append(f.c, c*rho*a)
	}
	f.c = append(f.c, c*rho*rho)
	f.u = append(f.u, f.q...)
	f.n++
	if !f.grows && f.n >= f.denseOrder() {
		f.densify()
	}
	f.size()
}

// minus sets the core to that of A − c·vvᵀ + s·ppᵀ, where (−s, p) in f.eig is
// the negative eigenpair, p = (a, p_last) in the basis (U, q).
//
// With M = C − c(w,ρ)(w,ρ)ᵀ + s·ppᵀ, Mp = 0, h = p + e_last and the reflection
// H = I − t·hhᵀ, t = 1/(1 + p_last), which maps p onto −e_last, the last row of
// HMH vanishes and its leading block is
//
//	C − c(ww ᵀ − tρ(awᵀ + waᵀ)) + t²(s − cρ²)aaᵀ.
func (f *form) minus(c float64, w []float64, rho float64) {
	p := &f.eig
	f.res.minus(&f.ws, p, rho > 0)
	f.removed, f.reflected = p.s, rho > 0
	if rho == 0 {
		f.c.rankTwo(-c, 0, p.s, w, p.a)
		return
	}
	t := 1 / (1 + p.last)
	f.c.rankTwo(-c, c*t*rho, t*t*(p.s-c*rho*rho), w, p.a)
	g := f.q // (U, q)h
	for i := range g {
		g[i] *= 1 + p.last
	}
	product.GemvT(g, 1, f.ut(), p.a)
	blas64.Ger(-t, vector.Of(p.a), vector.Of(g), f.ut())
	if f.turns++; f.turns >= turnsPerQR {
		f.orthonormalise()
	}
}

// removedVector returns p of the eigenpair that the last add removed, as a
// vector of length dim. After the reflection U ← U − t·gaᵀ, g = (U, q)h, the
// sum Ua + last·q is t(Ua + g). It changes nothing of f.
func (f *form) removedVector() []float64 {
	if f.full() {
		return f.eig.a
	}
	p := make([]float64, f.dim)
	product.GemvT(p, 1, f.ut(), f.eig.a)
	if f.reflected {
		t := 1 / (1 + f.eig.last)
		for i, g := range f.q {
			p[i] = t * (p[i] + g)
		}
	}
	return p
}

// mulVecLengths is the message of a panic of MulVec.
func mulVecLengths(dst, x []float64, dim int) string {
	return fmt.Sprintf("pairs: MulVec of a vector of length %d into one of length %d, want %d", len(x), len(dst), dim)
}

// mulVec sets dst, allocated if it is nil, to Ax and returns it. It panics unless
// both vectors have length dim. It uses no scratch of f.
func (f *form) mulVec(dst, x []float64) []float64 {
	if dst == nil {
		dst = make([]float64, f.dim)
	}
	if len(x) != f.dim || len(dst) != f.dim {
		panic(mulVecLengths(dst, x, f.dim))
	}
	f.mulTo(dst, x)
	return dst
}

// mulTo sets dst to Ax. It uses no scratch of f.
func (f *form) mulTo(dst, x []float64) {
	if f.full() {
		f.c.mulTo(dst, x)
		return
	}
	clear(dst)
	if f.n == 0 {
		return
	}
	w, cw := make([]float64, f.n), make([]float64, f.n)
	f.c.mulTo(cw, f.coords(w, x))
	product.GemvT(dst, 1, f.ut(), cw)
}

// orthonormalise removes from U the round-off that reflections have left, by
// modified Gram–Schmidt. C stays: what changes is of the size of that
// round-off.
func (f *form) orthonormalise() {
	f.turns = 0
	for i := range f.n {
		u := f.col(i)
		for j := range i {
			product.AddScaled(u, -vector.Dot(f.col(j), u), f.col(j))
		}
		nrm := math.Sqrt(vector.Dot(u, u))
		for k := range u {
			u[k] /= nrm
		}
	}
}

// densify changes to U = I; n > 0.
func (f *form) densify() {
	f.c = f.dense()
	f.u, f.n = nil, f.dim
	f.res.drop()
}

// dense returns UCUᵀ for U other than I; n > 0.
func (f *form) dense() sym {
	n, d := f.n, f.dim
	u := f.ut()
	cu := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	blas64.Symm(blas.Left, 1, f.c.dense(0, n), u, 0, cu)
	a := blas64.General{Rows: d, Cols: d, Stride: d, Data: make([]float64, d*d)}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, u, cu, 0, a)
	c := make(sym, d*(d+1)/2)
	for i := range d {
		row := c.row(i)
		for j := range row {
			row[j] = (a.Data[i*d+j] + a.Data[j*d+i]) / 2
		}
	}
	return c
}

// matrix returns a copy of A, which of a deferred form is not projected.
func (f *form) matrix() *mat.SymDense {
	switch {
	case f.full():
		return f.c.symmetric(f.n)
	case f.n == 0:
		return mat.NewSymDense(f.dim, nil)
	}
	return f.dense().symmetric(f.dim)
}

// metric returns a snapshot, projected onto the cone.
func (f *form) metric() *metric.Mahalanobis {
	if l := f.factor(); l != nil {
		return metric.FromFactor(l)
	}
	return metric.Zero(f.dim)
}

// factor returns L with A = LᵀL, A projected if f is deferred, or nil if A = 0:
// C = GᵀG, L = GUᵀ.
func (f *form) factor() *mat.Dense {
	var g *mat.Dense
	if f.deferred {
		g = f.positivePart()
	} else {
		g = f.root()
	}
	if g == nil || f.full() {
		return g
	}
	var l mat.Dense
	l.Mul(g, mat.NewDense(f.n, f.dim, f.u[:f.n*f.dim]))
	return &l
}

// root returns G with C = GᵀG by Cholesky with complete pivoting, or nil if C = 0. A core
// is finite, so that one with a positive trace has a positive pivot, and G has rows.
func (f *form) root() *mat.Dense {
	if f.c.trace(f.n) <= 0 {
		return nil
	}
	var ch mat.PivotedCholesky
	ch.Factorize(f.c.symmetric(f.n), -1) // false only says that the rank is below n
	rank := ch.Rank()
	if rank == 0 { // of subnormal numbers, below the least pivot
		return nil
	}
	r := ch.RawU().(*mat.TriDense)
	g := mat.NewDense(rank, f.n, nil)
	for j, col := range ch.ColumnPivots(nil) {
		for i := range min(j+1, rank) {
			g.Set(i, col, r.At(i, j))
		}
	}
	return g
}

// positivePart returns G with GᵀG = Σ λqqᵀ over the eigenpairs of C with λ > 0, as
// many as there may be, or nil if there are none. As U has orthonormal columns,
// this is the projection of A, too. Those of the size of round-off are left out.
func (f *form) positivePart() *mat.Dense {
	if f.n == 0 {
		return nil
	}
	eig, half := f.eigen()    // G is to be multiplied by 2^half
	values := eig.Values(nil) // ascending
	last := f.n - 1
	least := float64(f.n) * eps * math.Max(-values[0], values[last])
	rank := 0
	for rank < f.n && values[last-rank] > least {
		rank++
	}
	if rank == 0 {
		return nil
	}
	var q mat.Dense
	eig.VectorsTo(&q)
	g := mat.NewDense(rank, f.n, nil)
	for i := range rank {
		row := mat.Col(g.RawRowView(i), last-i, &q)
		floats.Scale(math.Ldexp(math.Sqrt(values[last-i]), half), row)
	}
	return g
}

// eigen returns the eigenpairs of C/4^half; n > 0. half is 0 unless an eigenvalue overflows.
func (f *form) eigen() (eig spectral.EigenSym, half int) {
	if !eig.Factorize(f.c.symmetric(f.n), true) {
		_, exponent := scaled(f.c)
		half = (exponent + 1) / 2
		if !eig.Factorize(times2(f.c, -2*half).symmetric(f.n), true) {
			panic("pairs: eigendecomposition of a finite matrix did not converge")
		}
	}
	return eig, half
}

// project projects A of a deferred form onto the cone and returns the terms that this adds
// to it, one per negative eigenvalue. Those of the size of round-off stay.
func (f *form) project() (terms []metric.RankOne) {
	if f.n == 0 {
		return nil
	}
	eig, half := f.eigen()
	values := eig.Values(nil) // ascending
	least := float64(f.n) * eps * math.Max(-values[0], values[f.n-1])
	var q mat.Dense
	eig.VectorsTo(&q)
	for i := 0; i < f.n && values[i] < -least; i++ {
		w := mat.Col(nil, i, &q)
		size := math.Ldexp(-values[i], 2*half)
		f.c.rankOne(size, w)
		v := w
		if !f.full() {
			v = make([]float64, f.dim)
			product.GemvT(v, 1, f.ut(), w)
		}
		terms = append(terms, metric.RankOne{C: size, V: v})
	}
	return terms
}

// fillIdentity sets a form that is still zero to m·I, of full order.
func (f *form) fillIdentity(m float64) {
	f.n, f.u = f.dim, nil
	f.c = make(sym, f.dim*(f.dim+1)/2)
	for i := range f.dim {
		f.c.row(i)[i] = m
	}
	f.size()
}

// formState is a saved form: every number that later steps depend on.
type formState struct {
	Dim       int            `json:"dim"`
	Order     int            `json:"order"`
	Basis     persist.Floats `json:"basis,omitempty"`
	Core      persist.Floats `json:"core"`
	Resolvent persist.Floats `json:"resolvent,omitempty"`
	Shift     float64        `json:"shift"`
	LogShift  float64        `json:"log_shift"`
	Seen      int            `json:"seen"`
	Age       int            `json:"age"`
	Turns     int            `json:"turns"`
}

func (f *form) state() formState {
	return formState{f.dim, f.n, f.u, persist.Floats(f.c), f.res.compact(),
		f.res.shift, f.res.logShift, f.res.seen, f.res.age, f.turns}
}

// form returns the saved form, or an error if the parts do not fit.
func (s formState) form(grows bool) (*form, error) { return s.fill(&form{grows: grows}) }

// deferredForm is form for a deferred one.
func (s formState) deferredForm() (*form, error) {
	if len(s.Resolvent) > 0 {
		return nil, fmt.Errorf("a resolvent of %d numbers, which nothing needs", len(s.Resolvent))
	}
	return s.fill(&form{deferred: true})
}

// What a file may hold. Learners stay far within it from any start threshold.
const (
	maxSaved   = 1e130   // magnitude of an entry of a core, and of a threshold
	maxCount   = 1 << 53 // rounds and the like
	maxLog     = 1000    // of the mean logarithm of roots
	normalised = 1e-6    // how far the square of a column of U may be from 1
)

func checkSavedThreshold(b float64) error {
	if !(math.Abs(b) <= maxSaved) {
		return fmt.Errorf("threshold: %v, want a number from %g to %g", b, -maxSaved, maxSaved)
	}
	return nil
}

// checkNumbers returns an error unless the numbers are in the range of those that
// a form has: counts, columns of length 1, and entries of the core and the shift of a
// size that occurs. The arrays fit the order. Whether the core is positive
// semi-definite is not asked: where most of it has cancelled, round-off remains.
func (s formState) checkNumbers() error {
	switch {
	case s.Turns < 0 || s.Turns >= turnsPerQR:
		return fmt.Errorf("turns: %d, want 0 to %d", s.Turns, turnsPerQR-1)
	case s.Seen < 0 || s.Seen > maxCount:
		return fmt.Errorf("seen: %d, want 0 to %d", s.Seen, maxCount)
	case s.Age < 0 || s.Age > s.Seen:
		return fmt.Errorf("age: %d, want 0 to %d, the number of roots", s.Age, s.Seen)
	case math.Abs(s.LogShift) > maxLog:
		return fmt.Errorf("log_shift: %v, want a magnitude of at most %d", s.LogShift, maxLog)
	case len(s.Resolvent) > 0 && !inRange(s.Shift):
		return fmt.Errorf("shift: %v, want a number from 2^-400 to 2^400", s.Shift)
	}
	for k, a := range s.Core {
		if math.Abs(a) > maxSaved {
			return fmt.Errorf("core: number %d: %v, want a magnitude of at most %g", k, a, maxSaved)
		}
	}
	if len(s.Basis) > 0 {
		for i := range s.Order {
			if u := s.Basis[i*s.Dim : (i+1)*s.Dim]; !(math.Abs(vector.Dot(u, u)-1) <= normalised) {
				return fmt.Errorf("basis: the square of column %d is %v, want 1", i, vector.Dot(u, u))
			}
		}
	}
	return nil
}

func (s formState) fill(f *form) (*form, error) {
	n, d := s.Order, s.Dim
	f.dim, f.n = d, n
	// An order is bounded by the numbers that are there, before it is squared.
	if d < 1 && !f.grows || n < 0 || n > d || n > len(s.Core) {
		return nil, fmt.Errorf("order %d in %d dimensions with a core of %d numbers", n, d, len(s.Core))
	}
	dense := !f.grows && (d <= directOrder || n >= f.denseOrder())
	if dense && n != d {
		return nil, fmt.Errorf("order %d in %d dimensions, want %d", n, d, d)
	}
	fits := len(s.Core) == n*(n+1)/2 && (len(s.Resolvent) == 0 || len(s.Resolvent) == n*n)
	if dense || n == 0 {
		fits = fits && len(s.Basis) == 0
	} else {
		fits = fits && len(s.Basis)%n == 0 && len(s.Basis)/n == d
	}
	if !fits {
		return nil, fmt.Errorf("arrays of %d, %d and %d numbers do not fit order %d in %d dimensions",
			len(s.Core), len(s.Basis), len(s.Resolvent), n, d)
	}
	for _, a := range slices.Concat(s.Core, s.Basis, s.Resolvent, []float64{s.Shift, s.LogShift}) {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return nil, errors.New("NaN or Inf in an array")
		}
	}
	if err := s.checkNumbers(); err != nil {
		return nil, err
	}
	f.c, f.u, f.turns = sym(s.Core), s.Basis, s.Turns
	f.res = resolvent{shift: s.Shift, logShift: s.LogShift, seen: s.Seen, age: s.Age}
	if len(s.Resolvent) > 0 {
		f.res.r, f.res.n, f.res.stride = s.Resolvent, n, n
	}
	f.size()
	return f, nil
}
