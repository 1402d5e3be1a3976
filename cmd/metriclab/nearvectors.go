package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/atomicfile"
	"metriclab/internal/plural"
	"metriclab/pkg/learners/lines"
	"metriclab/pkg/model"
	"metriclab/pkg/vectors"
)

// vectorQueries says whose neighbours are asked for.
type vectorQueries struct {
	file string
	rows []string
}

func (q *vectorQueries) add(c *cobra.Command) {
	c.Flags().StringVar(&q.file, "queries", "", ".npy file of vectors to find neighbours of, with --vectors")
	c.Flags().StringSliceVar(&q.rows, "rows", nil, "vectors of --vectors to find neighbours of, by number or id, separated by commas")
}

// asked is what is looked up.
type asked struct {
	x     *mat.Dense
	names []string
	own   []int // the rows of the file that they are; nil if they are of another file
}

// read reads the vectors that are looked up.
func (q *vectorQueries) read(v *vectorFlags, find func(string) (int, error), file *vectors.File) (*asked, error) {
	if q.file == "" {
		out := &asked{names: q.rows}
		for _, name := range q.rows {
			i, err := find(name)
			if err != nil {
				return nil, usageError{fmt.Errorf("flag --rows: %w", err)}
			}
			out.own = append(out.own, i)
		}
		var err error
		out.x, err = file.Select(out.own)
		return out, err
	}
	f, err := vectors.Open(q.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Dim() != file.Dim() {
		return nil, fmt.Errorf("%s: vectors of %d numbers, want %d as in %s", q.file, f.Dim(), file.Dim(), v.vectors)
	}
	out := &asked{names: make([]string, f.Rows())}
	all := make([]int, f.Rows())
	for i := range all {
		all[i], out.names[i] = i, strconv.Itoa(i)
	}
	out.x, err = f.Select(all)
	return out, err
}

// nearVectors is neighbours among vectors.
func (a *app) nearVectors(c *cobra.Command, f *nearFlags, v *vectorFlags, q *vectorQueries) error {
	switch {
	case f.k < 1:
		return usageError{fmt.Errorf("flag --k: %d is not allowed, want at least 1", f.k)}
	case (q.file == "") == (len(q.rows) == 0):
		return usageError{errors.New("flags --queries and --rows: want one of them, which says whose neighbours are asked for")}
	}
	if err := outPaths(c, []string{f.model, v.vectors, v.ids, q.file}, outFile{flag: "out", path: &f.out, stdout: true}); err != nil {
		return err
	}
	ctx := c.Context()
	in, err := v.open(ctx, a)
	if err != nil {
		return err
	}
	defer in.File.Close()
	m, err := loadVectors(f.model, in.File.Dim())
	if err != nil {
		return err
	}
	find, err := in.Objects.Finder()
	if err != nil {
		return err
	}
	text, err := atOnce(ctx, func() ([]byte, error) {
		what, err := q.read(v, find, in.File)
		if err != nil {
			return nil, err
		}
		return a.ofVectors(c, f, m, in, what)
	})
	if err != nil {
		return tableError(err)
	}
	if f.out != "" {
		return atomicfile.Write(f.out, text)
	}
	_, err = atOnce(ctx, func() (int, error) { return a.data.Write(text) })
	return err
}

// ofVectors returns the answer as CSV, and tells what has no direction.
func (a *app) ofVectors(c *cobra.Command, f *nearFlags, m *model.Vectors, in *lines.Vectors, what *asked) ([]byte, error) {
	most := in.File.Rows()
	self := 0
	if what.own != nil {
		self = 1 // which is left out
	}
	most -= self
	a.cutK(c, f, most, "other vectors")
	if f.k > most {
		return nil, usageError{fmt.Errorf("flag --k: %d is not allowed, want 1 to %d, the number of other vectors", f.k, most)}
	}
	found, zeros, err := m.Neighbours(c.Context(), in.File, what.x, f.k+self)
	if err != nil {
		return nil, err
	}
	if zeros.Count > 0 {
		a.note(in.File.Name(), []string{fmt.Sprintf("%s, without direction: not among the neighbours", zeros)})
		most -= zeros.Count
		a.cutK(c, f, most, "other vectors that have a direction")
	}
	if f.k > most {
		return nil, usageError{fmt.Errorf("flag --k: %d is not allowed, want 1 to %d, the number of other vectors that have a direction", f.k, most)}
	}
	ids := in.Objects.Names
	var silent []string
	cell := func(id string) string {
		if f.guard {
			return guarded(id)
		}
		return id
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write([]string{"row", "rank", "neighbour", "distance"}) // to memory
	for i, near := range found {
		if near == nil {
			silent = append(silent, what.names[i])
			continue
		}
		if what.own != nil {
			near = slices.DeleteFunc(near, func(n model.Neighbour) bool { return n.Row == what.own[i] })
		}
		for rank, n := range near[:f.k] {
			name := strconv.Itoa(n.Row)
			if ids != nil {
				name = ids[n.Row]
			}
			_ = w.Write([]string{cell(what.names[i]), strconv.Itoa(rank + 1), cell(name), number(math.Sqrt(n.SqDist))})
		}
	}
	w.Flush()
	if len(silent) > 0 {
		a.note("queries", []string{fmt.Sprintf("%s of zeros, without direction and neighbours: %s", plural.Of(len(silent), "vector"), few(silent))})
	}
	return out.Bytes(), nil
}
