package lesson

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/notebooks/nb"
	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
)

// The rules of the paper, in its order, and how figures name and colour them.
var (
	Rules = []pairs.PARule{pairs.PlainPA, pairs.PAI, pairs.PAII, pairs.PALS}
	Names = map[pairs.PARule]string{pairs.PlainPA: "PA", pairs.PAI: "PA-I", pairs.PAII: "PA-II", pairs.PALS: "PA-LS"}
	Hues  = map[pairs.PARule]int{pairs.PlainPA: plots.Grey, pairs.PAI: 2, pairs.PAII: 3, pairs.PALS: 6}
	Signs = map[pairs.PSD]string{pairs.PSDEachStep: "+", pairs.PSDAtEnd: "−"}
)

// Rate is the rate of a rule in package plain. It panics unless C is positive.
func Rate(rule pairs.PARule, c float64) plain.Rate {
	if !(c > 0) {
		panic(fmt.Sprintf("lesson: C = %g is not allowed, want a positive number", c))
	}
	switch rule {
	case pairs.PAI:
		return plain.LinearRate(c)
	case pairs.PAII:
		return plain.SquaredRate(c)
	case pairs.PALS:
		return plain.LeastSquaresRate(c)
	}
	return plain.HardRate
}

// Cost is what the slack s costs under a rule.
func Cost(rule pairs.PARule, c, s float64) float64 {
	switch {
	case rule == pairs.PALS:
		return c * s * s
	case s <= 0:
		return 0
	case rule == pairs.PAI:
		return c * s
	case rule == pairs.PAII:
		return c * s * s
	}
	return math.Inf(1) // PA allows none
}

// LengthOf is N = 1 + ‖v‖⁴ of a pair.
func LengthOf(p metric.Pair) float64 { return 1 + math.Pow(mat.Norm(difference(p), 2), 4) }

// difference is v = x − x′.
func difference(p metric.Pair) *mat.VecDense {
	return mat.NewVecDense(len(p.X), metric.Sub(nil, p.X, p.Y))
}

// Slack is s = 1 − y(b − d²) of a pair. It panics unless the pair and M have one dimension.
func (h Hypothesis) Slack(p metric.Pair) float64 {
	if n := h.M.SymmetricDim(); len(p.X) != n || len(p.Y) != n {
		panic(fmt.Sprintf("lesson: a pair of vectors of length %d and %d, want %d as M has", len(p.X), len(p.Y), n))
	}
	v := difference(p)
	return 1 - float64(p.Label)*(h.B-mat.Inner(v, h.M, v))
}

// Along is the hypothesis after the step τ of Eqs. 6 and 7.
func (h Hypothesis) Along(p metric.Pair, tau float64) Hypothesis {
	y, m := float64(p.Label), mat.NewSymDense(len(p.X), nil)
	m.SymRankOne(h.M, -y*tau, difference(p))
	return Hypothesis{m, h.B + y*tau}
}

// Step is the step of a rule, without a projection.
func (h Hypothesis) Step(rule pairs.PARule, c float64, p metric.Pair) Hypothesis {
	return h.Along(p, Rate(rule, c)(h.Slack(p), LengthOf(p)))
}

// Objective is what a rule minimises over to, Eqs. 4, 9, 11 and 14: half the squared length of the way there, and the cost of
// the slack that is left.
func (h Hypothesis) Objective(to Hypothesis, rule pairs.PARule, c float64, p metric.Pair) float64 {
	var d mat.Dense
	d.Sub(to.M, h.M)
	s := to.Slack(p)
	if math.Abs(s) < 1e-12 { // PA's wall, with round-off
		s = 0
	}
	return 0.5*math.Pow(mat.Norm(&d, 2), 2) + 0.5*math.Pow(to.B-h.B, 2) + Cost(rule, c, s)
}

// OffGrid tries 2,001 rates from h, and says how many of their spacings tau is from that of the least objective.
func OffGrid(h Hypothesis, tau float64, rule pairs.PARule, c float64, p metric.Pair) float64 {
	spacing := 1.37 * math.Abs(h.Slack(p)) / LengthOf(p) / 1000 // so that s/N is none of them
	best, at := math.Inf(1), 0.0
	for k := -1000; k <= 1000; k++ {
		if f := h.Objective(h.Along(p, float64(k)*spacing), rule, c, p); f < best {
			best, at = f, float64(k)*spacing
		}
	}
	return math.Abs(tau-at) / spacing
}

