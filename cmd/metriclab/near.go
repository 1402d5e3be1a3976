package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
)

// search is what predict and neighbours look for, and how it is written.
type search struct {
	source  string // of the items that are asked about
	blocks  iter.Seq2[*model.Block, error]
	of      *model.Neighbourhood // nil where items have no classes
	columns []string
	asked   func(row int) any // what an item is called; nil where it is its number
	known   func(row int) any // the same of a neighbour
	ids     []string          // of neighbours, in a column of their own; nil if not wanted
	layout  tables.Layout     // of a model of tables
	explain func(error) error // of errors of blocks
	// meter begins to show how much is done.
	meter func(ctx context.Context) (model.Progress, func())
	close func()

	elect       bool
	k           int
	rows, wrong int
	apart       int             // rows of a class that no training row has
	others      map[string]bool // these classes, some of them if there are many
	labelled    bool            // the new rows have classes
}

// near is predict and neighbours.
func (a *app) near(c *cobra.Command, args []string, f *nearFlags) error {
	about, err := f.about(c, args)
	if err != nil {
		return err
	}
	ctx := c.Context()
	s := &search{elect: f.elect, explain: func(err error) error { return err }, close: func() {}}
	s.meter = func(ctx context.Context) (model.Progress, func()) { return a.meter(ctx, work{noun: "row"}) }
	defer func() { s.close() }()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	switch about {
	case ofTable:
		err = a.nearRows(c, inner, f, s, args[0])
	case ofVectors:
		err = a.nearVectors(c, inner, f, s)
	case ofGram:
		err = a.nearGram(c, f, s)
	case ofObjects:
		err = a.nearObjects(c, f, s)
	}
	if err != nil {
		return err
	}
	s.k = f.k
	if s.of != nil {
		for _, n := range s.of.Notes() {
			fmt.Fprintf(a.err, "Note: %s.\n", n)
			a.noted = append(a.noted, n)
		}
	}
	if f.elect {
		s.columns = []string{"row", "class", "share", "distance"}
		if f.probabilities {
			for _, class := range s.of.Classes() {
				s.columns = append(s.columns, "p:"+class)
			}
		}
	} else if s.of != nil && s.of.Labelled() {
		s.columns = append(s.columns, "class")
	}
	if err := a.writeNear(ctx, s, f); err != nil {
		return s.explain(err)
	}
	if s.labelled && s.elect {
		s.tellError(a.err, tableName(s.source))
	}
	return nil
}

// writeNear writes what is found.
func (a *app) writeNear(ctx context.Context, s *search, f *nearFlags) error {
	out, err := a.answerTo(ctx, f.out)
	if err != nil {
		return err
	}
	defer out.abort()
	r := &records{json: f.json, guard: f.guard}
	if err := r.head(s.columns...); err != nil {
		return err
	}
	progress, done := s.meter(ctx)
	defer done()
	first := true
	var notes []string
	err = eachOf(ctx, s.blocks, func(b *model.Block) error {
		if first {
			a.leftOut(s.source, s.layout, b.Unused)
			a.tellDialect(s.source, b.Dialect)
			s.labelled = b.Labels != nil
			first = false
		}
		notes = b.Notes
		if err := s.write(r, b); err != nil {
			return err
		}
		progress(s.rows, b.Total)
		_, err := out.Write(r.take())
		return err
	})
	a.note(s.source, notes)
	if err != nil {
		return err
	}
	more := []any{"k", s.k, "notes", append([]string{}, a.noted...)}
	if f.probabilities {
		c := s.of.Calibration()
		more = append(more, "calibration", map[string]any{"shift": c.Shift, "power": c.Power, "rows": c.Rows, "folds": c.Folds})
	}
	if s.labelled && s.elect {
		more = append(more, "judged", s.rows-s.apart, "wrong", s.wrong, "apart", s.apart)
	}
	if err := r.end(more...); err != nil {
		return err
	}
	if _, err := out.Write(r.take()); err != nil {
		return err
	}
	return out.commit()
}

// write appends the lines of a block.
func (s *search) write(r *records, b *model.Block) error {
	for i, e := range b.Elected {
		if e.Class == "" {
			continue
		}
		if b.Labels != nil {
			s.count(b.Labels[i], e.Class)
		}
		cells := []any{b.First + i, e.Class, e.Share, e.Distance}
		if e.Probabilities != nil {
			cells = append(cells, e.Probabilities)
		}
		if err := r.row(cells...); err != nil {
			return err
		}
	}
	var cells []any
	for i, found := range b.Found {
		for rank, n := range found {
			cells = append(cells[:0], named(s.asked, b.First+i), rank+1, named(s.known, n.Index))
			if s.ids != nil {
				cells = append(cells, s.ids[n.Index])
			}
			cells = append(cells, n.Dist())
			if s.of != nil && s.of.Labelled() {
				cells = append(cells, s.of.Label(n.Index))
			}
			if err := r.row(cells...); err != nil {
				return err
			}
		}
	}
	s.rows += len(b.Found) + len(b.Elected)
	return nil
}

