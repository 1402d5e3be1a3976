package datasets

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"metriclab/pkg/limits"
)

// htmlPage is what many servers send, with status 200, instead of a file that is gone.
var htmlPage = []byte("<html><body>Not Found. Sorry!</body></html>\n\n\n")

// looseFile is a small file of a kind whose bytes may differ.
type looseFile struct {
	File
	good  []byte            // the known copy
	again map[string][]byte // the same values in other bytes
	bad   map[string]refusedFile
}

type refusedFile struct {
	data []byte
	says string
}

// contentOf is the Content of a good file, summed by its reader.
func contentOf(t testing.TB, kind, path string, data []byte, shape ...int) Content {
	t.Helper()
	h := contentHash{sha256.New()}
	h.text("metriclab content 1 " + kind)
	got, err := contentKinds[kind].read(io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), path, shape, h)
	if err != nil || !slices.Equal(got, shape) {
		t.Fatalf("%s: shape %v, want %v, error %v", path, got, shape, err)
	}
	return Content{kind, shape, hex.EncodeToString(h.Sum(nil))}
}

// zipped is a zip of one member with that compression and date.
func zipped(t testing.TB, method uint16, year int, name string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: time.Date(year, 1, 2, 3, 4, 5, 0, time.UTC)})
	if err == nil {
		_, err = w.Write(data)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tarred is a tar.gz of entries in that order; one with a name that ends in / is a folder.
func tarred(t testing.TB, level int, entries ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for i := 0; i < len(entries); i += 2 {
		h := &tar.Header{Name: entries[i], Mode: 0o644, Size: int64(len(entries[i+1])), Typeflag: tar.TypeReg}
		if strings.HasSuffix(h.Name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, entries[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// saidAgain is a MAT-file with another text in its head.
func saidAgain(mat []byte) []byte {
	out := slices.Clone(mat)
	copy(out[19:], ", Platform: another, Created on: another day")
	return out
}

// looseFiles are small files of every kind, with what their readers must tell apart. They
// are made once.
func looseFiles(t testing.TB) map[string]looseFile {
	t.Helper()
	looseOnce.Do(func() { looseOnce.files = makeLooseFiles(t, 20<<20, MaxTripletBytes+1) })
	return looseOnce.files
}

var looseOnce struct {
	sync.Once
	files map[string]looseFile
}

// makeLooseFiles makes them with bombs that unpack to so many bytes: in general, and in a
// zip.
func makeLooseFiles(t testing.TB, bomb, zipBomb int) map[string]looseFile {
	t.Helper()
	images := matSet(true)
	prtools := partsOf(images).file()
	images.X.Set(0, 0, images.X.At(0, 0)+1)
	otherPRTools := partsOf(images).file()
	ste := func(rows int, numbers []uint16) []byte {
		return steFile(steVariable("triplets", mxDOUBLE, rows, 3, steElement(miUINT16, little(numbers))))
	}
	otherSTE := slices.Clone(steNumbers)
	otherSTE[0]++
	const triplets, features = "0,1,2\n4,0,3\n1,1,2\n", "0.5,1,-2\n3,4,0.25\n"
	posts := []string{"a/1", "first", "a/2", "second", "b/1", ""}
	zeros := make([]byte, bomb) // more than a MAT-file may unpack to

	files := map[string]looseFile{
		"prtools": {
			File: File{Path: "toy/x.mat", Content: contentOf(t, "prtools", "toy/x.mat", prtools, 4, 6, 2)},
			good: prtools, again: map[string][]byte{"another head": saidAgain(prtools)},
			bad: map[string]refusedFile{
				"other values": {otherPRTools, "wrong content: the SHA-256 of its values is "},
				"other shape":  {partsOf(matSet(false)).file(), "wrong counts: rows×columns×height of an image are 4x6x0, want 4x6x2"},
				"cut":          {prtools[:len(prtools)-9], "wrong data: toy/x.mat: "},
				"other kind":   {ste(4, steNumbers), "wrong data: toy/x.mat: "},
			},
		},
		"mat-triplets": {
			File: File{Path: "toy/t.mat", Content: contentOf(t, "mat-triplets", "toy/t.mat", ste(4, steNumbers), 4, 5)},
			good: ste(4, steNumbers), again: map[string][]byte{"another head": saidAgain(ste(4, steNumbers))},
			bad: map[string]refusedFile{
				"other values": {ste(4, otherSTE), "wrong content: the SHA-256 of its values is "},
				"fewer rows":   {ste(3, []uint16{1, 2, 3, 5, 2, 3, 3, 4, 1}), "wrong counts: rows×objects are 3x5, want 4x5"},
				"more rows":    {ste(5, append(slices.Clone(steNumbers), 1, 2, 3)), "want at most 4"},
				"bomb":         {steFile(zeros), "toy/t.mat (decompressed)"},
				"cut":          {ste(4, steNumbers)[:150], "wrong data: toy/t.mat: "},
			},
		},
		"zip-triplets": {
			File: File{Path: "toy/t.csv.zip"},
			good: zipped(t, zip.Deflate, 2018, "t.csv", []byte(triplets)),
			again: map[string][]byte{
				"stored":       zipped(t, zip.Store, 2024, "t.csv", []byte(triplets)),
				"in a folder":  zipOf(t, map[string][]byte{"__MACOSX/._t.csv": {1}, "top/t.csv": []byte(triplets), "top/README": nil}),
				"line endings": zipped(t, zip.Store, 2024, "t.csv", []byte(strings.ReplaceAll(triplets, "\n", "\r\n"))),
			},
			bad: map[string]refusedFile{
				"other values": {zipped(t, zip.Deflate, 2018, "t.csv", []byte("0,1,2\n4,0,1\n1,1,2\n")), "wrong content: the SHA-256 of its values is "},
				"cut CSV":      {zipped(t, zip.Deflate, 2018, "t.csv", []byte("0,1,2\n4,0,3\n")), "wrong counts: rows×objects are 2x5, want 3x5"},
				"cut line":     {zipped(t, zip.Deflate, 2018, "t.csv", []byte("0,1,2\n4,0\n")), "t.csv:2: number of cells: is 2, want 3"},
				"more rows":    {zipped(t, zip.Deflate, 2018, "t.csv", []byte(triplets+"0,1,2\n")), "comparisons: is more, want at most 3"},
				"wrong member": {zipped(t, zip.Deflate, 2018, "u.csv", []byte(triplets)), "the archive has no member t.csv"},
				"empty":        {zipOf(t, nil), "wrong kind: begins with \"PK\\x05\\x06"},
				"bomb":         {zipped(t, zip.Deflate, 2018, "t.csv", make([]byte, zipBomb)), "member t.csv has 67108865 bytes, want at most 67108864"},
				"cut":          {zipped(t, zip.Deflate, 2018, "t.csv", []byte(triplets))[:60], "zip: not a valid zip file"},
			},
		},
		"zip-features": {
			File: File{Path: "toy/f.csv.zip"},
			good: zipped(t, zip.Deflate, 2018, "f.csv", []byte(features)),
			again: map[string][]byte{
				"stored": zipped(t, zip.Store, 2024, "f.csv", []byte(features)),
				"digits": zipped(t, zip.Store, 2024, "f.csv", []byte("5e-1,1.0,-2\r\n3,4,.25\r\n")),
			},
			bad: map[string]refusedFile{
				"other values": {zipped(t, zip.Deflate, 2018, "f.csv", []byte("0.5,1,2\n3,4,0.25\n")), "wrong content: the SHA-256 of its values is "},
				"cut CSV":      {zipped(t, zip.Deflate, 2018, "f.csv", []byte("0.5,1,-2\n3,4\n")), "f.csv:2: number of features: is 2, want 3"},
				"wrong member": {zipped(t, zip.Deflate, 2018, "f.txt", []byte(features)), "the archive has no member f.csv"},
			},
		},
		"tar-posts": {
			File: File{Path: "toy/p.tar.gz"},
			good: tarred(t, gzip.BestCompression, posts...),
			again: map[string][]byte{
				"another order": tarred(t, gzip.NoCompression, "./a/2", "second", "a/", "", "b/1", "", "a/1", "first"),
			},
			bad: map[string]refusedFile{
				"other values": {tarred(t, 9, "a/1", "First", "a/2", "second", "b/1", ""), "wrong content: the SHA-256 of its values is "},
				"other name":   {tarred(t, 9, "a/1", "first", "a/2", "second", "b/2", ""), "wrong content: the SHA-256 of its values is "},
				"fewer":        {tarred(t, 9, "a/1", "first", "a/2", "second"), "wrong counts: posts×bytes of all posts are 2x11, want 3x11"},
				"more":         {tarred(t, 9, append(slices.Clone(posts), "b/2", "")...), "has more than 3 members"},
				"more bytes":   {tarred(t, 9, "a/1", "first", "a/2", "second!"), "its members have more than 11 bytes"},
				"twice":        {tarred(t, 9, "a/1", "first", "./a/1", "first"), "member \"a/1\" stands twice"},
				"bomb":         {tarred(t, 9, "a/1", string(zeros)), "its members have more than 11 bytes"},
				"gzip bomb":    {gzipped(zeros), "wrong data"},
				"bomb behind":  {gzipped(behindTar(t, posts, zeros)), "unpacks to much more than the 11 bytes"},
				"cut":          {tarred(t, 9, posts...)[:70], "wrong data: toy/p.tar.gz: "},
			},
		},
	}
	shapes := map[string][]int{"zip-triplets": {3, 5}, "zip-features": {2, 3}, "tar-posts": {3, 11}}
	for kind, f := range files {
		if shape := shapes[kind]; shape != nil {
			f.Content = contentOf(t, kind, f.Path, f.good, shape...)
		}
		f.Dataset, f.Bytes, f.SHA256, f.Note = "toy", int64(len(f.good)), sumOf(f.good), "packed again"
		f.bad["page"] = refusedFile{htmlPage, "wrong kind: begins with \"<html><body>Not Found. S\" (46 bytes in all), want "}
		f.bad["nothing"] = refusedFile{nil, "wrong kind: begins with \"\" (0 bytes in all)"}
		files[kind] = f
	}
	return files
}

// behindTar is a tar of posts with more behind its end.
func behindTar(t testing.TB, posts []string, more []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(tarred(t, 9, posts...)))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, more...)
}

func (f looseFile) entries(sources ...string) []Entry {
	for _, s := range sources {
		address, member, _ := strings.Cut(s, "#")
		f.Sources = append(f.Sources, Source{address, member})
	}
	return []Entry{{Name: "toy", Shape: "-", Files: []File{f.File}}}
}

// Each check of each kind, and what does not matter to it.
func TestContentCheck(t *testing.T) {
	for kind, f := range looseFiles(t) {
		for name, data := range f.again {
			if bytes.Equal(data, f.good) {
				t.Errorf("%s, %s: the same bytes", kind, name)
			}
			if err := f.Content.check(t.Context(), bytes.NewReader(data), f.Path, int64(len(data))); err != nil {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
		}
		for name, bad := range f.bad {
			err := f.Content.check(t.Context(), bytes.NewReader(bad.data), f.Path, int64(len(bad.data)))
			var wrong *ContentError
			if !errors.As(err, &wrong) || !strings.Contains(wrong.Why, bad.says) {
				t.Errorf("%s, %s: error %v does not say %q", kind, name, err, bad.says)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := f.Content.check(ctx, bytes.NewReader(f.good), f.Path, int64(len(f.good))); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: after the end: %v", kind, err)
		}
	}
}

// The sums in the registry rest on this form.
func TestContentHash(t *testing.T) {
	var b []byte
	number := func(v uint64) { b = binary.LittleEndian.AppendUint64(b, v) }
	text := "metriclab content 1 zip-features"
	number(uint64(len(text)))
	b = append(b, text...)
	number(1)
	number(2)
	number(math.Float64bits(0.5))
	number(math.Float64bits(-3))
	c := Content{"zip-features", []int{1, 2}, sumOf(b)}
	data := zipped(t, zip.Deflate, 2018, "f.csv", []byte("0.5,-3\n"))
	if err := c.check(t.Context(), bytes.NewReader(data), "f.csv.zip", int64(len(data))); err != nil {
		t.Error(err)
	}
}

// A member is not unpacked past the bound on memory.
func TestContentMemory(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 10)
	data := zipped(t, zip.Deflate, 2018, "t.csv", bytes.Repeat([]byte("0,1,2\n"), 1000))
	c := Content{"zip-triplets", []int{1000, 5}, sumOf(nil)}
	if err := c.check(t.Context(), bytes.NewReader(data), "t.csv.zip", int64(len(data))); err == nil || !strings.Contains(err.Error(), "--max-memory") {
		t.Errorf("error %v", err)
	}
}

// CSV tables that users supply.
func TestContentCSV(t *testing.T) {
	c := Content{Kind: "csv"}
	for text, says := range map[string]string{
		"a,b,class\n1,,x\n2,3,y\n": "",
		string(htmlPage):           "it is HTML",
		"a,b,class\n1,no,x\n":      `t.csv:2: column "b": "no" is not a number`,
		"a,b,class\n1,2,\n":        `t.csv:2: column "class"`,
		"a,b,class\n":              "no row of data follows",
		"":                         "the file is empty",
	} {
		err := c.check(t.Context(), strings.NewReader(text), "t.csv", int64(len(text)))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v does not say %q", text, err, says)
		}
	}
}

// liar is a server whose answers have status 200 and are wrong.
type liar struct {
	*httptest.Server
	done chan struct{}

	mu   sync.Mutex
	data []byte
	mode string // "", "cut", "longer", "endless", "stall", "silent"
}

// send says what the next requests are answered with.
func (l *liar) send(data []byte, mode string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data, l.mode = data, mode
}

func newLiar(t *testing.T) *liar {
	l := &liar{done: make(chan struct{})}
	l.Server = httptest.NewServer(l)
	t.Cleanup(func() { close(l.done); l.Close() })
	return l
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	data, mode := l.data, l.mode
	l.mu.Unlock()
	wait := func() {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-l.done:
		case <-r.Context().Done():
		}
	}
	switch mode {
	case "silent":
		select {
		case <-l.done:
		case <-r.Context().Done():
		}
	case "stall":
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:len(data)/2])
		wait()
	case "cut": // a Content-Length that is too large
		w.Header().Set("Content-Length", fmt.Sprint(len(data)+1000))
		_, _ = w.Write(data)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "longer": // of all that is said to come
		w.Header().Set("Content-Length", fmt.Sprint(1<<40))
		_, _ = w.Write(data)
		wait()
	case "endless":
		_, _ = w.Write(data)
		for block := make([]byte, 1<<16); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	default:
		_, _ = w.Write(data)
	}
}

