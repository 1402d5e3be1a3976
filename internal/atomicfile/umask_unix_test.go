//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// New files and folders follow the umask; a file that replaces one has its permissions, whatever the umask.
func TestUmask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	for umask, want := range map[int]struct{ file, dir fs.FileMode }{0: {0o666, 0o777}, 0o022: {0o644, 0o755}, 0o027: {0o640, 0o750}, 0o077: {0o600, 0o700}} {
		syscall.Umask(umask)
		dir := filepath.Join(t.TempDir(), "new")
		path := filepath.Join(dir, "a")
		if err := Write(path, []byte("x")); err != nil {
			t.Fatal(err)
		}
		for name, mode := range map[string]fs.FileMode{path: want.file, dir: want.dir} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
				t.Errorf("umask %03o: %s has %v (%v), want %v", umask, filepath.Base(name), info.Mode().Perm(), err, mode)
			}
		}
		for _, mode := range []fs.FileMode{0o600, 0o644, 0o664, 0o444, 0o755} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			f, err := Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := f.Stat(); err != nil || info.Mode().Perm()&^(mode|0o200) != 0 {
				t.Errorf("a file of %v is written under %v (%v)", mode, info.Mode().Perm(), err)
			}
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("umask %03o: a file of %v was replaced by one of %v (%v)", umask, mode, info.Mode().Perm(), err)
			}
		}
	}
}
