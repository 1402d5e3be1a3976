package limits_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"metriclab/pkg/limits"
)

func TestProduct(t *testing.T) {
	for _, c := range []struct {
		factors []int
		want    int64
	}{
		{nil, 1},
		{[]int{3, 4}, 12},
		{[]int{math.MaxInt, 0}, 0},
		{[]int{math.MaxInt, 2, 0}, 0},
		{[]int{math.MaxInt, 1}, math.MaxInt64},
		{[]int{1 << 32, 1 << 32}, math.MaxInt64},
		{[]int{-1, 5}, math.MaxInt64},
	} {
		if got := limits.Product(c.factors...); got != c.want {
			t.Errorf("Product(%d) = %d, want %d", c.factors, got, c.want)
		}
	}
	if got := limits.Floats(2, 3); got != 48 {
		t.Errorf("Floats(2, 3) = %d, want 48", got)
	}
}

func TestCheck(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 20)
	if err := limits.Check("a", 1<<20); err != nil {
		t.Errorf("a size at the limit: %v", err)
	}
	for _, bytes := range []int64{1<<20 + 1, math.MaxInt64, -1} {
		var e *limits.MemoryError
		if err := limits.Check("a matrix", bytes); !errors.As(err, &e) || e.What != "a matrix" {
			t.Errorf("%d bytes: error is %v, want a *MemoryError", bytes, err)
		}
	}
	limits.SetMemory(0)
	if got := limits.Memory(); got != limits.DefaultMemory {
		t.Errorf("Memory() = %d after SetMemory(0), want %d", got, limits.DefaultMemory)
	}
	want := "LEGO with 100000 features would take 74.5 GiB of memory, the limit is 4 GiB (flag --max-memory, limits.SetMemory)"
	if err := limits.Check("LEGO with 100000 features", limits.Floats(100000, 100000)); err == nil || err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
}

// endless is an input without an end.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) { e.read += len(b); return len(b), nil }

func TestReadAll(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 16)
	full := make([]byte, 1<<16)
	if raw, err := limits.ReadAll(bytes.NewReader(full), "a file"); err != nil || len(raw) != len(full) {
		t.Errorf("as many bytes as are allowed: %d read, error %v", len(raw), err)
	}
	var e *limits.MemoryError
	if _, err := limits.ReadAll(bytes.NewReader(append(full, 0)), "a file"); !errors.As(err, &e) {
		t.Errorf("one byte more: error %v", err)
	}
	in := &endless{}
	want := "a file takes more than the limit of 64 KiB (flag --max-memory, limits.SetMemory)"
	if _, err := limits.ReadAll(in, "a file"); err == nil || err.Error() != want {
		t.Errorf("an endless input: error %v, want %s", err, want)
	}
	if in.read > 4<<16 {
		t.Errorf("%d bytes were read of an endless input", in.read)
	}
	if _, err := limits.ReadAll(failing{}, "a file"); err != errRead {
		t.Errorf("error %v, want that of the reader", err)
	}
	// A sparse file is refused for its size, before it is read.
	f, err := os.Create(filepath.Join(t.TempDir(), "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	if _, err := limits.ReadAll(f, "a file"); !errors.As(err, &e) || e.Bytes != 1<<30 {
		t.Errorf("a sparse file: error %v", err)
	}
	if _, err := limits.ReadFile(f.Name()); !errors.As(err, &e) || e.What != "file "+f.Name() {
		t.Errorf("a sparse file by name: error %v", err)
	}
	if _, err := limits.ReadFile(f.Name() + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: error %v", err)
	}
	limits.SetMemory(math.MaxInt64)
	if raw, err := limits.ReadAll(bytes.NewReader(full), "a file"); err != nil || len(raw) != len(full) {
		t.Errorf("no limit: %d read, error %v", len(raw), err)
	}
}

var errRead = errors.New("cannot read")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errRead }

var _ io.Reader = failing{}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "17B": 17, "5kB": 5000, "500MB": 500e6, "8GiB": 8 << 30, "2TiB": 2 << 40, "3KiB": 3072, "1GB": 1e9, "1TB": 1e12, "7MiB": 7 << 20,
		"9223372036854775807": math.MaxInt64, "8388607TiB": 8388607 << 40,
	} {
		if got, err := limits.ParseSize(text); err != nil || got != want {
			t.Errorf("%q is %d, error %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "0GiB", "-1", "+1", "GiB", "8 GiB", "8gib", "8GIB", "1.5GiB", "1e9", "0x10", "1_000", "8G", "8388608TiB", "9223372036854775808", "99999999999999999999999", "8GiBB", "Inf"} {
		if got, err := limits.ParseSize(text); err == nil {
			t.Errorf("%q is %d, want an error", text, got)
		}
	}
}
