package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/feedback"
	"metriclab/pkg/learners/lines"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
)

// ready is a problem that was read.
type ready struct {
	problem model.Problem
	name    string // of the data
	// about says in lines what was read, once it is known of how many items something is known.
	about func(items int) string
	data  *tables.Data // of a table
	// lines are where constraints stand.
	lines *lines.Constraints
	// counts are further numbers on what was read, for JSON.
	counts map[string]int
	close  func() error // nil for nothing
}

// open reads a problem, and takes a sample of it if that is wanted.
func (f *problemFlags) open(ctx context.Context, a *app, q *posed) (ready, error) {
	r, err := q.read(f, ctx, a, q)
	if err == nil && f.sample > 0 {
		var words string
		r.problem, words, err = r.problem.Sample(rand.New(rand.NewPCG(f.seed, 0)), f.sample)
		if about := r.about; words != "" {
			r.about = func(items int) string { return about(items) + words + "\n" }
			a.noted = append(a.noted, words)
		}
	}
	if err != nil && r.close != nil {
		_ = r.close()
		r.close = nil
	}
	return r, tableError(err)
}

func (f *problemFlags) readRows(ctx context.Context, a *app, q *posed) (r ready, err error) {
	d, err := a.readLabelled(ctx, q.table, f.rows, q.columns, q.base.ImputeMean)
	if err != nil {
		return r, err
	}
	about := ""
	switch {
	case f.pairs.file != "":
		n, _ := d.Dims()
		p, err := a.readPairs(ctx, f.pairs.file, feedback.Objects{Count: n}, feedback.Form{Columns: f.columns.value}) // --no-header is of the table
		if err != nil {
			return r, err
		}
		d.Links = p.Links
		r.problem = model.PairsOfRows(d)
		about = fmt.Sprintf("%s: %s, %d similar\n", f.pairs.file, plural.Of(len(d.Links), "pair"), countSimilar(d.Links))
	case f.known.chunklets != "":
		r.problem = model.ByChunklets(d, f.known.dissimilar == dissimilarOther)
		about = describeChunklets(d, f.known.chunklets)
	default:
		r.problem = model.ByClasses(d)
	}
	r.name, r.data = d.Name, d
	r.about = func(int) string { return describeRows(d) + about }
	return r, nil
}

func (f *problemFlags) readVectors(ctx context.Context, a *app, _ *posed) (r ready, err error) {
	in, err := f.vectorFlags.open(ctx, a)
	if err != nil {
		return r, err
	}
	r.name, r.close = filepath.Base(in.File.Name()), in.File.Close
	if f.triplets != "" {
		set, err := a.readCompared(ctx, f.triplets, in.Objects, f.form())
		if err != nil {
			return r, err
		}
		r.problem = model.ComparisonsOfVectors(in.File, set.List)
		r.counts = map[string]int{"degenerate": set.Degenerate}
		r.about = func(items int) string {
			s := fmt.Sprintf("%s; %s of %d of them\n", aboutFile(in.File), plural.Of(len(set.List), "comparison"), items)
			if set.Degenerate > 0 {
				s += fmt.Sprintf("dropped, since their vectors are not distinct: %s\n", plural.Of(set.Degenerate, "comparison"))
			}
			return s
		}
		return r, nil
	}
	pairs, err := a.readPairs(ctx, f.pairs.file, in.Objects, f.form())
	if err != nil {
		return r, err
	}
	r.problem = model.PairsOfVectors(in.File, pairs.Links)
	r.about = func(items int) string {
		return fmt.Sprintf("%s; %s, %d similar, of %d of them\n", aboutFile(in.File), plural.Of(len(pairs.Links), "pair"), countSimilar(pairs.Links), items)
	}
	return r, nil
}

func (f *problemFlags) readQueries(ctx context.Context, a *app, _ *posed) (r ready, err error) {
	documents, err := f.documents.open(ctx, a)
	if err != nil {
		return r, err
	}
	r.name, r.close = filepath.Base(documents.File.Name()), documents.File.Close
	queries, err := f.queries.open(ctx, a)
	if err != nil {
		return r, err
	}
	r.close = func() error { return errors.Join(documents.File.Close(), queries.File.Close()) }
	judged, relevant, err := a.readJudged(ctx, f.qrels, false, queries.Objects, documents.Objects, f.form())
	if err != nil {
		return r, err
	}
	r.problem = model.QueriesOfVectors(queries.File, documents.File, judged)
	r.about = func(items int) string {
		return fmt.Sprintf("%s; %s; %s, %d relevant, of %d queries\n", aboutFile(documents.File), aboutFile(queries.File), plural.Of(len(judged), "judgement"), relevant, items)
	}
	return r, nil
}

