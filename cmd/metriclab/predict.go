package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/model"
)

// nearFlags are those of predict and neighbours.
type nearFlags struct {
	model, train, out, format string
	cross, labels, id         string
	k                         int
	guard                     bool
}

func (f *nearFlags) add(c *cobra.Command) {
	addModel(c, &f.model)
	addFormat(c, &f.format)
	c.Flags().StringVar(&f.train, "train", "", "table of the training rows")
	c.Flags().StringVar(&f.out, "out", "", "CSV file for the answer; - or none is standard output")
	c.Flags().IntVar(&f.k, "k", 5, "number of neighbours, at most that of the training rows, to which the default is cut")
	c.Flags().StringVar(&f.cross, "cross-gram", "", "CSV or .npy file of kernel values, a row per new object and a column per object of fit --gram, in place of tables")
	c.Flags().StringVar(&f.labels, "labels", "", "file of the classes of the objects of fit --gram, with --cross-gram, or of the rows of a .npy table of --train")
	c.Flags().BoolVar(&f.guard, "guard-formulas", false, "write ' before a class or an id that a spreadsheet would run as a formula")
}

// check returns an error if flags do not go together.
func (f *nearFlags) check(c *cobra.Command) error {
	changed := c.Flags().Changed
	if f.k < 1 {
		return usageError{fmt.Errorf("flag --k: %d is not allowed, want at least 1", f.k)}
	}
	if !changed("cross-gram") {
		if f.train == "" {
			return usageError{errors.New("flag --train: no file given, want the table that the model was fitted on")}
		}
		return nil
	}
	for _, name := range []string{"train", "format", "id"} {
		if changed(name) {
			return usageError{fmt.Errorf("flag --%s: not together with --cross-gram: it is for tables", name)}
		}
	}
	if f.cross == "" {
		return usageError{errors.New("flag --cross-gram: no file given")}
	}
	if changed("labels") && f.labels == "" {
		return usageError{errors.New("flag --labels: no file given")}
	}
	return nil
}

func (a *app) predictCommand() *cobra.Command {
	var f nearFlags
	c := &cobra.Command{
		Use:   "predict {NEW.csv --train TABLE.csv | --cross-gram K1.csv --labels L.csv} --model MODEL.json [--k 5] [--out CLASSES.csv]",
		Short: "Predict the class of new rows from their nearest training rows under a fitted model",
		Long: `Predict the class of each new row by the vote of its k nearest training rows under
the learned metric. The answer is CSV: the row, the class, its share of the k votes,
and the distance of the nearest training row. Of classes with as many votes, that of
the nearest row wins, as in metriclab evaluate. If the new table has the column of
the class, the share of wrong rows is told at the end, on standard error. Classes that
are numbers compare as numbers: 1.0 is 1. A row of a class that no training row has is
counted apart.

` + aboutNearest,
		Example: "  metriclab fit old.csv --label class --learner lmnn --out m.json\n  metriclab predict new.csv --model m.json --train old.csv --k 3 --out classes.csv",
		Args:    tableOr("cross-gram"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.near(c, args, &f, &answers{head: []string{"row", "class", "share", "distance"}, classes: true})
		},
	}
	f.add(c)
	return c
}

func (a *app) neighboursCommand() *cobra.Command {
	var f nearFlags
	var v vectorFlags
	var q vectorQueries
	c := &cobra.Command{
		Use:   "neighbours {NEW.csv --train TABLE.csv [--id COLUMN] | --cross-gram K1.csv [--labels L.csv] | --vectors X.npy {--queries Q.npy | --rows 0,7}} --model MODEL.json [--k 5] [--out NEAR.csv]",
		Short: "List the nearest training rows of new rows, or the nearest vectors, under a fitted model",
		Long: `List the k nearest training rows of each new row under the learned metric. The
answer is CSV, k lines per new row, the nearest first: the new row, the rank from 1
to k, the training row, its cell in the column of --id if that is given, their
distance, and the class of the training row if it has one.

` + aboutNearest + "\n\n" + aboutNearVectors,
		Example: "  metriclab neighbours new.csv --model m.json --train old.csv --k 5 --id name",
		Args:    tableOr("cross-gram", "vectors"),
		RunE: func(c *cobra.Command, args []string) error {
			if given, err := v.given(c, "train", "format", "id", "cross-gram", "labels", "separator", "decimal-comma", "missing"); err != nil || given {
				if err != nil {
					return err
				}
				return a.nearVectors(c, &f, &v, &q)
			}
			for _, name := range []string{"queries", "rows"} {
				if c.Flags().Changed(name) {
					return usageError{fmt.Errorf("flag --%s: only together with --vectors", name)}
				}
			}
			return a.near(c, args, &f, &answers{})
		},
	}
	f.add(c)
	v.add(c)
	q.add(c)
	c.Flags().StringVar(&f.id, "id", "", "column of the table of --train that names its rows, by name or number")
	return c
}

