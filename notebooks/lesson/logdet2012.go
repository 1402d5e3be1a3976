package lesson

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/notebooks/nb"
	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/kernels"
	"metriclab/pkg/kernels/sets"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/sparse"
	"metriclab/pkg/spectral"
	"metriclab/pkg/text"
)

// Divergence is D(W, I).
func Divergence(w mat.Symmetric) (sum float64) {
	var e mat.EigenSym
	e.Factorize(w, false)
	for _, v := range e.Values(nil) {
		sum += v - math.Log(v) - 1
	}
	return sum
}

// Difference is v = x − x′ of a pair.
func Difference(p metric.Pair) *mat.VecDense { return difference(p) }

// Price is γ; it panics unless γ > 0. Learners take 0 as their default.
func Price(gamma float64) float64 {
	if !(gamma > 0) {
		panic(fmt.Sprintf("lesson: γ is %g, want a number above 0, or +Inf for no slack", gamma))
	}
	return gamma
}

// StartLogDet is Algorithm 1 in the plane before the first projection, with the bounds Upper and Lower. It panics unless γ > 0.
func StartLogDet(rounds []metric.Pair, gamma float64) *plain.LogDetResult {
	Price(gamma)
	var xi []float64
	for _, p := range rounds {
		xi = append(xi, map[metric.Label]float64{metric.Similar: Upper, metric.Dissimilar: Lower}[p.Label])
	}
	return plain.NewLogDet(mat.NewDiagDense(2, []float64{1, 1}), xi)
}

// LogDetAfter is Algorithm 1 after n projections, one pair after the other.
func LogDetAfter(n int, rounds []metric.Pair, gamma float64) *plain.LogDetResult {
	s := StartLogDet(rounds, gamma)
	for i := range n {
		k := i % len(rounds)
		s.Project(k, difference(rounds[k]), rounds[k].Label, gamma)
	}
	return s
}

// OnePairFit fits a single similar pair with ‖v‖² = 4 and u = 0.5.
func OnePairFit(gamma float64) itml.Result {
	x := mat.NewDense(2, 2, []float64{0, 0, 1.2, 1.6})
	return nb.Must(itml.Fit(context.Background(), x, []metric.Link{{I: 0, J: 1, Label: metric.Similar}},
		itml.Params{Gamma: gamma, Upper: 0.5, Lower: 9, Tol: 1e-12}))
}

// PlaneCost is D(F, I) of a similar pair with ‖v‖² = s, of which r is outside the basis, without slack.
func PlaneCost(s, r, u float64) float64 {
	plane := nb.Must(iplr.NewBasis(context.Background(), mat.NewDense(2, 3, []float64{1, 0, 0, 0, 1, 0})))
	x := mat.NewDense(2, 3, []float64{0, 0, 0, math.Sqrt(s - r), 0, math.Sqrt(r)})
	return Divergence(nb.Must(iplr.Fit(context.Background(), x, plane, []metric.Link{{I: 0, J: 1, Label: metric.Similar}},
		iplr.Params{Gamma: math.Inf(1), Upper: u, Lower: 9, Tol: 1e-12})).F)
}

// Omegas are the eigenvalues ω for which φ′(ω) = y, under each of Prices, measured: of W that is fitted to one pair of ‖v‖² = 5
// with a multiplier at its cap.
func Omegas(y float64) (omega []float64) {
	x := mat.NewDense(2, 3, []float64{0, 0, 0, 1.2, 1.6, 1})
	phis, _ := Prices()
	for _, phi := range phis {
		fit := nb.Must(ltkernel.Fit(context.Background(), x, []ltkernel.Constraint{ltkernel.AtLeast(0, 1, 100)},
			ltkernel.Params{Divergence: phi, Slack: ltkernel.SlackL1, C: y / 5}))
		omega = append(omega, max(0, fit.Metric.SqDist(x.RawRowView(0), x.RawRowView(1))/5))
	}
	return omega
}

const Upper, Lower = 1.0, 4.0

// Objects draws n objects of two classes, whose readings drift together.
func Objects(seed uint64, n int) *datasets.Set {
	// standard deviation 1.2 along (1, 1), 0.2 across
	cov := mat.NewSymDense(2, []float64{0.74, 0.70, 0.70, 0.74})
	return nb.Must(synthetic.GaussianMixture(rand.New(rand.NewPCG(seed, 0)), []synthetic.Component{
		{Class: 0, N: n / 2, Mean: []float64{0.6, -0.6}, Cov: cov},
		{Class: 1, N: n - n/2, Mean: []float64{-0.6, 0.6}, Cov: cov},
	}))
}

