package clusters

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Methods of the experiment beside kMeansName.
const (
	medoidsInTurn = "k-medoids in turn"
	medoidsFaster = "FasterPAM"
)

var medoidMethods = []string{kMeansName, medoidsInTurn, medoidsFaster}

// What is clustered, as the table names it.
const (
	costOnce   = "once"
	costOnline = "online"
)

// MedoidCost counts the arithmetic of k-medoids and of k-means on the points of Fig. 1.
var MedoidCost = experiment.Spec{
	ID:      "rmp2007/medoidcost",
	Title:   "The cost of k-medoids against that of k-means, counted in operations",
	Source:  "Section 5.1 (\"performing K-medoids clustering is computationally more expensive than K-means\"), which cites it",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		sizes := []int{100, 400, 1600}
		if scale == experiment.Smoke {
			sizes = []int{40}
		}
		for _, n := range sizes {
			for _, d := range []int{2, 50} {
				cells = append(cells, experiment.Cell{
					Name: fmt.Sprintf("n = %d, d = %d", n, d), Dataset: "gaussians", Settings: medoidCostSettings{Points: n, Features: d, M: fig1Groups, Rounds: d == 50 && n <= fig1Points},
					Methods: map[string]int{"k-medoids": cluster.KMedoidsVersion, "k-means": cluster.KMeansVersion},
				})
			}
		}
		return cells
	},
	Trials:  experiment.Trials(20),
	Columns: medoidCostColumns,
	Trial:   medoidCostTrial,
	Views:   []experiment.View{{Name: "medoidcost", Title: "Operations of k-medoids as a multiple of those of k-means", Draw: medoidCostView.Draw}},
	Claims:  medoidCostClaims,
	Cost:    time.Second,
}

// medoidCostSettings are the settings of a cell.
type medoidCostSettings struct {
	Points   int  `key:"points"`
	Features int  `key:"features"`
	M        int  `key:"m"`
	Rounds   bool `key:"rounds"` // whether one feature is revealed per round, too
}

var medoidCostColumns = experiment.Columns{
	experiment.Text("method", "clustering"),
	experiment.Text("what", "once: all features; online: a clustering per round of the features revealed so far, one more in each"),
	experiment.Number("operations", "", "differences of two coordinates, additions of a coordinate to a mean, and look-ups of a distance"),
	experiment.Number("anew", "", "the same if all distances between points are computed anew in each round"),
	experiment.Number("iterations", "", "iterations of Lloyd, of the turns, or passes of FasterPAM, of all rounds"),
	experiment.Number("cost", "", "sum of squared distances of the points from the prototypes of their clusters, in the last round"),
}

// counted is what a clustering took and found.
type counted struct {
	distances  float64 // coordinate differences between pairs of points, if computed anew
	other      float64 // operations beside them
	iterations float64
	pi         []int
}

// lloydCounted is one run of k-means from k-means++. The start compares each point with all centres but the last; an
// iteration compares it with all, and adds it to a mean; the last comparison, after the iterations, changes nothing. A
// point is mapped to the point nearest to its centre, which compares each point with its own.
func lloydCounted(ctx context.Context, rng *rand.Rand, x *mat.Dense, m int) (counted, error) {
	n, d := x.Dims()
	fit, err := cluster.FitKMeans(ctx, rng, x, cluster.KMeansParams{K: m})
	if err != nil {
		return counted{}, err
	}
	c := counted{iterations: float64(fit.Iterations), pi: through(fit.Assignment, fit.Prototypes(x))}
	c.other = float64(n*d) * (float64(m-1) + c.iterations*float64(m+1) + float64(m) + 1)
	return c, nil
}

// turnsCounted is k-medoids as the book has it that the paper cites for its cost (Hastie, Tibshirani and Friedman, The
// Elements of Statistical Learning, 2001, Algorithm 14.2). From m points drawn at random, each cluster's medoid becomes
// the member with the least sum of distances to the others, and each point goes to its nearest medoid, in turn, until
// nothing changes. The matrix distance is n×n; each entry read is one look-up.
func turnsCounted(ctx context.Context, rng *rand.Rand, distance *mat.Dense, m int) (counted, error) {
	n, _ := distance.Dims()
	medoid := rng.Perm(n)[:m]
	var c counted
	assign := func() []int {
		group := make([]int, n)
		for i := range n {
			for k, j := range medoid {
				c.other++
				if distance.At(i, j) < distance.At(i, medoid[group[i]]) {
					group[i] = k
				}
			}
		}
		return group
	}
	group := assign()
	for {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		next := slices.Clone(medoid)
		best, _, read := bestMembers(distance, group, m)
		for k, j := range best {
			if j >= 0 {
				next[k] = j
			}
		}
		c.iterations, c.other = c.iterations+1, c.other+read
		if slices.Equal(next, medoid) {
			c.pi = through(group, medoid)
			return c, nil
		}
		medoid = next
		group = assign()
	}
}

