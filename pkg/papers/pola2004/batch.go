package pola2004

import (
	"context"
	"fmt"
	"math"
	"slices"
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

// Hypotheses of Section 6: what is kept of an online run, or of repeated ones.
const (
	hypothesisLast      = "one pass, last"
	hypothesisAveraged  = "one pass, averaged"
	hypothesisValidated = "one pass, validated"
	hypothesisPasses    = "batch POLA, passes"
	hypothesisSteps     = "batch POLA, largest violation"

	batchBeta    = 0.1 // β
	batchHeldOut = 2000
)

var hypotheses = []string{hypothesisLast, hypothesisAveraged, hypothesisValidated, hypothesisPasses, hypothesisSteps}

type batchSettings struct {
	Pairs      int     `key:"pairs"`      // to learn from
	HeldOut    int     `key:"held-out"`   // pairs
	Validation int     `key:"validation"` // pairs, apart from both
	Beta       float64 `key:"beta"`
	Cap        int     `key:"cap"`    // on passes; on steps it is this times the pairs
	Digits     digits  `key:"digits"` // 0-0 is pairs that a metric of rank 3 separates
	Images     int     `key:"images,omitzero"`
	PCADim     int     `key:"pca-dim,omitzero"`
}

func (s batchSettings) made() bool { return s.Digits == digits{} }

func (s batchSettings) name() string {
	if s.made() {
		return fmt.Sprintf("separable, %d pairs", s.Pairs)
	}
	return fmt.Sprintf("%s after PCA, %d pairs", s.Digits, s.Pairs)
}

// Batch compares the ways of Section 6 to get one hypothesis from POLA.
var Batch = experiment.Spec{
	ID:      "pola2004/batch",
	Title:   "POLA in batch: passes until no loss exceeds β against their bound, and the held-out loss of five hypotheses",
	Source:  "Section 6",
	Version: 2,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		sizes, on, held := []int{50, 200, 800}, []digits{{0, 8}, {3, 5}}, batchHeldOut
		main := mainSettings.at(scale)
		if scale == experiment.Smoke {
			sizes, on, held = []int{50}, []digits{{0, 8}}, 200
		}
		var cells []experiment.Cell
		add := func(s batchSettings, data string) {
			s.HeldOut, s.Validation, s.Beta = held, max(20, s.Pairs/4), batchBeta
			cells = append(cells, experiment.Cell{Name: s.name(), Dataset: data, Settings: s, Methods: map[string]int{"POLA": pairs.POLAVersion, "batch POLA": pairs.BatchPOLAVersion, "PCA": labels.PCAVersion}})
		}
		for _, n := range sizes {
			add(batchSettings{Pairs: n, Cap: 1000}, "separable")
		}
		for _, d := range on {
			add(batchSettings{Pairs: main.Pairs, Cap: 25, Digits: d, Images: main.Images, PCADim: main.PCADim}, digitDataset(scale))
		}
		return cells
	},
	Trials: experiment.Trials(10),
	Kinds: []experiment.Kind{
		{Name: "hypothesis", Meaning: "losses of a hypothesis"},
		{Name: "run", Meaning: "how long batch POLA ran"},
	},
	Columns: batchColumns,
	Trial:   batchTrial,
	Views: []experiment.View{
		{Name: "batch", Title: "Held-out loss of five hypotheses", Draw: batchView.Draw},
		{Name: "batch-runs", Title: "Iterations of batch POLA and their bound", Draw: batchRunsView.Draw},
	},
	Claims: batchClaims,
	Cost:   3 * time.Second,
}

var batchColumns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("method", "hypothesis"),
	experiment.Number("largest", "", "largest hinge loss of a training pair").In("hypothesis"),
	experiment.Number("training", "", "mean hinge loss of the training pairs").In("hypothesis"),
	experiment.Number("held_out", "", "mean hinge loss of held-out pairs").In("hypothesis"),
	experiment.Number("wrong", "share", "held-out pairs predicted wrongly").In("hypothesis"),
	experiment.Number("iterations", "", "passes, or steps on the pair of the largest loss").In("run"),
	experiment.Number("bound", "", "R(‖A*‖² + (b* − b₁)²)/β², rounded up; 0 where no metric is known to be right about all pairs").In("run"),
	experiment.Number("converged", "", "1 if no training pair's loss exceeds β, else 0").In("run"),
}

