package experiment

import (
	"fmt"
	"strings"
)

// Check returns an error unless an experiment has the parts that are needed to run it at a
// scale. The error names the experiment, each part that is missing or wrong, and what to
// write there.
func (s Spec) Check(scale Scale) error {
	var c check
	c.want(s.ID != "" && strings.Count(s.ID, "/") == 1 && !strings.HasPrefix(s.ID, "/") && !strings.HasSuffix(s.ID, "/"),
		"ID", `"<paper>/<experiment>", such as "mine/clouds"`)
	c.want(s.Title != "", "Title", "in one line what is measured")
	c.want(s.Source != "", "Source", "where the paper describes it, or whose question it is")
	c.want(s.Version >= 1, "Version", "1, and one more whenever what Trial computes changes")
	c.want(len(s.Columns) > 0, "Columns", `what Trial fills: experiment.Columns{experiment.Number("error", "share", "of the held-out rows")}`)
	c.want(s.Trial != nil, "Trial", "func(ctx context.Context, run *experiment.Run) error, which adds rows to run.Rows")
	c.want(s.Trials != nil, "Trials", "how many for each cell: experiment.Trials(10)")
	if s.Trials != nil {
		c.want(s.Trials(scale) >= 1, fmt.Sprintf("Trials at scale %s", scale), "at least 1")
	}
	c.want(s.Cells != nil, "Cells", `func(experiment.Scale) []experiment.Cell, which returns at least experiment.Cell{Name: "all"}`)
	if s.Cells != nil {
		c.cells(s.Cells(scale), scale)
	}
	c.views(s)
	c.claims(s)
	if err := s.checkColumns(); err != nil && len(s.Columns) > 0 {
		c = append(c, err.Error())
	}
	if len(c) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", orQuoted(s.ID), strings.Join(c, "\n  "))
}

// check gathers what is missing.
type check []string

// want notes that a part is missing, and what to write there, unless it is there.
func (c *check) want(there bool, part, write string) {
	if !there {
		*c = append(*c, fmt.Sprintf("it lacks %s: write %s", part, write))
	}
}

// refuse notes what is wrong unless a part is right.
func (c *check) refuse(wrong bool, format string, args ...any) {
	if wrong {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}

func (c *check) cells(cells []Cell, scale Scale) {
	c.want(len(cells) > 0, fmt.Sprintf("Cells at scale %s", scale), `at least experiment.Cell{Name: "all"}`)
	names := map[string]bool{}
	for i, cell := range cells {
		c.want(cell.Name != "", fmt.Sprintf("the Name of cell %d at scale %s", i, scale), "what tells it from the others")
		c.refuse(cell.Name != "" && names[cell.Name], "its cell name %q occurs twice at scale %s: name them apart", cell.Name, scale)
		names[cell.Name] = true
		if err := paramsError(cell); err != "" {
			c.refuse(true, "its cell %q: %s", cell.Name, err)
		}
	}
}

// paramsError says why Params panics, "" if it does not.
func paramsError(c Cell) (err string) {
	defer func() {
		if p := recover(); p != nil {
			err = strings.TrimPrefix(fmt.Sprint(p), "experiment: ")
		}
	}()
	c.Params()
	return ""
}

func (c *check) views(s Spec) {
	c.want(len(s.Views) > 0, "Views", `what is drawn of the table: []experiment.View{{Name: "errors", Title: "Errors by method", Draw: …}}`)
	names := map[string]bool{}
	for i, v := range s.Views {
		c.want(v.Name != "", fmt.Sprintf("the Name of view %d", i), "the name of its files, without extension")
		c.refuse(v.Name != "" && names[v.Name], "its view name %q occurs twice: name them apart", v.Name)
		names[v.Name] = true
		c.want(v.Title != "", fmt.Sprintf("the Title of view %q", v.Name), "what it is called on a page")
		c.want(v.Draw != nil || v.DrawTimed != nil, fmt.Sprintf("Draw of view %q", v.Name), "func(t *table.Table) (plots.Drawing, error), such as frame.View{…}.Draw")
		c.refuse(v.Draw != nil && v.DrawTimed != nil, "its view %q has both Draw and DrawTimed: leave out one", v.Name)
		c.refuse(v.Timed() && !s.Timing, "its view %q shows times: write Timing: true", v.Name)
	}
}

func (c *check) claims(s Spec) {
	ids := map[string]bool{}
	for i, x := range s.Claims {
		c.want(x.ID != "", fmt.Sprintf("the ID of claim %d", i), "one word by which it is asked for")
		c.refuse(x.ID != "" && ids[x.ID], "its claim ID %q occurs twice: name them apart", x.ID)
		ids[x.ID] = true
		c.want(x.Statement != "", fmt.Sprintf("the Statement of claim %q", x.ID), "what is claimed, in a sentence")
		c.want(x.Test != nil || x.TestTimed != nil, fmt.Sprintf("Test of claim %q", x.ID), "func(t *table.Table) judge.Test, such as frame.Positive(…)")
		c.refuse(x.Test != nil && x.TestTimed != nil, "its claim %q has both Test and TestTimed: leave out one", x.ID)
		c.refuse(x.Timed() && !s.Timing, "its claim %q is about times: write Timing: true", x.ID)
		known := x.View == ""
		for _, v := range s.Views {
			known = known || v.Name == x.View
		}
		c.refuse(!known, "its claim %q is shown by the view %q, which is not among its Views", x.ID, x.View)
	}
}

// orQuoted is a text, or quotes where it is empty.
func orQuoted(s string) string {
	if s == "" {
		return `""`
	}
	return s
}
