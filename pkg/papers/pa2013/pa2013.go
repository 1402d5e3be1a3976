// Package pa2013 declares the experiments of
//
//	Perez-Suay, Ferri. Online Metric Learning Methods Using Soft Margins and
//	Least Squares Formulations. 2013.
//
// Each file is one experiment: its cells, its trial, its views and its claims.
package pa2013

import (
	"metriclab/pkg/experiment"
)

// Paper lists the experiments: those of the paper in its order, then ours.
var Paper = experiment.Paper{
	Key:         "pa2013",
	Citation:    "A. Perez-Suay, F. J. Ferri. Online Metric Learning Methods Using Soft Margins and Least Squares Formulations. 2013.",
	Experiments: []experiment.Spec{Details, Comparison, Classes, RelaxTime, Sensitivity},
}
