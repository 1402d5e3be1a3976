package triplets

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/spectral/secular"
)

// sparse is a kernel that started as a positive diagonal matrix and of which no eigenpair was removed. Of its
// entries off the diagonal, those of the triplets alone differ from 0, so that a product costs O(n) and not O(n²).
type sparse struct {
	n      int
	trace  float64 // that of K₀: no triplet changes it
	diag   []float64
	rows   [][]entry    // off-diagonal entries of row i, by column
	filled int          // how many of them there are
	basis  [3][]float64 // the last Lanczos vectors, in turn
	krylov secular.Form
}

// entry is K_ij of a row i.
type entry struct {
	j int
	x float64
}

// fillIn is the share of the entries, one in so many, from which on a dense product with a resolvent, of which few are
// needed, is cheaper than the sparse ones.
const fillIn = 16

// crowded reports whether more than one in fillIn entries is filled.
func (k *sparse) crowded() bool { return k.filled > k.n*k.n/fillIn }

func newSparse(diag []float64) *sparse {
	k := &sparse{n: len(diag), trace: floats.Sum(diag), diag: diag, rows: make([][]entry, len(diag))}
	for i := range k.basis {
		k.basis[i] = make([]float64, k.n)
	}
	return k
}

func (k *sparse) at(i, j int) float64 {
	if i == j {
		return k.diag[i]
	}
	if p, ok := k.find(i, j); ok {
		return k.rows[i][p].x
	}
	return 0
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
		k.filled++
	}
	k.rows[i][p].x += x
}

// add sets K to K − γG, and reports what shows that this is positive semi-definite, if anything does.
func (k *sparse) add(t step) (c Certificate, ok bool) {
	for _, e := range t.entries() {
		k.inc(e.i, e.j, e.x)
		if e.i != e.j {
			k.inc(e.j, e.i, e.x)
		}
	}
	return k.definite(t)
}

// definite asks whether K, which is K − γG already, is positive semi-definite. With P = K + c·uuᵀ ⪰ 0 it is iff
// c·uᵀP⁻¹u ≤ 1. Lanczos steps on P from u, without reorthogonalisation, enclose that form by a Gauss and a
// Gauss–Radau quadrature. As many steps as there are objects cost what a dense product does, and are not taken.
func (k *sparse) definite(t step) (c Certificate, ok bool) {
	floor, _ := secular.Tolerances(t.c, k.trace, k.n, residualTol)
	k.krylov.Reset()
	for m := range k.n {
		k.lanczos(m, t)
		if lower, ok := k.krylov.Value(floor); !ok || !(t.c*lower <= 1) {
			return 0, false
		}
		if upper, ok := k.krylov.Above(floor, 0); ok && t.c*upper <= 1 {
			if k.krylov.Full() {
				return CertificateBlock, true
			}
			return CertificateBound, true
		}
	}
	return 0, false
}

// lanczos makes the step after m of them.
func (k *sparse) lanczos(m int, t step) {
	last, q, z := k.basis[(m+2)%3], k.basis[m%3], k.basis[(m+1)%3]
	if m == 0 {
		clear(q)
		for i, p := range t.o {
			q[p] = t.u[i]
		}
	}
	k.mulTo(z, q)
	h := t.c * on(t.u, q, t.o)
	for i, p := range t.o {
		z[p] += h * t.u[i]
	}
	if m > 0 {
		floats.AddScaled(z, -k.krylov.Beta(), last)
	}
	size := math.Sqrt(floats.Dot(z, z))
	alpha := floats.Dot(q, z)
	floats.AddScaled(z, -alpha, q)
	beta := math.Sqrt(floats.Dot(z, z))
	if secular.Invariant(beta, size) {
		beta = 0
	} else {
		scal(z, 1/beta)
	}
	k.krylov.Extend(alpha, beta)
}

// mulTo sets dst to Kx.
func (k *sparse) mulTo(dst, x []float64) {
	for i, d := range k.diag {
		sum := d * x[i]
		for _, e := range k.rows[i] {
			sum += e.x * x[e.j]
		}
		dst[i] = sum
	}
}

// dense returns both triangles of K, by rows.
func (k *sparse) dense() []float64 {
	a := make([]float64, k.n*k.n)
	for i, d := range k.diag {
		a[i*k.n+i] = d
		for _, e := range k.rows[i] {
			a[i*k.n+e.j] = e.x
		}
	}
	return a
}
