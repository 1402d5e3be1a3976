package pola2004

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/spectral"
	"metriclab/pkg/table"
)

// Methods of the rings beside POLA and the Euclidean metric.
const (
	kernelGaussian  = "kernel POLA, Gaussian"
	kernelQuadratic = "kernel POLA, quadratic"
	ringsSeparated  = 0.05 // the error that counts as having separated the rings
)

var (
	ringRadii = []float64{1, 3}
	ringNoise = 0.15
)

// ringSizes are the points of each half, the pairs to learn from and to judge by.
func ringSizes(scale experiment.Scale) (points, train, test int) {
	if scale == experiment.Smoke {
		return 60, 100, 200
	}
	return 200, 1000, 5000
}

// Rings shows what the kernel version of POLA (Section 3.3) is for: two rings,
// which no linear metric separates.
var Rings = experiment.Spec{
	ID:      "pola2004/rings",
	Title:   "Two rings that no linear metric separates: Euclidean, POLA, kernel POLA",
	Source:  "Section 3.3, which has no experiment",
	Ours:    true,
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		points, train, test := ringSizes(scale)
		return []experiment.Cell{{
			Name: "rings", Dataset: "rings",
			Params: map[string]string{
				"points": strconv.Itoa(points), "pairs": strconv.Itoa(train), "test-pairs": strconv.Itoa(test),
				"radii": fmt.Sprint(ringRadii), "noise": table.Format(ringNoise),
			},
			Methods: map[string]int{pola: pairs.POLAVersion, kernelGaussian: pairs.KernelPOLAVersion},
		}}
	},
	Trials: experiment.Trials(10),
	Index:  []string{"kind", "method", "pairs", "ring"},
	Values: []string{"error", "x", "y"},
	Trial:  ringsTrial,
	Views: []experiment.View{
		{Name: "rings", Title: "Two rings under three metrics, and the error on new pairs", Draw: drawRings},
	},
	Claims: []experiment.Claim{{
		ID:        "rings-kernel",
		View:      "rings",
		Statement: "Ours: kernel POLA separates two rings, which no linear metric does: its error on new pairs is below 5 %, and below that of POLA and of the Euclidean metric.",
		Where:     "Section 3.3", Theirs: "not in the paper",
		Predicate: "After all pairs: 5 % − error of kernel POLA > 0, and error of POLA − error of kernel POLA > 0, and the same against Euclidean with its best threshold; for the Gaussian kernel with the median width and the quadratic kernel.",
		Grade:     gradeRings,
	}},
	Cost: 2 * time.Second,
}

func ringsTrial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	points, nTrain, nTest := ringSizes(env.Scale)
	train, err := datasets.Rings(seed.Stream("training points"), points, ringRadii, ringNoise)
	if err != nil {
		return nil, err
	}
	test, err := datasets.Rings(seed.Stream("test points"), points, ringRadii, ringNoise)
	if err != nil {
		return nil, err
	}
	trainLinks, err := datasets.BalancedLinks(seed.Stream("training pairs"), train.Y, nTrain)
	if err != nil {
		return nil, err
	}
	testLinks, err := datasets.BalancedLinks(seed.Stream("test pairs"), test.Y, nTest)
	if err != nil {
		return nil, err
	}
	judge := slices.Collect(datasets.Pairs(test.X, testLinks))
	learn := slices.Collect(datasets.Pairs(train.X, trainLinks))

	gaussian, err := kernels.MedianGaussian(train.X, seed.Stream("median"))
	if err != nil {
		return nil, err
	}
	quadratic, err := kernels.NewPolynomial(2, 1)
	if err != nil {
		return nil, err
	}
	rows := table.New([]string{"kind", "method", "pairs", "ring"}, []string{"error", "x", "y"})
	addPoints := func(method string, z *mat.Dense) {
		for i, y := range test.Y {
			rows.Add(table.Key{"kind": "point", "method": method, "ring": test.Classes[y]}, table.Values{"x": z.At(i, 0), "y": z.At(i, 1)})
		}
	}
	if seed.Trial == 0 {
		addPoints(euclidean, test.X)
	}
	for _, n := range checkpoints(nTrain) {
		wrong := wrongAt(judge, bestThreshold(learn[:n]))
		rows.Add(table.Key{"kind": "error", "method": euclidean, "pairs": strconv.Itoa(n)}, table.Values{"error": float64(wrong) / float64(len(judge))})
	}
	for _, m := range []struct {
		name  string
		build func() (learners.Pair, error)
	}{
		{pola, func() (learners.Pair, error) { return pairs.NewPOLA(2, pairs.POLAParams{}) }},
		{kernelGaussian, func() (learners.Pair, error) { return pairs.NewKernelPOLA(2, gaussian, pairs.POLAParams{}) }},
		{kernelQuadratic, func() (learners.Pair, error) { return pairs.NewKernelPOLA(2, quadratic, pairs.POLAParams{}) }},
	} {
		end := env.Lap(m.name)
		l, err := m.build()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		done := 0
		for _, n := range checkpoints(nTrain) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for ; done < n; done++ {
				if _, err := l.Step(learn[done]); err != nil {
					return nil, fmt.Errorf("%s: %w", m.name, err)
				}
			}
			wrong := 0
			for _, p := range judge {
				if l.Predict(p).Similar != (p.Label == metric.Similar) {
					wrong++
				}
			}
			rows.Add(table.Key{"kind": "error", "method": m.name, "pairs": strconv.Itoa(n)}, table.Values{"error": float64(wrong) / float64(len(judge))})
		}
		end()
		if seed.Trial == 0 {
			z, err := coordinates(l, test.X)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			addPoints(m.name, z)
		}
	}
	return rows, nil
}

