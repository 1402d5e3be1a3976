package logdet2012

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// Predicates and margins of Fig. 2(a, b), fixed before the first full run.
const (
	// "similar": one tick of the figure's axis in (a), and half a tick in (b), whose ticks are wide.
	similarMarginA = 0.005
	similarMarginB = 0.05
)

const (
	textPlace    = "Section 6.2, Fig. 2(a, b)"
	textReadNote = " Readings: vectors of unit length, and tf-idf as it is; pairs that no metric of the basis satisfies kept with slack on the full distance, and dropped."
	notInPaper   = "not in the paper"
)

var fig2abClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "fig2a-small", View: "fig2a",
		Statement: "For smaller bases, the accuracy of our algorithm is similar to the Euclidean measure. (Here: Classic3.)",
		Where:     textPlace, Theirs: experiment.FigureOnly,
		Predicate: "With a basis of 2, the smallest: the whole corrected interval of the error of Euclidean minus that of LogDet Linear lies within ±0.5 points, a tick of the figure's axis." + textReadNote,
		Test:      func(t *table.Table) judge.Test { return similarAtFirst(t, "a", similarMarginA) },
	},
	{
		ID: "fig2b-small", View: "fig2b",
		Statement: "For smaller bases, the accuracy of our algorithm is similar to the Euclidean measure. (Here: 20 Newsgroups.)",
		Where:     textPlace, Theirs: experiment.FigureOnly,
		Predicate: "With a basis of 5, the smallest: the whole corrected interval of the error of Euclidean minus that of LogDet Linear lies within ±5 points, half a tick of the figure's axis." + textReadNote,
		Test:      func(t *table.Table) judge.Test { return similarAtFirst(t, "b", similarMarginB) },
	},
	{
		ID: "fig2-grows", View: "fig2a",
		Statement: "As the size of the basis increases, our method obtains significantly higher accuracy compared to the baseline Euclidean measure.",
		Where:     textPlace, Theirs: experiment.FigureOnly,
		Predicate: "On both collections, with the largest basis of the figure (5 of Classic3, 25 of 20 Newsgroups): the error of Euclidean minus that of LogDet Linear is > 0." + textReadNote,
		Test: func(t *table.Table) judge.Test {
			return underTextReadings(t, func(read textReading, panels []results) judge.Test {
				var units []judge.Unit
				for _, r := range panels {
					units = append(units, judge.Paired(r.name, r.errors(euclidean, noBasis), r.errors(read.logDet, r.last())))
				}
				return judge.Positive{Units: units, Rule: points}
			})
		},
	},
	{
		ID: "fig2a-rivals", View: "fig2a",
		Statement: "Overall, our method (LogDet Linear) significantly outperforms existing methods. (Here: Classic3.)",
		Where:     "Fig. 2, caption", Theirs: experiment.FigureOnly,
		Predicate: outperformsMeaning,
		Test:      func(t *table.Table) judge.Test { return outperforms(t, "a") },
	},
	{
		ID: "fig2b-rivals", View: "fig2b",
		Statement: "Overall, our method (LogDet Linear) significantly outperforms existing methods. (Here: 20 Newsgroups.)",
		Where:     "Fig. 2, caption", Theirs: experiment.FigureOnly,
		Predicate: outperformsMeaning,
		Test:      func(t *table.Table) judge.Test { return outperforms(t, "b") },
	},
	{
		ID: "fig2-learned", View: "fig2a",
		Ours:      true,
		Statement: "What LogDet learns within the basis gains more than one number for the whole basis does.",
		Where:     notInPaper, Theirs: notInPaper,
		Predicate: "Ours, a control. On both collections, with the largest basis: the error of W = I + tUUᵀ, t chosen like γ, minus that of LogDet Linear is > 0." + textReadNote,
		Test: func(t *table.Table) judge.Test {
			return underTextReadings(t, func(read textReading, panels []results) judge.Test {
				var units []judge.Unit
				for _, r := range panels {
					units = append(units, judge.Paired(r.name, r.errors(scaledI, r.last()), r.errors(read.logDet, r.last())))
				}
				return judge.Positive{Units: units, Rule: points}
			})
		},
	},
	{
		ID: "fig2-labels", View: "fig2a",
		Ours:      true,
		Title:     "The class labels in the basis gain without learning: its coordinates have lower error than as many of LSA.",
		Statement: "The class labels in the basis gain without any learning: distances in the coordinates of the basis alone have lower error than in as many coordinates of LSA.",
		Where:     notInPaper, Theirs: notInPaper,
		Predicate: "Ours, a control. On both collections, with as many vectors as classes (3 and 20), when the basis has the class means: the error of LSA minus that of the basis alone is > 0. Readings: vectors of unit length, and tf-idf as it is; LSA centred, and not.",
		Test: func(t *table.Table) judge.Test {
			var out judge.Readings
			for _, norm := range textReadings {
				for _, rival := range []string{lsa, plainLSA} {
					var units []judge.Unit
					for _, r := range textPanels(t, norm) {
						k := r.classes()
						units = append(units, judge.Paired(r.name, r.errors(rival, k), r.errors(basisAlone, k)))
					}
					out = append(out, judge.Reading{Name: describeNorm[norm.String()] + ", " + rival, Test: judge.Positive{Units: units, Rule: points}})
				}
			}
			return out
		},
	},
})

const outperformsMeaning = "Per rival, LSA, LMNN and Euclidean: its error minus that of LogDet Linear, both means over the sizes of the basis, is > 0 (\"overall\"). LMNN learns in the coordinates of LSA, centred, from 1,000 training documents." + textReadNote + " LSA centred, as \"principal components analysis\" says, and not."

