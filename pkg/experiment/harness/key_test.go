package harness

import (
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/random"
)

func TestKeyJSON(t *testing.T) {
	k := Key{
		Schema: 1, Experiment: "toy/lines", Version: 3, Scale: experiment.Full, Cell: "<a> & é", Dataset: "d", DatasetSHA256: "00",
		Params: map[string]string{"z": "1", "b": `"`}, Methods: map[string]int{"m": 2}, Trial: 4, Seed: 5,
	}
	want := `{"cell":"<a> & é","dataset":"d","dataset_sha256":"00","experiment":"toy/lines","methods":{"m":2},"params":{"b":"\"","z":"1"},` +
		`"scale":"full","schema":1,"seed":5,"trial":4,"version":3}`
	if got := string(k.JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// sha256sum of the line above, without its end.
	if got, want := k.ID(), "23cb624be28593024615e2237979076da83d75202d5125bfdc92b0c46ed9ebb4"; got != want {
		t.Errorf("id %s, want %s", got, want)
	}
	if got := string(Key{}.JSON()); !strings.Contains(got, `"methods":{},"params":{}`) {
		t.Errorf("nil maps are not empty ones: %s", got)
	}
}

func TestJobs(t *testing.T) {
	s := toySpec(nil)
	digest := func(name string) string { return "sum of " + name }
	jobs := Jobs(s, experiment.Full, 3, 7, digest)
	if len(jobs) != 12 {
		t.Fatalf("%d jobs, want 12", len(jobs))
	}
	ids := map[string]bool{}
	for i, j := range jobs {
		ids[j.ID] = true
		if j.ID != j.Key.ID() {
			t.Errorf("job %d: id is not the key's", i)
		}
		if want := (random.Seed{Base: 7, Experiment: "toy/lines", Dataset: "toy", Trial: i % 3}); j.Seed != want {
			t.Errorf("job %d: seed %+v, want %+v", i, j.Seed, want)
		}
		if j.Key.Trial != i%3 || j.Cell.Name != s.Cells(experiment.Full)[i/3].Name || j.Key.DatasetSHA256 != "sum of toy" {
			t.Errorf("job %d: %+v", i, j.Key)
		}
	}
	if len(ids) != len(jobs) {
		t.Errorf("%d different ids of %d jobs", len(ids), len(jobs))
	}

	// Whatever decides the values changes the id.
	base := Jobs(s, experiment.Full, 1, 1, nil)[0]
	changed := map[string]func(s *experiment.Spec){
		"version": func(s *experiment.Spec) { s.Version++ },
		"id":      func(s *experiment.Spec) { s.ID = "toy/other" },
		"cell":    changeCell(func(c *experiment.Cell) { c.Name = "z" }),
		"dataset": changeCell(func(c *experiment.Cell) { c.Dataset = "z" }),
		"params":  changeCell(func(c *experiment.Cell) { c.Settings = toySettings{Slope: 9} }),
		"methods": changeCell(func(c *experiment.Cell) { c.Methods = map[string]int{"line": 2} }),
	}
	for name, change := range changed {
		c := s
		change(&c)
		if Jobs(c, experiment.Full, 1, 1, nil)[0].ID == base.ID {
			t.Errorf("a change of the %s leaves the id", name)
		}
	}
	for name, id := range map[string]string{
		"scale": Jobs(s, experiment.Smoke, 1, 1, nil)[0].ID, "seed": Jobs(s, experiment.Full, 1, 2, nil)[0].ID, "digest": Jobs(s, experiment.Full, 1, 1, digest)[0].ID,
	} {
		if id == base.ID {
			t.Errorf("a change of the %s leaves the id", name)
		}
	}
}

// changeCell changes the first cell.
func changeCell(f func(*experiment.Cell)) func(*experiment.Spec) {
	return func(s *experiment.Spec) {
		cells := s.Cells
		s.Cells = func(scale experiment.Scale) []experiment.Cell {
			c := cells(scale)
			f(&c[0])
			return c
		}
	}
}

func TestJobsPanics(t *testing.T) {
	for name, change := range map[string]func(*experiment.Spec){
		"same name twice": changeCell(func(c *experiment.Cell) { c.Name = "b" }),
		"no name":         changeCell(func(c *experiment.Cell) { c.Name = "" }),
		"no cells":        func(s *experiment.Spec) { s.Cells = func(experiment.Scale) []experiment.Cell { return nil } },
	} {
		s := toySpec(nil)
		change(&s)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			Jobs(s, experiment.Full, 1, 1, nil)
		}()
	}
}
