package digits

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Overfit is how much better ridge regression does on the images that pixels were chosen on than on others.
var Overfit = experiment.Spec{
	ID:      "rmp2007/overfit",
	Title:   "Pixels chosen without and with labels: training error against test error",
	Source:  "Section 5.2 (\"by selecting features without labels, we are less prone to overfitting\"), which has no experiment",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		checkpoints := []int{10, 20, 50, 100}
		if scale == experiment.Smoke {
			checkpoints = []int{10, 20, 50}
		}
		methods := map[string]int{"RMP": mapping.RMPVersion, "RFE": linear.RFEVersion, "SVM": linear.SVMVersion, "ridge": linear.RidgeVersion}
		return protocol.DigitCells(scale, slices.Max(checkpoints), methods, func(s protocol.DigitSettings) any {
			s.Variants = slices.DeleteFunc(slices.Clone(s.Variants), func(v protocol.MapVariant) bool { return !slices.Contains(overfitVariants, v.Name) })
			return fig2Settings{s, checkpoints, rfeStrengths, fixedStrength}
		})
	},
	Trials:  experiment.Trials(10),
	Columns: overfitColumns,
	Trial: func(ctx context.Context, run *experiment.Run) error {
		return choosePixels(ctx, run, (*digitStream).scoreGaps)
	},
	Views:  []experiment.View{{Name: "overfit", Title: "Test error minus training error of ridge regression on chosen pixels", Draw: overfitView.Draw}},
	Claims: overfitClaims,
	Cost:   16 * time.Second,
}

// overfitVariants are those of protocol.MapVariants that are played: η as printed and as corrected.
var overfitVariants = []string{"squared, printed eta", "squared, corrected eta"}

// The ridges that score, as the table names them.
const (
	ridgeGCV   = "cross-validated"
	ridgeFixed = "fixed"
)

var overfitColumns = experiment.Columns{
	experiment.Text("method", "how the pixels are chosen"),
	experiment.Text("variant", "settings of RMP or RFE"),
	experiment.Text("m", "most pixels that may be chosen; empty for all pixels"),
	experiment.Text("ridge", "how the strength of ridge regression is set: by generalised cross-validation, or fixed"),
	experiment.Text("images", "training images seen"),
	experiment.Number("seen_error", "share", "of the images seen that are classified wrongly"),
	experiment.Number("error", "share", "of the test images that are classified wrongly"),
	experiment.Number("seen_loss", "", "mean squared residual on the images seen, targets −1 and 1"),
	experiment.Number("loss", "", "the same on the test images"),
}

// scoreGaps fits ridge regression to the first n images on some pixels, once per ridge, and adds its errors and losses on
// these images and on the test images.
func (s *digitStream) scoreGaps(ctx context.Context, key table.Key, n int, pixels []int, _ table.Values) error {
	targets, err := classify.Targets(s.y[:n])
	if err != nil {
		return err
	}
	seen, tested := Columns(s.first(n), pixels), Columns(s.tested, pixels)
	for _, kind := range []string{ridgeGCV, ridgeFixed} {
		strength := 0.0
		if kind == ridgeFixed {
			strength = s.ridge
		}
		ridge, err := linear.FitRidge(ctx, seen, targets, linear.RidgeParams{Strength: strength})
		if err != nil {
			return err
		}
		v := table.Values{}
		v["seen_error"], v["seen_loss"] = errorsOf(ridge, seen, s.y[:n])
		v["error"], v["loss"] = errorsOf(ridge, tested, s.truth)
		s.rows.Add(table.Key{"method": key["method"], "variant": key["variant"], "m": key["m"], "ridge": kind, "images": strconv.Itoa(n)}, v)
	}
	return nil
}

// errorsOf returns the share of rows that a hyperplane classifies wrongly, and its mean squared residual.
func errorsOf(h *linear.Ridge, x *mat.Dense, want []classify.Label) (wrong, loss float64) {
	n := float64(len(want))
	for i, label := range want {
		r := h.Predict(x.RawRowView(i)).Score - float64(label)
		loss += r * r / n
	}
	return float64(h.Errors(x, want)) / n, loss
}

// gap is a quantity, error or loss, on the test images minus that on the images seen, of the rows of a way.
func gap(quantity string) frame.Measure {
	return frame.Column(quantity).Minus(frame.Column("seen_" + quantity))
}

// overfitOf are the cells of the rows of a way on a curve.
func (w fig2Way) overfitOf(c protocol.Curve) []string {
	return append(w.Of(c), "ridge", map[bool]string{false: ridgeGCV, true: ridgeFixed}[w.fixed])
}

// overfitWays are RMP by its two η, RFE by its C, random pixels and all pixels.
var overfitWays = slices.Concat(fig2Ways()[:1], fig2Ways()[2:3], fig2Ways()[len(protocol.MapVariants):], fig2Main[2:])

