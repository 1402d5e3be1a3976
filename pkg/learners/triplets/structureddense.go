package triplets

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/internal/vector"
	"metriclab/pkg/spectral/secular"
)

const eps = 0x1p-52

func scal(x []float64, a float64) { blas64.Scal(a, vector.Of(x)) }

// fit returns a slice of length n that reuses the memory of x if it can.
func fit(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n, 2*n)
	}
	return x[:n]
}

// buffered is a symmetric n×n matrix, base + Σ c_k z_k z_kᵀ. Rank-one terms are collected, and added to the
// base many at a time, which reads and writes it once for all of them. Of the base, which is a square, the upper triangle
// counts, and the tiles of tileRows² on the diagonal are whole. A product reads each entry of the triangle once, for both of
// its uses: by rows if the matrix is large, else by tiles, which are faster from a cache.
type buffered struct {
	n    int
	base []float64 // by rows
	c    []float64
	z    []float64 // by rows
	most int       // terms to collect; 0 means terms(n)
	wide bool      // large: terms are added by products of matrices
	x    []float64 // scratch
}

// Tiles of rows and columns of a buffered matrix: 64 KB, which stay in a cache of the second level.
const tileRows, tileCols = 32, 256

// terms is the number of rank-one terms that a matrix of order n collects.
func terms(n int) int { return max(4, min(48, n/16)) }

func (m *buffered) at(i, j int) float64 {
	v := m.base[min(i, j)*m.n+max(i, j)]
	for k, c := range m.c {
		v += c * (m.z[k*m.n+i] * m.z[k*m.n+j])
	}
	return v
}

// low returns the matrix whose rows are the z_k; there is at least one.
func (m *buffered) low() blas64.General {
	return blas64.General{Rows: len(m.c), Cols: m.n, Stride: m.n, Data: m.z}
}

// mulTo sets dst to the product with x.
func (m *buffered) mulTo(dst, x []float64) {
	if m.wide {
		product.Symv(blas64.Symmetric{Uplo: blas.Upper, N: m.n, Stride: m.n, Data: m.base}, x, dst)
	} else {
		m.mulTiles(dst, x)
	}
	if len(m.c) == 0 {
		return
	}
	m.x = fit(m.x, len(m.c))
	product.Gemv(m.x, m.low(), x)
	for k, c := range m.c {
		m.x[k] *= c
	}
	product.GemvT(dst, 1, m.low(), m.x)
}

// mulTiles sets dst to the product of the base with x.
func (m *buffered) mulTiles(dst, x []float64) {
	clear(dst)
	for r := 0; r < m.n; r += tileRows {
		end := min(r+tileRows, m.n)
		tile := blas64.General{Rows: end - r, Cols: end - r, Stride: m.n, Data: m.base[r*m.n+r:]}
		product.GerGemv(tile, product.Ends{}, product.Ends{Row: x[r:end]}, product.Ends{Col: dst[r:end]})
		for c := end; c < m.n; c += tileCols {
			w := min(tileCols, m.n-c)
			tile = blas64.General{Rows: end - r, Cols: w, Stride: m.n, Data: m.base[r*m.n+c:]}
			product.GerGemv(tile, product.Ends{}, product.Ends{Row: x[c : c+w], Col: x[r:end]}, product.Ends{Row: dst[c : c+w], Col: dst[r:end]})
		}
	}
}

// largeFrom is the order from which a kernel is large: it has a recycled space, and products of matrices add terms and invert.
const largeFrom = 2048

// combine sets dst to the product with Σ x_i e_{o_i}.
func (m *buffered) combine(dst []float64, o [3]int, x [3]float64) {
	clear(dst)
	for k, i := range o {
		for j := range i {
			dst[j] += x[k] * m.base[j*m.n+i]
		}
		floats.AddScaled(dst[i:], x[k], m.base[i*m.n+i:(i+1)*m.n])
	}
	for k, c := range m.c {
		z := m.z[k*m.n : (k+1)*m.n]
		floats.AddScaled(dst, c*(x[0]*z[o[0]]+x[1]*z[o[1]]+x[2]*z[o[2]]), z)
	}
}

// push adds c·zzᵀ.
func (m *buffered) push(c float64, z []float64) {
	m.c = append(m.c, c)
	m.z = append(m.z, z...)
	if len(m.c) >= cmp.Or(m.most, terms(m.n)) {
		m.flush()
	}
}

func (m *buffered) flush() {
	if len(m.c) == 0 {
		return
	}
	if m.wide {
		m.addProducts()
	} else {
		m.addTerms()
	}
	mirror(m.n, m.base)
	m.c, m.z = m.c[:0], m.z[:0]
}

