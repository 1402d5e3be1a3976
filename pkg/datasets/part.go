package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"metriclab/internal/atomicfile"
)

// partFile is what has arrived of a download, under a name of its own.
type partFile struct{ *os.File }

// openPart opens a part file for reading and writing, and makes it if it is missing.
// Anything but a regular file is an error, and neither followed nor removed: it was not
// made here.
func openPart(name string) (partFile, error) {
	if err := checkPart(name); err != nil {
		return partFile{}, err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|noFollow, 0o666)
	if err != nil {
		return partFile{}, local(err)
	}
	// Another process may have put something else there in between.
	there, err1 := os.Lstat(name)
	opened, err2 := f.Stat()
	err = errors.Join(err1, err2)
	if err == nil && !os.SameFile(there, opened) {
		err = notRegular(name, there)
	}
	if err != nil {
		_ = f.Close()
		return partFile{}, local(err)
	}
	return partFile{f}, nil
}

// checkPart returns an error if something lies at a part file's name that is no regular
// file.
func checkPart(name string) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return local(err)
	case !info.Mode().IsRegular():
		return local(notRegular(name, info))
	}
	return nil
}

func notRegular(name string, info fs.FileInfo) error {
	return fmt.Errorf("%s is not a regular file (%v) and was not made by a download; remove it", name, info.Mode())
}

// removePart removes a part file, if there is one.
func removePart(name string) error {
	if err := checkPart(name); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return local(err)
	}
	return nil
}

// drop closes and removes the file.
func (p partFile) drop() error {
	_ = p.Close()
	return removePart(p.Name())
}

// keep closes the file, to be continued; it removes one with nothing in it.
func (p partFile) keep() error {
	if info, err := p.Stat(); err == nil && info.Size() == 0 {
		return p.drop()
	}
	return local(p.Close())
}

// end closes the file after a download that failed. It removes the file if nothing of it
// may be continued: because the file is not comparable, or because it is too large.
func (p partFile) end(comparable bool, cause error) error {
	var large *sizeError
	if !comparable || errors.As(cause, &large) {
		return p.drop()
	}
	return p.keep()
}

// finish makes the file durable and gives it its final name.
func (p partFile) finish(name string) error {
	err := errors.Join(p.Sync(), p.Close())
	if err == nil {
		err = atomicfile.Rename(p.Name(), name)
	}
	return local(err)
}
