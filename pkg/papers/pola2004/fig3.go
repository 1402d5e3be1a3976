package pola2004

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/random"

	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Methods of Fig. 3, as the table names them.
const (
	euclidean   = "Euclidean"
	pola        = "POLA"
	polaTop     = "POLA, first eigenvector"
	fdaPlain    = "FDA, no ridge"
	fdaRidge    = "FDA, validated ridge"
	rca         = "RCA"
	fda         = "FDA"
	rcaPlain    = "RCA, no ridge"
	rcaRidge    = "RCA, validated ridge"
	rcaPCA      = "RCA after PCA"
	embedPCA    = "PCA"
	onTraining  = "training images"
	onHeldOut   = "held-out images"
	fig3Plotted = 100 // images in the two-dimensional plots

	sizeDrawn = "images drawn"
	sizeTrain = "training images"
	sizeTest  = "test images"
	sizePairs = "pairs"
)

// Fig3 is one run for all panels of Fig. 3: per digit pair, kNN error on the
// test images under six metrics learned from the same pairs or labels.
var Fig3 = experiment.Spec{
	ID:      "pola2004/fig3",
	Title:   "kNN error on pairs of digits under POLA, Euclidean, FDA and RCA metrics",
	Source:  "Section 7, Fig. 3",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		return digitCells(scale, func(s settings, d digits) any { return fig3Settings{s, d} })
	},
	Trials: experiment.Trials(8),
	Kinds: []experiment.Kind{
		{Name: "size", Meaning: "how many images or pairs there are"},
		{Name: "stream", Meaning: "what POLA did on the stream of pairs"},
		{Name: "error", Meaning: "test images classified wrongly under a metric"},
		{Name: "point", Meaning: "an image of 0 or 8 in two dimensions"},
		{Name: "separable", Meaning: "whether a straight line separates the points of 0 from those of 8"},
	},
	Columns: fig3Columns,
	Trial:   fig3Trial,
	Views:   fig3Views,
	Claims:  fig3Claims,
	Cost:    10 * time.Second,
}

var fig3Columns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("method", "metric; in the kinds point and separable, what gives the two dimensions; in the kinds size and stream always POLA"),
	experiment.Text("split", "whether the images are training or held-out ones").In("point", "separable"),
	experiment.Text("label", "point: digit of the image; size and stream: what is counted").In("point", "size", "stream"),
	experiment.Number("error", "share", "test images of the two digits that kNN classifies wrongly").In("error"),
	experiment.Number("k", "", "neighbours of kNN, chosen on the training images").In("error"),
	experiment.Number("value", "", "size and stream: the count; separable: 1 if a line separates the points, else 0").In("size", "stream", "separable"),
	experiment.Number("x", "", "projection on the first eigenvector").In("point"),
	experiment.Number("y", "", "projection on the second eigenvector").In("point"),
}

type fig3Settings struct {
	settings
	Digits digits `key:"-" because:"they are the cell's name, which is in the key"`
}

// plottedDigits is the problem that Fig. 3 shows in two dimensions.
var plottedDigits = digits{0, 8}

func allDigitPairs() []digits {
	var out []digits
	for a := range 10 {
		for b := a + 1; b < 10; b++ {
			out = append(out, digits{a, b})
		}
	}
	return out
}

