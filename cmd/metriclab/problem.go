package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"metriclab/pkg/feedback"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
)

// problemFlags name items and what is known of them: the flags of fit, evaluate and compare.
type problemFlags struct {
	recipeFlags
	vectorFlags
	gram, constraints, labels string
	triplets, qrels           string
	documents, queries        vectorFlags
	objects, dim              int
	rank                      int
	unit                      bool
	sample                    int
}

// kind is a problem as command lines name it: a row of the table of problems.
type kind struct {
	usage string   // how it is named
	leads []string // flags that must be given for it; "pairs" is a file of pairs
	// flags are those that go with it, beside those that go with all.
	flags []string
	bare  model.Problem // without data
	// scaled and raw say what is done to features without and with --no-standardise.
	scaled, raw string
	read        func(f *problemFlags, ctx context.Context, a *app, q *posed) (ready, error)
}

var (
	tableFlags   = []string{"label", "header", "no-header", "drop", "keep", "one-hot", "separator", "decimal-comma", "missing", "impute", "format", "labels", "no-standardise", "passes", "seed", "factor-npy", "matrix-npy"}
	vectorsFlags = []string{"vectors", "ids", "rank", "unit", "no-standardise", "passes", "columns", "no-header", "factor-npy", "matrix-npy", "test-share", "folds"}
)

// kinds are all problems, those first that more flags name.
var kinds = []kind{
	{"--vectors X.npy --pairs PAIRS.csv", []string{"vectors", "pairs"}, append(slices.Clone(vectorsFlags), "pairs", "k"), model.PairsOfVectors(nil, nil), "", "scale as it is", (*problemFlags).readVectors},
	{"--vectors X.npy --triplets T.csv", []string{"vectors", "triplets"}, append(slices.Clone(vectorsFlags), "triplets"), model.ComparisonsOfVectors(nil, nil), "", "scale as it is", (*problemFlags).readVectors},
	{"--documents D --queries Q --qrels R.tsv", []string{"documents", "queries", "qrels"}, append(slices.Clone(vectorsFlags[2:]), "documents", "queries", "qrels", "k"), model.QueriesOfVectors(nil, nil, nil), "", "scale as it is", (*problemFlags).readQueries},
	{"--gram K0.csv --labels L.csv", []string{"gram", "labels"}, []string{"gram", "labels", "pairs", "seed", "kernel-out", "k", "folds"}, model.ByGram(nil, nil), "", "", (*problemFlags).readObjects},
	{"--gram K0.csv --constraints C.jsonl", []string{"gram", "constraints"}, []string{"gram", "constraints", "kernel-out"}, model.ByConstraints(nil, nil), "", "", (*problemFlags).readObjects},
	{"--triplets T.csv", []string{"triplets"}, []string{"triplets", "objects", "columns", "no-header", "passes", "dim", "coordinates", "guard-formulas", "folds"}, model.ByComparisons(nil), "", "", (*problemFlags).readAnswers},
	{"DATA.csv --pairs PAIRS.csv", []string{"pairs"}, append(slices.Clone(tableFlags), "pairs", "columns", "k", "test-share", "folds"), model.PairsOfRows(nil), "features standardised", "features as they are", (*problemFlags).readRows},
	{"DATA.csv --chunklets COLUMN", []string{"chunklets"}, append(slices.Clone(tableFlags), "chunklets", "dissimilar", "k", "test-share"), model.ByChunklets(nil, true), "features standardised", "features as they are", (*problemFlags).readRows},
	{"DATA.csv --label COLUMN", nil, append(slices.Clone(tableFlags), "pairs", "k", "folds", "model"), model.ByClasses(nil), "features standardised", "features as they are", (*problemFlags).readRows},
}

// leads are the flags that stand in place of a table.
var leads = []string{"documents", "vectors", "gram", "triplets"}

func (k kind) table() bool {
	return !slices.ContainsFunc(k.leads, func(name string) bool { return slices.Contains(leads, name) })
}

// usages are the lines of the help on how problems are named, for those that do not lack a flag.
func usages(lacks ...string) string {
	var b strings.Builder
	for _, k := range slices.Backward(kinds) {
		if !slices.ContainsFunc(k.leads, func(name string) bool { return slices.Contains(lacks, name) }) {
			fmt.Fprintf(&b, "  %-38s %s\n", k.usage, k.bare)
		}
	}
	return b.String()
}

