package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
	"metriclab/internal/printable"
	"metriclab/pkg/datasets"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/persist"
	"metriclab/pkg/vectors"
)

// aboutTables says how the commands on a user's table read it.
const aboutTables = `The table is a CSV file: a row per sample, a column with the class, all other
columns numbers. Cells are separated by commas, semicolons, tabs or bars, and numbers
have decimal points or, where commas separate nothing, decimal commas. Which it is is
found in the first rows, and said if it is not the usual; --separator and --decimal-comma
decide. The other mark may group thousands, as in 1.250,5 or 1,250.5. Where only cells
such as 1.250 and 563 could tell, the file is refused: --decimal-comma reads 1250 and 563,
--decimal-comma=false 1.25 and 563. A file that gzip has compressed is read as it was
before, UTF-16 with its mark (Excel's "Unicode text") as UTF-8; - is standard input.

  metriclab fit wine.csv.gz --label class --learner rca --out m.json
  unzip -p wine.zip | metriclab fit - --label class --learner rca --out m.json

A column of words is an error: --one-hot makes a feature of each of its values in the
training rows, 1 in rows that have it. A value that only new rows have gives 0 in all of
them, and is counted. --drop leaves a column out. A column without a name in the header
that has another whole number in each row, as pandas and R write it, must be dropped, or
kept by --keep. metriclab look tells all that is odd about a table. All cells that are no
numbers are named in one error. A .npy table (float64, float32, integers, booleans) has
features alone; --labels gives the classes, CSV or .npy. Whole numbers beyond 2^53 that no
float64 is are refused as features and kept as labels. Parquet is not read: duckdb -c
"COPY 'x.parquet' TO 'x.csv'" makes CSV of it.

Columns are given by name or by number from 1. --no-header says that the first row is
data. With --header auto the first row is a header if --label or --drop give a
name, or if none of its other cells is a number. A cell that is missing (empty,
or one of --missing) or no finite number is an error with line and column; --impute mean
fills missing cells with the mean of the column over the training rows. A class is never
filled in. Labels that look like measurements are refused: classes are needed. Cells become
numbers as they are read: a cell takes 8 bytes, a class 16 and the text of each
class. A table that takes more than --max-memory, or a row of text that takes more
than a sixteenth of that, is an error: so a pipe or /dev/stdin without an end is
one, too. Rows of a regular file are counted first; from a pipe the table takes
twice its memory for a moment. A fit that takes more than --max-memory by a rough
estimate is refused before it starts, and one that takes long is told of.

pca, lsa and other learners of the rows alone fit tables without classes: leave out
--label, and --drop columns that are no features. Classes are names; to learn from a
number to predict (regression) is out of scope.

Unless --no-standardise is given, each feature has its mean subtracted and is
divided by its standard deviation, both over the training rows; a constant feature
is divided by 1.

` + aboutSVMLight

