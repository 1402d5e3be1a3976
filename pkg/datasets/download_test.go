package datasets

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// server serves files from memory and notes what it was asked.
type server struct {
	*httptest.Server
	files map[string][]byte

	// noRange ignores Range headers; cut ends bodies after so many bytes.
	noRange atomic.Bool
	cut     atomic.Int64

	mu   sync.Mutex
	asks []string // "path" or "path range"
}

func newServer(t *testing.T, files map[string][]byte) *server {
	s := &server{files: files}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ask := r.URL.Path
	if h := r.Header.Get("Range"); h != "" {
		ask += " " + h
	}
	s.mu.Lock()
	s.asks = append(s.asks, ask)
	s.mu.Unlock()
	data, ok := s.files[r.URL.Path]
	switch {
	case !ok:
		http.NotFound(w, r)
	case s.cut.Load() > 0:
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:s.cut.Load()])
		panic(http.ErrAbortHandler)
	case s.noRange.Load():
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data)
	default:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
}

func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asks)
}

func sumOf(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// fixture is a data set "toy" of one file with the given sources.
func fixture(data []byte, comparable bool, sources ...string) []Entry {
	f := File{Dataset: "toy", Path: "toy/x.bin", Bytes: int64(len(data)), SHA256: sumOf(data), Comparable: comparable}
	if !comparable {
		f.Note = "a reason"
	}
	for _, s := range sources {
		address, member, _ := strings.Cut(s, "#")
		f.Sources = append(f.Sources, Source{address, member})
	}
	return []Entry{{Name: "toy", Shape: "-", Files: []File{f}}}
}

func randomBytes(n int) []byte {
	rng := newRand(uint64(n))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(rng.Uint32())
	}
	return out
}

