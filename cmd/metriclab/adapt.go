package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"metriclab/internal/atomicfile"
	"metriclab/internal/plural"
	"metriclab/pkg/adapt"
	"metriclab/pkg/feedback"
	"metriclab/pkg/learners/lines"
)

// adaptFlags are the flags of adapt.
type adaptFlags struct {
	documents, queries           vectorFlags
	qrels, events, pairs, triple string
	columns                      columnsFlag
	noHeader                     bool
	operator, out, way           string
	learners                     []string
	k, folds                     int
	seed                         uint64
	json                         bool
}

func (a *app) adaptCommand() *cobra.Command {
	f := &adaptFlags{}
	c := &cobra.Command{
		Use:   "adapt --documents D --queries Q {--qrels R.tsv | --events E.jsonl} [--out FOLDER]",
		Short: "Make search in an index of vectors better by judgements or clicks, and write what the index needs",
		Example: `  metriclab adapt --documents d.txt --queries q.txt --qrels r.tsv --out adapter
  metriclab adapt --documents d.jsonl.gz --queries q.jsonl --events clicks.jsonl --out adapter
  metriclab adapt --documents items.npy --pairs alike.csv --out adapter`,
		Long: `Compare ways to search: the index as it is; a linear map of the query alone, which needs no new
index; and a new index of mapped vectors. Each is scored as it will be used: queries are held
out, and all documents are ranked for them. The answer is one word, take or leave, and a folder
with the map for pgvector, faiss, hnswlib, ONNX and others.

Vectors are .npy files, lines "id<TAB>[0.1,0.2,...]" as pgvector's COPY writes them, or JSON
lines with an id and a list; gzip and - (standard input) do as well. Of other files rows have
numbers from 0, or ids by --document-ids and --query-ids, a line each.

  --qrels      query, document, grade: BEIR's TSV, or TREC's with --columns query=1,document=3,grade=4
  --events     pages of results as JSON lines: {"query":"q7","shown":["d3","d9"],"clicked":["d9"]}
  --pairs      documents that are alike, or not: each is a query for the others
  --triplets   "a is more like near than like far", of documents

In each of --folds parts of the queries, learners learn from the other parts. The way is chosen
within these, by a quarter of their queries. "take" means that the way chosen is better than
the index as it is on the queries held out, by a paired interval at 97.5 %, in nDCG of the
first --k documents or rank of the relevant ones (geometric mean). It is worse in neither.
Recommended (*) and written is the best way that is better so itself, or a map of the query
alone that is, and not worse than the best. Queries with equal vectors are one.

nDCG, rank, MRR and recall count documents that nobody judged as not relevant, which favours
the index that showed what was judged; the condensed nDCG leaves them out. Ties count by their
mean. A document or query of zeros has no direction: under the cosine it is never found.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("%s takes flags only, got %q", c.CommandPath(), args)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return a.adapt(c, f) },
	}
	flags := c.Flags()
	addCorpus(c, &f.documents, &f.queries)
	flags.StringVar(&f.documents.ids, "document-ids", "", "file with an id per line for the rows of --documents")
	flags.StringVar(&f.queries.ids, "query-ids", "", "file with an id per line for the rows of --queries")
	flags.StringVar(&f.qrels, "qrels", "", "judgements: query, document and grade, 0 for what is not relevant")
	flags.StringVar(&f.events, "events", "", "click log: JSON lines of pages of results")
	flags.StringVar(&f.pairs, "pairs", "", "labelled pairs of documents, in place of queries")
	flags.StringVar(&f.triple, "triplets", "", "relative comparisons of documents, in place of queries")
	flags.Var(&f.columns, "columns", "which columns of the judgements are which, by name or number: query=1,document=3,grade=4")
	flags.BoolVar(&f.noHeader, "no-header", false, "the first line of the judgements is data")
	flags.StringVar(&f.operator, "operator", string(adapt.Cosine), "by what the index of today ranks: cosine, ip (inner product) or l2 (Euclid)")
	flags.StringSliceVar(&f.learners, "learners", adapt.Defaults, "learners to compare: "+strings.Join(adapt.Learners(), ", "))
	flags.IntVar(&f.k, "k", 10, "how many documents a search shows")
	flags.IntVar(&f.folds, "folds", 5, "parts of the queries, each held out once")
	flags.Uint64Var(&f.seed, "seed", 1, "origin of all that is drawn")
	flags.StringVar(&f.out, "out", "", "folder for the adapter, which must be new, empty, or one of an earlier run")
	flags.StringVar(&f.way, "way", "", "write this way whatever the verdict, such as oasis:query, itml:cosine or itml:euclid (default: the recommended one, if the verdict is take)")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	completeFlag(c, "operator", completeWords("cosine", "ip", "l2"))
	return c
}

func (f *adaptFlags) options() adapt.Options {
	return adapt.Options{Operator: adapt.Operator(f.operator), Learners: f.learners, K: f.k, Folds: f.folds, Seed: f.seed}
}

// check refuses flags that do not go together.
func (f *adaptFlags) check(c *cobra.Command) error {
	var errs []error
	wrong := func(format string, values ...any) { errs = append(errs, usageError{fmt.Errorf(format, values...)}) }
	given := func(name string) bool { return c.Flags().Changed(name) }
	inputs := []string{"documents", "document-ids", "queries", "query-ids", "qrels", "events", "pairs", "triplets"}
	stdins := 0
	for _, name := range inputs {
		switch value := c.Flags().Lookup(name).Value.String(); {
		case given(name) && value == "":
			wrong("flag --%s: no file given", name)
		case value == stdin:
			stdins++
		}
	}
	if stdins > 1 {
		wrong("- is standard input: want it once")
	}
	if f.documents.vectors == "" {
		wrong("flag --documents: no file given, want one of vectors")
	}
	var kinds []string
	for _, name := range inputs[4:] {
		if given(name) {
			kinds = append(kinds, "--"+name)
		}
	}
	items := given("pairs") || given("triplets")
	switch {
	case len(kinds) != 1:
		wrong("flags --qrels, --events, --pairs and --triplets: want one of them, got %s", cmp.Or(strings.Join(kinds, ", "), "none"))
	case items && (given("queries") || given("query-ids")):
		wrong("flag --queries: not together with %s, by which documents are queries for each other", kinds[0])
	case !items && f.queries.vectors == "":
		wrong("flag --queries: no file given, want one of vectors")
	}
	if (given("columns") || given("no-header")) && given("events") {
		wrong("flags --columns and --no-header: not together with --events, which are JSON lines")
	}
	if _, err := f.options().Resolved(); err != nil {
		errs = append(errs, usageError{err})
	}
	errs = append(errs, atLeastOne(c, "k", f.k, "folds", f.folds, "seed", int(min(f.seed, 1))))
	if given("out") {
		errs = append(errs, f.checkOut())
	}
	if given("way") {
		way, err := adapt.ParseWay(f.way)
		switch {
		case err != nil:
			wrong("flag --way: %w", err)
		case !given("out"):
			wrong("flag --way: only together with --out")
		case !slices.ContainsFunc(f.learners, func(name string) bool { return strings.EqualFold(name, way.Learner) }):
			wrong("flag --way: %s is none of --learners %s", way.Learner, strings.Join(f.learners, ","))
		}
	}
	return together(errs...)
}

// checkOut refuses a folder with files that are none of an adapter.
func (f *adaptFlags) checkOut() error {
	if f.out == "" || f.out == stdin {
		return usageError{errors.New("flag --out: no folder given")}
	}
	entries, err := os.ReadDir(f.out)
	there := f.out // the folder in which something is made
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Lstat(f.out); err == nil {
			return fmt.Errorf("flag --out: %s is a link to no folder", f.out)
		}
		for up := ""; errors.Is(err, os.ErrNotExist) && up != there; _, err = os.Stat(there) {
			up, there = there, filepath.Dir(filepath.Clean(there))
		}
	case err != nil:
		return fmt.Errorf("flag --out: %w", err)
	}
	for _, e := range entries {
		if ok, _ := filepath.Match(".metriclab-*.tmp", e.Name()); ok { // what a killed process left
			continue
		}
		if !slices.Contains(adapt.Files(), e.Name()) || e.IsDir() {
			return fmt.Errorf("flag --out: %s has %s, which is no file of an adapter; want a folder that is new or empty", f.out, e.Name())
		}
	}
	if err := atomicfile.CheckWritable(there); err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err // its path is a random one
		}
		return fmt.Errorf("flag --out: the folder %s is not writable: %w", there, err)
	}
	return nil
}

// among tells whether the queries are the documents.
func (f *adaptFlags) among() bool {
	d, err := os.Stat(f.documents.vectors)
	q, other := os.Stat(f.queries.vectors)
	return err == nil && other == nil && os.SameFile(d, q) && f.documents.ids == f.queries.ids
}

// openVectors opens vectors and reads their ids.
func (a *app) openVectors(ctx context.Context, v vectorFlags, what string) (*lines.Vectors, error) {
	in, err := v.open(ctx, a)
	if err != nil {
		return nil, err
	}
	ids := ""
	if in.Objects.Names == nil {
		ids = ", without ids: rows have numbers from 0"
	}
	fmt.Fprintf(a.err, "%s: %s: %s of %d numbers%s\n", what, tableName(v.vectors), plural.Of(in.File.Rows(), "vector"), in.File.Dim(), ids)
	return in, nil
}

// judgements reads what is known of which documents are relevant.
func (f *adaptFlags) judgements(ctx context.Context, a *app, queries, documents feedback.Objects) (list []feedback.Judgement, what string, err error) {
	form := feedback.Form{Columns: f.columns.value, NoHeader: f.noHeader}
	path := cmp.Or(f.qrels, f.events)
	switch {
	case f.pairs != "":
		p, err := a.readPairs(ctx, f.pairs, documents, form)
		if err != nil {
			return nil, "", err
		}
		list, notes := adapt.OfPairs(p.Links)
		a.note(tableName(f.pairs), notes)
		return list, fmt.Sprintf("%s: %s, %d similar", tableName(f.pairs), plural.Of(len(p.Links), "pair"), p.Similar()), nil
	case f.triple != "":
		set, err := a.readCompared(ctx, f.triple, documents, form)
		if err != nil {
			return nil, "", err
		}
		list, notes := adapt.OfComparisons(set.List)
		a.note(tableName(f.triple), notes)
		return list, fmt.Sprintf("%s: %s", tableName(f.triple), plural.Of(len(set.List), "comparison")), nil
	}
	list, relevant, err := a.readJudged(ctx, path, f.events != "", queries, documents, form)
	if err != nil {
		return nil, "", err
	}
	return list, fmt.Sprintf("%s: %s, %d relevant", tableName(path), plural.Of(len(list), "judgement"), relevant), nil
}

func (a *app) adapt(c *cobra.Command, f *adaptFlags) error {
	ctx := c.Context()
	if err := f.check(c); err != nil {
		return err
	}
	documents, err := a.openVectors(ctx, f.documents, "documents")
	if err != nil {
		return err
	}
	defer documents.File.Close()
	corpus := &adapt.Corpus{Documents: documents.File}
	queries := documents
	if f.queries.vectors != "" && f.among() {
		a.note(f.queries.vectors, []string{"documents are the queries: none is found for itself"})
	} else if f.queries.vectors != "" {
		if queries, err = a.openVectors(ctx, f.queries, "queries"); err != nil {
			return err
		}
		defer queries.File.Close()
		corpus.Queries = queries.File
	}
	var what string
	if corpus.Judged, what, err = f.judgements(ctx, a, queries.Objects, documents.Objects); err != nil {
		return err
	}
	if corpus.Queries == nil {
		n := len(corpus.Judged)
		corpus.Judged = slices.DeleteFunc(corpus.Judged, func(j feedback.Judgement) bool { return j.Query == j.Document })
		if n -= len(corpus.Judged); n > 0 {
			a.note(tableName(cmp.Or(f.qrels, f.events)), []string{fmt.Sprintf("left out, since they judge a document for itself: %s", plural.Of(n, "judgement"))})
		}
	}
	o := f.options()
	progress, end := a.meter(ctx, work{noun: "step"})
	o.Progress = progress
	r, err := atOnce(ctx, func() (*adapt.Result, error) { return adapt.Compare(ctx, corpus, o) })
	end()
	if err != nil {
		return err
	}
	way, written := r.Rows[r.Chosen].Way, ""
	if f.way != "" {
		if way, err = adapt.ParseWay(f.way); err != nil {
			return err
		}
	}
	if f.out != "" && (r.Take || f.way != "") {
		made, err := atOnce(ctx, func() (*adapt.Adapter, error) { return adapt.Fit(ctx, corpus, way, o) })
		if err != nil {
			return err
		}
		if err := made.Write(f.out, r.SentenceOf(way)); err != nil {
			return err
		}
		written = f.out
	}
	if f.json {
		return a.printJSON(a.adaptJSON(r, written))
	}
	return a.printAdapt(r, what, way, written)
}

func (a *app) printAdapt(r *adapt.Result, what string, way adapt.Way, out string) error {
	var b strings.Builder
	fmt.Fprintln(&b, what)
	fmt.Fprintf(&b, "%s, each held out once in %d parts; %s learned from or scored; operator %s, seed %d\n", queriesOf(len(r.Queries)), r.Folds, plural.Of(r.Judged, "judgement"), r.Operator, r.Seed)
	if r.Drawn > 0 {
		fmt.Fprintf(&b, "where nothing was judged less relevant, one other document was drawn: %d times\n", r.Drawn)
	}
	fmt.Fprintln(&b)
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "way to search\tnew index\tnDCG@%d in %%\tgain\trank\tchange\tMRR@%[1]d\trecall@%[1]d\tcondensed nDCG@%[1]d\n", r.K)
	row := func(name, index string, row adapt.Row) {
		cells := []string{name, index, interval(row.Mean[adapt.NDCG]), interval(row.Over[adapt.NDCG]), fmt.Sprintf("%.1f", math.Exp(row.Mean[adapt.LogRank].Mean)), adapt.Change(row.Over[adapt.LogRank])}
		if row.Search == adapt.AsItIs {
			cells[3], cells[5] = "", ""
		}
		for _, m := range []int{adapt.MRR, adapt.Recall, adapt.Condensed} {
			cell := "-"
			if row.Mean[m].N > 0 {
				cell = fmt.Sprintf("%.2f", 100*row.Mean[m].Mean)
			}
			cells = append(cells, cell)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	for i, one := range r.Rows {
		index := "no"
		if one.NewIndex() {
			index = "yes"
		}
		name := one.Way.String()
		if i == r.Chosen && r.Take {
			name += " *"
		}
		row(name, index, one)
	}
	row(r.Nested.Way.String(), "", r.Nested)
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(&b)
	printNotes(&b, r.Notes)
	fmt.Fprintln(&b, r.Sentence())
	if cheap := r.WithoutIndex(); r.Take && r.Rows[r.Chosen].NewIndex() && cheap > 0 {
		fmt.Fprintf(&b, "Better than the index as it is, too, and without a new one: %s (--way %s).\n", r.Rows[cheap].Way, r.Rows[cheap].Flag())
	}
	if out != "" {
		fmt.Fprintf(&b, "%s: %s. How to use it stands in %s.\n", way, strings.Join(adapt.Files(), ", "), filepath.Join(out, adapt.ReadmeFile))
	} else {
		fmt.Fprintln(&b, "Nothing is written.")
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

func queriesOf(n int) string {
	if n == 1 {
		return "1 query"
	}
	return fmt.Sprintf("%d queries", n)
}

// adaptedJSON is the JSON of adapt. Values are shares.
type adaptedJSON struct {
	Schema   int            `json:"schema"`
	Queries  int            `json:"queries"`
	Judged   int            `json:"judgements"`
	Drawn    int            `json:"drawn"`
	Operator string         `json:"operator"`
	K        int            `json:"k"`
	Folds    int            `json:"folds"`
	Seed     uint64         `json:"seed"`
	Ways     []adaptWayJSON `json:"ways"`
	Nested   adaptWayJSON   `json:"chosen_within"`
	Chosen   int            `json:"recommended"`
	Verdict  string         `json:"verdict"`
	Sentence string         `json:"sentence"`
	Out      string         `json:"out,omitempty"`
	Notes    []string       `json:"notes"`
}

type adaptWayJSON struct {
	Learner  string              `json:"learner,omitempty"`
	Search   string              `json:"search"`
	NewIndex bool                `json:"new_index"`
	Mean     map[string]meanJSON `json:"mean"`
	Over     map[string]meanJSON `json:"over_as_it_is"`
}

func (a *app) adaptJSON(r *adapt.Result, out string) adaptedJSON {
	way := func(row adapt.Row) adaptWayJSON {
		w := adaptWayJSON{row.Learner, string(row.Search), row.NewIndex(), map[string]meanJSON{}, map[string]meanJSON{}}
		for m, name := range []string{"ndcg", "log_rank", "mrr", "recall", "condensed_ndcg"} {
			if row.Mean[m].N > 0 {
				w.Mean[name], w.Over[name] = meanOf(row.Mean[m]), meanOf(row.Over[m])
			}
		}
		return w
	}
	j := adaptedJSON{
		Schema: schema, Out: out, Queries: len(r.Queries), Judged: r.Judged, Drawn: r.Drawn, Operator: string(r.Operator), K: r.K, Folds: r.Folds, Seed: r.Seed,
		Nested: way(r.Nested), Chosen: r.Chosen, Verdict: r.Verdict(), Sentence: r.Sentence(), Notes: slices.Concat([]string{}, a.noted, r.Notes),
	}
	for _, row := range r.Rows {
		j.Ways = append(j.Ways, way(row))
	}
	return j
}