// readJudged reads judgements, or a log of clicks as judgements, and counts the relevant ones.
func (a *app) readJudged(ctx context.Context, path string, clicks bool, queries, documents feedback.Objects, form feedback.Form) (list []feedback.Judgement, relevant int, err error) {
	j, err := readTold(ctx, a, path, func(r io.Reader) (*feedback.Judgements, error) {
		if clicks {
			return feedback.ReadClicks(r, tableName(path), queries, documents)
		}
		return feedback.ReadJudgements(r, tableName(path), queries, documents, form)
	})
	if err != nil {
		return nil, 0, err
	}
	a.note(tableName(path), j.Notes)
	for _, v := range j.List {
		if v.Grade > 0 {
			relevant++
		}
	}
	return j.List, relevant, nil
}

func (f *problemFlags) readObjects(ctx context.Context, a *app, _ *posed) (r ready, err error) {
	k0, err := readTold(ctx, a, f.gram, func(r io.Reader) (*mat.SymDense, error) { return tables.ReadGram(r, f.gram) })
	if err != nil {
		return r, err
	}
	n := k0.SymmetricDim()
	r.name = filepath.Base(f.gram)
	if f.labels != "" {
		labels, err := readTold(ctx, a, f.labels, func(r io.Reader) ([]string, error) { return tables.ReadLabels(r, f.labels, n) })
		if err != nil {
			return r, err
		}
		r.problem = model.ByGram(k0, labels)
		r.about = func(int) string {
			return fmt.Sprintf("%s: %s, %s\n", r.name, plural.Of(n, "object"), describeClasses(labels))
		}
		return r, nil
	}
	if r.lines, err = readTold(ctx, a, f.constraints, func(r io.Reader) (*lines.Constraints, error) { return lines.ReadConstraints(r, f.constraints, n) }); err != nil {
		return r, err
	}
	r.problem = model.ByConstraints(k0, r.lines.List)
	r.about = func(int) string {
		return fmt.Sprintf("%s: %s; %s: %s\n", f.gram, plural.Of(n, "object"), f.constraints, plural.Of(len(r.lines.List), "constraint"))
	}
	return r, f.checkBounds(k0, r.lines)
}

// checkBounds finds hard constraints that no kernel satisfies, whatever the others say.
func (f *problemFlags) checkBounds(k0 *mat.SymDense, cs *lines.Constraints) error {
	params, err := parseParams(f.params)
	if err != nil {
		return usageError{err}
	}
	p, err := model.ByConstraints(nil, nil).Resolved(model.Recipe{Learner: f.learner, Params: params})
	if err != nil || p.Params["slack"] != ltkernel.SlackHard.String() {
		return err
	}
	return cs.CheckBounds(p.Params["divergence"] == ltkernel.LogDet().Name(), func(i, j int) bool {
		size := k0.At(i, i) + k0.At(j, j)
		return size-2*k0.At(i, j) > metric.PSDTolerance*size
	})
}

func (f *problemFlags) readAnswers(ctx context.Context, a *app, _ *posed) (r ready, err error) {
	set, err := readTold(ctx, a, f.triplets, func(r io.Reader) (*feedback.Triplets, error) {
		return feedback.ReadTriplets(r, tableName(f.triplets), f.objects, f.form())
	})
	if err != nil {
		return r, err
	}
	a.note(tableName(f.triplets), set.Notes)
	r.problem, r.name = model.ByComparisons(set), filepath.Base(set.Name)
	r.counts = map[string]int{"degenerate": set.Degenerate, "ties": set.Ties}
	r.about = func(items int) string { return describeTriplets(set, items) }
	return r, nil
}

// tableColumns says what the columns of the table are.
func (f *recipeFlags) tableColumns(c *cobra.Command) (tables.Columns, error) {
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
	if !slices.Contains([]string{"", "none", "mean"}, f.impute) {
		wrong("flag --impute: %q is not allowed, want none or mean", f.impute)
	}
	errs = append(errs, f.checkKnown(c))
	return tables.Columns{
		Header: header, Label: f.label, Unlabelled: f.label == "" && f.rows.labels == "" && !f.rows.sparse, Chunklets: f.known.chunklets,
		Drop: f.drop, Keep: f.keep, OneHot: f.oneHot, Cells: f.rows.cells,
	}, together(errs...)
}
