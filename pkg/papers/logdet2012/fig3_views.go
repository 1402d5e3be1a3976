package logdet2012

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
)

var fig3Views = []experiment.View{
	{Name: "fig3a", Title: "Fig. 3(a): recognition rate with learned image kernels", Draw: drawn("recognition rates", imageResultsOf, drawFig3a)},
	{Name: "fig3b", Title: "Fig. 3(b): learned image kernels beside those that they start from, nearest neighbour", Draw: drawn("recognition rates", imageResultsOf, drawFig3b)},
	{Name: "svm", Title: "Image kernels: nearest neighbour with the learned kernel beside support vector machines", Draw: drawn("recognition rates", imageResultsOf, drawImageSVM)},
	{Name: "choices", Title: "Image kernels: what was chosen on the training images, and fits that did not converge", Draw: experiment.WithEnds(drawn("choices with images", imageResultsOf, drawImageChoices), fig3Choices)},
	{Name: "kernels", Title: "Image kernels: what clipping removes on the training images", Draw: drawn("clipped kernels", imageResultsOf, drawClipped)},
}

// imageProtocol describes data and settings in captions.
func imageProtocol(all []results) string {
	r := all[0]
	local := fmt.Sprintf("each a set of edge points, %.1f on average. PMK: pyramid match of positions and directions; CORR: best match of geometric blur with positions; "+
		"SUM: the mean of PMK, a spatial pyramid of directions, and geometric blur without and with positions. ", r.size(featuresPerImage))
	standIn := "Stand-in, since Caltech-101 may not be passed on; the paper's curves are pictures without numbers and are not drawn: %.0f "
	data := map[string]string{
		madeUpDigits:  fmt.Sprintf(standIn+"built-in, made-up digits, ", r.size(objects)) + local,
		digitsStandIn: fmt.Sprintf(standIn+"digits of MNIST's training set, drawn anew in each trial, ", r.size(objects)) + local,
		caltechGrams:  "Caltech-101, the kernel matrices supplied. ",
		caltechPhotos: "Caltech-101, the photographs supplied, with features of ours in place of SIFT. ",
	}
	text := "Data: "
	for _, r := range all {
		text += data[r.name]
	}
	text += fmt.Sprintf("Protocol: T training images per class, all others test; k = 1; mean of the recognition rates of the classes. Per class %.0f similar and %.0f dissimilar pairs, or all there are; u and ℓ: 1st and 99th percentile of the squared distances of training images. "+
		"γ from 0.01 to 1000 and C from 0.1 to 100 are chosen by a two-fold cross-validation on the training images, the first of equals. Kernels are clipped on training images. ", r.size(pairsPerClass), r.size(pairsPerClass))
	trials := len(r.t.Unique("trial"))
	if trials < judge.MinTrials {
		return text + fmt.Sprintf("Means over %d trial(s); fewer than %d, so no intervals are given.", trials, judge.MinTrials)
	}
	text += fmt.Sprintf("Bands: means over %d trials with 95 %% t intervals", trials)
	if len(all) > 1 {
		text += "; of Caltech-101, whose splits share images, corrected (Nadeau and Bengio 2003)"
	}
	return text + "."
}

// rated is a method with the name that it has in a panel.
type rated struct{ name, method string }

// ratePanel draws rates of methods against T.
func ratePanel(r results, title string, methods []rated) plots.Panel {
	p := plots.Panel{Title: r.name + ": " + title, XLabel: "training images per class, T", YLabel: "mean recognition rate per class (%)"}
	for color, m := range methods {
		line := plots.Line{Name: m.name, Color: color}
		for _, per := range r.numbers() {
			mean, half := imageSummary(r, r.rates(m.method, per)).Interval()
			line.X, line.Y = append(line.X, float64(per)), append(line.Y, 100*mean)
			line.Lo, line.Hi = append(line.Lo, 100*max(0, mean-half)), append(line.Hi, 100*min(1, mean+half))
		}
		p.Marks = append(p.Marks, line)
	}
	return p
}

// rateRow is a row of a table of rates.
func rateRow(r results, method string) []string {
	row := []string{r.name, method}
	for _, per := range r.numbers() {
		row = append(row, imageSummary(r, r.rates(method, per)).Percent())
	}
	return row
}

// rateHead names the columns of a table of rates.
func rateHead(r results) []string {
	head := []string{"images", "method, rate (%)"}
	for _, per := range r.numbers() {
		head = append(head, "T = "+strconv.Itoa(per))
	}
	return head
}

// ofKernels are the methods of a rule with each kernel.
func ofKernels(rule string) []string {
	var out []string
	for _, k := range imageKernels {
		out = append(out, imageMethod(rule, k))
	}
	return out
}

