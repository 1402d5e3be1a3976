package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/pkg/datasets"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
)

// fitted are the learners that fit takes, each once.
func fitted() (out []catalog.Entry) {
	for _, k := range slices.Backward(kinds) {
		for _, e := range k.bare.Learners() {
			if !slices.ContainsFunc(out, func(o catalog.Entry) bool { return o.Name == e.Name }) {
				out = append(out, e)
			}
		}
	}
	return out
}

// recipeFlags are those that choose columns, learner and preparation.
type recipeFlags struct {
	label, header, learner, impute string
	noHeader                       bool
	columns                        columnsFlag // of a file of feedback
	oneHot                         []string
	format                         string
	rows                           tableFormat // once recipe has been called
	drop, keep, params             []string
	pairs                          countOrFile
	known                          knownFlags // of fit
	passes                         int
	seed                           uint64
	raw                            bool
}

// recipeNames are the flags that a model answers for.
var recipeNames = []string{"label", "header", "no-header", "drop", "keep", "one-hot", "learner", "param", "pairs", "passes", "impute", "no-standardise"}

// once is a text of which one may be given.
type once struct {
	text  *string
	given bool
	hint  string
}

func (o *once) String() string { return *o.text }

func (o *once) Type() string { return "string" }

func (o *once) Set(text string) error {
	if o.given && text != *o.text { // completion reads a command line twice
		return fmt.Errorf("given twice (%s, %s); %s", *o.text, text, o.hint)
	}
	*o.text, o.given = text, true
	return nil
}

// addLearner adds the flags on one learner.
func (f *recipeFlags) addLearner(c *cobra.Command) {
	var words []string
	for _, e := range fitted() {
		words = append(words, e.Name+"\t"+e.Doc)
	}
	c.Flags().Var(&once{text: &f.learner, hint: "metriclab compare runs several learners on the same splits"}, "learner", "one of those that metriclab learners lists")
	c.Flags().StringArrayVar(&f.params, "param", nil, "parameter of the learner as name=value; may be repeated")
	completeFlag(c, "learner", completeWords(words...))
	completeFlag(c, "param", completeParams)
}

// addTable adds the flags without those of one learner.
func (f *recipeFlags) addTable(c *cobra.Command) {
	f.addColumns(c)
	c.Flags().Var(&f.pairs, "pairs", fmt.Sprintf("for a learner of pairs: how many to draw, half of them similar, at most %d (default 1000); or a file of labelled pairs of rows or vectors", model.MaxPairs))
	c.Flags().IntVar(&f.passes, "passes", 0, fmt.Sprintf("how often an online learner sees the pairs, at most %d (default 1)", model.MaxPasses))
	c.Flags().Uint64Var(&f.seed, "seed", 1, "origin of all that is drawn")
	c.Flags().StringVar(&f.impute, "impute", "none", "what to do with missing cells: none (they are errors) or mean")
	c.Flags().BoolVar(&f.raw, "no-standardise", false, "leave the features as they are")
	completeFlag(c, "impute", completeWords("none", "mean"))
}

// addColumns adds the flags on what the columns are and how cells are written.
func (f *recipeFlags) addColumns(c *cobra.Command) {
	c.Flags().StringVar(&f.label, "label", "", "column of the class, by name or number; none for learners of the rows alone, such as pca")
	c.Flags().StringVar(&f.header, "header", datasets.HeaderAuto.String(), "whether the first row names the columns: auto, yes or no")
	c.Flags().BoolVar(&f.noHeader, "no-header", false, "--header no: the first row is data; columns are called 1, 2, ... or c1, c2, ...")
	c.Flags().StringSliceVar(&f.oneHot, "one-hot", nil, fmt.Sprintf("columns of words, by name or number, separated by commas, to make a feature of each of their values, at most %d a column; may be repeated", tables.MaxCategories))
	c.Flags().StringSliceVar(&f.drop, "drop", nil, "columns that are no features, by name or number, separated by commas; may be repeated")
	c.Flags().StringSliceVar(&f.keep, "keep", nil, "columns that are features though they number the rows, or have no name, by name or number, separated by commas; may be repeated")
	addFormat(c, &f.format)
	completeFlag(c, "header", completeWords("auto", "yes", "no"))
	c.ValidArgsFunction = completeTables
}

func completeTables(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault // files
}

var (
	errNoLabel  = usageError{errors.New("flag --label: no column given, want its name or number")}
	errNoLabels = usageError{errors.New("flag --labels: no file given, want CSV or .npy with the class of each row of the array")}
)

// noLabel is the error of a table without classes.
func (f *recipeFlags) noLabel() error {
	if f.rows.array {
		return errNoLabels
	}
	return errNoLabel
}

// checkRows finds out how the table is read.
func (f *recipeFlags) checkRows(c *cobra.Command, table string) (err error) {
	if f.rows, err = formatOf(c, f.format, table); err == nil {
		err = f.rows.checkFlags(c)
	}
	if err != nil {
		return err
	}
	if c.Flags().Changed("label") && f.label == "" {
		return errNoLabel
	}
	return nil
}

// parseParams reads the values of --param.
func parseParams(given []string) (map[string]string, error) {
	params := map[string]string{}
	for _, p := range given {
		name, value, ok := strings.Cut(p, "=")
		if _, twice := params[name]; twice || !ok {
			reason := "want name=value"
			if ok {
				reason = name + " is given twice"
			}
			return nil, fmt.Errorf("flag --param: %q is not allowed: %s", p, reason)
		}
		params[name] = value
	}
	return params, nil
}

// fromModel takes recipe and columns from a model.
func (a *app) fromModel(c *cobra.Command, path, table, format string) (model.Recipe, *tables.Data, error) {
	rows, err := formatOf(c, format, table)
	if err != nil {
		return model.Recipe{}, nil, err
	}
	for _, name := range recipeNames {
		if c.Flags().Changed(name) {
			return model.Recipe{}, nil, usageError{fmt.Errorf("flag --%s: comes from the file of --model and cannot be given beside it", name)}
		}
	}
	m, err := loadModel(path)
	if err != nil {
		return model.Recipe{}, nil, err
	}
	for _, e := range model.Learners() {
		if e.Name == m.Recipe().Learner && e.Version != m.LearnerVersion() {
			fmt.Fprintf(a.err, "%s was fitted by version %d of %s; this program has version %d\n", path, m.LearnerVersion(), e.Name, e.Version)
		}
	}
	switch m.Recipe().Given {
	case model.GivenPairs:
		return model.Recipe{}, nil, usageError{fmt.Errorf("flag --model: %s learned from pairs that are known; evaluate these by --pairs FILE with --learner %s", path, m.Recipe().Learner)}
	case model.GivenChunklets:
		return model.Recipe{}, nil, usageError{fmt.Errorf("flag --model: %s learned from a column of chunklets; evaluate the learner by --label COLUMN, which draws pairs by classes, or by --pairs FILE, with --learner %s", path, m.Recipe().Learner)}
	}
	d, err := a.readForModel(c.Context(), table, rows, m)
	return m.Recipe(), d, err
}