// add adds the flags that fit, evaluate and compare share.
func (f *problemFlags) add(c *cobra.Command, dim string) {
	f.addTable(c)
	f.known.add(c)
	c.Flags().Var(&f.recipeFlags.columns, "columns", "which columns of a file of pairs or comparisons are i, j and label, or a, near and far, by name or number: a=head,near=winner,far=loser")
	f.vectorFlags.add(c)
	addCorpus(c, &f.documents, &f.queries)
	c.Flags().StringVar(&f.qrels, "qrels", "", "judgements: query, document and grade, 0 for what is not relevant; others by --columns query=1,document=3,grade=4")
	c.Flags().IntVar(&f.rank, "rank", 0, "keep so many directions of the metric of vectors, those of the largest eigenvalues (default: all)")
	c.Flags().BoolVar(&f.unit, "unit", false, "divide each vector by its length")
	c.Flags().StringVar(&f.gram, "gram", "", "CSV or .npy file of the kernel matrix of the objects, in place of a table")
	c.Flags().StringVar(&f.labels, "labels", "", "CSV or .npy file of the classes, a row each: CSV of the objects of --gram, either of the rows of a .npy table")
	c.Flags().StringVar(&f.triplets, "triplets", "", "file of relative comparisons, of vectors or of objects alone")
	c.Flags().IntVar(&f.objects, "objects", 0, fmt.Sprintf("number of objects of --triplets alone, at most %d (default: one more than the largest number)", feedback.MaxObjects))
	c.Flags().IntVar(&f.dim, "dim", 0, dim)
	c.Args = tableOr(leads...)
}

// posed is a problem that a command line names.
type posed struct {
	kind
	table   string       // its file; "" for none
	base    model.Recipe // without a learner
	columns tables.Columns
	inputs  []string // files that are read
	seed    bool     // whether --seed is given
}

// name finds which problem the command line names. It is the one place where flags are refused that do not go with it.
func (f *problemFlags) name(c *cobra.Command, args []string) (*posed, error) {
	changed := c.Flags().Changed
	has := func(lead string) bool {
		if lead == "pairs" {
			return f.pairs.file != ""
		}
		return changed(lead)
	}
	switch {
	case has("documents") && !(has("queries") && has("qrels")):
		return nil, usageError{errors.New("flags --queries and --qrels: want both, vectors that are searched for and judgements of documents for them")}
	case has("vectors") && !has("pairs") && !has("triplets"):
		return nil, usageError{errors.New("flags --pairs and --triplets: no file given, want one with pairs of vectors and their labels, or with relative comparisons")}
	case has("gram") && !has("labels") && !has("constraints"):
		if c.Flags().Lookup("constraints") == nil {
			return nil, usageError{errors.New("flag --labels: no file given, want one with a label per object")}
		}
		return nil, usageError{errors.New("flag --constraints: no file given, want JSON lines of constraints, or --labels")}
	}
	q := &posed{seed: changed("seed")}
	of := kinds
	if !slices.ContainsFunc(leads, has) { // --labels may be those of an array
		of = slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return !k.table() })
	}
	q.kind = of[slices.IndexFunc(of, func(k kind) bool { return !slices.ContainsFunc(k.leads, func(lead string) bool { return !has(lead) }) })]
	errs := []error{f.refuse(c, q.kind)}
	wrong := func(format string, values ...any) { errs = append(errs, usageError{fmt.Errorf(format, values...)}) }
	for _, name := range []string{"documents", "queries", "qrels", "vectors", "ids", "gram", "labels", "constraints", "triplets"} {
		if flag := c.Flags().Lookup(name); flag != nil && flag.Changed && flag.Value.String() == "" {
			wrong("flag --%s: no file given", name)
		}
	}
	if f.pairs.file != "" && !slices.Contains(q.leads, "pairs") && slices.Contains(q.flags, "pairs") {
		wrong("flag --pairs: %q is not allowed with %s, want a number", f.pairs.file, q.usage)
	}
	if f.seed == 0 {
		wrong("flag --seed: 0 is not allowed, want at least 1")
	}
	if changed("objects") && (f.objects < 3 || f.objects > feedback.MaxObjects) {
		wrong("flag --objects: %d is not allowed, want 3 to %d", f.objects, feedback.MaxObjects)
	}
	errs = append(errs, atLeastOne(c, "pairs", f.pairs.least(), "passes", f.passes, "rank", f.rank, "dim", f.dim, "sample", f.sample), f.checkForm(c, args...))
	q.base = model.Recipe{Pairs: f.pairs.count, Passes: f.passes, Rank: f.rank, Seed: f.seed, Unit: f.unit, Raw: f.raw}
	q.inputs = slices.DeleteFunc([]string{f.documents.vectors, f.queries.vectors, f.qrels, f.vectors, f.ids, f.gram, f.labels, f.constraints, f.triplets, f.pairs.file}, func(path string) bool { return path == "" })
	if q.kind.table() {
		q.table, q.inputs = args[0], append(q.inputs, args[0])
	}
	if len(slices.DeleteFunc(slices.Clone(q.inputs), func(path string) bool { return path != stdin })) > 1 {
		wrong("- is standard input: want it once")
	}
	if q.kind.table() {
		rows := f.checkRows(c, args[0])
		errs = append(errs, rows)
		if rows == nil {
			var err error
			q.columns, err = f.tableColumns(c)
			errs = append(errs, err)
			q.base.ImputeMean = f.impute == "mean"
		}
	}
	return q, together(errs...)
}

