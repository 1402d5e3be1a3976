package rmp2007

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
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/table"
)

// Rivals of Fig. 1, beside those of rmp2007.go.
const (
	rmpShort    = "RMP printed; short walk"
	rmpHeatBath = "RMP printed; heat-bath walk"
	emSpherical = "EM spherical"
	emDiagonal  = "EM diagonal"
	emFull      = "EM full"
	bestMap     = "best map"
	groupsKnown = "groups known"
)

var (
	fig1RMP   = []string{rmpPrinted, rmpCorrected, rmpAnytime, rmpTen, rmpHundred, rmpShort, rmpHeatBath}
	sparseRMP = []string{rmpPrinted, rmpCorrected}
	fig1EM    = []string{emSpherical, emDiagonal, emFull}
	// sparseEM leaves out full covariance matrices, for which components of about 100 points in 100
	// coordinates, most of them 0, are too few.
	sparseEM = []string{emSpherical, emDiagonal}
	emForms  = map[string]cluster.Covariance{emSpherical: cluster.Spherical, emDiagonal: cluster.Diagonal, emFull: cluster.Full}
)

// emFloor is the least variance of a component of EM, relative to the mean variance of the coordinates. With
// as many coordinates as points in a component, full covariance matrices need one.
const emFloor = 1e-3

// fig1Cell is a set of points and a distortion.
type fig1Cell struct {
	name, set  string
	distortion string
	// rounds is the number of coordinates, T.
	rounds int
	// rmp and em are the forms of RMP and EM, beside FTL.
	rmp, em []string
}

// fig1Cells are the two of Fig. 1 and those of the remark on sparse data.
var fig1Cells = []fig1Cell{
	{"squared", "gaussians", "squared", 50, fig1RMP, fig1EM},
	{"L1", "gaussians", "L1", 50, fig1RMP, fig1EM},
	{"sparse words", "words", "squared", 100, sparseRMP, sparseEM},
	{"sparse Gaussians", "masked gaussians", "squared", 100, sparseRMP, sparseEM},
}

// fig1Size is the number of points, the longest T and the steps R of the random walk of a round.
type fig1Size struct{ points, rounds, steps int }

func fig1SizeAt(scale experiment.Scale) fig1Size {
	if scale == experiment.Smoke {
		return fig1Size{60, 20, 200}
	}
	return fig1Size{400, math.MaxInt, 5000}
}

// at returns the cell of an experiment.
func (c fig1Cell) at(scale experiment.Scale) experiment.Cell {
	s := fig1SizeAt(scale)
	return experiment.Cell{
		Name: c.name, Dataset: c.set,
		Params: map[string]string{
			"points": strconv.Itoa(s.points), "rounds": strconv.Itoa(min(s.rounds, c.rounds)), "chain steps": strconv.Itoa(s.steps),
			"m": strconv.Itoa(fig1Groups), "distortion": c.distortion, "starts": strconv.Itoa(searchStarts),
			"EM floor": table.Format(emFloor), "RMP": strings.Join(c.rmp, ", "), "EM": strings.Join(c.em, ", "),
		},
		Methods: map[string]int{"RMP": mapping.RMPVersion, "FTL": mapping.FTLVersion, "EM": cluster.MixtureVersion, "k-medoids": cluster.KMedoidsVersion, "k-means": cluster.KMeansVersion},
	}
}

// Fig1 is the regret of RMP and of EM in online clustering.
var Fig1 = experiment.Spec{
	ID:      "rmp2007/fig1",
	Title:   "Online clustering of 400 points: regret of RMP, EM and follow-the-leader against a certified optimum",
	Source:  "Section 5.1, Fig. 1",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, c := range fig1Cells {
			cells = append(cells, c.at(scale))
		}
		return cells
	},
	Trials: experiment.Trials(20),
	Index:  fig1Index,
	Values: fig1Values,
	Trial:  fig1Trial,
	Views:  fig1Views,
	Claims: fig1Claims,
	Cost:   8 * time.Second,
}

