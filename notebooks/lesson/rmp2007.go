package lesson

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/notebooks/nb"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
)

// AddRandomCosts adds a round of random costs for four prototypes.
func AddRandomCosts(rng *rand.Rand, costs [][]float64) {
	for i := range costs {
		if costs[i] == nil {
			costs[i] = make([]float64, 4)
		}
		for k := range costs[i] {
			costs[i][k] += rng.Float64()
		}
	}
}

const Places, Sensors, Duration = 6, 2, 60

// Strip returns where the three objects are in each round.
func Strip() [][]float64 {
	rng := rand.New(rand.NewPCG(2, 0))
	near := func(home float64) float64 {
		return min(
			max(math.Round(home+0.8*rng.NormFloat64()), 0), Places-1)
	}
	where, third := make([][]float64, Duration), 1.0
	for t := range where {
		if t == 20 {
			third = 5
		}
		where[t] = []float64{near(0), near(1), near(third)}
	}
	return where
}

// Serve returns what it costs to serve objects from each place.
func Serve(where []float64) metric.CostRound {
	cost := mat.NewDense(len(where), Places, nil)
	for i, x := range where {
		for j := range Places {
			cost.Set(i, j, math.Abs(x-float64(j))/(Places-1))
		}
	}
	return metric.CostRound{Cost: cost}
}

// Tracker is an RMP that has seen the first n rounds.
func Tracker(n int) *mapping.RMP {
	within("the number of rounds", n, 0, Duration)
	l := nb.Must(mapping.NewRMP(rand.NewPCG(3, 0), 3, Places,
		mapping.RMPParams{M: Sensors, Eta: mapping.EtaPrinted, Rounds: Duration}))
	for _, where := range Strip()[:n] {
		nb.Must(l.Step(Serve(where)))
	}
	return l
}

// Image is the number of prototypes that a map uses.
func Image(pi []int) int {
	used := map[int]bool{}
	for _, j := range pi {
		used[j] = true
	}
	return len(used)
}

// BruteForce returns, from the logarithms of the weights, P(S) of all sets, and of each map of
// three objects its probability under Algorithm 1 and under Eq. 1.
func BruteForce(logW func(i, j int) float64) (sets []float64, maps [][]int, alg1, eq1 []float64) {
	for a := range Places {
		for b := range Places {
			for c := range Places {
				maps = append(maps, []int{a, b, c})
			}
		}
	}
	alg1, eq1 = make([]float64, len(maps)), make([]float64, len(maps))
	weight := func(pi []int) float64 {
		return math.Exp(
			logW(0, pi[0]) + logW(1, pi[1]) + logW(2, pi[2]))
	}
	for j := range Places {
		for k := j + 1; k < Places; k++ {
			omega := 1.0
			for i := range 3 {
				omega *= math.Exp(logW(i, j)) + math.Exp(logW(i, k))
			}
			sets = append(sets, omega)
			for n, pi := range maps {
				if inside := func(v int) bool { return v == j || v == k }; inside(pi[0]) &&
					inside(pi[1]) && inside(pi[2]) {
					alg1[n] += weight(pi) // ω(S)·Π w/Σ: the sums cancel
				}
			}
		}
	}
	for n, pi := range maps {
		if Image(pi) <= Sensors {
			eq1[n] = weight(pi)
		}
	}
	for _, p := range [][]float64{sets, alg1, eq1} {
		floats.Scale(1/floats.Sum(p), p)
	}
	return sets, maps, alg1, eq1
}

