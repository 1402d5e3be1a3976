package digits

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Methods of Fig. 3, as the table names them; RMP is named by its variant.
const (
	fig3Random  = "random prototypes"
	fig3Medoids = "k-medoids"
)

// fig3Images is the paper's number of images.
const fig3Images = 50

// Which pixels a score is of.
const (
	everyPixel = "all"
	inkedPixel = "inked"
)

// Fig3 is the map of pixels that RMP draws after 50 images.
var Fig3 = experiment.Spec{
	ID:      "rmp2007/fig3",
	Title:   "Which pixels RMP maps to the same pixel, after 50 images without labels or positions",
	Source:  "Section 5.2, Fig. 3",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		methods := map[string]int{"RMP": mapping.RMPVersion, "k-medoids": cluster.KMedoidsVersion}
		return protocol.DigitCells(scale, fig3Images, methods, func(s protocol.DigitSettings) any { return s })
	},
	Trials: experiment.Trials(10),
	Kinds: []experiment.Kind{
		{Name: "score", Meaning: "how coherent a method's map is, and how large its distortion"},
		{Name: "map", Meaning: "one pixel of the map of RMP's first variant; first trial only"},
	},
	Columns: fig3Columns,
	Trial:   fig3Trial,
	Views: []experiment.View{
		{Name: "fig3", Title: "Fig. 3: the pixels that RMP maps to the same pixel", Draw: fig3View.Draw},
		{Name: "fig3-coherence", Title: "Neighbouring pixels that are mapped to the same pixel", Draw: coherenceView.Draw},
	},
	Claims: fig3Claims,
	Cost:   15 * time.Second,
}

var fig3Columns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("method", "variant of RMP, or what else chose the prototypes"),
	experiment.Text("m", "most prototypes of the map"),
	experiment.Text("pixels", "which pixels the score is of: all, or those with ink on any of the images").In("score"),
	experiment.Number("same", "", "pairs of pixels that share an edge and are mapped to the same pixel").In("score"),
	experiment.Number("neighbours", "", "pairs of pixels that share an edge").In("score"),
	experiment.Number("expected", "share", "pairs of neighbours mapped to the same pixel if the map were shuffled").In("score"),
	experiment.Number("groups", "", "prototypes of the map, counted over all pixels").In("score"),
	experiment.Number("distortion", "", "mean squared distortion per image and pixel on other images").In("score"),
	experiment.Number("row", "", "row of the pixel, from 0").In("map"),
	experiment.Number("column", "", "column of the pixel, from 0").In("map"),
	experiment.Number("prototype", "", "pixel that it is mapped to, counted row by row from 0").In("map"),
	experiment.Number("ink", "", "mean grey value of the pixel on the images seen, 0 to 1").In("map"),
}

