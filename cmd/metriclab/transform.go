package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/model"
	"metriclab/pkg/vectors"
)

func (a *app) transformCommand() *cobra.Command {
	var path, format string
	var out embedOutputs
	var guard, subspace bool
	var g crossFlags
	var v vectorFlags
	c := &cobra.Command{
		Use:   "transform {DATA.csv | --vectors X.npy | --cross-gram K1.csv} --model MODEL.json [--out EMBEDDED.csv] [--npy EMBEDDED.npy]",
		Short: "Embed a table, or objects by their similarities, by a fitted model",
		Long: `Write the coordinates Lx of each row x of a table, prepared (missing cells filled,
features standardised) as the training rows were: Euclidean distances between the
rows written are the learned distances. The CSV has a header; the class comes
first if the table has it, then z1, z2, ... It goes to standard output if neither
--out nor --npy is given. The .npy file has the coordinates alone, one row per row.

With a header, columns are found by name, and others are left out with a note;
without one, the table has the columns of the training table, or the features
alone. The classes are left out if none is there; some alone are an error.

The coordinates of a kernel learner are G k(x) + c, from kernel values with the rows that
the model stores; c is 0 but for kernel-pca and kernel-fda, whose scores are about the mean. The model of kernel-itml is refused: its metric sees what lies
outside their span, too, so it has no coordinates.

The metric of iplr differs from the Euclidean one in a subspace of k dimensions alone.
With --subspace its model writes the k coordinates there, z1 to zk, and then a column
"outside": the length of the rest of the row, which is not among them. The squared
distance of two rows is that of their z and between the squares of the difference and
of the sum of the two lengths. Without --subspace there are as many coordinates as
features, and distances are exact.

The table may have any length: it is read in blocks, and memory does not grow with
it. Rows of svmlight (see metriclab help tables) are all read first. A file is written
under a temporary name and gets its own once every row is right: after an error or an
interrupt the old file, or none, is there. For standard output a table in a regular
file is read twice, first to check every row: a bad table writes nothing. A table from
a pipe is read once: after 4 MB of output rows go out as they come, and the exit code
tells of an error behind them.

A spreadsheet program runs a cell that begins with = + - or @, a tab or a carriage
return as a formula, also when it opens a CSV file. A table from a stranger can hold
such classes. --guard-formulas writes ' before them, and before the name of the class
column: the cell is then text, and ' is part of the class for whoever reads the file
again. Classes that are numbers, such as -1, stay as they are, and so do coordinates.

With the model of fit --gram, --cross-gram has a row per new object: its kernel values
with the n objects of the fit. What is written are coordinates z1, z2, ... whose inner
products are the learned kernel, K(x,z) = α k(x,z) + k(x)'S k(z), of the parts of the
objects in the span of these n. The matrix K0 of the fit as --cross-gram gives the n
objects themselves, with all learned kernel values and distances. Between a new object
and these, kernel values are exact, and squared distances lack one number that is the
same for all n, so that the order of neighbours is right. What lies outside the span is
lacking among new objects, if α is not 0; --self-gram, their own kernel matrix, brings
it: --kernel-out then has the whole learned kernel among the new objects.

With the model of fit --gram --labels and a learner that embeds rows of a table, such as
kernel-lmnn, kernel-pca or kernel-fda, what is written are the learner's coordinates,
and nothing is lacking; those of kernel-pca and kernel-fda are scores about the mean of
the n objects.

With the model of fit --vectors, --vectors takes a .npy file, a vector per row, and --npy
the one for their coordinates, float32 or float64 like these. It is read and written in
blocks: memory does not grow with it. --model may be a saved metric, or a learner of pairs
that metriclab learn has saved, too.

  metriclab transform --model m.json --vectors X.npy --npy Y.npy`,
		Args: tableOr("vectors", "cross-gram"),
		RunE: func(c *cobra.Command, args []string) error {
			if given, err := v.given(c, "ids", "out", "format", "subspace", "guard-formulas", "cross-gram", "self-gram", "kernel-out"); err != nil || given {
				if err != nil {
					return err
				}
				return a.transformVectors(c, path, out.npy, &v)
			}
			if cross, err := g.given(c); err != nil || cross {
				if err != nil {
					return err
				}
				return a.transformGram(c, path, out, &g)
			}
			rows, err := formatOf(c, format, args[0])
			if err != nil {
				return err
			}
			if err := out.check(c, []string{args[0], path}); err != nil {
				return err
			}
			m, err := loadModel(path)
			if err != nil {
				return err
			}
			if subspace {
				if m, err = m.Within(); err != nil {
					return fmt.Errorf("flag --subspace: %w", err)
				}
			}
			return a.transform(c.Context(), args[0], rows, m, out, guard, subspace)
		},
	}
	addModel(c, &path)
	addFormat(c, &format)
	addArrayLabels(c)
	g.add(c)
	addVectors(c, &v.vectors)
	c.Flags().StringVar(&out.csv, "out", "", "CSV file for the coordinates; - or none is standard output")
	c.Flags().StringVar(&out.npy, "npy", "", "NumPy file for the coordinates")
	c.Flags().BoolVar(&subspace, "subspace", false, "of iplr: write the coordinates in its subspace alone, and the length of what is outside")
	c.Flags().BoolVar(&guard, "guard-formulas", false, "write ' before a class that a spreadsheet would run as a formula")
	return c
}

