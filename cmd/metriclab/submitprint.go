package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/internal/printable"
	"metriclab/internal/shellword"
	"metriclab/pkg/experiment/harness"
)

//go:embed submit_kubernetes.yaml.tmpl
var kubernetesText string

var kubernetesTemplate = template.Must(template.New("kubernetes").Funcs(template.FuncMap{
	"json": func(s string) (string, error) {
		text, err := json.Marshal(s) // a JSON text is a YAML text
		return string(text), err
	},
	// Kubernetes replaces $(NAME) in an argument, and $$ by $.
	"literal": func(s string) string { return strings.ReplaceAll(s, "$", "$$") },
}).Parse(kubernetesText))

// pod is what differs between the pods of the run and of the merge.
type pod struct {
	Image, Mem, Results, Data string
	Args                      []string
	Count, CPUs               int
}

func (a *app) submitKubernetesCommand() *cobra.Command {
	var f flags
	var few filters
	var image, results, data, mem string
	var shards, running, cpus, retries int
	c := &cobra.Command{
		Use:   "kubernetes [paper|experiment ...]",
		Short: "Print an Indexed Job and its merge for Kubernetes",
		Long: `Print two Jobs for kubectl apply: an Indexed one whose pods run one shard each, and a
merge, which waits until it is let go. The image holds the program as its entry point,
such as that of the Containerfile. Results and data lie in persistent volume claims: the
one of the results must be writable by many pods at a time, and the one of the data must
hold what metriclab data get fetches.

A pod runs as a user other than root, without privileges, on a root file system that is
read only. An exit code 2, a wrong command line, is never tried again.`,
		Example:           `  metriclab submit kubernetes pola2004 --scale full --image registry.example/metriclab:0.1 --results-claim results --data-claim data --shards 32 --max-running 8 > job.yaml`,
		ValidArgsFunction: a.completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			if err := atLeastOne(c, "shards", shards, "max-running", running, "cpus", cpus); err != nil {
				return err
			}
			for _, g := range []struct{ flag, value, want string }{{"image", image, "one whose entry point is metriclab"}, {"results-claim", results, "a persistent volume claim for the results"}, {"data-claim", data, "the one that holds the data"}} {
				if g.value == "" {
					return usageError{fmt.Errorf("flag --%s: none given, want %s", g.flag, g.want)}
				}
			}
			for _, claim := range [][2]string{{"results-claim", results}, {"data-claim", data}} {
				if !kubernetesName.MatchString(claim[1]) {
					return usageError{fmt.Errorf("flag --%s: %q is not allowed, want the name of a claim, of lower-case letters, digits, hyphens and dots", claim[0], claim[1])}
				}
			}
			if !kubernetesImage.MatchString(image) {
				return usageError{fmt.Errorf("flag --image: %q is not allowed, want the name of an image, such as registry.example/metriclab:0.1", image)}
			}
			if !kubernetesMemory.MatchString(mem) {
				return usageError{fmt.Errorf("flag --mem: %q is not allowed, want a quantity such as 4Gi", mem)}
			}
			if retries < 0 || retries > 100 {
				return usageError{fmt.Errorf("flag --retry: %d is not allowed, want 0 to 100", retries)}
			}
			if shards == 0 || shards > maxShards {
				return usageError{fmt.Errorf("flag --shards: %d is not allowed, want 1 to %d", shards, maxShards)}
			}
			if running == 0 {
				running = shards
			}
			jobs, some, err := a.shared(c, args, &f, few)
			if err != nil {
				return err
			}
			p := pod{Image: image, Mem: mem, Results: results, Data: data, Count: shards, CPUs: cpus}
			run, merge := p, p
			some = append(some, "--results", "/results", "--data", "/data")
			run.Args = append(append([]string{"run"}, args...), append(some, "--jobs", fmt.Sprint(cpus))...)
			merge.Args = append([]string{"merge"}, some...)
			for _, e := range args {
				merge.Args = append(merge.Args, "--experiment", e)
			}
			return kubernetesTemplate.Execute(a.out, map[string]any{
				"Jobs": plural.Of(jobs, "job"), "Shards": shards, "MaxRunning": running, "Retries": retries, "Run": run, "Merge": merge,
			})
		},
	}
	c.Flags().StringVar(&f.scale, "scale", "smoke", "smoke (built-in data, seconds) or full (the papers' protocols)")
	completeFlag(c, "scale", completeScales)
	few.add(a, c, &f)
	c.Flags().StringVar(&image, "image", "", "container image")
	c.Flags().StringVar(&results, "results-claim", "", "persistent volume claim of the results")
	c.Flags().StringVar(&data, "data-claim", "", "persistent volume claim of the data")
	c.Flags().IntVar(&shards, "shards", 0, "pods of the job")
	c.Flags().IntVar(&running, "max-running", 0, "pods that run at a time (default: all)")
	c.Flags().IntVar(&cpus, "cpus", 1, "processors of a pod, and jobs that it runs at a time")
	c.Flags().StringVar(&mem, "mem", "4Gi", "memory of a pod")
	c.Flags().IntVar(&retries, "retry", 3, "how often a shard that failed is tried again")
	return c
}