// CompareMaps draws the probabilities of maps after some rounds, and says whether the library has
// the same.
func CompareMaps(rounds int) (plots.Panel, string) {
	l := Tracker(rounds)
	sets, maps, alg1, eq1 := BruteForce(l.LogWeights().At)
	n, worst := 0, 0.0
	for _, p := range l.Sets() {
		worst = max(worst, math.Abs(p-sets[n]))
		n++
	}
	marks := []plots.Points{{Name: "one place for all objects", Color: 1, Shape: 1},
		{Name: "two places", Color: 0}}
	var constant [2]float64
	for k, pi := range maps {
		p, _ := l.MapProbability(pi)
		worst = max(worst, math.Abs(p-alg1[k]))
		if used := Image(pi); used <= Sensors {
			m := &marks[used-1]
			m.X, m.Y = append(m.X, eq1[k]), append(m.Y, alg1[k])
			if used == 1 {
				constant[0], constant[1] = constant[0]+eq1[k], constant[1]+alg1[k]
			}
		}
	}
	panel := plots.Panel{Title: fmt.Sprintf("maps after %d rounds", rounds),
		XLabel: "probability by Eq. 1", YLabel: "probability by Algorithm 1", XLog: true,
		YLog: true, Equal: true}
	panel.Marks = []plots.Mark{plots.Diagonal{}, marks[0], marks[1]}
	return panel, fmt.Sprintf(
		"after %d rounds: %d sets and %d maps agree with the library to 1e-14: %t\n  one place for all has probability %.3f by Eq. 1, %.3f by Algorithm 1\n",
		rounds, n, len(maps), worst < 1e-14, constant[0], constant[1])
}

// Walk makes steps of Algorithm 2 on the toy, from {0, 1}, and calls see with each set.
func Walk(rng *rand.Rand, steps int, logW func(i, j int) float64,
	see func(step int, set [Sensors]int)) {
	logOmega := func(s [Sensors]int) (sum float64) {
		for i := range 3 {
			sum += math.Log(math.Exp(logW(i, s[0])) + math.Exp(logW(i, s[1])))
		}
		return sum
	}
	set := [Sensors]int{0, 1}
	for r := range steps {
		next := set
		for next[0] == set[0] || next[0] == set[1] {
			next[0] = rng.IntN(Places) // comes in, uniform outside
		}
		next[1] = set[rng.IntN(Sensors)] // stays; the other one goes
		if rng.Float64() < math.Exp(logOmega(next)-logOmega(set)) {
			set = next
		}
		see(r+1, set)
	}
}

// SharesOf calls see after each step with the number of the set, from 1, and the share of steps
// that were in each set.
func SharesOf(l *mapping.RMP, steps int, see func(step, set int, share []float64)) {
	place := map[[Sensors]int]int{}
	for s := range l.Sets() {
		place[[Sensors]int{s[0], s[1]}], place[[Sensors]int{s[1], s[0]}] = len(place)/2,
			len(place)/2
	}
	visits, share := make([]float64, len(place)/2), make([]float64, len(place)/2)
	Walk(rand.New(rand.NewPCG(4, 0)), steps, l.LogWeights().At, func(step int, set [Sensors]int) {
		visits[place[set]]++
		floats.ScaleTo(share, 1/float64(step), visits)
		see(step, place[set]+1, share)
	})
}

const Points, Dims, Groups = 200, 50, 4

// Blobs returns points in four groups, the group of each, and their coordinates along the two
// directions in which the groups' centres lie: group 0 is opposite to 2, and 1 to 3.
func Blobs() (x *mat.Dense, group []int, xy *mat.Dense) {
	rng := rand.New(rand.NewPCG(5, 0))
	normal := func(_, _ int, _ float64) float64 { return rng.NormFloat64() }
	axes, shown := mat.NewDense(Dims, 2, nil), new(mat.Dense)
	axes.Apply(normal, axes)
	x, group = mat.NewDense(Points, Dims, nil), make([]int, Points)
	x.Apply(normal, x)
	for i := range group {
		group[i] = i % Groups
		for t := range Dims {
			x.Set(i, t, x.At(i, t)+axes.At(t, group[i]%2)*float64(1-2*(group[i]/2)))
		}
	}
	shown.Mul(x, axes)
	return x, group, shown
}

