// Package logdet2012 declares the experiments of
//
//	Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear
//	Transformation. JMLR 13, 2012.
//
// Each file of its rooms is one experiment, or a part of one: cells, trial, views and claims.
// What a trial draws, and the methods, are in room protocol.
package logdet2012

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/papers/logdet2012/bags"
	"metriclab/pkg/papers/logdet2012/kernels"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
)

// Paper lists the experiments: those of the paper in its order, then ours.
var Paper = experiment.Paper{
	Key:         protocol.PaperKey,
	Citation:    "P. Jain, B. Kulis, J. V. Davis, I. S. Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012.",
	Experiments: []experiment.Spec{kernels.Large, kernels.KernelCost, vectors.Fig1a, vectors.Neighbours, vectors.Fig1bc, vectors.Table1, bags.Fig2ab, bags.Fig3, kernels.Fig2cd, kernels.Divergences, kernels.Reduction},
}