func (a *app) fitCommand() *cobra.Command {
	var f recipeFlags
	var out fitOutputs
	var g gramFlags
	var v vectorFlags
	var compared tripletFlags
	c := &cobra.Command{
		Use:   "fit {DATA.csv [--label COLUMN | --pairs PAIRS.csv | --chunklets COLUMN] | DATA.svm | --vectors X.npy {--pairs PAIRS.csv | --triplets T.csv} | --gram K0.csv {--constraints C.jsonl | --labels L.csv} | --triplets T.csv} --learner NAME --out MODEL.json",
		Short: "Learn a metric on your own table, or a kernel from similarities, and save it",
		Example: `  metriclab fit wine.csv --label class --learner lmnn --out m.json
  metriclab fit --vectors X.npy --pairs feedback.csv --learner itml --out m.json
  metriclab fit --triplets answers.csv --learner ste --dim 2 --coordinates z.csv --out m.json`,
		Long: "Learn a metric on a table of your own, standardised, and save it with all that is needed to use\n" +
			"it on new rows. See also: metriclab evaluate, transform, plot; metriclab help tables, pairs,\n" +
			"vectors, gram, comparisons.\n\nLearners, by what they learn from (metriclab learners NAME tells all about one):\n" + namesByFeedback(fitted()),
		Args: tableOr("vectors", "gram", "triplets"),
		RunE: func(c *cobra.Command, args []string) error {
			v.triplets = &compared.triplets
			if err := f.checkForm(c, args...); err != nil {
				return err
			}
			if given, err := v.given(c, tableFlags...); err != nil || given {
				if err != nil {
					return err
				}
				return a.fitVectors(c, &f, &out, &v)
			}
			if triplets, err := compared.given(c); err != nil || triplets {
				if err != nil {
					return err
				}
				return a.fitTriplets(c, &f, out.model, &compared)
			}
			if gram, err := g.given(c); err != nil || gram {
				if err != nil {
					return err
				}
				return a.fitGram(c, &f, out.model, &g)
			}
			recipe, columns, err := f.recipe(c, args[0], true)
			drawn := recipe.Pairs > 0 || recipe.Given == model.GivenChunklets && !model.Connects(recipe.Learner)
			if err == nil && c.Flags().Changed("seed") && !drawn {
				err = usageError{fmt.Errorf("flag --seed: nothing is drawn for %s", recipe.Learner)}
			}
			if err := together(err, out.check(c, args[0], f.pairs.file)); err != nil {
				return err
			}
			d, m, err := a.fit(c.Context(), args[0], &f, columns, recipe)
			if err != nil {
				return err
			}
			if err := out.write(m, func() (*metric.Mahalanobis, error) { return matrixOf(m) }); err != nil {
				return err
			}
			about := ""
			if d.Links != nil {
				about = describeGiven(d, &f)
			}
			return a.printFit(out.model, d, about, m)
		},
	}
	f.add(c, append(model.GramLearners(), model.TripletLearners()...)...)
	compared.add(c, "coordinates of each object, with --coordinates (default 2)")
	c.Flags().StringVar(&compared.coordinates, "coordinates", "", "CSV or NumPy file for coordinates of the objects, with --triplets")
	c.Flags().BoolVar(&compared.guard, "guard-formulas", false, "write ' before the name of an object that a spreadsheet would run as a formula, with --coordinates")
	f.known.add(c)
	g.add(c)
	v.addRecipe(c)
	c.Flags().StringVar(&out.model, "out", "", "file for the model")
	c.Flags().StringVar(&out.factor, "factor-npy", "", "NumPy file for L, r x features: a prepared row x is embedded as Lx")
	c.Flags().StringVar(&out.matrix, "matrix-npy", "", "NumPy file for M = LᵀL, features x features")
	return c
}

// fit reads a table and fits a model to it, while a meter tells how far that has come.
func (a *app) fit(ctx context.Context, path string, f *recipeFlags, columns model.Columns, recipe model.Recipe) (*model.Data, *model.Model, error) {
	counted := work{noun: "pair"}
	if recipe.Passes == 0 { // a batch learner, if it iterates
		counted = work{noun: "iteration", capped: true}
	}
	progress, done := a.meter(ctx, counted)
	defer done()
	var d *model.Data
	m, err := atOnce(ctx, func() (*model.Model, error) {
		var err error
		if d, err = a.readLabelled(ctx, path, f.rows, columns, recipe.ImputeMean); err == nil {
			err = a.give(ctx, d, recipe, f)
		}
		if err != nil {
			return nil, err
		}
		a.warnLong(d, recipe, 1)
		return model.FitInPlace(ctx, d, recipe, progress)
	})
	if err != nil {
		return nil, nil, err
	}
	return d, m, nil
}

// dimensions counts those in which a metric embeds.
func dimensions(n int) string {
	if n == 0 {
		return "0 dimensions: all distances are 0"
	}
	return plural.Of(n, "dimension")
}

// longWork is the estimated time in seconds from which on it is told.
const longWork = 20

// warnLong tells of a long time, by estimate, of so many fits of a recipe to most rows of d.
func (a *app) warnLong(d *model.Data, recipe model.Recipe, fits int) {
	if cost, err := model.Estimate(d, recipe); err == nil {
		a.tellLong(recipe.Learner, cost, fits)
	}
}

// tellLong tells of a long time, by estimate, of so many fits.
func (a *app) tellLong(learner string, cost catalog.Cost, fits int) {
	if seconds := cost.Seconds * float64(fits); cost.Bytes <= limits.Memory() && seconds >= longWork {
		fmt.Fprintf(a.err, "%s of %s: %s of one processor, by a rough estimate\n", plural.Of(fits, "fit"), learner, model.Roughly(seconds))
	}
}