// KnownPairs returns objects and n pairs of them, half of them similar. It panics unless 1 ≤ n ≤ 1,000,000.
func KnownPairs(seed uint64, n int) (*datasets.Set, []metric.Link) {
	within("the number of pairs", n, 1, 1_000_000)
	s := Objects(1, 60)
	return s, nb.Must(sample.BalancedLinks(rand.New(rand.NewPCG(seed, 0)), s.Y, n))
}

const Draw = 220

// PairsOf lists the pairs that links name.
func PairsOf(s *datasets.Set, links []metric.Link) []metric.Pair {
	return slices.Collect(sample.Pairs(s.X, links))
}

// Balls draws where d² = u and, dashed, where d² = ℓ.
func Balls(w mat.Symmetric, color int, name string, half float64) []plots.Mark {
	marks := nb.Level(plots.Line{Name: name + "d² = u", Color: color}, w, Upper, half)
	return append(marks, nb.Level(plots.Line{Name: name + "d² = ℓ", Color: color, Dashed: true}, w,
		Lower, half)...)
}

// balls are the unit balls before and after a projection, the difference v of its pair in the colour
// of its label, and where the pair is to end.
func balls(v []float64, label metric.Label, was, is *plain.LogDetResult, wanted, half float64) []plots.Mark {
	arrow := plots.Arrow{X1: v[0], Y1: v[1]}
	if label == metric.Dissimilar {
		arrow.Color = 1
	}
	marks := nb.Level(plots.Line{Name: "unit ball before", Color: plots.Grey, Dashed: true}, was.K,
		1, half)
	marks = append(marks, nb.Level(plots.Line{Name: "unit ball after", Color: 6}, is.K, 1, half)...)
	marks = append(marks, nb.Level(plots.Line{Color: arrow.Color, Dashed: true}, is.K, wanted, half)...)
	return append(marks, arrow)
}

// Projection draws projection n, counted from 1. It panics unless 1 ≤ n ≤ 10,000.
func Projection(n int, rounds []metric.Pair, gamma float64) plots.Panel {
	const half = 3.6
	within("the number of the projection", n, 1, 10_000)
	k, was, is := (n-1)%len(rounds), LogDetAfter(n-1, rounds, gamma),
		LogDetAfter(n, rounds, gamma)
	v := metric.Sub(nil, rounds[k].X, rounds[k].Y)
	marks := balls(v, rounds[k].Label, was, is, is.Xi[k], half)
	moved := "pushes"
	switch {
	case is.Lambda[k] == was.Lambda[k]:
		moved = "is content"
	case is.Lambda[k] < was.Lambda[k]:
		moved = "is let go"
	}
	return nb.Square(fmt.Sprintf("%d: pair %d %s", n, k+1, moved), half, marks...)
}

// Doubtful returns objects and 20 pairs, of which the last ones have the wrong label. It panics unless 0 ≤ wrong ≤ 20.
func Doubtful(seed uint64, wrong int) (*datasets.Set, []metric.Link) {
	within("the number of wrong labels", wrong, 0, 20)
	s, links := KnownPairs(seed, 20)
	for i := range links[20-wrong:] {
		links[20-1-i].Label *= -1
	}
	return s, links
}

// BoundsGiven is D(diag ξ, diag ξ₀): how far the bounds have given way.
func BoundsGiven(fit itml.Result, links []metric.Link) (sum float64) {
	for i, l := range links {
		r := fit.Slacks[i] / map[metric.Label]float64{
			metric.Similar: Upper, metric.Dissimilar: Lower}[l.Label]
		sum += r - math.Log(r) - 1
	}
	return sum
}

// FreshPairs returns n pairs of other objects. It panics unless 1 ≤ n ≤ 1,000,000.
func FreshPairs(n int) []metric.Pair {
	within("the number of pairs", n, 1, 1_000_000)
	s := Objects(2, 200)
	return PairsOf(s, nb.Must(sample.BalancedLinks(rand.New(rand.NewPCG(9, 0)), s.Y, n)))
}

