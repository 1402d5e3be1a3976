// Package lines puts an online learner behind a stream: JSON lines of feedback
// in, JSON lines of predictions out (one object per line, UTF-8).
//
// The feedback of a learner decides what its lines hold:
//
//	labelled pairs     {"x":[0,1],"y":[2,1],"label":1}     label: 1 similar, -1 dissimilar
//	  learned          {"round":1,"sqdist":4,"similar":false,"loss":4,"mistake":true,"step":0.2}
//	  only predicted   {"x":[0,1],"y":[2,1]}               without label
//	                   {"round":2,"sqdist":4,"similar":false}
//	  of a file        {"a":"cat.jpg","b":17,"label":1}       vectors by id or row, with Options.Vectors
//	triplets           {"a":0,"near":1,"far":2}            objects 0 to n−1: a is closer to near than to far
//	  learned          {"round":1,"sqnear":1,"sqfar":4,"loss":0,"mistake":false,"step":0}
//	  only predicted   {"a":0,"b":1,"c":2}                 which of b and c is nearer to a; b if they tie
//	                   {"round":2,"sqb":1,"sqc":4,"nearer":1}
//	  of vectors       {"a":[0,1],"near":[1,1],"far":[1,0]}  the same of vectors, or with Options.Vectors of their ids or rows
//	  learned          {"round":1,"simnear":1,"simfar":0,"loss":0,"mistake":false,"step":0}
//	  only predicted   {"a":[0,1],"b":[1,1],"c":[1,0]}       which of b and c is more like a; b if they tie
//	                   {"round":2,"simb":1,"simc":0,"nearer":"b"}
//	assignment costs   {"cost":[[0,1],[0.5,0.2]]}          row i: cost in [0,1] of each prototype for object i
//	  learned          {"round":1,"map":[0,1],"loss":0.2,"expected":0.85}
//
// The expected loss is there if the learner draws its maps and knows their law
// exactly.
//
// All values printed belong to the hypothesis held before the update. round
// counts the accepted lines of one Run, those that only predict included. Every
// n lines, if asked for, "state" is added after the update:
//
//	{"m":[[...]],"threshold":b}      pairs with a matrix: the one that predicts
//	{"support":n,"threshold":b}      pairs with a kernel: the number of stored points
//	{"kernel":[[...]]}               triplets
//	{"w":[[...]]}                    triplets of vectors
//	{"logweights":[[...]]}           assignment costs
//
// In Go, metric.Pair, metric.Triplet, metric.Comparison and metric.CostRound are such lines as JSON, and
// the outcomes and predictions of package learners such answers, without round and
// expected. (encoding/json spells the exponents of tiny numbers 1e-7, not 1e-07.)
//
// Numbers are the shortest text that reads back as the same float64. A number of
// the input may be any finite JSON number; labels and objects must be whole but
// may be written 1.0. The fields may come in any order.
//
// Bad is a line that is no JSON object, or has an unknown, missing or duplicate field or
// a value of another type (null included). So is a number that overflows, a vector of
// another length than the others, invalid UTF-8, more bytes than MaxLine, or whatever the
// learner refuses. A bad line changes nothing and has no answer. An empty line is neither
// accepted nor bad. Lines end with \n or \r\n, the last one also with the end of the
// input. A UTF-8 byte order mark before the first line does not count.
//
// # How it is built
//
// A stream is a codec for each kind of feedback over one session loop. A new learner joins through the catalog
// alone. Feedback, outcomes and predictions have the same fields as JSON.
//
// A refused line leaves the saved bytes of the learner unchanged. Every line learned from has been answered,
// unless the output failed. Output is flushed before every read that may block: so a program gets each answer at
// once, and a file is worked through in batches.
package lines

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"metriclab/pkg/feedback"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/persist"
	"metriclab/pkg/vectors"
)

// DefaultMaxLine is the longest line accepted by default, in bytes: 64 MiB.
const DefaultMaxLine = 64 << 20

// bufferSize is that of the buffers of input and output.
const bufferSize = 64 << 10

// Options are the options of a Session.
type Options struct {
	// Dim is the length of the vectors of a learner of pairs or of comparisons of vectors; 0 takes it from the
	// first line or the loaded learner.
	Dim int
	// Objects is the number of objects of a triplet learner; 0 takes it from
	// the loaded learner.
	Objects int
	// StateEvery adds the state to the answer of every n-th accepted line; 0
	// means never.
	StateEvery int
	// MaxLine is the longest line accepted, in bytes without the line ending, at
	// most limits.Memory; 0 means DefaultMaxLine, or limits.Memory if that is less.
	MaxLine int
	// Vectors, if not nil, has the lines of a learner of vectors name those of a file, in place of numbers.
	Vectors *Vectors
	// Bad, if not nil, is called for each bad line, and the session goes on. If
	// it is nil, the first bad line ends the session.
	Bad func(*LineError)
	// Accepted, if not nil, is called after each accepted line with the number of those of this Run, before the next
	// line is read; it may call Save. An error of it ends the session. Answers may still wait to be written.
	Accepted func(n int) error
}

