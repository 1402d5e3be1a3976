package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/feedback"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
)

// oneTable takes one argument, the file of a table.
func oneTable(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("%s takes one table, got %q", c.CommandPath(), args)}
	}
	return nil
}

// tableOr takes a table as oneTable does, or no argument with one of the flags.
func tableOr(flags ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		for _, flag := range flags {
			if !c.Flags().Changed(flag) {
				continue
			}
			if len(args) > 0 {
				return usageError{fmt.Errorf("%s takes no table with --%s, got %q", c.CommandPath(), flag, args)}
			}
			return nil
		}
		return oneTable(c, args)
	}
}

// readTable opens a file for read, tells how far it was read, and names the data after it.
func (a *app) readTable(ctx context.Context, path string, read func(io.Reader) (*tables.Data, error)) (*tables.Data, error) {
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
	if _, ok := errors.AsType[*tables.OptionError](err); ok {
		return usageError{err}
	}
	if _, ok := errors.AsType[*tables.RowNumbersError](err); ok {
		return usageError{err}
	}
	return err
}

// readLabelled reads a table to learn from.
func (a *app) readLabelled(ctx context.Context, path string, rows tableFormat, columns tables.Columns, impute bool) (*tables.Data, error) {
	d, err := a.readTable(ctx, path, func(r io.Reader) (*tables.Data, error) { return rows.read(r, tableName(path), columns, impute) })
	_, unlabelled := errors.AsType[*tables.NoLabelError](err)
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

// tellTable tells what was read, before long work begins on it, where somebody looks.
func (a *app) tellTable(d *tables.Data) {
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
	if _, unlabelled := errors.AsType[*tables.NoLabelError](err); !unlabelled && errors.Is(err, datasets.ErrMissingCell) {
		return fmt.Errorf("%w; the model was fitted without --impute mean", err)
	}
	if errors.Is(err, datasets.ErrNumericHeader) {
		return fmt.Errorf("%w; the model finds its columns by the names of a header", err)
	}
	return err
}

// readForModel reads a table with the columns of a model.
func (a *app) readForModel(ctx context.Context, path string, rows tableFormat, m *model.Model) (*tables.Data, error) {
	d, err := a.readTable(ctx, path, func(r io.Reader) (*tables.Data, error) { return rows.readFor(r, tableName(path), m) })
	if err != nil {
		return nil, ofModel(err)
	}
	a.leftOut(tableName(path), m.Layout(), d.Unused)
	a.tellTable(d)
	return d, nil
}

// leftOut tells of columns that are not used, if there are any, and of one that may be that of the class of the model.
func (a *app) leftOut(path string, l tables.Layout, unused []string) {
	if len(unused) == 0 {
		return
	}
	a.note(path, []string{"left out, since the model does not know them: " + few(unused)})
	for _, name := range unused {
		if l.Header && l.Label != "" && closest.Fold(name) == closest.Fold(l.Label) {
			fmt.Fprintf(a.err, "Note: %s: no class was read: the model has it in column %q. If that is %q here, rename it.\n", path, l.Label, name)
		}
	}
}

// readTold opens a file for read and tells how far it was read.
func readTold[T any](ctx context.Context, a *app, path string, read func(io.Reader) (T, error)) (T, error) {
	f, err := a.openTable(path)
	if err != nil {
		return *new(T), err
	}
	defer f.Close()
	var done func()
	f.tell, done = a.meter(ctx, work{unit: "MB"})
	defer done()
	return read(f)
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
