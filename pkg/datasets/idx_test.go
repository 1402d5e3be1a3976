package datasets

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// idxBytes writes an IDX file with the given magic and sizes.
func idxBytes(magic uint32, sizes []uint32, data []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, magic)
	for _, s := range sizes {
		out = binary.BigEndian.AppendUint32(out, s)
	}
	return append(out, data...)
}

func gzipped(data []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write(data) // a bytes.Buffer takes all
	z.Close()
	return buf.Bytes()
}

func TestIDXRoundTrip(t *testing.T) {
	rng := newRand(1)
	for _, sizes := range [][]uint32{{1}, {17}, {3, 5}, {2, 3, 4}, {1500, 28, 28}} {
		n := 1
		for _, s := range sizes {
			n *= int(s)
		}
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		plain := idxBytes(uint32(0x0800+len(sizes)), sizes, data)
		for name, file := range map[string][]byte{"plain": plain, "gzip": gzipped(plain)} {
			got, err := readIDX(bytes.NewReader(file), name, len(sizes))
			if err != nil {
				t.Fatalf("%s %v: %v", name, sizes, err)
			}
			if !bytes.Equal(got.Data, data) || len(got.Dims) != len(sizes) || got.Dims[0] != int(sizes[0]) {
				t.Errorf("%s %v: differs after a round trip", name, sizes)
			}
		}
	}
}

func TestIDXRefusesBadFiles(t *testing.T) {
	ok := idxBytes(2051, []uint32{2, 2, 2}, make([]byte, 8))
	zipped := gzipped(ok)
	badSum := slices.Clone(zipped)
	badSum[len(badSum)-6] ^= 1
	for _, tc := range []struct {
		name, want string // want: offset and field
		data       []byte
		dims       int
	}{
		{"empty", "byte 0, header", nil, 3},
		{"header cut", "byte 9, header", ok[:9], 3},
		{"labels for images", "byte 0, magic", idxBytes(2049, []uint32{16}, make([]byte, 20)), 3},
		{"images for labels", "byte 0, magic", ok, 1},
		{"float pixels", "byte 0, magic: is 3331, want 2051", idxBytes(0x0d03, []uint32{1, 1, 1}, make([]byte, 4)), 3},
		{"no image", "byte 4, size of dimension 1: is 0", idxBytes(2051, []uint32{0, 28, 28}, nil), 3},
		{"no row", "byte 8, size of dimension 2: is 0", idxBytes(2051, []uint32{1, 0, 28}, nil), 3},
		{"no column", "byte 12, size of dimension 3: is 0", idxBytes(2051, []uint32{1, 28, 0}, nil), 3},
		{"huge count", "byte 4, size of dimension 1", idxBytes(2051, []uint32{1 << 31, 1, 1}, nil), 3},
		{"huge side", "byte 8, size of dimension 2", idxBytes(2051, []uint32{1, 1 << 20, 1}, nil), 3},
		// 2³²−1 thrice overflows 64 bits; 65536·256·256 = 2³² overflows 32.
		{"overflow 64", "byte 4, size of dimension 1", idxBytes(2051, []uint32{1<<32 - 1, 1<<32 - 1, 1<<32 - 1}, nil), 3},
		{"overflow 32", "size of dimension", idxBytes(2051, []uint32{1 << 16, 1 << 8, 1 << 8}, nil), 3},
		{"truncated", "byte 23, data: is 7 bytes long, want 8 bytes", ok[:len(ok)-1], 3},
		{"no data", "byte 16, data: is 0 bytes long, want 8 bytes", ok[:16], 3},
		{"trailing", "byte 24, end", append(slices.Clone(ok), 0), 3},
		{"gzip trailing", "byte 24, end", gzipped(append(slices.Clone(ok), 0)), 3},
		{"gzip cut", "end", zipped[:len(zipped)-4], 3},
		{"gzip checksum", "byte 24, end", badSum, 3},
		{"gzip header", "gzip header", []byte{0x1f, 0x8b, 0, 0}, 3},
	} {
		got, err := readIDX(bytes.NewReader(tc.data), "dir/x.gz", tc.dims)
		var fe *FormatError
		if !errors.As(err, &fe) || got != nil {
			t.Errorf("%s: got %v, %v; want a FormatError", tc.name, got, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), "datasets: dir/x.gz: ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %q does not name the file and %q", tc.name, err, tc.want)
		}
	}
}

