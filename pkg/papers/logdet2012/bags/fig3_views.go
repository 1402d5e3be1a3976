package bags

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var fig3Views = []experiment.View{
	{Name: "fig3a", Title: "Fig. 3(a): recognition rate with learned image kernels", Draw: rateView(0, ofKernels(learnedNN), frame.PerGroup(func(by []string) frame.Panel {
		return ratePanel(by[0]+": learned kernels", ofKernels(learnedNN), ofKernels(learnedNN))
	}, "data"), "Mean recognition rate per class of the nearest training image under each learned kernel, against the number of training images per class.")},
	{Name: "fig3b", Title: "Fig. 3(b): learned image kernels beside those that they start from, nearest neighbour", Draw: besideView("Mean recognition rate per class of the nearest training image under the learned kernel and under the kernel that it starts from. The table has the nearest image by similarities as they are, too, without clipping; PMK needs none.", plainNN, rawNN)},
	{Name: "svm", Title: "Image kernels: nearest neighbour with the learned kernel beside support vector machines", Draw: besideView("Mean recognition rate per class of the nearest training image under the learned kernel, and of support vector machines with the kernel that it starts from, one per class against the others, hinge loss.", plainSVM)},
	{Name: "choices", Title: "Image kernels: what was chosen on the training images, and fits that did not converge", Draw: experiment.WithEnds(frame.View{
		From: imagesIn.Then(frame.Only("method", slices.Concat(ofKernels(learnedNN), ofKernels(plainSVM))...)), Missing: "choices with images",
		Text: &frame.Text{By: []string{"data", "images", "train", "T", "method", "method"}, Cells: vectors.ChoiceCells},
		Caption: vectors.ShownBy(func(t *table.Table) string {
			size := vectors.SizesOf(t.Where("data", imagesIn(t).Unique("data")[0]))
			return fmt.Sprintf("One choice per trial. Errors of the candidates are means over trials and folds of the inner cross-validation, on half of the training images each. A fit of LogDet that is stopped at the cap of %.0f Bregman projections at the end, or %.0f in choosing, has not converged, "+
				"nor has a machine after %.0f passes, or %.0f in choosing. A candidate that float64 does not allow counts all its images as wrong.",
				size(protocol.ProjectionCap(protocol.FinalFits)), size(protocol.ProjectionCap(protocol.ChoiceFits)), size(protocol.IterationCap(protocol.FinalFits)), size(protocol.IterationCap(protocol.ChoiceFits)))
		}, imageProtocol),
	}.Draw, protocol.Fig3Choices)},
	{Name: "kernels", Title: "Image kernels: what clipping removes on the training images", Draw: frame.View{
		From: imagesIn.Then(frame.Only("kind", "clipped", "negative")), Missing: "clipped kernels",
		Text: &frame.Text{By: []string{"data", "images", "method", "kernel", "train", "T"}, Cells: []frame.Cell{
			frame.Of("training images", frame.Column("of").Where("kind", "clipped"), frame.Band{}, "%.0f"),
			frame.Of("negative eigenvalues, mean", frame.Column("value").Where("kind", "clipped"), frame.Band{}, "%.1f"),
			frame.Of("share of the sum of magnitudes (%)", frame.Column("value").Where("kind", "negative"), frame.Percent, "%.3f"),
		}},
		Caption: vectors.Shown("The best match is no positive semi-definite kernel. Negative eigenvalues between the training images are set to 0, and similarities of test images are projected onto the others.", imageProtocol),
	}.Draw},
}

