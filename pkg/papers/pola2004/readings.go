package pola2004

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// Methods of the further readings of Fig. 3, beside those of fig3.
const (
	polaHalf    = "POLA, half of the pairs similar"
	polaPCA     = "POLA after PCA"
	rcaPairs    = "RCA after PCA, chunklets of the pairs"
	polaTopOwnK = "POLA, first eigenvector, own k"
	fdaPlainOwn = "FDA, no ridge, own k"
	fdaRidgeOwn = "FDA, validated ridge, own k"
)

// chunkletSizes are those of the chunklets that RCA gets besides the ones that the pairs make; 0 is one chunklet per digit.
var chunkletSizes = []int{2, 5, 20, 0}

func rcaChunklets(size int) string {
	if size == 0 {
		return "RCA after PCA, one chunklet per digit"
	}
	return fmt.Sprintf("RCA after PCA, chunklets of %d", size)
}

// rcaRivals are the versions of RCA after PCA.
func rcaRivals() []string {
	out := []string{rcaPairs}
	for _, s := range chunkletSizes {
		out = append(out, rcaChunklets(s))
	}
	return out
}

// projections are the metrics of one dimension.
var projections = []string{polaTopOwnK, fdaPlainOwn, fdaRidgeOwn}

// Readings runs what Fig. 3 leaves open a second time, in other ways than fig3.
var Readings = experiment.Spec{
	ID:      "pola2004/readings",
	Title:   "Fig. 3 by other readings: POLA after PCA, RCA's chunklets, k per metric, half of the pairs similar, 100 images",
	Source:  "Section 7, Fig. 3",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		return digitCells(scale, func(s settings, d digits) any { return readingsSettings{s, chunkletSizes, d} })
	},
	Trials: experiment.Trials(judge.MinTrials),
	Kinds: []experiment.Kind{
		{Name: "error", Meaning: "test images classified wrongly under a metric"},
		{Name: "swept", Meaning: "the same for each k, under metrics of one dimension"},
		{Name: "separable", Meaning: "whether a straight line separates the 100 images of 0 and 8 from which POLA learned"},
	},
	Columns: readingsColumns,
	Trial:   readingsTrial,
	Views: []experiment.View{
		{Name: "readings-rca", Title: "POLA, on pixels and after PCA, against RCA after PCA with other chunklets", Draw: readingsRCA.Draw},
		{Name: "readings-fda", Title: "POLA's first eigenvector against FDA, k for each metric", Draw: readingsFDA.Draw},
		{Name: "readings-k", Title: "Error against k, metrics of one dimension", Draw: readingsK.Draw},
		{Name: "readings-errors", Title: "All errors of the readings as a table", Draw: drawReadingsErrors},
	},
	Claims:  readingsClaims,
	Choices: readingsChoices,
	Cost:    4 * time.Second,
}

// readingsChoices are the k that were chosen, per metric. Below k = 1 there is nothing.
func readingsChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	for _, m := range append([]string{euclidean}, projections...) {
		c := experiment.Choice{What: m + ": k", NoLower: true, Chosen: t.Where("kind", "error", "method", m).Values("k")}
		for _, k := range mainSettings.Candidates {
			c.Grid = append(c.Grid, float64(k))
		}
		if len(c.Chosen) > 0 {
			out = append(out, c)
		}
	}
	return out
}

type readingsSettings struct {
	settings
	Chunklets []int  `key:"chunklets"`
	Digits    digits `key:"-" because:"they are the cell's name, which is in the key"`
}

var readingsColumns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("method", "metric; in the kind separable, what gives the two dimensions"),
	experiment.Number("error", "share", "test images of the two digits that kNN classifies wrongly").In("error", "swept"),
	experiment.Number("k", "", "neighbours of kNN; in the kind error chosen on the training images, for metrics of one dimension under the metric itself").In("error", "swept"),
	experiment.Number("value", "", "1 if a line separates the points, else 0").In("separable"),
}

func readingsTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(readingsSettings)
	p, err := load(run.Env, run.Seed, s.Digits, s.settings)
	if err != nil {
		return err
	}
	k, err := p.chooseK(ctx, s.Candidates)
	if err != nil {
		return err
	}
	learned, err := p.learnPOLA(s.settings)
	if err != nil {
		return err
	}
	balanced := *p
	if balanced.links, err = sample.BalancedLinks(run.Seed.Stream("balanced pairs "+s.Digits.String()), p.train.y, s.Pairs); err != nil {
		return err
	}
	half, err := balanced.learnPOLA(s.settings)
	if err != nil {
		return err
	}
	// What comes after PCA is learned and scored in its coordinates.
	pca, err := labels.FitPCA(ctx, p.train.x, s.PCADim)
	if err != nil {
		return err
	}
	small := problem{train: part{pca.Transform(p.train.x), p.train.y}, test: part{pca.Transform(p.test.x), p.test.y}, links: p.links}
	reduced, err := small.learnPOLA(s.settings)
	if err != nil {
		return err
	}
	add := func(name string, p *problem, m metric.SqDister) error {
		e, err := errorOn(ctx, m, p.train, p.test, k)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		run.Rows.Add(table.Key{"kind": "error", "method": name}, table.Values{"error": e, "k": float64(k)})
		return nil
	}
	for _, c := range []struct {
		name string
		p    *problem
		m    metric.SqDister
	}{
		{euclidean, p, metric.Euclidean{}}, {pola, p, learned.learner.Metric()}, {polaHalf, p, half.learner.Metric()}, {polaPCA, &small, reduced.learner.Metric()},
	} {
		if err := add(c.name, c.p, c.m); err != nil {
			return err
		}
	}
	rca := func(name string, links []metric.Link) error {
		r, err := pairs.FitRCA(ctx, small.train.x, links, pairs.RCAParams{})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return add(name, &small, r.Metric)
	}
	if err := rca(rcaPairs, p.links); err != nil {
		return err
	}
	for _, size := range s.Chunklets {
		links, err := sample.ChainedLinks(chunklets(p.train.y, size))
		if err != nil {
			return err
		}
		if err := rca(rcaChunklets(size), links); err != nil {
			return err
		}
	}
	if err := p.inOneDimension(ctx, run.Rows, s.settings, learned.learner.Metric()); err != nil {
		return err
	}
	if s.Digits == plottedDigits {
		err = p.from100(run.Rows, run.Seed, s.settings)
	}
	return err
}

// chunklets gives the images of each digit chunklets of a size, in their order, which is random; what is left over is in none. 0 is one per digit.
func chunklets(y []int, size int) []int {
	out, next, open := make([]int, len(y)), 0, map[int][]int{}
	for i := range out {
		out[i] = -1
	}
	if size == 0 {
		copy(out, y)
		return out
	}
	for i, label := range y {
		open[label] = append(open[label], i)
		if len(open[label]) == size {
			for _, j := range open[label] {
				out[j] = next
			}
			open[label], next = nil, next+1
		}
	}
	return out
}

// inOneDimension adds the errors under metrics of one dimension: for each k, and for the k of the least leave-one-out error under the metric itself.
func (p *problem) inOneDimension(ctx context.Context, rows *table.Table, s settings, m *metric.Mahalanobis) error {
	for _, c := range []struct {
		name  string
		learn func() (metric.SqDister, error)
	}{
		{polaTopOwnK, func() (metric.SqDister, error) { return topDirections(m, 1), nil }},
		{fdaPlainOwn, func() (metric.SqDister, error) { return p.fda(ctx, 0) }},
		{fdaRidgeOwn, func() (metric.SqDister, error) { return p.fda(ctx, s.FDARidge) }},
	} {
		m, err := c.learn()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		line := func(x part) part {
			if l, ok := m.(*metric.Mahalanobis); ok && l.Rows() > 0 {
				return part{mat.DenseCopyOf(l.EmbedRows(x.x)), x.y}
			}
			return x
		}
		knn, err := nearest.NewKNN(metric.Euclidean{}, line(p.train).x, p.train.y, nearest.KNNOptions{})
		if err != nil {
			return err
		}
		own, err := knn.LeaveOneOut(ctx, s.Candidates)
		if err != nil {
			return err
		}
		wrong, err := knn.Errors(ctx, line(p.test).x, p.test.y, s.Candidates)
		if err != nil {
			return err
		}
		share := func(i int) float64 { return float64(wrong[i]) / float64(len(p.test.y)) }
		for i, k := range s.Candidates {
			rows.Add(table.Key{"kind": "swept", "method": c.name}, table.Values{"error": share(i), "k": float64(k)})
		}
		best := slices.Index(own, slices.Min(own))
		rows.Add(table.Key{"kind": "error", "method": c.name}, table.Values{"error": share(best), "k": float64(s.Candidates[best])})
	}
	return nil
}

// from100 learns from pairs of the 100 images that are shown, and tells whether a line separates them in the plane of two eigenvectors.
func (p *problem) from100(rows *table.Table, seed random.Seed, s settings) error {
	idx := seed.Stream("shown images").Perm(len(p.train.y))
	shown := problem{train: p.train.rows(idx[:min(fig3Plotted, len(idx))])}
	var err error
	if shown.links, err = drawLinks(seed.Stream("pairs of shown images"), shown.train.y, s); err != nil {
		return err
	}
	learned, err := shown.learnPOLA(s)
	if err != nil {
		return err
	}
	z := topDirections(learned.learner.Metric(), 2).EmbedRows(shown.train.x)
	ok, _, err := linear.LinearlySeparable(z, shown.train.y)
	if err != nil {
		return err
	}
	rows.Add(table.Key{"kind": "separable", "method": pola}, table.Values{"value": one(ok)})
	return nil
}

