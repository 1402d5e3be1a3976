package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"metriclab/internal/atomicfile"
	"metriclab/internal/closest"
	"metriclab/internal/plural"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/model"
)

// answers writes what was found.
type answers struct {
	of      *model.Neighbourhood
	head    []string // nil: of neighbours
	classes bool     // of predict
	guard   bool
	layout  model.Layout // of the model; none of a Gram
	id      string
	ids     []string // of the training rows; nil if not wanted

	rows, wrong int
	apart       int             // rows of a class that no training row has
	others      map[string]bool // these classes, some of them if there are many
	labelled    bool            // the new rows have classes
	buffer      bytes.Buffer
	w           *csv.Writer
}

// text returns the lines of a block, after a header if it is the first one.
func (o *answers) text(b *model.Near) ([]byte, error) {
	o.buffer.Reset()
	if o.w == nil {
		o.w = csv.NewWriter(&o.buffer)
		if o.head == nil {
			o.head = []string{"row", "rank", "training_row"}
			if o.ids != nil {
				o.head = append(o.head, o.name(o.id))
			}
			o.head = append(o.head, "distance")
			if o.of.Labelled() {
				o.head = append(o.head, "class")
			}
		}
		if err := o.w.Write(o.head); err != nil {
			return nil, err
		}
		o.labelled = b.Labels != nil
	}
	var record []string
	for i, e := range b.Elected {
		record = append(record[:0], strconv.Itoa(b.First+i), o.name(e.Class), number(e.Share), number(e.Distance))
		if b.Labels != nil {
			o.compare(b.Labels[i], e.Class)
		}
		if err := o.w.Write(record); err != nil {
			return nil, err
		}
	}
	for i, found := range b.Found {
		row := strconv.Itoa(b.First + i)
		for rank, f := range found {
			record = append(record[:0], row, strconv.Itoa(rank+1), strconv.Itoa(f.Index))
			if o.ids != nil {
				record = append(record, o.name(o.ids[f.Index]))
			}
			record = append(record, distance(f))
			if o.of.Labelled() {
				record = append(record, o.name(o.of.Label(f.Index)))
			}
			if err := o.w.Write(record); err != nil {
				return nil, err
			}
		}
	}
	o.rows += len(b.Found) + len(b.Elected)
	o.w.Flush()
	return bytes.Clone(o.buffer.Bytes()), o.w.Error()
}

// compare counts a row with a label for which class was predicted.
func (o *answers) compare(label, class string) {
	const most = 1000 // there may be as many as rows
	want := o.of.Class(label)
	switch {
	case want == "":
		o.apart++
		if o.others == nil {
			o.others = map[string]bool{}
		}
		if len(o.others) < most {
			o.others[strings.Clone(label)] = true
		}
	case want != class:
		o.wrong++
	}
}

// name returns a cell of text as it is written.
func (o *answers) name(cell string) string {
	if o.guard {
		return guarded(cell)
	}
	return cell
}

func distance(n nearest.Neighbour) string { return number(n.Dist()) }

// writeNear writes the answers of a sequence to a file or, if out is "", to standard output.
func (a *app) writeNear(ctx context.Context, sequence iter.Seq2[*model.Near, error], out, source string, o *answers, progress model.Progress) error {
	told := false
	var notes []string
	each := func(write func([]byte) error) error {
		defer func() { a.note(source, notes) }()
		return eachOf(ctx, sequence, func(b *model.Near) error {
			if !told {
				a.leftOut(source, o.layout, b.Unused)
				a.tellDialect(source, b.Dialect)
				told = true
			}
			notes = b.Notes
			text, err := o.text(b)
			if err != nil {
				return err
			}
			progress(o.rows, 0)
			return write(text)
		})
	}
	if out != "" {
		file, err := atomicfile.Create(out)
		if err != nil {
			return err
		}
		defer file.Abort() // does nothing after Commit
		if err := each(func(text []byte) error { _, err := file.Write(text); return err }); err != nil {
			return err
		}
		return file.Commit()
	}
	write := func(text []byte) error {
		_, err := atOnce(ctx, func() (int, error) { return a.data.Write(text) })
		return err
	}
	var waiting []byte
	through := false
	if err := each(func(text []byte) error {
		if through {
			return write(text)
		}
		waiting = append(waiting, text...)
		if len(waiting) <= held {
			return nil
		}
		through = true
		text = waiting
		waiting = nil
		return write(text)
	}); err != nil {
		return err
	}
	return write(waiting)
}

// tellError tells how many rows are wrong, of those whose class is one of the training rows.
func (o *answers) tellError(w io.Writer, source string, k int) {
	learned := o.of.Classes()
	if len(o.others) > 0 {
		other := slices.Sorted(maps.Keys(o.others))
		fmt.Fprintf(w, "%s: %s of a class that no training row has, counted in no error: %s; training rows have %s\n", source, plural.Of(o.apart, "row"), few(other), few(learned))
		if note := closest.AlikeNote("classes", slices.Concat(learned, other)); note != "" {
			fmt.Fprintf(w, "Note: %s.\n", note)
		}
	}
	if o.apart == o.rows {
		fmt.Fprintf(w, "%s: no row has a class of the training rows, so there is no error to tell\n", source)
		return
	}
	judged := o.rows - o.apart
	fmt.Fprintf(w, "%s: %d of %s wrong: an error of %.2f %% with k = %d\n", source, o.wrong, plural.Of(judged, "row"), 100*float64(o.wrong)/float64(judged), k)
}