// batchData are pairs to learn from, to choose by and to score by, as links between rows.
type batchData struct {
	x, other, choice           *mat.Dense // rows of training, of held-out and of validation pairs
	links, heldOut, validation []metric.Link
	bound                      float64
}

func (s batchSettings) load(ctx context.Context, env *experiment.Env, seed random.Seed) (batchData, error) {
	if s.made() {
		n := s.Pairs + s.HeldOut + s.Validation
		made, err := synthetic.SeparablePairs(seed.Stream("pairs"), synthetic.SeparableConfig{Dim: theorem1Dim, Rank: theorem1Rank, N: n})
		if err != nil {
			return batchData{}, err
		}
		out := batchData{x: mat.NewDense(2*s.Pairs, theorem1Dim, nil), other: mat.NewDense(2*(n-s.Pairs), theorem1Dim, nil)}
		r := 1.0
		for i, p := range made.Pairs {
			x, at, links := out.x, i, &out.links
			if i >= s.Pairs {
				x, at, links = out.other, i-s.Pairs, &out.heldOut
			}
			if i >= s.Pairs+s.HeldOut {
				links = &out.validation
			}
			if i < s.Pairs {
				r = max(r, sq(metric.Euclidean{}.SqDist(p.X, p.Y))+1)
			}
			x.SetRow(2*at, p.X)
			x.SetRow(2*at+1, p.Y)
			*links = append(*links, metric.Link{I: 2 * at, J: 2*at + 1, Label: p.Label})
		}
		out.choice = out.other
		out.bound = math.Ceil(r * (made.Metric.SqNorm() + sq(made.Threshold-mainSettings.B1)) / sq(s.Beta))
		return out, nil
	}
	protocol := mainSettings
	protocol.Images, protocol.Pairs, protocol.PCADim = s.Images, s.Pairs, s.PCADim
	p, err := load(env, seed, s.Digits, protocol)
	if err != nil {
		return batchData{}, err
	}
	pca, err := labels.FitPCA(ctx, p.train.x, s.PCADim)
	if err != nil {
		return batchData{}, err
	}
	out := batchData{x: mat.DenseCopyOf(pca.Transform(p.train.x)), other: mat.DenseCopyOf(pca.Transform(p.test.x)), choice: mat.DenseCopyOf(pca.Transform(p.valid.x)), links: p.links}
	if out.heldOut, err = sample.RandomLinks(seed.Stream("held-out pairs"), p.test.y, s.HeldOut); err != nil {
		return batchData{}, err
	}
	out.validation, err = sample.RandomLinks(seed.Stream("validation pairs"), p.valid.y, s.Validation)
	return out, err
}

// lossesOf are the hinge losses of pairs under a metric and a threshold, and how many are predicted wrongly.
func lossesOf(m metric.SqDister, b float64, x *mat.Dense, links []metric.Link) (mean, largest float64, wrong int) {
	for _, l := range links {
		d := m.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
		loss := hinge(l.Label, d, b)
		mean, largest = mean+loss/float64(len(links)), max(largest, loss)
		if (d <= b) != (l.Label == metric.Similar) {
			wrong++
		}
	}
	return mean, largest, wrong
}

func batchTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(batchSettings)
	d, err := s.load(ctx, run.Env, run.Seed)
	if err != nil {
		return err
	}
	add := func(name string, m metric.SqDister, b float64) {
		training, largest, _ := lossesOf(m, b, d.x, d.links)
		heldOut, _, wrong := lossesOf(m, b, d.other, d.heldOut)
		run.Rows.Add(table.Key{"kind": "hypothesis", "method": name}, table.Values{"largest": largest, "training": training, "held_out": heldOut, "wrong": float64(wrong) / float64(len(d.heldOut))})
	}
	kept, err := onlineHypotheses(ctx, d)
	if err != nil {
		return err
	}
	for i, h := range kept {
		add(hypotheses[i], h.m, h.b)
	}
	b1 := mainSettings.B1
	for _, r := range []struct {
		name    string
		reading pairs.BatchReading
		cap     int
	}{{hypothesisPasses, pairs.BatchPasses, s.Cap}, {hypothesisSteps, pairs.BatchViolations, s.Cap * s.Pairs}} {
		fit, err := pairs.FitBatchPOLA(ctx, d.x, d.links, pairs.BatchPOLAParams{POLAParams: pairs.POLAParams{B1: &b1}, Beta: s.Beta, Reading: r.reading, MaxIterations: r.cap})
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		add(r.name, fit.Metric, fit.Threshold)
		run.Rows.Add(table.Key{"kind": "run", "method": r.name}, table.Values{"iterations": float64(fit.Iterations), "bound": d.bound, "converged": one(fit.Status == learners.Converged)})
	}
	return nil
}

