package pairs

import "math"

// resolvent is R = (C + s₀I)⁻¹, maintained by rank-one and rank-two corrections
// while C changes. It exists only above directOrder, from the first time it is
// needed. The nearer s₀ is to the root s of the secular equation, the fewer
// Lanczos steps: the error falls by (√κ−1)/(√κ+1) per step, κ = max(s/s₀, s₀/s).
type resolvent struct {
	r        sym // nil if there is none
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
	return r.r != nil && r.age >= staleAge && math.Abs(r.logShift-math.Log(r.shift)) > math.Log(staleRatio)
}

func (r *resolvent) drop() { r.r = nil }

// build computes R from C with s₀ at the mean root.
func (r *resolvent) build(c sym, n int) bool {
	r.shift = math.Exp(r.logShift)
	r.age = 0
	m := make(sym, len(c))
	if !c.inverse(m, r.shift, n) {
		return false
	}
	r.r = m
	return true
}

// plus follows C ← [C 0; 0 0] + c(w, ρ)(w, ρ)ᵀ (Sherman–Morrison).
func (r *resolvent) plus(ws *workspace, c float64, w []float64, rho float64) {
	if r.r == nil {
		return
	}
	z := ws.y
	r.r.mulTo(z, w)
	last := rho / r.shift
	den := 1 + c*(dot(w, z)+rho*last)
	if !(den > minDenominator) {
		r.drop()
		return
	}
	k := -c / den
	r.r.rankOne(k, z)
	if rho > 0 {
		for _, a := range z {
			r.r = append(r.r, k*last*a)
		}
		r.r = append(r.r, 1/r.shift+k*last*last)
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
	if r.r == nil {
		return
	}
	inv := 1 / r.shift
	b, m := p.last, p.last*inv
	y := ws.y
	r.r.mulTo(y, p.a)
	yu := dot(y, p.a) + b*m
	delta := p.s - r.shift
	zeta := 1 + delta*yu
	if !(zeta > minDenominator) {
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
	r.r.rankTwo(uu, uy, yy, p.a, y)
}
