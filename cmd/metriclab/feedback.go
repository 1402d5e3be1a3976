package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/pkg/feedback"
	"metriclab/pkg/model"
)

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

func (f *columnsFlag) Type() string { return "COLUMN=NAME,..." }

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

// checkKnown returns an error if the flags on chunklets do not fit each other.
func (f *recipeFlags) checkKnown(c *cobra.Command) error {
	changed := c.Flags().Changed
	switch {
	case f.pairs.file != "" && changed("chunklets"):
		return usageError{errors.New("flags --pairs and --chunklets: want one of them")}
	case !changed("chunklets"):
		return nil
	case f.known.chunklets == "":
		return usageError{errors.New("flag --chunklets: no column given, want its name or number")}
	case !slices.Contains([]string{dissimilarOther, dissimilarNone}, f.known.dissimilar):
		return usageError{fmt.Errorf("flag --dissimilar: %q is not allowed, want %s or %s", f.known.dissimilar, dissimilarOther, dissimilarNone)}
	case changed("dissimilar") && model.Connects(f.learner):
		return usageError{fmt.Errorf("flag --dissimilar: %s learns from similar pairs alone", f.learner)}
	}
	return nil
}
