package triplets

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"metriclab/internal/vector"
	"metriclab/pkg/spectral/secular"
)

// sparse is a kernel K = diagonal + sparse + Σ s_k v_k v_kᵀ that started as a diagonal matrix: triplets fill
// few entries, and K is block diagonal by the components of the graph of the objects that they compare. Per
// component it keeps a lower bound on the smallest eigenvalue of its block.
type sparse struct {
	n     int
	trace float64
	diag  []float64
	rows  [][]entry // off-diagonal entries of row i, by column
	slack []float64

	low     []float64 // s of each term
	vectors []float64 // v of each term, by rows

	// The components, by union-find, and what is known of them, by root.
	up      []int // up[i] = i at roots
	members [][]int
	bare    []bool    // no term touches it
	clean   []bool    // K − diag(slack) ⪰ 0 is proved on it
	least   []float64 // lower bound on the smallest eigenvalue of the block
	peak    []float64 // least when it was last raised

	order  []int // the objects of a ball around a triplet, by distance
	layers []int // ends of its layers in order
	place  []int // place in order; −1 outside
	basis  [][]float64
	full   []float64 // of all objects
	form   []float64 // of all terms
	krylov secular.Form
	pivots elimination
}

// entry is K_ij of a row i.
type entry struct {
	j int
	x float64
}

func newSparse(diag []float64) *sparse {
	n := len(diag)
	k := &sparse{
		n: n, diag: diag, rows: make([][]entry, n),
		slack: slices.Clone(diag), least: slices.Clone(diag),
		members: make([][]int, n), peak: slices.Clone(diag),
		up: make([]int, n), bare: make([]bool, n), clean: make([]bool, n),
		place: make([]int, n),
	}
	for i := range n {
		k.trace += diag[i]
		k.members[i] = []int{i}
		k.bare[i], k.clean[i], k.up[i], k.place[i] = true, true, i, -1
	}
	return k
}

func (k *sparse) at(i, j int) float64 {
	var x float64
	if i == j {
		x = k.diag[i]
	} else if p, ok := k.find(i, j); ok {
		x = k.rows[i][p].x
	}
	for p, s := range k.low {
		x += s * (k.vectors[p*k.n+i] * k.vectors[p*k.n+j])
	}
	return x
}

func (k *sparse) find(i, j int) (int, bool) {
	row := k.rows[i]
	p := sort.Search(len(row), func(p int) bool { return row[p].j >= j })
	return p, p < len(row) && row[p].j == j
}

// inc adds x to K_ij, in row i alone.
func (k *sparse) inc(i, j int, x float64) {
	if i == j {
		k.diag[i] += x
		return
	}
	p, ok := k.find(i, j)
	if !ok {
		k.rows[i] = slices.Insert(k.rows[i], p, entry{j: j})
	}
	k.rows[i][p].x += x
}

// root returns the object that stands for the component of i, and shortens the way to it.
func (k *sparse) root(i int) int {
	for k.up[i] != i {
		k.up[i] = k.up[k.up[i]]
		i = k.up[i]
	}
	return i
}

// standsFor is root for readers: it changes nothing.
func (k *sparse) standsFor(i int) int {
	for k.up[i] != i {
		i = k.up[i]
	}
	return i
}

// join makes one component of those of the objects o.
func (k *sparse) join(o [3]int) int {
	r := k.root(o[0])
	for _, i := range o[1:] {
		q := k.root(i)
		if q == r {
			continue
		}
		if len(k.members[q]) > len(k.members[r]) || len(k.members[q]) == len(k.members[r]) && q < r {
			q, r = r, q
		}
		k.up[q] = r
		k.members[r], k.members[q] = append(k.members[r], k.members[q]...), nil
		k.peak[r] = min(k.peak[r], max(k.peak[q], k.least[q]))
		k.least[r] = min(k.least[r], k.least[q])
		k.clean[r] = k.clean[r] && k.clean[q]
		k.bare[r] = k.bare[r] && k.bare[q]
	}
	return r
}

