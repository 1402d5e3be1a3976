package rmp2007

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
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
	Ours:    true,
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
	Views:   []experiment.View{{Name: "medoidcost", Title: "Operations of k-medoids as a multiple of those of k-means", Draw: drawMedoidCost}},
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
	c := counted{iterations: float64(fit.Iterations), pi: slices.Clone(fit.Assignment)}
	prototypes := fit.Prototypes(x)
	for i, k := range c.pi {
		c.pi[i] = prototypes[k]
	}
	c.other = float64(n*d) * (float64(m-1) + c.iterations*float64(m+1) + float64(m) + 1)
	return c, nil
}

// turnsCounted is k-medoids as the book has it that the paper cites for its cost (Hastie, Tibshirani and Friedman, The
// Elements of Statistical Learning, 2001, Algorithm 14.2): from m points drawn at random, each cluster's medoid becomes
// the member with the least sum of distances to the others, and each point goes to its nearest medoid, in turn, until
// nothing changes. distance is n×n; each entry read is one look-up.
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
		c.iterations++
		next := slices.Clone(medoid)
		for k := range medoid {
			var members []int
			for i, g := range group {
				if g == k {
					members = append(members, i)
				}
			}
			least := math.Inf(1)
			for _, j := range members {
				sum := 0.0
				for _, i := range members {
					sum += distance.At(i, j)
				}
				c.other += float64(len(members))
				if sum < least {
					least, next[k] = sum, j
				}
			}
		}
		if slices.Equal(next, medoid) {
			break
		}
		medoid, group = next, nil
		group = assign()
	}
	c.pi = make([]int, n)
	for i, k := range group {
		c.pi[i] = medoid[k]
	}
	return c, nil
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
	if err := s.cluster(ctx, run.Seed, costOnce, x, []int{s.Features}, run.Rows); err != nil {
		return err
	}
	if !s.Rounds {
		return nil
	}
	var revealed []int
	for t := 1; t <= s.Features; t++ {
		revealed = append(revealed, t)
	}
	return s.cluster(ctx, run.Seed, costOnline, x, revealed, run.Rows)
}

// cluster clusters the first so many features, one clustering for each number in revealed, and adds what that took.
func (s medoidCostSettings) cluster(ctx context.Context, seed random.Seed, what string, x *mat.Dense, revealed []int, rows *table.Table) error {
	for _, method := range medoidMethods {
		rng := seed.Stream(fmt.Sprintf("%s %s, %d points, %d features", method, what, s.Points, s.Features))
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
		rows.Add(table.Key{"method": method, "what": what},
			table.Values{"operations": sum.other + kept, "anew": sum.other + sum.distances, "iterations": sum.iterations, "cost": cost})
	}
	return nil
}

// costlier returns log₁₀ of the operations of a method over those of k-means, by trial.
func costlier(g *table.Table, method, column string) []float64 {
	v, base := slices.Clone(g.Where("method", method).Values(column)), g.Where("method", kMeansName).Values("operations")
	judge.SameLength("rmp2007: operations of "+method+" and of k-means", v, base)
	for k := range v {
		v[k] = math.Log10(v[k] / base[k])
	}
	return v
}

var medoidCostClaims = experiment.Claims([]experiment.Claim{{
	ID:        "medoids-cost",
	View:      "medoidcost",
	Statement: "In general, performing K-medoids clustering is computationally more expensive than K-means.",
	Where:     "Section 5.1, third paragraph", Theirs: "no number (it cites Hastie et al. 2002, page 468)",
	Predicate: "log₁₀ of the operations of k-medoids over those of k-means, paired by trial, is positive in each problem: n = 100, 400, 1600 points of 2 and 50 features. Readings: k-medoids in turn, as the cited book has it, and FasterPAM; clustered once, or online (n = 100 and 400, 50 rounds) with distances kept from round to round or computed anew.",
	Test: func(t *table.Table) judge.Test {
		var out judge.Readings
		for _, method := range medoidMethods[1:] {
			for _, how := range []struct{ name, what, column string }{{"once", costOnce, "operations"}, {"online, distances kept", costOnline, "operations"}, {"online, anew", costOnline, "anew"}} {
				var units []judge.Unit
				for _, g := range t.Where("what", how.what).Group("cell") {
					units = append(units, judge.Unit{Name: g.Unique("cell")[0], Diffs: costlier(g, method, how.column)})
				}
				out = append(out, judge.Reading{Name: method + ", " + how.name, Test: judge.Positive{Units: experiment.NotEmpty("problems of "+how.what, units)}})
			}
		}
		return out
	},
}})