// checkpoints are the numbers of pairs after which errors are taken.
func checkpoints(pairs int) []int {
	var out []int
	for n := 10; n < pairs; n *= 2 {
		out = append(out, n)
	}
	return append(out, pairs)
}

// bestThreshold returns the squared Euclidean distance at which "similar iff d² ≤ b"
// makes the fewest mistakes on some pairs; the smallest of equals.
func bestThreshold(given []metric.Pair) float64 {
	at := []float64{0}
	for _, p := range given {
		at = append(at, metric.Euclidean{}.SqDist(p.X, p.Y))
	}
	best, least := 0.0, math.MaxInt
	slices.Sort(at)
	for _, b := range at {
		if wrong := wrongAt(given, b); wrong < least {
			best, least = b, wrong
		}
	}
	return best
}

// wrongAt counts the pairs about which "similar iff d² ≤ b" is wrong, d Euclidean.
func wrongAt(given []metric.Pair, b float64) int {
	wrong := 0
	for _, p := range given {
		if (metric.Euclidean{}.SqDist(p.X, p.Y) <= b) != (p.Label == metric.Similar) {
			wrong++
		}
	}
	return wrong
}

// coordinates returns the two principal coordinates of points under a learned
// distance: the leading eigenvectors of the centred Gram matrix −½JD²J, scaled by
// the roots of their eigenvalues (Torgerson 1952).
func coordinates(l learners.Pair, x *mat.Dense) (*mat.Dense, error) {
	n, _ := x.Dims()
	sq := mat.NewSymDense(n, nil)
	means := make([]float64, n)
	total := 0.0
	for i := range n {
		for j := range n {
			d := l.Predict(metric.Pair{X: x.RawRowView(i), Y: x.RawRowView(j)}).SqDist
			if j >= i {
				sq.SetSym(i, j, d)
			}
			means[i] += d / float64(n)
			total += d / float64(n*n)
		}
	}
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, -(sq.At(i, j)-means[i]-means[j]+total)/2)
		}
	}
	var eig spectral.EigenSym
	if !eig.Factorize(gram, true) {
		return nil, fmt.Errorf("pola2004: eigendecomposition of distances did not converge")
	}
	var v mat.Dense
	eig.VectorsTo(&v)
	values := eig.Values(nil)
	out := mat.NewDense(n, 2, nil)
	for k := range 2 {
		col := mat.Col(nil, n-1-k, &v)
		metric.FixSign(col)
		for i, a := range col {
			out.Set(i, k, a*math.Sqrt(math.Max(values[n-1-k], 0)))
		}
	}
	return out, nil
}

