package spectral

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// root is a root of a secular equation, λ = d[origin] + offset. The origin is the pole that is nearest, so that
// d[j] − λ keeps its relative precision for each j.
type root struct {
	origin int
	offset float64
}

// away returns d[j] − λ.
func (r root) away(d []float64, j int) float64 { return (d[j] - d[r.origin]) - r.offset }

// secularEquation is that of D + ρzzᵀ,
//
//	g(λ) = 1/ρ + Σ zⱼ²/(dⱼ − λ) = 0,
//
// with d ascending, no zⱼ = 0 and ρ > 0. Between two poles g grows from −∞ to ∞; above the last it grows to 1/ρ.
type secularEquation struct {
	d, z []float64
	rho  float64
}

// at is g near a root, of two sums: of the poles up to one and of the poles above.
type at struct {
	value        float64
	below, above float64 // derivatives of both sums
	bound        float64 // round-off in value is at most some 2⁻⁵³ times it
}

// eval evaluates g at d[origin] + t, where the first sum ends with pole p.
func (s secularEquation) eval(origin int, t float64, p int) at {
	var below, above, slopeBelow, slopeAbove, bound float64
	o := s.d[origin]
	// Far poles first: partial sums bound the round-off (Li 1993).
	d, z := s.d[:p+1], s.z[:p+1]
	for j, x := range z {
		q := x / ((d[j] - o) - t)
		below += x * q
		slopeBelow += q * q
		bound += math.Abs(below)
	}
	d, z = s.d[p+1:], s.z[p+1:]
	for j := len(z) - 1; j >= 0; j-- {
		q := z[j] / ((d[j] - o) - t)
		above += z[j] * q
		slopeAbove += q * q
		bound += math.Abs(above)
	}
	bound += 8*(math.Abs(below)+math.Abs(above)) + 2/s.rho + math.Abs(t)*(slopeBelow+slopeAbove)
	return at{1/s.rho + below + above, slopeBelow, slopeAbove, bound}
}

// rationalSteps is far above the number of steps that rational interpolation takes, 2 to 6; then the bracket is halved, which
// ends within 100 more. maxSteps is never reached by finite numbers.
const (
	rationalSteps = 30
	maxSteps      = 500
)

// root returns the i-th root: between poles i and i+1, or above the last pole. It holds a bracket, and
// steps to the root of r + s/(d_p − λ) + S/(d_{p+1} − λ), which has the value and, in each
// sum, the derivative of g. This is the middle way of Li (LAPACK Working Note 89, 1993). It stops when round-off in g hides its sign.
func (s secularEquation) root(i int) root {
	d, z := s.d, s.z
	last := len(d) - 1
	if last == 0 {
		return root{0, s.rho * z[0] * z[0]}
	}
	var t, lo, hi float64
	p, origin := i, i
	if i == last {
		p = i - 1
		hi = s.rho * floats.Dot(z, z) * (1 + 16*epsilon*float64(len(z)))
		t = hi / 2
	} else {
		gap := d[i+1] - d[i]
		middle := s.eval(i, gap/2, i)
		left, right := z[i]*z[i], z[i+1]*z[i+1]
		rest := middle.value + 2*(left-right)/gap
		if middle.value >= 0 {
			hi = gap / 2
			t = between(lo, hi, 0, rest, rest*gap+left+right, left*gap)
		} else {
			origin, lo = i+1, -gap/2
			t = between(lo, hi, 0, rest, left+right-rest*gap, -right*gap)
		}
	}
	for step := range maxSteps {
		g := s.eval(origin, t, p)
		if math.Abs(g.value) <= epsilon*g.bound {
			break
		}
		if g.value < 0 {
			lo = t
		} else {
			hi = t
		}
		if hi-lo <= 2*epsilon*max(math.Abs(lo), math.Abs(hi)) {
			break
		}
		if step >= rationalSteps {
			t = halve(lo, hi)
			continue
		}
		x, y := (d[p]-d[origin])-t, (d[p+1]-d[origin])-t
		t = between(lo, hi, t, g.value-x*g.below-y*g.above, (x+y)*g.value-x*y*(g.below+g.above), x*y*g.value)
	}
	return root{origin, t}
}

// between returns t + η with cη² − aη + b = 0 that is in the bracket, or what halves it.
func between(lo, hi, t, c, a, b float64) float64 {
	q := a + math.Copysign(math.Sqrt(max(0, a*a-4*b*c)), a)
	for _, next := range [2]float64{t + 2*b/q, t + q/(2*c)} {
		if next > lo && next < hi {
			return next
		}
	}
	return halve(lo, hi)
}

// halve returns a number in the bracket, whose ends do not differ in sign, that halves it, or its logarithm if it is wide.
func halve(lo, hi float64) float64 {
	small, large, sign := lo, hi, 1.0
	if lo < 0 {
		small, large, sign = -hi, -lo, -1
	}
	switch {
	case small == 0:
		return sign * large / 1024
	case large > 4*small:
		return sign * math.Sqrt(small) * math.Sqrt(large)
	}
	return lo + (hi-lo)/2
}

// reweigh replaces z by the weights of which the roots found are the exact roots: by the formula of Löwner,
//
//	zⱼ² = (λⱼ − dⱼ)·Π_{i≠j} (λᵢ − dⱼ)/(dᵢ − dⱼ)  but for a factor that all share.
//
// With them the vectors are orthogonal to round-off, however near roots are to each other
// (Gu and Eisenstat 1995). scratch has their number.
func (s secularEquation) reweigh(roots []root, scratch []float64) {
	shared(len(scratch), len(roots), func(lo, hi int) {
		d, part := s.d[lo:hi], scratch[lo:hi]
		for j := range part {
			part[j] = 1
		}
		for i, r := range roots {
			o, di := s.d[r.origin], s.d[i]
			at := min(max(i-lo, 0), len(part)) // of the first j ≥ i
			for j, x := range d[:at] {
				part[j] *= ((x - o) - r.offset) / (x - di)
			}
			if i >= lo && i < hi {
				part[at] *= r.away(s.d, i)
				at++
			}
			rest := part[at:]
			for j, x := range d[at:] {
				rest[j] *= ((x - o) - r.offset) / (x - di)
			}
		}
	})
	for j, x := range scratch {
		s.z[j] = math.Copysign(math.Sqrt(math.Abs(x)), s.z[j])
	}
}

// vector sets dst to the unit eigenvector of a root: component j, zⱼ/(dⱼ − λ), at column[j].
func (s secularEquation) vector(r root, dst []float64, column []int) {
	sum, o := 0.0, s.d[r.origin]
	for j, x := range s.z {
		q := x / ((s.d[j] - o) - r.offset)
		sum += q * q
		dst[column[j]] = q
	}
	floats.Scale(1/math.Sqrt(sum), dst)
}