func drawMedoidCost(t *table.Table) (plots.Drawing, error) {
	if t.Len() == 0 {
		return plots.Missing("operations of any problem"), nil
	}
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"problem", "clustered", "method", "million operations", "times k-means", "with distances anew", "iterations", "cost"}}}
	for _, features := range []int{2, 50} {
		p := plots.Panel{Title: fmt.Sprintf("%d features", features), XLabel: "points", YLabel: "operations, in multiples of k-means", XLog: true, YLog: true}
		for k, method := range medoidMethods[1:] {
			line := plots.Line{Name: method, Color: k}
			for _, n := range []int{40, 100, 400, 1600} {
				g := t.Where("cell", fmt.Sprintf("n = %d, d = %d", n, features), "what", costOnce)
				if g.Len() == 0 {
					continue
				}
				mean, half := judge.Summarize(costlier(g, method, "operations")).Interval()
				line.X, line.Y = append(line.X, float64(n)), append(line.Y, math.Pow(10, mean))
				line.Lo, line.Hi = append(line.Lo, math.Pow(10, mean-half)), append(line.Hi, math.Pow(10, mean+half))
				if k == 0 {
					p.XTicks = append(p.XTicks, plots.Tick{At: float64(n), Label: strconv.Itoa(n)})
				}
			}
			if len(line.X) > 0 {
				p.Marks = append(p.Marks, line)
			}
		}
		p.Marks = append(p.Marks, plots.Reference{Name: "as k-means", At: 1, Color: plots.Grey})
		d.Panels = append(d.Panels, p)
	}
	for cell, g := range t.Group("cell") {
		for _, what := range g.Unique("what") {
			of := g.Where("what", what)
			for _, method := range of.Unique("method") {
				r := of.Where("method", method)
				times := func(column string) string {
					return fmt.Sprintf("%.3g", math.Pow(10, stat.Mean(costlier(of, method, column), nil)))
				}
				d.Text.Rows = append(d.Text.Rows, []string{cell, what, method, fmt.Sprintf("%.3g", stat.Mean(r.Values("operations"), nil)/1e6), times("operations"), times("anew"),
					fmt.Sprintf("%.1f", stat.Mean(r.Values("iterations"), nil)), strconv.FormatFloat(stat.Mean(r.Values("cost"), nil), 'f', 0, 64)})
			}
		}
	}
	d.Caption = plots.Caption{Shows: "Operations of k-medoids as a multiple of those of k-means, geometric means over trials (ours; the paper cites it), on points of four Gaussians as in Fig. 1, one run of each from random starts. An operation is a difference of two coordinates, an addition of a coordinate to a mean, or a look-up of a distance. " +
		"k-medoids computes the squared distances of all pairs of points first: n(n − 1)/2 times the features. In turn: medoids and clusters by turns, as the book has it that the paper cites; FasterPAM: exchanges. k-means: Lloyd from k-means++, each cluster then mapped to the point nearest to its centre. " +
		"Online: one clustering per round of the features revealed so far, 50 rounds, with distances kept, so that a round adds one feature to them, or anew. Cost: sum of squared distances of the points from their prototypes in the last round. Iterations of all rounds together. Bands are 95 % intervals. " + trialsNote(t)}
	return d, nil
}
