// Package erkle2015 declares the experiments of
//
//	Heim, Berger, Seversky, Hauskrecht. Efficient Online Relative Comparison
//	Kernel Learning. SDM 2015.
//
// Each file of its rooms is one experiment, or a part of one: cells, trial, views and claims.
// What they share, from the data sets to the names of the methods, is in room protocol.
package erkle2015

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/costs"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/people"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
)

// Paper lists the experiments: those of the paper in its order, then ours.
var Paper = experiment.Paper{
	Key:      protocol.PaperKey,
	Citation: "E. Heim, M. Berger, L. M. Seversky, M. Hauskrecht. Efficient Online Relative Comparison Kernel Learning. SDM 2015.",
	Experiments: []experiment.Spec{
		Restarts, BatchCost, Speed, Skips, Tau, Fig1, Released, Fig2, Fig2Errors, Fig2Larger, Fig2Curves, Fig3, Fig4, Scenes, ReleasedAnswers,
		Tolerance, Flips, Weights, Denoise, Active, ActiveLearners, Repeats,
	},
}

// The experiments by name, for notebooks and programs.
var (
	Restarts        = batch.Restarts
	BatchCost       = costs.BatchCost
	Speed           = costs.Speed
	Skips           = costs.Skips
	Tau             = batch.Tau
	Fig1            = learning.Fig1
	Released        = batch.Released
	Fig2            = costs.Fig2
	Fig2Errors      = learning.Fig2Errors
	Fig2Larger      = learning.Fig2Larger
	Fig2Curves      = learning.Fig2Curves
	Fig3            = people.Fig3
	Fig4            = people.Fig4
	Scenes          = people.Scenes
	ReleasedAnswers = batch.ReleasedAnswers
	Tolerance       = variants.Tolerance
	Flips           = variants.Flips
	Weights         = variants.Weights
	Denoise         = variants.Denoise
	Active          = people.Active
	ActiveLearners  = people.ActiveLearners
	Repeats         = variants.Repeats
)
