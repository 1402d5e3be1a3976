package pola2004

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

type theorem1Settings struct {
	Dim    int     `key:"dim"`
	B1     float64 `key:"b1"` // start threshold of POLA
	Rounds int     `key:"rounds"`
}

// theorem1Streams are the streams: the same pairs of rank 3 in 10 dimensions,
// alone or padded to 200 and rotated, and three start thresholds.
var theorem1Streams = []theorem1Settings{{Dim: 10, B1: 1}, {Dim: 200, B1: 1}, {Dim: 10, B1: 0}, {Dim: 10, B1: 50}}

func (s theorem1Settings) name() string { return fmt.Sprintf("d = %d, b1 = %g", s.Dim, s.B1) }

// Theorem1 draws the loss bound of Theorem 1 against the loss suffered.
var Theorem1 = experiment.Spec{
	ID:      "pola2004/theorem1",
	Title:   "Theorem 1's bound against the cumulative squared loss, and Lemma 3, on separable streams",
	Source:  "Section 4, Theorem 1; Section 6, Lemma 3",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, s := range theorem1Streams {
			s.Rounds = 10000
			if scale == experiment.Smoke {
				s.Rounds = 300
			}
			cells = append(cells, experiment.Cell{
				Name: s.name(), Dataset: "separable", Settings: s,
				Methods: map[string]int{"POLA": pairs.POLAVersion},
			})
		}
		return cells
	},
	Trials:  experiment.Trials(10),
	Kinds:   []experiment.Kind{{Name: "round", Meaning: "the stream so far, after a recorded round"}},
	Columns: theorem1Columns,
	Trial:   theorem1Trial,
	Views: []experiment.View{
		{Name: "theorem1", Title: "Theorem 1's bound against cumulative squared loss", Draw: given("any stream", drawTheorem1)},
		{Name: "lemma3", Title: "Lemma 3, printed and corrected", Draw: drawLemma3},
	},
	Claims: theorem1Claims,
	Cost:   time.Second,
}

var theorem1Columns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Number("round", "", "pairs seen"),
	experiment.Number("squared_loss", "", "sum of the squared losses so far"),
	experiment.Number("mistakes", "", "pairs predicted wrongly so far"),
	experiment.Number("bound", "", "bound of Theorem 1: R(‖A*‖² + (b* − b₁)²), R of the whole stream"),
	experiment.Number("lemma_left", "", "left side of Lemma 3, corrected: ‖A‖² + (b − b₁)²"),
	experiment.Number("lemma_right", "", "right side of Lemma 3, corrected: 4(‖A*‖² + (b* − b₁)²)"),
	experiment.Number("printed_left", "", "left side of Lemma 3 as printed: ‖A‖² + (b − 1)²"),
	experiment.Number("printed_right", "", "right side of Lemma 3 as printed: 4(‖A*‖² + b*²)"),
}

const theorem1Dim, theorem1Rank = 10, 3

