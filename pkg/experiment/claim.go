package experiment

import (
	"metriclab/pkg/table"
)

// Verdict grades a claim.
type Verdict string

// The verdicts; see docs/design.md, "Claims and verdicts".
const (
	Reproduced    Verdict = "reproduced"
	Partly        Verdict = "partly"
	NotReproduced Verdict = "not reproduced"
	Undecided     Verdict = "undecided"
	Untestable    Verdict = "untestable"
	NotGraded     Verdict = "not graded"
)

// Verdicts lists all verdicts, best first.
var Verdicts = []Verdict{Reproduced, Partly, NotReproduced, Undecided, Untestable, NotGraded}

// FigureOnly is the value of a claim that the paper shows in a figure only.
const FigureOnly = "figure only, no number"

// Claim is one assertion of a paper (or one of ours, marked so) and the code
// that grades it. Predicate, margin and tolerance are fixed before the first
// full run.
type Claim struct {
	// ID is unique within the paper, for example "fig3-euclidean".
	ID string
	// Statement is the assertion, as close to the paper's words as possible.
	Statement string
	// Where it stands: section, figure, sentence.
	Where string
	// Theirs is the paper's value as its text or a table prints it, or FigureOnly.
	Theirs string
	// Predicate says in words what Grade tests.
	Predicate string
	// View names the view that shows it; "" means the experiment's first.
	View string
	// Grade compares the statement with a complete table.
	Grade func(t *table.Table) (Finding, error)
	// GradeTimed takes the place of Grade in a claim about times; exactly one of
	// the two is set. times is as in View.DrawTimed.
	GradeTimed func(t, times *table.Table) (Finding, error)
}

// GradeWith calls whichever of Grade and GradeTimed is set. times is not used
// if it is Grade. A table with the declared columns gives a finding or an error, as
// for View.DrawWith.
func (c Claim) GradeWith(t, times *table.Table) (f Finding, err error) {
	defer refused(&err)
	if c.GradeTimed != nil {
		return c.GradeTimed(t, times)
	}
	return c.Grade(t)
}

// Timed reports whether the claim needs times.
func (c Claim) Timed() bool { return c.GradeTimed != nil }

// Finding is the graded outcome of a claim.
type Finding struct {
	Verdict Verdict
	// Ours is our value, with its interval.
	Ours string
	// Reason says why the verdict is what it is.
	Reason string
}
