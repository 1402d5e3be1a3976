package planes

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/logdet2012/bags"
	"metriclab/pkg/table"
)

const (
	planePlace    = "Section 6.4, Fig. 2(c, d)"
	planeMeasure  = "In the plane of 2,000 queries, a digit is separated if the leave-one-out vote of the 5 nearest queries has an F1 of at least 0.7 for it. "
	planeReadNote = " Readings: the data-dependent kernel with a graph of 1,000 digits of zip.train, 100 of them labelled, and of the 100 alone; rank 2 by the top two directions of (26), by the least τ at which W has rank 2 or less, and by a W of rank 2 learned as such; queries from zip.test and from unseen zip.train."
)

var fig2cdClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "fig2c-seven", View: "fig2cd",
		Statement: "Our method (Trace-SSIKDR) is able to separate out seven of the digits reasonably well.",
		Where:     planePlace, Theirs: "seven of ten digits",
		Predicate: planeMeasure + "The number of digits that Trace-SSIKDR separates, minus 6.5, is > 0." + planeReadNote,
		Test: eachPlane(graphKernels, ssikdrMethods, func(of plane) frame.Units {
			return frame.Unit(of.method, of.separated().Plus(-atLeastSeven))
		}),
	},
	{
		ID: "fig2d-three", View: "fig2cd",
		Statement: "Kernel PCA is able to separate out only three of the digits.",
		Where:     planePlace, Theirs: "three of ten digits",
		Predicate: planeMeasure + "3.5 minus the number of digits that kernel PCA separates is > 0. Readings: the same kernels, and the Gaussian kernel without a graph; fitted to the 100 labelled digits and to all 1,000 known ones; centred and not; queries from zip.test and from unseen zip.train.",
		Test: eachPlane(planeKernels, pcaMethods, func(of plane) frame.Units {
			return frame.Unit(of.method, of.separated().Plus(-atMostThree).Times(-1))
		}),
	},
	{
		ID: "fig2cd-more", View: "fig2cd",
		Statement: "Trace-SSIKDR separates more digits than kernel PCA: seven against only three.",
		Where:     planePlace, Theirs: "seven against three digits",
		Predicate: planeMeasure + "The number of digits that Trace-SSIKDR separates minus that of kernel PCA, centred, with the same kernel, is > 0: for kernel PCA fitted to the 100 labelled digits, and to all 1,000 known ones." + planeReadNote,
		Test: eachPlane(graphKernels, ssikdrMethods, func(of plane) frame.Units {
			return frame.Over([]string{pcaLabelled, pcaKnown}, func(rival string) (string, frame.Measure) {
				return rival, of.separated().Minus(plane{of.kernel, rival, of.queries}.separated())
			})
		}),
	},
	{
		ID: "fig2cd-graph", View: "fig2cd-counts",
		Ours:      true,
		Statement: "Ours, a control: the graph of unlabelled digits helps Trace-SSIKDR.",
		Where:     bags.NotInPaper, Theirs: bags.NotInPaper,
		Predicate: planeMeasure + "The number of digits that Trace-SSIKDR separates with the graph of 1,000 digits minus that without a graph is > 0. Readings: rank 2 in three ways; queries from zip.test and from unseen zip.train.",
		Test: eachPlane(graphKernels[:1], ssikdrMethods, func(of plane) frame.Units {
			return frame.Unit(of.method, of.separated().Minus(plane{noGraph, of.method, of.queries}.separated()))
		}),
	},
	{
		ID: "fig2cd-fda", View: "fig2cd-counts",
		Ours:      true,
		Statement: "Ours, a control: Trace-SSIKDR separates more digits than kernel Fisher discriminants, which see the same labels.",
		Where:     bags.NotInPaper, Theirs: bags.NotInPaper,
		Predicate: planeMeasure + "The number of digits that Trace-SSIKDR separates minus that of kernel FDA with the same kernel is > 0." + planeReadNote,
		Test: eachPlane(graphKernels, ssikdrMethods, func(of plane) frame.Units {
			return frame.Unit(of.method, of.separated().Minus(plane{of.kernel, kernelFDA, of.queries}.separated()))
		}),
	},
})

// digitsRule says that values are numbers of digits. Intervals are over draws of the labelled digits and of the queries from one data set.
var digitsRule = judge.Rule{Unit: "digits"}

// plane is that of a method with a kernel, of the queries of a part.
type plane struct{ kernel, method, queries string }

// separated is how many digits are separated, by trial.
func (p plane) separated() frame.Measure {
	return counted(voteRule, separatedF1).Where("kernel", p.kernel, "method", p.method, "queries", p.queries)
}

// eachPlane is a test that numbers of digits are positive, with each of some kernels, methods and parts of the queries.
func eachPlane(kernels, methods []string, units func(of plane) frame.Units) frame.Test {
	var all []plane
	for _, k := range kernels {
		for _, m := range methods {
			for _, q := range queryParts {
				all = append(all, plane{k, m, q})
			}
		}
	}
	return frame.Under(all, func(p plane) (string, frame.Test) {
		return p.kernel + ", " + p.method + ", " + p.queries, frame.Positive(digitsRule, units(p))
	})
}

// counted is how many digits have at least that F1 by a rule, in each plane.
func counted(rule string, least float64) frame.Measure {
	return overDigits(rule, func(f1 float64) float64 {
		if f1 >= least {
			return 1
		}
		return 0
	})
}

// overDigits is the sum over the digits of what is made of F1 by a rule.
func overDigits(rule string, of func(f1 float64) float64) frame.Measure {
	return func(rows *table.Table) []float64 {
		g := rows.Where("kind", "f1", "rule", rule)
		out := make([]float64, g.Len())
		for d := range digitCount {
			for i, v := range g.Values(digitColumn(d)) {
				out[i] += of(v)
			}
		}
		return out
	}
}

// meanF1 is the mean over the digits by the vote.
var meanF1 = overDigits(voteRule, func(f1 float64) float64 { return f1 }).Map(func(sum float64) float64 { return sum / digitCount })
