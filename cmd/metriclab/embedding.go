package main

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/model"
	"metriclab/pkg/vectors"
)

// embedOutputs are the files of coordinates; "" is one that is not wanted.
type embedOutputs struct {
	text, npy string
	json      bool
}

// check completes the paths that the flags give, and of more flags. No file may be one that is read, or that of another flag.
func (o *embedOutputs) check(c *cobra.Command, reads []string, more ...outFile) error {
	if err := outPaths(c, reads, append([]outFile{{flag: "out", path: &o.text, stdout: true}, {flag: "npy", path: &o.npy}}, more...)...); err != nil {
		return err
	}
	if o.npy != "" && o.text == "" {
		if c.Flags().Changed("out") {
			return usageError{errors.New("flag --out: - is not allowed with --npy; want one of them, or a file")}
		}
		if o.json {
			return usageError{errors.New("flag --json: not with --npy alone, which has no text; want --out FILE, too")}
		}
	}
	return noGuard(c)
}

// stdout tells whether the coordinates go to standard output.
func (o *embedOutputs) stdout() bool { return o.text == "" && o.npy == "" }

// embedding writes coordinates as text, with the name or class of each row first if it has one.
type embedding struct {
	records
	label string
	// subspace says that the last coordinate is the length of what is outside.
	subspace bool
}

// outsideColumn is the name of the last column with --subspace.
const outsideColumn = "outside"

// write appends the rows of a block, after a header if it is the first one.
func (e *embedding) write(b *model.Block) error {
	n, r := b.Z.Dims()
	if e.rows == 0 {
		var columns []string
		last := ""
		if e.subspace {
			last = outsideColumn
		}
		if b.Labels != nil {
			label := e.label
			if k, err := strconv.Atoi(strings.TrimPrefix(label, "z")); err == nil && label == "z"+strconv.Itoa(k) && k >= 1 && k <= r || label == outsideColumn && e.subspace {
				label = "label" // a coordinate has this name
			}
			columns = append(columns, label)
		}
		for j := range r {
			columns = append(columns, "z"+strconv.Itoa(j+1))
		}
		if last != "" {
			columns[len(columns)-1] = last
		}
		if err := e.head(columns...); err != nil {
			return err
		}
	}
	for i := range n {
		cells := [2]any{nil, b.Z.RawRowView(i)}
		from := 1
		if b.Labels != nil {
			cells[0], from = b.Labels[i], 0
		}
		if err := e.row(cells[from:]...); err != nil {
			return err
		}
	}
	return nil
}

// embedFiles are where coordinates go.
type embedFiles struct {
	text        *answer          // nil if not wanted
	array       *atomicfile.File // nil if not wanted
	numbers     []byte
	rows, width int
	embedding   embedding
}

// open makes the files that are wanted, or begins standard output.
func (a *app) openEmbedded(ctx context.Context, o embedOutputs, e embedding) (f *embedFiles, err error) {
	f = &embedFiles{embedding: e}
	f.embedding.json = o.json
	if o.text != "" || o.stdout() {
		if f.text, err = a.answerTo(ctx, o.text); err != nil {
			return nil, err
		}
	}
	if o.npy != "" {
		if f.array, err = atomicfile.Create(o.npy); err != nil {
			f.abort()
			return nil, err
		}
	}
	return f, nil
}

// write takes a block.
func (f *embedFiles) write(b *model.Block) error {
	n, width := b.Z.Dims()
	if f.text != nil {
		if err := f.embedding.write(b); err != nil {
			return err
		}
		if _, err := f.text.Write(f.embedding.take()); err != nil {
			return err
		}
	}
	if f.array != nil {
		f.numbers = f.numbers[:0]
		if f.rows == 0 {
			f.numbers = append(f.numbers, vectors.Header(0, width, false)...) // its place
		}
		for i := range n {
			for _, v := range b.Z.RawRowView(i) {
				f.numbers = binary.LittleEndian.AppendUint64(f.numbers, math.Float64bits(v))
			}
		}
		if _, err := f.array.Write(f.numbers); err != nil {
			return err
		}
	}
	f.rows, f.width = f.rows+n, width
	return nil
}

// commit gives the files their names, and those of more.
func (f *embedFiles) commit(notes []string, more ...*atomicfile.File) error {
	files := more
	if f.array != nil {
		if _, err := f.array.WriteAt(vectors.Header(f.rows, f.width, false), 0); err != nil {
			return err
		}
		files = append(files, f.array)
	}
	if f.text != nil {
		if err := f.embedding.end("notes", append([]string{}, notes...)); err != nil {
			return err
		}
		if _, err := f.text.Write(f.embedding.take()); err != nil {
			return err
		}
		if f.text.file == nil {
			if err := f.text.flush(); err != nil {
				return err
			}
		} else {
			files = slices.Insert(files, 0, f.text.file)
		}
	}
	return atomicfile.Commit(files...)
}

// abort does nothing after commit.
func (f *embedFiles) abort() {
	if f.text != nil {
		f.text.abort()
	}
	if f.array != nil {
		f.array.Abort()
	}
}

// blocksOf yields rows of coordinates in blocks. names holds that of each row, or is nil.
func blocksOf(z *mat.Dense, names []string) iter.Seq2[*model.Block, error] {
	return func(yield func(*model.Block, error) bool) {
		const rows = 1024
		n, width := z.Dims()
		for i := 0; i < n; i += rows {
			end := min(i+rows, n)
			b := &model.Block{Z: z.Slice(i, end, 0, width).(*mat.Dense), Total: n}
			if names != nil {
				b.Labels = names[i:end]
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}
