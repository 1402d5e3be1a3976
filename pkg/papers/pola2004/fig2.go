package pola2004

import (
	"context"
	"math"
	"sort"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

const (
	fig2Noisy = "noisy images"
	fig2Side  = synthetic.GlyphSide
	// fig2PerGroup images per digit and noise pattern make 64 in all.
	fig2PerGroup = 16
)

// Thresholds of Fig. 2's qualitative words, fixed before the first full run.
const (
	fig2Block        = 0.95 // "clear block structure": order probability at least
	fig2Random       = 0.75 // "rather random", "do not clearly show": at most
	fig2Intelligible = 0.9  // "most, if not all, look intelligible": nearest-prototype accuracy at least
	fig2Unclear      = 0.75 // "not possible in most cases": accuracy at most, half-way from chance to certainty
)

// Fig2 reconstructs 64 noisy images of "2" and "5" from one direction: the
// first principal component, or the largest eigenvector of POLA's matrix.
var Fig2 = experiment.Spec{
	ID:      "pola2004/fig2",
	Title:   "Reconstruction of noisy digits from one direction, by PCA and by POLA",
	Source:  "Section 7, Fig. 2",
	Version: 1,
	Cells: func(experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, r := range noiseReadings {
			cells = append(cells, experiment.Cell{
				Name: r.String(), Dataset: "glyphs",
				Settings: fig2Settings{r},
				Methods:  map[string]int{"POLA": pairs.POLAVersion, "PCA": labels.PCAVersion},
			})
		}
		return cells
	},
	Trials: experiment.Trials(20),
	Kinds: []experiment.Kind{
		{Name: "accuracy", Meaning: "share of images nearer to the clean image of their own digit than to that of the other"},
		{Name: "order", Meaning: "probability that two images of different digits are farther apart than two of the same digit"},
		{Name: "image", Meaning: "an image of the first trial"},
	},
	Columns: fig2Columns,
	Trial:   fig2Trial,
	Views: []experiment.View{
		{Name: "fig2", Title: "Fig. 2: noisy digits, their reconstructions and distances (one noise value per image)", Draw: fig2View(synthetic.NoisePerImage).Draw},
		{Name: "fig2-per-line", Title: "Fig. 2 with one noise value per line", Draw: fig2View(synthetic.NoisePerLine).Draw},
		{Name: "fig2-per-pixel", Title: "Fig. 2 with one noise value per pixel", Draw: fig2View(synthetic.NoisePerPixel).Draw},
		{Name: "fig2-measures", Title: "Fig. 2 in numbers", Draw: fig2MeasuresView.Draw},
	},
	Claims: fig2Claims,
	Cost:   time.Second,
}

type fig2Settings struct {
	Noise synthetic.NoiseReading `key:"noise"`
}

var (
	fig2Columns = experiment.Columns{
		experiment.Text("kind", "what the row is of"),
		experiment.Text("method", "what rebuilt the images; or the noisy images themselves"),
		experiment.Text("label", "digit of the image").In("image"),
		experiment.Number("value", "share", "the measure of its kind, over all images of the trial").In("accuracy", "order"),
		fig2Pixels,
	}
	fig2Pixels = experiment.Vector("p", fig2Side*fig2Side, "", "grey value of a pixel, row by row; one factor brings the clean digits to unit norm on average").In("image")

	noiseReadings = []synthetic.NoiseReading{synthetic.NoisePerImage, synthetic.NoisePerLine, synthetic.NoisePerPixel}
	describeNoise = map[synthetic.NoiseReading]string{
		synthetic.NoisePerImage: "one value per image",
		synthetic.NoisePerLine:  "one value per odd line",
		synthetic.NoisePerPixel: "one value per pixel of the odd lines",
	}
)

func fig2Trial(ctx context.Context, run *experiment.Run) error {
	set, err := synthetic.NoisyGlyphs(run.Seed.Stream("noise "+run.Cell.Name), []int{2, 5}, fig2PerGroup, run.Cell.Settings.(fig2Settings).Noise, 1)
	if err != nil {
		return err
	}
	// One factor for all images brings the clean prototypes to unit norm on
	// average, the scale at which POLA's margin of 1 is of the size of the distances.
	prototypes := [][]float64{synthetic.Glyph(2), synthetic.Glyph(5)}
	scale := 2 / (floats.Norm(prototypes[0], 2) + floats.Norm(prototypes[1], 2))
	set.X.Scale(scale, set.X)
	for _, p := range prototypes {
		floats.Scale(scale, p)
	}

	pixels := fig2Pixels.Names()
	measure := func(method string, x *mat.Dense) {
		right := 0
		for i, y := range set.Y {
			e := metric.Euclidean{}
			if (e.SqDist(x.RawRowView(i), prototypes[0]) < e.SqDist(x.RawRowView(i), prototypes[1])) == (y == 2) {
				right++
			}
		}
		run.Rows.Add(table.Key{"kind": "accuracy", "method": method}, table.Values{"value": float64(right) / float64(set.N())})
		run.Rows.Add(table.Key{"kind": "order", "method": method}, table.Values{"value": orderProbability(x, set.Y)})
		if run.Seed.Trial != 0 {
			return // images of the first trial are enough to draw
		}
		for i, y := range set.Y {
			values := table.Values{}
			for j, p := range x.RawRowView(i) {
				values[pixels[j]] = p
			}
			run.Rows.Add(table.Key{"kind": "image", "method": method, "label": strconv.Itoa(y)}, values)
		}
	}
	measure(fig2Noisy, set.X)

	pca, err := labels.FitPCA(ctx, set.X, 1)
	if err != nil {
		return err
	}
	measure("PCA", pca.Reconstruct(set.X))

	l, err := pairs.NewPOLA(set.Dim(), pairs.POLAParams{})
	if err != nil {
		return err
	}
	for _, err := range learners.Run(l, sample.Pairs(set.X, allLinks(run.Seed, run.Cell.Name, set.Y))) {
		if err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, top := l.Metric().Principal(1)
	measure(pola, reconstruct(set.X, pca.Mean(), top.RawRowView(0)))
	return nil
}

// allLinks returns every pair of images once, in random order.
func allLinks(seed random.Seed, cell string, y []int) []metric.Link {
	var links []metric.Link
	for i := range y {
		for j := i + 1; j < len(y); j++ {
			links = append(links, metric.Link{I: i, J: j, Label: metric.SameClass(y[i] == y[j])})
		}
	}
	seed.Stream("order "+cell).Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	return links
}

// reconstruct returns μ + u uᵀ(x−μ) for each row x and the unit vector u.
func reconstruct(x *mat.Dense, mu, u []float64) *mat.Dense {
	n, d := x.Dims()
	out := mat.NewDense(n, d, nil)
	for i := range n {
		row := out.RawRowView(i)
		c := floats.Dot(u, metric.Sub(nil, x.RawRowView(i), mu))
		copy(row, mu)
		floats.AddScaled(row, c, u)
	}
	return out
}

// orderProbability is the probability that a random pair of images of different
// digits is farther apart than a random pair of the same digit, a tie counting
// one half: 1 for a perfect block structure, ½ for none.
func orderProbability(x *mat.Dense, y []int) float64 {
	type pair struct {
		d    float64
		same bool
	}
	var ps []pair
	for i := range y {
		for j := i + 1; j < len(y); j++ {
			ps = append(ps, pair{metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j)), y[i] == y[j]})
		}
	}
	sort.SliceStable(ps, func(i, j int) bool { return ps[i].d < ps[j].d })
	var same, different, below float64
	for i := 0; i < len(ps); {
		j, s, d := i, 0.0, 0.0
		for ; j < len(ps) && ps[j].d == ps[i].d; j++ {
			if ps[j].same {
				s++
			} else {
				d++
			}
		}
		below += d * (same + s/2)
		same, different = same+s, different+d
		i = j
	}
	return below / (same * different)
}

