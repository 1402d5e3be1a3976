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
	"metriclab/pkg/papers/logdet2012/planes"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
)

// Paper lists the experiments: those of the paper in its order, then ours.
var Paper = experiment.Paper{
	Key:         protocol.PaperKey,
	Citation:    "P. Jain, B. Kulis, J. V. Davis, I. S. Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012.",
	Experiments: []experiment.Spec{kernels.Large, kernels.KernelCost, vectors.Fig1a, vectors.Neighbours, kernels.MMC, vectors.Fig1bc, vectors.Table1, bags.Fig2ab, bags.Fig3, planes.Fig2cd, planes.Sweep, kernels.Divergences, kernels.Reduction, vectors.Nca},
}

// The experiments by name, for notebooks and programs.
var (
	Large       = kernels.Large
	KernelCost  = kernels.KernelCost
	Fig1a       = vectors.Fig1a
	Neighbours  = vectors.Neighbours
	MMC         = kernels.MMC
	Fig1bc      = vectors.Fig1bc
	Table1      = vectors.Table1
	Fig2ab      = bags.Fig2ab
	Fig3        = bags.Fig3
	Fig2cd      = planes.Fig2cd
	Fig2cdSweep = planes.Sweep
	Divergences = kernels.Divergences
	Reduction   = kernels.Reduction
	Nca         = vectors.Nca
)
