package closest

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	known := []string{"pola", "pola-batch", "kernel-pola", "pa", "itml", "itml-labels", "lmnn", "ridge", "iterations"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"POLA", []string{"pola"}}, // equal but for case
		{"itm", []string{"itml", "itml-labels"}},
		{"lmn", []string{"lmnn"}},
		{"iteratoins", []string{"iterations"}},
		{"plao", []string{"pola", "pa"}}, // two exchanged letters are two slips
		{"pol", []string{"pola", "pola-batch", "pa"}},
		{"kernel-poal", []string{"kernel-pola"}},
		{"euclidean", nil},
		{"", nil},
		{"x", nil},
	} {
		if got := Names(c.name, known); !slices.Equal(got, c.want) {
			t.Errorf("Names(%q) = %q, want %q", c.name, got, c.want)
		}
	}
	if got := Hint("ridg", known); got != "; did you mean ridge?" {
		t.Errorf("got %q", got)
	}
	if got := Hint("zzz", known); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}