func fig2View(reading synthetic.NoiseReading) frame.View {
	return frame.View{
		Of:      []string{"cell", reading.String(), "kind", "image"},
		Columns: 3,
		Panels: func(t *table.Table) (top []plots.Panel) {
			var bottom []plots.Panel
			for method, g := range t.Group("method") {
				twos := g.Where("label", "2")
				pix := append(fig2Images(twos), fig2Images(g.Where("label", "5"))...)
				z := make([][]float64, len(pix))
				for i := range z {
					z[i] = make([]float64, len(pix))
					for j := range z[i] {
						z[i][j] = math.Sqrt(metric.Euclidean{}.SqDist(pix[i], pix[j]))
					}
				}
				digits := []plots.Tick{{At: float64(twos.Len()) / 2, Label: "2"}, {At: float64(twos.Len()+len(z)) / 2, Label: "5"}}
				title := method
				if method != fig2Noisy {
					title = "rebuilt by " + method
				}
				top = append(top, plots.Panel{Title: title, HideAxes: true,
					Marks: []plots.Mark{plots.Images{H: fig2Side, W: fig2Side, Pix: pix, Columns: 8}}})
				bottom = append(bottom, plots.Panel{Title: "distances, " + method, XLabel: "image", YLabel: "image",
					Marks: []plots.Mark{plots.Heat{Z: z, BarLabel: "distance", Separators: []int{twos.Len()}, XTicks: digits, YTicks: digits}}})
			}
			return append(top, bottom...)
		},
		Missing: "images of the first trial under the reading " + reading.String(),
		Caption: func(*table.Table) plots.Caption {
			return plots.Caption{
				Shows: "Top: 64 noisy images of 2 (first half) and 5, and each image rebuilt from the mean and one direction: PCA's first component, or the largest eigenvector of POLA's matrix. " +
					"Bottom: the distances between the images above; a block structure separates the digits. The first trial is shown; grey values run over the range of each panel.",
				Data:     "Glyphs of 12×12 pixels, scaled by one factor to unit norm on average. Noise: " + describeNoise[reading] + "; 0 dB, the energy of the clean image.",
				Protocol: "POLA takes one pass over all 2,016 pairs from b₁ = 1. Adding the mean to its reconstruction is our choice.",
			}
		},
	}
}