// embedOutputs are the files of an embedded table; "" is one that is not wanted.
type embedOutputs struct{ csv, npy string }

// check completes the paths that the flags give, and of more flags. No file may be one that is read, or that of another flag.
func (o *embedOutputs) check(c *cobra.Command, reads []string, more ...outFile) error {
	if err := outPaths(c, reads, append([]outFile{{flag: "out", path: &o.csv, stdout: true}, {flag: "npy", path: &o.npy}}, more...)...); err != nil {
		return err
	}
	if c.Flags().Changed("out") && o.csv == "" && o.npy != "" {
		return usageError{errors.New("flag --out: - is not allowed with --npy; want one of them, or a file")}
	}
	return nil
}

// transform embeds a table.
func (a *app) transform(ctx context.Context, path string, rows tableFormat, m *model.Model, o embedOutputs, guard, subspace bool) error {
	table, err := atOnce(ctx, func() (*tableFile, error) { return a.openTable(path) }) // a named pipe waits for a writer
	if err != nil {
		return err
	}
	defer table.Close()
	e := &embedding{app: a, ctx: ctx, table: table, path: tableName(path), rows: rows, model: m, guard: guard, subspace: subspace}
	if o == (embedOutputs{}) {
		return e.toOutput()
	}
	return e.toFiles(o)
}

// embedding is the work of transform.
type embedding struct {
	app   *app
	ctx   context.Context
	table *tableFile
	path  string
	rows  tableFormat
	model *model.Model
	guard bool
	// The last coordinate is the length of what is outside.
	subspace bool

	text []byte // of a block
	told bool   // which columns are left out, and how cells are written
	// counted tells that words without a feature were told of.
	counted bool
}

// blocks calls do with each block of the embedded table. A pass over the table has a meter of its own, unless it is
// silent.
func (e *embedding) blocks(silent bool, do func(*model.Embedded) error) error {
	counted := work{noun: "row"}
	if e.table.size > 0 {
		counted = work{unit: "MB"}
	}
	progress, done := e.app.meter(e.ctx, counted)
	defer done()
	e.table.tell, e.table.rest = nil, false
	if !silent {
		e.table.tell = progress
	}
	sequence := e.model.Reading(e.rows.cells).EmbedCSV(e.table, e.path)
	switch {
	case e.rows.sparse:
		sequence = e.model.EmbedSVMLight(e.table, e.path, e.rows.base)
	case e.rows.array:
		sequence = e.model.EmbedNPY(e.table, e.path, e.rows.readLabels())
	}
	rows := 0
	var notes []string
	err := eachOf(e.ctx, sequence, func(b *model.Embedded) error {
		if !e.told {
			e.app.leftOut(e.path, e.model.Layout(), b.Unused)
			e.app.tellDialect(e.path, b.Dialect)
			e.told = true
		}
		notes = b.Notes
		if err := do(b); err != nil {
			return err
		}
		n, _ := b.Z.Dims()
		if rows += n; e.table.size == 0 && !silent {
			progress(rows, 0)
		}
		return nil
	})
	if err == nil && !e.counted {
		e.app.note(e.path, notes)
		e.counted = true
	}
	return e.rows.forModel(err)
}