// addProducts adds Σ c_k z_k z_kᵀ to the upper triangle, and to some of what is below it.
func (m *buffered) addProducts() {
	n := m.n
	m.x = fit(m.x, len(m.z)) // the c_k z_k by rows
	for k, c := range m.c {
		floats.ScaleTo(m.x[k*n:(k+1)*n], c, m.z[k*n:(k+1)*n])
	}
	for i := 0; i < n; i += tileCols {
		rows := min(tileCols, n-i)
		x := blas64.General{Rows: len(m.c), Cols: rows, Stride: n, Data: m.x[i:]}
		z := blas64.General{Rows: len(m.c), Cols: n - i, Stride: n, Data: m.z[i:]}
		product.GemmAdd(blas.Trans, blas.NoTrans, x, z, blas64.General{Rows: rows, Cols: n - i, Stride: n, Data: m.base[i*n+i:]})
	}
}

// addTerms adds Σ c_k z_k z_kᵀ to the upper triangle, and to some of what is below it.
func (m *buffered) addTerms() {
	n, terms := m.n, len(m.c)
	m.x = fit(m.x, terms*n) // the c_k z_k by columns
	for k, c := range m.c {
		for i, z := range m.z[k*n : (k+1)*n] {
			m.x[i*terms+k] = c * z
		}
	}
	all := make([]int32, terms)
	for k := range all {
		all[k] = int32(k)
	}
	for c := 0; c < n; c += tileCols {
		end := min(c+tileCols, n)
		for i := range end {
			first := max(i&^3, c) // a multiple of 4 is faster, and what is left of the diagonal does not count
			z := blas64.General{Rows: terms, Cols: end - first, Stride: n, Data: m.z[first:]}
			product.AddRows(m.base[i*n+first:i*n+end], m.x[i*terms:(i+1)*terms], z, all)
		}
	}
}

// mirror copies the upper triangles of the tiles on the diagonal to the lower ones.
func mirror(n int, base []float64) {
	for i := range n {
		for j := i - i%tileRows; j < i; j++ {
			base[i*n+j] = base[j*n+i]
		}
	}
}

// resolved is a kernel K ⪰ 0 of which all n² entries are kept, with R = (K + s₀I)⁻¹, in whose Krylov
// spaces the negative eigenpairs are found. The nearer s₀ is to the root s of the secular equation, the
// fewer Lanczos steps: the error falls by (√κ−1)/(√κ+1) per step, κ = max(s/s₀, s₀/s). The roots spread over
// orders of magnitude, so that there are two resolvents, with s₀ below and above the geometric mean
// of the roots; two corrections more cost less than the steps that they save.
//
// A product with a large matrix takes as long as it takes to read it from memory. Large kernels have one resolvent and a recycled
// space, with which a search takes fewer products (docs/speed/triplets.md).
type resolved struct {
	n     int
	k     buffered
	r     []buffered // two, or one of a large kernel; base nil if there are none
	trace float64
	w     *recycled // of large kernels

	shift    []float64 // s₀ of each
	logShift float64   // running mean of log s
	seen     int       // roots in that mean
	age      int       // roots since the resolvents were built
	patience int       // age at which they may be built anew
	without  ablation

	basis   [][]float64 // Lanczos vectors
	v, x, y []float64
	eq      secular.Equation
}

const (
	// residualTol bounds the residual of an accepted eigenpair, relative to c, the length of the term subtracted, and
	// with it the error of K.
	residualTol = 1e-11
	// inaccurate: a residual that is larger than expected by this factor tells that R is not
	// accurate, and it is built anew.
	inaccurate = 30
	// minDenominator: a correction of R that divides by less would lose this many digits, and R
	// is built anew when next needed.
	minDenominator = 1e-6
	// maxLanczos is far above the steps taken (8 to 20). A space that needs more is left to a
	// full eigendecomposition.
	maxLanczos = 200
	// firstLook: the steps before the root is looked for.
	firstLook = 3
	// meanOver is the number of roots over which logShift averages.
	meanOver = 32
	// staleRatio: the resolvents are built anew when a shift is off by more than this factor, but not more
	// often than after firstPatience roots, and ever less often.
	staleRatio = 4
	// firstShift·c is s₀ while no root was seen.
	firstShift = 0.01
	// spread is the ratio of the two s₀ to the geometric mean of the roots, or to that which soon will be.
	spread = 4
	// leastShift times the mean eigenvalue of K is the least s₀. The roots start tiny and grow soon,
	// and while they are tiny, few eigenvalues of K are of their size, so that a larger s₀ costs few steps.
	leastShift = 0.0003
	// tiniestShift: the squares of the entries of a resolvent with less overflow, and pairs are found without one.
	tiniestShift = 1e-150
)