// Vectors are those that lines may name.
type Vectors struct {
	File    *vectors.File
	Objects feedback.Objects // the rows of File
}

// OptionError says that an option does not fit: its name as a command would
// spell it (dim, objects, state-every, max-line), and why.
type OptionError struct {
	Option string
	Err    error
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Err.Error() }
func (e *OptionError) Unwrap() error { return e.Err }

// LineError is a bad line of the input, counted from 1.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

var (
	// ErrOutput is wrapped by the error of a Run whose answers could not be
	// written.
	ErrOutput = errors.New("the answers cannot be written")
	// ErrBroken is wrapped by the error of a Run that a learner ended by
	// accepting a round and then reporting NaN or infinity. What it learned is
	// of no use: Save refuses it.
	ErrBroken = errors.New("the learner is broken")
	// ErrNothing is returned by Save if there is no learner yet: no line was
	// accepted, and nothing else says how large the learner is.
	ErrNothing = errors.New("there is no learner to save: no line was accepted")
)

// fielder is what reads a line: by reset and then one call of field per field.
type fielder interface {
	// fields are the names of the fields that a line can have.
	fields() []string
	reset()
	// field reads the value of fields()[i] from d.
	field(i int, d *decoder) error
}

// protocol is a learner with the fields of its lines; answer does the round of one that was read.
type protocol interface {
	fielder
	// answer checks the line, predicts or steps, and appends the fields of the
	// answer, each with a comma before it. If it returns an error, nothing has
	// changed, unless the error wraps ErrBroken.
	answer(dst []byte) ([]byte, error)
	// appendState appends the fields of the state. The learner is there.
	appendState(dst []byte) ([]byte, error)
	// save writes the learner, or returns ErrNothing.
	save(w io.Writer) error
}

// Session is one learner at work on streams of lines. It is not for concurrent
// use.
type Session struct {
	o      Options
	entry  catalog.Entry
	p      protocol
	d      decoder
	out    []byte
	broken bool
}

// New returns a session with a fresh learner. An option that does not fit gives
// an OptionError; the errors of the learner's constructor are returned as they
// are. It panics if the feedback of e is not online.
func New(e catalog.Entry, v catalog.Values, o Options) (*Session, error) {
	if err := o.check(e.Feedback); err != nil {
		return nil, err
	}
	var p protocol
	switch e.Feedback {
	case catalog.Pairs:
		dim, err := o.dim()
		if err != nil {
			return nil, err
		}
		pairs := &pairLines{name: e.Name, dim: dim, states: o.StateEvery > 0, make: func(dim int) (pairLearner, error) {
			return catalog.As[learners.Pair](e.New(catalog.Shape{Dim: dim}, v))
		}}
		if dim > 0 {
			if pairs.learner, err = pairs.made(dim); err != nil {
				return nil, err
			}
		}
		if p = pairs; o.Vectors != nil {
			if p, err = pairs.fromVectors(o.Vectors); err != nil {
				return nil, err
			}
		}
	case catalog.VectorTriplets:
		dim, err := o.dim()
		if err != nil {
			return nil, err
		}
		c := &comparisonLines{name: e.Name, dim: dim, states: o.StateEvery > 0, make: func(dim int) (learners.SimilarityLearner, error) {
			return catalog.As[learners.SimilarityLearner](e.New(catalog.Shape{Dim: dim}, v))
		}}
		if dim > 0 {
			if c.learner, err = c.made(dim); err != nil {
				return nil, err
			}
		}
		if p = c; o.Vectors != nil {
			if err := c.readFrom(o.Vectors); err != nil {
				return nil, err
			}
		}
	case catalog.Triplets:
		if o.Objects == 0 {
			return nil, &OptionError{"objects", errors.New("missing, want the number of objects: the learner needs it")}
		}
		l, err := catalog.As[learners.TripletLearner](e.New(catalog.Shape{Objects: o.Objects}, v))
		if err != nil {
			return nil, err
		}
		p = newTripletLines(l)
	case catalog.Costs:
		p = &costLines{make: func(a, b int) (learners.MapLearner, error) {
			return catalog.As[learners.MapLearner](e.New(catalog.Shape{Objects: a, Prototypes: b}, v))
		}}
	}
	return &Session{o: o, entry: e, p: p}, nil
}

