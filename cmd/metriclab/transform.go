package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
)

func (a *app) transformCommand() *cobra.Command {
	var path string
	var out embedOutputs
	var guard bool
	c := &cobra.Command{
		Use:   "transform DATA.csv --model MODEL.json [--out EMBEDDED.csv] [--npy EMBEDDED.npy]",
		Short: "Embed a table by a fitted model",
		Long: `Write the coordinates Lx of each row x of a table, prepared (missing cells filled,
features standardised) as the training rows were: Euclidean distances between the
rows written are the learned distances. The CSV has a header; the class comes
first if the table has it, then z1, z2, ... It goes to standard output if neither
--out nor --npy is given. The .npy file has the coordinates alone, one row per row.

With a header, columns are found by name, and others are left out with a note;
without one, the table has the columns of the training table, or the features
alone. The model of a kernel learner is refused: its metric is no linear map of
the features, so there is no L.

A spreadsheet program runs a cell that begins with = + - or @, a tab or a carriage
return as a formula, also when it opens a CSV file. A table from a stranger can hold
such classes. --guard-formulas writes ' before them, and before the name of the class
column: the cell is then text, and ' is part of the class for whoever reads the file
again. Classes that are numbers, such as -1, stay as they are, and so do coordinates.`,
		Args: oneTable,
		RunE: func(c *cobra.Command, args []string) error {
			if err := out.check(c, args[0], path); err != nil {
				return err
			}
			m, err := loadModel(path)
			if err != nil {
				return err
			}
			var z *mat.Dense
			text, err := atOnce(c.Context(), func() ([]byte, error) {
				d, err := a.readForModel(args[0], m)
				if err != nil {
					return nil, err
				}
				if z, err = m.Embed(d.X); err != nil {
					return nil, err
				}
				return embeddedCSV(z, d, m, guard)
			})
			if err != nil {
				return err
			}
			var array bytes.Buffer
			if err := metric.WriteNPY(&array, z); err != nil {
				return err
			}
			if err := c.Context().Err(); err != nil {
				return err
			}
			return a.writeEmbedded(out, text, array.Bytes())
		},
	}
	addModel(c, &path)
	c.Flags().StringVar(&out.csv, "out", "", "CSV file for the coordinates (default: standard output)")
	c.Flags().StringVar(&out.npy, "npy", "", "NumPy file for the coordinates")
	c.Flags().BoolVar(&guard, "guard-formulas", false, "write ' before a class that a spreadsheet would run as a formula")
	return c
}

// embedOutputs are the files of an embedded table; "" is one that is not wanted.
type embedOutputs struct{ csv, npy string }

// check completes the paths that the flags give. No file may be the table, the model or that of the other flag.
func (o *embedOutputs) check(c *cobra.Command, table, saved string) (err error) {
	for _, f := range []struct {
		name string
		path *string
	}{{"out", &o.csv}, {"npy", &o.npy}} {
		if !c.Flags().Changed(f.name) {
			continue
		}
		if *f.path, err = outPath(f.name, *f.path, table, saved); err != nil {
			return err
		}
	}
	if o.csv != "" && o.csv == o.npy {
		return usageError{errors.New("flags --out and --npy: one file for both")}
	}
	return nil
}

// writeEmbedded writes the files that are wanted, or the text to standard output if there are none.
func (a *app) writeEmbedded(o embedOutputs, text, array []byte) error {
	if o == (embedOutputs{}) {
		_, err := a.out.Write(text)
		return err
	}
	if o.csv != "" {
		if err := atomicfile.Write(o.csv, text); err != nil {
			return err
		}
	}
	if o.npy != "" {
		return atomicfile.Write(o.npy, array)
	}
	return nil
}

func addModel(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "model", "", "file that metriclab fit has written")
	completeFlag(c, "model", completeJSON)
	c.ValidArgsFunction = completeTables
}

func completeJSON(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt
}

// guarded returns a cell that no spreadsheet takes for a formula: with ' before one
// that would be, unless it is a number.
func guarded(cell string) string {
	const begins = "=+-@\t\r\n" + "\uff1d\uff0b\uff0d\uff20" // = + - @ of full width, too
	if first, _ := utf8.DecodeRuneInString(cell); cell == "" || !strings.ContainsRune(begins, first) {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil && !strings.ContainsFunc(cell, func(r rune) bool { return !strings.ContainsRune("+-.eE0123456789", r) }) {
		return cell // a decimal number
	}
	return "'" + cell
}

// embeddedCSV is the table of coordinates, each with as many digits as bring back
// every bit. With guard, no class is a formula.
func embeddedCSV(z *mat.Dense, d *model.Data, m *model.Model, guard bool) ([]byte, error) {
	class := func(cell string) string {
		if guard {
			return guarded(cell)
		}
		return cell
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	n, r := z.Dims()
	var row []string
	if d.Labels != nil {
		label := m.Layout().LabelName()
		if k, err := strconv.Atoi(strings.TrimPrefix(label, "z")); err == nil && label == "z"+strconv.Itoa(k) && k >= 1 && k <= r {
			label = "label" // a coordinate has this name
		}
		row = append(row, class(label))
	}
	for j := range r {
		row = append(row, "z"+strconv.Itoa(j+1))
	}
	if err := w.Write(row); err != nil {
		return nil, err
	}
	for i := range n {
		row = row[:0]
		if d.Labels != nil {
			row = append(row, class(d.Labels[i]))
		}
		for _, v := range z.RawRowView(i) {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
