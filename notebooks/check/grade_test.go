package main

import (
	"strings"
	"testing"
)

func TestGraded(t *testing.T) {
	nb := sound(t)
	if _, err := graded(nb, "%%"); err == nil {
		t.Error("a notebook without homework gives no error")
	}
	nb.Cells = append(nb.Cells, cell{Type: "code", Source: homework + "\nfunc f() {}\n\n%%\nos.Exit(1)"})
	raw, err := graded(nb, "%%\nf()\n%%\ng()")
	if err != nil {
		t.Fatal(err)
	}
	got, err := parse(raw)
	if err != nil || len(got.Cells) != 4 || got.Cells[1].Source != homework+"\nfunc f() {}\n" || got.Cells[2].Source != "%%\nf()" || got.Cells[3].Source != "%%\ng()" || strings.Contains(string(raw), "os.Exit") {
		t.Errorf("graded = %s, error %v", raw, err)
	}
	got.Cells[2].Outputs = []output{{Type: "stream", Name: "stdout", Text: "exercise 1: right\n"}, {Type: "error", Error: "ERROR", Value: "exit status 2"}}
	got.Cells[1].Outputs = []output{{Type: "stream", Name: "stdout", Text: "of the student's\n"}}
	got.Cells[3].Outputs = []output{{Type: "stream", Name: "stdout", Text: "exercise 2: right\n"}}
	if v := verdicts(got); v != "cell 3: ERROR: exit status 2\nexercise 1: right\nexercise 2: right\n" {
		t.Errorf("verdicts = %q", v)
	}
}
