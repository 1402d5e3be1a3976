// Command kubernetes checks, from standard input, that what metriclab submit kubernetes prints is two
// Jobs as the API of Kubernetes has them: every field is known, none stands twice. It is a module of
// its own, since nothing else needs these types.
//
//	metriclab submit kubernetes … | go -C internal/tools/kubernetes run .
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"

	batch "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	log.SetFlags(0)
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	jobs, err := check(text)
	if err != nil {
		log.Fatal("kubernetes: ", err)
	}
	fmt.Printf("%q and %q: as the Kubernetes API has them\n", jobs[0].Name, jobs[1].Name)
}

// check decodes the run and its merge, and compares them with what is promised of them.
func check(text []byte) ([]batch.Job, error) {
	var jobs []batch.Job
	for i, doc := range bytes.Split(text, []byte("\n---\n")) {
		var j batch.Job
		if err := yaml.UnmarshalStrict(doc, &j); err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		if j.APIVersion != "batch/v1" || j.Kind != "Job" {
			return nil, fmt.Errorf("document %d is a %s of %s, want a Job of batch/v1", i, j.Kind, j.APIVersion)
		}
		if err := harmless(j); err != nil {
			return nil, fmt.Errorf("%s: %w", j.Name, err)
		}
		jobs = append(jobs, j)
	}
	if len(jobs) != 2 {
		return nil, fmt.Errorf("%d documents, want the run and its merge", len(jobs))
	}
	run, merge := jobs[0].Spec, jobs[1].Spec
	switch {
	case run.CompletionMode == nil || *run.CompletionMode != batch.IndexedCompletion || run.Completions == nil || run.Parallelism == nil || run.BackoffLimitPerIndex == nil:
		return nil, fmt.Errorf("the run is no Indexed Job with completions, parallelism and backoffLimitPerIndex")
	case run.Template.Spec.RestartPolicy != "Never":
		return nil, fmt.Errorf("restartPolicy %s: a podFailurePolicy and a backoffLimitPerIndex want Never", run.Template.Spec.RestartPolicy)
	case !failsAtTwo(run.PodFailurePolicy):
		return nil, fmt.Errorf("exit code 2 is tried again")
	case merge.Suspend == nil || !*merge.Suspend:
		return nil, fmt.Errorf("the merge does not wait")
	}
	return jobs, nil
}

// harmless returns an error unless the pods run without rights that they do not need.
func harmless(j batch.Job) error {
	pod := j.Spec.Template.Spec
	if s := pod.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot {
		return fmt.Errorf("a pod may run as root")
	}
	for _, c := range pod.Containers {
		if s := c.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
			return fmt.Errorf("the container %s may write its root file system, or gain rights", c.Name)
		}
		if c.Resources.Requests.Cpu().IsZero() || c.Resources.Limits.Memory().IsZero() {
			return fmt.Errorf("the container %s asks for no resources", c.Name)
		}
	}
	return nil
}

func failsAtTwo(p *batch.PodFailurePolicy) bool {
	if p == nil {
		return false
	}
	for _, r := range p.Rules {
		if r.Action == batch.PodFailurePolicyActionFailIndex && r.OnExitCodes != nil && len(r.OnExitCodes.Values) == 1 && r.OnExitCodes.Values[0] == 2 {
			return true
		}
	}
	return false
}
