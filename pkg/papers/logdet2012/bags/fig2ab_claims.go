package bags

import (
	"fmt"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/table"
)

// Predicates and margins of Fig. 2(a, b), fixed before the first full run.
const (
	// "similar": one tick of the figure's axis in (a), and half a tick in (b), whose ticks are wide.
	similarMarginA = 0.005
	similarMarginB = 0.05
)

const (
	textPlace     = "Section 6.2, Fig. 2(a, b)"
	textReadNote  = " Readings: vectors of unit length, and tf-idf as it is; pairs that no metric of the basis satisfies kept with slack on the full distance, and dropped."
	textAddedNote = " Added: tf-idf as it is with all training documents of 20 Newsgroups, where the reading before has at most 4,000."
	NotInPaper    = "not in the paper"
)

var fig2abClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "fig2a-small", View: "fig2a",
		Statement: "For smaller bases, the accuracy of our algorithm is similar to the Euclidean measure.",
		Where:     textPlace, Theirs: experiment.FigureOnly,
		Predicate: "With the smallest basis: the whole corrected interval of the error of Euclidean minus that of LogDet Linear lies within a tick of the figure's axis on Classic3 (a basis of 2, ±0.5 points), and within half a tick on 20 Newsgroups (a basis of 5, ±5 points)." + textReadNote + textAddedNote,
		Test:      onBoth(similarAtFirst(collections[0], similarMarginA), similarAtFirst(collections[1], similarMarginB)),
	},
	{
		ID: "fig2-grows", View: "fig2a",
		Statement: "As the size of the basis increases, our method obtains significantly higher accuracy compared to the baseline Euclidean measure.",
		Where:     textPlace, Theirs: experiment.FigureOnly,
		Predicate: "On both collections, with the largest basis of the figure (5 of Classic3, 25 of 20 Newsgroups): the error of Euclidean minus that of LogDet Linear is > 0." + textReadNote + textAddedNote,
		Test: eachTextReading(textReadings, func(logDet string) frame.Test {
			return frame.Positive(vectors.Points, overCollections(withBasis(protocol.Euclidean, largest).Minus(withBasis(logDet, largest))))
		}),
	},
	{
		ID: "fig2a-rivals", View: "fig2a",
		Statement: "Overall, our method (LogDet Linear) significantly outperforms existing methods.",
		Where:     "Fig. 2, caption", Theirs: experiment.FigureOnly,
		Predicate: outperformsMeaning,
		Test:      onBoth(outperforms("a"), outperforms("b")),
	},
	{
		ID: "fig2-learned", View: "fig2a",
		Ours:      true,
		Statement: "What LogDet learns within the basis gains more than one number for the whole basis does.",
		Where:     NotInPaper, Theirs: NotInPaper,
		Predicate: "Ours, a control. On both collections, with the largest basis: the error of W = I + tUUᵀ, t chosen like γ, minus that of LogDet Linear is > 0." + textReadNote + textAddedNote,
		Test: eachTextReading(textReadings, func(logDet string) frame.Test {
			return frame.Positive(vectors.Points, overCollections(withBasis(scaledI, largest).Minus(withBasis(logDet, largest))))
		}),
	},
	{
		ID: "fig2-labels", View: "fig2a",
		Ours:      true,
		Title:     "The class labels in the basis gain without learning: its coordinates have lower error than as many of LSA.",
		Statement: "The class labels in the basis gain without any learning: distances in the coordinates of the basis alone have lower error than in as many coordinates of LSA.",
		Where:     NotInPaper, Theirs: NotInPaper,
		Predicate: "Ours, a control. On both collections, with as many vectors as classes (3 and 20), when the basis has the class means: the error of LSA minus that of the basis alone is > 0. Readings: vectors of unit length, and tf-idf as it is; LSA centred, and not." + textAddedNote,
		Test: eachLength(textReadings, func(name string) (out []frame.Reading) {
			for _, rival := range []string{lsa, plainLSA} {
				out = append(out, frame.Reading{Name: name + ", " + rival, Test: frame.Positive(vectors.Points, overCollections(withBasis(rival, asClasses).Minus(withBasis(basisAlone, asClasses))))})
			}
			return out
		}),
	},
})

const outperformsMeaning = "Per rival, LSA, LMNN and Euclidean: its error minus that of LogDet Linear, both means over the sizes of the basis, is > 0 (\"overall\"). LMNN learns in the coordinates of LSA, centred, from 1,000 training documents." + textReadNote + " LSA centred, as \"principal components analysis\" says, and not."

