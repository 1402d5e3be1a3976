package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/internal/closest"
	"metriclab/pkg/datasets"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
)

// The values of --format.
const (
	formatAuto     = "auto"
	formatCSV      = "csv"
	formatSVMLight = "svmlight"
	formatFromZero = "svmlight-0"
	formatArray    = "npy"
)

var formats = []string{formatAuto, formatCSV, formatSVMLight, formatFromZero, formatArray}

// addFormat adds the flag --format.
func addFormat(c *cobra.Command, format *string) {
	c.Flags().StringVar(format, "format", formatAuto, "what the table is: csv, svmlight, svmlight-0 (features count from 0), npy, or auto (by the end of its name)")
	completeFlag(c, "format", completeWords(formats...))
	c.Flags().String("separator", "auto", "what stands between cells: comma, semicolon, tab, or auto (by the first rows)")
	completeFlag(c, "separator", completeWords("auto", "comma", "semicolon", "tab"))
	c.Flags().Bool("decimal-comma", false, "whether 1,5 is 1.5 (default: by the first rows)")
	c.Flags().StringSlice("missing", datasets.MissingCells[1:], "what a missing cell holds, beside nothing, separated by commas")
}

// addArrayLabels adds the flag --labels to a command that has no other use for it.
func addArrayLabels(c *cobra.Command) {
	c.Flags().String("labels", "", "CSV or .npy file with the class of each row of a .npy table")
}

// tableFormat says how the rows of a table are written.
type tableFormat struct {
	sparse bool // rows of svmlight
	base   datasets.IndexBase
	cells  tables.Cells // of CSV
	array  bool         // .npy
	labels string       // the file of the classes of an array; "" for none
}

// cellsOf reads the flags about the cells of CSV.
func cellsOf(c *cobra.Command) (out tables.Cells, err error) {
	changed := c.Flags().Changed
	if name := c.Flags().Lookup("separator").Value.String(); name != "auto" {
		if out.Separator, err = datasets.ParseSeparator(name); err != nil {
			return out, usageError{fmt.Errorf("flag --separator: %w", err)}
		}
	}
	if changed("decimal-comma") {
		out.Decimal = datasets.DecimalPoint
		if comma, err := c.Flags().GetBool("decimal-comma"); err == nil && comma {
			out.Decimal = datasets.DecimalComma
		}
	}
	if out.Decimal == datasets.DecimalComma && out.Separator == ',' {
		return out, usageError{errors.New("flag --decimal-comma: needs another --separator than the comma")}
	}
	if changed("missing") {
		words, err := c.Flags().GetStringSlice("missing")
		if err != nil {
			return out, usageError{err}
		}
		out.Missing = []string{}
		for _, w := range words {
			w = strings.TrimSpace(w)
			out.Missing = append(out.Missing, w)
		}
	}
	return out, nil
}

// formatOf returns the format of a table, from the flag --format, and the file of its classes.
func formatOf(c *cobra.Command, flag, table string) (tableFormat, error) {
	t, err := formOf(c, flag, table)
	if err != nil {
		return tableFormat{}, err
	}
	if f := c.Flags().Lookup("labels"); f != nil {
		t.labels = f.Value.String()
	}
	if c.Flags().Changed("labels") && !t.array {
		return tableFormat{}, usageError{errors.New("flag --labels: only together with --gram, or for a .npy table")}
	}
	return t, nil
}

// formOf is formatOf without the file of classes.
func formOf(c *cobra.Command, flag, table string) (tableFormat, error) {
	if !slices.Contains(formats, flag) {
		return tableFormat{}, usageError{fmt.Errorf("flag --format: %q is not allowed, want one of %s%s", flag, strings.Join(formats, ", "), closest.Hint(flag, formats))}
	}
	end := strings.ToLower(filepath.Ext(strings.TrimSuffix(strings.ToLower(table), ".gz")))
	ends := slices.Contains([]string{".svm", ".svmlight", ".libsvm"}, end)
	t := tableFormat{array: flag == formatArray || flag == formatAuto && end == ".npy", sparse: flag == formatSVMLight || flag == formatFromZero || flag == formatAuto && ends}
	if flag == formatFromZero {
		t.base = datasets.IndexBaseZero
	}
	var err error
	if t.cells, err = cellsOf(c); err != nil {
		return tableFormat{}, err
	}
	for _, name := range []string{"separator", "decimal-comma", "missing"} {
		if c.Flags().Changed(name) && (t.sparse || t.array) {
			return tableFormat{}, usageError{fmt.Errorf("flag --%s: only for CSV", name)}
		}
	}
	return t, nil
}

// checkFlags returns an error if a flag about columns is given for sparse rows, which have none to choose from.
func (t tableFormat) checkFlags(c *cobra.Command) error {
	for _, name := range []string{"label", "header", "no-header", "drop", "keep", "one-hot", "impute", "chunklets"} {
		if t.array && c.Flags().Changed(name) {
			return usageError{fmt.Errorf("flag --%s: a .npy table has features alone, without names, and no missing cells; --labels gives its classes", name)}
		}
		if t.sparse && c.Flags().Changed(name) {
			return usageError{fmt.Errorf("flag --%s: rows of svmlight begin with their class, and have no other columns than features, and no missing cells", name)}
		}
	}
	return nil
}

// read reads a table to learn from.
func (t tableFormat) read(r io.Reader, path string, columns tables.Columns, impute bool) (*tables.Data, error) {
	if t.sparse {
		d, err := tables.ReadSVMLight(r, path, t.base)
		return d, t.explained(err)
	}
	if t.array {
		return tables.ReadNPY(r, path, t.readLabels())
	}
	return tables.Read(r, path, columns, impute)
}

// readFor reads a table with the columns of a model.
func (t tableFormat) readFor(r io.Reader, path string, m *model.Model) (*tables.Data, error) {
	if t.sparse {
		d, err := m.ReadSVMLight(r, path, t.base)
		return d, t.explained(err)
	}
	if t.array {
		return m.ReadNPY(r, path, t.readLabels())
	}
	return m.Reading(t.cells).Read(r, path)
}

// readLabels returns what reads the classes of an array; nil if there are none.
func (t tableFormat) readLabels() func(n int) ([]string, error) {
	if t.labels == "" {
		return nil
	}
	return func(n int) ([]string, error) {
		f, err := os.Open(t.labels)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return tables.ReadClasses(f, t.labels, n)
	}
}

// explained tells of the flag that reads features which count from 0.
func (t tableFormat) explained(err error) error {
	if e, ok := errors.AsType[*datasets.LineError](err); ok && t.base == datasets.IndexBaseOne && e.Field == "index" && strings.HasSuffix(e.Want, "counts from 0") {
		return fmt.Errorf("%w: --format %s", err, formatFromZero)
	}
	return err
}

// forModel is an error of rows that were read for a model, with what to do.
func (t tableFormat) forModel(err error) error { return tableError(ofModel(t.explained(err))) }