// refuse returns an error for flags that go with other problems, and not with this one.
func (f *problemFlags) refuse(c *cobra.Command, k kind) error {
	var errs []error
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || slices.Contains(k.flags, flag.Name) {
			return
		}
		var with []string
		for _, other := range slices.Backward(kinds) {
			if slices.Contains(other.flags, flag.Name) && !(c.Name() != "fit" && slices.Contains(other.leads, "constraints")) {
				with = append(with, other.usage)
			}
		}
		if flag.Name == "seed" && c.Name() != "fit" { // what is divided is drawn
			return
		}
		if len(with) > 0 {
			errs = append(errs, usageError{fmt.Errorf("flag --%s: not together with %s, which is %s; it goes with %s", flag.Name, k.usage, k.bare, few(with))})
		}
	})
	return together(errs...)
}

// recipe completes the recipe by what the flags say of one learner. unsupervised says that it may do without labels, wrong that other flags are.
func (f *problemFlags) recipe(q *posed, unsupervised, wrong bool) (model.Recipe, error) {
	r := q.base
	if wrong { // which is told
		r = model.Recipe{}
	}
	params, err := parseParams(f.params)
	if _, given := params["dim"]; f.dim > 0 && err == nil && f.fitsDim(q) {
		if params["dim"] = strconv.Itoa(f.dim); given {
			err = errors.New("flags --dim and --param dim: want one of them")
		}
	}
	switch {
	case err != nil:
		return r, usageError{err}
	case f.learner == "":
		return r, usageError{fmt.Errorf("flag --learner: none given, want one of %s", namesOf(q.bare.Learners()))}
	case strings.Contains(f.learner, ","):
		return r, usageError{fmt.Errorf("flag --learner: %q is not allowed, want one; metriclab compare --learners %s runs several on the same splits", f.learner, f.learner)}
	}
	r.Learner, r.Params = f.learner, params
	if r, err = q.bare.Resolved(r); err != nil {
		return r, usageError{err}
	}
	if !wrong && q.unlabelled() && (r.NeedsLabels() || !unsupervised) {
		err = f.noLabel()
	}
	return r, err
}

// fitsDim tells whether the learner fits objects in as many coordinates as --dim says.
func (f *problemFlags) fitsDim(q *posed) bool {
	e, err := catalog.FindIn(q.bare.Learners(), f.learner)
	return err == nil && fitsDim(e)
}

func fitsDim(e catalog.Entry) bool {
	return e.Feedback == catalog.Comparisons && slices.ContainsFunc(e.Params, func(p catalog.Param) bool { return p.Name == "dim" })
}

// unlabelled tells whether the problem has classes, and no column says which.
func (q *posed) unlabelled() bool { return q.table != "" && q.leads == nil && q.columns.Unlabelled }
