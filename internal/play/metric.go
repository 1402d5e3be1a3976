package play

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// Data asks for points in the plane and a stream of pairs of them.
type Data struct {
	Set   string  `json:"set"`   // "clouds": two thin ones, side by side; "rings": one in the other
	Angle float64 `json:"angle"` // by which the plane is turned, in degrees
	Wrong float64 `json:"wrong"` // share of the pairs whose label is the wrong one
	Pairs int     `json:"pairs"`
}

// Points are two classes of points, and pairs of them.
type Points struct {
	Points [][2]float64 `json:"points"`
	Class  []int        `json:"class"`
	Pairs  [][3]int     `json:"pairs"` // two points, and 1 (alike) or −1
}

const perClass = 32

func data(d Data) (Points, error) {
	switch {
	case d.Set != "clouds" && d.Set != "rings":
		return Points{}, fmt.Errorf("set: %q is not allowed, want clouds or rings", d.Set)
	case !(d.Wrong >= 0 && d.Wrong <= 1):
		return Points{}, fmt.Errorf("wrong: %v is not allowed, want a share", d.Wrong)
	case d.Pairs < 0 || d.Pairs > 10_000:
		return Points{}, fmt.Errorf("pairs: %d is not allowed, want 0 to 10000", d.Pairs)
	}
	var out Points
	rng := rand.New(rand.NewPCG(1, 0))
	sin, cos := math.Sincos(d.Angle * math.Pi / 180)
	for class := range 2 {
		for range perClass {
			var x, y float64
			if d.Set == "clouds" {
				x, y = float64(2*class-1)*.45+.09*rng.NormFloat64(), .75*rng.NormFloat64()
			} else {
				radius := []float64{.5, 1.4}[class] + .05*rng.NormFloat64()
				y, x = math.Sincos(2 * math.Pi * rng.Float64())
				x, y = radius*x, radius*y
			}
			out.Points = append(out.Points, [2]float64{cos*x - sin*y, sin*x + cos*y})
			out.Class = append(out.Class, class)
		}
	}
	// The pairs, and which labels are wrong, do not depend on the angle, and those of a smaller share are some of those of a larger one.
	rng = rand.New(rand.NewPCG(2, 0))
	for range d.Pairs {
		i := rng.IntN(2 * perClass)
		j := (i + 1 + rng.IntN(2*perClass-1)) % (2 * perClass)
		label := -1
		if (out.Class[i] == out.Class[j]) != (rng.Float64() < d.Wrong) {
			label = 1
		}
		out.Pairs = append(out.Pairs, [3]int{i, j, label})
	}
	return out, nil
}

// Rule is a learner of pairs, with its parameter.
type Rule struct {
	Name  string  `json:"name"`  // pola, pa, pa1, pa2 or pals; kernel-pola has the kernel (x·x′)²
	Gamma float64 `json:"gamma"` // of both POLAs
	C     float64 `json:"c"`     // of pa1, pa2 and pals
}

// Pairs asks what a learner knows after pairs (x₁, x₂, x′₁, x′₂, y), and how it came to that.
type Pairs struct {
	Rule   Rule         `json:"rule"`
	Pairs  [][5]float64 `json:"pairs"`
	Asked  *[4]float64  `json:"asked"`  // a pair without a label, of which nothing is learned
	Places [][2]float64 `json:"places"` // points to be laid out
	// Around is a point, Grid n of n×n places in the square of half-width Half whose d² from it are asked.
	Around *[2]float64 `json:"around"`
	Grid   int         `json:"grid"`
	Half   float64     `json:"half"`
}

// Hypothesis is a metric of the plane, by a₁₁, a₁₂, a₂₂, and a threshold.
type Hypothesis struct {
	A [3]float64 `json:"a"`
	B float64    `json:"b"`
}

// Round is what a pair taught. B is the threshold before, Step y·α. In the plane Half is the hypothesis after the first
// projection, with the eigenvalue Lambda < 0 that the second removes, or 0, and After that after both.
type Round struct {
	SqDist float64     `json:"sqDist"`
	Norm2  float64     `json:"norm2"` // ‖v‖²
	B      float64     `json:"b"`
	Alike  bool        `json:"alike"` // the guess
	Loss   float64     `json:"loss"`
	Step   float64     `json:"step"`
	Wrong  bool        `json:"wrong"`
	Half   *Hypothesis `json:"half,omitempty"`
	Lambda float64     `json:"lambda"`
	After  *Hypothesis `json:"after,omitempty"`
	BAfter float64     `json:"bAfter"`
	Wrongs int         `json:"wrongs"` // so far
	Recent int         `json:"recent"` // of the last 20
}

// Guess is what the learner says of a pair.
type Guess struct {
	SqDist float64 `json:"sqDist"`
	B      float64 `json:"b"`
	Alike  bool    `json:"alike"`
}