func fig3Trial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(protocol.DigitSettings)
	train, _, idx, err := s.Task.Open(run, 2*s.Images)
	if err != nil {
		return err
	}
	seen, fresh := train.Rows(idx[:s.Images], datasets.Scale01), train.Rows(idx[s.Images:], datasets.Scale01)
	main := protocol.Compare[s.Variants[0].Distortion]
	g := Grid{train.H, train.W}
	ink := make([]float64, g.Pixels())
	total := protocol.TotalCosts(seen, main)
	for t := range s.Images {
		for j, v := range seen.RawRowView(t) {
			ink[j] += v / float64(s.Images)
		}
	}
	score := func(method string, m int, pi []int) {
		for _, which := range []string{everyPixel, inkedPixel} {
			keep := func(int) bool { return true }
			if which == inkedPixel {
				keep = func(i int) bool { return ink[i] > 0 }
			}
			same, neighbours := g.coherence(pi, keep)
			run.Rows.Add(table.Key{"kind": "score", "method": method, "m": strconv.Itoa(m), "pixels": which}, table.Values{
				"same": same, "neighbours": neighbours, "expected": shuffled(pi, keep), "groups": float64(len(protocol.Image(pi))), "distortion": mapDistortion(fresh, pi, main, keep)})
		}
	}
	for _, m := range s.M {
		for k, v := range s.Variants {
			var pi []int
			err := v.Follow(ctx, run.Seed, seen, s.Task, m, func(n int, l *mapping.RMP, last metric.CostRound, _ float64) error {
				if n == s.Images {
					pi = l.Predict(last)
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("%s, m = %d: %w", v.Name, m, err)
			}
			score(v.Name, m, pi)
			if k > 0 || run.Seed.Trial > 0 {
				continue
			}
			for i, j := range pi {
				run.Rows.Add(table.Key{"kind": "map", "method": v.Name, "m": strconv.Itoa(m)},
					table.Values{"row": float64(i / g.W), "column": float64(i % g.W), "prototype": float64(j), "ink": ink[i]})
			}
		}
		random, _, err := cluster.Assign(total, run.Seed.Stream(fmt.Sprintf("random prototypes %s %d", s.Task, m)).Perm(g.Pixels())[:m])
		if err != nil {
			return err
		}
		score(fig3Random, m, random)
		medoids, err := cluster.FitFasterPAM(ctx, run.Seed.Stream(fmt.Sprintf("k-medoids %s %d", s.Task, m)), total, cluster.MedoidsParams{M: m})
		if err != nil {
			return err
		}
		score(fig3Medoids, m, medoids.Prototype)
	}
	return nil
}

// Grid is an image's height and width; pixels are counted row by row.
type Grid struct{ H, W int }

func (g Grid) Pixels() int { return g.H * g.W }

// Rows cuts values of pixels into rows.
func (g Grid) Rows(v []float64) [][]float64 { return slices.Collect(slices.Chunk(v, g.W)) }

// coherence returns how many pairs of pixels that share an edge are mapped to the same pixel, and how many there
// are, of the pixels that keep holds of.
func (g Grid) coherence(pi []int, keep func(i int) bool) (same, pairs float64) {
	for i := range g.Pixels() {
		for k, j := range []int{i + 1, i + g.W} {
			if k == 0 && j%g.W == 0 || j >= g.Pixels() || !keep(i) || !keep(j) {
				continue
			}
			pairs++
			if pi[i] == pi[j] {
				same++
			}
		}
	}
	return same, pairs
}

// shuffled returns the share of pairs of different pixels that are mapped to the same pixel, of the pixels
// that keep holds of: the expected share of any pairs, neighbours too, if the map is shuffled among these pixels,
//
//	Σ n_g(n_g − 1)/(n(n − 1)),  n_g pixels in group g, n in all,
//
// or NaN for fewer than two pixels.
func shuffled(pi []int, keep func(i int) bool) float64 {
	count := map[int]int{}
	n, same := 0, 0
	for i, j := range pi {
		if keep(i) {
			same += 2 * count[j] // ordered pairs
			count[j]++
			n++
		}
	}
	return float64(same) / (float64(n) * float64(n-1))
}

// mapDistortion returns the mean over images and pixels of the distortion of a pixel by the one that it is mapped
// to, of the pixels that keep holds of.
func mapDistortion(x *mat.Dense, pi []int, of func(a, b float64) float64, keep func(i int) bool) float64 {
	n, _ := x.Dims()
	var sum, pixels float64
	for t := range n {
		row := x.RawRowView(t)
		for i, j := range pi {
			if keep(i) {
				sum += of(row[i], row[j])
				pixels++
			}
		}
	}
	return sum / pixels
}

// ranks gives each pixel the rank of its group by size, from 0, the lesser prototype first where sizes are equal.
func ranks(pi []int) []float64 {
	size := map[int]int{}
	for _, j := range pi {
		size[j]++
	}
	groups := protocol.Image(pi)
	slices.SortStableFunc(groups, func(a, b int) int { return size[b] - size[a] })
	out := make([]float64, len(pi))
	for i, j := range pi {
		out[i] = float64(slices.Index(groups, j))
	}
	return out
}

var fig3View = frame.View{
	Of:      []string{"kind", "map"},
	From:    protocol.ByTask,
	Columns: 1 + len(protocol.FeatureCounts),
	Panels:  fig3Panels,
	Caption: func(t *table.Table) plots.Caption {
		return plots.Caption{
			Shows: fmt.Sprintf("The map that RMP draws after %d random training images of two digits: pixels that are mapped to the same pixel are a group. Lines part the groups, and the ten with the most pixels have a colour each. Left: the mean of the images. "+
				"Pixels that are alike on all images, such as those without ink, go at random to any prototype that is like them: two such prototypes make a region that looks like noise.", fig3Images),
			Data: fmt.Sprintf("Images of %s, pixels scaled to 0 to 1.", protocol.DigitsShown(protocol.Square(slices.Max(t.Values("row"))+1))),
			Protocol: fmt.Sprintf("RMP sees neither labels nor which pixels are neighbours. Squared distortion (xᵢ − xⱼ)², η as printed in Theorem 2.1 for %d rounds, 5000 steps of Algorithm 2 per image (500 at smoke scale). "+
				"The first trial is shown; the view on coherence counts all trials.", fig3Images),
		}
	},
	Missing: "the first trial of any task",
}

// fig3Panels are the mean image of each task and its maps.
func fig3Panels(t *table.Table) (out []plots.Panel) {
	for cells, r := range t.Groups("task", "m") {
		pixels, what := r.Len(), fmt.Sprintf("rmp2007: map of %s with m = %s: ", cells[0], cells[1])
		side := func(column string) int {
			return experiment.Whole(what+"largest "+column, slices.Max(r.Values(column)), 0, pixels-1) + 1
		}
		g := Grid{side("row"), side("column")}
		if g.Pixels() != pixels {
			judge.Refuse("%s%d pixels of an image of %d by %d", what, pixels, g.H, g.W)
		}
		if cells[1] == strconv.Itoa(protocol.FeatureCounts[0]) {
			out = append(out, plots.Panel{Title: cells[0] + ": mean image", HideAxes: true, Marks: []plots.Mark{plots.Heat{Z: g.Rows(r.Values("ink")), BarLabel: "mean grey value, 0 to 1"}}})
		}
		pi := make([]int, pixels)
		for i, j := range r.Values("prototype") {
			pi[i] = experiment.Whole(what+"prototype", j, 0, pixels-1)
		}
		groups := len(protocol.Image(pi))
		if float64(groups) > frame.Parse("m", cells[1]) {
			judge.Refuse("%s%d prototypes, want at most m", what, groups)
		}
		out = append(out, plots.Panel{Title: fmt.Sprintf("%s, m = %s: %d groups", cells[0], cells[1], groups), HideAxes: true, Marks: []plots.Mark{plots.Heat{Z: g.Rows(ranks(pi)), Nominal: true}}})
	}
	return out
}

// fig3Methods are the rows of the scores.
var fig3Methods = append(protocol.VariantNames(), fig3Medoids, fig3Random)

// fig3Name is what a reader sees.
func fig3Name(method string) string {
	if method == fig3Random || method == fig3Medoids {
		return method
	}
	return "RMP: " + etaShown.Replace(method)
}

// Scores of maps: the share of neighbours mapped to the same pixel, as it is and if the map were shuffled.
var (
	coherence = frame.Share("same", "neighbours")
	expected  = frame.Column("expected")
)

var coherenceView = frame.View{
	Of: []string{"kind", "score"},
	From: frame.Only("method", fig3Methods...).Then(frame.Only("pixels", inkedPixel, everyPixel)).Then(protocol.ByTask).
		Then(frame.Called("shown", "method", fig3Name)),
	Columns: 2,
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		return frame.Panel{
			Panel: plots.Panel{Title: cells[0] + ", m = " + cells[1], XLabel: "neighbours mapped to the same pixel (%)"},
			Of:    []frame.Mark{frame.Dots(plots.Intervals{Name: "map"}, "shown", coherence, protocol.Percent), frame.Dots(plots.Intervals{Name: "shuffled map", Color: plots.Vermillion, Shape: plots.Triangle}, "shown", expected, protocol.Percent)},
		}
	}, "task", "m").Where("pixels", inkedPixel),
	Text: &frame.Text{By: []string{"task", "task", "m", "m", "shown", "method", "pixels", "pixels"}, Cells: []frame.Cell{
		frame.PlusMinus("same (%)", coherence, protocol.Percent, "%.2f"), frame.PlusMinus("shuffled (%)", expected, protocol.Percent, "%.2f"),
		frame.Of("distortion", frame.Column("distortion"), frame.Band{}, "%.4f"), frame.Of("groups", frame.Column("groups"), frame.Band{}, "%.1f"),
	}},
	Caption: frame.Says(fmt.Sprintf("Spatial coherence of maps of pixels after %d random training images of the two digits: the share of pairs of pixels that share an edge and are mapped to the same pixel, of the pixels that have ink on any of the images, "+
		"against its expectation if the map is shuffled among these pixels, so that groups keep their sizes.", fig3Images),
		"", "Random prototypes: m random pixels, and each pixel mapped to the one of them with the least squared distortion on the same images. k-medoids: one local optimum of the squared distortion (FasterPAM). "+
			fmt.Sprintf("The table adds the same for all pixels, of which those that never have ink make a large region, whoever draws the map. It adds the mean squared distortion per image and pixel on %d other training images, and the number of pixels in the map's image. %s", fig3Images, protocol.DescribeVariants), protocol.TrialsCover),
	Missing: "scores of any task",
}

