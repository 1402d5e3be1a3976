package erkle2015

import "metriclab/pkg/judge"

// tauChoice is the weight τ of the trace that erkle2015/tau chose for a batch method on a data set, by three rules:
//
//	validated   the least mean validation error over sizes and two trials
//	bestOnTest  the least mean test error, which is the paper's rule
//	atEnd       the least validation error at the largest size alone
type tauChoice struct{ validated, bestOnTest, atEnd float64 }

// tauGrid are the weights among which is chosen on most data sets.
var tauGrid = list[float64]{0.01, 0.1, 1, 10, 100}

// tauChosen are the choices by data set and method; a test compares them with the committed table.
var tauChosen = map[string]map[string]tauChoice{
	syntheticPoints: {gnmdsBatch: {0.001, 0.001, 1}, steBatch: {1, 1, 0.1}, cklBatch: {1, 10, 1}},
	synthetic500:    {gnmdsBatch: {0.0001, 0.0001, 0.0001}},
	music:           {gnmdsBatch: {1, 1, 10}, steBatch: {1, 1, 1}, cklBatch: {0.1, 0.1, 0.01}},
	material:        {gnmdsBatch: {1, 1, 10}, steBatch: {1, 1, 10}, cklBatch: {1, 10, 10}},
	materialOwn:     {gnmdsBatch: {1, 1, 10}, steBatch: {1, 1, 10}, cklBatch: {1, 10, 1}},
	zappos:          {gnmdsBatch: {1, 1, 10}, steBatch: {1, 1, 10}, cklBatch: {0.1, 1, 1}},
}

// tauOf returns the choice for a method on a data set.
func tauOf(data, method string) tauChoice {
	c, ok := tauChosen[data][method]
	if !ok {
		judge.Refuse("erkle2015: τ of %s on %s has not been chosen", method, data)
	}
	return c
}

// of returns τ under a reading.
func (c tauChoice) of(reading string) float64 {
	switch reading {
	case byTest:
		return c.bestOnTest
	case byEnd:
		return c.atEnd
	}
	return c.validated
}