// underGaps tests under all readings, by errors and by squared residuals, what is made of by how much RFE's gap is
// larger than RMP's on each curve.
func underGaps(of func(lead frame.Measure) frame.Measure) frame.Test {
	var out []frame.Reading
	for _, quantity := range []string{"error", "loss"} {
		rule := map[string]judge.Rule{"error": fig2Rule}[quantity]
		for _, p := range fig2Pairs(overfitWays[:2], overfitWays[2:5]) {
			out = append(out, frame.Reading{Name: quantity + "; " + p.name, Test: frame.Positive(rule, protocol.OverCurves(func(c protocol.Curve) frame.Measure {
				return of(gap(quantity).Where(p.rfe.overfitOf(c)...).Minus(gap(quantity).Where(p.rmp.overfitOf(c)...)))
			}))})
		}
	}
	return frame.Readings(out...)
}

const (
	overfitNote  = " Readings: by classification error and by squared residual; η printed and corrected against RFE with C = 100, η printed against C = 1 and C = 0.01, and both main ones with a ridge of strength 1 in place of generalised cross-validation."
	overfitKnown = "the test errors of Fig. 2, which are one side of each gap"
)

var overfitClaims = experiment.Claims([]experiment.Claim{
	{
		ID:         "overfit-less",
		Statement:  "By selecting features without labels, we are less prone to overfitting.",
		Where:      "Section 5.2, advantages of objective (3)",
		Afterwards: overfitKnown, Theirs: "no number",
		Predicate: "RFE's gap, test minus training, minus RMP's, averaged over 10, 20, 50 and 100 images and paired by trial, is positive on each of the four curves (task and m)." + overfitNote,
		Test: underGaps(func(lead frame.Measure) frame.Measure {
			return overCheckpoints(func(float64) bool { return true }, lead)
		}),
	},
	{
		ID:         "overfit-few",
		Statement:  "... less prone to overfitting, especially when there is a large number of features but only few data points.",
		Where:      "Section 5.2, advantages of objective (3)",
		Afterwards: overfitKnown, Theirs: "no number",
		Predicate: "The lead of overfit-less at up to 20 images minus that from 50 on, paired by trial, is positive on each of the four curves; the number of features is that of the pixels." + overfitNote,
		Test: underGaps(func(lead frame.Measure) frame.Measure {
			return overCheckpoints(isFew, lead).Minus(overCheckpoints(isEnough, lead))
		}),
	},
})

var overfitView = frame.View{
	Of:      []string{"ridge", ridgeGCV},
	From:    chosenBy(overfitWays).Then(frame.Called("seen", "images", func(n string) string { return n + " images" })),
	Columns: 2,
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		return frame.Panel{
			Panel: plots.Panel{Title: cells[0] + ", m = " + cells[1], XLabel: "test − training error (percentage points)"},
			// The other C and all pixels stand in the table only.
			Of: []frame.Mark{gapDots(0), gapDots(1), gapDots(2), gapDots(5)},
		}
	}, "task", "at m"),
	Text: &frame.Text{By: []string{"task", "task", "at m", "m", "way", "method", "images", "images"}, Cells: []frame.Cell{
		frame.Of("error on images seen (%)", frame.Column("seen_error"), protocol.Percent, "%.1f"),
		frame.Of("test error (%)", frame.Column("error"), protocol.Percent, "%.1f"),
		frame.PlusMinus("gap (percentage points)", gap("error"), protocol.Percent, "%.2f"),
		frame.PlusMinus("gap of squared residuals", gap("loss"), frame.Band{}, "%.4f"),
	}},
	Caption: func(t *table.Table) plots.Caption {
		return plots.Caption{
			Shows: "Test error minus training error of ridge regression on at most m pixels chosen on the same images (ours; the paper only says that choosing without labels overfits less).",
			Data:  "MNIST, built-in glyphs at smoke scale.",
			Protocol: fmt.Sprintf("Strength by generalised cross-validation on the images seen, of 25 from 10⁻⁸ to 100 times the largest eigenvalue of their scatter; which one is not kept, and it can be an end. "+
				"RMP sees no labels (squared distortion; η as printed or corrected for %v images, R = 5000 steps of Algorithm 2 per image, 500 at smoke scale); RFE sees them. A gap counts all overfitting, that of the choice and that of the regression after it; random pixels show the latter alone.", experiment.Last("errors", frame.Numbers(t, "images"))),
			Intervals: experiment.TrialsNote(t, protocol.TrialsCover) + " The test images are the same in all trials: the intervals do not cover other test images.",
		}
	},
	Missing: "errors of any task",
}

// gapDots are the gaps of errors of a way.
func gapDots(way int) frame.Mark {
	name := overfitWays[way].name
	return frame.Dots(styles.Intervals(name), "seen", gap("error"), protocol.Percent).Where("way", name)
}