// Reveal returns what coordinate t = 0, 1, ... costs.
func Reveal(x *mat.Dense, t int) metric.CostRound {
	within("a coordinate", t, 0, Dims-1)
	widest := 0.0
	for s := range Dims {
		v := mat.Col(nil, s, x)
		widest = max(widest, floats.Max(v)-floats.Min(v))
	}
	cost := mat.NewDense(Points, Points, nil)
	cost.Apply(func(i, j int, _ float64) float64 {
		return math.Pow((x.At(i, t)-x.At(j, t))/widest, 2)
	}, cost)
	return metric.CostRound{Cost: cost}
}

// BlobsRMP returns a learner for the points.
func BlobsRMP(seed uint64, p mapping.RMPParams) *mapping.RMP {
	return nb.Must(mapping.NewRMP(rand.NewPCG(seed, 0), Points, Points, p))
}

var Samplers = []mapping.Sampler{mapping.SampleMetropolis, mapping.SampleHeatBath}

// Cold returns ln ω(S) along a walk from a drawn set, with the weights of round t.
func Cold(seed uint64, m int, s mapping.Sampler, mean *mat.Dense, t float64) []float64 {
	l := BlobsRMP(seed, mapping.RMPParams{M: m, Sampler: s, Eta: mapping.EtaFixed,
		Rate: t * mapping.PrintedEta(Points, Points, m, Dims)})
	nb.Must(l.Step(metric.CostRound{Cost: mean}))
	return l.Diagnostics().LogOmega
}

