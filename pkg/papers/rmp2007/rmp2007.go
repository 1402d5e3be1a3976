// Package rmp2007 declares the experiments of
//
//	Rakhlin, Abernethy, Bartlett. Online Discovery of Similarity Mappings.
//	ICML 2007.
//
// Each file is one experiment: its cells, its trial, its views and its claims.
package rmp2007

import "metriclab/pkg/experiment"

// Paper lists the experiments in the order of the paper.
var Paper = experiment.Paper{
	Key:         "rmp2007",
	Citation:    "A. Rakhlin, J. Abernethy, P. L. Bartlett. Online Discovery of Similarity Mappings. ICML 2007.",
	Experiments: []experiment.Spec{},
}
