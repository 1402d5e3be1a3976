// Spec is an experiment of one's own: what is measured, and what is claimed of it.
// The harness runs its jobs, keeps them, draws nothing here, and judges the claim.
//
//	go run ./examples/spec -o out/spec
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/experiment/host"
)

func main() {
	out := flag.String("o", filepath.Join("out", "spec"), "the `folder` of the results; a second run goes on there")
	flag.Parse()
	if err := os.MkdirAll(*out, 0o755); err != nil {
		log.Fatal(err)
	}
	mine := experiment.Paper{Key: "mine", Citation: "Experiments of my own.", Experiments: []experiment.Spec{noise}}
	result, err := harness.Run(context.Background(), []harness.Selected{{Paper: mine, Spec: noise}}, harness.Config{
		Scale:   experiment.Full,
		Workers: 2,
		Folders: harness.FoldersFor(experiment.Full, *out),
		World:   host.World(time.Now),
		Papers:  []experiment.Paper{mine},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range result.Failed {
		fmt.Println(f.Cell, f.Trial, f.Err)
	}
	for _, o := range result.Outcomes {
		fmt.Printf("%s: %d of %d jobs\n", o.Spec.ID, o.Done, o.Jobs)
		for _, c := range o.Claims {
			fmt.Printf("%s: %s\n", c.Finding.Verdict, c.Claim.Statement)
			for _, u := range c.Finding.Units {
				fmt.Printf("  %-8s %+.2f ± %.2f\n", u.Name, u.Mean, u.Half)
			}
		}
	}
	if !result.OK() {
		os.Exit(1)
	}
}