// dim returns the length of the vectors of a learner that does not exist yet, and 0 if only a line tells it.
func (o Options) dim() (int, error) {
	if o.Vectors == nil {
		return o.Dim, nil
	}
	dim := o.Vectors.File.Dim()
	if o.Dim != 0 && o.Dim != dim {
		return 0, &OptionError{"dim", fmt.Errorf("%d is not allowed: the vectors of %s have %d numbers", o.Dim, o.Vectors.File.Name(), dim)}
	}
	return dim, nil
}

// fits returns an error if the loaded learner does not fit o.
func (o Options) fits(l interface{ Dim() int }) error {
	if o.Dim != 0 && o.Dim != l.Dim() {
		return &OptionError{"dim", fmt.Errorf("%d is not allowed: the loaded learner has dimension %d", o.Dim, l.Dim())}
	}
	if err := checkState(l, o.StateEvery > 0); err != nil {
		return &OptionError{"state-every", err}
	}
	if o.Vectors == nil {
		return nil
	}
	if dim := o.Vectors.File.Dim(); dim != l.Dim() {
		return &OptionError{"vectors", fmt.Errorf("the vectors of %s have %d numbers, want %d as the loaded learner has", o.Vectors.File.Name(), dim, l.Dim())}
	}
	return nil
}

// Load returns a session with the learner that r holds, which must be of a kind
// among entries. A file that is not such a learner gives an error of package
// persist; an option that does not fit the learner gives an OptionError.
func Load(entries []catalog.Entry, r io.Reader, o Options) (*Session, error) {
	raw, err := persist.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("persist: %w", err)
	}
	env, err := persist.Read(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	e, err := catalog.OfKind(entries, env.Kind)
	if err != nil {
		return nil, err
	}
	if err := o.check(e.Feedback); err != nil {
		return nil, err
	}
	p, err := load(e, bytes.NewReader(raw), o)
	if err != nil {
		return nil, err
	}
	return &Session{o: o, entry: e, p: p}, nil
}

func load(e catalog.Entry, r io.Reader, o Options) (protocol, error) {
	switch e.Feedback {
	case catalog.Pairs:
		l, err := catalog.As[learners.Pair](e.Load(r))
		if err != nil {
			return nil, err
		}
		if err := o.fits(l); err != nil {
			return nil, err
		}
		pairs := &pairLines{name: e.Name, dim: l.Dim(), learner: l}
		if o.Vectors == nil {
			return pairs, nil
		}
		return pairs.fromVectors(o.Vectors)
	case catalog.VectorTriplets:
		l, err := catalog.As[learners.SimilarityLearner](e.Load(r))
		if err != nil {
			return nil, err
		}
		if err := o.fits(l); err != nil {
			return nil, err
		}
		c := &comparisonLines{name: e.Name, dim: l.Dim(), learner: l}
		if o.Vectors != nil {
			err = c.readFrom(o.Vectors)
		}
		return c, err
	case catalog.Triplets:
		l, err := catalog.As[learners.TripletLearner](e.Load(r))
		if err != nil {
			return nil, err
		}
		if o.Objects != 0 && o.Objects != l.Objects() {
			return nil, &OptionError{"objects", fmt.Errorf("%d is not allowed: the loaded learner has %d objects", o.Objects, l.Objects())}
		}
		return newTripletLines(l), nil
	default:
		l, err := catalog.As[learners.MapLearner](e.Load(r))
		if err != nil {
			return nil, err
		}
		return &costLines{learner: l}, nil
	}
}

// check returns an OptionError unless o is allowed for learners of f.
func (o Options) check(f catalog.Feedback) error {
	if !f.Online() {
		panic(fmt.Sprintf("lines: learners of %q are not online", f))
	}
	ofVectors := []catalog.Feedback{catalog.Pairs, catalog.VectorTriplets}
	allowed := func(of []catalog.Feedback) error {
		if of == nil || slices.Contains(of, f) {
			return nil
		}
		var names []string
		for _, o := range of {
			names = append(names, string(o))
		}
		return fmt.Errorf("not allowed: the learner takes %s, want %s", f, strings.Join(names, "; or "))
	}
	if err := allowed(ofVectors); o.Vectors != nil && err != nil {
		return &OptionError{"vectors", err}
	}
	for _, c := range []struct {
		option string
		value  int
		of     []catalog.Feedback // the only ones it is for; nil for all
	}{
		{"dim", o.Dim, ofVectors},
		{"objects", o.Objects, []catalog.Feedback{catalog.Triplets}},
		{"state-every", o.StateEvery, nil},
		{"max-line", o.MaxLine, nil},
	} {
		if c.value < 0 {
			return &OptionError{c.option, fmt.Errorf("%d is not allowed, want at least 1", c.value)}
		}
		if c.option == "max-line" && int64(c.value) > limits.Memory() {
			return &OptionError{c.option, fmt.Errorf("%d is not allowed, want at most %d, the limit of memory (flag --max-memory, limits.SetMemory)", c.value, limits.Memory())}
		}
		if err := allowed(c.of); c.value > 0 && err != nil {
			return &OptionError{c.option, err}
		}
	}
	return nil
}

