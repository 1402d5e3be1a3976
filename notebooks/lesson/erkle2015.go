package lesson

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/notebooks/nb"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
)

// StepLength is how far one passive-aggressive step from K = 10·I moves the kernel, where D = 0 and the margin is 1.
func StepLength(g triplets.Gradient) float64 {
	initial := mat.NewDiagDense(3, []float64{10, 10, 10})
	l := nb.Must(triplets.NewERKLE(3, triplets.ERKLEParams{Gradient: g, Initial: initial}))
	nb.Must(l.Step(metric.Triplet{A: 0, Near: 1, Far: 2}))
	var d mat.Dense
	d.Sub(l.Kernel(), initial)
	return mat.Norm(&d, 2)
}

// ProbabilityAfter is p of STE after a step of GNMDS with a margin from K = I.
func ProbabilityAfter(margin float64) float64 {
	t := metric.Triplet{A: 0, Near: 1, Far: 2}
	l := nb.Must(triplets.NewERKLE(3, triplets.ERKLEParams{Margin: margin}))
	nb.Must(l.Step(t))
	k := l.Kernel()
	sq := func(i, j int) float64 { return k.At(i, i) + k.At(j, j) - 2*k.At(i, j) }
	return 1 / (1 + math.Exp(sq(t.A, t.Near)-sq(t.A, t.Far)))
}

// StepsOfTwo is the sum of the steps from K = 10·I of two who disagree, over m answers.
func StepsOfTwo(m int) (sum float64) {
	t := metric.Triplet{A: 0, Near: 1, Far: 2}
	l := nb.Must(triplets.NewERKLE(3, triplets.ERKLEParams{Initial: mat.NewDiagDense(3, []float64{10, 10, 10})}))
	for range m {
		sum += nb.Must(l.Step(t)).StepSize
		t.Near, t.Far = t.Far, t.Near
	}
	return sum
}

// Faces returns the pictures, and what they show: a row of points is the width and the mood of a
// face, from 0 to 1.
func Faces() (pix, points *mat.Dense) {
	pix, traits := synthetic.Faces()
	n, _ := traits.Dims()
	points = mat.NewDense(n, 2, nil)
	for i := range n {
		points.SetRow(i, []float64{traits.At(i, 1), traits.At(i, 0)})
	}
	return pix, points
}

// Album shows faces, row by row.
func Album(title string, columns int, which ...int) plots.Panel {
	pix, _ := Faces()
	images := plots.Images{H: synthetic.FaceSide, W: synthetic.FaceSide, Columns: columns, Max: 1}
	for _, i := range which {
		within("a face", i, 0, 15)
		images.Pix = append(images.Pix, pix.RawRowView(i))
	}
	return plots.Panel{Title: title, Marks: []plots.Mark{images}}
}

// Spectrum returns the eigenvalues, smallest first and to three decimals, and the eigenvector of
// the smallest.
func Spectrum(k mat.Symmetric) (values []float64, v *mat.VecDense) {
	var e mat.EigenSym
	if !e.Factorize(k, true) {
		panic("no eigenvalues")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	values = e.Values(nil)
	for i := range values {
		values[i] = math.Round(1000*values[i])/1000 + 0 // + 0, for −0 is printed as such
	}
	return values, mat.VecDenseCopyOf(vectors.ColView(0))
}

// MatrixPanel shows a matrix of a few objects in colours.
func MatrixPanel(title string, k mat.Symmetric) plots.Panel {
	heat := plots.Heat{Min: -3, Max: 3}
	for i := range k.SymmetricDim() {
		heat.Z = append(heat.Z, mat.Row(nil, i, k))
		tick := plots.Tick{At: float64(i), Label: fmt.Sprint(i)}
		heat.XTicks, heat.YTicks = append(heat.XTicks, tick), append(heat.YTicks, tick)
	}
	return plots.Panel{Title: title, Marks: []plots.Mark{heat}}
}

// StreamOfAnswers returns the answers to m random questions about n random points in ten dimensions.
func StreamOfAnswers(n, m int) []metric.Triplet {
	within("the number of points", n, 3, 1_000_000)
	within("the number of answers", m, 0, 1_000_000)
	rng := rand.New(rand.NewPCG(1, 0))
	x := mat.NewDense(n, 10, nil)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = rng.NormFloat64()
	}
	r := nb.Must(triplets.NewPointRespondent(rand.NewPCG(2, 0), x, 0))
	ts := make([]metric.Triplet, m)
	for j := range ts {
		o := rng.Perm(n)[:3]
		ts[j] = r.Answer(triplets.Query{Head: o[0], B: o[1], C: o[2]})
	}
	return ts
}

// FaceTruth lists the answers to all questions about faces that have no ties.
func FaceTruth() []metric.Triplet {
	_, x := Faces()
	sq := func(i, j int) float64 {
		return metric.Euclidean{}.SqDist(
			x.RawRowView(i), x.RawRowView(j))
	}
	var ts []metric.Triplet
	for a := range 16 {
		for b := range 16 {
			for c := range 16 {
				if near, far := sq(a, b), sq(a, c); a != b && a != c && near < far &&
					!triplets.Tied(near, far) {
					ts = append(ts, metric.Triplet{A: a, Near: b, Far: c})
				}
			}
		}
	}
	return ts
}

// Spread appends to a line the mean of ys and, as its band, two standard errors.
func Spread(l *plots.Line, x float64, ys []float64) {
	mean, sd := stat.MeanStdDev(ys, nil)
	e := 2 * stat.StdErr(sd, float64(len(ys)))
	l.X, l.Y, l.Lo, l.Hi = append(l.X, x), append(l.Y, mean), append(l.Lo, mean-e),
		append(l.Hi, mean+e)
}

// Gains returns the gain of all questions about a head, and the questions with the most and the
// least.
func Gains(s *triplets.Selector, k mat.Symmetric, head int) (
	heat plots.Heat, best, worst triplets.Query) {
	within("the head", head, 0, 15)
	most, fewest := math.Inf(-1), math.Inf(1)
	for b := range 16 {
		row := slices.Repeat([]float64{math.NaN()}, 16)
		for c := range 16 {
			if b == c || b == head || c == head {
				continue
			}
			q := triplets.Query{Head: head, B: b, C: c}
			row[c] = s.Gain(k, q)
			if b < c && row[c] > most {
				most, best = row[c], q
			}
			if b < c && row[c] < fewest {
				fewest, worst = row[c], q
			}
		}
		heat.Z = append(heat.Z, row)
		if b%5 == 0 {
			tick := plots.Tick{At: float64(b), Label: fmt.Sprint(b)}
			heat.XTicks, heat.YTicks = append(heat.XTicks, tick), append(heat.YTicks, tick)
		}
	}
	return heat, best, worst
}

// NotAsked lists the questions that were not asked, with their true answers.
func NotAsked(asked []metric.Triplet) (ts []metric.Triplet) {
	known := map[triplets.Query]bool{}
	for _, t := range asked {
		known[triplets.QueryOf(t)] = true
	}
	for _, t := range FaceTruth() {
		if !known[triplets.QueryOf(t)] {
			ts = append(ts, t)
		}
	}
	return ts
}