// imageProtocol describes data and settings in captions.
func imageProtocol(t *table.Table) plots.Caption {
	t = imagesIn(t)
	names := t.Unique("data")
	size := vectors.SizesOf(t.Where("data", names[0]))
	local := fmt.Sprintf("each a set of edge points, %.1f on average. PMK: pyramid match of positions and directions; CORR: best match of geometric blur with positions; "+
		"SUM: the mean of PMK, a spatial pyramid of directions, and geometric blur without and with positions.", size(featuresPerImage))
	standIn := "Stand-in, since Caltech-101 may not be passed on; the paper's curves are pictures without numbers and are not shown: %.0f "
	data := map[string]string{
		MadeUpDigits:  fmt.Sprintf(standIn+"built-in, made-up digits, ", size(protocol.Objects)) + local,
		digitsStandIn: fmt.Sprintf(standIn+"digits of MNIST's training set, drawn anew in each trial, ", size(protocol.Objects)) + local,
		caltechGrams:  "Caltech-101, the kernel matrices supplied.",
		caltechPhotos: "Caltech-101, the photographs supplied, with features of ours in place of SIFT.",
	}
	var c plots.Caption
	for _, name := range names {
		c.Data = strings.TrimSpace(c.Data + " " + data[name])
	}
	c.Protocol = fmt.Sprintf("T training images per class, all others test; k = 1; mean of the recognition rates of the classes. Per class %.0f similar and %.0f dissimilar pairs, or all there are; u and ℓ: 1st and 99th percentile of the squared distances of training images. "+
		"γ from 0.01 to 1000 and C from 0.1 to 100 are chosen by a two-fold cross-validation on the training images, the first of equals. Kernels are clipped on training images.", size(protocol.PairsPerClass), size(protocol.PairsPerClass))
	cover := ""
	if len(names) > 1 {
		cover = "; of Caltech-101, whose splits share images, corrected (Nadeau and Bengio 2003)"
	}
	c.Intervals = experiment.TrialsNote(t.Where("data", names[0]), cover)
	return c
}

// imageStyles are those of the rules, and of the learned kernels where they stand together.
var imageStyles = protocol.StylesWith(plots.Ordered(append([]string{learnedNN, plainNN, plainSVM}, ofKernels(learnedNN)...)...))

// ratePanel shows rates of methods against T, under some names.
func ratePanel(title string, names, methods []string) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: title, XLabel: "training images per class, T", YLabel: "mean recognition rate per class (%)"}}
	for i, m := range methods {
		p.Of = append(p.Of, func(rows *table.Table) plots.Mark {
			return frame.Line(imageStyles.Line(names[i]), "train", rateOf(m), imageBand(rows)).Where("kind", "missed", "shown", m)(rows)
		})
	}
	return p
}

// rateView is a view of rates, whose text has a column per T.
func rateView(columns int, methods []string, panels frame.Panels, shows string) func(t *table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		text := &frame.Text{By: []string{"data", "images", "shown", "method, rate (%)"}}
		for _, per := range imagesIn(t).Where("kind", "wrong").Unique("train") {
			text.Cells = append(text.Cells, frame.Cell{Head: "T = " + per, Of: func(rows *table.Table) string {
				return imageBand(rows).Summarize(rateOf(experiment.FirstName(rows, "shown")).Where("train", per)(rows)).Percent()
			}})
		}
		return frame.View{
			From: imagesIn.Then(frame.Named("shown", methods, func(m string) (string, frame.Rows) { return m, frame.Only("method", m, "") })), Columns: columns,
			Panels: panels, Text: text, Caption: vectors.Shown(shows, imageProtocol), Missing: "recognition rates",
		}.Draw(t)
	}
}

// besideView shows, per kernel, LogDet and another rule. The text has more of them.
func besideView(shows, rule string, more ...string) func(t *table.Table) (plots.Drawing, error) {
	rules := []string{learnedNN, rule}
	of := func(rules []string, kernel string) (out []string) {
		for _, r := range rules {
			out = append(out, imageMethod(r, kernel))
		}
		return out
	}
	var methods []string
	for _, k := range imageKernels {
		methods = append(methods, of(append(rules, more...), k)...)
	}
	return rateView(len(imageKernels), methods, func(rows *table.Table) (out []plots.Panel) {
		for name, g := range rows.Group("data") {
			var of3 []frame.Panel
			for _, k := range imageKernels {
				of3 = append(of3, ratePanel(name+": "+k, rules, of(rules, k)))
			}
			panels := frame.Each(of3...)(g)
			low, high := 100., 0.
			for _, p := range panels {
				for _, m := range p.Marks {
					l := m.(plots.Line)
					low, high = min(low, slices.Min(slices.Concat(l.Y, l.Lo))), max(high, slices.Max(slices.Concat(l.Y, l.Hi)))
				}
			}
			for i := range panels { // one range for all kernels, between round numbers
				panels[i].YMin, panels[i].YMax = 10*math.Floor(low/10), 10*math.Ceil(high/10)
			}
			out = append(out, panels...)
		}
		return out
	}, shows)
}

// ofKernels are the methods of a rule with each kernel.
func ofKernels(rule string) []string {
	var out []string
	for _, k := range imageKernels {
		out = append(out, imageMethod(rule, k))
	}
	return out
}