// Climbs draws two walks of each kind with the weights of round t.
func Climbs(m, t int, mean *mat.Dense) plots.Panel {
	panel := plots.Panel{Title: fmt.Sprintf("m = %d, round %d", m, t), XLabel: "step",
		YLabel: "1 + ln ω(best) − ln ω(S)", XLog: true, YLog: true}
	var lines []plots.Line
	best := math.Inf(-1)
	for k, s := range Samplers {
		for seed := range uint64(2) {
			line := OverRounds(plots.Line{Color: k}, Cold(seed, m, s, mean, float64(t)))
			if best = max(best, floats.Max(line.Y)); seed == 0 {
				line.Name = s.String()
			}
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		for i, v := range line.Y {
			line.Y[i] = 1 + best - v
		}
		panel.Marks = append(panel.Marks, line)
	}
	return panel
}

// ThreeVectors returns round t = 0, 1, ... with squared differences.
func ThreeVectors(t int) metric.CostRound {
	v := []float64{1, float64(t % 2), 0}
	if t == 0 {
		v[0] = 0.5
	}
	cost := mat.NewDense(3, 3, nil)
	cost.Apply(func(i, j int, _ float64) float64 { return (v[i] - v[j]) * (v[i] - v[j]) }, cost)
	return metric.CostRound{Cost: cost}
}

// Clusters draws the points in the colours of their prototypes: that of its group for the first
// of a group, and one that is left for others.
func Clusters(title string, xy *mat.Dense, pi, set, group []int) plots.Panel {
	marks, free := make([]plots.Points, max(Groups, len(set))), []int{}
	prototypes := plots.Points{Name: "prototype", Color: 6, Shape: 3}
	color, taken := map[int]int{}, map[int]bool{}
	for _, j := range set {
		prototypes.X, prototypes.Y = append(prototypes.X, xy.At(j, 0)),
			append(prototypes.Y, xy.At(j, 1))
		if !taken[group[j]] {
			color[j], taken[group[j]] = group[j], true
		}
	}
	for k := range marks {
		marks[k] = plots.Points{Color: k, Shape: 0}
		if !taken[k] {
			free = append(free, k)
		}
	}
	for _, j := range set {
		if _, ok := color[j]; !ok {
			color[j], free = free[0], free[1:]
		}
	}
	for i, j := range pi {
		m := &marks[color[j]]
		m.X, m.Y = append(m.X, xy.At(i, 0)), append(m.Y, xy.At(i, 1))
	}
	panel := plots.Panel{Title: title, HideAxes: true}
	for _, m := range marks {
		if len(m.X) > 0 {
			panel.Marks = append(panel.Marks, m)
		}
	}
	panel.Marks = append(panel.Marks, prototypes)
	return panel
}

// Elements 0 to 6 are the upper row, 7 to 13 the lower one.
var Family = [][]int{{0, 1, 2, 3, 7, 8, 9, 10}, {4, 5, 11, 12}, {6, 13}, {0, 1, 2, 3, 4, 5, 6},
	{7, 8, 9, 10, 11, 12, 13}, {0, 5, 13}, {2, 8}, {6, 9, 11}}

// CoverCosts returns the matrix G of the proof.
func CoverCosts() metric.CostRound {
	g := mat.NewDense(14, len(Family), nil)
	g.Apply(func(_, _ int, _ float64) float64 { return 1 }, g)
	for j, d := range Family {
		for _, i := range d {
			g.Set(i, j, 0)
		}
	}
	return metric.CostRound{Cost: g}
}

// CoverPanel draws G, a row a set.
func CoverPanel(g metric.CostRound) plots.Panel {
	heat := plots.Heat{BarLabel: "cost"}
	elements, sets := g.Cost.Dims()
	for i := range elements {
		heat.XTicks = append(heat.XTicks, plots.Tick{At: float64(i), Label: strconv.Itoa(i)})
	}
	for j := range sets {
		heat.Z = append(heat.Z, mat.Col(nil, j, g.Cost))
		heat.YTicks = append(heat.YTicks, plots.Tick{At: float64(j), Label: strconv.Itoa(j)})
	}
	return plots.Panel{Title: "G: 0 where a set has an element", XLabel: "element", YLabel: "set",
		Marks: []plots.Mark{heat}}
}

// FewestUncovered returns how many elements the best m sets leave uncovered, by trying all families.
func FewestUncovered(m int) int {
	least := math.MaxInt
	for choice := range 1 << len(Family) {
		covered := 0
		for j, d := range Family {
			for _, i := range d {
				covered |= choice >> j & 1 << i
			}
		}
		if bits.OnesCount(uint(choice)) <= m {
			least = min(least, 14-bits.OnesCount(uint(covered)))
		}
	}
	return least
}

// FairCoin is the expected regret after n throws of a fair coin, by the law of the number of heads.
func FairCoin(n int) float64 {
	regret := 0.0
	for h := range n + 1 {
		up, _ := math.Lgamma(float64(n + 1))
		a, _ := math.Lgamma(float64(h + 1))
		b, _ := math.Lgamma(float64(n - h + 1))
		regret += math.Exp(up-a-b-float64(n)*math.Ln2) * math.Abs(float64(h)-float64(n)/2)
	}
	return regret
}

// TimesAsLikely is how many times as likely a map onto two of seven prototypes is under Algorithm 1 before the first round as
// one onto four, with m = 4.
func TimesAsLikely() float64 {
	l := nb.Must(mapping.NewRMP(rand.NewPCG(1, 0), 5, 7, mapping.RMPParams{M: 4, Eta: mapping.EtaAnytime}))
	few, _ := l.MapProbability([]int{2, 2, 5, 5, 2})
	all, _ := l.MapProbability([]int{0, 1, 2, 3, 3})
	return few / all
}

// BlobsInHindsight returns the rounds of Blobs, and of 20 runs of k-medoids on the sum of all costs the best map.
func BlobsInHindsight() ([]metric.CostRound, *cluster.Medoids) {
	x, _, _ := Blobs()
	rounds, sum := make([]metric.CostRound, Dims), mat.NewDense(Points, Points, nil)
	for t := range rounds {
		rounds[t] = Reveal(x, t)
		sum.Add(sum, rounds[t].Cost)
	}
	return rounds, nb.Must(cluster.FitFasterPAM(context.Background(), rand.New(rand.NewPCG(6, 0)), sum,
		cluster.MedoidsParams{M: Groups, Starts: 20}))
}