func theorem1Trial(ctx context.Context, run *experiment.Run) error {
	set := run.Cell.Settings.(theorem1Settings)
	b1 := set.B1
	s, err := synthetic.SeparablePairs(run.Seed.Stream("pairs"), synthetic.SeparableConfig{Dim: theorem1Dim, Rank: theorem1Rank, N: set.Rounds})
	if err != nil {
		return err
	}
	if set.Dim > theorem1Dim {
		s = s.Pad(set.Dim).Rotate(run.Seed.Stream("rotation"))
	}
	l, err := pairs.NewPOLA(set.Dim, pairs.POLAParams{B1: &b1})
	if err != nil {
		return err
	}
	normA := s.Metric.SqNorm()
	// Both constants of the bound are those of the whole stream.
	r := 1.0
	for _, p := range s.Pairs {
		n := metric.Euclidean{}.SqDist(p.X, p.Y)
		r = max(r, n*n+1)
	}
	bound := r * (normA + (s.Threshold-b1)*(s.Threshold-b1))

	var squared, mistakes float64
	next, round := 1.0, 0
	for o, err := range learners.Run(l, slices.Values(s.Pairs)) {
		if err != nil {
			return err
		}
		round++
		squared += o.Loss * o.Loss
		if o.Mistake {
			mistakes++
		}
		if round != int(next) && round != set.Rounds {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for int(next) <= round {
			next = math.Max(next+1, next*1.25)
		}
		a := l.Metric().SqNorm()
		b := l.Threshold()
		run.Rows.Add(table.Key{"kind": "round"}, table.Values{
			"round": float64(round), "squared_loss": squared, "mistakes": mistakes, "bound": bound,
			"lemma_left": a + (b-b1)*(b-b1), "lemma_right": 4 * (normA + (s.Threshold-b1)*(s.Threshold-b1)),
			"printed_left": a + (b-1)*(b-1), "printed_right": 4 * (normA + s.Threshold*s.Threshold),
		})
	}
	return nil
}

func drawTheorem1(t *table.Table) plots.Drawing {
	d := plots.Drawing{Columns: 2, Caption: plots.Caption{Shows: "Cumulative squared loss of POLA (mean over trials, band: least to largest trial) and Theorem 1's bound " +
		"R(‖A*‖² + (b* − b₁)²) of the trial with the smallest bound, on streams of pairs that a metric of rank 3 separates with margin; drawn from the first round at which every trial has suffered a loss. The number of mistakes lies below the loss. " +
		"d = 200 is the stream of d = 10 padded with zeros and rotated."}}
	for cell, g := range t.Group("cell") {
		p := plots.Panel{Title: symbols.Replace(cell), XLabel: "round", YLabel: "squared loss, mistakes (cumulative)", XLog: true, YLog: true}
		loss := plots.Line{Name: "squared loss of POLA", Color: 0}
		wrong := plots.Line{Name: "mistakes of POLA", Color: 2, Dashed: true}
		bound := math.Inf(1)
		for _, row := range groupRounds(g) {
			bound = min(bound, row.bound)
			if row.min <= 0 || row.mistakes <= 0 {
				continue // not on a log axis
			}
			loss.X, loss.Y = append(loss.X, row.round), append(loss.Y, row.mean)
			loss.Lo, loss.Hi = append(loss.Lo, row.min), append(loss.Hi, row.max)
			wrong.X, wrong.Y = append(wrong.X, row.round), append(wrong.Y, row.mistakes)
		}
		p.Marks = []plots.Mark{loss, wrong, plots.Reference{Name: "bound of Theorem 1", At: bound, Color: 1}}
		d.Panels = append(d.Panels, p)
	}
	return d
}

type roundSummary struct{ round, mean, min, max, mistakes, bound float64 }

// groupRounds summarises the rows of one cell over its trials, by round.
func groupRounds(g *table.Table) []roundSummary {
	var out []roundSummary
	at := map[float64]int{}
	n := map[float64]float64{}
	for i, r := range g.Values("round") {
		k, ok := at[r]
		if !ok {
			k = len(out)
			at[r] = k
			out = append(out, roundSummary{round: r, min: math.Inf(1), max: math.Inf(-1), bound: math.Inf(1)})
		}
		s := &out[k]
		v := g.Values("squared_loss")[i]
		n[r]++
		s.mean += (v - s.mean) / n[r]
		s.mistakes += (g.Values("mistakes")[i] - s.mistakes) / n[r]
		s.min, s.max, s.bound = min(s.min, v), max(s.max, v), min(s.bound, g.Values("bound")[i])
	}
	return out
}

func drawLemma3(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"stream", "printed: largest left/right", "corrected: largest left/right"}}
	for cell, g := range t.Group("cell") {
		text.Rows = append(text.Rows, []string{symbols.Replace(cell),
			fmt.Sprintf("%.3g", largest(g, "printed_left", "printed_right")),
			fmt.Sprintf("%.3g", largest(g, "lemma_left", "lemma_right"))})
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: "Lemma 3 bounds the norm of the hypothesis: left side over right side, the largest over rounds and trials; above 1 the lemma is " +
		"violated. As printed, ‖A‖² + (b − 1)² ≤ 4(‖A*‖² + b*²), it fails for a large start threshold; corrected, ‖A‖² + (b − b₁)² ≤ 4(‖A*‖² + (b* − b₁)²), it holds."}}, nil
}