// fasterCounted is one run of FasterPAM from a random set. A pass reads each distance once, and so does an exchange
// those to the m medoids, as the start does.
func fasterCounted(ctx context.Context, rng *rand.Rand, distance *mat.Dense, m int) (counted, error) {
	n, _ := distance.Dims()
	fit, err := cluster.FitFasterPAM(ctx, rng, distance, cluster.MedoidsParams{M: m})
	if err != nil {
		return counted{}, err
	}
	return counted{iterations: float64(fit.Iterations), other: float64(fit.Iterations*n*n + (fit.Swaps+1)*n*m), pi: fit.Prototype}, nil
}

// addDistances adds squared differences of the features from..to−1 to distance, and returns how many it took: one per
// pair of points and feature.
func addDistances(distance, x *mat.Dense, from, to int) float64 {
	n, _ := x.Dims()
	for i := range n {
		u := x.RawRowView(i)[from:to]
		for j := range i {
			d := metric.Euclidean{}.SqDist(u, x.RawRowView(j)[from:to])
			distance.Set(i, j, distance.At(i, j)+d)
			distance.Set(j, i, distance.At(i, j))
		}
	}
	return float64(n * (n - 1) / 2 * (to - from))
}

func medoidCostTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(medoidCostSettings)
	x := pointSets[run.Cell.Dataset](run.Seed.Stream("points "+run.Cell.Name), s.Points, s.Features).x
	if err := s.cluster(ctx, run, costOnce, x, []int{s.Features}); err != nil {
		return err
	}
	if !s.Rounds {
		return nil
	}
	var revealed []int
	for t := 1; t <= s.Features; t++ {
		revealed = append(revealed, t)
	}
	return s.cluster(ctx, run, costOnline, x, revealed)
}

// cluster makes a clustering of the first features for each number of them in revealed, and adds what that took.
func (s medoidCostSettings) cluster(ctx context.Context, run *experiment.Run, what string, x *mat.Dense, revealed []int) error {
	for _, method := range medoidMethods {
		rng := run.Seed.Stream(fmt.Sprintf("%s %s, %d points, %d features", method, what, s.Points, s.Features))
		distance := mat.NewDense(s.Points, s.Points, nil)
		var sum counted
		var kept float64
		from := 0
		for _, d := range revealed {
			var c counted
			var err error
			if method == kMeansName {
				c, err = lloydCounted(ctx, rng, mat.DenseCopyOf(x.Slice(0, s.Points, 0, d)), s.M)
			} else {
				kept += addDistances(distance, x, from, d)
				from = d
				fit := turnsCounted
				if method == medoidsFaster {
					fit = fasterCounted
				}
				c, err = fit(ctx, rng, distance, s.M)
				c.distances = float64(s.Points * (s.Points - 1) / 2 * d)
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", method, what, err)
			}
			sum.other, sum.distances, sum.iterations, sum.pi = sum.other+c.other, sum.distances+c.distances, sum.iterations+c.iterations, c.pi
		}
		cost := 0.0
		for i, j := range sum.pi {
			cost += metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j))
		}
		run.Rows.Add(table.Key{"method": method, "what": what},
			table.Values{"operations": sum.other + kept, "anew": sum.other + sum.distances, "iterations": sum.iterations, "cost": cost})
	}
	return nil
}

// byKMeans are the rows with columns for the operations of k-means on the same points, and the numbers of points and
// features.
var byKMeans = protocol.Beside(kMeansName, kMeansName, "operations", "cell", "trial", "what").
	Then(frame.Called("points", "cell", func(cell string) string { n, _, _ := strings.Cut(cell, ", d = "); return strings.TrimPrefix(n, "n = ") })).
	Then(frame.Called("features", "cell", func(cell string) string { _, d, _ := strings.Cut(cell, ", d = "); return d }))

