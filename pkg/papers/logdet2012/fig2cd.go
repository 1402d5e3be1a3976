package logdet2012

import (
	"strconv"

	"metriclab/pkg/experiment"
)

// The methods of Fig. 2(c, d), as they stand in the table.
const (
	// Trace-SSIKDR, by what makes its rank 2.
	ssikdrTop  = "Trace-SSIKDR, top two directions"
	ssikdrTau  = "Trace-SSIKDR, τ of rank 2"
	ssikdrRank = "Trace-SSIKDR, W of rank 2"

	// Kernel PCA, by the digits that it is fitted to: those with labels, or all that are known, these and the unlabelled ones.
	pcaLabelled      = "kernel PCA of labelled digits"
	pcaLabelledPlain = "kernel PCA of labelled digits, not centred"
	pcaKnown         = "kernel PCA of known digits"
	pcaKnownPlain    = "kernel PCA of known digits, not centred"

	// A control.
	kernelFDA = "kernel FDA"
)

var (
	ssikdrMethods = []string{ssikdrTop, ssikdrTau, ssikdrRank}
	pcaMethods    = []string{pcaLabelled, pcaLabelledPlain, pcaKnown, pcaKnownPlain}
)

// The kernels: data-dependent ones, whose graph has all known digits or those with labels alone, and the Gaussian kernel of which they are made.
const (
	knownGraph    = "graph of known digits"
	labelledGraph = "graph of labelled digits"
	noGraph       = "no graph"
)

var (
	planeKernels = []string{knownGraph, labelledGraph, noGraph}
	graphKernels = planeKernels[:2]
)

// The parts of the data from which queries come.
const (
	testQueries  = "zip.test"
	trainQueries = "zip.train"
)

var queryParts = []string{testQueries, trainQueries}

// The rules by which a plane is judged.
const (
	voteRule = "5-NN"
	meanRule = "class mean"
)

var planeRules = []string{voteRule, meanRule}

// digitCount is the number of classes.
const digitCount = 10

// digitColumn is the column of F1 of a digit.
func digitColumn(d int) string { return "F1 of " + strconv.Itoa(d) }

var (
	fig2cdKinds = []experiment.Kind{
		{Name: "size", Meaning: "a size of the data or of the protocol"},
		{Name: "f1", Meaning: "F1 of each digit among the queries in a plane, left out one by one"},
		{Name: "wrong", Meaning: "queries that the nearest labelled digits in a plane classify wrongly"},
		{Name: "rank", Meaning: "rank of the learned W"},
		{Name: "inner", Meaning: "labelled digits classified wrongly in the validation on them, of the chosen candidate"},
		{Name: "map", Meaning: "places of queries of one digit in a plane, whose largest coordinate is 1"},
	}
	fig2cdColumns = experiment.Columns{
		experiment.Text("kernel", "the kernel, by its graph"),
		experiment.Text("kind", "kind of the row"),
		experiment.Text("method", "what makes the plane").In("f1", "wrong", "rank", "inner", "map"),
		experiment.Text("queries", "where the queries come from: zip.test, or digits of zip.train that are not known to the methods").In("f1", "wrong", "map"),
		experiment.Text("rule", "f1: "+voteRule+", the vote of the five nearest queries, or "+meanRule+", the nearest mean of the queries of a digit").In("f1"),
		experiment.Text("at", "size: which one; inner: the chosen candidate; map: the digit").In("size", "inner", "map"),
		experiment.Number("value", "", "size: the size; wrong: queries; rank: the rank; inner: digits").In("size", "wrong", "rank", "inner"),
		experiment.Number("of", "", "size: what it is a part of, or the size itself; wrong: queries judged; rank: the number of labelled digits; inner: digits judged").In("size", "wrong", "rank", "inner"),
		experiment.Vector("F1 of ", digitCount, "", "F1 of the digit").In("f1"),
		experiment.Vector("x", mapPoints, "", "first coordinates of queries, NaN beyond the last").In("map"),
		experiment.Vector("y", mapPoints, "", "second coordinates of queries").In("map"),
	}
)

// mapPoints is the number of queries in a row of the kind map, at most.
const mapPoints = 20
