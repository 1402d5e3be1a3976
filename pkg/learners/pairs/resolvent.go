package pairs

import (
	"math"

	"metriclab/internal/product"
	"metriclab/internal/vector"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// resolvent is R = (C + s₀I)⁻¹, maintained by rank-one and rank-two corrections
// while C changes. It exists only above directOrder, from the first time it is
// needed. The nearer s₀ is to the root s of the secular equation, the fewer
// Lanczos steps: the error falls by (√κ−1)/(√κ+1) per step, κ = max(s/s₀, s₀/s).
//
// It is stored as a full square, since a product with it, of which a step makes
// ten to twenty, then runs twice as fast as with a triangle.
type resolvent struct {
	r        []float64    // rows of length stride; nil if there is none
	late     product.Ends // of an update that waits for the next product, with which it shares the way through memory; Col is empty if none does
	n        int          // order
	stride   int
	shift    float64
	logShift float64 // running mean of log s
	seen     int     // roots in that mean
	age      int     // roots since R was built
}

const (
	// meanOver is the number of roots over which logShift averages.
	meanOver = 32
	// staleRatio and staleAge: R is built anew when the mean root is off by
	// more than this factor, but not more often than this, since it costs as
	// much as some thirty steps.
	staleRatio = 1.5
	staleAge   = 64
)

// note records a root.
func (r *resolvent) note(s float64) {
	r.seen++
	r.age++
	r.logShift += (math.Log(s) - r.logShift) / float64(min(r.seen, meanOver))
}

func (r *resolvent) stale() bool {
	return r.ready() && r.age >= staleAge && math.Abs(r.logShift-math.Log(r.shift)) > math.Log(staleRatio)
}

func (r *resolvent) ready() bool { return r.r != nil }

func (r *resolvent) drop() { r.r, r.n, r.stride, r.late = nil, 0, 0, product.Ends{} }

func (r *resolvent) general() blas64.General {
	return blas64.General{Rows: r.n, Cols: r.n, Stride: r.stride, Data: r.r}
}

// mulTo sets dst to Rx.
func (r *resolvent) mulTo(dst, x []float64) {
	clear(dst)
	product.GerGemv(r.general(), r.late, product.Ends{Row: x}, product.Ends{Col: dst})
	r.late.Col = r.late.Col[:0]
}

// add adds the product of two vectors, the first of which is times c, to R.
func (r *resolvent) add(c float64, x, y []float64) {
	r.flush()
	r.late.Row, r.late.Col = append(r.late.Row[:0], y...), append(r.late.Col[:0], x...)
	floats.Scale(c, r.late.Col)
}

// flush does the update that waits.
func (r *resolvent) flush() {
	if len(r.late.Col) > 0 {
		blas64.Ger(1, vector.Of(r.late.Col), vector.Of(r.late.Row), r.general())
		r.late.Col = r.late.Col[:0]
	}
}

// compact returns the n² entries of R without gaps. It changes nothing of r.
func (r *resolvent) compact() []float64 {
	var out []float64
	for i := range r.n {
		out = append(out, r.r[i*r.stride:i*r.stride+r.n]...)
	}
	dense := resolvent{r: out, n: r.n, stride: r.n, late: r.late}
	dense.flush()
	return out
}

// border appends a row and a column: k·z and the corner.
func (r *resolvent) border(k float64, z []float64, corner float64) {
	n := r.n
	if n == r.stride {
		stride := 2 * (n + 1)
		wider := make([]float64, stride*stride)
		for i := range n {
			copy(wider[i*stride:], r.r[i*n:(i+1)*n])
		}
		r.r, r.stride = wider, stride
	}
	last := r.r[n*r.stride:]
	for i, a := range z {
		last[i] = k * a
		r.r[i*r.stride+n] = k * a
	}
	last[n] = corner
	r.n++
}

// build computes R from C with s₀ at the mean root, unless that is out of range.
func (r *resolvent) build(c sym, n int) bool {
	r.shift = math.Exp(r.logShift)
	r.age = 0
	if !inRange(r.shift) {
		r.drop()
		return false
	}
	m := c.dense(r.shift, n)
	t, ok := lapack64.Potrf(m)
	if ok {
		m, ok = lapack64.Potri(t)
	}
	if !ok {
		r.drop()
		return false
	}
	for i := range n {
		for j := range i {
			m.Data[j*n+i] = m.Data[i*n+j]
		}
	}
	r.r, r.n, r.stride = m.Data, n, n
	return true
}

// plus follows C ← [C 0; 0 0] + c(w, ρ)(w, ρ)ᵀ (Sherman–Morrison).
func (r *resolvent) plus(ws *workspace, c float64, w []float64, rho float64) {
	if !r.ready() {
		return
	}
	z := ws.y
	r.mulTo(z, w)
	last := rho / r.shift
	den := 1 + c*(vector.Dot(w, z)+rho*last)
	if !(den > minDenominator) || !inRange(math.Abs(c)) {
		r.drop()
		return
	}
	k := -c / den
	r.add(k, z, z)
	if rho > 0 {
		r.flush()
		r.border(k*last, z, 1/r.shift+k*last*last)
	}
}

// minDenominator: a correction that divides by less would lose this many
// digits, and R is built anew when next needed.
const minDenominator = 1e-6

// minus follows form.minus. With u = (a, last), y = (R, 1/s₀)u and δ = s − s₀,
// the resolvent of the extended core without its negative eigenpair is
//
//	R + (1/ζ)((yᵀu)uuᵀ − uyᵀ − yuᵀ − δyyᵀ) + uuᵀ/s₀,  ζ = 1 + δyᵀu > 0:
//
// the two corrections, for the term subtracted and for the pair removed, put
// together so that their common pole at s = s₀ cancels. If trim is set, the
// reflection of form.minus follows, which adds multiples of aaᵀ and ayᵀ.
func (r *resolvent) minus(ws *workspace, p *eigenpair, trim bool) {
	if !r.ready() {
		return
	}
	inv := 1 / r.shift
	b, m := p.last, p.last*inv
	y := ws.y
	r.mulTo(y, p.a)
	yu := vector.Dot(y, p.a) + b*m
	delta := p.s - r.shift
	zeta := 1 + delta*yu
	if !(zeta > minDenominator) || !inRange(p.s) {
		r.drop()
		return
	}
	uu, uy, yy := yu/zeta+inv, -1/zeta, -delta/zeta
	if trim {
		t := 1 / (1 + b)
		na, ny := uu*b+uy*m, uy*b+yy*m // the last column is na·a + ny·y
		corner := inv + uu*b*b + 2*uy*b*m + yy*m*m
		uu += -2*t*(inv+na) + t*t*(inv+2*b*inv+corner)
		uy += -t * ny
	}
	fa, fy := ws.x, ws.z
	for i, a := range p.a {
		fa[i] = uu*a + uy*y[i]
		fy[i] = uy*a + yy*y[i]
	}
	r.add(1, p.a, fa)
	r.add(1, y, fy)
}
