package datasets

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxIDXBytes is the largest number of data bytes that readIDX accepts, 256 MiB:
// five times MNIST's training images.
const maxIDXBytes = 256 << 20

// maxIDXSide bounds every size but the first: an image's height and width.
const maxIDXSide = 1 << 12

// FormatError says what is wrong with a file, where, and what is allowed there.
type FormatError struct {
	File   string
	Offset int64  // in bytes from the start of the uncompressed data
	Field  string // for example "magic"
	Value  string // what stands there
	Want   string // what is allowed
	Err    error  // the cause, if another error is
}

func (e *FormatError) Error() string {
	msg := fmt.Sprintf("datasets: %s: byte %d, %s: is %s, want %s", e.File, e.Offset, e.Field, e.Value, e.Want)
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// idxArray is the content of an IDX file of unsigned bytes.
type idxArray struct {
	Dims []int  // each at least 1
	Data []byte // ∏ Dims bytes, last dimension fastest
}

// readIDX reads an IDX file of unsigned bytes with the given number of
// dimensions (1 for labels, magic 2049; 3 for images, magic 2051), plain or
// gzip-compressed. The format is that of LeCun's MNIST page: a big-endian
// magic 0x0000080n with n dimensions, n big-endian 32-bit sizes, the bytes.
//
// The header is checked before anything is allocated, and memory grows only
// with the data that arrive, to at most twice maxIDXBytes. The error is a
// *FormatError, which carries name: for a wrong magic, a size of zero, a height
// or width above 4096, more than maxIDXBytes in all, fewer bytes than announced,
// or bytes after the end. It panics unless 1 ≤ dims ≤ 3.
func readIDX(r io.Reader, name string, dims int) (*idxArray, error) {
	if dims < 1 || dims > 3 {
		panic(fmt.Sprintf("datasets: readIDX with %d dimensions", dims))
	}
	in := bufio.NewReaderSize(r, 1<<16)
	src := io.Reader(in)
	if m, _ := in.Peek(2); len(m) == 2 && m[0] == 0x1f && m[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, &FormatError{name, 0, "gzip header", "damaged", "a gzip file", err}
		}
		src = z
	}

	head := make([]byte, 4+4*dims)
	if n, err := io.ReadFull(src, head); err != nil {
		return nil, &FormatError{name, int64(n), "header", fmt.Sprintf("%d bytes long", n), fmt.Sprintf("%d bytes", len(head)), readError(err)}
	}
	if magic, want := binary.BigEndian.Uint32(head), uint32(0x0800+dims); magic != want {
		return nil, &FormatError{name, 0, "magic", fmt.Sprint(magic), fmt.Sprintf("%d (unsigned bytes, %d dimension(s))", want, dims), nil}
	}
	out := &idxArray{Dims: make([]int, dims)}
	total := 1
	for k := range dims {
		off := 4 + 4*k
		size := binary.BigEndian.Uint32(head[off:])
		limit := maxIDXBytes / total
		if k > 0 {
			limit = min(limit, maxIDXSide)
		}
		if size == 0 || uint64(size) > uint64(limit) {
			return nil, &FormatError{name, int64(off), fmt.Sprintf("size of dimension %d", k+1), fmt.Sprint(size),
				fmt.Sprintf("1 to %d (at most %d bytes in all)", limit, maxIDXBytes), nil}
		}
		out.Dims[k] = int(size)
		total *= int(size)
	}

	// A header can announce what never comes, so the buffer doubles as data
	// arrive and does not start at its full size.
	const firstChunk = 1 << 20
	data := make([]byte, 0, min(total, firstChunk))
	for len(data) < total {
		if len(data) == cap(data) {
			grown := make([]byte, len(data), min(total, 2*cap(data)))
			copy(grown, data)
			data = grown
		}
		n, err := io.ReadFull(src, data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err != nil {
			return nil, &FormatError{name, int64(len(head) + len(data)), "data", fmt.Sprintf("%d bytes long", len(data)),
				fmt.Sprintf("%d bytes", total), readError(err)}
		}
	}
	// Reading on to the end also makes gzip verify its own checksum.
	var one [1]byte
	switch n, err := io.ReadFull(src, one[:]); {
	case n > 0:
		return nil, &FormatError{name, int64(len(head) + total), "end", "followed by more bytes", "the end of the file", nil}
	case err != io.EOF:
		return nil, &FormatError{name, int64(len(head) + total), "end", "unreadable", "the end of the file", err}
	}
	out.Data = data
	return out, nil
}

// readError drops the two errors that only repeat "too short".
func readError(err error) error {
	if errors.Is(err, io.EOF) || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// LoadImages reads a pair of IDX files, gzip or plain: images (magic 2051) and
// labels (magic 2049, digits 0..9). The error is a *FormatError as from
// readIDX, also for a label above 9 or a count of labels that differs from
// that of images, or says why a file cannot be opened.
func LoadImages(imagesPath, labelsPath string) (*Images, error) {
	x, err := loadIDX(imagesPath, 3)
	if err != nil {
		return nil, err
	}
	y, err := loadIDX(labelsPath, 1)
	if err != nil {
		return nil, err
	}
	return newImages(x, y, labelsPath)
}

func newImages(x, y *idxArray, labelsName string) (*Images, error) {
	if y.Dims[0] != x.Dims[0] {
		return nil, &FormatError{labelsName, 4, "number of labels", fmt.Sprint(y.Dims[0]), fmt.Sprintf("%d, the number of images", x.Dims[0]), nil}
	}
	for i, l := range y.Data {
		if l > 9 {
			return nil, &FormatError{labelsName, int64(8 + i), "label", fmt.Sprint(l), "0 to 9", nil}
		}
	}
	return &Images{N: x.Dims[0], H: x.Dims[1], W: x.Dims[2], Pix: x.Data, Labels: y.Data}, nil
}

func loadIDX(path string, dims int) (*idxArray, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	return readIDX(f, path, dims)
}