// add sets K to the projection of K − γG. ok is false if the projection was not managed, and then K is K − γG.
func (k *sparse) add(t step) (a addition, ok bool) {
	r := k.join(t.o)
	for _, e := range t.entries() {
		k.inc(e.i, e.j, e.x)
		if e.i != e.j {
			k.inc(e.j, e.i, e.x)
		}
	}
	if k.clean[r] {
		var kappa float64
		for i, p := range t.o {
			kappa += t.c * t.u[i] * t.u[i] / k.slack[p]
		}
		if kappa <= mostSlack {
			for _, p := range t.o {
				k.slack[p] *= 1 - kappa
				k.least[r] = min(k.least[r], k.slack[p])
			}
			return addition{certificate: CertificateSlack}, true
		}
		k.clean[r] = false
	}
	a, ok = k.search(r, t)
	k.forget()
	if k.bare[r] && k.least[r] < refresh*k.peak[r] {
		k.raise(r)
	}
	return a, ok
}

// grow starts the ball around o, or adds a layer to it. A term counts as an edge between all objects.
func (k *sparse) grow(o [3]int, whole bool) {
	if len(k.layers) == 0 {
		for i, p := range o {
			k.place[p] = i
			k.order = append(k.order, p)
		}
		k.layers = append(k.layers, 3)
		if !whole {
			return
		}
	}
	for {
		from := 0
		if len(k.layers) > 1 {
			from = k.layers[len(k.layers)-2]
		}
		end := len(k.order)
		for _, i := range k.order[from:end] {
			for _, e := range k.rows[i] {
				if k.place[e.j] < 0 {
					k.place[e.j] = len(k.order)
					k.order = append(k.order, e.j)
				}
			}
		}
		k.layers = append(k.layers, len(k.order))
		if !whole || len(k.order) == end {
			return
		}
	}
}

// forget empties the ball.
func (k *sparse) forget() {
	for _, i := range k.order {
		k.place[i] = -1
	}
	k.order, k.layers = k.order[:0], k.layers[:0]
}

// mulTo sets dst to Kx on the ball, whose objects outside len(x) are 0 in x.
func (k *sparse) mulTo(dst, x []float64) {
	for p := range dst {
		i := k.order[p]
		var sum float64
		if p < len(x) {
			sum = k.diag[i] * x[p]
		}
		for _, e := range k.rows[i] {
			if q := k.place[e.j]; uint(q) < uint(len(x)) {
				sum += e.x * x[q]
			}
		}
		dst[p] = sum
	}
}

// addLow adds to dst the product of the terms, of which there is one at least, with x.
func (k *sparse) addLow(dst, x []float64) {
	k.full, k.form = fit(k.full, k.n), fit(k.form, len(k.low))
	clear(k.full)
	for p, a := range x {
		k.full[k.order[p]] = a
	}
	v := blas64.General{Rows: len(k.low), Cols: k.n, Stride: k.n, Data: k.vectors}
	blas64.Gemv(blas.NoTrans, 1, v, vector.Of(k.full), 0, vector.Of(k.form))
	for p, s := range k.low {
		k.form[p] *= s
	}
	blas64.Gemv(blas.Trans, 1, v, vector.Of(k.form), 0, vector.Of(k.full))
	for p := range dst {
		dst[p] += k.full[k.order[p]]
	}
}

const (
	// mostSlack is the share of its slacks that a triplet may cost. More would leave a lower
	// bound on the smallest eigenvalue that is too weak for the quadratures.
	mostSlack = 0.5
	// retain is the share of the lower bound on the smallest eigenvalue that a step leaves of it: with
	// more, Gauss–Radau rules need more Lanczos steps.
	retain = 0.998
	// settle: a smaller eigenvalue is bounded from below by this share of its estimate.
	settle = 0.99
	// refresh: a lower bound that fell by this factor is raised, in steps of ladder.
	refresh, ladder = 0.4, 0.7
	// maxSparse times the objects caps the Lanczos steps, of which round-off can ask for more
	// than there are objects.
	maxSparse = 8
	// firstEstimate: the steps before the smallest eigenvalue is estimated.
	firstEstimate = 4
)

