package triplets

import "metriclab/internal/enum"

// TraceRule says how far the eigenvalues fall at an update: the weight of the trace, in an online manner. Heim et al.
// (2015, Section 6) ask for one "consistent with the parameter-free property of PA-ERKLE" and give none; TraceBudget and TraceShare
// are ours. G has the trace 0 and K − xI the same differences D as K, so that neither a step nor a shrinkage
// of the whole changes what the other is for, as long as no eigenvalue reaches 0.
type TraceRule int

// The rules.
const (
	// TraceFixed: by δτ, τ = Trace.
	TraceFixed TraceRule = iota
	// TraceBudget: by max(0, trace K − trace K₀)/n. A step itself leaves the trace as it is and each projection adds to it; what
	// was added is taken back from all eigenvalues, and the trace never falls below that of K₀.
	TraceBudget
	// TraceShare: by δ/j at update j: a trace of weight 1 in the objective of all triplets (Eq. 3.3), of which
	// each of the j so far has its share.
	TraceShare
)

var traceRuleNames = enum.Of[TraceRule]("TraceRule(%d)", "fixed", "budget", "share")

// String returns "fixed", "budget" or "share".
func (r TraceRule) String() string { return traceRuleNames.Text(r) }

// MarshalText returns String.
func (r TraceRule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what String returns of the three rules.
func (r *TraceRule) UnmarshalText(text []byte) error { return traceRuleNames.Unmarshal(r, text) }

// traced reports whether eigenvalues may fall.
func (p ERKLEParams) traced() bool { return p.Trace > 0 || p.TraceRule != TraceFixed }

// shrinkage returns by how much the eigenvalues fall at update j with the factor δ.
func (l *ERKLE) shrinkage(j int, delta float64) float64 {
	switch l.p.TraceRule {
	case TraceBudget:
		return min(max(0, l.k.(shrinker).trace()-l.budget)/float64(l.n), MaxStep)
	case TraceShare:
		return min(delta/float64(j), MaxStep)
	}
	return min(delta*l.p.Trace, MaxStep)
}

func (k *factored) trace() float64 {
	var sum float64
	for i := range k.r {
		sum += k.c[i*k.r+i]
	}
	return sum
}

func (k *dense) trace() float64 {
	var sum float64
	for i := range k.n {
		sum += k.k[i*k.n+i]
	}
	return sum
}
