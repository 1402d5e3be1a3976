package experiment

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// FigureOnly is the value of a claim that the paper shows in a figure only.
const FigureOnly = "figure only, no number"

// Claim is one assertion of a paper, or one of ours, and the test that grades
// it. Predicate, margin and tolerance are fixed before the first full run.
type Claim struct {
	// ID is unique within the paper, for example "fig3-euclidean".
	ID string
	// Ours marks a claim that the paper does not make. An experiment of ours has no other.
	Ours bool
	// Sentence is the ID of the claim of the same paper that asserts the same sentence: this one
	// tests it again, and is a reading of it. It is "" of all others, which count.
	Sentence string
	// Title is Statement in at most TitleWords words, for lists; "" if Statement has no more.
	Title string
	// Statement is the assertion, as close to the paper's words as possible.
	Statement string
	// Where it stands: section, figure, sentence.
	Where string
	// Afterwards is what was known when the claim was added, if published results tell its
	// outcome: "the errors of Fig. 3". It is "" of a claim declared before its first run.
	Afterwards string
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

	source string
}

// Claims returns claims that know the file that calls it, which declares them.
func Claims(claims []Claim) []Claim {
	pc, file, _, ok := runtime.Caller(1)
	if fn := runtime.FuncForPC(pc); ok && fn != nil {
		for i := range claims {
			claims[i].source = sourceFile(fn.Name(), file)
		}
	}
	return claims
}

// Source is the file that declares the claim, below the project's root, or in the folder of a
// program; "" of a claim that did not pass through Claims.
func (c Claim) Source() string { return c.source }

// sourceFile returns the path below the project's root of the file, as built, of a function.
// The folder is that of the package, since the path as built may be of another machine; of a
// program, whose package is called main, it is not known.
func sourceFile(function, file string) string {
	slash := strings.LastIndex(function, "/")
	dot := strings.Index(function[slash+1:], ".")
	folder := strings.TrimPrefix(function[:slash+1+dot], "metriclab/")
	if folder == "main" {
		folder = ""
	}
	return path.Join(folder, path.Base(filepath.ToSlash(file)))
}

// Judge grades by whichever of Test and TestTimed is set. times is not used if it is Test. A
// table with the declared columns gives a finding or an error, as for View.DrawWith.
func (c Claim) Judge(t, times *table.Table) (f judge.Finding, err error) {
	defer judge.Refused(&err)
	if c.TestTimed != nil {
		return judge.Judge(c.TestTimed(t, times))
	}
	return judge.Judge(c.Test(t))
}

// Place is Where, with what was known of the outcome if the claim was added afterwards.
func (c Claim) Place() string {
	if c.Afterwards == "" {
		return c.Where
	}
	return c.Where + "; " + judge.WordsAfterwards(c.Afterwards)
}

// TitleWords is how many words a claim has at most in a list.
const TitleWords = 20

// Short is the claim in at most TitleWords words: Title, else Statement, cut with an
// ellipsis if it is longer.
func (c Claim) Short() string {
	if c.Title != "" {
		return c.Title
	}
	words := strings.Fields(c.Statement)
	if len(words) <= TitleWords {
		return c.Statement
	}
	return strings.TrimRight(strings.Join(words[:TitleWords], " "), ",;:.") + " …"
}

// CheckTitle returns an error unless lists can show the claim whole: in at most TitleWords words.
func (c Claim) CheckTitle() error {
	switch words := len(strings.Fields(c.Title)); {
	case words > TitleWords:
		return fmt.Errorf("claim %s: its Title has %d words, at most %d are allowed", c.ID, words, TitleWords)
	case words == 0 && len(strings.Fields(c.Statement)) > TitleWords:
		return fmt.Errorf("claim %s: its Statement has %d words: give it a Title of at most %d", c.ID, len(strings.Fields(c.Statement)), TitleWords)
	}
	return nil
}

// Timed reports whether the claim needs times.
func (c Claim) Timed() bool { return c.TestTimed != nil }