func drawFig3a(all []results) plots.Drawing {
	d := plots.Drawing{Text: &plots.TextTable{Head: rateHead(all[0])}}
	for _, r := range all {
		var methods []rated
		for _, m := range ofKernels(learnedNN) {
			methods = append(methods, rated{m, m})
			d.Text.Rows = append(d.Text.Rows, rateRow(r, m))
		}
		d.Panels = append(d.Panels, ratePanel(r, "learned kernels", methods))
	}
	d.Caption = plots.Caption{Shows: "Mean recognition rate per class of the nearest training image under each learned kernel, against the number of training images per class, with bands of 95 % intervals. " + imageProtocol(all)}
	return d
}

// drawBeside draws, per kernel, LogDet and another rule. The table has more of them.
func drawBeside(all []results, rule string, more ...string) plots.Drawing {
	d := plots.Drawing{Columns: len(imageKernels), Text: &plots.TextTable{Head: rateHead(all[0])}}
	for _, r := range all {
		low, high := 100., 0.
		for _, k := range imageKernels {
			rules := []string{learnedNN, rule}
			var methods []rated
			for _, rule := range rules {
				methods = append(methods, rated{rule, imageMethod(rule, k)})
			}
			p := ratePanel(r, k, methods)
			for _, m := range p.Marks {
				l := m.(plots.Line)
				low, high = min(low, slices.Min(l.Lo)), max(high, slices.Max(l.Hi))
			}
			d.Panels = append(d.Panels, p)
			for _, rule := range append(rules, more...) {
				d.Text.Rows = append(d.Text.Rows, rateRow(r, imageMethod(rule, k)))
			}
		}
		for i := range imageKernels { // one range for all kernels, between round numbers
			p := &d.Panels[len(d.Panels)-1-i]
			p.YMin, p.YMax = 10*math.Floor(low/10), 10*math.Ceil(high/10)
		}
	}
	return d
}

func drawFig3b(all []results) plots.Drawing {
	d := drawBeside(all, plainNN, rawNN)
	d.Caption = plots.Caption{Shows: "Mean recognition rate per class of the nearest training image under the learned kernel and under the kernel that it starts from, with bands of 95 % intervals. The table has the nearest image by similarities as they are, too, without clipping; PMK needs none. " + imageProtocol(all)}
	return d
}

func drawImageSVM(all []results) plots.Drawing {
	d := drawBeside(all, plainSVM)
	d.Caption = plots.Caption{Shows: "Mean recognition rate per class of the nearest training image under the learned kernel, and of support vector machines with the kernel that it starts from, one per class against the others, hinge loss; bands of 95 % intervals. " + imageProtocol(all)}
	return d
}

func drawImageChoices(all []results) plots.Drawing {
	text := &plots.TextTable{Head: append([]string{"images", "T", "method"}, choiceHead...)}
	for _, r := range all {
		for _, per := range r.numbers() {
			for _, rule := range []string{learnedNN, plainSVM} {
				for _, m := range ofKernels(rule) {
					text.Rows = append(text.Rows, append([]string{r.name, strconv.Itoa(per), m}, oldChoiceCells(r, m, per)...))
				}
			}
		}
	}
	r := all[0]
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: fmt.Sprintf("One choice per trial. Errors of the candidates are means over trials and folds of the inner cross-validation, on half of the training images each. A fit of LogDet that is stopped at the cap of %.0f Bregman projections at the end, or %.0f in choosing, has not converged, "+
		"nor has a machine after %.0f passes, or %.0f in choosing. A candidate that float64 does not allow counts all its images as wrong. ",
		r.size(projectionCap(finalFits)), r.size(projectionCap(choiceFits)), r.size(iterationCap(finalFits)), r.size(iterationCap(choiceFits))) + imageProtocol(all)}}
}

func drawClipped(all []results) plots.Drawing {
	text := &plots.TextTable{Head: []string{"images", "kernel", "T", "training images", "negative eigenvalues, mean", "share of the sum of magnitudes (%)"}}
	for _, r := range all {
		for _, k := range imageKernels {
			for _, per := range r.numbers() {
				g := r.of("clipped", k, per)
				text.Rows = append(text.Rows, []string{r.name, k, strconv.Itoa(per), fmt.Sprintf("%.0f", experiment.First(g, "of")),
					fmt.Sprintf("%.1f", stat.Mean(g.Values("value"), nil)), fmt.Sprintf("%.3f", 100*stat.Mean(r.of("negative", k, per).Values("value"), nil))})
			}
		}
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{Shows: "The best match is no positive semi-definite kernel. Negative eigenvalues between the training images are set to 0, and similarities of test images are projected onto the others. " + imageProtocol(all)}}
}