// search looks for the negative eigenpair of K, which is K − γG already, by Lanczos steps on P = K + c·uuᵀ from
// u, without reorthogonalisation, within the ball that they reach.
func (k *sparse) search(r int, st step) (a addition, ok bool) {
	floor, tol := secular.Tolerances(st.c, k.trace, k.n, residualTol)
	whole := !k.bare[r]
	k.grow(st.o, whole)
	k.krylov.Reset()
	copy(k.vector(0, len(k.order)), st.u[:])
	q := inquiry{form: &k.krylov, c: st.c, least: max(0, k.least[r]), floor: floor, tol: tol}
	steps, next := maxSparse*len(k.members[r])+20, 2
	for m := 1; m <= steps; m++ {
		k.lanczos(m, st, whole)
		if m < next && !k.krylov.Full() {
			continue
		}
		next = m + 1 + m/8
		switch q.answer(m) {
		case secular.Semidefinite:
			k.least[r] = q.low
			if k.krylov.Full() {
				return addition{certificate: CertificateBlock}, true
			}
			return addition{certificate: CertificateBound}, true
		case secular.Negative:
			return k.remove(r, q.s, q.p, tol, whole)
		case secular.Failed:
			return addition{}, false
		}
	}
	return addition{}, false
}

// lanczos makes step m from u, m ≥ 1.
func (k *sparse) lanczos(m int, st step, whole bool) {
	if !whole {
		k.grow(st.o, false)
	}
	z := k.vector(m, len(k.order))
	q := k.basis[m-1]
	k.mulTo(z, q)
	if whole {
		k.addLow(z, q)
	}
	u := st.u
	h := st.c * (u[0]*q[0] + u[1]*q[1] + u[2]*q[2])
	for i := range 3 {
		z[i] += h * u[i]
	}
	if m > 1 {
		floats.AddScaled(z[:len(k.basis[m-2])], -k.krylov.Beta(), k.basis[m-2])
	}
	size := math.Sqrt(floats.Dot(z, z))
	alpha := floats.Dot(q, z[:len(q)])
	floats.AddScaled(z[:len(q)], -alpha, q)
	beta := math.Sqrt(floats.Dot(z, z))
	if secular.Invariant(beta, size) {
		beta = 0
	} else {
		scal(z, 1/beta)
	}
	k.krylov.Extend(alpha, beta)
}

// inquiry asks the form of a Krylov space whether K = P − c·uuᵀ is positive semi-definite: K ⪰ xI on the component iff
// c·uᵀ(P − xI)⁻¹u ≤ 1, for x below the spectrum of P, and Gauss and Gauss–Radau quadratures enclose that form.
type inquiry struct {
	form       *secular.Form // of P, from u
	c          float64
	least      float64 // lower bound on the spectrum of P, ≥ 0
	floor, tol float64

	low float64   // after Semidefinite: lower bound on the smallest eigenvalue of K, up to the floor
	s   float64   // after Negative: K has the eigenvalue −s,
	p   []float64 // and its eigenvector these coefficients, up to its length
}

