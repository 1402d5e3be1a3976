package main

import (
	"errors"
	"syscall"
)

// errNoData is ERROR_NO_DATA: the pipe is being closed.
const errNoData syscall.Errno = 232

// nobodyReads reports whether a write failed because the reader of a pipe has
// gone.
func nobodyReads(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, errNoData)
}
