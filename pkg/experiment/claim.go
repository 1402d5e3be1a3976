package experiment

import (
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// FigureOnly is the value of a claim that the paper shows in a figure only.
const FigureOnly = "figure only, no number"

// Claim is one assertion of a paper (or one of ours, marked so) and the test that judges
// it. Predicate, margin and tolerance are fixed before the first full run.
type Claim struct {
	// ID is unique within the paper, for example "fig3-euclidean".
	ID string
	// Statement is the assertion, as close to the paper's words as possible.
	Statement string
	// Where it stands: section, figure, sentence.
	Where string
	// Theirs is the paper's value as its text or a table prints it, or FigureOnly.
	Theirs string
	// Predicate says in words what Test tests.
	Predicate string
	// View names the view that shows it; "" means the experiment's first.
	View string
	// Test puts the statement to a complete table.
	Test func(t *table.Table) judge.Test
	// TestTimed takes the place of Test in a claim about times; exactly one of the two is
	// set. times is as in View.DrawTimed.
	TestTimed func(t, times *table.Table) judge.Test
}

// Judge judges whichever of Test and TestTimed is set. times is not used if it is Test. A
// table with the declared columns gives a finding or an error, as for View.DrawWith.
func (c Claim) Judge(t, times *table.Table) (f judge.Finding, err error) {
	defer judge.Refused(&err)
	if c.TestTimed != nil {
		return judge.Judge(c.TestTimed(t, times))
	}
	return judge.Judge(c.Test(t))
}

// Timed reports whether the claim needs times.
func (c Claim) Timed() bool { return c.TestTimed != nil }