func drawRings(t *table.Table) (plots.Drawing, error) {
	points, errs := t.Where("kind", "point"), t.Where("kind", "error")
	if points.Len() == 0 || errs.Len() == 0 {
		return plots.Missing("the first trial"), nil
	}
	d := plots.Drawing{Columns: 2}
	for _, m := range []struct{ name, title string }{{euclidean, "the points"}, {pola, "under POLA"}, {kernelGaussian, "under kernel POLA (Gaussian)"}} {
		p := plots.Panel{Title: m.title, XLabel: "first coordinate", YLabel: "second coordinate", Equal: m.name == euclidean}
		for k, ring := range points.Unique("ring") {
			if k > 1 {
				return d, fmt.Errorf("pola2004: column ring: %q is a third ring, want two", ring)
			}
			g := points.Where("method", m.name, "ring", ring)
			p.Marks = append(p.Marks, plots.Points{Name: []string{"inner ring", "outer ring"}[k], X: g.Values("x"), Y: g.Values("y"), Color: k, Shape: k})
		}
		d.Panels = append(d.Panels, p)
	}
	p := plots.Panel{Title: "new pairs", XLabel: "pairs learned from", YLabel: "error (%)", XLog: true}
	for k, method := range errs.Unique("method") {
		line := plots.Line{Name: method, Color: k}
		for n, g := range errs.Where("method", method).Group("pairs") {
			x, err := strconv.ParseFloat(n, 64)
			if err != nil {
				return d, err
			}
			e, half := experiment.Summarize(g.Values("error")).Interval()
			line.X, line.Y = append(line.X, x), append(line.Y, 100*e)
			if half > 0 || line.Lo != nil {
				line.Lo, line.Hi = append(line.Lo, 100*(e-half)), append(line.Hi, 100*(e+half))
			}
		}
		if len(line.Lo) != len(line.X) {
			line.Lo, line.Hi = nil, nil
		}
		p.Marks = append(p.Marks, line)
	}
	d.Panels = append(d.Panels, p)
	d.Caption = fmt.Sprintf("Points on two rings (radii %s and %s, Gaussian noise %s). Top left: test points. Top right and bottom left: the same points by the two principal coordinates of their distances under the learned metric (first trial). "+
		"Bottom right: share of new pairs, half of them similar, on which d² ≤ b is wrong, against the number of pairs learned from, one pass; Euclidean takes the threshold with the fewest mistakes on the pairs so far. "+
		"No linear metric can be right: two opposite points of the outer ring are farther apart, in whatever direction, than the two rings. The Gaussian kernel has the median width, the quadratic one is (x·z + 1)². γ = 0, b₁ = 1. %s",
		table.Format(ringRadii[0]), table.Format(ringRadii[1]), table.Format(ringNoise), trialsNote(t))
	return d, nil
}

func gradeRings(t *table.Table) (experiment.Finding, error) {
	errs := t.Where("kind", "error")
	all := errs.Unique("pairs")
	if len(all) == 0 {
		return experiment.Finding{}, fmt.Errorf("pola2004: no errors to grade")
	}
	last := errs.Where("pairs", all[len(all)-1])
	return readings(t, []string{kernelGaussian, kernelQuadratic}, func(kernel string) (experiment.Finding, error) {
		ours := last.Where("method", kernel).Values("error")
		limit := make([]float64, len(ours))
		for i := range limit {
			limit[i] = ringsSeparated
		}
		var units []experiment.Unit
		for _, rival := range []struct {
			name   string
			values []float64
		}{{"5 %", limit}, {pola, last.Where("method", pola).Values("error")}, {euclidean, last.Where("method", euclidean).Values("error")}} {
			diff, err := difference(rival.values, ours)
			if err != nil {
				return experiment.Finding{}, err
			}
			units = append(units, experiment.Unit{Name: "against " + rival.name, Diffs: diff})
		}
		f, err := experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points"})
		if err == nil {
			f.Ours = fmt.Sprintf("%s %% against %s %% (POLA) and %s %% (Euclidean)", experiment.Summarize(ours).Percent(),
				experiment.Summarize(last.Where("method", pola).Values("error")).Percent(), experiment.Summarize(last.Where("method", euclidean).Values("error")).Percent())
		}
		return f, err
	})
}
