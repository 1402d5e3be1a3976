package logdet2012

import (
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// imageResultsOf returns the results of a table by what the images are of.
func imageResultsOf(t *table.Table) []results {
	var out []results
	for _, name := range []string{madeUpDigits, digitsStandIn, caltechGrams, caltechPhotos} {
		if g := t.Where("data", name); g.Where("kind", "wrong").Len() > 0 {
			out = append(out, results{name: name, t: g, varied: "train"})
		}
	}
	return out
}

// rates are the mean recognition rates per class, by trial.
func (r results) rates(method string, per int) []float64 {
	out := shares(r.of("missed", method, per))
	if len(out) == 0 {
		judge.Refuse("logdet2012: %s: there are no results of %s with %d training images per class", r.name, method, per)
	}
	floats.Scale(-1, out)
	floats.AddConst(1, out)
	return out
}

// gains are the differences between the rates of two methods, a unit per number of training images.
func (r results) gains(method, than string) []judge.Unit {
	var units []judge.Unit
	for _, per := range r.numbers() {
		units = append(units, judge.Paired(fmt.Sprintf("%s against %s, T = %d", method, than, per), r.rates(method, per), r.rates(than, per)))
	}
	return units
}

// gainsOver are the gains of LogDet over another rule with the same kernel.
func (r results) gainsOver(rule string, of []string) []judge.Unit {
	var units []judge.Unit
	for _, kernel := range of {
		units = append(units, r.gains(imageMethod(learnedNN, kernel), imageMethod(rule, kernel))...)
	}
	return units
}

// nextTo is the number of training images per class nearest to one, the smaller of two.
func (r results) nextTo(per int) int {
	all := r.numbers()
	if len(all) == 0 {
		judge.Refuse("logdet2012: %s: there are no results", r.name)
	}
	best := all[0]
	for _, n := range all {
		if max(n-per, per-n) < max(best-per, per-best) {
			best = n
		}
	}
	return best
}

// rule says what differences of rates are: of trials with images of their own, or of random splits of the same images.
func (r results) rule() judge.Rule {
	return judge.Rule{Scale: 100, Unit: "points", TestRatio: r.splitRatio()}
}

// splitRatio is n_test/n_train with the fewest training images, where trials share all images, and 0 for digits: each trial draws some of
// 60,000, or makes its own.
func (r results) splitRatio() float64 {
	if r.name == digitsStandIn || r.name == madeUpDigits {
		return 0
	}
	least := r.nextTo(0)
	tested := r.t.Where("kind", "wrong", "train", strconv.Itoa(least)).Values("of")
	n := float64(least) * r.size(classes)
	if len(tested) == 0 || !(n > 0) {
		judge.Refuse("logdet2012: %s: the sizes of training and test sets are not told", r.name)
	}
	return tested[0] / n
}

// imageSummary is the mean over trials with the interval of rule.
func imageSummary(r results, values []float64) judge.Summary {
	if ratio := r.splitRatio(); ratio > 0 {
		return judge.SummarizeResampled(values, ratio)
	}
	return judge.Summarize(values)
}