// Bound is Theorem 1 of POLA's paper: Σℓ² ≤ R(‖A*‖² + (b* − b₁)²).
type Bound struct {
	Losses float64    `json:"losses"`
	R      float64    `json:"r"`
	Star   Hypothesis `json:"star"`
	Bound  float64    `json:"bound"`
}

// Learned answers Pairs. Bound is of POLA with γ = 0 alone, and nil where no metric that was tried is right about all
// pairs. Places are the points where the distances learned are those of the eye, and Radius is √b there.
type Learned struct {
	Rounds []Round      `json:"rounds"`
	Asked  *Guess       `json:"asked"`
	Bound  *Bound       `json:"bound"`
	Places [][2]float64 `json:"places"`
	Radius float64      `json:"radius"`
	Field  []float64    `json:"field"` // row by row from the lower left corner
}

// metricLesson is a learner and what it has been told.
type metricLesson struct {
	rule   Rule
	pairs  [][5]float64
	rounds []Round
	l      learners.Pair
}

func (m *metricLesson) learn(q Pairs) (Learned, error) {
	if q.Grid < 0 || q.Grid > 200 {
		return Learned{}, fmt.Errorf("grid: %d is not allowed, want 0 to 200", q.Grid)
	}
	if m.l == nil || m.rule != q.Rule || len(q.Pairs) < len(m.pairs) || !slices.Equal(m.pairs, q.Pairs[:len(m.pairs)]) {
		l, err := newPair(q.Rule)
		if err != nil {
			return Learned{}, err
		}
		*m = metricLesson{rule: q.Rule, l: l, rounds: []Round{}}
	}
	for _, p := range q.Pairs[len(m.pairs):] {
		r, err := m.round(p)
		if err != nil {
			return Learned{}, err
		}
		m.pairs, m.rounds = append(m.pairs, p), append(m.rounds, r)
	}
	out := Learned{Rounds: m.rounds, Radius: math.Sqrt(math.Max(0, m.l.Threshold()))}
	if q.Rule.Name == "pola" && q.Rule.Gamma == 0 {
		out.Bound = bound(m.pairs, m.rounds)
	}
	if a := q.Asked; a != nil {
		o := m.l.Predict(metric.Pair{X: a[:2], Y: a[2:], Label: metric.Similar})
		out.Asked = &Guess{o.SqDist, m.l.Threshold(), o.Similar}
	}
	if len(q.Places) > 0 {
		out.Places = m.places(q.Places)
	}
	if q.Around != nil {
		for i := range q.Grid {
			for j := range q.Grid {
				at := func(k int) float64 { return q.Half * (2*float64(k)/float64(q.Grid-1) - 1) }
				out.Field = append(out.Field, m.sqDist(*q.Around, [2]float64{at(j), at(i)}))
			}
		}
	}
	return out, nil
}

func newPair(r Rule) (learners.Pair, error) {
	var rule pairs.PARule
	switch r.Name {
	case "pola":
		return pairs.NewPOLA(2, pairs.POLAParams{Gamma: r.Gamma})
	case "kernel-pola":
		k, err := kernels.NewPolynomial(2, 0)
		if err != nil {
			return nil, err
		}
		return pairs.NewKernelPOLA(2, k, pairs.POLAParams{Gamma: r.Gamma})
	}
	if err := rule.UnmarshalText([]byte(r.Name)); err != nil {
		return nil, err
	}
	return pairs.NewPA(2, pairs.PAParams{Rule: rule, C: r.C})
}

// sqDist returns d² of the hypothesis.
func (m *metricLesson) sqDist(x, y [2]float64) float64 {
	return m.l.Predict(metric.Pair{X: x[:], Y: y[:], Label: metric.Similar}).SqDist
}

// after is the hypothesis, if it has a matrix.
func (m *metricLesson) after() *Hypothesis {
	l, ok := m.l.(learners.PairMetric)
	if !ok {
		return nil
	}
	a := l.Metric().M()
	return &Hypothesis{[3]float64{a.At(0, 0), a.At(0, 1), a.At(1, 1)}, l.Threshold()}
}