// Misjudged is the share of pairs on the wrong side of a threshold, in per cent.
func Misjudged(d metric.SqDister, pairs []metric.Pair, threshold float64) float64 {
	n := 0
	for _, p := range pairs {
		if (d.SqDist(p.X, p.Y) <= threshold) != (p.Label == metric.Similar) {
			n++
		}
	}
	return 100 * float64(n) / float64(len(pairs))
}

// Rings draws n points on two rings.
func Rings(seed, part uint64, n int) *datasets.Set {
	return nb.Must(synthetic.Rings(rand.New(rand.NewPCG(seed, part)), n, []float64{1, 2}, 0.15))
}

// RingsKernel is the kernel of the rings.
func RingsKernel() kernels.Gaussian { return nb.Must(kernels.NewGaussian(1 / (2 * 0.4 * 0.4))) }

// RingMetrics returns 60 points, the distances of the table, and the pairs they were learned from.
func RingMetrics(seed uint64) (s *datasets.Set, names []string, metrics []metric.SqDister,
	links []metric.Link) {
	s = Rings(seed, 1, 60)
	links = nb.Must(sample.PerClassLinks(rand.New(rand.NewPCG(seed, 3)), s.Y, 2, 60, 60))
	linear := nb.Must(itml.Fit(context.Background(), s.X, links, itml.Params{}))
	fit := nb.Must(itml.FitKernelRows(context.Background(), RingsKernel(), s.X, links,
		itml.KernelParams{}))
	return s, []string{"Euclidean", "LogDet Linear", "Gaussian kernel, W = I", "LogDet Gaussian"},
		[]metric.SqDister{metric.Euclidean{}, linear.Metric,
			nb.Must(kernels.NewTransformed(RingsKernel(), 1, 2, nil, nil)),
			nb.Must(fit.Kernel(RingsKernel(), s.X))}, links
}

// NewRingPairs returns 400 pairs of 300 other points of the rings.
func NewRingPairs(seed uint64) []metric.Pair {
	s := Rings(seed, 2, 300)
	return PairsOf(s, nb.Must(sample.BalancedLinks(rand.New(rand.NewPCG(seed, 4)), s.Y, 400)))
}

// NeighbourErrors is the share of test points that the 10 nearest neighbours classify wrongly, in per
// cent.
func NeighbourErrors(m metric.SqDister, x *mat.Dense, y []int, testX *mat.Dense, testY []int) float64 {
	wrong := nb.Must(nb.Must(nearest.NewKNN(m, x, y, nearest.KNNOptions{})).Errors(
		context.Background(), testX, testY, []int{10}))
	return 100 * float64(wrong[0]) / float64(len(testY))
}

// DistanceFrom is the squared distance from a point to the places of the plane, in bands of a tenth of
// the mean of dissimilar pairs.
func DistanceFrom(m metric.SqDister, x, y float64, apart []metric.Pair) plots.Heat {
	mean := 0.0
	for _, p := range apart {
		mean += m.SqDist(p.X, p.Y) / float64(len(apart))
	}
	const side, half = 101, 2.75
	heat := plots.Heat{Min: 0, Max: 1.6, BarLabel: "d², relative"}
	at := func(i int) float64 { return half * (2*float64(i)/(side-1) - 1) }
	for i := range side {
		row := make([]float64, side)
		for j := range side {
			row[j] = min(math.Floor(10*m.SqDist([]float64{x, y},
				[]float64{at(j), at(side - 1 - i)})/mean)/10, 1.6)
		}
		heat.Z = append(heat.Z, row)
	}
	for _, v := range []float64{-2, -1, 0, 1, 2} {
		i, label := (v/half+1)/2*(side-1), strings.ReplaceAll(fmt.Sprint(v), "-", "−")
		heat.XTicks, heat.YTicks = append(heat.XTicks, plots.Tick{At: i, Label: label}),
			append(heat.YTicks, plots.Tick{At: side - 1 - i, Label: label})
	}
	return heat
}

// Chart is the plane of the two largest principal axes of points in the space of a kernel.
type Chart struct {
	K      kernels.Kernel
	X      *mat.Dense
	Mean   []float64  // of the rows of K
	Values []float64  // of the centred K, the largest two
	Axes   *mat.Dense // n×2, their eigenvectors
}

