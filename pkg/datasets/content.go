package datasets

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"metriclab/pkg/limits"
)

// Content says how a file is checked whose bytes nobody can confirm: the reader of
// its kind reads it to the end, and the values that it yields must be the known
// ones. A file that was saved or packed again passes, a file with other values does
// not.
type Content struct {
	Kind   string // such as "prtools"; "" if nothing is known
	Shape  []int  // counts that the reader must find; the kind says of what
	SHA256 string // of the values, 64 hexadecimal digits; "" if no copy is known
}

// String returns the field of the registry.
func (c Content) String() string {
	if c.Kind == "" {
		return "-"
	}
	if c.SHA256 == "" {
		return c.Kind
	}
	return c.Kind + " " + shapeText(c.Shape) + " " + c.SHA256
}

func shapeText(shape []int) string {
	words := make([]string, len(shape))
	for i, n := range shape {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, "x")
}

// contentKind says how one kind of file is read.
type contentKind struct {
	what  string // in words, for errors
	magic string // the file begins with it; "" if any text may stand there
	shape string // what the numbers of Shape count, separated by ×; "" if there are none
	// read reads the whole file, adds what it yields to h and returns its shape. It
	// may stop with an error as soon as there is more than want says.
	read func(file *io.SectionReader, name string, want []int, h contentHash) (shape []int, err error)
}

// contentKinds are the kinds that the registry may name. download.sh checks the same
// magic bytes.
var contentKinds = map[string]contentKind{
	"prtools":      {"a MATLAB 5 MAT-file of PRTools", "MATLAB 5.0 MAT-file", "rows×columns×height of an image", prtoolsContent},
	"mat-triplets": {"a MATLAB 5 MAT-file of triplets", "MATLAB 5.0 MAT-file", "rows×objects", matTripletsContent},
	"zip-triplets": {"a zip with a CSV table of triplets", "PK\x03\x04", "rows×objects", zipTripletsContent},
	"zip-features": {"a zip with a CSV table of numbers", "PK\x03\x04", "rows×columns", zipFeaturesContent},
	"tar-posts":    {"a tar.gz of posts", "\x1f\x8b", "posts×bytes of all posts", tarPostsContent},
	"csv":          {"a CSV table with a head of names and a class last", "", "", csvContent},
}

// parseContent reads the registry's field: "-", a kind alone, or kind, shape and SHA-256.
func parseContent(field string) (Content, error) {
	if field == "-" {
		return Content{}, nil
	}
	words := strings.Split(field, " ")
	c := Content{Kind: words[0]}
	kind, ok := contentKinds[c.Kind]
	if !ok {
		return c, fmt.Errorf("content: kind %q is not allowed, want one of %s", c.Kind, strings.Join(slices.Sorted(maps.Keys(contentKinds)), ", "))
	}
	if (kind.shape == "") != (len(words) == 1) || len(words) > 3 || len(words) == 2 {
		return c, fmt.Errorf(`content: %q is not allowed, want "-", "csv", or a kind, its counts and a SHA-256`, field)
	}
	if len(words) == 1 {
		return c, nil
	}
	want := strings.Split(kind.shape, "×")
	for _, s := range strings.Split(words[1], "x") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return c, fmt.Errorf("content: count %q is not allowed, want a number from 0 to %d", s, math.MaxInt32)
		}
		c.Shape = append(c.Shape, n)
	}
	if len(c.Shape) != len(want) {
		return c, fmt.Errorf("content: %q is not allowed, want %s", words[1], kind.shape)
	}
	c.SHA256 = words[2]
	return c, checkSum("content", c.SHA256)
}

// ContentError is returned for a file that is not of its kind, that its reader
// refuses, or whose values are not the known ones.
type ContentError struct {
	File    string // where the file is, or was to be
	From    string // where it came from; "" if it lay there
	Why     string // which check failed (kind, data, counts or content), what it found, and what is allowed
	Dataset string // whose file it is, if it lay there: how to get it again
}

func (e *ContentError) Error() string {
	msg := "datasets: " + e.File
	if e.From != "" {
		msg += " from " + e.From
	}
	msg += ": " + e.Why
	if e.Dataset != "" {
		msg += fmt.Sprintf("; get it again with: metriclab data get %s   (or ./download.sh %s)", e.Dataset, e.Dataset)
	}
	return msg
}

// refused returns the error of a check that failed.
func refused(check, format string, args ...any) error {
	return &ContentError{Why: "wrong " + check + ": " + fmt.Sprintf(format, args...)}
}

