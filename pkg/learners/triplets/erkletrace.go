package triplets

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/spectral"
)

// factored is a cone for the trace penalty: K = QCQᵀ with r orthonormal columns Q and a positive definite core C, so
// that r is the rank. Off the span of Q and of the two directions of G, K − γG − xI is −xI, which is cut off. On
// it, with Q₂ the columns that the directions add to Q, at most two, it is the core
//
//	X = [C 0; 0 0] + radius·γ·(ŵŵᵀ − ûûᵀ) − xI,  û = [Q Q₂]ᵀu,  ŵ = [Q Q₂]ᵀw.
//
// Its eigenvectors with λ ≤ 0 are cut off by Householder reflections of basis and core, so that Q is never rotated
// as a whole. A step costs O(r³) for the eigenpairs of X (O(r²) per product with X from order lanczosOrder on) and
// O(nr) for each one cut off; memory is O(nr), at takes O(r²). From K₀ = I the rank is n at first, and falls as the penalty
// adds up.
type factored struct {
	n int
	q [][]float64 // columns of Q; nil means that Q = I, r = n
	r int
	c []float64 // r×r, both triangles
}

// lanczosOrder is the order of X from which on only the eigenpairs to cut off are computed.
const lanczosOrder = 150

// newFactored returns the factored form of a copy of initial, or of I if it is nil. What initial has of
// eigenvalues up to n·ε times the largest is round-off.
func newFactored(n int, initial mat.Symmetric) *factored {
	k := &factored{n: n, r: n, c: make([]float64, n*n)}
	for i := range n {
		if initial == nil {
			k.c[i*n+i] = 1
			continue
		}
		for j := range n {
			k.c[i*n+j] = initial.At(i, j)
		}
	}
	if initial != nil {
		e := decompose(n, k.c)
		values := e.Values(nil)
		k.cut(below(e, values, float64(n)*0x1p-52*values[n-1]))
	}
	return k
}

// row returns row i of Q.
func (k *factored) row(i int) []float64 {
	x := make([]float64, k.r)
	if k.q == nil {
		x[i] = 1
		return x
	}
	for j, q := range k.q {
		x[j] = q[i]
	}
	return x
}

func (k *factored) at(i, j int) float64 {
	if k.q == nil {
		return k.c[i*k.n+j]
	}
	x, y := k.row(i), k.row(j)
	var sum float64
	for a, xa := range x {
		sum += xa * floats.Dot(k.c[a*k.r:(a+1)*k.r], y)
	}
	return sum
}

func (k *factored) kernel() *mat.SymDense {
	out := mat.NewSymDense(k.n, nil)
	if k.r == 0 {
		return out
	}
	if k.q == nil {
		out.CopySym(mat.NewSymDense(k.n, k.c))
		return out
	}
	// Rows of QC times rows of Q.
	core, qc := blas64.General{Rows: k.r, Cols: k.r, Stride: max(k.r, 1), Data: k.c}, make([]float64, k.r)
	rows := make([][]float64, k.n)
	for i := range rows {
		rows[i] = k.row(i)
	}
	for i, x := range rows {
		product.DotRows(qc, core, x)
		for j := i; j < k.n; j++ {
			out.SetSym(i, j, floats.Dot(qc, rows[j]))
		}
	}
	return out
}

func (k *factored) add(t metric.Triplet, gamma float64, g Gradient) addition {
	return k.addShrink(t, gamma, g, 0)
}

func (k *factored) addShrink(t metric.Triplet, gamma float64, g Gradient, x float64) addition {
	u, w := g.directions()
	if k.q != nil {
		k.extend(t, u)
		k.extend(t, w)
	}
	uq, wq := k.project(t, u), k.project(t, w)
	s := g.radius() * gamma
	for i := range k.r {
		for j := range i {
			v := k.c[i*k.r+j] + s*(wq[i]*wq[j]-uq[i]*uq[j])
			k.c[i*k.r+j], k.c[j*k.r+i] = v, v
		}
		k.c[i*k.r+i] += s*(wq[i]*wq[i]-uq[i]*uq[i]) - x
	}
	var a addition
	vectors, values := k.nonPositive()
	if len(values) > 0 && values[0] < -x {
		a.removed = 1
	}
	k.cut(vectors)
	return a
}

// project returns Qᵀd for the vector with the entries d at A, Near and Far.
func (k *factored) project(t metric.Triplet, d [3]float64) []float64 {
	out := make([]float64, k.r)
	for i, o := range []int{t.A, t.Near, t.Far} {
		floats.AddScaled(out, d[i], k.row(o))
	}
	return out
}

// extend adds to Q the direction, if any, that the unit vector with the entries d at A, Near and Far adds to its span, and
// a row and column of zeros to C.
func (k *factored) extend(t metric.Triplet, d [3]float64) {
	// A part outside of the span that is shorter is round-off. What is left out is γ times it.
	const negligible = 1e-13
	if k.r == k.n {
		return
	}
	v := make([]float64, k.n)
	v[t.A], v[t.Near], v[t.Far] = d[0], d[1], d[2]
	for range 2 { // the second time removes the round-off of the first
		for _, q := range k.q {
			floats.AddScaled(v, -floats.Dot(q, v), q)
		}
		norm := floats.Norm(v, 2)
		if norm < negligible {
			return
		}
		floats.Scale(1/norm, v)
	}
	k.q = append(k.q, v)
	c := make([]float64, (k.r+1)*(k.r+1))
	for i := range k.r {
		copy(c[i*(k.r+1):], k.c[i*k.r:(i+1)*k.r])
	}
	k.c, k.r = c, k.r+1
}

