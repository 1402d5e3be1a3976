package harness

import (
	"errors"
	"slices"
	"testing"

	"metriclab/pkg/experiment"
)

func selectPapers() []experiment.Paper {
	return []experiment.Paper{
		{Key: "one2001", Experiments: []experiment.Spec{{ID: "one2001/fig1"}, {ID: "one2001/table2"}}},
		{Key: "two2002", Experiments: []experiment.Spec{{ID: "two2002/fig1"}}},
	}
}

func TestSelect(t *testing.T) {
	tests := []struct {
		names []string
		want  []string
	}{
		{nil, []string{"one2001/fig1", "one2001/table2", "two2002/fig1"}},
		{[]string{"one2001"}, []string{"one2001/fig1", "one2001/table2"}},
		{[]string{"two2002/fig1", "one2001/fig1"}, []string{"one2001/fig1", "two2002/fig1"}}, // in the papers' order
		{[]string{"table2"}, []string{"one2001/table2"}},
		{[]string{"table2", "one2001", "table2"}, []string{"one2001/fig1", "one2001/table2"}},
	}
	for _, tt := range tests {
		sel, err := Select(selectPapers(), tt.names)
		if err != nil {
			t.Errorf("%q: %v", tt.names, err)
			continue
		}
		var got []string
		for _, s := range sel {
			got = append(got, s.Spec.ID)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.names, got, tt.want)
		}
	}
}

func TestSelectUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"one2001/fig2":   `unknown experiment "one2001/fig2": did you mean one2001/fig1?`,
		"tabel2":         `unknown experiment "tabel2": did you mean table2?`,
		"fig1":           `unknown experiment "fig1": did you mean one2001/fig1 or two2002/fig1?`,
		"something else": `unknown experiment "something else"`,
	} {
		_, err := Select(selectPapers(), []string{name})
		var unknown *UnknownError
		if !errors.As(err, &unknown) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	}
}
