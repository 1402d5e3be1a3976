//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakOf is the peak of the memory of a process that has ended, in bytes.
func peakOf(s *os.ProcessState) float64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // bytes there, KiB elsewhere
		return float64(u.Maxrss)
	}
	return float64(u.Maxrss) * 1024
}