func NewChart(k kernels.Kernel, x *mat.Dense) *Chart {
	gram := kernels.Gram(k, x)
	n := gram.SymmetricDim()
	c := &Chart{K: k, X: x, Mean: make([]float64, n)}
	for i := range n {
		c.Mean[i] = stat.Mean(mat.Row(nil, i, gram), nil)
	}
	centred, all := mat.NewSymDense(n, nil), mat.Sum(gram)/float64(n*n)
	for i := range n {
		for j := range i + 1 {
			centred.SetSym(i, j, gram.At(i, j)-c.Mean[i]-c.Mean[j]+all)
		}
	}
	var e spectral.EigenSym
	if !e.Factorize(centred, true) {
		panic("no eigenvalues")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	values := e.Values(nil)
	c.Values, c.Axes = []float64{values[n-1], values[n-2]}, mat.NewDense(n, 2, nil)
	c.Axes.SetCol(0, mat.Col(nil, n-1, &v))
	c.Axes.SetCol(1, mat.Col(nil, n-2, &v))
	return c
}

// Place returns where a point is, known or new, from its kernel with the points.
func (c *Chart) Place(z []float64) (at [2]float64) {
	n, _ := c.X.Dims()
	kz, mean := make([]float64, n), 0.0
	for i := range kz {
		kz[i] = c.K.Eval(z, c.X.RawRowView(i))
		mean += kz[i] / float64(n)
	}
	// less the means over the points; what is equal for all i has no effect, as axes sum to
	// 0
	for i := range kz {
		for a := range at {
			at[a] += (kz[i] - c.Mean[i]) * c.Axes.At(i, a) / math.Sqrt(c.Values[a])
		}
	}
	return at
}

// Dropped draws the points and a new one at a radius, in the plane and in the learned space.
func Dropped(radius float64) plots.Drawing {
	s, _, metrics, _ := RingMetrics(0)
	c := NewChart(metrics[3].(*kernels.Transformed), s.X)
	placed := mat.NewDense(60, 2, nil)
	for i := range 60 {
		at := c.Place(s.X.RawRowView(i))
		placed.SetRow(i, at[:])
	}
	plane := plots.Line{Name: "its way", Color: plots.Grey}
	space := plane
	ray := func(r float64) []float64 { return []float64{0.8 * r, 0.6 * r} }
	for r := 0.0; r <= 2.6; r += 0.02 {
		z := ray(r)
		at := c.Place(z)
		plane.X, plane.Y, space.X, space.Y = append(plane.X, z[0]), append(plane.Y, z[1]),
			append(space.X, at[0]), append(space.Y, at[1])
	}
	z := ray(radius)
	at := c.Place(z)
	here := plots.Points{Name: "new point", X: z[:1], Y: z[1:], Color: 6, Shape: 6}
	there := plots.Points{Name: "new point", X: at[:1], Y: at[1:], Color: 6, Shape: 6}
	return plots.Drawing{Columns: 2, Panels: []plots.Panel{
		{Title: fmt.Sprintf("a new point at radius %.1f", radius), XLabel: "x₁", YLabel: "x₂",
			Equal: true, XMin: -2.6, XMax: 2.6, YMin: -2.6, YMax: 2.6,
			Marks: append(nb.Classes(s.X, s.Y), plane, here)},
		{Title: "the learned space", XLabel: "first principal axis",
			YLabel: "second principal axis", Marks: append(nb.Classes(placed, s.Y), space, there)},
	}}
}

// FarOut counts the points that binding pairs join, and says whether the one farthest along the second axis is among them.
func FarOut() (joined int, bound bool) {
	s, _, _, links := RingMetrics(0)
	fit := nb.Must(itml.FitKernelRows(context.Background(), RingsKernel(), s.X, links, itml.KernelParams{}))
	c, far := NewChart(nb.Must(fit.Kernel(RingsKernel(), s.X)), s.X), 0
	for i := range s.Y {
		if c.Place(s.X.RawRowView(i))[1] > c.Place(s.X.RawRowView(far))[1] {
			far = i
		}
	}
	return len(fit.Support), slices.Contains(fit.Support, far)
}

// WineLike draws three classes with six measurements in very different units.
func WineLike() *datasets.Set {
	scale := []float64{0.5, 0.3, 3, 10, 0.2, 300}
	cov, means := mat.NewSymDense(6, nil), [3][]float64{}
	for i := range scale {
		for j := range i {
			cov.SetSym(i, j, 0.5*scale[i]*scale[j]) // correlation 0.5
		}
		cov.SetSym(i, i, scale[i]*scale[i])
	}
	for c, away := range [][]float64{{1, 0, -1, 0.5, 0, 1}, {-1, -0.5, 0.5, 0, 1, -0.5},
		{0, 1.5, 0.5, 0, -1, -0.5}} {
		for i := range scale {
			means[c] = append(means[c], 5*scale[i]+away[i]*scale[i])
		}
	}
	return nb.Must(synthetic.GaussianMixture(rand.New(rand.NewPCG(178, 0)), []synthetic.Component{
		{Class: 0, N: 59, Mean: means[0], Cov: cov}, {Class: 1, N: 71, Mean: means[1], Cov: cov},
		{Class: 2, N: 48, Mean: means[2], Cov: cov}}))
}

// Method learns a distance from rows with labels, and from pairs of them.
type Method struct {
	Name  string
	Learn func(x *mat.Dense, y []int, links []metric.Link) metric.SqDister
}

// capped keeps the slowest fits short.
func capped(w0 mat.Symmetric) itml.Params { return itml.Params{W0: w0, MaxCycles: 100} }

func Methods() []Method {
	return []Method{
		{"Euclidean", func(*mat.Dense, []int, []metric.Link) metric.SqDister {
			return metric.Euclidean{}
		}},
		{"inverse covariance", func(x *mat.Dense, _ []int, _ []metric.Link) metric.SqDister {
			return nb.Must(labels.FitInvCov(context.Background(), x, labels.InvCovParams{})).Metric
		}},
		{"LogDet Linear", func(x *mat.Dense, _ []int, links []metric.Link) metric.SqDister {
			return nb.Must(itml.Fit(context.Background(), x, links, capped(nil))).Metric
		}},
		{"LogDet-InvCov", func(x *mat.Dense, _ []int, links []metric.Link) metric.SqDister {
			return nb.Must(itml.Fit(context.Background(), x, links,
				capped(nb.Must(labels.ITMLStart(context.Background(), x,
					labels.InvCovParams{}))))).Metric
		}},
		{"LogDet Gaussian", func(x *mat.Dense, _ []int, links []metric.Link) metric.SqDister {
			k := nb.Must(kernels.MedianGaussian(nil, x))
			return nb.Must(nb.Must(itml.FitKernelRows(
				context.Background(), k, x, links, itml.KernelParams{MaxCycles: 100})).Kernel(k, x))
		}},
		{"LMNN", func(x *mat.Dense, y []int, _ []metric.Link) metric.SqDister {
			return nb.Must(labels.FitLMNN(context.Background(), x, y, labels.LMNNParams{})).Metric
		}},
		{"MCML", func(x *mat.Dense, y []int, _ []metric.Link) metric.SqDister {
			return nb.Must(labels.FitMCML(context.Background(), x, y, labels.MCMLParams{})).Metric
		}},
	}
}

// JudgeMethods returns the error of each method in two-fold cross-validation, twice, in per cent.
func JudgeMethods(s *datasets.Set, scaling datasets.Preprocessing, ms []Method) []float64 {
	wrong := make([]float64, len(ms))
	for seed := range uint64(2) {
		fold := sample.StratifiedFolds(rand.New(rand.NewPCG(seed, 6)), s.Y, 2)
		for f := range 2 {
			var rows [2][]int // for learning, for testing
			for i, in := range fold {
				if in == f {
					rows[1] = append(rows[1], i)
				} else {
					rows[0] = append(rows[0], i)
				}
			}
			scaler, _, err := datasets.FitScaler(s.Rows(rows[0]), scaling, false)
			nb.Check(err)
			var x [2]*mat.Dense
			var y [2][]int
			for part := range rows {
				x[part] = nb.Must(scaler.Apply(s.Rows(rows[part])))
				for _, i := range rows[part] {
					y[part] = append(y[part], s.Y[i])
				}
			}
			links := nb.Must(sample.EachClassLinks(rand.New(rand.NewPCG(seed, 7)), y[0], 100))
			for i, m := range ms {
				wrong[i] += NeighbourErrors(m.Learn(x[0], y[0], links), x[0], y[0], x[1], y[1]) / 4
			}
		}
	}
	return wrong
}

// ClusteredBy returns the clusters of objects by three methods, from pairs among the first 40 of
// 120 rows.
func ClusteredBy(seed uint64, n int) (s *datasets.Set, names []string, by [][]int) {
	s = Objects(seed, 120)
	order := rand.New(rand.NewPCG(seed, 8)).Perm(120) // classes mixed
	s = &datasets.Set{X: s.Rows(order), Y: func() (y []int) {
		for _, i := range order {
			y = append(y, s.Y[i])
		}
		return y
	}()}
	links := nb.Must(sample.DistinctLinks(rand.New(rand.NewPCG(seed, 9)), s.Y[:40], n))
	p, rng := cluster.KMeansParams{K: 2, Starts: 10},
		func() *rand.Rand { return rand.New(rand.NewPCG(seed, 10)) }
	fit := nb.Must(itml.Fit(context.Background(), s.X, links, itml.Params{}))
	return s, []string{"k-means", "HMRF-KMeans", "LogDet, k-means"}, [][]int{
		nb.Must(cluster.FitKMeans(context.Background(), rng(), s.X, p)).Assignment,
		nb.Must(cluster.FitHMRF(context.Background(), rng(), s.X, links,
			cluster.HMRFParams{KMeansParams: p})).Assignment,
		nb.Must(cluster.FitMetricKMeans(context.Background(), rng(), s.X, fit.Metric,
			p)).Assignment,
	}
}

// named gives marks their names, one after the other.
func named(marks []plots.Mark, name func(i int) string) []plots.Mark {
	for i := range marks {
		m := marks[i].(plots.Points)
		m.Name = name(i)
		marks[i] = m
	}
	return marks
}

// ClusterMarks draws points in the colours of their clusters.
func ClusterMarks(x *mat.Dense, of []int) []plots.Mark {
	return named(nb.Classes(x, of), func(i int) string { return fmt.Sprintf("cluster %d", i+1) })
}

// Unmatched is the share of the rows without pairs that are not in the cluster of their class,
// in per cent.
func Unmatched(s *datasets.Set, a []int) float64 {
	n := 0.0
	for i := 40; i < 120; i++ {
		if a[i] != s.Y[i] {
			n++
		}
	}
	return 100 * min(n, 80-n) / 80 // clusters have no names
}

const Near, Apart = 4.0, 9.0

// Vocabulary has the two words of the plane first.
var Vocabulary = []string{"car", "auto", "doctor", "new", "price"}

// WordCounts counts the words of four documents, a row each, and links them.
func WordCounts() (x *mat.Dense, links []metric.Link) {
	x = mat.NewDense(4, len(Vocabulary), nil)
	for i, text := range []string{"car car price", "auto auto new", "doctor doctor price",
		"doctor new"} {
		for _, word := range strings.Fields(text) {
			j := slices.Index(Vocabulary, word)
			x.Set(i, j, x.At(i, j)+1)
		}
	}
	return x, []metric.Link{{I: 0, J: 1, Label: metric.Similar},
		{I: 0, J: 2, Label: metric.Dissimilar}, {I: 1, J: 3, Label: metric.Dissimilar},
		{I: 2, J: 3, Label: metric.Similar}}
}

// InPlane returns z of each link, the rests r, and the state of Algorithm 1 with the bounds
// u − r and ℓ − r after n projections.
func InPlane(n int) (zs []metric.Pair, rests []float64, s *plain.LogDetResult) {
	x, links := WordCounts()
	var xi []float64
	for _, l := range links {
		v := metric.Sub(nil, x.RawRowView(l.I), x.RawRowView(l.J))
		r := v[2]*v[2] + v[3]*v[3] + v[4]*v[4]
		bound := map[metric.Label]float64{metric.Similar: Near, metric.Dissimilar: Apart}[l.Label]
		zs = append(zs, metric.Pair{X: v[:2], Y: []float64{0, 0}, Label: l.Label})
		rests, xi = append(rests, r), append(xi, bound-r)
	}
	s = plain.NewLogDet(mat.NewDiagDense(2, []float64{1, 1}), xi)
	for i := range n { // projections
		k := i % len(zs)
		s.Project(k, Difference(zs[k]), zs[k].Label, math.Inf(1))
	}
	return zs, rests, s
}

// PlaneStep draws projection n, counted from 1, in the plane of the two words. It panics unless 1 ≤ n ≤ 10,000.
func PlaneStep(n int) plots.Panel {
	const half = 2.9
	within("the number of the projection", n, 1, 10_000)
	zs, _, was := InPlane(n - 1)
	_, _, is := InPlane(n)
	k := (n - 1) % len(zs)
	marks := balls(zs[k].X, zs[k].Label, was, is, is.Xi[k], half)
	panel := nb.Square(fmt.Sprintf("%d: %v (%s)", n, zs[k].Label,
		[]string{"1 and 2", "1 and 3", "2 and 4", "3 and 4"}[k]), half, marks...)
	panel.XLabel, panel.YLabel = "z₁ (car)", "z₂ (auto)"
	return panel
}

// Prices are four φ, and what the figures call them.
func Prices() ([]ltkernel.Divergence, []string) {
	return []ltkernel.Divergence{ltkernel.LogDet(), ltkernel.VonNeumann(),
			nb.Must(ltkernel.Frobenius(1)), nb.Must(ltkernel.Trace(1))},
		[]string{"LogDet", "von Neumann", "Frobenius", "trace"}
}

// Bounded asks for d² ≤ u of similar pairs and d² ≥ ℓ of dissimilar ones.
func Bounded(links []metric.Link, u, l float64) (c []ltkernel.Constraint) {
	for _, link := range links {
		if link.Label == metric.Similar {
			c = append(c, ltkernel.AtMost(link.I, link.J, u))
		} else {
			c = append(c, ltkernel.AtLeast(link.I, link.J, l))
		}
	}
	return c
}

// Noisy is the objects of part 2 with six features of noise behind the two readings, and 40 pairs.
func Noisy() (*mat.Dense, []metric.Link) {
	s, links := KnownPairs(Draw, 40)
	x, rng := mat.NewDense(60, 8, nil), rand.New(rand.NewPCG(5, 0))
	for i := range 60 {
		copy(x.RawRowView(i), s.X.RawRowView(i))
		for j := 2; j < 8; j++ {
			x.Set(i, j, 0.7*rng.NormFloat64())
		}
	}
	return x, links
}

// FewPairs returns 60 points of the rings, constraints of 30 pairs, and the points that these name.
func FewPairs(seed uint64) (s *datasets.Set, asked []ltkernel.Constraint, named []int) {
	s = Rings(seed, 1, 60)
	links := nb.Must(sample.PerClassLinks(rand.New(rand.NewPCG(seed, 3)), s.Y, 2, 10, 10))
	for _, l := range links {
		named = append(named, l.I, l.J)
	}
	slices.Sort(named)
	return s, Bounded(links, 0.5, 2.5), slices.Compact(named)
}

var NewsGroups = []string{"comp.graphics", "rec.sport.hockey", "sci.med", "sci.space",
	"talk.politics.guns"}

// MapOfPosts draws the first 60 posts of each group on the two principal axes of x.
func MapOfPosts(title string, x, y *mat.Dense, group []int) plots.Panel {
	at, count := nb.Must(labels.FitLSA(context.Background(), x,
		labels.LSAParams{K: 2, Centred: true})).Transform(y), make([]int, len(NewsGroups))
	shown, g := mat.NewDense(60*len(NewsGroups), 2, nil), []int{}
	for i, class := range group {
		if count[class] < 60 {
			count[class]++
			shown.SetRow(len(g), at.RawRowView(i))
			g = append(g, class)
		}
	}
	return plots.Panel{Title: title, XLabel: "first principal axis",
		YLabel: "second principal axis", Marks: named(nb.Classes(shown, g), func(i int) string { return NewsGroups[i] })}
}

// Sandwich is JLJᵀ.
func Sandwich(j *mat.Dense, l mat.Symmetric) *mat.SymDense {
	n, k := j.Dims()
	var jl mat.Dense
	jl.Mul(j, l)
	out := mat.NewSymDense(n, nil)
	for a := range n {
		for b := range a + 1 {
			out.SetSym(a, b, mat.Dot(mat.NewVecDense(k, jl.RawRowView(a)), j.RowView(b)))
		}
	}
	return out
}

// Posts are rows of tf-idf and their groups.
type Posts struct {
	X *sparse.Matrix
	Y []int
}

// News returns 200 posts of each of NewsGroups to learn from, as many later ones to test, and the stems. Vocabulary and idf are
// of the first only.
func News() (train, test Posts, words *text.Vectorizer) {
	first, later, err := datasets.Open("../data").Newsgroups20(datasets.PostHeadersDrop)
	nb.Check(err)
	analyzer, bags, y := text.NewAnalyzer(text.StemmerPorter), [2][]text.Bag{}, [2][]int{}
	for part, t := range []*datasets.Texts{first, later} {
		count := make([]int, len(NewsGroups))
		for i, class := range t.Y {
			if g := slices.Index(NewsGroups, t.Classes[class]); g >= 0 && count[g] < 200 {
				count[g]++
				bags[part], y[part] = append(bags[part], analyzer.Bag(t.Docs[i].Text)), append(y[part], g)
			}
		}
	}
	words = nb.Must(text.FitVectorizer(bags[0], text.VectorizerParams{Size: 2000}))
	return Posts{nb.Must(words.Matrix(bags[0])), y[0]}, Posts{nb.Must(words.Matrix(bags[1])), y[1]}, words
}

// Links draws 100 similar and 100 dissimilar pairs of posts for each group.
func (p Posts) Links() []metric.Link {
	return nb.Must(sample.EachClassLinks(rand.New(rand.NewPCG(1, 7)), p.Y, 100))
}

// Heaviest lists the n stems with the largest weights, and these.
func Heaviest(words *text.Vectorizer, weights []float64, n int) string {
	order, out := make([]int, len(weights)), make([]string, min(n, len(weights)))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(weights[b]), math.Abs(weights[a])) })
	for i := range out {
		term, _ := words.Term(order[i])
		out[i] = fmt.Sprintf("%s %+.2f", term, weights[order[i]])
	}
	return strings.Join(out, ", ")
}

