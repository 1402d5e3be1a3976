package vectors

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"metriclab/pkg/limits"
)

// The beginnings that tell what a file is.
const (
	npyMagic  = "\x93NUMPY"
	gzipMagic = "\x1f\x8b"
)

// Read reads vectors to the end of r, which may be compressed by gzip:
//
//   - a .npy file, as Open reads it;
//   - a line for each vector: [0.1,-2,3e-4], with or without an id and a tab before it, as COPY writes a table of pgvector;
//   - JSON lines: an object with a list of numbers, and an id in the field id or _id. The list is that in the field vector, embedding or values, or the only one.
//
// Numbers of text are rounded to float32, as indexes of vectors keep them. All of it goes to a temporary file, so that memory does not grow with the vectors, only with the ids.
// Close removes that file. name is that of the input, for errors, which name the line.
func Read(r io.Reader, name string) (*File, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if begin, _ := in.Peek(len(gzipMagic)); string(begin) == gzipMagic {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("vectors: %s: %w", name, err)
		}
		in = bufio.NewReaderSize(unzipped, 1<<16)
	}
	temp, err := os.CreateTemp("", "metriclab-vectors-")
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	gone := os.Remove(temp.Name()) == nil // where an open file can be, it cannot be left behind
	remove := func() error {
		err := temp.Close()
		if !gone {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
		return err
	}
	var ids []string
	if begin, _ := in.Peek(len(npyMagic)); string(begin) == npyMagic {
		if _, err = io.Copy(temp, in); err != nil {
			err = fmt.Errorf("vectors: %s: %w", name, err)
		}
	} else {
		ids, err = convert(temp, in, name)
	}
	var size int64
	if err == nil {
		size, err = temp.Seek(0, io.SeekEnd)
	}
	var out *File
	if err == nil {
		out, err = newFile(temp, size, name)
	}
	if err != nil {
		_ = remove()
		return nil, err
	}
	out.close, out.ids = remove, ids
	return out, nil
}

// lineBytes bounds a line of text: a vector of a million numbers.
const lineBytes = 1 << 25

// convert writes lines of text as a .npy file of float32 and returns their ids, nil for none.
func convert(to *os.File, from io.Reader, name string) (ids []string, err error) {
	out := bufio.NewWriterSize(to, 1<<18)
	if _, err := out.Write(Header(1, 1, true)); err != nil { // its place
		return nil, fmt.Errorf("vectors: %w", err)
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, lineBytes)
	seen := map[string]int{}
	rows, dim, line, bytesOfIDs := 0, 0, 0, int64(0)
	at := func(err error) error { return fmt.Errorf("vectors: %s:%d: %w", name, line, err) }
	fail := func(err error) error { return at(cmp.Or(lines.Err(), err)) } // a line that was cut off is not at fault
	var raw []byte
	for lines.Scan() {
		line++
		text := lines.Bytes()
		if line == 1 {
			if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
				return nil, fmt.Errorf("vectors: %s: the text is UTF-16, want UTF-8", name)
			}
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		if text = bytes.Trim(text, " \r"); len(text) == 0 { // a tab follows an id
			continue
		}
		id, list, err := cut(text)
		if err != nil {
			return nil, fail(err)
		}
		if raw, err = appendNumbers(raw[:0], list); err != nil {
			return nil, fail(err)
		}
		switch n := len(raw) / 4; {
		case rows == 0:
			dim = n
		case n != dim:
			return nil, fail(fmt.Errorf("%d numbers, want %d as in the lines before", n, dim))
		}
		if named := id != ""; rows > 0 && named != (ids != nil) {
			return nil, fail(fmt.Errorf("the line has %s id, and the lines before %s; want one for all or for none", map[bool]string{true: "an", false: "no"}[named], map[bool]string{true: "have none", false: "have one"}[named]))
		} else if named {
			if !utf8.ValidString(id) {
				return nil, fail(fmt.Errorf("the id %s is not UTF-8", clip(id)))
			}
			if first, twice := seen[id]; twice {
				return nil, fail(fmt.Errorf("the id %s is that of line %d, too", clip(id), first))
			}
			seen[id], ids = line, append(ids, id)
			if bytesOfIDs += int64(len(id)) + idBytes; rows&(rows-1) == 0 {
				if err := limits.Check(fmt.Sprintf("%s: ids of more than %d vectors", name, rows), 2*bytesOfIDs); err != nil {
					return nil, fmt.Errorf("vectors: %w", err)
				}
			}
		}
		if _, err := out.Write(raw); err != nil {
			return nil, fmt.Errorf("vectors: %w", err)
		}
		rows++
	}
	if err := lines.Err(); err != nil {
		line++
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line is longer than %s: no text of vectors", limits.Size(lineBytes))
		}
		return nil, at(err)
	}
	if rows == 0 {
		return nil, fmt.Errorf("vectors: %s: no vector, want at least one", name)
	}
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	if _, err := to.WriteAt(Header(rows, dim, true), 0); err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	return ids, nil
}

// The names of fields of JSON lines.
var (
	idFields   = []string{"id", "_id"}
	listFields = []string{"vector", "embedding", "values"}
)

var errLine = errors.New("want a list of numbers, [0.1,-2], after an id and a tab or alone; or JSON with an id and a list of numbers; or a .npy file")

// cut divides a line into an id, "" for none, and a list in brackets.
func cut(line []byte) (id string, list []byte, err error) {
	if line[0] != '{' {
		at := bytes.LastIndex(line, []byte("\t[")) + 1 // an id may have brackets
		if at == 0 {
			at = bytes.IndexByte(line, '[')
		}
		if at < 0 || line[len(line)-1] != ']' {
			return "", nil, errLine
		}
		if at == 0 {
			return "", line, nil
		}
		before, tab := bytes.CutSuffix(line[:at], []byte("\t"))
		if id = string(bytes.TrimSpace(before)); !tab || id == "" {
			return "", nil, errLine
		}
		return id, line[at:], nil
	}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(line, &fields); err != nil {
		return "", nil, err
	}
	var lists []string
	for name, value := range fields {
		if value.Kind() == '[' {
			lists = append(lists, name)
		}
	}
	slices.Sort(lists)
	which := slices.IndexFunc(listFields, func(name string) bool { return slices.Contains(lists, name) })
	switch {
	case which >= 0:
		list = fields[listFields[which]]
	case len(lists) == 1:
		list = fields[lists[0]]
	default:
		return "", nil, fmt.Errorf("%d fields are lists, want one, or one called vector, embedding or values", len(lists))
	}
	for _, name := range idFields {
		switch value := fields[name]; value.Kind() {
		case '"':
			if err := json.Unmarshal(value, &id); err != nil {
				return "", nil, err
			}
		case '0':
			id = string(value)
		case 0: // it is not there
			continue
		default:
			return "", nil, fmt.Errorf("%s: %s is not allowed, want a text or a number", name, clip(string(value)))
		}
		if id == "" {
			return "", nil, fmt.Errorf("%s is empty, want an id", name)
		}
		return id, list, nil
	}
	return "", list, nil
}

// appendNumbers appends those of a list in brackets as little-endian float32.
func appendNumbers(out, list []byte) ([]byte, error) {
	rest := bytes.TrimSpace(list[1 : len(list)-1])
	for column := 1; ; column++ {
		cell, after, more := bytes.Cut(rest, []byte(","))
		cell = bytes.TrimSpace(cell)
		v, err := strconv.ParseFloat(string(cell), 32)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("number %d: %s is not allowed, want a finite number that a float32 can hold", column, clip(string(cell)))
		}
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		if !more {
			return out, nil
		}
		rest = after
	}
}
