package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/feedback"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
)

// aboutPairs is the part of fit's help on pairs that are known.
const aboutPairs = `Pairs that you know: with --pairs FILE or --chunklets COLUMN a learner of pairs draws
none by classes, and --label may be missing. A --label that is there is no feature.

--pairs takes a file of labelled pairs of rows, three cells each: i, j and label, 1 or
true for rows that are alike and -1, 0 or false for rows that are not. Rows count from
0, without the header. The cells are separated by commas, semicolons, tabs, bars or
blanks. A header may name the columns in another order, among others; a, b, left,
right, item1, item2, similar, same and match are known, too, and --columns i=3,j=4,label=7
says by name or number which they are. JSON lines {"i":0,"j":5,"label":-1} and .npy
arrays of three columns do as well; - is standard input. Online learners take the pairs
in the order of the file.

--chunklets takes a column of the table: rows with equal cells are known to be alike,
such as pictures of one person, and nothing is known of a row with a missing cell.
rca and kernel-rca learn from that. Other learners of pairs take all pairs of rows of
one chunklet as similar and, since they would bring everything together otherwise, as
many pairs drawn from different chunklets as dissimilar. If two chunklets may be the
same thing, --dissimilar none leaves these out.

  metriclab fit faces.csv --pairs judged.csv --learner pola --out faces.json
  metriclab fit faces.csv --drop id --chunklets person --learner rca --out faces.json`

// countOrFile is the value of --pairs: how many to draw, or a file of them.
type countOrFile struct {
	count int
	file  string
}

// Set takes a whole number for a count, and anything else for a file.
func (v *countOrFile) Set(text string) error {
	if text == "" {
		return errors.New("want a number of pairs, or a file")
	}
	if text == stdin || strings.Trim(text, "+-0123456789") != "" {
		*v = countOrFile{file: text}
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("want a number up to %d, or a file", model.MaxPairs)
	}
	*v = countOrFile{count: n}
	return nil
}

// least is the count, or what passes for one if there is a file.
func (v *countOrFile) least() int {
	if v.file != "" {
		return 1
	}
	return v.count
}

func (v *countOrFile) String() string {
	if v.file != "" || v.count == 0 {
		return v.file
	}
	return strconv.Itoa(v.count)
}

// Type names the value in the help.
func (v *countOrFile) Type() string { return "count|FILE" }

// columnsFlag is the value of --columns.
type columnsFlag struct {
	text  string
	value map[string]string
}

func (f *columnsFlag) String() string { return f.text }
func (f *columnsFlag) Type() string   { return "COLUMN=NAME,..." }
func (f *columnsFlag) Set(text string) (err error) {
	f.text = text
	f.value, err = feedback.ParseColumns(text)
	return err
}

// form says how a file of feedback on objects or vectors is read.
func (f *recipeFlags) form() feedback.Form {
	return feedback.Form{Columns: f.columns.value, NoHeader: f.noHeader}
}

// checkForm returns an error if a flag on the form of a file of feedback has nothing to say.
func (f *recipeFlags) checkForm(c *cobra.Command, args ...string) error {
	if f.pairs.file == stdin && slices.Contains(args, stdin) {
		return usageError{errors.New("flag --pairs: - is standard input, which is the table already")}
	}
	if c.Flags().Changed("columns") && f.pairs.file == "" && !c.Flags().Changed("triplets") {
		return usageError{errors.New("flag --columns: only together with --triplets or a file of --pairs")}
	}
	if c.Flags().Changed("columns") && f.noHeader && (c.Flags().Changed("triplets") || c.Flags().Changed("vectors")) {
		for _, column := range f.columns.value {
			if _, err := strconv.Atoi(column); err != nil {
				return usageError{fmt.Errorf("flag --columns: %q is not allowed together with --no-header, want the number of a column", column)}
			}
		}
	}
	return nil
}

// readPairs reads labelled pairs of objects, and tells its notes.
func (a *app) readPairs(ctx context.Context, path string, o feedback.Objects, form feedback.Form) (*feedback.Pairs, error) {
	p, err := readTold(ctx, a, path, func(r io.Reader) (*feedback.Pairs, error) { return feedback.ReadPairs(r, tableName(path), o, form) })
	if err == nil {
		a.note(tableName(path), p.Notes)
	}
	return p, err
}

