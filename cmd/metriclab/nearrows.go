package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
)

// verb says what is done, in an estimate.
func (s *search) verb() string {
	if s.elect {
		return "classes"
	}
	return "neighbours"
}

// nearRows looks for the neighbours of the rows of a table.
func (a *app) nearRows(c *cobra.Command, ctx context.Context, f *nearFlags, s *search, path string) error {
	rows, err := formOf(c, f.format, path)
	if err != nil {
		return err
	}
	train, err := formOf(c, f.format, f.train)
	if err != nil {
		return err
	}
	switch {
	case c.Flags().Changed("labels") && !train.array:
		return usageError{errors.New("flag --labels: only together with --cross-gram or a .npy table of --train: other tables have the classes")}
	case f.id != "" && train.array:
		return usageError{errors.New("flag --id: an array has no columns but features")}
	case f.id != "" && train.sparse:
		return usageError{errors.New("flag --id: rows of svmlight have no columns but features")}
	}
	train.labels = f.labels
	m, err := loadModel(f.model)
	if err != nil {
		return err
	}
	t, err := atOnce(ctx, func() (*tableFile, error) { return a.openTable(path) })
	if err != nil {
		return err
	}
	s.close = func() { t.Close() }
	asked := a.aboutRows(path)
	if n := a.aboutRows(f.train); n > 0 && asked > 0 {
		if err := a.agree(ctx, fmt.Sprintf("%s of about %s among about %d", s.verb(), plural.Of(asked, "row"), n), m.CostOfNear(asked, n).Seconds); err != nil {
			return err
		}
	}
	m = m.Reading(rows.cells)
	s.source, s.layout, s.explain = path, m.Layout(), rows.forModel
	if err := a.trainRows(c, f, s, m, train); err != nil {
		return err
	}
	s.columns = []string{"row", "rank", "training_row"}
	if s.ids != nil {
		s.columns = append(s.columns, f.id)
	}
	s.columns = append(s.columns, "distance")
	switch {
	case rows.sparse:
		s.blocks = s.of.SVMLight(ctx, t, path, rows.base)
	case rows.array:
		s.blocks = s.of.NPY(ctx, t, path)
	default:
		s.blocks = s.of.CSV(ctx, t, path)
	}
	s.meter = func(ctx context.Context) (model.Progress, func()) { return a.meterOfRows(ctx, t, asked) }
	return nil
}

// trainRows reads the training rows.
func (a *app) trainRows(c *cobra.Command, f *nearFlags, s *search, m *model.Model, rows tableFormat) error {
	ctx := c.Context()
	d, err := a.readForModel(ctx, f.train, rows, m)
	if err != nil {
		return err
	}
	switch label := m.Layout().Label; {
	case !s.elect || d.Labels != nil:
	case rows.array:
		return usageError{errors.New("flag --labels: no file given, want the class of each row of the array of --train")}
	case label != "":
		return fmt.Errorf("%s: %w: column %s is not there or empty", f.train, model.ErrUnlabelled, label)
	default:
		return fmt.Errorf("%s: %w: the model was fitted without --label, which beside --pairs FILE or --chunklets names the classes and is no feature", f.train, model.ErrUnlabelled)
	}
	n, _ := d.Dims()
	if f.id != "" {
		if s.ids, err = atOnce(ctx, func() ([]string, error) { return a.readIDs(f.train, f.id, m.Layout().Header, rows.cells, n) }); err != nil {
			return err
		}
	}
	a.cutK(c, f, n, "training rows")
	what := "arranging the rows of " + tableName(f.train)
	among := m.Neighbourhood
	switch {
	case f.probabilities:
		what = "learning probabilities from rows of " + tableName(f.train) + " that are held out"
		if err := a.agree(ctx, what, m.CostOfProbabilities(d).Seconds); err != nil {
			return err
		}
		among = func(d *tables.Data, k int) (*model.Neighbourhood, error) { return m.Probabilities(ctx, d, k) }
	case s.elect:
		among = m.Classifier
	}
	arranged := a.waiting(ctx, what)
	s.of, err = atOnce(ctx, func() (*model.Neighbourhood, error) { return among(d, f.k) })
	arranged()
	return tableError(err)
}

// readIDs reads the column that names the n rows of a table, which has been read before.
func (a *app) readIDs(path, column string, header bool, cells tables.Cells, n int) ([]string, error) {
	t, err := a.openTable(path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if !t.twice {
		return nil, usageError{fmt.Errorf("flag --id: %s is no regular file and cannot be read twice", path)}
	}
	ids, err := tables.ReadColumn(t, path, column, header, cells)
	if err != nil {
		return nil, tableError(err)
	}
	if len(ids) != n {
		return nil, fmt.Errorf("%s: %s in place of %d: the file has changed", path, plural.Of(len(ids), "row"), n)
	}
	return ids, nil
}