// round learns from a pair.
func (m *metricLesson) round(p [5]float64) (Round, error) {
	label := metric.Dissimilar
	if p[4] > 0 {
		label = metric.Similar
	}
	before := m.after()
	r := Round{B: m.l.Threshold()}
	o, err := m.l.Step(metric.Pair{X: p[:2], Y: p[2:4], Label: label})
	if err != nil {
		return Round{}, err
	}
	r.SqDist, r.Alike, r.Loss, r.Step, r.Wrong = o.Prediction.SqDist, o.Prediction.Similar, o.Loss, o.StepSize, o.Mistake
	v := [2]float64{p[0] - p[2], p[1] - p[3]}
	r.Norm2, r.After, r.BAfter = v[0]*v[0]+v[1]*v[1], m.after(), m.l.Threshold()
	if before != nil {
		a := before.A
		r.Half = &Hypothesis{[3]float64{a[0] - r.Step*v[0]*v[0], a[1] - r.Step*v[0]*v[1], a[2] - r.Step*v[1]*v[1]}, before.B + r.Step}
		if o.Projections > 0 {
			low, _, _ := eigen(r.Half.A)
			r.Lambda = math.Min(0, low)
		}
	}
	if n := len(m.rounds); n > 0 {
		r.Wrongs, r.Recent = m.rounds[n-1].Wrongs, m.rounds[n-1].Recent
		if n >= 20 && m.rounds[n-20].Wrong {
			r.Recent--
		}
	}
	if r.Wrong {
		r.Wrongs++
		r.Recent++
	}
	return r, nil
}

// eigen returns the eigenvalues of a symmetric 2×2 matrix, and the unit vector of the larger one.
func eigen(a [3]float64) (low, high float64, u [2]float64) {
	middle, half := (a[0]+a[2])/2, math.Hypot((a[0]-a[2])/2, a[1])
	sin, cos := math.Sincos(math.Atan2(2*a[1], a[0]-a[2]) / 2)
	return middle - half, middle + half, [2]float64{cos, sin}
}

// bound returns Theorem 1 with the best of many (A*, b*): for A* = c(uuᵀ + ρwwᵀ), w ⊥ u, the pairs are without loss for the
// smallest c at b* = 1 + c·max d² of the alike ones.
func bound(ps [][5]float64, rounds []Round) *Bound {
	out := Bound{Bound: math.Inf(1)}
	for _, r := range rounds {
		out.Losses += r.Loss * r.Loss
		out.R = math.Max(out.R, r.Norm2*r.Norm2+1)
	}
	for step := range 180 {
		sin, cos := math.Sincos(math.Pi * float64(step) / 180)
		for _, rho := range []float64{0, .003, .01, .03, .1, .3, 1} {
			alike, other := 0.0, math.Inf(1)
			for _, p := range ps {
				v := [2]float64{p[0] - p[2], p[1] - p[3]}
				along, across := cos*v[0]+sin*v[1], cos*v[1]-sin*v[0]
				d := along*along + rho*across*across
				if p[4] > 0 {
					alike = math.Max(alike, d)
				} else {
					other = math.Min(other, d)
				}
			}
			c := 2 / (other - alike) // 0 without a pair that differs
			if !(c >= 0) || math.IsInf(c, 1) {
				continue
			}
			b := 1 + c*alike
			if at := out.R * (c*c*(1+rho*rho) + (b-1)*(b-1)); at < out.Bound {
				out.Bound = at
				out.Star = Hypothesis{[3]float64{c * (cos*cos + rho*sin*sin), c * (1 - rho) * sin * cos, c * (sin*sin + rho*cos*cos)}, b}
			}
		}
	}
	if math.IsInf(out.Bound, 1) {
		return nil
	}
	return &out
}

// places returns A^½x for a metric of the plane. For one that has no matrix it is the plane in which the distances of the points are
// kept best (classical scaling).
func (m *metricLesson) places(points [][2]float64) [][2]float64 {
	out := make([][2]float64, len(points))
	if h := m.after(); h != nil {
		low, high, u := eigen(h.A)
		low, high = math.Sqrt(math.Max(0, low)), math.Sqrt(math.Max(0, high))
		for i, x := range points {
			along, across := u[0]*x[0]+u[1]*x[1], u[0]*x[1]-u[1]*x[0]
			out[i] = [2]float64{high*along*u[0] - low*across*u[1], high*along*u[1] + low*across*u[0]}
		}
		return out
	}
	n := len(points)
	gram := centred(n, func(i, j int) float64 { return -m.sqDist(points[i], points[j]) / 2 })
	x := triplets.Embed(gram, min(2, n))
	for i := range out {
		for j := range x.RawRowView(i) {
			out[i][j] = x.At(i, j)
		}
	}
	return out
}

// centred returns the n×n matrix of at, minus the means of its rows and columns, plus that of all.
func centred(n int, at func(i, j int) float64) *mat.SymDense {
	out, mean, total := mat.NewSymDense(n, nil), make([]float64, n), 0.0
	for i := range n {
		for j := range n {
			mean[i] += at(i, j) / float64(n)
		}
		total += mean[i] / float64(n)
	}
	for i := range n {
		for j := range i + 1 {
			out.SetSym(i, j, at(i, j)-mean[i]-mean[j]+total)
		}
	}
	return out
}
