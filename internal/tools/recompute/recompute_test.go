package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/papers/pola2004"
	"metriclab/pkg/table"
)

// A committed job is computed anew with the same rows, and a changed row is found.
func TestRecompute(t *testing.T) {
	store := datasets.Open(t.TempDir())
	jobs, err := jobsOf(t.Context(), pola2004.Theorem1, filepath.Join("..", "..", "..", "results"), store)
	if err != nil || len(jobs) == 0 {
		t.Fatalf("%d jobs of pola2004/theorem1, error %v", len(jobs), err)
	}
	var out bytes.Buffer
	if n := run(t.Context(), &out, jobs[:1], store, 1e-6); n != 0 { // the tolerance is for other processors
		t.Errorf("%d jobs differ:\n%s", n, &out)
	}
	changed := table.New(jobs[0].rows.IndexNames(), jobs[0].rows.ValueNames())
	name := jobs[0].rows.ValueNames()[0]
	for i := range jobs[0].rows.Len() {
		key, values := jobs[0].rows.Row(i)
		if i == 0 {
			values[name]++
		}
		changed.Add(key, values)
	}
	jobs[0].rows = changed
	out.Reset()
	if n := run(t.Context(), &out, jobs[:1], store, 1e-6); n != 1 || !strings.Contains(out.String(), "DIFFERS  pola2004/theorem1") || !strings.Contains(out.String(), "row 1, "+name) {
		t.Errorf("%d jobs differ, want 1, named with its column:\n%s", n, &out)
	}
}

// Jobs on data of each kind are found, and a data set that is missing is named.
func TestData(t *testing.T) {
	results := filepath.Join("..", "..", "..", "results")
	var missing *datasets.MissingError
	if jobs, err := jobsOf(t.Context(), pola2004.Fig3, results, datasets.Open(t.TempDir())); !errors.As(err, &missing) || missing.Dataset != "mnist" {
		t.Errorf("without data %d jobs, error %v, want that mnist is missing", len(jobs), err)
	}
	store := realdata.Store(t, "mnist")
	if jobs, err := jobsOf(t.Context(), pola2004.Fig3, results, store); err != nil || len(jobs) != len(pola2004.Fig3.Cells(experiment.Full)) {
		t.Errorf("%d jobs of pola2004/fig3, error %v, want one for each of %d cells", len(jobs), err, len(pola2004.Fig3.Cells(experiment.Full)))
	}
	other := pola2004.Theorem1
	other.Version++
	if jobs, err := jobsOf(t.Context(), other, results, store); err == nil || !strings.Contains(err.Error(), "run it at full scale") {
		t.Errorf("%d jobs of another version of pola2004/theorem1, error %v", len(jobs), err)
	}
}

// Which jobs are chosen, and in which order, depends on the text alone.
func TestChosen(t *testing.T) {
	var jobs []job
	for _, j := range harness.Jobs(pola2004.Theorem1, experiment.Full, 10, 1, nil) {
		jobs = append(jobs, job{Job: j})
	}
	ids := func(jobs []job, by string) string {
		var b strings.Builder
		for _, j := range chosen(jobs, by, 5) {
			b.WriteString(j.ID + "\n")
		}
		return b.String()
	}
	first := ids(jobs, "a")
	slices.Reverse(jobs)
	if again := ids(jobs, "a"); again != first || strings.Count(first, "\n") != 5 {
		t.Errorf("chosen by one text:\n%sthen\n%s", first, again)
	}
	if ids(jobs, "b") == first {
		t.Error("two texts choose the same jobs")
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"x"}, {"-tolerance", "-1"}, {"-tolerance", "NaN"}} {
		if err := command(t.Context(), &bytes.Buffer{}, args); err == nil || !strings.Contains(err.Error(), "usage") {
			t.Errorf("%q: error %v, want the usage", args, err)
		}
	}
}