type hypothesis struct {
	m metric.SqDister
	b float64
}

// onlineHypotheses runs POLA once over the training pairs. It returns the last hypothesis, the mean of all matrices and thresholds after a round, and
// of 25 hypotheses spread over the rounds the one of the least mean loss on the validation pairs, the first of equals.
func onlineHypotheses(ctx context.Context, d batchData) ([]hypothesis, error) {
	_, dim := d.x.Dims()
	b1 := mainSettings.B1
	l, err := pairs.NewPOLA(dim, pairs.POLAParams{B1: &b1})
	if err != nil {
		return nil, err
	}
	const looks = 25
	sum, threshold := mat.NewSymDense(dim, nil), 0.0
	now := mat.NewSymDense(dim, nil)
	now.CopySym(l.Metric().M())
	best, bestLoss := hypothesis{}, math.Inf(1)
	round := 0
	for o, err := range learners.Run(l, sample.Pairs(d.x, d.links)) {
		if err != nil {
			return nil, err
		}
		if o.Updated {
			now.CopySym(l.Metric().M())
		}
		sum.AddSym(sum, now)
		threshold += l.Threshold()
		round++
		if round*looks/len(d.links) > (round-1)*looks/len(d.links) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			m := l.Metric()
			if loss, _, _ := lossesOf(m, l.Threshold(), d.choice, d.validation); loss < bestLoss {
				best, bestLoss = hypothesis{m, l.Threshold()}, loss
			}
		}
	}
	sum.ScaleSym(1/float64(round), sum)
	mean, err := metric.NewMahalanobis(sum)
	if err != nil {
		return nil, err
	}
	return []hypothesis{{l.Metric(), l.Threshold()}, {mean, threshold / float64(round)}, best}, nil
}

var heldOut = frame.Column("held_out")

var batchView = frame.View{
	Of: []string{"kind", "hypothesis"},
	Panels: frame.PerMark(plots.Panel{XLabel: "mean hinge loss on held-out pairs"}, "cell", func(i int, cell string) frame.Mark {
		return frame.Dots(plots.Intervals{Name: cell, Color: i, Shape: i}, "method", heldOut, frame.Band{})
	}),
	Text: &frame.Text{By: []string{"cell", "pairs", "method", "hypothesis"}, Cells: []frame.Cell{
		{Head: "largest training loss", Of: func(g *table.Table) string { return fmt.Sprintf("%.3g", slices.Max(g.Values("largest"))) }},
		frame.Of("mean training loss", frame.Column("training"), frame.Band{}, "%.3g"),
		{Head: "mean held-out loss", Of: func(g *table.Table) string { return interval(heldOut(g)) }},
		frame.WithInterval("held-out pairs wrong (%)", frame.Column("wrong"), frame.Band{}),
	}},
	Missing: "any hypothesis",
	Caption: frame.Says(
		"Mean hinge loss on held-out pairs of five hypotheses. The averaged one is the mean of all matrices and thresholds; the validated one has the least loss on a quarter as many other pairs.",
		"Made-up pairs that a metric of rank 3 in 10 dimensions separates, and uniformly random pairs of digits after PCA (held-out ones of test images, validation ones of other training images).",
		fmt.Sprintf("β = %g; batch POLA ends after 1,000 passes over made-up pairs and 25 over pairs of digits, or as many steps, if it must; which fits came to β the view batch-runs tells. The largest training loss is that of any trial.", batchBeta), drawsOnly),
}

// interval is a mean with its half-width, where there is one.
func interval(values []float64) string {
	mean, half := judge.Summarize(values).Interval()
	if math.IsNaN(half) || half == 0 {
		return fmt.Sprintf("%.3g", mean)
	}
	return fmt.Sprintf("%.3g ± %.2g", mean, half)
}

