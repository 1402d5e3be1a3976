// Package atomicfile writes files that are complete or absent, whenever the
// process dies: under a temporary name in the same folder, synced, then renamed.
//
// What each system gives:
//
//	Linux, macOS   the rename replaces the old file in one step, also while other
//	               processes read it; the folder is synced, so that the rename survives a power cut
//	Windows        the rename replaces the old file in one step too, but fails while another
//	               process has it open: it is tried again for about two seconds, then it is an
//	               error and the old file stays. A folder cannot be synced there.
//
// Temporary files are named .metriclab-<digits>.tmp. No other file of a user may
// carry such a name: Sweep removes those that a killed process left.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"time"
)

// tempName matches the names that createTemp makes.
var tempName = regexp.MustCompile(`^\.metriclab-[0-9]+\.tmp$`)

// strayAge is how long a temporary file must have been unchanged before Sweep
// takes it for one that a killed process left.
const strayAge = time.Hour

// File is a file that is being written. Exactly one of Commit and Abort ends it;
// Abort after Commit does nothing.
type File struct {
	*os.File
	path string
	old  bool        // a file is replaced,
	mode fs.FileMode // with these permissions
	done bool
}

// Create starts the file at path. Its folder must exist. The file gets the
// permissions of the one that it replaces, else those that the umask leaves to new files.
func Create(path string) (*File, error) {
	f := &File{path: path, mode: 0o666}
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		f.old, f.mode = true, info.Mode().Perm()
	}
	var err error
	// What nobody else may read in the old file, nobody reads in the new one while it is written.
	f.File, err = createTemp(filepath.Dir(path), f.mode|0o200)
	return f, err
}

// createTemp makes a temporary file. os.CreateTemp does not leave the permissions to the umask.
func createTemp(dir string, mode fs.FileMode) (*os.File, error) {
	for {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf(".metriclab-%d.tmp", rand.Uint32())), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Abort removes what has been written.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	_ = f.Close()
	_ = os.Remove(f.Name()) // Sweep tries again
}

// Commit gives the file its name. After an error the old file is as it was.
func (f *File) Commit() error { return Commit(f) }

// Commit gives several files their names once all of them are on the disk: after an error with the content of one, the old files are as they
// were, and the new ones are gone.
func Commit(files ...*File) (err error) {
	defer func() {
		for _, f := range files {
			f.Abort() // does nothing after a success
		}
	}()
	for _, f := range files {
		if f.done {
			return fs.ErrClosed
		}
		if f.old {
			err = f.Chmod(f.mode)
		}
		if err = errors.Join(err, f.sync(), f.Close()); err != nil {
			return err
		}
		if info, err := os.Lstat(f.path); err == nil && info.IsDir() { // which no rename replaces
			return &fs.PathError{Op: "write", Path: f.path, Err: errors.New("is a folder")}
		}
	}
	for _, f := range files {
		if err := Rename(f.Name(), f.path); err != nil {
			return err
		}
		f.done = true
	}
	return nil
}

// unsynced says that no write waits for the disk.
var unsynced atomic.Bool

// WithoutSync has this process write files without waiting for the disk, so that a power
// cut may lose them. It is for tests that write many files, before they write any.
func WithoutSync() { unsynced.Store(true) }

func (f *File) sync() error {
	if unsynced.Load() {
		return nil
	}
	return f.Sync()
}

// Write writes a file in one go and makes the folders that are missing.
func Write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return Replace(path, data)
}

// Replace writes a file in one go. Its folder must exist.
func Replace(path string, data []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// Rename gives a complete and synced file its final name and makes the name
// durable where the system allows it.
func Rename(from, to string) error {
	if err := rename(from, to); err != nil {
		return err
	}
	syncDir(filepath.Dir(to))
	return nil
}

// syncDir makes a rename durable. Windows and some network and FUSE file systems
// refuse it; the rename has happened all the same.
func syncDir(dir string) {
	if unsynced.Load() {
		return
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// CheckWritable returns an error unless files can be made in a folder, which
// must exist.
func CheckWritable(dir string) error {
	f, err := createTemp(dir, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Sweep removes the temporary files of this package that lie in the given folders
// and have not changed for an hour. It looks at no folder below them, follows no
// link, and leaves a folder that is itself a link alone. What cannot be removed
// stays for the next time.
func Sweep(now time.Time, dirs ...string) {
	for _, path := range Strays(now, dirs...) {
		_ = os.Remove(path)
	}
}

// Strays lists what Sweep would remove.
func Strays(now time.Time, dirs ...string) []string {
	var out []string
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !tempName.MatchString(e.Name()) {
				continue
			}
			if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > strayAge {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	return out
}
