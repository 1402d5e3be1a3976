package lesson

import (
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

// Rate is the rate of a rule in package plain.
func Rate(rule pairs.PARule, c float64) plain.Rate {
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

// LengthOf is N = 1 + ‖v‖⁴ of a pair.
func LengthOf(p metric.Pair) float64 { return 1 + math.Pow(mat.Norm(difference(p), 2), 4) }

// difference is v = x − x′.
func difference(p metric.Pair) *mat.VecDense {
	return mat.NewVecDense(len(p.X), metric.Sub(nil, p.X, p.Y))
}

// Slack is s = 1 − y(b − d²) of a pair.
func (h Hypothesis) Slack(p metric.Pair) float64 {
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