// answer is the verdict after m steps.
func (q *inquiry) answer(m int) secular.Verdict {
	if q.least > 0 {
		// Is the smallest eigenvalue at least as large as it was, nearly?
		if q.low = retain * q.least; q.exceeds(q.low, q.least) {
			return secular.Semidefinite
		}
		if m < firstEstimate && !q.form.Full() {
			return secular.Undecided
		}
		if phi, ok := q.form.Value(0); ok && q.c*phi < 1 {
			if q.low = min(q.low, settle*q.form.Least(q.c, 0, q.least, 0.01)); q.exceeds(q.low, q.least) {
				return secular.Semidefinite
			}
			return q.more()
		}
	}
	phi, ok := q.form.Value(q.floor)
	switch {
	case !ok:
		return secular.Failed
	case !(q.c*phi <= 1):
		return q.negative()
	case q.exceeds(-q.floor, 0):
		q.low = 0
		return secular.Semidefinite
	}
	return q.more()
}

// exceeds reports whether K ⪰ xI is shown, given that P ⪰ least·I.
func (q *inquiry) exceeds(x, least float64) bool {
	upper, ok := q.form.Above(-x, least)
	return ok && q.c*upper <= 1
}

// negative finds the eigenpair, of which there is one. With (T + s)p = e₁ the residual of x = Qp is βp_k.
func (q *inquiry) negative() secular.Verdict {
	q.s = -q.form.Least(q.c, -q.c, 0, 4*eps)
	p, ok := q.form.Solve(q.s)
	if !ok {
		return secular.Failed
	}
	norm := math.Sqrt(floats.Dot(p, p))
	if q.form.Beta()*math.Abs(p[len(p)-1])/norm > q.tol/4 {
		return q.more()
	}
	q.p = p
	return secular.Negative
}

// more asks for more steps, if there is more to the space.
func (q *inquiry) more() secular.Verdict {
	if q.form.Full() {
		return secular.Failed
	}
	return secular.Undecided
}

// raise raises the lower bound of component r by tests of its pivots.
func (k *sparse) raise(r int) {
	slices.Sort(k.members[r]) // a saved learner knows them in this order
	for x := k.peak[r]; x > k.least[r]; x *= ladder {
		if k.definite(k.members[r], x) {
			k.least[r] = x
			break
		}
	}
	k.peak[r] = k.least[r]
}

// remove removes the eigenpair (−s, v) of which v has the coefficients coef in the Krylov space, up to its length, if its
// residual in K itself is small.
func (k *sparse) remove(r int, s float64, coef []float64, tol float64, whole bool) (a addition, ok bool) {
	m := len(k.order)
	v := make([]float64, m)
	for j, a := range coef {
		q := k.basis[j]
		floats.AddScaled(v[:len(q)], a, q)
	}
	scal(v, 1/math.Sqrt(floats.Dot(v, v)))
	if !whole { // K of v reaches one layer further
		k.grow([3]int{}, false)
	}
	z := make([]float64, len(k.order))
	k.mulTo(z, v)
	if whole {
		k.addLow(z, v)
	}
	floats.AddScaled(z[:m], s, v)
	if math.Sqrt(floats.Dot(z, z)) > inaccurate*tol {
		return addition{}, false
	}
	k.low = append(k.low, s)
	k.vectors = append(k.vectors, make([]float64, k.n)...)
	row := k.vectors[len(k.vectors)-k.n:]
	for p, x := range v {
		row[k.order[p]] = x
	}
	k.trace += s
	k.bare[r] = false
	k.least[r] = 0
	return addition{removed: 1}, true
}

func (k *sparse) vector(i, n int) []float64 {
	if i == len(k.basis) {
		k.basis = append(k.basis, nil)
	}
	k.basis[i] = fit(k.basis[i], n)
	clear(k.basis[i])
	return k.basis[i]
}

// fill sets the base a of a buffered matrix, which is 0, to K.
func (k *sparse) fill(a []float64) {
	for i := range k.n {
		a[i*k.n+i] = k.diag[i]
		for _, e := range k.rows[i] {
			a[i*k.n+e.j] = e.x
		}
	}
	m := buffered{n: k.n, base: a}
	for p, s := range k.low {
		m.push(s, k.vectors[p*k.n:(p+1)*k.n])
	}
	m.flush()
}
