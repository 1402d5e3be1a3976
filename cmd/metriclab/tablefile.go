package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"metriclab/pkg/model"
	"metriclab/pkg/vectors"
)

// stdin is the name of a table that is read from standard input.
const stdin = "-"

// tableFile is an open table that tells how far it was read. What gzip has compressed comes as it was before, and UTF-16 with its mark, such as the
// "Unicode text" of Excel, as UTF-8.
type tableFile struct {
	in    io.Reader
	f     *os.File // in, if it is a file
	close bool     // f was opened here
	twice bool     // it is a regular file, which can be read twice
	size  int64    // 0 if it is none
	start int64    // where the table begins in a regular file
	at    int64
	rest  bool           // a reading that counts rows is not told of
	tell  model.Progress // in MB, of large tables only; may be nil

	zip  *gzip.Reader // nil if nothing is compressed
	wide io.Reader    // what makes UTF-8 of UTF-16; nil if nothing is to be made
	out  int64        // bytes that zip or wide gave
}

// How files begin that are no text: gzip, zip, and Parquet, whose mark alone could be the name of a column.
var zipped, archived, parquet = []byte("\x1f\x8b"), []byte("PK\x03\x04"), []byte("PAR1\x15")

// openTable opens a file, or standard input for "-". Compressed bytes are known by their first two, and files that are no text by their first five. From a pipe it waits for these.
func (a *app) openTable(path string) (*tableFile, error) {
	t := &tableFile{in: a.in}
	if path == stdin {
		t.f, _ = a.in.(*os.File)
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		t.in, t.f, t.close = f, f, true
	}
	if err := t.begin(); err != nil {
		t.Close()
		return nil, fmt.Errorf("%s: %w", tableName(path), err)
	}
	return t, nil
}

// tableName is what messages call a table.
func tableName(path string) string {
	if path == stdin {
		return "standard input"
	}
	return path
}

// begin looks at the first bytes.
func (t *tableFile) begin() error {
	if t.f != nil {
		if info, err := t.f.Stat(); err == nil && info.Mode().IsRegular() {
			t.size, t.twice = info.Size(), true
		} else if err == nil && info.IsDir() {
			return errors.New("is a folder, want a file")
		}
	}
	mark := make([]byte, len(parquet))
	if t.twice {
		start, err := t.f.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		t.start, t.at = start, start
		n, err := t.f.ReadAt(mark, start)
		if err != nil && err != io.EOF {
			return nil // reading will tell
		}
		mark = mark[:n]
	} else {
		in := bufio.NewReaderSize(t.in, 1<<16)
		t.in = in
		head, _ := in.Peek(len(mark))
		mark = head
	}
	switch {
	case bytes.HasPrefix(mark, zipped):
		return t.unzip()
	case isWide(mark):
		t.widen()
		return nil
	case bytes.HasPrefix(mark, archived):
		return errors.New("it is a spreadsheet or another zip archive, want a table as text: save the sheet as CSV")
	case bytes.HasPrefix(mark, parquet):
		return errors.New("it is Parquet, want a table as text: duckdb -c \"COPY 'x.parquet' TO 'x.csv'\" writes CSV")
	}
	return nil
}

// isWide tells whether a text begins as UTF-16 with its mark does.
func isWide(mark []byte) bool {
	return bytes.HasPrefix(mark, []byte("\xff\xfe")) || bytes.HasPrefix(mark, []byte("\xfe\xff"))
}

func (t *tableFile) widen() {
	t.out = 0
	t.wide = transform.NewReader(compressed{t}, unicode.BOMOverride(unicode.UTF8.NewDecoder()))
}

func (t *tableFile) unzip() (err error) {
	t.out = 0
	t.zip, err = gzip.NewReader(bufio.NewReaderSize(compressed{t}, 1<<16))
	if err != nil {
		return fmt.Errorf("what gzip has compressed is damaged: %w", err)
	}
	return nil
}

// compressed are the bytes of a table as they stand in the file.
type compressed struct{ t *tableFile }

func (c compressed) Read(b []byte) (int, error) { return c.t.raw(b) }

