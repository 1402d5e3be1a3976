package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/model"
)

// transformRows is transform on a table.
func (a *app) transformRows(c *cobra.Command, f *transformFlags, path string) error {
	ctx := c.Context()
	rows, err := formatOf(c, f.format, path)
	if err != nil {
		return err
	}
	m, err := loadModel(f.model)
	if err != nil {
		return err
	}
	if f.subspace {
		if m, err = m.Within(); err != nil {
			return fmt.Errorf("flag --subspace: %w", err)
		}
	}
	about := a.aboutRows(path)
	if err := a.agree(ctx, "coordinates of about "+plural.Of(about, "row"), m.CostOfEmbed(about).Seconds); err != nil {
		return err
	}
	table, err := atOnce(ctx, func() (*tableFile, error) { return a.openTable(path) }) // a named pipe waits for a writer
	if err != nil {
		return err
	}
	defer table.Close()
	p := &pass{app: a, ctx: ctx, table: table, path: tableName(path), rows: rows, model: m, about: about}
	// What goes to standard output cannot be taken back: a table that can be read twice is checked before.
	through := f.out.stdout() && table.size > 0
	if through {
		start, err := table.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		if err := p.blocks(false, func(*model.Block) error { return nil }); err != nil {
			return err
		}
		if _, err := table.Seek(start, io.SeekStart); err != nil {
			return err
		}
	}
	files, err := a.openEmbedded(ctx, f.out, embedding{label: m.Layout().LabelName(), subspace: f.subspace, records: records{guard: f.guard}})
	if err != nil {
		return err
	}
	defer files.abort()
	if through {
		files.text.through = true
	}
	if err := p.blocks(f.out.stdout() && a.showsData(), files.write); err != nil { // a bar and rows would mix on a terminal
		return err
	}
	return files.commit(a.noted)
}

// pass reads a table once or twice.
type pass struct {
	app   *app
	ctx   context.Context
	table *tableFile
	path  string
	rows  tableFormat
	model *model.Model
	about int // rows

	told    bool // which columns are left out, and how cells are written
	counted bool // words without a feature were told of
}

// blocks calls do with each block of the embedded table. A pass has a meter of its own, unless it is silent.
func (p *pass) blocks(silent bool, do func(*model.Block) error) error {
	progress, done := model.Progress(func(int, int) {}), func() {}
	p.table.tell, p.table.rest = nil, false
	if !silent {
		progress, done = p.app.meterOfRows(p.ctx, p.table, p.about)
	}
	defer done()
	sequence := p.model.Reading(p.rows.cells).EmbedCSV(p.table, p.path)
	switch {
	case p.rows.sparse:
		sequence = p.model.EmbedSVMLight(p.table, p.path, p.rows.base)
	case p.rows.array:
		sequence = p.model.EmbedNPY(p.table, p.path, p.rows.readLabels())
	}
	rows := 0
	var notes []string
	err := eachOf(p.ctx, sequence, func(b *model.Block) error {
		if !p.told {
			p.app.leftOut(p.path, p.model.Layout(), b.Unused)
			p.app.tellDialect(p.path, b.Dialect)
			p.told = true
		}
		notes = b.Notes
		if err := do(b); err != nil {
			return err
		}
		n, _ := b.Z.Dims()
		rows += n
		progress(rows, b.Total)
		return nil
	})
	if err == nil && !p.counted {
		p.app.note(p.path, notes)
		p.counted = true
	}
	return p.rows.forModel(err)
}

func addModel(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "model", "", "file that metriclab fit has written")
	completeFlag(c, "model", completeJSON)
	c.ValidArgsFunction = completeTables
}

func completeJSON(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt
}