// readCompared reads relative comparisons of objects that are known, and tells its notes.
func (a *app) readCompared(ctx context.Context, path string, o feedback.Objects, form feedback.Form) (*feedback.Triplets, error) {
	t, err := readTold(ctx, a, path, func(r io.Reader) (*feedback.Triplets, error) {
		return feedback.ReadTripletsOf(r, tableName(path), o, form)
	})
	if err == nil {
		a.note(tableName(path), t.Notes)
	}
	return t, err
}

// The values of --dissimilar.
const (
	dissimilarOther = "different"
	dissimilarNone  = "none"
)

// knownFlags say that pairs are known.
type knownFlags struct{ chunklets, dissimilar string }

func (k *knownFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&k.chunklets, "chunklets", "", "column whose equal cells say which rows are alike, by name or number, in place of pairs drawn by classes")
	c.Flags().StringVar(&k.dissimilar, "dissimilar", dissimilarOther, "which pairs are dissimilar with --chunklets: as many as similar ones drawn from different chunklets, or none")
	completeFlag(c, "dissimilar", completeWords(dissimilarOther, dissimilarNone))
}

// given returns the Given of a recipe.
func (f *recipeFlags) given(c *cobra.Command) (string, error) {
	changed := c.Flags().Changed
	switch {
	case f.pairs.file != "" && changed("chunklets"):
		return "", usageError{errors.New("flags --pairs and --chunklets: want one of them")}
	case changed("dissimilar") && !changed("chunklets"):
		return "", usageError{errors.New("flag --dissimilar: only together with --chunklets")}
	case f.pairs.file != "":
		return model.GivenPairs, nil
	case !changed("chunklets"):
		return "", nil
	case f.known.chunklets == "":
		return "", usageError{errors.New("flag --chunklets: no column given, want its name or number")}
	case changed("pairs"):
		return "", usageError{errors.New("flag --pairs: no pairs are counted with --chunklets, which says what they are")}
	case !slices.Contains([]string{dissimilarOther, dissimilarNone}, f.known.dissimilar):
		return "", usageError{fmt.Errorf("flag --dissimilar: %q is not allowed, want %s or %s", f.known.dissimilar, dissimilarOther, dissimilarNone)}
	case changed("dissimilar") && model.Connects(f.learner):
		return "", usageError{fmt.Errorf("flag --dissimilar: %s learns from similar pairs alone", f.learner)}
	}
	return model.GivenChunklets, nil
}

// give sets the pairs of d that are known, if the recipe says so.
func (a *app) give(ctx context.Context, d *model.Data, r model.Recipe, f *recipeFlags) error {
	switch r.Given {
	case model.GivenPairs:
		n, _ := d.Dims()
		p, err := a.readPairs(ctx, f.pairs.file, feedback.Objects{Count: n}, feedback.Form{Columns: f.columns.value}) // --no-header is of the table
		if err != nil {
			return err
		}
		d.Links = p.Links
	case model.GivenChunklets:
		return d.GiveChunklets(r, f.known.dissimilar == dissimilarOther)
	}
	return nil
}

// describeGiven says which pairs were known.
func describeGiven(d *model.Data, f *recipeFlags) string {
	similar := 0
	for _, l := range d.Links {
		if l.Label == metric.Similar {
			similar++
		}
	}
	from := f.pairs.file
	if d.Chunklets != nil {
		chunklets := map[string]int{}
		for _, c := range d.Chunklets {
			if c != "" {
				chunklets[c]++
			}
		}
		rows, shared := 0, 0
		for _, n := range chunklets {
			rows += n
			if n > 1 {
				shared++
			}
		}
		from = fmt.Sprintf("column %s: %s in %s, %d with at least two", oneLine(f.known.chunklets), plural.Of(rows, "row"), plural.Of(len(chunklets), "chunklet"), shared)
	}
	return fmt.Sprintf("%s: %s, %d similar\n", from, plural.Of(len(d.Links), "pair"), similar)
}
