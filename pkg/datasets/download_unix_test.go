//go:build unix

package datasets

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"metriclab/pkg/limits"
)

// fullDisk says, in a re-executed test binary, that its disk is full after 1000 bytes of
// a file.
const fullDisk = "METRICLAB_TEST_FULL_DISK"

// A disk that is full: the error says so, no other source is tried, and what has arrived
// can be continued.
func TestGetFullDisk(t *testing.T) {
	if os.Getenv(fullDisk) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGetFullDisk$")
		cmd.Env = append(os.Environ(), fullDisk+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	data := randomBytes(5000)
	srv := newServer(t, map[string][]byte{"/x": data})
	s := open(t.TempDir(), fixture(data, true, srv.URL+"/x", srv.URL+"/x"))
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = 1000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), "toy", Options{}); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("error is %v, want %v", err, syscall.EFBIG)
	}
	if n := len(srv.asked()); n != 1 {
		t.Errorf("%d requests, want 1: another source does not empty a disk", n)
	}
	checkFolder(t, s, map[string][]byte{"toy/x.bin.part": data[:1000]})
}

// What lies at the name of a part file and is no file is neither followed nor removed.
func TestGetPartIsNoFile(t *testing.T) {
	data := randomBytes(5000)
	srv := newServer(t, map[string][]byte{"/x": data, "/a.zip": zipOf(t, map[string][]byte{"x.bin": data})})
	victim := filepath.Join(t.TempDir(), "victim")
	makers := map[string]func(name string) error{
		"link":          func(name string) error { return os.Symlink(victim, name) },
		"dangling link": func(name string) error { return os.Symlink(victim+"-none", name) },
		"pipe":          func(name string) error { return syscall.Mkfifo(name, 0o644) },
		"folder":        func(name string) error { return os.Mkdir(name, 0o755) },
		"device":        func(name string) error { return os.Symlink("/dev/null", name) },
	}
	mirror := t.TempDir()
	writeFile(t, filepath.Join(mirror, "toy", "x.bin"), data)
	for name, put := range makers {
		for what, opts := range map[string]Options{"/x": {}, "/a.zip#x.bin": {}, "mirror": {Mirror: mirror}} {
			for _, comparable := range []bool{true, false} {
				writeFile(t, victim, []byte("precious"))
				s := open(t.TempDir(), fixture(data, comparable, srv.URL+what))
				part := s.Path("toy/x.bin") + ".part"
				if what == "/a.zip#x.bin" {
					part = filepath.Join(s.Dir(), ".archives", archiveName(srv.URL+"/a.zip")+".part")
				}
				if err := os.MkdirAll(filepath.Dir(part), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := put(part); err != nil {
					t.Fatal(err)
				}
				before, err := os.Lstat(part)
				if err != nil {
					t.Fatal(err)
				}
				err = s.Get(t.Context(), "toy", opts)
				if err == nil || !strings.Contains(err.Error(), part+" is not a regular file") {
					t.Errorf("%s, %s: error %v", name, what, err)
				}
				after, err := os.Lstat(part)
				if err != nil || !os.SameFile(before, after) {
					t.Errorf("%s, %s: it was replaced or removed: %v", name, what, err)
				}
				if got, err := os.ReadFile(victim); err != nil || string(got) != "precious" {
					t.Errorf("%s, %s: the link was followed: %q, %v", name, what, got, err)
				}
				if _, err := os.Stat(victim + "-none"); err == nil {
					t.Errorf("%s, %s: the link was followed", name, what)
				}
			}
		}
	}

	// A folder of archives that is a link to elsewhere.
	s := open(t.TempDir(), fixture(data, true, srv.URL+"/a.zip#x.bin"))
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(s.Dir(), ".archives")); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), "toy", Options{}); err == nil || !strings.Contains(err.Error(), ".archives is a link") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Lstat(filepath.Join(s.Dir(), ".archives")); err != nil {
		t.Errorf("the link was removed: %v", err)
	}
	if files, err := os.ReadDir(elsewhere); err != nil || len(files) != 0 {
		t.Errorf("files %v, %v", files, err)
	}
}

// A pipe in the place of a file to verify, or in a mirror, is refused: opening it would
// wait for ever.
func TestPipesAreNotRead(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "toy", "x.bin")
	if err := os.MkdirAll(filepath.Dir(pipe), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := VerifyFile(t.Context(), "nist16/nist16.mat", pipe); !errors.Is(err, limits.ErrNotRegular) {
		t.Errorf("verify: error %v", err)
	}
	s := open(t.TempDir(), fixture(randomBytes(10), true))
	if err := s.Get(t.Context(), "toy", Options{Mirror: filepath.Dir(filepath.Dir(pipe))}); !errors.Is(err, limits.ErrNotRegular) {
		t.Errorf("mirror: error %v", err)
	}
}
