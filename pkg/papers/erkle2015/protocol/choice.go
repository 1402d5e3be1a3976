// Package protocol has what the rooms of erkle2015 share: methods, data sets and splits, runs, errors, and how they are drawn.
package protocol

import (
	"slices"

	"metriclab/pkg/judge"
)

// TauChoice is the weight τ of the trace that erkle2015/tau chose for a batch method on a data set, by three rules:
//
//	Validated   the least mean validation error over sizes and two trials
//	BestOnTest  the least mean test error, which is the paper's rule in Sections 5.1 and 5.2
//	AtEnd       the least validation error at the largest size alone
type TauChoice struct{ Validated, BestOnTest, AtEnd float64 }

// TauChosen are the choices by data set and method; a test compares them with the committed table.
var TauChosen = map[string]map[string]TauChoice{
	SyntheticPoints: {GNMDSBatch: {0.001, 0.001, 1}, STEBatch: {1, 1, 0.1}, CKLBatch: {1, 10, 1}},
	Synthetic500:    {GNMDSBatch: {0.001, 0.0001, 0.0001}},
	Music:           {GNMDSBatch: {1, 1, 10}, STEBatch: {1, 1, 1}, CKLBatch: {0.1, 0.1, 0.01}},
	Material:        {GNMDSBatch: {1, 1, 10}, STEBatch: {1, 1, 10}, CKLBatch: {1, 10, 10}},
	MaterialOwn:     {GNMDSBatch: {1, 1, 10}, STEBatch: {1, 1, 10}, CKLBatch: {1, 10, 1}},
	Zappos:          {GNMDSBatch: {1, 1, 10}, STEBatch: {1, 1, 10}, CKLBatch: {0.1, 1, 1}},
}

// TauOf returns the choice for a method on a data set.
func TauOf(data, method string) TauChoice {
	c, ok := TauChosen[data][method]
	if !ok {
		judge.Refuse("erkle2015: τ of %s on %s has not been chosen", method, data)
	}
	return c
}

// Of returns τ under a reading.
func (c TauChoice) Of(reading string) float64 {
	switch reading {
	case ByTest:
		return c.BestOnTest
	case ByEnd:
		return c.AtEnd
	}
	return c.Validated
}

// Distinct returns the weights that the readings need, first the one by validation.
func (c TauChoice) Distinct() []float64 {
	out := []float64{c.Validated}
	for _, tau := range []float64{c.BestOnTest, c.AtEnd} {
		if !slices.Contains(out, tau) {
			out = append(out, tau)
		}
	}
	return out
}