// liesOf are the answers that a client must refuse, with what it says.
func liesOf(f looseFile) map[string]struct {
	data       []byte
	mode, says string
} {
	type lie = struct {
		data       []byte
		mode, says string
	}
	lies := map[string]lie{
		"truncated": {f.good[:len(f.good)/2], "", "wrong data: " + f.Path},
		"cut":       {f.good, "cut", "unexpected EOF"},
		"longer":    {f.good, "longer", "more than "},
		"endless":   {f.good, "endless", "more than "},
		"stall":     {f.good, "stall", "no byte for "},
		"silent":    {f.good, "silent", "no byte for "},
	}
	for name, bad := range f.bad {
		if name == "nothing" {
			continue // below, as the size of a part file
		}
		lies[name] = lie{bad.data, "", bad.says}
		if len(bad.data) > int(sizeLimit(f.File)) {
			lies[name] = lie{bad.data, "", "more than "}
		}
	}
	return lies
}

// A server that sends something else with status 200: nothing of it is taken or left, an old
// file stays, and a later good server, or a mirror, replaces what was wrong.
func TestGetFromLiar(t *testing.T) {
	l := newLiar(t)
	for kind, f := range looseFiles(t) {
		t.Run(kind, func(t *testing.T) {
			for name, lie := range liesOf(f) {
				for _, old := range []map[string][]byte{nil, {f.Path: htmlPage}} {
					s := open(t.TempDir(), f.entries(l.URL+"/x"))
					for path, data := range old {
						writeFile(t, s.Path(path), data)
					}
					l.send(lie.data, lie.mode)
					opts := Options{Warn: func(file, msg string) { t.Errorf("%s: warning for %s: %s", name, file, msg) }}
					if lie.mode == "stall" || lie.mode == "silent" {
						opts.Stall = 50 * time.Millisecond
					}
					err := s.Get(t.Context(), "toy", opts)
					if err == nil || !strings.Contains(err.Error(), lie.says) || !strings.Contains(err.Error(), l.URL+"/x") {
						t.Errorf("%s: error %v does not say %q", name, err, lie.says)
					}
					checkFolder(t, s, old)
				}
			}

			// What was taken for the file before is noticed and replaced, by other bytes, too.
			for name, good := range f.again {
				s := open(t.TempDir(), f.entries(l.URL+"/x"))
				writeFile(t, s.Path(f.Path), htmlPage)
				st, err := s.Verify(t.Context(), "toy")
				if err != nil || st[0].State != FileWrongContent || st[0].State.Usable() || !strings.Contains(st[0].Why, "wrong kind") {
					t.Errorf("%+v, %v", st, err)
				}
				var wrong *ContentError
				if _, err := s.Checksum(t.Context(), "toy"); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "metriclab data get toy") {
					t.Errorf("Checksum: %v", err)
				}
				if st, err := s.Status("toy"); err != nil || st[0].State != FileUnconfirmed || st[0].State.Usable() {
					t.Errorf("Status is %+v, %v", st, err)
				}
				l.send(good, "")
				if err := s.Get(t.Context(), "toy", Options{}); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				checkFolder(t, s, map[string][]byte{f.Path: good})
				if st, err := s.Verify(t.Context(), "toy"); err != nil || st[0].State != FileSameContent || !st[0].State.Usable() {
					t.Errorf("%+v, %v", st, err)
				}
				// Equal values have equal checksums.
				want := sumOf([]byte(f.SHA256 + "  " + f.Path + "\n"))
				if sum, err := s.Checksum(t.Context(), "toy"); err != nil || sum != want {
					t.Errorf("Checksum is %s, %v, want %s", sum, err, want)
				}

				mirror := t.TempDir()
				writeFile(t, filepath.Join(mirror, filepath.FromSlash(f.Path)), f.good)
				writeFile(t, s.Path(f.Path), htmlPage)
				if err := s.Get(t.Context(), "toy", Options{Mirror: mirror}); err != nil {
					t.Error(err)
				}
				checkFolder(t, s, map[string][]byte{f.Path: f.good})
			}
		})
	}
}

