package atomicfile

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// errSharingViolation is ERROR_SHARING_VIOLATION: a process has the file open.
const errSharingViolation syscall.Errno = 32

// rename waits for readers, virus scanners and indexers, which have a file open
// for a moment.
func rename(from, to string) error {
	wait := time.Millisecond
	for {
		err := os.Rename(from, to)
		if err == nil || wait > time.Second || !errors.Is(err, errSharingViolation) && !errors.Is(err, syscall.ERROR_ACCESS_DENIED) {
			return err
		}
		time.Sleep(wait)
		wait *= 2
	}
}
