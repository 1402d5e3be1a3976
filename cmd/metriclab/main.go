// Metriclab regenerates the figures and tables of papers on metric
// learning and grades their claims. Run it without arguments for an overview.
package main

import (
	"os"

	"metriclab/pkg/experiment"
	"metriclab/pkg/papers/erkle2015"
	"metriclab/pkg/papers/logdet2012"
	"metriclab/pkg/papers/pa2013"
	"metriclab/pkg/papers/pola2004"
	"metriclab/pkg/papers/rmp2007"
)

// papers lists what the command knows, in the order of publication.
var papers = []experiment.Paper{pola2004.Paper, rmp2007.Paper, logdet2012.Paper, pa2013.Paper, erkle2015.Paper}

func main() {
	ctx, stop := interruptible()
	code := execute(ctx, newApp(papers), os.Args[1:])
	stop()
	os.Exit(code)
}