// firstPatience is the number of roots that cost about as much as resolvents of order n.
func firstPatience(n int) int { return max(64, n/4) }

func newResolved(n int, k []float64, without ablation) *resolved {
	d := &resolved{n: n, r: make([]buffered, 2), patience: firstPatience(n), without: without}
	if n >= largeFrom || without.size {
		d.w = &recycled{n: n}
		d.r = d.r[:1]
	}
	if without.second {
		d.r = d.r[:1]
	}
	d.k = d.buffered(k)
	d.drop()
	for i := range n {
		d.trace += k[i*n+i]
	}
	d.v, d.x, d.y = make([]float64, n), make([]float64, n), make([]float64, n)
	return d
}

// buffered returns a matrix with the base, and no terms yet.
func (d *resolved) buffered(base []float64) buffered {
	m := buffered{n: d.n, base: base, wide: d.w != nil}
	if d.without.buffer {
		m.most = 1
	}
	return m
}

// add sets K to the projection of K − γG.
func (d *resolved) add(t step) addition {
	if d.r[0].base != nil && d.age >= d.patience && d.stale() {
		d.patience *= 2
		d.drop()
	}
	d.correct(t.c, t.o, t.w)
	for _, e := range t.entries() {
		d.k.base[e.i*d.n+e.j] += e.x
		if e.i != e.j {
			d.k.base[e.j*d.n+e.i] += e.x
		}
	}
	return d.project(t)
}

// project sets K, which is K − γG, to its projection.
func (d *resolved) project(t step) addition {
	floor, tol := secular.Tolerances(t.c, d.trace, d.n, residualTol)
	if d.seen == 0 {
		d.logShift = math.Log(max(firstShift*t.c, floor))
	}
	for range 2 {
		if d.r[0].base == nil && !d.build(t) {
			break
		}
		var s float64
		var found, ok bool
		if d.w != nil {
			s, found, ok = d.recycle(t, floor, tol)
		}
		if !ok {
			s, found, ok = d.lanczos(t, d.nearer(t), floor, tol)
		}
		switch {
		case !ok:
			d.drop()
		case found:
			d.remove(t, s)
			return addition{removed: 1}
		default:
			d.correct(-t.c, t.o, t.u)
			return addition{certificate: CertificateBound}
		}
	}
	return d.direct(floor)
}

// drop forgets the resolvents.
func (d *resolved) drop() {
	for j := range d.r {
		d.r[j] = d.buffered(nil)
	}
}

// correct follows K ← K + c·xxᵀ (Sherman–Morrison).
func (d *resolved) correct(c float64, o [3]int, x [3]float64) {
	z := d.y
	for j := range d.r {
		r := &d.r[j]
		if r.base == nil {
			continue
		}
		r.combine(z, o, x)
		den := 1 + c*on(x, z, o)
		if !(den > minDenominator) {
			d.drop()
			return
		}
		d.push(j, -c/den, z)
	}
}

// build computes the resolvents of P = K + c·uuᵀ, K being K − γG already.
func (d *resolved) build(t step) bool {
	d.k.flush()
	d.drop()
	d.shift = d.target()
	d.age = 0
	cores.Do(len(d.r), func(j int) { d.r[j] = d.resolvent(t, d.shift[j]) })
	for _, r := range d.r {
		if r.base == nil {
			d.drop()
			return false
		}
	}
	return true
}

// resolvent returns (P + shift·I)⁻¹; its base is nil if that is not positive definite, or the shift too small.
func (d *resolved) resolvent(t step, shift float64) buffered {
	n := d.n
	if shift < tiniestShift {
		return d.buffered(nil)
	}
	m := slices.Clone(d.k.base)
	for i := range n {
		m[i*n+i] += shift
	}
	for i, p := range t.o {
		for j, q := range t.o {
			m[p*n+q] += t.c * (t.u[i] * t.u[j])
		}
	}
	least := n // by LAPACK alone
	if d.w != nil {
		least = leastInverse
	}
	if !invert(blas64.General{Rows: n, Cols: n, Stride: n, Data: m}, least) {
		return d.buffered(nil)
	}
	if d.w != nil {
		d.w.renew(blas64.General{Rows: n, Cols: n, Stride: n, Data: m})
	}
	mirror(n, m)
	return d.buffered(m)
}

// leastInverse is the order up to which a large matrix is inverted by LAPACK.
const leastInverse = 256

