// Package rmp2007 declares the experiments of
//
//	Rakhlin, Abernethy, Bartlett. Online Discovery of Similarity Mappings.
//	ICML 2007.
//
// Each file of its rooms is one experiment, or a part of one: cells, trial, views and claims.
package rmp2007

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/papers/rmp2007/clusters"
	"metriclab/pkg/papers/rmp2007/digits"
	"metriclab/pkg/papers/rmp2007/worlds"
)

// Paper lists the experiments: those of the paper in its order, then ours.
var Paper = experiment.Paper{
	Key:         "rmp2007",
	Citation:    "A. Rakhlin, J. Abernethy, P. L. Bartlett. Online Discovery of Similarity Mappings. ICML 2007.",
	Experiments: []experiment.Spec{worlds.Sensors, worlds.Moving, clusters.SetCover, clusters.MedoidCost, clusters.Fig1, clusters.Example, worlds.Adapt, digits.Objective, digits.Overfit, digits.Fig2, digits.Fig3, worlds.Multitask, worlds.Subsets, clusters.Fig1Width},
}

// The experiments by name, for notebooks and programs.
var (
	Sensors    = worlds.Sensors
	Moving     = worlds.Moving
	SetCover   = clusters.SetCover
	MedoidCost = clusters.MedoidCost
	Fig1       = clusters.Fig1
	Example    = clusters.Example
	Adapt      = worlds.Adapt
	Objective  = digits.Objective
	Overfit    = digits.Overfit
	Fig2       = digits.Fig2
	Fig3       = digits.Fig3
	Multitask  = worlds.Multitask
	Subsets    = worlds.Subsets
	Fig1Width  = clusters.Fig1Width
)
