// Package erkle2015 declares the experiments of
//
//	Heim, Berger, Seversky, Hauskrecht. Efficient Online Relative Comparison
//	Kernel Learning. SDM 2015.
//
// Each file is one experiment: its cells, its trial, its views and its claims.
// What they share, from the data sets to the names of the methods, is in
// protocol.go.
package erkle2015

import (
	"metriclab/pkg/experiment"
)

const paperKey = "erkle2015"

// Paper lists the experiments: those of the paper in its order, then ours.
var Paper = experiment.Paper{
	Key:      paperKey,
	Citation: "E. Heim, M. Berger, L. M. Seversky, M. Hauskrecht. Efficient Online Relative Comparison Kernel Learning. SDM 2015.",
	Experiments: []experiment.Spec{
		Restarts,
		Speed,
		Skips,
		Tau,
		Fig1,
		Released,
		Fig2,
		Fig2Errors,
		Fig2Larger,
		Fig3,
		Fig4,
		Scenes,
		ReleasedAnswers,
		Tolerance,
		Flips,
		Weights,
		Denoise,
		Active,
		ActiveLearners,
		Repeats,
	},
}
