package askserver

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock holds a file for this process until it is closed. What is locked is a byte far behind its end: others may read the answers.
func lock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errInUse
	}
	return err
}