// fig2Images returns the images of some rows.
func fig2Images(t *table.Table) [][]float64 {
	out := make([][]float64, t.Len())
	for _, name := range fig2Pixels.Names() {
		for i, v := range t.Values(name) {
			out[i] = append(out[i], v)
		}
	}
	return out
}

// fig2Measure is a measure of the images, or of what is rebuilt of them.
func fig2Measure(kind string) frame.Measure { return frame.Column("value").Where("kind", kind) }

var fig2MeasuresView = frame.View{
	Text: &frame.Text{Head: []string{"noise", "images"}, Rows: fig2Rows, Cells: []frame.Cell{
		frame.WithInterval("nearest-prototype accuracy (%)", fig2Measure("accuracy"), frame.Band{}),
		frame.WithInterval("order probability of distances (%)", fig2Measure("order"), frame.Band{}),
	}},
	Missing: "any images",
	Caption: frame.Says("Nearest-prototype accuracy: the share of images that lie nearer to the clean image of their own digit; it says what a machine can tell, not what a human eye sees (the noisy images themselves reach 100). "+
		"Order probability: the probability that two images of different digits are farther apart than two of the same digit (50 is chance, 100 a perfect block structure).",
		"The images of Fig. 2.", "", drawsOnly),
}

var fig2Rows = func() (rows []frame.Row) {
	for _, r := range noiseReadings {
		for _, m := range []string{fig2Noisy, "PCA", pola} {
			rows = append(rows, frame.Row{Names: []string{describeNoise[r], m}, Of: []string{"cell", r.String(), "method", m}})
		}
	}
	return rows
}()

