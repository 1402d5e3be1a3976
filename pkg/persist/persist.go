// Package persist is the one file format in which metriclab keeps learned
// state: a JSON envelope around a kind, its parameters and its state,
//
//	{"format":"metriclab","version":1,"kind":"pairs/pola","params":{...},"sha256":"...","state":{...}}
//
// The checksum covers kind, params and state, so that a truncated or edited
// file is an error and never a slightly different model. Large arrays are
// base64 of little-endian float64 (type Floats), which keeps every bit.
//
// # How it is built
//
// What learners, metrics, projections and models save is one JSON envelope: {format, version, kind, params,
// sha256, state}. Large arrays are base64 of little-endian float64, so that every bit comes back and a loaded
// learner goes on bit for bit. A learner that draws owns a *rand.PCG and saves it.
//
// A loader accepts only what Save could have written. WriteFile replaces a file as a whole.
package persist

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"reflect"

	"metriclab/pkg/limits"
)

const (
	format = "metriclab"
	// Version is the newest envelope version this package reads and the one it
	// writes.
	Version = 1
)

// Errors that Read wraps, each with what was found and what was expected.
var (
	ErrForeign = errors.New("not a metriclab file")
	ErrNewer   = errors.New("written by a newer metriclab")
	ErrDamaged = errors.New("damaged")
	ErrKind    = errors.New("of another kind")
)

// Envelope is one saved object. Params and State are raw JSON, to be decoded
// by the type that Kind names.
type Envelope struct {
	Kind   string
	Params json.RawMessage
	State  json.RawMessage
}

type file struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Kind    string          `json:"kind"`
	Params  json.RawMessage `json:"params"`
	SHA256  string          `json:"sha256"`
	State   json.RawMessage `json:"state"`
}

// Write writes an envelope of the given kind. params and state may be any values that
// marshal to JSON, a bare Floats among them: Load reads them into values of the same types.
// A NaN or infinity in them is an error unless it is in Floats.
func Write(w io.Writer, kind string, params, state any) error {
	p, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("persist: %s: params: %w", kind, err)
	}
	s, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("persist: %s: state: %w", kind, err)
	}
	out, err := json.Marshal(file{format, Version, kind, p, digest(kind, p, s), s})
	if err != nil {
		return fmt.Errorf("persist: %s: %w", kind, err)
	}
	_, err = w.Write(append(out, '\n'))
	return err
}

// Read reads an envelope and checks format, version and checksum. Its errors
// wrap ErrForeign, ErrNewer or ErrDamaged, or are those of reading; a file of more
// bytes than limits.Memory gives a *limits.MemoryError. What does not begin as an
// object of JSON is foreign, and read no further.
func Read(r io.Reader) (Envelope, error) {
	raw, err := ReadAll(r)
	if err != nil {
		return Envelope{}, fmt.Errorf("persist: %w", err)
	}
	var f file
	if err := json.Unmarshal(raw, &f); err != nil {
		if bytes.HasPrefix(raw, []byte(`{"format":"`+format+`"`)) {
			return Envelope{}, fmt.Errorf("persist: file is %w: %w", ErrDamaged, err)
		}
		return Envelope{}, fmt.Errorf("persist: %w: %w", ErrForeign, err)
	}
	switch {
	case f.Format != format:
		return Envelope{}, fmt.Errorf("persist: %w: format is %q, want %q", ErrForeign, f.Format, format)
	case f.Version > Version:
		return Envelope{}, fmt.Errorf("persist: %w: version %d, this program reads up to %d", ErrNewer, f.Version, Version)
	case f.Version < 1:
		return Envelope{}, fmt.Errorf("persist: file is %w: version %d", ErrDamaged, f.Version)
	}
	if err := conform(raw, reflect.TypeFor[file]()); err != nil {
		return Envelope{}, fmt.Errorf("persist: file is %w: %w", ErrDamaged, err)
	}
	if got := digest(f.Kind, f.Params, f.State); got != f.SHA256 {
		return Envelope{}, fmt.Errorf("persist: file is %w: checksum of the content is %s, the file says %s", ErrDamaged, got, f.SHA256)
	}
	return Envelope{Kind: f.Kind, Params: f.Params, State: f.State}, nil
}