// StemWeights is the diagonal of W − I = U(F − I)Uᵀ.
func StemWeights(fit iplr.Result) []float64 {
	u := fit.Metric.Basis() // the vectors in rows
	k, d := u.Dims()
	var fu mat.Dense
	fu.Mul(fit.F, u)
	weights := make([]float64, d)
	for t := range weights {
		for a := range k {
			weights[t] += u.At(a, t) * (fu.At(a, t) - u.At(a, t))
		}
	}
	return weights
}

// ZipDigits draws 100 labelled digits, ten of each, and 500 others.
func ZipDigits(seed uint64) (known, others *datasets.Set) {
	all := nb.Must(datasets.Open("../data").Set("usps"))
	var first, rest []int
	count := make([]int, 10)
	for _, i := range rand.New(rand.NewPCG(seed, 19)).Perm(datasets.USPSTrain) {
		if y := all.Y[i]; count[y] < 10 {
			count[y]++
			first = append(first, i)
		} else if len(rest) < 500 {
			rest = append(rest, i)
		}
	}
	return &datasets.Set{X: all.Rows(first), Y: all.Labels(first)}, &datasets.Set{X: all.Rows(rest), Y: all.Labels(rest)}
}

// Flat has the first two coordinates of rows under a metric; those that there are not are 0.
func Flat(m *kernels.Metric, x mat.Matrix) *mat.Dense {
	z := m.EmbedRows(x)
	n, r := z.Dims()
	out := mat.NewDense(n, 2, nil)
	if r > 0 {
		out.Slice(0, n, 0, min(r, 2)).(*mat.Dense).Copy(z)
	}
	return out
}

// OnLine is the kernel of the package, for sets of numbers from 0 to 8. It panics on others, and on an empty set.
func OnLine(a, b []float64) float64 {
	for _, set := range [][]float64{a, b} {
		within("the size of a set", len(set), 1, 1_000_000)
		for _, v := range set {
			if !(v >= 0 && v <= 8) {
				panic(fmt.Sprintf("lesson: a number of a set is %g, want 0 to 8", v))
			}
		}
	}
	k := nb.Must(sets.NewPyramid(sets.PyramidParams{
		Low: []float64{0}, High: []float64{8}, Side: []float64{1}}))
	p, q := nb.Must(k.Prepare(mat.NewDense(len(a), 1, a))),
		nb.Must(k.Prepare(mat.NewDense(len(b), 1, b)))
	return k.Eval(p, q)
}