func fig3Trial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(fig3Settings)
	p, err := load(run.Env, run.Seed, s.Digits, s.settings)
	if err != nil {
		return err
	}

	end := run.Lap("choose k")
	k, err := p.chooseK(ctx, s.Candidates)
	end()
	if err != nil {
		return err
	}
	end = run.Lap("learn POLA")
	learned, err := p.learnPOLA(s.settings)
	end()
	if err != nil {
		return err
	}
	for _, c := range []struct {
		kind, label string
		n           int
	}{
		{"size", sizeDrawn, s.Images}, {"size", sizeTrain, len(p.train.y)}, {"size", sizeTest, len(p.test.y)}, {"size", sizePairs, len(p.links)},
		{"stream", "mistakes", learned.mistakes}, {"stream", "updates", learned.updates}, {"stream", "eigenpairs removed", learned.projections},
	} {
		run.Rows.Add(table.Key{"kind": c.kind, "method": pola, "label": c.label}, table.Values{"value": float64(c.n)})
	}
	mp := learned.learner.Metric()
	pca, err := labels.FitPCA(ctx, p.train.x, s.PCADim)
	if err != nil {
		return err
	}

	for _, c := range []struct {
		name  string // of the phase, too
		learn func() (metric.SqDister, error)
	}{
		{euclidean, func() (metric.SqDister, error) { return metric.Euclidean{}, nil }},
		{pola, func() (metric.SqDister, error) { return mp, nil }},
		{polaTop, func() (metric.SqDister, error) { return topDirections(mp, 1), nil }},
		{fdaPlain, func() (metric.SqDister, error) { return p.fda(ctx, 0) }},
		{fdaRidge, func() (metric.SqDister, error) { return p.fda(ctx, s.FDARidge) }},
		{rcaPlain, func() (metric.SqDister, error) { return p.rca(ctx, 0) }},
		{rcaRidge, func() (metric.SqDister, error) { return p.rca(ctx, s.RCARidge) }},
		{rcaPCA, func() (metric.SqDister, error) { return p.rcaAfterPCA(ctx, pca) }},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := run.Lap(c.name)
		m, err := c.learn()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		e, err := errorOn(ctx, m, p.train, p.test, k)
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		run.Rows.Add(table.Key{"kind": "error", "method": c.name}, table.Values{"error": e, "k": float64(k)})
	}

	if s.Digits == plottedDigits {
		err = p.twoDimensions(run.Rows, run.Seed, mp, pca)
	}
	return err
}

// errorOn returns the kNN error on test, with train as neighbours.
func errorOn(ctx context.Context, m metric.SqDister, train, test part, k int) (float64, error) {
	knn, err := nearest.NewKNN(m, train.x, train.y, nearest.KNNOptions{})
	if err != nil {
		return 0, err
	}
	wrong, err := knn.Errors(ctx, test.x, test.y, []int{k})
	if err != nil {
		return 0, err
	}
	return float64(wrong[0]) / float64(len(test.y)), nil
}

// chooseK returns the candidate with the least leave-one-out error on the
// training images under the Euclidean metric; the smaller of equals.
func (p *problem) chooseK(ctx context.Context, candidates []int) (int, error) {
	knn, err := nearest.NewKNN(metric.Euclidean{}, p.train.x, p.train.y, nearest.KNNOptions{})
	if err != nil {
		return 0, err
	}
	wrong, err := knn.LeaveOneOut(ctx, candidates)
	if err != nil {
		return 0, err
	}
	return candidates[slices.Index(wrong, slices.Min(wrong))], nil
}

func (p *problem) fda(ctx context.Context, ridge float64) (metric.SqDister, error) {
	f, err := labels.FitFDA(ctx, p.train.x, p.train.y, labels.FDAParams{K: 1, Ridge: ridge})
	if err != nil {
		return nil, err
	}
	return f.Metric(), nil
}

func (p *problem) rca(ctx context.Context, ridge float64) (metric.SqDister, error) {
	r, err := pairs.FitRCA(ctx, p.train.x, p.links, pairs.RCAParams{Ridge: ridge})
	if err != nil {
		return nil, err
	}
	return r.Metric, nil
}

// rcaAfterPCA learns RCA in the space of the components and returns the metric
// of the composed map x ↦ L_RCA·V·x in the original space.
func (p *problem) rcaAfterPCA(ctx context.Context, pca *labels.PCA) (metric.SqDister, error) {
	r, err := pairs.FitRCA(ctx, pca.Transform(p.train.x), p.links, pairs.RCAParams{})
	if err != nil {
		return nil, err
	}
	var l mat.Dense
	l.Mul(r.Metric.Factor(), pca.Components())
	return metric.FromFactor(&l), nil
}

// topDirections is the Euclidean metric on the k leading eigenvectors of m (on
// all of them if m has fewer): only the directions count, not the eigenvalues.
func topDirections(m *metric.Mahalanobis, k int) *metric.Mahalanobis {
	if m.Rows() == 0 {
		return m
	}
	_, v := m.Principal(min(k, m.Rows()))
	return metric.FromFactor(v)
}