func named(name func(int) any, row int) any {
	if name == nil {
		return row
	}
	return name(row)
}

// count takes a row with a label for which class was predicted.
func (s *search) count(label, class string) {
	const most = 1000 // there may be as many as rows
	want := s.of.Class(label)
	switch {
	case want == "":
		s.apart++
		if s.others == nil {
			s.others = map[string]bool{}
		}
		if len(s.others) < most {
			s.others[strings.Clone(label)] = true
		}
	case want != class:
		s.wrong++
	}
}

// tellError tells how many rows are wrong, of those whose class is one of the training rows.
func (s *search) tellError(w io.Writer, source string) {
	learned := s.of.Classes()
	if len(s.others) > 0 {
		other := slices.Sorted(maps.Keys(s.others))
		fmt.Fprintf(w, "%s: %s of a class that no training row has, counted in no error: %s; training rows have %s\n", source, plural.Of(s.apart, "row"), few(other), few(learned))
		if note := closest.AlikeNote("classes", slices.Concat(learned, other)); note != "" {
			fmt.Fprintf(w, "Note: %s.\n", note)
		}
	}
	if s.apart == s.rows {
		fmt.Fprintf(w, "%s: no row has a class of the training rows, so there is no error to tell\n", source)
		return
	}
	counted := s.rows - s.apart
	fmt.Fprintf(w, "%s: %d of %s wrong: an error of %.2f %% with k = %d\n", source, s.wrong, plural.Of(counted, "row"), 100*float64(s.wrong)/float64(counted), s.k)
}

// cutK cuts the default of --k to n of what there is.
func (a *app) cutK(c *cobra.Command, f *nearFlags, n int, what string) {
	if !c.Flags().Changed("k") && f.k > n && n > 0 {
		a.note("--k", []string{fmt.Sprintf("%d in place of %d: there are no more %s", n, f.k, what)})
		f.k = n
	}
}

// nearGram looks for the neighbours of objects known by their similarities.
func (a *app) nearGram(c *cobra.Command, f *nearFlags, s *search) error {
	ctx := c.Context()
	s.source, s.columns = f.cross, []string{"row", "rank", "training_row", "distance"}
	near, err := atOnce(ctx, func() (*model.Block, error) {
		g, err := loadGram(f.model)
		if err != nil {
			return nil, err
		}
		var labels []string
		if f.labels != "" {
			if labels, err = readTold(ctx, a, f.labels, func(r io.Reader) ([]string, error) { return tables.ReadLabels(r, f.labels, g.Objects()) }); err != nil {
				return nil, err
			}
		}
		cross, err := a.readCross(ctx, f.cross, g)
		if err != nil {
			return nil, err
		}
		a.cutK(c, f, g.Objects(), "objects of the fit")
		switch {
		case f.probabilities:
			s.of, err = g.Probabilities(ctx, labels, f.k)
		case s.elect:
			s.of, err = g.Classifier(labels, f.k)
		default:
			s.of, err = g.Neighbourhood(labels, f.k)
		}
		if err != nil {
			return nil, tableError(err)
		}
		near, err := s.of.Objects(ctx, cross)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.cross, err)
		}
		return near, nil
	})
	s.blocks = single(near)
	return err
}

// single yields a value.
func single[T any](v T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) { yield(v, nil) }
}

// readCross reads kernel values with the objects of a model.
func (a *app) readCross(ctx context.Context, path string, g *model.Gram) (*mat.Dense, error) {
	return readTold(ctx, a, path, func(r io.Reader) (*mat.Dense, error) { return tables.ReadCross(r, path, g.Objects()) })
}

// nearObjects looks for the neighbours of objects that were compared.
func (a *app) nearObjects(c *cobra.Command, f *nearFlags, s *search) error {
	m, err := loadTriplets(f.model)
	if err != nil {
		return err
	}
	a.cutK(c, f, m.Objects()-1, "other objects")
	found, err := atOnce(c.Context(), func() ([][]nearest.Neighbour, error) { return m.Neighbours(c.Context(), f.k) })
	if err != nil {
		return tableError(err)
	}
	names := m.Names()
	s.source, s.columns = f.model, []string{"object", "rank", "neighbour", "distance"}
	s.asked = func(i int) any { return names[i] }
	s.known = s.asked
	s.blocks = single(&model.Block{Found: found})
	return nil
}
