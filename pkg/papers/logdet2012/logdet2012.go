// Package logdet2012 declares the experiments of
//
//	Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear
//	Transformation. JMLR 13, 2012.
//
// Each figure is one experiment: its cells, its trial, its views and its claims. What a
// trial draws, and the methods, are in protocol.go and methods.go.
package logdet2012

import (
	"metriclab/pkg/experiment"
)

const paperKey = "logdet2012"

// Paper lists the experiments: those of the paper in its order, then ours.
var Paper = experiment.Paper{
	Key:         paperKey,
	Citation:    "P. Jain, B. Kulis, J. V. Davis, I. S. Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012.",
	Experiments: []experiment.Spec{Large, KernelCost, Fig1a, Neighbours, Fig1bc, Table1, Fig2ab, Fig3, Fig2cd, Divergences, Reduction},
}
