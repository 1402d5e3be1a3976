package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"metriclab/internal/enum"
	"metriclab/internal/numeral"
	"metriclab/pkg/limits"
	"metriclab/pkg/sparse"
)

// SparseSet is a labelled set of sparse rows.
type SparseSet struct {
	Name   string
	X      *sparse.Matrix // n×d
	Target []float64      // n numbers: a class, or a value to predict
	Query  []int          // n groups of rows, of the field qid; nil if no row has one
}

// Classes returns the distinct targets, ascending, and the index of each row's target among
// them.
func (s *SparseSet) Classes() (classes []float64, y []int) {
	classes = slices.Compact(slices.Sorted(slices.Values(s.Target)))
	y = make([]int, len(s.Target))
	for i, t := range s.Target {
		y[i], _ = slices.BinarySearch(classes, t)
	}
	return classes, y
}

// IndexBase is the number of the first feature in a file. The zero value is IndexBaseOne.
type IndexBase int

const (
	// IndexBaseOne counts features from 1, as svmlight and LIBSVM do.
	IndexBaseOne IndexBase = iota
	// IndexBaseZero counts features from 0.
	IndexBaseZero
)

var indexBaseNames = enum.Of[IndexBase]("IndexBase(%d)", "one", "zero")

// String returns "one" or "zero".
func (b IndexBase) String() string { return indexBaseNames.Text(b) }

// first is the least index in a file.
func (b IndexBase) first() int {
	if b == IndexBaseZero {
		return 0
	}
	return 1
}

// SVMLightOptions say how a file of svmlight or LIBSVM is read. The zero value is the default.
type SVMLightOptions struct {
	// Base is the number of the first feature; the zero value is IndexBaseOne. A file does not
	// tell: with IndexBaseOne the index 0 is an error.
	Base IndexBase
	// Features is the number of columns; an index behind the last is an error. 0 means as many
	// as the greatest index needs. Give it where a test file lacks features of the training file.
	Features int
}

// maxFeatures is the greatest number of columns that ReadSVMLight takes.
const maxFeatures = math.MaxInt32

// ReadSVMLight reads rows in the format of svmlight and LIBSVM, one in a line:
//
//	target index:value index:value …   # a comment
//
// The target and the values are finite decimal numbers, the indices whole numbers that ascend
// within a row. Behind the target a group may stand, "qid:7"; either each row has one, or none.
// Entries that are 0 are left out, though they count for the number of columns. A row without an
// entry is a row of zeros. Empty lines, comments, a UTF-8 byte order mark, and carriage returns
// before line feeds do not count. name is that of the file, for messages.
//
// The text ends with an error where the rows take more than limits.Memory, or a line more than a
// sixteenth of that, so that r need not have an end. The error is a *LineError or a
// *limits.MemoryError, with file and line, or says that options are not allowed.
func ReadSVMLight(r io.Reader, name string, o SVMLightOptions) (*SparseSet, error) {
	switch {
	case o.Base != IndexBaseOne && o.Base != IndexBaseZero:
		return nil, fmt.Errorf("datasets: Base: %v is not allowed, want one of %q", o.Base, indexBaseNames.List())
	case o.Features < 0 || o.Features > maxFeatures:
		return nil, fmt.Errorf("datasets: Features: %d is not allowed, want 0 to %d", o.Features, maxFeatures)
	}
	p := &svmlight{SVMLightOptions: o, name: name, out: &SparseSet{Name: name}}
	p.last = cmp.Or(o.Features, maxFeatures) - 1 + o.Base.first()
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := p.next(in)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = p.row(line)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(p.out.Target) == 0 {
		return nil, &LineError{name, max(p.line, 1), "row", "none", "at least one", nil}
	}
	x, err := p.rows.Matrix(o.Features)
	if err != nil {
		return nil, &LineError{name, p.line, "entry", "none in any row", "at least one, or the number of features", err}
	}
	p.out.X = x
	return p.out, nil
}

