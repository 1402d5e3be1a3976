package experiment_test

import (
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

func TestColumns(t *testing.T) {
	sum := experiment.Number("sum", "s", "of both times")
	sum.Derive = func(rows *table.Table) []float64 {
		out := slices.Clone(rows.Values("p0"))
		for i, v := range rows.Values("p1") {
			out[i] += v
		}
		return out
	}
	c := experiment.Columns{experiment.Text("name", "of the row"), experiment.Vector("p", 2, "s", "times"), sum}
	if got := strings.Join(slices.Concat(c.Texts(), c.Numbers(), c.Derived()), " "); got != "name p0 p1 sum" {
		t.Errorf("names are %s", got)
	}
	rows := c.Table()
	rows.Add(table.Key{"name": "a"}, table.Values{"p0": 1, "p1": 2})
	if all, err := c.WithDerived(rows); err != nil || all.Values("sum")[0] != 3 || all.Index("name")[0] != "a" || all.Values("p1")[0] != 2 {
		t.Errorf("with derived columns: %v, error %v", all, err)
	}
	for want, derive := range map[string]func(*table.Table) []float64{
		"derived column sum has 0 values for 1 rows": func(*table.Table) []float64 { return nil },
		"derived column sum: no rows":                func(*table.Table) []float64 { judge.Refuse("no rows"); return nil },
		"index out of range":                         func(t *table.Table) []float64 { return t.Values("p0")[:5:7] },
	} {
		c[2].Derive = derive
		if _, err := c.WithDerived(rows); err == nil || !strings.Contains(err.Error(), want) && want != "index out of range" {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

func TestCheckColumns(t *testing.T) {
	derived := experiment.Number("d", "", "derived")
	derived.Derive = func(*table.Table) []float64 { return nil }
	kinds := []experiment.Kind{{Name: "size", Meaning: "a count"}}
	kind, x := experiment.Text("kind", "of the row"), experiment.Number("x", "m", "where")
	for name, tt := range map[string]struct {
		kinds   []experiment.Kind
		columns experiment.Columns
		want    string
	}{
		"sound":             {kinds, experiment.Columns{kind, x.In("size"), derived}, ""},
		"no kinds":          {nil, experiment.Columns{kind, x}, "go together"},
		"no column kind":    {kinds, experiment.Columns{x}, "go together"},
		"undeclared kind":   {kinds, experiment.Columns{kind, x.In("error")}, `kind "error" is not declared`},
		"kind twice":        {slices.Concat(kinds, kinds), experiment.Columns{kind}, `kind "size"`},
		"kind, no meaning":  {[]experiment.Kind{{Name: "k"}}, experiment.Columns{kind}, `kind "k"`},
		"a job's column":    {nil, experiment.Columns{experiment.Text("job", "a job")}, `"job"`},
		"within a vector":   {nil, experiment.Columns{experiment.Number("p1", "", "a number"), experiment.Vector("p", 2, "", "two")}, `"p1"`},
		"a comma":           {nil, experiment.Columns{experiment.Number("a,b", "m", "two")}, "is not one of letters"},
		"a blank first":     {nil, experiment.Columns{experiment.Number(" a", "m", "one")}, "is not one of letters"},
		"no meaning":        {nil, experiment.Columns{experiment.Number("x", "m", "")}, "want a meaning"},
		"text with a unit":  {nil, experiment.Columns{{Name: "a", Text: true, Unit: "m", Meaning: "text"}}, "a text has no unit"},
		"text after number": {nil, experiment.Columns{x, experiment.Text("a", "text")}, "texts stand first"},
		"number derived":    {nil, experiment.Columns{derived, x}, "derived numbers last"},
	} {
		s := sound()
		s.Kinds, s.Columns = tt.kinds, tt.columns
		err := s.Check(experiment.Full)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error is %v, want %q", name, err, tt.want)
		}
	}
}
