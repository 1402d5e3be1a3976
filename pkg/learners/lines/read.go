package lines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// errTooLong is wrapped by the error for a line over the limit.
var errTooLong = errors.New("line is too long")

// lineReader splits its input into lines of at most max bytes. A longer one is
// an error, and is never held in memory.
type lineReader struct {
	r    *bufio.Reader
	max  int
	long []byte // a line that does not fit the buffer of r
	rest bool   // the rest of a line over the limit is still to be skipped
}

// next returns the next line without its \n, valid until the next call. At the
// end of the input it returns io.EOF; an error that wraps errTooLong can be
// followed by more lines.
func (r *lineReader) next() ([]byte, error) {
	for r.rest {
		_, err := r.r.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return nil, err
		}
		r.rest = err != nil
	}
	r.long = r.long[:0]
	for {
		part, err := r.r.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		if len(r.long)+len(part) > r.max {
			r.rest = err != nil
			return nil, fmt.Errorf("%w: want at most %d bytes", errTooLong, r.max)
		}
		if len(r.long) == 0 && err == nil {
			return part, nil
		}
		r.long = append(r.long, part...)
		switch {
		case err == nil, err == io.EOF && len(r.long) > 0:
			return r.long, nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}

// flusher is a reader that flushes w before it may block, so that whoever waits
// for an answer before the next question gets it.
type flusher struct {
	r io.Reader
	w *bufio.Writer
}

func (f flusher) Read(b []byte) (int, error) {
	if err := f.w.Flush(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrOutput, err)
	}
	return f.r.Read(b)
}

// pump reads in a goroutine of its own, so that a read that blocks can be
// abandoned when ctx ends.
type pump struct {
	ctx  context.Context
	want chan []byte
	got  chan reading
}

type reading struct {
	n   int
	err error
}

func startPump(ctx context.Context, in io.Reader) *pump {
	p := &pump{ctx, make(chan []byte), make(chan reading, 1)}
	go func() {
		for b := range p.want {
			n, err := in.Read(b)
			p.got <- reading{n, err} // has room: one reading per want
		}
	}()
	return p
}

// stop ends the goroutine, once a pending read returns.
func (p *pump) stop() { close(p.want) }

// Read reads into b. After an error of the context b belongs to the pump, and
// Read must not be called again.
func (p *pump) Read(b []byte) (int, error) {
	select {
	case p.want <- b:
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	}
	select {
	case r := <-p.got:
		return r.n, r.err
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	}
}
