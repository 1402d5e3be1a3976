package main

import (
	"fmt"
	"strconv"
	"strings"

	"metriclab/internal/plural"
	"metriclab/pkg/learners/lines"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/model"
)

// linesOf lists the lines of constraints, the first twenty.
func linesOf(cs *lines.Constraints, constraints []int) string {
	const shown = 20
	var words []string
	for k, i := range constraints {
		if k == shown {
			words = append(words, fmt.Sprintf("%d more", len(constraints)-shown))
			break
		}
		words = append(words, strconv.Itoa(cs.Lines[i]))
	}
	if len(words) == 1 {
		return "line " + words[0]
	}
	return "lines " + strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

var relations = map[ltkernel.Sense]string{ltkernel.SenseAtMost: "<=", ltkernel.SenseAtLeast: ">=", ltkernel.SenseExactly: "="}

// spell writes a constraint as a formula.
func spell(c ltkernel.Constraint) string {
	return fmt.Sprintf("%s %s %v", leftSide(c), relations[c.Sense], c.Bound)
}

// leftSide writes what a constraint bounds.
func leftSide(c ltkernel.Constraint) string {
	switch {
	case c.Trace != 0:
		return "tr K"
	case len(c.Dists) == 2:
		return fmt.Sprintf("d(%d,%d) - d(%d,%d)", c.Dists[0].I, c.Dists[0].J, c.Dists[1].I, c.Dists[1].J)
	}
	return fmt.Sprintf("d(%d,%d)", c.Dists[0].I, c.Dists[0].J)
}

// printInfeasible shows a certificate.
func (a *app) printInfeasible(e *model.InfeasibleError, cs *lines.Constraints) error {
	var b strings.Builder
	fmt.Fprintf(&b, "status: %s, found after %s\n", e.Report.Status, plural.Of(e.Report.Iterations, "step"))
	fmt.Fprintf(&b, "certificate: the weighted sum of these left sides, those of >= with a minus sign, is at least 0 for every kernel\n")
	largest, sum := 0.0, 0.0
	for _, w := range e.Weights {
		largest = max(largest, w, -w)
	}
	for k, i := range e.Conflict {
		c, w := cs.List[i], e.Weights[k]/largest
		sign := 1.0
		if c.Sense == ltkernel.SenseAtLeast {
			sign = -1
		}
		sum += sign * w * c.Bound
		fmt.Fprintf(&b, "  line %d: weight %.6g of %s\n", cs.Lines[i], w, spell(c))
	}
	fmt.Fprintf(&b, "  but that of the bounds is %.6g\n", sum)
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// mostViolated is how many violated constraints a report shows.
const mostViolated = 20

// printViolated shows the constraints that the kernel violates, in the order of their lines.
func printViolated(b *strings.Builder, s ltkernel.Solution, cs *lines.Constraints) {
	for k, i := range s.Violated {
		if k == mostViolated {
			fmt.Fprintf(b, "  and %d more\n", len(s.Violated)-mostViolated)
			return
		}
		c := cs.List[i]
		fmt.Fprintf(b, "  line %d: %s is %.6g, want %s %v\n", cs.Lines[i], leftSide(c), s.Sides[i]+0, relations[c.Sense], c.Bound)
	}
}