// warnLongVectors is warnLong of vectors that pairs name.
func (a *app) warnLongVectors(f *vectors.File, links []metric.Link, recipe model.VectorRecipe, fits int) {
	items := map[int]bool{}
	for _, l := range links {
		items[l.I], items[l.J] = true, true
	}
	if cost, err := recipe.Estimate(len(items), f.Dim(), len(links)); err == nil {
		a.tellLong(recipe.Learner, cost, fits)
	}
}

// fitOutputs are the files of a fitted model: its own, and those of two matrices if they are wanted.
type fitOutputs struct{ model, factor, matrix string }

// check completes the paths that the flags give. No file may be one that is read or that of another flag.
func (o *fitOutputs) check(c *cobra.Command, reads ...string) error {
	return outPaths(c, reads, outFile{flag: "out", path: &o.model, must: true}, outFile{flag: "factor-npy", path: &o.factor}, outFile{flag: "matrix-npy", path: &o.matrix})
}

// write writes the files of a model. linear returns its metric as a matrix.
func (o *fitOutputs) write(m persist.Saver, linear func() (*metric.Mahalanobis, error)) error {
	outputs := []output{{o.model, m.Save}}
	if o.factor != "" || o.matrix != "" {
		l, err := linear()
		if err != nil {
			return err
		}
		outputs = append(outputs, output{o.factor, l.WriteFactorNPY}, output{o.matrix, l.WriteMatrixNPY})
	}
	return writeOutputs(outputs...)
}

// matrixOf returns the metric of a model that has a matrix.
func matrixOf(m *model.Model) (*metric.Mahalanobis, error) {
	switch a := m.Metric().(type) {
	case *metric.Mahalanobis:
		return a, nil
	case *metric.LowRank:
		return a.Mahalanobis()
	}
	return nil, fmt.Errorf("%s: %w", m.Recipe().Learner, model.ErrKernel)
}