// nonPositive returns the orthonormal eigenvectors of the core with eigenvalues ≤ 0, and these, ascending.
func (k *factored) nonPositive() ([][]float64, []float64) {
	if k.r == 0 {
		return nil, nil
	}
	if k.r < lanczosOrder {
		e := decompose(k.r, k.c)
		values := e.Values(nil)
		vectors := below(e, values, 0)
		return vectors, values[:len(vectors)]
	}
	core := blas64.General{Rows: k.r, Cols: k.r, Stride: k.r, Data: k.c}
	r := spectral.Below(spectral.Func{N: k.r, Mul: func(dst, x []float64) { product.DotRows(dst, core, x) }}, 0, spectral.Options{Tol: 1e-13})
	vectors := make([][]float64, len(r.Values))
	for i := range vectors {
		vectors[i] = slices.Clone(r.Vectors.RawRowView(i))
	}
	return vectors, r.Values
}

// below returns the eigenvectors of e whose eigenvalues, ascending, are at most bound.
func below(e *spectral.EigenSym, values []float64, bound float64) [][]float64 {
	var v mat.Dense
	e.VectorsTo(&v)
	var out [][]float64
	for i, lambda := range values {
		if lambda > bound {
			break
		}
		out = append(out, mat.Col(nil, i, &v))
	}
	return out
}

// cut removes eigenvectors of C, orthonormal coordinates in Q, from basis and core.
func (k *factored) cut(vectors [][]float64) {
	if len(vectors) > 0 && k.q == nil {
		k.q = make([][]float64, k.n)
		for j := range k.q {
			k.q[j] = make([]float64, k.n)
			k.q[j][j] = 1
		}
	}
	y, p := make([]float64, k.n), make([]float64, k.r)
	for i, h := range vectors {
		// H = I − 2hhᵀ exchanges the vector and ± the last coordinate.
		last := k.r - 1
		h[last] += math.Copysign(1, h[last])
		floats.Scale(1/floats.Norm(h, 2), h)
		// Q ← QH
		clear(y)
		for j, q := range k.q {
			floats.AddScaled(y, h[j], q)
		}
		k.q = k.q[:last]
		for j, q := range k.q {
			floats.AddScaled(q, -2*h[j], y)
		}
		// C ← HCH = C − hpᵀ − phᵀ
		p = p[:k.r]
		for j := range p {
			p[j] = 2 * floats.Dot(k.c[j*k.r:(j+1)*k.r], h)
		}
		floats.AddScaled(p, -floats.Dot(h, p), h)
		for a := range last {
			for b := range a + 1 {
				v := k.c[a*k.r+b] - (h[a]*p[b] + p[a]*h[b])
				k.c[a*last+b] = v // no entry that is still to be read
			}
		}
		k.r, k.c = last, k.c[:last*last]
		for a := range last {
			for b := range a {
				k.c[b*last+a] = k.c[a*last+b]
			}
		}
		for m, v := range vectors[i+1:] {
			floats.AddScaled(v, -2*floats.Dot(h, v), h)
			vectors[i+1+m] = v[:last]
		}
	}
}

// factoredState is what is saved of a factored form.
type factoredState struct {
	Rank  int            `json:"rank"`
	Basis persist.Floats `json:"basis"` // the columns of Q; none if Q = I
	Core  persist.Floats `json:"core"`  // the lower triangle of C, by rows
}

func (k *factored) state() *factoredState {
	s := &factoredState{Rank: k.r, Basis: slices.Concat(k.q...)}
	for i := range k.r {
		s.Core = append(s.Core, k.c[i*k.r:i*k.r+i+1]...)
	}
	return s
}

// cone returns the form of n objects that was saved.
func (s *factoredState) cone(n int) (*factored, error) {
	r := s.Rank
	// A rank is bounded by the numbers that are there, before it is squared.
	fits := r >= 0 && r <= n && r <= len(s.Core) && len(s.Core) == r*(r+1)/2
	if len(s.Basis) == 0 {
		fits = fits && (r == n || r == 0)
	} else {
		fits = fits && r > 0 && len(s.Basis)%r == 0 && len(s.Basis)/r == n
	}
	if !fits {
		return nil, fmt.Errorf("factored: arrays of %d and %d numbers do not fit rank %d of %d objects", len(s.Basis), len(s.Core), r, n)
	}
	k := &factored{n: n, r: r}
	if r > 0 {
		var err error
		if k.c, err = fromTriangle(r, s.Core); err != nil {
			return nil, fmt.Errorf("factored: core: %w", err)
		}
	}
	if len(s.Basis) == 0 && r == n {
		return k, nil
	}
	k.q = make([][]float64, r)
	for j := range k.q {
		k.q[j] = slices.Clone(s.Basis[j*n : (j+1)*n])
		for i := range j + 1 {
			want := 0.0
			if i == j {
				want = 1
			}
			if got := floats.Dot(k.q[i], k.q[j]); !(math.Abs(got-want) <= 1e-8) {
				return nil, fmt.Errorf("factored: basis: columns %d and %d have the product %v, want %v", i, j, got, want)
			}
		}
	}
	return k, nil
}