var (
	fig1Index  = []string{"kind", "method", "round"}
	fig1Values = []string{"loss", "acceptance", "lower", "dual", "left", "groups", "mistaken"}
)

// fig1Checkpoints are the rounds at which losses are kept: the first three and every tenth part.
func fig1Checkpoints(rounds int) []int {
	out := []int{1, 2, 3}
	for k := 1; k <= 10; k++ {
		out = append(out, k*rounds/10)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func fig1Trial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	of, err := distortionOf(cell.Params["distortion"])
	if err != nil {
		return nil, err
	}
	rounds, err := strconv.Atoi(cell.Params["rounds"])
	if err != nil {
		return nil, err
	}
	size := fig1SizeAt(env.Scale)
	draw := pointSets[cell.Dataset]
	if width := cell.Params["width"]; width != "" {
		w, err := strconv.ParseFloat(width, 64)
		if err != nil {
			return nil, err
		}
		draw = gaussiansOf(w)
	}
	p := draw(seed.Stream("points"), size.points, rounds)
	g, err := newGame(p.x, of)
	if err != nil {
		return nil, err
	}
	rows := table.New(fig1Index, fig1Values)
	for _, d := range []int{min(15, rounds), rounds} {
		rows.Add(table.Key{"kind": "separable", "round": strconv.Itoa(d)}, table.Values{"mistaken": p.mistaken(d)})
	}

	end := env.Lap("optimum")
	total := g.total()
	o, err := findOptimum(total, fig1Groups, seed.Stream("search"))
	if err != nil {
		return nil, err
	}
	end()
	groups, _ := byGroups(total, p.group)
	rows.Add(table.Key{"kind": "optimum", "method": bestMap}, table.Values{
		"loss": o.upper, "lower": o.lower, "dual": o.dual, "left": float64(o.left), "groups": groups,
	})
	cost := mat.NewDense(size.points, size.points, nil)
	play := func(method string, step func(t int, f metric.CostRound) (loss, acceptance float64, err error)) error {
		end := env.Lap(method)
		defer end()
		at := fig1Checkpoints(rounds)
		sum := 0.0
		for t := range rounds {
			if err := ctx.Err(); err != nil {
				return err
			}
			loss, acceptance, err := step(t, g.round(t, cost))
			if err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
			sum += loss
			if slices.Contains(at, t+1) {
				rows.Add(table.Key{"kind": "loss", "method": method, "round": strconv.Itoa(t + 1)}, table.Values{"loss": sum, "acceptance": acceptance})
			}
		}
		return nil
	}
	if err := play(bestMap, func(_ int, f metric.CostRound) (float64, float64, error) { return lossOf(o.pi, f), math.NaN(), nil }); err != nil {
		return nil, err
	}
	// Who knows the groups from the start, but not the coordinates to come, takes the best prototype so far
	// of each: this regret is for prototypes alone.
	soFar := mat.NewDense(size.points, size.points, nil)
	if err := play(groupsKnown, func(_ int, f metric.CostRound) (float64, float64, error) {
		_, pi := byGroups(soFar, p.group)
		soFar.Add(soFar, f.Cost)
		return lossOf(pi, f), math.NaN(), nil
	}); err != nil {
		return nil, err
	}
	for _, method := range strings.Split(cell.Params["RMP"], ", ") {
		l, err := fig1Learner(seed, method, size, rounds)
		if err != nil {
			return nil, err
		}
		if err := play(method, func(_ int, f metric.CostRound) (float64, float64, error) {
			out, err := l.Step(f)
			return out.Loss, l.Diagnostics().Acceptance(), err
		}); err != nil {
			return nil, err
		}
	}
	ftl, err := mapping.NewFTL(size.points, size.points, mapping.FTLParams{M: fig1Groups})
	if err != nil {
		return nil, err
	}
	if err := play(ftlName, func(_ int, f metric.CostRound) (float64, float64, error) {
		out, err := ftl.Step(f)
		return out.Loss, math.NaN(), err
	}); err != nil {
		return nil, err
	}
	for _, method := range strings.Split(cell.Params["EM"], ", ") {
		rng := seed.Own("EM", method)
		pi := randomMap(rng, size.points)
		if err := play(method, func(t int, f metric.CostRound) (float64, float64, error) {
			if t > 0 {
				next, err := emMap(p.x.Slice(0, size.points, 0, t), emForms[method], rng)
				if err != nil {
					return 0, 0, err
				}
				if next != nil {
					pi = next
				}
			}
			return lossOf(pi, f), math.NaN(), nil
		}); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// fig1Learner returns RMP with the settings of a method.
func fig1Learner(seed experiment.Seed, method string, size fig1Size, rounds int) (*mapping.RMP, error) {
	rule, steps, sampler := method, size.steps, mapping.Metropolis
	switch method {
	case rmpShort:
		rule, steps = rmpPrinted, size.steps/10
	case rmpHeatBath:
		rule, sampler = rmpPrinted, mapping.HeatBath
	}
	p, err := rmpParams(rule, size.points, size.points, fig1Groups, rounds)
	if err != nil {
		return nil, err
	}
	p.ChainSteps, p.Sampler = steps, sampler
	return mapping.NewRMP(seed.PCG(method), size.points, size.points, p)
}

// lossOf returns what the map pi costs in round f.
func lossOf(pi []int, f metric.CostRound) float64 {
	sum := 0.0
	for i, j := range pi {
		sum += f.Cost.At(i, j)
	}
	return sum
}

// byGroups returns what the groups cost if the points of each are mapped to its best member, of equal ones the
// first, and that map.
func byGroups(total *mat.Dense, group []int) (float64, []int) {
	sum, pi := 0.0, make([]int, len(group))
	for k := range fig1Groups {
		least, best := math.Inf(1), -1
		for j, at := range group {
			if at != k {
				continue
			}
			cost := 0.0
			for i, of := range group {
				if of == k {
					cost += total.At(i, j)
				}
			}
			if cost < least {
				least, best = cost, j
			}
		}
		for i, of := range group {
			if of == k {
				pi[i] = best
			}
		}
		if best >= 0 { // no point may have been drawn from it
			sum += least
		}
	}
	return sum, pi
}

// randomMap is what RMP predicts before it has seen anything: a uniform map to a uniform set of
// prototypes.
func randomMap(rng *rand.Rand, n int) []int {
	set := rng.Perm(n)[:fig1Groups]
	pi := make([]int, n)
	for i := range pi {
		pi[i] = set[rng.IntN(fig1Groups)]
	}
	return pi
}

// emMap sends every point to the point nearest to the mean of its component, of a mixture fitted by EM to
// the coordinates revealed so far: one run from k-means++. It is nil if all points coincide.
func emMap(revealed mat.Matrix, form cluster.Covariance, rng *rand.Rand) ([]int, error) {
	x := mat.DenseCopyOf(revealed)
	if coincide(x) {
		return nil, nil
	}
	mix, err := cluster.FitMixture(x, cluster.MixtureParams{K: fig1Groups, Covariance: form, Floor: emFloor}, rng)
	if err != nil {
		return nil, err
	}
	prototypes := mix.Prototypes(x)
	pi := mix.Assign(x)
	for i, k := range pi {
		pi[i] = prototypes[k]
	}
	return pi, nil
}

// coincide reports whether all rows are equal.
func coincide(x *mat.Dense) bool {
	n, _ := x.Dims()
	for i := 1; i < n; i++ {
		if !slices.Equal(x.RawRowView(i), x.RawRowView(0)) {
			return false
		}
	}
	return true
}