// Better counts which of 100 random neighbours of to, in M and in b, have a smaller objective.
func Better(rng *rand.Rand, h, to Hypothesis, rule pairs.PARule, c float64, p metric.Pair) (n int) {
	least := h.Objective(to, rule, c, p)
	for range 100 {
		near := Hypothesis{mat.NewSymDense(len(p.X), nil), to.B + 0.01*rng.NormFloat64()}
		for i := range p.X {
			for j := range i + 1 {
				near.M.SetSym(i, j, to.M.At(i, j)+0.01*rng.NormFloat64())
			}
		}
		if h.Objective(near, rule, c, p) < least-1e-12 {
			n++
		}
	}
	return n
}

// SlackPanel is PairPanel with a dashed curve in the pair's colour, where the pair has no slack.
func SlackPanel(title string, p metric.Pair, now, was Hypothesis) plots.Panel {
	const half = 3.2
	d := PairPanel(title, half, p, now, was)
	if b := now.B - float64(p.Label); b != 0 {
		color := map[metric.Label]int{metric.Similar: 0, metric.Dissimilar: 1}[p.Label]
		d.Marks = append(d.Marks, nb.Level(plots.Line{Color: color, Dashed: true}, now.M, b, half)...)
	}
	return d
}

// Feasible is the nearest hypothesis with M ⪰ 0 and b ≥ 1.
func (h Hypothesis) Feasible() Hypothesis {
	m, b := (&plain.PA{M: h.M, B: h.B}).Final()
	return Hypothesis{m, b}
}

// OnePair is a pair with the difference (a, b).
func OnePair(a, b float64, label metric.Label) metric.Pair {
	return metric.Pair{X: []float64{a, b}, Y: []float64{0, 0}, Label: label}
}

// RandomPair is of points that are normal in three dimensions.
func RandomPair(rng *rand.Rand) metric.Pair {
	p := metric.Pair{Label: metric.SameClass(rng.IntN(2) == 0)}
	for range 3 {
		p.X, p.Y = append(p.X, rng.NormFloat64()), append(p.Y, rng.NormFloat64())
	}
	return p
}

// Teach returns n pairs with labels by the direction (4, 3)/5, none close to the teacher's
// boundary, each of which is wrong with probability flip.
func Teach(rng *rand.Rand, n int, flip float64) []metric.Pair {
	var out []metric.Pair
	for len(out) < n {
		a, b := 5*rng.Float64()-2.5, 5*rng.Float64()-2.5
		along := (4*a + 3*b) / 5
		if sq := along * along; sq < 0.6 || sq > 1.4 {
			out = append(out, OnePair(a, b, metric.SameClass(
				(sq < 1) != (rng.Float64() < flip))))
		}
	}
	return out
}

// Learn runs a learner over pairs.
func Learn(p pairs.PAParams, rounds []metric.Pair) *pairs.PA {
	l := nb.Must(pairs.NewPA(2, p))
	for _, r := range rounds {
		nb.Must(l.Step(r))
	}
	return l
}

// Counts says what a learner did: Back are the updates with τ < 0, on pairs that were right by more than the margin.
type Counts struct{ Updates, Back, Mistakes int }

// Present runs a learner over pairs ten times, each time in another random order.
func Present(p pairs.PAParams, rounds []metric.Pair) (*pairs.PA, Counts) {
	l, rng := nb.Must(pairs.NewPA(len(rounds[0].X), p)), rand.New(rand.NewPCG(2, 0))
	var n Counts
	for range 10 {
		for _, i := range rng.Perm(len(rounds)) {
			o := nb.Must(l.Step(rounds[i]))
			if o.Mistake {
				n.Mistakes++
			}
			if o.Updated {
				n.Updates++
			}
			if o.StepSize*float64(rounds[i].Label) < 0 {
				n.Back++
			}
		}
	}
	return l, n
}

// Balance returns 240 pairs of the database, with features from 0 to 1.
func Balance() []metric.Pair {
	set := datasets.Balance()
	scaler, _, err := datasets.FitScaler(set.X, datasets.MinMax, false)
	nb.Check(err)
	links := nb.Must(sample.DistinctLinks(rand.New(rand.NewPCG(1, 0)), set.Y, 240))
	return slices.Collect(sample.Pairs(nb.Must(scaler.Apply(set.X)), links))
}

// EqualSlack is the slack above which PA-II moves farther than PA-I, by bisection.
func EqualSlack(c, n float64) float64 {
	low, high := c*n, c*n+10
	for range 100 {
		mid := (low + high) / 2
		if Rate(pairs.PAII, c)(mid, n) < Rate(pairs.PAI, c)(mid, n) {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}
