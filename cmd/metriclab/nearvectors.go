package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/lines"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/model"
	"metriclab/pkg/vectors"
)

// nearVectors looks for the neighbours of vectors.
func (a *app) nearVectors(c *cobra.Command, ctx context.Context, f *nearFlags, s *search) error {
	in, err := f.v.open(ctx, a)
	if err != nil {
		return err
	}
	s.source, s.close, s.explain = in.File.Name(), func() { in.File.Close() }, tableError
	m, err := loadVectors(f.model, in.File.Dim())
	if err != nil {
		return err
	}
	if s.elect {
		return a.electVectors(c, ctx, f, s, m, in.File)
	}
	what, err := atOnce(ctx, func() (*askedVectors, error) { return f.askedVectors(in) })
	if err != nil {
		return err
	}
	if err := a.cutVectors(c, f, in.File.Rows()-what.self(), "other vectors"); err != nil {
		return err
	}
	nq, _ := what.x.Dims()
	if err := a.agree(ctx, fmt.Sprintf("neighbours of %s among %d", plural.Of(nq, "vector"), in.File.Rows()), m.CostOfNeighbours(nq, in.File.Rows()).Seconds); err != nil {
		return err
	}
	progress, done := a.meter(ctx, work{noun: "vector"})
	near, err := atOnce(ctx, func() (*model.Block, error) { return a.foundVectors(c, ctx, f, m, in.File, what, progress) })
	done()
	if err != nil {
		return tableError(err)
	}
	s.columns = []string{"row", "rank", "neighbour", "distance"}
	s.asked = func(i int) any { return what.name(i) }
	if ids := in.Objects.Names; ids != nil {
		s.known = func(i int) any { return ids[i] }
	}
	s.blocks = single(near)
	return nil
}

// electVectors predicts the classes of vectors.
func (a *app) electVectors(c *cobra.Command, ctx context.Context, f *nearFlags, s *search, m *model.Vectors, in *vectors.File) error {
	train, err := vectors.Open(f.train)
	if err != nil {
		return err
	}
	defer train.Close()
	if train.Dim() != in.Dim() {
		return fmt.Errorf("%s: vectors of %d numbers, want %d as in %s", f.train, train.Dim(), in.Dim(), f.v.vectors)
	}
	if err := a.agree(ctx, fmt.Sprintf("classes of %s among %d", plural.Of(in.Rows(), "vector"), train.Rows()), catalog.KNN(in.Rows(), train.Rows(), m.Rows()).Seconds); err != nil {
		return err
	}
	labels, err := atOnce(ctx, func() ([]string, error) { return tableFormat{labels: f.labels}.readLabels()(train.Rows()) })
	if err != nil {
		return err
	}
	a.cutK(c, f, train.Rows(), "vectors")
	progress, done := a.meter(ctx, work{noun: "training vector"})
	among := m.Classifier
	if f.probabilities {
		among = m.Probabilities
	}
	s.of, err = atOnce(ctx, func() (*model.Neighbourhood, error) { return among(ctx, train, labels, f.k, progress) })
	done()
	if err != nil {
		return tableError(err)
	}
	s.blocks = s.of.Vectors(ctx, in)
	return nil
}

// askedVectors are vectors whose neighbours are asked for.
type askedVectors struct {
	x     *mat.Dense
	names []string // ids; nil if there are none
	own   []int    // the rows of the file that they are; nil of another file
}

// self is 1 if a vector finds itself, which is left out.
func (q *askedVectors) self() int { return min(1, len(q.own)) }

// name returns what a vector is called: a number, if it has no id.
func (q *askedVectors) name(i int) any {
	switch {
	case q.names != nil:
		return q.names[i]
	case q.own != nil:
		return q.own[i]
	}
	return i
}

// askedVectors reads the vectors of --queries or --rows.
func (f *nearFlags) askedVectors(in *lines.Vectors) (*askedVectors, error) {
	if f.queries == "" {
		find, err := in.Objects.Finder()
		if err != nil {
			return nil, err
		}
		out := &askedVectors{}
		if in.Objects.Names != nil {
			out.names = f.rows
		}
		for _, name := range f.rows {
			i, err := find(name)
			if err != nil {
				return nil, usageError{fmt.Errorf("flag --rows: %w", err)}
			}
			out.own = append(out.own, i)
		}
		out.x, err = in.File.Select(out.own)
		return out, err
	}
	q, err := vectors.Open(f.queries)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	if q.Dim() != in.File.Dim() {
		return nil, fmt.Errorf("%s: vectors of %d numbers, want %d as in %s", f.queries, q.Dim(), in.File.Dim(), f.v.vectors)
	}
	all := make([]int, q.Rows())
	for i := range all {
		all[i] = i
	}
	out := &askedVectors{}
	out.x, err = q.Select(all)
	return out, err
}

// cutVectors cuts the default of --k to the number of vectors that can be neighbours, or refuses one that is given.
func (a *app) cutVectors(c *cobra.Command, f *nearFlags, most int, what string) error {
	a.cutK(c, f, most, what)
	if f.k > most {
		return usageError{fmt.Errorf("flag --k: %d is not allowed, want 1 to %d, the number of %s", f.k, most, what)}
	}
	return nil
}

// foundVectors returns neighbours, and tells what has no direction.
func (a *app) foundVectors(c *cobra.Command, ctx context.Context, f *nearFlags, m *model.Vectors, in *vectors.File, what *askedVectors, p model.Progress) (*model.Block, error) {
	found, zeros, err := m.Neighbours(ctx, in, what.x, f.k+what.self(), p)
	if err != nil {
		return nil, err
	}
	if zeros.Count > 0 {
		a.note(in.Name(), []string{fmt.Sprintf("%s, without direction: not among the neighbours", zeros)})
		if err := a.cutVectors(c, f, in.Rows()-what.self()-zeros.Count, "other vectors that have a direction"); err != nil {
			return nil, err
		}
	}
	var silent []string
	for i, near := range found {
		if near == nil {
			silent = append(silent, fmt.Sprint(what.name(i)))
			continue
		}
		if what.own != nil {
			near = slices.DeleteFunc(near, func(n nearest.Neighbour) bool { return n.Index == what.own[i] })
		}
		found[i] = near[:f.k]
	}
	if len(silent) > 0 {
		a.note("queries", []string{fmt.Sprintf("%s of zeros, without direction and neighbours: %s", plural.Of(len(silent), "vector"), few(silent))})
	}
	return &model.Block{Found: found}, nil
}