var fig2Claims = experiment.Claims([]experiment.Claim{
	{
		ID:        "fig2-noisy-images",
		View:      "fig2-measures",
		Title:     "In the noisy images it is almost impossible to recognize whether the original digit is 2 or 5.",
		Statement: "The noise degraded the original images up to the point where it is almost impossible to recognize whether the original digit is 2 or 5.",
		Where:     "Section 7, Fig. 2 top left", Theirs: experiment.FigureOnly,
		Predicate: "Nearest-prototype accuracy of the noisy images ≤ 0.75, half-way from chance to certainty, under each reading of the noise (a machine's measure, not a human eye's).",
		Test:      fig2Test("accuracy", fig2Noisy, fig2Unclear, -1),
	},
	{
		ID:        "fig2-noisy-distances",
		View:      "fig2-measures",
		Statement: "The distances between the original noisy images are rather random and do not reflect the identity of the underlying prototypes.",
		Where:     "Section 7, Fig. 2 bottom left", Theirs: experiment.FigureOnly,
		Predicate: "Order probability of the distances ≤ 0.75, under each reading of the noise.",
		Test:      fig2Test("order", fig2Noisy, fig2Random, -1),
	},
	{
		ID:        "fig2-pca-images",
		View:      "fig2-measures",
		Statement: "From the PCA reconstructions it is in most cases not possible to reveal whether an image represents 2 or 5.",
		Where:     "Section 7, Fig. 2 top middle", Theirs: experiment.FigureOnly,
		Predicate: "Nearest-prototype accuracy ≤ 0.75, half-way from chance to certainty, under each reading of the noise.",
		Test:      fig2Test("accuracy", "PCA", fig2Unclear, -1),
	},
	{
		ID:        "fig2-pca-distances",
		View:      "fig2-measures",
		Statement: "The distances between PCA reconstructions do not clearly show the underlying two-class structure.",
		Where:     "Section 7, Fig. 2 bottom middle", Theirs: experiment.FigureOnly,
		Predicate: "Order probability of the distances ≤ 0.75, under each reading of the noise.",
		Test:      fig2Test("order", "PCA", fig2Random, -1),
	},
	{
		ID:        "fig2-pola-images",
		View:      "fig2-measures",
		Statement: "Most, if not all, of the images reconstructed by POLA look intelligible and reveal the original digit.",
		Where:     "Section 7, Fig. 2 top right", Theirs: experiment.FigureOnly,
		Predicate: "Nearest-prototype accuracy ≥ 0.9, under each reading of the noise.",
		Test:      fig2Test("accuracy", pola, fig2Intelligible, 1),
	},
	{
		ID:        "fig2-pola-distances",
		View:      "fig2-measures",
		Statement: "The distance matrix of POLA's reconstructions exhibits a clear block structure corresponding to the two classes.",
		Where:     "Section 7, Fig. 2 bottom right", Theirs: experiment.FigureOnly,
		Predicate: "Order probability of the distances ≥ 0.95, under each reading of the noise.",
		Test:      fig2Test("order", pola, fig2Block, 1),
	},
})

// fig2Test tests sign·(measure − bound) > 0 under each reading of the noise.
func fig2Test(kind, method string, bound, sign float64) frame.Test {
	return frame.Under(noiseReadings, func(r synthetic.NoiseReading) (string, frame.Test) {
		m := fig2Measure(kind).Where("cell", r.String(), "method", method)
		return r.String(), frame.Positive(inPoints, frame.Unit(r.String(), m.Plus(-bound).Times(sign))).Told(func(t *table.Table) judge.Shown {
			return judge.Shown{Ours: judge.Summarize(m(t)).Percent() + " %"}
		})
	})
}
