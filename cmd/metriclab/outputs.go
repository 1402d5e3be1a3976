package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
)

// outFile is the file that a flag names.
type outFile struct {
	flag string
	path *string
	// must is set where the flag must be given.
	must bool
	// stdout is set where the command writes to standard output without the flag. "-" is that, too, and becomes "".
	stdout bool
}

// outPaths completes the paths of the flags that are given, as outPath does. No two may name one file.
func outPaths(c *cobra.Command, reads []string, outs ...outFile) error {
	var files []string
	for _, o := range outs {
		if !o.must && !c.Flags().Changed(o.flag) {
			continue
		}
		if o.stdout && *o.path == stdin {
			*o.path = ""
			continue
		}
		path, err := outPath(o.flag, *o.path, reads...)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(files, func(other string) bool { return samePath(path, other) }) {
			return usageError{fmt.Errorf("flag --%s: %s is the file of another flag", o.flag, path)}
		}
		*o.path = path
		files = append(files, path)
	}
	return nil
}

// outPath checks, before the work, that the file of a flag can be written and is
// none of the files that the command reads, and follows a link, which a rename
// would replace.
func outPath(flag, path string, reads ...string) (string, error) {
	switch path {
	case "":
		return "", usageError{fmt.Errorf("flag --%s: no file given", flag)}
	case stdin:
		return "", usageError{fmt.Errorf("flag --%s: - is not allowed, since nothing goes to standard output here; want a file", flag)}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if _, there := os.Lstat(path); there == nil {
		return "", fmt.Errorf("flag --%s: %s is a link to no file", flag, path)
	}
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return "", fmt.Errorf("flag --%s: %s is there and is no regular file", flag, path)
		}
		for _, read := range reads {
			if other, err := os.Stat(read); err == nil && os.SameFile(info, other) {
				return "", usageError{fmt.Errorf("flag --%s: %s is the file to read, want another one", flag, path)}
			}
		}
	}
	if err := atomicfile.CheckWritable(filepath.Dir(path)); err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err // its path is a random one
		}
		return "", fmt.Errorf("flag --%s: the folder of %s is not writable: %w", flag, path, err)
	}
	if _, err := os.Lstat(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // such as a name that is too long
		return "", fmt.Errorf("flag --%s: %w", flag, err)
	}
	atomicfile.Sweep(time.Now(), filepath.Dir(path)) // what killed processes left
	return path, nil
}

// samePath tells whether two results of outPath, of files that need not be there, name one file.
func samePath(a, b string) bool {
	da, errA := os.Stat(filepath.Dir(a))
	db, errB := os.Stat(filepath.Dir(b))
	return errA == nil && errB == nil && os.SameFile(da, db) && filepath.Base(a) == filepath.Base(b)
}

// output is a file to be written.
type output struct {
	path  string // "" is one that is not wanted
	write func(io.Writer) error
}

// writeOutputs writes all files or none.
func writeOutputs(outputs ...output) error {
	var files []*atomicfile.File
	for _, o := range outputs {
		if o.path == "" {
			continue
		}
		f, err := atomicfile.Create(o.path)
		if err != nil {
			return fmt.Errorf("%s is not written: %w", o.path, err)
		}
		defer f.Abort() // does nothing after Commit
		w := bufio.NewWriterSize(f, 1<<16)
		if err := errors.Join(o.write(w), w.Flush()); err != nil {
			return fmt.Errorf("%s is not written: %w", o.path, err)
		}
		files = append(files, f)
	}
	return atomicfile.Commit(files...)
}

// outputOf writes a matrix as CSV without a header, or as a NumPy file if the name ends in .npy.
func outputOf(ctx context.Context, path string, x mat.Matrix) output {
	return output{path, func(w io.Writer) error {
		if strings.HasSuffix(strings.ToLower(path), ".npy") {
			return metric.WriteNPY(w, x)
		}
		return writeCSV(ctx, w, x)
	}}
}

// writeCSV writes rows of numbers, with as many digits as bring back every bit.
func writeCSV(ctx context.Context, w io.Writer, x mat.Matrix) error {
	b := bufio.NewWriter(w)
	var text []byte
	n, d := x.Dims()
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		text = text[:0]
		for j := range d {
			text = append(strconv.AppendFloat(text, x.At(i, j), 'g', -1, 64), ',')
		}
		text[len(text)-1] = '\n'
		if _, err := b.Write(text); err != nil {
			return err
		}
	}
	return b.Flush()
}

// objectsOutput writes coordinates of objects, with their names unless the file is a NumPy file.
func objectsOutput(ctx context.Context, path string, names []string, z model.Coordinates, guard bool) output {
	return output{path, func(w io.Writer) error {
		if strings.EqualFold(filepath.Ext(path), ".npy") {
			return metric.WriteNPY(w, z.Z)
		}
		return writeObjects(ctx, w, names, z, guard)
	}}
}

// writeObjects writes a row per object: its name and its coordinates, with as many digits as bring back every bit. With guard, no name is a formula.
func writeObjects(ctx context.Context, w io.Writer, names []string, z model.Coordinates, guard bool) error {
	e := embedding{label: "object", records: records{guard: guard}}
	return eachOf(ctx, blocksOf(z.Z, names), func(b *model.Block) error {
		if err := e.write(b); err != nil {
			return err
		}
		_, err := w.Write(e.take())
		return err
	})
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
