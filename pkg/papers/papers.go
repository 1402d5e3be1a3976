// Package papers lists the papers that are implemented. To add one, add a line here.
package papers

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/papers/erkle2015"
	"metriclab/pkg/papers/logdet2012"
	"metriclab/pkg/papers/pa2013"
	"metriclab/pkg/papers/pola2004"
	"metriclab/pkg/papers/rmp2007"
)

// All are the papers in the order of publication.
var All = []experiment.Paper{pola2004.Paper, rmp2007.Paper, logdet2012.Paper, pa2013.Paper, erkle2015.Paper}