// A header that announces much, and a gzip bomb behind a header that announces
// little, cost memory in proportion to what arrives and is wanted.
func TestIDXMemoryIsBounded(t *testing.T) {
	bomb := gzipped(append(idxBytes(2051, []uint32{1, 1, 1}, nil), make([]byte, 64<<20)...))
	liar := idxBytes(2051, []uint32{60000, 64, 64}, make([]byte, 1000)) // 245 MB announced
	for name, file := range map[string][]byte{"bomb": bomb, "liar": liar} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readIDX(bytes.NewReader(file), name, 3)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
		// One chunk of 1 MiB, buffers and gzip's window; far below 64 MiB.
		if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
			t.Errorf("%s: allocated %d bytes", name, used)
		}
	}
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLoadImages(t *testing.T) {
	dir := t.TempDir()
	images, labels := filepath.Join(dir, "images"), filepath.Join(dir, "labels")
	writeFile(t, images, idxBytes(2051, []uint32{2, 1, 3}, []byte{1, 2, 3, 4, 5, 6}))
	writeFile(t, labels, gzipped(idxBytes(2049, []uint32{2}, []byte{9, 0})))
	m, err := LoadImages(images, labels)
	if err != nil {
		t.Fatal(err)
	}
	if m.N != 2 || m.H != 1 || m.W != 3 || !slices.Equal(m.Image(1), []byte{4, 5, 6}) || !slices.Equal(m.Labels, []byte{9, 0}) {
		t.Errorf("got %+v", m)
	}

	for name, tc := range map[string]struct {
		labels []byte
		want   string
	}{
		"label 10":    {idxBytes(2049, []uint32{2}, []byte{9, 10}), "labels: byte 9, label: is 10, want 0 to 9"},
		"three of 2":  {idxBytes(2049, []uint32{3}, []byte{9, 1, 1}), "labels: byte 4, number of labels: is 3, want 2, the number of images"},
		"not labels":  {[]byte("GIF89a.."), "labels: byte 0, magic"},
		"gone (none)": {nil, labels},
	} {
		if tc.labels == nil {
			if err := os.Remove(labels); err != nil {
				t.Fatal(err)
			}
		} else {
			writeFile(t, labels, tc.labels)
		}
		if _, err := LoadImages(images, labels); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v does not say %q", name, err, tc.want)
		}
		writeFile(t, labels, nil)
	}
}

func FuzzReadIDX(f *testing.F) {
	ok := idxBytes(2051, []uint32{2, 2, 2}, make([]byte, 8))
	for _, seed := range [][]byte{nil, ok, gzipped(ok), ok[:20], idxBytes(2049, []uint32{3}, []byte{1, 2, 3}), idxBytes(2051, []uint32{1 << 31, 1 << 31, 1 << 31}, nil)} {
		f.Add(seed, 3)
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, dims int) {
		dims = 1 + int(uint(dims)%3)
		got, err := readIDX(bytes.NewReader(data), "fuzz", dims)
		if err != nil {
			var fe *FormatError
			if !errors.As(err, &fe) || got != nil {
				t.Fatalf("got %v, %v; want a FormatError", got, err)
			}
			return
		}
		n, sizes := 1, []uint32{}
		for _, s := range got.Dims {
			n *= s
			sizes = append(sizes, uint32(s))
		}
		if len(got.Dims) != dims || n != len(got.Data) {
			t.Fatalf("%d dimensions %v, %d bytes", dims, got.Dims, len(got.Data))
		}
		plain := idxBytes(uint32(0x0800+dims), sizes, got.Data)
		if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) && !bytes.Equal(plain, data) {
			t.Fatal("what was read does not write back to the same bytes")
		}
	})
}