// readingsCaption is a caption with the data.
func readingsCaption(t *table.Table, shows, protocol string) plots.Caption {
	return plots.Caption{
		Shows:     shows,
		Data:      digitSource(len(t.Unique("cell")) < len(allDigitPairs())) + "; images, pairs, scaling and neighbours as in Fig. 3, drawn anew.",
		Protocol:  strings.TrimSpace(fmt.Sprintf("PCA is to %d dimensions. %s", mainSettings.PCADim, protocol)),
		Intervals: experiment.TrialsNote(t, drawsOnly),
	}
}

// readingsDuels compares two metrics in each panel, the second on the vertical axis.
func readingsDuels(caption func(t *table.Table) plots.Caption, duels ...[2]string) frame.View {
	return frame.View{
		Needs:   []string{"kind", "error"},
		Columns: 2,
		Panels: func(t *table.Table) (out []plots.Panel) {
			for _, c := range duels {
				d := digitDuel(t, c[0], c[1])
				p := duelPanel(short(c[0]), c[1], d)
				p.Title = fmt.Sprintf("POLA lower in %d of %d problems", d.wins, len(d.X))
				out = append(out, p)
			}
			return out
		},
		Missing: "errors of any problem",
		Caption: caption,
	}
}

// short is a metric on an axis: all of RCA here is after PCA.
func short(method string) string { return strings.Replace(method, "RCA after PCA", "RCA", 1) }

var (
	readingsRCA = readingsDuels(func(t *table.Table) plots.Caption {
		return readingsCaption(t, "kNN test error per digit pair; below the diagonal POLA is better.",
			"The paper applied PCA \"independently to each binary problem\", and does not say whether POLA saw its coordinates, too. RCA's chunklets come from the similar pairs, or join all training images of a digit. Below right, half of POLA's pairs are similar.")
	}, [2]string{rcaPairs, pola}, [2]string{rcaPairs, polaPCA}, [2]string{rcaChunklets(0), pola}, [2]string{euclidean, polaHalf})

	readingsFDA = readingsDuels(func(t *table.Table) plots.Caption {
		c := readingsCaption(t, "kNN test error per digit pair, POLA's first eigenvector (vertical) against FDA; below the diagonal POLA is better.", "k is the one of the least leave-one-out error on the training images under the metric itself.")
		c.Ends = experiment.EndsNote(readingsChoices(t))
		return c
	}, [2]string{fdaPlainOwn, polaTopOwnK}, [2]string{fdaRidgeOwn, polaTopOwnK})
)

var readingsK = frame.View{
	Needs: []string{"kind", "swept"},
	Panels: func(t *table.Table) []plots.Panel {
		p := plots.Panel{XLabel: "k", YLabel: "mean error (%)"}
		for _, m := range projections {
			name := strings.TrimSuffix(m, ", own k")
			line := frame.Line(styles.Line(name), "k", frame.Column("error"), frame.Percent.Without())
			if l, ok := line(t.Where("kind", "swept", "method", m)).(plots.Line); ok {
				dots := styles.Points(name)
				dots.X, dots.Y = l.X, l.Y
				p.Marks = append(p.Marks, l, dots)
			}
		}
		return []plots.Panel{p}
	},
	Missing: "errors of any k",
	Caption: func(t *table.Table) plots.Caption {
		c := readingsCaption(t, "Mean kNN test error over the digit pairs against the number of neighbours k, under metrics of one dimension.", "")
		c.Intervals += " No intervals are drawn: the lines differ by more than trials do."
		return c
	},
}

func drawReadingsErrors(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"metric", "mean error (%)", "lower than Euclidean in"}}
	for _, m := range t.Where("kind", "error").Unique("method") {
		d := digitDuel(t, euclidean, m)
		text.Rows = append(text.Rows, []string{m, judge.Summarize(errorOf(m).PerTrialMean()(t)).Percent(), fmt.Sprintf("%d of %d", d.wins, len(d.X))})
	}
	return frame.Given("errors of any problem", plots.Drawing{Text: text}, func() plots.Caption {
		sep := t.Where("kind", "separable").Values("value")
		return readingsCaption(t, fmt.Sprintf("Mean kNN test errors over the digit pairs. Where POLA learns from pairs of the 100 images of 0 and 8 alone, a line separates them in the plane of two eigenvectors in %g of %d trials.", floats.Sum(sep), len(sep)), "")
	}), nil
}