// invert sets the upper triangle of a, which is symmetric, to that of its inverse, by blocks of the order least or less, and reports
// whether a is positive definite. With S = D − BᵀA⁻¹B
//
//	(A  B; Bᵀ D)⁻¹ = (A⁻¹ + A⁻¹B·S⁻¹·BᵀA⁻¹  −A⁻¹B·S⁻¹; … S⁻¹).
func invert(a blas64.General, least int) bool {
	n := a.Rows
	part := func(i, j, rows, cols int) blas64.General {
		return blas64.General{Rows: rows, Cols: cols, Stride: a.Stride, Data: a.Data[i*a.Stride+j:]}
	}
	if n <= least {
		factor, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: a.Stride, Data: a.Data})
		if ok {
			_, ok = lapack64.Potri(factor)
		}
		return ok
	}
	h := n / 2
	first, right, last := part(0, 0, h, h), part(0, h, h, n-h), part(h, h, n-h, n-h)
	if !invert(first, least) {
		return false
	}
	matrix.Complete(first)
	x := blas64.General{Rows: h, Cols: n - h, Stride: n - h, Data: make([]float64, h*(n-h))} // −A⁻¹B
	product.Gemm(blas.NoTrans, blas.NoTrans, first, right, x)
	floats.Scale(-1, x.Data)
	product.GemmAdd(blas.Trans, blas.NoTrans, right, x, last)
	if !invert(last, least) {
		return false
	}
	matrix.Complete(last)
	product.Gemm(blas.NoTrans, blas.NoTrans, x, last, right)
	product.GemmAdd(blas.NoTrans, blas.Trans, right, x, first)
	return true
}

// nearer returns the resolvent whose s₀ is nearer to the root, as far as the space of both Ru tells it: with x = Ru,
// Px = u − s₀x.
func (d *resolved) nearer(t step) int {
	if len(d.r) == 1 {
		return 0
	}
	x, y := d.x, d.y
	d.r[0].combine(x, t.o, t.u)
	d.r[1].combine(y, t.o, t.u)
	p, q := on(t.u, x, t.o), on(t.u, y, t.o)
	xx, xy, yy := floats.Dot(x, x), floats.Dot(x, y), floats.Dot(y, y)
	// The pencil of P − c·uuᵀ and the products.
	kxx := p - d.shift[0]*xx - t.c*p*p
	kxy := p - d.shift[1]*xy - t.c*p*q
	kyy := q - d.shift[1]*yy - t.c*q*q
	a, b := xx*yy-xy*xy, kxx*yy+kyy*xx-2*kxy*xy
	s := (math.Sqrt(max(0, b*b-4*a*(kxx*kyy-kxy*kxy))) - b) / (2 * a)
	if s*s > d.shift[0]*d.shift[1] {
		return 1
	}
	return 0
}

func (d *resolved) vector(k int) []float64 {
	if k == len(d.basis) {
		d.basis = append(d.basis, make([]float64, d.n))
	}
	return d.basis[k]
}

// lanczos finds the eigenpair (−s, v) of K, which is P − c·uuᵀ with P ⪰ 0, by the resolvent which of P, and leaves
// v in d.v. It reports whether there is one below −floor, and whether that is known: the resolvent loses digits with
// each correction.
func (d *resolved) lanczos(st step, which int, floor, tol float64) (s float64, found, ok bool) {
	q, eq := d.vector(0), &d.eq
	clear(q)
	for i, p := range st.o {
		q[p] = st.u[i]
	}
	eq.Start(secular.Problem{C: st.c, Norm: 1, Shift: d.shift[which], Floor: floor, Tol: tol})
	for k := 1; k <= min(d.n, maxLanczos); k++ {
		z := d.vector(k)
		if k == 1 {
			d.r[which].combine(z, st.o, st.u)
		} else {
			d.r[which].mulTo(z, d.vector(k-1))
		}
		alpha, beta := secular.Orthogonalise(z, d.basis[:k])
		if beta != 0 {
			scal(z, 1/beta)
		}
		eq.Extend(alpha, beta)
		if k < firstLook && beta != 0 {
			continue
		}
		switch eq.Decide() {
		case secular.Semidefinite:
			return 0, false, true
		case secular.Failed:
			return 0, false, false
		case secular.Negative:
			ok := d.take(tol)
			return eq.Root(), ok, ok
		}
	}
	return 0, false, false
}

// take makes d.v the unit eigenvector of the equation, and reports whether its residual in K itself is small.
func (d *resolved) take(tol float64) bool {
	v := d.v
	d.eq.Vector(v, d.basis)
	scal(v, 1/math.Sqrt(floats.Dot(v, v)))
	return d.residual(d.eq.Root()) <= inaccurate*tol
}

