package clusters

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
)

// fig1Groups is the number of groups that points are drawn from, and m.
const fig1Groups = 4

// gaussianWidth is the standard deviation of the Gaussians of Fig. 1, where that of the coordinates of their
// centres is 1. The paper wants them "easily separable" by all 50 coordinates and "non-separable with
// fewer than (roughly) 15". Who knew the centres would mistake less than ½ % of the points by 50 coordinates
// and more than 5 % by 15 (TestGaussiansAreAsSeparableAsThePaperSays).
const gaussianWidth = 1.5

// points are rows in groups.
type points struct {
	x     *mat.Dense
	group []int
	// centres of the groups, for those who may know them.
	centres *mat.Dense
}

// pointSets draw the data by the name of the set, n points of d coordinates each.
var pointSets = map[string]func(rng *rand.Rand, n, d int) points{
	"gaussians":        gaussiansOf(gaussianWidth),
	"masked gaussians": maskedGaussians,
	"words":            words,
}

// gaussiansOf draws from four Gaussians of a width, each point from one of them at random, with centres
// from the standard normal distribution.
func gaussiansOf(width float64) func(rng *rand.Rand, n, d int) points {
	return func(rng *rand.Rand, n, d int) points {
		p := points{x: mat.NewDense(n, d, nil), group: make([]int, n), centres: mat.NewDense(fig1Groups, d, nil)}
		p.centres.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, p.centres)
		for i := range n {
			p.group[i] = rng.IntN(fig1Groups)
			for t := range d {
				p.x.Set(i, t, p.centres.At(p.group[i], t)+width*rng.NormFloat64())
			}
		}
		return p
	}
}

// maskKept is the share of coordinates that maskedGaussians keeps.
const maskKept = 0.2

// maskedGaussians are Gaussians of gaussianWidth with each coordinate of each point set to 0 unless it is kept, with
// probability maskKept.
func maskedGaussians(rng *rand.Rand, n, d int) points {
	p := gaussiansOf(gaussianWidth)(rng, n, d)
	p.x.Apply(func(_, _ int, v float64) float64 {
		if rng.Float64() < maskKept {
			return v
		}
		return 0
	}, p.x)
	p.centres.Scale(maskKept, p.centres)
	return p
}

// Each group of words has its own words, a share of all, which a point has with probability ownWord; any
// other it has with probability otherWord.
const (
	ownShare  = 0.05
	ownWord   = 0.8
	otherWord = 0.005
)

// words draws points with coordinates 0 and 1, of which the mean is about 0.045.
func words(rng *rand.Rand, n, d int) points {
	p := points{x: mat.NewDense(n, d, nil), group: make([]int, n), centres: mat.NewDense(fig1Groups, d, nil)}
	for k := range fig1Groups {
		row := p.centres.RawRowView(k)
		for t := range row {
			row[t] = otherWord
		}
		for _, t := range rng.Perm(d)[:max(1, int(math.Round(ownShare*float64(d))))] {
			row[t] = ownWord
		}
	}
	for i := range n {
		p.group[i] = rng.IntN(fig1Groups)
		for t := range d {
			if rng.Float64() < p.centres.At(p.group[i], t) {
				p.x.Set(i, t, 1)
			}
		}
	}
	return p
}

// mistaken returns the share of points that are not nearest to the centre of their group in the
// first d coordinates. For Gaussians of one width that is the least error possible.
func (p points) mistaken(d int) float64 {
	wrong := 0
	for i, k := range p.group {
		dist := make([]float64, fig1Groups)
		for c := range dist {
			dist[c] = metric.Euclidean{}.SqDist(p.x.RawRowView(i)[:d], p.centres.RawRowView(c)[:d])
		}
		if slices.Index(dist, slices.Min(dist)) != k {
			wrong++
		}
	}
	return float64(wrong) / float64(len(p.group))
}

// game is online clustering: coordinate t of all points is revealed in round t.
type game struct {
	x     *mat.Dense
	of    func(a, b float64) float64 // the distortion of two coordinates
	scale float64                    // costs are distortions over scale
}

// newGame brings the costs into [0, 1] by dividing them by the largest distortion of two points in any
// coordinate. It returns an error if all points coincide.
func newGame(x *mat.Dense, d protocol.Distortion) (game, error) {
	n, rounds := x.Dims()
	g := game{x: x, of: protocol.Compare[d]}
	for t := range rounds {
		c := mat.Col(make([]float64, n), t, x)
		g.scale = max(g.scale, g.of(slices.Min(c), slices.Max(c)))
	}
	if g.scale == 0 {
		return g, fmt.Errorf("rmp2007: all points coincide")
	}
	return g, nil
}

// round fills the n×n matrix cost with the costs of round t, from 0.
func (g game) round(t int, cost *mat.Dense) metric.CostRound {
	c := mat.Col(nil, t, g.x)
	for i, a := range c {
		row := cost.RawRowView(i)
		for j, b := range c {
			row[j] = min(g.of(a, b)/g.scale, 1) // a quotient of the largest may round up
		}
	}
	return metric.CostRound{Cost: cost}
}

// total returns the sum of the costs of all rounds.
func (g game) total() *mat.Dense {
	n, d := g.x.Dims()
	sum, cost := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for t := range d {
		sum.Add(sum, g.round(t, cost).Cost)
	}
	return sum
}

// searchStarts is the number of random sets from which the best map is searched.
const searchStarts = 50

// FindOptimum looks for the map with at most m prototypes of least total cost, by FasterPAM from many starts, and for
// a proof.
func FindOptimum(ctx context.Context, cost *mat.Dense, m, starts int, rng *rand.Rand) (*cluster.MedoidsCertificate, error) {
	best, err := cluster.FitFasterPAM(ctx, rng, cost, cluster.MedoidsParams{M: m, Starts: starts})
	if err != nil {
		return nil, err
	}
	return cluster.CertifyMedoids(ctx, cost, best.Set)
}