// fitted are the learners that fit takes, each once.
func fitted() (out []catalog.Entry) {
	for _, e := range slices.Concat(model.Learners(), model.GramLearners(), model.TripletLearners()) {
		if !slices.ContainsFunc(out, func(o catalog.Entry) bool { return o.Name == e.Name }) {
			out = append(out, e)
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

// columnFlags are those on how the columns and cells of a table are read.
var columnFlags = []string{"label", "header", "no-header", "drop", "keep", "one-hot", "separator", "decimal-comma", "missing", "impute", "format", "chunklets", "dissimilar"}

// recipeNames are the flags that a model answers for.
var recipeNames = []string{"label", "header", "no-header", "drop", "keep", "one-hot", "learner", "param", "pairs", "passes", "impute", "no-standardise"}

// once is a text of which one may be given.
type once struct {
	text  *string
	given bool
	hint  string
}

func (o *once) String() string { return *o.text }
func (o *once) Type() string   { return "string" }
func (o *once) Set(text string) error {
	if o.given && text != *o.text { // completion reads a command line twice
		return fmt.Errorf("given twice (%s, %s); %s", *o.text, text, o.hint)
	}
	*o.text, o.given = text, true
	return nil
}

// add adds the flags. more are learners that the command has beside those of tables.
func (f *recipeFlags) add(c *cobra.Command, more ...catalog.Entry) {
	entries := append(model.Learners(), more...)
	var words []string
	for _, e := range entries {
		words = append(words, e.Name+"\t"+e.Doc)
	}
	f.addTable(c)
	c.Flags().Var(&once{text: &f.learner, hint: "metriclab compare runs several learners on the same splits"}, "learner", "one of those that metriclab learners lists")
	c.Flags().StringArrayVar(&f.params, "param", nil, "parameter of the learner as name=value; may be repeated")
	c.Flags().Var(&f.columns, "columns", "which columns of a file of pairs or triplets are i, j and label, or a, near and far, by name or number: a=head,near=winner,far=loser")
	completeFlag(c, "learner", completeWords(words...))
	completeFlag(c, "param", completeParams)
}

// addTable adds the flags without those of one learner.
func (f *recipeFlags) addTable(c *cobra.Command) {
	f.addColumns(c)
	c.Flags().Var(&f.pairs, "pairs", fmt.Sprintf("for a learner of pairs: how many to draw, half of them similar, at most %d (default 1000); or, for fit, a file of labelled pairs of rows", model.MaxPairs))
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
	c.Flags().StringSliceVar(&f.oneHot, "one-hot", nil, fmt.Sprintf("columns of words, by name or number, separated by commas, to make a feature of each of their values, at most %d a column; may be repeated", model.MaxCategories))
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

var errNoLabel = usageError{errors.New("flag --label: no column given, want its name or number")}

// recipe turns the flags into a recipe for a table with all defaults. If unsupervised is true, the learner may do without labels.
func (f *recipeFlags) recipe(c *cobra.Command, table string, unsupervised bool) (model.Recipe, model.Columns, error) {
	rows := f.checkRows(c, table)
	errs := []error{rows}
	wrong := func(err error) {
		if err != nil {
			errs = append(errs, usageError{err})
		}
	}
	r, columns, err := f.base(c)
	read := rows == nil && err == nil
	errs = append(errs, err)
	params, err := parseParams(f.params)
	wrong(err)
	switch {
	case f.learner == "":
		wrong(errors.New("flag --learner: none given; metriclab learners lists them"))
	case strings.Contains(f.learner, ","):
		wrong(fmt.Errorf("flag --learner: %q is not allowed, want one; metriclab compare --learners %s runs several on the same splits", f.learner, f.learner))
	default:
		r.Learner, r.Params = f.learner, params
		r, err = r.Resolved()
		wrong(err)
		if read && err == nil && columns.Unlabelled && (r.NeedsLabels() || !unsupervised) {
			errs = append(errs, errNoLabel)
		}
	}
	if err := together(errs...); err != nil {
		return model.Recipe{}, model.Columns{}, err
	}
	return r, columns, nil
}

// checkRows finds out how the table is read.
func (f *recipeFlags) checkRows(c *cobra.Command, table string) (err error) {
	if f.rows, err = formatOf(c, f.format, table); err == nil {
		err = f.rows.checkFlags(c)
	}
	if err != nil {
		return err
	}
	if f.rows.array && f.rows.labels == "" {
		return usageError{errors.New("flag --labels: no file given, want CSV or .npy with the class of each row of the array")}
	}
	if c.Flags().Changed("label") && f.label == "" {
		return errNoLabel
	}
	return nil
}

// base returns the columns, and a recipe without a learner and its parameters.
func (f *recipeFlags) base(c *cobra.Command) (model.Recipe, model.Columns, error) {
	var errs []error
	wrong := func(format string, values ...any) { errs = append(errs, usageError{fmt.Errorf(format, values...)}) }
	header, err := datasets.ParseHeader(f.header)
	if err != nil {
		wrong("flag --header: %w", err)
	}
	if f.noHeader {
		if header == datasets.HeaderYes {
			wrong("flags --header and --no-header: the first row is a header or not")
		}
		header = datasets.HeaderNo
	}
	if !slices.Contains([]string{"none", "mean"}, f.impute) {
		wrong("flag --impute: %q is not allowed, want none or mean", f.impute)
	}
	if f.seed == 0 {
		wrong("flag --seed: 0 is not allowed, want at least 1")
	}
	errs = append(errs, atLeastOne(c, "pairs", f.pairs.least(), "passes", f.passes))
	given, err := f.given(c)
	if err := together(append(errs, err)...); err != nil {
		return model.Recipe{}, model.Columns{}, err
	}
	return model.Recipe{Pairs: f.pairs.count, Given: given, Passes: f.passes, Seed: f.seed, ImputeMean: f.impute == "mean", Raw: f.raw},
		model.Columns{
			Header: header, Label: f.label, Unlabelled: f.label == "" && !f.rows.sparse && !f.rows.array, Chunklets: f.known.chunklets,
			Drop: f.drop, Keep: f.keep, OneHot: f.oneHot, Cells: f.rows.cells,
		}, nil
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

// oneTable takes one argument, the file of a table.
func oneTable(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("%s takes one table, got %q", c.CommandPath(), args)}
	}
	return nil
}

// readTable opens a file for read, tells how far it was read, and names the data after it.
func (a *app) readTable(ctx context.Context, path string, read func(io.Reader) (*model.Data, error)) (*model.Data, error) {
	d, err := readTold(ctx, a, path, read)
	if err != nil {
		return nil, tableError(err)
	}
	if d.Name = filepath.Base(path); path == stdin {
		d.Name = tableName(path)
	}
	a.tellDialect(tableName(path), d.Dialect)
	a.note(tableName(path), d.Notes)
	return d, nil
}

// tellDialect tells how cells are written, if not as usual.
func (a *app) tellDialect(path string, d datasets.Dialect) {
	if !d.Usual() {
		fmt.Fprintf(a.err, "%s: read with %s\n", path, d)
	}
}

// tableError tells errors of the command line from those of the data.
func tableError(err error) error {
	if e, ok := errors.AsType[*datasets.AmbiguousError](err); ok {
		if e.Separator {
			return usageError{fmt.Errorf("%w; --separator comma, semicolon or tab decides", err)}
		}
		return usageError{fmt.Errorf("%w; --decimal-comma reads commas as decimal and points between thousands, --decimal-comma=false the other way round", err)}
	}
	if _, ok := errors.AsType[*datasets.UnknownColumnError](err); ok {
		return usageError{err}
	}
	if _, ok := errors.AsType[*model.OptionError](err); ok {
		return usageError{err}
	}
	if _, ok := errors.AsType[*model.RowNumbersError](err); ok {
		return usageError{err}
	}
	return err
}

// readLabelled reads a table to learn from.
func (a *app) readLabelled(ctx context.Context, path string, rows tableFormat, columns model.Columns, impute bool) (*model.Data, error) {
	d, err := a.readTable(ctx, path, func(r io.Reader) (*model.Data, error) { return rows.read(r, tableName(path), columns, impute) })
	_, unlabelled := errors.AsType[*model.NoLabelError](err)
	cell, ofCell := errors.AsType[*datasets.CellError](err)
	switch {
	case unlabelled:
	case errors.Is(err, datasets.ErrNumericHeader):
		return nil, usageError{fmt.Errorf("%w; --no-header reads the first row as data, with columns given by number, such as --label 1", err)}
	case errors.Is(err, datasets.ErrMissingCell) && ofCell && slices.ContainsFunc(columns.OneHot, func(name string) bool { return name == cell.Column }):
		return nil, fmt.Errorf("%w; --impute mean fills the features of a missing cell with the shares of the values", err)
	case errors.Is(err, datasets.ErrMissingCell):
		return nil, fmt.Errorf("%w; --impute mean fills missing cells", err)
	case ofCell:
		err = fmt.Errorf("%w%s", err, advise(err, cell, impute))
	}
	if err != nil {
		return nil, err
	}
	a.tellTable(d)
	return d, nil
}

// advise says what to do about cells that are no numbers.
func advise(err error, first *datasets.CellError, impute bool) string {
	problems := []datasets.ColumnProblem{{Column: first.Column, Kind: first.Kind, Cell: first.Cell, Absent: []string{first.Cell}}}
	if all, ok := errors.AsType[*datasets.CellsError](err); ok {
		problems = all.Rest
	}
	var words, absent []string
	var says []string
	say := func(text string) {
		if !slices.Contains(says, text) {
			says = append(says, text)
		}
	}
	for _, p := range problems {
		switch column := strings.Trim(p.Column, `"`); p.Kind {
		case datasets.CellWord:
			words = append(words, shellWord(column))
		case datasets.CellAbsent:
			absent = append(absent, p.Absent...)
		case datasets.CellPercent:
			say("delete the signs of per cent: they are no part of a number")
		case datasets.CellDate:
			say(fmt.Sprintf("a date is no feature: --drop %s leaves it out", shellWord(column)))
		case datasets.CellMarks:
			say("--decimal-comma reads 1.250,5 as 1250.5, --decimal-comma=false reads 1,250.5 so")
		default:
			if strings.Contains(p.Cell, ",") {
				say("if the comma is decimal: --decimal-comma")
			}
		}
	}
	if len(words) > 0 {
		list := strings.Join(words, ",")
		say(fmt.Sprintf("for columns of words: --one-hot %s makes a feature of each value, --drop %s leaves them out; for a missing cell: --missing %s", list, list, shellWord(problems[0].Cell)))
	}
	if len(absent) > 0 {
		slices.Sort(absent)
		list := strings.Join(slices.Concat(datasets.MissingCells[1:], slices.Compact(absent)), ",")
		also := ""
		if !impute {
			also = " --impute mean"
		}
		say(fmt.Sprintf("for missing cells: --missing %s%s", shellWord(list), also))
	}
	if len(says) == 0 {
		return ""
	}
	return "; " + strings.Join(says, "; ")
}

// shellWord quotes a word for a command line if it needs it, and shortens a long one.
func shellWord(s string) string {
	if s = oneLine(s); strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("-_.=+%/@", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// tellTable tells what was read, before long work begins on it, where somebody looks.
func (a *app) tellTable(d *model.Data) {
	if !a.terminal {
		return
	}
	n, width := d.Dims()
	fmt.Fprintf(a.err, "%s: %s x %s", d.Name, plural.Of(n, "row"), plural.Of(width, "feature"))
	if d.Labels != nil {
		classes, _ := datasets.Classes(d.Labels)
		fmt.Fprintf(a.err, ", label %s with %s", oneLine(d.Layout.LabelName()), countClasses(len(classes)))
	}
	missing := 0
	if d.X != nil {
		for i := range n {
			for _, v := range d.X.RawRowView(i) {
				if v != v {
					missing++
				}
			}
		}
	}
	if missing > 0 {
		fmt.Fprintf(a.err, ", %s", plural.Of(missing, "missing cell"))
	}
	fmt.Fprintln(a.err)
}

// ofModel tells of an error in a table for a model what to do about it.
func ofModel(err error) error {
	if _, unlabelled := errors.AsType[*model.NoLabelError](err); !unlabelled && errors.Is(err, datasets.ErrMissingCell) {
		return fmt.Errorf("%w; the model was fitted without --impute mean", err)
	}
	if errors.Is(err, datasets.ErrNumericHeader) {
		return fmt.Errorf("%w; the model finds its columns by the names of a header", err)
	}
	return err
}

// loadModel reads a file that fit has written.
func loadModel(path string) (*model.Model, error) {
	if path == "" {
		return nil, usageError{errors.New("flag --model: no file given; metriclab fit makes one")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := model.Load(f)
	if errors.Is(err, persist.ErrKind) {
		switch kindOf(f) {
		case model.GramKind:
			return nil, fmt.Errorf("%s: %w; a model of fit --gram is for transform --cross-gram", path, err)
		case model.VectorsKind:
			return nil, fmt.Errorf("%s: %w; a model of fit --vectors is for transform and neighbours with --vectors", path, err)
		case model.ComparedKind:
			return nil, fmt.Errorf("%s: %w; a model of fit --triplets has coordinates for the objects compared, and no map for new ones: metriclab plot --model %s draws them, fit --coordinates writes them", path, err, path)
		}
		return nil, fmt.Errorf("%s: %w; only metriclab fit makes models", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// readForModel reads a table with the columns of a model.
func (a *app) readForModel(ctx context.Context, path string, rows tableFormat, m *model.Model) (*model.Data, error) {
	d, err := a.readTable(ctx, path, func(r io.Reader) (*model.Data, error) { return rows.readFor(r, tableName(path), m) })
	if err != nil {
		return nil, ofModel(err)
	}
	a.leftOut(tableName(path), m.Layout(), d.Unused)
	a.tellTable(d)
	return d, nil
}

// leftOut tells of columns that are not used, if there are any, and of one that may be that of the class of the model.
func (a *app) leftOut(path string, l model.Layout, unused []string) {
	if len(unused) == 0 {
		return
	}
	fmt.Fprintf(a.err, "%s: left out, since the model does not know them: %s\n", path, few(unused))
	for _, name := range unused {
		if l.Header && l.Label != "" && closest.Fold(name) == closest.Fold(l.Label) {
			fmt.Fprintf(a.err, "Note: %s: no class was read: the model has it in column %q. If that is %q here, rename it.\n", path, l.Label, name)
		}
	}
}

// atOnce returns what f returns, or the error of ctx as soon as that is done: f, which
// must write no file, is then left to the end of the program.
func atOnce[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = safely(func() (err error) {
			r.value, err = f()
			return err
		})
		done <- r
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// work is what a meter counts: things by their noun, as many as there are or, if capped, at
// most so many; or what was read, in a unit.
type work struct {
	noun   string
	capped bool
	unit   string
	inside *atomic.Pointer[string] // what is known of the thing that is being done; nil if nothing ever is
}

// now returns what is being done, after a separator, or "".
func (w work) now() string {
	if w.inside == nil || w.inside.Load() == nil {
		return ""
	}
	return "; " + *w.inside.Load()
}

// insideSplits returns a plan's Inside, which shows on the meter of splits what a split does.
func (a *app) insideSplits(ctx context.Context, splits int) (progress model.Progress, inside func(split, done, total int), end func()) {
	var now atomic.Pointer[string]
	var finished atomic.Int64
	show, end := a.meter(ctx, work{noun: "split", inside: &now})
	progress = func(done, total int) {
		finished.Store(int64(done))
		show(done, total)
	}
	inside = func(split, done, total int) {
		now.Store(new(fmt.Sprintf("in split %d: %d of at most %d", split+1, done, total)))
		show(int(finished.Load()), splits)
	}
	return progress, inside, end
}

// bar returns the words of a bar, before and after it.
func (w work) bar() (counters, left string) {
	switch {
	case w.unit != "":
		return "read %d of %d " + w.unit + " ", " left"
	case w.capped:
		return "%d of at most %d " + w.noun + "s ", " to the last"
	}
	return "%d of %d " + w.noun + "s ", " left"
}

// line returns the line that is written where there is no terminal. A total of 0 is not known.
func (w work) line(done, total int, left time.Duration) string {
	switch {
	case w.inside != nil && done == 0:
		return fmt.Sprintf("0 of %s%s\n", plural.Of(total, w.noun), w.now())
	case w.inside != nil:
		return fmt.Sprintf("%d of %s, %s left%s\n", done, plural.Of(total, w.noun), about(left), w.now())
	case w.unit != "":
		return fmt.Sprintf("read %d of %d %s, %s left\n", done, total, w.unit, about(left))
	case total == 0:
		return plural.Of(done, w.noun) + "\n"
	case w.capped:
		return fmt.Sprintf("%d of at most %s, the last in %s\n", done, plural.Of(total, w.noun), about(left))
	}
	return fmt.Sprintf("%d of %s, %s left\n", done, plural.Of(total, w.noun), about(left))
}

// meter shows how much of a long work is done: a bar with the time left on a
// terminal, else a line now and then, until ctx is done. The returned function
// ends the display.
func (a *app) meter(ctx context.Context, w work) (model.Progress, func()) {
	var mu sync.Mutex
	var bars *mpb.Progress
	var bar *mpb.Bar
	begin, next := time.Now(), time.Now().Add(a.every)
	show := func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		if a.terminal {
			if bar == nil {
				bars = mpb.NewWithContext(ctx, mpb.WithOutput(a.stderr), mpb.WithAutoRefresh(), mpb.WithWidth(48))
				if total == 0 {
					bar = bars.AddSpinner(0, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.CurrentNoUnit("%d "+w.noun+"s ")))
				} else {
					counters, left := w.bar()
					bar = bars.AddBar(int64(total), mpb.BarRemoveOnComplete(),
						mpb.PrependDecorators(decor.CountersNoUnit(counters)),
						mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO), decor.Name(left), decor.Any(func(decor.Statistics) string { return printable.Text(w.now()) })))
				}
			}
			bar.SetCurrent(int64(done))
			return
		}
		now := time.Now()
		if now.Before(next) || done == total {
			return
		}
		next = now.Add(a.every)
		left := time.Duration(float64(now.Sub(begin)) * float64(total-done) / float64(max(done, 1)))
		fmt.Fprint(a.err, w.line(done, total, left))
	}
	return show, func() {
		mu.Lock()
		defer mu.Unlock()
		if bar != nil {
			bar.Abort(true)
			bars.Wait()
		}
	}
}

// printFit says what was fitted.
func (a *app) printFit(path string, d *model.Data, about string, m *model.Model) error {
	r, rep := m.Recipe(), m.Report()
	var b strings.Builder
	n, width := d.Dims()
	classes, counts := m.Classes()
	fmt.Fprintf(&b, "%s: %s, %s", d.Name, plural.Of(n, "row"), plural.Of(width, "feature"))
	if len(classes) > 0 {
		fmt.Fprintf(&b, ", %s: %s", countClasses(len(classes)), classCounts(classes, counts))
	}
	fmt.Fprintf(&b, "\n%s", about)
	fmt.Fprintf(&b, "%s\n", describe(r))
	printNotes(&b, rep.Notes)
	if rep.Imputed > 0 {
		fmt.Fprintf(&b, "%s filled with the mean of the column\n", plural.Of(rep.Imputed, "missing cell"))
	}
	if len(rep.Constant) > 0 {
		fmt.Fprintf(&b, "constant, so without weight in any distance between these rows: %s\n", few(rep.Constant))
	}
	if r.Passes > 0 {
		fmt.Fprintf(&b, "in the last pass %.1f %% of the pairs were predicted wrongly, each before the update on it\n", 100*float64(rep.Mistakes)/float64(r.Pairs))
	}
	printStatus(&b, rep.Status)
	if rep.Landmarks > 0 {
		over := "the rows that pairs join"
		if _, ok := m.Metric().(*kernels.Metric); ok {
			over = "the rows"
		}
		fmt.Fprintf(&b, "approximated in the span of %s, which leaves out %.3g %% of the kernel's trace over %s\n", plural.Of(rep.Landmarks, "landmark"), 100*rep.Left, over)
	}
	if s := rep.Span; s != nil {
		fmt.Fprintf(&b, "learned in the span of %s", plural.Of(s.Rank, "vector"))
		if s.Asked > s.Rank {
			fmt.Fprintf(&b, " (of %d, the others lie in it)", s.Asked)
		}
		fmt.Fprintf(&b, " from %s; similar ones that no metric of this span brings near enough: %d\n", plural.Of(s.Links, "pair"), s.Infeasible)
	}
	if rep.Empty > 0 {
		fmt.Fprintf(&b, "without an entry, so at no distance from each other: %s\n", plural.Of(rep.Empty, "row"))
	}
	switch metric := m.Metric().(type) {
	case *kernels.Metric:
		fmt.Fprintf(&b, "the metric embeds in %s, by kernel values with %s\n", plural.Of(metric.Rows(), "dimension"), plural.Of(metric.Support(), "stored row"))
	case interface{ Rows() int }:
		fmt.Fprintf(&b, "the metric embeds in %s\n", dimensions(metric.Rows()))
	default:
		fmt.Fprintf(&b, "the metric is a kernel metric: evaluate works with it, transform and plot do not\n")
	}
	fmt.Fprintf(&b, "written to %s\n", path)
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// printNotes writes warnings.
func printNotes(b *strings.Builder, notes []string) {
	for _, n := range notes {
		fmt.Fprintf(b, "Note: %s.\n", n)
	}
}

// printStatus says why a learner stopped early, if it did.
func printStatus(b *strings.Builder, s learners.Status) {
	switch s {
	case learners.NotRun, learners.Closed, learners.Converged:
	default:
		fmt.Fprintf(b, "the learner stopped early: %s\n", s)
	}
}

// few lists names, the first ten if there are many.
func few(names []string) string {
	const shown = 10
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

func countClasses(n int) string {
	if n == 1 {
		return "1 class"
	}
	return fmt.Sprintf("%d classes", n)
}

// classCounts lists classes with their numbers of rows, the first ten.
func classCounts(classes []string, counts []int) string {
	const shown = 10
	var parts []string
	for i, c := range classes {
		if i == shown && len(classes) > shown+1 {
			parts = append(parts, fmt.Sprintf("%d more", len(classes)-shown))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", oneLine(c), counts[i]))
	}
	return strings.Join(parts, ", ")
}

// oneLine shortens a long name, and keeps one that has line feeds on its line.
func oneLine(name string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(printable.Short(name))
}

// describe says in a line what a recipe is.
func describe(r model.Recipe) string {
	if r.Raw {
		return describeLearner(r) + "; features as they are"
	}
	return describeLearner(r) + "; features standardised"
}

// describeLearner says what of a recipe is the learner and what it is given.
func describeLearner(r model.Recipe) string {
	s := r.Learner
	for _, e := range model.Learners() {
		if e.Name != r.Learner {
			continue
		}
		for _, p := range e.Params { // in the order of the catalog
			if v, ok := r.Params[p.Name]; ok {
				s += " " + p.Name + "=" + v
			}
		}
		switch {
		case r.Given != "":
			s += fmt.Sprintf("; %s given", plural.Of(r.Pairs, "pair"))
		case model.Draws(e.Feedback):
			s += fmt.Sprintf("; %s drawn, half of them similar", plural.Of(r.Pairs, "pair"))
		}
		if e.Feedback == catalog.Pairs {
			s += ", " + passes(r.Passes)
		}
		if model.Draws(e.Feedback) && r.Given != model.GivenPairs && (r.Given == "" || !e.Chunklets) {
			s += fmt.Sprintf(", seed %d", r.Seed)
		}
	}
	return s
}

func passes(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return fmt.Sprintf("%d passes", n)
}
