package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/pkg/datasets"
	"metriclab/pkg/model"
)

// aboutSVMLight says how the commands on a user's table read sparse rows.
const aboutSVMLight = `A file that ends in .svm, .svmlight or .libsvm, or is read with --format svmlight,
has sparse rows: "class index:value index:value ...", a row per sample, indices
ascending from 1 (from 0 with --format svmlight-0), # before a comment. The class
is a number; features have their numbers as names. An entry takes 16 bytes. With
--no-standardise, iplr takes such rows as they are; for other learners, or to
standardise features, the table is made dense if --max-memory allows.`

// The values of --format.
const (
	formatAuto     = "auto"
	formatCSV      = "csv"
	formatSVMLight = "svmlight"
	formatFromZero = "svmlight-0"
)

var formats = []string{formatAuto, formatCSV, formatSVMLight, formatFromZero}

// addFormat adds the flag --format.
func addFormat(c *cobra.Command, format *string) {
	c.Flags().StringVar(format, "format", formatAuto, "what the table is: csv, svmlight, svmlight-0 (features count from 0), or auto (by the end of its name)")
	completeFlag(c, "format", completeWords(formats...))
}

// tableFormat says how the rows of a table are written.
type tableFormat struct {
	sparse bool // rows of svmlight
	base   datasets.IndexBase
}

// formatOf returns the format of a table, from the flag --format.
func formatOf(flag, table string) (tableFormat, error) {
	if !slices.Contains(formats, flag) {
		return tableFormat{}, usageError{fmt.Errorf("flag --format: %q is not allowed, want one of %s", flag, strings.Join(formats, ", "))}
	}
	ends := slices.Contains([]string{".svm", ".svmlight", ".libsvm"}, strings.ToLower(filepath.Ext(table)))
	t := tableFormat{sparse: flag == formatSVMLight || flag == formatFromZero || flag == formatAuto && ends}
	if flag == formatFromZero {
		t.base = datasets.IndexBaseZero
	}
	return t, nil
}

// checkFlags returns an error if a flag about columns is given for sparse rows, which have none to choose from.
func (t tableFormat) checkFlags(c *cobra.Command) error {
	for _, name := range []string{"label", "header", "drop", "impute", "chunklets"} {
		if t.sparse && c.Flags().Changed(name) {
			return usageError{fmt.Errorf("flag --%s: rows of svmlight begin with their class, and have no other columns than features, and no missing cells", name)}
		}
	}
	return nil
}

// read reads a table to learn from.
func (t tableFormat) read(r io.Reader, path string, columns model.Columns, impute bool) (*model.Data, error) {
	if t.sparse {
		d, err := model.ReadSVMLight(r, path, t.base)
		return d, t.explained(err)
	}
	return model.Read(r, path, columns, impute)
}

// readFor reads a table with the columns of a model.
func (t tableFormat) readFor(r io.Reader, path string, m *model.Model) (*model.Data, error) {
	if t.sparse {
		d, err := m.ReadSVMLight(r, path, t.base)
		return d, t.explained(err)
	}
	return m.Read(r, path)
}

// explained tells of the flag that reads features which count from 0.
func (t tableFormat) explained(err error) error {
	if e, ok := errors.AsType[*datasets.LineError](err); ok && t.base == datasets.IndexBaseOne && e.Field == "index" && strings.HasSuffix(e.Want, "counts from 0") {
		return fmt.Errorf("%w: --format %s", err, formatFromZero)
	}
	return err
}

// forModel is an error of rows that were read for a model, with what to do.
func (t tableFormat) forModel(err error) error {
	if errors.Is(err, datasets.ErrMissingCell) {
		return fmt.Errorf("%w; the model was fitted without --impute mean", err)
	}
	return tableError(t.explained(err))
}