// noBasis is the size in the rows of Euclidean.
const noBasis = 0

// textReading is a way to read the protocol.
type textReading struct {
	norm   text.Norm
	logDet string // LogDet Linear with slack or with pairs dropped
}

func (r textReading) String() string {
	rule := "slack"
	if r.logDet == logDetDropped {
		rule = "infeasible pairs dropped"
	}
	return describeNorm[r.norm.String()] + ", " + rule
}

// underTextReadings is a test of the panels of the figure under each reading.
func underTextReadings(t *table.Table, test func(read textReading, panels []results) judge.Test) judge.Test {
	var out judge.Readings
	for _, norm := range textReadings {
		panels := textPanels(t, norm)
		for _, l := range []string{logDetLinear, logDetDropped} {
			read := textReading{norm, l}
			out = append(out, judge.Reading{Name: read.String(), Test: test(read, panels)})
		}
	}
	return out
}

// textPanels returns both collections with vectors of a length. It refuses a table that lacks one.
func textPanels(t *table.Table, norm text.Norm) []results {
	var out []results
	for _, c := range collections {
		out = append(out, textPanel(t, c.panel, norm))
	}
	return out
}

func textPanel(t *table.Table, panel string, norm text.Norm) results {
	for _, r := range textResultsOf(t) {
		if r.norm == norm.String() && r.panel == panel {
			return r.results
		}
	}
	judge.Refuse("logdet2012: there are no results of panel %s with vectors of length %v", panel, norm)
	return results{}
}

// textResults are the rows of a collection with vectors of one length.
type textResults struct {
	results
	panel, norm string
}

// textResultsOf returns what a table has, in its order.
func textResultsOf(t *table.Table) []textResults {
	var out []textResults
	for _, c := range collections {
		for _, norm := range textReadings {
			g := t.Where("panel", c.panel, "length", norm.String())
			if g.Where("kind", "wrong").Len() == 0 {
				continue
			}
			for name, rows := range g.Group("collection") {
				if rows.Where("kind", "wrong", "method", logDetLinear).Len() > 0 {
					out = append(out, textResults{results{name: name, t: rows, varied: "basis", fixed: []string{euclidean}}, c.panel, norm.String()})
				}
			}
		}
	}
	return out
}

// basisSizes are those of the methods that have a basis, ascending.
func (r results) basisSizes() []int {
	return slices.DeleteFunc(r.numbers(), func(k int) bool { return k == noBasis })
}

// last is the largest size of the basis.
func (r results) last() int {
	sizes := r.basisSizes()
	if len(sizes) == 0 {
		judge.Refuse("logdet2012: %s: there are no results with a basis", r.name)
	}
	return sizes[len(sizes)-1]
}

// classes is the number of classes, if the figure has a basis of as many vectors.
func (r results) classes() int {
	c := int(r.size(classes))
	if !slices.Contains(r.basisSizes(), c) {
		judge.Refuse("logdet2012: %s: there are no results with a basis of %d, the number of classes", r.name, c)
	}
	return c
}

// similarAtFirst is the test that with the smallest basis the error is that of Euclidean up to a margin.
func similarAtFirst(t *table.Table, panel string, margin float64) judge.Test {
	var out judge.Readings
	for _, norm := range textReadings {
		r := textPanel(t, panel, norm)
		sizes := r.basisSizes()
		if len(sizes) == 0 {
			judge.Refuse("logdet2012: %s: there are no results with a basis", r.name)
		}
		for _, l := range []string{logDetLinear, logDetDropped} {
			u := judge.Paired(r.name+", basis of "+strconv.Itoa(sizes[0]), r.errors(euclidean, noBasis), r.errors(l, sizes[0]))
			out = append(out, judge.Reading{Name: textReading{norm, l}.String(), Test: judge.Equivalent{Units: []judge.Unit{u}, Margin: margin, Rule: points}})
		}
	}
	return out
}

// meanError is the error of a method, mean over the sizes of the basis, by trial and fold.
func (r results) meanError(method string) []float64 {
	if method == euclidean {
		return r.errors(euclidean, noBasis)
	}
	var all [][]float64
	for _, k := range r.basisSizes() {
		all = append(all, r.errors(method, k))
	}
	if len(all) == 0 {
		judge.Refuse("logdet2012: %s: there are no results with a basis", r.name)
	}
	return meanOf(fmt.Sprintf("%s: errors of %s", r.name, method), all)
}

// outperforms is the test of the caption on one collection.
func outperforms(t *table.Table, panel string) judge.Test {
	var out judge.Readings
	for _, norm := range textReadings {
		r := textPanel(t, panel, norm)
		for _, l := range []string{logDetLinear, logDetDropped} {
			for _, projection := range []string{lsa, plainLSA} {
				var units []judge.Unit
				for _, rival := range []string{projection, lmnn, euclidean} {
					units = append(units, judge.Paired(rival, r.meanError(rival), r.meanError(l)))
				}
				out = append(out, judge.Reading{Name: textReading{norm, l}.String() + ", " + projection, Test: judge.Positive{Units: units, Rule: points}})
			}
		}
	}
	return out
}

// accuracies are 1 − errors.
func (r results) accuracies(method string, basis int) []float64 {
	if method == euclidean {
		basis = noBasis
	}
	out := r.errors(method, basis)
	floats.Scale(-1, out)
	floats.AddConst(1, out)
	return out
}