// costlier is log₁₀ of the operations over those of k-means.
func costlier(column string) frame.Measure {
	return frame.Column(column).Over(frame.Cells(kMeansName)).Map(math.Log10)
}

var medoidCostClaims = experiment.Claims([]experiment.Claim{{
	ID:        "medoids-cost",
	Statement: "In general, performing K-medoids clustering is computationally more expensive than K-means.",
	Where:     "Section 5.1, third paragraph", Theirs: "no number (it cites Hastie et al. 2002, page 468)",
	Predicate: "log₁₀ of the operations of k-medoids over those of k-means, paired by trial, is positive in each problem: n = 100, 400, 1600 points of 2 and 50 features. Readings: k-medoids in turn, as the cited book has it, and FasterPAM; clustered once, or online (n = 100 and 400, 50 rounds) with distances kept from round to round or computed anew.",
	Test:      frame.Readings(slices.Concat(medoidReadings(medoidsInTurn), medoidReadings(medoidsFaster))...).On(byKMeans),
}})

// medoidReadings are those of a method.
func medoidReadings(method string) []frame.Reading {
	reading := func(how, what, column string) frame.Reading {
		return frame.Reading{Name: method + ", " + how, Test: frame.Positive(judge.Rule{}, frame.OverGroups(costlier(column), "cell").Where("what", what, "method", method))}
	}
	return []frame.Reading{reading("once", costOnce, "operations"), reading("online, distances kept", costOnline, "operations"), reading("online, anew", costOnline, "anew")}
}

var medoidCostView = frame.View{
	From:    byKMeans,
	Columns: 2,
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		p := frame.Panel{Panel: plots.Panel{Title: cells[0] + " features", XLabel: "points", YLabel: "operations, in multiples of k-means", XLog: true, YLog: true}}
		for _, n := range []int{100, 400, 1600} {
			p.XTicks = append(p.XTicks, plots.Tick{At: float64(n), Label: strconv.Itoa(n)})
		}
		for _, style := range styles.Lines(medoidMethods[1:]...) {
			p.Of = append(p.Of, geometric(frame.Line(style, "points", costlier("operations"), frame.Band{}).Where("method", style.Name)))
		}
		p.Of = append(p.Of, frame.Fixed(plots.Reference{Name: "as k-means", At: 1, Color: plots.Grey}))
		return p
	}, "features").Where("what", costOnce),
	Text: &frame.Text{By: []string{"cell", "problem", "what", "clustered", "method", "method"}, Cells: []frame.Cell{
		frame.Of("million operations", frame.Column("operations"), frame.Band{Scale: 1e-6}, "%.3g"),
		frame.Of("times k-means", costlier("operations").Averaged().Map(pow10), frame.Band{}, "%.3g"),
		frame.Of("with distances anew", costlier("anew").Averaged().Map(pow10), frame.Band{}, "%.3g"),
		frame.Of("iterations", frame.Column("iterations"), frame.Band{}, "%.1f"),
		frame.Of("cost", frame.Column("cost"), frame.Band{}, "%.0f"),
	}},
	Caption: frame.Says("Operations of k-medoids as a multiple of those of k-means, geometric means over trials (ours; the paper cites it). An operation is a difference of two coordinates, an addition of a coordinate to a mean, or a look-up of a distance.",
		"Points of four Gaussians as in Fig. 1.",
		"One run of each from random starts. k-medoids computes the squared distances of all pairs of points first: n(n − 1)/2 times the features. In turn: medoids and clusters by turns, as the book has it that the paper cites; FasterPAM: exchanges. k-means: Lloyd from k-means++, each cluster then mapped to the point nearest to its centre. "+
			"Online: one clustering per round of the features revealed so far, 50 rounds, with distances kept, so that a round adds one feature to them, or anew. Cost: sum of squared distances of the points from their prototypes in the last round. Iterations of all rounds together.", protocol.TrialsCover),
	Missing: "operations of any problem",
}

func pow10(v float64) float64 { return math.Pow(10, v) }

// geometric draws means of logarithms as numbers.
func geometric(mark frame.Mark) frame.Mark {
	return func(rows *table.Table) plots.Mark {
		line, some := mark(rows).(plots.Line)
		if !some {
			return nil
		}
		for _, v := range [][]float64{line.Y, line.Lo, line.Hi} {
			for i := range v {
				v[i] = pow10(v[i])
			}
		}
		return line
	}
}