// toFiles writes the files that are wanted.
func (e *embedding) toFiles(o embedOutputs) error {
	var text, array *atomicfile.File
	for _, f := range []struct {
		path string
		file **atomicfile.File
	}{{o.csv, &text}, {o.npy, &array}} {
		if f.path == "" {
			continue
		}
		file, err := atomicfile.Create(f.path)
		if err != nil {
			return err
		}
		defer file.Abort() // does nothing after Commit
		*f.file = file
	}
	rows, width := 0, 0
	var numbers []byte
	if err := e.blocks(false, func(b *model.Embedded) error {
		if text != nil {
			if err := e.write(b, rows == 0); err != nil {
				return err
			}
			if _, err := text.Write(e.text); err != nil {
				return err
			}
		}
		var n int
		n, width = b.Z.Dims()
		if array != nil {
			numbers = numbers[:0]
			if rows == 0 {
				numbers = append(numbers, vectors.Header(0, width, false)...) // its place
			}
			for i := range n {
				for _, v := range b.Z.RawRowView(i) {
					numbers = binary.LittleEndian.AppendUint64(numbers, math.Float64bits(v))
				}
			}
			if _, err := array.Write(numbers); err != nil {
				return err
			}
		}
		rows += n
		return nil
	}); err != nil {
		return err
	}
	if array != nil {
		if _, err := array.WriteAt(vectors.Header(rows, width, false), 0); err != nil {
			return err
		}
	}
	return atomicfile.Commit(slices.DeleteFunc([]*atomicfile.File{text, array}, func(f *atomicfile.File) bool { return f == nil })...)
}

// held is how much of the output of a table that can be read only once waits for the end.
const held = 4 << 20

// toOutput writes to standard output.
func (e *embedding) toOutput() error {
	write := func(text []byte) error {
		_, err := atOnce(e.ctx, func() (int, error) { return e.app.data.Write(text) })
		return err
	}
	first := true
	twice := e.table.size > 0
	if twice {
		start, err := e.table.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		if err := e.blocks(false, func(*model.Embedded) error { return nil }); err != nil {
			return err
		}
		if _, err := e.table.Seek(start, io.SeekStart); err != nil {
			return err
		}
	}
	var waiting []byte
	through := twice
	if err := e.blocks(e.app.showsData(), func(b *model.Embedded) error { // a bar and rows would mix on a terminal
		if err := e.write(b, first); err != nil {
			return err
		}
		first = false
		if through {
			return write(e.text)
		}
		waiting = append(waiting, e.text...)
		if len(waiting) <= held {
			return nil
		}
		through = true
		text := waiting
		waiting = nil
		return write(text)
	}); err != nil {
		return err
	}
	return write(waiting)
}

// outsideColumn is the name of the last column with --subspace.
const outsideColumn = "outside"

// write sets text to the rows of a block, after a header if it is the first one. Each coordinate has as many digits
// as bring back every bit. With guard, no class is a formula.
func (e *embedding) write(b *model.Embedded, first bool) error {
	var cell bytes.Buffer
	w := csv.NewWriter(&cell)
	// class appends a cell and a comma.
	class := func(name string) error {
		if e.guard {
			name = guarded(name)
		}
		cell.Reset()
		err := w.Write([]string{name})
		w.Flush()
		e.text = append(append(e.text, bytes.TrimSuffix(cell.Bytes(), []byte("\n"))...), ',')
		return errors.Join(err, w.Error())
	}
	n, r := b.Z.Dims()
	e.text = e.text[:0]
	if first {
		if b.Labels != nil {
			label := e.model.Layout().LabelName()
			if k, err := strconv.Atoi(strings.TrimPrefix(label, "z")); err == nil && label == "z"+strconv.Itoa(k) && k >= 1 && k <= r {
				label = "label" // a coordinate has this name
			}
			if label == outsideColumn && e.subspace {
				label = "label"
			}
			if err := class(label); err != nil {
				return err
			}
		}
		last := ""
		if e.subspace {
			r, last = r-1, outsideColumn+","
		}
		for j := range r {
			e.text = append(strconv.AppendInt(append(e.text, 'z'), int64(j+1), 10), ',')
		}
		e.text = append(e.text, last...)
		e.text[len(e.text)-1] = '\n'
	}
	for i := range n {
		if b.Labels != nil {
			if err := class(b.Labels[i]); err != nil {
				return err
			}
		}
		for _, v := range b.Z.RawRowView(i) {
			e.text = append(strconv.AppendFloat(e.text, v, 'g', -1, 64), ',')
		}
		e.text[len(e.text)-1] = '\n'
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