var batchRunsView = frame.View{
	Of: []string{"kind", "run"},
	Text: &frame.Text{By: []string{"cell", "pairs", "method", "batch POLA"}, Cells: []frame.Cell{
		frame.Of("iterations, mean", frame.Column("iterations"), frame.Band{}, "%.0f"),
		{Head: "least bound", Of: func(g *table.Table) string {
			if b := slices.Min(bound(g)); b > 0 {
				return fmt.Sprintf("%.3g", b)
			}
			return "none known"
		}},
		{Head: "converged", Of: func(g *table.Table) string {
			return fmt.Sprintf("%g of %d", floats.Sum(g.Values("converged")), g.Len())
		}},
	}},
	Missing: "any run",
	Caption: frame.Says(
		"How many iterations batch POLA takes until no training pair has a hinge loss above β, and the paper's bound R(‖A*‖² + (b* − b₁)²)/β², of the trial with the smallest bound.",
		"", "\"It invokes POLA multiple times\" is read as passes over all pairs, and as steps on the pair of the largest loss.", drawsOnly),
}

// batchFits are the two readings of batch POLA.
var batchFits = []string{hypothesisPasses, hypothesisSteps}

var bound = frame.Column("bound")

// onDigits are the rows of cells for which no bound is known: those of digits.
func onDigits(t *table.Table) *table.Table {
	return frame.Only("cell", slices.DeleteFunc(t.Unique("cell"), func(cell string) bool {
		return experiment.First(t.Where("kind", "run", "cell", cell), "bound") != 0
	})...)(t)
}

// smallLoss is "the loss on the test set is also small": the mean held-out loss is at most 2β.
const smallLoss = 2 * batchBeta

var batchClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "batch-bound", View: "batch-runs",
		Statement: "The loss bound guarantees that at most ⌈R(‖A*‖² + (b* − b₁)²)/β²⌉ invocations of POLA will be required.",
		Where:     "Section 6", Theirs: "the bound",
		Predicate: "On separable pairs batch POLA converges within the bound in every trial, for each number of pairs; an invocation being a pass, or a step on the pair of the largest loss.",
		Test: frame.UnderNames(batchFits, func(m string) frame.Test {
			return frame.Always(func(g *table.Table) bool {
				for i, b := range bound(g) {
					if b > 0 && (g.Values("converged")[i] != 1 || g.Values("iterations")[i] > b) {
						return false
					}
				}
				return true
			}).Where("kind", "run", "method", m).Check("It follows from Theorem 1, since each invocation has a squared loss of β² at least.", 0)
		}),
	},
	{
		ID: "batch-generalises", View: "batch",
		Statement: "The resulting pseudo-metric has good generalization properties: with high probability the loss on the test set is also small.",
		Where:     "Section 6", Theirs: "no number",
		Predicate: "2β − mean hinge loss on held-out pairs > 0 on each set of pairs, separable and of digits, over trials; for both readings of an invocation, on all sets and on those where every fit came to β.",
		Test: func(t *table.Table) judge.Test {
			var out judge.Readings
			for _, m := range batchFits {
				var all, reached []judge.Unit
				for cell, g := range t.Where("kind", "hypothesis", "method", m).Group("cell") {
					u := judge.Unit{Name: cell, Diffs: heldOut.Times(-1).Plus(smallLoss)(g)}
					all = append(all, u)
					if slices.Min(experiment.NotEmpty("runs of "+cell, t.Where("kind", "run", "method", m, "cell", cell).Values("converged"))) == 1 {
						reached = append(reached, u)
					}
				}
				out = append(out, judge.Reading{Name: m, Test: judge.Positive{Units: all}})
				if len(reached) > 0 {
					out = append(out, judge.Reading{Name: m + ", where every fit came to β", Afterwards: "the losses of all sets", Test: judge.Positive{Units: reached}})
				}
			}
			return out
		},
	},
	{
		ID: "batch-conversions", View: "batch",
		Ours:      true,
		Title:     "Ours: on digits the averaged and the validated hypothesis have a lower held-out loss than the last one.",
		Statement: "Ours, after \"various techniques to convert from online to batch learning\": on digits the averaged and the validated hypothesis have a lower held-out loss than the last one.",
		Where:     "Section 6", Theirs: "not in the paper",
		Predicate: "Per pair of digits, held-out loss of the last hypothesis − that of the other > 0, paired over trials; averaged and validated.",
		Test: frame.UnderNames([]string{hypothesisAveraged, hypothesisValidated}, func(m string) frame.Test {
			better := frame.OverGroups(heldOut.Where("method", hypothesisLast).Minus(heldOut.Where("method", m)), "cell")
			return frame.Positive(judge.Rule{}, better.Where("kind", "hypothesis")).On(onDigits)
		}).AsParts(),
	},
})
