// Package limits is the one home of the bound on memory: what a size in a file,
// a flag or a parameter would allocate is checked before it is allocated.
//
// The bound holds for one object (a learner, a matrix, a data set, a saved file),
// not for the process. It is DefaultMemory until SetMemory changes it.
package limits

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// DefaultMemory is 4 GiB.
const DefaultMemory int64 = 4 << 30

var memory atomic.Int64

func init() { memory.Store(DefaultMemory) }

// Memory returns the bound on the bytes of one object.
func Memory() int64 { return memory.Load() }

// SetMemory sets the bound, for the whole process; at most 0 restores
// DefaultMemory. The command has the flag --max-memory.
func SetMemory(bytes int64) {
	if bytes <= 0 {
		bytes = DefaultMemory
	}
	memory.Store(bytes)
}

// MemoryError says that an object would be larger than the bound.
type MemoryError struct {
	What  string // such as "LEGO with 100000 features"
	Bytes int64  // what it would take; math.MaxInt64 if that overflows; 0 if the end of an input was not reached
	Limit int64
}

func (e *MemoryError) Error() string {
	if e.Bytes == 0 {
		return fmt.Sprintf("%s takes more than the limit of %s (flag --max-memory, limits.SetMemory)", e.What, Size(e.Limit))
	}
	return fmt.Sprintf("%s would take %s of memory, the limit is %s (flag --max-memory, limits.SetMemory)", e.What, Size(e.Bytes), Size(e.Limit))
}

// Check returns a *MemoryError that names what if it takes more bytes than
// Memory allows. Product computes bytes without overflow.
func Check(what string, bytes int64) error {
	if limit := Memory(); bytes > limit || bytes < 0 {
		return &MemoryError{What: what, Bytes: bytes, Limit: limit}
	}
	return nil
}

// Product multiplies sizes; math.MaxInt64 stands for all that is larger, and for
// a negative factor.
func Product(factors ...int) int64 {
	p := int64(1)
	for _, f := range factors {
		switch {
		case f < 0:
			return math.MaxInt64
		case f == 0:
			p = 0
		case p > math.MaxInt64/int64(f):
			p = math.MaxInt64
		default:
			p *= int64(f)
		}
	}
	return p
}

// ReadAll reads to the end of r. It returns a *MemoryError that names what if r
// holds more bytes than Memory allows: at once if r is a file that knows its size,
// else after so many bytes, so that an endless r ends too.
func ReadAll(r io.Reader, what string) ([]byte, error) {
	limit := Memory()
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > limit {
			return nil, &MemoryError{What: what, Bytes: info.Size(), Limit: limit}
		}
	}
	// The parts are joined only once the end is reached within the limit.
	const least, most = 1 << 16, 1 << 26
	var parts [][]byte
	var total int64
	for size := least; ; size = min(2*size, most) {
		part := make([]byte, size)
		n, err := io.ReadFull(r, part)
		parts = append(parts, part[:n])
		if total += int64(n); total > limit {
			return nil, &MemoryError{What: what, Limit: limit}
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return slices.Concat(parts...), nil
		default:
			return nil, err
		}
	}
}

// ErrNotRegular says that a name is that of a folder, a pipe or a device.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a regular file, or a link to one, for reading. Opening a pipe would wait
// for whoever writes to it, so that the kind of the file is looked at before.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() { // it was replaced in between
		err = &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile reads a file that Open opens, of at most Memory bytes; a larger one gives a
// *MemoryError that names it.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, "file "+path)
}

// ParseSize reads a size in bytes: a whole number from 1 on, alone or followed by
// one of B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024).
func ParseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "BKMGTik")
	factor, ok := units[text[len(digits):]]
	n, err := strconv.ParseUint(digits, 10, 63)
	if !ok || err != nil || n < 1 || int64(n) > math.MaxInt64/factor {
		return 0, fmt.Errorf("%q is not allowed, want a whole number of bytes, or of kB, MB, GB, TB, KiB, MiB, GiB or TiB, such as 8GiB", text)
	}
	return int64(n) * factor, nil
}

var units = map[string]int64{
	"": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

// Floats is the size in bytes of float64 numbers, as many as the product of sizes.
func Floats(sizes ...int) int64 { return Product(append([]int{8}, sizes...)...) }

// Size writes a number of bytes for people, such as "1.5 GiB"; math.MaxInt64 is "more than 8 EiB".
func Size(bytes int64) string {
	if bytes == math.MaxInt64 {
		return "more than 8 EiB"
	}
	const unit = 1024
	if bytes < unit {
		return fmt.Sprintf("%d bytes", bytes)
	}
	v, names := float64(bytes)/unit, []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	for v >= unit && len(names) > 1 {
		v, names = v/unit, names[1:]
	}
	return fmt.Sprintf("%.3g %s", v, names[0])
}