func largest(g *table.Table, left, right string) float64 {
	out := 0.0
	for i, l := range g.Values(left) {
		out = max(out, l/g.Values(right)[i])
	}
	return out
}

var theorem1Claims = experiment.Claims([]experiment.Claim{
	{
		ID:        "theorem1",
		View:      "theorem1",
		Statement: "Σ ℓ² ≤ R(‖A*‖² + (b* − b₁)²) after every round, on every separable stream, for any b₁.",
		Where:     "Section 4, Theorem 1", Theirs: "the bound (7)",
		Predicate: "The cumulative squared loss is at most the bound at every recorded round of every stream, in every trial.",
		Test:      always("squared_loss", "bound"),
	},
	{
		ID:        "theorem1-mistakes",
		View:      "theorem1",
		Statement: "The number of prediction mistakes cannot exceed R(‖A*‖² + (b* − b₁)²).",
		Where:     "Section 4, after Theorem 1", Theirs: "the bound (7)",
		Predicate: "The mistakes are at most the bound at every recorded round of every stream, in every trial.",
		Test:      always("mistakes", "bound"),
	},
	{
		ID:        "theorem1-dimension",
		View:      "theorem1",
		Statement: "The loss bound does not depend on the dimension of the instance space.",
		Where:     "Section 4, after Theorem 1", Theirs: "no number",
		Predicate: "Padded from 10 to 200 dimensions and rotated, bound and final cumulative squared loss stay the same to 1e-8 relative, in every trial.",
		Test: func(t *table.Table) judge.Test {
			var holds judge.Holds
			for _, g := range t.Group("trial") {
				same := true
				for _, value := range []string{"squared_loss", "bound"} {
					a, b := last(g, theorem1Streams[0].name(), value), last(g, theorem1Streams[1].name(), value)
					same = same && math.Abs(a-b) <= 1e-8*a
				}
				holds = append(holds, same)
			}
			return judge.Check{Test: holds, Why: "Appended zeros and a rotation leave POLA's predictions as they are: the second stream is the first in other coordinates."}
		},
	},
	{
		ID:        "lemma3-printed",
		View:      "lemma3",
		Statement: "‖A‖² + (b − 1)² ≤ 4(‖A*‖² + b*²) after every round (Lemma 3 as printed; no condition on b₁).",
		Where:     "Section 6, Lemma 3", Theirs: "the printed bound",
		Predicate: "Left side ≤ right side at every recorded round of every stream (start thresholds 0, 1 and 50), in every trial.",
		Test:      always("printed_left", "printed_right"),
	},
	{
		ID:        "lemma3-corrected",
		Ours:      true,
		View:      "lemma3",
		Statement: "Ours: ‖A‖² + (b − b₁)² ≤ 4(‖A*‖² + (b* − b₁)²) after every round (Lemma 3 corrected).",
		Where:     "Section 6, Lemma 3; docs/errata.md", Theirs: "not in the paper",
		Predicate: "Left side ≤ right side at every recorded round of every stream, in every trial.",
		Test:      always("lemma_left", "lemma_right"),
	},
})

// boundSlack allows for round-off in sums of up to 10,000 squared losses.
const boundSlack = 1 + 1e-9

// always tests left ≤ right in every row of a trial, for all trials.
func always(left, right string) func(*table.Table) judge.Test {
	return func(t *table.Table) judge.Test {
		var holds judge.Holds
		for _, g := range t.Group("trial") {
			holds = append(holds, largest(g, left, right) <= boundSlack)
		}
		more := ""
		for cell, g := range t.Group("cell") {
			more += fmt.Sprintf("; %s: largest left/right %.3g", symbols.Replace(cell), largest(g, left, right))
		}
		return judge.Shown{Test: holds, More: more}
	}
}

// last returns the value of a stream at its last recorded round, of one trial.
func last(g *table.Table, cell, value string) float64 {
	return experiment.Last("rounds of "+cell, g.Where("cell", cell).Values(value))
}
