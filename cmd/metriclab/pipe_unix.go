//go:build unix

package main

import (
	"errors"
	"syscall"
)

// nobodyReads reports whether a write failed because the reader of a pipe has
// gone.
func nobodyReads(err error) bool { return errors.Is(err, syscall.EPIPE) }
