package bags

import (
	"math"
	"strconv"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/table"
)

// imagesIn are the rows in the order of what the images are of.
var imagesIn = frame.Only("data", MadeUpDigits, digitsStandIn, caltechGrams, caltechPhotos)

// rateOf is the mean recognition rate per class of a method, by trial.
func rateOf(method string) frame.Measure {
	return vectors.ShareOf("missed", method).Map(func(missed float64) float64 { return 1 - missed })
}

// gains are the differences between the rates of two methods, a unit per number of training images.
func gains(method, than string) frame.Units {
	return frame.OverGroups(rateOf(method).Minus(rateOf(than)), "train").Where("kind", "missed").Named(method+" against "+than+", T = ", "")
}

// gainsOver are the gains of LogDet over another rule with the same kernel.
func gainsOver(rule string, of []string) frame.Units {
	var units []frame.Units
	for _, kernel := range of {
		units = append(units, gains(imageMethod(learnedNN, kernel), imageMethod(rule, kernel)))
	}
	return frame.Together(units...)
}

// nextTo is the number of training images per class nearest to one, the smaller of two.
func nextTo(t *table.Table, per int) int {
	best := math.MaxInt
	for _, v := range frame.Numbers(t.Where("kind", "wrong"), "train") {
		if n := int(v); best == math.MaxInt || max(n-per, per-n) < max(best-per, per-best) {
			best = n
		}
	}
	return best
}

// splitRatio is n_test/n_train with the fewest training images, where trials share all images, and 0 for digits: each trial draws some of
// 60,000, or makes its own.
func splitRatio(t *table.Table) float64 {
	if name := experiment.FirstName(t, "data"); name == digitsStandIn || name == MadeUpDigits {
		return 0
	}
	least := nextTo(t, 0)
	tested := t.Where("kind", "wrong", "train", strconv.Itoa(least))
	return experiment.SizeRatio("test and training images", experiment.First(tested, "of"), float64(least)*vectors.SizesOf(t)(protocol.Classes))
}

// imageBand has the mean over trials with the intervals of splitRatio.
func imageBand(t *table.Table) frame.Band {
	ratio := splitRatio(t)
	return frame.Percent.By(func(values []float64) judge.Summary {
		if ratio > 0 {
			return judge.SummarizeResampled(values, ratio)
		}
		return judge.Summarize(values)
	})
}