// check reads a file to its end; name is its path in the registry. It returns a
// *ContentError without File if a check fails, and ctx.Err() if ctx ends first.
func (c Content) check(ctx context.Context, r io.ReaderAt, name string, size int64) error {
	kind := contentKinds[c.Kind]
	file := io.NewSectionReader(&ctxReaderAt{ctx, r}, 0, size)
	head := make([]byte, max(len(kind.magic), 24))
	n, err := io.ReadFull(file, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("datasets: %s: %w", name, err)
	}
	if head = head[:n]; !bytes.HasPrefix(head, []byte(kind.magic)) {
		return refused("kind", "begins with %q (%d bytes in all), want %s, which begins with %q", head, size, kind.what, kind.magic)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	h := contentHash{sha256.New()}
	h.text("metriclab content 1 " + c.Kind)
	shape, err := kind.read(file, name, c.Shape, h)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return refused("data", "%s; want %s", strings.TrimPrefix(err.Error(), "datasets: "), kind.what)
	case c.SHA256 == "":
		return nil
	case !slices.Equal(shape, c.Shape):
		return refused("counts", "%s are %s, want %s", kind.shape, shapeText(shape), shapeText(c.Shape))
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != c.SHA256 {
		return refused("content", "the SHA-256 of its values is %s, want %s", sum, c.SHA256)
	}
	return nil
}

// contentHash sums values in one form, whatever held them: numbers take 8 bytes,
// little-endian, and texts stand behind their lengths.
type contentHash struct{ hash.Hash }

func (h contentHash) ints(values ...int) {
	var b [8]byte
	for _, v := range values {
		binary.LittleEndian.PutUint64(b[:], uint64(v))
		h.Write(b[:])
	}
}

func (h contentHash) floats(values []float64) {
	var b [8]byte
	for _, v := range values {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
		h.Write(b[:])
	}
}

func (h contentHash) text(s string) {
	h.ints(len(s))
	h.Write([]byte(s))
}

func prtoolsContent(file *io.SectionReader, name string, _ []int, h contentHash) ([]int, error) {
	s, err := readPRTools(file, name)
	if err != nil {
		return nil, err
	}
	h.ints(s.N(), s.Dim(), s.Height, len(s.Classes))
	for _, c := range s.Classes {
		h.text(c)
	}
	h.ints(s.Y...)
	for i := range s.N() {
		h.floats(s.X.RawRowView(i))
	}
	return []int{s.N(), s.Dim(), s.Height}, nil
}

func matTripletsContent(file *io.SectionReader, name string, want []int, h contentHash) ([]int, error) {
	return tripletsContent(want, h, func(rows, objects int) (*TripletSet, error) { return readMATTriplets(file, name, objects, rows) })
}

func zipTripletsContent(file *io.SectionReader, name string, want []int, h contentHash) (shape []int, err error) {
	err = zippedCSV(file, name, func(r io.Reader, name string) error {
		shape, err = tripletsContent(want, h, func(rows, objects int) (*TripletSet, error) { return readTripletCSV(r, name, objects, rows) })
		return err
	})
	return shape, err
}

// tripletsContent adds a set of comparisons. read refuses more than the wanted rows,
// because counting them costs much more memory than the file has bytes.
func tripletsContent(want []int, h contentHash, read func(rows, objects int) (*TripletSet, error)) ([]int, error) {
	s, err := read(want[0], want[1])
	if err != nil {
		return nil, err
	}
	h.ints(s.Objects, s.Report.Read, s.Report.Degenerate, len(s.Triplets))
	for _, t := range s.Triplets {
		h.ints(t.A, t.Near, t.Far)
	}
	return []int{s.Report.Read, s.Objects}, nil
}

func zipFeaturesContent(file *io.SectionReader, name string, want []int, h contentHash) (shape []int, err error) {
	err = zippedCSV(file, name, func(r io.Reader, name string) error {
		x, err := readFeatures(r, name, want[0], want[1])
		if err != nil {
			return err
		}
		rows, columns := x.Dims()
		h.ints(rows, columns)
		for i := range rows {
			h.floats(x.RawRowView(i))
		}
		shape = []int{rows, columns}
		return nil
	})
	return shape, err
}

// zippedCSV calls read with the member of a zip that its reader in the store takes: the
// one that has the name of the zip without ".zip".
func zippedCSV(file *io.SectionReader, name string, read func(r io.Reader, name string) error) error {
	want := strings.TrimSuffix(path.Base(name), ".zip")
	z, err := zip.NewReader(file, file.Size())
	if err != nil {
		return fmt.Errorf("datasets: %s: %w", name, err)
	}
	i := slices.IndexFunc(z.File, func(m *zip.File) bool { return isMember(m.Name, want) })
	if i < 0 {
		return fmt.Errorf("datasets: %s: the archive has no member %s", name, want)
	}
	member := z.File[i]
	if member.UncompressedSize64 > MaxTripletBytes {
		return fmt.Errorf("datasets: %s: member %s has %d bytes, want at most %d", name, want, member.UncompressedSize64, MaxTripletBytes)
	}
	if err := limits.Check(name+"#"+want, int64(member.UncompressedSize64)); err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	r, err := member.Open()
	if err != nil {
		return fmt.Errorf("datasets: %s: %s: %w", name, want, err)
	}
	defer r.Close()
	return read(r, name+"#"+want)
}

// tarPostsContent adds names and contents of the regular files, ordered by name. Folders
// do not matter; anything else in the archive is refused.
func tarPostsContent(file *io.SectionReader, name string, want []int, h contentHash) ([]int, error) {
	sums := map[string][]byte{}
	total, err := eachPost(file, name, want[0], int64(want[1]), func(r io.Reader, member string) error {
		sum := sha256.New()
		if _, err := io.Copy(sum, r); err != nil {
			return err
		}
		sums[member] = sum.Sum(nil)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, member := range slices.Sorted(maps.Keys(sums)) {
		h.text(member)
		h.Write(sums[member])
	}
	return []int{len(sums), int(total)}, nil
}

// csvContent reads a table whose last column is a class and whose others are numbers.
func csvContent(file *io.SectionReader, name string, _ []int, _ contentHash) ([]int, error) {
	if err := limits.Check(name, file.Size()); err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	t, err := ReadCSV(file, name, CSVOptions{Header: HeaderYes})
	if err != nil {
		return nil, err
	}
	columns := make([]int, t.Width()-1)
	for j := range columns {
		columns[j] = j
	}
	if _, err := t.Numbers(columns, true); err != nil {
		return nil, err
	}
	_, err = t.Words(t.Width() - 1)
	return nil, err
}

// ctxReaderAt is an io.ReaderAt that fails once its context is done.
type ctxReaderAt struct {
	ctx context.Context
	r   io.ReaderAt
}

func (c *ctxReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.ReadAt(p, off)
}