// A member of an archive is bounded by the size in the registry, whatever the archive holds.
func TestGetMemberBomb(t *testing.T) {
	f := looseFiles(t)["mat-triplets"]
	zeros := make([]byte, 20<<20)
	srv := newServer(t, map[string][]byte{
		"/a.zip":    zipped(t, zip.Deflate, 2018, "data/t.mat", zeros),
		"/a.tar.gz": tarred(t, 9, "data/t.mat", string(zeros)),
		"/b.tar.gz": tarred(t, 9, "data/another", string(zeros)),
		"/page.zip": htmlPage, "/page.tar.gz": htmlPage,
	})
	for archive, says := range map[string]string{
		"/a.zip": "more than ", "/a.tar.gz": "more than ", "/b.tar.gz": "unpacks to more than ",
		"/page.zip": "zip: not a valid zip file", "/page.tar.gz": "gzip: invalid header",
	} {
		s := open(t.TempDir(), f.entries(srv.URL+archive+"#data/t.mat"))
		if err := s.Get(t.Context(), "toy", Options{}); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), archive) {
			t.Errorf("%s: error %v does not say %q", archive, err, says)
		}
		checkFolder(t, s, nil)
	}
}

// A comparable file that breaks off is continued, but not one that is too long.
func TestGetStallsAndGoesOn(t *testing.T) {
	data := randomBytes(5000)
	l := newLiar(t)
	l.send(data, "stall")
	s := open(t.TempDir(), fixture(data, true, l.URL+"/x"))
	err := s.Get(t.Context(), "toy", Options{Stall: 50 * time.Millisecond})
	var stall *StallError
	if !errors.As(err, &stall) || stall.Limit != 50*time.Millisecond || !stall.Timeout() || !strings.Contains(err.Error(), l.URL+"/x: no byte for 50ms") {
		t.Errorf("error %v", err)
	}
	part, err := os.ReadFile(s.Path("toy/x.bin.part"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) || len(part) > 2500 || !bytes.HasPrefix(data, part) {
		t.Errorf("part of %d bytes, %v: not the beginning of the file", len(part), err)
	}
	l.send(data, "endless")
	if err := s.Get(t.Context(), "toy", Options{}); err == nil || !strings.Contains(err.Error(), "more than 5000 bytes") {
		t.Errorf("error %v", err)
	}
	checkFolder(t, s, nil)
	l.send(data, "")
	if err := s.Get(t.Context(), "toy", Options{}); err != nil {
		t.Error(err)
	}
	checkFolder(t, s, map[string][]byte{"toy/x.bin": data})
}

// A server that leads to a file of this machine is refused.
func TestGetRedirectToFile(t *testing.T) {
	data := randomBytes(50)
	file := filepath.Join(t.TempDir(), "x")
	writeFile(t, file, data)
	for _, to := range []string{"file://" + filepath.ToSlash(file), "ftp://127.0.0.1:1/x"} {
		srv := httptest.NewServer(http.RedirectHandler(to, http.StatusFound))
		s := open(t.TempDir(), fixture(data, true, srv.URL+"/x"))
		if err := s.Get(t.Context(), "toy", Options{}); err == nil || !strings.Contains(err.Error(), "unsupported protocol scheme") {
			t.Errorf("%s: error %v", to, err)
		}
		checkFolder(t, s, nil)
		srv.Close()
	}
}

// Whatever a file holds, the check ends with its verdict and takes no more memory than the
// kind allows.
func FuzzContentCheck(f *testing.F) {
	files := makeLooseFiles(f, 1, 1)
	for kind, file := range files {
		f.Add(kind, file.good)
		f.Add(kind, htmlPage)
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		file, ok := files[kind]
		if !ok {
			return
		}
		err := file.Content.check(t.Context(), bytes.NewReader(data), file.Path, int64(len(data)))
		var wrong *ContentError
		if err != nil && (!errors.As(err, &wrong) || wrong.Why == "") {
			t.Fatalf("error %v", err)
		}
		if err != nil && bytes.Equal(data, file.good) {
			t.Fatalf("the known copy is refused: %v", err)
		}
	})
}
