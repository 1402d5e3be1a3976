package pola2004

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"

	"gonum.org/v1/gonum/stat"
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
		{Name: "theorem1", Title: "Theorem 1's bound against cumulative squared loss", Draw: theorem1View.Draw},
		{Name: "lemma3", Title: "Lemma 3, printed and corrected", Draw: lemma3View.Draw},
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
		r = max(r, sq(metric.Euclidean{}.SqDist(p.X, p.Y))+1)
	}
	all := normA + sq(s.Threshold-b1)

	var squared, mistakes float64
	seen := recorder{last: set.Rounds}
	for o, err := range learners.Run(l, slices.Values(s.Pairs)) {
		if err != nil {
			return err
		}
		squared += o.Loss * o.Loss
		mistakes += one(o.Mistake)
		if !seen.another() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		a, b := l.Metric().SqNorm(), l.Threshold()
		run.Rows.Add(table.Key{"kind": "round"}, table.Values{
			"round": float64(seen.round), "squared_loss": squared, "mistakes": mistakes, "bound": r * all,
			"lemma_left": a + sq(b-b1), "lemma_right": 4 * all, "printed_left": a + sq(b-1), "printed_right": 4 * (normA + sq(s.Threshold)),
		})
	}
	return nil
}

// recorder counts rounds, of which it records the last and, up to it, ever fewer.
type recorder struct {
	round, last int
	next        float64
}

// another counts a round and reports whether it is recorded.
func (r *recorder) another() bool {
	r.round++
	if r.round != int(max(r.next, 1)) && r.round != r.last {
		return false
	}
	for int(r.next) <= r.round {
		r.next = max(r.next+1, r.next*1.25)
	}
	return true
}

var theorem1View = frame.View{
	Columns: 2,
	Panels: func(t *table.Table) (out []plots.Panel) {
		for cell, g := range t.Group("cell") {
			loss, wrong := plots.Line{Name: "squared loss of POLA", Color: styles[pola].Color}, plots.Line{Name: "mistakes of POLA", Color: plots.Green, Dash: plots.Dashed}
			for round, of := range frame.ByNumber(g, "round") {
				losses, mistakes := of.Values("squared_loss"), stat.Mean(of.Values("mistakes"), nil)
				if slices.Min(losses) <= 0 || mistakes <= 0 {
					continue // not on a log axis
				}
				loss.X, loss.Y = append(loss.X, round), append(loss.Y, stat.Mean(losses, nil))
				loss.Lo, loss.Hi = append(loss.Lo, slices.Min(losses)), append(loss.Hi, slices.Max(losses))
				wrong.X, wrong.Y = append(wrong.X, round), append(wrong.Y, mistakes)
			}
			bound := plots.Reference{Name: "bound of Theorem 1", At: slices.Min(g.Values("bound")), Color: plots.Black}
			out = append(out, plots.Panel{Title: symbols.Replace(cell), XLabel: "round", YLabel: "squared loss, mistakes (cumulative)", XLog: true, YLog: true, Marks: []plots.Mark{loss, wrong, bound}})
		}
		return out
	},
	Missing: "any stream",
	Caption: func(*table.Table) plots.Caption {
		return plots.Caption{
			Shows: "Cumulative squared loss of POLA and Theorem 1's bound R(‖A*‖² + (b* − b₁)²) of the trial with the smallest bound, " +
				"from the first round at which every trial has suffered a loss. The number of mistakes lies below the loss.",
			Data:      "Streams of pairs that a metric of rank 3 separates with margin; d = 200 is the stream of d = 10 padded with zeros and rotated.",
			Intervals: "Means over trials; the band is from the least to the largest trial.",
		}
	},
}

var lemma3View = frame.View{
	From: frame.Called("stream", "cell", symbols.Replace),
	Text: &frame.Text{By: []string{"stream", "stream"}, Cells: []frame.Cell{
		{Head: "printed: largest left/right", Of: func(g *table.Table) string { return fmt.Sprintf("%.3g", largest(g, "printed_left", "printed_right")) }},
		{Head: "corrected: largest left/right", Of: func(g *table.Table) string { return fmt.Sprintf("%.3g", largest(g, "lemma_left", "lemma_right")) }},
	}},
	Missing: "any stream",
	Caption: func(*table.Table) plots.Caption {
		return plots.Caption{Shows: "Lemma 3 bounds the norm of the hypothesis: left side over right side, the largest over rounds and trials; above 1 the lemma is " +
			"violated. As printed, ‖A‖² + (b − 1)² ≤ 4(‖A*‖² + b*²), it fails for a large start threshold; corrected, ‖A‖² + (b − b₁)² ≤ 4(‖A*‖² + (b* − b₁)²), it holds."}
	},
}

func largest(g *table.Table, left, right string) float64 {
	return slices.Max(append(frame.Share(left, right)(g), 0))
}

var theorem1Claims = experiment.Claims([]experiment.Claim{
	{
		ID:        "theorem1",
		View:      "theorem1",
		Statement: "Σ ℓ² ≤ R(‖A*‖² + (b* − b₁)²) after every round, on every separable stream, for any b₁.",
		Where:     "Section 4, Theorem 1", Theirs: "the bound (7)",
		Predicate: "The cumulative squared loss is at most the bound at every recorded round of every stream, in every trial.",
		Test:      always("squared_loss", "bound").Check("Section 4 proves it.", 0),
	},
	{
		ID:        "theorem1-mistakes",
		View:      "theorem1",
		Statement: "The number of prediction mistakes cannot exceed R(‖A*‖² + (b* − b₁)²).",
		Where:     "Section 4, after Theorem 1", Theirs: "the bound (7)",
		Predicate: "The mistakes are at most the bound at every recorded round of every stream, in every trial.",
		Test:      always("mistakes", "bound").Check("A mistake has a squared loss of 1 at least, so that Theorem 1 bounds their number.", 0),
	},
	{
		ID:        "theorem1-dimension",
		View:      "theorem1",
		Statement: "The loss bound does not depend on the dimension of the instance space.",
		Where:     "Section 4, after Theorem 1", Theirs: "no number",
		Predicate: "Padded from 10 to 200 dimensions and rotated, bound and final cumulative squared loss stay the same to 1e-8 relative, in every trial.",
		Test:      streamsAgree.Check("Appended zeros and a rotation leave POLA's predictions as they are: the second stream is the first in other coordinates.", 0),
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
		Test:      always("lemma_left", "lemma_right").Check("docs/errata.md has the proof.", 0),
	},
})

// boundSlack allows for round-off in sums of up to 10,000 squared losses.
const boundSlack = 1 + 1e-9

// always tests left ≤ right in every row of a trial, for all trials.
func always(left, right string) frame.Test {
	return frame.Always(func(g *table.Table) bool { return largest(g, left, right) <= boundSlack }).Told(func(t *table.Table) (s judge.Shown) {
		for cell, g := range t.Group("cell") {
			s.More += fmt.Sprintf("; %s: largest left/right %.3g", symbols.Replace(cell), largest(g, left, right))
		}
		return s
	})
}

// streamsAgree tests that the first two streams, which differ in dimension, end at the same loss and bound.
var streamsAgree = frame.Always(func(g *table.Table) bool {
	for _, value := range []string{"squared_loss", "bound"} {
		last := func(s theorem1Settings) float64 {
			return experiment.Last("rounds of "+s.name(), g.Where("cell", s.name()).Values(value))
		}
		if a, b := last(theorem1Streams[0]), last(theorem1Streams[1]); !(math.Abs(a-b) <= 1e-8*a) {
			return false
		}
	}
	return true
})
