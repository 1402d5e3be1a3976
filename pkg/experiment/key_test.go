package experiment

import (
	"strings"
	"testing"
)

func TestKeyJSON(t *testing.T) {
	k := Key{
		Schema: 1, Experiment: "toy/lines", Version: 3, Scale: Full, Cell: "<a> & é", Dataset: "d", DatasetSHA256: "00",
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
	jobs := s.Jobs(Full, 3, 7, digest)
	if len(jobs) != 12 {
		t.Fatalf("%d jobs, want 12", len(jobs))
	}
	ids := map[string]bool{}
	for i, j := range jobs {
		ids[j.ID] = true
		if j.ID != j.Key.ID() {
			t.Errorf("job %d: id is not the key's", i)
		}
		if want := (Seed{Base: 7, Experiment: "toy/lines", Dataset: "toy", Trial: i % 3}); j.Seed != want {
			t.Errorf("job %d: seed %+v, want %+v", i, j.Seed, want)
		}
		if j.Key.Trial != i%3 || j.Cell.Name != s.Cells(Full)[i/3].Name || j.Key.DatasetSHA256 != "sum of toy" {
			t.Errorf("job %d: %+v", i, j.Key)
		}
	}
	if len(ids) != len(jobs) {
		t.Errorf("%d different ids of %d jobs", len(ids), len(jobs))
	}

	// Whatever decides the values changes the id.
	base := s.Jobs(Full, 1, 1, nil)[0]
	changed := map[string]func(s *Spec){
		"version": func(s *Spec) { s.Version++ },
		"id":      func(s *Spec) { s.ID = "toy/other" },
		"cell":    changeCell(func(c *Cell) { c.Name = "z" }),
		"dataset": changeCell(func(c *Cell) { c.Dataset = "z" }),
		"params":  changeCell(func(c *Cell) { c.Params = map[string]string{"slope": "9"} }),
		"methods": changeCell(func(c *Cell) { c.Methods = map[string]int{"line": 2} }),
	}
	for name, change := range changed {
		c := s
		change(&c)
		if c.Jobs(Full, 1, 1, nil)[0].ID == base.ID {
			t.Errorf("a change of the %s leaves the id", name)
		}
	}
	for name, id := range map[string]string{
		"scale": s.Jobs(Smoke, 1, 1, nil)[0].ID, "seed": s.Jobs(Full, 1, 2, nil)[0].ID, "digest": s.Jobs(Full, 1, 1, digest)[0].ID,
	} {
		if id == base.ID {
			t.Errorf("a change of the %s leaves the id", name)
		}
	}
}

// changeCell changes the first cell.
func changeCell(f func(*Cell)) func(*Spec) {
	return func(s *Spec) {
		cells := s.Cells
		s.Cells = func(scale Scale) []Cell {
			c := cells(scale)
			f(&c[0])
			return c
		}
	}
}

func TestJobsPanics(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"same name twice": changeCell(func(c *Cell) { c.Name = "b" }),
		"no name":         changeCell(func(c *Cell) { c.Name = "" }),
		"no cells":        func(s *Spec) { s.Cells = func(Scale) []Cell { return nil } },
	} {
		s := toySpec(nil)
		change(&s)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			s.Jobs(Full, 1, 1, nil)
		}()
	}
}
