package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"metriclab/internal/needs"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "a.json")
	for _, text := range []string{"first", "", "third"} {
		if err := Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != text {
			t.Errorf("the file holds %q, want %q", got, text)
		}
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("the folder holds %q, want one file", got)
	}
	if err := Replace(filepath.Join(dir, "missing", "a"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Replace in a missing folder: error %v, want that it does not exist", err)
	}
	if runtime.GOOS != "windows" { // which has no such permissions
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("permissions are %v (%v), want those of the old file", info.Mode(), err)
		}
	}
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	write(t, path, "old")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	if got := names(t, dir); len(got) != 1 || read(t, path) != "old" {
		t.Errorf("the folder holds %q and the file %q, want the old file alone", got, read(t, path))
	}
	if err := f.Commit(); err == nil {
		t.Error("Commit after Abort gave no error")
	}
}

// A program reads the file all the while: it sees the old content to its end. On
// Windows the file then stays as it was, until the program closes it.
func TestReplaceOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "old")
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = Write(path, []byte("new"))
	windows := runtime.GOOS == "windows"
	if (err != nil) != windows {
		t.Errorf("replacing an open file: error %v", err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "old" {
		t.Errorf("the reader got %q, %v, want the old content", got, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if windows {
		if got := names(t, filepath.Dir(path)); len(got) != 1 || read(t, path) != "old" {
			t.Errorf("the folder holds %q and the file %q, want the old file alone", got, read(t, path))
		}
		if err := Write(path, []byte("new")); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, path); got != "new" {
		t.Errorf("the file holds %q, want new", got)
	}
}

// Several writers of one file need no lock: the file is always that of one of them.
func TestWritersOfOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	const writers, times = 4, 20
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			content := bytes.Repeat([]byte{'a' + byte(i)}, 1000)
			for range times {
				if err := Write(path, content); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := read(t, path); got != strings.Repeat(got[:1], 1000) || got[0] < 'a' || got[0] >= 'a'+writers {
		t.Errorf("the file holds %q, want that of one writer", got)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("the folder holds %q, want one file", got)
	}
}

// A folder in the file's place cannot be replaced; nothing may be left behind.
func TestCommitFails(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "inside"), "x")
	if err := Write(filepath.Join(dir, "a"), []byte("new")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if got := names(t, dir); len(got) != 1 || got[0] != "a" {
		t.Errorf("the folder holds %q, want a", got)
	}
}

// Several files get their names together, or none.
func TestCommitSeveral(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "old")
	start := func(name string) *File {
		t.Helper()
		f, err := Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("new"); err != nil {
			t.Fatal(err)
		}
		return f
	}
	write(t, filepath.Join(dir, "b", "inside"), "x")
	if err := Commit(start("a"), start("b"), start("c")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	closed := start("c")
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Commit(start("a"), closed); err == nil {
		t.Error("a file that cannot be synced was taken")
	}
	if got := names(t, dir); strings.Join(got, " ") != "a b" || read(t, filepath.Join(dir, "a")) != "old" {
		t.Errorf("the folder holds %q", got)
	}
	if err := Commit(start("a"), start("c")); err != nil || read(t, filepath.Join(dir, "a"))+read(t, filepath.Join(dir, "c")) != "newnew" {
		t.Errorf("error %v", err)
	}
}

// The names that an earlier version took for its own: any hidden file whose name
// ends in a digit.
func TestSweepTakesOnlyOurs(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	keep := []string{
		".env2", ".secret-2025", ".probe123", ".table.csv123", "metriclab-1.tmp", ".metriclab-x.tmp", ".metriclab-1.tmp2", ".metriclab-.tmp",
		filepath.Join(".ssh", ".id_backup1"), filepath.Join("below", ".metriclab-1.tmp"),
	}
	for _, name := range append([]string{".metriclab-1.tmp", ".metriclab-2.tmp"}, keep...) {
		write(t, filepath.Join(dir, name), "x")
		if name != ".metriclab-2.tmp" { // which may be in use
			if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, ".metriclab-4.tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	Sweep(time.Now(), dir, filepath.Join(dir, "missing"))

	if _, err := os.Lstat(filepath.Join(dir, ".metriclab-1.tmp")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old temporary file is still there (%v)", err)
	}
	for _, name := range append(keep, ".metriclab-2.tmp", ".metriclab-4.tmp") {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}

// Neither a link with such a name, nor what lies in a folder that is a link.
func TestSweepFollowsNoLink(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), ".metriclab-1.tmp")
	write(t, outside, "x")
	named, folder := filepath.Join(dir, ".metriclab-2.tmp"), filepath.Join(dir, "link")
	needs.Symlink(t, outside, named)
	needs.Symlink(t, filepath.Dir(outside), folder)
	Sweep(time.Now().Add(2*strayAge), dir, folder)
	if _, err := os.Lstat(named); err != nil || read(t, outside) != "x" {
		t.Errorf("a link or its target was touched: %v", err)
	}
}

// Whatever is in the folder, a temporary name never hits it.
func TestCreateNamesAreSwept(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "a very long name.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if got := Strays(time.Now().Add(2*strayAge), dir); len(got) != 1 || filepath.Base(got[0]) != filepath.Base(f.Name()) {
		t.Errorf("Strays = %q, want %q", got, f.Name())
	}
	if err := CheckWritable(dir); err != nil {
		t.Error(err)
	}
	if err := CheckWritable(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing folder is writable")
	}
}