// near answers for each new row.
func (a *app) near(c *cobra.Command, args []string, f *nearFlags, o *answers) (err error) {
	if err := f.check(c); err != nil {
		return err
	}
	ctx := c.Context()
	reads := append([]string{f.model, f.train, f.cross, f.labels}, args...)
	if err := outPaths(c, reads, outFile{flag: "out", path: &f.out, stdout: true}); err != nil {
		return err
	}
	var sequence iter.Seq2[*model.Near, error]
	source := f.cross
	explain := func(err error) error { return err }
	progress, done := func(int, int) {}, func() {}
	defer func() { done() }()
	if f.cross != "" {
		sequence, err = a.nearObjects(ctx, f, o)
	} else {
		source = args[0]
		var rows tableFormat
		if rows, err = formOf(c, f.format, source); err != nil {
			return err
		}
		var m *model.Model
		if m, err = loadModel(f.model); err != nil {
			return err
		}
		m = m.Reading(rows.cells)
		if err = a.trainNear(c, f, m, o); err != nil {
			return err
		}
		var t *tableFile
		if t, err = atOnce(ctx, func() (*tableFile, error) { return a.openTable(source) }); err != nil {
			return err
		}
		defer t.Close()
		progress, done = a.meter(ctx, work{noun: "row"})
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		switch {
		case rows.sparse:
			sequence = o.of.SVMLight(inner, t, source, rows.base)
		case rows.array:
			sequence = o.of.NPY(inner, t, source)
		default:
			sequence = o.of.CSV(inner, t, source)
		}
		explain = rows.forModel
	}
	if err != nil {
		return err
	}
	for _, n := range o.of.Notes() {
		fmt.Fprintf(a.err, "Note: %s.\n", n)
	}
	o.guard = f.guard
	if err := a.writeNear(ctx, sequence, f.out, source, o, progress); err != nil {
		return explain(err)
	}
	if o.labelled && o.classes {
		o.tellError(a.err, tableName(source), f.k)
	}
	return nil
}

// cutK cuts the default of --k to n of what there is.
func (a *app) cutK(c *cobra.Command, f *nearFlags, n int, what string) {
	if !c.Flags().Changed("k") && f.k > n && n > 0 {
		a.note("--k", []string{fmt.Sprintf("%d in place of %d: there are no more %s", n, f.k, what)})
		f.k = n
	}
}

// trainNear reads the training rows.
func (a *app) trainNear(c *cobra.Command, f *nearFlags, m *model.Model, o *answers) error {
	ctx := c.Context()
	rows, err := formOf(c, f.format, f.train)
	if err != nil {
		return err
	}
	if c.Flags().Changed("labels") {
		if !rows.array {
			return usageError{errors.New("flag --labels: only together with --cross-gram or a .npy table of --train: other tables have the classes")}
		}
		rows.labels = f.labels
	}
	if f.id != "" && rows.array {
		return usageError{errors.New("flag --id: an array has no columns but features")}
	}
	if f.id != "" && rows.sparse {
		return usageError{errors.New("flag --id: rows of svmlight have no columns but features")}
	}
	o.layout = m.Layout()
	d, err := a.readForModel(ctx, f.train, rows, m)
	if err != nil {
		return err
	}
	if o.classes && d.Labels == nil && rows.array {
		return usageError{errors.New("flag --labels: no file given, want the class of each row of the array of --train")}
	}
	if o.classes && d.Labels == nil {
		if label := m.Layout().Label; label != "" {
			return fmt.Errorf("%s: %w: column %s is not there or empty", f.train, model.ErrUnlabelled, label)
		}
		return fmt.Errorf("%s: %w: the model was fitted without --label, which beside --pairs FILE or --chunklets names the classes and is no feature", f.train, model.ErrUnlabelled)
	}
	if f.id != "" {
		n, _ := d.Dims()
		if o.ids, err = atOnce(ctx, func() ([]string, error) { return a.readIDs(f.train, f.id, m.Layout().Header, rows.cells, n) }); err != nil {
			return err
		}
		o.id = f.id
	}
	n, _ := d.Dims()
	a.cutK(c, f, n, "training rows")
	among := m.Neighbourhood
	if o.classes {
		among = m.Classifier
	}
	o.of, err = atOnce(ctx, func() (*model.Neighbourhood, error) { return among(d, f.k) })
	return tableError(err)
}

// readIDs reads the column that names the n rows of a table, which has been read before.
func (a *app) readIDs(path, column string, header bool, cells model.Cells, n int) ([]string, error) {
	t, err := a.openTable(path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if !t.twice {
		return nil, usageError{fmt.Errorf("flag --id: %s is no regular file and cannot be read twice", path)}
	}
	ids, err := model.ReadColumn(t, path, column, header, cells)
	if err != nil {
		return nil, tableError(err)
	}
	if len(ids) != n {
		return nil, fmt.Errorf("%s: %s in place of %d: the file has changed", path, plural.Of(len(ids), "row"), n)
	}
	return ids, nil
}

// nearObjects answers for objects known by their similarities.
func (a *app) nearObjects(ctx context.Context, f *nearFlags, o *answers) (iter.Seq2[*model.Near, error], error) {
	near, err := atOnce(ctx, func() (*model.Near, error) {
		g, err := loadGram(f.model)
		if err != nil {
			return nil, err
		}
		var labels []string
		if f.labels != "" {
			if labels, err = readTold(ctx, a, f.labels, func(r io.Reader) ([]string, error) { return model.ReadLabels(r, f.labels, g.Objects()) }); err != nil {
				return nil, err
			}
		} else if o.classes {
			return nil, usageError{errors.New("flag --labels: no file given, want the classes of the objects of fit --gram")}
		}
		cross, err := readTold(ctx, a, f.cross, func(r io.Reader) (*mat.Dense, error) { return model.ReadCross(r, f.cross, g.Objects()) })
		if err != nil {
			return nil, err
		}
		among := g.Neighbourhood
		if o.classes {
			among = g.Classifier
		}
		if o.of, err = among(labels, f.k); err != nil {
			return nil, tableError(err)
		}
		near, err := o.of.Objects(ctx, cross)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.cross, err)
		}
		return near, nil
	})
	return func(yield func(*model.Near, error) bool) { yield(near, nil) }, err
}