// Entry returns the catalog's entry of the learner.
func (s *Session) Entry() catalog.Entry { return s.entry }

// Save writes the learner in the format of package persist; a session that
// loads it goes on bit for bit. It returns ErrNothing before there is a
// learner, and an error that wraps ErrBroken if a Run ended so.
func (s *Session) Save(w io.Writer) error {
	if s.broken {
		return fmt.Errorf("%w: it is not saved", ErrBroken)
	}
	return s.p.save(w)
}

// Summary counts the lines of one Run. Empty lines count as Lines only.
type Summary struct {
	Lines, Accepted, Bad int
}

// Run reads lines until the end of in, and writes the answers to out: at once
// whenever it has to wait for input, in batches while there is more. It ends
// early with a LineError (see Options.Bad), an error of Options.Accepted, the error of ctx once that is done,
// even during a read that blocks, an error of in, or one that wraps ErrOutput
// or ErrBroken. Whatever ends it, every line learned from has been answered
// unless out failed. A write that blocks is waited for.
//
// After an early end because of ctx, in may be in use until its pending Read
// returns.
func (s *Session) Run(ctx context.Context, in io.Reader, out io.Writer) (Summary, error) {
	w := bufio.NewWriterSize(out, bufferSize)
	p := startPump(ctx, in)
	defer p.stop()
	maxLine := s.o.MaxLine
	if maxLine == 0 {
		maxLine = int(min(DefaultMaxLine, limits.Memory()))
	}
	r := lineReader{r: bufio.NewReaderSize(flusher{p, w}, bufferSize), max: maxLine}
	sum, err := s.run(ctx, &r, w)
	if flushed := w.Flush(); flushed != nil && !errors.Is(err, ErrOutput) {
		err = errors.Join(err, fmt.Errorf("%w: %w", ErrOutput, flushed))
	}
	return sum, err
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func (s *Session) run(ctx context.Context, r *lineReader, w *bufio.Writer) (Summary, error) {
	var sum Summary
	for {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		line, err := r.next()
		if err == io.EOF {
			return sum, nil
		}
		if err == nil || errors.Is(err, errTooLong) {
			sum.Lines++
		}
		if sum.Lines == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		switch {
		case errors.Is(err, errTooLong):
		case err != nil:
			return sum, err
		case len(bytes.TrimSpace(line)) == 0:
			continue
		default:
			var answer []byte
			if answer, err = s.line(line, sum.Accepted+1); err == nil {
				sum.Accepted++
				if _, err := w.Write(answer); err != nil {
					return sum, fmt.Errorf("%w: %w", ErrOutput, err)
				}
				if s.o.Accepted != nil {
					if err := s.o.Accepted(sum.Accepted); err != nil {
						return sum, err
					}
				}
				continue
			}
			if errors.Is(err, ErrBroken) {
				s.broken = true
				return sum, fmt.Errorf("line %d: %w", sum.Lines, err)
			}
		}
		sum.Bad++
		bad := &LineError{sum.Lines, err}
		if s.o.Bad == nil {
			return sum, bad
		}
		s.o.Bad(bad)
	}
}

// line does one round and returns the answer, valid until the next call.
func (s *Session) line(line []byte, round int) ([]byte, error) {
	if err := s.d.object(line, s.p); err != nil {
		return nil, err
	}
	s.out = append(s.out[:0], `{"round":`...)
	s.out = strconv.AppendInt(s.out, int64(round), 10)
	var err error
	if s.out, err = s.p.answer(s.out); err != nil {
		return nil, err
	}
	if s.o.StateEvery > 0 && round%s.o.StateEvery == 0 {
		s.out = append(s.out, `,"state":{`...)
		if s.out, err = s.p.appendState(s.out); err != nil {
			return nil, err
		}
		s.out = append(s.out, '}')
	}
	s.out = append(s.out, "}\n"...)
	return s.out, nil
}
