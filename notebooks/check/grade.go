package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// homework begins a cell that a student hands in.
const homework = "// homework"

// program begins a cell of tests.
const program = "%%\n"

// graded returns a notebook with the set-up cell of a student's, the declarations of the homework cells, and the cells of tests,
// each of which begins with the line %%: nothing else of the student's runs. A function that is missing stops only the tests of
// its own cell. It is an error if there is no homework.
func graded(student *notebook, tests string) ([]byte, error) {
	var sources []string
	for _, c := range student.Cells {
		s := string(c.Source)
		switch {
		case c.Type != "code":
		case len(sources) == 0 && strings.HasPrefix(s, setup):
			sources = append(sources, s)
		case len(sources) > 0 && strings.HasPrefix(s, homework):
			declarations, _, _ := strings.Cut(s, "\n%%")
			sources = append(sources, declarations)
		}
	}
	if len(sources) < 2 {
		return nil, fmt.Errorf("no set-up cell followed by a cell that begins with %q", homework)
	}
	type object = map[string]any
	cells := []object{}
	for cell := range strings.SplitSeq("\n"+tests, "\n"+program) {
		if cell != "" { // the first is what stands above the first %%
			sources = append(sources, program+cell)
		}
	}
	for i, s := range sources {
		cells = append(cells, object{"cell_type": "code", "id": fmt.Sprintf("g%d", i), "source": s, "metadata": object{}, "outputs": []object{}, "execution_count": nil})
	}
	return json.Marshal(object{"cells": cells, "nbformat": 4, "nbformat_minor": 5,
		"metadata": object{"kernelspec": object{"name": "gonb", "language": "go", "display_name": "Go (gonb)"}}})
}

// verdicts is what the cells of tests of a graded notebook printed, and the errors of all.
func verdicts(nb *notebook) string {
	var b strings.Builder
	for i, c := range nb.Cells {
		for _, o := range ordered(c.Outputs) {
			if o.Type == "error" {
				fmt.Fprintf(&b, "cell %d: %s: %s\n", i+1, o.Error, o.Value)
			} else if strings.HasPrefix(string(c.Source), program) {
				b.WriteString(string(o.Text))
			}
		}
	}
	return b.String()
}