// svmlight reads a file.
type svmlight struct {
	SVMLightOptions
	name    string
	line    int // of the row at hand
	last    int // the greatest index allowed
	rows    sparse.Builder
	out     *SparseSet
	entries sparse.Vector // memory of a row
	text    []byte        // memory of a line
}

func (p *svmlight) fail(field, value, want string) error {
	return &LineError{p.name, p.line, field, value, want, nil}
}

// next returns the next line, or io.EOF.
func (p *svmlight) next(in *bufio.Reader) ([]byte, error) {
	p.text = p.text[:0]
	for {
		part, err := in.ReadSlice('\n')
		if int64(len(p.text)+len(part)) > longest() {
			return nil, fmt.Errorf("datasets: %s:%d: %w", p.name, p.line+1,
				&limits.MemoryError{What: fmt.Sprintf("a row of more than %d bytes, with its copies,", longest()), Limit: limits.Memory()})
		}
		p.text = append(p.text, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && len(p.text) == 0:
			return nil, io.EOF
		case err != nil && err != io.EOF:
			return nil, fmt.Errorf("datasets: %s: %w", p.name, err)
		}
		if p.line++; p.line == 1 {
			return bytes.TrimPrefix(p.text, []byte("\xef\xbb\xbf")), nil
		}
		return p.text, nil
	}
}

// row reads a line.
func (p *svmlight) row(line []byte) error {
	line, _, _ = bytes.Cut(line, []byte{'#'})
	p.entries.Index, p.entries.Value = p.entries.Index[:0], p.entries.Value[:0]
	words, query := 0, false
	for word := range strings.FieldsSeq(string(line)) {
		words++
		if words == 1 {
			target, err := parseNumber(word)
			if err != nil {
				return &LineError{p.name, p.line, "target", quoteShort(word), "a finite number", nil}
			}
			p.out.Target = append(p.out.Target, target+0) // no −0, which is another word for 0
			continue
		}
		index, value, ok := strings.Cut(word, ":")
		switch {
		case !ok:
			return p.fail("entry", quoteShort(word), "index:value")
		case index == "qid" && words == 2:
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 {
				return p.fail("qid", quoteShort(value), "a whole number from 0")
			}
			query = true
			if rows := len(p.out.Target); len(p.out.Query) != rows-1 {
				return p.fail("qid", "given", "none, as in the rows before")
			}
			p.out.Query = append(p.out.Query, int(n))
			continue
		}
		if err := p.entry(index, value); err != nil {
			return err
		}
	}
	if words == 0 {
		return nil
	}
	if !query && len(p.out.Query) > 0 {
		return p.fail("qid", "missing", "one, as in the rows before")
	}
	if err := p.rows.Add(p.entries); err != nil {
		return fmt.Errorf("datasets: %s:%d: %w", p.name, p.line, err)
	}
	return nil
}

// entry adds an entry to the row.
func (p *svmlight) entry(index, value string) error {
	first := p.Base.first()
	i, err := strconv.ParseUint(index, 10, 64)
	if err != nil || i < uint64(first) || i > uint64(p.last) {
		want := fmt.Sprintf("a whole number from %d to %d", first, p.last)
		if i == 0 && err == nil {
			want += ", or IndexBaseZero for a file that counts from 0"
		}
		return p.fail("index", quoteShort(index), want)
	}
	column := int(i) - first
	if n := len(p.entries.Index); n > 0 && column <= p.entries.Index[n-1] {
		return p.fail("index", quoteShort(index), fmt.Sprintf("more than %d: indices ascend", p.entries.Index[n-1]+first))
	}
	v, err := parseNumber(value)
	if err != nil {
		want := "a finite number"
		if errors.Is(err, errVanishes) {
			want = numeral.Held
		}
		return p.fail("value of feature "+index, quoteShort(value), want)
	}
	p.entries.Index, p.entries.Value = append(p.entries.Index, column), append(p.entries.Value, v)
	return nil
}
