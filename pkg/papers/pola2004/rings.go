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
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/spectral"
	"metriclab/pkg/table"
)

// Methods of the rings beside POLA and the Euclidean metric.
const (
	kernelGaussian  = "kernel POLA, Gaussian"
	kernelQuadratic = "kernel POLA, quadratic"
	ringsSeparated  = 0.05 // the error that counts as having separated the rings
)

type ringsSettings struct {
	Points    int       `key:"points"` // in training and test data each
	Pairs     int       `key:"pairs"`  // to learn from
	TestPairs int       `key:"test-pairs"`
	Radii     []float64 `key:"radii"`
	Noise     float64   `key:"noise"`
}

var mainRings = ringsSettings{Points: 200, Pairs: 1000, TestPairs: 5000, Radii: []float64{1, 3}, Noise: 0.15}

// Rings shows what the kernel version of POLA (Section 3.3) is for: two rings,
// which no linear metric separates.
var Rings = experiment.Spec{
	ID:      "pola2004/rings",
	Title:   "Two rings that no linear metric separates: Euclidean, POLA, kernel POLA",
	Source:  "Section 3.3, which has no experiment",
	Ours:    true,
	Version: 2,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		s := mainRings
		if scale == experiment.Smoke {
			s.Points, s.Pairs, s.TestPairs = 60, 100, 200
		}
		return []experiment.Cell{{
			Name: "rings", Dataset: "rings", Settings: s,
			Methods: map[string]int{pola: pairs.POLAVersion, kernelGaussian: pairs.KernelPOLAVersion},
		}}
	},
	Trials: experiment.Trials(10),
	Kinds: []experiment.Kind{
		{Name: "error", Meaning: "new pairs predicted wrongly, after some pairs"},
		{Name: "point", Meaning: "a test point under a metric, in the first trial"},
	},
	Columns: ringsColumns,
	Trial:   ringsTrial,
	Views: []experiment.View{
		{Name: "rings", Title: "Two rings under three metrics, and the error on new pairs", Draw: ringsView.Draw},
	},
	Claims: experiment.Claims([]experiment.Claim{{
		ID:        "rings-kernel",
		Ours:      true,
		View:      "rings",
		Title:     "Ours: kernel POLA separates two rings, which no linear metric does: its error is below 5 %.",
		Statement: "Ours: kernel POLA separates two rings, which no linear metric does: its error on new pairs is below 5 %, and below that of POLA and of the Euclidean metric.",
		Where:     "Section 3.3", Theirs: "not in the paper",
		Predicate: "After all pairs: 5 % − error of kernel POLA > 0, and error of POLA − error of kernel POLA > 0, and the same against Euclidean with its best threshold; for the Gaussian kernel with the median width and the quadratic kernel.",
		Test: frame.UnderNames([]string{kernelGaussian, kernelQuadratic}, func(kernel string) frame.Test {
			ours, theirs, plain := ringsError(kernel), ringsError(pola), ringsError(euclidean)
			return frame.Positive(inPoints, frame.Together(
				frame.Unit("against 5 %", ours.Times(-1).Plus(ringsSeparated)), frame.Unit("against "+pola, theirs.Minus(ours)), frame.Unit("against "+euclidean, plain.Minus(ours)),
			)).Told(func(t *table.Table) judge.Shown {
				percent := func(m frame.Measure) string { return judge.Summarize(m(t)).Percent() }
				return judge.Shown{Ours: fmt.Sprintf("%s %% against %s %% (POLA) and %s %% (Euclidean)", percent(ours), percent(theirs), percent(plain))}
			})
		}),
	}}),
	Cost: 2 * time.Second,
}

var ringsColumns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("method", "metric"),
	experiment.Text("pairs", "number of pairs learned from").In("error"),
	experiment.Text("ring", "ring of the point").In("point"),
	experiment.Number("error", "share", "new pairs predicted wrongly").In("error"),
	experiment.Number("x", "", "first principal coordinate under the metric; of the Euclidean metric the point's own").In("point"),
	experiment.Number("y", "", "second principal coordinate, likewise").In("point"),
}

// draw returns new points on the rings, and n pairs of them.
func (s ringsSettings) draw(seed random.Seed, name string, n int) (*datasets.Set, []metric.Pair, error) {
	set, err := synthetic.Rings(seed.Stream(name+" points"), s.Points, s.Radii, s.Noise)
	if err != nil {
		return nil, nil, err
	}
	links, err := sample.BalancedLinks(seed.Stream(name+" pairs"), set.Y, n)
	return set, slices.Collect(sample.Pairs(set.X, links)), err
}

func ringsTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(ringsSettings)
	train, learn, err := s.draw(run.Seed, "training", s.Pairs)
	if err != nil {
		return err
	}
	test, fresh, err := s.draw(run.Seed, "test", s.TestPairs)
	if err != nil {
		return err
	}
	gaussian, err := kernels.MedianGaussian(run.Seed.Stream("median"), train.X)
	if err != nil {
		return err
	}
	quadratic, err := kernels.NewPolynomial(2, 1)
	if err != nil {
		return err
	}
	addPoints := func(method string, z *mat.Dense) {
		for i, y := range test.Y {
			run.Rows.Add(table.Key{"kind": "point", "method": method, "ring": test.Classes[y]}, table.Values{"x": z.At(i, 0), "y": z.At(i, 1)})
		}
	}
	addError := func(method string, n int, similar func(metric.Pair) bool) {
		run.Rows.Add(table.Key{"kind": "error", "method": method, "pairs": strconv.Itoa(n)},
			table.Values{"error": float64(wrongOn(fresh, similar)) / float64(len(fresh))})
	}
	if run.Seed.Trial == 0 {
		addPoints(euclidean, test.X)
	}
	for _, n := range checkpoints(s.Pairs) {
		addError(euclidean, n, within(bestThreshold(learn[:n])))
	}
	for _, m := range []struct {
		name  string
		build func() (learners.Pair, error)
	}{
		{pola, func() (learners.Pair, error) { return pairs.NewPOLA(2, pairs.POLAParams{}) }},
		{kernelGaussian, func() (learners.Pair, error) { return pairs.NewKernelPOLA(2, gaussian, pairs.POLAParams{}) }},
		{kernelQuadratic, func() (learners.Pair, error) { return pairs.NewKernelPOLA(2, quadratic, pairs.POLAParams{}) }},
	} {
		end := run.Lap(m.name)
		l, err := m.build()
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		done := 0
		for _, n := range checkpoints(s.Pairs) {
			if err := ctx.Err(); err != nil {
				return err
			}
			for ; done < n; done++ {
				if _, err := l.Step(learn[done]); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
			addError(m.name, n, func(p metric.Pair) bool { return l.Predict(p).Similar })
		}
		end()
		if run.Seed.Trial == 0 {
			z, err := coordinates(l, test.X)
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			addPoints(m.name, z)
		}
	}
	return nil
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
func bestThreshold(learned []metric.Pair) float64 {
	at := []float64{0}
	for _, p := range learned {
		at = append(at, metric.Euclidean{}.SqDist(p.X, p.Y))
	}
	best, least := 0.0, math.MaxInt
	slices.Sort(at)
	for _, b := range at {
		if wrong := wrongOn(learned, within(b)); wrong < least {
			best, least = b, wrong
		}
	}
	return best
}

// within predicts "similar iff d² ≤ b", d Euclidean.
func within(b float64) func(metric.Pair) bool {
	return func(p metric.Pair) bool { return metric.Euclidean{}.SqDist(p.X, p.Y) <= b }
}

// wrongOn counts the pairs about which a prediction is wrong.
func wrongOn(pairs []metric.Pair, similar func(metric.Pair) bool) int {
	wrong := 0
	for _, p := range pairs {
		if similar(p) != (p.Label == metric.Similar) {
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

// ringsPanel shows the two rings under a metric.
func ringsPanel(method, title string) frame.Panel {
	ring := func(name string, i int) frame.Mark {
		return frame.Scatter(plots.Points{Name: name, Color: []int{plots.Black, plots.Olive}[i], Shape: i}, frame.Column("x"), frame.Column("y")).Where("kind", "point", "method", method, "ring", fmt.Sprintf("ring %d", i+1))
	}
	return frame.Panel{
		Panel: plots.Panel{Title: title, XLabel: "first coordinate", YLabel: "second coordinate", Equal: true},
		Of:    []frame.Mark{ring("inner ring", 0), ring("outer ring", 1)},
	}
}

var ringsView = frame.View{
	Needs:   []string{"kind", "point"},
	Columns: 2,
	Panels: func(t *table.Table) []plots.Panel {
		errs := frame.PerMark(plots.Panel{Title: "new pairs", XLabel: "pairs learned from", YLabel: "error (%)", XLog: true}, "method", func(_ int, method string) frame.Mark {
			return frame.Line(styles.Line(method), "pairs", frame.Column("error"), frame.Percent)
		})
		points := frame.Each(ringsPanel(euclidean, "the points"), ringsPanel(pola, "under POLA"), ringsPanel(kernelGaussian, "under kernel POLA (Gaussian)"))
		return append(points(t), errs(t.Where("kind", "error"))...)
	},
	Missing: "the first trial",
	Caption: frame.Says(
		"Top left: test points. Top right and bottom left: the same points by the two principal coordinates of their distances under the learned metric (first trial). "+
			"Bottom right: share of new pairs, half of them similar, on which d² ≤ b is wrong, against the number of pairs learned from, in one pass.",
		fmt.Sprintf("Points on two rings (radii %s and %s, Gaussian noise %s).", table.Format(mainRings.Radii[0]), table.Format(mainRings.Radii[1]), table.Format(mainRings.Noise))+
			" No linear metric separates them: opposite points of the outer ring are farther apart, in any direction, than the two rings.",
		"The Euclidean metric has the threshold with the fewest mistakes on the pairs so far. The Gaussian kernel has the median width, the quadratic one is (x·z + 1)². γ = 0, b₁ = 1.", drawsOnly),
}

// ringsError is the error of a metric after all pairs.
func ringsError(method string) frame.Measure {
	return func(t *table.Table) []float64 {
		errs := t.Where("kind", "error")
		return errs.Where("method", method, "pairs", experiment.Last("numbers of pairs", errs.Unique("pairs"))).Values("error")
	}
}