// megabyte is the unit in which reading is told of, and leastTold the size from which on it is.
const megabyte, leastTold = 1e6, 10 * megabyte

func (t *tableFile) Read(b []byte) (int, error) {
	if t.wide != nil {
		n, err := t.wide.Read(b)
		t.out += int64(n)
		return n, err
	}
	if t.zip == nil {
		return t.raw(b)
	}
	n, err := t.zip.Read(b)
	t.out += int64(n)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("what gzip has compressed is damaged or cut off: %w", err)
	}
	return n, err
}

func (t *tableFile) raw(b []byte) (int, error) {
	n, err := t.in.Read(b)
	before := t.at
	t.at += int64(n)
	if t.tell != nil && !t.rest && t.size >= leastTold && t.at/megabyte > before/megabyte {
		t.tell(int(t.at/megabyte), int(max(t.at, t.size)/megabyte))
	}
	return n, err
}

// about returns the number of rows of a regular file by the length of its first ones, 0 if that cannot be told.
func (t *tableFile) about() int {
	if !t.twice || t.zip != nil || t.wide != nil || t.size <= t.start {
		return 0
	}
	head := make([]byte, 1<<16)
	n, err := t.f.ReadAt(head, t.start)
	if err != nil && err != io.EOF {
		return 0
	}
	rows := bytes.Count(head[:n], []byte("\n"))
	if int64(n) == t.size-t.start {
		return rows
	}
	return int(float64(rows) / float64(n) * float64(t.size-t.start))
}

// aboutRows is about of the file of a path, which may be a .npy array.
func (a *app) aboutRows(path string) int {
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		if f, err := vectors.Open(path); err == nil {
			defer f.Close()
			return f.Rows()
		}
		return 0
	}
	info, err := os.Stat(path)
	if path == stdin || err != nil || !info.Mode().IsRegular() { // a pipe cannot be opened twice
		return 0
	}
	t, err := a.openTable(path)
	if err != nil {
		return 0
	}
	defer t.Close()
	return t.about()
}

func (t *tableFile) Stat() (fs.FileInfo, error) {
	if t.f == nil {
		return nil, errors.ErrUnsupported
	}
	return t.f.Stat()
}

// Seek goes anywhere in a regular file; in one that is compressed, to the place where it is or the beginning.
func (t *tableFile) Seek(offset int64, whence int) (int64, error) {
	if !t.twice {
		return 0, errors.ErrUnsupported
	}
	if t.zip != nil || t.wide != nil {
		switch {
		case offset == 0 && whence == io.SeekCurrent:
			t.rest = true
			return t.out, nil
		case offset == 0 && whence == io.SeekStart:
			if _, err := t.f.Seek(t.start, io.SeekStart); err != nil {
				return 0, err
			}
			t.at, t.rest = t.start, false
			if t.wide != nil {
				t.widen()
				return 0, nil
			}
			return 0, t.unzip()
		}
		return 0, errors.ErrUnsupported
	}
	at, err := t.f.Seek(offset, whence)
	if err == nil {
		t.at = at
		t.rest = whence == io.SeekCurrent // package model counts rows from here, and goes back
	}
	return at, err
}

func (t *tableFile) Close() error {
	if t.close {
		return t.f.Close()
	}
	return nil
}

// eachOf calls do with each value of a sequence, until an error. A read may wait for ever, so the sequence is left where it is once ctx is done;
// do is called on the goroutine of the caller, who may write.
func eachOf[T any](ctx context.Context, sequence iter.Seq2[T, error], do func(T) error) error {
	type result struct {
		value T
		err   error
	}
	results := make(chan result)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(results)
		send := func(r result) bool {
			select {
			case results <- r:
				return true
			case <-ctx.Done():
				return false
			}
		}
		if err := safely(func() error {
			for value, err := range sequence {
				if !send(result{value, err}) {
					return nil
				}
			}
			return nil
		}); err != nil {
			send(result{err: err})
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case r, more := <-results:
			if !more {
				return ctx.Err()
			}
			if r.err != nil {
				return r.err
			}
			if err := do(r.value); err != nil {
				return err
			}
		}
	}
}