// residual returns ‖Kv + sv‖, from K itself.
func (d *resolved) residual(s float64) float64 {
	d.k.mulTo(d.x, d.v)
	floats.AddScaled(d.x, s, d.v)
	return math.Sqrt(floats.Dot(d.x, d.x))
}

// on returns xᵀv for x on the objects o.
func on(x [3]float64, v []float64, o [3]int) float64 {
	return x[0]*v[o[0]] + x[1]*v[o[1]] + x[2]*v[o[2]]
}

// remove sets K to K + s·vvᵀ, (−s, v) being the negative eigenpair of K = P − c·uuᵀ. With y = Rv and δ = s −
// s₀, a resolvent R of P becomes R + (1/(1 + δyᵀv))((yᵀv)vvᵀ − vyᵀ − yvᵀ − δyyᵀ) + vvᵀ/s₀. These are the two
// corrections, for the term subtracted and for the pair removed, put together so that their common pole at s = s₀
// cancels. In terms of w = y − v/s₀ = −RPv/s₀, which is small where Pv is, and a = wᵀv ≤ 0 it is
//
//	R + (1/ζ)((s/s₀)(avvᵀ − vwᵀ − wvᵀ) − δwwᵀ),  ζ = s/s₀ + δa ≥ min(1, s/s₀),
//
// where nothing large cancels, however small s/s₀ is.
func (d *resolved) remove(t step, s float64) {
	v, x, w := d.v, d.x, d.y
	d.note(s)
	d.k.push(s, v)
	d.trace += s
	for j := range d.r {
		r, shift := &d.r[j], d.shift[j]
		if r.base == nil {
			continue
		}
		delta, ratio := s-shift, s/shift
		if math.Abs(delta) > 0.1*shift && !d.without.reuse { // (K + sI)v = c(uᵀv)u
			r.combine(w, t.o, t.u)
			g := t.c * on(t.u, v, t.o)
			for i := range w {
				w[i] = (g*w[i] - ratio*v[i]) / delta
			}
		} else {
			r.mulTo(w, v)
			floats.AddScaled(w, -1/shift, v)
		}
		a := floats.Dot(w, v)
		zeta := ratio + delta*a
		if !(zeta > min(1, ratio)/2) { // by round-off only
			d.drop()
			return
		}
		// The form on (v, s₀w), diagonalised.
		vv, vw, ww := ratio*a/zeta, -ratio/(zeta*shift), -delta/(zeta*shift*shift)
		half := math.Atan2(2*vw, vv-ww) / 2
		sin, cos := math.Sincos(half)
		for i := range x {
			x[i] = cos*v[i] + sin*shift*w[i]
			w[i] = -sin*v[i] + cos*shift*w[i]
		}
		d.push(j, cos*cos*vv+2*cos*sin*vw+sin*sin*ww, x)
		d.push(j, sin*sin*vv-2*cos*sin*vw+cos*cos*ww, w)
	}
}

// push adds c·zzᵀ to the resolvent j.
func (d *resolved) push(j int, c float64, z []float64) {
	if d.w != nil {
		d.w.follow(c, z)
	}
	d.r[j].push(c, z)
}

// note records a root.
func (d *resolved) note(s float64) {
	d.seen++
	d.age++
	d.logShift += (math.Log(s) - d.logShift) / float64(min(d.seen, meanOver))
}

// direct projects by a full eigendecomposition.
func (d *resolved) direct(floor float64) addition {
	d.drop()
	d.k.flush()
	e := decompose(d.n, d.k.base)
	values := e.Values(nil)
	if values[0] >= -floor {
		return addition{}
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	mat.Col(d.v, 0, &vectors)
	s := -values[0]
	d.note(s)
	d.k.push(s, d.v)
	d.trace += s
	return addition{removed: 1}
}

// target returns the shifts that new resolvents would have.
func (d *resolved) target() []float64 {
	mean, least := math.Exp(d.logShift), leastShift*d.trace/float64(d.n)
	if len(d.r) == 1 {
		return []float64{max(mean, least)}
	}
	low := max(mean/spread, least)
	return []float64{low, low * spread * spread}
}

// stale reports whether new resolvents would have other shifts.
func (d *resolved) stale() bool {
	if d.without.anew {
		return false
	}
	for j, shift := range d.target() {
		if math.Abs(math.Log(shift/d.shift[j])) > math.Log(staleRatio) {
			return true
		}
	}
	return false
}