// fig3Readings tests for each variant of RMP that a difference of scores is positive.
func fig3Readings(rule judge.Rule, difference func(variant string) frame.Measure) frame.Test {
	return frame.Under(protocol.MapVariants, func(v protocol.MapVariant) (string, frame.Test) {
		return fig3Name(v.Name), frame.Positive(rule, protocol.OverCurves(func(c protocol.Curve) frame.Measure {
			return difference(v.Name).Where(c.Of("kind", "score", "pixels", inkedPixel)...)
		}))
	})
}

var fig3Claims = experiment.Claims([]experiment.Claim{
	{
		ID:        "fig3-regions",
		View:      "fig3-coherence",
		Statement: "RMP finds strongly representative regions in the feature space without topological information or image labels: they are regions.",
		Where:     "Section 5.2, Fig. 3", Theirs: experiment.FigureOnly,
		Predicate: "Of the pairs of pixels that share an edge and both have ink on any of the 50 images, more are mapped to the same pixel than with a shuffled map (expectation over shuffles that keep the groups' sizes), paired by trial, for both tasks and both m. Readings: each variant of RMP (distortion, η, walk).",
		Test: fig3Readings(judge.Rule{Scale: 100, Unit: "points"}, func(variant string) frame.Measure {
			return coherence.Minus(expected).Where("method", variant)
		}),
	},
	{
		ID:        "fig3-representative",
		View:      "fig3-coherence",
		Statement: "RMP finds strongly representative regions in the feature space without topological information or image labels: they are representative.",
		Where:     "Section 5.2, Fig. 3", Theirs: experiment.FigureOnly,
		Predicate: "On 50 other training images the squared distortion of the inked pixels by the pixels that RMP maps them to is less than with m random prototypes and the best assignment to them, paired by trial, for both tasks and both m. Readings: each variant of RMP (distortion, η, walk).",
		Test: fig3Readings(judge.Rule{Unit: "of a squared grey value"}, func(variant string) frame.Measure {
			return protocol.More(frame.Column("distortion"), fig3Random, variant)
		}),
	},
})