// twoDimensions adds the bottom row of Fig. 3: random images of the two digits
// in the plane of the two leading eigenvectors of PCA and of POLA, and whether
// a line separates them.
func (p *problem) twoDimensions(rows *table.Table, seed random.Seed, m *metric.Mahalanobis, pca *labels.PCA) error {
	maps := []struct {
		name string
		l    *metric.Mahalanobis
	}{
		{embedPCA, metric.FromFactor(pca.Components().Slice(0, 2, 0, m.Dim()))},
		{pola, topDirections(m, 2)},
	}
	for _, split := range []struct {
		name string
		part part
	}{{onTraining, p.train}, {onHeldOut, p.test}} {
		idx := seed.Stream("plotted " + split.name).Perm(len(split.part.y))
		shown := split.part.rows(idx[:min(fig3Plotted, len(idx))])
		for _, mp := range maps {
			z := mp.l.EmbedRows(shown.x)
			if _, c := z.Dims(); c != 2 {
				return fmt.Errorf("pola2004: %s has %d directions, want 2", mp.name, c)
			}
			for i, y := range shown.y {
				rows.Add(table.Key{"kind": "point", "method": mp.name, "split": split.name, "label": strconv.Itoa(y)},
					table.Values{"x": z.At(i, 0), "y": z.At(i, 1)})
			}
			ok, _, err := linear.LinearlySeparable(z, shown.y)
			if err != nil {
				return err
			}
			rows.Add(table.Key{"kind": "separable", "method": mp.name, "split": split.name}, table.Values{"value": one(ok)})
		}
	}
	return nil
}

var fig3Views = []experiment.View{
	{Name: "fig3-euclidean", Title: "Fig. 3, top left: POLA against the Euclidean metric", Draw: scatter(pola, euclidean).Draw},
	{Name: "fig3-fda", Title: "Fig. 3, top right: POLA's first eigenvector against FDA", Draw: scatter(polaTop, fdaPlain, fdaRidge).Draw},
	{Name: "fig3-rca", Title: "Fig. 3, middle left: POLA against RCA without PCA", Draw: scatter(pola, rcaPlain, rcaRidge).Draw},
	{Name: "fig3-rca-pca", Title: "Fig. 3, middle right: POLA against RCA after PCA", Draw: scatter(pola, rcaPCA).Draw},
	{Name: "fig3-0-8", Title: "Fig. 3, bottom: 0 and 8 in two dimensions", Draw: twoDimensionsView.Draw},
	{Name: "fig3-errors", Title: "All errors of Fig. 3 as a table", Draw: drawErrors},
}

// digitsCaption is a caption with data and settings.
func digitsCaption(t *table.Table, shows string, about ...string) plots.Caption {
	size := func(label string) float64 {
		return stat.Mean(t.Where("kind", "size", "label", label).Values("value"), nil)
	}
	candidates := strings.ReplaceAll(strings.Trim(fmt.Sprint(mainSettings.Candidates), "[]"), " ", ", ")
	return plots.Caption{
		Shows: shows,
		Data: fmt.Sprintf("%s, %s. Each problem has the training images of its two digits among %.0f random ones (%.0f on average, all kept as neighbours), and all %.0f (on average) test images of the two digits.",
			digitSource(size(sizeDrawn) < float64(mainSettings.Images)), describeScaling[mainSettings.Scaling], size(sizeDrawn), size(sizeTrain), size(sizeTest)),
		Protocol: strings.Join(append(about, fmt.Sprintf("%.0f uniformly random pairs, one pass; b₁ = %s; k from %s by leave-one-out on the training images under the Euclidean metric, per problem and trial, the same for all methods.",
			size(sizePairs), table.Format(mainSettings.B1), candidates)), " "),
		Intervals: experiment.TrialsNote(t, drawsOnly) + " The test images are the same in all trials, and training draws overlap: the intervals do not cover other test images.",
	}
}

// rivals explains the methods that need it.
var rivals = map[string]string{
	fdaPlain: "FDA sees the labels of all training images; without a ridge it takes the pseudo-inverse of the scatter within classes (rank tolerance 1e-10).",
	fdaRidge: fmt.Sprintf("The validated ridge of FDA is %s of the mean variance.", table.Format(mainSettings.FDARidge)),
	rcaPlain: "RCA sees the similar pairs; without a ridge it takes the pseudo-inverse of the scatter within chunklets (rank tolerance 1e-10).",
	rcaRidge: fmt.Sprintf("The validated ridge of RCA is %s times the mean variance, which makes its metric nearly Euclidean: among the ridges swept, that is where RCA without PCA is best.", table.Format(mainSettings.RCARidge)),
	rcaPCA:   fmt.Sprintf("PCA to %d dimensions (at full scale: the paper's number, chosen by its authors on the test set), fitted to the problem's training images; then RCA without a ridge.", mainSettings.PCADim),
	polaTop:  "Of POLA's matrix only the eigenvector of the largest eigenvalue is kept.",
}