// onBoth is a statement about both collections, tested on each.
func onBoth(classic3, news frame.Test) frame.Test {
	return frame.Parts([]string{collections[0].name, collections[1].name}, classic3, news)
}

// eachLength is a test under the readings of each length of vectors that are given.
func eachLength(lengths []textReading, readings func(name string) []frame.Reading) frame.Test {
	var out []frame.Reading
	for _, length := range lengths {
		for _, r := range readings(length.name) {
			r.Test, r.Afterwards = r.Test.On(length.rows), length.afterwards
			out = append(out, r)
		}
	}
	return frame.Readings(out...)
}

// rows are those of the reading: of a collection that is not large those with tf-idf as it is are all documents.
func (r textReading) rows(t *table.Table) *table.Table {
	return frame.Named("reading", collections, func(c collection) (string, frame.Rows) {
		length := r.length
		if r == allRaw && !c.large {
			length = textReadings[1].length
		}
		return r.name, func(t *table.Table) *table.Table { return t.Where("panel", c.panel, "length", length) }
	})(t)
}

// eachLogDet are the readings of LogDet Linear, with slack or with pairs dropped.
func eachLogDet(test func(logDet string) []frame.Reading) func(name string) []frame.Reading {
	return func(name string) (out []frame.Reading) {
		for _, l := range []struct{ logDet, rule string }{{protocol.LogDetLinear, "slack"}, {logDetDropped, "infeasible pairs dropped"}} {
			for _, r := range test(l.logDet) {
				r.Name = name + ", " + l.rule + r.Name
				out = append(out, r)
			}
		}
		return out
	}
}

// eachTextReading is a test under each of some lengths and with either LogDet Linear.
func eachTextReading(lengths []textReading, test func(logDet string) frame.Test) frame.Test {
	return eachLength(lengths, eachLogDet(func(logDet string) []frame.Reading { return []frame.Reading{{Test: test(logDet)}} }))
}

// overCollections is a unit per collection.
func overCollections(m frame.Measure) frame.Units {
	return frame.Over(collections, func(c collection) (string, frame.Measure) { return c.name, m.Where("panel", c.panel) })
}

// withBasis is the error of a method with one of the sizes of its basis; Euclidean has the size 0 alone.
func withBasis(method string, pick func(rows *table.Table, sizes []float64) float64) frame.Measure {
	return func(rows *table.Table) []float64 {
		sizes := experiment.NotEmpty("sizes of the basis", frame.Numbers(rows.Where("kind", "wrong", "method", method), "basis"))
		return vectors.ErrorOf(method, "basis", table.Format(pick(rows, sizes)))(rows)
	}
}

func smallest(_ *table.Table, sizes []float64) float64 { return sizes[0] }

func largest(_ *table.Table, sizes []float64) float64 { return sizes[len(sizes)-1] }

// asClasses is the number of classes.
func asClasses(rows *table.Table, _ []float64) float64 {
	return vectors.SizesOf(rows)(protocol.Classes)
}

// similarAtFirst is the test that with the smallest basis the error is that of Euclidean up to a margin.
func similarAtFirst(c collection, margin float64) frame.Test {
	return eachTextReading(c.readings(), func(logDet string) frame.Test {
		return frame.Equivalent(margin, 0, vectors.Points, frame.Unit(fmt.Sprintf("%s, basis of %d", c.name, c.sizes[0]), withBasis(protocol.Euclidean, smallest).Minus(withBasis(logDet, smallest)))).Where("panel", c.panel)
	})
}

// overSizes is the error of a method, mean over the sizes of the basis.
func overSizes(method string) frame.Measure {
	return vectors.Share.MeanOver("basis").Where("kind", "wrong", "method", method)
}

// outperforms is the test of the caption on one collection.
func outperforms(panel string) frame.Test {
	return eachLength(textReadings[:2], eachLogDet(func(logDet string) (out []frame.Reading) {
		for _, projection := range []string{lsa, plainLSA} {
			out = append(out, frame.Reading{Name: ", " + projection, Test: frame.Positive(vectors.Points, frame.Over([]string{projection, protocol.Lmnn, protocol.Euclidean}, func(rival string) (string, frame.Measure) {
				return rival, overSizes(rival).Minus(overSizes(logDet))
			})).Where("panel", panel)})
		}
		return out
	}))
}
