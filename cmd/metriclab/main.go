// Metriclab regenerates the figures and tables of papers on metric
// learning and grades their claims. Run it without arguments for an overview.
package main

import (
	"os"

	"metriclab/pkg/papers"
)

func main() {
	ctx, stop := interruptible()
	code := execute(ctx, newApp(papers.All), os.Args[1:])
	stop()
	os.Exit(code)
}
