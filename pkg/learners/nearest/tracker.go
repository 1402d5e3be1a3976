package nearest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// TrackerVersion counts the changes of what a Tracker answers.
const TrackerVersion = 1

// Changing is an online learner of a matrix A that says how A changed.
// pairs.POLA is one.
type Changing interface {
	learners.Pair
	// MulVec returns Ax, in dst if it has the length.
	MulVec(dst, x []float64) []float64
	// LastChange returns A after the last Step minus A before it, as rank-one
	// terms, valid until the next Step.
	LastChange() []metric.RankOne
}

// Tracker is a learner together with a growing set of points, among which it
// finds those nearest to and farthest from a query under the current metric
// without computing all distances anew. For each point r it keeps Ar and rᵀAr,
//
//	d²(x, r) = xᵀAx − 2xᵀ(Ar) + rᵀAr,
//
// and follows each step's change A ← A + Σ c·vvᵀ by Ar ← Ar + Σ c(vᵀr)v. With n
// points of which each has s entries other than zero, a query with s of them
// costs O(sn), a term with t of them O((s+t)n), in place of O(d²n) for all
// distances of a metric of full rank. Points whose kept distance is within
// round-off of the best are measured by Predict, so that answers are those of
// the direct computation; of equal ones the earliest wins.
//
// Memory is O(dn). A Tracker is not safe for concurrent use.
type Tracker struct {
	l      Changing
	dim    int
	points [][]float64
	at     [][]int     // indices of the entries of a point that are not zero
	ar     [][]float64 // ar[j][r] is entry j of A·r: a query adds few rows
	rar    []float64
	terms  int // followed since the last refresh

	scores, dots []float64
	best         []int
}

const (
	// keptTol bounds the error of a kept distance relative to the largest term
	// of its sum: each term followed adds some 1e-11 at most (what the form of
	// POLA leaves out), for at most refreshEvery of them.
	keptTol = 1e-8
	// refreshEvery is the number of terms after which Ar is computed anew.
	refreshEvery = 1000
)

// NewTracker returns a Tracker of l without points. The learner must from now
// on be stepped through the tracker only. It panics if l is nil.
func NewTracker(l Changing) *Tracker {
	if l == nil {
		panic("nearest: NewTracker: the learner is nil")
	}
	return &Tracker{l: l, dim: l.Dim(), ar: make([][]float64, l.Dim())}
}

// Len returns the number of points.
func (t *Tracker) Len() int { return len(t.points) }

// Point returns point i, in the order of Add; it must not be changed.
func (t *Tracker) Point(i int) []float64 { return t.points[i] }

// Add appends a copy of x to the points. It panics unless x has length Dim.
func (t *Tracker) Add(x []float64) {
	if len(x) != t.dim {
		panic(fmt.Sprintf("nearest: point of length %d, want %d", len(x), t.dim))
	}
	x = append([]float64(nil), x...)
	t.points = append(t.points, x)
	t.at = append(t.at, nonZeros(nil, x))
	ax := t.l.MulVec(nil, x)
	for j, a := range ax {
		t.ar[j] = append(t.ar[j], a)
	}
	t.rar = append(t.rar, floats.Dot(x, ax))
}

// Step steps the learner and follows the change of its metric.
func (t *Tracker) Step(p metric.Pair) (learners.PairOutcome, error) {
	o, err := t.l.Step(p)
	if err != nil || !o.Updated {
		return o, err
	}
	for _, term := range t.l.LastChange() {
		t.follow(term)
	}
	if t.terms >= refreshEvery {
		t.refresh()
	}
	return o, nil
}

func (t *Tracker) follow(term metric.RankOne) {
	t.terms++
	n := len(t.points)
	if n == 0 {
		return
	}
	t.dots = resize(t.dots, n)
	for r, x := range t.points {
		var d float64
		for _, j := range t.at[r] {
			d += term.V[j] * x[j]
		}
		t.dots[r] = d
		t.rar[r] += term.C * d * d
	}
	for j, v := range term.V {
		if v != 0 {
			floats.AddScaled(t.ar[j], term.C*v, t.dots)
		}
	}
}

// refresh removes what round-off has gathered.
func (t *Tracker) refresh() {
	t.terms = 0
	ax := make([]float64, t.dim)
	for r, x := range t.points {
		ax = t.l.MulVec(ax, x)
		for j, a := range ax {
			t.ar[j][r] = a
		}
		t.rar[r] = floats.Dot(x, ax)
	}
}

// Nearest returns the index of the point nearest to x and its squared distance
// under the current metric. It panics if there is no point or x does not have
// length Dim.
func (t *Tracker) Nearest(x []float64) (int, float64) { return t.extreme(x, 1) }

// Farthest returns the index of the point farthest from x and its squared
// distance under the current metric. It panics like Nearest.
func (t *Tracker) Farthest(x []float64) (int, float64) { return t.extreme(x, -1) }

// extreme minimises sign·d².
func (t *Tracker) extreme(x []float64, sign float64) (int, float64) {
	if len(t.points) == 0 {
		panic("nearest: Tracker without points")
	}
	if len(x) != t.dim {
		panic(fmt.Sprintf("nearest: query of length %d, want %d", len(x), t.dim))
	}
	t.scores = resize(t.scores, len(t.points))
	s := t.scores
	clear(s)
	for j, a := range x {
		if a != 0 {
			floats.AddScaled(s, -2*a, t.ar[j])
		}
	}
	var size float64
	low := math.Inf(1)
	for r, a := range t.rar {
		size = math.Max(size, math.Max(math.Abs(s[r]), a))
		s[r] = sign * (s[r] + a)
		low = math.Min(low, s[r])
	}
	t.best = t.best[:0]
	for r, v := range s {
		if v <= low+keptTol*size || !(size <= math.MaxFloat64) { // sums that overflow tell nothing
			t.best = append(t.best, r)
		}
	}
	best, at := math.Inf(1), -1
	for _, r := range t.best {
		d := sign * t.l.Predict(metric.Pair{X: x, Y: t.points[r]}).SqDist
		if at < 0 || d < best {
			best, at = d, r
		}
	}
	return at, sign * best
}

// nonZeros appends the indices of the entries of x that are not zero.
func nonZeros(idx []int, x []float64) []int {
	for j, a := range x {
		if a != 0 {
			idx = append(idx, j)
		}
	}
	return idx
}

// resize returns a slice of length n that reuses the memory of x if it can.
func resize(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n, 2*n)
	}
	return x[:n]
}
