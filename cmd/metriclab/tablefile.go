package main

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"os"

	"metriclab/pkg/model"
)

// tableFile is an open table that tells how far it was read.
type tableFile struct {
	f    *os.File
	size int64 // 0 if it is no regular file: it has no size, and cannot be read twice
	at   int64
	rest bool           // a reading that counts rows is not told of
	tell model.Progress // in MB, of large tables only; may be nil
}

func openTable(path string) (*tableFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t := &tableFile{f: f}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		t.size = info.Size()
	}
	return t, nil
}

// megabyte is the unit in which reading is told of, and leastTold the size from which on it is.
const megabyte, leastTold = 1e6, 10 * megabyte

func (t *tableFile) Read(b []byte) (int, error) {
	n, err := t.f.Read(b)
	before := t.at
	t.at += int64(n)
	if t.tell != nil && !t.rest && t.size >= leastTold && t.at/megabyte > before/megabyte {
		t.tell(int(t.at/megabyte), int(max(t.at, t.size)/megabyte))
	}
	return n, err
}

func (t *tableFile) Stat() (fs.FileInfo, error) { return t.f.Stat() }

func (t *tableFile) Seek(offset int64, whence int) (int64, error) {
	at, err := t.f.Seek(offset, whence)
	if err == nil {
		t.at = at
		t.rest = whence == io.SeekCurrent // package model counts rows from here, and goes back
	}
	return at, err
}

func (t *tableFile) Close() error { return t.f.Close() }

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
		for value, err := range sequence {
			select {
			case results <- result{value, err}:
			case <-ctx.Done():
				return
			}
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