// checkFolder compares all files below the store's folder with want.
func checkFolder(t *testing.T, s *Store, want map[string][]byte) {
	t.Helper()
	got := map[string][]byte{}
	err := filepath.WalkDir(s.Dir(), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(s.Dir(), p)
		if err != nil {
			return err
		}
		got[filepath.ToSlash(rel)], err = os.ReadFile(p)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for name, data := range got {
		if w, ok := want[name]; !ok || !bytes.Equal(w, data) {
			t.Errorf("%s has %d bytes, expected: %v (%d bytes)", name, len(data), ok, len(w))
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestGetDownloadsOnce(t *testing.T) {
	data := randomBytes(200_000)
	srv := newServer(t, map[string][]byte{"/x": data})
	s := open(filepath.Join(t.TempDir(), "data"), fixture(data, true, srv.URL+"/x"))
	var last [2]int64
	opts := Options{Progress: func(file string, done, total int64) {
		if file != "toy/x.bin" || done <= last[0] {
			t.Errorf("progress %q %d after %d", file, done, last[0])
		}
		last = [2]int64{done, total}
	}}
	for range 2 {
		if err := s.Get(t.Context(), "toy", opts); err != nil {
			t.Fatal(err)
		}
	}
	checkFolder(t, s, map[string][]byte{"toy/x.bin": data})
	if n := int64(len(data)); last != [2]int64{n, n} {
		t.Errorf("progress ended at %v, want %d of %d", last, n, n)
	}
	if got := srv.asked(); !slices.Equal(got, []string{"/x"}) {
		t.Errorf("requests %q, want one", got)
	}
	info, err := os.Stat(s.Path("toy/x.bin"))
	if err != nil || info.Mode().Perm() != 0o644 && runtime.GOOS != "windows" { // which has no such modes
		t.Errorf("mode is %v, %v; want 0644", info.Mode(), err)
	}
}

func TestGetResumes(t *testing.T) {
	data := randomBytes(100_000)
	for name, tc := range map[string]struct {
		part    []byte
		noRange bool
		asks    []string
	}{
		"half":             {data[:60_000], false, []string{"/x bytes=60000-"}},
		"server all again": {data[:60_000], true, []string{"/x bytes=60000-"}},
		"complete":         {data, false, nil},
		"wrong half":       {make([]byte, 60_000), false, []string{"/x bytes=60000-", "/x"}},
		"too long":         {make([]byte, 100_001), false, []string{"/x"}},
		"wrong complete":   {make([]byte, 100_000), false, []string{"/x"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newServer(t, map[string][]byte{"/x": data})
			srv.noRange.Store(tc.noRange)
			s := open(t.TempDir(), fixture(data, true, srv.URL+"/x"))
			writeFile(t, s.Path("toy/x.bin.part"), tc.part)
			if err := s.Get(t.Context(), "toy", Options{}); err != nil {
				t.Fatal(err)
			}
			checkFolder(t, s, map[string][]byte{"toy/x.bin": data})
			if got := srv.asked(); !slices.Equal(got, tc.asks) {
				t.Errorf("requests %q, want %q", got, tc.asks)
			}
		})
	}
}

// A body that breaks off leaves its part, and the next call continues it.
func TestGetTruncatedBody(t *testing.T) {
	data := randomBytes(100_000)
	srv := newServer(t, map[string][]byte{"/x": data})
	srv.cut.Store(70_000)
	s := open(t.TempDir(), fixture(data, true, srv.URL+"/x"))
	if err := s.Get(t.Context(), "toy", Options{}); err == nil || !strings.Contains(err.Error(), srv.URL+"/x") {
		t.Errorf("error %v does not name the URL", err)
	}
	checkFolder(t, s, map[string][]byte{"toy/x.bin.part": data[:70_000]})
	srv.cut.Store(0)
	if err := s.Get(t.Context(), "toy", Options{}); err != nil {
		t.Fatal(err)
	}
	checkFolder(t, s, map[string][]byte{"toy/x.bin": data})
	if got, want := srv.asked(), []string{"/x", "/x bytes=70000-"}; !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
}

func TestGetCancelled(t *testing.T) {
	data := randomBytes(1 << 20)
	srv := newServer(t, map[string][]byte{"/x": data})
	s := open(t.TempDir(), fixture(data, true, srv.URL+"/x", srv.URL+"/x"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := s.Get(ctx, "toy", Options{Progress: func(string, int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v, want %v", err, context.Canceled)
	}
	part, err := os.ReadFile(s.Path("toy/x.bin.part"))
	if err != nil || len(part) == 0 || !bytes.HasPrefix(data, part) {
		t.Errorf("part of %d bytes, %v: not the beginning of the file", len(part), err)
	}
	if err := s.Get(t.Context(), "toy", Options{}); err != nil {
		t.Fatal(err)
	}
	checkFolder(t, s, map[string][]byte{"toy/x.bin": data})
	if got, want := srv.asked(), []string{"/x", fmt.Sprintf("/x bytes=%d-", len(part))}; !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q: no second source after the cancel", got, want)
	}
}

func TestGetWrongContent(t *testing.T) {
	data := randomBytes(5000)
	bad := slices.Clone(data)
	bad[17] ^= 1
	srv := newServer(t, map[string][]byte{"/bad": bad, "/short": data[:4000], "/long": append(slices.Clone(data), 1), "/good": data})

	t.Run("checksum", func(t *testing.T) {
		s := open(t.TempDir(), fixture(data, true, srv.URL+"/bad"))
		writeFile(t, s.Path("toy/x.bin"), []byte("old"))
		err := s.Get(t.Context(), "toy", Options{})
		var sum *ChecksumError
		if !errors.As(err, &sum) || sum.Got != sumOf(bad) || sum.Want != sumOf(data) || sum.URL != srv.URL+"/bad" || sum.File != s.Path("toy/x.bin") {
			t.Fatalf("error is %v", err)
		}
		for _, want := range []string{sum.Got, sum.Want, sum.URL, sum.File} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not name %s", err, want)
			}
		}
		checkFolder(t, s, map[string][]byte{"toy/x.bin": []byte("old")})
	})
	for _, source := range []string{"/short", "/long"} {
		t.Run(source, func(t *testing.T) {
			s := open(t.TempDir(), fixture(data, true, srv.URL+source))
			err := s.Get(t.Context(), "toy", Options{})
			var sum *ChecksumError
			if !errors.As(err, &sum) || sum.Size == sum.WantSize || sum.WantSize != 5000 {
				t.Fatalf("error is %v", err)
			}
			checkFolder(t, s, nil)
		})
	}
	t.Run("next source", func(t *testing.T) {
		s := open(t.TempDir(), fixture(data, true, srv.URL+"/gone", srv.URL+"/bad", srv.URL+"/short", srv.URL+"/good"))
		if err := s.Get(t.Context(), "toy", Options{}); err != nil {
			t.Fatal(err)
		}
		checkFolder(t, s, map[string][]byte{"toy/x.bin": data})
	})
	t.Run("all gone", func(t *testing.T) {
		s := open(t.TempDir(), fixture(data, true, srv.URL+"/gone", srv.URL+"/lost"))
		err := s.Get(t.Context(), "toy", Options{})
		if err == nil || !strings.Contains(err.Error(), "/gone: HTTP status 404") || !strings.Contains(err.Error(), "/lost: HTTP status 404") {
			t.Errorf("error is %v", err)
		}
		checkFolder(t, s, nil)
	})
}

func TestGetFromMirror(t *testing.T) {
	data := randomBytes(5000)
	mirror := t.TempDir()
	writeFile(t, filepath.Join(mirror, "toy", "x.bin"), data)
	srv := newServer(t, map[string][]byte{"/m/toy/x.bin": data, "/official": data})

	// A mirror is checked even where the official file is not comparable.
	for _, comparable := range []bool{true, false} {
		for _, m := range []string{mirror, srv.URL + "/m", srv.URL + "/m/"} {
			s := open(t.TempDir(), fixture(data, comparable))
			writeFile(t, s.Path("toy/x.bin")+".part", data[:10]) // an earlier download's half: used or removed
			opts := Options{Mirror: m, Warn: func(file, msg string) { t.Errorf("warning for %s: %s", file, msg) }}
			if err := s.Get(t.Context(), "toy", opts); err != nil {
				t.Fatal(err)
			}
			checkFolder(t, s, map[string][]byte{"toy/x.bin": data})
		}
		writeFile(t, filepath.Join(mirror, "bad", "toy", "x.bin"), data[1:])
		s := open(t.TempDir(), fixture(data, comparable))
		err := s.Get(t.Context(), "toy", Options{Mirror: filepath.Join(mirror, "bad")})
		var sum *ChecksumError
		var content *ContentError
		if comparable && !errors.As(err, &sum) || !comparable && !errors.As(err, &content) {
			t.Errorf("comparable=%v: a wrong mirror copy gives %v", comparable, err)
		}
		checkFolder(t, s, nil)
	}

	t.Run("falls back", func(t *testing.T) {
		for _, m := range []string{filepath.Join(mirror, "bad"), filepath.Join(mirror, "none"), srv.URL + "/none"} {
			s := open(t.TempDir(), fixture(data, true, srv.URL+"/official"))
			if err := s.Get(t.Context(), "toy", Options{Mirror: m}); err != nil {
				t.Errorf("mirror %s: %v", m, err)
			}
			checkFolder(t, s, map[string][]byte{"toy/x.bin": data})
		}
	})
}

func zipOf(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) { // the same bytes each time
		data := files[name]
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func tarOf(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestGetArchiveMember(t *testing.T) {
	data, other := randomBytes(50_000), randomBytes(40_000)
	inside := map[string][]byte{"README": []byte("r"), "top/dir/x.bin": data, "y.bin": other, "top/notx.bin": []byte("n")}
	srv := newServer(t, map[string][]byte{"/a.zip": zipOf(t, inside), "/a.tar.gz": tarOf(t, inside)})
	for _, name := range []string{"/a.zip", "/a.tar.gz"} {
		t.Run(name, func(t *testing.T) {
			set := fixture(data, true, srv.URL+name+"#x.bin")
			y := fixture(other, true, srv.URL+name+"#y.bin")[0].Files[0]
			y.Path = "toy/y.bin"
			set[0].Files = append(set[0].Files, y)
			before := len(srv.asked())

			s := open(t.TempDir(), set)
			if err := s.Get(t.Context(), "toy", Options{}); err != nil {
				t.Fatal(err)
			}
			checkFolder(t, s, map[string][]byte{"toy/x.bin": data, "toy/y.bin": other}) // and no archive
			if n := len(srv.asked()) - before; n != 1 {
				t.Errorf("%d requests for two members, want 1", n)
			}

			// An archive that breaks off is continued.
			s = open(t.TempDir(), set)
			srv.cut.Store(45_000)
			if err := s.Get(t.Context(), "toy", Options{}); err == nil {
				t.Error("half an archive is accepted")
			}
			srv.cut.Store(0)
			if err := s.Get(t.Context(), "toy", Options{}); err != nil {
				t.Fatal(err)
			}
			checkFolder(t, s, map[string][]byte{"toy/x.bin": data, "toy/y.bin": other})
			if asks := srv.asked(); !strings.Contains(asks[len(asks)-1], " bytes=") {
				t.Errorf("the last request %q does not continue", asks[len(asks)-1])
			}

			// A damaged part is noticed, wherever the damage lies (at 80 % only the
			// second member has it), and the archive fetched anew.
			whole := srv.files[name]
			for _, at := range []int{0, len(whole) * 4 / 5} {
				s = open(t.TempDir(), set)
				id := sha256.Sum256([]byte(srv.URL + name))
				part := slices.Clone(whole[:at+len(whole)/10])
				clear(part[at:])
				writeFile(t, filepath.Join(s.Dir(), ".archives", hex.EncodeToString(id[:8])+"-"+name[1:]+".part"), part)
				if err := s.Get(t.Context(), "toy", Options{}); err != nil {
					t.Fatalf("damage at %d of %d: %v", at, len(whole), err)
				}
				checkFolder(t, s, map[string][]byte{"toy/x.bin": data, "toy/y.bin": other})
			}

			// No such member, and a member with other content.
			for member, want := range map[string]string{"z.bin": "no such member", "y.bin": "SHA-256 is"} {
				s = open(t.TempDir(), fixture(data, true, srv.URL+name+"#"+member))
				if err := s.Get(t.Context(), "toy", Options{}); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("member %s: error %v does not say %q", member, err, want)
				}
				checkFolder(t, s, nil)
			}
		})
	}
}

// A file of which only the checksum is known is downloaded like another, and what to do
// if it is gone is said.
func TestGetUnknownSize(t *testing.T) {
	data := randomBytes(5000)
	srv := newServer(t, map[string][]byte{"/x": data, "/bad": data[1:]})
	with := func(path string) *Store {
		e := fixture(data, true, srv.URL+path)
		e[0].Named, e[0].Files[0].Bytes, e[0].Files[0].Note = true, 0, "ask its authors"
		return open(filepath.Join(t.TempDir(), "data"), e)
	}
	for _, part := range [][]byte{nil, data, data[:2000], data[1:2000]} { // none, complete, half, wrong half
		s := with("/x")
		if part != nil {
			writeFile(t, s.Path("toy/x.bin.part"), part)
		}
		var totals []int64
		opts := Options{Progress: func(_ string, _, total int64) { totals = append(totals, total) }}
		if err := s.Get(t.Context(), "toy", opts); err != nil {
			t.Fatal(err)
		}
		checkFolder(t, s, map[string][]byte{"toy/x.bin": data})
		if len(totals) == 0 || totals[0] != 5000 { // from the server
			t.Errorf("totals are %v", totals)
		}
		for _, files := range []func() ([]FileStatus, error){
			func() ([]FileStatus, error) { return s.Status("toy") },
			func() ([]FileStatus, error) { return s.Verify(t.Context(), "toy") },
		} {
			if got, err := files(); err != nil || !got[0].State.Usable() || got[0].Size != 5000 {
				t.Errorf("%+v, %v", got, err)
			}
		}
		writeFile(t, s.Path("toy/x.bin"), data[1:])
		if got, err := s.Verify(t.Context(), "toy"); err != nil || got[0].State != FileWrongChecksum {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := s.Checksum(t.Context(), "toy"); err == nil || !strings.Contains(err.Error(), "(4999 bytes); get it again") {
			t.Errorf("Checksum: %v", err)
		}
	}
	for path, says := range map[string]string{"/gone": "404", "/bad": "(4999 bytes)\n"} {
		s := with(path)
		err := s.Get(t.Context(), "toy", Options{})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "toy/x.bin: ask its authors") {
			t.Errorf("%s: error %v", path, err)
		}
		checkFolder(t, s, nil)
	}
	// From a mirror folder, whose size is not known either.
	mirror := t.TempDir()
	writeFile(t, filepath.Join(mirror, "toy", "x.bin"), data)
	s := with("/gone")
	if err := s.Get(t.Context(), "toy", Options{Mirror: mirror, Progress: func(_ string, _, total int64) {
		if total != -1 {
			t.Errorf("total is %d, want -1", total)
		}
	}}); err != nil {
		t.Fatal(err)
	}
	checkFolder(t, s, map[string][]byte{"toy/x.bin": data})
}

// suppliedFixture is a data set "toy" of two files of which no copy is known.
func suppliedFixture() []Entry {
	e := []Entry{{Name: "toy", Named: true, Shape: "-"}}
	for _, path := range []string{"toy/x.bin", "toy/y.bin"} {
		e[0].Files = append(e[0].Files, File{Dataset: "toy", Path: path, Note: "ask its authors"})
	}
	return e
}

// Files of which no copy is known: an error for each says what to supply where, what lies there
// is kept and usable, and what a mirror has is taken with a warning.
func TestGetSupplied(t *testing.T) {
	x, y := randomBytes(5000), randomBytes(600)
	empty := t.TempDir()
	dir := filepath.Join(t.TempDir(), "data")
	s := open(dir, suppliedFixture())
	silent := func(file, msg string) { t.Errorf("warning for %s: %s", file, msg) }
	for _, mirror := range []string{"", empty} {
		err := s.Get(t.Context(), "toy", Options{Mirror: mirror, Warn: silent})
		var none *UnavailableError
		if !errors.As(err, &none) || none.Path != s.Path(none.File.Path) {
			t.Fatalf("error is %v", err)
		}
		for _, file := range []string{"toy/x.bin", "toy/y.bin"} {
			if want := "datasets: " + file + ": no copy is known; supply " + s.Path(file) + ": ask its authors"; !slices.Contains(strings.Split(err.Error(), "\n"), want) {
				t.Errorf("error %v does not say %q", err, want)
			}
		}
		checkFolder(t, s, nil)
	}
	var missing *MissingError
	if _, err := s.Checksum(t.Context(), "toy"); !errors.As(err, &missing) {
		t.Errorf("Checksum of nothing: %v", err)
	}

	states := func(status, verify []FileState) {
		t.Helper()
		for _, tc := range []struct {
			want  []FileState
			files func() ([]FileStatus, error)
		}{
			{status, func() ([]FileStatus, error) { return s.Status("toy") }},
			{verify, func() ([]FileStatus, error) { return s.Verify(t.Context(), "toy") }},
		} {
			got, err := tc.files()
			if err != nil || len(got) != 2 || got[0].State != tc.want[0] || got[1].State != tc.want[1] {
				t.Errorf("%+v, %v; want %v", got, err, tc.want)
			}
		}
	}
	writeFile(t, s.Path("toy/x.bin"), x)
	states([]FileState{FilePresent, FileMissing}, []FileState{FileUnchecked, FileMissing})
	if !FileUnchecked.Usable() || FileUnchecked.String() != "not verified: no checksum is known" {
		t.Errorf("%v, usable: %v", FileUnchecked, FileUnchecked.Usable())
	}
	if err := s.Get(t.Context(), "toy", Options{}); err == nil || strings.Contains(err.Error(), "x.bin") {
		t.Errorf("with x.bin supplied: %v", err)
	}

	// What is there is kept, whatever the mirror has.
	writeFile(t, filepath.Join(empty, "toy", "x.bin"), y)
	writeFile(t, s.Path("toy/y.bin"), y)
	if err := s.Get(t.Context(), "toy", Options{Mirror: empty, Warn: silent}); err != nil {
		t.Error(err)
	}
	both := map[string][]byte{"toy/x.bin": x, "toy/y.bin": y}
	checkFolder(t, s, both)
	states([]FileState{FilePresent, FilePresent}, []FileState{FileUnchecked, FileUnchecked})
	want := sumOf([]byte(sumOf(x) + "  toy/x.bin\n" + sumOf(y) + "  toy/y.bin\n"))
	if sum, err := s.Checksum(t.Context(), "toy"); err != nil || sum != want {
		t.Errorf("Checksum = %s, %v; want %s", sum, err, want)
	}

	mirror := t.TempDir()
	for name, data := range both {
		writeFile(t, filepath.Join(mirror, filepath.FromSlash(name)), data)
	}
	srv := newServer(t, map[string][]byte{"/m/toy/x.bin": x, "/m/toy/y.bin": y})
	for _, m := range []string{mirror, srv.URL + "/m"} {
		s := open(t.TempDir(), suppliedFixture())
		writeFile(t, s.Path("toy/x.bin.part"), y) // of an earlier call: nothing tells whether it belongs to the rest
		var warned []string
		err := s.Get(t.Context(), "toy", Options{Mirror: m, Warn: func(file, msg string) { warned = append(warned, file+": "+msg) }})
		if err != nil {
			t.Errorf("mirror %s: %v", m, err)
		}
		checkFolder(t, s, both)
		if len(warned) != 2 || !strings.HasPrefix(warned[0], "toy/x.bin: not verified: no checksum is known") || !strings.Contains(warned[0], m) {
			t.Errorf("warnings %q, want two", warned)
		}
	}

	// What breaks off is not taken for the file.
	s = open(t.TempDir(), suppliedFixture())
	srv.cut.Store(300)
	if err := s.Get(t.Context(), "toy", Options{Mirror: srv.URL + "/m"}); err == nil {
		t.Error("half a file is accepted")
	}
	for _, file := range []string{"toy/x.bin", "toy/y.bin"} {
		if _, err := os.Stat(s.Path(file)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", file, err)
		}
	}
}

func TestGetUnwritableFolder(t *testing.T) {
	data := randomBytes(10)
	dir := filepath.Join(t.TempDir(), "data")
	writeFile(t, dir, []byte("a file where the folder should be"))
	s := open(dir, fixture(data, true, "http://127.0.0.1:1/x"))
	if err := s.Get(t.Context(), "toy", Options{}); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("error is %v, want %v", err, syscall.ENOTDIR)
	}
}

func TestGetUnknown(t *testing.T) {
	var unknown *UnknownError
	if err := Open(t.TempDir()).Get(t.Context(), "minst", Options{}); !errors.As(err, &unknown) || unknown.Suggestion != "mnist" {
		t.Errorf("error is %v", err)
	}
}

func TestStatusVerifyChecksum(t *testing.T) {
	data := []byte("content")
	s := open(t.TempDir(), fixture(data, true))
	file := s.Path("toy/x.bin")
	var missing *MissingError
	if _, err := s.Checksum(t.Context(), "toy"); !errors.As(err, &missing) || missing.Path != file || missing.Dataset != "toy" {
		t.Errorf("Checksum of nothing: %v", err)
	}
	for _, tc := range []struct {
		data          []byte
		status, check FileState
	}{
		{nil, FileMissing, FileMissing},
		{data[1:], FileWrongSize, FileWrongSize},
		{[]byte("CONTENT"), FilePresent, FileWrongChecksum},
		{data, FilePresent, FileOK},
	} {
		if tc.data != nil {
			writeFile(t, file, tc.data)
		}
		st, err := s.Status("toy")
		if err != nil || len(st) != 1 || st[0].State != tc.status || st[0].Size != int64(len(tc.data)) {
			t.Errorf("%q: Status = %+v, %v; want %v", tc.data, st, err, tc.status)
		}
		st, err = s.Verify(t.Context(), "toy")
		if err != nil || len(st) != 1 || st[0].State != tc.check {
			t.Errorf("%q: Verify = %+v, %v; want %v", tc.data, st, err, tc.check)
		}
		sum, err := s.Checksum(t.Context(), "toy")
		if (err == nil) != (tc.check == FileOK) {
			t.Errorf("%q: Checksum = %q, %v", tc.data, sum, err)
		}
		if want := sumOf([]byte(sumOf(data) + "  toy/x.bin\n")); err == nil && sum != want {
			t.Errorf("Checksum = %s, want %s", sum, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Verify(ctx, "toy"); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify after the end: %v", err)
	}
	for _, name := range []string{"missing", "wrong size", "wrong checksum", "wrong content", "unconfirmed", "present", "ok: content", "ok: SHA-256"} {
		if !slices.Contains(stateNames.List(), name) {
			t.Errorf("no state %q", name)
		}
	}
}

// fakeMNIST writes the four files with n images of side×side pixels.
func fakeMNIST(t *testing.T, s *Store, part string, n, side int) {
	t.Helper()
	size := uint32(side)
	writeFile(t, s.Path("mnist/"+part+"-images-idx3-ubyte.gz"), gzipped(idxBytes(2051, []uint32{uint32(n), size, size}, randomBytes(n*side*side))))
	writeFile(t, s.Path("mnist/"+part+"-labels-idx1-ubyte.gz"), gzipped(idxBytes(2049, []uint32{uint32(n)}, make([]byte, n))))
}

func TestMNISTIsLoadedOnceForAll(t *testing.T) {
	s := Open(t.TempDir())
	if _, _, err := s.MNIST(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error is %v", err)
	}
	fakeMNIST(t, s, "train", 6, 3)
	fakeMNIST(t, s, "t10k", 4, 3)
	var wg sync.WaitGroup
	var got [8][2]*Images
	for k := range got {
		wg.Go(func() {
			train, test, err := s.MNIST()
			if err != nil {
				t.Error(err)
			}
			got[k] = [2]*Images{train, test}
		})
	}
	wg.Wait()
	for k := range got {
		if got[k] != got[0] || got[k][0].N != 6 || got[k][1].N != 4 {
			t.Errorf("caller %d has other images", k)
		}
	}
	if got[0][0].Name != "mnist-train" || got[0][1].Name != "mnist-test" {
		t.Errorf("names %q, %q", got[0][0].Name, got[0][1].Name)
	}

	s = Open(t.TempDir())
	fakeMNIST(t, s, "train", 6, 3)
	fakeMNIST(t, s, "t10k", 4, 2)
	var fe *FormatError
	if _, _, err := s.MNIST(); !errors.As(err, &fe) || !strings.Contains(err.Error(), "2×2, want 3×3") {
		t.Errorf("parts of different shape: %v", err)
	}
}
