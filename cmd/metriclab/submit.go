package main

import (
	"github.com/spf13/cobra"
)

func (a *app) submitCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "submit",
		Short: "Share a run out to many machines: by Slurm, Kubernetes, or GNU parallel",
		Long: `Share a run out to many machines by an engine that they have. Each task of the engine
runs one shard of the jobs, metriclab run --shard i/n, and a last one merges. metriclab
keeps no queue of its own: a task that is killed loses the jobs in flight, and the next
run goes on with them. See docs/cluster.md.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.submitSlurmCommand(), a.submitKubernetesCommand(), a.submitParallelCommand())
	return c
}