// scatter shows y's error against the error of one or more others, a point
// per problem.
func scatter(y string, others ...string) frame.View {
	var about []string
	for _, m := range append([]string{y}, others...) {
		if r := rivals[m]; r != "" {
			about = append(about, r)
		}
	}
	return frame.View{
		Needs:   []string{"kind", "error"},
		Columns: len(others),
		Panels: func(t *table.Table) (out []plots.Panel) {
			for _, x := range others {
				p := duelPanel(x, y, digitDuel(t, x, y))
				if len(others) > 1 {
					p.Title = "against " + x
				}
				out = append(out, p)
			}
			return out
		},
		Missing: "errors of any problem",
		Caption: func(t *table.Table) plots.Caption {
			shows := fmt.Sprintf("kNN test error per digit pair: %s (vertical) against %s; below the diagonal %s is better.", y, strings.Join(others, " and "), y)
			for _, x := range others {
				d := digitDuel(t, x, y)
				shows += fmt.Sprintf(" %s has the lower mean error in %d of %d problems against %s.", y, d.wins, len(d.X), x)
			}
			return digitsCaption(t, shows, slices.Clip(about)...)
		},
	}
}

// errorOf is the error of a metric, per problem and trial.
func errorOf(method string) frame.Measure {
	return frame.Column("error").Where("kind", "error", "method", method)
}

// digitDuel compares two metrics, with a point per pair of digits.
func digitDuel(t *table.Table, x, y string) duel {
	d := duel{Points: plots.Points{Name: "one pair of digits"}}
	for _, g := range t.Where("kind", "error").Group("cell") {
		d.add(judge.Summarize(errorOf(x)(g)), judge.Summarize(errorOf(y)(g)))
	}
	return d
}

var twoDimensionsView = frame.View{
	Needs:   []string{"kind", "point"},
	Columns: 2,
	Panels: func(t *table.Table) []plots.Panel {
		return frame.PerGroup(func(cells []string) frame.Panel {
			p := frame.Panel{Panel: plots.Panel{Title: cells[1] + ", " + cells[0], XLabel: "first eigenvector", YLabel: "second eigenvector"}}
			for i, digit := range []string{"0", "8"} {
				p.Of = append(p.Of, frame.Scatter(plots.Points{Name: "digit " + digit, Color: i, Shape: i}, frame.Column("x"), frame.Column("y")).Where("label", digit))
			}
			return p
		}, "split", "method")(t.Where("kind", "point", "trial", experiment.FirstName(t.Where("kind", "point"), "trial")))
	},
	Missing: "the problem 0-8",
	Caption: func(t *table.Table) plots.Caption {
		share := ""
		for cells, g := range t.Where("kind", "separable").Groups("split", "method") {
			share += fmt.Sprintf(" %s, %s: %g of %d.", cells[1], cells[0], floats.Sum(g.Values("value")), g.Len())
		}
		return plots.Caption{
			Shows: fmt.Sprintf("%d random images of the digits 0 and 8, projected on the two leading unit eigenvectors (first trial shown). "+
				"Trials in which a straight line separates the digits:%s", fig3Plotted, share),
			Data:     digitSource(len(t.Unique("cell")) < len(allDigitPairs())) + ", " + describeScaling[mainSettings.Scaling] + ".",
			Protocol: "PCA is fitted to the problem's training images. Whether a line separates the digits is a linear program.",
		}
	},
}

func drawErrors(t *table.Table) (plots.Drawing, error) {
	errs := t.Where("kind", "error")
	text, last := &plots.TextTable{Head: append([]string{"digits"}, errs.Unique("method")...)}, []string{"mean"}
	for cell, g := range errs.Group("cell") {
		row := []string{cell}
		for _, m := range errs.Unique("method") {
			row = append(row, judge.Summarize(errorOf(m)(g)).Percent())
		}
		text.Rows = append(text.Rows, row)
	}
	for _, m := range errs.Unique("method") {
		last = append(last, fmt.Sprintf("%.2f", frame.Percent.Mean(errorOf(m)(errs))))
	}
	text.Rows = append(text.Rows, last)
	return plots.Drawing{Text: text, Caption: digitsCaption(t, "kNN test error in per cent.")}, nil
}
