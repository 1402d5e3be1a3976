//go:build unix && !solaris && !illumos && !aix

package askserver

import (
	"errors"
	"os"
	"syscall"
)

// lock holds a file for this process until it is closed.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errInUse
	}
	return err
}