var (
	kubernetesName   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	kubernetesImage  = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9._:/@]*$`)
	kubernetesMemory = regexp.MustCompile(`^[1-9][0-9]*([KMGT]i|[kMGT])?$`)
)

// oneLinePath refuses a path for a script: one with characters that are not printed, such as a line feed, or with one of the others.
func oneLinePath(path, others string) error {
	also := ""
	if others != "" {
		also = ", blanks, quotes, % or \\"
	}
	if path != printable.Text(path) || strings.ContainsAny(path, "\t\n"+others) {
		return usageError{fmt.Errorf("%q: a path with control characters%s is not allowed in a script", path, also)}
	}
	return nil
}

// shared checks a selection and returns the number of its jobs, and the flags that run and merge share, without folders.
func (a *app) shared(c *cobra.Command, args []string, f *flags, few filters) (jobs int, some []string, err error) {
	sel, cfg, err := a.selected(f, args)
	if err != nil {
		return 0, nil, err
	}
	if err := few.apply(c, &cfg); err != nil {
		return 0, nil, err
	}
	jobs, err = harness.CountJobs(sel, cfg)
	return jobs, few.words(string(cfg.Scale)), err
}

// words repeats the flags that choose jobs.
func (f *filters) words(scale string) []string {
	some := []string{"--scale", scale}
	if f.trials > 0 {
		some = append(some, "--trials", fmt.Sprint(f.trials))
	}
	if f.seed != 1 {
		some = append(some, "--seed", fmt.Sprint(f.seed))
	}
	for _, cell := range f.cells {
		some = append(some, "--cell", cell)
	}
	return some
}

func (a *app) submitParallelCommand() *cobra.Command {
	var f flags
	var few filters
	var shards, running int
	c := &cobra.Command{
		Use:   "parallel [paper|experiment ...]",
		Short: "Print the line that runs all shards by GNU parallel",
		Long: `Print a line for a shell that runs the shards by GNU parallel, and then merges. On one
machine metriclab run --jobs does the same; GNU parallel adds --sshlogin, for machines
that share a folder.`,
		Example:           `  metriclab submit parallel pola2004 --scale full --shards 16 --max-running 4 | bash`,
		ValidArgsFunction: a.completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			if err := atLeastOne(c, "shards", shards, "max-running", running); err != nil {
				return err
			}
			if shards == 0 || shards > maxShards {
				return usageError{fmt.Errorf("flag --shards: %d is not allowed, want 1 to %d", shards, maxShards)}
			}
			if !c.Flags().Changed("results") {
				return usageError{errors.New("flag --results: no folder given, want one that all shards reach")}
			}
			_, some, err := a.shared(c, args, &f, few)
			if err != nil {
				return err
			}
			for _, folder := range []struct{ flag, path string }{{"--results", f.results}, {"--data", f.data}} {
				path, err := filepath.Abs(folder.path)
				if err != nil {
					return err
				}
				if err := oneLinePath(path, ""); err != nil {
					return err
				}
				some = append(some, folder.flag, path)
			}
			limit := ""
			if running > 0 {
				limit = fmt.Sprintf(" --jobs %d", running)
			}
			merge := append([]string{"metriclab", "merge"}, some...)
			for _, e := range args {
				merge = append(merge, "--experiment", e)
			}
			run := append(append([]string{"metriclab", "run"}, args...), append(some, "--jobs", "1")...)
			// Without a command, parallel runs each line that it reads, as it is. In a command it replaces {}, {#} and the like wherever they stand,
			// in a path too, and runs {= … =} as Perl.
			_, err = fmt.Fprintf(a.out, "for i in $(seq 0 %d); do printf '%%s\\n' %s\"$i/%d\"; done | parallel%s; %s\n", shards-1, shellword.Quote(shellword.Join(run)+" --shard "), shards, limit, shellword.Join(merge))
			return err
		},
	}
	f.add(c)
	few.add(a, c, &f)
	c.Flags().IntVar(&shards, "shards", 0, "shards")
	c.Flags().IntVar(&running, "max-running", 0, "shards that run at a time (default: a core each)")
	return c
}
