package triplets

import "math"

// batchLoss is the sum of the losses as a function of the squared distances. In place of the hinge,
// which is not differentiable, smooth has its Moreau envelope around multipliers c in [0, 1],
//
//	h(x) = max over 0 ≤ α ≤ 1 of αx − (ε/2)(α − c)²,  x = D + margin,
//
// whose derivative is α = min(1, max(0, c + x/ε)). To move c to α is a step of the method of
// multipliers; where none moves any more, a minimum of Σh is one of the sum of hinges.
type batchLoss struct {
	loss       Loss
	margin, mu float64
	alpha      float64   // α of TSTE
	epsilon    float64   // ε; 0: the hinge itself, and a subgradient of it
	c          []float64 // of each triplet, if ε > 0
}

// zero returns the loss of a triplet under K = 0.
func (l *batchLoss) zero() float64 {
	switch l.loss {
	case GNMDS:
		return l.margin
	case SOE:
		return l.margin * l.margin
	}
	return math.Ln2
}

// hinges returns the sum of the hinges.
func (l *batchLoss) hinges(near, far []float64) float64 {
	var sum float64
	for t, n := range near {
		sum += max(0, n-far[t]+l.margin)
	}
	return sum
}

// smooth returns the sum of the losses, and sets wn and wf to its derivatives by the squared
// distances unless they are nil.
func (l *batchLoss) smooth(near, far, wn, wf []float64) float64 {
	var sum float64
	for t, n := range near {
		f := far[t]
		var v, dn, df float64
		switch l.loss {
		case GNMDS:
			v, dn = l.envelope(t, n-f+l.margin)
			df = -dn
		case STE:
			v, dn = logistic(n - f)
			df = -dn
		case CKL: // log(q/p), p = μ + d²(A, Far), q = 2μ + both
			p := l.mu + f
			q := p + l.mu + n
			v, dn = math.Log(q/p), 1/q
			df = dn - 1/p
		case TSTE: // log(1 + exp x), x = (α+1)/2 · log((α + d²(A, Near)) / (α + d²(A, Far)))
			half := (l.alpha + 1) / 2
			v, dn = logistic(half * logRatio(n-f, l.alpha+f, l.alpha+n))
			dn, df = dn*half/(l.alpha+n), -dn*half/(l.alpha+f)
		case SOE:
			near, far := math.Sqrt(n), math.Sqrt(f)
			if short := near - far + l.margin; short > 0 {
				v = short * short
				if near > 0 { // at 0 the subgradient 0
					dn = short / near
				}
				if far > 0 {
					df = -short / far
				}
			}
		}
		sum += v
		if wn != nil {
			wn[t], wf[t] = dn, df
		}
	}
	return sum
}

// envelope returns h(x) of triplet t and its derivative α.
func (l *batchLoss) envelope(t int, x float64) (h, alpha float64) {
	if l.epsilon == 0 {
		if x > 0 {
			return x, 1
		}
		return 0, 0
	}
	alpha = l.weight(t, x)
	d := alpha - l.c[t]
	return alpha*x - l.epsilon/2*d*d, alpha
}

func (l *batchLoss) weight(t int, x float64) float64 {
	return min(1, max(0, l.c[t]+x/l.epsilon))
}

// move moves the multipliers c to α.
func (l *batchLoss) move(near, far []float64) {
	for t, n := range near {
		l.c[t] = l.weight(t, n-far[t]+l.margin)
	}
}

// conjugate returns Σ −l*(cα) for the derivatives α of GNMDS or STE and 0 ≤ c ≤ 1: the margin times cα, and the
// entropy of cα.
func (l *batchLoss) conjugate(alpha []float64, c float64) float64 {
	var sum float64
	for _, a := range alpha {
		a *= c
		switch {
		case l.loss == GNMDS:
			sum += l.margin * a
		case a > 0 && a < 1:
			sum -= a*math.Log(a) + (1-a)*math.Log1p(-a)
		}
	}
	return sum
}

// logRatio returns log(b/a), where b = a + d: where they are near to each other, by their difference.
func logRatio(d, a, b float64) float64 {
	if r := d / a; math.Abs(r) < 0.5 {
		return math.Log1p(r)
	}
	return math.Log(b) - math.Log(a)
}

// logistic returns log(1 + exp x), up to ε, and its derivative.
func logistic(x float64) (v, slope float64) {
	e := math.Exp(-math.Abs(x))
	v = math.Log(1 + e) // several times as fast as Log1p
	if x > 0 {
		return x + v, 1 / (1 + e)
	}
	return v, e / (1 + e)
}