// ReadAll reads a file for Read: of one whose beginning is foreign no more than that,
// and of another at most limits.Memory bytes. Its errors are those of Read.
func ReadAll(r io.Reader) ([]byte, error) {
	head := make([]byte, 64)
	n, err := io.ReadFull(r, head)
	head = head[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if begin := bytes.TrimLeft(head, " \t\r\n"); len(begin) > 0 && begin[0] != '{' {
		return nil, fmt.Errorf("%w: it begins with %q, want an object of JSON", ErrForeign, begin[:min(len(begin), 16)])
	}
	in := io.MultiReader(bytes.NewReader(head), r)
	if f, ok := r.(statter); ok {
		in = struct { // ReadAll asks for the size
			io.Reader
			statter
		}{in, f}
	}
	return limits.ReadAll(in, "the saved file")
}

type statter interface{ Stat() (fs.FileInfo, error) }

// Expect returns an error that wraps ErrKind unless e is of the given kind.
func (e Envelope) Expect(kind string) error {
	if e.Kind != kind {
		return fmt.Errorf("persist: file is %w: it holds %q, want %q", ErrKind, e.Kind, kind)
	}
	return nil
}

// Decode decodes params and state into the given pointers, as strictly as Unmarshal.
func (e Envelope) Decode(params, state any) error {
	if err := Unmarshal(e.Params, params); err != nil {
		return fmt.Errorf("persist: %s: params: %w", e.Kind, err)
	}
	if err := Unmarshal(e.State, state); err != nil {
		return fmt.Errorf("persist: %s: state: %w", e.Kind, err)
	}
	return nil
}

// Load reads an envelope of the given kind and decodes it into the pointers params and
// state. Its errors are those of Read, or wrap ErrKind or ErrDamaged.
func Load(r io.Reader, kind string, params, state any) error {
	if d, ok := r.(*Declaration); ok {
		*d = Declaration{kind, reflect.TypeOf(params).Elem(), reflect.TypeOf(state).Elem()}
		return fmt.Errorf("persist: %s: a Declaration holds no file", kind)
	}
	env, err := Read(r)
	if err != nil {
		return err
	}
	if err := env.Expect(kind); err != nil {
		return err
	}
	if err := env.Decode(params, state); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// digest hashes length-prefixed compact fields, so that no two triples share
// an encoding and re-indenting a file does not damage it.
func digest(kind string, params, state []byte) string {
	h := sha256.New()
	for _, field := range [][]byte{[]byte(kind), compact(params), compact(state)} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(field)))
		h.Write(n[:])
		h.Write(field)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func compact(raw []byte) []byte {
	if !bytes.ContainsAny(raw, " \t\r\n") {
		return raw // as Write leaves it
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// Floats is a []float64 that marshals to a JSON string: base64 of its
// little-endian bytes. Every bit survives, NaN and −0 included.
type Floats []float64

// MarshalJSON implements json.Marshaler.
func (f Floats) MarshalJSON() ([]byte, error) {
	b := make([]byte, 8*len(f))
	for i, v := range f {
		binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(v))
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(b))
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Floats) UnmarshalJSON(raw []byte) error {
	text := raw
	if n := len(raw); n >= 2 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		text = raw[1 : n-1] // raw is valid JSON: no copy is needed
	} else {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		text = []byte(s)
	}
	b, err := decode64(text)
	if err != nil {
		return err
	}
	if len(b)%8 != 0 {
		return fmt.Errorf("%d bytes are no whole number of float64", len(b))
	}
	*f = make(Floats, len(b)/8)
	for i := range *f {
		(*f)[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return nil
}
